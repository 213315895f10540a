// SPDX-License-Identifier: Apache-2.0
//
// polynomial.h: products of polynomials with coefficients modulo any m from 1 to 2^63.
//
//   absl::StatusOr<std::vector<uint64_t>> c = assay::ntt::MultiplyModulo(a, b, 998244353);
//
// Coefficients stand constant term first, as in fft's convolve.h. Exact, the same everywhere.
// Products with integer coefficients, unreduced, are in exact_product.h.
#ifndef ASSAY_NUMERICS_NTT_POLYNOMIAL_H_
#define ASSAY_NUMERICS_NTT_POLYNOMIAL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"

namespace assay::ntt {

namespace internal {
class TransformSet;
}

// The largest modulus, and how many coefficients a product may have.
inline constexpr uint64_t kMaxModulus = uint64_t{1} << 63;
inline constexpr int64_t kMaxProductLength = int64_t{1} << 23;

// Products modulo one m, of up to a length: what they share is made once. Immutable; threads may
// share one.
//
// Method: schoolbook while the shorter factor has few coefficients. Else a transform modulo m
// itself where m is a prime below 2^31 with a root of unity of the length; for all other m
// transforms modulo enough of six primes of 30 bits for their product to exceed every coefficient,
// which is then put together (Garner) and reduced: three primes for m < 2^31, up to six for m =
// 2^63. Lengths between powers of two cost in proportion (van der Hoeven's truncated transform).
class Multiplier {
 public:
  //   modulus: 1..2^63. max_length: coefficients of the longest product, 1..kMaxProductLength.
  // Fails: kInvalidArgument beyond these; kResourceExhausted without memory.
  // Cost: that of about a sixth of the longest product.
  static absl::StatusOr<Multiplier> Create(uint64_t modulus, int64_t max_length);

  Multiplier(Multiplier&&) noexcept;
  Multiplier& operator=(Multiplier&&) noexcept;
  ~Multiplier();

  uint64_t modulus() const { return modulus_; }
  int64_t max_length() const { return max_length_; }

  // out[k] = sum over j of a[j] b[k - j] mod m.
  //   a: [n], b: [k], n, k >= 1, residues in [0, m). out: [n + k - 1]; must not overlap a or b.
  //   pool: threads to use, or nullptr; the result is the same.
  // If a and b are the same memory the square costs two transforms in the place of three.
  // Fails: kInvalidArgument if an operand is empty, the product too long, out not of its length or
  // overlapping; kOutOfRange if a coefficient is m or more, which is refused rather than reduced
  // (the message names it); kResourceExhausted without memory. out is then untouched.
  absl::Status Multiply(std::span<const uint64_t> a, std::span<const uint64_t> b,
                        std::span<uint64_t> out, ThreadPool* pool = nullptr) const;

  // How many transforms' primes the product of n by k coefficients uses; 0: schoolbook.
  int PrimesFor(int64_t n, int64_t k) const;
  // m is the prime of the transforms itself.
  bool transforms_modulo_itself() const { return itself_; }

 private:
  Multiplier(uint64_t modulus, int64_t max_length);
  uint64_t modulus_;
  int64_t max_length_;
  bool itself_ = false;
  std::unique_ptr<const internal::TransformSet> transforms_;
};

// One product. The same, with the Multiplier made on the way; fails as that.
absl::StatusOr<std::vector<uint64_t>> MultiplyModulo(std::span<const uint64_t> a,
                                                     std::span<const uint64_t> b, uint64_t modulus,
                                                     ThreadPool* pool = nullptr);

// The same by n k products: the twin.
absl::StatusOr<std::vector<uint64_t>> MultiplyModuloReference(std::span<const uint64_t> a,
                                                              std::span<const uint64_t> b,
                                                              uint64_t modulus);

}  // namespace assay::ntt

#endif  // ASSAY_NUMERICS_NTT_POLYNOMIAL_H_
