// SPDX-License-Identifier: Apache-2.0
// Buffers, copies and fills of gpu/device over the CUDA runtime.

#include <cuda_runtime.h>

#include <cstring>

#include "gpu/device/internal/cuda_state.h"

namespace assay::device {
inline namespace on_cuda {
namespace internal {

absl::StatusOr<Memory> AllocateMemory(const std::shared_ptr<Context>& context, size_t bytes) {
  if (context == nullptr) return EmptyObject("DeviceBuffer::Create");
  absl::Status status = context->Use();
  void* address = nullptr;
  if (status.ok() && bytes > 0) {
    status = StatusOf(cudaMalloc(&address, bytes), "cudaMalloc of ", bytes, " bytes");
  }
  if (!status.ok()) return status;
  context->live.Add(static_cast<int64_t>(bytes));
  return std::shared_ptr<MemoryState>(new MemoryState{context, address, bytes});
}

absl::StatusOr<Pinned> AllocatePinned(const std::shared_ptr<Context>& context, size_t bytes) {
  if (context == nullptr) return EmptyObject("PinnedBuffer::Create");
  absl::Status status = context->Use();
  void* address = nullptr;
  if (status.ok() && bytes > 0) {
    status = StatusOf(cudaMallocHost(&address, bytes), "cudaMallocHost of ", bytes, " bytes");
  }
  if (!status.ok()) return status;
  if (bytes > 0) std::memset(address, 0, bytes);
  context->live.Add(static_cast<int64_t>(bytes));
  return std::shared_ptr<PinnedState>(new PinnedState{context, address, bytes});
}

void* PinnedAddress(const Pinned& pinned) { return pinned == nullptr ? nullptr : pinned->address; }
void* MemoryAddress(const Memory& memory) { return memory == nullptr ? nullptr : memory->address; }

// The streams here are ordered with the legacy default stream, in which these four run.
absl::Status CopyIn(const Memory& to, size_t offset, const void* from, size_t bytes) {
  absl::Status status = Use(to, "copy to device");
  if (!status.ok()) return status;
  return to->context->AfterWaiting(StatusOf(
      cudaMemcpy(static_cast<char*>(to->address) + offset, from, bytes, cudaMemcpyHostToDevice),
      "cudaMemcpy of ", bytes, " bytes to the device"));
}

absl::Status CopyOut(const Memory& from, size_t offset, void* to, size_t bytes) {
  absl::Status status = Use(from, "copy from device");
  // An error of a destructor must not come after the host's memory was written.
  if (status.ok()) status = from->context->errors.Peek();
  if (!status.ok()) return status;
  return StatusOf(cudaMemcpy(to, static_cast<const char*>(from->address) + offset, bytes,
                             cudaMemcpyDeviceToHost),
                  "cudaMemcpy of ", bytes, " bytes from the device");
}

absl::Status SetBytes(const Memory& memory, size_t bytes, std::byte value) {
  absl::Status status = Use(memory, "SetBytes");
  if (!status.ok()) return status;
  return StatusOf(cudaMemset(memory->address, static_cast<int>(value), bytes), "cudaMemset of ",
                  bytes, " bytes");
}

absl::Status SetBytes(const std::shared_ptr<StreamState>& stream, const Memory& memory,
                      size_t bytes, std::byte value) {
  absl::Status status = Use(stream, "SetBytes");
  if (status.ok()) status = Use(memory, "SetBytes");
  if (!status.ok()) return status;
  return StatusOf(cudaMemsetAsync(memory->address, static_cast<int>(value), bytes, stream->stream),
                  "cudaMemsetAsync of ", bytes, " bytes");
}

absl::Status CopyIn(const std::shared_ptr<StreamState>& stream, const Memory& to,
                    const Pinned& from, size_t bytes) {
  absl::Status status = Use(stream, "copy to device");
  if (!status.ok()) return status;
  return StatusOf(
      cudaMemcpyAsync(to->address, from->address, bytes, cudaMemcpyHostToDevice, stream->stream),
      "cudaMemcpyAsync of ", bytes, " bytes to the device");
}

absl::Status CopyOut(const std::shared_ptr<StreamState>& stream, const Memory& from,
                     const Pinned& to, size_t bytes) {
  absl::Status status = Use(stream, "copy from device");
  if (!status.ok()) return status;
  return StatusOf(
      cudaMemcpyAsync(to->address, from->address, bytes, cudaMemcpyDeviceToHost, stream->stream),
      "cudaMemcpyAsync of ", bytes, " bytes from the device");
}

absl::Status CopyAcross(const std::shared_ptr<StreamState>& stream, const Memory& from,
                        const Memory& to, size_t bytes) {
  absl::Status status = Use(stream, "copy on the device");
  if (!status.ok()) return status;
  return StatusOf(
      cudaMemcpyAsync(to->address, from->address, bytes, cudaMemcpyDeviceToDevice, stream->stream),
      "cudaMemcpyAsync of ", bytes, " bytes on the device");
}

}  // namespace internal
}  // namespace on_cuda
}  // namespace assay::device
