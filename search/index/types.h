// SPDX-License-Identifier: Apache-2.0
//
// Words shared by every index of this room: the metric, the order of results, what a search returns
// and what a search cost.

#ifndef ASSAY_SEARCH_INDEX_TYPES_H_
#define ASSAY_SEARCH_INDEX_TYPES_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace assay::index {

// How near two vectors are.
enum class Metric : uint8_t {
  // Squared Euclidean distance, sum over i of (x_i - y_i)^2. No root is taken: it changes no order.
  // Smaller is closer.
  kL2 = 0,
  // Inner product, sum over i of x_i y_i. Larger is closer. Not a metric: a vector need not be its
  // own nearest neighbour, since a longer one may have a larger product with it.
  kInnerProduct = 1,
  // Cosine distance, 1 - x.y / sqrt(x.x y.y), in [0, 2]. Smaller is closer. The distance to or from
  // a zero vector is defined as 1.
  kCosine = 2,
};

// "l2", "inner product" or "cosine".
std::string_view MetricName(Metric metric);

// True when larger values are closer (the inner product).
constexpr bool LargerIsCloser(Metric metric) { return metric == Metric::kInnerProduct; }

// The total order of results: the closer value first, the smaller id first between equal values.
// Neither value may be NaN.
constexpr bool Closer(Metric metric, double value_a, int64_t id_a, double value_b, int64_t id_b) {
  if (value_a != value_b) return LargerIsCloser(metric) ? value_a > value_b : value_a < value_b;
  return id_a < id_b;
}

// What a search did, counted and not timed. Every count is the same on every machine and for any
// number of threads.
struct Work {
  int64_t distances = 0;    // pairs (query, row) whose distance was computed
  int64_t pair_bytes = 0;   // bytes of stored rows that these pairs read, one pair at a time
  int64_t tile_bytes = 0;   // bytes of stored rows asked of memory when a tile serves a query block
  int64_t heap_pushes = 0;  // candidates that entered a list of the k best
  int64_t heap_moves = 0;   // entries shifted or exchanged inside these lists
  int64_t query_bytes = 0;  // bytes of queries copied into aligned, padded blocks

  friend bool operator==(const Work&, const Work&) = default;
  Work& operator+=(const Work& other);
};

// The k best rows for each query.
//   ids, distances: [queries, k] row-major, best first. A row with fewer than k hits is padded with
//     id -1 and distance +inf (-inf for the inner product): padding is always last.
//   found: [queries] number of hits; entries at or past it are padding. Read this, not the ids.
struct SearchResult {
  int64_t queries = 0;
  int64_t k = 0;
  std::vector<int64_t> ids;
  std::vector<double> distances;
  std::vector<int64_t> found;
  Work work;  // filled when SearchOptions::explain is set, zero otherwise

  // The `found` hits of one query. query in [0, queries).
  std::span<const int64_t> Ids(int64_t query) const;
  std::span<const double> Distances(int64_t query) const;
};

}  // namespace assay::index

#endif  // ASSAY_SEARCH_INDEX_TYPES_H_
