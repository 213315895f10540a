// SPDX-License-Identifier: Apache-2.0
//
// Any shapes, strides, places and factors: a product is refused, C untouched, or equals its twin to
// the bit, and nothing outside C is written. It is refused where elements of C share memory, and
// accepted where the three matrices have memory of their own.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/int8.h"
#include "numerics/gemm/reference.h"
#include "numerics/ntt/fuzz/bytes.h"

namespace assay::gemm {
namespace {

using ntt::Bytes;

struct Shape {
  int64_t rows, cols, row_stride, col_stride;
};

// Rows or columns side by side, or strides that may be anything small, 0 and negative among them.
Shape Strides(Bytes& bytes, int64_t rows, int64_t cols) {
  const auto pick = bytes.Next(1) % 8;
  if (pick < 3) return {rows, cols, cols + static_cast<int64_t>(bytes.Next(1) % 3), 1};
  if (pick < 6) return {rows, cols, 1, rows + static_cast<int64_t>(bytes.Next(1) % 3)};
  return {rows, cols, static_cast<int64_t>(bytes.Next(1) % 40) - 1,
          static_cast<int64_t>(bytes.Next(1) % 40) - 1};
}

// Elements from the first to the last one, none for strides that are refused.
int64_t Span(const Shape& s) {
  if (s.rows <= 0 || s.cols <= 0 || s.row_stride < 0 || s.col_stride < 0) return 0;
  return (s.rows - 1) * s.row_stride + (s.cols - 1) * s.col_stride + 1;
}

template <class T>
MatrixView<T> View(T* data, const Shape& s) {
  return {data, s.rows, s.cols, s.row_stride, s.col_stride};
}

template <class T>
std::set<const T*> Elements(const T* data, const Shape& s) {
  std::set<const T*> elements;
  for (int64_t i = 0; i < s.rows; ++i) {
    for (int64_t j = 0; j < s.cols; ++j) {
      elements.insert(data + i * s.row_stride + j * s.col_stride);
    }
  }
  return elements;
}

template <class T>
void FuzzFloats(Bytes& bytes, Random& random) {
  const auto size = [&] { return static_cast<int64_t>(bytes.Length(45)); };
  const int64_t m = size();
  const int64_t n = size();
  // Two blocks of k now and then.
  const int64_t k = size() + (bytes.Next(1) % 8 == 0 ? kBlock : 0);
  const bool fits = bytes.Next(1) % 16 != 0;
  const Shape a = Strides(bytes, m, fits ? k : k + 1);
  const Shape b = Strides(bytes, k, n);
  const Shape c = Strides(bytes, m, n);
  constexpr T kFactors[] = {0, 1, -1, T(0.7), std::numeric_limits<T>::infinity()};
  const T alpha = kFactors[bytes.Next(1) % 5];
  const T beta = kFactors[bytes.Next(1) % 5];

  // One array for all, C after the others or in their midst.
  const bool apart = bytes.Coin();
  const int64_t c_at = apart ? Span(a) + Span(b) : static_cast<int64_t>(bytes.Next(2) % 500);
  std::vector<T> memory(static_cast<size_t>(std::max(Span(a) + Span(b), c_at + Span(c))));
  for (T& x : memory) x = static_cast<T>(random.Uniform(-1, 1));
  if (!memory.empty() && bytes.Coin()) {
    memory[bytes.Next(2) % memory.size()] = std::numeric_limits<T>::quiet_NaN();
  }
  std::vector<T> expected = memory;
  const std::vector<T> before = memory;
  const auto parts = [&](std::vector<T>& v) {
    struct Parts {
      MatrixView<const T> a, b;
      MatrixView<T> c;
    };
    return Parts{View<const T>(v.data(), a), View<const T>(v.data() + Span(a), b),
                 View<T>(v.data() + c_at, c)};
  };
  Options<T> options;
  std::vector<T> bias(static_cast<size_t>(n), T(0.5));
  std::vector<T> maxima(static_cast<size_t>(m));
  std::vector<T> expected_maxima(static_cast<size_t>(m));
  if (bytes.Coin()) options.epilogue.column_bias = bias;
  options.epilogue.activation = static_cast<Activation>(bytes.Next(1) % 4);
  if (bytes.Coin()) options.epilogue.row_maximum = maxima;
  const auto ours = parts(memory);
  const absl::Status status = Gemm<T>(alpha, ours.a, ours.b, beta, ours.c, options);

  const bool strides_fit = std::min({a.row_stride, a.col_stride, b.row_stride, b.col_stride,
                                     c.row_stride, c.col_stride}) >= 0;
  if (!status.ok()) {
    ASSAY_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
    for (size_t i = 0; i < memory.size(); ++i) ASSAY_CHECK(SameBits(memory[i], before[i]));
    const bool plain =
        (c.row_stride == 1 && c.col_stride >= m) || (c.col_stride == 1 && c.row_stride >= n);
    ASSAY_CHECK(!(fits && strides_fit && apart && plain));
    return;
  }
  ASSAY_CHECK(fits && strides_fit);
  const std::set<const T*> written = Elements<T>(ours.c.data(), c);
  ASSAY_CHECK(static_cast<int64_t>(written.size()) == m * n);
  for (const auto& [data, shape] : {std::pair(ours.a.data(), a), std::pair(ours.b.data(), b)}) {
    for (const T* element : Elements<T>(data, shape)) ASSAY_CHECK(written.count(element) == 0);
  }
  auto twin = parts(expected);
  Epilogue<T> epilogue = options.epilogue;
  if (!epilogue.row_maximum.empty()) epilogue.row_maximum = expected_maxima;
  ReferenceGemm<T>(alpha, twin.a, twin.b, beta, twin.c, epilogue);
  for (size_t i = 0; i < memory.size(); ++i) ASSAY_CHECK(SameBits(memory[i], expected[i]));
  for (size_t i = 0; i < maxima.size(); ++i) ASSAY_CHECK(SameBits(maxima[i], expected_maxima[i]));
}

template <class A, class B>
void FuzzIntegers(Bytes& bytes, Random& random) {
  const auto size = [&] { return static_cast<int64_t>(bytes.Length(40)); };
  const int64_t m = size();
  const int64_t n = size();
  const int64_t k = size() + (bytes.Next(1) % 8 == 0 ? 1020 : 0);
  const Shape a = Strides(bytes, m, k);
  const Shape b = Strides(bytes, k, n);
  const Shape c = Strides(bytes, m, n);
  std::vector<A> av(static_cast<size_t>(Span(a)));
  std::vector<B> bv(static_cast<size_t>(Span(b)));
  std::vector<int32_t> cv(static_cast<size_t>(Span(c)), 5);
  for (A& x : av) x = static_cast<A>(random.Integer(256));
  for (B& x : bv) x = static_cast<B>(random.Integer(256));
  Int8Options options;
  options.accumulate = bytes.Coin();
  const MatrixView<const A> a_view = View<const A>(av.data(), a);
  const MatrixView<const B> b_view = View<const B>(bv.data(), b);
  const MatrixView<int32_t> c_view = View(cv.data(), c);
  if (!GemmInt8<A, B>(a_view, b_view, c_view, options).ok()) {
    ASSAY_CHECK(cv == std::vector<int32_t>(cv.size(), 5));
    return;
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = options.accumulate ? 5 : 0;
      for (int64_t p = 0; p < k; ++p) sum += a_view(i, p) * b_view(p, j);
      ASSAY_CHECK(c_view(i, j) == sum);
    }
  }
}

void FuzzOne(std::span<const uint8_t> data) {
  Bytes bytes(data);
  Random random(bytes.Next(2));
  switch (bytes.Next(1) % 5) {
    case 0:
      return FuzzFloats<double>(bytes, random);
    case 1:
      return FuzzIntegers<int8_t, int8_t>(bytes, random);
    case 2:
      return FuzzIntegers<uint8_t, int8_t>(bytes, random);
    case 3:
      return FuzzIntegers<int8_t, uint8_t>(bytes, random);
    default:
      return FuzzFloats<float>(bytes, random);
  }
}

}  // namespace
}  // namespace assay::gemm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::gemm::FuzzOne(std::span<const uint8_t>(data, size));
  return 0;
}
