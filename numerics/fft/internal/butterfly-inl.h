// SPDX-License-Identifier: Apache-2.0
//
// butterfly-inl.h: small discrete Fourier transforms in registers, the inner step of each pass.
//
// Each replaces R complex vectors by their forward transform, lane by lane, in natural order.
// Compiled once for every target of Highway, hence the toggled guard. Every operation is written
// out, so that the order of roundings is the same on every build.

#if defined(ASSAY_NUMERICS_FFT_INTERNAL_BUTTERFLY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_FFT_INTERNAL_BUTTERFLY_INL_H_
#undef ASSAY_NUMERICS_FFT_INTERNAL_BUTTERFLY_INL_H_
#else
#define ASSAY_NUMERICS_FFT_INTERNAL_BUTTERFLY_INL_H_
#endif

#include "hwy/highway.h"
#include "numerics/fft/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ASSAY_FFT_NAMESPACE::HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE void Butterfly2(V* re, V* im) {
  const V r = Minus(re[0], re[1]), i = Minus(im[0], im[1]);
  re[0] = Plus(re[0], re[1]);
  im[0] = Plus(im[0], im[1]);
  re[1] = r;
  im[1] = i;
}

// In: four numbers a, b, c, d. Out: their transform, in the same places.
template <class V>
HWY_INLINE void Transform4(V& ar, V& ai, V& br, V& bi, V& cr, V& ci, V& dr, V& di) {
  const V s0r = Plus(ar, cr), s0i = Plus(ai, ci);
  const V s1r = Minus(ar, cr), s1i = Minus(ai, ci);
  const V s2r = Plus(br, dr), s2i = Plus(bi, di);
  const V s3r = Minus(bi, di), s3i = Minus(dr, br);  // -i (b - d)
  ar = Plus(s0r, s2r);
  ai = Plus(s0i, s2i);
  br = Plus(s1r, s3r);
  bi = Plus(s1i, s3i);
  cr = Minus(s0r, s2r);
  ci = Minus(s0i, s2i);
  dr = Minus(s1r, s3r);
  di = Minus(s1i, s3i);
}

template <class V>
HWY_INLINE void Butterfly4(V* re, V* im) {
  Transform4(re[0], im[0], re[1], im[1], re[2], im[2], re[3], im[3]);
}

template <class V>
HWY_INLINE void Butterfly8(V* re, V* im, V half_root /* sqrt(1/2) */, V minus_half_root) {
  V e0r = Plus(re[0], re[4]), e0i = Plus(im[0], im[4]);
  V o0r = Minus(re[0], re[4]), o0i = Minus(im[0], im[4]);
  V e1r = Plus(re[1], re[5]), e1i = Plus(im[1], im[5]);
  const V t1r = Minus(re[1], re[5]), t1i = Minus(im[1], im[5]);
  V e2r = Plus(re[2], re[6]), e2i = Plus(im[2], im[6]);
  V o2r = Minus(im[2], im[6]), o2i = Minus(re[6], re[2]);  // -i (x2 - x6)
  V e3r = Plus(re[3], re[7]), e3i = Plus(im[3], im[7]);
  const V t3r = Minus(re[3], re[7]), t3i = Minus(im[3], im[7]);
  // Times (1 - i) / sqrt(2) and (-1 - i) / sqrt(2).
  V o1r = Times(Plus(t1r, t1i), half_root), o1i = Times(Minus(t1i, t1r), half_root);
  V o3r = Times(Minus(t3i, t3r), half_root);
  V o3i = Times(Plus(t3r, t3i), minus_half_root);
  Transform4(e0r, e0i, e1r, e1i, e2r, e2i, e3r, e3i);
  Transform4(o0r, o0i, o1r, o1i, o2r, o2i, o3r, o3i);
  re[0] = e0r, im[0] = e0i;
  re[1] = o0r, im[1] = o0i;
  re[2] = e1r, im[2] = e1i;
  re[3] = o1r, im[3] = o1i;
  re[4] = e2r, im[4] = e2i;
  re[5] = o2r, im[5] = o2i;
  re[6] = e3r, im[6] = e3i;
  re[7] = o3r, im[7] = o3i;
}

