// SPDX-License-Identifier: Apache-2.0
//
// Decimal digits of natural numbers, both ways by halves.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/ntt/big_product.h"
#include "numerics/ntt/internal/limbs.h"

namespace assay::ntt {
namespace {

using Limbs = std::span<const uint64_t>;
using internal::Compare;
using internal::Trim;
using internal::Trimmed;

constexpr size_t kChunk = 19;  // digits that fit a limb
constexpr uint64_t kChunkPower = 10000000000000000000u;
// Limbs up to which digits come off one chunk at a time; measured.
constexpr size_t kDirect = 40;

Natural ShiftedLeft(Limbs x, int bits, size_t limbs) {
  Natural out(x.size() + limbs + 1, 0);
  for (size_t i = 0; i < x.size(); ++i) {
    out[limbs + i] |= x[i] << bits;
    if (bits > 0) out[limbs + i + 1] = x[i] >> (64 - bits);
  }
  Trim(out);
  return out;
}

Natural ShiftedRight(Limbs x, int bits) {
  Natural out(x.begin(), x.end());
  if (bits > 0) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = out[i] >> bits | (i + 1 < out.size() ? out[i + 1] << (64 - bits) : 0);
    }
  }
  Trim(out);
  return out;
}

// x without its lowest limbs.
Limbs Above(Limbs x, size_t limbs) { return x.size() > limbs ? x.subspan(limbs) : Limbs(); }

// x /= divisor; the remainder.
uint64_t DivideByLimb(Natural& x, uint64_t divisor) {
  UInt128 rest = 0;
  for (size_t i = x.size(); i-- > 0;) {
    rest = rest << 64 | x[i];
    x[i] = static_cast<uint64_t>(rest / divisor);
    rest %= divisor;
  }
  Trim(x);
  return static_cast<uint64_t>(rest);
}

// A divisor with what dividing by it needs.
struct Divisor {
  int shift = 0;       // to a highest bit that is set
  Natural shifted;     // d = divisor 2^shift, of n limbs
  Natural reciprocal;  // 2^(128 n) / d, some units off
};

// 2^(128 n) / d for d of n limbs with its highest bit set, a few units off at most. Newton's step
// v + v (1 - d v) from the upper half of d doubles the right digits.
absl::StatusOr<Natural> Reciprocal(Limbs d, ThreadPool* pool) {
  const size_t n = d.size();
  if (n == 1) {
    // 2^128 / d, one too small at most: (2^128 - 1) / d.
    const UInt128 q = ~UInt128{0} / d[0];
    Natural out = {static_cast<uint64_t>(q), static_cast<uint64_t>(q >> 64)};
    Trim(out);
    return out;
  }
  // One limb more than half: the step's error is then below the last unit, but for its truncations.
  const size_t half = std::min(n - 1, n / 2 + 1);
  absl::StatusOr<Natural> upper = Reciprocal(d.last(half), pool);
  if (!upper.ok()) return upper;
  // v = upper 2^(64 (n - half)), so d v = (d upper) 2^(64 (n - half)), to be compared with 2^(128
  // n).
  absl::StatusOr<Natural> product = Multiply(d, *upper, pool);
  if (!product.ok()) return product;
  Natural one(n + half + 1, 0);
  one[n + half] = 1;
  const bool below = Compare(*product, one) < 0;
  Natural error = below ? one : *product;
  const Natural& small = below ? *product : one;
  internal::SubtractFrom(error.data(), error.size(), small.data(), small.size());
  Trim(error);
  // The correction v (2^(128 n) - d v) / 2^(128 n) = upper error / 2^(64 (2 half)) in units of the
  // last limb of v 2^-(64 (n - half)).
  absl::StatusOr<Natural> correction = Multiply(*upper, error, pool);
  if (!correction.ok()) return correction;
  const Limbs step = Above(*correction, 2 * half);
  Natural v = ShiftedLeft(*upper, 0, n - half);
  if (below) {
    v.resize(std::max(v.size(), step.size()) + 1, 0);
    internal::AddTo(v.data(), v.size(), step.data(), step.size());
  } else {
    internal::SubtractFrom(v.data(), v.size(), step.data(), step.size());
  }
  Trim(v);
  return v;
}

