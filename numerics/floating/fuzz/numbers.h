// SPDX-License-Identifier: Apache-2.0
//
// Numbers from a fuzzer's bytes.
#ifndef ASSAY_NUMERICS_FLOATING_FUZZ_NUMBERS_H_
#define ASSAY_NUMERICS_FLOATING_FUZZ_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "numerics/core/bits.h"

namespace assay::floating::fuzz {

// Reads bytes, then zeros for ever.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint32_t Byte() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  uint32_t Below(uint32_t bound) { return Byte() % bound; }
  uint64_t Bits(int count) {
    uint64_t bits = 0;
    for (int k = 0; k < count; ++k) bits |= uint64_t{Byte()} << (8 * k);
    return bits;
  }

  // By `kind`: small integers; a few bits at any exponent; a few bits near 1; any bits at all.
  template <class T>
  T Number(uint32_t kind) {
    using Limits = std::numeric_limits<T>;
    switch (kind) {
      case 0:
        return static_cast<T>(static_cast<int>(Byte()) - 128);
      case 1: {
        const uint32_t bits = static_cast<uint32_t>(Bits(2));
        constexpr uint32_t kFields = 2 * Limits::max_exponent - 1;
        return Assemble<T>((bits >> 5) % kFields, bits >> 1 & 15, (bits & 1) != 0);
      }
      case 2:
        return T(1) + static_cast<T>(static_cast<int>(Below(16)) - 8) * Limits::epsilon();
      default:
        break;
    }
    if constexpr (sizeof(T) == 8) {
      return DoubleFromBits(Bits(8));
    } else {
      return FloatFromBits(static_cast<uint32_t>(Bits(4)));
    }
  }

  // Up to 40 numbers, repeated so often that vector blocks are met.
  template <class T>
  std::vector<T> Numbers() {
    const uint32_t kind = Below(4);
    const size_t count = Below(41);
    constexpr size_t kRepeats[] = {1, 1, 3, 60};
    const size_t repeats = kRepeats[Below(4)];
    std::vector<T> base;
    for (size_t i = 0; i < count; ++i) base.push_back(Number<T>(kind));
    std::vector<T> x;
    for (size_t r = 0; r < repeats; ++r) x.insert(x.end(), base.begin(), base.end());
    return x;
  }

 private:
  template <class T>
  static T Assemble(uint64_t field, uint64_t fraction, bool negative) {
    constexpr int kFraction = std::numeric_limits<T>::digits - 1;
    const uint64_t magnitude = (field << kFraction) | (fraction << (kFraction - 4));
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

}  // namespace assay::floating::fuzz

#endif  // ASSAY_NUMERICS_FLOATING_FUZZ_NUMBERS_H_
