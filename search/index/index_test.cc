// SPDX-License-Identifier: Apache-2.0

#include "search/index/index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"
#include "numerics/core/bits.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/philox.h"
#include "numerics/core/sha256.h"
#include "numerics/core/thread_pool.h"
#include "search/index/reference.h"

namespace assay::index {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kFloatInf = std::numeric_limits<float>::infinity();
constexpr Metric kMetrics[] = {Metric::kL2, Metric::kInnerProduct, Metric::kCosine};

uint32_t Bits(int64_t i, uint32_t seed) {
  return Philox4x32_10({static_cast<uint32_t>(i), 0, 0, 0}, {seed, 0})[0];
}

// Values from a coarse or a fine grid: a coarse one makes equal distances common.
std::vector<float> Floats(int64_t count, uint32_t seed, bool coarse = false) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = Bits(i, seed);
    values.push_back(coarse ? static_cast<float>(bits % 3)
                            : static_cast<float>(static_cast<int32_t>(bits)) / 1073741824.0f);
  }
  return values;
}
std::vector<uint8_t> Bytes(int64_t count, uint32_t seed, bool coarse = false) {
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<uint8_t>(Bits(i, seed) % (coarse ? 3 : 256)));
  }
  return values;
}
template <class T>
std::vector<T> Values(int64_t count, uint32_t seed, bool coarse = false) {
  if constexpr (std::is_same_v<T, float>) {
    return Floats(count, seed, coarse);
  } else {
    return Bytes(count, seed, coarse);
  }
}

template <class T>
FlatIndex<T> Build(const std::vector<T>& rows, int64_t dimension, Metric metric) {
  auto index = FlatIndex<T>::Create(dimension, metric);
  EXPECT_TRUE(index.ok()) << index.status();
  EXPECT_TRUE(index->Add(rows).ok());
  return *std::move(index);
}

void ExpectSameBits(const SearchResult& a, const SearchResult& b) {
  ASSERT_EQ(a.queries, b.queries);
  ASSERT_EQ(a.k, b.k);
  ASSERT_EQ(a.ids, b.ids);
  ASSERT_EQ(a.found, b.found);
  ASSERT_EQ(a.distances.size(), b.distances.size());
  for (size_t i = 0; i < a.distances.size(); ++i) {
    ASSERT_EQ(FloatBits(a.distances[i]), FloatBits(b.distances[i]))
        << "entry " << i << ": " << a.distances[i] << " against " << b.distances[i];
  }
}

std::string Hash(const SearchResult& result) {
  Sha256 hash;
  hash.Update(std::span<const int64_t>(result.ids));
  hash.Update(std::span<const double>(result.distances));
  hash.Update(std::span<const int64_t>(result.found));
  return Hex(hash.Finish());
}

