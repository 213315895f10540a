// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/softmax.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/core/elementary_simd.h"
#include "numerics/floating/error_free.h"

namespace assay::floating {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A sum that keeps what additions lose (Neumaier's, as TwoSum), in eight lanes: element i of
// everything added goes to lane i mod 8, and the lanes are combined at the end.
class CompensatedSum {
 public:
  // e: at most a chunk; its size is a multiple of 8 in every call but the last.
  void Add(std::span<const double> e) {
    size_t k = 0;
    for (; k + kLanes <= e.size(); k += kLanes) {
      for (size_t j = 0; j < kLanes; ++j) Step(e[k + j], j);
    }
    for (size_t j = 0; k < e.size(); ++k, ++j) Step(e[k], j);
  }
  void Add(double x) { Step(x, 0); }
  HiLo<double> Value() const {
    std::array<double, kLanes> s = s_;
    std::array<double, kLanes> c = c_;
    for (size_t half = kLanes / 2; half > 0; half /= 2) {
      for (size_t j = 0; j < half; ++j) {
        const HiLo<double> sum = TwoSum(s[j], s[j + half]);
        s[j] = sum.hi;
        c[j] = (c[j] + c[j + half]) + sum.lo;
      }
    }
    return FastTwoSum(s[0], c[0]);
  }

 private:
  static constexpr size_t kLanes = 8;
  void Step(double x, size_t j) {
    const HiLo<double> sum = TwoSum(s_[j], x);
    s_[j] = sum.hi;
    c_[j] += sum.lo;
  }
  std::array<double, kLanes> s_ = {};
  std::array<double, kLanes> c_ = {};
};

// x - m for finite m and x, with what the subtraction lost. An f32 difference taken in f64 is off
// by 2^-53 of itself at most, which is nothing to an f32 result.
template <class T>
HiLo<double> Difference(T x, T m) {
  if constexpr (std::is_same_v<T, float>) {
    return {static_cast<double>(x) - static_cast<double>(m), 0.0};
  } else {
    const HiLo<double> d = TwoSum(x, -m);
    // Opposite extremes overflow: exp is 0 either way.
    return d.hi == -kInfinity ? HiLo<double>{d.hi, 0.0} : d;
  }
}

// exp(x - m), with the rounding error of the difference put back: exp(a + b) = exp(a)(1 + b).
template <class T>
double ExpDifference(T x, T m) {
  if (x == -std::numeric_limits<T>::infinity()) return 0.0;
  const HiLo<double> d = Difference(x, m);
  const double e = Exp(d.hi);
  return std::is_same_v<T, float> ? e : e + e * d.lo;
}

template <class T>
struct Row {
  enum class Kind { kOrdinary, kNaN, kPlusInfinity, kAllMasked };
  Kind kind = Kind::kAllMasked;
  T max = -std::numeric_limits<T>::infinity();
  size_t argmax = 0;
  int64_t infinities = 0;
};

template <class T>
Row<T> Survey(std::span<const T> x) {
  using Kind = typename Row<T>::Kind;
  Row<T> row;
  bool nan = false;
  for (size_t i = 0; i < x.size(); ++i) {
    nan = nan || x[i] != x[i];
    if (x[i] > row.max) {
      row.max = x[i];
      row.argmax = i;
    }
  }
  if (nan) {
    row.kind = Kind::kNaN;
  } else if (row.max == std::numeric_limits<T>::infinity()) {
    row.kind = Kind::kPlusInfinity;
    row.infinities = std::count(x.begin(), x.end(), row.max);
  } else if (row.max != -std::numeric_limits<T>::infinity()) {
    row.kind = Kind::kOrdinary;
  }
  return row;
}

constexpr size_t kChunk = 256;
constexpr size_t kNoSkip = ~size_t{0};

// e[k] = exp(x[k] - m), the same bits as ExpDifference, for at most kChunk elements at a time.
template <class T>
void ExpDifferences(std::span<const T> x, T m, std::span<double> e) {
  std::array<double, kChunk> high;
  const std::span<const double> arguments = std::span<const double>(high).first(x.size());
  if constexpr (std::is_same_v<T, float>) {
    // A masked entry needs no care: its difference is -inf, without a low part.
    const double max = static_cast<double>(m);
    for (size_t k = 0; k < x.size(); ++k) high[k] = static_cast<double>(x[k]) - max;
    Exp(arguments, e.first(x.size()));
  } else {
    std::array<double, kChunk> low;
    for (size_t k = 0; k < x.size(); ++k) {
      const bool masked = x[k] == -kInfinity;
      const HiLo<double> d = masked ? HiLo<double>{-kInfinity, 0.0} : Difference(x[k], m);
      high[k] = d.hi;
      low[k] = d.lo;
    }
    Exp(arguments, e.first(x.size()));
    for (size_t k = 0; k < x.size(); ++k) e[k] = e[k] + e[k] * low[k];
  }
}

// The sum of exp(x[i] - m) over all i but `skip`; the exponentials, rounded to T, go to y unless it
// is empty. y may be x.
template <class T>
HiLo<double> SumOfExps(std::span<const T> x, T m, size_t skip, std::span<T> y) {
  CompensatedSum sum;
  std::array<double, kChunk> e;
  for (size_t begin = 0; begin < x.size(); begin += kChunk) {
    const size_t count = std::min(kChunk, x.size() - begin);
    const std::span<double> part = std::span<double>(e).first(count);
    ExpDifferences(x.subspan(begin, count), m, part);
    if (!y.empty()) {
      for (size_t k = 0; k < count; ++k) y[begin + k] = static_cast<T>(part[k]);
    }
    if (skip - begin < count) part[skip - begin] = 0.0;
    sum.Add(part);
  }
  return sum.Value();
}

template <class T>
double SumOfOthers(std::span<const T> x, T m, size_t skip) {
  return SumOfExps(x, m, skip, std::span<T>()).hi;
}

template <class T>
T LogSumExpImpl(std::span<const T> x) {
  const Row<T> row = Survey(x);
  switch (row.kind) {
    case Row<T>::Kind::kNaN:
      return std::numeric_limits<T>::quiet_NaN();
    case Row<T>::Kind::kPlusInfinity:
    case Row<T>::Kind::kAllMasked:
      return row.max;
    case Row<T>::Kind::kOrdinary:
      break;
  }
  const double rest = SumOfOthers(x, row.max, row.argmax);
  return static_cast<T>(static_cast<double>(row.max) + Log1p(rest));
}

template <class T>
void SoftmaxImpl(std::span<const T> x, std::span<T> y, AllMasked policy) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  const Row<T> row = Survey(x);
  switch (row.kind) {
    case Row<T>::Kind::kNaN:
      std::fill(y.begin(), y.end(), std::numeric_limits<T>::quiet_NaN());
      return;
    case Row<T>::Kind::kAllMasked:
      std::fill(y.begin(), y.end(),
                policy == AllMasked::kNaN ? std::numeric_limits<T>::quiet_NaN() : T(0));
      return;
    case Row<T>::Kind::kPlusInfinity: {
      const T share = static_cast<T>(1.0 / static_cast<double>(row.infinities));
      for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] == row.max ? share : T(0);
      return;
    }
    case Row<T>::Kind::kOrdinary:
      break;
  }
  const T max = row.max;
  const HiLo<double> total = SumOfExps(x, max, kNoSkip, y);
  // 1 / (hi + lo) = (1 - lo / hi) / hi: the rounding of the total is taken back.
  const double correction = total.lo / total.hi;
  const auto scale = [total, correction](T& value) {
    const double share = static_cast<double>(value) / total.hi;
    value = static_cast<T>(share - share * correction);
  };
  // Blocks of known length: the compiler then divides several at a time.
  constexpr size_t kBlock = 8;
  size_t i = 0;
  for (; i + kBlock <= y.size(); i += kBlock) {
    T* block = y.data() + i;
    for (size_t j = 0; j < kBlock; ++j) scale(block[j]);
  }
  for (; i < y.size(); ++i) scale(y[i]);
}

