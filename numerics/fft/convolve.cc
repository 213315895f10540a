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
#include "numerics/fft/plan_cache.h"

namespace assay::fft {
namespace {

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
  const auto plan = SharedRealPlan<T>(
      WholeSize(static_cast<int64_t>(a.size()), static_cast<int64_t>(b.size()), range));
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::vector<T>> c = CyclicByFft(a, b, **plan);
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
  if (direct < 65536) return ConvolveMethod::kDirect;
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
  const auto plan = SharedRealPlan<T>(n);
  if (!plan.ok()) return plan.status();
  if (std::isfinite((*plan)->PathErrorBound())) return CyclicByFft(a, b, **plan);
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
  const auto plan = SharedRealPlan<T>(WholeSize(n, m, range));
  if (!plan.ok()) return std::numeric_limits<double>::infinity();
  return internal::BoundFactor(**plan, 1) * internal::NormBound(a) * internal::NormBound(b);
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
