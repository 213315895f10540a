// SPDX-License-Identifier: Apache-2.0
//
// The bound against true products, and how errors compare with it.
#include "numerics/gemm/certificate.h"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/gemm/fast.h"
#include "numerics/gemm/gemm.h"

namespace assay::gemm {
namespace {

// |computed - (alpha sum a b + beta c)| by arithmetic that rounds nothing that counts (4,000 bits).
template <class T>
double TrueError(T alpha, const MatrixView<const T>& a, const MatrixView<const T>& b, T beta, T c,
                 int64_t i, int64_t j, T computed) {
  mpfr_t sum;
  mpfr_t term;
  mpfr_init2(sum, 4000);
  mpfr_init2(term, 200);
  mpfr_set_zero(sum, 1);
  for (int64_t p = 0; p < a.cols(); ++p) {
    mpfr_set_d(term, static_cast<double>(a(i, p)), MPFR_RNDN);
    mpfr_mul_d(term, term, static_cast<double>(b(p, j)), MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  mpfr_mul_d(sum, sum, static_cast<double>(alpha), MPFR_RNDN);
  mpfr_set_d(term, static_cast<double>(beta), MPFR_RNDN);
  mpfr_mul_d(term, term, static_cast<double>(c), MPFR_RNDN);
  mpfr_add(sum, sum, term, MPFR_RNDN);
  mpfr_sub_d(sum, sum, static_cast<double>(computed), MPFR_RNDN);
  const double error = std::fabs(mpfr_get_d(sum, MPFR_RNDA));
  mpfr_clear(sum);
  mpfr_clear(term);
  return error;
}

enum class Data { kUniform, kCancelling, kWideRange, kSubnormal };

template <class T>
std::vector<T> Matrix(int64_t count, Data data, Random& random) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T& x : values) {
    const double u = random.Uniform(-1, 1);
    switch (data) {
      case Data::kUniform:
        x = static_cast<T>(u);
        break;
      case Data::kCancelling:  // neighbours all but cancel
        x = static_cast<T>((&x - values.data()) % 2 == 0 ? 1 + u * 0x1p-18 : -1 + u * 0x1p-18);
        break;
      case Data::kWideRange:
        x = static_cast<T>(std::ldexp(u, static_cast<int>(random.Integer(-30, 31))));
        break;
      case Data::kSubnormal: {
        constexpr int kMiddle = std::numeric_limits<T>::min_exponent / 2;
        x = static_cast<T>(std::ldexp(u, kMiddle - static_cast<int>(random.Integer(14))));
        break;
      }
    }
  }
  return values;
}

template <class T>
void ExpectBounded() {
  Random random(7);
  double worst = 0;
  for (const Data data : {Data::kUniform, Data::kCancelling, Data::kWideRange, Data::kSubnormal}) {
    for (const int64_t k : {0, 1, 2, 9, 64, 300, 700}) {
      constexpr int64_t m = 5;
      constexpr int64_t n = 7;
      const std::vector<T> a = Matrix<T>(m * k, data, random);
      const std::vector<T> b = Matrix<T>(k * n, data, random);
      const std::vector<T> before = Matrix<T>(m * n, data, random);
      const MatrixView<const T> av(a.data(), m, k, k);
      const MatrixView<const T> bv(b.data(), k, n, n);
      const MatrixView<const T> cv(before.data(), m, n, n);
      for (const auto& [alpha, beta] :
           {std::pair(T(1), T(0)), std::pair(T(0.7), T(-1.3)), std::pair(T(0), T(0.3))}) {
        std::vector<T> bound(m * n);
        ASSERT_TRUE(
            GemmErrorBound<T>(alpha, av, bv, beta, cv, MatrixView<T>(bound.data(), m, n, n)).ok());
        for (const bool fast : {false, true}) {
          std::vector<T> c = before;
          const MatrixView<T> out(c.data(), m, n, n);
          ASSERT_TRUE(
              (fast ? FastGemm<T>(alpha, av, bv, beta, out) : Gemm<T>(alpha, av, bv, beta, out))
                  .ok());
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
              const double error = TrueError(alpha, av, bv, beta, cv(i, j), i, j, out(i, j));
              const auto limit = static_cast<double>(bound[static_cast<size_t>(i * n + j)]);
              ASSERT_LE(error, limit) << "data " << static_cast<int>(data) << ", k " << k;
              if (limit > 0) worst = std::max(worst, error / limit);
            }
          }
        }
      }
    }
  }
  std::printf("error / bound: at most %.3f\n", worst);
  // A bound that nothing comes near would say little: one product, rounded once, is within six.
  EXPECT_GT(worst, 0.1);
}

TEST(CertificateTest, HoldsForTrueProducts) {
  ExpectBounded<float>();
  ExpectBounded<double>();
}

TEST(CertificateTest, IsInfiniteWhereMagnitudesLeaveTheRange) {
  const float a[] = {1e30f, 1e30f};
  const float b[] = {1e30f, -1e30f};
  float bound = 0;
  ASSERT_TRUE(GemmErrorBound<float>(1, {a, 1, 2, 2}, {b, 2, 1, 1}, 0, {},
                                    MatrixView<float>(&bound, 1, 1, 1))
                  .ok());
  EXPECT_EQ(bound, std::numeric_limits<float>::infinity());
}

TEST(CertificateTest, RefusesWhatDoesNotFit) {
  const std::vector<double> a(12);
  std::vector<double> bound(4, 3);
  const MatrixView<double> out(bound.data(), 2, 2, 2);
  const auto in = [&](int64_t rows, int64_t cols) {
    return MatrixView<const double>(a.data(), rows, cols, cols);
  };
  EXPECT_EQ(GemmErrorBound<double>(1, in(2, 3), in(2, 2), 0, {}, out).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GemmErrorBound<double>(1, in(2, 3), in(3, 2), 1, in(2, 3), out).message(),
            "C is 2 x 3; expected 2 x 2 as the bound is, in memory of its own");
  EXPECT_EQ(bound, std::vector<double>(4, 3));
}

}  // namespace
}  // namespace assay::gemm
