// SPDX-License-Identifier: Apache-2.0
//
// Where a thread is, and what time it is there.
#ifndef ASSAY_TOOLS_MEASURE_GPU_THREAD_CU_H_
#define ASSAY_TOOLS_MEASURE_GPU_THREAD_CU_H_

#include <cstdint>

#include "gpu/simt/simt.h"

namespace assay::measure_gpu {

// The SM's clock; 0 where there is none.
inline __device__ long long Clock() {
#ifdef __CUDA_ARCH__
  return clock64();
#else
  return 0;
#endif
}

inline __device__ int64_t ThreadNumber() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace assay::measure_gpu

#endif  // ASSAY_TOOLS_MEASURE_GPU_THREAD_CU_H_
