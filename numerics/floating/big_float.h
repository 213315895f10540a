// SPDX-License-Identifier: Apache-2.0
// Binary floating point with as many bits as a call asks for, correctly rounded: the reference
// against which the formats with few bits are measured.
//
// A BigFloat is an exact value: (-1)^negative * significand * 2^exponent with a whole significand
// of any length, or a signed zero, a signed infinity, NaN. Precision belongs to an operation, which
// returns the nearest number of so many bits, ties to even. With a least exponent it also rounds as
// a format with subnormals does, so that every operation of f16, bf16, f32 and f64 is here too.
//
// Special values follow IEEE 754 and, for functions, C99 annex F. There is one NaN. Results beyond
// 2^(2^60) are infinite, those below 2^(-2^60) are zero.
//
// Every function is correctly rounded, by Ziv's loop: computed with some spare bits and an error
// bound, and again with more until both ends of the bound round to the same number. Results that
// are exact, or nearer to a number than any precision would show, are found beforehand.
//
// Cost at 200 bits: 0.2 to 0.3 microseconds for + - *, 0.5 for /, 2 for sqrt, 3 to 40 for
// functions; all grow with the square of the bits or faster. Exact: integers only (a double's
// logarithm starts an iteration that does not depend on it).
// Sources: P. Zimmermann, "Reliable computing with GNU MPFR" (2010) for the plan; A. Ziv, "Fast
//   evaluation of elementary mathematical functions with correctly rounded last bit" (1991).
#ifndef ASSAY_NUMERICS_FLOATING_BIG_FLOAT_H_
#define ASSAY_NUMERICS_FLOATING_BIG_FLOAT_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_integer.h"

namespace assay::floating {

// Sin, Cos and Tan of larger numbers are NaN: they would need as many bits of pi.
inline constexpr int kTrigonometricLimit = 2048;

// What an operation rounds to: `bits` significant bits (1 to 1,000,000), the last of them worth at
// least 2^least. Other `bits` are not checked. Below 1 a rounded result is a power of two
// or 0, and functions mean nothing; beyond 1,000,000 the time grows without bound, and counts of
// bits, which are ints, overflow at some hundreds of millions.
struct Precision {
  int bits = 200;
  int64_t least = std::numeric_limits<int64_t>::min();
};

// The precision of a format, with its subnormals but without its overflow; ToFormat adds that.
constexpr Precision PrecisionOf(Format format) {
  return {Info(format).fraction_bits + 1, Info(format).LeastExponent()};
}

class BigFloat {
 public:
  BigFloat() = default;  // +0
  // Exact.
  explicit BigFloat(double x);
  static BigFloat FromInteger(int64_t x);
  static BigFloat Infinity(bool negative = false);
  static BigFloat NaN();
  // +-significand * 2^exponent, exact.
  static BigFloat Scaled(bool negative, BigInteger significand, int64_t exponent);

  bool IsNaN() const { return kind_ == Kind::kNaN; }
  bool IsInfinite() const { return kind_ == Kind::kInfinity; }
  bool IsFinite() const { return kind_ == Kind::kZero || kind_ == Kind::kNumber; }
  bool IsZero() const { return kind_ == Kind::kZero; }
  bool IsNegative() const { return negative_; }  // the sign of -0 too; false for NaN
  bool IsInteger() const { return IsZero() || (kind_ == Kind::kNumber && exponent_ >= 0); }
  // floor(log2 |x|). x must be finite and not zero (checked).
  int64_t Exponent() const;
  // The odd significand and the exponent of its last bit; both 0 unless finite and not zero.
  const BigInteger& significand() const { return significand_; }
  int64_t exponent() const { return exponent_; }
  // Bits of the significand.
  int width() const { return significand_.BitWidth(); }

  BigFloat operator-() const;
  BigFloat Abs() const;
  // x * 2^k, exact.
  BigFloat Times2To(int64_t k) const;

