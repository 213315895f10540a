// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/predicate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/elementary.h"
#include "tools/lab/lab.h"
#include "tools/lab/number.h"

namespace assay::lab {

struct Predicate::Node {
  enum class Kind {
    kNumber,
    kText,
    kBool,
    kName,
    kCall,
    kNegate,
    kNot,
    kArithmetic,
    kCompare,
    kAnd,
    kOr
  };
  Kind kind = Kind::kNumber;
  size_t begin = 0;  // in the source: [begin, end)
  size_t end = 0;
  std::string word;  // the operator, name, function or text
  double number = 0;
  std::vector<std::shared_ptr<const Node>> children;
};

namespace {

using Node = Predicate::Node;
using NodePtr = std::shared_ptr<const Node>;
using Kind = Node::Kind;

constexpr size_t kMaxLength = 4000;
constexpr int kMaxDepth = 100;

absl::Status At(size_t position, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("column ", position + 1, ": ", what));
}

struct Function {
  std::string_view name;
  int arity;  // -1: one array or several scalars
};

constexpr Function kFunctions[] = {{"abs", 1},   {"all", 1},   {"any", 1},  {"at", 2},
                                   {"count", 1}, {"first", 1}, {"last", 1}, {"len", 1},
                                   {"log2", 1},  {"max", -1},  {"mean", 1}, {"median", 1},
                                   {"min", -1},  {"sqrt", 1},  {"sum", 1}};

const Function* FindFunction(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

struct Token {
  enum class Kind { kEnd, kNumber, kText, kWord, kSymbol };
  Kind kind = Kind::kEnd;
  size_t begin = 0;
  size_t end = 0;
  std::string text;
  double number = 0;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

absl::StatusOr<std::vector<Token>> Tokenize(std::string_view text) {
  std::vector<Token> tokens;
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++i;
      continue;
    }
    Token token;
    token.begin = i;
    if (IsDigit(c)) {
      while (i < text.size() && (IsDigit(text[i]) || text[i] == '.')) ++i;
      if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
        while (i < text.size() && IsDigit(text[i])) ++i;
      }
      token.kind = Token::Kind::kNumber;
      token.text = text.substr(token.begin, i - token.begin);
      const std::optional<double> number = ParseDouble(token.text);
      if (!number || (i < text.size() && IsLetter(text[i]))) {
        return At(token.begin, absl::StrCat("'", token.text, "' is not a number"));
      }
      token.number = *number;
    } else if (IsLetter(c)) {
      while (i < text.size() && (IsLetter(text[i]) || IsDigit(text[i]))) ++i;
      token.kind = Token::Kind::kWord;
      token.text = text.substr(token.begin, i - token.begin);
    } else if (c == '"') {
      ++i;
      while (i < text.size() && text[i] != '"') token.text.push_back(text[i++]);
      if (i == text.size()) return At(token.begin, "the text has no closing quote");
      ++i;
      token.kind = Token::Kind::kText;
    } else {
      token.kind = Token::Kind::kSymbol;
      const std::string_view two = text.substr(i, 2);
      const bool is_two = two == "<=" || two == ">=" || two == "==" || two == "!=";
      if (!is_two && std::string_view("+-*/<>(),.").find(c) == std::string_view::npos) {
        return At(i,
                  absl::StrCat("'", std::string(1, c), "' has no meaning here",
                               c == '='                           ? "; equality is =="
                               : c == '&' || c == '|' || c == '!' ? "; use the words and, or, not"
                                                                  : ""));
      }
      i += is_two ? 2 : 1;
      token.text = text.substr(token.begin, i - token.begin);
    }
    token.end = i;
    tokens.push_back(std::move(token));
  }
  Token end;
  end.begin = end.end = text.size();
  tokens.push_back(end);
  return tokens;
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  absl::StatusOr<NodePtr> ParseAll() {
    absl::StatusOr<NodePtr> node = Or();
    if (!node.ok()) return node;
    if (Peek().kind != Token::Kind::kEnd) {
      return At(Peek().begin,
                absl::StrCat("expected the end or an operator, found '", Peek().text, "'"));
    }
    return node;
  }

