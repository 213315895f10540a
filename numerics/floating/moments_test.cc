// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/moments.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "hwy/targets.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/floating/half.h"

namespace assay::floating {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();

using Doubles = std::vector<double>;

Moments Of(const Doubles& x) { return Moments(std::span<const double>(x)); }

TEST(MomentsTest, SmallCasesByHand) {
  const Moments m = Of({1, 2, 3, 4});
  EXPECT_EQ(m.count(), 4);
  EXPECT_EQ(m.Mean(), 2.5);
  EXPECT_EQ(m.Variance(), 5.0 / 3);
  EXPECT_EQ(m.PopulationVariance(), 1.25);
  EXPECT_EQ(m.StandardDeviation(), std::sqrt(5.0 / 3));
  const Moments none;
  EXPECT_TRUE(std::isnan(none.Mean()) && std::isnan(none.Variance()));
  EXPECT_TRUE(std::isnan(none.PopulationVariance()));
  const Moments one = Of({7});
  EXPECT_EQ(one.Mean(), 7);
  EXPECT_TRUE(std::isnan(one.Variance()));
  EXPECT_EQ(one.PopulationVariance(), 0);
  const Moments zeros = Of({0, -0.0, 0});
  EXPECT_EQ(zeros.Mean(), 0);
  EXPECT_EQ(zeros.Variance(), 0);
  EXPECT_EQ(zeros.StandardDeviation(), 0);
}

// Numbers whose variance is known: i mod 4, far away, at any length, in f32 and in 16 bits too.
TEST(MomentsTest, IsExactWhereTheNumbersAllowIt) {
  for (const int64_t n : {4, 8, 32, 64, 100, 508, 512, 516, 1024, 4096, 10000}) {
    for (const double shift : {0.0, 1e9, -1e12}) {
      Doubles x;
      for (int64_t i = 0; i < n; ++i) x.push_back(shift + static_cast<double>(i % 4));
      const Moments m = Of(x);
      const double exact = 1.25 * static_cast<double>(n) / static_cast<double>(n - 1);
      EXPECT_NEAR(m.Variance() / exact, 1, 1e-15) << n << ' ' << shift;
      EXPECT_EQ(m.Mean(), shift + 1.5);
    }
    std::vector<float> f;
    std::vector<Half> h;
    std::vector<BFloat16> b;
    for (int64_t i = 0; i < n; ++i) {
      f.push_back(4096.0f + static_cast<float>(i % 4));
      h.emplace_back(64.0f + static_cast<float>(i % 4));
      b.emplace_back(64.0f + static_cast<float>(i % 4));
    }
    EXPECT_EQ(Moments(std::span<const float>(f)).PopulationVariance(), 1.25);
    EXPECT_EQ(Moments(std::span<const Half>(h)).PopulationVariance(), 1.25);
    EXPECT_EQ(Moments(std::span<const BFloat16>(b)).Mean(), 65.5);
  }
}

TEST(MomentsTest, PartsMergeToTheWhole) {
  Random random(3);
  Doubles x(3000);
  for (double& value : x) value = 1e6 + random.Normal();
  const Moments whole = Of(x);
  for (const size_t cut : {size_t{1}, size_t{100}, size_t{512}, size_t{2999}}) {
    Moments first(std::span<const double>(x).first(cut));
    const Moments second(std::span<const double>(x).subspan(cut));
    Moments reversed = second;
    reversed.Merge(first);
    first.Merge(second);
    for (const Moments& m : {first, reversed}) {
      EXPECT_EQ(m.count(), 3000);
      EXPECT_NEAR(m.Variance() / whole.Variance(), 1, 1e-14);
      EXPECT_NEAR(m.Mean() / whole.Mean(), 1, 2e-16);
    }
  }
  Moments singly;
  for (const double value : x) singly.Add(value);
  EXPECT_NEAR(singly.Variance() / whole.Variance(), 1, 1e-14);
  Moments nothing = whole;
  nothing.Merge(Moments());
  EXPECT_EQ(nothing.Variance(), whole.Variance());
  nothing = Moments();
  nothing.Merge(whole);
  EXPECT_EQ(nothing.Variance(), whole.Variance());
}

TEST(MomentsTest, NoFiniteNumberLeavesTheRange) {
  const Moments large = Of({kMax, -kMax, kMax, -kMax});
  EXPECT_EQ(large.Mean(), 0);
  EXPECT_EQ(large.Variance(), kInf);  // it is 4/3 of 3e616
  EXPECT_EQ(large.StandardDeviation(), kInf);
  EXPECT_EQ(Of({kMax, kMax, kMax}).Mean(), kMax);
  EXPECT_EQ(Of({kMax, kMax, kMax}).Variance(), 0);
  const Moments far = Of({1e200, 3e200});
  EXPECT_EQ(far.Variance(), kInf);
  EXPECT_NEAR(far.StandardDeviation() / (std::sqrt(2.0) * 1e200), 1, 1e-15);
  EXPECT_EQ(far.Mean(), 2e200);
  const Moments small = Of({1e-200, 3e-200});
  EXPECT_EQ(small.Variance(), 0);
  EXPECT_NEAR(small.StandardDeviation() / (std::sqrt(2.0) * 1e-200), 1, 1e-15);
  EXPECT_EQ(Of({5e-324, 5e-324}).Mean(), 5e-324);
  // Parts of different size: the larger one decides, zeros do not.
  Moments mixed = Of({0, 0});
  mixed.Merge(Of({1e-200, 3e-200}));
  EXPECT_NEAR(mixed.Mean() / 1e-200, 1, 1e-15);
  EXPECT_NEAR(mixed.StandardDeviation() / (std::sqrt(2.0) * 1e-200), 1, 1e-15);
  mixed.Merge(Of({1e250}));
  EXPECT_NEAR(mixed.Mean() / 2e249, 1, 1e-15);
  // Parts in different units of which neither is negligible.
  Moments a = Of({0x1p302, 3 * 0x1p302});
  const Moments b = Of({4 * 0x1p302, 20 * 0x1p302});
  const double deviation = Of({1, 3, 4, 20}).StandardDeviation();
  Moments reversed = b;
  reversed.Merge(a);
  a.Merge(b);
  EXPECT_NEAR(a.StandardDeviation() / (deviation * 0x1p302), 1, 1e-15);
  EXPECT_NEAR(reversed.StandardDeviation() / (deviation * 0x1p302), 1, 1e-15);
  EXPECT_EQ(a.Mean(), 7 * 0x1p302);
  mixed.Merge(Of({-1e250}));
  EXPECT_NEAR(mixed.StandardDeviation() / (1e250 * std::sqrt(0.4)), 1, 1e-15);
}

TEST(MomentsTest, SpecialValues) {
  for (const double bad : {kNaN, kInf, -kInf}) {
    Moments m = Of({1, bad, 2});
    EXPECT_TRUE(std::isnan(m.Variance()) && std::isnan(m.StandardDeviation()));
    EXPECT_TRUE(std::isnan(m.PopulationVariance()));
    if (bad == bad) {
      EXPECT_EQ(m.Mean(), bad);
      Moments both = m;
      both.Merge(Of({-bad}));
      EXPECT_TRUE(std::isnan(both.Mean()));
    } else {
      EXPECT_TRUE(std::isnan(m.Mean()));
    }
    Moments other = Of({5, 6});
    other.Merge(m);
    EXPECT_TRUE(std::isnan(other.Variance()));
  }
}

TEST(MomentsTest, EveryVectorWidthGivesTheSameBitsAndTheOnesOnRecord) {
  Random random(6);
  Doubles x(2000);
  for (double& value : x) value = 10 + random.Normal();
  Doubles small = x;
  for (double& value : small) value *= 1e-220;
  const auto all = [&] {
    const Moments a = Of(x), b = Of(small);
    return Doubles{a.Mean(), a.Variance(), b.Mean(), b.StandardDeviation()};
  };
  const Doubles expected = all();
  int targets = 0;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    ++targets;
    EXPECT_EQ(all(), expected) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(targets, HWY_ARCH_WASM ? 1 : 2);
  std::vector<uint8_t> bytes(8 * expected.size());
  for (size_t i = 0; i < expected.size(); ++i) StoreLittleEndian(expected[i], bytes.data() + 8 * i);
  EXPECT_EQ(Sha256Hex(bytes), "e93f80432fe99bec2bcba757b8b695d2e6335d2a7b3f60a5125aeb9d2d936323");
}

}  // namespace
}  // namespace assay::floating
