// SPDX-License-Identifier: Apache-2.0
//
// An array that is written once as a whole: not initialised, and in huge pages where the system has
// them. Of 52 MB in pages of 4 KiB the first touch alone took 19 ms, in pages of 2 MiB 2.5 ms.
#ifndef ASSAY_NUMERICS_ISOTONIC_INTERNAL_BIG_ARRAY_H_
#define ASSAY_NUMERICS_ISOTONIC_INTERNAL_BIG_ARRAY_H_

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>

#include "numerics/core/check.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace assay::isotonic::internal {

template <class T>
class BigArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  BigArray() = default;
  // n elements of any value. Memory that the machine does not have is a failed check.
  explicit BigArray(size_t n) : size_(n) {
    constexpr size_t kHuge = size_t{1} << 21, kLine = 64;
    ASSAY_CHECK_LE(n, (std::numeric_limits<size_t>::max() - kHuge) / sizeof(T));
    const size_t alignment = n * sizeof(T) >= kHuge ? kHuge : kLine;
    const size_t bytes = (n * sizeof(T) + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<T*>(std::aligned_alloc(alignment, bytes + (n == 0 ? kLine : 0))));
    ASSAY_CHECK(data_ != nullptr);
#ifdef __linux__
    // A hint only: where it is refused, nothing is lost but time.
    if (alignment == kHuge) (void)madvise(data_.get(), bytes, MADV_HUGEPAGE);
#endif
  }

  size_t size() const { return size_; }
  T* data() const { return data_.get(); }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  T& operator[](size_t i) const { return data()[i]; }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

}  // namespace assay::isotonic::internal

#endif  // ASSAY_NUMERICS_ISOTONIC_INTERNAL_BIG_ARRAY_H_
