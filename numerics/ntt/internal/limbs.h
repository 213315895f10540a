// SPDX-License-Identifier: Apache-2.0
//
// limbs.h: sums, differences and quadratic products of arrays of 64-bit limbs, lowest first.
#ifndef ASSAY_NUMERICS_NTT_INTERNAL_LIMBS_H_
#define ASSAY_NUMERICS_NTT_INTERNAL_LIMBS_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "numerics/ntt/modular.h"

namespace assay::ntt::internal {

// Without the zeros on top.
inline std::span<const uint64_t> Trimmed(std::span<const uint64_t> x) {
  size_t n = x.size();
  while (n > 0 && x[n - 1] == 0) --n;
  return x.first(n);
}
inline void Trim(std::vector<uint64_t>& x) { x.resize(Trimmed(x).size()); }

inline uint64_t AddCarry(uint64_t a, uint64_t b, uint64_t& carry) {
  const UInt128 sum = static_cast<UInt128>(a) + b + carry;
  carry = static_cast<uint64_t>(sum >> 64);
  return static_cast<uint64_t>(sum);
}
inline uint64_t SubtractBorrow(uint64_t a, uint64_t b, uint64_t& borrow) {
  const UInt128 difference = static_cast<UInt128>(a) - b - borrow;
  borrow = static_cast<uint64_t>(difference >> 64) & 1;
  return static_cast<uint64_t>(difference);
}

// a[0..n) += b[0..m), m <= n; returns the carry.
inline uint64_t AddTo(uint64_t* a, size_t n, const uint64_t* b, size_t m) {
  uint64_t carry = 0;
  for (size_t i = 0; i < m; ++i) a[i] = AddCarry(a[i], b[i], carry);
  for (size_t i = m; i < n && carry != 0; ++i) a[i] = AddCarry(a[i], 0, carry);
  return carry;
}
// a[0..n) -= b[0..m), m <= n; returns the borrow.
inline uint64_t SubtractFrom(uint64_t* a, size_t n, const uint64_t* b, size_t m) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < m; ++i) a[i] = SubtractBorrow(a[i], b[i], borrow);
  for (size_t i = m; i < n && borrow != 0; ++i) a[i] = SubtractBorrow(a[i], 0, borrow);
  return borrow;
}

// Of trimmed numbers.
inline std::strong_ordering Compare(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  for (size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] <=> b[i];
  }
  return std::strong_ordering::equal;
}

// out[0..n + m) = a b. out apart from both. n, m >= 1.
inline void MultiplySchoolbook(const uint64_t* a, size_t n, const uint64_t* b, size_t m,
                               uint64_t* out) {
  std::fill(out, out + n, 0);
  for (size_t j = 0; j < m; ++j) {
    uint64_t carry = 0;
    for (size_t i = 0; i < n; ++i) {
      const UInt128 t = static_cast<UInt128>(a[i]) * b[j] + out[i + j] + carry;
      out[i + j] = static_cast<uint64_t>(t);
      carry = static_cast<uint64_t>(t >> 64);
    }
    out[n + j] = carry;
  }
}

// The length from which Karatsuba's three halves cost less than four; measured.
inline constexpr size_t kKaratsuba = 24;

// out[0..2n) = a b for two of n limbs; scratch: [4n + 64].
inline void MultiplyKaratsuba(const uint64_t* a, const uint64_t* b, size_t n, uint64_t* out,
                              uint64_t* scratch) {
  if (n < kKaratsuba) return MultiplySchoolbook(a, n, b, n, out);
  // a = a1 X + a0, X of `low` limbs, |a0 - a1| and |b0 - b1| in `low` limbs:
  // a b = a1 b1 X^2 + (a1 b1 + a0 b0 - (a0 - a1)(b0 - b1)) X + a0 b0.
  const size_t high = n / 2, low = n - high;
  uint64_t* const da = out;
  uint64_t* const db = out + low;
  const auto difference = [&](const uint64_t* x, uint64_t* to) {
    const auto x0 = Trimmed({x, low}), x1 = Trimmed({x + low, high});
    const bool negative = Compare(x0, x1) < 0;
    const auto large = negative ? x1 : x0, small = negative ? x0 : x1;
    std::copy(large.begin(), large.end(), to);
    std::fill(to + large.size(), to + low, 0);
    SubtractFrom(to, low, small.data(), small.size());
    return negative;
  };
  const bool negative = difference(a, da) != difference(b, db);
  uint64_t* const middle = scratch;
  uint64_t* const rest = scratch + 2 * low;
  MultiplyKaratsuba(da, db, low, middle, rest);
  MultiplyKaratsuba(a, b, low, out, rest);
  MultiplyKaratsuba(a + low, b + low, high, out + 2 * low, rest);
  // middle := a0 b0 + a1 b1 -+ middle, below 2 X^2, so of 2 low + 1 limbs.
  std::copy(out, out + 2 * low, rest);
  uint64_t top = AddTo(rest, 2 * low, out + 2 * low, 2 * high);
  if (negative) {
    top += AddTo(rest, 2 * low, middle, 2 * low);
  } else {
    top -= SubtractFrom(rest, 2 * low, middle, 2 * low);
  }
  // n + high = low + 2 high exceeds 2 low, as n is not tiny.
  AddTo(out + low, n + high, rest, 2 * low);
  AddTo(out + 3 * low, n + high - 2 * low, &top, 1);
}

}  // namespace assay::ntt::internal

#endif  // ASSAY_NUMERICS_NTT_INTERNAL_LIMBS_H_
