// SPDX-License-Identifier: Apache-2.0

#include "ml/data/gzip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "numerics/core/check.h"

namespace assay::data {

std::vector<uint8_t> Gzip(std::span<const uint8_t> bytes) {
  constexpr int kGzipWindow = 15 + 16;  // the largest window; +16 asks zlib for the gzip wrapper
  z_stream stream = {};
  ASSAY_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 9,
                           Z_DEFAULT_STRATEGY) == Z_OK);
  std::vector<uint8_t> out;
  std::array<uint8_t, 1 << 16> piece;
  size_t used = 0;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    if (stream.avail_in == 0 && used < bytes.size()) {
      stream.next_in = const_cast<Bytef*>(bytes.data() + used);
      // zlib counts in unsigned ints.
      stream.avail_in = static_cast<uInt>(
          std::min<size_t>(bytes.size() - used, std::numeric_limits<uInt>::max()));
      used += stream.avail_in;
    }
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    code = deflate(&stream, used == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    ASSAY_CHECK(code == Z_OK || code == Z_STREAM_END);
    out.insert(out.end(), piece.begin(), piece.begin() + (piece.size() - stream.avail_out));
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace assay::data
