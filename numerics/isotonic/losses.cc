// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/losses.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/isotonic/internal/bounds.h"
#include "numerics/isotonic/internal/check_row.h"
#include "numerics/isotonic/internal/exact_sum.h"
#include "numerics/isotonic/internal/points.h"

namespace assay::isotonic {
namespace {

using internal::CheckFit;
using internal::Dyadic;
using internal::HalfSteps;
using internal::Number;
using internal::Points;
using internal::ProductSum;
using internal::ToDyadic;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Dyadic kOne = {1, 0, false};

absl::Status CheckNonnegative(const char* name, std::span<const double> x) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] >= 0) continue;
    return absl::InvalidArgumentError(std::string(name) + "[" + std::to_string(i) + "] is " +
                                      Number(x[i]) + "; expected >= 0");
  }
  return absl::OkStatus();
}

// Halfway between a and b, rounded once.
double Middle(double a, double b) {
  const double sum = a + b;
  return std::isfinite(sum) ? sum / 2 : a / 2 + b / 2;
}

// The end of the elements of [begin, end) whose fit lies at or below a threshold, where
// slope(i, sum) adds the slope of element i's loss just above the threshold. A block of elements
// j .. l wants to be at or below it if its slopes add up to >= 0; so, by the min-max formula, i
// lies below if for all j <= i there is l >= i with prefix sums T[l + 1] >= T[j]: if the last
// maximum of T comes after i. The greatest best fit has the first maximum in its place.
template <class Slope>
size_t Split(size_t begin, size_t end, bool least, const Slope& slope) {
  size_t best = begin;
  ProductSum rise;  // since `best`
  for (size_t i = begin; i < end; ++i) {
    slope(i, rise);
    const int sign = rise.Sign();
    if (sign > 0 || (sign == 0 && least)) {
      best = i + 1;
      rise.Clear();
    }
  }
  return best;
}

// The fit of each of `size` points as an index of [first, last], values in ascending order.
// slope(k) gives the slopes, as Split wants them, at a threshold between values k and k + 1.
// Elements and values are halved together, so a pass over all elements halves what is open.
template <class SlopeAt>
std::vector<int64_t> Partition(size_t size, int64_t first, int64_t last, bool least,
                               const SlopeAt& slope_at) {
  struct Part {
    size_t begin, end;
    int64_t low, high;
  };
  std::vector<int64_t> found(size);
  std::vector<Part> open = {{0, size, first, last}};
  while (!open.empty()) {
    const Part part = open.back();
    open.pop_back();
    if (part.begin == part.end) continue;
    if (part.low == part.high) {
      for (size_t i = part.begin; i < part.end; ++i) found[i] = part.low;
      continue;
    }
    // Rounded down, without overflow for values of both signs.
    const int64_t middle = (part.low & part.high) + ((part.low ^ part.high) >> 1);
    const size_t split = Split(part.begin, part.end, least, slope_at(middle));
    open.push_back({part.begin, split, part.low, middle});
    open.push_back({split, part.end, middle + 1, part.high});
  }
  return found;
}

// fit_points(points, least) gives one value a point.
template <class FitPoints>
absl::Status FitWhich(std::span<const double> y, std::span<const double> weights, Minimizer which,
                      std::span<double> fit, const Options& options, const FitPoints& fit_points) {
  if (absl::Status status = CheckFit(y, weights, fit.size()); !status.ok()) return status;
  if (absl::Status status = internal::CheckOptions(options); !status.ok()) return status;
  const Points points(y, weights, options.direction);
  if (points.size() == 0) return absl::OkStatus();
  std::vector<double> values = fit_points(points, which != Minimizer::kUpper);
  if (which == Minimizer::kMiddle) {
    const std::vector<double> upper = fit_points(points, false);
    for (size_t i = 0; i < values.size(); ++i) values[i] = Middle(values[i], upper[i]);
  }
  internal::Expand(values, weights, options, fit);
  return absl::OkStatus();
}

absl::Status CheckTau(double tau) {
  if (tau > 0 && tau < 1) return absl::OkStatus();
  return absl::InvalidArgumentError("tau is " + Number(tau) + "; expected 0 < tau < 1");
}

absl::Status CheckDelta(double delta) {
  if (delta > 0 && delta < kInfinity) return absl::OkStatus();
  return absl::InvalidArgumentError("delta is " + Number(delta) +
                                    "; expected a positive finite number");
}

// The numbers of f64 in ascending order: 0 for 0, 1 for the least positive one.
int64_t OrderOf(double x) {
  const auto magnitude = static_cast<int64_t>(FloatBits(x) & ~(uint64_t{1} << 63));
  return FloatBits(x) >> 63 != 0 ? -magnitude : magnitude;
}
double FromOrder(int64_t order) {
  const double magnitude = DoubleFromBits(static_cast<uint64_t>(order < 0 ? -order : order));
  return order < 0 ? -magnitude : magnitude;
}

