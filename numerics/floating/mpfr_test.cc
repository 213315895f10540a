// SPDX-License-Identifier: Apache-2.0
// Against MPFR with enough bits for sums, products and discriminants to be exact.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/floating/cancellation.h"
#include "numerics/floating/dot.h"
#include "numerics/floating/ill_conditioned.h"
#include "numerics/floating/moments.h"
#include "numerics/floating/mpfr_number.h"
#include "numerics/floating/norm.h"
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

// What QuadraticRoots must give, from MPFR with 5,000 bits: enough for b^2 - 4 a c to be exact at
// any exponents.
struct ExactRoots {
  int count;  // real roots
  bool complex = false;
  Number first{400};  // in ascending order, or real and imaginary part
  Number second{400};
};

void SolveExactly(double a, double b, double c, ExactRoots* roots) {
  Number d(5000), r(5000);
  mpfr_set_d(d.get(), b, MPFR_RNDN);
  mpfr_sqr(d.get(), d.get(), MPFR_RNDN);
  mpfr_set_d(r.get(), a, MPFR_RNDN);
  mpfr_mul_d(r.get(), r.get(), c, MPFR_RNDN);
  mpfr_mul_ui(r.get(), r.get(), 4, MPFR_RNDN);
  mpfr_sub(d.get(), d.get(), r.get(), MPFR_RNDN);
  const int sign = mpfr_sgn(d.get());
  roots->count = sign < 0 ? 0 : (sign == 0 ? 1 : 2);
  roots->complex = sign < 0;
  mpfr_abs(d.get(), d.get(), MPFR_RNDN);
  mpfr_sqrt(d.get(), d.get(), MPFR_RNDN);
  const auto finish = [&](mpfr_ptr out) {
    mpfr_div_d(r.get(), r.get(), a, MPFR_RNDN);
    mpfr_div_ui(r.get(), r.get(), 2, MPFR_RNDN);
    mpfr_set(out, r.get(), MPFR_RNDN);
  };
  if (sign < 0) {
    mpfr_set_d(r.get(), -b, MPFR_RNDN);
    finish(roots->first.get());
    mpfr_set(r.get(), d.get(), MPFR_RNDN);
    if (a < 0) mpfr_neg(r.get(), r.get(), MPFR_RNDN);
    finish(roots->second.get());
    return;
  }
  for (const bool plus : {a<0, a> 0}) {
    mpfr_set_d(r.get(), -b, MPFR_RNDN);
    (plus ? mpfr_add : mpfr_sub)(r.get(), r.get(), d.get(), MPFR_RNDN);
    finish(plus == (a > 0) ? roots->second.get() : roots->first.get());
  }
}

struct WorstRoots {
  double normal = 0;     // ulps, of roots that are not subnormal
  double subnormal = 0;  // ulps, of those that are
};

template <class T>
void CheckRoot(T computed, mpfr_ptr exact, WorstRoots* worst) {
  using Limits = std::numeric_limits<T>;
  if (mpfr_cmp_d(Absolute(exact).get(), static_cast<double>(Limits::max())) > 0) {
    // Within half an ulp of the largest number, rounding decides.
    EXPECT_TRUE(!std::isfinite(computed) || std::fabs(computed) == Limits::max());
    return;
  }
  ASSERT_TRUE(std::isfinite(computed) || mpfr_get_exp(exact) == Limits::max_exponent);
  if (!std::isfinite(computed)) return;
  const double error = UlpError(computed, exact);
  double& kept = mpfr_zero_p(exact) == 0 && mpfr_get_exp(exact) < Limits::min_exponent
                     ? worst->subnormal
                     : worst->normal;
  kept = std::max(kept, error);
}

