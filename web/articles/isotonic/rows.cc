// SPDX-License-Identifier: Apache-2.0
#include "web/articles/isotonic/rows.h"

#include <algorithm>

#include "numerics/core/check.h"
#include "numerics/core/random.h"

namespace assay::isotonic_page {

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kHill:
      return "hill";
    case Kind::kNoise:
      return "noise";
    case Kind::kSteps:
      return "steps";
    case Kind::kLabels:
      return "labels";
    case Kind::kRising:
      return "rising";
    case Kind::kFalling:
      return "falling";
  }
  ASSAY_CHECK(false);
}

std::vector<int32_t> MakeRow(Kind kind, int64_t n, int32_t range, uint64_t seed) {
  ASSAY_CHECK(n >= 0 && range >= 1);
  Random random(seed, 1 + static_cast<uint64_t>(kind));
  const int64_t top = range, rise = std::max<int64_t>(n - 1, 1);
  std::vector<int32_t> y;
  y.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    int64_t value = 0;
    switch (kind) {
      case Kind::kHill:
        value = (top - top / 3) * i / rise + random.Integer(top / 3 + 1);
        break;
      case Kind::kNoise:
        value = random.Integer(top + 1);
        break;
      case Kind::kSteps:
        value = top / 6 * (5 * i / n) + random.Integer(top / 3 + 1);
        break;
      case Kind::kLabels:
        // The rate of ones at the middle of element i: (i + 1/2) / n.
        value = random.Integer(2 * n) < 2 * i + 1 ? top : 0;
        break;
      case Kind::kRising:
        value = top * i / rise;
        break;
      case Kind::kFalling:
        value = top - top * i / rise;
        break;
    }
    y.push_back(static_cast<int32_t>(value));
  }
  return y;
}

std::vector<int32_t> MakeClimb(int64_t n, uint64_t seed) {
  ASSAY_CHECK(n >= 0 && n <= (int64_t{1} << 21) - 64);
  Random random(seed, 100);
  std::vector<int32_t> y;
  y.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) y.push_back(static_cast<int32_t>(i + random.Integer(64)));
  return y;
}

}  // namespace assay::isotonic_page