absl::StatusOr<Divisor> Prepare(Limbs divisor, ThreadPool* pool) {
  Divisor d;
  d.shift = __builtin_clzll(divisor.back());
  d.shifted = ShiftedLeft(divisor, d.shift, 0);
  absl::StatusOr<Natural> reciprocal = Reciprocal(d.shifted, pool);
  if (!reciprocal.ok()) return reciprocal.status();
  d.reciprocal = *std::move(reciprocal);
  return d;
}

struct Quotient {
  Natural quotient, remainder;
};

// x / divisor for x below the divisor's square (Barrett).
absl::StatusOr<Quotient> Divide(Limbs x, const Divisor& d, ThreadPool* pool) {
  const size_t n = d.shifted.size();
  Natural rest = ShiftedLeft(x, d.shift, 0);
  // The upper n + 1 limbs tell the quotient to a few units.
  absl::StatusOr<Natural> estimate = Multiply(Above(rest, n - 1), d.reciprocal, pool);
  if (!estimate.ok()) return estimate.status();
  const Limbs upper = Above(*estimate, n + 1);
  Quotient result;
  result.quotient.assign(upper.begin(), upper.end());
  absl::StatusOr<Natural> product = Multiply(result.quotient, d.shifted, pool);
  if (!product.ok()) return product.status();
  const uint64_t one = 1;
  while (Compare(*product, rest) > 0) {
    internal::SubtractFrom(product->data(), product->size(), d.shifted.data(), n);
    internal::SubtractFrom(result.quotient.data(), result.quotient.size(), &one, 1);
    Trim(*product);
  }
  internal::SubtractFrom(rest.data(), rest.size(), product->data(), product->size());
  Trim(rest);
  result.quotient.push_back(0);
  while (Compare(rest, d.shifted) >= 0) {
    internal::SubtractFrom(rest.data(), rest.size(), d.shifted.data(), n);
    internal::AddTo(result.quotient.data(), result.quotient.size(), &one, 1);
    Trim(rest);
  }
  Trim(result.quotient);
  result.remainder = ShiftedRight(rest, d.shift);
  return result;
}

// The digits of x, filled up to `count` with zeros in front; x < 10^count.
void WriteDirect(Natural x, char* out, size_t count) {
  while (count > 0) {
    uint64_t chunk = x.empty() ? 0 : DivideByLimb(x, kChunkPower);
    for (size_t i = 0; i < kChunk && count > 0; ++i, chunk /= 10) {
      out[--count] = static_cast<char>('0' + chunk % 10);
    }
  }
}

// powers[i] divides by 10^(19 2^i).
absl::Status Write(Natural x, const std::vector<Divisor>& powers, size_t level, char* out,
                   size_t count, ThreadPool* pool) {
  if (x.size() <= kDirect || level == 0) {
    WriteDirect(std::move(x), out, count);
    return absl::OkStatus();
  }
  const size_t low = kChunk << (level - 1);
  absl::StatusOr<Quotient> halves = Divide(x, powers[level - 1], pool);
  if (!halves.ok()) return halves.status();
  absl::Status status =
      Write(std::move(halves->quotient), powers, level - 1, out, count - low, pool);
  if (!status.ok()) return status;
  return Write(std::move(halves->remainder), powers, level - 1, out + count - low, low, pool);
}

