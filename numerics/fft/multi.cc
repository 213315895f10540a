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

}  // namespace

template <class T>
absl::Status MultiPlan<T>::AddColumns(std::span<const int64_t> shape, int axes) {
  const size_t last = shape.size() - 1;
  for (size_t i = shape.size() - static_cast<size_t>(axes); i < last; ++i) {
    size_t which = 0;
    while (which < columns_.size() && columns_[which].size() != shape[i]) ++which;
    if (which == columns_.size()) {
      absl::StatusOr<ColumnPlan<T>> plan = ColumnPlan<T>::Create(shape[i]);
      if (!plan.ok()) return plan.status();
      columns_.push_back(*std::move(plan));
    }
    axes_.push_back(
        {internal::Product(shape.first(i)), internal::Product(shape.subspan(i + 1)), which});
    transformed_ *= shape[i];
    l2_bound_ = Both(l2_bound_, columns_[which].L2ErrorBound());
    path_bound_ = Both(path_bound_, columns_[which].PathErrorBound());
  }
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<MultiPlan<T>> MultiPlan<T>::Create(std::span<const int64_t> shape, int axes) {
  absl::Status status = internal::CheckShape("fft", shape, axes);
  if (!status.ok()) return status;
  MultiPlan plan;
  plan.size_ = internal::Product(shape);
  status = plan.AddColumns(shape, axes);
  if (!status.ok()) return status;
  absl::StatusOr<Plan<T>> rows = Plan<T>::Create(shape.back());
  if (!rows.ok()) return rows.status();
  plan.transformed_ *= shape.back();
  plan.l2_bound_ = Both(plan.l2_bound_, rows->L2ErrorBound());
  plan.path_bound_ = Both(plan.path_bound_, rows->PathErrorBound());
  plan.rows_.emplace(*std::move(rows));
  return plan;
}

// Either the threads share the matrices, each with the scratch of one, or they all work on one.
template <class T>
int64_t MultiPlan<T>::ColumnScratch(int threads) const {
  int64_t most = 0;
  for (const ColumnPlan<T>& plan : columns_) {
    most = std::max({most, plan.scratch_size() * threads, plan.scratch_size(threads)});
  }
  return most;
}

template <class T>
int64_t MultiPlan<T>::scratch_size(int threads) const {
  return std::max(ColumnScratch(threads), rows_->scratch_size() * threads);
}

template <class T>
void MultiPlan<T>::Columns(std::complex<T>* data, std::span<T> scratch, bool backward,
                           ThreadPool* pool) const {
  for (size_t i = axes_.size(); i-- > 0;) {
    const Axis& axis = axes_[i];
    const ColumnPlan<T>& plan = columns_[axis.plan];
    const size_t size = static_cast<size_t>(plan.size() * axis.inner);
    auto transform = [&](int64_t outer, std::span<T> own, ThreadPool* threads) {
      const std::span<std::complex<T>> matrix(data + static_cast<size_t>(outer) * size, size);
      MustHold(backward ? plan.Backward(matrix, matrix, axis.inner, own, threads)
                        : plan.Forward(matrix, matrix, axis.inner, own, threads));
    };
    if (axis.outer < internal::Threads(pool)) {
      for (int64_t outer = 0; outer < axis.outer; ++outer) transform(outer, scratch, pool);
      continue;
    }
    Share(pool, axis.outer, axis.outer * static_cast<int64_t>(size), scratch, plan.scratch_size(),
          [&](int64_t begin, int64_t end, std::span<T> own) {
            for (int64_t outer = begin; outer < end; ++outer) transform(outer, own, nullptr);
          });
  }
}

template <class T>
absl::Status MultiPlan<T>::Run(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                               std::span<T> scratch, bool backward, ThreadPool* pool) const {
  absl::Status status = CheckBuffers("fft", in, size_, out, size_, scratch,
                                     scratch_size(internal::Threads(pool)), true);
  if (!status.ok()) return status;
  const size_t n = static_cast<size_t>(rows_->size());
  Share(pool, size_ / rows_->size(), size_, scratch, rows_->scratch_size(),
        [&](int64_t begin, int64_t end, std::span<T> own) {
          for (size_t r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
            const std::span<const std::complex<T>> from = in.subspan(r * n, n);
            const std::span<std::complex<T>> to = out.subspan(r * n, n);
            MustHold(backward ? rows_->Backward(from, to, own) : rows_->Forward(from, to, own));
          }
        });
  Columns(out.data(), scratch, backward, pool);
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
  std::vector<int64_t> spectrum(shape.begin(), shape.end());
  spectrum.back() = real->spectrum_size();
  MultiPlan<T> columns;
  status = columns.AddColumns(spectrum, axes);
  if (!status.ok()) return status;
  return MultiRealPlan(*std::move(real), std::move(columns),
                       internal::Product(shape.first(shape.size() - 1)));
}

template <class T>
int64_t MultiRealPlan<T>::scratch_size(int threads) const {
  return std::max(columns_.ColumnScratch(threads), RowScratch() * threads);
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
  columns_.Columns(out.data(), scratch, false, pool);
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
  columns_.Columns(data.data(), scratch, false, pool);
  return absl::OkStatus();
}

template <class T>
absl::Status MultiRealPlan<T>::Backward(std::span<std::complex<T>> spectrum, std::span<T> out,
                                        std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status =
      CheckBuffers("fft", std::span<const std::complex<T>>(spectrum), spectrum_size(), out, size(),
                   scratch, scratch_size(internal::Threads(pool)), false);
  if (!status.ok()) return status;
  columns_.Columns(spectrum.data(), scratch, true, pool);
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
  columns_.Columns(data.data(), scratch, true, pool);
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
