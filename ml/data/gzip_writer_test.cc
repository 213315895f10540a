// SPDX-License-Identifier: Apache-2.0

#include "ml/data/gzip_writer.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "ml/data/gzip.h"

namespace assay::data {
namespace {

// Runs, noise and text-like stretches: stored, fixed and dynamic blocks all come up.
std::vector<uint8_t> Sample(size_t size, uint32_t seed) {
  std::vector<uint8_t> bytes;
  uint32_t state = seed;
  while (bytes.size() < size) {
    state = state * 1664525u + 1013904223u;
    const size_t length = 1 + (state >> 8) % 4000;
    const uint32_t kind = (state >> 20) % 3;
    for (size_t i = 0; i < length && bytes.size() < size; ++i) {
      state = state * 1664525u + 1013904223u;
      bytes.push_back(
          static_cast<uint8_t>(kind == 0 ? 0 : (kind == 1 ? state >> 24 : (state >> 24) % 7)));
    }
  }
  return bytes;
}

TEST(GzipWriterTest, WhatZlibWritesIsReadBack) {
  for (const size_t size : {0, 1, 100, 65535, 65536, 65537, 300000}) {
    for (const uint32_t seed : {1u, 2u, 3u}) {
      const auto back = Gunzip(Gzip(Sample(size, seed)), 1 << 20);
      ASSERT_TRUE(back.ok()) << size << ": " << back.status();
      EXPECT_EQ(*back, Sample(size, seed));
    }
  }
}

TEST(GzipWriterTest, SameBytesGiveTheSameFile) {
  const std::vector<uint8_t> bytes = Gzip(Sample(1000, 1));
  EXPECT_EQ(bytes, Gzip(Sample(1000, 1)));
  for (size_t i = 4; i < 8; ++i) EXPECT_EQ(bytes[i], 0);  // no time stamp
}

TEST(GzipWriterTest, ASmallFileCannotFillTheMemory) {
  const std::vector<uint8_t> zeros = Gzip(std::vector<uint8_t>(10000000));
  EXPECT_LT(zeros.size(), 20000u);
  EXPECT_EQ(Gunzip(zeros, 9999999).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Gunzip(zeros, 10000000).ok());
}

TEST(GzipWriterTest, EveryTruncationAndDamageIsNoticed) {
  const std::vector<uint8_t> bytes = Gzip(Sample(20000, 5));
  for (size_t length = 0; length < bytes.size(); length += 7) {
    ASSERT_EQ(Gunzip(std::span<const uint8_t>(bytes).first(length), 100000).status().code(),
              absl::StatusCode::kDataLoss)
        << length;
  }
  // Some bits mean nothing (a time stamp, the padding before a stored block): then the content is
  // right. Damaged content never passes.
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> damaged = bytes;
    damaged[i] ^= static_cast<uint8_t>(1 << (i % 8));
    const auto read = Gunzip(damaged, 100000);
    if (read.ok()) {
      ASSERT_EQ(*read, Sample(20000, 5)) << i;
    }
  }
}

}  // namespace
}  // namespace assay::data
