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
    // Weights and values are brought near 1, so that neither sums nor quotients overflow.
    double largest_weight = 0;
    double largest_value = 0;
    for (size_t i = begin; i < end; ++i) {
      largest_weight = std::max(largest_weight, weight(i));
      largest_value = std::max(largest_value, std::fabs(static_cast<double>(y[i])));
    }
    const auto scale = [](double x) {
      return x == 0 ? 1 : internal::PowerOfTwo(std::clamp(-internal::Exponent(x), -1022, 1023));
    };
    const double w_scale = scale(largest_weight);
    const double y_scale = scale(largest_value);
    CompensatedSum total;
    CompensatedSum moment;
    CompensatedSum sum;
    for (size_t i = begin; i < end; ++i) {
      const double w = weight(i) * w_scale;
      const auto product = floating::TwoProduct(w, static_cast<double>(y[i]) * y_scale);
      total.Add(w);
      moment.Add(product.hi);
      moment.Add(product.lo);
      sum.Add(static_cast<double>(upstream[i]));
    }
    const bool bound = fit[begin] <= lower || fit[begin] >= upper;
    const double per_weight = bound ? 0 : sum.Total() / total.Total();
    const double mean = moment.Total() / total.Total();
    for (size_t i = begin; i < end; ++i) {
      gradient_y[i] = static_cast<T>(weight(i) * w_scale * per_weight);
      if (!gradient_weights.empty()) {
        gradient_weights[i] = static_cast<T>((static_cast<double>(y[i]) * y_scale - mean) *
                                             per_weight * w_scale / y_scale);
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
