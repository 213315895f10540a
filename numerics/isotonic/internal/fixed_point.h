// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of binary floating point numbers and of their products, as wide integers of a fixed
// number of words: what decides a comparison that rounded arithmetic cannot.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_FIXED_POINT_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_FIXED_POINT_H_

#include <array>
#include <cstdint>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"

namespace assay::isotonic::internal {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

// A finite number as sign, integer significand below 2^64 and exponent: x = +-significand
// 2^exponent.
struct Decoded {
  uint64_t significand = 0;
  int exponent = 0;
  bool negative = false;
};

inline Decoded Decode(double x) {
  const uint64_t bits = FloatBits(x);
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  return {biased == 0 ? fraction : fraction | uint64_t{1} << 52, (biased == 0 ? 1 : biased) - 1075,
          bits >> 63 != 0};
}

// A signed integer of kWords words of 64 bits in two's complement, the least significant first.
// Sums wrap around, so the caller chooses a unit and a width that hold every total it forms.
template <int kWords>
class FixedPoint {
 public:
  // Adds (or subtracts) magnitude 2^shift. Every bit must fall inside the words (checked).
  void Add(uint128 magnitude, int shift, bool negative) {
    if (magnitude == 0) return;
    ASSAY_CHECK_GE(shift, 0);
    const int word = shift / 64;
    const int bit = shift % 64;
    const uint64_t low = static_cast<uint64_t>(magnitude);
    const uint64_t high = static_cast<uint64_t>(magnitude >> 64);
    // Shifting by 64 is not defined, hence twice by the half.
    const std::array<uint64_t, 3> parts = {low << bit, high << bit | low >> 1 >> (63 - bit),
                                           high >> 1 >> (63 - bit)};
    ASSAY_CHECK_LT(word, kWords);
    uint64_t carry = 0;
    for (int i = 0; word + i < kWords; ++i) {
      const uint64_t part = i < 3 ? parts[static_cast<size_t>(i)] : 0;
      if (i >= 3 && carry == 0) break;
      uint64_t& target = words_[static_cast<size_t>(word + i)];
      carry = negative ? SubtractWord(target, part, carry) : AddWord(target, part, carry);
    }
  }

  FixedPoint& operator+=(const FixedPoint& other) {
    uint64_t carry = 0;
    for (size_t i = 0; i < kWords; ++i) carry = AddWord(words_[i], other.words_[i], carry);
    return *this;
  }
  FixedPoint& operator-=(const FixedPoint& other) {
    uint64_t borrow = 0;
    for (size_t i = 0; i < kWords; ++i) borrow = SubtractWord(words_[i], other.words_[i], borrow);
    return *this;
  }

  // -1, 0 or 1.
  int Sign() const {
    if (words_[kWords - 1] >> 63 != 0) return -1;
    for (uint64_t word : words_) {
      if (word != 0) return 1;
    }
    return 0;
  }

  // The exact product. Cost: kWords kOther multiplications of words.
  template <int kOther>
  FixedPoint<kWords + kOther> operator*(const FixedPoint<kOther>& other) const {
    FixedPoint<kWords + kOther> product;
    for (size_t i = 0; i < kWords; ++i) {
      if (words_[i] == 0) continue;
      uint64_t carry = 0;
      for (size_t j = 0; j < kOther; ++j) {
        const uint128 term = uint128{words_[i]} * other.words_[j] + product.words_[i + j] + carry;
        product.words_[i + j] = static_cast<uint64_t>(term);
        carry = static_cast<uint64_t>(term >> 64);
      }
      product.words_[i + kOther] = carry;
    }
    // As unsigned numbers a negative factor is too large by 2^(64 words).
    if (Sign() < 0) product.SubtractAbove(kWords, other);
    if (other.Sign() < 0) product.SubtractAbove(kOther, *this);
    return product;
  }

 private:
  template <int>
  friend class FixedPoint;

  static uint64_t AddWord(uint64_t& target, uint64_t value, uint64_t carry) {
    const uint128 sum = uint128{target} + value + carry;
    target = static_cast<uint64_t>(sum);
    return static_cast<uint64_t>(sum >> 64);
  }
  static uint64_t SubtractWord(uint64_t& target, uint64_t value, uint64_t borrow) {
    const uint128 difference = uint128{target} - value - borrow;
    target = static_cast<uint64_t>(difference);
    return static_cast<uint64_t>(difference >> 64) & 1;
  }
  template <int kOther>
  void SubtractAbove(size_t first, const FixedPoint<kOther>& other) {
    uint64_t borrow = 0;
    for (size_t i = 0; i < kOther && first + i < kWords; ++i) {
      borrow = SubtractWord(words_[first + i], other.words_[i], borrow);
    }
  }

  std::array<uint64_t, kWords> words_{};
};

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_FIXED_POINT_H_
