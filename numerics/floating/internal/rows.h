// SPDX-License-Identifier: Apache-2.0
//
// What softmax.cc and cross_entropy.cc share about batches of rows.
#ifndef ASSAY_NUMERICS_FLOATING_INTERNAL_ROWS_H_
#define ASSAY_NUMERICS_FLOATING_INTERNAL_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/internal/softmax_row.h"

namespace assay::floating::internal {

inline absl::Status CheckShape(std::string_view name, int64_t rows, int64_t cols,
                               int64_t expected_rows, int64_t expected_cols) {
  if (rows == expected_rows && cols == expected_cols) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is ", rows, " x ", cols, ", expected ",
                                                 expected_rows, " x ", expected_cols,
                                                 " as the logits"));
}

template <class T>
absl::Status CheckOptions(MatrixView<const T> x, const SoftmaxOptions& options) {
  if (!(options.temperature > 0 && options.temperature < kInfinity)) {
    return absl::InvalidArgumentError(
        absl::StrCat("temperature is ", options.temperature, ", expected a positive number"));
  }
  if (options.keep.data() != nullptr) {
    return CheckShape("keep", options.keep.rows(), options.keep.cols(), x.rows(), x.cols());
  }
  return absl::OkStatus();
}

template <class T>
RowView<T> ViewOfRow(MatrixView<const T> x, MatrixView<const uint8_t> keep, int64_t r) {
  return {x.data() + r * x.row_stride(),
          x.cols(),
          x.col_stride(),
          keep.data() == nullptr ? nullptr : keep.data() + r * keep.row_stride(),
          keep.col_stride(),
          r + 1 < x.rows() && x.row_stride() == x.cols()};
}

// Calls body for blocks of rows with some 2^15 elements each, on the pool's threads if there is
// one.
inline void ForRows(ThreadPool* pool, int64_t rows, int64_t cols,
                    absl::FunctionRef<void(int64_t, int64_t)> body) {
  const int64_t block = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, cols));
  if (pool == nullptr || rows <= block) {
    body(0, rows);
  } else {
    pool->ParallelFor(rows, block, body);
  }
}

}  // namespace assay::floating::internal

#endif  // ASSAY_NUMERICS_FLOATING_INTERNAL_ROWS_H_