// log(softmax(x)[i]) for an ordinary row. Both parts are at most 0: nothing cancels.
template <class T>
T LogShare(T x, T max, double log_total) {
  if (x == -std::numeric_limits<T>::infinity()) return x;
  const HiLo<double> d = Difference(x, max);
  return static_cast<T>((d.hi - log_total) + d.lo);
}

template <class T>
void LogSoftmaxImpl(std::span<const T> x, std::span<T> y, AllMasked policy) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  const Row<T> row = Survey(x);
  constexpr T kMinusInfinity = -std::numeric_limits<T>::infinity();
  switch (row.kind) {
    case Row<T>::Kind::kNaN:
      std::fill(y.begin(), y.end(), std::numeric_limits<T>::quiet_NaN());
      return;
    case Row<T>::Kind::kAllMasked:
      std::fill(y.begin(), y.end(),
                policy == AllMasked::kNaN ? std::numeric_limits<T>::quiet_NaN() : kMinusInfinity);
      return;
    case Row<T>::Kind::kPlusInfinity: {
      const T share = static_cast<T>(0.0 - Log(static_cast<double>(row.infinities)));
      for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] == row.max ? share : kMinusInfinity;
      return;
    }
    case Row<T>::Kind::kOrdinary:
      break;
  }
  const double log_total = Log1p(SumOfOthers(x, row.max, row.argmax));
  const T max = row.max;
  for (size_t i = 0; i < x.size(); ++i) y[i] = LogShare(x[i], max, log_total);
}

