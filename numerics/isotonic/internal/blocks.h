// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a fit: where the string pulled tight under the running totals touches them.
//
// Values that do not rise from one to the next always share a block, so each such run is one point
// from the start. A tile of at most 1280 values is walked as Ayer and others walked in 1955: keep a
// stack of blocks, and while the mean below is not smaller than the mean on top, make one block of
// the two. Four tiles are walked side by side, each step without a branch: the walk of one tile is
// a chain of dependent operations, and of branches that noise makes unpredictable. Then tiles are
// joined: only the blocks beside a joint can change, and they merge into one, the common tangent of
// two strings. What lies further away is neither read nor copied. Segments of tiles are made by
// different threads and joined in pairs.
//
// Two means are compared in f64, with a bound on what rounding may have done; where they are closer
// than that, exact sums decide. So the blocks are those of exact arithmetic.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_BLOCKS_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_BLOCKS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/error_free.h"
#include "numerics/isotonic/internal/end_set.h"
#include "numerics/isotonic/internal/fixed_point.h"
#include "numerics/isotonic/internal/row.h"

namespace assay::isotonic::internal {

// Finds the blocks of a row. kWords: width of exact sums; without weights, units.w is 0.
template <class Row, int kWords>
class BlockFinder {
 public:
  static constexpr int kTile = 1280;
  static constexpr int kLanes = 4;
  // Fewer points than this are one tile: joining four costs more than walking them together saves.
  static constexpr int kShort = 256;
  static constexpr int64_t kSegment =
      64 * 1024;  // a multiple of 64: words of the set are not shared

  BlockFinder(const Row& row, const Units& units)
      : row_(row),
        units_(units),
        ends_(row.Size()),
        close_(Closeness(row)),
        always_exact_(!row.IsBalanced()) {}

  // Long blocks: those that cross tiles, in order. All others are shorter than a tile.
  struct Span {
    int64_t begin;
    int64_t end;
  };
  std::vector<Span> Find(ThreadPool* pool);

  const EndSet& ends() const { return ends_; }

 private:
  using Exact = FixedPoint<kWords>;
  struct Totals {
    Exact s;
    FixedPoint<Row::kWeighted ? kWords : 1> w;  // without weights a count of points
  };

  // A block with its totals: rounded ones, each within a tile's rounding of the exact one (relative
  // to the largest |mean| times w), and exact ones if somebody asked for them.
  struct Block {
    int64_t begin = 0;
    int64_t end = 0;
    floating::HiLo<double> s = {0, 0};
    floating::HiLo<double> w = {0, 0};
    bool exact_sums = false;  // s and w are exact, multiples of 2^-31 and 2^-15
    std::unique_ptr<Totals> exact;

    // In those units, if so: below 2^66 and 2^50 for rows of up to 2^34 points.
    int128 SmallS() const { return ToInteger(s, 0x1p31); }
    int128 SmallW() const { return ToInteger(w, 0x1p15); }
    static int128 ToInteger(const floating::HiLo<double>& x, double per_unit) {
      return static_cast<int128>(x.hi * per_unit) + static_cast<int128>(x.lo * per_unit);
    }
  };

  // A tile and its walk. Runs that do not rise are one point each.
  struct Lane {
    std::array<Pair, kTile + 1> points;     // and a sentinel
    std::array<int32_t, kTile + 2> begins;  // of points: offsets in the tile; and the tile's size
    std::array<Pair, kTile + 2> stack;      // from 1; a sentinel below
    std::array<int32_t, kTile + 2> ends;    // of the blocks in the stack: numbers of points
    int64_t begin = 0;
    int64_t size = 0;
    int64_t count = 0;            // of points
    int64_t next = 0;             // the point after those on the stack and on top
    int64_t depth = 0;            // blocks in the stack
    bool exact_sums = false;      // sums over its points are exact in f64
    std::vector<Totals> running;  // exact totals before each offset, once asked for