absl::StatusOr<Natural> Read(std::string_view digits, const std::vector<Natural>& powers,
                             ThreadPool* pool) {
  size_t level = 0;
  while ((kChunk << level) < digits.size()) ++level;
  if (digits.size() <= 32 * kChunk) {
    Natural out;
    for (size_t at = 0; at < digits.size();) {
      const size_t count = at == 0 && digits.size() % kChunk != 0 ? digits.size() % kChunk : kChunk;
      uint64_t chunk = 0, power = 1;
      for (size_t i = 0; i < count; ++i, ++at) {
        chunk = 10 * chunk + static_cast<uint64_t>(digits[at] - '0');
        power *= 10;
      }
      for (uint64_t& limb : out) {
        const UInt128 t = static_cast<UInt128>(limb) * power + chunk;
        limb = static_cast<uint64_t>(t);
        chunk = static_cast<uint64_t>(t >> 64);
      }
      if (chunk != 0) out.push_back(chunk);
    }
    return out;
  }
  const size_t low = kChunk << (level - 1);
  absl::StatusOr<Natural> upper = Read(digits.substr(0, digits.size() - low), powers, pool);
  if (!upper.ok()) return upper;
  absl::StatusOr<Natural> lower = Read(digits.substr(digits.size() - low), powers, pool);
  if (!lower.ok()) return lower;
  absl::StatusOr<Natural> out = Multiply(*upper, powers[level - 1], pool);
  if (!out.ok()) return out;
  out->resize(std::max(out->size(), lower->size()) + 1, 0);
  internal::AddTo(out->data(), out->size(), lower->data(), lower->size());
  Trim(*out);
  return out;
}

// 10^(19 2^i) for i = 0..count-1.
absl::StatusOr<std::vector<Natural>> Powers(size_t count, ThreadPool* pool) {
  std::vector<Natural> powers;
  if (count > 0) powers.push_back({kChunkPower});
  while (powers.size() < count) {
    absl::StatusOr<Natural> next = Multiply(powers.back(), powers.back(), pool);
    if (!next.ok()) return next.status();
    powers.push_back(*std::move(next));
  }
  return powers;
}

}  // namespace

absl::StatusOr<std::string> ToDecimal(std::span<const uint64_t> x, ThreadPool* pool) {
  const Limbs trimmed = Trimmed(x);
  if (trimmed.size() > static_cast<size_t>(kMaxNaturalLimbs) / 2) {
    return absl::InvalidArgumentError(absl::StrCat("decimal: a number of ", trimmed.size(),
                                                   " limbs, expected at most ",
                                                   kMaxNaturalLimbs / 2));
  }
  // 19.3 digits a limb; level such that x < 10^(19 2^level).
  size_t level = 0;
  while ((size_t{1} << level) * 63 < trimmed.size() * 64) ++level;
  absl::StatusOr<std::vector<Natural>> powers = Powers(level, pool);
  if (!powers.ok()) return powers.status();
  std::vector<Divisor> divisors;
  for (size_t i = 0; i < level; ++i) {
    if ((*powers)[i].size() * 2 < kDirect) {
      divisors.emplace_back();  // numbers that small are written directly
      continue;
    }
    absl::StatusOr<Divisor> d = Prepare((*powers)[i], pool);
    if (!d.ok()) return d.status();
    divisors.push_back(*std::move(d));
  }
  std::string out(kChunk << level, '0');
  absl::Status status =
      Write(Natural(trimmed.begin(), trimmed.end()), divisors, level, out.data(), out.size(), pool);
  if (!status.ok()) return status;
  out.erase(0, std::min(out.find_first_not_of('0'), out.size() - 1));
  return out;
}

absl::StatusOr<Natural> FromDecimal(std::string_view digits, ThreadPool* pool) {
  const size_t bad = digits.find_first_not_of("0123456789");
  if (digits.empty() || bad != std::string_view::npos) {
    return absl::InvalidArgumentError(
        digits.empty() ? "decimal: no digits, expected at least one"
                       : absl::StrCat("decimal: character ", bad, " is not a digit"));
  }
  if (digits.size() / kChunk > static_cast<size_t>(kMaxNaturalLimbs) / 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "decimal: ", digits.size(), " digits, expected at most ", kMaxNaturalLimbs / 2 * kChunk));
  }
  size_t levels = 0;
  while ((kChunk << levels) < digits.size()) ++levels;
  absl::StatusOr<std::vector<Natural>> powers = Powers(levels, pool);
  if (!powers.ok()) return powers.status();
  return Read(digits, *powers, pool);
}

}  // namespace assay::ntt
