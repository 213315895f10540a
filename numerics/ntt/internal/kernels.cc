// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/internal/kernels.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "numerics/core/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/ntt/internal/kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "numerics/ntt/internal/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::ntt::internal::HWY_NAMESPACE {
namespace {

// Four levels hold 16 vectors, which 32 registers take; 16 registers take two levels.
constexpr int kMaxLevels = kLanes == 16 ? 4 : 2;

// Root((node << l) + j), the factor of the j-th of 2^l nodes that stand l levels below `node`.
struct NodeFactors {
  template <class F>
  HWY_INLINE Factor<true> At(const F&, int l, int j) const {
    const size_t t = static_cast<size_t>(node << l) + static_cast<size_t>(j);
    return {Splat(roots.form[t]), Splat(roots.quotient[t])};
  }
  const Roots& roots;
  uint64_t node;
};

// The same for the last four levels of a leaf, where every lane is a node of its own.
struct LeafFactors {
  template <class F>
  HWY_INLINE Factor<false> At(const F& f, int l, int j) const {
    const V form = LoadRow(lanes + 16 * ((1 << l) - 1 + j));
    return {form, hn::Mul(form, f.inverse)};
  }
  const uint32_t* lanes;
};

template <int kLevels, class F, class W>
HWY_INLINE void Down(const F& f, const W& w, V* x) {
  ASSAY_UNROLL
  for (int l = 0; l < kLevels; ++l) {
    const int half = (1 << kLevels) >> (l + 1);
    ASSAY_UNROLL
    for (int j = 0; j < (1 << l); ++j) {
      const auto factor = w.At(f, l, j);
      ASSAY_UNROLL
      for (int i = 0; i < half; ++i) {
        f.Forward(x[2 * half * j + i], x[2 * half * j + half + i], factor);
      }
    }
  }
}

template <int kLevels, class F, class W>
HWY_INLINE void Up(const F& f, const W& w, V* x) {
  ASSAY_UNROLL
  for (int l = kLevels - 1; l >= 0; --l) {
    const int half = (1 << kLevels) >> (l + 1);
    ASSAY_UNROLL
    for (int j = 0; j < (1 << l); ++j) {
      const auto factor = w.At(f, l, j);
      ASSAY_UNROLL
      for (int i = 0; i < half; ++i) {
        f.Backward(x[2 * half * j + i], x[2 * half * j + half + i], factor);
      }
    }
  }
}

template <bool kForward, int kLevels, class F>
HWY_INLINE void Levels(const F& f, const Roots& roots, uint32_t* data, uint64_t node, int log,
                       size_t begin, size_t end) {
  constexpr int kRows = 1 << kLevels;
  const size_t stride = size_t{1} << (log - kLevels);
  const NodeFactors w{roots, node};
  for (size_t c = begin; c < end; c += kLanes) {
    V x[kRows];
    ASSAY_UNROLL
    for (int i = 0; i < kRows; ++i) x[i] = LoadRow(data + stride * i + c);
    if constexpr (kForward) {
      Down<kLevels>(f, w, x);
    } else {
      Up<kLevels>(f, w, x);
    }
    ASSAY_UNROLL
    for (int i = 0; i < kRows; ++i) StoreRow(x[i], data + stride * i + c);
  }
}

template <bool kForward, class F>
HWY_NOINLINE void AnyLevels(const F& f, const Roots& roots, uint32_t* data, uint64_t node, int log,
                            int levels, size_t begin, size_t end) {
  if (levels == 1) return Levels<kForward, 1>(f, roots, data, node, log, begin, end);
  if (levels == 2) return Levels<kForward, 2>(f, roots, data, node, log, begin, end);
  if constexpr (kMaxLevels == 4) {
    if (levels == 3) return Levels<kForward, 3>(f, roots, data, node, log, begin, end);
    if (levels == 4) return Levels<kForward, 4>(f, roots, data, node, log, begin, end);
  }
  ASSAY_CHECK(false);
}

template <class F>
HWY_INLINE void ForwardLeaf(const F& f, const Roots& roots, uint32_t* data, uint64_t leaf) {
  const uint32_t* lanes = roots.leaves + kLeafRoots * leaf;
  if constexpr (kLanes == 16) {
    V x[16];
    ASSAY_UNROLL
    for (int i = 0; i < 16; ++i) x[i] = LoadRow(data + 16 * i);
    Down<4>(f, NodeFactors{roots, leaf}, x);
    Transpose(x);
    Down<4>(f, LeafFactors{lanes}, x);
    ASSAY_UNROLL
    for (int i = 0; i < 16; ++i) StoreRow(f.AfterForward(x[i]), data + 16 * i);
  } else {
    Levels<true, 2>(f, roots, data, leaf, 8, 0, 64);
    for (int j = 0; j < 4; ++j) {
      Levels<true, 2>(f, roots, data + 64 * j, 4 * leaf + static_cast<uint64_t>(j), 6, 0, 16);
    }
    uint32_t rows[kLeaf];
    std::memcpy(rows, data, sizeof(rows));
    for (size_t r = 0; r < 16; r += kLanes) {
      V x[16];
      ASSAY_UNROLL
      for (size_t c = 0; c < 16; c += kLanes) {
        ASSAY_UNROLL
        for (size_t i = 0; i < kLanes; ++i) x[c + i] = LoadRow(rows + 16 * (r + i) + c);
        Transpose(x + c);
      }
      Down<4>(f, LeafFactors{lanes + r}, x);
      ASSAY_UNROLL
      for (int i = 0; i < 16; ++i) StoreRow(f.AfterForward(x[i]), data + 16 * i + r);
    }
  }
}

template <class F>
HWY_INLINE void BackwardLeaf(const F& f, const Roots& roots, uint32_t* data, uint64_t leaf) {
  const uint32_t* lanes = roots.leaves + kLeafRoots * leaf;
  if constexpr (kLanes == 16) {
    V x[16];
    ASSAY_UNROLL
    for (int i = 0; i < 16; ++i) x[i] = LoadRow(data + 16 * i);
    Up<4>(f, LeafFactors{lanes}, x);
    Transpose(x);
    Up<4>(f, NodeFactors{roots, leaf}, x);
    ASSAY_UNROLL
    for (int i = 0; i < 16; ++i) StoreRow(x[i], data + 16 * i);
  } else {
    uint32_t rows[kLeaf];
    for (size_t r = 0; r < 16; r += kLanes) {
      V x[16];
      ASSAY_UNROLL
      for (int i = 0; i < 16; ++i) x[i] = LoadRow(data + 16 * i + r);
      Up<4>(f, LeafFactors{lanes + r}, x);
      ASSAY_UNROLL
      for (size_t c = 0; c < 16; c += kLanes) {
        Transpose(x + c);
        ASSAY_UNROLL
        for (size_t i = 0; i < kLanes; ++i) StoreRow(x[c + i], rows + 16 * (r + i) + c);
      }
    }
    std::memcpy(data, rows, sizeof(rows));
    for (int j = 0; j < 4; ++j) {
      Levels<false, 2>(f, roots, data + 64 * j, 4 * leaf + static_cast<uint64_t>(j), 6, 0, 16);
    }
    Levels<false, 2>(f, roots, data, leaf, 8, 0, 64);
  }
}

// How many levels to take in one sweep when `log` levels are left above the leaf: as few sweeps as
// possible, of about equal height.
HWY_INLINE int NextLevels(int log) {
  const int left = log - kLeafLog;
  const int sweeps = (left + kMaxLevels - 1) / kMaxLevels;
  return (left + sweeps - 1) / sweeps;
}

// Depth first: from the size on that fits a cache, its levels find it there.
template <class F>
void ForwardTree(const F& f, const Roots& roots, uint32_t* data, uint64_t node, int log) {
  if (log == kLeafLog) return ForwardLeaf(f, roots, data, node);
  const int levels = NextLevels(log);
  AnyLevels<true>(f, roots, data, node, log, levels, 0, size_t{1} << (log - levels));
  for (size_t i = 0; i < (size_t{1} << levels); ++i) {
    ForwardTree(f, roots, data + (i << (log - levels)), (node << levels) + i, log - levels);
  }
}

template <class F>
void BackwardTree(const F& f, const Roots& roots, uint32_t* data, uint64_t node, int log) {
  if (log == kLeafLog) return BackwardLeaf(f, roots, data, node);
  const int levels = NextLevels(log);
  for (size_t i = 0; i < (size_t{1} << levels); ++i) {
    BackwardTree(f, roots, data + (i << (log - levels)), (node << levels) + i, log - levels);
  }
  AnyLevels<false>(f, roots, data, node, log, levels, 0, size_t{1} << (log - levels));
}

template <class F>
void CombinedIn(const F& f, Combine what, Factor<true> root, uint32_t* a, uint32_t* b, size_t n) {
  for (size_t i = 0; i < n; i += kLanes) {
    V x = LoadRow(a + i), y = LoadRow(b + i);
    if (what == Combine::kAdd) {
      f.Forward(x, y, root);
      StoreRow(x, a + i);
      continue;
    }
    const V product = f.Times(y, root);
    if (what == Combine::kRemainder) {
      StoreRow(f.Difference(x, product), b + i);
    } else if (what == Combine::kDouble) {
      StoreRow(f.Difference(f.Sum(x, x), product), a + i);
    } else {
      const V sum = f.Difference(x, hn::Sub(Splat(0), product));
      const V odd = hn::Sub(Splat(0), hn::And(sum, Splat(1)));
      StoreRow(hn::ShiftRight<1>(hn::Add(sum, hn::And(odd, f.p))), a + i);
    }
  }
}

// body(Field) with the arithmetic that p asks for.
template <class Body>
HWY_INLINE void WithField(const Tables& tables, Body body) {
  if (tables.p < (uint32_t{1} << 30)) {
    body(Field<true>(tables.p, tables.inverse));
  } else {
    body(Field<false>(tables.p, tables.inverse));
  }
}

// map(vector) for any n: the last lanes by way of a copy.
template <class Map>
HWY_INLINE void ForAll(const uint32_t* from, uint32_t* to, size_t n, Map map) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) StoreRow(map(LoadRow(from + i)), to + i);
  if (i == n) return;
  uint32_t rest[kLanes] = {};
  std::memcpy(rest, from + i, (n - i) * sizeof(uint32_t));
  StoreRow(map(LoadRow(rest)), rest);
  std::memcpy(to + i, rest, (n - i) * sizeof(uint32_t));
}

}  // namespace

