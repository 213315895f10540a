// SPDX-License-Identifier: Apache-2.0
// CUDA's 16-bit floating point, for kernels that are compiled as plain C++ as well.
//
// half and half2 have CUDA's names, layout, alignment and implicit conversions, and every operation
// gives the bits of the host functions of CUDA's own cuda_fp16.h (cuda_fp16_conformance_test.cc has
// both side by side). + - * / are computed in f32 and rounded to 16 bits, which equals rounding
// once (numerics/floating/half.h says why); __hfma rounds a b + c once. A NaN that comes back is
// the canonical one, 0x7fff, and as f32 0x7fffffff. Under nvcc these are CUDA's own types.
//
// hsqrt, hrcp and hrsqrt are correctly rounded here; a GPU approximates them in f32 first.
// Left out: the functions whose result no standard fixes (hexp, hlog, hsin ...).
//
// Example: half2 s = __hfma2(a, b, c); float x = __low2float(s);
//
// Source: CUDA Math API, "Half Precision Intrinsics"; IEEE 754-2019 for the format binary16.
#ifndef ASSAY_GPU_SIMT_HALF_H_
#define ASSAY_GPU_SIMT_HALF_H_

#ifdef __CUDACC__

#include <cuda_fp16.h>

#include "gpu/simt/vector_types.h"

namespace assay::simt {

using ::__half;
using ::__half2;
using ::half;
using ::half2;

}  // namespace assay::simt

#else  // not nvcc

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "gpu/simt/intrinsics.h"
#include "gpu/simt/vector_types.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/half.h"

namespace assay::simt {
namespace internal {

inline constexpr uint16_t kHalfNan = 0x7fff;

constexpr uint16_t HalfFromFloat(float x) {
  return x != x ? kHalfNan : floating::F16BitsFromF32Bits(FloatBits(x));
}
constexpr uint16_t HalfFromDouble(double x) {
  return x != x ? kHalfNan : floating::F16BitsFromF64Bits(FloatBits(x));
}
constexpr bool IsHalfNan(uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }
constexpr float FloatFromHalf(uint16_t bits) {
  return IsHalfNan(bits) ? kNan : FloatFromBits(floating::F32BitsFromF16Bits(bits));
}

}  // namespace internal

// The bits of a half.
struct alignas(2) __half_raw {
  unsigned short x;
};

// A number of format binary16. Without an initialiser it holds whatever the memory held.
struct alignas(2) __half {
  __half() = default;
  constexpr __half(__half_raw raw) : __x(raw.x) {}
  // Rounded to nearest even. An integer goes through f32, which no half can tell.
  constexpr __half(float x) : __x(internal::HalfFromFloat(x)) {}
  constexpr __half(double x) : __x(internal::HalfFromDouble(x)) {}
  template <std::integral Integer>
  constexpr __half(Integer x) : __x(internal::HalfFromFloat(static_cast<float>(x))) {}

  constexpr operator __half_raw() const { return {__x}; }
  constexpr operator float() const { return internal::FloatFromHalf(__x); }
  // Cut to an integer and held to its range; a NaN becomes 0, or 2^63 in 64 bits. As a bool: not
  // zero.
  template <std::integral Integer>
  constexpr operator Integer() const {
    if constexpr (std::same_as<Integer, bool>) {
      return (__x & 0x7fff) != 0;
    } else {
      return internal::ToInteger<Integer>(static_cast<double>(internal::FloatFromHalf(__x)),
                                          internal::Rounding::kZero, sizeof(Integer) == 8);
    }
  }

