// SPDX-License-Identifier: Apache-2.0
#ifndef ASSAY_NUMERICS_EXPRESSION_ORDER_H_
#define ASSAY_NUMERICS_EXPRESSION_ORDER_H_

#include <cstddef>
#include <vector>

namespace assay::expression {

// The indices of the keys from the least to the greatest, equal ones as they stand. No key is NaN.
std::vector<size_t> OrderOf(const std::vector<double>& keys);

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_ORDER_H_
