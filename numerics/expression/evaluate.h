// SPDX-License-Identifier: Apache-2.0
// The value of an expression in a format, rounded at every operation, and its true value.
//
// In a format every operation is correctly rounded to that format, overflow and subnormals
// included:
// + - * / sqrt fma as the hardware does it, the functions as the best libraries nearly always do.
// (logsumexp is computed with 40 bits to spare before its one rounding.) Literals are rounded once.
//
// A true value is found by computing with 256 bits and bounds on the error of every step, and with
// twice as many until 120 bits of the result are known to be right. The bounds are of first order
// with a factor of two for the rest, taken where errors are below 2^-8 of their distance to a pole.
#ifndef ASSAY_NUMERICS_EXPRESSION_EVALUATE_H_
#define ASSAY_NUMERICS_EXPRESSION_EVALUATE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "numerics/expression/expression.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_float.h"

namespace assay::expression {

using floating::BigFloat;
using floating::Format;
using floating::Precision;

// op(args) rounded to `precision`. Not for constants and variables (checked).
BigFloat Apply(Op op, const std::vector<BigFloat>& args, Precision precision);

// The derivative of op(args) in its argument i, where value = op(args): within a few units in the
// last of `precision`. Infinite or NaN where there is none.
BigFloat Derivative(Op op, size_t i, const std::vector<BigFloat>& args, const BigFloat& value,
                    Precision precision);

// Values of a graph's expressions in one format at one point. Each is computed once.
class FormatValues {
 public:
  // point: one value for each variable of the graph, rounded to the format first. The graph may
  // grow later, but not by variables.
  FormatValues(const Graph* graph, Format format, std::vector<BigFloat> point);

  const BigFloat& operator()(int id);
  Format format() const { return format_; }
  // The variables as the format stores them.
  const std::vector<BigFloat>& point() const { return point_; }

 private:
  const Graph* graph_;
  Format format_;
  std::vector<BigFloat> point_;
  std::vector<std::optional<BigFloat>> values_;
};

// A number known to within 2^error, or exactly.
struct Ball {
  static constexpr int64_t kExact = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max() / 4;
  // The value is an infinity that stands for a finite number of at least 2^(2^58) (kHuge).
  static constexpr int64_t kOverflow = kUnknown + 1;
  static constexpr int64_t kHuge = int64_t{1} << 58;

  BigFloat value;
  int64_t error = kExact;

  // Whether `bits` bits of the value are right; a NaN or an infinity if it comes from exact
  // numbers.
  bool Knows(int bits) const {
    if (error == kExact) return true;
    return value.IsFinite() && !value.IsZero() && error <= value.Exponent() - bits;
  }
};

// True values of a graph's expressions at one point.
class TrueValues {
 public:
  static constexpr int kLeastBits = 256;
  static constexpr int kMostBits = 4096;
  static constexpr int kKnownBits = 120;

  // most_bits: 256 times a power of two, up to kMostBits; less bounds the cost.
  TrueValues(const Graph* graph, std::vector<BigFloat> point, int most_bits = kMostBits);

  // The value to 120 right bits; where most_bits do not suffice, what they give, or 0 if that is
  // below its own error bound, itself below 1 (a sum that is zero without being shown to be). NaN
  // with kUnknown where nothing is known. A number out of BigFloat's range is an infinity with
  // kOverflow or a 0 with an error of 2^-kHuge.
  const Ball& operator()(int id);
  // The value with what `bits` bits (256, 512, ... 4096) make of it.
  const Ball& At(int bits, int id);
  // Bits that operator() needed for it.
  int BitsFor(int id);
  const std::vector<BigFloat>& point() const { return point_; }

 private:
  Ball Compute(int bits, int id);

  const Graph* graph_;
  std::vector<BigFloat> point_;
  int most_bits_;
  std::vector<std::vector<std::optional<Ball>>> values_;  // [level][id]
};

}  // namespace assay::expression

#endif  // ASSAY_NUMERICS_EXPRESSION_EVALUATE_H_
