// SPDX-License-Identifier: Apache-2.0
//
// The loops of softmax.h over f32, by vector instructions; the same bits whatever their width.
//
// exp(x - max) without rounding x - max. Let c = max if |max| > 280 and c = 0 otherwise, and t =
// x - c. That is exact: for c = 0 nothing happens, and for c = max every x within 140 of it is
// within a factor of two (Sterbenz). An x further below counts for less than e^-140, which is 0
// beside the e^0 of the maximum, so t is cut off there; then |t| <= 420, and with n the integer
// next to t log2(e) - 0.13 and log 2 in two pieces, the first of 14 bits, r = t - n log 2 comes out
// with one rounding. What is kept of x is
//   2^(n - N) exp(r),   N the n of the maximum,
// that is exp(x - c) in a fixed unit, in f64: the largest logit is subtracted from an exponent,
// where subtraction is exact. The shift of 0.13 keeps exp(r) from 0.77 to 1.55, where an absolute
// error of s weighs least.
//
// Relative error of one exponential: at most 0.84 u, u = 2^-24, near exp(r) = 1.5: half an ulp of r
// (0.25 u), half an ulp of s = exp(r) - 1 (0.33 u there), three roundings of a term of 0.11 (0.22
// u) and the polynomial (0.04 u). 1 + s is an f64 and exact. Seen: 0.78 u. So a share errs by 0.84
// u, its total by as much, and its last rounding by half an ulp.
#ifndef ASSAY_NUMERICS_FLOATING_INTERNAL_SOFTMAX_KERNELS_H_
#define ASSAY_NUMERICS_FLOATING_INTERNAL_SOFTMAX_KERNELS_H_

#include <cstdint>

namespace assay::floating::internal {

inline constexpr float kLog2E = 0x1.715476p0f;
inline constexpr float kBias = 0.13f;
inline constexpr float kLn2High = 0x1.62e4p-1f;    // 14 bits
inline constexpr float kLn2Low = 0x1.7f7d1cp-20f;  // log 2 - kLn2High, rounded
inline constexpr float kMagic = 12582912.0f;       // 1.5 2^23
// exp(x) = 1 + x + x^2 P(x) on [-0.2568, 0.4368], relative error 2^-28.7. sollya:
// fpminimax(exp(x), [|2,...,6|], [|SG...|], [-0.2568; 0.4368], floating, relative, 1 + x).
inline constexpr float kExp[5] = {0x1.00000ap-1f, 0x1.55554cp-3f, 0x1.553b38p-5f, 0x1.11783ap-7f,
                                  0x1.8bc712p-10f};

// What the exponentials of a row, or of a piece of it, are measured against.
struct ExpFrame {
  float origin;  // c
  float floor;   // (max - c) - 140
  float magic;   // 1.5 2^23 - N
  double unit;   // exp(max - c) in the unit of the frame, by the f64 exponential
};
// For a finite maximum.
ExpFrame FrameOf(float max);

// The largest of x[0..n-1]; *nan tells whether any is NaN (the maximum then means nothing).
// -infinity for n = 0.
float MaxOf(const float* x, int64_t n, bool* nan);

// Where `value`, which must be there, first stands.
int64_t IndexOf(const float* x, int64_t n, float value);

// The sum of the exponentials in f64, in 32 lanes, without that of x[skip] (skip < 0: of all);
// each exponential, that of x[skip] too, into e unless it is null. While x is read, the numbers
// `ahead` elements further on are fetched into the cache.
double SumOfExps(const float* x, int64_t n, const ExpFrame& frame, int64_t skip, double* e,
                 int64_t ahead);

// y[i] = e[i] * factor, rounded once. With `stream`, past the caches where the machine can;
// StreamsDone must then be called before another thread may look.
void Scale(const double* e, int64_t n, double factor, float* y, bool stream);

// y[i] = (x[i] - max) - log_total, in f64 and rounded once. y may be x. `stream` as above.
void ShiftDown(const float* x, int64_t n, float max, double log_total, float* y, bool stream);

void StreamsDone();

}  // namespace assay::floating::internal

#endif  // ASSAY_NUMERICS_FLOATING_INTERNAL_SOFTMAX_KERNELS_H_
