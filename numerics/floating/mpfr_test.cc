// SPDX-License-Identifier: Apache-2.0
// Against MPFR with 2,300 bits for sums (exact) and 300 bits for exponentials.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/floating/cancellation.h"
#include "numerics/floating/ill_conditioned.h"
#include "numerics/floating/softmax.h"
#include "numerics/floating/sum.h"

namespace assay::floating {
namespace {

class Number {
 public:
  explicit Number(int bits = 300) {
    mpfr_init2(value_, bits);
    mpfr_set_zero(value_, 1);
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

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

struct Worst {
  double log_sum_exp =
      0;  // in ulps of max(|lse|, lse - m): cancellation between the two is input's
  double softmax = 0;
  double log_softmax = 0;
  double gradient = 0;
};

template <class T>
void CheckRow(const std::vector<T>& x, Worst* worst) {
  const size_t n = x.size();
  const T max = *std::max_element(x.begin(), x.end());
  const size_t at = static_cast<size_t>(std::max_element(x.begin(), x.end()) - x.begin());
  std::vector<T> p(n);
  std::vector<T> lp(n);
  std::vector<T> g(n);
  Softmax(std::span<const T>(x), std::span<T>(p));
  LogSoftmax(std::span<const T>(x), std::span<T>(lp));
  ASSERT_TRUE(
      CrossEntropyGradient(std::span<const T>(x), static_cast<int64_t>(at), std::span<T>(g)).ok());
  Number rest;
  Number total;
  Number term;
  for (size_t i = 0; i < n; ++i) {
    mpfr_set_d(term.get(), static_cast<double>(x[i]), MPFR_RNDN);
    mpfr_sub_d(term.get(), term.get(), static_cast<double>(max), MPFR_RNDN);
    mpfr_exp(term.get(), term.get(), MPFR_RNDN);
    if (i != at) mpfr_add(rest.get(), rest.get(), term.get(), MPFR_RNDN);
    mpfr_add(total.get(), total.get(), term.get(), MPFR_RNDN);
  }
  Number log_total;
  mpfr_log1p(log_total.get(), rest.get(), MPFR_RNDN);
  Number exact;
  mpfr_add_d(exact.get(), log_total.get(), static_cast<double>(max), MPFR_RNDN);
  // The bound of softmax.h for f64, rounding of m + l aside: 6 u (lse - m) + u |lse|.
  {
    Number difference;
    mpfr_sub_d(difference.get(), exact.get(), static_cast<double>(LogSumExp(std::span<const T>(x))),
               MPFR_RNDN);
    const double error = std::fabs(mpfr_get_d(difference.get(), MPFR_RNDN));
    const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    const double lse = std::fabs(mpfr_get_d(exact.get(), MPFR_RNDN));
    const double l = mpfr_get_d(log_total.get(), MPFR_RNDN);
    const double bound = sizeof(T) == 8
                             ? u * lse + 6 * u * l
                             : u * lse + 0x1p-50 * (std::fabs(static_cast<double>(max)) + l);
    EXPECT_LE(error,
              bound * (1 + 1e-10) + static_cast<double>(std::numeric_limits<T>::denorm_min()));
    if (std::max(lse, l) > 1e-30) {
      worst->log_sum_exp = std::max(worst->log_sum_exp, error / (2 * u * std::max(lse, l)));
    }
  }
  for (size_t i = 0; i < n; ++i) {
    mpfr_set_d(exact.get(), static_cast<double>(x[i]), MPFR_RNDN);
    mpfr_sub_d(exact.get(), exact.get(), static_cast<double>(max), MPFR_RNDN);
    mpfr_exp(exact.get(), exact.get(), MPFR_RNDN);
    mpfr_div(exact.get(), exact.get(), total.get(), MPFR_RNDN);
    worst->softmax = std::max(worst->softmax, UlpError(p[i], exact.get()));
    if (i != at) worst->gradient = std::max(worst->gradient, UlpError(g[i], exact.get()));
    mpfr_set_d(exact.get(), static_cast<double>(x[i]), MPFR_RNDN);
    mpfr_sub_d(exact.get(), exact.get(), static_cast<double>(max), MPFR_RNDN);
    mpfr_sub(exact.get(), exact.get(), log_total.get(), MPFR_RNDN);
    worst->log_softmax = std::max(worst->log_softmax, UlpError(lp[i], exact.get()));
  }
  mpfr_div(exact.get(), rest.get(), total.get(), MPFR_RNDN);
  mpfr_neg(exact.get(), exact.get(), MPFR_RNDN);
  worst->gradient = std::max(worst->gradient, UlpError(g[at], exact.get()));
}

template <class T>
Worst WorstErrors(uint64_t seed) {
  Random random(seed);
  Worst worst;
  for (int round = 0; round < 400; ++round) {
    const int64_t n = 1 + random.Integer(round % 10 == 0 ? 500 : 20);
    const double scale = std::ldexp(1.0, static_cast<int>(random.Integer(12)) - 3);
    const double shift = round % 4 == 0 ? random.Normal() * 1e5 : 0;
    std::vector<T> x(static_cast<size_t>(n));
    for (T& value : x) value = static_cast<T>(random.Normal() * scale + shift);
    CheckRow(x, &worst);
  }
  for (const double edge : {-40.0, -87.5, -103.9, -700.0, -745.0, 0.0, 1e-300, -1e-10}) {
    CheckRow(std::vector<T>{T(0), static_cast<T>(edge)}, &worst);
    CheckRow(std::vector<T>{T(3.5), static_cast<T>(3.5 + edge), T(-2)}, &worst);
  }
  return worst;
}

TEST(MpfrTest, SoftmaxF64StaysWithinItsBound) {
  const Worst worst = WorstErrors<double>(13);
  EXPECT_LE(worst.log_sum_exp, 1.5);
  EXPECT_LE(worst.softmax, 2.5);
  EXPECT_LE(worst.log_softmax, 2.0);
  EXPECT_LE(worst.gradient, 2.5);
  RecordProperty("softmax_ulps", std::to_string(worst.softmax));
  RecordProperty("log_softmax_ulps", std::to_string(worst.log_softmax));
  RecordProperty("gradient_ulps", std::to_string(worst.gradient));
}

TEST(MpfrTest, SoftmaxF32StaysWithinItsBound) {
  const Worst worst = WorstErrors<float>(14);
  EXPECT_LE(worst.log_sum_exp, 0.51);
  EXPECT_LE(worst.softmax, 1.51);
  EXPECT_LE(worst.log_softmax, 0.51);
  EXPECT_LE(worst.gradient, 0.51);
  RecordProperty("softmax_ulps", std::to_string(worst.softmax));
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
