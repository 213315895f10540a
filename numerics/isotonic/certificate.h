// SPDX-License-Identifier: Apache-2.0
//
// A proof that an isotonic fit is the optimal one, from the fit alone: no second fit is made, and
// nothing is shared with the code that makes fits.
//
// Let L(v) and H(v) be the ends of the interval of numbers that round to v. An increasing fit is
// the exact isotonic regression, correctly rounded, if and only if
//   1. it does not decrease;
//   2. over each run of equal values v, the weighted mean of every first part of the run, up to the
//      whole, is at least L(v) (or v is the lower bound);
//   3. likewise the mean of every last part is at most H(v) (or v is the upper bound).
// Why: by the min-max formula the exact fit at i is max over a <= i of min over b >= i of the mean
// of y[a .. b]. With a the start of i's run, y[a .. b] is a first part of the run, or the whole of
// it, of some later ones, and a first part of one more; all these means are at least L(v), as L
// does not decrease. So the exact fit is at least L(v); read from the right, at most H(v). The
// converse holds because a run is made of whole blocks of the exact fit.
// That each run keeps its total, and so does the fit, is condition 2 and 3 for the whole run.
//
// Every comparison is made without rounding, so one unit in the last place is told apart.
#ifndef ASSAY_NUMERICS_ISOTONIC_CERTIFICATE_H_
#define ASSAY_NUMERICS_ISOTONIC_CERTIFICATE_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "numerics/isotonic/isotonic.h"

namespace assay::isotonic {

// Proves that `fit` is what Fit promises for y, weights and options.
//   y, weights, options: as for Fit (options.pool is not used).
//   fit: [n], what is to be proven. Signs of zeros are not looked at.
//   half_ulps: how far the fit may lie from the exact one, in half steps between neighbouring
//     numbers of type T, at least 0 and at most 2^20. 1, the default, means correctly rounded: half
//     a step, where a tie goes to the even neighbour. 0 means exactly equal.
// OK: every element of the fit lies within that of the exact fit. For half_ulps <= 1 the converse
//   holds too. For a larger allowance the fit must also be constant over the blocks of the exact
//   one to pass.
// Fails with kFailedPrecondition, naming the element, what was found and what was expected; with
//   kInvalidArgument for what Fit refuses, or half_ulps out of range.
// Cost: linear: a pass from each end of every run, each with two products and a sign of an exact
//   sum an element. No memory.
[[nodiscard]] absl::Status Certify(std::span<const double> y, std::span<const double> weights,
                                   std::span<const double> fit, const Options& options = {},
                                   int half_ulps = 1);
[[nodiscard]] absl::Status Certify(std::span<const float> y, std::span<const float> weights,
                                   std::span<const float> fit, const Options& options = {},
                                   int half_ulps = 1);

// Proves that block_ends are the ends of the maximal blocks of the exact fit: ascending to n, no
// block split where the mean of a first part is below (for kDecreasing: above) the block's mean,
// means of neighbours strictly apart, and elements of weight 0 in the block whose fit they get.
// Fails as Certify does.
// Cost: linear: two passes, and for each block a comparison of products of exact totals. A total
//   has a word for each 64 binary places that its terms span, and an element of a block costs as
//   many products as the block's totals have words. No memory.
[[nodiscard]] absl::Status CertifyBlocks(std::span<const double> y, std::span<const double> weights,
                                         std::span<const int64_t> block_ends,
                                         Direction direction = Direction::kIncreasing);
[[nodiscard]] absl::Status CertifyBlocks(std::span<const float> y, std::span<const float> weights,
                                         std::span<const int64_t> block_ends,
                                         Direction direction = Direction::kIncreasing);

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_CERTIFICATE_H_
