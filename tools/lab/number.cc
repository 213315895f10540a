// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/number.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

#include "numerics/core/bits.h"

namespace assay::lab {
namespace {

// An unsigned integer of any size: 32-bit limbs, least significant first, no leading zero limb.
class Natural {
 public:
  Natural() = default;
  explicit Natural(uint64_t value) {
    while (value != 0) {
      limbs_.push_back(static_cast<uint32_t>(value));
      value >>= 32;
    }
  }

  bool IsZero() const { return limbs_.empty(); }

  int64_t BitLength() const {
    if (limbs_.empty()) return 0;
    return 32 * static_cast<int64_t>(limbs_.size()) - std::countl_zero(limbs_.back());
  }

  void MultiplyAdd(uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (uint32_t& limb : limbs_) {
      carry += static_cast<uint64_t>(limb) * factor;
      limb = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_.push_back(static_cast<uint32_t>(carry));
    if (factor == 0) Trim();
  }

  void MultiplyPowerOf10(int64_t exponent) {
    for (; exponent >= 9; exponent -= 9) MultiplyAdd(1000000000u, 0);
    for (; exponent > 0; --exponent) MultiplyAdd(10, 0);
  }

  void ShiftLeft(int64_t bits) {
    if (limbs_.empty() || bits <= 0) return;
    const int small = static_cast<int>(bits % 32);
    if (small != 0) {
      uint32_t carry = 0;
      for (uint32_t& limb : limbs_) {
        const uint32_t next = limb >> (32 - small);
        limb = (limb << small) | carry;
        carry = next;
      }
      if (carry != 0) limbs_.push_back(carry);
    }
    limbs_.insert(limbs_.begin(), static_cast<size_t>(bits / 32), 0u);
  }

  void Add(const Natural& other) {
    if (limbs_.size() < other.limbs_.size()) limbs_.resize(other.limbs_.size(), 0);
    uint64_t carry = 0;
    for (size_t i = 0; i < limbs_.size(); ++i) {
      carry += limbs_[i];
      if (i < other.limbs_.size()) carry += other.limbs_[i];
      limbs_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_.push_back(static_cast<uint32_t>(carry));
  }

  // Requires *this >= other.
  void Subtract(const Natural& other) {
    int64_t borrow = 0;
    for (size_t i = 0; i < limbs_.size(); ++i) {
      int64_t difference = static_cast<int64_t>(limbs_[i]) - borrow;
      if (i < other.limbs_.size()) difference -= other.limbs_[i];
      borrow = difference < 0 ? 1 : 0;
      limbs_[i] = static_cast<uint32_t>(difference);
    }
    Trim();
  }

  // -1, 0, 1 as a <=> b.
  static int Compare(const Natural& a, const Natural& b) {
    if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() < b.limbs_.size() ? -1 : 1;
    for (size_t i = a.limbs_.size(); i-- > 0;) {
      if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
    }
    return 0;
  }

 private:
  void Trim() {
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  }

  std::vector<uint32_t> limbs_;
};

int CompareSum(const Natural& a, const Natural& b, const Natural& c) {
  Natural sum = a;
  sum.Add(b);
  return Natural::Compare(sum, c);
}

// A positive finite float as mantissa * 2^exponent, and where its neighbours lie.
struct Binary {
  uint64_t mantissa = 0;
  int exponent = 0;
  bool lower_gap_is_half = false;  // a power of two above the subnormals
};

// precision: bits of the significand with the hidden one (53, 24).
Binary Decompose(uint64_t magnitude, int precision, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint64_t hidden = uint64_t{1} << (precision - 1);
  const uint64_t fraction = magnitude & (hidden - 1);
  const int biased = static_cast<int>(magnitude >> (precision - 1));
  Binary result;
  result.mantissa = biased == 0 ? fraction : fraction | hidden;
  result.exponent = std::max(biased, 1) - bias - (precision - 1);
  result.lower_gap_is_half = biased > 1 && fraction == 0;
  return result;
}

// Decimal digits d1 d2 ... with value = 0.d1d2... * 10^point.
struct Decimal {
  std::string digits;
  int point = 0;
};

// Never above the true ceil(log10(value)), and below it by at most one: the constant is log10(2)
// rounded down, the product is exact to far better than the 1e-10.
int EstimatePoint(const Binary& value) {
  const int64_t top = value.exponent + Natural(value.mantissa).BitLength() - 1;
  const double estimate = static_cast<double>(top) * 0.30102999566398114 - 1e-10;
  const int truncated = static_cast<int>(estimate);
  return estimate > truncated ? truncated + 1 : truncated;
}

// r / s = value / 10^point, everything scaled by the same power of two.
void Scale(const Binary& value, int point, Natural& r, Natural& s) {
  r = Natural(value.mantissa);
  s = Natural(1);
  if (value.exponent >= 0) {
    r.ShiftLeft(value.exponent);
  } else {
    s.ShiftLeft(-value.exponent);
  }
  if (point >= 0) {
    s.MultiplyPowerOf10(point);
  } else {
    r.MultiplyPowerOf10(-point);
  }
}

// One digit of r / s times ten; r becomes the remainder.
int NextDigit(Natural& r, const Natural& s) {
  r.MultiplyAdd(10, 0);
  int digit = 0;
  while (Natural::Compare(r, s) >= 0) {
    r.Subtract(s);
    ++digit;
  }
  return digit;
}

Decimal ShortestDigits(const Binary& value) {
  const bool even = (value.mantissa & 1) == 0;
  Decimal result;
  result.point = EstimatePoint(value);
  Natural r, s;
  Scale(value, result.point, r, s);
  // Everything times 4, so that a quarter of a gap is an integer; `low` and `high` are half the way
  // to the neighbours.
  Natural high(1);
  if (value.exponent >= 0) high.ShiftLeft(value.exponent);
  if (result.point < 0) high.MultiplyPowerOf10(-result.point);
  Natural low = high;
  r.ShiftLeft(2);
  s.ShiftLeft(2);
  high.ShiftLeft(1);
  if (!value.lower_gap_is_half) low.ShiftLeft(1);
  const auto reaches = [even](int comparison) { return even ? comparison >= 0 : comparison > 0; };
  if (reaches(CompareSum(r, high, s))) {
    ++result.point;
    s.MultiplyAdd(10, 0);
  }
  for (;;) {
    int digit = NextDigit(r, s);
    low.MultiplyAdd(10, 0);
    high.MultiplyAdd(10, 0);
    const bool low_ok = reaches(Natural::Compare(low, r));
    const bool high_ok = reaches(CompareSum(r, high, s));
    if (!low_ok && !high_ok) {
      result.digits.push_back(static_cast<char>('0' + digit));
      continue;
    }
    if (high_ok) {
      const int half = low_ok ? CompareSum(r, r, s) : 1;
      if (half > 0 || (half == 0 && digit % 2 == 1)) ++digit;
    }
    result.digits.push_back(static_cast<char>('0' + digit));
    return result;
  }
}

Decimal RoundedDigits(const Binary& value, int count) {
  Decimal result;
  result.point = EstimatePoint(value);
  Natural r, s;
  Scale(value, result.point, r, s);
  if (Natural::Compare(r, s) >= 0) {
    ++result.point;
    s.MultiplyAdd(10, 0);
  }
  for (int i = 0; i < count; ++i) {
    result.digits.push_back(static_cast<char>('0' + NextDigit(r, s)));
  }
  const int half = CompareSum(r, r, s);
  const bool odd = (result.digits.back() - '0') % 2 == 1;
  if (half > 0 || (half == 0 && odd)) {
    int i = count - 1;
    while (i >= 0 && result.digits[static_cast<size_t>(i)] == '9') {
      result.digits[static_cast<size_t>(i--)] = '0';
    }
    if (i >= 0) {
      ++result.digits[static_cast<size_t>(i)];
    } else {
      result.digits.insert(result.digits.begin(), '1');
      result.digits.pop_back();
      ++result.point;
    }
  }
  return result;
}

std::string Layout(bool negative, const Decimal& decimal, bool pad_with_zeros) {
  const int count = static_cast<int>(decimal.digits.size());
  const int point = decimal.point;
  std::string text = negative ? "-" : "";
  if (point > -6 && point <= 0) {
    text += "0.";
    text.append(static_cast<size_t>(-point), '0');
    return text + decimal.digits;
  }
  if (point > 0 && point <= 21 && (pad_with_zeros || count >= point)) {
    if (count <= point) {
      text += decimal.digits;
      text.append(static_cast<size_t>(point - count), '0');
      return text;
    }
    return text + decimal.digits.substr(0, static_cast<size_t>(point)) + "." +
           decimal.digits.substr(static_cast<size_t>(point));
  }
  text.push_back(decimal.digits[0]);
  if (count > 1) text += "." + decimal.digits.substr(1);
  const int exponent = point - 1;
  return text + (exponent < 0 ? "e-" : "e+") + FormatInt(exponent < 0 ? -exponent : exponent);
}

// Text for what has no digits; empty for a positive or negative finite number other than zero.
std::string Special(bool is_nan, bool is_infinite, bool is_zero, bool negative) {
  if (is_nan) return "NaN";
  const char* text = is_infinite ? "Infinity" : is_zero ? "0" : "";
  return (*text != 0 && negative ? "-" : "") + std::string(text);
}

// The parts of a decimal literal: digits (an integer, leading zeros gone) times 10^exponent.
struct Literal {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<Literal> Scan(std::string_view text) {
  Literal literal;
  size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) literal.negative = text[i++] == '-';
  bool any = false;
  for (; i < text.size() && IsDigit(text[i]); ++i) {
    any = true;
    literal.digits.push_back(text[i]);
  }
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && IsDigit(text[i]); ++i) {
      any = true;
      literal.digits.push_back(text[i]);
      --literal.exponent;
    }
  }
  if (!any) return std::nullopt;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    bool negative = false;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
    if (i == text.size()) return std::nullopt;
    int64_t exponent = 0;
    // Beyond 1e6 every literal of at most 2,000 digits is an infinity or a zero already.
    for (; i < text.size() && IsDigit(text[i]); ++i) {
      exponent = std::min<int64_t>(exponent * 10 + (text[i] - '0'), 1000000);
    }
    literal.exponent += negative ? -exponent : exponent;
  }
  if (i != text.size()) return std::nullopt;
  const size_t first = literal.digits.find_first_not_of('0');
  literal.digits.erase(0, first == std::string::npos ? literal.digits.size() : first);
  return literal;
}

// The magnitude bits of the float nearest to the literal.
uint64_t RoundToBinary(const Literal& literal, int precision, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int min_exponent = 1 - bias - (precision - 1);  // of the last bit of a subnormal
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << (precision - 1);
  const int64_t point = static_cast<int64_t>(literal.digits.size()) + literal.exponent;
  if (literal.digits.empty() || point < -400) return 0;
  if (point > 400) return infinity;
  Natural numerator, denominator(1);
  for (char c : literal.digits) numerator.MultiplyAdd(10, static_cast<uint32_t>(c - '0'));
  if (literal.exponent >= 0) {
    numerator.MultiplyPowerOf10(literal.exponent);
  } else {
    denominator.MultiplyPowerOf10(-literal.exponent);
  }
  // Choose the exponent so that the quotient has `precision` bits, or fewer at the bottom.
  int64_t exponent = numerator.BitLength() - denominator.BitLength() - precision;
  for (;; ++exponent) {
    exponent = std::max<int64_t>(exponent, min_exponent);
    Natural n = numerator, d = denominator;
    if (exponent < 0) {
      n.ShiftLeft(-exponent);
    } else {
      d.ShiftLeft(exponent);
    }
    if (n.BitLength() - d.BitLength() > precision) continue;
    // Long division, one bit at a time: 53 shifts and subtractions of short numbers.
    uint64_t quotient = 0;
    for (int bit = precision; bit >= 0; --bit) {
      Natural shifted = d;
      shifted.ShiftLeft(bit);
      if (Natural::Compare(n, shifted) >= 0) {
        n.Subtract(shifted);
        quotient |= uint64_t{1} << bit;
      }
    }
    if (quotient >> precision != 0) continue;
    const int half = CompareSum(n, n, d);
    if (half > 0 || (half == 0 && (quotient & 1) != 0)) ++quotient;
    // A carry out of the significand lands in the exponent field, as it should.
    const uint64_t hidden = uint64_t{1} << (precision - 1);
    if (quotient < hidden) return quotient;
    const uint64_t biased = static_cast<uint64_t>(exponent - min_exponent + 1);
    const uint64_t bits = (biased << (precision - 1)) + (quotient - hidden);
    return std::min(bits, infinity);
  }
}

std::optional<uint64_t> ParseBits(std::string_view text, int precision, int exponent_bits) {
  const uint64_t sign = uint64_t{1} << (precision - 1 + exponent_bits);
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << (precision - 1);
  if (text.size() > 2000) return std::nullopt;
  if (text == "NaN") return infinity | uint64_t{1} << (precision - 2);
  if (text == "Infinity" || text == "+Infinity") return infinity;
  if (text == "-Infinity") return infinity | sign;
  const std::optional<Literal> literal = Scan(text);
  if (!literal) return std::nullopt;
  return RoundToBinary(*literal, precision, exponent_bits) | (literal->negative ? sign : 0);
}

}  // namespace

