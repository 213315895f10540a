// SPDX-License-Identifier: Apache-2.0
//
// checked_convolve.h: convolution that knows how wrong each output may be, and mends what is too
// wrong.
//
//   auto c = assay::fft::ConvolveChecked<double>(a, b, {.tolerance = 1e-9});
//   // |c->values[k] - truth| <= c->bounds[k] for every k, whatever the sizes of the numbers.
//
// A convolution by FFT is accurate against the largest outputs only: its error, the same
// everywhere, can be many times a small output. Here that error is bounded by a proof, compared
// with every output, and the outputs that fail are computed again.
//
// Exact profile: same bits everywhere; the route depends on lengths and values alone.
#ifndef ASSAY_NUMERICS_FFT_CHECKED_CONVOLVE_H_
#define ASSAY_NUMERICS_FFT_CHECKED_CONVOLVE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::fft {

// What an error is compared with.
enum class RelativeTo {
  kTerms,  // the sum of |a[j]| |b[k - j]|: what direct sums promise; cancellation is not held
           // against the method
  kValue,  // |c[k]| itself: right digits even where large terms cancel
};

struct CheckedOptions {
  // Every output is within tolerance times what `relative_to` says. At least 2 u (u = 2^-24 or
  // 2^-53); 0 means 4096 u.
  double tolerance = 0;
  RelativeTo relative_to = RelativeTo::kTerms;
  // NaN and infinities are refused, unless this is set: then the outputs that they reach are summed
  // directly and have an infinite bound, the others are as if they were zeros.
  bool direct_if_not_finite = false;
};

// How most outputs were made.
enum class CheckedRoute {
  kDirect,   // direct sums
  kFft,      // one convolution by FFT, whole or in blocks
  kFftWide,  // for float: the same in double
  kSlices,   // transforms of slices of bits, without rounding (internal/slices.h)
};

template <class T>
struct CheckedConvolution {
  std::vector<T> values;       // [n + m - 1]
  std::vector<double> bounds;  // [n + m - 1], of |values[k] - truth|, in the numbers' own units
  CheckedRoute route = CheckedRoute::kDirect;
  int64_t repaired = 0;  // outputs that were computed again, one by one
  int64_t failed = 0;    // outputs that the first convolution had too wrong
  int transforms = 0;    // real transforms of slices
};

// The full convolution c[k] = sum over j of a[j] b[k - j]. T is float or double.
//   a: [n], b: [m], n, m >= 1.
// Promise: bounds[k] <= tolerance * what it is relative to + 2 s, where s is the smallest
//   subnormal; an output that overflows is an infinity with an infinite bound.
// Method: operands scaled by powers of two, so that nothing on the way overflows. One convolution,
//   direct or by FFT as Convolve chooses, with ConvolveErrorBound (or min(n, m) u times the terms).
//   The terms are bounded from below by |c[k]| less its bound, and where that is not enough by one
//   more convolution, of |a| and |b|. Outputs that fail are summed one by one in double words
//   (Ogita, Rump, Oishi 2005: error u |c| + (n u)^2 times the terms), and where even that is not
//   enough exactly; if there are too many, all come from slices of bits, multiplied by FFT without
//   rounding.
// Cost: that of Convolve, if nothing fails; about twice it, if the terms must be known; then
//   min(n, m) steps of some 5 ns an output, or a transform for each slice of either operand and
//   each weight of the product, whichever is cheaper.
// Fails: kInvalidArgument if a or b is empty, both together are above kMaxSize, the tolerance is
//   not 0 and not in [2 u, 1], or a number is not finite and that was not asked for (the message
//   names it); kResourceExhausted without memory for a plan. What it returns and works on is
//   allocated as any vector is.
template <class T>
absl::StatusOr<CheckedConvolution<T>> ConvolveChecked(std::span<const T> a, std::span<const T> b,
                                                      CheckedOptions options = {});

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_CHECKED_CONVOLVE_H_
