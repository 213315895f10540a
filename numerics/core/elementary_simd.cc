// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/elementary_simd.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "numerics/core/check.h"
#include "numerics/core/elementary.h"

// Natively this file is compiled once for each set of vector instructions.
#ifndef __EMSCRIPTEN__
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/core/elementary_simd.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands.
#include "hwy/highway.h"
#endif

#ifdef __EMSCRIPTEN__

namespace assay {
namespace {

#include "numerics/core/internal/wasm_lanes-inl.h"

using Tag = Lanes2;
using Vec = Doubles;
constexpr size_t kMaxLanes = 2;
ASSAY_KERNEL_INLINE size_t LaneCount() { return 2; }

ASSAY_KERNEL_INLINE Vec LoadLanes(const double* x) { return Vec{x[0], x[1]}; }
ASSAY_KERNEL_INLINE Vec LoadLanes(const float* x) {
  return __builtin_convertvector((Floats{x[0], x[1]}), Doubles);
}
ASSAY_KERNEL_INLINE void StoreLanes(Vec y, double* out) { std::memcpy(out, &y, sizeof(y)); }
ASSAY_KERNEL_INLINE void StoreLanes(Vec y, float* out) {
  for (int i = 0; i < 2; ++i) {
    const float value = static_cast<float>(y[i]);
    out[i] = value == value ? value : std::numeric_limits<float>::quiet_NaN();
  }
}
// Whether -limit < x < limit in all lanes.
ASSAY_KERNEL_INLINE bool AllWithin(Vec x, double limit) {
  const Mask inside = (x < Set(Tag(), limit)) & (x > Set(Tag(), -limit));
  return (inside[0] & inside[1]) != 0;
}
// Whether low <= x <= high in all lanes.
ASSAY_KERNEL_INLINE bool AllBetween(double low, Vec x, double high) {
  const Mask inside = (x >= Set(Tag(), low)) & (x <= Set(Tag(), high));
  return (inside[0] & inside[1]) != 0;
}

#else

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using hn::And;
using hn::BitCast;
using hn::IfThenElse;
using hn::Or;
using hn::RebindMask;
using hn::Set;
using hn::ShiftLeft;
using hn::ShiftRight;
using hn::Xor;
template <class D>
using UintTag = hn::RebindToUnsigned<D>;

#undef ASSAY_KERNEL_INLINE
#define ASSAY_KERNEL_INLINE HWY_INLINE

using Tag = hn::ScalableTag<double>;
using FloatTag = hn::Rebind<float, Tag>;
using Vec = hn::Vec<Tag>;
constexpr size_t kMaxLanes = HWY_MAX_BYTES / sizeof(double);
HWY_INLINE size_t LaneCount() { return hn::Lanes(Tag()); }

HWY_INLINE Vec LoadLanes(const double* x) { return hn::LoadU(Tag(), x); }
HWY_INLINE Vec LoadLanes(const float* x) { return hn::PromoteTo(Tag(), hn::LoadU(FloatTag(), x)); }
HWY_INLINE void StoreLanes(Vec y, double* out) { hn::StoreU(y, Tag(), out); }
HWY_INLINE void StoreLanes(Vec y, float* out) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  // Highway's DemoteTo makes finite numbers of infinities in its portable targets.
  double wide[kMaxLanes];
  hn::StoreU(y, Tag(), wide);
  for (size_t i = 0; i < LaneCount(); ++i) {
    const float value = static_cast<float>(wide[i]);
    out[i] = value == value ? value : std::numeric_limits<float>::quiet_NaN();
  }
#else
  const FloatTag df;
  const auto value = hn::DemoteTo(df, y);
  const auto nan = hn::Set(df, std::numeric_limits<float>::quiet_NaN());
  hn::StoreU(hn::IfThenElse(hn::Eq(value, value), value, nan), df, out);
#endif
}
// Whether -limit < x < limit in all lanes.
HWY_INLINE bool AllWithin(Vec x, double limit) {
  return hn::AllTrue(Tag(), hn::Lt(hn::Abs(x), Set(Tag(), limit)));
}
// Whether low <= x <= high in all lanes.
HWY_INLINE bool AllBetween(double low, Vec x, double high) {
  return hn::AllTrue(Tag(), hn::And(hn::Ge(x, Set(Tag(), low)), hn::Le(x, Set(Tag(), high))));
}

#endif

#include "numerics/core/internal/kernels-inl.h"

struct ExpOfFloat {
  ASSAY_KERNEL_INLINE Vec operator()(Vec x) const { return Exp32(Tag(), x); }
};
struct LogOfFloat {
  ASSAY_KERNEL_INLINE Vec operator()(Vec x) const { return Log32(Tag(), x); }
};
struct TanhOfFloat {
  ASSAY_KERNEL_INLINE Vec operator()(Vec x) const { return Tanh32(Tag(), x); }
};
struct SinOfFloat {
  ASSAY_KERNEL_INLINE Vec operator()(Vec x) const {
    Vec sine, cosine;
    SinCos32(Tag(), x, &sine, &cosine);
    return IfThenElse(x == Set(Tag(), 0.0), x, sine);
  }
  static float Scalar(float x) { return assay::Sin(x); }
};
struct CosOfFloat {
  ASSAY_KERNEL_INLINE Vec operator()(Vec x) const {
    Vec sine, cosine;
    SinCos32(Tag(), x, &sine, &cosine);
    return cosine;
  }
  static float Scalar(float x) { return assay::Cos(x); }
};
struct ExpOfDouble {
  ASSAY_KERNEL_INLINE Vec operator()(Vec x) const {
    return NanAsCanonical(Tag(), x, Exp64(Tag(), x, Set(Tag(), 0.0)));
  }
};
struct LogOfDouble {
  ASSAY_KERNEL_INLINE Vec operator()(Vec x) const { return Log64(Tag(), x); }
};

template <class Kernel, class T>
ASSAY_KERNEL_INLINE void Map(Kernel kernel, const T* x, T* y, size_t n) {
  const size_t lanes = LaneCount();
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) StoreLanes(kernel(LoadLanes(x + i)), y + i);
  if (i < n) {
    T rest[kMaxLanes] = {};
    std::memcpy(rest, x + i, (n - i) * sizeof(T));
    StoreLanes(kernel(LoadLanes(rest)), rest);
    std::memcpy(y + i, rest, (n - i) * sizeof(T));
  }
}

