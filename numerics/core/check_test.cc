// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/check.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace {

TEST(CheckTest, PassesWhenTrueAndEvaluatesOnce) {
  int calls = 0;
  const auto next = [&] { return ++calls; };
  ASSAY_CHECK(next() == 1);
  ASSAY_CHECK_EQ(next(), 2);
  ASSAY_CHECK_NE(next(), 2);
  ASSAY_CHECK_LT(3, next());
  ASSAY_CHECK_LE(5, next());
  ASSAY_CHECK_GT(next(), 5);
  ASSAY_CHECK_GE(next(), 7);
  EXPECT_EQ(calls, 7);
}

TEST(CheckDeathTest, SaysWhatFailedAndWhere) {
  EXPECT_DEATH(ASSAY_CHECK(1 + 1 == 3), "check_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3");
}

TEST(CheckDeathTest, PrintsBothValues) {
  const int64_t rows = -3;
  EXPECT_DEATH(ASSAY_CHECK_GE(rows, 0), "rows >= 0 \\(-3 against 0\\)");
  const uint64_t large = UINT64_MAX;
  EXPECT_DEATH(ASSAY_CHECK_EQ(large, uint64_t{1}), "18446744073709551615 against 1");
  EXPECT_DEATH(ASSAY_CHECK_LT(0.5, 0.25), "0.5 against 0.25");
}

TEST(CheckTest, DebugChecksFollowTheBuild) {
  int calls = 0;
  const auto truth = [&] {
    ++calls;
    return true;
  };
  ASSAY_DCHECK(truth());
  ASSAY_DCHECK_EQ(truth(), true);
#ifdef NDEBUG
  EXPECT_EQ(calls, 0);
#else
  EXPECT_EQ(calls, 2);
#endif
}

TEST(CheckTest, IsOneStatement) {
  if (true)
    ASSAY_CHECK(true);
  else
    ASSAY_CHECK(false);
}

}  // namespace
