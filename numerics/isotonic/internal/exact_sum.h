// SPDX-License-Identifier: Apache-2.0
//
// Sums of products of floating point numbers, without rounding, whose sign can be asked at any
// time. floating::ExactAccumulator sums single numbers; a product has twice the range.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_EXACT_SUM_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_EXACT_SUM_H_

#include <array>
#include <cstdint>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"

namespace assay::isotonic::internal {

// (negative ? -1 : 1) significand 2^exponent.
struct Dyadic {
  uint64_t significand;
  int exponent;
  bool negative;
};

// The number whose encoding as a T is `magnitude` and a sign. Exact for every finite encoding;
// those beyond go on as if the format had one more exponent.
template <class T>
constexpr Dyadic DyadicFromMagnitude(uint64_t magnitude, bool negative) {
  constexpr int kFraction = sizeof(T) == 8 ? 52 : 23, kLeast = sizeof(T) == 8 ? -1074 : -149;
  const int field = static_cast<int>(magnitude >> kFraction);
  const uint64_t fraction = magnitude & ((uint64_t{1} << kFraction) - 1);
  if (field == 0) return {fraction, kLeast, negative};
  return {fraction | uint64_t{1} << kFraction, kLeast + field - 1, negative};
}

// The finite number x.
constexpr Dyadic ToDyadic(double x) {
  return DyadicFromMagnitude<double>(FloatBits(x) & ~(uint64_t{1} << 63), FloatBits(x) >> 63 != 0);
}

// The number `halves` half steps between neighbours above v, which is finite: every second step is
// a number of type T, the others lie halfway between two.
template <class T>
constexpr Dyadic HalfSteps(T v, int halves) {
  constexpr int kBits = 8 * sizeof(T);
  const auto bits = static_cast<uint64_t>(FloatBits(v));
  const auto magnitude = static_cast<int64_t>(bits & ((uint64_t{1} << (kBits - 1)) - 1));
  const int64_t step = (bits >> (kBits - 1) != 0 ? -magnitude : magnitude) + (halves >> 1);
  const bool between = (halves & 1) != 0;  // this step and the next
  const bool negative = step < 0;
  const int64_t inner = negative ? -step - (between ? 1 : 0) : step;  // the one nearer to 0
  const Dyadic x = DyadicFromMagnitude<T>(static_cast<uint64_t>(inner), negative);
  return {2 * x.significand + (between ? 1 : 0), x.exponent - 1, negative};
}

// A two's complement register of kWords words of 64 bits whose lowest bit stands for 2^kUnit.
template <int kWords, int kUnit>
class ExactSum {
 public:
  static constexpr int kSize = kWords;
  static constexpr int kUnitExponent = kUnit;

  // Adds (or subtracts) significand 2^exponent, for 128 bits high:low.
  void Add(Wide128 significand, int exponent, bool subtract) {
    const int position = exponent - kUnit;
    ASSAY_DCHECK(position >= 0 && position / 64 + 3 < kWords);
    const int shift = position & 63;
    uint64_t* word = &words_[static_cast<size_t>(position >> 6)];
    // A shift by 64 is not defined, hence two.
    const uint64_t parts[3] = {significand.low << shift,
                               significand.high << shift | significand.low >> 1 >> (63 - shift),
                               significand.high >> 1 >> (63 - shift)};
    uint64_t carry = 0;
    uint64_t* const end = words_.data() + kWords;
    for (int k = 0; k < 3; ++k, ++word) {
      carry = subtract ? Subtract(*word, parts[k], carry) : Plus(*word, parts[k], carry);
    }
    for (; carry != 0 && word != end; ++word) {
      carry = subtract ? Subtract(*word, 0, carry) : Plus(*word, 0, carry);
    }
  }

  // Adds a b, or subtracts it.
  void Add(const Dyadic& a, const Dyadic& b, bool subtract = false) {
    Add(MultiplyWide(a.significand, b.significand), a.exponent + b.exponent,
        (a.negative != b.negative) != subtract);
  }

  void Clear() { words_ = {}; }

  // -1, 0 or 1.
  int Sign() const {
    if (words_[kWords - 1] >> 63 != 0) return -1;
    for (uint64_t word : words_) {
      if (word != 0) return 1;
    }
    return 0;
  }

  // The words of the absolute value, least significant first, each with the weight of the one
  // before times 2^64; the first one's is 2^kUnit.
  std::array<uint64_t, kWords> Magnitude() const {
    std::array<uint64_t, kWords> magnitude = words_;
    if (words_[kWords - 1] >> 63 == 0) return magnitude;
    uint64_t carry = 1;
    for (uint64_t& word : magnitude) {
      word = ~word;
      carry = Plus(word, 0, carry);
    }
    return magnitude;
  }

 private:
  static uint64_t Plus(uint64_t& target, uint64_t value, uint64_t carry) {
    const uint64_t sum = target + value;
    const uint64_t out = static_cast<uint64_t>(sum < value);
    target = sum + carry;
    return out | static_cast<uint64_t>(target < carry);
  }
  static uint64_t Subtract(uint64_t& target, uint64_t value, uint64_t borrow) {
    const uint64_t difference = target - value;
    const uint64_t out = static_cast<uint64_t>(target < value);
    target = difference - borrow;
    return out | static_cast<uint64_t>(difference < borrow);
  }

  std::array<uint64_t, kWords> words_ = {};
};

// Room for the sum of 2^60 products of two f64, the second one perhaps halfway between neighbours:
// from 2^(-1074 - 1075) to 2^(1024 + 1025).
using ProductSum = ExactSum<69, -2152>;

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_EXACT_SUM_H_
