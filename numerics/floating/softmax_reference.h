// SPDX-License-Identifier: Apache-2.0
// Softmax and its loss as a first programmer writes them, and the half-way repair: the naive twins
// of softmax.h, for tests and for the article that shows how they fail. In the arithmetic of T
// (float, double, Half, BFloat16): every operation rounds to T, exp and log included.
#ifndef ASSAY_NUMERICS_FLOATING_SOFTMAX_REFERENCE_H_
#define ASSAY_NUMERICS_FLOATING_SOFTMAX_REFERENCE_H_

#include <span>

#include "numerics/core/elementary.h"
#include "numerics/floating/half.h"

namespace assay::floating::reference {

inline float ExpOf(float x) { return Exp(x); }
inline double ExpOf(double x) { return Exp(x); }
template <class Codec>
Float16<Codec> ExpOf(Float16<Codec> x) {
  return Float16<Codec>(Exp(x.ToFloat()));
}
inline float LogOf(float x) { return Log(x); }
inline double LogOf(double x) { return Log(x); }
template <class Codec>
Float16<Codec> LogOf(Float16<Codec> x) {
  return Float16<Codec>(Log(x.ToFloat()));
}

// Overflows to infinity once an exponential or the sum does, and is then NaN or 0.
// y: [n], may be x itself.
template <class T>
void NaiveSoftmax(std::span<const T> x, std::span<T> y) {
  T sum(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = ExpOf(x[i]);  // infinite once x[i] passes log of the largest number
    sum = sum + y[i];
  }
  for (T& value : y) value = value / sum;  // infinity / infinity is NaN
}

// The loss from a softmax that is already rounded: -inf or NaN is log of 0 or of NaN.
template <class T>
T NaiveCrossEntropy(std::span<const T> probabilities, std::size_t target) {
  return -LogOf(probabilities[target]);
}

// Softmax with the maximum subtracted: cannot overflow. y: [n], may be x itself. n >= 1.
template <class T>
void ShiftedSoftmax(std::span<const T> x, std::span<T> y) {
  T max = x[0];
  for (const T value : x) max = value > max ? value : max;
  T sum(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = ExpOf(x[i] - max);
    sum = sum + y[i];
  }
  for (T& value : y) value = value / sum;
}

// log of the sum of exponentials, as the formula reads.
template <class T>
T NaiveLogSumExp(std::span<const T> x) {
  T sum(0);
  for (const T value : x) sum = sum + ExpOf(value);
  return LogOf(sum);
}

// The maximum taken out, but finished with log(1 + ...) in one rounded sum. n >= 1.
template <class T>
T ShiftedLogSumExp(std::span<const T> x) {
  T max = x[0];
  for (const T value : x) max = value > max ? value : max;
  T sum(0);
  for (const T value : x) sum = sum + ExpOf(value - max);
  return max + LogOf(sum);
}

}  // namespace assay::floating::reference

#endif  // ASSAY_NUMERICS_FLOATING_SOFTMAX_REFERENCE_H_
