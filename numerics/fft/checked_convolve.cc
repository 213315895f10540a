// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/checked_convolve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/fft/convolve.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/internal/bounds.h"
#include "numerics/fft/internal/costs.h"
#include "numerics/fft/internal/scaling.h"
#include "numerics/fft/internal/slices.h"
#include "numerics/floating/big_integer.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"

namespace assay::fft {
namespace {

using internal::BitRange;
using internal::kUnit;
using internal::Scaled;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Pays for the rounding of the bounds' own arithmetic.
constexpr double kUp = 1 + 0x1p-40;
// A step of a sum in double words, in products of the vectorised direct sums.
constexpr double kRepairCost = 60;
// Making and adding up slices, for each element of a transform.
constexpr double kSliceCost = 60;

// The outputs j, ..., j + m - 1 that depend on a[j].
struct Reach {
  int64_t begin, end;
};

// One convolution in W of operands scaled below 1, as double: values, one bound for all or one for
// each, and lower bounds of the terms (0 where none was needed yet).
struct Attempt {
  std::vector<double> values;
  std::vector<double> bounds;
  std::vector<double> terms;
};

template <class T>
std::vector<T> Sizes(std::span<const T> x) {
  std::vector<T> out;
  out.reserve(x.size());
  for (T v : x) out.push_back(v < 0 ? -v : v);
  return out;
}

class Checker {
 public:
  Checker(CheckedOptions options, double tolerance) : options_(options), tolerance_(tolerance) {}

  // Whether a value with this bound is good enough. terms: a lower bound of the terms.
  bool Passes(double value, double bound, double terms) const {
    const double size = std::fabs(value) - bound;
    const double against =
        options_.relative_to == RelativeTo::kTerms ? std::max(size, terms) : size;
    return bound == 0 || bound * kUp <= tolerance_ * against;
  }
  bool TermsCount() const { return options_.relative_to == RelativeTo::kTerms; }

 private:
  CheckedOptions options_;
  double tolerance_;
};

// What underflow can do to a sum of `count` products of numbers below 1 that were scaled: half a
// subnormal step for each product and up to one for each operand.
template <class W>
double TinyError(int64_t count) {
  return 4 * static_cast<double>(count) * static_cast<double>(std::numeric_limits<W>::denorm_min());
}

// Convolves in W and says how wrong that is. `rounding`: the relative error of the step from W to
// the result's type.
template <class W>
absl::StatusOr<Attempt> Try(std::span<const double> a, std::span<const double> b,
                            ConvolveMethod method, const Checker& checker, double rounding) {
  const std::vector<W> x(a.begin(), a.end()), y(b.begin(), b.end());
  ConvolveOptions options;
  options.method = method;
  absl::StatusOr<std::vector<W>> c = Convolve<W>(x, y, options);
  if (!c.ok()) return c.status();
  const int64_t shorter = static_cast<int64_t>(std::min(a.size(), b.size()));
  const double length = static_cast<double>(c->size());
  Attempt attempt;
  attempt.values.assign(c->begin(), c->end());
  attempt.terms.assign(c->size(), 0);
  auto terms = [&] { return Convolve<W>(Sizes<W>(x), Sizes<W>(y), options); };
  if (method == ConvolveMethod::kDirect) {
    absl::StatusOr<std::vector<W>> s = terms();
    if (!s.ok()) return s.status();
    // gamma = n u / (1 - n u), for values and terms alike.
    const double nu = static_cast<double>(shorter) * kUnit<W>;
    const double gamma = nu < 0.5 ? nu / (1 - nu) * kUp : kInfinity;
    const double tiny = TinyError<W>(shorter);
    for (size_t k = 0; k < c->size(); ++k) {
      const double sum = (*s)[k];
      const double most = (sum + tiny) * (1 + 2 * gamma);
      attempt.bounds.push_back((gamma * most + tiny + rounding * std::fabs(attempt.values[k])) *
                               kUp);
      attempt.terms[k] = std::max(0.0, (sum - tiny) * (1 - gamma));
    }
    return attempt;
  }
  // Underflow inside the transforms: fewer than 64 L operations end in an output, and each one's
  // half step is stretched by L at most.
  const double tiny =
      64 * length * length * 16 * static_cast<double>(std::numeric_limits<W>::denorm_min());
  const double error = ConvolveErrorBound<W>(x, y, options) * kUp + tiny;
  bool all = true;
  for (double v : attempt.values) {
    attempt.bounds.push_back((error + rounding * std::fabs(v)) * kUp);
    all = all && checker.Passes(v, attempt.bounds.back(), 0);
  }
  if (all || !checker.TermsCount()) return attempt;
  absl::StatusOr<std::vector<W>> s = terms();
  if (!s.ok()) return s.status();
  for (size_t k = 0; k < c->size(); ++k) {
    attempt.terms[k] = std::max(0.0, (static_cast<double>((*s)[k]) - error) / kUp);
  }
  return attempt;
}

// A sum of products in double words, Dot2 of Ogita, Rump, Oishi, of products that come one by one.
class DoubleWordSum {
 public:
  // hi + lo: the product; hi: rounded.
  void Add(floating::HiLo<double> product) {
    const floating::HiLo<double> s = floating::TwoSum(sum_, product.hi);
    sum_ = s.hi;
    rest_ += product.lo + s.lo;
    terms_ += std::fabs(product.hi);
    count_ += 1;
  }

