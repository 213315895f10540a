// SPDX-License-Identifier: Apache-2.0
// Devices, streams, events, graphs and launches of gpu/device over the simulator.

#include <utility>

#include "absl/strings/str_cat.h"
#include "gpu/device/device.h"
#include "gpu/device/internal/simulated_state.h"
#include "gpu/device/simulator.h"
#include "gpu/simt/limits.h"
#include "numerics/core/check.h"

namespace assay::device {
inline namespace on_simulator {
namespace internal {

absl::Status LaunchCall(const std::shared_ptr<StreamState>& stream, const LaunchConfig& config,
                        KernelCall call) {
  if (stream == nullptr) return EmptyObject("Launch");
  Context& context = *stream->context;
  // What the kernel itself needs is known when it runs; the rest is refused here, as CUDA does.
  simt::KernelResources resources;
  resources.max_dynamic_shared = config.dynamic_shared_bytes;
  absl::Status status = simt::CheckLaunch(
      context.architecture, context.options.multiprocessors, resources,
      {config.grid, config.block, config.dynamic_shared_bytes, config.cooperative});
  if (!status.ok()) return status;
  stream->Give([&context, config, call = std::move(call)] {
    simt::LaunchConfig simulated;
    simulated.grid = config.grid;
    simulated.block = config.block;
    simulated.dynamic_shared_bytes = static_cast<uint32_t>(config.dynamic_shared_bytes);
    simulated.cooperative = config.cooperative;
    simulated.compute_capability = context.options.compute_capability;
    simulated.multiprocessors = context.options.multiprocessors;
    simulated.resources.max_dynamic_shared = config.dynamic_shared_bytes;
    simulated.schedule = context.options.schedule;
    simulated.seed = context.options.seed;
    simulated.trace = context.options.trace;
    const simt::LaunchResult result = call(context.memory, simulated, context.options.random_runs);
    if (context.observer) context.observer(result);
    return result.status;
  });
  return absl::OkStatus();
}

}  // namespace internal

using either_side::EmptyObject;
using internal::Context;
using internal::EventState;
using internal::GraphState;
using internal::StreamState;

absl::StatusOr<Device> Device::Open(int index) {
  if (index != 0) {
    return absl::NotFoundError(
        absl::StrCat("there is no GPU ", index, "; the simulator has one, number 0"));
  }
  return OpenSimulator({});
}

absl::StatusOr<Device> OpenSimulator(const SimulatorOptions& options) {
  const absl::StatusOr<simt::Architecture> architecture =
      simt::FindArchitecture(options.compute_capability);
  if (!architecture.ok()) return architecture.status();
  if (options.multiprocessors < 1) {
    return absl::InvalidArgumentError(absl::StrCat("a device with ", options.multiprocessors,
                                                   " multiprocessors; expected at least 1"));
  }
  auto context = std::make_shared<Context>(options);
  context->architecture = *architecture;
  return Device(std::move(context));
}

GpuDescription Device::description() const {
  GpuDescription gpu;
  if (context_ == nullptr) return gpu;
  const SimulatorOptions& options = context_->options;
  gpu.name = absl::StrCat("simulated sm_", options.compute_capability);
  gpu.compute_major = options.compute_capability / 10;
  gpu.compute_minor = options.compute_capability % 10;
  gpu.multiprocessors = options.multiprocessors;
  gpu.global_memory_bytes = static_cast<int64_t>(options.memory_bytes);
  gpu.shared_memory_per_multiprocessor_bytes = context_->architecture.shared_per_sm;
  gpu.registers_per_multiprocessor = simt::Architecture::kRegistersPerSm;
  return gpu;
}

DeviceLimits Device::limits() const {
  DeviceLimits limits;
  if (context_ == nullptr) return limits;
  limits.threads_per_block = simt::Architecture::kMaxThreadsPerBlock;
  // The same on every architecture: CUDA C++ Programming Guide, "Technical Specifications per
  // Compute Capability".
  limits.block = Dim3(1024, 1024, 64);
  limits.grid = Dim3(2147483647, 65535, 65535);
  limits.shared_bytes_per_block = simt::Architecture::kSharedPerBlock;
  limits.shared_bytes_per_block_opt_in = context_->architecture.shared_opt_in;
  limits.registers_per_block = simt::Architecture::kRegistersPerBlock;
  limits.warp_threads = simt::Architecture::kWarp;
  return limits;
}

absl::StatusOr<MemoryInfo> Device::Memory() const {
  if (context_ == nullptr) return EmptyObject("Device::Memory");
  const int64_t total = static_cast<int64_t>(context_->memory.capacity_bytes());
  return MemoryInfo{total - static_cast<int64_t>(context_->memory.used_bytes()), total};
}

LiveMemory Device::live() const {
  return context_ == nullptr ? LiveMemory() : context_->live.live();
}

absl::Status Device::Synchronize() {
  if (context_ == nullptr) return EmptyObject("Device::Synchronize");
  absl::Status status = context_->OutsideCapture("Device::Synchronize");
  if (!status.ok()) return status;
  context_->RunAll();
  return context_->errors.Take();
}

absl::StatusOr<Stream> Stream::Create(const Device& device) {
  if (device.context() == nullptr) return EmptyObject("Stream::Create");
  return Stream(std::make_shared<StreamState>(device.context()));
}

absl::Status Stream::Synchronize() {
  if (state_ == nullptr) return EmptyObject("Stream::Synchronize");
  absl::Status status = state_->context->OutsideCapture("Stream::Synchronize");
  if (!status.ok()) return status;
  state_->RunUpTo(state_->given);
  return state_->context->errors.Peek();
}

absl::Status Stream::Wait(const Event& event) {
  if (state_ == nullptr || event.state() == nullptr) return EmptyObject("Stream::Wait");
  absl::Status status = state_->context->OutsideCapture("Stream::Wait");
  if (!status.ok() || !event.state()->recorded) return status;
  // The mark as it is now: the event may be recorded again before this runs.
  state_->Give([mark = *event.state()] {
    mark.Run();
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

absl::StatusOr<Event> Event::Create(const Device& device) {
  if (device.context() == nullptr) return EmptyObject("Event::Create");
  auto event = std::make_shared<EventState>();
  event->context = device.context();
  return Event(std::move(event));
}

absl::Status Event::Record(Stream& stream) {
  if (state_ == nullptr || stream.state() == nullptr) return EmptyObject("Event::Record");
  absl::Status status = state_->context->OutsideCapture("Event::Record");
  if (!status.ok()) return status;
  state_->stream = stream.state();
  state_->position = stream.state()->given;
  state_->recorded = true;
  return absl::OkStatus();
}

absl::Status Event::Synchronize() {
  if (state_ == nullptr) return EmptyObject("Event::Synchronize");
  absl::Status status = state_->context->OutsideCapture("Event::Synchronize");
  if (!status.ok()) return status;
  state_->Run();
  return state_->context->errors.Peek();
}

absl::StatusOr<double> Event::SecondsSince(const Event& start) const {
  if (state_ == nullptr || start.state_ == nullptr) return EmptyObject("Event::SecondsSince");
  if (!state_->recorded || !start.state_->recorded) return either_side::NeverRecorded();
  absl::Status status = state_->context->OutsideCapture("Event::SecondsSince");
  if (!status.ok()) return status;
  start.state_->Run();
  state_->Run();
  status = state_->context->errors.Peek();
  if (!status.ok()) return status;
  return 0.0;
}

absl::StatusOr<Graph> Graph::Capture(Stream& stream,
                                     absl::FunctionRef<absl::Status(Stream&)> work) {
  if (stream.state() == nullptr) return EmptyObject("Graph::Capture");
  StreamState& state = *stream.state();
  absl::Status status = state.context->OutsideCapture("Graph::Capture");
  if (!status.ok()) return status;
  auto graph = std::make_shared<GraphState>();
  graph->context = state.context;
  state.capture = graph.get();
  state.context->capturing = true;
  status = work(stream);
  state.context->capturing = false;
  state.capture = nullptr;
  if (!status.ok()) return status;
  return Graph(std::move(graph));
}

absl::Status Graph::Replay(Stream& stream) {
  if (state_ == nullptr || stream.state() == nullptr) return EmptyObject("Graph::Replay");
  for (const internal::Operation& operation : state_->operations) {
    stream.state()->Give(operation);
  }
  return absl::OkStatus();
}

int64_t Graph::size() const {
  return state_ == nullptr ? 0 : static_cast<int64_t>(state_->operations.size());
}

void OnLaunch(Device& device, std::function<void(const simt::LaunchResult&)> observer) {
  if (device.context() != nullptr) device.context()->observer = std::move(observer);
}

simt::DeviceMemory& SimulatedMemory(Device& device) {
  ASSAY_CHECK(device.context() != nullptr);
  return device.context()->memory;
}

std::vector<simt::Diagnostic> Leaks(Device& device) {
  if (device.context() == nullptr) return {};
  device.context()->RunAll();
  return device.context()->memory.Leaks();
}

}  // namespace on_simulator
}  // namespace assay::device