// As Map, for kernels that serve |x| < kReduceLimit alone.
template <class Kernel>
ASSAY_KERNEL_INLINE void MapWithin(Kernel kernel, const float* x, float* y, size_t n) {
  const size_t lanes = LaneCount();
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = n - i < lanes ? n - i : lanes;
    if (count == lanes) {
      const Vec wide = LoadLanes(x + i);
      if (AllWithin(wide, kReduceLimit)) {
        StoreLanes(kernel(wide), y + i);
        continue;
      }
    }
    float rest[kMaxLanes] = {};
    float result[kMaxLanes];
    std::memcpy(rest, x + i, count * sizeof(float));
    const Vec wide = LoadLanes(rest);
    StoreLanes(kernel(wide), result);
    for (size_t k = 0; k < count; ++k) {
      const bool within =
          -static_cast<float>(kReduceLimit) < rest[k] && rest[k] < static_cast<float>(kReduceLimit);
      y[i + k] = within ? result[k] : Kernel::Scalar(rest[k]);
    }
  }
}

// The steps of the scalar SinCosPi for an angle in its first quadrant's lower half.
void SinCosPiDoubles(const double* x, double* sine, double* cosine, size_t n) {
  const Tag d;
  const Vec splitter = Set(d, 134217729.0);  // 2^27 + 1
  const Vec pi = Set(d, 0x1.921fb54442d18p1), pi_low = Set(d, 0x1.1a62633145c07p-53);
  const Vec pi_scaled = splitter * pi;
  const Vec pi_head = pi_scaled - (pi_scaled - pi), pi_tail = pi - pi_head;
  const size_t lanes = LaneCount();
  size_t i = 0;
  while (i < n) {
    const Vec t = i + lanes <= n ? LoadLanes(x + i) : Set(d, 0.0);
    if (!AllBetween(0x1p-200, t, 0.25)) {
      const size_t end = i + lanes <= n ? i + lanes : n;
      for (; i < end; ++i) assay::SinCosPi(x[i], sine + i, cosine + i);
      continue;
    }
    const Vec product = t * pi;
    const Vec scaled = splitter * t;
    const Vec head = scaled - (scaled - t), tail = t - head;
    const Vec low = ((head * pi_head - product) + head * pi_tail + tail * pi_head) + tail * pi_tail;
    const Vec rest = low + t * pi_low;
    const Vec angle = product + rest;
    const Vec angle_low = (product - angle) + rest;
    StoreLanes(SinKernel64(d, angle, angle_low), sine + i);
    StoreLanes(CosKernel64(d, angle, angle_low), cosine + i);
    i += lanes;
  }
}