  struct Result {
    double value, bound, terms;
  };
  Result Get() const {
    const double gamma = 1.01 * count_ * 0x1p-53;  // count < 2^36
    const double value = sum_ + rest_;
    // A product's lost part may itself be lost below the subnormals: a few steps each (and the
    // same for operands that were cut when they were scaled).
    const double tiny = 16 * count_ * 0x1p-1074;
    const double bound = 0x1p-53 * std::fabs(value) + gamma * gamma * terms_ * (1 + gamma) + tiny;
    return {value, bound * kUp, std::max(0.0, terms_ * (1 - gamma) - tiny)};
  }

 private:
  double sum_ = 0, rest_ = 0, terms_ = 0, count_ = 0;
};

// One output at a time. a, b: as given.
class OneByOne {
 public:
  OneByOne(std::span<const double> a, std::span<const double> b)
      : a_(a), b_(b), range_a_(internal::BitsOf(a)), range_b_(internal::BitsOf(b)) {}

  // Outputs times 2^exponent are what is meant.
  struct Sum {
    double value, bound, terms;
    int exponent;
  };

  // In double words, with the operands scaled below 1. Zeros are left out, so that a sum of nothing
  // is exact.
  Sum Simple(size_t k) const {
    DoubleWordSum sum;
    ForTerms(k, [&](double x, double y) {
      sum.Add(floating::TwoProduct(Scaled(x, -range_a_.high), Scaled(y, -range_b_.high)));
    });
    return Of(sum, range_a_.high + range_b_.high);
  }

  // The same with every product's exponent apart, relative to the largest one's.
  Sum Wide(size_t k) const {
    int top = std::numeric_limits<int>::min();
    ForTerms(k, [&](double x, double y) { top = std::max(top, Exponent(x) + Exponent(y)); });
    DoubleWordSum sum;
    ForTerms(k, [&](double x, double y) {
      const int ex = Exponent(x), ey = Exponent(y);
      const floating::HiLo<double> p = floating::TwoProduct(Scaled(x, -ex), Scaled(y, -ey));
      sum.Add({Scaled(p.hi, ex + ey - top), Scaled(p.lo, ex + ey - top)});
    });
    return Of(sum, top);
  }

