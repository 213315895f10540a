// SPDX-License-Identifier: Apache-2.0
//
// Kernels that keep the arithmetic of a GPU busy and nothing else. Each leaves a result that
// depends on every operation, so that no compiler drops one and the host can check them
// (reference.h).
#ifndef ASSAY_TOOLS_MEASURE_GPU_ARITHMETIC_CU_H_
#define ASSAY_TOOLS_MEASURE_GPU_ARITHMETIC_CU_H_

#include <cstdint>

#include "gpu/simt/simt.h"
#include "tools/measure_gpu/thread.cu.h"

namespace assay::measure_gpu {
namespace {

using namespace simt;  // lint: allow(namespaces): CUDA's own names, where this is not CUDA

// Dependent chains of a thread. 8 of them, on 8 warps or more of each of an SM's 4 schedulers,
// cover 4 clocks of latency many times over.
constexpr int kChains = 8;
// Steps of a chain in one pass of the loop: its counter is 2 instructions among 128.
constexpr int kSteps = 16;
// out[t] = the sum of the chains x <- a x + b after kSteps * loops steps; chain k of thread t
// begins with ((t + k) mod 32) / 32. cycles[0]: of block 0.
// 2 kChains kSteps loops flop a thread.
__global__ void FmaF32(gptr<float> out, gptr<long long> cycles, float a, float b, int loops) {
  const int64_t t = ThreadNumber();
  float x[kChains];
  for (int k = 0; k < kChains; ++k) x[k] = static_cast<float>((t + k) % 32) * 0.03125f;
  const long long begin = Clock();
  for (int i = 0; i < loops; ++i) {
    for (int step = 0; step < kSteps; ++step) {
      for (int k = 0; k < kChains; ++k) x[k] = __fmaf_rn(x[k], a, b);
    }
  }
  const long long end = Clock();
  float sum = 0.0f;
  for (int k = 0; k < kChains; ++k) sum += x[k];
  out[t] = sum;
  if (t == 0) cycles[0] = end - begin;
}

// The same with pairs of 16-bit numbers: twice the flop. out[t]: the chains' bits, exclusive-ored.
__global__ void FmaF16(gptr<uint32_t> out, gptr<long long> cycles, float a, float b, int loops) {
  const int64_t t = ThreadNumber();
  const half2 factor = __floats2half2_rn(a, a);
  const half2 term = __floats2half2_rn(b, b);
  half2 x[kChains];
  for (int k = 0; k < kChains; ++k) {
    x[k] = __floats2half2_rn(static_cast<float>((t + k) % 32) * 0.03125f,
                             static_cast<float>((t + k + 1) % 32) * 0.03125f);
  }
  const long long begin = Clock();
  for (int i = 0; i < loops; ++i) {
    for (int step = 0; step < kSteps; ++step) {
      for (int k = 0; k < kChains; ++k) x[k] = __hfma2(x[k], factor, term);
    }
  }
  const long long end = Clock();
  uint32_t bits = 0;
  for (int k = 0; k < kChains; ++k) {
    const uint32_t low = __half_as_ushort(__low2half(x[k]));
    const uint32_t high = __half_as_ushort(__high2half(x[k]));
    bits ^= low | high << 16;
  }
  out[t] = bits;
  if (t == 0) cycles[0] = end - begin;
}

}  // namespace
}  // namespace assay::measure_gpu

#endif  // ASSAY_TOOLS_MEASURE_GPU_ARITHMETIC_CU_H_
