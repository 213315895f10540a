// SPDX-License-Identifier: Apache-2.0
#include "numerics/isotonic/radix_sort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::isotonic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kMin = std::numeric_limits<double>::denorm_min();

TEST(OrderedKeyTest, OrdersAsTheNumbersDo) {
  const double ascending[] = {-kInfinity, -kMax,     -1.5, -1,  -0x1p-1022, -kMin,    0,
                              kMin,       0x1p-1022, 1,    1.5, kMax,       kInfinity};
  for (double a : ascending) {
    for (double b : ascending) {
      EXPECT_EQ(OrderedKey(a) < OrderedKey(b), a < b) << a << " " << b;
      EXPECT_EQ(OrderedKey(a) == OrderedKey(b), a == b) << a << " " << b;
    }
    EXPECT_EQ(FloatBits(FromOrderedKey(OrderedKey(a))), FloatBits(a)) << a;
  }
  EXPECT_EQ(OrderedKey(-0.0), OrderedKey(0.0));
  EXPECT_EQ(FloatBits(FromOrderedKey(OrderedKey(-0.0))), FloatBits(0.0));
}

TEST(KeyRangeTest, KnowsWhatIsNotFinite) {
  std::vector<double> x(70001, 1.0);
  x[5] = kMax;
  x[69999] = -kMax;
  ThreadPool pool(2);
  const KeyRange range = RangeOfKeys(std::span<const double>(x), &pool);
  EXPECT_EQ(range.min, OrderedKey(-kMax));
  EXPECT_EQ(range.max, OrderedKey(kMax));
  EXPECT_TRUE(range.finite());
  for (double bad : {kInfinity, -kInfinity, kNaN, -kNaN}) {
    for (size_t at : {size_t{0}, size_t{65536}, x.size() - 1}) {
      std::vector<double> y = x;
      y[at] = bad;
      EXPECT_FALSE(RangeOfKeys(std::span<const double>(y), nullptr).finite());
    }
    const std::vector<float> z = {1, static_cast<float>(bad)};
    EXPECT_FALSE(RangeOfKeys(std::span<const float>(z), nullptr).finite());
  }
}

// Rows of every shape that the sort treats on its own.
std::vector<double> Row(Random& random, int shape, int64_t n) {
  std::vector<double> x;
  for (int64_t i = 0; i < n; ++i) {
    const double u = random.Uniform();
    switch (shape) {
      case 0:
        x.push_back(u);
        break;
      case 1:  // any bits at all, but NaN
        x.push_back(DoubleFromBits(random.Next64()));
        if (std::isnan(x.back())) x.back() = u;
        break;
      case 2:  // few values
        x.push_back(static_cast<double>(random.Integer(5)) - 2);
        break;
      case 3:  // one value, and one far away
        x.push_back(i == n / 2 ? 1e300 : 7);
        break;
      case 4:  // crowds at several depths
        x.push_back(std::ldexp(u, -static_cast<int>(random.Integer(60)) * 17) + (u < 0.3 ? 1 : 0));
        break;
      case 5:  // ascending
        x.push_back(static_cast<double>(i));
        break;
      case 6:  // descending, with zeros of both signs
        x.push_back(static_cast<double>(n / 2 - i) * -0.0 +
                    (i % 3 == 0 ? -static_cast<double>(i) : -0.0));
        break;
      default:  // the smallest numbers
        x.push_back(kMin * static_cast<double>(random.Integer(1000) - 500));
    }
  }
  return x;
}
constexpr int kShapes = 8;

