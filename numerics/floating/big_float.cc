// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/big_float.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"

namespace assay::floating {
namespace {

constexpr int64_t kMostExponent = int64_t{1} << 60;

// Beyond any format and any intermediate step of the decimal conversions.
constexpr int kExactDecimalExponent = 6000;

// The exact sum; for numbers whose bits lie near each other.
BigFloat AddExactly(const BigFloat& a, const BigFloat& b) {
  if (a.IsZero()) return b;
  if (b.IsZero()) return a;
  const int64_t low = std::min(a.exponent(), b.exponent());
  const BigInteger x = a.significand() << static_cast<int>(a.exponent() - low);
  const BigInteger y = b.significand() << static_cast<int>(b.exponent() - low);
  if (a.IsNegative() == b.IsNegative()) return BigFloat::Scaled(a.IsNegative(), x + y, low);
  return x >= y ? BigFloat::Scaled(a.IsNegative() && x != y, x - y, low)
                : BigFloat::Scaled(b.IsNegative(), y - x, low);
}

// floor(n^(1/degree)) for degree 2 or 3, and whether that is exact. Newton's iteration from above.
BigInteger Root(const BigInteger& n, uint32_t degree, bool* exact) {
  const int d = static_cast<int>(degree);
  // Above the root by at most a few units in 2^-50 of it.
  const int drop = std::max(0, (n.BitWidth() - 60) / d * d);
  const double lead = static_cast<double>((n >> drop).Low64());
  double start = std::sqrt(lead);  // below 2^32
  if (degree == 3) {
    start = 1 << 21;  // (2^63)^(1/3)
    for (int i = 0; i < 80; ++i) start = (2 * start + lead / (start * start)) / 3;
  }
  BigInteger y = (BigInteger(static_cast<uint64_t>(start * 0x1p22) + 16) << (drop / d)) >> 22;
  y = y + BigInteger(1);
  BigInteger rest;
  for (;;) {
    BigInteger power = y;
    for (uint32_t i = 2; i < degree; ++i) power = power * y;
    BigInteger next = Divide(n, power, &rest);
    for (uint32_t i = 1; i < degree; ++i) next = next + y;
    next.DivideBy(degree);
    if (next >= y) {
      *exact = power * y == n;
      return y;
    }
    y = std::move(next);
  }
}

// The correctly rounded root of a positive number.
BigFloat RootOf(const BigFloat& x, int degree, Precision precision) {
  // x = n * 2^(degree k) with n of more than degree * (bits + 2) bits.
  int64_t shift = std::max(0, degree * (precision.bits + 3) - x.width());
  shift += (((x.exponent() - shift) % degree) + degree) % degree;
  bool exact = false;
  const BigInteger n = x.significand() << static_cast<int>(shift);
  BigInteger root = Root(n, static_cast<uint32_t>(degree), &exact);
  return Round(x.IsNegative(), std::move(root), (x.exponent() - shift) / degree, !exact, precision);
}

// |x| 10^k as a number of `bits` bits, with an error below 2^(4 - bits) of it. |k| < 2^62.
BigFloat TimesPowerOfTen(const BigFloat& x, int64_t k, int bits) {
  const Precision wide{bits + 80};
  BigFloat power(1.0);
  BigFloat square(10.0);
  for (uint64_t rest = static_cast<uint64_t>(k < 0 ? -k : k); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) power = Multiply(power, square, wide);
    square = Multiply(square, square, wide);
  }
  return k < 0 ? Divide(x, power, {bits}) : Multiply(x, power, {bits});
}

}  // namespace

// ------------------------------------------------------------------ values

BigFloat BigFloat::Scaled(bool negative, BigInteger significand, int64_t exponent) {
  BigFloat result;
  result.negative_ = negative;
  if (significand.IsZero()) return result;
  const int zeros = significand.TrailingZeros();
  result.kind_ = Kind::kNumber;
  result.significand_ = zeros > 0 ? significand >> zeros : std::move(significand);
  result.exponent_ = exponent + zeros;
  const int64_t top = result.Exponent();
  if (top > kMostExponent) return Infinity(negative);
  if (top < -kMostExponent) {
    result = BigFloat();
    result.negative_ = negative;
  }
  return result;
}