  std::vector<std::string> TakeNames() { return std::move(names_); }

 private:
  const Token& Peek() const { return tokens_[next_]; }

  bool Is(std::string_view text) const {
    const Token& token = Peek();
    return (token.kind == Token::Kind::kSymbol || token.kind == Token::Kind::kWord) &&
           token.text == text;
  }

  bool Accept(std::string_view text) {
    if (!Is(text)) return false;
    ++next_;
    return true;
  }

  absl::Status Expect(std::string_view text) {
    if (Accept(text)) return absl::OkStatus();
    return At(Peek().begin, absl::StrCat("expected '", text, "', found ", Found()));
  }

  std::string Found() const {
    return Peek().kind == Token::Kind::kEnd ? "the end" : absl::StrCat("'", Peek().text, "'");
  }

  static NodePtr Make(Kind kind, std::string word, std::vector<NodePtr> children, size_t begin,
                      size_t end) {
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->word = std::move(word);
    node->children = std::move(children);
    node->begin = begin;
    node->end = end;
    return node;
  }

  static NodePtr Join(Kind kind, std::string word, NodePtr left, NodePtr right) {
    const size_t begin = left->begin, end = right->end;
    return Make(kind, std::move(word), {std::move(left), std::move(right)}, begin, end);
  }

  // A level of left-associative binary operators over `next`. The tree leans left, so its depth
  // grows with its length; that is limited too.
  template <class Next>
  absl::StatusOr<NodePtr> Binary(Kind kind, std::initializer_list<std::string_view> operators,
                                 Next next) {
    absl::StatusOr<NodePtr> left = next();
    while (left.ok()) {
      const std::string op = Peek().text;
      bool found = false;
      for (std::string_view candidate : operators) found = found || Is(candidate);
      if (!found) return left;
      if (++links_ > kMaxLinks) return At(Peek().begin, "more than 300 operators");
      ++next_;
      absl::StatusOr<NodePtr> right = next();
      if (!right.ok()) return right;
      left = Join(kind, op, *std::move(left), *std::move(right));
    }
    return left;
  }

  absl::StatusOr<NodePtr> Or() {
    return Binary(Kind::kOr, {"or"}, [this] { return And(); });
  }
  absl::StatusOr<NodePtr> And() {
    return Binary(Kind::kAnd, {"and"}, [this] { return Not(); });
  }

  absl::StatusOr<NodePtr> Not() {
    if (!Is("not")) return Compare();
    const size_t begin = Peek().begin;
    ++next_;
    if (++depth_ > kMaxDepth) return At(begin, "more than 100 levels of nesting");
    absl::StatusOr<NodePtr> inner = Not();
    --depth_;
    if (!inner.ok()) return inner;
    const size_t end = (*inner)->end;
    return Make(Kind::kNot, "not", {*std::move(inner)}, begin, end);
  }

  absl::StatusOr<NodePtr> Compare() {
    absl::StatusOr<NodePtr> left = Sum();
    if (!left.ok()) return left;
    NodePtr chain;
    while (Is("<") || Is("<=") || Is(">") || Is(">=") || Is("==") || Is("!=")) {
      const std::string op = Peek().text;
      if (++links_ > kMaxLinks) return At(Peek().begin, "more than 300 operators");
      ++next_;
      absl::StatusOr<NodePtr> right = Sum();
      if (!right.ok()) return right;
      NodePtr link = Join(Kind::kCompare, op, *left, *right);
      chain = chain == nullptr ? link : Join(Kind::kAnd, "and", chain, link);
      left = right;
    }
    return chain == nullptr ? *left : chain;
  }

  absl::StatusOr<NodePtr> Sum() {
    return Binary(Kind::kArithmetic, {"+", "-"}, [this] { return Product(); });
  }
  absl::StatusOr<NodePtr> Product() {
    return Binary(Kind::kArithmetic, {"*", "/"}, [this] { return Unary(); });
  }