template <class T>
void CheckRoots(T a, T b, T c, WorstRoots* worst) {
  ExactRoots exact;
  SolveExactly(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c), &exact);
  const Roots<T> roots = QuadraticRoots(a, b, c);
  ASSERT_EQ(roots.count, exact.count) << std::hexfloat << a << ' ' << b << ' ' << c;
  if (roots.count >= 1) CheckRoot(roots.first, exact.first.get(), worst);
  if (roots.count == 2) CheckRoot(roots.second, exact.second.get(), worst);
  const ComplexRoots<T> complex = ComplexQuadraticRoots(a, b, c);
  ASSERT_EQ(complex.count, exact.complex ? 2 : exact.count);
  if (exact.complex) {
    CheckRoot(complex.second.re, exact.first.get(), worst);
    CheckRoot(complex.second.im, exact.second.get(), worst);
    EXPECT_EQ(complex.first.re, complex.second.re);
    EXPECT_EQ(complex.first.im, -complex.second.im);
  } else if (complex.count > 0) {
    EXPECT_EQ(complex.first.re, roots.first);
    EXPECT_EQ(complex.first.im, 0);
  }
}

// range: exponents up to which coefficients go, on both sides.
template <class T>
WorstRoots WorstRootsOf(uint64_t seed, int range) {
  Random random(seed);
  WorstRoots worst;
  const auto draw = [&](int exponents) {
    const double fraction = (1 + random.Uniform()) * (random.Integer(2) == 0 ? 1 : -1);
    return std::ldexp(fraction, static_cast<int>(random.Integer(2 * exponents + 1)) - exponents);
  };
  for (int round = 0; round < 6000; ++round) {
    const T a = static_cast<T>(draw(round % 3 == 0 ? range : 20));
    T b = static_cast<T>(draw(round % 3 == 0 ? range : 20));
    T c = static_cast<T>(draw(round % 3 == 0 ? range : 20));
    if (a == 0 || !std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) continue;
    if (round % 3 == 1) {  // b^2 and 4 a c close, down to the last bit
      c = b * b / (4 * a);
      if (!std::isfinite(c)) continue;
      for (int64_t step = random.Integer(3); step > 0; --step) {
        c = std::nextafter(c, std::numeric_limits<T>::max());
      }
    }
    if (round % 6 == 2) {  // a double root, by integers, and its neighbours
      const T r = static_cast<T>(random.Integer(4000) - 2000);
      const T k = static_cast<T>(1 + random.Integer(50));
      CheckRoots(k, 2 * k * r, k * r * r, &worst);
      CheckRoots(k, std::nextafter(2 * k * r, T(1e9)), k * r * r, &worst);
      CheckRoots(k, std::nextafter(2 * k * r, T(0)), k * r * r, &worst);
    }
    CheckRoots(a, b, c, &worst);
  }
  const T max = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min();
  for (const T a : {T(1), -max, max, least, T(-3)}) {
    for (const T b : {T(0), T(1), max, -max, least, -least}) {
      for (const T c : {T(0), T(-1), T(1), max, -max, least, -least}) {
        CheckRoots(a, b, c, &worst);
      }
    }
  }
  return worst;
}

TEST(MpfrTest, QuadraticRootsAreNearlyCorrectlyRoundedOverTheWholeRange) {
  for (const int range : {30, 500, 1000, 1074}) {
    const WorstRoots worst = WorstRootsOf<double>(15 + static_cast<uint64_t>(range), range);
    EXPECT_LE(worst.normal, 0.51) << range;
    EXPECT_LE(worst.subnormal, 1.0) << range;
    RecordProperty("quadratic_ulps", std::to_string(worst.normal));
  }
  for (const int range : {30, 148}) {
    const WorstRoots worst = WorstRootsOf<float>(16 + static_cast<uint64_t>(range), range);
    EXPECT_LE(worst.normal, 0.5001) << range;
    EXPECT_LE(worst.subnormal, 0.5001) << range;
  }
}

