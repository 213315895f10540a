// SPDX-License-Identifier: Apache-2.0

#include "search/index/file.h"

#if !defined(__EMSCRIPTEN__)
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/sha256.h"
#include "numerics/core/thread_pool.h"

namespace assay::index {
namespace {

std::string TemporaryPath(const std::string& name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
}

FlatIndex<float> Sample(Metric metric = Metric::kCosine) {
  auto index = FlatIndex<float>::Create(5, metric, {.max_bytes = 12345});
  std::vector<float> rows;
  for (int i = 0; i < 8 * 5; ++i) rows.push_back(static_cast<float>((i * 37) % 19) - 9.5f);
  rows[7] = std::numeric_limits<float>::infinity();
  rows[13] = -0.0f;
  EXPECT_TRUE(index->Add(rows).ok());
  return *std::move(index);
}

FlatIndex<uint8_t> ByteSample() {
  auto index = FlatIndex<uint8_t>::Create(3, Metric::kL2);
  EXPECT_TRUE(index->Add(std::vector<uint8_t>{0, 255, 3, 9, 8, 7}).ok());
  return *std::move(index);
}

// A header and rows as given, with the checksum that fits them: what a hostile writer would send.
std::vector<uint8_t> Sealed(std::vector<uint8_t> content) {
  Sha256 hash;
  hash.Update(std::span<const uint8_t>(content));
  for (const uint8_t byte : hash.Finish()) content.push_back(byte);
  return content;
}
std::vector<uint8_t> Unsealed(std::vector<uint8_t> bytes) {
  bytes.resize(bytes.size() - 32);
  return bytes;
}

TEST(FileTest, RoundTripKeepsEveryRowAndParameter) {
  for (const Metric metric : {Metric::kL2, Metric::kInnerProduct, Metric::kCosine}) {
    const FlatIndex<float> index = Sample(metric);
    const std::vector<uint8_t> bytes = Serialize(index);
    const auto copy = Deserialize<float>(bytes);
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_EQ(copy->size(), index.size());
    EXPECT_EQ(copy->dimension(), 5);
    EXPECT_EQ(copy->metric(), metric);
    EXPECT_EQ(copy->options().max_bytes, 12345);
    EXPECT_EQ(copy->unsearchable(), 1);
    for (int64_t id = 0; id < index.size(); ++id) {
      for (size_t j = 0; j < 5; ++j) {
        EXPECT_EQ(FloatBits((*copy->Row(id))[j]), FloatBits((*index.Row(id))[j]));
      }
    }
    EXPECT_EQ(Serialize(*copy), bytes);
    const std::vector<float> query = {1, 2, 3, 4, 5};
    EXPECT_EQ(copy->Search(query, 8)->ids, index.Search(query, 8)->ids);
    EXPECT_EQ(copy->Search(query, 8)->distances, index.Search(query, 8)->distances);
  }
}

TEST(FileTest, AnEmptyIndexIsAFileToo) {
  const auto index = FlatIndex<uint8_t>::Create(784, Metric::kL2);
  const auto copy = Deserialize<uint8_t>(Serialize(*index));
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->size(), 0);
  EXPECT_EQ(copy->dimension(), 784);
}

TEST(FileTest, TheBytesAreTheDocumentedOnes) {
  const std::vector<uint8_t> bytes = Serialize(ByteSample());
  ASSERT_EQ(bytes.size(), 64u + 6 + 32);
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 8), "ASSAYIDX");
  EXPECT_EQ(LoadLittleEndian32(bytes.data() + 8), 1u);
  EXPECT_EQ(bytes[12], 1);
  EXPECT_EQ(bytes[13], 1);
  EXPECT_EQ(bytes[14], 0);
  EXPECT_EQ(LoadLittleEndian64(bytes.data() + 16), 3u);
  EXPECT_EQ(LoadLittleEndian64(bytes.data() + 24), 2u);
  EXPECT_EQ(LoadLittleEndian64(bytes.data() + 40), 6u);
  EXPECT_EQ(bytes[65], 255);
  EXPECT_EQ(Sealed(Unsealed(bytes)), bytes);
}

TEST(FileTest, EveryFlippedBitIsDataLoss) {
  const std::vector<uint8_t> bytes = Serialize(Sample());
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    std::vector<uint8_t> damaged = bytes;
    damaged[i / 8] ^= static_cast<uint8_t>(1 << (i % 8));
    const auto loaded = Deserialize<float>(damaged);
    ASSERT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss) << "bit " << i;
  }
}

TEST(FileTest, EveryTruncationIsDataLoss) {
  const std::vector<uint8_t> bytes = Serialize(Sample());
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto loaded = Deserialize<float>(std::span<const uint8_t>(bytes).first(length));
    ASSERT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss) << length << " bytes";
  }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_EQ(Deserialize<float>(longer).status().code(), absl::StatusCode::kDataLoss);
}

