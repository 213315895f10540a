// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/plan_cache.h"

#include <list>
#include <mutex>
#include <utility>

namespace assay::fft {
namespace {

// The plans of one kind, the one asked for last in front.
template <class P>
class Cache {
 public:
  absl::StatusOr<std::shared_ptr<const P>> Get(int64_t n) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto plan = plans_.begin(); plan != plans_.end(); ++plan) {
      if ((*plan)->size() != n) continue;
      plans_.splice(plans_.begin(), plans_, plan);
      return plans_.front();
    }
    absl::StatusOr<P> made = P::Create(n);
    if (!made.ok()) return made.status();
    auto shared = std::make_shared<const P>(*std::move(made));
    if (n > kCachedPoints) return shared;
    plans_.push_front(shared);
    points_ += n;
    while (points_ > kCachedPoints || plans_.size() > static_cast<size_t>(kCachedPlans)) {
      points_ -= plans_.back()->size();
      plans_.pop_back();
    }
    return shared;
  }

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<const P>> plans_;
  int64_t points_ = 0;
};

template <class P>
absl::StatusOr<std::shared_ptr<const P>> Shared(int64_t n) {
  // Never destroyed, so that destructors of static objects may still transform.
  static Cache<P>* const cache = new Cache<P>;
  return cache->Get(n);
}

}  // namespace

template <class T>
absl::StatusOr<std::shared_ptr<const Plan<T>>> SharedPlan(int64_t n) {
  return Shared<Plan<T>>(n);
}

template <class T>
absl::StatusOr<std::shared_ptr<const RealPlan<T>>> SharedRealPlan(int64_t n) {
  return Shared<RealPlan<T>>(n);
}

template absl::StatusOr<std::shared_ptr<const Plan<float>>> SharedPlan(int64_t);
template absl::StatusOr<std::shared_ptr<const Plan<double>>> SharedPlan(int64_t);
template absl::StatusOr<std::shared_ptr<const RealPlan<float>>> SharedRealPlan(int64_t);
template absl::StatusOr<std::shared_ptr<const RealPlan<double>>> SharedRealPlan(int64_t);

}  // namespace assay::fft
