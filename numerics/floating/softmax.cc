// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/internal/power_of_two.h"
#include "numerics/floating/internal/rows.h"
#include "numerics/floating/internal/softmax_kernels.h"
#include "numerics/floating/internal/softmax_row.h"

namespace assay::floating {
namespace {

using internal::kInfinity;
using internal::kNaN;
using internal::RowEngine;
using internal::RowSummary;
using internal::RowView;
using Kind = internal::RowSummary::Kind;

// A row to write.
template <class T>
struct Output {
  T* y;
  int64_t stride;
  bool stream;
  T& operator[](int64_t i) const { return y[i * stride]; }
};

// Fills a row that is not ordinary: `peak` where x is +infinity, `other` elsewhere.
template <class T>
void FillSpecial(const RowEngine<T>& engine, const RowSummary& summary, double masked, double peak,
                 double other, Output<T> out) {
  const bool infinite = summary.kind == Kind::kPlusInfinity;
  for (int64_t i = 0; i < engine.row().n; ++i) {
    double value = summary.kind == Kind::kNaN ? kNaN : masked;
    if (infinite) value = static_cast<double>(engine.At(i)) == kInfinity ? peak : other;
    out[i] = static_cast<T>(value);
  }
}

template <class T>
T LogSumExpOf(const RowView<T>& row, Arithmetic arithmetic, double temperature) {
  RowEngine<T> engine(row, arithmetic, temperature);
  const RowSummary summary = engine.Summarise(false);
  if (summary.kind == Kind::kNaN) return static_cast<T>(kNaN);
  if (summary.kind != Kind::kOrdinary) return static_cast<T>(summary.max);
  return static_cast<T>(engine.LogSumExp(summary, Log1p(summary.rest.hi)));
}

template <class T>
void SoftmaxOf(const RowView<T>& row, const SoftmaxOptions& options, Output<T> out) {
  RowEngine<T> engine(row, options.arithmetic, options.temperature);
  const RowSummary summary = engine.Summarise(true);
  if (summary.kind != Kind::kOrdinary) {
    const double masked = options.all_masked == AllMasked::kNaN ? kNaN : 0.0;
    FillSpecial(engine, summary, masked, 1.0 / static_cast<double>(summary.infinities), 0.0, out);
    return;
  }
  const HiLo<double> sum = TwoSum(1.0, summary.rest.hi);
  const HiLo<double> total = FastTwoSum(sum.hi, sum.lo + summary.rest.lo);
  // 1 / (hi + lo) = (1 - lo / hi) / hi: the rounding of the total is taken back.
  engine.VisitExps(
      summary, total.lo / total.hi, [&](int64_t begin, std::span<const double> e, double factor) {
        const int64_t count = static_cast<int64_t>(e.size());
        if constexpr (std::is_same_v<T, float>) {
          if (out.stride == 1) {
            internal::Scale(e.data(), count, factor / total.hi, out.y + begin, out.stream);
            return;
          }
        }
        for (int64_t k = 0; k < count; ++k) {
          out[begin + k] = static_cast<T>(e[static_cast<size_t>(k)] * factor / total.hi);
        }
      });
}

template <class T>
void LogSoftmaxOf(const RowView<T>& row, const SoftmaxOptions& options, Output<T> out) {
  using Engine = RowEngine<T>;
  using W = typename Engine::W;
  Engine engine(row, options.arithmetic, options.temperature);
  const RowSummary summary = engine.Summarise(false);
  if (summary.kind != Kind::kOrdinary) {
    const double masked = options.all_masked == AllMasked::kNaN ? kNaN : -kInfinity;
    const double peak = 0.0 - Log(static_cast<double>(summary.infinities));
    FillSpecial(engine, summary, masked, peak, -kInfinity, out);
    return;
  }
  const double log_total = Log1p(summary.rest.hi);
  for (int64_t begin = 0; begin < row.n; begin += Engine::kPiece) {
    const int64_t count = std::min(Engine::kPiece, row.n - begin);
    const W* x = engine.Load(begin, count);
    if constexpr (std::is_same_v<T, float>) {
      if (out.stride == 1 && options.temperature == 1) {
        internal::ShiftDown(x, count, static_cast<float>(summary.max), log_total, out.y + begin,
                            out.stream);
        continue;
      }
    }
    for (int64_t k = 0; k < count; ++k) {
      out[begin + k] = static_cast<T>(engine.LogShare(x[k], summary, log_total));
    }
  }
}

// ln 2 in two parts, the first with 21 trailing zeros: its multiples by less than 2^21 are exact.
// Source: fdlibm 5.3, e_exp.c (ln2HI, ln2LO).
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;

template <class T>
RowView<T> Whole(std::span<const T> x) {
  return {x.data(), static_cast<int64_t>(x.size()), 1, nullptr, 0, false};
}

// Memory that outgrows the caches is written past them: from here on, in bytes.
constexpr int64_t kStreamFrom = int64_t{4} << 20;

template <class T, class Function>
absl::Status ForEachRow(MatrixView<const T> x, MatrixView<T> y, const SoftmaxOptions& options,
                        Function function) {
  if (absl::Status status = internal::CheckOptions(x, options); !status.ok()) return status;
  if (absl::Status status = internal::CheckShape("y", y.rows(), y.cols(), x.rows(), x.cols());
      !status.ok()) {
    return status;
  }
  const bool stream = x.data() != y.data() && x.rows() * x.cols() >= kStreamFrom / 4;
  internal::ForRows(options.pool, x.rows(), x.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      function(internal::ViewOfRow(x, options.keep, r),
               Output<T>{y.data() + r * y.row_stride(), y.col_stride(), stream});
    }
    if (stream) internal::StreamsDone();
  });
  return absl::OkStatus();
}

}  // namespace

