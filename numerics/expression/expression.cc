// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/expression.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "numerics/core/check.h"

namespace assay::expression {
namespace {

// "1.50e3" as digits "15" times 10^(exponent of the first digit).
std::string ShortestForm(std::string_view text) {
  std::string digits;
  int64_t exponent = -1;
  bool point = false;
  size_t i = 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    if (!point) ++exponent;
    if (digits.empty() && text[i] == '0') {
      if (point || exponent >= 0) --exponent;
      continue;
    }
    digits += text[i];
  }
  if (digits.empty()) return "0";
  if (i < text.size()) {
    const bool minus = text[i + 1] == '-';
    int64_t shift = 0;
    for (size_t k = i + 1; k < text.size(); ++k) {
      if (text[k] >= '0' && text[k] <= '9') shift = shift * 10 + (text[k] - '0');
    }
    exponent += minus ? -shift : shift;
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  const int64_t count = static_cast<int64_t>(digits.size());
  if (exponent < -6 || exponent > 20 || (exponent > 5 && count < exponent - 2)) {
    std::string result = digits.substr(0, 1);
    if (count > 1) result += "." + digits.substr(1);
    return result + "e" + std::to_string(exponent);
  }
  if (exponent < 0) return "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return digits + std::string(static_cast<size_t>(exponent + 1 - count), '0');
  const size_t whole = static_cast<size_t>(exponent) + 1;
  return digits.substr(0, whole) + "." + digits.substr(whole);
}

const char* NameOf(Op op) {
  for (const Function& f : kFunctions) {
    if (f.op == op) return f.name;
  }
  return "?";
}

// How tightly an operator binds its operands.
constexpr int kSumBinding = 1;
constexpr int kProductBinding = 2;
constexpr int kSignBinding = 3;
constexpr int kPowerBinding = 4;

}  // namespace

int Graph::Intern(Op op, int index, std::vector<int> args) {
  constexpr uint32_t kBuckets = 1024;
  buckets_.resize(kBuckets);
  uint32_t hash = static_cast<uint32_t>(op) * 31 + static_cast<uint32_t>(index);
  for (const int arg : args) hash = (hash ^ static_cast<uint32_t>(arg)) * 2654435761u;
  std::vector<int>& bucket = buckets_[(hash >> 16 ^ hash) % kBuckets];
  for (const int id : bucket) {
    if (node(id).op == op && node(id).index == index && node(id).args == args) return id;
  }
  bucket.push_back(size());
  nodes_.push_back({op, index, std::move(args)});
  return size() - 1;
}

int Graph::Make(Op op, std::vector<int> args) { return Intern(op, -1, std::move(args)); }

int Graph::Constant(std::string_view text) {
  const std::string form = ShortestForm(text);
  const auto at = std::find(constants_.begin(), constants_.end(), form);
  const int index = static_cast<int>(at - constants_.begin());
  if (at == constants_.end()) constants_.push_back(form);
  return Intern(Op::kConstant, index, {});
}

int Graph::Integer(int64_t value) {
  ASSAY_CHECK(value > -1000000000000000 && value < 1000000000000000);
  if (value < 0) return Make(Op::kNegate, {Integer(-value)});
  return Constant(std::to_string(value));
}

int Graph::Variable(std::string_view name) {
  const auto at = std::find(variables_.begin(), variables_.end(), name);
  const int index = static_cast<int>(at - variables_.begin());
  if (at == variables_.end()) variables_.emplace_back(name);
  return Intern(Op::kVariable, index, {});
}

int64_t Graph::IntegerOr(int id) const {
  if (!Is(id, Op::kConstant)) return -1;
  const std::string& text = constant(id);
  const size_t e = text.find('e');
  if (text.find('.') != std::string::npos || text.size() > 15) return -1;
  int64_t value = 0;
  for (const char c : text.substr(0, e)) value = value * 10 + (c - '0');
  if (e == std::string::npos) return value;
  if (text[e + 1] == '-' || text.size() - e > 3) return -1;
  for (int n = std::stoi(text.substr(e + 1)); n > 0; --n) {
    value *= 10;
    if (value >= 1000000000000000) return -1;
  }
  return value;
}

bool Graph::IsInteger(int id, int64_t value) const { return value >= 0 && IntegerOr(id) == value; }

std::vector<int> Graph::Below(int id) const {
  std::vector<bool> in(static_cast<size_t>(id) + 1, false);
  in[static_cast<size_t>(id)] = true;
  std::vector<int> ids;
  for (int i = id; i >= 0; --i) {
    if (!in[static_cast<size_t>(i)]) continue;
    ids.push_back(i);
    for (const int arg : node(i).args) in[static_cast<size_t>(arg)] = true;
  }
  std::reverse(ids.begin(), ids.end());
  return ids;
}

int Graph::CountOperations(int id) const {
  int count = 0;
  for (const int i : Below(id)) count += node(i).args.empty() ? 0 : 1;
  return count;
}

std::string Graph::ToText(int id) const { return Text(id, 0); }

std::string Graph::Text(int id, int binding) const {
  const Node& n = node(id);
  const auto wrap = [&](int own, const std::string& text) {
    return own < binding ? "(" + text + ")" : text;
  };
  switch (n.op) {
    case Op::kConstant:
      return constant(id);
    case Op::kVariable:
      return variables_[static_cast<size_t>(n.index)];
    case Op::kPi:
      return "pi";
    case Op::kAdd:
    case Op::kSubtract:
      return wrap(kSumBinding, Text(n.args[0], kSumBinding) + (n.op == Op::kAdd ? " + " : " - ") +
                                   Text(n.args[1], kSumBinding + 1));
    case Op::kMultiply:
    case Op::kDivide:
      return wrap(kProductBinding, Text(n.args[0], kProductBinding) +
                                       (n.op == Op::kMultiply ? " * " : " / ") +
                                       Text(n.args[1], kProductBinding + 1));
    case Op::kNegate:
      return wrap(kSignBinding, "-" + Text(n.args[0], kSignBinding));
    case Op::kPower:
      return wrap(kPowerBinding,
                  Text(n.args[0], kPowerBinding + 1) + "^" + Text(n.args[1], kSignBinding));
    default:
      break;
  }
  std::string text = NameOf(n.op);
  for (size_t i = 0; i < n.args.size(); ++i) text += (i == 0 ? "(" : ", ") + Text(n.args[i], 0);
  return text + ")";
}

}  // namespace assay::expression
