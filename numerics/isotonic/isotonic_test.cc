// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/isotonic.h"

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/isotonic/certificate.h"
#include "numerics/isotonic/isotonic_reference.h"

namespace assay::isotonic {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> MustFit(const std::vector<T>& y, const std::vector<T>& weights = {},
                       const Options& options = {}, std::vector<int64_t>* block_ends = nullptr) {
  std::vector<T> fit(y.size(), T{-77});
  const absl::Status status = Fit(std::span<const T>(y), std::span<const T>(weights),
                                  std::span<T>(fit), options, block_ends);
  EXPECT_TRUE(status.ok()) << status;
  return fit;
}

// Bits, so that -0 and 0 differ.
template <class T>
void ExpectSameBits(const std::vector<T>& a, const std::vector<T>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(FloatBits(a[i]), FloatBits(b[i]))
        << what << ": element " << i << " is " << a[i] << ", expected " << b[i];
  }
}

// Kinds of values that rows are made of; each asks something else of the arithmetic.
constexpr int kKinds = 10;
template <class T>
T ValueOfKind(int kind, int64_t i, Random& random) {
  const T max = std::numeric_limits<T>::max();
  const T tiny = std::numeric_limits<T>::denorm_min();
  const int range = std::numeric_limits<T>::max_exponent;
  switch (kind) {
    case 0:  // ties everywhere, exact sums
      return static_cast<T>(random.Integer(4));
    case 1:  // noise
      return static_cast<T>(random.Normal());
    case 2:  // equal decimals, which have no short sums
      return static_cast<T>(static_cast<double>(random.Integer(4)) * 0.1);
    case 3:  // rising noise: many short blocks
      return static_cast<T>(static_cast<double>(i) * 0.3 + random.Normal());
    case 4:  // every exponent
      return static_cast<T>(
          std::ldexp(random.Normal(), static_cast<int>(random.Integer(2 * range - 4)) - range));
    case 5:  // subnormal numbers
      return static_cast<T>(random.Integer(9) - 4) * tiny;
    case 6:  // sums that overflow
      return random.Integer(2) == 0 ? max : -max * static_cast<T>(random.Uniform());
    case 7:  // odd neighbours: means between two numbers
      return static_cast<T>(1) +
             static_cast<T>(random.Integer(6)) * std::numeric_limits<T>::epsilon();
    case 8:  // signed zeros and ones
      return random.Integer(3) == 0 ? static_cast<T>(-0.0) : static_cast<T>(random.Integer(3) - 1);
    default:  // falling: one block
      return static_cast<T>(-static_cast<double>(i) * 0.7);
  }
}

// Kinds of weights; kind 0 is none.
constexpr int kWeightKinds = 6;
template <class T>
std::vector<T> WeightsOfKind(int kind, size_t n, Random& random) {
  std::vector<T> weights;
  const int range = std::numeric_limits<T>::max_exponent;
  for (size_t i = 0; kind > 0 && i < n; ++i) {
    switch (kind) {
      case 1:
        weights.push_back(static_cast<T>(1 + random.Integer(3)));
        break;
      case 2:
        weights.push_back(static_cast<T>(0.1 + random.Uniform()));
        break;
      case 3:  // some zeros
        weights.push_back(random.Integer(3) == 0 ? T{0} : static_cast<T>(random.Uniform()));
        break;
      case 4:  // every exponent
        weights.push_back(static_cast<T>(std::ldexp(
            1 + random.Uniform(), static_cast<int>(random.Integer(2 * range - 3)) - range + 2)));
        break;
      default:
        weights.push_back(std::numeric_limits<T>::denorm_min() * static_cast<T>(random.Integer(3)));
        break;
    }
  }
  if (kind > 0 && n > 0) weights[n / 2] = std::max(weights[n / 2], T{1});
  return weights;
}

template <class T>
class FitTest : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(FitTest, Types);

