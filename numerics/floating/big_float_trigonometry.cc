// SPDX-License-Identifier: Apache-2.0
// The circular functions of big_float.h, and the constants of all functions.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "numerics/floating/big_float.h"
#include "numerics/floating/internal/big_float_ziv.h"

namespace assay::floating {
namespace internal {
namespace {

// 2^bits times the sum of n^-(2k+1) / (2k+1), alternating or not: atan(1/n) or atanh(1/n), off by
// less than the number of its terms, which is below `bits`.
BigInteger InverseTangent(uint32_t n, bool alternating, int bits) {
  BigInteger power = BigInteger(1) << bits;
  power.DivideBy(n);
  BigInteger plus = power;
  BigInteger minus;
  for (uint32_t k = 3; !power.IsZero(); k += 2) {
    power.DivideBy(n);
    power.DivideBy(n);
    BigInteger term = power;
    term.DivideBy(k);
    BigInteger& side = alternating && (k & 2) != 0 ? minus : plus;
    side = side + term;
  }
  return plus - minus;
}

BigInteger Times(BigInteger x, uint32_t factor) {
  x.MultiplyAdd(factor, 0);
  return x;
}

// ln 2 = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749), a formula of Machin's kind (X.
// Gourdon, P. Sebah, "The logarithmic constant: log 2", 2004).
BigInteger ComputeLn2(int bits) {
  return Times(InverseTangent(26, false, bits), 18) + Times(InverseTangent(8749, false, bits), 8) -
         Times(InverseTangent(4801, false, bits), 2);
}

// pi / 2 = 8 atan(1/5) - 2 atan(1/239) (J. Machin, 1706).
BigInteger ComputeHalfPi(int bits) {
  return Times(InverseTangent(5, true, bits), 8) - Times(InverseTangent(239, true, bits), 2);
}

// A constant with `bits` bits behind the point, cut off, and off by less than one unit. The first
// ones are kept, since every function asks for them.
template <BigInteger (*Compute)(int)>
BigInteger Constant(int bits) {
  constexpr int kSpare = 40;  // more than the bits of 28 * 2^26 units of error
  constexpr int kKept = 2600;
  if (bits + kSpare > kKept) return Compute(bits + kSpare) >> kSpare;
  static const BigInteger* const kept = new BigInteger(Compute(kKept));
  return *kept >> (kKept - bits);
}

}  // namespace

BigInteger Ln2(int bits) { return Constant<ComputeLn2>(bits); }
BigInteger HalfPi(int bits) { return Constant<ComputeHalfPi>(bits); }

BigInteger Fixed(const BigFloat& x, int bits) {
  if (x.IsZero()) return BigInteger();
  const int64_t shift = x.exponent() + bits;
  if (shift >= 0) return x.significand() << static_cast<int>(shift);
  return -shift >= x.width() ? BigInteger() : x.significand() >> static_cast<int>(-shift);
}

}  // namespace internal

namespace {

using internal::Approximation;
using internal::ExponentOr;
using internal::Fixed;
using internal::HalfPi;
using internal::kLowest;
using internal::Negligible;
using internal::One;
using internal::SpareFor;
using internal::Ziv;

// sin or cos of x, |x| < 2^kTrigonometricLimit, with an absolute error below 2^-w: x = k pi/2 + r,
// Taylor series in fixed point.
Approximation SineOf(const BigFloat& x, bool cosine, int w) {
  const int whole = static_cast<int>(std::max<int64_t>(0, ExponentOr(x, 0) + 1));
  const int f = w + 16;
  BigInteger r;
  // The quotient's error in r is `whole` bits up.
  const int wide = f + whole;
  const BigInteger quotient = Divide(Fixed(x, wide), HalfPi(wide), &r);
  r = r >> whole;
  uint64_t quarter = quotient.Low64() & 3;
  bool negative = x.IsNegative() && !cosine;
  if (cosine) quarter = (quarter + 1) & 3;  // cos(x) = sin(x + pi/2)
  negative = negative != (quarter >= 2);
  bool even = (quarter & 1) != 0;
  const BigInteger right = HalfPi(f);
  if ((r << 1) > right) {  // nearer to pi/2 than to 0
    r = right >= r ? right - r : BigInteger();
    even = !even;
  }
  const BigInteger square = (r * r) >> f;
  BigInteger term = even ? BigInteger(1) << f : r;
  BigInteger plus = term;
  BigInteger minus;
  for (uint32_t n = even ? 1 : 2; !term.IsZero(); n += 2) {
    term = (term * square) >> f;
    term.DivideBy(n);
    term.DivideBy(n + 1);
    BigInteger& side = (n & 2) == (even ? 0u : 2u) ? minus : plus;
    side = side + term;
  }
  const bool turned = minus > plus;  // by a unit of error, around 0
  BigInteger sum = turned ? minus - plus : plus - minus;
  return {BigFloat::Scaled(negative != turned, std::move(sum), -f), -w};
}

Approximation TangentOf(const BigFloat& x, int w) {
  const Approximation sine = SineOf(x, false, w + 4);
  const Approximation cosine = SineOf(x, true, w + 4);
  if (cosine.value.IsZero() || sine.value.IsZero()) return {BigFloat(), w};  // no bit known yet
  const BigFloat value = Divide(sine.value, cosine.value, {w + 8});
  // (s + ds) / (c + dc) = t + (ds - t dc) / c, so long as dc is small beside c.
  const int64_t size = cosine.value.Exponent();
  if (size < 4 - w) return {BigFloat(), w};
  return {value, std::max<int64_t>(0, value.Exponent() + 1) + 2 - w - size};
}

// atan(x) for x > 0, off by less than 2^-w of it.
Approximation AtanOf(const BigFloat& x, int w) {
  const Precision p{w + 24};
  const BigFloat one(1.0);
  const bool inverted = x > one;
  const BigFloat right = BigFloat::Scaled(false, HalfPi(w + 24), -(w + 24));
  if (inverted && x.Exponent() > w + 4) return {right, -static_cast<int64_t>(w)};
  BigFloat a = inverted ? Divide(one, x, p) : Round(x, p);
  // Four times: atan(a) = 2 atan(a / (1 + sqrt(1 + a^2))).
  constexpr int kHalvings = 4;
  for (int i = 0; i < kHalvings; ++i) {
    const BigFloat root = Sqrt(Add(one, Multiply(a, a, p), p), p);
    a = Divide(a, Add(one, root, p), p);
  }
  const BigFloat square = -Multiply(a, a, p);
  BigFloat power = a;
  BigFloat sum = a;
  for (int64_t k = 3; ExponentOr(power, kLowest) > a.Exponent() - w - 16; k += 2) {
    power = Multiply(power, square, p);
    sum = Add(sum, Divide(power, BigFloat::FromInteger(k), p), p);
  }
  sum = sum.Times2To(kHalvings);
  if (inverted) {
    sum = Subtract(right, sum, p);
  }
  return {sum, sum.Exponent() - w};
}

}  // namespace

BigFloat Sin(const BigFloat& x, Precision precision) {
  if (x.IsNaN() || x.IsZero()) return x;
  if (x.IsInfinite() || x.Exponent() >= kTrigonometricLimit) return BigFloat::NaN();
  if (Negligible(x, 2, x.width(), precision)) return RoundNudged(x, false, precision);
  return Ziv(precision, SpareFor(x), [&](int w) { return SineOf(x, false, w); });
}

BigFloat Cos(const BigFloat& x, Precision precision) {
  if (x.IsNaN()) return x;
  if (x.IsZero()) return BigFloat(1.0);
  if (x.IsInfinite() || x.Exponent() >= kTrigonometricLimit) return BigFloat::NaN();
  if (Negligible(x, 2, 1, precision)) return One(false, precision);
  return Ziv(precision, 0, [&](int w) { return SineOf(x, true, w); });
}

BigFloat Tan(const BigFloat& x, Precision precision) {
  if (x.IsNaN() || x.IsZero()) return x;
  if (x.IsInfinite() || x.Exponent() >= kTrigonometricLimit) return BigFloat::NaN();
  if (Negligible(x, 2, x.width(), precision)) return RoundNudged(x, true, precision);
  return Ziv(precision, SpareFor(x), [&](int w) { return TangentOf(x, w); });
}

BigFloat Atan(const BigFloat& x, Precision precision) {
  if (x.IsNaN() || x.IsZero()) return x;
  if (x.IsInfinite()) {
    const BigFloat half = Pi(precision).Times2To(-1);
    return x.IsNegative() ? -half : half;
  }
  if (Negligible(x, 2, x.width(), precision)) return RoundNudged(x, false, precision);
  const BigFloat size = x.Abs();
  return Ziv(precision, 0, [&](int w) -> Approximation {
    const Approximation y = AtanOf(size, w);
    return {x.IsNegative() ? -y.value : y.value, y.error};
  });
}

BigFloat Pi(Precision precision) {
  return Ziv(precision, 0, [](int w) -> Approximation {
    return {BigFloat::Scaled(false, HalfPi(w), 1 - w), 1 - static_cast<int64_t>(w)};
  });
}

}  // namespace assay::floating
