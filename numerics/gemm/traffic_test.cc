// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/traffic.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::gemm {
namespace {

constexpr LoopOrder kOrders[] = {LoopOrder::kIjk,  LoopOrder::kJik, LoopOrder::kIkj,
                                 LoopOrder::kKij,  LoopOrder::kJki, LoopOrder::kKji,
                                 LoopOrder::kTiled};

TEST(TrafficTest, EveryOrderDoesEveryProductOnce) {
  for (const LoopOrder order : kOrders) {
    for (const int64_t n : {1, 2, 5, 8}) {
      const ProductLoops loops = {.order = order, .n = n, .tile = std::min<int64_t>(n, 3)};
      // Replay on numbers: what the touches say is the product.
      std::vector<int64_t> a(static_cast<size_t>(n * n));
      std::vector<int64_t> b(a.size());
      Random random(3);
      for (int64_t& x : a) x = random.Integer(100);
      for (int64_t& x : b) x = random.Integer(100);
      std::array<int64_t, 3> count = {};
      int64_t last_step = 0;
      ForEachTouch(loops, [&](const Touch& t, int64_t step) {
        ASSERT_TRUE(0 <= t.row && t.row < n && 0 <= t.col && t.col < n);
        ASSERT_TRUE(!t.write || t.matrix == 2);
        ASSERT_GE(step, last_step);
        last_step = step;
        ++count[static_cast<size_t>(t.matrix)];
      });
      const int64_t cube = n * n * n;
      EXPECT_GE(count[0] + count[1], cube) << LoopOrderName(order);
      // Each step loads what its innermost loop changes.
      const bool dot = order == LoopOrder::kIjk || order == LoopOrder::kJik;
      EXPECT_EQ(count[2], dot ? n * n : 2 * cube) << LoopOrderName(order);
    }
  }
}

// Products by replaying loads: registers hold what was loaded last.
TEST(TrafficTest, LoadsAndStoresMakeTheProduct) {
  constexpr int64_t n = 7;
  Random random(5);
  std::vector<int64_t> m[3] = {std::vector<int64_t>(n * n), std::vector<int64_t>(n * n),
                               std::vector<int64_t>(n * n)};
  for (int matrix : {0, 1}) {
    for (int64_t& x : m[matrix]) x = random.Integer(50);
  }
  std::vector<int64_t> expected(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k < n; ++k) expected[i * n + j] += m[0][i * n + k] * m[1][k * n + j];
    }
  }
  for (const LoopOrder order : kOrders) {
    std::fill(m[2].begin(), m[2].end(), 0);
    const bool dot = order == LoopOrder::kIjk || order == LoopOrder::kJik;
    int64_t a = 0, b = 0, sum = 0;
    ForEachTouch({.order = order, .n = n, .tile = 3}, [&](const Touch& t, int64_t) {
      int64_t& element = m[t.matrix][static_cast<size_t>(t.row * n + t.col)];
      if (t.matrix == 0) a = element;
      if (t.matrix == 1) b = element;
      if (dot) {
        if (t.matrix == 1) sum += a * b;
        if (t.write) {
          element = sum;
          sum = 0;
        }
      } else if (t.write) {
        element += a * b;
      }
    });
    EXPECT_EQ(m[2], expected) << LoopOrderName(order);
  }
}

// The multiplications come as three nested loops do, in the order of the name.
TEST(TrafficTest, LoopsNestAsTheirNamesSay) {
  constexpr int64_t n = 4;
  for (const LoopOrder order : kOrders) {
    if (order == LoopOrder::kTiled) continue;
    std::array<std::array<int64_t, 3>, n* n* n> found = {};  // i, j, k of each
    Touch a = {}, b = {};
    ForEachTouch({.order = order, .n = n}, [&](const Touch& t, int64_t step) {
      if (t.matrix == 2) return;
      (t.matrix == 0 ? a : b) = t;
      ASSERT_LT(step, n * n * n);
      found[static_cast<size_t>(step)] = {a.row, b.col, a.col};
    });
    size_t at = 0;
    for (int64_t x = 0; x < n; ++x) {
      for (int64_t y = 0; y < n; ++y) {
        for (int64_t z = 0; z < n; ++z) {
          std::array<int64_t, 3> expected;
          const int64_t loops[] = {x, y, z};
          for (size_t depth = 0; depth < 3; ++depth) {
            expected[static_cast<size_t>(LoopOrderName(order)[depth] - 'i')] = loops[depth];
          }
          ASSERT_EQ(found[at++], expected) << LoopOrderName(order);
        }
      }
    }
  }
}

