// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/internal/gelu.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "numerics/core/elementary_simd.h"
#include "numerics/gemm/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/gemm/internal/gelu.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file once for each target.
#include "numerics/gemm/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::gemm::internal::HWY_NAMESPACE {
namespace {

using V = Vec<double>;
constexpr int kWidth = kLanes<double>;
// Elements that are worked on together, a multiple of every width.
constexpr int kChunk = 256;

// (1 + t) exp(t^2 / 2) Phi(-t) for t from 0 to 40 as a polynomial in z = 1.2 - 8.8 / (t + 4), which
// runs from -1 to 1: Chebyshev coefficients of 24 terms (relative error 7e-18) and of 13 (2e-10),
// turned into powers of z; computed with 50 digits by mpmath.
constexpr double kLong[] = {
    0x1.ec7a92c2cbf89p-2,  -0x1.6e8addd6069aap-4,  0x1.e3765c76e3277p-9,   0x1.01abbfbd44252p-5,
    -0x1.ca5c5dd02846ep-6, 0x1.a2d55e546059ep-7,   -0x1.586bb8cc116afp-9,  -0x1.b44328cc90742p-12,
    0x1.68ae52531c87cp-12, -0x1.9f07f5e05afc0p-19, -0x1.4707495c8d1edp-15, 0x1.cde67153cff99p-20,
    0x1.4e9564287b894p-18, 0x1.625c5854f2017p-28,  -0x1.751da97412a64p-21, -0x1.58dbdb706193ep-24,
    0x1.90d8f2c71f775p-24, 0x1.e46ec980cd46fp-26,  -0x1.586f22ca1dadbp-27, -0x1.bf1ee6b4fb3b2p-28,
    0x1.399135a9fed53p-31, 0x1.1c2baad3755ecp-30,  0x1.c3f1894d7fc2fp-37,  -0x1.805e646cd4332p-34};
constexpr double kShort[] = {0x1.ec7a92c1e9ce0p-2,   -0x1.6e8addb9cd716p-4,  0x1.e376883825236p-9,
                             0x1.01abb9a52d903p-5,   -0x1.ca5cb69607174p-6,  0x1.a2d61d5f13c14p-7,
                             -0x1.585abcda6bc22p-9,  -0x1.b4921e8f22207p-12, 0x1.671e1fbd87195p-12,
                             -0x1.620c8ac322a5ap-19, -0x1.33bb29503cc51p-15, 0x1.7fde653ff212fp-20,
                             0x1.a4fa65ac4dea8p-19};

// Lanes of a where `mask` is set, of b elsewhere. Masks are -1 or 0.
typedef int64_t Mask __attribute__((vector_size(kVectorBytes)));
HWY_INLINE V Choose(Mask mask, V a, V b) {
  return reinterpret_cast<V>((mask & reinterpret_cast<Mask>(a)) |
                             (~mask & reinterpret_cast<Mask>(b)));
}
HWY_INLINE V Magnitude(V x) { return reinterpret_cast<V>(reinterpret_cast<Mask>(x) & INT64_MAX); }
// |x|, at most 40, beyond which Phi(-t) is 0 in f64; 40 for NaN.
HWY_INLINE V Clamped(V x) {
  const V t = Magnitude(x);
  return Choose(reinterpret_cast<Mask>(t < 40.0), t, Splat(40.0));
}

// The first 26 bits of t, so that their square is exact.
HWY_INLINE V Head(V t) {
  return reinterpret_cast<V>(reinterpret_cast<Mask>(t) & ~((int64_t{1} << 27) - 1));
}

// e[i] becomes Gelu(x[i]), where e[i] = exp(-t^2 / 2) (kTerms = 13) or exp(-Head(t)^2 / 2).
template <size_t kTerms>
HWY_INLINE void FinishGelu(const double* x, const double (&terms)[kTerms], double* e) {
  for (int i = 0; i < kChunk; i += kWidth) {
    const V value = Load(x + i);
    const V t = Clamped(value);
    const V up = t + 1.0;
    const V shifted = t + 4.0;
    const V inverse = 1.0 / (up * shifted);
    const V z = 1.2 - 8.8 * (inverse * up);
    V p = Splat(terms[kTerms - 1]);
    ForEach<static_cast<int>(kTerms) - 1>(
        [&](auto k) HWY_ATTR { p = p * z + terms[kTerms - 2 - static_cast<size_t>(k)]; });
    V part = t * (p * (inverse * shifted));
    if constexpr (kTerms > 13) {
      // exp(-(t - h) (t + h) / 2): the exponent is below 2^-16, its square's third and fourth
      // powers count no more.
      const V h = Head(t);
      const V d = -0.5 * ((t - h) * (t + h));
      part = part + part * (d + d * d * (0.5 + d * 0x1.5555555555555p-3));
    }
    part = part * Load(e + i);  // last, as it may be subnormal
    const V below = Choose(reinterpret_cast<Mask>(value == value), -part, value);
    Store(Choose(reinterpret_cast<Mask>(value) < 0, below, value - part), e + i);
  }
}

// e = the exponent of what FinishGelu takes.
template <bool kWhole>
HWY_INLINE void StartGelu(const double* x, double* e) {
  for (int i = 0; i < kChunk; i += kWidth) {
    const V t = Clamped(Load(x + i));
    const V h = kWhole ? t : Head(t);
    Store(-0.5 * (h * h), e + i);
  }
}

// x from -40 up: below, the result is 0 in f64, and cubes must not pass the range before exp does.
HWY_INLINE V FromMinus40(V x) { return Choose(reinterpret_cast<Mask>(x < -40.0), Splat(-40.0), x); }

// e = -2 |u|.
HWY_INLINE void StartGeluTanh(const double* x, double* e) {
  for (int i = 0; i < kChunk; i += kWidth) {
    const V v = FromMinus40(Load(x + i));
    constexpr double kTwoRootTwoOverPi = 0x1.9884533d43651p+0;
    Store(-Magnitude(kTwoRootTwoOverPi * (v + 0.044715 * (v * v * v))), e + i);
  }
}

// e[i] becomes GeluTanh(x[i]), where e[i] = exp(-2 |u|): x / (1 + e), or x e / (1 + e) for x < 0.
HWY_INLINE void FinishGeluTanh(const double* x, double* e) {
  for (int i = 0; i < kChunk; i += kWidth) {
    const V v = FromMinus40(Load(x + i));
    const V part = Load(e + i);
    Store(v / (1.0 + part) * Choose(reinterpret_cast<Mask>(v < 0.0), part, Splat(1.0)), e + i);
  }
}

// Calls act(x, e) on chunks, from and to f64, missing elements being 0; act leaves results in e.
template <class T, class Act>
HWY_INLINE void ByChunks(T* x, int64_t count, Act act) {
  for (int64_t at = 0; at < count; at += kChunk) {
    const int64_t n = std::min<int64_t>(kChunk, count - at);
    alignas(64) double wide[kChunk] = {};
    alignas(64) double result[kChunk];
    for (int64_t i = 0; i < n; ++i) wide[i] = static_cast<double>(x[at + i]);
    act(wide, result);
    for (int64_t i = 0; i < n; ++i) x[at + i] = static_cast<T>(result[i]);
  }
}

void GeluF32(float* x, int64_t count) {
  ByChunks(x, count, [](const double* wide, double* e) HWY_ATTR {
    StartGelu<true>(wide, e);
    Exp(std::span<const double>(e, kChunk), std::span<double>(e, kChunk));
    FinishGelu(wide, kShort, e);
  });
}
void GeluF64(double* x, int64_t count) {
  ByChunks(x, count, [](const double* wide, double* e) HWY_ATTR {
    StartGelu<false>(wide, e);
    Exp(std::span<const double>(e, kChunk), std::span<double>(e, kChunk));
    FinishGelu(wide, kLong, e);
  });
}
template <class T>
HWY_INLINE void GeluTanhOf(T* x, int64_t count) {
  ByChunks(x, count, [](const double* wide, double* e) HWY_ATTR {
    StartGeluTanh(wide, e);
    Exp(std::span<const double>(e, kChunk), std::span<double>(e, kChunk));
    FinishGeluTanh(wide, e);
  });
}
void GeluTanhF32(float* x, int64_t count) { GeluTanhOf(x, count); }
void GeluTanhF64(double* x, int64_t count) { GeluTanhOf(x, count); }

}  // namespace
}  // namespace assay::gemm::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::gemm::internal {

HWY_EXPORT(GeluF32);
HWY_EXPORT(GeluF64);
HWY_EXPORT(GeluTanhF32);
HWY_EXPORT(GeluTanhF64);

void Gelu(std::span<float> x) {
  HWY_DYNAMIC_DISPATCH(GeluF32)(x.data(), static_cast<int64_t>(x.size()));
}
void Gelu(std::span<double> x) {
  HWY_DYNAMIC_DISPATCH(GeluF64)(x.data(), static_cast<int64_t>(x.size()));
}
void GeluTanh(std::span<float> x) {
  HWY_DYNAMIC_DISPATCH(GeluTanhF32)(x.data(), static_cast<int64_t>(x.size()));
}
void GeluTanh(std::span<double> x) {
  HWY_DYNAMIC_DISPATCH(GeluTanhF64)(x.data(), static_cast<int64_t>(x.size()));
}

}  // namespace assay::gemm::internal
#endif  // HWY_ONCE
