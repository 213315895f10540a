// SPDX-License-Identifier: Apache-2.0

#include "search/index/types.h"

#include <cstddef>

#include "numerics/core/check.h"

namespace assay::index {

std::string_view MetricName(Metric metric) {
  switch (metric) {
    case Metric::kL2:
      return "l2";
    case Metric::kInnerProduct:
      return "inner product";
    case Metric::kCosine:
      return "cosine";
  }
  return "unknown";
}

Work& Work::operator+=(const Work& other) {
  distances += other.distances;
  pair_bytes += other.pair_bytes;
  tile_bytes += other.tile_bytes;
  heap_pushes += other.heap_pushes;
  heap_moves += other.heap_moves;
  query_bytes += other.query_bytes;
  return *this;
}

std::span<const int64_t> SearchResult::Ids(int64_t query) const {
  ASSAY_CHECK(query >= 0 && query < queries);
  return std::span<const int64_t>(ids).subspan(static_cast<size_t>(query * k),
                                               static_cast<size_t>(found[query]));
}

std::span<const double> SearchResult::Distances(int64_t query) const {
  ASSAY_CHECK(query >= 0 && query < queries);
  return std::span<const double>(distances).subspan(static_cast<size_t>(query * k),
                                                    static_cast<size_t>(found[query]));
}

}  // namespace assay::index
