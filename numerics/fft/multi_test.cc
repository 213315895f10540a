// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/multi.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/column_plan.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/internal/lines.h"
#include "numerics/fft/reference.h"

namespace assay::fft {
namespace {

using Shape = std::vector<int64_t>;

struct Case {
  Shape shape;
  int axes;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Shape& shape :
       {Shape{1}, Shape{13}, Shape{1, 1}, Shape{40, 1}, Shape{1, 40}, Shape{2, 3}, Shape{16, 16},
        Shape{17, 5}, Shape{19, 34}, Shape{3, 4, 5}, Shape{6, 1, 7}, Shape{5, 8, 1},
        Shape{20, 18, 2}, Shape{2, 3, 2, 5}, Shape{30, 37}}) {
    for (int axes = 1; axes <= static_cast<int>(shape.size()); ++axes) {
      cases.push_back({shape, axes});
    }
  }
  return cases;
}

std::string Name(const Case& c) {
  std::string text = std::to_string(c.axes) + " of";
  for (int64_t extent : c.shape) text += " " + std::to_string(extent);
  return text;
}

size_t Size(const Shape& shape) {
  int64_t size = 1;
  for (int64_t extent : shape) size *= extent;
  return static_cast<size_t>(size);
}

template <class T>
std::vector<std::complex<T>> RandomNumbers(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<std::complex<T>> x;
  for (size_t j = 0; j < n; ++j) {
    const double re = 2 * random.Uniform() - 1;
    const double im = 2 * random.Uniform() - 1;
    x.push_back({static_cast<T>(re), static_cast<T>(im)});
  }
  return x;
}

// The definition along one axis after the other, in double-double.
template <class T>
std::vector<ComplexDoubleDouble> Oracle(const Case& c, const std::vector<std::complex<T>>& x,
                                        bool backward = false) {
  std::vector<ComplexDoubleDouble> y;
  for (std::complex<T> v : x) y.push_back({{v.real(), 0}, {v.imag(), 0}});
  size_t inner = 1;
  for (size_t i = c.shape.size(); i-- > c.shape.size() - static_cast<size_t>(c.axes);) {
    const size_t n = static_cast<size_t>(c.shape[i]);
    for (size_t line = 0; line < y.size() / n; ++line) {
      const size_t corner = line / inner * n * inner + line % inner;
      std::vector<std::complex<double>> hi, lo;
      for (size_t j = 0; j < n; ++j) {
        const ComplexDoubleDouble& v = y[corner + j * inner];
        hi.push_back({v.re.hi, v.im.hi});
        lo.push_back({v.re.lo, v.im.lo});
      }
      const std::vector<ComplexDoubleDouble> a = DftOracle(hi, backward),
                                             b = DftOracle(lo, backward);
      for (size_t j = 0; j < n; ++j) {
        y[corner + j * inner] = {Add(a[j].re, b[j].re), Add(a[j].im, b[j].im)};
      }
    }
    inner *= n;
  }
  return y;
}

template <class Plan>
auto Scratch(const Plan& plan, int threads = 1) {
  return static_cast<size_t>(plan.scratch_size(threads));
}

template <class T>
MultiPlan<T> Complex(const Case& c) {
  absl::StatusOr<MultiPlan<T>> plan = MultiPlan<T>::Create(c.shape, c.axes);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

template <class T>
MultiRealPlan<T> Real(const Case& c) {
  absl::StatusOr<MultiRealPlan<T>> plan = MultiRealPlan<T>::Create(c.shape, c.axes);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

template <class T>
class MultiTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(MultiTest, Types);

TYPED_TEST(MultiTest, KeepsItsBoundsForEveryShapeAndDirection) {
  using T = TypeParam;
  for (const Case& c : Cases()) {
    const MultiPlan<T> plan = Complex<T>(c);
    const std::vector<std::complex<T>> x = RandomNumbers<T>(Size(c.shape), Size(c.shape));
    std::vector<std::complex<T>> y(x.size()), z(x.size());
    std::vector<T> scratch(Scratch(plan), std::numeric_limits<T>::quiet_NaN());
    ASSERT_EQ(plan.size(), static_cast<int64_t>(x.size()));
    ASSERT_TRUE(plan.Forward(x, y, scratch).ok());
    const std::vector<ComplexDoubleDouble> truth = Oracle(c, x);
    EXPECT_LE(RelativeL2Error(y, truth), plan.L2ErrorBound()) << Name(c);
    ASSERT_TRUE(plan.Backward(x, z, scratch).ok());
    EXPECT_LE(RelativeL2Error(z, Oracle(c, x, true)), plan.L2ErrorBound()) << Name(c);
    EXPECT_LT(plan.L2ErrorBound(), 600 * std::numeric_limits<T>::epsilon());
    // One output against all inputs of its transform.
    double all = 0;
    for (std::complex<T> v : x) all += std::abs(std::complex<double>(v.real(), v.imag()));
    for (size_t k = 0; k < y.size(); ++k) {
      const double re = (y[k].real() - truth[k].re.hi) - truth[k].re.lo;
      const double im = (y[k].imag() - truth[k].im.hi) - truth[k].im.lo;
      ASSERT_LE(std::hypot(re, im), plan.PathErrorBound() * all) << Name(c);
    }
  }
}

TYPED_TEST(MultiTest, GivesTheSameBitsInPlaceOnThreadsAndLineByLine) {
  using T = TypeParam;
  ThreadPool pool(3);
  std::vector<Case> cases = Cases();
  // Large enough for threads, and blocks of columns with a rest.
  cases.push_back({{150, 131}, 2});
  cases.push_back({{150, 131}, 1});
  cases.push_back({{9, 60, 41}, 2});
  for (const Case& c : cases) {
    const MultiPlan<T> plan = Complex<T>(c);
    const std::vector<std::complex<T>> x = RandomNumbers<T>(Size(c.shape), 1 + Size(c.shape));
    std::vector<std::complex<T>> y(x.size()), z = x;
    std::vector<T> scratch(Scratch(plan)), wide(Scratch(plan, 3));
    ASSERT_TRUE(plan.Forward(x, y, scratch).ok());
    ASSERT_TRUE(plan.Forward(z, z, wide, &pool).ok());
    ASSERT_EQ(y, z) << Name(c);
    // The rows alone by Plan, then each column alone by ColumnPlan.
    const size_t rank = c.shape.size();
    std::vector<std::complex<T>> lines = x;
    size_t inner = 1;
    for (size_t i = rank; i-- > rank - static_cast<size_t>(c.axes);) {
      const size_t n = static_cast<size_t>(c.shape[i]);
      for (size_t line = 0; line < lines.size() / n; ++line) {
        const size_t corner = line / inner * n * inner + line % inner;
        std::vector<std::complex<T>> one;
        for (size_t j = 0; j < n; ++j) one.push_back(lines[corner + j * inner]);
        if (i + 1 == rank) {
          one = *Forward<T>(one);
        } else {
          const ColumnPlan<T> column = *ColumnPlan<T>::Create(c.shape[i]);
          std::vector<T> own(Scratch(column));
          ASSERT_TRUE(column.Forward(one, one, 1, own).ok());
        }
        for (size_t j = 0; j < n; ++j) lines[corner + j * inner] = one[j];
      }
      inner *= n;
    }
    ASSERT_EQ(y, lines) << Name(c);
    ASSERT_TRUE(plan.Inverse(y, y, wide, &pool).ok());
    for (size_t j = 0; j < x.size(); ++j) {
      ASSERT_NEAR(std::abs(y[j] - x[j]), 0, 300 * std::numeric_limits<T>::epsilon()) << Name(c);
    }
  }
}

TYPED_TEST(MultiTest, TransformsRealSamplesAsComplexOnes) {
  using T = TypeParam;
  ThreadPool pool(2);
  std::vector<Case> cases = Cases();
  cases.push_back({{150, 131}, 2});
  cases.push_back({{150, 128}, 2});
  for (const Case& c : cases) {
    const MultiRealPlan<T> plan = Real<T>(c);
    std::vector<std::complex<T>> x = RandomNumbers<T>(Size(c.shape), 2 + Size(c.shape));
    std::vector<T> samples;
    for (std::complex<T>& v : x) {
      v = v.real();
      samples.push_back(v.real());
    }
    ASSERT_EQ(plan.size(), static_cast<int64_t>(samples.size()));
    std::vector<std::complex<T>> y(static_cast<size_t>(plan.spectrum_size()));
    std::vector<T> scratch(Scratch(plan), std::numeric_limits<T>::quiet_NaN()),
        wide(Scratch(plan, 2));
    ASSERT_TRUE(plan.Forward(samples, y, scratch).ok());
    const std::vector<ComplexDoubleDouble> truth = Oracle(c, x);
    const size_t n = static_cast<size_t>(c.shape.back()), row = n / 2 + 1;
    double error = 0, norm = 0, all = 0;
    for (T v : samples) all += std::fabs(v);
    for (size_t k = 0; k < truth.size(); ++k) {
      norm += truth[k].re.hi * truth[k].re.hi + truth[k].im.hi * truth[k].im.hi;
    }
    for (size_t r = 0; r < y.size() / row; ++r) {
      for (size_t k = 0; k < row; ++k) {
        const ComplexDoubleDouble& t = truth[r * n + k];
        const double re = y[r * row + k].real() - t.re.hi - t.re.lo;
        const double im = y[r * row + k].imag() - t.im.hi - t.im.lo;
        const double weight = k == 0 || 2 * k == n ? 1 : 2;
        error += weight * (re * re + im * im);
        ASSERT_LE(std::hypot(re, im), plan.PathErrorBound() * all) << Name(c);
      }
    }
    EXPECT_LE(std::sqrt(error), plan.L2ErrorBound() * std::sqrt(norm)) << Name(c);
    // In place and on threads: rows of samples in the memory of the spectrum.
    std::vector<std::complex<T>> z(y.size(), {7, 7});
    for (size_t r = 0; r < y.size() / row; ++r) {
      std::copy_n(samples.begin() + static_cast<ptrdiff_t>(r * n), n,
                  reinterpret_cast<T*>(z.data() + r * row));
    }
    ASSERT_TRUE(plan.ForwardInPlace(z, wide, &pool).ok());
    ASSERT_EQ(y, z) << Name(c);
    std::vector<std::complex<T>> kept = y;
    std::vector<T> back(samples.size()), again(samples.size());
    ASSERT_TRUE(plan.Backward(y, back, scratch).ok());
    ASSERT_TRUE(plan.BackwardInPlace(z, wide, &pool).ok());
    ASSERT_TRUE(plan.Inverse(kept, again, wide, &pool).ok());
    const T count =
        static_cast<T>(Size(Shape(c.shape.end() - static_cast<ptrdiff_t>(c.axes), c.shape.end())));
    for (size_t j = 0; j < samples.size(); ++j) {
      ASSERT_EQ(back[j], reinterpret_cast<T*>(z.data() + j / n * row)[j % n]) << Name(c);
      ASSERT_EQ(again[j], back[j] / count);
      ASSERT_NEAR(again[j], samples[j], 300 * std::numeric_limits<T>::epsilon()) << Name(c);
    }
  }
}

// Whatever runs at the same time must not share scratch.
TEST(ShareTest, GivesEveryPartItsOwnScratch) {
  ThreadPool pool(4);
  std::vector<double> scratch(4 * 10, 0);
  std::vector<int> seen(1000, 0);
  internal::Share(&pool, 1000, int64_t{1} << 20, std::span<double>(scratch), 10,
                  [&](int64_t begin, int64_t end, std::span<double> own) {
                    ASSERT_EQ(own.size(), 10u);
                    for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
                    for (double& v : own) ++v;
                  });
  EXPECT_EQ(seen, std::vector<int>(1000, 1));
  const std::vector<double> once(static_cast<size_t>(10 * pool.threads()), 1);
  scratch.resize(once.size());
  EXPECT_EQ(scratch, once);
}

TYPED_TEST(MultiTest, ReportsWrongShapesAndShowsThem) {
  using T = TypeParam;
  const int64_t large = int64_t{1} << 20;
  for (const Case& c :
       {Case{{}, 0}, Case{{}, 1}, Case{{4, 4}, 0}, Case{{4, 4}, 3}, Case{{4, 4}, -1},
        Case{{4, 0}, 2}, Case{{0, 4}, 1}, Case{{-3, 4}, 2}, Case{{large, large}, 2},
        Case{{large, large, large, large}, 1}, Case{{std::numeric_limits<int64_t>::max(), 2}, 1}}) {
    const absl::Status complex = MultiPlan<T>::Create(c.shape, c.axes).status();
    const absl::Status real = MultiRealPlan<T>::Create(c.shape, c.axes).status();
    EXPECT_EQ(complex.code(), absl::StatusCode::kInvalidArgument) << Name(c);
    EXPECT_EQ(real, complex);
    if (c.shape.size() == 2) {
      const std::string shown =
          "[" + std::to_string(c.shape[0]) + ", " + std::to_string(c.shape[1]) + "]";
      EXPECT_NE(complex.message().find(shown), absl::string_view::npos) << complex;
    }
  }
}

TYPED_TEST(MultiTest, ReportsWrongBuffersAndLeavesThemAlone) {
  using T = TypeParam;
  using C = std::complex<T>;
  const MultiPlan<T> plan = Complex<T>({{6, 5}, 2});
  std::vector<C> x(30, C(1)), y(31, C(7));
  std::vector<T> scratch(Scratch(plan));
  const std::span<C> out = std::span<C>(y).first(30);
  const std::span<const C> in(x);
  const auto wrong = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(plan.Forward(in.first(29), out, scratch).code(), wrong);
  EXPECT_EQ(plan.Forward(in, y, scratch).code(), wrong);
  EXPECT_EQ(plan.Forward(in, out, std::span<T>(scratch).first(scratch.size() - 1)).code(), wrong);
  ThreadPool pool(2);
  if (pool.threads() > 1) {
    EXPECT_EQ(plan.Forward(in, out, scratch, &pool).code(), wrong);  // scratch for one thread
  }
  EXPECT_EQ(plan.Forward(out, std::span<C>(y).subspan(1), scratch).code(), wrong);
  EXPECT_EQ(plan.Inverse(std::span<const C>(reinterpret_cast<C*>(scratch.data()), 30), out, scratch)
                .code(),
            wrong);
  EXPECT_EQ(y, std::vector<C>(31, C(7)));

  const MultiRealPlan<T> real = Real<T>({{6, 5}, 2});
  std::vector<T> samples(30, T{1}), more(Scratch(real));
  std::vector<C> spectrum(19, C(7));
  const std::span<C> s = std::span<C>(spectrum).first(18);
  EXPECT_EQ(real.Forward(std::span<const T>(samples).first(29), s, more).code(), wrong);
  EXPECT_EQ(real.Forward(samples, spectrum, more).code(), wrong);
  EXPECT_EQ(real.Forward(samples, s, std::span<T>(more).first(3)).code(), wrong);
  EXPECT_EQ(
      real.Forward(std::span<const T>(reinterpret_cast<T*>(spectrum.data()), 30), s, more).code(),
      wrong);
  EXPECT_EQ(real.Backward(spectrum, samples, more).code(), wrong);
  EXPECT_EQ(real.Inverse(spectrum, samples, more).code(), wrong);
  EXPECT_EQ(real.ForwardInPlace(spectrum, more).code(), wrong);
  EXPECT_EQ(real.BackwardInPlace(spectrum, more).code(), wrong);
  EXPECT_EQ(spectrum, std::vector<C>(19, C(7)));
  EXPECT_EQ(samples, std::vector<T>(30, T{1}));
}

}  // namespace
}  // namespace assay::fft