// The sign of |x - y| - delta, for x halfway between `below` and the next number.
int CompareDistance(double below, const Dyadic& x, double y, double delta) {
  // x - below is at most 2 u |below| or half the least number, and each operation errs by u of its
  // result, where not by nothing.
  const double excess = std::fabs(below - y) - delta;
  if (std::fabs(excess) > 0x1p-50 * (std::fabs(below) + std::fabs(y) + delta)) {
    return excess > 0 ? 1 : -1;
  }
  ProductSum difference;
  difference.Add(x, kOne);
  difference.Add(ToDyadic(y), kOne, true);
  const bool negative = difference.Sign() < 0;
  difference.Add(ToDyadic(delta), kOne, !negative);
  return negative ? -difference.Sign() : difference.Sign();
}

// The sum of w_i term(i), each >= 0.
template <class Term>
double Objective(std::span<const double> weights, size_t size, const Term& term) {
  floating::ExactAccumulator sum;
  for (size_t i = 0; i < size; ++i) {
    if (weights.empty()) {
      sum.Add(term(i));
    } else if (weights[i] > 0) {
      sum.Add(weights[i] * term(i));
    }
  }
  return sum.Round<double>();
}

absl::Status CheckObjective(std::span<const double> y, std::span<const double> weights,
                            std::span<const double> fit) {
  if (absl::Status status = CheckFit(y, weights, fit.size()); !status.ok()) return status;
  for (size_t i = 0; i < fit.size(); ++i) {
    if (std::isfinite(fit[i])) continue;
    return absl::InvalidArgumentError("fit[" + std::to_string(i) + "] is " + Number(fit[i]) +
                                      "; expected a finite number");
  }
  return absl::OkStatus();
}

// x log(x / m) - x + m for x, m >= 0.
double Divergence(double x, double m) {
  if (x == m) return 0;
  if (x == 0) return m;
  if (m == 0) return kInfinity;
  const double difference = x - m, sum = x / 2 + m / 2;
  if (std::fabs(difference) < sum) {
    // With v = (x - m) / (x + m), below 1/2: log(x / m) = 2 (v + v^3 / 3 + v^5 / 5 + ...), so this
    // is v (x - m) + 2 x (v^3 / 3 + v^5 / 5 + ...). The first part has 5 roundings; the second is
    // at most a quarter of the whole, and has 7 and one for each of its few terms.
    const double v = difference / sum / 2, square = v * v;
    double power = 2 * (x * v), tail = 0;  // 2 x may overflow
    for (int k = 3; k < 63; k += 2) {
      power *= square;
      const double next = tail + power / k;
      if (next == tail) break;
      tail = next;
    }
    return difference * v + tail;
  }
  const double ratio = x / m;
  const bool normal = ratio > std::numeric_limits<double>::min() && ratio < kInfinity;
  return x * (normal ? Log(ratio) : Log(x) - Log(m)) - difference;
}

absl::StatusOr<double> TotalDivergence(std::span<const double> y, std::span<const double> weights,
                                       std::span<const double> fit, bool reverse) {
  if (absl::Status status = CheckObjective(y, weights, fit); !status.ok()) return status;
  if (absl::Status status = CheckNonnegative("y", y); !status.ok()) return status;
  if (absl::Status status = CheckNonnegative("fit", fit); !status.ok()) return status;
  return Objective(weights, y.size(), [&](size_t i) {
    return reverse ? Divergence(fit[i], y[i]) : Divergence(y[i], fit[i]);
  });
}

}  // namespace

absl::Status FitQuantile(std::span<const double> y, std::span<const double> weights, double tau,
                         Minimizer which, std::span<double> fit, const Options& options) {
  if (absl::Status status = CheckTau(tau); !status.ok()) return status;
  const auto fit_points = [&](const Points& points, bool least) {
    std::vector<double> values = points.y;
    std::sort(values.begin(), values.end());  // a total order: finite, and no -0
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const Dyadic rate = ToDyadic(tau);
    const auto slope_at = [&](int64_t k) {
      const double threshold = values[static_cast<size_t>(k)];
      return [&, threshold](size_t i, ProductSum& sum) {
        const Dyadic weight = ToDyadic(points.weights[i]);
        if (points.y[i] <= threshold) sum.Add(weight, kOne);
        sum.Add(weight, rate, true);
      };
    };
    const std::vector<int64_t> ranks =
        Partition(points.size(), 0, static_cast<int64_t>(values.size()) - 1, least, slope_at);
    std::vector<double> found;
    for (int64_t rank : ranks) found.push_back(values[static_cast<size_t>(rank)]);
    return found;
  };
  return FitWhich(y, weights, which, fit, options, fit_points);
}

