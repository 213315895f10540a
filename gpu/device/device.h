// SPDX-License-Identifier: Apache-2.0
//
// One host API over the CUDA runtime and over the simulator: host code is written once and compiled
// twice. nvcc gives it a GPU, g++ and emcc give it gpu/simt; the names are the same, and an inline
// namespace keeps the two apart, so that one program may hold both.
//
//   absl::StatusOr<Device> device = Device::Open();  // each may fail: if (!device.ok()) return ...
//   absl::StatusOr<Stream> stream = Stream::Create(*device);
//   absl::StatusOr<DeviceBuffer<float>> x = DeviceBuffer<float>::CreateFrom(*device, host, "x");
//   absl::Status status = Launch(*stream, {.grid = 4, .block = 256}, Scale, x->data(), 2.0f, n);
//   status = x->CopyTo(host);  // waits for what was launched before
//
// Errors. Nothing throws. A call that knows at once what is wrong returns it: bad sizes are
// InvalidArgument or OutOfRange with what was given and what was expected, lack of memory is
// ResourceExhausted; CUDA's errors keep its name, its text and the call ("cudaMalloc of 8 bytes:
// cudaErrorMemoryAllocation: out of memory"). What nobody was told, a kernel that failed after its
// launch or a destructor that could not free, is kept in the device (the first one only): every
// call that waits returns it and leaves outputs untouched; Device::Synchronize() forgets it. A GPU
// refuses everything after a kernel has faulted; the simulator goes on.
//
// Order. Work of one stream runs in the order it was given. Work of two streams is unordered unless
// an event orders it. Calls without a stream come after everything given before them, in all
// streams, and before everything after. The simulator runs streams as late as it can, which shows
// where an event is missing (gpu/device/simulator.h).
//
// Ownership. Buffers, streams, events and graphs own what they hold, move and do not copy, and keep
// the device open. A moved-from or default-constructed object is empty: size 0, and a call that
// needs a device returns FailedPrecondition. No object may be used by two threads at a time.
#ifndef ASSAY_GPU_DEVICE_DEVICE_H_
#define ASSAY_GPU_DEVICE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu/device/gpus.h"
#include "gpu/device/internal/common.h"
#include "gpu/device/internal/side.h"
#include "gpu/simt/dim3.h"

#if !defined(__CUDACC__)
#include "gpu/simt/launch.h"
#include "gpu/simt/memory.h"
#endif

