// SPDX-License-Identifier: Apache-2.0

#include "gpu/device/gpus.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace assay {

const char* RunMultiplyThenAdd(const double* x, double* y, int n);

namespace {

TEST(GpusTest, SaysWhyThereIsNoGpu) {
  if (HaveGpu()) GTEST_SKIP() << "this machine has a GPU";
  std::string error;
  EXPECT_TRUE(ListGpus(&error).empty());
  EXPECT_FALSE(error.empty());
}

TEST(GpusTest, DescribesEveryGpu) {
  if (!HaveGpu()) GTEST_SKIP() << "no GPU on this machine";
  for (const GpuDescription& gpu : ListGpus()) {
    EXPECT_FALSE(gpu.name.empty());
    EXPECT_GE(gpu.compute_major, 7);
    EXPECT_GT(gpu.multiprocessors, 0);
    EXPECT_GT(gpu.global_memory_bytes, int64_t{1} << 30);
    EXPECT_GT(gpu.driver_version, 0);
  }
}

// Compiled with -fmad=false: fused, the answer would keep the 2^-60 that rounding drops.
TEST(GpusTest, RoundsAProductBeforeTheSum) {
  if (!HaveGpu()) GTEST_SKIP() << "no GPU on this machine";
  const std::vector<double> x(1000, 1 + 0x1p-30);
  std::vector<double> y(1000, -1.0);
  const char* error = RunMultiplyThenAdd(x.data(), y.data(), 1000);
  ASSERT_EQ(error, nullptr) << error;
  for (const double value : y) ASSERT_EQ(value, 0x1p-29);
}

}  // namespace
}  // namespace assay
