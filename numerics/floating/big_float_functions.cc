// SPDX-License-Identifier: Apache-2.0
// The transcendental functions of big_float.h.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/big_float.h"

namespace assay::floating {
namespace {

// A value with |value - exact| <= 2^error.
struct Approximation {
  BigFloat value;
  int64_t error;
};

BigFloat PowerOfTwo(int64_t exponent) { return BigFloat::Scaled(false, BigInteger(1), exponent); }

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();

// The exponent of a finite nonzero x, or what stands for it otherwise.
int64_t ExponentOr(const BigFloat& x, int64_t otherwise) {
  return x.IsZero() || !x.IsFinite() ? otherwise : x.Exponent();
}

// approximate(w) is to have an error of about 2^-w of the result, or where it cannot know the
// result's size, of 2^-w; the loop asks for more bits until the rounding is decided. `spare` is
// what is known to be needed beforehand.
template <class Approximate>
BigFloat Ziv(Precision precision, int64_t spare, Approximate approximate) {
  for (int64_t w = precision.bits + 20 + spare;; w += w / 2) {
    ASSAY_CHECK(w < (int64_t{1} << 26));  // a case that no precision decides has slipped through
    const Approximation y = approximate(static_cast<int>(w));
    if (!y.value.IsFinite()) return y.value;
    // Ends far apart in magnitude need no exact sum.
    const Precision exact{static_cast<int>(2 * w) + 64};
    const BigFloat error = PowerOfTwo(y.error);
    const BigFloat low = Round(Subtract(y.value, error, exact), precision);
    const BigFloat high = Round(Add(y.value, error, exact), precision);
    if (low == high && low.IsNegative() == high.IsNegative()) return low;
  }
}

// ------------------------------------------------------------------ constants, in fixed point

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

BigInteger Ln2(int bits) { return Constant<ComputeLn2>(bits); }
BigInteger HalfPi(int bits) { return Constant<ComputeHalfPi>(bits); }

// |x| with `bits` bits behind the point, cut off.
BigInteger Fixed(const BigFloat& x, int bits) {
  if (x.IsZero()) return BigInteger();
  const int64_t shift = x.exponent() + bits;
  if (shift >= 0) return x.significand() << static_cast<int>(shift);
  return -shift >= x.width() ? BigInteger() : x.significand() >> static_cast<int>(-shift);
}

// ------------------------------------------------------------------ exp and its family

// e^x for |x| < 2^60, off by less than 2^-w of it: x = k ln 2 + r, r halved s times, Taylor,
// squared s times. With N terms of the series, each off by two units, the squarings leave 2^(s + 1)
// (2 N + 1) units, for which the last twelve bits are; reduction adds k units at most before the
// halving.
Approximation ExpOf(const BigFloat& x, int w) {
  const int whole = static_cast<int>(std::max<int64_t>(0, ExponentOr(x, 0) + 1));
  int halvings = 1;
  while (halvings * halvings < w) ++halvings;
  const int f = w + halvings + whole + 14;
  const BigInteger ln2 = Ln2(f);
  BigInteger r;
  const BigInteger quotient = Divide(Fixed(x, f), ln2, &r);
  int64_t k = static_cast<int64_t>(quotient.Low64());
  if (x.IsNegative()) {
    k = -k - 1;
    r = ln2 - r;
  }
  r = r >> halvings;
  BigInteger sum = BigInteger(1) << f;
  BigInteger term = sum;
  for (uint32_t n = 1; !term.IsZero(); ++n) {
    term = (term * r) >> f;
    term.DivideBy(n);
    sum = sum + term;
  }
  for (int i = 0; i < halvings; ++i) sum = (sum * sum) >> f;
  return {BigFloat::Scaled(false, std::move(sum), k - f), k + 1 - w};
}

// ------------------------------------------------------------------ logarithms

// log((1 + z) / (1 - z)) = 2 (z + z^3/3 + z^5/5 + ...), |z| < 2^-8, off by less than 2^-w of it.
Approximation TwiceAtanh(const BigFloat& z, int w) {
  const Precision p{w + 16};
  const BigFloat square = Multiply(z, z, p);
  BigFloat power = z;
  BigFloat sum = z;
  for (int64_t k = 3; ExponentOr(power, kLowest) > z.Exponent() - w - 8; k += 2) {
    power = Multiply(power, square, p);
    sum = Add(sum, Divide(power, BigFloat::FromInteger(k), p), p);
  }
  return {sum.Times2To(1), sum.Exponent() + 1 - w};
}

// log(1 + d) for 0 < |d| < 2^-7, off by less than 2^-w of it.
Approximation LogNearOne(const BigFloat& d, int w) {
  const Precision p{w + 16};
  return TwiceAtanh(Divide(d, Add(d, BigFloat(2.0), p), p), w);
}

// log(x) for x > 0, x not 1, off by less than 2^-w of it. The exponential is inverted by Halley's
// iteration y + 2 (x - e^y) / (x + e^y), whose error is a twelfth of the old one cubed.
Approximation LogOf(const BigFloat& x, int w) {
  int64_t e = x.Exponent();
  BigFloat m = x.Times2To(-e);  // in [1, 2), then in [0.75, 1.5)
  if (m >= BigFloat(1.5)) {
    m = m.Times2To(-1);
    ++e;
  }
  const BigFloat distance = Subtract(m, BigFloat(1.0), {m.width() + 8});
  if (e == 0 && distance.Exponent() < -8) return LogNearOne(distance, w);
  // Against e ln 2 an absolute error counts; alone, log(m) is at least 2^-9.
  const int f = w + 12;
  BigFloat y(assay::Log(m.ToDouble()));
  if (distance.IsZero()) y = BigFloat();
  for (int good = 50; good < f && !distance.IsZero();) {
    good = std::min(3 * good, f);
    const Precision p{good + 12};
    const BigFloat power = ExpOf(y, good + 12).value;
    const BigFloat step = Divide(Subtract(m, power, p), Add(m, power, p), p);
    y = Add(y, step.Times2To(1), {good + 12});
  }
  if (e != 0) {
    const int64_t size = e < 0 ? -e : e;
    BigFloat part =
        BigFloat::Scaled(e < 0, Ln2(f + 64) * BigInteger(static_cast<uint64_t>(size)), -(f + 64));
    y = Add(y, part, {f + 4});
  }
  return {y, y.Exponent() + 2 - w};
}

// ------------------------------------------------------------------ sine and cosine

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

// ------------------------------------------------------------------ what the functions share

// Whether a relative change of x by x^order, or x itself beside 1, is below anything that a
// rounding could see.
bool Negligible(const BigFloat& x, int64_t order, int width, Precision precision) {
  return -order * (x.Exponent() + 1) > std::max(precision.bits, width) + 4;
}

int64_t SpareFor(const BigFloat& x) { return std::max<int64_t>(0, -x.Exponent()); }

constexpr int64_t kLargestExponent = 59;  // of an argument of exp

BigFloat One(bool above, Precision precision) {
  return RoundNudged(BigFloat(1.0), above, precision);
}

}  // namespace

// ------------------------------------------------------------------ the functions

BigFloat Exp(const BigFloat& x, Precision precision) {
  if (x.IsNaN()) return x;
  if (x.IsZero()) return BigFloat(1.0);
  if (x.IsInfinite() || x.Exponent() > kLargestExponent) {
    return x.IsNegative() ? BigFloat() : BigFloat::Infinity();
  }
  if (Negligible(x, 1, 1, precision)) return One(!x.IsNegative(), precision);
  return Ziv(precision, 0, [&](int w) { return ExpOf(x, w); });
}

BigFloat Expm1(const BigFloat& x, Precision precision) {
  if (x.IsNaN() || x.IsZero()) return x;
  const BigFloat minus(-1.0);
  if (x.IsInfinite() || x.Exponent() > kLargestExponent) {
    if (!x.IsNegative()) return BigFloat::Infinity();
    return x.IsInfinite() ? minus : RoundNudged(minus, false, precision);
  }
  // x + x^2/2 + ... lies above x.
  if (Negligible(x, 1, x.width(), precision)) return RoundNudged(x, !x.IsNegative(), precision);
  if (x < BigFloat(-8.0 - precision.bits)) return RoundNudged(minus, false, precision);
  return Ziv(precision, SpareFor(x), [&](int w) -> Approximation {
    const Approximation y = ExpOf(x, w + 4);
    const BigFloat value = Add(y.value, minus, {2 * w + 8});
    return {value, std::max(y.error, ExponentOr(value, y.error) - 2 * w) + 1};
  });
}

BigFloat Log(const BigFloat& x, Precision precision) {
  if (x.IsZero()) return BigFloat::Infinity(true);
  if (x.IsNaN() || x.IsNegative()) return BigFloat::NaN();
  if (x.IsInfinite()) return x;
  if (x == BigFloat(1.0)) return BigFloat();
  return Ziv(precision, 0, [&](int w) { return LogOf(x, w); });
}

BigFloat Log1p(const BigFloat& x, Precision precision) {
  const BigFloat one(1.0);
  if (x.IsNaN() || x.IsZero()) return x;
  if (x < -one) return BigFloat::NaN();
  if (x == -one) return BigFloat::Infinity(true);
  if (x.IsInfinite()) return x;
  // x - x^2/2 + ... lies below x.
  if (Negligible(x, 1, x.width(), precision)) return RoundNudged(x, x.IsNegative(), precision);
  if (x.Exponent() < -8) return Ziv(precision, 0, [&](int w) { return LogNearOne(x, w); });
  return Ziv(precision, 0, [&](int w) -> Approximation {
    // 1 + x rounded moves the logarithm, which is above 2^-10, by 2^-(w + 14). Near -1 the sum is
    // exact unless x has more bits than that.
    const BigFloat sum = Add(one, x, {std::max(w + 16, x.width() + 2)});
    const Approximation y = LogOf(sum, w + 2);
    return {y.value, y.error + 1};
  });
}

BigFloat Log2(const BigFloat& x, Precision precision) {
  if (!x.IsFinite() || x.IsZero() || x.IsNegative()) return Log(x, precision);
  if (x.width() == 1) return Round(BigFloat::FromInteger(x.exponent()), precision);
  return Ziv(precision, 0, [&](int w) -> Approximation {
    const BigFloat ln2 = BigFloat::Scaled(false, Ln2(w + 16), -(w + 16));
    const BigFloat value = Divide(LogOf(x, w + 4).value, ln2, {w + 8});
    return {value, value.Exponent() - w};
  });
}

BigFloat Log10(const BigFloat& x, Precision precision) {
  if (!x.IsFinite() || x.IsZero() || x.IsNegative()) return Log(x, precision);
  // 10^n = 5^n 2^n.
  if (x.exponent() >= 0 && x.exponent() < 100000) {
    const int n = static_cast<int>(x.exponent());
    if (x.width() >= 2 * n && x.width() <= 3 * n + 1 &&
        x.significand() << n == BigInteger::PowerOfTen(n)) {
      return Round(BigFloat::FromInteger(n), precision);
    }
  }
  return Ziv(precision, 0, [&](int w) -> Approximation {
    const BigFloat ln10 = LogOf(BigFloat(10.0), w + 8).value;
    const BigFloat value = Divide(LogOf(x, w + 4).value, ln10, {w + 8});
    return {value, value.Exponent() - w};
  });
}

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

BigFloat Sinh(const BigFloat& x, Precision precision) {
  if (x.IsNaN() || x.IsZero()) return x;
  if (x.IsInfinite() || x.Exponent() > kLargestExponent) return BigFloat::Infinity(x.IsNegative());
  if (Negligible(x, 2, x.width(), precision)) return RoundNudged(x, true, precision);
  return Ziv(precision, SpareFor(x), [&](int w) -> Approximation {
    const Approximation y = ExpOf(x.Abs(), w + 8);
    const Precision p{2 * w + 16};
    const BigFloat inverse = Divide(BigFloat(1.0), y.value, {w + 16});
    const BigFloat value = Subtract(y.value, inverse, p).Times2To(-1);
    return {x.IsNegative() ? -value : value, y.error + 2};
  });
}

BigFloat Cosh(const BigFloat& x, Precision precision) {
  if (x.IsNaN()) return x;
  if (x.IsZero()) return BigFloat(1.0);
  if (x.IsInfinite() || x.Exponent() > kLargestExponent) return BigFloat::Infinity();
  if (Negligible(x, 2, 1, precision)) return One(true, precision);
  return Ziv(precision, 0, [&](int w) -> Approximation {
    const Approximation y = ExpOf(x.Abs(), w + 8);
    const BigFloat inverse = Divide(BigFloat(1.0), y.value, {w + 16});
    return {Add(y.value, inverse, {w + 16}).Times2To(-1), y.error + 2};
  });
}

BigFloat Tanh(const BigFloat& x, Precision precision) {
  if (x.IsNaN() || x.IsZero()) return x;
  const BigFloat one(x.IsNegative() ? -1.0 : 1.0);
  if (x.IsInfinite()) return one;
  if (Negligible(x, 2, x.width(), precision)) return RoundNudged(x, false, precision);
  if (x.Abs() > BigFloat(8.0 + precision.bits)) return RoundNudged(one, false, precision);
  // 1 - 2 / (e^2x + 1).
  return Ziv(precision, SpareFor(x), [&](int w) -> Approximation {
    const Precision p{w + 16};
    const BigFloat power = ExpOf(x.Abs().Times2To(1), w + 8).value;
    const BigFloat part = Divide(BigFloat(2.0), Add(power, BigFloat(1.0), p), p);
    const BigFloat value = Subtract(BigFloat(1.0), part, {2 * w + 16});
    return {x.IsNegative() ? -value : value, -static_cast<int64_t>(w)};
  });
}

BigFloat Pi(Precision precision) {
  return Ziv(precision, 0, [](int w) -> Approximation {
    return {BigFloat::Scaled(false, HalfPi(w), 1 - w), 1 - static_cast<int64_t>(w)};
  });
}

BigFloat Pow(const BigFloat& x, const BigFloat& y, Precision precision) {
  const BigFloat one(1.0);
  if (y.IsZero() || x == one) return one;
  if (x.IsNaN() || y.IsNaN()) return BigFloat::NaN();
  const bool odd = y.IsFinite() && !y.IsZero() && y.exponent() == 0;
  if (y.IsInfinite()) {
    const BigFloat size = x.Abs();
    if (size == one) return one;
    return (size > one) != y.IsNegative() ? BigFloat::Infinity() : BigFloat();
  }
  const bool negative = x.IsNegative() && odd;
  if (x.IsZero() || x.IsInfinite()) {
    return x.IsZero() == y.IsNegative() ? BigFloat::Infinity(negative)
                                        : BigFloat::Scaled(negative, BigInteger(), 0);
  }
  if (x.IsNegative() && !y.IsInteger()) return BigFloat::NaN();
  if (x == -one) return odd ? -one : one;
  const auto signed_result = [&](const BigFloat& r) { return negative ? -r : r; };
  // Is the result a number of few bits? Then x = z^(2^b) where y = n / 2^b, and n is small.
  BigFloat z = x.Abs();
  BigFloat n = y;
  bool exact = true;
  while (exact && n.exponent() < 0) {
    const BigFloat root = Sqrt(z, {z.width() + 2});
    exact = root.width() * 2 <= z.width() + 1 && Multiply(root, root, {2 * root.width() + 2}) == z;
    z = root;
    n = n.Times2To(1);
  }
  if (exact && n.Exponent() < 62) {
    const int64_t size =
        static_cast<int64_t>((n.significand() << static_cast<int>(n.exponent())).Low64());
    if (z.width() == 1) {  // a power of two
      const bool far = n.Exponent() + ExponentOr(BigFloat::FromInteger(z.exponent()), 0) > 61;
      const int64_t k =
          far ? int64_t{1} << 61 : (z.exponent() < 0 ? -z.exponent() : z.exponent()) * size;
      const bool down = (z.exponent() < 0) != n.IsNegative();
      return signed_result(Round(PowerOfTwo(down ? -k : k), precision));
    }
    if (!n.IsNegative() && size <= precision.bits + 4 &&
        size * (z.width() - 1) <= precision.bits + 2) {
      BigFloat power = z;
      for (int64_t i = 1; i < size; ++i) power = Multiply(power, z, {2 * precision.bits + 16});
      return signed_result(Round(power, precision));
    }
  }
  const BigFloat base = x.Abs();
  const BigFloat rough = Multiply(y, LogOf(base, 64).value, {64});
  if (rough.Exponent() > kLargestExponent) {
    return rough.IsNegative() ? signed_result(BigFloat()) : BigFloat::Infinity(negative);
  }
  if (Negligible(rough, 1, 1, precision)) {
    return signed_result(One(!rough.IsNegative(), precision));
  }
  const int64_t whole = std::max<int64_t>(0, rough.Exponent() + 2);
  return signed_result(Ziv(precision, 0, [&](int w) -> Approximation {
    const int wide = w + static_cast<int>(whole) + 8;
    const BigFloat exponent = Multiply(y, LogOf(base, wide).value, {wide});
    const Approximation power = ExpOf(exponent, w + 4);
    return {power.value, power.error + 3};
  }));
}

}  // namespace assay::floating