TEST(MpfrTest, NormsStayWithinTheirBounds) {
  Random random(17);
  for (int round = 0; round < 300; ++round) {
    const int64_t n = 1 + random.Integer(round % 10 == 0 ? 3000 : 40);
    const int centre = static_cast<int>(random.Integer(2090)) - 1070;
    const int spread = 1 + static_cast<int>(random.Integer(round % 3 == 0 ? 600 : 10));
    std::vector<double> x(static_cast<size_t>(n));
    for (double& value : x) {
      const int exponent = std::min(centre - static_cast<int>(random.Integer(spread)), 1010);
      value = std::ldexp(2 * random.Uniform() - 1, exponent);
    }
    std::vector<float> f(x.begin(), x.end());
    const auto check = [&](const auto& values) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      Number one(2400), two(4400), term(4400), error(4400);
      for (const T value : values) {
        mpfr_set_d(term.get(), static_cast<double>(value), MPFR_RNDN);
        mpfr_abs(term.get(), term.get(), MPFR_RNDN);
        mpfr_add(one.get(), one.get(), term.get(), MPFR_RNDN);
        mpfr_sqr(term.get(), term.get(), MPFR_RNDN);
        mpfr_add(two.get(), two.get(), term.get(), MPFR_RNDN);
      }
      mpfr_sqrt(two.get(), two.get(), MPFR_RNDN);
      const auto within = [&](NormKind kind, T result, mpfr_ptr exact) {
        if (!std::isfinite(result)) {
          EXPECT_GE(mpfr_get_exp(exact), std::numeric_limits<T>::max_exponent);
          return;
        }
        mpfr_sub_d(error.get(), exact, static_cast<double>(result), MPFR_RNDN);
        mpfr_abs(error.get(), error.get(), MPFR_RNDN);
        EXPECT_LE(mpfr_get_d(error.get(), MPFR_RNDU),
                  NormErrorBound<T>(kind, n, static_cast<double>(result)))
            << n << ' ' << centre;
      };
      within(NormKind::kOne, Norm1(std::span<const T>(values)), one.get());
      within(NormKind::kTwo, Norm2(std::span<const T>(values)), two.get());
    };
    check(x);
    if (std::all_of(f.begin(), f.end(), [](float v) { return std::isfinite(v); })) check(f);
  }
}

TEST(MpfrTest, HypotIsNearlyCorrectlyRounded) {
  Random random(18);
  double worst = 0, worst_subnormal = 0, worst_float = 0;
  for (int round = 0; round < 30000; ++round) {
    const int centre = static_cast<int>(random.Integer(2090)) - 1070;
    double v[3];
    for (double& value : v) {
      const int exponent = centre - static_cast<int>(random.Integer(round % 2 == 0 ? 3 : 70));
      value = std::ldexp(2 * random.Uniform() - 1, exponent);
    }
    if (round % 3 == 0) v[2] = 0;
    Number sum(4400), term(4400);
    const auto root_of = [&](const auto& values) {
      mpfr_set_zero(sum.get(), 1);
      for (const auto value : values) {
        mpfr_set_d(term.get(), static_cast<double>(value), MPFR_RNDN);
        mpfr_sqr(term.get(), term.get(), MPFR_RNDN);
        mpfr_add(sum.get(), sum.get(), term.get(), MPFR_RNDN);
      }
      mpfr_sqrt(sum.get(), sum.get(), MPFR_RNDN);
    };
    root_of(v);
    const double h = round % 3 == 0 ? Hypot(v[0], v[1]) : Hypot(v[0], v[1], v[2]);
    if (std::isfinite(h)) {
      double& kept = h < std::numeric_limits<double>::min() ? worst_subnormal : worst;
      kept = std::max(kept, UlpError(h, sum.get()));
    } else {
      EXPECT_GE(mpfr_get_exp(sum.get()), 1024);
    }
    const int down = centre / 8;
    const float f[3] = {static_cast<float>(std::ldexp(v[0], down - centre)),
                        static_cast<float>(std::ldexp(v[1], down - centre)),
                        static_cast<float>(std::ldexp(v[2], down - centre))};
    root_of(f);
    const float g = Hypot(f[0], f[1], f[2]);
    if (std::isfinite(g)) worst_float = std::max(worst_float, UlpError(g, sum.get()));
  }
  EXPECT_LE(worst, 0.51);
  EXPECT_LE(worst_subnormal, 1.0);
  EXPECT_LE(worst_float, 0.5001);
  RecordProperty("hypot_ulps", std::to_string(worst));
}

