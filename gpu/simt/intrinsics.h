// SPDX-License-Identifier: Apache-2.0
// CUDA's intrinsics on scalars, for kernels that are compiled as plain C++ as well.
//
// Integers are CUDA's, bit for bit. Floating-point operations that CUDA calls correctly rounded
// (_rn) are so here, without a hardware FMA: the same bits natively and in WebAssembly. rsqrtf is
// correctly rounded here, and within 2 ulp of that on a GPU. A NaN that an intrinsic makes is the
// GPU's, 0x7fffffff (PTX ISA, "add"); what + - * / of the language give is the host's.
// Under nvcc the names are CUDA's own, and this header has nothing but its #include.
//
// Names that <math.h> has as well (sqrtf, fmaxf, fabsf, fmaf ...) are not repeated: a call would be
// ambiguous. A kernel may use those that IEEE defines; fmaf is exact but slow in software, and
// __fmaf_rn is the same operation. min and max take two of one type, or a signed and an unsigned
// integer (the result is unsigned), or a float and a double, as in CUDA.
//
// Source: CUDA Math API; PTX ISA for what happens at the edges (cvt, min, prmt, shf).
#ifndef ASSAY_GPU_SIMT_INTRINSICS_H_
#define ASSAY_GPU_SIMT_INTRINSICS_H_

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else

#include <bit>
#include <cstdint>
#include <limits>

#include "gpu/simt/vector_types.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/error_free.h"

