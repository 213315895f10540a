// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/polynomial.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "numerics/expression/order.h"

namespace assay::expression {
namespace {

constexpr int kMaxPower = 8;

std::optional<Coefficient> Reduced(int64_t top, int64_t bottom) {
  constexpr int64_t kLimit = int64_t{1} << 62;
  if (bottom == 0 || top <= -kLimit || top >= kLimit || bottom <= -kLimit || bottom >= kLimit) {
    return std::nullopt;
  }
  const int64_t common = std::gcd(top, bottom);
  const int64_t sign = bottom < 0 ? -1 : 1;
  return Coefficient{sign * top / common, sign * bottom / common};
}

std::optional<Coefficient> Product(const Coefficient& a, const Coefficient& b) {
  int64_t top = 0;
  int64_t bottom = 0;
  if (__builtin_mul_overflow(a.top, b.top, &top) ||
      __builtin_mul_overflow(a.bottom, b.bottom, &bottom)) {
    return std::nullopt;
  }
  return Reduced(top, bottom);
}

std::optional<Coefficient> Sum(const Coefficient& a, const Coefficient& b) {
  int64_t x = 0;
  int64_t y = 0;
  int64_t top = 0;
  int64_t bottom = 0;
  if (__builtin_mul_overflow(a.top, b.bottom, &x) || __builtin_mul_overflow(b.top, a.bottom, &y) ||
      __builtin_add_overflow(x, y, &top) || __builtin_mul_overflow(a.bottom, b.bottom, &bottom)) {
    return std::nullopt;
  }
  return Reduced(top, bottom);
}

// The constant's value where it is a short decimal.
std::optional<Coefficient> ValueOf(const Graph& graph, int id) {
  const int64_t whole = graph.IntegerOr(id);
  if (whole >= 0) return Coefficient{whole, 1};
  const std::string& text = graph.constant(id);
  if (text.size() > 12 || text.find('e') != std::string::npos) return std::nullopt;
  Coefficient value;
  bool point = false;
  for (const char c : text) {
    if (c == '.') {
      point = true;
    } else {
      value.top = value.top * 10 + (c - '0');
      if (point) value.bottom *= 10;
    }
  }
  return Reduced(value.top, value.bottom);
}

bool AddTerm(Polynomial* p, const Monomial& m, const Coefficient& c) {
  const auto [at, fresh] = p->try_emplace(m, c);
  if (!fresh) {
    const std::optional<Coefficient> sum = Sum(at->second, c);
    if (!sum) return false;
    at->second = *sum;
  }
  if (at->second.top == 0) p->erase(at);
  return p->size() <= kMaxTerms;
}

class Builder {
 public:
  explicit Builder(Graph* graph) : graph_(*graph) {}