absl::StatusOr<double> QuantileLoss(std::span<const double> y, std::span<const double> weights,
                                    double tau, std::span<const double> fit) {
  if (absl::Status status = CheckTau(tau); !status.ok()) return status;
  if (absl::Status status = CheckObjective(y, weights, fit); !status.ok()) return status;
  return Objective(weights, y.size(), [&](size_t i) {
    return y[i] >= fit[i] ? tau * (y[i] - fit[i]) : (1 - tau) * (fit[i] - y[i]);
  });
}

absl::Status FitHuber(std::span<const double> y, std::span<const double> weights, double delta,
                      Minimizer which, std::span<double> fit, const Options& options) {
  if (absl::Status status = CheckDelta(delta); !status.ok()) return status;
  const auto fit_points = [&](const Points& points, bool least) {
    const Dyadic reach = ToDyadic(delta);
    const auto slope_at = [&](int64_t k) {
      const double below = FromOrder(k);
      const Dyadic threshold = HalfSteps(below, 1);
      return [&, below, threshold](size_t i, ProductSum& sum) {
        const Dyadic weight = ToDyadic(points.weights[i]);
        const double value = points.y[i];
        if (CompareDistance(below, threshold, value, delta) > 0) {
          sum.Add(weight, reach, value > below);
        } else {
          sum.Add(weight, threshold);
          sum.Add(weight, ToDyadic(value), true);
        }
      };
    };
    const auto [low, high] = std::minmax_element(points.y.begin(), points.y.end());
    std::vector<double> found;
    for (int64_t order : Partition(points.size(), OrderOf(*low), OrderOf(*high), least, slope_at)) {
      found.push_back(FromOrder(order));
    }
    return found;
  };
  return FitWhich(y, weights, which, fit, options, fit_points);
}

absl::StatusOr<double> HuberLoss(std::span<const double> y, std::span<const double> weights,
                                 double delta, std::span<const double> fit) {
  if (absl::Status status = CheckDelta(delta); !status.ok()) return status;
  if (absl::Status status = CheckObjective(y, weights, fit); !status.ok()) return status;
  return Objective(weights, y.size(), [&](size_t i) {
    const double r = std::fabs(y[i] - fit[i]);
    return r <= delta ? r * r / 2 : delta * (r - delta / 2);
  });
}

absl::Status FitPoisson(std::span<const double> y, std::span<const double> weights,
                        std::span<double> fit, const Options& options) {
  if (absl::Status status = CheckNonnegative("y", y); !status.ok()) return status;
  return Fit(y, weights, fit, options);
}

absl::StatusOr<double> PoissonDeviance(std::span<const double> y, std::span<const double> weights,
                                       std::span<const double> fit) {
  absl::StatusOr<double> total = TotalDivergence(y, weights, fit, false);
  if (total.ok()) *total *= 2;
  return total;
}

absl::Status FitReverseKl(std::span<const double> y, std::span<const double> weights,
                          std::span<double> fit, const Options& options) {
  if (absl::Status status = CheckFit(y, weights, fit.size()); !status.ok()) return status;
  if (absl::Status status = internal::CheckOptions(options); !status.ok()) return status;
  if (absl::Status status = CheckNonnegative("y", y); !status.ok()) return status;
  const Points points(y, weights, options.direction);
  // Up to the last 0 everything is 0.
  size_t first = points.size();
  while (first > 0 && points.y[first - 1] > 0) --first;
  std::vector<double> logs, values(points.size(), 0.0);
  for (size_t i = first; i < points.size(); ++i) logs.push_back(Log(points.y[i]));
  std::vector<int64_t> ends;
  if (!logs.empty()) {
    Options free;
    free.pool = options.pool;
    absl::Status status =
        Fit(logs, std::span<const double>(points.weights).subspan(first), logs, free, &ends);
    if (!status.ok()) return status;
  }
  size_t begin = first;
  for (int64_t end : ends) {
    const auto from = points.y.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = points.y.begin() + static_cast<std::ptrdiff_t>(first) + end;
    const auto [low, high] = std::minmax_element(from, to);
    double value = std::clamp(Exp(logs[begin - first]), *low, *high);
    // Means of two blocks rise, yet one of them rounded may pass the other.
    if (begin > first) value = std::max(value, values[begin - 1]);
    for (; begin < first + static_cast<size_t>(end); ++begin) values[begin] = value;
  }
  internal::Expand(values, weights, options, fit);
  return absl::OkStatus();
}

absl::StatusOr<double> ReverseKlDivergence(std::span<const double> y,
                                           std::span<const double> weights,
                                           std::span<const double> fit) {
  return TotalDivergence(y, weights, fit, true);
}

}  // namespace assay::isotonic
