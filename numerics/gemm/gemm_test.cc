// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/gemm.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"
#include "numerics/gemm/fast.h"
#include "numerics/gemm/reference.h"

namespace assay::gemm {
namespace {

TEST(GemmTest, MultipliesByHand) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<float> b = {7, 8, 9, 10, 11, 12};
  std::vector<float> c = {1, 1, 1, 1};
  ASSERT_TRUE(Gemm<float>(2, {a.data(), 2, 3, 3}, {b.data(), 3, 2, 2}, -1,
                          MatrixView<float>(c.data(), 2, 2, 2))
                  .ok());
  EXPECT_EQ(c, (std::vector<float>{115, 127, 277, 307}));
}

template <class T>
std::vector<T> Values(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(random.Uniform(-1, 1));
  return values;
}

template <class T>
class GemmTypedTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmTypedTest, Types);

TYPED_TEST(GemmTypedTest, EveryWayThroughTheDriverGivesTheDefinitionsBits) {
  using T = TypeParam;
  const struct {
    int64_t m, n, k;
  } shapes[] = {{1, 1, 1},     {3, 5, 7},      {13, 33, 257},    {97, 130, 300}, {2, 700, 520},
                {700, 2, 520}, {12, 3000, 50}, {101, 1100, 270}, {1, 300, 900}};
  ThreadPool pool(3);
  for (const auto& [m, n, k] : shapes) {
    const std::vector<T> a = Values<T>(m * k, 1);
    const std::vector<T> b = Values<T>(k * n, 2);
    const std::vector<T> before = Values<T>(m * n, 3);
    for (int layout = 0; layout < 8; ++layout) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", layout " << layout);
      const MatrixView<const T> av = (layout & 1) != 0
                                         ? MatrixView<const T>(a.data(), k, m, m).Transposed()
                                         : MatrixView<const T>(a.data(), m, k, k);
      const MatrixView<const T> bv = (layout & 2) != 0
                                         ? MatrixView<const T>(b.data(), n, k, k).Transposed()
                                         : MatrixView<const T>(b.data(), k, n, n);
      std::vector<T> c = before;
      const MatrixView<T> cv = (layout & 4) != 0 ? MatrixView<T>(c.data(), n, m, m).Transposed()
                                                 : MatrixView<T>(c.data(), m, n, n);
      std::vector<T> expected = before;
      const MatrixView<T> ev(expected.data(), m, n, cv.row_stride(), cv.col_stride());
      ReferenceGemm<T>(T(0.75), av, bv, T(-1.5), ev);
      Options<T> options;
      options.pool = layout % 3 == 0 ? &pool : nullptr;
      ASSERT_TRUE(Gemm<T>(T(0.75), av, bv, T(-1.5), cv, options).ok());
      EXPECT_EQ(std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)), 0);

      std::vector<T> fast = before;
      const MatrixView<T> fv(fast.data(), m, n, cv.row_stride(), cv.col_stride());
      ASSERT_TRUE(FastGemm<T>(T(0.75), av, bv, T(-1.5), fv, options).ok());
      for (size_t i = 0; i < fast.size(); ++i) {
        // |alpha| |A| |B| + |beta| |C| is at most 0.75 k + 1.5 here.
        const double bound = static_cast<double>(std::min(k, kBlock) + k / kBlock + 4) *
                             (0.75 * static_cast<double>(k) + 1.5) *
                             (sizeof(T) == 4 ? 0x1p-23 : 0x1p-52);
        ASSERT_NEAR(static_cast<double>(fast[i]), static_cast<double>(expected[i]), bound) << i;
      }
    }
  }
}

TEST(GemmBFloat16Test, IsTheProductOfWidenedMatricesExactlyOrWithinTheBound) {
  const struct {
    int64_t m, n, k;
  } shapes[] = {{1, 1, 1}, {3, 5, 7}, {13, 33, 515}, {97, 130, 300}, {24, 64, 64}, {70, 600, 33}};
  ThreadPool pool(2);
  for (const auto& [m, n, k] : shapes) {
    std::vector<float> wide_a = Values<float>(m * k, 1);
    std::vector<float> wide_b = Values<float>(k * n, 2);
    std::vector<floating::BFloat16> a;
    std::vector<floating::BFloat16> b;
    for (float& x : wide_a) x = a.emplace_back(x).ToFloat();
    for (float& x : wide_b) x = b.emplace_back(x).ToFloat();
    for (int layout = 0; layout < 8; ++layout) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", layout " << layout);
      const auto view_a = [&, m = m, k = k](const auto& values) {
        using V = typename std::decay_t<decltype(values)>::value_type;
        return (layout & 1) != 0 ? MatrixView<const V>(values.data(), k, m, m).Transposed()
                                 : MatrixView<const V>(values.data(), m, k, k);
      };
      const auto view_b = [&, n = n, k = k](const auto& values) {
        using V = typename std::decay_t<decltype(values)>::value_type;
        return (layout & 2) != 0 ? MatrixView<const V>(values.data(), n, k, k).Transposed()
                                 : MatrixView<const V>(values.data(), k, n, n);
      };
      const auto view_c = [&, m = m, n = n](std::vector<float>& values) {
        return (layout & 4) != 0 ? MatrixView<float>(values.data(), n, m, m).Transposed()
                                 : MatrixView<float>(values.data(), m, n, n);
      };
      Options<float> options;
      options.pool = layout % 3 == 0 ? &pool : nullptr;
      std::vector<float> expected(static_cast<size_t>(m * n), 0.5f);
      std::vector<float> exact = expected;
      std::vector<float> fast = expected;
      ASSERT_TRUE(
          Gemm<float>(1, view_a(wide_a), view_b(wide_b), -1, view_c(expected), options).ok());
      ASSERT_TRUE(Gemm(1, view_a(a), view_b(b), -1, view_c(exact), options).ok());
      EXPECT_EQ(std::memcmp(exact.data(), expected.data(), exact.size() * sizeof(float)), 0);
      ASSERT_TRUE(FastGemm(1, view_a(a), view_b(b), -1, view_c(fast), options).ok());
      for (size_t i = 0; i < fast.size(); ++i) {
        // Twice gamma(k + 2) times at most k + 1.
        ASSERT_NEAR(fast[i], expected[i],
                    static_cast<double>(k + 2) * static_cast<double>(k + 1) * 0x1p-23)
            << i;
      }
    }
  }
}

}  // namespace
}  // namespace assay::gemm
