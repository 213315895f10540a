// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/certificate.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/matrix_view.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/internal/driver.h"
#include "numerics/gemm/internal/validate.h"

namespace assay::gemm {
namespace {

template <class T>
T Magnitude(T x) {
  return x < T(0) ? -x : x;
}

template <class T>
MatrixView<const T> Magnitudes(const MatrixView<const T>& m, T* to) {
  for (int64_t i = 0; i < m.rows(); ++i) {
    for (int64_t j = 0; j < m.cols(); ++j) to[i * m.cols() + j] = Magnitude(m(i, j));
  }
  return {to, m.rows(), m.cols(), m.cols()};
}

// Bytes of m's elements in a copy; false if there are too many to count.
template <class T>
bool CopyBytes(const MatrixView<const T>& m, int64_t* bytes) {
  int64_t size = 0;
  return !__builtin_mul_overflow(m.rows(), m.cols(), &size) &&
         !__builtin_mul_overflow(size, static_cast<int64_t>(sizeof(T)), &size) &&
         !__builtin_add_overflow(*bytes, size, bytes);
}

}  // namespace

template <class T>
absl::Status GemmErrorBound(std::type_identity_t<T> alpha,
                            const MatrixView<const std::type_identity_t<T>>& a,
                            const MatrixView<const std::type_identity_t<T>>& b,
                            std::type_identity_t<T> beta,
                            const MatrixView<const std::type_identity_t<T>>& c,
                            const MatrixView<T>& bound, ThreadPool* pool) {
  absl::Status status = internal::ValidateProduct(internal::PlaceOf(a), internal::PlaceOf(b),
                                                  internal::PlaceOf(bound));
  if (!status.ok()) return status;
  if (beta != T(0) && (c.rows() != bound.rows() || c.cols() != bound.cols() || c.row_stride() < 0 ||
                       c.col_stride() < 0 ||
                       internal::MayOverlap(internal::PlaceOf(c), internal::PlaceOf(bound)))) {
    return absl::InvalidArgumentError(absl::StrCat("C is ", c.rows(), " x ", c.cols(),
                                                   "; expected ", bound.rows(), " x ", bound.cols(),
                                                   " as the bound is, in memory of its own"));
  }
  int64_t bytes = 0;
  internal::Workspace workspace;
  if (!CopyBytes<T>(a, &bytes) || !CopyBytes<T>(b, &bytes) || !workspace.Allocate(bytes)) {
    return absl::ResourceExhaustedError("no memory for the magnitudes of A and B");
  }
  if (alpha == T(0) || a.cols() == 0) {
    // Nothing is summed: beta C is rounded once.
    for (int64_t i = 0; i < bound.rows(); ++i) {
      for (int64_t j = 0; j < bound.cols(); ++j) bound(i, j) = 0;
    }
  } else {
    T* const copies = reinterpret_cast<T*>(workspace.data());
    Options<T> options;
    options.pool = pool;
    status = Gemm<T>(1, Magnitudes<T>(a, copies), Magnitudes<T>(b, copies + a.rows() * a.cols()), 0,
                     bound, options);
    if (!status.ok()) return status;
  }

  constexpr T kHalfUlp = std::numeric_limits<T>::epsilon() / 2;
  constexpr T kLeast = std::numeric_limits<T>::denorm_min();
  // Covers the roundings of a handful of operations, so that each result errs upwards.
  constexpr T kUp = 1 + 16 * kHalfUlp;
  const int64_t k = a.cols();
  const int64_t roundings = std::min(k, kBlock) + (k + kBlock - 1) / kBlock + 2;
  const T product = static_cast<T>(roundings) * kHalfUlp;
  const T gamma = product / (1 - product) * kUp;
  // What underflows: a least number for each of k products and the few operations after them, those
  // of products times alpha.
  const T operations = static_cast<T>(k + 4) * kUp;
  const T lost = operations * kLeast * std::max(Magnitude<T>(alpha), T(1)) + 2 * kLeast;
  for (int64_t i = 0; i < bound.rows(); ++i) {
    for (int64_t j = 0; j < bound.cols(); ++j) {
      // bound(i, j), a sum of products that are not negative, is below the true one by gamma of it
      // and by what its own products lost.
      T size = (bound(i, j) * (1 + 2 * gamma) + operations * kLeast) * Magnitude<T>(alpha);
      if (beta != T(0)) size += Magnitude<T>(beta) * Magnitude(c(i, j));
      const T value = (gamma * (size * kUp) + lost) * kUp;
      bound(i, j) =
          value <= std::numeric_limits<T>::max() ? value : std::numeric_limits<T>::infinity();
    }
  }
  return absl::OkStatus();
}

template absl::Status GemmErrorBound(float, const MatrixView<const float>&,
                                     const MatrixView<const float>&, float,
                                     const MatrixView<const float>&, const MatrixView<float>&,
                                     ThreadPool*);
template absl::Status GemmErrorBound(double, const MatrixView<const double>&,
                                     const MatrixView<const double>&, double,
                                     const MatrixView<const double>&, const MatrixView<double>&,
                                     ThreadPool*);

}  // namespace assay::gemm
