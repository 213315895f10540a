// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/polynomial.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/targets.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt {
namespace {

using Words = std::vector<uint64_t>;

// Primes with and without roots of unity, powers of two, composites, both sides of every border in
// the code: 2^30, 2^31, 2^32, 2^63.
const uint64_t kModuli[] = {1,
                            2,
                            10,
                            257,
                            12289,
                            65536,
                            998244353,
                            1000000007,
                            (uint64_t{1} << 30) - 1,
                            2013265921,
                            (uint64_t{1} << 31) - 1,
                            uint64_t{1} << 31,
                            (uint64_t{1} << 32) - 5,
                            (uint64_t{1} << 32) + 15,
                            1000000007ull * 998244353ull,
                            (uint64_t{1} << 63) - 25,
                            uint64_t{1} << 63};

Words RandomWords(int64_t n, uint64_t m, uint64_t seed) {
  Random random(seed);
  Words x;
  for (int64_t i = 0; i < n; ++i) x.push_back(random.Next64() % m);
  return x;
}

TEST(PolynomialTest, MultipliesOnePlusXByHand) {
  EXPECT_EQ(*MultiplyModulo(Words{1, 1}, Words{1, 2}, 10), (Words{1, 3, 2}));
  EXPECT_EQ(*MultiplyModulo(Words{1, 1}, Words{1, 2}, 3), (Words{1, 0, 2}));
  EXPECT_EQ(*MultiplyModulo(Words{0, 0}, Words{0}, 1), (Words{0, 0}));
  EXPECT_EQ(*MultiplyModulo(Words{kMaxModulus - 1}, Words{kMaxModulus - 1}, kMaxModulus), Words{1});
}

TEST(PolynomialTest, AgreesWithTheTwinForEveryShortLength) {
  for (uint64_t m : {uint64_t{998244353}, uint64_t{1000000007}, (uint64_t{1} << 63) - 25}) {
    for (int64_t n = 1; n <= 130; ++n) {
      for (int64_t k :
           {int64_t{1}, int64_t{23}, int64_t{24}, int64_t{25}, int64_t{48}, int64_t{49}, n}) {
        const Words a = RandomWords(n, m, n), b = RandomWords(k, m, k + 1000);
        ASSERT_EQ(*MultiplyModulo(a, b, m), *MultiplyModuloReference(a, b, m))
            << n << " x " << k << " mod " << m;
      }
    }
  }
}

TEST(PolynomialTest, AgreesWithTheTwinForEveryModulus) {
  for (uint64_t m : kModuli) {
    for (auto [n, k] : {std::pair<int64_t, int64_t>{64, 64},
                        {128, 129},
                        {129, 129},
                        {1000, 50},
                        {300, 213},
                        {257, 256},
                        {700, 400},
                        {1025, 1024}}) {
      // All m - 1 is the worst for carries, and says so at once.
      for (bool worst : {false, true}) {
        const Words a = worst ? Words(n, m - 1) : RandomWords(n, m, n);
        const Words b = worst ? Words(k, m - 1) : RandomWords(k, m, k + 7);
        ASSERT_EQ(*MultiplyModulo(a, b, m), *MultiplyModuloReference(a, b, m))
            << n << " x " << k << " mod " << m << (worst ? ", all m - 1" : "");
      }
    }
  }
}

// The value of a product is the product of the values.
TEST(PolynomialTest, LongProductsHaveTheRightValues) {
  for (uint64_t m :
       {uint64_t{998244353}, uint64_t{1000000007}, uint64_t{65536}, (uint64_t{1} << 63) - 25}) {
    for (auto [n, k] : {std::pair<int64_t, int64_t>{1 << 15, 1 << 15},
                        {40000, 30000},
                        {100000, 100},
                        {1 << 16, (1 << 16) + 1}}) {
      const Words a = RandomWords(n, m, n), b = RandomWords(k, m, k);
      const Words c = *MultiplyModulo(a, b, m);
      ASSERT_EQ(c.size(), a.size() + b.size() - 1);
      const auto value = [m](const Words& x, uint64_t at) {
        uint64_t sum = 0;
        for (size_t j = x.size(); j-- > 0;) sum = (MultiplyMod(sum, at, m) + x[j]) % m;
        return sum;
      };
      for (uint64_t at : {uint64_t{1}, m - 1, uint64_t{12345}}) {
        ASSERT_EQ(value(c, at), MultiplyMod(value(a, at), value(b, at), m)) << n << " mod " << m;
      }
    }
  }
}

TEST(PolynomialTest, OneMultiplierServesAllLengthsAndSquares) {
  for (uint64_t m : {uint64_t{998244353}, uint64_t{1} << 40}) {
    const Multiplier multiplier = *Multiplier::Create(m, 5000);
    EXPECT_EQ(multiplier.transforms_modulo_itself(), m == 998244353);
    EXPECT_EQ(multiplier.PrimesFor(5, 2000), 0);
    EXPECT_EQ(multiplier.PrimesFor(2000, 2000), m == 998244353 ? 1 : 4);
    for (int64_t n : {1, 10, 100, 1000, 2500}) {
      const Words a = RandomWords(n, m, n), b = RandomWords(n, m, n + 1);
      Words c(2 * n - 1);
      ASSERT_TRUE(multiplier.Multiply(a, b, c).ok());
      ASSERT_EQ(c, *MultiplyModuloReference(a, b, m));
      ASSERT_TRUE(multiplier.Multiply(a, a, c).ok());
      ASSERT_EQ(c, *MultiplyModuloReference(a, a, m));
    }
  }
}

TEST(PolynomialTest, ThreadsChangeNothing) {
  ThreadPool pool(3);
  for (uint64_t m : {uint64_t{998244353}, uint64_t{1000000007}, (uint64_t{1} << 63) - 25}) {
    const Words a = RandomWords(50000, m, 1), b = RandomWords(30001, m, 2);
    ASSERT_EQ(*MultiplyModulo(a, b, m, &pool), *MultiplyModulo(a, b, m));
  }
}

TEST(PolynomialTest, EveryInstructionSetGivesTheSameProduct) {
  for (uint64_t m : kModuli) {
    const Words a = RandomWords(700, m, 1), b = RandomWords(601, m, 2);
    const Words expected = *MultiplyModuloReference(a, b, m);
    int targets = 0;
    for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
      hwy::SetSupportedTargetsForTest(rest & -rest);
      EXPECT_EQ(*MultiplyModulo(a, b, m), expected) << hwy::TargetName(rest & -rest) << ", " << m;
      hwy::SetSupportedTargetsForTest(0);
      ++targets;
    }
    EXPECT_GE(targets, HWY_ARCH_WASM ? 1 : 2);
  }
}

