// SPDX-License-Identifier: Apache-2.0
//
// certificate.h: how far a product may be from the true one, as numbers.
#ifndef ASSAY_NUMERICS_GEMM_CERTIFICATE_H_
#define ASSAY_NUMERICS_GEMM_CERTIFICATE_H_

#include <type_traits>

#include "absl/status/status.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"

namespace assay::gemm {

// bound = what each element of Gemm's and FastGemm's C may differ by from alpha A B + beta C over
// the reals, underflow included; infinity where a sum of magnitudes leaves the range. Epilogues are
// not part of it.
//   a: [m, k], b: [k, n], c: [m, n], before the product (not read if beta = 0). Out: bound [m, n].
// Rigorous: gamma(min(k, 256) + ceil(k / 256) + 2) (|alpha| |A| |B| + |beta| |C|) with every step
// rounded upwards, where |A| |B| is a product of this library corrected for its own error; and a
// unit of the least subnormal number for each product and sum that may underflow.
// Cost: a product of the same size, and memory for |A| and |B|. Fails as Gemm does.
template <class T>
[[nodiscard]] absl::Status GemmErrorBound(std::type_identity_t<T> alpha,
                                          const MatrixView<const std::type_identity_t<T>>& a,
                                          const MatrixView<const std::type_identity_t<T>>& b,
                                          std::type_identity_t<T> beta,
                                          const MatrixView<const std::type_identity_t<T>>& c,
                                          const MatrixView<T>& bound, ThreadPool* pool = nullptr);

}  // namespace assay::gemm

#endif  // ASSAY_NUMERICS_GEMM_CERTIFICATE_H_