BigFloat::BigFloat(double x) {
  if (x != x) {
    *this = NaN();
  } else if (x - x != 0) {
    *this = Infinity(x < 0);
  } else {
    const uint64_t bits = FloatBits(x);
    const int field = static_cast<int>((bits >> 52) & 0x7ff);
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    *this = Scaled((bits >> 63) != 0,
                   BigInteger(field != 0 ? fraction | (uint64_t{1} << 52) : fraction),
                   (field != 0 ? field : 1) - 1075);
  }
}

BigFloat BigFloat::FromInteger(int64_t x) {
  const uint64_t magnitude = x < 0 ? ~static_cast<uint64_t>(x) + 1 : static_cast<uint64_t>(x);
  return Scaled(x < 0, BigInteger(magnitude), 0);
}

BigFloat BigFloat::Infinity(bool negative) {
  BigFloat result;
  result.kind_ = Kind::kInfinity;
  result.negative_ = negative;
  return result;
}

BigFloat BigFloat::NaN() {
  BigFloat result;
  result.kind_ = Kind::kNaN;
  return result;
}

int64_t BigFloat::Exponent() const {
  ASSAY_CHECK(kind_ == Kind::kNumber);
  return exponent_ + width() - 1;
}

BigFloat BigFloat::operator-() const {
  BigFloat result = *this;
  result.negative_ = !negative_ && !IsNaN();
  return result;
}

BigFloat BigFloat::Abs() const { return negative_ ? -*this : *this; }

BigFloat BigFloat::Times2To(int64_t k) const {
  if (kind_ != Kind::kNumber) return *this;
  return Scaled(negative_, significand_, exponent_ + k);
}

std::partial_ordering operator<=>(const BigFloat& a, const BigFloat& b) {
  if (a.IsNaN() || b.IsNaN()) return std::partial_ordering::unordered;
  const auto sign = [](const BigFloat& x) { return x.IsZero() ? 0 : x.IsNegative() ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) <=> sign(b);
  if (sign(a) == 0) return std::partial_ordering::equivalent;
  const auto magnitude = [&]() -> std::partial_ordering {
    if (a.IsInfinite() || b.IsInfinite()) return a.IsInfinite() <=> b.IsInfinite();
    if (a.Exponent() != b.Exponent()) return a.Exponent() <=> b.Exponent();
    // The same leading bit: line the shorter one up.
    const int gap = a.width() - b.width();
    if (gap >= 0) return a.significand() <=> (b.significand() << gap);
    return (a.significand() << -gap) <=> b.significand();
  };
  return sign(a) > 0 ? magnitude() : 0 <=> magnitude();
}

// ------------------------------------------------------------------ rounding

BigFloat Round(bool negative, BigInteger significand, int64_t exponent, bool sticky,
               Precision precision) {
  if (significand.IsZero()) return BigFloat::Scaled(negative, BigInteger(), 0);
  const int width = significand.BitWidth();
  const int64_t top = exponent + width - 1;
  int64_t keep = precision.bits;
  if (top < precision.least + precision.bits) {
    keep = std::min(keep, top - precision.least + 1);
  }
  if (keep >= width) {
    ASSAY_CHECK(!sticky);
    return BigFloat::Scaled(negative, std::move(significand), exponent);
  }
  if (keep < 0) return BigFloat::Scaled(negative, BigInteger(), 0);
  const int drop = static_cast<int>(width - keep);
  ASSAY_CHECK(!sticky || drop >= 2);
  BigInteger kept = significand >> drop;
  if (significand.Bit(drop - 1) &&
      (sticky || kept.Bit(0) || significand.TrailingZeros() < drop - 1)) {
    kept = kept + BigInteger(1);
  }
  return BigFloat::Scaled(negative, std::move(kept), exponent + drop);
}

