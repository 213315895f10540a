// SPDX-License-Identifier: Apache-2.0
// The two 16-bit formats: IEEE binary16 (f16: 5 exponent bits, 10 fraction bits) and bfloat16
// (bf16: the upper half of an f32, 8 exponent bits, 7 fraction bits).
//
// Bit-level conversions come first: they are exact on every pattern, NaN included, because no
// floating-point register touches the value. Types with operators follow: Half and BFloat16 compute
// each operation in f32 and round the result once to 16 bits. That equals the correctly rounded
// 16-bit operation for + - * / and sqrt, since 24 bits are at least 2 * 11 + 2 (Figueroa, When is
// double rounding innocuous?, SIGNUM 1995).
//
// Rounding is to nearest, ties to even. Overflow gives an infinity, subnormals are kept, a NaN
// stays a quiet NaN with its sign and its upper payload bits. Everything here is exact (integer
// code).
//
// Example: Half h(0.1f); float back = h.ToFloat();   // 0.0999755859375
#ifndef ASSAY_NUMERICS_FLOATING_HALF_H_
#define ASSAY_NUMERICS_FLOATING_HALF_H_

#include <bit>
#include <compare>
#include <cstdint>

#include "numerics/core/bits.h"

namespace assay::floating {

// bf16 from the bits of an f32. Cost: a comparison and three integer operations.
constexpr uint16_t BF16BitsFromF32Bits(uint32_t bits) {
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  // Adding just under half an ulp, plus the last kept bit, rounds to nearest even; a carry out of
  // the fraction lands in the exponent, which is what rounding up to the next binade (or to
  // infinity) means.
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// The bits of the f32 equal to a bf16. Exact.
constexpr uint32_t F32BitsFromBF16Bits(uint16_t bits) { return static_cast<uint32_t>(bits) << 16; }

// f16 from the bits of an f32. Values of at least 65520 become infinity, values of at most 2^-25
// become zero (the sign is kept).
constexpr uint16_t F16BitsFromF32Bits(uint32_t bits) {
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x01ffu));
  }
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above
  if (magnitude >= 0x38800000u) {                                              // normal: 2^-14 up
    const uint32_t rebased = magnitude - 0x38000000u;  // bias 127 to bias 15
    return static_cast<uint16_t>(sign | ((rebased + 0x0fffu + ((rebased >> 13) & 1u)) >> 13));
  }
  if (magnitude <= 0x33000000u) return static_cast<uint16_t>(sign);  // 2^-25 ties to even: zero
  // Subnormal: units of 2^-24. The significand is shifted right by 14 (just under 2^-14) to 24.
  const uint32_t exponent = magnitude >> 23;
  const uint32_t significand = (magnitude & 0x007fffffu) | 0x00800000u;
  const uint32_t shift = 126u - exponent;
  const uint32_t kept = significand >> shift;
  const uint32_t rest = significand & ((1u << shift) - 1u);
  const uint32_t half = 1u << (shift - 1u);
  const uint32_t up = (rest > half || (rest == half && (kept & 1u) != 0)) ? 1u : 0u;
  return static_cast<uint16_t>(sign | (kept + up));
}

// The bits of the f32 equal to an f16. Exact; a NaN keeps sign and payload.
constexpr uint32_t F32BitsFromF16Bits(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x03ffu;
  if (exponent == 0x1fu) return sign | 0x7f800000u | (fraction << 13);
  if (exponent != 0) return sign | ((exponent + 112u) << 23) | (fraction << 13);
  if (fraction == 0) return sign;
  const int width = std::bit_width(fraction);  // value = fraction * 2^-24, leading bit at width - 1
  const uint32_t normal = (fraction << (24 - width)) & 0x007fffffu;
  return sign | (static_cast<uint32_t>(width + 102) << 23) | normal;
}

// The bits of the f32 nearest to an f64 in the sense of round to odd: cut off, and set the last bit
// when anything was cut. A later rounding to 16 bits then comes out as if from the f64 at once,
// because the odd bit remembers on which side of a tie the value lay. An f64 beyond the f32 range
// becomes the largest finite f32 (which is odd), an f64 below it the least subnormal.
// Source: Boldo, Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using
//   rounding to odd (IEEE Trans. Computers, 2008).
constexpr uint32_t F32BitsRoundedToOdd(uint64_t f64_bits) {
  const uint32_t sign = static_cast<uint32_t>(f64_bits >> 63) << 31;
  const uint64_t magnitude = f64_bits & 0x7fffffffffffffffu;
  if (magnitude > 0x7ff0000000000000u) {
    return sign | 0x7fc00000u | static_cast<uint32_t>((magnitude >> 29) & 0x003fffffu);
  }
  if (magnitude == 0x7ff0000000000000u) return sign | 0x7f800000u;
  if (magnitude >= 0x47f0000000000000u) return sign | 0x7f7fffffu;  // 2^128 and above
  if (magnitude >= 0x3810000000000000u) {                           // 2^-126 and above: normal f32
    const uint64_t rebased = magnitude - 0x3800000000000000u;       // bias 1023 to bias 127
    const uint32_t sticky = (rebased & 0x1fffffffu) != 0 ? 1u : 0u;
    return sign | static_cast<uint32_t>(rebased >> 29) | sticky;
  }
  if (magnitude == 0) return sign;
  const int exponent = static_cast<int>(magnitude >> 52);
  if (exponent == 0) return sign | 1u;
  const uint64_t significand = (magnitude & 0x000fffffffffffffu) | 0x0010000000000000u;
  const int shift = 926 - exponent;  // units of 2^-149
  if (shift > 52) return sign | 1u;
  const uint32_t sticky = (significand & ((uint64_t{1} << shift) - 1)) != 0 ? 1u : 0u;
  return sign | static_cast<uint32_t>(significand >> shift) | sticky;
}

