// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/polynomial.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/ntt/internal/convolution.h"
#include "numerics/ntt/modular.h"

namespace assay::ntt {
namespace {

// The shorter factor's length up to which the schoolbook wins; measured, see peers_benchmark.
constexpr int64_t kSchoolbook = 36;
constexpr int64_t kSchoolbookCrt = 56;

// Two products at a time are added to a sum below `turn`, the largest multiple of m in half the
// range of Wide: it stays in range, and one subtraction brings it back.
template <class Wide>
void Schoolbook(std::span<const uint64_t> a, std::span<const uint64_t> b, uint64_t m,
                std::span<uint64_t> out) {
  const Wide half = Wide{1} << (8 * sizeof(Wide) - 1);
  const Wide turn = half - half % m;
  for (size_t k = 0; k < out.size(); ++k) {
    const size_t first = k < b.size() ? 0 : k - b.size() + 1, last = std::min(k, a.size() - 1);
    Wide sum = 0;
    size_t j = first;
    for (; j + 1 <= last; j += 2) {
      sum += static_cast<Wide>(a[j]) * b[k - j] + static_cast<Wide>(a[j + 1]) * b[k - j - 1];
      sum = sum >= turn ? sum - turn : sum;
    }
    if (j == last) sum += static_cast<Wide>(a[j]) * b[k - j];
    out[k] = static_cast<uint64_t>(sum % m);
  }
}

absl::Status CheckModulus(uint64_t m) {
  if (1 <= m && m <= kMaxModulus) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("multiply: modulus ", m, ", expected one from 1 to 2^63"));
}

absl::Status CheckOperands(std::span<const uint64_t> a, std::span<const uint64_t> b, uint64_t m,
                           int64_t max_length) {
  // Sums of lengths do not overflow: memory holds both.
  if (a.empty() || b.empty() || a.size() + b.size() - 1 > static_cast<uint64_t>(max_length)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "multiply: factors of ", a.size(), " and ", b.size(),
        " coefficients, expected at least one each and at most ", max_length, " in the product"));
  }
  for (std::span<const uint64_t> x : {a, b}) {
    if (internal::AllBelow(x.data(), x.size(), m)) continue;
    const auto bad = std::find_if(x.begin(), x.end(), [m](uint64_t v) { return v >= m; });
    return absl::OutOfRangeError(absl::StrCat("multiply: coefficient ", bad - x.begin(), " is ",
                                              *bad, ", expected residues below ", m));
  }
  return absl::OkStatus();
}

bool Overlap(std::span<const uint64_t> x, std::span<const uint64_t> y) {
  const std::less<const uint64_t*> before;
  return before(x.data(), y.data() + y.size()) && before(y.data(), x.data() + x.size());
}

}  // namespace

Multiplier::Multiplier(uint64_t modulus, int64_t max_length)
    : modulus_(modulus), max_length_(max_length) {}
Multiplier::Multiplier(Multiplier&&) noexcept = default;
Multiplier& Multiplier::operator=(Multiplier&&) noexcept = default;
Multiplier::~Multiplier() = default;

absl::StatusOr<Multiplier> Multiplier::Create(uint64_t modulus, int64_t max_length) {
  absl::Status status = CheckModulus(modulus);
  if (!status.ok()) return status;
  if (max_length < 1 || max_length > kMaxProductLength) {
    return absl::InvalidArgumentError(absl::StrCat(
        "multiply: products of ", max_length, " coefficients, expected 1 to ", kMaxProductLength));
  }
  Multiplier result(modulus, max_length);
  const size_t length = static_cast<size_t>(max_length);
  const int log = internal::LogFor(length);
  result.itself_ = modulus % 2 == 1 && modulus < (uint64_t{1} << 31) &&
                   (modulus - 1) % (uint64_t{1} << log) == 0 && IsPrime(modulus);
  const int64_t middle = (max_length + 1) / 2;
  const int primes = result.PrimesFor(middle, middle);
  if (primes == 0) return result;
  if (result.itself_) {
    const uint32_t p = static_cast<uint32_t>(modulus);
    absl::StatusOr<internal::Transform> t = internal::Transform::Create(p, PrimitiveRoot(p), log);
    if (!t.ok()) return t.status();
    result.transforms_ = std::make_unique<const internal::TransformSet>(*std::move(t));
  } else {
    absl::StatusOr<internal::TransformSet> t = internal::TransformSet::Create(primes, length);
    if (!t.ok()) return t.status();
    result.transforms_ = std::make_unique<const internal::TransformSet>(*std::move(t));
  }
  return result;
}

int Multiplier::PrimesFor(int64_t n, int64_t k) const {
  const int64_t shorter = std::min(n, k);
  if (modulus_ == 1 || shorter <= (itself_ ? kSchoolbook : kSchoolbookCrt)) return 0;
  if (itself_) return 1;
  const double largest = static_cast<double>(modulus_ - 1);
  return internal::PrimesAbove(largest * largest * static_cast<double>(shorter));
}

