// SPDX-License-Identifier: Apache-2.0
// What the transcendental functions of big_float.h share: Ziv's loop, constants, small arguments.
#ifndef ASSAY_NUMERICS_FLOATING_INTERNAL_BIG_FLOAT_ZIV_H_
#define ASSAY_NUMERICS_FLOATING_INTERNAL_BIG_FLOAT_ZIV_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "numerics/core/check.h"
#include "numerics/floating/big_float.h"

namespace assay::floating::internal {

// A value with |value - exact| <= 2^error.
struct Approximation {
  BigFloat value;
  int64_t error;
};

inline BigFloat PowerOfTwo(int64_t exponent) {
  return BigFloat::Scaled(false, BigInteger(1), exponent);
}

inline constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();

// The exponent of a finite nonzero x, or what stands for it otherwise.
inline int64_t ExponentOr(const BigFloat& x, int64_t otherwise) {
  return x.IsZero() || !x.IsFinite() ? otherwise : x.Exponent();
}

// approximate(w) is to have an error of about 2^-w of the result, or where it cannot know the
// result's size, of 2^-w; the loop asks for more bits until the rounding is decided. `spare` is
// what is known to be needed beforehand.
template <class Approximate>
BigFloat Ziv(Precision precision, int64_t spare, Approximate approximate) {
  for (int64_t w = precision.bits + 20 + spare;; w += w / 2) {
    ASSAY_CHECK(w < (int64_t{1} << 26));  // a case that no precision decides has slipped through
    const Approximation y = approximate(static_cast<int>(w));
    if (!y.value.IsFinite()) return y.value;
    // Ends far apart in magnitude need no exact sum.
    const Precision exact{static_cast<int>(2 * w) + 64};
    const BigFloat error = PowerOfTwo(y.error);
    const BigFloat low = Round(Subtract(y.value, error, exact), precision);
    const BigFloat high = Round(Add(y.value, error, exact), precision);
    if (low == high && low.IsNegative() == high.IsNegative()) return low;
  }
}

// ln 2 and pi / 2 with `bits` bits behind the point, cut off, and off by less than one unit.
BigInteger Ln2(int bits);
BigInteger HalfPi(int bits);

// |x| with `bits` bits behind the point, cut off.
BigInteger Fixed(const BigFloat& x, int bits);

// Whether a relative change of x by x^order, or x itself beside 1, is below anything that a
// rounding could see.
inline bool Negligible(const BigFloat& x, int64_t order, int width, Precision precision) {
  return -order * (x.Exponent() + 1) > std::max(precision.bits, width) + 4;
}

inline int64_t SpareFor(const BigFloat& x) { return std::max<int64_t>(0, -x.Exponent()); }

inline BigFloat One(bool above, Precision precision) {
  return RoundNudged(BigFloat(1.0), above, precision);
}

}  // namespace assay::floating::internal

#endif  // ASSAY_NUMERICS_FLOATING_INTERNAL_BIG_FLOAT_ZIV_H_
