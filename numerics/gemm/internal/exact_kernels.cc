// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/internal/float_kernels.h"
#include "numerics/gemm/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/gemm/internal/exact_kernels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file once for each target.
#include "numerics/gemm/internal/tables-inl.h"

#if HWY_ONCE
namespace assay::gemm::internal {

HWY_EXPORT(F32);
HWY_EXPORT(F64);
HWY_EXPORT(BF16);

template <>
const Kernels<float, float, float>& ExactKernels<float, float>() {
  return HWY_DYNAMIC_DISPATCH(F32)();
}
template <>
const Kernels<double, double, double>& ExactKernels<double, double>() {
  return HWY_DYNAMIC_DISPATCH(F64)();
}
template <>
const Kernels<floating::BFloat16, float, float>& ExactKernels<floating::BFloat16, float>() {
  return HWY_DYNAMIC_DISPATCH(BF16)();
}

}  // namespace assay::gemm::internal
#endif  // HWY_ONCE
