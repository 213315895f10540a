// SPDX-License-Identifier: Apache-2.0
//
// The operations that the page places, for its lab and for its demo.
#ifndef ASSAY_WEB_ARTICLES_ROOFLINE_OPERATIONS_H_
#define ASSAY_WEB_ARTICLES_ROOFLINE_OPERATIONS_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "gpu/roofline/work.h"

namespace assay::roofline_page {

// A batch holds at most so many inputs.
constexpr int64_t kMostBatch = 4096;
// Rows and columns of the layer's weights, and of the square product.
constexpr int64_t kLayer = 4096;
constexpr int64_t kLong = int64_t{1} << 26;  // elements of long arrays
constexpr int64_t kShort = 1000;

enum class Operation : int {
  kProduct = 0,   // a square product
  kLayer = 1,     // a batch of inputs times a layer's weights
  kAdd = 2,       // two long arrays
  kSum = 3,       // a long array
  kSoftmax = 4,   // rows of 1024, fused
  kSoftmax3 = 5,  // the same in three passes
  kShortAdd = 6,  // two short arrays
};
constexpr int kOperations = 7;

std::string_view OperationName(Operation operation);

// What it does.
//   batch: of the layer alone, 1 to kMostBatch (checked).
roofline::Work WorkOf(Operation operation, roofline::Precision precision, int64_t batch);

}  // namespace assay::roofline_page

#endif  // ASSAY_WEB_ARTICLES_ROOFLINE_OPERATIONS_H_
