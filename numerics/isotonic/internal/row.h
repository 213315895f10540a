// SPDX-License-Identifier: Apache-2.0
//
// Rows of points (weight, weight times value) in the three forms that a fit starts from. All offer
//
//   Size()                 the number of points, all of positive weight
//   PointAt(i, inexact)    point i as {w y, w}, rounded; inexact[] is set unless sums over 1024
//   such
//                          points, and products of two such sums, are exact in f64
//   Rises(i)               whether the value of point i + 1 is above that of point i
//   TermAt(i)              point i to twice f64's precision
//   AddExact(i, units, s, w)   adds point i, unscaled, to exact totals
//
// Values are scaled by powers of two so that the largest |y| and the largest w lie in [1, 2),
// unless they are subnormal; a decreasing fit is the increasing one of -y.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_ROW_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_ROW_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "numerics/core/bits.h"
#include "numerics/floating/error_free.h"
#include "numerics/isotonic/internal/fixed_point.h"

namespace assay::isotonic::internal {

// Two f64 side by side; g++ and clang make SSE2 and WebAssembly vectors of them.
typedef double Pair __attribute__((vector_size(16)));
typedef int64_t PairMask __attribute__((vector_size(16)));

// The unit of exact totals is 2^s for sums of w y, and 2^w for sums of weights.
struct Units {
  int s;
  int w;
};

// s = high + low to twice f64's precision, scaled; likewise w.
struct Term {
  double s_high;
  double s_low;
  double w;
};

// A power of two 2^exponent; exponents beyond f64's range are the nearest that it has.
inline double PowerOfTwo(int exponent) {
  if (exponent < -1022) {
    return DoubleFromBits(uint64_t{1} << std::clamp(exponent + 1074, 0, 51));
  }
  return DoubleFromBits(static_cast<uint64_t>(std::min(exponent, 1023) + 1023) << 52);
}

// floor(log2 |x|), x finite and not 0.
inline int Exponent(double x) {
  const int biased = static_cast<int>(FloatBits(x) >> 52 & 0x7ff);
  if (biased != 0) return biased - 1023;
  return 63 - __builtin_clzll(FloatBits(x) & ((uint64_t{1} << 52) - 1)) - 1074;
}

// What one pass over a row finds.
struct Extent {
  double largest = 0;                                         // largest |x|
  double smallest = std::numeric_limits<double>::infinity();  // smallest |x| that is not 0
  bool finite = true;
  bool nonnegative = true;
  bool zeros = false;

  // Exponent of the largest, and of the lowest bit of any, when values have so many bits.
  int Top() const { return largest == 0 ? 0 : Exponent(largest); }
  int Bottom(int digits) const {
    return largest == 0 ? 0 : std::max(Exponent(smallest) - digits + 1, -1074);
  }
  // The power of two that brings the largest value into [1, 2), as far as f64 has it.
  int Scale() const { return std::clamp(-Top(), -1022, 1023); }

  void Merge(const Extent& other) {
    largest = std::max(largest, other.largest);
    smallest = std::min(smallest, other.smallest);
    finite = finite && other.finite;
    nonnegative = nonnegative && other.nonnegative;
    zeros = zeros || other.zeros;
  }
};

// x: [count] at a stride.
template <class X>
Extent Measure(const X* x, int64_t stride, int64_t count) {
  // Four pairs hide the latency of the comparisons.
  constexpr int kPairs = 4;
  const double infinity = std::numeric_limits<double>::infinity();
  Pair largest[kPairs] = {};
  Pair smallest[kPairs];
  Pair least[kPairs] = {};
  Pair poison[kPairs] = {};
  PairMask zero[kPairs] = {};
  for (Pair& pair : smallest) pair = Pair{infinity, infinity};
  const PairMask magnitude = {std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::max()};
  const auto look = [&](int p, Pair value) {
    const Pair absolute = reinterpret_cast<Pair>(reinterpret_cast<PairMask>(value) & magnitude);
    largest[p] = largest[p] < absolute ? absolute : largest[p];
    const PairMask none = value == Pair{0, 0};
    const Pair present = none ? Pair{infinity, infinity} : absolute;
    smallest[p] = present < smallest[p] ? present : smallest[p];
    least[p] = value < least[p] ? value : least[p];
    zero[p] |= none;
    poison[p] += value * Pair{0, 0};  // NaN from NaN and from infinity, else 0
  };
  int64_t i = 0;
  for (; i + 2 * kPairs <= count; i += 2 * kPairs) {
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) {
      const X* at = x + (i + 2 * p) * stride;
      look(p, Pair{static_cast<double>(at[0]), static_cast<double>(at[stride])});
    }
  }
  for (; i < count; ++i) {
    const double value = static_cast<double>(x[i * stride]);
    look(0, Pair{value, value});
  }
  Extent extent;
  for (int p = 0; p < kPairs; ++p) {
    for (int k = 0; k < 2; ++k) {
      extent.Merge(
          {largest[p][k], smallest[p][k], poison[p][k] == 0, !(least[p][k] < 0), zero[p][k] != 0});
    }
  }
  return extent;
}

