// SPDX-License-Identifier: Apache-2.0
//
// Any factors, moduli and lengths: products modulo m and of natural numbers equal their twins or
// are refused for the reason that the header gives, transforms come back, digits are read as they
// were written.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/ntt/big_product.h"
#include "numerics/ntt/fuzz/bytes.h"
#include "numerics/ntt/modular.h"
#include "numerics/ntt/ntt.h"
#include "numerics/ntt/polynomial.h"

namespace assay::ntt {
namespace {

void FuzzModulo(Bytes& bytes) {
  constexpr uint64_t kModuli[] = {1,          2, 12289, 998244353, 2013265921, uint64_t{1} << 31,
                                  kMaxModulus};
  const uint64_t pick = bytes.Next(1);
  const uint64_t m = pick < 128 ? kModuli[pick % 7] : bytes.Word();
  // One word in 2000 is out of range, where there is one.
  bool in_range = 1 <= m && m <= kMaxModulus;
  const auto words = [&](size_t n) {
    std::vector<uint64_t> x;
    for (size_t i = 0; i < n; ++i) {
      x.push_back(bytes.Word());
      if (m == 0 || bytes.Next(2) % 2000 == 0) {
        in_range = in_range && x.back() < m;
      } else {
        x.back() %= m;
      }
    }
    return x;
  };
  const std::vector<uint64_t> a = words(bytes.Length(700)), b = words(bytes.Length(700));
  const auto product = MultiplyModulo(a, b, m);
  const auto twin = MultiplyModuloReference(a, b, m);
  ASSAY_CHECK(product.ok() == (in_range && !a.empty() && !b.empty()));
  ASSAY_CHECK(product.status() == twin.status());
  if (product.ok()) ASSAY_CHECK(*product == *twin);
}

void FuzzTransform(Bytes& bytes) {
  constexpr uint32_t kPrimes[] = {3, 257, 12289, 998244353, 2013265921};
  const uint32_t p = kPrimes[bytes.Next(1) % 5];
  const int64_t most = std::min<int64_t>((p - 1) & -(p - 1), 4096);
  const absl::StatusOr<Plan> plan = Plan::Create(p, most);
  ASSAY_CHECK(plan.ok());
  const size_t n = bytes.Coin() ? bytes.Length(4096) : size_t{1} << bytes.Next(1) % 13;
  const Ring ring = bytes.Coin() ? Ring::kCyclic : Ring::kNegacyclic;
  std::vector<uint32_t> x, y(n, 7), z(n);
  for (size_t i = 0; i < n; ++i) x.push_back(static_cast<uint32_t>(bytes.Next(4) % p));
  const bool fits = n > 0 && (n & (n - 1)) == 0 &&
                    static_cast<int64_t>(n) * (ring == Ring::kCyclic ? 1 : 2) <= most;
  ASSAY_CHECK(plan->Forward(x, y, ring).ok() == fits);
  if (!fits) {
    ASSAY_CHECK(y == std::vector<uint32_t>(n, 7));
    return;
  }
  ASSAY_CHECK(plan->Inverse(y, z, ring).ok());
  ASSAY_CHECK(z == x);
}

void FuzzPlan(Bytes& bytes) {
  const uint32_t p = static_cast<uint32_t>(bytes.Next(4));
  const int64_t n = static_cast<int64_t>(bytes.Word());
  const bool odd_prime = p % 2 == 1 && p < (uint32_t{1} << 31) && IsPrime(p);
  const bool fits = n >= 1 && (n & (n - 1)) == 0 && odd_prime && (p - 1) % n == 0;
  if (fits && n > 4096) return;
  ASSAY_CHECK(Plan::Create(p, n).ok() == fits);
}

void FuzzBig(Bytes& bytes) {
  const auto natural = [&](size_t n) {
    Natural x;
    for (size_t i = 0; i < n; ++i) x.push_back(bytes.Word());
    return x;
  };
  const Natural a = natural(bytes.Length(400)), b = natural(bytes.Length(400));
  const Natural product = *Multiply(a, b);
  ASSAY_CHECK(product == *Multiply(b, a));
  ASSAY_CHECK(product.empty() || product.back() != 0);
  // Modulo 2^61 - 1, where 2^64 = 8.
  constexpr uint64_t m = (uint64_t{1} << 61) - 1;
  const auto residue = [](const Natural& x) {
    uint64_t r = 0;
    for (size_t i = x.size(); i-- > 0;) {
      r = static_cast<uint64_t>((static_cast<UInt128>(r) * 8 + x[i]) % m);
    }
    return r;
  };
  ASSAY_CHECK(residue(product) == MultiplyMod(residue(a), residue(b), m));
  const std::string digits = *ToDecimal(product);
  ASSAY_CHECK(*FromDecimal(digits) == product);
  uint64_t from_digits = 0;
  for (char c : digits) {
    from_digits = (MultiplyMod(from_digits, 10, m) + static_cast<uint64_t>(c - '0')) % m;
  }
  ASSAY_CHECK(from_digits == residue(product));
}

void FuzzText(Bytes& bytes) {
  std::string text;
  const size_t n = bytes.Length(100);
  for (size_t i = 0; i < n; ++i) {
    const uint8_t byte = static_cast<uint8_t>(bytes.Next(1));
    text.push_back(byte < 250 ? static_cast<char>('0' + byte % 10) : static_cast<char>(byte));
  }
  const bool number = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return '0' <= c && c <= '9'; });
  const auto value = FromDecimal(text);
  ASSAY_CHECK(value.ok() == number);
  if (!number) return;
  const size_t zeros = std::min(text.find_first_not_of('0'), text.size() - 1);
  ASSAY_CHECK(*ToDecimal(*value) == text.substr(zeros));
}

void FuzzOne(std::span<const uint8_t> data) {
  Bytes bytes(data);
  switch (bytes.Next(1) % 5) {
    case 0:
      return FuzzModulo(bytes);
    case 1:
      return FuzzTransform(bytes);
    case 2:
      return FuzzPlan(bytes);
    case 3:
      return FuzzBig(bytes);
    default:
      return FuzzText(bytes);
  }
}

}  // namespace
}  // namespace assay::ntt

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::ntt::FuzzOne(std::span<const uint8_t>(data, size));
  return 0;
}
