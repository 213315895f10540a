// SPDX-License-Identifier: Apache-2.0
#include "numerics/ntt/exact_product.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/ntt/internal/composer.h"
#include "numerics/ntt/internal/convolution.h"
#include "numerics/ntt/internal/rounded_fft.h"

namespace assay::ntt {
namespace {

// What the choice needs to know of an operand.
struct Shape {
  double largest = 0;  // |x|_inf
  double sum = 0;      // |x|_1, rounded upwards
  int bits = 0;        // of the widest number, without the sign
};

Shape Measure(std::span<const int64_t> x) {
  // |x| as x or -1 - x, which is one less for a negative x: added at the end.
  uint64_t all = 0, most = 0;
  UInt128 sum = 0;
  for (int64_t v : x) {
    const uint64_t size = static_cast<uint64_t>(v ^ (v >> 63)) + static_cast<uint64_t>(v < 0);
    all |= static_cast<uint64_t>(v ^ (v >> 63));
    most = std::max(most, size);
    sum += size;
  }
  Shape shape;
  shape.largest = static_cast<double>(most) * (1 + 0x1p-50);
  shape.sum = static_cast<double>(sum) * (1 + 0x1p-50);
  for (; all != 0; all >>= 1) ++shape.bits;
  return shape;
}

constexpr bool kIs64(int64_t) { return true; }
constexpr bool kIs64(Int128) { return false; }

template <class Integer>
absl::Status DoesNotFit(size_t k) {
  const int top = kIs64(Integer{0}) ? 63 : 127;
  return absl::OutOfRangeError(
      absl::StrCat("multiply: coefficient ", k, " of the product does not fit an integer of ",
                   top + 1, " bits; expected coefficients from -2^", top, " to 2^", top, " - 1"));
}

absl::Status CheckOperands(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (!a.empty() && !b.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("multiply: factors of ", a.size(), " and ",
                                                 b.size(),
                                                 " coefficients, expected at least one each"));
}

absl::Status NotProved(const char* route) {
  return absl::FailedPreconditionError(
      absl::StrCat("multiply: ", route,
                   " is not proved exact for these factors; leave the route open, or take the "
                   "schoolbook"));
}

// The value if it fits.
bool Narrow(internal::Wide x, int64_t* to) {
  *to = static_cast<int64_t>(x.low);
  return x.high == (*to < 0 ? -1 : 0);
}
bool Narrow(internal::Wide x, Int128* to) {
  *to = static_cast<Int128>(static_cast<UInt128>(x.high) << 64 | x.low);
  return x.high == static_cast<int64_t>(x.high);
}

// The sums of all n m products, in 192 bits.
template <class Integer>
absl::Status SchoolbookWide(std::span<const int64_t> a, std::span<const int64_t> b, Integer* out) {
  for (size_t k = 0; k + 1 < a.size() + b.size(); ++k) {
    internal::Wide sum;
    for (size_t j = k < b.size() ? 0 : k - b.size() + 1; j <= k && j < a.size(); ++j) {
      internal::Add(sum, static_cast<Int128>(a[j]) * b[k - j]);
    }
    if (!Narrow(sum, out + k)) return DoesNotFit<Integer>(k);
  }
  return absl::OkStatus();
}

template <class Integer>
absl::Status Schoolbook(std::span<const int64_t> a, std::span<const int64_t> b, double bound,
                        Integer* out) {
  if (!(bound < 0x1p63)) return SchoolbookWide(a, b, out);
  // No sum on the way leaves 64 bits. Row by row, so that the inner loop is contiguous.
  if (a.size() > b.size()) std::swap(a, b);
  std::fill(out, out + a.size() + b.size() - 1, Integer{0});
  for (size_t j = 0; j < a.size(); ++j) {
    for (size_t i = 0; i < b.size(); ++i) out[j + i] += a[j] * b[i];
  }
  return absl::OkStatus();
}

template <class Integer>
absl::Status MultiplyByNtt(std::span<const int64_t> a, std::span<const int64_t> b, int primes,
                           ThreadPool* pool, std::vector<Integer>& out) {
  const size_t length = a.size() + b.size() - 1;
  absl::StatusOr<internal::TransformSet> transforms =
      internal::TransformSet::Create(primes, length);
  if (!transforms.ok()) return transforms.status();
  absl::StatusOr<internal::Convolution> c =
      internal::Convolution::Create(a.size(), b.size(), primes);
  if (!c.ok()) return c.status();
  const auto load = [&](std::span<const int64_t> x) {
    return [pool, x](const internal::Transform& t, uint32_t* to) {
      internal::ForRange(pool, x.size(), [&](size_t begin, size_t end) {
        internal::Reduce(t.tables(), reinterpret_cast<const uint64_t*>(x.data()) + begin, true,
                         end - begin, to + begin);
      });
    };
  };
  const auto load_a = load(a), load_b = load(b);
  c->Run(transforms->all(), load_a, load_b, a.data() == b.data() && a.size() == b.size(), pool);

  out.resize(length);
  std::atomic<size_t> misfit{length};
  const internal::Composer compose(std::max(primes, 3));
  internal::ForRange(pool, length, [&](size_t begin, size_t end) {
    const auto rows = c->Rows(begin);
    internal::Garner(rows.data(), primes, end - begin);
    if (primes <= 2) {
      if constexpr (kIs64(Integer{0})) {
        internal::NearestToZero(rows.data(), primes, end - begin, out.data() + begin);
      } else {
        constexpr size_t kBlock = 1024;
        int64_t block[kBlock];
        for (size_t k = begin; k < end; k += kBlock) {
          const size_t count = std::min(kBlock, end - k);
          internal::NearestToZero(c->Rows(k).data(), primes, count, block);
          std::copy(block, block + count, out.data() + k);
        }
      }
      return;
    }
    for (size_t k = begin; k < end; ++k) {
      if (Narrow(compose.NearestToZero(rows, k - begin), &out[k])) continue;
      size_t first = misfit.load();
      while (k < first && !misfit.compare_exchange_weak(first, k)) {
      }
      return;
    }
  });
  return misfit < length ? DoesNotFit<Integer>(misfit) : absl::OkStatus();
}

// Nanoseconds, from runs with AVX-512 of peers_benchmark; only their ratios matter. The FFT is not
// in the running: rounded products cost 2 to 6 times as much as those modulo primes at every length
// and width that was measured.
double SchoolbookCost(double n, double m, double bound) {
  return n * m * (bound < 0x1p63 ? 0.33 : 1.0);
}
double NttCost(double length, int primes) {
  const double points = std::max(length, static_cast<double>(internal::kLeaf));
  return 150 + 2.2 * primes * points + (primes > 2 ? 4.6 * length : 0);
}

// What the routes have in common.
struct Job {
  std::span<const int64_t> a, b;
  Shape shape_a, shape_b;
  double bound = 0;  // of the coefficients
  int primes = 0;    // whose product exceeds twice that; 0 if none do, or the length is too large
};

Job Describe(std::span<const int64_t> a, std::span<const int64_t> b) {
  Job job{a, b, Measure(a), Measure(b)};
  job.bound =
      std::min(job.shape_a.sum * job.shape_b.largest, job.shape_a.largest * job.shape_b.sum) *
      (1 + 0x1p-50);
  const int primes = internal::PrimesAbove(2 * job.bound + 1);
  if (primes <= internal::kPrimes && a.size() + b.size() - 1 <= internal::kMaxLength) {
    job.primes = primes;
  }
  return job;
}

ExactRoute Cheapest(const Job& job) {
  const double n = static_cast<double>(job.a.size()), m = static_cast<double>(job.b.size());
  if (job.primes > 0 && NttCost(n + m, job.primes) < SchoolbookCost(n, m, job.bound)) {
    return ExactRoute::kNtt;
  }
  return ExactRoute::kSchoolbook;
}

template <class Integer>
absl::StatusOr<ExactProduct<Integer>> MultiplyAny(std::span<const int64_t> a,
                                                  std::span<const int64_t> b,
                                                  const ExactOptions& options) {
  absl::Status status = CheckOperands(a, b);
  if (!status.ok()) return status;
  const Job job = Describe(a, b);
  ExactProduct<Integer> result;
  result.route = options.route.value_or(Cheapest(job));
  if (result.route == ExactRoute::kSchoolbook) {
    result.coefficients.resize(a.size() + b.size() - 1);
    status = Schoolbook(a, b, job.bound, result.coefficients.data());
  } else if (result.route == ExactRoute::kNtt) {
    if (job.primes == 0) return NotProved("the number-theoretic transform");
    result.primes = job.primes;
    result.coefficient_bound = job.bound;
    status = MultiplyByNtt(a, b, job.primes, options.pool, result.coefficients);
  } else {
    if (!(job.bound < 0x1p126)) return NotProved("the FFT");
    absl::StatusOr<internal::RoundedProduct> rounded =
        internal::MultiplyByFft(a, b, job.shape_a.bits, job.shape_b.bits);
    if (!rounded.ok()) return rounded.status();
    if (rounded->parts == 0) return NotProved("the FFT");
    result.parts = rounded->parts;
    result.error_bound = rounded->error_bound;
    for (size_t k = 0; k < rounded->coefficients.size(); ++k) {
      const Int128 value = rounded->coefficients[k];
      result.coefficients.push_back(static_cast<Integer>(value));
      if (result.coefficients.back() != value) return DoesNotFit<Integer>(k);
    }
  }
  if (!status.ok()) return status;
  return result;
}

}  // namespace

absl::StatusOr<IntegerProduct> MultiplyExact(std::span<const int64_t> a, std::span<const int64_t> b,
                                             const ExactOptions& options) {
  return MultiplyAny<int64_t>(a, b, options);
}

absl::StatusOr<ExactProduct<Int128>> MultiplyExactWide(std::span<const int64_t> a,
                                                       std::span<const int64_t> b,
                                                       const ExactOptions& options) {
  return MultiplyAny<Int128>(a, b, options);
}

absl::StatusOr<std::vector<int64_t>> MultiplyExactReference(std::span<const int64_t> a,
                                                            std::span<const int64_t> b) {
  absl::Status status = CheckOperands(a, b);
  if (!status.ok()) return status;
  std::vector<int64_t> c(a.size() + b.size() - 1);
  status = SchoolbookWide(a, b, c.data());
  if (!status.ok()) return status;
  return c;
}

}  // namespace assay::ntt
