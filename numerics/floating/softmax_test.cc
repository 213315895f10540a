// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "hwy/targets.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"
#include "numerics/floating/internal/softmax_kernels.h"
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

// Expected values here and in the other tests of extreme sizes: 60 decimal digits, rounded.
TEST(SignedLogSumExpTest, WeightsCountWhenTheLargestTermIsFound) {
  const auto expect = [](const Doubles& x, const Doubles& w, double log_abs, int sign) {
    const SignedLog result = SignedLogSumExp(x, w);
    EXPECT_NEAR(result.log_abs, log_abs, 4 * 0x1p-53 + 0x1p-53 * std::fabs(log_abs));
    EXPECT_EQ(result.sign, sign);
  };
  expect({0, 0}, {1.7e308, 1.7e308}, 710.41998407378819, 1);
  expect({0, 0}, {-1.7e308, -1.7e308}, 710.41998407378819, -1);
  expect({750, 0}, {5e-324, 1.7e308}, 709.72683689322824, 1);
  expect({1000, 0}, {5e-324, -1e-300}, 255.55992807861874, 1);
  expect({-5e3, 0}, {1, 1}, 0, 1);
  expect({1, 0}, {5e-324, 1.7e308}, 709.72683689322824, 1);
  expect({0, -3}, {1, 1}, 0.04858735157374206, 1);
  expect({1e308, -1e308}, {5e-324, 1.7e308}, 1e308, 1);
  // The shift and the weight's logarithm cancel.
  expect({-700}, {1.0142320547350045e304}, -1.643270082317529e-17, 1);
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

// Softmax of one row in f64, from which the other types may differ by their own rounding.
Doubles Reference(const Doubles& x) { return SoftmaxOf(x); }

template <class T>
std::vector<T> Row(int64_t n, double scale, double shift, uint64_t seed) {
  Random random(seed);
  std::vector<T> x(static_cast<size_t>(n));
  for (T& value : x) value = static_cast<T>(random.Normal() * scale + shift);
  return x;
}

// Lengths around the 32 lanes and the pieces of 4096.
TEST(SoftmaxTest, SinglePrecisionAgreesWithDoubleAtEveryLength) {
  for (const int64_t n : {1,  2,   15,   16,   17,   31,   32,   33,   63,   64,
                          65, 100, 4095, 4096, 4097, 4128, 8191, 8192, 8193, 20000}) {
    for (const double shift : {0.0, 279.0, -281.0, 1000.0, -9000.0, 5e4, -3e7}) {
      const std::vector<float> x = Row<float>(n, 4, shift, static_cast<uint64_t>(n));
      const Doubles expected = Reference(Doubles(x.begin(), x.end()));
      std::vector<float> y(x.size()), logs(x.size());
      Softmax(std::span<const float>(x), std::span<float>(y));
      LogSoftmax(std::span<const float>(x), std::span<float>(logs));
      const double lse = LogSumExp(Doubles(x.begin(), x.end()));
      EXPECT_NEAR(static_cast<double>(LogSumExp(x)), lse, 0x1p-23 * (std::fabs(lse) + 20));
      for (size_t i = 0; i < x.size(); ++i) {
        const double ulp = static_cast<double>(Ulp(static_cast<float>(expected[i])));
        ASSERT_NEAR(static_cast<double>(y[i]), expected[i], 2 * ulp) << n;
        // A logarithm's own condition: the f64 softmax is exact beside it.
        const double log_share = static_cast<double>(x[i]) - lse;
        ASSERT_NEAR(
            static_cast<double>(logs[i]), log_share,
            2 * static_cast<double>(Ulp(static_cast<float>(log_share))) + 0x1p-50 * std::fabs(lse))
            << n;
      }
    }
  }
}

// The exponentials themselves, within the bound of internal/softmax_kernels.h.
TEST(SoftmaxKernelsTest, AnExponentialKeepsItsBound) {
  Random random(15);
  for (const float max : {0.0f, 1.7f, -5.25f, 88.0f, 279.5f, -279.9f, 280.5f, 900.0f, -20000.0f}) {
    const internal::ExpFrame frame = internal::FrameOf(max);
    std::vector<float> x(20000);
    for (size_t i = 0; i < x.size(); ++i) {
      const double below = i % 2 == 0 ? random.Uniform() : random.Uniform(0, 139.9);
      x[i] = static_cast<float>(static_cast<double>(max) - below);
    }
    Doubles e(x.size());
    internal::SumOfExps(x.data(), static_cast<int64_t>(x.size()), frame, -1, e.data(), 0);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = Exp(static_cast<double>(x[i]) - static_cast<double>(max)) * frame.unit;
      worst = std::fmax(worst, std::fabs(e[i] / exact - 1));
    }
    EXPECT_LE(worst, 0.84 * 0x1p-24) << max;
  }
}

