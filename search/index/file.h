// SPDX-License-Identifier: Apache-2.0
//
// An index as bytes, and as a file.
//
// Layout, little-endian (version 1):
//   0   8   "ASSAYIDX"
//   8   4   version, 1
//   12  1   kind: 1 = flat
//   13  1   element: 0 = f32, 1 = u8
//   14  1   metric: 0 = l2, 1 = inner product, 2 = cosine
//   15  1   0
//   16  8   dimension
//   24  8   rows
//   32  8   max_bytes
//   40  8   bytes of row data: rows * dimension * element size
//   48  16  0
//   64  ..  the rows, without padding, floats with their bits (a NaN keeps its payload)
//   end 32  SHA-256 of everything before it
// What can be computed from the rows is not stored.

#ifndef ASSAY_SEARCH_INDEX_FILE_H_
#define ASSAY_SEARCH_INDEX_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "search/index/index.h"

namespace assay::index {

// The bytes of the layout above. T is float or uint8_t. Cost: one copy of the rows.
template <class T>
std::vector<uint8_t> Serialize(const FlatIndex<T>& index);

// The index of these bytes, equal to the one that was serialised in rows and every parameter;
// searches in it give the same bits. `bytes` may come from anywhere: any content is safe. Fails:
// DataLoss if the bytes are cut short, damaged or inconsistent, Unimplemented if they are whole but
// of a version this code does not know, InvalidArgument if they hold another element type,
// ResourceExhausted if the system has no memory for the rows.
template <class T>
absl::StatusOr<FlatIndex<T>> Deserialize(std::span<const uint8_t> bytes);

// Serialize to a file: written beside it under a name of this process's and this call's own,
// flushed to the device, then renamed, so that a reader sees the old file or the new one and never
// a part, also where several write at once or the machine fails. Fails: Unavailable, naming the
// file and the system's reason with its number; no part is left behind.
template <class T>
absl::Status Save(const FlatIndex<T>& index, const std::string& path);

// Deserialize from a file. Fails as Deserialize does, NotFound if it can't be opened, Unavailable
// if it can't be read.
template <class T>
absl::StatusOr<FlatIndex<T>> Load(const std::string& path);

}  // namespace assay::index

#endif  // ASSAY_SEARCH_INDEX_FILE_H_
