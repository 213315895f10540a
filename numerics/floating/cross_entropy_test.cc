// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/cross_entropy.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"

namespace assay::floating {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr double kLn2 = 0.69314718055994530942;

using Doubles = std::vector<double>;

TEST(CrossEntropyTest, SmallCasesByHand) {
  EXPECT_NEAR(*CrossEntropy(Doubles{1e8, 1e8}, 1), kLn2, 1e-16);
  EXPECT_NEAR(*CrossEntropy(std::vector<float>{1e8f, 1e8f}, 0), kLn2, 1e-7);
  EXPECT_NEAR(*CrossEntropy(Doubles{0, -40}, 0) / 4.248354255291589e-18, 1, 1e-15);
  EXPECT_EQ(*CrossEntropy(Doubles{0, -1000}, 1), 1000);
  EXPECT_EQ(*CrossEntropy(Doubles{5}, 0), 0);
}

TEST(CrossEntropyTest, RefusesTargetsOutOfRange) {
  for (const int64_t target : {-1, 3, 1000000}) {
    const auto loss = CrossEntropy(Doubles{1, 2, 3}, target);
    EXPECT_EQ(loss.status().code(), absl::StatusCode::kOutOfRange);
    Doubles g = {7, 7, 7};
    EXPECT_EQ(CrossEntropyGradient(Doubles{1, 2, 3}, target, std::span<double>(g)).code(),
              absl::StatusCode::kOutOfRange);
    EXPECT_EQ(g, (Doubles{7, 7, 7}));
  }
  EXPECT_EQ(CrossEntropy(Doubles{}, 0).status().message(),
            "target is 0, but there are no classes: expected a row of logits");
  Doubles g(2);
  EXPECT_EQ(CrossEntropyGradient(Doubles{1, 2, 3}, 0, std::span<double>(g)).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(CrossEntropyTest, SpecialValues) {
  EXPECT_EQ(*CrossEntropy(Doubles{0, -kInf}, 1), kInf);
  EXPECT_EQ(*CrossEntropy(Doubles{0, -kInf}, 0), 0);
  EXPECT_EQ(*CrossEntropy(Doubles{kInf, 0}, 0), 0);
  EXPECT_EQ(*CrossEntropy(Doubles{kInf, 0}, 1), kInf);
  EXPECT_TRUE(std::isnan(*CrossEntropy(Doubles{-kInf, -kInf}, 0)));
  EXPECT_EQ(*CrossEntropy(Doubles{-kInf, -kInf}, 0, AllMasked::kZeros), 0);
  EXPECT_TRUE(std::isnan(*CrossEntropy(Doubles{kNaN, 0}, 1)));
}

TEST(CrossEntropyTest, GradientIsTheDifferenceQuotientAndSumsToZero) {
  Random random(4);
  Doubles x(7);
  for (double& value : x) value = random.Normal() * 3;
  for (int64_t target = 0; target < 7; ++target) {
    Doubles g(7);
    ASSERT_TRUE(CrossEntropyGradient(x, target, std::span<double>(g)).ok());
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      constexpr double h =
          0x1p-17;  // near the cube root of u: truncation h^2 and rounding u/h meet
      Doubles up = x;
      Doubles down = x;
      up[i] += h;
      down[i] -= h;
      const double quotient = (*CrossEntropy(up, target) - *CrossEntropy(down, target)) / (2 * h);
      EXPECT_NEAR(g[i], quotient, 1e-9);
      sum += g[i];
    }
    EXPECT_NEAR(sum, 0, 1e-15);
  }
  Doubles g(2);
  ASSERT_TRUE(CrossEntropyGradient(Doubles{0, -40}, 0, std::span<double>(g)).ok());
  EXPECT_NEAR(g[0] / -4.248354255291589e-18, 1, 1e-14);  // p - 1 would be 0
  ASSERT_TRUE(CrossEntropyGradient(Doubles{0, -2000}, 1, std::span<double>(g)).ok());
  EXPECT_EQ(g, (Doubles{1, -1}));  // finite where the probability is 0
  ASSERT_TRUE(
      CrossEntropyGradient(Doubles{-kInf, -kInf}, 1, std::span<double>(g), AllMasked::kZeros).ok());
  EXPECT_EQ(g, (Doubles{0, 0}));
}

template <class T>
std::vector<T> Row(int64_t n, double scale, uint64_t seed) {
  Random random(seed);
  std::vector<T> x(static_cast<size_t>(n));
  for (T& value : x) value = static_cast<T>(random.Normal() * scale);
  return x;
}

TEST(CrossEntropyRowsTest, AveragesOverCountedRows) {
  const std::vector<float> x = {0, 0, 1, 3, 5, 5};
  const std::vector<int32_t> targets = {0, -100, 1};
  std::vector<float> g(6, 9.0f), losses(3, 9.0f);
  CrossEntropyOptions<float> options;
  options.gradient = MatrixView<float>(g, 3, 2);
  options.losses = losses;
  const MatrixView<const float> view(x, 3, 2);
  const auto loss = CrossEntropyRows(view, targets, options);
  ASSERT_TRUE(loss.ok());
  EXPECT_EQ(loss->counted, 2);
  EXPECT_EQ(loss->weight, 2);
  EXPECT_NEAR(loss->value, kLn2, 0x1p-23);
  EXPECT_EQ(losses, (std::vector<float>{static_cast<float>(kLn2), 0, static_cast<float>(kLn2)}));
  EXPECT_EQ(g, (std::vector<float>{-0.25f, 0.25f, 0, 0, 0.25f, -0.25f}));
  options.reduction = Reduction::kSum;
  EXPECT_NEAR(CrossEntropyRows(view, targets, options)->value, 2 * kLn2, 0x1p-22);
  EXPECT_EQ(g, (std::vector<float>{-0.5f, 0.5f, 0, 0, 0.5f, -0.5f}));
  options.reduction = Reduction::kNone;
  EXPECT_EQ(CrossEntropyRows(view, targets, options)->value, 0);
  EXPECT_EQ(g, (std::vector<float>{-0.5f, 0.5f, 0, 0, 0.5f, -0.5f}));
  options.reduction = Reduction::kMean;
  const auto none = CrossEntropyRows(view, std::vector<int32_t>{-100, -100, -100}, options);
  EXPECT_EQ(none->counted, 0);
  EXPECT_EQ(none->weight, 0);
  EXPECT_EQ(none->value, 0);
  EXPECT_EQ(g, std::vector<float>(6, 0.0f));
  const std::vector<float> bad = {0, -kInfF, 0, 0};
  EXPECT_EQ(CrossEntropyRows(MatrixView<const float>(bad, 2, 2), std::vector<int32_t>{1, 0})->value,
            kInf);
  EXPECT_TRUE(CrossEntropyRows(MatrixView<const float>(), {}).ok());
}

TEST(CrossEntropyRowsTest, RefusesAndLeavesItsOutputs) {
  const std::vector<float> x = {0, 0, 1, 3, 5, 5};
  const MatrixView<const float> view(x, 3, 2);
  std::vector<float> g(6, 9.0f), losses(3, 9.0f);
  CrossEntropyOptions<float> options;
  options.gradient = MatrixView<float>(g, 3, 2);
  options.losses = losses;
  const std::vector<int32_t> fine = {0, 1, 0};
  const auto message = [&](const CrossEntropyOptions<float>& with,
                           const std::vector<int32_t>& targets) {
    const auto result = CrossEntropyRows(view, targets, with);
    return result.ok() ? std::string("accepted") : std::string(result.status().message());
  };
  EXPECT_EQ(message(options, {0, 2, 1}),
            "row 1: target is 2, expected 0 to 1 or the ignored index -100");
  EXPECT_EQ(message(options, {0, -1, 1}),
            "row 1: target is -1, expected 0 to 1 or the ignored index -100");
  EXPECT_EQ(message(options, {0, 1}), "2 targets, expected 3, one for each row");
  auto bad = options;
  bad.label_smoothing = 1.5;
  EXPECT_EQ(message(bad, fine), "label smoothing is 1.5, expected 0 to 1");
  bad = options;
  bad.z_loss = -1;
  EXPECT_EQ(message(bad, fine), "z-loss is -1, expected a number not below 0");
  const std::vector<double> weights = {1, -2}, short_weights = {1};
  bad = options;
  bad.weights = weights;
  EXPECT_EQ(message(bad, fine), "weight of class 1 is -2, expected a number not below 0");
  bad.weights = short_weights;
  EXPECT_EQ(message(bad, fine), "1 class weights, expected 2");
  bad = options;
  bad.losses = std::span<float>(losses).first(2);
  EXPECT_EQ(message(bad, fine), "losses have 2 entries, expected 3, one for each row");
  bad = options;
  bad.gradient = MatrixView<float>(g, 2, 3);
  EXPECT_EQ(message(bad, fine), "gradient is 2 x 3, expected 3 x 2 as the logits");
  bad = options;
  bad.softmax.temperature = 0;
  EXPECT_EQ(message(bad, fine), "temperature is 0, expected a positive number");
  const std::vector<float> q = {0, 1, kInfF, 0, 1, 0};
  EXPECT_EQ(
      SoftCrossEntropyRows(view, MatrixView<const float>(q, 3, 2), options).status().message(),
      "row 1: the share of class 0 is inf, expected a number");
  EXPECT_FALSE(SoftCrossEntropyRows(view, MatrixView<const float>(q, 2, 3), options).ok());
  EXPECT_EQ(g, std::vector<float>(6, 9.0f));
  EXPECT_EQ(losses, std::vector<float>(3, 9.0f));
}

// The definition, from log-softmax in f64.
struct Case {
  double smoothing = 0;
  double temperature = 1;
  double z_loss = 0;
  bool weighted = false;
  bool soft = false;
  bool masked = false;
  Reduction reduction = Reduction::kMean;
};

struct Direct {
  std::vector<double> losses;
  double value = 0;
};

Direct ByDefinition(const Case& c, const std::vector<double>& x, int64_t rows, int64_t cols,
                    const std::vector<int32_t>& targets, const std::vector<double>& q,
                    const std::vector<double>& weights, const std::vector<uint8_t>& keep) {
  Direct direct;
  double total = 0, divisor = 0;
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> row, logs(static_cast<size_t>(cols));
    int64_t left = 0;
    for (int64_t k = 0; k < cols; ++k) {
      const size_t at = static_cast<size_t>(r * cols + k);
      const bool kept = !c.masked || keep[at] != 0;
      left += kept ? 1 : 0;
      row.push_back(kept ? x[at] / c.temperature : -kInf);
    }
    LogSoftmax(std::span<const double>(row), std::span<double>(logs));
    const double lse = LogSumExp(std::span<const double>(row));
    const int32_t target = targets[static_cast<size_t>(r)];
    if (!c.soft && target == -100) {
      direct.losses.push_back(0);
      continue;
    }
    double loss = c.z_loss * lse * lse;
    for (int64_t k = 0; k < cols; ++k) {
      const size_t at = static_cast<size_t>(r * cols + k);
      double share = c.soft ? q[at] : (k == target ? 1 : 0);
      share *= 1 - c.smoothing;
      if (!c.masked || keep[at] != 0) share += c.smoothing / static_cast<double>(left);
      const double weight = c.weighted ? weights[static_cast<size_t>(k)] : 1;
      if (weight * share != 0) loss -= weight * share * logs[static_cast<size_t>(k)];
    }
    direct.losses.push_back(loss);
    total += loss;
    divisor += c.soft ? 1 : (c.weighted ? weights[static_cast<size_t>(target)] : 1);
  }
  if (c.reduction != Reduction::kNone) direct.value = total;
  if (c.reduction == Reduction::kMean) direct.value /= divisor;
  return direct;
}

template <class T>
void TestCase(const Case& c, double tolerance) {
  constexpr int64_t kRows = 5, kCols = 11;
  const std::vector<T> x = Row<T>(kRows * kCols, 3, 21);
  const std::vector<double> wide = [&] {
    std::vector<double> w;
    for (const T value : x) w.push_back(static_cast<double>(value));
    return w;
  }();
  const std::vector<int32_t> targets = {3, 0, -100, 10, 3};
  std::vector<double> weights;
  for (int64_t k = 0; k < kCols; ++k) weights.push_back(0.25 * static_cast<double>(k % 5));
  std::vector<uint8_t> keep(x.size(), 1);
  for (size_t i = 0; i < keep.size(); i += 4) keep[i] = 0;
  for (size_t r = 0; r < targets.size(); ++r) {
    if (targets[r] >= 0) keep[r * kCols + static_cast<size_t>(targets[r])] = 1;
  }
  std::vector<T> q(x.size());
  std::vector<double> wide_q(x.size());
  for (size_t i = 0; i < q.size(); ++i) {
    q[i] = static_cast<T>(c.masked && keep[i] == 0 ? 0.0f : static_cast<float>(i % 7) / 16);
    wide_q[i] = static_cast<double>(q[i]);
  }
  std::vector<T> losses(kRows), g(x.size());
  CrossEntropyOptions<T> options;
  options.reduction = c.reduction;
  options.label_smoothing = c.smoothing;
  options.z_loss = c.z_loss;
  options.softmax.temperature = c.temperature;
  if (c.weighted) options.weights = weights;
  if (c.masked) options.softmax.keep = MatrixView<const uint8_t>(keep, kRows, kCols);
  options.losses = losses;
  options.gradient = MatrixView<T>(g, kRows, kCols);
  const MatrixView<const T> view(x, kRows, kCols);
  const auto loss = c.soft
                        ? SoftCrossEntropyRows(view, MatrixView<const T>(q, kRows, kCols), options)
                        : CrossEntropyRows(view, targets, options);
  ASSERT_TRUE(loss.ok());
  const auto definition = [&](const std::vector<double>& at) {
    return ByDefinition(c, at, kRows, kCols, targets, wide_q, weights, keep);
  };
  const Direct direct = definition(wide);
  // losses are rounded to T; the value is not.
  const double rounding = sizeof(T) < 4 ? 0x1p-8 : 0;
  for (size_t r = 0; r < losses.size(); ++r) {
    EXPECT_NEAR(static_cast<double>(losses[r]), direct.losses[r],
                (tolerance + rounding) * (1 + direct.losses[r]));
  }
  EXPECT_NEAR(loss->value, direct.value, tolerance * (1 + direct.value));
  for (size_t i = 0; i < x.size(); ++i) {
    constexpr double h = 0x1p-17;
    std::vector<double> up = wide, down = wide;
    up[i] += h;
    down[i] -= h;
    const Direct more = definition(up), less = definition(down);
    double quotient = (more.value - less.value) / (2 * h);
    if (c.reduction == Reduction::kNone) {
      quotient = (more.losses[i / kCols] - less.losses[i / kCols]) / (2 * h);
    }
    EXPECT_NEAR(static_cast<double>(g[i]), quotient,
                tolerance + 5e-9 + rounding * (1 + std::fabs(quotient)))
        << i;
  }
}

TEST(CrossEntropyRowsTest, EqualsItsDefinitionAndItsGradientTheQuotient) {
  for (const Reduction reduction : {Reduction::kNone, Reduction::kSum, Reduction::kMean}) {
    for (int bits = 0; bits < 64; ++bits) {
      Case c;
      c.reduction = reduction;
      c.smoothing = (bits & 1) != 0 ? 0.125 : 0;
      c.temperature = (bits & 2) != 0 ? 2.5 : 1;
      c.z_loss = (bits & 4) != 0 ? 0.01 : 0;
      c.weighted = (bits & 8) != 0;
      c.soft = (bits & 16) != 0;
      c.masked = (bits & 32) != 0;
      SCOPED_TRACE(bits);
      TestCase<double>(c, 1e-14);
      TestCase<float>(c, 0x1p-20);
      if (bits % 5 == 0) {
        TestCase<Half>(c, 0x1p-20);
        TestCase<BFloat16>(c, 0x1p-20);
      }
    }
  }
}

TEST(CrossEntropyRowsTest, ThreadsAndStridesChangeNoBit) {
  constexpr int64_t kRows = 60, kCols = 4500;
  const std::vector<float> x = Row<float>(kRows * kCols, 2, 31);
  std::vector<int32_t> targets;
  for (int32_t r = 0; r < kRows; ++r) targets.push_back(r % 9 == 0 ? -100 : (r * 71) % kCols);
  std::vector<float> g(x.size()), strided_x(2 * x.size()), strided_g(2 * x.size());
  for (size_t i = 0; i < x.size(); ++i) strided_x[2 * i] = x[i];
  CrossEntropyOptions<float> options;
  options.gradient = MatrixView<float>(g, kRows, kCols);
  const auto one = CrossEntropyRows(MatrixView<const float>(x, kRows, kCols), targets, options);
  ASSERT_TRUE(one.ok());
  ThreadPool pool(3);
  options.softmax.pool = &pool;
  options.gradient = MatrixView<float>(strided_g.data(), kRows, kCols, 2 * kCols, 2);
  const auto other = CrossEntropyRows(
      MatrixView<const float>(strided_x.data(), kRows, kCols, 2 * kCols, 2), targets, options);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(one->value, other->value);
  for (size_t i = 0; i < g.size(); ++i) ASSERT_EQ(g[i], strided_g[2 * i]);
  // In place.
  std::vector<float> same = x;
  options.gradient = MatrixView<float>(same, kRows, kCols);
  ASSERT_TRUE(CrossEntropyRows(MatrixView<const float>(same, kRows, kCols), targets, options).ok());
  EXPECT_EQ(same, g);
}

TEST(CrossEntropyRowsTest, SpecialRows) {
  const std::vector<double> x = {-kInf, -kInf, 1, 2, kInf, 0, kNaN, 0};
  const MatrixView<const double> view(x, 4, 2);
  std::vector<double> losses(4), g(8);
  CrossEntropyOptions<double> options;
  options.losses = losses;
  options.reduction = Reduction::kNone;
  options.gradient = MatrixView<double>(g, 4, 2);
  ASSERT_TRUE(CrossEntropyRows(view, std::vector<int32_t>{0, 0, 0, 0}, options).ok());
  EXPECT_TRUE(std::isnan(losses[0]));
  EXPECT_EQ(losses[2], 0);
  EXPECT_TRUE(std::isnan(losses[3]));
  EXPECT_TRUE(std::isnan(g[0]) && std::isnan(g[6]));
  EXPECT_EQ(g[4], 0);
  EXPECT_EQ(g[5], 0);
  options.softmax.all_masked = AllMasked::kZeros;
  options.reduction = Reduction::kSum;
  const auto loss = CrossEntropyRows(view, std::vector<int32_t>{0, 0, 1, -100}, options);
  EXPECT_EQ(loss->value, kInf);
  EXPECT_EQ(losses[0], 0);
  EXPECT_EQ(losses[2], kInf);
  EXPECT_EQ(g[0], 0);
  EXPECT_EQ(g[1], 0);
  EXPECT_EQ(g[4], 1);
  EXPECT_EQ(g[5], -1);
  // A masked class costs nothing where nothing is asked of it, and all where it is the target.
  const std::vector<uint8_t> keep = {1, 0};
  const std::vector<double> one = {3, 4};
  CrossEntropyOptions<double> masked;
  masked.softmax.keep = MatrixView<const uint8_t>(keep, 1, 2);
  masked.label_smoothing = 0.5;
  const MatrixView<const double> row(one, 1, 2);
  EXPECT_EQ(CrossEntropyRows(row, std::vector<int32_t>{0}, masked)->value, 0);
  EXPECT_EQ(CrossEntropyRows(row, std::vector<int32_t>{1}, masked)->value, kInf);
}

TEST(CrossEntropyRowsTest, LargeWeightsLiftNothingOutOfUnderflow) {
  const std::vector<float> x = {0, -kInfF, -200, 1};
  const std::vector<double> weights = {1e70, 1, 1, 1};
  std::vector<float> g(4);
  CrossEntropyOptions<float> options;
  options.weights = weights;
  options.reduction = Reduction::kSum;
  options.gradient = MatrixView<float>(g, 1, 4);
  ASSERT_TRUE(
      CrossEntropyRows(MatrixView<const float>(x, 1, 4), std::vector<int32_t>{0}, options).ok());
  EXPECT_EQ(g[1], 0);
  EXPECT_NEAR(static_cast<double>(g[2]) / (1e70 * 1.3838965267367376e-87 / (1 + std::exp(1.0))), 1,
              1e-6);
}

TEST(CrossEntropyRowsTest, WeightsOfAnySizeCountByTheirRatios) {
  const Doubles x = {0, 1, 2, 0, 0, 0};
  const MatrixView<const double> view(x, 2, 3);
  const std::vector<int32_t> targets = {0, 1};
  const auto run = [&](double size, double smoothing, Doubles* g, Doubles* losses) {
    const Doubles weights(3, size);
    CrossEntropyOptions<double> options;
    options.weights = weights;
    options.label_smoothing = smoothing;
    options.gradient = MatrixView<double>(*g, 2, 3);
    options.losses = *losses;
    return CrossEntropyRows(view, targets, options);
  };
  for (const double smoothing : {0.0, 0.25}) {
    Doubles expected(6), expected_losses(2), g(6), losses(2);
    const auto one = run(1, smoothing, &expected, &expected_losses);
    for (const double size : {0x1p-1060, 0x1p-1000, 0x1p-890, 0x1p900, 0x1p1020}) {
      const auto loss = run(size, smoothing, &g, &losses);
      ASSERT_TRUE(loss.ok());
      EXPECT_EQ(loss->value, one->value) << size;
      EXPECT_EQ(loss->weight, 2 * size);
      EXPECT_EQ(g, expected) << size;
      for (size_t r = 0; r < 2; ++r) EXPECT_EQ(losses[r], expected_losses[r] * size);
    }
    // Refused, and nothing written.
    EXPECT_EQ(run(1e308, smoothing, &g, &losses).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(g, expected);
  }
}

TEST(CrossEntropyRowsTest, SumsOfLargeLossesDoNotOverflowInAMean) {
  const Doubles x = {0, -1.5e308, 0, -1.5e308};
  CrossEntropyOptions<double> options;
  const MatrixView<const double> view(x, 2, 2);
  EXPECT_EQ(CrossEntropyRows(view, std::vector<int32_t>{1, 1}, options)->value, 1.5e308);
  options.reduction = Reduction::kSum;
  EXPECT_EQ(CrossEntropyRows(view, std::vector<int32_t>{1, 1}, options)->value, kInf);
  EXPECT_EQ(CrossEntropyRows(view, std::vector<int32_t>{1, 0}, options)->value, 1.5e308);
}

TEST(CrossEntropyRowsTest, DifferencesThatOverflowBeforeTheTemperature) {
  const Doubles x = {1.7e308, -1.7e308};
  CrossEntropyOptions<double> options;
  options.softmax.temperature = 1e308;
  const auto loss =
      CrossEntropyRows(MatrixView<const double>(x, 1, 2), std::vector<int32_t>{1}, options);
  EXPECT_NEAR(loss->value, 3.432828470424865, 6 * 0x1p-53 * 3.44);
}

TEST(CrossEntropyTest, BitsAreTheOnesOnRecord) {
  std::vector<uint8_t> bytes;
  const auto append = [&](double x) {
    bytes.resize(bytes.size() + 8);
    StoreLittleEndian(x, bytes.data() + bytes.size() - 8);
  };
  for (const int64_t n : {1, 2, 10, 333, 9000}) {
    const Doubles x = Row<double>(n, 30, static_cast<uint64_t>(n));
    const std::vector<float> f(x.begin(), x.end());
    append(*CrossEntropy(x, n / 2));
    append(static_cast<double>(*CrossEntropy(f, n / 2)));
    std::vector<float> g(f.size());
    Doubles wide_g(x.size());
    ASSERT_TRUE(CrossEntropyGradient(f, n / 2, std::span<float>(g)).ok());
    ASSERT_TRUE(CrossEntropyGradient(x, n / 2, std::span<double>(wide_g)).ok());
    for (const float value : g) append(static_cast<double>(value));
    for (const double value : wide_g) append(value);
    CrossEntropyOptions<float> options;
    options.label_smoothing = 0.1;
    options.gradient = MatrixView<float>(g, 1, n);
    append(CrossEntropyRows(MatrixView<const float>(f, 1, n),
                            std::vector<int32_t>{static_cast<int32_t>(n / 2)}, options)
               ->value);
    for (const float value : g) append(static_cast<double>(value));
  }
  EXPECT_EQ(Sha256Hex(bytes), "471e4d105ce83cd8c509ab7fcbeda23c046d56b0fa1495a986b5cb1d789dbfe0");
}

}  // namespace
}  // namespace assay::floating
