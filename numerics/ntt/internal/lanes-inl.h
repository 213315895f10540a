// SPDX-License-Identifier: Apache-2.0
//
// lanes-inl.h: residues modulo p < 2^31 in vectors of 32-bit lanes.
//
// Compiled once for every target of Highway, hence the toggled guard.

#if defined(ASSAY_NUMERICS_NTT_INTERNAL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_NTT_INTERNAL_LANES_INL_H_
#undef ASSAY_NUMERICS_NTT_INTERNAL_LANES_INL_H_
#else
#define ASSAY_NUMERICS_NTT_INTERNAL_LANES_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

// The arrays of vectors live in registers only if every loop over them is unrolled. With sanitizers
// that would take minutes to compile, and registers do not matter.
#ifndef ASSAY_UNROLL
#if defined(__clang__)
#if __has_feature(address_sanitizer)
#define ASSAY_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define ASSAY_UNROLL _Pragma("clang loop unroll(full)")
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ASSAY_UNROLL _Pragma("GCC unroll 1")
#else
#define ASSAY_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::ntt::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<uint32_t, 16>;
using V = hn::Vec<D>;
inline constexpr size_t kLanes = hn::MaxLanes(D());

HWY_INLINE V Splat(uint32_t x) { return hn::Set(D(), x); }
HWY_INLINE V LoadRow(const uint32_t* from) { return hn::LoadU(D(), from); }
HWY_INLINE void StoreRow(V x, uint32_t* to) { hn::StoreU(x, D(), to); }

// The high halves of a b and of c d, whose low halves are equal, subtracted: floor((a b - c d) /
// 2^32) modulo 2^32. kSplatB, kSplatD: all lanes of b, of d are equal.
template <bool kSplatB, bool kSplatD>
HWY_INLINE V SubtractHighs(V a, V b, V c, V d) {
#if HWY_TARGET == HWY_SCALAR
  const uint64_t ab = static_cast<uint64_t>(hn::GetLane(a)) * hn::GetLane(b);
  const uint64_t cd = static_cast<uint64_t>(hn::GetLane(c)) * hn::GetLane(d);
  return Splat(static_cast<uint32_t>((ab - cd) >> 32));
#elif HWY_ARCH_WASM
  // WebAssembly multiplies neighbours, not every second lane.
  const v128_t low = wasm_i64x2_sub(wasm_u64x2_extmul_low_u32x4(a.raw, b.raw),
                                    wasm_u64x2_extmul_low_u32x4(c.raw, d.raw));
  const v128_t high = wasm_i64x2_sub(wasm_u64x2_extmul_high_u32x4(a.raw, b.raw),
                                     wasm_u64x2_extmul_high_u32x4(c.raw, d.raw));
  return V{wasm_i32x4_shuffle(low, high, 1, 3, 5, 7)};
#else
  const V b_odd = kSplatB ? b : hn::DupOdd(b);
  const V d_odd = kSplatD ? d : hn::DupOdd(d);
  const auto even = hn::Sub(hn::MulEven(a, b), hn::MulEven(c, d));
  const auto odd = hn::Sub(hn::MulEven(hn::DupOdd(a), b_odd), hn::MulEven(hn::DupOdd(c), d_odd));
  return hn::OddEven(hn::BitCast(D(), odd), hn::DupOdd(hn::BitCast(D(), even)));
#endif
}

// A root in all lanes, or one for each.
template <bool kSplat>
struct Factor {
  V form;
  V quotient;  // form / p mod 2^32
};

// Arithmetic between the levels. kLazy, for p < 2^30: going forward values stay below 4p, going
// backward below 2p, and are corrected once in a butterfly; else they are canonical throughout.
template <bool kLazy>
struct Field {
  V p, twice, inverse;

  HWY_INLINE explicit Field(uint32_t modulus, uint32_t inverse_of_p)
      : p(Splat(modulus)), twice(Splat(2 * modulus)), inverse(Splat(inverse_of_p)) {}

  // x - p if that is not negative: from [0, 2p) to [0, p).
  HWY_INLINE V Once(V x) const { return hn::Min(x, hn::Sub(x, p)); }
  // From [0, 4p) to [0, 2p).
  HWY_INLINE V Twice(V x) const { return hn::Min(x, hn::Sub(x, twice)); }
  // From (-p, p) modulo 2^32 to [0, p).
  HWY_INLINE V Positive(V x) const { return hn::Min(x, hn::Add(x, p)); }

