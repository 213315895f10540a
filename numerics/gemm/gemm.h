// SPDX-License-Identifier: Apache-2.0
//
// gemm.h: matrix products, C = alpha A B + beta C, the same bits on every machine.
//
//   std::vector<float> a(m * k), b(k * n), c(m * n);
//   absl::Status status = assay::gemm::Gemm<float>(
//       1, {a.data(), m, k, k}, {b.data(), k, n, n}, 0, MatrixView<float>(c.data(), m, n, n));
//
// A is [m, k], B is [k, n], C is [m, n], all views with any strides >= 0, so that row-major,
// column-major, transposed and cut-out matrices are the same to a caller: A transposed is
// a.Transposed(). Speed needs one stride of each to be 1; any other strides are copied on the way.
//
// What is computed, to the bit, whatever the processor, the threads, the strides, the batch:
//
//   s_b = ((0 + a_ip b_pj) + a_i,p+1 b_p+1,j) + ...    over the b-th block of kBlock steps of k
//   c   = beta c + alpha s_0                           and, if there are more blocks,
//   c   = c + alpha s_1,  c = c + alpha s_2, ...       each product and each sum rounded
//
// beta = 0 stores alpha s_0 and never reads C, so it may hold NaN; alpha = 0 or k = 0 gives beta c
// and never reads A and B. Otherwise NaN and infinities spread as IEEE 754 says (0 times infinity
// is NaN; which NaN is not fixed). Subnormals are kept.
//
// Error: |c^ - c| <= gamma(min(k, kBlock) + ceil(k / kBlock) + 2) (|alpha| |A| |B| + |beta| |C|)
// component by component as long as nothing overflows or underflows, gamma(n) = n u / (1 - n u), u
// = 2^-24 or 2^-53 (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5:
// blocks of sums lower the constant from k). certificate.h gives the bound as numbers.
//
// Cost: 2 m n k flop; memory for packed blocks of A and B, at most some megabytes a thread, and
// none for small products. Method: Goto and van de Geijn, Anatomy of High-Performance Matrix
// Multiplication, ACM TOMS 34 (2008); Van Zee and van de Geijn, BLIS, ACM TOMS 41 (2015).
//
// fast.h has the same functions with fused operations: the same bound, other bits.
#ifndef ASSAY_NUMERICS_GEMM_GEMM_H_
#define ASSAY_NUMERICS_GEMM_GEMM_H_

#include <cstdint>
#include <span>
#include <type_traits>

#include "absl/status/status.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"

namespace assay::gemm {

// Steps of k that are summed before they are added to C. Part of the definition above.
inline constexpr int64_t kBlock = 256;

enum class Activation {
  kNone,
  kRelu,      // max(x, 0); NaN stays NaN, -0 becomes 0
  kGelu,      // x Phi(x) = x/2 (1 + erf(x / sqrt 2))
  kGeluTanh,  // x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as GPT-2 has it
};

// What is done to C before it leaves the caches, in this order. Empty spans: not done. With both
// biases their sum is added, so that C^T = B^T A^T has the same bits.
template <class T>
struct Epilogue {
  std::span<const T> row_bias;     // [m], added to each element of its row
  std::span<const T> column_bias;  // [n], added to each element of its column
  Activation activation = Activation::kNone;
  std::span<T> row_maximum;  // [m]. Out: the greatest of each row of C; NaN if the row has one,
                             // -infinity if n = 0. Must not overlap A, B, C or the biases.
};

template <class T>
struct Options {
  Epilogue<T> epilogue;
  ThreadPool* pool = nullptr;  // none: the calling thread alone
};

// C = epilogue(alpha A B + beta C), T float or double.
//
// Fails with kInvalidArgument, C untouched, if the shapes do not fit, a stride is negative,
// elements of C share memory among themselves or with A or B, or a bias or maximum has the wrong
// length; with kResourceExhausted if there is no memory for packing. m = 0 or n = 0 does nothing.
template <class T>
[[nodiscard]] absl::Status Gemm(std::type_identity_t<T> alpha,
                                const MatrixView<const std::type_identity_t<T>>& a,
                                const MatrixView<const std::type_identity_t<T>>& b,
                                std::type_identity_t<T> beta, const MatrixView<T>& c);
template <class T>
[[nodiscard]] absl::Status Gemm(std::type_identity_t<T> alpha,
                                const MatrixView<const std::type_identity_t<T>>& a,
                                const MatrixView<const std::type_identity_t<T>>& b,
                                std::type_identity_t<T> beta, const MatrixView<T>& c,
                                const Options<T>& options);

// The same with A and B in bfloat16, C and all sums in f32: the bits are those of A and B converted
// to f32 first. (Products of two bfloat16 are exact in f32.)
[[nodiscard]] absl::Status Gemm(float alpha, const MatrixView<const floating::BFloat16>& a,
                                const MatrixView<const floating::BFloat16>& b, float beta,
                                const MatrixView<float>& c, const Options<float>& options = {});

// y = alpha A x + beta y. A: [m, n]; x: [n]; y: [m]. The bits of Gemm with a B of one column.
template <class T>
[[nodiscard]] absl::Status Gemv(std::type_identity_t<T> alpha,
                                const MatrixView<const std::type_identity_t<T>>& a,
                                std::span<const std::type_identity_t<T>> x,
                                std::type_identity_t<T> beta, std::span<T> y,
                                ThreadPool* pool = nullptr);

// C_i = epilogue(alpha A_i B_i + beta C_i) for `count` products of one shape; the i-th matrix
// begins `stride` elements after the one before (0: the same for all, A and B only). Each has the
// bits of Gemm. Without row_bias and row_maximum (refused); column_bias is shared by all. Threads
// divide the batch. Fails as Gemm, and if a stride is negative or elements of two C's share memory;
// where memory for packing runs out some products of a batch are done and others not.
template <class T>
struct Batch {
  MatrixView<T> first;
  int64_t stride = 0;
};
template <class T>
[[nodiscard]] absl::Status GemmBatched(int64_t count, std::type_identity_t<T> alpha,
                                       Batch<const std::type_identity_t<T>> a,
                                       Batch<const std::type_identity_t<T>> b,
                                       std::type_identity_t<T> beta, Batch<T> c,
                                       const Options<T>& options = {});

// The same for matrices that lie anywhere, each triple with its own shape. Fails, nothing written,
// if the spans' lengths differ or any triple is one that Gemm would refuse; two C's that share
// memory are the caller's fault and are not looked for.
template <class T>
[[nodiscard]] absl::Status GemmBatched(std::type_identity_t<T> alpha,
                                       std::span<const MatrixView<const std::type_identity_t<T>>> a,
                                       std::span<const MatrixView<const std::type_identity_t<T>>> b,
                                       std::type_identity_t<T> beta,
                                       std::span<const MatrixView<T>> c,
                                       ThreadPool* pool = nullptr);

}  // namespace assay::gemm

#endif  // ASSAY_NUMERICS_GEMM_GEMM_H_
