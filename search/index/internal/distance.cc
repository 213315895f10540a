// SPDX-License-Identifier: Apache-2.0

#include "search/index/internal/distance.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/index/internal/distance.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#if defined(__clang__)
#define ASSAY_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ASSAY_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::index::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sixteen virtual lanes in kGroups registers: one of AVX-512, two of AVX2, four of SSE and
// WebAssembly, sixteen of the one-lane target.
using F32 = hn::CappedTag<float, 16>;
using F32Vec = hn::Vec<F32>;
constexpr int kWidth = static_cast<int>(hn::MaxLanes(F32()));
constexpr int kGroups = 16 / kWidth;

// A tile of kQ queries by kR rows keeps kQ * kR * kGroups sums in registers; with the operands this
// fills the 32 registers of AVX-512 and the 16 of AVX2 and SSE. It also hides the latency of the
// addition: at least eight chains are in flight.
constexpr int kTileQueries = kGroups == 1 ? 4 : (kGroups == 2 ? 2 : 1);
constexpr int kTileRows = kGroups == 1 ? 4 : 2;

struct SquaredDifference {
  static HWY_INLINE F32Vec Term(F32Vec x, F32Vec y) {
    const F32Vec difference = hn::Sub(x, y);
    return hn::Mul(difference, difference);
  }
};
struct Product {
  static HWY_INLINE F32Vec Term(F32Vec x, F32Vec y) { return hn::Mul(x, y); }
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE float FoldRegister(F32 /*d*/, F32Vec v) { return hn::GetLane(v); }
#else
// A template, so that the branch of the other widths is not even looked at.
template <class D>
HWY_INLINE float FoldRegister(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) > 4) {
    const hn::Half<D> half;
    return FoldRegister(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    v = hn::Add(v, hn::Shuffle1032(v));
    return hn::GetLane(hn::Add(v, hn::Shuffle2301(v)));
  }
}
#endif

// Lane j takes in lane j + 8, then j + 4, j + 2, j + 1.
HWY_INLINE float FixedTree(F32Vec (&sums)[kGroups]) {
  ASSAY_UNROLL
  for (int half = kGroups / 2; half > 0; half /= 2) {
    ASSAY_UNROLL
    for (int g = 0; g < half; ++g) sums[g] = hn::Add(sums[g], sums[g + half]);
  }
  return FoldRegister(F32(), sums[0]);
}

template <class Op, int kQ, int kR>
HWY_INLINE void F32Block(const float* HWY_RESTRICT queries, const float* HWY_RESTRICT rows,
                         int64_t stride, float* HWY_RESTRICT out, int64_t out_stride) {
  const F32 d;
  F32Vec sums[kQ][kR][kGroups];
  ASSAY_UNROLL
  for (int q = 0; q < kQ; ++q) {
    ASSAY_UNROLL
    for (int r = 0; r < kR; ++r) {
      ASSAY_UNROLL
      for (int g = 0; g < kGroups; ++g) sums[q][r][g] = hn::Zero(d);
    }
  }
  for (int64_t i = 0; i < stride; i += 16) {
    ASSAY_UNROLL
    for (int g = 0; g < kGroups; ++g) {
      F32Vec x[kQ];
      ASSAY_UNROLL
      for (int q = 0; q < kQ; ++q) x[q] = hn::Load(d, queries + q * stride + i + g * kWidth);
      ASSAY_UNROLL
      for (int r = 0; r < kR; ++r) {
        const F32Vec y = hn::Load(d, rows + r * stride + i + g * kWidth);
        ASSAY_UNROLL
        for (int q = 0; q < kQ; ++q) {
          sums[q][r][g] = hn::Add(sums[q][r][g], Op::Term(x[q], y));
        }
      }
    }
  }
  ASSAY_UNROLL
  for (int q = 0; q < kQ; ++q) {
    ASSAY_UNROLL
    for (int r = 0; r < kR; ++r) out[q * out_stride + r] = FixedTree(sums[q][r]);
  }
}

template <class Op, int kQ>
HWY_INLINE void F32Rows(const F32Tile& t, int64_t q) {
  // One query alone has registers to spare: four rows at a time keep enough additions in flight.
  constexpr int kR = kQ == 1 && kGroups <= 2 ? 4 : kTileRows;
  const float* queries = t.queries + q * t.stride;
  float* out = t.out + q * t.out_stride;
  int64_t r = 0;
  for (; r + kR <= t.row_count; r += kR) {
    F32Block<Op, kQ, kR>(queries, t.rows + r * t.stride, t.stride, out + r, t.out_stride);
  }
  for (; r < t.row_count; ++r) {
    F32Block<Op, kQ, 1>(queries, t.rows + r * t.stride, t.stride, out + r, t.out_stride);
  }
}

