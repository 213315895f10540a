// SPDX-License-Identifier: Apache-2.0
#include "web/articles/cost-of-matrix-multiplication/trace.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/gemm/traffic.h"

namespace assay::matmul_page {
namespace {

using gemm::LoopOrder;

TEST(TraceTest, EndsWithTheCountsOfTheWhole) {
  constexpr int64_t n = 12;
  const gemm::CacheShape shape = {.line = 4, .lines = 16, .ways = 4};
  for (int order = 0; order < gemm::kLoopOrders; ++order) {
    const gemm::ProductLoops loops = {
        .order = static_cast<LoopOrder>(order), .n = n, .tile = 5, .leading = 14};
    std::vector<uint8_t> state(3 * n * n);
    const gemm::TrafficCounts all = CountTraffic(loops, shape);
    const gemm::TrafficCounts traced = TraceTo(loops, shape, 0, n * n * n, state);
    EXPECT_EQ(traced.misses, all.misses);
    EXPECT_EQ(traced.touches, all.touches);
    EXPECT_EQ(traced.write_backs, all.write_backs);
  }
}

TEST(TraceTest, CountsGrowAndTheCacheHoldsNoMoreThanItCan) {
  constexpr int64_t n = 8;
  const gemm::CacheShape shape = {.line = 4, .lines = 6, .ways = 3};
  const gemm::ProductLoops loops = {.order = LoopOrder::kTiled, .n = n, .tile = 4};
  std::vector<uint8_t> state(3 * n * n);
  int64_t before = 0;
  for (int64_t to = 0; to <= n * n * n; ++to) {
    const gemm::TrafficCounts counts = TraceTo(loops, shape, to - 1, to, state);
    const int64_t moved = counts.Elements(shape);
    EXPECT_GE(moved, before);
    before = moved;
    const auto count = [&](uint8_t bit) {
      return std::count_if(state.begin(), state.end(), [&](uint8_t s) { return (s & bit) != 0; });
    };
    EXPECT_LE(count(kHeld), shape.elements());
    EXPECT_EQ(count(kHeld) % shape.line, 0);
    EXPECT_LE(count(kChanged), count(kHeld));
    if (to == 0) {
      EXPECT_EQ(count(kTouched), 0);
      EXPECT_EQ(moved, 0);
    } else {
      // One multiplication: an element of B and one of C, and one of A where it is new.
      EXPECT_GE(count(kTouched), 2);
      EXPECT_LE(count(kTouched), 4);
    }
  }
}

}  // namespace
}  // namespace assay::matmul_page
