// SPDX-License-Identifier: Apache-2.0
//
// tables-inl.h: a target's kernels as a table.
//
// Compiled once for every target of Highway, hence the toggled guard.

#if defined(ASSAY_NUMERICS_GEMM_INTERNAL_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_GEMM_INTERNAL_TABLES_INL_H_
#undef ASSAY_NUMERICS_GEMM_INTERNAL_TABLES_INL_H_
#else
#define ASSAY_NUMERICS_GEMM_INTERNAL_TABLES_INL_H_
#endif

#include "numerics/gemm/internal/strip-inl.h"
// After it: panels are as wide as tiles.
#include "numerics/gemm/internal/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE {
namespace {

template <class T>
struct FloatProduct {
  using Packed = T;
  using Out = T;
  static constexpr bool kInPlace = true;
  static HWY_INLINE Vec<T> Multiply(Vec<T> a, Vec<T> b, Vec<T> s) { return TimesPlus(a, b, s); }
  static HWY_INLINE Vec<T> Scale(Vec<T> s, T factor) { return Splat(factor) * s; }
};

template <class In, class T, size_t... kRow>
constexpr internal::Kernels<In, T, T> MakeKernels(std::index_sequence<kRow...>) {
  return {
      .rows = kRowsAtMost,
      .group = 1,
      .cols = kPanelVectors * kLanes<T>,
      .wide_cols = kWideVectors * kLanes<T>,
      .wide_rows = kWideRows,
      .by_rows = {&RunStrip<FloatProduct<T>, kRow + 1, false>...},
      .by_columns = {&RunStrip<FloatProduct<T>, kRow + 1, true>...},
      .pack_rows = &PackRows<In, T>,
      .pack_columns = &PackColumns<In, T>,
      .pack_panel = &PackPanel<In, T>,
      .begins = false,
  };
}

template <class In, class T>
const internal::Kernels<In, T, T>& KernelsOf() {
  static constexpr internal::Kernels<In, T, T> kTable =
      MakeKernels<In, T>(std::make_index_sequence<kRowsAtMost>());
  return kTable;
}

const internal::Kernels<float, float, float>& F32() { return KernelsOf<float, float>(); }
const internal::Kernels<double, double, double>& F64() { return KernelsOf<double, double>(); }
const internal::Kernels<floating::BFloat16, float, float>& BF16() {
  return KernelsOf<floating::BFloat16, float>();
}

}  // namespace
}  // namespace ASSAY_GEMM_NAMESPACE::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_TABLES_INL_H_