// The same from a signed 64-bit integer.
constexpr uint32_t F32BitsRoundedToOdd(int64_t value) {
  if (value == 0) return 0;
  const uint32_t sign = value < 0 ? 0x80000000u : 0u;
  const uint64_t magnitude =
      value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  const int width = std::bit_width(magnitude);
  const uint32_t exponent = static_cast<uint32_t>(width + 126) << 23;
  if (width <= 24) {
    return sign | exponent | (static_cast<uint32_t>(magnitude << (24 - width)) & 0x007fffffu);
  }
  const int shift = width - 24;
  const uint32_t sticky = (magnitude & ((uint64_t{1} << shift) - 1)) != 0 ? 1u : 0u;
  return sign | exponent | (static_cast<uint32_t>(magnitude >> shift) & 0x007fffffu) | sticky;
}

// Correctly rounded straight to 16 bits: one rounding, never through a rounded f32.
constexpr uint16_t F16BitsFromF64Bits(uint64_t bits) {
  return F16BitsFromF32Bits(F32BitsRoundedToOdd(bits));
}
constexpr uint16_t BF16BitsFromF64Bits(uint64_t bits) {
  return BF16BitsFromF32Bits(F32BitsRoundedToOdd(bits));
}
constexpr uint16_t F16BitsFromI64(int64_t value) {
  return F16BitsFromF32Bits(F32BitsRoundedToOdd(value));
}
constexpr uint16_t BF16BitsFromI64(int64_t value) {
  return BF16BitsFromF32Bits(F32BitsRoundedToOdd(value));
}

namespace internal {

struct F16Codec {
  static constexpr uint16_t FromF32(uint32_t bits) { return F16BitsFromF32Bits(bits); }
  static constexpr uint32_t ToF32(uint16_t bits) { return F32BitsFromF16Bits(bits); }
};
struct BF16Codec {
  static constexpr uint16_t FromF32(uint32_t bits) { return BF16BitsFromF32Bits(bits); }
  static constexpr uint32_t ToF32(uint16_t bits) { return F32BitsFromBF16Bits(bits); }
};

}  // namespace internal

// A 16-bit number with operators that round after every operation. Comparisons follow IEEE: -0
// equals 0, a NaN equals nothing.
template <class Codec>
class Float16 {
 public:
  constexpr Float16() = default;
  // Rounds to nearest even.
  constexpr explicit Float16(float x) : bits_(Codec::FromF32(FloatBits(x))) {}
  constexpr explicit Float16(double x) : bits_(Codec::FromF32(F32BitsRoundedToOdd(FloatBits(x)))) {}
  constexpr explicit Float16(int64_t x) : bits_(Codec::FromF32(F32BitsRoundedToOdd(x))) {}
  constexpr explicit Float16(int x) : Float16(static_cast<int64_t>(x)) {}
  static constexpr Float16 FromBits(uint16_t bits) {
    Float16 result;
    result.bits_ = bits;
    return result;
  }

  constexpr uint16_t bits() const { return bits_; }
  // Exact.
  constexpr float ToFloat() const { return FloatFromBits(Codec::ToF32(bits_)); }
  constexpr explicit operator float() const { return ToFloat(); }
  constexpr explicit operator double() const { return static_cast<double>(ToFloat()); }

  constexpr Float16 operator-() const {
    return FromBits(static_cast<uint16_t>(bits_ ^ uint16_t{0x8000}));
  }
  friend constexpr Float16 operator+(Float16 a, Float16 b) {
    return Float16(a.ToFloat() + b.ToFloat());
  }
  friend constexpr Float16 operator-(Float16 a, Float16 b) {
    return Float16(a.ToFloat() - b.ToFloat());
  }
  friend constexpr Float16 operator*(Float16 a, Float16 b) {
    return Float16(a.ToFloat() * b.ToFloat());
  }
  friend constexpr Float16 operator/(Float16 a, Float16 b) {
    return Float16(a.ToFloat() / b.ToFloat());
  }
  constexpr Float16& operator+=(Float16 b) { return *this = *this + b; }
  friend constexpr bool operator==(Float16 a, Float16 b) { return a.ToFloat() == b.ToFloat(); }
  friend constexpr std::partial_ordering operator<=>(Float16 a, Float16 b) {
    return a.ToFloat() <=> b.ToFloat();
  }

 private:
  uint16_t bits_ = 0;
};

using Half = Float16<internal::F16Codec>;
using BFloat16 = Float16<internal::BF16Codec>;

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_HALF_H_