TEST(PolynomialTest, ReportsBadOperands) {
  const auto code = [](const Words& a, const Words& b, uint64_t m) {
    EXPECT_EQ(MultiplyModuloReference(a, b, m).status().code(),
              MultiplyModulo(a, b, m).status().code());
    return MultiplyModulo(a, b, m).status().code();
  };
  EXPECT_EQ(code({}, {1}, 7), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({1}, {}, 7), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({0}, {0}, 0), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({1}, {1}, kMaxModulus + 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({7}, {1}, 7), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({1}, {0, 0, ~uint64_t{0}}, kMaxModulus), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({1}, {1}, 1), absl::StatusCode::kOutOfRange);
  Words late(1000, 6);
  late[777] = 7;
  EXPECT_NE(MultiplyModulo(late, late, 7).status().message().find("coefficient 777 is 7"),
            absl::string_view::npos);
  for (int64_t length :
       {int64_t{0}, int64_t{-5}, kMaxProductLength + 1, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(Multiplier::Create(7, length).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(MultiplyModulo(Words(kMaxProductLength, 0), Words(2, 0), 7).status().code(),
            absl::StatusCode::kInvalidArgument);
  const Multiplier multiplier = *Multiplier::Create(7, 10);
  Words a(5, 1), b(6, 1), c(10, 42);
  const Words untouched = c;
  EXPECT_EQ(multiplier.Multiply(a, b, std::span(c).first(9)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(multiplier.Multiply(std::span(c).first(5), b, c).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(multiplier.Multiply(b, b, c).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(c, untouched);
  Words shared(20, 1);
  const std::span<uint64_t> all(shared);
  EXPECT_EQ(multiplier.Multiply(all.first(5), all.subspan(5, 6), all.subspan(10, 10)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(multiplier.Multiply(all.first(4), all.subspan(4, 6), all.subspan(10, 9)).ok());
}

}  // namespace
}  // namespace assay::ntt
