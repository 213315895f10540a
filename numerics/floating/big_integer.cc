// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/big_integer.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"

namespace assay::floating {

BigInteger::BigInteger(uint64_t value) {
  if (value != 0) limbs_.push_back(static_cast<uint32_t>(value));
  if (value >> 32 != 0) limbs_.push_back(static_cast<uint32_t>(value >> 32));
}

BigInteger BigInteger::PowerOfTen(int exponent) {
  ASSAY_CHECK(exponent >= 0);
  BigInteger result(1);
  for (; exponent >= 9; exponent -= 9) result.MultiplyAdd(1000000000u, 0);
  for (; exponent > 0; --exponent) result.MultiplyAdd(10, 0);
  return result;
}

void BigInteger::Trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}

int BigInteger::BitWidth() const {
  if (limbs_.empty()) return 0;
  return static_cast<int>(limbs_.size() - 1) * 32 + static_cast<int>(std::bit_width(limbs_.back()));
}

int BigInteger::TrailingZeros() const {
  for (size_t i = 0; i < limbs_.size(); ++i) {
    if (limbs_[i] != 0) return static_cast<int>(i) * 32 + std::countr_zero(limbs_[i]);
  }
  return 0;
}

bool BigInteger::Bit(int i) const {
  const size_t limb = static_cast<size_t>(i / 32);
  return limb < limbs_.size() && ((limbs_[limb] >> (i % 32)) & 1) != 0;
}

void BigInteger::MultiplyAdd(uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (uint32_t& limb : limbs_) {
    carry += static_cast<uint64_t>(limb) * factor;
    limb = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) limbs_.push_back(static_cast<uint32_t>(carry));
  Trim();
}

