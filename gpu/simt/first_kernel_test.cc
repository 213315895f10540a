// SPDX-License-Identifier: Apache-2.0
// The first kernel of README.md, and the mistake that it finds there.

#include "gpu/simt/simt.h"

namespace {
using namespace assay::simt;  // lint: allow(namespaces): as a kernel's author would write

__global__ void Reverse(gptr<const float> x, gptr<float> y, int n) {
  SHARED(float, tile, 256);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) y[i] = tile[blockDim.x - 1 - threadIdx.x];
}

// The same without the barrier.
__global__ void RacyReverse(gptr<const float> x, gptr<float> y, int n) {
  SHARED(float, tile, 256);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;  // kStore
  if (i < n) y[i] = tile[blockDim.x - 1 - threadIdx.x];
}
constexpr int kStore = __LINE__ - 3;

}  // namespace

#ifndef __CUDACC__
#include <vector>

#include "gpu/simt/launch.h"
#include "gtest/gtest.h"

TEST(FirstKernelTest, ReversesEachBlock) {
  DeviceMemory memory;
  std::vector<float> values(512);
  for (int i = 0; i < 512; ++i) values[i] = i;
  const auto x = memory.Upload(values, "x").value();
  const auto y = memory.Allocate<float>(512, "y").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, {.grid = 2, .block = 256}, 3, Reverse, x, y, 512);
  ASSERT_TRUE(result.status.ok()) << Format(result.diagnostics, ReadSourceFile);
  const std::vector<float> reversed = memory.Download(y, 512).value();
  for (int i = 0; i < 512; ++i) EXPECT_EQ(reversed[i], i / 256 * 256 + 255 - i % 256);
}

TEST(FirstKernelTest, NamesBothLinesOfTheMissingBarrier) {
  DeviceMemory memory;
  const auto x = memory.Upload(std::vector<float>(512, 1.0f), "x").value();
  const auto y = memory.Allocate<float>(512, "y").value();
  const LaunchResult result = Launch(memory, {.grid = 2, .block = 256}, RacyReverse, x, y, 512);
  ASSERT_EQ(result.status.code(), absl::StatusCode::kFailedPrecondition);
  bool found = false;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    if (diagnostic.finding != Finding::kRace) continue;
    found = true;
    ASSERT_EQ(diagnostic.sites.size(), 2u);
    EXPECT_EQ(diagnostic.sites[0].line + diagnostic.sites[1].line, kStore + kStore + 1);
    EXPECT_EQ(diagnostic.variable, "tile");
  }
  EXPECT_TRUE(found) << Format(result.diagnostics);
}
#endif
