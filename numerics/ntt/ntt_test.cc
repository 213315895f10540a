// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/ntt.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/targets.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/ntt/internal/transform.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt {
namespace {

// Both sides of 2^30, where the arithmetic changes, and the smallest ones.
constexpr uint32_t kPrimes[] = {998244353,  469762049, 167772161, 2013265921,
                                2113929217, 12289,     257};

static_assert(IsPrime(998244353) && !IsPrime(998244353ull * 469762049) && !IsPrime(1) &&
              !IsPrime(3215031751) && IsPrime(18446744073709551557u) && !IsPrime(561) &&
              IsPrime(2) && !IsPrime(0) && IsPrime(37) && !IsPrime(37 * 41));
static_assert(PrimitiveRoot(998244353) == 3 && PrimitiveRoot(469762049) == 3 &&
              PrimitiveRoot(167772161) == 3 && PrimitiveRoot(754974721) == 11 &&
              PrimitiveRoot(3) == 2 && !IsPrimitiveRoot(9, 998244353) && !IsPrimitiveRoot(7, 7));
static_assert(FactorsOf(998244352).count == 3 && FactorsOf(998244352).prime[2] == 17 &&
              FactorsOf(1).count == 0);
static_assert(MultiplyMod(~uint64_t{0}, ~uint64_t{0}, 1000000007) == 114944269);
static_assert(PowerMod(0, 0, 1) == 0 && PowerMod(3, 0, 7) == 1 && PowerMod(3, 5, 7) == 5);
static_assert(InverseModPrime(3, 998244353) * 3 % 998244353 == 1);
static_assert(Montgomery(998244353).FromForm(Montgomery(998244353).ToForm(123456789)) == 123456789);
static_assert(Shoup(5, 7)(6) == 2 && Shoup(6, 7)(~uint64_t{0}) == 6 * (~uint64_t{0} % 7) % 7);

TEST(ModularTest, MontgomeryAgreesWithTheDivisionAtTheEdges) {
  for (uint32_t p : {3u, 5u, 12289u, 998244353u, 2147483647u}) {
    const Montgomery field(p);
    const std::vector<uint32_t> values = {0, 1, 2, p / 2, p - 2, p - 1};
    for (uint32_t a : values) {
      for (uint32_t b : values) {
        EXPECT_EQ(field.FromForm(field.Multiply(field.ToForm(a), field.ToForm(b))),
                  MultiplyMod(a, b, p));
        EXPECT_EQ(field.Multiply(field.ToForm(a), b), MultiplyMod(a, b, p));
      }
      EXPECT_EQ(field.ToForm(4294967295u), field.ToForm(4294967295u % p));
      EXPECT_EQ(field.FromForm(field.Power(field.ToForm(a), 12345)), PowerMod(a, 12345, p));
    }
  }
}

TEST(ModularTest, ShoupAgreesWithTheDivisionForEveryModulus) {
  Random random(3);
  for (uint64_t m : {uint64_t{1}, uint64_t{2}, uint64_t{10}, (uint64_t{1} << 32) + 1,
                     (uint64_t{1} << 62) - 57, uint64_t{1} << 63, (uint64_t{1} << 63) - 25}) {
    for (int i = 0; i < 200; ++i) {
      const uint64_t w = random.Next64() % m;
      const uint64_t a = i == 0 ? ~uint64_t{0} : random.Next64();
      ASSERT_EQ(Shoup(w, m)(a), MultiplyMod(a, w, m)) << a << " * " << w << " mod " << m;
      ASSERT_EQ(Shoup(m - 1, m)(a), MultiplyMod(a, m - 1, m));
    }
  }
}

std::vector<uint32_t> RandomResidues(int64_t n, uint32_t p, uint64_t seed) {
  Random random(seed);
  std::vector<uint32_t> x;
  for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<uint32_t>(random.Next64() % p));
  return x;
}

int64_t Largest(uint32_t p) { return std::min<int64_t>(1 << 20, (p - 1) & -(p - 1)); }

