// SPDX-License-Identifier: Apache-2.0
// Devices, streams, events, graphs and launches of gpu/device over the CUDA runtime.

#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpu/device/device.h"
#include "gpu/device/internal/cuda_state.h"
#include "gpu/simt/limits.h"

namespace assay::device {
inline namespace on_cuda {
namespace internal {

namespace {

// CUDA's error for a launch says neither which limit nor by how much. This asks our own account of
// the limits, after the fact, so that a launch that succeeds pays nothing.
absl::Status Explain(absl::Status refused, const Context& context, const void* kernel,
                     const LaunchConfig& config) {
  const GpuDescription& gpu = context.description;
  const absl::StatusOr<simt::Architecture> architecture =
      simt::FindArchitecture(10 * gpu.compute_major + gpu.compute_minor);
  cudaFuncAttributes attributes;
  if (!architecture.ok() ||
      !StatusOf(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes").ok()) {
    return refused;
  }
  simt::KernelResources resources;
  resources.registers = attributes.numRegs;
  resources.static_shared = static_cast<int64_t>(attributes.sharedSizeBytes);
  resources.max_threads = attributes.maxThreadsPerBlock;
  resources.max_dynamic_shared = attributes.maxDynamicSharedSizeBytes;
  const absl::Status why = simt::CheckLaunch(
      *architecture, gpu.multiprocessors, resources,
      {config.grid, config.block, config.dynamic_shared_bytes, config.cooperative});
  if (why.ok()) return refused;
  return absl::Status(why.code(), absl::StrCat(refused.message(), " (", why.message(), ")"));
}

}  // namespace

absl::Status LaunchKernel(const std::shared_ptr<StreamState>& stream, const LaunchConfig& config,
                          const void* kernel, void** arguments) {
  absl::Status status = Use(stream, "Launch");
  if (!status.ok()) return status;
  const Context& context = *stream->context;
  if (config.dynamic_shared_bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat("Launch with ", config.dynamic_shared_bytes,
                                                   " bytes of dynamic shared memory; expected at "
                                                   "least 0"));
  }
  if (config.dynamic_shared_bytes > context.limits.shared_bytes_per_block &&
      config.dynamic_shared_bytes <= context.limits.shared_bytes_per_block_opt_in) {
    status = StatusOf(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(config.dynamic_shared_bytes)),
                      "cudaFuncSetAttribute to ", config.dynamic_shared_bytes,
                      " bytes of dynamic shared memory");
    if (!status.ok()) return Explain(status, context, kernel, config);
  }
  const dim3 grid(config.grid.x, config.grid.y, config.grid.z);
  const dim3 block(config.block.x, config.block.y, config.block.z);
  const size_t shared = static_cast<size_t>(config.dynamic_shared_bytes);
  status = config.cooperative
               ? StatusOf(cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared,
                                                      stream->stream),
                          "cudaLaunchCooperativeKernel")
               : StatusOf(cudaLaunchKernel(kernel, grid, block, arguments, shared, stream->stream),
                          "cudaLaunchKernel");
  return status.ok() ? status : Explain(status, context, kernel, config);
}

}  // namespace internal

using internal::Context;
using internal::EventState;
using internal::GraphState;
using internal::StatusOf;
using internal::StreamState;
using internal::Use;

absl::StatusOr<Device> Device::Open(int index) {
  auto context = std::make_shared<Context>();
  std::string error;
  const std::vector<GpuDescription> gpus = ListGpus(&error);
  if (index < 0 || static_cast<size_t>(index) >= gpus.size()) {
    return absl::NotFoundError(absl::StrCat("there is no GPU ", index, "; this machine has ",
                                            gpus.size(), error.empty() ? "" : ": ", error));
  }
  context->index = index;
  context->description = gpus[static_cast<size_t>(index)];
  absl::Status status = context->Use();
  if (!status.ok()) return status;
  const auto attribute = [&](cudaDeviceAttr which) -> int64_t {
    int value = 0;
    if (status.ok()) {
      status = StatusOf(cudaDeviceGetAttribute(&value, which, index), "cudaDeviceGetAttribute of ",
                        static_cast<int>(which));
    }
    return value;
  };
  DeviceLimits& limits = context->limits;
  limits.threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock);
  const auto extent = [&](cudaDeviceAttr x, cudaDeviceAttr y, cudaDeviceAttr z) {
    return Dim3(static_cast<uint32_t>(attribute(x)), static_cast<uint32_t>(attribute(y)),
                static_cast<uint32_t>(attribute(z)));
  };
  limits.block = extent(cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ);
  limits.grid = extent(cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ);
  limits.shared_bytes_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  limits.shared_bytes_per_block_opt_in = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  limits.registers_per_block = attribute(cudaDevAttrMaxRegistersPerBlock);
  limits.warp_threads = attribute(cudaDevAttrWarpSize);
  if (!status.ok()) return status;
  return Device(std::move(context));
}

GpuDescription Device::description() const {
  return context_ == nullptr ? GpuDescription() : context_->description;
}

DeviceLimits Device::limits() const {
  return context_ == nullptr ? DeviceLimits() : context_->limits;
}

