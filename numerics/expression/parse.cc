// SPDX-License-Identifier: Apache-2.0
// A recursive descent over the grammar of expression.h.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "numerics/expression/expression.h"

namespace assay::expression {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Parser {
 public:
  Parser(std::string_view text, Graph* graph) : text_(text), graph_(*graph) {}

  std::optional<int> Run(std::string* error) {
    std::optional<int> id;
    if (text_.size() > static_cast<size_t>(kMaxTextLength)) {
      Fail("at most " + std::to_string(kMaxTextLength) + " characters are read");
    } else {
      id = Sum();
      if (id && at_ < text_.size()) id = Fail("expected an operator or the end");
    }
    if (!id) *error = error_;
    return id;
  }

 private:
  std::nullopt_t Fail(std::string words) {
    if (error_.empty()) {
      error_ = std::move(words) + " at character " + std::to_string(at_ + 1);
      if (at_ < text_.size()) {
        error_ += ", where it says \"";
        error_ += text_[at_];
        error_ += '"';
      }
    }
    return std::nullopt;
  }

  void Skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  bool Take(char c) {
    Skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    Skip();
    return true;
  }

  std::optional<int> Made(Op op, std::vector<int> args) {
    if (++operations_ > kMaxOperations) {
      return Fail("more than " + std::to_string(kMaxOperations) + " operations");
    }
    return graph_.Make(op, std::move(args));
  }

  std::optional<int> Sum() {
    Skip();
    if (++depth_ > kMaxNesting) return Fail("nested too deeply");
    std::optional<int> left = Product();
    while (left) {
      const bool plus = Take('+');
      if (!plus && !Take('-')) break;
      const std::optional<int> right = Product();
      if (!right) return std::nullopt;
      left = Made(plus ? Op::kAdd : Op::kSubtract, {*left, *right});
    }
    --depth_;
    return left;
  }

  std::optional<int> Product() {
    std::optional<int> left = Sign();
    while (left) {
      const bool times = Take('*');
      if (!times && !Take('/')) break;
      const std::optional<int> right = Sign();
      if (!right) return std::nullopt;
      left = Made(times ? Op::kMultiply : Op::kDivide, {*left, *right});
    }
    return left;
  }

  std::optional<int> Sign() {
    if (Take('+')) return DeeperSign();
    if (!Take('-')) return Power();
    const std::optional<int> negated = DeeperSign();
    if (!negated) return std::nullopt;
    return Made(Op::kNegate, {*negated});
  }

  std::optional<int> DeeperSign() {
    if (++depth_ > kMaxNesting) return Fail("nested too deeply");
    const std::optional<int> result = Sign();
    --depth_;
    return result;
  }

  std::optional<int> Power() {
    const std::optional<int> base = Primary();
    if (!base || !Take('^')) return base;
    const std::optional<int> exponent = DeeperSign();
    if (!exponent) return std::nullopt;
    return Made(Op::kPower, {*base, *exponent});
  }

  std::optional<int> Primary() {
    Skip();
    if (Take('(')) {
      const std::optional<int> inner = Sum();
      if (inner && !Take(')')) return Fail("expected a closing parenthesis");
      return inner;
    }
    if (at_ < text_.size() && (IsDigit(text_[at_]) || text_[at_] == '.')) return Number();
    if (at_ < text_.size() && IsLetter(text_[at_])) return Name();
    return Fail("expected a number, a variable or a function");
  }

  std::optional<int> Number() {
    const size_t begin = at_;
    size_t digits = 0;
    bool point = false;
    for (; at_ < text_.size(); ++at_) {
      if (IsDigit(text_[at_])) {
        ++digits;
      } else if (text_[at_] == '.' && !point) {
        point = true;
      } else {
        break;
      }
    }
    if (digits == 0) return Fail("expected a digit");
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      const size_t first = at_;
      while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
      if (at_ == first) return Fail("expected the digits of an exponent");
      if (at_ - first > 15) return Fail("an exponent of more than 15 digits");
    }
    const int id = graph_.Constant(text_.substr(begin, at_ - begin));
    Skip();
    return id;
  }

  std::optional<int> Name() {
    const size_t begin = at_;
    while (at_ < text_.size() && (IsLetter(text_[at_]) || IsDigit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    Skip();
    if (at_ < text_.size() && text_[at_] == '(') {
      for (const Function& f : kFunctions) {
        if (name == f.name) return Call(f);
      }
      at_ = begin;
      return Fail("\"" + std::string(name) + "\" is no function known here");
    }
    if (name == "pi") return graph_.Make(Op::kPi, {});
    const int id = graph_.Variable(name);
    if (graph_.variables().size() > static_cast<size_t>(kMaxVariables)) {
      at_ = begin;
      return Fail("more than " + std::to_string(kMaxVariables) + " variables");
    }
    return id;
  }

  std::optional<int> Call(const Function& f) {
    (void)Take('(');
    std::vector<int> args;
    do {
      const std::optional<int> arg = Sum();
      if (!arg) return std::nullopt;
      args.push_back(*arg);
    } while (static_cast<int>(args.size()) < f.most && Take(','));
    if (static_cast<int>(args.size()) < f.least) {
      return Fail(std::string(f.name) + " takes " + std::to_string(f.least) +
                  " arguments, expected a comma");
    }
    if (!Take(')')) return Fail("expected a closing parenthesis");
    return Made(f.op, std::move(args));
  }

  std::string_view text_;
  Graph& graph_;
  size_t at_ = 0;
  int depth_ = -1;  // parentheses, signs and exponents around; the whole text is no level
  int operations_ = 0;
  std::string error_;
};

}  // namespace

std::optional<int> Read(std::string_view text, Graph* graph, std::string* error) {
  return Parser(text, graph).Run(error);
}

}  // namespace assay::expression
