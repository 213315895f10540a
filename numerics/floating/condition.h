// SPDX-License-Identifier: Apache-2.0
// How sensitive a problem is, and how wrong an answer came out.
//
// The condition number says by what factor a relative error of the input can grow in the output; it
// belongs to the problem, not to the program. An answer computed well has a relative error of about
// u times the condition number, and loses about log10 of it in decimal digits.
#ifndef ASSAY_NUMERICS_FLOATING_CONDITION_H_
#define ASSAY_NUMERICS_FLOATING_CONDITION_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "numerics/floating/error_free.h"

namespace assay::floating {

// (sum |x|) / |sum x|, both sums exact, the quotient rounded: error below 2 u.
// At least 1. Infinity if the sum is zero and some x is not; 1 for no or only zero elements; NaN if
// some x is not finite. Source: Higham (2002), sec. 4.1.
double SumCondition(std::span<const float> x);
double SumCondition(std::span<const double> x);

// 2 (|x| . |y|) / |x . y|, with exact dot products. Equal sizes (checked); special values as above.
// Source: Ogita, Rump, Oishi (2005), sec. 1.
double DotCondition(std::span<const double> x, std::span<const double> y);

// |x f'(x) / f(x)| from the value and the derivative: the relative condition number of f at x.
// 0 if x or f'(x) is 0 and f(x) is not; infinity if only f(x) is 0; NaN for 0/0.
inline double ScalarCondition(double x, double fx, double dfx) {
  return std::fabs(x * dfx) / std::fabs(fx);
}

// The same by its definition, without a derivative: the largest relative change of f over the
// relative change of x that caused it, for x(1 + h) and x(1 - h). Cost: three calls of f.
//   f: double -> double.   h: 2^-26 by default, where the error of the difference quotient (about
//   h + u/h relative to the condition number's own scale) is least.
template <class Function>
double ScalarConditionByDefinition(Function f, double x, double h = 0x1p-26) {
  const double at = f(x);
  double worst = 0;
  for (const double sign : {1.0, -1.0}) {
    const double moved = x + sign * h * x;
    const double input = std::fabs((moved - x) / x);
    const double output = std::fabs((f(moved) - at) / at);
    worst = std::fmax(worst, output / input);
  }
  return worst;
}

// The error of a computed number against a reference that is known more exactly.
struct ErrorReport {
  double absolute;  // |computed - reference|
  double relative;  // absolute / |reference|; 0 for 0/0, infinity for nonzero/0
  double ulps;      // absolute in units in the last place of T at the reference
  double digits;    // correct decimal digits, -log10(relative), at least 0; 17 (f64) or 9 (f32) at
                    // most, which exactness gives
};

// reference: hi + lo, a double word for f64 (lo = 0 where it is exact in f64), an f64 for f32.
// Both not finite and equal, or both NaN: no error. One of them not finite: infinite errors, 0
// digits.
ErrorReport CompareWith(float computed, double reference);
ErrorReport CompareWith(double computed, HiLo<double> reference);

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_CONDITION_H_