absl::Status CheckTarget(int64_t target, size_t classes) {
  if (target >= 0 && target < static_cast<int64_t>(classes)) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("target is ", target, ", expected 0 to ", static_cast<int64_t>(classes) - 1));
}

// The loss of one row in f64, target already checked.
template <class T>
double Loss(std::span<const T> x, size_t target, AllMasked policy) {
  const Row<T> row = Survey(x);
  switch (row.kind) {
    case Row<T>::Kind::kNaN:
      return kNaN;
    case Row<T>::Kind::kAllMasked:
      return policy == AllMasked::kNaN ? kNaN : 0.0;
    case Row<T>::Kind::kPlusInfinity:
      return x[target] == row.max ? Log(static_cast<double>(row.infinities)) : kInfinity;
    case Row<T>::Kind::kOrdinary:
      break;
  }
  if (x[target] == -std::numeric_limits<T>::infinity()) return kInfinity;
  const HiLo<double> d = Difference(x[target], row.max);
  return (Log1p(SumOfOthers(x, row.max, row.argmax)) - d.hi) - d.lo;
}

// g = scale * (softmax(x) - onehot), target already checked.
template <class T>
void Gradient(std::span<const T> x, size_t target, double scale, std::span<T> g, AllMasked policy) {
  const Row<T> row = Survey(x);
  if (row.kind != Row<T>::Kind::kOrdinary) {
    if (row.kind == Row<T>::Kind::kAllMasked && policy == AllMasked::kZeros) {
      std::fill(g.begin(), g.end(), T(0));
      return;
    }
    SoftmaxImpl(x, g, policy);
    for (size_t i = 0; i < g.size(); ++i) {
      const double share = static_cast<double>(g[i]) - (i == target ? 1.0 : 0.0);
      g[i] = share == share ? static_cast<T>(scale * share) : std::numeric_limits<T>::quiet_NaN();
    }
    return;
  }
  const T max = row.max;
  const double own = ExpDifference(x[target], max);
  const double others = SumOfOthers(x, max, target);
  const double total = own + others;
  std::array<double, kChunk> e;
  for (size_t begin = 0; begin < x.size(); begin += kChunk) {
    const size_t count = std::min(kChunk, x.size() - begin);
    ExpDifferences(x.subspan(begin, count), max, std::span<double>(e));
    for (size_t k = 0; k < count; ++k) g[begin + k] = static_cast<T>(scale * (e[k] / total));
  }
  g[target] = static_cast<T>(-scale * (others / total));
}

}  // namespace

float LogSumExp(std::span<const float> x) { return LogSumExpImpl(x); }
double LogSumExp(std::span<const double> x) { return LogSumExpImpl(x); }

SignedLog SignedLogSumExp(std::span<const double> x, std::span<const double> w) {
  ASSAY_CHECK_EQ(x.size(), w.size());
  double max = -kInfinity;
  bool plus = false;
  bool minus = false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] != x[i] || w[i] - w[i] != 0) return {kNaN, 0};
    if (w[i] != 0) max = std::max(max, x[i]);
  }
  if (max == -kInfinity) return {-kInfinity, 0};
  CompensatedSum sum;
  for (size_t i = 0; i < x.size(); ++i) {
    if (w[i] == 0) continue;
    if (max == kInfinity) {
      if (x[i] == max) (w[i] > 0 ? plus : minus) = true;
    } else {
      sum.Add(w[i] * ExpDifference(x[i], max));
    }
  }
  if (max == kInfinity) {
    if (plus && minus) return {kNaN, 0};
    return {kInfinity, plus ? 1 : -1};
  }
  const double total = sum.Value().hi;
  if (total == 0) return {-kInfinity, 0};
  return {max + Log(total > 0 ? total : -total), total > 0 ? 1 : -1};
}

