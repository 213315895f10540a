// SPDX-License-Identifier: Apache-2.0
// Pointers into simulated memory: checked and recorded at every access.
//
//   gptr<float> y;  y[i] = 2 * y[i];   float* would do the same; gptr also knows bounds and place
//
// A pointer goes to global or to shared memory, as a generic pointer of CUDA does. `p[i]` of a
// pointer to const is a value; of any other, a stand-in that loads when it is used as a value and
// stores when it is assigned to. `auto v = p[i]` does not compile then: name the type.
// Under nvcc none of this exists, and gptr<T> is T* (simt.h).
#ifndef ASSAY_GPU_SIMT_POINTER_H_
#define ASSAY_GPU_SIMT_POINTER_H_

#include <cstring>
#include <type_traits>
#include <utility>

#include "gpu/simt/internal/thread.h"

namespace assay::simt {
namespace internal {

// An index together with the place where it was written.
class Index {
 public:
  template <class Integer>
  requires std::is_integral_v<Integer> || std::is_enum_v<Integer> Index(
      Integer value, uint32_t line = __builtin_LINE(),  // NOLINT: implicit by design
      const char* file = __builtin_FILE())
      : value(static_cast<int64_t>(value)), where{line, file} {}

  int64_t value;
  Where where;
};

// How one access to a T splits into what a load or store instruction can do: 1, 2, 4, 8 or 16
// bytes, aligned to themselves.
template <class T>
struct Pieces {
  static constexpr bool kWhole = (sizeof(T) & (sizeof(T) - 1)) == 0 && sizeof(T) <= 16;
  static constexpr uint32_t kBytes = kWhole ? sizeof(T) : alignof(T) > 16 ? 16 : alignof(T);
  static constexpr uint32_t kCount = sizeof(T) / kBytes;
  static constexpr int kLog2 = kBytes == 1   ? 0
                               : kBytes == 2 ? 1
                               : kBytes == 4 ? 2
                               : kBytes == 8 ? 3
                                             : 4;
};

template <class T>
[[gnu::always_inline]] inline void RecordAccess(Thread* thread, const Allocation* allocation,
                                                uint64_t offset, Action action, const Where& where,
                                                uint64_t flags = 0) {
  const uint32_t site = SiteOf(where, action, Pieces<T>::kLog2) | allocation->site_bits;
  for (uint32_t piece = 0; piece < Pieces<T>::kCount; ++piece) {
    Record(thread, site, (allocation->address + offset + piece * Pieces<T>::kBytes) | flags, where);
  }
}

// Whether [offset, offset + sizeof(T)) lies in the allocation, at a multiple of its width.
template <class T>
bool MayTouch(const Thread* thread, const Allocation* allocation, uint64_t offset) {
  return offset < allocation->bytes && allocation->bytes - offset >= sizeof(T) &&
         (offset & (Pieces<T>::kBytes - 1)) == 0 && thread->mode != Mode::kAborted &&
         thread->mode != Mode::kOutside;
}

template <class T>
[[gnu::noinline, gnu::cold]] T Garbage(const Allocation* allocation, uint64_t offset, Action action,
                                       const Where& where) {
  const uint64_t bits = Fault(allocation, offset, sizeof(T), Pieces<T>::kBytes, action, where);
  alignas(T) unsigned char bytes[sizeof(T)] = {};
  std::memcpy(bytes, &bits, sizeof(T) < sizeof(bits) ? sizeof(T) : sizeof(bits));
  T value;
  std::memcpy(static_cast<void*>(&value), bytes, sizeof(T));
  return value;
}

template <class T>
T Load(const Allocation* allocation, uint64_t offset, const Where& where,
       Action action = Action::kLoad) {
  Thread* thread = current;
  if (!MayTouch<T>(thread, allocation, offset)) [[unlikely]] {
    return Garbage<T>(allocation, offset, action, where);
  }
  if (thread->mode == Mode::kTraced) RecordAccess<T>(thread, allocation, offset, action, where);
  T value;
  std::memcpy(static_cast<void*>(&value), allocation->data + offset, sizeof(T));
  return value;
}

template <class T>
void Store(const Allocation* allocation, uint64_t offset, const T& value, const Where& where,
           Action action = Action::kStore) {
  Thread* thread = current;
  if (!MayTouch<T>(thread, allocation, offset)) [[unlikely]] {
    Garbage<T>(allocation, offset, action, where);
    return;
  }
  std::byte* target = allocation->data + offset;
  if (thread->mode == Mode::kTraced) {
    const bool silent = std::memcmp(target, static_cast<const void*>(&value), sizeof(T)) == 0;
    RecordAccess<T>(thread, allocation, offset, action, where, silent ? kSilent : 0);
  }
  std::memcpy(target, static_cast<const void*>(&value), sizeof(T));
}

extern const Allocation null_allocation;

}  // namespace internal

template <class T>
class Pointer;

namespace internal {
template <class T>
inline constexpr bool kIsPointer = false;
template <class T>
inline constexpr bool kIsPointer<Pointer<T>> = true;
}  // namespace internal

template <class T>
class Element;

namespace internal {
// The type that stands behind an argument: an element of device memory stands for its value.
template <class T>
struct PlainType {
  using type = T;
};
template <class T>
struct PlainType<Element<T>> {
  using type = T;
};
template <class Argument>
using ValueOf = typename PlainType<std::decay_t<Argument>>::type;
}  // namespace internal

// An element that may be written: reads when converted, writes when assigned.
template <class T>
class Element {
 public:
  Element(const internal::Allocation* allocation, uint64_t offset, const internal::Where& where)
      : allocation_(allocation), offset_(offset), where_(where) {}
  Element(const Element&) = delete;

