// SPDX-License-Identifier: Apache-2.0
// Running a kernel in the simulator, under all its checks.
//
//   LaunchResult result = Launch(memory, {.grid = 4, .block = 256}, Reverse, x, y, 1000);
//   if (!result.status.ok()) std::puts(Format(result.diagnostics, ReadSourceFile).c_str());
//
// The threads of a warp run one after another to their next synchronisation, warps and blocks in
// the order of the schedule; a kernel without races gives the same result under each.
#ifndef ASSAY_GPU_SIMT_LAUNCH_H_
#define ASSAY_GPU_SIMT_LAUNCH_H_

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "gpu/simt/counters.h"
#include "gpu/simt/dim3.h"
#include "gpu/simt/limits.h"
#include "gpu/simt/memory.h"
#include "gpu/simt/occupancy.h"
#include "gpu/simt/report.h"

namespace assay::simt {

enum class Schedule : uint8_t {
  kForward,  // blocks, warps and lanes by rising number
  kReverse,
  kRandom,  // each time in another order, by the seed
};

// Sees the global memory traffic of a launch, one warp instruction after another.
class TrafficObserver {
 public:
  virtual ~TrafficObserver() = default;
  // block: its number in the grid. kind: load, store or atomic. sectors: the distinct 32-byte
  // sectors, ascending, as addresses / 32; addresses of different buffers never share a sector.
  virtual void OnRequest(uint64_t block, AccessKind kind, std::span<const uint64_t> sectors) = 0;
};

// How threads are started and resumed, where not as coroutines (fiber.h).
class ThreadRunner {
 public:
  virtual ~ThreadRunner() = default;
  // Runs `kernel` for the thread until it waits or ends. `thread` is internal::current.
  virtual void Start(internal::Thread& thread, absl::FunctionRef<void()> kernel) = 0;
  virtual void Resume(internal::Thread& thread) = 0;
  // The thread will not be resumed any more.
  virtual void Discard(internal::Thread& thread) = 0;
};

struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;  // all blocks at once, so that GRID_SYNC() may be used

  // The GPU that is simulated, for the limits of a launch and for how many blocks run at once.
  int compute_capability = 75;
  int multiprocessors = 40;
  KernelResources resources = {};  // registers, opt-in shared memory: what the source cannot say

  Schedule schedule = Schedule::kForward;
  uint64_t seed = 0;  // of kRandom
  bool trace = true;  // false: bounds and synchronisation are checked, races and reads of
                      // uninitialised memory are not, and nothing is counted; 3 times as fast
  std::span<const uint64_t> sample = {};  // only these blocks, by number, ascending; empty: all
  TrafficObserver* observer = nullptr;
  ThreadRunner* runner = nullptr;  // null: coroutines
  int max_findings = 20;  // different ones; further ones are dropped, the first error never
};

struct LaunchResult {
  // OK; InvalidArgument: CUDA would refuse the launch (limits.h), or an argument is wrong;
  // FailedPrecondition: the first error found; ResourceExhausted: a thread does more between two
  // synchronisations than can be recorded.
  absl::Status status;
  std::vector<Diagnostic> diagnostics;  // errors and warnings
  LaunchCounters counters;              // of what ran; empty without trace
};

namespace internal {

// Where an argument of a kernel points; 0 for one that is no pointer.
template <class T>
uint64_t PointedTo(const T&) {
  return 0;
}
template <class T>
uint64_t PointedTo(const Pointer<T>& pointer) {
  return pointer.address();
}

LaunchResult LaunchBody(DeviceMemory& memory, const LaunchConfig& config,
                        absl::FunctionRef<void()> kernel, std::span<const uint64_t> pointers);
LaunchResult LaunchSchedules(DeviceMemory& memory, const LaunchConfig& config, int random_runs,
                             absl::FunctionRef<void()> kernel, std::span<const uint64_t> pointers);

}  // namespace internal

// Runs kernel(arguments...) over the grid. Device memory keeps what the kernel wrote, up to where
// it failed. Not to be called from within a kernel. One launch at a time in a memory.
template <class... Parameters, class... Arguments>
LaunchResult Launch(DeviceMemory& memory, const LaunchConfig& config, void (*kernel)(Parameters...),
                    Arguments&&... arguments) {
  const std::tuple<std::decay_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
  return std::apply(
      [&](const auto&... value) {
        const uint64_t pointers[] = {0, internal::PointedTo(value)...};
        return internal::LaunchBody(
            memory, config, [&] { kernel(value...); }, pointers);
      },
      values);
}

// Runs it forward, in reverse and `random_runs` times in random order, each from the memory as it
// was before, and demands the same bits in all of global memory afterwards: a difference is a
// kScheduleDependence (kernels that add floats atomically have it by nature). The result is that
// of the forward run, with the findings of all. Memory: three copies of all buffers.
template <class... Parameters, class... Arguments>
LaunchResult LaunchUnderAllSchedules(DeviceMemory& memory, const LaunchConfig& config,
                                     int random_runs, void (*kernel)(Parameters...),
                                     Arguments&&... arguments) {
  const std::tuple<std::decay_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
  return std::apply(
      [&](const auto&... value) {
        const uint64_t pointers[] = {0, internal::PointedTo(value)...};
        return internal::LaunchSchedules(
            memory, config, random_runs, [&] { kernel(value...); }, pointers);
      },
      values);
}

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_LAUNCH_H_
