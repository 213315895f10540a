// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/reference.h"

namespace assay::fft {
namespace {

template <class T>
constexpr double kU = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

template <class T>
using Vec = std::vector<std::complex<T>>;

// Components uniform in [-1, 1). Two draws an element.
template <class T>
Vec<T> RandomSignal(int64_t n, uint64_t seed) {
  Random random(seed);
  Vec<T> x;
  for (int64_t j = 0; j < n; ++j) {
    const double re = random.Uniform();
    const double im = random.Uniform();
    x.push_back({static_cast<T>(2 * re - 1), static_cast<T>(2 * im - 1)});
  }
  return x;
}

template <class T>
Plan<T> MakePlan(int64_t n) {
  absl::StatusOr<Plan<T>> plan = Plan<T>::Create(n);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

enum class Way { kForward, kBackward, kInverse };

template <class T>
Vec<T> Run(const Plan<T>& plan, const Vec<T>& x, Way way) {
  // Poisoned, so that an element nobody writes or reads too early shows.
  const T nan = std::numeric_limits<T>::quiet_NaN();
  Vec<T> y(x.size(), {nan, nan});
  std::vector<T> scratch(static_cast<size_t>(plan.scratch_size()), nan);
  const absl::Status status = way == Way::kForward    ? plan.Forward(x, y, scratch)
                              : way == Way::kBackward ? plan.Backward(x, y, scratch)
                                                      : plan.Inverse(x, y, scratch);
  EXPECT_TRUE(status.ok()) << status;
  return y;
}

Vec<double> Widen(const Vec<float>& x) {
  Vec<double> y;
  for (std::complex<float> v : x) y.push_back({v.real(), v.imag()});
  return y;
}
const Vec<double>& Widen(const Vec<double>& x) { return x; }

template <class T>
double Norm(const Vec<T>& x) {
  double sum = 0;
  for (std::complex<T> v : x) {
    sum += static_cast<double>(v.real()) * v.real() + static_cast<double>(v.imag()) * v.imag();
  }
  return std::sqrt(sum);
}

template <class T>
double Distance(const Vec<T>& a, const Vec<T>& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    const double re = static_cast<double>(a[k].real()) - b[k].real();
    const double im = static_cast<double>(a[k].imag()) - b[k].imag();
    sum += re * re + im * im;
  }
  return std::sqrt(sum);
}

template <class T>
bool SameBits(const Vec<T>& a, const Vec<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k) {
    if (!(a[k] == b[k]) || std::signbit(a[k].real()) != std::signbit(b[k].real()) ||
        std::signbit(a[k].imag()) != std::signbit(b[k].imag())) {
      return false;
    }
  }
  return true;
}

// u log2 N, at least u.
template <class T>
double LogUnits(int64_t n) {
  return kU<T> * std::max(1.0, std::log2(static_cast<double>(n)));
}

template <class T>
class FftTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftTest, Types);

TYPED_TEST(FftTest, GivesHandValuesForOneTwoThreeAndFourPoints) {
  using T = TypeParam;
  EXPECT_TRUE(SameBits(Run(MakePlan<T>(1), Vec<T>{{3, -4}}, Way::kForward), Vec<T>{{3, -4}}));
  EXPECT_TRUE(SameBits(Run(MakePlan<T>(1), Vec<T>{{3, -4}}, Way::kInverse), Vec<T>{{3, -4}}));
  EXPECT_TRUE(SameBits(Run(MakePlan<T>(2), Vec<T>{{1, 2}, {3, 5}}, Way::kForward),
                       Vec<T>{{4, 7}, {-2, -3}}));
  // 1, w, w^2 with w = exp(-2 pi i / 3): ones at k = 1 only for the conjugate needle.
  const T h = static_cast<T>(0.86602540378443864676);
  const Vec<T> y3 = Run(MakePlan<T>(3), Vec<T>{{0, 0}, {1, 0}, {0, 0}}, Way::kForward);
  EXPECT_LE(Distance(y3, Vec<T>{{1, 0}, {-0.5, -h}, {-0.5, h}}), 3 * kU<T>);
  EXPECT_EQ(y3[1].real(), T{-0.5});
  EXPECT_EQ(y3[1].imag(), -y3[2].imag());
  EXPECT_TRUE(SameBits(Run(MakePlan<T>(4), Vec<T>{{1, 0}, {2, 0}, {3, 0}, {5, 0}}, Way::kForward),
                       Vec<T>{{11, 0}, {-2, 3}, {-3, 0}, {-2, -3}}));
  // Zeros may come with either sign here.
  EXPECT_EQ(Run(MakePlan<T>(4), Vec<T>{{11, 0}, {-2, 3}, {-3, 0}, {-2, -3}}, Way::kInverse),
            (Vec<T>{{1, 0}, {2, 0}, {3, 0}, {5, 0}}));
}

