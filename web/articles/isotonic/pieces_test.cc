// SPDX-License-Identifier: Apache-2.0
#include "web/articles/isotonic/pieces.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::isotonic_page {
namespace {

constexpr auto kNobody = [](const std::vector<Piece>&) {};

std::vector<Piece> WalkAll(const std::vector<int32_t>& y) {
  return Walk(y, 0, static_cast<int64_t>(y.size()), kNobody);
}

// min over k >= i of max over j <= i of the mean of j..k: the fit by its other definition.
std::vector<double> MinMax(const std::vector<int32_t>& y) {
  const int64_t n = static_cast<int64_t>(y.size());
  const std::vector<int64_t> totals = RunningTotals(y);
  std::vector<double> fit;
  for (int64_t i = 0; i < n; ++i) {
    double least = 1e300;
    for (int64_t k = i + 1; k <= n; ++k) {
      double most = -1e300;
      for (int64_t j = 0; j <= i; ++j) {
        const Piece mean = {j, k, totals[static_cast<size_t>(k)] - totals[static_cast<size_t>(j)]};
        most = std::max(most, mean.mean());
      }
      least = std::min(least, most);
    }
    fit.push_back(least);
  }
  return fit;
}

std::vector<int32_t> RandomRow(Random& random, int64_t n, int64_t range) {
  std::vector<int32_t> y;
  for (int64_t i = 0; i < n; ++i) y.push_back(static_cast<int32_t>(random.Integer(-range, range)));
  return y;
}

TEST(PiecesTest, SmallRowsByHand) {
  EXPECT_TRUE(WalkAll({}).empty());
  EXPECT_EQ(WalkAll({5}), (std::vector<Piece>{{0, 1, 5}}));
  EXPECT_EQ(WalkAll({1, 3, 2, 4}), (std::vector<Piece>{{0, 1, 1}, {1, 3, 5}, {3, 4, 4}}));
  EXPECT_EQ(WalkAll({3, 2, 1}), (std::vector<Piece>{{0, 3, 6}}));
  EXPECT_EQ(WalkAll({2, 2, 2}), (std::vector<Piece>{{0, 3, 6}})) << "equal means are one piece";
  EXPECT_EQ(FitOf(WalkAll({1, 3, 2, 4})), (std::vector<double>{1, 2.5, 2.5, 4}));
  EXPECT_EQ(RunningTotals(std::vector<int32_t>{1, 3, -2}), (std::vector<int64_t>{0, 1, 4, 2}));
  EXPECT_TRUE(PullTight(RunningTotals({})).empty());
}

TEST(PiecesTest, WalkStringTilesAndMinMaxAgree) {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    const int64_t n = random.Integer(1, 40);
    // Few distinct values make ties, many make none.
    const int64_t range = round % 2 == 0 ? 3 : kLargestValue;
    const std::vector<int32_t> y = RandomRow(random, n, range);
    const std::vector<Piece> walked = WalkAll(y);
    EXPECT_EQ(PullTight(RunningTotals(y)), walked) << round;
    EXPECT_EQ(FitOf(walked), MinMax(y)) << round;
    for (int64_t tile = 1; tile <= n; ++tile) {
      TiledString string(y, tile);
      string.MergeAll();
      EXPECT_EQ(string.Pieces(), walked) << round << ", tiles of " << tile;
    }
  }
}

TEST(PiecesTest, WalkIsWatchedStepByStep) {
  std::vector<std::vector<Piece>> seen;
  const std::vector<int32_t> y = {1, 3, 2};
  Walk(y, 0, 3, [&seen](const std::vector<Piece>& pieces) { seen.push_back(pieces); });
  ASSERT_EQ(seen.size(), 4u);  // three numbers, one pooling
  EXPECT_EQ(seen[2], (std::vector<Piece>{{0, 1, 1}, {1, 2, 3}, {2, 3, 2}}));
  EXPECT_EQ(seen[3], (std::vector<Piece>{{0, 1, 1}, {1, 3, 5}}));
}

