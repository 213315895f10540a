// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/internal/residues.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

// kPrime[j]^-1 modulo kPrime[i], j < i, as a Montgomery form, and that over kPrime[i] modulo 2^32.
#ifndef ASSAY_NUMERICS_NTT_INTERNAL_RESIDUES_ONCE_
#define ASSAY_NUMERICS_NTT_INTERNAL_RESIDUES_ONCE_
namespace assay::ntt::internal {
namespace {

struct GarnerFactors {
  uint32_t form[kPrimes][kPrimes] = {};
  uint32_t quotient[kPrimes][kPrimes] = {};

  constexpr GarnerFactors() {
    for (int i = 0; i < kPrimes; ++i) {
      const Montgomery field(kPrime[i]);
      for (int j = 0; j < i; ++j) {
        form[i][j] = field.ToForm(static_cast<uint32_t>(InverseModPrime(kPrime[j], kPrime[i])));
        quotient[i][j] = form[i][j] * field.inverse();
      }
    }
  }
};
constexpr GarnerFactors kGarner;

}  // namespace
}  // namespace assay::ntt::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/ntt/internal/residues.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "numerics/ntt/internal/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::ntt::internal::HWY_NAMESPACE {
namespace {

using WideTag = hn::RepartitionToWide<D>;

// low and high halves of kLanes 64-bit numbers.
HWY_INLINE void LoadHalves(const uint64_t* from, V& low, V& high) {
#if HWY_TARGET == HWY_SCALAR
  low = Splat(static_cast<uint32_t>(*from));
  high = Splat(static_cast<uint32_t>(*from >> 32));
#else
  const V first = hn::BitCast(D(), hn::LoadU(WideTag(), from));
  const V second = hn::BitCast(D(), hn::LoadU(WideTag(), from + kLanes / 2));
  low = hn::ConcatEven(D(), second, first);
  high = hn::ConcatOdd(D(), second, first);
#endif
}

// body(from, to) for kLanes elements at a time; the last ones by way of copies.
template <class From, class To, class Body>
HWY_INLINE void ForBlocks(const From* from, To* to, size_t n, Body body) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(from + i, to + i);
  if (i == n) return;
  From in[kLanes] = {};
  To out[kLanes];
  std::memcpy(in, from + i, (n - i) * sizeof(From));
  body(in, out);
  std::memcpy(to + i, out, (n - i) * sizeof(To));
}

HWY_INLINE void StoreWide(V x, uint64_t* to) {
#if HWY_TARGET == HWY_SCALAR
  *to = hn::GetLane(x);
#else
  const hn::Half<D> half;
  hn::StoreU(hn::PromoteTo(WideTag(), hn::LowerHalf(half, x)), WideTag(), to);
  hn::StoreU(hn::PromoteTo(WideTag(), hn::UpperHalf(half, x)), WideTag(), to + kLanes / 2);
#endif
}

}  // namespace

uint32_t PackHere(const uint64_t* from, size_t n, uint32_t* to) {
  V most = Splat(0), highs = Splat(0);
  ForBlocks(from, to, n, [&](const uint64_t* in, uint32_t* out) HWY_ATTR {
    V low, high;
    LoadHalves(in, low, high);
    most = hn::Max(most, low);
    highs = hn::Or(highs, high);
    StoreRow(low, out);
  });
  uint32_t lanes[kLanes], result = 0;
  StoreRow(highs, lanes);
  for (uint32_t lane : lanes) {
    if (lane != 0) return ~uint32_t{0};
  }
  StoreRow(most, lanes);
  for (uint32_t lane : lanes) result = std::max(result, lane);
  return result;
}

bool AllBelowHere(const uint64_t* x, size_t n, uint64_t m) {
  // As signed numbers: a negative one is 2^63 or more.
  const hn::RepartitionToWide<hn::RebindToSigned<D>> d;
  constexpr size_t kStep = hn::MaxLanes(d);
  const auto most = hn::Set(d, static_cast<int64_t>(m - 1));
  auto bad = hn::Zero(d);
  size_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    const auto v = hn::LoadU(d, reinterpret_cast<const int64_t*>(x) + i);
    bad = hn::Or(bad, hn::Or(v, hn::VecFromMask(d, hn::Gt(v, most))));
  }
  bool below = hn::AllFalse(d, hn::Lt(bad, hn::Zero(d)));
  for (; i < n; ++i) below = below && x[i] < m;
  return below;
}

void UnpackHere(const uint32_t* from, size_t n, uint64_t* to) {
  ForBlocks(from, to, n,
            [&](const uint32_t* in, uint64_t* out) HWY_ATTR { StoreWide(LoadRow(in), out); });
}