std::string FormatDouble(double value) {
  const uint64_t bits = FloatBits(value);
  const bool negative = (bits >> 63) != 0;
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  constexpr uint64_t kInfinity = uint64_t{0x7ff} << 52;
  std::string text =
      Special(magnitude > kInfinity, magnitude == kInfinity, magnitude == 0, negative);
  return text.empty() ? Layout(negative, ShortestDigits(Decompose(magnitude, 53, 11)), true) : text;
}

std::string FormatFloat(float value) {
  const uint32_t bits = FloatBits(value);
  const bool negative = (bits >> 31) != 0;
  const uint32_t magnitude = bits & 0x7fffffffu;
  constexpr uint32_t kInfinity = 0x7f800000u;
  std::string text =
      Special(magnitude > kInfinity, magnitude == kInfinity, magnitude == 0, negative);
  return text.empty() ? Layout(negative, ShortestDigits(Decompose(magnitude, 24, 8)), true) : text;
}

std::string FormatSignificant(double value, int digits) {
  const uint64_t bits = FloatBits(value);
  const bool negative = (bits >> 63) != 0;
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  constexpr uint64_t kInfinity = uint64_t{0x7ff} << 52;
  std::string text =
      Special(magnitude > kInfinity, magnitude == kInfinity, magnitude == 0, negative);
  if (!text.empty()) return text;
  const int count = std::clamp(digits, 1, 40);
  return Layout(negative, RoundedDigits(Decompose(magnitude, 53, 11), count), false);
}

