// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ml/data/idx.h"
#include "search/index/index.h"
#include "web/articles/nearest-neighbours/pack.h"

extern "C" {
const char* message(int code);
int load_pack(const uint8_t* bytes, uint32_t n);
int query(int32_t number, uint8_t* pixels, int32_t* label);
int garments(const int32_t* ids, int32_t n, uint8_t* pixels, int32_t* labels);
int ask(const uint8_t* picture, int32_t metric, double* values);
int scan(int32_t rows, int32_t k, int32_t* ids, double* nearness, double* facts);
}

namespace assay::nearest_neighbours {
namespace {

// Garments made up for the test: enough of every class for a pack.
Garments MadeUp() {
  Garments garments;
  uint32_t state = 5;
  const auto fill = [&](int64_t count, std::vector<uint8_t>& pixels, std::vector<uint8_t>& labels) {
    for (int64_t i = 0; i < count; ++i) {
      labels.push_back(static_cast<uint8_t>(i % kClasses));
      for (int64_t j = 0; j < kPixels; ++j) {
        state = state * 1664525u + 1013904223u;
        pixels.push_back(
            static_cast<uint8_t>((state >> 24) / 4 + 10 * static_cast<uint32_t>(i % kClasses)));
      }
    }
  };
  fill(kPackBase + 30, garments.base, garments.base_labels);
  fill(kPackQueries + 30, garments.queries, garments.query_labels);
  return garments;
}

const std::vector<uint8_t>& Pack() {
  static const std::vector<uint8_t> pack = *ChoosePack(MadeUp());
  return pack;
}

class DemoTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(load_pack(Pack().data(), static_cast<uint32_t>(Pack().size())), 0);
  }
};

TEST(PackTest, ReadsBackWhatWasChosen) {
  const auto read = ReadPack(Pack());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->base_labels.size(), static_cast<size_t>(kPackBase));
  EXPECT_EQ(read->query_labels.size(), static_cast<size_t>(kPackQueries));
  for (int64_t c = 0; c < kClasses; ++c) {
    EXPECT_EQ(std::count(read->base_labels.begin(), read->base_labels.end(), c), kPackBasePerClass);
  }
  const Garments all = MadeUp();
  EXPECT_TRUE(std::equal(read->base.begin(), read->base.end(), all.base.begin()));
  EXPECT_TRUE(std::equal(read->queries.begin(), read->queries.end(), all.queries.begin()));
}

TEST(PackTest, RefusesWhatIsNoPack) {
  EXPECT_FALSE(ReadPack({}).ok());
  EXPECT_FALSE(ReadPack(std::span<const uint8_t>(Pack()).first(Pack().size() - 1)).ok());
  for (const size_t at : {size_t{0}, size_t{3}, size_t{7}, size_t{15}, Pack().size() - 1}) {
    std::vector<uint8_t> damaged = Pack();
    damaged[at] = 77;
    EXPECT_FALSE(ReadPack(damaged).ok()) << at;
  }
  Garments few = MadeUp();
  few.base_labels.resize(100);
  EXPECT_FALSE(ChoosePack(few).ok());
}

TEST_F(DemoTest, ScanningEverythingEqualsTheIndex) {
  const Garments garments = *ReadPack(Pack());
  for (const auto metric :
       {index::Metric::kL2, index::Metric::kInnerProduct, index::Metric::kCosine}) {
    auto index = index::FlatIndex<uint8_t>::Create(kPixels, metric);
    ASSERT_TRUE(index->Add(garments.base).ok());
    for (const int32_t k : {1, 10, 25}) {
      std::vector<uint8_t> pixels(kPixels);
      int32_t label = -1;
      ASSERT_EQ(query(17, pixels.data(), &label), 0);
      EXPECT_EQ(label, garments.query_labels[17]);
      std::vector<double> values(kPackBase);
      ASSERT_EQ(ask(pixels.data(), static_cast<int32_t>(metric), values.data()), 0);
      std::vector<int32_t> ids(static_cast<size_t>(k));
      std::vector<double> nearness(static_cast<size_t>(k));
      std::array<double, 6> facts;
      ASSERT_EQ(scan(kPackBase, k, ids.data(), nearness.data(), facts.data()), 0);
      const auto expected = index->Search(pixels, k);
      for (int32_t i = 0; i < k; ++i) {
        EXPECT_EQ(ids[static_cast<size_t>(i)], expected->ids[static_cast<size_t>(i)]);
        EXPECT_EQ(nearness[static_cast<size_t>(i)], expected->distances[static_cast<size_t>(i)]);
      }
      EXPECT_EQ(facts[0], k);
      EXPECT_GE(facts[1], k);
      EXPECT_EQ(facts[5], expected->distances.back());
    }
  }
}