// The definition.
std::vector<uint32_t> Twin(const Plan& plan, const std::vector<uint32_t>& x, Ring ring) {
  const int64_t n = static_cast<int64_t>(x.size());
  const uint32_t p = plan.modulus();
  const uint64_t w = plan.Root(n), v = ring == Ring::kNegacyclic ? plan.Root(2 * n) : 1;
  std::vector<uint32_t> out;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t at = MultiplyMod(PowerMod(w, Plan::Frequency(n, i), p), v, p);
    uint64_t value = 0;
    for (int64_t j = n - 1; j >= 0; --j) value = (value * at + x[j]) % p;
    out.push_back(static_cast<uint32_t>(value));
  }
  return out;
}

TEST(NttTest, AgreesWithTheDefinitionForEveryLength) {
  for (uint32_t p : kPrimes) {
    absl::StatusOr<Plan> plan = Plan::Create(p, Largest(p));
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (int64_t n = 1; n <= std::min<int64_t>(4096, plan->max_size() / 2); n *= 2) {
      for (Ring ring : {Ring::kCyclic, Ring::kNegacyclic}) {
        for (const std::vector<uint32_t>& x :
             {RandomResidues(n, p, n), std::vector<uint32_t>(n, p - 1)}) {
          std::vector<uint32_t> spectrum(n), back(n);
          ASSERT_TRUE(plan->Forward(x, spectrum, ring).ok());
          if (n <= 1024) {
            ASSERT_EQ(spectrum, Twin(*plan, x, ring)) << p << ", " << n;
          }
          ASSERT_TRUE(plan->Inverse(spectrum, back, ring).ok());
          ASSERT_EQ(back, x) << p << ", " << n;
          std::vector<uint32_t> in_place = x;
          ASSERT_TRUE(plan->Forward(in_place, in_place, ring).ok());
          ASSERT_EQ(in_place, spectrum);
        }
      }
    }
  }
}

TEST(NttTest, LongTransformsComeBackAndSumAsTheyShould) {
  for (uint32_t p : {998244353u, 2013265921u}) {
    const Plan plan = *Plan::Create(p, 1 << 20);
    for (int log = 13; log <= 20; ++log) {
      const int64_t n = int64_t{1} << log;
      const std::vector<uint32_t> x = RandomResidues(n, p, log);
      std::vector<uint32_t> y(n), back(n);
      ASSERT_TRUE(plan.Forward(x, y).ok());
      // The value at 1, at place 0, is the sum; the sum of all values is n x[0].
      uint64_t sum = 0, total = 0;
      for (uint32_t v : x) sum += v;
      for (uint32_t v : y) total += v;
      EXPECT_EQ(y[0], sum % p);
      EXPECT_EQ(total % p, MultiplyMod(x[0], n, p));
      // One value in the middle by Horner's rule.
      const int64_t place = n / 3;
      const uint64_t at = PowerMod(plan.Root(n), Plan::Frequency(n, place), p);
      uint64_t value = 0;
      for (int64_t j = n - 1; j >= 0; --j) value = (value * at + x[j]) % p;
      EXPECT_EQ(y[place], value);
      ASSERT_TRUE(plan.Inverse(y, back).ok());
      ASSERT_EQ(back, x) << log;
    }
  }
}

TEST(NttTest, IsLinear) {
  const uint32_t p = 998244353;
  const Plan plan = *Plan::Create(p, 2048);
  const std::vector<uint32_t> a = RandomResidues(2048, p, 1), b = RandomResidues(2048, p, 2);
  std::vector<uint32_t> c(2048), fa(2048), fb(2048), fc(2048);
  for (int i = 0; i < 2048; ++i) {
    c[i] = static_cast<uint32_t>((uint64_t{7} * a[i] + uint64_t{11} * b[i]) % p);
  }
  ASSERT_TRUE(plan.Forward(a, fa).ok() && plan.Forward(b, fb).ok() && plan.Forward(c, fc).ok());
  for (int i = 0; i < 2048; ++i) {
    ASSERT_EQ(fc[i], (uint64_t{7} * fa[i] + uint64_t{11} * fb[i]) % p);
  }
}

