// SPDX-License-Identifier: Apache-2.0
//
// What the probes share.
#ifndef ASSAY_TOOLS_MEASURE_GPU_BENCH_H_
#define ASSAY_TOOLS_MEASURE_GPU_BENCH_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gpu/device/buffer.h"
#include "gpu/device/device.h"
#include "tools/measure_gpu/probe.h"

#define RETURN_IF_ERROR(expression)                    \
  do {                                                 \
    absl::Status returned_status = (expression);       \
    if (!returned_status.ok()) return returned_status; \
  } while (false)

namespace assay::measure_gpu {

inline constexpr int kThreads = 256;

// DataLoss where they differ.
template <class T>
absl::Status Expect(absl::string_view what, int64_t at, T found, T expected) {
  if (found == expected) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(what, ": value ", at, " is ", found, "; expected ", expected));
}

// What every probe has: a stream, a buffer for the cycles, blocks for the whole machine.
struct Bench {
  device::Stream stream;
  device::DeviceBuffer<long long> cycles;
  uint32_t blocks = 0;
  int64_t threads = 0;
};

absl::StatusOr<Bench> Prepare(device::Device& device, const Effort& effort);

// probe.cycles from bench.cycles.
absl::Status TakeCycles(const Bench& bench, Probe& probe);

absl::StatusOr<Probe> ProbeFmaF32(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeFmaF16(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeMmaF16(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeMmaF16Wide(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeMmaS8(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeMmaS8Wide(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeCopy(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeTriad(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeDramRead(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeWrite(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeL2Read(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeL1Read(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeSharedRead(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeSharedLatency(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeL1Latency(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeL2Latency(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeDramLatency(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeLaunchStream(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeLaunchGraph(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeRoundTrip(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeToDevicePinned(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeToHostPinned(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeToDevice(device::Device& device, const Effort& effort);
absl::StatusOr<Probe> ProbeToHost(device::Device& device, const Effort& effort);

}  // namespace assay::measure_gpu

#endif  // ASSAY_TOOLS_MEASURE_GPU_BENCH_H_
