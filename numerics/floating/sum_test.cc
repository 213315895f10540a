// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/sum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "hwy/targets.h"
#include "numerics/core/bits.h"
#include "numerics/core/sha256.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/half.h"
#include "numerics/floating/sum_reference.h"

namespace assay::floating {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();

uint64_t Bits(double x) { return FloatBits(x); }
uint32_t Bits(float x) { return FloatBits(x); }

// splitmix64: the tests' own numbers, so that they do not lean on the library's.
struct Draw {
  uint64_t state;
  uint64_t Next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
};

// Any sign, fraction and exponent in [-range, range].
template <class T>
std::vector<T> Wild(int64_t n, int range, uint64_t seed) {
  Draw draw{seed};
  std::vector<T> x(static_cast<size_t>(n));
  for (T& value : x) {
    const double fraction = 1 + draw.Uniform();
    const uint64_t bits = draw.Next();
    const int exponent = static_cast<int>(bits % static_cast<uint64_t>(2 * range + 1)) - range;
    value = static_cast<T>(std::ldexp((bits >> 63) != 0 ? -fraction : fraction, exponent));
  }
  return x;
}

template <class T>
void CheckBounds(const std::vector<T>& x) {
  ExactAccumulator exact;
  ExactAccumulator absolute;
  for (const T value : x) {
    exact.Add(static_cast<double>(value));
    absolute.Add(std::fabs(static_cast<double>(value)));
  }
  const double abs_sum = absolute.Round<double>();
  for (const SumMethod method : kSumMethods) {
    const T s = Sum(std::span<const T>(x), method);
    // The error itself, rounded once: subtract s from the exact sum.
    ExactAccumulator error = exact;
    error.Add(-static_cast<double>(s));
    const double observed = std::fabs(error.Round<double>());
    const double bound = SumErrorBound<T>(method, static_cast<int64_t>(x.size()), abs_sum,
                                          std::fabs(static_cast<double>(s)));
    EXPECT_LE(observed, bound) << SumMethodName(method) << " n=" << x.size();
  }
}

TEST(SumTest, SmallCasesByHand) {
  for (const SumMethod method : kSumMethods) {
    SCOPED_TRACE(SumMethodName(method));
    EXPECT_EQ(Bits(Sum(std::span<const double>(), method)), Bits(0.0));
    EXPECT_EQ(Bits(Sum(std::span<const float>(), method)), Bits(0.0f));
    const std::vector<double> one = {3.5};
    EXPECT_EQ(Sum(one, method), 3.5);
    const std::vector<double> small = {1, 2, 3, 4, 5};
    EXPECT_EQ(Sum(small, method), 15);
    const std::vector<float> many(1000, 0.25f);
    EXPECT_EQ(Sum(many, method), 250.0f);
  }
}

TEST(SumTest, SignedZerosAreKept) {
  for (const SumMethod method : kSumMethods) {
    SCOPED_TRACE(SumMethodName(method));
    for (const int64_t n : {1, 2, 31, 32, 33, 257, 1000}) {
      std::vector<double> x(static_cast<size_t>(n), -0.0);
      EXPECT_EQ(Bits(Sum(x, method)), Bits(-0.0)) << n;
      x.back() = 0.0;
      EXPECT_EQ(Bits(Sum(x, method)), Bits(0.0)) << n;
    }
    const std::vector<float> cancel = {1.5f, -1.5f};
    EXPECT_EQ(Bits(Sum(cancel, method)), Bits(0.0f));
  }
}

TEST(SumTest, SpecialValuesFollowOneRule) {
  for (const SumMethod method : kSumMethods) {
    SCOPED_TRACE(SumMethodName(method));
    for (const int64_t n : {2, 3, 40, 300, 1025}) {
      for (const int64_t at : {int64_t{0}, (n - 1) / 2, n - 2}) {
        std::vector<double> x(static_cast<size_t>(n), 1.0);
        x[static_cast<size_t>(at)] = kInf;
        EXPECT_EQ(Sum(x, method), kInf);
        x[static_cast<size_t>(at)] = -kInf;
        EXPECT_EQ(Sum(x, method), -kInf);
        x[static_cast<size_t>(at) + 1] = -kInf;
        EXPECT_EQ(Sum(x, method), -kInf);
        x[static_cast<size_t>(at)] = kInf;
        EXPECT_EQ(Bits(Sum(x, method)), Bits(kNaN));
        x[static_cast<size_t>(at)] = -kNaN;
        x[static_cast<size_t>(at) + 1] = 1;
        EXPECT_EQ(Bits(Sum(x, method)), Bits(kNaN)) << "canonical quiet NaN";
      }
    }
    const std::vector<float> f = {1.0f, std::numeric_limits<float>::infinity()};
    EXPECT_EQ(Sum(f, method), std::numeric_limits<float>::infinity());
  }
}

TEST(SumTest, OverflowOfPartialSumsIsMendedExceptByTheNaiveSum) {
  const std::vector<double> x = {kMax, kMax, -kMax, -kMax, 1.0};
  EXPECT_EQ(Sum(x, SumMethod::kNaive), kInf);
  std::vector<double> lanes(400, 0.0);
  lanes[0] = lanes[32] = kMax;   // overflow to +inf in lane 0
  lanes[1] = lanes[33] = -kMax;  // to -inf in lane 1
  lanes[399] = 1.0;
  for (const SumMethod method : {SumMethod::kPairwise, SumMethod::kKahan, SumMethod::kNeumaier,
                                 SumMethod::kDoubleDouble, SumMethod::kExact}) {
    if (method != SumMethod::kPairwise) {  // its tree pairs the large ones without overflow
      EXPECT_EQ(Sum(x, method), 1.0) << SumMethodName(method);
    }
    EXPECT_EQ(Sum(lanes, method), 1.0) << SumMethodName(method);
    const std::vector<double> out = {kMax, kMax};
    EXPECT_EQ(Sum(out, method), kInf);
  }
}

TEST(SumTest, TextbookCasesThatTellTheMethodsApart) {
  const std::vector<double> x = {1.0, 1e100, 1.0, -1e100};
  const std::span<const double> s(x);
  EXPECT_EQ(reference::NaiveSum(s), 0.0);
  EXPECT_EQ(reference::KahanSum(s), 0.0);  // the correction itself is lost
  EXPECT_EQ(reference::NeumaierSum(s), 2.0);
  EXPECT_EQ(Sum(s, SumMethod::kExact), 2.0);
  // Neumaier fails when the corrections cancel too; the exact sum does not.
  const std::vector<double> y = {1.0, 1e100, 1e200, -1e200, -1e100};
  EXPECT_EQ(reference::NeumaierSum(std::span<const double>(y)), 0.0);
  EXPECT_EQ(Sum(y, SumMethod::kExact), 1.0);
  const std::vector<double> tenths(10, 0.1);
  EXPECT_NE(Sum(tenths, SumMethod::kNaive), 1.0);
  EXPECT_EQ(Sum(tenths, SumMethod::kExact), 1.0);
}

TEST(SumTest, SixteenBitSumsStallAndCompensationHelps) {
  const std::vector<BFloat16> ones(1000, BFloat16(1));
  const std::span<const BFloat16> s(ones);
  EXPECT_EQ(static_cast<float>(reference::NaiveSum(s)), 256.0f);
  EXPECT_EQ(static_cast<float>(reference::KahanSum(s)), 1000.0f);
  EXPECT_EQ(static_cast<float>(reference::NeumaierSum(s)), static_cast<float>(BFloat16(256 + 256)));
  EXPECT_EQ(static_cast<float>(reference::PairwiseSum(s)), 1000.0f);
}

TEST(SumTest, KeepsItsBoundOnEveryLengthAroundLanesAndBlocks) {
  std::vector<int64_t> lengths;
  for (int64_t n = 1; n <= 70; ++n) lengths.push_back(n);
  for (const int64_t n : {127, 128, 129, 255, 256, 257, 511, 512, 513, 767, 1023, 1024, 1025, 2047,
                          2049, 4097, 6145, 10000}) {
    lengths.push_back(n);
  }
  for (const int64_t n : lengths) {
    CheckBounds(Wild<double>(n, 40, static_cast<uint64_t>(n)));
    CheckBounds(Wild<float>(n, 20, static_cast<uint64_t>(n)));
    CheckBounds(Wild<double>(n, 500, static_cast<uint64_t>(n)));
    CheckBounds(Wild<float>(n, 60, static_cast<uint64_t>(n)));
  }
}

TEST(SumTest, KeepsItsBoundUnderHeavyCancellation) {
  for (const int64_t half : {10, 100, 1000, 5000}) {
    std::vector<double> x = Wild<double>(half, 60, 7 + static_cast<uint64_t>(half));
    std::vector<float> f = Wild<float>(half, 30, 9 + static_cast<uint64_t>(half));
    for (int64_t i = 0; i < half; ++i) {
      x.push_back(-x[static_cast<size_t>(i)]);
      f.push_back(-f[static_cast<size_t>(i)]);
    }
    x.push_back(1e-20);
    f.push_back(1e-20f);
    CheckBounds(x);
    CheckBounds(f);
    EXPECT_EQ(Sum(x, SumMethod::kExact), 1e-20);
    EXPECT_EQ(Sum(f, SumMethod::kExact), 1e-20f);
  }
}

TEST(SumTest, KeepsItsBoundOnSubnormals) {
  std::vector<double> x = Wild<double>(3000, 4, 3);
  for (double& value : x) value *= 0x1p-1070;
  CheckBounds(x);
  std::vector<float> f = Wild<float>(3000, 4, 3);
  for (float& value : f) value *= 0x1p-145f;
  CheckBounds(f);
}

TEST(SumTest, PairwiseIsTheTreeThatItsDocumentationDescribes) {
  // Scalar twin: rows of 64 floats; eight rows in a tree, blocks as a binary counter, then lanes.
  for (const int64_t n : {1, 3, 63, 64, 65, 511, 512, 513, 5000, 12345}) {
    const std::vector<float> x = Wild<float>(n, 10, static_cast<uint64_t>(n) + 77);
    std::vector<std::pair<int, std::vector<float>>> stack;  // (level, 64 lanes)
    for (int64_t begin = 0; begin < n; begin += 512) {
      std::vector<float> rows(512, -0.0f);
      for (int64_t i = begin; i < std::min(n, begin + 512); ++i) {
        rows[static_cast<size_t>(i - begin)] = x[static_cast<size_t>(i)];
      }
      for (size_t width = 256; width >= 64; width /= 2) {
        std::vector<float> next(width);
        for (size_t row = 0; row < width / 64; ++row) {
          for (size_t lane = 0; lane < 64; ++lane) {
            next[row * 64 + lane] = rows[2 * row * 64 + lane] + rows[(2 * row + 1) * 64 + lane];
          }
        }
        rows = next;
      }
      int level = 0;
      while (!stack.empty() && stack.back().first == level) {
        for (size_t lane = 0; lane < 64; ++lane)
          rows[lane] = stack.back().second[lane] + rows[lane];
        stack.pop_back();
        ++level;
      }
      stack.emplace_back(level, rows);
    }
    while (stack.size() > 1) {
      const std::vector<float> last = stack.back().second;
      stack.pop_back();
      for (size_t lane = 0; lane < 64; ++lane) stack.back().second[lane] += last[lane];
    }
    std::vector<float> lanes = stack[0].second;
    for (size_t half = 32; half > 0; half /= 2) {
      for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    EXPECT_EQ(Bits(Sum(x, SumMethod::kPairwise)), Bits(lanes[0])) << n;
  }
}

TEST(SumTest, EveryVectorWidthGivesTheSameBits) {
  const std::vector<double> x = Wild<double>(7777, 30, 5);
  const std::vector<float> f = Wild<float>(7777, 15, 6);
  std::vector<uint64_t> expected;
  for (const SumMethod method : kSumMethods) {
    expected.push_back(Bits(Sum(x, method)));
    expected.push_back(Bits(Sum(f, method)));
  }
  int targets = 0;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    ++targets;
    size_t i = 0;
    for (const SumMethod method : kSumMethods) {
      EXPECT_EQ(Bits(Sum(x, method)), expected[i++]) << hwy::TargetName(target);
      EXPECT_EQ(Bits(Sum(f, method)), expected[i++]) << hwy::TargetName(target);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(targets, HWY_ARCH_WASM ? 1 : 2);
}

TEST(SumTest, UnalignedViewsGiveTheSameBits) {
  const std::vector<float> x = Wild<float>(1000, 10, 8);
  for (size_t offset = 1; offset <= 3; ++offset) {
    std::vector<float> moved(offset, std::numeric_limits<float>::quiet_NaN());
    moved.insert(moved.end(), x.begin(), x.end());
    moved.push_back(std::numeric_limits<float>::quiet_NaN());
    const std::span<const float> view(moved.data() + offset, x.size());
    for (const SumMethod method : kSumMethods) {
      EXPECT_EQ(Bits(Sum(view, method)), Bits(Sum(x, method)));
    }
  }
}

TEST(ExactAccumulatorTest, AnyPermutationAndAnyGroupingGiveTheSameBits) {
  for (const int range : {5, 60, 900}) {
    std::vector<double> x = Wild<double>(5000, range, 11 + static_cast<uint64_t>(range));
    const uint64_t expected = Bits(Sum(x, SumMethod::kExact));
    Draw draw{99};
    for (int round = 0; round < 20; ++round) {
      for (size_t i = x.size() - 1; i > 0; --i) std::swap(x[i], x[draw.Next() % (i + 1)]);
      EXPECT_EQ(Bits(Sum(x, SumMethod::kExact)), expected);
      const size_t cut = draw.Next() % x.size();
      ExactAccumulator first;
      ExactAccumulator second;
      first.Add(std::span<const double>(x).subspan(0, cut));
      second.Add(std::span<const double>(x).subspan(cut));
      second.Merge(first);
      EXPECT_EQ(Bits(second.Round<double>()), expected);
    }
  }
}

TEST(ExactAccumulatorTest, RoundsTiesToEvenAndSeesFarStickyBits) {
  const auto sum = [](std::vector<double> x) { return Sum(x, SumMethod::kExact); };
  EXPECT_EQ(sum({1.0, 0x1p-53}), 1.0);
  EXPECT_EQ(sum({1.0, 0x1p-53, 0x1p-1074}), 1.0 + 0x1p-52);
  EXPECT_EQ(sum({1.0, 0x1p-53, -0x1p-1074}), 1.0);
  EXPECT_EQ(sum({1.0 + 0x1p-52, 0x1p-53}), 1.0 + 0x1p-51);
  EXPECT_EQ(sum({-1.0, -0x1p-53, -0x1p-1074}), -1.0 - 0x1p-52);
  EXPECT_EQ(sum({0x1p-1074, 0x1p-1074}), 0x1p-1073);
  EXPECT_EQ(sum({0x1p-1022, -0x1p-1074}), 0x1.ffffffffffffep-1023);
  EXPECT_EQ(sum({kMax, 0x1p969}), kMax);
  EXPECT_EQ(sum({kMax, 0x1p970}), kInf);  // a tie at the end of the range goes to infinity
  EXPECT_EQ(sum({kMax, 0x1p970, -0x1p-1074}), kMax);
  EXPECT_EQ(sum({-kMax, -0x1p970}), -kInf);
}

TEST(ExactAccumulatorTest, RoundsToF32Once) {
  ExactAccumulator a;
  a.Add(1.0);
  a.Add(0x1p-24);
  a.Add(0x1p-80);  // through f64 this would be a tie and go down
  EXPECT_EQ(a.Round<float>(), 1.0f + 0x1p-23f);
  EXPECT_EQ(a.Round<double>(), 1.0 + 0x1p-24);
  ExactAccumulator tiny;
  tiny.Add(0x1p-150);
  EXPECT_EQ(tiny.Round<float>(), 0.0f);
  tiny.Add(0x1p-1000);
  EXPECT_EQ(tiny.Round<float>(), 0x1p-149f);
  ExactAccumulator large;
  large.Add(0x1.ffffffp127);
  EXPECT_EQ(large.Round<float>(), std::numeric_limits<float>::infinity());
  large.Add(-1.0);
  EXPECT_EQ(large.Round<float>(), std::numeric_limits<float>::max());
}

TEST(ExactAccumulatorTest, CountsManyAdditionsWithoutLosingACarry) {
  ExactAccumulator a;
  const std::vector<double> x(10001, 0x1.fffffffffffffp+31);
  for (int i = 0; i < 20; ++i) a.Add(std::span<const double>(x));
  EXPECT_EQ(a.Round<double>(), 200020.0 * 0x1.fffffffffffffp+31);
  for (int i = 0; i < 20; ++i) {
    for (const double value : x) a.Add(-value);
  }
  EXPECT_EQ(a.Round<double>(), 0.0);
}

TEST(ExactAccumulatorTest, DoubleWordHoldsTheRest) {
  ExactAccumulator a;
  a.Add(1.0);
  a.Add(0x1p-60);
  const HiLo<double> s = a.RoundToDoubleWord();
  EXPECT_EQ(s.hi, 1.0);
  EXPECT_EQ(s.lo, 0x1p-60);
}

// What is added in blocks is what is added one by one: spreads of exponents on both sides of what
// the blocks take, lengths around theirs, and blocks that they must refuse.
TEST(ExactAccumulatorTest, BlocksEqualSingleAdditions) {
  const auto check = [](const auto& x) {
    ExactAccumulator whole, single;
    whole.Add(std::span(x));
    for (const auto value : x) single.Add(static_cast<double>(value));
    EXPECT_EQ(Bits(whole.Round<double>()), Bits(single.Round<double>()));
    const HiLo<double> a = whole.RoundToDoubleWord(), b = single.RoundToDoubleWord();
    EXPECT_EQ(Bits(a.lo), Bits(b.lo));
  };
  for (const int64_t n :
       {63, 64, 65, 95, 96, 100, 1000, 2047, 2048, 2049, 2111, 2112, 4096, 5000}) {
    for (const int range : {0, 1, 10, 20, 28, 36, 40, 60, 300, 900}) {
      std::vector<double> x = Wild<double>(n, range, static_cast<uint64_t>(n * 1000 + range));
      check(x);
      x.push_back(-Sum(x, SumMethod::kExact));
      check(x);
      check(Wild<float>(n, std::min(range, 100), static_cast<uint64_t>(n)));
    }
    std::vector<double> x(static_cast<size_t>(n), -0.0);
    check(x);
    x[static_cast<size_t>(n / 2)] = 0.0;
    check(x);
    for (const double special : {kNaN, kInf, -kInf, kMax, 0x1p-1074, 0x1p1000, 0x1p999}) {
      x.assign(static_cast<size_t>(n), 1.0);
      x[static_cast<size_t>(n / 2)] = special;
      check(x);
      x[static_cast<size_t>(n / 3)] = -special;
      check(x);
      x.assign(static_cast<size_t>(n), special);
      check(x);
    }
    // One sign, close to the largest that the block is cut for: the sums fill their 53 bits.
    for (const double sign : {1.0, -1.0}) {
      x = Wild<double>(n, 0, static_cast<uint64_t>(n) + 5);
      for (double& value : x) value = sign * (1.875 + std::fabs(value) / 16);
      check(x);
    }
    // All bits set: no carry is lost, and every number has its last bit.
    x.assign(static_cast<size_t>(n), 0x1.fffffffffffffp0);
    check(x);
    for (double& value : x) value *= 0x1p-1050;
    check(x);
  }
}

TEST(ExactAccumulatorTest, ProductsOfAnyExponentAreExact) {
  ExactAccumulator a;
  a.AddProduct(0x1.0000001p0, 0x1.0000001p0);  // 1 + 2^-27 + 2^-56
  a.Add(-1.0);
  a.Add(-0x1p-27);
  EXPECT_EQ(a.Round<double>(), 0x1p-56);
  ExactAccumulator wide;
  wide.AddProduct(kMax, kMax);
  wide.AddProduct(0x1p-1074, 0x1p-1074);
  EXPECT_EQ(wide.Round<double>(), kInf);
  wide.AddProduct(-kMax, kMax);
  EXPECT_EQ(Bits(wide.Round<double>()), Bits(0.0));  // 2^-2148 rounds to 0
  for (int i = 0; i < 4; ++i) wide.AddProduct(0x1p-1074, 0x1p-1);
  EXPECT_EQ(wide.Round<double>(), 0x1p-1073);  // and is seen as a sticky bit only
  wide.AddProduct(0x1p-1074, -0x1.8p-1);       // 1.25 + 2^-1074 units of 2^-1074: 1
  EXPECT_EQ(wide.Round<double>(), 0x1p-1074);
  wide.AddProduct(0x1p-1074, 0.25);  // 1.5 and a little: 2
  EXPECT_EQ(wide.Round<double>(), 0x1p-1073);
  ExactAccumulator zero;
  zero.AddProduct(-0.0, 5);
  EXPECT_EQ(Bits(zero.Round<double>()), Bits(-0.0));
  zero.AddProduct(-0.0, -5);
  EXPECT_EQ(Bits(zero.Round<double>()), Bits(0.0));
  zero.AddProduct(kInf, -2);
  EXPECT_EQ(zero.Round<double>(), -kInf);
  zero.AddProduct(kInf, 0);
  EXPECT_EQ(Bits(zero.Round<double>()), Bits(kNaN));
}

TEST(SumTest, SixteenBitNumbersAreAddedAsF32) {
  for (const int64_t n : {0, 1, 64, 511, 512, 513, 3000}) {
    const std::vector<float> wild = Wild<float>(n, 8, static_cast<uint64_t>(n) + 3);
    std::vector<Half> half;
    std::vector<BFloat16> brain;
    for (const float value : wild) {
      half.emplace_back(value);
      brain.emplace_back(value);
    }
    std::vector<float> half_wide, brain_wide;
    for (const Half value : half) half_wide.push_back(value.ToFloat());
    for (const BFloat16 value : brain) brain_wide.push_back(value.ToFloat());
    for (const SumMethod method : kSumMethods) {
      EXPECT_EQ(Bits(Sum(half, method)), Bits(Sum(half_wide, method))) << n;
      EXPECT_EQ(Bits(Sum(brain, method)), Bits(Sum(brain_wide, method))) << n;
    }
  }
  const std::vector<Half> zeros(3, Half(-0.0f));
  for (const SumMethod method : kSumMethods) EXPECT_EQ(Bits(Sum(zeros, method)), Bits(-0.0f));
}

TEST(SumTest, BitsAreTheOnesOnRecord) {
  std::vector<uint8_t> bytes;
  const auto append = [&](uint64_t bits) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
  };
  for (const int64_t n : {5, 64, 1000, 4099}) {
    const std::vector<double> x = Wild<double>(n, 50, static_cast<uint64_t>(n));
    const std::vector<float> f = Wild<float>(n, 20, static_cast<uint64_t>(n));
    for (const SumMethod method : kSumMethods) {
      append(Bits(Sum(x, method)));
      append(Bits(Sum(f, method)));
    }
  }
  EXPECT_EQ(Sha256Hex(bytes), "65f96fe9ce847abfc371d6c799bc694aecc860e2ff43974eea2c924a95105326");
}

}  // namespace
}  // namespace assay::floating
