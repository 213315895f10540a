// SPDX-License-Identifier: Apache-2.0
//
// Isotonic regression under other losses than squares: quantiles and the median, Huber's loss, and
// the two divergences for positive numbers.
//
//   const std::vector<double> y = {1, 9, 2, 3};
//   std::vector<double> fit(y.size());
//   absl::Status status = assay::isotonic::FitQuantile(y, {}, 0.5, Minimizer::kLower, fit);
//   // fit is 1, 2, 2, 3: the 9 pulls no more
//
// All fits minimise sum_i w_i loss(y_i, f_i) over f_0 <= f_1 <= ... (or >=) and keep the manners of
// isotonic.h: an element of weight 0 gets the fit of the last element before it that has a weight,
// or else of the first; bounds clip the free fit, which is optimal within them; `fit` may be y
// itself; on failure it is as it was. Failure is kInvalidArgument: lengths that differ, a value
// that is not finite, a negative weight, weights all 0, lower > upper, and what a function adds.
// options.pool is used where it says so. Results are the same bits on every machine.
//
// Each loss has its objective. Its terms are not negative, and are added without rounding, so that
// its relative error is that of one term, as long as nothing underflows; +infinity where a term is
// beyond the range of f64.
#ifndef ASSAY_NUMERICS_ISOTONIC_LOSSES_H_
#define ASSAY_NUMERICS_ISOTONIC_LOSSES_H_

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/isotonic/isotonic.h"

namespace assay::isotonic {

// Where a loss is flat at its bottom there are many best fits. They form a lattice: one is the
// least in every element, one the greatest.
enum class Minimizer {
  kLower,   // the least
  kUpper,   // the greatest
  kMiddle,  // halfway between those two in every element, which is a best fit too
};

// Isotonic quantiles: loss(y, f) = tau (y - f) for y >= f, (1 - tau) (f - y) below. tau = 0.5 is
// the isotonic median, the fit of least absolute deviations.
//   y: [n] finite. weights: [n] finite, >= 0, not all 0; or empty, for 1. 0 < tau < 1.
//   fit: [n] out.
// Exact: kLower and kUpper are values of y, found by comparing sums of weights as exact arithmetic
//   does, with tau the f64 that it is; kMiddle is rounded once.
// Cost: O(n log n): one sort, and a pass for each halving of the values, at most log2(n) + 1 of
//   them, with two products and a sign of an exact sum an element. kMiddle takes both others.
// Also fails unless 0 < tau < 1.
// Source: Stout, Isotonic regression via partitioning (Algorithmica 66, 2013): the elements whose
//   fit is above a threshold are found without knowing the fit.
[[nodiscard]] absl::Status FitQuantile(std::span<const double> y, std::span<const double> weights,
                                       double tau, Minimizer which, std::span<double> fit,
                                       const Options& options = {});

// sum_i w_i loss(y_i, f_i) of the above. Relative error of a term: 4 roundings.
[[nodiscard]] absl::StatusOr<double> QuantileLoss(std::span<const double> y,
                                                  std::span<const double> weights, double tau,
                                                  std::span<const double> fit);

// Huber's loss, squares near and absolute values far: loss(y, f) = r^2 / 2 for r = |y - f| <=
// delta, delta (r - delta / 2) beyond.
//   y, weights, fit: as above. delta: positive and finite.
// Exact: the least or greatest best fit of exact arithmetic rounded once, to nearest; halfway
//   cases, down for kLower and up for kUpper. kMiddle is halfway between those two as rounded,
//   rounded again, so within an ulp of the exact middle; a unique best fit has its ties to even.
// Cost: linear: at most 65 passes, one for each bit of an f64; kMiddle twice that. Also fails
//   unless 0 < delta < infinity.
// Source: as FitQuantile, with all of f64 for thresholds.
[[nodiscard]] absl::Status FitHuber(std::span<const double> y, std::span<const double> weights,
                                    double delta, Minimizer which, std::span<double> fit,
                                    const Options& options = {});

// sum_i w_i loss(y_i, f_i) of the above. Relative error of a term: 5 roundings.
[[nodiscard]] absl::StatusOr<double> HuberLoss(std::span<const double> y,
                                               std::span<const double> weights, double delta,
                                               std::span<const double> fit);

// Rates of counts: the most likely monotone rates of Poisson counts y_i w_i at exposures w_i;
// loss(y, f) = y log(y / f) - y + f, the generalised Kullback-Leibler divergence of f from y.
//   y: [n] >= 0, counts per unit of exposure (FitCounts takes whole counts without dividing).
// This is Fit, with its exactness and cost (options.pool too): every Bregman divergence whose
// second argument is the fit has the least-squares fit for its best. Also fails where y is
// negative. Source: Robertson, Wright, Dykstra, Order Restricted Statistical Inference (1988),
// sec. 1.5.
[[nodiscard]] absl::Status FitPoisson(std::span<const double> y, std::span<const double> weights,
                                      std::span<double> fit, const Options& options = {});

// The Poisson deviance, 2 sum_i w_i loss(y_i, f_i) of the above: +infinity where f_i = 0 < y_i.
// Relative error of a term: 16 roundings, also where y and f are close (the series of Loader, Fast
// and accurate computation of binomial probabilities, 2000). y and fit must be >= 0.
[[nodiscard]] absl::StatusOr<double> PoissonDeviance(std::span<const double> y,
                                                     std::span<const double> weights,
                                                     std::span<const double> fit);

// The divergence the other way round, loss(y, f) = f log(f / y) - f + y: blocks get the weighted
// geometric mean of their y.
//   y: [n] >= 0. Where y_i = 0 (with a weight) the fit must be 0, and so at every smaller element.
// Error: relative, (2.3 Z + 3) 2^-53 for Z = max |log y| (at most 745), or 2^-1074 where that is
//   more: Z's share is from rounding logarithms. Elements that are a block of equal y keep y within
//   that bound, most of them exactly.
// Cost: that of Fit (options.pool too), with a logarithm an element. Also fails where y is
//   negative.
[[nodiscard]] absl::Status FitReverseKl(std::span<const double> y, std::span<const double> weights,
                                        std::span<double> fit, const Options& options = {});

// sum_i w_i loss(y_i, f_i) of the above: +infinity where y_i = 0 < f_i. Error as PoissonDeviance.
[[nodiscard]] absl::StatusOr<double> ReverseKlDivergence(std::span<const double> y,
                                                         std::span<const double> weights,
                                                         std::span<const double> fit);

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_LOSSES_H_
