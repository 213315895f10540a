// SPDX-License-Identifier: Apache-2.0
//
// Isotonic regression by its definition, in rational arithmetic: slow and obviously right, for
// tests and labs.
#ifndef ASSAY_NUMERICS_ISOTONIC_ISOTONIC_REFERENCE_H_
#define ASSAY_NUMERICS_ISOTONIC_ISOTONIC_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "numerics/core/bits.h"
#include "numerics/floating/big_integer.h"
#include "numerics/isotonic/isotonic.h"

namespace assay::isotonic {

// The rational x rounded once to T, to nearest, ties to even.
template <class T>
T RoundReference(const floating::Rational& x) {
  if (sizeof(T) == sizeof(double) || x.IsZero()) return static_cast<T>(x.ToDouble());
  // f32 from f64 would round twice. Cut to 53 bits, with the last bit set where something was lost
  // (rounding to odd), the f64 lies on the same side of every midpoint of two f32 as x does.
  const double cut = x.CutTo(53).ToDouble();
  const bool exact = floating::Rational(cut) == x;
  return static_cast<T>(exact ? cut : DoubleFromBits(FloatBits(cut) | 1));
}

// Exact isotonic means: element i gets max over a <= i of min over b >= i of the mean of y[a .. b],
// as rationals; no bounds, no rounding. Weights positive, or empty for 1. Cost: n^2 rational
// operations. Source: Barlow, Bartholomew, Bremner, Brunk 1972 (the min-max formula).
inline std::vector<floating::Rational> IsotonicMeansReference(std::span<const double> y,
                                                              std::span<const double> weights) {
  using floating::Rational;
  const size_t n = y.size();
  std::vector<Rational> fit(n);
  for (size_t a = 0; a < n; ++a) {
    // least[b] = min over b' >= b of the mean of y[a .. b'].
    std::vector<Rational> least(n);
    Rational sum, weight;
    for (size_t b = a; b < n; ++b) {
      const Rational w(weights.empty() ? 1.0 : weights[b]);
      sum = sum + w * Rational(y[b]);
      weight = weight + w;
      least[b] = sum / weight;
    }
    for (size_t b = n - 1; b-- > a;) least[b] = std::min(least[b], least[b + 1]);
    for (size_t i = a; i < n; ++i) fit[i] = a == 0 ? least[i] : std::max(fit[i], least[i]);
  }
  return fit;
}

// What Fit promises for valid arguments (checked by its own tests, not here), for n up to about a
// hundred.
template <class T>
std::vector<T> FitReference(std::span<const T> y, std::span<const T> weights,
                            const Options& options = {},
                            std::vector<int64_t>* block_ends = nullptr) {
  using floating::Rational;
  const bool decreasing = options.direction == Direction::kDecreasing;
  std::vector<double> values, positive;
  std::vector<int64_t> index;  // of the elements that have a weight
  for (size_t i = 0; i < y.size(); ++i) {
    if (!weights.empty() && weights[i] == 0) continue;
    values.push_back(static_cast<double>(y[i]));
    positive.push_back(weights.empty() ? 1.0 : static_cast<double>(weights[i]));
    index.push_back(static_cast<int64_t>(i));
  }
  if (decreasing) {
    std::reverse(values.begin(), values.end());
    std::reverse(positive.begin(), positive.end());
  }
  std::vector<Rational> means = IsotonicMeansReference(values, positive);
  if (decreasing) std::reverse(means.begin(), means.end());

  if (block_ends != nullptr) block_ends->clear();
  std::vector<T> fit(y.size());
  const auto nearest = [](double bound) {
    constexpr double kMost = std::numeric_limits<T>::max();
    return static_cast<T>(std::isinf(bound) ? bound : std::clamp(bound, -kMost, kMost));
  };
  const T lower = nearest(options.lower), upper = nearest(options.upper);
  for (size_t k = 0; k < means.size(); ++k) {
    const T value = std::clamp(RoundReference<T>(means[k]), lower, upper);
    const size_t begin = k == 0 ? 0 : static_cast<size_t>(index[k]);
    const size_t end = k + 1 < index.size() ? static_cast<size_t>(index[k + 1]) : y.size();
    std::fill(fit.begin() + static_cast<std::ptrdiff_t>(begin),
              fit.begin() + static_cast<std::ptrdiff_t>(end), value);
    if (block_ends != nullptr && (k + 1 == means.size() || !(means[k] == means[k + 1]))) {
      block_ends->push_back(static_cast<int64_t>(end));
    }
  }
  return fit;
}

}  // namespace assay::isotonic

#endif  // ASSAY_NUMERICS_ISOTONIC_ISOTONIC_REFERENCE_H_
