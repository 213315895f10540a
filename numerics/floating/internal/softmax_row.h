// SPDX-License-Identifier: Apache-2.0
//
// One row of logits: its maximum, the sum of its exponentials, and the shares that follow. Behind
// softmax.h and cross_entropy.h.
//
// A row passes in pieces of 4096 elements, which stay in the first-level cache with their
// exponentials. Its summary is made in one pass, however long it is: each piece has its own
// maximum m and its own sum, and two sums meet as R = R1 + (1 + R2) exp(m2 - m1) for m1 >= m2
// (Milakov and Gimelshein, Online normalizer calculation for softmax, 2018), where R leaves out the
// largest element itself, which is 1.
#ifndef ASSAY_NUMERICS_FLOATING_INTERNAL_SOFTMAX_ROW_H_
#define ASSAY_NUMERICS_FLOATING_INTERNAL_SOFTMAX_ROW_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "numerics/core/elementary.h"
#include "numerics/core/elementary_simd.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/internal/power_of_two.h"
#include "numerics/floating/internal/softmax_kernels.h"
#include "numerics/floating/softmax.h"

namespace assay::floating::internal {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A sum that keeps what additions lose (Neumaier's, as TwoSum), in eight lanes: element i of
// everything added goes to lane i mod 8, and the lanes are combined at the end.
class CompensatedSum {
 public:
  // e: its size is a multiple of 8 in every call but the last.
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

// A row as the caller has it.
template <class T>
struct RowView {
  const T* x;
  int64_t n;
  int64_t stride;
  const uint8_t* keep;  // null, or n flags: 0 for an entry that counts as -infinity
  int64_t keep_stride;
  bool more_follows;  // the next row of a batch starts where this one ends
};

struct RowSummary {
  enum class Kind { kOrdinary, kNaN, kPlusInfinity, kAllMasked };
  Kind kind = Kind::kAllMasked;
  double max = -kInfinity;  // of the logits, not divided by the temperature
  int64_t argmax = 0;
  int64_t infinities = 0;
  HiLo<double> rest = {0, 0};  // sum of exp((x - max) / temperature) without the largest itself
};

// x - m for finite m and x, with what the subtraction lost. Of f32 it is exact enough in f64 for an
// f32 result.
template <class W>
HiLo<double> Difference(W x, W m) {
  if constexpr (std::is_same_v<W, float>) {
    return {static_cast<double>(x) - static_cast<double>(m), 0.0};
  } else {
    const HiLo<double> d = TwoSum(x, -m);
    // Opposite extremes overflow: exp is 0 either way.
    return d.hi == -kInfinity ? HiLo<double>{d.hi, 0.0} : d;
  }
}

// (x - m) / temperature, as a double word for W = double.
template <class W>
HiLo<double> Scaled(W x, W m, double temperature) {
  if (temperature == 1) return Difference(x, m);
  if constexpr (std::is_same_v<W, float>) {
    return {Difference(x, m).hi / temperature, 0.0};
  } else {
    // Powers of two that keep the difference and the product below within their range: one before
    // the subtraction, or one after it. What becomes subnormal is far below a share's rounding.
    const bool large = temperature > 0x1p500 || x - m == -kInfinity;
    const double before = large ? 0x1p-300 : 1.0;
    const double after = !large && temperature < 0x1p-500 ? 0x1p300 : 1.0;
    const HiLo<double> d = Difference(x * before, m * before);
    const double divisor = temperature * before * after;
    const double high = d.hi * after;
    const double q = high / divisor;
    if (!(q > -800)) return {q, 0.0};
    const HiLo<double> back = TwoProduct(q, divisor);
    return {q, (((high - back.hi) - back.lo) + d.lo * after) / divisor};
  }
}

// x / temperature as a double word, for any finite x.
inline HiLo<double> Quotient(double x, double temperature) {
  if (x == 0 || temperature == 1) return {x, 0.0};
  const int exponent = ExponentOf(x) - ExponentOf(temperature);
  const double a = TimesPowerOfTwo(x, -ExponentOf(x));
  const double b = TimesPowerOfTwo(temperature, -ExponentOf(temperature));
  const double q = a / b;
  const HiLo<double> back = TwoProduct(q, b);
  const double high = TimesPowerOfTwo(q, exponent);
  const double low = ((a - back.hi) - back.lo) / b;
  return {high, high - high == 0 ? TimesPowerOfTwo(low, exponent) : 0.0};
}

// The arithmetic of one row. T: float, double, Half, BFloat16.
template <class T>
class RowEngine {
 public:
  using W = std::conditional_t<std::is_same_v<T, double>, double, float>;
  static constexpr int64_t kPiece = 4096;

  RowEngine(const RowView<T>& row, Arithmetic arithmetic, double temperature)
      : row_(row),
        single_(!std::is_same_v<T, double> && arithmetic == Arithmetic::kSingle &&
                temperature == 1),
        temperature_(temperature) {}

  // Reads the row once. With keep_exps, the exponentials of a row of one piece stay for Visit.
  RowSummary Summarise(bool keep_exps) {
    return single_ ? SummariseSingle(keep_exps) : SummariseDouble();
  }

  // Calls sink(begin, e, factor) for piece after piece: exp((x[begin + k] - max) / temperature) is
  // e[k] * factor. The row must be ordinary. A piece may be written over once it was visited.
  // In f64 arithmetic e is less by a relative `less`, which saves a rounding to take off the low
  // part of a divisor.
  template <class Sink>
  void VisitExps(const RowSummary& summary, double less, Sink sink) {
    if constexpr (!std::is_same_v<T, double>) {
      if (single_) {
        const ExpFrame frame = FrameOf(static_cast<float>(summary.max));
        for (int64_t begin = 0; begin < row_.n; begin += kPiece) {
          const int64_t count = std::min(kPiece, row_.n - begin);
          if (!has_exps_) {
            SumOfExps(Load(begin, count), count, frame, -1, e_, 0);
          }
          sink(begin, std::span<const double>(e_, static_cast<size_t>(count)), 1 / frame.unit);
        }
        return;
      }
    }
    for (int64_t begin = 0; begin < row_.n; begin += kDoublePiece) {
      const int64_t count = std::min(kDoublePiece, row_.n - begin);
      ExpsOf(Load(begin, count), count, static_cast<W>(summary.max), less);
      sink(begin, std::span<const double>(e_, static_cast<size_t>(count)), 1.0);
    }
  }

  // The elements begin .. begin + count - 1 side by side, masked ones as -infinity. count <=
  // kPiece.
  const W* Load(int64_t begin, int64_t count) {
    if constexpr (std::is_same_v<T, W>) {
      if (row_.stride == 1 && row_.keep == nullptr) return row_.x + begin;
    }
    for (int64_t i = 0; i < count; ++i) x_[i] = At(begin + i);
    return x_;
  }

  W At(int64_t i) const {
    if (row_.keep != nullptr && row_.keep[i * row_.keep_stride] == 0) {
      return -std::numeric_limits<W>::infinity();
    }
    return static_cast<W>(row_.x[i * row_.stride]);
  }

  // log(softmax) of an element x of an ordinary row. Both parts are at most 0: nothing cancels.
  double LogShare(W x, const RowSummary& summary, double log_total) const {
    if (x == -std::numeric_limits<W>::infinity()) return -kInfinity;
    const HiLo<double> d = Scaled(x, static_cast<W>(summary.max), temperature_);
    return (d.hi - log_total) + d.lo;
  }

  // logsumexp of an ordinary row. The quotient's rounding is taken back: it may be far larger than
  // the sum when the two cancel, and otherwise would double the sum's own.
  double LogSumExp(const RowSummary& summary, double log_total) const {
    const HiLo<double> top = Quotient(summary.max, temperature_);
    if (top.lo == 0) return top.hi + log_total;
    const HiLo<double> sum = TwoSum(top.hi, log_total);
    return sum.hi + (sum.lo + top.lo);
  }

  const RowView<T>& row() const { return row_; }

 private:
  static constexpr int64_t kDoublePiece = 256;

  // e_[k] = exp((x[k] - m) / temperature) (1 - less), within 1.2 ulp.
  void ExpsOf(const W* x, int64_t n, W m, double less) {
    const size_t count = static_cast<size_t>(n);
    for (int64_t k = 0; k < n; ++k) {
      const bool masked = x[k] == -std::numeric_limits<W>::infinity();
      const HiLo<double> d = masked ? HiLo<double>{-kInfinity, 0.0} : Scaled(x[k], m, temperature_);
      high_[k] = d.hi;
      low_[k] = d.lo;
    }
    Exp(std::span<const double>(high_, count), std::span<double>(e_, count));
    // exp(a + b) = exp(a) (1 + b)
    for (int64_t k = 0; k < n; ++k) e_[k] = e_[k] + e_[k] * (low_[k] - less);
  }

  // Takes in a piece whose largest element, at `argmax`, is m, the others summing up to `rest`.
  void Merge(double m, int64_t argmax, double rest, RowSummary* summary) const {
    if (summary->kind != RowSummary::Kind::kOrdinary) {
      summary->kind = RowSummary::Kind::kOrdinary;
      summary->max = m;
      summary->argmax = argmax;
      summary->rest = {rest, 0};
      return;
    }
    double& sum = summary->rest.hi;
    if (m > summary->max) {
      sum = rest + (1 + sum) * Exp((summary->max - m));
      summary->max = m;
      summary->argmax = argmax;
    } else {
      sum = sum + (1 + rest) * Exp((m - summary->max));
    }
  }

  RowSummary SummariseSingle(bool keep_exps);
  RowSummary SummariseDouble();

  RowView<T> row_;
  bool single_;
  double temperature_;
  bool has_exps_ = false;
  W x_[kPiece];
  alignas(64) double e_[std::is_same_v<T, double> ? kDoublePiece : kPiece];
  double high_[kDoublePiece];
  double low_[kDoublePiece];
};

template <class T>
RowSummary RowEngine<T>::SummariseSingle(bool keep_exps) {
  RowSummary summary;
  if constexpr (!std::is_same_v<T, double>) {
    has_exps_ = keep_exps && row_.n <= kPiece;
    const bool direct = std::is_same_v<T, W> && row_.stride == 1 && row_.keep == nullptr;
    for (int64_t begin = 0; begin < row_.n; begin += kPiece) {
      const int64_t count = std::min(kPiece, row_.n - begin);
      const float* x = Load(begin, count);
      bool nan = false;
      const float max = MaxOf(x, count, &nan);
      if (nan) {
        summary.kind = RowSummary::Kind::kNaN;
        return summary;
      }
      if (max == std::numeric_limits<float>::infinity()) {
        summary.infinities += std::count(x, x + count, max);
        continue;
      }
      if (max == -std::numeric_limits<float>::infinity() || summary.infinities > 0) continue;
      const bool more = direct && (begin + count < row_.n || row_.more_follows);
      const int64_t argmax = IndexOf(x, count, max);
      const ExpFrame frame = FrameOf(max);
      const double rest =
          SumOfExps(x, count, frame, argmax, has_exps_ ? e_ : nullptr, more ? count : 0) /
          frame.unit;
      Merge(static_cast<double>(max), begin + argmax, rest, &summary);
    }
    if (summary.infinities > 0) {
      summary.kind = RowSummary::Kind::kPlusInfinity;
      summary.max = kInfinity;
    }
  }
  return summary;
}

template <class T>
RowSummary RowEngine<T>::SummariseDouble() {
  RowSummary summary;
  W max = -std::numeric_limits<W>::infinity();
  for (int64_t begin = 0; begin < row_.n; begin += kPiece) {
    const int64_t count = std::min(kPiece, row_.n - begin);
    const W* x = Load(begin, count);
    bool nan = false;
    for (int64_t i = 0; i < count; ++i) {
      nan = nan || x[i] != x[i];
      if (x[i] == std::numeric_limits<W>::infinity()) ++summary.infinities;
      if (x[i] > max) {
        max = x[i];
        summary.argmax = begin + i;
      }
    }
    if (nan) {
      summary.kind = RowSummary::Kind::kNaN;
      return summary;
    }
  }
  summary.max = static_cast<double>(max);
  if (summary.infinities > 0) {
    summary.kind = RowSummary::Kind::kPlusInfinity;
    return summary;
  }
  if (max == -std::numeric_limits<W>::infinity()) return summary;
  summary.kind = RowSummary::Kind::kOrdinary;
  CompensatedSum sum;
  for (int64_t begin = 0; begin < row_.n; begin += kDoublePiece) {
    const int64_t count = std::min(kDoublePiece, row_.n - begin);
    ExpsOf(Load(begin, count), count, max, 0);
    if (summary.argmax - begin >= 0 && summary.argmax - begin < count) {
      e_[summary.argmax - begin] = 0;
    }
    sum.Add(std::span<const double>(e_, static_cast<size_t>(count)));
  }
  summary.rest = sum.Value();
  return summary;
}

}  // namespace assay::floating::internal

#endif  // ASSAY_NUMERICS_FLOATING_INTERNAL_SOFTMAX_ROW_H_
