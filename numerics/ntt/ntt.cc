// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/ntt.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/ntt/internal/transform.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt {
namespace {

bool IsPowerOfTwo(int64_t n) { return n >= 1 && (n & (n - 1)) == 0; }

int Log2(int64_t n) { return __builtin_ctzll(static_cast<uint64_t>(n)); }

absl::Status CheckResidues(std::span<const uint32_t> x, uint32_t p) {
  if (internal::Largest(x.data(), x.size()) < p) return absl::OkStatus();
  size_t i = 0;
  while (x[i] < p) ++i;
  return absl::OutOfRangeError(
      absl::StrCat("ntt: element ", i, " is ", x[i], ", expected a residue below ", p));
}

absl::Status CheckOverlap(std::span<const uint32_t> in, std::span<uint32_t> out) {
  const std::less<const uint32_t*> before;
  if (in.data() == out.data() || in.empty() || !before(in.data(), out.data() + out.size()) ||
      !before(out.data(), in.data() + in.size())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "ntt: input and output overlap in part, expected the same memory or none in common");
}

}  // namespace

absl::StatusOr<Plan> Plan::Create(uint32_t p, int64_t max_size) {
  if (p < 3 || p >= (uint32_t{1} << 31) || !IsPrime(p)) {
    return absl::InvalidArgumentError(
        absl::StrCat("ntt: modulus ", p, ", expected an odd prime below 2^31"));
  }
  const int twos = __builtin_ctz(p - 1);
  if (!IsPowerOfTwo(max_size) || max_size > int64_t{1} << twos) {
    return absl::InvalidArgumentError(absl::StrCat("ntt: length ", max_size,
                                                   ", expected a power of two up to 2^", twos,
                                                   ", which is what ", p, " - 1 has"));
  }
  absl::StatusOr<internal::Transform> transform =
      internal::Transform::Create(p, PrimitiveRoot(p), Log2(max_size));
  if (!transform.ok()) return transform.status();
  return Plan(std::make_unique<const internal::Transform>(*std::move(transform)));
}

Plan::Plan(std::unique_ptr<const internal::Transform> transform)
    : transform_(std::move(transform)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

uint32_t Plan::modulus() const { return transform_->modulus(); }
int64_t Plan::max_size() const { return int64_t{1} << transform_->max_log(); }

uint32_t Plan::Root(int64_t n) const {
  ASSAY_CHECK(IsPowerOfTwo(n) && (modulus() - 1) % n == 0);
  return transform_->RootOfOrder(Log2(n));
}

int64_t Plan::Frequency(int64_t n, int64_t i) {
  ASSAY_CHECK(IsPowerOfTwo(n) && 0 <= i && i < n);
  constexpr int64_t kLeaf = static_cast<int64_t>(internal::kLeaf);
  if (n >= kLeaf) i = (i & -kLeaf) | (i & 15) << 4 | (i >> 4 & 15);
  int64_t reversed = 0;
  for (; n > 1; n /= 2, i /= 2) reversed = 2 * reversed + i % 2;
  return reversed;
}

namespace {

absl::Status Check(const internal::Transform& transform, std::span<const uint32_t> in,
                   std::span<uint32_t> out, Ring ring) {
  const int64_t n = static_cast<int64_t>(in.size());
  const int64_t most = (int64_t{1} << transform.max_log()) / (ring == Ring::kNegacyclic ? 2 : 1);
  if (!IsPowerOfTwo(n) || n > most || out.size() != in.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("ntt: input of ", n, " and output of ", out.size(),
                     " residues, expected the same power of two, at most ", most));
  }
  const absl::Status status = CheckOverlap(in, out);
  return status.ok() ? CheckResidues(in, transform.modulus()) : status;
}

uint64_t Node(Ring ring) { return ring == Ring::kCyclic ? 0 : 1; }

}  // namespace

absl::Status Plan::Forward(std::span<const uint32_t> in, std::span<uint32_t> out, Ring ring,
                           ThreadPool* pool) const {
  absl::Status status = Check(*transform_, in, out, ring);
  if (!status.ok()) return status;
  if (in.data() != out.data()) std::copy(in.begin(), in.end(), out.begin());
  transform_->Forward(out.data(), Node(ring), Log2(static_cast<int64_t>(in.size())), pool);
  return absl::OkStatus();
}

absl::Status Plan::Inverse(std::span<const uint32_t> in, std::span<uint32_t> out, Ring ring,
                           ThreadPool* pool) const {
  absl::Status status = Check(*transform_, in, out, ring);
  if (!status.ok()) return status;
  const int log = Log2(static_cast<int64_t>(in.size()));
  internal::Scale(transform_->tables(), in.data(), transform_->InverseScale(log), out.data(),
                  in.size());
  transform_->Backward(out.data(), Node(ring), log, pool);
  internal::Canonical(transform_->tables(), out.data(), out.data(), out.size());
  return absl::OkStatus();
}

absl::Status Plan::MultiplySpectra(std::span<const uint32_t> a, std::span<const uint32_t> b,
                                   std::span<uint32_t> out) const {
  if (a.size() != b.size() || a.size() != out.size()) {
    return absl::InvalidArgumentError(absl::StrCat("ntt: spectra of ", a.size(), " and ", b.size(),
                                                   " into ", out.size(),
                                                   ", expected three equal lengths"));
  }
  for (std::span<const uint32_t> x : {a, b}) {
    absl::Status status = CheckOverlap(x, out);
    if (status.ok()) status = CheckResidues(x, modulus());
    if (!status.ok()) return status;
  }
  const Montgomery& field = transform_->field();
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = field.Multiply(field.ToForm(a[i]), b[i]);
  }
  return absl::OkStatus();
}

}  // namespace assay::ntt
