// SPDX-License-Identifier: Apache-2.0
//
// The mean of a block, correctly rounded.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_MEAN_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_MEAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "numerics/floating/error_free.h"
#include "numerics/isotonic/internal/fixed_point.h"
#include "numerics/isotonic/internal/row.h"

namespace assay::isotonic::internal {

// Sums of w y and w over a stretch of points, scaled, to about twice f64's precision: high and low
// words, and a bound on |exact - (high + low)|, which is 0 where they are exact.
struct Sums {
  floating::HiLo<double> s = {0, 0};
  floating::HiLo<double> w = {0, 0};
  double s_error = 0;
  double w_error = 0;
};

// A few points, each operation with what it lost; the bound is 0 where nothing was lost twice.
template <class Row>
Sums SumFew(const Row& row, int64_t begin, int64_t end) {
  Sums sums;
  const auto add = [](floating::HiLo<double>& sum, double& error, double high) {
    const floating::HiLo<double> upper = floating::TwoSum(sum.hi, high);
    const floating::HiLo<double> lower = floating::TwoSum(sum.lo, upper.lo);
    sum = {upper.hi, lower.hi};
    error += std::fabs(lower.lo);
  };
  for (int64_t i = begin; i < end; ++i) {
    const Term term = row.TermAt(i);
    add(sums.s, sums.s_error, term.s_high);
    if constexpr (Row::kWeighted) {
      if constexpr (Row::kHasLow) add(sums.s, sums.s_error, term.s_low);
      add(sums.w, sums.w_error, term.w);
    }
  }
  sums.s = floating::TwoSum(sums.s.hi, sums.s.lo);
  sums.w = Row::kWeighted ? floating::TwoSum(sums.w.hi, sums.w.lo)
                          : floating::HiLo<double>{static_cast<double>(end - begin), 0};
  // The bounds' own sums are rounded.
  sums.s_error *= 1 + 0x1p-40;
  sums.w_error *= 1 + 0x1p-40;
  return sums;
}

// At most kSumBlock points at a time. A term below 4 is cut at 2^-39: sums of the upper parts have
// at most 53 bits and are exact; the lower parts are at most 2^-40 each, and if no term has a bit
// below 2^-81 their sums have at most 53 bits as well.
inline constexpr int64_t kSumBlock = 4096;
inline constexpr int kLowestExactBit = -81;

// Sums of blocks of points added up: exactly, as integers, where the blocks' own are exact.
class SumOfBlocks {
 public:
  explicit SumOfBlocks(bool exact) : exact_(exact) {}

  void Add(const Sums& block) {
    if (exact_) {
      s_ += ToInteger(block.s);
      w_ += ToInteger(block.w);
      return;
    }
    sums_.s = floating::AddDoubleWords(sums_.s, block.s);
    sums_.w = floating::AddDoubleWords(sums_.w, block.w);
    // Each of these errs by less than 4 u^2 of its result.
    sums_.s_error += block.s_error + 0x1p-103 * std::fabs(sums_.s.hi);
    sums_.w_error += block.w_error + 0x1p-103 * std::fabs(sums_.w.hi);
  }

  Sums Total() const {
    if (!exact_) return sums_;
    Sums total;
    total.s = FromInteger(s_, total.s_error);
    total.w = FromInteger(w_, total.w_error);
    return total;
  }

 private:
  // In units of the lowest exact bit; below 2^118 for 2^34 points.
  static int128 ToInteger(const floating::HiLo<double>& x) {
    return static_cast<int128>(x.hi * 0x1p81) + static_cast<int128>(x.lo * 0x1p81);
  }
  static floating::HiLo<double> FromInteger(int128 x, double& error) {
    const double hi = static_cast<double>(x);
    const int128 rest = x - static_cast<int128>(hi);
    const double lo = static_cast<double>(rest);
    if (static_cast<int128>(lo) != rest) error = std::fabs(lo) * 0x1p-81 * 0x1p-52;
    return {hi * 0x1p-81, lo * 0x1p-81};
  }

