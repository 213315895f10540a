// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/reference.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "numerics/gemm/internal/gelu.h"

namespace assay::gemm {
namespace {

// The sum of one block of k.
template <class T>
T BlockSum(const MatrixView<const T>& a, const MatrixView<const T>& b, int64_t i, int64_t j,
           int64_t begin, int64_t end) {
  T sum = 0;
  for (int64_t p = begin; p < end; ++p) {
    const T product = a(i, p) * b(p, j);
    sum = sum + product;
  }
  return sum;
}

template <class T>
T Activate(T x, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      return x <= T(0) ? T(0) : x;
    case Activation::kGelu:
      internal::Gelu(std::span<T>(&x, 1));
      break;
    case Activation::kGeluTanh:
      internal::GeluTanh(std::span<T>(&x, 1));
      break;
  }
  return x;
}

}  // namespace

template <class T>
void ReferenceGemm(T alpha, const MatrixView<const T>& a, const MatrixView<const T>& b, T beta,
                   const MatrixView<T>& c, const Epilogue<T>& epilogue) {
  const int64_t k = alpha == T(0) ? 0 : a.cols();
  for (int64_t i = 0; i < c.rows(); ++i) {
    T greatest = -std::numeric_limits<T>::infinity();
    for (int64_t j = 0; j < c.cols(); ++j) {
      T value = 0;
      if (beta != T(0)) value = beta * c(i, j);
      for (int64_t begin = 0; begin < k; begin += kBlock) {
        const T scaled = alpha * BlockSum(a, b, i, j, begin, std::min(begin + kBlock, k));
        value = begin == 0 && beta == T(0) ? scaled : value + scaled;
      }
      const T row_bias =
          epilogue.row_bias.empty() ? T(0) : epilogue.row_bias[static_cast<size_t>(i)];
      if (!epilogue.column_bias.empty()) {
        const T column_bias = epilogue.column_bias[static_cast<size_t>(j)];
        value = value + (epilogue.row_bias.empty() ? column_bias : row_bias + column_bias);
      } else if (!epilogue.row_bias.empty()) {
        value = value + row_bias;
      }
      value = Activate(value, epilogue.activation);
      c(i, j) = value;
      if (value != value || greatest != greatest) {
        greatest = std::numeric_limits<T>::quiet_NaN();
      } else if (value > greatest || (value == T(0) && greatest == T(0) && 1 / value > 0)) {
        greatest = value;
      }
    }
    if (!epilogue.row_maximum.empty()) epilogue.row_maximum[static_cast<size_t>(i)] = greatest;
  }
}

template <class T>
bool SameBits(T x, T y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0 || (x != x && y != y);
}

template void ReferenceGemm(float, const MatrixView<const float>&, const MatrixView<const float>&,
                            float, const MatrixView<float>&, const Epilogue<float>&);
template void ReferenceGemm(double, const MatrixView<const double>&,
                            const MatrixView<const double>&, double, const MatrixView<double>&,
                            const Epilogue<double>&);
template bool SameBits(float, float);
template bool SameBits(double, double);

}  // namespace assay::gemm
