// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/plan_cache.h"

#include <complex>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/thread_pool.h"

namespace assay::fft {
namespace {

TEST(PlanCacheTest, MakesAPlanOnceAndKeepsWhatIsHeld) {
  const auto first = *SharedPlan<double>(1000), second = *SharedPlan<double>(1000);
  EXPECT_EQ(first.get(), second.get());
  EXPECT_EQ(first->size(), 1000);
  // The other type and kind are others.
  EXPECT_EQ((*SharedPlan<float>(1000))->size(), 1000);
  EXPECT_EQ((*SharedRealPlan<double>(1000))->spectrum_size(), 501);
  // Pushed out, the plan still serves whoever holds it, and the next one is new.
  for (int64_t n = 1; n <= kCachedPlans; ++n) ASSERT_TRUE(SharedPlan<double>(n).ok());
  EXPECT_NE((*SharedPlan<double>(1000)).get(), first.get());
  std::vector<std::complex<double>> x(1000, 1.0), y(1000);
  std::vector<double> scratch(static_cast<size_t>(first->scratch_size()));
  EXPECT_TRUE(first->Forward(x, y, scratch).ok());
  EXPECT_NEAR(y[0].real(), 1000, 1e-9);
}

TEST(PlanCacheTest, DropsTheLeastRecentlyAskedFor) {
  const auto old = *SharedRealPlan<float>(64);
  for (int64_t n = 1; n < kCachedPlans; ++n) ASSERT_TRUE(SharedRealPlan<float>(n).ok());
  // Asking again puts it in front, so that the next newcomer pushes out another one.
  EXPECT_EQ((*SharedRealPlan<float>(64)).get(), old.get());
  ASSERT_TRUE(SharedRealPlan<float>(100).ok());
  EXPECT_EQ((*SharedRealPlan<float>(64)).get(), old.get());
}

TEST(PlanCacheTest, KeepsNoMoreThanItsPointsAndNothingTooLong) {
  const auto half = *SharedPlan<float>(kCachedPoints / 2);
  EXPECT_EQ((*SharedPlan<float>(kCachedPoints / 2)).get(), half.get());
  ASSERT_TRUE(SharedPlan<float>(kCachedPoints / 2 + 16).ok());
  EXPECT_NE((*SharedPlan<float>(kCachedPoints / 2)).get(), half.get());
}

TEST(PlanCacheTest, RefusesWhatPlanRefuses) {
  EXPECT_EQ(SharedPlan<double>(0).status(), Plan<double>::Create(0).status());
  EXPECT_EQ(SharedRealPlan<float>(-1).status(), RealPlan<float>::Create(-1).status());
}

TEST(PlanCacheTest, ServesManyThreads) {
  ThreadPool pool(4);
  std::vector<int64_t> sizes(400);
  pool.ParallelFor(400, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      sizes[static_cast<size_t>(i)] = (*SharedPlan<double>(i % 23 + 1))->size();
    }
  });
  for (int64_t i = 0; i < 400; ++i) EXPECT_EQ(sizes[static_cast<size_t>(i)], i % 23 + 1);
}

}  // namespace
}  // namespace assay::fft
