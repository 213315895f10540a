// SPDX-License-Identifier: Apache-2.0
//
// slices.h: convolution without rounding, by transforms of slices of the numbers' bits.
//
// All numbers of an operand are multiples of one power of two. Cut at the same places into digits
// of a few bits, each operand is a sum of slices, integers times 2^(low + width i). Two slices are
// multiplied by FFT; the width is such that the proved error of all products of one weight together
// is below 1/4, so rounding to integers makes them exact: where a tiny result stands beside a huge
// one, it is not touched by the huge one's rounding. After Ozaki, Ogita, Oishi, Rump, "Error-free
// transformations of matrix multiplication by using fast routines" (2012), for convolution.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_SLICES_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_SLICES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/floating/error_free.h"

namespace assay::fft::internal {

struct SlicedProduct {
  // The outputs times 2^shift as double words, each within bounds[k] of the truth. The largest
  // possible one is near 2^960, so none overflows.
  int shift = 0;
  std::vector<floating::HiLo<double>> values;
  std::vector<double> bounds;
  int transforms = 0;  // that it took
};

// How the operands would be cut.
struct SlicePlan {
  int width = 0;       // bits of a digit; 0: cannot be done
  int transforms = 0;  // real transforms of `size`
  int64_t size = 0;
  double error = 0;  // the proved error before rounding, below 1/4
};

// Chooses the width. a: [n], b: [m] finite, n, m >= 1. Cost: some passes over the numbers.
absl::StatusOr<SlicePlan> PlanSlices(std::span<const double> a, std::span<const double> b);

// The full convolution. The weights are added in double words from the lowest up; the bounds are
// what these sums lost (0 where nothing), plus 2^-1074 for each weight below the subnormals.
// Memory: a spectrum for each slice.
absl::StatusOr<SlicedProduct> ConvolveSlices(std::span<const double> a, std::span<const double> b,
                                             const SlicePlan& plan);

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_SLICES_H_
