// SPDX-License-Identifier: Apache-2.0
// Kernels that wait in every way there is, right ones and wrong ones, compiled once as coroutines
// and once with SIMT_FIBERS; fiber_test.cc compares what becomes of them.
#ifndef ASSAY_GPU_SIMT_FIBER_TEST_KERNELS_H_
#define ASSAY_GPU_SIMT_FIBER_TEST_KERNELS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gpu/simt/fiber_test_outcome.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/mma.h"
#include "gpu/simt/simt.h"

namespace assay::simt {
namespace {

__global__ void BlockSum(gptr<const int> x, gptr<int> y) {
  SHARED(int, partial, 32);
  const int t = static_cast<int>(threadIdx.x);
  int sum = x[static_cast<int>(blockIdx.x * blockDim.x) + t];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (t % 32 == 0) partial[t / 32] = sum;
  __syncthreads();
  if (t >= 32) KERNEL_RETURN;
  sum = t < static_cast<int>(blockDim.x) / 32 ? static_cast<int>(partial[t]) : 0;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (t == 0) y[static_cast<int>(blockIdx.x)] = sum;
}

SIMT_TASK(int) Neighbour(sptr<int> tile, int t, int n) {
  tile[t] = t * t;
  __syncthreads();
  const int value = tile[(t + 1) % n];
  __syncthreads();
  SIMT_RETURN value;
}

__global__ void CallsATask(gptr<int> y) {
  SHARED(int, tile, 64);
  const int t = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int value = SIMT_CALL(Neighbour(tile, t, 64));
    sum += value;
  }
  y[t] = sum;
}

__global__ void Votes(gptr<uint32_t> y) {
  const uint32_t t = threadIdx.x;
  const uint32_t odd = __ballot_sync(0xffffffffu, t % 2 == 1);
  const int any = __any_sync(0xffffffffu, t == 40);
  const int all = __all_sync(0xffffffffu, t < 1000);
  const uint32_t match = __match_any_sync(0xffffffffu, t % 5);
  const int count = __syncthreads_count(t % 3 == 0);
  __syncwarp();
  y[t] = odd ^ match ^ static_cast<uint32_t>(any + 2 * all + 4 * count);
}

__global__ void Multiplies(gptr<float> y) {
  const uint32_t lane = threadIdx.x;
  const uint32_t one = 0x3c003c00;  // two halves of 1
  uint32_t a[2] = {one * (lane % 2), one};
  uint32_t b[1] = {one};
  float sum[4] = {1, 2, 3, 4};
  mma_m16n8k8_f16(sum, a, b, sum);
  for (int i = 0; i < 4; ++i) y[4 * lane + static_cast<uint32_t>(i)] = sum[i];
}

// Every block adds its number to every place, one after another.
__global__ void TakesTurns(gptr<int> y) {
  const int blocks = static_cast<int>(gridDim.x);
  for (int turn = 0; turn < blocks; ++turn) {
    const int place = (static_cast<int>(blockIdx.x) + turn) % blocks;
    if (threadIdx.x == 0) y[place] += static_cast<int>(blockIdx.x) + 1;
    GRID_SYNC();
  }
}

// A block waits for the one before it.
__global__ void WaitsForTheBlockBefore(gptr<int> flags, gptr<int> y) {
  const int block = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0) {
    if (block > 0) {
      while (load_acquire(&flags[block - 1]) == 0) __nanosleep(100);
    }
    y[block] = block == 0 ? 1 : 2 * y[block - 1];
    store_release(&flags[block], 1);
  }
}

__global__ void MissesABarrier(gptr<int> y) {
  SHARED(int, tile, 64);
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = t;
  const int value = tile[(t + 33) % 64];
  __syncthreads();
  y[t] = value;
}

__global__ void WaitsAtTwoBarriers(gptr<int> y) {
  const int t = static_cast<int>(threadIdx.x);
  if (t < 32) {
    __syncthreads();
    y[t] = 1;
  } else {
    y[t] = 2;
    __syncthreads();
  }
}

__global__ void WaitsForALaneThatLeft(gptr<int> y) {
  const int t = static_cast<int>(threadIdx.x);
  if (t % 2 == 1) {
    __syncwarp(0xffffffffu);
  } else {
    __syncthreads();
  }
  y[t] = t;
}

__global__ void LeavesItsBuffer(gptr<int> y) {
  __syncthreads();
  y[static_cast<int>(threadIdx.x) + 1000] = 1;
  __syncthreads();
}

template <class... Parameters, class... Arguments>
void RunOne(std::vector<FiberTestOutcome>& outcomes, std::string name, LaunchConfig config,
            DeviceMemory& memory, Pointer<int> y, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  LaunchResult result = Launch(memory, config, kernel, std::forward<Arguments>(arguments)...);
  FiberTestOutcome outcome;
  outcome.name = std::move(name);
  outcome.status = std::move(result.status);
  outcome.findings = Format(result.diagnostics);
  outcome.counters = std::move(result.counters);
  outcome.memory = memory.Download(y, 256).value();
  outcomes.push_back(std::move(outcome));
}

}  // namespace

#ifdef SIMT_FIBERS
namespace as_fibers {
#else
namespace as_coroutines {
#endif

// Runs all kernels under `config`, whose grid and block are not looked at.
inline std::vector<FiberTestOutcome> RunAll(const LaunchConfig& config) {
  std::vector<FiberTestOutcome> outcomes;
  DeviceMemory memory;
  std::vector<int> counting(256);
  for (int i = 0; i < 256; ++i) counting[static_cast<size_t>(i)] = i * i;
  const Pointer<int> x = memory.Upload(counting, "x").value();
  const Pointer<int> flags = memory.Upload(std::vector<int>(8, 0), "flags").value();
  const Pointer<int> y = memory.Upload(std::vector<int>(256, 0), "y").value();
  const auto shape = [&](uint32_t grid, uint32_t block, bool cooperative = false) {
    LaunchConfig shaped = config;
    shaped.grid = grid;
    shaped.block = block;
    shaped.cooperative = cooperative;
    return shaped;
  };
  RunOne(outcomes, "BlockSum", shape(2, 128), memory, y, BlockSum, x, y);
  RunOne(outcomes, "CallsATask", shape(1, 64), memory, y, CallsATask, y);
  RunOne(outcomes, "Votes", shape(1, 64), memory, y, Votes, pointer_cast<uint32_t>(y));
  RunOne(outcomes, "Multiplies", shape(1, 32), memory, y, Multiplies, pointer_cast<float>(y));
  RunOne(outcomes, "TakesTurns", shape(5, 32, true), memory, y, TakesTurns, y);
  RunOne(outcomes, "WaitsForTheBlockBefore", shape(8, 32), memory, y, WaitsForTheBlockBefore, flags,
         y);
  RunOne(outcomes, "MissesABarrier", shape(1, 64), memory, y, MissesABarrier, y);
  RunOne(outcomes, "WaitsAtTwoBarriers", shape(1, 64), memory, y, WaitsAtTwoBarriers, y);
  RunOne(outcomes, "WaitsForALaneThatLeft", shape(1, 64), memory, y, WaitsForALaneThatLeft, y);
  RunOne(outcomes, "LeavesItsBuffer", shape(1, 64), memory, y, LeavesItsBuffer, y);
  // After a failure all is as before.
  RunOne(outcomes, "BlockSum again", shape(2, 128), memory, y, BlockSum, x, y);
  return outcomes;
}

}  // namespace as_fibers or as_coroutines
}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_FIBER_TEST_KERNELS_H_