TYPED_TEST(FitTest, FitsByHand) {
  using T = TypeParam;
  EXPECT_EQ(MustFit<T>({}), std::vector<T>{});
  EXPECT_EQ(MustFit<T>({5}), (std::vector<T>{5}));
  EXPECT_EQ(MustFit<T>({1, 2}), (std::vector<T>{1, 2}));
  EXPECT_EQ(MustFit<T>({2, 1}), (std::vector<T>{1.5, 1.5}));
  EXPECT_EQ(MustFit<T>({1, 3, 2, 4}), (std::vector<T>{1, 2.5, 2.5, 4}));
  EXPECT_EQ(MustFit<T>({3, 1}, {1, 3}), (std::vector<T>{1.5, 1.5}));
  Options down;
  down.direction = Direction::kDecreasing;
  EXPECT_EQ(MustFit<T>({1, 3, 2, 4}, {}, down), (std::vector<T>{2.5, 2.5, 2.5, 2.5}));
  Options bounded;
  bounded.lower = 2;
  bounded.upper = 3;
  EXPECT_EQ(MustFit<T>({1, 3, 2, 4}, {}, bounded), (std::vector<T>{2, 2.5, 2.5, 3}));
}

TYPED_TEST(FitTest, EqualsTheDefinitionInRationalArithmetic) {
  using T = TypeParam;
  Random random(7);
  for (int round = 0; round < 1500; ++round) {
    const int kind = round % kKinds;
    const int weight_kind = round / kKinds % kWeightKinds;
    const size_t n = static_cast<size_t>(1 + random.Integer(round % 7 == 0 ? 24 : 9));
    std::vector<T> y;
    for (size_t i = 0; i < n; ++i) {
      y.push_back(ValueOfKind<T>(kind, static_cast<int64_t>(i), random));
    }
    const std::vector<T> weights = WeightsOfKind<T>(weight_kind, n, random);
    Options options;
    if (round % 3 == 1) options.direction = Direction::kDecreasing;
    if (round % 5 == 1) {
      options.lower = -0.5;
      options.upper = 1.1;
    }
    std::vector<int64_t> ends, expected_ends;
    const std::vector<T> fit = MustFit<T>(y, weights, options, &ends);
    std::vector<T> expected = FitReference<T>(y, weights, options, &expected_ends);
    for (T& value : expected) value += T{0};  // a mean of 0 is +0
    ExpectSameBits(fit, expected,
                   "round " + std::to_string(round) + " kind " + std::to_string(kind) +
                       " weights " + std::to_string(weight_kind));
    EXPECT_EQ(ends, expected_ends) << "round " << round;
    if (this->HasFatalFailure()) return;
  }
}

