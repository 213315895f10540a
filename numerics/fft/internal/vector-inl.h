// SPDX-License-Identifier: Apache-2.0
//
// vector-inl.h: the vectors of the passes. Highway's, where it has them; one lane as a plain
// number, so that short loops and the one-lane target need no other code; and two doubles in
// WebAssembly, which Highway 1.0.3 does not have there.
//
// Compiled once for every target of Highway, hence the toggled guard.

#if defined(ASSAY_NUMERICS_FFT_INTERNAL_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_FFT_INTERNAL_VECTOR_INL_H_
#undef ASSAY_NUMERICS_FFT_INTERNAL_VECTOR_INL_H_
#else
#define ASSAY_NUMERICS_FFT_INTERNAL_VECTOR_INL_H_
#endif

#include <cstdint>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#ifdef ASSAY_FFT_FUSED
#include "numerics/fft/internal/fused-inl.h"
#endif

// Which arithmetic these files are compiled for: exact, every product and sum rounded, the same
// bits everywhere; or fused, with ASSAY_FFT_FUSED, products fused with sums where the processor
// can.
#ifndef ASSAY_FFT_NAMESPACE
#define ASSAY_FFT_NAMESPACE assay::fft::internal
#endif

// The arrays of vectors live in registers only if every loop over them is unrolled.
#ifndef ASSAY_UNROLL
#if defined(__clang__)
#define ASSAY_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ASSAY_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace ASSAY_FFT_NAMESPACE::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Tags choose a width, as Highway's do.
template <class T>
struct One {};
struct TwoDoubles {};

typedef double DoublePair __attribute__((vector_size(16)));

template <class D>
struct Traits {
  using Vector = hn::Vec<D>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
};
template <class T>
struct Traits<One<T>> {
  using Vector = T;
  static constexpr int kLanes = 1;
};
template <>
struct Traits<TwoDoubles> {
  using Vector = DoublePair;
  static constexpr int kLanes = 2;
};

template <class D>
using Vec = typename Traits<D>::Vector;

template <class D>
constexpr int kLanes = Traits<D>::kLanes;

// The widest tag for T, those of at most four and eight lanes, and one lane.
#if HWY_TARGET == HWY_SCALAR
template <class T>
using Full = One<T>;
template <class T>
using Four = One<T>;
template <class T>
using Eight = One<T>;
#elif HWY_ARCH_WASM
template <class T>
using Full = std::conditional_t<std::is_same_v<T, double>, TwoDoubles, hn::CappedTag<float, 4>>;
template <class T>
using Four = Full<T>;
template <class T>
using Eight = Full<T>;
#else
template <class T>
using Full = hn::ScalableTag<T>;
template <class T>
using Four = hn::CappedTag<T, 4>;
template <class T>
using Eight = hn::CappedTag<T, 8>;
#endif

// Types that have the operators built in.
template <class V>
constexpr bool kBuiltIn = std::is_floating_point_v<V> || std::is_same_v<V, DoublePair>;

template <class V>
HWY_INLINE V Plus(V a, V b) {
  if constexpr (kBuiltIn<V>) {
    return a + b;
  } else {
    return hn::Add(a, b);
  }
}

template <class V>
HWY_INLINE V Minus(V a, V b) {
  if constexpr (kBuiltIn<V>) {
    return a - b;
  } else {
    return hn::Sub(a, b);
  }
}

template <class V>
HWY_INLINE V Times(V a, V b) {
  if constexpr (kBuiltIn<V>) {
#if defined(__clang__)
    return a * b;
#else
    // g++ 12's vectoriser knows an instruction for neighbouring a * b + c and d * e - f, a fused
    // one, and takes it although fusing is forbidden; not through this.
    return __builtin_assoc_barrier(a * b);
#endif
  } else {
    return hn::Mul(a, b);
  }
}

template <class V>
HWY_INLINE V Over(V a, V b) {
  if constexpr (kBuiltIn<V>) {
    return a / b;
  } else {
    return hn::Div(a, b);
  }
}

// a b + c and a b - c.
template <class V>
HWY_INLINE V TimesPlus(V a, V b, V c) {
#ifdef ASSAY_FFT_FUSED
  if constexpr (!kBuiltIn<V>) return FusedPlus(a, b, c);
#endif
  return Plus(Times(a, b), c);
}
template <class V>
HWY_INLINE V TimesMinus(V a, V b, V c) {
#ifdef ASSAY_FFT_FUSED
  if constexpr (!kBuiltIn<V>) return FusedMinus(a, b, c);
#endif
  return Minus(Times(a, b), c);
}

