// SPDX-License-Identifier: Apache-2.0
//
// pack-inl.h: copies of parts of A and B in the order in which strips read them.
//
// Compiled once for every target of Highway, hence the toggled guard.

#if defined(ASSAY_NUMERICS_GEMM_INTERNAL_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_GEMM_INTERNAL_PACK_INL_H_
#undef ASSAY_NUMERICS_GEMM_INTERNAL_PACK_INL_H_
#else
#define ASSAY_NUMERICS_GEMM_INTERNAL_PACK_INL_H_
#endif

#include <algorithm>

#include "numerics/floating/half.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/internal/transpose-inl.h"
#include "numerics/gemm/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE T Widen(T x) {
  return x;
}
HWY_INLINE float Widen(floating::BFloat16 x) { return x.ToFloat(); }

// The first lanes of a vector from side by side elements; the others are 0.
template <class T>
HWY_INLINE Vec<T> LoadWidened(const T* from, int lanes) {
  return lanes == kLanes<T> ? Load(from) : LoadSome(from, lanes);
}
HWY_INLINE Vec<float> LoadWidened(const floating::BFloat16* from, int lanes) {
  constexpr int kWidth = kLanes<float>;
  typedef uint16_t Halves __attribute__((vector_size(2 * kWidth)));
  typedef uint32_t Words __attribute__((vector_size(4 * kWidth)));
  Halves halves = {};
  if (lanes == kWidth) {
    std::memcpy(&halves, static_cast<const void*>(from), sizeof(halves));
  } else {
    std::memcpy(&halves, static_cast<const void*>(from), static_cast<size_t>(2 * lanes));
  }
  const Words words = __builtin_convertvector(halves, Words) << 16;
  Vec<float> v;
  std::memcpy(&v, &words, sizeof(v));
  return v;
}

// A block of at most kLanes x kLanes: element (i, j) from from[i + j * stride] to to[i * width +
// j], columns past `cols` as 0.
template <class In, class T>
HWY_NOINLINE void PackTransposed(const In* from, int64_t stride, int rows, int cols, int width,
                                 T* to) {
  constexpr int kWidth = kLanes<T>;
  Vec<T> lines[kWidth];
  ForEach<kWidth>([&](auto j) HWY_ATTR {
    lines[j] = j < cols ? LoadWidened(from + j * stride, rows) : Vec<T>{};
  });
  Transpose<T>(lines);
  ForEach<kWidth>([&](auto i) HWY_ATTR {
    if (i < rows) Store(lines[i], to + i * width);
  });
}

template <class In, class T>
void PackPanel(const In* from, int64_t row_stride, int64_t col_stride, int64_t depth, int width,
               T* to, T*) {
  constexpr int kWidth = kLanes<T>;
  constexpr int kCols = kPanelVectors * kWidth;
  if (col_stride == 1) {
    for (int64_t p = 0; p < depth; ++p) {
      ForEach<kPanelVectors>([&](auto v) HWY_ATTR {
        const int lanes = std::min(width - v * kWidth, kWidth);
        Store(lanes > 0 ? LoadWidened(from + v * kWidth, lanes) : Vec<T>{}, to + v * kWidth);
      });
      from += row_stride;
      to += kCols;
    }
  } else if (row_stride == 1) {
    for (int64_t p = 0; p < depth; p += kWidth) {
      const int rows = static_cast<int>(std::min<int64_t>(kWidth, depth - p));
      for (int j = 0; j < kCols; j += kWidth) {
        PackTransposed(from + p + j * col_stride, col_stride, rows, width - j, kCols,
                       to + p * kCols + j);
      }
    }
  } else {
    for (int64_t p = 0; p < depth; ++p) {
      for (int j = 0; j < kCols; ++j) {
        *to++ = j < width ? Widen(from[p * row_stride + j * col_stride]) : T(0);
      }
    }
  }
}

template <class In, class T>
void PackRows(const In* from, int64_t row_stride, int64_t col_stride, int rows, int64_t depth,
              T* to) {
  constexpr int kWidth = kLanes<T>;
  for (int r = 0; r < rows; ++r) {
    if (col_stride == 1) {
      int64_t p = 0;
      for (; p <= depth - kWidth; p += kWidth) Store(LoadWidened(from + p, kWidth), to + p);
      for (; p < depth; ++p) to[p] = Widen(from[p]);
    } else {
      for (int64_t p = 0; p < depth; ++p) to[p] = Widen(from[p * col_stride]);
    }
    from += row_stride;
    to += kBlock;
  }
}

template <class In, class T>
void PackColumns(const In* from, int64_t row_stride, int64_t col_stride, int rows, int64_t depth,
                 T* to) {
  constexpr int kWidth = kLanes<T>;
  if (row_stride == 1) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int r = 0; r < rows; r += kWidth) {
        const int lanes = std::min(kWidth, rows - r);
        StoreSome(LoadWidened(from + r, lanes), to + r, lanes);
      }
      from += col_stride;
      to += rows;
    }
    return;
  }
  for (int64_t p = 0; p < depth; ++p) {
    for (int r = 0; r < rows; ++r) to[r] = Widen(from[r * row_stride]);
    from += col_stride;
    to += rows;
  }
}

}  // namespace
}  // namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_PACK_INL_H_
