// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/isotonic/radix_sort.h"

namespace assay::isotonic {
namespace {

using radix_internal::ForBlocks;

// A run of sorted scores: how many there are and how many of them count as 1.
struct Run {
  uint64_t first_key, last_key;
  int64_t ones, total;
};

absl::Status CheckLabels(std::span<const uint8_t> labels, size_t scores) {
  if (scores == 0) return absl::InvalidArgumentError("there are no scores, expected at least one");
  if (labels.size() != scores) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there are ", scores, " scores and ", labels.size(), " labels, expected as many of each"));
  }
  if (scores > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", scores, " scores, expected fewer than 2^31"));
  }
  uint8_t any = 0;
  for (uint8_t label : labels) any |= label;
  if (any <= 1) return absl::OkStatus();
  size_t i = 0;
  while (labels[i] <= 1) ++i;
  return absl::InvalidArgumentError(
      absl::StrCat("labels[", i, "] is ", labels[i], ", expected 0 or 1"));
}

// Adds a sorted bucket to the blocks of those before it: pool adjacent violators by integers.
//   words: (key - first_key) << 1, plus 1 where the label counts as 0; ascending, not empty.
//   changes: scratch.
void PoolBucket(std::span<const uint64_t> words, uint64_t first_key, std::vector<size_t>& changes,
                std::vector<Run>& runs) {
  // Ones followed by zeros always share a block. Where one turns to the other is found without a
  // branch, which random labels would mispredict every other time.
  const size_t n = words.size();
  if (changes.size() < n + 4) changes.resize(n + 4);
  size_t count = 0;
  // changes: where ones begin, where zeros begin, and so on by turns. Zeros at the front follow no
  // ones at all.
  if ((words[0] & 1) != 0) changes[count++] = 0;
  uint64_t before = ~words[0];
  for (size_t i = 0; i < n; ++i) {
    changes[count] = i;
    count += static_cast<size_t>((words[i] ^ before) & 1);
    before = words[i];
  }
  changes[count] = changes[count + 1] = n;
  const auto key = [words, first_key](size_t i) { return first_key + (words[i] >> 1); };
  for (size_t c = 0; changes[c] < n; c += 2) {
    const size_t begin = changes[c], zeros = changes[c + 1], end = changes[c + 2];
    Run run{key(begin), key(end - 1), static_cast<int64_t>(zeros - begin),
            static_cast<int64_t>(end - begin)};
    // Counts are below 2^31, so the products are below 2^62.
    while (!runs.empty() && runs.back().ones * run.total >= run.ones * runs.back().total) {
      run.first_key = runs.back().first_key;
      run.ones += runs.back().ones;
      run.total += runs.back().total;
      runs.pop_back();
    }
    runs.push_back(run);
  }
}

// The blocks within each task of buckets, which the fit may still join.
template <class T>
std::vector<Run> RunsOf(std::span<const T> scores, std::span<const uint8_t> labels, KeyRange range,
                        bool increasing, ThreadPool* pool) {
  const auto key_at = [scores](int64_t i) {
    return OrderedKey(static_cast<double>(scores[static_cast<size_t>(i)]));
  };
  // The label takes the lowest bit: its key's highest one is known from the bucket. Among equal
  // scores the ones come first, against the direction of the fit, so that it pools them.
  const uint64_t zero = increasing ? 0 : 1;
  const Buckets<uint64_t> buckets = DealIntoBuckets<uint64_t>(
      static_cast<int64_t>(scores.size()), range, key_at,
      [labels, zero](int64_t i, uint64_t key) {
        return key << 1 | static_cast<uint64_t>(labels[static_cast<size_t>(i)] == zero);
      },
      pool);
  constexpr int64_t kTask = 16;  // buckets
  std::vector<std::vector<Run>> parts(static_cast<size_t>((buckets.size() - 1) / kTask + 1));
  ForBlocks(pool, buckets.size(), kTask, [&](int64_t begin, int64_t end) {
    std::vector<uint64_t> scratch;
    std::vector<size_t> changes;
    std::vector<Run>& runs = parts[static_cast<size_t>(begin / kTask)];
    for (int64_t b = begin; b < end; ++b) {
      const std::span<uint64_t> words = buckets.bucket(b);
      const uint64_t first_key = buckets.first_key[static_cast<size_t>(b)];
      for (uint64_t& word : words) word -= first_key << 1;
      if (scratch.size() < words.size()) scratch.resize(words.size());
      SortInCache(words, scratch.data());
      PoolBucket(words, first_key, changes, runs);
    }
  });
  std::vector<Run> all;
  for (const std::vector<Run>& runs : parts) all.insert(all.end(), runs.begin(), runs.end());
  return all;
}

}  // namespace

