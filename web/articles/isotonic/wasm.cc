// SPDX-License-Identifier: Apache-2.0
//
// The C face of the demo: a small row, its fit, and every step of the way there, by the walk or by
// tiles. All numbers that the demo shows are made here, in integers.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "numerics/isotonic/isotonic.h"
#include "web/articles/isotonic/pieces.h"
#include "web/articles/isotonic/rows.h"

namespace {

using assay::isotonic_page::Kind;
using assay::isotonic_page::kKinds;
using assay::isotonic_page::Piece;
using assay::isotonic_page::TiledString;

constexpr int32_t kLeast = 4;    // elements of a row
constexpr int32_t kMost = 40;    // elements of a row
constexpr int32_t kRange = 100;  // values are 0 to 100
constexpr int32_t kLeastTile = 2;
constexpr int32_t kMostTile = 20;
constexpr int32_t kMostSteps = 160;
constexpr int32_t kMostPairs = 10;  // pairs of strings in a level

enum Code { kOk = 0, kLength = 1, kRow = 2, kWay = 3, kTile = 4, kValue = 5, kInternal = 6 };

// What a step did.
enum Step {
  kNothing = 0,  // before the first
  kBegin = 1,    // the walk begins a piece
  kPool = 2,     // the walk pools two pieces
  kTick = 3,     // every tile takes a step of its walk
  kTry = 4,      // every pair of strings tries a line
  kMerge = 5,    // the pairs are merged
};

// The states of the timeline, one a step.
struct Timeline {
  uint8_t* ends;
  uint8_t* fresh;
  int32_t* lines;
  int32_t* info;
  int32_t states = 0;  // written

  // Adds the state in which `pieces` stand; those that `before` has not are fresh.
  bool Add(Step what, int32_t a, int32_t b, const std::vector<Piece>& pieces,
           const std::vector<Piece>& before) {
    if (states > kMostSteps) return false;
    uint8_t* end = ends + states * kMost;
    uint8_t* is_fresh = fresh + states * kMost;
    std::fill(end, end + kMost, uint8_t{0});
    std::fill(is_fresh, is_fresh + kMost, uint8_t{0});
    std::fill(lines + states * 2 * kMostPairs, lines + (states + 1) * 2 * kMostPairs, -1);
    for (const Piece& piece : pieces) {
      const bool is_new = std::find(before.begin(), before.end(), piece) == before.end();
      for (int64_t i = piece.begin; i < piece.end; ++i) {
        end[i] = i + 1 == piece.end ? 2 : 1;
        is_fresh[i] = is_new ? 1 : 0;
      }
    }
    info[3 * states] = what;
    info[3 * states + 1] = a;
    info[3 * states + 2] = b;
    ++states;
    return true;
  }
};

bool UnfoldWalk(std::span<const int32_t> y, Timeline& timeline) {
  std::vector<Piece> before;
  bool fits = timeline.Add(kNothing, 0, 0, {}, {});
  assay::isotonic_page::Walk(
      y, 0, static_cast<int64_t>(y.size()), [&](const std::vector<Piece>& pieces) {
        const Step what = pieces.size() > before.size() ? kBegin : kPool;
        fits = fits && timeline.Add(what, static_cast<int32_t>(pieces.back().begin),
                                    static_cast<int32_t>(pieces.back().end), pieces, before);
        before = pieces;
      });
  return fits;
}

bool UnfoldTiles(std::span<const int32_t> y, int64_t tile, Timeline& timeline) {
  const int64_t n = static_cast<int64_t>(y.size());
  bool fits = timeline.Add(kNothing, 0, 0, {}, {});
  // The tiles' walks, side by side.
  std::vector<std::vector<std::vector<Piece>>> walks;
  size_t ticks = 0;
  for (int64_t first = 0; first < n; first += tile) {
    walks.emplace_back();
    assay::isotonic_page::Walk(
        y, first, std::min(n, first + tile),
        [&walks](const std::vector<Piece>& pieces) { walks.back().push_back(pieces); });
    ticks = std::max(ticks, walks.back().size());
  }
  std::vector<Piece> before;
  for (size_t t = 0; t < ticks; ++t) {
    std::vector<Piece> pieces;
    for (const auto& walk : walks) {
      const std::vector<Piece>& state = walk[std::min(t, walk.size() - 1)];
      pieces.insert(pieces.end(), state.begin(), state.end());
    }
    fits = fits && timeline.Add(kTick, static_cast<int32_t>(t + 1), static_cast<int32_t>(ticks),
                                pieces, before);
    before = pieces;
  }
  TiledString string(y, tile);
  for (int32_t level = 1; string.strings() > 1; ++level) {
    std::vector<std::vector<Piece>> tried(static_cast<size_t>(kMostPairs));
    string.MergeLevel([&tried](int64_t pair, int64_t from, int64_t to) {
      tried[static_cast<size_t>(pair)].push_back({from, to, 0});
    });
    size_t most = 0;
    for (const auto& lines : tried) most = std::max(most, lines.size());
    for (size_t t = 0; t < most; ++t) {
      fits = fits && timeline.Add(kTry, level, static_cast<int32_t>(t + 1), before, before);
      if (!fits) return false;
      for (size_t pair = 0; pair < tried.size(); ++pair) {
        if (tried[pair].empty()) continue;
        const Piece& line = tried[pair][std::min(t, tried[pair].size() - 1)];
        int32_t* out = timeline.lines + (timeline.states - 1) * 2 * kMostPairs + 2 * pair;
        out[0] = static_cast<int32_t>(line.begin);
        out[1] = static_cast<int32_t>(line.end);
      }
    }
    const std::vector<Piece> merged = string.Pieces();
    fits =
        fits && timeline.Add(kMerge, level, static_cast<int32_t>(string.strings()), merged, before);
    before = merged;
  }
  return fits;
}

}  // namespace

