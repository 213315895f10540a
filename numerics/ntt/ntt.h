// SPDX-License-Identifier: Apache-2.0
//
// ntt.h: number-theoretic transforms, the exact counterpart of fft.h: residues modulo a prime in
// the place of complex numbers, a root of unity modulo that prime in the place of exp(-2 pi i / N).
//
//   absl::StatusOr<assay::ntt::Plan> plan = assay::ntt::Plan::Create(998244353, 1 << 20);
//   if (!plan.ok()) return plan.status();
//   absl::Status status = plan->Forward(x, spectrum);   // lengths are powers of two
//
// Products of polynomials are in polynomial.h and exact_product.h, those of integers in
// big_product.h.
//
// A plan serves every power of two up to its largest length, is immutable, and needs no scratch:
// threads may share it. Exact in the plainest sense: integers, canonical in [0, p), the same on
// every processor and in WebAssembly.
#ifndef ASSAY_NUMERICS_NTT_NTT_H_
#define ASSAY_NUMERICS_NTT_NTT_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"

namespace assay::ntt {

namespace internal {
class Transform;
}

// Which polynomials a transform of length N knows: those modulo x^N - 1, whose spectrum is the
// values at w^k, or those modulo x^N + 1, the values at v w^k with v^2 = w. w = Plan::Root(N) and
// v = Plan::Root(2N).
enum class Ring { kCyclic, kNegacyclic };

class Plan {
 public:
  // Prepares transforms modulo p of lengths 1, 2, 4, ... up to max_size.
  //   p: a prime, 3 <= p < 2^31. max_size: a power of two that divides p - 1, or for negacyclic
  //   transforms half of one.
  // Cost: about half a transform of max_size. Memory: 7.75 max_size bytes.
  // Fails: kInvalidArgument if p is not such a prime or max_size not such a power;
  // kResourceExhausted without memory for the tables.
  static absl::StatusOr<Plan> Create(uint32_t p, int64_t max_size);

  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  uint32_t modulus() const;
  int64_t max_size() const;

  // An element of order n: g^((p - 1) / n), g the smallest primitive root. n: a power of two that
  // divides p - 1 (checked).
  uint32_t Root(int64_t n) const;

  // out[i] = sum over j of in[j] Root(N)^(j Frequency(N, i)), for kNegacyclic times Root(2N)^j.
  //   in: [N] residues in [0, p), N a power of two <= max_size. out: [N], the same memory or apart.
  //   pool: threads to use, or nullptr.
  // Cost: N/2 log2 N products modulo p.
  // Fails: kInvalidArgument on a wrong length or a partial overlap, or for kNegacyclic if 2N does
  // not divide p - 1 or 2N > max_size; kOutOfRange if a residue is p or more (it is named). out is
  // then untouched.
  absl::Status Forward(std::span<const uint32_t> in, std::span<uint32_t> out,
                       Ring ring = Ring::kCyclic, ThreadPool* pool = nullptr) const;
  // The way back: Inverse(Forward(x)) = x.
  absl::Status Inverse(std::span<const uint32_t> in, std::span<uint32_t> out,
                       Ring ring = Ring::kCyclic, ThreadPool* pool = nullptr) const;

  // out[i] = a[i] b[i] mod p, all [n] in [0, p); out may be a or b. Fails as Forward.
  absl::Status MultiplySpectra(std::span<const uint32_t> a, std::span<const uint32_t> b,
                               std::span<uint32_t> out) const;

  // The frequency at place i of a spectrum of length n, a power of two, 0 <= i < n (checked). The
  // order is the one in which the transform leaves the values: bit-reversed, and from 256 on within
  // each block of 256 rows and columns of the 16 x 16 exchanged.
  static int64_t Frequency(int64_t n, int64_t i);

 private:
  explicit Plan(std::unique_ptr<const internal::Transform> transform);
  std::unique_ptr<const internal::Transform> transform_;
};

}  // namespace assay::ntt

#endif  // ASSAY_NUMERICS_NTT_NTT_H_