TYPED_TEST(FftTest, MatchesTheOracleForEveryLengthTo600) {
  using T = TypeParam;
  double worst_smooth = 0, worst_bluestein = 0;
  for (int64_t n = 1; n <= 600; ++n) {
    const Plan<T> plan = MakePlan<T>(n);
    const Vec<T> x = RandomSignal<T>(n, 1000 + n);
    const std::vector<ComplexDoubleDouble> oracle = DftOracle(Widen(x));
    const Vec<T> y = Run(plan, x, Way::kForward);
    const double error = RelativeL2Error(y, oracle);
    ASSERT_LE(error, plan.L2ErrorBound()) << "n = " << n << ", " << plan.Describe();
    if (plan.uses_bluestein()) {
      ASSERT_LE(error, 12 * LogUnits<T>(n)) << n;
      worst_bluestein = std::max(worst_bluestein, error / LogUnits<T>(n));
    } else {
      ASSERT_LE(plan.L2ErrorBound(), 16 * LogUnits<T>(n)) << n;
      worst_smooth = std::max(worst_smooth, error / LogUnits<T>(n));
    }
    if (n % 5 != 0) continue;  // half of the time is the oracle's
    const Vec<T> z = Run(plan, x, Way::kBackward);
    ASSERT_LE(RelativeL2Error(z, DftOracle(Widen(x), true)), plan.L2ErrorBound()) << n;
  }
  // What is seen is far below the bounds; these hold the observed level.
  EXPECT_LE(worst_smooth, 0.75);
  EXPECT_LE(worst_bluestein, 1.5);
  std::printf("[ observed ] worst error / (u log2 N): smooth %.3f, Bluestein %.3f\n", worst_smooth,
              worst_bluestein);
}

TYPED_TEST(FftTest, MatchesTheOracleForPrimesAndLargeSmoothLengths) {
  using T = TypeParam;
  for (int64_t n : {1009, 2039, 2 * 1021,    1024, 2048,  2187,  3125,  4096,  2401,  1331, 2197,
                    5040, 6000, 7 * 11 * 13, 8192, 10000, 16384, 30030, 32768, 59049, 65536}) {
    const Plan<T> plan = MakePlan<T>(n);
    const Vec<T> x = RandomSignal<T>(n, n);
    const double error = RelativeL2Error(Run(plan, x, Way::kForward), DftOracle(Widen(x)));
    EXPECT_LE(error, plan.L2ErrorBound()) << n;
    const double root = kU<T> * std::sqrt(std::log2(static_cast<double>(n)));
    EXPECT_LE(error, (plan.uses_bluestein() ? 3.0 : 1.2) * root) << n << " " << plan.Describe();
    if ((n & (n - 1)) == 0) {
      EXPECT_LE(plan.L2ErrorBound(), 4 * LogUnits<T>(n));
      // The level of one random signal; FFTW 3.3.10 has 0.61 to 0.65 (double) here.
      EXPECT_LE(error, 0.65 * root) << n;
    }
  }
}