// Random headers under a fitting checksum: the loader must judge every field by itself.
TEST(FileTest, HostileHeadersNeverCrash) {
  const std::vector<uint8_t> content = Unsealed(Serialize(Sample()));
  uint32_t state = 1;
  int accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<uint8_t> hostile = content;
    const int changes = 1 + trial % 4;
    for (int change = 0; change < changes; ++change) {
      state = state * 1664525u + 1013904223u;
      const size_t at = (state >> 8) % 64;
      state = state * 1664525u + 1013904223u;
      const uint32_t choice = state >> 24;
      hostile[at] = choice < 64 ? 0 : (choice < 128 ? 255 : static_cast<uint8_t>(choice));
    }
    if (trial % 3 == 0) hostile.resize(64 + (state >> 9) % (content.size() - 64));
    const auto loaded = Deserialize<float>(Sealed(hostile));
    if (loaded.ok()) {
      ++accepted;
      ASSERT_EQ(Serialize(*loaded), Sealed(hostile)) << "trial " << trial;
    }
  }
  // Some changes are valid: another metric, another max_bytes.
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 10000);
}

TEST(FileTest, SaysWhatIsWrongWithAWholeFile) {
  const std::vector<uint8_t> content = Unsealed(Serialize(Sample()));
  const auto with = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> changed = content;
    changed[at] = value;
    return Deserialize<float>(Sealed(changed)).status();
  };
  EXPECT_EQ(with(8, 2).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(with(8, 2).message(), "index file: version 2; this program reads version 1");
  EXPECT_EQ(with(12, 7).message(), "index file: unknown kind 7");
  EXPECT_EQ(with(13, 2).message(), "index file: unknown element type 2");
  EXPECT_EQ(with(14, 3).message(), "index file: unknown metric 3");
  EXPECT_EQ(with(15, 1).message(), "index file: reserved bytes of the header are not zero");
  EXPECT_EQ(with(16, 0).message(), "index file: dimension is 0, expected 1 to 32768");
  EXPECT_EQ(with(24, 9).message(),
            "index file: the header speaks of 9 rows of 20 bytes and 160 bytes in all; the file "
            "holds 160");
  // max_bytes too small for the rows it holds.
  EXPECT_EQ(with(33, 0).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Deserialize<uint8_t>(Serialize(Sample())).status().message(),
            "index file: it holds f32 rows, asked for was an index of u8");
}

TEST(FileTest, SavesAndLoadsFiles) {
  const std::string path = TemporaryPath("sample.index");
  ASSERT_TRUE(Save(ByteSample(), path).ok());
  // Again, over the old file.
  ASSERT_TRUE(Save(ByteSample(), path).ok());
  const auto loaded = Load<uint8_t>(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Serialize(*loaded), Serialize(ByteSample()));
  for (const auto& entry : std::filesystem::directory_iterator(TemporaryPath(""))) {
    EXPECT_EQ(entry.path().string().find("sample.index."), std::string::npos) << entry.path();
  }
  std::remove(path.c_str());
}

TEST(FileTest, AnotherWritersPartIsLeftAlone) {
  // A folder in the way of a fixed name; another process may be writing there.
  const std::string path = TemporaryPath("shared.index");
  std::filesystem::create_directory(path + ".partial");
  EXPECT_TRUE(Save(ByteSample(), path).ok());
  EXPECT_TRUE(std::filesystem::exists(path + ".partial"));
  std::filesystem::remove(path + ".partial");
  std::remove(path.c_str());
}

TEST(FileTest, WritersAtOnceLeaveOneWholeFile) {
  const std::string path = TemporaryPath("contended.index");
  const std::vector<uint8_t> bytes = Serialize(ByteSample());
  ThreadPool pool(4);
  pool.ParallelFor(200, 1, [&](int64_t, int64_t) {
    ASSERT_TRUE(Save(ByteSample(), path).ok());
    const auto loaded = Load<uint8_t>(path);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    ASSERT_EQ(Serialize(*loaded), bytes);
  });
  std::remove(path.c_str());
}

#if !defined(__EMSCRIPTEN__)  // no limits of the system there
TEST(FileTest, NoMemoryForTheRowsIsNoDamage) {
  // Bytes of one dimension take 32 bytes a row: 8 MB become 256 MB.
  auto index = FlatIndex<uint8_t>::Create(1, Metric::kInnerProduct);
  const std::vector<uint8_t> empty = Unsealed(Serialize(*index));
  std::vector<uint8_t> content = empty;
  const uint64_t rows = uint64_t{1} << 23;
  StoreLittleEndian(rows, content.data() + 24);
  StoreLittleEndian(rows, content.data() + 40);
  content.resize(content.size() + rows);
  const std::vector<uint8_t> bytes = Sealed(content);
  int64_t pages = 0;
  std::FILE* statistics = std::fopen("/proc/self/statm", "r");
  ASSERT_NE(statistics, nullptr);
  ASSERT_EQ(std::fscanf(statistics, "%" SCNd64, &pages), 1);
  std::fclose(statistics);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const absl::Status status = Deserialize<uint8_t>(bytes).status();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}
#endif

TEST(FileTest, SaysWhyAFileCannotBeReadOrWritten) {
  EXPECT_EQ(Load<float>(TemporaryPath("none.index")).status().code(), absl::StatusCode::kNotFound);
  const std::string path = TemporaryPath("no-folder/x.index");
  const absl::Status status = Save(Sample(), path);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message().find("index file: cannot save " + path + ": cannot create " + path +
                                  ".partial."),
            0u)
      << status;
  EXPECT_NE(status.message().find("(errno " + std::to_string(ENOENT) + ")"), std::string::npos)
      << status;
  // A folder opens, but does not read.
  EXPECT_EQ(Load<float>(TemporaryPath("")).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace assay::index