namespace assay::device {

struct DeviceLimits {
  int64_t threads_per_block = 0;
  Dim3 block = Dim3(0, 0, 0);                 // most threads of a block along each axis
  Dim3 grid = Dim3(0, 0, 0);                  // most blocks along each axis
  int64_t shared_bytes_per_block = 0;         // static, or dynamic without asking
  int64_t shared_bytes_per_block_opt_in = 0;  // dynamic; Launch asks where it must
  int64_t registers_per_block = 0;            // of 32 bits
  int64_t warp_threads = 0;
};

struct MemoryInfo {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

#if defined(__CUDACC__)
inline namespace on_cuda {
#else
inline namespace on_simulator {
#endif

// A GPU that is open. Copies of a Device are the same device.
class Device {
 public:
  Device() = default;
  explicit Device(std::shared_ptr<internal::Context> context) : context_(std::move(context)) {}

  // Opens the GPU with this index in CUDA's order; the simulator has one, 0.
  // Fails: NotFound where there is no such GPU (or no driver), with CUDA's words for why.
  static absl::StatusOr<Device> Open(int index = 0);

  // Empty for an empty Device.
  GpuDescription description() const;
  DeviceLimits limits() const;

  // What other programs use counts as well on a GPU. Cost on a GPU: some microseconds.
  absl::StatusOr<MemoryInfo> Memory() const;

  // The buffers, device and pinned, that were made on this device and are alive.
  LiveMemory live() const;

  // Waits for everything that was given to the device. Returns the first error that no call has
  // returned so far, and forgets it.
  absl::Status Synchronize();

  const std::shared_ptr<internal::Context>& context() const { return context_; }

 private:
  std::shared_ptr<internal::Context> context_;
};

class Event;

// A queue of work for the GPU.
class Stream {
 public:
  Stream() = default;
  Stream(Stream&&) = default;
  Stream& operator=(Stream&&) = default;

  static absl::StatusOr<Stream> Create(const Device& device);

  // Waits until all work given to this stream is done.
  absl::Status Synchronize();

  // Work given to this stream from now on waits for the event; nothing where it was never recorded.
  absl::Status Wait(const Event& event);

  const std::shared_ptr<internal::StreamState>& state() const { return state_; }

 private:
  explicit Stream(std::shared_ptr<internal::StreamState> state) : state_(std::move(state)) {}

  std::shared_ptr<internal::StreamState> state_;
};

// A point in a stream, with the time at which it was reached.
class Event {
 public:
  Event() = default;
  Event(Event&&) = default;
  Event& operator=(Event&&) = default;

  static absl::StatusOr<Event> Create(const Device& device);

  // Marks the work given to `stream` so far; an earlier mark is forgotten.
  absl::Status Record(Stream& stream);

  // Waits until the marked work is done; at once where nothing was marked.
  absl::Status Synchronize();

  // The time between two marks, in seconds; waits for both. On a GPU with a resolution of about
  // half a microsecond. The simulator has no clock: always 0; gpu/model predicts times.
  // Fails: FailedPrecondition where one of them was never recorded.
  absl::StatusOr<double> SecondsSince(const Event& start) const;

  const std::shared_ptr<internal::EventState>& state() const { return state_; }

 private:
  explicit Event(std::shared_ptr<internal::EventState> state) : state_(std::move(state)) {}

  std::shared_ptr<internal::EventState> state_;
};

// Work of one stream, captured once and replayed as often as wanted, each time for the cost of one
// launch. It holds the addresses of its buffers: they must outlive its replays.
class Graph {
 public:
  Graph() = default;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  // Calls `work(stream)` and captures what it gives to the stream instead of running it. Calls that
  // wait or that have no stream are refused meanwhile, and so are allocations.
  // Fails: what `work` returned; FailedPrecondition where the stream is being captured already.
  static absl::StatusOr<Graph> Capture(Stream& stream,
                                       absl::FunctionRef<absl::Status(Stream&)> work);

  // Gives the captured work to `stream`.
  absl::Status Replay(Stream& stream);

  // Kernels, copies and fills that were captured.
  int64_t size() const;

 private:
  explicit Graph(std::shared_ptr<internal::GraphState> state) : state_(std::move(state)) {}

  std::shared_ptr<internal::GraphState> state_;
};

// Runs `kernel` on config.grid blocks of config.block threads, in the stream; returns before it is
// done. Arguments are converted to the kernel's parameters, as in a call.
// Fails: InvalidArgument for a launch beyond a limit, which is named; FailedPrecondition for an
// empty stream.
template <class... Parameters, class... Arguments>
absl::Status Launch(Stream& stream, const LaunchConfig& config, void (*kernel)(Parameters...),
                    Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "the kernel takes another number of arguments");
  std::tuple<std::decay_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
#if defined(__CUDACC__)
  return std::apply(
      [&](auto&... value) {
        void* addresses[] = {static_cast<void*>(&value)..., nullptr};
        return internal::LaunchKernel(stream.state(), config, reinterpret_cast<void*>(kernel),
                                      addresses);
      },
      values);
#else
  return internal::LaunchCall(
      stream.state(), config,
      [kernel, values = std::move(values)](simt::DeviceMemory& memory,
                                           const simt::LaunchConfig& simulated, int random_runs) {
        return std::apply(
            [&](const auto&... value) {
              return random_runs < 0 ? simt::Launch(memory, simulated, kernel, value...)
                                     : simt::LaunchUnderAllSchedules(memory, simulated, random_runs,
                                                                     kernel, value...);
            },
            values);
      });
#endif
}

}  // namespace on_simulator or on_cuda
}  // namespace assay::device

#endif  // ASSAY_GPU_DEVICE_DEVICE_H_