// Adding and taking away 1.5 2^52 times a unit rounds to a multiple of the unit.
inline Pair RoundTo(Pair x, double rounder) { return (x + rounder) - rounder; }

// Adds significand 2^shift. The unit is below the lowest bit of any value, so what a negative shift
// drops are zeros.
template <int kWords>
void AddShifted(FixedPoint<kWords>& total, uint128 significand, int shift, bool negative) {
  total.Add(shift < 0 ? significand >> std::min(-shift, 127) : significand, std::max(shift, 0),
            negative);
}

// y: [n] of X; weights: [n] of X, all positive, or none.
template <class X, bool kHasWeights>
class ValueRow {
 public:
  static constexpr bool kWeighted = kHasWeights;
  // Bits of a value.
  static constexpr int kDigits = std::is_same_v<X, double> ? 53 : std::is_same_v<X, float> ? 24 : 1;
  // Whether terms have low words.
  static constexpr bool kHasLow = kWeighted && 2 * kDigits > 53;

  ValueRow(const X* y, int64_t y_stride, const X* weights, int64_t weights_stride, int64_t size,
           bool negate, const Extent& y_extent, const Extent& w_extent)
      : y_(y),
        y_stride_(y_stride),
        w_(weights),
        w_stride_(weights_stride),
        size_(size),
        negate_(negate),
        y_scale_exponent_(y_extent.Scale()),
        w_scale_exponent_(kWeighted ? w_extent.Scale() : 0),
        y_scale_(PowerOfTwo(y_scale_exponent_) * (negate ? -1 : 1)),
        w_scale_(PowerOfTwo(w_scale_exponent_)),
        unscale_(PowerOfTwo(-y_scale_exponent_)) {
    units_top_ = {y_extent.Top() + (kWeighted ? w_extent.Top() : 0),
                  kWeighted ? w_extent.Top() : 0};
    units_bottom_ = {y_extent.Bottom(kDigits) + (kWeighted ? w_extent.Bottom(kDigits) : 0),
                     kWeighted ? w_extent.Bottom(kDigits) : 0};
    balanced_ = !kWeighted || Exponent(w_extent.smallest) + w_scale_exponent_ >= -400;
    const int lowest_value = units_bottom_.s - units_bottom_.w + y_scale_exponent_;
    const int lowest_weight = units_bottom_.w + w_scale_exponent_;
    deep_ = std::min({lowest_value, lowest_weight, lowest_value + lowest_weight}) < -1000 ? -1 : 0;
  }

  int64_t Size() const { return size_; }
  // unscaled = Unscale() scaled, of values and of means.
  double Unscale() const { return unscale_; }
  // Exponents of the highest and the lowest bit that w y and w have, unscaled.
  Units Top() const { return units_top_; }
  Units Bottom() const { return units_bottom_; }
  // Whether each TermAt is exact with s_low = 0 and no bit below 2^lowest.
  bool IsExactDownTo(int lowest) const {
    const int s = units_bottom_.s + y_scale_exponent_ + w_scale_exponent_;
    return !kHasLow && s >= lowest && units_bottom_.w + w_scale_exponent_ >= lowest;
  }
  bool HasExactWeights() const { return true; }
  // Whether products of sums of points neither overflow nor lose what counts to underflow.
  bool IsBalanced() const { return balanced_; }
  // Whether a scaled value, weight or term may have bits that underflow.
  bool IsDeep() const { return deep_ != 0; }
  double LargestMean() const { return 2; }

  // Unscaled, but negated if all are.
  double Value(int64_t i) const {
    const double value = static_cast<double>(y_[i * y_stride_]);
    return negate_ ? -value : value;
  }
  double ValueAt(int64_t i) const { return static_cast<double>(y_[i * y_stride_]) * y_scale_; }
  double WeightAt(int64_t i) const {
    if constexpr (kWeighted) return static_cast<double>(w_[i * w_stride_]) * w_scale_;
    return 1;
  }

  bool Rises(int64_t i) const {
    const X a = y_[i * y_stride_];
    const X b = y_[(i + 1) * y_stride_];
    return negate_ ? a > b : a < b;
  }

