// SPDX-License-Identifier: Apache-2.0
#include "tools/measure_gpu/probe.h"

#include <algorithm>
#include <span>
#include <utility>

#include "gpu/device/buffer.h"
#include "tools/measure_gpu/bench.h"

namespace assay::measure_gpu {
using device::Device;
using device::DeviceBuffer;
using device::Event;
using device::Stream;

absl::StatusOr<Bench> Prepare(Device& device, const Effort& effort) {
  Bench bench;
  absl::StatusOr<Stream> stream = Stream::Create(device);
  if (!stream.ok()) return stream.status();
  bench.stream = *std::move(stream);
  absl::StatusOr<DeviceBuffer<long long>> cycles =
      DeviceBuffer<long long>::Create(device, 1, "cycles");
  if (!cycles.ok()) return cycles.status();
  bench.cycles = *std::move(cycles);
  bench.blocks = static_cast<uint32_t>(device.description().multiprocessors * effort.blocks_per_sm);
  bench.threads = int64_t{bench.blocks} * kThreads;
  return bench;
}

absl::Status TakeCycles(const Bench& bench, Probe& probe) {
  long long cycles = 0;
  RETURN_IF_ERROR(bench.cycles.CopyTo(std::span<long long>(&cycles, 1)));
  probe.cycles = static_cast<double>(cycles);
  return absl::OkStatus();
}

absl::Status Time(Device& device, Stream& stream, const Effort& effort,
                  absl::FunctionRef<absl::Status(Stream&)> work, Probe& probe) {
  absl::StatusOr<Event> start = Event::Create(device);
  if (!start.ok()) return start.status();
  absl::StatusOr<Event> stop = Event::Create(device);
  if (!stop.ok()) return stop.status();
  const auto sample = [&](int64_t runs) -> absl::StatusOr<double> {
    RETURN_IF_ERROR(start->Record(stream));
    for (int64_t i = 0; i < runs; ++i) RETURN_IF_ERROR(work(stream));
    RETURN_IF_ERROR(stop->Record(stream));
    RETURN_IF_ERROR(stream.Synchronize());
    return stop->SecondsSince(*start);
  };
  // The first run alone would measure the loading of the kernel.
  absl::StatusOr<double> seconds = sample(1);
  int64_t runs = 1;
  while (seconds.ok() && runs < effort.max_runs) {
    seconds = sample(runs);
    if (!seconds.ok() || *seconds >= effort.sample_seconds) break;
    runs = std::min(2 * runs, effort.max_runs);
  }
  if (!seconds.ok()) return seconds.status();
  probe.runs_per_sample = runs;
  probe.seconds.clear();
  for (int i = -effort.warm_up; i < effort.samples; ++i) {
    seconds = sample(runs);
    if (!seconds.ok()) return seconds.status();
    if (i >= 0) probe.seconds.push_back(*seconds / static_cast<double>(runs));
  }
  return device.Synchronize();
}

const std::vector<NamedProbe>& Probes() {
  static const std::vector<NamedProbe>* const kProbes = new std::vector<NamedProbe>{
      {"fma_f32", ProbeFmaF32},
      {"fma_f16", ProbeFmaF16},
      {"mma_f16_m16n8k8", ProbeMmaF16},
      {"mma_f16_m16n8k16", ProbeMmaF16Wide},
      {"mma_s8_m8n8k16", ProbeMmaS8},
      {"mma_s8_m16n8k32", ProbeMmaS8Wide},
      {"dram_copy", ProbeCopy},
      {"dram_triad", ProbeTriad},
      {"dram_read", ProbeDramRead},
      {"dram_write", ProbeWrite},
      {"l2_read", ProbeL2Read},
      {"l1_read", ProbeL1Read},
      {"shared_read", ProbeSharedRead},
      {"shared_latency", ProbeSharedLatency},
      {"l1_latency", ProbeL1Latency},
      {"l2_latency", ProbeL2Latency},
      {"dram_latency", ProbeDramLatency},
      {"launch_stream", ProbeLaunchStream},
      {"launch_graph", ProbeLaunchGraph},
      {"launch_round_trip", ProbeRoundTrip},
      {"host_to_device_pinned", ProbeToDevicePinned},
      {"device_to_host_pinned", ProbeToHostPinned},
      {"host_to_device", ProbeToDevice},
      {"device_to_host", ProbeToHost},
  };
  return *kProbes;
}

}  // namespace assay::measure_gpu