    // Where the block at depth d ends.
    int64_t EndAt(int64_t d) const {
      return begins[static_cast<size_t>(ends[static_cast<size_t>(d)])];
    }
  };
  // A stretch of points whose blocks are known: by the set of ends, and those that cross tiles with
  // their totals as well. A tile just walked has them all in its lane.
  struct Segment {
    int64_t begin = 0;
    int64_t end = 0;
    std::vector<Block> crossing;
    const Lane* lane = nullptr;
    int64_t taken = 0;  // blocks given out from the front
  };
  struct Workspace {
    std::array<Lane, kLanes> lanes;
  };

  // Means at most so far apart are compared exactly. Sums of up to 1280 rounded points err by at
  // most 1281 u relative to the sum of |w y| <= M w, and so do their weights relative to w;
  // products, the difference and the high words of pooled blocks add a few roundings. With both
  // sides that is less than 5200 u M; taken is 8192.
  static double Closeness(const Row& row) { return 8192 * 0x1p-53 * row.LargestMean(); }

  // All ones where the mean below is at least that of top; `close` where f64 cannot tell.
  static PairMask Compare(Pair below, Pair top, double closeness, PairMask& close) {
    const Pair cross = below * __builtin_shufflevector(top, top, 1, 0);
    const Pair difference =
        __builtin_shufflevector(cross, cross, 0, 0) - __builtin_shufflevector(cross, cross, 1, 1);
    const Pair product = below * top;
    const Pair bound = __builtin_shufflevector(product, product, 1, 1) * closeness;
    const PairMask magnitude = {std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::max()};
    close = reinterpret_cast<Pair>(reinterpret_cast<PairMask>(difference) & magnitude) < bound;
    return difference >= Pair{0, 0};
  }

  template <int kCount>
  void LoadTogether(Lane* lanes) const;
  template <int kCount, bool kMayBeExact>
  void LoadPoints(Lane* lanes) const;
  template <int kCount>
  void WalkTogether(Lane* lanes) const;
  bool ExactlyMerges(Lane& lane) const;
  bool Merges(Block& left, Block& right) const;
  void AddExact(const Block& block, Totals& totals) const;
  std::unique_ptr<Totals> SumExact(Block& a, Block& b) const;
  void Close(Lane& lane);
  Block MakeBlock(int64_t begin, int64_t end) const;
  Block LastBlock(Segment& segment) const;
  Block FirstBlock(Segment& segment) const;
  static Block BlockOf(const Lane& lane, int64_t index);
  void Join(Segment& left, Segment& right);
  void FindSegment(Segment& segment, Workspace& workspace);

