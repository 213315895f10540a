// SPDX-License-Identifier: Apache-2.0
//
// The pack: a few thousand garments in one file that a page can load. gzip of an IDX file of
// images, then an IDX file of their labels; the base comes first, the queries last.

#ifndef ASSAY_WEB_ARTICLES_NEAREST_NEIGHBOURS_PACK_H_
#define ASSAY_WEB_ARTICLES_NEAREST_NEIGHBOURS_PACK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ml/data/idx.h"

namespace assay::nearest_neighbours {

inline constexpr int64_t kClasses = 10;
inline constexpr int64_t kSide = 28;
inline constexpr int64_t kPixels = kSide * kSide;
inline constexpr int64_t kPackBasePerClass = 200;
inline constexpr int64_t kPackQueriesPerClass = 20;
inline constexpr int64_t kPackBase = kClasses * kPackBasePerClass;
inline constexpr int64_t kPackQueries = kClasses * kPackQueriesPerClass;

// Images and their labels: what is searched, and what is asked for.
struct Garments {
  std::vector<uint8_t> base;          // [base_labels.size(), 784]
  std::vector<uint8_t> base_labels;   // 0 to 9
  std::vector<uint8_t> queries;       // [query_labels.size(), 784]
  std::vector<uint8_t> query_labels;  // 0 to 9
};

// `bytes` is unpacked. Fails: DataLoss, naming what is wrong; any content is safe.
absl::StatusOr<Garments> ReadPack(std::span<const uint8_t> bytes);

// All images and labels of the two IDX pairs. Fails: DataLoss, likewise.
absl::StatusOr<Garments> ReadIdx(std::span<const uint8_t> base,
                                 std::span<const uint8_t> base_labels,
                                 std::span<const uint8_t> queries,
                                 std::span<const uint8_t> query_labels);

// The bytes of a pack: of every class the first kPackBasePerClass of the base
// and the first kPackQueriesPerClass of the queries, in the order in which they come.
// Fails: InvalidArgument if a class has fewer.
absl::StatusOr<std::vector<uint8_t>> ChoosePack(const Garments& all);

// "T-shirt", "trouser", ..., as the publisher names the labels 0 to 9.
const char* ClassName(int64_t label);

}  // namespace assay::nearest_neighbours

#endif  // ASSAY_WEB_ARTICLES_NEAREST_NEIGHBOURS_PACK_H_
