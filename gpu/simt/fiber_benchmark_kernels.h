// SPDX-License-Identifier: Apache-2.0
// Kernels that wait much and kernels that touch much memory, compiled as coroutines and with
// SIMT_FIBERS, for fiber_benchmark.
#ifndef ASSAY_GPU_SIMT_FIBER_BENCHMARK_KERNELS_H_
#define ASSAY_GPU_SIMT_FIBER_BENCHMARK_KERNELS_H_

#include <vector>

#include "absl/status/status.h"
#include "gpu/simt/benchmark_kernels.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/simt.h"

namespace assay::simt {
namespace {

__global__ void Shuffles(gptr<int> y, int n) {
  int value = static_cast<int>(threadIdx.x);
  for (int i = 0; i < n; ++i) value += __shfl_xor_sync(0xffffffffu, value, 1 << i % 5);
  y[static_cast<int>(threadIdx.x)] = value;
}

}  // namespace

enum class Load { kBarriers, kShuffles, kTraced, kUntraced };

namespace as_coroutines {
absl::Status RunLoad(Load load, ThreadRunner* runner);
}  // namespace as_coroutines
namespace as_fibers {
absl::Status RunLoad(Load load, ThreadRunner* runner);
}  // namespace as_fibers

// What one run comes to: waits of threads, or accesses to memory.
constexpr int kBlock = 1024;
constexpr int kWaits = 200;
constexpr int kSide = 128;
constexpr double kAccesses = double{kSide} * kSide * (kSide / 32 * 68 + 1);

namespace {

inline absl::Status RunLoadHere(Load load, ThreadRunner* runner) {
  static DeviceMemory* const memory = new DeviceMemory;
  static const Pointer<float> a =
      memory->Upload(std::vector<float>(kSide * kSide, 1.0f), "a").value();
  static const Pointer<float> c = memory->Allocate<float>(kSide * kSide, "c").value();
  static const Pointer<int> y = memory->Allocate<int>(kBlock, "y").value();
  LaunchConfig config;
  config.grid = 1;
  config.block = kBlock;
  config.runner = runner;
  config.trace = load == Load::kTraced;
  if (load == Load::kBarriers) return Launch(*memory, config, Barriers, kWaits).status;
  if (load == Load::kShuffles) return Launch(*memory, config, Shuffles, y, kWaits).status;
  config.grid = Dim3(kSide / 32, kSide / 32);
  config.block = Dim3(32, 32);
  return Launch(*memory, config, TileMultiply, a, a, c, kSide).status;
}

}  // namespace
}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_FIBER_BENCHMARK_KERNELS_H_
