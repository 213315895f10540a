// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/elementary.h"
#include "numerics/gemm/traffic.h"
#include "tools/lab/lab.h"
#include "web/articles/cost-of-matrix-multiplication/parts.h"

namespace assay::matmul_page {
namespace {

using gemm::CacheShape;
using gemm::LoopOrder;
using gemm::ProductLoops;
using lab::Context;
using lab::Report;
using lab::Table;

struct Shape {
  std::string_view name;
  int64_t m, n, k;
  int64_t flops() const { return 2 * m * n * k; }
  int64_t numbers() const { return m * k + k * n + m * n; }
  // Operations a byte in f32, each number moved once.
  double intensity() const {
    return static_cast<double>(flops()) / (4 * static_cast<double>(numbers()));
  }
};

void Shapes(Report& report) {
  constexpr Shape kShapes[] = {
      {"square, 4096", 4096, 4096, 4096},     {"square, 64", 64, 64, 64},
      {"short sums, k = 64", 4096, 4096, 64}, {"128 rows x layer", 128, 4096, 4096},
      {"16 rows x layer", 16, 4096, 4096},    {"1 row x layer", 1, 4096, 4096},
  };
  Table& table = report.AddTable("shapes", "Operations and numbers of products, in f32");
  table.Column<std::string_view>("product")
      .Column<int64_t>("operations")
      .Column<int64_t>("numbers")
      .Column<double>("intensity", "op/byte");
  for (const Shape& shape : kShapes) {
    table.Row(shape.name, shape.flops(), shape.numbers(), shape.intensity());
  }
  report.Exact("square_intensity", kShapes[0].intensity(), "A square product of 4096, in f32",
               "operations a byte");
  report.Exact("row_intensity", kShapes[5].intensity(), "One row times a layer, in f32",
               "operations a byte");
}

absl::Status SizeInRange(std::string_view name, int64_t n) {
  if (n >= 16 && n <= 512) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is ", n, ", expected 16 to 512"));
}

// f64 in lines of 64 bytes, eight ways: 4 KiB, in which no column of the matrices fits, since each
// of its numbers has a line of its own; and 16 KiB.
constexpr CacheShape kSmall = {.line = 8, .lines = 64, .ways = 8};
constexpr CacheShape kCache = {.line = 8, .lines = 256, .ways = 8};

absl::Status Orders(Context& context, Report& report) {
  const int64_t n = context.Integer("orders_n", 56, 104, 104);
  if (absl::Status status = SizeInRange("orders_n", n); !status.ok()) return status;
  Table& table = report.AddTable("orders", "One product in six orders of its loops, and in tiles");
  table.Column<std::string_view>("order")
      .Column<int64_t>("from_a", "lines")
      .Column<int64_t>("from_b", "lines")
      .Column<int64_t>("from_c", "lines")
      .Column<int64_t>("back", "lines")
      .Column<int64_t>("moved", "numbers")
      .Column<double>("least");  // times the lower bound
  const double least = gemm::LeastTraffic(n, kSmall.elements());
  int64_t most = 0, fewest = INT64_MAX, tiled = 0, dot = 0;
  for (int i = 0; i < gemm::kLoopOrders; ++i) {
    const ProductLoops loops = {.order = static_cast<LoopOrder>(i), .n = n, .tile = 8};
    const gemm::TrafficCounts counts = CountTraffic(loops, kSmall);
    const int64_t moved = counts.Elements(kSmall);
    table.Row(LoopOrderName(loops.order), counts.misses[0], counts.misses[1], counts.misses[2],
              counts.write_backs, moved, static_cast<double>(moved) / least);
    if (loops.order == LoopOrder::kTiled) {
      tiled = moved;
    } else {
      most = std::max(most, moved);
      fewest = std::min(fewest, moved);
    }
    if (loops.order == LoopOrder::kIjk) dot = moved;
    context.Progress(i + 1, gemm::kLoopOrders, "following loops");
  }
  report.Exact("orders_n", n, "Rows and columns of each matrix", "rows");
  report.Exact("orders_cache", kSmall.elements(), "Numbers that the cache holds", "numbers");
  report.Exact("orders_all", 3 * n * n, "Numbers of all three matrices", "numbers");
  report.Exact("orders_flops", 2 * n * n * n, "Operations, in any order", "operations");
  report.Exact("orders_spread", static_cast<double>(most) / static_cast<double>(fewest),
               "The most traffic of six orders over the least", "times");
  report.Exact("orders_dot", dot, "Numbers that the textbook's order moves", "numbers");
  report.Exact("orders_fewest", fewest, "Numbers that the best order moves", "numbers");
  report.Exact("orders_tiled", tiled, "Numbers that tiles move", "numbers");
  report.Exact("orders_gain", static_cast<double>(fewest) / static_cast<double>(tiled),
               "Traffic of the best order over that of tiles", "times");
  report.Exact("orders_least", least, "What no order can go below", "numbers");
  return absl::OkStatus();
}

// Tiles of every size, in a cache with one set (least conflicts), and in one with ways.
absl::Status Tiles(Context& context, Report& report) {
  const int64_t n = context.Integer("tiles_n", 40, 60, 60);
  if (absl::Status status = SizeInRange("tiles_n", n); !status.ok()) return status;
  // One number a line: the setting of the theorem.
  constexpr CacheShape kIdeal = {.line = 1, .lines = 300, .ways = 300};
  Table& table = report.AddTable("tiles", "Numbers moved by tile, and what theory says");
  table.Column<int64_t>("tile")
      .Column<int64_t>("moved", "numbers")
      .Column<double>("formula", "numbers")
      .Column<double>("least", "numbers");
  const double least = gemm::LeastTraffic(n, kIdeal.elements());
  int64_t best = INT64_MAX, best_tile = 0;
  const double cube = static_cast<double>(n * n * n);
  double law_off = 0, three_over = 0;
  std::vector<int64_t> tiles;
  for (int64_t t = 2; t <= 20; ++t) tiles.push_back(t);
  tiles.push_back(24);
  tiles.push_back(30);
  for (size_t i = 0; i < tiles.size(); ++i) {
    const int64_t t = tiles[i];
    const int64_t moved =
        CountTraffic({.order = LoopOrder::kTiled, .n = n, .tile = t}, kIdeal).Elements(kIdeal);
    // A and B once for each tile of C, C read and written once.
    const double formula = 2 * cube / static_cast<double>(t) + 2 * static_cast<double>(n * n);
    table.Row(t, moved, formula, least);
    if (moved < best) {
      best = moved;
      best_tile = t;
    }
    const double off = static_cast<double>(moved) / formula;
    // Three tiles with room to spare; a tile of 2 keeps more than its own.
    if (t >= 3 && 9 * t * t <= 2 * kIdeal.elements()) {
      law_off = std::max(law_off, off > 1 ? off - 1 : 1 - off);
    }
    if (3 * t * t == kIdeal.elements()) three_over = off;
    context.Progress(static_cast<int64_t>(i) + 1, static_cast<int64_t>(tiles.size()),
                     "trying tiles");
  }
  report.Exact("tiles_n", n, "Rows and columns of each matrix", "rows");
  report.Exact("tiles_cache", kIdeal.elements(), "Numbers that the cache holds", "numbers");
  report.Exact("tiles_best", best_tile, "Tile that moves the fewest numbers", "rows");
  report.Exact("tiles_third", Sqrt(static_cast<double>(kIdeal.elements()) / 3),
               "Side of a tile of which three fill the cache", "rows");
  report.Exact("tiles_whole", Sqrt(static_cast<double>(kIdeal.elements())),
               "Side of a tile that fills the cache alone", "rows");
  report.Exact("tiles_over_least", static_cast<double>(best) / least,
               "What the best tile moves over the least that must", "times");
  report.Exact("tiles_law_off", law_off,
               "Largest relative difference from the formula, tiles from 3 to two thirds of room");
  report.Exact("tiles_three_over", three_over,
               "What is moved where three tiles just fill the cache, over the formula", "times");
  return absl::OkStatus();
}

// Neighbouring sizes through the same cache; the worst is a power of two.
absl::Status Sizes(Context& context, Report& report) {
  const int64_t middle = context.Integer("sizes_n", 64, 128, 128);
  if (absl::Status status = SizeInRange("sizes_n", middle); !status.ok()) return status;
  Table& table = report.AddTable("sizes", "Numbers moved for each thousand multiplications");
  table.Column<int64_t>("n").Column<double>("plain", "numbers").Column<double>("padded", "numbers");
  double worst = 0, next = 0, at_middle = 0, at_padded = 0;
  int64_t worst_n = 0;
  constexpr int64_t kTile = 16;
  for (int64_t n = middle - 8; n <= middle + 8; ++n) {
    const auto each = [&](int64_t leading) {
      const ProductLoops loops = {
          .order = LoopOrder::kTiled, .n = n, .tile = kTile, .leading = leading};
      return 1000 * static_cast<double>(CountTraffic(loops, kCache).Elements(kCache)) /
             static_cast<double>(n * n * n);
    };
    // An odd number of lines a row visits all sets.
    int64_t lines = (n + kCache.line - 1) / kCache.line;
    if (lines % 2 == 0) ++lines;
    const double plain = each(0), padded = each(lines * kCache.line);
    table.Row(n, plain, padded);
    if (plain > worst) {
      worst = plain;
      worst_n = n;
    }
    if (n == middle) {
      at_middle = plain;
      at_padded = padded;
    }
    if (n == middle + 1) next = plain;
    context.Progress(n - middle + 9, 17, "trying sizes");
  }
  report.Exact("sizes_n", middle, "The power of two", "rows");
  report.Exact("sizes_worst", worst_n, "The size that moves the most for each multiplication",
               "rows");
  report.Exact("sizes_jump", at_middle / next, "The power of two against one row more", "times");
  report.Exact("sizes_mended", at_middle / at_padded, "Without padding against with it", "times");
  return absl::OkStatus();
}

}  // namespace

absl::Status Traffic(Context& context, Report& report) {
  Shapes(report);
  for (const auto part : {Orders, Tiles, Sizes}) {
    if (absl::Status status = part(context, report); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace assay::matmul_page
