// SPDX-License-Identifier: Apache-2.0
//
// Expected values marked "scikit-learn" are printed by 1.2.1 of it (with scipy 1.10.1, for
// Spearman's correlation), those marked "R" by isoreg and as.stepfun of R 4.2.2.
#include "numerics/isotonic/regression.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"

namespace assay::isotonic {
namespace {

using Vector = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Vector ToVector(std::span<const double> x) { return Vector(x.begin(), x.end()); }

IsotonicRegression MustFit(const Vector& x, const Vector& y, const Vector& weights = {},
                           const RegressionOptions& options = {}) {
  absl::StatusOr<IsotonicRegression> f = IsotonicRegression::Fit(x, y, weights, options);
  EXPECT_TRUE(f.ok()) << f.status();
  return *f;
}

Vector Ask(const IsotonicRegression& f, const Vector& queries,
           Interpolation interpolation = Interpolation::kLinear, Outside outside = Outside::kNan) {
  Vector out(queries.size());
  EXPECT_TRUE(f.Predict(queries, out, interpolation, outside).ok());
  return out;
}

Vector MustFitPoints(const Vector& x, const Vector& y, const Vector& weights, Ties ties,
                     Trend trend = Trend::kIncreasing) {
  RegressionOptions options;
  options.ties = ties;
  options.trend = trend;
  Vector fit(y.size(), kNaN);
  EXPECT_TRUE(FitPoints(x, y, weights, fit, options).ok());
  return fit;
}

bool SameBits(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double u, double v) { return CanonicalBits(u) == CanonicalBits(v); });
}

// ---- The function ----

TEST(RegressionTest, PoolsTiesAsScikitLearnDoes) {
  const IsotonicRegression f = MustFit({4, 1, 3, 2, 2, 3, 5, 6, 6}, {3, 1, 2, 5, 1, 6, 4, 9, 6});
  EXPECT_TRUE(f.increasing());
  EXPECT_FALSE(f.spearman().has_value());
  EXPECT_EQ(ToVector(f.x_thresholds()), (Vector{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{1, 3, 11.0 / 3, 11.0 / 3, 4, 7.5}));
  EXPECT_EQ(Ask(f, {1, 1.25, 2, 3, 4.5, 5.75, 6}),
            (Vector{1, 1.5, 3, 11.0 / 3, 3.833333333333333, 6.625, 7.5}));
  EXPECT_NEAR(Ask(f, {2.5})[0], 3.333333333333333, 1e-15);
}

TEST(RegressionTest, LeavesOutPointsOfWeightZero) {  // scikit-learn
  const IsotonicRegression f = MustFit({1, 2, 3, 4, 5, 6}, {2, 6, 1, 5, 5, 9}, {1, 2, 1, 0, 4, 3});
  EXPECT_EQ(ToVector(f.x_thresholds()), (Vector{1, 2, 3, 5, 6}));
  EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{2, 13.0 / 3, 13.0 / 3, 5, 9}));
  EXPECT_EQ(Ask(f, {1.5, 2.5, 5.5}), (Vector{3.1666666666666665, 13.0 / 3, 7}));
}

TEST(RegressionTest, ClipsToBounds) {  // scikit-learn
  RegressionOptions options;
  options.lower = 2.5;
  options.upper = 4.25;
  const IsotonicRegression f = MustFit({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}, {}, options);
  EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{2.5, 2.5, 3, 4, 4.25}));
  EXPECT_EQ(Ask(f, {0, 1.5, 2.25, 4.5, 9}, Interpolation::kLinear, Outside::kClip),
            (Vector{2.5, 2.5, 2.625, 4.125, 4.25}));
}

TEST(RegressionTest, Decreases) {  // scikit-learn
  for (Trend trend : {Trend::kDecreasing, Trend::kAuto}) {
    RegressionOptions options;
    options.trend = trend;
    const IsotonicRegression f = MustFit({1, 2, 3, 4, 5}, {5, 7, 3, 4, 1}, {}, options);
    EXPECT_FALSE(f.increasing());
    EXPECT_EQ(f.spearman().has_value(), trend == Trend::kAuto);
    EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{6, 6, 3.5, 3.5, 1}));
    EXPECT_EQ(Ask(f, {1.5, 2.5, 4.5}), (Vector{6, 4.75, 2.25}));
  }
}

