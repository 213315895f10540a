// SPDX-License-Identifier: Apache-2.0
#include "web/articles/cost-of-matrix-multiplication/trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/gemm/traffic.h"

namespace assay::matmul_page {

gemm::TrafficCounts TraceTo(const gemm::ProductLoops& loops, const gemm::CacheShape& shape,
                            int64_t from, int64_t to, std::span<uint8_t> state) {
  const int64_t n = loops.n;
  ASSAY_CHECK_EQ(static_cast<int64_t>(state.size()), 3 * n * n);
  std::fill(state.begin(), state.end(), uint8_t{0});
  const bool whole = to >= n * n * n;
  const int64_t leading = loops.leading == 0 ? n : loops.leading;
  const int64_t lines = 3 * ((n * leading + shape.line - 1) / shape.line);
  std::vector<uint8_t> held(static_cast<size_t>(lines));
  gemm::LineCache cache(shape);
  gemm::TrafficCounts counts;
  ForEachTouch(loops, [&](const gemm::Touch& touch, int64_t step) {
    if (step >= to) return;
    const int64_t line = LineOf(loops, shape, touch);
    const gemm::LineCache::Result result = cache.Touch(line, touch.write);
    const auto matrix = static_cast<size_t>(touch.matrix);
    ++counts.touches[matrix];
    counts.misses[matrix] += result.hit ? 0 : 1;
    counts.write_backs += result.wrote_back ? 1 : 0;
    if (result.evicted >= 0) held[static_cast<size_t>(result.evicted)] = 0;
    uint8_t& mark = held[static_cast<size_t>(line)];
    mark = static_cast<uint8_t>(mark | kHeld | (touch.write ? kChanged : 0));
    if (step >= from) {
      uint8_t& element = state[static_cast<size_t>((touch.matrix * n + touch.row) * n + touch.col)];
      element = static_cast<uint8_t>(element | kTouched | (result.hit ? 0 : kMissed));
    }
  });
  if (whole) counts.write_backs += cache.Dirty();
  for (int matrix = 0; matrix < 3; ++matrix) {
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t col = 0; col < n; ++col) {
        const int64_t line = LineOf(loops, shape, {matrix, row, col, false});
        uint8_t& element = state[static_cast<size_t>((matrix * n + row) * n + col)];
        element = static_cast<uint8_t>(element | held[static_cast<size_t>(line)]);
      }
    }
  }
  return counts;
}

}  // namespace assay::matmul_page
