// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/order.h"

#include <algorithm>
#include <vector>

namespace assay::expression {

std::vector<size_t> OrderOf(const std::vector<double>& keys) {
  std::vector<size_t> order(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  return order;
}

}  // namespace assay::expression