  // a w 2^-32 in (-p, p) modulo 2^32, for any a.
  template <bool kSplat>
  HWY_INLINE V Times(V a, const Factor<kSplat>& w) const {
    return SubtractHighs<kSplat, true>(a, w.form, hn::Mul(a, w.quotient), p);
  }
  // The same for a factor that is used once; a b < 2^32 p.
  HWY_INLINE V Times(V a, V b) const {
    return SubtractHighs<false, true>(a, b, hn::Mul(hn::Mul(a, b), inverse), p);
  }
  HWY_INLINE Factor<true> SplatFactor(uint32_t form) const {
    return {Splat(form), hn::Mul(Splat(form), inverse)};
  }

  // x, y := x + w y, x - w y.
  template <bool kSplat>
  HWY_INLINE void Forward(V& x, V& y, const Factor<kSplat>& w) const {
    const V product = Times(y, w);
    if constexpr (kLazy) {
      const V middle = hn::Add(Twice(x), p);
      x = hn::Add(middle, product);
      y = hn::Sub(middle, product);
    } else {
      const V positive = Positive(product);
      y = Positive(hn::Sub(x, positive));
      x = Once(hn::Add(x, positive));
    }
  }
  // x, y := x + y, (x - y) w.
  template <bool kSplat>
  HWY_INLINE void Backward(V& x, V& y, const Factor<kSplat>& w) const {
    if constexpr (kLazy) {
      const V difference = hn::Add(hn::Sub(x, y), twice);
      x = Twice(hn::Add(x, y));
      y = hn::Add(Times(difference, w), p);
    } else {
      const V difference = Positive(hn::Sub(x, y));
      x = Once(hn::Add(x, y));
      y = Positive(Times(difference, w));
    }
  }
  HWY_INLINE V AfterForward(V x) const {
    if constexpr (kLazy) return Once(Twice(x));
    return x;
  }
  HWY_INLINE V AfterBackward(V x) const {
    if constexpr (kLazy) return Once(x);
    return x;
  }
  // Sums of two values of the way back, as such a value.
  HWY_INLINE V Sum(V x, V y) const {
    if constexpr (kLazy) return Twice(hn::Add(x, y));
    return Once(hn::Add(x, y));
  }
  HWY_INLINE V Difference(V x, V product) const {
    // x - product, product in (-p, p).
    if constexpr (kLazy) return Twice(hn::Add(hn::Sub(x, product), p));
    return Positive(hn::Sub(x, Positive(product)));
  }
};

// Rows to columns: x[i] lane j and x[j] lane i change places, for kLanes vectors.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void Transpose(V*) {}
#else
HWY_INLINE void Transpose(V* x) {
  const D d;
  const hn::RepartitionToWide<D> wide;
  // Four rows at a time within 128-bit blocks: x[4g + q] then has column q of every block's four.
  ASSAY_UNROLL
  for (size_t g = 0; g < kLanes; g += 4) {
    const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, x[g], x[g + 1]));
    const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, x[g], x[g + 1]));
    const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, x[g + 2], x[g + 3]));
    const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, x[g + 2], x[g + 3]));
    x[g] = hn::BitCast(d, hn::InterleaveLower(wide, low01, low23));
    x[g + 1] = hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23));
    x[g + 2] = hn::BitCast(d, hn::InterleaveLower(wide, high01, high23));
    x[g + 3] = hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23));
  }
  // Then the blocks themselves.
  if constexpr (kLanes == 8) {
    ASSAY_UNROLL
    for (size_t q = 0; q < 4; ++q) {
      const V low = hn::ConcatLowerLower(d, x[4 + q], x[q]);
      x[4 + q] = hn::ConcatUpperUpper(d, x[4 + q], x[q]);
      x[q] = low;
    }
  } else if constexpr (kLanes == 16) {
    ASSAY_UNROLL
    for (size_t q = 0; q < 4; ++q) {
      const V low02 = hn::ConcatLowerLower(d, x[8 + q], x[q]);
      const V low13 = hn::ConcatLowerLower(d, x[12 + q], x[4 + q]);
      const V high02 = hn::ConcatUpperUpper(d, x[8 + q], x[q]);
      const V high13 = hn::ConcatUpperUpper(d, x[12 + q], x[4 + q]);
      x[q] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(low13), low02);
      x[4 + q] = hn::OddEvenBlocks(low13, hn::SwapAdjacentBlocks(low02));
      x[8 + q] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(high13), high02);
      x[12 + q] = hn::OddEvenBlocks(high13, hn::SwapAdjacentBlocks(high02));
    }
  }
}
#endif

}  // namespace
}  // namespace assay::ntt::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_NTT_INTERNAL_LANES_INL_H_
