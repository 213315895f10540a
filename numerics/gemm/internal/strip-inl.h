// SPDX-License-Identifier: Apache-2.0
//
// strip-inl.h: the sums of a strip of C in registers.
//
// A tile is kRows rows of kVectors vectors. Each step of k takes kVectors loads of B, kRows
// broadcasts of A and kRows kVectors products and sums, each into its own register: twelve rows of
// two vectors keep 24 of 32 registers (six rows 12 of 16), more sums than two pipes of four cycles
// can have under way, and loads stay under two a cycle.
//
// What a product is, M says: types Packed (as A and B lie) and Out (as C lies), of one size; of
// vectors of them Multiply(a, b, s), which is s + a b, and Scale(s, alpha); and kInPlace, whether A
// and B may lie unpacked.
//
// Compiled once for every target of Highway, hence the toggled guard.

#if defined(ASSAY_NUMERICS_GEMM_INTERNAL_STRIP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_GEMM_INTERNAL_STRIP_INL_H_
#undef ASSAY_NUMERICS_GEMM_INTERNAL_STRIP_INL_H_
#else
#define ASSAY_NUMERICS_GEMM_INTERNAL_STRIP_INL_H_
#endif

#include <algorithm>

#include "numerics/gemm/internal/kernels.h"
#include "numerics/gemm/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE {
namespace {

// The shapes of tiles: rows at most; vectors of a panel; and for strips of few rows more vectors,
// so that there are sums enough.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int kRowsAtMost = 12;
constexpr int kWideRows = 6;
constexpr int kWideVectors = 4;
#elif HWY_ARCH_WASM
constexpr int kRowsAtMost = 4;
constexpr int kWideRows = 0;
constexpr int kWideVectors = 2;
#else
constexpr int kRowsAtMost = 6;
constexpr int kWideRows = 3;
constexpr int kWideVectors = 4;
#endif
constexpr int kPanelVectors = 2;

constexpr int64_t kDepthOfPrefetch = 64;

// Reads A's element of each row at one step of k.
template <class T, int kRows, bool kByColumns>
struct RowsOfA {
  const T* at;
  HWY_INLINE RowsOfA(const T* a, int64_t, int64_t step) : at(a), step_(step) {}
  HWY_INLINE T operator[](int r) const { return at[r]; }
  HWY_INLINE void Next() { at += step_; }

 private:
  int64_t step_;
};
template <class T, int kRows>
struct RowsOfA<T, kRows, false> {
  static constexpr int kBases = (kRows + 3) / 4;
  const T* at[kBases];  // every fourth row
  HWY_INLINE RowsOfA(const T* a, int64_t row, int64_t) : row_(row), row3_(3 * row) {
    ForEach<kBases>([&](auto i) HWY_ATTR { at[i] = a + 4 * i * row; });
  }
  HWY_INLINE T operator[](int r) const {
    const T* base = at[r / 4];
    return r % 4 == 3 ? base[row3_] : base[(r % 4) * row_];
  }
  HWY_INLINE void Next() {
    ForEach<kBases>([&](auto i) HWY_ATTR { at[i] = Opaque(at[i] + 1); });
  }

