// SPDX-License-Identifier: Apache-2.0

#include "ml/data/gzip.h"

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace assay::data {
namespace {

// Runs, noise and text-like stretches.
std::vector<uint8_t> Sample(size_t size, uint32_t seed) {
  std::vector<uint8_t> bytes;
  uint32_t state = seed;
  while (bytes.size() < size) {
    state = state * 1664525u + 1013904223u;
    const size_t length = 1 + (state >> 8) % 4000;
    const uint32_t kind = (state >> 20) % 3;
    for (size_t i = 0; i < length && bytes.size() < size; ++i) {
      state = state * 1664525u + 1013904223u;
      const uint32_t noise = state >> 24;
      bytes.push_back(static_cast<uint8_t>(kind == 0 ? 0 : (kind == 1 ? noise : noise % 7)));
    }
  }
  return bytes;
}

TEST(GzipTest, RoundTripsSizesAroundItsBuffers) {
  for (const size_t size : {0, 1, 100, 65535, 65536, 65537, 300000}) {
    const auto back = Gunzip(Gzip(Sample(size, 1)), 1 << 20);
    ASSERT_TRUE(back.ok()) << size << ": " << back.status();
    EXPECT_EQ(*back, Sample(size, 1));
  }
}

TEST(GzipTest, SameBytesGiveTheSameFile) {
  const std::vector<uint8_t> bytes = Gzip(Sample(1000, 1));
  EXPECT_EQ(bytes, Gzip(Sample(1000, 1)));
  for (size_t i = 4; i < 8; ++i) EXPECT_EQ(bytes[i], 0);  // no time stamp
}

TEST(GzipTest, ReadsMembersOneAfterTheOther) {
  std::vector<uint8_t> both = Gzip(Sample(10, 1));
  const std::vector<uint8_t> second = Gzip(Sample(20, 2));
  both.insert(both.end(), second.begin(), second.end());
  const auto back = Gunzip(both, 100);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->size(), 30u);
}

TEST(GzipTest, ASmallFileCannotFillTheMemory) {
  const std::vector<uint8_t> zeros = Gzip(std::vector<uint8_t>(10000000));
  EXPECT_LT(zeros.size(), 20000u);
  EXPECT_EQ(Gunzip(zeros, 9999999).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Gunzip(zeros, 10000000).ok());
}

int allocations_left = 0;
void* Allocate(void*, unsigned items, unsigned size) {
  return allocations_left-- > 0 ? std::calloc(items, size) : nullptr;
}

TEST(GzipTest, NoMemoryIsAStatus) {
  const std::vector<uint8_t> bytes = Gzip(Sample(300000, 3));
  int refused = 0;
  for (int allowed = 0; allowed < 10; ++allowed) {
    allocations_left = allowed;
    const auto read = internal::Gunzip(bytes, 1 << 20, &Allocate);
    if (read.ok()) {
      EXPECT_EQ(*read, Sample(300000, 3));
    } else {
      EXPECT_EQ(read.status().code(), absl::StatusCode::kResourceExhausted) << read.status();
      ++refused;
    }
  }
  // zlib has its state and its window to allocate.
  EXPECT_GE(refused, 1);
  EXPECT_LT(refused, 10);
}

TEST(GzipTest, EveryTruncationIsDataLoss) {
  const std::vector<uint8_t> bytes = Gzip(Sample(5000, 5));
  for (size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_EQ(Gunzip(std::span<const uint8_t>(bytes).first(length), 100000).status().code(),
              absl::StatusCode::kDataLoss)
        << length;
  }
  EXPECT_EQ(Gunzip(Sample(100, 1), 1000).status().code(), absl::StatusCode::kDataLoss);
}

TEST(GzipTest, DamagedContentNeverPasses) {
  const std::vector<uint8_t> bytes = Gzip(Sample(5000, 5));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> damaged = bytes;
    damaged[i] ^= static_cast<uint8_t>(1 << (i % 8));
    const auto read = Gunzip(damaged, 100000);
    // Some bits mean nothing (a time stamp, padding): then the content is right.
    if (read.ok()) {
      ASSERT_EQ(*read, Sample(5000, 5)) << i;
    }
  }
}

}  // namespace
}  // namespace assay::data
