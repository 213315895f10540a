// SPDX-License-Identifier: Apache-2.0
// Error-free transformations: a rounded operation together with the exact value of what it lost.
//
// T is float or double. Nothing here uses a fused multiply-add, and the file means nothing when the
// compiler may contract or reassociate (the exact profile forbids both).
//
// Example: auto [s, e] = TwoSum(1e16, 1.0);   // s = 1e16, e = 1.0, and s + e is exactly 1e16 + 1
#ifndef ASSAY_NUMERICS_FLOATING_ERROR_FREE_H_
#define ASSAY_NUMERICS_FLOATING_ERROR_FREE_H_

#include <concepts>
#include <limits>

namespace assay::floating {

template <class T>
concept BinaryFloat = std::same_as<T, float> || std::same_as<T, double>;

// An unevaluated sum hi + lo with |lo| at most half an ulp of hi, unless a function says otherwise.
template <class T>
struct HiLo {
  T hi;
  T lo;
};

// Unit roundoff: the largest relative error of one operation rounded to nearest (2^-24, 2^-53).
template <BinaryFloat T>
inline constexpr T kUnitRoundoff = std::numeric_limits<T>::epsilon() / 2;

// hi = a + b rounded, lo = a + b - hi exactly. Any order of magnitudes, subnormals included.
// Exact unless hi overflows; then lo is NaN. Cost: 6 additions.
// Source: Knuth, The Art of Computer Programming, vol. 2 (3rd ed.), 4.2.2, theorem B.
template <class T>
constexpr HiLo<T> TwoSum(T a, T b) {
  const T s = a + b;
  const T z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}

// As TwoSum, for |a| >= |b| or a == 0. Cost: 3 additions.
// Source: Dekker, A floating-point technique for extending the available precision (1971).
template <class T>
constexpr HiLo<T> FastTwoSum(T a, T b) {
  const T s = a + b;
  return {s, b - (s - a)};
}

// a = hi + lo, each with at most half of the significant bits, so that products of halves are
// exact. Overflows for |a| > 2^(emax - 27) (f64) or 2^(emax - 12) (f32).
// Source: Dekker (1971), after Veltkamp.
template <BinaryFloat T>
constexpr HiLo<T> Split(T a) {
  constexpr T kFactor = std::same_as<T, float> ? T(4097) : T(134217729);  // 2^12 + 1, 2^27 + 1
  const T c = kFactor * a;
  const T hi = c - (c - a);
  return {hi, a - hi};
}

// hi = a * b rounded, lo = a * b - hi exactly, provided Split does not overflow and the exact error
// is representable (|a b| >= 2^-968 for f64 or 2^-102 for f32, or a b == 0). Cost: 17 operations.
// Source: Dekker (1971).
template <BinaryFloat T>
constexpr HiLo<T> TwoProduct(T a, T b) {
  const T p = a * b;
  const HiLo<T> x = Split(a);
  const HiLo<T> y = Split(b);
  return {p, x.lo * y.lo - (((p - x.hi * y.hi) - x.lo * y.hi) - x.hi * y.lo)};
}

// Adds the number b to the double-word number a. Relative error at most 2 u^2.
// Source: Joldes, Muller, Popescu, Tight and rigorous error bounds for basic building blocks of
//   double-word arithmetic (ACM TOMS 44, 2017), algorithm 4.
template <class T>
constexpr HiLo<T> AddToDoubleWord(HiLo<T> a, T b) {
  const HiLo<T> s = TwoSum(a.hi, b);
  return FastTwoSum(s.hi, a.lo + s.lo);
}

// Adds two double-word numbers. Relative error at most 3 u^2 + 13 u^3, also under cancellation.
// Source: the same, algorithm 6 (AccurateDWPlusDW).
template <class T>
constexpr HiLo<T> AddDoubleWords(HiLo<T> a, HiLo<T> b) {
  const HiLo<T> s = TwoSum(a.hi, b.hi);
  const HiLo<T> t = TwoSum(a.lo, b.lo);
  const HiLo<T> v = FastTwoSum(s.hi, s.lo + t.hi);
  return FastTwoSum(v.hi, t.lo + v.lo);
}

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_ERROR_FREE_H_
