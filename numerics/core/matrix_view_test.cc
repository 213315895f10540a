// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/matrix_view.h"

#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace assay {
namespace {

std::vector<double> Counting(size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST(MatrixViewTest, ReadsRowMajor) {
  std::vector<double> values = Counting(6);
  const auto view = MatrixView<double>::Create(values, 2, 3);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ((*view)(0, 2), 2.0);
  EXPECT_EQ((*view)(1, 0), 3.0);
  EXPECT_EQ(view->size(), 6);
  EXPECT_TRUE(view->is_contiguous());
  EXPECT_EQ(view->row(1)[2], 5.0);
  EXPECT_EQ(view->values().size(), 6u);
}

TEST(MatrixViewTest, WritesThrough) {
  std::vector<double> values(6);
  MatrixView<double> view(values, 3, 2);
  view(2, 1) = 7.0;
  EXPECT_EQ(values[5], 7.0);
}

TEST(MatrixViewTest, TransposesAndCutsWithoutCopying) {
  std::vector<double> values = Counting(12);
  const MatrixView<double> a(values, 3, 4);
  const MatrixView<double> t = a.Transposed();
  EXPECT_EQ(t.rows(), 4);
  EXPECT_EQ(t.cols(), 3);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) EXPECT_EQ(&a(i, j), &t(j, i));
  }
  EXPECT_FALSE(t.has_contiguous_rows());
  const MatrixView<double> block = t.Block(1, 1, 2, 2);
  EXPECT_EQ(block(0, 0), a(1, 1));
  EXPECT_EQ(block(1, 0), a(1, 2));
  EXPECT_FALSE(a.Block(0, 1, 2, 2).is_contiguous());
  EXPECT_TRUE(a.RowRange(1, 3).is_contiguous());
  EXPECT_EQ(a.RowRange(1, 3)(0, 0), 4.0);
}

TEST(MatrixViewTest, TakesEmptyExtents) {
  std::vector<double> none;
  ASSERT_TRUE(MatrixView<double>::Create(none, 0, 5).ok());
  ASSERT_TRUE(MatrixView<double>::Create(none, 5, 0).ok());
  EXPECT_TRUE(MatrixView<double>().empty());
  std::vector<double> values = Counting(6);
  const MatrixView<double> a(values, 2, 3);
  EXPECT_TRUE(a.Block(2, 3, 0, 0).empty());
  EXPECT_TRUE(a.Block(2, 0, 0, 3).empty());
}

TEST(MatrixViewTest, BecomesReadOnlyButNotWritable) {
  std::vector<double> values = Counting(4);
  const MatrixView<double> a(values, 2, 2);
  const MatrixView<const double> b = a;
  EXPECT_EQ(b(1, 1), 3.0);
  static_assert(std::is_convertible_v<MatrixView<double>, MatrixView<const double>>);
  static_assert(!std::is_convertible_v<MatrixView<const double>, MatrixView<double>>);
  static_assert(!std::is_convertible_v<MatrixView<float>, MatrixView<const double>>);
}

TEST(MatrixViewTest, RefusesExtentsThatDoNotFit) {
  std::vector<double> values = Counting(6);
  const std::span<double> s(values);
  EXPECT_EQ(MatrixView<double>::Create(s, 2, 2).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MatrixView<double>::Create(s, -2, -3).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(MatrixView<double>::Create(s, 2, 3, -3, 1).ok());
  EXPECT_FALSE(MatrixView<double>::Create(s, 2, 3, 4, 1).ok());
  EXPECT_TRUE(MatrixView<double>::Create(s, 2, 2, 4, 1).ok());
  EXPECT_TRUE(MatrixView<double>::Create(s, 100, 6, 0, 1).ok());  // a broadcast row
  // Products that would overflow.
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(MatrixView<double>::Create(s, huge, huge).ok());
  EXPECT_FALSE(MatrixView<double>::Create(s, int64_t{1} << 32, int64_t{1} << 32).ok());
  EXPECT_FALSE(MatrixView<double>::Create(s, huge, 2, huge, 1).ok());
  EXPECT_FALSE(MatrixView<double>::Create(s, 2, 2, huge, huge).ok());
}

TEST(MatrixViewTest, SaysWhatWasGiven) {
  std::vector<double> values = Counting(6);
  const std::string message(MatrixView<double>::Create(values, 2, 4).status().message());
  EXPECT_NE(message.find("2 x 4"), std::string::npos) << message;
  EXPECT_NE(message.find("got 6"), std::string::npos) << message;
}

#ifndef __EMSCRIPTEN__
TEST(MatrixViewDeathTest, ChecksWhatItIsAskedFor) {
  std::vector<double> values = Counting(6);
  const MatrixView<double> a(values, 2, 3);
  EXPECT_DEATH((MatrixView<double>(values, 2, 4)), "6 against 8");
  EXPECT_DEATH(a.Block(1, 0, 2, 1), "check failed");
  EXPECT_DEATH(a.Block(0, 2, 1, 2), "check failed");
  EXPECT_DEATH(a.Block(-1, 0, 1, 1), "check failed");
  EXPECT_DEATH(a.Transposed().row(0), "has_contiguous_rows");
  EXPECT_DEATH(a.Block(0, 0, 2, 2).values(), "is_contiguous");
}
#endif

}  // namespace
}  // namespace assay