TEST(SortedWithIndexTest, IsAStableSort) {
  Random random(1);
  ThreadPool pool(3);
  std::vector<int64_t> sizes = {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 2047, 2048, 2049, 5000, 140000};
  for (int64_t n : sizes) {
    for (int shape = 0; shape < kShapes; ++shape) {
      const std::vector<double> x = Row(random, shape, n);
      std::vector<size_t> expected(x.size());
      for (size_t i = 0; i < x.size(); ++i) expected[i] = i;
      std::stable_sort(expected.begin(), expected.end(),
                       [&](size_t a, size_t b) { return x[a] < x[b]; });
      for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
        const internal::BigArray<KeyAndIndex> sorted = SortedWithIndex(x, threads);
        ASSERT_EQ(sorted.size(), x.size());
        for (size_t i = 0; i < x.size(); ++i) {
          ASSERT_EQ(sorted[i].index, expected[i]) << "n " << n << " shape " << shape << " at " << i;
          ASSERT_EQ(sorted[i].key, OrderedKey(x[expected[i]]));
        }
      }
    }
  }
}

TEST(DealIntoBucketsTest, FillsBucketsInOrderAndLeavesABitFree) {
  Random random(2);
  ThreadPool pool(2);
  for (int64_t n : {1, 2, 100, 200000}) {
    for (int shape = 0; shape < kShapes; ++shape) {
      const std::vector<double> x = Row(random, shape, n);
      const KeyRange range = RangeOfKeys(std::span<const double>(x), nullptr);
      const Buckets<KeyAndIndex> buckets = DealIntoBuckets<KeyAndIndex>(
          n, range, [&](int64_t i) { return OrderedKey(x[static_cast<size_t>(i)]); },
          [](int64_t i, uint64_t key) {
            return KeyAndIndex{key, static_cast<uint64_t>(i)};
          },
          &pool);
      ASSERT_EQ(buckets.begin.size(), buckets.first_key.size() + 1);
      EXPECT_EQ(buckets.begin.front(), 0);
      EXPECT_EQ(buckets.begin.back(), n);
      uint64_t before = 0;
      int64_t largest = 0;
      for (int64_t b = 0; b < buckets.size(); ++b) {
        const std::span<KeyAndIndex> bucket = buckets.bucket(b);
        ASSERT_FALSE(bucket.empty());
        largest = std::max(largest, static_cast<int64_t>(bucket.size()));
        const uint64_t first = buckets.first_key[static_cast<size_t>(b)];
        uint64_t last = before;
        for (size_t i = 0; i < bucket.size(); ++i) {
          ASSERT_TRUE(b == 0 || bucket[i].key > before);
          ASSERT_GE(bucket[i].key, first);
          ASSERT_LT(bucket[i].key - first, uint64_t{1} << 63);
          if (i > 0 && bucket[i].key == bucket[i - 1].key) {
            ASSERT_GT(bucket[i].index, bucket[i - 1].index);
          }
          last = std::max(last, bucket[i].key);
        }
        before = last;
      }
      EXPECT_EQ(buckets.largest(), largest);
      if (shape == 0 && n == 200000) {
        EXPECT_LE(largest, kBucketBytes / 16);
      }
    }
  }
  const Buckets<uint64_t> none = DealIntoBuckets<uint64_t>(
      0, {0, 0}, [](int64_t) { return 0; }, [](int64_t, uint64_t key) { return key; }, nullptr);
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.largest(), 0);
}

TEST(SortInCacheTest, SortsWordsOfAllRanges) {
  Random random(3);
  for (int bits = 1; bits <= 64; ++bits) {
    for (int64_t n : {1, 5, 33, 1000}) {
      std::vector<uint64_t> words;
      const uint64_t base = bits == 64 ? 0 : random.Next64() >> 1;
      for (int64_t i = 0; i < n; ++i) words.push_back(base + (random.Next64() >> (64 - bits)) / 2);
      std::vector<uint64_t> expected = words, scratch(words.size());
      std::sort(expected.begin(), expected.end());
      SortInCache(std::span<uint64_t>(words), scratch.data());
      ASSERT_EQ(words, expected) << bits << " bits, " << n;
    }
  }
}

}  // namespace
}  // namespace assay::isotonic
