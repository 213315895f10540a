// SPDX-License-Identifier: Apache-2.0
//
// big_product.h: products of natural numbers of any size, and their decimal digits, as an example
// of what exact transforms are good for.
//
//   assay::ntt::Natural square = *assay::ntt::Multiply(x, x);
//   std::string digits = *assay::ntt::ToDecimal(square);
//
// A natural number is its limbs of 64 bits, the lowest first, without zeros on top; 0 has none.
// Functions take numbers with zeros on top as well, and return them without.
// (numerics/floating/big_integer.h has signed fractions and divisions, for hundreds of bits.)
#ifndef ASSAY_NUMERICS_NTT_BIG_PRODUCT_H_
#define ASSAY_NUMERICS_NTT_BIG_PRODUCT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"

namespace assay::ntt {

using Natural = std::vector<uint64_t>;

// Limbs of the longest product: 161 million decimal digits.
inline constexpr int64_t kMaxNaturalLimbs = int64_t{1} << 23;

// a b. Method: schoolbook, from 24 limbs on Karatsuba, from 160 on a convolution of the limbs
// modulo five primes (six for the very longest), with carries afterwards. The same memory twice: a
// square, for two thirds of the cost. Fails: kInvalidArgument if the product is too long;
// kResourceExhausted without memory.
absl::StatusOr<Natural> Multiply(std::span<const uint64_t> a, std::span<const uint64_t> b,
                                 ThreadPool* pool = nullptr);

// base^exponent by squaring; 0^0 = 1. Fails as Multiply, before much is computed.
absl::StatusOr<Natural> Power(uint64_t base, uint64_t exponent, ThreadPool* pool = nullptr);

// n! as a tree of products. Fails as Multiply.
absl::StatusOr<Natural> Factorial(uint64_t n, ThreadPool* pool = nullptr);

// Decimal digits, "0" for 0. Halves by division by powers of ten, whose reciprocals come from
// Newton's iteration: O(M(n) log n) for M(n) of a product.
// Fails: kInvalidArgument above half of kMaxNaturalLimbs; kResourceExhausted without memory.
absl::StatusOr<std::string> ToDecimal(std::span<const uint64_t> x, ThreadPool* pool = nullptr);

// The number that decimal digits stand for, leading zeros allowed. Halves, O(M(n) log n).
// Fails: kInvalidArgument if there are no digits, another character (it is named) or too many;
// kResourceExhausted without memory.
absl::StatusOr<Natural> FromDecimal(std::string_view digits, ThreadPool* pool = nullptr);

}  // namespace assay::ntt

#endif  // ASSAY_NUMERICS_NTT_BIG_PRODUCT_H_