// Around tiles, groups of tiles and segments; proven by the certificate, and the same bits from any
// number of threads, in place, and from a strided row.
TYPED_TEST(FitTest, IsProvenOptimalAtAwkwardSizes) {
  using T = TypeParam;
  ThreadPool three(3);
  Random random(11);
  const std::vector<int64_t> sizes = {31,   32,   33,   1023,  1024,  1025,  4095,  4096,
                                      4097, 5119, 5121, 10241, 65535, 65537, 140001};
  for (int64_t size : sizes) {
    for (int kind = 0; kind < kKinds; ++kind) {
      if (size > 5000 && kind == 4) continue;  // slow to prove
      const int weight_kind = static_cast<int>((size + kind) % 4);
      const size_t n = static_cast<size_t>(size);
      std::vector<T> y;
      for (int64_t i = 0; i < size; ++i) y.push_back(ValueOfKind<T>(kind, i, random));
      const std::vector<T> weights = WeightsOfKind<T>(weight_kind, n, random);
      Options options;
      if (size % 3 == 1) options.direction = Direction::kDecreasing;
      const std::string what = "size " + std::to_string(size) + " kind " + std::to_string(kind);
      std::vector<int64_t> ends;
      const std::vector<T> fit = MustFit<T>(y, weights, options, &ends);
      ASSERT_TRUE(Certify(std::span<const T>(y), std::span<const T>(weights),
                          std::span<const T>(fit), options)
                      .ok())
          << what << ": "
          << Certify(std::span<const T>(y), std::span<const T>(weights), std::span<const T>(fit),
                     options);
      ASSERT_TRUE(
          CertifyBlocks(std::span<const T>(y), std::span<const T>(weights), ends, options.direction)
              .ok())
          << what;

      options.pool = &three;
      std::vector<int64_t> ends_of_three;
      std::vector<T> in_place = y;
      ASSERT_TRUE(Fit(std::span<const T>(in_place), std::span<const T>(weights),
                      std::span<T>(in_place), options, &ends_of_three)
                      .ok());
      ExpectSameBits(in_place, fit, what + " in place by three threads");
      EXPECT_EQ(ends_of_three, ends) << what;

      std::vector<T> strided(3 * n, T{9});
      std::vector<T> strided_weights(weights.empty() ? 0 : 2 * n, T{9});
      std::vector<T> strided_fit(2 * n, T{-5});
      for (size_t i = 0; i < n; ++i) strided[3 * i] = y[i];
      for (size_t i = 0; i < n && !weights.empty(); ++i) strided_weights[2 * i] = weights[i];
      const MatrixView<const T> none;
      ASSERT_TRUE(FitRows(MatrixView<const T>(strided.data(), 1, size, 3 * size, 3),
                          weights.empty()
                              ? none
                              : MatrixView<const T>(strided_weights.data(), 1, size, 2 * size, 2),
                          MatrixView<T>(strided_fit.data(), 1, size, 2 * size, 2), options)
                      .ok());
      for (size_t i = 0; i < n; ++i) {
        ASSERT_EQ(FloatBits(strided_fit[2 * i]), FloatBits(fit[i])) << what << " strided at " << i;
        ASSERT_EQ(strided_fit[2 * i + 1], T{-5}) << what;
      }
    }
  }
}

// Tiles that each rise and start low again: every joint merges far into both sides.
TYPED_TEST(FitTest, JoinsTilesThatMergeFar) {
  using T = TypeParam;
  ThreadPool two(2);
  for (int64_t period : {100, 1024, 5000, 70000}) {
    std::vector<T> y;
    for (int64_t i = 0; i < 200000; ++i) {
      y.push_back(static_cast<T>(static_cast<double>(i % period) + 1e-5 * static_cast<double>(i)));
    }
    std::vector<int64_t> ends;
    const std::vector<T> fit = MustFit<T>(y, {}, {}, &ends);
    ASSERT_TRUE(Certify(std::span<const T>(y), std::span<const T>(), std::span<const T>(fit)).ok());
    EXPECT_TRUE(CertifyBlocks(std::span<const T>(y), std::span<const T>(), ends).ok());
    Options options;
    options.pool = &two;
    ExpectSameBits(MustFit<T>(y, {}, options), fit, "period " + std::to_string(period));
  }
}

// Means that meet exactly, far apart in a long row.
TYPED_TEST(FitTest, MergesEqualMeansAcrossTiles) {
  using T = TypeParam;
  for (const T value : {T{0.1}, T{3}, std::numeric_limits<T>::max()}) {
    std::vector<int64_t> ends;
    const std::vector<T> y(150000, value);
    ExpectSameBits(MustFit<T>(y, {}, {}, &ends), y, "constant");
    EXPECT_EQ(ends, (std::vector<int64_t>{150000}));
  }
  // Cycles of one mean, each of several blocks that pool before it meets the last one.
  std::vector<T> cycles;
  for (int i = 0; i < 210000; ++i) cycles.push_back(static_cast<T>(i / 1000 % 7) + T{0.1});
  std::vector<int64_t> cycle_ends;
  MustFit<T>(cycles, {}, {}, &cycle_ends);
  EXPECT_TRUE(CertifyBlocks(std::span<const T>(cycles), std::span<const T>(), cycle_ends).ok());
  // Each half has the mean 0.1 + 0.3 / 2 of its values; by weights in the second.
  std::vector<T> y, weights;
  for (int i = 0; i < 40000; ++i) {
    y.push_back(i % 2 == 0 ? T{0.3} : T{0.1});
    weights.push_back(i < 20000 ? T{0.1} : T{0.7});
  }
  std::vector<int64_t> ends;
  MustFit<T>(y, weights, {}, &ends);
  EXPECT_EQ(ends, (std::vector<int64_t>{40000}));
}

