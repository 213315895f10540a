// SPDX-License-Identifier: Apache-2.0
//
// Isotonic regression: the walk and the string compared bit by bit, their steps counted, the string
// made in tiles and merged; what rounding does to long rows; a classifier's confidence made honest.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/isotonic/calibration.h"
#include "numerics/isotonic/certificate.h"
#include "numerics/isotonic/isotonic.h"
#include "numerics/isotonic/reliability.h"
#include "numerics/isotonic/walk.h"
#include "tools/lab/lab.h"
#include "web/articles/isotonic/classifier.h"
#include "web/articles/isotonic/pieces.h"
#include "web/articles/isotonic/rows.h"
#include "web/articles/numerical-pitfalls/garments.h"

namespace assay::isotonic_page {
namespace {

using lab::Context;
using lab::Report;
using lab::Table;

constexpr int64_t kTile = 1024;

// Refuses a knob outside [least, most], and NaN.
template <class T>
absl::Status InRange(std::string_view name, T value, T least, T most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", expected ", least, " to ", most));
}

// The largest exponent of two that a row of pieces.h may have as its length.
constexpr int64_t kMostBits = 20;
static_assert(int64_t{1} << kMostBits == kMostElements);

// The seed of row r of many, in the upper half: another seed of the run shares no row with this
// one.
uint64_t SeedOfRow(Context& context, int64_t r) {
  return context.seed() + (static_cast<uint64_t>(r + 1) << 32);
}

std::vector<Piece> WalkAll(std::span<const int32_t> y, int64_t* steps = nullptr) {
  int64_t count = 0;
  std::vector<Piece> pieces =
      Walk(y, 0, static_cast<int64_t>(y.size()), [&count](const std::vector<Piece>&) { ++count; });
  if (steps != nullptr) *steps = count;
  return pieces;
}

bool SameBits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 8 * a.size()) == 0;
}

// Ends that one ascending list has and the other has not.
int64_t EndsThatDiffer(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> different;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                std::back_inserter(different));
  return static_cast<int64_t>(different.size());
}

double Share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(whole, 1));
}

// The slope of log y over log x by least squares.
double Exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const double count = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double lx = Log(x[i]), ly = Log(y[i]);
    sx += lx;
    sy += ly;
    sxx += lx * lx;
    sxy += lx * ly;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

// ------------------------------------------------------------------ two pictures of one thing

