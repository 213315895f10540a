// SPDX-License-Identifier: Apache-2.0
//
// multi.h: Fourier transforms over several axes of a row-major array.
//
//   auto plan = assay::fft::MultiPlan<double>::Create({{1080, 1920}}, 2);      // both axes
//   auto batch = assay::fft::MultiPlan<double>::Create({{64, 256, 256}}, 2);   // 64 images
//   std::vector<double> scratch(plan->scratch_size());
//   absl::Status status = plan->Forward(image, spectrum, scratch);
//
// The last `axes` axes of the shape are transformed, those before them only count. A transform over
// axes of n1, n2, ... elements is one of fft.h along each of them, the last axis first (rows by
// Plan, the others by ColumnPlan):
//   X[k1, k2, ...] = sum over j1, j2, ... of x[j1, j2, ...] w1^(j1 k1) w2^(j2 k2) ...
// Conventions are those of fft.h: no factor forward and backward, Inverse divides by n1 n2 ... .
//
// Exact profile: the bits depend on the shape and the input alone, not on the number of threads.
// Every function takes a pool; nullptr works on the caller alone.
#ifndef ASSAY_NUMERICS_FFT_MULTI_H_
#define ASSAY_NUMERICS_FFT_MULTI_H_

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/column_plan.h"
#include "numerics/fft/fft.h"

namespace assay::fft {

// A complex transform of one shape; T is float or double. Immutable: threads may share it.
//
// Cost: about 4.25 n log2 n flop for n transformed elements, and for each axis one read and one
//   write of the array.
template <class T>
class MultiPlan {
 public:
  // shape: extents, slowest first, each >= 1. axes: how many of the last are transformed.
  // Fails: kInvalidArgument, with the shape, if an extent is below 1, the product is above kMaxSize
  //   or axes is not in [1, shape.size()]; kResourceExhausted if a table does not fit.
  static absl::StatusOr<MultiPlan> Create(std::span<const int64_t> shape, int axes);

  int64_t size() const { return size_; }  // elements of the array, batches included

  // T that the scratch must hold for a pool of so many threads (1 for nullptr).
  int64_t scratch_size(int threads = 1) const;

  //   in, out: [shape]. The same memory, or disjoint.
  //   scratch: [>= scratch_size(pool->threads())], overlapping neither.
  // No allocation. Fails (kInvalidArgument) on a wrong size, a short scratch or a partial overlap;
  // out is then untouched.
  absl::Status Forward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                       std::span<T> scratch, ThreadPool* pool = nullptr) const;
  absl::Status Backward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                        std::span<T> scratch, ThreadPool* pool = nullptr) const;
  // Error: that of Backward, plus one rounding of each component.
  absl::Status Inverse(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                       std::span<T> scratch, ThreadPool* pool = nullptr) const;

  // |computed - true|_2 <= L2ErrorBound() |true|_2 for each transform of a batch: the axes' bounds,
  // 1 + e = (1 + e1) (1 + e2) ..., since each is a multiple of a unitary map. As good as proved
  // where Plan's is.
  double L2ErrorBound() const { return l2_bound_; }
  // |computed[k] - true[k]| <= PathErrorBound() * sum over j of |in[j]|, likewise.
  double PathErrorBound() const { return path_bound_; }

 private:
  template <class>
  friend class MultiRealPlan;

  // An axis but the last: `outer` matrices [n, inner] whose columns it transforms.
  struct Axis {
    int64_t outer, inner;
    size_t plan;  // into columns_
  };

  MultiPlan() = default;
  // All axes of `shape` (the row's length for its last extent) that are transformed, but the last.
  absl::Status AddColumns(std::span<const int64_t> shape, int axes);
  int64_t ColumnScratch(int threads) const;
  // These axes, in place.
  void Columns(std::complex<T>* data, std::span<T> scratch, bool backward, ThreadPool* pool) const;
  absl::Status Run(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                   std::span<T> scratch, bool backward, ThreadPool* pool) const;

  int64_t size_ = 0;
  int64_t transformed_ = 1;  // n1 n2 ..., what Inverse divides by
  std::vector<Axis> axes_;   // slowest first
  std::vector<ColumnPlan<T>> columns_;
  std::optional<Plan<T>> rows_;
  double l2_bound_ = 0, path_bound_ = 0;
};

// A transform of real samples whose last axis has n elements, and its n/2 + 1 coefficients along
// that axis; the others are conjugates: X[n1 - k1, ..., n - k] = conj(X[k1, ..., k]).
//
// Method: RealPlan along the last axis, complex transforms along the others. Cost: about half of
// MultiPlan's for an even n.
template <class T>
class MultiRealPlan {
 public:
  // As MultiPlan::Create; the shape is that of the samples.
  static absl::StatusOr<MultiRealPlan> Create(std::span<const int64_t> shape, int axes);

  int64_t size() const { return rows_ * real_.size(); }                    // samples
  int64_t spectrum_size() const { return rows_ * real_.spectrum_size(); }  // coefficients
  int64_t scratch_size(int threads = 1) const;                             // T

  //   in: [.., n] real. out: [.., n/2 + 1]. Disjoint. scratch, failures as MultiPlan.
  absl::Status Forward(std::span<const T> in, std::span<std::complex<T>> out, std::span<T> scratch,
                       ThreadPool* pool = nullptr) const;
  //   spectrum: [.., n/2 + 1], overwritten: the first axes are transformed where it lies. Of each
  //   row the imaginary parts that a real signal cannot have are ignored, once the other axes are
  //   done (see RealPlan). out: [.., n] real. Disjoint.
  absl::Status Backward(std::span<std::complex<T>> spectrum, std::span<T> out, std::span<T> scratch,
                        ThreadPool* pool = nullptr) const;
  absl::Status Inverse(std::span<std::complex<T>> spectrum, std::span<T> out, std::span<T> scratch,
                       ThreadPool* pool = nullptr) const;

  // The same in place. Each row of n/2 + 1 complex numbers holds n samples in its first n numbers
  // T, then two or one that nobody reads.
  absl::Status ForwardInPlace(std::span<std::complex<T>> data, std::span<T> scratch,
                              ThreadPool* pool = nullptr) const;
  absl::Status BackwardInPlace(std::span<std::complex<T>> data, std::span<T> scratch,
                               ThreadPool* pool = nullptr) const;

  // As MultiPlan's; the 2-norm is that of the whole spectrum, conjugates included.
  double L2ErrorBound() const;
  double PathErrorBound() const;

 private:
  MultiRealPlan(RealPlan<T> real, MultiPlan<T> columns, int64_t rows)
      : real_(std::move(real)), columns_(std::move(columns)), rows_(rows) {}
  int64_t RowScratch() const { return real_.scratch_size() + real_.size(); }
  template <class Body>
  void ForRows(std::span<T> scratch, ThreadPool* pool, Body body) const;

  RealPlan<T> real_;
  MultiPlan<T> columns_;  // the other axes, over rows of n/2 + 1
  int64_t rows_;          // rows of the last axis, batches included
};

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_MULTI_H_
