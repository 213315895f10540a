// SPDX-License-Identifier: Apache-2.0
// One program with the simulator and the CUDA runtime in it, and one function on each.

#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "gpu/device/device.h"
#include "gpu/device/doubled_for_test.h"
#include "gpu/device/gpus.h"
#include "gtest/gtest.h"

namespace assay::device {

std::vector<int> DoubledOnGpu(std::span<const int> x, std::string& error);

namespace {

std::vector<int> Counting() {
  std::vector<int> x(1000);
  std::iota(x.begin(), x.end(), -500);
  return x;
}

TEST(BothSidesTest, TheSimulatorDoubles) {
  const std::vector<int> x = Counting();
  const absl::StatusOr<Device> device = Device::Open();
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(device->description().name, "simulated sm_75");
  const absl::StatusOr<std::vector<int>> y = Doubled(*device, x);
  ASSERT_TRUE(y.ok()) << y.status();
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ((*y)[i], 2 * x[i]);
}

TEST(BothSidesTest, TheGpuDoublesOrSaysThatItIsMissing) {
  const std::vector<int> x = Counting();
  std::string error;
  const std::vector<int> y = DoubledOnGpu(x, error);
  if (!HaveGpu()) {
    EXPECT_NE(error.find("there is no GPU 0"), std::string::npos) << error;
    GTEST_SKIP() << error;
  }
  ASSERT_EQ(error, "");
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], 2 * x[i]);
}

}  // namespace
}  // namespace assay::device