// As four transforms of four, turned by sixteenths, and four more.
//   cosines, sines: cos and sin(2 pi j / 16).
template <class D, class T>
HWY_INLINE void Butterfly16(D d, Vec<D>* re, Vec<D>* im, const T* cosines, const T* sines,
                            T half_root) {
  using V = Vec<D>;
  ASSAY_UNROLL
  for (int a = 0; a < 4; ++a) {
    Transform4(re[a], im[a], re[a + 4], im[a + 4], re[a + 8], im[a + 8], re[a + 12], im[a + 12]);
  }
  // Element (a, j), at a + 4 j, times w^(a j).
  const V h = Splat(d, half_root), minus_h = Splat(d, -half_root);
  auto eighth = [&](int i) {  // times (1 - i) / sqrt(2)
    const V r = Times(Plus(re[i], im[i]), h);
    im[i] = Times(Minus(im[i], re[i]), h);
    re[i] = r;
  };
  auto three_eighths = [&](int i) {  // times (-1 - i) / sqrt(2)
    const V r = Times(Minus(im[i], re[i]), h);
    im[i] = Times(Plus(re[i], im[i]), minus_h);
    re[i] = r;
  };
  auto turn = [&](int i, int sixteenths) {
    const V c = Splat(d, cosines[sixteenths]), s = Splat(d, sines[sixteenths]);
    const V r = TimesPlus(re[i], c, Times(im[i], s));
    im[i] = TimesMinus(im[i], c, Times(re[i], s));
    re[i] = r;
  };
  turn(1 + 4 * 1, 1);
  eighth(2 + 4 * 1);
  turn(3 + 4 * 1, 3);
  eighth(1 + 4 * 2);
  const V quarter = re[2 + 4 * 2];  // times -i
  re[2 + 4 * 2] = im[2 + 4 * 2];
  im[2 + 4 * 2] = Minus(Splat(d, T{0}), quarter);
  three_eighths(3 + 4 * 2);
  turn(1 + 4 * 3, 3);
  three_eighths(2 + 4 * 3);
  turn(3 + 4 * 3, 9);
  ASSAY_UNROLL
  for (int j = 0; j < 4; ++j) {
    Transform4(re[4 * j], im[4 * j], re[4 * j + 1], im[4 * j + 1], re[4 * j + 2], im[4 * j + 2],
               re[4 * j + 3], im[4 * j + 3]);
  }
  // Output j + 4 k stands at 4 j + k.
  ASSAY_UNROLL
  for (int j = 0; j < 4; ++j) {
    ASSAY_UNROLL
    for (int k = j + 1; k < 4; ++k) {
      const V r = re[4 * j + k], i = im[4 * j + k];
      re[4 * j + k] = re[4 * k + j];
      im[4 * j + k] = im[4 * k + j];
      re[4 * k + j] = r;
      im[4 * k + j] = i;
    }
  }
}

// An odd prime R, the pairs x[j], x[R - j] taken together.
//   cosines, sines: cos and sin(2 pi j / R) for j = 0..R-1.
template <int R, class D, class T>
HWY_INLINE void ButterflyOdd(D d, Vec<D>* re, Vec<D>* im, const T* cosines, const T* sines) {
  using V = Vec<D>;
  constexpr int kHalf = (R - 1) / 2;
  const V first_r = re[0], first_i = im[0];
  V sum_r[kHalf + 1], sum_i[kHalf + 1], dif_r[kHalf + 1], dif_i[kHalf + 1];
  ASSAY_UNROLL
  for (int j = 1; j <= kHalf; ++j) {
    sum_r[j] = Plus(re[j], re[R - j]);
    sum_i[j] = Plus(im[j], im[R - j]);
    dif_r[j] = Minus(re[j], re[R - j]);
    dif_i[j] = Minus(im[j], im[R - j]);
    re[0] = Plus(re[0], sum_r[j]);
    im[0] = Plus(im[0], sum_i[j]);
  }
  ASSAY_UNROLL
  for (int k = 1; k <= kHalf; ++k) {
    V c = Splat(d, cosines[k]), s = Splat(d, sines[k]);
    V even_r = TimesPlus(c, sum_r[1], first_r);
    V even_i = TimesPlus(c, sum_i[1], first_i);
    V odd_r = Times(s, dif_r[1]), odd_i = Times(s, dif_i[1]);
    ASSAY_UNROLL
    for (int j = 2; j <= kHalf; ++j) {
      c = Splat(d, cosines[(j * k) % R]);
      s = Splat(d, sines[(j * k) % R]);
      even_r = TimesPlus(c, sum_r[j], even_r);
      even_i = TimesPlus(c, sum_i[j], even_i);
      odd_r = TimesPlus(s, dif_r[j], odd_r);
      odd_i = TimesPlus(s, dif_i[j], odd_i);
    }
    // X[k] = even - i odd, X[R - k] = even + i odd.
    re[k] = Plus(even_r, odd_i);
    im[k] = Minus(even_i, odd_r);
    re[R - k] = Minus(even_r, odd_i);
    im[R - k] = Plus(even_i, odd_r);
  }
}

// The transform of R numbers, whichever R.
template <int R, class D, class T>
HWY_NOINLINE void ButterflyApart(D d, Vec<D>* re, Vec<D>* im, const T* cosines, const T* sines) {
  ButterflyOdd<R>(d, re, im, cosines, sines);
}
template <int R, class D, class T>
HWY_INLINE void Butterfly(D d, Vec<D>* re, Vec<D>* im, const T* cosines, const T* sines,
                          T half_root) {
  if constexpr (R == 2) {
    Butterfly2(re, im);
  } else if constexpr (R == 4) {
    Butterfly4(re, im);
  } else if constexpr (R == 8) {
    Butterfly8(re, im, Splat(d, half_root), Splat(d, -half_root));
  } else if constexpr (R == 16) {
    Butterfly16(d, re, im, cosines, sines, half_root);
  } else if constexpr (R >= 7) {
    // Does not fit the registers anyhow; a function of its own spares the compiler minutes.
    ButterflyApart<R>(d, re, im, cosines, sines);
  } else {
    ButterflyOdd<R>(d, re, im, cosines, sines);
  }
}

}  // namespace
}  // namespace ASSAY_FFT_NAMESPACE::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_BUTTERFLY_INL_H_
