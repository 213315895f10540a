// SPDX-License-Identifier: Apache-2.0
//
// short_product.h: products of a few strips and one block of k, read where they lie. They come so
// often and are so short that they take the shortest way, in batches without looking at the shape
// again.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_SHORT_PRODUCT_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_SHORT_PRODUCT_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "numerics/core/matrix_view.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/internal/kernels.h"

namespace assay::gemm::internal {

// Rows of C and elements of B that are not worth a look at how they lie in the caches.
inline constexpr int64_t kRowsOfShort = 64;
inline constexpr int64_t kElementsOfShort = 4096;

template <class In, class Packed, class Out>
class ShortProduct {
 public:
  // Whether A, B and C, which are PlainlyValid, are a short product. C^T = B^T A^T where
  // C's columns are side by side.
  bool Prepare(const Kernels<In, Packed, Out>& kernels, Out alpha, const MatrixView<const In>& a,
               const MatrixView<const In>& b, Out beta, const MatrixView<Out>& c) {
    if (c.col_stride() == 1) {
      return PrepareRows(kernels, alpha, a, b, beta, c);
    }
    turned_ = true;
    return c.row_stride() == 1 &&
           PrepareRows(kernels, alpha, b.Transposed(), a.Transposed(), beta, c.Transposed());
  }

  // By one thread at a time.
  void Run(const In* a, const In* b, Out* c) {
    if constexpr (std::is_same_v<In, Packed>) {
      if (turned_) std::swap(a, b);
      strip_.b = b;
      for (int64_t left = m_; left > 0; left -= rows_) {
        strip_.a = a;
        strip_.c = c;
        strips_[std::min(rows_, left) - 1](strip_);
        a += rows_ * strip_.a_row;
        c += rows_ * strip_.c_row;
      }
    }
  }

 private:
  bool PrepareRows(const Kernels<In, Packed, Out>& kernels, Out alpha,
                   const MatrixView<const In>& a, const MatrixView<const In>& b, Out beta,
                   const MatrixView<Out>& c) {
    const bool by_rows = a.col_stride() == 1;
    if (!std::is_same_v<In, Packed> || kernels.group != 1 || c.rows() > kRowsOfShort ||
        c.rows() == 0 || a.cols() > kBlock || a.cols() == 0 || alpha == Out(0) ||
        b.col_stride() != 1 || !(by_rows || a.row_stride() == 1) || b.size() > kElementsOfShort) {
      return false;
    }
    m_ = c.rows();
    const auto m = static_cast<uint32_t>(m_);
    const uint32_t strips =
        (m + static_cast<uint32_t>(kernels.rows) - 1) / static_cast<uint32_t>(kernels.rows);
    rows_ = (m + strips - 1) / strips;
    strips_ = by_rows ? &kernels.by_rows[0] : &kernels.by_columns[0];
    strip_.a_row = a.row_stride();
    strip_.a_step = a.col_stride();
    strip_.b_step = b.row_stride();
    strip_.wide = rows_ <= kernels.wide_rows;
    strip_.b_panel = strip_.wide ? kernels.wide_cols : kernels.cols;
    strip_.depth = a.cols();
    strip_.cols = c.cols();
    strip_.c_row = c.row_stride();
    strip_.alpha = alpha;
    strip_.beta = beta;
    strip_.read = beta != Out(0);
    return true;
  }

  Strip<Packed, Out> strip_;
  const typename Kernels<In, Packed, Out>::StripFunction* strips_ = nullptr;
  int64_t m_ = 0;
  int64_t rows_ = 1;
  bool turned_ = false;
};

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_SHORT_PRODUCT_H_