TEST(SoftmaxTest, EveryVectorWidthGivesTheSameBits) {
  const std::vector<float> x = Row<float>(5003, 9, 1, 77);
  std::vector<float> expected(x.size()), logs(x.size());
  Softmax(std::span<const float>(x), std::span<float>(expected));
  LogSoftmax(std::span<const float>(x), std::span<float>(logs));
  int targets = 0;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    ++targets;
    std::vector<float> y(x.size());
    Softmax(std::span<const float>(x), std::span<float>(y));
    EXPECT_EQ(y, expected) << hwy::TargetName(target);
    LogSoftmax(std::span<const float>(x), std::span<float>(y));
    EXPECT_EQ(y, logs) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(targets, HWY_ARCH_WASM ? 1 : 2);
}

TEST(SoftmaxTest, SinglePrecisionMasksAndSpecialValues) {
  const auto softmax = [](std::vector<float> x) {
    Softmax(std::span<const float>(x), std::span<float>(x));
    return x;
  };
  for (const int64_t n : {3, 40, 4097, 9000}) {
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      std::vector<float> x(static_cast<size_t>(n), -kInfF);
      x[static_cast<size_t>(at)] = -7;
      std::vector<float> one(x.size(), 0.0f);
      one[static_cast<size_t>(at)] = 1;
      EXPECT_EQ(softmax(x), one);
      EXPECT_EQ(LogSumExp(x), -7.0f);
      x[static_cast<size_t>(at)] = kInfF;
      EXPECT_EQ(softmax(x), one);
      std::fill(x.begin(), x.end(), std::numeric_limits<float>::lowest());
      x[static_cast<size_t>(at)] = std::numeric_limits<float>::max();
      EXPECT_EQ(softmax(x), one);
      EXPECT_EQ(LogSumExp(x), std::numeric_limits<float>::max());
      x[static_cast<size_t>(at)] = -std::numeric_limits<float>::quiet_NaN();
      for (const float value : softmax(x)) ASSERT_EQ(FloatBits(value), 0x7fc00000u);
      EXPECT_EQ(FloatBits(LogSumExp(x)), 0x7fc00000u);
    }
  }
  // Subnormal shares are rounded once, not flushed.
  EXPECT_EQ(softmax({0.0f, -100.0f})[1], 3.783505853677006e-44f);
  EXPECT_EQ(softmax({0.0f, -103.0f})[1], 1.401298464324817e-45f);
  EXPECT_EQ(softmax({0.0f, -104.5f})[1], 0.0f);
  EXPECT_EQ(LogSumExp(std::vector<float>{0.0f, -100.0f}), 3.783505853677006e-44f);
}

