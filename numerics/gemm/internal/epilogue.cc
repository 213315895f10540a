// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/internal/epilogue.h"

#include "numerics/core/elementary.h"

namespace assay::gemm::internal {
namespace {

template <class T>
T Activate(T x, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > T(0) || x != x ? x : T(0);
    case Activation::kGelu:
      return x * T(0.5) * (T(1) + Erf(x * static_cast<T>(0.70710678118654752440)));
    case Activation::kGeluTanh:
      return x * T(0.5) *
             (T(1) + Tanh(static_cast<T>(0.79788456080286535588) *
                          (x + static_cast<T>(0.044715) * x * x * x)));
  }
  return x;
}

}  // namespace

template <class T>
void ApplyEpilogue(const Epilogue<T>& e, int64_t row, int64_t col, MatrixView<T> block,
                   T* row_maxima) {
  for (int64_t i = 0; i < block.rows(); ++i) {
    T* c = block.data() + i * block.row_stride();
    for (int64_t j = 0; j < block.cols(); ++j) {
      if (!e.row_bias.empty()) c[j] += e.row_bias[static_cast<size_t>(row + i)];
      if (!e.column_bias.empty()) c[j] += e.column_bias[static_cast<size_t>(col + j)];
      c[j] = Activate(c[j], e.activation);
      if (row_maxima != nullptr) row_maxima[i] = MaxOf(row_maxima[i], c[j]);
    }
  }
}

template void ApplyEpilogue(const Epilogue<float>&, int64_t, int64_t, MatrixView<float>, float*);
template void ApplyEpilogue(const Epilogue<double>&, int64_t, int64_t, MatrixView<double>, double*);

}  // namespace assay::gemm::internal
