// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/unimodal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/big_integer.h"
#include "numerics/isotonic/certificate.h"
#include "numerics/isotonic/isotonic_reference.h"

namespace assay::isotonic {
namespace {

using floating::Rational;
using Vector = std::vector<double>;

constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

// The fit, its mode and its error.
struct Result {
  Vector fit;
  int64_t mode;
  double error;
};
Result Best(const Vector& y, const Vector& weights = {}) {
  Vector fit(y.size());
  const absl::StatusOr<Unimodal> best = FitUnimodal(y, weights, fit);
  EXPECT_TRUE(best.ok()) << best.status();
  if (!best.ok()) return {};
  return {fit, best->mode, best->error};
}

// Rising over y[0 .. cut), falling over the rest, in rationals.
std::vector<Rational> FitAt(const Vector& y, const Vector& weights, size_t cut) {
  const auto part = [](const Vector& x, size_t begin, size_t end, bool reverse) {
    Vector result(x.begin() + static_cast<std::ptrdiff_t>(begin),
                  x.begin() + static_cast<std::ptrdiff_t>(end));
    if (reverse) std::reverse(result.begin(), result.end());
    return result;
  };
  const size_t n = y.size();
  std::vector<Rational> fit, falling;
  if (cut > 0) fit = IsotonicMeansReference(part(y, 0, cut, false), part(weights, 0, cut, false));
  if (cut < n) falling = IsotonicMeansReference(part(y, cut, n, true), part(weights, cut, n, true));
  fit.insert(fit.end(), falling.rbegin(), falling.rend());
  return fit;
}

TEST(FitUnimodalTest, GivesTheFitByHand) {
  const Result best = Best({1, 3, 2, 5, 4, 0});
  EXPECT_EQ(best.fit, (Vector{1, 2.5, 2.5, 5, 4, 0}));
  EXPECT_EQ(best.mode, 3);
  EXPECT_EQ(best.error, 0.5);
  EXPECT_EQ(Best({7}).fit, Vector{7});
  EXPECT_EQ(Best({1, 2, 3}).mode, 2);
  EXPECT_EQ(Best({3, 2, 1}).mode, 0);
  EXPECT_EQ(Best({2, 2, 2}).mode, 0);
  EXPECT_EQ(Best({2, 2, 2}).error, 0);
}

TEST(FitUnimodalTest, TakesTheFirstOfModesThatTie) {
  // Either peak may stand; the other is pooled with the dip.
  const Result first = Best({0, 3, 0, 3, 0});
  EXPECT_EQ(first.fit, (Vector{0, 3, 1.5, 1.5, 0}));
  EXPECT_EQ(first.mode, 1);
  // Thirds are no f64: only a bound on rounding sees that these tie.
  Vector y = {0, 1, 0, 0, 1, 0};
  EXPECT_EQ(Best(y).mode, 1);
  for (double& v : y) v *= 0.1;
  EXPECT_EQ(Best(y).mode, 1);
  // Seven equal peaks between six dips of two.
  y.clear();
  for (int i = 0; i < 19; ++i) y.push_back(i % 3 == 0 ? 0.7 : 0.1);
  EXPECT_EQ(Best(y).mode, 0);
  // A peak higher by one unit in the last place wins, wherever it is.
  y[9] = std::nextafter(0.7, 1.0);
  EXPECT_EQ(Best(y).mode, 9);
}

TEST(FitUnimodalTest, IsTheBestOfAllCuts) {
  Random random(31);
  int late = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const size_t n = static_cast<size_t>(random.Integer(1, 11));
    Vector y, weights;
    for (size_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(i) - static_cast<double>(n) / 2;
      if (trial % 2 == 0) {
        y.push_back(static_cast<double>(random.Integer(4)));  // ties
        weights.push_back(static_cast<double>(random.Integer(1, 3)));
      } else {
        y.push_back(random.Normal() - x * x / 4);
        weights.push_back(random.Uniform() + 0.01);
      }
    }
    Rational least;
    size_t best_cut = 0;
    for (size_t cut = 0; cut <= n; ++cut) {
      const std::vector<Rational> fit = FitAt(y, weights, cut);
      Rational error;
      for (size_t i = 0; i < n; ++i) {
        const Rational r = fit[i] - Rational(y[i]);
        error = error + Rational(weights[i]) * r * r;
      }
      if (cut == 0 || error < least) {
        least = error;
        best_cut = cut;
      }
    }
    const Result result = Best(y, weights);
    const std::vector<Rational> expected = FitAt(y, weights, best_cut);
    size_t mode = 0;
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(result.fit[i], expected[i].ToDouble()) << trial << " " << i;
      if (expected[mode] < expected[i]) mode = i;
    }
    EXPECT_EQ(result.mode, static_cast<int64_t>(mode)) << trial;
    late += mode > 0 ? 1 : 0;
    const double error = least.ToDouble();
    // 5 roundings, and what rounding the fit adds: at most W (u max |fit|)^2.
    double scale = 0, weight = 0;
    for (size_t i = 0; i < n; ++i) {
      scale = std::max(scale, std::fabs(result.fit[i]));
      weight += weights[i];
    }
    EXPECT_NEAR(result.error, error, 6 * 0x1p-53 * error + weight * scale * scale * 0x1p-104)
        << trial;
  }
  EXPECT_GT(late, 200);
}

