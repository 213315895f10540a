// SPDX-License-Identifier: Apache-2.0
//
// The rows of integers that the page and its demo fit.
#ifndef ASSAY_WEB_ARTICLES_ISOTONIC_ROWS_H_
#define ASSAY_WEB_ARTICLES_ISOTONIC_ROWS_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::isotonic_page {

enum class Kind {
  kHill,    // a rise over the whole row under noise half as high
  kNoise,   // no trend at all
  kSteps,   // five levels, one above the other, under noise
  kLabels,  // 0 or the range, the latter more and more often
  kRising,  // sorted
  kFalling  // sorted the wrong way round
};

inline constexpr std::array<Kind, 6> kKinds = {Kind::kHill,   Kind::kNoise,  Kind::kSteps,
                                               Kind::kLabels, Kind::kRising, Kind::kFalling};

// "hill", "noise", "steps", "labels", "rising", "falling".
std::string_view KindName(Kind kind);

// n >= 0 integers in [0, range], range >= 1; the same for the same arguments. Draws from streams
// of `seed` of its own.
std::vector<int32_t> MakeRow(Kind kind, int64_t n, int32_t range, uint64_t seed);

// A climb that goes on: element i is i plus noise in [0, 64). n <= 2^21 - 64.
std::vector<int32_t> MakeClimb(int64_t n, uint64_t seed);

}  // namespace assay::isotonic_page

#endif  // ASSAY_WEB_ARTICLES_ISOTONIC_ROWS_H_