uint32_t BigInteger::DivideBy(uint32_t divisor) {
  ASSAY_CHECK(divisor != 0);
  uint64_t rest = 0;
  for (size_t i = limbs_.size(); i-- > 0;) {
    rest = (rest << 32) | limbs_[i];
    limbs_[i] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  Trim();
  return static_cast<uint32_t>(rest);
}

BigInteger operator+(const BigInteger& a, const BigInteger& b) {
  BigInteger result;
  const size_t size = std::max(a.limbs_.size(), b.limbs_.size());
  result.limbs_.reserve(size + 1);
  uint64_t carry = 0;
  for (size_t i = 0; i < size; ++i) {
    if (i < a.limbs_.size()) carry += a.limbs_[i];
    if (i < b.limbs_.size()) carry += b.limbs_[i];
    result.limbs_.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  if (carry != 0) result.limbs_.push_back(static_cast<uint32_t>(carry));
  return result;
}

void BigInteger::Subtract(const BigInteger& b) {
  int64_t borrow = 0;
  for (size_t i = 0; i < limbs_.size(); ++i) {
    int64_t value = static_cast<int64_t>(limbs_[i]) - borrow;
    if (i < b.limbs_.size()) value -= static_cast<int64_t>(b.limbs_[i]);
    borrow = value < 0 ? 1 : 0;
    limbs_[i] = static_cast<uint32_t>(value);
  }
  Trim();
}

BigInteger operator-(const BigInteger& a, const BigInteger& b) {
  ASSAY_CHECK(a >= b);
  BigInteger result = a;
  result.Subtract(b);
  return result;
}

BigInteger operator*(const BigInteger& a, const BigInteger& b) {
  BigInteger result;
  if (a.IsZero() || b.IsZero()) return result;
  result.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (size_t i = 0; i < a.limbs_.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.limbs_.size(); ++j) {
      carry += static_cast<uint64_t>(a.limbs_[i]) * b.limbs_[j] + result.limbs_[i + j];
      result.limbs_[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    result.limbs_[i + b.limbs_.size()] = static_cast<uint32_t>(carry);
  }
  result.Trim();
  return result;
}

BigInteger operator<<(const BigInteger& a, int shift) {
  ASSAY_CHECK(shift >= 0);
  if (a.IsZero()) return a;
  BigInteger result;
  result.limbs_.assign(static_cast<size_t>(shift / 32), 0);
  const int bits = shift % 32;
  uint64_t carry = 0;
  for (const uint32_t limb : a.limbs_) {
    carry |= static_cast<uint64_t>(limb) << bits;
    result.limbs_.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  if (carry != 0) result.limbs_.push_back(static_cast<uint32_t>(carry));
  return result;
}

BigInteger operator>>(const BigInteger& a, int shift) {
  ASSAY_CHECK(shift >= 0);
  BigInteger result;
  const size_t skip = static_cast<size_t>(shift / 32);
  const int bits = shift % 32;
  for (size_t i = skip; i < a.limbs_.size(); ++i) {
    const uint64_t upper = i + 1 < a.limbs_.size() ? a.limbs_[i + 1] : 0;
    result.limbs_.push_back(static_cast<uint32_t>(((upper << 32) | a.limbs_[i]) >> bits));
  }
  result.Trim();
  return result;
}

std::strong_ordering operator<=>(const BigInteger& a, const BigInteger& b) {
  if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() <=> b.limbs_.size();
  for (size_t i = a.limbs_.size(); i-- > 0;) {
    if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] <=> b.limbs_[i];
  }
  return std::strong_ordering::equal;
}

BigInteger Divide(const BigInteger& a, const BigInteger& b, BigInteger* remainder) {
  ASSAY_CHECK(!b.IsZero());
  if (a < b) {
    *remainder = a;
    return BigInteger();
  }
  BigInteger quotient;
  if (b.limbs_.size() == 1) {
    quotient = a;
    *remainder = BigInteger(quotient.DivideBy(b.limbs_[0]));
    return quotient;
  }
  // With the divisor's top bit set, two limbs of the rest by one of it guess a limb of the quotient
  // at most two too large, and the second limb of the divisor takes that back but for rare cases.
  const int shift = std::countl_zero(b.limbs_.back());
  const std::vector<uint32_t> v = (b << shift).limbs_;
  std::vector<uint32_t> u = (a << shift).limbs_;
  const size_t n = v.size();
  u.resize(std::max(u.size(), a.limbs_.size()) + 1, 0);
  quotient.limbs_.assign(u.size() - n, 0);
  for (size_t j = u.size() - n; j-- > 0;) {
    const uint64_t top = (static_cast<uint64_t>(u[j + n]) << 32) | u[j + n - 1];
    uint64_t guess = top / v[n - 1];
    uint64_t rest = top % v[n - 1];
    while (guess >> 32 != 0 || guess * v[n - 2] > ((rest << 32) | u[j + n - 2])) {
      --guess;
      rest += v[n - 1];
      if (rest >> 32 != 0) break;
    }
    uint64_t carry = 0;
    int64_t borrow = 0;
    for (size_t i = 0; i < n; ++i) {
      carry += guess * v[i];
      borrow += static_cast<int64_t>(u[i + j]) - static_cast<int64_t>(carry & 0xffffffffu);
      u[i + j] = static_cast<uint32_t>(borrow);
      carry >>= 32;
      borrow >>= 32;
    }
    borrow += static_cast<int64_t>(u[j + n]) - static_cast<int64_t>(carry);
    u[j + n] = static_cast<uint32_t>(borrow);
    if (borrow < 0) {  // one too many: add the divisor back
      --guess;
      uint64_t sum = 0;
      for (size_t i = 0; i < n; ++i) {
        sum += static_cast<uint64_t>(u[i + j]) + v[i];
        u[i + j] = static_cast<uint32_t>(sum);
        sum >>= 32;
      }
      u[j + n] += static_cast<uint32_t>(sum);
    }
    quotient.limbs_[j] = static_cast<uint32_t>(guess);
  }
  quotient.Trim();
  BigInteger rest;
  rest.limbs_ = std::move(u);
  rest.Trim();
  *remainder = rest >> shift;
  return quotient;
}

uint64_t BigInteger::Low64() const {
  uint64_t value = limbs_.empty() ? 0 : limbs_[0];
  if (limbs_.size() > 1) value |= static_cast<uint64_t>(limbs_[1]) << 32;
  return value;
}

std::string BigInteger::ToDecimal() const {
  if (IsZero()) return "0";
  BigInteger rest = *this;
  std::string digits;  // from the last to the first
  while (!rest.IsZero()) {
    uint32_t chunk = rest.DivideBy(1000000000u);
    for (int i = 0; i < 9; ++i) {
      digits.push_back(static_cast<char>('0' + chunk % 10));
      chunk /= 10;
    }
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Rational::Rational(double x) : denominator_(1) {
  ASSAY_CHECK(x - x == 0);
  const uint64_t bits = FloatBits(x);
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  negative_ = (bits >> 63) != 0 && x != 0;
  numerator_ = BigInteger(field != 0 ? fraction | (uint64_t{1} << 52) : fraction);
  const int exponent = (field != 0 ? field : 1) - 1075;
  if (exponent >= 0) {
    numerator_ = numerator_ << exponent;
  } else {
    const int common = std::min(-exponent, numerator_.TrailingZeros());
    numerator_ = numerator_ >> common;
    if (!numerator_.IsZero()) denominator_ = BigInteger(1) << (-exponent - common);
  }
}

Rational::Rational(bool negative, BigInteger numerator, BigInteger denominator)
    : negative_(negative && !numerator.IsZero()),
      numerator_(std::move(numerator)),
      denominator_(std::move(denominator)) {
  ASSAY_CHECK(!denominator_.IsZero());
  if (numerator_.IsZero()) {
    denominator_ = BigInteger(1);
    return;
  }
  const int common = std::min(numerator_.TrailingZeros(), denominator_.TrailingZeros());
  if (common > 0) {
    numerator_ = numerator_ >> common;
    denominator_ = denominator_ >> common;
  }
}

Rational Rational::operator-() const { return Rational(!negative_, numerator_, denominator_); }
Rational Rational::Abs() const { return Rational(false, numerator_, denominator_); }

Rational operator+(const Rational& a, const Rational& b) {
  const BigInteger x = a.numerator_ * b.denominator_;
  const BigInteger y = b.numerator_ * a.denominator_;
  const BigInteger d = a.denominator_ * b.denominator_;
  if (a.negative_ == b.negative_) return Rational(a.negative_, x + y, d);
  return x >= y ? Rational(a.negative_, x - y, d) : Rational(b.negative_, y - x, d);
}

Rational operator-(const Rational& a, const Rational& b) { return a + (-b); }

Rational operator*(const Rational& a, const Rational& b) {
  return Rational(a.negative_ != b.negative_, a.numerator_ * b.numerator_,
                  a.denominator_ * b.denominator_);
}

Rational operator/(const Rational& a, const Rational& b) {
  ASSAY_CHECK(!b.IsZero());
  return Rational(a.negative_ != b.negative_, a.numerator_ * b.denominator_,
                  a.denominator_ * b.numerator_);
}

std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
  if (a.negative_ != b.negative_) {
    return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  const std::strong_ordering magnitude =
      a.numerator_ * b.denominator_ <=> b.numerator_ * a.denominator_;
  return a.negative_ ? 0 <=> magnitude : magnitude;
}

Rational::Leading Rational::LeadingBits() const {
  ASSAY_CHECK(!IsZero());
  // Scale to denominator <= numerator < 2 denominator, then one subtraction gives one bit.
  int exponent = numerator_.BitWidth() - denominator_.BitWidth();
  BigInteger rest = exponent < 0 ? numerator_ << -exponent : numerator_;
  const BigInteger unit = exponent > 0 ? denominator_ << exponent : denominator_;
  if (rest < unit) {
    rest = rest << 1;
    --exponent;
  }
  uint64_t significand = 0;
  for (int i = 0; i < 64; ++i) {
    significand <<= 1;
    if (rest >= unit) {
      rest.Subtract(unit);
      significand |= 1;
    }
    rest.MultiplyAdd(2, 0);
  }
  return {significand, exponent - 63, !rest.IsZero()};
}

Rational Rational::CutTo(int bits) const {
  ASSAY_CHECK(bits >= 1);
  if (IsZero()) return *this;
  const int shift = bits - (numerator_.BitWidth() - denominator_.BitWidth());
  BigInteger rest;
  const BigInteger quotient = Divide(shift > 0 ? numerator_ << shift : numerator_,
                                     shift < 0 ? denominator_ << -shift : denominator_, &rest);
  return Rational(negative_, shift < 0 ? quotient << -shift : quotient,
                  shift > 0 ? BigInteger(1) << shift : BigInteger(1));
}

double Rational::ToDouble() const {
  if (IsZero()) return 0;
  const Leading leading = LeadingBits();
  const int top = leading.exponent + 63;  // value in [2^top, 2^(top + 1))
  double magnitude = 0;
  if (top > 1023) {
    magnitude = std::numeric_limits<double>::infinity();
  } else {
    // Bits to drop: 11 for a normal result, more below 2^-1022.
    const int drop = top >= -1022 ? 11 : 11 + (-1022 - top);
    uint64_t kept = 0;
    if (drop <= 64) {
      const uint64_t half = uint64_t{1} << (drop - 1);
      const uint64_t rest = leading.significand & (half | (half - 1));
      kept = drop == 64 ? 0 : leading.significand >> drop;
      if (rest > half || (rest == half && (leading.inexact || (kept & 1) != 0))) ++kept;
    }
    // The field below the leading bit; a carry runs into the exponent as it should.
    const uint64_t base = top >= -1022 ? static_cast<uint64_t>(top + 1022) << 52 : 0;
    magnitude = DoubleFromBits(base + kept);
  }
  return negative_ ? -magnitude : magnitude;
}

std::string Rational::ToScientific(int digits) const {
  ASSAY_CHECK(digits >= 1);
  if (IsZero()) return "0";
  // A first guess of the decimal exponent from the binary one, never too high, mended upwards.
  const int binary = numerator_.BitWidth() - denominator_.BitWidth();
  int exponent = static_cast<int>((static_cast<int64_t>(binary) * 30103) / 100000) - 2;
  std::string text;
  for (;;) {
    // scaled = |x| 10^(digits - 1 - exponent), rounded half to even to an integer.
    const int scale = digits - 1 - exponent;
    const BigInteger top = scale >= 0 ? numerator_ * BigInteger::PowerOfTen(scale) : numerator_;
    const BigInteger bottom =
        scale >= 0 ? denominator_ : denominator_ * BigInteger::PowerOfTen(-scale);
    BigInteger rest;
    BigInteger quotient = Divide(top, bottom, &rest);
    if (quotient >= BigInteger::PowerOfTen(digits)) {
      ++exponent;
      continue;
    }
    const std::strong_ordering half = (rest << 1) <=> bottom;
    if (half > 0 || (half == 0 && (quotient.Low64() & 1) != 0)) quotient = quotient + BigInteger(1);
    text = quotient.ToDecimal();
    if (static_cast<int>(text.size()) > digits) {  // rounded up to the next power of ten
      text.pop_back();
      ++exponent;
    }
    break;
  }
  std::string result = negative_ ? "-" : "";
  result += text[0];
  if (digits > 1) {
    result += '.';
    result += text.substr(1);
  }
  result += 'e';
  result += std::to_string(exponent);
  return result;
}

}  // namespace assay::floating