// re, im *= w: the one complex product of this library.
template <class V>
HWY_INLINE void Rotate(V& re, V& im, V wr, V wi) {
  const V r = TimesMinus(re, wr, Times(im, wi));
  im = TimesPlus(re, wi, Times(im, wr));
  re = r;
}

template <class D, class T>
HWY_INLINE Vec<D> Splat(D d, T value) {
  if constexpr (std::is_same_v<D, One<T>>) {
    return value;
  } else if constexpr (std::is_same_v<D, TwoDoubles>) {
    return DoublePair{value, value};
  } else {
    return hn::Set(d, value);
  }
}

template <class D, class T>
HWY_INLINE Vec<D> LoadRow(D d, const T* from) {
  if constexpr (std::is_same_v<D, One<T>>) {
    return *from;
  } else if constexpr (std::is_same_v<D, TwoDoubles>) {
    return DoublePair{from[0], from[1]};
  } else {
    return hn::LoadU(d, from);
  }
}

template <class D, class T>
HWY_INLINE void StoreRow(D d, Vec<D> v, T* to) {
  if constexpr (std::is_same_v<D, One<T>>) {
    *to = v;
  } else if constexpr (std::is_same_v<D, TwoDoubles>) {
    __builtin_memcpy(to, &v, sizeof(v));
  } else {
    hn::StoreU(v, d, to);
  }
}

// re[i] = from[2 i], im[i] = from[2 i + 1].
template <class D, class T>
HWY_INLINE void LoadPairs(D d, const T* from, Vec<D>& re, Vec<D>& im) {
  if constexpr (std::is_same_v<D, One<T>>) {
    re = from[0];
    im = from[1];
  } else if constexpr (std::is_same_v<D, TwoDoubles>) {
    re = DoublePair{from[0], from[2]};
    im = DoublePair{from[1], from[3]};
  } else {
    hn::LoadInterleaved2(d, from, re, im);
  }
}

template <class D, class T>
HWY_INLINE void StorePairs(D d, Vec<D> re, Vec<D> im, T* to) {
  if constexpr (std::is_same_v<D, One<T>>) {
    to[0] = re;
    to[1] = im;
  } else if constexpr (std::is_same_v<D, TwoDoubles>) {
    StoreRow(d, DoublePair{re[0], im[0]}, to);
    StoreRow(d, DoublePair{re[1], im[1]}, to + 2);
  } else {
    hn::StoreInterleaved2(re, im, d, to);
  }
}

// Lane i is v's lane kLanes - 1 - i.
template <class D>
HWY_INLINE Vec<D> Reversed(D d, Vec<D> v) {
  if constexpr (std::is_floating_point_v<Vec<D>>) {
    return v;
  } else if constexpr (std::is_same_v<D, TwoDoubles>) {
    return DoublePair{v[1], v[0]};
  } else {
    return hn::Reverse(d, v);
  }
}

// Store past the caches; `to` is aligned to the vector.
template <class D, class T>
HWY_INLINE void StreamRow(D d, Vec<D> v, T* to) {
  if constexpr (kBuiltIn<Vec<D>>) {
    StoreRow(d, v, to);
  } else {
    hn::Stream(v, d, to);
  }
}

template <class D, class T>
HWY_INLINE void StreamPairs(D d, Vec<D> re, Vec<D> im, T* to) {
  if constexpr (kBuiltIn<Vec<D>>) {
    StorePairs(d, re, im, to);
  } else {
    T pairs[2 * kLanes<D>];
    hn::StoreInterleaved2(re, im, d, pairs);
    hn::Stream(hn::LoadU(d, pairs), d, to);
    hn::Stream(hn::LoadU(d, pairs + kLanes<D>), d, to + kLanes<D>);
  }
}

