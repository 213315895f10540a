// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/convolve.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/fft/fft.h"

namespace assay::fft {
namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// A coefficient can be told apart from its neighbours while the error is below 1/2; half of that is
// kept as a margin that no rounding inside the bound's own arithmetic can use up.
constexpr double kCertain = 0.25;

int Log2Ceil(int64_t n) {
  int bits = 0;
  while ((int64_t{1} << bits) < n) ++bits;
  return bits;
}

absl::Status CheckLengths(int64_t n, int64_t m) {
  if (n < 1 || m < 1) {
    return absl::InvalidArgumentError(absl::StrCat("convolve: operands of ", n, " and ", m,
                                                   " elements, expected at least one in each"));
  }
  if (n > kMaxSize - m) {
    return absl::InvalidArgumentError(absl::StrCat("convolve: operands of ", n, " and ", m,
                                                   " elements, expected at most ", kMaxSize,
                                                   " together"));
  }
  return absl::OkStatus();
}

// An upper bound on |x|_2: the sum's rounding is paid for by the last factor.
template <class T>
double NormBound(std::span<const T> x) {
  double sum = 0;
  for (const T& v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum) * (1 + 1e-6);
}

// b such that every coefficient made through `plan` is within b |a|_2 |b|_2 of the truth when
// `terms` products of spectra are added before the inverse transform. See ConvolveErrorBound for
// the proof.
template <class T>
double BoundFactor(const RealPlan<T>& plan, int terms) {
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  const double e = plan.L2ErrorBound();
  // The inverse transform takes a spectrum of up to (1 + 2e) times the true size; the last u is the
  // division by N.
  return 1.01 * (2 * e + e * e + (2.2361 + (terms - 1)) * u + plan.PathErrorBound() + u);
}

template <class T>
std::vector<T> ConvolveDirect(std::span<const T> a, std::span<const T> b) {
  std::vector<T> c(a.size() + b.size() - 1);
  // Row by row, so that the inner loop is contiguous; each c[k] still adds its terms from j = 0 on.
  for (size_t j = 0; j < a.size(); ++j) {
    const T factor = a[j];
    T* row = c.data() + j;
    for (size_t i = 0; i < b.size(); ++i) row[i] += factor * b[i];
  }
  return c;
}

template <class T>
absl::StatusOr<std::vector<T>> ConvolveFft(std::span<const T> a, std::span<const T> b) {
  const size_t length = a.size() + b.size() - 1;
  const int64_t size = GoodSize(static_cast<int64_t>(length));
  absl::StatusOr<RealPlan<T>> plan = RealPlan<T>::Create(size);
  if (!plan.ok()) return plan.status();
  std::vector<T> padded(static_cast<size_t>(size));
  std::vector<T> scratch(static_cast<size_t>(plan->scratch_size()));
  std::vector<std::complex<T>> x(static_cast<size_t>(plan->spectrum_size()));
  std::vector<std::complex<T>> y(x.size());
  std::copy(a.begin(), a.end(), padded.begin());
  absl::Status status = plan->Forward(padded, x, scratch);
  if (!status.ok()) return status;
  std::copy(b.begin(), b.end(), padded.begin());
  std::fill(padded.begin() + b.size(), padded.end(), T{0});
  status = plan->Forward(padded, y, scratch);
  if (!status.ok()) return status;
  for (size_t k = 0; k < x.size(); ++k) {
    x[k] = {x[k].real() * y[k].real() - x[k].imag() * y[k].imag(),
            x[k].real() * y[k].imag() + x[k].imag() * y[k].real()};
  }
  status = plan->Inverse(x, padded, scratch);
  if (!status.ok()) return status;
  padded.resize(length);
  return padded;
}

template <class T>
bool AllFinite(std::span<const T> x) {
  // x - x is 0 for a finite number and NaN otherwise.
  return std::all_of(x.begin(), x.end(), [](T v) { return v - v == 0; });
}

int BitWidth(std::span<const int64_t> x) {
  uint64_t all = 0;
  for (int64_t v : x) all |= v < 0 ? ~static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  int bits = 1;  // the sign
  for (; all != 0; all >>= 1) ++bits;
  return bits;
}

absl::Status DoesNotFit(size_t k) {
  return absl::OutOfRangeError(
      absl::StrCat("multiply: coefficient ", k,
                   " of the product does not fit a 64-bit integer; expected "
                   "coefficients from -2^63 to 2^63 - 1"));
}

bool Fits(Int128 value) {
  return value >= std::numeric_limits<int64_t>::min() &&
         value <= std::numeric_limits<int64_t>::max();
}

// x = sum over i of part[i] 2^(width i), each but the last in [-2^(width - 1), 2^(width - 1)).
std::vector<std::vector<double>> Cut(std::span<const int64_t> x, int parts, int width) {
  std::vector<std::vector<double>> out(static_cast<size_t>(parts), std::vector<double>(x.size()));
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

}  // namespace

bool UseDirectConvolution(int64_t n, int64_t m) {
  // Measured on the SSE2 build, plan included: a multiply-add of the direct loop takes about 0.25
  // ns, a padded point of the three transforms about (3 log2 L + 12) * 0.55 ns.
  const double length = static_cast<double>(n) + static_cast<double>(m);
  const double direct = static_cast<double>(n) * static_cast<double>(m);
  return direct <= 2.2 * length * (3.0 * Log2Ceil(n + m) + 12);
}

template <class T>
absl::StatusOr<std::vector<T>> Convolve(std::span<const T> a, std::span<const T> b,
                                        ConvolveOptions options) {
  const int64_t n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  absl::Status status = CheckLengths(n, m);
  if (!status.ok()) return status;
  bool direct = options.method == ConvolveMethod::kDirect ||
                (options.method == ConvolveMethod::kAuto && UseDirectConvolution(n, m));
  if (options.direct_if_not_finite && !(AllFinite(a) && AllFinite(b))) direct = true;
  if (direct) return ConvolveDirect(a, b);
  return ConvolveFft(a, b);
}

template <class T>
double ConvolveErrorBound(std::span<const T> a, std::span<const T> b) {
  ASSAY_CHECK(!a.empty() && !b.empty());
  absl::StatusOr<RealPlan<T>> plan =
      RealPlan<T>::Create(GoodSize(static_cast<int64_t>(a.size() + b.size() - 1)));
  if (!plan.ok()) return std::numeric_limits<double>::infinity();
  return BoundFactor(*plan, 1) * NormBound(a) * NormBound(b);
}

absl::StatusOr<IntegerProduct> MultiplyExact(std::span<const int64_t> a,
                                             std::span<const int64_t> b) {
  const int64_t n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  absl::Status status = CheckLengths(n, m);
  if (!status.ok()) return status;
  const int bits_a = BitWidth(a), bits_b = BitWidth(b);
  const int64_t length = n + m - 1;
  // Every coefficient is below 2^(bits_a - 1 + bits_b - 1 + log2 min(n, m)); putting the parts
  // together modulo 2^128 is right while that is below 2^127.
  const bool wide_enough = bits_a + bits_b - 2 + Log2Ceil(std::min(n, m)) < 127;
  for (int parts = 1; parts <= 4 && wide_enough; ++parts) {
    const int width = (std::max(bits_a, bits_b) + parts - 1) / parts;
    const int parts_a = (bits_a + width - 1) / width, parts_b = (bits_b + width - 1) / width;
    if (std::max(parts_a, parts_b) != parts) continue;
    // Transforms at some 1.5 L log2 L + 4 L units each, the schoolbook's 128-bit multiply-add at 4.
    const int transforms = 2 * (parts_a + parts_b) - 1;
    const double fft_cost = transforms * static_cast<double>(length) * (1.5 * Log2Ceil(length) + 4);
    if (fft_cost >= 4.0 * static_cast<double>(n) * static_cast<double>(m)) break;
    const std::vector<std::vector<double>> xa = Cut(a, parts_a, width), xb = Cut(b, parts_b, width);
    std::vector<double> norm_a, norm_b;
    for (const std::vector<double>& x : xa) norm_a.push_back(NormBound<double>(x));
    for (const std::vector<double>& x : xb) norm_b.push_back(NormBound<double>(x));
    const int64_t size = GoodSize(length);
    absl::StatusOr<RealPlan<double>> plan = RealPlan<double>::Create(size);
    if (!plan.ok()) return plan.status();
    double bound = 0;
    for (int s = 0; s <= parts_a + parts_b - 2; ++s) {
      double norms = 0;
      for (int i = std::max(0, s - parts_b + 1); i <= std::min(s, parts_a - 1); ++i) {
        norms += norm_a[i] * norm_b[s - i];
      }
      bound = std::max(bound, BoundFactor(*plan, std::min(parts_a, parts_b)) * norms);
    }
    // Parts up to 2^53 are exact as doubles; wider ones are caught here too, their norms are too
    // large.
    if (!(bound < kCertain)) continue;

    std::vector<double> padded(static_cast<size_t>(size));
    std::vector<double> scratch(static_cast<size_t>(plan->scratch_size()));
    auto spectra = [&](const std::vector<std::vector<double>>& cut, absl::Status* failed) {
      std::vector<std::vector<std::complex<double>>> out;
      for (const std::vector<double>& part : cut) {
        std::copy(part.begin(), part.end(), padded.begin());
        std::fill(padded.begin() + part.size(), padded.end(), 0.0);
        out.emplace_back(static_cast<size_t>(plan->spectrum_size()));
        failed->Update(plan->Forward(padded, out.back(), scratch));
      }
      return out;
    };
    const auto fa = spectra(xa, &status);
    const auto fb = spectra(xb, &status);
    if (!status.ok()) return status;
    std::vector<UInt128> total(static_cast<size_t>(length), 0);
    std::vector<std::complex<double>> product(static_cast<size_t>(plan->spectrum_size()));
    for (int s = 0; s <= parts_a + parts_b - 2; ++s) {
      std::fill(product.begin(), product.end(), std::complex<double>());
      for (int i = std::max(0, s - parts_b + 1); i <= std::min(s, parts_a - 1); ++i) {
        const auto& x = fa[i];
        const auto& y = fb[s - i];
        for (size_t k = 0; k < product.size(); ++k) {
          const double re = x[k].real() * y[k].real() - x[k].imag() * y[k].imag();
          const double im = x[k].real() * y[k].imag() + x[k].imag() * y[k].real();
          product[k] = {product[k].real() + re, product[k].imag() + im};
        }
      }
      status = plan->Inverse(product, padded, scratch);
      if (!status.ok()) return status;
      for (int64_t k = 0; k < length; ++k) {
        const double v = padded[k];
        const int64_t rounded = static_cast<int64_t>(v < 0 ? v - 0.5 : v + 0.5);
        total[k] += static_cast<UInt128>(static_cast<Int128>(rounded)) << (width * s);
      }
    }
    IntegerProduct result;
    result.parts = parts;
    result.error_bound = bound;
    result.coefficients.reserve(static_cast<size_t>(length));
    for (size_t k = 0; k < total.size(); ++k) {
      const Int128 value = static_cast<Int128>(total[k]);
      if (!Fits(value)) return DoesNotFit(k);
      result.coefficients.push_back(static_cast<int64_t>(value));
    }
    return result;
  }
  absl::StatusOr<std::vector<int64_t>> product = MultiplyExactReference(a, b);
  if (!product.ok()) return product.status();
  IntegerProduct result;
  result.coefficients = *std::move(product);
  return result;
}

absl::StatusOr<std::vector<int64_t>> MultiplyExactReference(std::span<const int64_t> a,
                                                            std::span<const int64_t> b) {
  absl::Status status =
      CheckLengths(static_cast<int64_t>(a.size()), static_cast<int64_t>(b.size()));
  if (!status.ok()) return status;
  std::vector<int64_t> c(a.size() + b.size() - 1);
  for (size_t k = 0; k < c.size(); ++k) {
    // The sum is high 2^128 + low: a product has up to 2^126, so two of them can already leave 128
    // bits.
    Int128 low = 0;
    int64_t high = 0;
    for (size_t j = k < b.size() ? 0 : k - b.size() + 1; j <= k && j < a.size(); ++j) {
      const Int128 term = static_cast<Int128>(a[j]) * b[k - j];
      if (__builtin_add_overflow(low, term, &low)) high += term < 0 ? -1 : 1;
    }
    if (high != 0 || !Fits(low)) return DoesNotFit(k);
    c[k] = static_cast<int64_t>(low);
  }
  return c;
}

template absl::StatusOr<std::vector<float>> Convolve(std::span<const float>, std::span<const float>,
                                                     ConvolveOptions);
template absl::StatusOr<std::vector<double>> Convolve(std::span<const double>,
                                                      std::span<const double>, ConvolveOptions);
template double ConvolveErrorBound(std::span<const float>, std::span<const float>);
template double ConvolveErrorBound(std::span<const double>, std::span<const double>);

}  // namespace assay::fft
