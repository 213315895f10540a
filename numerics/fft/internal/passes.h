// SPDX-License-Identifier: Apache-2.0
//
// passes.h: one pass of Stockham's algorithm, vectorised by Highway for the processor at hand.
//
// Every output is made by the same operations in the same order whatever the width of the vectors,
// so the bits do not depend on the processor.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_PASSES_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_PASSES_H_

#include <cstdint>

namespace assay::fft::internal {

// A bound, in units of u, on the sum over the ways from one input to one output of a butterfly of
// |coefficient| * (number of roundings on that way, a constant's own rounding counted as one).
// Two additions for 4, one for 2. 8: three, and where a number is turned by an eighth one more
// addition, a product and the constant. 16: four, and a complex product (sqrt(5)) with a constant
// (its components within 1.5 ulp). Odd ones: t = x1 + x2 (1), product and constant (2), at
// most (R - 1) / 2 additions from x0 on and one to join the halves; the two ways into an output
// weigh |cos| + |sin| <= sqrt(2) together.
constexpr double PathUnits(int radix) {
  if (radix == 2) return 1;
  if (radix == 4) return 2;
  if (radix == 8) return 6;
  if (radix == 16) return 4 + 5.24;
  return 1.4142135623730951 * (4 + (radix - 1) / 2);
}

// Sub-transforms of length radix * m, `stride` of them interleaved: element q of position j stands
// at q + stride * j.
template <class T>
struct Pass {
  int radix;
  int64_t m;
  int64_t stride;
  // For j = 1..radix-1: m real parts of w^(j p), p = 0..m-1, then m imaginary parts. Unread if m
  // = 1.
  const T* twiddles;
  // cos and sin(2 pi j / radix), j = 0..radix-1, for an odd radix; sqrt(1/2) for 8.
  const T* cosines;
  const T* sines;
  T half_root;
};

// How the numbers lie: kSplit, all real parts in `re`, all imaginary parts in `im`; kInterleaved,
// pairs in `re`
// (`im` is unread).
enum class Layout { kSplit, kInterleaved };

template <class T>
struct Input {
  Layout layout;
  const T* re;
  const T* im;
};

template <class T>
struct Output {
  Layout layout;
  T* re;
  T* im;
};

// Runs the pass out of place; input and output do not overlap unless the pass is the only one of
// its transform (m = stride = 1).
//   conjugate: -1 to conjugate what is interleaved (input, output or both), which turns the forward
//   transform into the backward one; 1 otherwise. What is split is never conjugated.
void RunPass(const Pass<float>& pass, Input<float> in, Output<float> out, float conjugate);
void RunPass(const Pass<double>& pass, Input<double> in, Output<double> out, double conjugate);

}  // namespace assay::fft::internal

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_PASSES_H_
