// SPDX-License-Identifier: Apache-2.0
//
// pointwise.h: the loops around transforms, vectorised by Highway for the processor at hand; the
// same bits at any width.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_POINTWISE_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_POINTWISE_H_

#include <cstdint>

namespace assay::fft::internal {

// to[j] = x[j] y[j] for `count` interleaved complex numbers, conj(x[j]) and conj(to[j]) where asked
// for. `to` may be x.
void MultiplyPairs(const float* x, const float* y, int64_t count, bool conjugate_x,
                   bool conjugate_product, float* to);
void MultiplyPairs(const double* x, const double* y, int64_t count, bool conjugate_x,
                   bool conjugate_product, double* to);

// x[j] /= n. A division, not a product with 1/n: one rounding less, and exact for powers of two
// either way.
void Divide(float* x, int64_t count, int64_t n);
void Divide(double* x, int64_t count, int64_t n);

// The spectrum of 2m real samples from z = the transform of the m pairs (x[2j], x[2j + 1]): both
// hold m + 1 interleaved numbers, in place, z's last one is not read. With E and O the transforms
// of the even and the odd samples and w = exp(-pi i / m),
//   E[k] = (z[k] + conj z[m - k]) / 2,  O[k] = (z[k] - conj z[m - k]) / (2i),
//   X[k] = E[k] + w^k O[k],  X[m - k] = conj(E[k] - w^k O[k]).
//   twiddles: re, im of w^k for k = 0..m/2.
void SplitReal(float* z, int64_t m, const float* twiddles);
void SplitReal(double* z, int64_t m, const double* twiddles);

// Those steps undone, without the halves: z from the spectrum x of m + 1 numbers, so that the
// backward transform of z holds 2m samples, each 2m times as large. The imaginary parts of x[0] and
// x[m] are not read. z does not overlap x.
void MergeReal(const float* x, int64_t m, const float* twiddles, float* z);
void MergeReal(const double* x, int64_t m, const double* twiddles, double* z);

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_POINTWISE_H_
