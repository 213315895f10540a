// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/reliability.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/isotonic/calibration.h"
#include "numerics/isotonic/radix_sort.h"

namespace assay::isotonic {
namespace {

using floating::ExactAccumulator;
using radix_internal::ForBlocks;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kMaxBins = 10000;

absl::Status Check(std::span<const double> probabilities, std::span<const uint8_t> labels,
                   int bins) {
  if (probabilities.empty()) {
    return absl::InvalidArgumentError("there are no probabilities, expected at least one");
  }
  if (probabilities.size() != labels.size()) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", probabilities.size(),
                                                   " probabilities and ", labels.size(),
                                                   " labels, expected as many of each"));
  }
  if (bins < 1 || bins > kMaxBins) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", bins, " bins, expected 1 to ", kMaxBins));
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!(probabilities[i] >= 0 && probabilities[i] <= 1)) {
      return absl::InvalidArgumentError(absl::StrCat("probabilities[", i, "] is ", probabilities[i],
                                                     ", expected a number from 0 to 1"));
    }
    if (labels[i] > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("labels[", i, "] is ", labels[i], ", expected 0 or 1"));
    }
  }
  return absl::OkStatus();
}

struct Bin {
  int64_t count = 0, positives = 0;
  ExactAccumulator sum;

  void Add(double p, uint8_t label) {
    ++count;
    positives += label;
    sum.Add(p);
  }
  ReliabilityBin Summary(double low, double high) const {
    if (count == 0) return {low, high, 0, 0, kNaN, kNaN};
    const double n = static_cast<double>(count);
    return {
        low, high, count, positives, sum.Round<double>() / n, static_cast<double>(positives) / n};
  }
};

// Chunks of n elements, one a thread: what comes of them is combined exactly, hence is the same for
// any cut.
int64_t ChunkOf(size_t n, ThreadPool* pool) {
  return (static_cast<int64_t>(n) - 1) / (pool == nullptr ? 1 : pool->threads()) + 1;
}

std::vector<ReliabilityBin> EqualWidth(std::span<const double> p, std::span<const uint8_t> labels,
                                       size_t bins, ThreadPool* pool) {
  const int64_t n = static_cast<int64_t>(p.size()), chunk = ChunkOf(p.size(), pool);
  std::vector<std::vector<Bin>> parts(static_cast<size_t>((n - 1) / chunk + 1));
  const double scale = static_cast<double>(bins);
  ForBlocks(pool, n, chunk, [&](int64_t begin, int64_t end) {
    std::vector<Bin>& part = parts[static_cast<size_t>(begin / chunk)];
    part.resize(bins);
    for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      part[std::min(static_cast<size_t>(p[i] * scale), bins - 1)].Add(p[i], labels[i]);
    }
  });
  std::vector<ReliabilityBin> diagram;
  for (size_t k = 0; k < bins; ++k) {
    Bin& bin = parts[0][k];
    for (size_t c = 1; c < parts.size(); ++c) {
      bin.count += parts[c][k].count;
      bin.positives += parts[c][k].positives;
      bin.sum.Merge(parts[c][k].sum);
    }
    diagram.push_back(
        bin.Summary(static_cast<double>(k) / scale, static_cast<double>(k + 1) / scale));
  }
  return diagram;
}

std::vector<ReliabilityBin> EqualMass(std::span<const double> p, std::span<const uint8_t> labels,
                                      size_t bins, ThreadPool* pool) {
  const internal::BigArray<KeyAndIndex> sorted = SortedWithIndex(p, pool);
  const size_t n = sorted.size();
  std::vector<ReliabilityBin> diagram;
  size_t i = 0;
  for (size_t k = 0; k < bins; ++k) {
    // n (k + 1) / bins without an overflow: n = q bins + r.
    const size_t next = n / bins * (k + 1) + n % bins * (k + 1) / bins;
    const size_t begin = i;
    Bin bin;
    // Up to the rank where the next bin begins, and on while the values are those before it.
    while (i < n && (i < next || (i > begin && sorted[i].key == sorted[i - 1].key))) {
      const size_t index = static_cast<size_t>(sorted[i].index);
      bin.Add(p[index], labels[index]);
      ++i;
    }
    diagram.push_back(i == begin ? bin.Summary(kNaN, kNaN)
                                 : bin.Summary(FromOrderedKey(sorted[begin].key),
                                               FromOrderedKey(sorted[i - 1].key)));
  }
  return diagram;
}

}  // namespace

