// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/intrinsics.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gpu/simt/vector_types.h"
#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/floating/exact_accumulator.h"

namespace assay::simt {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr uint32_t kGpuNan = 0x7fffffff;

TEST(VectorTypesTest, HaveTheSizesAndAlignmentsOfCuda) {
  const auto check = [](auto value, size_t size, size_t alignment) {
    EXPECT_EQ(sizeof(value), size);
    EXPECT_EQ(alignof(decltype(value)), alignment);
  };
  check(char2{}, 2, 2);
  check(uchar3{}, 3, 1);
  check(char4{}, 4, 4);
  check(uchar4{}, 4, 4);
  check(short2{}, 4, 4);
  check(ushort3{}, 6, 2);
  check(short4{}, 8, 8);
  check(int2{}, 8, 8);
  check(int3{}, 12, 4);
  check(int4{}, 16, 16);
  check(uint4{}, 16, 16);
  check(longlong2{}, 16, 16);
  check(ulonglong3{}, 24, 8);
  check(float2{}, 8, 8);
  check(float3{}, 12, 4);
  check(float4{}, 16, 16);
  check(double2{}, 16, 16);
  check(double3{}, 24, 8);
}

TEST(VectorTypesTest, KeepTheOrderOfTheirMembers) {
  const float4 v = make_float4(1, 2, 3, 4);
  EXPECT_EQ(v.x, 1);
  EXPECT_EQ(v.y, 2);
  EXPECT_EQ(v.z, 3);
  EXPECT_EQ(v.w, 4);
  EXPECT_EQ(make_uint3(5, 6, 7).z, 7u);
  EXPECT_EQ(make_uchar4(1, 2, 3, 255).w, 255);
}

// Bit by bit, for words with few, many and random bits.
TEST(IntrinsicsTest, CountsAndReversesBits) {
  Random random(/*seed=*/1);
  std::vector<uint64_t> words = {0,           1, 2, 0x80000000u, 0xffffffffu, uint64_t{1} << 63,
                                 ~uint64_t{0}};
  for (int i = 0; i < 64; ++i) words.push_back(uint64_t{1} << i);
  for (int i = 0; i < 500; ++i) {
    const int shift = static_cast<int>(random.Integer(64));
    words.push_back(random.Next64() >> shift);
  }
  for (const uint64_t wide : words) {
    const uint32_t word = static_cast<uint32_t>(wide);
    int ones = 0, wide_ones = 0, first = 0, wide_first = 0, zeros = 32, wide_zeros = 64;
    uint64_t reversed = 0, wide_reversed = 0;
    for (int bit = 63; bit >= 0; --bit) {
      if ((wide >> bit & 1) == 0) continue;
      ++wide_ones;
      wide_first = bit + 1;
      if (wide_zeros == 64) wide_zeros = 63 - bit;
      wide_reversed |= uint64_t{1} << (63 - bit);
      if (bit >= 32) continue;
      ++ones;
      first = bit + 1;
      if (zeros == 32) zeros = 31 - bit;
      reversed |= uint64_t{1} << (31 - bit);
    }
    EXPECT_EQ(__popc(word), ones) << wide;
    EXPECT_EQ(__popcll(wide), wide_ones) << wide;
    EXPECT_EQ(__clz(static_cast<int>(word)), zeros) << wide;
    EXPECT_EQ(__clzll(static_cast<long long>(wide)), wide_zeros) << wide;
    EXPECT_EQ(__ffs(static_cast<int>(word)), first) << wide;
    EXPECT_EQ(__ffsll(static_cast<long long>(wide)), wide_first) << wide;
    EXPECT_EQ(__brev(word), reversed) << wide;
    EXPECT_EQ(__brevll(wide), wide_reversed) << wide;
  }
}

TEST(IntrinsicsTest, PermutesBytes) {
  // Bytes 0 to 7 hold their own numbers.
  constexpr uint32_t kLow = 0x03020100, kHigh = 0x07060504;
  EXPECT_EQ(__byte_perm(kLow, kHigh, 0x3210), kLow);
  EXPECT_EQ(__byte_perm(kLow, kHigh, 0x7654), kHigh);
  EXPECT_EQ(__byte_perm(kLow, kHigh, 0x0123), 0x00010203u);
  EXPECT_EQ(__byte_perm(kLow, kHigh, 0x5140), 0x05010400u);
  // Only three bits of each digit count, and only four digits.
  EXPECT_EQ(__byte_perm(kLow, kHigh, 0xabcdba98), __byte_perm(kLow, kHigh, 0x3210));
}

TEST(IntrinsicsTest, ShiftsAPairOfWords) {
  constexpr uint32_t kLow = 0x89abcdef, kHigh = 0x01234567;
  EXPECT_EQ(__funnelshift_l(kLow, kHigh, 0), kHigh);
  EXPECT_EQ(__funnelshift_l(kLow, kHigh, 4), 0x12345678u);
  EXPECT_EQ(__funnelshift_l(kLow, kHigh, 36), 0x12345678u);
  EXPECT_EQ(__funnelshift_lc(kLow, kHigh, 36), kLow);
  EXPECT_EQ(__funnelshift_lc(kLow, kHigh, 31), 0xc4d5e6f7u);
  EXPECT_EQ(__funnelshift_r(kLow, kHigh, 0), kLow);
  EXPECT_EQ(__funnelshift_r(kLow, kHigh, 4), 0x789abcdeu);
  EXPECT_EQ(__funnelshift_r(kLow, kHigh, 32), kLow);
  EXPECT_EQ(__funnelshift_rc(kLow, kHigh, 32), kHigh);
  EXPECT_EQ(__funnelshift_rc(kLow, kHigh, 8), 0x6789abcdu);
}

TEST(IntrinsicsTest, MultipliesHighAndLowHalves) {
  EXPECT_EQ(__mulhi(-1, 1), -1);
  EXPECT_EQ(__mulhi(1 << 30, 8), 2);
  EXPECT_EQ(__umulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
  EXPECT_EQ(__umul64hi(~0ull, ~0ull), ~0ull - 1);
  EXPECT_EQ(__mul24(0x7f000003, 5), 15);  // the upper byte does not count
  EXPECT_EQ(__mul24(0x00ffffff, 7), -7);  // bit 23 is the sign
  EXPECT_EQ(__mul24(0x007fffff, 0x007fffff), 0xff000001 - (int64_t{1} << 32));
  EXPECT_EQ(__umul24(0xff000003u, 5u), 15u);
  EXPECT_EQ(__umul24(0x00ffffffu, 0x00ffffffu), 0xfe000001u);
}

TEST(IntrinsicsTest, MultipliesFourBytesAndAdds) {
  EXPECT_EQ(__dp4a(0x04030201, 0x08070605, 100), 100 + 5 + 12 + 21 + 32);
  EXPECT_EQ(__dp4a(static_cast<int>(0x80808080), static_cast<int>(0x80808080), 0), 4 * 128 * 128);
  EXPECT_EQ(__dp4a(0x80808080u, 0x80808080u, 0u), 4u * 128 * 128);
  EXPECT_EQ(__dp4a(0xffffffffu, 0xffffffffu, 0u), 4u * 255 * 255);
  EXPECT_EQ(__dp4a(static_cast<int>(0xffffffff), 0x01010101, 0), -4);
  const int max = std::numeric_limits<int>::max();
  EXPECT_EQ(__dp4a(1, 1, max), std::numeric_limits<int>::min());  // wraps around
  EXPECT_EQ(__dp4a(make_char4(-1, 2, -3, 4), make_char4(5, 6, 7, 8), 9), -5 + 12 - 21 + 32 + 9);
  EXPECT_EQ(__dp4a(make_uchar4(255, 2, 3, 4), make_uchar4(5, 6, 7, 8), 9u),
            255u * 5 + 12 + 21 + 32 + 9);
}

// a b + c by a sum without rounding, which is rounded once.
float FmaByAccumulator(float a, float b, float c) {
  floating::ExactAccumulator sum;
  sum.Add(static_cast<double>(a) * static_cast<double>(b));
  sum.Add(static_cast<double>(c));
  return sum.Round<float>();
}

TEST(IntrinsicsTest, MultipliesAndAddsWithOneRounding) {
  Random random(/*seed=*/2);
  std::vector<uint32_t> results;
  const auto check = [&](float a, float b, float c) {
    const uint32_t bits = FloatBits(__fmaf_rn(a, b, c));
    results.push_back(bits);
    EXPECT_EQ(CanonicalBits(FloatFromBits(bits)), CanonicalBits(FmaByAccumulator(a, b, c)))
        << a << ' ' << b << ' ' << c;
  };
  for (int i = 0; i < 100000; ++i) {
    const float a = FloatFromBits(random.Next32());
    const float b = FloatFromBits(random.Next32());
    const float c = FloatFromBits(random.Next32());
    check(a, b, c);
    // The sum near a tie, near zero, and far apart.
    const float product = a * b;
    check(a, b, -product);
    check(a, b, FloatFromBits(FloatBits(product) + 1));
    check(a, b, product * 0x1p24f);
    check(a, b, product * 0x1p-24f);
    check(a, b, product * 0x1.000002p-24f);
    const float near = 1 + static_cast<float>(random.Integer(4096)) * 0x1p-12f;
    const float by = 1 + static_cast<float>(random.Integer(4096)) * 0x1p-12f;
    check(near, by, static_cast<float>(random.Integer(-4096, 4096)) * 0x1p-60f);
  }
  // A tie in f64 that a sum rounded twice gets wrong: 1 + 2^-24 + 2^-80.
  EXPECT_EQ(FloatBits(__fmaf_rn(0x1p-40f, 0x1p-40f, 1.0f)), FloatBits(1.0f));
  EXPECT_EQ(FloatBits(__fmaf_rn(1 + 0x1p-12f, 1 + 0x1p-12f, 0x1p-70f)),
            FloatBits(1 + 0x1p-11f + 0x1p-23f));
  EXPECT_EQ(FloatBits(__fmaf_rn(kInf, 0.0f, 1.0f)), kGpuNan);
  EXPECT_EQ(FloatBits(__fmaf_rn(-0.0f, 1.0f, -0.0f)), 0x80000000u);
  EXPECT_EQ(FloatBits(__fmaf_rn(-0.0f, 1.0f, 0.0f)), 0u);
  EXPECT_EQ(FloatBits(__fmaf_rn(1.0f, 1.0f, -1.0f)), 0u);
  Sha256 hash;
  hash.Update(std::span<const uint32_t>(results));
  EXPECT_EQ(Hex(hash.Finish()), "95c0c4d21e24d21f903e96b70fc361be3733bb79b97c5265f6287f3bf86ba5a2");
}

TEST(IntrinsicsTest, GivesTheNanOfTheGpu) {
  EXPECT_EQ(FloatBits(__fadd_rn(kInf, -kInf)), kGpuNan);
  EXPECT_EQ(FloatBits(__fsub_rn(kInf, kInf)), kGpuNan);
  EXPECT_EQ(FloatBits(__fmul_rn(-kInf, 0.0f)), kGpuNan);
  EXPECT_EQ(FloatBits(__fdiv_rn(0.0f, 0.0f)), kGpuNan);
  EXPECT_EQ(FloatBits(__fsqrt_rn(-1.0f)), kGpuNan);
  EXPECT_EQ(FloatBits(__frcp_rn(-kNaN)), kGpuNan);
  EXPECT_EQ(FloatBits(__frsqrt_rn(-1.0f)), kGpuNan);
  EXPECT_EQ(FloatBits(__double2float_rn(-std::numeric_limits<double>::quiet_NaN())), kGpuNan);
  EXPECT_EQ(FloatBits(min(kNaN, -kNaN)), kGpuNan);
  EXPECT_EQ(FloatBits(max(-kNaN, kNaN)), kGpuNan);
}

TEST(IntrinsicsTest, DoesOrdinaryArithmetic) {
  EXPECT_EQ(__fadd_rn(1.0f, 0x1p-24f), 1.0f);
  EXPECT_EQ(__fsub_rn(3.0f, 5.0f), -2.0f);
  EXPECT_EQ(__fmul_rn(3.0f, 5.0f), 15.0f);
  EXPECT_EQ(__fdiv_rn(1.0f, 3.0f), 1.0f / 3.0f);
  EXPECT_EQ(__frcp_rn(3.0f), 1.0f / 3.0f);
  EXPECT_EQ(__fsqrt_rn(2.0f), 0x1.6a09e6p0f);
  EXPECT_EQ(__dadd_rn(1.0, 2.0) + __dsub_rn(1.0, 2.0) + __dmul_rn(3.0, 2.0), 8.0);
  EXPECT_EQ(__saturatef(0.5f), 0.5f);
  EXPECT_EQ(__saturatef(1.5f), 1.0f);
  EXPECT_EQ(FloatBits(__saturatef(-0.0f)), 0u);
  EXPECT_EQ(FloatBits(__saturatef(kNaN)), 0u);
  const int value = 7;
  EXPECT_EQ(__ldg(&value), 7);
}

// Every significand in two binades, hence every exponent: r = R 2^q is 1 / sqrt(x), x = X 2^-2p,
// rounded to nearest when (2 R - 1)^2 X < 2^k < (2 R + 1)^2 X; both sides are exact integers.
TEST(IntrinsicsTest, RoundsTheReciprocalRootCorrectlyForEverySignificand) {
  int wrong = 0;
  for (uint32_t fraction = 0; fraction < (1u << 24); ++fraction) {
    const float x = FloatFromBits(0x3f800000u + fraction);  // [1, 4)
    const uint32_t bits = FloatBits(__frsqrt_rn(x));
    const uint64_t significand = (bits & 0x7fffffu) | 0x800000u;
    const int exponent = static_cast<int>(bits >> 23) - 127 - 23;
    const uint64_t integer = (fraction & 0x7fffffu) | 0x800000u;
    const int scale = static_cast<int>(fraction >> 23) - 23;
    // (R 2^exponent)^2 X 2^scale compared with 1, for 2 R -+ 1 in the place of R.
    const int k = -(2 * (exponent - 1) + scale);
    const Wide128 one = {k >= 64 ? uint64_t{1} << (k - 64) : 0, k >= 64 ? 0 : uint64_t{1} << k};
    const auto below = [&](uint64_t doubled) {
      const Wide128 square = MultiplyWide(doubled * doubled, integer);
      return square.high < one.high || (square.high == one.high && square.low < one.low);
    };
    if (!below(2 * significand - 1) || below(2 * significand + 1)) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(rsqrtf(4.0f), 0.5f);
  EXPECT_EQ(rsqrtf(0.0f), kInf);
  EXPECT_EQ(rsqrtf(-0.0f), -kInf);
  EXPECT_EQ(FloatBits(rsqrtf(kInf)), 0u);
  EXPECT_EQ(rsqrtf(0x1p-148f), 0x1p74f);  // a subnormal
}

TEST(IntrinsicsTest, RoundsToIntegersInFourDirections) {
  Random random(/*seed=*/3);
  for (int i = 0; i < 100000; ++i) {
    const float x = static_cast<float>(random.Integer(-40000, 40000)) * 0x1p-3f;
    ASSERT_EQ(__float2int_rn(x), static_cast<int>(std::nearbyint(x))) << x;
    ASSERT_EQ(__float2int_rz(x), static_cast<int>(std::trunc(x))) << x;
    ASSERT_EQ(__float2int_rd(x), static_cast<int>(std::floor(x))) << x;
    ASSERT_EQ(__float2int_ru(x), static_cast<int>(std::ceil(x))) << x;
    ASSERT_EQ(__double2int_rn(x), static_cast<int>(std::nearbyint(x))) << x;
    ASSERT_EQ(__double2ll_rz(x), static_cast<int64_t>(std::trunc(x))) << x;
    ASSERT_EQ(__float2uint_rn(x), x < 0 ? 0u : static_cast<uint32_t>(std::nearbyint(x))) << x;
  }
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rn(3.5f), 4);
  EXPECT_EQ(__float2int_rn(-2.5f), -2);
  EXPECT_EQ(__double2ll_rn(0x1p51 + 0.5), int64_t{1} << 51);
  EXPECT_EQ(__double2ll_rn(0x1p51 + 1.5), (int64_t{1} << 51) + 2);
}

TEST(IntrinsicsTest, HoldsIntegersToTheirRange) {
  EXPECT_EQ(__float2int_rz(kInf), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2int_rz(-1e20f), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2int_rz(-0x1p31f), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2int_rz(0x1p31f), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2ll_rz(0x1p63f), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(__float2uint_rz(0x1p32f), 0xffffffffu);
  EXPECT_EQ(__float2int_rz(kNaN), 0);
  EXPECT_EQ(__float2uint_rz(-1.5f), 0u);
  EXPECT_EQ(__float2uint_rz(1e20f), 0xffffffffu);
  EXPECT_EQ(__float2uint_rz(kNaN), 0u);
  EXPECT_EQ(__float2ll_rz(1e30f), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(__float2ll_rn(kNaN), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(__double2int_rz(std::nan("")), std::numeric_limits<int>::min());
  EXPECT_EQ(__double2int_rz(2147483647.5), 2147483647);
  EXPECT_EQ(__double2int_rn(-2147483648.75), std::numeric_limits<int>::min());
  EXPECT_EQ(__int2float_rn(16777217), 16777216.0f);
  EXPECT_EQ(__uint2float_rn(0xffffffffu), 0x1p32f);
  EXPECT_EQ(__ll2float_rn(-3), -3.0f);
  EXPECT_EQ(__int2double_rn(-3) + __ll2double_rn(5), 2.0);
}

TEST(IntrinsicsTest, KeepsTheBitsOfNumbers) {
  EXPECT_EQ(__float_as_int(-1.0f), static_cast<int>(0xbf800000));
  EXPECT_EQ(__float_as_uint(-1.0f), 0xbf800000u);
  EXPECT_EQ(__int_as_float(0x3f800000), 1.0f);
  EXPECT_EQ(__uint_as_float(0xbf800000u), -1.0f);
  EXPECT_EQ(__double_as_longlong(1.0), 0x3ff0000000000000);
  EXPECT_EQ(__longlong_as_double(0x4000000000000000), 2.0);
}

TEST(IntrinsicsTest, ComparesAsCudaDoes) {
  EXPECT_EQ(min(-1, 2), -1);
  EXPECT_EQ(max(-1, 2), 2);
  EXPECT_EQ(min(-1, 2u), 2u);  // -1 is the largest unsigned integer
  EXPECT_EQ(max(2u, -1), 0xffffffffu);
  EXPECT_EQ(min(2u, -1), 2u);
  EXPECT_EQ(max(-1, 2u), 0xffffffffu);
  EXPECT_EQ(min(-1L, 2L), -1L);
  EXPECT_EQ(max(1UL, 2UL), 2UL);
  EXPECT_EQ(min(3LL, -2LL), llmin(3, -2));
  EXPECT_EQ(max(3ULL, 2ULL), ullmax(3, 2));
  EXPECT_EQ(umin(3, 2) + umax(3, 2), 5u);
  EXPECT_EQ(llmax(-3, -2), -2);
  EXPECT_EQ(ullmin(3, 2), 2u);
  EXPECT_EQ(min(kNaN, 1.0f), 1.0f);
  EXPECT_EQ(max(1.0f, kNaN), 1.0f);
  EXPECT_EQ(min(1.0f, -kInf), -kInf);
  EXPECT_EQ(FloatBits(min(0.0f, -0.0f)), 0x80000000u);
  EXPECT_EQ(FloatBits(min(-0.0f, 0.0f)), 0x80000000u);
  EXPECT_EQ(FloatBits(max(0.0f, -0.0f)), 0u);
  EXPECT_EQ(FloatBits(max(-0.0f, 0.0f)), 0u);
  EXPECT_EQ(min(1.5f, 1.25), 1.25);
  EXPECT_EQ(max(1.5, 1.25f), 1.5);
  EXPECT_EQ(max(1.25f, 1.5), 1.5);
  EXPECT_EQ(min(1.25, 1.5f), 1.25);
}

}  // namespace
}  // namespace assay::simt
