// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"

namespace assay::isotonic {
namespace {

using Vector = std::vector<double>;
using Labels = std::vector<uint8_t>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Vector ToVector(std::span<const double> x) { return Vector(x.begin(), x.end()); }

TEST(CalibrationTest, FitsByHand) {
  // Sorted: 0.1: 0; 0.2: 1; 0.3: 0 0; 0.4: 1; 0.5: 1.
  const Vector scores = {0.3, 0.1, 0.4, 0.2, 0.5, 0.3};
  const Labels labels = {0, 0, 1, 1, 1, 0};
  const absl::StatusOr<Calibrator> c = Calibrator::Fit(scores, labels);
  ASSERT_TRUE(c.ok()) << c.status();
  ASSERT_EQ(c->blocks().size(), 3u);
  EXPECT_EQ(c->blocks()[0].successes, 0);
  EXPECT_EQ(c->blocks()[0].total, 1);
  EXPECT_EQ(c->blocks()[1].first_score, 0.2);
  EXPECT_EQ(c->blocks()[1].last_score, 0.3);
  EXPECT_EQ(c->blocks()[1].successes, 1);
  EXPECT_EQ(c->blocks()[1].total, 3);
  EXPECT_EQ(c->blocks()[2].successes, 2);
  EXPECT_EQ(c->blocks()[2].total, 2);
  EXPECT_EQ(ToVector(c->function().x_thresholds()), (Vector{0.1, 0.2, 0.3, 0.4, 0.5}));
  EXPECT_EQ(ToVector(c->function().y_thresholds()), (Vector{0, 1.0 / 3, 1.0 / 3, 1, 1}));
  Vector p = {-4, 0.2, 0.25, 0.35, 7};
  ASSERT_TRUE(c->Predict(p, p).ok());
  EXPECT_EQ(p[0], 0);
  EXPECT_EQ(p[1], 1.0 / 3);
  EXPECT_EQ(p[2], 1.0 / 3);
  EXPECT_NEAR(p[3], 2.0 / 3, 1e-15);
  EXPECT_EQ(p[4], 1);
  const std::vector<float> f = {0.25f, 9};
  std::vector<float> q(2);
  ASSERT_TRUE(c->Predict(f, q).ok());
  EXPECT_EQ(q, (std::vector<float>{1.0f / 3, 1}));
}

TEST(CalibrationTest, PoolsEqualScoresWhateverTheirOrder) {
  for (const Labels& labels : {Labels{1, 0, 1}, Labels{0, 1, 1}, Labels{1, 1, 0}}) {
    for (const Direction direction : {Direction::kIncreasing, Direction::kDecreasing}) {
      Options options;
      options.direction = direction;
      const auto c = Calibrator::Fit(Vector{-0.0, 0.0, 0.0}, labels, options);
      ASSERT_TRUE(c.ok());
      EXPECT_EQ(ToVector(c->function().x_thresholds()), (Vector{0}));
      EXPECT_EQ(ToVector(c->function().y_thresholds()), (Vector{2.0 / 3}));
      EXPECT_EQ(c->function().increasing(), direction == Direction::kIncreasing);
    }
  }
}

TEST(CalibrationTest, KeepsOuterEndsWhereBoundsMeetSeveralBlocks) {
  Options options;
  options.lower = 0.6;
  options.upper = 0.7;
  // Rates 0, 1/2, 1: the first two lie on the lower bound.
  const auto c = Calibrator::Fit(Vector{1, 2, 3, 4, 5}, Labels{0, 1, 0, 1, 1}, options);
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->blocks().size(), 3u);
  EXPECT_EQ(ToVector(c->function().x_thresholds()), (Vector{1, 3, 4, 5}));
  EXPECT_EQ(ToVector(c->function().y_thresholds()), (Vector{0.6, 0.6, 0.7, 0.7}));
  options.upper = 0.6;
  const auto flat = Calibrator::Fit(Vector{1, 2, 3, 4, 5}, Labels{0, 1, 0, 1, 1}, options);
  EXPECT_EQ(ToVector(flat->function().x_thresholds()), (Vector{1, 5}));
  EXPECT_EQ(ToVector(flat->function().y_thresholds()), (Vector{0.6, 0.6}));
}

// Counts by score, then pool adjacent violators by 128-bit products.
std::vector<CalibrationBlock> CalibrateReference(const Vector& scores, const Labels& labels,
                                                 bool increasing) {
  __extension__ using Int128 = __int128;
  std::map<double, CalibrationBlock> at;
  for (size_t i = 0; i < scores.size(); ++i) {
    const double score = scores[i] + 0.0;
    CalibrationBlock& block =
        at.try_emplace(score, CalibrationBlock{score, score, 0, 0}).first->second;
    block.successes += labels[i];
    block.total += 1;
  }
  std::vector<CalibrationBlock> blocks;
  for (auto [score, block] : at) {
    while (!blocks.empty()) {
      const CalibrationBlock& last = blocks.back();
      const Int128 difference = static_cast<Int128>(last.successes) * block.total -
                                static_cast<Int128>(block.successes) * last.total;
      if (increasing ? difference < 0 : difference > 0) break;
      block.first_score = last.first_score;
      block.successes += last.successes;
      block.total += last.total;
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  return blocks;
}

double Score(Random& random, int shape) {
  const double u = random.Uniform();
  if (shape == 0) return u;
  if (shape == 1) return 3 * random.Normal();
  if (shape == 2) return static_cast<double>(random.Integer(50)) / 49 - 0.5;
  if (shape == 3) return 1 / (1 + Exp(-20 * random.Normal()));
  if (shape == 4) return std::ldexp(u - 0.5, static_cast<int>(random.Integer(2000)) - 1000);
  return u < 0.5 ? -0.0 : 0.0;
}

TEST(CalibrationTest, MatchesCountsByScore) {
  Random random(1);
  ThreadPool pool(3);
  for (int round = 0; round < 300; ++round) {
    const int64_t n = 1 + random.Integer(round % 10 == 0 ? 30000 : 60);
    const int shape = round % 6;
    Vector scores;
    Labels labels;
    for (int64_t i = 0; i < n; ++i) {
      scores.push_back(Score(random, shape));
      labels.push_back(random.Bernoulli(0.2 + 0.5 * (scores.back() > 0.3)) ? 1 : 0);
    }
    Options options;
    options.direction = round % 4 < 2 ? Direction::kIncreasing : Direction::kDecreasing;
    options.pool = round % 2 == 0 ? &pool : nullptr;
    const bool increasing = options.direction == Direction::kIncreasing;
    const std::vector<CalibrationBlock> expected = CalibrateReference(scores, labels, increasing);
    const absl::StatusOr<Calibrator> c = Calibrator::Fit(scores, labels, options);
    ASSERT_TRUE(c.ok()) << c.status();
    ASSERT_EQ(c->blocks().size(), expected.size()) << round;
    Vector x, y;
    for (size_t b = 0; b < expected.size(); ++b) {
      const CalibrationBlock& block = c->blocks()[b];
      ASSERT_EQ(block.first_score, expected[b].first_score);
      ASSERT_EQ(block.last_score, expected[b].last_score);
      ASSERT_EQ(block.successes, expected[b].successes);
      ASSERT_EQ(block.total, expected[b].total);
      for (double at : {block.first_score, block.last_score}) {
        if (!x.empty() && x.back() == at) continue;
        x.push_back(at);
        y.push_back(static_cast<double>(block.successes) / static_cast<double>(block.total));
      }
    }
    EXPECT_EQ(ToVector(c->function().x_thresholds()), x);
    EXPECT_EQ(ToVector(c->function().y_thresholds()), y);
    EXPECT_EQ(c->function().increasing(), increasing);

    // The same through the general regression, with and without weights of 1.
    RegressionOptions regression;
    regression.trend = increasing ? Trend::kIncreasing : Trend::kDecreasing;
    const auto general =
        IsotonicRegression::Fit(scores, Vector(labels.begin(), labels.end()), {}, regression);
    ASSERT_TRUE(general.ok());
    EXPECT_EQ(ToVector(general->x_thresholds()), x);
    EXPECT_EQ(ToVector(general->y_thresholds()), y);
    const auto weighted =
        Calibrator::FitWeighted(scores, labels, Vector(scores.size(), 1), options);
    ASSERT_TRUE(weighted.ok());
    EXPECT_EQ(ToVector(weighted->function().x_thresholds()), x);
    EXPECT_EQ(ToVector(weighted->function().y_thresholds()), y);
    EXPECT_TRUE(weighted->blocks().empty());
  }
}

// Long enough for several tasks: of buckets, of cells to deal into, and of keys to range over.
TEST(CalibrationTest, ThreadsDoNotMatter) {
  Random random(4);
  ThreadPool pool(3);
  const auto same_bits = [](std::span<const double> a, std::span<const double> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](double x, double y) { return FloatBits(x) == FloatBits(y); });
  };
  for (int shape = 0; shape < 6; ++shape) {
    Vector scores;
    Labels labels;
    for (int i = 0; i < 200000; ++i) {
      scores.push_back(Score(random, shape));
      labels.push_back(random.Bernoulli(0.2 + 0.5 * (scores.back() > 0.3)) ? 1 : 0);
    }
    Options options;
    options.direction = shape % 2 == 0 ? Direction::kIncreasing : Direction::kDecreasing;
    const std::vector<CalibrationBlock> expected =
        CalibrateReference(scores, labels, shape % 2 == 0);
    const auto alone = Calibrator::Fit(scores, labels, options);
    options.pool = &pool;
    const auto shared = Calibrator::Fit(scores, labels, options);
    ASSERT_TRUE(alone.ok() && shared.ok());
    for (const Calibrator* c : {&*alone, &*shared}) {
      ASSERT_EQ(c->blocks().size(), expected.size()) << shape;
      for (size_t b = 0; b < expected.size(); ++b) {
        const CalibrationBlock& block = c->blocks()[b];
        ASSERT_EQ(FloatBits(block.first_score), FloatBits(expected[b].first_score)) << shape;
        ASSERT_EQ(FloatBits(block.last_score), FloatBits(expected[b].last_score)) << shape;
        ASSERT_EQ(block.successes, expected[b].successes) << shape;
        ASSERT_EQ(block.total, expected[b].total) << shape;
      }
    }
    const IsotonicRegression& f = alone->function();
    const IsotonicRegression& g = shared->function();
    EXPECT_TRUE(same_bits(f.x_thresholds(), g.x_thresholds())) << shape;
    EXPECT_TRUE(same_bits(f.y_thresholds(), g.y_thresholds())) << shape;
    Vector p(scores.size()), q(scores.size());
    ASSERT_TRUE(alone->Predict(scores, p).ok());
    ASSERT_TRUE(shared->Predict(scores, q, &pool).ok());
    EXPECT_TRUE(same_bits(p, q)) << shape;
  }
}

TEST(CalibrationTest, FloatScoresAreDoubles) {
  Random random(2);
  std::vector<float> scores;
  Labels labels;
  for (int i = 0; i < 20000; ++i) {
    scores.push_back(random.UniformF() - 0.5f);
    labels.push_back(random.Bernoulli(scores.back() + 0.5) ? 1 : 0);
  }
  const auto a = Calibrator::Fit(scores, labels);
  const auto b = Calibrator::Fit(Vector(scores.begin(), scores.end()), labels);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(ToVector(a->function().x_thresholds()), ToVector(b->function().x_thresholds()));
  EXPECT_EQ(ToVector(a->function().y_thresholds()), ToVector(b->function().y_thresholds()));
}

TEST(CalibrationTest, WeighsLabels) {
  const auto c =
      Calibrator::FitWeighted(Vector{1, 2, 2, 3}, Labels{1, 0, 1, 1}, Vector{1, 2, 0, 5});
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(ToVector(c->function().x_thresholds()), (Vector{1, 2, 3}));
  EXPECT_EQ(ToVector(c->function().y_thresholds()), (Vector{1.0 / 3, 1.0 / 3, 1}));
}

TEST(CalibrationTest, RefusesBadInputAndSaysWhere) {
  const auto refused = [](const Vector& scores, const Labels& labels, const Options& options,
                          const std::string& part) {
    const absl::Status status = Calibrator::Fit(scores, labels, options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << part;
    EXPECT_NE(status.message().find(part), std::string::npos) << status;
    EXPECT_FALSE(Calibrator::FitWeighted(scores, labels, Vector(scores.size(), 1), options).ok());
  };
  refused({}, {}, {}, "no scores");
  refused({1, 2}, {1}, {}, "2 scores and 1 labels");
  refused({1, 2, 3}, {1, 0, 2}, {}, "labels[2] is 2");
  for (double bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
    refused({1, bad, 3}, {1, 0, 1}, {}, "[1] is");
  }
  Options options;
  options.lower = 0.6;
  options.upper = 0.5;
  refused({1, 2}, {1, 0}, options, "");
  options.lower = kNaN;
  refused({1, 2}, {1, 0}, options, "");
  EXPECT_FALSE(Calibrator::FitWeighted(Vector{1, 2}, Labels{0, 1}, Vector{1}).ok());
}

}  // namespace
}  // namespace assay::isotonic
