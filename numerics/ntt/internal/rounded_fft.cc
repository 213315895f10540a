// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/internal/rounded_fft.h"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/internal/bounds.h"

namespace assay::ntt::internal {
namespace {

using Parts = std::vector<std::vector<double>>;
using Spectra = std::vector<std::vector<std::complex<double>>>;

// x = sum over i of part[i] 2^(width i), each but the last in [-2^(width - 1), 2^(width - 1)).
Parts Cut(std::span<const int64_t> x, int parts, int width) {
  Parts out(static_cast<size_t>(parts), std::vector<double>(x.size()));
  const Int128 half = Int128{1} << (width - 1), mask = (Int128{1} << width) - 1;
  for (size_t j = 0; j < x.size(); ++j) {
    Int128 rest = x[j];
    for (int i = 0; i + 1 < parts; ++i) {
      const Int128 digit = ((rest + half) & mask) - half;
      out[i][j] = static_cast<double>(static_cast<int64_t>(digit));
      rest = (rest - digit) >> width;
    }
    out[parts - 1][j] = static_cast<double>(static_cast<int64_t>(rest));
  }
  return out;
}

// The largest error of any sum of products of parts that share a power of two.
double ErrorBound(const fft::RealPlan<double>& plan, const Parts& a, const Parts& b) {
  std::vector<double> norm_a, norm_b;
  for (const std::vector<double>& x : a) norm_a.push_back(fft::internal::NormBound<double>(x));
  for (const std::vector<double>& x : b) norm_b.push_back(fft::internal::NormBound<double>(x));
  const size_t terms = std::min(a.size(), b.size());
  double bound = 0;
  for (size_t s = 0; s + 1 < a.size() + b.size(); ++s) {
    double norms = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      if (i <= s && s - i < b.size()) norms += norm_a[i] * norm_b[s - i];
    }
    bound = std::max(bound, fft::internal::BoundFactor(plan, static_cast<int>(terms)) * norms);
  }
  return bound;
}

}  // namespace

absl::StatusOr<RoundedProduct> MultiplyByFft(std::span<const int64_t> a, std::span<const int64_t> b,
                                             int bits_a, int bits_b) {
  RoundedProduct result;
  const size_t length = a.size() + b.size() - 1;
  const int64_t size = fft::GoodSize(static_cast<int64_t>(length));
  absl::StatusOr<fft::RealPlan<double>> plan = fft::RealPlan<double>::Create(size);
  if (!plan.ok()) return plan.status();
  Parts xa, xb;
  int width = 0;
  for (int parts = 1; parts <= 4 && result.parts == 0; ++parts) {
    width = (std::max(bits_a, bits_b) + parts) / parts;  // with the sign
    xa = Cut(a, bits_a / width + 1, width);
    xb = Cut(b, bits_b / width + 1, width);
    // Parts up to 2^53 are exact as doubles; wider ones are caught here too, their norms are too
    // large.
    result.error_bound = ErrorBound(*plan, xa, xb);
    if (result.error_bound < 0.25) {
      result.parts = static_cast<int>(std::max(xa.size(), xb.size()));
    }
  }
  if (result.parts == 0) return result;

  std::vector<double> padded(static_cast<size_t>(size));
  std::vector<double> scratch(static_cast<size_t>(plan->scratch_size()));
  absl::Status status;
  const auto spectra = [&](const Parts& parts) {
    Spectra out;
    for (const std::vector<double>& part : parts) {
      std::copy(part.begin(), part.end(), padded.begin());
      std::fill(padded.begin() + static_cast<int64_t>(part.size()), padded.end(), 0.0);
      out.emplace_back(static_cast<size_t>(plan->spectrum_size()));
      status.Update(plan->Forward(padded, out.back(), scratch));
    }
    return out;
  };
  const Spectra fa = spectra(xa), fb = spectra(xb);
  std::vector<UInt128> total(length, 0);
  std::vector<std::complex<double>> product(static_cast<size_t>(plan->spectrum_size()));
  for (size_t s = 0; s + 1 < fa.size() + fb.size() && status.ok(); ++s) {
    std::fill(product.begin(), product.end(), std::complex<double>());
    for (size_t i = 0; i < fa.size(); ++i) {
      if (i > s || s - i >= fb.size()) continue;
      const auto& x = fa[i];
      const auto& y = fb[s - i];
      for (size_t k = 0; k < product.size(); ++k) {
        const double re = x[k].real() * y[k].real() - x[k].imag() * y[k].imag();
        const double im = x[k].real() * y[k].imag() + x[k].imag() * y[k].real();
        product[k] = {product[k].real() + re, product[k].imag() + im};
      }
    }
    status.Update(plan->Inverse(product, padded, scratch));
    for (size_t k = 0; k < length; ++k) {
      const double v = padded[k];
      const int64_t rounded = static_cast<int64_t>(v < 0 ? v - 0.5 : v + 0.5);
      total[k] += static_cast<UInt128>(static_cast<Int128>(rounded))
                  << (width * static_cast<int>(s));
    }
  }
  if (!status.ok()) return status;
  result.coefficients.reserve(length);
  for (UInt128 v : total) result.coefficients.push_back(static_cast<Int128>(v));
  return result;
}

}  // namespace assay::ntt::internal