  // Exact are values that are multiples of 2^-31, or of 2^-15 with weights that are multiples of
  // 2^-7.
  Pair PointAt(int64_t i, PairMask& inexact) const {
    constexpr double kValueRounder = kWeighted ? 0x1.8p37 : 0x1.8p21;
    constexpr double kWeightRounder = 0x1.8p45;
    const double value = ValueAt(i);
    const double weight = WeightAt(i);
    const Pair x = {value, weight};
    const Pair rounder = {kValueRounder, kWeightRounder};
    inexact |= (((x + rounder) - rounder) != x) | PairMask{deep_, deep_};
    return Pair{kWeighted ? value * weight : value, weight};
  }

  Term TermAt(int64_t i) const {
    if constexpr (!kWeighted) return {ValueAt(i), 0, 1};
    const double weight = WeightAt(i);
    if constexpr (!kHasLow) return {ValueAt(i) * weight, 0, weight};
    const floating::HiLo<double> product = floating::TwoProduct(ValueAt(i), weight);
    return {product.hi, product.lo, weight};
  }

  template <int kS, int kW>
  void AddExact(int64_t i, const Units& units, FixedPoint<kS>& s, FixedPoint<kW>& w) const {
    const Decoded y = Decode(static_cast<double>(y_[i * y_stride_]));
    const bool negative = y.negative != negate_;
    if constexpr (kWeighted) {
      const Decoded weight = Decode(static_cast<double>(w_[i * w_stride_]));
      AddShifted(s, uint128{y.significand} * weight.significand,
                 y.exponent + weight.exponent - units.s, negative);
      AddShifted(w, weight.significand, weight.exponent - units.w, false);
    } else {
      AddShifted(s, y.significand, y.exponent - units.s, negative);
      AddShifted(w, 1, -units.w, false);
    }
  }

 private:
  const X* y_;
  int64_t y_stride_;
  const X* w_;
  int64_t w_stride_;
  int64_t size_;
  bool negate_;
  bool balanced_;
  int64_t deep_;  // as a mask
  int y_scale_exponent_;
  int w_scale_exponent_;
  double y_scale_;
  double w_scale_;
  double unscale_;
  Units units_top_;
  Units units_bottom_;
};

// Points (totals, successes) in integers; totals positive.
class CountRow {
 public:
  static constexpr bool kWeighted = true;
  static constexpr bool kHasLow = true;

  CountRow(const int64_t* successes, const int64_t* totals, int64_t size, bool negate)
      : k_(successes), c_(totals), size_(size), negate_(negate) {
    int64_t largest = 1;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t magnitude = k_[i] < 0 ? -k_[i] : k_[i];
      largest = std::max({largest, magnitude, c_[i]});
      largest_mean_ =
          std::max(largest_mean_, static_cast<double>(magnitude) / static_cast<double>(c_[i]));
    }
    top_ = 63 - __builtin_clzll(static_cast<uint64_t>(largest));
    scale_ = PowerOfTwo(-top_);
    negative_scale_ = negate ? -scale_ : scale_;
  }

  int64_t Size() const { return size_; }
  double Unscale() const { return 1; }
  Units Top() const { return {top_, top_}; }
  Units Bottom() const { return {0, 0}; }
  bool IsExactDownTo(int lowest) const { return top_ < 53 && -top_ >= lowest; }
  bool HasExactWeights() const { return top_ < 53; }
  bool IsBalanced() const { return true; }
  bool IsDeep() const { return false; }
  double LargestMean() const { return largest_mean_; }

  bool Rises(int64_t i) const {
    const int128 left = int128{k_[i]} * c_[i + 1];
    const int128 right = int128{k_[i + 1]} * c_[i];
    return negate_ ? left > right : left < right;
  }

  // Sums of 1024 have 25 bits, their products 50, if all numbers have 15.
  Pair PointAt(int64_t i, PairMask& inexact) const {
    inexact |= PairMask{top_ > 14 ? -1 : 0, 0};
    return Pair{static_cast<double>(k_[i]) * negative_scale_, static_cast<double>(c_[i]) * scale_};
  }

  Term TermAt(int64_t i) const {
    const double high = static_cast<double>(k_[i]);
    const double low = static_cast<double>(k_[i] - static_cast<int64_t>(high));
    return {high * negative_scale_, low * negative_scale_, static_cast<double>(c_[i]) * scale_};
  }

  template <int kS, int kW>
  void AddExact(int64_t i, const Units& units, FixedPoint<kS>& s, FixedPoint<kW>& w) const {
    AddShifted(s, static_cast<uint64_t>(k_[i] < 0 ? -k_[i] : k_[i]), -units.s,
               (k_[i] < 0) != negate_);
    AddShifted(w, static_cast<uint64_t>(c_[i]), -units.w, false);
  }

 private:
  const int64_t* k_;
  const int64_t* c_;
  int64_t size_;
  bool negate_;
  int top_;
  double scale_;
  double negative_scale_;
  double largest_mean_ = 0;
};

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_ROW_H_