TEST(RegressionTest, KeepsOnlyTheEndsOfConstantRuns) {
  const IsotonicRegression f = MustFit({1, 2, 3, 4, 5, 6, 7}, {5, 4, 3, 2, 9, 8, 20});
  EXPECT_EQ(ToVector(f.x_thresholds()), (Vector{1, 4, 5, 6, 7}));
  EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{3.5, 3.5, 8.5, 8.5, 20}));
}

TEST(RegressionTest, FollowsAutoRule) {
  RegressionOptions options;
  options.trend = Trend::kAuto;
  // Constant y has no correlation: decreasing, as scikit-learn decides.
  EXPECT_FALSE(MustFit({1, 2, 3}, {2, 2, 2}, {}, options).increasing());
  EXPECT_FALSE(MustFit({1, 1, 1}, {1, 2, 3}, {}, options).increasing());
  // A correlation of exactly 0: increasing.
  const IsotonicRegression flat = MustFit({1, 2, 3, 4}, {1, 2, 2, 1}, {}, options);
  EXPECT_EQ(flat.spearman()->rho, 0);
  EXPECT_TRUE(flat.increasing());
  EXPECT_FALSE(MustFit({1, 2}, {2, 1}, {}, options).increasing());
  // Points of weight 0 are left out of the fit, but not of the correlation.
  const IsotonicRegression f = MustFit({1, 2, 3, 4}, {1, 0, -5, -6}, {1, 1, 0, 0}, options);
  EXPECT_FALSE(f.increasing());
  EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{1, 0}));
}

TEST(RegressionTest, TiesZerosOfBothSigns) {
  const IsotonicRegression f = MustFit({-0.0, 0.0, 1}, {1, 3, 5});
  EXPECT_EQ(ToVector(f.x_thresholds()), (Vector{0, 1}));
  EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{2, 5}));
  EXPECT_EQ(Ask(f, {-0.0, 0.0}), (Vector{2, 2}));
}

TEST(RegressionTest, TellsNeighboursApart) {
  for (double x : {1.0, 0.0, -1.0, 1e300}) {
    const double next = std::nextafter(x, kInfinity);
    const IsotonicRegression f = MustFit({x, next}, {1, 2});
    EXPECT_EQ(ToVector(f.x_thresholds()), (Vector{x, next}));
    EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{1, 2}));
  }
}

TEST(RegressionTest, MergesCloseXOnlyWhenAsked) {
  const Vector x = {0, 0.05, 0.1, 0.15, 1}, y = {1, 2, 4, 8, 16};
  EXPECT_EQ(MustFit(x, y).x_thresholds().size(), 5u);
  RegressionOptions options;
  options.x_tolerance = 0.1;  // 0.05 joins 0; 0.1 does not, and 0.15 joins it
  const IsotonicRegression f = MustFit(x, y, {}, options);
  EXPECT_EQ(ToVector(f.x_thresholds()), (Vector{0, 0.1, 1}));
  EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{1.5, 6, 16}));
}

TEST(RegressionTest, DoesNotOverflow) {
  const IsotonicRegression f = MustFit({1, 2, 3}, {1e308, 1e308, -1e308});
  const double third = 1e308 / 3;
  EXPECT_LE(UlpDistance(f.y_thresholds()[0], third), 1u);
  EXPECT_EQ(f.y_thresholds()[1], f.y_thresholds()[0]);
  // Ties, and a centre.
  RegressionOptions options;
  options.centred = true;
  const IsotonicRegression g =
      MustFit({-1.5e308, 1.5e308, 1.6e308, 1.6e308}, {1, 1, 1.75e308, 1.25e308}, {}, options);
  EXPECT_EQ(ToVector(g.x_thresholds()), (Vector{-1.5e308, 0, 1.6e308}));
  EXPECT_EQ(g.y_thresholds()[2], 1.5e308);
  // Between thresholds further apart than the largest number.
  EXPECT_EQ(Ask(MustFit({-1.5e308, 1.5e308}, {0, 1}), {0}), (Vector{0.5}));
  EXPECT_EQ(Ask(MustFit({0, 1}, {-1.5e308, 1.5e308}), {0.5}), (Vector{0}));
  const IsotonicRegression h = MustFit({-1.5e308, 1.5e308}, {-1.5e308, 1.5e308});
  EXPECT_EQ(Ask(h, {-1.5e308, -0.75e308, 0, 0.75e308, 1.5e308}),
            (Vector{-1.5e308, -0.75e308, 0, 0.75e308, 1.5e308}));
}