BigFloat Round(const BigFloat& x, Precision precision) {
  if (!x.IsFinite() || x.IsZero()) return x;
  return Round(x.IsNegative(), x.significand(), x.exponent(), false, precision);
}

BigFloat RoundNudged(const BigFloat& x, bool away, Precision precision) {
  const int shift = std::max(0, precision.bits - x.width()) + 3;
  const BigInteger longer = x.significand() << shift;
  return Round(x.IsNegative(), away ? longer + BigInteger(1) : longer - BigInteger(1),
               x.exponent() - shift, false, precision);
}

// ------------------------------------------------------------------ text and formats

double BigFloat::ToDouble() const {
  return floating::ToDouble(Format::kF64, ToFormat(Format::kF64, *this));
}

uint64_t ToFormat(Format format, const BigFloat& x) {
  const FormatInfo info = Info(format);
  if (x.IsNaN()) return info.Infinity() | (uint64_t{1} << (info.fraction_bits - 1));
  const uint64_t sign = x.IsNegative() ? uint64_t{1} << (info.bits - 1) : 0;
  if (x.IsInfinite()) return sign | info.Infinity();
  const BigFloat r = Round(x, PrecisionOf(format));
  if (r.IsZero()) return sign;
  if (r.Exponent() > info.bias) return sign | info.Infinity();
  const int exponent = static_cast<int>(r.Exponent());
  const int last = std::max(exponent, info.MinExponent()) - info.fraction_bits;
  const uint64_t units = (r.significand() << static_cast<int>(r.exponent() - last)).Low64();
  // The leading bit of a normal number adds one to the field.
  const uint64_t base = exponent < info.MinExponent()
                            ? 0
                            : static_cast<uint64_t>(exponent - info.MinExponent())
                                  << info.fraction_bits;
  return sign | (base + units);
}

BigFloat FromFormat(Format format, uint64_t bits) { return BigFloat(ToDouble(format, bits)); }

std::optional<BigFloat> ParseBigFloat(std::string_view text, Precision precision) {
  // ParseRational reads the digits; the exponent is ours.
  const size_t e = std::min(text.find('e'), text.find('E'));
  const std::optional<Rational> digits = ParseRational(text.substr(0, e));
  if (!digits) return std::nullopt;
  const bool negative = text[0] == '-';
  int64_t exponent = 0;
  if (e != std::string_view::npos) {
    size_t i = e + 1;
    const bool minus = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (i == text.size() || text.size() - i > 18) return std::nullopt;
    for (; i < text.size(); ++i) {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      exponent = exponent * 10 + (text[i] - '0');
    }
    if (minus) exponent = -exponent;
  }
  if (digits->IsZero()) return BigFloat::Scaled(negative, BigInteger(), 0);
  if (exponent > -kExactDecimalExponent && exponent < kExactDecimalExponent) {
    const BigInteger scale =
        BigInteger::PowerOfTen(static_cast<int>(exponent < 0 ? -exponent : exponent));
    const BigFloat above = BigFloat::Scaled(
        negative, exponent > 0 ? digits->numerator() * scale : digits->numerator(), 0);
    const BigFloat below = BigFloat::Scaled(
        false, exponent < 0 ? digits->denominator() * scale : digits->denominator(), 0);
    return Divide(above, below, precision);
  }
  // So many factors of five have no short binary form, hence no tie, and more bits decide.
  for (int bits = precision.bits + 32;; bits += bits / 2) {
    const BigFloat d = Divide(BigFloat::Scaled(negative, digits->numerator(), 0),
                              BigFloat::Scaled(false, digits->denominator(), 0), {bits + 8});
    const BigFloat x = TimesPowerOfTen(d, exponent, bits);
    if (!x.IsFinite() || x.IsZero()) return x;
    const BigFloat error = BigFloat::Scaled(false, BigInteger(1), x.Exponent() + 6 - bits);
    const BigFloat low = Round(AddExactly(x, -error), precision);
    if (low == Round(AddExactly(x, error), precision)) return low;
  }
}

