// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gpu/simt/internal/engine.h"
#include "gpu/simt/internal/memory_state.h"

namespace assay::simt {
namespace internal {

const Allocation null_allocation;

// What memory holds before anybody writes to it: not a number, and an index far outside.
constexpr int kGarbageByte = 0xEF;
constexpr std::align_val_t kAlignment{256};

void Refine(Details& details, int log2) {
  if (log2 >= details.granule_log2) return;
  const int shift = details.granule_log2 - log2;
  const Cells coarse = std::move(details.cells);
  details.granule_log2 = log2;
  details.cells = Cells();
  if (coarse.get() == nullptr) return;
  Cell* fine = details.EnsureCells();
  for (uint64_t i = 0; i < details.CellCount(); ++i) fine[i] = coarse.get()[i >> shift];
}

namespace {

void MarkInitialised(Details& details, uint64_t offset, uint64_t bytes) {
  if (details.initialised || bytes == 0) return;
  if (bytes == details.bytes) {
    details.initialised = true;
    return;
  }
  Cell* cells = details.EnsureCells();
  const uint64_t last = (offset + bytes - 1) >> details.granule_log2;
  for (uint64_t i = offset >> details.granule_log2; i <= last; ++i) {
    cells[i].write.flags |= kInitialised;
  }
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

DeviceMemory::DeviceMemory(uint64_t capacity_bytes)
    : state_(std::make_unique<internal::MemoryState>()),
      engine_(std::make_unique<internal::Engine>()) {
  state_->capacity_bytes = capacity_bytes;
}

DeviceMemory::~DeviceMemory() = default;

absl::Status DeviceMemory::Negative(int64_t n) {
  return absl::InvalidArgumentError(absl::StrCat("a buffer has n >= 0 elements; given: ", n));
}

absl::StatusOr<const Allocation*> DeviceMemory::Make(int64_t n, uint32_t element_bytes,
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
  if (static_cast<uint64_t>(static_cast<size_t>(bytes)) != bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("this machine cannot address '", name, "': ", bytes, " bytes asked for"));
  }
  auto* data = static_cast<std::byte*>(::operator new(
      std::max<size_t>(static_cast<size_t>(bytes), 1), internal::kAlignment, std::nothrow));
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("this machine has no memory for '", name, "': ", bytes, " bytes asked for"));
  }
  std::memset(data, internal::kGarbageByte, static_cast<size_t>(bytes));
  buffer->allocation.data = data;
  buffer->allocation.bytes = bytes;
  buffer->allocation.details = &buffer->details;
  Details& details = buffer->details;
  details.data = {data, [](std::byte* p) { ::operator delete(p, internal::kAlignment); }};
  details.name = std::string(name);
  details.element_bytes = element_bytes;
  details.bytes = bytes;
  details.granule_log2 = internal::GranuleLog2(element_bytes);
  state_->buffers.push_back(std::move(buffer));
  Allocation& made = state_->buffers.back()->allocation;
  made.address = uint64_t{state_->buffers.size()} << internal::kAllocationShift;
  state_->used_bytes += bytes;
  return &made;
}

absl::Status DeviceMemory::Release(const Allocation* allocation, uint64_t offset) {
  if (allocation == &internal::null_allocation) return absl::OkStatus();  // as cudaFree(nullptr)
  if (!state_->Owns(allocation)) {
    return absl::InvalidArgumentError("freed what is no buffer of this device memory");
  }
  Details& details = *allocation->details;
  if (!details.live) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer ", internal::Describe(details), " freed twice"));
  }
  if (offset != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer ", internal::Describe(details), " freed by a pointer to byte ",
                     static_cast<int64_t>(offset), " of it, expected to its start"));
  }
  Allocation& own =
      state_->buffers[(allocation->address >> internal::kAllocationShift) - 1]->allocation;
  own.bytes = 0;
  own.data = nullptr;
  details.live = false;
  details.data.reset();
  details.cells = internal::Cells();
  state_->used_bytes -= details.bytes;
  return absl::OkStatus();
}