TEST(RegressionTest, ContractsBlocksToTheirCentres) {
  RegressionOptions options;
  options.centred = true;
  const Vector x = {1, 2, 3, 4, 5, 7}, y = {3, 1, 4, 6, 5, 5};
  // Blocks {1, 2}, {3}, {4, 5, 7}; weights pull the last centre to (4 + 5 + 2 * 7) / 4.
  const IsotonicRegression f = MustFit(x, y, {1, 1, 1, 1, 1, 2}, options);
  EXPECT_EQ(ToVector(f.x_thresholds()), (Vector{1, 1.5, 3, 5.75, 7}));
  EXPECT_EQ(ToVector(f.y_thresholds()), (Vector{2, 2, 4, 5.25, 5.25}));
  // Without blocks it is the plain regression.
  const IsotonicRegression g = MustFit({1, 2, 3}, {1, 2, 3}, {}, options);
  EXPECT_EQ(ToVector(g.x_thresholds()), (Vector{1, 2, 3}));
}

TEST(RegressionTest, TertiaryTiesGiveTheFunctionOfSecondaryOnes) {
  RegressionOptions options;
  options.ties = Ties::kTertiary;
  const Vector x = {1, 1, 2, 2, 3}, y = {4, 0, 1, 1, 9};
  EXPECT_TRUE(SameBits(MustFit(x, y, {}, options).y_thresholds(), MustFit(x, y).y_thresholds()));
}

TEST(RegressionTest, RebuildsFromThresholds) {
  const IsotonicRegression f = MustFit({1, 2, 3, 4}, {1, 5, 3, 8});
  const absl::StatusOr<IsotonicRegression> g =
      IsotonicRegression::FromThresholds(ToVector(f.x_thresholds()), ToVector(f.y_thresholds()));
  ASSERT_TRUE(g.ok());
  const Vector queries = {1, 1.7, 2.2, 3.9, 4};
  EXPECT_TRUE(SameBits(Ask(f, queries), Ask(*g, queries)));
  EXPECT_FALSE(IsotonicRegression::FromThresholds({4, 5}, {2, 1})->increasing());
  EXPECT_TRUE(IsotonicRegression::FromThresholds({4, 5}, {2, 2})->increasing());
  EXPECT_FALSE(
      IsotonicRegression::FromThresholds({4, 5}, {2, 2}, Trend::kDecreasing)->increasing());
}

// ---- Asking ----

TEST(PredictTest, StepsFromTheRightAndFromTheLeft) {
  const IsotonicRegression f = MustFit({1, 2, 3, 4, 5, 6}, {1, 4, 2, 3, 6, 5});
  const Vector queries = {0.5, 1, 1.5, 2, 3.5, 4, 4.5, 5, 5.5, 6, 7};
  EXPECT_EQ(Ask(f, queries, Interpolation::kStepNext, Outside::kClip),  // R
            (Vector{1, 1, 3, 3, 3, 3, 5.5, 5.5, 5.5, 5.5, 5.5}));
  EXPECT_EQ(Ask(f, queries, Interpolation::kStep, Outside::kClip),
            (Vector{1, 1, 1, 3, 3, 3, 3, 5.5, 5.5, 5.5, 5.5}));
}

TEST(PredictTest, ObeysOutside) {
  const IsotonicRegression f = MustFit({1, 3}, {10, 20});
  const Vector queries = {std::nextafter(1, 0), 1, 2, 3, std::nextafter(3, 4)};
  EXPECT_TRUE(SameBits(Ask(f, queries), Vector{kNaN, 10, 15, 20, kNaN}));
  EXPECT_EQ(Ask(f, queries, Interpolation::kLinear, Outside::kClip), (Vector{10, 10, 15, 20, 20}));
  Vector out(5, -1);
  const absl::Status status = f.Predict(queries, out, Interpolation::kLinear, Outside::kRaise);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_NE(status.message().find("queries[0]"), std::string::npos) << status;
  EXPECT_EQ(out, Vector(5, -1));
  const std::span<const double> inside(queries.data() + 1, 3);
  EXPECT_TRUE(
      f.Predict(inside, std::span<double>(out).first(3), Interpolation::kLinear, Outside::kRaise)
          .ok());
  EXPECT_EQ(out, (Vector{10, 15, 20, -1, -1}));
}

