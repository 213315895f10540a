// SPDX-License-Identifier: Apache-2.0
//
// convolve.h: linear and cyclic convolution, correlation, and products of polynomials.
//
//   absl::StatusOr<std::vector<double>> c = assay::fft::Convolve<double>(signal, filter);
//
// Coefficients stand constant term first: {1, 2} is 1 + 2x, and the convolution of two coefficient
// vectors is the product's. Exact profile, as fft.h: same bits everywhere, and which method is
// taken depends on the lengths and values alone.
#ifndef ASSAY_NUMERICS_FFT_CONVOLVE_H_
#define ASSAY_NUMERICS_FFT_CONVOLVE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"

namespace assay::fft {

enum class ConvolveMethod {
  kAuto,         // the cheapest of the three by a count of operations, see ChooseConvolution
  kDirect,       // a sum of products for each output
  kFft,          // three real transforms that take in everything
  kOverlapSave,  // blocks of the longer operand, see overlap_save.h
};

// Which outputs of the full convolution, [0, n + m - 1), are wanted; as in scipy.signal.
enum class ConvolveMode {
  kFull,
  kSame,   // as many as a has, from (m - 1) / 2 on
  kValid,  // those whose sums have all terms of the shorter operand: |n - m| + 1
};

struct ConvolveOptions {
  ConvolveMethod method = ConvolveMethod::kAuto;
  ConvolveMode mode = ConvolveMode::kFull;
  // The FFT spreads one NaN or infinity over every output. If set, inputs that hold one are
  // convolved directly, so that only the outputs that depend on it are touched; costs a look at the
  // input (and n m products when it strikes).
  bool direct_if_not_finite = false;
  // Works on blocks, rows and columns where there are several. Same bits.
  ThreadPool* pool = nullptr;
};

// The outputs that a mode wants: [begin, end) of the full convolution.
struct OutputRange {
  int64_t begin, end;
};
OutputRange WantedOutputs(int64_t n, int64_t m, ConvolveMode mode);

// c[k] = sum over j of a[j] b[k - j].
//   a: [n], b: [m], n, m >= 1. Returns the outputs that the mode wants. T is float or double.
// Error of each c[k]: direct, min(n, m) u sum |a[j]| |b[k - j]|; by transforms
// ConvolveErrorBound():
//   normwise, so small coefficients beside large ones can lose all their digits
//   (checked_convolve.h finds out and mends it). Observed errors are some 20 times smaller.
//   Direct sums add the terms from j = 0 on.
// Cost: see ConvolveMethod. Allocates.
// Fails: kInvalidArgument if a or b is empty or both together are above kMaxSize;
//   kResourceExhausted without memory for the plan.
template <class T>
absl::StatusOr<std::vector<T>> Convolve(std::span<const T> a, std::span<const T> b,
                                        ConvolveOptions options = {});

// c[k] = sum over j of a[j + k - (m - 1)] b[j], k in [0, n + m - 1): lag k - (m - 1). The
// convolution of a with b reversed (scipy.signal.correlate); modes, error, failures as there.
template <class T>
absl::StatusOr<std::vector<T>> Correlate(std::span<const T> a, std::span<const T> b,
                                         ConvolveOptions options = {});

// c[k] = sum over j of a[j] b[(k - j) mod N], k in [0, N).
//   a, b: [N], the same N >= 1 (else kInvalidArgument). The mode is not looked at, and kOverlapSave
//   means kFft. Error: as Convolve's; by FFT one transform of N where N has no prime factor above
//   13, otherwise the linear convolution folded: twice its bound and a rounding.
template <class T>
absl::StatusOr<std::vector<T>> ConvolveCyclic(std::span<const T> a, std::span<const T> b,
                                              ConvolveOptions options = {});

// A bound on |computed c[k] - true c[k]| for every k that Convolve with these options returns,
// barring overflow and underflow; by FFT about 12 u log2(n + m) |a|_2 |b|_2. n, m >= 1 (checked).
// Proof: with e the transform's 2-norm bound and p its path bound, a's and b's spectra are within
//   e |A|_2 and e |B|_2, their product within (2 e + e^2 + 2.24 u) |A|_2 |B|_2 in the 1-norm
//   (Cauchy and Schwarz), an inverse transform maps that to at most 1/N of it in each output, and
//   adds p + u times |A|_2 |B|_2 / N; |A|_2 = sqrt(N) |a|_2. After Percival 2003; Brent, Percival,
//   Zimmermann 2007. In blocks: the largest block's norm in the place of the longer operand's.
//   Direct sums: min(n, m) u |a|_2 |b|_2.
template <class T>
double ConvolveErrorBound(std::span<const T> a, std::span<const T> b,
                          ConvolveOptions options = {.method = ConvolveMethod::kFft});

// What kAuto decides for lengths n and m >= 1: the least of n m products (fewer for kSame and
// kValid), three transforms, and the transforms of the blocks, as measured against each other.
// Never kAuto. direct_if_not_finite is Convolve's own business.
ConvolveMethod ChooseConvolution(int64_t n, int64_t m, ConvolveMode mode = ConvolveMode::kFull);

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_CONVOLVE_H_
