// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/exact_product.h"

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

using Integers = std::vector<int64_t>;

constexpr int64_t kTop = std::numeric_limits<int64_t>::max();
constexpr int64_t kBottom = std::numeric_limits<int64_t>::min();

ExactOptions By(ExactRoute route) {
  ExactOptions options;
  options.route = route;
  return options;
}

// Integers of up to `bits` bits and a sign.
Integers RandomIntegers(int64_t n, int bits, uint64_t seed) {
  Random random(seed);
  Integers x;
  for (int64_t j = 0; j < n; ++j) {
    const uint64_t value = random.Next64();
    const int64_t size = static_cast<int64_t>(value & ((uint64_t{1} << bits) - 1));
    x.push_back((value >> 63) != 0 ? -size : size);
  }
  return x;
}

TEST(ExactProductTest, AgreesWithTheTwinForEveryShortLength) {
  for (int64_t n = 1; n <= 130; ++n) {
    for (int64_t m : {int64_t{1}, n, 131 - n}) {
      const Integers a = RandomIntegers(n, 20, n), b = RandomIntegers(m, 25, m + 999);
      const Integers twin = *MultiplyExactReference(a, b);
      for (ExactRoute route : {ExactRoute::kSchoolbook, ExactRoute::kFft, ExactRoute::kNtt}) {
        ASSERT_EQ(MultiplyExact(a, b, By(route))->coefficients, twin) << n << " x " << m;
      }
      ASSERT_EQ(MultiplyExact(a, b)->coefficients, twin);
    }
  }
}

TEST(ExactProductTest, AllRoutesAgreeForEveryWidth) {
  int most_primes = 0, most_parts = 0;
  for (int bits : {1, 2, 8, 15, 20, 24, 27, 28}) {
    for (auto [n, m] : {std::pair<int64_t, int64_t>{1, 1},
                        {3, 2},
                        {300, 280},
                        {127, 130},
                        {1024, 10},
                        {513, 512}}) {
      const Integers a = RandomIntegers(n, bits, n + bits), b = RandomIntegers(m, bits, m + 7);
      const Integers twin = *MultiplyExactReference(a, b);
      const IntegerProduct school = *MultiplyExact(a, b, By(ExactRoute::kSchoolbook));
      EXPECT_EQ(school.coefficients, twin);
      EXPECT_EQ(school.primes + school.parts, 0);
      const IntegerProduct fft = *MultiplyExact(a, b, By(ExactRoute::kFft));
      EXPECT_EQ(fft.coefficients, twin);
      EXPECT_LT(fft.error_bound, 0.25);
      if (fft.coefficients != Integers(fft.coefficients.size(), 0)) {
        EXPECT_GT(fft.error_bound, 0);
      }
      EXPECT_GE(fft.parts, 1);
      const IntegerProduct ntt = *MultiplyExact(a, b, By(ExactRoute::kNtt));
      EXPECT_EQ(ntt.coefficients, twin);
      EXPECT_EQ(ntt.route, ExactRoute::kNtt);
      int64_t largest = 0;
      for (int64_t c : twin) largest = std::max(largest, c < 0 ? -c : c);
      EXPECT_GE(ntt.coefficient_bound, static_cast<double>(largest));
      EXPECT_EQ(MultiplyExact(a, b)->coefficients, twin);
      most_primes = std::max(most_primes, ntt.primes);
      most_parts = std::max(most_parts, fft.parts);
    }
  }
  EXPECT_EQ(most_primes, 3);
  EXPECT_GE(most_parts, 2);
}

