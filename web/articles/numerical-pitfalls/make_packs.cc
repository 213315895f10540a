// SPDX-License-Identifier: Apache-2.0
// Makes the packs of garments.h from Fashion-MNIST's four files.
//
//   make_packs test-images test-labels train-images train-labels SMALL LARGE
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ml/data/gzip.h"
#include "ml/data/idx.h"
#include "web/articles/numerical-pitfalls/garments.h"

namespace {

using assay::data::IdxImages;
using assay::numerical_pitfalls::kLargeTest;
using assay::numerical_pitfalls::kLargeTraining;
using assay::numerical_pitfalls::kPixels;
using assay::numerical_pitfalls::kSmallTest;
using assay::numerical_pitfalls::kSmallTraining;
using assay::numerical_pitfalls::Shrink;

std::vector<uint8_t> Read(const char* path) {
  std::vector<uint8_t> bytes;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return bytes;
  uint8_t buffer[1 << 16];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    bytes.insert(bytes.end(), buffer, buffer + n);
  }
  std::fclose(file);
  return bytes;
}

bool Write(const char* path, const std::vector<uint8_t>& bytes) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return false;
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && whole;
}

void Append(const IdxImages& images, std::span<const uint8_t> labels, int64_t count,
            std::vector<uint8_t>* pack) {
  for (int64_t i = 0; i < count; ++i) {
    pack->push_back(labels[static_cast<size_t>(i)]);
    const size_t at = pack->size();
    pack->resize(at + kPixels);
    Shrink(images.image(i), std::span<uint8_t>(*pack).subspan(at));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "make_packs: %d arguments given, expected four inputs and two outputs\n",
                 argc - 1);
    return 2;
  }
  std::vector<std::vector<uint8_t>> files;
  for (int i = 1; i <= 4; ++i) {
    absl::StatusOr<std::vector<uint8_t>> bytes =
        assay::data::Gunzip(Read(argv[i]), int64_t{1} << 28);
    if (!bytes.ok()) {
      std::fprintf(stderr, "make_packs: %s: %s\n", argv[i], bytes.status().ToString().c_str());
      return 1;
    }
    files.push_back(*std::move(bytes));
  }
  const auto test = assay::data::ParseIdxImages(files[0]);
  const auto test_labels = assay::data::ParseIdxLabels(files[1]);
  const auto train = assay::data::ParseIdxImages(files[2]);
  const auto train_labels = assay::data::ParseIdxLabels(files[3]);
  for (const absl::Status& status :
       {train.status(), train_labels.status(), test.status(), test_labels.status()}) {
    if (!status.ok()) {
      std::fprintf(stderr, "make_packs: %s\n", status.ToString().c_str());
      return 1;
    }
  }
  if (train->count != kLargeTraining || test->count != kLargeTest ||
      train->pixels_per_image() != 4 * kPixels ||
      static_cast<int64_t>(train_labels->size()) != kLargeTraining ||
      static_cast<int64_t>(test_labels->size()) != kLargeTest) {
    std::fprintf(stderr, "make_packs: these are not the 60,000 and 10,000 images expected\n");
    return 1;
  }
  std::vector<uint8_t> small;
  Append(*train, *train_labels, kSmallTraining, &small);
  Append(*test, *test_labels, kSmallTest, &small);
  std::vector<uint8_t> large;
  Append(*train, *train_labels, kLargeTraining, &large);
  Append(*test, *test_labels, kLargeTest, &large);
  if (!Write(argv[5], small) || !Write(argv[6], large)) {
    std::fprintf(stderr, "make_packs: cannot write %s or %s\n", argv[5], argv[6]);
    return 1;
  }
  return 0;
}
