// SPDX-License-Identifier: Apache-2.0
//
// Rows of points (weight, weight times value) in the three forms that a fit starts from. All offer
//
//   Size()                     the number of points, all of positive weight
//   PointAt(i)                 point i as {w y, w}, rounded
//   InexactAt(i)               0, 0 if sums over 1280 such points, and products of two such
//                              sums, are exact in f64
//   Rises(i)                   whether the value of point i + 1 is above that of point i
//   TermAt(i)                  point i to twice f64's precision
//   AddExact(i, units, s, w)   adds point i, unscaled, to exact totals
//
// Values are scaled by powers of two so that the largest |y| and the largest w lie in [1, 2),
// unless they are subnormal. A decreasing fit is the increasing one of the row read backwards.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_ROW_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_ROW_H_

#include <algorithm>
#include <cstdint>
#include <limits>
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

// Sixteen bytes of numbers, and masks of them.
template <class X>
struct Vector;
template <>
struct Vector<double> {
  static constexpr int kLanes = 2;
  typedef double Type __attribute__((vector_size(16)));
  typedef int64_t Mask __attribute__((vector_size(16)));
};
template <>
struct Vector<float> {
  static constexpr int kLanes = 4;
  typedef float Type __attribute__((vector_size(16)));
  typedef int32_t Mask __attribute__((vector_size(16)));
};

// x: [count] at a stride.
template <class X>
Extent Measure(const X* x, int64_t stride, int64_t count) {
  using V = typename Vector<X>::Type;
  using Mask = typename Vector<X>::Mask;
  constexpr int kLanes = Vector<X>::kLanes;
  constexpr int kVectors = 4;  // in flight: as many comparisons as it takes to hide their latency
  constexpr X kMax = std::numeric_limits<X>::max();
  constexpr X kInfinity = std::numeric_limits<X>::infinity();
  const V none = V{};
  const Mask magnitude = (none == none) ^ reinterpret_cast<Mask>(-none);
  V largest[kVectors] = {};
  V smallest[kVectors];
  Mask zero[kVectors] = {};
  Mask finite[kVectors];
  Mask negative[kVectors] = {};
  for (int v = 0; v < kVectors; ++v) {
    smallest[v] = none + kInfinity;
    finite[v] = none == none;
  }
  const auto look = [&](int v, V value) {
    const V absolute = reinterpret_cast<V>(reinterpret_cast<Mask>(value) & magnitude);
    const Mask is_zero = absolute == none;
    const V present = is_zero ? none + kInfinity : absolute;
    largest[v] = largest[v] < absolute ? absolute : largest[v];
    smallest[v] = present < smallest[v] ? present : smallest[v];
    zero[v] |= is_zero;
    finite[v] &= absolute <= none + kMax;
    negative[v] |= value < none;
  };
  int64_t i = 0;
  for (; i + kLanes * kVectors <= count; i += kLanes * kVectors) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      V value;
      if (stride == 1) {
        __builtin_memcpy(&value, x + i + kLanes * v, sizeof value);
      } else {
        for (int k = 0; k < kLanes; ++k) value[k] = x[(i + kLanes * v + k) * stride];
      }
      look(v, value);
    }
  }
  for (; i < count; ++i) look(0, none + x[i * stride]);
  Extent extent;
  for (int v = 0; v < kVectors; ++v) {
    for (int k = 0; k < kLanes; ++k) {
      extent.Merge(
          {largest[v][k], smallest[v][k], finite[v][k] != 0, negative[v][k] == 0, zero[v][k] != 0});
    }
  }
  return extent;
}

