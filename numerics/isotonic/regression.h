// SPDX-License-Identifier: Apache-2.0
//
// Isotonic regression of points: from (x, y, weight) to a monotone function that can be asked.
//
//   auto f = IsotonicRegression::Fit(x, y, /*weights=*/{});
//   absl::Status status = f->Predict(queries, out);      // linear between thresholds
//
// The function is what scikit-learn's IsotonicRegression gives: points of equal x are one point at
// their weighted mean, the fit is kept at the ends of its constant runs (the thresholds), and
// between two thresholds it is a straight line. What differs: every value of the fit is the exact
// one rounded once, equal x means equal (scikit-learn also merges x closer than 1e-15), and bad
// input is an error where scikit-learn gives infinities or silently does something else.
#ifndef ASSAY_NUMERICS_ISOTONIC_REGRESSION_H_
#define ASSAY_NUMERICS_ISOTONIC_REGRESSION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"

namespace assay::isotonic {

enum class Trend {
  kIncreasing,
  kDecreasing,
  // The sign of Spearman's rank correlation of x and y: increasing where it is >= 0, decreasing
  // where it is negative or undefined (x or y constant), as scikit-learn decides.
  kAuto,
};

// What becomes of points with the same x. (de Leeuw, Hornik, Mair 2009, "Isotone optimization in
// R", sec. 3.3.)
enum class Ties {
  kPrimary,    // ordered by y among themselves, so their fits may differ
  kSecondary,  // one point at their weighted mean: their fits are equal
  kTertiary,   // their means are monotone; each point keeps its distance from its tie's mean
};

// The function between two thresholds. At a threshold all three give its y.
enum class Interpolation {
  kLinear,    // a straight line
  kStep,      // the y of the threshold before: continuous from the right
  kStepNext,  // the y of the threshold after: continuous from the left; R's as.stepfun of an isoreg
};

// The function below the first threshold and above the last.
enum class Outside {
  kNan,    // NaN
  kClip,   // the y of the nearest threshold
  kRaise,  // no prediction at all: an error
};

struct RegressionOptions {
  Trend trend = Trend::kIncreasing;
  // Bounds of the fit, which is the free fit, clipped. lower <= upper; infinite means none.
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Ties ties = Ties::kSecondary;
  // A point ties with the first point of the tie before it, not only if its x is equal, but also if
  // it is less than x_tolerance beyond; the tie lies at its first x. Finite, >= 0.
  double x_tolerance = 0;
  // Contracts each constant run of the fit to one threshold at the weighted mean of its x, so that
  // the function is strictly monotone between the first and last of them; it is constant from there
  // to the smallest and largest x. For IsotonicRegression only.
  // Source: Oron, Flournoy 2017, "Centered isotonic regression".
  bool centred = false;
  // Threads to work with; null: the caller alone. No result depends on it.
  ThreadPool* pool = nullptr;
};

// Spearman's rank correlation and what it is worth.
struct Spearman {
  double rho;  // in [-1, 1]; NaN where x or y is constant
  // A 95% confidence interval by Fisher's transform, tanh(atanh(rho) -+ 1.96 / sqrt(n - 3)). It is
  // [rho, rho] for rho = +-1 and [-1, 1] for n <= 3; NaN where rho is.
  double lower;
  double upper;
  // Whether the ends of the interval differ in sign, or rho is NaN, for n > 3: scikit-learn warns.
  bool ambiguous;
};

// Spearman's correlation of x and y, equal values sharing the mean of their ranks; unweighted.
//   x, y: [n] finite, n >= 1. -0 and +0 are equal.
// Error: the sums are exact integers, so the sign of rho is right and rho is within 5 roundings;
//   lower and upper within 1e-14. n < 2^32. Cost: two sorts.
// Fails with kInvalidArgument if lengths differ, n is 0 or too large, or a value is not finite.
[[nodiscard]] absl::StatusOr<Spearman> SpearmanCorrelation(std::span<const double> x,
                                                           std::span<const double> y,
                                                           ThreadPool* pool = nullptr);

// A monotone function given by thresholds: copyable, immutable, safe to share between threads.
class IsotonicRegression {
 public:
  // The isotonic regression of points.
  //   x, y: [n] finite, in any order, n >= 1. -0 and +0 are the same x.
  //   weights: [n] finite, >= 0, not all 0; or empty, for weights of 1. Points of weight 0 are left
  //     out (but count for Trend::kAuto, as in scikit-learn).
  // Exact: the y of each threshold is the exact regression rounded once, and with `centred` so is
  //   its x. Cost: a radix sort, the linear fit, and another sort for Trend::kAuto; about 40 bytes
  //   of memory a point.
  // Fails with kInvalidArgument if n is 0, lengths differ, a value is NaN or infinite, a weight is
  //   negative, all weights are 0, lower > upper or a bound is NaN, x_tolerance is negative or not
  //   finite, or ties are kPrimary: that fit has several values at one x, so it is no function; see
  //   FitPoints. (kTertiary gives the same function as kSecondary.)
  [[nodiscard]] static absl::StatusOr<IsotonicRegression> Fit(
      std::span<const double> x, std::span<const double> y, std::span<const double> weights,
      const RegressionOptions& options = {});