  // Without rounding on the way: the nearest double.
  Sum Exact(size_t k) const {
    // Products and what they lose stay inside the range of double.
    if (range_a_.low + range_b_.low >= -1074 && range_a_.high + range_b_.high <= 960 &&
        range_a_.high < 900 && range_b_.high < 900) {
      floating::ExactAccumulator sum;
      ForTerms(k, [&](double x, double y) {
        const floating::HiLo<double> p = floating::TwoProduct(x, y);
        sum.Add(p.hi);
        sum.Add(p.lo);
      });
      const double value = sum.Round<double>();
      return {value, value == 0 ? 0 : HalfStep(value), 0, 0};
    }
    floating::Rational sum;
    ForTerms(
        k, [&](double x, double y) { sum = sum + floating::Rational(x) * floating::Rational(y); });
    const double value = sum.ToDouble();
    return {value, sum.IsZero() ? 0 : HalfStep(value), 0, 0};
  }

 private:
  template <class Term>
  void ForTerms(size_t k, Term term) const {
    const size_t begin = k < b_.size() ? 0 : k - b_.size() + 1;
    const size_t end = std::min(a_.size(), k + 1);
    for (size_t j = begin; j < end; ++j) {
      if (a_[j] != 0 && b_[k - j] != 0) term(a_[j], b_[k - j]);
    }
  }
  static Sum Of(const DoubleWordSum& sum, int exponent) {
    const DoubleWordSum::Result r = sum.Get();
    return {r.value, r.bound, r.terms, exponent};
  }
  // e with 2^(e - 1) <= |x| < 2^e.
  static int Exponent(double x) { return internal::BitsOf(std::span<const double>(&x, 1)).high; }
  // The largest error of a number rounded to this one.
  static double HalfStep(double value) {
    return std::isfinite(value) ? std::max(std::fabs(value) * 0x1p-53, 0x1p-1074) : kInfinity;
  }

  std::span<const double> a_, b_;
  BitRange range_a_, range_b_;
};

// Zeros in the places of what is not finite, and the outputs that those reach.
template <class T>
std::vector<double> OnlyFinite(std::span<const T> x, int64_t other, std::vector<Reach>* reach) {
  std::vector<double> out;
  out.reserve(x.size());
  for (size_t j = 0; j < x.size(); ++j) {
    const double v = static_cast<double>(x[j]);
    if (!std::isfinite(v)) {
      reach->push_back({static_cast<int64_t>(j), static_cast<int64_t>(j) + other});
    }
    out.push_back(std::isfinite(v) ? v : 0);
  }
  return out;
}

template <class T>
absl::Status CheckFinite(const char* name, std::span<const T> x) {
  for (size_t j = 0; j < x.size(); ++j) {
    if (std::isfinite(x[j])) continue;
    return absl::InvalidArgumentError(absl::StrCat("convolve: ", name, "[", j, "] is ", x[j],
                                                   ", expected finite numbers or "
                                                   "direct_if_not_finite"));
  }
  return absl::OkStatus();
}

// A result in the numbers' own units, from a scaled one.
template <class T>
void Put(CheckedConvolution<T>* out, size_t k, double value, double bound, int exponent) {
  const double wide = Scaled(value, exponent);
  const T narrow = static_cast<T>(wide);
  double error = Scaled(bound, exponent);
  if (bound > 0) error = error * kUp + (error < 0x1p-1000 ? 0x1p-1074 : 0);
  // Below the normal numbers the last roundings are no longer relative.
  if (value != 0 && std::fabs(wide) < static_cast<double>(std::numeric_limits<T>::min()) * 2) {
    error += static_cast<double>(std::numeric_limits<T>::denorm_min());
  }
  out->values[k] = narrow;
  out->bounds[k] = std::isfinite(narrow) ? error : kInfinity;
}

template <class T>
class Run {
 public:
  Run(std::span<const double> a, std::span<const double> b, const Checker& checker)
      : given_a_(a), given_b_(b), checker_(checker) {
    const BitRange ra = internal::BitsOf(a), rb = internal::BitsOf(b);
    exponent_ = ra.high + rb.high;
    for (double v : a) a_.push_back(Scaled(v, -ra.high));
    for (double v : b) b_.push_back(Scaled(v, -rb.high));
  }

