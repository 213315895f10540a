// SPDX-License-Identifier: Apache-2.0
#include "web/articles/roofline/operations.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace assay::roofline_page {
namespace {

using roofline::Precision;
using roofline::Work;

TEST(OperationsTest, AreTheFormulasOfTheirSizes) {
  const Precision p = Precision::kF32;
  const int64_t n = 4096, n2 = n * n, many = 1 << 26;
  EXPECT_EQ(WorkOf(Operation::kProduct, p, 1), (Work{2 * n2 * n, 8 * n2, 4 * n2}));
  EXPECT_EQ(WorkOf(Operation::kLayer, p, 3), (Work{6 * n2, 4 * (3 * n + n2), 12 * n}));
  EXPECT_EQ(WorkOf(Operation::kAdd, p, 1), (Work{many, 8 * many, 4 * many}));
  EXPECT_EQ(WorkOf(Operation::kSum, p, 1), (Work{many - 1, 4 * many, 4}));
  const int64_t rows = many / 1024, flops = rows * (5 * 1024 - 2);
  EXPECT_EQ(WorkOf(Operation::kSoftmax, p, 1), (Work{flops, 4 * many, 4 * many}));
  EXPECT_EQ(WorkOf(Operation::kSoftmax3, p, 1),
            (Work{flops, 12 * many + 8 * rows, 8 * many + 8 * rows}));
  EXPECT_EQ(WorkOf(Operation::kShortAdd, p, 1), (Work{1000, 8000, 4000}));
  EXPECT_EQ(WorkOf(Operation::kAdd, Precision::kF16, 1), (Work{many, 4 * many, 2 * many}));
}

TEST(OperationsTest, OnlyTheLayerHasABatch) {
  for (int i = 0; i < kOperations; ++i) {
    const Operation operation = static_cast<Operation>(i);
    EXPECT_FALSE(OperationName(operation).empty());
    EXPECT_EQ(WorkOf(operation, Precision::kF32, 1) == WorkOf(operation, Precision::kF32, 64),
              operation != Operation::kLayer);
  }
}

}  // namespace
}  // namespace assay::roofline_page
