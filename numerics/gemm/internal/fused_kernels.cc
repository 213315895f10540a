// SPDX-License-Identifier: Apache-2.0
//
// The kernels once more, with products fused with sums. Compiled by the fast profile.
#define ASSAY_GEMM_NAMESPACE assay::gemm::internal::fused
#define ASSAY_GEMM_FUSED

#include "numerics/gemm/internal/float_kernels.h"
#include "numerics/gemm/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/gemm/internal/fused_kernels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file once for each target.
#include "numerics/gemm/internal/tables-inl.h"

#if HWY_ONCE
namespace assay::gemm::internal {
namespace fused {

HWY_EXPORT(F32);
HWY_EXPORT(F64);
HWY_EXPORT(BF16);

const Kernels<float, float, float>& ChooseF32() { return HWY_DYNAMIC_DISPATCH(F32)(); }
const Kernels<double, double, double>& ChooseF64() { return HWY_DYNAMIC_DISPATCH(F64)(); }
const Kernels<floating::BFloat16, float, float>& ChooseBF16() {
  return HWY_DYNAMIC_DISPATCH(BF16)();
}

}  // namespace fused

template <>
const Kernels<float, float, float>& FusedKernels<float, float>() {
  return fused::ChooseF32();
}
template <>
const Kernels<double, double, double>& FusedKernels<double, double>() {
  return fused::ChooseF64();
}
template <>
const Kernels<floating::BFloat16, float, float>& FusedKernels<floating::BFloat16, float>() {
  return fused::ChooseBF16();
}

}  // namespace assay::gemm::internal
#endif  // HWY_ONCE
