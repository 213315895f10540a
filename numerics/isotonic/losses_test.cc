// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/losses.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/floating/big_integer.h"
#include "numerics/isotonic/certificate.h"
#include "numerics/isotonic/isotonic_reference.h"

namespace assay::isotonic {
namespace {

using floating::Rational;
using Vector = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr double kMost = std::numeric_limits<double>::max();

Vector Quantile(const Vector& y, const Vector& weights, double tau, Minimizer which,
                const Options& options = {}) {
  Vector fit(y.size());
  const absl::Status status = FitQuantile(y, weights, tau, which, fit, options);
  EXPECT_TRUE(status.ok()) << status;
  return fit;
}
Vector Huber(const Vector& y, const Vector& weights, double delta, Minimizer which,
             const Options& options = {}) {
  Vector fit(y.size());
  const absl::Status status = FitHuber(y, weights, delta, which, fit, options);
  EXPECT_TRUE(status.ok()) << status;
  return fit;
}
Vector ReverseKl(const Vector& y, const Vector& weights, const Options& options = {}) {
  Vector fit(y.size());
  const absl::Status status = FitReverseKl(y, weights, fit, options);
  EXPECT_TRUE(status.ok()) << status;
  return fit;
}

// Calls visit for every nondecreasing (or nonincreasing) choice of values.
void ForEachMonotone(size_t n, const Vector& values, Direction direction,
                     const std::function<void(const Vector&)>& visit) {
  Vector fit;
  const std::function<void(size_t, size_t)> extend = [&](size_t low, size_t high) {
    if (fit.size() == n) return visit(fit);
    for (size_t k = low; k < high; ++k) {
      fit.push_back(values[k]);
      direction == Direction::kIncreasing ? extend(k, high) : extend(low, k + 1);
      fit.pop_back();
    }
  };
  extend(0, values.size());
}

TEST(FitQuantileTest, GivesTheMedianByHand) {
  EXPECT_EQ(Quantile({1, 9, 2, 3}, {}, 0.5, Minimizer::kLower), (Vector{1, 2, 2, 3}));
  EXPECT_EQ(Quantile({1, 9, 2, 3}, {}, 0.5, Minimizer::kUpper), (Vector{1, 3, 3, 3}));
  EXPECT_EQ(Quantile({1, 9, 2, 3}, {}, 0.5, Minimizer::kMiddle), (Vector{1, 2.5, 2.5, 3}));
  EXPECT_EQ(Quantile({2, 1}, {}, 0.5, Minimizer::kMiddle), (Vector{1.5, 1.5}));
  EXPECT_EQ(Quantile({2, 1}, {2, 1}, 0.5, Minimizer::kLower), (Vector{2, 2}));
  EXPECT_EQ(Quantile({3, 2, 1}, {}, 0.5, Minimizer::kUpper), (Vector{2, 2, 2}));
  EXPECT_EQ(Quantile({1, 2, 3}, {}, 0.5, Minimizer::kLower, {.direction = Direction::kDecreasing}),
            (Vector{2, 2, 2}));
  EXPECT_EQ(Quantile({7}, {}, 0.1, Minimizer::kMiddle), Vector{7});
  EXPECT_EQ(Quantile({}, {}, 0.1, Minimizer::kMiddle), Vector{});
}

// Every monotone choice of values of y, with its objective: the fit's is the least, and in every
// element it is the least, or the greatest, of those that are best. Integers and quarters: exact.
TEST(FitQuantileTest, IsTheLeastOrGreatestOfAllBestFits) {
  Random random(11);
  for (int trial = 0; trial < 400; ++trial) {
    const size_t n = static_cast<size_t>(random.Integer(1, 7));
    const double tau = static_cast<double>(random.Integer(1, 4)) / 4;
    const Direction direction =
        random.Bernoulli(0.5) ? Direction::kIncreasing : Direction::kDecreasing;
    Vector y, weights;
    for (size_t i = 0; i < n; ++i) {
      y.push_back(static_cast<double>(random.Integer(-3, 4)));
      weights.push_back(static_cast<double>(random.Integer(1, 4)));
    }
    if (trial % 2 == 0) weights.clear();
    Vector values = y;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    double best = kInfinity;
    Vector least, greatest;
    ForEachMonotone(n, values, direction, [&](const Vector& fit) {
      double loss = 0;
      for (size_t i = 0; i < n; ++i) {
        const double r = y[i] - fit[i];
        loss += (weights.empty() ? 1 : weights[i]) * (r > 0 ? tau * r : (tau - 1) * r);
      }
      EXPECT_EQ(loss, *QuantileLoss(y, weights, tau, fit));
      if (loss < best) {
        best = loss;
        least = greatest = fit;
      } else if (loss == best) {
        for (size_t i = 0; i < n; ++i) {
          least[i] = std::min(least[i], fit[i]);
          greatest[i] = std::max(greatest[i], fit[i]);
        }
      }
    });
    Vector middle = least;
    for (size_t i = 0; i < n; ++i) middle[i] = (least[i] + greatest[i]) / 2;
    Options options{.direction = direction};
    EXPECT_EQ(Quantile(y, weights, tau, Minimizer::kLower, options), least) << trial;
    EXPECT_EQ(Quantile(y, weights, tau, Minimizer::kUpper, options), greatest) << trial;
    EXPECT_EQ(Quantile(y, weights, tau, Minimizer::kMiddle, options), middle) << trial;
    EXPECT_EQ(*QuantileLoss(y, weights, tau, middle), best) << trial;

    // Within bounds: the least of the best fits there.
    options.lower = -1;
    options.upper = 2;
    Vector bounded = {-1, 2};
    for (double v : values) {
      if (-1 < v && v < 2) bounded.push_back(v);
    }
    std::sort(bounded.begin(), bounded.end());
    best = kInfinity;
    ForEachMonotone(n, bounded, direction, [&](const Vector& fit) {
      const double loss = *QuantileLoss(y, weights, tau, fit);
      if (loss < best) least = fit;
      best = std::min(best, loss);
      if (loss > best) return;
      for (size_t i = 0; i < n; ++i) least[i] = std::min(least[i], fit[i]);
    });
    EXPECT_EQ(Quantile(y, weights, tau, Minimizer::kLower, options), least) << trial;
  }
}

// Sums of weights that rounded arithmetic cannot compare: 2^53 + 1 against 2^53, and tau's own
// rounding.
TEST(FitQuantileTest, ComparesWeightsExactly) {
  EXPECT_EQ(Quantile({2, 1, 1}, {0x1p53 + 2, 0x1p53, 1}, 0.5, Minimizer::kLower),
            (Vector{2, 2, 2}));
  EXPECT_EQ(Quantile({2, 1, 1}, {0x1p53, 0x1p53, 1}, 0.5, Minimizer::kUpper), (Vector{1, 1, 1}));
  EXPECT_EQ(Quantile({2, 1, 1}, {0x1p53, 0x1p53, kLeast}, 0.5, Minimizer::kUpper),
            (Vector{1, 1, 1}));
  EXPECT_EQ(Quantile({2, 1}, {0x1p53, 0x1p53}, 0.5, Minimizer::kUpper), (Vector{2, 2}));
  // The f64 0.1 lies above a tenth, 0.3 below three tenths.
  Vector ten;
  for (int i = 10; i > 0; --i) ten.push_back(i);
  EXPECT_EQ(Quantile(ten, {}, 0.1, Minimizer::kLower), Vector(10, 2));
  EXPECT_EQ(Quantile(ten, {}, 0.3, Minimizer::kUpper), Vector(10, 3));
  EXPECT_EQ(Quantile(ten, {}, 0.5, Minimizer::kMiddle), Vector(10, 5.5));
  EXPECT_EQ(Quantile(ten, {}, kLeast, Minimizer::kUpper), Vector(10, 1));
  EXPECT_EQ(Quantile(ten, {}, 1 - 0x1p-53, Minimizer::kLower), Vector(10, 10));
}

TEST(FitQuantileTest, TakesExtremesAndLeavesOutWeight0) {
  EXPECT_EQ(Quantile({kMost, -kMost}, {}, 0.5, Minimizer::kMiddle), (Vector{0, 0}));
  EXPECT_EQ(Quantile({kMost, kMost / 2}, {}, 0.5, Minimizer::kMiddle),
            (Vector{kMost * 0.75, kMost * 0.75}));
  EXPECT_EQ(Quantile({3 * kLeast, 0}, {kMost, kMost}, 0.5, Minimizer::kMiddle),
            (Vector{2 * kLeast, 2 * kLeast}));
  const Vector zeros = Quantile({0.0, -0.0}, {}, 0.5, Minimizer::kLower);
  for (double v : zeros) EXPECT_EQ(FloatBits(v), 0u);
  EXPECT_EQ(Quantile({9, 3, 7, 1, 0}, {0, 1, 0, 1, 0}, 0.5, Minimizer::kLower),
            (Vector{1, 1, 1, 1, 1}));
  EXPECT_EQ(Quantile({9, 1, 7, 3, 0}, {0, 1, 0, 1, 0}, 0.5, Minimizer::kLower),
            (Vector{1, 1, 1, 3, 3}));
  EXPECT_EQ(Quantile({9, 3, 7, 1, 0}, {0, 1, 0, 1, 0}, 0.5, Minimizer::kLower,
                     {.direction = Direction::kDecreasing}),
            (Vector{3, 3, 3, 1, 1}));
  Vector y = {2, 1};
  EXPECT_TRUE(FitQuantile(y, {}, 0.5, Minimizer::kLower, y).ok());
  EXPECT_EQ(y, (Vector{1, 1}));
}

// The condition for an optimum: in each run of equal values no first part gains by moving down, no
// last part by moving up. Integer weights and tau = 1/4: exact.
TEST(FitQuantileTest, MeetsTheOptimalityConditionsFor100000Elements) {
  Random random(12);
  Vector y, weights;
  for (int i = 0; i < 100000; ++i) {
    y.push_back(i * 1e-4 + random.Normal());
    if (i % 3 == 0) y.back() = std::round(y.back());
    weights.push_back(static_cast<double>(random.Integer(1, 9)));
  }
  for (Minimizer which : {Minimizer::kLower, Minimizer::kUpper}) {
    const Vector fit = Quantile(y, weights, 0.25, which);
    int runs = 0;
    for (size_t begin = 0, end = 0; begin < fit.size(); begin = end, ++runs) {
      while (end < fit.size() && fit[end] == fit[begin]) ++end;
      if (end < fit.size()) {
        ASSERT_LT(fit[begin], fit[end]);
      }
      double slope_below = 0, slope_above = 0;
      for (size_t i = begin; i < end; ++i) {
        slope_below += weights[i] * (y[i] < fit[i] ? 0.75 : -0.25);
        ASSERT_LE(slope_below, 0) << i;
        const size_t j = end - 1 - (i - begin);
        slope_above += weights[j] * (y[j] <= fit[j] ? 0.75 : -0.25);
        ASSERT_GE(slope_above, 0) << j;
      }
    }
    EXPECT_GT(runs, 30);
    EXPECT_LT(runs, 3000);
  }
}

// Huber's loss in rationals: D(x) = sum w clamp(x - y, -delta, delta), and the least or greatest x
// with D(x) = 0.
Rational Slope(const Vector& y, const Vector& weights, size_t begin, size_t end,
               const Rational& delta, const Rational& x) {
  Rational sum;
  for (size_t i = begin; i < end; ++i) {
    const Rational r = x - Rational(y[i]);
    sum = sum + Rational(weights[i]) * std::clamp(r, -delta, delta);
  }
  return sum;
}
Rational HuberRoot(const Vector& y, const Vector& weights, size_t begin, size_t end,
                   const Rational& delta, bool least) {
  std::vector<Rational> corners;
  for (size_t i = begin; i < end; ++i) {
    corners.push_back(Rational(y[i]) - delta);
    corners.push_back(Rational(y[i]) + delta);
  }
  std::sort(corners.begin(), corners.end());
  // The first corner where D >= 0 (or > 0) and the one before: D is straight between.
  for (size_t k = 0; k < corners.size(); ++k) {
    const Rational high = Slope(y, weights, begin, end, delta, corners[k]);
    if (least ? high < Rational() : high <= Rational()) continue;
    const Rational low = Slope(y, weights, begin, end, delta, corners[k - 1]);
    return corners[k - 1] - low * (corners[k] - corners[k - 1]) / (high - low);
  }
  ADD_FAILURE() << "no root";
  return Rational();
}

TEST(FitHuberTest, GivesWhatRationalArithmeticFinds) {
  Random random(13);
  for (int trial = 0; trial < 300; ++trial) {
    const size_t n = static_cast<size_t>(random.Integer(1, 8));
    Vector y, weights;
    double delta = 1;
    for (size_t i = 0; i < n; ++i) {
      switch (trial % 3) {
        case 0:  // flat bottoms and ties
          y.push_back(static_cast<double>(random.Integer(-4, 5)));
          weights.push_back(static_cast<double>(random.Integer(1, 3)));
          break;
        case 1:
          y.push_back(random.Normal());
          weights.push_back(random.Uniform() + 0x1p-60);
          delta = 0.3;
          break;
        default:  // neighbours of 1, where halves of units decide
          y.push_back(1 + static_cast<double>(random.Integer(6)) * 0x1p-52);
          weights.push_back(static_cast<double>(random.Integer(1, 4)));
          delta = 0x1p-52;
      }
    }
    for (const bool least : {true, false}) {
      std::vector<Rational> exact(n);
      for (size_t i = 0; i < n; ++i) {
        std::optional<Rational> most;
        for (size_t a = 0; a <= i; ++a) {
          std::optional<Rational> fewest;
          for (size_t b = i; b < n; ++b) {
            const Rational root = HuberRoot(y, weights, a, b + 1, Rational(delta), least);
            fewest = fewest ? std::min(*fewest, root) : root;
          }
          most = most ? std::max(*most, *fewest) : *fewest;
        }
        exact[i] = *most;
      }
      const Vector fit = Huber(y, weights, delta, least ? Minimizer::kLower : Minimizer::kUpper);
      for (size_t i = 0; i < n; ++i) {
        double expected = exact[i].ToDouble();
        // Halfway, down for the least and up for the greatest.
        const double beside = std::nextafter(expected, least ? -kInfinity : kInfinity);
        const Rational half(false, floating::BigInteger(1), floating::BigInteger(2));
        if ((Rational(expected) + Rational(beside)) * half == exact[i]) expected = beside;
        EXPECT_EQ(fit[i], expected) << trial << " " << i << " " << least;
      }
    }
  }
}

TEST(FitHuberTest, IsLeastSquaresForALargeDelta) {
  Random random(14);
  Vector y, weights;
  for (int i = 0; i < 100000; ++i) {
    y.push_back(i * 1e-4 + random.Normal());
    weights.push_back(random.Uniform() + 0.1);
  }
  for (Direction direction : {Direction::kIncreasing, Direction::kDecreasing}) {
    const Options options{.direction = direction, .lower = 0.5};
    const Vector fit = Huber(y, weights, 1e300, Minimizer::kMiddle, options);
    const absl::Status status = Certify(y, weights, fit, options);
    EXPECT_TRUE(status.ok()) << status;
  }
  // And a tie goes to the even neighbour, from either side.
  const double up = 1 + 0x1p-52, two_up = 1 + 0x1p-51;
  EXPECT_EQ(Huber({up, 1}, {}, 1, Minimizer::kMiddle), (Vector{1, 1}));
  EXPECT_EQ(Huber({two_up, up}, {}, 1, Minimizer::kMiddle), (Vector{two_up, two_up}));
}

// The derivative changes sign at each run's value: no first part gains by falling, no last part by
// rising, up to the rounding of 100,000 slopes.
TEST(FitHuberTest, MeetsTheOptimalityConditionsFor100000Elements) {
  Random random(16);
  Vector y;
  for (int i = 0; i < 100000; ++i) {
    y.push_back(i * 2e-5 + random.Normal() * (random.Bernoulli(0.05) ? 50 : 1));
  }
  const Vector fit = Huber(y, {}, 0.5, Minimizer::kMiddle);
  int runs = 0;
  for (size_t begin = 0, end = 0; begin < fit.size(); begin = end, ++runs) {
    while (end < fit.size() && fit[end] == fit[begin]) ++end;
    if (end < fit.size()) {
      ASSERT_LT(fit[begin], fit[end]);
    }
    double first = 0, last = 0;
    for (size_t i = begin; i < end; ++i) {
      first += std::clamp(fit[i] - y[i], -0.5, 0.5);
      ASSERT_LE(first, 1e5 * 0x1p-48) << i;
      const size_t j = end - 1 - (i - begin);
      last += std::clamp(fit[j] - y[j], -0.5, 0.5);
      ASSERT_GE(last, -1e5 * 0x1p-48) << j;
    }
  }
  EXPECT_GT(runs, 30);
  EXPECT_LT(runs, 3000);
}

TEST(FitHuberTest, IsTheMedianForASmallDelta) {
  const Vector y = {1, 9, 2, 3};
  EXPECT_EQ(Huber(y, {}, 0x1p-300, Minimizer::kLower), (Vector{1, 2, 2, 3}));
  EXPECT_EQ(Huber(y, {}, 0x1p-300, Minimizer::kMiddle), (Vector{1, 2.5, 2.5, 3}));
  // The 9 and the 2 balance from 2.25 on, up to what the 3 wants.
  EXPECT_EQ(Huber(y, {}, 0.25, Minimizer::kMiddle), (Vector{1, 2.625, 2.625, 3}));
  EXPECT_EQ(Huber(y, {}, 0.25, Minimizer::kLower), (Vector{1, 2.25, 2.25, 3}));
}

TEST(FitHuberTest, TakesExtremes) {
  EXPECT_EQ(Huber({kMost, -kMost}, {}, kMost, Minimizer::kMiddle), (Vector{0, 0}));
  EXPECT_EQ(Huber({kMost, -kMost}, {kMost, kLeast}, kMost, Minimizer::kUpper),
            (Vector{kMost, kMost}));
  EXPECT_EQ(Huber({kLeast, 0}, {}, kLeast, Minimizer::kLower), (Vector{0, 0}));
  EXPECT_EQ(Huber({kLeast, 0}, {}, kLeast, Minimizer::kUpper), (Vector{kLeast, kLeast}));
  EXPECT_EQ(Huber({3, 9, 1}, {1, 0, 1}, 5, Minimizer::kMiddle), (Vector{2, 2, 2}));
}

TEST(HuberLossTest, IsQuadraticNearAndLinearFar) {
  EXPECT_EQ(*HuberLoss(Vector{3, 0, 5}, Vector{2, 1, 0}, 2, Vector{2, 3, 1}), 1 + 4);
  EXPECT_EQ(*HuberLoss(Vector{3}, {}, 2, Vector{1}), 2);
  EXPECT_EQ(*HuberLoss(Vector{}, {}, 2, Vector{}), 0);
  EXPECT_EQ(*HuberLoss(Vector{kMost}, {}, 2, Vector{-kMost}), kInfinity);
}

TEST(FitPoissonTest, IsLeastSquaresAndTheDevianceAgrees) {
  const Vector y = {1, 0, 4, 2, 5}, exposure = {2, 1, 1, 3, 1};
  Vector fit(y.size());
  ASSERT_TRUE(FitPoisson(y, exposure, fit).ok());
  EXPECT_EQ(fit, (Vector{2.0 / 3, 2.0 / 3, 2.5, 2.5, 5}));
  const double best = *PoissonDeviance(y, exposure, fit);
  // Rates a thousandth higher or lower, block by block, are less likely.
  for (size_t block : {0, 2, 4}) {
    for (double factor : {0.999, 1.001}) {
      Vector other = fit;
      for (size_t i = block; i < fit.size() && fit[i] == fit[block]; ++i) other[i] *= factor;
      EXPECT_GT(*PoissonDeviance(y, exposure, other), best);
    }
  }
  EXPECT_EQ(*PoissonDeviance(y, exposure, y), 0);
  // (x - m)^2 / m to first order, where 2 x is beyond f64.
  EXPECT_NEAR(*PoissonDeviance(Vector{kMost * (1 - 0x1p-40)}, {}, Vector{kMost}), kMost * 0x1p-80,
              kMost * 0x1p-118);
  EXPECT_EQ(*PoissonDeviance(Vector{1}, {}, Vector{0}), kInfinity);
  EXPECT_EQ(*PoissonDeviance(Vector{0}, Vector{3}, Vector{2}), 12);
  EXPECT_EQ(FitPoisson(Vector{-1, 2}, {}, std::span<double>(fit).first(2)).code(),
            absl::StatusCode::kInvalidArgument);
}

// Powers of two: the exact fit is two to the exact fit of the exponents.
TEST(FitReverseKlTest, GivesGeometricMeans) {
  Random random(15);
  double worst = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const size_t n = static_cast<size_t>(random.Integer(1, 12));
    Vector exponents, weights, y;
    double largest = 0;
    for (size_t i = 0; i < n; ++i) {
      exponents.push_back(static_cast<double>(random.Integer(-1000, 1000)));
      if (trial % 2 == 0) exponents.back() = std::round(exponents.back() / 500);
      weights.push_back(static_cast<double>(random.Integer(1, 5)));
      y.push_back(std::ldexp(1.0, static_cast<int>(exponents.back())));
      largest = std::max(largest, std::fabs(Log(y.back())));
    }
    const Vector fit = ReverseKl(y, weights);
    const std::vector<Rational> exact = IsotonicMeansReference(exponents, weights);
    for (size_t i = 0; i < n; ++i) {
      // Two factors, each right to a rounding: the exponent itself cannot be rounded.
      const double whole = std::floor(exact[i].ToDouble());
      const double part = (exact[i] - Rational(whole)).ToDouble();
      const double expected = std::ldexp(Pow(2.0, part), static_cast<int>(whole));
      const double error = std::fabs(fit[i] / expected - 1) * 0x1p53;
      EXPECT_LE(error, 2.3 * largest + 3 + 3) << trial << " " << i;
      worst = std::max(worst, error);
      if (i > 0) {
        EXPECT_LE(fit[i - 1], fit[i]);
      }
    }
  }
  EXPECT_GT(worst, 1);  // the measure measures
}

// A pooled mean beside a number that is hardly larger: rounded, the one must not pass the other.
TEST(FitReverseKlTest, StaysMonotoneWhereRoundedMeansCross) {
  Random random(17);
  int moved = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const double p = std::ldexp(1 + random.Uniform(), static_cast<int>(random.Integer(1000)));
    const double q = p * random.Uniform();
    const double r = Sqrt(p) * Sqrt(q) * (1 + static_cast<double>(random.Integer(8)) * 0x1p-52);
    const Vector fit = ReverseKl({p, q, r}, {});
    ASSERT_LE(fit[0], fit[1]) << p << " " << q;
    ASSERT_LE(fit[1], fit[2]) << p << " " << q;
    moved += fit[1] == fit[2] && fit[2] > r ? 1 : 0;
  }
  EXPECT_GT(moved, 10);
}

