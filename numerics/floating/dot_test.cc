// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/dot.h"

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
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/half.h"
#include "numerics/floating/ill_conditioned.h"

namespace assay::floating {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();

// Any sign and fraction, exponents from -range to range.
template <class T>
std::vector<T> Wild(int64_t n, int range, uint64_t seed) {
  Random random(seed);
  std::vector<T> x(static_cast<size_t>(n));
  for (T& value : x) {
    const double fraction = (1 + random.Uniform()) * (random.Integer(2) == 0 ? 1 : -1);
    value = static_cast<T>(
        std::ldexp(fraction, static_cast<int>(random.Integer(2 * range + 1)) - range));
  }
  return x;
}

// |r - x . y|, rounded once, and |x| . |y|.
struct Exact {
  ExactAccumulator sum;
  ExactAccumulator absolute;
  double ErrorOf(double r) const {
    ExactAccumulator error = sum;
    error.Add(-r);
    return std::fabs(error.Round<double>());
  }
};
template <class T>
Exact ExactOf(const std::vector<T>& x, const std::vector<T>& y) {
  Exact exact;
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
    exact.sum.AddProduct(a, b);
    exact.absolute.AddProduct(std::fabs(a), std::fabs(b));
  }
  return exact;
}

// T: the vectors. B: of the bound.
template <class B, class T>
void CheckBounds(const std::vector<T>& x, const std::vector<T>& y) {
  const Exact exact = ExactOf(x, y);
  const int64_t n = static_cast<int64_t>(x.size());
  const double absolute = exact.absolute.Round<double>() * (1 + 0x1p-50);
  const std::span<const T> a(x), b(y);
  const auto check = [&](DotMethod method, double r) {
    EXPECT_LE(exact.ErrorOf(r), DotErrorBound<B>(method, n, absolute, std::fabs(r)))
        << static_cast<int>(method) << " n=" << n;
  };
  check(DotMethod::kDot, static_cast<double>(Dot(a, b)));
  check(DotMethod::kDot2, static_cast<double>(Dot2(a, b)));
  check(DotMethod::kExactDot, static_cast<double>(ExactDot(a, b)));
  if constexpr (std::is_same_v<T, double>) {
    EXPECT_EQ(ExactDot(a, b), exact.sum.Round<double>());
  } else {
    EXPECT_EQ(ExactDot(a, b), exact.sum.Round<float>());
  }
}

TEST(DotTest, SmallCasesByHand) {
  const std::vector<double> x = {1, 2, 3}, y = {4, -5, 6};
  EXPECT_EQ(Dot(x, y), 12);
  EXPECT_EQ(Dot2(x, y), 12);
  EXPECT_EQ(ExactDot(x, y), 12);
  const std::vector<Half> h = {Half(1.5f), Half(60000.0f)}, g = {Half(2.0f), Half(60000.0f)};
  EXPECT_EQ(Dot(std::span<const Half>(h), std::span<const Half>(g)),
            static_cast<float>(3 + static_cast<double>(Half(60000.0f)) *
                                       static_cast<double>(Half(60000.0f))));
  const std::vector<double> none;
  EXPECT_EQ(FloatBits(Dot(none, none)), 0u);
  EXPECT_EQ(FloatBits(Dot2(none, none)), 0u);
  EXPECT_EQ(FloatBits(ExactDot(none, none)), 0u);
}

TEST(DotTest, KeepsItsBoundAtEveryLength) {
  for (const int64_t n : {1,  2,  3,  15,  16,  17,  31,  32,  33,   63,   64,   65,
                          95, 96, 97, 255, 256, 257, 511, 513, 1023, 1025, 2049, 5000}) {
    const uint64_t seed = static_cast<uint64_t>(n);
    CheckBounds<double>(Wild<double>(n, 30, seed), Wild<double>(n, 30, seed + 1));
    CheckBounds<double>(Wild<double>(n, 400, seed), Wild<double>(n, 50, seed + 1));
    CheckBounds<float>(Wild<float>(n, 20, seed), Wild<float>(n, 20, seed + 1));
    CheckBounds<float>(Wild<float>(n, 60, seed), Wild<float>(n, 60, seed + 1));
    CheckBounds<float>(Wild<Half>(n, 10, seed), Wild<Half>(n, 10, seed + 1));
    CheckBounds<float>(Wild<BFloat16>(n, 60, seed), Wild<BFloat16>(n, 60, seed + 1));
  }
}

TEST(DotTest, KeepsItsBoundUnderHeavyCancellation) {
  Random random(8);
  for (const double condition : {1e4, 1e12, 1e20, 1e30, 1e100}) {
    for (const int64_t n : {64, 333, 2000}) {
      const HardDot dot = IllConditionedDot(n, condition, random);
      CheckBounds<double>(dot.x, dot.y);
    }
  }
}