extern "C" {

void* alloc(uint32_t n) { return std::malloc(n); }
void dealloc(void* p) { std::free(p); }

const char* message(int code) {
  switch (code) {
    case kOk:
      return "no error";
    case kLength:
      return "a row has 4 to 40 numbers";
    case kRow:
      return "there is no such row";
    case kWay:
      return "the way is 0, the walk, or 1, tiles";
    case kTile:
      return "a tile has 2 to 20 numbers, and a row at most 20 tiles";
    case kValue:
      return "values lie in 0 to 100";
    default:
      return "the demo has a fault: more steps than it can show";
  }
}

// The row that a reader has chosen and changed.
//   kind: 0 to 5, of rows.h. n: 4 to 40. drawn: [40], 0 for the row's own value, otherwise the
//   value + 1. y: [n] out.
int make_row(int32_t kind, int32_t n, uint32_t seed, const uint8_t* drawn, int32_t* y) {
  if (n < kLeast || n > kMost) return kLength;
  if (kind < 0 || kind >= static_cast<int32_t>(kKinds.size())) return kRow;
  for (int32_t i = 0; i < n; ++i) {
    if (drawn[i] > kRange + 1) return kValue;
  }
  const std::vector<int32_t> row =
      assay::isotonic_page::MakeRow(kKinds[static_cast<size_t>(kind)], n, kRange, seed);
  for (int32_t i = 0; i < n; ++i) y[i] = drawn[i] > 0 ? drawn[i] - 1 : row[static_cast<size_t>(i)];
  return kOk;
}

// The fit of a row and the way there.
//   way: 0 the walk, 1 tiles. tile: elements of a tile. y: [n], 0 to 100.
//   For each of the steps + 1 states (room for 161):
//     ends: [161, 40] 0: not fitted yet, 1: inside a piece, 2: last element of one.
//     fresh: [161, 40] 1: the piece is new in this state.
//     lines: [161, 10, 2] lines tried, from total to total; -1 where there is none.
//     info: [161, 3] what was done, and two numbers about it: begin and end of the walk's new
//       piece; or the tick and how many there are; or the level and the try; or the level and the
//       strings left.
//   totals: [41] running totals, n + 1 of them. fit: [40] the library's fit, n of it.
//   facts: [7] states of the timeline less one; pieces; 1 if the library's fit has the bits of the
//     walk's; steps of the walk; steps of the longest chain by tiles, as the article counts them,
//     with every comparison of a search; pieces that the tiles find; pieces of these that merging
//     leaves as they are.
int unfold(int32_t way, int32_t tile, int32_t n, const int32_t* y, uint8_t* ends, uint8_t* fresh,
           int32_t* lines, int32_t* info, double* totals, double* fit, double* facts) {
  if (n < kLeast || n > kMost) return kLength;
  if (way < 0 || way > 1) return kWay;
  if (tile < kLeastTile || tile > kMostTile || (n - 1) / tile >= 2 * kMostPairs) return kTile;
  for (int32_t i = 0; i < n; ++i) {
    if (y[i] < 0 || y[i] > kRange) return kValue;
  }
  const std::span<const int32_t> row(y, static_cast<size_t>(n));
  Timeline timeline = {ends, fresh, lines, info};
  if (!(way == 0 ? UnfoldWalk(row, timeline) : UnfoldTiles(row, tile, timeline))) return kInternal;
  int32_t steps = 0;
  const std::vector<Piece> pieces =
      assay::isotonic_page::Walk(row, 0, n, [&steps](const auto&) { ++steps; });
  const std::vector<double> walked = assay::isotonic_page::FitOf(pieces);
  const std::vector<double> values(row.begin(), row.end());
  if (!assay::isotonic::Fit(values, {}, std::span<double>(fit, values.size())).ok()) {
    return kInternal;
  }
  const std::vector<int64_t> sums = assay::isotonic_page::RunningTotals(row);
  std::copy(sums.begin(), sums.end(), totals);
  TiledString string(row, tile);
  string.MergeAll();
  facts[0] = timeline.states - 1;
  facts[1] = static_cast<double>(pieces.size());
  facts[2] = std::memcmp(walked.data(), fit, 8 * walked.size()) == 0 ? 1 : 0;
  facts[3] = steps;
  facts[4] = static_cast<double>(string.counts().tile_chain + string.counts().merge_chain);
  facts[5] = static_cast<double>(string.counts().tile_pieces);
  facts[6] = static_cast<double>(string.untouched());
  return kOk;
}

}  // extern "C"