TYPED_TEST(FitTest, RoundsMeansOnceWithTiesToEven) {
  using T = TypeParam;
  const T u = std::numeric_limits<T>::epsilon();
  // 1 + u / 2 lies between 1 (even) and 1 + u (odd); 1 + 3 u / 2 between 1 + u and 1 + 2 u (even).
  EXPECT_EQ(MustFit<T>({1 + u, 1}), (std::vector<T>{1, 1}));
  EXPECT_EQ(MustFit<T>({1 + 2 * u, 1 + u}), (std::vector<T>{1 + 2 * u, 1 + 2 * u}));
  // Means of many points that are such ties: 3 u, u, 2 u and 0 above 1, in any number.
  for (int times : {1, 2, 4, 500, 3000}) {
    std::vector<T> y;
    for (const T above : {3 * u, 2 * u, u, T{0}}) y.insert(y.end(), times, 1 + above);
    EXPECT_EQ(MustFit<T>(y), std::vector<T>(y.size(), 1 + 2 * u)) << times;
  }
  // A long block whose mean is exactly 0.
  std::vector<T> y;
  for (int i = 0; i < 10001; ++i) y.push_back(static_cast<T>(5000 - i));
  ExpectSameBits(MustFit<T>(y), std::vector<T>(y.size(), T{0}), "mean 0");
}

// Means that miss a tie by less than any f64 quotient shows.
TEST(FitDoubleTest, RoundsMeansBesideTies) {
  const double half_step = 0x1p-53;
  for (const double tiny : {0x1p-104, 0x1p-106, 0x1p-150, 0x1p-1074}) {
    for (const double sign : {1.0, -1.0}) {
      const double expected = sign > 0 ? 1 + 2 * half_step : 1;
      // Three points, or twelve, of the mean 1 + half_step, and the tiny one.
      std::vector<double> few = {2.5, 0.5 + 3 * half_step, sign * tiny};
      EXPECT_EQ(MustFit<double>(few), std::vector<double>(3, expected)) << tiny;
      std::vector<double> more(10, 1.125);
      more.insert(more.end(), {0.75 + 12 * half_step, sign * tiny});
      EXPECT_EQ(MustFit<double>(more), std::vector<double>(12, expected)) << tiny;
      EXPECT_EQ(MustFit<double>(more, std::vector<double>(12, 0.3)),
                std::vector<double>(12, expected))
          << tiny;
    }
  }
}

TYPED_TEST(FitTest, IsNotHurtByOverflowOrUnderflow) {
  using T = TypeParam;
  const T max = std::numeric_limits<T>::max();
  const T tiny = std::numeric_limits<T>::denorm_min();
  EXPECT_EQ(MustFit<T>({max, max, -max}), (std::vector<T>(3, max / 3)));
  EXPECT_EQ(MustFit<T>({max, max}), (std::vector<T>(2, max)));
  EXPECT_EQ(MustFit<T>({3 * tiny, tiny, 2 * tiny}), (std::vector<T>(3, 2 * tiny)));
  EXPECT_EQ(MustFit<T>({tiny, 0}), (std::vector<T>(2, T{0})));  // ties to even
  EXPECT_EQ(MustFit<T>({2 * tiny, tiny}), (std::vector<T>(2, 2 * tiny)));
  // What is left of the large ones decides.
  EXPECT_EQ(MustFit<T>({max, -max, -tiny * 3}), (std::vector<T>(3, -tiny)));
  EXPECT_EQ(MustFit<T>({3, 1}, {tiny, tiny}), (std::vector<T>{2, 2}));
  EXPECT_EQ(MustFit<T>({3, 1}, {max, max}), (std::vector<T>{2, 2}));
  EXPECT_EQ(MustFit<T>({3, 1}, {max, tiny}), (std::vector<T>{3, 3}));
}

