// SPDX-License-Identifier: Apache-2.0
// The expression explorer: a text with variables in four formats at once, beside its true value,
// what lost the digits, and a form that keeps them. JSON out; answer.h says what VALUE and EXACT
// are.
#ifndef ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_EXPLORER_H_
#define ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_EXPLORER_H_

#include <string>
#include <string_view>

#include "numerics/floating/anatomy.h"

namespace assay::numerical_pitfalls {

struct ExplorerOptions {
  floating::Format format = floating::Format::kF64;  // in which a better form is looked for
  std::string_view axis = {};                        // the curve's variable; the first if empty
  int low = -10;                                     // the curve's decades
  int high = 20;
};

inline constexpr int kCurvePoints = 61;
inline constexpr int kMostDecade = 300;

// text: numbers, variables, operators and functions (numerics/expression/expression.h).
// values: "x = 1e12, y = 2"; a variable without one is 1, names that do not occur are passed over.
//
//   {"mode": "expression", "text": "sqrt(x + 1) - sqrt(x)", "exact": EXACT, "condition": "0.5",
//    "variables": [{"name": "x", "value": "1e12", "condition": "0.5"}],
//    "formats": [{"name": "f16", "exponent_bits": 5, "fraction_bits": 10, "stored": ["inf"],
//      "truth": EXACT, "value": VALUE}, ...],
//    "steps": [{"text": "x + 1", "exact": EXACT, "amplifies": "1", "values": [VALUE x 4],
//      "blame": ["0" x 4]}, ...],
//    "rewrite": {"text": "1 / (...)", "by": [{"rule": "conjugate", "reason": "...", "text":
//    "..."}],
//      "before": "38.7", "after": "0.3", "values": [VALUE x 4]} or null,
//    "searched": 5,
//    "curve": {"variable": "x", "low": -10, "high": 20, "negative": false, "original": [[..] x 4],
//      "rewritten": [[..] x 4], "condition": [..]} or null}
//
// A format stores the variables first and is held against the truth for what it stored, or for the
// values as typed where one of them is out of its range. "exact" is the truth for those. Steps are
// the operations in the order in which they run: "amplifies" is by how much one amplifies relative
// errors of its operands, "blame" how many units in the last place of the result it put there by
// its own rounding. The rewrite is sought around the values; "before" and "after" are mean bits of
// error there. The curve has kCurvePoints values of its variable from 10^low to 10^high, and the
// bits of error (null where the truth is no number or hard to know) and the condition number at
// each. Where nothing is known of a truth, EXACT's text is "unknown"; a number out of BigFloat's
// range is "inf", "-inf" or "0" and not complete.
std::string Explore(std::string_view text, std::string_view values, const ExplorerOptions& options);

}  // namespace assay::numerical_pitfalls

#endif  // ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_EXPLORER_H_
