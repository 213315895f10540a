// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/internal/convolution.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt::internal {
namespace {

constexpr std::array<uint32_t, kPrimes> PrimitiveRoots() {
  std::array<uint32_t, kPrimes> roots = {};
  for (int i = 0; i < kPrimes; ++i) roots[i] = PrimitiveRoot(kPrime[i]);
  return roots;
}
constexpr std::array<uint32_t, kPrimes> kPrimitiveRoot = PrimitiveRoots();
static_assert(IsPrime(kPrime[0]) && IsPrime(kPrime[1]) && IsPrime(kPrime[2]) &&
              IsPrime(kPrime[3]) && IsPrime(kPrime[4]) && IsPrime(kPrime[5]));

// Up to this length the tables cost more than a product: 190 KB for all six primes.
constexpr int kSharedLog = 12;

absl::StatusOr<std::vector<Transform>> Transforms(int count, int log) {
  std::vector<Transform> transforms;
  for (int i = 0; i < count; ++i) {
    absl::StatusOr<Transform> t = Transform::Create(kPrime[i], kPrimitiveRoot[i], log);
    if (!t.ok()) return t.status();
    transforms.push_back(*std::move(t));
  }
  return transforms;
}

}  // namespace

int LogFor(size_t length) {
  int log = kLeafLog;
  while (size_t{1} << log < length) ++log;
  return log;
}

absl::StatusOr<TransformSet> TransformSet::Create(int count, size_t length) {
  ASSAY_CHECK(1 <= count && count <= kPrimes && length <= kMaxLength);
  TransformSet set;
  const int log = LogFor(length);
  if (log <= kSharedLog) {
    static const absl::StatusOr<std::vector<Transform>> shared = Transforms(kPrimes, kSharedLog);
    if (!shared.ok()) return shared.status();
    set.all_ = std::span<const Transform>(*shared).first(static_cast<size_t>(count));
    return set;
  }
  absl::StatusOr<std::vector<Transform>> own = Transforms(count, log);
  if (!own.ok()) return own.status();
  set.own_ = *std::move(own);
  set.all_ = set.own_;
  return set;
}

TransformSet::TransformSet(Transform only) {
  own_.push_back(std::move(only));
  all_ = own_;
}

int PrimesAbove(double bound) {
  double product = 1 - 0x1p-40;
  int count = 0;
  while (count <= kPrimes && !(product > bound)) {
    if (count < kPrimes) product *= kPrime[count];
    ++count;
  }
  return std::max(count, 1);
}

void ForRange(ThreadPool* pool, size_t n, absl::FunctionRef<void(size_t, size_t)> body) {
  constexpr int64_t kBlock = 1 << 14;
  if (pool == nullptr || pool->threads() == 1 || n <= kBlock) return body(0, n);
  pool->ParallelFor(static_cast<int64_t>(n), kBlock, [&](int64_t begin, int64_t end) {
    body(static_cast<size_t>(begin), static_cast<size_t>(end));
  });
}

absl::StatusOr<Convolution> Convolution::Create(size_t n, size_t m, int rows) {
  Convolution c;
  c.n_ = n;
  c.m_ = m;
  c.rows_ = rows;
  c.log_ = LogFor(n + m - 1);
  if (!c.digits_.Allocate(static_cast<size_t>(rows) << c.log_) ||
      !c.other_.Allocate(size_t{1} << c.log_)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("ntt: no memory for ", rows, " products of ", n, " and ", m, " coefficients"));
  }
  return c;
}

void Convolution::Run(std::span<const Transform> transforms, Load load_a, Load load_b, bool square,
                      ThreadPool* pool) {
  ASSAY_CHECK_EQ(static_cast<int>(transforms.size()), rows_);
  const size_t granule = Transform::Granule(log_);
  const size_t out = (length() + granule - 1) / granule * granule;
  for (int i = 0; i < rows_; ++i) {
    const Transform& t = transforms[static_cast<size_t>(i)];
    uint32_t* const a = row(i);
    uint32_t* const b = square ? a : other_.data();
    load_a(t, a);
    t.ForwardTruncated(a, log_, n_, out, pool);
    if (!square) {
      load_b(t, b);
      t.ForwardTruncated(b, log_, m_, out, pool);
    }
    const uint32_t scale = t.MultiplyScale(log_);
    ForRange(pool, out, [&](size_t begin, size_t end) {
      Multiply(t.tables(), a + begin, b + begin, scale, end - begin);
    });
    t.BackwardTruncated(a, log_, out, pool);
  }
}

std::array<uint32_t*, kPrimes> Convolution::Rows(size_t at) const {
  std::array<uint32_t*, kPrimes> rows = {};
  for (int i = 0; i < rows_; ++i) rows[i] = row(i) + at;
  return rows;
}

}  // namespace assay::ntt::internal
