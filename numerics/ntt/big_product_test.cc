// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/big_product.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/big_integer.h"

namespace assay::ntt {
namespace {

using floating::BigInteger;

constexpr uint64_t kOnes = ~uint64_t{0};

Natural RandomNatural(int64_t limbs, uint64_t seed) {
  Random random(seed);
  Natural x;
  for (int64_t i = 0; i < limbs; ++i) x.push_back(random.Next64());
  if (limbs > 0) x.back() |= 1;
  return x;
}

BigInteger Slow(const Natural& x) {
  BigInteger out;
  for (size_t i = x.size(); i-- > 0;) out = (out << 64) + BigInteger(x[i]);
  return out;
}

// x limbs in base 2^64 from a BigInteger, by its own operations.
Natural Limbs(BigInteger x) {
  Natural out;
  for (; !x.IsZero(); x = x >> 64) out.push_back(x.Low64());
  return out;
}

TEST(BigProductTest, MultipliesByHand) {
  EXPECT_EQ(*Multiply(Natural{}, Natural{5}), Natural{});
  EXPECT_EQ(*Multiply(Natural{0, 0}, Natural{5}), Natural{});
  EXPECT_EQ(*Multiply(Natural{3}, Natural{5}), Natural{15});
  EXPECT_EQ(*Multiply(Natural{kOnes}, Natural{kOnes, 0}), (Natural{1, kOnes - 1}));
  EXPECT_EQ(*Power(2, 64), (Natural{0, 1}));
  EXPECT_EQ(*Power(0, 0), Natural{1});
  EXPECT_EQ(*Power(0, 7), Natural{});
  EXPECT_EQ(*Power(1, kOnes), Natural{1});
  EXPECT_EQ(*ToDecimal(*Power(10, 30)), "1" + std::string(30, '0'));
  EXPECT_EQ(*ToDecimal(*Factorial(25)), "15511210043330985984000000");
  EXPECT_EQ(*Factorial(0), Natural{1});
  EXPECT_EQ(*Factorial(1), Natural{1});
}

TEST(BigProductTest, AgreesWithTheSchoolbookOfBigInteger) {
  for (int64_t n : {1, 2, 23, 24, 25, 47, 48, 49, 50, 100, 159, 160, 161, 257, 300}) {
    for (int64_t m : {int64_t{1}, int64_t{7}, int64_t{24}, int64_t{60}, int64_t{160}, n}) {
      // All ones carry the furthest.
      for (bool ones : {false, true}) {
        const Natural a = ones ? Natural(n, kOnes) : RandomNatural(n, n);
        const Natural b = ones ? Natural(m, kOnes) : RandomNatural(m, m + 1000);
        ASSERT_EQ(*Multiply(a, b), Limbs(Slow(a) * Slow(b))) << n << " x " << m << ", " << ones;
        ASSERT_EQ(*Multiply(b, a), *Multiply(a, b));
      }
    }
  }
}

TEST(BigProductTest, LongNumbersOfOnesMultiplyAsAlgebraSays) {
  // (X^n - 1)(X^m - 1) = X^(n+m) - X^n - X^m + 1, n > m.
  for (auto [n, m] : {std::pair<size_t, size_t>{5000, 4999}, {20000, 300}, {33000, 32000}}) {
    Natural expected(n + m, kOnes);
    std::fill(expected.begin(), expected.begin() + m, 0);
    expected[0] = 1;
    std::fill(expected.begin() + m, expected.begin() + n, kOnes);
    expected[n] = kOnes - 1;
    ASSERT_EQ(*Multiply(Natural(n, kOnes), Natural(m, kOnes)), expected) << n << ", " << m;
  }
}

TEST(BigProductTest, DecimalGoesBothWays) {
  for (int64_t n : {0, 1, 2, 3, 39, 40, 41, 42, 80, 81, 100, 163, 320, 700}) {
    for (bool ones : {false, true}) {
      const Natural x = ones ? Natural(n, kOnes) : RandomNatural(n, n + 5);
      const std::string digits = *ToDecimal(x);
      ASSERT_EQ(digits, Slow(x).ToDecimal()) << n;
      ASSERT_EQ(*FromDecimal(digits), x) << n;
      ASSERT_EQ(*FromDecimal("000" + digits), x) << n;
    }
  }
  // Powers of ten and their neighbours, where quotients are off by one most easily.
  for (size_t zeros : {18, 19, 20, 38, 607, 608, 609, 1216, 5000, 20000}) {
    const std::string power = "1" + std::string(zeros, '0'), nines(zeros, '9');
    const Natural x = *FromDecimal(power), y = *FromDecimal(nines);
    EXPECT_EQ(*ToDecimal(x), power);
    EXPECT_EQ(*ToDecimal(y), nines);
    if (zeros <= 5000) {
      EXPECT_EQ(x, *Power(10, zeros));
    }
  }
}

TEST(BigProductTest, LongDecimalsAreConsistent) {
  // Digits modulo 10^19 - 1 are the sum of the chunks of 19; and back is the same number.
  const Natural x = RandomNatural(6000, 77);
  const std::string digits = *ToDecimal(x);
  EXPECT_EQ(*FromDecimal(digits), x);
  __extension__ using UInt128 = unsigned __int128;
  const uint64_t modulus = 9999999999999999999u;
  UInt128 from_limbs = 0, from_digits = 0;
  for (size_t i = x.size(); i-- > 0;) from_limbs = ((from_limbs << 64) + x[i]) % modulus;
  for (char c : digits) from_digits = (from_digits * 10 + static_cast<uint64_t>(c - '0')) % modulus;
  EXPECT_TRUE(from_limbs == from_digits);
}

TEST(BigProductTest, FactorialsEndInTheZerosOfLegendre) {
  const std::string digits = *ToDecimal(*Factorial(5000));
  const size_t zeros = digits.size() - 1 - digits.find_last_not_of('0');
  EXPECT_EQ(zeros, 5000u / 5 + 5000 / 25 + 5000 / 125 + 5000 / 625 + 5000 / 3125);
  EXPECT_EQ(digits.size(), 16326u);
}

TEST(BigProductTest, ThreadsChangeNothing) {
  ThreadPool pool(3);
  const Natural a = RandomNatural(40000, 1), b = RandomNatural(20001, 2);
  EXPECT_EQ(*Multiply(a, b, &pool), *Multiply(a, b));
  EXPECT_EQ(*Multiply(a, a, &pool), *Multiply(a, Natural(a)));
}

TEST(BigProductTest, ReportsWhatIsTooLongOrNoNumber) {
  EXPECT_EQ(FromDecimal("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FromDecimal("12a").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(FromDecimal("12a").status().message().find("character 2"), absl::string_view::npos);
  EXPECT_EQ(FromDecimal("-1").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FromDecimal(std::string("1\0", 2)).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Power(2, uint64_t{1} << 40).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Power(kOnes, kOnes).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Factorial(kOnes).status().code(), absl::StatusCode::kInvalidArgument);
  Natural longest(kMaxNaturalLimbs, 1);
  EXPECT_EQ(Multiply(longest, Natural{1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ToDecimal(longest).status().code(), absl::StatusCode::kInvalidArgument);
  std::fill(longest.begin() + 1, longest.end(), 0);
  EXPECT_EQ(*Multiply(longest, Natural{7}), Natural{7});
}

}  // namespace
}  // namespace assay::ntt
