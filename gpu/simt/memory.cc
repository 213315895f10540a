// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/memory.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gpu/simt/internal/engine.h"
#include "gpu/simt/internal/memory_state.h"

namespace assay::simt {
namespace internal {

// Number 0, where null points, is there from the start.
static Allocation first_chunk[1u << AllocationTable::kChunkLog2];
constinit AllocationTable allocation_table{{first_chunk}, 1};

uint32_t NewAllocation(const Allocation& allocation) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const uint32_t number = allocation_table.size.load(std::memory_order_relaxed);
  if (number > kNumberMask) return 0;
  Allocation*& chunk = allocation_table.chunks[number >> AllocationTable::kChunkLog2];
  if (chunk == nullptr) {
    // Kept to the program's end: a pointer may outlive its memory.
    chunk = new (std::nothrow) Allocation[1u << AllocationTable::kChunkLog2];
    if (chunk == nullptr) return 0;
  }
  Allocation& entry = EntryOf(number);
  entry = allocation;
  entry.address = uint64_t{number} << kAllocationShift;
  allocation_table.size.store(number + 1, std::memory_order_release);
  return number;
}

constexpr std::align_val_t kAlignment{256};

bool Refine(Details& details, int log2) {
  if (log2 >= details.granule_log2) return true;
  const int shift = details.granule_log2 - log2;
  const Cells coarse = std::move(details.cells);
  details.granule_log2 = log2;
  details.cells = Cells();
  if (coarse.get() == nullptr) return true;
  Cell* fine = details.EnsureCells();
  if (fine == nullptr) return false;
  for (uint64_t i = 0; i < details.CellCount(); ++i) fine[i] = coarse.get()[i >> shift];
  return true;
}

namespace {

// False without memory to remember it.
[[nodiscard]] bool MarkInitialised(Details& details, uint64_t offset, uint64_t bytes) {
  if (details.initialised || bytes == 0) return true;
  if (bytes == details.bytes) {
    details.initialised = true;
    return true;
  }
  Cell* cells = details.EnsureCells();
  if (cells == nullptr) return false;
  const uint64_t last = (offset + bytes - 1) >> details.granule_log2;
  for (uint64_t i = offset >> details.granule_log2; i <= last; ++i) {
    cells[i].write.flags |= kInitialised;
  }
  return true;
}

absl::Status NoCells(const Details& details) {
  return absl::ResourceExhaustedError(
      absl::StrCat("this machine has no memory to remember what of '", details.name, "' of ",
                   details.bytes, " bytes was written"));
}

std::string Describe(const Details& details) {
  return absl::StrCat("'", details.name, "' of ", details.bytes, " bytes");
}

}  // namespace
}  // namespace internal

using internal::Allocation;
using internal::Buffer;
using internal::Cell;
using internal::Details;
using internal::OffsetOf;

DeviceMemory::DeviceMemory(uint64_t capacity_bytes)
    : state_(std::make_unique<internal::MemoryState>()),
      engine_(std::make_unique<internal::Engine>()) {
  state_->capacity_bytes = capacity_bytes;
}

DeviceMemory::~DeviceMemory() {
  // Pointers may outlive it; their numbers stay, and lead nowhere.
  for (const std::unique_ptr<Buffer>& buffer : state_->buffers) {
    internal::EntryOf(buffer->number) = {};
  }
}

absl::Status DeviceMemory::Negative(int64_t n) {
  return absl::InvalidArgumentError(absl::StrCat("a buffer has n >= 0 elements; given: ", n));
}

absl::StatusOr<uint64_t> DeviceMemory::Make(int64_t n, uint32_t element_bytes,
                                            std::string_view name) {
  if (n < 0) return Negative(n);
  const uint64_t room =
      std::min(state_->capacity_bytes - state_->used_bytes, internal::kMaxAllocationBytes - 1);
  if (static_cast<uint64_t>(n) > room / element_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no room for '", name, "': ", n, " elements of ", element_bytes,
                     " bytes asked for, ", room, " bytes of ", state_->capacity_bytes, " free"));
  }
  const uint64_t bytes = static_cast<uint64_t>(n) * element_bytes;
  auto buffer = std::make_unique<Buffer>();
  std::byte* data = nullptr;
  if (static_cast<uint64_t>(static_cast<size_t>(bytes)) == bytes) {
    data = static_cast<std::byte*>(::operator new(std::max<size_t>(static_cast<size_t>(bytes), 1),
                                                  internal::kAlignment, std::nothrow));
  }
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("this machine has no memory for '", name, "': ", bytes, " bytes asked for"));
  }
  Details& details = buffer->details;
  details.data = {data, [](std::byte* p) { ::operator delete(p, internal::kAlignment); }};
  std::memset(data, internal::kGarbageByte, static_cast<size_t>(bytes));
  details.name = std::string(name);
  details.element_bytes = element_bytes;
  details.bytes = bytes;
  details.granule_log2 = internal::GranuleLog2(element_bytes);
  details.device_address = state_->next_address;
  Allocation allocation;
  allocation.data = data;
  allocation.bytes = bytes;
  allocation.owner = state_.get();
  allocation.details = &details;
  buffer->number = internal::NewAllocation(allocation);
  if (buffer->number == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no number is left for '", name, "': too many buffers in one program"));
  }
  state_->next_address += (bytes + 255) / 256 * 256;
  state_->used_bytes += bytes;
  state_->buffers.push_back(std::move(buffer));
  return uint64_t{state_->buffers.back()->number} << internal::kAllocationShift;
}

