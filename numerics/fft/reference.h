// SPDX-License-Identifier: Apache-2.0
//
// reference.h: transforms and products that are obviously right, for tests, labs and benchmarks.
//
// Two kinds. The naive twins do what the definition says, in the precision asked for. The oracle
// works in double-double arithmetic (106 bits, a pair hi + lo of doubles), so that its own error,
// below 2^-95 for any length here, is nothing beside the errors it measures. Everything is exact
// code: no libm, the same bits everywhere.
#ifndef ASSAY_NUMERICS_FFT_REFERENCE_H_
#define ASSAY_NUMERICS_FFT_REFERENCE_H_

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::fft {

// hi + lo with |lo| <= ulp(hi) / 2.
struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

struct ComplexDoubleDouble {
  DoubleDouble re;
  DoubleDouble im;
};

// Relative error of each at most 2^-102 (Joldes, Muller, Popescu 2017, "Tight and rigorous error
// bounds for basic building blocks of double-word arithmetic"); no overflow handling: finite
// operands below 2^990.
DoubleDouble Add(DoubleDouble a, DoubleDouble b);
DoubleDouble Multiply(DoubleDouble a, DoubleDouble b);
DoubleDouble Divide(DoubleDouble a, DoubleDouble b);

// exp(-2 pi i k / n), absolute error below 2^-100. n >= 1, any k.
ComplexDoubleDouble UnitRootOracle(int64_t k, int64_t n);

// The transform by its definition, X[k] = sum over j of x[j] w^(jk), terms added from j = 0 on in
// T.
//   x: [N], N >= 1. Returns [N]. Unnormalised both ways; forward has w = exp(-2 pi i / N).
// Error: about u sqrt(N) typically, N u at worst, relative in the 2-norm. Cost: 8 N^2 flop.
template <class T>
std::vector<std::complex<T>> DftReference(std::span<const std::complex<T>> x,
                                          bool backward = false);

// The same as a sum in double-double, recursively over the prime factors p of N.
// Cost: about 200 N (sum of p) flop.
std::vector<ComplexDoubleDouble> DftOracle(std::span<const std::complex<double>> x,
                                           bool backward = false);

// |computed - oracle|_2 / |oracle|_2. 0 for two zero vectors; NaN if anything is. Sizes must be
// equal (checked).
double RelativeL2Error(std::span<const std::complex<double>> computed,
                       std::span<const ComplexDoubleDouble> oracle);
double RelativeL2Error(std::span<const std::complex<float>> computed,
                       std::span<const ComplexDoubleDouble> oracle);

// Linear convolution by its definition, c[k] = sum of a[j] b[k - j], terms added from j = 0 on.
//   a: [n], b: [m], n, m >= 1. Returns [n + m - 1].
template <class T>
std::vector<T> ConvolveReference(std::span<const T> a, std::span<const T> b);

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_REFERENCE_H_