  std::optional<Fraction> Convert(int id, int depth = 0) {
    if (depth > 40 || ++work_ > 3000) return std::nullopt;
    const Node n = graph_.node(id);  // a copy: the graph may grow
    const auto arg = [&](size_t i) { return Convert(n.args[i], depth + 1); };
    switch (n.op) {
      case Op::kConstant:
        if (const std::optional<Coefficient> c = ValueOf(graph_, id)) return Constant(*c);
        return Atom(id, 1);
      case Op::kNegate: {
        std::optional<Fraction> a = arg(0);
        if (a) a = Scaled(*a, {-1, 1});
        return a;
      }
      case Op::kAdd:
      case Op::kSubtract: {
        const std::optional<Fraction> a = arg(0);
        std::optional<Fraction> b = arg(1);
        if (b && n.op == Op::kSubtract) b = Scaled(*b, {-1, 1});
        if (!a || !b) return std::nullopt;
        return AddFractions(*a, *b);
      }
      case Op::kMultiply: {
        const std::optional<Fraction> a = arg(0);
        const std::optional<Fraction> b = arg(1);
        if (!a || !b) return std::nullopt;
        return MultiplyFractions(*a, *b);
      }
      case Op::kDivide: {
        const std::optional<Fraction> a = arg(0);
        const std::optional<Fraction> b = arg(1);
        if (!a || !b) return std::nullopt;
        const std::optional<Fraction> inverse = Inverse(*b);
        if (!inverse) return std::nullopt;
        return MultiplyFractions(*a, *inverse);
      }
      case Op::kPower: {
        const int64_t power = graph_.IntegerOr(n.args[1]);
        if (power < 2 || power > kMaxPower) return Atom(id, 1);
        const std::optional<Fraction> base = arg(0);
        if (!base) return std::nullopt;
        std::optional<Fraction> result = base;
        for (int64_t i = 1; i < power && result; ++i) result = MultiplyFractions(*result, *base);
        return result;
      }
      case Op::kExp: {
        // exp(k t) = exp(t)^k for the largest whole k that leaves t without a denominator.
        const std::optional<Fraction> exponent = arg(0);
        if (exponent && exponent->top.size() == 1) {
          const auto& [monomial, c] = *exponent->top.begin();
          if (c.top >= 2 && c.top <= kMaxPower && !monomial.empty()) {
            Fraction one = *exponent;
            one.top.begin()->second.top = 1;
            return Atom(graph_.Make(Op::kExp, {FromFraction(&graph_, one)}),
                        static_cast<int>(c.top));
          }
        }
        return Atom(id, 1);
      }
      default:
        return Atom(id, 1);
    }
  }

  // p / q for polynomials where that is a polynomial. The leading term is the last of the map.
  static std::optional<Polynomial> Divided(Polynomial p, const Polynomial& q) {
    Polynomial quotient;
    const auto& [lead, c] = *q.rbegin();
    for (int steps = 0; !p.empty(); ++steps) {
      if (steps > static_cast<int>(kMaxTerms)) return std::nullopt;
      const std::optional<Monomial> m = Over(p.rbegin()->first, lead);
      if (!m) return std::nullopt;
      const std::optional<Coefficient> factor =
          Product(p.rbegin()->second,
                  Coefficient{c.top < 0 ? -c.bottom : c.bottom, c.top < 0 ? -c.top : c.top});
      if (!factor || !AddTerm(&quotient, *m, *factor)) return std::nullopt;
      for (const auto& [monomial, coefficient] : q) {
        const std::optional<Coefficient> product =
            Product(coefficient, {-factor->top, factor->bottom});
        if (!product || !AddTerm(&p, Times(monomial, *m), *product)) return std::nullopt;
      }
    }
    return quotient;
  }

  static Fraction Constant(const Coefficient& c) {
    Fraction f;
    if (c.top != 0) f.top[{}] = c;
    return f;
  }

  static Fraction Atom(int id, int power) {
    Fraction f;
    f.top[{{id, power}}] = {1, 1};
    return f;
  }

 private:
  static Monomial Times(const Monomial& a, const Monomial& b) {
    Monomial m = a;
    for (const auto& [id, power] : b) {
      const auto at =
          std::find_if(m.begin(), m.end(), [id = id](const auto& f) { return f.first >= id; });
      if (at != m.end() && at->first == id) {
        at->second += power;
      } else {
        m.insert(at, {id, power});
      }
    }
    return m;
  }

  static std::optional<Monomial> Over(const Monomial& a, const Monomial& b) {
    Monomial m = a;
    for (const auto& [id, power] : b) {
      const auto at =
          std::find_if(m.begin(), m.end(), [id = id](const auto& f) { return f.first == id; });
      if (at == m.end() || at->second < power) return std::nullopt;
      at->second -= power;
      if (at->second == 0) m.erase(at);
    }
    return m;
  }

  static std::optional<Fraction> Scaled(Fraction f, const Coefficient& factor) {
    for (auto& [monomial, c] : f.top) {
      const std::optional<Coefficient> product = Product(c, factor);
      if (!product) return std::nullopt;
      c = *product;
    }
    return f;
  }

