// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/internal/softmax_kernels.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/floating/internal/softmax_kernels.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::floating::internal {
namespace HWY_NAMESPACE {

#include "numerics/floating/internal/lanes-inl.h"

using Floats = Register<float>;
using Doubles = Register<double>;

constexpr int64_t kLanes = 32;
constexpr int64_t kRowsPerBlock = 16;

struct FrameLanes {
  Floats::V origin, floor, magic;
};

// exp(r) - 1, and a number in whose last bits n - N stands.
HWY_INLINE Floats::V Expm1Of(Floats::V x, const FrameLanes& f, Floats::V* lifted) {
  const Floats::V t = Floats::Max(x - f.origin, f.floor);
  const Floats::V scaled = t * Floats::Set(kLog2E) - Floats::Set(kBias);
  *lifted = scaled + f.magic;
  const Floats::V n = *lifted - f.magic;
  const Floats::V r = (t - n * Floats::Set(kLn2High)) - n * Floats::Set(kLn2Low);
  const Floats::V r2 = r * r;
  const Floats::V upper =
      (Floats::Set(kExp[2]) + r * Floats::Set(kExp[3])) + r2 * Floats::Set(kExp[4]);
  const Floats::V p = (Floats::Set(kExp[0]) + r * Floats::Set(kExp[1])) + r2 * upper;
  return r + r2 * p;
}

// `rows` rows of 32; sums: [32], added to. Two registers of f32 and the four of f64 that they fill
// stay in registers while a block of rows passes.
template <bool kStore>
HWY_INLINE void ExpRowsOf(const float* HWY_RESTRICT x, int64_t rows, ExpFrame frame,
                          double* HWY_RESTRICT e, int64_t ahead, double* HWY_RESTRICT sums) {
  const FrameLanes f = {Floats::Set(frame.origin), Floats::Set(frame.floor),
                        Floats::Set(frame.magic)};
  const auto one = Doubles::Set(1.0);
  const int64_t width = Floats::Width();
  const int64_t half = Doubles::Width();
  for (int64_t begin = 0; begin < rows; begin += kRowsPerBlock) {
    const int64_t end = begin + kRowsPerBlock < rows ? begin + kRowsPerBlock : rows;
    for (int64_t lane = 0; lane < kLanes; lane += 2 * width) {
      double* s = sums + lane;
      auto s0 = Doubles::Load(s);
      auto s1 = Doubles::Load(s + half);
      auto s2 = Doubles::Load(s + 2 * half);
      auto s3 = Doubles::Load(s + 3 * half);
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = row * kLanes + lane;
        hwy::Prefetch(x + at + ahead);
        hwy::Prefetch(x + at + ahead + width);
        Floats::V lifted0, lifted1;
        const auto m0 = Expm1Of(Floats::Load(x + at), f, &lifted0);
        const auto m1 = Expm1Of(Floats::Load(x + at + width), f, &lifted1);
        const auto e0 = ScaleLower(one + WideLower(m0), lifted0);
        const auto e1 = ScaleUpper(one + WideUpper(m0), lifted0);
        const auto e2 = ScaleLower(one + WideLower(m1), lifted1);
        const auto e3 = ScaleUpper(one + WideUpper(m1), lifted1);
        s0 = s0 + e0;
        s1 = s1 + e1;
        s2 = s2 + e2;
        s3 = s3 + e3;
        if (kStore) {
          Doubles::Store(e0, e + at);
          Doubles::Store(e1, e + at + half);
          Doubles::Store(e2, e + at + 2 * half);
          Doubles::Store(e3, e + at + 3 * half);
        }
      }
      Doubles::Store(s0, s);
      Doubles::Store(s1, s + half);
      Doubles::Store(s2, s + 2 * half);
      Doubles::Store(s3, s + 3 * half);
    }
  }
}
void ExpRows(const float* x, int64_t rows, ExpFrame frame, double* e, int64_t ahead, double* sums) {
  if (e == nullptr) {
    ExpRowsOf<false>(x, rows, frame, e, ahead, sums);
  } else {
    ExpRowsOf<true>(x, rows, frame, e, ahead, sums);
  }
}

