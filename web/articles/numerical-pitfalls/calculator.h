// SPDX-License-Identifier: Apache-2.0
//
// What the demo computes of lists: a sum or a softmax in four formats at once, beside the exact
// answer. Text in, JSON out: {"error": "..."} or the document of the function (answer.h says what
// VALUE and EXACT are).
#ifndef ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_CALCULATOR_H_
#define ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_CALCULATOR_H_

#include <string>
#include <string_view>

namespace assay::numerical_pitfalls {

inline constexpr int kMaxText = 300;    // characters
inline constexpr int kMaxTerms = 4096;  // of a sum, repetitions counted
inline constexpr int kMaxLogits = 8;

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