// The row that the demo begins with.
absl::Status Pictures(Context&, Report& report) {
  const std::vector<int32_t> y = MakeRow(Kind::kHill, 24, 100, 7);
  const int64_t n = static_cast<int64_t>(y.size());
  const std::vector<Piece> pieces = WalkAll(y);
  const std::vector<double> fit = FitOf(pieces);
  const std::vector<int64_t> totals = RunningTotals(y);
  Table& points = report.AddTable("points", "A small row and its isotonic fit");
  points.Column<int64_t>("place").Column<int64_t>("value").Column<double>("fit");
  for (int64_t i = 0; i < n; ++i) {
    points.Row(i, y[static_cast<size_t>(i)], fit[static_cast<size_t>(i)]);
  }
  Table& string = report.AddTable("string", "Its running totals and the string below them");
  string.Column<int64_t>("count").Column<double>("totals").Column<double>("string");
  const double average = Share(totals.back(), n);
  double along = 0;
  for (int64_t k = 0; k <= n; ++k) {
    const double off = average * static_cast<double>(k);
    string.Row(k, static_cast<double>(totals[static_cast<size_t>(k)]) - off, along - off);
    if (k < n) along += fit[static_cast<size_t>(k)];
  }
  report.Exact("small_n", n, "Numbers in the small row");
  report.Exact("small_pieces", static_cast<int64_t>(pieces.size()), "Pieces of its fit");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ the same bits

// The library's fits of one row, counted: how many there are, and how many have other bits.
struct LibraryFits {
  int64_t fits = 0, differ = 0;

  absl::Status Count(const std::vector<int32_t>& y, std::span<ThreadPool> pools,
                     const std::vector<double>& expected) {
    const std::vector<double> row(y.begin(), y.end());
    for (ThreadPool& pool : pools) {
      std::vector<double> ours(row.size());
      isotonic::Options options;
      options.pool = &pool;
      if (absl::Status status = isotonic::Fit(row, {}, ours, options); !status.ok()) return status;
      ++fits;
      differ += !SameBits(ours, expected);
    }
    return absl::OkStatus();
  }
};

absl::Status SameBitsEverywhere(Context& context, Report& report) {
  const int64_t most = context.Integer("compared_n", 500, 10000, 10000);
  const int64_t threaded_n = context.Integer("threaded_n", 65537, 200001, 200001);
  absl::Status status = InRange<int64_t>("compared_n", most, 1, kMostElements);
  status.Update(InRange<int64_t>("threaded_n", threaded_n, 65537, kMostElements));
  if (!status.ok()) return status;
  std::array<ThreadPool, 3> pools = {ThreadPool(1), ThreadPool(2), ThreadPool(3)};
  int64_t rows = 0, strings = 0, tiles = 0, threaded = 0;
  LibraryFits library;
  for (const Kind kind : kKinds) {
    for (int64_t n = 1; n <= most; n = 2 * n + 1) {
      const std::vector<int32_t> y = MakeRow(kind, n, 1 << 20, context.seed());
      ++rows;
      const std::vector<Piece> walked = WalkAll(y);
      const std::vector<double> fit = FitOf(walked);
      strings += PullTight(RunningTotals(y)) != walked;
      for (const int64_t tile : {1, 7, 64, 1000}) {
        TiledString tiled(y, tile);
        tiled.MergeAll();
        tiles += tiled.Pieces() != walked;
      }
      if (status = library.Count(y, pools, fit); !status.ok()) return status;
      if (kind != Kind::kLabels) continue;
      std::vector<uint8_t> labels;
      for (const int32_t value : y) labels.push_back(value != 0);
      std::vector<double> rates(labels.size());
      if (status = isotonic::FitLabels(labels, rates); !status.ok()) return status;
      for (double& rate : rates) rate *= 0x1p20;  // exact
      ++library.fits;
      library.differ += !SameBits(rates, fit);
    }
    // A shorter row is never shared among threads.
    for (const int64_t n : {int64_t{65537}, threaded_n}) {
      const std::vector<int32_t> y = MakeRow(kind, n, 1 << 20, context.seed());
      ++threaded;
      if (status = library.Count(y, pools, FitOf(WalkAll(y))); !status.ok()) return status;
      if (threaded_n == n) break;
    }
  }
  report.Exact("compared_rows", rows, "Rows on which all ways were compared");
  report.Exact("threaded_rows", threaded, "Long rows on which the library and the walk were");
  report.Exact("threaded_n", threaded_n, "Numbers in the longest of these");
  report.Exact("compared_fits", library.fits, "Fits of the library on all these rows");
  report.Exact("string_differs", strings, "Rows on which string and walk differ");
  report.Exact("tiles_differ", tiles, "Rows and tile sizes on which tiles and walk differ");
  report.Exact("library_differs", library.differ,
               "Fits of the library that differ from the walk in a bit");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ counting steps

// One number at the far end, lowered.
absl::Status Reach(Context& context, Report& report) {
  const int64_t n = context.Integer("reach_n", 1000, 10000, 10000);
  absl::Status status = InRange<int64_t>("reach_n", n, 1, kMostElements);
  if (!status.ok()) return status;
  std::vector<int32_t> y = MakeRow(Kind::kHill, n, 100, context.seed());
  const std::vector<double> before = FitOf(WalkAll(y));
  y.back() = -kLargestValue;
  const std::vector<double> after = FitOf(WalkAll(y));
  int64_t changed = 0;
  for (size_t i = 0; i < before.size(); ++i) changed += before[i] != after[i];
  report.Exact("reach_n", n, "Numbers in the row whose last one is lowered");
  report.Exact("reach_changed", changed, "Values of the fit that change with it");
  report.Exact("reach_share", Share(changed, n),
               "Share of the fit that changes with its last number");
  return absl::OkStatus();
}

absl::Status Chains(Context& context, Report& report) {
  const int64_t most = context.Integer("chain_lg_n", 14, 20, 20);
  absl::Status status = InRange<int64_t>("chain_lg_n", most, 11, kMostBits);
  if (!status.ok()) return status;
  Table& table = report.AddTable("chain", "Steps that must wait for each other");
  table.Column<int64_t>("n").Column<int64_t>("walk").Column<int64_t>("tiles");
  int64_t walk = 0, tiles = 0, in_tile = 0, walk_before = 0, tiles_before = 0;
  for (int64_t bits = 10; bits <= most; ++bits) {
    const int64_t n = int64_t{1} << bits;
    const std::vector<int32_t> y = MakeRow(Kind::kHill, n, 1 << 20, context.seed());
    walk_before = walk;
    tiles_before = tiles;
    WalkAll(y, &walk);
    TiledString tiled(y, kTile);
    tiled.MergeAll();
    in_tile = tiled.counts().tile_chain;
    tiles = in_tile + tiled.counts().merge_chain;
    table.Row(n, walk, tiles);
    context.Progress(n, int64_t{1} << most, "counting steps");
  }
  report.Exact("tile", kTile, "Numbers in a tile");
  report.Exact("chain_n", int64_t{1} << most, "Numbers in the longest counted row");
  report.Exact("chain_walk", walk, "Steps of the walk, each waiting for the one before");
  report.Exact("chain_tiles", tiles, "Steps of the longest chain by tiles");
  report.Exact("chain_in_tile", in_tile, "Steps of these that are the longest walk in a tile");
  report.Exact("chain_ratio", Share(walk, tiles), "How many times longer the walk's chain is");
  report.Exact("walk_doubling", Share(walk, walk_before),
               "The walk's chain when the row doubles, as a factor");
  report.Exact("tiles_doubling", tiles - tiles_before,
               "Steps that the tiles' chain gains when the row doubles");
  return absl::OkStatus();
}

absl::Status Merging(Context& context, Report& report) {
  const int64_t bits = context.Integer("merge_lg_n", 14, 20, 20);
  absl::Status status = InRange<int64_t>("merge_lg_n", bits, 0, kMostBits);
  if (!status.ok()) return status;
  const int64_t n = int64_t{1} << bits;
  Table& table = report.AddTable("merging", "What merging leaves of the pieces that tiles find");
  table.Column<std::string>("row")
      .Column<int64_t>("tile_pieces")
      .Column<int64_t>("pieces")
      .Column<int64_t>("untouched")
      .Column<double>("kept")
      .Column<int64_t>("written")
      .Column<int64_t>("copied")
      .Column<int64_t>("notes");
  const auto add = [&](const std::string& name, const std::vector<int32_t>& y) {
    TiledString tiled(y, kTile);
    tiled.MergeAll();
    const TiledString::Counts& c = tiled.counts();
    table.Row(name, c.tile_pieces, static_cast<int64_t>(tiled.Pieces().size()), tiled.untouched(),
              Share(tiled.untouched(), c.tile_pieces), c.written, c.copied, c.notes);
    return tiled;
  };
  const TiledString climb = add("climb", MakeClimb(n, context.seed()));
  double least = 1;
  for (const Kind kind : kKinds) {
    const TiledString tiled =
        add(std::string(KindName(kind)), MakeRow(kind, n, 1 << 20, context.seed()));
    least = std::min(least, Share(tiled.untouched(), tiled.counts().tile_pieces));
  }
  const TiledString::Counts& c = climb.counts();
  report.Exact("merge_n", n, "Numbers in each merged row");
  report.Exact("merge_tiles", (n - 1) / kTile + 1, "Tiles of each row");
  report.Exact("climb_pieces", c.tile_pieces, "Pieces that the tiles of the climb find");
  report.Exact("climb_written", c.written, "Pieces that merging the climb writes");
  report.Exact("climb_kept", Share(climb.untouched(), c.tile_pieces),
               "Share of the climb's pieces that merging never touches");
  report.Exact("climb_copied", c.copied, "Pieces written if each merge copied, climb");
  report.Exact("climb_notes", c.notes, "Notes written in their place, climb");
  report.Exact("climb_saving", Share(c.copied, c.notes + c.written),
               "Pieces copied for each note or piece written without copying");
  report.Exact("least_kept", least, "Least share of pieces kept, all other rows");
  return absl::OkStatus();
}

// How many of the tiles' pieces last, on rows of more and more tiles.
absl::Status Survival(Context& context, Report& report) {
  const int64_t most = context.Integer("survival_lg_n", 14, 20, 20);
  absl::Status status = InRange<int64_t>("survival_lg_n", most, 10, kMostBits);
  if (!status.ok()) return status;
  Table& table =
      report.AddTable("survival", "Share of the tiles' pieces that merging never touches");
  table.Column<int64_t>("n").Column<double>("climb").Column<double>("hill").Column<double>("noise");
  for (int64_t bits = 10; bits <= most; ++bits) {
    const int64_t n = int64_t{1} << bits;
    const auto kept = [](const std::vector<int32_t>& y) {
      TiledString tiled(y, kTile);
      tiled.MergeAll();
      return Share(tiled.untouched(), tiled.counts().tile_pieces);
    };
    table.Row(n, kept(MakeClimb(n, context.seed())),
              kept(MakeRow(Kind::kHill, n, 1 << 20, context.seed())),
              kept(MakeRow(Kind::kNoise, n, 1 << 20, context.seed())));
  }
  return absl::OkStatus();
}

absl::Status Growth(Context& context, Report& report) {
  const int64_t most = context.Integer("growth_lg_n", 12, 18, 20);
  const int64_t rows = context.Integer("growth_rows", 4, 32, 64);
  absl::Status status = InRange<int64_t>("growth_lg_n", most, 12, kMostBits);
  status.Update(InRange<int64_t>("growth_rows", rows, 1, 10000));
  if (!status.ok()) return status;
  Table& table = report.AddTable("growth", "Pieces of the fit, mean over rows");
  table.Column<int64_t>("n").Column<double>("climb").Column<double>("labels").Column<double>(
      "noise");
  std::vector<double> sizes, climb, labels, noise;
  for (int64_t bits = 8; bits <= most; ++bits) {
    const int64_t n = int64_t{1} << bits;
    int64_t c = 0, l = 0, s = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const uint64_t seed = SeedOfRow(context, r);
      c += static_cast<int64_t>(WalkAll(MakeClimb(n, seed)).size());
      l += static_cast<int64_t>(WalkAll(MakeRow(Kind::kLabels, n, 1, seed)).size());
      s += static_cast<int64_t>(WalkAll(MakeRow(Kind::kNoise, n, 1 << 20, seed)).size());
    }
    sizes.push_back(static_cast<double>(n));
    climb.push_back(Share(c, rows));
    labels.push_back(Share(l, rows));
    noise.push_back(Share(s, rows));
    table.Row(n, climb.back(), labels.back(), noise.back());
    context.Progress(n, int64_t{1} << most, "counting pieces");
  }
  report.Exact("growth_n", int64_t{1} << most, "Numbers in the longest of these rows");
  report.Exact("growth_rows", rows, "Rows of each kind and length");
  // Growth laws are about long rows: the last four doublings.
  const auto exponent = [&sizes](const std::vector<double>& pieces) {
    return Exponent({sizes.end() - 5, sizes.end()}, {pieces.end() - 5, pieces.end()});
  };
  report.Exact("climb_exponent", exponent(climb), "Exponent of the pieces of a climb");
  report.Exact("labels_exponent", exponent(labels), "Exponent of the pieces of labels");
  report.Exact("noise_exponent", exponent(noise), "Exponent of the pieces of noise");
  report.Exact("labels_pieces", labels.back(), "Pieces of labels in the longest row");
  report.Exact("noise_pieces", noise.back(), "Pieces of noise in the longest row");
  // Pieces of noise are as many as cycles of a permutation: the sum of independent bits, of which
  // the i-th is 1 with probability 1 / i.
  double mean = 0, variance = 0;
  for (int64_t i = 1; i <= int64_t{1} << most; ++i) {
    const double p = 1 / static_cast<double>(i);
    mean += p;
    variance += p * (1 - p);
  }
  const double error = std::sqrt(variance / static_cast<double>(rows));
  report.Exact("noise_harmonic", noise.back() / mean,
               "Pieces of noise over the harmonic number of its length");
  report.Exact("noise_error", error / mean, "Standard error of that, as theory has it");
  report.Exact("noise_off", (noise.back() - mean) / error,
               "Standard errors by which it is larger than one");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ rounding

// A fit of floats, and where its pieces end.
struct Fitted {
  std::vector<double> fit;
  std::vector<int64_t> ends;
};

// [region totals]
// The string under running totals that are kept in T.
template <class T, class Y>
Fitted StringInPrecision(std::span<const Y> y) {
  std::vector<T> totals = {0};
  for (const Y value : y) totals.push_back(totals.back() + static_cast<T>(value));
  const auto slope = [&totals](size_t a, size_t b) {
    return (totals[b] - totals[a]) / static_cast<T>(b - a);
  };
  std::vector<size_t> knots = {0};
  for (size_t k = 1; k < totals.size(); ++k) {
    while (knots.size() > 1 && slope(knots.end()[-2], knots.back()) >= slope(knots.back(), k)) {
      knots.pop_back();
    }
    knots.push_back(k);
  }
  Fitted fitted;
  for (size_t i = 1; i < knots.size(); ++i) {
    fitted.ends.push_back(static_cast<int64_t>(knots[i]));
    fitted.fit.resize(knots[i], static_cast<double>(slope(knots[i - 1], knots[i])));
  }
  return fitted;
}
// [end totals]

// The walk with the sum of each block kept in T.
template <class T, class Y>
Fitted WalkInPrecision(std::span<const Y> y) {
  struct Block {
    T sum, count;
    size_t end;
  };
  std::vector<Block> blocks;
  for (size_t i = 0; i < y.size(); ++i) {
    Block last = {static_cast<T>(y[i]), 1, i + 1};
    while (!blocks.empty() && blocks.back().sum * last.count >= last.sum * blocks.back().count) {
      last.sum += blocks.back().sum;
      last.count += blocks.back().count;
      blocks.pop_back();
    }
    blocks.push_back(last);
  }
  Fitted fitted;
  for (const Block& block : blocks) {
    fitted.ends.push_back(static_cast<int64_t>(block.end));
    fitted.fit.resize(block.end, static_cast<double>(block.sum / block.count));
  }
  return fitted;
}

double LargestDifference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

absl::Status Rounding(Context& context, Report& report) {
  const int64_t most = context.Integer("rounding_lg_n", 14, 22, 22);
  absl::Status status = InRange<int64_t>("rounding_lg_n", most, 12, 24);
  if (!status.ok()) return status;
  Table& table = report.AddTable("rounding", "Largest error of a fit in single precision");
  table.Column<int64_t>("n")
      .Column<double>("totals", "degree")
      .Column<double>("walk", "degree")
      .Column<int64_t>("pieces")
      .Column<int64_t>("totals_wrong")
      .Column<int64_t>("walk_wrong");
  std::vector<double> sizes, by_totals;
  double totals_error = 0, walk_error = 0;
  int64_t pieces = 0, totals_wrong = 0, walk_wrong = 0;
  for (int64_t bits = 10; bits <= most; bits += 2) {
    const int64_t n = int64_t{1} << bits;
    // A temperature that rises from 20 to 21 degrees, read to within half a degree.
    Random random(context.seed(), static_cast<uint64_t>(500 + bits));
    std::vector<float> y;
    for (int64_t i = 0; i < n; ++i) {
      const float noise = random.UniformF();
      y.push_back(19.5f + static_cast<float>(i) / static_cast<float>(n) + noise);
    }
    std::vector<float> exact(y.size());
    std::vector<int64_t> ends;
    if (status = isotonic::Fit(y, {}, exact, {}, &ends); !status.ok()) return status;
    const std::vector<double> truth(exact.begin(), exact.end());
    const Fitted totals = StringInPrecision<float, float>(y);
    const Fitted walk = WalkInPrecision<float, float>(y);
    totals_error = LargestDifference(totals.fit, truth);
    walk_error = LargestDifference(walk.fit, truth);
    pieces = static_cast<int64_t>(ends.size());
    totals_wrong = EndsThatDiffer(totals.ends, ends);
    walk_wrong = EndsThatDiffer(walk.ends, ends);
    table.Row(n, totals_error, walk_error, pieces, totals_wrong, walk_wrong);
    sizes.push_back(static_cast<double>(n));
    by_totals.push_back(totals_error);
    context.Progress(n, int64_t{1} << most, "rounding");
  }
  report.Exact("rounding_n", int64_t{1} << most, "Numbers in the longest row of temperatures");
  report.Exact("totals_error", totals_error, "Error of the string under totals in f32", "degree");
  report.Exact("walk_error", walk_error, "Error of the walk with sums in f32", "degree");
  report.Exact("rounding_pieces", pieces, "Pieces of the exact fit");
  report.Exact("totals_wrong", totals_wrong, "Ends of pieces that totals in f32 miss or invent");
  report.Exact("walk_wrong", walk_wrong, "Ends of pieces that sums in f32 miss or invent");
  report.Exact("totals_exponent", Exponent(sizes, by_totals),
               "Exponent of the error of totals in f32 as the row grows");
  return absl::OkStatus();
}

// Rows of decimals with one digit behind the point, in double precision.
absl::Status Decimals(Context& context, Report& report) {
  const int64_t rows = context.Integer("decimal_rows", 100, 1000, 1000);
  absl::Status status = InRange<int64_t>("decimal_rows", rows, 1, 1000000);
  if (!status.ok()) return status;
  const int64_t n = 100;
  double error = 0;
  int64_t walk_wrong = 0, string_wrong = 0, disagree = 0, stored = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const std::vector<int32_t> tenths = MakeRow(Kind::kHill, n, 100, SeedOfRow(context, r));
    std::vector<double> y;
    for (const int32_t value : tenths) y.push_back(value / 10.0);
    std::vector<double> exact(y.size());
    std::vector<int64_t> ends, meant;
    if (status = isotonic::Fit(y, {}, exact, {}, &ends); !status.ok()) return status;
    for (const Piece& piece : WalkAll(tenths)) meant.push_back(piece.end);
    const Fitted walk = WalkInPrecision<double, double>(y);
    const Fitted string = StringInPrecision<double, double>(y);
    walk_wrong += walk.ends != ends;
    string_wrong += string.ends != ends;
    disagree += !SameBits(walk.fit, string.fit);
    error =
        std::max({error, LargestDifference(walk.fit, exact), LargestDifference(string.fit, exact)});
    stored += ends != meant;
  }
  report.Exact("decimal_rows", rows, "Rows of decimals");
  report.Exact("decimal_n", n, "Numbers in each");
  report.Exact("decimal_walk_wrong", walk_wrong, "Rows whose pieces the walk in f64 gets wrong");
  report.Exact("decimal_string_wrong", string_wrong,
               "Rows whose pieces the string in f64 gets wrong");
  report.Exact("decimal_disagree", disagree,
               "Rows on which walk and string in f64 differ in a bit");
  report.Exact("decimal_error", error, "Largest error of a value of walk or string in f64");
  report.Exact("decimal_stored", stored,
               "Rows whose pieces are others for the stored numbers than for the decimals");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ honest confidence

using numerical_pitfalls::kLargeTest;
using numerical_pitfalls::kLargeTraining;
using numerical_pitfalls::kSmallTest;
using numerical_pitfalls::kSmallTraining;

// Pictures to train on, pictures held out for calibration, pictures to judge by.
struct Pack {
  Garments train, held_out, test;
};

absl::StatusOr<Pack> LoadPack(Context& context, int64_t train) {
  const bool all = context.profile() == lab::Profile::kFull;
  const absl::StatusOr<std::vector<uint8_t>> bytes =
      context.Data(all ? "all_garments" : "garments");
  if (!bytes.ok()) return bytes.status();
  const int64_t training = all ? kLargeTraining : kSmallTraining;
  const int64_t test = all ? kLargeTest : kSmallTest;
  absl::Status status = InRange<int64_t>("train", train, 100, training - 1000);
  if (!status.ok()) return status;
  Pack pack;
  const std::array<std::pair<Garments*, std::pair<int64_t, int64_t>>, 3> parts = {{
      {&pack.train, {0, train}},
      {&pack.held_out, {train, training - train}},
      {&pack.test, {training, test}},
  }};
  for (const auto& [part, range] : parts) {
    absl::StatusOr<Garments> read =
        numerical_pitfalls::ReadPack(*bytes, training + test, range.first, range.second);
    if (!read.ok()) return read.status();
    *part = *std::move(read);
  }
  return pack;
}

// Probabilities and what came true.
struct Forecasts {
  std::vector<double> probability;
  std::vector<uint8_t> right;
};

// The chance that a right answer is given a higher probability than a wrong one; a tie counts half.
double Order(const Forecasts& f) {
  std::vector<std::pair<double, uint8_t>> sorted;
  for (size_t i = 0; i < f.right.size(); ++i) sorted.emplace_back(f.probability[i], f.right[i]);
  std::stable_sort(sorted.begin(), sorted.end());
  int64_t twice_ordered = 0, wrong = 0, right = 0;
  for (size_t i = 0; i < sorted.size();) {
    int64_t tied_wrong = 0, tied_right = 0;
    const double p = sorted[i].first;
    for (; i < sorted.size() && sorted[i].first == p; ++i) {
      ++(sorted[i].second != 0 ? tied_right : tied_wrong);
    }
    twice_ordered += tied_right * (2 * wrong + tied_wrong);
    wrong += tied_wrong;
    right += tied_right;
  }
  return Share(twice_ordered, 2 * wrong * right);
}

// [region calibrate]
// The classifier's confidence on new pictures, made honest by pictures it has not seen.
absl::StatusOr<Forecasts> Calibrated(const Forecasts& held_out, const Forecasts& fresh) {
  const auto calibrator = isotonic::Calibrator::Fit(held_out.probability, held_out.right);
  if (!calibrator.ok()) return calibrator.status();
  Forecasts forecasts = fresh;
  absl::Status status = calibrator->Predict(fresh.probability, forecasts.probability);
  if (!status.ok()) return status;
  return forecasts;
}
// [end calibrate]

Forecasts ForecastsOf(const std::vector<Answer>& answers) {
  Forecasts forecasts;
  for (const Answer& answer : answers) {
    forecasts.probability.push_back(static_cast<double>(answer.confidence));
    forecasts.right.push_back(answer.right);
  }
  return forecasts;
}

// How few held-out pictures will do?
absl::Status Few(Context& context, const Forecasts& held_out, const Forecasts& test,
                 const isotonic::Assessment& before, Report& report) {
  const int64_t draws = context.Integer("draws", 10, 20, 20);
  absl::Status status = InRange<int64_t>("draws", draws, 1, 10000);
  if (!status.ok()) return status;
  Table& table = report.AddTable("few", "Calibration by few pictures, over several draws of them");
  table.Column<int64_t>("held_out")
      .Column<double>("brier")
      .Column<double>("brier_before")
      .Column<double>("gap")
      .Column<double>("gap_before")
      .Column<double>("better")
      .Column<double>("certain")
      .Column<double>("certain_wrong");
  const int64_t available = static_cast<int64_t>(held_out.right.size());
  int64_t enough = -1;
  uint64_t stream = 900;
  for (const int64_t m : {10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000}) {
    if (m > available) break;
    double brier = 0, gap = 0;
    int64_t better = 0, certain = 0, certain_wrong = 0, endless = 0;
    for (int64_t d = 0; d < draws; ++d) {
      Forecasts some;
      for (const int64_t i : Random(context.seed(), stream++).Sample(available, m)) {
        some.probability.push_back(held_out.probability[static_cast<size_t>(i)]);
        some.right.push_back(held_out.right[static_cast<size_t>(i)]);
      }
      const absl::StatusOr<Forecasts> calibrated = Calibrated(some, test);
      if (!calibrated.ok()) return calibrated.status();
      const auto worth = isotonic::Assess(calibrated->probability, calibrated->right);
      if (!worth.ok()) return worth.status();
      brier += worth->brier;
      gap += worth->expected_error;
      better += worth->brier < before.brier;
      int64_t wrong = 0;
      for (size_t i = 0; i < test.right.size(); ++i) {
        if (calibrated->probability[i] != 1) continue;
        ++certain;
        wrong += test.right[i] == 0;
      }
      certain_wrong += wrong;
      endless += wrong > 0;
      context.Progress(d + 1, draws, absl::StrCat("calibrating by ", m));
    }
    const double times = static_cast<double>(draws);
    const int64_t asked = draws * static_cast<int64_t>(test.right.size());
    table.Row(m, brier / times, before.brier, gap / times, before.expected_error,
              Share(better, draws), Share(certain, asked), Share(certain_wrong, certain));
    if (enough < 0 && better == draws) enough = m;
    if (m == 10) {
      report.Exact("ten_brier", brier / times, "Brier score after calibration by ten pictures");
    }
    if (m == 200) {
      report.Exact("certain", Share(certain, asked),
                   "Share of test pictures given a probability of 1 by two hundred pictures");
      report.Exact("certain_wrong", Share(certain_wrong, certain),
                   "Share of these that are named wrongly");
      report.Exact("endless", endless,
                   "Draws of two hundred after which a one for a wrong answer makes the log loss "
                   "infinite");
    }
  }
  report.Exact("draws", draws, "Draws of held-out pictures for each number");
  report.Exact("enough", enough,
               "Least number of pictures that helped in every draw, of those tried");
  return absl::OkStatus();
}

absl::Status Confidence(Context& context, Report& report) {
  const int64_t train = context.Integer("train", 1000, 2000, 2000);
  const int64_t epochs = context.Integer("epochs", 50, 400, 400);
  const double rate = context.Real("rate", 0.1, 0.1, 0.1);
  absl::Status status = InRange<int64_t>("epochs", epochs, 1, 100000);
  status.Update(InRange<double>("rate", rate, 1e-6, 10));
  if (!status.ok()) return status;
  const absl::StatusOr<Pack> pack = LoadPack(context, train);
  if (!pack.ok()) return pack.status();
  const Classifier classifier =
      Train(pack->train, epochs, static_cast<float>(rate), context.seed(),
            [&](int64_t done) { context.Progress(done, epochs, "training a classifier"); });
  const Forecasts held_out = ForecastsOf(Ask(classifier, pack->held_out));
  const Forecasts test = ForecastsOf(Ask(classifier, pack->test));
  const absl::StatusOr<Forecasts> calibrated = Calibrated(held_out, test);
  if (!calibrated.ok()) return calibrated.status();
  const auto calibrator = isotonic::Calibrator::Fit(held_out.probability, held_out.right);
  if (!calibrator.ok()) return calibrator.status();

  const auto share_right = [](const Forecasts& f) {
    return Share(std::accumulate(f.right.begin(), f.right.end(), int64_t{0}),
                 static_cast<int64_t>(f.right.size()));
  };
  const auto confidence = [](const Forecasts& f) {
    double sum = 0;
    for (const double p : f.probability) sum += p;
    return sum / static_cast<double>(f.right.size());
  };
  report.Exact("train", train, "Pictures that the classifier is trained on");
  report.Exact("epochs", epochs, "Passes over them");
  report.Exact("held_out", pack->held_out.count(), "Pictures held out for calibration");
  report.Exact("test", pack->test.count(), "Pictures to judge by");
  report.Exact("train_right", share_right(ForecastsOf(Ask(classifier, pack->train))),
               "Share of training pictures named rightly");
  report.ExactArray("weights", std::span<const float>(classifier.weights),
                    "Weights of the trained classifier");
  report.Exact("test_right", share_right(test), "Share of test pictures named rightly");
  report.Exact("confidence_before", confidence(test), "Mean confidence on the test pictures");
  report.Exact("confidence_after", confidence(*calibrated), "The same after calibration");
  const auto before = isotonic::Assess(test.probability, test.right);
  const auto after = isotonic::Assess(calibrated->probability, calibrated->right);
  if (!before.ok()) return before.status();
  if (!after.ok()) return after.status();
  report.Exact("brier_before", before->brier, "Brier score of the confidence");
  report.Exact("brier_after", after->brier, "Brier score after calibration");
  report.Exact("gap_before", before->expected_error,
               "Expected calibration error of the confidence");
  report.Exact("gap_after", after->expected_error, "Expected calibration error after calibration");
  report.Exact("order_before", Order(test),
               "Chance that a right answer is more confident than a wrong one");
  report.Exact("order_after", Order(*calibrated), "The same after calibration");
  report.Exact("levels", static_cast<int64_t>(calibrator->blocks().size()),
               "Pieces of the calibrating function");
  Table& table = report.AddTable("reliability", "Share right among answers of like confidence");
  table.Column<double>("confidence")
      .Column<double>("before")
      .Column<double>("after")
      .Column<double>("honest")
      .Column<int64_t>("answers_before")
      .Column<int64_t>("answers_after");
  const auto raw = isotonic::ReliabilityDiagram(test.probability, test.right);
  const auto mended = isotonic::ReliabilityDiagram(calibrated->probability, calibrated->right);
  if (!raw.ok()) return raw.status();
  if (!mended.ok()) return mended.status();
  for (size_t b = 0; b < raw->size(); ++b) {
    const isotonic::ReliabilityBin &was = (*raw)[b], &is = (*mended)[b];
    // A bin with few answers says little.
    const auto share = [](const isotonic::ReliabilityBin& bin) {
      return bin.count < 20 ? std::numeric_limits<double>::quiet_NaN() : bin.rate;
    };
    const double middle = (was.low + was.high) / 2;
    table.Row(middle, share(was), share(is), middle, was.count, is.count);
  }
  return Few(context, held_out, test, *before, report);
}

// ------------------------------------------------------------------ ten million

std::vector<double> LongRow(int64_t n, uint64_t seed) {
  Random random(seed, 700);
  std::vector<double> y(static_cast<size_t>(n));
  random.FillUniform(std::span<double>(y));
  for (size_t i = 0; i < y.size(); ++i) y[i] += static_cast<double>(i) / static_cast<double>(n);
  return y;
}

absl::Status LongRowIsProven(Context& context, Report& report) {
  const int64_t n = context.Integer("long_n", 20000, 300000, 10000000);
  absl::Status status = InRange<int64_t>("long_n", n, 1, 100000000);
  if (!status.ok()) return status;
  const std::vector<double> y = LongRow(n, context.seed());
  std::vector<double> fit(y.size());
  std::vector<int64_t> ends;
  ThreadPool pool(context.threads());
  isotonic::Options options;
  options.pool = &pool;
  if (status = isotonic::Fit(y, {}, fit, options, &ends); !status.ok()) return status;
  context.Progress(1, 2, "proving the long fit");
  const absl::Status values = isotonic::Certify(y, {}, fit);
  const absl::Status blocks = isotonic::CertifyBlocks(y, {}, ends);
  context.Progress(2, 2, "proving the long fit");
  report.Exact("long_n", n, "Numbers in the long row");
  report.Exact("long_pieces", static_cast<int64_t>(ends.size()), "Pieces of its fit");
  report.Exact("long_values_proven", values.ok(), "Every value is the exact one, rounded once");
  report.Exact("long_pieces_proven", blocks.ok(), "Every piece is one of the exact fit");
  report.ExactArray("long_fit", fit, "The fit of the long row");
  // One value moved by its smallest step: a proof must fail.
  double& moved = fit[static_cast<size_t>(n / 2)];
  moved = DoubleFromBits(FloatBits(moved) + 1);
  report.Exact("long_fault_found", !isotonic::Certify(y, {}, fit).ok(),
               "One value moved by its last bit is found out");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ the lab

absl::Status Run(Context& context, Report& report) {
  for (const auto section : {Pictures, Reach, Chains, Merging, Survival, Growth, SameBitsEverywhere,
                             Rounding, Decimals, Confidence, LongRowIsProven}) {
    if (absl::Status status = section(context, report); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Measure(lab::MeasureContext& context, lab::Measurements& measurements) {
  ThreadPool pool(2);
  for (const int64_t n : {1000, 10000, 100000, 1000000, 10000000}) {
    const std::vector<double> y = LongRow(n, context.seed());
    std::vector<double> walked(y.size()), one(y.size()), two(y.size());
    std::vector<isotonic::WalkBlock> blocks;
    isotonic::Options shared;
    shared.pool = &pool;
    std::vector<lab::Variant> variants(3);
    variants[0].id = absl::StrCat("walk_", n);
    variants[0].title = "The walk, in doubles";
    variants[0].run = [&] { isotonic::FitByWalk<double>(y, {}, walked, blocks); };
    variants[0].check = [&] {
      // Sums of up to n numbers below 2: n u in each mean, and as much in where a piece ends.
      const double error = LargestDifference(walked, one);
      return error <= 4 * static_cast<double>(n) * 0x1p-53
                 ? absl::OkStatus()
                 : absl::InternalError(absl::StrCat("the walk is off by ", error));
    };
    variants[1].id = absl::StrCat("library_", n);
    variants[1].title = "The library, one thread";
    variants[1].run = [&] { lab::KeepResult(isotonic::Fit(y, {}, one).ok()); };
    variants[1].check = [&] { return isotonic::Certify(y, {}, one); };
    variants[2].id = absl::StrCat("library_two_", n);
    variants[2].title = "The library, two threads";
    variants[2].run = [&] { lab::KeepResult(isotonic::Fit(y, {}, two, shared).ok()); };
    variants[2].check = [&] {
      return SameBits(one, two) ? absl::OkStatus()
                                : absl::InternalError("two threads give other bits than one");
    };
    for (lab::Variant& variant : variants) variant.bytes = 16.0 * static_cast<double>(n);
    absl::Status status =
        measurements.Compare(context, absl::StrCat("fit_", n),
                             absl::StrCat("One fit of ", n, " numbers in f64"), variants);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

ASSAY_LAB(isotonic, {.title = "Isotonic regression", .run = &Run, .measure = &Measure});

}  // namespace
}  // namespace assay::isotonic_page
