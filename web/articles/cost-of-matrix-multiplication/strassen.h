// SPDX-License-Identifier: Apache-2.0
//
// strassen.h: Strassen's product of square matrices, seven half-size products instead of eight.
#ifndef ASSAY_WEB_ARTICLES_COST_OF_MATRIX_MULTIPLICATION_STRASSEN_H_
#define ASSAY_WEB_ARTICLES_COST_OF_MATRIX_MULTIPLICATION_STRASSEN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "numerics/core/check.h"

namespace assay::matmul_page {

// An n x n matrix, row after row.
template <class T>
using Square = std::vector<T>;

// C = A B by the definition, a sum from the first product on: 2 n^3 - n^2 operations.
template <class T>
Square<T> Classic(const Square<T>& a, const Square<T>& b, int64_t n) {
  Square<T> c(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T sum = a[static_cast<size_t>(i * n)] * b[static_cast<size_t>(j)];
      for (int64_t k = 1; k < n; ++k) {
        sum = sum + a[static_cast<size_t>(i * n + k)] * b[static_cast<size_t>(k * n + j)];
      }
      c[static_cast<size_t>(i * n + j)] = sum;
    }
  }
  return c;
}

// [region strassen]
// C = A B with `levels` halvings, each with 7 products and 18 sums of blocks, the definition below
// them. n is a multiple of 2^levels. V. Strassen, Gaussian elimination is not optimal (1969).
template <class T>
Square<T> Strassen(const Square<T>& a, const Square<T>& b, int64_t n, int levels) {
  if (levels == 0) return Classic(a, b, n);
  ASSAY_CHECK_EQ(n % 2, 0);
  const int64_t h = n / 2;
  const auto block = [&](const Square<T>& x, int64_t row, int64_t col) {
    Square<T> y;
    for (int64_t i = 0; i < h; ++i) {
      const auto from = x.begin() + (row * h + i) * n + col * h;
      y.insert(y.end(), from, from + h);
    }
    return y;
  };
  const auto plus = [](Square<T> x, const Square<T>& y) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = x[i] + y[i];
    return x;
  };
  const auto minus = [](Square<T> x, const Square<T>& y) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = x[i] - y[i];
    return x;
  };
  const auto times = [&](const Square<T>& x, const Square<T>& y) {
    return Strassen(x, y, h, levels - 1);
  };
  const Square<T> a11 = block(a, 0, 0), a12 = block(a, 0, 1);
  const Square<T> a21 = block(a, 1, 0), a22 = block(a, 1, 1);
  const Square<T> b11 = block(b, 0, 0), b12 = block(b, 0, 1);
  const Square<T> b21 = block(b, 1, 0), b22 = block(b, 1, 1);
  const Square<T> p1 = times(plus(a11, a22), plus(b11, b22));
  const Square<T> p2 = times(plus(a21, a22), b11);
  const Square<T> p3 = times(a11, minus(b12, b22));
  const Square<T> p4 = times(a22, minus(b21, b11));
  const Square<T> p5 = times(plus(a11, a12), b22);
  const Square<T> p6 = times(minus(a21, a11), plus(b11, b12));
  const Square<T> p7 = times(minus(a12, a22), plus(b21, b22));
  const Square<T> quarters[4] = {plus(minus(plus(p1, p4), p5), p7), plus(p3, p5), plus(p2, p4),
                                 plus(plus(minus(p1, p2), p3), p6)};
  Square<T> c(a.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const Square<T>& quarter = quarters[i / h * 2 + j / h];
      c[static_cast<size_t>(i * n + j)] = quarter[static_cast<size_t>(i % h * h + j % h)];
    }
  }
  return c;
}
// [end strassen]

// Operations of the above.
inline int64_t StrassenOperations(int64_t n, int levels) {
  if (levels == 0) return 2 * n * n * n - n * n;
  return 7 * StrassenOperations(n / 2, levels - 1) + 18 * (n / 2) * (n / 2);
}

}  // namespace assay::matmul_page

#endif  // ASSAY_WEB_ARTICLES_COST_OF_MATRIX_MULTIPLICATION_STRASSEN_H_
