// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/internal/columns.h"
#include "numerics/fft/internal/targets.h"

#include <cstdint>

#include "numerics/core/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/fft/internal/columns.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "numerics/fft/internal/butterfly-inl.h"
#include "numerics/fft/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ASSAY_FFT_NAMESPACE::HWY_NAMESPACE {
namespace {

// A block is rows of `lanes` numbers, vector by vector: the real parts of one, its imaginary parts.
// So many bytes of it stay in the first-level cache.
constexpr int64_t kCacheBytes = 24 * 1024;

// Arrays of so many bytes go to memory past the caches.
constexpr int64_t kStreamBytes = int64_t{4} << 20;

template <int R, class D, class T>
HWY_INLINE void Transform(D d, Vec<D>* re, Vec<D>* im, const Roots<T>& roots) {
  constexpr int kAt = R % 2 == 1 || R == 16 ? RootsOffset(R) : 0;
  Butterfly<R>(d, re, im, roots.cosines + kAt, roots.sines + kAt, roots.half_root);
}

// Interleaved rows, `stride` numbers T apart.
template <class T>
struct Rows {
  T* at;
  int64_t stride;
  bool stream = false;
};

// Hides from the compiler that p is a sum of loop counters: it would otherwise keep one pointer a
// row and, short of registers, all of them in memory.
template <class P>
HWY_INLINE P Opaque(P p) {
  asm("" : "+r"(p));
  return p;
}

// Row k of rows that are `leap` apart.
template <class T>
HWY_INLINE T* RowAt(T* at, int64_t leap, int k) {
  return at + k * leap;
}

// Stores R rows that are `leap` apart, row j times the factor w[j - 1] (none where m = 1).
template <int R, class D, class T>
HWY_INLINE void StoreTurned(D d, Vec<D>* re, Vec<D>* im, const T* w, int64_t m, T* target,
                            int64_t leap) {
  StoreRow(d, re[0], target);
  StoreRow(d, im[0], target + kLanes<D>);
  ASSAY_UNROLL
  for (int j = 1; j < R; ++j) {
    if (m > 1) Rotate(re[j], im[j], Splat(d, w[2 * j - 2]), Splat(d, w[2 * j - 1]));
    T* at = RowAt(target, leap, j);
    StoreRow(d, re[j], at);
    StoreRow(d, im[j], at + kLanes<D>);
  }
}

// Runs one step from `from` to `to` (the same or another block), in `count` sub-blocks.
template <int R, class D, class T>
HWY_NOINLINE void Middle(D d, int64_t lanes, int64_t m, const T* HWY_RESTRICT twiddles,
                         int64_t count, const T* from, T* to, const Roots<T>& roots) {
  constexpr int kWidth = kLanes<D>;
  const int64_t leap = m * 2 * lanes;
  for (int64_t b = 0; b < count; ++b) {
    const T* w = twiddles;
    for (int64_t p = 0; p < m; ++p) {
      for (int64_t c = lanes; c > 0; c -= kWidth) {
        const T* source = Opaque(from);
        T* target = Opaque(to);
        Vec<D> re[R], im[R];
        ASSAY_UNROLL
        for (int k = 0; k < R; ++k) {
          const T* at = RowAt(source, leap, k);
          re[k] = LoadRow(d, at);
          im[k] = LoadRow(d, at + kWidth);
        }
        Transform<R>(d, re, im, roots);
        StoreTurned<R>(d, re, im, w, m, target, leap);
        from += 2 * kWidth;
        to += 2 * kWidth;
      }
      w += 2 * (R - 1);
    }
    from += (R - 1) * leap;
    to += (R - 1) * leap;
  }
}

// The first step, from interleaved rows into the block.
template <int R, class D, class T>
HWY_NOINLINE void Enter(D d, int64_t lanes, int64_t m, const T* HWY_RESTRICT twiddles,
                        Rows<const T> in, T* to, T conjugate, const Roots<T>& roots) {
  constexpr int kWidth = kLanes<D>;
  const int64_t leap = m * 2 * lanes, in_leap = m * in.stride;
  const T* w = twiddles;
  for (int64_t p = 0; p < m; ++p) {
    const T* from = in.at + p * in.stride;
    for (int64_t c = lanes; c > 0; c -= kWidth) {
      const T* source = Opaque(from);
      T* target = Opaque(to);
      Vec<D> re[R], im[R];
      ASSAY_UNROLL
      for (int k = 0; k < R; ++k) {
        LoadPairs(d, RowAt(source, in_leap, k), re[k], im[k]);
        im[k] = Times(im[k], Splat(d, conjugate));
      }
      Transform<R>(d, re, im, roots);
      StoreTurned<R>(d, re, im, w, m, target, leap);
      from += 2 * kWidth;
      to += 2 * kWidth;
    }
    w += 2 * (R - 1);
  }
}

// The last step (m = 1), from the block into interleaved rows.
template <int R, bool kStream, class D, class T>
HWY_INLINE void LeaveTo(D d, int64_t lanes, const std::vector<int32_t>& first, const T* from,
                        Rows<T> out, T conjugate, const Roots<T>& roots) {
  constexpr int kWidth = kLanes<D>;
  const int64_t count = static_cast<int64_t>(first.size());
  const int64_t row = 2 * lanes, out_leap = count * out.stride;
  for (int64_t b = 0; b < count; ++b) {
    T* to = out.at + first[static_cast<size_t>(b)] * out.stride;
    for (int64_t c = lanes; c > 0; c -= kWidth) {
      const T* source = Opaque(from);
      T* target = Opaque(to);
      Vec<D> re[R], im[R];
      ASSAY_UNROLL
      for (int k = 0; k < R; ++k) {
        const T* at = RowAt(source, row, k);
        re[k] = LoadRow(d, at);
        im[k] = LoadRow(d, at + kWidth);
      }
      Transform<R>(d, re, im, roots);
      ASSAY_UNROLL
      for (int j = 0; j < R; ++j) {
        im[j] = Times(im[j], Splat(d, conjugate));
        T* at = RowAt(target, out_leap, j);
        if constexpr (kStream) {
          StreamPairs(d, re[j], im[j], at);
        } else {
          StorePairs(d, re[j], im[j], at);
        }
      }
      from += 2 * kWidth;
      to += 2 * kWidth;
    }
    from += (R - 1) * row;
  }
}

template <int R, class D, class T>
HWY_NOINLINE void Leave(D d, int64_t lanes, const std::vector<int32_t>& first, const T* from,
                        const Rows<T>& out, T conjugate, const Roots<T>& roots) {
  // Long transforms end with one of these.
  if constexpr (R == 2 || R == 4 || R == 8) {
    if (out.stream) return LeaveTo<R, true>(d, lanes, first, from, out, conjugate, roots);
  }
  LeaveTo<R, false>(d, lanes, first, from, out, conjugate, roots);
}

// Calls body with the radix as a constant.
template <class Body>
HWY_INLINE void WithRadix(int radix, Body body) {
  switch (radix) {
#define ASSAY_CASE(R) \
  case R:             \
    return body(std::integral_constant<int, R>())
    ASSAY_CASE(2);
    ASSAY_CASE(3);
    ASSAY_CASE(4);
    ASSAY_CASE(5);
    ASSAY_CASE(7);
    ASSAY_CASE(8);
    ASSAY_CASE(11);
    ASSAY_CASE(13);
#undef ASSAY_CASE
    default:
      ASSAY_CHECK(false);
  }
}

template <class D, class T>
HWY_INLINE void AnyMiddle(D d, int64_t lanes, const ColumnTables<T>& t, const Step& step,
                          int64_t count, const T* from, T* to, const Roots<T>& roots) {
  const T* twiddles = t.twiddles.get() + step.twiddle_offset;
  WithRadix(step.radix,
            [&](auto r) { Middle<r()>(d, lanes, step.m, twiddles, count, from, to, roots); });
}

// Steps [step, last) in place on `count` sub-blocks at `block`; those that fit the cache are
// finished one after the other.
template <class D, class T>
void Descend(D d, int64_t lanes, const ColumnTables<T>& t, size_t step, size_t last, int64_t count,
             T* block, const Roots<T>& roots) {
  for (; step < last; ++step) {
    const Step& s = t.steps[step];
    const int64_t size = s.radix * s.m * 2 * lanes;
    if (count > 1 && count * size * static_cast<int64_t>(sizeof(T)) > kCacheBytes) {
      for (int64_t b = 0; b < count; ++b) {
        Descend(d, lanes, t, step, last, 1, block + b * size, roots);
      }
      return;
    }
    AnyMiddle(d, lanes, t, s, count, block, block, roots);
    count *= s.radix;
  }
}

// The first sweep where n1 = R = lanes: a butterfly of rows, vectors along p, the outputs of each p
// put side by side by a transposition in registers.
template <int R, class D, class T>
HWY_INLINE void ButterflyFirst(D d, const BlockTables<T>& t, const T* in, T* tiles, T conjugate,
                               int64_t begin, int64_t end) {
  constexpr int kWidth = kLanes<D>;
  const int64_t n2 = t.n2;
  for (int64_t block = begin; block < end; ++block) {
    const int64_t p = BlockBegin(block, n2, R);
    const T* w = t.twiddles.get() + block * (R - 1) * 2 * R;
    for (int c = 0; c < R; c += kWidth) {
      Vec<D> re[R], im[R];
      ASSAY_UNROLL
      for (int k = 0; k < R; ++k) {
        LoadPairs(d, in + 2 * (p + c + n2 * k), re[k], im[k]);
        im[k] = Times(im[k], Splat(d, conjugate));
      }
      Transform<R>(d, re, im, *t.roots);
      ASSAY_UNROLL
      for (int j = 1; j < R; ++j) {
        Rotate(re[j], im[j], LoadRow(d, w + (j - 1) * 2 * R + c),
               LoadRow(d, w + (j - 1) * 2 * R + R + c));
      }
      ASSAY_UNROLL
      for (int j = 0; j < R; j += kWidth) {
        TransposeSquare(d, re + j);
        TransposeSquare(d, im + j);
        ASSAY_UNROLL
        for (int i = 0; i < kWidth; ++i) {
          T* to = tiles + (p + c + i) * 2 * R + 2 * j;
          StoreRow(d, re[j + i], to);
          StoreRow(d, im[j + i], to + kWidth);
        }
      }
    }
  }
}

// Both sweeps in registers, where n = R^2 and a vector has R lanes.
template <int R, class D, class T>
HWY_INLINE void Square(D d, const BlockTables<T>& t, const T* in, T* out, T conjugate) {
  static_assert(kLanes<D> == R);
  const T* w = t.twiddles.get();
  Vec<D> re[R], im[R];
  ASSAY_UNROLL
  for (int k = 0; k < R; ++k) {
    LoadPairs(d, in + 2 * R * k, re[k], im[k]);
    im[k] = Times(im[k], Splat(d, conjugate));
  }
  Transform<R>(d, re, im, *t.roots);
  ASSAY_UNROLL
  for (int j = 1; j < R; ++j) {
    Rotate(re[j], im[j], LoadRow(d, w + (j - 1) * 2 * R), LoadRow(d, w + (j - 1) * 2 * R + R));
  }
  TransposeSquare(d, re);
  TransposeSquare(d, im);
  Transform<R>(d, re, im, *t.roots);
  ASSAY_UNROLL
  for (int k = 0; k < R; ++k) {
    StorePairs(d, re[k], Times(im[k], Splat(d, conjugate)), out + 2 * R * k);
  }
}

// The same for n = 16 R, R = 4 or 8, on vectors of sixteen: after the butterfly a vector holds one
// column of sixteen, of which four are transformed at a time by two butterflies of four, each after
// a transposition of four by four blocks.
template <int R, class D, class T>
HWY_INLINE void SixteenTimes(D d, const BlockTables<T>& t, const T* in, T* out, T conjugate) {
  static_assert(kLanes<D> == 16 && R % 4 == 0);
  const T* w = t.short_twiddles.get();
  Vec<D> re[R], im[R];
  ASSAY_UNROLL
  for (int k = 0; k < R; ++k) {
    LoadPairs(d, in + 32 * k, re[k], im[k]);
    im[k] = Times(im[k], Splat(d, conjugate));
  }
  Transform<R>(d, re, im, *t.roots);
  ASSAY_UNROLL
  for (int j = 1; j < R; ++j) {
    Rotate(re[j], im[j], LoadRow(d, w + (j - 1) * 32), LoadRow(d, w + (j - 1) * 32 + 16));
  }
  w += (R - 1) * 32;
  ASSAY_UNROLL
  for (int g = 0; g < R; g += 4) {
    // Vector k1: lane 4 k + p to vector k: lane 4 k1 + p.
    TransposeFour<4>(d, re + g);
    TransposeFour<4>(d, im + g);
    Butterfly4(re + g, im + g);
    ASSAY_UNROLL
    for (int j = 1; j < 4; ++j) {
      Rotate(re[g + j], im[g + j], LoadFour(d, w + 8 * (j - 1)), LoadFour(d, w + 8 * (j - 1) + 4));
    }
    // Vector j: lane 4 k1 + p to vector p: lane 4 k1 + j.
    TransposeFour<1>(d, re + g);
    TransposeFour<1>(d, im + g);
    Butterfly4(re + g, im + g);
    ASSAY_UNROLL
    for (int k = 0; k < 4; ++k) {
      re[g + k] = SwapDigits(d, re[g + k]);
      im[g + k] = Times(SwapDigits(d, im[g + k]), Splat(d, conjugate));
    }
  }
  ASSAY_UNROLL
  for (int k = 0; k < 4; ++k) {
    T* to = out + 8 * R * k;
    if constexpr (R == 4) {
      StorePairs(d, re[k], im[k], to);
    } else {
      JoinFours(d, re[k], re[k + 4]);
      JoinFours(d, im[k], im[k + 4]);
      StorePairs(d, re[k], im[k], to);
      StorePairs(d, re[k + 4], im[k + 4], to + 32);
    }
  }
}

// Runs what fits the registers. False if there is nothing for t and these vectors.
template <class D, class T>
HWY_INLINE bool Short(D d, const BlockTables<T>& t, const T* in, T* out, T conjugate) {
  constexpr int kWidth = kLanes<D>;
  if constexpr (kLanes<Full<T>> == 16) {
    if (t.short_twiddles != nullptr) {
      if (t.n1 == 4) SixteenTimes<4>(Full<T>(), t, in, out, conjugate);
      if (t.n1 == 8) SixteenTimes<8>(Full<T>(), t, in, out, conjugate);
      return true;
    }
  }
  if constexpr (kWidth == 4 || kWidth == 8) {
    if (t.n1 == kWidth && t.n2 == kWidth) {
      Square<kWidth>(d, t, in, out, conjugate);
      return true;
    }
  }
  return false;
}

// Where the transformed columns of a block leave it: row k1 times w^(k1 q), turned so that vectors
// run along k1 from here on.
template <class D, class T>
HWY_INLINE void Turn(D d, const BlockTables<T>& t, const T* buffer, T* tiles, int64_t block) {
  constexpr int kWidth = kLanes<D>;
  const int64_t lanes = t.lanes, row = 2 * lanes;
  const int64_t q = BlockBegin(block, t.n2, t.lanes);
  const int last = t.first.steps.empty() ? 1 : t.first.steps.back().radix;
  const int64_t blocks = t.n1 / last;
  const T* by_row = t.row_twiddles.get() + block * lanes * row;
  const T* by_tile = t.tile_twiddles.get() + block * t.row_blocks * row;
  const bool stream = t.n * static_cast<int64_t>(sizeof(T)) >= kStreamBytes;
  for (int64_t tile = 0; tile < t.row_blocks; ++tile) {
    const int64_t k_begin = BlockBegin(tile, t.n1, t.lanes);
    T* to_tile = tiles + tile * t.tile_stride + q * row;
    for (int64_t kc = 0; kc < lanes; kc += kWidth) {
      const T* from[kWidth];
      int64_t rest = (k_begin + kc) % blocks, digit = (k_begin + kc) / blocks;
      for (int i = 0; i < kWidth; ++i) {
        from[i] = buffer + (t.first.sub_block[rest] * int64_t{last} + digit) * row;
        if (++rest == blocks) {
          rest = 0;
          ++digit;
        }
      }
      for (int64_t c = 0; c < lanes; c += kWidth) {
        const Vec<D> tile_r = LoadRow(d, by_tile + tile * row + c);
        const Vec<D> tile_i = LoadRow(d, by_tile + tile * row + lanes + c);
        Vec<D> re[kWidth], im[kWidth];
        ASSAY_UNROLL
        for (int i = 0; i < kWidth; ++i) {
          re[i] = LoadRow(d, from[i] + 2 * c);
          im[i] = LoadRow(d, from[i] + 2 * c + kWidth);
          Vec<D> wr = LoadRow(d, by_row + (kc + i) * row + c);
          Vec<D> wi = LoadRow(d, by_row + (kc + i) * row + lanes + c);
          Rotate(wr, wi, tile_r, tile_i);
          Rotate(re[i], im[i], wr, wi);
        }
        TransposeSquare(d, re);
        TransposeSquare(d, im);
        ASSAY_UNROLL
        for (int i = 0; i < kWidth; ++i) {
          T* to = to_tile + (c + i) * row + 2 * kc;
          if (stream) {
            StreamRow(d, re[i], to);
            StreamRow(d, im[i], to + kWidth);
          } else {
            StoreRow(d, re[i], to);
            StoreRow(d, im[i], to + kWidth);
          }
        }
      }
    }
  }
}

template <class D, class T>
void First(D d, const BlockTables<T>& t, const T* in, T* tiles, T* buffer, T conjugate,
           int64_t begin, int64_t end) {
  if (t.butterfly_first) {
    if (t.lanes == 4) {
      if constexpr (kLanes<D> <= 4) ButterflyFirst<4>(d, t, in, tiles, conjugate, begin, end);
    } else if (t.lanes == 8) {
      if constexpr (kLanes<D> <= 8) ButterflyFirst<8>(d, t, in, tiles, conjugate, begin, end);
    } else {
      ButterflyFirst<16>(d, t, in, tiles, conjugate, begin, end);
    }
    return;
  }
  for (int64_t block = begin; block < end; ++block) {
    const int64_t q = BlockBegin(block, t.n2, t.lanes);
    const Step& step = t.first.steps[0];
    const Rows<const T> rows{in + 2 * q, 2 * t.n2};
    WithRadix(step.radix, [&](auto r) {
      Enter<r()>(d, t.lanes, step.m, t.first.twiddles.get(), rows, buffer, conjugate, *t.roots);
    });
    Descend(d, t.lanes, t.first, 1, t.first.steps.size(), step.radix, buffer, *t.roots);
    Turn(d, t, buffer, tiles, block);
  }
  // Stores past the caches are seen in no order, by other threads too, until they are flushed.
  hwy::FlushStream();
}

template <class D, class T>
void Second(D d, const BlockTables<T>& t, T* tiles, T* out, T* buffer, T conjugate, int64_t begin,
            int64_t end) {
  const std::vector<Step>& steps = t.second.steps;
  const size_t last = steps.size() - 1;
  const bool stream = t.n * static_cast<int64_t>(sizeof(T)) >= kStreamBytes &&
                      reinterpret_cast<uintptr_t>(out) % 64 == 0 && 2 * t.n1 % 16 == 0;
  for (int64_t tile = begin; tile < end; ++tile) {
    T* block = tiles + tile * t.tile_stride;
    const Rows<T> rows{out + 2 * BlockBegin(tile, t.n1, t.lanes), 2 * t.n1, stream};
    const T* from = block;
    if (last > 0) {
      // Out of place into the buffer, where there is one, so that `tiles` is read once and stays
      // clean.
      T* to = buffer == nullptr ? block : buffer;
      AnyMiddle(d, t.lanes, t.second, steps[0], 1, from, to, *t.roots);
      Descend(d, t.lanes, t.second, 1, last, steps[0].radix, to, *t.roots);
      from = to;
    }
    WithRadix(steps[last].radix, [&](auto r) {
      Leave<r()>(d, t.lanes, t.second.first, from, rows, conjugate, *t.roots);
    });
  }
  if (stream) hwy::FlushStream();
}

// A block's rows in order, interleaved.
template <class D, class T>
void Emit(D d, int64_t lanes, int64_t count, const T* from, Rows<T> out, T conjugate) {
  constexpr int kWidth = kLanes<D>;
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t c = 0; c < lanes; c += kWidth, from += 2 * kWidth) {
      StorePairs(d, LoadRow(d, from), Times(LoadRow(d, from + kWidth), Splat(d, conjugate)),
                 out.at + k * out.stride + 2 * c);
    }
  }
}

