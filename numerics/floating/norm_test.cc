// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/norm.h"

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

namespace assay::floating {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

using Doubles = std::vector<double>;

TEST(NormTest, SmallCasesByHand) {
  EXPECT_EQ(Norm1(Doubles{1, -2, 3}), 6);
  EXPECT_EQ(Norm2(Doubles{3, -4}), 5);
  EXPECT_EQ(NormInf(Doubles{1, -7, 3}), 7);
  EXPECT_EQ(Norm2(std::vector<float>{2, -3, 6}), 7.0f);
  EXPECT_EQ(Norm1(std::vector<float>{2, -3, 6}), 11.0f);
  EXPECT_EQ(NormInf(std::vector<float>{2, -3, 6}), 6.0f);
  for (const Doubles& zero : {Doubles{}, Doubles{-0.0}, Doubles(100, -0.0)}) {
    EXPECT_EQ(FloatBits(Norm1(zero)), 0u);
    EXPECT_EQ(FloatBits(Norm2(zero)), 0u);
    EXPECT_EQ(FloatBits(NormInf(zero)), 0u);
  }
  EXPECT_EQ(Hypot(3.0, -4.0), 5);
  EXPECT_EQ(Hypot(2.0, 3.0, -6.0), 7);
  EXPECT_EQ(Hypot(3.0f, 4.0f), 5.0f);
  EXPECT_EQ(FloatBits(Hypot(-0.0, -0.0)), 0u);
}

// Lengths around the lanes and blocks, each element once in the last place.
TEST(NormTest, TakesEveryElementOfEveryLength) {
  for (const size_t n : {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1000}) {
    for (const size_t at : {size_t{0}, n / 2, n - 1}) {
      Doubles x(n, 0.0);
      x[at] = -3;
      EXPECT_EQ(Norm1(x), 3) << n << ' ' << at;
      EXPECT_EQ(Norm2(x), 3) << n << ' ' << at;
      EXPECT_EQ(NormInf(x), 3) << n << ' ' << at;
      const std::vector<float> f(x.begin(), x.end());
      EXPECT_EQ(Norm1(f), 3);
      EXPECT_EQ(Norm2(f), 3);
      EXPECT_EQ(NormInf(f), 3);
    }
    EXPECT_EQ(Norm2(Doubles(n, 1.0)), std::sqrt(static_cast<double>(n)));
  }
}

TEST(NormTest, NeverAFalseZeroOrInfinity) {
  EXPECT_EQ(Norm2(Doubles{3 * 0x1p-700, 4 * 0x1p-700}), 5 * 0x1p-700);
  EXPECT_EQ(Norm2(Doubles{3 * 0x1p700, 4 * 0x1p700}), 5 * 0x1p700);
  EXPECT_EQ(Norm2(Doubles(4, kLeast)), 2 * kLeast);
  EXPECT_EQ(Norm2(Doubles(4, kMax / 4)), kMax / 2);
  EXPECT_EQ(Norm2(Doubles{kMax, kLeast}), kMax);
  EXPECT_EQ(Norm2(Doubles{kMax, kMax}), kInf);
  EXPECT_EQ(Norm2(Doubles{1e200, 1e-200, 1}), 1e200);
  EXPECT_EQ(Norm2(Doubles{0, kLeast, 0}), kLeast);
  EXPECT_EQ(Norm1(Doubles{kMax / 2, kMax / 2}), kMax);
  EXPECT_EQ(Norm1(Doubles{kMax, kMax}), kInf);
  EXPECT_EQ(Norm2(std::vector<float>{3e38f, 1e-38f}), 3e38f);
  EXPECT_EQ(Norm2(std::vector<float>{3 * 0x1p-149f, 4 * 0x1p-149f}), 5 * 0x1p-149f);
  EXPECT_EQ(Norm2(std::vector<float>{3e38f, 3e38f}), std::numeric_limits<float>::infinity());
  EXPECT_EQ(Hypot(kMax, 1.0), kMax);
  EXPECT_EQ(Hypot(kMax, kMax), kInf);
  EXPECT_EQ(Hypot(3 * kLeast, 4 * kLeast), 5 * kLeast);
  EXPECT_NEAR(Hypot(kMax / 2, kMax / 2, kMax / 2) / (kMax / 2), std::sqrt(3.0), 4e-16);
  EXPECT_EQ(Hypot(3 * 0x1p125f, 4 * 0x1p125f), 5 * 0x1p125f);
}

TEST(NormTest, InfinityBeatsNan) {
  for (const size_t n : {2, 40, 1000}) {
    for (const size_t at : {size_t{0}, n / 2, n - 1}) {
      Doubles x(n, 1.0);
      const auto all = [&] {
        const std::vector<float> f(x.begin(), x.end());
        return Doubles{Norm1(x),
                       Norm2(x),
                       NormInf(x),
                       static_cast<double>(Norm1(f)),
                       static_cast<double>(Norm2(f)),
                       static_cast<double>(NormInf(f))};
      };
      x[at] = -kNaN;
      for (const double r : all()) EXPECT_EQ(FloatBits(r), FloatBits(kNaN)) << n << ' ' << at;
      x[(at + 1) % n] = -kInf;
      for (const double r : all()) EXPECT_EQ(r, kInf) << n << ' ' << at;
      x[at] = 1;
      for (const double r : all()) EXPECT_EQ(r, kInf) << n << ' ' << at;
    }
  }
  EXPECT_EQ(Hypot(kNaN, -kInf), kInf);
  EXPECT_EQ(Hypot(kInf, 1.0, kNaN), kInf);
  EXPECT_EQ(FloatBits(Hypot(-kNaN, 1.0)), FloatBits(kNaN));
  EXPECT_EQ(Hypot(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()),
            std::numeric_limits<float>::infinity());
}

TEST(NormTest, EveryVectorWidthGivesTheSameBitsAndTheOnesOnRecord) {
  Random random(5);
  Doubles x(1003);
  for (double& value : x) value = random.Normal();
  Doubles tiny = x;
  for (double& value : tiny) value *= 1e-250;
  const std::vector<float> f(x.begin(), x.end());
  const auto all = [&] {
    return Doubles{Norm1(x),
                   Norm2(x),
                   NormInf(x),
                   Norm2(tiny),
                   static_cast<double>(Norm1(f)),
                   static_cast<double>(Norm2(f)),
                   Hypot(x[0], x[1], x[2])};
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
  EXPECT_EQ(Sha256Hex(bytes), "d9f7de97d6c9bd7894ca11985e262c5c928073316f0d5807e6447b2d8fdf379b");
}

TEST(NormTest, BoundsAsNumbers) {
  EXPECT_EQ(NormErrorBound<double>(NormKind::kInfinity, 5, 1), 0);
  EXPECT_EQ(NormErrorBound<double>(NormKind::kTwo, 0, 0), 0);
  EXPECT_NEAR(NormErrorBound<double>(NormKind::kOne, 1024, 1) / (10 * 0x1p-53), 1, 1e-5);
  EXPECT_NEAR(NormErrorBound<double>(NormKind::kTwo, 1024, 2) / (2 * 6.5 * 0x1p-53), 1, 1e-5);
  EXPECT_NEAR(NormErrorBound<float>(NormKind::kTwo, 1024, 1) / 0x1p-24, 1, 1e-5);
}

}  // namespace
}  // namespace assay::floating
