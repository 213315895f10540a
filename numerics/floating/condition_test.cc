// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/condition.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/floating/cancellation.h"
#include "numerics/floating/ill_conditioned.h"
#include "numerics/floating/sum.h"

namespace assay::floating {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(ConditionTest, OfSumsByHand) {
  EXPECT_EQ(SumCondition(std::vector<double>{1, 2, 3}), 1);
  EXPECT_EQ(SumCondition(std::vector<double>{3, -1}), 2);
  EXPECT_EQ(SumCondition(std::vector<double>{1, -1}), kInf);
  EXPECT_EQ(SumCondition(std::vector<double>{}), 1);
  EXPECT_EQ(SumCondition(std::vector<double>{0, -0.0}), 1);
  EXPECT_TRUE(std::isnan(SumCondition(std::vector<double>{1, kNaN})));
  EXPECT_TRUE(std::isnan(SumCondition(std::vector<double>{1, kInf})));
  EXPECT_EQ(SumCondition(std::vector<double>{1e16, 1, -1e16}), 2e16);
  EXPECT_EQ(SumCondition(std::vector<float>{1e8f, 1, -1e8f}), 2e8 + 1);
  EXPECT_EQ(DotCondition(std::vector<double>{1, 1}, std::vector<double>{1, 1}), 2);
  EXPECT_EQ(DotCondition(std::vector<double>{3, 1}, std::vector<double>{1, -1}), 4);
}

TEST(ConditionTest, OfFunctionsByFormulaAndByDefinition) {
  // x -> x - 1 near 1 is the textbook case; log near 1; exp at x has condition |x|.
  EXPECT_DOUBLE_EQ(ScalarCondition(1.001, 0.001, 1.0), 1001.0);
  const auto log = [](double x) { return Log(x); };
  const auto exp = [](double x) { return Exp(x); };
  const auto root = [](double x) { return std::sqrt(x); };
  EXPECT_NEAR(ScalarConditionByDefinition(log, 1.001) / (1 / Log(1.001)), 1, 1e-3);
  EXPECT_NEAR(ScalarConditionByDefinition(exp, 30.0), 30, 1e-2);
  EXPECT_NEAR(ScalarConditionByDefinition(root, 7.0), 0.5, 1e-6);
}

TEST(ErrorReportTest, CountsUlpsAndDigits) {
  const ErrorReport one = CompareWith(1.0f + 0x1p-23f, 1.0);
  EXPECT_EQ(one.ulps, 1);
  EXPECT_EQ(one.relative, 0x1p-23);
  EXPECT_NEAR(one.digits, 6.92, 0.01);
  const ErrorReport third = CompareWith(1.0 / 3, HiLo<double>{1.0 / 3, 0x1.5555555555555p-56});
  EXPECT_NEAR(third.ulps, 1.0 / 3, 1e-10);
  EXPECT_EQ(CompareWith(2.0, HiLo<double>{2.0, 0}).digits, 17);
  EXPECT_EQ(CompareWith(0.0, HiLo<double>{0.0, 0}).relative, 0);
  EXPECT_EQ(CompareWith(1.0, HiLo<double>{0.0, 0}).relative, kInf);
  EXPECT_EQ(CompareWith(5e-324, HiLo<double>{0.0, 0}).ulps, 1);
  EXPECT_EQ(CompareWith(2.0, HiLo<double>{1.0, 0}).digits, 0);
  EXPECT_EQ(CompareWith(kNaN, HiLo<double>{1.0, 0}).digits, 0);
  EXPECT_EQ(CompareWith(kNaN, HiLo<double>{kNaN, 0}).ulps, 0);
  EXPECT_EQ(CompareWith(kInf, HiLo<double>{kInf, 0}).ulps, 0);
  EXPECT_EQ(CompareWith(0x1p-149f, 0.0).ulps, 1);
}

TEST(IllConditionedTest, ReachesTheConditionNumberAskedFor) {
  Random random(5);
  for (const double goal : {1e1, 1e4, 1e8, 1e16, 1e24, 1e32, 1e100}) {
    for (const int64_t n : {60, 1000}) {
      const double reached = SumCondition(IllConditionedSum<double>(n, goal, random));
      EXPECT_GE(reached, goal / 100) << goal << ' ' << n;
      EXPECT_LE(reached, 100 * std::fmax(goal, static_cast<double>(n))) << goal << ' ' << n;
      if (goal <= 1e30) {
        const double single = SumCondition(IllConditionedSum<float>(n, goal, random));
        EXPECT_GE(single, goal / 100) << goal << ' ' << n;
        EXPECT_LE(single, 100 * std::fmax(goal, static_cast<double>(n))) << goal << ' ' << n;
      }
      const HardDot dot = IllConditionedDot(n, goal, random);
      const double dotted = DotCondition(dot.x, dot.y);
      EXPECT_GE(dotted, goal / 100) << goal << ' ' << n;
      EXPECT_LE(dotted, 100 * std::fmax(goal, static_cast<double>(n))) << goal << ' ' << n;
    }
  }
}

// The bounds of sum.h where they bite: with the condition number far beyond 1/u.
TEST(IllConditionedTest, SumsKeepTheirBounds) {
  Random random(6);
  for (const double goal : {1e2, 1e7, 1e15, 1e20, 1e28}) {
    for (const int64_t n : {64, 333, 5000}) {
      const std::vector<double> x = IllConditionedSum<double>(n, goal, random);
      const std::vector<float> f = IllConditionedSum<float>(n, goal, random);
      double abs_x = 0;
      double abs_f = 0;
      for (const double value : x) abs_x += std::fabs(value);
      for (const float value : f) abs_f += std::fabs(static_cast<double>(value));
      abs_x *= 1 + 1e-12;
      abs_f *= 1 + 1e-12;
      const double exact_x = Sum(x, SumMethod::kExact);
      double exact_f = 0;
      {
        const std::vector<double> wide(f.begin(), f.end());
        exact_f = Sum(wide, SumMethod::kExact);
      }
      for (const SumMethod method : kSumMethods) {
        const double s = Sum(x, method);
        EXPECT_LE(std::fabs(s - exact_x), SumErrorBound<double>(method, n, abs_x, std::fabs(s)) +
                                              0x1p-53 * std::fabs(exact_x))
            << SumMethodName(method) << ' ' << goal << ' ' << n;
        const float t = Sum(f, method);
        EXPECT_LE(
            std::fabs(static_cast<double>(t) - exact_f),
            SumErrorBound<float>(method, n, abs_f, std::fabs(static_cast<double>(t))) * (1 + 1e-7))
            << SumMethodName(method) << ' ' << goal << ' ' << n;
      }
    }
  }
}

TEST(QuadraticTest, SmallCasesByHand) {
  const Roots<double> two = QuadraticRoots(1.0, -3.0, 2.0);
  EXPECT_EQ(two.count, 2);
  EXPECT_EQ(two.first, 1);
  EXPECT_EQ(two.second, 2);
  EXPECT_EQ(QuadraticRoots(1.0, 2.0, 1.0).count, 1);
  EXPECT_EQ(QuadraticRoots(1.0, 2.0, 1.0).first, -1);
  EXPECT_EQ(QuadraticRoots(1.0, 0.0, 1.0).count, 0);
  EXPECT_EQ(QuadraticRoots(0.0, 2.0, -4.0).first, 2);
  EXPECT_EQ(QuadraticRoots(0.0, 2.0, -4.0).count, 1);
  EXPECT_EQ(QuadraticRoots(0.0, 0.0, 1.0).count, 0);
  EXPECT_EQ(QuadraticRoots(0.0, 0.0, 0.0).count, -1);
  EXPECT_EQ(QuadraticRoots(1.0, 0.0, 0.0).first, 0);
  EXPECT_EQ(QuadraticRoots(1.0, 0.0, -4.0).second, 2);
  EXPECT_EQ(QuadraticRoots(1.0, 5.0, 0.0).first, -5);
  EXPECT_EQ(QuadraticRoots(1.0, 5.0, 0.0).second, 0);
  EXPECT_EQ(QuadraticRoots(kNaN, 5.0, 0.0).count, 0);
  EXPECT_EQ(QuadraticRoots(1.0, kInf, 0.0).count, 0);
  EXPECT_EQ(NaiveQuadraticRoots(1.0, -3.0, 2.0).second, 2);
  EXPECT_EQ(NaiveQuadraticRoots(0.0, 0.0, 0.0).count, -1);
}

TEST(QuadraticTest, KeepsTheSmallRootThatTheSchoolFormulaLoses) {
  for (const double b : {1e3, 1e6, 1e8, 1e12}) {
    // (x - b)(x - 1/b), up to the rounding of the coefficients: the small root is near 1/b.
    const Roots<double> stable = QuadraticRoots(1.0, -b, 1.0);
    const Roots<double> naive = NaiveQuadraticRoots(1.0, -b, 1.0);
    // 1/b + 1/b^3 + ... to first orders; fine for b >= 1e3 at 1e-15 with three terms.
    const double r = 1 / b;
    const double expected = r + r * r * r + 2 * r * r * r * r * r;
    EXPECT_NEAR(stable.first / expected, 1, 1e-15) << b;
    if (b >= 1e8) {
      EXPECT_GT(std::fabs(naive.first / expected - 1), 1e-2) << b;
    }
  }
}

TEST(QuadraticTest, DiscriminantDoesNotCancel) {
  // Kahan's example: roots that differ in the last digits only.
  const Roots<double> roots = QuadraticRoots(94906265.625, -2 * 94906267.0, 94906268.375);
  ASSERT_EQ(roots.count, 2);
  EXPECT_EQ(roots.first, 1.0);
  EXPECT_NEAR(roots.second, 1.000000028975958, 1e-15);
}

TEST(QuadraticTest, ComplexRootsAndTheWholeRange) {
  const ComplexRoots<double> two = ComplexQuadraticRoots(1.0, -2.0, 5.0);
  EXPECT_EQ(two.count, 2);
  EXPECT_EQ(two.first.re, 1);
  EXPECT_EQ(two.first.im, -2);
  EXPECT_EQ(two.second.im, 2);
  const ComplexRoots<double> real = ComplexQuadraticRoots(1.0, -3.0, 2.0);
  EXPECT_EQ(real.count, 2);
  EXPECT_EQ(real.second.re, 2);
  EXPECT_EQ(real.second.im, 0);
  EXPECT_EQ(ComplexQuadraticRoots(0.0, 2.0, -4.0).first.re, 2);
  EXPECT_EQ(ComplexQuadraticRoots(0.0, 0.0, 0.0).count, -1);
  EXPECT_EQ(ComplexQuadraticRoots(kNaN, 1.0, 1.0).count, 0);
  EXPECT_EQ(ComplexQuadraticRoots(1.0f, 0.0f, 9.0f).second.im, 3.0f);
  // x^2 - 3 10^300 x + 2 10^600 out of range, yet the roots of its scaled form are not.
  const Roots<double> far = QuadraticRoots(0x1p-500, -3 * 0x1p500, 0x1p1001);
  EXPECT_EQ(far.count, 2);
  EXPECT_NEAR(far.second / (3 * 0x1p1000), 1, 1e-15);
  const double max = std::numeric_limits<double>::max();
  const Roots<double> ends = QuadraticRoots(max, -max, -max);
  EXPECT_NEAR(ends.first, (1 - std::sqrt(5.0)) / 2, 1e-15);
  EXPECT_NEAR(ends.second, (1 + std::sqrt(5.0)) / 2, 1e-15);
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(QuadraticRoots(least, -3 * least, 2 * least).second, 2);
  EXPECT_EQ(QuadraticRoots(1.0, max, 1.0).first, -max);
  EXPECT_EQ(QuadraticRoots(1.0, 0.0, -least).second, std::sqrt(least));
}

TEST(VarianceTest, SmallCasesByHand) {
  for (const VarianceMethod method :
       {VarianceMethod::kOnePass, VarianceMethod::kTwoPass, VarianceMethod::kTwoPassCorrected,
        VarianceMethod::kWelford}) {
    EXPECT_DOUBLE_EQ(Variance<double>(std::vector<double>{1, 2, 3, 4}, method), 5.0 / 3);
    EXPECT_EQ(Variance<double>(std::vector<double>{2, 2}, method), 0);
    EXPECT_TRUE(std::isnan(Variance<double>(std::vector<double>{2}, method)));
    EXPECT_TRUE(std::isnan(Variance<double>(std::vector<double>{}, method)));
    EXPECT_TRUE(std::isnan(Variance<double>(std::vector<double>{1, kNaN, 2}, method)));
    EXPECT_TRUE(std::isnan(Variance<double>(std::vector<double>{1, kInf, 2}, method)));
  }
}

TEST(VarianceTest, ShiftedDataTellTheMethodsApart) {
  std::vector<double> x;
  for (int i = 0; i < 1000; ++i) x.push_back(1e9 + (i % 4));  // variance 1.25 * 1000 / 999
  const double exact = 1.25 * 1000 / 999;
  EXPECT_NEAR(Variance<double>(x, VarianceMethod::kTwoPass), exact, 1e-12);
  EXPECT_NEAR(Variance<double>(x, VarianceMethod::kTwoPassCorrected), exact, 1e-14);
  EXPECT_NEAR(Variance<double>(x, VarianceMethod::kWelford), exact, 1e-6);
  EXPECT_GT(std::fabs(Variance<double>(x, VarianceMethod::kOnePass) - exact), 1);
}

TEST(ConditionTest, BitsAreTheOnesOnRecord) {
  std::vector<uint8_t> bytes(8 * 400);
  size_t used = 0;
  const auto append = [&](double x) {
    StoreLittleEndian(x, bytes.data() + used);
    used += 8;
  };
  Random random(7);
  const std::vector<double> x = IllConditionedSum<double>(100, 1e20, random);
  for (const double value : x) append(value);
  const HardDot dot = IllConditionedDot(50, 1e30, random);
  for (const double value : dot.y) append(value);
  append(SumCondition(x));
  append(QuadraticRoots(1.0, -1e7, 3.0).first);
  append(NaiveQuadraticRoots(1.0, -1e7, 3.0).first);
  append(Variance<double>(x, VarianceMethod::kWelford));
  append(CompareWith(1.1, HiLo<double>{1.0, 0}).digits);
  bytes.resize(used);
  EXPECT_EQ(Sha256Hex(bytes), "abf525696c6c5bcb38406130a3892e247762c8de400f5e1837c15fe7b7aedc7e");
}

}  // namespace
}  // namespace assay::floating
