// SPDX-License-Identifier: Apache-2.0
//
// The best fit that rises and then falls: f_0 <= ... <= f_mode >= ... >= f_(n-1).
//
//   const std::vector<double> y = {1, 3, 2, 5, 4, 0};
//   std::vector<double> fit(y.size());
//   auto best = assay::isotonic::FitUnimodal(y, /*weights=*/{}, fit);
//   // fit is 1, 2.5, 2.5, 5, 4, 0; best->mode is 3, best->error 0.5
#ifndef ASSAY_NUMERICS_ISOTONIC_UNIMODAL_H_
#define ASSAY_NUMERICS_ISOTONIC_UNIMODAL_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"

namespace assay::isotonic {

struct Unimodal {
  int64_t mode = 0;  // the first element whose fit is the largest
  double error = 0;  // sum of w_i (f_i - y_i)^2
};

// Minimises sum_i w_i (f_i - y_i)^2 over all f that rise up to some element and fall after it.
//   y: [n] finite, n >= 1. weights: [n] finite, >= 0, not all 0; or empty, for 1. An element of
//     weight 0 gets the fit of the last element before it that has a weight, or else of the first.
//   fit: [n] out. May be y itself. pool: threads for the two final fits, or null.
// Among all ways to cut the row into a rising and a falling part, the one of least error is taken,
// and of several the one with the shortest rising part, which has the first mode. Errors count as
// equal where they differ by at most n 2^-98 sum w y^2, more than the error of both together, so
// that ties of exact arithmetic are ties here. (The bound wants positive weights within 2^900 of
// each other.)
// Exact: the bits are the same on every machine. Given the cut, each value is the exact one rounded
//   once, as in isotonic.h. The error is that of the fit as returned, within 5 roundings; +infinity
//   where a term is beyond the range of f64.
// Cost: linear: a merge of two double words an element and side, and two fits; at most 128 bytes an
//   element beside fit.
// Fails with kInvalidArgument, and fit as it was, for n = 0, lengths that differ, a value that is
//   not finite, a negative weight and weights all 0.
// Source: Stout, Unimodal regression via prefix isotonic regression (Computational Statistics and
//   Data Analysis 53, 2008).
[[nodiscard]] absl::StatusOr<Unimodal> FitUnimodal(std::span<const double> y,
                                                   std::span<const double> weights,
                                                   std::span<double> fit,
                                                   ThreadPool* pool = nullptr);

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_UNIMODAL_H_
