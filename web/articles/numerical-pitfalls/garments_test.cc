// SPDX-License-Identifier: Apache-2.0
#include "web/articles/numerical-pitfalls/garments.h"

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace assay::numerical_pitfalls {
namespace {

TEST(GarmentsTest, ReadsARangeOfRecordsAndStandardises) {
  std::vector<uint8_t> pack;
  for (uint8_t i = 0; i < 3; ++i) {
    pack.push_back(static_cast<uint8_t>(i + 7));
    pack.insert(pack.end(), kPixels, static_cast<uint8_t>(100 * i));
  }
  const absl::StatusOr<Garments> garments = ReadPack(pack, 3, 1, 2);
  ASSERT_TRUE(garments.ok());
  EXPECT_EQ(garments->count(), 2);
  EXPECT_EQ(garments->labels, (std::vector<uint8_t>{8, 9}));
  EXPECT_EQ(garments->image(0).size(), static_cast<size_t>(kPixels));
  EXPECT_EQ(garments->image(0)[5], (100.0f / 255.0f - 0.286f) / 0.353f);
  EXPECT_EQ(garments->image(1)[0], (200.0f / 255.0f - 0.286f) / 0.353f);
  EXPECT_EQ(ReadPack(pack, 3, 3, 0)->count(), 0);
}

TEST(GarmentsTest, RefusesPacksOfAnotherLengthAndStrangeLabels) {
  std::vector<uint8_t> pack(2 * kRecordBytes, 0);
  EXPECT_EQ(ReadPack(pack, 3, 0, 1).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadPack({}, 1, 0, 1).status().code(), absl::StatusCode::kDataLoss);
  pack[kRecordBytes] = 10;
  EXPECT_TRUE(ReadPack(pack, 2, 0, 1).ok());
  EXPECT_EQ(ReadPack(pack, 2, 0, 2).status().message(),
            "record 1 of the pack has label 10, expected 0 to 9");
}

TEST(GarmentsTest, ShrinksByTheMeanOfFourRoundedHalfUp) {
  std::vector<uint8_t> image(4 * kPixels, 0);
  image[0] = 1;
  image[1] = 1;                  // 2 / 4 rounds up to 1
  image[2] = 1;                  // 1 / 4 rounds down to 0
  for (int i = 0; i < 2; ++i) {  // the last block, all white
    image[static_cast<size_t>((2 * kSide - 1 - i) * 2 * kSide + 2 * kSide - 1)] = 255;
    image[static_cast<size_t>((2 * kSide - 1 - i) * 2 * kSide + 2 * kSide - 2)] = 255;
  }
  std::vector<uint8_t> out(kPixels, 77);
  Shrink(image, out);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[kPixels - 1], 255);
  EXPECT_EQ(out[kPixels - 2], 0);
}

}  // namespace
}  // namespace assay::numerical_pitfalls
