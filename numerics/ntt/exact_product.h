// SPDX-License-Identifier: Apache-2.0
//
// exact_product.h: products of polynomials with integer coefficients, exact, by whichever way is
// cheapest among those that are proved exact for the operands at hand.
//
//   absl::StatusOr<assay::ntt::IntegerProduct> c = assay::ntt::MultiplyExact(a, b);
//
// Coefficients stand constant term first. The way taken depends on lengths and values alone and is
// part of the result, with its proof; all ways give the same coefficients.
#ifndef ASSAY_NUMERICS_NTT_EXACT_PRODUCT_H_
#define ASSAY_NUMERICS_NTT_EXACT_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt {

enum class ExactRoute {
  kSchoolbook,  // n m products of integers
  kFft,         // by FFT in double, rounded; operands cut into parts where they are wide
  kNtt,         // modulo one to six primes
};

struct ExactOptions {
  // The way to go; it fails where its proof does. By cost if not set.
  std::optional<ExactRoute> route;
  // Threads for kNtt, or nullptr; the result is the same.
  ThreadPool* pool = nullptr;
};

// How an exact product was made, and why it is exact. Integer is int64_t or Int128.
template <class Integer>
struct ExactProduct {
  std::vector<Integer> coefficients;  // [n + m - 1]
  ExactRoute route = ExactRoute::kSchoolbook;
  // kFft: each operand was cut into at most this many parts by powers of two (1: not cut), and no
  // coefficient of the parts' products was further than error_bound < 1/4 from the integer it was
  // rounded to.
  int parts = 0;
  double error_bound = 0;
  // kNtt: so many primes. No coefficient exceeds coefficient_bound in size, which is less than half
  // their product, so its residues tell it from all others.
  int primes = 0;
  double coefficient_bound = 0;
};
using IntegerProduct = ExactProduct<int64_t>;

// The product of two polynomials with integer coefficients.
//   a: [n], b: [m], n, m >= 1, n + m - 1 <= 2^23 except by the schoolbook.
// Proofs: kNtt, |c[k]| <= min(|a|_1 |b|_inf, |a|_inf |b|_1), rounded upwards, is below half the
//   product of the primes. kFft, the bound on the error of a convolution by FFT (fft's convolve.h)
//   is below 1/4 for all parts; parts are balanced, so that their norms are small.
// Cost: the cheaper of schoolbook and kNtt by a count that was measured (exact_product.cc); some
//   2 to 4 ns a coefficient for each prime with AVX-512. kFft costs more than kNtt everywhere, and
//   is there to compare with. a and b the same memory: a square, two transforms for three.
// Fails: kInvalidArgument if a or b is empty or the product too long; kOutOfRange if a coefficient
//   of the product does not fit an int64 (the message names the first): nothing wraps;
//   kFailedPrecondition if options.route is not proved for these operands; kResourceExhausted
//   without memory.
absl::StatusOr<IntegerProduct> MultiplyExact(std::span<const int64_t> a, std::span<const int64_t> b,
                                             const ExactOptions& options = {});

// The same with coefficients of 128 bits: of operands that all fit 52 bits, say, none can fail to
// fit.
absl::StatusOr<ExactProduct<Int128>> MultiplyExactWide(std::span<const int64_t> a,
                                                       std::span<const int64_t> b,
                                                       const ExactOptions& options = {});

// The twin: n m products in 192 bits. Fails as MultiplyExact.
absl::StatusOr<std::vector<int64_t>> MultiplyExactReference(std::span<const int64_t> a,
                                                            std::span<const int64_t> b);

}  // namespace assay::ntt

#endif  // ASSAY_NUMERICS_NTT_EXACT_PRODUCT_H_
