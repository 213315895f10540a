// SPDX-License-Identifier: Apache-2.0
//
// transpose-inl.h: squares of lanes turned in registers.
//
// Compiled once for every target of Highway, hence the toggled guard.

#if defined(ASSAY_NUMERICS_GEMM_INTERNAL_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_GEMM_INTERNAL_TRANSPOSE_INL_H_
#undef ASSAY_NUMERICS_GEMM_INTERNAL_TRANSPOSE_INL_H_
#else
#define ASSAY_NUMERICS_GEMM_INTERNAL_TRANSPOSE_INL_H_
#endif

#include <utility>

#include "numerics/gemm/internal/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE {
namespace {

// Lane l of the first is a[l] where l & kStep is 0 and b[l - kStep] elsewhere; of the second
// a[l + kStep] and b[l].
template <int kStep, class V, size_t... kLane>
HWY_INLINE void ExchangeOf(V& a, V& b, std::index_sequence<kLane...>) {
  constexpr int kWidth = sizeof...(kLane);
  const V low =
      __builtin_shufflevector(a, b,
                              ((kLane & kStep) == 0 ? static_cast<int>(kLane)
                                                    : static_cast<int>(kLane) + kWidth - kStep)...);
  b = __builtin_shufflevector(a, b,
                              ((kLane & kStep) == 0 ? static_cast<int>(kLane) + kStep
                                                    : static_cast<int>(kLane) + kWidth)...);
  a = low;
}

// rows[i][j] and rows[j][i] change places.
template <class T, int kStep = 1>
HWY_INLINE void Transpose(Vec<T> (&rows)[kLanes<T>]) {
  constexpr int kWidth = kLanes<T>;
  ForEach<kWidth>([&](auto i) HWY_ATTR {
    if constexpr ((decltype(i)::value & kStep) == 0) {
      ExchangeOf<kStep>(rows[i], rows[decltype(i)::value + kStep],
                        std::make_index_sequence<kWidth>());
    }
  });
  if constexpr (2 * kStep < kWidth) Transpose<T, 2 * kStep>(rows);
}

}  // namespace
}  // namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_TRANSPOSE_INL_H_
