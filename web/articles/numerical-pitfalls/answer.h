// SPDX-License-Identifier: Apache-2.0
// The pieces of the demo's JSON documents.
//
// VALUE, a number of one format beside the truth, is {"bits": "0011...", "kind": "normal",
// "digits": "1000000015", "exponent": -1, "more": 0, "negative": false, "short": "0.1", "kept": 8,
// "error": "1.5e-8", "ulps": "0.2", "gap": "7.5e-9"}:
//   digits, exponent: the stored value d.ddd x 10^exponent; at most 60 digits, then "more": how
//   many kept: how many of the digits are right, by the relative error; -1 where all are error,
//   ulps: against the truth, relative and in units in the last place; two digits gap: distance to
//   the next number
// kind is zero, subnormal, normal, infinity or nan. For infinity and nan digits are empty.
//
// EXACT, a true value, is {"text": "0.3", "complete": true}; complete is false where digits go on.
#ifndef ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_ANSWER_H_
#define ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_ANSWER_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_float.h"

namespace assay::numerical_pitfalls {

// Appends all parts.
void Append(std::string* json, std::initializer_list<std::string_view> parts);

std::string Quoted(std::string_view text);

// {"error": "..."}: what is wrong and where, in words.
std::string ErrorDocument(std::string_view words);

// A number in `digits` significant digits, as plainly as they allow; "inf", "nan".
std::string Brief(double x, int digits);
std::string Brief(const floating::BigFloat& x, int digits);

// A factor in two digits: "1", "250", "2e8".
std::string Factor(double x);

// Up to 24 digits, trailing zeros gone: "0.3", "1.0000000000000000000001e30".
std::string TextOf(const floating::BigFloat& x);

// EXACT, for a value known to at least 256 bits or exactly.
std::string ExactOf(const floating::BigFloat& x);

// VALUE.
std::string ValueOf(floating::Format format, uint64_t bits, const floating::BigFloat& truth);

}  // namespace assay::numerical_pitfalls

#endif  // ASSAY_WEB_ARTICLES_NUMERICAL_PITFALLS_ANSWER_H_
