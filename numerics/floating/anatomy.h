// SPDX-License-Identifier: Apache-2.0
// What is inside a floating-point number: its fields, its exact decimal value, its neighbours and
// the distance to them; and decimal text into any format with a single rounding.
//
// A number is given as (format, bits), the bits right-aligned in a uint64_t. Everything is exact
// integer code: the same answer everywhere.
//
// Example: ExactDecimal(Format::kF32, *ParseDecimal(Format::kF32, "0.1"))
//          == "0.100000001490116119384765625"
#ifndef ASSAY_NUMERICS_FLOATING_ANATOMY_H_
#define ASSAY_NUMERICS_FLOATING_ANATOMY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "numerics/floating/big_integer.h"

namespace assay::floating {

enum class Format { kF16, kBF16, kF32, kF64 };

inline constexpr std::array<Format, 4> kFormats = {Format::kF16, Format::kBF16, Format::kF32,
                                                   Format::kF64};

struct FormatInfo {
  const char* name;   // "f16", "bf16", "f32", "f64"
  int bits;           // 16, 16, 32, 64
  int exponent_bits;  // 5, 8, 8, 11
  int fraction_bits;  // 10, 7, 23, 52
  int bias;           // 2^(exponent_bits - 1) - 1

  // Exponent of the least normal number, and of the least subnormal.
  constexpr int MinExponent() const { return 1 - bias; }
  constexpr int LeastExponent() const { return 1 - bias - fraction_bits; }
  // Pattern of +infinity.
  constexpr uint64_t Infinity() const {
    return ((uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  }
};

constexpr FormatInfo Info(Format format) {
  switch (format) {
    case Format::kF16:
      return {"f16", 16, 5, 10, 15};
    case Format::kBF16:
      return {"bf16", 16, 8, 7, 127};
    case Format::kF32:
      return {"f32", 32, 8, 23, 127};
    case Format::kF64:
      break;
  }
  return {"f64", 64, 11, 52, 1023};
}

enum class NumberClass { kZero, kSubnormal, kNormal, kInfinity, kNaN };

// The fields of a number, and what they mean.
//   Normal:    (-1)^negative * (2^fraction_bits + fraction) * 2^(exponent - fraction_bits)
//   Subnormal: (-1)^negative * fraction * 2^(exponent - fraction_bits), exponent the least
struct Anatomy {
  NumberClass number_class;
  bool negative;
  int exponent_field;
  int exponent;  // unbiased; the least exponent for zero and subnormals; 0 for infinity and NaN
  uint64_t fraction;
};

// The fields of `bits`; bits beyond the width of the format are ignored.
Anatomy Dissect(Format format, uint64_t bits);

// The value as f64: exact for every format (a NaN becomes the canonical quiet NaN).
double ToDouble(Format format, uint64_t bits);

// The value as a fraction of integers. Exact. The number must be finite (checked).
Rational ToRational(Format format, uint64_t bits);

// x rounded once to the format: to nearest, ties to even, overflow to infinity, subnormals kept; a
// NaN gives the quiet NaN without sign.
uint64_t RoundTo(Format format, double x);
uint64_t RoundTo(Format format, const Rational& x);

// The next pattern up or down in value: from -infinity through the finite numbers to +infinity,
// both zeros counted as one step's start (the neighbour of either zero is the least subnormal). The
// neighbour beyond an infinity is itself; of a NaN, the NaN.
uint64_t NextUp(Format format, uint64_t bits);
uint64_t NextDown(Format format, uint64_t bits);

// Distance from |x| to the next larger number of the format (for the largest finite number: to the
// next smaller one), as f64, exact. NaN for infinities and NaN.
double UlpOf(Format format, uint64_t bits);

// The value in full, without exponent: "-0.000030517578125", "65504", "0", "-0", "inf", "-inf",
// "nan". At most 767 significant digits and 1,077 characters (f64). Cost: quadratic in the digits.
std::string ExactDecimal(Format format, uint64_t bits);

// The fewest digits that round back to the same number of this format, and among those the nearest
// to it: "0.1", "1e-45", "3.4028235e38". Exponents from -5 to 20 are written out.
std::string ShortestDecimal(Format format, uint64_t bits);

// The bits as '0' and '1', the sign bit first.
std::string BitString(Format format, uint64_t bits);

// Decimal text as an exact fraction: digits with at most one point, an optional sign and exponent
// ("-12.5e-3"). Empty result: not a number, more than 1,200 digits, or an exponent beyond +-1,200.
std::optional<Rational> ParseRational(std::string_view text);

// Decimal text, or "inf", "infinity", "nan" in any case with a sign, rounded once to the format.
std::optional<uint64_t> ParseDecimal(Format format, std::string_view text);

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_ANATOMY_H_
