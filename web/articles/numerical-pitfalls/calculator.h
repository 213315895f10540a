// SPDX-License-Identifier: Apache-2.0
//
// What the demo computes: an expression, a sum or a softmax in four formats at once, beside the
// exact answer. Text in, JSON out; whatever the text, the answer is one of the two documents below.
//
//   {"error": "..."}                          what is wrong and where, in words
//   {"mode": "expression", ...}               see each function
//
// A value in one format is {"bits": "0011...", "kind": "normal", "digits": "1000000015",
// "exponent": -1, "negative": false, "short": "0.1", "kept": 8, "error": "1.5e-8", "gap":
// "7.5e-9"}:
//   digits, exponent: the stored value d.ddd x 10^exponent; at most 60 digits, then "more": how
//   many kept: how many of the digits are right, by the relative error; -1 where all are error:
//   relative error against the exact answer, two digits; gap: distance to the next number
// kind is zero, subnormal, normal, infinity or nan. For infinity and nan digits are empty.
#ifndef ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_CALCULATOR_H_
#define ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_CALCULATOR_H_

#include <string>
#include <string_view>

namespace assay::numerical_pitfalls {

inline constexpr int kMaxText = 300;    // characters
inline constexpr int kMaxTerms = 4096;  // of a sum, repetitions counted
inline constexpr int kMaxLogits = 8;
inline constexpr int kMaxOperations = 40;  // of an expression

// An expression of numbers, + - * /, parentheses, sqrt, exp and log, evaluated in each format with
// a rounding after every operation, and exactly (sqrt, exp and log to more than ninety digits).
//   {"mode": "expression", "exact": EXACT, "formats": [{"name": "f16", "exponent_bits": 5,
//    "fraction_bits": 10, "value": VALUE}, ...], "steps": [{"text": "1e8 + 1", "exact": EXACT,
//    "condition": "1", "values": [VALUE x 4]}, ...]}
// EXACT is {"text": "0.3", "complete": true}; complete is false where digits go on.
// Steps are the operations in the order in which they run; "condition" says by how much the step
// amplifies relative errors of its operands ("" for a number alone).
std::string AnalyseExpression(std::string_view text);

// A list of numbers, separated by commas or spaces; "300 x 0.1" stands for three hundred of them.
//   {"mode": "sum", "terms": 300, "exact": EXACT, "condition": "1", "methods": [{"name": "naive",
//    "values": [VALUE x 4]}, ...]}
// Each format stores the numbers first, then adds by naive, pairwise, kahan, neumaier and exact.
std::string AnalyseSum(std::string_view text);

// A list of logits; the first belongs to the target class.
//   {"mode": "softmax", "logits": ["100", ...], "exact": {"shares": ["0.73", ...], "loss": "0.3"},
//    "formats": [{"name": "f16", "naive": {"shares": ["nan", ...], "loss": "nan", "bad": true},
//    "stable": {...}}, ...]}
// Naive: exponentials and their sum in the format. Stable: logsumexp.
std::string AnalyseSoftmax(std::string_view text);

}  // namespace assay::numerical_pitfalls

#endif  // ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_CALCULATOR_H_
