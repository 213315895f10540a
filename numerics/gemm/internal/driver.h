// SPDX-License-Identifier: Apache-2.0
//
// driver.h: products from kernels: which blocks in which order, what is copied, who does what.
//
// Loops from the outside: blocks of kBlock steps of k; blocks of columns whose packed part of B
// stays in the second cache (512 KB); strips of a few rows, whose part of A (12 to 24 KB) stays in
// the first cache while B's panels stream by. A's strips are packed when the first block of columns
// needs them, and kept for the others in the third cache. A thread does all of this for its own
// rectangle of C, so no thread waits for another, and what is summed in which order depends on
// nothing.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_DRIVER_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_DRIVER_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/internal/epilogue.h"
#include "numerics/gemm/internal/kernels.h"

namespace assay::gemm::internal {

// Packed columns of B that are used again from the second cache.
inline constexpr int64_t kBytesOfB = 512 << 10;
// Rows of A that are kept packed.
inline constexpr int64_t kRowsOfA = 4096;
// B's rows of a block of k that lie within so many bytes are read in place: packing gains nothing
// while their pages (96) are known to the first cache.
inline constexpr int64_t kBytesInPlace = 384 << 10;
// Up to so many rows of C, a larger B is read in order, some rows at a time, while sums wait in the
// second cache.
inline constexpr int64_t kRowsToStream = 48;
inline constexpr int64_t kStepsOfStream = 16;
inline constexpr int64_t kBytesOfSums = 256 << 10;
// Multiplications that are worth a thread's waking.
inline constexpr int64_t kWorkOfThread = int64_t{1} << 20;

// c = alpha a b + beta c with C's rows side by side.
template <class In, class Out>
struct Product {
  int64_t m, n, k;
  const In* a;
  int64_t a_row, a_col;
  const In* b;
  int64_t b_row, b_col;
  Out* c;
  int64_t c_row;
  Out alpha, beta;

  bool reads_nothing() const { return k == 0 || alpha == Out(0); }
  // Whether strips can read A and B where they lie.
  bool in_order() const { return b_col == 1 && (a_row == 1 || a_col == 1); }
};

// What happens to C's blocks; row 0 and column 0 are the product's.
template <class Out>
struct After {
  const Epilogue<Out>* epilogue = nullptr;  // none: nothing
  int64_t row = 0;
  int64_t col = 0;
  Out* row_maxima = nullptr;  // [m] of this part, or none
  void operator()(Out* c, int64_t c_row, int64_t i, int64_t j, int64_t rows, int64_t cols) const {
    if constexpr (std::is_floating_point_v<Out>) {
      if (epilogue == nullptr) return;
      ApplyEpilogue<Out>(*epilogue, row + i, col + j,
                         MatrixView<Out>(c + i * c_row + j, rows, cols, c_row),
                         row_maxima == nullptr ? nullptr : row_maxima + i);
    }
  }
};

// Memory for packing, 64-byte aligned; bytes may be 0.
class Workspace {
 public:
  bool Allocate(int64_t bytes) {
    if (bytes == 0) return true;
    const int64_t whole = (bytes + 63) / 64 * 64;
    data_.reset(static_cast<char*>(std::aligned_alloc(64, static_cast<size_t>(whole))));
    return data_ != nullptr;
  }
  char* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data_;
};

// One thread's part of a product.
template <class In, class Packed, class Out>
class Part {
 public:
  Part(const Kernels<In, Packed, Out>& kernels, const Product<In, Out>& product)
      : kernels_(kernels), p_(product), steps_(kBlock * kernels.group) {
    if (p_.reads_nothing() || p_.m == 0 || p_.n == 0) {
      way_ = Way::kScale;
      return;
    }
    const int64_t strips = (p_.m + kernels.rows - 1) / kernels.rows;
    rows_ = (p_.m + strips - 1) / strips;  // even strips: no last one of a row or two
    depth_ = Groups(std::min(p_.k, steps_));
    if (std::is_same_v<In, Packed> && kernels.group == 1 && p_.in_order()) {
      if (std::min(p_.k, kBlock) * p_.b_row * static_cast<int64_t>(sizeof(In)) <= kBytesInPlace) {
        way_ = Way::kUnpacked;
        return;
      }
      if (p_.m <= kRowsToStream) {
        way_ = Way::kStream;
        const int64_t fit = kBytesOfSums / (p_.m * static_cast<int64_t>(sizeof(Out)));
        block_cols_ = std::min(p_.n, fit / kernels.wide_cols * kernels.wide_cols);
        return;
      }
    }
    way_ = Way::kPacked;
    const int64_t fit = kBytesOfB / (depth_ * static_cast<int64_t>(sizeof(Packed)));
    // With one strip, a panel is used once: packed just before, it need not leave the first cache.
    block_cols_ =
        strips == 1 ? kernels.cols : std::max<int64_t>(fit / kernels.cols, 1) * kernels.cols;
    block_cols_ = std::min(block_cols_, (p_.n + kernels.cols - 1) / kernels.cols * kernels.cols);
    // Strips are kept only where there is another block of columns to use them.
    const bool keeps = p_.n > block_cols_ && strips > 1;
    block_rows_ = keeps ? std::min(strips, kRowsOfA / rows_) * rows_ : p_.m;
    strips_kept_ = keeps ? block_rows_ / rows_ : 1;
  }

