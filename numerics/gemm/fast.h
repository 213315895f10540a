// SPDX-License-Identifier: Apache-2.0
//
// fast.h: the products of gemm.h with fused operations: faster where a processor has them, and not
// the same to the bit on another one.
//
// Everything else is as there: shapes, epilogues, failures, blocks of k, error bound; a result does
// not depend on the threads, nor on strides. On AVX2 and AVX-512 a b + s is rounded once. Products
// of bfloat16 go through the processor's own instruction for pairs where it has one (AVX512_BF16),
// which takes subnormal operands for 0 and makes subnormal results 0: |c^ - c| <= gamma(k + 2) |A|
// |B| and (k + 1) 2^-126 for what is made 0.
#ifndef ASSAY_NUMERICS_GEMM_FAST_H_
#define ASSAY_NUMERICS_GEMM_FAST_H_

#include <cstdint>
#include <span>
#include <type_traits>

#include "absl/status/status.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"
#include "numerics/gemm/gemm.h"

namespace assay::gemm {

template <class T>
[[nodiscard]] absl::Status FastGemm(std::type_identity_t<T> alpha,
                                    const MatrixView<const std::type_identity_t<T>>& a,
                                    const MatrixView<const std::type_identity_t<T>>& b,
                                    std::type_identity_t<T> beta, const MatrixView<T>& c);
template <class T>
[[nodiscard]] absl::Status FastGemm(std::type_identity_t<T> alpha,
                                    const MatrixView<const std::type_identity_t<T>>& a,
                                    const MatrixView<const std::type_identity_t<T>>& b,
                                    std::type_identity_t<T> beta, const MatrixView<T>& c,
                                    const Options<T>& options);
[[nodiscard]] absl::Status FastGemm(float alpha, const MatrixView<const floating::BFloat16>& a,
                                    const MatrixView<const floating::BFloat16>& b, float beta,
                                    const MatrixView<float>& c, const Options<float>& options = {});

template <class T>
[[nodiscard]] absl::Status FastGemv(std::type_identity_t<T> alpha,
                                    const MatrixView<const std::type_identity_t<T>>& a,
                                    std::span<const std::type_identity_t<T>> x,
                                    std::type_identity_t<T> beta, std::span<T> y,
                                    ThreadPool* pool = nullptr);

template <class T>
[[nodiscard]] absl::Status FastGemmBatched(int64_t count, std::type_identity_t<T> alpha,
                                           Batch<const std::type_identity_t<T>> a,
                                           Batch<const std::type_identity_t<T>> b,
                                           std::type_identity_t<T> beta, Batch<T> c,
                                           const Options<T>& options = {});
template <class T>
[[nodiscard]] absl::Status FastGemmBatched(
    std::type_identity_t<T> alpha, std::span<const MatrixView<const std::type_identity_t<T>>> a,
    std::span<const MatrixView<const std::type_identity_t<T>>> b, std::type_identity_t<T> beta,
    std::span<const MatrixView<T>> c, ThreadPool* pool = nullptr);

}  // namespace assay::gemm

#endif  // ASSAY_NUMERICS_GEMM_FAST_H_
