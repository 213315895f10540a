// SPDX-License-Identifier: Apache-2.0
//
// The activations against MPFR, and their bits on every instruction set.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "numerics/core/random.h"
#include "numerics/gemm/internal/gelu.h"

namespace assay::gemm::internal {
namespace {

class Real {
 public:
  Real() { mpfr_init2(value_, 300); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// y = x Phi(x).
void TrueGelu(double x, Real& y) {
  Real half;
  mpfr_set_d(y.get(), x, MPFR_RNDN);
  mpfr_set_ui(half.get(), 2, MPFR_RNDN);
  mpfr_rec_sqrt(half.get(), half.get(), MPFR_RNDN);
  mpfr_mul(half.get(), half.get(), y.get(), MPFR_RNDN);
  mpfr_neg(half.get(), half.get(), MPFR_RNDN);
  mpfr_erfc(half.get(), half.get(), MPFR_RNDN);
  mpfr_mul(y.get(), y.get(), half.get(), MPFR_RNDN);
  mpfr_div_ui(y.get(), y.get(), 2, MPFR_RNDN);
}

// y = x / (1 + exp(-2 u)), and u's magnitude.
double TrueGeluTanh(double x, Real& y) {
  Real u;
  Real cube;
  mpfr_set_d(y.get(), x, MPFR_RNDN);
  mpfr_pow_ui(cube.get(), y.get(), 3, MPFR_RNDN);
  mpfr_set_str(u.get(), "0.044715", 10, MPFR_RNDN);
  mpfr_mul(cube.get(), cube.get(), u.get(), MPFR_RNDN);
  mpfr_add(cube.get(), cube.get(), y.get(), MPFR_RNDN);
  mpfr_const_pi(u.get(), MPFR_RNDN);
  mpfr_ui_div(u.get(), 2, u.get(), MPFR_RNDN);
  mpfr_sqrt(u.get(), u.get(), MPFR_RNDN);
  mpfr_mul(u.get(), u.get(), cube.get(), MPFR_RNDN);
  const double magnitude = std::fabs(mpfr_get_d(u.get(), MPFR_RNDN));
  mpfr_mul_si(u.get(), u.get(), -2, MPFR_RNDN);
  mpfr_exp(u.get(), u.get(), MPFR_RNDN);
  mpfr_add_ui(u.get(), u.get(), 1, MPFR_RNDN);
  mpfr_div(y.get(), y.get(), u.get(), MPFR_RNDN);
  return magnitude;
}

// |got - y| in ulps of T at y; ulps of subnormal numbers are those of the least normal one.
template <class T>
double Ulps(T got, Real& y) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  const mpfr_exp_t exponent =
      mpfr_zero_p(y.get())
          ? std::numeric_limits<T>::min_exponent
          : std::max<mpfr_exp_t>(mpfr_get_exp(y.get()), std::numeric_limits<T>::min_exponent);
  mpfr_sub_d(y.get(), y.get(), static_cast<double>(got), MPFR_RNDN);
  mpfr_mul_2si(y.get(), y.get(), kDigits - exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(y.get(), MPFR_RNDN));
}

template <class T>
std::vector<T> Arguments() {
  std::vector<T> x;
  for (int i = -4100; i <= 4100; ++i) x.push_back(static_cast<T>(i) / 100);
  Random random(1);
  for (int i = 0; i < 20000; ++i) x.push_back(static_cast<T>(random.Uniform(-14, 8)));
  for (int i = 0; i < 5000; ++i) x.push_back(static_cast<T>(random.Uniform(-39, 39)));
  for (int e = -60; e < 5; ++e) {
    for (const double sign : {-1.0, 1.0}) {
      x.push_back(static_cast<T>(sign * random.Uniform(1, 2) * std::ldexp(1.0, e)));
    }
  }
  return x;
}

template <class T>
void ExpectGeluWithin(double ulps) {
  const std::vector<T> x = Arguments<T>();
  std::vector<T> y = x;
  Gelu(std::span<T>(y));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    Real exact;
    TrueGelu(static_cast<double>(x[i]), exact);
    const double error = Ulps(y[i], exact);
    worst = std::max(worst, error);
    const bool subnormal = std::fabs(y[i]) < std::numeric_limits<T>::min();
    ASSERT_LE(error, subnormal ? 8 : ulps) << "Gelu(" << x[i] << ") = " << y[i];
  }
  testing::Test::RecordProperty("worst", std::to_string(worst));
  std::printf("Gelu: at most %.3f ulp\n", worst);
}

TEST(GeluTest, IsWithinItsBound) {
  ExpectGeluWithin<float>(0.51);
  ExpectGeluWithin<double>(5);
}

TEST(GeluTest, OfTheTanhFormIsWithinItsBound) {
  const std::vector<float> x = Arguments<float>();
  std::vector<float> y = x;
  GeluTanh(std::span<float>(y));
  const std::vector<double> wide = Arguments<double>();
  std::vector<double> wide_y = wide;
  GeluTanh(std::span<double>(wide_y));
  for (size_t i = 0; i < x.size(); ++i) {
    Real exact;
    TrueGeluTanh(static_cast<double>(x[i]), exact);
    ASSERT_LE(Ulps(y[i], exact), 0.51) << x[i];
    const double u = TrueGeluTanh(wide[i], exact);
    ASSERT_LE(Ulps(wide_y[i], exact), 14 * u + 8) << wide[i];
  }
}

template <class T>
void ExpectSpecialValues() {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  constexpr T kMax = std::numeric_limits<T>::max();
  const std::vector<T> x = {T(0), -T(0), kInf, -kInf, kMax, -kMax, kNan, -kNan};
  for (const bool tanh : {false, true}) {
    std::vector<T> y = x;
    if (tanh) {
      GeluTanh(std::span<T>(y));
    } else {
      Gelu(std::span<T>(y));
    }
    EXPECT_TRUE(y[0] == 0 && !std::signbit(y[0]));
    EXPECT_TRUE(y[1] == 0 && std::signbit(y[1]));
    EXPECT_EQ(y[2], kInf);
    EXPECT_TRUE(y[3] == 0 && std::signbit(y[3]));
    EXPECT_EQ(y[4], kMax);
    EXPECT_TRUE(y[5] == 0 && std::signbit(y[5]));
    EXPECT_TRUE(std::isnan(y[6]) && std::isnan(y[7]));
  }
}

TEST(GeluTest, KeepsSpecialValues) {
  ExpectSpecialValues<float>();
  ExpectSpecialValues<double>();
}

template <class T>
void ExpectTheSameBitsOnEveryInstructionSet() {
  std::vector<T> x = Arguments<T>();
  x.resize(x.size() - 3);
  std::vector<T> first;
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    std::vector<T> y = x;
    Gelu(std::span<T>(y).subspan(1));
    GeluTanh(std::span<T>(y).subspan(2));
    hwy::SetSupportedTargetsForTest(0);
    if (first.empty()) first = y;
    EXPECT_EQ(std::memcmp(y.data(), first.data(), y.size() * sizeof(T)), 0)
        << hwy::TargetName(rest & -rest);
  }
}

TEST(GeluTest, GivesTheSameBitsOnEveryInstructionSet) {
  ExpectTheSameBitsOnEveryInstructionSet<float>();
  ExpectTheSameBitsOnEveryInstructionSet<double>();
}

}  // namespace
}  // namespace assay::gemm::internal
