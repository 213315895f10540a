// SPDX-License-Identifier: Apache-2.0
// A number of type T (Half, BFloat16, float or double) from its bits and back.
#ifndef ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_PATTERN_H_
#define ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_PATTERN_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "numerics/core/bits.h"

namespace assay::numerical_pitfalls {

template <class T>
T FromPattern(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return FloatFromBits(static_cast<uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return DoubleFromBits(bits);
  } else {
    return T::FromBits(static_cast<uint16_t>(bits));
  }
}

// Every NaN has one pattern: which sign a machine gives it is its own affair.
template <class T>
uint64_t Pattern(T x) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return CanonicalBits(x);
  } else {
    return x == x ? x.bits() : T(std::numeric_limits<float>::quiet_NaN()).bits();
  }
}

}  // namespace assay::numerical_pitfalls

#endif  // ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_PATTERN_H_
