// SPDX-License-Identifier: Apache-2.0
//
// Distances between a block of queries and a tile of rows, in one fixed order of additions.
//
// The order, for f32: sixteen virtual lanes; lane j adds the terms i = j, j + 16, j + 32, ... in
// this order, starting from +0; then lane j takes in lane j + 8, then j + 4, then j + 2, then j
// + 1. A register of any width holds a part of the sixteen lanes, so SSE, AVX2, AVX-512 and
// WebAssembly give the same bits. Every multiplication and addition is rounded by itself (no fused
// operation).
//
// For u8 the sums are integers and exact, so the order does not matter.

#ifndef ASSAY_SEARCH_INDEX_INTERNAL_DISTANCE_H_
#define ASSAY_SEARCH_INDEX_INTERNAL_DISTANCE_H_

#include <cstdint>

namespace assay::index::internal {

// Rows are padded with zeros to a multiple of this many elements: a whole register of any target. A
// zero term adds +0 to a lane that is never -0, so the padding changes no bit.
inline constexpr int64_t kF32Lanes = 16;
inline constexpr int64_t kU8Lanes = 32;

// Every entry point fills out[q * out_stride + r] for q < queries, r < rows. Strides are in
// elements and multiples of the lane count; rows and queries are aligned to 64 bytes and padded
// with zeros to the stride. out must not alias them.
struct F32Tile {
  const float* queries;
  int64_t query_count;
  const float* rows;
  int64_t row_count;
  int64_t stride;  // of queries and of rows
  float* out;
  int64_t out_stride;
};
struct U8Tile {
  const int16_t* queries;  // widened, values in [0, 255]
  int64_t query_count;
  const uint8_t* rows;
  int64_t row_count;
  int64_t stride;  // of queries and of rows; at most 32,768, so that no i32 sum overflows
  int32_t* out;
  int64_t out_stride;
};

// Squared Euclidean distances, as the sum of squared differences.
void SquaredL2(const F32Tile& tile);
// Inner products.
void InnerProducts(const F32Tile& tile);
void InnerProducts(const U8Tile& tile);

// The same two sums for one pair of vectors of any length and alignment, in plain C++: what the
// registers above must equal bit for bit.
float SquaredL2Reference(const float* x, const float* y, int64_t n);
float InnerProductReference(const float* x, const float* y, int64_t n);

// The inner product in f64, its lanes and their fold as above. The product of two floats is exact
// in f64, and no sum of finite floats overflows or underflows there.
double WideInnerProduct(const float* x, const float* y, int64_t n);

}  // namespace assay::index::internal

#endif  // ASSAY_SEARCH_INDEX_INTERNAL_DISTANCE_H_