TYPED_TEST(FitTest, GivesElementsWithoutWeightTheFitBefore) {
  using T = TypeParam;
  std::vector<int64_t> ends;
  EXPECT_EQ(MustFit<T>({9, 1, 50, 3, 2, -7}, {0, 1, 0, 1, 1, 0}, {}, &ends),
            (std::vector<T>{1, 1, 1, 2.5, 2.5, 2.5}));
  EXPECT_EQ(ends, (std::vector<int64_t>{3, 6}));
}

TYPED_TEST(FitTest, RefusesBadInputAndLeavesOutputsAlone) {
  using T = TypeParam;
  const auto refuses = [](std::vector<T> y, std::vector<T> weights, Options options,
                          size_t fit_size, const std::string& part) {
    std::vector<T> fit(fit_size, T{-77});
    std::vector<int64_t> ends = {42};
    const absl::Status status =
        Fit(std::span<const T>(y), std::span<const T>(weights), std::span<T>(fit), options, &ends);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << part;
    EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status;
    EXPECT_EQ(fit, std::vector<T>(fit_size, T{-77}));
    EXPECT_EQ(ends, (std::vector<int64_t>{42}));
  };
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T inf = std::numeric_limits<T>::infinity();
  refuses({1, nan, 2}, {}, {}, 3, "y[1] is nan");
  refuses({1, 2, -inf}, {}, {}, 3, "y[2] is -inf");
  refuses({1, 2, 3}, {1, -1, 1}, {}, 3, "weights[1] is -1");
  refuses({1, 2, 3}, {1, 1, inf}, {}, 3, "weights[2] is inf");
  refuses({1, 2, 3}, {1, nan, 1}, {}, 3, "weights[1] is nan");
  refuses({1, 2}, {0, 0}, {}, 2, "all 2 weights are 0");
  refuses({1, 2}, {1}, {}, 2, "weights 1");
  refuses({1, 2}, {}, {}, 3, "fit 3");
  Options options;
  options.lower = 2;
  options.upper = 1;
  refuses({1, 2}, {}, options, 2, "lower <= upper");
  options.upper = kNan;
  refuses({1, 2}, {}, options, 2, "nan");
  options.lower = options.upper = std::numeric_limits<double>::infinity();
  refuses({1, 2}, {}, options, 2, "finite numbers between");
  options.lower = options.upper = -std::numeric_limits<double>::infinity();
  refuses({1, 2}, {}, options, 2, "finite numbers between");
  static const T one_value = 1;
  static T one_fit = -77;
  const int64_t long_row = int64_t{1} << 34;
  if (sizeof(size_t) == 8) {
    EXPECT_FALSE(FitRows(MatrixView<const T>(&one_value, 1, long_row, 0, 0), {},
                         MatrixView<T>(&one_fit, 1, long_row, 0, 0))
                     .ok());
    EXPECT_EQ(one_fit, T{-77});
  }
  // One NaN anywhere in a long row is seen.
  for (size_t at : {size_t{0}, size_t{7}, size_t{70000}, size_t{99999}}) {
    std::vector<T> y(100000, T{1});
    y[at] = nan;
    refuses(y, {}, {}, y.size(), "y[" + std::to_string(at) + "]");
  }
}

