// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/checked_convolve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/fft/convolve.h"
#include "numerics/floating/big_integer.h"

namespace assay::fft {
namespace {

using floating::Rational;

template <class T>
constexpr double kUnit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;

template <class T>
using Rows = std::vector<T>;

template <class T>
Rows<T> Uniform(size_t n, uint64_t seed) {
  Random random(seed);
  Rows<T> x;
  for (size_t j = 0; j < n; ++j) x.push_back(static_cast<T>(2 * random.Uniform() - 1));
  return x;
}

// Numbers of sizes from 2^-range to 1.
template <class T>
Rows<T> AnySize(size_t n, int range, uint64_t seed) {
  Random random(seed);
  Rows<T> x;
  for (size_t j = 0; j < n; ++j) {
    const double v = 2 * random.Uniform() - 1;
    const int64_t exponent = random.Integer(range + 1);
    x.push_back(static_cast<T>(std::ldexp(v, -static_cast<int>(exponent))));
  }
  return x;
}

// The truth about one output.
struct Truth {
  Rational value, terms;
};
template <class T>
Truth Exact(const Rows<T>& a, const Rows<T>& b, size_t k) {
  Truth t;
  for (size_t j = k < b.size() ? 0 : k - b.size() + 1; j <= k && j < a.size(); ++j) {
    const Rational p =
        Rational(static_cast<double>(a[j])) * Rational(static_cast<double>(b[k - j]));
    t.value = t.value + p;
    t.terms = t.terms + p.Abs();
  }
  return t;
}

// Checks the promise for up to `count` outputs, those at the ends among them, in exact arithmetic.
template <class T>
CheckedConvolution<T> Checked(const Rows<T>& a, const Rows<T>& b, CheckedOptions options,
                              const std::string& name, size_t count = 40) {
  absl::StatusOr<CheckedConvolution<T>> c = ConvolveChecked<T>(a, b, options);
  EXPECT_TRUE(c.ok()) << name << ": " << c.status();
  const size_t length = a.size() + b.size() - 1;
  EXPECT_EQ(c->values.size(), length);
  EXPECT_EQ(c->bounds.size(), length);
  const double tolerance = options.tolerance == 0 ? 4096 * kUnit<T> : options.tolerance;
  const Rational steps(2 * static_cast<double>(std::numeric_limits<T>::denorm_min()));
  std::vector<size_t> at;
  for (size_t k = 0; k < std::min(length, count / 4); ++k) {
    at.push_back(k);
    at.push_back(length - 1 - k);
  }
  Random random(77);
  while (at.size() < count) {
    at.push_back(static_cast<size_t>(random.Integer(static_cast<int64_t>(length))));
  }
  for (size_t k : at) {
    const double value = static_cast<double>(c->values[k]), bound = c->bounds[k];
    if (std::isinf(value)) {
      EXPECT_EQ(bound, std::numeric_limits<double>::infinity());
      EXPECT_TRUE(std::isinf(static_cast<T>(Exact(a, b, k).value.ToDouble()))) << name << " " << k;
      continue;
    }
    const Truth t = Exact(a, b, k);
    EXPECT_TRUE((t.value - Rational(value)).Abs() <= Rational(bound))
        << name << " at " << k << ": " << value << " within " << bound << " of "
        << t.value.ToScientific(20);
    const Rational against = options.relative_to == RelativeTo::kTerms ? t.terms : t.value.Abs();
    EXPECT_TRUE(Rational(bound) <= Rational(tolerance) * against + steps)
        << name << " at " << k << ": bound " << bound << ", value " << value << ", relative to "
        << against.ToScientific(5);
    if (testing::Test::HasFailure()) break;
  }
  return *std::move(c);
}

template <class T>
class CheckedConvolveTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CheckedConvolveTest, Types);

std::vector<CheckedOptions> AllOptions(double unit) {
  std::vector<CheckedOptions> all;
  for (double tolerance : {2 * unit, 16 * unit, 0.0, 1e-3}) {
    for (RelativeTo to : {RelativeTo::kTerms, RelativeTo::kValue}) {
      all.push_back({.tolerance = tolerance, .relative_to = to});
    }
  }
  return all;
}

TYPED_TEST(CheckedConvolveTest, KeepsItsPromiseForOrdinaryNumbers) {
  using T = TypeParam;
  for (const CheckedOptions& options : AllOptions(kUnit<T>)) {
    Checked<T>({3}, {5}, options, "one");
    Checked<T>({1, 2}, {3, 4, 5}, options, "by hand");
    Checked(Uniform<T>(50, 1), Uniform<T>(20, 2), options, "short");
    Checked(Uniform<T>(300, 3), Uniform<T>(290, 4), options, "middle");
    Checked(Uniform<T>(3000, 5), Uniform<T>(2800, 6), options, "long", 16);
    Checked(Uniform<T>(40000, 5), Uniform<T>(1500, 6), options, "blocks", 16);
  }
}

TYPED_TEST(CheckedConvolveTest, KeepsItsPromiseForNumbersOfAllSizes) {
  using T = TypeParam;
  for (const CheckedOptions& options : AllOptions(kUnit<T>)) {
    for (int range : {10, 60, 120}) {
      Checked(AnySize<T>(60, range, 1), AnySize<T>(33, range, 2), options, "short");
      Checked(AnySize<T>(3000, range, 3), AnySize<T>(3000, range, 4), options,
              "long " + std::to_string(range), 12);
    }
  }
}

TYPED_TEST(CheckedConvolveTest, MendsTheTailOfAFallingSequence) {
  using T = TypeParam;
  // Each number half of the one before: by FFT alone no digit of the tail is right.
  const size_t n = sizeof(T) == 4 ? 60 : 900;
  Rows<T> a(4096);
  for (size_t j = 0; j < n; ++j) a[j] = static_cast<T>(std::ldexp(1.0, -static_cast<int>(j)));
  ConvolveOptions by_fft;
  by_fft.method = ConvolveMethod::kFft;
  const Rows<T> wrong = *Convolve<T>(a, a, by_fft);
  const size_t at = n;
  const double truth = Exact(a, a, at).value.ToDouble();
  EXPECT_GT(std::fabs(wrong[at] - truth), 100 * truth);
  const CheckedConvolution<T> c = Checked<T>(a, a, {.tolerance = 1e-5}, "falling", 24);
  EXPECT_NEAR(c.values[at] / truth, 1, 1e-5);
  EXPECT_GT(c.failed, 1000);
  EXPECT_EQ(c.route, CheckedRoute::kSlices);
}

TYPED_TEST(CheckedConvolveTest, KeepsASpikeFromDrowningItsTail) {
  using T = TypeParam;
  for (const CheckedOptions& options : AllOptions(kUnit<T>)) {
    Rows<T> a(3000, static_cast<T>(1e-16)), b = Uniform<T>(3000, 2);
    a[1500] = static_cast<T>(1e16);
    for (size_t j = 0; j < 1000; ++j) b[j] = 0;
    const CheckedConvolution<T> c = Checked(a, b, options, "spike", 24);
    EXPECT_GT(c.failed, 2000);
    // Before the spike's reach and without b: nothing there, exactly.
    for (size_t k = 0; k < 1000; ++k) {
      ASSERT_EQ(c.values[k], 0);
      ASSERT_EQ(c.bounds[k], 0);
    }
  }
}

TYPED_TEST(CheckedConvolveTest, FindsTheZerosOfAlternatingSigns) {
  using T = TypeParam;
  Rows<T> a(3000), b(3000, static_cast<T>(0.1));
  for (size_t j = 0; j < a.size(); ++j) a[j] = j % 2 == 0 ? 1 : -1;
  const CheckedConvolution<T> terms = Checked<T>(a, b, {}, "alternating");
  const CheckedConvolution<T> values =
      Checked<T>(a, b, {.tolerance = 0, .relative_to = RelativeTo::kValue}, "alternating by value");
  for (size_t k = 1; k < 3000; k += 2) {
    ASSERT_LE(std::fabs(terms.values[k]), terms.bounds[k]);
    ASSERT_EQ(values.values[k], 0);
    ASSERT_EQ(values.bounds[k], 0);
  }
}

TYPED_TEST(CheckedConvolveTest, OverflowsOnlyWhereTheTruthDoes) {
  using T = TypeParam;
  const T large = std::numeric_limits<T>::max() / 4;
  Rows<T> a(3000, large), b(3000);
  for (size_t j = 0; j < b.size(); ++j) b[j] = j < 1500 ? T{1} : static_cast<T>(-1);
  const CheckedConvolution<T> c = Checked<T>(a, b, {}, "overflow", 40);
  EXPECT_TRUE(std::isfinite(c.values[2]));
  EXPECT_TRUE(std::isinf(c.values[1400]));
  EXPECT_EQ(c.values[1400], std::numeric_limits<T>::infinity());
  EXPECT_EQ(c.values[4500], -std::numeric_limits<T>::infinity());
  // Everything overflows: that must not take for ever.
  Rows<T> huge(20000, std::numeric_limits<T>::max());
  const CheckedConvolution<T> all = *ConvolveChecked<T>(huge, huge);
  EXPECT_TRUE(std::isinf(all.values[20000]));
  // Just at the edge: (max / 2) * 2 is max, one step more is too much.
  const T top = std::numeric_limits<T>::max();
  const CheckedConvolution<T> edge = Checked<T>({top / 2, 1}, {2, 1}, {}, "edge");
  EXPECT_EQ(edge.values[0], top);
  Checked<T>({top, top}, {1, -1}, {}, "cancels");
  Checked<T>({top, top / 8}, {1, static_cast<T>(kUnit<T>)}, {}, "rounds up");
}

TYPED_TEST(CheckedConvolveTest, KeepsItsPromiseAmongSubnormals) {
  using T = TypeParam;
  const T tiny = std::numeric_limits<T>::denorm_min(), least = std::numeric_limits<T>::min();
  for (const CheckedOptions& options : AllOptions(kUnit<T>)) {
    Checked<T>({tiny}, {1}, options, "one");
    Checked<T>({tiny, least}, {static_cast<T>(0.5), 1}, options, "half a step");
    Checked<T>({tiny, 0, tiny}, {tiny, tiny}, options, "below everything");
    Rows<T> a = Uniform<T>(3000, 1), b = Uniform<T>(3000, 2), small = a;
    const T root = static_cast<T>(std::sqrt(static_cast<double>(least)));
    for (T& v : a) v *= root;
    for (T& v : b) v *= root;
    for (T& v : small) v *= 64 * tiny;
    Checked(a, b, options, "products are subnormal", 16);
    Checked(small, b, options, "all is lost", 16);
    small[7] = 1;
    Checked(small, Uniform<T>(3000, 9), options, "one beside subnormals", 16);
  }
}

// The whole range of double, and then some: the exact sums' own way.
TEST(CheckedConvolveRangeTest, SpansTheWholeRange) {
  for (const CheckedOptions& options : AllOptions(kUnit<double>)) {
    Checked<double>({1e300, 1e-300, 1}, {1e-300, 1e300, 3}, options, "ends");
    Checked<double>({1e300, 1e-300, -1e300}, {1e-300, 1, 1e-300}, options, "cancelling ends");
    Rows<double> a(2500, 1e-300), b(2500, 1e-8);
    a[100] = 1e300;
    b[2000] = 1e-300;
    Checked(a, b, options, "spikes", 16);
    const Rows<double> wide = AnySize<double>(40, 1000, 1);
    Checked(wide, wide, options, "any");
  }
}

// A sum that cancels to its last bits: double words alone lose more than one rounding there.
TEST(CheckedConvolveRangeTest, CountsWhatDoubleWordsLose) {
  Rows<double> a = Uniform<double>(2000, 1), b = Uniform<double>(2000, 2);
  const size_t k = 1999;
  a[0] = 1;
  b[k] = 0;
  b[k] = -Exact(a, b, k).value.ToDouble();
  const Truth t = Exact(a, b, k);
  const CheckedConvolution<double> c = *ConvolveChecked<double>(
      a, b, {.tolerance = 4 * kUnit<double>, .relative_to = RelativeTo::kValue});
  EXPECT_LT(std::fabs(c.values[k]), 1e-12);
  EXPECT_TRUE((t.value - Rational(c.values[k])).Abs() <= Rational(c.bounds[k]));
  EXPECT_TRUE(Rational(c.bounds[k]) <= Rational(4 * kUnit<double>) * t.value.Abs());
}

TYPED_TEST(CheckedConvolveTest, RefusesNanAndInfinityOrSumsWhatTheyReach) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  Rows<T> a = Uniform<T>(400, 1), b = Uniform<T>(50, 2);
  const Rows<T> clean = ConvolveChecked<T>(a, b)->values;
  a[17] = nan;
  b[49] = infinity;
  const absl::Status refused = ConvolveChecked<T>(a, b).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("a[17]"), absl::string_view::npos) << refused;
  EXPECT_NE(ConvolveChecked<T>(clean, b).status().message().find("b[49]"), absl::string_view::npos);
  const CheckedConvolution<T> c = *ConvolveChecked<T>(a, b, {.direct_if_not_finite = true});
  for (size_t k = 0; k < c.values.size(); ++k) {
    if (k >= 17 && k < 17 + 50) {
      ASSERT_TRUE(std::isnan(c.values[k])) << k;
    } else if (k >= 49) {
      ASSERT_FALSE(std::isfinite(c.values[k])) << k;
    } else {
      ASSERT_NEAR(c.values[k], clean[k], c.bounds[k] * 2) << k;
    }
    ASSERT_EQ(std::isinf(c.bounds[k]), k >= 17) << k;
  }
}