absl::Status DeviceMemory::Release(uint64_t address) {
  if (address == 0) return absl::OkStatus();  // as cudaFree(nullptr)
  Allocation* allocation = state_->Find(address);
  if (allocation == nullptr) {
    return absl::InvalidArgumentError("freed what is no buffer of this device memory");
  }
  Details& details = *allocation->details;
  if (!details.live) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer ", internal::Describe(details), " freed twice"));
  }
  if (OffsetOf(address) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer ", internal::Describe(details), " freed by a pointer to byte ",
                     OffsetOf(address), " of it, expected to its start"));
  }
  allocation->bytes = 0;
  allocation->data = nullptr;
  details.live = false;
  details.data.reset();
  details.cells = internal::Cells();
  state_->used_bytes -= details.bytes;
  return absl::OkStatus();
}

absl::Status DeviceMemory::CheckRange(uint64_t address, int64_t n, uint64_t element_bytes) const {
  if (n < 0) return Negative(n);
  if (static_cast<uint64_t>(n) > internal::kMaxAllocationBytes / element_bytes) {
    return absl::OutOfRangeError(absl::StrCat(n, " elements are more than any buffer has"));
  }
  return CheckBytes(address, static_cast<uint64_t>(n) * element_bytes);
}

absl::Status DeviceMemory::CheckBytes(uint64_t address, uint64_t bytes) const {
  if (bytes == 0 && address == 0) return absl::OkStatus();
  const Allocation* allocation = state_->Find(address);
  if (allocation == nullptr) {
    return absl::InvalidArgumentError(
        address == 0
            ? absl::StrCat("a null pointer, where ", bytes, " bytes of device memory are meant")
            : std::string("a pointer that is not to a buffer of this device memory"));
  }
  const Details& details = *allocation->details;
  if (!details.live) {
    return absl::FailedPreconditionError(
        absl::StrCat("buffer ", internal::Describe(details), " is used after it was freed"));
  }
  const int64_t offset = OffsetOf(address);
  if (offset < 0 || static_cast<uint64_t>(offset) > details.bytes ||
      details.bytes - static_cast<uint64_t>(offset) < bytes) {
    return absl::OutOfRangeError(
        absl::StrCat("bytes [", offset, ", ", offset + static_cast<int64_t>(bytes),
                     ") are not all within buffer ", internal::Describe(details)));
  }
  return absl::OkStatus();
}

absl::Status DeviceMemory::Write(uint64_t address, const void* from, uint64_t bytes) {
  if (absl::Status status = CheckBytes(address, bytes); !status.ok()) return status;
  if (bytes == 0) return absl::OkStatus();
  Allocation& allocation = *state_->Find(address);
  const uint64_t offset = static_cast<uint64_t>(OffsetOf(address));
  if (!internal::MarkInitialised(*allocation.details, offset, bytes)) {
    return internal::NoCells(*allocation.details);
  }
  std::memcpy(allocation.data + offset, from, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

absl::Status DeviceMemory::Read(uint64_t address, void* to, uint64_t bytes) const {
  if (absl::Status status = CheckBytes(address, bytes); !status.ok()) return status;
  if (bytes != 0) {
    std::memcpy(to, state_->Find(address)->data + OffsetOf(address), static_cast<size_t>(bytes));
  }
  return absl::OkStatus();
}

absl::Status DeviceMemory::CopyWithin(uint64_t to, uint64_t from, uint64_t bytes) {
  if (absl::Status status = CheckBytes(to, bytes); !status.ok()) return status;
  if (absl::Status status = CheckBytes(from, bytes); !status.ok()) return status;
  if (bytes == 0) return absl::OkStatus();
  const Allocation& target = *state_->Find(to);
  const Allocation& source = *state_->Find(from);
  const uint64_t to_offset = static_cast<uint64_t>(OffsetOf(to));
  const uint64_t from_offset = static_cast<uint64_t>(OffsetOf(from));
  const Details& known = *source.details;
  bool remembered = true;
  if (known.initialised) {
    remembered = internal::MarkInitialised(*target.details, to_offset, bytes);
  } else if (known.cells.get() != nullptr) {
    const uint64_t granule = uint64_t{1} << known.granule_log2;
    for (uint64_t byte = 0; byte < bytes && remembered; byte += granule) {
      const Cell& cell = known.cells.get()[(from_offset + byte) >> known.granule_log2];
      if ((cell.write.flags & internal::kInitialised) == 0) continue;
      remembered = internal::MarkInitialised(*target.details, to_offset + byte,
                                             std::min(bytes - byte, granule));
    }
  }
  if (!remembered) return internal::NoCells(*target.details);
  std::memmove(target.data + to_offset, source.data + from_offset, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

absl::Status DeviceMemory::FillBytes(uint64_t address, unsigned char byte, uint64_t bytes) {
  if (absl::Status status = CheckBytes(address, bytes); !status.ok()) return status;
  if (bytes == 0) return absl::OkStatus();
  Allocation& allocation = *state_->Find(address);
  const uint64_t offset = static_cast<uint64_t>(OffsetOf(address));
  if (!internal::MarkInitialised(*allocation.details, offset, bytes)) {
    return internal::NoCells(*allocation.details);
  }
  std::memset(allocation.data + offset, byte, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

std::vector<Diagnostic> DeviceMemory::Leaks() const {
  std::vector<Diagnostic> leaks;
  for (const std::unique_ptr<Buffer>& buffer : state_->buffers) {
    if (!buffer->details.live) continue;
    Diagnostic leak;
    leak.finding = Finding::kLeak;
    leak.message = absl::StrCat("buffer ", internal::Describe(buffer->details), " is never freed");
    leak.variable = buffer->details.name;
    leaks.push_back(std::move(leak));
  }
  return leaks;
}

uint64_t DeviceMemory::used_bytes() const { return state_->used_bytes; }
uint64_t DeviceMemory::capacity_bytes() const { return state_->capacity_bytes; }

}  // namespace assay::simt
