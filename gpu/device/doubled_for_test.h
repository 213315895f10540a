// SPDX-License-Identifier: Apache-2.0
// Host code with a kernel, written once and compiled for both sides; both_sides_test has both.
#ifndef ASSAY_GPU_DEVICE_DOUBLED_FOR_TEST_H_
#define ASSAY_GPU_DEVICE_DOUBLED_FOR_TEST_H_

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu/device/device.h"

namespace assay::device {

// 2 x[i] for each i, computed by a kernel. Device is of one side or the other, and so there are two
// functions of this name.
absl::StatusOr<std::vector<int>> Doubled(const Device& device, std::span<const int> x);

}  // namespace assay::device

#endif  // ASSAY_GPU_DEVICE_DOUBLED_FOR_TEST_H_
