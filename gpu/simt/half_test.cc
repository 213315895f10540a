// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/half.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_integer.h"

namespace assay::simt {
namespace {

using floating::Rational;

constexpr uint16_t kNan = 0x7fff;
constexpr uint16_t kInf = 0x7c00;
constexpr uint16_t kOne = 0x3c00;
constexpr uint16_t kMinusZero = 0x8000;

half H(uint16_t bits) { return __ushort_as_half(bits); }
uint16_t Bits(half h) { return __half_as_ushort(h); }
bool IsFinite(half h) { return (Bits(h) & 0x7c00) != 0x7c00; }
Rational Exact(half h) { return Rational(static_cast<double>(__half2float(h))); }

// An exact value rounded once; `zero` is the sign that the operation gives a zero.
uint16_t Rounded(const Rational& x, uint16_t zero) {
  if (x.IsZero()) return zero;
  return static_cast<uint16_t>(RoundTo(floating::Format::kF16, x));
}

TEST(SimtHalfTest, EveryPatternGoesToFloatAndBack) {
  for (uint32_t p = 0; p <= 0xffff; ++p) {
    const half h = H(static_cast<uint16_t>(p));
    const uint32_t wide = FloatBits(__half2float(h));
    if ((p & 0x7fff) > 0x7c00) {
      ASSERT_EQ(wide, 0x7fffffffu) << p;
      ASSERT_EQ(Bits(half(__half2float(h))), kNan) << p;
      continue;
    }
    ASSERT_EQ(FloatBits(floating::ToDouble(floating::Format::kF16, p)),
              FloatBits(static_cast<double>(__half2float(h))));
    ASSERT_EQ(Bits(__float2half_rn(__half2float(h))), p);
    ASSERT_EQ(Bits(half(static_cast<double>(__half2float(h)))), p);
  }
}

TEST(SimtHalfTest, RoundsOnceFromEveryType) {
  EXPECT_EQ(Bits(half(65519.996f)), 0x7bff);
  EXPECT_EQ(Bits(half(65520.0f)), kInf);
  EXPECT_EQ(Bits(half(2049.0f)), Bits(half(2048.0f)));  // a tie
  EXPECT_EQ(Bits(half(2051.0f)), Bits(half(2052.0f)));
  // One f64 step above a tie: through f32 this would be the tie.
  EXPECT_EQ(Bits(__double2half(2049.0 + 0x1p-40)), Bits(half(2050)));
  EXPECT_EQ(Bits(half(-7)), Bits(half(-7.0f)));
  EXPECT_EQ(Bits(half(70000)), kInf);
  EXPECT_EQ(Bits(half(0x100000000000000ull)), kInf);
  EXPECT_EQ(Bits(__int2half_rn(-2051)), Bits(half(-2052.0f)));
  EXPECT_EQ(Bits(__uint2half_rn(3u)), Bits(__ull2half_rn(3)));
  EXPECT_EQ(Bits(__short2half_rn(-3)), Bits(__ll2half_rn(-3)));
  EXPECT_EQ(Bits(__ushort2half_rn(65535)), kInf);
  EXPECT_EQ(Bits(half(-std::numeric_limits<float>::quiet_NaN())), kNan);
}

TEST(SimtHalfTest, CutsToIntegersWithinTheirRange) {
  EXPECT_EQ(static_cast<int>(half(-2.75f)), -2);
  EXPECT_EQ(__half2int_rz(half(2.75f)), 2);
  EXPECT_EQ(__half2int_rn(half(2.5f)), 2);
  EXPECT_EQ(__half2int_rd(half(-2.5f)), -3);
  EXPECT_EQ(__half2int_ru(half(-2.5f)), -2);
  EXPECT_EQ(__half2short_rz(half(40000.0f)), 32767);
  EXPECT_EQ(__half2ushort_rz(H(0xfc00)), 0);
  EXPECT_EQ(__half2uint_rz(H(kInf)), 0xffffffffu);
  EXPECT_EQ(__half2int_rz(H(kNan)), 0);
  EXPECT_EQ(__half2ll_rz(H(kNan)), std::numeric_limits<long long>::min());
  EXPECT_EQ(__half2ull_rz(H(kNan)), 0x8000000000000000ull);
  EXPECT_TRUE(static_cast<bool>(H(1)));
  EXPECT_FALSE(static_cast<bool>(H(kMinusZero)));
  const half implicit = 1.5f;
  const float back = implicit;
  EXPECT_EQ(back, 1.5f);
}

// Finite operands against exact fractions, rounded once; random patterns, so all binades, and pairs
// that are close, where sums cancel.
TEST(SimtHalfTest, RoundsArithmeticOnce) {
  Random random(/*seed=*/1);
  std::vector<uint32_t> results;
  for (int i = 0; i < 20000; ++i) {
    const half a = H(static_cast<uint16_t>(random.Next32()));
    half b = H(static_cast<uint16_t>(random.Next32()));
    half c = H(static_cast<uint16_t>(random.Next32()));
    if (i % 4 == 1) b = H(static_cast<uint16_t>((Bits(a) ^ 0x8000) + random.Integer(3)));
    if (i % 4 == 2) c = H(static_cast<uint16_t>((Bits(a * b) ^ 0x8000) + random.Integer(-2, 3)));
    if (i % 4 == 3) c = H(static_cast<uint16_t>(Bits(a * b) - (random.Integer(9, 13) << 10)));
    const uint16_t sum = Bits(__hadd(a, b)), difference = Bits(__hsub(a, b));
    const uint16_t product = Bits(__hmul(a, b)), quotient = Bits(__hdiv(a, b));
    const uint16_t fused = Bits(__hfma(a, b, c));
    for (const uint16_t bits : {sum, difference, product, quotient, fused}) results.push_back(bits);
    if (!IsFinite(a) || !IsFinite(b) || !IsFinite(c)) continue;
    const Rational x = Exact(a), y = Exact(b), z = Exact(c);
    const uint16_t both_minus = Bits(a) & Bits(b) & 0x8000;
    const uint16_t sign = (Bits(a) ^ Bits(b)) & 0x8000;
    // A sum of zeros is -0 when both are; exact cancellation gives +0.
    const auto signed_zero = [sign](uint16_t bits) {
      return (bits & 0x7fff) == 0 ? static_cast<uint16_t>(sign | bits) : bits;
    };
    ASSERT_EQ(sum, Rounded(x + y, x.IsZero() && y.IsZero() ? both_minus : 0)) << i;
    ASSERT_EQ(difference,
              Rounded(x - y, x.IsZero() && y.IsZero() ? Bits(a) & ~Bits(b) & 0x8000 : 0))
        << i;
    ASSERT_EQ(product, signed_zero(Rounded(x * y, sign))) << i;
    if (!y.IsZero()) {
      ASSERT_EQ(quotient, signed_zero(Rounded(x / y, sign))) << i;
    }
    const bool zeros = (x * y).IsZero() && z.IsZero();
    ASSERT_EQ(fused, Rounded(x * y + z, zeros ? sign & Bits(c) & 0x8000 : 0)) << i;
  }
  Sha256 hash;
  hash.Update(std::span<const uint32_t>(results));
  EXPECT_EQ(Hex(hash.Finish()), "3dbb94648b6acafb623c70875fd3c2bad18ae36ad583052ccc98eda1645ba893");
}

TEST(SimtHalfTest, FusesWhereTwoRoundingsWouldDiffer) {
  // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20; less 1 + 2^-9 it is 2^-20, which a rounded product
  // loses.
  const half x = half(1 + 0x1p-10f);
  EXPECT_EQ(__half2float(__hfma(x, x, half(-(1 + 0x1p-9f)))), 0x1p-20f);
  EXPECT_EQ(__half2float(x * x - half(1 + 0x1p-9f)), 0.0f);
  // 2^30 and 2^-48 as products, which nothing else can keep or lose.
  EXPECT_EQ(Bits(__hfma(H(0x7800), H(0x7800), H(0x8001))), kInf);
  EXPECT_EQ(Bits(__hfma(H(1), H(1), H(kMinusZero))), 0);
  EXPECT_EQ(Bits(__hfma(H(1), H(1), H(kOne))), kOne);
  // (1 + 3 2^-10) 1.5 lies between two halves; the least subnormal decides on which side.
  const half tie = half(1 + 3 * 0x1p-10f);
  EXPECT_EQ(Bits(__hfma(tie, half(1.5f), H(0))), 0x3e04);
  EXPECT_EQ(Bits(__hfma(tie, half(1.5f), H(1))), 0x3e05);
  EXPECT_EQ(Bits(__hfma(tie, half(1.5f), H(0x8001))), 0x3e04);
}

TEST(SimtHalfTest, HandlesInfinitiesAndNan) {
  const half inf = H(kInf), nan = H(0xfe01), one = H(kOne), zero = H(0);
  EXPECT_EQ(Bits(inf - inf), kNan);
  EXPECT_EQ(Bits(inf * zero), kNan);
  EXPECT_EQ(Bits(zero / zero), kNan);
  EXPECT_EQ(Bits(one / zero), kInf);
  EXPECT_EQ(Bits(__hfma(inf, zero, one)), kNan);
  EXPECT_EQ(Bits(__hfma(inf, one, -inf)), kNan);
  EXPECT_EQ(Bits(nan + one), kNan);
  EXPECT_EQ(Bits(-nan), kNan);
  EXPECT_EQ(Bits(__habs(nan)), kNan);
  EXPECT_EQ(Bits(__habs(H(0xbc00))), kOne);
  EXPECT_EQ(Bits(-zero), kMinusZero);
  EXPECT_TRUE(__hisnan(nan));
  EXPECT_FALSE(__hisnan(inf));
  EXPECT_EQ(__hisinf(inf), 1);
  EXPECT_EQ(__hisinf(-inf), -1);
  EXPECT_EQ(__hisinf(nan), 0);
}

TEST(SimtHalfTest, OrdersAsIeeeSays) {
  const half nan = H(kNan), one = H(kOne), two = half(2), zero = H(0), minus_zero = H(kMinusZero);
  EXPECT_TRUE(__heq(zero, minus_zero) && __hle(one, one) && __hge(one, one) && __hlt(one, two));
  EXPECT_TRUE(__hgt(two, one) && __hne(one, two));
  EXPECT_FALSE(__heq(one, two) || __hle(two, one) || __hge(one, two) || __hlt(one, one));
  EXPECT_FALSE(__hgt(one, one) || __hne(one, one));
  EXPECT_FALSE(__heq(nan, nan) || __hne(nan, one) || __hle(nan, one) || __hge(nan, one) ||
               __hlt(one, nan) || __hgt(nan, nan));
  EXPECT_TRUE(__hequ(nan, nan) && __hneu(nan, one) && __hleu(nan, one) && __hgeu(nan, one) &&
              __hltu(one, nan) && __hgtu(nan, nan));
  EXPECT_FALSE(__hequ(one, two) || __hneu(one, one) || __hleu(two, one) || __hgeu(one, two) ||
               __hltu(one, one) || __hgtu(one, one));
  EXPECT_TRUE(one < two && one <= two && two > one && two >= one && one == one && one != two);
  EXPECT_FALSE(nan == nan || nan < one || nan >= one);
  EXPECT_TRUE(nan != nan);
}

TEST(SimtHalfTest, TakesTheSmallerAndTheLarger) {
  const half nan = H(0xfe01), one = H(kOne), two = half(2), zero = H(0), minus_zero = H(kMinusZero);
  EXPECT_EQ(Bits(__hmin(one, two)), kOne);
  EXPECT_EQ(Bits(__hmax(one, two)), Bits(two));
  EXPECT_EQ(Bits(__hmin(nan, one)), kOne);
  EXPECT_EQ(Bits(__hmax(one, nan)), kOne);
  EXPECT_EQ(Bits(__hmin(nan, nan)), kNan);
  EXPECT_EQ(Bits(__hmin(zero, minus_zero)), kMinusZero);
  EXPECT_EQ(Bits(__hmax(minus_zero, zero)), 0);
  EXPECT_EQ(Bits(__hmin_nan(nan, one)), kNan);
  EXPECT_EQ(Bits(__hmax_nan(one, nan)), kNan);
  EXPECT_EQ(Bits(__hmax_nan(one, two)), Bits(two));
  EXPECT_EQ(Bits(__hmin_nan(one, two)), kOne);
  EXPECT_EQ(Bits(__hadd_sat(one, two)), kOne);
  EXPECT_EQ(Bits(__hsub_sat(one, two)), 0);
  EXPECT_EQ(Bits(__hmul_sat(half(0.5f), half(0.5f))), Bits(half(0.25f)));
  EXPECT_EQ(Bits(__hfma_sat(one, one, nan)), 0);
  EXPECT_EQ(Bits(__hfma_relu(one, one, half(-3))), 0);
  EXPECT_EQ(Bits(__hfma_relu(one, one, nan)), kNan);
}

// Every finite root, reciprocal and reciprocal root, against the definition in exact fractions:
// r is right when it rounds from a value within half a step, which a second rounding of the f32
// could miss.
TEST(SimtHalfTest, RoundsRootsCorrectlyForEveryPattern) {
  for (uint16_t p = 1; p < kInf; ++p) {
    const half h = H(p);
    const Rational x = Exact(h);
    ASSERT_EQ(Bits(hrcp(h)), Rounded(Rational(1.0) / x, 0)) << p;
    // root^2 = x with the ties on both sides: (r + next)^2 / 4 is what separates r from the next.
    const auto middle_squared = [](uint16_t low) {
      const Rational sum = Exact(H(low)) + Exact(H(static_cast<uint16_t>(low + 1)));
      return sum * sum * Rational(0.25);
    };
    const uint16_t root = Bits(hsqrt(h));
    ASSERT_TRUE(x < middle_squared(root) && middle_squared(static_cast<uint16_t>(root - 1)) < x)
        << p;
    const uint16_t inverse = Bits(hrsqrt(h));
    ASSERT_TRUE(Rational(1.0) < middle_squared(inverse) * x) << p;
    ASSERT_TRUE(middle_squared(static_cast<uint16_t>(inverse - 1)) * x < Rational(1.0)) << p;
  }
  EXPECT_EQ(Bits(hsqrt(H(0xbc00))), kNan);
  EXPECT_EQ(Bits(hrcp(H(kMinusZero))), 0xfc00);
  EXPECT_EQ(Bits(hrsqrt(H(0))), kInf);
}

TEST(SimtHalf2Test, WorksOnBothHalvesAlike) {
  Random random(/*seed=*/2);
  for (int i = 0; i < 2000; ++i) {
    const auto draw = [&] { return H(static_cast<uint16_t>(random.Next32())); };
    const half2 a = {draw(), draw()}, b = {draw(), draw()}, c = {draw(), draw()};
    const auto expect = [&](half2 got, half low, half high) {
      ASSERT_EQ(Bits(got.x), Bits(low));
      ASSERT_EQ(Bits(got.y), Bits(high));
    };
    expect(a + b, a.x + b.x, a.y + b.y);
    expect(a - b, a.x - b.x, a.y - b.y);
    expect(a * b, a.x * b.x, a.y * b.y);
    expect(a / b, a.x / b.x, a.y / b.y);
    expect(-a, -a.x, -a.y);
    expect(__habs2(a), __habs(a.x), __habs(a.y));
    expect(__hfma2(a, b, c), __hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
    expect(__hfma2_sat(a, b, c), __hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
    expect(__hfma2_relu(a, b, c), __hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
    expect(__hmin2(a, b), __hmin(a.x, b.x), __hmin(a.y, b.y));
    expect(__hmax2(a, b), __hmax(a.x, b.x), __hmax(a.y, b.y));
    expect(__hmin2_nan(a, b), __hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y));
    expect(__hmax2_nan(a, b), __hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y));
    expect(__hadd2_sat(a, b), __hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y));
    expect(__hsub2_sat(a, b), __hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y));
    expect(__hmul2_sat(a, b), __hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y));
    expect(__hlt2(a, b), half(__hlt(a.x, b.x)), half(__hlt(a.y, b.y)));
    expect(__hneu2(a, b), half(__hneu(a.x, b.x)), half(__hneu(a.y, b.y)));
    expect(__hisnan2(a), half(__hisnan(a.x)), half(__hisnan(a.y)));
    ASSERT_EQ(a == b, a.x == b.x && a.y == b.y);
    ASSERT_EQ(a >= b, a.x >= b.x && a.y >= b.y);
  }
}

TEST(SimtHalf2Test, MovesHalves) {
  const half a = half(1), b = half(2), c = half(3), d = half(4);
  const half2 low = __halves2half2(a, b), high = make_half2(c, d);
  const auto expect = [](half2 got, half x, half y) { EXPECT_TRUE(got.x == x && got.y == y); };
  EXPECT_EQ(__low2float(low), 1.0f);
  EXPECT_EQ(__high2float(low), 2.0f);
  EXPECT_TRUE(__low2half(high) == c && __high2half(high) == d);
  expect(__half2half2(c), c, c);
  expect(__low2half2(low), a, a);
  expect(__high2half2(low), b, b);
  expect(__lows2half2(low, high), a, c);
  expect(__highs2half2(low, high), b, d);
  expect(__lowhigh2highlow(low), b, a);
  expect(__float2half2_rn(3), c, c);
  expect(__floats2half2_rn(1, 4), a, d);
  expect(__float22half2_rn(make_float2(2, 3)), b, c);
  EXPECT_EQ(__half22float2(high).y, 4.0f);
  // x is the low half of the register.
  EXPECT_EQ(__builtin_bit_cast(uint32_t, low), 0x40003c00u);
}

}  // namespace
}  // namespace assay::simt
