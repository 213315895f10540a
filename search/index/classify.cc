// SPDX-License-Identifier: Apache-2.0

#include "search/index/classify.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace assay::index {

absl::StatusOr<std::vector<Vote>> ClassifyMajority(const SearchResult& result,
                                                   std::span<const uint8_t> labels, int64_t k,
                                                   int64_t classes, TieBreak tie_break) {
  if (k < 1 || k > result.k) {
    return absl::InvalidArgumentError(
        absl::StrCat("classify: k is ", k, ", expected 1 to the result's ", result.k));
  }
  if (classes < 1 || classes > 256) {
    return absl::InvalidArgumentError(
        absl::StrCat("classify: classes is ", classes, ", expected 1 to 256"));
  }
  std::vector<Vote> all;
  all.reserve(static_cast<size_t>(result.queries));
  std::vector<int64_t> counts(static_cast<size_t>(classes));
  for (int64_t q = 0; q < result.queries; ++q) {
    std::span<const int64_t> ids = result.Ids(q);
    ids = ids.subspan(0, std::min(ids.size(), static_cast<size_t>(k)));
    std::fill(counts.begin(), counts.end(), 0);
    for (const int64_t id : ids) {
      if (id < 0 || id >= static_cast<int64_t>(labels.size())) {
        return absl::InvalidArgumentError(absl::StrCat(
            "classify: row ", id, " has no label; there are ", labels.size(), " labels"));
      }
      const uint8_t label = labels[static_cast<size_t>(id)];
      if (label >= classes) {
        return absl::InvalidArgumentError(absl::StrCat("classify: row ", id, " has label ", label,
                                                       ", expected less than ", classes));
      }
      ++counts[label];
    }
    Vote vote;
    if (!ids.empty()) {
      vote.votes = *std::max_element(counts.begin(), counts.end());
      vote.tied = std::count(counts.begin(), counts.end(), vote.votes) > 1;
      if (tie_break == TieBreak::kSmallestLabel) {
        vote.label = static_cast<int32_t>(std::find(counts.begin(), counts.end(), vote.votes) -
                                          counts.begin());
      } else {
        for (const int64_t id : ids) {
          const uint8_t label = labels[static_cast<size_t>(id)];
          if (counts[label] != vote.votes) continue;
          vote.label = label;
          break;
        }
      }
    }
    all.push_back(vote);
  }
  return all;
}

}  // namespace assay::index
