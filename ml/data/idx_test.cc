// SPDX-License-Identifier: Apache-2.0

#include "ml/data/idx.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace assay::data {
namespace {

const std::vector<uint8_t> kTwoImages = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,
                                         1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};

TEST(IdxTest, ReadsImages) {
  const auto images = ParseIdxImages(kTwoImages);
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_EQ(images->count, 2);
  EXPECT_EQ(images->height, 1);
  EXPECT_EQ(images->width, 3);
  EXPECT_EQ(images->image(1)[0], 4);
  EXPECT_EQ(images->pixels.data(), kTwoImages.data() + 16);  // a view, no copy
}

TEST(IdxTest, ReadsLabels) {
  const std::vector<uint8_t> bytes = {0, 0, 8, 1, 0, 0, 0, 3, 9, 0, 4};
  const auto labels = ParseIdxLabels(bytes);
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_EQ(std::vector<uint8_t>(labels->begin(), labels->end()), (std::vector<uint8_t>{9, 0, 4}));
}

TEST(IdxTest, NoImagesAreAFileToo) {
  const auto images =
      ParseIdxImages(std::vector<uint8_t>{0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 28});
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_EQ(images->count, 0);
  EXPECT_EQ(images->pixels_per_image(), 784);
}

TEST(IdxTest, WritesWhatItReads) {
  EXPECT_EQ(WriteIdxImages(*ParseIdxImages(kTwoImages)), kTwoImages);
  const std::vector<uint8_t> labels = {3, 1, 2};
  const std::vector<uint8_t> bytes = WriteIdxLabels(labels);
  const auto read = ParseIdxLabels(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::vector<uint8_t>(read->begin(), read->end()), labels);
}

std::string Message(std::vector<uint8_t> bytes) {
  const absl::Status status = ParseIdxImages(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  return std::string(status.message());
}

TEST(IdxTest, SaysWhatIsWrong) {
  const auto with = [](size_t at, uint8_t value) {
    std::vector<uint8_t> changed = kTwoImages;
    changed[at] = value;
    return changed;
  };
  EXPECT_EQ(Message({}), "idx: 0 bytes, the header alone has 16");
  EXPECT_EQ(Message(with(0, 1)), "idx: it begins with bytes 1 0, expected 0 0");
  EXPECT_EQ(Message(with(2, 13)), "idx: element type 13, expected 8 (unsigned bytes)");
  EXPECT_EQ(Message(with(3, 1)), "idx: 1 extents, expected 3");
  EXPECT_EQ(Message(with(11, 0)), "idx: extent 1 is 0, expected at least 1");
  EXPECT_EQ(Message(with(7, 3)),
            "idx: its extents ask for more elements than the 6 bytes after the header");
  EXPECT_EQ(Message(with(7, 1)),
            "idx: its extents ask for 3 elements, after the header are 6 bytes");
  std::vector<uint8_t> gzip = kTwoImages;
  gzip[0] = 0x1f;
  gzip[1] = 0x8b;
  EXPECT_EQ(Message(gzip),
            "idx: it begins with bytes 31 139, expected 0 0; this is a gzip file, to be unpacked "
            "first");
  // 2^96 elements: no product may wrap.
  const std::vector<uint8_t> huge = {0,   0,   8,   3,   255, 255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 255, 1,   2,   3,   4,   5,   6};
  EXPECT_EQ(Message(huge),
            "idx: its extents ask for more elements than the 6 bytes after the header");
}

// No images, each of more pixels than can be counted: their product must not wrap either.
TEST(IdxTest, NoImagesOfImpossibleSizeAreRefused) {
  const std::vector<uint8_t> hostile = {0,   0,   8,   3,   0,   0,   0,   0,
                                        255, 255, 255, 255, 255, 255, 255, 255};
  EXPECT_EQ(Message(hostile), "idx: its extents ask for items of more than 2^63 - 1 elements");
  const std::vector<uint8_t> empty = {0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 28};
  const auto images = ParseIdxImages(empty);
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_EQ(images->count, 0);
  EXPECT_EQ(images->pixels_per_image(), 784);
}

TEST(IdxTest, EveryTruncationIsDataLoss) {
  for (size_t length = 0; length < kTwoImages.size(); ++length) {
    EXPECT_EQ(ParseIdxImages(std::span<const uint8_t>(kTwoImages).first(length)).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(IdxTest, RandomHeadersNeverCrash) {
  uint32_t state = 7;
  int accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<uint8_t> bytes = kTwoImages;
    for (int change = 0; change <= trial % 3; ++change) {
      state = state * 1664525u + 1013904223u;
      bytes[(state >> 8) % 16] = static_cast<uint8_t>(state >> 24);
    }
    const auto images = ParseIdxImages(bytes);
    if (!images.ok()) continue;
    ++accepted;
    ASSERT_EQ(images->count * images->pixels_per_image(), 6);
    ASSERT_EQ(images->pixels.size(), 6u);
  }
  EXPECT_LT(accepted, 2000);
}

}  // namespace
}  // namespace assay::data
