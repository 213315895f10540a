// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/half.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"

namespace assay::floating {
namespace {

uint32_t Bits(float x) { return FloatBits(x); }
uint64_t Bits(double x) { return FloatBits(x); }

// The value of a 16-bit pattern by the definition of the format, in f64. Finite patterns only.
double ValueByDefinition(uint16_t bits, int fraction_bits) {
  const int exponent_bits = 15 - fraction_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int field = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double significand = field != 0 ? fraction + (1 << fraction_bits) : fraction;
  const double magnitude = std::ldexp(significand, (field != 0 ? field : 1) - bias - fraction_bits);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Rounding by definition: search the non-negative finite patterns for the nearest, ties to even.
uint16_t RoundByDefinition(double x, int fraction_bits) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  const uint16_t infinity = static_cast<uint16_t>(0x7fff ^ ((1 << fraction_bits) - 1));
  uint16_t low = 0;
  uint16_t high = infinity;  // first pattern whose value exceeds magnitude, infinity at most
  while (low < high) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    if (ValueByDefinition(middle, fraction_bits) > magnitude) {
      high = middle;
    } else {
      low = static_cast<uint16_t>(middle + 1);
    }
  }
  const uint16_t below = static_cast<uint16_t>(low - 1);
  const double at = ValueByDefinition(below, fraction_bits);
  // What would stand in place of infinity if the exponent went on: the IEEE rule for overflow.
  const double next = ValueByDefinition(low, fraction_bits);
  const double down = magnitude - at;
  const double up = next - magnitude;
  uint16_t result = down < up ? below : low;
  if (down == up) result = (below & 1) == 0 ? below : low;
  return sign | result;
}

TEST(HalfTest, EveryF16PatternGoesToF32AndBack) {
  for (uint32_t p = 0; p <= 0xffff; ++p) {
    const uint16_t bits = static_cast<uint16_t>(p);
    const uint32_t wide = F32BitsFromF16Bits(bits);
    const bool is_nan = (bits & 0x7fff) > 0x7c00;
    if (is_nan) {
      EXPECT_EQ(F16BitsFromF32Bits(wide), bits | 0x0200) << p;
      EXPECT_GT(wide & 0x7fffffffu, 0x7f800000u) << p;
      continue;
    }
    ASSERT_EQ(F16BitsFromF32Bits(wide), bits) << p;
    if ((bits & 0x7fff) == 0x7c00) {
      EXPECT_EQ(wide & 0x7fffffffu, 0x7f800000u);
      continue;
    }
    ASSERT_EQ(Bits(static_cast<double>(FloatFromBits(wide))), Bits(ValueByDefinition(bits, 10)))
        << p;
    ASSERT_EQ(F16BitsFromF64Bits(Bits(ValueByDefinition(bits, 10))), bits) << p;
  }
}

TEST(HalfTest, EveryBF16PatternGoesToF32AndBack) {
  for (uint32_t p = 0; p <= 0xffff; ++p) {
    const uint16_t bits = static_cast<uint16_t>(p);
    const uint32_t wide = F32BitsFromBF16Bits(bits);
    if ((bits & 0x7fff) > 0x7f80) {
      EXPECT_EQ(BF16BitsFromF32Bits(wide), bits | 0x0040) << p;
      continue;
    }
    ASSERT_EQ(BF16BitsFromF32Bits(wide), bits) << p;
    if ((bits & 0x7fff) == 0x7f80) continue;
    ASSERT_EQ(Bits(static_cast<double>(FloatFromBits(wide))), Bits(ValueByDefinition(bits, 7)))
        << p;
    ASSERT_EQ(BF16BitsFromF64Bits(Bits(ValueByDefinition(bits, 7))), bits) << p;
  }
}

// Around every 16-bit number and every midpoint between two: the point itself and its neighbours in
// f32 and f64. These are all the places where a rounding can go wrong.
template <int kFractionBits>
void CheckAroundEveryBoundary() {
  const uint16_t infinity = static_cast<uint16_t>(0x7fff ^ ((1 << kFractionBits) - 1));
  const auto narrow32 = [](uint32_t bits) {
    return kFractionBits == 10 ? F16BitsFromF32Bits(bits) : BF16BitsFromF32Bits(bits);
  };
  const auto narrow64 = [](uint64_t bits) {
    return kFractionBits == 10 ? F16BitsFromF64Bits(bits) : BF16BitsFromF64Bits(bits);
  };
  for (uint16_t p = 0; p < infinity; ++p) {
    const double at = ValueByDefinition(p, kFractionBits);
    const double next = ValueByDefinition(static_cast<uint16_t>(p + 1), kFractionBits);
    const double middle = at + (next - at) / 2;
    for (const double point : {at, middle}) {
      for (const double sign : {1.0, -1.0}) {
        for (int64_t step = -1; step <= 1; ++step) {
          if (point == 0 && step < 0) continue;
          const uint64_t wide = Bits(point) + static_cast<uint64_t>(step);
          const double x = sign * DoubleFromBits(wide);
          ASSERT_EQ(narrow64(Bits(x)), RoundByDefinition(x, kFractionBits)) << x;
        }
        const float f = static_cast<float>(sign * point);
        if (static_cast<double>(f) != sign * point) continue;
        for (int step = -1; step <= 1; ++step) {
          if (point == 0 && step < 0) continue;
          const uint32_t bits = Bits(f) + static_cast<uint32_t>(step);
          const double x = static_cast<double>(FloatFromBits(bits));
          ASSERT_EQ(narrow32(bits), RoundByDefinition(x, kFractionBits)) << x;
        }
      }
    }
  }
}

TEST(HalfTest, RoundsRightlyAroundEveryF16NumberAndMidpoint) { CheckAroundEveryBoundary<10>(); }
TEST(HalfTest, RoundsRightlyAroundEveryBF16NumberAndMidpoint) { CheckAroundEveryBoundary<7>(); }

TEST(HalfTest, RoundsASampleOfAllF32PatternsAsTheDefinitionSays) {
  // A step coprime to 2^32 visits exponents and fractions alike.
  uint32_t bits = 0;
  for (int i = 0; i < 200000; ++i, bits += 0x9e3779b1u) {
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
      EXPECT_GT(F16BitsFromF32Bits(bits) & 0x7fff, 0x7c00);
      EXPECT_GT(BF16BitsFromF32Bits(bits) & 0x7fff, 0x7f80);
      continue;
    }
    const double x = static_cast<double>(FloatFromBits(bits));
    ASSERT_EQ(F16BitsFromF32Bits(bits), RoundByDefinition(x, 10)) << x;
    ASSERT_EQ(BF16BitsFromF32Bits(bits), RoundByDefinition(x, 7)) << x;
  }
}