// Every number of primes, at the largest sizes that fit, of both signs: 1 to 3 come above, 4 to 6
// need operands whose products leave 64 bits.
TEST(ExactProductTest, WideProductsAgreeForEveryNumberOfPrimes) {
  std::vector<int> seen(7, 0);
  for (int bits : {10, 25, 40, 50, 55, 58}) {
    for (int64_t n : {1, 2, 257, 300}) {
      const int64_t size = (int64_t{1} << bits) - 1;
      for (int sign : {-1, 1, 0}) {
        const Integers a = sign == 0 ? RandomIntegers(n, bits, n) : Integers(n, sign * size);
        const Integers b = sign == 0 ? RandomIntegers(n, bits, n + 1) : Integers(n, size);
        std::vector<Int128> twin(2 * n - 1, 0);
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < n; ++j) twin[i + j] += static_cast<Int128>(a[i]) * b[j];
        }
        const auto school = *MultiplyExactWide(a, b, By(ExactRoute::kSchoolbook));
        EXPECT_TRUE(school.coefficients == twin) << bits << ", " << n;
        const auto ntt = *MultiplyExactWide(a, b, By(ExactRoute::kNtt));
        EXPECT_TRUE(ntt.coefficients == twin) << bits << ", " << n << ", " << ntt.primes;
        EXPECT_TRUE(MultiplyExactWide(a, b)->coefficients == twin);
        ++seen[ntt.primes];
        const auto fft = MultiplyExactWide(a, b, By(ExactRoute::kFft));
        if (fft.ok()) {
          EXPECT_TRUE(fft->coefficients == twin) << bits << ", " << n << ", " << fft->parts;
        }
      }
    }
  }
  // Five and six: outer coefficients that fit, and a middle that nearly does not.
  for (int64_t n : {1, 300}) {
    Integers a(n, kBottom), b(n, 0);
    b[0] = 1;
    b[n - 1] = n == 1 ? -1 : 1;
    const auto c = MultiplyExactWide(a, b, By(ExactRoute::kNtt));
    ASSERT_TRUE(c.ok());
    EXPECT_TRUE(c->coefficients[0] == (n == 1 ? -static_cast<Int128>(kBottom) : kBottom));
    if (n > 1) {
      EXPECT_TRUE(c->coefficients[n - 1] == 2 * static_cast<Int128>(kBottom));
    }
  }
  const Integers worst(300, kBottom);
  const auto high = MultiplyExactWide(worst, worst, By(ExactRoute::kNtt));
  EXPECT_EQ(high.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_NE(high.status().message().find("coefficient 1 "), absl::string_view::npos)
      << high.status();
  const Integers nearly(4, kTop);
  const auto wide = MultiplyExactWide(nearly, nearly, By(ExactRoute::kNtt));
  EXPECT_EQ(wide.status().code(), absl::StatusCode::kOutOfRange);
  for (int primes : {1, 2, 3, 4, 5}) EXPECT_GT(seen[primes], 0) << primes;
}

// (T - T x + T x^2 - ...)(T + T x + T x^2 + ...), n terms each, n even: all the large sums cancel.
void ExpectCancelled(int64_t n, int primes) {
  Integers a(n), b(n, kTop);
  for (int64_t i = 0; i < n; ++i) a[i] = i % 2 == 0 ? kTop : -kTop;
  const auto c = MultiplyExactWide(a, b, By(ExactRoute::kNtt));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->primes, primes);
  const Int128 square = static_cast<Int128>(kTop) * kTop;
  for (int64_t k = 0; k < 2 * n - 1; ++k) {
    ASSERT_TRUE(c->coefficients[k] == (k % 2 != 0 ? 0 : k < n ? square : -square)) << k;
  }
}

TEST(ExactProductTest, FivePrimesCarryWhatFourCannot) { ExpectCancelled(1 << 13, 5); }

#ifndef __EMSCRIPTEN__  // half a gigabyte
TEST(ExactProductTest, SixPrimesCarryTheLongestAndWidest) { ExpectCancelled(1 << 22, 6); }
#endif

