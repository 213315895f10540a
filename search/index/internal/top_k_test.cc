// SPDX-License-Identifier: Apache-2.0

#include "search/index/internal/top_k.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace assay::index::internal {
namespace {

std::vector<Candidate> Stream(int64_t n, uint32_t seed, uint32_t distinct) {
  std::vector<Candidate> stream;
  for (int64_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    stream.push_back({static_cast<double>((seed >> 8) % distinct), i});
  }
  return stream;
}

TEST(TopKTest, KeepsWhatAFullSortKeeps) {
  // On both sides of the change from list to heap; few distinct keys make many ties.
  for (const int64_t k : {1, 2, 3, 10, 63, 64, 65, 66, 127, 128, 1000}) {
    for (const int64_t n : {0, 1, 2, 64, 65, 500, 3000}) {
      for (const uint32_t distinct : {1u, 7u, 1000000u}) {
        std::vector<Candidate> stream = Stream(n, static_cast<uint32_t>(k * 31 + n), distinct);
        std::vector<Candidate> sorted = stream;
        std::sort(sorted.begin(), sorted.end());
        // In order of ids, and in reverse: ties must not depend on it.
        for (int direction = 0; direction < 2; ++direction) {
          std::vector<Candidate> storage(static_cast<size_t>(k), Candidate{-1e300, -7});
          TopK top{std::span<Candidate>(storage)};
          for (const Candidate& c : stream) top.Offer(c.key, c.id);
          const auto kept = top.Finish();
          ASSERT_EQ(kept.size(), static_cast<size_t>(std::min(k, n)));
          for (size_t i = 0; i < kept.size(); ++i) {
            ASSERT_EQ(kept[i].id, sorted[i].id) << "k " << k << " n " << n << " at " << i;
            ASSERT_EQ(kept[i].key, sorted[i].key);
          }
          std::reverse(stream.begin(), stream.end());
        }
      }
    }
  }
}

TEST(TopKTest, CountsPushesAndMoves) {
  std::vector<Candidate> storage(2);
  TopK top{std::span<Candidate>(storage)};
  top.Offer(5, 0);  // kept
  top.Offer(4, 1);  // kept, moves one
  top.Offer(6, 2);  // refused
  top.Offer(5, 3);  // refused: a tie with the worst, and a larger id
  EXPECT_EQ(top.threshold(), 5);
  top.Offer(1, 4);  // kept in place of the worst, moves one
  EXPECT_EQ(top.threshold(), 4);
  EXPECT_EQ(top.pushes(), 3);
  EXPECT_EQ(top.moves(), 2);
}

TEST(TopKTest, ThresholdIsInfiniteUntilFull) {
  std::vector<Candidate> storage(3);
  TopK top{std::span<Candidate>(storage)};
  top.Offer(5, 0);
  top.Offer(7, 1);
  EXPECT_GT(top.threshold(), 1e308);
  top.Offer(6, 2);
  EXPECT_EQ(top.threshold(), 7);
}

}  // namespace
}  // namespace assay::index::internal
