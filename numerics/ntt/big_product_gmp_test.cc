// SPDX-License-Identifier: Apache-2.0
//
// Against GMP.
#include <gmp.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/ntt/big_product.h"

namespace assay::ntt {
namespace {

Natural RandomNatural(int64_t limbs, uint64_t seed) {
  Random random(seed);
  Natural x;
  // Runs of zeros and ones too.
  for (int64_t i = 0; i < limbs; ++i) {
    const uint64_t kind = random.Next64() % 4;
    x.push_back(kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : random.Next64());
  }
  x.back() |= 1;
  return x;
}

Natural Gmp(const Natural& a, const Natural& b) {
  Natural out(a.size() + b.size());
  const bool swap = a.size() < b.size();
  const Natural& x = swap ? b : a;
  const Natural& y = swap ? a : b;
  mpn_mul(reinterpret_cast<mp_limb_t*>(out.data()), reinterpret_cast<const mp_limb_t*>(x.data()),
          static_cast<mp_size_t>(x.size()), reinterpret_cast<const mp_limb_t*>(y.data()),
          static_cast<mp_size_t>(y.size()));
  while (!out.empty() && out.back() == 0) out.pop_back();
  return out;
}

TEST(BigProductGmpTest, ProductsAgree) {
  for (int64_t n = 1; n <= 400; n += 7) {
    for (int64_t m : {int64_t{1}, n / 2 + 1, n, 2 * n + 3, 500 - n}) {
      const Natural a = RandomNatural(n, n), b = RandomNatural(m, m + 1000);
      ASSERT_EQ(*Multiply(a, b), Gmp(a, b)) << n << " x " << m;
    }
  }
  for (auto [n, m] : {std::pair<int64_t, int64_t>{5000, 5000}, {60001, 3000}, {100000, 90000}}) {
    const Natural a = RandomNatural(n, n), b = RandomNatural(m, m + 1);
    ASSERT_EQ(*Multiply(a, b), Gmp(a, b)) << n << " x " << m;
    ASSERT_EQ(*Multiply(a, a), Gmp(a, a)) << n;
  }
}

TEST(BigProductGmpTest, DigitsAgree) {
  for (int64_t n : {1, 39, 40, 41, 42, 43, 79, 81, 100, 162, 323, 1000, 4097, 30000}) {
    const Natural x = RandomNatural(n, n);
    mpz_t z;
    mpz_init(z);
    mpz_import(z, x.size(), -1, sizeof(uint64_t), 0, 0, x.data());
    std::string digits(mpz_sizeinbase(z, 10) + 2, '\0');
    mpz_get_str(digits.data(), 10, z);
    digits.resize(digits.find('\0'));
    EXPECT_EQ(*ToDecimal(x), digits) << n;
    EXPECT_EQ(*FromDecimal(digits), x) << n;
    mpz_clear(z);
  }
}

}  // namespace
}  // namespace assay::ntt
