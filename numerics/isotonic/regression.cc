// SPDX-License-Identifier: Apache-2.0
//
// Fitting; asking the fitted function is in predict.cc.
#include "numerics/isotonic/regression.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/error_free.h"
#include "numerics/isotonic/internal/bounds.h"
#include "numerics/isotonic/isotonic.h"
#include "numerics/isotonic/radix_sort.h"

namespace assay::isotonic {
namespace {

using radix_internal::ForBlocks;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

size_t Index(const KeyAndIndex& record) { return static_cast<size_t>(record.index); }

template <class T>
absl::Status CheckFinite(const char* name, std::span<const T> values, ThreadPool* pool) {
  if (values.empty() || RangeOfKeys(values, pool).finite()) return absl::OkStatus();
  size_t i = 0;
  while (std::isfinite(values[i])) ++i;
  return absl::InvalidArgumentError(
      absl::StrCat(name, "[", i, "] is ", values[i], ", expected finite numbers"));
}

absl::Status CheckPoints(std::span<const double> x, std::span<const double> y, ThreadPool* pool) {
  if (x.empty()) return absl::InvalidArgumentError("there are no points, expected at least one");
  if (x.size() != y.size()) {
    return absl::InvalidArgumentError(absl::StrCat("x has ", x.size(), " elements and y ", y.size(),
                                                   ", expected as many of each"));
  }
  if (x.size() - 1 >= std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", x.size(), " points, expected fewer than 2^32"));
  }
  absl::Status status = CheckFinite("x", x, pool);
  if (status.ok()) status = CheckFinite("y", y, pool);
  return status;
}

// The points that weigh something in ascending order of x, their keys made equal within a tie, and
// each tie in the order that its rule wants.
struct Ordered {
  Direction direction;
  std::optional<Spearman> spearman;
  internal::BigArray<KeyAndIndex> points;
  std::vector<double> y;        // in their order
  std::vector<double> weights;  // likewise; empty for weights of 1

  // Where the tie that begins at `begin` ends.
  size_t TieEnd(size_t begin) const {
    size_t end = begin + 1;
    while (end < points.size() && points[end].key == points[begin].key) ++end;
    return end;
  }
  std::span<const double> WeightsOf(size_t begin, size_t end) const {
    if (weights.empty()) return {};
    return std::span<const double>(weights).subspan(begin, end - begin);
  }
};

// Merges the keys of points less than `tolerance` beyond the first of their tie.
void MergeTies(double tolerance, const internal::BigArray<KeyAndIndex>& points) {
  if (tolerance == 0) return;
  KeyAndIndex first = points[0];
  for (KeyAndIndex& point : points) {
    if (FromOrderedKey(point.key) - FromOrderedKey(first.key) < tolerance) {
      point.key = first.key;
    } else {
      first = point;
    }
  }
}

// Orders each tie by y, ascending or descending, and equal y as they come.
void OrderTies(std::span<const double> y, bool ascending, Ordered& ordered) {
  std::vector<KeyAndIndex> tie, scratch;
  const internal::BigArray<KeyAndIndex>& points = ordered.points;
  for (size_t begin = 0, end; begin < points.size(); begin = end) {
    end = ordered.TieEnd(begin);
    if (end - begin == 1) continue;
    tie.clear();
    for (size_t i = begin; i < end; ++i) {
      const uint64_t key = OrderedKey(y[Index(points[i])]);
      tie.push_back({ascending ? key : ~key, points[i].index});
    }
    scratch.resize(tie.size());
    SortInCache(std::span<KeyAndIndex>(tie), scratch.data());
    for (size_t i = begin; i < end; ++i) points[i].index = tie[i - begin].index;
  }
}

absl::StatusOr<Ordered> Order(std::span<const double> x, std::span<const double> y,
                              std::span<const double> weights, const RegressionOptions& options) {
  absl::Status status = CheckPoints(x, y, options.pool);
  if (!status.ok()) return status;
  if (!weights.empty() && weights.size() != x.size()) {
    return absl::InvalidArgumentError(absl::StrCat("x has ", x.size(), " elements and weights ",
                                                   weights.size(),
                                                   ", expected as many of each, or no weights"));
  }
  status = CheckFinite("weights", weights, options.pool);
  if (!status.ok()) return status;
  status = internal::CheckOptions({Direction::kIncreasing, options.lower, options.upper, nullptr});
  if (!status.ok()) return status;
  if (!(options.x_tolerance >= 0 && options.x_tolerance < kInfinity)) {
    return absl::InvalidArgumentError(
        absl::StrCat("x_tolerance is ", options.x_tolerance, ", expected a finite number >= 0"));
  }
  std::vector<double> kept_x;  // where points are left out: the others, and which they are
  std::vector<uint64_t> kept;
  size_t zeros = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("weights[", i, "] is ", weights[i], ", expected weights >= 0"));
    }
    if (weights[i] == 0) ++zeros;
  }
  if (zeros > 0) {
    if (zeros == x.size()) {
      return absl::InvalidArgumentError("all weights are 0, expected one above");
    }
    for (size_t i = 0; i < x.size(); ++i) {
      if (weights[i] == 0) continue;
      kept_x.push_back(x[i]);
      kept.push_back(i);
    }
  }

  Ordered ordered;
  bool increasing = options.trend == Trend::kIncreasing;
  if (options.trend == Trend::kAuto) {
    ordered.spearman = *SpearmanCorrelation(x, y, options.pool);
    increasing = ordered.spearman->rho >= 0;
  }
  ordered.direction = increasing ? Direction::kIncreasing : Direction::kDecreasing;
  ordered.points = SortedWithIndex(zeros > 0 ? std::span<const double>(kept_x) : x, options.pool);
  if (zeros > 0) {
    for (KeyAndIndex& point : ordered.points) point.index = kept[Index(point)];
  }
  MergeTies(options.x_tolerance, ordered.points);
  // Against the trend, a tie is pooled as a whole: neighbours in the wrong order always share a
  // block. So the fit finds the exact mean of a tie by itself. With the trend, ties fall apart as
  // they should.
  OrderTies(y, increasing == (options.ties == Ties::kPrimary), ordered);
  ordered.y.resize(ordered.points.size());
  if (!weights.empty()) ordered.weights.resize(ordered.points.size());
  ForBlocks(options.pool, static_cast<int64_t>(ordered.points.size()), 65536,
            [&](int64_t begin, int64_t end) {
              for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
                ordered.y[i] = y[Index(ordered.points[i])];
                if (!weights.empty()) ordered.weights[i] = weights[Index(ordered.points[i])];
              }
            });
  return ordered;
}