TEST(FitUnimodalTest, FindsThePeakOf100000Elements) {
  Random random(32);
  Vector y;
  for (int i = 0; i < 100000; ++i) {
    const double x = (i - 70000) * 1e-4;
    y.push_back(std::exp(-x * x) + 0.3 * random.Normal());
  }
  const Result best = Best(y);
  EXPECT_NEAR(static_cast<double>(best.mode), 70000, 2500);
  // Each side is the isotonic fit of its side; the cut lies before the mode or at its block's end.
  const size_t mode = static_cast<size_t>(best.mode);
  bool certified = false;
  for (size_t cut = mode; cut <= y.size() && best.fit[cut - 1] <= best.fit[mode]; ++cut) {
    const auto rising = Certify(std::span<const double>(y).first(cut), {},
                                std::span<const double>(best.fit).first(cut));
    const auto falling = Certify(std::span<const double>(y).subspan(cut), {},
                                 std::span<const double>(best.fit).subspan(cut),
                                 {.direction = Direction::kDecreasing});
    certified = rising.ok() && falling.ok();
    if (certified || best.fit[cut] < best.fit[mode]) break;
  }
  EXPECT_TRUE(certified);
  ThreadPool pool(3);
  Vector fit(y.size());
  ASSERT_TRUE(FitUnimodal(y, {}, fit, &pool).ok());
  EXPECT_EQ(fit, best.fit);
}

TEST(FitUnimodalTest, KeepsItsHeadAtTheEndsOfTheRange) {
  EXPECT_EQ(Best({-kMost, kMost, -kMost, kMost / 2}).fit,
            (Vector{-kMost, kMost, -kMost / 4, -kMost / 4}));
  EXPECT_EQ(Best({0, 3 * kLeast, 0, 2 * kLeast}).fit, (Vector{0, 3 * kLeast, kLeast, kLeast}));
  EXPECT_EQ(Best({0, 3 * kLeast, 0, 2 * kLeast}, {kLeast, kLeast, kLeast, kLeast}).mode, 1);
  EXPECT_EQ(Best({0, 3, 0, 2}, {kMost, kMost, kMost, kMost}).fit, (Vector{0, 3, 1, 1}));
  EXPECT_EQ(Best({0, 3, 0, 2}, {0x1p-400, 0x1p-400, 0x1p400, 0x1p400}).mode, 3);
  EXPECT_EQ(Best({0, 3, 0, 2}, {0x1p400, 0x1p400, 0x1p-400, 0x1p-400}).mode, 1);
}

// Weights whose products underflow, beside one that does not.
TEST(FitUnimodalTest, FindsErrorsWhoseSquaresLeaveTheRange) {
  EXPECT_DOUBLE_EQ(Best({1e300, 0, 1e300}, Vector(3, 1e-300)).error, 5e299);
  EXPECT_DOUBLE_EQ(Best({1e-200, 0, 1e-200}, Vector(3, 1e300)).error, 5e-101);
}

TEST(FitUnimodalTest, TellsMeansOfSmallWeightsApart) {
  const double w = 0x1p-880;
  const Result best = Best({0, 3, 0, 2, 0}, {w, w, w, w, 1});
  EXPECT_EQ(best.fit, (Vector{0, 3, 1, 1, 0}));
  EXPECT_EQ(best.mode, 1);
  EXPECT_EQ(best.error, 2 * w);
  EXPECT_EQ(Best({0, 3, 0, 2, 0x1p-500}, {w, w, w, w, 1}).mode, 1);
  EXPECT_EQ(Best({0, 2, 0, 3, 0}, {w, w, w, w, 1}).mode, 3);
}

TEST(FitUnimodalTest, GivesElementsOfWeight0TheFitOfTheirNeighbours) {
  const Result best = Best({9, 1, 9, 3, 2, 9}, {0, 1, 0, 1, 1, 0});
  EXPECT_EQ(best.fit, (Vector{1, 1, 1, 3, 2, 2}));
  EXPECT_EQ(best.mode, 3);
}

TEST(FitUnimodalTest, RefusesBadInputAndLeavesTheFitAlone) {
  Vector fit = {7, 7};
  const double nan = std::nan("");
  for (const auto& status : {FitUnimodal(Vector{}, {}, std::span<double>()).status(),
                             FitUnimodal(Vector{1, nan}, {}, fit).status(),
                             FitUnimodal(Vector{1, 2}, Vector{1}, fit).status(),
                             FitUnimodal(Vector{1, 2}, Vector{1, -1}, fit).status(),
                             FitUnimodal(Vector{1, 2}, Vector{0, 0}, fit).status(),
                             FitUnimodal(Vector{1, 2, 3}, {}, fit).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
  EXPECT_EQ(fit, (Vector{7, 7}));
}

}  // namespace
}  // namespace assay::isotonic
