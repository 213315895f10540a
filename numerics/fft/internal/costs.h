// SPDX-License-Identifier: Apache-2.0
//
// costs.h: what the ways of convolution cost, for the choice among them. Units of one product of
// the direct sums; doubles, so that nothing overflows. The choice is part of the bits, so it
// depends on lengths alone and is the same everywhere.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_COSTS_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_COSTS_H_

#include <cstdint>

namespace assay::fft::internal {

// The least b with 2^b >= n.
constexpr int Log2Ceil(int64_t n) {
  int bits = 0;
  while ((int64_t{1} << bits) < n) ++bits;
  return bits;
}

// One real transform of n samples. Measured with AVX-512 in one run with the direct sums, f64 and
// f32 alike: see README.md.
constexpr double RealTransformCost(int64_t n) {
  return static_cast<double>(n) * (3.0 * Log2Ceil(n) + 12);
}

// A plan for n, tables included.
constexpr double PlanCost(int64_t n) { return 60.0 * static_cast<double>(n); }

// Direct sums of `products` products for `outputs` outputs.
constexpr double DirectCost(double products, double outputs) { return products + 8 * outputs; }

// One transform long enough for everything.
constexpr double WholeCost(int64_t size) { return 3 * RealTransformCost(size) + PlanCost(size); }

// Blocks of `size` for a filter of m taps.
constexpr double BlocksCost(int64_t m, int64_t size, double outputs) {
  const double step = static_cast<double>(size - m + 1);
  const double blocks = outputs / step < 1 ? 1 : outputs / step + 0.5;
  return (2 * blocks + 1) * RealTransformCost(size) + PlanCost(size);
}

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_COSTS_H_
