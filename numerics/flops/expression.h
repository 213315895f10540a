// SPDX-License-Identifier: Apache-2.0
//
// expression.h: counts as formulas, such as 2 B T d d_ff: sums of products of named sizes with
// whole coefficients. They print, multiply, add, and evaluate to integers that never wrap.
#ifndef ASSAY_NUMERICS_FLOPS_EXPRESSION_H_
#define ASSAY_NUMERICS_FLOPS_EXPRESSION_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::flops {

// The sizes that formulas are made of, in the order in which they print.
enum class Symbol : uint8_t {
  kBatch,         // B: sequences
  kTokens,        // T: new tokens of each sequence
  kLogits,        // R: positions of each sequence whose logits are computed
  kKeys,          // C: positions of each sequence whose keys and values are read
  kPairs,         // P: pairs of a query and a key that are multiplied, of one sequence and head
  kWidth,         // d: width of the model
  kHeads,         // h: query heads
  kKvHeads,       // h_kv: heads of keys and values
  kHeadSize,      // d_h: width of a head
  kHidden,        // d_ff: hidden width of a dense feed-forward block
  kExperts,       // E: experts of a layer
  kActive,        // k: experts that each token visits
  kLoaded,        // E_r: experts whose weights a pass reads
  kExpertHidden,  // d_e: hidden width of an expert
  kSharedHidden,  // d_s: hidden width of the shared expert
  kVocabulary,    // V
  kPositions,     // n: positions with a learned embedding
};
inline constexpr int kSymbols = 17;

// "h_kv" and "heads of keys and values".
std::string_view SymbolName(Symbol symbol);
std::string_view SymbolMeaning(Symbol symbol);

// A value for each symbol, none negative.
class Values {
 public:
  int64_t operator[](Symbol symbol) const { return values_[static_cast<size_t>(symbol)]; }
  int64_t& operator[](Symbol symbol) { return values_[static_cast<size_t>(symbol)]; }

 private:
  std::array<int64_t, kSymbols> values_ = {};
};

// a + b and a b, or kOutOfRange that names `what` where the result is beyond 2^63 - 1. For a, b >=
// 0.
[[nodiscard]] absl::StatusOr<int64_t> CheckedAdd(int64_t a, int64_t b, std::string_view what);
[[nodiscard]] absl::StatusOr<int64_t> CheckedMultiply(int64_t a, int64_t b, std::string_view what);

// A polynomial in the symbols. Coefficients are whole and positive, so a value beyond 2^63 - 1 in
// the middle of an evaluation means that the result is beyond it too.
class Polynomial {
 public:
  Polynomial() = default;        // 0
  Polynomial(int64_t constant);  // NOLINT: constants and symbols are polynomials
  Polynomial(Symbol symbol);     // NOLINT
  bool IsZero() const { return terms_.empty(); }

  // Coefficients must stay below 2^63 and powers below 256 (checked).
  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  Polynomial& operator+=(const Polynomial& b) { return *this = *this + b; }

  // Equal as polynomials.
  friend bool operator==(const Polynomial& a, const Polynomial& b) = default;

  // The value, or kOutOfRange that names `what` where it is beyond 2^63 - 1. Values must not be
  // negative (checked). Exact. Cost: one multiplication a factor.
  [[nodiscard]] absl::StatusOr<int64_t> Evaluate(const Values& values, std::string_view what) const;

  // "2 B T d d_ff + B T d_ff^2"; "0" if there is no term.
  std::string ToText() const;

  // The same in pieces, for HTML or MathML: "h_kv^2" is one symbol with text "h", subscript "kv"
  // and power 2.
  struct Token {
    enum class Kind { kNumber, kSymbol, kPlus } kind;
    std::string text;
    std::string_view subscript;
    int power = 1;
  };
  std::vector<Token> Tokens() const;

 private:
  struct Term {
    int64_t coefficient = 0;
    std::array<uint8_t, kSymbols> powers = {};
    friend bool operator==(const Term& a, const Term& b) = default;
  };
  // In descending lexical order of the powers, no two alike, no coefficient 0.
  std::vector<Term> terms_;
};

}  // namespace assay::flops

#endif  // ASSAY_NUMERICS_FLOPS_EXPRESSION_H_