TEST(TrafficTest, TheCacheIsThatOfAListOfLines) {
  for (const int64_t ways : {1, 2, 4, 12}) {
    const CacheShape shape = {.line = 1, .lines = 12, .ways = ways};
    LineCache cache(shape);
    const int64_t sets = 12 / ways;
    std::vector<std::list<std::pair<int64_t, bool>>> twin(static_cast<size_t>(sets));
    Random random(9);
    for (int i = 0; i < 5000; ++i) {
      const int64_t line = random.Integer(30);
      const bool write = random.Bernoulli(0.3);
      auto& set = twin[static_cast<size_t>(line % sets)];
      const auto found = std::find_if(set.begin(), set.end(),
                                      [&](const auto& entry) { return entry.first == line; });
      const LineCache::Result result = cache.Touch(line, write);
      ASSERT_EQ(result.hit, found != set.end());
      bool dirty = write;
      if (found != set.end()) {
        dirty |= found->second;
        set.erase(found);
      } else if (static_cast<int64_t>(set.size()) == ways) {
        ASSERT_EQ(result.evicted, set.back().first);
        ASSERT_EQ(result.wrote_back, set.back().second);
        set.pop_back();
      } else {
        ASSERT_EQ(result.evicted, -1);
      }
      set.emplace_front(line, dirty);
    }
    int64_t dirty = 0;
    for (const auto& set : twin) {
      for (const auto& entry : set) dirty += entry.second ? 1 : 0;
    }
    EXPECT_EQ(cache.Dirty(), dirty);
  }
}

TEST(TrafficTest, CountsAreTheseByHand) {
  // A cache that holds everything: each line comes once, C's lines go once.
  const CacheShape all = {.line = 4, .lines = 64, .ways = 64};
  const TrafficCounts once = CountTraffic({.order = LoopOrder::kJki, .n = 8}, all);
  EXPECT_EQ(once.misses, (std::array<int64_t, 3>{16, 16, 16}));
  EXPECT_EQ(once.write_backs, 16);
  // One line a matrix: ijk walks along A's rows and down B's columns, which miss every time.
  const CacheShape one = {.line = 4, .lines = 3, .ways = 3};
  const TrafficCounts dot = CountTraffic({.order = LoopOrder::kIjk, .n = 8}, one);
  EXPECT_EQ(dot.misses[1], 8 * 8 * 8);
  EXPECT_EQ(dot.misses[0], 8 * 8 * 2);
}

TEST(TrafficTest, NothingMovesLessThanTheLeast) {
  for (const LoopOrder order : kOrders) {
    for (const int64_t n : {16, 40}) {
      for (const int64_t lines : {16, 64, 256}) {
        const CacheShape shape = {.line = 1, .lines = lines, .ways = lines};
        for (const int64_t tile : {2, 4, 8}) {
          const TrafficCounts counts = CountTraffic({.order = order, .n = n, .tile = tile}, shape);
          EXPECT_GE(static_cast<double>(counts.Elements(shape)), LeastTraffic(n, lines));
        }
      }
    }
  }
}

TEST(TrafficTest, PaddingKeepsRowsOutOfEachOthersSets) {
  const CacheShape shape = {.line = 8, .lines = 64, .ways = 4};
  const ProductLoops plain = {.order = LoopOrder::kTiled, .n = 128, .tile = 8};
  ProductLoops padded = plain;
  padded.leading = 136;
  EXPECT_LT(2 * CountTraffic(padded, shape).Elements(shape),
            CountTraffic(plain, shape).Elements(shape));
}

}  // namespace
}  // namespace assay::gemm