template <class T>
absl::StatusOr<Calibrator> Calibrator::FitAny(std::span<const T> scores,
                                              std::span<const uint8_t> labels,
                                              const Options& options) {
  absl::Status status = CheckLabels(labels, scores.size());
  if (!status.ok()) return status;
  const KeyRange range = RangeOfKeys(scores, options.pool);
  if (!range.finite()) {
    size_t i = 0;
    while (std::isfinite(scores[i])) ++i;
    return absl::InvalidArgumentError(
        absl::StrCat("scores[", i, "] is ", scores[i], ", expected finite numbers"));
  }
  const bool increasing = options.direction == Direction::kIncreasing;
  const std::vector<Run> runs = RunsOf(scores, labels, range, increasing, options.pool);
  std::vector<int64_t> successes, totals, block_ends;
  for (const Run& run : runs) {
    successes.push_back(increasing ? run.ones : run.total - run.ones);
    totals.push_back(run.total);
  }
  std::vector<double> fit(runs.size());
  status = FitCounts(successes, totals, fit, options, &block_ends);
  if (!status.ok()) return status;

  std::vector<CalibrationBlock> blocks;
  std::vector<double> x, y;
  size_t begin = 0;
  for (const int64_t block_end : block_ends) {
    const size_t end = static_cast<size_t>(block_end);
    CalibrationBlock block{FromOrderedKey(runs[begin].first_key),
                           FromOrderedKey(runs[end - 1].last_key), 0, 0};
    for (size_t i = begin; i < end; ++i) {
      block.successes += successes[i];
      block.total += totals[i];
    }
    blocks.push_back(block);
    // Blocks of different rates may still have one fit, on a bound: then only the outer ends stay.
    if (!y.empty() && y.back() == fit[begin]) {
      if (y.size() > 1 && y[y.size() - 2] == fit[begin]) {
        x.pop_back();
        y.pop_back();
      }
    } else {
      x.push_back(block.first_score);
      y.push_back(fit[begin]);
    }
    if (x.back() < block.last_score) {
      x.push_back(block.last_score);
      y.push_back(fit[begin]);
    }
    begin = end;
  }
  absl::StatusOr<IsotonicRegression> function = IsotonicRegression::FromThresholds(
      std::move(x), std::move(y), increasing ? Trend::kIncreasing : Trend::kDecreasing);
  if (!function.ok()) return function.status();
  return Calibrator(*std::move(function), std::move(blocks));
}

absl::StatusOr<Calibrator> Calibrator::Fit(std::span<const double> scores,
                                           std::span<const uint8_t> labels,
                                           const Options& options) {
  return FitAny(scores, labels, options);
}
absl::StatusOr<Calibrator> Calibrator::Fit(std::span<const float> scores,
                                           std::span<const uint8_t> labels,
                                           const Options& options) {
  return FitAny(scores, labels, options);
}

absl::StatusOr<Calibrator> Calibrator::FitWeighted(std::span<const double> scores,
                                                   std::span<const uint8_t> labels,
                                                   std::span<const double> weights,
                                                   const Options& options) {
  absl::Status status = CheckLabels(labels, scores.size());
  if (!status.ok()) return status;
  RegressionOptions regression;
  regression.trend =
      options.direction == Direction::kIncreasing ? Trend::kIncreasing : Trend::kDecreasing;
  regression.lower = options.lower;
  regression.upper = options.upper;
  regression.pool = options.pool;
  absl::StatusOr<IsotonicRegression> function = IsotonicRegression::Fit(
      scores, std::vector<double>(labels.begin(), labels.end()), weights, regression);
  if (!function.ok()) return function.status();
  return Calibrator(*std::move(function), {});
}

absl::Status Calibrator::Predict(std::span<const double> scores, std::span<double> out,
                                 ThreadPool* pool) const {
  return function_.Predict(scores, out, Interpolation::kLinear, Outside::kClip, pool);
}
absl::Status Calibrator::Predict(std::span<const float> scores, std::span<float> out,
                                 ThreadPool* pool) const {
  return function_.Predict(scores, out, Interpolation::kLinear, Outside::kClip, pool);
}

}  // namespace assay::isotonic