TEST(HalfTest, HardCasesByHand) {
  EXPECT_EQ(Half(65504.0f).bits(), 0x7bff);
  EXPECT_EQ(Half(65519.996f).bits(), 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits(), 0x7c00);
  EXPECT_EQ(Half(-65520.0f).bits(), 0xfc00);
  EXPECT_EQ(Half(0x1p-25f).bits(), 0x0000);
  EXPECT_EQ(Half(-0x1p-25f).bits(), 0x8000);
  EXPECT_EQ(Half(std::nextafter(0x1p-25f, 1.0f)).bits(), 0x0001);
  EXPECT_EQ(Half(0x1.ff8p-15f).bits(), 0x03ff);  // largest subnormal, 1023 * 2^-24
  EXPECT_EQ(Half(0x1.ffcp-15f).bits(), 0x0400);  // tie up to the least normal
  EXPECT_EQ(Half(0.1f).bits(), 0x2e66);
  EXPECT_EQ(BFloat16(0.1f).bits(), 0x3dcd);
  EXPECT_EQ(BFloat16(1.00390625f).bits(), 0x3f80);  // tie to even, down
  EXPECT_EQ(BFloat16(1.01171875f).bits(), 0x3f82);  // tie to even, up
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits(), 0x7f80);
  EXPECT_EQ(BFloat16(-0.0f).bits(), 0x8000);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::denorm_min()).bits(), 0);
}

