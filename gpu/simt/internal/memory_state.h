// SPDX-License-Identifier: Apache-2.0
// What stands behind device memory: the allocations, and for each granule of them who touched it
// last.
#ifndef ASSAY_GPU_SIMT_INTERNAL_MEMORY_STATE_H_
#define ASSAY_GPU_SIMT_INTERNAL_MEMORY_STATE_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gpu/simt/internal/thread.h"

namespace assay::simt::internal {

// One access: which stretch of which warp (a segment, see shadow.h), lane, and line.
struct Stamp {
  uint32_t segment = 0;
  uint16_t site = 0;  // index in the tracer's table
  uint8_t lane = 0;
  uint8_t flags = 0;
};

// Flags of a stamp.
constexpr uint8_t kInitialised = 1;  // of a write: somebody, host or device, has written here
constexpr uint8_t kAtomicAccess = 2;
// Others had been here in the same epoch, without order to this one: lanes of its warp, warps of
// its block, other blocks.
constexpr uint8_t kOtherLanes = 4;
constexpr uint8_t kOtherWarps = 8;
constexpr uint8_t kOtherBlocks = 16;
constexpr uint8_t kOthers = kOtherLanes | kOtherWarps | kOtherBlocks;
// Of an atomic: its block had written here by a plain store before it, in this launch, and in this
// epoch of the block. Atomics of others are no match for that.
constexpr uint8_t kPlainBefore = 32;
constexpr uint8_t kPlainInEpoch = 64;

struct Cell {
  Stamp write;
  Stamp read;
  Stamp other;  // the last read by another thread than that of `read`, to be named with a finding
};

// Zeroed by the operating system when first touched: big buffers of which a sampled block sees
// little cost little.
class Cells {
 public:
  Cells() = default;
  explicit Cells(uint64_t count)
      : cells_(count > SIZE_MAX / sizeof(Cell)
                   ? nullptr
                   : static_cast<Cell*>(
                         std::calloc(count == 0 ? 1 : static_cast<size_t>(count), sizeof(Cell)))) {}
  Cell* get() const { return cells_.get(); }

 private:
  struct Free {
    void operator()(Cell* cells) const { std::free(cells); }
  };
  std::unique_ptr<Cell, Free> cells_;
};

// The part of an allocation that the fast path does not need.
struct Details {
  std::string name;
  uint32_t element_bytes = 1;
  uint64_t bytes = 0;           // as allocated, kept when freed
  uint64_t device_address = 0;  // where cudaMalloc might have put it: a multiple of 256
  bool live = true;
  bool initialised = false;  // all of it, by the host
  int granule_log2 = 2;      // bytes that one cell stands for
  Cells cells;               // made at the first traced access
  std::unique_ptr<std::byte, void (*)(std::byte*)> data{nullptr, nullptr};

  uint64_t CellCount() const { return (bytes + (uint64_t{1} << granule_log2) - 1) >> granule_log2; }
  // Null without memory for them.
  [[nodiscard]] Cell* EnsureCells() {
    if (cells.get() == nullptr) cells = Cells(CellCount());
    return cells.get();
  }
};

// The widest granule, up to 4 bytes, that never splits an element.
inline int GranuleLog2(uint32_t element_bytes) {
  return element_bytes % 4 == 0 ? 2 : element_bytes % 2 == 0 ? 1 : 0;
}

// Makes every cell stand for `log2` bytes instead of more. False without memory for that.
[[nodiscard]] bool Refine(Details& details, int log2);

struct Buffer {
  uint32_t number = 0;
  Details details;
};

struct MemoryState {
  std::vector<std::unique_ptr<Buffer>> buffers;  // freed ones too: reports name them
  uint64_t used_bytes = 0;
  uint64_t next_address = 0;  // where the next buffer lies in the device's memory
  uint64_t capacity_bytes = 0;

  // The allocation of this memory that an address names; null if it names none.
  Allocation* Find(uint64_t address) const {
    const uint64_t number = address >> kAllocationShift & kNumberMask;
    if ((address & kSharedAddress) != 0 || number == 0 ||
        number >= allocation_table.size.load(std::memory_order_acquire)) {
      return nullptr;
    }
    Allocation& entry = EntryOf(static_cast<uint32_t>(number));
    return entry.owner == this ? &entry : nullptr;
  }
};

}  // namespace assay::simt::internal

#endif  // ASSAY_GPU_SIMT_INTERNAL_MEMORY_STATE_H_
