// SPDX-License-Identifier: Apache-2.0
//
// validate.h: what products refuse, for matrices of any element.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_VALIDATE_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_VALIDATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "numerics/core/matrix_view.h"

namespace assay::gemm::internal {

// Where a matrix lies, or count of them, `stride` apart.
struct Place {
  const void* data;
  int64_t element_bytes;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  int64_t col_stride;
  int64_t count = 1;
  int64_t stride = 0;
};

template <class T>
Place PlaceOf(MatrixView<T> m) {
  return {m.data(),      static_cast<int64_t>(sizeof(T)), m.rows(), m.cols(), m.row_stride(),
          m.col_stride()};
}

// A, B and C of a product: fails with kInvalidArgument as gemm.h says.
absl::Status ValidateProduct(const Place& a, const Place& b, const Place& c);

// True for most valid products, at the cost of some comparisons: matrices that lie apart, C's rows
// or columns side by side, no number of 2^28 or more. For others ValidateProduct decides.
template <class In, class Out>
bool PlainlyValid(const MatrixView<const In>& a, const MatrixView<const In>& b,
                  const MatrixView<Out>& c) {
  // A negative number has its highest bits set too.
  const int64_t any = a.rows() | a.cols() | a.row_stride() | a.col_stride() | b.cols() |
                      b.row_stride() | b.col_stride() | c.row_stride() | c.col_stride();
  if (any >> 28 != 0 || a.rows() != c.rows() || b.cols() != c.cols() || a.cols() != b.rows() ||
      c.empty() || a.cols() == 0 ||
      !((c.col_stride() == 1 && c.row_stride() >= c.cols()) ||
        (c.row_stride() == 1 && c.col_stride() >= c.rows()))) {
    return false;
  }
  const auto begin = [](const auto& m) { return reinterpret_cast<uintptr_t>(m.data()); };
  const auto end = [](const auto& m) {
    return reinterpret_cast<uintptr_t>(m.data() + (m.rows() - 1) * m.row_stride() +
                                       (m.cols() - 1) * m.col_stride() + 1);
  };
  const uintptr_t c_begin = begin(c);
  const uintptr_t c_end = end(c);
  return (end(a) <= c_begin || c_end <= begin(a)) && (end(b) <= c_begin || c_end <= begin(b));
}

// A vector beside C: `length` must be 0 or `expected`; `what` is its name.
absl::Status ValidateLength(const char* what, int64_t length, int64_t expected);

// Whether two places may share memory: never false if they do; true without it only where they
// interleave in a way that is not one of: rows of one array, columns of one array, members of one
// batch.
bool MayOverlap(const Place& x, const Place& y);

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_VALIDATE_H_