// The weighted mean of sorted numbers, rounded once: a fit against their order.
double MeanOfAscending(std::span<const double> values, std::span<const double> weights) {
  std::vector<double> fit(values.size());
  Options options;
  options.direction = Direction::kDecreasing;
  const absl::Status status = isotonic::Fit(values, weights, fit, options);
  ASSAY_CHECK(status.ok());
  return fit[0];
}

// y + (to - from), with the two additions rounded as one.
double Shifted(double y, double from, double to) {
  const floating::HiLo<double> shift = floating::TwoSum(to, -from);
  const floating::HiLo<double> sum = floating::TwoSum(y, shift.hi);
  if (std::isfinite(sum.hi)) return sum.hi + (shift.lo + sum.lo);
  // An overflow, perhaps on the way only. Of numbers this large a quarter is exact.
  return 4 * (0.25 * y + (0.25 * to - 0.25 * from));
}

}  // namespace

absl::StatusOr<Spearman> SpearmanCorrelation(std::span<const double> x, std::span<const double> y,
                                             ThreadPool* pool) {
  absl::Status status = CheckPoints(x, y, pool);
  if (!status.ok()) return status;
  const int64_t n = static_cast<int64_t>(x.size());
  // Calls visit(index, rank) with twice the mean rank of each value, less its mean n + 1.
  const auto visit_ranks = [n, pool](std::span<const double> values, auto visit) {
    const internal::BigArray<KeyAndIndex> sorted = SortedWithIndex(values, pool);
    for (size_t begin = 0, end; begin < sorted.size(); begin = end) {
      end = begin + 1;
      while (end < sorted.size() && sorted[end].key == sorted[begin].key) ++end;
      const int64_t rank = static_cast<int64_t>(begin) + static_cast<int64_t>(end) - n;
      for (size_t i = begin; i < end; ++i) visit(Index(sorted[i]), rank);
    }
  };
  __extension__ using Int128 = __int128;
  std::vector<int64_t> rank_of_x(x.size());
  Int128 xx = 0, yy = 0, xy = 0;
  visit_ranks(x, [&](size_t i, int64_t rank) {
    rank_of_x[i] = rank;
    xx += static_cast<Int128>(rank) * rank;
  });
  visit_ranks(y, [&](size_t i, int64_t rank) {
    yy += static_cast<Int128>(rank) * rank;
    xy += static_cast<Int128>(rank) * rank_of_x[i];
  });
  Spearman result{kNaN, kNaN, kNaN, n > 3};
  if (xx == 0 || yy == 0) return result;
  // The root of the product, not the product of roots: so a perfect correlation is exactly 1.
  const double rho =
      static_cast<double>(xy) / Sqrt(static_cast<double>(xx) * static_cast<double>(yy));
  result.rho = std::clamp(rho, -1.0, 1.0);
  if (result.rho == 1 || result.rho == -1) {
    result.lower = result.upper = result.rho;
  } else if (n <= 3) {
    result.lower = -1;
    result.upper = 1;
  } else {
    const double centre = 0.5 * Log((1 + result.rho) / (1 - result.rho));
    const double reach = 1.96 / Sqrt(static_cast<double>(n - 3));
    result.lower = Tanh(centre - reach);
    result.upper = Tanh(centre + reach);
  }
  const auto sign = [](double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; };
  result.ambiguous = sign(result.lower) != sign(result.upper) && n > 3;
  return result;
}

