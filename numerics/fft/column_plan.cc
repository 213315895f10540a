// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/column_plan.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/internal/column_tables.h"
#include "numerics/fft/internal/plan_tables.h"

namespace assay::fft {
namespace internal {

template <class T>
struct ColumnPlanTables {
  int64_t n = 0;
  Roots<T> roots;
  ColumnTables<T> column;  // where `single` is empty
  // One column at a time: lengths of 1 and those that Plan does by Bluestein's method.
  std::optional<Plan<T>> single;
  double l2_bound = 0;
  double path_bound = 0;
};

}  // namespace internal

namespace {

// The widest block that the columns fill, at least a quarter of the widest there is.
template <class T>
int64_t LanesFor(int64_t columns) {
  int64_t lanes = internal::kWideLanes<T>;
  while (lanes > internal::kWideLanes<T> / 4 && lanes > columns) lanes /= 2;
  return lanes;
}

// What one thread needs: the rows of a block, and a copy of the columns where they do not fill one.
template <class T>
int64_t ThreadScratch(const internal::ColumnPlanTables<T>& t) {
  const int64_t line = internal::kLine / static_cast<int64_t>(sizeof(T));
  if (t.single.has_value()) return 2 * t.n + t.single->scratch_size() + line;
  return 2 * 2 * t.n * internal::kWideLanes<T> + line;
}

// The columns [begin, begin + count), one at a time.
template <class T>
void RunSingly(const internal::ColumnPlanTables<T>& t, const T* in, T* out, int64_t columns,
               int64_t begin, int64_t count, T* scratch, bool backward) {
  const size_t n = static_cast<size_t>(t.n);
  std::complex<T>* line = reinterpret_cast<std::complex<T>*>(scratch);
  const std::span<T> rest(scratch + 2 * n, static_cast<size_t>(t.single->scratch_size()));
  for (int64_t q = begin; q < begin + count; ++q) {
    for (int64_t j = 0; j < t.n; ++j) {
      const T* at = in + 2 * (j * columns + q);
      line[j] = {at[0], at[1]};
    }
    const std::span<std::complex<T>> x(line, n);
    ASSAY_CHECK((backward ? t.single->Backward(x, x, rest) : t.single->Forward(x, x, rest)).ok());
    for (int64_t j = 0; j < t.n; ++j) {
      T* at = out + 2 * (j * columns + q);
      at[0] = line[j].real();
      at[1] = line[j].imag();
    }
  }
}

// A block of columns; those that do not fill it go through a copy with zeros beside them.
template <class T>
void RunBlock(const internal::ColumnPlanTables<T>& t, const T* in, T* out, int64_t columns,
              int64_t begin, int64_t count, int64_t lanes, T* scratch, bool backward) {
  const internal::Sweeps<T>& sweeps = internal::GetSweeps(T{});
  const T conjugate = backward ? T{-1} : T{1};
  T* buffer = internal::AlignUp(scratch);
  in += 2 * begin;
  out += 2 * begin;
  if (count == lanes) {
    return sweeps.columns(t.column, t.roots, lanes, in, 2 * columns, out, 2 * columns, buffer,
                          conjugate);
  }
  T* copy = buffer + 2 * t.n * lanes;
  for (int64_t j = 0; j < t.n; ++j) {
    T* row = copy + 2 * j * lanes;
    std::copy_n(in + 2 * j * columns, 2 * count, row);
    std::fill(row + 2 * count, row + 2 * lanes, T{0});
  }
  sweeps.columns(t.column, t.roots, lanes, copy, 2 * lanes, copy, 2 * lanes, buffer, conjugate);
  for (int64_t j = 0; j < t.n; ++j) {
    std::copy_n(copy + 2 * j * lanes, 2 * count, out + 2 * j * columns);
  }
}

}  // namespace

template <class T>
ColumnPlan<T>::ColumnPlan(std::unique_ptr<const internal::ColumnPlanTables<T>> tables)
    : tables_(std::move(tables)) {}
template <class T>
ColumnPlan<T>::ColumnPlan(ColumnPlan&&) noexcept = default;
template <class T>
ColumnPlan<T>& ColumnPlan<T>::operator=(ColumnPlan&&) noexcept = default;
template <class T>
ColumnPlan<T>::~ColumnPlan() = default;

template <class T>
absl::StatusOr<ColumnPlan<T>> ColumnPlan<T>::Create(int64_t n) {
  auto t = std::make_unique<internal::ColumnPlanTables<T>>();
  t->n = n;
  if (n <= 1 || n > kMaxSize || !internal::IsSmooth(n)) {
    absl::StatusOr<Plan<T>> plan = Plan<T>::Create(n);
    if (!plan.ok()) return plan.status();
    t->l2_bound = plan->L2ErrorBound();
    t->path_bound = plan->PathErrorBound();
    t->single = *std::move(plan);
    return ColumnPlan(std::move(t));
  }
  internal::FillRoots(&t->roots);
  if (!internal::MakeColumn(n, &t->column)) return internal::NoMemory(n);
  std::vector<int> radices;
  for (const internal::Step& step : t->column.steps) radices.push_back(step.radix);
  const internal::Bounds bounds = internal::BoundsOf<T>(radices, 0);
  t->l2_bound = bounds.l2;
  t->path_bound = bounds.path;
  return ColumnPlan(std::move(t));
}

template <class T>
int64_t ColumnPlan<T>::size() const {
  return tables_->n;
}

template <class T>
int64_t ColumnPlan<T>::scratch_size(int threads) const {
  ASSAY_CHECK(threads >= 1);
  return threads * ThreadScratch(*tables_);
}

template <class T>
double ColumnPlan<T>::L2ErrorBound() const {
  return tables_->l2_bound;
}

template <class T>
double ColumnPlan<T>::PathErrorBound() const {
  return tables_->path_bound;
}

template <class T>
absl::Status ColumnPlan<T>::Run(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                                int64_t columns, std::span<T> scratch, bool backward,
                                ThreadPool* pool) const {
  const internal::ColumnPlanTables<T>& t = *tables_;
  if (columns < 0 || columns > kMaxSize / t.n) {
    return absl::InvalidArgumentError(absl::StrCat("fft: ", columns, " columns of ", t.n,
                                                   " elements, expected 0 to ", kMaxSize / t.n));
  }
  const int threads = pool == nullptr ? 1 : pool->threads();
  absl::Status status = internal::CheckBuffers(
      "fft", {in.data(), in.size(), sizeof(in[0]), t.n * columns},
      {out.data(), out.size(), sizeof(out[0]), t.n * columns},
      {scratch.data(), scratch.size(), sizeof(T), scratch_size(threads)}, true);
  if (!status.ok() || columns == 0) return status;
  const T* x = reinterpret_cast<const T*>(in.data());
  T* y = reinterpret_cast<T*>(out.data());
  const int64_t lanes = LanesFor<T>(columns);
  auto block = [&](int64_t b, T* own) {
    const int64_t begin = b * lanes, count = std::min(lanes, columns - begin);
    if (t.single.has_value()) {
      RunSingly(t, x, y, columns, begin, count, own, backward);
    } else {
      RunBlock(t, x, y, columns, begin, count, lanes, own, backward);
    }
  };
  const int64_t blocks = internal::BlockCount(columns, static_cast<int>(lanes));
  if (threads == 1) {
    for (int64_t b = 0; b < blocks; ++b) block(b, scratch.data());
    return status;
  }
  internal::Borrowed<T> buffers(scratch.data(), ThreadScratch(t), threads);
  pool->ParallelFor(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) buffers.With([&](T* own) { block(b, own); });
  });
  return status;
}

template <class T>
absl::Status ColumnPlan<T>::Forward(std::span<const std::complex<T>> in,
                                    std::span<std::complex<T>> out, int64_t columns,
                                    std::span<T> scratch, ThreadPool* pool) const {
  return Run(in, out, columns, scratch, false, pool);
}

template <class T>
absl::Status ColumnPlan<T>::Backward(std::span<const std::complex<T>> in,
                                     std::span<std::complex<T>> out, int64_t columns,
                                     std::span<T> scratch, ThreadPool* pool) const {
  return Run(in, out, columns, scratch, true, pool);
}

template class ColumnPlan<float>;
template class ColumnPlan<double>;

}  // namespace assay::fft