 private:
  int64_t row_;
  int64_t row3_;
};

// One tile, whose last vector has `last` lanes. kSome: these may be fewer than all.
template <class M, int kRows, int kVectors, bool kByColumns, bool kSome>
HWY_INLINE void Tile(const Strip<typename M::Packed, typename M::Out>& s,
                     const typename M::Packed* b, int64_t col, int last) {
  using Out = typename M::Out;
  using Sum = Vec<Out>;
  constexpr int kWidth = kLanes<Out>;
  const auto load = [last](const auto* from, auto v) HWY_ATTR {
    return kSome && v == kVectors - 1 ? LoadSome(from + v * kWidth, last) : Load(from + v * kWidth);
  };
  const auto store = [last](Sum sum, Out* to, auto v) HWY_ATTR {
    if (kSome && v == kVectors - 1) {
      StoreSome(sum, to + v * kWidth, last);
    } else {
      Store(sum, to + v * kWidth);
    }
  };

  Out* c = s.c + col;
  // C comes while the sums are made.
  if (s.read && s.depth >= kDepthOfPrefetch) {
    ForEach<kRows>([&](auto r) HWY_ATTR {
      __builtin_prefetch(c + r * s.c_row, 1, 2);
      __builtin_prefetch(c + r * s.c_row + kVectors * kWidth - 1, 1, 2);
    });
  }

  Sum sums[kRows][kVectors];
  if (s.sums != nullptr) {
    const Out* from = s.sums + col;
    ForEach<kRows>([&](auto r) HWY_ATTR {
      ForEach<kVectors>([&](auto v) HWY_ATTR { sums[r][v] = load(from + r * s.sums_row, v); });
    });
  } else {
    ForEach<kRows>(
        [&](auto r) HWY_ATTR { ForEach<kVectors>([&](auto v) HWY_ATTR { sums[r][v] = Sum{}; }); });
  }

  RowsOfA<typename M::Packed, kRows, kByColumns> a(s.a, s.a_row, s.a_step);
  for (int64_t p = s.depth; p > 0; --p) {
    Vec<typename M::Packed> row[kVectors];
    ForEach<kVectors>([&](auto v) HWY_ATTR { row[v] = load(b, v); });
    ForEach<kRows>([&](auto r) HWY_ATTR {
      const Vec<typename M::Packed> x = Splat(a[r]);
      ForEach<kVectors>([&](auto v) HWY_ATTR { sums[r][v] = M::Multiply(x, row[v], sums[r][v]); });
    });
    a.Next();
    b += s.b_step;
  }

  if (!s.keep) {
    ForEach<kRows>([&](auto r) HWY_ATTR {
      ForEach<kVectors>([&](auto v) HWY_ATTR {
        sums[r][v] = M::Scale(sums[r][v], s.alpha);
        if (s.read) sums[r][v] = M::Scale(load(c + r * s.c_row, v), s.beta) + sums[r][v];
      });
    });
  }
  ForEach<kRows>([&](auto r) HWY_ATTR {
    ForEach<kVectors>([&](auto v) HWY_ATTR { store(sums[r][v], c + r * s.c_row, v); });
  });
}

// The last columns, fewer than a whole tile's.
template <class M, int kRows, int kVectors, bool kByColumns>
HWY_NOINLINE void LastTile(const Strip<typename M::Packed, typename M::Out>& s,
                           const typename M::Packed* b, int64_t col) {
  const auto lanes = static_cast<int>(s.cols - col) - (kVectors - 1) * kLanes<typename M::Out>;
  Tile<M, kRows, kVectors, kByColumns, true>(s, b, col, lanes);
}

template <class M, int kRows, int kVectors, bool kByColumns>
HWY_NOINLINE void Tiles(const Strip<typename M::Packed, typename M::Out>& s) {
  constexpr int kLane = kLanes<typename M::Out>;
  constexpr int kWidth = kVectors * kLane;
  const typename M::Packed* b = s.b;
  int64_t col = 0;
  for (; col <= s.cols - kWidth; col += kWidth) {
    Tile<M, kRows, kVectors, kByColumns, false>(s, b, col, kLane);
    b += s.b_panel;
  }
  const auto vectors = static_cast<int>((s.cols - col + kLane - 1) / kLane);
  ForEach<kVectors>([&](auto v) HWY_ATTR {
    if (vectors == v + 1) LastTile<M, kRows, v + 1, kByColumns>(s, b, col);
  });
}

// Packed panels are narrower than the tiles of few rows.
template <class M, int kRows, bool kByColumns>
void RunStrip(const Strip<typename M::Packed, typename M::Out>& s) {
  if constexpr (kRows <= kWideRows && M::kInPlace) {
    if (s.wide) return Tiles<M, kRows, kWideVectors, kByColumns>(s);
  }
  Tiles<M, kRows, kPanelVectors, kByColumns>(s);
}

}  // namespace
}  // namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_STRIP_INL_H_
