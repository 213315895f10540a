// SPDX-License-Identifier: Apache-2.0
//
// reference.h: gemm.h's definition as plain loops, to the bit; and how results are compared.
#ifndef ASSAY_NUMERICS_GEMM_REFERENCE_H_
#define ASSAY_NUMERICS_GEMM_REFERENCE_H_

#include "numerics/core/matrix_view.h"
#include "numerics/gemm/gemm.h"

namespace assay::gemm {

// C = epilogue(alpha A B + beta C) as gemm.h defines it; operands are valid. T: float or double.
// Cost: 2 m n k operations, one at a time.
template <class T>
void ReferenceGemm(T alpha, const MatrixView<const T>& a, const MatrixView<const T>& b, T beta,
                   const MatrixView<T>& c, const Epilogue<T>& epilogue = {});

// Whether two numbers are the same to the bit, or both NaN.
template <class T>
bool SameBits(T x, T y);

}  // namespace assay::gemm

#endif  // ASSAY_NUMERICS_GEMM_REFERENCE_H_
