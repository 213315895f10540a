// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/reliability.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/isotonic/calibration.h"

namespace assay::isotonic {
namespace {

using Vector = std::vector<double>;
using Labels = std::vector<uint8_t>;
constexpr double kU = 0x1p-53;

TEST(ReliabilityDiagramTest, CountsByHand) {
  const Vector p = {0, 0.1, 0.25, 0.5, 0.6, 1};
  const Labels labels = {0, 1, 0, 1, 0, 1};
  const auto diagram = ReliabilityDiagram(p, labels, 4);
  ASSERT_TRUE(diagram.ok());
  ASSERT_EQ(diagram->size(), 4u);
  const int64_t counts[] = {2, 1, 2, 1}, positives[] = {1, 0, 1, 1};
  const double means[] = {0.05, 0.25, 0.55, 1};
  for (size_t k = 0; k < 4; ++k) {
    const ReliabilityBin& bin = (*diagram)[k];
    EXPECT_EQ(bin.low, static_cast<double>(k) / 4);
    EXPECT_EQ(bin.high, static_cast<double>(k + 1) / 4);
    EXPECT_EQ(bin.count, counts[k]);
    EXPECT_EQ(bin.positives, positives[k]);
    EXPECT_NEAR(bin.mean_probability, means[k], kU);
    EXPECT_EQ(bin.rate, static_cast<double>(positives[k]) / static_cast<double>(counts[k]));
  }
}

TEST(ReliabilityDiagramTest, LeavesEmptyBinsWithoutARate) {
  const auto diagram = ReliabilityDiagram(Vector{0.9}, Labels{1}, 2);
  ASSERT_TRUE(diagram.ok());
  EXPECT_EQ((*diagram)[0].count, 0);
  EXPECT_TRUE(std::isnan((*diagram)[0].rate) && std::isnan((*diagram)[0].mean_probability));
  EXPECT_EQ((*diagram)[0].high, 0.5);
  EXPECT_EQ((*diagram)[1].count, 1);
}

TEST(ReliabilityDiagramTest, KeepsEqualProbabilitiesTogether) {
  // Ranks 0 1 | 2 3 | 4 5: the 0.2s begin in the first bin and fill the second.
  const Vector p = {0.9, 0.2, 0.2, 0.1, 0.2, 0.3};
  const Labels labels = {1, 0, 1, 0, 1, 1};
  const auto diagram = ReliabilityDiagram(p, labels, 3, Binning::kEqualMass);
  ASSERT_TRUE(diagram.ok());
  EXPECT_EQ((*diagram)[0].count, 4);
  EXPECT_EQ((*diagram)[0].positives, 2);
  EXPECT_EQ((*diagram)[0].low, 0.1);
  EXPECT_EQ((*diagram)[0].high, 0.2);
  EXPECT_EQ((*diagram)[1].count, 0);
  EXPECT_TRUE(std::isnan((*diagram)[1].low));
  EXPECT_EQ((*diagram)[2].count, 2);
  EXPECT_EQ((*diagram)[2].low, 0.3);
  // More bins than probabilities.
  const auto many = ReliabilityDiagram(p, labels, 100, Binning::kEqualMass);
  int64_t count = 0;
  for (const ReliabilityBin& bin : *many) count += bin.count;
  EXPECT_EQ(count, 6);
}

TEST(ReliabilityDiagramTest, SharesEqually) {
  Random random(1);
  Vector p(1003);
  random.FillUniform(p);
  const auto diagram = ReliabilityDiagram(p, Labels(1003, 1), 10, Binning::kEqualMass);
  int64_t before = 0;
  for (int64_t k = 0; k < 10; ++k) {
    const ReliabilityBin& bin = (*diagram)[static_cast<size_t>(k)];
    EXPECT_EQ(bin.count, 1003 * (k + 1) / 10 - 1003 * k / 10);
    EXPECT_EQ(bin.rate, 1);
    EXPECT_EQ(static_cast<int64_t>(std::count_if(
                  p.begin(), p.end(), [&](double x) { return x >= bin.low && x <= bin.high; })),
              bin.count);
    before += bin.count;
  }
  EXPECT_EQ(before, 1003);
}

TEST(AssessTest, ScoresByHand) {
  const Vector p = {0.25, 0.75, 0.5, 1};
  const Labels labels = {0, 1, 1, 1};
  const auto a = Assess(p, labels, 2);
  ASSERT_TRUE(a.ok());
  // Squares 1/16, 1/16, 1/4, 0.
  EXPECT_EQ(a->brier, 0.09375);
  EXPECT_NEAR(a->log_loss, (2 * std::log(4.0 / 3) + std::log(2.0)) / 4, 4 * kU);
  // Bins {0.25}: rate 0; {0.5, 0.75, 1}: mean 0.75, rate 1. Base rate 3/4.
  EXPECT_EQ(a->expected_error, 0.25);
  EXPECT_EQ(a->maximum_error, 0.25);
  EXPECT_EQ(a->reliability, 0.0625);
  EXPECT_EQ(a->resolution, 0.1875);
  EXPECT_EQ(a->uncertainty, 0.1875);
  EXPECT_EQ(a->within_bins, 0.03125);
  // Recalibrated they would be perfect.
  EXPECT_EQ(a->miscalibration, 0.09375);
  EXPECT_EQ(a->discrimination, 0.1875);
}

TEST(AssessTest, CannotForgiveCertaintyThatWasWrong) {
  EXPECT_EQ(Assess(Vector{0, 0.5}, Labels{1, 1})->log_loss,
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(Assess(Vector{1, 0.5}, Labels{0, 1})->log_loss,
            std::numeric_limits<double>::infinity());
  const auto right = Assess(Vector{1, 0}, Labels{1, 0});
  EXPECT_EQ(FloatBits(right->log_loss), FloatBits(0.0));
  EXPECT_EQ(right->brier, 0);
}

TEST(AssessTest, PartitionsAddUpAndDoNotDependOnThreadsOrOrder) {
  Random random(2);
  ThreadPool pool(3);
  for (int round = 0; round < 100; ++round) {
    const int64_t n = 1 + random.Integer(3000);
    Vector p;
    Labels labels;
    for (int64_t i = 0; i < n; ++i) {
      p.push_back(round % 2 == 0 ? random.Uniform() : static_cast<double>(random.Integer(11)) / 10);
      labels.push_back(random.Bernoulli(p.back() * p.back()) ? 1 : 0);
    }
    const Binning binning = round % 4 < 2 ? Binning::kEqualWidth : Binning::kEqualMass;
    const auto a = Assess(p, labels, 11, binning);
    ASSERT_TRUE(a.ok());
    double brier = 0, log_loss = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      brier += (p[i] - labels[i]) * (p[i] - labels[i]);
      log_loss -= std::log(labels[i] == 1 ? p[i] : 1 - p[i]);
    }
    const double count = static_cast<double>(n);
    EXPECT_NEAR(a->brier, brier / count, 2 * count * kU);
    EXPECT_NEAR(a->log_loss, log_loss / count, 2 * count * kU * (1 + log_loss / count));
    EXPECT_NEAR(a->reliability - a->resolution + a->uncertainty + a->within_bins, a->brier, 8 * kU);
    EXPECT_NEAR(a->miscalibration - a->discrimination + a->uncertainty, a->brier, 8 * kU);
    // Eleven values, each alone in a bin of equal width.
    if (round % 4 == 1) {
      EXPECT_NEAR(a->within_bins, 0, 21 * 2 * kU);
    }
    Vector q(p.rbegin(), p.rend());
    Labels reversed(labels.rbegin(), labels.rend());
    const auto b = Assess(q, reversed, 11, binning, &pool);
    EXPECT_EQ(FloatBits(a->brier), FloatBits(b->brier));
    EXPECT_EQ(FloatBits(a->log_loss), FloatBits(b->log_loss));
    EXPECT_EQ(FloatBits(a->expected_error), FloatBits(b->expected_error));
    EXPECT_EQ(FloatBits(a->reliability), FloatBits(b->reliability));
    EXPECT_EQ(FloatBits(a->miscalibration), FloatBits(b->miscalibration));

    // After calibration on the same data nothing is left to calibrate, and what was could be told
    // before.
    const auto calibrator = Calibrator::Fit(p, labels);
    ASSERT_TRUE(calibrator.ok());
    ASSERT_TRUE(calibrator->Predict(p, p).ok());
    const auto after = Assess(p, labels, 11, binning);
    EXPECT_NEAR(after->miscalibration, 0, 20 * kU);
    EXPECT_NEAR(after->discrimination, a->discrimination, 20 * kU);
    EXPECT_NEAR(after->brier, a->brier - a->miscalibration, 20 * kU);
  }
}

TEST(AssessTest, RefusesBadInputAndSaysWhere) {
  const auto refused = [](const Vector& p, const Labels& labels, int bins,
                          const std::string& part) {
    const absl::Status status = Assess(p, labels, bins).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos) << status;
    EXPECT_EQ(ReliabilityDiagram(p, labels, bins, Binning::kEqualMass).status(), status);
  };
  refused({}, {}, 3, "no probabilities");
  refused({0.5}, {1, 0}, 3, "1 probabilities and 2 labels");
  refused({0.5}, {1}, 0, "0 bins");
  refused({0.5}, {1}, 10001, "10001 bins");
  refused({0.5, 1.5}, {1, 0}, 3, "probabilities[1] is 1.5");
  refused({-0.1}, {1}, 3, "probabilities[0]");
  refused({std::numeric_limits<double>::quiet_NaN()}, {1}, 3, "probabilities[0]");
  refused({0.5, 0.5}, {1, 7}, 3, "labels[1] is 7");
}

}  // namespace
}  // namespace assay::isotonic