  const Row& row_;
  const Units units_;
  EndSet ends_;
  const double close_;
  const bool always_exact_;  // f64 cannot be asked at all
};

// Fills lanes, whose tiles are of about the same size, with their points.
template <class Row, int kWords>
template <int kCount>
void BlockFinder<Row, kWords>::LoadTogether(Lane* lanes) const {
  // Most rows show in their first point that sums will not be exact, and then that is that.
  PairMask inexact = {0, 0};
  for (int l = 0; l < kCount; ++l) inexact |= row_.InexactAt(lanes[l].begin);
  if ((inexact[0] | inexact[1]) == 0) {
    LoadPoints<kCount, true>(lanes);
  } else {
    LoadPoints<kCount, false>(lanes);
  }
}

template <class Row, int kWords>
template <int kCount, bool kMayBeExact>
void BlockFinder<Row, kWords>::LoadPoints(Lane* lanes) const {
  Pair point[kCount] = {};
  PairMask inexact[kCount] = {};
  int64_t count[kCount] = {};
  int64_t shortest = lanes[0].size;
  for (int l = 1; l < kCount; ++l) shortest = std::min(shortest, lanes[l].size);
  const auto add = [&](int l, int64_t i, bool rises) {
    // Written each time; kept where the next value rises, and else written again with one more.
    const size_t at = static_cast<size_t>(count[l]);
    point[l] += row_.PointAt(lanes[l].begin + i);
    if constexpr (kMayBeExact) inexact[l] |= row_.InexactAt(lanes[l].begin + i);
    lanes[l].points[at] = point[l];
    lanes[l].begins[at + 1] = static_cast<int32_t>(i + 1);
    // Not by a mask: clang 14 never ends compiling that to WebAssembly.
    static constexpr double kKeep[] = {1, 0};
    point[l] *= kKeep[rises];
    count[l] += rises;
  };
  for (int64_t i = 0; i + 1 < shortest; ++i) {
#pragma GCC unroll 4
    for (int l = 0; l < kCount; ++l) add(l, i, row_.Rises(lanes[l].begin + i));
  }
  for (int l = 0; l < kCount; ++l) {
    Lane& lane = lanes[l];
    for (int64_t i = shortest - 1; i < lane.size; ++i) {
      add(l, i, i + 1 == lane.size || row_.Rises(lane.begin + i));
    }
    lane.exact_sums = kMayBeExact && (inexact[l][0] | inexact[l][1]) == 0;
    lane.count = count[l];
    // Neither sentinel ever merges: means of points are below 2^63 in size.
    lane.points[static_cast<size_t>(lane.count)] = Pair{0x1p900, 1};
    lane.begins[0] = 0;
    lane.stack[0] = Pair{-0x1p900, 1};
    lane.ends[0] = 0;
    lane.next = 1;
    lane.depth = 0;
    lane.running.clear();
  }
}

// Whether the top of the stack and the block under it merge, exactly. By running totals, so that
// each such question costs the same, however long the blocks are.
template <class Row, int kWords>
bool BlockFinder<Row, kWords>::ExactlyMerges(Lane& lane) const {
  if (lane.depth == 0 || lane.next > lane.count) return false;  // sentinels
  if (lane.running.empty()) {
    lane.running.resize(static_cast<size_t>(lane.size) + 1);
    Totals sum;
    for (int64_t i = 0; i < lane.size; ++i) {
      row_.AddExact(lane.begin + i, units_, sum.s, sum.w);
      lane.running[static_cast<size_t>(i) + 1] = sum;
    }
  }
  const auto total = [&lane](int64_t begin, int64_t end) {
    Totals totals = lane.running[static_cast<size_t>(end)];
    totals.s -= lane.running[static_cast<size_t>(begin)].s;
    totals.w -= lane.running[static_cast<size_t>(begin)].w;
    return totals;
  };
  const int64_t middle = lane.EndAt(lane.depth);
  const Totals below = total(lane.EndAt(lane.depth - 1), middle);
  const Totals top = total(middle, lane.begins[static_cast<size_t>(lane.next)]);
  auto difference = below.s * top.w;
  difference -= top.s * below.w;
  return difference.Sign() >= 0;
}

template <class Row, int kWords>
template <int kCount>
void BlockFinder<Row, kWords>::WalkTogether(Lane* lanes) const {
  double closeness = 0;
  // The state of all lanes in registers; that is why it is not in the lanes.
  Pair top[kCount];
  Pair below[kCount];
  int64_t depth[kCount];
  int64_t next[kCount];
  bool done = false;
  for (int l = 0; l < kCount; ++l) {
    if (!lanes[l].exact_sums) closeness = close_;
    top[l] = lanes[l].points[0];
    below[l] = lanes[l].stack[0];
    depth[l] = 0;
    next[l] = 1;
  }
  while (kCount > 1 && !done && !always_exact_) {
    PairMask merge[kCount];
    PairMask any_close = {0, 0};
#pragma GCC unroll 4
    for (int l = 0; l < kCount; ++l) {
      PairMask close;
      merge[l] = Compare(below[l], top[l], closeness, close);
      any_close |= close;
    }
    if (__builtin_expect(any_close[0] != 0, 0)) {
      for (int l = 0; l < kCount; ++l) {
        PairMask close;
        Compare(below[l], top[l], closeness, close);
        if (close[0] == 0) continue;
        lanes[l].depth = depth[l];
        lanes[l].next = next[l];
        const int64_t mask = ExactlyMerges(lanes[l]) ? -1 : 0;
        merge[l] = PairMask{mask, mask};
      }
    }
#pragma GCC unroll 4
    for (int l = 0; l < kCount; ++l) {
      // Either the two become one, or top goes onto the stack and the next point comes on top. What
      // is stored beyond the stack in the first case is never read.
      Lane& lane = lanes[l];
      const Pair merged = top[l] + below[l];
      const Pair point = lane.points[static_cast<size_t>(next[l])];
      lane.stack[static_cast<size_t>(depth[l]) + 1] = top[l];
      lane.ends[static_cast<size_t>(depth[l]) + 1] = static_cast<int32_t>(next[l]);
      top[l] = reinterpret_cast<Pair>((reinterpret_cast<PairMask>(merged) & merge[l]) |
                                      (reinterpret_cast<PairMask>(point) & ~merge[l]));
      const int64_t mask = merge[l][0];
      depth[l] += 1 + 2 * mask;
      next[l] += 1 + mask;
      below[l] = lane.stack[static_cast<size_t>(depth[l])];
      done |= next[l] > lane.count;
    }
  }
  // One lane has ended; the others go on alone.
  for (int l = 0; l < kCount; ++l) {
    Lane& lane = lanes[l];
    lane.depth = depth[l];
    lane.next = next[l];
    while (lane.next <= lane.count) {
      for (;;) {
        PairMask close;
        bool merge = Compare(below[l], top[l], closeness, close)[0] != 0;
        if (close[0] != 0 || always_exact_) merge = ExactlyMerges(lane);
        if (!merge) break;
        top[l] += below[l];
        below[l] = lane.stack[static_cast<size_t>(--lane.depth)];
      }
      lane.stack[static_cast<size_t>(++lane.depth)] = top[l];
      lane.ends[static_cast<size_t>(lane.depth)] = static_cast<int32_t>(lane.next);
      below[l] = top[l];
      top[l] = lane.points[static_cast<size_t>(lane.next++)];
    }
  }
}

// Puts the blocks of a walked tile into the set.
template <class Row, int kWords>
void BlockFinder<Row, kWords>::Close(Lane& lane) {
  if (lane.depth == lane.size) {
    ends_.SetAll(lane.begin, lane.begin + lane.size);
    return;
  }
  for (int64_t i = 1; i <= lane.depth; ++i) ends_.Set(lane.begin + lane.EndAt(i) - 1);
}

template <class Row, int kWords>
void BlockFinder<Row, kWords>::AddExact(const Block& block, Totals& totals) const {
  for (int64_t i = block.begin; i < block.end; ++i) row_.AddExact(i, units_, totals.s, totals.w);
}

// The exact totals of both, if the longer one's are known: then each point is added at most once
// for each time that its block doubles.
template <class Row, int kWords>
std::unique_ptr<typename BlockFinder<Row, kWords>::Totals> BlockFinder<Row, kWords>::SumExact(
    Block& a, Block& b) const {
  Block& longer = a.end - a.begin < b.end - b.begin ? b : a;
  Block& shorter = &longer == &a ? b : a;
  if (longer.exact == nullptr) return nullptr;
  if (shorter.exact == nullptr) {
    AddExact(shorter, *longer.exact);
  } else {
    longer.exact->s += shorter.exact->s;
    longer.exact->w += shorter.exact->w;
  }
  return std::move(longer.exact);
}

// A block inside one tile, from its points.
template <class Row, int kWords>
typename BlockFinder<Row, kWords>::Block BlockFinder<Row, kWords>::MakeBlock(int64_t begin,
                                                                             int64_t end) const {
  Block block;
  block.begin = begin;
  block.end = end;
  Pair sums[4] = {};
  PairMask inexact = {0, 0};
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      sums[k] += row_.PointAt(i + k);
      inexact |= row_.InexactAt(i + k);
    }
  }
  for (; i < end; ++i) {
    sums[0] += row_.PointAt(i);
    inexact |= row_.InexactAt(i);
  }
  block.exact_sums = (inexact[0] | inexact[1]) == 0;
  const Pair sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  block.s.hi = sum[0];
  block.w.hi = sum[1];
  return block;
}

