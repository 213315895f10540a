// SPDX-License-Identifier: Apache-2.0
//
// composer.h: from the digits that Garner leaves to numbers of up to 178 bits.
#ifndef ASSAY_NUMERICS_NTT_INTERNAL_COMPOSER_H_
#define ASSAY_NUMERICS_NTT_INTERNAL_COMPOSER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "numerics/ntt/internal/residues.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt::internal {

// A number of 192 bits in two's complement.
struct Wide {
  Int128 high = 0;
  uint64_t low = 0;
};

constexpr Wide operator-(Wide a, Wide b) {
  return {a.high - b.high - (a.low < b.low ? 1 : 0), a.low - b.low};
}
constexpr bool operator<(Wide a, Wide b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}
inline void Add(Wide& sum, Int128 term) {
  const uint64_t low = static_cast<uint64_t>(term);
  sum.low += low;
  sum.high += (term >> 64) + (sum.low < low ? 1 : 0);
}

// A product of consecutive primes two by two: digits of almost 60 bits.
constexpr uint64_t PairOf(int i, int count) {
  return kPrime[i] * (i + 1 < count ? uint64_t{kPrime[i + 1]} : 1);
}

// Puts together three to six digits of the mixed radix of kPrime.
class Composer {
 public:
  explicit Composer(int count) : count_(count) {
    product_ = Join(PairOf(0, count) - 1, PairOf(2, count) - 1,
                    count > 4 ? PairOf(4, count) - 1 : 0);  // less one
    half_ = {product_.high >> 1, product_.low >> 1 | static_cast<uint64_t>(product_.high) << 63};
    Add(product_, 1);
  }

  // The number from 0 on that digits[0..count)[k] stand for.
  Wide FromZero(const std::array<uint32_t*, kPrimes>& digits, size_t k) const {
    const auto pair = [&](int i) {
      const uint64_t high = i + 1 < count_ ? digits[i + 1][k] : 0;
      return digits[i][k] + kPrime[i] * high;
    };
    return Join(pair(0), pair(2), count_ > 4 ? pair(4) : 0);
  }
  // The one nearest to 0.
  Wide NearestToZero(const std::array<uint32_t*, kPrimes>& digits, size_t k) const {
    const Wide x = FromZero(digits, k);
    return half_ < x ? x - product_ : x;
  }

 private:
  // x + P0 (y + P1 z).
  static Wide Join(uint64_t x, uint64_t y, uint64_t z) {
    constexpr uint64_t kP0 = PairOf(0, 6), kP1 = PairOf(2, 6);
    const UInt128 t = static_cast<UInt128>(kP1) * z + y;
    const UInt128 low = static_cast<UInt128>(kP0) * static_cast<uint64_t>(t) + x;
    const UInt128 high = static_cast<UInt128>(kP0) * static_cast<uint64_t>(t >> 64) + (low >> 64);
    return {static_cast<Int128>(high), static_cast<uint64_t>(low)};
  }

  int count_;
  Wide product_, half_;
};

}  // namespace assay::ntt::internal

#endif  // ASSAY_NUMERICS_NTT_INTERNAL_COMPOSER_H_
