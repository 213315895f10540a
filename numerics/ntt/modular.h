// SPDX-License-Identifier: Apache-2.0
//
// modular.h: arithmetic modulo one number, primes and their primitive roots; all of it constexpr.
//
//   constexpr assay::ntt::Montgomery field(998244353);
//   uint32_t c = field.FromForm(field.Multiply(field.ToForm(a), field.ToForm(b)));  // a b mod p
//
// Which product when:
//   Montgomery   both factors vary, odd modulus below 2^31: two 32-bit products in the place of a
//                division. The vectors of internal/ do the same by lanes.
//   Shoup        one factor is used often: a quotient computed once, any modulus below 2^63.
//   MultiplyMod  a factor is used once: one 128-bit division.
#ifndef ASSAY_NUMERICS_NTT_MODULAR_H_
#define ASSAY_NUMERICS_NTT_MODULAR_H_

#include <array>
#include <cstdint>

namespace assay::ntt {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// a b mod m; m >= 1. Any a, b.
constexpr uint64_t MultiplyMod(uint64_t a, uint64_t b, uint64_t m) {
  return static_cast<uint64_t>(static_cast<UInt128>(a) * b % m);
}

// base^exponent mod m; m >= 1. 0^0 = 1 mod m.
constexpr uint64_t PowerMod(uint64_t base, uint64_t exponent, uint64_t m) {
  uint64_t result = 1 % m;
  for (base %= m; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = MultiplyMod(result, base, m);
    base = MultiplyMod(base, base, m);
  }
  return result;
}

// The x in [0, p) with a x = 1 mod p, for a prime p that does not divide a (Fermat).
constexpr uint64_t InverseModPrime(uint64_t a, uint64_t p) { return PowerMod(a, p - 2, p); }

// Whether n is a prime, for certain. Miller and Rabin's test to twelve bases, which errs nowhere
// below 3.3 10^24 (Sorenson, Webster 2017).
constexpr bool IsPrime(uint64_t n) {
  constexpr uint64_t kBases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  if (n < 2) return false;
  for (uint64_t p : kBases) {
    if (n % p == 0) return n == p;
  }
  const int twos = __builtin_ctzll(n - 1);
  for (uint64_t base : kBases) {
    uint64_t x = PowerMod(base, (n - 1) >> twos, n);
    if (x == 1) continue;
    int i = 0;
    for (; i < twos && x != n - 1; ++i) x = MultiplyMod(x, x, n);
    if (i == twos) return false;
  }
  return true;
}

// The different prime factors of n >= 1, in ascending order, by trial division: O(sqrt(n)).
struct PrimeFactors {
  std::array<uint32_t, 10> prime = {};  // the product of the first ten primes exceeds 2^32
  int count = 0;
};
constexpr PrimeFactors FactorsOf(uint32_t n) {
  PrimeFactors factors;
  for (uint32_t d = 2; static_cast<uint64_t>(d) * d <= n; ++d) {
    if (n % d != 0) continue;
    factors.prime[factors.count++] = d;
    while (n % d == 0) n /= d;
  }
  if (n > 1) factors.prime[factors.count++] = n;
  return factors;
}

// Whether the powers of g run through 1..p-1: g^((p-1)/q) != 1 for every prime q that divides p -
// 1, which is the proof. p prime.
constexpr bool IsPrimitiveRoot(uint32_t g, uint32_t p) {
  if (g % p == 0) return false;
  const PrimeFactors factors = FactorsOf(p - 1);
  for (int i = 0; i < factors.count; ++i) {
    if (PowerMod(g, (p - 1) / factors.prime[i], p) == 1) return false;
  }
  return true;
}

// The smallest primitive root of the prime p.
constexpr uint32_t PrimitiveRoot(uint32_t p) {
  uint32_t g = 1;
  while (!IsPrimitiveRoot(g, p)) ++g;
  return g;
}

// Arithmetic modulo an odd p, 3 <= p < 2^31, on numbers x kept as their form x 2^32 mod p.
// Source: Montgomery, Modular multiplication without trial division (1985).
class Montgomery {
 public:
  constexpr explicit Montgomery(uint32_t p) : p_(p) {
    // Newton's iteration doubles the correct low bits; p itself is its inverse modulo 8.
    uint32_t inverse = p;
    for (int i = 0; i < 4; ++i) inverse *= 2 - p * inverse;
    inverse_ = inverse;
    one_ = static_cast<uint32_t>((uint64_t{1} << 32) % p);
    square_ = static_cast<uint32_t>(static_cast<uint64_t>(one_) * one_ % p);
  }

  constexpr uint32_t modulus() const { return p_; }
  // p^-1 mod 2^32.
  constexpr uint32_t inverse() const { return inverse_; }
  // The form of 1.
  constexpr uint32_t one() const { return one_; }

  // x 2^-32 mod p, in [0, p), for x < 2^32 p: x - q p with q = x / p mod 2^32 ends in 32 zeros.
  constexpr uint32_t Reduce(uint64_t x) const {
    const uint32_t q = static_cast<uint32_t>(x) * inverse_;
    const uint32_t high = static_cast<uint32_t>(x >> 32);
    const uint32_t subtract = static_cast<uint32_t>((static_cast<uint64_t>(q) * p_) >> 32);
    return high < subtract ? high - subtract + p_ : high - subtract;
  }

  // a b 2^-32 mod p: the form of the product where both are forms, the product itself where one is.
  // a < p, or any a if b < p.
  constexpr uint32_t Multiply(uint32_t a, uint32_t b) const {
    return Reduce(static_cast<uint64_t>(a) * b);
  }
  constexpr uint32_t ToForm(uint32_t x) const { return Multiply(x, square_); }  // any x
  constexpr uint32_t FromForm(uint32_t form) const { return Reduce(form); }

  // Of a form.
  constexpr uint32_t Power(uint32_t base, uint64_t exponent) const {
    uint32_t result = one_;
    for (; exponent != 0; exponent >>= 1) {
      if (exponent & 1) result = Multiply(result, base);
      base = Multiply(base, base);
    }
    return result;
  }

 private:
  uint32_t p_, inverse_, one_, square_;
};

// Multiplies by one fixed w modulo m, w < m <= 2^63: the quotient of w by m is computed once.
// Source: Shoup's, as in NTL; Harvey, Faster arithmetic for number-theoretic transforms (2014).
class Shoup {
 public:
  constexpr Shoup(uint64_t w, uint64_t m)
      : w_(w), m_(m), quotient_(static_cast<uint64_t>((static_cast<UInt128>(w) << 64) / m)) {}

  // a w mod m, in [0, m), for any a: the quotient is at most one too small.
  constexpr uint64_t operator()(uint64_t a) const {
    const uint64_t q = static_cast<uint64_t>((static_cast<UInt128>(a) * quotient_) >> 64);
    const uint64_t r = a * w_ - q * m_;
    return r >= m_ ? r - m_ : r;
  }

 private:
  uint64_t w_, m_, quotient_;
};

}  // namespace assay::ntt

#endif  // ASSAY_NUMERICS_NTT_MODULAR_H_
