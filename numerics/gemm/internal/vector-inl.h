// SPDX-License-Identifier: Apache-2.0
//
// vector-inl.h: the vectors of the kernels: the compiler's own, as wide as the target has them, so
// that WebAssembly has doubles too.
//
// Compiled once for every target of Highway, hence the toggled guard.

#if defined(ASSAY_NUMERICS_GEMM_INTERNAL_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_GEMM_INTERNAL_VECTOR_INL_H_
#undef ASSAY_NUMERICS_GEMM_INTERNAL_VECTOR_INL_H_
#else
#define ASSAY_NUMERICS_GEMM_INTERNAL_VECTOR_INL_H_
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"

// Which arithmetic these files are compiled for: every product and sum rounded, or, with
// ASSAY_GEMM_FUSED, a product and its sum rounded once where the processor can.
#ifndef ASSAY_GEMM_NAMESPACE
#define ASSAY_GEMM_NAMESPACE assay::gemm::internal
#endif

HWY_BEFORE_NAMESPACE();
namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE {
namespace {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int kVectorBytes = 64;
constexpr bool kMasks = true;  // loads and stores of some lanes cost what whole ones do
#elif HWY_TARGET == HWY_AVX2
constexpr int kVectorBytes = 32;
constexpr bool kMasks = false;
#else
constexpr int kVectorBytes = 16;
constexpr bool kMasks = false;
#endif

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(kVectorBytes)));
};
template <>
struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(kVectorBytes)));
};
template <>
struct VectorOf<uint32_t> {
  typedef uint32_t Type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vec = typename VectorOf<T>::Type;
template <class T>
constexpr int kLanes = static_cast<int>(kVectorBytes / sizeof(T));

// Calls f(0), f(1), ... f(n - 1) with numbers that are constants to the compiler: arrays of vectors
// stay in registers only if every index is one.
template <class F, size_t... kIndex>
HWY_INLINE void ForEachOf(F f, std::index_sequence<kIndex...>) {
  (f(std::integral_constant<int, static_cast<int>(kIndex)>()), ...);
}
template <int n, class F>
HWY_INLINE void ForEach(F f) {
  ForEachOf(f, std::make_index_sequence<n>());
}

template <class T>
HWY_INLINE Vec<T> Load(const T* from) {
  Vec<T> v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}
template <class T>
HWY_INLINE void Store(Vec<T> v, T* to) {
  std::memcpy(to, &v, sizeof(v));
}

// The first lanes, at least one; other lanes read as 0 and are not written.
template <class T>
HWY_INLINE Vec<T> LoadSome(const T* from, int lanes) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const uint32_t mask = (1u << lanes) - 1;
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vec<T>>(_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from));
  } else {
    return reinterpret_cast<Vec<T>>(_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from));
  }
#else
  Vec<T> v = {};
  for (int i = 0; i < lanes; ++i) v[i] = from[i];
  return v;
#endif
}
template <class T>
HWY_INLINE void StoreSome(Vec<T> v, T* to, int lanes) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const uint32_t mask = (1u << lanes) - 1;
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), reinterpret_cast<__m512>(v));
  } else {
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), reinterpret_cast<__m512d>(v));
  }
#else
  for (int i = 0; i < lanes; ++i) to[i] = v[i];
#endif
}

// All lanes equal to x. (x + 0 would not do: it changes -0.)
template <class T>
HWY_INLINE Vec<T> Splat(T x) {
  return x - Vec<T>{};
}

// a b + c.
template <class V>
HWY_INLINE V TimesPlus(V a, V b, V c) {
#if defined(ASSAY_GEMM_FUSED) && HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<V, Vec<float>>) {
    return _mm512_fmadd_ps(a, b, c);
  } else {
    return _mm512_fmadd_pd(a, b, c);
  }
#elif defined(ASSAY_GEMM_FUSED) && HWY_TARGET == HWY_AVX2
  if constexpr (std::is_same_v<V, Vec<float>>) {
    return _mm256_fmadd_ps(a, b, c);
  } else {
    return _mm256_fmadd_pd(a, b, c);
  }
#else
  return a * b + c;
#endif
}

// Hides from the compiler what p is a sum of: it would otherwise keep one pointer a row and, short
// of registers, all of them in memory.
template <class P>
HWY_INLINE P Opaque(P p) {
  asm("" : "+r"(p));
  return p;
}

}  // namespace
}  // namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_VECTOR_INL_H_