absl::StatusOr<std::vector<ReliabilityBin>> ReliabilityDiagram(
    std::span<const double> probabilities, std::span<const uint8_t> labels, int bins,
    Binning binning, ThreadPool* pool) {
  absl::Status status = Check(probabilities, labels, bins);
  if (!status.ok()) return status;
  const size_t count = static_cast<size_t>(bins);
  return binning == Binning::kEqualWidth ? EqualWidth(probabilities, labels, count, pool)
                                         : EqualMass(probabilities, labels, count, pool);
}

absl::StatusOr<Assessment> Assess(std::span<const double> probabilities,
                                  std::span<const uint8_t> labels, int bins, Binning binning,
                                  ThreadPool* pool) {
  const absl::StatusOr<std::vector<ReliabilityBin>> diagram =
      ReliabilityDiagram(probabilities, labels, bins, binning, pool);
  if (!diagram.ok()) return diagram.status();
  Options options;
  options.pool = pool;
  const absl::StatusOr<Calibrator> recalibrated = Calibrator::Fit(probabilities, labels, options);
  if (!recalibrated.ok()) return recalibrated.status();

  const int64_t n = static_cast<int64_t>(labels.size()), chunk = ChunkOf(labels.size(), pool);
  struct Sums {
    ExactAccumulator squares, logs;
  };
  std::vector<Sums> parts(static_cast<size_t>((n - 1) / chunk + 1));
  ForBlocks(pool, n, chunk, [&](int64_t begin, int64_t end) {
    Sums& sums = parts[static_cast<size_t>(begin / chunk)];
    for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const double p = probabilities[i];
      const double miss = labels[i] == 1 ? 1 - p : p;
      sums.squares.Add(miss * miss);
      sums.logs.Add(labels[i] == 1 ? -Log(p) : -Log1p(-p));
    }
  });
  for (size_t c = 1; c < parts.size(); ++c) {
    parts[0].squares.Merge(parts[c].squares);
    parts[0].logs.Merge(parts[c].logs);
  }
  const double count = static_cast<double>(n);
  Assessment result{};
  result.brier = parts[0].squares.Round<double>() / count;
  result.log_loss = parts[0].logs.Round<double>() / count + 0.0;

  int64_t positives = 0;
  for (const ReliabilityBin& bin : *diagram) positives += bin.positives;
  const double base_rate = static_cast<double>(positives) / count;
  for (const ReliabilityBin& bin : *diagram) {
    if (bin.count == 0) continue;
    const double share = static_cast<double>(bin.count) / count;
    const double gap = bin.mean_probability - bin.rate, lift = bin.rate - base_rate;
    result.expected_error += share * std::fabs(gap);
    result.maximum_error = std::max(result.maximum_error, std::fabs(gap));
    result.reliability += share * (gap * gap);
    result.resolution += share * (lift * lift);
  }
  result.uncertainty = base_rate * (static_cast<double>(n - positives) / count);
  result.within_bins = result.brier - (result.reliability - result.resolution + result.uncertainty);

  // A block of s ones among t, predicted as s / t, has the squares s (t - s) / t.
  ExactAccumulator squares;
  for (const CalibrationBlock& block : recalibrated->blocks()) {
    const double total = static_cast<double>(block.total);
    squares.Add(static_cast<double>(block.successes) *
                (static_cast<double>(block.total - block.successes) / total));
  }
  const double least = squares.Round<double>() / count;
  result.miscalibration = std::max(0.0, result.brier - least);
  result.discrimination = std::max(0.0, result.uncertainty - least);
  return result;
}

}  // namespace assay::isotonic
