// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/multi.h"

#include <algorithm>
#include <utility>

#include "numerics/core/check.h"
#include "numerics/fft/internal/lines.h"

namespace assay::fft {
namespace {

using internal::CheckBuffers;
using internal::Share;

// 1 + e = (1 + a) (1 + b), rounded up. Zero beside infinity must not meet it in a product.
double Both(double a, double b) {
  if (a == 0 || b == 0) return a + b;
  return (a + b + a * b) * (1 + 1e-15);
}

template <class E>
void Divide(E* values, int64_t count, int64_t n) {
  const E divisor = static_cast<E>(n);
  for (int64_t j = 0; j < count; ++j) values[j] /= divisor;
}

// Our own transforms of our own buffers cannot fail.
void MustHold(const absl::Status& status) { ASSAY_CHECK(status.ok()); }

template <class T>
absl::Status Transform(const Plan<T>& plan, std::span<const std::complex<T>> in,
                       std::span<std::complex<T>> out, std::span<T> scratch, bool backward) {
  return backward ? plan.Backward(in, out, scratch) : plan.Forward(in, out, scratch);
}

}  // namespace

template <class T>
absl::Status MultiPlan<T>::AddAxis(int64_t outer, int64_t n, int64_t inner) {
  size_t which = 0;
  while (which < plans_.size() && plans_[which].size() != n) ++which;
  if (which == plans_.size()) {
    absl::StatusOr<Plan<T>> plan = Plan<T>::Create(n);
    if (!plan.ok()) return plan.status();
    plans_.push_back(*std::move(plan));
  }
  axes_.push_back({outer, n, inner, which, false});
  transformed_ *= n;
  l2_bound_ = Both(l2_bound_, plans_[which].L2ErrorBound());
  path_bound_ = Both(path_bound_, plans_[which].PathErrorBound());
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<MultiPlan<T>> MultiPlan<T>::Create(std::span<const int64_t> shape, int axes) {
  absl::Status status = internal::CheckShape("fft", shape, axes);
  if (!status.ok()) return status;
  MultiPlan plan;
  plan.size_ = internal::Product(shape);
  for (size_t i = shape.size() - static_cast<size_t>(axes); i < shape.size(); ++i) {
    status = plan.AddAxis(internal::Product(shape.first(i)), shape[i],
                          internal::Product(shape.subspan(i + 1)));
    if (!status.ok()) return status;
  }
  plan.axes_.back().rows = true;
  return plan;
}

template <class T>
int64_t MultiPlan<T>::AxisScratch(const Axis& axis) const {
  const int64_t plan = plans_[axis.plan].scratch_size();
  if (axis.rows) return plan;
  return internal::ColumnBuffer<std::complex<T>, T>(axis.n) + 2 * axis.n + plan;
}

template <class T>
int64_t MultiPlan<T>::scratch_size(int threads) const {
  int64_t most = 0;
  for (const Axis& axis : axes_) most = std::max(most, AxisScratch(axis));
  return most * threads;
}

template <class T>
void MultiPlan<T>::Columns(std::complex<T>* data, size_t axes, std::span<T> scratch, bool backward,
                           ThreadPool* pool) const {
  for (size_t i = axes; i-- > 0;) {
    const Axis& axis = axes_[i];
    if (axis.n == 1) continue;
    const Plan<T>& plan = plans_[axis.plan];
    const size_t n = static_cast<size_t>(axis.n);
    internal::ForColumns(
        data, axis.outer, axis.n, axis.inner, scratch, 2 * axis.n + plan.scratch_size(), pool,
        [&](std::complex<T>* columns, int64_t count, std::span<T> rest) {
          std::complex<T>* const line = reinterpret_cast<std::complex<T>*>(rest.data());
          for (int64_t q = 0; q < count; ++q) {
            for (size_t j = 0; j < n; ++j) line[j] = columns[q + count * j];
            MustHold(Transform<T>(plan, {line, n}, {line, n}, rest.subspan(2 * n), backward));
            for (size_t j = 0; j < n; ++j) columns[q + count * j] = line[j];
          }
        });
  }
}

template <class T>
absl::Status MultiPlan<T>::Run(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                               std::span<T> scratch, bool backward, ThreadPool* pool) const {
  absl::Status status = CheckBuffers("fft", in, size_, out, size_, scratch,
                                     scratch_size(internal::Threads(pool)), true);
  if (!status.ok()) return status;
  const Axis& rows = axes_.back();
  const Plan<T>& plan = plans_[rows.plan];
  const size_t n = static_cast<size_t>(rows.n);
  Share(
      pool, rows.outer, size_, scratch, plan.scratch_size(),
      [&](int64_t begin, int64_t end, std::span<T> own) {
        for (size_t r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
          MustHold(Transform<T>(plan, in.subspan(r * n, n), out.subspan(r * n, n), own, backward));
        }
      });
  Columns(out.data(), axes_.size() - 1, scratch, backward, pool);
  return absl::OkStatus();
}

template <class T>
absl::Status MultiPlan<T>::Forward(std::span<const std::complex<T>> in,
                                   std::span<std::complex<T>> out, std::span<T> scratch,
                                   ThreadPool* pool) const {
  return Run(in, out, scratch, false, pool);
}

template <class T>
absl::Status MultiPlan<T>::Backward(std::span<const std::complex<T>> in,
                                    std::span<std::complex<T>> out, std::span<T> scratch,
                                    ThreadPool* pool) const {
  return Run(in, out, scratch, true, pool);
}

template <class T>
absl::Status MultiPlan<T>::Inverse(std::span<const std::complex<T>> in,
                                   std::span<std::complex<T>> out, std::span<T> scratch,
                                   ThreadPool* pool) const {
  absl::Status status = Run(in, out, scratch, true, pool);
  if (status.ok()) Divide(reinterpret_cast<T*>(out.data()), 2 * size_, transformed_);
  return status;
}

template <class T>
absl::StatusOr<MultiRealPlan<T>> MultiRealPlan<T>::Create(std::span<const int64_t> shape,
                                                          int axes) {
  absl::Status status = internal::CheckShape("fft", shape, axes);
  if (!status.ok()) return status;
  absl::StatusOr<RealPlan<T>> real = RealPlan<T>::Create(shape.back());
  if (!real.ok()) return real.status();
  const int64_t row = real->spectrum_size();
  MultiPlan<T> columns;
  const size_t last = shape.size() - 1;
  for (size_t i = shape.size() - static_cast<size_t>(axes); i < last; ++i) {
    status = columns.AddAxis(internal::Product(shape.first(i)), shape[i],
                             internal::Product(shape.subspan(i + 1, last - i - 1)) * row);
    if (!status.ok()) return status;
  }
  return MultiRealPlan(*std::move(real), std::move(columns), internal::Product(shape.first(last)));
}

template <class T>
int64_t MultiRealPlan<T>::scratch_size(int threads) const {
  return std::max(columns_.scratch_size(threads), RowScratch() * threads);
}

template <class T>
void MultiRealPlan<T>::ForwardColumns(std::complex<T>* data, std::span<T> scratch,
                                      ThreadPool* pool) const {
  columns_.Columns(data, columns_.axes_.size(), scratch, false, pool);
}

// Calls body(r, scratch) for each row r of the last axis.
template <class T>
template <class Body>
void MultiRealPlan<T>::ForRows(std::span<T> scratch, ThreadPool* pool, Body body) const {
  Share(pool, rows_, size(), scratch, RowScratch(),
        [&](int64_t begin, int64_t end, std::span<T> own) {
          for (int64_t r = begin; r < end; ++r) body(static_cast<size_t>(r), own);
        });
}

template <class T>
absl::Status MultiRealPlan<T>::Forward(std::span<const T> in, std::span<std::complex<T>> out,
                                       std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status = CheckBuffers("fft", in, size(), out, spectrum_size(), scratch,
                                     scratch_size(internal::Threads(pool)), false);
  if (!status.ok()) return status;
  const size_t n = static_cast<size_t>(real_.size());
  const size_t row = static_cast<size_t>(real_.spectrum_size());
  ForRows(scratch, pool, [&](size_t r, std::span<T> own) {
    MustHold(real_.Forward(in.subspan(r * n, n), out.subspan(r * row, row), own));
  });
  ForwardColumns(out.data(), scratch, pool);
  return absl::OkStatus();
}

template <class T>
absl::Status MultiRealPlan<T>::ForwardInPlace(std::span<std::complex<T>> data, std::span<T> scratch,
                                              ThreadPool* pool) const {
  absl::Status status =
      CheckBuffers("fft", std::span<const std::complex<T>>(data), spectrum_size(), data,
                   spectrum_size(), scratch, scratch_size(internal::Threads(pool)), true);
  if (!status.ok()) return status;
  const size_t n = static_cast<size_t>(real_.size());
  const size_t row = static_cast<size_t>(real_.spectrum_size());
  ForRows(scratch, pool, [&](size_t r, std::span<T> own) {
    std::copy_n(reinterpret_cast<const T*>(data.data() + r * row), n, own.data());
    MustHold(real_.Forward(own.first(n), data.subspan(r * row, row), own.subspan(n)));
  });
  ForwardColumns(data.data(), scratch, pool);
  return absl::OkStatus();
}

template <class T>
absl::Status MultiRealPlan<T>::Backward(std::span<std::complex<T>> spectrum, std::span<T> out,
                                        std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status =
      CheckBuffers("fft", std::span<const std::complex<T>>(spectrum), spectrum_size(), out, size(),
                   scratch, scratch_size(internal::Threads(pool)), false);
  if (!status.ok()) return status;
  columns_.Columns(spectrum.data(), columns_.axes_.size(), scratch, true, pool);
  const size_t n = static_cast<size_t>(real_.size());
  const size_t row = static_cast<size_t>(real_.spectrum_size());
  ForRows(scratch, pool, [&](size_t r, std::span<T> own) {
    MustHold(real_.Backward(spectrum.subspan(r * row, row), out.subspan(r * n, n), own));
  });
  return absl::OkStatus();
}

template <class T>
absl::Status MultiRealPlan<T>::BackwardInPlace(std::span<std::complex<T>> data,
                                               std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status =
      CheckBuffers("fft", std::span<const std::complex<T>>(data), spectrum_size(), data,
                   spectrum_size(), scratch, scratch_size(internal::Threads(pool)), true);
  if (!status.ok()) return status;
  columns_.Columns(data.data(), columns_.axes_.size(), scratch, true, pool);
  const size_t n = static_cast<size_t>(real_.size());
  const size_t row = static_cast<size_t>(real_.spectrum_size());
  ForRows(scratch, pool, [&](size_t r, std::span<T> own) {
    MustHold(real_.Backward(data.subspan(r * row, row), own.first(n), own.subspan(n)));
    std::copy_n(own.data(), n, reinterpret_cast<T*>(data.data() + r * row));
  });
  return absl::OkStatus();
}

template <class T>
absl::Status MultiRealPlan<T>::Inverse(std::span<std::complex<T>> spectrum, std::span<T> out,
                                       std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status = Backward(spectrum, out, scratch, pool);
  if (status.ok()) Divide(out.data(), size(), columns_.transformed_ * real_.size());
  return status;
}

template <class T>
double MultiRealPlan<T>::L2ErrorBound() const {
  return Both(real_.L2ErrorBound(), columns_.l2_bound_);
}

template <class T>
double MultiRealPlan<T>::PathErrorBound() const {
  return Both(real_.PathErrorBound(), columns_.path_bound_);
}

template class MultiPlan<float>;
template class MultiPlan<double>;
template class MultiRealPlan<float>;
template class MultiRealPlan<double>;

}  // namespace assay::fft
