// SPDX-License-Identifier: Apache-2.0
//
// buffer.h: arrays on cache line boundaries, not initialised, in huge pages where the system has
// them. A vector of 64 bytes that straddles two lines costs two loads.
#ifndef ASSAY_NUMERICS_NTT_INTERNAL_BUFFER_H_
#define ASSAY_NUMERICS_NTT_INTERNAL_BUFFER_H_

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace assay::ntt::internal {

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Buffer() = default;

  // Room for n elements of any value; false, and the buffer unchanged, where memory is lacking.
  [[nodiscard]] bool Allocate(size_t n) {
    constexpr size_t kHuge = size_t{1} << 21, kLine = 64;
    if (n > (std::numeric_limits<size_t>::max() - kHuge) / sizeof(T)) return false;
    const size_t alignment = n * sizeof(T) >= kHuge ? kHuge : kLine;
    const size_t bytes = (n * sizeof(T) + alignment - 1) / alignment * alignment;
    T* data = static_cast<T*>(std::aligned_alloc(alignment, bytes == 0 ? kLine : bytes));
    if (data == nullptr) return false;
#ifdef __linux__
    // A hint only: where it is refused, nothing is lost but time.
    if (alignment == kHuge) (void)madvise(data, bytes, MADV_HUGEPAGE);
#endif
    data_.reset(data);
    size_ = n;
    return true;
  }

  size_t size() const { return size_; }
  T* data() const { return data_.get(); }
  T& operator[](size_t i) const { return data()[i]; }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

}  // namespace assay::ntt::internal

#endif  // ASSAY_NUMERICS_NTT_INTERNAL_BUFFER_H_