  // The product, with squares of square roots taken.
  std::optional<Polynomial> Multiplied(const Polynomial& a, const Polynomial& b) {
    Polynomial result;
    if (++work_ > 3000) return std::nullopt;
    for (const auto& [m, c] : a) {
      for (const auto& [n, d] : b) {
        const std::optional<Coefficient> product = Product(c, d);
        if (!product) return std::nullopt;
        const Monomial whole = Times(m, n);
        const auto root = std::find_if(whole.begin(), whole.end(), [&](const auto& f) {
          return f.second >= 2 && graph_.Is(f.first, Op::kSqrt);
        });
        if (root == whole.end()) {
          if (!AddTerm(&result, whole, *product)) return std::nullopt;
          continue;
        }
        const std::optional<Fraction> inner = Convert(graph_.node(root->first).args[0], 20);
        if (!inner || !inner->bottom.empty()) return std::nullopt;
        Polynomial rest;
        rest[*Over(whole, {{root->first, 2}})] = *product;
        const std::optional<Polynomial> taken = Multiplied(rest, inner->top);
        if (!taken) return std::nullopt;
        for (const auto& [monomial, coefficient] : *taken) {
          if (!AddTerm(&result, monomial, coefficient)) return std::nullopt;
        }
      }
    }
    return result;
  }

  std::optional<Fraction> MultiplyFractions(const Fraction& a, const Fraction& b) {
    std::optional<Polynomial> top = Multiplied(a.top, b.top);
    if (!top) return std::nullopt;
    Fraction result{std::move(*top), a.bottom};
    for (const auto& [id, power] : b.bottom) result.bottom[id] += power;
    return Cancelled(std::move(result));
  }

  std::optional<Fraction> AddFractions(const Fraction& a, const Fraction& b) {
    Fraction result;
    result.bottom = a.bottom;
    for (const auto& [id, power] : b.bottom) {
      int& own = result.bottom[id];
      own = std::max(own, power);
    }
    for (const Fraction* f : {&a, &b}) {
      Polynomial top = f->top;
      for (const auto& [id, power] : result.bottom) {
        const auto at = f->bottom.find(id);
        for (int missing = power - (at == f->bottom.end() ? 0 : at->second); missing > 0;
             --missing) {
          const std::optional<Fraction> factor = Convert(id, 20);
          if (!factor || !factor->bottom.empty()) return std::nullopt;
          std::optional<Polynomial> product = Multiplied(top, factor->top);
          if (!product) return std::nullopt;
          top = std::move(*product);
        }
      }
      for (const auto& [m, c] : top) {
        if (!AddTerm(&result.top, m, c)) return std::nullopt;
      }
    }
    return Cancelled(std::move(result));
  }

  std::optional<Fraction> Inverse(const Fraction& f) {
    if (f.top.empty()) return std::nullopt;
    // The numerator becomes one factor, or the atoms of its one monomial.
    Fraction result = Constant({1, 1});
    for (const auto& [id, power] : f.bottom) {
      const std::optional<Fraction> factor = Convert(id, 20);
      if (!factor || !factor->bottom.empty()) return std::nullopt;
      for (int i = 0; i < power; ++i) {
        std::optional<Polynomial> product = Multiplied(result.top, factor->top);
        if (!product) return std::nullopt;
        result.top = std::move(*product);
      }
    }
    if (f.top.size() > 1) {
      Fraction whole;
      whole.top = f.top;
      result.bottom[FromFraction(&graph_, whole)] += 1;
      return result;
    }
    const auto& [monomial, c] = *f.top.begin();
    for (const auto& [id, power] : monomial) result.bottom[id] += power;
    return Scaled(result, {c.top < 0 ? -c.bottom : c.bottom, c.top < 0 ? -c.top : c.top});
  }

