// SPDX-License-Identifier: Apache-2.0
//
// bounds.h: the pieces of the proof in convolve.h, ConvolveErrorBound.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_BOUNDS_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_BOUNDS_H_

#include <cmath>
#include <span>

#include "numerics/fft/fft.h"
#include "numerics/fft/internal/plan_tables.h"

namespace assay::fft::internal {

// An upper bound on |x|_2; the sum's rounding is paid for by the last factor. Neither large nor
// small elements leave the range on the way.
template <class T>
double NormBound(std::span<const T> x) {
  double sum = 0, largest = 0;
  for (const T& v : x) {
    const double magnitude = std::fabs(static_cast<double>(v));
    sum += magnitude * magnitude;
    if (magnitude > largest) largest = magnitude;
  }
  if (!(sum > 1e-280 && sum < 1e300) && largest > 0 && std::isfinite(largest)) {
    sum = 0;
    for (const T& v : x) {
      const double share = static_cast<double>(v) / largest;
      sum += share * share;
    }
    return largest * (std::sqrt(sum) * (1 + 1e-5));
  }
  return std::sqrt(sum) * (1 + 1e-5);
}

// b such that every coefficient made through a plan with these bounds (2-norm, path) is within
// b |a|_2 |b|_2 of the truth when `terms` products of spectra are added before the inverse
// transform.
template <class T>
double BoundFactor(double l2, double path, int terms) {
  // The inverse transform takes a spectrum of up to (1 + 2 l2) times the true size; the last u is
  // the division by N.
  return 1.01 * (2 * l2 + l2 * l2 + (2.2361 + (terms - 1)) * kUnit<T> + path + kUnit<T>);
}

template <class T>
double BoundFactor(const RealPlan<T>& plan, int terms) {
  return BoundFactor<T>(plan.L2ErrorBound(), plan.PathErrorBound(), terms);
}

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_BOUNDS_H_
