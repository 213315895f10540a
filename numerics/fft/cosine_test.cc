// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/cosine.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/reference.h"

namespace assay::fft {
namespace {

constexpr CosineKind kKinds[] = {CosineKind::kDct1, CosineKind::kDct2, CosineKind::kDct3,
                                 CosineKind::kDct4, CosineKind::kDst1, CosineKind::kDst2,
                                 CosineKind::kDst3, CosineKind::kDst4};
constexpr CosineNorm kNorms[] = {CosineNorm::kNone, CosineNorm::kOrthonormal};

int64_t Least(CosineKind kind) { return kind == CosineKind::kDct1 ? 2 : 1; }

std::string Name(CosineKind kind, int64_t n) {
  return std::string(CosineName(kind)) + " of " + std::to_string(n);
}

DoubleDouble Half(DoubleDouble a) { return {a.hi / 2, a.lo / 2}; }
DoubleDouble Negative(DoubleDouble a) { return {-a.hi, -a.lo}; }

// sqrt(a) by Newton's step from the double: twice the digits.
DoubleDouble Root(DoubleDouble a) {
  const double r = std::sqrt(a.hi);
  const DoubleDouble square = Multiply({r, 0}, {r, 0});
  const DoubleDouble rest = Add(a, Negative(square));
  return Add({r, 0}, Divide(rest, {2 * r, 0}));
}

// The coefficient of x[j] in output k of the unnormalised transform, by its definition.
DoubleDouble Coefficient(CosineKind kind, int64_t n, int64_t j, int64_t k) {
  auto cosine = [](int64_t t, int64_t m) { return UnitRootOracle(t, m).re; };
  auto sine = [](int64_t t, int64_t m) { return Negative(UnitRootOracle(t, m).im); };
  auto twice = [](DoubleDouble a) { return Add(a, a); };
  switch (kind) {
    case CosineKind::kDct1: {
      const DoubleDouble c = cosine(j * k, 2 * (n - 1));
      return j == 0 || j == n - 1 ? c : twice(c);
    }
    case CosineKind::kDct2:
      return twice(cosine((2 * j + 1) * k, 4 * n));
    case CosineKind::kDct3:
      return j == 0 ? DoubleDouble{1, 0} : twice(cosine(j * (2 * k + 1), 4 * n));
    case CosineKind::kDct4:
      return twice(cosine((2 * j + 1) * (2 * k + 1), 8 * n));
    case CosineKind::kDst1:
      return twice(sine((j + 1) * (k + 1), 2 * (n + 1)));
    case CosineKind::kDst2:
      return twice(sine((2 * j + 1) * (k + 1), 4 * n));
    case CosineKind::kDst3:
      return j == n - 1 ? DoubleDouble{k % 2 == 0 ? 1.0 : -1.0, 0}
                        : twice(sine((j + 1) * (2 * k + 1), 4 * n));
    default:
      return twice(sine((2 * j + 1) * (2 * k + 1), 8 * n));
  }
}

// The same of the orthonormal transform, as scipy defines it.
DoubleDouble Coefficient(CosineKind kind, CosineNorm norm, int64_t n, int64_t j, int64_t k) {
  DoubleDouble c = Coefficient(kind, n, j, k);
  if (norm == CosineNorm::kNone) return c;
  const int64_t base = kind == CosineKind::kDct1 ? n - 1 : kind == CosineKind::kDst1 ? n + 1 : n;
  DoubleDouble squared = Divide({1, 0}, {2 * static_cast<double>(base), 0});
  auto edge = [n](int64_t i) { return i == 0 || i == n - 1; };
  if (kind == CosineKind::kDct1 && edge(j)) squared = Add(squared, squared);
  if (kind == CosineKind::kDct1 && edge(k)) squared = Half(squared);
  if (kind == CosineKind::kDct2 && k == 0) squared = Half(squared);
  if (kind == CosineKind::kDct3 && j == 0) squared = Add(squared, squared);
  if (kind == CosineKind::kDst2 && k == n - 1) squared = Half(squared);
  if (kind == CosineKind::kDst3 && j == n - 1) squared = Add(squared, squared);
  return Multiply(c, Root(squared));
}

template <class T>
std::vector<DoubleDouble> Oracle(CosineKind kind, CosineNorm norm, const std::vector<T>& x) {
  const int64_t n = static_cast<int64_t>(x.size());
  std::vector<DoubleDouble> y;
  for (int64_t k = 0; k < n; ++k) {
    DoubleDouble sum;
    for (int64_t j = 0; j < n; ++j) {
      sum = Add(sum, Multiply(Coefficient(kind, norm, n, j, k), {x[static_cast<size_t>(j)], 0}));
    }
    y.push_back(sum);
  }
  return y;
}

template <class T>
double RelativeError(const std::vector<T>& y, const std::vector<DoubleDouble>& truth) {
  double error = 0, norm = 0;
  for (size_t k = 0; k < y.size(); ++k) {
    const double d = (y[k] - truth[k].hi) - truth[k].lo;
    error += d * d;
    norm += truth[k].hi * truth[k].hi;
  }
  return std::sqrt(error / norm);
}

template <class T>
std::vector<T> RandomReals(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<T> x;
  for (int64_t j = 0; j < n; ++j) x.push_back(static_cast<T>(2 * random.Uniform() - 1));
  return x;
}

template <class T>
CosinePlan<T> Make(CosineKind kind, int64_t n, CosineNorm norm = CosineNorm::kNone) {
  absl::StatusOr<CosinePlan<T>> plan = CosinePlan<T>::Create(kind, n, norm);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

template <class T>
std::vector<T> Transformed(const CosinePlan<T>& plan, const std::vector<T>& x) {
  std::vector<T> y(x.size(), T{-7});
  std::vector<T> scratch(static_cast<size_t>(plan.scratch_size()),
                         std::numeric_limits<T>::quiet_NaN());
  EXPECT_TRUE(plan.Transform(x, y, scratch).ok());
  return y;
}

template <class T>
class CosineTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CosineTest, Types);

TYPED_TEST(CosineTest, KeepsItsBoundForEveryKindNormAndLength) {
  using T = TypeParam;
  std::vector<int64_t> lengths;
  for (int64_t n = 1; n <= 24; ++n) lengths.push_back(n);
  for (int64_t n : {31, 32, 33, 34, 36, 64, 65, 96, 127, 129}) lengths.push_back(n);
  double worst = 0, largest = 0;
  for (CosineKind kind : kKinds) {
    for (CosineNorm norm : kNorms) {
      for (int64_t n : lengths) {
        if (n < Least(kind)) continue;
        const CosinePlan<T> plan = Make<T>(kind, n, norm);
        const std::vector<T> x = RandomReals<T>(n, static_cast<uint64_t>(n));
        const double error = RelativeError(Transformed(plan, x), Oracle(kind, norm, x));
        ASSERT_LE(error, plan.L2ErrorBound()) << Name(kind, n);
        worst = std::max(worst, error / plan.L2ErrorBound());
        largest = std::max(largest, error / static_cast<double>(std::numeric_limits<T>::epsilon()));
        // No less than one rounding of every output.
        ASSERT_GE(plan.L2ErrorBound(), n == 1 ? 0 : std::numeric_limits<T>::epsilon() / 2);
        ASSERT_LT(plan.L2ErrorBound(), 150 * std::numeric_limits<T>::epsilon()) << Name(kind, n);
      }
    }
  }
  std::printf("[ observed ] worst error / bound: %.4f, largest error: %.2f u\n", worst,
              2 * largest);
}

// One unit sample at a time: every coefficient, none lost in a sum.
TYPED_TEST(CosineTest, HasTheMatrixOfItsDefinition) {
  using T = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (CosineKind kind : kKinds) {
    for (CosineNorm norm : kNorms) {
      for (int64_t n : {2, 3, 4, 7, 8, 9, 15, 17, 20, 32, 33}) {
        const CosinePlan<T> plan = Make<T>(kind, n, norm);
        for (int64_t j = 0; j < n; ++j) {
          std::vector<T> x(static_cast<size_t>(n));
          x[static_cast<size_t>(j)] = 1;
          const std::vector<T> y = Transformed(plan, x);
          for (int64_t k = 0; k < n; ++k) {
            ASSERT_NEAR(y[static_cast<size_t>(k)], Coefficient(kind, norm, n, j, k).hi, 20 * eps)
                << Name(kind, n) << " at " << j << ", " << k;
          }
        }
      }
    }
  }
}

TYPED_TEST(CosineTest, IsUndoneByTheInverseKind) {
  using T = TypeParam;
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (CosineKind kind : kKinds) {
    EXPECT_EQ(InverseKind(InverseKind(kind)), kind);
    for (CosineNorm norm : kNorms) {
      for (int64_t n : {2, 5, 16, 33, 257, 1000, 1001, 2047, 2048, 2049}) {
        const CosinePlan<T> plan = Make<T>(kind, n, norm);
        const CosinePlan<T> back = Make<T>(InverseKind(kind), n, norm);
        const std::vector<T> x = RandomReals<T>(n, 5);
        const std::vector<T> y = Transformed(back, Transformed(plan, x));
        EXPECT_EQ(plan.InverseDivisor(), back.InverseDivisor());
        EXPECT_EQ(plan.InverseDivisor() == 1, norm == CosineNorm::kOrthonormal);
        for (size_t j = 0; j < x.size(); ++j) {
          ASSERT_NEAR(y[j] / static_cast<double>(plan.InverseDivisor()), x[j], 40 * eps)
              << Name(kind, n);
        }
      }
    }
  }
}

// Long ones against long double sums would be slow: against double sums of the definition instead.
TEST(CosineLongTest, FloatKeepsItsBoundForLongLengths) {
  for (CosineKind kind : kKinds) {
    for (int64_t n : {1023, 1024, 1025}) {
      const CosinePlan<float> plan = Make<float>(kind, n);
      const CosinePlan<double> wide = Make<double>(kind, n);
      const std::vector<float> x = RandomReals<float>(n, 9);
      const std::vector<double> truth = Transformed(wide, std::vector<double>(x.begin(), x.end()));
      std::vector<DoubleDouble> oracle;
      for (double v : truth) oracle.push_back({v, 0});
      EXPECT_LE(RelativeError(Transformed(plan, x), oracle),
                plan.L2ErrorBound() + wide.L2ErrorBound())
          << Name(kind, n);
    }
  }
}

TYPED_TEST(CosineTest, GivesTheSameBitsInPlace) {
  using T = TypeParam;
  for (CosineKind kind : kKinds) {
    for (int64_t n : {2, 3, 10, 33, 64, 65}) {
      const CosinePlan<T> plan = Make<T>(kind, n, CosineNorm::kOrthonormal);
      std::vector<T> x = RandomReals<T>(n, 3);
      const std::vector<T> y = Transformed(plan, x);
      std::vector<T> scratch(static_cast<size_t>(plan.scratch_size()));
      ASSERT_TRUE(plan.Transform(x, x, scratch).ok());
      ASSERT_EQ(x, y) << Name(kind, n);
    }
  }
}

TYPED_TEST(CosineTest, TransformsAxesOneAfterTheOther) {
  using T = TypeParam;
  ThreadPool pool(3);
  for (CosineKind kind : kKinds) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{6, 7}, {3, 18, 5}, {140, 130}, {40, 2}}) {
      absl::StatusOr<MultiCosinePlan<T>> plan = MultiCosinePlan<T>::Create(kind, shape, 2);
      ASSERT_TRUE(plan.ok()) << plan.status();
      const int64_t rows = shape[shape.size() - 2], columns = shape.back();
      std::vector<T> x = RandomReals<T>(plan->size(), 4), y(x.size()), lines = x;
      std::vector<T> scratch(static_cast<size_t>(plan->scratch_size(3)));
      ASSERT_TRUE(plan->Transform(x, y, scratch).ok());
      const CosinePlan<T> row = Make<T>(kind, columns), column = Make<T>(kind, rows);
      for (size_t image = 0; image < lines.size(); image += static_cast<size_t>(rows * columns)) {
        for (int64_t r = 0; r < rows; ++r) {
          const auto begin = lines.begin() + static_cast<ptrdiff_t>(image) + r * columns;
          const std::vector<T> out = Transformed(row, std::vector<T>(begin, begin + columns));
          std::copy(out.begin(), out.end(), begin);
        }
        for (int64_t c = 0; c < columns; ++c) {
          std::vector<T> line;
          for (int64_t r = 0; r < rows; ++r) {
            line.push_back(lines[image + static_cast<size_t>(r * columns + c)]);
          }
          line = Transformed(column, line);
          for (int64_t r = 0; r < rows; ++r) {
            lines[image + static_cast<size_t>(r * columns + c)] = line[static_cast<size_t>(r)];
          }
        }
      }
      EXPECT_EQ(y, lines);
      ASSERT_TRUE(plan->Transform(x, x, scratch, &pool).ok());
      EXPECT_EQ(x, y);
      // Below what the axes' bounds and conditions allow at most, above the larger of them.
      EXPECT_GE(plan->L2ErrorBound(), std::max(row.L2ErrorBound(), column.L2ErrorBound()));
      EXPECT_LE(plan->L2ErrorBound(), 2.01 * (row.L2ErrorBound() + column.L2ErrorBound()));
    }
  }
}

