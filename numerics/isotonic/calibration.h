// SPDX-License-Identifier: Apache-2.0
//
// Calibration: from a classifier's scores and what came true to probabilities.
//
//   auto calibrator = Calibrator::Fit(scores, labels);           // held-out data
//   absl::Status status = calibrator->Predict(new_scores, probabilities);
//
// The probability of a score is the isotonic regression of the labels on the scores: what
// scikit-learn's IsotonicRegression(out_of_bounds="clip") gives. The labels go along with their
// scores in one 64-bit word each through a radix sort, and are counted where they lie in cache. All
// arithmetic up to the final division is on integers.
#ifndef ASSAY_NUMERICS_ISOTONIC_CALIBRATION_H_
#define ASSAY_NUMERICS_ISOTONIC_CALIBRATION_H_

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"
#include "numerics/isotonic/isotonic.h"
#include "numerics/isotonic/regression.h"

namespace assay::isotonic {

// Scores between two others, which all get the probability successes / total.
struct CalibrationBlock {
  double first_score;
  double last_score;
  int64_t successes;
  int64_t total;
};

class Calibrator {
 public:
  // Fits scores to labels.
  //   scores: [n] f32 or f64, finite, 1 <= n < 2^31. Equal scores (-0 and +0 among them) count as
  //     one.
  //   labels: [n], each 0 or 1.
  //   options.direction: kDecreasing for scores that speak against label 1. Bounds are of the
  //     probabilities.
  // Exact: each probability is a quotient of counts, rounded once. Cost: four passes over memory
  //   and work in cache for n scores, n words beside them.
  // Fails with kInvalidArgument if n is 0 or too large, lengths differ, a score is not finite, a
  //   label is neither 0 nor 1, or lower <= upper does not hold.
  [[nodiscard]] static absl::StatusOr<Calibrator> Fit(std::span<const double> scores,
                                                      std::span<const uint8_t> labels,
                                                      const Options& options = {});
  [[nodiscard]] static absl::StatusOr<Calibrator> Fit(std::span<const float> scores,
                                                      std::span<const uint8_t> labels,
                                                      const Options& options = {});

  // The same with weights, as IsotonicRegression::Fit takes them; there are no blocks then.
  [[nodiscard]] static absl::StatusOr<Calibrator> FitWeighted(std::span<const double> scores,
                                                              std::span<const uint8_t> labels,
                                                              std::span<const double> weights,
                                                              const Options& options = {});

  // The probability of label 1 for each score: linear between the ends of blocks, and that of the
  // nearest block outside. As function().Predict, also in its failures.
  [[nodiscard]] absl::Status Predict(std::span<const double> scores, std::span<double> out,
                                     ThreadPool* pool = nullptr) const;
  [[nodiscard]] absl::Status Predict(std::span<const float> scores, std::span<float> out,
                                     ThreadPool* pool = nullptr) const;

  const IsotonicRegression& function() const { return function_; }

  // The blocks of the fit by ascending score. Neighbours have different rates, before bounds.
  std::span<const CalibrationBlock> blocks() const { return blocks_; }

 private:
  Calibrator(IsotonicRegression function, std::vector<CalibrationBlock> blocks)
      : function_(std::move(function)), blocks_(std::move(blocks)) {}
  template <class T>
  static absl::StatusOr<Calibrator> FitAny(std::span<const T> scores,
                                           std::span<const uint8_t> labels, const Options& options);

  IsotonicRegression function_;
  std::vector<CalibrationBlock> blocks_;
};

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_CALIBRATION_H_
