// SPDX-License-Identifier: Apache-2.0
// The classic problems, before and after, at points held out.
#include "numerics/expression/hamming.h"

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "numerics/expression/expression.h"

namespace assay::expression {
namespace {

// Scored at points that the search has not seen, or a form that suits a dozen points would count.
int CountMended(uint64_t seed) {
  constexpr int kHeldOut = 100;
  const std::set<std::string> series = {"invcot", "sintan"};
  int mended = 0;
  for (const HammingProblem& problem : HammingProblems()) {
    Graph graph;
    const Rewrite rewrite = Mend(problem, 12, seed, &graph);
    EXPECT_EQ(rewrite.points, 12) << problem.name;
    const HeldOut score = Score(problem, graph, rewrite, kHeldOut, seed);
    EXPECT_EQ(score.points, kHeldOut) << problem.name;
    std::string form = rewrite.best ? graph.ToText(rewrite.best->id) : "nothing found";
    if (rewrite.below) {
      form = graph.ToText(rewrite.below->id) + " if " +
             graph.variables()[static_cast<size_t>(rewrite.variable)] + " < " +
             rewrite.threshold.ToScientific(3) + ", else " + form;
    }
    std::printf("%-8s %6.2f -> %5.2f bits  %s\n", problem.name, score.before, score.after,
                form.c_str());
    EXPECT_GT(score.before, 3) << problem.name;
    if (series.count(problem.name) != 0) {
      EXPECT_GT(score.after, 30) << problem.name;
    } else {
      EXPECT_LE(score.after, 1) << problem.name;
    }
    mended += score.after <= 1 ? 1 : 0;
  }
  return mended;
}

TEST(HammingTest, AllButTheTwoThatNeedSeriesAreMended) {
  EXPECT_EQ(CountMended(3), 25);
  EXPECT_EQ(CountMended(7), 25);
}

}  // namespace
}  // namespace assay::expression
