// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions whose results are the same bits on every machine, with every compiler and in
// WebAssembly, which a platform's libm does not promise.
//
// Only IEEE + - * / sqrt and integer operations are used, in a fixed order and never fused, so the
// caller's build needs -ffp-contract=off only for its own arithmetic. Round-to-nearest and gradual
// underflow are assumed (the default everywhere; -ffast-math breaks it).
//
// Errors are in units in the last place of the exact result, the largest seen: for float over all
// 2^32 inputs (0.5 is the least possible; elementary_exhaustive.cc makes the count), for double
// against MPFR over 250,000 inputs in each of the ranges of elementary_mpfr_test.cc, which demands
// 0.65, and 0.85 where results are subnormal or nearly so. A scalar call takes 3 to 20 ns.
// A NaN that comes back is always the quiet NaN 0x7fc00000 or 0x7ff8000000000000. No function sets
// errno, and nobody should look at the floating point flags.
#ifndef ASSAY_NUMERICS_CORE_ELEMENTARY_H_
#define ASSAY_NUMERICS_CORE_ELEMENTARY_H_

namespace assay {

// The square root, correctly rounded. NaN for x < 0; -0 for -0.
float Sqrt(float x);
double Sqrt(double x);

// e^x. Infinity above the overflow threshold, gradual underflow to 0.
// Error: 0.50002 ulp for float; 0.60 for double, 0.76 where the result is subnormal.
float Exp(float x);
double Exp(double x);

// e^x - 1, accurate near 0 too. -0 for -0.
// Error: 0.500002 ulp for float, 0.63 for double.
float Expm1(float x);
double Expm1(double x);

// The natural logarithm. -infinity for +-0, NaN for x < 0.
// Error: 0.500001 ulp for float, 0.61 for double.
float Log(float x);
double Log(double x);

// log(1 + x), accurate near 0 too. -infinity for -1, NaN for x < -1, -0 for -0.
// Error: 0.500001 ulp for float, 0.64 for double.
float Log1p(float x);
double Log1p(double x);

// The sine and cosine of x radians, for every finite x: huge arguments are reduced by as much of pi
// as they need. NaN for infinities. Sin(-0) = -0.
// Error: 0.500002 ulp for float, 0.58 for double.
float Sin(float x);
double Sin(double x);
float Cos(float x);
double Cos(double x);

// sin(pi x) and cos(pi x), for angles in half turns; exact where the result is 0, 1 or -1.
// The sine of an integer is 0 with the sign of x, the cosine of n + 1/2 is +0. NaN for infinities.
// Error: 0.500001 ulp for float; 0.57 for double, 0.75 where the sine is subnormal.
void SinCosPi(float x, float* sine, float* cosine);
void SinCosPi(double x, double* sine, double* cosine);

// The hyperbolic tangent. -0 for -0.
// Error: 0.500002 ulp for float, 0.57 for double.
float Tanh(float x);
double Tanh(double x);

// The error function, 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x. -0 for -0.
// Error: 0.5000001 ulp for float; 0.55 for double, 0.85 where the result is subnormal.
float Erf(float x);
double Erf(double x);

// x to the power y, with the special cases of C99 annex F.9.4.4: 1 for y = +-0 or x = 1, even with
// a NaN; NaN for x < 0 and y not an integer; zeros and infinities keep their sign for odd y.
// Error: 0.50002 ulp for float (a million pairs); 0.60 for double, 0.76 where the result is
// subnormal.
float Pow(float x, float y);
double Pow(double x, double y);

}  // namespace assay

#endif  // ASSAY_NUMERICS_CORE_ELEMENTARY_H_