TEST(PredictTest, OneThresholdIsConstantThereOnly) {
  const IsotonicRegression f = MustFit({3, 3}, {2, 4});
  for (Interpolation how :
       {Interpolation::kLinear, Interpolation::kStep, Interpolation::kStepNext}) {
    EXPECT_TRUE(SameBits(Ask(f, {-7, 3, 9}, how), Vector{kNaN, 3, kNaN}));
    EXPECT_EQ(Ask(f, {-7, 3, 9}, how, Outside::kClip), (Vector{3, 3, 3}));
    Vector out(1);
    EXPECT_EQ(f.Predict(Vector{4}, out, how, Outside::kRaise).code(),
              absl::StatusCode::kOutOfRange);
  }
}

TEST(PredictTest, RefusesBadQueries) {
  const IsotonicRegression f = MustFit({1, 3}, {10, 20});
  for (double bad : {kNaN, kInfinity, -kInfinity}) {
    Vector queries(40, 2.0), out(40, -1.0);
    queries[33] = bad;
    const absl::Status status = f.Predict(queries, out);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("queries[33]"), std::string::npos) << status;
    EXPECT_EQ(out, Vector(40, -1.0));
  }
  Vector out(2);
  EXPECT_EQ(f.Predict(Vector{1}, out).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(f.Predict(Vector{}, std::span<double>()).ok());
}

TEST(PredictTest, FloatsAreTheDoublesRounded) {
  const IsotonicRegression f = MustFit({0, 1, 3}, {0, 1, 2});
  const std::vector<float> queries = {0.1f, 1.7f, 3.0f, 4.0f};
  std::vector<float> out(4);
  ASSERT_TRUE(f.Predict(queries, out).ok());
  EXPECT_EQ(out[0], 0.1f);  // scikit-learn
  EXPECT_EQ(out[1], 1.35f);
  EXPECT_EQ(out[2], 2.0f);
  EXPECT_TRUE(std::isnan(out[3]));
  std::vector<float> bad = {1, std::numeric_limits<float>::infinity()};
  EXPECT_FALSE(f.Predict(bad, std::span<float>(out).first(2)).ok());
}

// What Predict promises, by a scan over all thresholds.
double PredictReference(std::span<const double> x, std::span<const double> y, double query,
                        Interpolation interpolation, Outside outside) {
  if (query < x.front()) return outside == Outside::kNan ? kNaN : y.front();
  if (query > x.back()) return outside == Outside::kNan ? kNaN : y.back();
  size_t a = 0;
  while (a + 1 < x.size() && x[a + 1] <= query) ++a;
  if (x[a] == query || interpolation == Interpolation::kStep) return y[a];
  if (interpolation == Interpolation::kStepNext) return y[a + 1];
  const double value = y[a] + (query - x[a]) / (x[a + 1] - x[a]) * (y[a + 1] - y[a]);
  return y[a] < y[a + 1] ? std::min(value, y[a + 1]) : std::max(value, y[a + 1]);
}

TEST(PredictTest, MatchesAScanForAnySpacing) {
  Random random(3);
  ThreadPool pool(3);
  for (int round = 0; round < 300; ++round) {
    const int64_t m = 1 + random.Integer(round % 3 == 0 ? 4 : 200);
    Vector x, y;
    const int spacing = round % 5;
    for (int64_t i = 0; i < m; ++i) {
      const double u = random.Uniform();
      if (spacing == 0) x.push_back(u);  // even
      if (spacing == 1) x.push_back(std::ldexp(u, -static_cast<int>(random.Integer(1000))));
      if (spacing == 2) x.push_back(random.Bernoulli(0.5) ? u * 1e-300 : 1 + u * 1e-15);
      if (spacing == 3) x.push_back(std::ldexp(u - 0.5, 1024));  // wider than the largest number
      if (spacing == 4) x.push_back(0x1p-1074 * static_cast<double>(random.Integer(1000)));
    }
    std::sort(x.begin(), x.end());
    x.erase(std::unique(x.begin(), x.end()), x.end());
    for (size_t i = 0; i < x.size(); ++i) y.push_back(static_cast<double>(random.Integer(50)));
    std::sort(y.begin(), y.end());
    if (round % 2 == 1) std::reverse(y.begin(), y.end());
    const absl::StatusOr<IsotonicRegression> f = IsotonicRegression::FromThresholds(x, y);
    ASSERT_TRUE(f.ok()) << f.status();
    Vector queries = x;
    for (double at : x) {
      queries.push_back(std::nextafter(at, -kInfinity));
      queries.push_back(std::nextafter(at, kInfinity));
    }
    for (int i = 0; i < 100; ++i) {
      const double u = random.Uniform();
      queries.push_back(0.5 * x.front() + u * (0.5 * x.back() - 0.5 * x.front()));
    }
    for (double& query : queries) {
      if (!std::isfinite(query)) query = 0;
    }
    for (Interpolation how :
         {Interpolation::kLinear, Interpolation::kStep, Interpolation::kStepNext}) {
      if (spacing == 3 && how == Interpolation::kLinear) continue;  // the scan overflows
      for (Outside outside : {Outside::kNan, Outside::kClip}) {
        Vector expected, out(queries.size());
        for (double query : queries) {
          expected.push_back(PredictReference(x, y, query, how, outside));
        }
        ASSERT_TRUE(f->Predict(queries, out, how, outside, &pool).ok());
        ASSERT_TRUE(SameBits(out, expected)) << "round " << round;
      }
    }
    // In place, and monotone even by the last bit.
    std::sort(queries.begin(), queries.end());
    ASSERT_TRUE(f->Predict(queries, queries, Interpolation::kLinear, Outside::kClip).ok());
    EXPECT_TRUE(f->increasing() ? std::is_sorted(queries.begin(), queries.end())
                                : std::is_sorted(queries.rbegin(), queries.rend()));
  }
}

