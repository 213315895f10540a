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

// Measured with AVX-512 in one run, where a product took 0.034 ns in f64 (BM_Routes_* of
// transforms_benchmark); f32 has the same ratios within a factor of two.

// One real transform of n samples: 15 units a sample at 2^10, 60 at 2^20, and a call.
constexpr double RealTransformCost(int64_t n) {
  const double bits = Log2Ceil(n), beyond_cache = bits > 12 ? 3.5 * (bits - 12) : 0;
  return static_cast<double>(n) * (bits + 4 + beyond_cache) + 1000;
}

// A plan for n, tables included.
constexpr double PlanCost(int64_t n) { return 120.0 * static_cast<double>(n) + 30000; }

// Memory for the outputs, which the system clears, and copies of operands.
constexpr double MemoryCost(double outputs) { return 40 * outputs; }

// Direct sums of `products` products for `outputs` outputs.
constexpr double DirectCost(double products, double outputs) {
  return products + MemoryCost(outputs);
}

// One transform long enough for everything.
constexpr double WholeCost(int64_t size) {
  return 3 * RealTransformCost(size) + PlanCost(size) + MemoryCost(static_cast<double>(size));
}

// Blocks of `size` for a filter of m taps.
constexpr double BlocksCost(int64_t m, int64_t size, double outputs) {
  const double step = static_cast<double>(size - m + 1);
  const double blocks = outputs / step < 1 ? 1 : outputs / step + 0.5;
  return (2 * blocks + 1) * RealTransformCost(size) + PlanCost(size) + 1.1 * MemoryCost(outputs);
}

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_COSTS_H_
