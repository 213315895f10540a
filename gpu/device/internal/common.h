// SPDX-License-Identifier: Apache-2.0
//
// What both sides of gpu/device share: checks of sizes and the keeper of errors nobody was told of.
#ifndef ASSAY_GPU_DEVICE_INTERNAL_COMMON_H_
#define ASSAY_GPU_DEVICE_INTERNAL_COMMON_H_

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace assay::device {

// Buffers that are alive on a device, and what they hold together.
struct LiveMemory {
  int64_t buffers = 0;
  int64_t bytes = 0;
};

namespace either_side {

// The first error of a device that no call has returned. Several threads may use one.
class ErrorKeeper {
 public:
  // Keeps `status` if it is an error and none is kept.
  void Keep(const absl::Status& status);
  // The kept error, or OK.
  absl::Status Peek() const;
  // The same, and forgets it.
  absl::Status Take();

 private:
  mutable std::mutex mutex_;
  absl::Status first_;
};

// Counts the live buffers of a device. Several threads may use one.
class LiveCounter {
 public:
  void Add(int64_t bytes);
  void Remove(int64_t bytes);
  LiveMemory live() const;

 private:
  mutable std::mutex mutex_;
  LiveMemory live_;
};

// count * element_bytes. Fails: InvalidArgument where that is beyond size_t or ptrdiff_t.
absl::StatusOr<size_t> BytesOf(size_t count, size_t element_bytes);

// Do [offset, offset + count) lie in [0, size)? An empty range may lie at the end.
//   what: "copy to device" or the like. Fails: OutOfRange with all three numbers.
absl::Status CheckRange(absl::string_view what, size_t offset, size_t count, size_t size);

// InvalidArgument where the two ends of a copy have different sizes.
absl::Status CheckSameSize(size_t given, size_t expected);

// FailedPrecondition: a moved-from or default-constructed object was used.
absl::Status EmptyObject(absl::string_view what);

// FailedPrecondition: a time was asked of an event that marks nothing.
absl::Status NeverRecorded();

}  // namespace either_side
}  // namespace assay::device

#endif  // ASSAY_GPU_DEVICE_INTERNAL_COMMON_H_
