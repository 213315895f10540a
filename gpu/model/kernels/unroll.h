// SPDX-License-Identifier: Apache-2.0
// Hints about loops for nvcc alone: clang takes `#pragma unroll` too, and complains where a loop
// that waits cannot be unrolled.
#ifndef ASSAY_GPU_MODEL_KERNELS_UNROLL_H_
#define ASSAY_GPU_MODEL_KERNELS_UNROLL_H_

#ifdef __CUDACC__
#define ASSAY_UNROLL _Pragma("unroll")
#define ASSAY_KEEP_LOOP _Pragma("unroll 1")
#else
#define ASSAY_UNROLL
#define ASSAY_KEEP_LOOP
#endif

#endif  // ASSAY_GPU_MODEL_KERNELS_UNROLL_H_
