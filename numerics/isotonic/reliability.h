// SPDX-License-Identifier: Apache-2.0
//
// How honest probabilities are: reliability diagrams, calibration errors, proper scores and what
// they are made of.
//
//   auto before = Assess(scores, labels);
//   auto after = Assess(calibrated, labels);        // before->brier, after->brier, ...
//
// Sums are exact before they are rounded (a fixed-point register as wide as f64), so nothing here
// depends on order or threads.
#ifndef ASSAY_NUMERICS_ISOTONIC_RELIABILITY_H_
#define ASSAY_NUMERICS_ISOTONIC_RELIABILITY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"

namespace assay::isotonic {

enum class Binning {
  kEqualWidth,  // bin k of B holds the p with floor(p B) = k, as f64 computes it; the last also 1
  kEqualMass,   // bin k holds ranks n k / B to n (k + 1) / B - 1 by ascending p; equal p stay
                // together, in the bin of the first of them, which may leave bins empty
};

struct ReliabilityBin {
  double low, high;  // edges k / B and (k + 1) / B; for kEqualMass the smallest and largest p
  int64_t count;
  int64_t positives;        // labels of 1
  double mean_probability;  // NaN where count is 0, as are rate, and low and high for kEqualMass
  double rate;              // positives / count
};

// The points of a reliability diagram.
//   probabilities: [n] each in [0, 1], n >= 1. labels: [n] each 0 or 1.
//   bins: 1 to 10000; each takes 600 bytes a thread.
// Error: counts are exact, rate is rounded once, mean_probability twice. Cost: linear; kEqualMass
//   sorts.
// Fails with kInvalidArgument if n is 0, lengths differ, a probability is outside [0, 1] or NaN, a
//   label is neither 0 nor 1, or bins is out of range.
[[nodiscard]] absl::StatusOr<std::vector<ReliabilityBin>> ReliabilityDiagram(
    std::span<const double> probabilities, std::span<const uint8_t> labels, int bins = 15,
    Binning binning = Binning::kEqualWidth, ThreadPool* pool = nullptr);

// What a row of probabilities is worth. Means are over the n predictions.
struct Assessment {
  double brier;  // mean of (p - label)^2, in [0, 1]
  // Mean of -log(probability given to what came true); infinite if that was ever 0.
  double log_loss;

  // Over the bins of the diagram, with their counts as weights:
  double expected_error;  // ECE, the mean of |mean_probability - rate|
  double maximum_error;   // MCE, the largest of them

  // Murphy's partition: brier = reliability - resolution + uncertainty + within_bins.
  double reliability;  // mean of (mean_probability - rate)^2
  double resolution;   // mean of (rate - base rate)^2
  double uncertainty;  // base rate (1 - base rate)
  double within_bins;  // the rest: 0 if p is constant within each bin

  // The same without bins (CORP): brier = miscalibration - discrimination + uncertainty.
  // Recalibrated by the isotonic regression of the labels on p, these probabilities would have a
  // Brier score of brier - miscalibration, the least of any monotone function of p.
  double miscalibration;  // >= 0; 0 for probabilities that are calibrated on these labels
  double discrimination;  // >= 0
};

// Arguments and failures as ReliabilityDiagram.
// Error: brier within 5 roundings of itself, log_loss within 4, the others within (bins + 10) 2^-52
//   of 1, CORP's within 10 * 2^-53.
// Cost: two passes, a calibration, and for kEqualMass a sort; log_loss dominates.
// Source: Brier 1950; Murphy 1973, "A new vector partition of the probability score"; Stephenson,
//   Coelho, Jolliffe 2008 (what is left within bins); Naeini, Cooper, Hauskrecht 2015 (ECE, MCE);
//   Dimitriadis, Gneiting, Jordan 2021, "Stable reliability diagrams for probabilistic classifiers"
//   (CORP).
[[nodiscard]] absl::StatusOr<Assessment> Assess(std::span<const double> probabilities,
                                                std::span<const uint8_t> labels, int bins = 15,
                                                Binning binning = Binning::kEqualWidth,
                                                ThreadPool* pool = nullptr);

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_RELIABILITY_H_
