// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/fft_fuzz.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::fft {
namespace {

// 1,500 random inputs of 0 to 63 bytes. A failure prints the check; SCOPED_TRACE cannot outlive the
// abort, so the seed is the one number to replay.
TEST(FftFuzzTest, HoldsItsPropertiesForRandomBytes) {
  Random random(2026);
  for (int i = 0; i < 1500; ++i) {
    const int64_t size = random.Integer(64);
    std::vector<uint8_t> bytes;
    for (int64_t j = 0; j < size; ++j) bytes.push_back(static_cast<uint8_t>(random.Integer(256)));
    FuzzOne(bytes);
  }
}

TEST(FftFuzzTest, HoldsThemForNoBytesAndForEveryFirstByte) {
  FuzzOne({});
  for (int first = 0; first < 256; ++first) {
    const std::vector<uint8_t> bytes = {
        static_cast<uint8_t>(first), 255, 255, 255, 255, 255, 255, 255, 255};
    FuzzOne(bytes);
  }
}

}  // namespace
}  // namespace assay::fft
