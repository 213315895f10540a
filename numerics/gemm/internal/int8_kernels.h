// SPDX-License-Identifier: Apache-2.0
//
// int8_kernels.h: the table of kernels for 8-bit integers.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_INT8_KERNELS_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_INT8_KERNELS_H_

#include <cstdint>

#include "numerics/gemm/internal/kernels.h"

namespace assay::gemm::internal {

// A of int8_t or uint8_t, B of the other or both int8_t, as bytes; sums modulo 2^32. A Packed holds
// the elements of four steps of k as bytes, or of two as 16-bit numbers, the first in its lowest
// bits.
enum class Signs { kBothSigned, kUnsignedA, kUnsignedB };
const Kernels<uint8_t, uint32_t, uint32_t>& Int8Kernels(Signs signs);

}  // namespace assay::gemm::internal

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_INT8_KERNELS_H_