TEST_F(DemoTest, AScanGrowsRowByRow) {
  std::vector<uint8_t> pixels(kPixels, 0);
  std::vector<double> values(kPackBase);
  ASSERT_EQ(ask(pixels.data(), 0, values.data()), 0);
  std::array<int32_t, 3> ids;
  std::array<double, 3> nearness;
  std::array<double, 6> facts;
  ASSERT_EQ(scan(0, 3, ids.data(), nearness.data(), facts.data()), 0);
  EXPECT_EQ(ids[0], -1);
  EXPECT_EQ(facts[0], 0);
  EXPECT_EQ(facts[2], -1);
  ASSERT_EQ(scan(1, 3, ids.data(), nearness.data(), facts.data()), 0);
  EXPECT_EQ(ids[0], 0);
  EXPECT_EQ(ids[1], -1);
  EXPECT_EQ(nearness[0], values[0]);
  ASSERT_EQ(scan(50, 3, ids.data(), nearness.data(), facts.data()), 0);
  std::sort(values.begin(), values.begin() + 50);
  EXPECT_EQ(nearness[2], values[2]);
}

TEST_F(DemoTest, ShowsGarmentsAndGaps) {
  const Garments all = *ReadPack(Pack());
  const std::array<int32_t, 3> ids = {1999, -1, 4};
  std::vector<uint8_t> pixels(3 * kPixels, 99);
  std::array<int32_t, 3> labels;
  ASSERT_EQ(garments(ids.data(), 3, pixels.data(), labels.data()), 0);
  EXPECT_EQ(labels, (std::array<int32_t, 3>{all.base_labels[1999], -1, all.base_labels[4]}));
  EXPECT_TRUE(std::equal(all.base.end() - kPixels, all.base.end(), pixels.begin()));
  EXPECT_EQ(pixels[kPixels], 0);
}

TEST_F(DemoTest, RefusesWhatIsOutOfRange) {
  std::vector<uint8_t> pixels(kPixels, 0);
  std::vector<double> values(kPackBase);
  int32_t label = 0;
  std::array<int32_t, 30> ids;
  std::array<double, 30> nearness;
  std::array<double, 6> facts;
  EXPECT_EQ(scan(5, 3, ids.data(), nearness.data(), facts.data()), 7);  // nothing asked yet
  EXPECT_EQ(query(-1, pixels.data(), &label), 3);
  EXPECT_EQ(query(200, pixels.data(), &label), 3);
  for (const int32_t id : {-2, 2000}) EXPECT_EQ(garments(&id, 1, pixels.data(), &label), 3);
  EXPECT_EQ(garments(ids.data(), 26, pixels.data(), &label), 5);
  EXPECT_EQ(garments(ids.data(), -1, pixels.data(), &label), 5);
  EXPECT_EQ(ask(pixels.data(), 3, values.data()), 4);
  ASSERT_EQ(ask(pixels.data(), 0, values.data()), 0);
  EXPECT_EQ(scan(5, 0, ids.data(), nearness.data(), facts.data()), 5);
  EXPECT_EQ(scan(5, 26, ids.data(), nearness.data(), facts.data()), 5);
  EXPECT_EQ(scan(-1, 3, ids.data(), nearness.data(), facts.data()), 6);
  EXPECT_EQ(scan(2001, 3, ids.data(), nearness.data(), facts.data()), 6);
  for (int code = 0; code <= 9; ++code) EXPECT_FALSE(std::string(message(code)).empty());
}

}  // namespace
}  // namespace assay::nearest_neighbours