TYPED_TEST(FitTest, FitsRowsAsOneByOne) {
  using T = TypeParam;
  Random random(3);
  ThreadPool pool(3);
  for (int64_t cols : {0, 1, 7, 1000, 3000, 200000}) {
    const int64_t rows = cols > 10000 ? 3 : 17;
    const size_t size = static_cast<size_t>(rows * cols);
    std::vector<T> y, weights;
    for (size_t i = 0; i < size; ++i) {
      y.push_back(static_cast<T>(random.Normal()));
      weights.push_back(static_cast<T>(0.1 + random.Uniform()));
    }
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      for (bool weighted : {false, true}) {
        Options options;
        options.pool = threads;
        std::vector<T> fit(size, T{-77});
        const MatrixView<const T> none;
        ASSERT_TRUE(FitRows(MatrixView<const T>(y, rows, cols),
                            weighted ? MatrixView<const T>(weights, rows, cols) : none,
                            MatrixView<T>(fit, rows, cols), options)
                        .ok());
        for (int64_t r = 0; r < rows; ++r) {
          const auto row = [&](const std::vector<T>& all) {
            return std::vector<T>(all.begin() + r * cols, all.begin() + (r + 1) * cols);
          };
          ExpectSameBits(row(fit), MustFit<T>(row(y), weighted ? row(weights) : std::vector<T>{}),
                         "row " + std::to_string(r));
        }
      }
    }
  }
  // A matrix by columns, and one row of weights for all.
  const std::vector<T> y = {3, 1, 2, 5, 1, 4};
  std::vector<T> fit(6);
  const std::vector<T> weights = {1, 2, 1};
  ASSERT_TRUE(FitRows(MatrixView<const T>(y.data(), 2, 3, 1, 2),
                      MatrixView<const T>(weights.data(), 2, 3, 0, 1),
                      MatrixView<T>(fit.data(), 2, 3, 1, 2))
                  .ok());
  // Row 0 is 3, 2, 1 with weights 1, 2, 1; row 1 is 1, 5, 4.
  const T mean = T(14) / 3;
  EXPECT_EQ(fit, (std::vector<T>{2, 1, 2, mean, 2, mean}));
}

TYPED_TEST(FitTest, NamesTheRowThatIsBad) {
  using T = TypeParam;
  std::vector<T> y(50 * 8, T{1});
  y[31 * 8 + 5] = std::numeric_limits<T>::quiet_NaN();
  y[40 * 8 + 1] = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> fit(y.size(), T{-77});
  ThreadPool pool(2);
  Options options;
  options.pool = &pool;
  const absl::Status status =
      FitRows(MatrixView<const T>(y, 50, 8), {}, MatrixView<T>(fit, 50, 8), options);
  EXPECT_NE(std::string(status.message()).find("y[31, 5] is nan"), std::string::npos) << status;
  EXPECT_EQ(fit, std::vector<T>(y.size(), T{-77}));
  EXPECT_FALSE(FitRows(MatrixView<const T>(fit, 50, 8), {}, MatrixView<T>(fit, 8, 50)).ok());
}

TEST(FitLabelsTest, EqualsFitOfTheSameNumbers) {
  Random random(5);
  for (int64_t size : {0, 1, 2, 5, 1000, 4097, 70001}) {
    std::vector<uint8_t> labels;
    std::vector<double> y;
    for (int64_t i = 0; i < size; ++i) {
      labels.push_back(random.Uniform() * static_cast<double>(size) < static_cast<double>(i));
      y.push_back(labels.back());
    }
    for (Direction direction : {Direction::kIncreasing, Direction::kDecreasing}) {
      Options options;
      options.direction = direction;
      std::vector<int64_t> ends, expected_ends;
      std::vector<double> fit(labels.size());
      ASSERT_TRUE(FitLabels(labels, fit, options, &ends).ok());
      ExpectSameBits(fit, MustFit<double>(y, {}, options, &expected_ends), "labels");
      EXPECT_EQ(ends, expected_ends);
    }
  }
  std::vector<double> fit(3, -77);
  const std::vector<uint8_t> bad = {0, 1, 2};
  const absl::Status status = FitLabels(bad, fit);
  EXPECT_NE(std::string(status.message()).find("labels[2] is 2; expected 0 or 1"),
            std::string::npos)
      << status;
  EXPECT_EQ(fit, std::vector<double>(3, -77));
  EXPECT_FALSE(FitLabels(std::vector<uint8_t>{0}, fit).ok());
}

