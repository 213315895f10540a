// SPDX-License-Identifier: Apache-2.0
//
// What the tests of this room share about MPFR.
#ifndef ASSAY_NUMERICS_FLOATING_MPFR_NUMBER_H_
#define ASSAY_NUMERICS_FLOATING_MPFR_NUMBER_H_

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::floating {

class Number {
 public:
  explicit Number(int bits = 300) {
    mpfr_init2(value_, bits);
    mpfr_set_zero(value_, 1);
  }
  Number(const Number&) = delete;
  Number(Number&& other) noexcept : Number(2) { mpfr_swap(value_, other.value_); }
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// |x| to 400 bits.
inline Number Absolute(mpfr_ptr x) {
  Number result(400);
  mpfr_abs(result.get(), x, MPFR_RNDN);
  return result;
}

// |computed - exact| in ulps of T at the exact value, subnormals included.
template <class T>
double UlpError(T computed, mpfr_ptr exact) {
  Number difference;
  mpfr_sub_d(difference.get(), exact, static_cast<double>(computed), MPFR_RNDN);
  if (mpfr_zero_p(difference.get())) return 0;
  const int digits = std::numeric_limits<T>::digits;
  const int least = std::numeric_limits<T>::min_exponent - digits;
  const int exponent =
      mpfr_zero_p(exact) ? least : std::max(static_cast<int>(mpfr_get_exp(exact)) - digits, least);
  mpfr_mul_2si(difference.get(), difference.get(), -exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference.get(), MPFR_RNDN));
}

}  // namespace assay::floating

#endif  // ASSAY_NUMERICS_FLOATING_MPFR_NUMBER_H_