  bool exact_;
  int128 s_ = 0;
  int128 w_ = 0;
  Sums sums_;
};

// kShortWeights: no weight has a bit below 2^-39, so nothing is left of them.
template <bool kShortWeights, class Row>
Sums SumInParts(const Row& row, int64_t begin, int64_t end, bool exact) {
  constexpr double kRounder = 0x1.8p13;
  Pair s_upper[2] = {};
  Pair s_lower[2] = {};
  Pair w_upper[2] = {};
  Pair w_lower[2] = {};
  const auto add = [&](int k, const Term& a, const Term& b) {
    const Pair s = {a.s_high, b.s_high};
    const Pair upper = RoundTo(s, kRounder);
    s_upper[k] += upper;
    s_lower[k] += s - upper;
    if constexpr (Row::kWeighted) {
      if constexpr (Row::kHasLow) s_lower[k] += Pair{a.s_low, b.s_low};
      const Pair w = {a.w, b.w};
      const Pair w_up = kShortWeights ? w : RoundTo(w, kRounder);
      w_upper[k] += w_up;
      if constexpr (!kShortWeights) w_lower[k] += w - w_up;
    }
  };
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    add(0, row.TermAt(i), row.TermAt(i + 1));
    add(1, row.TermAt(i + 2), row.TermAt(i + 3));
  }
  for (; i < end; ++i) add(0, row.TermAt(i), Term{0, 0, 0});
  const auto total = [](const Pair(&sums)[2]) {
    const Pair sum = sums[0] + sums[1];
    return sum[0] + sum[1];
  };
  const double count = static_cast<double>(end - begin);
  Sums sums;
  sums.s = floating::TwoSum(total(s_upper), total(s_lower));
  sums.w = Row::kWeighted ? floating::TwoSum(total(w_upper), total(w_lower))
                          : floating::HiLo<double>{count, 0};
  if (!exact) {
    // Up to 2 count + 4 additions of parts of at most 2^-39 (with the low words of products), each
    // erring by u of a sum of at most 2 count such parts.
    const double bound = (2 * count + 4) * (2 * count) * 0x1p-92 * 2;
    sums.s_error = bound;
    sums.w_error = kShortWeights ? 0 : bound;
  }
  return sums;
}

template <class Row>
Sums SumBlock(const Row& row, int64_t begin, int64_t end, bool exact) {
  constexpr int64_t kFew = 8;
  if (end - begin <= kFew) return SumFew(row, begin, end);
  return row.HasShortWeights() ? SumInParts<true>(row, begin, end, exact)
                               : SumInParts<false>(row, begin, end, exact);
}

// hi + lo rounded to double, or to float as if at once: a double that has lost something is made
// odd, after which rounding it to the shorter float cannot meet a false tie.
inline double RoundSum(double hi, double lo, double) { return hi + lo; }
inline float RoundSum(double hi, double lo, float) {
  const floating::HiLo<double> sum = floating::TwoSum(hi, lo);
  uint64_t bits = FloatBits(sum.hi);
  if (sum.lo != 0 && (bits & 1) == 0) {
    // Towards lo: one step away from zero if the signs agree, towards it otherwise.
    bits += ((sum.lo > 0) == (sum.hi > 0)) ? uint64_t{1} : ~uint64_t{0};
  }
  return static_cast<float>(DoubleFromBits(bits));
}

// The numbers of T in order as integers, 0 for both zeros; and back.
inline int64_t OrderOf(double x) {
  const int64_t magnitude = static_cast<int64_t>(FloatBits(x) << 1 >> 1);
  return FloatBits(x) >> 63 ? -magnitude : magnitude;
}
inline int64_t OrderOf(float x) {
  const int64_t magnitude = FloatBits(x) & 0x7fffffffu;
  return FloatBits(x) >> 31 ? -magnitude : magnitude;
}
template <class T>
T FromOrder(int64_t order) {
  const uint64_t magnitude = static_cast<uint64_t>(order < 0 ? -order : order);
  T value;
  if constexpr (std::is_same_v<T, double>) {
    value = DoubleFromBits(magnitude);
  } else {
    value = FloatFromBits(static_cast<uint32_t>(magnitude));
  }
  return order < 0 ? -value : value;
}

// Products of subnormals end at 2^-2148, and totals of 2^34 points are below 2^2082.
using WideTotal = FixedPoint<70>;
using WideWeight = FixedPoint<35>;
inline constexpr Units kWideUnits = {-2148, -1074};

