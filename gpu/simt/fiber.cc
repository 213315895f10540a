// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "numerics/core/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// assay_simt_switch(void** save, void* load): keeps what the System V ABI says a function keeps
// (six registers, and the control words of SSE and x87) on this stack, writes its pointer to *save,
// and goes on where the stack `load` left off. A new stack holds what the first switch to it takes:
// control words, registers, and as the return address assay_simt_begin, which calls r13 with r12.
// Source: System V ABI, AMD64 supplement, 3.2.1; Intel SDM for stmxcsr and fnstcw.
asm(R"(
.text
.p2align 4
.type assay_simt_switch, @function
assay_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size assay_simt_switch, .-assay_simt_switch
.p2align 4
.type assay_simt_begin, @function
assay_simt_begin:
  movq %r12, %rdi
  callq *%r13
  ud2
.size assay_simt_begin, .-assay_simt_begin
)");

extern "C" void assay_simt_switch(void** save, void* load);
extern "C" void assay_simt_begin();

namespace assay::simt {
namespace internal {
namespace {

// Lies at the lower end of a stack; a thread that used all of it has most likely changed it.
constexpr uint64_t kCanary = 0x9E3779B97F4A7C15;

// Stacks are made so many at a time. Linux lets a process have 65,530 mappings, and a guard page
// makes two of one; so the first stacks have guard pages and the others the canary alone.
constexpr size_t kStacksInSlab = 64;
constexpr size_t kGuardedStacks = 16384;

// Stacks begin at multiples of pages, so their ends would all compete for the same lines of the
// caches: each begins a little lower than the one before, within a page.
constexpr size_t kColour = 208;
constexpr size_t kColours = 19;

}  // namespace

// A stack, and the thread on it.
struct Fiber {
  void* stack_pointer = nullptr;  // while it is left
  std::byte* lowest = nullptr;    // first usable byte; the canary is there
  size_t bytes = 0;
  size_t colour = 0;
  FiberPool* pool = nullptr;
  std::optional<absl::FunctionRef<void()>> kernel;
  bool finished = false;
#if defined(__SANITIZE_ADDRESS__)
  void* shadow = nullptr;  // AddressSanitizer's own record of a stack that is left
#endif
};

class FiberPool {
 public:
  explicit FiberPool(size_t stack_bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    guard_bytes_ = page;
    stack_bytes_ = (stack_bytes + page - 1) / page * page;
  }
  ~FiberPool() {
    for (std::byte* slab : slabs_) munmap(slab, SlabBytes());
  }
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  Fiber* Take() {
    if (free_.empty()) MakeSlab();
    Fiber* fiber = free_.back();
    free_.pop_back();
    return fiber;
  }
  void Give(Fiber* fiber) { free_.push_back(fiber); }
  size_t stacks() const { return fibers_.size() * kStacksInSlab; }

  // To the fiber, until it waits or ends.
  void Enter(Fiber* fiber) {
#if defined(__SANITIZE_ADDRESS__)
    void* shadow = nullptr;
    __sanitizer_start_switch_fiber(&shadow, fiber->lowest, fiber->bytes);
    assay_simt_switch(&engine_stack_, fiber->stack_pointer);
    __sanitizer_finish_switch_fiber(shadow, nullptr, nullptr);
#else
    assay_simt_switch(&engine_stack_, fiber->stack_pointer);
#endif
    uint64_t canary = 0;
    std::memcpy(&canary, fiber->lowest, sizeof(canary));
    ASSAY_CHECK_EQ(canary, kCanary);  // a thread of the kernel has overflown its stack
  }

  // Back to the engine, from the fiber.
  void Leave(Fiber* fiber) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fiber->finished ? nullptr : &fiber->shadow, engine_lowest_,
                                   engine_bytes_);
    assay_simt_switch(&fiber->stack_pointer, engine_stack_);
    Arrived(fiber);
#else
    assay_simt_switch(&fiber->stack_pointer, engine_stack_);
#endif
  }

  // On the fiber, after a switch to it.
  void Arrived([[maybe_unused]] Fiber* fiber) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiber->shadow, &engine_lowest_, &engine_bytes_);