TEST(FitReverseKlTest, IsExactWhereNothingPoolsAndZeroUpToTheLastZero) {
  EXPECT_EQ(ReverseKl({1, 3, 5, 1e300}, {}), (Vector{1, 3, 5, 1e300}));
  EXPECT_EQ(ReverseKl({0.1, 0.1, 7, kLeast}, {1, 1, 0, 0}), (Vector{0.1, 0.1, 0.1, 0.1}));
  const Vector zeros = ReverseKl({4, 0, 9, 1}, {});
  EXPECT_EQ(zeros[0], 0);
  EXPECT_EQ(zeros[1], 0);
  EXPECT_NEAR(zeros[2], 3, 3 * (2.3 * 2.2 + 3) * 0x1p-53);
  EXPECT_EQ(zeros[3], zeros[2]);
  EXPECT_EQ(ReverseKl({4, 0, 9, 1}, {}, {.direction = Direction::kDecreasing}),
            (Vector{4, 0, 0, 0}));
  EXPECT_EQ(ReverseKl({4, 0, 9, 1}, {1, 0, 1, 1}, {.upper = 2}), (Vector{2, 2, 2, 2}));
  EXPECT_EQ(ReverseKl({0, 0}, {}), (Vector{0, 0}));
  EXPECT_EQ(*ReverseKlDivergence(Vector{2, 0}, {}, Vector{2, 1}), kInfinity);
  EXPECT_EQ(*ReverseKlDivergence(Vector{2, 3}, Vector{1, 2}, Vector{2, 0}), 6);
}