  int64_t workspace_bytes() const {
    switch (way_) {
      case Way::kScale:
      case Way::kUnpacked:
        return 0;
      case Way::kStream:
        return Aligned<Out>(p_.m * block_cols_);
      case Way::kPacked:
        break;
    }
    return Aligned<Packed>(strips_kept_ * PackedStrip()) + Aligned<Packed>(depth_ * block_cols_) +
           (kernels_.begins ? Aligned<Out>(block_cols_) : 0);
  }

  void Run(char* workspace, const After<Out>& after) const {
    switch (way_) {
      case Way::kScale:
        return Scale(after);
      case Way::kUnpacked:
        return Unpacked(after);
      case Way::kStream:
        return Stream(reinterpret_cast<Out*>(workspace), after);
      case Way::kPacked:
        return PackedBlocks(workspace, after);
    }
  }

 private:
  enum class Way {
    kScale,     // C = beta C
    kUnpacked,  // A and B are read where they lie
    kStream,    // the same for few rows and a large B
    kPacked,
  };

  template <class T>
  static int64_t Aligned(int64_t count) {
    return (count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
  }
  template <class T>
  static int64_t Padded(int64_t count) {
    return Aligned<T>(count) / static_cast<int64_t>(sizeof(T));
  }
  int64_t Groups(int64_t steps) const { return (steps + kernels_.group - 1) / kernels_.group; }
  int64_t PackedStrip() const { return rows_ * kBlock; }

  Strip<Packed, Out> NewStrip(int64_t first_step) const {
    Strip<Packed, Out> s = {};
    s.alpha = p_.alpha;
    s.c_row = p_.c_row;
    // Only the first block of k sees beta; the others add to what it left.
    s.beta = first_step == 0 ? p_.beta : Out(1);
    s.read = first_step != 0 || p_.beta != Out(0);
    return s;
  }

  void Scale(const After<Out>& after) const {
    for (int64_t i = 0; i < p_.m; ++i) {
      Out* c = p_.c + i * p_.c_row;
      if (p_.beta == Out(0)) {
        std::fill_n(c, p_.n, Out(0));
      } else if (p_.beta != Out(1)) {
        for (int64_t j = 0; j < p_.n; ++j) c[j] = p_.beta * c[j];
      }
      after(p_.c, p_.c_row, i, 0, 1, p_.n);
    }
  }

  // Of A and B as they lie, `rows` rows from i, columns from j, steps from p on.
  void ReadInPlace(int64_t i, int64_t rows, int64_t j, int64_t p, Strip<Packed, Out>* s) const {
    if constexpr (std::is_same_v<In, Packed>) {
      s->a = p_.a + i * p_.a_row + p * p_.a_col;
      s->a_row = p_.a_row;
      s->a_step = p_.a_col;
      s->b = p_.b + p * p_.b_row + j;
      s->b_step = p_.b_row;
      s->wide = rows <= kernels_.wide_rows;
      s->b_panel = s->wide ? kernels_.wide_cols : kernels_.cols;
    }
  }
  const auto* StripsInPlace() const {
    return p_.a_col == 1 ? &kernels_.by_rows[0] : &kernels_.by_columns[0];
  }

  void Unpacked(const After<Out>& after) const {
    for (int64_t p = 0; p < p_.k; p += kBlock) {
      Strip<Packed, Out> s = NewStrip(p);
      s.depth = std::min(kBlock, p_.k - p);
      s.cols = p_.n;
      for (int64_t i = 0; i < p_.m; i += rows_) {
        const int64_t rows = std::min(rows_, p_.m - i);
        ReadInPlace(i, rows, 0, p, &s);
        s.c = p_.c + i * p_.c_row;
        StripsInPlace()[rows - 1](s);
        if (p + s.depth == p_.k) after(p_.c, p_.c_row, i, 0, rows, p_.n);
      }
    }
  }

  void Stream(Out* sums, const After<Out>& after) const {
    for (int64_t j = 0; j < p_.n; j += block_cols_) {
      const int64_t cols = std::min(block_cols_, p_.n - j);
      for (int64_t block = 0; block < p_.k; block += kBlock) {
        const int64_t end = std::min(block + kBlock, p_.k);
        for (int64_t p = block; p < end; p += kStepsOfStream) {
          Strip<Packed, Out> s = NewStrip(block);
          s.depth = std::min(kStepsOfStream, end - p);
          s.cols = cols;
          s.sums_row = cols;
          s.keep = p + s.depth < end;
          if (s.keep) s.c_row = cols;
          for (int64_t i = 0; i < p_.m; i += rows_) {
            const int64_t rows = std::min(rows_, p_.m - i);
            ReadInPlace(i, rows, j, p, &s);
            s.sums = p == block ? nullptr : sums + i * cols;
            s.c = s.keep ? sums + i * cols : p_.c + i * p_.c_row + j;
            StripsInPlace()[rows - 1](s);
          }
        }
      }
      after(p_.c, p_.c_row, 0, j, p_.m, cols);
    }
  }

  void PackedBlocks(char* workspace, const After<Out>& after) const {
    Packed* const packed_a = reinterpret_cast<Packed*>(workspace);
    Packed* const packed_b =
        reinterpret_cast<Packed*>(workspace + Aligned<Packed>(strips_kept_ * PackedStrip()));
    if (p_.m <= rows_) {
      // Panels that are used but once come in the order in which B^T lies.
      for (int64_t j = 0; j < p_.n; j += block_cols_) {
        for (int64_t p = 0; p < p_.k; p += steps_) Block(0, j, p, packed_a, packed_b, after);
      }
      return;
    }
    for (int64_t i = 0; i < p_.m; i += block_rows_) {
      for (int64_t p = 0; p < p_.k; p += steps_) {
        for (int64_t j = 0; j < p_.n; j += block_cols_) {
          Block(i, j, p, packed_a, packed_b, after);
        }
      }
    }
  }

  // Rows from i, columns from j, steps from p on.
  void Block(int64_t i, int64_t j, int64_t p, Packed* packed_a, Packed* packed_b,
             const After<Out>& after) const {
    const bool by_rows = p_.a_row != 1 || p_.a_col == 1;
    const int64_t last_row = std::min(i + block_rows_, p_.m);
    const int64_t steps = std::min(steps_, p_.k - p);
    Strip<Packed, Out> s = NewStrip(p);
    s.cols = std::min(block_cols_, p_.n - j);
    s.depth = Groups(steps);
    s.b = packed_b;
    s.b_step = kernels_.cols;
    s.b_panel = s.depth * s.b_step;
    Out* const begins =
        kernels_.begins ? reinterpret_cast<Out*>(packed_b + Padded<Packed>(depth_ * block_cols_))
                        : nullptr;
    s.sums = begins;
    for (int64_t q = 0; q < s.cols; q += kernels_.cols) {
      kernels_.pack_panel(p_.b + p * p_.b_row + (j + q) * p_.b_col, p_.b_row, p_.b_col, steps,
                          static_cast<int>(std::min<int64_t>(kernels_.cols, s.cols - q)),
                          packed_b + q / kernels_.cols * s.b_panel,
                          begins == nullptr ? nullptr : begins + q);
    }
    for (; i < last_row; i += rows_) {
      const int64_t rows = std::min(rows_, last_row - i);
      const bool packed = j > 0 && strips_kept_ > 1;
      Packed* const a = packed_a + i / rows_ % strips_kept_ * PackedStrip();
      if (!packed) {
        (by_rows ? kernels_.pack_rows : kernels_.pack_columns)(p_.a + i * p_.a_row + p * p_.a_col,
                                                               p_.a_row, p_.a_col,
                                                               static_cast<int>(rows), steps, a);
      }
      s.a = a;
      s.a_row = by_rows ? kBlock : 1;
      s.a_step = by_rows ? 1 : rows;
      s.c = p_.c + i * p_.c_row + j;
      (by_rows ? &kernels_.by_rows[0] : &kernels_.by_columns[0])[rows - 1](s);
      if (p + steps == p_.k) after(p_.c, p_.c_row, i, j, rows, s.cols);
    }
  }

  const Kernels<In, Packed, Out>& kernels_;
  const Product<In, Out> p_;
  const int64_t steps_;  // of a block of k
  Way way_;
  int64_t rows_ = 0;        // of a strip
  int64_t depth_ = 0;       // groups of a block of k
  int64_t block_cols_ = 0;  // of a packed block of B, or of waiting sums
  int64_t block_rows_ = 0;
  int64_t strips_kept_ = 0;
};

// Rows and columns of threads.
struct Grid {
  int64_t down = 1;
  int64_t across = 1;
};

// The cut of C into at most `threads` rectangles that copies and reads least: the smallest sum of a
// rectangle's sides. Rectangles are whole strips high and whole panels wide.
inline Grid ChooseGrid(int64_t m, int64_t n, int64_t k, int64_t rows, int64_t cols, int threads) {
  const auto work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const auto most = static_cast<int64_t>(
      std::min(work / static_cast<double>(kWorkOfThread), static_cast<double>(threads)));
  Grid best;
  for (int64_t total = most; total > 1 && best.down * best.across == 1; --total) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int64_t down = 1; down <= total; ++down) {
      const int64_t across = total / down;
      if (down * across != total || down > (m + rows - 1) / rows ||
          across > (n + cols - 1) / cols) {
        continue;
      }
      const int64_t sides = m / down + n / across;
      if (sides < least) {
        least = sides;
        best = {down, across};
      }
    }
  }
  return best;
}

