// SPDX-License-Identifier: Apache-2.0
#ifndef ASSAY_NUMERICS_EXPRESSION_PARSE_H_
#define ASSAY_NUMERICS_EXPRESSION_PARSE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/expression/expression.h"

namespace assay::expression {

// Read, which fails with kInvalidArgument and the words that Read gives.
inline absl::StatusOr<int> Parse(std::string_view text, Graph* graph) {
  std::string error;
  const std::optional<int> id = Read(text, graph, &error);
  if (!id) return absl::InvalidArgumentError(error);
  return *id;
}

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_PARSE_H_
