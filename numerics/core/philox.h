// SPDX-License-Identifier: Apache-2.0
//
// Philox 4x32-10: random bits as a pure function of a counter and a key.
#ifndef ASSAY_NUMERICS_CORE_PHILOX_H_
#define ASSAY_NUMERICS_CORE_PHILOX_H_

#include <array>
#include <cstdint>

namespace assay {

// Four random 32-bit words for a 128-bit counter under a 64-bit key, words least significant
// first. Different counters give independent words, so a stream is jumped into anywhere and
// threads need share nothing.
// Exact. Cost: 20 widening multiplications. Source: Salmon, Moraes, Dror, Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC11; constants and test vectors of their Random123.
constexpr std::array<uint32_t, 4> Philox4x32_10(std::array<uint32_t, 4> counter,
                                                std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xd2511f53} * counter[0];
    const uint64_t product1 = uint64_t{0xcd9e8d57} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += 0x9e3779b9;  // the golden ratio's fraction
    key[1] += 0xbb67ae85;  // that of the square root of 3
  }
  return counter;
}

}  // namespace assay

#endif  // ASSAY_NUMERICS_CORE_PHILOX_H_
