// SPDX-License-Identifier: Apache-2.0
//
// rounded_fft.h: products of integer polynomials by FFT in double, where rounding is proved to give
// the true coefficients.
#ifndef ASSAY_NUMERICS_NTT_INTERNAL_ROUNDED_FFT_H_
#define ASSAY_NUMERICS_NTT_INTERNAL_ROUNDED_FFT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt::internal {

struct RoundedProduct {
  int parts = 0;           // 0: not proved, even in four parts
  double error_bound = 0;  // < 1/4
  std::vector<Int128> coefficients;
};

// The product of a and b, all of whose coefficients are below 2^126 in size. bits: of the widest
// number in a and b, without the sign. Fails: kResourceExhausted.
absl::StatusOr<RoundedProduct> MultiplyByFft(std::span<const int64_t> a, std::span<const int64_t> b,
                                             int bits_a, int bits_b);

}  // namespace assay::ntt::internal

#endif  // ASSAY_NUMERICS_NTT_INTERNAL_ROUNDED_FFT_H_
