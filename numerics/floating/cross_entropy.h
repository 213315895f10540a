// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of logits against targets, and its gradient: hard and soft targets, class weights,
// label smoothing, masks, temperature, an ignored target, and a penalty on logsumexp.
//
// For a row of n logits x with p = softmax(x / temperature) and a target distribution q,
//   loss = sum over c of w[c] q[c] (-log p[c])  +  z_loss lse(x / temperature)^2.
// A hard target t with label smoothing s means q[c] = (1 - s) [c = t] + s / n; soft targets are
// smoothed likewise. This is torch.nn.functional.cross_entropy of PyTorch 1.13 where that has the
// options, the weighted mean included. -log p[c] comes from the logits ((m - x[c]) + log1p(R), see
// softmax.h), never from a probability, and the gradient never divides by one:
//   d loss / d x[c] = ((Q + 2 z_loss lse) p[c] - w[c] q[c]) / temperature,  Q = sum of w[c] q[c].
// With a hard target and no smoothing the target's own entry is minus the others' shares, so it
// does not cancel when the model is sure and right.
//
// Error of a row's loss: as LogSoftmax for a hard target without smoothing or weights (f64 6 u, f32
//   1.4 ulp, kDouble 0.51 ulp); otherwise n terms of one sign (w, q >= 0) that each keep that.
//   A mean or sum over rows adds up f64 losses with compensation and rounds once.
// Error of a gradient entry: as Softmax for hard targets without smoothing (f64: 9 u relative);
//   otherwise 9 u (Q p + w q), in f32 2.2 u. Where p is subnormal, up to 1 + 2 / temperature least
//   subnormals more.
//
// Special values: a NaN in a row's logits makes its loss and gradient NaN, as does a row with
//   +inf in two places or more whose target is one of them (the loss is then log k, the limit when
//   those logits grow together). A class with -inf, or masked, costs +inf where q is not 0. Masked
//   classes get no part of the smoothing, and n counts those that are left; -inf alone changes
//   nothing about the smoothing, and makes the loss infinite as in PyTorch. Rows with nothing left
//   follow AllMasked.
//
// Exact profile: same bits natively, on any number of threads and in wasm. Cost: one read of the
// logits (rows of up to 4096 elements; twice with a gradient beyond), one write of the gradient.
// Allocates an f64 for each row.
#ifndef ASSAY_NUMERICS_FLOATING_CROSS_ENTROPY_H_
#define ASSAY_NUMERICS_FLOATING_CROSS_ENTROPY_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/softmax.h"

namespace assay::floating {

// The loss -log(softmax(x)[target]) of one row, at least 0; +inf if the target is masked and others
// are not.
// Fails: OutOfRange unless 0 <= target < n.
absl::StatusOr<float> CrossEntropy(std::span<const float> x, int64_t target,
                                   AllMasked policy = AllMasked::kNaN);
absl::StatusOr<double> CrossEntropy(std::span<const double> x, int64_t target,
                                    AllMasked policy = AllMasked::kNaN);

// Its gradient with respect to x, softmax - onehot.
//   g: [n], may be x itself. Relative error of each entry: as Softmax.
// Fails: OutOfRange for the target, InvalidArgument for another size of g; g is then untouched.
absl::Status CrossEntropyGradient(std::span<const float> x, int64_t target, std::span<float> g,
                                  AllMasked policy = AllMasked::kNaN);
absl::Status CrossEntropyGradient(std::span<const double> x, int64_t target, std::span<double> g,
                                  AllMasked policy = AllMasked::kNaN);

enum class Reduction {
  kNone,  // the value is 0; the losses of the rows are what counts
  kSum,
  kMean,  // over the weights of the targets (hard) or over all rows (soft), as PyTorch
};

template <class T>
struct CrossEntropyOptions {
  Reduction reduction = Reduction::kMean;
  int64_t ignore_index = -100;           // a hard target that takes its row out, whatever it is
  double label_smoothing = 0;            // in [0, 1]
  std::span<const double> weights = {};  // of the classes, finite and not negative; empty: all 1
  double z_loss = 0;                     // finite, not negative
  SoftmaxOptions softmax = {};           // all_masked, arithmetic, temperature, keep, pool
  std::span<T> losses = {};              // out: [rows], 0 for ignored rows; may be empty
  MatrixView<T> gradient = {};           // out: [rows, cols], of the reduced value (kNone: of each
                                         // row's own loss); may be the logits, or without data
};

struct Loss {
  double value;     // reduced; 0 where nothing counts
  double weight;    // what a mean divides by: sum of the targets' weights, or rows; may be 0
  int64_t counted;  // rows that are not ignored
};

// Hard targets.
//   x: [rows, cols] logits.   targets: [rows], each in [0, cols) or ignore_index.
// Weights count by their ratios alone in a mean, so tiny ones, subnormal too, do no harm; where
// those of the targets add up to 2^1022 or more, it fails with InvalidArgument.
// Where the weight is 0 (all rows ignored, or only targets of weight 0) a mean is 0 and so is its
// gradient; PyTorch gives NaN. The caller sees it by `weight`.
// Fail with InvalidArgument for shapes and options that do not fit, OutOfRange for a target (with
// its row); outputs are then untouched.
template <class T>
absl::StatusOr<Loss> CrossEntropyRows(MatrixView<const T> x, std::span<const int32_t> targets,
                                      const CrossEntropyOptions<T>& options = {});

// Soft targets.
//   q: [rows, cols], finite; rows need not add up to 1, as in PyTorch.
template <class T>
absl::StatusOr<Loss> SoftCrossEntropyRows(MatrixView<const T> x, MatrixView<const T> q,
                                          const CrossEntropyOptions<T>& options = {});

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_CROSS_ENTROPY_H_