  // Divides the numerator by factors of the denominator as long as that goes.
  std::optional<Fraction> Cancelled(Fraction f) {
    if (f.top.empty()) return Fraction{};
    for (auto at = f.bottom.begin(); at != f.bottom.end();) {
      const std::optional<Fraction> factor = Convert(at->first, 20);
      while (factor && factor->bottom.empty() && !factor->top.empty() && at->second > 0) {
        std::optional<Polynomial> quotient = Divided(f.top, factor->top);
        if (!quotient) break;
        f.top = std::move(*quotient);
        --at->second;
      }
      at = at->second == 0 ? f.bottom.erase(at) : std::next(at);
    }
    return f;
  }

  Graph& graph_;
  int work_ = 0;  // conversions and products, so that no input takes long
};

int Repeated(Graph* graph, int id, int power) {
  if (power > 3) return graph->Make(Op::kPower, {id, graph->Integer(power)});
  int result = id;
  for (int i = 1; i < power; ++i) result = graph->Make(Op::kMultiply, {result, id});
  return result;
}

// a * b, where a may be missing (-1).
int Chained(Graph* graph, int a, int b) { return a < 0 ? b : graph->Make(Op::kMultiply, {a, b}); }

}  // namespace

std::optional<Fraction> ToFraction(Graph* graph, int id) { return Builder(graph).Convert(id); }

int FromFraction(Graph* graph, const Fraction& fraction) {
  if (fraction.top.empty()) return graph->Integer(0);
  // Whole coefficients over one whole denominator, without a common factor.
  int64_t common = 0;
  int64_t bottom = 1;
  bool whole = true;
  for (const auto& [m, c] : fraction.top) {
    common = std::gcd(common, c.top);
    const int64_t factor = c.bottom / std::gcd(bottom, c.bottom);
    whole = whole && !__builtin_mul_overflow(bottom, factor, &bottom) && bottom < 1000000000000000;
  }
  // Terms with more atoms first, the constant last; the first one positive where there is one.
  std::vector<double> keys;
  for (const auto& [m, c] : fraction.top) {
    int degree = 0;
    for (const auto& [id, power] : m) degree += power;
    keys.push_back((c.top > 0 ? 0 : 1000) - degree);
  }
  std::vector<std::pair<Monomial, Coefficient>> unordered(fraction.top.begin(), fraction.top.end());
  std::vector<std::pair<Monomial, Coefficient>> terms;
  for (const size_t i : OrderOf(keys)) terms.push_back(std::move(unordered[i]));
  if (common > 1 && terms.size() == 1) common = 1;
  if (common == 0 || !whole) common = 1;
  int sum = -1;
  for (const auto& [m, c] : terms) {
    const int64_t size = (c.top < 0 ? -c.top : c.top) / common * (whole ? bottom / c.bottom : 1);
    const bool small = size < 1000000000000000;
    int term = -1;
    if (size != 1 || m.empty()) {
      term = small ? graph->Integer(size) : graph->Constant(std::to_string(size));
    }
    for (const auto& [id, power] : m) term = Chained(graph, term, Repeated(graph, id, power));
    if (!whole && c.bottom != 1) {
      term = graph->Make(Op::kDivide, {term, graph->Constant(std::to_string(c.bottom))});
    }
    if (sum < 0) {
      sum = c.top < 0 ? graph->Make(Op::kNegate, {term}) : term;
    } else {
      sum = graph->Make(c.top < 0 ? Op::kSubtract : Op::kAdd, {sum, term});
    }
  }
  if (common > 1)
    sum = graph->Make(Op::kMultiply, {graph->Integer(common % 1000000000000000), sum});
  int below = -1;
  if (whole && bottom != 1) below = graph->Integer(bottom);
  for (const auto& [id, power] : fraction.bottom)
    below = Chained(graph, below, Repeated(graph, id, power));
  return below < 0 ? sum : graph->Make(Op::kDivide, {sum, below});
}

int Simplify(Graph* graph, int id) {
  const std::optional<Fraction> fraction = ToFraction(graph, id);
  return fraction ? FromFraction(graph, *fraction) : id;
}

}  // namespace assay::expression