void ReduceHere(const Tables& tables, const uint64_t* from, bool is_signed, size_t n,
                uint32_t* to) {
  const uint32_t p = tables.p;
  const Field<true> f(p, tables.inverse);
  const uint64_t two32 = (uint64_t{1} << 32) % p;
  // Forms of 1 and of 2^32; a signed number is one above -2^63.
  const Factor<true> one = f.SplatFactor(static_cast<uint32_t>(two32));
  const Factor<true> shift = f.SplatFactor(static_cast<uint32_t>(two32 * two32 % p));
  const V flip = Splat(is_signed ? uint32_t{1} << 31 : 0);
  const uint64_t least = is_signed ? p - (uint64_t{1} << 63) % p : 0;
  // One product is in [0, p), the other in (-p, p): with this their sum is in [0, 4p).
  const V offset = Splat(p + static_cast<uint32_t>(least % p));
  ForBlocks(from, to, n, [&](const uint64_t* in, uint32_t* out) HWY_ATTR {
    V low, high;
    LoadHalves(in, low, high);
    const V sum = hn::Add(f.Positive(f.Times(low, one)), f.Times(hn::Xor(high, flip), shift));
    StoreRow(f.Once(f.Twice(hn::Add(sum, offset))), out);
  });
}

namespace {

// body(rows, to) with pointers to kLanes elements of each of kRows arrays and of `to`; the last
// ones by way of copies, which go back into the rows too if kBack.
template <int kRows, bool kBack, class Row, class To, class Body>
HWY_INLINE void ForRows(Row* const* rows, To* to, size_t n, Body body) {
  Row* at[kRows];
  size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    ASSAY_UNROLL
    for (int i = 0; i < kRows; ++i) at[i] = rows[i] + k;
    body(at, to + k);
  }
  if (k == n) return;
  uint32_t rest[kRows][kLanes] = {};
  To out[kLanes];
  for (int i = 0; i < kRows; ++i) {
    std::memcpy(rest[i], rows[i] + k, (n - k) * sizeof(uint32_t));
    at[i] = rest[i];
  }
  body(at, out);
  if constexpr (kBack) {
    for (int i = 0; i < kRows; ++i) {
      std::memcpy(rows[i] + k, rest[i], (n - k) * sizeof(uint32_t));
    }
  } else {
    std::memcpy(to + k, out, (n - k) * sizeof(To));
  }
}

template <int kCount>
HWY_INLINE void GarnerOf(uint32_t* const* digits, size_t n) {
  ForRows<kCount, true>(digits, digits[0], n, [&](uint32_t* const* at, uint32_t*) HWY_ATTR {
    V d[kCount];
    ASSAY_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const V p = Splat(kPrime[i]), twice = Splat(2 * kPrime[i]);
      V x = LoadRow(at[i]);
      x = hn::Min(x, hn::Sub(x, p));
      ASSAY_UNROLL
      for (int j = 0; j < i; ++j) {
        // d_j < 2^30 < 2 p_i.
        const V difference = hn::Sub(hn::Add(x, twice), d[j]);
        const V q = hn::Mul(difference, Splat(kGarner.quotient[i][j]));
        x = SubtractHighs<true, true>(difference, Splat(kGarner.form[i][j]), q, p);
        x = hn::Min(x, hn::Add(x, p));
      }
      d[i] = x;
      StoreRow(x, at[i]);
    }
  });
}

template <int kCount>
HWY_INLINE void WeightedSumOf(const uint32_t* const* digits, const uint32_t* weights, uint32_t m,
                              size_t n, uint64_t* to) {
  // Shoup's product: with q = floor(x c / 2^32), c = floor(w 2^32 / m), x w - q m lies in [0, 2m).
  V weight[kCount], quotient[kCount];
  const V modulus = Splat(m), zero = Splat(0);
  for (int i = 0; i < kCount; ++i) {
    weight[i] = Splat(weights[i]);
    quotient[i] = Splat(static_cast<uint32_t>((static_cast<uint64_t>(weights[i]) << 32) / m));
  }
  const auto once = [&](V x) HWY_ATTR { return hn::Min(x, hn::Sub(x, modulus)); };
  ForRows<kCount, false>(digits, to, n, [&](const uint32_t* const* at, uint64_t* out) HWY_ATTR {
    V sum = zero;
    ASSAY_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const V x = LoadRow(at[i]);
      const V q = SubtractHighs<true, true>(x, quotient[i], zero, zero);
      sum = once(hn::Add(sum, once(hn::Sub(hn::Mul(x, weight[i]), hn::Mul(q, modulus)))));
    }
    StoreWide(sum, out);
  });
}

