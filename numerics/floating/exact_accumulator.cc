// SPDX-License-Identifier: Apache-2.0
#include "numerics/floating/exact_accumulator.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <type_traits>

#include "numerics/core/bits.h"
#include "numerics/floating/internal/exact_blocks.h"

namespace assay::floating {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr uint64_t kFractionMask = (uint64_t{1} << 52) - 1;
constexpr uint64_t kLowHalf = 0xffffffffu;
constexpr int kUnitExponent = -2148;  // weight of bit 0 of limb 0

template <class T>
T FromBits(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return FloatFromBits(static_cast<uint32_t>(bits));
  } else {
    return DoubleFromBits(bits);
  }
}

// magnitude * 2^exponent rounded to nearest even, magnitude with at most 64 significant bits and
// `sticky` telling whether anything non-zero lies below it.
template <class T>
T RoundScaled(uint64_t magnitude, int exponent, bool sticky) {
  using Limits = std::numeric_limits<T>;
  constexpr int kDigits = Limits::digits;
  constexpr int kLeast = Limits::min_exponent - kDigits;  // exponent of the least subnormal
  const int width = std::bit_width(magnitude);
  const int unit = std::max(exponent + width - kDigits, kLeast);  // weight of the last kept bit
  const int shift = unit - exponent;
  uint64_t kept = magnitude;
  if (shift > 64) {
    kept = 0;
  } else if (shift > 0) {
    const uint64_t above = shift == 64 ? 0 : magnitude >> shift;
    const uint64_t half = uint64_t{1} << (shift - 1);
    const uint64_t rest = magnitude & (half | (half - 1));
    const bool up = rest > half || (rest == half && (sticky || (above & 1) != 0));
    kept = above + (up ? 1 : 0);
  } else {
    kept = magnitude << -shift;
  }
  // kept has at most kDigits bits, or is 2^kDigits after a carry, whose value is right as well.
  if (kept == 0) return T(0);
  const int kept_width = std::bit_width(kept);
  if (unit + kept_width > Limits::max_exponent) return Limits::infinity();
  const int biased = unit - kLeast + 1;  // exponent field of a normal number whose unit is this
  if (kept_width < kDigits) return FromBits<T>(kept);  // subnormal
  // Adding the significand with its leading bit raises the field by one; a carry by one more.
  return FromBits<T>((static_cast<uint64_t>(biased - 1) << (kDigits - 1)) + kept);
}

}  // namespace

void ExactAccumulator::AddFinite(uint64_t bits) {
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t fraction = bits & kFractionMask;
  const uint64_t significand = field != 0 ? fraction | (uint64_t{1} << 52) : fraction;
  const int position = (field != 0 ? field - 1 : 0) + (-1074 - kUnitExponent);
  const int limb = position >> 5;
  const int shift = position & 31;
  const int64_t low = static_cast<int64_t>((significand << shift) & kLowHalf);
  const int64_t high = static_cast<int64_t>(significand >> (32 - shift));
  // The sign bit as 0 or -1: (v ^ m) - m negates without a branch, which random signs would miss.
  const int64_t mask = static_cast<int64_t>(bits) >> 63;
  limbs_[limb] += (low ^ mask) - mask;
  limbs_[limb + 1] += (high ^ mask) - mask;
}

void ExactAccumulator::AddSpecial(double x) {
  if (x != x) {
    nan_ = true;
  } else if (x > 0) {
    plus_infinity_ = true;
  } else {
    minus_infinity_ = true;
  }
}

void ExactAccumulator::Propagate() {
  int64_t carry = 0;
  for (int k = 0; k + 1 < kLimbs; ++k) {
    const int64_t value = limbs_[k] + carry;
    carry = value >> 32;  // towards minus infinity, so that what stays is in [0, 2^32)
    limbs_[k] = value & static_cast<int64_t>(kLowHalf);
  }
  limbs_[kLimbs - 1] += carry;
  pending_ = 0;
}

void ExactAccumulator::Reserve(int count) {
  if (pending_ + count > kMaxPending) Propagate();
  pending_ += count;
}

template <class T>
void ExactAccumulator::AddSingly(std::span<const T> x) {
  uint64_t not_minus_zero = 0;
  for (size_t i = 0; i < x.size();) {
    const size_t count = std::min(x.size() - i, size_t{64});
    Reserve(static_cast<int>(count));
    for (const size_t end = i + count; i < end; ++i) {
      const uint64_t bits = FloatBits(static_cast<double>(x[i]));
      not_minus_zero |= bits ^ kSignBit;
      if (((bits >> 52) & 0x7ff) == 0x7ff) {
        AddSpecial(static_cast<double>(x[i]));
      } else {
        AddFinite(bits);
      }
    }
  }
  any_ = any_ || !x.empty();
  if (not_minus_zero != 0) only_minus_zero_ = false;
}

template <class T>
void ExactAccumulator::AddAll(std::span<const T> x) {
  constexpr size_t kLeast = 64;  // fewer are as well added singly
  while (x.size() >= kLeast) {
    const size_t count =
        std::min(x.size() - x.size() % 32, static_cast<size_t>(internal::kExactBlock));
    double sum[3];
    const bool exact = internal::SumExactly(x.data(), static_cast<int64_t>(count), sum);
    // Zeros alone may all be negative.
    if (exact && (sum[0] != 0 || sum[1] != 0 || sum[2] != 0)) {
      AddSingly(std::span<const double>(sum));
      only_minus_zero_ = false;
    } else {
      AddSingly(x.first(count));
    }
    x = x.subspan(count);
  }
  AddSingly(x);
}

