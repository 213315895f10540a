// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/fft.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/fft/internal/column_tables.h"
#include "numerics/fft/internal/plan_tables.h"
#include "numerics/fft/internal/pointwise.h"

namespace assay::fft {

template <class T>
std::complex<T> UnitRoot(int64_t k, int64_t n) {
  ASSAY_CHECK(n >= 1 && n <= 2 * kMaxSize);
  std::complex<T> root;
  internal::UnitRoots(k, 1, n, &root);
  return root;
}

int64_t GoodSize(int64_t n) {
  ASSAY_CHECK(n >= 1);
  // Cost of a length: it times the sum over its primes of additions a point (2: 4.2, 3: 8, 5: 13),
  // measured against each other; more where vectors are not filled, since 8 does not divide it.
  int64_t best = 0;
  double best_cost = 0;
  double fives_cost = 0;
  for (int64_t fives = 1; fives < 2 * n; fives *= 5, fives_cost += 13) {
    double threes_cost = fives_cost;
    for (int64_t threes = fives; threes < 2 * n; threes *= 3, threes_cost += 8) {
      double cost = threes_cost;
      for (int64_t size = threes; size < 2 * n; size *= 2, cost += 4.2) {
        if (size < n) continue;
        const double total = cost * static_cast<double>(size) * (size % 8 == 0 ? 1.0 : 1.5);
        if (best == 0 || total < best_cost || (total == best_cost && size < best)) {
          best = size;
          best_cost = total;
        }
      }
    }
  }
  return best;
}

template <class T>
Plan<T>::Plan(std::unique_ptr<const internal::PlanTables<T>> tables) : tables_(std::move(tables)) {}
template <class T>
Plan<T>::Plan(Plan&&) noexcept = default;
template <class T>
Plan<T>& Plan<T>::operator=(Plan&&) noexcept = default;
template <class T>
Plan<T>::~Plan() = default;

template <class T>
absl::StatusOr<Plan<T>> Plan<T>::Create(int64_t n) {
  return CreateWith(n, internal::GetSweeps(T{}));
}

template <class T>
absl::StatusOr<Plan<T>> Plan<T>::CreateWith(int64_t n, const internal::Sweeps<T>& sweeps) {
  if (n < 1 || n > kMaxSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("fft: a transform of length ", n, " was asked for, expected 1 to ", kMaxSize));
  }
  std::unique_ptr<internal::PlanTables<T>> tables = internal::MakeTables<T>(n, sweeps);
  if (tables == nullptr) return internal::NoMemory(n);
  return Plan(std::move(tables));
}

template <class T>
int64_t Plan<T>::size() const {
  return tables_->n;
}

template <class T>
int64_t Plan<T>::scratch_size(int threads) const {
  ASSAY_CHECK(threads >= 1);
  return threads == 1 ? tables_->scratch_size : internal::ScratchSize(*tables_, threads);
}

template <class T>
double Plan<T>::L2ErrorBound() const {
  return tables_->l2_bound;
}

template <class T>
double Plan<T>::PathErrorBound() const {
  return tables_->path_bound;
}

template <class T>
bool Plan<T>::uses_bluestein() const {
  return tables_->inner != nullptr;
}

template <class T>
std::string Plan<T>::Describe() const {
  return internal::Describe(*tables_);
}

namespace {

template <class T>
absl::Status Check(const Plan<T>& plan, std::span<const std::complex<T>> in,
                   std::span<std::complex<T>> out, std::span<T> scratch, ThreadPool* pool) {
  const int threads = pool == nullptr ? 1 : pool->threads();
  return internal::CheckBuffers(
      "fft", {in.data(), in.size(), sizeof(in[0]), plan.size()},
      {out.data(), out.size(), sizeof(out[0]), plan.size()},
      {scratch.data(), scratch.size(), sizeof(T), plan.scratch_size(threads)}, true);
}

// std::complex<T> is, by the standard, an array of two T.
template <class T>
const T* Parts(std::span<const std::complex<T>> x) {
  return reinterpret_cast<const T*>(x.data());
}
template <class T>
T* Parts(std::span<std::complex<T>> x) {
  return reinterpret_cast<T*>(x.data());
}

}  // namespace

template <class T>
absl::Status Plan<T>::Forward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                              std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status = Check(*this, in, out, scratch, pool);
  if (status.ok())
    internal::Transform(*tables_, Parts(in), Parts(out), scratch.data(), false, pool);
  return status;
}

template <class T>
absl::Status Plan<T>::Backward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                               std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status = Check(*this, in, out, scratch, pool);
  if (status.ok()) internal::Transform(*tables_, Parts(in), Parts(out), scratch.data(), true, pool);
  return status;
}

template <class T>
absl::Status Plan<T>::Inverse(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                              std::span<T> scratch, ThreadPool* pool) const {
  absl::Status status = Backward(in, out, scratch, pool);
  if (status.ok()) internal::Divide(Parts(out), 2 * size(), size());
  return status;
}

namespace {

template <class T>
absl::StatusOr<std::vector<std::complex<T>>> OneTransform(std::span<const std::complex<T>> x,
                                                          bool inverse) {
  absl::StatusOr<Plan<T>> plan = Plan<T>::Create(static_cast<int64_t>(x.size()));
  if (!plan.ok()) return plan.status();
  std::vector<std::complex<T>> y(x.size());
  std::vector<T> scratch(static_cast<size_t>(plan->scratch_size()));
  absl::Status status = inverse ? plan->Inverse(x, y, scratch) : plan->Forward(x, y, scratch);
  if (!status.ok()) return status;
  return y;
}

}  // namespace

template <class T>
absl::StatusOr<std::vector<std::complex<T>>> Forward(std::span<const std::complex<T>> x) {
  return OneTransform(x, false);
}

template <class T>
absl::StatusOr<std::vector<std::complex<T>>> Inverse(std::span<const std::complex<T>> x) {
  return OneTransform(x, true);
}

template class Plan<float>;
template class Plan<double>;
template std::complex<float> UnitRoot<float>(int64_t, int64_t);
template std::complex<double> UnitRoot<double>(int64_t, int64_t);
template absl::StatusOr<std::vector<std::complex<float>>> Forward(
    std::span<const std::complex<float>>);
template absl::StatusOr<std::vector<std::complex<double>>> Forward(
    std::span<const std::complex<double>>);
template absl::StatusOr<std::vector<std::complex<float>>> Inverse(
    std::span<const std::complex<float>>);
template absl::StatusOr<std::vector<std::complex<double>>> Inverse(
    std::span<const std::complex<double>>);

}  // namespace assay::fft