namespace assay::simt {
namespace internal {

inline constexpr float kNan = __builtin_bit_cast(float, 0x7fffffffu);

constexpr float Canonical(float x) { return x != x ? kNan : x; }

// a + b cut to f64 by rounding to odd: a rounding to at most 51 bits that follows comes out as if
// from the exact sum, because the odd last bit remembers on which side of a tie it lay.
// Source: Boldo, Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using
//   rounding to odd (IEEE Trans. Computers, 2008).
constexpr double AddRoundedToOdd(double a, double b) {
  const floating::HiLo<double> sum = floating::TwoSum(a, b);
  const uint64_t bits = FloatBits(sum.hi);
  const bool inexact = sum.lo < 0 || sum.lo > 0;  // false for NaN: an infinity stays
  if (!inexact || (bits & 1) != 0) return sum.hi;
  return DoubleFromBits((sum.lo > 0) == (sum.hi > 0) ? bits + 1 : bits - 1);
}

enum class Rounding { kNearest, kZero, kDown, kUp };

// x as an integer, rounded as said, held to the range of Integer. A NaN becomes 0, or 2^63 where
// `wide`: source f64, or 64-bit target (PTX ISA, cvt).
template <class Integer>
constexpr Integer ToInteger(double x, Rounding rounding, bool wide) {
  using Limits = std::numeric_limits<Integer>;
  constexpr double kEdge = 0x1p52;  // from here on every f64 is an integer
  if (x != x) {
    return wide ? static_cast<Integer>(uint64_t{1} << (8 * sizeof(Integer) - 1)) : Integer{0};
  }
  double whole = x;
  if (x < kEdge && x > -kEdge) {
    const double cut = static_cast<double>(static_cast<int64_t>(x));
    switch (rounding) {
      case Rounding::kNearest:
        whole = x < 0 ? (x - kEdge) + kEdge : (x + kEdge) - kEdge;
        break;
      case Rounding::kZero:
        whole = cut;
        break;
      case Rounding::kDown:
        whole = cut > x ? cut - 1 : cut;
        break;
      case Rounding::kUp:
        whole = cut < x ? cut + 1 : cut;
        break;
    }
  }
  if (whole <= static_cast<double>(Limits::min())) return Limits::min();
  if (whole >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<Integer>(whole);
}

// Whether the sign bit is set.
constexpr bool IsNegative(float x) { return FloatBits(x) >> 31 != 0; }
constexpr bool IsNegative(double x) { return FloatBits(x) >> 63 != 0; }

// The smaller and the larger, -0 below +0; where one is a NaN, the other (PTX ISA, min).
template <class T>
constexpr T Least(T a, T b) {
  if (a != a) return b != b ? static_cast<T>(kNan) : b;
  if (b != b) return a;
  return a < b || (a == b && IsNegative(a)) ? a : b;
}
template <class T>
constexpr T Greatest(T a, T b) {
  if (a != a) return b != b ? static_cast<T>(kNan) : b;
  if (b != b) return a;
  return a > b || (a == b && IsNegative(b)) ? a : b;
}

// The sum of products of four bytes each, and c; wraps around. A and B are int8_t or uint8_t.
template <class Byte>
constexpr uint32_t DotBytes(uint32_t a, uint32_t b, uint32_t c) {
  for (int i = 0; i < 4; ++i) {
    const int32_t x = static_cast<Byte>(a >> (8 * i));
    const int32_t y = static_cast<Byte>(b >> (8 * i));
    c += static_cast<uint32_t>(x * y);
  }
  return c;
}

template <class T>
constexpr uint32_t PackBytes(Vector4<T> v) {
  const auto byte = [](T x) { return static_cast<uint32_t>(static_cast<uint8_t>(x)); };
  return byte(v.x) | byte(v.y) << 8 | byte(v.z) << 16 | byte(v.w) << 24;
}

}  // namespace internal

// ---- The bits of a number

constexpr int __float_as_int(float x) { return static_cast<int>(FloatBits(x)); }
constexpr unsigned int __float_as_uint(float x) { return FloatBits(x); }
constexpr float __int_as_float(int x) { return FloatFromBits(static_cast<uint32_t>(x)); }
constexpr float __uint_as_float(unsigned int x) { return FloatFromBits(x); }
constexpr long long __double_as_longlong(double x) { return static_cast<long long>(FloatBits(x)); }
constexpr double __longlong_as_double(long long x) {
  return DoubleFromBits(static_cast<uint64_t>(x));
}

// ---- Integers

constexpr int __popc(unsigned int x) { return std::popcount(x); }
constexpr int __popcll(unsigned long long x) { return std::popcount(x); }
// Leading zeros: 32 or 64 for 0.
constexpr int __clz(int x) { return std::countl_zero(static_cast<uint32_t>(x)); }
constexpr int __clzll(long long x) { return std::countl_zero(static_cast<uint64_t>(x)); }
// 1 + the number of the lowest set bit; 0 for 0.
constexpr int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<uint32_t>(x)) + 1; }
constexpr int __ffsll(long long x) {
  return x == 0 ? 0 : std::countr_zero(static_cast<uint64_t>(x)) + 1;
}
// The bits in reverse order.
constexpr unsigned int __brev(unsigned int x) {
  x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
  x = (x & 0x00ff00ffu) << 8 | (x >> 8 & 0x00ff00ffu);
  return x << 16 | x >> 16;
}
constexpr unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32 |
         __brev(static_cast<unsigned int>(x >> 32));
}
// Byte i of the result is byte (selector >> 4 i) & 7 of the eight of high:low.
constexpr unsigned int __byte_perm(unsigned int low, unsigned int high, unsigned int selector) {
  const uint64_t bytes = static_cast<uint64_t>(high) << 32 | low;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t from = selector >> (4 * i) & 7u;
    result |= static_cast<uint32_t>(bytes >> (8 * from) & 0xffu) << (8 * i);
  }
  return result;
}
// The upper half of high:low shifted left, and the lower half of it shifted right, by shift mod 32;
// the _lc and _rc forms by min(shift, 32).
constexpr unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31u) >> 32);
}
constexpr unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31u));
}
constexpr unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
constexpr unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
// The upper half of the product.
constexpr int __mulhi(int a, int b) { return static_cast<int>(static_cast<int64_t>(a) * b >> 32); }
constexpr unsigned int __umulhi(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>(static_cast<uint64_t>(a) * b >> 32);
}
constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return MultiplyWide(a, b).high;
}
// The product of the lower 24 bits (signed: sign-extended from bit 23), its lower half.
constexpr int __mul24(int a, int b) {
  const auto low24 = [](int x) { return static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8; };
  return static_cast<int>(static_cast<int64_t>(low24(a)) * low24(b));
}
constexpr unsigned int __umul24(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>(static_cast<uint64_t>(a & 0xffffffu) * (b & 0xffffffu));
}
// The dot product of four signed or four unsigned bytes, and c; wraps around.
constexpr int __dp4a(int a, int b, int c) {
  return static_cast<int>(internal::DotBytes<int8_t>(
      static_cast<uint32_t>(a), static_cast<uint32_t>(b), static_cast<uint32_t>(c)));
}
constexpr unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  return internal::DotBytes<uint8_t>(a, b, c);
}
constexpr int __dp4a(char4 a, char4 b, int c) {
  return static_cast<int>(internal::DotBytes<int8_t>(internal::PackBytes(a), internal::PackBytes(b),
                                                     static_cast<uint32_t>(c)));
}
constexpr unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return internal::DotBytes<uint8_t>(internal::PackBytes(a), internal::PackBytes(b), c);
}

