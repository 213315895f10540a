// SPDX-License-Identifier: Apache-2.0
#include "web/articles/numerical-pitfalls/garments.h"

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::numerical_pitfalls {
namespace {

// Mean and standard deviation of the pixels of Fashion-MNIST's training images, in [0, 1].
constexpr float kMean = 0.286f;
constexpr float kDeviation = 0.353f;

}  // namespace

absl::StatusOr<Garments> ReadPack(std::span<const uint8_t> pack, int64_t expected, int64_t begin,
                                  int64_t count) {
  if (static_cast<int64_t>(pack.size()) != expected * kRecordBytes) {
    return absl::DataLossError(absl::StrCat("the pack has ", pack.size(), " bytes, expected ",
                                            expected * kRecordBytes, " for ", expected,
                                            " records"));
  }
  ASSAY_CHECK(begin >= 0 && count >= 0 && begin + count <= expected);
  Garments garments;
  garments.images.reserve(static_cast<size_t>(count * kPixels));
  garments.labels.reserve(static_cast<size_t>(count));
  for (int64_t i = begin; i < begin + count; ++i) {
    const std::span<const uint8_t> record =
        pack.subspan(static_cast<size_t>(i * kRecordBytes), kRecordBytes);
    if (record[0] >= kClasses) {
      return absl::DataLossError(absl::StrCat("record ", i, " of the pack has label ",
                                              static_cast<int>(record[0]), ", expected 0 to 9"));
    }
    garments.labels.push_back(record[0]);
    for (const uint8_t pixel : record.subspan(1)) {
      garments.images.push_back((static_cast<float>(pixel) / 255.0f - kMean) / kDeviation);
    }
  }
  return garments;
}

void Shrink(std::span<const uint8_t> image, std::span<uint8_t> out) {
  ASSAY_CHECK(image.size() == 4 * kPixels && out.size() == kPixels);
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const size_t at = static_cast<size_t>(2 * row * 2 * kSide + 2 * column);
      const int sum = image[at] + image[at + 1] + image[at + 2 * kSide] + image[at + 2 * kSide + 1];
      out[static_cast<size_t>(row * kSide + column)] = static_cast<uint8_t>((sum + 2) / 4);
    }
  }
}

}  // namespace assay::numerical_pitfalls