absl::Status DeviceMemory::CheckRange(const Allocation* allocation, uint64_t offset, int64_t n,
                                      uint64_t element_bytes) const {
  if (n < 0) return Negative(n);
  if (static_cast<uint64_t>(n) > internal::kMaxAllocationBytes / element_bytes) {
    return absl::OutOfRangeError(absl::StrCat(n, " elements are more than any buffer has"));
  }
  return CheckBytes(allocation, offset, static_cast<uint64_t>(n) * element_bytes);
}

absl::Status DeviceMemory::CheckBytes(const Allocation* allocation, uint64_t offset,
                                      uint64_t bytes) const {
  if (bytes == 0 && allocation == &internal::null_allocation) return absl::OkStatus();
  if (!state_->Owns(allocation)) {
    return absl::InvalidArgumentError(
        allocation == &internal::null_allocation
            ? absl::StrCat("a null pointer, where ", bytes, " bytes of device memory are meant")
            : std::string("a pointer that is not to a buffer of this device memory"));
  }
  const Details& details = *allocation->details;
  if (!details.live) {
    return absl::FailedPreconditionError(
        absl::StrCat("buffer ", internal::Describe(details), " is used after it was freed"));
  }
  if (offset > details.bytes || details.bytes - offset < bytes) {
    return absl::OutOfRangeError(absl::StrCat(
        "bytes [", static_cast<int64_t>(offset), ", ", static_cast<int64_t>(offset + bytes),
        ") are not all within buffer ", internal::Describe(details)));
  }
  return absl::OkStatus();
}

absl::Status DeviceMemory::Write(const Allocation* allocation, uint64_t offset, const void* from,
                                 uint64_t bytes) {
  if (absl::Status status = CheckBytes(allocation, offset, bytes); !status.ok()) return status;
  if (bytes == 0) return absl::OkStatus();
  std::memcpy(allocation->data + offset, from, static_cast<size_t>(bytes));
  internal::MarkInitialised(*allocation->details, offset, bytes);
  return absl::OkStatus();
}

absl::Status DeviceMemory::Read(const Allocation* allocation, uint64_t offset, void* to,
                                uint64_t bytes) const {
  if (absl::Status status = CheckBytes(allocation, offset, bytes); !status.ok()) return status;
  if (bytes != 0) std::memcpy(to, allocation->data + offset, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

absl::Status DeviceMemory::CopyWithin(const Allocation* to, uint64_t to_offset,
                                      const Allocation* from, uint64_t from_offset,
                                      uint64_t bytes) {
  if (absl::Status status = CheckBytes(to, to_offset, bytes); !status.ok()) return status;
  if (absl::Status status = CheckBytes(from, from_offset, bytes); !status.ok()) return status;
  if (bytes == 0) return absl::OkStatus();
  std::memmove(to->data + to_offset, from->data + from_offset, static_cast<size_t>(bytes));
  Details& target = *to->details;
  const Details& source = *from->details;
  if (source.initialised) {
    internal::MarkInitialised(target, to_offset, bytes);
    return absl::OkStatus();
  }
  if (source.cells.get() == nullptr) return absl::OkStatus();
  for (uint64_t byte = 0; byte < bytes; byte += uint64_t{1} << source.granule_log2) {
    const Cell& cell = source.cells.get()[(from_offset + byte) >> source.granule_log2];
    if ((cell.write.flags & internal::kInitialised) == 0) continue;
    internal::MarkInitialised(target, to_offset + byte,
                              std::min(bytes - byte, uint64_t{1} << source.granule_log2));
  }
  return absl::OkStatus();
}

absl::Status DeviceMemory::FillBytes(const Allocation* allocation, uint64_t offset,
                                     unsigned char byte, uint64_t bytes) {
  if (absl::Status status = CheckBytes(allocation, offset, bytes); !status.ok()) return status;
  if (bytes == 0) return absl::OkStatus();
  std::memset(allocation->data + offset, byte, static_cast<size_t>(bytes));
  internal::MarkInitialised(*allocation->details, offset, bytes);
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