TEST(NttTest, TurnsProductsOfPolynomialsIntoProductsOfValues) {
  for (uint32_t p : kPrimes) {
    const Plan plan = *Plan::Create(p, std::min<int64_t>(Largest(p), 2048));
    for (int64_t n = 1; n <= plan.max_size() / 2; n *= 4) {
      for (Ring ring : {Ring::kCyclic, Ring::kNegacyclic}) {
        const std::vector<uint32_t> a = RandomResidues(n, p, n + 1),
                                    b = RandomResidues(n, p, n + 2);
        std::vector<uint32_t> fa(n), fb(n);
        ASSERT_TRUE(plan.Forward(a, fa, ring).ok() && plan.Forward(b, fb, ring).ok());
        ASSERT_TRUE(plan.MultiplySpectra(fa, fb, fa).ok());
        ASSERT_TRUE(plan.Inverse(fa, fa, ring).ok());
        std::vector<uint64_t> c(n, 0);
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            const uint64_t term = uint64_t{a[i]} * b[j] % p;
            const bool wraps = i + j >= n;
            uint64_t& sum = c[wraps ? i + j - n : i + j];
            sum = (sum + (wraps && ring == Ring::kNegacyclic ? p - term : term)) % p;
          }
        }
        for (int64_t i = 0; i < n; ++i) ASSERT_EQ(fa[i], c[i]) << p << ", " << n << ", " << i;
      }
    }
  }
}

TEST(NttTest, FrequenciesAreAPermutation) {
  for (int64_t n : {1, 2, 8, 128, 256, 1024, 4096}) {
    std::set<int64_t> seen;
    for (int64_t i = 0; i < n; ++i) seen.insert(Plan::Frequency(n, i));
    EXPECT_EQ(static_cast<int64_t>(seen.size()), n);
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), n - 1);
  }
}

TEST(NttTest, TruncatedTransformsAgreeWithWholeOnes) {
  for (uint32_t p : {998244353u, 2013265921u}) {
    for (int log : {8, 9, 11, 14}) {
      absl::StatusOr<internal::Transform> t = internal::Transform::Create(p, PrimitiveRoot(p), log);
      ASSERT_TRUE(t.ok());
      const size_t size = size_t{1} << log, granule = internal::Transform::Granule(log);
      for (size_t out = granule; out <= size; out += granule) {
        for (size_t in : {size_t{1}, size / 2 - 1, size / 2, size / 2 + 1, out - 17, out}) {
          if (in > out) continue;
          std::vector<uint32_t> x = RandomResidues(size, p, in + out), whole = x;
          std::fill(whole.begin() + in, whole.end(), 0);
          const std::vector<uint32_t> coefficients = whole;
          t->Forward(whole.data(), 0, log, nullptr);
          // What stands behind `in` is rubbish, which must not matter.
          t->ForwardTruncated(x.data(), log, in, out, nullptr);
          ASSERT_TRUE(std::equal(x.begin(), x.begin() + out, whole.begin()))
              << p << ", 2^" << log << ", " << in << " of " << out;
          for (size_t i = out; i < size; ++i) x[i] = 12345;
          t->BackwardTruncated(x.data(), log, out, nullptr);
          internal::Scale(t->tables(), x.data(), t->InverseScale(log), x.data(), size);
          ASSERT_EQ(x, coefficients) << p << ", 2^" << log << ", " << in << " of " << out;
        }
      }
    }
  }
}

