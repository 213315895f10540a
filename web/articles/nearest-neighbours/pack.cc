// SPDX-License-Identifier: Apache-2.0

#include "web/articles/nearest-neighbours/pack.h"

#include <array>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::nearest_neighbours {
namespace {

constexpr int64_t kPackImages = kPackBase + kPackQueries;
constexpr int64_t kImageBytes = 16 + kPackImages * kPixels;
constexpr int64_t kLabelBytes = 8 + kPackImages;

absl::Status CheckLabels(std::span<const uint8_t> labels, int64_t images) {
  if (static_cast<int64_t>(labels.size()) != images) {
    return absl::DataLossError(
        absl::StrCat("garments: ", images, " images and ", labels.size(), " labels"));
  }
  for (const uint8_t label : labels) {
    if (label >= kClasses) {
      return absl::DataLossError(absl::StrCat("garments: a label is ", label, ", expected 0 to 9"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSize(const data::IdxImages& images) {
  if (images.height == kSide && images.width == kSide) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("garments: images of ", images.height, " x ",
                                          images.width, ", expected 28 x 28"));
}

}  // namespace

absl::StatusOr<Garments> ReadPack(std::span<const uint8_t> bytes) {
  if (static_cast<int64_t>(bytes.size()) != kImageBytes + kLabelBytes) {
    return absl::DataLossError(absl::StrCat("garments: the pack has ", bytes.size(),
                                            " bytes, expected ", kImageBytes + kLabelBytes));
  }
  const auto images = data::ParseIdxImages(bytes.first(static_cast<size_t>(kImageBytes)));
  if (!images.ok()) return images.status();
  const auto labels = data::ParseIdxLabels(bytes.subspan(static_cast<size_t>(kImageBytes)));
  if (!labels.ok()) return labels.status();
  if (absl::Status size = CheckSize(*images); !size.ok()) return size;
  if (absl::Status same = CheckLabels(*labels, images->count); !same.ok()) return same;
  Garments garments;
  const auto base = images->pixels.begin() + kPackBase * kPixels;
  garments.base.assign(images->pixels.begin(), base);
  garments.queries.assign(base, images->pixels.end());
  garments.base_labels.assign(labels->begin(), labels->begin() + kPackBase);
  garments.query_labels.assign(labels->begin() + kPackBase, labels->end());
  return garments;
}

absl::StatusOr<Garments> ReadIdx(std::span<const uint8_t> base,
                                 std::span<const uint8_t> base_labels,
                                 std::span<const uint8_t> queries,
                                 std::span<const uint8_t> query_labels) {
  Garments garments;
  const auto read = [](std::span<const uint8_t> image_file, std::span<const uint8_t> label_file,
                       std::vector<uint8_t>& pixels, std::vector<uint8_t>& names) {
    const auto images = data::ParseIdxImages(image_file);
    if (!images.ok()) return images.status();
    const auto labels = data::ParseIdxLabels(label_file);
    if (!labels.ok()) return labels.status();
    if (absl::Status size = CheckSize(*images); !size.ok()) return size;
    if (absl::Status same = CheckLabels(*labels, images->count); !same.ok()) return same;
    pixels.assign(images->pixels.begin(), images->pixels.end());
    names.assign(labels->begin(), labels->end());
    return absl::OkStatus();
  };
  if (absl::Status status = read(base, base_labels, garments.base, garments.base_labels);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = read(queries, query_labels, garments.queries, garments.query_labels);
      !status.ok()) {
    return status;
  }
  return garments;
}

absl::StatusOr<std::vector<uint8_t>> ChoosePack(const Garments& all) {
  std::vector<uint8_t> pixels, labels;
  const auto choose = [&](const std::vector<uint8_t>& from, const std::vector<uint8_t>& names,
                          int64_t per_class) {
    std::array<int64_t, kClasses> taken = {};
    int64_t total = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      if (taken[names[i]] == per_class) continue;
      ++taken[names[i]];
      ++total;
      const auto image = from.begin() + static_cast<int64_t>(i) * kPixels;
      pixels.insert(pixels.end(), image, image + kPixels);
      labels.push_back(names[i]);
    }
    return total == kClasses * per_class;
  };
  if (!choose(all.base, all.base_labels, kPackBasePerClass) ||
      !choose(all.queries, all.query_labels, kPackQueriesPerClass)) {
    return absl::InvalidArgumentError("garments: a class has too few images for the pack");
  }
  std::vector<uint8_t> content = data::WriteIdxImages({kPackImages, kSide, kSide, pixels});
  const std::vector<uint8_t> label_file = data::WriteIdxLabels(labels);
  content.insert(content.end(), label_file.begin(), label_file.end());
  return content;
}

const char* ClassName(int64_t label) {
  static constexpr const char* kNames[] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                           "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};
  ASSAY_CHECK(label >= 0 && label < kClasses);
  return kNames[label];
}

}  // namespace assay::nearest_neighbours
