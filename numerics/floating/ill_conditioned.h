// SPDX-License-Identifier: Apache-2.0
// Sums and dot products that are as hard as asked for: test data with a prescribed condition
// number.
//
// Exact profile: the same numbers everywhere for the same state of the generator. Cost: n exact
// accumulations and roundings.
// Source: Ogita, Rump, Oishi, Accurate sum and dot product (2005), algorithm 6.1 (GenDot); the
//   sum is made in the same way.
#ifndef ASSAY_NUMERICS_FLOATING_ILL_CONDITIONED_H_
#define ASSAY_NUMERICS_FLOATING_ILL_CONDITIONED_H_

#include <cstdint>
#include <vector>

#include "numerics/core/random.h"
#include "numerics/floating/error_free.h"

namespace assay::floating {

// n >= 6 numbers (checked) in random order whose sum has a condition number within a factor of
// 100 of max(condition, n). Checked: condition from 1 to 1e300 in f64, to 1e30 in f32. Each step of
// the second half removes at most the 53 or 24 bits of one number, so n must be at least 2
// log2(condition) / 40 (f64) or / 20 (f32), or the goal is missed. Half of them have exponents
// spread from 0 to log2(condition); each of the others is the rounded difference between the exact
// sum so far and a random number of falling exponent. Consumes from `random`: 2 doubles an element
// and one permutation.
template <BinaryFloat T>
std::vector<T> IllConditionedSum(int64_t n, double condition, Random& random);

struct HardDot {
  std::vector<double> x;
  std::vector<double> y;
};

// Two vectors of n >= 6 numbers in random order whose dot product has about that condition number
// (1 to 1e250, as above). Consumes: 3 doubles an element at most and one permutation.
HardDot IllConditionedDot(int64_t n, double condition, Random& random);

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_ILL_CONDITIONED_H_
