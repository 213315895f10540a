// SPDX-License-Identifier: Apache-2.0

#include "search/index/file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "numerics/core/bits.h"
#include "numerics/core/sha256.h"

namespace assay::index {
namespace {

// The layout is little-endian, and so is every machine this is built for; rows are copied as they
// lie.
static_assert(std::endian::native == std::endian::little);

constexpr char kMagic[] = "ASSAYIDX";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 64;
constexpr size_t kChecksumBytes = 32;
constexpr uint8_t kFlat = 1;

template <class T>
constexpr uint8_t kElement = std::is_same_v<T, float> ? 0 : 1;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(absl::StrCat("index file: ", what));
}

std::string Reason(int number) {
  return absl::StrCat(std::strerror(number), " (errno ", number, ")");
}

}  // namespace

template <class T>
std::vector<uint8_t> Serialize(const FlatIndex<T>& index) {
  const auto row_bytes = static_cast<size_t>(index.dimension()) * sizeof(T);
  const size_t data_bytes = static_cast<size_t>(index.size()) * row_bytes;
  std::array<uint8_t, kHeaderBytes> header = {};
  std::memcpy(header.data(), kMagic, 8);
  StoreLittleEndian(kVersion, header.data() + 8);
  header[12] = kFlat;
  header[13] = kElement<T>;
  header[14] = static_cast<uint8_t>(index.metric());
  StoreLittleEndian(static_cast<uint64_t>(index.dimension()), header.data() + 16);
  StoreLittleEndian(static_cast<uint64_t>(index.size()), header.data() + 24);
  StoreLittleEndian(static_cast<uint64_t>(index.options().max_bytes), header.data() + 32);
  StoreLittleEndian(static_cast<uint64_t>(data_bytes), header.data() + 40);
  std::vector<uint8_t> bytes(kHeaderBytes + data_bytes + kChecksumBytes);
  std::copy(header.begin(), header.end(), bytes.begin());
  for (int64_t id = 0; id < index.size(); ++id) {
    std::memcpy(bytes.data() + kHeaderBytes + static_cast<size_t>(id) * row_bytes,
                index.Row(id)->data(), row_bytes);
  }
  Sha256 hash;
  hash.Update(std::span<const uint8_t>(bytes).first(kHeaderBytes + data_bytes));
  const std::array<uint8_t, 32> digest = hash.Finish();
  std::copy(digest.begin(), digest.end(), bytes.end() - kChecksumBytes);
  return bytes;
}