absl::StatusOr<IsotonicRegression> IsotonicRegression::Fit(std::span<const double> x,
                                                           std::span<const double> y,
                                                           std::span<const double> weights,
                                                           const RegressionOptions& options) {
  if (options.ties == Ties::kPrimary) {
    return absl::InvalidArgumentError(
        "ties are kPrimary, expected kSecondary or kTertiary: a function has one value at "
        "each x; see FitPoints");
  }
  absl::StatusOr<Ordered> ordered = Order(x, y, weights, options);
  if (!ordered.ok()) return ordered.status();
  std::vector<double>& fit = ordered->y;
  absl::Status status = isotonic::Fit(
      fit, ordered->weights, fit, {ordered->direction, options.lower, options.upper, options.pool});
  if (!status.ok()) return status;

  std::vector<double> thresholds, values;
  const auto add = [&](double at, double value) {
    if (!thresholds.empty() && thresholds.back() == at) return;
    thresholds.push_back(at);
    values.push_back(value);
  };
  const internal::BigArray<KeyAndIndex>& points = ordered->points;
  std::vector<double> run;
  const size_t n = points.size();
  for (size_t begin = 0, end; begin < n; begin = end) {
    end = begin + 1;
    while (end < n && fit[end] == fit[begin]) ++end;
    const double first = FromOrderedKey(points[begin].key);
    const double last = FromOrderedKey(points[end - 1].key);
    if (options.centred && first < last) {
      run.clear();
      for (size_t i = begin; i < end; ++i) run.push_back(FromOrderedKey(points[i].key));
      if (begin == 0) add(first, fit[begin]);
      add(MeanOfAscending(run, ordered->WeightsOf(begin, end)), fit[begin]);
      if (end == n) add(last, fit[begin]);
    } else {
      add(first, fit[begin]);
      add(last, fit[begin]);
    }
  }
  IsotonicRegression result(std::move(thresholds), std::move(values),
                            ordered->direction == Direction::kIncreasing);
  result.spearman_ = ordered->spearman;
  return result;
}

absl::StatusOr<IsotonicRegression> IsotonicRegression::FromThresholds(std::vector<double> x,
                                                                      std::vector<double> y,
                                                                      Trend trend) {
  absl::Status status = CheckPoints(x, y, nullptr);
  if (!status.ok()) return status;
  const bool increasing =
      trend == Trend::kAuto ? y.front() <= y.back() : trend == Trend::kIncreasing;
  for (size_t i = 1; i < x.size(); ++i) {
    if (x[i] <= x[i - 1]) {
      return absl::InvalidArgumentError(absl::StrCat("x[", i, "] is ", x[i], " after ", x[i - 1],
                                                     ", expected strictly ascending thresholds"));
    }
    if (increasing ? y[i] < y[i - 1] : y[i] > y[i - 1]) {
      return absl::InvalidArgumentError(
          absl::StrCat("y[", i, "] is ", y[i], " after ", y[i - 1], ", expected ",
                       increasing ? "ascending" : "descending", " values"));
    }
  }
  return IsotonicRegression(std::move(x), std::move(y), increasing);
}

absl::Status FitPoints(std::span<const double> x, std::span<const double> y,
                       std::span<const double> weights, std::span<double> fit,
                       const RegressionOptions& options) {
  if (fit.size() != y.size()) {
    return absl::InvalidArgumentError(absl::StrCat("y has ", y.size(), " elements and fit ",
                                                   fit.size(), ", expected as many of each"));
  }
  absl::StatusOr<Ordered> ordered = Order(x, y, weights, options);
  if (!ordered.ok()) return ordered.status();
  const internal::BigArray<KeyAndIndex>& points = ordered->points;
  std::vector<double> sorted_fit(points.size());
  const Options fit_options{ordered->direction, options.lower, options.upper, options.pool};
  absl::Status status = isotonic::Fit(ordered->y, ordered->weights, sorted_fit, fit_options);
  if (!status.ok()) return status;

  if (points.size() < x.size()) {
    for (size_t i = 0; i < x.size(); ++i) {
      if (weights[i] > 0) continue;
      const auto after =
          std::upper_bound(points.begin(), points.end(), OrderedKey(x[i]),
                           [](uint64_t key, const KeyAndIndex& point) { return key < point.key; });
      fit[i] = sorted_fit[static_cast<size_t>(std::max<int64_t>(after - points.begin(), 1) - 1)];
    }
  }
  if (options.ties != Ties::kTertiary) {
    for (size_t i = 0; i < points.size(); ++i) fit[Index(points[i])] = sorted_fit[i];
    return absl::OkStatus();
  }
  std::vector<double> mean;
  const Options unbounded{ordered->direction};
  for (size_t begin = 0, end; begin < points.size(); begin = end) {
    end = ordered->TieEnd(begin);
    if (end - begin == 1) {
      fit[Index(points[begin])] = sorted_fit[begin];
      continue;
    }
    // The order of a tie goes against the trend, so this is its mean.
    mean.resize(end - begin);
    status = isotonic::Fit(std::span<const double>(ordered->y).subspan(begin, end - begin),
                           ordered->WeightsOf(begin, end), mean, unbounded);
    ASSAY_CHECK(status.ok());
    for (size_t i = begin; i < end; ++i) {
      fit[Index(points[i])] = Shifted(ordered->y[i], mean[0], sorted_fit[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::isotonic