template <class Row, int kWords>
bool BlockFinder<Row, kWords>::Merges(Block& left, Block& right) const {
  PairMask close;
  const bool merges =
      Compare(Pair{left.s.hi, left.w.hi}, Pair{right.s.hi, right.w.hi}, close_, close)[0] != 0;
  if (close[0] == 0 && !always_exact_) return merges;
  if (left.exact_sums && right.exact_sums) {
    return left.SmallS() * right.SmallW() >= right.SmallS() * left.SmallW();
  }
  for (Block* block : {&left, &right}) {
    if (block->exact != nullptr) continue;
    block->exact = std::make_unique<Totals>();
    AddExact(*block, *block->exact);
  }
  auto difference = left.exact->s * right.exact->w;
  difference -= right.exact->s * left.exact->w;
  return difference.Sign() >= 0;
}

template <class Row, int kWords>
typename BlockFinder<Row, kWords>::Block BlockFinder<Row, kWords>::LastBlock(
    Segment& segment) const {
  if (!segment.crossing.empty() && segment.crossing.back().end == segment.end) {
    Block block = std::move(segment.crossing.back());
    segment.crossing.pop_back();
    return block;
  }
  return MakeBlock(ends_.Previous(segment.end - 2, segment.begin) + 1, segment.end);
}

