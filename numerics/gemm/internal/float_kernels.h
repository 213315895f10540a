// SPDX-License-Identifier: Apache-2.0
//
// float_kernels.h: the tables of kernels for floating point.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_FLOAT_KERNELS_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_FLOAT_KERNELS_H_

#include "numerics/gemm/internal/kernels.h"

namespace assay::gemm::internal {

// Of this processor, each product and each sum rounded. In: float, double or BFloat16; T: float or
// double.
template <class In, class T>
const Kernels<In, T, T>& ExactKernels();

// A product and its sum rounded once where the processor can. In the fast profile's library.
template <class In, class T>
const Kernels<In, T, T>& FusedKernels();

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_FLOAT_KERNELS_H_
