// SPDX-License-Identifier: Apache-2.0
//
// A borrowed matrix: where it starts, how many rows and columns, how far apart they lie.
#ifndef ASSAY_NUMERICS_CORE_MATRIX_VIEW_H_
#define ASSAY_NUMERICS_CORE_MATRIX_VIEW_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/check.h"

namespace assay {

// A view of rows x cols elements of T (const T for reading only) that somebody else owns and keeps
// alive. Element (i, j) lies at data()[i * row_stride() + j * col_stride()]; strides are in
// elements and may be negative. Copying a view copies no element.
//
//   std::vector<float> values(6);
//   MatrixView<float> a(values, 2, 3);        // row-major, contiguous
//   a(1, 2) = 5;
//   MatrixView<const float> t = a.Transposed();   // t(2, 1) == 5
//
// Indices are checked in debug builds only; extents given from outside go through Create.
template <class T>
class MatrixView {
 public:
  using value_type = std::remove_const_t<T>;

  // An empty view, 0 x 0.
  constexpr MatrixView() = default;

  // Trusted extents: data points to an allocation that holds every element named by them.
  constexpr MatrixView(T* data, int64_t rows, int64_t cols, int64_t row_stride,
                       int64_t col_stride = 1)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride), col_stride_(col_stride) {}

  // Row-major and contiguous over all of `values`, whose size must be rows * cols (checked).
  MatrixView(std::span<T> values, int64_t rows, int64_t cols)
      : MatrixView(values.data(), rows, cols, cols) {
    ASSAY_CHECK_GE(rows, 0);
    ASSAY_CHECK_GE(cols, 0);
    ASSAY_CHECK_EQ(static_cast<int64_t>(values.size()), rows * cols);
  }

  // A view for reading from a view for writing.
  template <class U>
  requires(
      std::is_const_v<T>&& std::is_same_v<const U, T> &&
      !std::is_const_v<U>) constexpr MatrixView(const MatrixView<U>&
                                                    other)  // NOLINT(google-explicit-constructor)
      : MatrixView(other.data(), other.rows(), other.cols(), other.row_stride(),
                   other.col_stride()) {}

  // Row-major and contiguous; fails unless values.size() == rows * cols.
  static absl::StatusOr<MatrixView> Create(std::span<T> values, int64_t rows, int64_t cols) {
    if (rows >= 0 && cols >= 0) {
      int64_t count = 0;
      if (__builtin_mul_overflow(rows, cols, &count) ||
          count != static_cast<int64_t>(values.size())) {
        return absl::InvalidArgumentError(Message("a matrix of ", rows, cols) +
                                          " needs as many values as it has elements, got " +
                                          std::to_string(values.size()));
      }
    }
    return Create(values, rows, cols, cols, 1);
  }

  // Any strides that keep every element inside `values`, the first at its beginning: rows, cols and
  // strides must be >= 0. Fails with kInvalidArgument otherwise. Strides may make elements overlap
  // (a broadcast row has row_stride 0).
  static absl::StatusOr<MatrixView> Create(std::span<T> values, int64_t rows, int64_t cols,
                                           int64_t row_stride, int64_t col_stride) {
    if (rows < 0 || cols < 0) {
      return absl::InvalidArgumentError(Message("extents must not be negative, got ", rows, cols));
    }
    if (row_stride < 0 || col_stride < 0) {
      return absl::InvalidArgumentError(
          Message("strides must not be negative, got ", row_stride, col_stride));
    }
    if (rows > 0 && cols > 0) {
      int64_t last = 0;
      int64_t across = 0;
      if (__builtin_mul_overflow(rows - 1, row_stride, &last) ||
          __builtin_mul_overflow(cols - 1, col_stride, &across) ||
          __builtin_add_overflow(last, across, &last) ||
          last >= static_cast<int64_t>(values.size())) {
        return absl::InvalidArgumentError(Message("a matrix of ", rows, cols) +
                                          Message(" with strides ", row_stride, col_stride) +
                                          " reaches beyond its " + std::to_string(values.size()) +
                                          " values");
      }
    }
    return MatrixView(values.data(), rows, cols, row_stride, col_stride);
  }

  constexpr T* data() const { return data_; }
  constexpr int64_t rows() const { return rows_; }
  constexpr int64_t cols() const { return cols_; }
  constexpr int64_t size() const { return rows_ * cols_; }
  constexpr bool empty() const { return rows_ == 0 || cols_ == 0; }
  constexpr int64_t row_stride() const { return row_stride_; }
  constexpr int64_t col_stride() const { return col_stride_; }

  // Whether the elements of a row lie side by side, and the rows one after the other.
  constexpr bool has_contiguous_rows() const { return col_stride_ == 1 || cols_ <= 1; }
  constexpr bool is_contiguous() const {
    return empty() || (has_contiguous_rows() && (row_stride_ == cols_ || rows_ == 1));
  }

  T& operator()(int64_t i, int64_t j) const {
    ASSAY_DCHECK(0 <= i && i < rows_);
    ASSAY_DCHECK(0 <= j && j < cols_);
    return data_[i * row_stride_ + j * col_stride_];
  }

  // Row i of a view with contiguous rows (checked).
  std::span<T> row(int64_t i) const {
    ASSAY_DCHECK(0 <= i && i < rows_);
    ASSAY_CHECK(has_contiguous_rows());
    return {data_ + i * row_stride_, static_cast<size_t>(cols_)};
  }

  // All elements in row-major order, of a contiguous view (checked).
  std::span<T> values() const {
    ASSAY_CHECK(is_contiguous());
    return {data_, static_cast<size_t>(size())};
  }

  // The same elements with rows and columns exchanged.
  constexpr MatrixView Transposed() const {
    return MatrixView(data_, cols_, rows_, col_stride_, row_stride_);
  }

  // The rows x cols elements from (row, col) on, which must lie inside (checked).
  MatrixView Block(int64_t row, int64_t col, int64_t rows, int64_t cols) const {
    ASSAY_CHECK(row >= 0 && rows >= 0 && row <= rows_ - rows);
    ASSAY_CHECK(col >= 0 && cols >= 0 && col <= cols_ - cols);
    if (rows == 0 || cols == 0) return MatrixView(data_, rows, cols, row_stride_, col_stride_);
    return MatrixView(data_ + row * row_stride_ + col * col_stride_, rows, cols, row_stride_,
                      col_stride_);
  }
  MatrixView RowRange(int64_t begin, int64_t end) const {
    return Block(begin, 0, end - begin, cols_);
  }

 private:
  static std::string Message(const char* what, int64_t a, int64_t b) {
    return std::string(what) + std::to_string(a) + " x " + std::to_string(b);
  }

  T* data_ = nullptr;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  int64_t row_stride_ = 0;
  int64_t col_stride_ = 1;
};

}  // namespace assay

#endif  // ASSAY_NUMERICS_CORE_MATRIX_VIEW_H_