  operator T() && { return Get(); }  // NOLINT: stands for a T

  T operator=(const T& value) && {  // NOLINT: as the assignment of a T, by value
    Set(value);
    return value;
  }
  T operator=(Element&& other) && {  // NOLINT: y[i] = x[i] copies the element, not the reference
    const T value = other.Get();
    Set(value);
    return value;
  }
  template <class U>
  T operator+=(U&& by) && {
    return Replace(static_cast<T>(Get() + internal::ValueOf<U>(std::forward<U>(by))));
  }
  template <class U>
  T operator-=(U&& by) && {
    return Replace(static_cast<T>(Get() - internal::ValueOf<U>(std::forward<U>(by))));
  }
  template <class U>
  T operator*=(U&& by) && {
    return Replace(static_cast<T>(Get() * internal::ValueOf<U>(std::forward<U>(by))));
  }
  template <class U>
  T operator/=(U&& by) && {
    return Replace(static_cast<T>(Get() / internal::ValueOf<U>(std::forward<U>(by))));
  }
  template <class U>
  T operator|=(U&& by) && {
    return Replace(static_cast<T>(Get() | internal::ValueOf<U>(std::forward<U>(by))));
  }
  template <class U>
  T operator&=(U&& by) && {
    return Replace(static_cast<T>(Get() & internal::ValueOf<U>(std::forward<U>(by))));
  }
  template <class U>
  T operator^=(U&& by) && {
    return Replace(static_cast<T>(Get() ^ internal::ValueOf<U>(std::forward<U>(by))));
  }
  T operator++() && { return Replace(static_cast<T>(Get() + 1)); }
  T operator--() && { return Replace(static_cast<T>(Get() - 1)); }
  T operator++(int) && {
    const T value = Get();
    Set(static_cast<T>(value + 1));
    return value;
  }
  T operator--(int) && {
    const T value = Get();
    Set(static_cast<T>(value - 1));
    return value;
  }

  Pointer<T> operator&() const { return Pointer<T>(allocation_, offset_); }

 private:
  T Get() const { return internal::Load<T>(allocation_, offset_, where_); }
  void Set(const T& value) const { internal::Store<T>(allocation_, offset_, value, where_); }
  T Replace(const T& value) const {
    Set(value);
    return value;
  }

  const internal::Allocation* allocation_;
  uint64_t offset_;
  internal::Where where_;
};

// A pointer to T in global or shared memory; nothing of it is undefined before it is used. T is
// trivially copyable. Default: null.
template <class T>
class Pointer {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types");
  using Value = std::remove_const_t<T>;
  // One read before it was written would lead anywhere. Pass pointers as arguments of the kernel.
  static_assert(!internal::kIsPointer<Value>, "simulated memory holds no pointers");

