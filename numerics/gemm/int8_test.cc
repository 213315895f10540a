// SPDX-License-Identifier: Apache-2.0
#include "numerics/gemm/int8.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"

namespace assay::gemm {
namespace {

template <class T>
std::vector<T> Values(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    const auto bits = static_cast<uint8_t>(random.Integer(256));
    // Extremes often.
    value = bits < 32   ? std::numeric_limits<T>::min()
            : bits < 64 ? std::numeric_limits<T>::max()
                        : static_cast<T>(bits);
  }
  return values;
}

template <class A, class B>
void ExpectProducts() {
  const struct {
    int64_t m, n, k;
  } shapes[] = {{1, 1, 1},   {1, 1, 0},    {3, 5, 7},      {4, 16, 4},    {13, 33, 65},
                {12, 32, 8}, {29, 70, 67}, {25, 40, 1030}, {40, 1100, 9}, {2, 90, 2100},
                {90, 1, 70}, {1, 90, 70},  {50, 64, 1024}};
  ThreadPool pool(3);
  for (const auto& [m, n, k] : shapes) {
    const std::vector<A> a = Values<A>(m * k, 1);
    const std::vector<B> b = Values<B>(k * n, 2);
    for (int layout = 0; layout < 16; ++layout) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", layout " << layout);
      const MatrixView<const A> av = (layout & 1) != 0
                                         ? MatrixView<const A>(a.data(), k, m, m).Transposed()
                                         : MatrixView<const A>(a.data(), m, k, k);
      const MatrixView<const B> bv = (layout & 2) != 0
                                         ? MatrixView<const B>(b.data(), n, k, k).Transposed()
                                         : MatrixView<const B>(b.data(), k, n, n);
      const bool accumulate = (layout & 8) != 0;
      std::vector<int32_t> c(static_cast<size_t>(m * n), accumulate ? 12345 : -1);
      const MatrixView<int32_t> cv = (layout & 4) != 0
                                         ? MatrixView<int32_t>(c.data(), n, m, m).Transposed()
                                         : MatrixView<int32_t>(c.data(), m, n, n);
      Int8Options options;
      options.accumulate = accumulate;
      options.pool = layout % 3 == 0 ? &pool : nullptr;
      ASSERT_TRUE((GemmInt8<A, B>(av, bv, cv, options).ok()));
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          int32_t sum = accumulate ? 12345 : 0;
          for (int64_t p = 0; p < k; ++p) sum += av(i, p) * bv(p, j);
          ASSERT_EQ(cv(i, j), sum) << i << ", " << j;
        }
      }
    }
  }
}

TEST(Int8Test, EverySignAndLayoutOnEveryInstructionSet) {
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    SCOPED_TRACE(hwy::TargetName(rest & -rest));
    hwy::SetSupportedTargetsForTest(rest & -rest);
    ExpectProducts<int8_t, int8_t>();
    ExpectProducts<uint8_t, int8_t>();
    ExpectProducts<int8_t, uint8_t>();
    hwy::SetSupportedTargetsForTest(0);
  }
}

TEST(Int8Test, SumsWrapPastTheGreatestExactDepthAndNotBefore) {
  const int64_t depth = MaxExactDepth<int8_t, int8_t>();
  EXPECT_EQ(depth, 131071);
  const std::vector<int8_t> least(static_cast<size_t>(depth) + 1, -128);
  int32_t c = 0;
  const auto product = [&](int64_t k) {
    ASSERT_TRUE((GemmInt8<int8_t, int8_t>({least.data(), 1, k, k}, {least.data(), k, 1, 1},
                                          MatrixView<int32_t>(&c, 1, 1, 1))
                     .ok()));
  };
  product(depth);
  EXPECT_EQ(c, 131071 * 16384);
  product(depth + 1);
  EXPECT_EQ(c, std::numeric_limits<int32_t>::min());
}

TEST(Int8Test, RefusesShapesThatDoNotFit) {
  const std::vector<int8_t> a(6);
  std::vector<int32_t> c(4, 7);
  const absl::Status status = GemmInt8<int8_t, int8_t>({a.data(), 2, 3, 3}, {a.data(), 2, 2, 2},
                                                       MatrixView<int32_t>(c.data(), 2, 2, 2));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(c, (std::vector<int32_t>(4, 7)));
}

}  // namespace
}  // namespace assay::gemm