TYPED_TEST(CheckedConvolveTest, ReportsBadInput) {
  using T = TypeParam;
  const auto wrong = absl::StatusCode::kInvalidArgument;
  const Rows<T> x = {1, 2};
  EXPECT_EQ(ConvolveChecked<T>({}, x).status().code(), wrong);
  EXPECT_EQ(ConvolveChecked<T>(x, {}).status().code(), wrong);
  for (double tolerance : {-1.0, kUnit<T>, 1.5, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(ConvolveChecked<T>(x, x, {.tolerance = tolerance}).status().code(), wrong)
        << tolerance;
  }
}

// Each way is walked, and by whom.
TYPED_TEST(CheckedConvolveTest, TakesTheCheapestRouteThatIsGoodEnough) {
  using T = TypeParam;
  const Rows<T> a = Uniform<T>(3000, 1), b = Uniform<T>(3000, 2);
  EXPECT_EQ(ConvolveChecked<T>(Uniform<T>(20, 1), Uniform<T>(20, 2))->route, CheckedRoute::kDirect);
  const CheckedConvolution<T> easy = *ConvolveChecked<T>(a, b, {.tolerance = 1e-2});
  EXPECT_EQ(easy.route, CheckedRoute::kFft);
  EXPECT_LT(easy.repaired, 100);
  const CheckedConvolution<T> hard = *ConvolveChecked<T>(a, b, {.tolerance = 2 * kUnit<T>});
  EXPECT_EQ(hard.route, sizeof(T) == 4 ? CheckedRoute::kFftWide : CheckedRoute::kSlices);
  EXPECT_EQ(hard.transforms > 0, hard.route == CheckedRoute::kSlices);
}

}  // namespace
}  // namespace assay::fft
