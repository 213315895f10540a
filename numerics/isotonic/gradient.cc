// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/floating/error_free.h"
#include "numerics/isotonic/internal/bounds.h"
#include "numerics/isotonic/internal/row.h"
#include "numerics/isotonic/isotonic.h"

namespace assay::isotonic {
namespace {

// Sums with what rounding lost beside them (Neumaier).
class CompensatedSum {
 public:
  void Add(double x) {
    const floating::HiLo<double> sum = floating::TwoSum(high_, x);
    high_ = sum.hi;
    low_ += sum.lo;
  }
  double Total() const { return high_ + low_; }

 private:
  double high_ = 0;
  double low_ = 0;
};

// The exponent of the power of two that brings x into [1, 2); 0 for 0.
int ScaleOf(double x) { return x == 0 ? 0 : -internal::Exponent(x); }

// x 2^exponent, for any sum of three exponents of f64; rounded only if the result is subnormal.
double TimesPowerOfTwo(double x, int exponent) {
  while (exponent > 1023 && x != 0 && std::isfinite(x)) {
    x *= internal::PowerOfTwo(1023);
    exponent -= 1023;
  }
  while (exponent < -1000 && std::fabs(x) >= 1) {
    x *= internal::PowerOfTwo(-1000);
    exponent += 1000;
  }
  return x * internal::PowerOfTwo(std::clamp(exponent, -1022, 1023));
}

template <class T>
absl::Status GradientOf(std::span<const T> y, std::span<const T> weights, std::span<const T> fit,
                        std::span<const int64_t> block_ends, std::span<const T> upstream,
                        const Options& options, std::span<T> gradient_y,
                        std::span<T> gradient_weights) {
  const size_t n = y.size();
  if (fit.size() != n || upstream.size() != n || gradient_y.size() != n ||
      (!weights.empty() && weights.size() != n) ||
      (!gradient_weights.empty() && gradient_weights.size() != n)) {
    return absl::InvalidArgumentError(
        absl::StrCat("y has ", n, " elements, weights ", weights.size(), ", fit ", fit.size(),
                     ", upstream ", upstream.size(), ", gradient_y ", gradient_y.size(),
                     ", gradient_weights ", gradient_weights.size(),
                     "; expected as many of each, or none of weights and their gradient"));
  }
  absl::Status status = internal::CheckOptions(options);
  if (!status.ok()) return status;
  int64_t last = 0;
  size_t ascending = 0;
  for (int64_t end : block_ends) {
    if (end <= last || end > static_cast<int64_t>(n)) break;
    last = end;
    ++ascending;
  }
  if (last != static_cast<int64_t>(n) || ascending != block_ends.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("block_ends must ascend from above 0 to ", n, "; they do up to ", last));
  }
  const T lower = internal::RoundBound<T>(options.lower);
  const T upper = internal::RoundBound<T>(options.upper);
  size_t begin = 0;
  for (int64_t block_end : block_ends) {
    const size_t end = static_cast<size_t>(block_end);
    const auto weight = [&weights](size_t i) {
      return weights.empty() ? 1.0 : static_cast<double>(weights[i]);
    };
    // Weights, values and upstream are brought near 1 and the result is scaled back last, so that
    // nothing on the way leaves f64's range that does not have to.
    double largest_weight = 0;
    double largest_value = 0;
    double largest_upstream = 0;
    for (size_t i = begin; i < end; ++i) {
      largest_weight = std::max(largest_weight, weight(i));
      largest_value = std::max(largest_value, std::fabs(static_cast<double>(y[i])));
      largest_upstream = std::max(largest_upstream, std::fabs(static_cast<double>(upstream[i])));
    }
    const int w_scale = ScaleOf(largest_weight);
    const int y_scale = ScaleOf(largest_value);
    const int g_scale = ScaleOf(largest_upstream);
    CompensatedSum total;
    CompensatedSum moment;
    CompensatedSum sum;
    for (size_t i = begin; i < end; ++i) {
      const double w = TimesPowerOfTwo(weight(i), w_scale);
      const auto product =
          floating::TwoProduct(w, TimesPowerOfTwo(static_cast<double>(y[i]), y_scale));
      total.Add(w);
      moment.Add(product.hi);
      moment.Add(product.lo);
      sum.Add(TimesPowerOfTwo(static_cast<double>(upstream[i]), g_scale));
    }
    const bool bound = fit[begin] <= lower || fit[begin] >= upper;
    const double per_weight = bound ? 0 : sum.Total() / total.Total();
    const double mean = moment.Total() / total.Total();
    for (size_t i = begin; i < end; ++i) {
      gradient_y[i] = static_cast<T>(
          TimesPowerOfTwo(TimesPowerOfTwo(weight(i), w_scale) * per_weight, -g_scale));
      if (!gradient_weights.empty()) {
        const double above = TimesPowerOfTwo(static_cast<double>(y[i]), y_scale) - mean;
        gradient_weights[i] =
            static_cast<T>(TimesPowerOfTwo(above * per_weight, w_scale - y_scale - g_scale));
      }
    }
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Gradient(std::span<const double> y, std::span<const double> weights,
                      std::span<const double> fit, std::span<const int64_t> block_ends,
                      std::span<const double> upstream, const Options& options,
                      std::span<double> gradient_y, std::span<double> gradient_weights) {
  return GradientOf(y, weights, fit, block_ends, upstream, options, gradient_y, gradient_weights);
}
absl::Status Gradient(std::span<const float> y, std::span<const float> weights,
                      std::span<const float> fit, std::span<const int64_t> block_ends,
                      std::span<const float> upstream, const Options& options,
                      std::span<float> gradient_y, std::span<float> gradient_weights) {
  return GradientOf(y, weights, fit, block_ends, upstream, options, gradient_y, gradient_weights);
}

}  // namespace assay::isotonic