void ForwardHere(const Tables& tables, uint32_t* data, uint64_t node, int log) {
  WithField(tables, [&](const auto& f) { ForwardTree(f, tables.forward, data, node, log); });
}
void BackwardHere(const Tables& tables, uint32_t* data, uint64_t node, int log) {
  WithField(tables, [&](const auto& f) { BackwardTree(f, tables.backward, data, node, log); });
}
void ForwardLevelsHere(const Tables& tables, uint32_t* data, uint64_t node, int log, int levels,
                       size_t begin, size_t end) {
  WithField(tables, [&](const auto& f) {
    AnyLevels<true>(f, tables.forward, data, node, log, levels, begin, end);
  });
}
void BackwardLevelsHere(const Tables& tables, uint32_t* data, uint64_t node, int log, int levels,
                        size_t begin, size_t end) {
  WithField(tables, [&](const auto& f) {
    AnyLevels<false>(f, tables.backward, data, node, log, levels, begin, end);
  });
}
int LevelsAtOnceHere() { return kMaxLevels; }

void CombinedHere(const Tables& tables, Combine what, uint32_t* a, uint32_t* b, uint64_t node,
                  size_t n) {
  const Factor<true> root = {Splat(tables.forward.form[node]),
                             Splat(tables.forward.quotient[node])};
  WithField(tables, [&](const auto& f) { CombinedIn(f, what, root, a, b, n); });
}

