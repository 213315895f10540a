// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "numerics/core/check.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/internal/column_tables.h"
#include "numerics/fft/internal/plan_tables.h"
#include "numerics/fft/internal/pointwise.h"

namespace assay::fft {

template <class T>
RealPlan<T>::RealPlan(int64_t n, Plan<T> plan, std::vector<T> twiddles)
    : n_(n), plan_(std::move(plan)), twiddles_(std::move(twiddles)) {}
template <class T>
RealPlan<T>::RealPlan(RealPlan&&) noexcept = default;
template <class T>
RealPlan<T>& RealPlan<T>::operator=(RealPlan&&) noexcept = default;
template <class T>
RealPlan<T>::~RealPlan() = default;

template <class T>
absl::StatusOr<RealPlan<T>> RealPlan<T>::Create(int64_t n) {
  return CreateWith(n, internal::GetSweeps(T{}));
}

template <class T>
absl::StatusOr<RealPlan<T>> RealPlan<T>::CreateWith(int64_t n, const internal::Sweeps<T>& sweeps) {
  const bool even = n > 0 && n % 2 == 0;
  if (n > kMaxSize) n = kMaxSize + 1;  // so that half of it is refused as well
  absl::StatusOr<Plan<T>> plan = Plan<T>::CreateWith(even && n <= kMaxSize ? n / 2 : n, sweeps);
  if (!plan.ok()) return plan.status();
  std::vector<T> twiddles;
  if (even) {
    internal::RootTable<T> roots;
    if (!roots.Fill(n)) return internal::NoMemory(n);
    twiddles.reserve(static_cast<size_t>(2 * (n / 4 + 1)));
    for (int64_t k = 0; k <= n / 4; ++k) {
      const std::complex<T> w = roots[k];
      twiddles.push_back(w.real());
      twiddles.push_back(w.imag());
    }
  }
  return RealPlan(n, *std::move(plan), std::move(twiddles));
}

template <class T>
int64_t RealPlan<T>::size() const {
  return n_;
}

template <class T>
int64_t RealPlan<T>::spectrum_size() const {
  return n_ / 2 + 1;
}

template <class T>
int64_t RealPlan<T>::scratch_size(int threads) const {
  // Beside the plan's own: one complex array of the plan's length.
  return plan_.scratch_size(threads) + 2 * plan_.size();
}

template <class T>
double RealPlan<T>::L2ErrorBound() const {
  // Even N: two additions and a twiddle product, 2 + 5.24 units; the halves are exact.
  const double u = internal::kUnit<T>;
  return plan_.L2ErrorBound() + (n_ % 2 == 0 ? 1.01 * 7.2361 * u : 0);
}

template <class T>
double RealPlan<T>::PathErrorBound() const {
  // A sample reaches X[k] through Z[k] and Z[M - k]: weights 1/2 twice for the even samples, the
  // same for the odd ones, and each way has the roundings above.
  const double u = internal::kUnit<T>;
  return plan_.PathErrorBound() + (n_ % 2 == 0 ? 1.01 * 7.2361 * u : 0);
}

template <class T>
absl::Status RealPlan<T>::Forward(std::span<const T> in, std::span<std::complex<T>> out,
                                  std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status =
      internal::CheckBuffers("fft", {in.data(), in.size(), sizeof(in[0]), n_},
                             {out.data(), out.size(), sizeof(out[0]), spectrum_size()},
                             {scratch.data(), scratch.size(), sizeof(T),
                              scratch_size(pool == nullptr ? 1 : pool->threads())},
                             false);
  if (!status.ok()) return status;
  T* y = reinterpret_cast<T*>(out.data());
  if (n_ % 2 == 1) {
    T* work = scratch.data();
    for (int64_t j = 0; j < n_; ++j) {
      work[2 * j] = in[j];
      work[2 * j + 1] = 0;
    }
    const std::span<std::complex<T>> z(reinterpret_cast<std::complex<T>*>(work), n_);
    status = plan_.Forward(z, z, scratch.subspan(2 * n_), pool);
    for (int64_t k = 0; k < 2 * spectrum_size(); ++k) y[k] = work[k];
    y[1] = 0;
    return status;
  }
  // The pairs (x[2j], x[2j + 1]) as complex numbers.
  const int64_t m = n_ / 2;
  const std::span<const std::complex<T>> z(reinterpret_cast<const std::complex<T>*>(in.data()), m);
  status = plan_.Forward(z, out.first(m), scratch, pool);
  if (!status.ok()) return status;
  internal::SplitReal(y, m, twiddles_.data());
  return absl::OkStatus();
}

template <class T>
absl::Status RealPlan<T>::Backward(std::span<const std::complex<T>> in, std::span<T> out,
                                   std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status =
      internal::CheckBuffers("fft", {in.data(), in.size(), sizeof(in[0]), spectrum_size()},
                             {out.data(), out.size(), sizeof(out[0]), n_},
                             {scratch.data(), scratch.size(), sizeof(T),
                              scratch_size(pool == nullptr ? 1 : pool->threads())},
                             false);
  if (!status.ok()) return status;
  const T* x = reinterpret_cast<const T*>(in.data());
  T* work = scratch.data();
  if (n_ % 2 == 1) {
    work[0] = x[0];
    work[1] = 0;
    for (int64_t k = 1; k <= n_ / 2; ++k) {
      work[2 * k] = x[2 * k];
      work[2 * k + 1] = x[2 * k + 1];
      work[2 * (n_ - k)] = x[2 * k];
      work[2 * (n_ - k) + 1] = -x[2 * k + 1];
    }
    const std::span<std::complex<T>> z(reinterpret_cast<std::complex<T>*>(work), n_);
    status = plan_.Backward(z, z, scratch.subspan(2 * n_), pool);
    for (int64_t j = 0; j < n_; ++j) out[j] = work[2 * j];
    return status;
  }
  const int64_t m = n_ / 2;
  internal::MergeReal(x, m, twiddles_.data(), work);
  const std::span<const std::complex<T>> z(reinterpret_cast<const std::complex<T>*>(work), m);
  const std::span<std::complex<T>> y(reinterpret_cast<std::complex<T>*>(out.data()), m);
  return plan_.Backward(z, y, scratch.subspan(2 * m), pool);
}

template <class T>
absl::Status RealPlan<T>::Inverse(std::span<const std::complex<T>> in, std::span<T> out,
                                  std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status = Backward(in, out, scratch, pool);
  if (status.ok()) internal::Divide(out.data(), n_, n_);
  return status;
}

template class RealPlan<float>;
template class RealPlan<double>;

}  // namespace assay::fft
