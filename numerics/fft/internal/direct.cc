// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/internal/direct.h"
#include "numerics/fft/internal/targets.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/fft/internal/direct.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "numerics/fft/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::fft::internal::HWY_NAMESPACE {
namespace {

// Lane q of `yes` where from <= q < to, of `no` elsewhere.
template <class D>
HWY_INLINE Vec<D> LanesBetween(D d, int64_t from, int64_t to, Vec<D> yes, Vec<D> no) {
  if constexpr (kBuiltIn<Vec<D>>) {
    if constexpr (kLanes<D> == 1) {
      return from <= 0 && 0 < to ? yes : no;
    } else {
      return DoublePair{from <= 0 && 0 < to ? yes[0] : no[0], from <= 1 && 1 < to ? yes[1] : no[1]};
    }
  } else {
    using T = hn::TFromD<D>;
    const auto lane = hn::Iota(d, T{0});
    // Both ends are within a block's width of the lanes: exact as T.
    const auto mask = hn::And(hn::Ge(lane, hn::Set(d, static_cast<T>(from))),
                              hn::Lt(lane, hn::Set(d, static_cast<T>(to))));
    return hn::IfThenElse(mask, yes, no);
  }
}

// U vectors of outputs from k on.
template <int U, class D, class T>
HWY_INLINE void AddBlock(D d, const T* s, int64_t short_size, const T* l, int64_t long_size,
                         int64_t k, Order order, T* to) {
  using V = Vec<D>;
  constexpr int64_t kWidth = kLanes<D>, kBlock = U * kWidth;
  V sum[U];
  ASSAY_UNROLL
  for (int u = 0; u < U; ++u) sum[u] = LoadRow(d, to + kWidth * u);
  auto whole = [&](int64_t i) HWY_ATTR {
    const V factor = Splat(d, s[i]);
    const T* from = l + (k - i);
    ASSAY_UNROLL
    for (int u = 0; u < U; ++u) {
      sum[u] = Plus(sum[u], Times(factor, LoadRow(d, from + kWidth * u)));
    }
  };
  auto partial = [&](int64_t i) HWY_ATTR {
    const V factor = Splat(d, s[i]);
    const T* from = l + (k - i);
    // Lane q of the block needs 0 <= k + q - i < long_size.
    const int64_t first = i - k;
    const int64_t last = std::min<int64_t>(first + long_size, kBlock);
    ASSAY_UNROLL
    for (int u = 0; u < U; ++u) {
      const V next = Plus(sum[u], Times(factor, LoadRow(d, from + kWidth * u)));
      sum[u] = LanesBetween(d, std::max<int64_t>(first - kWidth * u, -1),
                            std::max<int64_t>(last - kWidth * u, -1), next, sum[u]);
    }
  };
  // Terms that some output needs, and those that all do.
  const int64_t some_begin = std::max<int64_t>(0, k - long_size + 1);
  const int64_t some_end = std::min(short_size, k + kBlock);
  const int64_t all_begin = std::max<int64_t>(0, k + kBlock - long_size);
  const int64_t all_end = std::min(short_size, k + 1);
  if (all_begin >= all_end) {
    if (order == Order::kRising) {
      for (int64_t i = some_begin; i < some_end; ++i) partial(i);
    } else {
      for (int64_t i = some_end; i-- > some_begin;) partial(i);
    }
  } else if (order == Order::kRising) {
    for (int64_t i = some_begin; i < all_begin; ++i) partial(i);
    for (int64_t i = all_begin; i < all_end; ++i) whole(i);
    for (int64_t i = all_end; i < some_end; ++i) partial(i);
  } else {
    for (int64_t i = some_end; i-- > all_end;) partial(i);
    for (int64_t i = all_end; i-- > all_begin;) whole(i);
    for (int64_t i = all_begin; i-- > some_begin;) partial(i);
  }
  ASSAY_UNROLL
  for (int u = 0; u < U; ++u) StoreRow(d, sum[u], to + kWidth * u);
}

template <class T>
HWY_INLINE void AddAny(const T* s, int64_t short_size, const T* l, int64_t long_size, int64_t begin,
                       int64_t end, Order order, T* to) {
  using D = Full<T>;
  const D d;
  constexpr int64_t kWide = 8 * kLanes<D>, kNarrow = 2 * kLanes<D>;
  int64_t k = begin;
  while (k < end) {
    // Wide blocks where every term has all its lanes, and so no corners to work around.
    const bool inside = k + 1 >= short_size && k + kWide <= long_size;
    if (inside && k + kWide <= end) {
      AddBlock<8>(d, s, short_size, l, long_size, k, order, to + (k - begin));
      k += kWide;
    } else if (k + kNarrow <= end) {
      AddBlock<2>(d, s, short_size, l, long_size, k, order, to + (k - begin));
      k += kNarrow;
    } else {
      T rest[kNarrow] = {};
      std::copy(to + (k - begin), to + (end - begin), rest);
      AddBlock<2>(d, s, short_size, l, long_size, k, order, rest);
      std::copy(rest, rest + (end - k), to + (k - begin));
      k = end;
    }
  }
}

template <class D, class T>
HWY_INLINE void MultiplyVector(D d, T* x, const T* y) {
  Vec<D> a, b, c, e;
  LoadPairs(d, x, a, b);
  LoadPairs(d, y, c, e);
  StorePairs(d, Minus(Times(a, c), Times(b, e)), Plus(Times(a, e), Times(b, c)), x);
}

template <class T>
HWY_INLINE void MultiplyAny(T* x, const T* y, int64_t count) {
  const Full<T> d;
  constexpr int64_t kWidth = kLanes<Full<T>>;
  int64_t k = 0;
  for (; k + kWidth <= count; k += kWidth) MultiplyVector(d, x + 2 * k, y + 2 * k);
  if (k == count) return;
  // The rest in vectors as well: from a loop over single numbers g++ 12 makes fused instructions
  // (vfmaddsub) in spite of its flags.
  T rest[2 * kWidth] = {}, factor[2 * kWidth] = {};
  std::copy(x + 2 * k, x + 2 * count, rest);
  std::copy(y + 2 * k, y + 2 * count, factor);
  MultiplyVector(d, rest, factor);
  std::copy(rest, rest + 2 * (count - k), x + 2 * k);
}

}  // namespace

