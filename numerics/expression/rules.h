// SPDX-License-Identifier: Apache-2.0
// Identities of real numbers by which an expression can be written another way.
//
// Each holds wherever both sides are defined and `where` says nothing else; which side computes
// better depends on the numbers, so the search measures it. Letters a to d stand for any
// expression.
#ifndef ASSAY_NUMERICS_EXPRESSION_RULES_H_
#define ASSAY_NUMERICS_EXPRESSION_RULES_H_

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "numerics/expression/expression.h"

namespace assay::expression {

struct Rule {
  const char* name;  // "conjugate": a reader's word; several rules may share one
  const char* from;
  const char* to;
  // Where the identity needs more than both sides being defined: "a > 0", ... in words; "" if not.
  const char* where;
};

// The table, and for each name a sentence that says why.
std::span<const Rule> Rules();
const char* ReasonFor(std::string_view name);

// The rules read into a graph of their own, ready to be applied to expressions of another.
class Rewriter {
 public:
  Rewriter();

  // What the rules make of the whole of `id`, not of its parts: (result, name of the rule).
  std::vector<std::pair<int, const char*>> ApplyAt(Graph* graph, int id) const;

  // `id` with every function made for a purpose put where its purpose is: expm1, log1p, hypot,
  // logsumexp, half angles. id itself where there is no place for one.
  int ApplySpecial(Graph* graph, int id) const;

  // op(args) with what costs nothing simplified: x + 0, x * 1, --x, whole constants, ...
  static int MakeTidy(Graph* graph, Op op, const std::vector<int>& args);

 private:
  static constexpr int kLetters = 4;
  using Binding = std::array<int, kLetters>;  // -1: not bound yet

  struct Compiled {
    int from;
    int to;
    int turns;  // a bit for each + and * of `from`, whose arguments may be turned
    const char* name;
  };

  bool Match(const Graph& graph, int pattern, int id, Binding* binding, int turns) const;
  bool ApplyRule(Graph* graph, const Compiled& rule, int id, std::vector<int>* results) const;
  int Instantiate(Graph* graph, int pattern, const Binding& binding) const;

  Graph patterns_;
  std::vector<Compiled> rules_;
};

// `id` with every occurrence of the part `from` replaced by `to`, tidied along the way.
int Replace(Graph* graph, int id, int from, int to);

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_RULES_H_