TEST(PredictTest, StaysWithinTheNextThreshold) {
  // 0 - -1e16 and 1 - -1e16 round to the same, and so does y_b - y_a, up to 1 + 2^-52: the line
  // ends beyond y_b, before x_b.
  const double y_b = 0.75 * 0x1p-52;
  EXPECT_EQ(Ask(MustFit({-1e16, 1}, {-1, y_b}), {0}), (Vector{y_b}));
  RegressionOptions options;
  options.trend = Trend::kDecreasing;
  EXPECT_EQ(Ask(MustFit({-1e16, 1}, {1, -y_b}, {}, options), {0}), (Vector{-y_b}));
}

TEST(PredictTest, ManyQueriesOnAnyNumberOfThreads) {
  Random random(4);
  Vector x, y;
  for (int i = 0; i < 3000; ++i) {
    x.push_back(random.Uniform());
    y.push_back(x.back() + random.Uniform());
  }
  ThreadPool pool(4);
  RegressionOptions options;
  const IsotonicRegression alone = MustFit(x, y, {}, options);
  options.pool = &pool;
  const IsotonicRegression f = MustFit(x, y, {}, options);
  EXPECT_TRUE(SameBits(f.x_thresholds(), alone.x_thresholds()));
  EXPECT_TRUE(SameBits(f.y_thresholds(), alone.y_thresholds()));
  Vector queries(100003), out(queries.size()), again(queries.size());
  random.FillUniform(queries);
  ASSERT_TRUE(f.Predict(queries, out, Interpolation::kLinear, Outside::kNan, &pool).ok());
  ASSERT_TRUE(f.Predict(queries, again).ok());
  EXPECT_TRUE(SameBits(out, again));
  for (size_t i = 0; i < queries.size(); i += 997) {
    EXPECT_EQ(CanonicalBits(out[i]),
              CanonicalBits(PredictReference(f.x_thresholds(), f.y_thresholds(), queries[i],
                                             Interpolation::kLinear, Outside::kNan)));
  }
}

// ---- Points ----

TEST(FitPointsTest, HasThreeRulesForTies) {
  // de Leeuw, Hornik, Mair 2009, sec. 3.3, by hand. The means of the ties are 2, 4 and 3.
  const Vector x = {1, 1, 2, 2, 3}, y = {3, 1, 2, 6, 3};
  EXPECT_EQ(MustFitPoints(x, y, {}, Ties::kSecondary),
            (Vector{2, 2, 11.0 / 3, 11.0 / 3, 11.0 / 3}));
  // In order 1, 3, 2, 6, 3.
  EXPECT_EQ(MustFitPoints(x, y, {}, Ties::kPrimary), (Vector{2.5, 1, 2.5, 4.5, 4.5}));
  // Shifted by 0, by 11 / 3 - 4, and to the mean.
  const Vector tertiary = MustFitPoints(x, y, {}, Ties::kTertiary);
  EXPECT_EQ(tertiary[0], 3);
  EXPECT_EQ(tertiary[1], 1);
  EXPECT_NEAR(tertiary[2], 2 - 1.0 / 3, 1e-15);
  EXPECT_NEAR(tertiary[3], 6 - 1.0 / 3, 1e-15);
  EXPECT_EQ(tertiary[4], 11.0 / 3);
}

