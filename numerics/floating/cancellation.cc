// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/cancellation.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "numerics/floating/error_free.h"
#include "numerics/floating/internal/power_of_two.h"

namespace assay::floating {
namespace {

template <class T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

template <class T>
Roots<T> Ordered(T x, T y) {
  if (x > y) std::swap(x, y);
  return {2, x, y};
}

// Cases that both formulas share: a = 0 and coefficients that are not finite. True if settled.
template <class T>
bool Degenerate(T a, T b, T c, Roots<T>* roots) {
  *roots = {0, kNaN<T>, kNaN<T>};
  if (a - a != 0 || b - b != 0 || c - c != 0) return true;
  if (a != 0) return false;
  if (b != 0) {
    const T root = -c / b;
    *roots = {1, root == 0 ? T(0) : root, kNaN<T>};
  } else if (c == 0) {
    roots->count = -1;
  }
  return true;
}

}  // namespace

template <BinaryFloat T>
Roots<T> NaiveQuadraticRoots(T a, T b, T c) {
  Roots<T> roots;
  if (Degenerate(a, b, c, &roots)) return roots;
  const T d = b * b - 4 * a * c;
  if (d < 0) return roots;
  const T r = std::sqrt(d);
  const T x = (-b - r) / (2 * a);
  const T y = (-b + r) / (2 * a);
  return d == 0 ? Roots<T>{1, x, kNaN<T>} : Ordered(x, y);
}

namespace {

// x = 2^exponent times the value, exactly; value from 1 to below 2 in magnitude, or 0.
struct Scaled {
  double value;
  int exponent;
};
Scaled Take(double x) {
  if (x == 0) return {0, 0};
  const int exponent = internal::ExponentOf(x);
  return {internal::TimesPowerOfTwo(x, -exponent), exponent};
}

// a x^2 + b x + c with a != 0 and the rest finite, as alpha y^2 + 2 h y + gamma by x = 2^shift y.
// 1 <= |alpha| < 2; 1/2 <= |gamma| < 4 or gamma = 0; h may have left the range either way, where
// more or less of it changes no digit.
struct Balanced {
  double alpha;
  double h;
  double gamma;
  int shift;
};

Balanced Balance(double a, double b, double c) {
  const Scaled sa = Take(a);
  const Scaled sb = Take(b);
  const Scaled sc = Take(c);
  Balanced result = {sa.value, 0, 0, 0};
  if (c == 0) {
    result.shift = b == 0 ? 0 : sb.exponent - sa.exponent;
    result.h = sb.value / 2;
    return result;
  }
  // alpha 2^(ea + 2 shift) and gamma 2^ec meet within one bit.
  const int difference = sc.exponent - sa.exponent;
  result.shift = difference / 2;
  const int unit = sa.exponent + 2 * result.shift;
  result.gamma = internal::TimesPowerOfTwo(sc.value, sc.exponent - unit);
  result.h = internal::TimesPowerOfTwo(sb.value, sb.exponent - 1 + result.shift - unit);
  return result;
}

HiLo<double> Negated(HiLo<double> x) { return {-x.hi, -x.lo}; }

// (hi + lo) / d, rounded once to within 2^-100 before.
double Divide(HiLo<double> n, HiLo<double> d) {
  const double q = n.hi / d.hi;
  const HiLo<double> back = TwoProduct(q, d.hi);
  const double rest = (((n.hi - back.hi) - back.lo) + n.lo) - q * d.lo;
  return q + rest / d.hi;
}

HiLo<double> SquareRoot(HiLo<double> x) {
  const double root = std::sqrt(x.hi);
  const HiLo<double> back = TwoProduct(root, root);
  return FastTwoSum(root, (((x.hi - back.hi) - back.lo) + x.lo) / (2 * root));
}

// How the roots come out, in units of 2^shift where they are numbers.
struct Solution {
  int count;  // 0: complex, re and im
  double first;
  double second;
  double im;
  int shift;
};

Solution Solve(double a, double b, double c) {
  const Balanced p = Balance(a, b, c);
  Solution solution = {2, 0, 0, 0, p.shift};
  if (std::fabs(p.h) > 0x1p200) {
    // The discriminant is h^2 to 400 bits: one root is -2 h / alpha, the other -gamma / (2 h),
    // taken from the coefficients, since h has left the range of its scale.
    solution.count = 3;
    return solution;
  }
  const double h = std::fabs(p.h) < 0x1p-200 ? 0.0 : p.h;  // h^2 is nothing beside alpha gamma
  const HiLo<double> square = TwoProduct(h, h);
  const HiLo<double> product = TwoProduct(p.alpha, p.gamma);
  const HiLo<double> d = AddDoubleWords(square, Negated(product));
  if (d.hi < 0) {
    solution.count = 0;
    solution.im = Divide(SquareRoot(Negated(d)), {p.alpha, 0});
    return solution;
  }
  if (d.hi == 0) {
    solution.count = 1;
    return solution;
  }
  const HiLo<double> root = SquareRoot(d);
  // Both terms of one sign: nothing cancels.
  HiLo<double> s = AddDoubleWords(h >= 0 ? HiLo<double>{h, 0} : HiLo<double>{-h, 0}, root);
  if (h >= 0) s = Negated(s);
  solution.first = Divide(s, {p.alpha, 0});
  solution.second = p.gamma == 0 ? 0.0 : Divide({p.gamma, 0}, s);
  return solution;
}

// -b / (2^k a) with the exponents apart.
double Ratio(double numerator, double denominator, int k) {
  const Scaled n = Take(numerator);
  const Scaled d = Take(denominator);
  return internal::TimesPowerOfTwo(-n.value / d.value, n.exponent - d.exponent - k) + 0.0;
}

template <class T>
Roots<T> RealRoots(const Solution& solution, T a, T b, T c) {
  const double wide_a = static_cast<double>(a);
  const double wide_b = static_cast<double>(b);
  switch (solution.count) {
    case 0:
      return {0, kNaN<T>, kNaN<T>};
    case 1:
      return {1, static_cast<T>(Ratio(wide_b, wide_a, 1)), kNaN<T>};
    case 3:
      return Ordered(static_cast<T>(Ratio(wide_b, wide_a, 0)),
                     static_cast<T>(Ratio(static_cast<double>(c), wide_b, 0)));
    default:
      break;
  }
  const auto scaled = [&](double x) {
    return static_cast<T>(internal::TimesPowerOfTwo(x, solution.shift));
  };
  return Ordered(scaled(solution.first), scaled(solution.second));
}

}  // namespace

template <BinaryFloat T>
Roots<T> QuadraticRoots(T a, T b, T c) {
  Roots<T> roots;
  if (Degenerate(a, b, c, &roots)) return roots;
  return RealRoots(Solve(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)), a,
                   b, c);
}

