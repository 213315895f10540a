// SPDX-License-Identifier: Apache-2.0
// The softmax family against MPFR with 200 bits: more than a million elements in f32.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/floating/cross_entropy.h"
#include "numerics/floating/mpfr_number.h"
#include "numerics/floating/softmax.h"

namespace assay::floating {
namespace {

constexpr int kBits = 200;

// The largest error of a result in two measures.
struct Error {
  double ulps = 0;
  double units = 0;  // in u |exact|, u the unit roundoff, beyond what subnormals may lose

  // `slack`: so many least subnormals are allowed where |exact| < `below`.
  template <class T>
  void Take(T computed, mpfr_ptr exact, double slack = 1,
            double below = std::numeric_limits<T>::min()) {
    if (computed != computed) ulps = units = std::numeric_limits<double>::infinity();
    ulps = std::max(ulps, UlpError(computed, exact));
    Number difference(kBits);
    mpfr_sub_d(difference.get(), exact, static_cast<double>(computed), MPFR_RNDN);
    mpfr_abs(difference.get(), difference.get(), MPFR_RNDN);
    if (std::fabs(mpfr_get_d(exact, MPFR_RNDN)) < below) {
      Number allowed(kBits);
      mpfr_set_d(allowed.get(), std::numeric_limits<T>::denorm_min(), MPFR_RNDN);
      mpfr_mul_d(allowed.get(), allowed.get(), slack, MPFR_RNDN);
      mpfr_sub(difference.get(), difference.get(), allowed.get(), MPFR_RNDN);
    }
    if (mpfr_sgn(difference.get()) <= 0) return;
    mpfr_div(difference.get(), difference.get(), exact, MPFR_RNDN);
    mpfr_mul_2si(difference.get(), difference.get(), std::numeric_limits<T>::digits, MPFR_RNDN);
    units = std::max(units, std::fabs(mpfr_get_d(difference.get(), MPFR_RNDN)));
  }
};

// The largest errors; of logsumexp as a share of its bound.
struct Worst {
  double log_sum_exp = 0;
  Error softmax;
  Error log_softmax;
  Error loss;
  Error gradient;
};

template <class T>
void CheckRow(const std::vector<T>& x, Arithmetic arithmetic, double temperature, Worst* worst) {
  const int64_t n = static_cast<int64_t>(x.size());
  const size_t at = static_cast<size_t>(std::max_element(x.begin(), x.end()) - x.begin());
  const size_t target = x.size() / 2;
  std::vector<T> p(x.size()), lp(x.size()), g(x.size()), lse(1), losses(1);
  SoftmaxOptions options;
  options.arithmetic = arithmetic;
  options.temperature = temperature;
  const MatrixView<const T> row(x, 1, n);
  ASSERT_TRUE(SoftmaxRows(row, MatrixView<T>(p, 1, n), options).ok());
  ASSERT_TRUE(LogSoftmaxRows(row, MatrixView<T>(lp, 1, n), options).ok());
  ASSERT_TRUE(LogSumExpRows(row, std::span<T>(lse), options).ok());
  CrossEntropyOptions<T> loss_options;
  loss_options.reduction = Reduction::kNone;
  loss_options.losses = losses;
  loss_options.gradient = MatrixView<T>(g, 1, n);
  loss_options.softmax = options;
  const std::vector<int32_t> targets = {static_cast<int32_t>(target)};
  ASSERT_TRUE(CrossEntropyRows(row, targets, loss_options).ok());

  Number rest(kBits), total(kBits), others(kBits), term(kBits), exact(kBits), log_total(kBits);
  const auto scaled = [&](size_t i, mpfr_ptr out) {  // (x[i] - max) / temperature
    mpfr_set_d(out, static_cast<double>(x[i]), MPFR_RNDN);
    mpfr_sub_d(out, out, static_cast<double>(x[at]), MPFR_RNDN);
    mpfr_div_d(out, out, temperature, MPFR_RNDN);
  };
  for (size_t i = 0; i < x.size(); ++i) {
    scaled(i, term.get());
    mpfr_exp(term.get(), term.get(), MPFR_RNDN);
    if (i != at) mpfr_add(rest.get(), rest.get(), term.get(), MPFR_RNDN);
    if (i != target) mpfr_add(others.get(), others.get(), term.get(), MPFR_RNDN);
    mpfr_add(total.get(), total.get(), term.get(), MPFR_RNDN);
  }
  mpfr_log1p(log_total.get(), rest.get(), MPFR_RNDN);
  {
    mpfr_set_d(exact.get(), static_cast<double>(x[at]), MPFR_RNDN);
    mpfr_div_d(exact.get(), exact.get(), temperature, MPFR_RNDN);
    mpfr_add(exact.get(), exact.get(), log_total.get(), MPFR_RNDN);
    const double size = std::fabs(mpfr_get_d(exact.get(), MPFR_RNDN));
    mpfr_sub_d(exact.get(), exact.get(), static_cast<double>(lse[0]), MPFR_RNDN);
    const double error = std::fabs(mpfr_get_d(exact.get(), MPFR_RNDN));
    const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    const double l = mpfr_get_d(log_total.get(), MPFR_RNDN);
    double factor = 6;
    if (sizeof(T) == 4) factor = arithmetic == Arithmetic::kSingle ? 1 : 0;
    const double bound = u * size * (1 + 0x1p-20) + factor * u * l +
                         0x1p-50 * (std::fabs(static_cast<double>(x[at]) / temperature) + l) +
                         static_cast<double>(std::numeric_limits<T>::denorm_min());
    worst->log_sum_exp = std::max(worst->log_sum_exp, error / bound);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    scaled(i, term.get());
    mpfr_sub(exact.get(), term.get(), log_total.get(), MPFR_RNDN);
    worst->log_softmax.Take(lp[i], exact.get());
    if (i == target) {
      mpfr_neg(exact.get(), exact.get(), MPFR_RNDN);
      worst->loss.Take(losses[0], exact.get());
    }
    mpfr_exp(term.get(), term.get(), MPFR_RNDN);
    mpfr_div(exact.get(), term.get(), total.get(), MPFR_RNDN);
    worst->softmax.Take(p[i], exact.get());
    if (i == target) {
      mpfr_div(exact.get(), others.get(), total.get(), MPFR_RNDN);
      mpfr_neg(exact.get(), exact.get(), MPFR_RNDN);
    }
    mpfr_div_d(exact.get(), exact.get(), temperature, MPFR_RNDN);
    worst->gradient.Take(g[i], exact.get(), 1 + 2 / temperature,
                         std::numeric_limits<T>::min() / temperature);
  }
}

template <class T>
Worst WorstErrors(uint64_t seed, Arithmetic arithmetic, double temperature, int64_t elements) {
  Random random(seed);
  Worst worst;
  for (int64_t done = 0, round = 0; done < elements; ++round) {
    const int64_t n = 1 + random.Integer(round % 10 == 0 ? 500 : 20);
    const double scale = std::ldexp(1.0, static_cast<int>(random.Integer(12)) - 3);
    const double shift = round % 4 == 0 ? random.Normal() * 1e5 : 0;
    std::vector<T> x(static_cast<size_t>(n));
    for (T& value : x) value = static_cast<T>(random.Normal() * scale + shift);
    CheckRow(x, arithmetic, temperature, &worst);
    done += n;
  }
  // Edges: of underflow, of subnormal results, of the frame at 280, and terms that 1 + R would
  // lose.
  for (const double edge : {-40.0, -87.5, -100.0, -103.9, -104.1, -139.9, -140.1, -700.0, -745.0,
                            0.0, -1e-300, -1e-10, -0.34657359, -0.6931472}) {
    for (const double top : {0.0, 3.5, 279.9, 280.0, 280.1, -279.9, -280.1, 1e4, -3e7}) {
      const T high = static_cast<T>(top);
      const T low = static_cast<T>(top + edge * temperature);
      CheckRow(std::vector<T>{high, low}, arithmetic, temperature, &worst);
      CheckRow(std::vector<T>{low, high, low, high}, arithmetic, temperature, &worst);
      CheckRow(std::vector<T>{high, low, static_cast<T>(top - 2)}, arithmetic, temperature, &worst);
    }
  }
  return worst;
}

// The errors that the headers promise at most, of one measure.
void Expect(const Worst& worst, double Error::*measure, double softmax, double log_softmax,
            double gradient) {
  EXPECT_LE(worst.log_sum_exp, 1);
  EXPECT_LE(worst.softmax.*measure, softmax);
  EXPECT_LE(worst.log_softmax.*measure, log_softmax);
  EXPECT_LE(worst.loss.*measure, log_softmax);
  EXPECT_LE(worst.gradient.*measure, gradient);
  ::testing::Test::RecordProperty("softmax", std::to_string(worst.softmax.*measure));
  ::testing::Test::RecordProperty("log_softmax", std::to_string(worst.log_softmax.*measure));
  ::testing::Test::RecordProperty("loss", std::to_string(worst.loss.*measure));
  ::testing::Test::RecordProperty("gradient", std::to_string(worst.gradient.*measure));
}

TEST(SoftmaxMpfrTest, F64StaysWithinItsBound) {
  Expect(WorstErrors<double>(13, Arithmetic::kDouble, 1, 50000), &Error::units, 6, 6, 9);
}

TEST(SoftmaxMpfrTest, F64WithATemperatureStaysWithinItsBound) {
  Expect(WorstErrors<double>(14, Arithmetic::kDouble, 0.7, 50000), &Error::units, 6, 6, 9);
  Expect(WorstErrors<double>(18, Arithmetic::kDouble, 3, 20000), &Error::units, 6, 6, 9);
}

TEST(SoftmaxMpfrTest, F32StaysWithinItsBound) {
  const Worst worst = WorstErrors<float>(15, Arithmetic::kSingle, 1, 1000000);
  Expect(worst, &Error::ulps, 2.2, 1.4, 2.2);
  // Observed, not proved: errors do not come near the bound.
  EXPECT_LE(worst.softmax.ulps, 2);
  EXPECT_LE(worst.gradient.ulps, 2);
}

TEST(SoftmaxMpfrTest, F32InDoubleIsNearlyCorrectlyRounded) {
  Expect(WorstErrors<float>(16, Arithmetic::kDouble, 1, 50000), &Error::ulps, 0.51, 0.51, 0.51);
  Expect(WorstErrors<float>(17, Arithmetic::kSingle, 1.3, 50000), &Error::ulps, 0.51, 0.51, 0.51);
}

}  // namespace
}  // namespace assay::floating
