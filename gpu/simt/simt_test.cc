// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/simt.h"

#include <string>
#include <vector>

#include "gpu/simt/launch.h"
#include "gtest/gtest.h"

namespace assay::simt {
namespace {

__global__ void Saxpy(int n, float a, gptr<const float> x, gptr<float> y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void Reverse(gptr<const float> x, gptr<float> y, int n) {
  SHARED(float, tile, 256);
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) y[i] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void RacyReverse(gptr<const float> x, gptr<float> y) {
  SHARED(float, tile, 256);
  const int i = static_cast<int>(threadIdx.x);
  tile[i] = x[i];
  y[i] = tile[255 - i];
}

__global__ void Sum(gptr<const int> x, gptr<int> total) {
  int value = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xFFFFFFFFu, value, offset);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(&total[0], value);
}

std::vector<float> Iota(int n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i);
  return values;
}

TEST(SimtTest, RunsAPlainKernel) {
  DeviceMemory memory;
  const auto x = memory.Upload(Iota(1000), "x").value();
  const auto y = memory.Upload(Iota(1000), "y").value();
  const LaunchResult result = Launch(memory, {.grid = 4, .block = 256}, Saxpy, 1000, 2.0f, x, y);
  ASSERT_TRUE(result.status.ok()) << Format(result.diagnostics);
  const std::vector<float> out = memory.Download(y, 1000).value();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], 3.0f * i);
  EXPECT_EQ(result.counters.threads, 1024);
}

TEST(SimtTest, RunsAKernelWithABarrier) {
  DeviceMemory memory;
  const auto x = memory.Upload(Iota(1000), "x").value();
  const auto y = memory.Allocate<float>(1000, "y").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, {.grid = 4, .block = 256}, 3, Reverse, x, y, 1000);
  ASSERT_TRUE(result.status.ok()) << Format(result.diagnostics);
  const std::vector<float> out = memory.Download(y, 1000).value();
  for (int i = 0; i < 768; ++i) {
    EXPECT_EQ(out[static_cast<size_t>(i)], static_cast<float>(i / 256 * 256 + 255 - i % 256));
  }
  EXPECT_EQ(result.counters.barriers, 4);
  EXPECT_EQ(result.counters.shared_bytes, 1024);
}

TEST(SimtTest, FindsARace) {
  DeviceMemory memory;
  const auto x = memory.Upload(Iota(256), "x").value();
  const auto y = memory.Allocate<float>(256, "y").value();
  const LaunchResult result = Launch(memory, {.grid = 1, .block = 256}, RacyReverse, x, y);
  ASSERT_FALSE(result.status.ok());
  std::puts(Format(result.diagnostics, ReadSourceFile).c_str());
}

TEST(SimtTest, ShufflesAndAdds) {
  DeviceMemory memory;
  std::vector<int> values(1024);
  int expected = 0;
  for (int i = 0; i < 1024; ++i) expected += values[static_cast<size_t>(i)] = i * i % 101;
  const auto x = memory.Upload(values, "x").value();
  const auto total = memory.Upload(std::vector<int>{0}, "total").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, {.grid = 4, .block = 256}, 2, Sum, x, total);
  ASSERT_TRUE(result.status.ok()) << Format(result.diagnostics);
  EXPECT_EQ(memory.Download(total, 1).value()[0], expected);
}

}  // namespace
}  // namespace assay::simt
