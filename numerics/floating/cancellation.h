// SPDX-License-Identifier: Apache-2.0
// Two classic problems in which subtracting close numbers destroys digits, each solved naively and
// stably: the roots of a quadratic and the variance of data far from zero.
//
// T is float or double. Exact profile; no allocation.
#ifndef ASSAY_NUMERICS_FLOATING_CANCELLATION_H_
#define ASSAY_NUMERICS_FLOATING_CANCELLATION_H_

#include <cstdint>
#include <span>

#include "numerics/floating/error_free.h"

namespace assay::floating {

// Real roots of a x^2 + b x + c, in ascending order. count: 0, 1 (a = 0, or a double root) or 2;
// -1 for "every x" (a = b = c = 0). Roots beyond count are NaN.
template <class T>
struct Roots {
  int count;
  T first;
  T second;
};

// The school formula (-b +- sqrt(b^2 - 4 a c)) / (2 a). When b^2 is much larger than |4 a c|, one
// of the two numerators subtracts close numbers and keeps about 2 p - log2(b^2 / |4 a c|) of p
// bits. Overflows when b^2 or 4 a c does. A NaN or infinite coefficient: count 0.
template <BinaryFloat T>
Roots<T> NaiveQuadraticRoots(T a, T b, T c);

// The same without cancellation, for any finite coefficients: with h = b / 2 and the discriminant
// d = h^2 - a c in double words, which cannot cancel, s = -(h + sign(h) sqrt(d)), roots s / a and
// c / s. x is scaled so that |a| and |c| come within a factor of four of each other, and the
// coefficients so that they come near 1; b can then be far larger or smaller, which settles it.
// Error: 0.51 ulp for each root within the normal range (f32: 0.5001), 1 ulp where it is subnormal;
// infinite only where the root is out of range. The count is right: d is never rounded to 0 nor
// across it. A NaN or infinite coefficient: count 0. Cost: about 200 operations.
// Source: Kahan, On the cost of floating-point computation without extra-precise arithmetic (2004),
//   for the problem; double words as in error_free.h.
template <BinaryFloat T>
Roots<T> QuadraticRoots(T a, T b, T c);

// Complex roots as well. count as above, but where there is no real root it is 2, and the roots are
// conjugate, the one with the negative imaginary part first.
// Error: each part of a complex root 0.51 ulp as above.
template <class T>
struct Complex {
  T re;
  T im;
};
template <class T>
struct ComplexRoots {
  int count;
  Complex<T> first;
  Complex<T> second;
};
template <BinaryFloat T>
ComplexRoots<T> ComplexQuadraticRoots(T a, T b, T c);

enum class VarianceMethod {
  kOnePass,           // (sum x^2 - (sum x)^2 / n) / (n - 1): cancels, may even be negative
  kTwoPass,           // mean first, then sum (x - mean)^2 / (n - 1)
  kTwoPassCorrected,  // minus (sum (x - mean))^2 / n, which removes the error of the mean
  kWelford,           // one pass with a running mean
};

// The sample variance of x (n >= 2; NaN for fewer), all sums from left to right in T.
// With k = |x| / (sqrt(n - 1) standard deviation), the condition number of the problem, and u the
// unit roundoff, the relative error is at most about
//   kOnePass: n u k^2;  kTwoPass: n u + n^2 u^2 k^2;  kTwoPassCorrected: n u + n^3 u^3 k^2;
//   kWelford: n u k.
// A NaN or infinity in x: NaN. Overflows where the squares do; moments.h does not, and is faster
// and better.
// Source: Chan, Golub, LeVeque, Algorithms for computing the sample variance (The American
//   Statistician 37, 1983).
template <BinaryFloat T>
T Variance(std::span<const T> x, VarianceMethod method);

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_CANCELLATION_H_