  absl::StatusOr<CheckedConvolution<T>> Go() {
    const int64_t n = static_cast<int64_t>(a_.size()), m = static_cast<int64_t>(b_.size());
    const size_t length = a_.size() + b_.size() - 1;
    out_.values.resize(length);
    out_.bounds.resize(length);
    const ConvolveMethod method = ChooseConvolution(n, m);
    out_.route = method == ConvolveMethod::kDirect ? CheckedRoute::kDirect : CheckedRoute::kFft;
    absl::Status status = Take<T>(method, 0);
    if (!status.ok()) return status;
    out_.failed = static_cast<int64_t>(failing_.size());
    const double convolution =
        method == ConvolveMethod::kDirect
            ? internal::DirectCost(static_cast<double>(n) * static_cast<double>(m),
                                   static_cast<double>(length))
            : internal::WholeCost(GoodSize(static_cast<int64_t>(length)));
    if (std::is_same_v<T, float> && RepairCost() > 2 * convolution) {
      status = Take<double>(method, Rounding());
      if (!status.ok()) return status;
      if (method != ConvolveMethod::kDirect) out_.route = CheckedRoute::kFftWide;
    }
    if (!failing_.empty() && RepairCost() > 4 * convolution) {
      absl::StatusOr<internal::SlicePlan> plan = internal::PlanSlices(given_a_, given_b_);
      if (!plan.ok()) return plan.status();
      const double slices = plan->transforms * (internal::RealTransformCost(plan->size) +
                                                kSliceCost * static_cast<double>(plan->size));
      if (plan->width > 0 && slices < RepairCost()) {
        status = Slice(*plan);
        if (!status.ok()) return status;
      }
    }
    Repair();
    return std::move(out_);
  }

 private:
  double RepairCost() const {
    double terms = 0;
    const size_t most = std::min(a_.size(), b_.size());
    for (size_t k : failing_) {
      terms += static_cast<double>(std::min({most, k + 1, out_.values.size() - k}));
    }
    return kRepairCost * terms;
  }

  // Convolves in W, keeps what is good enough (all of it, as long as nothing better is there).
  template <class W>
  absl::Status Take(ConvolveMethod method, double rounding) {
    absl::StatusOr<Attempt> attempt = Try<W>(a_, b_, method, checker_, rounding);
    if (!attempt.ok()) return attempt.status();
    failing_.clear();
    for (size_t k = 0; k < attempt->values.size(); ++k) {
      if (!Accept(k, attempt->values[k], attempt->bounds[k], attempt->terms[k], exponent_)) {
        failing_.push_back(k);
      }
    }
    return absl::OkStatus();
  }

  // Puts a result in its place and says whether it is good enough.
  bool Accept(size_t k, double value, double bound, double terms, int exponent) {
    Put(&out_, k, value, bound, exponent);
    if (!checker_.Passes(value, bound, terms)) return false;
    // An infinity is right if the true value, too, is beyond the largest number.
    return std::isfinite(out_.values[k]) ||
           !std::isfinite(static_cast<T>(Scaled(std::fabs(value) - bound, exponent)));
  }

  absl::Status Slice(const internal::SlicePlan& plan) {
    absl::StatusOr<internal::SlicedProduct> product =
        internal::ConvolveSlices(given_a_, given_b_, plan);
    if (!product.ok()) return product.status();
    out_.route = CheckedRoute::kSlices;
    out_.transforms = product->transforms;
    failing_.clear();
    for (size_t k = 0; k < out_.values.size(); ++k) {
      const floating::HiLo<double> v = product->values[k];
      const double bound =
          (std::fabs(v.lo) + product->bounds[k] + Rounding() * std::fabs(v.hi)) * kUp;
      // Against the terms that is always enough: the digits' products add up to four times the
      // terms at most, and each weight loses 2^-105 of that; only far below the largest output, by
      // some 2^1900, digits are lost below the subnormals.
      const bool enough = checker_.TermsCount() && std::fabs(v.hi) > 0x1p-900;
      const double terms = enough ? kInfinity : 0;
      if (!Accept(k, v.hi, bound, terms, -product->shift)) failing_.push_back(k);
    }
    return absl::OkStatus();
  }

