// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/convolve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/fft/reference.h"

namespace assay::fft {
namespace {

template <class T>
std::vector<T> RandomReals(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<T> x;
  for (int64_t j = 0; j < n; ++j) x.push_back(static_cast<T>(2 * random.Uniform() - 1));
  return x;
}

// Integers of up to `bits` bits and a sign.
std::vector<int64_t> RandomIntegers(int64_t n, int bits, uint64_t seed) {
  Random random(seed);
  std::vector<int64_t> x;
  for (int64_t j = 0; j < n; ++j) {
    const uint64_t value = random.Next64();
    const bool minus = (value >> 63) != 0;
    const int64_t size = static_cast<int64_t>(value & ((uint64_t{1} << bits) - 1));
    x.push_back(minus ? -size : size);
  }
  return x;
}

// The true convolution to twice the digits, rounded once.
template <class T>
std::vector<double> Oracle(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<double> c;
  for (size_t k = 0; k + 1 < a.size() + b.size(); ++k) {
    DoubleDouble sum;
    for (size_t j = k < b.size() ? 0 : k - b.size() + 1; j <= k && j < a.size(); ++j) {
      sum = Add(sum, Multiply({a[j], 0}, {b[k - j], 0}));
    }
    c.push_back(sum.hi);
  }
  return c;
}

template <class T>
std::vector<T> Convolved(const std::vector<T>& a, const std::vector<T>& b, ConvolveMethod method,
                         bool direct_if_not_finite = false) {
  ConvolveOptions options;
  options.method = method;
  options.direct_if_not_finite = direct_if_not_finite;
  absl::StatusOr<std::vector<T>> c = Convolve<T>(a, b, options);
  EXPECT_TRUE(c.ok()) << c.status();
  return *std::move(c);
}

template <class T>
class ConvolveTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ConvolveTest, Types);

TYPED_TEST(ConvolveTest, MultipliesOnePlusXByHand) {
  using T = TypeParam;
  using V = std::vector<T>;
  // (1 + x)(1 + 2x) = 1 + 3x + 2x^2, and 3 * 5.
  for (ConvolveMethod method : {ConvolveMethod::kAuto, ConvolveMethod::kDirect}) {
    EXPECT_EQ(Convolved(V{1, 1}, V{1, 2}, method), (V{1, 3, 2}));
    EXPECT_EQ(Convolved(V{3}, V{5}, method), (V{15}));
  }
  const V c = Convolved(V{1, 1}, V{1, 2}, ConvolveMethod::kFft);
  ASSERT_EQ(c.size(), 3u);
  EXPECT_NEAR(c[1], 3, 1e-5);
  EXPECT_NEAR(Convolved(V{3}, V{5}, ConvolveMethod::kFft)[0], 15, 1e-5);
  absl::StatusOr<V> p = MultiplyPolynomials<T>(V{1, 1}, V{1, 2});
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(*p, (V{1, 3, 2}));
}

TYPED_TEST(ConvolveTest, DirectEqualsTheTwinInBitsAndFftKeepsItsBound) {
  using T = TypeParam;
  double worst = 0;
  for (auto [n, m] : {std::pair<int64_t, int64_t>{1, 1},
                      {1, 7},
                      {5, 3},
                      {16, 16},
                      {17, 31},
                      {64, 65},
                      {100, 3},
                      {257, 129},
                      {1000, 500},
                      {1, 2000}}) {
    const std::vector<T> a = RandomReals<T>(n, 3 * n), b = RandomReals<T>(m, 5 * m + 1);
    EXPECT_EQ(Convolved(a, b, ConvolveMethod::kDirect), ConvolveReference<T>(a, b));
    const std::vector<double> truth = Oracle(a, b);
    const std::vector<T> c = Convolved(a, b, ConvolveMethod::kFft);
    ASSERT_EQ(c.size(), truth.size());
    const double bound = ConvolveErrorBound<T>(a, b);
    for (size_t k = 0; k < c.size(); ++k) {
      ASSERT_LE(std::fabs(c[k] - truth[k]), bound) << n << " x " << m << " at " << k;
      worst = std::max(worst, std::fabs(c[k] - truth[k]) / bound);
    }
    // Commutes in value within both bounds.
    const std::vector<T> d = Convolved(b, a, ConvolveMethod::kFft);
    for (size_t k = 0; k < c.size(); ++k) ASSERT_LE(std::fabs(c[k] - d[k]), 2 * bound);
  }
  std::printf("[ observed ] worst error / bound: %.4f\n", worst);
}

TYPED_TEST(ConvolveTest, ReportsEmptyOperands) {
  using T = TypeParam;
  const std::vector<T> none, one = {1};
  EXPECT_EQ(Convolve<T>(none, one).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Convolve<T>(one, none).status().code(), absl::StatusCode::kInvalidArgument);
}

TYPED_TEST(ConvolveTest, KeepsNanWhereItBelongsIfAsked) {
  using T = TypeParam;
  std::vector<T> a(300, 1), b(300, 1);
  a[299] = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> spread = Convolved(a, b, ConvolveMethod::kFft);
  EXPECT_TRUE(std::isnan(spread[0]));
  const std::vector<T> kept = Convolved(a, b, ConvolveMethod::kFft, true);
  EXPECT_EQ(kept[0], 1);
  EXPECT_EQ(kept[298], 299);
  EXPECT_TRUE(std::isnan(kept[299]));
  a[299] = std::numeric_limits<T>::infinity();
  EXPECT_EQ(Convolved(a, b, ConvolveMethod::kFft, true)[10], 11);
}

TEST(ConvolveMethodTest, TakesTheDirectWayForShortOperandsOnly) {
  EXPECT_TRUE(UseDirectConvolution(1, 1000000));
  EXPECT_TRUE(UseDirectConvolution(16, 100000));
  EXPECT_TRUE(UseDirectConvolution(64, 64));
  EXPECT_FALSE(UseDirectConvolution(4096, 4096));
  EXPECT_FALSE(UseDirectConvolution(int64_t{1} << 34, int64_t{1} << 34));
}

TEST(MultiplyExactTest, AgreesWithTheSchoolbookForEveryWidth) {
  int used_fft = 0, used_split = 0, used_schoolbook = 0;
  for (int bits : {1, 2, 8, 15, 20, 24, 27}) {
    for (auto [n, m] : {std::pair<int64_t, int64_t>{1, 1},
                        {3, 2},
                        {40, 9},
                        {300, 280},
                        {1024, 1024},
                        {3000, 5}}) {
      const std::vector<int64_t> a = RandomIntegers(n, bits, n + bits),
                                 b = RandomIntegers(m, bits, m + 7);
      absl::StatusOr<IntegerProduct> product = MultiplyExact(a, b);
      absl::StatusOr<std::vector<int64_t>> twin = MultiplyExactReference(a, b);
      ASSERT_TRUE(product.ok() && twin.ok());
      ASSERT_EQ(product->coefficients, *twin) << bits << " bits, " << n << " x " << m;
      if (product->parts == 0) ++used_schoolbook;
      if (product->parts == 1) ++used_fft;
      if (product->parts > 1) ++used_split;
      if (product->parts > 0) {
        ASSERT_LT(product->error_bound, 0.25);
        ASSERT_GT(product->error_bound, 0);
      }
    }
  }
  // All three ways were walked.
  EXPECT_GE(used_fft, 3);
  EXPECT_GE(used_split, 2);
  EXPECT_GE(used_schoolbook, 10);
}

TEST(MultiplyExactTest, CutsWhenTheBoundIsNotBelowAQuarter) {
  // The worst operands for rounding: all of the largest size, one sign.
  const int64_t n = 2048;
  for (int bits : {10, 18, 22, 26}) {
    const std::vector<int64_t> a(n, (int64_t{1} << bits) - 1), b(n, -((int64_t{1} << bits) - 1));
    absl::StatusOr<IntegerProduct> product = MultiplyExact(a, b);
    ASSERT_TRUE(product.ok());
    EXPECT_GE(product->parts, bits <= 10 ? 1 : 2) << bits;
    EXPECT_EQ(product->coefficients, *MultiplyExactReference(a, b)) << bits;
  }
}

TEST(MultiplyExactTest, ReportsCoefficientsThatDoNotFitAndKeepsTheExtremes) {
  const int64_t top = std::numeric_limits<int64_t>::max(),
                bottom = std::numeric_limits<int64_t>::min();
  for (auto multiply : {+[](const std::vector<int64_t>&a, const std::vector<int64_t>&b) {
                          absl::StatusOr<IntegerProduct> p = MultiplyExact(a, b);
                          return p.ok() ? absl::StatusOr<std::vector<int64_t>>(p->coefficients)
                                        : absl::StatusOr<std::vector<int64_t>>(p.status());
                        },
                        +[](const std::vector<int64_t>&a, const std::vector<int64_t>&b) {
                          return MultiplyExactReference(a, b);
                        }}) {
    EXPECT_EQ(*multiply({top}, {1}), (std::vector<int64_t>{top}));
    EXPECT_EQ(*multiply({bottom}, {1}), (std::vector<int64_t>{bottom}));
    EXPECT_EQ(multiply({bottom}, {-1}).status().code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(multiply({top, 1}, {1, 1}).status().code(), absl::StatusCode::kOutOfRange);
    // 2^126 four times over: the sum leaves 128 bits, and comes back.
    EXPECT_EQ(multiply({bottom, bottom, bottom, bottom}, {bottom, bottom, bottom, bottom})
                  .status()
                  .code(),
              absl::StatusCode::kOutOfRange);
    EXPECT_EQ(multiply({}, {1}).status().code(), absl::StatusCode::kInvalidArgument);
    // bottom^2 + bottom * (-2^63) = 0 in the middle, but the outer coefficients do not fit.
    EXPECT_EQ(multiply({bottom, bottom}, {bottom, bottom}).status().code(),
              absl::StatusCode::kOutOfRange);
  }
  const std::vector<int64_t> wide = RandomIntegers(600, 62, 5), small = RandomIntegers(600, 3, 6);
  // About 62 + 3 + 9 bits: does not fit, and says so rather than wrap.
  EXPECT_EQ(MultiplyExact(wide, small).status().code(), absl::StatusCode::kOutOfRange);
  // 50 + 3 + 10 bits: fits, and needs several parts.
  const std::vector<int64_t> a = RandomIntegers(600, 50, 7);
  absl::StatusOr<IntegerProduct> product = MultiplyExact(a, small);
  ASSERT_TRUE(product.ok());
  EXPECT_EQ(product->coefficients, *MultiplyExactReference(a, small));
}

}  // namespace
}  // namespace assay::fft
