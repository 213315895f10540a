// SPDX-License-Identifier: Apache-2.0
//
// Kernels that keep the memory of a GPU busy and nothing else. Each leaves a result that
// depends on every operation, so that no compiler drops one and the host can check them
// (reference.h).
#ifndef ASSAY_TOOLS_MEASURE_GPU_MEMORY_CU_H_
#define ASSAY_TOOLS_MEASURE_GPU_MEMORY_CU_H_

#include <cstdint>

#include "gpu/simt/simt.h"
#include "tools/measure_gpu/thread.cu.h"

namespace assay::measure_gpu {
namespace {

using namespace simt;  // lint: allow(namespaces): CUDA's own names, where this is not CUDA

// Elements of 16 bytes that a thread has in flight at once.
constexpr int kInFlight = 4;
// A block's window in the shared memory and L1 probes: 1024 elements of 16 bytes.
constexpr int kWindow = 1024;
// Nodes of the chase in shared memory.
constexpr int kSharedNodes = 1024;

// Loads that stay out of L1 (LoadL2) or go through it (LoadL1).
template <class T>
__device__ T LoadL2(gptr<const T> p, int64_t i) {
#ifdef __CUDA_ARCH__
  return __ldcg(p + i);
#else
  return p[i];
#endif
}
template <class T>
__device__ T LoadL1(gptr<const T> p, int64_t i) {
#ifdef __CUDA_ARCH__
  return __ldca(p + i);
#else
  return p[i];
#endif
}

// y = x over n elements; a block has kInFlight elements for each of its threads.
__global__ void Copy(gptr<const uint4> x, gptr<uint4> y, int64_t n) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x * kInFlight + threadIdx.x;
  uint4 value[kInFlight];
  for (int k = 0; k < kInFlight; ++k) {
    const int64_t i = first + k * static_cast<int64_t>(blockDim.x);
    if (i < n) value[k] = x[i];
  }
  for (int k = 0; k < kInFlight; ++k) {
    const int64_t i = first + k * static_cast<int64_t>(blockDim.x);
    if (i < n) y[i] = value[k];
  }
}

// y = a + s b over n elements of four floats.
__global__ void Triad(gptr<const float4> a, gptr<const float4> b, float s, gptr<float4> y,
                      int64_t n) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x * kInFlight + threadIdx.x;
  float4 sum[kInFlight];
  for (int k = 0; k < kInFlight; ++k) {
    const int64_t i = first + k * static_cast<int64_t>(blockDim.x);
    if (i < n) {
      const float4 u = a[i];
      const float4 v = b[i];
      sum[k] = make_float4(u.x + s * v.x, u.y + s * v.y, u.z + s * v.z, u.w + s * v.w);
    }
  }
  for (int k = 0; k < kInFlight; ++k) {
    const int64_t i = first + k * static_cast<int64_t>(blockDim.x);
    if (i < n) y[i] = sum[k];
  }
}

// y[i] = (i, i, i, i) modulo 2^32.
__global__ void Write(gptr<uint4> y, int64_t n) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x * kInFlight + threadIdx.x;
  for (int k = 0; k < kInFlight; ++k) {
    const int64_t i = first + k * static_cast<int64_t>(blockDim.x);
    const uint32_t value = static_cast<uint32_t>(i);
    if (i < n) y[i] = make_uint4(value, value, value, value);
  }
}

// out[t] = the sum of what thread t read, modulo 2^32: in round r elements (t + r shift + j
// threads) mod n for j < count, a multiple of kInFlight; n is a power of two.
__global__ void Read(gptr<const uint4> x, int64_t n, int64_t count, int rounds, int64_t shift,
                     gptr<uint32_t> out) {
  const int64_t t = ThreadNumber();
  const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  uint32_t sum = 0;
  for (int r = 0; r < rounds; ++r) {
    int64_t i = t + r * shift;
    for (int64_t j = 0; j < count; j += kInFlight) {
      uint4 value[kInFlight];
      for (int k = 0; k < kInFlight; ++k) {
        value[k] = LoadL2<uint4>(x, i & (n - 1));
        i += threads;
      }
      for (int k = 0; k < kInFlight; ++k) {
        sum += value[k].x + value[k].y + value[k].z + value[k].w;
      }
    }
  }
  out[t] = sum;
}

// out[t] = the sum of what thread t read of its block's window of kWindow elements, modulo 2^32:
// in round r elements (threadIdx + 32 r + 256 k) mod kWindow, k < kInFlight.
__global__ void __launch_bounds__(1024)
    ReadL1(gptr<const uint4> x, int rounds, gptr<uint32_t> out) {
  const int64_t window = static_cast<int64_t>(blockIdx.x) * kWindow;
  uint32_t sum = 0;
  for (int r = 0; r < rounds; ++r) {
    for (int k = 0; k < kInFlight; ++k) {
      const uint32_t i = (threadIdx.x + 32u * r + 256u * k) & (kWindow - 1);
      const uint4 value = LoadL1<uint4>(x, window + i);
      sum += value.x + value.y + value.z + value.w;
    }
  }
  out[ThreadNumber()] = sum;
}

// The same from shared memory.
__global__ void __launch_bounds__(1024)
    ReadShared(gptr<const uint4> x, int rounds, gptr<uint32_t> out) {
  SHARED(uint4, tile, kWindow);
  const int64_t window = static_cast<int64_t>(blockIdx.x) * kWindow;
  for (uint32_t i = threadIdx.x; i < kWindow; i += blockDim.x) tile[i] = x[window + i];
  __syncthreads();
  uint32_t sum = 0;
  for (int r = 0; r < rounds; ++r) {
    for (int k = 0; k < kInFlight; ++k) {
      const uint32_t i = (threadIdx.x + 32u * r + 256u * k) & (kWindow - 1);
      const uint4 value = tile[i];
      sum += value.x + value.y + value.z + value.w;
    }
  }
  out[ThreadNumber()] = sum;
}

// One thread follows `next` for `hops` steps from place[0], and leaves there where it came to; so
// the next run goes on from there and meets no line again before the whole cycle is done.
__global__ void ChaseL1(gptr<const uint32_t> next, int hops, gptr<uint32_t> place,
                        gptr<long long> cycles) {
  uint32_t at = place[0];
  const long long begin = Clock();
  for (int i = 0; i < hops; ++i) at = LoadL1<uint32_t>(next, at);
  const long long end = Clock();
  place[0] = at;
  cycles[0] = end - begin;
}
__global__ void ChaseL2(gptr<const uint32_t> next, int hops, gptr<uint32_t> place,
                        gptr<long long> cycles) {
  uint32_t at = place[0];
  const long long begin = Clock();
  for (int i = 0; i < hops; ++i) at = LoadL2<uint32_t>(next, at);
  const long long end = Clock();
  place[0] = at;
  cycles[0] = end - begin;
}
__global__ void ChaseShared(gptr<const uint32_t> next, int hops, gptr<uint32_t> place,
                            gptr<long long> cycles) {
  SHARED(uint32_t, nodes, kSharedNodes);
  for (uint32_t i = threadIdx.x; i < kSharedNodes; i += blockDim.x) nodes[i] = next[i];
  __syncthreads();
  if (threadIdx.x != 0) KERNEL_RETURN;
  uint32_t at = place[0];
  const long long begin = Clock();
  for (int i = 0; i < hops; ++i) at = nodes[at];
  const long long end = Clock();
  place[0] = at;
  cycles[0] = end - begin;
}

}  // namespace
}  // namespace assay::measure_gpu

#endif  // ASSAY_TOOLS_MEASURE_GPU_MEMORY_CU_H_