template <int kCount>
HWY_INLINE void NearestToZeroOf(const uint32_t* const* digits, size_t n, int64_t* to) {
  constexpr uint64_t kProduct = kPrime[0] * (kCount == 2 ? uint64_t{kPrime[1]} : 1);
#if HWY_TARGET == HWY_SCALAR
  for (size_t k = 0; k < n; ++k) {
    const uint64_t x = digits[0][k] + (kCount == 2 ? uint64_t{kPrime[0]} * digits[1][k] : 0);
    to[k] = static_cast<int64_t>(x > kProduct / 2 ? x - kProduct : x);
  }
#else
  const hn::RebindToSigned<WideTag> d;
  const auto product = hn::Set(d, static_cast<int64_t>(kProduct));
  const auto half = hn::Set(d, static_cast<int64_t>(kProduct / 2));
  ForRows<kCount, false>(digits, to, n, [&](const uint32_t* const* at, int64_t* out) HWY_ATTR {
    ASSAY_UNROLL
    for (size_t i = 0; i < kLanes; i += kLanes / 2) {
      const hn::Half<D> narrow;
      auto x = hn::PromoteTo(WideTag(), hn::LoadU(narrow, at[0] + i));
      if constexpr (kCount == 2) {
        const auto high = hn::PromoteTo(WideTag(), hn::LoadU(narrow, at[1] + i));
        x = hn::Add(x, hn::MulEven(hn::BitCast(D(), high), Splat(kPrime[0])));
      }
      const auto value = hn::BitCast(d, x);
      const auto negative = hn::VecFromMask(d, hn::Gt(value, half));
      hn::StoreU(hn::Sub(value, hn::And(negative, product)), d, out + i);
    }
  });
#endif
}

}  // namespace

void GarnerHere(uint32_t* const* digits, int count, size_t n) {
  if (count == 1) return GarnerOf<1>(digits, n);
  if (count == 2) return GarnerOf<2>(digits, n);
  if (count == 3) return GarnerOf<3>(digits, n);
  if (count == 4) return GarnerOf<4>(digits, n);
  if (count == 5) return GarnerOf<5>(digits, n);
  GarnerOf<6>(digits, n);
}

void NearestToZeroHere(const uint32_t* const* digits, int count, size_t n, int64_t* to) {
  if (count == 1) return NearestToZeroOf<1>(digits, n, to);
  NearestToZeroOf<2>(digits, n, to);
}

void WeightedSumHere(const uint32_t* const* digits, int count, const uint32_t* weights, uint32_t m,
                     size_t n, uint64_t* to) {
  if (count == 1) return WeightedSumOf<1>(digits, weights, m, n, to);
  if (count == 2) return WeightedSumOf<2>(digits, weights, m, n, to);
  WeightedSumOf<3>(digits, weights, m, n, to);
}

}  // namespace assay::ntt::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::ntt::internal {

HWY_EXPORT(PackHere);
HWY_EXPORT(AllBelowHere);
HWY_EXPORT(UnpackHere);
HWY_EXPORT(ReduceHere);
HWY_EXPORT(GarnerHere);
HWY_EXPORT(NearestToZeroHere);
HWY_EXPORT(WeightedSumHere);

uint32_t Pack(const uint64_t* from, size_t n, uint32_t* to) {
  return HWY_DYNAMIC_DISPATCH(PackHere)(from, n, to);
}
bool AllBelow(const uint64_t* x, size_t n, uint64_t m) {
  return HWY_DYNAMIC_DISPATCH(AllBelowHere)(x, n, m);
}
void Unpack(const uint32_t* from, size_t n, uint64_t* to) {
  HWY_DYNAMIC_DISPATCH(UnpackHere)(from, n, to);
}
void Reduce(const Tables& tables, const uint64_t* from, bool is_signed, size_t n, uint32_t* to) {
  HWY_DYNAMIC_DISPATCH(ReduceHere)(tables, from, is_signed, n, to);
}
void Garner(uint32_t* const* digits, int count, size_t n) {
  HWY_DYNAMIC_DISPATCH(GarnerHere)(digits, count, n);
}
void NearestToZero(const uint32_t* const* digits, int count, size_t n, int64_t* to) {
  HWY_DYNAMIC_DISPATCH(NearestToZeroHere)(digits, count, n, to);
}
void WeightedSum(const uint32_t* const* digits, int count, const uint32_t* weights, uint32_t m,
                 size_t n, uint64_t* to) {
  HWY_DYNAMIC_DISPATCH(WeightedSumHere)(digits, count, weights, m, n, to);
}

}  // namespace assay::ntt::internal
#endif  // HWY_ONCE
