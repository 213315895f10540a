// SPDX-License-Identifier: Apache-2.0
//
// int8.h: products of 8-bit integers with 32-bit sums, C = A B or C = C + A B: the same bits on
// every machine, being integers.
//
//   absl::Status status = assay::gemm::GemmInt8<int8_t, int8_t>(a, b, c);
//
// Views, strides, failures are those of gemm.h. Sums wrap modulo 2^32; they cannot while C begins
// with 0 and k is at most MaxExactDepth.
//
// Cost: 2 m n k operations; up to 512 in a cycle with AVX512_VNNI, a half or a quarter of it
// elsewhere. Method: the driver of gemm.h; bytes four by four where the processor multiplies them
// so, as pairs of 16-bit numbers where not.
#ifndef ASSAY_NUMERICS_GEMM_INT8_H_
#define ASSAY_NUMERICS_GEMM_INT8_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/status/status.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/thread_pool.h"

namespace assay::gemm {

// The greatest k for which no product of k elements of A and B passes 2^31 - 1 in magnitude.
template <class A, class B>
constexpr int64_t MaxExactDepth() {
  constexpr int64_t kA = std::is_signed_v<A> ? 128 : 255;
  constexpr int64_t kB = std::is_signed_v<B> ? 128 : 255;
  return std::numeric_limits<int32_t>::max() / (kA * kB);
}

struct Int8Options {
  bool accumulate = false;  // C = C + A B; else C is not read
  ThreadPool* pool = nullptr;
};

// A, B: int8_t and int8_t, uint8_t and int8_t, or int8_t and uint8_t.
template <class A, class B>
[[nodiscard]] absl::Status GemmInt8(const MatrixView<const A>& a, const MatrixView<const B>& b,
                                    const MatrixView<int32_t>& c, const Int8Options& options = {});

}  // namespace assay::gemm

#endif  // ASSAY_NUMERICS_GEMM_INT8_H_
