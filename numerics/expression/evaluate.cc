// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/evaluate.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "numerics/core/check.h"

namespace assay::expression {
namespace {

BigFloat LogSumExp(const std::vector<BigFloat>& args, Precision precision) {
  BigFloat max = args[0];
  for (const BigFloat& x : args) {
    if (x.IsNaN()) return x;
    if (x > max) max = x;
  }
  if (max.IsInfinite()) return max;
  const Precision wide{precision.bits + 40};
  BigFloat rest;  // of all terms but one largest
  bool skipped = false;
  for (const BigFloat& x : args) {
    if (!skipped && x == max) {
      skipped = true;
      continue;
    }
    rest = Add(rest, Exp(Subtract(x, max, wide), wide), wide);
  }
  return Add(max, Log1p(rest, wide), precision);
}

}  // namespace

BigFloat Apply(Op op, const std::vector<BigFloat>& args, Precision p) {
  const BigFloat& a = args[0];
  const BigFloat& b = args.size() > 1 ? args[1] : a;
  switch (op) {
    case Op::kAdd:
      return Add(a, b, p);
    case Op::kSubtract:
      return Subtract(a, b, p);
    case Op::kMultiply:
      return Multiply(a, b, p);
    case Op::kDivide:
      return Divide(a, b, p);
    case Op::kNegate:
      return -Round(a, p);
    case Op::kPower:
      return Pow(a, b, p);
    case Op::kSqrt:
      return Sqrt(a, p);
    case Op::kCbrt:
      return Cbrt(a, p);
    case Op::kExp:
      return Exp(a, p);
    case Op::kExpm1:
      return Expm1(a, p);
    case Op::kLog:
      return Log(a, p);
    case Op::kLog1p:
      return Log1p(a, p);
    case Op::kLog2:
      return Log2(a, p);
    case Op::kLog10:
      return Log10(a, p);
    case Op::kSin:
      return Sin(a, p);
    case Op::kCos:
      return Cos(a, p);
    case Op::kTan:
      return Tan(a, p);
    case Op::kAtan:
      return Atan(a, p);
    case Op::kSinh:
      return Sinh(a, p);
    case Op::kCosh:
      return Cosh(a, p);
    case Op::kTanh:
      return Tanh(a, p);
    case Op::kAbs:
      return Round(a, p).Abs();
    case Op::kHypot:
      return Hypot(a, b, p);
    case Op::kMin:
    case Op::kMax:
      if (a.IsNaN() || b.IsNaN()) return BigFloat::NaN();
      return Round((op == Op::kMin) == (a < b) ? a : b, p);
    case Op::kFma:
      return MultiplyAdd(a, b, args[2], p);
    case Op::kLogSumExp:
      return LogSumExp(args, p);
    case Op::kConstant:
    case Op::kVariable:
    case Op::kPi:
      break;
  }
  ASSAY_CHECK(op == Op::kPi);
  return Pi(p);
}

BigFloat Derivative(Op op, size_t i, const std::vector<BigFloat>& args, const BigFloat& value,
                    Precision p) {
  const BigFloat one(1.0);
  const BigFloat& a = args[0];
  const BigFloat& b = args.size() > 1 ? args[1] : a;
  const auto over = [&](const BigFloat& x) { return Divide(one, x, p); };
  switch (op) {
    case Op::kAdd:
      return one;
    case Op::kSubtract:
      return i == 0 ? one : -one;
    case Op::kMultiply:
      return args[1 - i];
    case Op::kDivide:
      return i == 0 ? over(b) : -Divide(value, b, p);
    case Op::kNegate:
      return -one;
    case Op::kPower:
      return i == 0 ? Divide(Multiply(b, value, p), a, p) : Multiply(value, Log(a, p), p);
    case Op::kSqrt:
      return over(value.Times2To(1));
    case Op::kCbrt:
      return Divide(value, Multiply(a, BigFloat(3.0), p), p);
    case Op::kExp:
      return value;
    case Op::kExpm1:
      return Add(value, one, p);
    case Op::kLog:
      return over(a);
    case Op::kLog1p:
      return over(Add(a, one, p));
    case Op::kLog2:
      return over(Multiply(a, Log(BigFloat(2.0), p), p));
    case Op::kLog10:
      return over(Multiply(a, Log(BigFloat(10.0), p), p));
    case Op::kSin:
      return Cos(a, p);
    case Op::kCos:
      return -Sin(a, p);
    case Op::kTan:
      return MultiplyAdd(value, value, one, p);
    case Op::kAtan:
      return over(MultiplyAdd(a, a, one, p));
    case Op::kSinh:
      return Cosh(a, p);
    case Op::kCosh:
      return Sinh(a, p);
    case Op::kTanh:
      return MultiplyAdd(-value, value, one, p);
    case Op::kAbs:
      return a.IsNegative() ? -one : one;
    case Op::kHypot:
      return Divide(args[i], value, p);
    case Op::kMin:
    case Op::kMax:
      return ((op == Op::kMin) == (a < b)) == (i == 0) ? one : BigFloat();
    case Op::kFma:
      return i == 2 ? one : args[1 - i];
    case Op::kLogSumExp:
      return Exp(Subtract(args[i], value, p), p);
    case Op::kConstant:
    case Op::kVariable:
    case Op::kPi:
      break;
  }
  return BigFloat();
}

// ------------------------------------------------------------------ in a format

FormatValues::FormatValues(const Graph* graph, Format format, std::vector<BigFloat> point)
    : graph_(graph), format_(format), point_(std::move(point)) {
  for (BigFloat& x : point_) x = FromFormat(format_, ToFormat(format_, x));
}

const BigFloat& FormatValues::operator()(int id) {
  if (values_.size() < static_cast<size_t>(graph_->size())) {
    values_.resize(static_cast<size_t>(graph_->size()));
  }
  if (std::optional<BigFloat>& known = values_[static_cast<size_t>(id)]) return *known;
  const Node& n = graph_->node(id);
  const Precision p = PrecisionOf(format_);
  BigFloat value;
  if (n.op == Op::kConstant) {
    value = ParseBigFloat(graph_->constant(id), p).value_or(BigFloat::NaN());
  } else if (n.op == Op::kVariable) {
    value = point_[static_cast<size_t>(n.index)];
  } else {
    std::vector<BigFloat> args;
    for (const int arg : n.args) args.push_back((*this)(arg));
    args.resize(std::max<size_t>(args.size(), 1));
    value = Apply(n.op, args, p);
  }
  if (value.IsFinite() && !value.IsZero() && value.Exponent() > Info(format_).bias) {
    value = BigFloat::Infinity(value.IsNegative());
  }
  return *(values_[static_cast<size_t>(id)] = std::move(value));
}

// ------------------------------------------------------------------ true values

namespace {

constexpr Precision kRough{40};

int64_t ExponentOf(const BigFloat& x) {
  return x.IsFinite() && !x.IsZero() ? x.Exponent() : Ball::kExact;
}

// Whether value = op(args) without any rounding; false where that is hard to say.
bool IsExact(Op op, const std::vector<BigFloat>& args, const BigFloat& value) {
  constexpr Precision kAll{40000};
  if (!value.IsFinite() || value.IsZero()) return true;
  const auto near = [&](const BigFloat& x) {
    return x.IsZero() ||
           (x.Exponent() - value.Exponent() < 10000 && value.Exponent() - x.Exponent() < 10000);
  };
  switch (op) {
    case Op::kAdd:
    case Op::kSubtract: {
      const BigFloat b = op == Op::kAdd ? args[1] : -args[1];
      return near(args[0]) && near(b) && Add(args[0], b, kAll) == value;
    }
    case Op::kMultiply:
      return Multiply(args[0], args[1], kAll) == value;
    case Op::kDivide:
      return Multiply(value, args[1], kAll) == args[0];
    case Op::kSqrt:
      return Multiply(value, value, kAll) == args[0];
    case Op::kNegate:
    case Op::kAbs:
    case Op::kMin:
    case Op::kMax:
      return true;  // arguments are never longer than what is kept
    default:
      // Functions are exact where they return 1 for 0, or 0 for 1.
      return args.size() == 1 && args[0].IsZero();
  }
}

// What becomes of a step where an argument or the value is unknown or has left the range of
// BigFloat; nothing where neither is so, nor where an infinity is exact (1/0).
std::optional<Ball> OutOfRange(Op op, const std::vector<BigFloat>& args,
                               const std::vector<int64_t>& errors, const BigFloat& value,
                               int bits) {
  const Ball unknown{BigFloat::NaN(), Ball::kUnknown};
  const Ball huge{value, Ball::kOverflow};
  const Ball close{value, -Ball::kHuge};  // as near to the limit as a huge argument brings it
  const auto over = [&](size_t i) { return errors[i] == Ball::kOverflow; };
  // Its sign and size are known: the least that bounds on overflow rest on.
  const auto sure = [&](size_t i) {
    if (!args[i].IsFinite()) return false;
    return errors[i] == Ball::kExact || (!args[i].IsZero() && errors[i] <= args[i].Exponent() - 8);
  };
  const auto size = [&](size_t i) { return args[i].IsZero() ? 0 : args[i].Exponent(); };
  const auto zero = [&](size_t i) { return args[i].IsZero() && errors[i] == Ball::kExact; };
  const auto bounded = [&](size_t i) {
    return args[i].IsFinite() && size(i) < Ball::kHuge && errors[i] < Ball::kHuge;
  };
  // A base whose logarithm is far from 0, hence known well enough too.
  const auto base = [&] {
    return sure(0) && !args[0].IsNegative() && (size(0) > 0 || size(0) < -1);
  };
  bool any = false;
  for (size_t i = 0; i < errors.size(); ++i) {
    if (errors[i] == Ball::kUnknown) return unknown;
    any = any || over(i);
  }
  if (!any) {
    for (size_t i = 0; i < errors.size(); ++i) {
      if (!args[i].IsFinite()) return std::nullopt;
    }
    if (value.IsNaN()) {
      // Too many turns to count.
      return op == Op::kSin || op == Op::kCos || op == Op::kTan ? std::optional(unknown)
                                                                : std::nullopt;
    }
    if (value.IsFinite() && !value.IsZero()) return std::nullopt;
    bool all = true;
    bool exact = true;
    for (size_t i = 0; i < errors.size(); ++i) {
      all = all && sure(i);
      exact = exact && errors[i] == Ball::kExact;
    }
    if (op == Op::kPower) all = exact || (base() && sure(1));
    if (value.IsZero()) {
      const bool underflow = op == Op::kExp || (op == Op::kPower && !args[0].IsZero()) ||
                             (op == Op::kDivide && !args[0].IsZero()) ||
                             (op == Op::kMultiply && !args[0].IsZero() && !args[1].IsZero());
      return underflow && all ? std::optional(close) : std::nullopt;
    }
    const bool pole = op == Op::kLog || op == Op::kLog1p || op == Op::kLog2 || op == Op::kLog10 ||
                      (op == Op::kDivide && args[1].IsZero()) ||
                      (op == Op::kPower && args[0].IsZero());
    if (pole) return std::nullopt;
    if (op == Op::kFma) all = all && size(2) < Ball::kHuge;
    return all ? huge : unknown;
  }
  for (size_t i = 0; i < errors.size(); ++i) {
    if (!over(i) && !args[i].IsFinite()) return unknown;
  }
  constexpr int64_t kModest = int64_t{1} << 40;
  switch (op) {
    case Op::kNegate:
    case Op::kAbs:
    case Op::kSinh:
    case Op::kCosh:
      return huge;
    case Op::kExp:
    case Op::kExpm1:
      return args[0].IsNegative() ? close : huge;
    case Op::kTanh:
      return close;
    case Op::kAtan:
      return Ball{value, value.Exponent() - bits + 1};
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kHypot:
      for (const size_t i : {0, 1}) {
        if (!over(i) && !bounded(i)) return unknown;
      }
      return value.IsNaN() ? unknown : huge;
    case Op::kMin:
    case Op::kMax:
      for (const size_t i : {0, 1}) {
        if (over(i)) continue;
        if (!bounded(i)) return unknown;
        if (value.IsFinite()) return Ball{value, errors[i]};
      }
      return huge;
    case Op::kMultiply:
      for (const size_t i : {0, 1}) {
        if (zero(i)) return Ball{BigFloat(), Ball::kExact};
        if (!over(i) && !(sure(i) && size(i) > -kModest)) return unknown;
      }
      return huge;
    case Op::kDivide:
      if (zero(0)) return Ball{value, Ball::kExact};
      if (over(1)) return bounded(0) ? close : unknown;
      return sure(1) && !zero(1) && size(1) < kModest ? huge : unknown;
    case Op::kPower:
      if (over(1)) {
        if (!base() || over(0)) return unknown;
        return value.IsZero() ? close : huge;
      }
      if (errors[1] != Ball::kExact || args[1].IsZero() || size(1) < 0) return unknown;
      if (args[0].IsNegative() && !args[1].IsInteger()) return unknown;
      return args[1].IsNegative() ? close : huge;
    default:
      return unknown;
  }
}

}  // namespace

TrueValues::TrueValues(const Graph* graph, std::vector<BigFloat> point, int most_bits)
    : graph_(graph), point_(std::move(point)), most_bits_(most_bits) {}

const Ball& TrueValues::At(int bits, int id) {
  size_t level = 0;
  while (kLeastBits << level < bits) ++level;
  if (values_.size() <= level) values_.resize(level + 1);
  if (values_[level].size() < static_cast<size_t>(graph_->size())) {
    values_[level].resize(static_cast<size_t>(graph_->size()));
  }
  if (!values_[level][static_cast<size_t>(id)]) {
    Ball ball = Compute(kLeastBits << level, id);
    values_[level][static_cast<size_t>(id)] = std::move(ball);
  }
  return *values_[level][static_cast<size_t>(id)];
}

int TrueValues::BitsFor(int id) {
  for (int bits = kLeastBits; bits < most_bits_; bits *= 2) {
    const Ball& ball = At(bits, id);
    // No more bits bring a number back into the range.
    const bool out =
        ball.error == Ball::kOverflow || (ball.value.IsZero() && ball.error <= -Ball::kHuge);
    if (out || ball.Knows(kKnownBits)) return bits;
  }
  return most_bits_;
}

const Ball& TrueValues::operator()(int id) {
  const int bits = BitsFor(id);
  const Ball& ball = At(bits, id);
  if (ball.Knows(kKnownBits) || ball.error == Ball::kOverflow) return ball;
  const bool known = ball.value.IsFinite() && ball.error < Ball::kUnknown;
  if (known && !ball.value.IsZero() && ball.value.Exponent() > ball.error) return ball;
  // Smaller than its own error after all that: call it 0, if the error is small itself.
  Ball& last = *values_.back()[static_cast<size_t>(id)];
  last = known && ball.error < 0 ? Ball{BigFloat(), ball.error}
                                 : Ball{BigFloat::NaN(), Ball::kUnknown};
  return last;
}

Ball TrueValues::Compute(int bits, int id) {
  const Node& n = graph_->node(id);
  const Precision p{bits};
  Ball ball;
  if (n.op == Op::kVariable) {
    ball.value = Round(point_[static_cast<size_t>(n.index)], p);
    if (ball.value != point_[static_cast<size_t>(n.index)] && !ball.value.IsNaN()) {
      ball.error = ball.value.Exponent() - bits;
    }
    return ball;
  }
  if (n.op == Op::kConstant) {
    ball.value = ParseBigFloat(graph_->constant(id), p).value_or(BigFloat::NaN());
    // Whole numbers of a few digits are exact; of others one need not know.
    if (graph_->IntegerOr(id) < 0) ball.error = ExponentOf(ball.value) - bits;
    if (!ball.value.IsFinite() || ball.value.IsZero()) ball.error = Ball::kExact;
    return ball;
  }
  std::vector<BigFloat> args;
  std::vector<int64_t> errors;
  for (const int arg : n.args) {
    const Ball& known = At(bits, arg);
    args.push_back(known.value);
    errors.push_back(known.error);
  }
  args.resize(std::max<size_t>(args.size(), 1));
  ball.value = Apply(n.op, args, p);
  if (std::optional<Ball> out = OutOfRange(n.op, args, errors, ball.value, bits)) {
    return *std::move(out);
  }
  const bool linear = n.op == Op::kAdd || n.op == Op::kSubtract || n.op == Op::kNegate ||
                      n.op == Op::kMultiply || n.op == Op::kAbs || n.op == Op::kMin ||
                      n.op == Op::kMax || n.op == Op::kFma;
  for (size_t i = 0; i < n.args.size(); ++i) {
    if (errors[i] == Ball::kExact) continue;
    // The first derivative tells the error only where the argument is surely away from poles, which
    // lie at 0 (or, for log1p, at -1, near which the derivative shows it).
    const int64_t size = std::min<int64_t>(ExponentOf(args[i]), 0);
    const bool pole = !linear && !(n.op == Op::kDivide && i == 0);
    if (pole && (args[i].IsZero() || errors[i] > size - 8)) return {ball.value, Ball::kUnknown};
    const BigFloat slope = Derivative(n.op, i, args, ball.value, kRough);
    if (!slope.IsFinite()) return {ball.value, Ball::kUnknown};
    const int64_t part = slope.IsZero() ? 2 * std::max<int64_t>(errors[i], -Ball::kUnknown) + 1
                                        : slope.Exponent() + errors[i];
    if (n.op == Op::kLog1p && part > -8) return {ball.value, Ball::kUnknown};
    // Two for the mantissa of the slope and what is left of the series, one for the sum.
    ball.error = std::max(ball.error, part + 3 + static_cast<int64_t>(n.args.size()) / 3);
  }
  if (!ball.value.IsFinite()) ball.error = Ball::kExact;  // surely out of the domain
  // The same twice, whatever it is, or an exact 0 times anything.
  const auto exact_zero = [&](size_t i) { return args[i].IsZero() && errors[i] == Ball::kExact; };
  if (ball.value.IsZero() && ((n.op == Op::kSubtract && n.args[0] == n.args[1]) ||
                              (n.op == Op::kMultiply && (exact_zero(0) || exact_zero(1))) ||
                              (n.op == Op::kDivide && exact_zero(0)))) {
    ball.error = Ball::kExact;
  }
  if (!ball.value.IsFinite() || ball.value.IsZero()) return ball;
  if (ball.error != Ball::kExact || !IsExact(n.op, args, ball.value)) {
    ball.error = std::max(ball.error, ball.value.Exponent() - bits) + 1;
  }
  return ball;
}

}  // namespace assay::expression