TEST(PiecesTest, TilesOfARisingRowFitAsTheyAre) {
  std::vector<int32_t> y;
  for (int32_t i = 0; i < 1000; ++i) y.push_back(i);
  TiledString string(y, 64);
  EXPECT_EQ(string.strings(), 16);
  string.MergeAll();
  EXPECT_EQ(string.strings(), 1);
  EXPECT_EQ(string.counts().merges, 15);
  EXPECT_EQ(string.counts().written, 0);
  EXPECT_EQ(string.counts().merge_chain, 4) << "one comparison a level";
  EXPECT_EQ(string.counts().comparisons, 15);
  EXPECT_EQ(string.counts().tile_chain, 64);
  EXPECT_EQ(string.untouched(), 1000);
  EXPECT_EQ(string.counts().copied, 4 * 1000) << "all four levels write everything";
  EXPECT_EQ(string.counts().notes, 4 * 16) << "or a note for each tile";
}

TEST(PiecesTest, TilesOfAFallingRowBecomeOnePiece) {
  std::vector<int32_t> y;
  for (int32_t i = 0; i < 100; ++i) y.push_back(-i);
  TiledString string(y, 10);
  EXPECT_EQ(string.counts().tile_pieces, 10);
  EXPECT_EQ(string.counts().tile_chain, 19);
  string.MergeAll();
  EXPECT_EQ(string.Pieces(), (std::vector<Piece>{{0, 100, -4950}}));
  EXPECT_EQ(string.counts().written, 9);
  EXPECT_EQ(string.untouched(), 0);
}

TEST(PiecesTest, SearchesAreCounted) {
  // Two pieces, 3.5 and 1.5. The joint is one comparison; that the left piece goes is one, with a
  // look at the right string's one piece; and the bridge looks there once more.
  TiledString pair(std::vector<int32_t>{4, 3, 2, 1}, 2);
  pair.MergeAll();
  EXPECT_EQ(pair.counts().comparisons, 4);
  EXPECT_EQ(pair.counts().merge_chain, 4);
  // Two such pairs, in order: joined at the same time, then one comparison finds that they fit.
  TiledString pairs(std::vector<int32_t>{4, 3, 2, 1, 14, 13, 12, 11}, 2);
  pairs.MergeAll();
  EXPECT_EQ(pairs.counts().comparisons, 9);
  EXPECT_EQ(pairs.counts().merge_chain, 5);
  EXPECT_EQ(pairs.counts().written, 2);
  // Three pieces left of one: the first is looked at, then the third, then the second.
  TiledString three(std::vector<int32_t>{1, 2, 9, 5, 5, 5}, 3);
  three.MergeAll();
  EXPECT_EQ(three.Pieces(), (std::vector<Piece>{{0, 1, 1}, {1, 2, 2}, {2, 6, 24}}));
  EXPECT_EQ(three.counts().comparisons, 1 + 3 * (1 + 1) + 1);
}

TEST(PiecesTest, EveryTriedLineStartsAtAKnotAndTheLastIsTheOneDrawn) {
  Random random(5);
  const std::vector<int32_t> y = RandomRow(random, 64, 50);
  TiledString string(y, 32);
  const std::vector<Piece> before = string.Pieces();
  int64_t from = -1, to = -1;
  string.MergeLevel([&](int64_t pair, int64_t a, int64_t b) {
    EXPECT_EQ(pair, 0);
    EXPECT_LE(a, 32);
    EXPECT_GT(b, 32);
    EXPECT_TRUE(std::any_of(before.begin(), before.end(),
                            [a](const Piece& p) { return p.begin == a || p.end == a; }));
    from = a;
    to = b;
  });
  const std::vector<Piece> after = string.Pieces();
  EXPECT_TRUE(std::any_of(after.begin(), after.end(),
                          [&](const Piece& p) { return p.begin == from && p.end == to; }));
  EXPECT_EQ(string.untouched() + 1, static_cast<int64_t>(after.size()));
}

TEST(PiecesTest, LargestRowsDoNotOverflow) {
  // The steepest fall: sums of kMostElements times kLargestValue.
  std::vector<int32_t> y(static_cast<size_t>(kMostElements / 2), kLargestValue);
  y.resize(static_cast<size_t>(kMostElements), -kLargestValue);
  EXPECT_EQ(WalkAll(y), (std::vector<Piece>{{0, kMostElements, 0}}));
  std::reverse(y.begin(), y.end());
  TiledString string(y, 1000);
  string.MergeAll();
  const int64_t half = kMostElements / 2;
  EXPECT_EQ(string.Pieces(), (std::vector<Piece>{{0, half, -half * kLargestValue},
                                                 {half, 2 * half, half * kLargestValue}}));
}

}  // namespace
}  // namespace assay::isotonic_page
