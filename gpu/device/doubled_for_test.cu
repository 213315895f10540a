// SPDX-License-Identifier: Apache-2.0
#include "gpu/device/doubled_for_test.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "gpu/device/buffer.h"
#include "gpu/simt/simt.h"

namespace assay::device {
namespace {

using simt::gptr;

__global__ void Double(gptr<const int> x, gptr<int> y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = 2 * x[i];
}

}  // namespace

absl::StatusOr<std::vector<int>> Doubled(const Device& device, std::span<const int> x) {
  const int n = static_cast<int>(x.size());
  absl::StatusOr<Stream> stream = Stream::Create(device);
  if (!stream.ok()) return stream.status();
  absl::StatusOr<DeviceBuffer<int>> in = DeviceBuffer<int>::CreateFrom(device, x, "x");
  if (!in.ok()) return in.status();
  absl::StatusOr<DeviceBuffer<int>> out = DeviceBuffer<int>::Create(device, x.size(), "y");
  if (!out.ok()) return out.status();
  const uint32_t blocks = static_cast<uint32_t>((n + 127) / 128);
  absl::Status status =
      Launch(*stream, {.grid = blocks, .block = 128}, Double, in->data(), out->data(), n);
  if (!status.ok()) return status;
  return out->ToHost();
}

}  // namespace assay::device
