// SPDX-License-Identifier: Apache-2.0
// Sums and dot products against MPFR with enough bits to be exact, roots with 400.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/floating/cancellation.h"
#include "numerics/floating/dot.h"
#include "numerics/floating/ill_conditioned.h"
#include "numerics/floating/mpfr_number.h"
#include "numerics/floating/sum.h"

namespace assay::floating {
namespace {

TEST(MpfrTest, ExactSumsAreCorrectlyRounded) {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const int64_t n = 6 + random.Integer(200);
    const int exponents = static_cast<int>(random.Integer(900)) + 1;
    std::vector<double> x(static_cast<size_t>(n));
    for (double& value : x) {
      const double fraction = 2 * random.Uniform() - 1;
      value = std::ldexp(fraction, static_cast<int>(random.Integer(2 * exponents)) - exponents);
    }
    if (round % 3 == 0) x = IllConditionedSum<double>(n, std::ldexp(1.0, exponents), random);
    Number sum(2300);
    for (const double value : x) mpfr_add_d(sum.get(), sum.get(), value, MPFR_RNDN);
    EXPECT_EQ(Sum(x, SumMethod::kExact), mpfr_get_d(sum.get(), MPFR_RNDN)) << round;
    std::vector<float> f(x.begin(), x.end());
    Number single(2300);
    bool finite = true;
    for (const float value : f) {
      finite = finite && std::isfinite(value);
      mpfr_add_d(single.get(), single.get(), static_cast<double>(value), MPFR_RNDN);
    }
    if (finite) {
      EXPECT_EQ(Sum(f, SumMethod::kExact), mpfr_get_flt(single.get(), MPFR_RNDN)) << round;
    }
  }
}

TEST(MpfrTest, ExactDotsOfHardVectorsAreCorrectlyRounded) {
  Random random(12);
  for (const double condition : {1e5, 1e16, 1e30, 1e60}) {
    for (int round = 0; round < 20; ++round) {
      const HardDot dot = IllConditionedDot(100, condition, random);
      Number sum(3000);
      Number product(120);
      for (size_t i = 0; i < dot.x.size(); ++i) {
        mpfr_set_d(product.get(), dot.x[i], MPFR_RNDN);
        mpfr_mul_d(product.get(), product.get(), dot.y[i], MPFR_RNDN);
        mpfr_add(sum.get(), sum.get(), product.get(), MPFR_RNDN);
      }
      const double expected = mpfr_get_d(sum.get(), MPFR_RNDN);
      EXPECT_EQ(ExactDot(dot.x, dot.y), expected);
      // As if in twice the precision: good to the last place until the condition nears u^-2.
      if (condition <= 1e16) {
        EXPECT_NEAR(Dot2(dot.x, dot.y) / expected, 1, 1e-11);
      }
    }
  }
}

TEST(MpfrTest, QuadraticRootsStayWithinFourUlps) {
  Random random(15);
  double worst = 0;
  for (int round = 0; round < 5000; ++round) {
    const double a = random.Normal() * std::ldexp(1.0, static_cast<int>(random.Integer(40)) - 20);
    const double b = random.Normal() * std::ldexp(1.0, static_cast<int>(random.Integer(40)) - 20);
    double c = random.Normal() * std::ldexp(1.0, static_cast<int>(random.Integer(40)) - 20);
    if (round % 2 == 0)
      c = b * b / (4 * a) * (1 - std::ldexp(1.0, -static_cast<int>(random.Integer(50))));
    const Roots<double> roots = QuadraticRoots(a, b, c);
    if (roots.count != 2) continue;
    Number d(400);
    Number r(400);
    mpfr_set_d(d.get(), b, MPFR_RNDN);
    mpfr_sqr(d.get(), d.get(), MPFR_RNDN);
    mpfr_set_d(r.get(), a, MPFR_RNDN);
    mpfr_mul_d(r.get(), r.get(), c, MPFR_RNDN);
    mpfr_mul_ui(r.get(), r.get(), 4, MPFR_RNDN);
    mpfr_sub(d.get(), d.get(), r.get(), MPFR_RNDN);
    if (mpfr_sgn(d.get()) <= 0) continue;
    mpfr_sqrt(d.get(), d.get(), MPFR_RNDN);
    for (int side = 0; side < 2; ++side) {
      mpfr_set_d(r.get(), -b, MPFR_RNDN);
      const bool plus = (side == 1) == (a > 0);
      if (plus) {
        mpfr_add(r.get(), r.get(), d.get(), MPFR_RNDN);
      } else {
        mpfr_sub(r.get(), r.get(), d.get(), MPFR_RNDN);
      }
      mpfr_div_d(r.get(), r.get(), a, MPFR_RNDN);
      mpfr_div_ui(r.get(), r.get(), 2, MPFR_RNDN);
      worst = std::max(worst, UlpError(side == 0 ? roots.first : roots.second, r.get()));
    }
  }
  EXPECT_LE(worst, 4.0);
  RecordProperty("quadratic_ulps", std::to_string(worst));
}

}  // namespace
}  // namespace assay::floating
