// SPDX-License-Identifier: Apache-2.0
//
// What device.h and buffer.h ask of the side they are compiled for: the CUDA runtime under nvcc
// (cuda_side.cu, cuda_memory.cu), the simulator elsewhere (simulated_side.cc, simulated_memory.cc).
#ifndef ASSAY_GPU_DEVICE_INTERNAL_SIDE_H_
#define ASSAY_GPU_DEVICE_INTERNAL_SIDE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu/simt/dim3.h"

#if !defined(__CUDACC__)
#include "gpu/simt/launch.h"
#include "gpu/simt/memory.h"
#include "gpu/simt/pointer.h"
#endif

namespace assay::device {

using simt::Dim3;

// How many threads a kernel runs on. The limits are the device's (Device::limits()).
struct LaunchConfig {
  Dim3 grid = {};                    // blocks
  Dim3 block = {};                   // threads of a block
  int64_t dynamic_shared_bytes = 0;  // of a block, beside what the kernel declares
  bool cooperative = false;          // all blocks resident at once, so that GRID_SYNC() works
};

#if defined(__CUDACC__)
inline namespace on_cuda {
#else
inline namespace on_simulator {
#endif

namespace internal {

struct Context;      // an open device, shared by all that was made on it
struct MemoryState;  // what the others own; their destructors give it back
struct PinnedState;
struct StreamState;
struct EventState;
struct GraphState;

using Memory = std::shared_ptr<MemoryState>;
using Pinned = std::shared_ptr<PinnedState>;

absl::StatusOr<Pinned> AllocatePinned(const std::shared_ptr<Context>& context, size_t bytes);
void* PinnedAddress(const Pinned& pinned);

// All offsets and lengths are in bytes, not 0, and were checked.
absl::Status CopyIn(const Memory& to, size_t offset, const void* from, size_t bytes);
absl::Status CopyOut(const Memory& from, size_t offset, void* to, size_t bytes);
absl::Status SetBytes(const Memory& memory, size_t bytes, std::byte value);
absl::Status SetBytes(const std::shared_ptr<StreamState>& stream, const Memory& memory,
                      size_t bytes, std::byte value);
absl::Status CopyIn(const std::shared_ptr<StreamState>& stream, const Memory& to,
                    const Pinned& from, size_t bytes);
absl::Status CopyOut(const std::shared_ptr<StreamState>& stream, const Memory& from,
                     const Pinned& to, size_t bytes);
absl::Status CopyAcross(const std::shared_ptr<StreamState>& stream, const Memory& from,
                        const Memory& to, size_t bytes);

#if defined(__CUDACC__)
template <class T>
using Pointer = T*;

absl::StatusOr<Memory> AllocateMemory(const std::shared_ptr<Context>& context, size_t bytes);
void* MemoryAddress(const Memory& memory);  // null where there is none

// count: elements, whose bytes were checked.
template <class T>
absl::StatusOr<Memory> Allocate(const std::shared_ptr<Context>& context, size_t count,
                                std::string_view) {
  return AllocateMemory(context, count * sizeof(T));
}
template <class T>
T* PointerTo(const Memory& memory) {
  return static_cast<T*>(MemoryAddress(memory));
}

// arguments: the address of each argument.
absl::Status LaunchKernel(const std::shared_ptr<StreamState>& stream, const LaunchConfig& config,
                          const void* kernel, void** arguments);
#else
template <class T>
using Pointer = simt::Pointer<T>;

absl::StatusOr<simt::DeviceMemory*> MemoryToAllocateIn(const std::shared_ptr<Context>& context);
Memory Own(const std::shared_ptr<Context>& context, const simt::Pointer<std::byte>& memory,
           size_t bytes);
simt::Pointer<std::byte> AddressOf(const Memory& memory);  // null where there is none

template <class T>
absl::StatusOr<Memory> Allocate(const std::shared_ptr<Context>& context, size_t count,
                                std::string_view name) {
  const absl::StatusOr<simt::DeviceMemory*> memory = MemoryToAllocateIn(context);
  if (!memory.ok()) return memory.status();
  const auto made = (*memory)->template Allocate<T>(static_cast<int64_t>(count), name);
  if (!made.ok()) return made.status();
  return Own(context, simt::pointer_cast<std::byte>(*made), count * sizeof(T));
}
template <class T>
simt::Pointer<T> PointerTo(const Memory& memory) {
  return simt::Pointer<T>(AddressOf(memory).address());
}

// Runs a kernel with its arguments; under all schedules where random_runs >= 0.
using KernelCall = std::function<simt::LaunchResult(
    simt::DeviceMemory& memory, const simt::LaunchConfig& config, int random_runs)>;

absl::Status LaunchCall(const std::shared_ptr<StreamState>& stream, const LaunchConfig& config,
                        KernelCall call);
#endif

}  // namespace internal

}  // namespace on_simulator or on_cuda
}  // namespace assay::device

#endif  // ASSAY_GPU_DEVICE_INTERNAL_SIDE_H_
