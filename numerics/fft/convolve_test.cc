// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/convolve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/targets.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/overlap_save.h"
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
  absl::StatusOr<V> p = Convolve<T>(V{1, 1}, V{1, 2});
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

TEST(ConvolveErrorBoundTest, HoldsBeyondTheRangeOfSquares) {
  Random random(3);
  std::vector<double> a, b;
  for (int i = 0; i < 100; ++i) {
    a.push_back(random.Uniform(-1, 1));
    b.push_back(random.Uniform(-1, 1));
  }
  const ConvolveOptions by_fft = {.method = ConvolveMethod::kFft};
  const double bound = ConvolveErrorBound<double>(a, b, by_fft);
  // Powers of two go through the bound unchanged, whatever their squares do.
  for (const auto& [of_a, of_b] : {std::pair{-560, 330}, {-560, 560}, {540, -1000}, {-500, 1000}}) {
    std::vector<double> scaled_a = a, scaled_b = b;
    for (double& v : scaled_a) v = std::ldexp(v, of_a);
    for (double& v : scaled_b) v = std::ldexp(v, of_b);
    const double scaled = ConvolveErrorBound<double>(scaled_a, scaled_b, by_fft);
    EXPECT_NEAR(std::ldexp(scaled, -of_a - of_b), bound, 1e-4 * bound) << of_a << " " << of_b;
    // The products of spectra are in range here, so the bound speaks of them.
    if (of_a + of_b < 400) {
      const std::vector<double> c = *Convolve<double>(scaled_a, scaled_b, by_fft);
      const std::vector<double> direct =
          *Convolve<double>(scaled_a, scaled_b, {.method = ConvolveMethod::kDirect});
      for (size_t k = 0; k < c.size(); ++k) EXPECT_LE(std::fabs(c[k] - direct[k]), 2 * scaled);
    }
  }
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

// Every pair of short lengths: blocks, corners and rests of the vectors.
TYPED_TEST(ConvolveTest, DirectEqualsTheTwinInBitsForAllShortLengths) {
  using T = TypeParam;
  for (int64_t n = 1; n <= 70; ++n) {
    const std::vector<T> a = RandomReals<T>(n, static_cast<uint64_t>(n));
    for (int64_t m = 1; m <= 70; m += m < 20 ? 1 : 7) {
      const std::vector<T> b = RandomReals<T>(m, static_cast<uint64_t>(m + 1000));
      ASSERT_EQ(Convolved(a, b, ConvolveMethod::kDirect), ConvolveReference<T>(a, b))
          << n << " x " << m;
    }
  }
  for (auto [n, m] : {std::pair<int64_t, int64_t>{300, 299}, {131, 700}, {513, 5}, {2, 999}}) {
    const std::vector<T> a = RandomReals<T>(n, 1), b = RandomReals<T>(m, 2);
    ASSERT_EQ(Convolved(a, b, ConvolveMethod::kDirect), ConvolveReference<T>(a, b));
  }
}

TYPED_TEST(ConvolveTest, EveryInstructionSetGivesTheSameBits) {
  using T = TypeParam;
  std::vector<std::vector<T>> first;
  for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(target);
    std::vector<std::vector<T>> results;
    for (auto [n, m] :
         {std::pair<int64_t, int64_t>{1, 1}, {37, 5}, {64, 64}, {5, 200}, {700, 130}}) {
      const std::vector<T> a = RandomReals<T>(n, 1), b = RandomReals<T>(m, 2);
      for (ConvolveMethod method :
           {ConvolveMethod::kDirect, ConvolveMethod::kFft, ConvolveMethod::kOverlapSave}) {
        results.push_back(Convolved(a, b, method));
      }
    }
    if (first.empty()) first = results;
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(results[i] == first[i]) << hwy::TargetName(target) << ", result " << i;
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// The same outputs as the full convolution, whichever are wanted.
TYPED_TEST(ConvolveTest, CutsTheFullConvolutionToEveryMode) {
  using T = TypeParam;
  ThreadPool pool(3);
  for (auto [n, m] : {std::pair<int64_t, int64_t>{1, 1},
                      {1, 7},
                      {6, 6},
                      {7, 4},
                      {4, 7},
                      {100, 33},
                      {33, 100},
                      {500, 64},
                      {20000, 97}}) {
    const std::vector<T> a = RandomReals<T>(n, 7), b = RandomReals<T>(m, 8);
    const std::vector<T> full = ConvolveReference<T>(a, b);
    const std::vector<double> truth = Oracle(a, b);
    for (ConvolveMode mode : {ConvolveMode::kFull, ConvolveMode::kSame, ConvolveMode::kValid}) {
      // As scipy.signal's.
      const int64_t begin = mode == ConvolveMode::kFull   ? 0
                            : mode == ConvolveMode::kSame ? (m - 1) / 2
                                                          : std::min(n, m) - 1;
      const int64_t count = mode == ConvolveMode::kFull   ? n + m - 1
                            : mode == ConvolveMode::kSame ? n
                                                          : std::max(n, m) - std::min(n, m) + 1;
      for (ConvolveMethod method : {ConvolveMethod::kAuto, ConvolveMethod::kDirect,
                                    ConvolveMethod::kFft, ConvolveMethod::kOverlapSave}) {
        ConvolveOptions options;
        options.method = method;
        options.mode = mode;
        const std::vector<T> c = *Convolve<T>(a, b, options);
        ASSERT_EQ(static_cast<int64_t>(c.size()), count);
        const double bound = ConvolveErrorBound<T>(a, b, options);
        for (int64_t k = 0; k < count; ++k) {
          const size_t at = static_cast<size_t>(begin + k);
          if (method == ConvolveMethod::kDirect) {
            ASSERT_EQ(c[static_cast<size_t>(k)], full[at]);
          }
          ASSERT_LE(std::fabs(c[static_cast<size_t>(k)] - truth[at]), bound)
              << n << " x " << m << " at " << k;
        }
        options.pool = &pool;
        ASSERT_EQ(*Convolve<T>(a, b, options), c);
      }
    }
  }
}

TYPED_TEST(ConvolveTest, CorrelatesLagByLag) {
  using T = TypeParam;
  const std::vector<T> a = RandomReals<T>(50, 3), b = RandomReals<T>(20, 4);
  const std::vector<T> c = *Correlate<T>(a, b);
  ASSERT_EQ(c.size(), 69u);
  for (int64_t k = 0; k < 69; ++k) {
    double sum = 0;
    for (int64_t j = 0; j < 20; ++j) {
      const int64_t at = j + k - 19;
      if (at >= 0 && at < 50) {
        sum += static_cast<double>(a[static_cast<size_t>(at)]) * b[static_cast<size_t>(j)];
      }
    }
    ASSERT_NEAR(c[static_cast<size_t>(k)], sum, 20 * std::numeric_limits<T>::epsilon());
  }
  ConvolveOptions valid;
  valid.mode = ConvolveMode::kValid;
  EXPECT_EQ(*Correlate<T>(a, b, valid), std::vector<T>(c.begin() + 19, c.begin() + 50));
  EXPECT_EQ(Correlate<T>(a, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TYPED_TEST(ConvolveTest, WrapsAroundInCyclicConvolution) {
  using T = TypeParam;
  for (int64_t n : {1, 2, 3, 16, 17, 34, 100, 101, 360}) {
    const std::vector<T> a = RandomReals<T>(n, 5), b = RandomReals<T>(n, 6);
    for (ConvolveMethod method :
         {ConvolveMethod::kAuto, ConvolveMethod::kDirect, ConvolveMethod::kFft}) {
      ConvolveOptions options;
      options.method = method;
      absl::StatusOr<std::vector<T>> c = ConvolveCyclic<T>(a, b, options);
      ASSERT_TRUE(c.ok()) << c.status();
      ASSERT_EQ(static_cast<int64_t>(c->size()), n);
      for (int64_t k = 0; k < n; ++k) {
        double sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          sum += static_cast<double>(a[static_cast<size_t>(j)]) *
                 b[static_cast<size_t>((k - j + n) % n)];
        }
        ASSERT_NEAR((*c)[static_cast<size_t>(k)], sum, 2.1 * ConvolveErrorBound<T>(a, b) + 1e-13)
            << n << " at " << k;
      }
    }
  }
  const std::vector<T> two = {1, 2}, three = {1, 2, 3};
  EXPECT_EQ(ConvolveCyclic<T>(two, three).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ConvolveCyclic<T>({}, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TYPED_TEST(ConvolveTest, StreamsTheSameBitsHoweverTheSignalIsCut) {
  using T = TypeParam;
  for (auto [n, m, block] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 0},
                             {1, 1, 1},
                             {1, 50, 64},
                             {3, 5, 5},
                             {100, 5, 16},
                             {1000, 33, 0},
                             {997, 64, 65},
                             {192, 33, 64},
                             {5000, 100, 512}}) {
    const std::vector<T> filter = RandomReals<T>(m, 11), signal = RandomReals<T>(n, 12);
    absl::StatusOr<OverlapSave<T>> plan = OverlapSave<T>::Create(filter, block);
    ASSERT_TRUE(plan.ok()) << plan.status();
    std::vector<T> whole(static_cast<size_t>(n + m - 1));
    std::vector<T> scratch(static_cast<size_t>(plan->scratch_size()),
                           std::numeric_limits<T>::quiet_NaN());
    ASSERT_TRUE(plan->Convolve(signal, 0, n + m - 1, std::span<T>(whole), scratch).ok());
    const std::vector<double> truth = Oracle(signal, filter);
    const double bound = plan->ErrorBound(signal);
    for (size_t k = 0; k < whole.size(); ++k) ASSERT_LE(std::fabs(whole[k] - truth[k]), bound);
    // Any range, the same bits.
    const int64_t begin = (n + m) / 3, end = (n + m) / 2;
    std::vector<T> part(static_cast<size_t>(end - begin));
    ASSERT_TRUE(plan->Convolve(signal, begin, end, std::span<T>(part), scratch).ok());
    ASSERT_EQ(part, std::vector<T>(whole.begin() + begin, whole.begin() + end));
    absl::StatusOr<Convolver<T>> stream = Convolver<T>::Create(filter, block);
    ASSERT_TRUE(stream.ok());
    for (int64_t piece : {int64_t{1}, int64_t{7}, int64_t{64}, n}) {
      std::vector<T> out;
      for (int64_t at = 0; at < n; at += piece) {
        stream->Feed(std::span<const T>(signal).subspan(
                         static_cast<size_t>(at), static_cast<size_t>(std::min(piece, n - at))),
                     &out);
        ASSERT_GT(static_cast<int64_t>(out.size()) + plan->step(), at);
      }
      stream->Finish(&out);
      ASSERT_EQ(out, whole) << n << " x " << m << " by " << piece;
    }
    std::vector<T> none;
    stream->Feed({}, &none);
    stream->Finish(&none);
    EXPECT_TRUE(none.empty());
  }
}

TYPED_TEST(ConvolveTest, ReportsBlocksAndRangesThatCannotBe) {
  using T = TypeParam;
  const auto wrong = absl::StatusCode::kInvalidArgument;
  const std::vector<T> filter = {1, 2, 3}, signal = {1, 1, 1, 1};
  EXPECT_EQ(OverlapSave<T>::Create({}, 0).status().code(), wrong);
  EXPECT_EQ(OverlapSave<T>::Create(filter, 2).status().code(), wrong);
  EXPECT_EQ(OverlapSave<T>::Create(filter, -1).status().code(), wrong);
  EXPECT_EQ(OverlapSave<T>::Create(filter, kMaxSize + 1).status().code(), wrong);
  EXPECT_EQ(Convolver<T>::Create(filter, 2).status().code(), wrong);
  const OverlapSave<T> plan = *OverlapSave<T>::Create(filter, 8);
  std::vector<T> out(6, 7), scratch(static_cast<size_t>(plan.scratch_size()));
  const std::span<T> to(out);
  EXPECT_EQ(plan.Convolve({}, 0, 0, to.first(0), scratch).code(), wrong);
  EXPECT_EQ(plan.Convolve(signal, -1, 5, to, scratch).code(), wrong);
  EXPECT_EQ(plan.Convolve(signal, 4, 3, to, scratch).code(), wrong);
  EXPECT_EQ(plan.Convolve(signal, 1, 7, to, scratch).code(), wrong);
  EXPECT_EQ(plan.Convolve(signal, 0, 5, to, scratch).code(), wrong);
  EXPECT_EQ(plan.Convolve(signal, 0, 6, to, std::span<T>(scratch).first(9)).code(), wrong);
  EXPECT_EQ(plan.Convolve(to.first(4), 0, 6, to, scratch).code(), wrong);
  EXPECT_EQ(out, std::vector<T>(6, 7));
  EXPECT_TRUE(plan.Convolve(signal, 3, 3, to.first(0), scratch).ok());
}

TEST(ConvolveMethodTest, TakesTheDirectWayForShortOperandsOnly) {
  const auto direct = ConvolveMethod::kDirect;
  EXPECT_EQ(ChooseConvolution(1, 1000000), direct);
  EXPECT_EQ(ChooseConvolution(16, 100000), direct);
  EXPECT_EQ(ChooseConvolution(64, 64), direct);
  EXPECT_EQ(ChooseConvolution(100000, 100000), ConvolveMethod::kFft);
  EXPECT_EQ(ChooseConvolution(int64_t{1} << 34, int64_t{1} << 34), ConvolveMethod::kFft);
  EXPECT_EQ(ChooseConvolution(10000000, 2000), ConvolveMethod::kOverlapSave);
  EXPECT_EQ(ChooseConvolution(2000, 10000000, ConvolveMode::kValid), ConvolveMethod::kOverlapSave);
}

TEST(ConvolveMethodTest, TakesBlocksOfSomeFilters) {
  for (int64_t m : {1, 10, 100, 1000, 10000, 1000000}) {
    const int64_t size = BlockSize(m);
    EXPECT_GE(size, 2 * m);
    EXPECT_LE(size, 64 * m + 64) << m;
    // A signal that ends soon needs no longer block than that.
    EXPECT_LE(BlockSize(m, 2 * m), 6 * m + 8) << m;
  }
  EXPECT_EQ(BlockSize(kMaxSize), kMaxSize);
}

}  // namespace
}  // namespace assay::fft
