// SPDX-License-Identifier: Apache-2.0
//
// The page's kernels: nvcc compiles them for a card, the simulator runs and counts them.
#ifndef ASSAY_WEB_ARTICLES_ROOFLINE_KERNELS_CU_H_
#define ASSAY_WEB_ARTICLES_ROOFLINE_KERNELS_CU_H_

#include "gpu/simt/simt.h"

namespace assay::roofline_page {
namespace {

using simt::gptr;

constexpr int kTileWords = 2048;  // 8 KiB of shared memory

// [region warp]
// One warp; each lane reads one number, wherever `where` says.
__global__ void ReadGlobal(gptr<const int> where, gptr<const float> x, gptr<float> y) {
  const int at = where[threadIdx.x];
  const float value = x[at];
  y[threadIdx.x] = value;
}

// The same from shared memory.
__global__ void ReadShared(gptr<const int> where, gptr<float> y) {
  SHARED(float, tile, kTileWords);
  for (int i = static_cast<int>(threadIdx.x); i < kTileWords; i += 32)
    tile[i] = static_cast<float>(i);
  __syncwarp();
  const int at = where[threadIdx.x];
  const float value = tile[at];
  y[threadIdx.x] = value;
}
// [end warp]

// [region branch]
// Half of the lanes take one way, half the other.
__global__ void TwoWays(gptr<const float> x, gptr<float> y) {
  const int i = static_cast<int>(threadIdx.x);
  if (i % 2 == 0) {
    y[i] = x[i] + 1.0f;
  } else {
    y[i] = x[i] - 1.0f;
  }
}
// [end branch]

// [region transpose]
// The transpose of an n x n matrix, n a multiple of 32, by blocks of 32 x 32 threads.
__global__ void TransposePlain(gptr<const float> x, gptr<float> y, int n) {
  const int row = static_cast<int>(blockIdx.y * 32 + threadIdx.y);
  const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const float value = x[row * n + column];
  y[column * n + row] = value;
}

// Through a tile in shared memory, so that both ways lie side by side. kPad empty columns.
template <int kPad>
__global__ void TransposeTile(gptr<const float> x, gptr<float> y, int n) {
  SHARED(float, tile, 32 * (32 + kPad));
  const int block_row = static_cast<int>(blockIdx.y * 32);
  const int block_column = static_cast<int>(blockIdx.x * 32);
  const int across = static_cast<int>(threadIdx.x), down = static_cast<int>(threadIdx.y);
  const float value = x[(block_row + down) * n + block_column + across];
  tile[down * (32 + kPad) + across] = value;
  __syncthreads();
  const float turned = tile[across * (32 + kPad) + down];
  y[(block_column + down) * n + block_row + across] = turned;
}
// [end transpose]

}  // namespace
}  // namespace assay::roofline_page

#endif  // ASSAY_WEB_ARTICLES_ROOFLINE_KERNELS_CU_H_
