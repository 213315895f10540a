// SPDX-License-Identifier: Apache-2.0
// Expressions as fractions of polynomials: what makes (x + 1) - x into 1.
//
// The numerator is expanded into monomials over atoms (variables, functions, anything that is not
// + - * / or a small power) with rational coefficients; the denominator is kept as a product, since
// a factored denominator computes better. exp(2 x) counts as exp(x)^2 and sqrt(x)^2 as x.
#ifndef ASSAY_NUMERICS_EXPRESSION_POLYNOMIAL_H_
#define ASSAY_NUMERICS_EXPRESSION_POLYNOMIAL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "numerics/expression/expression.h"

namespace assay::expression {

// A reduced fraction with a positive denominator; operations that would overflow give nothing.
struct Coefficient {
  int64_t top = 0;
  int64_t bottom = 1;
  friend bool operator==(const Coefficient&, const Coefficient&) = default;
};

using Monomial = std::vector<std::pair<int, int>>;   // (atom, power), atoms ascending
using Polynomial = std::map<Monomial, Coefficient>;  // no zero coefficients

struct Fraction {
  Polynomial top;
  std::map<int, int> bottom;  // factor (an id) -> power
};

inline constexpr size_t kMaxTerms = 24;  // of a numerator; beyond that nothing is expanded

// The expression as a fraction; empty where it grows beyond kMaxTerms or its coefficients beyond 63
// bits. May add nodes to the graph, also where it comes out empty. Cost: linear in the expression's
// parts times at most kMaxTerms^2 products of monomials each.
std::optional<Fraction> ToFraction(Graph* graph, int id);

// The fraction, common factors cancelled, as an expression.
int FromFraction(Graph* graph, const Fraction& fraction);

// FromFraction(ToFraction(id)), or id where there is none. Equal to id wherever both are defined.
int Simplify(Graph* graph, int id);

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_POLYNOMIAL_H_