// The block at an index in [0, depth) of a walked tile.
template <class Row, int kWords>
typename BlockFinder<Row, kWords>::Block BlockFinder<Row, kWords>::BlockOf(const Lane& lane,
                                                                           int64_t index) {
  const size_t at = static_cast<size_t>(index) + 1;
  Block block;
  block.begin = lane.begin + lane.EndAt(index);
  block.end = lane.begin + lane.EndAt(index + 1);
  block.s.hi = lane.stack[at][0];
  block.w.hi = lane.stack[at][1];
  block.exact_sums = lane.exact_sums;
  return block;
}

template <class Row, int kWords>
typename BlockFinder<Row, kWords>::Block BlockFinder<Row, kWords>::FirstBlock(
    Segment& segment) const {
  if (segment.lane != nullptr) return BlockOf(*segment.lane, segment.taken++);
  const size_t taken = static_cast<size_t>(segment.taken);
  if (taken < segment.crossing.size() && segment.crossing[taken].begin == segment.begin) {
    ++segment.taken;
    return std::move(segment.crossing[taken]);
  }
  return MakeBlock(segment.begin, ends_.Next(segment.begin) + 1);
}

// Appends right to left. The cost is that of the blocks that merge, and one more on each side.
template <class Row, int kWords>
void BlockFinder<Row, kWords>::Join(Segment& left, Segment& right) {
  const auto pool = [this](Block& block, Block& other) {
    ends_.Clear(std::min(block.end, other.end) - 1);
    block.s = floating::AddDoubleWords(block.s, other.s);
    block.w = floating::AddDoubleWords(block.w, other.w);
    block.exact_sums = block.exact_sums && other.exact_sums;
    block.exact = SumExact(block, other);
    block.begin = std::min(block.begin, other.begin);
    block.end = std::max(block.end, other.end);
  };
  const int64_t begin = left.begin;
  const int64_t end = right.end;
  const int64_t joint = left.end;
  // The middle grows by one block of either side as long as it merges with it.
  Block middle = LastBlock(left);
  left.end = middle.begin;
  Block before;
  Block after = FirstBlock(right);
  right.begin = after.end;
  bool have_before = false;
  bool have_after = true;
  // Neighbours of which the second does not rise above the first share a block, without a question.
  bool merges = !row_.Rises(joint - 1);
  for (;;) {
    if (have_after && (merges || Merges(middle, after))) {
      merges = false;
      pool(middle, after);
      have_after = right.begin < right.end;
      if (have_after) {
        after = FirstBlock(right);
        right.begin = after.end;
      }
      continue;
    }
    if (middle.end == joint) break;  // nothing has merged: the left side is as it was
    if (!have_before && left.begin < left.end) {
      before = LastBlock(left);
      left.end = before.begin;
      have_before = true;
    }
    if (!have_before || !Merges(before, middle)) break;
    pool(middle, before);
    have_before = false;
  }

  // What crosses tiles keeps its totals for the next joint; other blocks are summed when needed.
  const auto keep = [&left](Block& block) {
    if (block.end - block.begin > 1) left.crossing.push_back(std::move(block));
  };
  if (have_before) keep(before);
  keep(middle);
  if (have_after) keep(after);
  if (right.lane != nullptr && right.taken < right.lane->depth) {
    // The next joint asks for the last block of a tile.
    Block last = BlockOf(*right.lane, right.lane->depth - 1);
    keep(last);
  }
  for (size_t i = static_cast<size_t>(right.taken); i < right.crossing.size(); ++i) {
    left.crossing.push_back(std::move(right.crossing[i]));
  }
  left.begin = begin;
  left.end = end;
}