void Softmax(std::span<const float> x, std::span<float> y, AllMasked policy) {
  SoftmaxImpl(x, y, policy);
}
void Softmax(std::span<const double> x, std::span<double> y, AllMasked policy) {
  SoftmaxImpl(x, y, policy);
}

void LogSoftmax(std::span<const float> x, std::span<float> y, AllMasked policy) {
  LogSoftmaxImpl(x, y, policy);
}
void LogSoftmax(std::span<const double> x, std::span<double> y, AllMasked policy) {
  LogSoftmaxImpl(x, y, policy);
}

absl::StatusOr<float> CrossEntropy(std::span<const float> x, int64_t target, AllMasked policy) {
  if (absl::Status status = CheckTarget(target, x.size()); !status.ok()) return status;
  return static_cast<float>(Loss(x, static_cast<size_t>(target), policy));
}

absl::StatusOr<double> CrossEntropy(std::span<const double> x, int64_t target, AllMasked policy) {
  if (absl::Status status = CheckTarget(target, x.size()); !status.ok()) return status;
  return Loss(x, static_cast<size_t>(target), policy);
}

namespace {

template <class T>
absl::Status GradientImpl(std::span<const T> x, int64_t target, std::span<T> g, AllMasked policy) {
  if (absl::Status status = CheckTarget(target, x.size()); !status.ok()) return status;
  if (g.size() != x.size()) {
    return absl::InvalidArgumentError(absl::StrCat("gradient has ", g.size(), " entries, expected ",
                                                   x.size(), ", as many as logits"));
  }
  Gradient(x, static_cast<size_t>(target), 1.0, g, policy);
  return absl::OkStatus();
}

}  // namespace

absl::Status CrossEntropyGradient(std::span<const float> x, int64_t target, std::span<float> g,
                                  AllMasked policy) {
  return GradientImpl(x, target, g, policy);
}
absl::Status CrossEntropyGradient(std::span<const double> x, int64_t target, std::span<double> g,
                                  AllMasked policy) {
  return GradientImpl(x, target, g, policy);
}

absl::StatusOr<MeanLoss> MeanCrossEntropy(std::span<const float> logits, int64_t rows,
                                          int64_t classes, std::span<const int32_t> targets,
                                          int32_t ignore_index, std::span<float> gradient) {
  if (rows < 0 || classes < 0 || static_cast<int64_t>(targets.size()) != rows ||
      (classes > 0 && rows > std::numeric_limits<int64_t>::max() / classes) ||
      static_cast<int64_t>(logits.size()) != rows * classes) {
    return absl::InvalidArgumentError(absl::StrCat("logits have ", logits.size(), " entries and ",
                                                   targets.size(), " targets, expected [", rows,
                                                   ", ", classes, "] and [", rows, "]"));
  }
  if (!gradient.empty() && gradient.size() != logits.size()) {
    return absl::InvalidArgumentError(absl::StrCat("gradient has ", gradient.size(),
                                                   " entries, expected none or ", logits.size()));
  }
  int64_t counted = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int32_t target = targets[static_cast<size_t>(r)];
    if (target == ignore_index) continue;
    if (absl::Status status = CheckTarget(target, static_cast<size_t>(classes)); !status.ok()) {
      return absl::OutOfRangeError(
          absl::StrCat("row ", r, ": ", status.message(), " or the ignored index ", ignore_index));
    }
    ++counted;
  }
  CompensatedSum sum;
  bool finite = true;
  double special = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const size_t begin = static_cast<size_t>(r * classes);
    const std::span<const float> x = logits.subspan(begin, static_cast<size_t>(classes));
    const int32_t target = targets[static_cast<size_t>(r)];
    if (target != ignore_index) {
      const double loss = Loss(x, static_cast<size_t>(target), AllMasked::kNaN);
      if (loss - loss == 0) {
        sum.Add(loss);
      } else {
        finite = false;
        special += loss;
      }
    }
    if (gradient.empty()) continue;
    const std::span<float> g = gradient.subspan(begin, static_cast<size_t>(classes));
    if (target == ignore_index) {
      std::fill(g.begin(), g.end(), 0.0f);
    } else {
      Gradient(x, static_cast<size_t>(target), 1.0 / static_cast<double>(counted), g,
               AllMasked::kNaN);
    }
  }
  if (!finite) return MeanLoss{special == special ? special : kNaN, counted};
  return MeanLoss{counted > 0 ? sum.Value().hi / static_cast<double>(counted) : 0.0, counted};
}

}  // namespace assay::floating
