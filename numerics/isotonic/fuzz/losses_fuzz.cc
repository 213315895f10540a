// SPDX-License-Identifier: Apache-2.0
//
// Any row under any loss: refused as documented and nothing touched, or the conditions of an
// optimum hold in rational arithmetic.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/floating/big_integer.h"
#include "numerics/isotonic/fuzz/bytes.h"
#include "numerics/isotonic/isotonic.h"
#include "numerics/isotonic/losses.h"
#include "numerics/isotonic/unimodal.h"

namespace assay::isotonic::fuzz {
namespace {

using floating::Rational;
using Vector = std::vector<double>;

constexpr double kUntouched = -7;

struct Row {
  Vector y, weights;
  Options options;

  double Weight(size_t i) const { return weights.empty() ? 1 : weights[i]; }
  bool valid = false;
};

bool IsMonotone(const Vector& fit, Direction direction) {
  for (size_t i = 1; i < fit.size(); ++i) {
    if (direction == Direction::kIncreasing ? fit[i - 1] > fit[i] : fit[i - 1] < fit[i]) {
      return false;
    }
  }
  return true;
}

// Calls `fitter` and checks what holds for every loss. Returns an empty fit where it is refused.
Vector Checked(const Row& row, bool valid,
               const std::function<absl::Status(std::span<double>, const Options&)>& fitter) {
  Vector fit(row.y.size(), kUntouched);
  const absl::Status status = fitter(fit, row.options);
  ASSAY_CHECK_EQ(status.ok(), valid);
  if (!valid) {
    ASSAY_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    ASSAY_CHECK(fit == Vector(row.y.size(), kUntouched));
    return {};
  }
  ASSAY_CHECK(IsMonotone(fit, row.options.direction));
  // Elements of weight 0 copy a neighbour.
  size_t source = 0;
  while (source < fit.size() && row.Weight(source) == 0) ++source;
  for (size_t i = 0; i < fit.size(); ++i) {
    if (row.Weight(i) > 0) source = i;
    ASSAY_CHECK_EQ(fit[i], fit[source]);
  }
  // Bounds clip the free fit.
  Options free;
  free.direction = row.options.direction;
  Vector unbounded(fit.size());
  ASSAY_CHECK(fitter(unbounded, free).ok());
  for (size_t i = 0; i < fit.size(); ++i) {
    ASSAY_CHECK_EQ(fit[i], std::clamp(unbounded[i], row.options.lower, row.options.upper));
  }
  return unbounded;
}

// In each run of equal values no first part gains by falling, and no last part by rising:
// below(i) and above(i) are the slopes of w_i loss_i just below the run's value and just above.
void CheckOptimal(const Row& row, const Vector& fit, const std::function<Rational(size_t)>& below,
                  const std::function<Rational(size_t)>& above) {
  const size_t n = fit.size();
  const auto at = [&](size_t k) {
    return row.options.direction == Direction::kIncreasing ? k : n - 1 - k;
  };
  for (size_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && fit[at(end)] == fit[at(begin)]) ++end;
    Rational first, last;
    for (size_t k = begin; k < end; ++k) {
      const size_t i = at(k), j = at(end - 1 - (k - begin));
      if (row.Weight(i) > 0) first = first + below(i);
      if (row.Weight(j) > 0) last = last + above(j);
      ASSAY_CHECK(!(first > Rational()));
      ASSAY_CHECK(!(last < Rational()));
    }
  }
}

void FuzzQuantile(const Row& row, double tau) {
  const bool valid = row.valid && tau > 0 && tau < 1;
  Vector fits[3];
  for (Minimizer which : {Minimizer::kLower, Minimizer::kUpper, Minimizer::kMiddle}) {
    Vector& fit = fits[static_cast<int>(which)];
    fit = Checked(row, valid, [&](std::span<double> out, const Options& options) {
      return FitQuantile(row.y, row.weights, tau, which, out, options);
    });
    const auto slope = [&](size_t i, bool beyond) {
      const Rational rate = beyond ? Rational(1.0) - Rational(tau) : -Rational(tau);
      return Rational(row.Weight(i)) * rate;
    };
    CheckOptimal(
        row, fit, [&](size_t i) { return slope(i, row.y[i] < fit[i]); },
        [&](size_t i) { return slope(i, row.y[i] <= fit[i]); });
    const absl::StatusOr<double> loss = QuantileLoss(row.y, row.weights, tau, fit);
    ASSAY_CHECK_EQ(loss.ok(), valid || (fit.empty() && row.y.empty() && tau > 0 && tau < 1));
    ASSAY_CHECK(!loss.ok() || *loss >= 0);
  }
  for (size_t i = 0; i < fits[0].size(); ++i) {
    ASSAY_CHECK(fits[0][i] <= fits[2][i] && fits[2][i] <= fits[1][i]);
  }
}

void FuzzHuber(const Row& row, double delta) {
  const bool valid = row.valid && delta > 0 && std::isfinite(delta);
  Vector fits[3];
  const Rational half(false, floating::BigInteger(1), floating::BigInteger(2));
  for (Minimizer which : {Minimizer::kLower, Minimizer::kUpper, Minimizer::kMiddle}) {
    Vector& fit = fits[static_cast<int>(which)];
    fit = Checked(row, valid, [&](std::span<double> out, const Options& options) {
      return FitHuber(row.y, row.weights, delta, which, out, options);
    });
    // Half a step from the fit, the exact one is passed.
    const auto slope = [&](size_t i, double beside) {
      const Rational x = (Rational(fit[i]) + Rational(beside)) * half;
      const Rational reach(delta);
      return Rational(row.Weight(i)) * std::clamp(x - Rational(row.y[i]), -reach, reach);
    };
    constexpr double kMost = std::numeric_limits<double>::max();
    CheckOptimal(
        row, fit, [&](size_t i) { return slope(i, std::nextafter(fit[i], -kMost)); },
        [&](size_t i) { return slope(i, std::nextafter(fit[i], kMost)); });
  }
  for (size_t i = 0; i < fits[0].size(); ++i) {
    ASSAY_CHECK(fits[0][i] <= fits[2][i] && fits[2][i] <= fits[1][i]);
  }
  ASSAY_CHECK(!valid || *HuberLoss(row.y, row.weights, delta, fits[0]) >= 0);
}

void FuzzDivergences(Row row) {
  const bool valid =
      row.valid && std::all_of(row.y.begin(), row.y.end(), [](double v) { return v >= 0; });
  const Vector poisson = Checked(row, valid, [&](std::span<double> out, const Options& options) {
    return FitPoisson(row.y, row.weights, out, options);
  });
  const Vector reverse = Checked(row, valid, [&](std::span<double> out, const Options& options) {
    return FitReverseKl(row.y, row.weights, out, options);
  });
  if (!valid) return;
  for (const Vector* fit : {&poisson, &reverse}) {
    const absl::StatusOr<double> there = PoissonDeviance(row.y, row.weights, *fit);
    const absl::StatusOr<double> back = ReverseKlDivergence(row.y, row.weights, *fit);
    ASSAY_CHECK(there.ok() && *there >= 0 && back.ok() && *back >= 0);
  }
  // A geometric mean is at most the arithmetic one, up to the error of logarithms.
  for (size_t i = 0; i < reverse.size(); ++i) {
    ASSAY_CHECK(reverse[i] <= poisson[i] * (1 + 0x1p-42) + 0x1p-1070);
  }
}

void FuzzUnimodal(const Row& row) {
  const size_t n = row.y.size();
  Vector fit(n, kUntouched);
  const absl::StatusOr<Unimodal> best = FitUnimodal(row.y, row.weights, fit);
  // Bounds are not among the arguments.
  Row free = row;
  Vector ignored(n);
  const bool valid = n > 0 && Fit(row.y, row.weights, ignored).ok();
  ASSAY_CHECK_EQ(best.ok(), valid);
  if (!valid) {
    ASSAY_CHECK(fit == Vector(n, kUntouched));
    return;
  }
  const size_t mode = static_cast<size_t>(best->mode);
  ASSAY_CHECK(mode < n && best->error >= 0);
  for (size_t i = 0; i + 1 < n; ++i) {
    ASSAY_CHECK(i < mode ? fit[i] <= fit[i + 1] : fit[i] >= fit[i + 1]);
    ASSAY_CHECK(i >= mode || fit[i] < fit[mode]);
  }
  // No other cut is better, up to the bound on errors and the rounding of fits.
  const auto error = [&](const Vector& values) {
    Rational sum;
    for (size_t i = 0; i < n; ++i) {
      const Rational r = Rational(values[i]) - Rational(row.y[i]);
      sum = sum + Rational(row.Weight(i)) * r * r;
    }
    return sum;
  };
  Rational squares, slack;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (size_t i = 0; i < n; ++i) {
    const Rational value(row.y[i]), weight(row.Weight(i));
    squares = squares + weight * value * value;
    const Rational ulp(std::max(std::fabs(row.y[i]) * 0x1p-52, 0x1p-1074));
    slack = std::max(slack, ulp);
    if (row.Weight(i) > 0) {
      least = std::min(least, row.Weight(i));
      most = std::max(most, row.Weight(i));
    }
  }
  if (least < most * 0x1p-900) return;  // beyond what the bound covers
  Rational total;
  for (size_t i = 0; i < n; ++i) total = total + Rational(row.Weight(i));
  const Rational allowed =
      error(fit) - squares * Rational(static_cast<double>(n) * 0x1p-97) - total * slack * slack;
  for (size_t cut = 0; cut <= n; ++cut) {
    const auto part = [&](const Vector& x, size_t begin, size_t end) {
      return x.empty() ? Vector()
                       : Vector(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                x.begin() + static_cast<std::ptrdiff_t>(end));
    };
    Vector left(cut), right(n - cut);
    Options falling;
    falling.direction = Direction::kDecreasing;
    const Vector left_y = part(row.y, 0, cut), right_y = part(row.y, cut, n);
    if (!Fit(left_y, part(row.weights, 0, cut), left).ok() ||
        !Fit(right_y, part(row.weights, cut, n), right, falling).ok()) {
      continue;  // a part without any weight
    }
    left.insert(left.end(), right.begin(), right.end());
    ASSAY_CHECK(!(error(left) < allowed));
  }
}

void FuzzOne(Bytes bytes) {
  Row row;
  const uint32_t choice = bytes.Byte();
  const Kind kind = static_cast<Kind>(bytes.Below(kKinds));
  const uint32_t weight_kind = bytes.Below(kKinds + 1);
  const Kind bound_kind = choice & 2 ? Kind::kHostile : Kind::kSmall;
  if (choice & 1) row.options.direction = Direction::kDecreasing;
  if (choice & 4) row.options.lower = bytes.Number<double>(bound_kind);
  if (choice & 8) row.options.upper = bytes.Number<double>(bound_kind);
  const uint32_t parameter_byte = bytes.Byte();
  const double parameter =
      parameter_byte < 192 ? (parameter_byte % 17) / 16.0 : bytes.Number<double>(Kind::kBits);
  const size_t count = bytes.Below(9);
  row.y = bytes.Numbers<double>(kind, count);
  if (weight_kind < kKinds)
    row.weights = bytes.Weights<double>(static_cast<Kind>(weight_kind), count);
  Vector ignored(count);
  row.valid = Fit(row.y, row.weights, ignored, row.options).ok();
  switch (choice >> 4 & 3) {
    case 0:
      return FuzzQuantile(row, parameter);
    case 1:
      return FuzzHuber(row, parameter);
    case 2:
      return FuzzDivergences(row);
    default:
      return FuzzUnimodal(row);
  }
}

}  // namespace
}  // namespace assay::isotonic::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::isotonic::fuzz::FuzzOne(
      assay::isotonic::fuzz::Bytes(std::span<const uint8_t>(data, size)));
  return 0;
}
