// SPDX-License-Identifier: Apache-2.0
// Six ways to add a list of numbers, under one call, with the error that each is proven to keep.
//
// Notation: S = the exact sum of x[0..n-1], A = the exact sum of |x[i]|, u = unit roundoff (2^-24
// for f32, 2^-53 for f64), s = what the function returns. Every bound holds whenever no
// intermediate result overflows; underflow does no harm, since an addition that underflows is
// exact.
//
//   method          |s - S| at most              cost an element      kept in
//   kNaive          (n - 1) u A                  1 addition           one number
//   kPairwise       gamma(ceil(lg n)) A          1 addition           2 lg n numbers a lane
//   kKahan          u|s| + (2u + 4 n u^2) A      4 additions          2 numbers a lane
//   kNeumaier       u|s| + gamma(n)^2 A          7 additions          2 numbers a lane
//   kDoubleDouble   u|s| + 4 n u^2 A             10 additions         2 numbers a lane
//   kExact          u|s|, correctly rounded      18 additions          140 integers
//
// gamma(k) = k u / (1 - k u). kKahan asks for n u <= 0.1 (n up to 1.6 million in f32).
// Sources: kNaive: Jeannerod and Rump, Improved error bounds for inner products in floating-point
// arithmetic (SIAM J. Matrix Anal. Appl. 34, 2013), which needs no limit on n. kPairwise: Higham,
// Accuracy and Stability of Numerical Algorithms (2nd ed., 2002), sec. 4.2. kKahan: derived in
// sum.cc, in the manner of Knuth and Goldberg (1991). kNeumaier: Ogita, Rump, Oishi, Accurate sum
// and dot product (SIAM J. Sci. Comput. 26, 2005), prop. 4.5. kDoubleDouble: error_free.h.
//
// Order. kNaive adds from left to right. kExact does not depend on the order. The other four use
// virtual lanes: with L = 256 / sizeof(T) lanes (64 f32, 32 f64), element i belongs to lane i mod
// L, and lanes j and j + L/2, then j and j + L/4, ... are combined at the end. The lanes are the
// same on every machine whatever its vectors hold, hence so are the bits. For the textbook order,
// one number after the other, see sum_reference.h.
//
// Values that are not finite, for every method alike (kNaive excepted where it says so):
//   a NaN in x, or infinities of both signs: the canonical quiet NaN
//   infinities of one sign: that infinity
//   finite x whose partial sums overflow: the correctly rounded S (an infinity only if S is out of
//     range); kNaive returns the infinity that its partial sum reached
//   empty x: +0.   All elements -0: -0.   Any other sum that comes out as zero: +0.
//
// Exact profile: the same bits natively, in wasm and on every vector width. No allocation.
#ifndef ASSAY_NUMERICS_FLOATING_SUM_H_
#define ASSAY_NUMERICS_FLOATING_SUM_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "numerics/floating/error_free.h"
#include "numerics/floating/half.h"

namespace assay::floating {

enum class SumMethod {
  kNaive,         // left to right
  kPairwise,      // balanced binary tree over the lanes
  kKahan,         // compensated, the correction fed into the next addition
  kNeumaier,      // compensated, the corrections added up apart and applied once at the end
  kDoubleDouble,  // the running sum is an unevaluated pair, renormalised at every step
  kExact,         // fixed-point register, rounded once
};

inline constexpr std::array<SumMethod, 6> kSumMethods = {
    SumMethod::kNaive,    SumMethod::kPairwise,     SumMethod::kKahan,
    SumMethod::kNeumaier, SumMethod::kDoubleDouble, SumMethod::kExact};

// "naive", "pairwise", "kahan", "neumaier", "double_double", "exact".
std::string_view SumMethodName(SumMethod method);

// Adds x[0] .. x[n-1] by `method`. Error, order, special values: above.
float Sum(std::span<const float> x, SumMethod method);
double Sum(std::span<const double> x, SumMethod method);
// f16 and bf16 in the arithmetic of f32, each number widened exactly; bounds as for f32.
float Sum(std::span<const Half> x, SumMethod method);
float Sum(std::span<const BFloat16> x, SumMethod method);

// The bound of the table above as a number, rounded up by a relative 2^-50 at most.
//   n: number of elements, at least 0.   abs_sum: A.   abs_result: |s|.
// T chooses u. Returns 0 for n = 0 and infinity where the formula does not hold (n u too large).
template <BinaryFloat T>
double SumErrorBound(SumMethod method, int64_t n, double abs_sum, double abs_result);

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_SUM_H_
