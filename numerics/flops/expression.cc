// SPDX-License-Identifier: Apache-2.0
#include "numerics/flops/expression.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::flops {
namespace {

struct SymbolText {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array<SymbolText, kSymbols> kTexts = {{
    {"B", "sequences"},
    {"T", "new tokens of each sequence"},
    {"R", "positions of each sequence whose logits are computed"},
    {"C", "positions of each sequence whose keys and values are read"},
    {"P", "pairs of a query and a key that are multiplied, of one sequence and head"},
    {"d", "width of the model"},
    {"h", "query heads"},
    {"h_kv", "heads of keys and values"},
    {"d_h", "width of a head"},
    {"d_ff", "hidden width of a dense feed-forward block"},
    {"E", "experts of a layer"},
    {"k", "experts that each token visits"},
    {"E_r", "experts whose weights are read"},
    {"d_e", "hidden width of an expert"},
    {"d_s", "hidden width of the shared expert"},
    {"V", "words of the vocabulary"},
    {"n", "positions with a learned embedding"},
}};

absl::Status TooLarge(std::string_view what) {
  return absl::OutOfRangeError(absl::StrCat(what, ": expected at most 2^63 - 1"));
}

}  // namespace

std::string_view SymbolName(Symbol symbol) { return kTexts[static_cast<size_t>(symbol)].name; }
std::string_view SymbolMeaning(Symbol symbol) {
  return kTexts[static_cast<size_t>(symbol)].meaning;
}

absl::StatusOr<int64_t> CheckedAdd(int64_t a, int64_t b, std::string_view what) {
  ASSAY_CHECK(a >= 0 && b >= 0);
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return TooLarge(what);
  return sum;
}

absl::StatusOr<int64_t> CheckedMultiply(int64_t a, int64_t b, std::string_view what) {
  ASSAY_CHECK(a >= 0 && b >= 0);
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return TooLarge(what);
  return product;
}

Polynomial::Polynomial(int64_t constant) {
  ASSAY_CHECK_GE(constant, 0);
  if (constant > 0) terms_.push_back({constant, {}});
}

Polynomial::Polynomial(Symbol symbol) {
  Term term{1, {}};
  term.powers[static_cast<size_t>(symbol)] = 1;
  terms_.push_back(term);
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  Polynomial sum;
  sum.terms_.reserve(a.terms_.size() + b.terms_.size());
  auto i = a.terms_.begin();
  auto j = b.terms_.begin();
  while (i != a.terms_.end() || j != b.terms_.end()) {
    if (j == b.terms_.end() || (i != a.terms_.end() && i->powers > j->powers)) {
      sum.terms_.push_back(*i++);
    } else if (i == a.terms_.end() || j->powers > i->powers) {
      sum.terms_.push_back(*j++);
    } else {
      Polynomial::Term term = *i++;
      ASSAY_CHECK(!__builtin_add_overflow(term.coefficient, (j++)->coefficient, &term.coefficient));
      sum.terms_.push_back(term);
    }
  }
  return sum;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial sum;
  for (const Polynomial::Term& x : a.terms_) {
    Polynomial row;  // in order, since a common factor keeps the order of the powers
    for (const Polynomial::Term& y : b.terms_) {
      Polynomial::Term term;
      ASSAY_CHECK(!__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient));
      for (size_t s = 0; s < kSymbols; ++s) {
        const int power = x.powers[s] + y.powers[s];
        ASSAY_CHECK_LT(power, 256);
        term.powers[s] = static_cast<uint8_t>(power);
      }
      row.terms_.push_back(term);
    }
    sum += row;
  }
  return sum;
}

absl::StatusOr<int64_t> Polynomial::Evaluate(const Values& values, std::string_view what) const {
  int64_t sum = 0;
  for (const Term& term : terms_) {
    int64_t product = term.coefficient;
    bool overflow = false;
    bool zero = false;  // 0 times what does not fit is 0
    for (size_t s = 0; s < kSymbols; ++s) {
      if (term.powers[s] == 0) continue;
      const int64_t value = values[static_cast<Symbol>(s)];
      ASSAY_CHECK_GE(value, 0);
      zero |= value == 0;
      for (int p = 0; p < term.powers[s]; ++p) {
        overflow |= __builtin_mul_overflow(product, value, &product);
      }
    }
    if (zero) continue;
    if (overflow || __builtin_add_overflow(sum, product, &sum)) return TooLarge(what);
  }
  return sum;
}

std::vector<Polynomial::Token> Polynomial::Tokens() const {
  std::vector<Token> tokens;
  for (const Term& term : terms_) {
    if (!tokens.empty()) tokens.push_back({Token::Kind::kPlus, "+", {}});
    const bool constant = std::all_of(term.powers.begin(), term.powers.end(),
                                      [](uint8_t power) { return power == 0; });
    if (constant || term.coefficient != 1) {
      tokens.push_back({Token::Kind::kNumber, absl::StrCat(term.coefficient), {}});
    }
    for (size_t s = 0; s < kSymbols; ++s) {
      if (term.powers[s] == 0) continue;
      const std::string_view name = SymbolName(static_cast<Symbol>(s));
      const size_t bar = std::min(name.find('_'), name.size());
      tokens.push_back({Token::Kind::kSymbol, std::string(name.substr(0, bar)),
                        name.substr(std::min(bar + 1, name.size())), term.powers[s]});
    }
  }
  if (tokens.empty()) tokens.push_back({Token::Kind::kNumber, "0", {}});
  return tokens;
}

std::string Polynomial::ToText() const {
  std::string text;
  for (const Token& token : Tokens()) {
    if (!text.empty()) text += ' ';
    text += token.text;
    if (!token.subscript.empty()) absl::StrAppend(&text, "_", token.subscript);
    if (token.power > 1) absl::StrAppend(&text, "^", token.power);
  }
  return text;
}

}  // namespace assay::flops