// Of data with a mean up to 2^40 standard deviations away, at any scale, in one part and in many.
TEST(MpfrTest, MomentsStayWithinTheirBounds) {
  Random random(19);
  for (int round = 0; round < 200; ++round) {
    const int64_t n = 2 + random.Integer(round % 10 == 0 ? 5000 : 700);
    const double shift = std::ldexp(random.Normal(), static_cast<int>(random.Integer(41)));
    const int scale = round % 4 == 0 ? static_cast<int>(random.Integer(1900)) - 950 : 0;
    std::vector<double> x(static_cast<size_t>(n));
    for (double& value : x) value = std::ldexp(random.Normal() + shift, scale);
    Number sum(5000), squares(5000), term(5000), mean(5000);
    for (const double value : x) mpfr_add_d(sum.get(), sum.get(), value, MPFR_RNDN);
    mpfr_div_ui(mean.get(), sum.get(), static_cast<unsigned long>(n), MPFR_RNDN);
    double root_mean_square = 0;
    for (const double value : x) {
      mpfr_d_sub(term.get(), value, mean.get(), MPFR_RNDN);
      mpfr_sqr(term.get(), term.get(), MPFR_RNDN);
      mpfr_add(squares.get(), squares.get(), term.get(), MPFR_RNDN);
      root_mean_square += std::ldexp(value, -scale) * std::ldexp(value, -scale);
    }
    mpfr_div_ui(squares.get(), squares.get(), static_cast<unsigned long>(n - 1), MPFR_RNDN);
    mpfr_sqrt(squares.get(), squares.get(), MPFR_RNDN);
    const double exact = mpfr_get_d(squares.get(), MPFR_RNDN);
    root_mean_square = std::sqrt(root_mean_square / static_cast<double>(n));
    const double k = root_mean_square / std::ldexp(exact, -scale);
    const double u = 0x1p-53;
    Moments whole{std::span<const double>(x)};
    Moments parts;
    int count = 0;
    for (size_t i = 0; i < x.size(); ++count) {
      const size_t length = std::min(x.size() - i, static_cast<size_t>(1 + random.Integer(300)));
      parts.Merge(Moments(std::span<const double>(x).subspan(i, length)));
      i += length;
    }
    const double relative = (40 + 2 * std::log2(count + 1.0)) * u + 4 * u * u * k;
    for (const Moments& m : {whole, parts}) {
      EXPECT_EQ(m.count(), n);
      EXPECT_NEAR(m.StandardDeviation() / exact, 1, relative) << n << ' ' << k << ' ' << scale;
      mpfr_d_sub(term.get(), m.Mean(), mean.get(), MPFR_RNDN);
      mpfr_abs(term.get(), term.get(), MPFR_RNDN);
      EXPECT_LE(mpfr_get_d(term.get(), MPFR_RNDN),
                2 * u * std::fabs(mpfr_get_d(mean.get(), MPFR_RNDN)) + 25 * u * exact)
          << n << ' ' << k;
      if (scale > -500 && scale < 480) {
        EXPECT_NEAR(m.Variance() / (exact * exact), 1, 2 * relative);
        EXPECT_NEAR(m.PopulationVariance() * static_cast<double>(n) /
                        (exact * exact * static_cast<double>(n - 1)),
                    1, 2 * relative);
      }
    }
  }
}

}  // namespace
}  // namespace assay::floating