// Rows of a batch are what single rows give, whatever the strides, the threads and the mask.
template <class T>
void TestRows(int64_t rows, int64_t cols, const SoftmaxOptions& base) {
  const std::vector<T> x = Row<T>(rows * cols * 3, 5, -2, 99);
  std::vector<uint8_t> keep(static_cast<size_t>(rows * cols), 1);
  Random random(5);
  for (uint8_t& flag : keep) flag = random.Integer(3) != 0;
  ThreadPool pool(3);
  for (const bool masked : {false, true}) {
    for (const int64_t step : {1, 3}) {
      SoftmaxOptions options = base;
      if (masked) options.keep = MatrixView<const uint8_t>(keep, rows, cols);
      const MatrixView<const T> view(x.data(), rows, cols, cols * step, step);
      std::vector<T> y(x.size(), T(7.0f)), logs = y, lse(static_cast<size_t>(rows));
      const MatrixView<T> out(y.data(), rows, cols, cols * step, step);
      const MatrixView<T> log_out(logs.data(), rows, cols, cols * step, step);
      options.pool = &pool;
      ASSERT_TRUE(SoftmaxRows(view, out, options).ok());
      ASSERT_TRUE(LogSoftmaxRows(view, log_out, options).ok());
      ASSERT_TRUE(LogSumExpRows(view, std::span<T>(lse), options).ok());
      for (int64_t r = 0; r < rows; ++r) {
        Doubles row(static_cast<size_t>(cols), -kInf);
        for (int64_t c = 0; c < cols; ++c) {
          const size_t at = static_cast<size_t>(c);
          if (!masked || keep[static_cast<size_t>(r * cols + c)] != 0) {
            row[at] = static_cast<double>(view(r, c)) / base.temperature;
          }
        }
        // In f64 the division by the temperature here errs by 2^-53 of the logit, up to 60.
        const double u = sizeof(T) == 8 ? 0x1p-46 : sizeof(T) == 4 ? 0x1p-22 : 0x1p-7;
        const double row_lse = LogSumExp(row);
        const double least = sizeof(T) < 4 ? 0x1p-24 : 0x1p-149;
        if (row_lse == -kInf) {
          ASSERT_EQ(static_cast<double>(lse[static_cast<size_t>(r)]), -kInf);
          ASSERT_TRUE(std::isnan(static_cast<double>(out(r, 0))));
          continue;
        }
        EXPECT_NEAR(static_cast<double>(lse[static_cast<size_t>(r)]), row_lse,
                    u * (1 + std::fabs(row_lse)));
        const Doubles expected = SoftmaxOf(row), expected_logs = LogSoftmaxOf(row);
        for (int64_t c = 0; c < cols; ++c) {
          const double share = expected[static_cast<size_t>(c)];
          ASSERT_NEAR(static_cast<double>(out(r, c)), share, u * share + least);
          const double log_share = expected_logs[static_cast<size_t>(c)];
          if (log_share == -kInf) {
            ASSERT_EQ(static_cast<double>(log_out(r, c)), -kInf);
          } else {
            ASSERT_NEAR(static_cast<double>(log_out(r, c)), log_share,
                        u * std::fabs(log_share) + least);
          }
        }
      }
      // What lies between the strides stays.
      for (size_t i = 0; step == 3 && i < y.size(); ++i) {
        if (i % 3 != 0) {
          ASSERT_EQ(static_cast<double>(y[i]), 7.0);
        }
      }
      SoftmaxOptions alone = options;
      alone.pool = nullptr;
      std::vector<T> again(y.size(), T(7.0f));
      ASSERT_TRUE(
          SoftmaxRows(view, MatrixView<T>(again.data(), rows, cols, cols * step, step), alone)
              .ok());
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_EQ(FloatBits(static_cast<double>(y[i])), FloatBits(static_cast<double>(again[i])));
      }
    }
  }
}

TEST(SoftmaxRowsTest, AreTheRowsOneByOne) {
  for (const Arithmetic arithmetic : {Arithmetic::kSingle, Arithmetic::kDouble}) {
    for (const double temperature : {1.0, 0.3, 2.0}) {
      SoftmaxOptions options;
      options.arithmetic = arithmetic;
      options.temperature = temperature;
      TestRows<float>(7, 1, options);
      TestRows<float>(5, 70, options);
      TestRows<double>(5, 70, options);
      TestRows<Half>(3, 70, options);
      TestRows<BFloat16>(3, 70, options);
    }
  }
  TestRows<float>(40, 4100, {});
  TestRows<Half>(2, 4100, {});
}