template <class T>
absl::StatusOr<FlatIndex<T>> Deserialize(std::span<const uint8_t> bytes) {
  if (bytes.size() < kHeaderBytes + kChecksumBytes) {
    return Damaged(absl::StrCat("it has ", bytes.size(), " bytes, the smallest index has ",
                                kHeaderBytes + kChecksumBytes));
  }
  if (std::memcmp(bytes.data(), kMagic, 8) != 0) {
    return Damaged("it does not begin with ASSAYIDX: no index, or its first bytes are damaged");
  }
  const std::span<const uint8_t> content = bytes.first(bytes.size() - kChecksumBytes);
  Sha256 hash;
  hash.Update(content);
  const std::array<uint8_t, 32> digest = hash.Finish();
  if (!std::equal(digest.begin(), digest.end(), bytes.end() - kChecksumBytes)) {
    return Damaged("the checksum at its end does not fit: it is damaged or cut short");
  }
  // From here on the file is as somebody wrote it, who need not mean well.
  const uint32_t version = LoadLittleEndian32(bytes.data() + 8);
  if (version != kVersion) {
    return absl::UnimplementedError(
        absl::StrCat("index file: version ", version, "; this program reads version ", kVersion));
  }
  if (bytes[12] != kFlat) return Damaged(absl::StrCat("unknown kind ", bytes[12]));
  if (bytes[13] > 1) return Damaged(absl::StrCat("unknown element type ", bytes[13]));
  if (bytes[14] > 2) return Damaged(absl::StrCat("unknown metric ", bytes[14]));
  const uint64_t dimension = LoadLittleEndian64(bytes.data() + 16);
  const uint64_t rows = LoadLittleEndian64(bytes.data() + 24);
  const uint64_t max_bytes = LoadLittleEndian64(bytes.data() + 32);
  const uint64_t data_bytes = LoadLittleEndian64(bytes.data() + 40);
  if (bytes[15] != 0 || LoadLittleEndian64(bytes.data() + 48) != 0 ||
      LoadLittleEndian64(bytes.data() + 56) != 0) {
    return Damaged("reserved bytes of the header are not zero");
  }
  if (dimension < 1 || dimension > static_cast<uint64_t>(kMaxDimension)) {
    return Damaged(absl::StrCat("dimension is ", dimension, ", expected 1 to ", kMaxDimension));
  }
  if (max_bytes > uint64_t{1} << 62) return Damaged("max_bytes is out of range");
  const uint64_t row_bytes = dimension * (bytes[13] == 0 ? sizeof(float) : 1);
  if (data_bytes != content.size() - kHeaderBytes || data_bytes % row_bytes != 0 ||
      rows != data_bytes / row_bytes) {
    return Damaged(absl::StrCat("the header speaks of ", rows, " rows of ", row_bytes,
                                " bytes and ", data_bytes, " bytes in all; the file holds ",
                                content.size() - kHeaderBytes));
  }
  if (bytes[13] != kElement<T>) {
    return absl::InvalidArgumentError(
        absl::StrCat("index file: it holds ", bytes[13] == 0 ? "f32" : "u8",
                     " rows, asked for was an index of ", kElement<T> == 0 ? "f32" : "u8"));
  }
  absl::StatusOr<FlatIndex<T>> index =
      FlatIndex<T>::Create(static_cast<int64_t>(dimension), static_cast<Metric>(bytes[14]),
                           {.max_bytes = static_cast<int64_t>(max_bytes)});
  if (!index.ok()) return index.status();
  if (rows > max_bytes / static_cast<uint64_t>(index->row_bytes())) {
    return Damaged(absl::StrCat("the header allows ", max_bytes, " bytes and speaks of ", rows,
                                " rows of ", index->row_bytes(), " bytes in memory"));
  }
  // Blocks of rows: `bytes` need not be aligned for T, and one block is enough memory beside the
  // two copies.
  const uint64_t block_rows = std::max<uint64_t>(1, (uint64_t{1} << 20) / row_bytes);
  std::vector<T> block;
  for (uint64_t row = 0; row < rows; row += block_rows) {
    const uint64_t count = std::min(block_rows, rows - row);
    block.resize(static_cast<size_t>(count * dimension));
    std::memcpy(block.data(), content.data() + kHeaderBytes + static_cast<size_t>(row * row_bytes),
                static_cast<size_t>(count * row_bytes));
    // What still fails is memory: no fault of the file.
    if (absl::Status added = index->Add(block); !added.ok()) return added;
  }
  return index;
}

template <class T>
absl::Status Save(const FlatIndex<T>& index, const std::string& path) {
  const std::vector<uint8_t> bytes = Serialize(index);
  // No other writer's, in this process or another.
  static std::atomic<int64_t> saves = 0;
  const std::string partial = absl::StrCat(path, ".partial.", ::getpid(), ".", ++saves);
  const auto failed = [&](std::string_view what) {
    const int reason = errno;
    std::remove(partial.c_str());
    return absl::UnavailableError(absl::StrCat("index file: cannot save ", path, ": cannot ", what,
                                               " ", partial, ": ", Reason(reason)));
  };
  File file(std::fopen(partial.c_str(), "wb"));
  if (file == nullptr) return failed("create");
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fflush(file.get()) != 0) {
    return failed("write");
  }
  // Before the rename: otherwise a machine that fails may have renamed what it never wrote.
  if (::fsync(::fileno(file.get())) != 0) return failed("flush");
  if (std::fclose(file.release()) != 0) return failed("close");
  if (std::rename(partial.c_str(), path.c_str()) != 0) return failed("rename");
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<FlatIndex<T>> Load(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return absl::NotFoundError(absl::StrCat("index file: cannot open ", path, ": ", Reason(errno)));
  }
  std::vector<uint8_t> bytes;
  std::array<uint8_t, 1 << 16> piece;
  while (const size_t read = std::fread(piece.data(), 1, piece.size(), file.get())) {
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + read);
  }
  if (std::ferror(file.get()) != 0) {
    return absl::UnavailableError(
        absl::StrCat("index file: cannot read ", path, ": ", Reason(errno)));
  }
  return Deserialize<T>(bytes);
}

template std::vector<uint8_t> Serialize(const FlatIndex<float>&);
template std::vector<uint8_t> Serialize(const FlatIndex<uint8_t>&);
template absl::StatusOr<FlatIndex<float>> Deserialize(std::span<const uint8_t>);
template absl::StatusOr<FlatIndex<uint8_t>> Deserialize(std::span<const uint8_t>);
template absl::Status Save(const FlatIndex<float>&, const std::string&);
template absl::Status Save(const FlatIndex<uint8_t>&, const std::string&);
template absl::StatusOr<FlatIndex<float>> Load(const std::string&);
template absl::StatusOr<FlatIndex<uint8_t>> Load(const std::string&);

}  // namespace assay::index