TEST(FitPointsTest, PrimaryTiesFallWhereTheTrendFalls) {
  EXPECT_EQ(MustFitPoints({1, 1, 2}, {1, 5, 3}, {}, Ties::kPrimary, Trend::kDecreasing),
            (Vector{2, 5, 2}));
}

TEST(FitPointsTest, GivesPointsOfWeightZeroTheFitBeforeThem) {
  const Vector x = {0, 1, 1, 2, 3, 3}, y = {9, 2, 100, -7, 6, 4}, w = {0, 2, 0, 0, 1, 1};
  EXPECT_EQ(MustFitPoints(x, y, w, Ties::kSecondary), (Vector{2, 2, 2, 2, 5, 5}));
  EXPECT_EQ(MustFitPoints(x, y, w, Ties::kTertiary), (Vector{2, 2, 2, 2, 6, 4}));
  EXPECT_EQ(MustFitPoints({3, 3, 3}, {6, 4, 0}, {1, 1, 0}, Ties::kPrimary), (Vector{6, 4, 6}));
}

TEST(FitPointsTest, TertiaryShiftsDoNotOverflowOnTheWay) {
  // Means 0 and -1e308, pooled to -1e308 / 3 or so; the shift itself is small.
  const Vector fit = MustFitPoints({1, 1, 2}, {1.5e308, -1.5e308, -1.5e308}, {}, Ties::kTertiary);
  EXPECT_EQ(fit[0], 1e308);
  EXPECT_EQ(fit[1], -kInfinity);  // -2e308 has no f64
  EXPECT_EQ(fit[2], -0.5e308);
}

TEST(FitPointsTest, TertiaryShiftsKeepSmallParts) {
  // The tie's mean is -2^-60 and its fit 4: -4 + (4 + 2^-60) in one rounding.
  EXPECT_EQ(MustFitPoints({0, 1, 1, 1}, {16, -4, 4, -3 * 0x1p-60}, {}, Ties::kTertiary)[1],
            0x1p-60);
}

TEST(FitPointsTest, WorksInPlace) {
  const Vector x = {2, 1, 1, 3}, w = {1, 0, 2, 1};
  for (Ties ties : {Ties::kPrimary, Ties::kSecondary, Ties::kTertiary}) {
    RegressionOptions options;
    options.ties = ties;
    Vector y = {1, 5, 3, 2};
    const Vector expected = MustFitPoints(x, y, w, ties);
    ASSERT_TRUE(FitPoints(x, y, w, y, options).ok());
    EXPECT_EQ(y, expected);
  }
}

// The fit by its definition as a maximum of minima of means, on integers small enough for every sum
// and product to be exact: so each value is the exact one rounded once.
struct Group {
  int64_t sum, weight;
};
Vector FitReference(const std::vector<Group>& groups, bool increasing) {
  const int64_t n = static_cast<int64_t>(groups.size()), sign = increasing ? 1 : -1;
  Vector fit;
  for (int64_t i = 0; i < n; ++i) {
    Group best{0, 0};
    for (int64_t j = 0; j <= i; ++j) {
      Group least{0, 0}, run{0, 0};
      for (int64_t k = j; k < n; ++k) {
        run.sum += sign * groups[static_cast<size_t>(k)].sum;
        run.weight += groups[static_cast<size_t>(k)].weight;
        if (k < i) continue;
        if (least.weight == 0 || run.sum * least.weight < least.sum * run.weight) least = run;
      }
      if (best.weight == 0 || least.sum * best.weight > best.sum * least.weight) best = least;
    }
    fit.push_back(static_cast<double>(sign * best.sum) / static_cast<double>(best.weight) + 0.0);
  }
  return fit;
}