void MultiplyHere(const Tables& tables, uint32_t* a, const uint32_t* b, uint32_t scale, size_t n) {
  const Field<false> f(tables.p, tables.inverse);
  const Factor<true> factor = f.SplatFactor(scale);
  for (size_t i = 0; i < n; i += kLanes) {
    const V product = f.Positive(f.Times(LoadRow(a + i), LoadRow(b + i)));
    StoreRow(f.Positive(f.Times(product, factor)), a + i);
  }
}

void ScaleHere(const Tables& tables, const uint32_t* from, uint32_t w, uint32_t* to, size_t n) {
  const Field<false> f(tables.p, tables.inverse);
  const Factor<true> factor = f.SplatFactor(w);
  ForAll(from, to, n, [&](V x) { return f.Positive(f.Times(x, factor)); });
}

void CanonicalHere(const Tables& tables, const uint32_t* from, uint32_t* to, size_t n) {
  WithField(tables,
            [&](const auto& f) { ForAll(from, to, n, [&](V x) { return f.AfterBackward(x); }); });
}

uint32_t LargestHere(const uint32_t* x, size_t n) {
  uint32_t result = 0;
  size_t i = 0;
  if (n >= kLanes) {
    V most = LoadRow(x);
    for (i = kLanes; i + kLanes <= n; i += kLanes) most = hn::Max(most, LoadRow(x + i));
    uint32_t lanes[kLanes];
    StoreRow(most, lanes);
    for (uint32_t lane : lanes) result = lane > result ? lane : result;
  }
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

void FillLeafHere(const Tables& tables, const uint32_t* pattern, const uint32_t* bases,
                  uint32_t* leaf) {
  const Field<false> f(tables.p, tables.inverse);
  for (size_t l = 0; l < 4; ++l) {
    const Factor<true> base = f.SplatFactor(bases[l]);
    for (size_t i = 16 * ((size_t{1} << l) - 1); i < 16 * ((size_t{2} << l) - 1); i += kLanes) {
      StoreRow(f.Positive(f.Times(LoadRow(pattern + i), base)), leaf + i);
    }
  }
}

}  // namespace assay::ntt::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::ntt::internal {