TEST(FitCountsTest, EqualsTheFitOfLabelsOneByOne) {
  Random random(6);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> successes, totals;
    std::vector<uint8_t> labels;
    std::vector<size_t> last;  // label of each group, if it has any
    for (int i = 0; i < 1 + round % 40; ++i) {
      totals.push_back(random.Integer(4));
      successes.push_back(random.Integer(totals.back() + 1));
      // Falling inside the group, so that the labels' fit is one block there.
      for (int64_t k = 0; k < totals.back(); ++k) labels.push_back(k < successes.back());
      last.push_back(labels.size());
    }
    if (labels.empty()) continue;
    std::vector<double> fit(totals.size()), fit_of_labels(labels.size());
    ASSERT_TRUE(FitCounts(successes, totals, fit).ok());
    ASSERT_TRUE(FitLabels(labels, fit_of_labels).ok());
    for (size_t i = 0; i < totals.size(); ++i) {
      EXPECT_EQ(fit[i], fit_of_labels[last[i] == 0 ? 0 : last[i] - 1]) << round << " " << i;
    }
  }
}

TEST(FitCountsTest, IsExactForLargeIntegers) {
  // 2^60 + 1 of 2^61 and 2^60 of 2^61: no f64 tells the rates apart, so they only merge if they
  // fall.
  const int64_t half = int64_t{1} << 60;
  std::vector<double> fit(2);
  std::vector<int64_t> ends;
  const std::vector<int64_t> totals = {2 * half - 10, 2 * half - 10};
  ASSERT_TRUE(FitCounts(std::vector<int64_t>{half, half + 1}, totals, fit, {}, &ends).ok());
  EXPECT_EQ(ends, (std::vector<int64_t>{1, 2}));
  ASSERT_TRUE(FitCounts(std::vector<int64_t>{half + 1, half}, totals, fit, {}, &ends).ok());
  EXPECT_EQ(ends, (std::vector<int64_t>{2}));
  ASSERT_TRUE(FitCounts(std::vector<int64_t>{half - 5, -half + 4}, totals, fit, {}, &ends).ok());
  EXPECT_EQ(fit[0], -1 / (4.0 * static_cast<double>(half) - 20));
}

TEST(FitCountsTest, RefusesBadInput) {
  std::vector<double> fit(2, -77);
  const auto refuses = [&fit](std::vector<int64_t> successes, std::vector<int64_t> totals,
                              const std::string& part) {
    const absl::Status status = FitCounts(successes, totals, fit);
    EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status;
    EXPECT_EQ(fit, std::vector<double>(2, -77));
  };
  const int64_t limit = int64_t{1} << 62;
  refuses({1, 1}, {1, -1}, "element 1 has 1 successes of -1");
  refuses({1, 1}, {1, 0}, "element 1 has 1 successes of 0");
  refuses({0, 0}, {0, 0}, "all 2 totals are 0");
  refuses({1, 1}, {limit - 1, 1}, "2^62");
  refuses({std::numeric_limits<int64_t>::min(), 1}, {1, 1}, "2^62");
  refuses({1, 1}, {limit, 1}, "2^62");
  refuses({1}, {1}, "fit 2");
}

TEST(GradientTest, EqualsDifferencesWhereTheBlocksStay) {
  Random random(8);
  for (int round = 0; round < 50; ++round) {
    const size_t n = static_cast<size_t>(1 + random.Integer(30));
    std::vector<double> y, weights, upstream;
    for (size_t i = 0; i < n; ++i) {
      y.push_back(random.Normal() + 0.1 * static_cast<double>(i));
      weights.push_back(0.5 + random.Uniform());
      upstream.push_back(random.Normal());
    }
    const bool weighted = round % 2 == 0;
    Options options;
    if (round % 3 == 0) options.lower = 0.3;
    if (round % 4 == 0) options.direction = Direction::kDecreasing;
    std::vector<int64_t> ends;
    const std::vector<double> none;
    const std::vector<double>& w = weighted ? weights : none;
    const std::vector<double> fit = MustFit<double>(y, w, options, &ends);
    std::vector<double> gradient_y(n), gradient_w(n);
    ASSERT_TRUE(Gradient(std::span<const double>(y), std::span<const double>(w),
                         std::span<const double>(fit), ends, std::span<const double>(upstream),
                         options, std::span<double>(gradient_y), std::span<double>(gradient_w))
                    .ok());
    const auto loss = [&](const std::vector<double>& at_y, const std::vector<double>& at_w) {
      const std::vector<double> at_fit = MustFit<double>(at_y, at_w, options);
      double sum = 0;
      for (size_t i = 0; i < n; ++i) sum += upstream[i] * at_fit[i];
      return sum;
    };
    // The loss is linear in y and smooth in w; blocks stay for steps this small with these seeds.
    const double h = 1e-6;
    const std::vector<double> ones(n, 1.0);
    for (size_t i = 0; i < n; ++i) {
      std::vector<double> up = y, down = y;
      up[i] += h;
      down[i] -= h;
      EXPECT_NEAR((loss(up, w) - loss(down, w)) / (2 * h), gradient_y[i], 1e-7) << round;
      up = weighted ? weights : ones;
      down = up;
      up[i] += h;
      down[i] -= h;
      EXPECT_NEAR((loss(y, up) - loss(y, down)) / (2 * h), gradient_w[i], 1e-7) << round;
    }
  }
}

