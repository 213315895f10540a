// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/philox.h"
#include "numerics/core/sha256.h"

namespace assay {
namespace {

TEST(RandomTest, DrawsPhiloxWordsInOrder) {
  const uint64_t seed = 0x123456789abcdef0;
  const uint64_t stream = 0xfedcba9876543210;
  Random random(seed, stream);
  for (uint32_t block = 0; block < 5; ++block) {
    const auto words = Philox4x32_10({block, 0, 0x76543210, 0xfedcba98}, {0x9abcdef0, 0x12345678});
    for (const uint32_t word : words) EXPECT_EQ(random.Next32(), word);
  }
  EXPECT_EQ(random.position(), 20u);
}

TEST(RandomTest, JoinsTwoWordsTo64BitsLowFirst) {
  Random a(1);
  Random b(1);
  a.Next32();  // an odd start, so that a pair crosses a block
  b.Next32();
  for (int i = 0; i < 10; ++i) {
    const uint64_t low = b.Next32();
    const uint64_t high = b.Next32();
    EXPECT_EQ(a.Next64(), high << 32 | low);
  }
}

TEST(RandomTest, SeeksAnywhere) {
  Random straight(5, 2);
  std::vector<uint32_t> words(50);
  for (uint32_t& word : words) word = straight.Next32();
  Random random(5, 2);
  for (const size_t position : {49u, 0u, 7u, 8u, 3u, 30u, 31u}) {
    random.Seek(position);
    EXPECT_EQ(random.position(), position);
    for (size_t i = position; i < words.size(); ++i) EXPECT_EQ(random.Next32(), words[i]);
  }
  random.Seek(std::numeric_limits<uint64_t>::max() - 1);
  random.Next32();
  random.Next32();
  EXPECT_EQ(random.position(), 0u);
}

TEST(RandomTest, GivesOtherWordsForOtherSeedsAndStreams) {
  EXPECT_NE(Random(1).Next64(), Random(2).Next64());
  EXPECT_NE(Random(1, 0).Next64(), Random(1, 1).Next64());
  EXPECT_NE(Random(1, uint64_t{1} << 32).Next64(), Random(1, 1).Next64());
}

TEST(RandomTest, DrawsAsManyWordsAsPromised) {
  Random random(3);
  auto drawn = [&, before = uint64_t{0}]() mutable {
    const uint64_t words = random.position() - before;
    before = random.position();
    return words;
  };
  random.Next32();
  EXPECT_EQ(drawn(), 1u);
  random.Next64();
  EXPECT_EQ(drawn(), 2u);
  random.Uniform();
  EXPECT_EQ(drawn(), 2u);
  random.UniformF();
  EXPECT_EQ(drawn(), 1u);
  random.Integer(1);
  EXPECT_EQ(drawn(), 1u);
  random.Integer(int64_t{1} << 32);
  EXPECT_EQ(drawn(), 1u);
  random.Integer(int64_t{1} << 33);
  EXPECT_EQ(drawn(), 2u);
  random.Normal();
  EXPECT_EQ(drawn(), 4u);
  random.Bernoulli(0.5);
  EXPECT_EQ(drawn(), 2u);
  std::vector<double> values(5);
  random.FillNormal(std::span<double>(values));
  EXPECT_EQ(drawn(), 12u);
  random.FillUniform(std::span<double>(values));
  EXPECT_EQ(drawn(), 10u);
}

TEST(RandomTest, FillsAsSingleDrawsWould) {
  for (const size_t n : {0, 1, 2, 3, 4, 5, 8, 9, 13, 20, 21, 22, 23}) {
    Random a(11);
    Random b(11);
    a.Seek(n / 3);  // also from the middle of a block
    b.Seek(n / 3);
    std::vector<double> doubles(n);
    std::vector<float> floats(n);
    a.FillUniform(std::span<double>(doubles));
    for (const double value : doubles) EXPECT_EQ(value, b.Uniform());
    a.FillUniform(std::span<float>(floats));
    for (const float value : floats) EXPECT_EQ(value, b.UniformF());
    a.FillNormal(std::span<double>(doubles));
    for (size_t i = 0; i < n; i += 2) EXPECT_EQ(doubles[i], b.Normal());
    Random c(11);
    c.Seek(a.position() - 4 * ((n + 1) / 2));
    c.FillNormal(std::span<float>(floats));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(floats[i], static_cast<float>(doubles[i]));
  }
}

TEST(RandomTest, StaysInsideTheUnitInterval) {
  Random random(4);
  double smallest = 1.0;
  double largest = 0.0;
  double sum = 0.0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.Uniform();
    smallest = std::min(smallest, u);
    largest = std::max(largest, u);
    sum += u;
    const float v = random.UniformF();
    ASSERT_TRUE(0.0f <= v && v < 1.0f);
  }
  EXPECT_GE(smallest, 0.0);
  EXPECT_LT(smallest, 1e-4);
  EXPECT_LT(largest, 1.0);
  EXPECT_GT(largest, 1.0 - 1e-4);
  // The mean of n uniforms has standard deviation 1 / sqrt(12 n); 5 of them.
  EXPECT_NEAR(sum / kCount, 0.5, 5.0 / std::sqrt(12.0 * kCount));
}

// chi^2 of k cells has mean k - 1 and variance 2 (k - 1); six standard deviations.
void ExpectUniformCounts(const std::vector<int64_t>& counts, const std::string& what) {
  const double total =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  const double k = static_cast<double>(counts.size());
  double chi2 = 0.0;
  for (const int64_t count : counts) {
    const double difference = static_cast<double>(count) - total / k;
    chi2 += difference * difference / (total / k);
  }
  EXPECT_LT(chi2, (k - 1) + 6 * std::sqrt(2 * (k - 1))) << what;
  EXPECT_GT(chi2, (k - 1) - 6 * std::sqrt(2 * (k - 1))) << what;
}

TEST(RandomTest, DrawsIntegersEvenly) {
  Random random(6);
  for (const int64_t bound : {1, 2, 3, 5, 10, 37, 256}) {
    std::vector<int64_t> counts(static_cast<size_t>(bound));
    for (int i = 0; i < 20000; ++i) {
      const int64_t value = random.Integer(bound);
      ASSERT_TRUE(0 <= value && value < bound);
      ++counts[static_cast<size_t>(value)];
    }
    if (bound > 1) ExpectUniformCounts(counts, std::to_string(bound));
  }
}

// A bound of 3/4 of the range shows bias at once: without rejection, a third of the results would
// have twice the probability of the others.
TEST(RandomTest, DrawsLargeBoundsWithoutBias) {
  for (const int64_t bound : {int64_t{3} << 30, int64_t{3} << 61}) {
    Random random(8);
    std::vector<int64_t> counts(3);
    int64_t odd = 0;
    for (int i = 0; i < 60000; ++i) {
      const int64_t value = random.Integer(bound);
      ASSERT_TRUE(0 <= value && value < bound);
      ++counts[static_cast<size_t>(value % 3)];
      odd += value & 1;
    }
    ExpectUniformCounts(counts, std::to_string(bound));
    EXPECT_NEAR(static_cast<double>(odd), 30000.0, 5 * std::sqrt(60000.0) / 2);
  }
}

TEST(RandomTest, DrawsBetweenNegativeBounds) {
  Random random(9);
  std::array<int, 4> counts = {};
  for (int i = 0; i < 1000; ++i) ++counts[static_cast<size_t>(random.Integer(-2, 2) + 2)];
  for (const int count : counts) EXPECT_GT(count, 150);
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  for (int i = 0; i < 100; ++i) EXPECT_LT(random.Integer(lowest, -1), -1);
}

TEST(RandomTest, DrawsNormalsWithTheRightMomentsAndTails) {
  Random random(10);
  constexpr int kCount = 200000;
  std::vector<double> values(kCount);
  random.FillNormal(std::span<double>(values));
  double moments[5] = {};
  int beyond2 = 0;
  for (const double x : values) {
    double power = 1.0;
    for (double& moment : moments) {
      moment += power / kCount;
      power *= x;
    }
    beyond2 += x > 2.0 || x < -2.0 ? 1 : 0;
  }
  // Standard deviations of the sample moments: 1, sqrt 2, sqrt 15, sqrt 96 over sqrt n; 5 of them.
  const double unit = 5.0 / std::sqrt(1.0 * kCount);
  EXPECT_NEAR(moments[1], 0.0, unit);
  EXPECT_NEAR(moments[2], 1.0, 1.415 * unit);
  EXPECT_NEAR(moments[3], 0.0, 3.873 * unit);
  EXPECT_NEAR(moments[4], 3.0, 9.798 * unit);
  EXPECT_NEAR(beyond2, 0.0455003 * kCount, 5 * std::sqrt(0.0455 * kCount));
  // Neighbours of one pair are independent.
  double product = 0.0;
  for (int i = 0; i < kCount; i += 2) product += values[i] * values[i + 1] / (kCount / 2);
  EXPECT_NEAR(product, 0.0, 5.0 / std::sqrt(kCount / 2.0));
}

TEST(RandomTest, ShufflesToEveryOrderEvenly) {
  Random random(12);
  std::vector<int64_t> counts(24);
  for (int i = 0; i < 24000; ++i) {
    const std::vector<int64_t> p = random.Permutation(4);
    int64_t rank = 0;
    for (int a = 0; a < 4; ++a) {
      int64_t smaller = 0;
      for (int b = a + 1; b < 4; ++b) smaller += p[b] < p[a] ? 1 : 0;
      rank = rank * (4 - a) + smaller;
    }
    ++counts[static_cast<size_t>(rank)];
  }
  ExpectUniformCounts(counts, "permutations");
}

TEST(RandomTest, PermutesAndSamplesWithoutLoss) {
  Random random(13);
  for (const int64_t n : {0, 1, 2, 100}) {
    std::vector<int64_t> p = random.Permutation(n);
    std::sort(p.begin(), p.end());
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(p[static_cast<size_t>(i)], i);
    for (const int64_t k : {int64_t{0}, n / 2, n}) {
      std::vector<int64_t> s = random.Sample(n, k);
      EXPECT_EQ(static_cast<int64_t>(s.size()), k);
      std::sort(s.begin(), s.end());
      EXPECT_EQ(std::adjacent_find(s.begin(), s.end()), s.end());
      for (const int64_t value : s) EXPECT_TRUE(0 <= value && value < n);
    }
  }
  std::vector<int64_t> counts(10);
  for (int i = 0; i < 5000; ++i) {
    for (const int64_t value : random.Sample(10, 2)) ++counts[static_cast<size_t>(value)];
  }
  ExpectUniformCounts(counts, "samples");
}

// One hash over everything that is drawn: the same natively and in WebAssembly, and for ever.
TEST(RandomTest, KeepsItsBits) {
  Random random(20, 26);
  Sha256 hash;
  std::vector<double> doubles(20001);
  random.FillUniform(std::span<double>(doubles));
  hash.Update(std::span<const double>(doubles));
  random.FillNormal(std::span<double>(doubles));
  hash.Update(std::span<const double>(doubles));
  std::vector<float> floats(20001);
  random.FillUniform(std::span<float>(floats));
  hash.Update(std::span<const float>(floats));
  random.FillNormal(std::span<float>(floats));
  hash.Update(std::span<const float>(floats));
  std::vector<int64_t> integers(20001);
  for (size_t i = 0; i < integers.size(); ++i) {
    const int64_t bound = int64_t{1} << (i % 63);
    integers[i] = random.Integer(i % 2 == 0 ? bound : bound / 2 * 3 / 2 + 1);
  }
  hash.Update(std::span<const int64_t>(integers));
  hash.Update(std::span<const int64_t>(random.Permutation(20001)));
  hash.Update(std::span<const int64_t>(random.Sample(20001, 500)));
  EXPECT_EQ(Hex(hash.Finish()), "56f60093d192b59bdabdea0545474b5c20cebc49686976e2753b9a369553d5f3");
}

}  // namespace
}  // namespace assay