// The maximum over whole rows of 32, into max[32]; true if there is a NaN.
bool MaxRows(const float* HWY_RESTRICT x, int64_t rows, float* HWY_RESTRICT max) {
  const int64_t width = Floats::Width();
  Floats::Flags nan;
  for (int64_t lane = 0; lane < kLanes; lane += 2 * width) {
    auto m0 = Floats::Load(max + lane);
    auto m1 = Floats::Load(max + lane + width);
    Floats::Flags n0, n1;
    for (int64_t row = 0; row < rows; ++row) {
      const auto x0 = Floats::Load(x + row * kLanes + lane);
      const auto x1 = Floats::Load(x + row * kLanes + lane + width);
      m0 = Floats::Max(m0, x0);
      m1 = Floats::Max(m1, x1);
      n0.OrNan(x0);
      n1.OrNan(x1);
    }
    nan.Or(n0);
    nan.Or(n1);
    Floats::Store(m0, max + lane);
    Floats::Store(m1, max + lane + width);
  }
  return nan.Any();
}

// The first row of 32 in which `value` stands, or `rows`.
int64_t RowOf(const float* x, int64_t rows, float value) {
  const int64_t width = Floats::Width();
  const auto wanted = Floats::Set(value);
  for (int64_t row = 0; row < rows; ++row) {
    Floats::Flags found;
    for (int64_t lane = 0; lane < kLanes; lane += width) {
      found.OrEqual(Floats::Load(x + row * kLanes + lane), wanted);
    }
    if (found.Any()) return row;
  }
  return rows;
}

// Calls step(at) for every register of f32 in `rows` rows; it gives the two halves in f64, which
// are rounded and stored.
template <class Step>
HWY_INLINE void NarrowRows(int64_t rows, float* y, bool stream, Step step) {
  const int64_t half = Doubles::Width();
  const int64_t n = rows * kLanes;
  if (stream) {
    for (int64_t at = 0; at < n; at += 2 * half) {
      StreamNarrow(step(at), step(at + half), y + at);
    }
    return;
  }
  for (int64_t at = 0; at < n; at += 2 * half) {
    const auto lower = step(at);
    const auto upper = step(at + half);
    StoreNarrow(lower, y + at);
    StoreNarrow(upper, y + at + half);
  }
}

void ScaleRows(const double* e, int64_t rows, double factor, float* y, bool stream) {
  const auto f = Doubles::Set(factor);
  NarrowRows(rows, y, stream, [=](int64_t at) HWY_ATTR { return Doubles::Load(e + at) * f; });
}

