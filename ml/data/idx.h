// SPDX-License-Identifier: Apache-2.0
//
// IDX, the format of MNIST and Fashion-MNIST: a four-byte magic, big-endian extents, then bytes.

#ifndef ASSAY_ML_DATA_IDX_H_
#define ASSAY_ML_DATA_IDX_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::data {

// Images of one size: pixels is [count, height, width], row-major, 0 to 255.
struct IdxImages {
  int64_t count = 0;
  int64_t height = 0;
  int64_t width = 0;
  std::span<const uint8_t> pixels;

  int64_t pixels_per_image() const { return height * width; }
  // image in [0, count).
  std::span<const uint8_t> image(int64_t image) const;
};

// Views of the content of an IDX file (not compressed); they live as long as `bytes`. Any content
// is safe. No allocation. Fails: DataLoss, naming what is wrong, unless the bytes are exactly one
// IDX array of unsigned bytes with three extents (images; height and width at least 1) or one
// (labels). Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database", section "File formats".
absl::StatusOr<IdxImages> ParseIdxImages(std::span<const uint8_t> bytes);
absl::StatusOr<std::span<const uint8_t>> ParseIdxLabels(std::span<const uint8_t> bytes);

// The reverse: one IDX file of these values. pixels.size() == count * height * width (checked).
std::vector<uint8_t> WriteIdxImages(const IdxImages& images);
std::vector<uint8_t> WriteIdxLabels(std::span<const uint8_t> labels);

}  // namespace assay::data

#endif  // ASSAY_ML_DATA_IDX_H_
