// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/internal/pointwise.h"
#include "numerics/fft/internal/targets.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/fft/internal/pointwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "numerics/fft/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::fft::internal::HWY_NAMESPACE {
namespace {

// Calls body(d, j) so that [begin, end) is covered: whole vectors, then one number at a time.
template <class T, class Body>
HWY_INLINE void Cover(int64_t begin, int64_t end, Body body) {
  int64_t j = begin;
  for (; j + kLanes<Full<T>> <= end; j += kLanes<Full<T>>) body(Full<T>(), j);
  for (; j < end; ++j) body(One<T>(), j);
}

template <class T>
void MultiplyPairsAny(const T* x, const T* y, int64_t count, T conjugate_x, T conjugate_product,
                      T* to) {
  Cover<T>(0, count, [&](auto d, int64_t j) {
    Vec<decltype(d)> xr, xi, yr, yi;
    LoadPairs(d, x + 2 * j, xr, xi);
    LoadPairs(d, y + 2 * j, yr, yi);
    xi = Times(xi, Splat(d, conjugate_x));
    Rotate(xr, xi, yr, yi);
    StorePairs(d, xr, Times(xi, Splat(d, conjugate_product)), to + 2 * j);
  });
}

template <class T>
void DivideAny(T* x, int64_t count, T n) {
  Cover<T>(0, count,
           [&](auto d, int64_t j) { StoreRow(d, Over(LoadRow(d, x + j), Splat(d, n)), x + j); });
}

// The pairs k and m - k for k = 1..m/2: body(d, k, l) with l the first of the mirrored ones.
template <class T, class Body>
HWY_INLINE void CoverMirrored(int64_t m, Body body) {
  int64_t k = 1;
  auto run = [&](auto d) {
    constexpr int64_t kWidth = kLanes<decltype(d)>;
    // The two vectors must not overlap.
    for (; k + kWidth - 1 < m - k - kWidth + 1; k += kWidth) body(d, k, m - k - kWidth + 1);
  };
  run(Full<T>());
  run(Four<T>());
  for (; 2 * k <= m; ++k) body(One<T>(), k, m - k);
}

template <class T>
void SplitRealAny(T* z, int64_t m, const T* twiddles) {
  const T re = z[0], im = z[1];
  z[0] = re + im;
  z[1] = 0;
  z[2 * m] = re - im;
  z[2 * m + 1] = 0;
  CoverMirrored<T>(m, [&](auto d, int64_t k, int64_t l) {
    Vec<decltype(d)> ar, ai, br, bi, wr, wi;
    LoadPairs(d, z + 2 * k, ar, ai);
    LoadPairs(d, z + 2 * l, br, bi);
    br = Reversed(d, br);
    bi = Reversed(d, bi);
    LoadPairs(d, twiddles + 2 * k, wr, wi);
    const auto half = Splat(d, T{0.5});
    const auto er = Times(Plus(ar, br), half), ei = Times(Minus(ai, bi), half);
    auto tr = Times(Plus(ai, bi), half), ti = Times(Minus(br, ar), half);  // O[k]
    Rotate(tr, ti, wr, wi);
    StorePairs(d, Plus(er, tr), Plus(ei, ti), z + 2 * k);
    StorePairs(d, Reversed(d, Minus(er, tr)), Reversed(d, Minus(ti, ei)), z + 2 * l);
  });
}

template <class T>
void MergeRealAny(const T* x, int64_t m, const T* twiddles, T* z) {
  z[0] = x[0] + x[2 * m];
  z[1] = x[0] - x[2 * m];
  CoverMirrored<T>(m, [&](auto d, int64_t k, int64_t l) {
    Vec<decltype(d)> ar, ai, br, bi, wr, wi;
    LoadPairs(d, x + 2 * k, ar, ai);
    LoadPairs(d, x + 2 * l, br, bi);
    br = Reversed(d, br);
    bi = Reversed(d, bi);
    LoadPairs(d, twiddles + 2 * k, wr, wi);
    const auto er = Plus(ar, br), ei = Minus(ai, bi);
    auto dr = Minus(ar, br), di = Plus(ai, bi);
    Rotate(dr, di, wr, Times(wi, Splat(d, T{-1})));
    StorePairs(d, Minus(er, di), Plus(ei, dr), z + 2 * k);
    StorePairs(d, Reversed(d, Plus(er, di)), Reversed(d, Minus(dr, ei)), z + 2 * l);
  });
}

}  // namespace

