// SPDX-License-Identifier: Apache-2.0

#include "ml/data/idx.h"

#include <array>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/bits.h"
#include "numerics/core/check.h"

namespace assay::data {
namespace {

constexpr uint8_t kUnsignedByte = 0x08;

// Checks the header of an array with `kExtents` extents and that the bytes after it are as many as
// the extents say; returns the extents.
template <size_t kExtents>
absl::StatusOr<std::array<int64_t, kExtents>> ParseHeader(std::span<const uint8_t> bytes) {
  constexpr size_t kHeader = 4 + 4 * kExtents;
  if (bytes.size() < kHeader) {
    return absl::DataLossError(
        absl::StrCat("idx: ", bytes.size(), " bytes, the header alone has ", kHeader));
  }
  if (bytes[0] != 0 || bytes[1] != 0) {
    const bool gzip = bytes[0] == 0x1f && bytes[1] == 0x8b;
    return absl::DataLossError(
        absl::StrCat("idx: it begins with bytes ", bytes[0], " ", bytes[1], ", expected 0 0",
                     gzip ? "; this is a gzip file, to be unpacked first" : ""));
  }
  if (bytes[2] != kUnsignedByte) {
    return absl::DataLossError(
        absl::StrCat("idx: element type ", bytes[2], ", expected 8 (unsigned bytes)"));
  }
  if (bytes[3] != kExtents) {
    return absl::DataLossError(absl::StrCat("idx: ", bytes[3], " extents, expected ", kExtents));
  }
  std::array<int64_t, kExtents> extents;
  // Each extent is below 2^32 and the product must stay below the size of the bytes, so it is
  // checked before it can overflow. Where there are no items, one of them must still be countable.
  const auto available = static_cast<int64_t>(bytes.size() - kHeader);
  int64_t elements = 1;
  int64_t item = 1;
  for (size_t i = 0; i < kExtents; ++i) {
    extents[i] = LoadBigEndian32(bytes.data() + 4 + 4 * i);
    if (i > 0 && extents[i] == 0) {
      return absl::DataLossError(absl::StrCat("idx: extent ", i, " is 0, expected at least 1"));
    }
    if (extents[i] > 0 && elements > available / extents[i]) {
      return absl::DataLossError(absl::StrCat("idx: its extents ask for more elements than the ",
                                              available, " bytes after the header"));
    }
    elements *= extents[i];
    if (i > 0) {
      if (item > std::numeric_limits<int64_t>::max() / extents[i]) {
        return absl::DataLossError("idx: its extents ask for items of more than 2^63 - 1 elements");
      }
      item *= extents[i];
    }
  }
  if (elements != available) {
    return absl::DataLossError(absl::StrCat("idx: its extents ask for ", elements,
                                            " elements, after the header are ", available,
                                            " bytes"));
  }
  return extents;
}

void AppendExtent(int64_t extent, std::vector<uint8_t>& bytes) {
  ASSAY_CHECK(extent >= 0 && extent < int64_t{1} << 32);
  uint8_t word[4];
  StoreBigEndian(static_cast<uint32_t>(extent), word);
  bytes.insert(bytes.end(), word, word + 4);
}

}  // namespace

std::span<const uint8_t> IdxImages::image(int64_t image) const {
  ASSAY_CHECK(image >= 0 && image < count);
  return pixels.subspan(static_cast<size_t>(image * pixels_per_image()),
                        static_cast<size_t>(pixels_per_image()));
}

absl::StatusOr<IdxImages> ParseIdxImages(std::span<const uint8_t> bytes) {
  const auto extents = ParseHeader<3>(bytes);
  if (!extents.ok()) return extents.status();
  return IdxImages{(*extents)[0], (*extents)[1], (*extents)[2], bytes.subspan(16)};
}

absl::StatusOr<std::span<const uint8_t>> ParseIdxLabels(std::span<const uint8_t> bytes) {
  const auto extents = ParseHeader<1>(bytes);
  if (!extents.ok()) return extents.status();
  return bytes.subspan(8);
}

std::vector<uint8_t> WriteIdxImages(const IdxImages& images) {
  ASSAY_CHECK_EQ(static_cast<int64_t>(images.pixels.size()),
                 images.count * images.pixels_per_image());
  std::vector<uint8_t> bytes = {0, 0, kUnsignedByte, 3};
  AppendExtent(images.count, bytes);
  AppendExtent(images.height, bytes);
  AppendExtent(images.width, bytes);
  bytes.insert(bytes.end(), images.pixels.begin(), images.pixels.end());
  return bytes;
}

std::vector<uint8_t> WriteIdxLabels(std::span<const uint8_t> labels) {
  std::vector<uint8_t> bytes = {0, 0, kUnsignedByte, 1};
  AppendExtent(static_cast<int64_t>(labels.size()), bytes);
  bytes.insert(bytes.end(), labels.begin(), labels.end());
  return bytes;
}

}  // namespace assay::data