  absl::StatusOr<NodePtr> Unary() {
    if (!Is("-")) return Primary();
    const size_t begin = Peek().begin;
    ++next_;
    if (++depth_ > kMaxDepth) return At(begin, "more than 100 levels of nesting");
    absl::StatusOr<NodePtr> inner = Unary();
    --depth_;
    if (!inner.ok()) return inner;
    const size_t end = (*inner)->end;
    return Make(Kind::kNegate, "-", {*std::move(inner)}, begin, end);
  }

  absl::StatusOr<NodePtr> Primary() {
    const Token token = Peek();
    if (token.kind == Token::Kind::kNumber) {
      ++next_;
      auto node = std::make_shared<Node>();
      node->kind = Kind::kNumber;
      node->number = token.number;
      node->begin = token.begin;
      node->end = token.end;
      return NodePtr(node);
    }
    if (token.kind == Token::Kind::kText) {
      ++next_;
      return Make(Kind::kText, token.text, {}, token.begin, token.end);
    }
    if (Is("(")) {
      ++next_;
      if (++depth_ > kMaxDepth) return At(token.begin, "more than 100 levels of nesting");
      absl::StatusOr<NodePtr> inner = Or();
      --depth_;
      if (!inner.ok()) return inner;
      if (absl::Status status = Expect(")"); !status.ok()) return status;
      return inner;
    }
    if (token.kind != Token::Kind::kWord || Is("and") || Is("or") || Is("not")) {
      return At(token.begin, absl::StrCat("expected a value, found ", Found()));
    }
    ++next_;
    if (token.text == "true" || token.text == "false") {
      return Make(Kind::kBool, token.text, {}, token.begin, token.end);
    }
    if (Is("(")) return Call(token);
    std::string name = token.text;
    size_t end = token.end;
    if (Accept(".")) {
      if (Peek().kind != Token::Kind::kWord) {
        return At(Peek().begin,
                  absl::StrCat("expected the name of a column of ", name, ", found ", Found()));
      }
      absl::StrAppend(&name, ".", Peek().text);
      end = Peek().end;
      ++next_;
    }
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    return Make(Kind::kName, name, {}, token.begin, end);
  }

