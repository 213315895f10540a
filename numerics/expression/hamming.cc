// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/hamming.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/expression/analyse.h"

namespace assay::expression {

namespace {

// Seeds of the points by which splits are kept, and of those that only the score sees, are the
// search's own with these bits turned.
constexpr uint64_t kSplitChecks = uint64_t{1} << 62;
constexpr uint64_t kHeldOut = uint64_t{1} << 63;

}  // namespace

const std::array<HammingProblem, 27>& HammingProblems() {
  using Problems = std::array<HammingProblem, 27>;
  static const Problems* const kProblems = new Problems{{
      {"2sqrt", "example 3.1", "sqrt(x + 1) - sqrt(x)", {{"x", 0, 100, false, false}}},
      {"2sin",
       "example 3.3",
       "sin(x + eps) - sin(x)",
       {{"x", -4, 4, true, false}, {"eps", -16, 0, false, true}}},
      {"tanhf", "example 3.4", "(1 - cos(x)) / sin(x)", {{"x", -100, 100, true, false}}},
      {"2atan", "example 3.5", "atan(N + 1) - atan(N)", {{"N", 0, 100, false, false}}},
      {"2isqrt", "example 3.6", "1 / sqrt(x) - 1 / sqrt(x + 1)", {{"x", 0, 100, false, false}}},
      {"expm1", "example 3.7", "exp(x) - 1", {{"x", -100, -0.301, true, false}}},
      {"logs",
       "example 3.8",
       "(n + 1) * log(n + 1) - n * log(n) - 1",
       {{"n", 15.833, 100, false, false}}},
      {"invcot", "example 3.9", "1 / x - 1 / tan(x)", {{"x", -100, -1.585, true, false}}},
      {"qlog", "example 3.10", "log(1 - x) / log(1 + x)", {{"x", -100, -0.301, true, false}}},
      {"expq2", "section 3.11", "exp(x) / (exp(x) - 1)", {{"x", -100, 2.85, true, false}}},
      {"quadp",
       "page 42",
       "(-b + sqrt(b * b - 4 * (a * c))) / (2 * a)",
       {{"b", -30, 30, true, false}, {"a", -30, 30, true, false}, {"c", -30, 30, true, false}}},
      {"quadm",
       "page 42",
       "(-b - sqrt(b * b - 4 * (a * c))) / (2 * a)",
       {{"b", -30, 30, true, false}, {"a", -30, 30, true, false}, {"c", -30, 30, true, false}}},
      {"quad2p",
       "problem 3.2.1",
       "(-b2 + sqrt(b2 * b2 - a * c)) / a",
       {{"b2", -30, 30, true, false}, {"a", -30, 30, true, false}, {"c", -30, 30, true, false}}},
      {"quad2m",
       "problem 3.2.1",
       "(-b2 - sqrt(b2 * b2 - a * c)) / a",
       {{"b2", -30, 30, true, false}, {"a", -30, 30, true, false}, {"c", -30, 30, true, false}}},
      {"2frac", "problem 3.3.1", "1 / (x + 1) - 1 / x", {{"x", -100, 100, true, false}}},
      {"2tan",
       "problem 3.3.2",
       "tan(x + eps) - tan(x)",
       {{"x", -4, 4, true, false}, {"eps", -16, 0, false, true}}},
      {"3frac",
       "problem 3.3.3",
       "1 / (x + 1) - 2 / x + 1 / (x - 1)",
       {{"x", -100, 100, true, false}}},
      {"2cbrt", "problem 3.3.4", "cbrt(x + 1) - cbrt(x)", {{"x", 0, 5, true, false}}},
      {"2cos",
       "problem 3.3.5",
       "cos(x + eps) - cos(x)",
       {{"x", -4, 4, true, false}, {"eps", -16, 0, false, true}}},
      {"2log", "problem 3.3.6", "log(N + 1) - log(N)", {{"N", 0, 40, false, false}}},
      {"exp2", "problem 3.3.7", "exp(x) - 2 + exp(-x)", {{"x", -100, 2.85, true, false}}},
      {"cos2", "problem 3.4.1", "(1 - cos(x)) / (x * x)", {{"x", -100, 100, true, false}}},
      {"expq3",
       "problem 3.4.2",
       "eps * (exp((a + b) * eps) - 1) / ((exp(a * eps) - 1) * (exp(b * eps) - 1))",
       {{"eps", -27, 0, true, false}, {"a", -2, 2.85, true, false}, {"b", -2, 2.85, true, false}}},
      {"logq", "problem 3.4.3", "log((1 - eps) / (1 + eps))", {{"eps", -100, 0, true, false}}},
      {"sqrtexp",
       "problem 3.4.4",
       "sqrt((exp(2 * x) - 1) / (exp(x) - 1))",
       {{"x", -100, 2.5, true, false}}},
      {"sintan", "problem 3.4.5", "(x - sin(x)) / (x - tan(x))", {{"x", -100, 5, true, false}}},
      {"2nthrt",
       "problem 3.4.6",
       "(x + 1)^(1 / n) - x^(1 / n)",
       {{"x", -100, 100, false, false}, {"n", 0, 10, false, false}}},
  }};
  return *kProblems;
}

std::vector<Point> PointsOf(const HammingProblem& problem, int count, uint64_t seed) {
  Graph graph;
  std::string error;
  const std::optional<int> id = Read(problem.text, &graph, &error);
  ASSAY_CHECK(id.has_value());
  Random random(seed, 9100);
  std::vector<Point> points;
  for (int i = 0; i < 50 * count && static_cast<int>(points.size()) < count; ++i) {
    Point point;
    double before = 1;
    for (const Range& range : problem.ranges) {
      const double u = random.Uniform();
      double x = Exp(2.302585092994045684 * (range.low + (range.high - range.low) * u));
      if (range.relative) x *= std::fabs(before);
      if (random.Integer(2) == 1 && range.both_signs) x = -x;
      before = x;
      point.emplace_back(x);
    }
    FormatValues values(&graph, Format::kF64, point);
    TrueValues truth(&graph, values.point());
    const Ball& value = truth(*id);
    // Beyond the range of f64 there is nothing to get right.
    if (value.value.IsFinite() && std::isfinite(value.value.ToDouble()))
      points.push_back(values.point());
  }
  return points;
}

Rewrite Mend(const HammingProblem& problem, int points, uint64_t seed, Graph* graph) {
  for (const Range& range : problem.ranges) (void)graph->Variable(range.variable);
  std::string error;
  const std::optional<int> id = Read(problem.text, graph, &error);
  ASSAY_CHECK(id.has_value());
  SearchOptions options;
  options.split_checks = PointsOf(problem, points, seed ^ kSplitChecks);
  options.expansions = 200;
  options.candidates = 4000;
  options.seed = seed;
  return FindRewrite(graph, *id, PointsOf(problem, points, seed), options);
}

HeldOut Score(const HammingProblem& problem, const Graph& graph, const Rewrite& rewrite, int count,
              uint64_t seed) {
  HeldOut score;
  for (const Point& point : PointsOf(problem, count, seed ^ kHeldOut)) {
    FormatValues values(&graph, Format::kF64, point);
    TrueValues truth(&graph, point);
    const BigFloat& value = truth(rewrite.original.id).value;
    score.before += ErrorOf(Format::kF64, values(rewrite.original.id), value).bits;
    score.after += ErrorOf(Format::kF64, values(FormAt(rewrite, point).id), value).bits;
    ++score.points;
  }
  if (score.points > 0) {
    score.before /= score.points;
    score.after /= score.points;
  }
  return score;
}

}  // namespace assay::expression