#endif
  }

 private:
  size_t SlabBytes() const { return kStacksInSlab * (guard_bytes_ + stack_bytes_); }

  void MakeSlab() {
    void* const made = mmap(nullptr, SlabBytes(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSAY_CHECK(made != MAP_FAILED);  // no address space left for stacks
    std::byte* slab = static_cast<std::byte*>(made);
    slabs_.push_back(slab);
    const bool guarded = stacks() < kGuardedStacks;
    fibers_.push_back(std::make_unique<Fiber[]>(kStacksInSlab));
    for (size_t i = 0; i < kStacksInSlab; ++i) {
      Fiber& fiber = fibers_.back()[i];
      std::byte* const guard = slab + i * (guard_bytes_ + stack_bytes_);
      if (guarded) ASSAY_CHECK_EQ(mprotect(guard, guard_bytes_, PROT_NONE), 0);
      fiber.lowest = guard + guard_bytes_;
      fiber.bytes = stack_bytes_;
      fiber.colour = i % kColours * kColour;
      fiber.pool = this;
      std::memcpy(fiber.lowest, &kCanary, sizeof(kCanary));
      free_.push_back(&fiber);
    }
  }

  size_t stack_bytes_ = 0;
  size_t guard_bytes_ = 0;
  std::vector<std::byte*> slabs_;
  std::vector<std::unique_ptr<Fiber[]>> fibers_;
  std::vector<Fiber*> free_;
  void* engine_stack_ = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  const void* engine_lowest_ = nullptr;
  size_t engine_bytes_ = 0;
#endif
};

namespace {

// The life of a thread, on its own stack.
void RunFiber(Fiber* fiber) {
  fiber->pool->Arrived(fiber);
  (*fiber->kernel)();
  // A kernel that was compiled without SIMT_FIBERS returns where it waits.
  ASSAY_CHECK(current->state == State::kReady);
  fiber->finished = true;
  fiber->pool->Leave(fiber);
}

// What assay_simt_switch takes from a stack, lowest address first.
struct FirstFrame {
  uint32_t mxcsr = 0x1f80;  // as a program begins: round to nearest, all exceptions masked
  uint16_t x87_control = 0x037f;
  uint16_t unused = 0;
  void* r15 = nullptr;
  void* r14 = nullptr;
  void (*r13)(Fiber*) = &RunFiber;
  Fiber* r12 = nullptr;
  void* rbx = nullptr;
  void* rbp = nullptr;
  void (*return_address)() = &assay_simt_begin;
};

}  // namespace

void SuspendFiber() {
  Fiber* const fiber = static_cast<Fiber*>(current->fiber);
  ASSAY_CHECK(fiber != nullptr);  // LaunchConfig::runner is a FiberRunner
  fiber->pool->Leave(fiber);
}

}  // namespace internal

using internal::Fiber;
using internal::FirstFrame;

FiberRunner::FiberRunner(size_t stack_bytes) {
  ASSAY_CHECK_GE(stack_bytes, size_t{16} << 10);
  pool_ = std::make_unique<internal::FiberPool>(stack_bytes);
}
FiberRunner::~FiberRunner() = default;

void FiberRunner::Start(internal::Thread& thread, absl::FunctionRef<void()> kernel) {
  Fiber* const fiber = pool_->Take();
  fiber->kernel.emplace(std::as_const(kernel));
  fiber->finished = false;
#if defined(__SANITIZE_ADDRESS__)
  fiber->shadow = nullptr;
#endif
  FirstFrame frame;
  frame.r12 = fiber;
  // A function begins with a stack pointer of 8 modulo 16, as a call leaves it; so does what
  // assay_simt_begin calls if its own is a multiple of 16.
  std::byte* const top = fiber->lowest + fiber->bytes - fiber->colour;
  static_assert(sizeof(FirstFrame) % 16 == 0 && internal::kColour % 16 == 0);
  fiber->stack_pointer = top - sizeof(FirstFrame);
  std::memcpy(fiber->stack_pointer, &frame, sizeof(frame));
  thread.fiber = fiber;
  Resume(thread);
}

void FiberRunner::Resume(internal::Thread& thread) {
  Fiber* const fiber = static_cast<Fiber*>(thread.fiber);
  pool_->Enter(fiber);
  if (fiber->finished) Discard(thread);
}

void FiberRunner::Discard(internal::Thread& thread) {
  Fiber* const fiber = static_cast<Fiber*>(thread.fiber);
  if (fiber == nullptr) return;
#if defined(__SANITIZE_ADDRESS__)
  // What was fenced off in frames that never return.
  if (!fiber->finished) __asan_unpoison_memory_region(fiber->lowest, fiber->bytes);
#endif
  pool_->Give(fiber);
  thread.fiber = nullptr;
}

size_t FiberRunner::stacks() const { return pool_->stacks(); }

}  // namespace assay::simt
