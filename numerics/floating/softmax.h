// SPDX-License-Identifier: Apache-2.0
// logsumexp, softmax and log-softmax that do not overflow, do not lose the small terms, and say
// what they do with infinities and NaN. Losses: cross_entropy.h.
//
// One row of n logits x: m = max x, e[i] = exp(x[i] - m), R = sum of e[i] without the largest
// element itself. Then
//   logsumexp(x) = m + log1p(R),   softmax = e / (1 + R),   log-softmax = (x - m) - log1p(R).
// Subtracting m keeps every exponential in [0, 1]; leaving the 1 out of the sum and finishing with
// log1p keeps terms that 1 + R would round away (logsumexp of {0, -40} is 4.2e-18, not 0). Neither
// the size of the logits nor n enters the bounds below (for n up to 2^26).
//
// Error, with u the unit roundoff of T (2^-24, 2^-53):
//                f64                        f32, kSingle                f32, kDouble
//   LogSumExp    u |lse| + 6 u (lse - m)    u |lse| + u (lse - m)       u |lse| + 2^-50 (|m| + lse)
//   Softmax      6 u relative               2.2 ulp                     0.51 ulp
//   LogSoftmax   6 u relative               1.4 ulp                     0.51 ulp
//   (plus the least subnormal where a result is subnormal). Seen against MPFR: 2.4 ulp in f64, 1.2
//   ulp in kSingle (more than a million elements, and the edges of every case below). f16 and bf16:
//   computed as f32 and rounded once more, 0.51 ulp of theirs.
// Source of the analysis: Blanchard, Higham, Higham, Accurately computing the log-sum-exp and
//   softmax functions (IMA J. Numer. Anal. 41, 2021); of one pass over a long row: Milakov,
//   Gimelshein, Online normalizer calculation for softmax (arXiv 1805.02867, 2018). How kSingle
//   does without rounding x - m: internal/softmax_kernels.h.
//
// Special values:
//   a NaN anywhere: every result is the canonical quiet NaN
//   +inf in k >= 1 places: lse = +inf; softmax is 1/k there and 0 elsewhere (the limit when those
//     logits grow together); log-softmax is -log k there and -inf elsewhere
//   -inf: a masked entry: softmax 0, log-softmax -inf, no part in the sum
//   all -inf ("all masked"): lse = -inf; the rest by policy, see AllMasked
//   n = 0: lse = -inf, nothing is written
//
// Exact profile: same bits natively, on every vector width and any number of threads, and in wasm.
// Cost: kSingle is bound by memory where rows fit in the first-level cache (4096 f32): one read,
// one write. No allocation.
#ifndef ASSAY_NUMERICS_FLOATING_SOFTMAX_H_
#define ASSAY_NUMERICS_FLOATING_SOFTMAX_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"

namespace assay::floating {

// What a row without any unmasked entry means.
enum class AllMasked {
  kNaN,    // 0/0 undefined: softmax, log-softmax, loss and gradient are NaN
  kZeros,  // nobody gets anything: softmax 0, log-softmax -inf, loss 0, gradient 0
};

// In what f32, f16 and bf16 are computed; f64 is computed in itself.
enum class Arithmetic {
  kSingle,  // exponentials in f32, sums in f64
  kDouble,  // everything in f64: nearly correctly rounded, some four times the work
};

// log(sum of exp(x[i])).
float LogSumExp(std::span<const float> x, Arithmetic arithmetic = Arithmetic::kSingle);
double LogSumExp(std::span<const double> x);

// log|sum of w[i] exp(x[i])| and the sign of the sum (-1, 0, 1). w may be negative; w[i] = 0 leaves
// the entry out. The error of log_abs is conditioned by cancellation:
//   about 4 u (sum |w| e) / |sum w e| + u |log_abs|.
// Sizes must be equal (checked). A NaN in x or w: log_abs NaN, sign 0. Sum 0: -inf, sign 0.
// Infinite w is treated as NaN. +inf in x with both signs of w: NaN.
struct SignedLog {
  double log_abs;
  int sign;
};
SignedLog SignedLogSumExp(std::span<const double> x, std::span<const double> w);

// y[i] = exp(x[i]) / sum. y: [n] (checked), may be x itself; other overlap is not allowed.
void Softmax(std::span<const float> x, std::span<float> y, AllMasked policy = AllMasked::kNaN,
             Arithmetic arithmetic = Arithmetic::kSingle);
void Softmax(std::span<const double> x, std::span<double> y, AllMasked policy = AllMasked::kNaN);

// y[i] = log(softmax(x)[i]), never through the softmax: finite wherever x is. y as above.
void LogSoftmax(std::span<const float> x, std::span<float> y, AllMasked policy = AllMasked::kNaN,
                Arithmetic arithmetic = Arithmetic::kSingle);
void LogSoftmax(std::span<const double> x, std::span<double> y, AllMasked policy = AllMasked::kNaN);

// How the rows of a batch are taken.
struct SoftmaxOptions {
  AllMasked all_masked = AllMasked::kNaN;
  Arithmetic arithmetic = Arithmetic::kSingle;
  double temperature = 1;  // logits are divided by it; positive and finite. Others than 1: kDouble
  // As many flags as logits: 0 makes the entry count as -inf. Empty (no data): all count. An
  // additive mask needs no option: -inf is one.
  MatrixView<const uint8_t> keep = {};
  ThreadPool* pool = nullptr;  // rows are shared out among its threads; null: the caller's
};

// The row functions for each row of a batch. T: float, double, Half, BFloat16.
//   x, y: [rows, cols], any strides. y may be x itself; other overlap is not allowed.
//   lse: [rows].
// Fail with InvalidArgument, outputs untouched, for shapes that do not match and for a temperature
// that is not positive and finite.
template <class T>
absl::Status SoftmaxRows(MatrixView<const T> x, MatrixView<T> y,
                         const SoftmaxOptions& options = {});
template <class T>
absl::Status LogSoftmaxRows(MatrixView<const T> x, MatrixView<T> y,
                            const SoftmaxOptions& options = {});
template <class T>
absl::Status LogSumExpRows(MatrixView<const T> x, std::span<T> lse,
                           const SoftmaxOptions& options = {});

// The gradient with respect to x of a function of y = SoftmaxRows(x), from its gradient g with
// respect to y: dx = y (g - sum of g y) / temperature; of y = LogSoftmaxRows(x): dx = (g - exp(y)
// sum of g) / temperature. Computed in f64 and rounded once.
//   y, g, dx: [rows, cols]. dx may be y or g itself. options: temperature and pool are used.
//   Error: 6 u (|g| + sum of |g| y) y / temperature, and 6 u (|g| + y sum |g|) / temperature.
//   A share that is 0 takes no part, whatever its g: masked entries get 0 (softmax), or their own g
//   (log-softmax).
// Fail as above.
template <class T>
absl::Status SoftmaxGradientRows(MatrixView<const T> y, MatrixView<const T> g, MatrixView<T> dx,
                                 const SoftmaxOptions& options = {});
template <class T>
absl::Status LogSoftmaxGradientRows(MatrixView<const T> y, MatrixView<const T> g, MatrixView<T> dx,
                                    const SoftmaxOptions& options = {});

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_SOFTMAX_H_
