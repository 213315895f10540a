// SPDX-License-Identifier: Apache-2.0
//
// The data of the training story: Fashion-MNIST, each image of 28 by 28 pixels shrunk to 14 by 14
// so that a page can carry some thousands of them and a browser can train on them in a second.
//
// A pack is a sequence of records of 197 bytes: the label (0 to 9), then 196 pixels, row by row.
// Training records come first; how many there are of each kind is the reader's to know.
#ifndef ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_GARMENTS_H_
#define ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_GARMENTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::numerical_pitfalls {

inline constexpr int kSide = 14;
inline constexpr int kPixels = kSide * kSide;
inline constexpr int kClasses = 10;
inline constexpr int kRecordBytes = 1 + kPixels;

// Records of the small pack, which the browser fetches, and of the large one.
inline constexpr int64_t kSmallTraining = 4000;
inline constexpr int64_t kSmallTest = 1000;
inline constexpr int64_t kLargeTraining = 60000;
inline constexpr int64_t kLargeTest = 10000;

// Standardised images and their labels.
struct Garments {
  std::vector<float> images;    // [count, 196]: (pixel / 255 - 0.286) / 0.353
  std::vector<uint8_t> labels;  // [count], 0 to 9
  int64_t count() const { return static_cast<int64_t>(labels.size()); }
  std::span<const float> image(int64_t i) const {
    return std::span<const float>(images).subspan(static_cast<size_t>(i * kPixels), kPixels);
  }
};

// Records [begin, begin + count) of a pack. Any bytes are safe.
// Fails: DataLoss if the pack is not `expected` records long or a label is not 0 to 9.
absl::StatusOr<Garments> ReadPack(std::span<const uint8_t> pack, int64_t expected, int64_t begin,
                                  int64_t count);

// One image of 28 by 28 as 14 by 14: each pixel the mean of four, rounded half up.
void Shrink(std::span<const uint8_t> image, std::span<uint8_t> out);

}  // namespace assay::numerical_pitfalls

#endif  // ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_GARMENTS_H_