void AddF32(const float* s, int64_t short_size, const float* l, int64_t long_size, int64_t begin,
            int64_t end, Order order, float* to) {
  AddAny(s, short_size, l, long_size, begin, end, order, to);
}
void AddF64(const double* s, int64_t short_size, const double* l, int64_t long_size, int64_t begin,
            int64_t end, Order order, double* to) {
  AddAny(s, short_size, l, long_size, begin, end, order, to);
}
void MultiplyF32(float* x, const float* y, int64_t count) { MultiplyAny(x, y, count); }
void MultiplyF64(double* x, const double* y, int64_t count) { MultiplyAny(x, y, count); }

}  // namespace assay::fft::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::fft::internal {

HWY_EXPORT(AddF32);
HWY_EXPORT(AddF64);
HWY_EXPORT(MultiplyF32);
HWY_EXPORT(MultiplyF64);

void AddProducts(const float* s, int64_t short_size, const float* l, int64_t long_size,
                 int64_t begin, int64_t end, Order order, float* to) {
  HWY_DYNAMIC_DISPATCH(AddF32)(s, short_size, l, long_size, begin, end, order, to);
}
void AddProducts(const double* s, int64_t short_size, const double* l, int64_t long_size,
                 int64_t begin, int64_t end, Order order, double* to) {
  HWY_DYNAMIC_DISPATCH(AddF64)(s, short_size, l, long_size, begin, end, order, to);
}
void MultiplySpectra(float* x, const float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(MultiplyF32)(x, y, count);
}
void MultiplySpectra(double* x, const double* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(MultiplyF64)(x, y, count);
}

}  // namespace assay::fft::internal
#endif  // HWY_ONCE
