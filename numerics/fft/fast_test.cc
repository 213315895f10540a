// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/fast.h"

#include <complex>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/reference.h"

namespace assay::fft {
namespace {

template <class T>
using Vec = std::vector<std::complex<T>>;

template <class T>
Vec<T> Signal(int64_t n) {
  Random random(static_cast<uint64_t>(n));
  Vec<T> x;
  for (int64_t j = 0; j < n; ++j) {
    const double re = random.Uniform(), im = random.Uniform();
    x.push_back({static_cast<T>(2 * re - 1), static_cast<T>(2 * im - 1)});
  }
  return x;
}

template <class T>
class FastTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FastTest, Types);

TYPED_TEST(FastTest, KeepsThePlansBoundOnEveryInstructionSet) {
  using T = TypeParam;
  double sum = 0, exact_sum = 0;
  for (int64_t n : {1, 16, 20, 64, 100, 128, 256, 360, 1000, 1009, 1024, 1500, 4096, 6561, 20000}) {
    const Plan<T> plan = *CreateFastPlan<T>(n), exact = *Plan<T>::Create(n);
    EXPECT_EQ(plan.Describe(), exact.Describe());
    const Vec<T> x = Signal<T>(n);
    Vec<T> y(x.size());
    std::vector<T> scratch(static_cast<size_t>(plan.scratch_size()));
    const std::vector<ComplexDoubleDouble> oracle = DftOracle(Vec<double>(x.begin(), x.end()));
    for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
      hwy::SetSupportedTargetsForTest(rest & -rest);
      // The engine is bound when the plan is made.
      const Plan<T> here = *CreateFastPlan<T>(n);
      ASSERT_TRUE(here.Forward(x, y, scratch).ok());
      EXPECT_LE(RelativeL2Error(y, oracle), plan.L2ErrorBound())
          << n << " " << hwy::TargetName(rest & -rest);
      hwy::SetSupportedTargetsForTest(0);
    }
    ASSERT_TRUE(plan.Forward(x, y, scratch).ok());
    sum += RelativeL2Error(y, oracle);
    ASSERT_TRUE(exact.Forward(x, y, scratch).ok());
    exact_sum += RelativeL2Error(y, oracle);
    Vec<T> back(x.size());
    ASSERT_TRUE(plan.Inverse(y, back, scratch).ok());
    double difference = 0, norm = 0;
    for (size_t j = 0; j < x.size(); ++j) {
      difference += std::norm(std::complex<double>(back[j]) - std::complex<double>(x[j]));
      norm += std::norm(std::complex<double>(x[j]));
    }
    const double e = plan.L2ErrorBound();
    EXPECT_LE(std::sqrt(difference / norm), 2.01 * e + std::numeric_limits<T>::epsilon()) << n;
  }
  EXPECT_LE(sum, 1.05 * exact_sum);
  std::printf("[ observed ] fused errors over exact ones: %.3f\n", sum / exact_sum);
}

TYPED_TEST(FastTest, RealPlansKeepTheirBound) {
  using T = TypeParam;
  for (int64_t n : {2, 128, 1000, 4096, 4095}) {
    const RealPlan<T> plan = *CreateFastRealPlan<T>(n);
    const Vec<T> signal = Signal<T>(n);
    std::vector<T> x, scratch(static_cast<size_t>(plan.scratch_size()));
    Vec<double> wide;
    for (std::complex<T> v : signal) {
      x.push_back(v.real());
      wide.push_back({v.real(), 0});
    }
    Vec<T> y(static_cast<size_t>(plan.spectrum_size()));
    ASSERT_TRUE(plan.Forward(x, y, scratch).ok());
    const std::vector<ComplexDoubleDouble> oracle = DftOracle(wide);
    EXPECT_LE(RelativeL2Error(y, std::span<const ComplexDoubleDouble>(oracle).first(y.size())),
              1.5 * plan.L2ErrorBound())
        << n;
  }
}

TEST(FastPlanTest, RefusesWhatPlanRefuses) {
  EXPECT_EQ(CreateFastPlan<float>(0).status(), Plan<float>::Create(0).status());
  EXPECT_EQ(CreateFastRealPlan<double>(-2).status(), RealPlan<double>::Create(-2).status());
}

}  // namespace
}  // namespace assay::fft
