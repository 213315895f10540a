// SPDX-License-Identifier: Apache-2.0
//
// pack_groups-inl.h: copies of parts of A and B for products that take several steps of k at once.
//
// How elements lie in a group, a word, G says: the type In, kSteps; One(from, stride, steps), a
// group whose first `steps` elements are there and whose others are 0; Down(from, stride), the
// groups of kWords neighbours; Along(from), kWords groups one after another.
//
// Compiled once for every target of Highway, hence the toggled guard.

#if defined(ASSAY_NUMERICS_GEMM_INTERNAL_PACK_GROUPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_GEMM_INTERNAL_PACK_GROUPS_INL_H_
#undef ASSAY_NUMERICS_GEMM_INTERNAL_PACK_GROUPS_INL_H_
#else
#define ASSAY_NUMERICS_GEMM_INTERNAL_PACK_GROUPS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "numerics/gemm/gemm.h"
#include "numerics/gemm/internal/strip-inl.h"
#include "numerics/gemm/internal/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE {
namespace {

using Words = Vec<uint32_t>;
constexpr int kWords = kLanes<uint32_t>;

template <class G>
void PackRows(const typename G::In* from, int64_t row_stride, int64_t col_stride, int rows,
              int64_t steps, uint32_t* to) {
  for (int r = 0; r < rows; ++r) {
    int64_t p = 0;
    int64_t g = 0;
    if (col_stride == 1) {
      for (; p <= steps - kWords * G::kSteps; p += kWords * G::kSteps, g += kWords) {
        Store(G::Along(from + p), to + g);
      }
    }
    for (; p < steps; p += G::kSteps, ++g) {
      to[g] = G::One(from + p * col_stride, col_stride, steps - p);
    }
    from += row_stride;
    to += kBlock;
  }
}

// The groups of `width` columns at one place of k, side by side.
template <class G>
HWY_INLINE void PackGroups(const typename G::In* from, int64_t row_stride, int64_t col_stride,
                           int width, int64_t steps, uint32_t* to) {
  int j = 0;
  if (col_stride == 1 && steps >= G::kSteps) {
    for (; j <= width - kWords; j += kWords) Store(G::Down(from + j, row_stride), to + j);
  }
  for (; j < width; ++j) to[j] = G::One(from + j * col_stride, row_stride, steps);
}

template <class G>
void PackColumns(const typename G::In* from, int64_t row_stride, int64_t col_stride, int rows,
                 int64_t steps, uint32_t* to) {
  for (int64_t p = 0; p < steps; p += G::kSteps) {
    PackGroups<G>(from + p * col_stride, col_stride, row_stride, rows, steps - p, to);
    to += rows;
  }
}

template <class G, class Out>
void PackPanel(const typename G::In* from, int64_t row_stride, int64_t col_stride, int64_t steps,
               int width, uint32_t* to, Out*) {
  constexpr int kCols = kPanelVectors * kWords;
  for (int64_t p = 0; p < steps;) {
    if (row_stride == 1 && width == kCols && p + kWords * G::kSteps <= steps) {
      for (int j = 0; j < kCols; j += kWords) {
        Words lines[kWords];
        ForEach<kWords>([&](auto i)
                            HWY_ATTR { lines[i] = G::Along(from + p + (j + i) * col_stride); });
        Transpose<uint32_t>(lines);
        ForEach<kWords>([&](auto i) HWY_ATTR { Store(lines[i], to + i * kCols + j); });
      }
      p += kWords * G::kSteps;
      to += kWords * kCols;
    } else {
      PackGroups<G>(from + p * row_stride, row_stride, col_stride, width, steps - p, to);
      std::fill(to + width, to + kCols, 0u);
      p += G::kSteps;
      to += kCols;
    }
  }
}

}  // namespace
}  // namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_PACK_GROUPS_INL_H_