float LogSumExp(std::span<const float> x, Arithmetic arithmetic) {
  return LogSumExpOf(Whole(x), arithmetic, 1);
}
double LogSumExp(std::span<const double> x) {
  return LogSumExpOf(Whole(x), Arithmetic::kDouble, 1);
}

SignedLog SignedLogSumExp(std::span<const double> x, std::span<const double> w) {
  ASSAY_CHECK_EQ(x.size(), w.size());
  // The largest term, within a factor of two or so: exp(shift) 2^exponent. A weight may be as much
  // of its size as the exponential is, and either alone may be out of range.
  double largest = -kInfinity;
  double shift = -kInfinity;
  int exponent = 0;
  bool plus = false;
  bool minus = false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] != x[i] || w[i] - w[i] != 0) return {kNaN, 0};
    if (w[i] == 0 || x[i] == -kInfinity) continue;
    if (x[i] == kInfinity) (w[i] > 0 ? plus : minus) = true;
    const int own = internal::ExponentOf(w[i]);
    const double size = x[i] + own * kLn2High;
    if (size <= largest) continue;
    largest = size;
    shift = x[i];
    exponent = own;
  }
  if (plus && minus) return {kNaN, 0};
  if (plus || minus) return {kInfinity, plus ? 1 : -1};
  if (shift == -kInfinity) return {-kInfinity, 0};
  internal::CompensatedSum sum;
  for (size_t i = 0; i < x.size(); ++i) {
    if (w[i] == 0 || x[i] == -kInfinity) continue;
    const HiLo<double> d = internal::Difference(x[i], shift);
    if (d.hi < -4000) continue;  // below 2^-3600 of the largest term, whatever the weights
    // exp(d) = 2^k exp(d - k ln 2)
    const double k = std::floor(d.hi / kLn2High + 0.5);
    const double e = Exp(d.hi - k * kLn2High);
    const double term = e + e * (d.lo - k * kLn2Low);
    const int own = internal::ExponentOf(w[i]);
    sum.Add(internal::TimesPowerOfTwo(internal::TimesPowerOfTwo(w[i], -own) * term,
                                      own - exponent + static_cast<int>(k)));
  }
  const double total = sum.Value().hi;
  if (total == 0) return {-kInfinity, 0};
  const HiLo<double> top = TwoSum(shift, exponent * kLn2High);
  const double rest = top.lo + exponent * kLn2Low;
  const HiLo<double> log_abs = TwoSum(top.hi, Log(total > 0 ? total : -total));
  return {log_abs.hi + (log_abs.lo + rest), total > 0 ? 1 : -1};
}

void Softmax(std::span<const float> x, std::span<float> y, AllMasked policy,
             Arithmetic arithmetic) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  SoftmaxOf(Whole(x), {.all_masked = policy, .arithmetic = arithmetic},
            Output<float>{y.data(), 1, false});
}
void Softmax(std::span<const double> x, std::span<double> y, AllMasked policy) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  SoftmaxOf(Whole(x), {.all_masked = policy}, Output<double>{y.data(), 1, false});
}

void LogSoftmax(std::span<const float> x, std::span<float> y, AllMasked policy,
                Arithmetic arithmetic) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  LogSoftmaxOf(Whole(x), {.all_masked = policy, .arithmetic = arithmetic},
               Output<float>{y.data(), 1, false});
}
void LogSoftmax(std::span<const double> x, std::span<double> y, AllMasked policy) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  LogSoftmaxOf(Whole(x), {.all_masked = policy}, Output<double>{y.data(), 1, false});
}

template <class T>
absl::Status SoftmaxRows(MatrixView<const T> x, MatrixView<T> y, const SoftmaxOptions& options) {
  return ForEachRow(x, y, options,
                    [&](const RowView<T>& row, Output<T> out) { SoftmaxOf(row, options, out); });
}

template <class T>
absl::Status LogSoftmaxRows(MatrixView<const T> x, MatrixView<T> y, const SoftmaxOptions& options) {
  return ForEachRow(x, y, options,
                    [&](const RowView<T>& row, Output<T> out) { LogSoftmaxOf(row, options, out); });
}

