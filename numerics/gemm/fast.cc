// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/fast.h"

#include <cstdint>
#include <span>
#include <type_traits>

#include "absl/status/status.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/internal/bf16_kernels.h"
#include "numerics/gemm/internal/entry.h"
#include "numerics/gemm/internal/float_kernels.h"

namespace assay::gemm {

using floating::BFloat16;

template <class T>
absl::Status FastGemm(std::type_identity_t<T> alpha,
                      const MatrixView<const std::type_identity_t<T>>& a,
                      const MatrixView<const std::type_identity_t<T>>& b,
                      std::type_identity_t<T> beta, const MatrixView<T>& c) {
  return internal::Enter<T>(internal::FusedKernels<T, T>(), alpha, a, b, beta, c);
}

template <class T>
absl::Status FastGemm(std::type_identity_t<T> alpha,
                      const MatrixView<const std::type_identity_t<T>>& a,
                      const MatrixView<const std::type_identity_t<T>>& b,
                      std::type_identity_t<T> beta, const MatrixView<T>& c,
                      const Options<T>& options) {
  return internal::Enter<T, T, T>(internal::FusedKernels<T, T>(), alpha, a, b, beta, c, &options);
}

absl::Status FastGemm(float alpha, const MatrixView<const BFloat16>& a,
                      const MatrixView<const BFloat16>& b, float beta, const MatrixView<float>& c,
                      const Options<float>& options) {
  if (const auto* const pairs = internal::BF16PairKernels()) {
    return internal::Enter<BFloat16, uint32_t, float>(*pairs, alpha, a, b, beta, c, &options);
  }
  return internal::Enter<BFloat16, float, float>(internal::FusedKernels<BFloat16, float>(), alpha,
                                                 a, b, beta, c, &options);
}

template <class T>
absl::Status FastGemv(std::type_identity_t<T> alpha,
                      const MatrixView<const std::type_identity_t<T>>& a,
                      std::span<const std::type_identity_t<T>> x, std::type_identity_t<T> beta,
                      std::span<T> y, ThreadPool* pool) {
  return internal::EnterVector<T, T, T>(internal::FusedKernels<T, T>(), alpha, a, x, beta, y, pool);
}

template <class T>
absl::Status FastGemmBatched(int64_t count, std::type_identity_t<T> alpha,
                             Batch<const std::type_identity_t<T>> a,
                             Batch<const std::type_identity_t<T>> b, std::type_identity_t<T> beta,
                             Batch<T> c, const Options<T>& options) {
  return internal::EnterBatch<T, T, T>(internal::FusedKernels<T, T>(), count, alpha, a, b, beta, c,
                                       options);
}

template <class T>
absl::Status FastGemmBatched(std::type_identity_t<T> alpha,
                             std::span<const MatrixView<const std::type_identity_t<T>>> a,
                             std::span<const MatrixView<const std::type_identity_t<T>>> b,
                             std::type_identity_t<T> beta, std::span<const MatrixView<T>> c,
                             ThreadPool* pool) {
  return internal::EnterBatchOfViews<T, T, T>(internal::FusedKernels<T, T>(), alpha, a, b, beta, c,
                                              pool);
}

#define ASSAY_FAST_GEMM_INSTANTIATE(T)                                                            \
  template absl::Status FastGemm<T>(T, const MatrixView<const T>&, const MatrixView<const T>&, T, \
                                    const MatrixView<T>&);                                        \
  template absl::Status FastGemm<T>(T, const MatrixView<const T>&, const MatrixView<const T>&, T, \
                                    const MatrixView<T>&, const Options<T>&);                     \
  template absl::Status FastGemv<T>(T, const MatrixView<const T>&, std::span<const T>, T,         \
                                    std::span<T>, ThreadPool*);                                   \
  template absl::Status FastGemmBatched<T>(int64_t, T, Batch<const T>, Batch<const T>, T,         \
                                           Batch<T>, const Options<T>&);                          \
  template absl::Status FastGemmBatched<T>(T, std::span<const MatrixView<const T>>,               \
                                           std::span<const MatrixView<const T>>, T,               \
                                           std::span<const MatrixView<T>>, ThreadPool*);
ASSAY_FAST_GEMM_INSTANTIATE(float)
ASSAY_FAST_GEMM_INSTANTIATE(double)
#undef ASSAY_FAST_GEMM_INSTANTIATE

}  // namespace assay::gemm
