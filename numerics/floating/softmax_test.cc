// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/floating/half.h"
#include "numerics/floating/softmax_reference.h"

namespace assay::floating {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr double kLn2 = 0.69314718055994530942;

using Doubles = std::vector<double>;

Doubles SoftmaxOf(Doubles x, AllMasked policy = AllMasked::kNaN) {
  Softmax(std::span<const double>(x), std::span<double>(x), policy);
  return x;
}
Doubles LogSoftmaxOf(Doubles x, AllMasked policy = AllMasked::kNaN) {
  LogSoftmax(std::span<const double>(x), std::span<double>(x), policy);
  return x;
}

TEST(LogSumExpTest, SmallCasesByHand) {
  EXPECT_EQ(LogSumExp(Doubles{}), -kInf);
  EXPECT_EQ(LogSumExp(Doubles{3.25}), 3.25);
  EXPECT_NEAR(LogSumExp(Doubles{0, 0}), kLn2, 1e-16);
  EXPECT_NEAR(LogSumExp(Doubles{1, 2, 3}), 3.4076059644443806, 1e-15);
  EXPECT_EQ(LogSumExp(std::vector<float>{1e8f, 1e8f}), 1e8f);
  EXPECT_EQ(LogSumExp(Doubles{1e308, -1e308}), 1e308);
}

TEST(LogSumExpTest, KeepsSmallTermsByLog1p) {
  EXPECT_NEAR(LogSumExp(Doubles{0, -40}) / 4.248354255291589e-18, 1, 1e-15);
  EXPECT_EQ(reference::ShiftedLogSumExp(std::span<const double>(Doubles{0, -40})), 0.0);
  EXPECT_NEAR(LogSumExp(std::vector<float>{0, -30}) / 9.3576e-14, 1, 1e-4);
}

TEST(LogSumExpTest, SpecialValues) {
  EXPECT_EQ(LogSumExp(Doubles{-kInf, -kInf}), -kInf);
  EXPECT_EQ(LogSumExp(Doubles{-kInf, 2}), 2);
  EXPECT_EQ(LogSumExp(Doubles{kInf, 2}), kInf);
  EXPECT_EQ(LogSumExp(Doubles{kInf, kInf, -kInf}), kInf);
  EXPECT_TRUE(std::isnan(LogSumExp(Doubles{kInf, kNaN})));
  EXPECT_TRUE(std::isnan(LogSumExp(Doubles{kNaN})));
  EXPECT_EQ(FloatBits(LogSumExp(Doubles{-kNaN})), 0x7ff8000000000000u);
}

TEST(SignedLogSumExpTest, KeepsTheSign) {
  const SignedLog a = SignedLogSumExp(Doubles{0, 0}, Doubles{1, -3});
  EXPECT_EQ(a.sign, -1);
  EXPECT_NEAR(a.log_abs, kLn2, 1e-15);
  EXPECT_EQ(SignedLogSumExp(Doubles{5, 5}, Doubles{1, -1}).sign, 0);
  EXPECT_EQ(SignedLogSumExp(Doubles{5, 5}, Doubles{1, -1}).log_abs, -kInf);
  EXPECT_NEAR(SignedLogSumExp(Doubles{1000, 999}, Doubles{2, 0}).log_abs, 1000 + kLn2, 1e-12);
  EXPECT_EQ(SignedLogSumExp(Doubles{kInf, 1}, Doubles{-1, 1}).sign, -1);
  EXPECT_TRUE(std::isnan(SignedLogSumExp(Doubles{kInf, kInf}, Doubles{-1, 1}).log_abs));
  EXPECT_TRUE(std::isnan(SignedLogSumExp(Doubles{1}, Doubles{kInf}).log_abs));
  EXPECT_EQ(SignedLogSumExp(Doubles{}, Doubles{}).sign, 0);
  EXPECT_EQ(SignedLogSumExp(Doubles{kInf, 0}, Doubles{0, 1}).log_abs, 0);
}

TEST(SoftmaxTest, SmallCasesByHandAndInPlace) {
  EXPECT_EQ(SoftmaxOf({7}), Doubles{1});
  EXPECT_EQ(SoftmaxOf({-2, -2}), (Doubles{0.5, 0.5}));
  EXPECT_EQ(SoftmaxOf({1e8, 1e8}), (Doubles{0.5, 0.5}));
  EXPECT_EQ(SoftmaxOf({1e308, -1e308}), (Doubles{1, 0}));
  EXPECT_EQ(SoftmaxOf({}), Doubles{});
  const Doubles y = SoftmaxOf({1, 2, 3});
  EXPECT_NEAR(y[0], 0.09003057317038046, 1e-16);
  EXPECT_NEAR(y[2], 0.6652409557748219, 1e-15);
}

TEST(SoftmaxTest, SpecialValuesAndPolicies) {
  EXPECT_EQ(SoftmaxOf({-kInf, 0, -kInf}), (Doubles{0, 1, 0}));
  EXPECT_EQ(SoftmaxOf({kInf, 0, 5}), (Doubles{1, 0, 0}));
  EXPECT_EQ(SoftmaxOf({kInf, -kInf, kInf}), (Doubles{0.5, 0, 0.5}));
  EXPECT_EQ(SoftmaxOf({-kInf, -kInf}, AllMasked::kZeros), (Doubles{0, 0}));
  for (const double value : SoftmaxOf({-kInf, -kInf})) EXPECT_TRUE(std::isnan(value));
  for (const double value : SoftmaxOf({1, kNaN, kInf})) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(LogSoftmaxOf({-kInf, 0}), (Doubles{-kInf, 0}));
  EXPECT_EQ(LogSoftmaxOf({kInf, 0}), (Doubles{0, -kInf}));
  EXPECT_EQ(FloatBits(LogSoftmaxOf({kInf, 0})[0]), 0u);
  EXPECT_NEAR(LogSoftmaxOf({kInf, kInf})[1], -kLn2, 1e-16);
  EXPECT_EQ(LogSoftmaxOf({-kInf, -kInf}, AllMasked::kZeros), (Doubles{-kInf, -kInf}));
  for (const double value : LogSoftmaxOf({-kInf, -kInf})) EXPECT_TRUE(std::isnan(value));
}

TEST(SoftmaxTest, SharesSumToOneAndOrderIsKept) {
  Random random(3);
  for (const int64_t n : {2, 10, 1000}) {
    std::vector<float> x(static_cast<size_t>(n));
    for (float& value : x) value = static_cast<float>(random.Normal() * 20);
    std::vector<float> y(x.size());
    Softmax(std::span<const float>(x), std::span<float>(y));
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      sum += static_cast<double>(y[i]);
      for (size_t j = 0; j < x.size(); ++j) {
        if (x[i] < x[j]) {
          ASSERT_LE(y[i], y[j]);
        }
      }
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(SoftmaxTest, ShiftByAPowerOfTwoChangesNothing) {
  const Doubles x = {0.5, 1.25, -3, 0.125};
  Doubles shifted = x;
  for (double& value : shifted) value += 1024;  // exact
  EXPECT_EQ(SoftmaxOf(x), SoftmaxOf(shifted));
}

TEST(CrossEntropyTest, SmallCasesByHand) {
  EXPECT_NEAR(*CrossEntropy(Doubles{1e8, 1e8}, 1), kLn2, 1e-16);
  EXPECT_NEAR(*CrossEntropy(std::vector<float>{1e8f, 1e8f}, 0), kLn2, 1e-7);
  EXPECT_NEAR(*CrossEntropy(Doubles{0, -40}, 0) / 4.248354255291589e-18, 1, 1e-15);
  EXPECT_EQ(*CrossEntropy(Doubles{0, -1000}, 1), 1000);
  EXPECT_EQ(*CrossEntropy(Doubles{5}, 0), 0);
}

TEST(CrossEntropyTest, RefusesTargetsOutOfRange) {
  for (const int64_t target : {-1, 3, 1000000}) {
    const auto loss = CrossEntropy(Doubles{1, 2, 3}, target);
    EXPECT_EQ(loss.status().code(), absl::StatusCode::kOutOfRange);
    Doubles g = {7, 7, 7};
    EXPECT_EQ(CrossEntropyGradient(Doubles{1, 2, 3}, target, std::span<double>(g)).code(),
              absl::StatusCode::kOutOfRange);
    EXPECT_EQ(g, (Doubles{7, 7, 7}));
  }
  EXPECT_EQ(CrossEntropy(Doubles{}, 0).status().message(), "target is 0, expected 0 to -1");
  Doubles g(2);
  EXPECT_EQ(CrossEntropyGradient(Doubles{1, 2, 3}, 0, std::span<double>(g)).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(CrossEntropyTest, SpecialValues) {
  EXPECT_EQ(*CrossEntropy(Doubles{0, -kInf}, 1), kInf);
  EXPECT_EQ(*CrossEntropy(Doubles{0, -kInf}, 0), 0);
  EXPECT_EQ(*CrossEntropy(Doubles{kInf, 0}, 0), 0);
  EXPECT_EQ(*CrossEntropy(Doubles{kInf, 0}, 1), kInf);
  EXPECT_TRUE(std::isnan(*CrossEntropy(Doubles{-kInf, -kInf}, 0)));
  EXPECT_EQ(*CrossEntropy(Doubles{-kInf, -kInf}, 0, AllMasked::kZeros), 0);
  EXPECT_TRUE(std::isnan(*CrossEntropy(Doubles{kNaN, 0}, 1)));
}

TEST(CrossEntropyTest, GradientIsTheDifferenceQuotientAndSumsToZero) {
  Random random(4);
  Doubles x(7);
  for (double& value : x) value = random.Normal() * 3;
  for (int64_t target = 0; target < 7; ++target) {
    Doubles g(7);
    ASSERT_TRUE(CrossEntropyGradient(x, target, std::span<double>(g)).ok());
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      constexpr double h =
          0x1p-17;  // near the cube root of u: truncation h^2 and rounding u/h meet
      Doubles up = x;
      Doubles down = x;
      up[i] += h;
      down[i] -= h;
      const double quotient = (*CrossEntropy(up, target) - *CrossEntropy(down, target)) / (2 * h);
      EXPECT_NEAR(g[i], quotient, 1e-9);
      sum += g[i];
    }
    EXPECT_NEAR(sum, 0, 1e-15);
  }
  Doubles g(2);
  ASSERT_TRUE(CrossEntropyGradient(Doubles{0, -40}, 0, std::span<double>(g)).ok());
  EXPECT_NEAR(g[0] / -4.248354255291589e-18, 1, 1e-14);  // p - 1 would be 0
  ASSERT_TRUE(CrossEntropyGradient(Doubles{0, -2000}, 1, std::span<double>(g)).ok());
  EXPECT_EQ(g, (Doubles{1, -1}));  // finite where the probability is 0
  ASSERT_TRUE(
      CrossEntropyGradient(Doubles{-kInf, -kInf}, 1, std::span<double>(g), AllMasked::kZeros).ok());
  EXPECT_EQ(g, (Doubles{0, 0}));
}

TEST(MeanCrossEntropyTest, AveragesOverCountedRows) {
  const std::vector<float> x = {0, 0, 1, 3, 5, 5};
  const std::vector<int32_t> targets = {0, -100, 1};
  std::vector<float> g(6, 9.0f);
  const auto loss = MeanCrossEntropy(x, 3, 2, targets, -100, std::span<float>(g));
  ASSERT_TRUE(loss.ok());
  EXPECT_EQ(loss->counted, 2);
  EXPECT_NEAR(loss->mean, kLn2, 1e-15);
  EXPECT_EQ(g, (std::vector<float>{-0.25f, 0.25f, 0, 0, 0.25f, -0.25f}));
  const auto none = MeanCrossEntropy(x, 3, 2, std::vector<int32_t>{-100, -100, -100});
  EXPECT_EQ(none->counted, 0);
  EXPECT_EQ(none->mean, 0);
  EXPECT_EQ(MeanCrossEntropy(x, 3, 2, std::vector<int32_t>{0, 2, 1}).status().message(),
            "row 1: target is 2, expected 0 to 1 or the ignored index -100");
  EXPECT_EQ(MeanCrossEntropy(x, 2, 2, std::vector<int32_t>{0, 1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(MeanCrossEntropy({}, 0, 5, {}).ok());
  const std::vector<float> bad = {0, -kInfF, 0, 0};
  EXPECT_EQ(MeanCrossEntropy(bad, 2, 2, std::vector<int32_t>{1, 0})->mean, kInf);
}

TEST(NaiveSoftmaxTest, FailsWhereTheArticleSaysItDoes) {
  std::vector<float> x = {89.0f, 0.0f};
  reference::NaiveSoftmax(std::span<const float>(x), std::span<float>(x));
  EXPECT_TRUE(std::isnan(x[0]));
  EXPECT_EQ(x[1], 0.0f);
  std::vector<Half> h = {Half(12), Half(0)};
  reference::NaiveSoftmax(std::span<const Half>(h), std::span<Half>(h));
  EXPECT_FALSE(h[0] == h[0]);
  std::vector<float> gap = {0.0f, -104.0f};
  reference::ShiftedSoftmax(std::span<const float>(gap), std::span<float>(gap));
  EXPECT_EQ(reference::NaiveCrossEntropy(std::span<const float>(gap), 1), kInfF);
  EXPECT_EQ(*CrossEntropy(std::vector<float>{0.0f, -104.0f}, 1), 104.0f);
  // Where nothing goes wrong the twins agree.
  const Doubles small = {0.1, -0.7, 1.5};
  EXPECT_NEAR(reference::NaiveLogSumExp(std::span<const double>(small)), LogSumExp(small), 1e-15);
}

TEST(SoftmaxTest, BitsAreTheOnesOnRecord) {
  std::vector<uint8_t> bytes;
  const auto append = [&](double x) {
    bytes.resize(bytes.size() + 8);
    StoreLittleEndian(x, bytes.data() + bytes.size() - 8);
  };
  Random random(8);
  for (const int64_t n : {1, 2, 10, 333}) {
    Doubles x(static_cast<size_t>(n));
    for (double& value : x) value = random.Normal() * 30;
    std::vector<float> f(x.begin(), x.end());
    append(LogSumExp(x));
    append(static_cast<double>(LogSumExp(f)));
    append(*CrossEntropy(x, n / 2));
    for (const double value : SoftmaxOf(x)) append(value);
    for (const double value : LogSoftmaxOf(x)) append(value);
    std::vector<float> y(f.size());
    Softmax(std::span<const float>(f), std::span<float>(y));
    for (const float value : y) append(static_cast<double>(value));
    ASSERT_TRUE(CrossEntropyGradient(f, n / 2, std::span<float>(y)).ok());
    for (const float value : y) append(static_cast<double>(value));
  }
  EXPECT_EQ(Sha256Hex(bytes), "81c67501445b15eb7f7afc8f242cdfb4a34a8ed43f3985dc2888da7044929eef");
}

}  // namespace
}  // namespace assay::floating
