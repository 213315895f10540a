// SPDX-License-Identifier: Apache-2.0
// The global memory of a simulated device.
//
//   DeviceMemory memory;
//   gptr<float> x = memory.Allocate<float>(1000, "x").value();
//   ASSERT_TRUE(memory.CopyToDevice(x, std::span<const float>(host)).ok());
//   ... launches ...
//   memory.Free(x);
//
// Buffers begin at multiples of 256 bytes, as cudaMalloc's do, and hold garbage until they are
// written; kernels that read it are reported. Nothing is ever read or written outside a buffer.
#ifndef ASSAY_GPU_SIMT_MEMORY_H_
#define ASSAY_GPU_SIMT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu/simt/pointer.h"
#include "gpu/simt/report.h"

namespace assay::simt {
namespace internal {
class Engine;
struct MemoryState;
}  // namespace internal

class DeviceMemory {
 public:
  // capacity_bytes: what all buffers together may take; 16 GB as a T4 has.
  explicit DeviceMemory(uint64_t capacity_bytes = uint64_t{16} << 30);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // A buffer of n >= 0 elements; `name` is for reports. Fails: n < 0 (InvalidArgument), no room
  // (ResourceExhausted).
  template <class T>
  absl::StatusOr<Pointer<T>> Allocate(int64_t n, std::string_view name) {
    const absl::StatusOr<uint64_t> made = Make(n, sizeof(T), name);
    if (!made.ok()) return made.status();
    return Pointer<T>(*made);
  }
  // The same, filled with `values`.
  template <class T>
  absl::StatusOr<Pointer<T>> Upload(std::span<const T> values, std::string_view name) {
    absl::StatusOr<Pointer<T>> buffer = Allocate<T>(static_cast<int64_t>(values.size()), name);
    if (buffer.ok()) {
      if (absl::Status status = CopyToDevice(*buffer, values); !status.ok()) return status;
    }
    return buffer;
  }
  template <class T>
  absl::StatusOr<Pointer<T>> Upload(const std::vector<T>& values, std::string_view name) {
    return Upload(std::span<const T>(values), name);
  }

  // Fails: not the start of a live buffer of this memory (a double free too).
  template <class T>
  absl::Status Free(const Pointer<T>& buffer) {
    return Release(buffer.address());
  }

  // Copies to or from [pointer, pointer + n). Fails, with nothing copied, where that leaves the
  // buffer.
  template <class T>
  absl::Status CopyToDevice(const Pointer<T>& to, std::span<const std::type_identity_t<T>> from) {
    return Write(to.address(), from.data(), from.size_bytes());
  }
  template <class T>
  absl::Status CopyToHost(std::span<std::remove_const_t<T>> to, const Pointer<T>& from) const {
    return Read(from.address(), to.data(), to.size_bytes());
  }
  template <class T>
  absl::StatusOr<std::vector<std::remove_const_t<T>>> Download(const Pointer<T>& from,
                                                               int64_t n) const {
    if (absl::Status status = CheckRange(from.address(), n, sizeof(T)); !status.ok()) {
      return status;
    }
    std::vector<std::remove_const_t<T>> values(static_cast<size_t>(n));
    if (absl::Status status = CopyToHost<T>(values, from); !status.ok()) return status;
    return values;
  }
  // Copies n elements within the device; whether they were initialised is copied too.
  template <class T>
  absl::Status Copy(const Pointer<T>& to, const std::type_identity_t<Pointer<const T>>& from,
                    int64_t n) {
    if (absl::Status status = CheckRange(to.address(), n, sizeof(T)); !status.ok()) {
      return status;
    }
    return CopyWithin(to.address(), from.address(), static_cast<uint64_t>(n) * sizeof(T));
  }
  // Sets n elements' bytes to `byte`, as cudaMemset.
  template <class T>
  absl::Status Fill(const Pointer<T>& to, unsigned char byte, int64_t n) {
    if (absl::Status status = CheckRange(to.address(), n, sizeof(T)); !status.ok()) {
      return status;
    }
    return FillBytes(to.address(), byte, static_cast<uint64_t>(n) * sizeof(T));
  }

  // A kLeak for every buffer that is still there.
  std::vector<Diagnostic> Leaks() const;
  uint64_t used_bytes() const;
  uint64_t capacity_bytes() const;

  internal::MemoryState& state() const { return *state_; }
  internal::Engine& engine() const { return *engine_; }

 private:
  static absl::Status Negative(int64_t n);
  absl::StatusOr<uint64_t> Make(int64_t n, uint32_t element_bytes, std::string_view name);
  absl::Status Release(uint64_t address);
  absl::Status CheckRange(uint64_t address, int64_t n, uint64_t element_bytes) const;
  absl::Status CheckBytes(uint64_t address, uint64_t bytes) const;
  absl::Status Write(uint64_t address, const void* from, uint64_t bytes);
  absl::Status Read(uint64_t address, void* to, uint64_t bytes) const;
  absl::Status CopyWithin(uint64_t to, uint64_t from, uint64_t bytes);
  absl::Status FillBytes(uint64_t address, unsigned char byte, uint64_t bytes);

  std::unique_ptr<internal::MemoryState> state_;
  std::unique_ptr<internal::Engine> engine_;
};

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_MEMORY_H_