TEST(FitPointsTest, MatchesTheDefinitionForEveryRule) {
  Random random(5);
  ThreadPool pool(3);
  for (int round = 0; round < 600; ++round) {
    const int64_t n = 1 + random.Integer(24);
    const bool weighted = random.Bernoulli(0.5), increasing = random.Bernoulli(0.5);
    Vector x, y, w;
    for (int64_t i = 0; i < n; ++i) {
      x.push_back(static_cast<double>(random.Integer(8)) - 3);
      y.push_back(static_cast<double>(random.Integer(20)) - 10);
      w.push_back(weighted ? static_cast<double>(1 + random.Integer(4)) : 1.0);
    }
    std::vector<size_t> order;
    for (size_t i = 0; i < x.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return x[a] != x[b] ? x[a] < x[b] : increasing ? y[a] < y[b] : y[a] > y[b];
    });
    std::vector<Group> single, tied;
    std::vector<size_t> tie_of(x.size());
    for (size_t k = 0; k < order.size(); ++k) {
      const size_t i = order[k];
      const Group group{static_cast<int64_t>(w[i] * y[i]), static_cast<int64_t>(w[i])};
      single.push_back(group);
      if (k == 0 || x[i] != x[order[k - 1]]) tied.push_back({0, 0});
      tied.back().sum += group.sum;
      tied.back().weight += group.weight;
      tie_of[i] = tied.size() - 1;
    }
    const Vector primary = FitReference(single, increasing);
    const Vector secondary = FitReference(tied, increasing);
    RegressionOptions options;
    options.trend = increasing ? Trend::kIncreasing : Trend::kDecreasing;
    options.pool = round % 2 == 0 ? &pool : nullptr;
    const Vector weights = weighted ? w : Vector{};
    Vector fit(x.size());
    options.ties = Ties::kPrimary;
    ASSERT_TRUE(FitPoints(x, y, weights, fit, options).ok());
    for (size_t k = 0; k < order.size(); ++k) ASSERT_EQ(fit[order[k]], primary[k]) << round;
    options.ties = Ties::kSecondary;
    ASSERT_TRUE(FitPoints(x, y, weights, fit, options).ok());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(fit[i], secondary[tie_of[i]]) << round;
    options.ties = Ties::kTertiary;
    ASSERT_TRUE(FitPoints(x, y, weights, fit, options).ok());
    for (size_t i = 0; i < x.size(); ++i) {
      const Group& tie = tied[tie_of[i]];
      const double mean = static_cast<double>(tie.sum) / static_cast<double>(tie.weight);
      // Half an ulp each of mean, fit and result, all below 32, and the roundings of this line.
      ASSERT_NEAR(fit[i], y[i] - mean + secondary[tie_of[i]], 32 * 0x1p-52) << round;
    }
    // And the function goes through the same values.
    options.ties = Ties::kSecondary;
    const IsotonicRegression f = MustFit(x, y, weights, options);
    const Vector at = Ask(f, x, Interpolation::kStep);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(at[i], secondary[tie_of[i]]) << round;
    const Vector line = Ask(f, x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(line[i], secondary[tie_of[i]], 10 * 0x1p-52) << round;
    }
  }
}

// ---- Correlation ----

TEST(SpearmanTest, MatchesScipy) {
  struct Case {
    Vector x, y;
    double rho, lower, upper;
    bool ambiguous;
  };
  const Case cases[] = {
      {{1, 2, 3, 4, 5, 6, 7, 8},
       {2, 1, 4, 3, 7, 5, 8, 6},
       0.8333333333333335,
       0.3116835153550817,
       0.9689901923444374,
       false},
      {{1, 2, 2, 3, 4, 5},
       {3, 1, 4, 1, 5, 9},
       0.6029411764705883,
       -0.40853463049156885,
       0.9497636255426811,
       true},
      {{1, 2, 3, 4, 5, 6},
       {3, 1, 4, 1, 5, 2},
       0.1449427589131121,
       -0.7554952487856711,
       0.8558380808770235,
       true},
  };
  for (const Case& c : cases) {
    const absl::StatusOr<Spearman> s = SpearmanCorrelation(c.x, c.y);
    ASSERT_TRUE(s.ok());
    EXPECT_NEAR(s->rho, c.rho, 4e-16);
    EXPECT_NEAR(s->lower, c.lower, 1e-14);
    EXPECT_NEAR(s->upper, c.upper, 1e-14);
    EXPECT_EQ(s->ambiguous, c.ambiguous);
  }
}

TEST(SpearmanTest, KnowsItsCorners) {
  Spearman s = *SpearmanCorrelation(Vector{1, 2, 3, 4, 7}, Vector{-9, -2, 0, 1e300, 1e301});
  EXPECT_EQ(s.rho, 1);
  EXPECT_EQ(s.lower, 1);
  EXPECT_FALSE(s.ambiguous);
  s = *SpearmanCorrelation(Vector{1, 2, 3, 4, 7}, Vector{5, 4, 3, 2, 1});
  EXPECT_EQ(s.rho, -1);
  EXPECT_EQ(s.upper, -1);
  s = *SpearmanCorrelation(Vector{1, 2, 3}, Vector{3, 1, 2});
  EXPECT_EQ(s.rho, -0.5);
  EXPECT_EQ(s.lower, -1);
  EXPECT_EQ(s.upper, 1);
  EXPECT_FALSE(s.ambiguous);
  s = *SpearmanCorrelation(Vector{1, 2, 3, 4}, Vector{2, 2, 2, 2});
  EXPECT_TRUE(std::isnan(s.rho) && std::isnan(s.lower) && std::isnan(s.upper));
  EXPECT_TRUE(s.ambiguous);
  EXPECT_FALSE(SpearmanCorrelation(Vector{1, 2}, Vector{2, 2})->ambiguous);
  EXPECT_EQ(SpearmanCorrelation(Vector{0.0, -0.0, 1}, Vector{1, 2, 3})->rho,
            SpearmanCorrelation(Vector{0, 0, 1}, Vector{1, 2, 3})->rho);
}