std::optional<double> ParseDouble(std::string_view text) {
  const std::optional<uint64_t> bits = ParseBits(text, 53, 11);
  if (!bits) return std::nullopt;
  return DoubleFromBits(*bits);
}

std::optional<float> ParseFloat(std::string_view text) {
  const std::optional<uint64_t> bits = ParseBits(text, 24, 8);
  if (!bits) return std::nullopt;
  return FloatFromBits(static_cast<uint32_t>(*bits));
}

std::string FormatUint(uint64_t value) {
  std::string text;
  do {
    text.push_back(static_cast<char>('0' + value % 10));
    value /= 10;
  } while (value != 0);
  std::reverse(text.begin(), text.end());
  return text;
}

std::string FormatInt(int64_t value) {
  if (value >= 0) return FormatUint(static_cast<uint64_t>(value));
  return "-" + FormatUint(~static_cast<uint64_t>(value) + 1);
}

std::optional<uint64_t> ParseUint(std::string_view text) {
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  for (char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    const uint64_t digit = static_cast<uint64_t>(c - '0');
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::optional<int64_t> ParseInt(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  const std::optional<uint64_t> magnitude = ParseUint(negative ? text.substr(1) : text);
  const uint64_t limit = uint64_t{1} << 63;
  if (!magnitude || *magnitude > limit || (*magnitude == limit && !negative)) return std::nullopt;
  return static_cast<int64_t>(negative ? ~*magnitude + 1 : *magnitude);
}

std::string FormatHex(uint64_t value, int digits) {
  std::string text = "0x";
  for (int i = digits - 1; i >= 0; --i) text.push_back("0123456789abcdef"[(value >> (4 * i)) & 15]);
  return text;
}

}  // namespace assay::lab
