// SPDX-License-Identifier: Apache-2.0
//
// Three ways to the isotonic fit of a row of integers, written to be read and counted: the walk
// that pools neighbours, the string pulled tight under the running totals, and the string made tile
// by tile and merged. Integers make every comparison exact, so all three give the same pieces.
//
// Limits, for all functions: |y_i| <= kLargestValue and at most kMostElements elements. Then every
// product that is compared stays below 2^62.
#ifndef ASSAY_WEB_ARTICLES_ISOTONIC_PIECES_H_
#define ASSAY_WEB_ARTICLES_ISOTONIC_PIECES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"

namespace assay::isotonic_page {

inline constexpr int64_t kMostElements = int64_t{1} << 20;
inline constexpr int32_t kLargestValue = 1 << 21;

// A piece of the string, from total number `begin` to total number `end`; or a block of the fit,
// elements [begin, end). Its slope, or mean, is sum / (end - begin).
struct Piece {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t sum = 0;

  // Correctly rounded: both numbers are exact in f64.
  double mean() const { return static_cast<double>(sum) / static_cast<double>(end - begin); }
  friend bool operator==(const Piece&, const Piece&) = default;
};

// Is a's mean at least b's? Exact.
inline bool AtLeast(const Piece& a, const Piece& b) {
  return a.sum * (b.end - b.begin) >= b.sum * (a.end - a.begin);
}

// [region walk]
// Pool adjacent violators. `watch` sees the pieces after each step.
template <class Watch>
std::vector<Piece> Walk(std::span<const int32_t> y, int64_t first, int64_t last, Watch watch) {
  std::vector<Piece> pieces;
  for (int64_t i = first; i < last; ++i) {
    pieces.push_back({i, i + 1, y[static_cast<size_t>(i)]});
    watch(pieces);
    while (pieces.size() > 1 && AtLeast(pieces.end()[-2], pieces.end()[-1])) {
      const Piece later = pieces.back();
      pieces.pop_back();
      pieces.back() = {pieces.back().begin, later.end, pieces.back().sum + later.sum};
      watch(pieces);
    }
  }
  return pieces;
}
// [end walk]

// The running totals 0, y_0, y_0 + y_1, ...: one more than there are elements.
std::vector<int64_t> RunningTotals(std::span<const int32_t> y);

// The string pulled tight under the totals, from the definition: from each knot on to the total
// that is seen lowest. Cost: elements times pieces.
std::vector<Piece> PullTight(std::span<const int64_t> totals);

// The fit that the pieces stand for: [elements], each its piece's mean.
std::vector<double> FitOf(std::span<const Piece> pieces);

// The string made in tiles, then merged pair by pair, level by level. A merge finds the one line
// that touches both strings from below, by halving; it drops the end of the left string and the
// beginning of the right one and writes the line in the place of a piece it dropped. All other
// pieces stay where they are.
class TiledString {
 public:
  // What one merge tries: a line from total `from` to the total `to` of the right string that is
  // seen lowest from there.
  using Try = absl::FunctionRef<void(int64_t from, int64_t to)>;

  struct Counts {
    int64_t tile_chain = 0;   // steps of the longest walk in a tile
    int64_t merge_chain = 0;  // comparisons of the longest search of each level, added up
    int64_t comparisons = 0;  // of all searches
    int64_t merges = 0;       // pairs of strings put together
    int64_t written = 0;      // of these, pairs that needed a line, which is one piece written
    int64_t tile_pieces = 0;  // pieces before the first merge
    int64_t copied = 0;       // pieces written if every merge wrote its string anew
    int64_t notes = 0;        // notes of the kind "pieces 7 to 19" written if it wrote these anew
  };

  // Walks through every tile of `tile` >= 1 elements (the last may be shorter). Keeps a copy of the
  // totals alone.
  TiledString(std::span<const int32_t> y, int64_t tile);

  // Strings that are left; 1 when all is merged, 0 for no elements.
  int64_t strings() const { return static_cast<int64_t>(strings_.size()); }

  // Merges strings 0 and 1, 2 and 3, ...; an odd one out waits. `tried` hears of pair p's lines.
  void MergeLevel(absl::FunctionRef<void(int64_t pair, int64_t from, int64_t to)> tried);
  // Until one is left.
  void MergeAll();

  // The pieces as they stand, all strings in a row.
  std::vector<Piece> Pieces() const;
  const Counts& counts() const { return counts_; }
  // Pieces that stand as a tile's walk left them.
  int64_t untouched() const;

 private:
  // Pieces [first, last) of pieces_.
  struct Run {
    size_t first, last;
  };
  using String = std::vector<Run>;
  struct Place {
    size_t run, piece;
  };

  Piece Line(int64_t from, int64_t to) const {
    return {from, to, totals_[static_cast<size_t>(to)] - totals_[static_cast<size_t>(from)]};
  }
  Place Leading(const String& string, absl::FunctionRef<bool(const Piece&)> holds);
  void Merge(String& left, const String& right, Try tried);

  std::vector<int64_t> totals_;
  std::vector<Piece> pieces_;
  std::vector<bool> written_;
  std::vector<String> strings_;
  int64_t searched_ = 0;  // comparisons of the merge at hand
  Counts counts_;
};

}  // namespace assay::isotonic_page

#endif  // ASSAY_WEB_ARTICLES_ISOTONIC_PIECES_H_