 protected:
  unsigned short __x;
};
using half = __half;

// Two halves in one register: x is the low half of it.
struct alignas(4) __half2 {
  half x, y;
  __half2() = default;
  constexpr __half2(half low, half high) : x(low), y(high) {}
};
using half2 = __half2;

static_assert(std::is_trivially_copyable_v<half2> && sizeof(half) == 2 && sizeof(half2) == 4);

// ---- The bits

constexpr unsigned short __half_as_ushort(half h) { return static_cast<__half_raw>(h).x; }
constexpr short __half_as_short(half h) { return static_cast<short>(__half_as_ushort(h)); }
constexpr half __ushort_as_half(unsigned short bits) { return __half_raw{bits}; }
constexpr half __short_as_half(short bits) { return __half_raw{static_cast<unsigned short>(bits)}; }

// ---- Conversions

constexpr half __float2half_rn(float x) { return half(x); }
constexpr half __float2half(float x) { return half(x); }
constexpr half __double2half(double x) { return half(x); }
constexpr float __half2float(half h) { return static_cast<float>(h); }
constexpr half __int2half_rn(int x) { return half(x); }
constexpr half __uint2half_rn(unsigned int x) { return half(x); }
constexpr half __short2half_rn(short x) { return half(x); }
constexpr half __ushort2half_rn(unsigned short x) { return half(x); }
constexpr half __ll2half_rn(long long x) { return half(x); }
constexpr half __ull2half_rn(unsigned long long x) { return half(x); }
constexpr int __half2int_rz(half h) { return static_cast<int>(h); }
constexpr unsigned int __half2uint_rz(half h) { return static_cast<unsigned int>(h); }
constexpr short __half2short_rz(half h) { return static_cast<short>(h); }
constexpr unsigned short __half2ushort_rz(half h) { return static_cast<unsigned short>(h); }
constexpr long long __half2ll_rz(half h) { return static_cast<long long>(h); }
constexpr unsigned long long __half2ull_rz(half h) { return static_cast<unsigned long long>(h); }
constexpr int __half2int_rn(half h) { return __float2int_rn(h); }
constexpr int __half2int_rd(half h) { return __float2int_rd(h); }
constexpr int __half2int_ru(half h) { return __float2int_ru(h); }
constexpr half2 __float2half2_rn(float x) { return {half(x), half(x)}; }
constexpr half2 __floats2half2_rn(float low, float high) { return {half(low), half(high)}; }
constexpr half2 __float22half2_rn(float2 v) { return {half(v.x), half(v.y)}; }
constexpr float2 __half22float2(half2 v) { return {__half2float(v.x), __half2float(v.y)}; }
constexpr float __low2float(half2 v) { return __half2float(v.x); }
constexpr float __high2float(half2 v) { return __half2float(v.y); }

// ---- Moving halves

constexpr half2 make_half2(half low, half high) { return {low, high}; }
constexpr half2 __halves2half2(half low, half high) { return {low, high}; }
constexpr half2 __half2half2(half h) { return {h, h}; }
constexpr half __low2half(half2 v) { return v.x; }
constexpr half __high2half(half2 v) { return v.y; }
constexpr half2 __low2half2(half2 v) { return {v.x, v.x}; }
constexpr half2 __high2half2(half2 v) { return {v.y, v.y}; }
constexpr half2 __lows2half2(half2 a, half2 b) { return {a.x, b.x}; }
constexpr half2 __highs2half2(half2 a, half2 b) { return {a.y, b.y}; }
constexpr half2 __lowhigh2highlow(half2 v) { return {v.y, v.x}; }

// ---- Comparisons: false where one is a NaN, in the forms with u true

constexpr bool __hisnan(half h) { return internal::IsHalfNan(__half_as_ushort(h)); }
// 1 for +infinity, -1 for -infinity, else 0.
constexpr int __hisinf(half h) {
  return __half_as_ushort(h) == 0x7c00 ? 1 : (__half_as_ushort(h) == 0xfc00 ? -1 : 0);
}
constexpr bool __heq(half a, half b) { return __half2float(a) == __half2float(b); }
constexpr bool __hne(half a, half b) {
  return __half2float(a) < __half2float(b) || __half2float(a) > __half2float(b);
}
constexpr bool __hle(half a, half b) { return __half2float(a) <= __half2float(b); }
constexpr bool __hge(half a, half b) { return __half2float(a) >= __half2float(b); }
constexpr bool __hlt(half a, half b) { return __half2float(a) < __half2float(b); }
constexpr bool __hgt(half a, half b) { return __half2float(a) > __half2float(b); }
constexpr bool __hequ(half a, half b) { return !__hne(a, b); }
constexpr bool __hneu(half a, half b) { return !__heq(a, b); }
constexpr bool __hleu(half a, half b) { return !__hgt(a, b); }
constexpr bool __hgeu(half a, half b) { return !__hlt(a, b); }
constexpr bool __hltu(half a, half b) { return !__hge(a, b); }
constexpr bool __hgtu(half a, half b) { return !__hle(a, b); }

// 1 or 0 in each half.
constexpr half2 __heq2(half2 a, half2 b) { return {half(__heq(a.x, b.x)), half(__heq(a.y, b.y))}; }
constexpr half2 __hne2(half2 a, half2 b) { return {half(__hne(a.x, b.x)), half(__hne(a.y, b.y))}; }
constexpr half2 __hle2(half2 a, half2 b) { return {half(__hle(a.x, b.x)), half(__hle(a.y, b.y))}; }
constexpr half2 __hge2(half2 a, half2 b) { return {half(__hge(a.x, b.x)), half(__hge(a.y, b.y))}; }
constexpr half2 __hlt2(half2 a, half2 b) { return {half(__hlt(a.x, b.x)), half(__hlt(a.y, b.y))}; }
constexpr half2 __hgt2(half2 a, half2 b) { return {half(__hgt(a.x, b.x)), half(__hgt(a.y, b.y))}; }
constexpr half2 __hequ2(half2 a, half2 b) {
  return {half(__hequ(a.x, b.x)), half(__hequ(a.y, b.y))};
}
constexpr half2 __hneu2(half2 a, half2 b) {
  return {half(__hneu(a.x, b.x)), half(__hneu(a.y, b.y))};
}
constexpr half2 __hleu2(half2 a, half2 b) {
  return {half(__hleu(a.x, b.x)), half(__hleu(a.y, b.y))};
}
constexpr half2 __hgeu2(half2 a, half2 b) {
  return {half(__hgeu(a.x, b.x)), half(__hgeu(a.y, b.y))};
}
constexpr half2 __hltu2(half2 a, half2 b) {
  return {half(__hltu(a.x, b.x)), half(__hltu(a.y, b.y))};
}
constexpr half2 __hgtu2(half2 a, half2 b) {
  return {half(__hgtu(a.x, b.x)), half(__hgtu(a.y, b.y))};
}
constexpr half2 __hisnan2(half2 a) { return {half(__hisnan(a.x)), half(__hisnan(a.y))}; }

// Whether it holds in both halves.
constexpr bool __hbeq2(half2 a, half2 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
constexpr bool __hbne2(half2 a, half2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
constexpr bool __hble2(half2 a, half2 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
constexpr bool __hbge2(half2 a, half2 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
constexpr bool __hblt2(half2 a, half2 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
constexpr bool __hbgt2(half2 a, half2 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
constexpr bool __hbequ2(half2 a, half2 b) { return __hequ(a.x, b.x) && __hequ(a.y, b.y); }
constexpr bool __hbneu2(half2 a, half2 b) { return __hneu(a.x, b.x) && __hneu(a.y, b.y); }
constexpr bool __hbleu2(half2 a, half2 b) { return __hleu(a.x, b.x) && __hleu(a.y, b.y); }
constexpr bool __hbgeu2(half2 a, half2 b) { return __hgeu(a.x, b.x) && __hgeu(a.y, b.y); }
constexpr bool __hbltu2(half2 a, half2 b) { return __hltu(a.x, b.x) && __hltu(a.y, b.y); }
constexpr bool __hbgtu2(half2 a, half2 b) { return __hgtu(a.x, b.x) && __hgtu(a.y, b.y); }

// ---- Arithmetic, each rounded once

constexpr half __hadd(half a, half b) { return half(__half2float(a) + __half2float(b)); }
constexpr half __hsub(half a, half b) { return half(__half2float(a) - __half2float(b)); }
constexpr half __hmul(half a, half b) { return half(__half2float(a) * __half2float(b)); }
constexpr half __hdiv(half a, half b) { return half(__half2float(a) / __half2float(b)); }
constexpr half __hneg(half a) { return half(-__half2float(a)); }
constexpr half __habs(half a) {
  return __hisnan(a) ? __ushort_as_half(internal::kHalfNan)
                     : __ushort_as_half(static_cast<unsigned short>(__half_as_ushort(a) & 0x7fff));
}
// The product is exact in f64. Their sum loses bits only where it spans more than 53 of them: then
// c is 2^31 times the product or more, and being a half it is the result; or the product is 2^29 or
// more, and the result an infinity. So the f64 sum rounds to what the exact sum rounds to.
constexpr half __hfma(half a, half b, half c) {
  return half(static_cast<double>(__half2float(a)) * static_cast<double>(__half2float(b)) +
              static_cast<double>(__half2float(c)));
}
// The smaller and the larger, -0 below +0; where one is a NaN, the other; the _nan forms a NaN.
constexpr half __hmin(half a, half b) {
  return half(internal::Least(__half2float(a), __half2float(b)));
}
constexpr half __hmax(half a, half b) {
  return half(internal::Greatest(__half2float(a), __half2float(b)));
}
constexpr half __hmin_nan(half a, half b) {
  return __hisnan(a) || __hisnan(b) ? __ushort_as_half(internal::kHalfNan) : __hmin(a, b);
}
constexpr half __hmax_nan(half a, half b) {
  return __hisnan(a) || __hisnan(b) ? __ushort_as_half(internal::kHalfNan) : __hmax(a, b);
}
// Held to [0, 1]; a NaN becomes +0.
constexpr half __hadd_sat(half a, half b) { return half(__saturatef(__hadd(a, b))); }
constexpr half __hsub_sat(half a, half b) { return half(__saturatef(__hsub(a, b))); }
constexpr half __hmul_sat(half a, half b) { return half(__saturatef(__hmul(a, b))); }
constexpr half __hfma_sat(half a, half b, half c) { return half(__saturatef(__hfma(a, b, c))); }
// The larger of a b + c and +0, a NaN where there is one.
constexpr half __hfma_relu(half a, half b, half c) { return __hmax_nan(__hfma(a, b, c), half(0)); }
inline half hsqrt(half a) { return half(__fsqrt_rn(__half2float(a))); }
inline half hrcp(half a) { return half(__frcp_rn(__half2float(a))); }
inline half hrsqrt(half a) { return half(__frsqrt_rn(__half2float(a))); }

// The same of both halves.
constexpr half2 __hadd2(half2 a, half2 b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
constexpr half2 __hsub2(half2 a, half2 b) { return {__hsub(a.x, b.x), __hsub(a.y, b.y)}; }
constexpr half2 __hmul2(half2 a, half2 b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
constexpr half2 __h2div(half2 a, half2 b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
constexpr half2 __hmin2(half2 a, half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
constexpr half2 __hmax2(half2 a, half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
constexpr half2 __hmin2_nan(half2 a, half2 b) {
  return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)};
}
constexpr half2 __hmax2_nan(half2 a, half2 b) {
  return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)};
}
constexpr half2 __hadd2_sat(half2 a, half2 b) {
  return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)};
}
constexpr half2 __hsub2_sat(half2 a, half2 b) {
  return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)};
}
constexpr half2 __hmul2_sat(half2 a, half2 b) {
  return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)};
}
constexpr half2 __hfma2(half2 a, half2 b, half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
constexpr half2 __hfma2_sat(half2 a, half2 b, half2 c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
constexpr half2 __hfma2_relu(half2 a, half2 b, half2 c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
constexpr half2 __hneg2(half2 a) { return {__hneg(a.x), __hneg(a.y)}; }
constexpr half2 __habs2(half2 a) { return {__habs(a.x), __habs(a.y)}; }

// ---- Operators

constexpr half operator+(const half& a, const half& b) { return __hadd(a, b); }
constexpr half operator-(const half& a, const half& b) { return __hsub(a, b); }
constexpr half operator*(const half& a, const half& b) { return __hmul(a, b); }
constexpr half operator/(const half& a, const half& b) { return __hdiv(a, b); }
constexpr half& operator+=(half& a, const half& b) { return a = a + b; }
constexpr half& operator-=(half& a, const half& b) { return a = a - b; }
constexpr half& operator*=(half& a, const half& b) { return a = a * b; }
constexpr half& operator/=(half& a, const half& b) { return a = a / b; }
constexpr half operator+(const half& a) { return a; }
constexpr half operator-(const half& a) { return __hneg(a); }
constexpr bool operator==(const half& a, const half& b) { return __heq(a, b); }
constexpr bool operator!=(const half& a, const half& b) { return __hneu(a, b); }
constexpr bool operator<(const half& a, const half& b) { return __hlt(a, b); }
constexpr bool operator>(const half& a, const half& b) { return __hgt(a, b); }
constexpr bool operator<=(const half& a, const half& b) { return __hle(a, b); }
constexpr bool operator>=(const half& a, const half& b) { return __hge(a, b); }
constexpr half2 operator+(const half2& a, const half2& b) { return __hadd2(a, b); }
constexpr half2 operator-(const half2& a, const half2& b) { return __hsub2(a, b); }
constexpr half2 operator*(const half2& a, const half2& b) { return __hmul2(a, b); }
constexpr half2 operator/(const half2& a, const half2& b) { return __h2div(a, b); }
constexpr half2& operator+=(half2& a, const half2& b) { return a = a + b; }
constexpr half2& operator-=(half2& a, const half2& b) { return a = a - b; }
constexpr half2& operator*=(half2& a, const half2& b) { return a = a * b; }
constexpr half2& operator/=(half2& a, const half2& b) { return a = a / b; }
constexpr half2 operator+(const half2& a) { return a; }
constexpr half2 operator-(const half2& a) { return __hneg2(a); }
constexpr bool operator==(const half2& a, const half2& b) { return __hbeq2(a, b); }
constexpr bool operator!=(const half2& a, const half2& b) { return __hbneu2(a, b); }
constexpr bool operator<(const half2& a, const half2& b) { return __hblt2(a, b); }
constexpr bool operator>(const half2& a, const half2& b) { return __hbgt2(a, b); }
constexpr bool operator<=(const half2& a, const half2& b) { return __hble2(a, b); }
constexpr bool operator>=(const half2& a, const half2& b) { return __hbge2(a, b); }

}  // namespace assay::simt

#endif  // nvcc

#endif  // ASSAY_GPU_SIMT_HALF_H_
