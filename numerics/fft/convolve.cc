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
#include "numerics/fft/internal/bounds.h"
#include "numerics/fft/internal/costs.h"
#include "numerics/fft/internal/direct.h"
#include "numerics/fft/overlap_save.h"

namespace assay::fft {
namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// A coefficient can be told apart from its neighbours while the error is below 1/2; half of that is
// kept as a margin that no rounding inside the bound's own arithmetic can use up.
constexpr double kCertain = 0.25;

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

// A copy of x with the margins that AddProducts reads.
template <class T>
class WithMargins {
 public:
  explicit WithMargins(std::span<const T> x) : values_(x.size() + 2 * internal::kMargin) {
    std::copy(x.begin(), x.end(), values_.begin() + internal::kMargin);
  }
  const T* data() const { return values_.data() + internal::kMargin; }

 private:
  std::vector<T> values_;
};

// Terms from j = 0 on, whichever operand stands still.
template <class T>
std::vector<T> ConvolveDirect(std::span<const T> a, std::span<const T> b, OutputRange range) {
  std::vector<T> c(static_cast<size_t>(range.end - range.begin));
  const bool a_is_short = a.size() <= b.size();
  const std::span<const T> s = a_is_short ? a : b, l = a_is_short ? b : a;
  const WithMargins<T> wide(l);
  internal::AddProducts(s.data(), static_cast<int64_t>(s.size()), wide.data(),
                        static_cast<int64_t>(l.size()), range.begin, range.end,
                        a_is_short ? internal::Order::kRising : internal::Order::kFalling,
                        c.data());
  return c;
}

// The length of a transform for these outputs: the others may be wrapped around, onto each other.
int64_t WholeSize(int64_t n, int64_t m, OutputRange range) {
  return GoodSize(std::max({n, m, range.end, n + m - 1 - range.begin}));
}

// The cyclic convolution of a and b, padded to the plan's length.
template <class T>
absl::StatusOr<std::vector<T>> CyclicByFft(std::span<const T> a, std::span<const T> b,
                                           const RealPlan<T>& plan) {
  std::vector<T> padded(static_cast<size_t>(plan.size()));
  std::vector<T> scratch(static_cast<size_t>(plan.scratch_size()));
  std::vector<std::complex<T>> x(static_cast<size_t>(plan.spectrum_size()));
  std::vector<std::complex<T>> y(x.size());
  std::copy(a.begin(), a.end(), padded.begin());
  absl::Status status = plan.Forward(padded, x, scratch);
  if (!status.ok()) return status;
  std::copy(b.begin(), b.end(), padded.begin());
  std::fill(padded.begin() + static_cast<ptrdiff_t>(b.size()), padded.end(), T{0});
  status = plan.Forward(padded, y, scratch);
  if (!status.ok()) return status;
  internal::MultiplySpectra(reinterpret_cast<T*>(x.data()), reinterpret_cast<const T*>(y.data()),
                            plan.spectrum_size());
  status = plan.Inverse(x, padded, scratch);
  if (!status.ok()) return status;
  return padded;
}

template <class T>
absl::StatusOr<std::vector<T>> ConvolveFft(std::span<const T> a, std::span<const T> b,
                                           OutputRange range) {
  absl::StatusOr<RealPlan<T>> plan = RealPlan<T>::Create(
      WholeSize(static_cast<int64_t>(a.size()), static_cast<int64_t>(b.size()), range));
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::vector<T>> c = CyclicByFft(a, b, *plan);
  if (!c.ok()) return c.status();
  c->resize(static_cast<size_t>(range.end));
  c->erase(c->begin(), c->begin() + static_cast<ptrdiff_t>(range.begin));
  return c;
}

// The filter's plan for a convolution in blocks: the shorter operand is the filter.
template <class T>
absl::StatusOr<OverlapSave<T>> BlocksOf(std::span<const T> a, std::span<const T> b,
                                        OutputRange range) {
  const std::span<const T> filter = a.size() < b.size() ? a : b;
  return OverlapSave<T>::Create(
      filter, BlockSize(static_cast<int64_t>(filter.size()), range.end - range.begin));
}

template <class T>
absl::StatusOr<std::vector<T>> ConvolveBlocks(std::span<const T> a, std::span<const T> b,
                                              OutputRange range, ThreadPool* pool) {
  absl::StatusOr<OverlapSave<T>> plan = BlocksOf(a, b, range);
  if (!plan.ok()) return plan.status();
  std::vector<T> c(static_cast<size_t>(range.end - range.begin));
  std::vector<T> scratch(
      static_cast<size_t>(plan->scratch_size(pool == nullptr ? 1 : pool->threads())));
  absl::Status status = plan->Convolve(a.size() < b.size() ? b : a, range.begin, range.end,
                                       std::span<T>(c), scratch, pool);
  if (!status.ok()) return status;
  return c;
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

OutputRange WantedOutputs(int64_t n, int64_t m, ConvolveMode mode) {
  switch (mode) {
    case ConvolveMode::kSame:
      return {(m - 1) / 2, (m - 1) / 2 + n};
    case ConvolveMode::kValid:
      return {std::min(n, m) - 1, std::max(n, m)};
    default:
      return {0, n + m - 1};
  }
}

ConvolveMethod ChooseConvolution(int64_t n, int64_t m, ConvolveMode mode) {
  const OutputRange range = WantedOutputs(n, m, mode);
  const double outputs = static_cast<double>(range.end - range.begin);
  const double s = static_cast<double>(std::min(n, m)), l = static_cast<double>(std::max(n, m));
  const double direct =
      internal::DirectCost(mode == ConvolveMode::kFull ? s * l : s * outputs, outputs);
  // Far from every cut-over, and short enough for most calls to end here.
  if (direct < 4096) return ConvolveMethod::kDirect;
  const double whole = internal::WholeCost(WholeSize(n, m, range));
  const double blocks = internal::BlocksCost(
      std::min(n, m), BlockSize(std::min(n, m), range.end - range.begin), outputs);
  if (direct <= whole && direct <= blocks) return ConvolveMethod::kDirect;
  return whole <= blocks ? ConvolveMethod::kFft : ConvolveMethod::kOverlapSave;
}

template <class T>
absl::StatusOr<std::vector<T>> Convolve(std::span<const T> a, std::span<const T> b,
                                        ConvolveOptions options) {
  const int64_t n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  absl::Status status = CheckLengths(n, m);
  if (!status.ok()) return status;
  const OutputRange range = WantedOutputs(n, m, options.mode);
  ConvolveMethod method = options.method;
  if (method == ConvolveMethod::kAuto) method = ChooseConvolution(n, m, options.mode);
  if (options.direct_if_not_finite && !(AllFinite(a) && AllFinite(b))) {
    method = ConvolveMethod::kDirect;
  }
  if (method == ConvolveMethod::kDirect) return ConvolveDirect(a, b, range);
  if (method == ConvolveMethod::kFft) return ConvolveFft(a, b, range);
  return ConvolveBlocks(a, b, range, options.pool);
}

template <class T>
absl::StatusOr<std::vector<T>> Correlate(std::span<const T> a, std::span<const T> b,
                                         ConvolveOptions options) {
  const std::vector<T> reversed(b.rbegin(), b.rend());
  return Convolve<T>(a, reversed, options);
}

template <class T>
absl::StatusOr<std::vector<T>> ConvolveCyclic(std::span<const T> a, std::span<const T> b,
                                              ConvolveOptions options) {
  const int64_t n = static_cast<int64_t>(a.size());
  if (a.size() != b.size() || n < 1 || n > kMaxSize / 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("convolve: cyclic convolution of ", n, " and ", b.size(),
                     " elements, expected the same number, 1 to ", kMaxSize / 2));
  }
  bool direct = options.method == ConvolveMethod::kDirect ||
                (options.method == ConvolveMethod::kAuto &&
                 ChooseConvolution(2 * n, n, ConvolveMode::kValid) == ConvolveMethod::kDirect);
  if (options.direct_if_not_finite && !(AllFinite(a) && AllFinite(b))) direct = true;
  if (direct) {
    // Two turns of b: every output then has all its terms.
    std::vector<T> turns(b.begin(), b.end());
    turns.insert(turns.end(), b.begin(), b.end());
    return ConvolveDirect<T>(a, turns, {n, 2 * n});
  }
  absl::StatusOr<RealPlan<T>> plan = RealPlan<T>::Create(n);
  if (!plan.ok()) return plan.status();
  if (std::isfinite(plan->PathErrorBound())) return CyclicByFft(a, b, *plan);
  absl::StatusOr<std::vector<T>> c = ConvolveFft<T>(a, b, {0, 2 * n - 1});
  if (!c.ok()) return c.status();
  for (int64_t k = 0; k + 1 < n; ++k) {
    (*c)[static_cast<size_t>(k)] += (*c)[static_cast<size_t>(k + n)];
  }
  c->resize(a.size());
  return c;
}

template <class T>
double ConvolveErrorBound(std::span<const T> a, std::span<const T> b, ConvolveOptions options) {
  ASSAY_CHECK(!a.empty() && !b.empty());
  const int64_t n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  const OutputRange range = WantedOutputs(n, m, options.mode);
  ConvolveMethod method = options.method;
  if (method == ConvolveMethod::kAuto) method = ChooseConvolution(n, m, options.mode);
  if (options.direct_if_not_finite && !(AllFinite(a) && AllFinite(b))) {
    method = ConvolveMethod::kDirect;
  }
  if (method == ConvolveMethod::kDirect) {
    return 1.01 * static_cast<double>(std::min(n, m)) * internal::kUnit<T> *
           internal::NormBound(a) * internal::NormBound(b);
  }
  if (method == ConvolveMethod::kOverlapSave) {
    absl::StatusOr<OverlapSave<T>> plan = BlocksOf(a, b, range);
    if (!plan.ok()) return std::numeric_limits<double>::infinity();
    return plan->ErrorBound(a.size() < b.size() ? b : a);
  }
  absl::StatusOr<RealPlan<T>> plan = RealPlan<T>::Create(WholeSize(n, m, range));
  if (!plan.ok()) return std::numeric_limits<double>::infinity();
  return internal::BoundFactor(*plan, 1) * internal::NormBound(a) * internal::NormBound(b);
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
  const bool wide_enough = bits_a + bits_b - 2 + internal::Log2Ceil(std::min(n, m)) < 127;
  for (int parts = 1; parts <= 4 && wide_enough; ++parts) {
    const int width = (std::max(bits_a, bits_b) + parts - 1) / parts;
    const int parts_a = (bits_a + width - 1) / width, parts_b = (bits_b + width - 1) / width;
    if (std::max(parts_a, parts_b) != parts) continue;
    // Transforms at some 1.5 L log2 L + 4 L units each, the schoolbook's 128-bit multiply-add at 4.
    const int transforms = 2 * (parts_a + parts_b) - 1;
    const double fft_cost =
        transforms * static_cast<double>(length) * (1.5 * internal::Log2Ceil(length) + 4);
    if (fft_cost >= 4.0 * static_cast<double>(n) * static_cast<double>(m)) break;
    const std::vector<std::vector<double>> xa = Cut(a, parts_a, width), xb = Cut(b, parts_b, width);
    std::vector<double> norm_a, norm_b;
    for (const std::vector<double>& x : xa) norm_a.push_back(internal::NormBound<double>(x));
    for (const std::vector<double>& x : xb) norm_b.push_back(internal::NormBound<double>(x));
    const int64_t size = GoodSize(length);
    absl::StatusOr<RealPlan<double>> plan = RealPlan<double>::Create(size);
    if (!plan.ok()) return plan.status();
    double bound = 0;
    for (int s = 0; s <= parts_a + parts_b - 2; ++s) {
      double norms = 0;
      for (int i = std::max(0, s - parts_b + 1); i <= std::min(s, parts_a - 1); ++i) {
        norms += norm_a[i] * norm_b[s - i];
      }
      bound = std::max(bound, internal::BoundFactor(*plan, std::min(parts_a, parts_b)) * norms);
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
template absl::StatusOr<std::vector<float>> Correlate(std::span<const float>,
                                                      std::span<const float>, ConvolveOptions);
template absl::StatusOr<std::vector<double>> Correlate(std::span<const double>,
                                                       std::span<const double>, ConvolveOptions);
template absl::StatusOr<std::vector<float>> ConvolveCyclic(std::span<const float>,
                                                           std::span<const float>, ConvolveOptions);
template absl::StatusOr<std::vector<double>> ConvolveCyclic(std::span<const double>,
                                                            std::span<const double>,
                                                            ConvolveOptions);
template double ConvolveErrorBound(std::span<const float>, std::span<const float>, ConvolveOptions);
template double ConvolveErrorBound(std::span<const double>, std::span<const double>,
                                   ConvolveOptions);

}  // namespace assay::fft