template <class Row, int kWords>
void BlockFinder<Row, kWords>::FindSegment(Segment& segment, Workspace& workspace) {
  const int64_t begin = segment.begin;
  const int64_t size = segment.end - segment.begin;
  constexpr int64_t kGroup = kLanes * kTile;
  const int64_t groups = (size + kGroup - 1) / kGroup;
  segment.end = segment.begin;
  for (int64_t group = 0; group < groups; ++group) {
    // Tiles of equal size, so that lanes end about together.
    const int64_t first = begin + size * group / groups;
    const int64_t last = begin + size * (group + 1) / groups;
    const int lanes = last - first < kShort ? 1 : kLanes;
    for (int l = 0; l < lanes; ++l) {
      Lane& lane = workspace.lanes[static_cast<size_t>(l)];
      lane.begin = first + (last - first) * l / lanes;
      lane.size = first + (last - first) * (l + 1) / lanes - lane.begin;
    }
    if (lanes == kLanes) {
      LoadTogether<kLanes>(workspace.lanes.data());
      WalkTogether<kLanes>(workspace.lanes.data());
    } else {
      LoadTogether<1>(workspace.lanes.data());
      WalkTogether<1>(workspace.lanes.data());
    }
    for (int l = 0; l < lanes; ++l) {
      Lane& lane = workspace.lanes[static_cast<size_t>(l)];
      Close(lane);
      if (lane.begin == begin) {
        segment.end = begin + lane.size;
        continue;
      }
      Segment tile;
      tile.begin = lane.begin;
      tile.end = lane.begin + lane.size;
      tile.lane = &lane;
      Join(segment, tile);
    }
  }
}

template <class Row, int kWords>
std::vector<typename BlockFinder<Row, kWords>::Span> BlockFinder<Row, kWords>::Find(
    ThreadPool* pool) {
  const int64_t size = row_.Size();
  if (size == 0) return {};
  std::vector<Segment> segments(static_cast<size_t>((size + kSegment - 1) / kSegment));
  const auto find = [&](int64_t begin, int64_t end) {
    const std::unique_ptr<Workspace> workspace(
        new Workspace);  // make_unique would fill it with zeros
    for (int64_t i = begin; i < end; ++i) {
      Segment& segment = segments[static_cast<size_t>(i)];
      segment.begin = i * kSegment;
      segment.end = std::min(size, segment.begin + kSegment);
      FindSegment(segment, *workspace);
    }
  };
  const int64_t count = static_cast<int64_t>(segments.size());
  if (pool == nullptr || count == 1) {
    find(0, count);
    for (size_t i = 1; i < segments.size(); ++i) Join(segments[0], segments[i]);
  } else {
    pool->ParallelFor(count, 1, find);
    for (int64_t step = 1; step < count; step *= 2) {
      pool->ParallelFor((count - step + 2 * step - 1) / (2 * step), 1,
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            Join(segments[static_cast<size_t>(2 * step * i)],
                                 segments[static_cast<size_t>(2 * step * i + step)]);
                          }
                        });
    }
  }
  std::vector<Span> crossing;
  for (const Block& block : segments[0].crossing) crossing.push_back({block.begin, block.end});
  return crossing;
}

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_BLOCKS_H_