template <class T>
absl::Status LogSumExpRows(MatrixView<const T> x, std::span<T> lse, const SoftmaxOptions& options) {
  if (absl::Status status = internal::CheckOptions(x, options); !status.ok()) return status;
  if (static_cast<int64_t>(lse.size()) != x.rows()) {
    return absl::InvalidArgumentError(absl::StrCat("lse has ", lse.size(), " entries, expected ",
                                                   x.rows(), ", one for each row"));
  }
  internal::ForRows(options.pool, x.rows(), x.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      lse[static_cast<size_t>(r)] = LogSumExpOf(internal::ViewOfRow(x, options.keep, r),
                                                options.arithmetic, options.temperature);
    }
  });
  return absl::OkStatus();
}

namespace {

template <class T>
double AsDouble(T x) {
  return static_cast<double>(x);
}

// dx = (g - share sum of g weight) / temperature, times the share for the softmax.
template <bool kLog, class T>
absl::Status GradientRows(MatrixView<const T> y, MatrixView<const T> g, MatrixView<T> dx,
                          const SoftmaxOptions& options) {
  SoftmaxOptions without_mask = options;
  without_mask.keep = {};
  if (absl::Status status = internal::CheckOptions(y, without_mask); !status.ok()) return status;
  for (const auto& [name, rows, cols] :
       {std::tuple{"g", g.rows(), g.cols()}, std::tuple{"dx", dx.rows(), dx.cols()}}) {
    if (absl::Status status = internal::CheckShape(name, rows, cols, y.rows(), y.cols());
        !status.ok()) {
      return status;
    }
  }
  internal::ForRows(options.pool, y.rows(), y.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      // A power of two that keeps sums and differences of g within range.
      double largest = 0;
      for (int64_t j = 0; j < y.cols(); ++j) {
        const double size = std::fabs(AsDouble(g(r, j)));
        if (size < kInfinity) largest = std::max(largest, size);
      }
      const double unit = largest > 0x1p900 ? 0x1p-100 : 1.0;
      internal::CompensatedSum sum;
      double special = 0;  // infinities and NaN of g, apart: a compensated sum makes NaN of them
      for (int64_t j = 0; j < y.cols(); ++j) {
        const double share = AsDouble(y(r, j));
        const double own = AsDouble(g(r, j)) * unit;
        const double term = kLog ? own : own * share;
        if (!kLog && share == 0) continue;
        term - term == 0 ? sum.Add(term) : void(special += term);
      }
      const HiLo<double> total = sum.Value();
      for (int64_t j = 0; j < y.cols(); ++j) {
        const double share = kLog ? Exp(AsDouble(y(r, j))) : AsDouble(y(r, j));
        const double own = AsDouble(g(r, j)) * unit;
        double value = 0;
        if (share == 0) {
          value = kLog ? AsDouble(g(r, j)) / options.temperature : 0;
        } else if (kLog) {
          value = (own - share * total.hi) - share * (total.lo + special);
        } else {
          value = share * ((own - total.hi) - (total.lo + special));
        }
        if (share != 0) value = value / options.temperature / unit;
        dx(r, j) = static_cast<T>(value == value ? value : kNaN);
      }
    }
  });
  return absl::OkStatus();
}

}  // namespace

template <class T>
absl::Status SoftmaxGradientRows(MatrixView<const T> y, MatrixView<const T> g, MatrixView<T> dx,
                                 const SoftmaxOptions& options) {
  return GradientRows<false>(y, g, dx, options);
}

template <class T>
absl::Status LogSoftmaxGradientRows(MatrixView<const T> y, MatrixView<const T> g, MatrixView<T> dx,
                                    const SoftmaxOptions& options) {
  return GradientRows<true>(y, g, dx, options);
}

#define ASSAY_INSTANTIATE(T)                                                                       \
  template absl::Status SoftmaxRows(MatrixView<const T>, MatrixView<T>, const SoftmaxOptions&);    \
  template absl::Status LogSoftmaxRows(MatrixView<const T>, MatrixView<T>, const SoftmaxOptions&); \
  template absl::Status LogSumExpRows(MatrixView<const T>, std::span<T>, const SoftmaxOptions&);   \
  template absl::Status SoftmaxGradientRows(MatrixView<const T>, MatrixView<const T>,              \
                                            MatrixView<T>, const SoftmaxOptions&);                 \
  template absl::Status LogSoftmaxGradientRows(MatrixView<const T>, MatrixView<const T>,           \
                                               MatrixView<T>, const SoftmaxOptions&)
ASSAY_INSTANTIATE(float);
ASSAY_INSTANTIATE(double);
ASSAY_INSTANTIATE(Half);
ASSAY_INSTANTIATE(BFloat16);
#undef ASSAY_INSTANTIATE

}  // namespace assay::floating
