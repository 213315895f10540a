// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/internal/passes.h"
#include "numerics/fft/internal/targets.h"

#include <cstdint>

#include "numerics/core/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/fft/internal/passes.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "numerics/fft/internal/butterfly-inl.h"
#include "numerics/fft/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::fft::internal::HWY_NAMESPACE {
namespace {

template <class D, class T>
HWY_INLINE void LoadNumbers(D d, Input<T> in, int64_t at, T conjugate, Vec<D>& re, Vec<D>& im,
                            Layout layout) {
  if (layout == Layout::kSplit) {
    re = LoadRow(d, in.re + at);
    im = LoadRow(d, in.im + at);
  } else {
    LoadPairs(d, in.re + 2 * at, re, im);
    im = Times(im, Splat(d, conjugate));
  }
}

template <class D, class T>
HWY_INLINE void StoreNumbers(D d, Output<T> out, int64_t at, T conjugate, Vec<D> re, Vec<D> im,
                             Layout layout) {
  if (layout == Layout::kSplit) {
    StoreRow(d, re, out.re + at);
    StoreRow(d, im, out.im + at);
  } else {
    StorePairs(d, re, Times(im, Splat(d, conjugate)), out.re + 2 * at);
  }
}

template <int R, class D, class T>
HWY_INLINE void Transform(D d, Vec<D>* re, Vec<D>* im, const Pass<T>& pass) {
  Butterfly<R>(d, re, im, pass.cosines, pass.sines, pass.half_root);
}

// The first pass (stride = 1, m > 1): lanes run over p. Interleaved in, split out.
template <int R, class D, class T>
HWY_INLINE void FirstPass(D d, const Pass<T>& pass, Input<T> in, Output<T> out, T conjugate) {
  using V = Vec<D>;
  constexpr int64_t kWidth = kLanes<D>;
  const int64_t m = pass.m;
  for (int64_t begin = 0; begin < m; begin += kWidth) {
    // A last vector that would stick out starts earlier and does some outputs again.
    const int64_t p = begin + kWidth <= m ? begin : m - kWidth;
    V re[R], im[R];
    ASSAY_UNROLL
    for (int k = 0; k < R; ++k) {
      LoadNumbers(d, in, p + m * k, conjugate, re[k], im[k], Layout::kInterleaved);
    }
    Transform<R>(d, re, im, pass);
    ASSAY_UNROLL
    for (int j = 1; j < R; ++j) {
      const V wr = LoadRow(d, pass.twiddles + 2 * m * (j - 1) + p);
      const V wi = LoadRow(d, pass.twiddles + 2 * m * (j - 1) + m + p);
      Rotate(re[j], im[j], wr, wi);
    }
    StoreScattered<R>(d, re, out.re + R * p);
    StoreScattered<R>(d, im, out.im + R * p);
  }
}

// A pass in the middle (stride > 1, m > 1): lanes run over q. Split on both sides.
template <int R, class D, class T>
HWY_INLINE void MiddlePass(D d, const Pass<T>& pass, Input<T> in, Output<T> out) {
  using V = Vec<D>;
  constexpr int64_t kWidth = kLanes<D>;
  const int64_t m = pass.m, stride = pass.stride;
  for (int64_t p = 0; p < m; ++p) {
    V wr[R], wi[R];
    ASSAY_UNROLL
    for (int j = 1; j < R; ++j) {
      wr[j] = Splat(d, pass.twiddles[2 * m * (j - 1) + p]);
      wi[j] = Splat(d, pass.twiddles[2 * m * (j - 1) + m + p]);
    }
    for (int64_t begin = 0; begin < stride; begin += kWidth) {
      const int64_t q = begin + kWidth <= stride ? begin : stride - kWidth;
      V re[R], im[R];
      ASSAY_UNROLL
      for (int k = 0; k < R; ++k) {
        LoadNumbers(d, in, q + stride * (p + m * k), T{1}, re[k], im[k], Layout::kSplit);
      }
      Transform<R>(d, re, im, pass);
      StoreNumbers(d, out, q + stride * R * p, T{1}, re[0], im[0], Layout::kSplit);
      ASSAY_UNROLL
      for (int j = 1; j < R; ++j) {
        Rotate(re[j], im[j], wr[j], wi[j]);
        StoreNumbers(d, out, q + stride * (R * p + j), T{1}, re[j], im[j], Layout::kSplit);
      }
    }
  }
}

// The last pass (m = 1): lanes run over q, no twiddles. Interleaved out.
template <int R, class D, class T>
HWY_INLINE void LastPass(D d, const Pass<T>& pass, Input<T> in, Output<T> out, T conjugate) {
  constexpr int64_t kWidth = kLanes<D>;
  const int64_t stride = pass.stride;
  for (int64_t begin = 0; begin < stride; begin += kWidth) {
    const int64_t q = begin + kWidth <= stride ? begin : stride - kWidth;
    Vec<D> re[R], im[R];
    ASSAY_UNROLL
    for (int k = 0; k < R; ++k) {
      LoadNumbers(d, in, q + stride * k, conjugate, re[k], im[k], in.layout);
    }
    Transform<R>(d, re, im, pass);
    ASSAY_UNROLL
    for (int j = 0; j < R; ++j) {
      StoreNumbers(d, out, q + stride * j, conjugate, re[j], im[j], Layout::kInterleaved);
    }
  }
}

template <int R, class D, class T>
HWY_NOINLINE void RunWidth(D d, const Pass<T>& pass, Input<T> in, Output<T> out, T conjugate) {
  if (pass.m == 1) return LastPass<R>(d, pass, in, out, conjugate);
  if (pass.stride == 1) return FirstPass<R>(d, pass, in, out, conjugate);
  return MiddlePass<R>(d, pass, in, out);
}

template <int R, class T>
HWY_INLINE void RunRadix(const Pass<T>& pass, Input<T> in, Output<T> out, T conjugate) {
  // The widest vectors that the inner loop fills at least once.
  const int64_t count = pass.m > 1 && pass.stride == 1 ? pass.m : pass.stride;
  constexpr int kFull = kLanes<Full<T>>, kFour = kLanes<Four<T>>;
  if (count >= kFull) return RunWidth<R>(Full<T>(), pass, in, out, conjugate);
  if constexpr (kFour < kFull) {
    if (count >= kFour) return RunWidth<R>(Four<T>(), pass, in, out, conjugate);
  }
  if constexpr (kFull > 1) return RunWidth<R>(One<T>(), pass, in, out, conjugate);
}

template <class T>
void RunAny(const Pass<T>& pass, Input<T> in, Output<T> out, T conjugate) {
  switch (pass.radix) {
    case 2:
      return RunRadix<2>(pass, in, out, conjugate);
    case 3:
      return RunRadix<3>(pass, in, out, conjugate);
    case 4:
      return RunRadix<4>(pass, in, out, conjugate);
    case 5:
      return RunRadix<5>(pass, in, out, conjugate);
    case 7:
      return RunRadix<7>(pass, in, out, conjugate);
    case 8:
      return RunRadix<8>(pass, in, out, conjugate);
    case 11:
      return RunRadix<11>(pass, in, out, conjugate);
    case 13:
      return RunRadix<13>(pass, in, out, conjugate);
    default:
      ASSAY_CHECK(false);
  }
}

}  // namespace

void RunF32(const Pass<float>& pass, Input<float> in, Output<float> out, float conjugate) {
  RunAny(pass, in, out, conjugate);
}
void RunF64(const Pass<double>& pass, Input<double> in, Output<double> out, double conjugate) {
  RunAny(pass, in, out, conjugate);
}

}  // namespace assay::fft::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::fft::internal {

HWY_EXPORT(RunF32);
HWY_EXPORT(RunF64);

void RunPass(const Pass<float>& pass, Input<float> in, Output<float> out, float conjugate) {
  HWY_DYNAMIC_DISPATCH(RunF32)(pass, in, out, conjugate);
}
void RunPass(const Pass<double>& pass, Input<double> in, Output<double> out, double conjugate) {
  HWY_DYNAMIC_DISPATCH(RunF64)(pass, in, out, conjugate);
}

}  // namespace assay::fft::internal
#endif  // HWY_ONCE