  // The function through given thresholds, such as those of a stored regression.
  //   x: [m] finite, strictly ascending, 1 <= m < 2^32; y: [m] finite, monotone the way of `trend`.
  //   kAuto takes the way that y goes, and counts a constant as increasing.
  // Fails with kInvalidArgument otherwise.
  [[nodiscard]] static absl::StatusOr<IsotonicRegression> FromThresholds(
      std::vector<double> x, std::vector<double> y, Trend trend = Trend::kAuto);

  // [m] the thresholds, ascending, at least 1; and [m] the function there.
  std::span<const double> x_thresholds() const { return x_; }
  std::span<const double> y_thresholds() const { return y_; }
  bool increasing() const { return increasing_; }
  // What Trend::kAuto went by; nothing for the other trends.
  const std::optional<Spearman>& spearman() const { return spearman_; }

  // The function at each query.
  //   queries: [k] finite. out: [k]; may be queries itself, otherwise must not overlap it.
  // Between thresholds a and b, kLinear computes y_a + (x - x_a) / (x_b - x_a) * (y_b - y_a) as
  //   written, cut off at y_b; where one of the differences overflows, on halves. So it is monotone
  //   in x, lies between y_a and y_b, and errs by at most 5 roundings of |y_b - y_a| and one of the
  //   result. f32 rounds that once more. The steps are exact.
  // A function of one threshold is constant there, and Outside decides elsewhere (scikit-learn
  //   predicts the constant everywhere, even when told to raise).
  // Cost: a table look-up and a few branch-free steps a query: at worst log2(m), where thresholds
  //   crowd together.
  // Fails with kInvalidArgument, and out as it was, if lengths differ or a query is NaN or
  //   infinite; and with kOutOfRange for Outside::kRaise, naming the first query outside.
  [[nodiscard]] absl::Status Predict(std::span<const double> queries, std::span<double> out,
                                     Interpolation interpolation = Interpolation::kLinear,
                                     Outside outside = Outside::kNan,
                                     ThreadPool* pool = nullptr) const;
  [[nodiscard]] absl::Status Predict(std::span<const float> queries, std::span<float> out,
                                     Interpolation interpolation = Interpolation::kLinear,
                                     Outside outside = Outside::kNan,
                                     ThreadPool* pool = nullptr) const;

 private:
  IsotonicRegression(std::vector<double> x, std::vector<double> y, bool increasing);
  size_t Cell(double x) const;
  template <class T>
  absl::Status PredictAny(std::span<const T> queries, std::span<T> out, Interpolation interpolation,
                          Outside outside, ThreadPool* pool) const;

  std::vector<double> x_;
  std::vector<double> y_;
  bool increasing_;
  std::optional<Spearman> spearman_;
  // Where to look for x: cells of equal width from the first threshold to the last. Thresholds
  // first_[c] to first_[c + 1] - 1 lie in cell c.
  double cells_per_x_;
  std::vector<uint32_t> first_;
};

// The fit of each point, by any of the three rules for ties.
//   x, y, weights: as for IsotonicRegression::Fit.
//   fit: [n] out; may be y itself, otherwise must not overlap x, y or weights.
// A point of weight 0 takes no part: it gets the fit of its tie (of the last of them that has a
//   weight, for kPrimary; the fit of the mean, for kTertiary), or where the whole tie weighs
//   nothing that of the last point before it, or else of the first.
// Exact for kPrimary and kSecondary: the exact fit, rounded once. kTertiary computes
//   y_i + (fit of the tie - mean of the tie) from the two rounded once, without overflow on the
//   way; bounds hold for the fit of the means. Error: 2.5 ulp of the largest of the three. A result
//   beyond the range of f64 is infinite.
// options.centred is not looked at. Cost and failures as for IsotonicRegression::Fit, but every
//   rule for ties is allowed; fit is then as it was.
[[nodiscard]] absl::Status FitPoints(std::span<const double> x, std::span<const double> y,
                                     std::span<const double> weights, std::span<double> fit,
                                     const RegressionOptions& options = {});

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_REGRESSION_H_