  void Repair() {
    const OneByOne sums(given_a_, given_b_);
    out_.repaired = static_cast<int64_t>(failing_.size());
    for (size_t k : failing_) {
      if (Accept(k, sums.Simple(k)) || Accept(k, sums.Wide(k))) continue;
      const OneByOne::Sum s = sums.Exact(k);
      out_.values[k] = static_cast<T>(s.value);
      const double step = std::is_same_v<T, float> ? 0x1p-149 : 0;
      out_.bounds[k] = !std::isfinite(out_.values[k]) ? kInfinity
                       : s.bound == 0
                           ? 0
                           : (s.bound + std::max(Rounding() * std::fabs(s.value), step)) * kUp;
    }
  }
  bool Accept(size_t k, OneByOne::Sum s) {
    s.bound = (s.bound + Rounding() * std::fabs(s.value)) * kUp;
    return Accept(k, s.value, s.bound, s.terms, s.exponent);
  }

  // Of a double to the result's type.
  static constexpr double Rounding() { return std::is_same_v<T, float> ? kUnit<float> : 0; }

  std::span<const double> given_a_, given_b_;
  const Checker& checker_;
  int exponent_;               // the scaled outputs times 2^exponent_ are the outputs
  std::vector<double> a_, b_;  // scaled below 1
  CheckedConvolution<T> out_;
  std::vector<size_t> failing_;
};

}  // namespace

template <class T>
absl::StatusOr<CheckedConvolution<T>> ConvolveChecked(std::span<const T> a, std::span<const T> b,
                                                      CheckedOptions options) {
  const int64_t n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  if (n < 1 || m < 1 || n > kMaxSize - m) {
    return absl::InvalidArgumentError(absl::StrCat(
        "convolve: operands of ", n, " and ", m,
        " elements, expected at least one in each and at most ", kMaxSize, " together"));
  }
  const double tolerance = options.tolerance == 0 ? 4096 * kUnit<T> : options.tolerance;
  if (!(tolerance >= 2 * kUnit<T> && tolerance <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("convolve: a tolerance of ", options.tolerance,
                                                   ", expected ", 2 * kUnit<T>, " to 1, or 0"));
  }
  if (!options.direct_if_not_finite) {
    absl::Status status = CheckFinite("a", a);
    status.Update(CheckFinite("b", b));
    if (!status.ok()) return status;
  }
  std::vector<Reach> reach;
  const std::vector<double> x = OnlyFinite(a, m, &reach), y = OnlyFinite(b, n, &reach);
  const Checker checker(options, tolerance);
  absl::StatusOr<CheckedConvolution<T>> out = Run<T>(x, y, checker).Go();
  if (!out.ok()) return out.status();
  int64_t done = 0;
  std::stable_sort(reach.begin(), reach.end(), [](Reach p, Reach q) { return p.begin < q.begin; });
  for (const Reach& r : reach) {
    for (int64_t k = std::max(done, r.begin); k < r.end; ++k) {
      T sum = 0;
      for (int64_t j = std::max<int64_t>(0, k - m + 1); j < std::min(n, k + 1); ++j) {
        sum += a[static_cast<size_t>(j)] * b[static_cast<size_t>(k - j)];
      }
      out->values[static_cast<size_t>(k)] = sum;
      out->bounds[static_cast<size_t>(k)] = kInfinity;
    }
    done = std::max(done, r.end);
  }
  return out;
}

template absl::StatusOr<CheckedConvolution<float>> ConvolveChecked(std::span<const float>,
                                                                   std::span<const float>,
                                                                   CheckedOptions);
template absl::StatusOr<CheckedConvolution<double>> ConvolveChecked(std::span<const double>,
                                                                    std::span<const double>,
                                                                    CheckedOptions);

}  // namespace assay::fft