TEST(SpearmanTest, CountsLongRowsExactly) {
  // Sums of squared ranks far beyond 2^64: still a perfect correlation.
  Vector x, y;
  for (int i = 0; i < 300000; ++i) {
    x.push_back(std::fabs(150000.0 - i));  // pairs of ties
    y.push_back(-x.back());
  }
  EXPECT_EQ(SpearmanCorrelation(x, y)->rho, -1);
  EXPECT_EQ(SpearmanCorrelation(x, x)->rho, 1);
}

// ---- Bad input ----

TEST(RegressionTest, RefusesBadInputAndSaysWhere) {
  const Vector x = {1, 2, 3}, y = {1, 2, 3}, w = {1, 1, 1};
  const auto refused = [](const Vector& x, const Vector& y, const Vector& w,
                          const RegressionOptions& options, const std::string& part) {
    const absl::Status status = IsotonicRegression::Fit(x, y, w, options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << part;
    EXPECT_NE(status.message().find(part), std::string::npos) << status;
    Vector fit(y.size(), -1);
    RegressionOptions all = options;
    if (all.ties == Ties::kPrimary) return;
    EXPECT_EQ(FitPoints(x, y, w, fit, all), status);
    EXPECT_EQ(fit, Vector(y.size(), -1));
  };
  refused({}, {}, {}, {}, "no points");
  refused({1, 2}, y, {}, {}, "x has 2 elements and y 3");
  refused(x, y, {1, 1}, {}, "weights 2");
  refused(x, y, {0, 0, 0}, {}, "all weights are 0");
  refused(x, y, {1, -1, 1}, {}, "weights[1] is -1");
  for (double bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
    refused({1, 2, bad}, y, {}, {}, "x[2] is");
    refused(x, {bad, 2, 3}, {}, {}, "y[0] is");
    refused(x, y, {1, bad, 1}, {}, "weights[1] is");
    RegressionOptions options;
    options.x_tolerance = bad;
    refused(x, y, w, options, "x_tolerance is");
  }
  RegressionOptions options;
  options.lower = 2;
  options.upper = 1;
  refused(x, y, w, options, "lower is 2 and upper 1");
  options.lower = kNaN;
  refused(x, y, w, options, "lower is nan");
  options = {};
  options.x_tolerance = -1;
  refused(x, y, w, options, "x_tolerance is -1");
  options = {};
  options.ties = Ties::kPrimary;
  refused(x, y, w, options, "FitPoints");
  Vector fit(2);
  EXPECT_EQ(FitPoints(x, y, {}, fit).code(), absl::StatusCode::kInvalidArgument);
}

TEST(RegressionTest, RefusesBadThresholds) {
  using F = IsotonicRegression;
  EXPECT_FALSE(F::FromThresholds({}, {}).ok());
  EXPECT_FALSE(F::FromThresholds({1}, {1, 2}).ok());
  EXPECT_FALSE(F::FromThresholds({1, 1}, {1, 2}).ok());
  EXPECT_FALSE(F::FromThresholds({-0.0, 0.0}, {1, 2}).ok());
  EXPECT_FALSE(F::FromThresholds({1, kNaN}, {1, 2}).ok());
  EXPECT_FALSE(F::FromThresholds({1, 2}, {1, kInfinity}).ok());
  EXPECT_FALSE(F::FromThresholds({1, 2, 3}, {1, 3, 2}).ok());
  EXPECT_FALSE(F::FromThresholds({1, 2, 3}, {3, 1, 2}).ok());
  EXPECT_FALSE(F::FromThresholds({1, 2}, {1, 2}, Trend::kDecreasing).ok());
  EXPECT_FALSE(F::FromThresholds({1, 2}, {2, 1}, Trend::kIncreasing).ok());
}

}  // namespace
}  // namespace assay::isotonic
