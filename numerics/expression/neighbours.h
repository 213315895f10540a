// SPDX-License-Identifier: Apache-2.0
// Every expression that is one identity away from another.
#ifndef ASSAY_NUMERICS_EXPRESSION_NEIGHBOURS_H_
#define ASSAY_NUMERICS_EXPRESSION_NEIGHBOURS_H_

#include <utility>
#include <vector>

#include "numerics/expression/expression.h"
#include "numerics/expression/rules.h"

namespace assay::expression {

class NeighbourFinder {
 public:
  // (expression, what led to it), each once, without id itself: rules applied to each part, to each
  // pair of terms of a sum, and fractions simplified, in the part alone and in the whole.
  std::vector<std::pair<int, const char*>> Neighbours(Graph* graph, int id) const;

 private:
  Rewriter rewriter_;
};

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_NEIGHBOURS_H_
