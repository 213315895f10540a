// SPDX-License-Identifier: Apache-2.0
//
// traffic.h: what a product of matrices moves between a cache and the memory behind it, counted by
// following every load and store of its loops.
//
//   TrafficCounts counts = CountTraffic({.order = LoopOrder::kTiled, .n = 64, .tile = 16},
//                                       {.line = 8, .lines = 64, .ways = 8});
//
// C = A B of n x n elements, row after row, A, B and C one behind the other, each beginning a line.
// An operand that the innermost loop does not change is in a register: loaded once before it, and
// stored once after it. The cache evicts the line of a set that was used longest ago, loads a line
// before it writes to it, and writes a changed line back when it leaves, or at the end.
// Exact integers, the same everywhere. Cost: some nanoseconds and `ways` comparisons a touch.
#ifndef ASSAY_NUMERICS_GEMM_TRAFFIC_H_
#define ASSAY_NUMERICS_GEMM_TRAFFIC_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace assay::gemm {

// The three loops from the outside; i runs over rows, j over columns of C, k over the sum. kTiled:
// tiles in the order i, j, k, and i, k, j inside one.
enum class LoopOrder { kIjk, kJik, kIkj, kKij, kJki, kKji, kTiled };
inline constexpr int kLoopOrders = 7;
std::string_view LoopOrderName(LoopOrder order);  // "ijk"; "tiled"

struct ProductLoops {
  LoopOrder order = LoopOrder::kIjk;
  int64_t n = 1;        // at least 1
  int64_t tile = 1;     // of kTiled, from 1 to n
  int64_t leading = 0;  // elements from row to row; 0: n
};

struct CacheShape {
  int64_t line = 8;    // elements
  int64_t lines = 64;  // in all
  int64_t ways = 8;    // of a set; divides lines
  int64_t elements() const { return line * lines; }
};

// A load or store of one element: of matrix 0 (A), 1 (B) or 2 (C).
struct Touch {
  int matrix;
  int64_t row;
  int64_t col;
  bool write;
};

// Calls f for every touch in order. `step`: the multiplication that it belongs to, from 0; a sum is
// stored with its last one.
void ForEachTouch(const ProductLoops& loops, absl::FunctionRef<void(const Touch&, int64_t step)> f);

// A cache of lines, named by numbers.
class LineCache {
 public:
  // A shape with ways >= 1 that divide lines (checked).
  explicit LineCache(const CacheShape& shape);

  struct Result {
    bool hit;
    int64_t evicted = -1;  // the line that left, if any
    bool wrote_back = false;
  };
  Result Touch(int64_t line, bool write);
  // Lines changed and not written back yet.
  int64_t Dirty() const;

 private:
  struct Way {
    int64_t line = -1;
    int64_t used = 0;
    bool dirty = false;
  };
  int64_t sets_;
  int64_t ways_;
  int64_t clock_ = 0;
  std::vector<Way> all_;
};

// Where an element lies: its line, counted from A's first.
int64_t LineOf(const ProductLoops& loops, const CacheShape& shape, const Touch& touch);

struct TrafficCounts {
  std::array<int64_t, 3> touches = {};  // of A, B and C
  std::array<int64_t, 3> misses = {};
  int64_t write_backs = 0;
  // Elements moved either way.
  int64_t Elements(const CacheShape& shape) const {
    return (misses[0] + misses[1] + misses[2] + write_backs) * shape.line;
  }
};
TrafficCounts CountTraffic(const ProductLoops& loops, const CacheShape& shape);

// No order of the n^3 products moves fewer elements through a memory of m elements:
// 2 n^3 / sqrt(m) - 2 m (Smith et al., Pushing the Limits for High-Performance Matrix
// Multiplication I/O, arXiv:1702.02017 (2017)), nor fewer than the 3 n^2 that must be read or
// written once.
double LeastTraffic(int64_t n, int64_t m);

}  // namespace assay::gemm

#endif  // ASSAY_NUMERICS_GEMM_TRAFFIC_H_
