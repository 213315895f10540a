// SPDX-License-Identifier: Apache-2.0
// Classic problems of cancellation, to hold a rewriter against.
//
// The expressions are those of the examples and problems of chapter 3 of R. W. Hamming, Numerical
// Methods for Scientists and Engineers, 2nd ed. (1973), as the benchmark suite of the program
// Herbie lists them (folder bench/hamming of github.com/herbie-fp/herbie: 27 real ones), with its
// ranges where it states any. Where it states none, magnitudes from 1e-100 to 1e100 (for the
// quadratics 1e-30 to 1e30) of both signs are ours.
#ifndef ASSAY_NUMERICS_EXPRESSION_HAMMING_H_
#define ASSAY_NUMERICS_EXPRESSION_HAMMING_H_

#include <array>
#include <cstdint>
#include <vector>

#include "numerics/expression/expression.h"
#include "numerics/expression/rewrite.h"

namespace assay::expression {

// Magnitudes uniform in their logarithm between 10^low and 10^high.
struct Range {
  const char* variable;
  double low;
  double high;
  bool both_signs;
  // Times the size of the variable before it.
  bool relative;
};

struct HammingProblem {
  const char* name;
  const char* place;  // in the book
  const char* text;
  std::vector<Range> ranges;
};

const std::array<HammingProblem, 27>& HammingProblems();

// `count` points of a problem at which its value is finite, as f64 stores them; one variable after
// the other in the order of `ranges`, which is their order in the text. Fewer if 50 `count` draws
// do not give as many.
std::vector<Point> PointsOf(const HammingProblem& problem, int count, uint64_t seed);

// What the search makes of a problem, in two forms where one does not do: chosen at
// `points` points, a split kept by as many others. The graph must be empty (not checked).
Rewrite Mend(const HammingProblem& problem, int points, uint64_t seed, Graph* graph);

// Mean bits of error in f64 of a problem as typed and as rewritten, at `count` points held out:
// Mend, given the same seed, has seen none of them.
struct HeldOut {
  double before = 0;
  double after = 0;
  int points = 0;  // 0 and no errors if the problem gave no points
};
HeldOut Score(const HammingProblem& problem, const Graph& graph, const Rewrite& rewrite, int count,
              uint64_t seed);

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_HAMMING_H_