template <class H>
void ExactAccumulator::AddHalves(std::span<const H> x) {
  float wide[512];
  while (!x.empty()) {
    const size_t count = std::min(x.size(), std::size(wide));
    for (size_t i = 0; i < count; ++i) wide[i] = x[i].ToFloat();
    AddAll(std::span<const float>(wide, count));
    x = x.subspan(count);
  }
}

void ExactAccumulator::AddProduct(double x, double y) {
  if (!(x - x == 0 && y - y == 0)) {
    AddSpecial(x * y);
    any_ = true;
    only_minus_zero_ = false;
    return;
  }
  const uint64_t x_bits = FloatBits(x);
  const uint64_t y_bits = FloatBits(y);
  const auto significand = [](uint64_t bits) {
    return ((bits >> 52) & 0x7ff) != 0 ? (bits & kFractionMask) | (uint64_t{1} << 52)
                                       : bits & kFractionMask;
  };
  const auto position_of = [](uint64_t bits) {
    return std::max(static_cast<int>((bits >> 52) & 0x7ff), 1) - 1;
  };
  const Wide128 product = MultiplyWide(significand(x_bits), significand(y_bits));
  const int position = position_of(x_bits) + position_of(y_bits);  // from 2^-2148 on
  const bool negative = ((x_bits ^ y_bits) & kSignBit) != 0;
  any_ = true;
  if (product.high != 0 || product.low != 0 || !negative) only_minus_zero_ = false;
  Reserve(1);
  const int shift = position & 31;
  const uint64_t words[4] = {product.low & kLowHalf, product.low >> 32, product.high & kLowHalf,
                             product.high >> 32};
  uint64_t carry = 0;
  int64_t* limb = &limbs_[static_cast<size_t>(position >> 5)];
  for (const uint64_t word : words) {
    const uint64_t shifted = (word << shift) | carry;
    carry = shifted >> 32;
    const int64_t part = static_cast<int64_t>(shifted & kLowHalf);
    *limb++ += negative ? -part : part;
  }
  *limb += negative ? -static_cast<int64_t>(carry) : static_cast<int64_t>(carry);
}

void ExactAccumulator::Add(double x) { AddSingly(std::span<const double>(&x, 1)); }
void ExactAccumulator::Add(std::span<const double> x) { AddAll(x); }
void ExactAccumulator::Add(std::span<const float> x) { AddAll(x); }
void ExactAccumulator::Add(std::span<const Half> x) { AddHalves(x); }
void ExactAccumulator::Add(std::span<const BFloat16> x) { AddHalves(x); }

void ExactAccumulator::Merge(const ExactAccumulator& other) {
  ExactAccumulator carried = other;
  carried.Propagate();
  Propagate();
  for (int k = 0; k < kLimbs; ++k) limbs_[k] += carried.limbs_[k];
  pending_ = 1;
  any_ = any_ || other.any_;
  only_minus_zero_ = only_minus_zero_ && other.only_minus_zero_;
  nan_ = nan_ || other.nan_;
  plus_infinity_ = plus_infinity_ || other.plus_infinity_;
  minus_infinity_ = minus_infinity_ || other.minus_infinity_;
}

template <BinaryFloat T>
T ExactAccumulator::Round() const {
  using Limits = std::numeric_limits<T>;
  if (nan_ || (plus_infinity_ && minus_infinity_)) return Limits::quiet_NaN();
  if (plus_infinity_) return Limits::infinity();
  if (minus_infinity_) return -Limits::infinity();
  if (any_ && only_minus_zero_) return T(-0.0);

  ExactAccumulator a = *this;
  a.Propagate();
  const bool negative = a.limbs_[kLimbs - 1] < 0;
  if (negative) {
    for (int64_t& limb : a.limbs_) limb = -limb;
    a.Propagate();
  }
  int top = kLimbs - 1;
  while (top >= 0 && a.limbs_[top] == 0) --top;
  if (top < 0) return T(0);
  // The top limb may be longer than 32 bits only at the very top, where the value is far beyond
  // the range of T. Everything else: at least 33 significant bits from three limbs.
  if (top == kLimbs - 1) return negative ? -Limits::infinity() : Limits::infinity();
  const auto limb = [&](int k) {
    return k >= 0 ? static_cast<uint64_t>(a.limbs_[k]) : uint64_t{0};
  };
  const int lead = std::bit_width(limb(top));  // 1 .. 32
  const uint64_t upper = (limb(top) << 32) | limb(top - 1);
  const uint64_t next = limb(top - 2);
  // 64 bits from the leading one: the upper pair has 32 + lead of them.
  const uint64_t magnitude = lead == 32 ? upper : (upper << (32 - lead)) | (next >> lead);
  bool sticky = lead != 32 ? (next & ((uint64_t{1} << lead) - 1)) != 0 : next != 0;
  for (int k = top - 3; k >= 0 && !sticky; --k) sticky = a.limbs_[k] != 0;
  const int exponent = kUnitExponent + 32 * (top - 2) + lead;
  const T rounded = RoundScaled<T>(magnitude, exponent, sticky);
  return negative ? -rounded : rounded;
}

template float ExactAccumulator::Round<float>() const;
template double ExactAccumulator::Round<double>() const;

HiLo<double> ExactAccumulator::RoundToDoubleWord() const {
  const double hi = Round<double>();
  if (!(hi - hi == 0.0)) return {hi, 0.0};
  ExactAccumulator rest = *this;
  rest.Add(-hi);
  const double lo = rest.Round<double>();
  return {hi, hi == 0.0 ? 0.0 : lo};
}

}  // namespace assay::floating