TEST(LossesTest, RefuseBadInputAndLeaveTheFitAlone) {
  const Vector y = {2, 1}, before = {7, 7};
  Vector fit = before;
  const auto all = [&](const Vector& values, const Vector& weights, const Options& options,
                       std::span<double> out) {
    return std::vector<absl::Status>{
        FitQuantile(values, weights, 0.5, Minimizer::kLower, out, options),
        FitHuber(values, weights, 1, Minimizer::kMiddle, out, options),
        FitPoisson(values, weights, out, options), FitReverseKl(values, weights, out, options)};
  };
  std::vector<absl::Status> statuses;
  for (double bad : {std::nan(""), kInfinity, -kInfinity}) {
    for (const auto& s : all({2, bad}, {}, {}, fit)) statuses.push_back(s);
    for (const auto& s : all(y, {1, bad}, {}, fit)) statuses.push_back(s);
    statuses.push_back(FitQuantile(y, {}, bad, Minimizer::kLower, fit));
    statuses.push_back(FitHuber(y, {}, bad, Minimizer::kLower, fit));
    statuses.push_back(QuantileLoss(y, {}, 0.5, Vector{1, bad}).status());
    statuses.push_back(HuberLoss(y, {}, 1, Vector{1, bad}).status());
    statuses.push_back(PoissonDeviance(y, {}, Vector{1, bad}).status());
    statuses.push_back(ReverseKlDivergence(y, {}, Vector{1, bad}).status());
  }
  for (double bad : {0.0, 1.0, -0.5}) {
    statuses.push_back(FitQuantile(y, {}, bad, Minimizer::kLower, fit));
    statuses.push_back(QuantileLoss(y, {}, bad, y).status());
  }
  for (double bad : {0.0, -1.0}) {
    statuses.push_back(FitHuber(y, {}, bad, Minimizer::kLower, fit));
    statuses.push_back(HuberLoss(y, {}, bad, y).status());
  }
  for (const auto& s : all(y, {1, -1}, {}, fit)) statuses.push_back(s);
  for (const auto& s : all(y, {0, 0}, {}, fit)) statuses.push_back(s);
  for (const auto& s : all(y, {1}, {}, fit)) statuses.push_back(s);
  for (const auto& s : all(y, {}, {}, std::span<double>(fit).first(1))) statuses.push_back(s);
  for (const auto& s : all(y, {}, {.lower = 1, .upper = 0}, fit)) statuses.push_back(s);
  for (const auto& s : all(y, {}, {.lower = std::nan("")}, fit)) statuses.push_back(s);
  statuses.push_back(FitReverseKl(Vector{1, -1}, {}, fit));
  statuses.push_back(PoissonDeviance(Vector{1, -1}, {}, y).status());
  statuses.push_back(PoissonDeviance(y, {}, Vector{1, -1}).status());
  for (size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_EQ(statuses[i].code(), absl::StatusCode::kInvalidArgument) << i << statuses[i];
  }
  EXPECT_EQ(fit, before);
}

}  // namespace
}  // namespace assay::isotonic