TYPED_TEST(FftTest, MatchesTheNaiveTwin) {
  using T = TypeParam;
  for (int64_t n : {1, 2, 5, 12, 31, 64, 100, 127, 210}) {
    const Vec<T> x = RandomSignal<T>(n, 77 + n);
    const Vec<T> y = Run(MakePlan<T>(n), x, Way::kForward);
    const Vec<T> naive = DftReference<T>(x);
    // The twin's own error: at most (n + 5) u relative to the sum of sizes, |x|_1 <= sqrt(n) |x|_2.
    EXPECT_LE(Distance(y, naive), (n + 5 + 16 * std::log2(n + 1.0)) * kU<T> * n * Norm(x)) << n;
  }
}

TYPED_TEST(FftTest, InverseUndoesForwardWithinTheDerivedBound) {
  using T = TypeParam;
  for (int64_t n : {1, 2, 3, 8, 17, 60, 101, 128, 343, 1000, 1013, 4096, 10007, 65536}) {
    const Plan<T> plan = MakePlan<T>(n);
    const Vec<T> x = RandomSignal<T>(n, 5 * n);
    const Vec<T> back = Run(plan, Run(plan, x, Way::kForward), Way::kInverse);
    // Forward is within e of the truth, Backward maps that error isometrically (scaled) and adds
    // its own e of slightly more, the division u.
    const double e = plan.L2ErrorBound();
    EXPECT_LE(Distance(x, back), (2 * e + e * e + kU<T>)*Norm(x)) << n;
    if (!plan.uses_bluestein() && n > 1) {
      EXPECT_LE(Distance(x, back),
                3 * kU<T> * std::sqrt(std::log2(static_cast<double>(n))) * Norm(x))
          << n;
    }
  }
}

TYPED_TEST(FftTest, KeepsEnergyIsLinearAndTurnsShiftsIntoPhases) {
  using T = TypeParam;
  for (int64_t n : {6, 16, 49, 59, 240, 1024}) {
    const Plan<T> plan = MakePlan<T>(n);
    const double e = plan.L2ErrorBound();
    const Vec<T> x = RandomSignal<T>(n, n), z = RandomSignal<T>(n, n + 1);
    const Vec<T> fx = Run(plan, x, Way::kForward), fz = Run(plan, z, Way::kForward);
    const double root = std::sqrt(static_cast<double>(n));
    // Parseval: |X|_2 = sqrt(n) |x|_2.
    EXPECT_NEAR(Norm(fx), root * Norm(x), (e + 1e-13) * root * Norm(x));
    // F(2x - z/4) = 2 F(x) - F(z)/4; powers of two, so that only two roundings are new.
    Vec<T> mixed, want;
    for (int64_t j = 0; j < n; ++j) {
      mixed.push_back(x[j] * T{2} - z[j] * T{0.25});
      want.push_back(fx[j] * T{2} - fz[j] * T{0.25});
    }
    const double scale = root * (2 * Norm(x) + 0.25 * Norm(z));
    EXPECT_LE(Distance(Run(plan, mixed, Way::kForward), want), (2 * e + 4 * kU<T>)*scale) << n;
    // x[j - 3] has the spectrum w^(3k) X[k].
    Vec<T> shifted, turned;
    for (int64_t j = 0; j < n; ++j) shifted.push_back(x[(j - 3 + n) % n]);
    for (int64_t k = 0; k < n; ++k) {
      const std::complex<T> w = UnitRoot<T>(3 * k, n);
      turned.push_back({fx[k].real() * w.real() - fx[k].imag() * w.imag(),
                        fx[k].real() * w.imag() + fx[k].imag() * w.real()});
    }
    EXPECT_LE(Distance(Run(plan, shifted, Way::kForward), turned),
              (2 * e + 5 * kU<T>)*root * Norm(x))
        << n;
  }
}

