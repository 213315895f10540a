// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "ml/data/gzip.h"
#include "ml/data/idx.h"

namespace assay::data {
namespace {

std::vector<uint8_t> Unpacked(const std::string& name) {
  const std::string path = "external/fashion_mnist/" + name;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    ADD_FAILURE() << "cannot open " << path;
    return {};
  }
  std::vector<uint8_t> bytes;
  uint8_t piece[4096];
  while (const size_t read = std::fread(piece, 1, sizeof(piece), file)) {
    bytes.insert(bytes.end(), piece, piece + read);
  }
  std::fclose(file);
  const auto unpacked = Gunzip(bytes, int64_t{1} << 28);
  EXPECT_TRUE(unpacked.ok()) << unpacked.status();
  return unpacked.ok() ? *unpacked : std::vector<uint8_t>{};
}

TEST(FashionMnistTest, DebiansFilesAreWhatTheirPublisherDescribes) {
  const std::vector<uint8_t> train = Unpacked("train-images-idx3-ubyte.gz");
  const std::vector<uint8_t> train_labels = Unpacked("train-labels-idx1-ubyte.gz");
  const std::vector<uint8_t> test = Unpacked("t10k-images-idx3-ubyte.gz");
  const std::vector<uint8_t> test_labels = Unpacked("t10k-labels-idx1-ubyte.gz");
  const auto base = ParseIdxImages(train);
  const auto queries = ParseIdxImages(test);
  const auto base_labels = ParseIdxLabels(train_labels);
  const auto query_labels = ParseIdxLabels(test_labels);
  ASSERT_TRUE(base.ok() && queries.ok() && base_labels.ok() && query_labels.ok());
  EXPECT_EQ(base->count, 60000);
  EXPECT_EQ(base->height, 28);
  EXPECT_EQ(base->width, 28);
  EXPECT_EQ(queries->count, 10000);
  std::vector<int> counts(10);
  for (const uint8_t label : *base_labels) ++counts.at(label);
  for (const int count : counts) EXPECT_EQ(count, 6000);
  EXPECT_EQ(query_labels->size(), 10000u);
  EXPECT_EQ((*base_labels)[0], 9);  // the first training image is a boot
}

}  // namespace
}  // namespace assay::data
