// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/anatomy.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/floating/big_integer.h"

namespace assay::floating {
namespace {

struct Draw {
  uint64_t state;
  uint64_t Next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
};

// The C library prints a double exactly when asked for enough places (glibc and musl both do).
std::string Printed(double x) {
  char buffer[1500];
  std::snprintf(buffer, sizeof buffer, "%.1100f", x);
  std::string text = buffer;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

TEST(BigIntegerTest, AddsMultipliesShiftsAndPrints) {
  const BigInteger a = BigInteger::PowerOfTen(40);
  EXPECT_EQ(a.ToDecimal(), "1" + std::string(40, '0'));
  EXPECT_EQ((a - BigInteger(1)).ToDecimal(), std::string(40, '9'));
  EXPECT_EQ((a * a).ToDecimal(), "1" + std::string(80, '0'));
  EXPECT_EQ(((a << 77) >> 77), a);
  EXPECT_EQ((a - a).ToDecimal(), "0");
  EXPECT_EQ(BigInteger(0).BitWidth(), 0);
  EXPECT_EQ((BigInteger(1) << 100).BitWidth(), 101);
  EXPECT_EQ((BigInteger(1) << 100).TrailingZeros(), 100);
  BigInteger b = a;
  EXPECT_EQ(b.DivideBy(7), 4u);  // 10^40 = 4 mod 7
  b.MultiplyAdd(7, 4);
  EXPECT_EQ(b, a);
  EXPECT_EQ((BigInteger(~uint64_t{0}) + BigInteger(1)).ToDecimal(), "18446744073709551616");
}

TEST(BigIntegerTest, DividesWithRemainder) {
  BigInteger rest;
  EXPECT_EQ(Divide(BigInteger::PowerOfTen(30), BigInteger(7), &rest).ToDecimal(),
            "142857142857142857142857142857");
  EXPECT_EQ(rest, BigInteger(1));
  EXPECT_TRUE(Divide(BigInteger(3), BigInteger::PowerOfTen(20), &rest).IsZero());
  EXPECT_EQ(rest, BigInteger(3));
  const BigInteger a = BigInteger::PowerOfTen(50) + BigInteger(12345);
  const BigInteger b = BigInteger::PowerOfTen(21) + BigInteger(7);
  const BigInteger q = Divide(a, b, &rest);
  EXPECT_EQ(q * b + rest, a);
  EXPECT_TRUE(rest < b);
}

TEST(RationalTest, CutsToSomeBits) {
  const Rational third(false, BigInteger(1), BigInteger(3));
  const Rational cut = third.CutTo(100);
  EXPECT_TRUE(cut < third || cut == third);
  EXPECT_TRUE((third - cut) / third < Rational(0x1p-99));
  EXPECT_EQ(Rational(0.1).CutTo(60), Rational(0.1));
  EXPECT_EQ(Rational(-3e300).CutTo(53), Rational(-3e300));
  EXPECT_TRUE(Rational().CutTo(5).IsZero());
}

TEST(RationalTest, ComputesExactly) {
  const Rational tenth = *ParseRational("0.1");
  const Rational sum = tenth + tenth + tenth;
  EXPECT_EQ(sum, *ParseRational("0.3"));
  EXPECT_EQ(tenth * Rational(10.0), Rational(1.0));
  EXPECT_EQ(Rational(1.0) / tenth, Rational(10.0));
  EXPECT_TRUE((tenth - tenth).IsZero());
  EXPECT_TRUE(Rational(0.1) > tenth);  // the f64 nearest to 0.1 lies above it
  EXPECT_TRUE(-tenth < tenth);
  EXPECT_TRUE(*ParseRational("-2") < *ParseRational("-1"));
  EXPECT_EQ(tenth.ToScientific(3), "1.00e-1");
  EXPECT_EQ(ParseRational("-123456")->ToScientific(3), "-1.23e5");
  EXPECT_EQ(ParseRational("9.995")->ToScientific(3), "1.00e1");  // tie to even, 9.99|5 -> 10.0
  EXPECT_EQ(ParseRational("9.985")->ToScientific(3), "9.98e0");
  EXPECT_EQ(ParseRational("1e-400")->ToScientific(1), "1e-400");
  EXPECT_EQ(Rational(0.0).ToScientific(5), "0");
}

TEST(RationalTest, RoundsToF64AsAStringConversionDoes) {
  Draw draw{1};
  for (int i = 0; i < 3000; ++i) {
    const double x = DoubleFromBits(draw.Next());
    if (x - x != 0) continue;
    ASSERT_EQ(FloatBits(Rational(x).ToDouble()), FloatBits(x == 0 ? 0 : x));
  }
  EXPECT_EQ(Rational(0x1p-1074).ToDouble(), 0x1p-1074);
  EXPECT_EQ((Rational(0x1p-1074) / Rational(2.0)).ToDouble(), 0.0);
  EXPECT_EQ((Rational(0x3p-1074) / Rational(2.0)).ToDouble(), 0x1p-1073);
  EXPECT_EQ((Rational(0x1p1023) * Rational(2.0)).ToDouble(),
            std::numeric_limits<double>::infinity());
}

TEST(AnatomyTest, OneTenthInEveryFormat) {
  const auto decimal = [](Format f) { return ExactDecimal(f, *ParseDecimal(f, "0.1")); };
  EXPECT_EQ(decimal(Format::kF16), "0.0999755859375");
  EXPECT_EQ(decimal(Format::kBF16), "0.10009765625");
  EXPECT_EQ(decimal(Format::kF32), "0.100000001490116119384765625");
  EXPECT_EQ(decimal(Format::kF64), "0.1000000000000000055511151231257827021181583404541015625");
  EXPECT_EQ(BitString(Format::kF16, *ParseDecimal(Format::kF16, "0.1")), "0010111001100110");
  const Anatomy a = Dissect(Format::kF32, *ParseDecimal(Format::kF32, "-0.1"));
  EXPECT_TRUE(a.negative);
  EXPECT_EQ(a.exponent_field, 123);
  EXPECT_EQ(a.exponent, -4);
  EXPECT_EQ(a.fraction, 0x4ccccdu);
  EXPECT_EQ(a.number_class, NumberClass::kNormal);
}

TEST(AnatomyTest, ExactDecimalEqualsTheCLibraryOnAllSixteenBitPatterns) {
  for (const Format format : {Format::kF16, Format::kBF16}) {
    for (uint64_t bits = 0; bits < 0x8000; bits += format == Format::kF16 ? 1 : 7) {
      const double x = ToDouble(format, bits);
      if (x - x != 0) continue;
      ASSERT_EQ(ExactDecimal(format, bits), Printed(x)) << bits;
    }
  }
}

TEST(AnatomyTest, ExactDecimalEqualsTheCLibraryOnASample) {
  Draw draw{2};
  for (int i = 0; i < 1000; ++i) {
    const uint64_t bits = draw.Next();
    const double x = DoubleFromBits(bits);
    if (x - x == 0) {
      ASSERT_EQ(ExactDecimal(Format::kF64, bits), Printed(x));
    }
    const float f = FloatFromBits(static_cast<uint32_t>(bits));
    if (f - f == 0) {
      ASSERT_EQ(ExactDecimal(Format::kF32, bits & 0xffffffffu), Printed(static_cast<double>(f)));
    }
  }
  const std::string least = ExactDecimal(Format::kF64, 1);
  EXPECT_EQ(least.size(), 1076u);
  EXPECT_EQ(least, Printed(0x1p-1074));
}

TEST(AnatomyTest, ParsingRoundsOnceAndEqualsTheCLibrary) {
  Draw draw{3};
  char text[64];
  for (int i = 0; i < 2000; ++i) {
    const double x = DoubleFromBits(draw.Next());
    if (x - x != 0) continue;
    std::snprintf(text, sizeof text, "%.*e", static_cast<int>(draw.Next() % 20), x);
    ASSERT_EQ(*ParseDecimal(Format::kF64, text), FloatBits(std::strtod(text, nullptr))) << text;
    const float f = FloatFromBits(static_cast<uint32_t>(draw.Next()));
    if (f - f != 0) continue;
    std::snprintf(text, sizeof text, "%.*e", static_cast<int>(draw.Next() % 12),
                  static_cast<double>(f));
    ASSERT_EQ(*ParseDecimal(Format::kF32, text), FloatBits(std::strtof(text, nullptr))) << text;
  }
  // A decimal just above a tie of f16, which both f64 and f32 hide.
  EXPECT_EQ(*ParseDecimal(Format::kF16, "1.00048828125"), 0x3c00u);
  EXPECT_EQ(*ParseDecimal(Format::kF16, "1.0004882812500000000000000000001"), 0x3c01u);
  EXPECT_EQ(*ParseDecimal(Format::kBF16, "1.00390625000000000000000000001"), 0x3f81u);
  EXPECT_EQ(*ParseDecimal(Format::kF16, "65519.99999"), 0x7bffu);
  EXPECT_EQ(*ParseDecimal(Format::kF16, "65520"), 0x7c00u);
  EXPECT_EQ(*ParseDecimal(Format::kF32, "1e-1100"), 0u);
}

TEST(AnatomyTest, RefusesWhatIsNotANumber) {
  for (const char* text :
       {"", "-", ".", "1e", "1e+", "1.2.3", "abc", "1x", "0x10", "1e9999", "--1", "1 2", "nanny"}) {
    EXPECT_FALSE(ParseDecimal(Format::kF64, text).has_value()) << text;
  }
  EXPECT_FALSE(ParseDecimal(Format::kF64, std::string(1300, '1')).has_value());
  EXPECT_EQ(*ParseDecimal(Format::kF64, "-0"), uint64_t{1} << 63);
  EXPECT_EQ(*ParseDecimal(Format::kF32, "-Infinity"), 0xff800000u);
  EXPECT_EQ(*ParseDecimal(Format::kF16, "NaN"), 0x7e00u);
  EXPECT_EQ(*ParseDecimal(Format::kF64, "+.5e1"), FloatBits(5.0));
}

TEST(AnatomyTest, ShortestDecimalRoundsBackAndIsShort) {
  const auto shortest = [](double x) { return ShortestDecimal(Format::kF64, FloatBits(x)); };
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1e23), "1e23");
  EXPECT_EQ(shortest(5e-324), "5e-324");
  EXPECT_EQ(shortest(123456.789), "123456.789");
  EXPECT_EQ(shortest(100.0), "100");
  EXPECT_EQ(shortest(-0.0), "-0");
  EXPECT_EQ(shortest(0.00001), "0.00001");
  EXPECT_EQ(shortest(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(ShortestDecimal(Format::kF32, 0x7f7fffffu), "3.4028235e38");
  EXPECT_EQ(ShortestDecimal(Format::kF16, 0x2e66u), "0.1");
  EXPECT_EQ(ShortestDecimal(Format::kF16, 0xfc00u), "-inf");
  Draw draw{4};
  for (int i = 0; i < 300; ++i) {
    const uint64_t bits = draw.Next();
    const double x = DoubleFromBits(bits);
    if (x - x == 0) {
      ASSERT_EQ(*ParseDecimal(Format::kF64, ShortestDecimal(Format::kF64, bits)), bits);
    }
  }
  for (uint64_t bits = 0; bits < 0x7c00; bits += 13) {
    ASSERT_EQ(*ParseDecimal(Format::kF16, ShortestDecimal(Format::kF16, bits)), bits);
  }
}

TEST(AnatomyTest, NeighboursAndUlp) {
  const auto up = [](double x) {
    return ToDouble(Format::kF64, NextUp(Format::kF64, FloatBits(x)));
  };
  const auto down = [](double x) {
    return ToDouble(Format::kF64, NextDown(Format::kF64, FloatBits(x)));
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kMax = std::numeric_limits<double>::max();
  for (const double x : {1.0, -1.0, 0.1, 1e300, -5e-324, 2.2250738585072014e-308, kMax, -kMax}) {
    EXPECT_EQ(up(x), std::nextafter(x, kInf)) << x;
    EXPECT_EQ(down(x), std::nextafter(x, -kInf)) << x;
  }
  EXPECT_EQ(up(0.0), 5e-324);
  EXPECT_EQ(up(-0.0), 5e-324);
  EXPECT_EQ(down(0.0), -5e-324);
  EXPECT_EQ(up(kInf), kInf);
  EXPECT_EQ(down(kInf), kMax);
  EXPECT_EQ(up(-kInf), -kMax);
  EXPECT_EQ(UlpOf(Format::kF64, FloatBits(1.0)), 0x1p-52);
  EXPECT_EQ(UlpOf(Format::kF64, FloatBits(-1.5)), 0x1p-52);
  EXPECT_EQ(UlpOf(Format::kF64, FloatBits(kMax)), 0x1p971);
  EXPECT_EQ(UlpOf(Format::kF64, 0), 0x1p-1074);
  EXPECT_EQ(UlpOf(Format::kF64, FloatBits(0x1p-1000)), 0x1p-1052);
  EXPECT_EQ(UlpOf(Format::kF16, 0x3c00), 0x1p-10);
  EXPECT_EQ(UlpOf(Format::kBF16, 0x3f80), 0x1p-7);
  EXPECT_TRUE(std::isnan(UlpOf(Format::kF32, 0x7f800000u)));
}

TEST(AnatomyTest, ANaNHasOnePattern) {
  const double minus = DoubleFromBits(uint64_t{0xfff8000000000123});
  EXPECT_EQ(RoundTo(Format::kF16, minus), 0x7e00u);
  EXPECT_EQ(RoundTo(Format::kBF16, minus), 0x7fc0u);
  EXPECT_EQ(RoundTo(Format::kF32, minus), 0x7fc00000u);
  EXPECT_EQ(RoundTo(Format::kF64, minus), uint64_t{0x7ff8000000000000});
}

TEST(AnatomyTest, BothRoundingsAgreeOnEverySixteenBitBoundary) {
  for (const Format format : {Format::kF16, Format::kBF16}) {
    for (uint64_t bits = 0; bits < Info(format).Infinity(); bits += 3) {
      const double x = ToDouble(format, bits);
      const double middle = x + UlpOf(format, bits) / 2;
      for (const double point : {x, middle, std::nextafter(middle, 0.0), middle * (1 + 0x1p-52)}) {
        ASSERT_EQ(RoundTo(format, point), RoundTo(format, Rational(point))) << point;
      }
    }
  }
}

}  // namespace
}  // namespace assay::floating