TEST(GradientTest, StaysInRangeOnTheWay) {
  const auto gradients = [](std::vector<double> y, std::vector<double> weights,
                            std::vector<double> upstream) {
    std::vector<int64_t> ends;
    const std::vector<double> fit = MustFit<double>(y, weights, {}, &ends);
    std::vector<double> gradient_y(y.size()), gradient_w(y.size());
    EXPECT_TRUE(Gradient(std::span<const double>(y), std::span<const double>(weights),
                         std::span<const double>(fit), ends, std::span<const double>(upstream), {},
                         std::span<double>(gradient_y), std::span<double>(gradient_w))
                    .ok());
    gradient_y.insert(gradient_y.end(), gradient_w.begin(), gradient_w.end());
    return gradient_y;
  };
  std::vector<double> found = gradients({3e-308, 1e-308}, {1e-308, 1e-308}, {4, 4});
  EXPECT_DOUBLE_EQ(found[0], 4);
  EXPECT_NEAR(found[2], 4, 1e-14);
  EXPECT_NEAR(found[3], -4, 1e-14);
  found = gradients({3e300, 1e300}, {1e300, 1e300}, {1e-200, 1e-200});
  EXPECT_DOUBLE_EQ(found[0], 1e-200);
  EXPECT_NEAR(found[2] * 1e200, 1, 1e-14);
  found = gradients({3, 2, 1}, {}, {1.7e308, 1.7e308, -1.7e308});
  EXPECT_DOUBLE_EQ(found[0], 1.7e308 / 3);
}

TEST(GradientTest, SumsEachBlockAndStopsAtBounds) {
  const std::vector<float> y = {1, 3, 2, 9};
  Options options;
  options.upper = 8;
  std::vector<int64_t> ends;
  const std::vector<float> fit = MustFit<float>(y, {}, options, &ends);
  const std::vector<float> upstream = {10, 2, 4, 7};
  std::vector<float> gradient(4), none;
  ASSERT_TRUE(Gradient(std::span<const float>(y), {}, std::span<const float>(fit), ends,
                       std::span<const float>(upstream), options, std::span<float>(gradient),
                       std::span<float>(none))
                  .ok());
  EXPECT_EQ(gradient, (std::vector<float>{10, 3, 3, 0}));
  const auto refuses = [&](std::vector<int64_t> bad) {
    return !Gradient(std::span<const float>(y), {}, std::span<const float>(fit), bad,
                     std::span<const float>(upstream), options, std::span<float>(gradient),
                     std::span<float>(none))
                .ok();
  };
  EXPECT_TRUE(refuses({1, 3}));
  EXPECT_TRUE(refuses({1, 3, 5}));
  EXPECT_TRUE(refuses({1, 1, 4}));
  EXPECT_TRUE(refuses({3, 1, 4}));
  EXPECT_TRUE(refuses({}));
  EXPECT_TRUE(refuses({1, 4, 4}));
  EXPECT_TRUE(refuses({-1, 4}));
}

}  // namespace
}  // namespace assay::isotonic
