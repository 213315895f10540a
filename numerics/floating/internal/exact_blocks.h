// SPDX-License-Identifier: Apache-2.0
//
// Many numbers into few, exactly: what lets exact_accumulator.h keep up with memory.
#ifndef ASSAY_NUMERICS_FLOATING_INTERNAL_EXACT_BLOCKS_H_
#define ASSAY_NUMERICS_FLOATING_INTERNAL_EXACT_BLOCKS_H_

#include <cstdint>

namespace assay::floating::internal {

// Numbers that one call can take: 16 KiB of f64, read twice from the first-level cache.
inline constexpr int64_t kExactBlock = 2048;

// Three numbers whose exact sum is that of x[0..n-1]. False if the block does not lend itself to
// it: it has a NaN, an infinity or a number of 2^1000 or more, or its bits span too many orders of
// magnitude (125 below the leading bit of the largest number; in f32 83). n: a multiple of 32, from
// 0 to kExactBlock.
//
// With M the largest |x| and sigma = 2^k >= 2048 M, q = (sigma + x) - sigma is x cut to multiples
// of 2^-53 sigma, and x - q is exact; the q of a block add up without rounding, in any order, since
// no partial sum exceeds sigma. What is left, at most 2^-53 sigma each, is cut again in units 42
// bits finer, and again; it must then be 0.
// Source: Rump, Ogita, Oishi, Accurate floating-point summation part I: faithful rounding (SIAM J.
//   Sci. Comput. 31, 2008), lemma 3.2.
bool SumExactly(const float* x, int64_t n, double sum[3]);
bool SumExactly(const double* x, int64_t n, double sum[3]);

}  // namespace assay::floating::internal

#endif  // ASSAY_NUMERICS_FLOATING_INTERNAL_EXACT_BLOCKS_H_
