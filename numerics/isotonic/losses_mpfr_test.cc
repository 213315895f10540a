// SPDX-License-Identifier: Apache-2.0
//
// Divergences against MPFR: the error that losses.h states, where y and f are close and where they
// are not.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/isotonic/losses.h"

namespace assay::isotonic {
namespace {

// x log(x / m) - x + m, rounded.
double Exact(double x, double m) {
  mpfr_t a, b;
  mpfr_init2(a, 400);
  mpfr_init2(b, 400);
  mpfr_set_d(a, x, MPFR_RNDN);
  mpfr_div_d(a, a, m, MPFR_RNDN);
  mpfr_log(a, a, MPFR_RNDN);
  mpfr_mul_d(a, a, x, MPFR_RNDN);
  mpfr_sub_d(a, a, x, MPFR_RNDN);
  mpfr_add_d(a, a, m, MPFR_RNDN);
  const double result = mpfr_get_d(a, MPFR_RNDN);
  mpfr_clear(a);
  mpfr_clear(b);
  return result;
}

TEST(DivergenceMpfrTest, KeepsItsRelativeError) {
  Random random(21);
  double worst = 0;
  for (int trial = 0; trial < 200000; ++trial) {
    const double m = std::ldexp(1 + random.Uniform(), static_cast<int>(random.Integer(-40, 40)));
    // From equal up to rounding to a thousand times apart.
    const double log_ratio =
        random.Normal() * std::ldexp(1.0, -static_cast<int>(random.Integer(45)) + 3);
    const double x = m * std::exp(std::clamp(log_ratio, -600.0, 600.0));
    const double exact = Exact(x, m);
    if (x == m) continue;
    const std::vector<double> y = {x}, fit = {m};
    const double error = std::fabs(*PoissonDeviance(y, {}, fit) / 2 / exact - 1) * 0x1p53;
    const double reverse = std::fabs(*ReverseKlDivergence(fit, {}, y) / exact - 1) * 0x1p53;
    EXPECT_LE(error, 16) << x << " " << m;
    EXPECT_LE(reverse, 16) << x << " " << m;
    worst = std::max(worst, error);
  }
  EXPECT_GT(worst, 4);
  RecordProperty("worst_roundings", std::to_string(worst));
  for (const auto& [x, m] : {std::pair(1e-300, 1e300), std::pair(1e300, 1e-300),
                             std::pair(1e-310, 1e-308), std::pair(3e307, 1.5e308)}) {
    EXPECT_LE(std::fabs(*ReverseKlDivergence(std::vector{m}, {}, std::vector{x}) / Exact(x, m) - 1),
              16 * 0x1p-53)
        << x << " " << m;
  }
}

}  // namespace
}  // namespace assay::isotonic
