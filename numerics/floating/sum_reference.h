// SPDX-License-Identifier: Apache-2.0
// The textbook forms of the sums in sum.h: one number after the other, as a book prints them. They
// are the naive twins that tests compare with, and the subject of the article, which also runs them
// in 16 bits.
//
// T is any type with + and - that round (float, double, Half, BFloat16). None of them looks for
// infinities; where the book's formula makes a NaN of an overflow, so does this. Each starts from
// T(0), and returns it for an empty x. Bounds as in sum.h, without the lanes.
#ifndef ASSAY_NUMERICS_FLOATING_SUM_REFERENCE_H_
#define ASSAY_NUMERICS_FLOATING_SUM_REFERENCE_H_

#include <span>

#include "numerics/floating/error_free.h"

namespace assay::floating::reference {

template <class T>
T NaiveSum(std::span<const T> x) {
  T s(0);
  for (const T value : x) s = s + value;
  return s;
}

// Splits in the middle down to single elements: height ceil(lg n).
template <class T>
T PairwiseSum(std::span<const T> x) {
  if (x.empty()) return T(0);
  if (x.size() == 1) return x[0];
  const std::size_t half = x.size() / 2;
  return PairwiseSum(x.subspan(0, half)) + PairwiseSum(x.subspan(half));
}

template <class T>
T KahanSum(std::span<const T> x) {
  T s(0);
  T c(0);  // what the last addition took too much
  for (const T value : x) {
    const T y = value - c;
    const T t = s + y;
    c = (t - s) - y;
    s = t;
  }
  return s;
}

template <class T>
T NeumaierSum(std::span<const T> x) {
  T s(0);
  T c(0);  // all that was lost so far
  for (const T value : x) {
    const HiLo<T> sum = TwoSum(s, value);
    s = sum.hi;
    c = c + sum.lo;
  }
  return s + c;
}

template <class T>
T DoubleDoubleSum(std::span<const T> x) {
  HiLo<T> s = {T(0), T(0)};
  for (const T value : x) s = AddToDoubleWord(s, value);
  return s.hi;
}

}  // namespace assay::floating::reference

#endif  // ASSAY_NUMERICS_FLOATING_SUM_REFERENCE_H_
