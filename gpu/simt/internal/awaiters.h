// SPDX-License-Identifier: Apache-2.0
// What makes a kernel a coroutine: its promise, device functions that may wait, and the things that
// a thread waits for.
//
// A kernel is `void k(...)`. One that synchronises holds a co_await, and so is a coroutine, whose
// promise the specialisation of coroutine_traits below supplies; it runs to its first wait as soon
// as it is called. One that does not synchronise is a plain function and runs to its end. The
// engine tells them apart by whether a coroutine has made itself known to the thread.
//
// g++ 12 miscompiles a co_await inside a comma expression and clang 14 one inside ?: (llvm #59181);
// so awaiters carry all values themselves, and the macros of simt.h are single calls.
#ifndef ASSAY_GPU_SIMT_INTERNAL_AWAITERS_H_
#define ASSAY_GPU_SIMT_INTERNAL_AWAITERS_H_

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "gpu/simt/internal/coroutine.h"
#include "gpu/simt/internal/thread.h"
#include "gpu/simt/pointer.h"

namespace assay::simt::internal {

// Memory of coroutine frames: blocks have thousands, of very few sizes.
void* AllocateFrame(std::size_t bytes);
void FreeFrame(void* frame, std::size_t bytes);

struct FramePromise {
  static void* operator new(std::size_t bytes) { return AllocateFrame(bytes); }
  static void operator delete(void* frame, std::size_t bytes) { FreeFrame(frame, bytes); }
  // Exceptions are off, natively and in WebAssembly.
  void unhandled_exception() noexcept {}
};

struct KernelPromise : FramePromise {
  void get_return_object() {
    if (current->root != nullptr) return;  // not the kernel: see BeginWait
    current->root = std::coroutine_handle<KernelPromise>::from_promise(*this).address();
  }
  std::suspend_never initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept {
    current->root = nullptr;
    return {};
  }
  void return_void() {}
};

// The result of a device function that may wait; simt.h calls it SIMT_TASK(T).
template <class T>
class Task;

// Entering and leaving a device function hands the thread's resume point over and asks the engine
// to resume at once; symmetric transfer would need tail calls, which WebAssembly lacks.
struct TaskPromise : FramePromise {
  struct Leave {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> task) const noexcept {
      current->resume_point = task.promise().caller;
      current->again = true;
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() noexcept { return {}; }
  Leave final_suspend() noexcept { return {}; }
  void* caller = nullptr;
};

template <class T>
struct ValuePromise : TaskPromise {
  Task<T> get_return_object();
  void return_value(const T& returned) { value = returned; }
  T value{};
};

template <>
struct ValuePromise<void> : TaskPromise {
  Task<void> get_return_object();
  void return_void() {}
};

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = ValuePromise<T>;
  explicit Task(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
  ~Task() {
    if (coroutine_.address() != nullptr) coroutine_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) noexcept {
    coroutine_.promise().caller = caller.address();
    current->resume_point = coroutine_.address();
    current->again = true;
  }
  T await_resume() const noexcept {
    if constexpr (!std::is_void_v<T>) return coroutine_.promise().value;
  }

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

template <class T>
Task<T> ValuePromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<ValuePromise<T>>::from_promise(*this));
}
inline Task<void> ValuePromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<ValuePromise<void>>::from_promise(*this));
}

// ---- What a thread waits for.

// A thread that waits already cannot wait again: it is in a device function that is no SIMT_TASK,
// of which its kernel knows nothing.
inline void BeginWait(Thread* thread) {
  if (thread->state != State::kReady) [[unlikely]]
    MisplacedWait(thread);
  thread->parked_at = thread->trace_size;
}

// Waiting by itself: for the block, for the grid, or for others to get on.
struct [[nodiscard]] Wait {
  State state;
  Where where;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) const noexcept {
    Thread* thread = current;
    thread->resume_point = coroutine.address();
    Park(thread);
  }
  void Park(Thread* thread) const noexcept {
    BeginWait(thread);
    thread->state = state;
    thread->where = where;
    thread->operation = nullptr;
  }
  void await_resume() const noexcept {}
};

enum class Exchange : uint8_t {
  kSync,         // __syncwarp
  kShuffle,      // __shfl_sync and its kind
  kBallot,       // __ballot_sync, __any_sync, __all_sync
  kMatch,        // __match_any_sync
  kBarrierVote,  // __syncthreads_count and its kind: the block's
  kCollective,   // matrix instructions: `run` does the work
};
enum class ShuffleMode : uint8_t { kIndex, kUp, kDown, kXor };