TYPED_TEST(FftTest, GivesTheSameBitsInPlaceUnalignedAndWithoutAPlan) {
  using T = TypeParam;
  for (int64_t n : {1, 2, 4, 8, 13, 15, 16, 37, 64, 128, 256, 420, 500, 1021, 2048}) {
    const Plan<T> plan = MakePlan<T>(n);
    const Vec<T> x = RandomSignal<T>(n, 9 * n);
    const Vec<T> y = Run(plan, x, Way::kForward);
    Vec<T> in_place = x;
    std::vector<T> scratch(static_cast<size_t>(plan.scratch_size()));
    ASSERT_TRUE(plan.Forward(in_place, in_place, scratch).ok());
    EXPECT_TRUE(SameBits(in_place, y)) << n;
    // One element off the allocation's alignment, on all three sides.
    Vec<T> in(n + 1), out(n + 1);
    std::vector<T> off(static_cast<size_t>(plan.scratch_size() + 1));
    std::copy(x.begin(), x.end(), in.begin() + 1);
    ASSERT_TRUE(plan.Forward(std::span<const std::complex<T>>(in).subspan(1),
                             std::span<std::complex<T>>(out).subspan(1),
                             std::span<T>(off).subspan(1))
                    .ok());
    EXPECT_TRUE(SameBits(Vec<T>(out.begin() + 1, out.end()), y)) << n;
    absl::StatusOr<Vec<T>> once = Forward<T>(x);
    ASSERT_TRUE(once.ok());
    EXPECT_TRUE(SameBits(*once, y)) << n;
    absl::StatusOr<Vec<T>> back = Inverse<T>(y);
    ASSERT_TRUE(back.ok());
    EXPECT_TRUE(SameBits(*back, Run(plan, y, Way::kInverse))) << n;
  }
}

TYPED_TEST(FftTest, GivesTheSameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  for (int64_t n : {60, 4096, 32768, 65537, 131072, 200000, 262144}) {
    const Plan<T> plan = MakePlan<T>(n);
    const Vec<T> x = RandomSignal<T>(n, 3 * n);
    const Vec<T> y = Run(plan, x, Way::kForward);
    for (int threads : {2, 3}) {
      ThreadPool pool(threads);
      const T nan = std::numeric_limits<T>::quiet_NaN();
      Vec<T> z(x.size(), {nan, nan});
      // In WebAssembly there is one thread whatever is asked for.
      const int64_t needed = plan.scratch_size(pool.threads());
      std::vector<T> scratch(static_cast<size_t>(needed), nan);
      ASSERT_TRUE(plan.Forward(x, z, scratch, &pool).ok());
      EXPECT_TRUE(SameBits(z, y)) << n << " on " << threads;
      if (needed > plan.scratch_size()) {
        EXPECT_EQ(plan.Forward(x, z, std::span<T>(scratch).subspan(1), &pool).code(),
                  absl::StatusCode::kInvalidArgument);
      }
    }
  }
}

TYPED_TEST(FftTest, RealTransformMatchesTheComplexOneForEveryLengthTo300) {
  using T = TypeParam;
  for (int64_t n = 1; n <= 300; ++n) {
    absl::StatusOr<RealPlan<T>> plan = RealPlan<T>::Create(n);
    ASSERT_TRUE(plan.ok());
    Vec<T> x = RandomSignal<T>(n, 31 * n);
    std::vector<T> real;
    for (std::complex<T>& v : x) {
      v = {v.real(), 0};
      real.push_back(v.real());
    }
    const T nan = std::numeric_limits<T>::quiet_NaN();
    Vec<T> y(n / 2 + 1, {nan, nan});
    std::vector<T> scratch(static_cast<size_t>(plan->scratch_size()), nan);
    ASSERT_TRUE(plan->Forward(real, y, scratch).ok());
    const std::vector<ComplexDoubleDouble> oracle = DftOracle(Widen(x));
    // Half the spectrum has more than half the energy (it holds k = 0), the bound is on the whole.
    ASSERT_LE(RelativeL2Error(y, std::span<const ComplexDoubleDouble>(oracle).first(n / 2 + 1)),
              1.5 * plan->L2ErrorBound())
        << n;
    EXPECT_EQ(y[0].imag(), 0);
    EXPECT_FALSE(std::signbit(y[0].imag()));
    if (n % 2 == 0) {
      EXPECT_EQ(y[n / 2].imag(), 0);
      // Ignored on the way back.
      y[n / 2] = {y[n / 2].real(), 123};
    }
    y[0] = {y[0].real(), -77};
    std::vector<T> back(n, nan);
    ASSERT_TRUE(plan->Inverse(y, back, scratch).ok());
    double difference = 0, norm = 0;
    for (int64_t j = 0; j < n; ++j) {
      const double d = static_cast<double>(back[j]) - real[j];
      difference += d * d;
      norm += static_cast<double>(real[j]) * real[j];
    }
    ASSERT_LE(std::sqrt(difference), 2.1 * (plan->L2ErrorBound() + kU<T>)*std::sqrt(norm)) << n;
  }
}

