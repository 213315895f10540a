// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/neighbours.h"

#include <utility>
#include <vector>

#include "numerics/expression/polynomial.h"

namespace assay::expression {
namespace {

struct Term {
  int id;
  bool negative;
};

// The terms of nested sums and differences.
void Flatten(const Graph& graph, int id, bool negative, std::vector<Term>* terms) {
  const Node& n = graph.node(id);
  if (n.op == Op::kAdd || n.op == Op::kSubtract) {
    Flatten(graph, n.args[0], negative, terms);
    Flatten(graph, n.args[1], negative != (n.op == Op::kSubtract), terms);
  } else if (n.op == Op::kNegate) {
    Flatten(graph, n.args[0], !negative, terms);
  } else {
    terms->push_back({id, negative});
  }
}

// a + b with their signs.
int Paired(Graph* graph, const Term& a, const Term& b) {
  if (a.negative && b.negative) {
    return Rewriter::MakeTidy(graph, Op::kNegate,
                              {Rewriter::MakeTidy(graph, Op::kAdd, {a.id, b.id})});
  }
  if (a.negative) return Rewriter::MakeTidy(graph, Op::kSubtract, {b.id, a.id});
  return Rewriter::MakeTidy(graph, b.negative ? Op::kSubtract : Op::kAdd, {a.id, b.id});
}

}  // namespace

std::vector<std::pair<int, const char*>> NeighbourFinder::Neighbours(Graph* graph, int id) const {
  std::vector<std::pair<int, const char*>> found;
  const auto add = [&](int expression, const char* rule) {
    bool known = expression == id;
    for (const auto& [other, name] : found) known = known || other == expression;
    if (!known) found.emplace_back(expression, rule);
  };
  // A part put in the place of another, as it is and simplified.
  const auto put = [&](int part, int by, const char* rule) {
    const int raw = Replace(graph, id, part, by);
    const int tidy = Replace(graph, id, part, Simplify(graph, by));
    add(Simplify(graph, tidy), rule);
    add(tidy, rule);
    add(raw, rule);
  };
  add(rewriter_.ApplySpecial(graph, id), "special functions");
  for (const int part : graph->Below(id)) {
    const Node n = graph->node(part);
    if (n.args.empty()) continue;
    for (const auto& [by, rule] : rewriter_.ApplyAt(graph, part)) put(part, by, rule);
    const bool sum = n.op == Op::kAdd || n.op == Op::kSubtract;
    if (sum || n.op == Op::kDivide || n.op == Op::kMultiply) {
      add(Replace(graph, id, part, Simplify(graph, part)), "simplify");
    }
    if (!sum) continue;
    std::vector<Term> terms;
    Flatten(*graph, part, false, &terms);
    if (terms.size() > 8) continue;
    for (size_t i = 0; i < terms.size(); ++i) {
      for (size_t j = i + 1; j < terms.size(); ++j) {
        const int pair = Paired(graph, terms[i], terms[j]);
        const auto with_rest = [&](int by) {
          Term whole = {by, false};
          for (size_t k = 0; k < terms.size(); ++k) {
            if (k != i && k != j) whole = {Paired(graph, whole, terms[k]), false};
          }
          return whole.id;
        };
        if (terms.size() > 2) add(Replace(graph, id, part, with_rest(pair)), "pairing");
        for (const auto& [by, rule] : rewriter_.ApplyAt(graph, pair)) {
          put(part, with_rest(by), rule);
          const int tidy = Simplify(graph, by);
          if (tidy != by) add(Replace(graph, id, part, with_rest(tidy)), rule);
        }
        // -a - b: the rules know sums, not their negatives.
        if (graph->Is(pair, Op::kNegate)) {
          const int inner = graph->node(pair).args[0];
          for (const auto& [by, rule] : rewriter_.ApplyAt(graph, inner)) {
            put(part, with_rest(Rewriter::MakeTidy(graph, Op::kNegate, {by})), rule);
          }
        }
      }
    }
  }
  return found;
}

}  // namespace assay::expression
