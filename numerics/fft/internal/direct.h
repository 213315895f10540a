// SPDX-License-Identifier: Apache-2.0
//
// direct.h: the inner loops of convolution, vectorised by Highway for the processor at hand.
//
// Every output adds its products one after the other, in an order that the caller sets, whatever
// the width of the vectors: the bits do not depend on the processor.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_DIRECT_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_DIRECT_H_

#include <cstdint>

namespace assay::fft::internal {

// How many elements before and after the long operand must be readable; their values do not matter.
inline constexpr int64_t kMargin = 128;

// Which way the terms of a sum come.
enum class Order { kRising, kFalling };

// to[k - begin] += sum over i of s[i] l[k - i] for k in [begin, end), the terms in rising or
// falling order of i, those with k - i outside [0, long_size) left out.
//   s: [short_size]. l: [long_size], with kMargin readable elements on either side.
// Cost: (end - begin) short_size products at most, one vector of them in about half a cycle.
void AddProducts(const float* s, int64_t short_size, const float* l, int64_t long_size,
                 int64_t begin, int64_t end, Order order, float* to);
void AddProducts(const double* s, int64_t short_size, const double* l, int64_t long_size,
                 int64_t begin, int64_t end, Order order, double* to);

// x[k] = x[k] y[k] for `count` complex numbers: re re - im im, re im + im re, each product and sum
// rounded.
void MultiplySpectra(float* x, const float* y, int64_t count);
void MultiplySpectra(double* x, const double* y, int64_t count);

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_DIRECT_H_