// What one lane brings to an operation of its warp (or block) and takes away from it.
struct WarpOperation {
  Exchange exchange = Exchange::kSync;
  ShuffleMode mode = ShuffleMode::kIndex;
  uint32_t mask = kFullMask;
  int32_t argument = 0;  // lane, offset or lane mask of a shuffle; predicate of a vote
  int32_t width = kWarpSize;
  uint32_t bytes = 0;  // of value
  uint64_t value[2] = {0, 0};
  uint64_t result[2] = {0, 0};
  Where where;
  // For kCollective: runs once for the warp, with the operations of all its lanes.
  void (*run)(WarpOperation* const (&lanes)[kWarpSize]) = nullptr;
  void* operands = nullptr;
};

template <class Result>
struct [[nodiscard]] WarpWait {
  WarpOperation operation;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) noexcept {
    Thread* thread = current;
    thread->resume_point = coroutine.address();
    Park(thread);
  }
  void Park(Thread* thread) noexcept {
    BeginWait(thread);
    thread->state =
        operation.exchange == Exchange::kBarrierVote ? State::kBarrier : State::kWarpOperation;
    thread->where = operation.where;
    thread->operation = &operation;
  }
  Result await_resume() const noexcept {
    if constexpr (!std::is_void_v<Result>) {
      Result result;
      std::memcpy(static_cast<void*>(&result), operation.result, sizeof(Result));
      return result;
    }
  }
};

inline Wait Barrier(uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return {State::kBarrier, {line, file}};
}
inline Wait GridBarrier(uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return {State::kGrid, {line, file}};
}
inline Wait Sleep([[maybe_unused]] uint32_t nanoseconds, uint32_t line = __builtin_LINE(),
                  const char* file = __builtin_FILE()) {
  return {State::kSleep, {line, file}};
}

// __syncthreads_count (0), _and (1), _or (2): votes of the block.
inline WarpWait<int> BarrierVote(int kind, int predicate, uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  WarpWait<int> wait;
  wait.operation.exchange = Exchange::kBarrierVote;
  wait.operation.argument = predicate != 0;
  wait.operation.width = kind;
  wait.operation.where = {line, file};
  return wait;
}

inline WarpWait<void> SyncWarp(uint32_t mask = kFullMask, uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) {
  WarpWait<void> wait;
  wait.operation.mask = mask;
  wait.operation.where = {line, file};
  return wait;
}

template <class Argument, class T = ValueOf<Argument>>
WarpWait<T> Shuffle(ShuffleMode mode, uint32_t mask, Argument&& argument_value, int argument,
                    int width = kWarpSize, uint32_t line = __builtin_LINE(),
                    const char* file = __builtin_FILE()) {
  static_assert(sizeof(T) <= 16 && std::is_trivially_copyable_v<T>);
  const T value = std::forward<Argument>(argument_value);
  WarpWait<T> wait;
  wait.operation.exchange = Exchange::kShuffle;
  wait.operation.mode = mode;
  wait.operation.mask = mask;
  wait.operation.argument = argument;
  wait.operation.width = width;
  wait.operation.bytes = sizeof(T);
  std::memcpy(wait.operation.value, static_cast<const void*>(&value), sizeof(T));
  wait.operation.where = {line, file};
  return wait;
}

// The lanes of `mask` whose predicate holds (0), whether any (1) or all (2) do.
inline WarpWait<uint32_t> Ballot(int kind, uint32_t mask, int predicate,
                                 uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  WarpWait<uint32_t> wait;
  wait.operation.exchange = Exchange::kBallot;
  wait.operation.mask = mask;
  wait.operation.argument = predicate != 0;
  wait.operation.width = kind;
  wait.operation.where = {line, file};
  return wait;
}

template <class Argument, class T = ValueOf<Argument>>
WarpWait<uint32_t> MatchAny(uint32_t mask, Argument&& argument_value,
                            uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  static_assert(sizeof(T) <= 16 && std::is_trivially_copyable_v<T>);
  const T value = std::forward<Argument>(argument_value);
  WarpWait<uint32_t> wait;
  wait.operation.exchange = Exchange::kMatch;
  wait.operation.mask = mask;
  wait.operation.bytes = sizeof(T);
  std::memcpy(wait.operation.value, static_cast<const void*>(&value), sizeof(T));
  wait.operation.where = {line, file};
  return wait;
}

}  // namespace assay::simt::internal

// Kernels return void, and a program's own void coroutines would be kernels too: nothing else in
// translation units that include simt.h is a coroutine.
template <class... Arguments>
struct std::coroutine_traits<void, Arguments...> {
  using promise_type = assay::simt::internal::KernelPromise;
};

#endif  // ASSAY_GPU_SIMT_INTERNAL_AWAITERS_H_