TEST(HalfTest, FromF64AvoidsDoubleRounding) {
  // Just above a tie of f16, by less than an f32 can hold: through a rounded f32 it would tie down.
  const double x = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(Half(x).bits(), 0x3c01);
  EXPECT_EQ(Half(static_cast<float>(x)).bits(), 0x3c00);
  const double y = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(BFloat16(y).bits(), 0x3f81);
  EXPECT_EQ(BFloat16(static_cast<float>(y)).bits(), 0x3f80);
  EXPECT_EQ(Half(0x1p-25 + 0x1p-70).bits(), 1);
  EXPECT_EQ(Half(1e300).bits(), 0x7c00);
  EXPECT_EQ(BFloat16(-1e300).bits(), 0xff80);
  EXPECT_EQ(Half(-1e-300).bits(), 0x8000);
  EXPECT_EQ(Half(0x1p-1074).bits(), 0);
  EXPECT_EQ(BFloat16(0x1p-1074).bits(), 0);
  EXPECT_GT(Half(std::numeric_limits<double>::quiet_NaN()).bits() & 0x7fff, 0x7c00);
  EXPECT_EQ(Half(std::numeric_limits<double>::infinity()).bits(), 0x7c00);
}

TEST(HalfTest, FromI64AvoidsDoubleRounding) {
  EXPECT_EQ(Half(int64_t{2049}).bits(), Half(2048.0f).bits());  // tie to even
  EXPECT_EQ(Half(int64_t{2051}).bits(), Half(2052.0f).bits());
  EXPECT_EQ(Half(int64_t{0}).bits(), 0);
  EXPECT_EQ(Half(int64_t{-65519}).bits(), 0xfbff);
  EXPECT_EQ(Half(int64_t{65520}).bits(), 0x7c00);
  // 2^40 + 2^32 is a tie of bf16; one more is not, though f32 cannot tell them apart.
  EXPECT_EQ(BFloat16((int64_t{1} << 40) + (int64_t{1} << 32)).bits(), BFloat16(0x1p40).bits());
  EXPECT_EQ(BFloat16((int64_t{1} << 40) + (int64_t{1} << 32) + 1).bits(),
            BFloat16(0x1p40).bits() + 1);
  EXPECT_EQ(BFloat16(std::numeric_limits<int64_t>::min()).bits(), BFloat16(-0x1p63).bits());
  EXPECT_EQ(BFloat16(std::numeric_limits<int64_t>::max()).bits(), BFloat16(0x1p63).bits());
  for (int64_t i = -70000; i <= 70000; ++i) {
    ASSERT_EQ(Half(i).bits(), Half(static_cast<double>(i)).bits()) << i;
    ASSERT_EQ(BFloat16(i).bits(), BFloat16(static_cast<double>(i)).bits()) << i;
  }
}

TEST(HalfTest, OperatorsRoundOnce) {
  // The exact f64 result rounded straight to 16 bits must equal the f32 route, for sampled pairs.
  uint32_t state = 12345;
  for (int i = 0; i < 200000; ++i) {
    state = state * 1664525u + 1013904223u;
    const Half a = Half::FromBits(static_cast<uint16_t>(state >> 16));
    state = state * 1664525u + 1013904223u;
    const Half b = Half::FromBits(static_cast<uint16_t>(state >> 16));
    const double x = static_cast<double>(a);
    const double y = static_cast<double>(b);
    if (x != x || y != y) continue;
    // Sums and products of 11-bit numbers are exact in f64 (exponents differ by 40 at most).
    if (const double r = x + y; r == r) {
      EXPECT_EQ((a + b).bits(), Half(x + y).bits()) << x << ' ' << y;
    }
    if (const double r = x * y; r == r) {
      EXPECT_EQ((a * b).bits(), Half(x * y).bits()) << x << ' ' << y;
    }
    const BFloat16 p = BFloat16::FromBits(a.bits());
    const BFloat16 q = BFloat16::FromBits(b.bits());
    const double product = static_cast<double>(p) * static_cast<double>(q);
    if (product == product) {
      EXPECT_EQ((p * q).bits(), BFloat16(product).bits());
    }
  }
  EXPECT_EQ((Half(1) + Half(0x1p-11f)).bits(), Half(1).bits());
  EXPECT_EQ((BFloat16(256) + BFloat16(1)).bits(), BFloat16(256).bits());
  EXPECT_TRUE(Half(-0.0f) == Half(0.0f));
  EXPECT_TRUE(Half(1) < Half(2));
  const Half nan(std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(nan == nan);
  EXPECT_EQ((-Half(2)).bits(), Half(-2).bits());
}

}  // namespace
}  // namespace assay::floating