// Calls body with the tag for blocks of `lanes` columns: the widest vectors of at most that many.
template <class T, class Body>
HWY_INLINE void WithTag(int lanes, Body body) {
  constexpr int kWidest = kLanes<Full<T>>;
  if constexpr (kWidest > 4) {
    if (lanes == 4) return body(Four<T>());
  }
  if constexpr (kWidest > 8) {
    if (lanes == 8) return body(Eight<T>());
  }
  body(Full<T>());
}

template <class T>
struct Engine {
  static void RunFirst(const BlockTables<T>& t, const T* in, T* tiles, T* buffer, T conjugate,
                       int64_t begin, int64_t end) {
    WithTag<T>(t.lanes, [&](auto d) { First(d, t, in, tiles, buffer, conjugate, begin, end); });
  }
  static void RunSecond(const BlockTables<T>& t, T* tiles, T* out, T* buffer, T conjugate,
                        int64_t begin, int64_t end) {
    WithTag<T>(t.lanes, [&](auto d) { Second(d, t, tiles, out, buffer, conjugate, begin, end); });
  }
  static void RunBoth(const BlockTables<T>& t, const T* in, T* out, T* tiles, T* buffer,
                      T conjugate) {
    WithTag<T>(t.lanes, [&](auto d) {
      if (Short(d, t, in, out, conjugate)) return;
      First(d, t, in, tiles, buffer, conjugate, 0, t.column_blocks);
      Second(d, t, tiles, out, buffer, conjugate, 0, t.row_blocks);
    });
  }
  static void RunColumns(const ColumnTables<T>& t, const Roots<T>& roots, int64_t lanes,
                         const T* in, int64_t in_stride, T* out, int64_t out_stride, T* buffer,
                         T conjugate) {
    const Full<T> d;
    const std::vector<Step>& steps = t.steps;
    const size_t last = steps.size() - 1;
    const Rows<T> rows{out, out_stride};
    WithRadix(steps[0].radix, [&](auto r) {
      Enter<r()>(d, lanes, steps[0].m, t.twiddles.get(), Rows<const T>{in, in_stride}, buffer,
                 conjugate, roots);
    });
    if (last == 0) return Emit(d, lanes, t.length, buffer, rows, conjugate);
    Descend(d, lanes, t, 1, last, steps[0].radix, buffer, roots);
    WithRadix(steps[last].radix,
              [&](auto r) { Leave<r()>(d, lanes, t.first, buffer, rows, conjugate, roots); });
  }
  static constexpr Sweeps<T> kSweeps = {RunFirst, RunSecond, RunBoth, RunColumns};
};

}  // namespace

const Sweeps<float>& SweepsF32() { return Engine<float>::kSweeps; }
const Sweeps<double>& SweepsF64() { return Engine<double>::kSweeps; }

}  // namespace ASSAY_FFT_NAMESPACE::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ASSAY_FFT_NAMESPACE {

HWY_EXPORT(SweepsF32);
HWY_EXPORT(SweepsF64);

const Sweeps<float>& GetSweeps(float) { return HWY_DYNAMIC_DISPATCH(SweepsF32)(); }
const Sweeps<double>& GetSweeps(double) { return HWY_DYNAMIC_DISPATCH(SweepsF64)(); }

}  // namespace ASSAY_FFT_NAMESPACE
#endif  // HWY_ONCE