TYPED_TEST(CosineTest, ReportsWrongLengthsAndBuffers) {
  using T = TypeParam;
  const auto wrong = absl::StatusCode::kInvalidArgument;
  for (CosineKind kind : kKinds) {
    for (int64_t n : {int64_t{0}, int64_t{-5}, Least(kind) - 1, kMaxSize,
                      std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
      const absl::Status status = CosinePlan<T>::Create(kind, n).status();
      EXPECT_EQ(status.code(), wrong) << n;
      EXPECT_NE(status.message().find(std::to_string(n)), absl::string_view::npos);
    }
    EXPECT_TRUE(CosinePlan<T>::Create(kind, Least(kind)).ok());
    const CosinePlan<T> plan = Make<T>(kind, 12);
    std::vector<T> x(12, 1), y(13, 7), scratch(static_cast<size_t>(plan.scratch_size()));
    const std::span<T> out = std::span<T>(y).first(12);
    EXPECT_EQ(plan.Transform(std::span<const T>(x).first(11), out, scratch).code(), wrong);
    EXPECT_EQ(plan.Transform(x, y, scratch).code(), wrong);
    EXPECT_EQ(plan.Transform(x, out, std::span<T>(scratch).first(scratch.size() - 1)).code(),
              wrong);
    EXPECT_EQ(plan.Transform(out, std::span<T>(y).subspan(1), scratch).code(), wrong);
    EXPECT_EQ(plan.Transform(std::span<const T>(scratch).first(12), out, scratch).code(), wrong);
    EXPECT_EQ(y, std::vector<T>(13, 7));
    EXPECT_EQ(MultiCosinePlan<T>::Create(kind, std::vector<int64_t>{4, 0}, 1).status().code(),
              wrong);
    EXPECT_EQ(MultiCosinePlan<T>::Create(kind, std::vector<int64_t>{4, 4}, 3).status().code(),
              wrong);
  }
  EXPECT_EQ(
      MultiCosinePlan<T>::Create(CosineKind::kDct1, std::vector<int64_t>{1, 4}, 2).status().code(),
      wrong);
}

}  // namespace
}  // namespace assay::fft
