// SPDX-License-Identifier: Apache-2.0
//
// Memory of a device, and host memory that a device reaches by itself. device.h says how errors,
// order and ownership work.
#ifndef ASSAY_GPU_DEVICE_BUFFER_H_
#define ASSAY_GPU_DEVICE_BUFFER_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu/device/device.h"
#include "gpu/device/internal/common.h"
#include "gpu/device/internal/side.h"

namespace assay::device {
#if defined(__CUDACC__)
inline namespace on_cuda {
#else
inline namespace on_simulator {
#endif

// Host memory that the GPU reads and writes by itself: copies from and to it run in a stream while
// the host goes on. It must outlive such copies (the simulator tells where it did not).
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "what goes to a device is bytes");

 public:
  PinnedBuffer() = default;
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    pinned_ = std::move(other.pinned_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // size: elements, zeroed. Fails: InvalidArgument, ResourceExhausted.
  static absl::StatusOr<PinnedBuffer> Create(const Device& device, size_t size) {
    absl::StatusOr<size_t> bytes = either_side::BytesOf(size, sizeof(T));
    if (!bytes.ok()) return bytes.status();
    absl::StatusOr<internal::Pinned> pinned = internal::AllocatePinned(device.context(), *bytes);
    if (!pinned.ok()) return pinned.status();
    PinnedBuffer buffer;
    buffer.pinned_ = *std::move(pinned);
    buffer.size_ = size;
    return buffer;
  }

  size_t size() const { return size_; }
  std::span<T> span() { return {static_cast<T*>(internal::PinnedAddress(pinned_)), size_}; }
  std::span<const T> span() const {
    return {static_cast<const T*>(internal::PinnedAddress(pinned_)), size_};
  }

  const internal::Pinned& pinned() const { return pinned_; }

 private:
  internal::Pinned pinned_;
  size_t size_ = 0;
};

// Memory of a device.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "what goes to a device is bytes");

 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // size: elements, uninitialised; the simulator tells where one is read before it is written.
  // The address is a multiple of 256 bytes. name: for the simulator's reports.
  // Fails: InvalidArgument, ResourceExhausted.
  static absl::StatusOr<DeviceBuffer> Create(const Device& device, size_t size,
                                             std::string_view name = "a buffer") {
    absl::StatusOr<size_t> bytes = either_side::BytesOf(size, sizeof(T));
    if (!bytes.ok()) return bytes.status();
    absl::StatusOr<internal::Memory> memory = internal::Allocate<T>(device.context(), size, name);
    if (!memory.ok()) return memory.status();
    DeviceBuffer buffer;
    buffer.memory_ = *std::move(memory);
    buffer.size_ = size;
    return buffer;
  }

  // The same with the elements of `host`.
  static absl::StatusOr<DeviceBuffer> CreateFrom(const Device& device, std::span<const T> host,
                                                 std::string_view name = "a buffer") {
    absl::StatusOr<DeviceBuffer> buffer = Create(device, host.size(), name);
    if (!buffer.ok()) return buffer.status();
    absl::Status copied = buffer->CopyFrom(host);
    if (!copied.ok()) return copied;
    return buffer;
  }

  size_t size() const { return size_; }

  // What a kernel takes: T* for nvcc, a checked gptr<T> for the simulator.
  internal::Pointer<T> data() { return internal::PointerTo<T>(memory_); }
  internal::Pointer<const T> data() const { return internal::PointerTo<const T>(memory_); }

  // Copies all of `host` to the elements from `offset` on. Fails: OutOfRange; a kept error.
  absl::Status CopyFrom(std::span<const T> host, size_t offset = 0) {
    absl::Status range = either_side::CheckRange("copy to device", offset, host.size(), size_);
    if (!range.ok() || host.empty()) return range;
    return internal::CopyIn(memory_, offset * sizeof(T), host.data(), host.size() * sizeof(T));
  }

  // Copies the elements from `offset` on to all of `host`. Fails: OutOfRange; a kept error.
  absl::Status CopyTo(std::span<T> host, size_t offset = 0) const {
    absl::Status range = either_side::CheckRange("copy from device", offset, host.size(), size_);
    if (!range.ok() || host.empty()) return range;
    return internal::CopyOut(memory_, offset * sizeof(T), host.data(), host.size() * sizeof(T));
  }

  // All elements.
  absl::StatusOr<std::vector<T>> ToHost() const {
    std::vector<T> host(size_);
    absl::Status copied = CopyTo(host);
    if (!copied.ok()) return copied;
    return host;
  }

  // Sets every byte: 0 zeroes, 0xff makes floats NaN. The second form runs in the stream.
  absl::Status SetBytes(std::byte value) {
    return size_ == 0 ? absl::OkStatus() : internal::SetBytes(memory_, size_ * sizeof(T), value);
  }
  absl::Status SetBytes(Stream& stream, std::byte value) {
    if (size_ == 0) return absl::OkStatus();
    return internal::SetBytes(stream.state(), memory_, size_ * sizeof(T), value);
  }
  absl::Status Zero() { return SetBytes(std::byte{0}); }
  absl::Status Zero(Stream& stream) { return SetBytes(stream, std::byte{0}); }

  // In the stream, of the same size: copies all of `from` to here, or all of this to `to`.
  // Fails: InvalidArgument where sizes differ.
  absl::Status CopyFrom(Stream& stream, const PinnedBuffer<T>& from) {
    absl::Status same = SameSize(from.size());
    if (!same.ok() || size_ == 0) return same;
    return internal::CopyIn(stream.state(), memory_, from.pinned(), size_ * sizeof(T));
  }
  absl::Status CopyFrom(Stream& stream, const DeviceBuffer& from) {
    absl::Status same = SameSize(from.size());
    if (!same.ok() || size_ == 0) return same;
    return internal::CopyAcross(stream.state(), from.memory_, memory_, size_ * sizeof(T));
  }
  absl::Status CopyTo(Stream& stream, PinnedBuffer<T>& to) const {
    absl::Status same = SameSize(to.size());
    if (!same.ok() || size_ == 0) return same;
    return internal::CopyOut(stream.state(), memory_, to.pinned(), size_ * sizeof(T));
  }

 private:
  absl::Status SameSize(size_t other) const { return either_side::CheckSameSize(other, size_); }

  internal::Memory memory_;
  size_t size_ = 0;
};

}  // namespace on_simulator or on_cuda
}  // namespace assay::device

#endif  // ASSAY_GPU_DEVICE_BUFFER_H_
