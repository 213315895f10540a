// SPDX-License-Identifier: Apache-2.0
//
// Any numbers: the exact sum and dot product are those of rational arithmetic, and every other
// method keeps its bound or, where numbers are not finite, its rule.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_integer.h"
#include "numerics/floating/dot.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/fuzz/numbers.h"
#include "numerics/floating/norm.h"
#include "numerics/floating/sum.h"

namespace assay::floating::fuzz {
namespace {

template <class T>
bool IsFinite(const std::vector<T>& x) {
  return std::all_of(x.begin(), x.end(), [](T v) { return std::isfinite(v); });
}

// The rational rounded to T, by the code that reads decimals.
template <class T>
T Rounded(const Rational& x) {
  if constexpr (sizeof(T) == 8) {
    return DoubleFromBits(RoundTo(Format::kF64, x));
  } else {
    return FloatFromBits(static_cast<uint32_t>(RoundTo(Format::kF32, x)));
  }
}

// What a sum of terms that are not all finite must be.
double Special(const std::vector<double>& terms) {
  bool nan = false, plus = false, minus = false;
  for (const double term : terms) {
    nan = nan || term != term;
    plus = plus || term == HUGE_VAL;
    minus = minus || term == -HUGE_VAL;
  }
  return nan || (plus && minus) ? std::nan("") : (plus ? HUGE_VAL : -HUGE_VAL);
}

bool Same(double a, double b) { return CanonicalBits(a) == CanonicalBits(b) || a == b; }

// |computed - exact| <= bound, as rationals.
bool Within(double computed, const Rational& exact, double bound) {
  if (bound == HUGE_VAL) return true;
  const Rational error = Rational(computed) - exact;
  return (error < Rational(0.0) ? -error : error) <= Rational(bound);
}

template <class T>
void FuzzSum(const std::vector<T>& x) {
  const std::span<const T> view(x);
  if (!IsFinite(x)) {
    const double expected = Special(std::vector<double>(x.begin(), x.end()));
    for (const SumMethod method : kSumMethods) {
      const double sum = static_cast<double>(Sum(view, method));
      // Naive sums may have overflowed before.
      ASSAY_CHECK(Same(sum, expected) || method == SumMethod::kNaive);
    }
    return;
  }
  Rational exact(0.0), absolute(0.0);
  for (const T value : x) {
    const Rational term(static_cast<double>(value));
    exact = exact + term;
    absolute = absolute + (term < Rational(0.0) ? -term : term);
  }
  const T rounded = Rounded<T>(exact);
  ASSAY_CHECK(Sum(view, SumMethod::kExact) == rounded);
  ExactAccumulator first, second;
  first.Add(view.first(x.size() / 3));
  second.Add(view.subspan(x.size() / 3));
  second.Merge(first);
  ASSAY_CHECK(second.Round<T>() == rounded);
  const double abs_sum = static_cast<double>(Rounded<double>(absolute)) * (1 + 0x1p-50);
  for (const SumMethod method : kSumMethods) {
    const double sum = static_cast<double>(Sum(view, method));
    if (!std::isfinite(sum)) {
      ASSAY_CHECK(method == SumMethod::kNaive || sum == static_cast<double>(rounded));
      continue;
    }
    if (!std::isfinite(abs_sum) || static_cast<T>(abs_sum) == HUGE_VAL) continue;
    ASSAY_CHECK(
        Within(sum, exact,
               SumErrorBound<T>(method, static_cast<int64_t>(x.size()), abs_sum, std::fabs(sum))));
  }
}

void FuzzDot(const std::vector<double>& x, const std::vector<double>& y) {
  if (!IsFinite(x) || !IsFinite(y)) return;
  Rational exact(0.0), absolute(0.0);
  bool in_range = true;
  for (size_t i = 0; i < x.size(); ++i) {
    const Rational term = Rational(x[i]) * Rational(y[i]);
    exact = exact + term;
    absolute = absolute + (term < Rational(0.0) ? -term : term);
    const double product = std::fabs(x[i] * y[i]);
    in_range = in_range && (term == Rational(0.0) || (product > 0x1p-900 && product < 0x1p900)) &&
               std::fabs(x[i]) < 0x1p900 && std::fabs(y[i]) < 0x1p900;
  }
  ASSAY_CHECK(ExactDot(x, y) == Rounded<double>(exact));
  if (!in_range) return;
  const int64_t n = static_cast<int64_t>(x.size());
  const double abs_dot = Rounded<double>(absolute) * (1 + 0x1p-50);
  const double dot = Dot(x, y), dot2 = Dot2(x, y);
  ASSAY_CHECK(
      Within(dot, exact, DotErrorBound<double>(DotMethod::kDot, n, abs_dot, std::fabs(dot))));
  ASSAY_CHECK(
      Within(dot2, exact, DotErrorBound<double>(DotMethod::kDot2, n, abs_dot, std::fabs(dot2))));
}

void FuzzNorm(const std::vector<double>& x) {
  const double one = Norm1(x), two = Norm2(x), largest = NormInf(x);
  if (largest == HUGE_VAL) {
    ASSAY_CHECK(one == HUGE_VAL && two == HUGE_VAL);
    return;
  }
  if (largest != largest) {
    ASSAY_CHECK(one != one && two != two);
    return;
  }
  ASSAY_CHECK(IsFinite(x));
  // Norms in order, up to rounding, and none a false zero.
  constexpr double kUp = 1 + 0x1p-45;
  ASSAY_CHECK(largest <= two * kUp && two <= one * kUp);
  ASSAY_CHECK((largest == 0) == (two == 0));
}

void FuzzOne(Bytes bytes) {
  if (bytes.Below(2) == 0) {
    FuzzSum(bytes.Numbers<float>());
    return;
  }
  const std::vector<double> x = bytes.Numbers<double>();
  std::vector<double> y = bytes.Numbers<double>();
  FuzzSum(x);
  FuzzNorm(x);
  y.resize(x.size());
  FuzzDot(x, y);
}

}  // namespace
}  // namespace assay::floating::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::floating::fuzz::FuzzOne(
      assay::floating::fuzz::Bytes(std::span<const uint8_t>(data, size)));
  return 0;
}
