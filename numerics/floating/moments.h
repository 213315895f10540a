// SPDX-License-Identifier: Apache-2.0
// Mean and variance in one pass, in parts that merge: any number of parts, of any length, in any
// nesting. The textbook formulas, good and bad: cancellation.h.
//
// Numbers come in blocks of 512: a block's mean by a pairwise sum, the deviations from it and their
// squares, corrected for the rounding of that mean (two passes over the first-level cache); blocks
// and parts are merged by the formula of Chan, Golub and LeVeque, the mean and the sum of squares
// as double words. All sums are f64 in the virtual lanes of sum.h.
//
// Error, u = 2^-53, with k = the root mean square of x over its standard deviation, k < 2^50:
//   standard deviation: relative (40 + 2 log2(parts)) u + 4 u^2 k, the variance twice that,
//   whatever n (k enters not at all for practical purposes, where the one-pass formula has n u k^2
//   and Welford's n u k)
//   mean: 2 u |mean| + 25 u (standard deviation)
//
// Range: no finite x overflows or underflows on the way; numbers far from 1 are held with a common
// power of two. The variance of numbers around 1e200 is infinite, being 1e400, yet their standard
// deviation is right.
// Special values: a NaN, or infinities of both signs: all results NaN. Infinities of one sign: the
// mean is that infinity, the others NaN. Fewer than two numbers: the sample variance is NaN; none:
// the mean as well.
//
// Exact profile: same bits natively, on every vector width and in wasm, for the same calls in the
// same order. Cost: 6 additions and multiplications an element, no allocation.
// Source: Chan, Golub, LeVeque, Algorithms for computing the sample variance (The American
//   Statistician 37, 1983).
#ifndef ASSAY_NUMERICS_FLOATING_MOMENTS_H_
#define ASSAY_NUMERICS_FLOATING_MOMENTS_H_

#include <cstdint>
#include <span>

#include "numerics/floating/error_free.h"
#include "numerics/floating/half.h"

namespace assay::floating {

// Example: Moments m; m.Add(day1); m.Add(day2); double s = m.StandardDeviation();
class Moments {
 public:
  Moments() = default;
  template <class T>
  explicit Moments(std::span<const T> x) {
    Add(x);
  }

  void Add(double x) { Add(std::span<const double>(&x, 1)); }
  void Add(std::span<const double> x);
  void Add(std::span<const float> x);
  void Add(std::span<const Half> x);
  void Add(std::span<const BFloat16> x);

  // As if all that was added to `other` had been added here.
  void Merge(const Moments& other);

  int64_t count() const { return count_; }
  double Mean() const;
  double Variance() const;            // over n - 1
  double PopulationVariance() const;  // over n
  double StandardDeviation() const;   // root of Variance

 private:
  void AddBlock(const double* x, int64_t n, double largest);
  void AddFinite(const double* x, int64_t n);
  template <class T>
  void AddWide(std::span<const T> x);
  // Into units of 2^exponent.
  void Rescale(int exponent);

  int64_t count_ = 0;           // finite numbers
  int exponent_ = kNoExponent;  // mean_ is in units of 2^exponent_, squares_ of its square
  HiLo<double> mean_ = {0, 0};
  HiLo<double> squares_ = {0, 0};  // sum of squared deviations from the mean
  bool nan_ = false;
  bool plus_infinity_ = false;
  bool minus_infinity_ = false;

  static constexpr int kNoExponent = -100000;  // of nothing but zeros
};

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_MOMENTS_H_
