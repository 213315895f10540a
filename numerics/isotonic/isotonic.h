// SPDX-License-Identifier: Apache-2.0
//
// Isotonic regression: the nondecreasing sequence nearest to a row of numbers.
//
//   const std::vector<double> y = {1, 3, 2, 4};
//   std::vector<double> fit(y.size());
//   absl::Status status = assay::isotonic::Fit(y, /*weights=*/{}, fit);   // 1, 2.5, 2.5, 4
//
// The fit f minimises sum_i w_i (f_i - y_i)^2 subject to f_0 <= f_1 <= ... It is the slope of the
// greatest convex minorant of the running totals (sum w, sum w y): a string pulled tight under
// them. It is constant over blocks, and a block's value is the weighted mean of its elements.
//
// The result is *the* result: every comparison of two means is decided as exact arithmetic decides
// it, and every value is the exact mean rounded once, to nearest, ties to even. So the bits depend
// on nothing but the input: not on threads, vector width, compiler or algorithm.
//
// Blocks are maximal: two blocks side by side have different exact means (their rounded values may
// still be equal).
#ifndef ASSAY_NUMERICS_ISOTONIC_ISOTONIC_H_
#define ASSAY_NUMERICS_ISOTONIC_ISOTONIC_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"

namespace assay::isotonic {

enum class Direction {
  kIncreasing,  // f_0 <= f_1 <= ...
  kDecreasing,  // f_0 >= f_1 >= ...
};

struct Options {
  Direction direction = Direction::kIncreasing;
  // Bounds of the fit: the fit within them is the free fit, clipped. lower <= upper; infinite means
  // none. A bound that the type of the fit does not have is rounded to nearest.
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  // Threads to work with; null: the caller alone. The result does not depend on it.
  ThreadPool* pool = nullptr;
};

// The isotonic fit of one row.
//   y: [n] f32 or f64, finite. n >= 0.
//   weights: [n] finite, >= 0, not all 0; or empty, for weights of 1. An element of weight 0 takes
//     no part: it gets the fit of the last element before it that has a weight, or else of the
//     first.
//   fit: [n] out. May be y itself; otherwise it must not overlap y or weights.
//   block_ends: out, if not null: the end (one past the last element) of each block, ascending; the
//     last is n. Elements of weight 0 belong to the block whose fit they get. Bounds do not merge
//     blocks.
// Exact: correctly rounded, see above. -0 in y counts as 0, and a mean of 0 is +0.
// Cost: linear. Memory beside fit: n / 8 bytes; copies of y and weights for a decreasing fit or a
//   row with gaps, and of fit as well for weights of 0. Where values or weights of one row span
//   more than 2^400, most means are compared exactly, at up to some microseconds an element.
// Fails with kInvalidArgument, and fit and block_ends as they were, if lengths differ, a value is
//   NaN or infinite, a weight is negative, all weights of a nonempty row are 0, lower > upper,
//   lower is +infinity, upper is -infinity, a bound is NaN, or n >= 2^34.
// Source: Ayer, Brunk, Ewing, Reid, Silverman 1955 (pool adjacent violators); Barlow, Bartholomew,
//   Bremner, Brunk 1972 (the minorant); Kearsley, Tapia, Trosset 1996 (pooled parts may be pooled
//   apart, which is what makes the work divisible).
[[nodiscard]] absl::Status Fit(std::span<const double> y, std::span<const double> weights,
                               std::span<double> fit, const Options& options = {},
                               std::vector<int64_t>* block_ends = nullptr);
[[nodiscard]] absl::Status Fit(std::span<const float> y, std::span<const float> weights,
                               std::span<float> fit, const Options& options = {},
                               std::vector<int64_t>* block_ends = nullptr);

// The same for each row of a matrix by itself; long rows are shared among the threads, short ones
// dealt out.
//   y: [rows, n], any strides. weights: [rows, n], or 0 x 0 for weights of 1; row_stride 0 uses one
//   row for all. fit: [rows, n] out; may be y itself.
// Fails as Fit does, naming the row, with every row of fit as it was.
[[nodiscard]] absl::Status FitRows(MatrixView<const double> y, MatrixView<const double> weights,
                                   MatrixView<double> fit, const Options& options = {});
[[nodiscard]] absl::Status FitRows(MatrixView<const float> y, MatrixView<const float> weights,
                                   MatrixView<float> fit, const Options& options = {});

// The fit of labels: the rate of ones, made nondecreasing. As Fit of the same numbers, faster.
//   labels: [n], each 0 or 1. fit: [n] out.
// Fails with kInvalidArgument if lengths differ or a label is neither, and as Fit for bounds.
[[nodiscard]] absl::Status FitLabels(std::span<const uint8_t> labels, std::span<double> fit,
                                     const Options& options = {},
                                     std::vector<int64_t>* block_ends = nullptr);

// The fit of rates successes[i] / totals[i], weighted by totals[i], in integers.
//   successes: [n]; totals: [n], >= 0, not all 0; the sums of totals and of |successes| < 2^62.
//   An element of total 0 must have 0 successes, and is treated as one of weight 0.
// Everything else is as for Fit.
[[nodiscard]] absl::Status FitCounts(std::span<const int64_t> successes,
                                     std::span<const int64_t> totals, std::span<double> fit,
                                     const Options& options = {},
                                     std::vector<int64_t>* block_ends = nullptr);

// Derivatives of a loss L through the fit.
//   y, weights, fit, block_ends: what Fit was given and gave (weights may be empty).
//   upstream: [n] dL/dfit_i.
//   gradient_y: [n] out: (w_i / W_B) sum of upstream over i's block B, where W_B is B's weight.
//   gradient_weights: [n] out: ((y_i - mean_B) / W_B) sum of upstream over B; or empty, if
//   unwanted. Both are 0 in a block whose fit lies on or beyond a bound of options. gradient_y may
//   be upstream; otherwise neither may overlap an input.
// The fit has no derivative where two blocks meet at equal means; what is given there is the
// one-sided derivative that keeps the blocks. An element of weight 0 passes its upstream to its
// block, and its gradient_y is 0.
// Error: each value within 4 roundings of the exact one, relative to the same sums of absolute
//   values.
// Cost: linear.
// Fails with kInvalidArgument if lengths differ or block_ends do not ascend up to n.
[[nodiscard]] absl::Status Gradient(std::span<const double> y, std::span<const double> weights,
                                    std::span<const double> fit,
                                    std::span<const int64_t> block_ends,
                                    std::span<const double> upstream, const Options& options,
                                    std::span<double> gradient_y,
                                    std::span<double> gradient_weights);
[[nodiscard]] absl::Status Gradient(std::span<const float> y, std::span<const float> weights,
                                    std::span<const float> fit, std::span<const int64_t> block_ends,
                                    std::span<const float> upstream, const Options& options,
                                    std::span<float> gradient_y, std::span<float> gradient_weights);

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_ISOTONIC_H_
