// SPDX-License-Identifier: Apache-2.0
//
// What the simulated side keeps of a device and of what is made on it. Streams are queues of
// closures, run when somebody waits for them.
#ifndef ASSAY_GPU_DEVICE_INTERNAL_SIMULATED_STATE_H_
#define ASSAY_GPU_DEVICE_INTERNAL_SIMULATED_STATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gpu/device/internal/common.h"
#include "gpu/device/internal/side.h"
#include "gpu/device/simulator.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/memory.h"
#include "gpu/simt/occupancy.h"

namespace assay::device {
inline namespace on_simulator {
namespace internal {

using either_side::EmptyObject;
using either_side::ErrorKeeper;
using either_side::LiveCounter;

// As deep as a GPU's own queue is; more than that runs at once, so that a long program without
// waits does not pile up closures.
constexpr size_t kQueueDepth = 1024;

using Operation = std::function<absl::Status()>;

struct Context {
  explicit Context(const SimulatorOptions& chosen) : options(chosen), memory(chosen.memory_bytes) {}

  SimulatorOptions options;
  simt::Architecture architecture;
  simt::DeviceMemory memory;
  ErrorKeeper errors;
  LiveCounter live;
  std::vector<StreamState*> streams;  // in the order of their creation
  bool capturing = false;
  std::function<void(const simt::LaunchResult&)> observer;

  // Runs all that was given to any stream.
  void RunAll();

  // FailedPrecondition during a capture, in CUDA's words for it.
  absl::Status OutsideCapture(absl::string_view call) const {
    if (!capturing) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(call,
                     ": cudaErrorStreamCaptureUnsupported: operation not permitted when "
                     "stream is capturing"));
  }
};

// The bytes of a pinned buffer outlive it where a copy still waits for them, for the copy to find
// that they should not have.
struct PinnedBytes {
  explicit PinnedBytes(size_t bytes)
      : data(static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow))) {}
  ~PinnedBytes() { ::operator delete(data, kAlignment); }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;

  static constexpr std::align_val_t kAlignment{256};
  std::byte* data;
  bool alive = true;
};

struct PinnedState {
  std::shared_ptr<Context> context;
  std::shared_ptr<PinnedBytes> held;
  size_t bytes = 0;

  ~PinnedState() {
    held->alive = false;
    context->live.Remove(static_cast<int64_t>(bytes));
  }
};

struct MemoryState {
  std::shared_ptr<Context> context;
  simt::Pointer<std::byte> address;
  size_t bytes = 0;

  // As cudaFree, it waits for the device first.
  ~MemoryState() {
    context->RunAll();
    context->errors.Keep(context->memory.Free(address));
    context->live.Remove(static_cast<int64_t>(bytes));
  }
};

struct GraphState {
  std::shared_ptr<Context> context;
  std::vector<Operation> operations;
};

struct StreamState {
  explicit StreamState(std::shared_ptr<Context> on) : context(std::move(on)) {
    context->streams.push_back(this);
  }
  ~StreamState() {
    RunUpTo(given);
    context->streams.erase(std::find(context->streams.begin(), context->streams.end(), this));
  }

  void Give(Operation operation) {
    if (capture != nullptr) {
      capture->operations.push_back(std::move(operation));
      return;
    }
    queue.push_back(std::move(operation));
    ++given;
    if (!context->options.late || queue.size() > kQueueDepth) RunUpTo(given);
  }

  // Runs what is waiting until `position` operations are done in all. An operation may wait for
  // another stream and so run that; a chain of such waits that comes back here asks for nothing
  // more than is done by then, since events are recorded before they are waited for.
  void RunUpTo(uint64_t position) {
    while (done < position && !queue.empty()) {
      const Operation operation = std::move(queue.front());
      queue.pop_front();
      ++done;
      context->errors.Keep(operation());
    }
  }

  std::shared_ptr<Context> context;
  std::deque<Operation> queue;
  uint64_t given = 0;
  uint64_t done = 0;  // begun, to be exact
  GraphState* capture = nullptr;
};

struct EventState {
  std::shared_ptr<Context> context;
  std::weak_ptr<StreamState> stream;  // a stream runs empty when it goes
  uint64_t position = 0;
  bool recorded = false;

  void Run() const {
    if (const std::shared_ptr<StreamState> waited = stream.lock()) waited->RunUpTo(position);
  }
};

inline void Context::RunAll() {
  for (StreamState* stream : streams) stream->RunUpTo(stream->given);
}

}  // namespace internal
}  // namespace on_simulator
}  // namespace assay::device

#endif  // ASSAY_GPU_DEVICE_INTERNAL_SIMULATED_STATE_H_