TYPED_TEST(FftTest, ReportsWrongArgumentsAndLeavesTheOutputAlone) {
  using T = TypeParam;
  for (int64_t n : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min(), kMaxSize + 1,
                    std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(Plan<T>::Create(n).status().code(), absl::StatusCode::kInvalidArgument) << n;
    EXPECT_EQ(RealPlan<T>::Create(n).status().code(), absl::StatusCode::kInvalidArgument) << n;
  }
  EXPECT_NE(Plan<T>::Create(-3).status().message().find("-3"), std::string::npos);
  EXPECT_EQ(Forward<T>(Vec<T>()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Inverse<T>(Vec<T>()).status().code(), absl::StatusCode::kInvalidArgument);

  const Plan<T> plan = MakePlan<T>(8);
  const Vec<T> x = RandomSignal<T>(8, 1);
  Vec<T> y(8, {5, 5}), wide(12, {5, 5});
  std::vector<T> scratch(static_cast<size_t>(plan.scratch_size()));
  const std::span<const std::complex<T>> in(x);
  auto refused = [&](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_TRUE(SameBits(y, Vec<T>(8, {5, 5})));
    EXPECT_TRUE(SameBits(wide, Vec<T>(12, {5, 5})));
  };
  refused(plan.Forward(in.first(7), y, scratch));
  refused(plan.Forward(x, std::span<std::complex<T>>(y).first(7), scratch));
  refused(plan.Forward(x, y, std::span<T>(scratch).first(scratch.size() - 1)));
  refused(plan.Backward(x, std::span<std::complex<T>>(), scratch));
  refused(plan.Inverse(std::span<const std::complex<T>>(wide).first(8),
                       std::span<std::complex<T>>(wide).subspan(2, 8), scratch));
  refused(plan.Forward(
      x, y,
      std::span<T>(reinterpret_cast<T*>(y.data()), static_cast<size_t>(plan.scratch_size()))));
  absl::StatusOr<RealPlan<T>> real = RealPlan<T>::Create(8);
  ASSERT_TRUE(real.ok());
  std::vector<T> samples(8), short_scratch(3),
      long_scratch(static_cast<size_t>(real->scratch_size()));
  refused(real->Forward(samples, y, long_scratch));  // 5 coefficients expected
  refused(real->Forward(samples, std::span<std::complex<T>>(y).first(5), short_scratch));
  refused(real->Backward(std::span<const std::complex<T>>(y).first(4), samples, long_scratch));
  const T* parts = reinterpret_cast<const T*>(y.data());
  refused(real->Forward(std::span<const T>(parts, 8), std::span<std::complex<T>>(y).first(5),
                        long_scratch));
}

TYPED_TEST(FftTest, LetsNanAndInfinitySpreadAndKeepsSubnormalsAndZeroSigns) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (int64_t n : {4, 12, 17, 64}) {
    const Plan<T> plan = MakePlan<T>(n);
    for (T bad : {inf, -inf, nan}) {
      Vec<T> x(n, {1, 0});
      x[1] = {bad, 0};
      for (std::complex<T> v : Run(plan, x, Way::kForward)) {
        EXPECT_FALSE(std::isfinite(v.real()) && std::isfinite(v.imag()));
      }
    }
    // The plan is unharmed.
    const Vec<T> ones = Run(plan, Vec<T>(n, {1, 0}), Way::kForward);
    EXPECT_NEAR(ones[0].real(), n, 1e-3 * n);
  }
  const T tiny = std::numeric_limits<T>::denorm_min();
  const Vec<T> y = Run(MakePlan<T>(4), Vec<T>{{tiny, 0}, {tiny, 0}, {0, 0}, {0, 0}}, Way::kForward);
  EXPECT_EQ(y[0].real(), 2 * tiny);
  EXPECT_EQ(y[2].real(), 0);
}

