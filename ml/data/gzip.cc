// SPDX-License-Identifier: Apache-2.0

#include "ml/data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::data {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window; +16 asks zlib for the gzip wrapper

// Gives the stream its next bytes; zlib counts in unsigned ints.
void Feed(std::span<const uint8_t> bytes, size_t& used, z_stream& stream) {
  if (stream.avail_in > 0 || used == bytes.size()) return;
  stream.next_in = const_cast<Bytef*>(bytes.data() + used);
  stream.avail_in =
      static_cast<uInt>(std::min<size_t>(bytes.size() - used, std::numeric_limits<uInt>::max()));
  used += stream.avail_in;
}

absl::Status NoMemory() {
  return absl::ResourceExhaustedError("gzip: the system has no memory to unpack with");
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> Gunzip(std::span<const uint8_t> bytes, int64_t max_bytes) {
  return internal::Gunzip(bytes, max_bytes, nullptr);
}

absl::StatusOr<std::vector<uint8_t>> internal::Gunzip(std::span<const uint8_t> bytes,
                                                      int64_t max_bytes,
                                                      void* (*allocate)(void*, unsigned,
                                                                        unsigned)) {
  z_stream stream = {};
  stream.zalloc = allocate;
  const int begun = inflateInit2(&stream, kGzipWindow);
  if (begun == Z_MEM_ERROR) return NoMemory();
  ASSAY_CHECK(begun == Z_OK);
  std::vector<uint8_t> out;
  std::array<uint8_t, 1 << 16> piece;
  absl::Status status;
  size_t used = 0;
  bool complete = false;
  while (status.ok()) {
    Feed(bytes, used, stream);
    if (complete) {
      if (stream.avail_in == 0) break;
      // Another member follows.
      inflateReset(&stream);
      complete = false;
    }
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    const size_t made = piece.size() - stream.avail_out;
    if (static_cast<int64_t>(out.size() + made) > max_bytes) {
      status = absl::ResourceExhaustedError(
          absl::StrCat("gzip: it unpacks to more than ", max_bytes, " bytes"));
    } else if (code == Z_MEM_ERROR) {  // its window is allocated only now
      status = NoMemory();
    } else if (code == Z_STREAM_END) {
      complete = true;
    } else if (code == Z_BUF_ERROR) {  // it wants more input, and there is none
      status = absl::DataLossError(absl::StrCat("gzip: cut short after ", bytes.size(), " bytes"));
    } else if (code != Z_OK) {
      status = absl::DataLossError(
          absl::StrCat("gzip: ", stream.msg != nullptr ? std::string_view(stream.msg) : "damaged"));
    }
    if (status.ok()) {
      out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(made));
    }
  }
  inflateEnd(&stream);
  if (!status.ok()) return status;
  return out;
}

std::vector<uint8_t> Gzip(std::span<const uint8_t> bytes) {
  z_stream stream = {};
  ASSAY_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 9,
                           Z_DEFAULT_STRATEGY) == Z_OK);
  std::vector<uint8_t> out;
  std::array<uint8_t, 1 << 16> piece;
  size_t used = 0;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    Feed(bytes, used, stream);
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    code = deflate(&stream, used == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    ASSAY_CHECK(code == Z_OK || code == Z_STREAM_END);
    out.insert(out.end(), piece.begin(),
               piece.begin() + static_cast<std::ptrdiff_t>(piece.size() - stream.avail_out));
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace assay::data
