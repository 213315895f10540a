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

#include <compare>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "gpu/simt/internal/thread.h"

namespace assay::simt {
template <class T>
class Element;
template <class T>
class Pointer;

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

// An index together with the place where it was written.
class Index {
 public:
  template <class Integer, class Value = ValueOf<Integer>>
  requires std::is_integral_v<Value> || std::is_enum_v<Value> Index(
      Integer&& value, uint32_t line = __builtin_LINE(),  // NOLINT: implicit by design
      const char* file = __builtin_FILE())
      : value(static_cast<int64_t>(static_cast<Value>(std::forward<Integer>(value)))),
        where{line, file} {}

  int64_t value;
  Where where;
};

// How one access to a T splits into what a load or store instruction can do: 1, 2, 4, 8 or 16
// bytes, aligned to themselves. A structure of four floats takes four, as in CUDA, unless its type
// is aligned to 16 bytes as float4 is.
template <class T>
struct Pieces {
  static constexpr uint32_t kBytes = alignof(T) > 16 ? 16 : alignof(T);
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

// Whether [offset, offset + sizeof(T)) lies in the allocation, at a multiple of its width, and the
// thread may touch it.
template <class T>
bool MayTouch(const Thread* thread, const Allocation* allocation, uint64_t offset) {
  return offset < allocation->bytes && allocation->bytes - offset >= sizeof(T) &&
         (offset & (Pieces<T>::kBytes - 1)) == 0 && allocation->owner == thread->memory;
}

template <class T>
[[gnu::noinline, gnu::cold]] T Garbage(const Place& place, Action action, const Where& where) {
  const uint64_t bits = Fault(place, sizeof(T), Pieces<T>::kBytes, action, where);
  alignas(T) unsigned char bytes[sizeof(T)] = {};
  std::memcpy(bytes, &bits, sizeof(T) < sizeof(bits) ? sizeof(T) : sizeof(bits));
  T value;
  std::memcpy(static_cast<void*>(&value), bytes, sizeof(T));
  return value;
}

template <class T>
T Load(const Place& place, const Where& where, Action action = Action::kLoad) {
  Thread* thread = current;
  const Allocation* allocation = Find(thread, place.memory);
  if (!MayTouch<T>(thread, allocation, place.offset)) [[unlikely]] {
    return Garbage<T>(place, action, where);
  }
  if (thread->mode == Mode::kTraced) {
    RecordAccess<T>(thread, allocation, place.offset, action, where);
  }
  T value;
  std::memcpy(static_cast<void*>(&value), allocation->data + place.offset, sizeof(T));
  return value;
}

template <class T>
void Store(const Place& place, const T& value, const Where& where, Action action = Action::kStore) {
  Thread* thread = current;
  const Allocation* allocation = Find(thread, place.memory);
  if (!MayTouch<T>(thread, allocation, place.offset)) [[unlikely]] {
    Garbage<T>(place, action, where);
    return;
  }
  std::byte* target = allocation->data + place.offset;
  if (thread->mode == Mode::kTraced) {
    const bool silent = std::memcmp(target, static_cast<const void*>(&value), sizeof(T)) == 0;
    RecordAccess<T>(thread, allocation, place.offset, action, where, silent ? kSilent : 0);
  }
  std::memcpy(target, static_cast<const void*>(&value), sizeof(T));
}

// address + bytes, kept within what an offset can be; beyond that it points nowhere.
inline uint64_t Advance(uint64_t address, int64_t elements, int64_t element_bytes) {
  constexpr int64_t kMost = 2 * kMaxOffset;
  const int64_t most = kMost / element_bytes;
  const int64_t clamped = elements > most ? most : elements < -most ? -most : elements;
  int64_t offset = OffsetOf(address) + clamped * element_bytes;
  if (offset > kMaxOffset) offset = kMaxOffset;
  if (offset < -kMaxOffset) offset = -kMaxOffset;
  return (address & ~kOffsetMask) | (static_cast<uint64_t>(offset) & kOffsetMask);
}

}  // namespace internal

// An element that may be written: reads when converted, writes when assigned.
template <class T>
class Element {
 public:
  Element(const internal::Place& place, const internal::Where& where)
      : place_(place), where_(where) {}
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
  template <class U>
  T operator%=(U&& by) && {
    return Replace(static_cast<T>(Get() % internal::ValueOf<U>(std::forward<U>(by))));
  }
  template <class U>
  T operator<<=(U&& by) && {
    return Replace(static_cast<T>(Get() << internal::ValueOf<U>(std::forward<U>(by))));
  }
  template <class U>
  T operator>>=(U&& by) && {
    return Replace(static_cast<T>(Get() >> internal::ValueOf<U>(std::forward<U>(by))));
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

  Pointer<T> operator&() const {
    return Pointer<T>(internal::Advance(place_.memory & ~internal::kOffsetMask,
                                        static_cast<int64_t>(place_.offset), 1));
  }

 private:
  T Get() const { return internal::Load<T>(place_, where_); }
  void Set(const T& value) const { internal::Store<T>(place_, value, where_); }
  T Replace(const T& value) const {
    Set(value);
    return value;
  }

  internal::Place place_;
  internal::Where where_;
};

// A pointer to T in global or shared memory; nothing of it is undefined before it is used. T is
// trivially copyable. Default: null.
template <class T>
class Pointer {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types");
  using Value = std::remove_const_t<T>;

