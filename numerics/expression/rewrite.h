// SPDX-License-Identifier: Apache-2.0
// A way to write an expression that computes better, found by trying identities and measuring.
//
// Best-first search: the candidate with the least mean error over the points is taken, every rule
// of rules.h is applied to every part of it, terms of sums are paired in every way, fractions are
// simplified, and what comes out is measured in turn. A candidate is offered only after its true
// value was found equal to the original's, to 100 bits, at every point where the original has one,
// the points asked for and others far from them.
//
// Everything is counted, nothing is timed: the same call gives the same answer everywhere.
// Source of the plan: P. Panchekha, A. Sanchez-Stern, J. Wilcox, Z. Tatlock, "Automatically
// improving accuracy for floating point expressions" (PLDI 2015). No code of theirs is used.
#ifndef ASSAY_NUMERICS_EXPRESSION_REWRITE_H_
#define ASSAY_NUMERICS_EXPRESSION_REWRITE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "numerics/expression/evaluate.h"
#include "numerics/expression/expression.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_float.h"

namespace assay::expression {

using Point = std::vector<BigFloat>;  // a value for each variable of the graph

struct SearchOptions {
  Format format = Format::kF64;
  int expansions = 40;        // candidates whose neighbours are tried
  int candidates = 1500;      // measured
  double good_enough = 0.75;  // mean bits of error at which the search ends
  double least_gain = 0.5;    // mean bits that a rewrite must save to be offered
  uint64_t seed = 1;          // for the points far away
  // If there are any: also look for two forms, one on each side of a value. They are chosen at the
  // search's points and offered only if they save as much at these, which should be others.
  std::vector<Point> split_checks = {};
};

// How a candidate came about: the rule, and the whole expression after it.
struct RewriteStep {
  const char* rule;
  int id;
};

struct Measured {
  int id = -1;
  std::vector<RewriteStep> steps;
  // Of error, over the search's points with a true value. It was chosen by these very points, so
  // other points tell better how good it is: see FormAt.
  double mean_bits = 0;
  double worst_bits = 0;
};

struct Rewrite {
  Measured original;
  std::optional<Measured> best;  // where something saves least_gain
  // With split_checks: `below` where variable < threshold, `best` elsewhere. Their means are those
  // of the two together.
  std::optional<Measured> below;
  int variable = -1;
  BigFloat threshold;
  int points = 0;      // with a true value
  int candidates = 0;  // measured
  int refused = 0;     // taken up, and found not equal to the original
};

// `count` points near one: the point itself, as the format stores it, then every variable times a
// random factor between 1/2 and 2 (a zero becomes something small). One for a point without
// variables.
std::vector<Point> PointsAround(const Point& point, Format format, int count, uint64_t seed);

// The best way found to write `id`. Points: as the format stores them (not checked), each with a
// value for every variable; at least one (checked). Adds nodes to the graph, no variables.
//
// Cost: up to options.candidates expressions measured at every point, of which each taken up has
// its true value computed there and at 12 points more: 10 to 300 ms at 12 points in f64.
// Nothing fails: where the original has no finite true value at any point, or no candidate saves
// least_gain, `best` is empty.
Rewrite FindRewrite(Graph* graph, int id, const std::vector<Point>& points,
                    const SearchOptions& options);

// What a rewrite puts at a point, given as the format stores it: `below` or `best`; the original
// where nothing was found.
const Measured& FormAt(const Rewrite& rewrite, const Point& point);

// Whether two expressions have equal true values, to 100 bits, at a point; true also where the
// first has none.
bool EqualAt(TrueValues* truth, int first, int second);

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_REWRITE_H_
