// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/rules.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "numerics/core/check.h"

namespace assay::expression {

std::span<const Rule> Rules() {
  static constexpr Rule kRules[] = {
      // Roots.
      {"conjugate", "sqrt(a) - sqrt(b)", "(a - b) / (sqrt(a) + sqrt(b))", ""},
      {"conjugate", "sqrt(a) - b", "(a - b * b) / (sqrt(a) + b)", ""},
      {"conjugate", "a - sqrt(b)", "(a * a - b) / (a + sqrt(b))", ""},
      {"conjugate", "a + sqrt(b)", "(a * a - b) / (a - sqrt(b))", ""},
      {"conjugate", "cbrt(a) - cbrt(b)",
       "(a - b) / (cbrt(a) * cbrt(a) + cbrt(a) * cbrt(b) + cbrt(b) * cbrt(b))", ""},
      {"root of a product", "sqrt(a) * sqrt(b)", "sqrt(a * b)", ""},
      {"root of a product", "sqrt(a * b)", "sqrt(a) * sqrt(b)", ""},
      {"root of a quotient", "sqrt(a) / sqrt(b)", "sqrt(a / b)", ""},
      {"root of a quotient", "sqrt(a / b)", "sqrt(a) / sqrt(b)", ""},
      {"root of a square", "sqrt(a * a)", "abs(a)", ""},
      {"root of a square", "sqrt(a^2)", "abs(a)", ""},
      {"hypot", "sqrt(a * a + b * b)", "hypot(a, b)", ""},
      {"hypot", "sqrt(a^2 + b^2)", "hypot(a, b)", ""},
      {"hypot", "sqrt(a * a + 1)", "hypot(a, 1)", ""},
      {"hypot", "sqrt(a^2 + 1)", "hypot(a, 1)", ""},
      // Products and quotients.
      {"difference of squares", "a * a - b * b", "(a - b) * (a + b)", ""},
      {"difference of squares", "a^2 - b^2", "(a - b) * (a + b)", ""},
      {"difference of squares", "a * a - 1", "(a - 1) * (a + 1)", ""},
      {"difference of squares", "a^2 - 1", "(a - 1) * (a + 1)", ""},
      {"difference of squares", "1 - a * a", "(1 - a) * (1 + a)", ""},
      {"difference of squares", "1 - a^2", "(1 - a) * (1 + a)", ""},
      {"common denominator", "a / b - c / d", "(a * d - b * c) / (b * d)", ""},
      {"common denominator", "a / b + c / d", "(a * d + b * c) / (b * d)", ""},
      {"common denominator", "a - c / d", "(a * d - c) / d", ""},
      {"common denominator", "a / b - c", "(a - b * c) / b", ""},
      {"common denominator", "a + c / d", "(a * d + c) / d", ""},
      {"factor", "a * c - b * c", "(a - b) * c", ""},
      {"factor", "a * c + b * c", "(a + b) * c", ""},
      {"factor", "a * c - c", "(a - 1) * c", ""},
      {"factor", "c - a * c", "(1 - a) * c", ""},
      {"factor", "a * c + c", "(a + 1) * c", ""},
      {"distribute", "(a + b) * c", "a * c + b * c", ""},
      {"distribute", "(a - b) * c", "a * c - b * c", ""},
      {"divide first", "(a * b) / (c * d)", "(a / c) * (b / d)", ""},
      {"divide first", "(a * b) / c", "a * (b / c)", ""},
      {"divide first", "a / (b * c)", "(a / b) / c", ""},
      {"divide first", "(a * b) / (c * c)", "(a / c) * (b / c)", ""},
      {"divide first", "(d * (a * b)) / (c * c)", "d * ((a / c) * (b / c))", ""},
      {"divide through", "a / (a + b)", "1 / (1 + b / a)", ""},
      {"divide through", "a / (a - b)", "1 / (1 - b / a)", ""},
      {"fused product", "a * b + c", "fma(a, b, c)", ""},
      {"fused product", "a * b - c", "fma(a, b, -c)", ""},
      {"fused product", "c - a * b", "fma(-a, b, c)", ""},
      {"Kahan's difference of products", "a * b - c * d", "fma(a, b, -(c * d)) + fma(-c, d, c * d)",
       ""},
      // Exponentials.
      {"expm1", "exp(a) - 1", "expm1(a)", ""},
      {"expm1", "1 - exp(a)", "-expm1(a)", ""},
      {"expm1", "exp(a) - exp(b)", "exp(b) * expm1(a - b)", ""},
      {"expm1", "exp(a) / expm1(a)", "-1 / expm1(-a)", ""},
      {"expm1", "expm1(2 * a)", "expm1(a) * (expm1(a) + 2)", ""},
      {"expm1", "exp(a) / (1 + exp(a))", "1 / (1 + exp(-a))", ""},
      {"hyperbolic functions", "exp(a) + exp(-a)", "2 * cosh(a)", ""},
      {"hyperbolic functions", "exp(a) - exp(-a)", "2 * sinh(a)", ""},
      {"hyperbolic functions", "2 * cosh(a) - 2", "4 * (sinh(a / 2) * sinh(a / 2))", ""},
      {"hyperbolic functions", "cosh(a) - 1", "2 * (sinh(a / 2) * sinh(a / 2))", ""},
      {"hyperbolic functions", "1 - cosh(a)", "-(2 * (sinh(a / 2) * sinh(a / 2)))", ""},
      {"hyperbolic functions", "sinh(a) / cosh(a)", "tanh(a)", ""},
      {"hyperbolic functions", "expm1(a) / (exp(a) + 1)", "tanh(a / 2)", ""},
      {"hyperbolic functions", "(exp(a) - 1) / (exp(a) + 1)", "tanh(a / 2)", ""},
      {"hyperbolic functions", "sinh(a) - sinh(b)", "2 * cosh((a + b) / 2) * sinh((a - b) / 2)",
       ""},
      {"hyperbolic functions", "cosh(a) - cosh(b)", "2 * sinh((a + b) / 2) * sinh((a - b) / 2)",
       ""},
      {"hyperbolic functions", "tanh(a) - tanh(b)", "sinh(a - b) / (cosh(a) * cosh(b))", ""},
      {"hyperbolic functions", "1 - tanh(a)", "2 / (exp(2 * a) + 1)", ""},
      {"exponents add", "exp(a) * exp(b)", "exp(a + b)", ""},
      {"exponents add", "exp(a) / exp(b)", "exp(a - b)", ""},
      {"exponents add", "exp(log(a))", "a", "a > 0"},
      {"exponents add", "log(exp(a))", "a", ""},
      // Logarithms.
      {"log1p", "log(1 + a)", "log1p(a)", ""},
      {"log1p", "log(1 - a)", "log1p(-a)", ""},
      {"log1p", "log(a)", "log1p(a - 1)", ""},
      {"log1p", "log(a / b)", "log1p((a - b) / b)", ""},
      {"log1p", "log(a) - log(b)", "log1p((a - b) / b)", ""},
      {"log1p", "log1p(a) - log1p(b)", "log1p((a - b) / (1 + b))", ""},
      {"logarithm of a quotient", "log(a) - log(b)", "log(a / b)", ""},
      {"logarithm of a quotient", "log(a / b)", "log(a) - log(b)", "a > 0, b > 0"},
      {"logarithm of a product", "log(a) + log(b)", "log(a * b)", "a > 0, b > 0"},
      {"logarithm of a product", "log(a * b)", "log(a) + log(b)", "a > 0, b > 0"},
      {"logarithm of a power", "log(a^b)", "b * log(a)", "a > 0"},
      {"logarithm of a root", "log(sqrt(a))", "log(a) / 2", ""},
      {"logarithm to a base", "log(a) / log(2)", "log2(a)", ""},
      {"logarithm to a base", "log(a) / log(10)", "log10(a)", ""},
      {"logsumexp", "log(exp(a) + exp(b))", "logsumexp(a, b)", ""},
      {"logsumexp", "log(1 + exp(a))", "logsumexp(0, a)", ""},
      {"logsumexp", "log(exp(a) + exp(b) + exp(c))", "logsumexp(a, b, c)", ""},
      {"logsumexp", "log(exp(a) + exp(b) + exp(c) + exp(d))", "logsumexp(a, b, c, d)", ""},
      {"logsumexp", "log1p(exp(a))", "max(a, 0) + log1p(exp(-abs(a)))", ""},
      {"logsumexp", "logsumexp(a, b) - a", "logsumexp(0, b - a)", ""},
      {"logsumexp", "logsumexp(a, b) - b", "logsumexp(a - b, 0)", ""},
      {"logsumexp", "logsumexp(a, b, c) - a", "logsumexp(0, b - a, c - a)", ""},
      {"logsumexp", "logsumexp(a, b, c) - b", "logsumexp(a - b, 0, c - b)", ""},
      {"logsumexp", "logsumexp(a, b, c) - c", "logsumexp(a - c, b - c, 0)", ""},
      {"logsumexp", "exp(a) / (exp(a) + exp(b))", "1 / (1 + exp(b - a))", ""},
      // Powers.
      {"powers", "a^2", "a * a", ""},
      {"powers", "a^3", "a * a * a", ""},
      {"powers", "a^(-1)", "1 / a", ""},
      {"powers", "a^(-2)", "1 / (a * a)", ""},
      {"powers", "a^0.5", "sqrt(a)", ""},
      {"powers", "a^(1 / 2)", "sqrt(a)", ""},
      {"powers", "a^(1 / 3)", "cbrt(a)", ""},
      {"powers", "a^b * a^c", "a^(b + c)", "a > 0"},
      {"powers", "a^b - c^b", "c^b * expm1(b * log1p((a - c) / c))", "a > 0, c > 0"},
      {"powers", "a^b - 1", "expm1(b * log(a))", "a > 0"},
      {"powers", "a^b", "exp(b * log(a))", "a > 0"},
      // Circular functions.
      {"half angle", "1 - cos(a)", "2 * (sin(a / 2) * sin(a / 2))", ""},
      {"half angle", "cos(a) - 1", "-(2 * (sin(a / 2) * sin(a / 2)))", ""},
      {"half angle", "(1 - cos(a)) / sin(a)", "tan(a / 2)", ""},
      {"half angle", "sin(a) / (1 + cos(a))", "tan(a / 2)", ""},
      {"squares of sine and cosine", "sin(a) * sin(a) + cos(a) * cos(a)", "1", ""},
      {"squares of sine and cosine", "sin(a)^2 + cos(a)^2", "1", ""},
      {"squares of sine and cosine", "1 - sin(a) * sin(a)", "cos(a) * cos(a)", ""},
      {"squares of sine and cosine", "1 - sin(a)^2", "cos(a) * cos(a)", ""},
      {"squares of sine and cosine", "1 - cos(a) * cos(a)", "sin(a) * sin(a)", ""},
      {"squares of sine and cosine", "1 - cos(a)^2", "sin(a) * sin(a)", ""},
      {"squares of sine and cosine", "cos(a) * cos(a) - sin(a) * sin(a)", "cos(2 * a)", ""},
      {"squares of sine and cosine", "cos(a)^2 - sin(a)^2", "cos(2 * a)", ""},
      {"squares of sine and cosine", "sin(a) * cos(a)", "sin(2 * a) / 2", ""},
      {"sum to product", "sin(a) - sin(b)", "2 * (cos((a + b) / 2) * sin((a - b) / 2))", ""},
      {"sum to product", "sin(a) + sin(b)", "2 * (sin((a + b) / 2) * cos((a - b) / 2))", ""},
      {"sum to product", "cos(a) - cos(b)", "-(2 * (sin((a + b) / 2) * sin((a - b) / 2)))", ""},
      {"sum to product", "cos(a) + cos(b)", "2 * (cos((a + b) / 2) * cos((a - b) / 2))", ""},
      {"sum to product", "tan(a) - tan(b)", "sin(a - b) / (cos(a) * cos(b))", ""},
      {"sum to product", "tan(a) + tan(b)", "sin(a + b) / (cos(a) * cos(b))", ""},
      {"angle sum", "sin(a + b)", "sin(a) * cos(b) + cos(a) * sin(b)", ""},
      {"angle sum", "cos(a + b)", "cos(a) * cos(b) - sin(a) * sin(b)", ""},
      {"tangent", "sin(a) / cos(a)", "tan(a)", ""},
      {"tangent", "tan(a)", "sin(a) / cos(a)", ""},
      {"difference of angles", "atan(a) - atan(b)", "atan((a - b) / (1 + a * b))", "a b > -1"},
      {"difference of angles", "atan(a) + atan(b)", "atan((a + b) / (1 - a * b))", "a b < 1"},
  };
  return kRules;
}

const char* ReasonFor(std::string_view name) {
  struct Reason {
    const char* name;
    const char* text;
  };
  static constexpr Reason kReasons[] = {
      {"conjugate",
       "Times the sum over the sum: the difference of roots becomes a difference of what is under "
       "them, which is known exactly or cancels on paper."},
      {"root of a product", "One root of a product or two roots: whichever stays in range."},
      {"root of a quotient", "One root of a quotient or two roots: whichever stays in range."},
      {"root of a square", "The square could overflow, its root is the size of the number."},
      {"hypot", "hypot never squares a number out of range."},
      {"difference of squares",
       "Squares are rounded before they cancel; the factors a - b and a + b are not."},
      {"common denominator",
       "Over one denominator the numerators cancel on paper instead of in rounded numbers."},
      {"factor", "What both terms share is taken out, so that the rest can be subtracted alone."},
      {"distribute", "Written out, terms of different size can be paired otherwise."},
      {"divide first", "Dividing early keeps products in range."},
      {"divide through", "Divided through by the numerator, nothing overflows."},
      {"fused product", "The product enters the sum unrounded."},
      {"Kahan's difference of products",
       "The second product's rounding error is itself computed, by fma, and given back."},
      {"expm1", "expm1(a) is exp(a) - 1 computed without the subtraction."},
      {"hyperbolic functions",
       "Differences of exponentials are hyperbolic functions, which keep their digits near 0."},
      {"exponents add", "Exponents are added before the exponential can leave the range."},
      {"log1p", "log1p(a) is log(1 + a) computed before the 1 has swallowed a."},
      {"logarithm of a quotient", "A difference of logarithms is the logarithm of a quotient."},
      {"logarithm of a product", "A sum of logarithms is the logarithm of a product."},
      {"logarithm of a power", "The power could leave the range; its logarithm does not."},
      {"logarithm of a root", "A root under a logarithm is a half before it."},
      {"logarithm to a base", "One function rounds once, a quotient of two three times."},
      {"logsumexp", "The largest exponent is taken out first, so that nothing overflows."},
      {"powers", "A power by products, roots or one exponential."},
      {"half angle", "1 - cos(a) is twice the square of a sine: no subtraction is left."},
      {"squares of sine and cosine", "The squares of sine and cosine add up to 1 on paper."},
      {"sum to product",
       "The difference of the angles is taken before the functions, not after them."},
      {"angle sum", "A small angle added to a large one is rounded; apart, neither is."},
      {"tangent", "One function rounds once."},
      {"difference of angles", "The angles' difference is one arc tangent of a small number."},
      {"special functions",
       "Functions made for the purpose take the place of what loses digits: expm1, log1p, hypot, "
       "..."},
      {"simplify", "Terms that cancel are cancelled on paper."},
      {"pairing", "The terms that cancel are added first."},
  };
  for (const Reason& r : kReasons) {
    if (name == r.name) return r.text;
  }
  return "";
}

// ------------------------------------------------------------------ applying them

Rewriter::Rewriter() {
  for (const char* letter : {"a", "b", "c", "d"}) (void)patterns_.Variable(letter);
  for (const Rule& rule : Rules()) {
    std::string error;
    const std::optional<int> from = Read(rule.from, &patterns_, &error);
    const std::optional<int> to = Read(rule.to, &patterns_, &error);
    ASSAY_CHECK(from && to);
    int turns = 0;
    for (const int i : patterns_.Below(*from)) {
      if (patterns_.Is(i, Op::kAdd) || patterns_.Is(i, Op::kMultiply)) turns |= 1 << (i % 30);
    }
    rules_.push_back({*from, *to, turns, rule.name});
  }
}

// `turns`: bit k turns the arguments of the k-th + or * of the pattern, in the order of its ids.
bool Rewriter::Match(const Graph& graph, int pattern, int id, Binding* binding, int turns) const {
  const Node& p = patterns_.node(pattern);
  if (p.op == Op::kVariable) {
    int& bound = (*binding)[static_cast<size_t>(p.index)];
    if (bound < 0) bound = id;
    return bound == id;
  }
  if (p.op == Op::kConstant) {
    return graph.Is(id, Op::kConstant) && graph.constant(id) == patterns_.constant(pattern);
  }
  const Node& n = graph.node(id);
  if (n.op != p.op || n.args.size() != p.args.size()) return false;
  const bool turned =
      (p.op == Op::kAdd || p.op == Op::kMultiply) && ((turns >> (pattern % 30)) & 1) != 0;
  for (size_t i = 0; i < p.args.size(); ++i) {
    const size_t k = turned ? p.args.size() - 1 - i : i;
    if (!Match(graph, p.args[i], n.args[k], binding, turns)) return false;
  }
  return true;
}

// Appends what the rule makes of `id`, for every way to turn its sums and products.
bool Rewriter::ApplyRule(Graph* graph, const Compiled& rule, int id,
                         std::vector<int>* results) const {
  if (patterns_.node(rule.from).op != graph->node(id).op) return false;
  bool found = false;
  for (int turns = 0;;) {  // through all subsets of the bits, from none to all
    Binding binding = {-1, -1, -1, -1};
    if (Match(*graph, rule.from, id, &binding, turns)) {
      results->push_back(Instantiate(graph, rule.to, binding));
      found = true;
    }
    if (turns == rule.turns) return found;
    turns = (turns - rule.turns) & rule.turns;
  }
}

std::vector<std::pair<int, const char*>> Rewriter::ApplyAt(Graph* graph, int id) const {
  std::vector<std::pair<int, const char*>> found;
  for (const Compiled& rule : rules_) {
    std::vector<int> results;
    (void)ApplyRule(graph, rule, id, &results);
    for (const int result : results) {
      bool known = result == id;
      for (const auto& [other, name] : found) known = known || other == result;
      if (!known) found.emplace_back(result, rule.name);
    }
  }
  return found;
}

int Rewriter::ApplySpecial(Graph* graph, int id) const {
  const auto special = [](const Rule& rule) {
    for (const std::string_view from :
         {"exp(a) - 1", "1 - exp(a)", "log(1 + a)", "log(1 - a)", "sqrt(a * a + b * b)",
          "sqrt(a^2 + b^2)", "log(exp(a) + exp(b))", "log(1 + exp(a))", "1 - cos(a)",
          "cos(a) - 1"}) {
      if (from == rule.from) return true;
    }
    return false;
  };
  for (int round = 0; round < 16; ++round) {
    const int before = id;
    for (const int part : graph->Below(id)) {
      std::vector<int> results;
      for (size_t r = 0; r < rules_.size() && results.empty(); ++r) {
        if (special(Rules()[r])) (void)ApplyRule(graph, rules_[r], part, &results);
      }
      if (results.empty()) continue;
      id = Replace(graph, id, part, results[0]);
      break;
    }
    if (id == before) break;
  }
  return id;
}

int Rewriter::Instantiate(Graph* graph, int pattern, const Binding& binding) const {
  const Node& p = patterns_.node(pattern);
  if (p.op == Op::kVariable) return binding[static_cast<size_t>(p.index)];
  if (p.op == Op::kConstant) return graph->Constant(patterns_.constant(pattern));
  std::vector<int> args;
  for (const int arg : p.args) args.push_back(Instantiate(graph, arg, binding));
  return MakeTidy(graph, p.op, args);
}

int Rewriter::MakeTidy(Graph* graph, Op op, const std::vector<int>& args) {
  const auto is = [&](size_t i, int64_t value) { return graph->IsInteger(args[i], value); };
  const auto negated = [&](size_t i) { return graph->Is(args[i], Op::kNegate); };
  const auto inside = [&](size_t i) { return graph->node(args[i]).args[0]; };
  const auto tidy = [&](Op o, std::vector<int> a) { return MakeTidy(graph, o, a); };
  // Whole constants, so long as they stay short.
  if (args.size() == 2) {
    const int64_t a = graph->IntegerOr(args[0]);
    const int64_t b = graph->IntegerOr(args[1]);
    constexpr int64_t kShort = 1000000;
    if (a >= 0 && b >= 0 && a < kShort && b < kShort) {
      if (op == Op::kAdd) return graph->Integer(a + b);
      if (op == Op::kSubtract) return graph->Integer(a - b);
      if (op == Op::kMultiply) return graph->Integer(a * b);
    }
  }
  switch (op) {
    case Op::kAdd:
      if (is(0, 0)) return args[1];
      if (is(1, 0)) return args[0];
      if (negated(1)) return tidy(Op::kSubtract, {args[0], inside(1)});
      if (negated(0)) return tidy(Op::kSubtract, {args[1], inside(0)});
      break;
    case Op::kSubtract:
      if (is(1, 0)) return args[0];
      if (is(0, 0)) return tidy(Op::kNegate, {args[1]});
      if (negated(1)) return tidy(Op::kAdd, {args[0], inside(1)});
      if (args[0] == args[1]) return graph->Integer(0);
      break;
    case Op::kMultiply:
      if (is(0, 1)) return args[1];
      if (is(1, 1)) return args[0];
      if (is(0, 0) || is(1, 0)) return graph->Integer(0);
      if (negated(0)) return tidy(Op::kNegate, {tidy(Op::kMultiply, {inside(0), args[1]})});
      if (negated(1)) return tidy(Op::kNegate, {tidy(Op::kMultiply, {args[0], inside(1)})});
      break;
    case Op::kDivide:
      if (is(1, 1)) return args[0];
      if (args[0] == args[1]) return graph->Integer(1);
      if (negated(0)) return tidy(Op::kNegate, {tidy(Op::kDivide, {inside(0), args[1]})});
      if (negated(1)) return tidy(Op::kNegate, {tidy(Op::kDivide, {args[0], inside(1)})});
      break;
    case Op::kNegate:
      if (negated(0)) return inside(0);
      if (is(0, 0)) return args[0];
      if (graph->Is(args[0], Op::kSubtract)) {
        return graph->Make(Op::kSubtract, {graph->node(args[0]).args[1], inside(0)});
      }
      break;
    default:
      break;
  }
  return graph->Make(op, args);
}

int Replace(Graph* graph, int id, int from, int to) {
  std::vector<int> image(static_cast<size_t>(id) + 1);
  for (const int i : graph->Below(id)) {
    int& own = image[static_cast<size_t>(i)];
    own = i == from ? to : i;
    if (i == from) continue;
    const Node n = graph->node(i);
    std::vector<int> args;
    for (const int arg : n.args) args.push_back(image[static_cast<size_t>(arg)]);
    if (args != n.args) own = Rewriter::MakeTidy(graph, n.op, args);
  }
  return image[static_cast<size_t>(id)];
}

}  // namespace assay::expression
