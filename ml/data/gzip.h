// SPDX-License-Identifier: Apache-2.0
//
// gzip in memory, through zlib. Native only: in the browser the platform's DecompressionStream does
// this.
#ifndef ASSAY_ML_DATA_GZIP_H_
#define ASSAY_ML_DATA_GZIP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::data {

// The content of a gzip file (all its members, one after the other). Any content is safe.
// Returns no more than max_bytes; while it grows, the memory may be up to three times as much.
// Fails: DataLoss if it is no gzip file, damaged or cut short; ResourceExhausted if it unpacks to
// more than max_bytes, so that a small hostile file cannot fill the memory, or if zlib gets no
// memory for its tables.
absl::StatusOr<std::vector<uint8_t>> Gunzip(std::span<const uint8_t> bytes, int64_t max_bytes);

// One gzip member of these bytes, at the strongest level. The header holds no time and no name: the
// same bytes give the same file with the same version of zlib.
std::vector<uint8_t> Gzip(std::span<const uint8_t> bytes);

namespace internal {

// Gunzip with zlib's memory from `allocate(opaque, items, size)`, given back to std::free; null: as
// zlib chooses. For tests of what happens where there is none.
absl::StatusOr<std::vector<uint8_t>> Gunzip(std::span<const uint8_t> bytes, int64_t max_bytes,
                                            void* (*allocate)(void*, unsigned, unsigned));

}  // namespace internal

}  // namespace assay::data

#endif  // ASSAY_ML_DATA_GZIP_H_