TEST(ExactProductTest, ReportsCoefficientsThatDoNotFitAndKeepsTheExtremes) {
  for (int way = 0; way < 5; ++way) {
    const auto multiply = [way](const Integers& a, const Integers& b) -> absl::StatusOr<Integers> {
      if (way == 0) return MultiplyExactReference(a, b);
      ExactOptions options;
      if (way == 1) options.route = ExactRoute::kSchoolbook;
      if (way == 2) options.route = ExactRoute::kNtt;
      if (way == 3 && a.size() < 4) options.route = ExactRoute::kFft;
      absl::StatusOr<IntegerProduct> p = MultiplyExact(a, b, options);
      if (!p.ok()) return p.status();
      return p->coefficients;
    };
    EXPECT_EQ(*multiply({kTop}, {1}), (Integers{kTop})) << way;
    EXPECT_EQ(*multiply({kBottom}, {1}), (Integers{kBottom})) << way;
    EXPECT_EQ(multiply({kBottom}, {-1}).status().code(), absl::StatusCode::kOutOfRange) << way;
    EXPECT_EQ(multiply({kTop, 1}, {1, 1}).status().code(), absl::StatusCode::kOutOfRange);
    EXPECT_NE(multiply({1, kTop, 1}, {1, 0, 1, 1}).status().message().find("coefficient 3 "),
              absl::string_view::npos)
        << multiply({1, kTop, 1}, {1, 0, 1, 1}).status();
    // 2^126 four times over: the sum leaves 128 bits.
    EXPECT_EQ(multiply(Integers(4, kBottom), Integers(4, kBottom)).status().code(),
              absl::StatusCode::kOutOfRange);
    EXPECT_EQ(multiply({}, {1}).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(multiply({1}, {}).status().code(), absl::StatusCode::kInvalidArgument);
  }
  const Integers wide = RandomIntegers(600, 62, 5), small = RandomIntegers(600, 3, 6);
  // About 62 + 3 + 9 bits: does not fit, and says so rather than wrap.
  EXPECT_EQ(MultiplyExact(wide, small).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(MultiplyExact(wide, small).status(), MultiplyExactReference(wide, small).status());
  // 50 + 3 + 10 bits: fits.
  const Integers a = RandomIntegers(600, 50, 7);
  EXPECT_EQ(MultiplyExact(a, small)->coefficients, *MultiplyExactReference(a, small));
}

TEST(ExactProductTest, TakesTheTransformForLongFactorsAndRefusesWhatIsNotProved) {
  const Integers a = RandomIntegers(3000, 20, 1);
  EXPECT_EQ(MultiplyExact(a, a)->route, ExactRoute::kNtt);
  EXPECT_EQ(MultiplyExact(a, a)->primes, 2);
  EXPECT_EQ(MultiplyExact(a, Integers(4, 3))->route, ExactRoute::kSchoolbook);
  EXPECT_EQ(MultiplyExact(a, a)->coefficients, *MultiplyExactReference(a, a));
  const Integers wide(64, kTop);
  EXPECT_EQ(MultiplyExact(wide, wide, By(ExactRoute::kFft)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  // Longer than the transforms: the schoolbook is left, and cheap here.
  const Integers longest(size_t{1} << 23, 1), two = {1, 1};
  EXPECT_EQ(MultiplyExact(longest, two, By(ExactRoute::kNtt)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(MultiplyExact(longest, two)->coefficients[1 << 22], 2);
}

TEST(ExactProductTest, ThreadsChangeNothing) {
  ThreadPool pool(3);
  for (int bits : {8, 20, 27}) {
    const Integers a = RandomIntegers(40000, bits, 1), b = RandomIntegers(30000, bits, 2);
    ExactOptions options;
    options.pool = &pool;
    EXPECT_EQ(MultiplyExact(a, b, options)->coefficients, MultiplyExact(a, b)->coefficients);
  }
  // The first misfit is named, whichever block finds one first.
  Integers a(60000, 0), b(60000, 0);
  for (int64_t at : {50000, 30001, 59000}) a[at] = kTop;
  b[0] = 2;
  b[1] = 1;
  b[59999] = 1;
  ExactOptions options = By(ExactRoute::kNtt);
  options.pool = &pool;
  EXPECT_NE(MultiplyExact(a, b, options).status().message().find("coefficient 30001 "),
            absl::string_view::npos)
      << MultiplyExact(a, b, options).status();
}

TEST(ExactProductTest, EveryInstructionSetGivesTheSameProduct) {
  for (int bits : {8, 20, 27, 55}) {
    const Integers a = RandomIntegers(333, bits, 1), b = RandomIntegers(280, bits, 2);
    const auto expected = *MultiplyExactWide(a, b, By(ExactRoute::kSchoolbook));
    for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
      hwy::SetSupportedTargetsForTest(rest & -rest);
      const auto product = *MultiplyExactWide(a, b, By(ExactRoute::kNtt));
      EXPECT_TRUE(product.coefficients == expected.coefficients)
          << hwy::TargetName(rest & -rest) << ", " << bits;
      hwy::SetSupportedTargetsForTest(0);
    }
  }
}

}  // namespace
}  // namespace assay::ntt
