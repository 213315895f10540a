// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms and powers of big_float.h.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "numerics/core/elementary.h"
#include "numerics/floating/big_float.h"
#include "numerics/floating/internal/big_float_ziv.h"

namespace assay::floating {
namespace {

using internal::Approximation;
using internal::ExponentOr;
using internal::Fixed;
using internal::kLowest;
using internal::Ln2;
using internal::Negligible;
using internal::One;
using internal::PowerOfTwo;
using internal::SpareFor;
using internal::Ziv;

constexpr int64_t kLargestExponent = 59;  // of an argument of exp

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