// A load through the read-only path; the simulator has its own for checked pointers.
template <class T>
constexpr T __ldg(const T* pointer) {
  return *pointer;
}

// ---- Floating point, correctly rounded

constexpr float __fadd_rn(float a, float b) { return internal::Canonical(a + b); }
constexpr float __fsub_rn(float a, float b) { return internal::Canonical(a - b); }
constexpr float __fmul_rn(float a, float b) { return internal::Canonical(a * b); }
constexpr float __fdiv_rn(float a, float b) { return internal::Canonical(a / b); }
constexpr float __frcp_rn(float x) { return internal::Canonical(1.0f / x); }
inline float __fsqrt_rn(float x) { return internal::Canonical(Sqrt(x)); }
constexpr double __dadd_rn(double a, double b) { return a + b; }
constexpr double __dsub_rn(double a, double b) { return a - b; }
constexpr double __dmul_rn(double a, double b) { return a * b; }

// a b + c rounded once. The product of two f32 is an f64 without loss, within its range with room.
constexpr float __fmaf_rn(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  return internal::Canonical(
      static_cast<float>(internal::AddRoundedToOdd(product, static_cast<double>(c))));
}

// 1 / sqrt(x) rounded once: +-infinity for +-0, NaN below, +0 for infinity. In f64 the quotient is
// within 2^-52 of the exact one; intrinsics_test.cc goes through all the significands of two
// binades and finds none where that crosses a tie of f32.
inline float __frsqrt_rn(float x) {
  return internal::Canonical(static_cast<float>(1.0 / Sqrt(static_cast<double>(x))));
}
// On a GPU within 2 ulp of this (CUDA C++ Programming Guide, "Mathematical Functions").
inline float rsqrtf(float x) { return __frsqrt_rn(x); }

// x held to [0, 1]; a NaN becomes +0.
constexpr float __saturatef(float x) { return x >= 1.0f ? 1.0f : (x > 0.0f ? x : 0.0f); }

// ---- Between integers and floating point

