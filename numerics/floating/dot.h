// SPDX-License-Identifier: Apache-2.0
// Dot products with the error that each is proven to keep. Sums: sum.h, whose notation this is.
//
// d = the exact x . y, D = the exact |x| . |y|, r = what the function returns, u = 2^-53. Barring
// underflow of a product (which adds at most 2^-1074 for each, and for Dot2 of its low part) and
// overflow (which is mended, see below):
//
//              f64                        f32, f16, bf16                       cost an element
//              (f64)
//   Dot        gamma(ceil(lg n) + 1) D    v |r| + 2 gamma(ceil(lg n)) D        2 operations
//   Dot2       u |r| + gamma(n)^2 D       v |r| + 2^-52 |r| + gamma(n)^2 D     25
//   ExactDot   u |r|, correctly rounded   v |r|, correctly rounded             two exact sums + 17
//
// v = 2^-24: the three narrow types are multiplied in f64, exactly, and added up there; the result
// is an f32. gamma(k) = k u / (1 - k u).
// Sources: Higham, Accuracy and Stability of Numerical Algorithms (2nd ed., 2002), sec. 3.1 and
// 4.2, for Dot; Ogita, Rump, Oishi, Accurate sum and dot product (SIAM J. Sci. Comput. 26, 2005),
// algorithm 5.3, for Dot2. Products are split by Dekker's method: there is no fused operation in
// the exact profile. A fused twin of Dot2 could gain at most the factor by which it is slower than
// Dot, 1.2 from memory and 1.4 from the first-level cache, so there is none.
//
// Order. Dot and Dot2 use the virtual lanes of sum.h, 32 of f64: Dot as kPairwise adds, Dot2 as
// kNeumaier. ExactDot does not depend on the order.
//
// Values that are not finite, for all alike: a NaN, an infinity times 0, or infinite products of
// both signs give the canonical quiet NaN; infinite products of one sign that infinity; finite x
// and y whose products or partial sums overflow the correctly rounded d. Empty: +0. All products
// -0: -0; any other sum that comes out as zero: +0.
//
// Sizes must be equal (checked). Exact profile: the same bits natively, on every vector width and
// in wasm. No allocation.
#ifndef ASSAY_NUMERICS_FLOATING_DOT_H_
#define ASSAY_NUMERICS_FLOATING_DOT_H_

#include <cstdint>
#include <span>

#include "numerics/floating/half.h"

namespace assay::floating {

double Dot(std::span<const double> x, std::span<const double> y);
float Dot(std::span<const float> x, std::span<const float> y);
float Dot(std::span<const Half> x, std::span<const Half> y);
float Dot(std::span<const BFloat16> x, std::span<const BFloat16> y);

double Dot2(std::span<const double> x, std::span<const double> y);
float Dot2(std::span<const float> x, std::span<const float> y);
float Dot2(std::span<const Half> x, std::span<const Half> y);
float Dot2(std::span<const BFloat16> x, std::span<const BFloat16> y);

double ExactDot(std::span<const double> x, std::span<const double> y);
float ExactDot(std::span<const float> x, std::span<const float> y);
float ExactDot(std::span<const Half> x, std::span<const Half> y);
float ExactDot(std::span<const BFloat16> x, std::span<const BFloat16> y);

enum class DotMethod { kDot, kDot2, kExactDot };

// The bound of the table above as a number, rounded up by a relative 2^-50 at most. T: double, or
// float for all three narrow types.
//   n: number of elements.   abs_dot: D.   abs_result: |r|.
// Infinity where the formula does not hold.
template <class T>
double DotErrorBound(DotMethod method, int64_t n, double abs_dot, double abs_result);

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_DOT_H_
