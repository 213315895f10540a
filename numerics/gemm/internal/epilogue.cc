// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/internal/epilogue.h"

#include <cstdint>
#include <span>

#include "numerics/gemm/internal/gelu.h"

namespace assay::gemm::internal {
namespace {

template <class T>
void Activate(std::span<T> c, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return;
    case Activation::kRelu:
      for (T& x : c) x = x <= T(0) ? T(0) : x;  // NaN is not <= 0
      return;
    case Activation::kGelu:
      return Gelu(c);
    case Activation::kGeluTanh:
      return GeluTanh(c);
  }
}

// The greatest of some; the order does not show (MaxOf).
template <class T>
T Maximum(std::span<const T> c, T greatest) {
  // Eight chains, since one comparison waits for another.
  constexpr size_t kChains = 8;
  T chains[kChains];
  bool nan = greatest != greatest;
  for (T& chain : chains) chain = greatest;
  size_t i = 0;
  for (; i + kChains <= c.size(); i += kChains) {
    for (size_t l = 0; l < kChains; ++l) {
      const T x = c[i + l];
      nan |= x != x;
      chains[l] = x > chains[l] ? x : chains[l];
    }
  }
  for (; i < c.size(); ++i) {
    nan |= c[i] != c[i];
    chains[0] = c[i] > chains[0] ? c[i] : chains[0];
  }
  if (nan) return std::numeric_limits<T>::quiet_NaN();
  for (const T chain : chains) greatest = MaxOf(greatest, chain);
  // Which zero a chain kept depends on the order.
  if (greatest == T(0)) {
    for (const T x : c) greatest = MaxOf(greatest, x);
  }
  return greatest;
}

}  // namespace

template <class T>
void ApplyEpilogue(const Epilogue<T>& e, int64_t row, int64_t col, MatrixView<T> block,
                   T* row_maxima) {
  const auto cols = static_cast<size_t>(block.cols());
  for (int64_t i = 0; i < block.rows(); ++i) {
    const std::span<T> c(block.data() + i * block.row_stride(), cols);
    const bool by_row = !e.row_bias.empty();
    const T row_bias = by_row ? e.row_bias[static_cast<size_t>(row + i)] : T(0);
    if (!e.column_bias.empty()) {
      const T* const bias = e.column_bias.data() + col;
      for (size_t j = 0; j < cols; ++j) c[j] += by_row ? row_bias + bias[j] : bias[j];
    } else if (by_row) {
      for (T& x : c) x += row_bias;
    }
    Activate(c, e.activation);
    if (row_maxima != nullptr) row_maxima[i] = Maximum<T>(c, row_maxima[i]);
  }
}

template void ApplyEpilogue(const Epilogue<float>&, int64_t, int64_t, MatrixView<float>, float*);
template void ApplyEpilogue(const Epilogue<double>&, int64_t, int64_t, MatrixView<double>, double*);

}  // namespace assay::gemm::internal
