// SPDX-License-Identifier: Apache-2.0
//
// The naive twin of every exact index: all distances, one full sort, nothing clever.

#ifndef ASSAY_SEARCH_INDEX_REFERENCE_H_
#define ASSAY_SEARCH_INDEX_REFERENCE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "numerics/core/matrix_view.h"
#include "search/index/types.h"

namespace assay::index {

// What FlatIndex::Search returns, bit for bit (work is left zero), by plain loops.
//   rows: [n, d]; queries: [m, d]; k >= 1.
// Cost: m n (d + log n); 16 bytes * n of memory.
// Fails: InvalidArgument for k < 1 or columns that differ.
absl::StatusOr<SearchResult> SearchReference(MatrixView<const float> rows,
                                             MatrixView<const float> queries, int64_t k,
                                             Metric metric);
absl::StatusOr<SearchResult> SearchReference(MatrixView<const uint8_t> rows,
                                             MatrixView<const uint8_t> queries, int64_t k,
                                             Metric metric);

}  // namespace assay::index

#endif  // ASSAY_SEARCH_INDEX_REFERENCE_H_