  // Unordered for NaN; -0 equals +0. Exact.
  friend std::partial_ordering operator<=>(const BigFloat& a, const BigFloat& b);
  friend bool operator==(const BigFloat& a, const BigFloat& b) { return (a <=> b) == 0; }

  // Arithmetic and functions, correctly rounded. They are found by their arguments alone, so that
  // they do not hide the functions of the same names for double.
  friend BigFloat Add(const BigFloat& a, const BigFloat& b, Precision precision);
  friend BigFloat Subtract(const BigFloat& a, const BigFloat& b, Precision precision);
  friend BigFloat Multiply(const BigFloat& a, const BigFloat& b, Precision precision);
  friend BigFloat Divide(const BigFloat& a, const BigFloat& b, Precision precision);
  // a b + c, rounded once.
  friend BigFloat MultiplyAdd(const BigFloat& a, const BigFloat& b, const BigFloat& c,
                              Precision precision);
  friend BigFloat Sqrt(const BigFloat& x, Precision precision);
  friend BigFloat Cbrt(const BigFloat& x, Precision precision);
  friend BigFloat Hypot(const BigFloat& x, const BigFloat& y, Precision precision);

  friend BigFloat Exp(const BigFloat& x, Precision precision);
  friend BigFloat Expm1(const BigFloat& x, Precision precision);
  friend BigFloat Log(const BigFloat& x, Precision precision);
  friend BigFloat Log1p(const BigFloat& x, Precision precision);
  friend BigFloat Log2(const BigFloat& x, Precision precision);
  friend BigFloat Log10(const BigFloat& x, Precision precision);
  // x to the power y, special cases as Pow of numerics/core has them.
  friend BigFloat Pow(const BigFloat& x, const BigFloat& y, Precision precision);

  // Radians. NaN for |x| >= 2^kTrigonometricLimit.
  friend BigFloat Sin(const BigFloat& x, Precision precision);
  friend BigFloat Cos(const BigFloat& x, Precision precision);
  friend BigFloat Tan(const BigFloat& x, Precision precision);
  friend BigFloat Atan(const BigFloat& x, Precision precision);

  friend BigFloat Sinh(const BigFloat& x, Precision precision);
  friend BigFloat Cosh(const BigFloat& x, Precision precision);
  friend BigFloat Tanh(const BigFloat& x, Precision precision);

  // The nearest f64, ties to even, with overflow and subnormals.
  double ToDouble() const;
  // `digits` >= 1 significant decimal digits, correctly rounded (a tie to even), trailing zeros
  // kept: "-1.2346e-5"; "0", "-0", "inf", "-inf", "nan".
  std::string ToScientific(int digits) const;

 private:
  friend BigFloat Round(bool negative, BigInteger significand, int64_t exponent, bool sticky,
                        Precision precision);

  enum class Kind : uint8_t { kZero, kNumber, kInfinity, kNaN };
  Kind kind_ = Kind::kZero;
  bool negative_ = false;
  BigInteger significand_;  // odd for a number
  int64_t exponent_ = 0;
};

// The nearest number to +-significand * 2^exponent, or where `sticky` to something between that and
// the next larger significand; then the significand needs two bits more than are kept (checked).
BigFloat Round(bool negative, BigInteger significand, int64_t exponent, bool sticky,
               Precision precision);
BigFloat Round(const BigFloat& x, Precision precision);

// The nearest number to x (finite, not 0) moved by less than anything, away from 0 or towards it.
BigFloat RoundNudged(const BigFloat& x, bool away, Precision precision);

// Decimal text ("-12.5e-3"), correctly rounded; empty where ParseRational would say so, but for the
// exponent, which may have up to 18 digits: its size costs nothing.
std::optional<BigFloat> ParseBigFloat(std::string_view text, Precision precision);

// The pattern of x rounded to the format, overflow included.
uint64_t ToFormat(Format format, const BigFloat& x);
// Exact.
BigFloat FromFormat(Format format, uint64_t bits);

BigFloat Pi(Precision precision);

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_BIG_FLOAT_H_