// Lane l of the first result is a[l] where l & S is 0 and b[l - S] elsewhere; of the second a[l +
// S] and b[l].
template <int S, class N, size_t... kLane>
HWY_INLINE void ExchangeNative(N& a, N& b, std::index_sequence<kLane...>) {
  constexpr int kWidth = sizeof...(kLane);
  const N low = __builtin_shufflevector(
      a, b, ((kLane & S) == 0 ? static_cast<int>(kLane) : static_cast<int>(kLane) + kWidth - S)...);
  b = __builtin_shufflevector(
      a, b, ((kLane & S) == 0 ? static_cast<int>(kLane) + S : static_cast<int>(kLane) + kWidth)...);
  a = low;
}

template <int S, class D>
HWY_INLINE void Exchange(D, Vec<D>& a, Vec<D>& b) {
  using V = Vec<D>;
  constexpr auto kLanesOfV = std::make_index_sequence<kLanes<D>>();
  if constexpr (std::is_same_v<V, DoublePair>) {
    ExchangeNative<S>(a, b, kLanesOfV);
  } else {
    typedef hn::TFromD<D> Native __attribute__((vector_size(sizeof(a.raw))));
    Native x, y;
    __builtin_memcpy(&x, &a.raw, sizeof(x));
    __builtin_memcpy(&y, &b.raw, sizeof(y));
    ExchangeNative<S>(x, y, kLanesOfV);
    __builtin_memcpy(&a.raw, &x, sizeof(x));
    __builtin_memcpy(&b.raw, &y, sizeof(y));
  }
}

// rows[i][j] and rows[j][i] change places, for a square of vectors.
template <class D>
HWY_INLINE void TransposeSquare(D d, Vec<D>* rows) {
  constexpr int kWidth = kLanes<D>;
  auto stage = [&](auto step) {
    constexpr int kStep = decltype(step)::value;
    if constexpr (kStep < kWidth) {
      ASSAY_UNROLL
      for (int i = 0; i < kWidth; ++i) {
        if ((i & kStep) == 0) Exchange<kStep>(d, rows[i], rows[i + kStep]);
      }
    }
  };
  stage(std::integral_constant<int, 1>());
  stage(std::integral_constant<int, 2>());
  stage(std::integral_constant<int, 4>());
  stage(std::integral_constant<int, 8>());
}

// Of four vectors of 4 x 4 (or fewer) blocks of S lanes: block j of vector i and block i of vector
// j change places within each four.
template <int S, class D>
HWY_INLINE void TransposeFour(D d, Vec<D>* v) {
  Exchange<S>(d, v[0], v[1]);
  Exchange<S>(d, v[2], v[3]);
  Exchange<2 * S>(d, v[0], v[2]);
  Exchange<2 * S>(d, v[1], v[3]);
}

// Vectors of sixteen floats, which only the widest target has: four numbers, four times; lane
// 4 i + j from lane 4 j + i; and a's and b's fours by turns.
template <class D>
HWY_INLINE Vec<D> LoadFour(D d, const float* from) {
  return hn::LoadDup128(d, from);
}

template <class N>
HWY_INLINE N SwapDigitsNative(N v) {
  return __builtin_shufflevector(v, v, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}

template <class D>
HWY_INLINE Vec<D> SwapDigits(D, Vec<D> v) {
  v.raw = SwapDigitsNative(v.raw);
  return v;
}

template <class D>
HWY_INLINE void JoinFours(D, Vec<D>& a, Vec<D>& b) {
  const auto low =
      __builtin_shufflevector(a.raw, b.raw, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  b.raw = __builtin_shufflevector(a.raw, b.raw, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28,
                                  29, 30, 31);
  a.raw = low;
}

// to[R i + j] = from[j][i].
template <int R, class D, class T>
HWY_INLINE void StoreScattered(D d, const Vec<D>* from, T* to) {
  if constexpr (R == 2) {
    StorePairs(d, from[0], from[1], to);
    return;
  } else if constexpr (!kBuiltIn<Vec<D>>) {
    if constexpr (R == 3) return hn::StoreInterleaved3(from[0], from[1], from[2], d, to);
    if constexpr (R == 4) return hn::StoreInterleaved4(from[0], from[1], from[2], from[3], d, to);
  }
  T lanes[kLanes<D>];
  ASSAY_UNROLL
  for (int j = 0; j < R; ++j) {
    StoreRow(d, from[j], lanes);
    for (int i = 0; i < kLanes<D>; ++i) to[R * i + j] = lanes[i];
  }
}

}  // namespace
}  // namespace ASSAY_FFT_NAMESPACE::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_VECTOR_INL_H_
