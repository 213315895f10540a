// SPDX-License-Identifier: Apache-2.0

#include "ml/data/gzip.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace assay::data {
namespace {

std::string Unpacked(const std::vector<uint8_t>& bytes) {
  const auto unpacked = Gunzip(bytes, 1000);
  EXPECT_TRUE(unpacked.ok()) << unpacked.status();
  return unpacked.ok() ? std::string(unpacked->begin(), unpacked->end()) : "";
}

// "hello", by hand: one stored block.
const std::vector<uint8_t> kStored = {0x1f, 0x8b, 8,    0,    0,    0,   0,   0,   0,   3,
                                      1,    5,    0,    0xfa, 0xff, 'h', 'e', 'l', 'l', 'o',
                                      0x86, 0xa6, 0x10, 0x36, 5,    0,   0,   0};
// "aaaaaaaaaa" with fixed codes: two literals, then a reference that runs into itself.
const std::vector<uint8_t> kFixed = {0x1f, 0x8b, 8, 0,    0,    0,    0,    0,  0, 3, 0x4b, 0x4c,
                                     0x84, 1,    0, 0xf0, 0xcd, 0x11, 0x4c, 10, 0, 0, 0};

TEST(GzipTest, ReadsStoredAndFixedBlocks) {
  EXPECT_EQ(Unpacked(kStored), "hello");
  EXPECT_EQ(Unpacked(kFixed), "aaaaaaaaaa");
}

TEST(GzipTest, ReadsMembersOneAfterTheOther) {
  std::vector<uint8_t> both = kStored;
  both.insert(both.end(), kFixed.begin(), kFixed.end());
  EXPECT_EQ(Unpacked(both), "helloaaaaaaaaaa");
}

TEST(GzipTest, SkipsNamesAndRemarksInTheHeader) {
  std::vector<uint8_t> named(kStored.begin(), kStored.begin() + 10);
  named[3] = 4 | 8 | 16 | 2;
  const std::vector<uint8_t> optional = {2, 0, 7, 7, 'n', 0, 'r', 'e', 0, 1, 2};
  named.insert(named.end(), optional.begin(), optional.end());
  named.insert(named.end(), kStored.begin() + 10, kStored.end());
  EXPECT_EQ(Unpacked(named), "hello");
}

TEST(GzipTest, RefusesToUnpackMoreThanItMay) {
  EXPECT_EQ(Gunzip(kStored, 4).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Gunzip(kFixed, 9).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Gunzip(kFixed, 10).ok());
}

TEST(GzipTest, SaysWhatIsWrong) {
  const auto with = [](size_t at, uint8_t value) {
    std::vector<uint8_t> changed = kStored;
    changed[at] = value;
    return std::string(Gunzip(changed, 1000).status().message());
  };
  EXPECT_EQ(with(0, 'P'), "gzip: no gzip file: it does not begin with 1f 8b");
  EXPECT_EQ(with(10, 7), "gzip: a block of unknown type");
  EXPECT_EQ(with(11, 4), "gzip: a stored block whose lengths disagree");
  EXPECT_EQ(with(15, 'j'), "gzip: its check sums do not fit its content");
  EXPECT_EQ(Gunzip({}, 1000).status().message(), "gzip: cut short in its header");
}

TEST(GzipTest, EveryTruncationIsDataLoss) {
  for (const std::vector<uint8_t>& bytes : {kStored, kFixed}) {
    for (size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_EQ(Gunzip(std::span<const uint8_t>(bytes).first(length), 1000).status().code(),
                absl::StatusCode::kDataLoss)
          << length;
    }
  }
}

// Every byte string is an input: none may crash, loop or pass unless its check sums fit.
TEST(GzipTest, RandomContentNeverCrashes) {
  uint32_t state = 3;
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<uint8_t> bytes(kStored.begin(), kStored.begin() + 10);
    const int length = 1 + trial % 60;
    for (int i = 0; i < length; ++i) {
      state = state * 1664525u + 1013904223u;
      bytes.push_back(static_cast<uint8_t>(state >> 24));
    }
    EXPECT_FALSE(Gunzip(bytes, 100000).ok());
  }
}

}  // namespace
}  // namespace assay::data