void ShiftRows(const float* x, int64_t rows, float max, double log_total, float* y, bool stream) {
  const auto m = Doubles::Set(static_cast<double>(max));
  const auto l = Doubles::Set(log_total);
  NarrowRows(rows, y, stream, [=](int64_t at) HWY_ATTR { return (LoadWide(x + at) - m) - l; });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::floating::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::floating::internal {

HWY_EXPORT(ExpRows);
HWY_EXPORT(MaxRows);
HWY_EXPORT(RowOf);
HWY_EXPORT(ScaleRows);
HWY_EXPORT(ShiftRows);

namespace {
constexpr int64_t kLanes = 32;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
}  // namespace

ExpFrame FrameOf(float max) {
  ExpFrame frame = {};
  frame.origin = max > 280.0f || max < -280.0f ? max : 0.0f;
  const float top = max - frame.origin;
  frame.floor = top - 140.0f;
  const float lifted = (top * kLog2E - kBias) + kMagic;
  const float n = lifted - kMagic;
  frame.magic = kMagic - n;
  const int exponent = -static_cast<int>(n);
  frame.unit =
      Exp(static_cast<double>(top)) * DoubleFromBits(static_cast<uint64_t>(1023 + exponent) << 52);
  return frame;
}

float MaxOf(const float* x, int64_t n, bool* nan) {
  float max[kLanes];
  for (float& value : max) value = -kInfinity;
  const int64_t rows = n / kLanes;
  *nan = HWY_DYNAMIC_DISPATCH(MaxRows)(x, rows, max);
  float result = -kInfinity;
  for (const float value : max) result = value > result ? value : result;
  for (int64_t i = rows * kLanes; i < n; ++i) {
    *nan = *nan || x[i] != x[i];
    result = x[i] > result ? x[i] : result;
  }
  return result;
}

int64_t IndexOf(const float* x, int64_t n, float value) {
  int64_t i = HWY_DYNAMIC_DISPATCH(RowOf)(x, n / kLanes, value) * kLanes;
  while (x[i] != value) ++i;
  return i;
}

double SumOfExps(const float* x, int64_t n, const ExpFrame& frame, int64_t skip, double* e,
                 int64_t ahead) {
  double sums[kLanes] = {};
  // Rows that are cut off, or that hold the element to skip, go through a row of their own.
  const auto add_part = [&](int64_t begin) {
    float part[kLanes];
    double part_e[kLanes];
    double part_sums[kLanes] = {};
    const int64_t count = n - begin < kLanes ? n - begin : kLanes;
    for (int64_t i = 0; i < kLanes; ++i) part[i] = i < count ? x[begin + i] : -kInfinity;
    HWY_DYNAMIC_DISPATCH(ExpRows)(part, 1, frame, part_e, 0, part_sums);
    for (int64_t i = 0; i < count; ++i) {
      if (begin + i != skip) sums[i] += part_e[i];
      if (e != nullptr) e[begin + i] = part_e[i];
    }
  };
  const auto add_rows = [&](int64_t begin, int64_t end) {  // multiples of 32
    HWY_DYNAMIC_DISPATCH(ExpRows)
    (x + begin, (end - begin) / kLanes, frame, e == nullptr ? nullptr : e + begin, ahead, sums);
  };
  const int64_t whole = n - n % kLanes;
  const int64_t special = skip < 0 ? whole : skip - skip % kLanes;
  add_rows(0, special);
  if (special < n) add_part(special);
  if (special < whole) {
    add_rows(special + kLanes, whole);
    if (whole < n) add_part(whole);
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sums[0];
}

namespace {

// Elements before the first from which registers can be streamed, at most n.
int64_t HeadOf(const float* y, int64_t n, bool stream) {
  if (!stream) return 0;
  const int64_t past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(y) % 64) / 4;
  return std::min((16 - past) % 16, n);
}

}  // namespace

void Scale(const double* e, int64_t n, double factor, float* y, bool stream) {
  const int64_t head = HeadOf(y, n, stream);
  const int64_t whole = head + (n - head) / kLanes * kLanes;
  const auto singly = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = static_cast<float>(e[i] * factor);
  };
  singly(0, head);
  HWY_DYNAMIC_DISPATCH(ScaleRows)(e + head, (whole - head) / kLanes, factor, y + head, stream);
  singly(whole, n);
}

void ShiftDown(const float* x, int64_t n, float max, double log_total, float* y, bool stream) {
  const int64_t head = HeadOf(y, n, stream);
  const int64_t whole = head + (n - head) / kLanes * kLanes;
  const auto singly = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      y[i] = static_cast<float>((static_cast<double>(x[i]) - static_cast<double>(max)) - log_total);
    }
  };
  singly(0, head);
  HWY_DYNAMIC_DISPATCH(ShiftRows)
  (x + head, (whole - head) / kLanes, max, log_total, y + head, stream);
  singly(whole, n);
}

void StreamsDone() { hwy::FlushStream(); }

}  // namespace assay::floating::internal
#endif  // HWY_ONCE