TEST(IndexTest, FindsTheNearestByHand) {
  const auto index = Build<float>({0, 0, 3, 4, 1, 0, -1, 0}, 2, Metric::kL2);
  const auto result = index.Search(std::vector<float>{0, 0}, 3);
  ASSERT_TRUE(result.ok()) << result.status();
  // Rows 2 and 3 are equally far: the smaller id comes first.
  EXPECT_EQ(result->ids, (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(result->distances, (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(result->found, (std::vector<int64_t>{3}));
  const auto all = index.Search(std::vector<float>{0, 0}, 4);
  EXPECT_EQ(all->Ids(0)[3], 1);
  EXPECT_EQ(all->Distances(0)[3], 25);  // squared: no root is taken
}

TEST(IndexTest, InnerProductPutsTheLargestFirst) {
  const auto index = Build<float>({1, 0, 0, 2, -3, 0, 2, 2}, 2, Metric::kInnerProduct);
  const auto result = index.Search(std::vector<float>{1, 1}, 4);
  EXPECT_EQ(result->ids, (std::vector<int64_t>{3, 1, 0, 2}));
  EXPECT_EQ(result->distances, (std::vector<double>{4, 2, 1, -3}));
}

TEST(IndexTest, InnerProductMayPreferALongerVectorToTheQueryItself) {
  const auto index = Build<float>({1, 0, 5, 5}, 2, Metric::kInnerProduct);
  EXPECT_EQ(index.Search(std::vector<float>{1, 0}, 1)->ids[0], 1);
}

TEST(IndexTest, CosineIgnoresLengthAndKnowsTheZeroVector) {
  const auto index = Build<float>({2, 0, 0, 0, 0, 7, -1, 0}, 2, Metric::kCosine);
  const auto result = index.Search(std::vector<float>{5, 0}, 4);
  EXPECT_EQ(result->ids, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(result->distances, (std::vector<double>{0, 1, 1, 2}));
  // A zero query is at distance 1 from everything, itself included.
  const auto zero = index.Search(std::vector<float>{0, 0}, 4);
  EXPECT_EQ(zero->ids, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(zero->distances, (std::vector<double>{1, 1, 1, 1}));
}

TEST(IndexTest, CosineIsRightForVeryLongAndVeryShortVectors) {
  // Squares of f32 would overflow, or lose their digits, for all but 1e-3 and 1.
  const float denormal = std::numeric_limits<float>::denorm_min();
  const std::vector<float> lengths = {denormal, 1e-40f, 3e-23f, 1e-16f, 1e-3f,
                                      1,        1e17f,  1e20f,  3e38f};
  for (const float row : lengths) {
    for (const float query : lengths) {
      SCOPED_TRACE(testing::Message() << query << " against " << row);
      const auto line = Build<float>({row, -row, 0}, 1, Metric::kCosine);
      const auto along = line.Search(std::vector<float>{query}, 3);
      EXPECT_EQ(along->ids, (std::vector<int64_t>{0, 2, 1}));
      EXPECT_NEAR(along->distances[0], 0, 1e-7);
      EXPECT_EQ(along->distances[1], 1);
      EXPECT_NEAR(along->distances[2], 2, 1e-7);
      // Many coordinates: the sum overflows where no term does. 45 degrees between the two.
      std::vector<float> wide(2 * 40, row);
      std::fill(wide.begin() + 60, wide.end(), 0.0f);
      const auto plane = Build<float>(wide, 40, Metric::kCosine);
      const auto result = plane.Search(std::vector<float>(40, query), 2);
      EXPECT_EQ(result->ids, (std::vector<int64_t>{0, 1}));
      EXPECT_NEAR(result->distances[0], 0, 1e-6);
      EXPECT_NEAR(result->distances[1], 1 - std::sqrt(0.5), 1e-6);
    }
  }
}

TEST(IndexTest, CosineOfAnyLengthEqualsTheReferenceBitForBit) {
  const int64_t d = 37, n = 60, m = 40;
  std::vector<float> rows = Floats(n * d, 91);
  std::vector<float> queries = Floats(m * d, 92);
  // Lengths from subnormal to the largest, and through both bounds between the two sums.
  for (int64_t i = 0; i < n * d; ++i)
    rows[i] = std::ldexp(rows[i], static_cast<int>(i / d) * 4 - 120);
  for (int64_t i = 0; i < m * d; ++i) {
    queries[i] = std::ldexp(queries[i], static_cast<int>(i / d) * 6 - 118);
  }
  const auto index = Build<float>(rows, d, Metric::kCosine);
  const auto expected = SearchReference(MatrixView<const float>(rows, n, d),
                                        MatrixView<const float>(queries, m, d), n, Metric::kCosine);
  ASSERT_TRUE(expected.ok());
  ExpectSameBits(*index.Search(queries, n), *expected);
}

TEST(IndexTest, CosineStaysInItsRange) {
  const std::vector<float> rows = Floats(200 * 7, 3);
  const auto index = Build<float>(rows, 7, Metric::kCosine);
  const auto result = index.Search(rows, 200);
  for (const double distance : result->distances) {
    EXPECT_GE(distance, 0);
    EXPECT_LE(distance, 2);
  }
}

TEST(IndexTest, BytesAreComparedExactly) {
  // Two rows that differ by one in 51 million: f32 sums could not tell them apart.
  std::vector<uint8_t> rows(3 * 784, 0);
  std::fill(rows.begin(), rows.begin() + 784, 255);
  std::fill(rows.begin() + 784, rows.begin() + 2 * 784, 255);
  rows[784 + 5] = 254;
  const auto index = Build<uint8_t>(rows, 784, Metric::kL2);
  const auto result = index.Search(std::vector<uint8_t>(784, 0), 3);
  EXPECT_EQ(result->ids, (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(result->distances, (std::vector<double>{0, 50979600.0 - 509, 50979600.0}));
}

template <class T>
class TypedIndexTest : public testing::Test {};
using Elements = testing::Types<float, uint8_t>;
TYPED_TEST_SUITE(TypedIndexTest, Elements);

TYPED_TEST(TypedIndexTest, EqualsTheReferenceBitForBit) {
  using T = TypeParam;
  // Dimensions around the register widths; numbers of rows around the tiles; k on both sides of n.
  for (const int64_t d : {1, 2, 3, 15, 16, 17, 31, 33, 64, 65}) {
    for (const int64_t n : {1, 2, 3, 4, 5, 63, 64, 65, 131}) {
      for (const bool coarse : {false, true}) {
        const std::vector<T> rows = Values<T>(n * d, 11, coarse);
        const int64_t m = 1 + (n + d) % 7;
        const std::vector<T> queries = Values<T>(m * d, 12, coarse);
        for (const Metric metric : kMetrics) {
          const FlatIndex<T> index = Build<T>(rows, d, metric);
          for (const int64_t k : {int64_t{1}, int64_t{3}, n, n + 5}) {
            SCOPED_TRACE(testing::Message() << "d " << d << " n " << n << " m " << m << " k " << k
                                            << " " << MetricName(metric));
            const auto result = index.Search(queries, k);
            ASSERT_TRUE(result.ok()) << result.status();
            const auto expected = SearchReference(MatrixView<const T>(rows, n, d),
                                                  MatrixView<const T>(queries, m, d), k, metric);
            ASSERT_TRUE(expected.ok());
            ASSERT_NO_FATAL_FAILURE(ExpectSameBits(*result, *expected));
          }
        }
      }
    }
  }
}

TYPED_TEST(TypedIndexTest, ManyRowsAndQueriesEqualTheReference) {
  using T = TypeParam;
  // More than one segment of rows and more than one block of queries, with many ties.
  const int64_t d = 5, n = 17000, m = 70;
  const std::vector<T> rows = Values<T>(n * d, 21, true);
  const std::vector<T> queries = Values<T>(m * d, 22, true);
  const FlatIndex<T> index = Build<T>(rows, d, Metric::kL2);
  const auto expected = SearchReference(MatrixView<const T>(rows, n, d),
                                        MatrixView<const T>(queries, m, d), 100, Metric::kL2);
  ExpectSameBits(*index.Search(queries, 100), *expected);
  const auto few = index.Search(std::span<const T>(queries).first(3 * d), 100);
  for (int64_t i = 0; i < 3 * 100; ++i) ASSERT_EQ(few->ids[i], expected->ids[i]);
}

TYPED_TEST(TypedIndexTest, AQueryAloneAndInABatchGetTheSameBits) {
  using T = TypeParam;
  const int64_t d = 33, n = 300, m = 80;
  const std::vector<T> rows = Values<T>(n * d, 31);
  const std::vector<T> queries = Values<T>(m * d, 32);
  for (const Metric metric : kMetrics) {
    const FlatIndex<T> index = Build<T>(rows, d, metric);
    const auto batch = index.Search(queries, 7);
    for (int64_t q = 0; q < m; ++q) {
      const auto alone = index.Search(std::span<const T>(queries).subspan(q * d, d), 7);
      for (int64_t i = 0; i < 7; ++i) {
        ASSERT_EQ(alone->ids[i], batch->ids[q * 7 + i]);
        ASSERT_EQ(FloatBits(alone->distances[i]), FloatBits(batch->distances[q * 7 + i]));
      }
    }
  }
}

TYPED_TEST(TypedIndexTest, AnyNumberOfThreadsGivesTheSameBitsAndCounts) {
  using T = TypeParam;
  const int64_t d = 20, n = 40000;
  const std::vector<T> rows = Values<T>(n * d, 41, true);
  const FlatIndex<T> index = Build<T>(rows, d, Metric::kL2);
  for (const int64_t m : {1, 3, 100}) {
    const std::vector<T> queries = Values<T>(m * d, 42, true);
    const auto alone = index.Search(queries, 10, {.explain = true});
    for (const int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      const auto result = index.Search(queries, 10, {.explain = true, .pool = &pool});
      ASSERT_NO_FATAL_FAILURE(ExpectSameBits(*alone, *result));
      ASSERT_EQ(alone->work, result->work) << m << " queries, " << threads << " threads";
    }
  }
}

TYPED_TEST(TypedIndexTest, EveryRegisterWidthGivesTheSameBits) {
  using T = TypeParam;
  const int64_t d = 37, n = 500, m = 9;
  const std::vector<T> rows = Values<T>(n * d, 51);
  const std::vector<T> queries = Values<T>(m * d, 52);
  for (const Metric metric : kMetrics) {
    const FlatIndex<T> index = Build<T>(rows, d, metric);
    const auto chosen = index.Search(queries, 20);
    for (int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
      SCOPED_TRACE(hwy::TargetName(rest & -rest));
      hwy::SetSupportedTargetsForTest(rest & -rest);
      const auto result = index.Search(queries, 20);
      hwy::SetSupportedTargetsForTest(0);
      ASSERT_NO_FATAL_FAILURE(ExpectSameBits(*chosen, *result));
    }
  }
}

// The committed bits: native and WebAssembly must both reproduce them.
TEST(IndexTest, BitsAreTheCommittedOnes) {
  const int64_t d = 100, n = 1000, m = 50, k = 10;
  const std::vector<float> rows = Floats(n * d, 61);
  const std::vector<float> queries = Floats(m * d, 62);
  const std::array<std::string, 3> floats = {
      "8a3002ee3f8d44d0bbedeea1def960e10cab7505dfc4010305a3c35ae21a781a",
      "13ba17de6cfd560cc7c1266cf0e4ae6c3f694bb86c8099e90d407c008a98310e",
      "e6311f444f579bc747efbf93fdf17864f830d512a0914a86aef83b6857a4c329",
  };
  const std::vector<uint8_t> byte_rows = Bytes(n * d, 63);
  const std::vector<uint8_t> byte_queries = Bytes(m * d, 64);
  const std::array<std::string, 3> bytes = {
      "7fa1ac23f215efecac53a741d950ef6b9be33ab0faae3e285a979ca6c6ac4d70",
      "f650ca980ed1760de2c8416fca117ec3754282490e069bdd47f934eda31ff283",
      "bb8ef5d68e939a40e4154a695f994f9781f673f860ce19f5a9cd6dbcebc667f7",
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Hash(*Build<float>(rows, d, kMetrics[i]).Search(queries, k)), floats[i]);
    EXPECT_EQ(Hash(*Build<uint8_t>(byte_rows, d, kMetrics[i]).Search(byte_queries, k)), bytes[i]);
  }
}

TEST(IndexTest, EqualRowsComeOutInTheOrderOfTheirIds) {
  std::vector<float> rows(100 * 3, 0.25f);
  const auto index = Build<float>(rows, 3, Metric::kL2);
  const auto result = index.Search(std::vector<float>{1, 2, 3}, 70);
  for (int64_t i = 0; i < 70; ++i) EXPECT_EQ(result->ids[i], i);
}

TEST(IndexTest, PadsWhereThereAreFewerThanK) {
  const auto index = Build<float>({1, 2}, 1, Metric::kL2);
  const auto result = index.Search(std::vector<float>{0, 5}, 4);
  EXPECT_EQ(result->ids, (std::vector<int64_t>{0, 1, -1, -1, 1, 0, -1, -1}));
  EXPECT_EQ(result->distances, (std::vector<double>{1, 4, kInf, kInf, 9, 16, kInf, kInf}));
  EXPECT_EQ(result->found, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(result->Ids(1).size(), 2u);
  const auto product = Build<float>({1}, 1, Metric::kInnerProduct).Search(std::vector<float>{3}, 2);
  EXPECT_EQ(product->distances, (std::vector<double>{3, -kInf}));
}

TEST(IndexTest, AnEmptyIndexFindsNothingForAnyQuery) {
  const auto index = FlatIndex<float>::Create(3, Metric::kCosine);
  const auto result = index->Search(std::vector<float>(6, 1.0f), 2);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->ids, (std::vector<int64_t>{-1, -1, -1, -1}));
  EXPECT_EQ(result->distances, (std::vector<double>{kInf, kInf, kInf, kInf}));
  EXPECT_EQ(result->found, (std::vector<int64_t>{0, 0}));
}

TEST(IndexTest, NoQueriesGiveAnEmptyResult) {
  const auto index = Build<float>({1, 2}, 2, Metric::kL2);
  const auto result = index.Search(std::span<const float>(), 5);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->queries, 0);
  EXPECT_EQ(result->k, 5);
  EXPECT_TRUE(result->ids.empty());
}

TEST(IndexTest, NonFiniteRowsAreKeptButNeverReturned) {
  for (const Metric metric : kMetrics) {
    SCOPED_TRACE(MetricName(metric));
    const auto index = Build<float>({kNan, 1, 1, 1, kFloatInf, 1, 1, -kFloatInf, 2, 1}, 2, metric);
    EXPECT_EQ(index.size(), 5);
    EXPECT_EQ(index.unsearchable(), 3);
    const auto result = index.Search(std::vector<float>{1, 1}, 5);
    EXPECT_EQ(result->found[0], 2);
    std::vector<int64_t> ids(result->ids.begin(), result->ids.begin() + 2);
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, (std::vector<int64_t>{1, 4}));
    EXPECT_EQ(result->ids[2], -1);
    EXPECT_EQ((*index.Row(2))[0], kFloatInf);
  }
}

TEST(IndexTest, ANonFiniteQueryFindsNothingAndDisturbsNoOther) {
  for (const Metric metric : kMetrics) {
    const auto index = Build<float>({1, 1, 2, 2}, 2, metric);
    const auto result = index.Search(std::vector<float>{kNan, 1, 1, 1, 1, kFloatInf}, 1);
    EXPECT_EQ(result->found, (std::vector<int64_t>{0, 1, 0}));
    EXPECT_EQ(result->ids[0], -1);
    EXPECT_NE(result->ids[1], -1);
    EXPECT_EQ(result->ids[2], -1);
  }
}

TEST(IndexTest, DistancesThatOverflowComeLast) {
  const float large = 3e38f;
  const auto index = Build<float>({large, 0}, 1, Metric::kL2);
  const auto result = index.Search(std::vector<float>{-large}, 2);
  EXPECT_EQ(result->found[0], 2);
  EXPECT_EQ(result->distances, (std::vector<double>{kInf, kInf}));
  EXPECT_EQ(result->ids, (std::vector<int64_t>{0, 1}));
  // +inf and -inf in one sum: no number, no hit.
  const auto product = Build<float>({large, large}, 2, Metric::kInnerProduct);
  EXPECT_EQ(product.Search(std::vector<float>{large, -large}, 1)->found[0], 0);
}

TEST(IndexTest, SubnormalsAndNegativeZeroAreNumbers) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const auto index = Build<float>({-0.0f, tiny, 1}, 1, Metric::kInnerProduct);
  const auto result = index.Search(std::vector<float>{1}, 3);
  EXPECT_EQ(result->ids, (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(result->distances[1], tiny);
}

TEST(IndexTest, RefusesWrongInputAndNamesIt) {
  EXPECT_EQ(FlatIndex<float>::Create(0, Metric::kL2).status().message(),
            "index: dimension is 0, expected 1 to 32768");
  EXPECT_EQ(FlatIndex<float>::Create(-3, Metric::kL2).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FlatIndex<uint8_t>::Create(32769, Metric::kL2).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FlatIndex<float>::Create(2, static_cast<Metric>(9)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FlatIndex<float>::Create(2, Metric::kL2, {.max_bytes = -1}).status().code(),
            absl::StatusCode::kInvalidArgument);

  auto index = Build<float>({1, 2, 3, 4}, 2, Metric::kL2);
  EXPECT_EQ(index.Add(std::vector<float>{1, 2, 3}).message(),
            "index: 3 values are no whole number of rows of 2");
  const std::vector<float> six(6);
  EXPECT_EQ(index.Add(MatrixView<const float>(six, 2, 3)).message(),
            "index: rows have 3 columns, expected 2");
  EXPECT_EQ(index.size(), 2);
  EXPECT_EQ(index.Search(std::vector<float>{1, 2, 3}, 1).status().message(),
            "search: 3 values are no whole number of queries of 2");
  EXPECT_EQ(index.Search(MatrixView<const float>(six, 2, 3), 1).status().message(),
            "search: queries have 3 columns, expected 2");
  EXPECT_EQ(index.Search(std::vector<float>{1, 2}, 0).status().message(),
            "search: k is 0, expected 1 or more");
  EXPECT_EQ(index.Search(std::vector<float>{1, 2}, -5).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      index.Search(std::vector<float>{1, 2}, std::numeric_limits<int64_t>::max()).status().code(),
      absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(index.Row(2).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(index.Row(-1).status().code(), absl::StatusCode::kNotFound);
}

TEST(IndexTest, BeyondMaxBytesNothingChanges) {
  // Two floats are padded to 64 bytes a row.
  auto index = FlatIndex<float>::Create(2, Metric::kL2, {.max_bytes = 200});
  ASSERT_TRUE(index->Add(std::vector<float>{1, 2, 3, 4}).ok());
  EXPECT_EQ(index->Add(std::vector<float>{5, 6, 7, 8}).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(index->size(), 2);
  EXPECT_TRUE(index->Add(std::vector<float>{5, 6}).ok());
  EXPECT_EQ(index->Search(std::vector<float>{5, 6}, 1)->ids[0], 2);
}

TEST(IndexTest, StridedViewsAreReadAsTheyLie) {
  // Columns of a 3 x 4 matrix as rows, every second element as a query.
  const std::vector<float> values = {1, 5, 0, 9, 2, 6, 0, 9, 3, 7, 0, 9};
  auto index = FlatIndex<float>::Create(3, Metric::kL2);
  ASSERT_TRUE(index->Add(MatrixView<const float>(values, 3, 4).Transposed()).ok());
  EXPECT_EQ(index->size(), 4);
  EXPECT_EQ((*index->Row(1))[2], 7);
  const std::vector<float> spread = {9, -1, 9, -1, 9, -1};
  const auto query = MatrixView<const float>::Create(spread, 1, 3, 6, 2);
  EXPECT_EQ(index->Search(*query, 1)->ids[0], 3);
}

TEST(IndexTest, RowsAddedInPiecesEqualRowsAddedAtOnce) {
  const std::vector<float> rows = Floats(100 * 5, 71);
  const auto at_once = Build<float>(rows, 5, Metric::kCosine);
  auto in_pieces = FlatIndex<float>::Create(5, Metric::kCosine);
  for (int64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(in_pieces->Add(std::span<const float>(rows).subspan(i * 5, 5)).ok());
  }
  const std::vector<float> queries = Floats(4 * 5, 72);
  ExpectSameBits(*at_once.Search(queries, 9), *in_pieces->Search(queries, 9));
}

TEST(IndexTest, RowsOfTheIndexItselfCanBeAdded) {
  // Rows of 128 KiB: an allocator gives such blocks back to the system, and a late read ends there.
  const int64_t d = 32768;
  auto index = FlatIndex<float>::Create(d, Metric::kL2);
  const std::vector<float> rows = Floats(3 * d, 93);
  ASSERT_TRUE(index->Add(rows).ok());
  // Every other time there is no room left.
  for (int64_t id = 0; id < 12; ++id) ASSERT_TRUE(index->Add(*index->Row(id)).ok());
  ASSERT_EQ(index->size(), 15);
  for (int64_t id = 0; id < index->size(); ++id) {
    const std::span<const float> row = *index->Row(id);
    for (int64_t j = 0; j < d; ++j) {
      ASSERT_EQ(FloatBits(row[j]), FloatBits(rows[(id % 3) * d + j])) << id << " " << j;
    }
  }
}

TEST(IndexTest, ExplainCountsTheWork) {
  const auto index = Build<uint8_t>(Bytes(1000 * 784, 81), 784, Metric::kL2);
  const std::vector<uint8_t> queries = Bytes(40 * 784, 82);
  const auto silent = index.Search(queries, 10);
  EXPECT_EQ(silent->work, Work{});
  const Work work = index.Search(queries, 10, {.explain = true})->work;
  EXPECT_EQ(work.distances, 40 * 1000);
  EXPECT_EQ(work.pair_bytes, int64_t{40} * 1000 * 784);
  // Two blocks of queries read the matrix twice, its rows padded to 800 bytes.
  EXPECT_EQ(work.tile_bytes, 2 * 1000 * 800);
  EXPECT_EQ(work.query_bytes, 40 * 800 * 2);
  EXPECT_GE(work.heap_pushes, 40 * 10);
  EXPECT_LT(work.heap_pushes, 40 * 100);
}

}  // namespace
}  // namespace assay::index