TEST(UnitRootTest, IsWithinOneAndAHalfUlpOfTheOracleAndSymmetric) {
  double worst = 0;
  for (int64_t n : {1, 2, 3, 7, 8, 12, 360, 1000, 1009, 65536, 94906267}) {
    for (int64_t i = 0; i < 2000; ++i) {
      const int64_t k = n <= 2000 ? i % n : (i * 7919 * 1009) % n;
      const std::complex<double> w = UnitRoot<double>(k, n);
      const ComplexDoubleDouble truth = UnitRootOracle(k, n);
      for (auto [value, exact] : {std::pair(w.real(), truth.re), std::pair(w.imag(), truth.im)}) {
        const double error = std::fabs((value - exact.hi) - exact.lo);
        const double ulp = std::fabs(std::nextafter(exact.hi, 2) - exact.hi);
        if (exact.hi != 0) worst = std::max(worst, error / ulp);
        ASSERT_LE(error, 1.5 * ulp) << k << " / " << n;
      }
      const std::complex<double> conjugate = UnitRoot<double>(n - k, n);
      ASSERT_EQ(conjugate.real(), w.real());
      ASSERT_EQ(conjugate.imag(), -w.imag());
      ASSERT_EQ(UnitRoot<double>(k + n, n), w);
      ASSERT_EQ(UnitRoot<double>(k - 3 * n, n), w);
      // float: the correctly rounded value (a tie in the double would be a freak).
      ASSERT_EQ(UnitRoot<float>(k, n).real(), static_cast<float>(truth.re.hi));
    }
  }
  std::printf("[ observed ] worst component error: %.3f ulp\n", worst);
  EXPECT_EQ(UnitRoot<double>(0, 5), (std::complex<double>{1, 0}));
  EXPECT_EQ(UnitRoot<double>(2, 8), (std::complex<double>{0, -1}));
  EXPECT_EQ(UnitRoot<double>(4, 8), (std::complex<double>{-1, 0}));
  EXPECT_EQ(UnitRoot<double>(6, 8), (std::complex<double>{0, 1}));
}

TEST(OracleTest, AgreesWithItselfToTwiceTheDigits) {
  // Another order of summation: the oracle of x and of x shifted, related by a phase in
  // double-double.
  const int64_t n = 96;
  const Vec<double> x = RandomSignal<double>(n, 4);
  Vec<double> shifted;
  for (int64_t j = 0; j < n; ++j) shifted.push_back(x[(j + n - 1) % n]);
  const auto fx = DftOracle(x), fs = DftOracle(shifted);
  for (int64_t k = 0; k < n; ++k) {
    const ComplexDoubleDouble w = UnitRootOracle(k, n);
    const DoubleDouble re =
        Add(Multiply(fx[k].re, w.re), Multiply({-fx[k].im.hi, -fx[k].im.lo}, w.im));
    const DoubleDouble difference = Add(re, {-fs[k].re.hi, -fs[k].re.lo});
    EXPECT_LE(std::fabs(difference.hi), 0x1p-92) << k;
  }
  // pi / 4 to 106 bits: the eighth root's components are equal, and their squares sum to 1.
  const ComplexDoubleDouble w = UnitRootOracle(1, 8);
  const DoubleDouble one = Add(Multiply(w.re, w.re), Multiply(w.im, w.im));
  EXPECT_LE(std::fabs((one.hi - 1) + one.lo), 0x1p-98);
}

TEST(GoodSizeTest, IsSmoothAndNotTwiceTheLength) {
  for (int64_t n = 1; n <= 5000; ++n) {
    const int64_t size = GoodSize(n);
    ASSERT_GE(size, n);
    ASSERT_LE(size, 2 * n);
    int64_t rest = size;
    for (int64_t p : {2, 3, 5}) {
      while (rest % p == 0) rest /= p;
    }
    ASSERT_EQ(rest, 1) << n;
  }
}

