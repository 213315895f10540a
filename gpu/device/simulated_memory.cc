// SPDX-License-Identifier: Apache-2.0
// Buffers, copies and fills of gpu/device over the simulator.

#include <cstring>

#include "gpu/device/internal/simulated_state.h"

namespace assay::device {
inline namespace on_simulator {
namespace internal {

absl::StatusOr<simt::DeviceMemory*> MemoryToAllocateIn(const std::shared_ptr<Context>& context) {
  if (context == nullptr) return EmptyObject("DeviceBuffer::Create");
  absl::Status status = context->OutsideCapture("DeviceBuffer::Create");
  if (!status.ok()) return status;
  return &context->memory;
}

Memory Own(const std::shared_ptr<Context>& context, const simt::Pointer<std::byte>& memory,
           size_t bytes) {
  context->live.Add(static_cast<int64_t>(bytes));
  return Memory(new MemoryState{context, memory, bytes});
}

simt::Pointer<std::byte> AddressOf(const Memory& memory) {
  return memory == nullptr ? simt::Pointer<std::byte>() : memory->address;
}

absl::StatusOr<Pinned> AllocatePinned(const std::shared_ptr<Context>& context, size_t bytes) {
  if (context == nullptr) return EmptyObject("PinnedBuffer::Create");
  absl::Status status = context->OutsideCapture("PinnedBuffer::Create");
  if (!status.ok()) return status;
  auto held = std::make_shared<PinnedBytes>(bytes);
  if (held->data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("PinnedBuffer::Create: this machine has no room for ", bytes, " bytes"));
  }
  std::memset(held->data, 0, bytes);
  context->live.Add(static_cast<int64_t>(bytes));
  return Pinned(new PinnedState{context, std::move(held), bytes});
}

void* PinnedAddress(const Pinned& pinned) {
  return pinned == nullptr ? nullptr : pinned->held->data;
}

namespace {

// Everything given so far has run, or why not.
absl::Status WaitForAll(const Memory& memory, absl::string_view call) {
  if (memory == nullptr) return EmptyObject(call);
  absl::Status status = memory->context->OutsideCapture(call);
  if (!status.ok()) return status;
  memory->context->RunAll();
  return memory->context->errors.Peek();
}

absl::Status Outlived(const PinnedBytes& pinned, absl::string_view call) {
  if (pinned.alive) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      call,
      ": the pinned buffer was freed while the copy waited in a stream; expected it to live "
      "until the stream is synchronised"));
}

}  // namespace

absl::Status CopyIn(const Memory& to, size_t offset, const void* from, size_t bytes) {
  absl::Status status = WaitForAll(to, "copy to device");
  if (!status.ok()) return status;
  return to->context->memory.CopyToDevice(to->address + static_cast<int64_t>(offset),
                                          {static_cast<const std::byte*>(from), bytes});
}

absl::Status CopyOut(const Memory& from, size_t offset, void* to, size_t bytes) {
  absl::Status status = WaitForAll(from, "copy from device");
  if (!status.ok()) return status;
  return from->context->memory.CopyToHost({static_cast<std::byte*>(to), bytes},
                                          from->address + static_cast<int64_t>(offset));
}

absl::Status SetBytes(const Memory& memory, size_t bytes, std::byte value) {
  absl::Status status = WaitForAll(memory, "SetBytes");
  if (!status.ok()) return status;
  return memory->context->memory.Fill(memory->address, static_cast<unsigned char>(value),
                                      static_cast<int64_t>(bytes));
}

absl::Status SetBytes(const std::shared_ptr<StreamState>& stream, const Memory& memory,
                      size_t bytes, std::byte value) {
  if (stream == nullptr) return EmptyObject("SetBytes in a stream");
  // The context outlives its streams' work; a stream or a graph that owned it would keep itself
  // alive, and so closures hold a plain reference.
  stream->Give([&context = *stream->context, to = memory->address, bytes, value] {
    return context.memory.Fill(to, static_cast<unsigned char>(value), static_cast<int64_t>(bytes));
  });
  return absl::OkStatus();
}

absl::Status CopyIn(const std::shared_ptr<StreamState>& stream, const Memory& to,
                    const Pinned& from, size_t bytes) {
  if (stream == nullptr) return EmptyObject("copy to device in a stream");
  stream->Give([&context = *stream->context, to = to->address, from = from->held, bytes] {
    absl::Status status = Outlived(*from, "copy to device");
    return status.ok() ? context.memory.CopyToDevice(to, {from->data, bytes}) : status;
  });
  return absl::OkStatus();
}

absl::Status CopyOut(const std::shared_ptr<StreamState>& stream, const Memory& from,
                     const Pinned& to, size_t bytes) {
  if (stream == nullptr) return EmptyObject("copy from device in a stream");
  stream->Give([&context = *stream->context, from = from->address, to = to->held, bytes] {
    absl::Status status = Outlived(*to, "copy from device");
    return status.ok() ? context.memory.CopyToHost({to->data, bytes}, from) : status;
  });
  return absl::OkStatus();
}

absl::Status CopyAcross(const std::shared_ptr<StreamState>& stream, const Memory& from,
                        const Memory& to, size_t bytes) {
  if (stream == nullptr) return EmptyObject("copy on the device in a stream");
  stream->Give([&context = *stream->context, from = from->address, to = to->address, bytes] {
    return context.memory.Copy<std::byte>(to, from, static_cast<int64_t>(bytes));
  });
  return absl::OkStatus();
}

}  // namespace internal
}  // namespace on_simulator
}  // namespace assay::device
