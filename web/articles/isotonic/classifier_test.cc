// SPDX-License-Identifier: Apache-2.0
#include "web/articles/isotonic/classifier.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace assay::isotonic_page {
namespace {

constexpr auto kNobody = [](int64_t) {};

// Pictures of class c have a bright band of 19 pixels, and nothing else.
Garments Bands(int64_t count) {
  Garments garments;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = i % kClasses;
    garments.labels.push_back(static_cast<uint8_t>(label));
    for (int64_t p = 0; p < kPixels; ++p) {
      garments.images.push_back(p / 19 == label ? 1.0f : 0.0f);
    }
  }
  return garments;
}

TEST(ClassifierTest, KnowsNothingBeforeTraining) {
  const Garments garments = Bands(10);
  const std::vector<Answer> answers = Ask(Classifier{}, garments);
  for (const Answer& answer : answers) {
    EXPECT_EQ(answer.label, 0) << "the first of equals";
    EXPECT_EQ(answer.confidence, 0.1f);
  }
  EXPECT_TRUE(answers[0].right);
  EXPECT_FALSE(answers[1].right);
}

TEST(ClassifierTest, FirstStepIsTheGradient) {
  // 32 pictures, 4 of classes 0 and 1 and 3 of the others: from zero every p is 1/10.
  const Garments garments = Bands(32);
  const Classifier one = Train(garments, 1, 0.5f, 1, kNobody);
  const double step = 0.5 / 32;
  for (int64_t p = 0; p < kPixels; ++p) {
    const int64_t band = p / 19;
    const int64_t lit = band < 2 ? 4 : band < 10 ? 3 : 0;  // pictures in which pixel p is bright
    for (int64_t c = 0; c < kClasses; ++c) {
      const double slope = 0.1 * static_cast<double>(lit) - (band == c ? lit : 0);
      EXPECT_NEAR(one.weights[static_cast<size_t>(p * kClasses + c)], -step * slope, 1e-7);
    }
  }
  EXPECT_NEAR(one.offsets[0], -step * (3.2 - 4), 1e-7);
  EXPECT_NEAR(one.offsets[9], -step * (3.2 - 3), 1e-7);
}

TEST(ClassifierTest, LearnsWhatIsEasyAndReproduces) {
  const Garments garments = Bands(320);
  int64_t passes = 0;
  const Classifier trained =
      Train(garments, 20, 0.5f, 7, [&passes](int64_t done) { EXPECT_EQ(done, ++passes); });
  EXPECT_EQ(passes, 20);
  for (const Answer& answer : Ask(trained, garments)) {
    EXPECT_TRUE(answer.right);
    EXPECT_GT(answer.confidence, 0.9f);
  }
  const auto p = Probabilities(trained, garments.image(3));
  float sum = 0;
  for (const float value : p) sum += value;
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_EQ(Train(garments, 20, 0.5f, 7, kNobody).weights, trained.weights);
}

TEST(ClassifierTest, OrderOfTheShuffleMatters) {
  // Four batches a pass, of classes in another mixture each time.
  const Garments garments = Bands(130);
  EXPECT_NE(Train(garments, 1, 0.5f, 1, kNobody).weights,
            Train(garments, 1, 0.5f, 2, kNobody).weights);
}

TEST(ClassifierTest, HugeLogitsDoNotOverflow) {
  Classifier classifier;
  classifier.offsets[4] = 1e30f;
  const Garments garments = Bands(1);
  const std::vector<Answer> answers = Ask(classifier, garments);
  EXPECT_EQ(answers[0].label, 4);
  EXPECT_EQ(answers[0].confidence, 1.0f);
}

}  // namespace
}  // namespace assay::isotonic_page