absl::Status Multiplier::Multiply(std::span<const uint64_t> a, std::span<const uint64_t> b,
                                  std::span<uint64_t> out, ThreadPool* pool) const {
  absl::Status status = CheckOperands(a, b, modulus_, max_length_);
  if (!status.ok()) return status;
  if (out.size() != a.size() + b.size() - 1 || Overlap(a, out) || Overlap(b, out)) {
    return absl::InvalidArgumentError(
        absl::StrCat("multiply: room for ", out.size(), " coefficients, expected ",
                     a.size() + b.size() - 1, " apart from the factors"));
  }
  const uint64_t m = modulus_;
  const int primes = PrimesFor(static_cast<int64_t>(a.size()), static_cast<int64_t>(b.size()));
  if (primes == 0) {
    if (m <= uint64_t{1} << 31) {
      Schoolbook<uint64_t>(a, b, m, out);
    } else {
      Schoolbook<UInt128>(a, b, m, out);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<internal::Convolution> c =
      internal::Convolution::Create(a.size(), b.size(), primes);
  if (!c.ok()) return c.status();
  const auto load = [&](std::span<const uint64_t> x) {
    return [&, x](const internal::Transform& t, uint32_t* to) {
      internal::ForRange(pool, x.size(), [&](size_t begin, size_t end) {
        if (itself_ || m <= t.modulus()) {
          internal::Pack(x.data() + begin, end - begin, to + begin);
        } else {
          internal::Reduce(t.tables(), x.data() + begin, false, end - begin, to + begin);
        }
      });
    };
  };
  const auto load_a = load(a), load_b = load(b);
  const std::span<const internal::Transform> transforms =
      transforms_->all().first(static_cast<size_t>(primes));
  c->Run(transforms, load_a, load_b, a.data() == b.data() && a.size() == b.size(), pool);

  // The weight of each digit of the mixed radix, modulo m.
  std::array<uint64_t, internal::kPrimes> weight = {1 % m};
  for (int i = 1; i < primes; ++i) {
    weight[i] = MultiplyMod(weight[i - 1], internal::kPrime[i - 1], m);
  }
  uint32_t weights[internal::kPrimes];
  std::copy(weight.begin(), weight.end(), weights);
  internal::ForRange(pool, out.size(), [&](size_t begin, size_t end) {
    const auto rows = c->Rows(begin);
    const size_t n = end - begin;
    uint64_t* const to = out.data() + begin;
    if (itself_) {
      internal::Canonical(transforms[0].tables(), rows[0], rows[0], n);
      internal::Unpack(rows[0], n, to);
      return;
    }
    internal::Garner(rows.data(), primes, n);
    if (m < uint64_t{1} << 31) {
      internal::WeightedSum(rows.data(), primes, weights, static_cast<uint32_t>(m), n, to);
      return;
    }
    for (size_t k = 0; k < n; ++k) to[k] = rows[0][k];  // below 2^30, so below m
    for (int i = 1; i < primes; ++i) {
      const Shoup times(weight[i], m);
      for (size_t k = 0; k < n; ++k) {
        const uint64_t sum = to[k] + times(rows[i][k]);
        to[k] = sum >= m ? sum - m : sum;
      }
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> MultiplyModulo(std::span<const uint64_t> a,
                                                     std::span<const uint64_t> b, uint64_t modulus,
                                                     ThreadPool* pool) {
  absl::Status status = CheckModulus(modulus);
  if (status.ok()) status = CheckOperands(a, b, modulus, kMaxProductLength);
  if (!status.ok()) return status;
  const size_t length = a.size() + b.size() - 1;
  absl::StatusOr<Multiplier> multiplier = Multiplier::Create(modulus, static_cast<int64_t>(length));
  if (!multiplier.ok()) return multiplier.status();
  std::vector<uint64_t> out(length);
  status = multiplier->Multiply(a, b, out, pool);
  if (!status.ok()) return status;
  return out;
}

absl::StatusOr<std::vector<uint64_t>> MultiplyModuloReference(std::span<const uint64_t> a,
                                                              std::span<const uint64_t> b,
                                                              uint64_t modulus) {
  absl::Status status = CheckModulus(modulus);
  if (status.ok()) status = CheckOperands(a, b, modulus, kMaxProductLength);
  if (!status.ok()) return status;
  std::vector<uint64_t> out(a.size() + b.size() - 1, 0);
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      // m <= 2^63: the sum does not wrap.
      out[i + j] = (out[i + j] + MultiplyMod(a[i], b[j], modulus)) % modulus;
    }
  }
  return out;
}

}  // namespace assay::ntt
