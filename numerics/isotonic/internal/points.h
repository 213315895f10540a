// SPDX-License-Identifier: Apache-2.0
//
// The elements of a row that take part in a fit, and the way back to the row.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_POINTS_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_POINTS_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "numerics/isotonic/isotonic.h"

namespace assay::isotonic::internal {

// The elements that have a weight, in the order in which the fit increases; -0 as 0.
struct Points {
  Points(std::span<const double> all_y, std::span<const double> all_weights, Direction direction) {
    y.reserve(all_y.size());
    weights.reserve(all_y.size());
    for (size_t i = 0; i < all_y.size(); ++i) {
      if (!all_weights.empty() && all_weights[i] == 0) continue;
      y.push_back(all_y[i] + 0.0);
      weights.push_back(all_weights.empty() ? 1.0 : all_weights[i]);
    }
    if (direction == Direction::kDecreasing) {
      std::reverse(y.begin(), y.end());
      std::reverse(weights.begin(), weights.end());
    }
  }
  size_t size() const { return y.size(); }

  std::vector<double> y, weights;
};

// Gives the points' values, at least one, to all elements of the row, clipped: an element of weight
// 0 gets that of the last point before it, or else of the first.
inline void Expand(std::span<const double> values, std::span<const double> weights,
                   const Options& options, std::span<double> fit) {
  const bool decreasing = options.direction == Direction::kDecreasing;
  for (size_t i = 0, count = 0; i < fit.size(); ++i) {
    if (weights.empty() || weights[i] > 0) ++count;
    const size_t point = count == 0 ? 0 : count - 1;
    const double value = values[decreasing ? values.size() - 1 - point : point];
    fit[i] = std::clamp(value, options.lower, options.upper);
  }
}

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_POINTS_H_