template <BinaryFloat T>
ComplexRoots<T> ComplexQuadraticRoots(T a, T b, T c) {
  Roots<T> roots;
  if (!Degenerate(a, b, c, &roots)) {
    const Solution solution =
        Solve(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c));
    if (solution.count == 0) {
      const T re = static_cast<T>(Ratio(static_cast<double>(b), static_cast<double>(a), 1));
      const T im =
          static_cast<T>(internal::TimesPowerOfTwo(std::fabs(solution.im), solution.shift));
      return {2, {re, -im}, {re, im}};
    }
    roots = RealRoots(solution, a, b, c);
  }
  const auto real = [](T x) { return Complex<T>{x, x == x ? T(0) : x}; };
  return {roots.count, real(roots.first), real(roots.second)};
}

template Roots<float> NaiveQuadraticRoots(float, float, float);
template Roots<double> NaiveQuadraticRoots(double, double, double);
template Roots<float> QuadraticRoots(float, float, float);
template Roots<double> QuadraticRoots(double, double, double);
template ComplexRoots<float> ComplexQuadraticRoots(float, float, float);
template ComplexRoots<double> ComplexQuadraticRoots(double, double, double);

template <BinaryFloat T>
T Variance(std::span<const T> x, VarianceMethod method) {
  const T n = static_cast<T>(x.size());
  if (x.size() < 2) return kNaN<T>;
  T result = 0;
  switch (method) {
    case VarianceMethod::kOnePass: {
      T sum = 0;
      T squares = 0;
      for (const T value : x) {
        sum += value;
        squares += value * value;
      }
      result = (squares - sum * sum / n) / (n - 1);
      break;
    }
    case VarianceMethod::kTwoPass:
    case VarianceMethod::kTwoPassCorrected: {
      T sum = 0;
      for (const T value : x) sum += value;
      const T mean = sum / n;
      T squares = 0;
      T rest = 0;
      for (const T value : x) {
        const T d = value - mean;
        squares += d * d;
        rest += d;
      }
      if (method == VarianceMethod::kTwoPassCorrected) squares -= rest * rest / n;
      result = squares / (n - 1);
      break;
    }
    case VarianceMethod::kWelford: {
      T mean = 0;
      T squares = 0;
      T k = 0;
      for (const T value : x) {
        k += 1;
        const T d = value - mean;
        mean += d / k;
        squares += d * (value - mean);
      }
      result = squares / (n - 1);
      break;
    }
  }
  return result - result == 0 ? result : kNaN<T>;
}

template float Variance(std::span<const float>, VarianceMethod);
template double Variance(std::span<const double>, VarianceMethod);

}  // namespace assay::floating
