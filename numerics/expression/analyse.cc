// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/analyse.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "numerics/core/elementary.h"

namespace assay::expression {
namespace {

using floating::BigFloat;
using floating::FormatInfo;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Precision kPrecision{128};

// One unit in the last place of the format at x (finite).
BigFloat UlpAt(Format format, const BigFloat& x) {
  const FormatInfo info = Info(format);
  const int64_t exponent =
      x.IsZero() ? info.MinExponent() : std::max<int64_t>(x.Exponent(), info.MinExponent());
  return BigFloat(1.0).Times2To(exponent - info.fraction_bits);
}

// The patterns in the order of their values.
int64_t OrderOf(Format format, uint64_t bits) {
  const uint64_t sign = uint64_t{1} << (Info(format).bits - 1);
  const int64_t magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

// |a b / c|, where 0/0 is 0.
double Ratio(const BigFloat& a, const BigFloat& b, const BigFloat& c) {
  if (a.IsZero() || b.IsZero()) return 0;
  return Divide(Multiply(a, b, kPrecision), c, kPrecision).Abs().ToDouble();
}

}  // namespace

Error ErrorOf(Format format, const BigFloat& computed, const BigFloat& truth) {
  const double wide = Info(format).bits;
  if (computed.IsNaN() || truth.IsNaN()) {
    if (computed.IsNaN() && truth.IsNaN()) return {};
    return {kInfinity, kInfinity, wide};
  }
  const uint64_t nearest = ToFormat(format, truth);
  const uint64_t got = ToFormat(format, computed);
  Error error;
  const int64_t from = OrderOf(format, nearest);
  const int64_t to = OrderOf(format, got);
  // Two's complement: the distance of two orders fits 64 bits without sign.
  const uint64_t distance = from < to ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                                      : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
  error.bits = Log(static_cast<double>(distance) + 1) / 0.69314718055994530942;
  if (computed.IsInfinite() || truth.IsInfinite()) {
    if (nearest == got) return {};
    error.ulps = kInfinity;
    error.relative = kInfinity;
    return error;
  }
  const BigFloat difference = Subtract(computed, truth, kPrecision);
  error.ulps = Divide(difference, UlpAt(format, truth), kPrecision).ToDouble();
  if (!difference.IsZero()) error.relative = Divide(difference, truth, kPrecision).Abs().ToDouble();
  return error;
}

Analysis Analyse(const Graph& graph, int id, TrueValues* truth) {
  Analysis analysis;
  const int bits = truth->BitsFor(id);
  const std::vector<int> below = graph.Below(id);
  std::vector<BigFloat> derivative(static_cast<size_t>(id) + 1);
  derivative[static_cast<size_t>(id)] = BigFloat(1.0);
  const BigFloat whole = truth->At(bits, id).value;
  const auto value_of = [&](int i) { return truth->At(bits, i).value; };
  analysis.steps.resize(below.size());
  analysis.condition.assign(graph.variables().size(), 0);
  for (size_t k = below.size(); k-- > 0;) {
    const int i = below[k];
    const Node& n = graph.node(i);
    const BigFloat& outer = derivative[static_cast<size_t>(i)];
    Analysis::Step& step = analysis.steps[k];
    step = {i, value_of(i), outer, n.args.empty() ? 1.0 : 0.0, 0};
    step.weight = Ratio(outer, step.value, whole);
    if (n.op == Op::kVariable) analysis.condition[static_cast<size_t>(n.index)] = step.weight;
    std::vector<BigFloat> args;
    for (const int arg : n.args) args.push_back(value_of(arg));
    for (size_t a = 0; a < args.size(); ++a) {
      const BigFloat slope = Derivative(n.op, a, args, step.value, kPrecision);
      // The 2 of 2 x and of x^2 has no error to amplify.
      const bool scale = n.op == Op::kMultiply || n.op == Op::kDivide || n.op == Op::kPower;
      if (!scale || graph.IntegerOr(n.args[a]) < 0) {
        step.amplifies += Ratio(slope, args[a], step.value);
      }
      BigFloat& inner = derivative[static_cast<size_t>(n.args[a])];
      // A derivative of 0 ends the path, whatever lies beyond.
      if (!outer.IsZero() && !slope.IsZero()) {
        inner = MultiplyAdd(outer, slope, inner, kPrecision);
      }
    }
  }
  for (const double c : analysis.condition) analysis.total_condition += c;
  return analysis;
}

std::vector<double> Blame(const Graph& graph, const Analysis& analysis, FormatValues* values) {
  const Format format = values->format();
  const BigFloat& whole = analysis.steps.back().value;
  std::vector<double> blame;
  for (const Analysis::Step& step : analysis.steps) {
    const Node& n = graph.node(step.id);
    const BigFloat& computed = (*values)(step.id);
    BigFloat unrounded = step.value;
    if (n.op == Op::kVariable) unrounded = computed;
    if (!n.args.empty()) {
      std::vector<BigFloat> args;
      for (const int arg : n.args) args.push_back((*values)(arg));
      unrounded = Apply(n.op, args, kPrecision);
    }
    const BigFloat own = Subtract(computed, unrounded, kPrecision);
    if (own.IsZero()) {
      blame.push_back(0);
    } else if (!own.IsFinite() || !whole.IsFinite()) {
      blame.push_back(std::numeric_limits<double>::quiet_NaN());
    } else {
      const BigFloat error = Multiply(own, step.derivative, kPrecision);
      blame.push_back(Divide(error, UlpAt(format, whole), kPrecision).ToDouble());
    }
  }
  return blame;
}

}  // namespace assay::expression
