// SPDX-License-Identifier: Apache-2.0
//
// What every fit of a row asks of its values and weights.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_CHECK_ROW_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_CHECK_ROW_H_

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

#include "absl/status/status.h"

namespace assay::isotonic::internal {

// x with as many digits as tell it from every other f64.
inline std::string Number(double x) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", x);
  return text;
}

// kInvalidArgument unless y is finite and weights are empty, or as many, finite, >= 0 and not all
// 0. Nothing to fit is no fault.
template <class T>
absl::Status CheckRow(std::span<const T> y, std::span<const T> weights) {
  if (!weights.empty() && weights.size() != y.size()) {
    return absl::InvalidArgumentError("y has " + std::to_string(y.size()) + " elements, weights " +
                                      std::to_string(weights.size()) + "; expected as many");
  }
  bool any = weights.empty();
  for (size_t i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) {
      return absl::InvalidArgumentError("y[" + std::to_string(i) + "] is " +
                                        Number(static_cast<double>(y[i])) +
                                        "; expected a finite number");
    }
    if (weights.empty()) continue;
    if (!(std::isfinite(weights[i]) && weights[i] >= 0)) {
      return absl::InvalidArgumentError("weights[" + std::to_string(i) + "] is " +
                                        Number(static_cast<double>(weights[i])) +
                                        "; expected a finite number >= 0");
    }
    any = any || weights[i] > 0;
  }
  if (!any) return absl::InvalidArgumentError("all weights are 0; expected one that is not");
  return absl::OkStatus();
}

// CheckRow, and a fit of the same length.
template <class T>
absl::Status CheckFit(std::span<const T> y, std::span<const T> weights, size_t fit_size) {
  if (absl::Status status = CheckRow(y, weights); !status.ok()) return status;
  if (fit_size == y.size()) return absl::OkStatus();
  return absl::InvalidArgumentError("y has " + std::to_string(y.size()) + " elements, fit " +
                                    std::to_string(fit_size) + "; expected as many");
}

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_CHECK_ROW_H_
