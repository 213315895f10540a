// SPDX-License-Identifier: Apache-2.0
#include "gpu/device/internal/common.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace assay::device::either_side {

void ErrorKeeper::Keep(const absl::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (first_.ok()) first_ = status;
}

absl::Status ErrorKeeper::Peek() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return first_;
}

absl::Status ErrorKeeper::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  absl::Status taken = first_;
  first_ = absl::OkStatus();
  return taken;
}

void LiveCounter::Add(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++live_.buffers;
  live_.bytes += bytes;
}

void LiveCounter::Remove(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  --live_.buffers;
  live_.bytes -= bytes;
}

LiveMemory LiveCounter::live() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return live_;
}

absl::StatusOr<size_t> BytesOf(size_t count, size_t element_bytes) {
  // Differences of pointers into a buffer must fit as well, hence half of size_t.
  constexpr size_t kMost = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max());
  if (element_bytes != 0 && count > kMost / element_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(count, " elements of ", element_bytes,
                                                   " bytes; expected at most ", kMost, " bytes"));
  }
  return count * element_bytes;
}

absl::Status CheckRange(absl::string_view what, size_t offset, size_t count, size_t size) {
  if (offset <= size && count <= size - offset) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(what, ": ", count, " elements from element ", offset,
                                            "; expected a range inside the buffer's ", size));
}

absl::Status CheckSameSize(size_t given, size_t expected) {
  if (given == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a copy between buffers of ", given, " and ",
                                                 expected, " elements; expected the same size"));
}

absl::Status EmptyObject(absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat(what, ": the object is empty (moved from, or made by its default constructor)"));
}

absl::Status NeverRecorded() {
  return absl::FailedPreconditionError(
      "Event::SecondsSince: an event was never recorded; expected Event::Record before");
}

}  // namespace assay::device::either_side