constexpr int __float2int_rn(float x) {
  return internal::ToInteger<int32_t>(x, internal::Rounding::kNearest, false);
}
constexpr int __float2int_rz(float x) {
  return internal::ToInteger<int32_t>(x, internal::Rounding::kZero, false);
}
constexpr int __float2int_rd(float x) {
  return internal::ToInteger<int32_t>(x, internal::Rounding::kDown, false);
}
constexpr int __float2int_ru(float x) {
  return internal::ToInteger<int32_t>(x, internal::Rounding::kUp, false);
}
constexpr unsigned int __float2uint_rn(float x) {
  return internal::ToInteger<uint32_t>(x, internal::Rounding::kNearest, false);
}
constexpr unsigned int __float2uint_rz(float x) {
  return internal::ToInteger<uint32_t>(x, internal::Rounding::kZero, false);
}
constexpr long long __float2ll_rn(float x) {
  return internal::ToInteger<int64_t>(x, internal::Rounding::kNearest, true);
}
constexpr long long __float2ll_rz(float x) {
  return internal::ToInteger<int64_t>(x, internal::Rounding::kZero, true);
}
constexpr int __double2int_rn(double x) {
  return internal::ToInteger<int32_t>(x, internal::Rounding::kNearest, true);
}
constexpr int __double2int_rz(double x) {
  return internal::ToInteger<int32_t>(x, internal::Rounding::kZero, true);
}
constexpr long long __double2ll_rn(double x) {
  return internal::ToInteger<int64_t>(x, internal::Rounding::kNearest, true);
}
constexpr long long __double2ll_rz(double x) {
  return internal::ToInteger<int64_t>(x, internal::Rounding::kZero, true);
}
constexpr float __int2float_rn(int x) { return static_cast<float>(x); }
constexpr float __uint2float_rn(unsigned int x) { return static_cast<float>(x); }
constexpr float __ll2float_rn(long long x) { return static_cast<float>(x); }
constexpr double __int2double_rn(int x) { return static_cast<double>(x); }
constexpr double __ll2double_rn(long long x) { return static_cast<double>(x); }
constexpr float __double2float_rn(double x) { return internal::Canonical(static_cast<float>(x)); }

// ---- The smaller and the larger

constexpr int min(int a, int b) { return a < b ? a : b; }
constexpr int max(int a, int b) { return a > b ? a : b; }
constexpr unsigned int min(unsigned int a, unsigned int b) { return a < b ? a : b; }
constexpr unsigned int max(unsigned int a, unsigned int b) { return a > b ? a : b; }
constexpr unsigned int min(int a, unsigned int b) { return min(static_cast<unsigned int>(a), b); }
constexpr unsigned int max(int a, unsigned int b) { return max(static_cast<unsigned int>(a), b); }
constexpr unsigned int min(unsigned int a, int b) { return min(a, static_cast<unsigned int>(b)); }
constexpr unsigned int max(unsigned int a, int b) { return max(a, static_cast<unsigned int>(b)); }
constexpr long min(long a, long b) { return a < b ? a : b; }
constexpr long max(long a, long b) { return a > b ? a : b; }
constexpr unsigned long min(unsigned long a, unsigned long b) { return a < b ? a : b; }
constexpr unsigned long max(unsigned long a, unsigned long b) { return a > b ? a : b; }
constexpr long long min(long long a, long long b) { return a < b ? a : b; }
constexpr long long max(long long a, long long b) { return a > b ? a : b; }
constexpr unsigned long long min(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}
constexpr unsigned long long max(unsigned long long a, unsigned long long b) {
  return a > b ? a : b;
}
constexpr float min(float a, float b) { return internal::Least(a, b); }
constexpr float max(float a, float b) { return internal::Greatest(a, b); }
constexpr double min(double a, double b) { return internal::Least(a, b); }
constexpr double max(double a, double b) { return internal::Greatest(a, b); }
constexpr double min(float a, double b) { return min(static_cast<double>(a), b); }
constexpr double max(float a, double b) { return max(static_cast<double>(a), b); }
constexpr double min(double a, float b) { return min(a, static_cast<double>(b)); }
constexpr double max(double a, float b) { return max(a, static_cast<double>(b)); }
constexpr unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
constexpr unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
constexpr long long llmin(long long a, long long b) { return min(a, b); }
constexpr long long llmax(long long a, long long b) { return max(a, b); }
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}

}  // namespace assay::simt

#endif  // nvcc

#endif  // ASSAY_GPU_SIMT_INTRINSICS_H_
