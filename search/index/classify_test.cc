// SPDX-License-Identifier: Apache-2.0

#include "search/index/classify.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace assay::index {
namespace {

// One query whose neighbours are rows 0, 1, 2, ... in this order.
SearchResult Ranked(int64_t found, int64_t k) {
  SearchResult result;
  result.queries = 1;
  result.k = k;
  for (int64_t i = 0; i < k; ++i) {
    result.ids.push_back(i < found ? i : -1);
    result.distances.push_back(static_cast<double>(i));
  }
  result.found = {found};
  return result;
}

Vote Classify(const std::vector<uint8_t>& labels, int64_t found, int64_t k,
              TieBreak tie_break = TieBreak::kNearest) {
  const auto votes = ClassifyMajority(Ranked(found, static_cast<int64_t>(labels.size())), labels, k,
                                      10, tie_break);
  EXPECT_TRUE(votes.ok()) << votes.status();
  return votes.ok() ? votes->at(0) : Vote{};
}

TEST(ClassifyTest, MajorityWins) {
  const Vote vote = Classify({3, 7, 7}, 3, 3);
  EXPECT_EQ(vote.label, 7);
  EXPECT_EQ(vote.votes, 2);
  EXPECT_FALSE(vote.tied);
}

TEST(ClassifyTest, NearestOfTheTiedClassesWins) {
  EXPECT_EQ(Classify({7, 3, 3, 7}, 4, 4).label, 7);
  EXPECT_EQ(Classify({3, 7, 7, 3}, 4, 4).label, 3);
  // The nearest row of all belongs to a class that is not among the tied.
  const Vote vote = Classify({9, 7, 3, 3, 7}, 5, 5);
  EXPECT_EQ(vote.label, 7);
  EXPECT_TRUE(vote.tied);
}

TEST(ClassifyTest, SmallestLabelWhenAskedFor) {
  EXPECT_EQ(Classify({7, 3, 3, 7}, 4, 4, TieBreak::kSmallestLabel).label, 3);
}

TEST(ClassifyTest, OneNeighbourDecidesForKOne) {
  const Vote vote = Classify({5, 1, 1}, 3, 1);
  EXPECT_EQ(vote.label, 5);
  EXPECT_FALSE(vote.tied);
}

TEST(ClassifyTest, AsksOnlyTheNeighboursThatWereFound) {
  EXPECT_EQ(Classify({4, 2, 2, 2}, 1, 4).label, 4);
  const Vote nobody = Classify({4, 2}, 0, 2);
  EXPECT_EQ(nobody.label, -1);
  EXPECT_EQ(nobody.votes, 0);
  EXPECT_FALSE(nobody.tied);
}

TEST(ClassifyTest, RefusesWhatItCannotAnswer) {
  const std::vector<uint8_t> labels = {1, 2, 3};
  EXPECT_EQ(ClassifyMajority(Ranked(3, 3), labels, 0, 10).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ClassifyMajority(Ranked(3, 3), labels, 4, 10).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ClassifyMajority(Ranked(3, 3), labels, 3, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ClassifyMajority(Ranked(3, 3), labels, 3, 257).status().code(),
            absl::StatusCode::kInvalidArgument);
  const auto out_of_range = ClassifyMajority(Ranked(3, 3), labels, 3, 3);
  EXPECT_EQ(out_of_range.status().message(), "classify: row 2 has label 3, expected less than 3");
  const std::vector<uint8_t> short_labels = {1, 2};
  EXPECT_EQ(ClassifyMajority(Ranked(3, 3), short_labels, 3, 10).status().message(),
            "classify: row 2 has no label; there are 2 labels");
}

}  // namespace
}  // namespace assay::index
