// SPDX-License-Identifier: Apache-2.0
//
// columns.h: transforms whose vectors run across columns, the engine of all but the shortest
// lengths.
//
// Of N = n1 n2 samples, written row by row as a matrix of n1 rows and n2 columns, the transform is:
// transform every column, multiply element (k1, q) by w^(k1 q), transform every row; X[k1 + n1 k2]
// is element k2 of row k1. Columns are taken `lanes` at a time, so every operation fills a vector,
// no matter how short the columns are; a block of columns fits a cache; and the data passes through
// memory twice, whatever N. (Gentleman and Sande 1966; Bailey, FFTs in external or hierarchical
// memory, 1990.)
//
// Every output is made by the same operations in the same order whatever the width of the vectors,
// the address or the number of threads, so the bits depend on none of them.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_COLUMNS_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_COLUMNS_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace assay::fft::internal {

// cos and sin(2 pi j / R) for R = 3, 5, 7, 11, 13, 16 at RootsOffset(R), and sqrt(1/2).
template <class T>
struct Roots {
  T cosines[56];
  T sines[56];
  T half_root;
};

constexpr int RootsOffset(int radix) {
  switch (radix) {
    case 3:
      return 0;
    case 5:
      return 3;
    case 7:
      return 8;
    case 11:
      return 15;
    case 13:
      return 26;
    default:  // 16
      return 40;
  }
}

// One step of a column's transform in place (decimation in frequency): in each of the sub-blocks of
// radix * m rows, the rows p + m k, k = 0..radix-1, become their transform, row j times w^(j p).
struct Step {
  int radix;
  int64_t m;
  int64_t twiddle_offset;  // into ColumnTables::twiddles; none where m = 1
};

// The transform of a column of `length` rows, as steps.
template <class T>
struct ColumnTables {
  int64_t length = 1;
  std::vector<Step> steps;
  // Step after step: for p = 0..m-1, for j = 1..radix-1: re, im of w^(j p).
  std::unique_ptr<T[]> twiddles;
  // After the last step (radix R) the rows of sub-block b are the outputs
  // first[b] + (length / R) j, j = 0..R-1; sub_block[first[b]] = b.
  std::vector<int32_t> first;
  std::vector<int32_t> sub_block;
};

template <class T>
struct BlockTables;

// The engine, compiled for the processor at hand.
//   first: blocks [begin, end) of the n2 columns, from interleaved `in` into `tiles`.
//   second: blocks [begin, end) of the n1 rows, from `tiles`, which it overwrites, into interleaved
//   `out`. both: all blocks, in one call.
//   buffer: of BufferSize; like tiles aligned to 64 bytes.
//   conjugate: -1 to conjugate what is read and what is written, which turns the forward transform
//   into the backward one; 1 otherwise.
template <class T>
struct Sweeps {
  void (*first)(const BlockTables<T>& t, const T* in, T* tiles, T* buffer, T conjugate,
                int64_t begin, int64_t end);
  void (*second)(const BlockTables<T>& t, T* tiles, T* out, T* buffer, T conjugate, int64_t begin,
                 int64_t end);
  void (*both)(const BlockTables<T>& t, const T* in, T* out, T* tiles, T* buffer, T conjugate);
  // Transforms `lanes` neighbouring columns (kWideLanes<T> or a half or quarter of it) of rows that
  // are in_stride and out_stride numbers T apart. buffer: of 2 lanes t.length. in may be out.
  void (*columns)(const ColumnTables<T>& t, const Roots<T>& roots, int64_t lanes, const T* in,
                  int64_t in_stride, T* out, int64_t out_stride, T* buffer, T conjugate);
};

// Columns in the widest block. Wide enough to read memory in runs and to share a twiddle among
// many, narrow enough for a block of some thousand rows in the second-level cache.
template <class T>
inline constexpr int kWideLanes = 256 / static_cast<int>(sizeof(T));

// A transform of n = n1 n2 points in two sweeps.
template <class T>
struct BlockTables {
  const Sweeps<T>* sweeps = nullptr;
  int64_t n = 0;
  int64_t n1 = 0;
  int64_t n2 = 0;
  int lanes = 0;  // columns in a block
  // n1 = lanes: the first sweep is one butterfly across rows and a transposition in registers.
  bool butterfly_first = false;
  ColumnTables<T> first;   // of n1 rows; unused if butterfly_first
  ColumnTables<T> second;  // of n2 rows
  // The factors w^(k1 q) between the sweeps, for the block of columns that begins at q.
  // butterfly_first: [block][k1 = 1..n1-1][re of lanes | im of lanes]. Otherwise k1 = k + i, where
  // k begins a tile (below), and the factor is the product of w^(k q) and w^(i q): tile_twiddles
  // [block][tile][re | im] and row_twiddles [block][i = 0..lanes-1][re | im].
  std::unique_ptr<T[]> twiddles;
  std::unique_ptr<T[]> tile_twiddles;
  std::unique_ptr<T[]> row_twiddles;
  // n2 = 16 and n1 = 4 or 8: the same factors for vectors of sixteen, [k1 = 1..n1-1][re of 16 | im
  // of 16] of w^(k1 q), then [j = 1..3][re of 4 | im of 4] of the 16-th roots' powers j p.
  std::unique_ptr<T[]> short_twiddles;
  const Roots<T>* roots = nullptr;
  int64_t column_blocks = 0;  // of the n2 columns
  int64_t row_blocks = 0;     // of the n1 rows: tiles
  int64_t tile_stride = 0;    // see TileStride
};

// Blocks begin at every lanes-th column; a last one that would stick out begins earlier.
inline int64_t BlockCount(int64_t columns, int lanes) { return (columns + lanes - 1) / lanes; }
inline int64_t BlockBegin(int64_t block, int64_t columns, int lanes) {
  return block * lanes + lanes <= columns ? block * lanes : columns - lanes;
}

// Between the sweeps the numbers lie in tiles, one for each block of n1's: n2 rows of 2 lanes
// numbers. Tiles lie this many T apart: not a power of two, since what is a power of two apart
// falls into the same places of caches and the same banks of memory.
template <class T>
int64_t TileStride(const BlockTables<T>& t) {
  return (t.n2 + (t.butterfly_first ? 0 : 9)) * 2 * t.lanes;
}

// How many T the two sweeps need between them, and each thread beside that.
template <class T>
int64_t TileSize(const BlockTables<T>& t) {
  return t.row_blocks * t.tile_stride;
}
template <class T>
int64_t BufferSize(const BlockTables<T>& t) {
  if (t.butterfly_first) return 0;
  return (t.n1 > t.n2 ? t.n1 : t.n2) * 2 * t.lanes;
}

// Every product and every sum rounded: the same bits everywhere.
const Sweeps<float>& GetSweeps(float);
const Sweeps<double>& GetSweeps(double);

// Products fused with sums where the processor can (library :fast).
namespace fused {
const Sweeps<float>& GetSweeps(float);
const Sweeps<double>& GetSweeps(double);
}  // namespace fused

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_COLUMNS_H_
