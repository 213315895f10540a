// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a fuzzer to lengths and words.
#ifndef ASSAY_NUMERICS_NTT_FUZZ_BYTES_H_
#define ASSAY_NUMERICS_NTT_FUZZ_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::ntt {

// Bytes, then a stream that they seed, so that short inputs still reach long factors.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint64_t Next(int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; ++i) {
      uint8_t byte = static_cast<uint8_t>(state_ >> 56);
      if (at_ < bytes_.size()) byte = bytes_[at_++];
      state_ = (state_ ^ byte) * 6364136223846793005u + 1442695040888963407u;
      value |= static_cast<uint64_t>(byte) << (8 * i);
    }
    return value;
  }
  // 0 to limit, short ones often.
  size_t Length(size_t limit) {
    const uint64_t bits = Next(3);
    return (bits >> 8) % (std::min<size_t>(limit, size_t{2} << (bits % 12)) + 1);
  }
  // A number of 64 bits of any width; often all ones or zeros.
  uint64_t Word() {
    const uint64_t kind = Next(1);
    if (kind % 8 == 0) return 0;
    if (kind % 8 == 1) return ~uint64_t{0} >> (kind / 8);
    return Next(8) >> (kind % 64);
  }
  bool Coin() { return Next(1) % 2 != 0; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  uint64_t state_ = 88172645463325252u;
};

}  // namespace assay::ntt

#endif  // ASSAY_NUMERICS_NTT_FUZZ_BYTES_H_