TYPED_TEST(FftTest, ClaimsNoMoreThanFourUnitsADoublingForPowersOfTwo) {
  for (int bits = 1; bits <= 20; ++bits) {
    const int64_t n = int64_t{1} << bits;
    EXPECT_LE(MakePlan<TypeParam>(n).L2ErrorBound(), 4 * LogUnits<TypeParam>(n)) << n;
  }
}

TEST(PlanTest, DescribesItselfAndMoves) {
  EXPECT_EQ(MakePlan<double>(320).Describe(), "8x5x8");
  EXPECT_EQ(MakePlan<double>(1009).Describe(), "bluestein 1009 through 2048: 8x4x8x8");
  EXPECT_EQ(MakePlan<double>(1).Describe(), "1");
  EXPECT_EQ(MakePlan<double>(16).Describe(), "4x4");
  EXPECT_EQ(MakePlan<double>(13).Describe(), "13");
  EXPECT_EQ(MakePlan<double>(17).Describe().rfind("bluestein 17 through ", 0), 0u);
  Plan<double> a = MakePlan<double>(10);
  Plan<double> b = std::move(a);
  EXPECT_EQ(b.size(), 10);
  a = std::move(b);
  EXPECT_EQ(a.size(), 10);
}

template <class T>
std::string HashOfTransforms() {
  Sha256 hash;
  for (int64_t n : {1,   2,   3,   4,   5,    7,    8,    11,   13,   16,   30,    37,    64,
                    100, 128, 211, 343, 1000, 1024, 1009, 1029, 1500, 4096, 16384, 20000, 32768}) {
    const Plan<T> plan = MakePlan<T>(n);
    const Vec<T> x = RandomSignal<T>(n, 20);
    for (Way way : {Way::kForward, Way::kBackward, Way::kInverse}) {
      const Vec<T> y = Run(plan, x, way);
      hash.Update(std::span<const T>(reinterpret_cast<const T*>(y.data()), 2 * y.size()));
    }
    absl::StatusOr<RealPlan<T>> real = RealPlan<T>::Create(n);
    EXPECT_TRUE(real.ok());
    std::vector<T> samples, scratch(static_cast<size_t>(real->scratch_size()));
    for (std::complex<T> v : x) samples.push_back(v.real());
    Vec<T> y(n / 2 + 1);
    EXPECT_TRUE(real->Forward(samples, y, scratch).ok());
    hash.Update(std::span<const T>(reinterpret_cast<const T*>(y.data()), 2 * y.size()));
    EXPECT_TRUE(real->Inverse(y, samples, scratch).ok());
    hash.Update(std::span<const T>(samples));
  }
  return Hex(hash.Finish());
}

// One signature for all: the suite runs natively and in WebAssembly and must find the same bits. A
// change of algorithm, or of numerics/core's sine, changes it and says so in its commit.
TEST(ExactnessTest, OutputsHaveTheCommittedSignature) {
  EXPECT_EQ(HashOfTransforms<double>(),
            "65097cd5e292befcfe8def23396bdd09a758dddb089654baa6d349c0ba32ea84");
  EXPECT_EQ(HashOfTransforms<float>(),
            "d28d66a04924f6ea9b4ca8b0870b600260680e1f38ee5f7e1d53ea52a348c054");
}

TEST(ExactnessTest, EveryInstructionSetGivesTheSameBits) {
  const std::string f64 = HashOfTransforms<double>(), f32 = HashOfTransforms<float>();
  int targets = 0;
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    EXPECT_EQ(HashOfTransforms<double>(), f64) << hwy::TargetName(rest & -rest);
    EXPECT_EQ(HashOfTransforms<float>(), f32) << hwy::TargetName(rest & -rest);
    hwy::SetSupportedTargetsForTest(0);
    ++targets;
  }
  EXPECT_GE(targets, HWY_ARCH_WASM ? 1 : 2);
}

}  // namespace
}  // namespace assay::fft
