// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/anatomy.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/floating/half.h"

namespace assay::floating {
namespace {

uint64_t Mask(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

uint64_t SignBit(const FormatInfo& info) { return uint64_t{1} << (info.bits - 1); }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Anatomy Dissect(Format format, uint64_t bits) {
  const FormatInfo info = Info(format);
  Anatomy a = {};
  a.negative = (bits & SignBit(info)) != 0;
  a.fraction = bits & Mask(info.fraction_bits);
  a.exponent_field = static_cast<int>((bits >> info.fraction_bits) & Mask(info.exponent_bits));
  if (a.exponent_field == 0) {
    a.number_class = a.fraction == 0 ? NumberClass::kZero : NumberClass::kSubnormal;
    a.exponent = info.MinExponent();
  } else if (a.exponent_field == static_cast<int>(Mask(info.exponent_bits))) {
    a.number_class = a.fraction == 0 ? NumberClass::kInfinity : NumberClass::kNaN;
  } else {
    a.number_class = NumberClass::kNormal;
    a.exponent = a.exponent_field - info.bias;
  }
  return a;
}

double ToDouble(Format format, uint64_t bits) {
  double value = 0;
  switch (format) {
    case Format::kF16:
      value = static_cast<double>(FloatFromBits(F32BitsFromF16Bits(static_cast<uint16_t>(bits))));
      break;
    case Format::kBF16:
      value = static_cast<double>(FloatFromBits(F32BitsFromBF16Bits(static_cast<uint16_t>(bits))));
      break;
    case Format::kF32:
      value = static_cast<double>(FloatFromBits(static_cast<uint32_t>(bits)));
      break;
    case Format::kF64:
      value = DoubleFromBits(bits);
      break;
  }
  return value == value ? value : std::numeric_limits<double>::quiet_NaN();
}

Rational ToRational(Format format, uint64_t bits) { return Rational(ToDouble(format, bits)); }

uint64_t RoundTo(Format format, double x) {
  // What sign a machine gives to a computed NaN is its own affair.
  if (x != x) x = std::numeric_limits<double>::quiet_NaN();
  switch (format) {
    case Format::kF16:
      return F16BitsFromF64Bits(FloatBits(x));
    case Format::kBF16:
      return BF16BitsFromF64Bits(FloatBits(x));
    case Format::kF32:
      return CanonicalBits(static_cast<float>(x));
    case Format::kF64:
      break;
  }
  return CanonicalBits(x);
}

uint64_t RoundTo(Format format, const Rational& x) {
  const FormatInfo info = Info(format);
  if (x.IsZero()) return 0;
  const uint64_t sign = x.IsNegative() ? SignBit(info) : 0;
  const Rational::Leading leading = x.LeadingBits();
  const int top = leading.exponent + 63;
  if (top > info.bias) return sign | info.Infinity();
  const bool normal = top >= info.MinExponent();
  const int drop = 63 - info.fraction_bits + (normal ? 0 : info.MinExponent() - top);
  uint64_t kept = 0;
  if (drop <= 64) {
    const uint64_t half = uint64_t{1} << (drop - 1);
    const uint64_t rest = leading.significand & (half | (half - 1));
    kept = drop == 64 ? 0 : leading.significand >> drop;
    if (rest > half || (rest == half && (leading.inexact || (kept & 1) != 0))) ++kept;
  }
  // kept carries its leading bit for a normal number, so the field starts one lower; a carry out of
  // the fraction moves to the next binade, and past the last one to the pattern of infinity.
  const uint64_t base =
      normal ? static_cast<uint64_t>(top - info.MinExponent()) << info.fraction_bits : 0;
  return sign | (base + kept);
}

uint64_t NextUp(Format format, uint64_t bits) {
  const FormatInfo info = Info(format);
  bits &= Mask(info.bits);
  const uint64_t magnitude = bits & ~SignBit(info);
  if (magnitude > info.Infinity()) return bits;
  if (magnitude == 0) return 1;
  if ((bits & SignBit(info)) != 0) return bits - 1;
  return magnitude == info.Infinity() ? bits : bits + 1;
}

uint64_t NextDown(Format format, uint64_t bits) {
  const FormatInfo info = Info(format);
  bits &= Mask(info.bits);
  const uint64_t magnitude = bits & ~SignBit(info);
  if (magnitude > info.Infinity()) return bits;
  if (magnitude == 0) return SignBit(info) | 1;
  if ((bits & SignBit(info)) == 0) return bits - 1;
  return magnitude == info.Infinity() ? bits : bits + 1;
}

double UlpOf(Format format, uint64_t bits) {
  const FormatInfo info = Info(format);
  const Anatomy a = Dissect(format, bits);
  if (a.number_class == NumberClass::kInfinity || a.number_class == NumberClass::kNaN) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const int exponent = a.exponent - info.fraction_bits;  // -1074 at least
  if (exponent >= -1022) return DoubleFromBits(static_cast<uint64_t>(exponent + 1023) << 52);
  return DoubleFromBits(uint64_t{1} << (exponent + 1074));
}

std::string ExactDecimal(Format format, uint64_t bits) {
  const FormatInfo info = Info(format);
  const Anatomy a = Dissect(format, bits);
  if (a.number_class == NumberClass::kNaN) return "nan";
  const std::string sign = a.negative ? "-" : "";
  if (a.number_class == NumberClass::kInfinity) return sign + "inf";
  if (a.number_class == NumberClass::kZero) return sign + "0";
  const uint64_t significand = a.number_class == NumberClass::kNormal
                                   ? a.fraction | (uint64_t{1} << info.fraction_bits)
                                   : a.fraction;
  const int exponent = a.exponent - info.fraction_bits;
  if (exponent >= 0) return sign + (BigInteger(significand) << exponent).ToDecimal();
  // significand / 2^k = significand 5^k / 10^k, after taking out common factors of two.
  const int common = std::min(-exponent, static_cast<int>(std::countr_zero(significand)));
  const int k = -exponent - common;
  BigInteger scaled(significand >> common);
  for (int i = 0; i < k; ++i) scaled.MultiplyAdd(5, 0);
  std::string digits = scaled.ToDecimal();
  if (k == 0) return sign + digits;
  if (static_cast<int>(digits.size()) <= k) {
    digits.insert(0, static_cast<size_t>(k) + 1 - digits.size(), '0');
  }
  digits.insert(digits.size() - static_cast<size_t>(k), 1, '.');
  return sign + digits;
}

std::string ShortestDecimal(Format format, uint64_t bits) {
  const FormatInfo info = Info(format);
  const Anatomy a = Dissect(format, bits);
  if (a.number_class == NumberClass::kNaN) return "nan";
  const std::string sign = a.negative ? "-" : "";
  if (a.number_class == NumberClass::kInfinity) return sign + "inf";
  if (a.number_class == NumberClass::kZero) return sign + "0";
  const uint64_t magnitude = bits & Mask(info.bits - 1);
  const Rational value = ToRational(format, magnitude);
  // 17 digits tell any two f64 apart, 9 any two f32, fewer the 16-bit ones.
  std::string text;
  for (int digits = 1; digits <= 17; ++digits) {
    text = value.ToScientific(digits);
    const std::optional<uint64_t> back = ParseDecimal(format, text);
    if (back && *back == magnitude) break;
  }
  const size_t e = text.find('e');
  int exponent = 0;
  const bool negative_exponent = text[e + 1] == '-';
  for (size_t i = e + (negative_exponent ? 2 : 1); i < text.size(); ++i) {
    exponent = exponent * 10 + (text[i] - '0');
  }
  if (negative_exponent) exponent = -exponent;
  std::string digits = text.substr(0, e);
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  const int count = static_cast<int>(digits.size());
  if (exponent < -5 || exponent > 20) {
    std::string mantissa = digits.substr(0, 1);
    if (count > 1) mantissa += "." + digits.substr(1);
    return sign + mantissa + "e" + std::to_string(exponent);
  }
  if (exponent < 0)
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1) {
    return sign + digits + std::string(static_cast<size_t>(exponent + 1 - count), '0');
  }
  const size_t whole = static_cast<size_t>(exponent) + 1;
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string BitString(Format format, uint64_t bits) {
  const int width = Info(format).bits;
  std::string text(static_cast<size_t>(width), '0');
  for (int i = 0; i < width; ++i) {
    if (((bits >> (width - 1 - i)) & 1) != 0) text[static_cast<size_t>(i)] = '1';
  }
  return text;
}

std::optional<Rational> ParseRational(std::string_view text) {
  constexpr int kLimit = 1200;
  size_t i = 0;
  bool negative = false;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) negative = text[i++] == '-';
  BigInteger digits;
  int count = 0;
  int after_point = 0;
  bool point = false;
  for (; i < text.size(); ++i) {
    if (text[i] == '.') {
      if (point) return std::nullopt;
      point = true;
    } else if (IsDigit(text[i])) {
      if (++count > kLimit) return std::nullopt;
      digits.MultiplyAdd(10, static_cast<uint32_t>(text[i] - '0'));
      if (point) ++after_point;
    } else {
      break;
    }
  }
  if (count == 0) return std::nullopt;
  int exponent = 0;
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') return std::nullopt;
    ++i;
    bool minus = false;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) minus = text[i++] == '-';
    if (i == text.size()) return std::nullopt;
    for (; i < text.size(); ++i) {
      if (!IsDigit(text[i])) return std::nullopt;
      exponent = exponent * 10 + (text[i] - '0');
      if (exponent > kLimit) return std::nullopt;
    }
    if (minus) exponent = -exponent;
  }
  exponent -= after_point;
  if (exponent >= 0)
    return Rational(negative, digits * BigInteger::PowerOfTen(exponent), BigInteger(1));
  return Rational(negative, std::move(digits), BigInteger::PowerOfTen(-exponent));
}

std::optional<uint64_t> ParseDecimal(Format format, std::string_view text) {
  const FormatInfo info = Info(format);
  const bool minus = !text.empty() && text[0] == '-';
  const bool sign = minus || (!text.empty() && text[0] == '+');
  std::string word(text.substr(sign ? 1 : 0));
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const uint64_t sign_bit = minus ? SignBit(info) : 0;
  if (word == "inf" || word == "infinity") return sign_bit | info.Infinity();
  if (word == "nan") return info.Infinity() | (uint64_t{1} << (info.fraction_bits - 1));
  const std::optional<Rational> value = ParseRational(text);
  if (!value) return std::nullopt;
  return RoundTo(format, *value) | sign_bit;  // keeps the sign of -0
}

}  // namespace assay::floating