  absl::StatusOr<NodePtr> Call(const Token& token) {
    const Function* function = FindFunction(token.text);
    if (function == nullptr) {
      std::vector<std::string> known;
      for (const Function& f : kFunctions) known.emplace_back(f.name);
      const std::string nearest = NearestName(token.text, known);
      return At(
          token.begin,
          absl::StrCat("there is no function '", token.text, "'",
                       nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?")));
    }
    ++next_;
    if (++depth_ > kMaxDepth) return At(token.begin, "more than 100 levels of nesting");
    std::vector<NodePtr> arguments;
    do {
      absl::StatusOr<NodePtr> argument = Or();
      if (!argument.ok()) return argument;
      arguments.push_back(*std::move(argument));
    } while (Accept(","));
    --depth_;
    const size_t end = Peek().end;
    if (absl::Status status = Expect(")"); !status.ok()) return status;
    if (function->arity > 0 && static_cast<int>(arguments.size()) != function->arity) {
      return At(token.begin, absl::StrCat(token.text, " takes ", function->arity,
                                          function->arity == 1 ? " value" : " values", ", ",
                                          arguments.size(), " are given"));
    }
    return Make(Kind::kCall, token.text, std::move(arguments), token.begin, end);
  }

  static constexpr int kMaxLinks = 300;

  std::vector<Token> tokens_;
  std::vector<std::string> names_;
  size_t next_ = 0;
  int depth_ = 0;
  int links_ = 0;
};

size_t Size(const Operand& value) {
  return value.kind == Operand::Kind::kText ? value.texts.size() : value.numbers.size();
}

std::string KindWord(const Operand& value) {
  const char* word = value.kind == Operand::Kind::kNumber ? "number"
                     : value.kind == Operand::Kind::kBool ? "truth value"
                                                          : "text";
  return value.is_array ? absl::StrCat("an array of ", word, "s") : absl::StrCat("a ", word);
}

std::string Show(const Operand& value) {
  if (value.is_array) {
    const size_t size = Size(value);
    if (size == 0 || value.kind == Operand::Kind::kText) return absl::StrCat(size, " values");
    const auto [low, high] = std::minmax_element(value.numbers.begin(), value.numbers.end());
    return absl::StrCat(size, size == 1 ? " value" : " values", ", ", FormatDouble(*low), " to ",
                        FormatDouble(*high));
  }
  if (value.kind == Operand::Kind::kText) return value.texts[0];
  if (value.kind == Operand::Kind::kBool) return value.numbers[0] != 0 ? "true" : "false";
  return FormatDouble(value.numbers[0]);
}

// log2, exact for powers of two.
double Log2(double x) {
  if (!(x > 0) || std::isinf(x)) return Log(x);
  int exponent = 0;
  const double mantissa = 2 * std::frexp(x, &exponent);
  return static_cast<double>(exponent - 1) + Log(mantissa) / Log(2.0);
}

double Median(std::vector<double> values) {
  for (double value : values) {
    if (value != value) return value;
  }
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

class Evaluator {
 public:
  Evaluator(const std::string& text, const Predicate::Scope& scope, double margin)
      : text_(text), scope_(scope), margin_(margin) {}

  absl::StatusOr<Operand> Evaluate(const Node& node) {
    switch (node.kind) {
      case Kind::kNumber:
        return Operand::Number(node.number);
      case Kind::kText:
        return Operand::Text(node.word);
      case Kind::kBool:
        return Operand::Bool(node.word == "true");
      case Kind::kName: {
        absl::StatusOr<Operand> value = scope_(node.word);
        if (!value.ok()) return At(node.begin, value.status().message());
        return value;
      }
      case Kind::kNegate: {
        absl::StatusOr<Operand> value = Evaluate(*node.children[0]);
        if (!value.ok()) return value;
        if (value->kind != Operand::Kind::kNumber) return Misfit(node, "- wants a number", *value);
        for (double& number : value->numbers) number = -number;
        return value;
      }
      case Kind::kNot: {
        absl::StatusOr<Operand> value = Evaluate(*node.children[0]);
        if (!value.ok()) return value;
        if (value->kind != Operand::Kind::kBool)
          return Misfit(node, "not wants a truth value", *value);
        for (double& number : value->numbers) number = 1 - number;
        return value;
      }
      case Kind::kAnd:
      case Kind::kOr:
        return Logic(node);
      case Kind::kArithmetic:
        return Arithmetic(node);
      case Kind::kCompare:
        return Compare(node);
      case Kind::kCall:
        return Call(node);
    }
    return absl::InternalError("unreachable");
  }

  std::vector<Comparison> TakeEvidence() { return std::move(evidence_); }
  bool narrow() const { return narrow_; }

 private:
  static absl::Status Misfit(const Node& node, std::string_view want, const Operand& found) {
    return At(node.begin, absl::StrCat(want, ", found ", KindWord(found)));
  }

  absl::StatusOr<Operand> Logic(const Node& node) {
    for (int side = 0; side < 2; ++side) {
      absl::StatusOr<Operand> value = Evaluate(*node.children[static_cast<size_t>(side)]);
      if (!value.ok()) return value;
      if (value->kind != Operand::Kind::kBool || value->is_array) {
        return Misfit(
            *node.children[static_cast<size_t>(side)],
            absl::StrCat("'", node.word,
                         "' wants one truth value on each side (all and any make one of many)"),
            *value);
      }
      const bool holds = value->numbers[0] != 0;
      if (side == 1 || holds == (node.kind == Kind::kOr)) return value;
    }
    return absl::InternalError("unreachable");
  }

  // The number of elements that two operands of one operation give; 1 for two scalars.
  static absl::StatusOr<size_t> Pair(const Node& node, const Operand& a, const Operand& b) {
    if (a.is_array && b.is_array && Size(a) != Size(b)) {
      return At(node.begin, absl::StrCat("the sides of '", node.word, "' have ", Size(a), " and ",
                                         Size(b), " values"));
    }
    return a.is_array ? Size(a) : b.is_array ? Size(b) : 1;
  }

  absl::StatusOr<Operand> Arithmetic(const Node& node) {
    absl::StatusOr<Operand> a = Evaluate(*node.children[0]);
    if (!a.ok()) return a;
    absl::StatusOr<Operand> b = Evaluate(*node.children[1]);
    if (!b.ok()) return b;
    for (const Operand* side : {&*a, &*b}) {
      if (side->kind != Operand::Kind::kNumber) {
        return Misfit(node, absl::StrCat("'", node.word, "' wants numbers"), *side);
      }
    }
    absl::StatusOr<size_t> size = Pair(node, *a, *b);
    if (!size.ok()) return size.status();
    Operand result;
    result.is_array = a->is_array || b->is_array;
    for (size_t i = 0; i < *size; ++i) {
      const double x = a->numbers[a->is_array ? i : 0];
      const double y = b->numbers[b->is_array ? i : 0];
      result.numbers.push_back(node.word == "+"   ? x + y
                               : node.word == "-" ? x - y
                               : node.word == "*" ? x * y
                                                  : x / y);
    }
    return result;
  }

  template <class T>
  static bool Holds(const std::string& op, const T& x, const T& y) {
    if (op == "<") return x < y;
    if (op == "<=") return x <= y;
    if (op == ">") return x > y;
    if (op == ">=") return x >= y;
    return op == "==" ? x == y : x != y;
  }

  absl::StatusOr<Operand> Compare(const Node& node) {
    absl::StatusOr<Operand> a = Evaluate(*node.children[0]);
    if (!a.ok()) return a;
    absl::StatusOr<Operand> b = Evaluate(*node.children[1]);
    if (!b.ok()) return b;
    const bool equality = node.word == "==" || node.word == "!=";
    if (a->kind != b->kind || (!equality && a->kind != Operand::Kind::kNumber)) {
      return At(node.begin, absl::StrCat("'", node.word, "' cannot compare ", KindWord(*a),
                                         " with ", KindWord(*b)));
    }
    absl::StatusOr<size_t> size = Pair(node, *a, *b);
    if (!size.ok()) return size.status();
    Operand result;
    result.kind = Operand::Kind::kBool;
    result.is_array = a->is_array || b->is_array;
    bool all = true;
    for (size_t i = 0; i < *size; ++i) {
      const size_t ia = a->is_array ? i : 0, ib = b->is_array ? i : 0;
      const bool holds = a->kind == Operand::Kind::kText
                             ? Holds(node.word, a->texts[ia], b->texts[ib])
                             : Holds(node.word, a->numbers[ia], b->numbers[ib]);
      all = all && holds;
      result.numbers.push_back(holds ? 1 : 0);
      if (holds && !equality) {
        const double x = a->numbers[ia], y = b->numbers[ib];
        if (std::abs(x - y) < margin_ * std::max(std::abs(x), std::abs(y))) narrow_ = true;
      }
    }
    evidence_.push_back(
        {Source(*node.children[0]), node.word, Source(*node.children[1]), Show(*a), Show(*b), all});
    return result;
  }

  std::string Source(const Node& node) const {
    return text_.substr(node.begin, node.end - node.begin);
  }

  absl::StatusOr<Operand> Call(const Node& node) {
    std::vector<Operand> arguments;
    for (const NodePtr& child : node.children) {
      absl::StatusOr<Operand> value = Evaluate(*child);
      if (!value.ok()) return value;
      arguments.push_back(*std::move(value));
    }
    const std::string& name = node.word;
    Operand& first = arguments[0];
    if (name == "count" || name == "all" || name == "any") {
      if (first.kind != Operand::Kind::kBool || !first.is_array) {
        return Misfit(node, absl::StrCat(name, " wants an array of truth values"), first);
      }
      const auto count = std::count(first.numbers.begin(), first.numbers.end(), 1.0);
      if (name == "count") return Operand::Number(static_cast<double>(count));
      return Operand::Bool(name == "all" ? count == static_cast<std::ptrdiff_t>(Size(first))
                                         : count != 0);
    }
    if (name == "len" || name == "first" || name == "last" || name == "at")
      return Element(node, arguments);
    for (const Operand& argument : arguments) {
      if (argument.kind != Operand::Kind::kNumber)
        return Misfit(node, absl::StrCat(name, " wants numbers"), argument);
    }
    if (name == "abs" || name == "sqrt" || name == "log2") {
      for (double& x : first.numbers)
        x = name == "abs" ? std::abs(x) : name == "sqrt" ? std::sqrt(x) : Log2(x);
      return first;
    }
    std::vector<double> numbers = first.numbers;
    if (arguments.size() > 1) {
      numbers.clear();
      for (const Operand& argument : arguments) {
        if (argument.is_array)
          return Misfit(node, absl::StrCat(name, " of several values wants scalars"), argument);
        numbers.push_back(argument.numbers[0]);
      }
    } else if (!first.is_array) {
      return Misfit(node, absl::StrCat(name, " wants an array"), first);
    }
    if (name == "sum") {
      double sum = 0;
      for (double x : numbers) sum += x;
      return Operand::Number(sum);
    }
    if (numbers.empty()) return At(node.begin, absl::StrCat(name, " of an empty array"));
    if (name == "mean") {
      double sum = 0;
      for (double x : numbers) sum += x;
      return Operand::Number(sum / static_cast<double>(numbers.size()));
    }
    if (name == "median") return Operand::Number(Median(std::move(numbers)));
    double best = numbers[0];
    for (double x : numbers) {
      if (x != x || best != best) {
        best = x != x ? x : best;
      } else {
        best = name == "min" ? std::min(best, x) : std::max(best, x);
      }
    }
    return Operand::Number(best);
  }

  absl::StatusOr<Operand> Element(const Node& node, const std::vector<Operand>& arguments) {
    const Operand& array = arguments[0];
    const size_t size = Size(array);
    if (!array.is_array) return Misfit(node, absl::StrCat(node.word, " wants an array"), array);
    if (node.word == "len") return Operand::Number(static_cast<double>(size));
    double index = node.word == "last" ? static_cast<double>(size) - 1 : 0;
    if (node.word == "at") {
      if (arguments[1].kind != Operand::Kind::kNumber || arguments[1].is_array) {
        return Misfit(node, "the index of at is a number", arguments[1]);
      }
      index = arguments[1].numbers[0];
    }
    if (!(index >= 0 && index < static_cast<double>(size)) || index != std::floor(index)) {
      return At(node.begin,
                absl::StrCat("there is no element ", FormatDouble(index), " among ", size));
    }
    Operand result;
    result.kind = array.kind;
    if (array.kind == Operand::Kind::kText) {
      result.texts = {array.texts[static_cast<size_t>(index)]};
    } else {
      result.numbers = {array.numbers[static_cast<size_t>(index)]};
    }
    return result;
  }

  const std::string& text_;
  const Predicate::Scope& scope_;
  const double margin_;
  std::vector<Comparison> evidence_;
  bool narrow_ = false;
};

}  // namespace

absl::StatusOr<Predicate> Predicate::Parse(std::string_view text) {
  if (text.size() > kMaxLength)
    return At(kMaxLength, "the predicate is longer than 4,000 characters");
  absl::StatusOr<std::vector<Token>> tokens = Tokenize(text);
  if (!tokens.ok()) return tokens.status();
  Parser parser(*std::move(tokens));
  absl::StatusOr<NodePtr> root = parser.ParseAll();
  if (!root.ok()) return root.status();
  Predicate predicate;
  predicate.text_ = std::make_shared<const std::string>(text);
  predicate.root_ = *std::move(root);
  predicate.names_ = parser.TakeNames();
  return predicate;
}

absl::StatusOr<Verdict> Predicate::Evaluate(const Scope& scope, double margin) const {
  Evaluator evaluator(*text_, scope, margin);
  absl::StatusOr<Operand> value = evaluator.Evaluate(*root_);
  if (!value.ok()) return value.status();
  if (value->kind != Operand::Kind::kBool || value->is_array) {
    return At(root_->begin,
              absl::StrCat("a predicate comes to one truth value, this one to ", KindWord(*value),
                           value->is_array ? "; use all(...) or any(...)" : ""));
  }
  Verdict verdict;
  verdict.holds = value->numbers[0] != 0;
  verdict.narrow = verdict.holds && evaluator.narrow();
  verdict.evidence = evaluator.TakeEvidence();
  return verdict;
}

}  // namespace assay::lab