std::string BigFloat::ToScientific(int digits) const {
  ASSAY_CHECK(digits >= 1);
  if (IsNaN()) return "nan";
  std::string text = negative_ ? "-" : "";
  if (IsInfinite()) return text + "inf";
  if (IsZero()) return text + "0";
  const BigFloat x = Abs();
  // floor(log10(x)), or one less: log10(2) times the binary exponent, from 64 bits of log10(2).
  const int64_t power = Exponent();
  constexpr uint64_t kLog10Of2 = 5553023288523357132u;  // floor(log10(2) 2^64)
  const uint64_t part =
      MultiplyWide(static_cast<uint64_t>(power < 0 ? -power : power), kLog10Of2).high;
  int64_t first = power < 0 ? -static_cast<int64_t>(part) - 1 : static_cast<int64_t>(part);
  const BigInteger limit = BigInteger::PowerOfTen(digits);
  for (int bits = digits * 4 + 40;;) {
    const int64_t scale = digits - 1 - first;  // so many digits stand before the point
    BigInteger low;
    BigInteger high;
    // Units in the last digit, cut off, and one bit below for the half.
    const bool exact = scale > -kExactDecimalExponent && scale < kExactDecimalExponent;
    if (exact) {
      const BigInteger ten = BigInteger::PowerOfTen(static_cast<int>(scale < 0 ? -scale : scale));
      BigInteger rest;
      BigInteger above = scale > 0 ? x.significand_ * ten : x.significand_;
      BigInteger below = scale > 0 ? BigInteger(1) : ten;
      if (x.exponent_ > 0) above = above << static_cast<int>(x.exponent_);
      if (x.exponent_ < 0) below = below << static_cast<int>(-x.exponent_);
      low = floating::Divide(above, below, &rest);
      const std::strong_ordering half = rest + rest <=> below;
      if (half > 0 || (half == 0 && low.Bit(0))) low = low + BigInteger(1);
      high = low;
    } else {
      const BigFloat y = TimesPowerOfTen(x, scale, bits);
      const BigFloat error = Scaled(false, BigInteger(1), y.Exponent() + 6 - bits);
      const BigFloat half(0.5);
      const auto cut = [](const BigFloat& v) {
        return v.exponent_ >= 0 ? v.significand_ << static_cast<int>(v.exponent_)
                                : v.significand_ >> static_cast<int>(-v.exponent_);
      };
      low = cut(AddExactly(AddExactly(y, half), -error));
      high = cut(AddExactly(AddExactly(y, half), error));
    }
    if (low != high) {
      bits += bits / 2;
      continue;
    }
    if (low >= limit) {  // the guess of the exponent was low, or 9.99 became 10
      ++first;
      continue;
    }
    if (low < BigInteger::PowerOfTen(digits - 1)) {
      --first;
      continue;
    }
    const std::string all = low.ToDecimal();
    text += all.substr(0, 1);
    if (digits > 1) text += "." + all.substr(1);
    return text + "e" + std::to_string(first);
  }
}

// ------------------------------------------------------------------ arithmetic

BigFloat Add(const BigFloat& a, const BigFloat& b, Precision precision) {
  if (a.IsNaN() || b.IsNaN()) return BigFloat::NaN();
  if (a.IsInfinite() || b.IsInfinite()) {
    if (a.IsInfinite() && b.IsInfinite() && a.IsNegative() != b.IsNegative()) {
      return BigFloat::NaN();
    }
    return a.IsInfinite() ? a : b;
  }
  if (a.IsZero() && b.IsZero()) return a.IsNegative() && b.IsNegative() ? a : BigFloat();
  if (a.IsZero() || b.IsZero()) return Round(a.IsZero() ? b : a, precision);
  const bool order = a.Exponent() >= b.Exponent();
  const BigFloat& large = order ? a : b;
  const BigFloat& small = order ? b : a;
  // Far below the last bit that could matter, only the direction counts.
  const int64_t last = std::min(large.exponent(), large.Exponent() - precision.bits) - 3;
  if (small.Exponent() < last) {
    return RoundNudged(large, large.IsNegative() == small.IsNegative(), precision);
  }
  const BigFloat sum = AddExactly(a, b);
  return sum.IsZero() ? BigFloat() : Round(sum, precision);
}

