// SPDX-License-Identifier: Apache-2.0
//
// bf16_kernels.h: kernels for bfloat16 that take two steps of k at once.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_BF16_KERNELS_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_BF16_KERNELS_H_

#include <cstdint>

#include "numerics/floating/half.h"
#include "numerics/gemm/internal/kernels.h"

namespace assay::gemm::internal {

// Null where this processor has none. A Packed is two elements, the first in its lower half.
const Kernels<floating::BFloat16, uint32_t, float>* BF16PairKernels();

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_BF16_KERNELS_H_
