// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/big_float.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_integer.h"

namespace assay::floating {
namespace {

constexpr Precision kP{200};

// Fifty digits from the literature: OEIS A000796, A001113, A002162, A002392, A002193, A049470,
// A049469, A049471, A003881.
TEST(BigFloatTest, KnownConstants) {
  const BigFloat one(1.0);
  EXPECT_EQ(Pi(kP).ToScientific(50), "3.1415926535897932384626433832795028841971693993751e0");
  EXPECT_EQ(Exp(one, kP).ToScientific(50), "2.7182818284590452353602874713526624977572470937000e0");
  EXPECT_EQ(Log(BigFloat(2.0), kP).ToScientific(50),
            "6.9314718055994530941723212145817656807550013436026e-1");
  EXPECT_EQ(Log(BigFloat(10.0), kP).ToScientific(50),
            "2.3025850929940456840179914546843642076011014886288e0");
  EXPECT_EQ(Sqrt(BigFloat(2.0), kP).ToScientific(50),
            "1.4142135623730950488016887242096980785696718753769e0");
  EXPECT_EQ(Cos(one, kP).ToScientific(30), "5.40302305868139717400936607443e-1");
  EXPECT_EQ(Sin(one, kP).ToScientific(30), "8.41470984807896506652502321630e-1");
  EXPECT_EQ(Tan(one, kP).ToScientific(30), "1.55740772465490223050697480746e0");
  EXPECT_EQ(Atan(one, kP).ToScientific(50),
            "7.8539816339744830961566084581987572104929234984378e-1");
}

// Each function against another that it must agree with, to all but the last few of 500 bits.
TEST(BigFloatTest, FunctionsAgreeWithEachOther) {
  const Precision p{500};
  const BigFloat one(1.0);
  const auto near = [&](const BigFloat& a, const BigFloat& b) {
    const BigFloat d = Subtract(a, b, p).Abs();
    return d.IsZero() || d.Exponent() <= a.Exponent() - 490;
  };
  for (const double value : {0.001, 0.3, 0.99, 1.0, 1.7, 3.0, 12.5}) {
    const BigFloat x(value);
    const BigFloat s = Sin(x, p);
    const BigFloat c = Cos(x, p);
    EXPECT_TRUE(near(Add(Multiply(s, s, p), Multiply(c, c, p), p), one)) << value;
    EXPECT_TRUE(near(Tan(x, p), Divide(s, c, p))) << value;
    EXPECT_TRUE(near(Log(Exp(x, p), p), x)) << value;
    EXPECT_TRUE(near(Log1p(Expm1(x, p), p), x)) << value;
    EXPECT_TRUE(near(Tanh(x, p), Divide(Sinh(x, p), Cosh(x, p), p))) << value;
    EXPECT_TRUE(near(Tan(Atan(x, p), p), x)) << value;
    EXPECT_TRUE(near(Pow(Cbrt(x, p), BigFloat(3.0), p), x)) << value;
    EXPECT_TRUE(near(Pow(x, BigFloat(0.5), p), Sqrt(x, p))) << value;
    EXPECT_TRUE(near(Multiply(Log2(x, p), Log(BigFloat(2.0), p), p), Log(x, p)) || value == 1.0)
        << value;
    EXPECT_TRUE(near(Multiply(Log10(x, p), Log(BigFloat(10.0), p), p), Log(x, p)) || value == 1.0)
        << value;
    EXPECT_TRUE(near(Hypot(x, one, p), Sqrt(Add(one, Multiply(x, x, p), p), p))) << value;
  }
}

TEST(BigFloatTest, ArithmeticOfFormatsIsTheMachines) {
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    const double x = DoubleFromBits(random.Next64());
    const double y = i % 2 == 0 ? DoubleFromBits(random.Next64()) : x * (1 + random.Uniform());
    const BigFloat a(x);
    const BigFloat b(y);
    const Precision p = PrecisionOf(Format::kF64);
    const auto same = [](const BigFloat& big, double machine) {
      return ToFormat(Format::kF64, big) == CanonicalBits(machine);
    };
    ASSERT_TRUE(same(Add(a, b, p), x + y)) << x << " " << y;
    ASSERT_TRUE(same(Subtract(a, b, p), x - y)) << x << " " << y;
    ASSERT_TRUE(same(Multiply(a, b, p), x * y)) << x << " " << y;
    ASSERT_TRUE(same(Divide(a, b, p), x / y)) << x << " " << y;
    ASSERT_TRUE(same(Sqrt(a, p), std::sqrt(x))) << x;
    const float f = FloatFromBits(static_cast<uint32_t>(random.Next64()));
    const float g = FloatFromBits(static_cast<uint32_t>(random.Next64()));
    const BigFloat u(static_cast<double>(f));
    const BigFloat v(static_cast<double>(g));
    const Precision q = PrecisionOf(Format::kF32);
    ASSERT_EQ(ToFormat(Format::kF32, Multiply(u, v, q)), CanonicalBits(f * g)) << f << " " << g;
    ASSERT_EQ(ToFormat(Format::kF32, Add(u, v, q)), CanonicalBits(f + g)) << f << " " << g;
  }
}

TEST(BigFloatTest, ConversionsAreExactOrRoundedOnce) {
  Random random(8);
  for (const Format format : kFormats) {
    const uint64_t mask = ~uint64_t{0} >> (64 - Info(format).bits);
    for (int i = 0; i < 5000; ++i) {
      const uint64_t bits = random.Next64() & mask;
      const BigFloat x = FromFormat(format, bits);
      if (!x.IsNaN()) {
        ASSERT_EQ(ToFormat(format, x), bits);
      }
      const double d = DoubleFromBits(random.Next64());
      ASSERT_EQ(ToFormat(format, BigFloat(d)), RoundTo(format, d)) << d;
    }
  }
  EXPECT_EQ(BigFloat(-0.0).ToScientific(3), "-0");
  EXPECT_EQ(BigFloat(2.5).ToScientific(1), "2e0");  // a tie goes to even
  EXPECT_EQ(BigFloat(3.5).ToScientific(1), "4e0");
  EXPECT_EQ(BigFloat(999.96).ToScientific(4), "1.000e3");
  EXPECT_EQ(BigFloat::FromInteger(std::numeric_limits<int64_t>::min()).ToScientific(19),
            "-9.223372036854775808e18");
  EXPECT_EQ(BigFloat::NaN().ToScientific(5), "nan");
  EXPECT_EQ(BigFloat::Infinity(true).ToScientific(5), "-inf");
}

TEST(BigFloatTest, ExponentsHaveRoomAndEnds) {
  EXPECT_EQ(ParseBigFloat("1e999999999", kP)->ToScientific(5), "1.0000e999999999");
  EXPECT_EQ(ParseBigFloat("-2.5e-99999999999999", kP)->ToScientific(3), "-2.50e-99999999999999");
  EXPECT_TRUE(ParseBigFloat("1e999999999999999999", kP)->IsInfinite());
  EXPECT_TRUE(ParseBigFloat("-1e-999999999999999999", kP)->IsZero());
  EXPECT_TRUE(ParseBigFloat("-1e-999999999999999999", kP)->IsNegative());
  EXPECT_TRUE(ParseBigFloat("0e999999999", kP)->IsZero());
  for (const char* bad :
       {"", "e5", "1e", "1e+", "1e1.5", "1x", "--1", "1e9999999999999999999", "."}) {
    EXPECT_FALSE(ParseBigFloat(bad, kP).has_value()) << bad;
  }
  const BigFloat nine(9.0);
  const BigFloat tower = Pow(nine, Pow(nine, nine, kP), kP);
  EXPECT_EQ(tower.ToScientific(12),
            "4.28124773176e369693099");  // 369,693,100 digits
  EXPECT_TRUE(Pow(nine, tower, kP).IsInfinite());
  EXPECT_TRUE(Pow(nine, -tower, kP).IsZero());
  const BigFloat huge = BigFloat::Scaled(false, BigInteger(1), int64_t{1} << 60);
  EXPECT_TRUE(huge.IsFinite());
  EXPECT_TRUE(Multiply(huge, BigFloat(2.0), kP).IsInfinite());
  EXPECT_TRUE(Divide(BigFloat(1.0), Multiply(huge, BigFloat(1.5), kP), kP).IsZero());
  EXPECT_EQ(Log2(huge, kP).ToDouble(), 0x1p60);
  EXPECT_TRUE(Exp(huge, kP).IsInfinite());
  EXPECT_TRUE(Exp(-huge, kP).IsZero());
  EXPECT_EQ(Tanh(huge, kP), BigFloat(1.0));
  EXPECT_TRUE(Sin(huge, kP).IsNaN());
  EXPECT_EQ(Atan(huge, kP), Pi(kP).Times2To(-1));
}

TEST(BigFloatTest, NeighboursOfExactResultsRoundTheRightWay) {
  const BigFloat one(1.0);
  const BigFloat tiny = BigFloat::Scaled(false, BigInteger(1), -1000000);
  // A tie of 53 bits, which a nudge by less than anything decides.
  const BigFloat tie = BigFloat::Scaled(false, (BigInteger(1) << 53) + BigInteger(1), -53);
  EXPECT_EQ(Round(tie, {53}), one);
  EXPECT_EQ(Add(tie, tiny, {53}).ToDouble(), 1 + 0x1p-52);
  EXPECT_EQ(Subtract(tie, tiny, {53}), one);
  EXPECT_EQ(Exp(tiny, kP), one);
  EXPECT_EQ(Sin(tiny, kP), tiny);
  EXPECT_EQ(Log1p(tiny, kP), tiny);
  EXPECT_EQ(Pow(one, tiny, kP), one);
  EXPECT_EQ(Pow(Add(one, tiny, {2000000}), BigFloat(3.0), kP), one);
  EXPECT_EQ(Pow(BigFloat(9.0), BigFloat(-0.5), kP), Divide(one, BigFloat(3.0), kP));
  EXPECT_EQ(Pow(BigFloat(81.0), BigFloat(0.75), kP), BigFloat(27.0));
  EXPECT_EQ(Pow(BigFloat(-3.0), BigFloat(5.0), kP), BigFloat(-243.0));
  EXPECT_EQ(Log10(BigFloat(1e22), kP), BigFloat(22.0));
  EXPECT_EQ(Log2(BigFloat(0x1p-70), kP), BigFloat(-70.0));
  EXPECT_EQ(Cbrt(BigFloat(-27.0), kP), BigFloat(-3.0));
  EXPECT_EQ(Hypot(BigFloat(3.0), BigFloat(-4.0), kP), BigFloat(5.0));
  EXPECT_EQ(Hypot(one, tiny, kP), one);
}

// f(x) lies just beside x, and x is a tie: which way it rounds tells on which side.
TEST(BigFloatTest, FunctionsOfTinyNumbersLieOnTheRightSide) {
  const BigFloat tie = BigFloat::Scaled(false, (BigInteger(1) << 53) + BigInteger(1), -2000);
  const BigFloat below = BigFloat::Scaled(false, BigInteger(1), -2000 + 53);
  const BigFloat above = BigFloat::Scaled(false, (BigInteger(1) << 52) + BigInteger(1), -2000 + 1);
  const Precision p{53};
  EXPECT_EQ(Sin(tie, p), below);
  EXPECT_EQ(Tan(tie, p), above);
  EXPECT_EQ(Atan(tie, p), below);
  EXPECT_EQ(Sinh(tie, p), above);
  EXPECT_EQ(Tanh(tie, p), below);
  EXPECT_EQ(Expm1(tie, p), above);
  EXPECT_EQ(Log1p(tie, p), below);
  EXPECT_EQ(Expm1(-tie, p), -below);
  EXPECT_EQ(Log1p(-tie, p), -above);
  EXPECT_EQ(Sin(-tie, p), -below);
}

TEST(BigFloatTest, SpecialValuesFollowC99) {
  const BigFloat inf = BigFloat::Infinity();
  const BigFloat nan = BigFloat::NaN();
  const BigFloat zero;
  const BigFloat one(1.0);
  EXPECT_TRUE(Add(inf, -inf, kP).IsNaN());
  EXPECT_TRUE(Multiply(zero, inf, kP).IsNaN());
  EXPECT_TRUE(Divide(zero, zero, kP).IsNaN());
  EXPECT_TRUE(Divide(one, -zero, kP).IsInfinite());
  EXPECT_TRUE(Divide(one, -zero, kP).IsNegative());
  EXPECT_FALSE(Subtract(one, one, kP).IsNegative());
  EXPECT_TRUE(Add(-zero, -zero, kP).IsNegative());
  EXPECT_TRUE(Sqrt(-one, kP).IsNaN());
  EXPECT_TRUE(Sqrt(-zero, kP).IsNegative());
  EXPECT_TRUE(Log(-one, kP).IsNaN());
  EXPECT_TRUE(Log(zero, kP).IsInfinite());
  EXPECT_TRUE(Log1p(-one, kP).IsInfinite());
  EXPECT_TRUE(Hypot(nan, inf, kP).IsInfinite());
  EXPECT_EQ(Pow(nan, zero, kP), one);
  EXPECT_EQ(Pow(one, nan, kP), one);
  EXPECT_TRUE(Pow(-one, BigFloat(0.5), kP).IsNaN());
  EXPECT_EQ(Pow(-one, inf, kP), one);
  EXPECT_TRUE(Pow(-zero, BigFloat(-3.0), kP).IsNegative());
  EXPECT_TRUE(Pow(zero, -one, kP).IsInfinite());
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(zero == -zero);
  EXPECT_TRUE(-inf < one && one < inf);
}

TEST(BigFloatTest, DivisionOfIntegersHoldsItsIdentity) {
  Random random(9);
  for (int i = 0; i < 3000; ++i) {
    const auto draw = [&](uint64_t limbs) {
      BigInteger x;
      for (uint64_t k = 0; k < limbs; ++k) {
        // Limbs of all ones or zeros reach the rare branches of the division.
        const uint64_t kind = random.Integer(4);
        const uint64_t limb = kind == 0   ? 0xffffffffu
                              : kind == 1 ? 0u
                              : kind == 2 ? 0x80000000u
                                          : random.Integer(uint64_t{1} << 32);
        x = (x << 32) + BigInteger(limb);
      }
      return x;
    };
    const BigInteger a = draw(1 + random.Integer(12));
    const BigInteger b = draw(1 + random.Integer(6)) + BigInteger(1);
    BigInteger rest;
    const BigInteger quotient = Divide(a, b, &rest);
    ASSERT_TRUE(rest < b);
    ASSERT_TRUE(quotient * b + rest == a) << a.ToDecimal() << " / " << b.ToDecimal();
  }
}

}  // namespace
}  // namespace assay::floating
