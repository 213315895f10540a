// SPDX-License-Identifier: Apache-2.0
//
// column_plan.h: the transforms of all columns of a row-major matrix, without transposing it.
//
//   auto plan = assay::fft::ColumnPlan<float>::Create(480);
//   std::vector<float> scratch(plan->scratch_size());
//   absl::Status s = plan->Forward(image, spectra, 640, scratch);   // 480 rows of 640
//
// Conventions, arithmetic and special values are those of fft.h. The bits of a column depend on its
// elements and their number alone, not on its place, the number of columns or threads; they are not
// those of Plan, which takes its steps in another order.
#ifndef ASSAY_NUMERICS_FFT_COLUMN_PLAN_H_
#define ASSAY_NUMERICS_FFT_COLUMN_PLAN_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"

namespace assay::fft {

namespace internal {
template <class T>
struct ColumnPlanTables;
}

// Transforms of n elements that are a row apart; T is float or double. Immutable: threads may share
// it.
//
// Method: blocks of up to 32 (double) or 64 (float) columns, in each of which every vector runs
// across columns; lengths with a prime factor above 13 one column at a time, by Plan. Cost: that of
// `columns` transforms of Plan, one read and one write of the matrix.
template <class T>
class ColumnPlan {
 public:
  // Fails as Plan::Create.
  static absl::StatusOr<ColumnPlan> Create(int64_t n);

  ColumnPlan(ColumnPlan&&) noexcept;
  ColumnPlan& operator=(ColumnPlan&&) noexcept;
  ~ColumnPlan();

  int64_t size() const;                         // n, the rows
  int64_t scratch_size(int threads = 1) const;  // T

  //   in, out: [n, columns], columns >= 0. The same memory, or disjoint.
  //   scratch: [>= scratch_size(threads)], overlapping neither. pool: null for the caller alone.
  // No allocation on one thread. Fails (kInvalidArgument) on a wrong size, a short scratch or a
  // partial overlap; out is then untouched.
  absl::Status Forward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                       int64_t columns, std::span<T> scratch, ThreadPool* pool = nullptr) const;
  absl::Status Backward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                        int64_t columns, std::span<T> scratch, ThreadPool* pool = nullptr) const;

  // For each column, as Plan's.
  double L2ErrorBound() const;
  double PathErrorBound() const;

 private:
  explicit ColumnPlan(std::unique_ptr<const internal::ColumnPlanTables<T>> tables);
  absl::Status Run(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                   int64_t columns, std::span<T> scratch, bool backward, ThreadPool* pool) const;
  std::unique_ptr<const internal::ColumnPlanTables<T>> tables_;
};

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_COLUMN_PLAN_H_
