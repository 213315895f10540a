// SPDX-License-Identifier: Apache-2.0
//
// fused-inl.h: products fused with sums, for the engine of the fast profile.
//
// Compiled once for every target of Highway, hence the toggled guard.

#if defined(ASSAY_NUMERICS_FFT_INTERNAL_FUSED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_NUMERICS_FFT_INTERNAL_FUSED_INL_H_
#undef ASSAY_NUMERICS_FFT_INTERNAL_FUSED_INL_H_
#else
#define ASSAY_NUMERICS_FFT_INTERNAL_FUSED_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::fft::internal::fused::HWY_NAMESPACE {
namespace {

// a b + c and a b - c, rounded once where the processor can.
template <class V>
HWY_INLINE V FusedPlus(V a, V b, V c) {
  return hwy::HWY_NAMESPACE::MulAdd(a, b, c);
}
template <class V>
HWY_INLINE V FusedMinus(V a, V b, V c) {
  return hwy::HWY_NAMESPACE::MulSub(a, b, c);
}

}  // namespace
}  // namespace assay::fft::internal::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_FUSED_INL_H_
