// SPDX-License-Identifier: Apache-2.0
// Kernels that the benchmarks share; each file that includes them compiles its own, by coroutines
// or, with SIMT_FIBERS, for fibers.
#ifndef ASSAY_GPU_SIMT_BENCHMARK_KERNELS_H_
#define ASSAY_GPU_SIMT_BENCHMARK_KERNELS_H_

#include "gpu/simt/simt.h"

namespace assay::simt {
namespace {

__global__ void Barriers(int n) {
  for (int i = 0; i < n; ++i) __syncthreads();
}

// C = A B by tiles of 32 x 32, one thread for each element; n a multiple of 32.
__global__ void TileMultiply(gptr<const float> a, gptr<const float> b, gptr<float> c, int n) {
  SHARED(float, a_tile, 32, 32);
  SHARED(float, b_tile, 32, 32);
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * 32 + ty;
  const int column = static_cast<int>(blockIdx.x) * 32 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 32) {
    a_tile[ty][tx] = a[row * n + k + tx];
    b_tile[ty][tx] = b[(k + ty) * n + column];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a_tile[ty][i] * b_tile[i][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

}  // namespace
}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_BENCHMARK_KERNELS_H_
