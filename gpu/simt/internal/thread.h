// SPDX-License-Identifier: Apache-2.0
// A simulated thread, the memory it may touch, and the record of what it touched: what the inlined
// fast path of a memory access needs to see. The engine (engine.h) owns and schedules them.
#ifndef ASSAY_GPU_SIMT_INTERNAL_THREAD_H_
#define ASSAY_GPU_SIMT_INTERNAL_THREAD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gpu/simt/dim3.h"

namespace assay::simt {
namespace internal {

constexpr int kWarpSize = 32;
constexpr uint32_t kFullMask = 0xFFFFFFFFu;

// A stretch of memory: a buffer of global memory, or one __shared__ variable of a block.
struct Allocation {
  std::byte* data = nullptr;
  uint64_t bytes = 0;           // 0 once freed: whoever still points at it is found out
  uint64_t address = 0;         // of its first byte, in a trace
  uint32_t site_bits = 0;       // kSharedBit for shared memory
  const void* owner = nullptr;  // the device memory that it belongs to; null once that is gone
  struct Details* details = nullptr;
};

// Addresses, as pointers hold them: an allocation's number and an offset, so that one outside the
// allocation is seen at once, and any bits may be read as one. Numbers are never used twice.
//   bits 0-35 the offset, from -2^35; 36-61 the number, of shared memory in the block; 62 shared
constexpr int kAllocationShift = 36;
constexpr uint64_t kNumberMask = (uint64_t{1} << 26) - 1;
constexpr uint64_t kOffsetMask = (uint64_t{1} << kAllocationShift) - 1;
constexpr int64_t kMaxOffset = (int64_t{1} << (kAllocationShift - 1)) - 1;
constexpr uint64_t kMaxAllocationBytes = uint64_t{1} << (kAllocationShift - 1);
constexpr uint64_t kSharedAddress = uint64_t{1} << 62;

inline int64_t OffsetOf(uint64_t address) {
  return static_cast<int64_t>(address << (64 - kAllocationShift)) >> (64 - kAllocationShift);
}

// An address whose offset may be anything, for an access that has still to be checked.
struct Place {
  uint64_t memory = 0;  // number and kind in their bits; what else is there does not matter
  uint64_t offset = 0;
};

// All allocations of global memory in the program, by number. Number 0 is where null points.
struct AllocationTable {
  static constexpr int kChunkLog2 = 12;
  static constexpr uint32_t kChunks = (kNumberMask + 1) >> kChunkLog2;
  Allocation* chunks[kChunks] = {};
  std::atomic<uint32_t> size{0};
};
extern AllocationTable allocation_table;

inline Allocation& EntryOf(uint32_t number) {
  constexpr uint32_t kInChunk = (1u << AllocationTable::kChunkLog2) - 1;
  return allocation_table.chunks[number >> AllocationTable::kChunkLog2][number & kInChunk];
}

// Claims the next number, for a buffer of `owner`; 0 where all are used up. Others may find it by
// its number only after it has been filled in.
uint32_t NewAllocation(const Allocation& allocation);

// What a thread did at a place in the source, in one word: the trace is mostly made of these.
//   bits 0-2 what, 3-5 log2 of the width in bytes, 6 shared memory, 7-22 line, 23-31 file
enum class Action : uint32_t {
  kLoad,
  kStore,
  kAtomic,
  kAtomicLoad,
  kAtomicStore,
  kFence,       // __threadfence
  kBlockFence,  // __threadfence_block
  kMatrixLoad,  // of a row, by one lane for all of its warp
};
constexpr uint32_t kSharedBit = 1u << 6;
constexpr int kLineShift = 7;
constexpr int kFileShift = 23;
constexpr uint32_t kMaxLine = 0xFFFF;
constexpr uint32_t kMaxFiles = 512;

// Addresses in a trace are those of pointers; in shared memory, the offset in the block's shared
// memory, without a number. kSilent stands where a store wrote the value that was there already.
constexpr uint64_t kSilent = uint64_t{1} << 63;

inline Action ActionOf(uint32_t site) { return static_cast<Action>(site & 7); }

// What memory holds before anybody writes to it: not a number, and an index far outside.
constexpr uint8_t kGarbageByte = 0xEF;

// A place in the source.
struct Where {
  uint32_t line = 0;
  const char* file = "";
};

enum class Mode : uint8_t {
  kOutside,   // not in a launch: touching device memory is a mistake of the host code
  kTraced,    // every access is recorded
  kUntraced,  // bounds are checked, nothing is recorded
  kAborted,   // the launch has failed: loads give garbage, so that loops end; stores do nothing
};

enum class State : uint8_t {
  kNew,
  kReady,
  kWarpOperation,  // waits for the other lanes of its mask
  kBarrier,        // waits for its block
  kGrid,           // waits for the grid
  kSleep,          // lets others run
  kDone,
};

struct Block;
struct Warp;
struct WarpOperation;

struct Thread {
  Mode mode = Mode::kOutside;
  State state = State::kNew;
  bool again = false;  // a device function was entered or left: resume at once
  uint32_t trace_size = 0;
  uint32_t trace_capacity = 0;
  uint32_t parked_at = 0;  // its trace_size when it began to wait
  uint32_t* sites = nullptr;
  uint64_t* addresses = nullptr;
  const void* memory = nullptr;  // what it may touch; nothing once the launch has failed
  Dim3 index = Dim3(0, 0, 0);
  Block* block = nullptr;
  Warp* warp = nullptr;
  int lane = 0;
  // Where it waits, when it does.
  Where where;
  WarpOperation* operation = nullptr;
  void* resume_point = nullptr;  // innermost coroutine
  void* root = nullptr;          // the kernel's own coroutine; null when it has ended, or is none
  void* fiber = nullptr;         // of kernels that have stacks of their own
};

// What a block is to its threads; the engine's block is more (engine.h).
struct Block {
  Dim3 index = Dim3(0, 0, 0);
  Dim3 extent;
  Dim3 grid;
  const Allocation* const* variables = nullptr;  // of shared memory, by number
  uint32_t variable_count = 0;
};

extern Thread outside;

#if defined(__EMSCRIPTEN__)
inline constinit thread_local Thread* current = &outside;
#else
// The simulator is linked statically; the general model would call a function for every access.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local Thread* current = &outside;
#endif

// The allocation that an address names; number 0, which has no bytes, for none.
inline const Allocation* Find(const Thread* thread, uint64_t address) {
  const uint64_t number = address >> kAllocationShift & kNumberMask;
  if ((address & kSharedAddress) != 0) {
    const Block* block = thread->block;
    return block != nullptr && number < block->variable_count ? block->variables[number]
                                                              : &EntryOf(0);
  }
  return &EntryOf(number < allocation_table.size.load(std::memory_order_acquire)
                      ? static_cast<uint32_t>(number)
                      : 0);
}

// The number of a source file, shifted into place. Distinct pointers to one name give one number.
struct FileCache {
  const char* file = nullptr;
  uint32_t bits = 0;
};
inline constinit thread_local FileCache file_cache;
uint32_t FileBits(const char* file);
const char* FileName(uint32_t number);

inline uint32_t SiteOf(const Where& where, Action action, int log2_width) {
  if (where.file != file_cache.file) [[unlikely]]
    file_cache = {where.file, FileBits(where.file)};
  const uint32_t line = where.line < kMaxLine ? where.line : kMaxLine;
  return file_cache.bits | line << kLineShift | static_cast<uint32_t>(log2_width) << 3 |
         static_cast<uint32_t>(action);
}

// Makes room for at least one more entry; false where the thread has used up what it may record
// between two synchronisations, and the launch is aborted.
[[gnu::noinline]] bool GrowTrace(Thread* thread, const Where& where);

inline void Record(Thread* thread, uint32_t site, uint64_t address, const Where& where) {
  if (thread->trace_size == thread->trace_capacity) [[unlikely]] {
    if (!GrowTrace(thread, where)) return;
  }
  const uint32_t n = thread->trace_size;
  thread->sites[n] = site;
  thread->addresses[n] = address;
  thread->trace_size = n + 1;
}

// An access that may not be made: out of bounds, misaligned, freed, or after the launch has failed.
// Says so once, and aborts the launch. Returns bits to go on with.
[[gnu::noinline, gnu::cold]] uint64_t Fault(const Place& place, uint32_t width, uint32_t alignment,
                                            Action action, const Where& where);

// An index that leaves its row of a shared array of several dimensions.
[[gnu::noinline, gnu::cold]] void RowFault(uint64_t memory, int64_t index, int64_t extent,
                                           const Where& where);

// A wait where none may be: see Engine::ReportMisplaced.
[[gnu::noinline, gnu::cold]] void MisplacedWait(Thread* thread);

}  // namespace internal
}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_INTERNAL_THREAD_H_
