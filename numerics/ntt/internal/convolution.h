// SPDX-License-Identifier: Apache-2.0
//
// convolution.h: linear convolutions modulo one prime or several, from and to 64-bit words.
#ifndef ASSAY_NUMERICS_NTT_INTERNAL_CONVOLUTION_H_
#define ASSAY_NUMERICS_NTT_INTERNAL_CONVOLUTION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"
#include "numerics/ntt/internal/buffer.h"
#include "numerics/ntt/internal/residues.h"
#include "numerics/ntt/internal/transform.h"

namespace assay::ntt::internal {

// The transform that a product of `length` >= 1 coefficients needs: at least a leaf.
int LogFor(size_t length);

// The longest product by kPrime.
inline constexpr size_t kMaxLength = size_t{1} << kPrimeLog;

// Transforms modulo kPrime[0..count) for products of up to `length` <= kMaxLength coefficients.
// Short ones share tables that are made once.
class TransformSet {
 public:
  TransformSet() = default;
  static absl::StatusOr<TransformSet> Create(int count, size_t length);
  // A set of one.
  explicit TransformSet(Transform only);

  std::span<const Transform> all() const { return all_; }

 private:
  std::vector<Transform> own_;
  std::span<const Transform> all_;  // of own_'s elements, which stay in place when it moves
};

// How many of kPrime have a product above `bound`, with some room for rounding; kPrimes + 1 if all
// are too few.
int PrimesAbove(double bound);

// body(begin, end) over [0, n), by blocks over the pool or at once.
void ForRange(ThreadPool* pool, size_t n, absl::FunctionRef<void(size_t, size_t)> body);

// Writes an operand's residues modulo transform's prime.
using Load = absl::FunctionRef<void(const Transform&, uint32_t* to)>;

// The first n + m - 1 elements of each row of `digits` := Backward's values of the product modulo
// one of the transforms. load_a, load_b write n and m residues; load_b is not called if `square`,
// where b = a.
class Convolution {
 public:
  // Fails: kResourceExhausted.
  static absl::StatusOr<Convolution> Create(size_t n, size_t m, int rows);

  void Run(std::span<const Transform> transforms, Load load_a, Load load_b, bool square,
           ThreadPool* pool);

  size_t length() const { return n_ + m_ - 1; }
  uint32_t* row(int i) const { return digits_.data() + (static_cast<size_t>(i) << log_); }
  // Pointers to the rows from element `at` on.
  std::array<uint32_t*, kPrimes> Rows(size_t at) const;

 private:
  Convolution() = default;
  size_t n_ = 0, m_ = 0;
  int log_ = 0, rows_ = 0;
  Buffer<uint32_t> digits_, other_;
};

}  // namespace assay::ntt::internal

#endif  // ASSAY_NUMERICS_NTT_INTERNAL_CONVOLUTION_H_
