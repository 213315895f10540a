// SPDX-License-Identifier: Apache-2.0
//
// k-nearest-neighbour classification: the neighbours vote.

#ifndef ASSAY_SEARCH_INDEX_CLASSIFY_H_
#define ASSAY_SEARCH_INDEX_CLASSIFY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "search/index/types.h"

namespace assay::index {

// Who wins when several classes have the most votes.
enum class TieBreak : uint8_t {
  kNearest = 0,        // the class whose first voter is nearest (comes first in the result)
  kSmallestLabel = 1,  // the smallest label: what a scan over vote counts gives unawares
};

struct Vote {
  int32_t label = -1;  // the winner; -1 if there was no neighbour to ask
  int64_t votes = 0;   // votes for it
  bool tied = false;   // another class had as many
};

// For each query the majority label among its first k neighbours (fewer where fewer were found).
//   result: of a search with result.k >= k.
//   labels: [rows of the index], label of each id, in [0, classes).
//   k: in [1, result.k].
// Exact. Cost: queries * (k + classes).
// Fails: InvalidArgument for k or classes out of range, an id without a label, a label out of
// range.
absl::StatusOr<std::vector<Vote>> ClassifyMajority(const SearchResult& result,
                                                   std::span<const uint8_t> labels, int64_t k,
                                                   int64_t classes,
                                                   TieBreak tie_break = TieBreak::kNearest);

}  // namespace assay::index

#endif  // ASSAY_SEARCH_INDEX_CLASSIFY_H_