absl::StatusOr<MemoryInfo> Device::Memory() const {
  if (context_ == nullptr) return either_side::EmptyObject("Device::Memory");
  absl::Status status = context_->Use();
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (status.ok()) status = StatusOf(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  if (!status.ok()) return status;
  return MemoryInfo{static_cast<int64_t>(free_bytes), static_cast<int64_t>(total_bytes)};
}

LiveMemory Device::live() const {
  return context_ == nullptr ? LiveMemory() : context_->live.live();
}

absl::Status Device::Synchronize() {
  if (context_ == nullptr) return either_side::EmptyObject("Device::Synchronize");
  absl::Status status = context_->Use();
  if (status.ok()) status = StatusOf(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  // What was kept came first.
  const absl::Status kept = context_->errors.Take();
  return kept.ok() ? status : kept;
}

absl::StatusOr<Stream> Stream::Create(const Device& device) {
  if (device.context() == nullptr) return either_side::EmptyObject("Stream::Create");
  absl::Status status = device.context()->Use();
  cudaStream_t stream = nullptr;
  if (status.ok()) status = StatusOf(cudaStreamCreate(&stream), "cudaStreamCreate");
  if (!status.ok()) return status;
  return Stream(std::shared_ptr<StreamState>(new StreamState{device.context(), stream}));
}

absl::Status Stream::Synchronize() {
  absl::Status status = Use(state_, "Stream::Synchronize");
  if (!status.ok()) return status;
  return state_->context->AfterWaiting(
      StatusOf(cudaStreamSynchronize(state_->stream), "cudaStreamSynchronize"));
}

absl::Status Stream::Wait(const Event& event) {
  absl::Status status = Use(state_, "Stream::Wait");
  if (status.ok()) status = Use(event.state(), "Stream::Wait for an event");
  if (!status.ok()) return status;
  return StatusOf(cudaStreamWaitEvent(state_->stream, event.state()->event, 0),
                  "cudaStreamWaitEvent");
}

absl::StatusOr<Event> Event::Create(const Device& device) {
  if (device.context() == nullptr) return either_side::EmptyObject("Event::Create");
  absl::Status status = device.context()->Use();
  cudaEvent_t event = nullptr;
  if (status.ok()) status = StatusOf(cudaEventCreate(&event), "cudaEventCreate");
  if (!status.ok()) return status;
  return Event(std::shared_ptr<EventState>(new EventState{device.context(), event}));
}

absl::Status Event::Record(Stream& stream) {
  absl::Status status = Use(state_, "Event::Record");
  if (status.ok()) status = Use(stream.state(), "Event::Record in a stream");
  if (status.ok()) {
    status = StatusOf(cudaEventRecord(state_->event, stream.state()->stream), "cudaEventRecord");
  }
  if (status.ok()) state_->recorded = true;
  return status;
}

absl::Status Event::Synchronize() {
  absl::Status status = Use(state_, "Event::Synchronize");
  if (!status.ok()) return status;
  return state_->context->AfterWaiting(
      StatusOf(cudaEventSynchronize(state_->event), "cudaEventSynchronize"));
}

absl::StatusOr<double> Event::SecondsSince(const Event& start) const {
  absl::Status status = Use(start.state_, "Event::SecondsSince another event");
  if (status.ok()) status = Use(state_, "Event::SecondsSince");
  if (!status.ok()) return status;
  if (!state_->recorded || !start.state_->recorded) return either_side::NeverRecorded();
  for (const Event* event : {&start, this}) {
    status = StatusOf(cudaEventSynchronize(event->state_->event), "cudaEventSynchronize");
    if (!status.ok()) return status;
  }
  float milliseconds = 0;
  status = StatusOf(cudaEventElapsedTime(&milliseconds, start.state_->event, state_->event),
                    "cudaEventElapsedTime");
  if (!status.ok()) return status;
  return double{milliseconds} * 1e-3;
}

absl::StatusOr<Graph> Graph::Capture(Stream& stream,
                                     absl::FunctionRef<absl::Status(Stream&)> work) {
  absl::Status status = Use(stream.state(), "Graph::Capture");
  if (status.ok()) {
    status =
        StatusOf(cudaStreamBeginCapture(stream.state()->stream, cudaStreamCaptureModeThreadLocal),
                 "cudaStreamBeginCapture");
  }
  if (!status.ok()) return status;
  auto graph = std::make_shared<GraphState>();
  graph->context = stream.state()->context;
  const absl::Status worked = work(stream);
  // The capture ends whatever happened in it.
  status =
      StatusOf(cudaStreamEndCapture(stream.state()->stream, &graph->graph), "cudaStreamEndCapture");
  if (!worked.ok()) return worked;
  if (status.ok()) {
    status = StatusOf(cudaGraphGetNodes(graph->graph, nullptr, &graph->nodes), "cudaGraphGetNodes");
  }
  if (status.ok()) {
    status = StatusOf(cudaGraphInstantiateWithFlags(&graph->executable, graph->graph, 0),
                      "cudaGraphInstantiateWithFlags");
  }
  if (!status.ok()) return status;
  return Graph(std::move(graph));
}

absl::Status Graph::Replay(Stream& stream) {
  absl::Status status = Use(state_, "Graph::Replay");
  if (status.ok()) status = Use(stream.state(), "Graph::Replay in a stream");
  if (!status.ok()) return status;
  return StatusOf(cudaGraphLaunch(state_->executable, stream.state()->stream), "cudaGraphLaunch");
}

int64_t Graph::size() const { return state_ == nullptr ? 0 : static_cast<int64_t>(state_->nodes); }

}  // namespace on_cuda
}  // namespace assay::device
