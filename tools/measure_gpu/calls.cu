// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "gpu/device/buffer.h"
#include "gpu/simt/simt.h"
#include "tools/measure_gpu/bench.h"
#include "tools/measure_gpu/reference.h"

namespace assay::measure_gpu {
using device::Device;
using device::DeviceBuffer;
using device::Graph;
using device::PinnedBuffer;
using device::Stream;

namespace {

__global__ void Nothing() {}

}  // namespace

// ---- Launches.

absl::StatusOr<Probe> ProbeLaunchStream(Device& device, const Effort& effort) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  Probe probe{.id = "launch_stream", .title = "empty kernels, one after another in a stream"};
  probe.checked = false;
  probe.steps = effort.launches;
  const auto work = [&](Stream& stream) {
    for (int i = 0; i < effort.launches; ++i) RETURN_IF_ERROR(Launch(stream, {}, Nothing));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  return probe;
}

absl::StatusOr<Probe> ProbeLaunchGraph(Device& device, const Effort& effort) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  Probe probe{.id = "launch_graph", .title = "empty kernels, one after another in a graph"};
  probe.checked = false;
  probe.steps = effort.launches;
  absl::StatusOr<Graph> graph = Graph::Capture(bench->stream, [&](Stream& stream) {
    for (int i = 0; i < effort.launches; ++i) RETURN_IF_ERROR(Launch(stream, {}, Nothing));
    return absl::OkStatus();
  });
  if (!graph.ok()) return graph.status();
  RETURN_IF_ERROR(Expect<int64_t>("kernels in the graph", 0, graph->size(), effort.launches));
  RETURN_IF_ERROR(Time(
      device, bench->stream, effort, [&](Stream& stream) { return graph->Replay(stream); }, probe));
  return probe;
}

// ---- What the host's clock times: calls that return when the work is done.

namespace {

double Now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

absl::Status TimeByHost(const Effort& effort, absl::FunctionRef<absl::Status()> work,
                        Probe& probe) {
  probe.runs_per_sample = 1;
  for (int i = -effort.warm_up; i < effort.samples; ++i) {
    const double begin = Now();
    RETURN_IF_ERROR(work());
    const double seconds = Now() - begin;
    if (i >= 0) probe.seconds.push_back(seconds);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Probe> ProbeRoundTrip(Device& device, const Effort& effort) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  Probe probe{.id = "launch_round_trip", .title = "an empty kernel, launched and waited for"};
  probe.checked = false;
  probe.steps = 1;
  const auto work = [&]() {
    RETURN_IF_ERROR(Launch(bench->stream, {}, Nothing));
    return bench->stream.Synchronize();
  };
  RETURN_IF_ERROR(TimeByHost(effort, work, probe));
  return probe;
}

// ---- Transfers.

namespace {

std::vector<uint32_t> Words(int64_t n) {
  std::vector<uint32_t> words(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) words[static_cast<size_t>(i)] = WordAt(i);
  return words;
}

absl::Status ExpectWords(const Probe& probe, std::span<const uint32_t> found) {
  for (size_t i = 0; i < found.size(); ++i) {
    RETURN_IF_ERROR(
        Expect(probe.id, static_cast<int64_t>(i), found[i], WordAt(static_cast<int64_t>(i))));
  }
  return absl::OkStatus();
}

absl::StatusOr<Probe> ProbeTransfer(Device& device, const Effort& effort, bool in, bool pinned) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  Probe probe;
  probe.id = absl::StrCat(in ? "host_to_device" : "device_to_host", pinned ? "_pinned" : "");
  probe.title = absl::StrCat(in ? "host to device" : "device to host",
                             pinned ? ", pinned memory" : ", ordinary memory");
  const int64_t n = effort.transfer_bytes / 4;
  probe.bytes = 4.0 * static_cast<double>(n);
  std::vector<uint32_t> host = Words(n);
  absl::StatusOr<DeviceBuffer<uint32_t>> x = DeviceBuffer<uint32_t>::CreateFrom(device, host, "x");
  if (!x.ok()) return x.status();
  absl::StatusOr<PinnedBuffer<uint32_t>> fixed =
      PinnedBuffer<uint32_t>::Create(device, pinned ? host.size() : 0);
  if (!fixed.ok()) return fixed.status();
  if (in) {
    RETURN_IF_ERROR(x->Zero());
    std::copy_n(host.begin(), fixed->size(), fixed->span().begin());
  } else {
    std::fill(host.begin(), host.end(), 0u);
  }
  if (pinned) {
    RETURN_IF_ERROR(Time(
        device, bench->stream, effort,
        [&](Stream& stream) {
          return in ? x->CopyFrom(stream, *fixed) : x->CopyTo(stream, *fixed);
        },
        probe));
  } else {
    RETURN_IF_ERROR(TimeByHost(
        effort, [&]() { return in ? x->CopyFrom(host) : x->CopyTo(host); }, probe));
  }
  if (in) {
    const absl::StatusOr<std::vector<uint32_t>> arrived = x->ToHost();
    if (!arrived.ok()) return arrived.status();
    RETURN_IF_ERROR(ExpectWords(probe, *arrived));
  } else if (pinned) {
    RETURN_IF_ERROR(bench->stream.Synchronize());
    RETURN_IF_ERROR(ExpectWords(probe, fixed->span()));
  } else {
    RETURN_IF_ERROR(ExpectWords(probe, host));
  }
  return probe;
}

}  // namespace

absl::StatusOr<Probe> ProbeToDevicePinned(Device& device, const Effort& effort) {
  return ProbeTransfer(device, effort, true, true);
}
absl::StatusOr<Probe> ProbeToHostPinned(Device& device, const Effort& effort) {
  return ProbeTransfer(device, effort, false, true);
}
absl::StatusOr<Probe> ProbeToDevice(Device& device, const Effort& effort) {
  return ProbeTransfer(device, effort, true, false);
}
absl::StatusOr<Probe> ProbeToHost(Device& device, const Effort& effort) {
  return ProbeTransfer(device, effort, false, false);
}

}  // namespace assay::measure_gpu
