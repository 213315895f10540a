// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/internal/slices.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>

#include "numerics/core/check.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/internal/bounds.h"
#include "numerics/fft/internal/direct.h"
#include "numerics/fft/internal/scaling.h"

namespace assay::fft::internal {
namespace {

__extension__ typedef __int128 Int128;

// Wide digits save transforms, but their products must fit 53 bits with room for a sum.
constexpr int kWidest = 26;

// Calls digit(i, d) for the digits d of x = sum of d 2^(low + width i), lowest first, each but the
// highest in [-2^(width - 1), 2^(width - 1)); zeros left out.
template <class Digit>
void ForDigits(double x, int low, int width, Digit digit) {
  const Parts p = TakeApart(x);
  if (p.significand == 0) return;
  const int offset = p.exponent - low;
  int i = offset / width;
  Int128 rest = static_cast<Int128>(p.significand) << (offset % width);
  const Int128 half = Int128{1} << (width - 1), mask = (Int128{1} << width) - 1;
  for (; rest != 0; ++i) {
    const Int128 d = ((rest + half) & mask) - half;
    if (d != 0) digit(i, static_cast<double>(static_cast<int64_t>(d)));
    rest = (rest - d) >> width;
  }
}

int DigitCount(BitRange range, int width) { return (range.high - range.low) / width + 2; }

// The squares of the 2-norms of the slices; exact up to the sum's rounding.
std::vector<double> SquaredNorms(std::span<const double> x, BitRange range, int width) {
  std::vector<double> squares(static_cast<size_t>(DigitCount(range, width)));
  for (double v : x) {
    ForDigits(v, range.low, width,
              [&](int i, double d) { squares[static_cast<size_t>(i)] += d * d; });
  }
  return squares;
}

// Slices of one operand: where the weights stand, and their spectra.
struct Spectra {
  std::vector<int> weights;
  std::vector<std::vector<std::complex<double>>> values;
};

Spectra TransformSlices(std::span<const double> x, BitRange range, int width,
                        const RealPlan<double>& plan, std::span<double> scratch) {
  const int count = DigitCount(range, width);
  std::vector<char> used(static_cast<size_t>(count));
  for (double v : x) {
    ForDigits(v, range.low, width, [&](int i, double) { used[static_cast<size_t>(i)] = 1; });
  }
  Spectra spectra;
  std::vector<std::vector<double>> slices(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (used[static_cast<size_t>(i)] == 0) continue;
    spectra.weights.push_back(i);
    slices[static_cast<size_t>(i)].resize(static_cast<size_t>(plan.size()));
  }
  for (size_t j = 0; j < x.size(); ++j) {
    ForDigits(x[j], range.low, width,
              [&](int i, double d) { slices[static_cast<size_t>(i)][j] = d; });
  }
  for (int weight : spectra.weights) {
    std::vector<double>& slice = slices[static_cast<size_t>(weight)];
    spectra.values.emplace_back(static_cast<size_t>(plan.spectrum_size()));
    ASSAY_CHECK(plan.Forward(slice, spectra.values.back(), scratch).ok());
    slice = {};
  }
  return spectra;
}

}  // namespace

absl::StatusOr<SlicePlan> PlanSlices(std::span<const double> a, std::span<const double> b) {
  SlicePlan result;
  result.size = GoodSize(static_cast<int64_t>(a.size() + b.size() - 1));
  absl::StatusOr<RealPlan<double>> plan = RealPlan<double>::Create(result.size);
  if (!plan.ok()) return plan.status();
  const BitRange range_a = BitsOf(a), range_b = BitsOf(b);
  // Digits of one width spread over it make norms of sqrt(n / 12) 2^width and some pairs of slices
  // of a weight: begin where a single pair would do.
  const double size = std::sqrt(static_cast<double>(a.size()) * static_cast<double>(b.size()));
  int width = kWidest;
  while (width > 2 && BoundFactor(*plan, 1) * size * PowerOfTwo(2 * width) / 12 > 0.25) --width;
  for (; width >= 2; --width) {
    const std::vector<double> sa = SquaredNorms(a, range_a, width);
    const std::vector<double> sb = SquaredNorms(b, range_b, width);
    double worst = 0;
    int levels = 0, slices = 0, most = 0;
    for (double s : sa) slices += s > 0 ? 1 : 0;
    for (double s : sb) slices += s > 0 ? 1 : 0;
    for (size_t level = 0; level + 1 < sa.size() + sb.size(); ++level) {
      double norms = 0;
      int terms = 0;
      for (size_t i = level < sb.size() ? 0 : level - sb.size() + 1; i < sa.size() && i <= level;
           ++i) {
        const double both = sa[i] * sb[level - i];
        if (both == 0) continue;
        norms += std::sqrt(both);
        ++terms;
      }
      if (terms > 0) ++levels;
      most = std::max(most, terms);
      worst = std::max(worst, norms);
    }
    result.error = BoundFactor(*plan, std::max(most, 1)) * worst * (1 + 1e-5);
    if (result.error < 0.25) {
      result.width = width;
      result.transforms = slices + levels;
      return result;
    }
  }
  return result;
}

absl::StatusOr<SlicedProduct> ConvolveSlices(std::span<const double> a, std::span<const double> b,
                                             const SlicePlan& how) {
  ASSAY_CHECK(how.width > 0);
  absl::StatusOr<RealPlan<double>> plan = RealPlan<double>::Create(how.size);
  if (!plan.ok()) return plan.status();
  std::vector<double> scratch(static_cast<size_t>(plan->scratch_size()));
  const BitRange range_a = BitsOf(a), range_b = BitsOf(b);
  const Spectra fa = TransformSlices(a, range_a, how.width, *plan, scratch);
  const Spectra fb = TransformSlices(b, range_b, how.width, *plan, scratch);
  SlicedProduct product;
  product.shift = 960 - (range_a.high + range_b.high);
  const size_t length = a.size() + b.size() - 1;
  product.values.resize(length);
  product.bounds.resize(length);
  product.transforms = static_cast<int>(fa.weights.size() + fb.weights.size());
  std::vector<std::complex<double>> sum(static_cast<size_t>(plan->spectrum_size()));
  std::vector<std::complex<double>> term(sum.size());
  std::vector<double> wave(static_cast<size_t>(plan->size()));
  const int highest =
      fa.weights.empty() || fb.weights.empty() ? -1 : fa.weights.back() + fb.weights.back();
  for (int level = 0; level <= highest; ++level) {
    bool any = false;
    for (size_t i = 0; i < fa.weights.size(); ++i) {
      const auto at = std::lower_bound(fb.weights.begin(), fb.weights.end(), level - fa.weights[i]);
      if (at == fb.weights.end() || *at != level - fa.weights[i]) continue;
      const auto& y = fb.values[static_cast<size_t>(at - fb.weights.begin())];
      std::vector<std::complex<double>>& to = any ? term : sum;
      std::copy(fa.values[i].begin(), fa.values[i].end(), to.begin());
      MultiplySpectra(reinterpret_cast<double*>(to.data()),
                      reinterpret_cast<const double*>(y.data()), plan->spectrum_size());
      if (any) {
        for (size_t k = 0; k < sum.size(); ++k) {
          sum[k] = {sum[k].real() + term[k].real(), sum[k].imag() + term[k].imag()};
        }
      }
      any = true;
    }
    if (!any) continue;
    ++product.transforms;
    ASSAY_CHECK(plan->Inverse(sum, wave, scratch).ok());
    const int exponent = range_a.low + range_b.low + how.width * level + product.shift;
    const double cut = exponent < -1074 ? 0x1p-1074 : 0;
    for (size_t k = 0; k < length; ++k) {
      // Exact: within 1/4 of an integer below 2^52.
      const double whole =
          static_cast<double>(static_cast<int64_t>(wave[k] < 0 ? wave[k] - 0.5 : wave[k] + 0.5));
      if (whole == 0) continue;
      const floating::HiLo<double> v = product.values[k];
      const floating::HiLo<double> s = floating::TwoSum(v.hi, Scaled(whole, exponent));
      const floating::HiLo<double> t = floating::TwoSum(v.lo, s.lo);
      product.values[k] = floating::TwoSum(s.hi, t.hi);
      product.bounds[k] += std::fabs(t.lo) + cut;
    }
  }
  return product;
}

}  // namespace assay::fft::internal
