// SPDX-License-Identifier: Apache-2.0
//
// kernels.h: what a processor gives to a product: loops over registers and the copies that feed
// them. driver.h puts them together.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_KERNELS_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_KERNELS_H_

#include <cstdint>

namespace assay::gemm::internal {

// A strip of C: a few rows (which kernel: how many), any number of columns.
//
// Element (i, p) of A lies at a[i * a_row + p * a_step], element (p, j) of B at b[p * b_step + j],
// the columns of a panel side by side, and panel q of B begins at b + q * b_panel. Where several
// steps of k lie together in one Packed, all of this counts such groups.
template <class Packed, class Out>
struct Strip {
  const Packed* a = nullptr;
  int64_t a_row;
  int64_t a_step;
  const Packed* b = nullptr;
  int64_t b_step;
  int64_t b_panel;
  int64_t depth;
  int64_t cols;
  bool wide = false;  // panels of wide_cols columns (Kernels), not cols

  // Where the sums s go: c = alpha s + beta c, or alpha s if C is not to be read; or c = s, to be
  // gone on with by a strip whose `sums` they are.
  Out* c = nullptr;
  int64_t c_row;
  const Out* sums = nullptr;  // what s begins with; none: 0
  int64_t sums_row = 0;       // 0: the same for all rows
  Out alpha = 1;
  Out beta = 0;
  bool read = false;  // beta counts
  bool keep = false;
};

// The kernels of one processor for A and B of In, which they read as Packed.
template <class In, class Packed, class Out>
struct Kernels {
  static constexpr int kMaxRows = 16;

  int rows;       // at most, of a strip
  int group;      // steps of k that lie together in one Packed; a block of k is kBlock groups
  int cols;       // of a panel of B
  int wide_cols;  // of a panel of B where strips have few rows, of B that is not packed
  int wide_rows;  // at most, of such strips

  // For A packed row by row (a_step = 1) and column by column (a_row = 1), by rows - 1.
  using StripFunction = void (*)(const Strip<Packed, Out>& strip);
  StripFunction by_rows[kMaxRows];
  StripFunction by_columns[kMaxRows];

  // Copies A's rows x steps elements from `from` on. By rows: a_row = kBlock. By columns: a_step =
  // rows. The last group is filled up with zeros.
  using PackA = void (*)(const In* from, int64_t row_stride, int64_t col_stride, int rows,
                         int64_t steps, Packed* to);
  PackA pack_rows;
  PackA pack_columns;

  // Copies B's steps x width elements, width at most cols, as one panel: b_step = cols, the missing
  // columns and steps filled up with zeros. begin: [cols], null unless begins.
  void (*pack_panel)(const In* from, int64_t row_stride, int64_t col_stride, int64_t steps,
                     int width, Packed* to, Out* begin);
  bool begins;  // sums begin with what pack_panel leaves in `begin`
};

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_KERNELS_H_
