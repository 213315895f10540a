// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/column_plan.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/reference.h"

namespace assay::fft {
namespace {

template <class T>
using Vec = std::vector<std::complex<T>>;

template <class T>
Vec<T> RandomMatrix(int64_t count, uint64_t seed) {
  Random random(seed);
  Vec<T> x;
  for (int64_t j = 0; j < count; ++j) {
    const double re = random.Uniform(), im = random.Uniform();
    x.push_back({static_cast<T>(2 * re - 1), static_cast<T>(2 * im - 1)});
  }
  return x;
}

template <class T>
Vec<T> Run(const ColumnPlan<T>& plan, const Vec<T>& x, int64_t columns, bool backward = false,
           ThreadPool* pool = nullptr) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  Vec<T> y(x.size(), {nan, nan});
  std::vector<T> scratch(
      static_cast<size_t>(plan.scratch_size(pool == nullptr ? 1 : pool->threads())), nan);
  const absl::Status status = backward ? plan.Backward(x, y, columns, scratch, pool)
                                       : plan.Forward(x, y, columns, scratch, pool);
  EXPECT_TRUE(status.ok()) << status;
  return y;
}

template <class T>
Vec<double> Column(const Vec<T>& x, int64_t columns, int64_t q) {
  Vec<double> column;
  for (size_t j = static_cast<size_t>(q); j < x.size(); j += static_cast<size_t>(columns)) {
    column.push_back({x[j].real(), x[j].imag()});
  }
  return column;
}

template <class T>
class ColumnPlanTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ColumnPlanTest, Types);

TYPED_TEST(ColumnPlanTest, MatchesTheOracleInEveryColumn) {
  using T = TypeParam;
  // Lengths of one step, of several, with every radix, deeper than a cache, and Bluestein's.
  for (int64_t n : {1, 2, 3, 7, 8, 12, 17, 22, 30, 64, 91, 101, 125, 360, 512}) {
    const ColumnPlan<T> plan = *ColumnPlan<T>::Create(n);
    EXPECT_EQ(plan.size(), n);
    for (int64_t columns : {1, 3, 8, 31, 65}) {
      const Vec<T> x = RandomMatrix<T>(n * columns, static_cast<uint64_t>(100 * n + columns));
      const Vec<T> y = Run(plan, x, columns), z = Run(plan, x, columns, true);
      for (int64_t q : {int64_t{0}, columns / 2, columns - 1}) {
        const Vec<double> column = Column(x, columns, q);
        const Vec<double> forward = Column(y, columns, q), backward = Column(z, columns, q);
        ASSERT_LE(RelativeL2Error(forward, DftOracle(column)), plan.L2ErrorBound())
            << n << " x " << columns << ", column " << q;
        ASSERT_LE(RelativeL2Error(backward, DftOracle(column, true)), plan.L2ErrorBound())
            << n << " x " << columns << ", column " << q;
      }
    }
  }
}

TYPED_TEST(ColumnPlanTest, GivesAColumnTheSameBitsWhereverItStands) {
  using T = TypeParam;
  ThreadPool pool(3);
  for (int64_t n : {5, 17, 48, 343, 1024}) {
    const ColumnPlan<T> plan = *ColumnPlan<T>::Create(n);
    const int64_t columns = 77;
    const Vec<T> x = RandomMatrix<T>(n * columns, 7);
    const Vec<T> y = Run(plan, x, columns);
    EXPECT_EQ(Run(plan, x, columns, false, &pool), y) << n;
    Vec<T> in_place = x;
    std::vector<T> scratch(static_cast<size_t>(plan.scratch_size()));
    ASSERT_TRUE(plan.Forward(in_place, in_place, columns, scratch).ok());
    EXPECT_EQ(in_place, y) << n;
    for (int64_t q : {0, 40, 76}) {
      Vec<T> alone;
      for (int64_t j = 0; j < n; ++j) alone.push_back(x[static_cast<size_t>(j * columns + q)]);
      const Vec<T> transformed = Run(plan, alone, 1);
      for (int64_t j = 0; j < n; ++j) {
        ASSERT_EQ(transformed[static_cast<size_t>(j)], y[static_cast<size_t>(j * columns + q)])
            << n << ", row " << j << ", column " << q;
      }
    }
  }
}

TYPED_TEST(ColumnPlanTest, ReportsWrongArgumentsAndLeavesTheOutputAlone) {
  using T = TypeParam;
  for (int64_t n : {int64_t{0}, int64_t{-4}, kMaxSize + 1}) {
    EXPECT_EQ(ColumnPlan<T>::Create(n).status().code(), absl::StatusCode::kInvalidArgument) << n;
  }
  const ColumnPlan<T> plan = *ColumnPlan<T>::Create(4);
  const Vec<T> x(12, {1, 2});
  Vec<T> y(12, {5, 6});
  std::vector<T> scratch(static_cast<size_t>(plan.scratch_size()));
  const std::span<T> all(scratch);
  auto refuses = [&](absl::Status status, const char* what) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(what), std::string::npos) << status;
    EXPECT_EQ(y, Vec<T>(12, {5, 6}));
  };
  refuses(plan.Forward(x, y, 2, all), "12 elements");
  refuses(plan.Forward(x, y, -1, all), "-1 columns");
  refuses(plan.Forward(x, y, std::numeric_limits<int64_t>::max(), all), "columns");
  refuses(plan.Forward(x, std::span<std::complex<T>>(y).first(8), 3, all), "8 elements");
  refuses(plan.Forward(x, y, 3, all.subspan(1)), "scratch");
  EXPECT_TRUE(
      plan.Forward(std::span<const std::complex<T>>(), std::span<std::complex<T>>(), 0, all).ok());
}

}  // namespace
}  // namespace assay::fft
