// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/fast.h"

#include "numerics/fft/internal/columns.h"

namespace assay::fft {

template <class T>
absl::StatusOr<Plan<T>> CreateFastPlan(int64_t n) {
  return Plan<T>::CreateWith(n, internal::fused::GetSweeps(T{}));
}

template <class T>
absl::StatusOr<RealPlan<T>> CreateFastRealPlan(int64_t n) {
  return RealPlan<T>::CreateWith(n, internal::fused::GetSweeps(T{}));
}

template absl::StatusOr<Plan<float>> CreateFastPlan(int64_t);
template absl::StatusOr<Plan<double>> CreateFastPlan(int64_t);
template absl::StatusOr<RealPlan<float>> CreateFastRealPlan(int64_t);
template absl::StatusOr<RealPlan<double>> CreateFastRealPlan(int64_t);

}  // namespace assay::fft
