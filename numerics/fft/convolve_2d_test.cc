// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/convolve_2d.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"

namespace assay::fft {
namespace {

constexpr ConvolveMode kModes[] = {ConvolveMode::kFull, ConvolveMode::kSame, ConvolveMode::kValid};
constexpr ConvolveMethod kMethods[] = {ConvolveMethod::kAuto, ConvolveMethod::kDirect,
                                       ConvolveMethod::kFft, ConvolveMethod::kOverlapSave};

template <class T>
std::vector<T> Image(Extent2d size, uint64_t seed) {
  Random random(seed);
  std::vector<T> x;
  for (int64_t j = 0; j < size.rows * size.columns; ++j) {
    x.push_back(static_cast<T>(2 * random.Uniform() - 1));
  }
  return x;
}

// The full convolution by its definition, terms in the order of a's elements, in S.
template <class S, class T>
std::vector<S> Full(const std::vector<T>& a, Extent2d an, const std::vector<T>& b, Extent2d bn) {
  const Extent2d n = {an.rows + bn.rows - 1, an.columns + bn.columns - 1};
  std::vector<S> c(static_cast<size_t>(n.rows * n.columns));
  for (int64_t i = 0; i < an.rows; ++i) {
    for (int64_t j = 0; j < an.columns; ++j) {
      for (int64_t y = 0; y < bn.rows; ++y) {
        for (int64_t x = 0; x < bn.columns; ++x) {
          c[static_cast<size_t>((i + y) * n.columns + j + x)] +=
              static_cast<S>(a[static_cast<size_t>(i * an.columns + j)]) *
              static_cast<S>(b[static_cast<size_t>(y * bn.columns + x)]);
        }
      }
    }
  }
  return c;
}

template <class T>
class Convolve2dTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Convolve2dTest, Types);

TYPED_TEST(Convolve2dTest, AgreesWithTheDefinitionForEveryModeAndMethod) {
  using T = TypeParam;
  ThreadPool pool(3);
  for (auto [an, bn] : {std::pair<Extent2d, Extent2d>{{1, 1}, {1, 1}},
                        {{1, 9}, {1, 4}},
                        {{9, 1}, {4, 1}},
                        {{5, 7}, {3, 2}},
                        {{3, 2}, {5, 7}},
                        {{4, 9}, {9, 4}},
                        {{40, 50}, {3, 5}},
                        {{33, 64}, {17, 11}},
                        {{120, 90}, {9, 20}}}) {
    const std::vector<T> a = Image<T>(an, 1), b = Image<T>(bn, 2);
    const std::vector<T> bits = Full<T>(a, an, b, bn);
    const std::vector<double> truth = Full<double>(a, an, b, bn);
    const Extent2d full = {an.rows + bn.rows - 1, an.columns + bn.columns - 1};
    for (ConvolveMode mode : kModes) {
      for (ConvolveMethod method : kMethods) {
        ConvolveOptions options;
        options.mode = mode;
        options.method = method;
        absl::StatusOr<std::vector<T>> c = Convolve2d<T>(a, an, b, bn, options);
        const bool nested = (an.rows >= bn.rows) == (an.columns >= bn.columns) ||
                            an.rows == bn.rows || an.columns == bn.columns;
        if (mode == ConvolveMode::kValid && !nested) {
          EXPECT_EQ(c.status().code(), absl::StatusCode::kInvalidArgument);
          continue;
        }
        ASSERT_TRUE(c.ok()) << c.status();
        const Extent2d size = ConvolvedSize(an, bn, mode);
        ASSERT_EQ(static_cast<int64_t>(c->size()), size.rows * size.columns);
        const int64_t top = mode == ConvolveMode::kFull   ? 0
                            : mode == ConvolveMode::kSame ? (bn.rows - 1) / 2
                                                          : std::min(an.rows, bn.rows) - 1;
        const int64_t left = mode == ConvolveMode::kFull   ? 0
                             : mode == ConvolveMode::kSame ? (bn.columns - 1) / 2
                                                           : std::min(an.columns, bn.columns) - 1;
        const double bound =
            Convolve2dErrorBound<T>(a, an, b, bn, mode) + 1e-12;  // the sums in double
        for (int64_t y = 0; y < size.rows; ++y) {
          for (int64_t x = 0; x < size.columns; ++x) {
            const T value = (*c)[static_cast<size_t>(y * size.columns + x)];
            const size_t at = static_cast<size_t>((top + y) * full.columns + left + x);
            if (method == ConvolveMethod::kDirect) {
              ASSERT_EQ(value, bits[at]);
            }
            ASSERT_NEAR(value, truth[at], bound);
          }
        }
        options.pool = &pool;
        ASSERT_EQ(*Convolve2d<T>(a, an, b, bn, options), *c);
      }
    }
  }
}

TYPED_TEST(Convolve2dTest, ReportsExtentsThatCannotBe) {
  using T = TypeParam;
  const auto wrong = absl::StatusCode::kInvalidArgument;
  const std::vector<T> six(6, 1), four(4, 1);
  const int64_t large = int64_t{1} << 40;
  for (Extent2d size : {Extent2d{0, 6}, Extent2d{-2, -3}, Extent2d{2, 2}, Extent2d{large, large},
                        Extent2d{std::numeric_limits<int64_t>::max(), 1}}) {
    const absl::Status status = Convolve2d<T>(six, size, four, {2, 2}).status();
    EXPECT_EQ(status.code(), wrong);
    EXPECT_NE(status.message().find(std::to_string(size.rows)), absl::string_view::npos) << status;
    EXPECT_EQ(Convolve2d<T>(four, {2, 2}, six, size).status().code(), wrong);
  }
}

TYPED_TEST(Convolve2dTest, KeepsNanWhereItBelongsIfAsked) {
  using T = TypeParam;
  std::vector<T> a(100 * 100, 1), b(40 * 40, 1);
  a.back() = std::numeric_limits<T>::quiet_NaN();
  ConvolveOptions options;
  options.direct_if_not_finite = true;
  options.mode = ConvolveMode::kValid;
  const std::vector<T> c = *Convolve2d<T>(a, {100, 100}, b, {40, 40}, options);
  for (size_t k = 0; k + 1 < c.size(); ++k) ASSERT_EQ(c[k], 1600);
  EXPECT_TRUE(std::isnan(c.back()));
}

TEST(ConvolveMethod2dTest, TakesTheDirectWayForSmallFiltersAndTilesForLargeImages) {
  EXPECT_EQ(ChooseConvolution2d({1000, 1000}, {3, 3}), ConvolveMethod::kDirect);
  EXPECT_EQ(ChooseConvolution2d({500, 500}, {500, 500}), ConvolveMethod::kFft);
  EXPECT_EQ(ChooseConvolution2d({9000, 9000}, {100, 100}), ConvolveMethod::kOverlapSave);
}

}  // namespace
}  // namespace assay::fft
