// SPDX-License-Identifier: Apache-2.0
//
// Exponents taken off and put back, over the whole range of f64.
#ifndef ASSAY_NUMERICS_FLOATING_INTERNAL_POWER_OF_TWO_H_
#define ASSAY_NUMERICS_FLOATING_INTERNAL_POWER_OF_TWO_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "numerics/core/bits.h"

namespace assay::floating::internal {

// 2^k, k from -1022 to 1023.
inline double PowerOfTwo(int k) { return DoubleFromBits(static_cast<uint64_t>(1023 + k) << 52); }

// floor(log2 |x|), for finite x other than 0, subnormals too.
inline int ExponentOf(double x) {
  const int field = static_cast<int>((FloatBits(x) >> 52) & 0x7ff);
  if (field != 0) return field - 1023;
  return static_cast<int>(std::bit_width(FloatBits(x) & ((uint64_t{1} << 52) - 1))) - 1075;
}

// x 2^k, rounded once; exact unless it overflows or becomes subnormal.
inline double TimesPowerOfTwo(double x, int k) {
  k = std::clamp(k, -6000, 6000);
  for (; k > 1023; k -= 1023) x *= 0x1p1023;
  // In steps that leave 53 bits above the subnormals, so that only the last one can round.
  for (; k < -1022; k += 969) x *= 0x1p-969;
  return x * PowerOfTwo(k);
}

}  // namespace assay::floating::internal

#endif  // ASSAY_NUMERICS_FLOATING_INTERNAL_POWER_OF_TWO_H_
