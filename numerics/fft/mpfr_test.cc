// SPDX-License-Identifier: Apache-2.0
//
// The oracle's own oracle: MPFR at 200 bits.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/reference.h"

namespace assay::fft {
namespace {

constexpr int kBits = 200;

// cos and sin of -2 pi k / n.
void Root(int64_t k, int64_t n, mpfr_t re, mpfr_t im) {
  mpfr_t angle;
  mpfr_init2(angle, kBits);
  mpfr_const_pi(angle, MPFR_RNDN);
  mpfr_mul_si(angle, angle, -2 * static_cast<long>(k), MPFR_RNDN);
  mpfr_div_si(angle, angle, static_cast<long>(n), MPFR_RNDN);
  mpfr_sin_cos(im, re, angle, MPFR_RNDN);
  mpfr_clear(angle);
}

double Difference(mpfr_t truth, DoubleDouble value) {
  mpfr_t d;
  mpfr_init2(d, kBits);
  mpfr_sub_d(d, truth, value.hi, MPFR_RNDN);
  mpfr_sub_d(d, d, value.lo, MPFR_RNDN);
  const double difference = std::fabs(mpfr_get_d(d, MPFR_RNDN));
  mpfr_clear(d);
  return difference;
}

TEST(MpfrTest, UnitRootsOfTheOracleHaveOneHundredBits) {
  mpfr_t re, im;
  mpfr_inits2(kBits, re, im, nullptr);
  double worst = 0;
  for (int64_t n : {1, 3, 5, 8, 12, 97, 1000, 65536, 1000003}) {
    for (int64_t i = 0; i < 400; ++i) {
      const int64_t k = (i * 7907) % n;
      Root(k, n, re, im);
      const ComplexDoubleDouble w = UnitRootOracle(k, n);
      worst = std::max(worst, std::max(Difference(re, w.re), Difference(im, w.im)));
    }
  }
  EXPECT_LE(worst, 0x1p-100);
  mpfr_clears(re, im, nullptr);
}

TEST(MpfrTest, OracleSpectraHaveNinetyBits) {
  mpfr_t re, im, sum_re, sum_im, term;
  mpfr_inits2(kBits, re, im, sum_re, sum_im, term, nullptr);
  for (int64_t n : {1, 2, 3, 7, 16, 45, 60, 101}) {
    Random random(static_cast<uint64_t>(n));
    std::vector<std::complex<double>> x;
    for (int64_t j = 0; j < n; ++j) {
      const double a = random.Uniform();
      const double b = random.Uniform();
      x.push_back({2 * a - 1, 2 * b - 1});
    }
    const std::vector<ComplexDoubleDouble> y = DftOracle(x);
    for (int64_t k = 0; k < n; ++k) {
      mpfr_set_zero(sum_re, 1);
      mpfr_set_zero(sum_im, 1);
      for (int64_t j = 0; j < n; ++j) {
        Root(j * k % n, n, re, im);
        mpfr_mul_d(term, re, x[j].real(), MPFR_RNDN);
        mpfr_add(sum_re, sum_re, term, MPFR_RNDN);
        mpfr_mul_d(term, im, x[j].imag(), MPFR_RNDN);
        mpfr_sub(sum_re, sum_re, term, MPFR_RNDN);
        mpfr_mul_d(term, im, x[j].real(), MPFR_RNDN);
        mpfr_add(sum_im, sum_im, term, MPFR_RNDN);
        mpfr_mul_d(term, re, x[j].imag(), MPFR_RNDN);
        mpfr_add(sum_im, sum_im, term, MPFR_RNDN);
      }
      EXPECT_LE(Difference(sum_re, y[k].re), 0x1p-90) << n << " " << k;
      EXPECT_LE(Difference(sum_im, y[k].im), 0x1p-90) << n << " " << k;
    }
  }
  mpfr_clears(re, im, sum_re, sum_im, term, nullptr);
}

}  // namespace
}  // namespace assay::fft
