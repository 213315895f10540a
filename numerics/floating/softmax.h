// SPDX-License-Identifier: Apache-2.0
// logsumexp, softmax, log-softmax and cross-entropy that do not overflow, do not lose the small
// terms, and say what they do with infinities and NaN.
//
// One row of n logits x: m = max x, e[i] = exp(x[i] - m), R = sum of e[i] without the largest
// element itself. Then
//   logsumexp(x) = m + log1p(R),   softmax = e / (1 + R),   log-softmax = (x - m) - log1p(R).
// Subtracting m keeps every exponential in [0, 1]; leaving the 1 out of the sum and finishing with
// log1p keeps terms that 1 + R would round away (logsumexp of {0, -40} is 4.2e-18, not 0). The
// difference x - m is taken with its rounding error, and R is a compensated sum, so neither the
// size of the logits nor n enters the bounds below (for n up to 2^26).
//
// Error, with u the unit roundoff of T (2^-24, 2^-53), from exp and log1p within 1 ulp:
//                      f64                              f32 (computed in f64, rounded)
//   LogSumExp          u |lse| + 6 u (lse - m)          u |lse| + 2^-50 (|m| + lse - m)
//   Softmax            10 u relative                    2.01 u relative
//   LogSoftmax, loss   10 u relative                    1.01 u relative
//   (plus the least subnormal where a result is subnormal). Seen against MPFR: at most 2.5 ulp in
//   f64, 1.51 ulp for the f32 softmax, 0.51 ulp for the rest in f32. Source of the analysis:
//   Blanchard, Higham, Higham, Accurately computing the log-sum-exp and softmax functions (IMA J.
//   Numer. Anal. 41, 2021).
//
// Special values:
//   a NaN anywhere: every result is the canonical quiet NaN
//   +inf in k >= 1 places: lse = +inf; softmax is 1/k there and 0 elsewhere (the limit when those
//     logits grow together); log-softmax is -log k there and -inf elsewhere
//   -inf: a masked entry: softmax 0, log-softmax -inf, no part in the sum
//   all -inf ("all masked"): lse = -inf; the rest by policy, see AllMasked
//   n = 0: lse = -inf, nothing is written
//
// Exact profile: same bits natively and in wasm. Cost: two passes (one more for the maximum), n
// exponentials. No allocation.
#ifndef ASSAY_NUMERICS_FLOATING_SOFTMAX_H_
#define ASSAY_NUMERICS_FLOATING_SOFTMAX_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::floating {

// What a row without any unmasked entry means.
enum class AllMasked {
  kNaN,    // 0/0 undefined: softmax, log-softmax, loss and gradient are NaN
  kZeros,  // nobody gets anything: softmax 0, log-softmax -inf, loss 0, gradient 0
};

// log(sum of exp(x[i])).
float LogSumExp(std::span<const float> x);
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

// y[i] = exp(x[i]) / sum. y: [n], may be x itself; other overlap is not allowed.
void Softmax(std::span<const float> x, std::span<float> y, AllMasked policy = AllMasked::kNaN);
void Softmax(std::span<const double> x, std::span<double> y, AllMasked policy = AllMasked::kNaN);

// y[i] = log(softmax(x)[i]), never through the softmax: finite wherever x is. y as above.
void LogSoftmax(std::span<const float> x, std::span<float> y, AllMasked policy = AllMasked::kNaN);
void LogSoftmax(std::span<const double> x, std::span<double> y, AllMasked policy = AllMasked::kNaN);

// The loss -log(softmax(x)[target]), at least 0; +inf if the target is masked and others are not.
// Fails: OutOfRange unless 0 <= target < n.
absl::StatusOr<float> CrossEntropy(std::span<const float> x, int64_t target,
                                   AllMasked policy = AllMasked::kNaN);
absl::StatusOr<double> CrossEntropy(std::span<const double> x, int64_t target,
                                    AllMasked policy = AllMasked::kNaN);

// Gradient of the loss with respect to x: softmax - onehot, the entry of the target computed as
// minus the sum of the others' shares, so that it does not cancel when the model is sure and right.
//   g: [n], may be x itself. Relative error of each entry: as Softmax.
// Fails: OutOfRange for the target, InvalidArgument for another size of g; g is then untouched.
absl::Status CrossEntropyGradient(std::span<const float> x, int64_t target, std::span<float> g,
                                  AllMasked policy = AllMasked::kNaN);
absl::Status CrossEntropyGradient(std::span<const double> x, int64_t target, std::span<double> g,
                                  AllMasked policy = AllMasked::kNaN);

// The mean loss over the rows whose target is not `ignore_index`.
struct MeanLoss {
  double mean;      // 0 if no row counts
  int64_t counted;  // rows that count
};

// Mean cross-entropy of a batch and, where asked for, its gradient.
//   logits: [rows, classes] row-major.   targets: [rows], each in [0, classes) or ignore_index.
//   gradient: empty, or [rows, classes]; ignored rows get zeros, the others softmax - onehot over
//     the number of counted rows. May be `logits` itself.
// The mean is a compensated f64 sum in row order.
// Fails: InvalidArgument for sizes that do not match, OutOfRange for a target (with its row);
//   the gradient is then untouched.
absl::StatusOr<MeanLoss> MeanCrossEntropy(std::span<const float> logits, int64_t rows,
                                          int64_t classes, std::span<const int32_t> targets,
                                          int32_t ignore_index = -100,
                                          std::span<float> gradient = {});

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_SOFTMAX_H_
