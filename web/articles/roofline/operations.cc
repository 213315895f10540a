// SPDX-License-Identifier: Apache-2.0
#include "web/articles/roofline/operations.h"

#include "absl/status/statusor.h"
#include "numerics/core/check.h"

namespace assay::roofline_page {

using roofline::Precision;
using roofline::Work;

std::string_view OperationName(Operation operation) {
  constexpr std::array<std::string_view, kOperations> kNames = {
      "matrix product", "layer", "add", "sum", "softmax", "softmax, 3 passes", "short add"};
  return kNames[static_cast<size_t>(operation)];
}

Work WorkOf(Operation operation, Precision precision, int64_t batch) {
  ASSAY_CHECK_GE(batch, 1);
  ASSAY_CHECK_LE(batch, kMostBatch);
  constexpr int64_t kColumns = 1024;
  const absl::StatusOr<Work> work = [&]() -> absl::StatusOr<Work> {
    switch (operation) {
      case Operation::kProduct:
        return roofline::MatMul(kLayer, kLayer, kLayer, precision);
      case Operation::kLayer:
        return roofline::MatMul(batch, kLayer, kLayer, precision);
      case Operation::kAdd:
        return roofline::Elementwise(kLong, 2, 1, 1, precision);
      case Operation::kSum:
        return roofline::Reduction(kLong, precision);
      case Operation::kSoftmax:
        return roofline::Softmax(kLong / kColumns, kColumns, precision);
      case Operation::kSoftmax3:
        return roofline::SoftmaxInThreePasses(kLong / kColumns, kColumns, precision);
      case Operation::kShortAdd:
        return roofline::Elementwise(kShort, 2, 1, 1, precision);
    }
    ASSAY_CHECK(false);
    return Work();
  }();
  ASSAY_CHECK(work.ok());  // sizes of the page, which fit
  return *work;
}

}  // namespace assay::roofline_page
