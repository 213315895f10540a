// SPDX-License-Identifier: Apache-2.0
//
// scaling.h: numbers taken apart into integers and powers of two, and put together again.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_SCALING_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_SCALING_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "numerics/core/bits.h"

namespace assay::fft::internal {

// x = significand 2^exponent, |significand| < 2^53.
struct Parts {
  int64_t significand;
  int exponent;
};

// Exact. x finite. An odd significand, unless x is 0.
inline Parts TakeApart(double x) {
  const uint64_t bits = FloatBits(x);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  uint64_t magnitude = field == 0 ? fraction : fraction | uint64_t{1} << 52;
  if (magnitude == 0) return {0, 0};
  const int zeros = __builtin_ctzll(magnitude);
  magnitude >>= zeros;
  const int64_t significand = static_cast<int64_t>(magnitude);
  return {bits >> 63 != 0 ? -significand : significand,
          (field == 0 ? -1074 : field - 1075) + zeros};
}

// 2^exponent, -1022 <= exponent <= 1023.
inline double PowerOfTwo(int exponent) {
  return DoubleFromBits(static_cast<uint64_t>(exponent + 1023) << 52);
}

// x 2^exponent: exact unless the result is subnormal (then within one step of the subnormals) or
// overflows.
inline double Scaled(double x, int exponent) {
  for (; exponent > 1000; exponent -= 1000) x *= PowerOfTwo(1000);
  for (; exponent < -1000; exponent += 1000) x *= PowerOfTwo(-1000);
  return x * PowerOfTwo(exponent);
}

// The bits that a row of numbers occupies: every x[j] is a multiple of 2^low and below 2^high in
// size. {0, 0} if all are 0.
struct BitRange {
  int low = 0;
  int high = 0;
};

template <class T>
BitRange BitsOf(std::span<const T> x) {
  BitRange range;
  bool any = false;
  for (T v : x) {
    const Parts p = TakeApart(static_cast<double>(v));
    if (p.significand == 0) continue;
    const int64_t size = p.significand < 0 ? -p.significand : p.significand;
    const int high = p.exponent + 64 - __builtin_clzll(static_cast<uint64_t>(size));
    range = any ? BitRange{std::min(range.low, p.exponent), std::max(range.high, high)}
                : BitRange{p.exponent, high};
    any = true;
  }
  return range;
}

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_SCALING_H_
