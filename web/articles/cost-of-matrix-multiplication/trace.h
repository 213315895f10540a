// SPDX-License-Identifier: Apache-2.0
//
// trace.h: a product in the middle of its way: what was touched last, and what the cache holds.
#ifndef ASSAY_WEB_ARTICLES_COST_OF_MATRIX_MULTIPLICATION_TRACE_H_
#define ASSAY_WEB_ARTICLES_COST_OF_MATRIX_MULTIPLICATION_TRACE_H_

#include <cstdint>
#include <span>

#include "numerics/gemm/traffic.h"

namespace assay::matmul_page {

// Bits of an element's state.
enum : uint8_t {
  kHeld = 1,     // in the cache
  kChanged = 2,  // in a line that must be written back
  kTouched = 4,  // by the multiplications `from` to `to` - 1
  kMissed = 8,   // its line came for one of them
};

// After the first `to` multiplications of n^3. state: [3, n, n], for A, B and C (checked). Counts
// are up to there; at the end they hold what is written back last. Cost: that of the traffic so
// far, and 3 n^2.
gemm::TrafficCounts TraceTo(const gemm::ProductLoops& loops, const gemm::CacheShape& shape,
                            int64_t from, int64_t to, std::span<uint8_t> state);

}  // namespace assay::matmul_page

#endif  // ASSAY_WEB_ARTICLES_COST_OF_MATRIX_MULTIPLICATION_TRACE_H_