void MultiplyPairsF32(const float* x, const float* y, int64_t count, float conjugate_x,
                      float conjugate_product, float* to) {
  MultiplyPairsAny(x, y, count, conjugate_x, conjugate_product, to);
}
void MultiplyPairsF64(const double* x, const double* y, int64_t count, double conjugate_x,
                      double conjugate_product, double* to) {
  MultiplyPairsAny(x, y, count, conjugate_x, conjugate_product, to);
}
void DivideF32(float* x, int64_t count, float n) { DivideAny(x, count, n); }
void DivideF64(double* x, int64_t count, double n) { DivideAny(x, count, n); }
void SplitF32(float* z, int64_t m, const float* twiddles) { SplitRealAny(z, m, twiddles); }
void SplitF64(double* z, int64_t m, const double* twiddles) { SplitRealAny(z, m, twiddles); }
void MergeF32(const float* x, int64_t m, const float* twiddles, float* z) {
  MergeRealAny(x, m, twiddles, z);
}
void MergeF64(const double* x, int64_t m, const double* twiddles, double* z) {
  MergeRealAny(x, m, twiddles, z);
}

}  // namespace assay::fft::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::fft::internal {

HWY_EXPORT(MultiplyPairsF32);
HWY_EXPORT(MultiplyPairsF64);
HWY_EXPORT(DivideF32);
HWY_EXPORT(DivideF64);
HWY_EXPORT(SplitF32);
HWY_EXPORT(SplitF64);
HWY_EXPORT(MergeF32);
HWY_EXPORT(MergeF64);

void MultiplyPairs(const float* x, const float* y, int64_t count, bool conjugate_x,
                   bool conjugate_product, float* to) {
  HWY_DYNAMIC_DISPATCH(MultiplyPairsF32)
  (x, y, count, conjugate_x ? -1.0F : 1.0F, conjugate_product ? -1.0F : 1.0F, to);
}
void MultiplyPairs(const double* x, const double* y, int64_t count, bool conjugate_x,
                   bool conjugate_product, double* to) {
  HWY_DYNAMIC_DISPATCH(MultiplyPairsF64)
  (x, y, count, conjugate_x ? -1.0 : 1.0, conjugate_product ? -1.0 : 1.0, to);
}
void Divide(float* x, int64_t count, int64_t n) {
  HWY_DYNAMIC_DISPATCH(DivideF32)(x, count, static_cast<float>(n));
}
void Divide(double* x, int64_t count, int64_t n) {
  HWY_DYNAMIC_DISPATCH(DivideF64)(x, count, static_cast<double>(n));
}
void SplitReal(float* z, int64_t m, const float* twiddles) {
  HWY_DYNAMIC_DISPATCH(SplitF32)(z, m, twiddles);
}
void SplitReal(double* z, int64_t m, const double* twiddles) {
  HWY_DYNAMIC_DISPATCH(SplitF64)(z, m, twiddles);
}
void MergeReal(const float* x, int64_t m, const float* twiddles, float* z) {
  HWY_DYNAMIC_DISPATCH(MergeF32)(x, m, twiddles, z);
}
void MergeReal(const double* x, int64_t m, const double* twiddles, double* z) {
  HWY_DYNAMIC_DISPATCH(MergeF64)(x, m, twiddles, z);
}

}  // namespace assay::fft::internal
#endif  // HWY_ONCE