HWY_EXPORT(ForwardHere);
HWY_EXPORT(BackwardHere);
HWY_EXPORT(ForwardLevelsHere);
HWY_EXPORT(BackwardLevelsHere);
HWY_EXPORT(LevelsAtOnceHere);
HWY_EXPORT(CombinedHere);
HWY_EXPORT(MultiplyHere);
HWY_EXPORT(ScaleHere);
HWY_EXPORT(CanonicalHere);
HWY_EXPORT(LargestHere);
HWY_EXPORT(FillLeafHere);

void Forward(const Tables& tables, uint32_t* data, uint64_t node, int log) {
  HWY_DYNAMIC_DISPATCH(ForwardHere)(tables, data, node, log);
}
void Backward(const Tables& tables, uint32_t* data, uint64_t node, int log) {
  HWY_DYNAMIC_DISPATCH(BackwardHere)(tables, data, node, log);
}
void ForwardLevels(const Tables& tables, uint32_t* data, uint64_t node, int log, int levels,
                   size_t begin, size_t end) {
  HWY_DYNAMIC_DISPATCH(ForwardLevelsHere)(tables, data, node, log, levels, begin, end);
}
void BackwardLevels(const Tables& tables, uint32_t* data, uint64_t node, int log, int levels,
                    size_t begin, size_t end) {
  HWY_DYNAMIC_DISPATCH(BackwardLevelsHere)(tables, data, node, log, levels, begin, end);
}
int LevelsAtOnce() { return HWY_DYNAMIC_DISPATCH(LevelsAtOnceHere)(); }
void Combined(const Tables& tables, Combine what, uint32_t* a, uint32_t* b, uint64_t node,
              size_t n) {
  HWY_DYNAMIC_DISPATCH(CombinedHere)(tables, what, a, b, node, n);
}
void Multiply(const Tables& tables, uint32_t* a, const uint32_t* b, uint32_t scale, size_t n) {
  HWY_DYNAMIC_DISPATCH(MultiplyHere)(tables, a, b, scale, n);
}
void Scale(const Tables& tables, const uint32_t* from, uint32_t w, uint32_t* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(ScaleHere)(tables, from, w, to, n);
}
void Canonical(const Tables& tables, const uint32_t* from, uint32_t* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(CanonicalHere)(tables, from, to, n);
}
uint32_t Largest(const uint32_t* x, size_t n) { return HWY_DYNAMIC_DISPATCH(LargestHere)(x, n); }
void FillLeaf(const Tables& tables, const uint32_t* pattern, const uint32_t* bases,
              uint32_t* leaf) {
  HWY_DYNAMIC_DISPATCH(FillLeafHere)(tables, pattern, bases, leaf);
}

}  // namespace assay::ntt::internal
#endif  // HWY_ONCE
