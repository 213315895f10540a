// SPDX-License-Identifier: Apache-2.0
//
// Rows of numbers from a fuzzer's bytes.
#ifndef ASSAY_NUMERICS_ISOTONIC_FUZZ_BYTES_H_
#define ASSAY_NUMERICS_ISOTONIC_FUZZ_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "numerics/core/bits.h"

namespace assay::isotonic::fuzz {

// What numbers are made of, so that a byte or two reach what takes luck otherwise: ties, halves of
// units, the ends of the range, and numbers that are none.
enum class Kind {
  kSmall,   // a byte: integers -4 .. 3, ties and blocks
  kFine,    // a byte: 1 and its neighbours, where half a unit decides
  kWide,    // two bytes: a sign, four bits of fraction, any exponent
  kBits,    // as many bytes as the number has
  kHostile  // a byte: integers, and now and then a zero, a NaN, an infinity, the ends of the range
};
inline constexpr uint32_t kKinds = 5;

// Reads bytes, then zeros for ever.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return at_ >= bytes_.size(); }
  uint32_t Byte() { return empty() ? 0 : bytes_[at_++]; }
  // In [0, bound).
  uint32_t Below(uint32_t bound) { return Byte() % bound; }
  uint64_t Bits(int count) {
    uint64_t bits = 0;
    for (int k = 0; k < count; ++k) bits |= uint64_t{Byte()} << (8 * k);
    return bits;
  }

  template <class T>
  T Number(Kind kind) {
    using Limits = std::numeric_limits<T>;
    constexpr int kFraction = Limits::digits - 1, kExponents = 2 * Limits::max_exponent - 1;
    switch (kind) {
      case Kind::kSmall:
        return static_cast<T>(static_cast<int>(Below(8)) - 4);
      case Kind::kFine:
        return 1 + static_cast<T>(Below(8)) * Limits::epsilon();
      case Kind::kWide: {
        const uint32_t bits = static_cast<uint32_t>(Bits(2));
        const uint64_t field = (bits >> 5) % static_cast<uint32_t>(kExponents);
        return FromBits<T>((field << kFraction) | uint64_t{bits >> 1 & 15} << (kFraction - 4),
                           (bits & 1) != 0);
      }
      case Kind::kBits: {
        const uint64_t bits = Bits(sizeof(T));
        constexpr int kSign = 8 * sizeof(T) - 1;
        return FromBits<T>(bits & ((uint64_t{1} << kSign) - 1), bits >> kSign != 0);
      }
      default:
        break;
    }
    const uint32_t byte = Byte();
    constexpr T kEnds[] = {
        T(-0.0),       Limits::quiet_NaN(), Limits::infinity(),   -Limits::infinity(),
        Limits::max(), -Limits::max(),      Limits::denorm_min(), Limits::min()};
    return byte < 8 ? kEnds[byte] : static_cast<T>(byte % 16);
  }

  template <class T>
  std::vector<T> Numbers(Kind kind, size_t count) {
    std::vector<T> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back(Number<T>(kind));
    return numbers;
  }

  // Not negative, so most lists will do as weights; zeros and what is hostile stay.
  template <class T>
  std::vector<T> Weights(Kind kind, size_t count) {
    std::vector<T> weights = Numbers<T>(kind, count);
    for (T& w : weights) {
      if (w < 0 && kind != Kind::kHostile) w = -w;
    }
    return weights;
  }

 private:
  template <class T>
  static T FromBits(uint64_t magnitude, bool negative) {
    T value;
    if constexpr (sizeof(T) == 8) {
      value = DoubleFromBits(magnitude);
    } else {
      value = FloatFromBits(static_cast<uint32_t>(magnitude));
    }
    return negative ? -value : value;
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace assay::isotonic::fuzz

#endif  // ASSAY_NUMERICS_ISOTONIC_FUZZ_BYTES_H_
