// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/int8.h"

#include <cstdint>

#include "absl/status/status.h"
#include "numerics/core/matrix_view.h"
#include "numerics/gemm/internal/entry.h"
#include "numerics/gemm/internal/int8_kernels.h"
#include "numerics/gemm/internal/kernels.h"
#include "numerics/gemm/internal/validate.h"

namespace assay::gemm {
namespace {

// The kernels' own types, which may alias: bytes, and 32 bits without a sign, whose sums wrap.
template <class T>
MatrixView<const uint8_t> Bytes(const MatrixView<const T>& m) {
  return {reinterpret_cast<const uint8_t*>(m.data()), m.rows(), m.cols(), m.row_stride(),
          m.col_stride()};
}

template <class T>
constexpr bool kSigned = std::is_signed_v<T>;

constexpr internal::Signs SignsOf(bool a_signed, bool b_signed) {
  return a_signed && b_signed ? internal::Signs::kBothSigned
         : a_signed           ? internal::Signs::kUnsignedB
                              : internal::Signs::kUnsignedA;
}

}  // namespace

template <class A, class B>
absl::Status GemmInt8(const MatrixView<const A>& a, const MatrixView<const B>& b,
                      const MatrixView<int32_t>& c, const Int8Options& options) {
  absl::Status status =
      internal::ValidateProduct(internal::PlaceOf(a), internal::PlaceOf(b), internal::PlaceOf(c));
  if (!status.ok() || c.empty()) return status;
  return internal::RunViews<uint8_t, uint32_t, uint32_t>(
      internal::Int8Kernels(SignsOf(kSigned<A>, kSigned<B>)), 1, Bytes(a), Bytes(b),
      options.accumulate ? 1 : 0,
      MatrixView<uint32_t>(reinterpret_cast<uint32_t*>(c.data()), c.rows(), c.cols(),
                           c.row_stride(), c.col_stride()),
      nullptr, options.pool, &internal::Int8Kernels(SignsOf(kSigned<B>, kSigned<A>)));
}

template absl::Status GemmInt8(const MatrixView<const int8_t>&, const MatrixView<const int8_t>&,
                               const MatrixView<int32_t>&, const Int8Options&);
template absl::Status GemmInt8(const MatrixView<const uint8_t>&, const MatrixView<const int8_t>&,
                               const MatrixView<int32_t>&, const Int8Options&);
template absl::Status GemmInt8(const MatrixView<const int8_t>&, const MatrixView<const uint8_t>&,
                               const MatrixView<int32_t>&, const Int8Options&);

}  // namespace assay::gemm
