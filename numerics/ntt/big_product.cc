// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/big_product.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/ntt/internal/composer.h"
#include "numerics/ntt/internal/convolution.h"
#include "numerics/ntt/internal/limbs.h"

namespace assay::ntt {
namespace {

using Limbs = std::span<const uint64_t>;

// The shorter factor's limbs from which the transforms win; measured.
constexpr size_t kTransform = 160;

absl::Status CheckLength(size_t n, size_t m) {
  if (n + m <= static_cast<size_t>(kMaxNaturalLimbs)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("multiply: numbers of ", n, " and ", m,
                                                 " limbs, expected at most ", kMaxNaturalLimbs,
                                                 " together"));
}

// Pieces of the longer factor as long as the shorter one, by Karatsuba. a.size() >= b.size() >= 1.
void MultiplyPieces(Limbs a, Limbs b, uint64_t* out) {
  const size_t m = b.size();
  if (m < internal::kKaratsuba) {
    return internal::MultiplySchoolbook(a.data(), a.size(), b.data(), m, out);
  }
  std::vector<uint64_t> scratch(6 * m + 64);
  uint64_t* const piece = scratch.data() + 4 * m + 64;
  std::fill(out, out + a.size() + m, 0);
  size_t at = 0;
  for (; at + m <= a.size(); at += m) {
    internal::MultiplyKaratsuba(a.data() + at, b.data(), m, piece, scratch.data());
    internal::AddTo(out + at, a.size() + m - at, piece, 2 * m);
  }
  if (at == a.size()) return;
  const size_t rest = a.size() - at;
  std::vector<uint64_t> last(rest + m);
  MultiplyPieces(b, a.subspan(at), last.data());
  internal::AddTo(out + at, rest + m, last.data(), rest + m);
}

absl::Status MultiplyByTransforms(Limbs a, Limbs b, ThreadPool* pool, uint64_t* out) {
  const size_t length = a.size() + b.size() - 1;
  const double limb = 0x1p64;
  const int primes =
      internal::PrimesAbove(limb * limb * static_cast<double>(std::min(a.size(), b.size())));
  absl::StatusOr<internal::TransformSet> transforms =
      internal::TransformSet::Create(primes, length);
  if (!transforms.ok()) return transforms.status();
  absl::StatusOr<internal::Convolution> c =
      internal::Convolution::Create(a.size(), b.size(), primes);
  if (!c.ok()) return c.status();
  const auto load = [pool](Limbs x) {
    return [pool, x](const internal::Transform& t, uint32_t* to) {
      internal::ForRange(pool, x.size(), [&](size_t begin, size_t end) {
        internal::Reduce(t.tables(), x.data() + begin, false, end - begin, to + begin);
      });
    };
  };
  const auto load_a = load(a), load_b = load(b);
  c->Run(transforms->all(), load_a, load_b, a.data() == b.data() && a.size() == b.size(), pool);
  internal::ForRange(pool, length, [&](size_t begin, size_t end) {
    internal::Garner(c->Rows(begin).data(), primes, end - begin);
  });
  // A coefficient is below 2^149, so what it carries over is below 2^86.
  const internal::Composer compose(primes);
  const auto rows = c->Rows(0);
  internal::Wide carry;
  for (size_t k = 0; k < length; ++k) {
    const internal::Wide x = compose.FromZero(rows, k);
    const uint64_t low = carry.low + x.low;
    out[k] = low;
    const Int128 high = carry.high + x.high + (low < x.low ? 1 : 0);
    carry = {high >> 64, static_cast<uint64_t>(high)};
  }
  out[length] = carry.low;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Natural> Multiply(std::span<const uint64_t> a, std::span<const uint64_t> b,
                                 ThreadPool* pool) {
  Limbs x = internal::Trimmed(a), y = internal::Trimmed(b);
  absl::Status status = CheckLength(x.size(), y.size());
  if (!status.ok()) return status;
  if (x.empty() || y.empty()) return Natural();
  if (x.size() < y.size()) std::swap(x, y);
  Natural out(x.size() + y.size());
  if (y.size() < kTransform) {
    MultiplyPieces(x, y, out.data());
  } else {
    status = MultiplyByTransforms(x, y, pool, out.data());
    if (!status.ok()) return status;
  }
  internal::Trim(out);
  return out;
}

absl::StatusOr<Natural> Power(uint64_t base, uint64_t exponent, ThreadPool* pool) {
  Natural result = {1};
  if (exponent == 0) return result;
  if (base == 0) return Natural();
  if (base == 1) return result;
  // At least (bits - 1) exponent bits: refused here rather than after minutes.
  const double bits = 63 - __builtin_clzll(base);
  if (bits * static_cast<double>(exponent) / 64 > static_cast<double>(kMaxNaturalLimbs)) {
    return absl::InvalidArgumentError(absl::StrCat("power: ", base, "^", exponent,
                                                   " has more than ", kMaxNaturalLimbs, " limbs"));
  }
  for (int bit = 63 - __builtin_clzll(exponent); bit >= 0; --bit) {
    absl::StatusOr<Natural> square = Multiply(result, result, pool);
    if (!square.ok()) return square;
    result = *std::move(square);
    if (exponent >> bit & 1) {
      absl::StatusOr<Natural> times = Multiply(result, Limbs(&base, 1), pool);
      if (!times.ok()) return times;
      result = *std::move(times);
    }
  }
  return result;
}

namespace {

// The product of first..last.
absl::StatusOr<Natural> ProductOf(uint64_t first, uint64_t last, ThreadPool* pool) {
  if (last - first < 16) {
    Natural result = {1};
    for (uint64_t i = first; i <= last; ++i) {
      absl::StatusOr<Natural> next = Multiply(result, Limbs(&i, 1), pool);
      if (!next.ok()) return next;
      result = *std::move(next);
    }
    return result;
  }
  const uint64_t middle = first + (last - first) / 2;
  absl::StatusOr<Natural> low = ProductOf(first, middle, pool);
  if (!low.ok()) return low;
  absl::StatusOr<Natural> high = ProductOf(middle + 1, last, pool);
  if (!high.ok()) return high;
  return Multiply(*low, *high, pool);
}

}  // namespace

absl::StatusOr<Natural> Factorial(uint64_t n, ThreadPool* pool) {
  // n! > (n / e)^n, so from there on each factor adds 23 bits.
  if (n > static_cast<uint64_t>(4 * kMaxNaturalLimbs)) {
    return absl::InvalidArgumentError(
        absl::StrCat("factorial: ", n, "! has more than ", kMaxNaturalLimbs, " limbs"));
  }
  if (n < 2) return Natural{1};
  return ProductOf(1, n, pool);
}

}  // namespace assay::ntt
