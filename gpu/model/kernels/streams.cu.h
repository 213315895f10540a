// SPDX-License-Identifier: Apache-2.0
// Kernels that memory decides about: a copy, a triad, a sum. n is a multiple of what a block takes.
// Included once, by ladder.cc here and by model_kernels.cu for nvcc: the kernels have external
// linkage, so that their symbols are short.
#ifndef ASSAY_GPU_MODEL_KERNELS_STREAMS_CU_H_
#define ASSAY_GPU_MODEL_KERNELS_STREAMS_CU_H_

#include "gpu/model/kernels/unroll.h"
#include "gpu/simt/simt.h"

namespace assay::model {

using simt::float4;
using simt::gptr;
using simt::pointer_cast;
#ifndef __CUDACC__  // under nvcc these are CUDA's own, outside any namespace
using simt::__fmaf_rn;
#endif

// y = x, a float a thread.
__global__ void StreamCopy(gptr<const float> x, gptr<float> y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  y[i] = x[i];
}

// z = x + 3 y, a float a thread.
__global__ void StreamTriad(gptr<const float> x, gptr<const float> y, gptr<float> z) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  z[i] = __fmaf_rn(3.0f, y[i], x[i]);
}

// sums[block] = the sum of 1024 elements of x, by 256 threads with four each.
__global__ void BlockSums(gptr<const float> x, gptr<float> sums) {
  SHARED(float, partial, 8);
  const int t = static_cast<int>(threadIdx.x);
  const float4 word = pointer_cast<const float4>(x)[blockIdx.x * 256 + threadIdx.x];
  float sum = (word.x + word.y) + (word.z + word.w);
  ASSAY_UNROLL for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xFFFFFFFFu, sum, offset);
  }
  if (t % 32 == 0) partial[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    float total = 0.0f;
    for (int i = 0; i < 8; ++i) total += partial[i];
    sums[blockIdx.x] = total;
  }
}

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_KERNELS_STREAMS_CU_H_
