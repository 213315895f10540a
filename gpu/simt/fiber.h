// SPDX-License-Identifier: Apache-2.0
//
// Threads of kernels on stacks of their own, instead of as coroutines: for kernels that cannot be
// rewritten (a barrier in a plain device function, in a conditional expression, `return` beside
// barriers), and to compare the two. x86-64 Linux only.
//
//   #define SIMT_FIBERS   // before simt.h, or in the target's copts
//   #include "gpu/simt/simt.h"
//   ...
//   FiberRunner fibers;
//   LaunchResult result = Launch(memory, {.grid = 4, .block = 256, .runner = &fibers}, Kernel, x);
//
// Results, findings and counters are those of the coroutines. A kernel compiled so runs with a
// FiberRunner only, and one that is not, without (checked).
//
// A thread that is left behind when a launch fails is not unwound: what its stack owns is lost, as
// are device functions' objects with destructors. A thread that needs more stack than it has ends
// the program, by its guard page or by the check of the word below it.
#ifndef ASSAY_GPU_SIMT_FIBER_H_
#define ASSAY_GPU_SIMT_FIBER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "gpu/simt/internal/thread.h"
#include "gpu/simt/launch.h"

namespace assay::simt {
namespace internal {

class FiberPool;

// Leaves the stack of the current thread for the engine's, until the thread is resumed.
void SuspendFiber();

// What __syncthreads() and its kind become: says what the thread waits for, waits, and gives what
// it came for. operation: an awaiter (awaiters.h), which lives until this returns.
template <class Operation>
decltype(auto) FiberWait(Operation&& operation) {
  operation.Park(current);
  SuspendFiber();
  return operation.await_resume();
}

}  // namespace internal

// Keeps its stacks from launch to launch. One launch at a time.
class FiberRunner final : public ThreadRunner {
 public:
  // stack_bytes: of a thread, rounded up to pages; at least 16 KB (checked). Only what is touched
  // takes memory.
  explicit FiberRunner(size_t stack_bytes = 64 << 10);
  ~FiberRunner() override;

  void Start(internal::Thread& thread, absl::FunctionRef<void()> kernel) override;
  void Resume(internal::Thread& thread) override;
  void Discard(internal::Thread& thread) override;

  // Stacks made so far; as many as threads have waited at one time.
  size_t stacks() const;

 private:
  std::unique_ptr<internal::FiberPool> pool_;
};

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_FIBER_H_
