// SPDX-License-Identifier: Apache-2.0
// CUDA's atomic operations and fences, on simulated memory. Under nvcc CUDA's own are used, and the
// few that CUDA spells as PTX or through libcu++ (simt.h).
//
// Memory order, as PTX has it: atomics are relaxed. What a thread wrote before `__threadfence()`
// is seen by whoever reads, with an atomic or volatile load, an atomic that it wrote after the
// fence, and then fences too. store_release and load_acquire hold their fence within.
#ifndef ASSAY_GPU_SIMT_ATOMICS_H_
#define ASSAY_GPU_SIMT_ATOMICS_H_

#include <cstdint>
#include <type_traits>

#include "gpu/simt/pointer.h"

namespace assay::simt {
namespace internal {

// What the engine needs to know of an atomic that changed nothing: a thread that only looks makes
// no progress for others.
void NoteAtomic(bool changed);
// Without trace, nothing else would notice a thread that looks at one place for ever.
void NoteLook(const Where& where);

// Integers wrap, as CUDA's atomics do; in C++ only unsigned ones may.
template <class T>
T WrappingSum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return static_cast<T>(a + b);
  }
}
template <class T>
T WrappingDifference(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
  } else {
    return static_cast<T>(a - b);
  }
}

template <class T, class Combine>
T ReadModifyWrite(const Pointer<T>& target, const Where& where, Combine combine) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "atomics work on 2, 4 or 8 bytes");
  const Place place = target.At(0);
  const T before = Load<T>(place, where, Action::kAtomic);
  const Mode mode = current->mode;
  if (mode == Mode::kUntraced) NoteLook(where);
  if (mode == Mode::kAborted) return before;
  const T after = combine(before);
  NoteAtomic(std::memcmp(static_cast<const void*>(&before), static_cast<const void*>(&after),
                         sizeof(T)) != 0);
  std::memcpy(Find(current, place.memory)->data + place.offset, static_cast<const void*>(&after),
              sizeof(T));
  return before;
}

}  // namespace internal

// Each returns the value from before, and takes part in no race with other atomics.
#define ASSAY_SIMT_ATOMIC(name, expression)                                                     \
  template <class T>                                                                            \
  T name(const Pointer<T>& target, std::type_identity_t<T> value,                               \
         uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {               \
    return internal::ReadModifyWrite(target, {line, file},                                      \
                                     [value](T before) { return static_cast<T>(expression); }); \
  }
ASSAY_SIMT_ATOMIC(atomicAdd, internal::WrappingSum(before, value))
ASSAY_SIMT_ATOMIC(atomicSub, internal::WrappingDifference(before, value))
ASSAY_SIMT_ATOMIC(atomicExch, (static_cast<void>(before), value))
ASSAY_SIMT_ATOMIC(atomicMin, value < before ? value : before)
ASSAY_SIMT_ATOMIC(atomicMax, before < value ? value : before)
ASSAY_SIMT_ATOMIC(atomicAnd, before& value)
ASSAY_SIMT_ATOMIC(atomicOr, before | value)
ASSAY_SIMT_ATOMIC(atomicXor, before ^ value)
ASSAY_SIMT_ATOMIC(atomicInc, before >= value ? 0 : before + 1)
ASSAY_SIMT_ATOMIC(atomicDec, before == 0 || before > value ? value : before - 1)
#undef ASSAY_SIMT_ATOMIC

template <class T>
T atomicCAS(const Pointer<T>& target, std::type_identity_t<T> expected,
            std::type_identity_t<T> desired, uint32_t line = __builtin_LINE(),
            const char* file = __builtin_FILE()) {
  return internal::ReadModifyWrite(target, {line, file}, [expected, desired](T before) {
    return before == expected ? desired : before;
  });
}

// A load that the compiler may not keep in a register, and a store that it may not delay. Volatile
// accesses are relaxed atomics to PTX.
template <class T>
std::remove_const_t<T> load_volatile(const Pointer<T>& source, uint32_t line = __builtin_LINE(),
                                     const char* file = __builtin_FILE()) {
  const internal::Where where{line, file};
  if (internal::current->mode == internal::Mode::kUntraced) internal::NoteLook(where);
  return internal::Load<std::remove_const_t<T>>(source.At(0), where, internal::Action::kAtomicLoad);
}
template <class T>
void store_volatile(const Pointer<T>& target, std::type_identity_t<T> value,
                    uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  internal::NoteAtomic(true);
  internal::Store<T>(target.At(0), value, {line, file}, internal::Action::kAtomicStore);
}

// Orders what this thread did before it, for all threads that fence in turn.
inline void __threadfence(uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  internal::Thread* thread = internal::current;
  if (thread->mode != internal::Mode::kTraced) return;
  const internal::Where where{line, file};
  internal::Record(thread, internal::SiteOf(where, internal::Action::kFence, 0), 0, where);
}
// The same for the threads of one block only.
inline void __threadfence_block(uint32_t line = __builtin_LINE(),
                                const char* file = __builtin_FILE()) {
  internal::Thread* thread = internal::current;
  if (thread->mode != internal::Mode::kTraced) return;
  const internal::Where where{line, file};
  internal::Record(thread, internal::SiteOf(where, internal::Action::kBlockFence, 0), 0, where);
}

inline void __threadfence_system(uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) {
  __threadfence(line, file);
}

// A load through the read-only path: of what no thread of the launch writes.
template <class T>
std::remove_const_t<T> __ldg(const Pointer<T>& source, uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) {
  return internal::Load<std::remove_const_t<T>>(source.At(0), {line, file});
}

// Reads a flag, and orders all that follows after whatever its writer released.
template <class T>
std::remove_const_t<T> load_acquire(const Pointer<T>& source, uint32_t line = __builtin_LINE(),
                                    const char* file = __builtin_FILE()) {
  const std::remove_const_t<T> value = load_volatile(source, line, file);
  __threadfence(line, file);
  return value;
}
// Writes a flag after all that this thread did before.
template <class T>
void store_release(const Pointer<T>& target, std::type_identity_t<T> value,
                   uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  __threadfence(line, file);
  store_volatile(target, value, line, file);
}

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_ATOMICS_H_