  Pointer() = default;
  Pointer(std::nullptr_t) {}  // NOLINT: as a raw pointer
  explicit Pointer(uint64_t address) : address_(address) {}
  // To const, as raw pointers convert.
  template <class U>
  requires std::is_same_v<const U, T> Pointer(
      const Pointer<U>& other)  // NOLINT: implicit by design
      : address_(other.address()) {}

  decltype(auto) operator[](internal::Index i) const {
    const internal::Place place = At(i.value);
    if constexpr (std::is_const_v<T>) {
      return internal::Load<Value>(place, i.where);
    } else {
      return Element<T>(place, i.where);
    }
  }
  decltype(auto) operator*() const = delete;  // has no place in the source: write p[0]

  Pointer operator+(int64_t n) const { return Pointer(internal::Advance(address_, n, kBytes)); }
  friend Pointer operator+(int64_t n, const Pointer& pointer) { return pointer + n; }
  Pointer operator-(int64_t n) const {
    return Pointer(internal::Advance(address_, n == INT64_MIN ? INT64_MAX : -n, kBytes));
  }
  Pointer& operator+=(int64_t n) { return *this = *this + n; }
  Pointer& operator-=(int64_t n) { return *this = *this - n; }
  Pointer& operator++() { return *this += 1; }
  Pointer& operator--() { return *this -= 1; }
  Pointer operator++(int) {
    const Pointer before = *this;
    ++*this;
    return before;
  }
  Pointer operator--(int) {
    const Pointer before = *this;
    --*this;
    return before;
  }
  // Elements between two pointers to the same memory.
  int64_t operator-(const Pointer& other) const {
    return (internal::OffsetOf(address_) - internal::OffsetOf(other.address_)) / kBytes;
  }
  friend bool operator==(const Pointer& a, const Pointer& b) { return a.address_ == b.address_; }
  // Order within one memory; between two it is that of their making.
  friend auto operator<=>(const Pointer& a, const Pointer& b) {
    const uint64_t a_memory = a.address_ & ~internal::kOffsetMask;
    const uint64_t b_memory = b.address_ & ~internal::kOffsetMask;
    if (a_memory != b_memory) return a_memory <=> b_memory;
    return internal::OffsetOf(a.address_) <=> internal::OffsetOf(b.address_);
  }
  explicit operator bool() const { return address_ != 0; }

  uint64_t address() const { return address_; }
  // Of element i, for an access.
  internal::Place At(int64_t i) const {
    return {address_, static_cast<uint64_t>(internal::OffsetOf(address_)) +
                          static_cast<uint64_t>(i) * sizeof(T)};
  }

 private:
  static constexpr int64_t kBytes = sizeof(T);

  uint64_t address_ = 0;  // thread.h has its parts; 8 bytes, as a pointer of the GPU
};

template <class T>
using gptr = Pointer<T>;
template <class T>
using sptr = Pointer<T>;

// The same address as a pointer to another type, such as float4.
template <class To, class From>
Pointer<To> pointer_cast(const Pointer<From>& pointer) {
  static_assert(std::is_const_v<To> || !std::is_const_v<From>, "pointer_cast would lose const");
  return Pointer<To>(pointer.address());
}

// A __shared__ array of one to three dimensions, or a row of one; a pointer to its first element.
template <class T, int kExtent, int... kInner>
class SharedArray : public Pointer<T> {
 public:
  using Pointer<T>::Pointer;

  decltype(auto) operator[](internal::Index i) const {
    if (static_cast<uint64_t>(i.value) >= uint64_t{kExtent}) [[unlikely]] {
      internal::RowFault(this->address(), i.value, kExtent, i.where);
    }
    if constexpr (sizeof...(kInner) == 0) {
      return Element<T>(this->At(i.value), i.where);
    } else {
      constexpr int64_t kRow = (int64_t{1} * ... * kInner);
      return SharedArray<T, kInner...>((*this + i.value * kRow).address());
    }
  }
};

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_POINTER_H_
