// SPDX-License-Identifier: Apache-2.0
//
// gelu.h: the Gaussian error linear unit (Hendrycks and Gimpel, arXiv:1606.08415) over arrays, in
// place: the same bits on every machine, whatever the vector width.
//
//   Gelu(x) = x Phi(x) = x/2 (1 + erf(x / sqrt 2)).
//     Error: below 0.51 ulp in f32; in f64 5 ulp, 8 where the result is subnormal.
//   GeluTanh(x) = x/2 (1 + tanh(u)) = x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3).
//     Error: below 0.51 ulp in f32; in f64 14 |u| + 8 ulp, since -2 |u|, seven times rounded, is an
//     exponent.
//
// Both: -0 for -0 and -infinity, infinity and NaN for themselves. Computed in f64, with no
// cancellation for negative x: Phi(-t) = exp(-t^2 / 2) P / (1 + t), P a polynomial in 1 / (t + 4)
// (fitted as erfcx is in Shepherd and Laframboise, Math. Comp. 36 (1981)).
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_GELU_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_GELU_H_

#include <span>

namespace assay::gemm::internal {

void Gelu(std::span<float> x);
void Gelu(std::span<double> x);
void GeluTanh(std::span<float> x);
void GeluTanh(std::span<double> x);

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_GELU_H_
