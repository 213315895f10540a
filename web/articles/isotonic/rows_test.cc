// SPDX-License-Identifier: Apache-2.0
#include "web/articles/isotonic/rows.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace assay::isotonic_page {
namespace {

double Mean(const std::vector<int32_t>& y, size_t first, size_t last) {
  double sum = 0;
  for (size_t i = first; i < last; ++i) sum += y[i];
  return sum / static_cast<double>(last - first);
}

TEST(RowsTest, StayInTheirRangeAndReproduce) {
  for (const Kind kind : kKinds) {
    for (const int64_t n : {0, 1, 2, 7, 1000}) {
      for (const int32_t range : {1, 100, 1 << 20}) {
        const std::vector<int32_t> y = MakeRow(kind, n, range, 3);
        ASSERT_EQ(static_cast<int64_t>(y.size()), n) << KindName(kind);
        for (const int32_t value : y) {
          EXPECT_GE(value, 0) << KindName(kind);
          EXPECT_LE(value, range) << KindName(kind);
        }
        EXPECT_EQ(y, MakeRow(kind, n, range, 3));
      }
    }
  }
}

TEST(RowsTest, SeedsDiffer) {
  for (const Kind kind : {Kind::kHill, Kind::kNoise, Kind::kSteps, Kind::kLabels}) {
    EXPECT_NE(MakeRow(kind, 100, 100, 1), MakeRow(kind, 100, 100, 2)) << KindName(kind);
    EXPECT_NE(MakeRow(kind, 100, 100, 3), MakeRow(kind, 100, 100, 2)) << KindName(kind);
  }
}

TEST(RowsTest, HaveTheirShape) {
  const auto row = [](Kind kind) { return MakeRow(kind, 3000, 1000, 1); };
  const std::vector<int32_t> rising = row(Kind::kRising), falling = row(Kind::kFalling);
  EXPECT_TRUE(std::is_sorted(rising.begin(), rising.end()));
  EXPECT_EQ(rising.back(), 1000);
  EXPECT_TRUE(std::is_sorted(falling.rbegin(), falling.rend()));
  // Means of a third of the row; 50 is at least four standard errors of each.
  EXPECT_NEAR(Mean(row(Kind::kNoise), 0, 1000), 500, 50);
  EXPECT_NEAR(Mean(row(Kind::kNoise), 2000, 3000), 500, 50);
  EXPECT_NEAR(Mean(row(Kind::kHill), 0, 1000), 667.0 / 6 + 167, 50);
  EXPECT_NEAR(Mean(row(Kind::kHill), 2000, 3000), 667.0 * 5 / 6 + 167, 50);
  EXPECT_NEAR(Mean(row(Kind::kSteps), 0, 600), 167, 50);
  EXPECT_NEAR(Mean(row(Kind::kSteps), 2400, 3000), 4 * 166 + 167, 50);
  const std::vector<int32_t> labels = row(Kind::kLabels);
  EXPECT_TRUE(std::all_of(labels.begin(), labels.end(), [](int32_t v) { return v % 1000 == 0; }));
  EXPECT_NEAR(Mean(labels, 0, 1000), 1000.0 / 6, 60);
  EXPECT_NEAR(Mean(labels, 2000, 3000), 5000.0 / 6, 60);
}

TEST(RowsTest, ReachTheEndsOfTheirRange) {
  const std::vector<int32_t> noise = MakeRow(Kind::kNoise, 1000, 3, 1);
  for (int32_t value = 0; value <= 3; ++value) {
    EXPECT_NEAR(static_cast<double>(std::count(noise.begin(), noise.end(), value)), 250, 70);
  }
  // Two thirds of the range are the rise, the rest is noise.
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<int32_t> hill = MakeRow(Kind::kHill, 1000, 3, seed);
    EXPECT_LE(hill.front(), 1);
    EXPECT_GE(hill.back(), 2);
  }
}

TEST(RowsTest, AClimbGoesOn) {
  const std::vector<int32_t> y = MakeClimb(1000, 1);
  for (int32_t i = 0; i < 1000; ++i) {
    EXPECT_GE(y[static_cast<size_t>(i)], i);
    EXPECT_LT(y[static_cast<size_t>(i)], i + 64);
  }
  EXPECT_FALSE(std::is_sorted(y.begin(), y.end()));
}

}  // namespace
}  // namespace assay::isotonic_page