// Where the t-th of `parts` parts of `extent` begins, in whole units.
inline int64_t CutAt(int64_t extent, int64_t unit, int64_t parts, int64_t t) {
  return std::min(extent, (extent + unit - 1) / unit * t / parts * unit);
}

// C's rows are side by side; everything is validated.
template <class In, class Packed, class Out>
absl::Status RunProduct(const Kernels<In, Packed, Out>& kernels, const Product<In, Out>& product,
                        const Epilogue<Out>* epilogue, ThreadPool* pool) {
  Grid grid;
  if (pool != nullptr && pool->threads() > 1) {
    grid = ChooseGrid(product.m, product.n, product.k, kernels.rows, kernels.cols, pool->threads());
  }
  const bool maxima = epilogue != nullptr && !epilogue->row_maximum.empty();
  Workspace workspace;
  if (grid.down * grid.across == 1) {
    const Part<In, Packed, Out> part(kernels, product);
    if (!workspace.Allocate(part.workspace_bytes())) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for ", part.workspace_bytes(), " bytes of packed blocks"));
    }
    After<Out> after;
    after.epilogue = epilogue;
    if (maxima) {
      after.row_maxima = epilogue->row_maximum.data();
      StartRowMaxima(after.row_maxima, product.m);
    }
    part.Run(workspace.data(), after);
    return absl::OkStatus();
  }

  struct Rectangle {
    Part<In, Packed, Out> part;
    After<Out> after;
    int64_t rows;
    int64_t workspace;
  };
  std::vector<Rectangle> rectangles;
  rectangles.reserve(static_cast<size_t>(grid.down * grid.across));
  int64_t bytes = 0;
  for (int64_t d = 0; d < grid.down; ++d) {
    for (int64_t e = 0; e < grid.across; ++e) {
      const int64_t i = CutAt(product.m, kernels.rows, grid.down, d);
      const int64_t j = CutAt(product.n, kernels.cols, grid.across, e);
      Product<In, Out> p = product;
      p.m = CutAt(product.m, kernels.rows, grid.down, d + 1) - i;
      p.n = CutAt(product.n, kernels.cols, grid.across, e + 1) - j;
      p.a += i * p.a_row;
      p.b += j * p.b_col;
      p.c += i * p.c_row + j;
      After<Out> after;
      after.epilogue = epilogue;
      after.row = i;
      after.col = j;
      rectangles.push_back({Part<In, Packed, Out>(kernels, p), after, p.m, bytes});
      bytes += rectangles.back().part.workspace_bytes();
    }
  }
  // Rectangles side by side each find the maxima of their own columns.
  const int64_t at_maxima = bytes;
  if (maxima) bytes += grid.across * product.m * static_cast<int64_t>(sizeof(Out));
  if (!workspace.Allocate(bytes)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", bytes, " bytes of packed blocks"));
  }
  if (maxima) {
    Out* const all = reinterpret_cast<Out*>(workspace.data() + at_maxima);
    StartRowMaxima(all, grid.across * product.m);
    for (size_t t = 0; t < rectangles.size(); ++t) {
      rectangles[t].after.row_maxima =
          all + static_cast<int64_t>(t) % grid.across * product.m + rectangles[t].after.row;
    }
  }
  pool->ParallelFor(static_cast<int64_t>(rectangles.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const Rectangle& r = rectangles[static_cast<size_t>(t)];
      r.part.Run(workspace.data() + r.workspace, r.after);
    }
  });
  if (maxima) {
    const Out* const all = reinterpret_cast<const Out*>(workspace.data() + at_maxima);
    Out* const out = epilogue->row_maximum.data();
    StartRowMaxima(out, product.m);
    for (int64_t e = 0; e < grid.across; ++e) {
      for (int64_t i = 0; i < product.m; ++i) out[i] = MaxOf(out[i], all[e * product.m + i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_DRIVER_H_