  Pointer() = default;
  Pointer(std::nullptr_t) {}  // NOLINT: as a raw pointer
  Pointer(const internal::Allocation* allocation, uint64_t offset)
      : allocation_(allocation), offset_(offset) {}
  // To const, as raw pointers convert.
  template <class U>
  requires std::is_same_v<const U, T> Pointer(
      const Pointer<U>& other)  // NOLINT: implicit by design
      : allocation_(other.allocation()), offset_(other.offset()) {}

  decltype(auto) operator[](internal::Index i) const {
    const uint64_t offset = offset_ + static_cast<uint64_t>(i.value) * sizeof(T);
    if constexpr (std::is_const_v<T>) {
      return internal::Load<Value>(allocation_, offset, i.where);
    } else {
      return Element<T>(allocation_, offset, i.where);
    }
  }
  decltype(auto) operator*() const = delete;  // has no place in the source: write p[0]

  Pointer operator+(int64_t n) const {
    return Pointer(allocation_, offset_ + static_cast<uint64_t>(n) * sizeof(T));
  }
  Pointer operator-(int64_t n) const {
    return Pointer(allocation_, offset_ - static_cast<uint64_t>(n) * sizeof(T));
  }
  Pointer& operator+=(int64_t n) { return *this = *this + n; }
  Pointer& operator-=(int64_t n) { return *this = *this - n; }
  Pointer& operator++() { return *this += 1; }
  Pointer operator++(int) {
    const Pointer before = *this;
    ++*this;
    return before;
  }
  // Elements between two pointers to the same memory.
  int64_t operator-(const Pointer& other) const {
    return static_cast<int64_t>(offset_ - other.offset_) / static_cast<int64_t>(sizeof(T));
  }
  friend bool operator==(const Pointer& a, const Pointer& b) {
    return a.allocation_ == b.allocation_ && a.offset_ == b.offset_;
  }
  explicit operator bool() const { return allocation_ != &internal::null_allocation; }

  const internal::Allocation* allocation() const { return allocation_; }
  uint64_t offset() const { return offset_; }

 private:
  const internal::Allocation* allocation_ = &internal::null_allocation;
  uint64_t offset_ = 0;  // in bytes, modulo 2^64: before the beginning is a huge one
};

template <class T>
using gptr = Pointer<T>;
template <class T>
using sptr = Pointer<T>;

// The same address as a pointer to another type, such as float4.
template <class To, class From>
Pointer<To> pointer_cast(const Pointer<From>& pointer) {
  static_assert(std::is_const_v<To> || !std::is_const_v<From>, "pointer_cast would lose const");
  return Pointer<To>(pointer.allocation(), pointer.offset());
}

// A __shared__ array of one to three dimensions; rows of the outer ones are arrays themselves.
template <class T, int kExtent, int... kInner>
class SharedArray {
 public:
  static constexpr int64_t kElements = int64_t{kExtent} * (int64_t{1} * ... * kInner);

  SharedArray(const internal::Allocation* allocation, uint64_t offset)
      : allocation_(allocation), offset_(offset) {}

  decltype(auto) operator[](internal::Index i) const {
    const uint64_t offset =
        offset_ + static_cast<uint64_t>(i.value) * (kElements / kExtent * sizeof(T));
    if constexpr (sizeof...(kInner) == 0) {
      if (static_cast<uint64_t>(i.value) >= uint64_t{kExtent}) [[unlikely]] {
        internal::RowFault(allocation_, i.value, kExtent, i.where);
      }
      return Element<T>(allocation_, offset, i.where);
    } else {
      return SharedArray<T, kInner...>(allocation_, offset);
    }
  }
  operator Pointer<T>() const { return Pointer<T>(allocation_, offset_); }  // NOLINT: decays
  operator Pointer<const T>() const { return Pointer<const T>(allocation_, offset_); }  // NOLINT
  Pointer<T> operator+(int64_t n) const { return Pointer<T>(*this) + n; }

 private:
  const internal::Allocation* allocation_;
  uint64_t offset_;
};

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_POINTER_H_
