// SPDX-License-Identifier: Apache-2.0
//
// make_pack: packs garments of Fashion-MNIST for the page. Usage:
//   make_pack TRAIN_IMAGES.gz TRAIN_LABELS.gz TEST_IMAGES.gz TEST_LABELS.gz OUT.gz

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ml/data/gzip.h"
#include "web/articles/nearest-neighbours/pack.h"

namespace assay::nearest_neighbours {
namespace {

// What a page may load after one click.
constexpr size_t kMaxPackBytes = 1000000;

absl::StatusOr<std::vector<uint8_t>> ReadUnpacked(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return absl::NotFoundError(absl::StrCat("cannot open ", path));
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> piece(1 << 16);
  while (const size_t read = std::fread(piece.data(), 1, piece.size(), file)) {
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + static_cast<int64_t>(read));
  }
  std::fclose(file);
  return data::Gunzip(bytes, int64_t{1} << 28);
}

absl::Status Run(const std::vector<std::string>& paths) {
  if (paths.size() != 5) {
    return absl::InvalidArgumentError(
        "usage: make_pack TRAIN_IMAGES.gz TRAIN_LABELS.gz TEST_IMAGES.gz TEST_LABELS.gz OUT.gz");
  }
  std::vector<std::vector<uint8_t>> files;
  for (size_t i = 0; i < 4; ++i) {
    absl::StatusOr<std::vector<uint8_t>> file = ReadUnpacked(paths[i]);
    if (!file.ok()) return file.status();
    files.push_back(*std::move(file));
  }
  const auto garments = ReadIdx(files[0], files[1], files[2], files[3]);
  if (!garments.ok()) return garments.status();
  const auto content = ChoosePack(*garments);
  if (!content.ok()) return content.status();
  const std::vector<uint8_t> packed = data::Gzip(*content);
  if (packed.size() > kMaxPackBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the pack has ", packed.size(), " bytes, a page may load ", kMaxPackBytes));
  }
  std::FILE* out = std::fopen(paths[4].c_str(), "wb");
  if (out == nullptr) return absl::UnavailableError(absl::StrCat("cannot create ", paths[4]));
  const size_t written = std::fwrite(packed.data(), 1, packed.size(), out);
  if (std::fclose(out) != 0 || written != packed.size()) {
    std::remove(paths[4].c_str());
    return absl::UnavailableError(absl::StrCat("cannot write ", paths[4]));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace assay::nearest_neighbours

int main(int argc, char** argv) {
  const absl::Status status =
      assay::nearest_neighbours::Run(std::vector<std::string>(argv + 1, argv + argc));
  if (status.ok()) return 0;
  std::fprintf(stderr, "make_pack: %s\n", std::string(status.message()).c_str());
  return status.code() == absl::StatusCode::kInvalidArgument ? 2 : 4;
}