TEST(SoftmaxRowsTest, LargeOutputsThatPassTheCachesHoldTheSameBits) {
  constexpr int64_t kRows = 70, kCols = 16384;  // 4.4 MiB
  const std::vector<float> x = Row<float>(kRows * kCols, 3, 0, 4);
  ThreadPool pool(2);
  std::vector<float> y(x.size() + 1), logs(x.size() + 1);
  SoftmaxOptions options;
  options.pool = &pool;
  const MatrixView<const float> view(x, kRows, kCols);
  for (const size_t offset : {size_t{0}, size_t{1}}) {  // at least one of the two is not aligned
    ASSERT_TRUE(
        SoftmaxRows(view, MatrixView<float>(y.data() + offset, kRows, kCols, kCols), options).ok());
    ASSERT_TRUE(
        LogSoftmaxRows(view, MatrixView<float>(logs.data() + offset, kRows, kCols, kCols), options)
            .ok());
    for (int64_t r = 0; r < kRows; ++r) {
      const size_t at = static_cast<size_t>(r * kCols);
      const std::span<const float> row = std::span<const float>(x).subspan(at, kCols);
      std::vector<float> expected(static_cast<size_t>(kCols));
      Softmax(row, std::span<float>(expected));
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), y.data() + offset + at));
      LogSoftmax(row, std::span<float>(expected));
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), logs.data() + offset + at));
    }
  }
}

struct Scaled {
  Doubles softmax;
  Doubles logs;
  double lse;
};
Scaled AtTemperature(const Doubles& x, double temperature) {
  Scaled result = {Doubles(x.size()), Doubles(x.size()), 0};
  SoftmaxOptions options;
  options.temperature = temperature;
  const int64_t n = static_cast<int64_t>(x.size());
  const MatrixView<const double> row(x, 1, n);
  EXPECT_TRUE(SoftmaxRows(row, MatrixView<double>(result.softmax, 1, n), options).ok());
  EXPECT_TRUE(LogSoftmaxRows(row, MatrixView<double>(result.logs, 1, n), options).ok());
  EXPECT_TRUE(LogSumExpRows(row, std::span<double>(&result.lse, 1), options).ok());
  return result;
}

TEST(SoftmaxRowsTest, DifferencesAndTemperaturesOfAnySize) {
  constexpr double kU = 0x1p-53;
  const Scaled hot = AtTemperature({1.7e308, -1.7e308}, 1e308);
  EXPECT_NEAR(hot.softmax[0], 0.9677045353015495, 6 * kU);
  EXPECT_NEAR(hot.softmax[1], 0.032295464698450516, 6 * kU * 0.0323);
  EXPECT_NEAR(hot.logs[1], -3.432828470424865, 6 * kU * 3.44);
  EXPECT_NEAR(hot.lse, 0x1.bb9aa58a0d70ap+0, 2 * kU);
  const Scaled warm = AtTemperature({1.7e308, -1.7e308}, 10);
  EXPECT_EQ(warm.softmax, (Doubles{1, 0}));
  EXPECT_NEAR(warm.logs[1] / -3.4e307, 1, 2 * kU);
  EXPECT_EQ(warm.lse, 1.7e307);
  // A power of two in both the logits and the temperature changes nothing.
  const Doubles x = {3.5, -1.25, 0.75, -0x1.23456789abcdep+4};
  const Scaled expected = AtTemperature(x, 1.3);
  for (const int k : {-1020, -900, -600, -490, 490, 600, 900, 1015}) {
    Doubles scaled = x;
    for (double& value : scaled) value = std::ldexp(value, k);
    const Scaled result = AtTemperature(scaled, std::ldexp(1.3, k));
    EXPECT_EQ(result.softmax, expected.softmax) << k;
    EXPECT_EQ(result.logs, expected.logs) << k;
    EXPECT_EQ(result.lse, expected.lse) << k;
  }
  EXPECT_EQ(AtTemperature({1e308}, 1e-5).lse, kInf);
  EXPECT_EQ(AtTemperature({0}, 3).lse, 0);
  EXPECT_EQ(AtTemperature({5e-324}, 0x1p-1074).lse, 1);
}

