// SPDX-License-Identifier: Apache-2.0
// Norms that neither overflow nor underflow where their value does not: the sum of squares is taken
// plainly, and only where it leaves the range again, with x scaled by a power of two.
//
// Error, u the unit roundoff of the type, n elements, barring subnormal results (1 ulp more):
//                f64                                  f32
//   Norm1        gamma(ceil(lg n)) relative           u relative and 2^-52 lg n
//   Norm2        gamma(ceil(lg n) + 1) / 2 + u        u relative and 2^-52 lg n
//   NormInf      exact                                exact
//   Hypot        0.51 ulp                             0.5001 ulp
// gamma(k) = k u / (1 - k u). f32 is added up in f64.
// Sources: Higham, Accuracy and Stability of Numerical Algorithms (2nd ed., 2002), sec. 27.8, for
// the problem; Blue, A portable Fortran program to find the Euclidean norm of a vector (ACM TOMS 4,
// 1978) keeps three sums apart instead, which costs every element what here only vectors of extreme
// size pay, with a second reading. Borges, Algorithm 1014: an improved algorithm for hypot(x, y)
// (ACM TOMS 47, 2020), for the correction of Hypot.
//
// Special values, for all alike, as C99 has it for hypot: an infinity gives +infinity, even beside
// a NaN (whatever the NaN stands for, the norm is infinite); otherwise a NaN gives the canonical
// quiet NaN. Empty: +0. The result is never -0, and is 0 only if all x are.
//
// Order: the virtual lanes of sum.h, pairwise. Exact profile: the same bits natively, on every
// vector width and in wasm. No allocation.
#ifndef ASSAY_NUMERICS_FLOATING_NORM_H_
#define ASSAY_NUMERICS_FLOATING_NORM_H_

#include <cstdint>
#include <span>

namespace assay::floating {

// The sum of |x[i]|.
double Norm1(std::span<const double> x);
float Norm1(std::span<const float> x);

// The square root of the sum of x[i]^2.
double Norm2(std::span<const double> x);
float Norm2(std::span<const float> x);

// The largest |x[i]|.
double NormInf(std::span<const double> x);
float NormInf(std::span<const float> x);

// sqrt(x^2 + y^2), sqrt(x^2 + y^2 + z^2).
double Hypot(double x, double y);
double Hypot(double x, double y, double z);
float Hypot(float x, float y);
float Hypot(float x, float y, float z);

enum class NormKind { kOne, kTwo, kInfinity };

// The bound of the table above as a number, rounded up, for the result r of a norm of n elements:
// |r - exact| is at most this. T: float or double.
template <class T>
double NormErrorBound(NormKind kind, int64_t n, double result);

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_NORM_H_