BigFloat Subtract(const BigFloat& a, const BigFloat& b, Precision precision) {
  return Add(a, -b, precision);
}

BigFloat Multiply(const BigFloat& a, const BigFloat& b, Precision precision) {
  if (a.IsNaN() || b.IsNaN()) return BigFloat::NaN();
  const bool negative = a.IsNegative() != b.IsNegative();
  if (a.IsInfinite() || b.IsInfinite()) {
    return a.IsZero() || b.IsZero() ? BigFloat::NaN() : BigFloat::Infinity(negative);
  }
  return Round(negative, a.significand() * b.significand(), a.exponent() + b.exponent(), false,
               precision);
}

BigFloat Divide(const BigFloat& a, const BigFloat& b, Precision precision) {
  if (a.IsNaN() || b.IsNaN()) return BigFloat::NaN();
  const bool negative = a.IsNegative() != b.IsNegative();
  if (a.IsInfinite()) return b.IsInfinite() ? BigFloat::NaN() : BigFloat::Infinity(negative);
  if (b.IsInfinite()) return BigFloat::Scaled(negative, BigInteger(), 0);
  if (b.IsZero()) return a.IsZero() ? BigFloat::NaN() : BigFloat::Infinity(negative);
  if (a.IsZero()) return BigFloat::Scaled(negative, BigInteger(), 0);
  const int shift = std::max(0, precision.bits + 3 - a.width() + b.width());
  BigInteger rest;
  BigInteger quotient = Divide(a.significand() << shift, b.significand(), &rest);
  return Round(negative, std::move(quotient), a.exponent() - b.exponent() - shift, !rest.IsZero(),
               precision);
}

BigFloat MultiplyAdd(const BigFloat& a, const BigFloat& b, const BigFloat& c, Precision precision) {
  if (a.IsNaN() || b.IsNaN() || c.IsNaN()) return BigFloat::NaN();
  if (!a.IsFinite() || !b.IsFinite()) return Add(Multiply(a, b, precision), c, precision);
  const BigFloat product =
      BigFloat::Scaled(a.IsNegative() != b.IsNegative(), a.significand() * b.significand(),
                       a.exponent() + b.exponent());
  return Add(product, c, precision);
}

BigFloat Sqrt(const BigFloat& x, Precision precision) {
  if (x.IsNaN() || x.IsZero()) return x;
  if (x.IsNegative()) return BigFloat::NaN();
  return x.IsInfinite() ? x : RootOf(x, 2, precision);
}

BigFloat Cbrt(const BigFloat& x, Precision precision) {
  return x.IsFinite() && !x.IsZero() ? RootOf(x, 3, precision) : x;
}

BigFloat Hypot(const BigFloat& x, const BigFloat& y, Precision precision) {
  if (x.IsInfinite() || y.IsInfinite()) return BigFloat::Infinity();
  if (x.IsNaN() || y.IsNaN()) return BigFloat::NaN();
  if (x.IsZero() || y.IsZero()) return Round(x.IsZero() ? y.Abs() : x.Abs(), precision);
  const BigFloat large = x.Abs() >= y.Abs() ? x.Abs() : y.Abs();
  const BigFloat small = x.Abs() >= y.Abs() ? y.Abs() : x.Abs();
  // l sqrt(1 + (s/l)^2) lies above l by less than l (s/l)^2 / 2.
  const int64_t gap = large.Exponent() - small.Exponent();
  if (2 * gap > std::max(precision.bits, large.width()) + 6)
    return RoundNudged(large, true, precision);
  const auto square = [](const BigFloat& v) {
    return BigFloat::Scaled(false, v.significand() * v.significand(), 2 * v.exponent());
  };
  return RootOf(AddExactly(square(large), square(small)), 2, precision);
}

}  // namespace assay::floating