// So little is added to the quotient that its rounding and that of the sum would both count.
TEST(SoftmaxRowsTest, LogSumExpRoundsTheQuotientAndTheSumOnce) {
  EXPECT_EQ(AtTemperature({0x1.800cac083126ep+9, 0x1.67e645a1cac08p+9}, 3).lse,
            0x1.000872b1d61b8p+8);
}

TEST(SoftmaxRowsTest, PoliciesAndRefusals) {
  const std::vector<float> x = {1, 2, -kInfF, -kInfF};
  std::vector<float> y(4, 9.0f);
  const MatrixView<const float> view(x, 2, 2);
  SoftmaxOptions zeros;
  zeros.all_masked = AllMasked::kZeros;
  ASSERT_TRUE(SoftmaxRows(view, MatrixView<float>(y, 2, 2), zeros).ok());
  EXPECT_EQ(y[2], 0);
  ASSERT_TRUE(SoftmaxRows(view, MatrixView<float>(y, 2, 2)).ok());
  EXPECT_TRUE(std::isnan(y[3]));
  ASSERT_TRUE(LogSoftmaxRows(view, MatrixView<float>(y, 2, 2), zeros).ok());
  EXPECT_EQ(y[3], -kInfF);
  std::fill(y.begin(), y.end(), 9.0f);
  EXPECT_EQ(SoftmaxRows(view, MatrixView<float>(y, 4, 1)).message(),
            "y is 4 x 1, expected 2 x 2 as the logits");
  for (const double temperature : {0.0, -1.0, kInf, kNaN}) {
    SoftmaxOptions bad;
    bad.temperature = temperature;
    EXPECT_EQ(SoftmaxRows(view, MatrixView<float>(y, 2, 2), bad).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(LogSoftmaxRows(view, MatrixView<float>(y, 2, 2), bad).ok());
    EXPECT_FALSE(LogSumExpRows(view, std::span<float>(y).first(2), bad).ok());
  }
  const std::vector<uint8_t> keep(2, 1);
  SoftmaxOptions bad;
  bad.keep = MatrixView<const uint8_t>(keep, 1, 2);
  EXPECT_EQ(SoftmaxRows(view, MatrixView<float>(y, 2, 2), bad).message(),
            "keep is 1 x 2, expected 2 x 2 as the logits");
  EXPECT_FALSE(LogSumExpRows(view, std::span<float>(y).first(1)).ok());
  EXPECT_FALSE(SoftmaxGradientRows(view, view, MatrixView<float>(y, 1, 4)).ok());
  EXPECT_EQ(y, std::vector<float>(4, 9.0f));
  EXPECT_TRUE(SoftmaxRows(MatrixView<const float>(), MatrixView<float>()).ok());
}

// Both gradients against the difference quotient of sum of g y.
TEST(SoftmaxGradientTest, IsTheDifferenceQuotient) {
  constexpr int64_t kCols = 6;
  const Doubles x = Row<double>(kCols, 2, 0, 12), g = Row<double>(kCols, 1, 0, 13);
  for (const double temperature : {1.0, 0.5, 3.0}) {
    SoftmaxOptions options;
    options.temperature = temperature;
    for (const bool logs : {false, true}) {
      const auto value = [&](const Doubles& at) {
        Doubles y(at.size());
        const MatrixView<const double> in(at, 1, kCols);
        const MatrixView<double> out(y, 1, kCols);
        EXPECT_TRUE((logs ? LogSoftmaxRows(in, out, options) : SoftmaxRows(in, out, options)).ok());
        double sum = 0;
        for (size_t i = 0; i < y.size(); ++i) sum += g[i] * y[i];
        return std::pair(sum, y);
      };
      Doubles y = value(x).second, dx(kCols);
      const MatrixView<const double> y_view(y, 1, kCols), g_view(g, 1, kCols);
      const MatrixView<double> out(dx, 1, kCols);
      ASSERT_TRUE((logs ? LogSoftmaxGradientRows(y_view, g_view, out, options)
                        : SoftmaxGradientRows(y_view, g_view, out, options))
                      .ok());
      for (size_t i = 0; i < kCols; ++i) {
        constexpr double h = 0x1p-17;
        Doubles up = x, down = x;
        up[i] += h;
        down[i] -= h;
        EXPECT_NEAR(dx[i], (value(up).first - value(down).first) / (2 * h), 2e-9);
      }
    }
  }
}

TEST(SoftmaxGradientTest, MaskedEntriesStayOutOfIt) {
  const std::vector<float> y = {0.25f, 0.75f, 0.0f}, logs = {0.0f, -kInfF, -kInfF};
  const std::vector<float> g = {1.0f, 2.0f, kInfF};
  std::vector<float> dx(3);
  const MatrixView<float> out(dx, 1, 3);
  ASSERT_TRUE(
      SoftmaxGradientRows(MatrixView<const float>(y, 1, 3), MatrixView<const float>(g, 1, 3), out)
          .ok());
  EXPECT_EQ(dx, (std::vector<float>{-0.1875f, 0.1875f, 0.0f}));
  const std::vector<float> finite = {1.0f, 2.0f, 4.0f};
  ASSERT_TRUE(LogSoftmaxGradientRows(MatrixView<const float>(logs, 1, 3),
                                     MatrixView<const float>(finite, 1, 3), out)
                  .ok());
  EXPECT_EQ(dx, (std::vector<float>{-6.0f, 2.0f, 4.0f}));
}

TEST(SoftmaxGradientTest, SumsAndDifferencesOfLargeGradientsDoNotOverflow) {
  const auto gradient = [](bool logs, const Doubles& y, const Doubles& g) {
    Doubles dx(2);
    const MatrixView<const double> y_row(y, 1, 2), g_row(g, 1, 2);
    const MatrixView<double> out(dx, 1, 2);
    EXPECT_TRUE(
        (logs ? LogSoftmaxGradientRows(y_row, g_row, out) : SoftmaxGradientRows(y_row, g_row, out))
            .ok());
    return dx;
  };
  // exp(y) is 1/2 to within 2^-53, so the exact result is 0 to within 2^-52 of g.
  for (const double value : gradient(true, {-kLn2, -kLn2}, {1e308, 1e308})) {
    EXPECT_LE(std::fabs(value), 0x1p-52 * 1e308);
  }
  EXPECT_EQ(gradient(true, {0, -kInf}, {1e308, 1.7e308}), (Doubles{-1.7e308, 1.7e308}));
  EXPECT_EQ(gradient(false, {0.5, 0.5}, {1e308, 1e308}), (Doubles{0, 0}));
  const Doubles dx = gradient(false, {0.125, 0.875}, {1.6e308, -1.6e308});
  EXPECT_NEAR(dx[0] / 3.5e307, 1, 1e-15);
  EXPECT_NEAR(dx[1] / -3.5e307, 1, 1e-15);
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
  for (const int64_t n : {1, 2, 10, 333, 9000}) {
    Doubles x(static_cast<size_t>(n));
    for (double& value : x) value = random.Normal() * 30;
    std::vector<float> f(x.begin(), x.end());
    append(LogSumExp(x));
    append(static_cast<double>(LogSumExp(f)));
    for (const double value : SoftmaxOf(x)) append(value);
    for (const double value : LogSoftmaxOf(x)) append(value);
    std::vector<float> y(f.size());
    Softmax(std::span<const float>(f), std::span<float>(y));
    for (const float value : y) append(static_cast<double>(value));
    Softmax(std::span<const float>(f), std::span<float>(y), AllMasked::kNaN, Arithmetic::kDouble);
    for (const float value : y) append(static_cast<double>(value));
    LogSoftmax(std::span<const float>(f), std::span<float>(y));
    for (const float value : y) append(static_cast<double>(value));
  }
  EXPECT_EQ(Sha256Hex(bytes), "265b9906aad7d6654bf0d42eefe4bbbafb12f823e76f26904a27182cd983621e");
}

}  // namespace
}  // namespace assay::floating