// Sums of 4096 scaled numbers that have no bit below it are exact in f64.
inline constexpr int kLowestUpperBit = -39;

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

  ValueRow(const X* y, const X* weights, int64_t size, const Extent& y_extent,
           const Extent& w_extent)
      : y_(y),
        w_(weights),
        size_(size),
        y_scale_exponent_(y_extent.Scale()),
        w_scale_exponent_(kWeighted ? w_extent.Scale() : 0),
        y_scale_(PowerOfTwo(y_scale_exponent_)),
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
  bool HasShortWeights() const {
    return !kWeighted || units_bottom_.w + w_scale_exponent_ >= kLowestUpperBit;
  }
  // Whether products of sums of points neither overflow nor lose what counts to underflow.
  bool IsBalanced() const { return balanced_; }
  // Whether a scaled value, weight or term may have bits that underflow.
  bool IsDeep() const { return deep_ != 0; }
  double LargestMean() const { return 2; }

  double Value(int64_t i) const { return static_cast<double>(y_[i]); }  // unscaled
  double ValueAt(int64_t i) const { return static_cast<double>(y_[i]) * y_scale_; }
  double WeightAt(int64_t i) const {
    if constexpr (kWeighted) return static_cast<double>(w_[i]) * w_scale_;
    return 1;
  }

  bool Rises(int64_t i) const { return y_[i] < y_[i + 1]; }

  Pair PointAt(int64_t i) const {
    const double value = ValueAt(i);
    const double weight = WeightAt(i);
    return Pair{kWeighted ? value * weight : value, weight};
  }

  // Exact are values that are multiples of 2^-31, or of 2^-15 with weights that are multiples of
  // 2^-7.
  PairMask InexactAt(int64_t i) const {
    constexpr double kValueRounder = kWeighted ? 0x1.8p37 : 0x1.8p21;
    constexpr double kWeightRounder = 0x1.8p45;
    const Pair x = {ValueAt(i), WeightAt(i)};
    const Pair rounder = {kValueRounder, kWeightRounder};
    return (((x + rounder) - rounder) != x) | PairMask{deep_, deep_};
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
    const Decoded y = Decode(static_cast<double>(y_[i]));
    if constexpr (kWeighted) {
      const Decoded weight = Decode(static_cast<double>(w_[i]));
      AddShifted(s, uint128{y.significand} * weight.significand,
                 y.exponent + weight.exponent - units.s, y.negative);
      AddShifted(w, weight.significand, weight.exponent - units.w, false);
    } else {
      AddShifted(s, y.significand, y.exponent - units.s, y.negative);
      AddShifted(w, 1, -units.w, false);
    }
  }

 private:
  const X* y_;
  const X* w_;
  int64_t size_;
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

  CountRow(const int64_t* successes, const int64_t* totals, int64_t size)
      : k_(successes), c_(totals), size_(size) {
    int64_t largest = 1;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t magnitude = k_[i] < 0 ? -k_[i] : k_[i];
      largest = std::max({largest, magnitude, c_[i]});
      largest_mean_ =
          std::max(largest_mean_, static_cast<double>(magnitude) / static_cast<double>(c_[i]));
    }
    top_ = 63 - __builtin_clzll(static_cast<uint64_t>(largest));
    scale_ = PowerOfTwo(-top_);
  }

  int64_t Size() const { return size_; }
  double Unscale() const { return 1; }
  Units Top() const { return {top_, top_}; }
  Units Bottom() const { return {0, 0}; }
  bool IsExactDownTo(int lowest) const { return top_ < 53 && -top_ >= lowest; }
  bool HasExactWeights() const { return top_ < 53; }
  bool HasShortWeights() const { return -top_ >= kLowestUpperBit; }
  bool IsBalanced() const { return true; }
  bool IsDeep() const { return false; }
  double LargestMean() const { return largest_mean_; }

  bool Rises(int64_t i) const {
    const int128 left = int128{k_[i]} * c_[i + 1];
    const int128 right = int128{k_[i + 1]} * c_[i];
    return left < right;
  }

  Pair PointAt(int64_t i) const {
    return Pair{static_cast<double>(k_[i]) * scale_, static_cast<double>(c_[i]) * scale_};
  }

  // Sums of 1280 have 26 bits, their products 52, if all numbers have 15.
  PairMask InexactAt(int64_t) const { return PairMask{top_ > 14 ? -1 : 0, 0}; }

  Term TermAt(int64_t i) const {
    const double high = static_cast<double>(k_[i]);
    const double low = static_cast<double>(k_[i] - static_cast<int64_t>(high));
    return {high * scale_, low * scale_, static_cast<double>(c_[i]) * scale_};
  }

  template <int kS, int kW>
  void AddExact(int64_t i, const Units& units, FixedPoint<kS>& s, FixedPoint<kW>& w) const {
    AddShifted(s, static_cast<uint64_t>(k_[i] < 0 ? -k_[i] : k_[i]), -units.s, k_[i] < 0);
    AddShifted(w, static_cast<uint64_t>(c_[i]), -units.w, false);
  }

 private:
  const int64_t* k_;
  const int64_t* c_;
  int64_t size_;
  int top_;
  double scale_;
  double largest_mean_ = 0;
};

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_ROW_H_
