// SPDX-License-Identifier: Apache-2.0
// Non-negative integers of any size, and signed fractions of them: just enough for exact decimal
// expansions, correctly rounded parsing and an exact reference for short expressions.
//
// Values own their limbs. Nothing is tuned: products and divisions are schoolbook, O(n m) in limbs.
// Exact by definition; allocation is the only failure.
#ifndef ASSAY_NUMERICS_FLOATING_BIG_INTEGER_H_
#define ASSAY_NUMERICS_FLOATING_BIG_INTEGER_H_

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::floating {

class BigInteger {
 public:
  BigInteger() = default;
  explicit BigInteger(uint64_t value);

  // 10^exponent. exponent >= 0.
  static BigInteger PowerOfTen(int exponent);

  bool IsZero() const { return limbs_.empty(); }
  // Number of bits without leading zeros; 0 for 0.
  int BitWidth() const;
  // Number of zero bits below the lowest one; 0 for 0.
  int TrailingZeros() const;
  // The bit worth 2^i. i >= 0.
  bool Bit(int i) const;

  // *this = *this * factor + addend.
  void MultiplyAdd(uint32_t factor, uint32_t addend);
  // *this /= divisor (not 0); returns the remainder.
  uint32_t DivideBy(uint32_t divisor);

  friend BigInteger operator+(const BigInteger& a, const BigInteger& b);
  // a - b for a >= b (checked).
  friend BigInteger operator-(const BigInteger& a, const BigInteger& b);
  friend BigInteger operator*(const BigInteger& a, const BigInteger& b);
  friend BigInteger operator<<(const BigInteger& a, int shift);
  friend BigInteger operator>>(const BigInteger& a, int shift);
  friend std::strong_ordering operator<=>(const BigInteger& a, const BigInteger& b);
  friend bool operator==(const BigInteger& a, const BigInteger& b) = default;

  // The quotient of a and b (not 0, checked), cut off; *remainder = a - quotient b.
  // Cost: limbs of the quotient x limbs of b. Source: Knuth (1997), sec. 4.3.1, algorithm D.
  friend BigInteger Divide(const BigInteger& a, const BigInteger& b, BigInteger* remainder);

  // The lowest 64 bits.
  uint64_t Low64() const;
  // Decimal digits, "0" for 0. Cost: quadratic in the digits.
  std::string ToDecimal() const;

 private:
  friend class Rational;

  void Trim();
  void Subtract(const BigInteger& b);  // *this -= b, for *this >= b

  std::vector<uint32_t> limbs_;  // little-endian, no leading zero limb
};

BigInteger Divide(const BigInteger& a, const BigInteger& b, BigInteger* remainder);

// numerator / denominator with a sign, not reduced but for common factors of two.
class Rational {
 public:
  Rational() : denominator_(1) {}
  // Exact. x must be finite (checked).
  explicit Rational(double x);
  // The quotient; denominator not 0 (checked).
  Rational(bool negative, BigInteger numerator, BigInteger denominator);

  bool IsZero() const { return numerator_.IsZero(); }
  bool IsNegative() const { return negative_; }
  const BigInteger& numerator() const { return numerator_; }
  const BigInteger& denominator() const { return denominator_; }
  // Bits of numerator and denominator together: what the next operation will cost.
  int BitSize() const { return numerator_.BitWidth() + denominator_.BitWidth(); }

  Rational operator-() const;
  Rational Abs() const;
  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  // b not 0 (checked).
  friend Rational operator/(const Rational& a, const Rational& b);
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b);
  friend bool operator==(const Rational& a, const Rational& b) { return (a <=> b) == 0; }

  // |*this| = m * 2^exponent with m in [2^63, 2^64) cut off, and whether anything was cut.
  // Not for 0 (checked).
  struct Leading {
    uint64_t significand;
    int exponent;
    bool inexact;
  };
  Leading LeadingBits() const;

  // *this cut off to `bits` >= 1 significant bits: its denominator is then a power of two. Keeps
  // chains of operations from growing without end. Relative error below 2^(1 - bits).
  Rational CutTo(int bits) const;

  // Nearest f64, ties to even; overflow gives an infinity.
  double ToDouble() const;

  // Scientific notation with `digits` >= 1 significant digits, rounded half to even: "-1.2346e-5";
  // "0" for 0.
  std::string ToScientific(int digits) const;

 private:
  bool negative_ = false;
  BigInteger numerator_;
  BigInteger denominator_;
};

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_BIG_INTEGER_H_
