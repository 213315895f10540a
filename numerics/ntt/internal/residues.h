// SPDX-License-Identifier: Apache-2.0
//
// residues.h: from integers to residues modulo several primes, and back by the Chinese remainder
// theorem. Vectorised by Highway like kernels.h; any lengths.
#ifndef ASSAY_NUMERICS_NTT_INTERNAL_RESIDUES_H_
#define ASSAY_NUMERICS_NTT_INTERNAL_RESIDUES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "numerics/ntt/internal/kernels.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt::internal {

// The primes k 2^23 + 1 between 2^29 and 2^30, largest first: transforms up to 2^23, lazy ones, and
// Garner's differences stay below 2^32 without a thought. The first five together exceed
// 2^148.
inline constexpr int kPrimes = 6;
inline constexpr int kPrimeLog = 23;
inline constexpr std::array<uint32_t, kPrimes> kPrime = {998244353, 897581057, 880803841,
                                                         754974721, 645922817, 595591169};

// Whether all n numbers are below m, 1 <= m <= 2^63.
bool AllBelow(const uint64_t* x, size_t n, uint64_t m);
// to[i] := from[i], and returns the largest; more than 32 bits count as 2^32 - 1.
uint32_t Pack(const uint64_t* from, size_t n, uint32_t* to);
// to[i] := from[i].
void Unpack(const uint32_t* from, size_t n, uint64_t* to);
// to[i] := from[i] mod p, canonical. As signed numbers if `is_signed`. p below 2^30.
void Reduce(const Tables& tables, const uint64_t* from, bool is_signed, size_t n, uint32_t* to);

// Of residues modulo kPrime[0..count), Backward's values, the digits of the number they stand for
// in the mixed radix of these primes: x = d0 + p0 (d1 + p1 (d2 + ...)), 0 <= d_i < p_i. In place.
// Source: Garner, The residue number system (1959); Knuth, TAOCP 2, sec. 4.3.2.
void Garner(uint32_t* const* digits, int count, size_t n);

// With digits of one or two primes: the number nearest to 0 among those they stand for.
void NearestToZero(const uint32_t* const* digits, int count, size_t n, int64_t* to);
// sum of digit i times weight i modulo m, 2 <= m < 2^31, of up to three digits; weights below m.
void WeightedSum(const uint32_t* const* digits, int count, const uint32_t* weights, uint32_t m,
                 size_t n, uint64_t* to);

}  // namespace assay::ntt::internal

#endif  // ASSAY_NUMERICS_NTT_INTERNAL_RESIDUES_H_
