// SPDX-License-Identifier: Apache-2.0
//
// epilogue.h: what happens to blocks of C before they leave the caches.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_EPILOGUE_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_EPILOGUE_H_

#include <cstdint>
#include <limits>

#include "numerics/core/matrix_view.h"
#include "numerics/gemm/gemm.h"

namespace assay::gemm::internal {

// The greater of two maxima; NaN if either is NaN; +0 of two zeros, unless both are -0, so that the
// order in which parts of a row are looked at does not show.
template <class T>
T MaxOf(T a, T b) {
  if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
  if (a == T(0) && b == T(0)) return a + b;
  return a < b ? b : a;
}

// The maxima of nothing.
template <class T>
void StartRowMaxima(T* maxima, int64_t count) {
  for (int64_t i = 0; i < count; ++i) maxima[i] = -std::numeric_limits<T>::infinity();
}

// Of epilogue `e`, what concerns `block`, C's rows and columns from (row, col) on: biases,
// activation, and row_maxima[i] = MaxOf(row_maxima[i], the greatest of the block's row i), none
// where row_maxima is null (e.row_maximum itself is not touched). T: float or double.
template <class T>
void ApplyEpilogue(const Epilogue<T>& e, int64_t row, int64_t col, MatrixView<T> block,
                   T* row_maxima);

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_EPILOGUE_H_
