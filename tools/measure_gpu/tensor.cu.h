// SPDX-License-Identifier: Apache-2.0
//
// Kernels that keep the matrix units of a GPU busy and nothing else.
#ifndef ASSAY_TOOLS_MEASURE_GPU_TENSOR_CU_H_
#define ASSAY_TOOLS_MEASURE_GPU_TENSOR_CU_H_

#include <cstdint>

#include "gpu/simt/mma.h"
#include "gpu/simt/simt.h"
#include "tools/measure_gpu/thread.cu.h"

namespace assay::measure_gpu {
namespace {

using namespace simt;  // lint: allow(namespaces): CUDA's own names, where this is not CUDA

// Sums of a warp that do not wait for each other; with 8 warps on each of an SM's 4 partitions more
// than enough to hide the latency of an instruction.
constexpr int kTiles = 4;
// Instructions on each of them in one pass of the loop.
constexpr int kMmaSteps = 4;

// The instructions that begin with sm_80 are compiled for older GPUs too, where nobody launches
// them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <class Sum, class A, class B>
__device__ void NotBelowSm80(Sum&, const A&, const B&, const Sum&) {
  __trap();
}
#define WIDE_F16(d, a, b, c) NotBelowSm80(d, a, b, c)
#define WIDE_S8(d, a, b, c) NotBelowSm80(d, a, b, c)
#else
#define WIDE_F16(d, a, b, c) mma_m16n8k16_f16(d, a, b, c)
#define WIDE_S8(d, a, b, c) mma_m16n8k32_s8(d, a, b, c)
#endif

// fragments: for each lane its kA registers of A and kB of B. out: for each thread its kC sums,
// which are kTiles kMmaSteps loops times the entries of A B. cycles[0]: of thread 0.
#define MMA_KERNEL(Name, Instruction, kA, kB, kC, Sum)                                        \
  __global__ void Name(gptr<const uint32_t> fragments, gptr<Sum> out, gptr<long long> cycles, \
                       int loops) {                                                           \
    const int64_t t = ThreadNumber();                                                         \
    const int64_t lane = t % 32;                                                              \
    uint32_t a[kA];                                                                           \
    uint32_t b[kB];                                                                           \
    for (int i = 0; i < kA; ++i) a[i] = fragments[lane * (kA + kB) + i];                      \
    for (int i = 0; i < kB; ++i) b[i] = fragments[lane * (kA + kB) + kA + i];                 \
    Sum sum[kTiles][kC] = {};                                                                 \
    const long long begin = Clock();                                                          \
    for (int i = 0; i < loops; ++i) {                                                         \
      for (int step = 0; step < kMmaSteps; ++step) {                                          \
        for (int tile = 0; tile < kTiles; ++tile) Instruction(sum[tile], a, b, sum[tile]);    \
      }                                                                                       \
    }                                                                                         \
    const long long end = Clock();                                                            \
    for (int i = 0; i < kC; ++i) {                                                            \
      Sum total = 0;                                                                          \
      for (int tile = 0; tile < kTiles; ++tile) total += sum[tile][i];                        \
      out[t * kC + i] = total;                                                                \
    }                                                                                         \
    if (t == 0) cycles[0] = end - begin;                                                      \
  }

MMA_KERNEL(MmaF16, mma_m16n8k8_f16, 2, 1, 4, float)
MMA_KERNEL(MmaF16Wide, WIDE_F16, 4, 2, 4, float)
MMA_KERNEL(MmaS8, mma_m8n8k16_s8, 1, 1, 2, int)
MMA_KERNEL(MmaS8Wide, WIDE_S8, 4, 2, 4, int)

}  // namespace
}  // namespace assay::measure_gpu

#endif  // ASSAY_TOOLS_MEASURE_GPU_TENSOR_CU_H_
