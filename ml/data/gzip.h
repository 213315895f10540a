// SPDX-License-Identifier: Apache-2.0
//
// Reading gzip in memory, natively and in WebAssembly. Only the reading side is here: data travels
// compressed and is compressed once, when it is packed (gzip_writer.h, by zlib).

#ifndef ASSAY_ML_DATA_GZIP_H_
#define ASSAY_ML_DATA_GZIP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::data {

// The content of a gzip file (all its members, one after the other). Any content is safe.
// Cost: one table look-up a symbol; 128 KiB of tables.
// Fails: DataLoss if it is no gzip file, damaged or cut short (lengths and CRC-32 are checked);
// ResourceExhausted if it unpacks to more than max_bytes, so that a small hostile file cannot fill
// the memory.
// Source: RFC 1951 (deflate), RFC 1952 (gzip).
absl::StatusOr<std::vector<uint8_t>> Gunzip(std::span<const uint8_t> bytes, int64_t max_bytes);

}  // namespace assay::data

#endif  // ASSAY_ML_DATA_GZIP_H_
