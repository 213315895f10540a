// SPDX-License-Identifier: Apache-2.0
//
// convolve_2d.h: convolution of two images.
//
//   auto blurred = assay::fft::Convolve2d<float>(image, {1080, 1920}, kernel, {5, 5},
//                                                {.mode = assay::fft::ConvolveMode::kSame});
//
// Exact profile: same bits everywhere and on any number of threads.
#ifndef ASSAY_NUMERICS_FFT_CONVOLVE_2D_H_
#define ASSAY_NUMERICS_FFT_CONVOLVE_2D_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/fft/convolve.h"

namespace assay::fft {

// Rows and columns of a row-major image.
struct Extent2d {
  int64_t rows, columns;
};

// The size of the result: WantedOutputs' along either axis.
Extent2d ConvolvedSize(Extent2d a, Extent2d b, ConvolveMode mode);

// c[y, x] = sum over i, j of a[i, j] b[y - i, x - j], the outputs that the mode wants.
//   a: [a_size], b: [b_size], row-major, every extent >= 1. Returns [ConvolvedSize], row-major.
// Method: kDirect: a sum for each output, a's rows and in them its elements in rising order.
//   kFft: one real transform over both axes. kOverlapSave: tiles of the larger image. kAuto: the
//   cheapest by a count of operations, from the extents alone.
// Error of each output: direct, min(elements of a, of b) u times the sum of the terms' sizes;
//   otherwise Convolve2dErrorBound.
// Options: all of ConvolveOptions; the pool works on rows (direct) or tiles.
// Fails: kInvalidArgument if an extent is below 1 or does not match its span, the full size is
//   above kMaxSize, or kValid is asked for and neither image holds the other; kResourceExhausted
//   without memory for a plan.
template <class T>
absl::StatusOr<std::vector<T>> Convolve2d(std::span<const T> a, Extent2d a_size,
                                          std::span<const T> b, Extent2d b_size,
                                          ConvolveOptions options = {});

// As ConvolveErrorBound, for kFft and kOverlapSave (the larger of the two); sizes must be right
// (checked).
template <class T>
double Convolve2dErrorBound(std::span<const T> a, Extent2d a_size, std::span<const T> b,
                            Extent2d b_size, ConvolveMode mode = ConvolveMode::kFull);

// What kAuto decides; sizes must be right (checked).
ConvolveMethod ChooseConvolution2d(Extent2d a, Extent2d b, ConvolveMode mode = ConvolveMode::kFull);

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_CONVOLVE_2D_H_