TEST(NttTest, ThreadsChangeNothing) {
  ThreadPool pool(3);
  const Plan plan = *Plan::Create(998244353, 1 << 17);
  for (int64_t n : {1 << 10, 1 << 15, 1 << 17}) {
    const std::vector<uint32_t> x = RandomResidues(n, 998244353, n);
    std::vector<uint32_t> one(n), many(n);
    ASSERT_TRUE(plan.Forward(x, one).ok() && plan.Forward(x, many, Ring::kCyclic, &pool).ok());
    ASSERT_EQ(one, many);
    ASSERT_TRUE(plan.Inverse(one, many, Ring::kCyclic, &pool).ok());
    ASSERT_EQ(many, x);
  }
}

TEST(NttTest, EveryInstructionSetGivesTheSameSpectrum) {
  for (uint32_t p : {998244353u, 2013265921u}) {
    const int64_t n = 1 << 13;
    const Plan plan = *Plan::Create(p, 2 * n);
    const std::vector<uint32_t> x = RandomResidues(n, p, 5);
    std::vector<uint32_t> expected(n);
    ASSERT_TRUE(plan.Forward(x, expected, Ring::kNegacyclic).ok());
    int targets = 0;
    for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
      hwy::SetSupportedTargetsForTest(rest & -rest);
      const Plan here = *Plan::Create(p, 2 * n);
      std::vector<uint32_t> y(n), back(n);
      ASSERT_TRUE(here.Forward(x, y, Ring::kNegacyclic).ok());
      EXPECT_EQ(y, expected) << hwy::TargetName(rest & -rest);
      ASSERT_TRUE(here.Inverse(y, back, Ring::kNegacyclic).ok());
      EXPECT_EQ(back, x) << hwy::TargetName(rest & -rest);
      hwy::SetSupportedTargetsForTest(0);
      ++targets;
    }
    EXPECT_GE(targets, HWY_ARCH_WASM ? 1 : 2);
  }
}

TEST(NttTest, ReportsBadModuliLengthsAndResidues) {
  const auto code = [](uint32_t p, int64_t n) { return Plan::Create(p, n).status().code(); };
  for (uint32_t p : {0u, 1u, 2u, 4u, 998244351u, 561u, 2147483648u, 4294967291u}) {
    EXPECT_EQ(code(p, 1), absl::StatusCode::kInvalidArgument) << p;
  }
  for (int64_t n : {int64_t{0}, int64_t{-1}, int64_t{3}, int64_t{1} << 24, int64_t{1} << 62,
                    -(int64_t{1} << 40)}) {
    EXPECT_EQ(code(998244353, n), absl::StatusCode::kInvalidArgument) << n;
  }
  EXPECT_EQ(code(3, 2), absl::StatusCode::kOk);
  EXPECT_EQ(code(3, 4), absl::StatusCode::kInvalidArgument);

  const Plan plan = *Plan::Create(257, 256);
  std::vector<uint32_t> x(256, 256), y(256, 7);
  x[200] = 257;
  const std::vector<uint32_t> untouched = y;
  EXPECT_EQ(plan.Forward(x, y).code(), absl::StatusCode::kOutOfRange);
  EXPECT_NE(plan.Forward(x, y).message().find("element 200 is 257"), absl::string_view::npos);
  EXPECT_EQ(plan.Inverse(x, y).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(plan.MultiplySpectra(y, x, y).code(), absl::StatusCode::kOutOfRange);
  x[200] = 0;
  const std::span<const uint32_t> in(x);
  const std::span<uint32_t> out(y);
  EXPECT_EQ(plan.Forward(in.first(255), out.first(255)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(plan.Forward(in.first(0), out.first(0)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(plan.Forward(in.first(64), out).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(plan.Forward(in, out, Ring::kNegacyclic).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(plan.Forward(out.first(128), out.subspan(64, 128)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(plan.MultiplySpectra(in.first(8), in, out).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(plan.MultiplySpectra(in, in.first(8), out).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(plan.MultiplySpectra(out.first(8), out.first(8), out.subspan(4, 8)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(y, untouched);
  EXPECT_TRUE(plan.Forward(in.first(128), out.first(128), Ring::kNegacyclic).ok());
}

}  // namespace
}  // namespace assay::ntt
