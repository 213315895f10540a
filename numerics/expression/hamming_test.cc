// SPDX-License-Identifier: Apache-2.0
// The classic problems, before and after: what is mended, and the two that are not.
#include "numerics/expression/hamming.h"

#include <cstdio>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "numerics/expression/expression.h"

namespace assay::expression {
namespace {

TEST(HammingTest, AllButTheTwoThatNeedSeriesAreMended) {
  const std::set<std::string> series = {"invcot", "sintan"};
  int mended = 0;
  for (const HammingProblem& problem : HammingProblems()) {
    Graph graph;
    const Rewrite rewrite = Mend(problem, 12, 7, &graph);
    ASSERT_EQ(rewrite.points, 12) << problem.name;
    const double after = rewrite.best ? rewrite.best->mean_bits : rewrite.original.mean_bits;
    std::printf("%-8s %6.2f -> %5.2f bits  %s\n", problem.name, rewrite.original.mean_bits, after,
                rewrite.best ? graph.ToText(rewrite.best->id).c_str() : "nothing found");
    EXPECT_GT(rewrite.original.mean_bits, 3) << problem.name;
    if (series.count(problem.name) != 0) {
      EXPECT_GT(after, 30) << problem.name;
    } else {
      EXPECT_LE(after, 1) << problem.name;
    }
    mended += after <= 1 ? 1 : 0;
  }
  EXPECT_EQ(mended, 25);
}

}  // namespace
}  // namespace assay::expression
