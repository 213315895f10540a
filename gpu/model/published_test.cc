// SPDX-License-Identifier: Apache-2.0
// The model against published measurements. What is asked of it was laid down before it was run:
// the order of the steps, each within 50 %, half of them within 25 %. Nothing is fitted to a step.
#include "gpu/model/published.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/sha256.h"

namespace assay::model {
namespace {

std::vector<Prediction> All() {
  std::vector<Prediction> all = Predict(SiboehmLadder());
  const std::vector<Prediction> second = Predict(YzhaiLadder());
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

// Steps that differ by less than 10 % are not told apart: runs of one kernel differ by as much.
TEST(PublishedTest, PutsTheStepsInOrder) {
  for (const std::span<const LadderStep> ladder : {SiboehmLadder(), YzhaiLadder()}) {
    const std::vector<Prediction> predictions = Predict(ladder);
    int pairs = 0;
    for (size_t slow = 0; slow < ladder.size(); ++slow) {
      for (size_t fast = slow + 1; fast < ladder.size(); ++fast) {
        ASSERT_LE(ladder[slow].gflops, ladder[fast].gflops);
        if (ladder[fast].gflops < 1.1 * ladder[slow].gflops) continue;
        ++pairs;
        EXPECT_LT(predictions[slow].gflops, predictions[fast].gflops)
            << ladder[slow].step << " and " << ladder[fast].step;
      }
    }
    EXPECT_GT(pairs, 15);
  }
}

TEST(PublishedTest, IsWithinHalfOfEachStep) {
  for (const Prediction& prediction : All()) EXPECT_LT(std::fabs(prediction.error), 0.5);
}

TEST(PublishedTest, IsWithinAQuarterOfHalfTheSteps) {
  std::vector<double> errors;
  for (const Prediction& prediction : All()) errors.push_back(std::fabs(prediction.error));
  std::sort(errors.begin(), errors.end());
  ASSERT_EQ(errors.size(), 16u);
  EXPECT_LT((errors[7] + errors[8]) / 2, 0.25);
}

// Bank conflicts make shared memory slower than none: measured, and predicted.
TEST(PublishedTest, SharedMemoryCanLose) {
  const std::vector<Prediction> predictions = Predict(YzhaiLadder());
  EXPECT_EQ(std::string(YzhaiLadder()[0].kernel), "SgemmBankConflicts");
  EXPECT_EQ(std::string(YzhaiLadder()[2].kernel), "SgemmCoalesced");
  EXPECT_LT(3 * predictions[0].gflops, predictions[2].gflops);
}

// The machine files hold the bandwidth that somebody measured with a copy: the other terms of the
// model leave a copy that rate, within 15 %.
TEST(PublishedTest, OtherTermsLeaveACopyItsRate) {
  int streams = 0;
  for (const ChipFigure& figure : ChipFigures()) {
    if (std::string(figure.what) != "copy") continue;
    ++streams;
    EXPECT_NEAR(figure.predicted / figure.published, 1, 0.15) << figure.gpu;
  }
  EXPECT_EQ(streams, 2);
}

// The same bits natively and in WebAssembly: a hash over every term of every prediction.
TEST(PublishedTest, HasTheSameBitsEverywhere) {
  std::vector<double> values;
  for (const Prediction& prediction : All()) {
    const TimeEstimate& estimate = prediction.estimate;
    values.insert(values.end(), estimate.terms.begin(), estimate.terms.end());
    values.insert(values.end(), {estimate.seconds, estimate.watts, prediction.error});
  }
  for (const ChipFigure& figure : ChipFigures()) values.push_back(figure.predicted);
  EXPECT_EQ(Sha256Hex(std::span<const double>(values)),
            "ddec93e72954a71ec4dba816c9049193f2f6bdac35e2dfc0c675918efae508b3");
}

}  // namespace
}  // namespace assay::model
