// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/traffic.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "numerics/core/check.h"
#include "numerics/core/elementary.h"

namespace assay::gemm {
namespace {

constexpr int kA = 0;
constexpr int kB = 1;
constexpr int kC = 2;

// Loops over three indices in any order, the last one innermost.
struct Counter {
  absl::FunctionRef<void(const Touch&, int64_t)> f;
  int64_t step = 0;

  void A(int64_t i, int64_t k) { f({kA, i, k, false}, step); }
  void B(int64_t k, int64_t j) { f({kB, k, j, false}, step); }
  void ReadC(int64_t i, int64_t j) { f({kC, i, j, false}, step); }
  void WriteC(int64_t i, int64_t j) { f({kC, i, j, true}, step); }

  // One element of C as a sum.
  void Dot(int64_t i, int64_t j, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      A(i, k);
      B(k, j);
      if (k == n - 1) WriteC(i, j);
      ++step;
    }
  }
  // One element of A times a part of a row of B.
  void RowUpdate(int64_t i, int64_t k, int64_t j_begin, int64_t j_end) {
    A(i, k);
    for (int64_t j = j_begin; j < j_end; ++j) {
      B(k, j);
      ReadC(i, j);
      WriteC(i, j);
      ++step;
    }
  }
  // One element of B times a column of A.
  void ColumnUpdate(int64_t j, int64_t k, int64_t n) {
    B(k, j);
    for (int64_t i = 0; i < n; ++i) {
      A(i, k);
      ReadC(i, j);
      WriteC(i, j);
      ++step;
    }
  }
};

}  // namespace

std::string_view LoopOrderName(LoopOrder order) {
  constexpr std::string_view kNames[] = {"ijk", "jik", "ikj", "kij", "jki", "kji", "tiled"};
  return kNames[static_cast<int>(order)];
}

void ForEachTouch(const ProductLoops& loops,
                  absl::FunctionRef<void(const Touch&, int64_t step)> f) {
  const int64_t n = loops.n;
  Counter counter{f};
  switch (loops.order) {
    case LoopOrder::kIjk:
    case LoopOrder::kJik:
      for (int64_t p = 0; p < n; ++p) {
        for (int64_t q = 0; q < n; ++q) {
          loops.order == LoopOrder::kIjk ? counter.Dot(p, q, n) : counter.Dot(q, p, n);
        }
      }
      return;
    case LoopOrder::kIkj:
    case LoopOrder::kKij:
      for (int64_t p = 0; p < n; ++p) {
        for (int64_t q = 0; q < n; ++q) {
          loops.order == LoopOrder::kIkj ? counter.RowUpdate(p, q, 0, n)
                                         : counter.RowUpdate(q, p, 0, n);
        }
      }
      return;
    case LoopOrder::kJki:
    case LoopOrder::kKji:
      for (int64_t p = 0; p < n; ++p) {
        for (int64_t q = 0; q < n; ++q) {
          loops.order == LoopOrder::kJki ? counter.ColumnUpdate(p, q, n)
                                         : counter.ColumnUpdate(q, p, n);
        }
      }
      return;
    case LoopOrder::kTiled:
      ASSAY_CHECK_GE(loops.tile, 1);
      for (int64_t ii = 0; ii < n; ii += loops.tile) {
        for (int64_t jj = 0; jj < n; jj += loops.tile) {
          for (int64_t kk = 0; kk < n; kk += loops.tile) {
            for (int64_t i = ii; i < std::min(ii + loops.tile, n); ++i) {
              for (int64_t k = kk; k < std::min(kk + loops.tile, n); ++k) {
                counter.RowUpdate(i, k, jj, std::min(jj + loops.tile, n));
              }
            }
          }
        }
      }
      return;
  }
}

LineCache::LineCache(const CacheShape& shape)
    : sets_(shape.lines / std::max<int64_t>(shape.ways, 1)), ways_(shape.ways) {
  ASSAY_CHECK(shape.ways >= 1 && sets_ >= 1 && sets_ * ways_ == shape.lines);
  all_.resize(static_cast<size_t>(shape.lines));
}

LineCache::Result LineCache::Touch(int64_t line, bool write) {
  Way* const set = all_.data() + line % sets_ * ways_;
  Way* oldest = set;
  ++clock_;
  for (Way* way = set; way != set + ways_; ++way) {
    if (way->line == line) {
      way->used = clock_;
      way->dirty |= write;
      return {.hit = true};
    }
    if (way->used < oldest->used) oldest = way;
  }
  const Result result = {.hit = false, .evicted = oldest->line, .wrote_back = oldest->dirty};
  *oldest = {.line = line, .used = clock_, .dirty = write};
  return result;
}

int64_t LineCache::Dirty() const {
  return std::count_if(all_.begin(), all_.end(), [](const Way& way) { return way.dirty; });
}

int64_t LineOf(const ProductLoops& loops, const CacheShape& shape, const Touch& touch) {
  const int64_t leading = loops.leading == 0 ? loops.n : loops.leading;
  const int64_t lines = (loops.n * leading + shape.line - 1) / shape.line;
  return touch.matrix * lines + (touch.row * leading + touch.col) / shape.line;
}

TrafficCounts CountTraffic(const ProductLoops& loops, const CacheShape& shape) {
  LineCache cache(shape);
  TrafficCounts counts;
  ForEachTouch(loops, [&](const Touch& touch, int64_t) {
    const LineCache::Result result = cache.Touch(LineOf(loops, shape, touch), touch.write);
    const auto matrix = static_cast<size_t>(touch.matrix);
    ++counts.touches[matrix];
    counts.misses[matrix] += result.hit ? 0 : 1;
    counts.write_backs += result.wrote_back ? 1 : 0;
  });
  counts.write_backs += cache.Dirty();
  return counts;
}

double LeastTraffic(int64_t n, int64_t m) {
  const auto size = static_cast<double>(n);
  const auto memory = static_cast<double>(m);
  return std::max(2 * size * size * size / Sqrt(memory) - 2 * memory, 3 * size * size);
}

}  // namespace assay::gemm
