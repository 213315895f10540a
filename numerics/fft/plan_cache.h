// SPDX-License-Identifier: Apache-2.0
//
// plan_cache.h: plans that are made once and shared, for callers who do not keep their own.
//
//   auto plan = assay::fft::SharedPlan<double>(1000);
//   if (!plan.ok()) return plan.status();
//   absl::Status s = (*plan)->Forward(signal, spectrum, scratch);
#ifndef ASSAY_NUMERICS_FFT_PLAN_CACHE_H_
#define ASSAY_NUMERICS_FFT_PLAN_CACHE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "numerics/fft/fft.h"

namespace assay::fft {

// The process's plan for n, made by the first who asks. Bits as those of any other plan of n.
// What was asked for last is kept: up to kCachedPlans plans of each kind and type, of kCachedPoints
// points together; a plan longer than that is made anew each time. A plan lives as long as somebody
// holds it. Any thread may call; one makes a plan at a time.
// Cost: some tens of nanoseconds where the plan is there. Fails as Create, and remembers no
// failure.
inline constexpr int kCachedPlans = 16;
inline constexpr int64_t kCachedPoints = int64_t{1} << 22;
template <class T>
absl::StatusOr<std::shared_ptr<const Plan<T>>> SharedPlan(int64_t n);
template <class T>
absl::StatusOr<std::shared_ptr<const RealPlan<T>>> SharedRealPlan(int64_t n);

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_PLAN_CACHE_H_
