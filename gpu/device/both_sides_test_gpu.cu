// SPDX-License-Identifier: Apache-2.0
// The GPU's half of both_sides_test.cc, where only types of neither side may pass.

#include <span>
#include <string>
#include <vector>

#include "gpu/device/device.h"
#include "gpu/device/doubled_for_test.h"

namespace assay::device {

std::vector<int> DoubledOnGpu(std::span<const int> x, std::string& error) {
  const absl::StatusOr<Device> device = Device::Open();
  const absl::StatusOr<std::vector<int>> y =
      device.ok() ? Doubled(*device, x) : absl::StatusOr<std::vector<int>>(device.status());
  error = y.status().ok() ? "" : y.status().ToString();
  return y.ok() ? *y : std::vector<int>();
}

}  // namespace assay::device
