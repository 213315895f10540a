// SPDX-License-Identifier: Apache-2.0
// How wrong a computed value is, how much the problem amplifies, and which operation is to blame.
//
// To first order the error of a result is the sum over all operations of (what that operation's own
// rounding did) times (the derivative of the result in that operation's value). Both factors are
// computed here: the first from the numbers that the format had before it, the second backwards
// from the result, in the values that would be right. The same derivatives give condition numbers.
#ifndef ASSAY_NUMERICS_EXPRESSION_ANALYSE_H_
#define ASSAY_NUMERICS_EXPRESSION_ANALYSE_H_

#include <vector>

#include "numerics/expression/evaluate.h"
#include "numerics/expression/expression.h"

namespace assay::expression {

// The error of a number of a format against a true value.
struct Error {
  double ulps = 0;      // signed, in units in the last place of the format at the true value
  double relative = 0;  // its size, over the true value's; infinite for a wrong 0, or no number
  double bits = 0;      // log2(1 + numbers of the format between it and the nearest to the truth)
};

// computed: a value of the format. No error where both are the same infinity (or the truth is
// beyond the format and computed is its infinity), or neither is a number. Where one of the two is
// no number, ulps and relative are infinite and bits are the format's width; where one is infinite
// and the other not, ulps and relative are infinite. Cost: two roundings, two divisions of 128
// bits.
Error ErrorOf(Format format, const BigFloat& computed, const BigFloat& truth);

// What is known of an expression at a point, whatever the format.
struct Analysis {
  struct Step {
    int id;
    BigFloat value;       // true
    BigFloat derivative;  // of the whole in this step's value
    // By how much the operation amplifies relative errors of its operands: the sum over them of
    // |derivative operand / value|. 1 for one number alone; infinite for a zero out of others.
    double amplifies;
    // By how much a relative error of this step shows in the whole: |derivative value / whole|.
    double weight;
  };
  std::vector<Step> steps;  // every subexpression, arguments first, the whole last
  // |x f'(x) / f(x)| for each variable of the graph, and their sum.
  std::vector<double> condition;
  double total_condition = 0;
};

// Of the expression `id` at the point of `truth`, which must be of the same graph (not checked).
// Computed with 128 bits from true values; what is known there to fewer bits is as good as those.
// Where a step has no value or no derivative, the figures that need it are NaN or infinite.
// Cost: the true values, then a derivative for each argument of each step: linear in their number.
Analysis Analyse(const Graph& graph, int id, TrueValues* truth);

// For each of analysis.steps: the error of the whole, in ulps of the format at the true value, that
// this step's own rounding makes (to first order). 0 for exact steps, NaN where a step is no
// number.
std::vector<double> Blame(const Graph& graph, const Analysis& analysis, FormatValues* values);

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_ANALYSE_H_
