// SPDX-License-Identifier: Apache-2.0
//
// Errors of the elementary functions against MPFR, in units in the last place of the exact result:
// the bounds here are those that the README states. Every case draws its inputs from Philox, so a
// failure can be run again.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"

namespace assay {
namespace {

// Inputs of a case; ASSAY_ELEMENTARY_SAMPLES asks for a longer run.
int64_t Samples() {
  const char* const wanted = std::getenv("ASSAY_ELEMENTARY_SAMPLES");
  return wanted != nullptr ? std::atoll(wanted) : 5000;
}

class Real {
 public:
  Real() { mpfr_init2(value_, 200); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// One ulp of the format T at x.
template <class T>
double UlpAt(double x) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr int kLowest = std::numeric_limits<T>::min_exponent - 1;
  const int exponent = x == 0.0 ? kLowest : std::max(kLowest, std::ilogb(x));
  return std::ldexp(1.0, exponent - (kDigits - 1));
}

// |actual - exact| in ulp of T; infinity for a wrong special value.
template <class T>
double Error(T actual, Real& exact) {
  const bool is_float = sizeof(T) == 4;
  const double rounded =
      is_float ? double{mpfr_get_flt(exact.get(), MPFR_RNDN)} : mpfr_get_d(exact.get(), MPFR_RNDN);
  if (std::isnan(rounded) || std::isinf(rounded) || std::isinf(actual) || std::isnan(actual)) {
    const bool same =
        rounded == static_cast<double>(actual) || (std::isnan(rounded) && std::isnan(actual));
    return same ? 0.0 : std::numeric_limits<double>::infinity();
  }
  const double ulp = UlpAt<T>(mpfr_get_d(exact.get(), MPFR_RNDZ));
  Real difference;
  mpfr_sub_d(difference.get(), exact.get(), static_cast<double>(actual), MPFR_RNDN);
  mpfr_div_d(difference.get(), difference.get(), ulp, MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference.get(), MPFR_RNDN));
}

template <class T>
using Draw = std::function<T(Random&)>;

double Between(Random& random, double low, double high) { return random.Uniform(low, high); }

// Either sign, the exponent uniform in [low, high).
double Spread(Random& random, double low, double high) {
  const double significand = 1.0 + random.Uniform();
  const int exponent = static_cast<int>(std::floor(Between(random, low, high)));
  const double sign = random.Bernoulli(0.5) ? 1.0 : -1.0;
  return std::ldexp(sign * significand, exponent);
}

template <class T>
T AnyNumber(Random& random) {
  for (;;) {
    T x;
    if constexpr (sizeof(T) == 4) {
      x = FloatFromBits(random.Next32());
    } else {
      x = DoubleFromBits(random.Next64());
    }
    if (std::isfinite(x)) return x;
  }
}

using Oracle = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

template <class T>
void ExpectError(const std::string& name, T (*function)(T), Oracle oracle, double bound,
                 const Draw<T>& draw) {
  Random random(1);
  Real argument;
  Real exact;
  double worst = 0.0;
  T where = 0;
  const int64_t samples = Samples();
  for (int64_t i = 0; i < samples; ++i) {
    const T x = draw(random);
    mpfr_set_d(argument.get(), static_cast<double>(x), MPFR_RNDN);
    oracle(exact.get(), argument.get(), MPFR_RNDN);
    const double error = Error(function(x), exact);
    if (error > worst) {
      worst = error;
      where = x;
    }
  }
  EXPECT_LE(worst, bound) << name << " at " << std::hexfloat << where;
  EXPECT_GT(worst, 0.0) << name << ": nothing was measured";
  testing::Test::RecordProperty(name, std::to_string(worst));
}

template <class T>
T SinPi(T x) {
  T sine, cosine;
  SinCosPi(x, &sine, &cosine);
  return sine;
}
template <class T>
T CosPi(T x) {
  T sine, cosine;
  SinCosPi(x, &sine, &cosine);
  return cosine;
}

Draw<double> Range(double low, double high) {
  return [=](Random& random) { return Between(random, low, high); };
}
Draw<double> Scales(double low, double high) {
  return [=](Random& random) { return Spread(random, low, high); };
}
Draw<double> Positive(const Draw<double>& draw) {
  return [=](Random& random) { return std::fabs(draw(random)); };
}

constexpr double kBound = 0.65;           // results that are normal numbers
constexpr double kSubnormalBound = 0.85;  // others: they are rounded twice

TEST(ElementaryMpfrTest, BoundsExp) {
  ExpectError<double>("near0", Exp, mpfr_exp, kBound, Range(-1, 1));
  ExpectError<double>("range", Exp, mpfr_exp, kBound, Range(-708, 709.8));
  ExpectError<double>("subnormal", Exp, mpfr_exp, kSubnormalBound, Range(-746, -708));
  ExpectError<double>("scales", Exp, mpfr_exp, kBound, Scales(-60, 9));
  ExpectError<double>("any", Exp, mpfr_exp, kSubnormalBound, AnyNumber<double>);
}

TEST(ElementaryMpfrTest, BoundsExpm1) {
  ExpectError<double>("near0", Expm1, mpfr_expm1, kBound, Range(-1, 1));
  ExpectError<double>("range", Expm1, mpfr_expm1, kBound, Range(-45, 60));
  ExpectError<double>("scales", Expm1, mpfr_expm1, kBound, Scales(-1074, 9));
  ExpectError<double>("any", Expm1, mpfr_expm1, kBound, AnyNumber<double>);
}

TEST(ElementaryMpfrTest, BoundsLog) {
  ExpectError<double>("near1", Log, mpfr_log, kBound, Range(0.5, 2));
  ExpectError<double>("beside1", Log, mpfr_log, kBound,
                      [](Random& random) { return 1.0 + Spread(random, -53, -3); });
  ExpectError<double>("any", Log, mpfr_log, kBound, Positive(AnyNumber<double>));
  ExpectError<double>("subnormal", Log, mpfr_log, kBound, Positive(Scales(-1074, -1022)));
}

TEST(ElementaryMpfrTest, BoundsLog1p) {
  ExpectError<double>("near0", Log1p, mpfr_log1p, kBound, Range(-1, 1));
  ExpectError<double>("seam", Log1p, mpfr_log1p, kBound, Range(0.3, 6));
  ExpectError<double>("positive", Log1p, mpfr_log1p, kBound, Positive(Scales(-1074, 1023)));
  ExpectError<double>("negative", Log1p, mpfr_log1p, kBound,
                      [](Random& random) { return -std::fabs(Spread(random, -1074, -1)); });
  ExpectError<double>("beside-1", Log1p, mpfr_log1p, kBound,
                      [](Random& random) { return -1 + std::fabs(Spread(random, -53, -2)); });
}

double NearMultipleOfHalfPi(Random& random) {
  const double multiple = std::floor(Between(random, 1, 1.2e6)) * 1.5707963267948966;
  return DoubleFromBits(FloatBits(multiple) + static_cast<uint64_t>(random.Integer(-2, 3)));
}

TEST(ElementaryMpfrTest, BoundsSinAndCos) {
  const struct {
    const char* name;
    double (*function)(double);
    Oracle oracle;
  } cases[] = {{"sin", Sin, mpfr_sin}, {"cos", Cos, mpfr_cos}};
  for (const auto& c : cases) {
    const std::string name = c.name;
    ExpectError<double>(name + "_octant", c.function, c.oracle, kBound, Range(-0.8, 0.8));
    ExpectError<double>(name + "_turns", c.function, c.oracle, kBound, Range(-20, 20));
    ExpectError<double>(name + "_medium", c.function, c.oracle, kBound, Range(-1.6e6, 1.6e6));
    ExpectError<double>(name + "_limit", c.function, c.oracle, kBound, Range(0x1.7fp20, 0x1.81p20));
    ExpectError<double>(name + "_scales", c.function, c.oracle, kBound, Scales(-1074, 70));
    ExpectError<double>(name + "_any", c.function, c.oracle, kBound, AnyNumber<double>);
    ExpectError<double>(name + "_cancelling", c.function, c.oracle, kBound, NearMultipleOfHalfPi);
  }
}

// Doubles whose distance from a multiple of pi/2 is as small as it gets (Muller et al., Handbook of
// floating-point arithmetic, 10.2; the others by continued fractions of 2^k 2/pi).
TEST(ElementaryMpfrTest, ReducesTheHardestArguments) {
  std::vector<double> hard = {6381956970095103.0 * 0x1p797, 0x1.6ac5b262ca1ffp849,
                              0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 0x1.921fb54442d18p2};
  // For each exponent the best of the candidates m = nearest integer to k pi/2 2^-e for
  // denominators k of the convergents.
  Real ratio;
  Real whole;
  Real rest;
  for (int e = 0; e <= 970; ++e) {
    Real wide;
    mpfr_set_prec(wide.get(), 1400);
    mpfr_set_prec(rest.get(), 1400);
    mpfr_const_pi(wide.get(), MPFR_RNDN);
    mpfr_div_2si(wide.get(), wide.get(), 1 + e, MPFR_RNDN);  // pi/2 2^-e: m = k times this
    // Convergents p / q of the number: p is the significand, as long as it has at most 53 bits.
    double p_before = 0;
    double p = 1;
    mpfr_set(rest.get(), wide.get(), MPFR_RNDN);
    bool first = true;
    for (int step = 0; step < 400 && p < 0x1p53; ++step) {
      mpfr_set_prec(whole.get(), 1400);
      mpfr_floor(whole.get(), rest.get());
      const double a = mpfr_get_d(whole.get(), MPFR_RNDN);
      if (first) {
        p = a;
        p_before = 1;
        first = false;
      } else {
        const double next = a * p + p_before;
        p_before = p;
        p = next;
      }
      if (p >= 1 && p < 0x1p53) hard.push_back(std::ldexp(p, e));
      mpfr_sub(rest.get(), rest.get(), whole.get(), MPFR_RNDN);
      if (mpfr_zero_p(rest.get())) break;
      mpfr_ui_div(rest.get(), 1, rest.get(), MPFR_RNDN);
    }
  }
  ASSERT_GT(hard.size(), 10000u);
  Real argument;
  Real exact;
  for (const double x : hard) {
    mpfr_set_d(argument.get(), x, MPFR_RNDN);
    mpfr_sin(exact.get(), argument.get(), MPFR_RNDN);
    EXPECT_LE(Error(Sin(x), exact), kBound) << std::hexfloat << x;
    mpfr_cos(exact.get(), argument.get(), MPFR_RNDN);
    EXPECT_LE(Error(Cos(x), exact), kBound) << std::hexfloat << x;
  }
}

TEST(ElementaryMpfrTest, BoundsSinCosPi) {
  ExpectError<double>("sinpi_turn", SinPi<double>, mpfr_sinpi, kBound, Range(-2, 2));
  ExpectError<double>("cospi_turn", CosPi<double>, mpfr_cospi, kBound, Range(-2, 2));
  ExpectError<double>("sinpi_scales", SinPi<double>, mpfr_sinpi, kBound, Scales(-1020, 54));
  ExpectError<double>("sinpi_tiny", SinPi<double>, mpfr_sinpi, kSubnormalBound,
                      Scales(-1074, -1020));
  ExpectError<double>("cospi_scales", CosPi<double>, mpfr_cospi, kBound, Scales(-1074, 54));
}

TEST(ElementaryMpfrTest, BoundsTanh) {
  ExpectError<double>("near0", Tanh, mpfr_tanh, kBound, Range(-1, 1));
  ExpectError<double>("range", Tanh, mpfr_tanh, kBound, Range(-23, 23));
  ExpectError<double>("scales", Tanh, mpfr_tanh, kBound, Scales(-1074, 6));
}

TEST(ElementaryMpfrTest, BoundsErf) {
  ExpectError<double>("near0", Erf, mpfr_erf, kBound, Range(-1, 1));
  ExpectError<double>("range", Erf, mpfr_erf, kBound, Range(-6.2, 6.2));
  ExpectError<double>("scales", Erf, mpfr_erf, kBound, Scales(-1018, 4));
  ExpectError<double>("tiny", Erf, mpfr_erf, kSubnormalBound, Scales(-1074, -1018));
}

struct Powers {
  double x;
  double y;
};

template <class T>
void ExpectPowError(const std::string& name, double bound,
                    const std::function<Powers(Random&)>& draw) {
  Random random(2);
  Real base;
  Real exponent;
  Real exact;
  double worst = 0.0;
  Powers where = {};
  const int64_t samples = Samples();
  for (int64_t i = 0; i < samples; ++i) {
    const Powers drawn = draw(random);
    const T x = static_cast<T>(drawn.x);
    const T y = static_cast<T>(drawn.y);
    mpfr_set_d(base.get(), static_cast<double>(x), MPFR_RNDN);
    mpfr_set_d(exponent.get(), static_cast<double>(y), MPFR_RNDN);
    mpfr_pow(exact.get(), base.get(), exponent.get(), MPFR_RNDN);
    const double error = Error(Pow(x, y), exact);
    if (error > worst) {
      worst = error;
      where = {static_cast<double>(x), static_cast<double>(y)};
    }
  }
  EXPECT_LE(worst, bound) << name << " at " << std::hexfloat << where.x << ", " << where.y;
  EXPECT_GT(worst, 0.0) << name << ": nothing was measured";
  testing::Test::RecordProperty(name, std::to_string(worst));
}

TEST(ElementaryMpfrTest, BoundsPow) {
  ExpectPowError<double>("small", kBound, [](Random& random) {
    const double x = Between(random, 0, 10);
    const double y = Between(random, -10, 10);
    return Powers{x, y};
  });
  ExpectPowError<double>("near 1", kBound, [](Random& random) {
    const double x = 1.0 + Spread(random, -50, -2);
    const double y = Between(random, -700, 700) / std::log(x);
    return Powers{x, y};
  });
  ExpectPowError<double>("any base", kSubnormalBound, [](Random& random) {
    const double x = std::fabs(AnyNumber<double>(random));
    const double y = Between(random, -745, 710) / std::log(x);
    return Powers{x, y};
  });
  ExpectPowError<double>("large", kBound, [](Random& random) {
    const double x = Between(random, 0, 3);
    const double y = Between(random, 600, 709.8) / std::log(x);
    return Powers{x, y};
  });
  ExpectPowError<double>("subnormal", kSubnormalBound, [](Random& random) {
    const double x = Between(random, 0, 3);
    const double y = Between(random, -746, -708) / std::log(x);
    return Powers{x, y};
  });
  ExpectPowError<double>("integers", kBound, [](Random& random) {
    const double x = Between(random, -5, 5);
    const double y = std::floor(Between(random, -30, 30));
    return Powers{x, y};
  });
  ExpectPowError<double>("any", kSubnormalBound, [](Random& random) {
    const double x = AnyNumber<double>(random);
    const double y = AnyNumber<double>(random);
    return Powers{x, y};
  });
}

constexpr double kFloatBound = 0.50003;  // elementary_exhaustive measures it over all inputs

TEST(ElementaryMpfrTest, BoundsFloats) {
  const struct {
    const char* name;
    float (*function)(float);
    Oracle oracle;
    bool varies_far_out;
  } cases[] = {{"exp", Exp, mpfr_exp, false},
               {"expm1", Expm1, mpfr_expm1, false},
               {"log", Log, mpfr_log, true},
               {"log1p", Log1p, mpfr_log1p, true},
               {"sin", Sin, mpfr_sin, true},
               {"cos", Cos, mpfr_cos, true},
               {"sinpi", SinPi<float>, mpfr_sinpi, true},
               {"cospi", CosPi<float>, mpfr_cospi, true},
               {"tanh", Tanh, mpfr_tanh, false},
               {"erf", Erf, mpfr_erf, false}};
  for (const auto& c : cases) {
    const std::string name = c.name;
    ExpectError<float>(name + "_any", c.function, c.oracle, kFloatBound, AnyNumber<float>);
    ExpectError<float>(name + "_unit", c.function, c.oracle, kFloatBound,
                       [](Random& random) { return static_cast<float>(Between(random, -1, 1)); });
    ExpectError<float>(name + "_range", c.function, c.oracle, kFloatBound, [](Random& random) {
      return static_cast<float>(Between(random, -110, 90));
    });
    if (!c.varies_far_out) continue;
    ExpectError<float>(name + "_large", c.function, c.oracle, kFloatBound,
                       [](Random& random) { return static_cast<float>(Spread(random, 10, 40)); });
  }
}

// Where the exhaustive run found the largest errors, and what is hard by nature.
TEST(ElementaryMpfrTest, BoundsFloatsWhereTheyAreHard) {
  const struct {
    float (*function)(float);
    Oracle oracle;
    float x;
  } cases[] = {
      {Exp, mpfr_exp, -0x1.48dcdap-2f}, {Expm1, mpfr_expm1, 0x1.77c7dp-2f},
      {Log, mpfr_log, 0x1.455342p+0f},  {Log1p, mpfr_log1p, 0x1.154d08p-2f},
      {Sin, mpfr_sin, 0x1.67155cp+31f}, {Cos, mpfr_cos, 0x1.c82474p+59f},
      {Sin, mpfr_sin, 0x1.f9cbe2p+7f},  {Sin, mpfr_sin, 0x1.33333p+13f},
      {Cos, mpfr_cos, 0x1.4baa28p+71f}, {Sin, mpfr_sin, 0x1.921fb6p+1f},
      {Cos, mpfr_cos, 0x1.921fb6p+0f},  {Sin, mpfr_sin, 0x1.7ffffep+20f},
      {Sin, mpfr_sin, 0x1.8p+20f},
  };
  Real argument;
  Real exact;
  for (const auto& c : cases) {
    mpfr_set_d(argument.get(), static_cast<double>(c.x), MPFR_RNDN);
    c.oracle(exact.get(), argument.get(), MPFR_RNDN);
    EXPECT_LE(Error(c.function(c.x), exact), kFloatBound) << std::hexfloat << c.x;
  }
}

TEST(ElementaryMpfrTest, BoundsPowOfFloats) {
  ExpectPowError<float>("small", kFloatBound, [](Random& random) {
    const double x = Between(random, 0, 10);
    const double y = Between(random, -10, 10);
    return Powers{x, y};
  });
  ExpectPowError<float>("near 1", kFloatBound, [](Random& random) {
    const double x = 1.0 + Spread(random, -20, -2);
    const double y =
        Between(random, -100, 88) / std::log(static_cast<double>(static_cast<float>(x)));
    return Powers{x, y};
  });
  ExpectPowError<float>("any base", kFloatBound, [](Random& random) {
    const double x = std::fabs(static_cast<double>(AnyNumber<float>(random)));
    const double y = Between(random, -104, 89) / std::log(x);
    return Powers{x, y};
  });
  ExpectPowError<float>("any", kFloatBound, [](Random& random) {
    const double x = static_cast<double>(AnyNumber<float>(random));
    const double y = static_cast<double>(AnyNumber<float>(random));
    return Powers{x, y};
  });
}

}  // namespace
}  // namespace assay
