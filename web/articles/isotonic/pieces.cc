// SPDX-License-Identifier: Apache-2.0
#include "web/articles/isotonic/pieces.h"

#include <algorithm>

#include "numerics/core/check.h"

namespace assay::isotonic_page {

std::vector<int64_t> RunningTotals(std::span<const int32_t> y) {
  std::vector<int64_t> totals = {0};
  totals.reserve(y.size() + 1);
  for (const int32_t value : y) totals.push_back(totals.back() + value);
  return totals;
}

// [region string]
std::vector<Piece> PullTight(std::span<const int64_t> totals) {
  const int64_t n = static_cast<int64_t>(totals.size()) - 1;
  const auto line = [totals](int64_t from, int64_t to) -> Piece {
    return {from, to, totals[static_cast<size_t>(to)] - totals[static_cast<size_t>(from)]};
  };
  std::vector<Piece> pieces;
  for (int64_t knot = 0; knot < n; knot = pieces.back().end) {
    Piece lowest = line(knot, knot + 1);
    for (int64_t k = knot + 2; k <= n; ++k) {
      if (AtLeast(lowest, line(knot, k))) lowest = line(knot, k);
    }
    pieces.push_back(lowest);
  }
  return pieces;
}
// [end string]

std::vector<double> FitOf(std::span<const Piece> pieces) {
  std::vector<double> fit;
  for (const Piece& piece : pieces) {
    fit.insert(fit.end(), static_cast<size_t>(piece.end - piece.begin), piece.mean());
  }
  return fit;
}

TiledString::TiledString(std::span<const int32_t> y, int64_t tile) : totals_(RunningTotals(y)) {
  ASSAY_CHECK(tile >= 1);
  const int64_t n = static_cast<int64_t>(y.size());
  for (int64_t first = 0; first < n; first += tile) {
    int64_t steps = 0;
    const std::vector<Piece> walked =
        Walk(y, first, std::min(n, first + tile), [&steps](const std::vector<Piece>&) { ++steps; });
    counts_.tile_chain = std::max(counts_.tile_chain, steps);
    strings_.push_back({{pieces_.size(), pieces_.size() + walked.size()}});
    pieces_.insert(pieces_.end(), walked.begin(), walked.end());
  }
  counts_.tile_pieces = static_cast<int64_t>(pieces_.size());
  written_.resize(pieces_.size());
}

// How many of the string's leading pieces hold; `holds` is true of some and false from there on.
// The place is in the last run whose first piece holds, or at the very beginning.
TiledString::Place TiledString::Leading(const String& string,
                                        absl::FunctionRef<bool(const Piece&)> holds) {
  const auto half = [&holds, this](size_t low, size_t high, auto piece_at) {
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      ++searched_;
      if (holds(piece_at(middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const size_t runs = half(0, string.size(), [&](size_t r) { return pieces_[string[r].first]; });
  if (runs == 0) return {0, string[0].first};
  const Run& run = string[runs - 1];
  return {runs - 1, half(run.first + 1, run.last, [this](size_t p) { return pieces_[p]; })};
}

// [region merge]
void TiledString::Merge(String& left, const String& right, Try tried) {
  ++searched_;
  if (AtLeast(pieces_[left.back().last - 1], pieces_[right.front().first])) {
    // From a knot of the left string, the line to the total of the right one that is seen lowest:
    // it passes below every piece that rises less than the line itself.
    Place met = {};
    const auto lowest = [&](int64_t knot) {
      met = Leading(right, [&](const Piece& p) { return AtLeast(Line(knot, p.end), p); });
      const Piece line = Line(knot, pieces_[met.piece - 1].end);
      tried(line.begin, line.end);
      return line;
    };
    // A piece of the left string stays if it rises less than the line from its end.
    const Place cut = Leading(left, [&](const Piece& p) { return !AtLeast(p, lowest(p.end)); });
    const bool none_stays = cut.piece == left.front().first;
    const Piece bridge = lowest(none_stays ? pieces_[cut.piece].begin : pieces_[cut.piece - 1].end);
    pieces_[met.piece - 1] = bridge;  // in the place of the last piece that it replaces
    written_[met.piece - 1] = true;
    left.resize(none_stays ? 0 : cut.run + 1);
    if (!none_stays) left.back().last = cut.piece;
    left.push_back({met.piece - 1, right[met.run].last});
    left.insert(left.end(), right.begin() + static_cast<int64_t>(met.run) + 1, right.end());
  } else {
    left.insert(left.end(), right.begin(), right.end());
  }
}
// [end merge]

void TiledString::MergeLevel(
    absl::FunctionRef<void(int64_t pair, int64_t from, int64_t to)> tried) {
  const auto alive = [](const String& string) {
    size_t pieces = 0;
    for (const Run& run : string) pieces += run.last - run.first;
    return static_cast<int64_t>(pieces);
  };
  int64_t longest = 0;
  std::vector<String> merged;
  for (size_t i = 0; i < strings_.size(); i += 2) {
    merged.push_back(std::move(strings_[i]));
    if (i + 1 == strings_.size()) break;
    String& left = merged.back();
    const String& right = strings_[i + 1];
    searched_ = 0;
    const int64_t pair = static_cast<int64_t>(i / 2);
    bool idle = true;
    Merge(left, right, [&](int64_t from, int64_t to) {
      idle = false;
      tried(pair, from, to);
    });
    longest = std::max(longest, searched_);
    counts_.comparisons += searched_;
    ++counts_.merges;
    if (!idle) ++counts_.written;
    counts_.copied += alive(left);
    counts_.notes += static_cast<int64_t>(left.size());
  }
  counts_.merge_chain += longest;
  strings_ = std::move(merged);
}

void TiledString::MergeAll() {
  while (strings() > 1) MergeLevel([](int64_t, int64_t, int64_t) {});
}

std::vector<Piece> TiledString::Pieces() const {
  std::vector<Piece> pieces;
  for (const String& string : strings_) {
    for (const Run& run : string) {
      pieces.insert(pieces.end(), pieces_.begin() + static_cast<int64_t>(run.first),
                    pieces_.begin() + static_cast<int64_t>(run.last));
    }
  }
  return pieces;
}

int64_t TiledString::untouched() const {
  int64_t count = 0;
  for (const String& string : strings_) {
    for (const Run& run : string) {
      for (size_t p = run.first; p < run.last; ++p) count += !written_[p];
    }
  }
  return count;
}

}  // namespace assay::isotonic_page
