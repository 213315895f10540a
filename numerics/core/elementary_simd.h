// SPDX-License-Identifier: Apache-2.0
//
// The elementary functions over arrays, by vector instructions: each element gets the bits that the
// scalar function of elementary.h gives it, on every machine and whatever the vector width.
//
// In all functions x and y have the same size (checked) and are the same array or do not overlap;
// no alignment is asked for. Errors and special cases: as in elementary.h. Cost: O(n), no
// allocation. The widest instructions that the machine has are chosen at run time (Highway); floats
// are computed in double lanes.
#ifndef ASSAY_NUMERICS_CORE_ELEMENTARY_SIMD_H_
#define ASSAY_NUMERICS_CORE_ELEMENTARY_SIMD_H_

#include <span>

namespace assay {

// y[i] = Exp(x[i]).
void Exp(std::span<const float> x, std::span<float> y);
void Exp(std::span<const double> x, std::span<double> y);

// y[i] = Log(x[i]).
void Log(std::span<const float> x, std::span<float> y);
void Log(std::span<const double> x, std::span<double> y);

// y[i] = Tanh(x[i]).
void Tanh(std::span<const float> x, std::span<float> y);

// y[i] = Sin(x[i]), Cos(x[i]). Elements beyond 1.5 2^20 in magnitude are computed one at a time.
void Sin(std::span<const float> x, std::span<float> y);
void Cos(std::span<const float> x, std::span<float> y);

// sine[i], cosine[i] = SinCosPi(x[i]). Elements outside [2^-200, 1/4] are computed one at a time.
void SinCosPi(std::span<const double> x, std::span<double> sine, std::span<double> cosine);

}  // namespace assay

#endif  // ASSAY_NUMERICS_CORE_ELEMENTARY_SIMD_H_
