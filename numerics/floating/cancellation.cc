// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/cancellation.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

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

template <BinaryFloat T>
Roots<T> QuadraticRoots(T a, T b, T c) {
  Roots<T> roots;
  if (Degenerate(a, b, c, &roots)) return roots;
  const T half = b / 2;  // roots are (-half +- sqrt(half^2 - a c)) / a
  const HiLo<T> p = TwoProduct(half, half);
  const HiLo<T> q = TwoProduct(a, c);
  const HiLo<T> difference = TwoSum(p.hi, -q.hi);
  const T d = difference.hi + (difference.lo + (p.lo - q.lo));
  if (d < 0) return roots;
  const T r = std::sqrt(d);
  if (d == 0) return {1, half == 0 ? T(0) : -half / a, kNaN<T>};
  const T s = half >= 0 ? -(half + r) : r - half;  // both terms of one sign: nothing cancels
  return Ordered(s / a, c / s);
}

template Roots<float> NaiveQuadraticRoots(float, float, float);
template Roots<double> NaiveQuadraticRoots(double, double, double);
template Roots<float> QuadraticRoots(float, float, float);
template Roots<double> QuadraticRoots(double, double, double);

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