void ExpFloats(const float* x, float* y, size_t n) { Map(ExpOfFloat(), x, y, n); }
void LogFloats(const float* x, float* y, size_t n) { Map(LogOfFloat(), x, y, n); }
void TanhFloats(const float* x, float* y, size_t n) { Map(TanhOfFloat(), x, y, n); }
void SinFloats(const float* x, float* y, size_t n) { MapWithin(SinOfFloat(), x, y, n); }
void CosFloats(const float* x, float* y, size_t n) { MapWithin(CosOfFloat(), x, y, n); }
void ExpDoubles(const double* x, double* y, size_t n) { Map(ExpOfDouble(), x, y, n); }
void LogDoubles(const double* x, double* y, size_t n) { Map(LogOfDouble(), x, y, n); }

#ifdef __EMSCRIPTEN__

}  // namespace

#define ASSAY_DISPATCH(function) function

#else

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {

HWY_EXPORT(ExpFloats);
HWY_EXPORT(LogFloats);
HWY_EXPORT(TanhFloats);
HWY_EXPORT(SinFloats);
HWY_EXPORT(CosFloats);
HWY_EXPORT(ExpDoubles);
HWY_EXPORT(LogDoubles);
HWY_EXPORT(SinCosPiDoubles);

#define ASSAY_DISPATCH(function) HWY_DYNAMIC_DISPATCH(function)

#endif  // HWY_ONCE
#endif  // __EMSCRIPTEN__

#if defined(__EMSCRIPTEN__) || HWY_ONCE

void Exp(std::span<const float> x, std::span<float> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  ASSAY_DISPATCH(ExpFloats)(x.data(), y.data(), x.size());
}
void Exp(std::span<const double> x, std::span<double> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  ASSAY_DISPATCH(ExpDoubles)(x.data(), y.data(), x.size());
}
void Log(std::span<const float> x, std::span<float> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  ASSAY_DISPATCH(LogFloats)(x.data(), y.data(), x.size());
}
void Log(std::span<const double> x, std::span<double> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  ASSAY_DISPATCH(LogDoubles)(x.data(), y.data(), x.size());
}
void Tanh(std::span<const float> x, std::span<float> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  ASSAY_DISPATCH(TanhFloats)(x.data(), y.data(), x.size());
}
void Sin(std::span<const float> x, std::span<float> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  ASSAY_DISPATCH(SinFloats)(x.data(), y.data(), x.size());
}
void Cos(std::span<const float> x, std::span<float> y) {
  ASSAY_CHECK_EQ(x.size(), y.size());
  ASSAY_DISPATCH(CosFloats)(x.data(), y.data(), x.size());
}
void SinCosPi(std::span<const double> x, std::span<double> sine, std::span<double> cosine) {
  ASSAY_CHECK_EQ(x.size(), sine.size());
  ASSAY_CHECK_EQ(x.size(), cosine.size());
  ASSAY_DISPATCH(SinCosPiDoubles)(x.data(), sine.data(), cosine.data(), x.size());
}

}  // namespace assay

#endif
