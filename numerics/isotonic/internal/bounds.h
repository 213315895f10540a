// SPDX-License-Identifier: Apache-2.0
//
// The bounds of a fit, checked and as the type of the fit has them.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_BOUNDS_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_BOUNDS_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/isotonic/isotonic.h"

namespace assay::isotonic::internal {

inline absl::Status CheckOptions(const Options& options) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (options.lower <= options.upper && options.lower < kInfinity && options.upper > -kInfinity) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("lower is ", options.lower, " and upper ", options.upper,
                   "; expected lower <= upper with finite numbers between them"));
}

// The nearest T, so the largest finite one for a finite bound beyond it. -0 becomes 0.
template <class T>
T RoundBound(double bound) {
  constexpr double kMax = std::numeric_limits<T>::max();
  if (std::isinf(bound)) return static_cast<T>(bound);
  return static_cast<T>(std::clamp(bound, -kMax, kMax)) + T{0};
}

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_BOUNDS_H_
