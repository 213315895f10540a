// SPDX-License-Identifier: Apache-2.0
// Expressions of real numbers: read from text, kept in a graph, written as text again.
//
// A graph holds each expression once, however often it occurs, so equal subexpressions have equal
// ids and everything computed about one is computed once. Arguments have smaller ids than what is
// made of them.
//
// Grammar, loosest first:
//   sum      = product { ("+" | "-") product }
//   product  = sign { ("*" | "/") sign }
//   sign     = ("-" | "+") sign | power
//   power    = primary [ "^" sign ]                          right to left; -x^2 is -(x^2)
//   primary  = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
// A name before a parenthesis is a function (kFunctions), pi is the number, any other name a
// variable. Numbers are decimal and stand for exactly what they say.
#ifndef ASSAY_NUMERICS_EXPRESSION_EXPRESSION_H_
#define ASSAY_NUMERICS_EXPRESSION_EXPRESSION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::expression {

enum class Op : uint8_t {
  kConstant,
  kVariable,
  kPi,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,
  kPower,
  kSqrt,
  kCbrt,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kLog2,
  kLog10,
  kSin,
  kCos,
  kTan,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAbs,
  kHypot,
  kMin,
  kMax,
  kFma,
  kLogSumExp,
};

struct Function {
  const char* name;
  Op op;
  int least;  // arguments
  int most;
};

inline constexpr int kMaxTextLength = 1000;
inline constexpr int kMaxNesting = 100;
inline constexpr int kMaxOperations = 200;
inline constexpr int kMaxVariables = 8;
inline constexpr int kMaxArguments = 8;

inline constexpr std::array<Function, 23> kFunctions = {{
    {"sqrt", Op::kSqrt, 1, 1},   {"cbrt", Op::kCbrt, 1, 1},
    {"exp", Op::kExp, 1, 1},     {"expm1", Op::kExpm1, 1, 1},
    {"log", Op::kLog, 1, 1},     {"log1p", Op::kLog1p, 1, 1},
    {"log2", Op::kLog2, 1, 1},   {"log10", Op::kLog10, 1, 1},
    {"sin", Op::kSin, 1, 1},     {"cos", Op::kCos, 1, 1},
    {"tan", Op::kTan, 1, 1},     {"atan", Op::kAtan, 1, 1},
    {"sinh", Op::kSinh, 1, 1},   {"cosh", Op::kCosh, 1, 1},
    {"tanh", Op::kTanh, 1, 1},   {"abs", Op::kAbs, 1, 1},
    {"hypot", Op::kHypot, 2, 2}, {"min", Op::kMin, 2, 2},
    {"max", Op::kMax, 2, 2},     {"pow", Op::kPower, 2, 2},
    {"fma", Op::kFma, 3, 3},     {"logsumexp", Op::kLogSumExp, 1, kMaxArguments},
    {"ln", Op::kLog, 1, 1},
}};

struct Node {
  Op op;
  int index = -1;         // of a constant or variable
  std::vector<int> args;  // ids
};

class Graph {
 public:
  // The id of op(args): a new one only where there is none. Nothing is simplified.
  int Make(Op op, std::vector<int> args);
  // Decimal text without sign, as the grammar has it (checked); 1.50 and 1.5 are the same constant.
  int Constant(std::string_view text);
  int Integer(int64_t value);  // a negated constant for value < 0
  int Variable(std::string_view name);

  const Node& node(int id) const { return nodes_[static_cast<size_t>(id)]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  // The constant's text in its shortest form: "0.1", "1e300".
  const std::string& constant(int id) const {
    return constants_[static_cast<size_t>(node(id).index)];
  }
  const std::vector<std::string>& variables() const { return variables_; }
  bool Is(int id, Op op) const { return node(id).op == op; }
  // Whether id is the constant of this value.
  bool IsInteger(int id, int64_t value) const;
  // Its value where it is a whole number below 10^15, else -1.
  int64_t IntegerOr(int id) const;

  // Operations in the expression, each counted once.
  int CountOperations(int id) const;
  // Its subexpressions, arguments before what is made of them, itself last.
  std::vector<int> Below(int id) const;

  // As text with no parentheses beyond need: "sqrt(x + 1) - sqrt(x)".
  std::string ToText(int id) const;

 private:
  int Intern(Op op, int index, std::vector<int> args);
  std::string Text(int id, int binding) const;

  std::vector<Node> nodes_;
  std::vector<std::string> constants_;
  std::vector<std::string> variables_;
  std::vector<std::vector<int>> buckets_;  // ids by hash
};

// Reads `text` into the graph and gives the id of the whole. Empty on failure; *error then says
// what was expected and at which character (from 1): bad syntax, an unknown function, a wrong
// number of arguments, or more than the limits above. parse.h has the same with absl::Status, which
// costs a module for browsers more than all the rest of this file.
std::optional<int> Read(std::string_view text, Graph* graph, std::string* error);

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_EXPRESSION_H_
