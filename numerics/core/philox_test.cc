// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/philox.h"

#include <array>
#include <cstdint>

#include "gtest/gtest.h"

namespace assay {
namespace {

using Counter = std::array<uint32_t, 4>;

// The three vectors for philox4x32 with 10 rounds in Random123's kat_vectors.
TEST(PhiloxTest, GivesThePublishedKnownAnswers) {
  EXPECT_EQ(Philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      Philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      Philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, RunsAtCompileTime) {
  static_assert(Philox4x32_10({0, 0, 0, 0}, {0, 0})[0] == 0x6627e8d5);
}

// Each bit of the input changes about half of the output's 128.
TEST(PhiloxTest, SpreadsEveryInputBit) {
  const Counter base = Philox4x32_10({1, 2, 3, 4}, {5, 6});
  for (int bit = 0; bit < 192; ++bit) {
    Counter counter = {1, 2, 3, 4};
    std::array<uint32_t, 2> key = {5, 6};
    const size_t word = static_cast<size_t>(bit) / 32;
    const uint32_t flip = uint32_t{1} << (bit % 32);
    if (word < 4) {
      counter[word] ^= flip;
    } else {
      key[word - 4] ^= flip;
    }
    const Counter other = Philox4x32_10(counter, key);
    int changed = 0;
    for (size_t i = 0; i < 4; ++i) changed += __builtin_popcount(base[i] ^ other[i]);
    // 64 +- 5.7 standard deviations.
    EXPECT_GT(changed, 64 - 33) << bit;
    EXPECT_LT(changed, 64 + 33) << bit;
  }
}

}  // namespace
}  // namespace assay