// Beyond the range of TwoProduct on both sides: only the exact product is at home there.
TEST(DotTest, ExactDotTakesAnyExponent) {
  for (const int range : {1000, 1022, 1070}) {
    for (const int64_t n : {5, 64, 700, 3000}) {
      std::vector<double> x = Wild<double>(n, range, static_cast<uint64_t>(n));
      std::vector<double> y = Wild<double>(n, range, static_cast<uint64_t>(n) + 9);
      for (double& value : x) value = std::isfinite(value) ? value : 1.0;
      for (double& value : y) value = std::isfinite(value) ? value : 1.0;
      EXPECT_EQ(ExactDot(x, y), ExactOf(x, y).sum.Round<double>());
    }
  }
  const std::vector<double> x(100, 0x1.8p-537), y(100, 0x1p-537);
  EXPECT_EQ(ExactDot(x, y), 150 * 0x1p-1074);  // each alone rounds to 2 2^-1074
  const std::vector<double> tiny(64, 0x1p-600);
  EXPECT_EQ(FloatBits(ExactDot(tiny, tiny)), 0u);
}

TEST(DotTest, SpecialValuesFollowOneRule) {
  const auto all = [](const std::vector<double>& x, const std::vector<double>& y) {
    return std::vector<double>{Dot(x, y), Dot2(x, y), ExactDot(x, y)};
  };
  for (const size_t n : {3, 40, 300, 1500}) {
    std::vector<double> x(n, 1.0), y(n, 1.0);
    const size_t at = n / 2;
    x[at] = kInf;
    for (const double r : all(x, y)) EXPECT_EQ(r, kInf);
    y[at] = -2;
    for (const double r : all(x, y)) EXPECT_EQ(r, -kInf);
    y[at] = 0;
    for (const double r : all(x, y)) EXPECT_EQ(FloatBits(r), FloatBits(kNaN));
    y[at] = 1;
    y[at - 1] = -kInf;
    for (const double r : all(x, y)) EXPECT_EQ(FloatBits(r), FloatBits(kNaN));
    x.assign(n, 1.0);
    y.assign(n, 1.0);
    x[0] = -kNaN;
    for (const double r : all(x, y)) EXPECT_EQ(FloatBits(r), FloatBits(kNaN));
    // Overflow on the way is mended.
    x[0] = kMax;
    y[0] = 2;
    x[at] = -kMax;
    y[at] = 2;
    for (const double r : all(x, y)) EXPECT_EQ(r, static_cast<double>(n - 2));
    x[at] = 1;
    for (const double r : all(x, y)) EXPECT_EQ(r, kInf);
  }
  const std::vector<float> f = {std::numeric_limits<float>::max(), 1}, two = {2, 1};
  EXPECT_EQ(Dot(f, two), std::numeric_limits<float>::infinity());
  const std::vector<double> minus = {-0.0, -0.0}, one = {1, 1};
  for (const double r : all(minus, one)) EXPECT_EQ(FloatBits(r), FloatBits(-0.0));
}

TEST(DotTest, EveryVectorWidthAndAlignmentGivesTheSameBits) {
  const std::vector<double> x = Wild<double>(3001, 20, 1), y = Wild<double>(3001, 20, 2);
  const std::vector<float> f(x.begin(), x.end()), g(y.begin(), y.end());
  const auto all = [&](size_t offset) {
    const std::span<const double> a = std::span(x).subspan(offset),
                                  b = std::span(y).subspan(offset);
    const std::span<const float> c = std::span(f).subspan(offset), d = std::span(g).subspan(offset);
    return std::vector<double>{Dot(a, b),
                               Dot2(a, b),
                               ExactDot(a, b),
                               static_cast<double>(Dot(c, d)),
                               static_cast<double>(Dot2(c, d)),
                               static_cast<double>(ExactDot(c, d))};
  };
  const std::vector<double> expected = all(1);
  int targets = 0;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    ++targets;
    EXPECT_EQ(all(1), expected) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(targets, HWY_ARCH_WASM ? 1 : 2);
  const std::vector<double> moved_x(x.begin() + 1, x.end()), moved_y(y.begin() + 1, y.end());
  EXPECT_EQ(Dot(moved_x, moved_y), expected[0]);
  EXPECT_EQ(Dot2(moved_x, moved_y), expected[1]);
}

TEST(DotTest, BitsAreTheOnesOnRecord) {
  std::vector<uint8_t> bytes;
  const auto append = [&](double value) {
    bytes.resize(bytes.size() + 8);
    StoreLittleEndian(value, bytes.data() + bytes.size() - 8);
  };
  for (const int64_t n : {5, 64, 1000, 4099}) {
    const std::vector<double> x = Wild<double>(n, 50, static_cast<uint64_t>(n));
    const std::vector<float> f(x.begin(), x.end());
    append(Dot(x, x));
    append(Dot2(x, x));
    append(static_cast<double>(Dot(f, f)));
    append(static_cast<double>(Dot2(f, f)));
  }
  EXPECT_EQ(Sha256Hex(bytes), "c7c7a7a3dc33703b4ba69538ae15a3a7fcdc98aaae9badfbabe33f50dbd013e4");
}

#ifndef __EMSCRIPTEN__
TEST(DotDeathTest, ChecksTheSizes) {
  const std::vector<double> x(3), y(4);
  EXPECT_DEATH(Dot(x, y), "3 against 4");
}
#endif

}  // namespace
}  // namespace assay::floating