// The nearest T to the exact mean of [begin, end), searched for in the order of T's numbers around
// a guess. Slow, and rarely needed: where an error bound spans the middle between two numbers.
template <class T, class Row>
T RoundExactly(const Row& row, int64_t begin, int64_t end, T guess) {
  WideTotal s;
  WideWeight w;
  for (int64_t i = begin; i < end; ++i) row.AddExact(i, kWideUnits, s, w);
  WideTotal twice_s = s;
  twice_s += s;
  // Whether the mean rounds to a number above FromOrder(order): 2 s / w > x + next(x), or equal and
  // next(x) is the even one.
  const auto is_above = [&](int64_t order) {
    WideWeight x_plus_next;
    for (int64_t step = 0; step < 2; ++step) {
      const Decoded x = Decode(static_cast<double>(FromOrder<T>(order + step)));
      AddShifted(x_plus_next, x.significand, x.exponent + 1074, x.negative);
    }
    WideTotal difference = twice_s;
    difference -= w * x_plus_next;
    const int sign = difference.Sign();
    return sign > 0 || (sign == 0 && order % 2 != 0);
  };
  // The least order that the mean is not above lies in (low, high] once low is below the mean.
  constexpr T kMax = std::numeric_limits<T>::max();
  const int64_t greatest = OrderOf(kMax);
  const int64_t none = -greatest - 1;
  constexpr int64_t kLongest = int64_t{1} << 60;
  int64_t low = std::max(OrderOf(guess) - 2, none);
  int64_t high = std::min(low + 4, greatest);
  for (int64_t step = 4; low > none && !is_above(low); step = std::min(4 * step, kLongest)) {
    high = low;
    low = low < none + step ? none : low - step;
  }
  for (int64_t step = 4; high < greatest && is_above(high); step = std::min(4 * step, kLongest)) {
    low = high;
    high = high > greatest - step ? greatest : high + step;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (is_above(middle) ? low : high) = middle;
  }
  return FromOrder<T>(high);
}

// The mean of [begin, end), whose sums are given, rounded to nearest, ties to even.
template <class T, class Row>
T RoundMean(const Row& row, int64_t begin, int64_t end, const Sums& sums) {
  // q is the quotient of the high words, c what it lacks: s / w = q + c up to `error`.
  const double inverse = 1 / sums.w.hi;
  const double q = sums.s.hi * inverse;
  const floating::HiLo<double> product = floating::TwoProduct(q, sums.w.hi);
  const floating::HiLo<double> first = floating::TwoSum(sums.s.hi - product.hi, -product.lo);
  const floating::HiLo<double> rest = floating::TwoSum(first.hi, sums.s.lo - q * sums.w.lo);
  const double c = rest.hi * inverse;
  double error = (sums.s_error + std::fabs(q) * sums.w_error) * inverse * 1.125;
  // Where none of it lost anything, q + c is exact, and ties between two numbers, which short
  // blocks meet all the time, are seen as such.
  const floating::HiLo<double> back = floating::TwoProduct(c, sums.w.hi);
  const bool exact = error == 0 && !row.IsDeep() && sums.w.lo == 0 && first.lo == 0 &&
                     rest.lo == 0 && back.hi == rest.hi && back.lo == 0;
  // Otherwise rest errs by a few u of terms of at most 4 u |s|, and c by its own roundings.
  if (!exact) error += std::fabs(q) * 0x1p-100;
  // Scaled back before it is rounded to T, which may be subnormal there.
  const double unscale = row.Unscale();
  const T low = RoundSum(q * unscale, (c - error) * unscale, T{});
  const T high = RoundSum(q * unscale, (c + error) * unscale, T{});
  // The bounds hold, and scaling is exact, where f64 neither underflows nor overflows.
  const bool normal = sums.w.hi >= 0x1p-450 && row.HasExactWeights() &&
                      ((q == 0 && !row.IsDeep()) ||
                       (std::fabs(q) >= 0x1p-450 && std::fabs(q * unscale) >= 0x1p-900));
  if (low == high && normal && std::isfinite(low)) return low;
  constexpr double kMax = std::numeric_limits<T>::max();
  const T value = static_cast<T>(std::clamp(q * unscale, -kMax, kMax));
  return RoundExactly<T>(row, begin, end, value);
}

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_MEAN_H_