template <class Op>
HWY_INLINE void F32All(const F32Tile& t) {
  int64_t q = 0;
  for (; q + kTileQueries <= t.query_count; q += kTileQueries) F32Rows<Op, kTileQueries>(t, q);
  for (; q < t.query_count; ++q) F32Rows<Op, 1>(t, q);
}

void SquaredL2F32(const F32Tile& tile) { F32All<SquaredDifference>(tile); }
void InnerProductsF32(const F32Tile& tile) { F32All<Product>(tile); }

template <int kQ, int kR>
HWY_INLINE void U8Block(const int16_t* HWY_RESTRICT queries, const uint8_t* HWY_RESTRICT rows,
                        int64_t stride, int32_t* HWY_RESTRICT out, int64_t out_stride) {
  const hn::CappedTag<int16_t, kU8Lanes> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  using V32 = hn::Vec<decltype(d32)>;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d16));
  V32 sums[kQ][kR];
  // Some targets split the sum of the pairs over two registers.
  V32 more[kQ][kR];
  ASSAY_UNROLL
  for (int q = 0; q < kQ; ++q) {
    ASSAY_UNROLL
    for (int r = 0; r < kR; ++r) sums[q][r] = more[q][r] = hn::Zero(d32);
  }
  for (int64_t i = 0; i < stride; i += kStep) {
    hn::Vec<decltype(d16)> x[kQ];
    ASSAY_UNROLL
    for (int q = 0; q < kQ; ++q) x[q] = hn::Load(d16, queries + q * stride + i);
    ASSAY_UNROLL
    for (int r = 0; r < kR; ++r) {
      const auto y = hn::PromoteTo(d16, hn::Load(d8, rows + r * stride + i));
      ASSAY_UNROLL
      for (int q = 0; q < kQ; ++q) {
        sums[q][r] = hn::ReorderWidenMulAccumulate(d32, x[q], y, sums[q][r], more[q][r]);
      }
    }
  }
  ASSAY_UNROLL
  for (int q = 0; q < kQ; ++q) {
    ASSAY_UNROLL
    for (int r = 0; r < kR; ++r) {
      out[q * out_stride + r] = hn::GetLane(hn::SumOfLanes(d32, hn::Add(sums[q][r], more[q][r])));
    }
  }
}

template <int kQ>
HWY_INLINE void U8Rows(const U8Tile& t, int64_t q) {
  constexpr int kR = kGroups == 1 ? 4 : 2;
  const int16_t* queries = t.queries + q * t.stride;
  int32_t* out = t.out + q * t.out_stride;
  int64_t r = 0;
  for (; r + kR <= t.row_count; r += kR) {
    U8Block<kQ, kR>(queries, t.rows + r * t.stride, t.stride, out + r, t.out_stride);
  }
  for (; r < t.row_count; ++r) {
    U8Block<kQ, 1>(queries, t.rows + r * t.stride, t.stride, out + r, t.out_stride);
  }
}

void InnerProductsU8(const U8Tile& t) {
  constexpr int kQ = kGroups == 1 ? 4 : 2;
  int64_t q = 0;
  for (; q + kQ <= t.query_count; q += kQ) U8Rows<kQ>(t, q);
  for (; q < t.query_count; ++q) U8Rows<1>(t, q);
}

}  // namespace
}  // namespace assay::index::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::index::internal {

HWY_EXPORT(SquaredL2F32);
HWY_EXPORT(InnerProductsF32);
HWY_EXPORT(InnerProductsU8);

void SquaredL2(const F32Tile& tile) { HWY_DYNAMIC_DISPATCH(SquaredL2F32)(tile); }
void InnerProducts(const F32Tile& tile) { HWY_DYNAMIC_DISPATCH(InnerProductsF32)(tile); }
void InnerProducts(const U8Tile& tile) { HWY_DYNAMIC_DISPATCH(InnerProductsU8)(tile); }

namespace {

template <class T>
T FoldLanes(T (&lanes)[kF32Lanes]) {
  for (int64_t half = kF32Lanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return lanes[0];
}

}  // namespace

float SquaredL2Reference(const float* x, const float* y, int64_t n) {
  float lanes[kF32Lanes] = {};
  for (int64_t i = 0; i < n; ++i) {
    const float difference = x[i] - y[i];
    lanes[i % kF32Lanes] += difference * difference;
  }
  return FoldLanes(lanes);
}

float InnerProductReference(const float* x, const float* y, int64_t n) {
  float lanes[kF32Lanes] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i % kF32Lanes] += x[i] * y[i];
  return FoldLanes(lanes);
}

double WideInnerProduct(const float* x, const float* y, int64_t n) {
  double lanes[kF32Lanes] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i % kF32Lanes] += static_cast<double>(x[i]) * y[i];
  return FoldLanes(lanes);
}

}  // namespace assay::index::internal
#endif  // HWY_ONCE
