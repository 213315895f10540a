// SPDX-License-Identifier: Apache-2.0
// Our half beside the toolkit's: the host functions of cuda_fp16.h, bit for bit.
#include <cuda_fp16.h>
#include <vector_types.h>

#include <cstdint>
#include <cstring>

#include "gpu/simt/half.h"
#include "gpu/simt/vector_types.h"
#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"

namespace assay {
namespace {

uint16_t Bits(simt::half h) { return simt::__half_as_ushort(h); }
::__half Theirs(uint16_t bits) { return ::__ushort_as_half(bits); }
simt::half Ours(uint16_t bits) { return simt::__ushort_as_half(bits); }

template <class A, class B>
void ExpectSame(A ours, B theirs, uint32_t a, uint32_t b = 0) {
  static_assert(sizeof(A) == sizeof(B));
  ASSERT_EQ(std::memcmp(&ours, &theirs, sizeof(A)), 0) << std::hex << a << ' ' << b;
}

TEST(CudaFp16ConformanceTest, ConvertsEveryPatternAlike) {
  for (uint32_t p = 0; p <= 0xffff; ++p) {
    const uint16_t bits = static_cast<uint16_t>(p);
    const simt::half h = Ours(bits);
    const ::__half g = Theirs(bits);
    ExpectSame(simt::__half2float(h), ::__half2float(g), p);
    ExpectSame(simt::__half2int_rz(h), ::__half2int_rz(g), p);
    ExpectSame(simt::__half2uint_rz(h), ::__half2uint_rz(g), p);
    ExpectSame(simt::__half2short_rz(h), ::__half2short_rz(g), p);
    ExpectSame(simt::__half2ushort_rz(h), ::__half2ushort_rz(g), p);
    ExpectSame(simt::__half2ll_rz(h), ::__half2ll_rz(g), p);
    ExpectSame(simt::__half2ull_rz(h), ::__half2ull_rz(g), p);
    ExpectSame(static_cast<signed char>(h), static_cast<signed char>(g), p);
    ExpectSame(static_cast<bool>(h), static_cast<bool>(g), p);
    ExpectSame(simt::__hisnan(h), ::__hisnan(g), p);
    ExpectSame(simt::__hisinf(h), ::__hisinf(g), p);
    ExpectSame(simt::__hneg(h), ::__hneg(g), p);
    ExpectSame(simt::__habs(h), ::__habs(g), p);
    ExpectSame(simt::__short2half_rn(static_cast<short>(bits)),
               ::__short2half_rn(static_cast<short>(bits)), p);
    ExpectSame(simt::__ushort2half_rn(bits), ::__ushort2half_rn(bits), p);
  }
}

// Every 2^-11 of a step around every half: all ties, their neighbours, and random bits in between.
TEST(CudaFp16ConformanceTest, RoundsFloatsAlike) {
  Random random(/*seed=*/1);
  for (uint32_t p = 0; p <= 0xffff; ++p) {
    const uint32_t wide = FloatBits(simt::__half2float(Ours(static_cast<uint16_t>(p))));
    for (const uint32_t step : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu, random.Next32() >> 19}) {
      const float x = FloatFromBits(wide + step);
      ExpectSame(simt::__float2half_rn(x), ::__float2half_rn(x), wide, step);
      const double y = static_cast<double>(x) * (1 + random.Uniform() * 0x1p-26);
      ExpectSame(simt::__double2half(y), ::__double2half(y), wide, step);
    }
    const float any = FloatFromBits(random.Next32());
    ExpectSame(simt::half(any), ::__half(any), FloatBits(any));
    const double any_double = DoubleFromBits(random.Next64());
    ExpectSame(simt::half(any_double), ::__half(any_double), p);
    const int integer = static_cast<int>(random.Next32()) >> random.Integer(32);
    ExpectSame(simt::__int2half_rn(integer), ::__int2half_rn(integer), p);
    ExpectSame(simt::__uint2half_rn(static_cast<uint32_t>(integer)),
               ::__uint2half_rn(static_cast<uint32_t>(integer)), p);
    ExpectSame(simt::__ll2half_rn(integer), ::__ll2half_rn(integer), p);
  }
}

// One function on both sides, named once.
#define SAME2(name) ExpectSame(simt::name(h, k), ::name(g, q), Bits(h), Bits(k))

// Every pattern with 64 partners: random ones, itself, its negative and its neighbour.
TEST(CudaFp16ConformanceTest, CalculatesAndComparesAlike) {
  Random random(/*seed=*/2);
  for (uint32_t p = 0; p <= 0xffff; ++p) {
    for (int i = 0; i < 64; ++i) {
      uint16_t other = static_cast<uint16_t>(random.Next32());
      if (i < 3) other = static_cast<uint16_t>(i == 0 ? p : (i == 1 ? p ^ 0x8000 : p + 1));
      const simt::half h = Ours(static_cast<uint16_t>(p)), k = Ours(other);
      const ::__half g = Theirs(static_cast<uint16_t>(p)), q = Theirs(other);
      SAME2(__hadd);
      SAME2(__hsub);
      SAME2(__hmul);
      SAME2(__hdiv);
      SAME2(__hmin);
      SAME2(__hmax);
      SAME2(__hmin_nan);
      SAME2(__hmax_nan);
      SAME2(__hadd_sat);
      SAME2(__hsub_sat);
      SAME2(__hmul_sat);
      SAME2(__heq);
      SAME2(__hne);
      SAME2(__hle);
      SAME2(__hge);
      SAME2(__hlt);
      SAME2(__hgt);
      SAME2(__hequ);
      SAME2(__hneu);
      SAME2(__hleu);
      SAME2(__hgeu);
      SAME2(__hltu);
      SAME2(__hgtu);
      ExpectSame(h == k, g == q, p, other);
      ExpectSame(h != k, g != q, p, other);
    }
  }
}

TEST(CudaFp16ConformanceTest, CalculatesPairsAlike) {
  Random random(/*seed=*/3);
  for (int i = 0; i < 200000; ++i) {
    uint16_t p[4];
    for (uint16_t& bits : p) bits = static_cast<uint16_t>(random.Next32());
    const simt::half2 h = {Ours(p[0]), Ours(p[1])}, k = {Ours(p[2]), Ours(p[3])};
    const ::__half2 g = {Theirs(p[0]), Theirs(p[1])}, q = {Theirs(p[2]), Theirs(p[3])};
    const auto check = [&](auto ours, auto theirs) { ExpectSame(ours, theirs, p[0], p[2]); };
    check(simt::__hadd2(h, k), ::__hadd2(g, q));
    check(simt::__hsub2(h, k), ::__hsub2(g, q));
    check(simt::__hmul2(h, k), ::__hmul2(g, q));
    check(simt::__h2div(h, k), ::__h2div(g, q));
    check(simt::__hmin2(h, k), ::__hmin2(g, q));
    check(simt::__hmax2_nan(h, k), ::__hmax2_nan(g, q));
    check(simt::__hltu2(h, k), ::__hltu2(g, q));
    check(simt::__hisnan2(h), ::__hisnan2(g));
    check(simt::__hneg2(h), ::__hneg2(g));
    check(simt::__habs2(h), ::__habs2(g));
    check(simt::__lows2half2(h, k), ::__lows2half2(g, q));
    check(simt::__highs2half2(h, k), ::__highs2half2(g, q));
    check(simt::__lowhigh2highlow(h), ::__lowhigh2highlow(g));
    check(simt::__half22float2(h), ::__half22float2(g));
    check(simt::__hbeq2(h, h), ::__hbeq2(g, g));
    check(simt::__hbneu2(h, k), ::__hbneu2(g, q));
    const float low = FloatFromBits(random.Next32());
    const float high = FloatFromBits(random.Next32());
    check(simt::__floats2half2_rn(low, high), ::__floats2half2_rn(low, high));
  }
}

#undef SAME2

TEST(CudaVectorTypesConformanceTest, HaveTheSameLayout) {
  const auto same = [](auto ours, auto theirs) {
    EXPECT_EQ(sizeof(ours), sizeof(theirs));
    EXPECT_EQ(alignof(decltype(ours)), alignof(decltype(theirs)));
  };
  same(simt::char2{}, ::char2{});
  same(simt::char3{}, ::char3{});
  same(simt::char4{}, ::char4{});
  same(simt::uchar2{}, ::uchar2{});
  same(simt::uchar3{}, ::uchar3{});
  same(simt::uchar4{}, ::uchar4{});
  same(simt::short2{}, ::short2{});
  same(simt::short3{}, ::short3{});
  same(simt::short4{}, ::short4{});
  same(simt::ushort2{}, ::ushort2{});
  same(simt::ushort3{}, ::ushort3{});
  same(simt::ushort4{}, ::ushort4{});
  same(simt::int2{}, ::int2{});
  same(simt::int3{}, ::int3{});
  same(simt::int4{}, ::int4{});
  same(simt::uint2{}, ::uint2{});
  same(simt::uint3{}, ::uint3{});
  same(simt::uint4{}, ::uint4{});
  same(simt::longlong2{}, ::longlong2{});
  same(simt::longlong3{}, ::longlong3{});
  same(simt::ulonglong2{}, ::ulonglong2{});
  same(simt::ulonglong3{}, ::ulonglong3{});
  same(simt::float2{}, ::float2{});
  same(simt::float3{}, ::float3{});
  same(simt::float4{}, ::float4{});
  same(simt::double2{}, ::double2{});
  same(simt::double3{}, ::double3{});
}

}  // namespace
}  // namespace assay
