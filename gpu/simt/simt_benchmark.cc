// SPDX-License-Identifier: Apache-2.0
// How fast kernels run in the simulator: memory accesses and waits a second.

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "gpu/simt/benchmark_kernels.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/simt.h"

namespace assay::simt {
namespace {

// 128 x 128 x 8 tiles, 8 x 8 elements a thread.
__global__ void RegisterTileMultiply(gptr<const float> a, gptr<const float> b, gptr<float> c,
                                     int n) {
  SHARED(float, a_tile, 8, 128);
  SHARED(float, b_tile, 8, 128);
  const int t = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * 128;
  const int column0 = static_cast<int>(blockIdx.x) * 128;
  const int ty = t / 16 * 8;
  const int tx = t % 16 * 8;
  float sum[8][8] = {};
  for (int k = 0; k < n; k += 8) {
    for (int i = t; i < 1024; i += 256) {
      a_tile[i % 8][i / 8] = a[(row0 + i / 8) * n + k + i % 8];
      b_tile[i / 128][i % 128] = b[(k + i / 128) * n + column0 + i % 128];
    }
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
      float left[8];
      float right[8];
      for (int j = 0; j < 8; ++j) left[j] = a_tile[i][ty + j];
      for (int j = 0; j < 8; ++j) right[j] = b_tile[i][tx + j];
      for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 8; ++x) sum[y][x] += left[y] * right[x];
      }
    }
    __syncthreads();
  }
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) c[(row0 + ty + y) * n + column0 + tx + x] = sum[y][x];
  }
}

__global__ void Stream(gptr<const float> x, gptr<float> y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  y[i] = 2.0f * x[i];
}

struct Matrices {
  DeviceMemory memory;
  Pointer<float> a, b, c;
  explicit Matrices(int n) {
    const std::vector<float> ones(static_cast<size_t>(n) * static_cast<size_t>(n), 1.0f);
    a = memory.Upload(ones, "a").value();
    b = memory.Upload(ones, "b").value();
    c = memory.Allocate<float>(static_cast<int64_t>(n) * n, "c").value();
  }
};

void Report(benchmark::State& state, double accesses) {
  state.counters["accesses/s"] =
      benchmark::Counter(accesses, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_TileMultiply(benchmark::State& state) {
  const int n = 128;
  Matrices matrices(n);
  const LaunchConfig config{.grid = {4, 4}, .block = {32, 32}, .trace = state.range(0) != 0};
  for (auto _ : state) {
    const LaunchResult result =
        Launch(matrices.memory, config, TileMultiply, matrices.a, matrices.b, matrices.c, n);
    if (!result.status.ok()) state.SkipWithError("failed");
  }
  Report(state, double{n} * n * (n / 32 * 68 + 1));
}
BENCHMARK(BM_TileMultiply)->ArgName("traced")->Arg(1)->Arg(0);

void BM_RegisterTileMultiply(benchmark::State& state) {
  const int n = 256;
  Matrices matrices(n);
  const LaunchConfig config{.grid = {2, 2}, .block = 256, .trace = state.range(0) != 0};
  for (auto _ : state) {
    const LaunchResult result = Launch(matrices.memory, config, RegisterTileMultiply, matrices.a,
                                       matrices.b, matrices.c, n);
    if (!result.status.ok()) state.SkipWithError("failed");
  }
  Report(state, 4.0 * 256 * (n / 8 * (16 + 128) + 64));
  state.counters["mac/s"] =
      benchmark::Counter(double{n} * n * n, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_RegisterTileMultiply)->ArgName("traced")->Arg(1)->Arg(0);

void BM_Stream(benchmark::State& state) {
  const int n = 1 << 20;
  DeviceMemory memory;
  const auto x = memory.Upload(std::vector<float>(n, 1.0f), "x").value();
  const auto y = memory.Allocate<float>(n, "y").value();
  const LaunchConfig config{.grid = n / 256, .block = 256, .trace = state.range(0) != 0};
  for (auto _ : state) {
    const LaunchResult result = Launch(memory, config, Stream, x, y);
    if (!result.status.ok()) state.SkipWithError("failed");
  }
  Report(state, 2.0 * n);
  state.counters["threads/s"] =
      benchmark::Counter(n, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Stream)->ArgName("traced")->Arg(1)->Arg(0);

void BM_Barriers(benchmark::State& state) {
  DeviceMemory memory;
  const int n = 1000;
  for (auto _ : state) {
    const LaunchResult result = Launch(memory, {.grid = 1, .block = 1024}, Barriers, n);
    if (!result.status.ok()) state.SkipWithError("failed");
  }
  state.counters["waits/s"] =
      benchmark::Counter(1024.0 * n, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Barriers);

}  // namespace
}  // namespace assay::simt
