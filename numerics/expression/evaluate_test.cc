// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/expression/analyse.h"
#include "numerics/expression/expression.h"
#include "numerics/expression/parse.h"
#include "numerics/floating/half.h"

namespace assay::expression {
namespace {

using floating::kFormats;

// The value of a text without variables in a format, as the shortest decimal.
std::string In(Format format, const char* text, std::vector<BigFloat> point = {}) {
  Graph graph;
  const int id = *Parse(text, &graph);
  return ShortestDecimal(format,
                         ToFormat(format, FormatValues(&graph, format, std::move(point))(id)));
}

std::string Truth(const char* text, std::vector<BigFloat> point = {}, int digits = 20) {
  Graph graph;
  const int id = *Parse(text, &graph);
  return TrueValues(&graph, std::move(point))(id).value.ToScientific(digits);
}

TEST(EvaluateTest, RoundsEveryOperationOnce) {
  Random random(1);
  Graph graph;
  const int id = *Parse("(x + y) * x / (y - 3) + sqrt(abs(x))", &graph);
  for (int i = 0; i < 3000; ++i) {
    const double x =
        std::ldexp(2 * random.Uniform() - 1, static_cast<int>(random.Integer(40)) - 20);
    const double y =
        std::ldexp(2 * random.Uniform() - 1, static_cast<int>(random.Integer(40)) - 20);
    const std::vector<BigFloat> point = {BigFloat(x), BigFloat(y)};
    FormatValues f64(&graph, Format::kF64, point);
    ASSERT_EQ(f64(id).ToDouble(), (x + y) * x / (y - 3) + std::sqrt(std::fabs(x))) << x << " " << y;
    const float u = static_cast<float>(x);
    const float v = static_cast<float>(y);
    FormatValues f32(&graph, Format::kF32, point);
    ASSERT_EQ(f32(id).ToDouble(),
              static_cast<double>((u + v) * u / (v - 3) + std::sqrt(std::fabs(u))));
    using floating::Half;
    const Half h(x);
    const Half k(y);
    const Half size = Half::FromBits(h.bits() & 0x7fff);
    const Half expected = (h + k) * h / (k - Half(3)) + Half(std::sqrt(size.ToFloat()));
    FormatValues f16(&graph, Format::kF16, point);
    ASSERT_EQ(ToFormat(Format::kF16, f16(id)), expected.bits() == 0xfe00 ? 0x7e00 : expected.bits())
        << x << " " << y;
  }
}

TEST(EvaluateTest, KnowsTheFormatsLimits) {
  EXPECT_EQ(In(Format::kF16, "65519"), "65500");
  EXPECT_EQ(In(Format::kF16, "65520"), "inf");
  EXPECT_EQ(In(Format::kF16, "1e6 - 1e6"), "nan");
  EXPECT_EQ(In(Format::kF32, "1e20 * 1e20"), "inf");
  EXPECT_EQ(In(Format::kF32, "-1e20 * 1e20"), "-inf");
  EXPECT_EQ(In(Format::kF64, "1e-300 * 1e-300"), "0");
  EXPECT_EQ(In(Format::kF64, "5e-324 / 2"), "0");
  EXPECT_EQ(In(Format::kF64, "5e-324 * 0.75"), "5e-324");
  EXPECT_EQ(In(Format::kF64, "0.1 + 0.2"), "0.30000000000000004");
  EXPECT_EQ(In(Format::kBF16, "1 / 3"), "0.334");
  // A tie in f16 that a tail breaks: only a direct rounding sees it.
  EXPECT_EQ(In(Format::kF16, "1.0004882812509"), "1.001");
  EXPECT_EQ(In(Format::kF16, "1.00048828125"), "1");
  EXPECT_EQ(In(Format::kF64, "9^9^9^9"), "inf");
  EXPECT_EQ(In(Format::kF64, "1e999999999"), "inf");
  EXPECT_EQ(In(Format::kF64, "x", {BigFloat(0.1)}), "0.1");
  EXPECT_EQ(In(Format::kF16, "x", {BigFloat(0.1)}), "0.1");
  EXPECT_EQ(In(Format::kF64, "fma(x, x, -(x * x))", {BigFloat(0.1)}), "-8.326672684688674e-19");
  EXPECT_EQ(In(Format::kF64, "max(1, 0/0)"), "nan");
  EXPECT_EQ(In(Format::kF64, "logsumexp(1000, 1000)"), "1000.6931471805599");
  EXPECT_EQ(In(Format::kF64, "logsumexp(log(0), log(0))"), "-inf");
}

// Our elementary functions are within 0.65 ulp, so they can differ from the correct rounding only
// by the last place.
TEST(EvaluateTest, FunctionsAgreeWithTheLibrarysOwn) {
  Random random(2);
  Graph graph;
  const std::vector<std::pair<int, double (*)(double)>> functions = {
      {*Parse("exp(x)", &graph), &assay::Exp},     {*Parse("log(x)", &graph), &assay::Log},
      {*Parse("expm1(x)", &graph), &assay::Expm1}, {*Parse("log1p(x)", &graph), &assay::Log1p},
      {*Parse("sin(x)", &graph), &assay::Sin},     {*Parse("cos(x)", &graph), &assay::Cos},
      {*Parse("tanh(x)", &graph), &assay::Tanh}};
  for (int i = 0; i < 300; ++i) {
    const double x = std::ldexp(random.Uniform(), static_cast<int>(random.Integer(20)) - 10);
    FormatValues values(&graph, Format::kF64, {BigFloat(x)});
    for (const auto& [id, function] : functions) {
      ASSERT_LE(UlpDistance(values(id).ToDouble(), function(x)), 1u)
          << graph.ToText(id) << " " << x;
    }
  }
}

TEST(EvaluateTest, TrueValuesSurviveAnyCancellation) {
  const std::vector<BigFloat> trillion = {BigFloat(1e12)};
  EXPECT_EQ(Truth("sqrt(x+1) - sqrt(x)", trillion), "4.9999999999987500000e-7");
  EXPECT_EQ(Truth("(x + 1) - x", {BigFloat(1e300)}), "1.0000000000000000000e0");
  EXPECT_EQ(Truth("sqrt(x+1) - sqrt(x)", {BigFloat(1e300)}, 10), "5.000000000e-151");
  EXPECT_EQ(Truth("log(1 + x) - x", {BigFloat(1e-150)}, 10), "-5.000000000e-301");
  EXPECT_EQ(Truth("1 - cos(x)", {BigFloat(1e-200)}, 10), "5.000000000e-401");
  EXPECT_EQ(Truth("(1e8 + 1) - 1e8"), "1.0000000000000000000e0");
  EXPECT_EQ(Truth("sin(x)^2 + cos(x)^2 - 1", {BigFloat(0.5)}), "0");
  EXPECT_EQ(Truth("exp(log(3)) - 3"), "0");
  EXPECT_EQ(Truth("x - x", {BigFloat(0.1)}), "0");
  EXPECT_EQ(Truth("sqrt(-1)"), "nan");
  EXPECT_EQ(Truth("1 / 0"), "inf");
  EXPECT_EQ(Truth("log(sqrt(2)^2 - 3)"), "nan");
  EXPECT_EQ(Truth("9^9^9", {}, 6), "4.28125e369693099");
  EXPECT_EQ(Truth("log(exp(1000) + exp(999))"), "1.0003132616875182228e3");
}

TEST(EvaluateTest, BallsHoldTheTruth) {
  // What 256 bits make of an expression lies within its error of what 1,024 bits make of it.
  Random random(3);
  for (const char* text :
       {"sqrt(x+1) - sqrt(x)", "tan(x + y) - tan(x)", "log1p(x) * exp(y) - x^y", "1/(x+1) - 1/x",
        "hypot(x, y) - x", "atan(x) - atan(x + y)", "cbrt(x) - cbrt(y)",
        "sinh(x) / cosh(y) - tanh(x)", "logsumexp(x, y) - x", "fma(x, y, -x) * log2(x) - log10(y)",
        "expm1(x) - x - x*x/2"}) {
    Graph graph;
    const int id = *Parse(text, &graph);
    (void)graph.Variable("y");
    for (int i = 0; i < 100; ++i) {
      const std::vector<BigFloat> point = {
          BigFloat(std::ldexp(random.Uniform(), static_cast<int>(random.Integer(60)) - 40)),
          BigFloat(std::ldexp(random.Uniform(), static_cast<int>(random.Integer(20)) - 12))};
      TrueValues truth(&graph, point);
      const Ball rough = truth.At(256, id);
      const Ball fine = truth.At(1024, id);
      if (rough.error == Ball::kExact || rough.error >= Ball::kUnknown || !rough.value.IsFinite())
        continue;
      const BigFloat difference = Subtract(rough.value, fine.value, {64}).Abs();
      ASSERT_TRUE(difference.IsZero() || difference.Exponent() < rough.error) << text << " " << i;
    }
  }
}

TEST(EvaluateTest, NumbersOutOfRangeKeepTheirLimits) {
  // Each true value but the infinities' to 20 digits; exp(exp(100)) is finite.
  EXPECT_EQ(Truth("1/exp(exp(100)) + x", {BigFloat(2.0)}), "2.0000000000000000000e0");
  EXPECT_EQ(Truth("exp(-exp(exp(100))) - 1"), "-1.0000000000000000000e0");
  EXPECT_EQ(Truth("expm1(-exp(exp(100))) * 3"), "-3.0000000000000000000e0");
  EXPECT_EQ(Truth("tanh(exp(exp(100)))"), "1.0000000000000000000e0");
  EXPECT_EQ(Truth("tanh(5 - exp(exp(100)) * 2)"), "-1.0000000000000000000e0");
  EXPECT_EQ(Truth("atan(exp(exp(x)))", {BigFloat(100.0)}), "1.5707963267948966192e0");
  EXPECT_EQ(Truth("min(exp(exp(100)), 7)"), "7.0000000000000000000e0");
  EXPECT_EQ(Truth("1 + 1/exp(exp(100))^2"), "1.0000000000000000000e0");
  EXPECT_EQ(Truth("1 + 2^(-exp(exp(100)))"), "1.0000000000000000000e0");
  const auto error = [](const char* text) {
    Graph graph;
    const int id = *Parse(text, &graph);
    return TrueValues(&graph, {})(id).error;
  };
  for (const char* text : {"exp(exp(100))", "exp(1e300)", "9^9^9^9", "exp(1e300) + exp(1e301)"}) {
    EXPECT_EQ(error(text), Ball::kOverflow) << text;
  }
  for (const char* text :
       {"log(exp(exp(100)))", "exp(exp(100)) - exp(exp(101))", "exp(exp(100)) / exp(exp(101))",
        "exp(exp(100)) * (1/exp(exp(101)))", "1/(sqrt(2)^2 - 2)", "sin(1e900)",
        "exp(exp(100)) * (sqrt(2)^2 - 2)", "cos(exp(exp(100)))"}) {
    EXPECT_EQ(error(text), Ball::kUnknown) << text;
    EXPECT_EQ(Truth(text), "nan") << text;
  }
  EXPECT_EQ(error("1/exp(1e300)"), -Ball::kHuge);  // not 0
  EXPECT_EQ(error("1/0"), Ball::kExact);
  EXPECT_EQ(error("exp(log(0))"), Ball::kExact);
  EXPECT_EQ(error("0 * exp(exp(100))"), Ball::kExact);
}

TEST(EvaluateTest, DerivativesAreThoseOfDifferences) {
  Random random(4);
  const Precision p{300};
  std::vector<Function> functions(kFunctions.begin(), kFunctions.end());
  functions.push_back({"+", Op::kAdd, 2, 2});
  functions.push_back({"-", Op::kSubtract, 2, 2});
  functions.push_back({"*", Op::kMultiply, 2, 2});
  functions.push_back({"/", Op::kDivide, 2, 2});
  functions.push_back({"negative", Op::kNegate, 1, 1});
  for (const Function& f : functions) {
    if (f.op == Op::kMin || f.op == Op::kMax) continue;
    for (int i = 0; i < 20; ++i) {
      std::vector<BigFloat> args;
      const int arity = std::max(f.least, f.op == Op::kLogSumExp ? 3 : 0);
      for (int a = 0; a < arity; ++a) args.emplace_back(0.1 + 2 * random.Uniform());
      const BigFloat value = Apply(f.op, args, p);
      for (size_t a = 0; a < args.size(); ++a) {
        std::vector<BigFloat> moved = args;
        const BigFloat step = BigFloat(0x1p-100);
        moved[a] = Add(args[a], step, p);
        const BigFloat up = Apply(f.op, moved, p);
        moved[a] = Subtract(args[a], step, p);
        const BigFloat slope = Subtract(up, Apply(f.op, moved, p), p).Times2To(99);
        const double ratio = Divide(Derivative(f.op, a, args, value, p), slope, p).ToDouble();
        EXPECT_NEAR(ratio, 1, 1e-15) << f.name << " " << a;
      }
    }
  }
}

TEST(AnalyseTest, ErrorsInUlpsDigitsAndBits) {
  const Error none = ErrorOf(Format::kF64, BigFloat(1.5), BigFloat(1.5));
  EXPECT_EQ(none.ulps, 0);
  EXPECT_EQ(none.bits, 0);
  const Error three = ErrorOf(Format::kF64, BigFloat(1 + 3 * 0x1p-52), BigFloat(1.0));
  EXPECT_EQ(three.ulps, 3);
  EXPECT_EQ(three.bits, 2);
  EXPECT_DOUBLE_EQ(three.relative, 3 * 0x1p-52);
  EXPECT_EQ(ErrorOf(Format::kF32, BigFloat::Infinity(), BigFloat(1e39)).bits, 0);
  EXPECT_GT(ErrorOf(Format::kF32, BigFloat::Infinity(), BigFloat(1e30)).bits, 20);
  EXPECT_EQ(ErrorOf(Format::kF32, BigFloat::NaN(), BigFloat(1.0)).bits, 32);
  EXPECT_EQ(ErrorOf(Format::kF32, BigFloat::NaN(), BigFloat::NaN()).bits, 0);
  EXPECT_TRUE(std::isinf(ErrorOf(Format::kF64, BigFloat(1.0), BigFloat()).relative));
  EXPECT_EQ(ErrorOf(Format::kF64, BigFloat(), BigFloat(5.0)).relative, 1);
}

TEST(AnalyseTest, ConditionNumbersOfTextbookProblems) {
  const auto condition = [](const char* text, double x) {
    Graph graph;
    const int id = *Parse(text, &graph);
    TrueValues truth(&graph, {BigFloat(x)});
    return Analyse(graph, id, &truth).condition[0];
  };
  EXPECT_NEAR(condition("sqrt(x)", 7), 0.5, 1e-15);
  EXPECT_NEAR(condition("x^3", 7), 3, 1e-15);
  EXPECT_NEAR(condition("exp(x)", 7), 7, 1e-15);
  EXPECT_NEAR(condition("log(x)", 1.0001), 1 / std::log(1.0001), 1e-8);
  EXPECT_NEAR(condition("sqrt(x+1) - sqrt(x)", 1e12), 0.5, 1e-9);  // the problem is harmless
  EXPECT_NEAR(condition("x - 1", 1 + 0x1p-30), 0x1p30, 2);         // this one is not
  EXPECT_EQ(condition("x * 0", 5), 0);
}

TEST(AnalyseTest, OperationsAmplify) {
  const auto amplifies = [](const char* text, double x) {
    Graph graph;
    const int id = *Parse(text, &graph);
    TrueValues truth(&graph, {BigFloat(x)});
    return Analyse(graph, id, &truth).steps.back().amplifies;
  };
  EXPECT_EQ(amplifies("x + 1", 3), 1);
  EXPECT_EQ(amplifies("4 - x", 3), 7);
  EXPECT_EQ(amplifies("x * x", 3), 2);
  EXPECT_EQ(amplifies("2 * x", 3), 1);  // the 2 has no error
  EXPECT_EQ(amplifies("x / 0.1", 3), 2);
  EXPECT_EQ(amplifies("x^2", 3), 2);
  EXPECT_EQ(amplifies("sqrt(x)", 4), 0.5);
  EXPECT_EQ(amplifies("x - 3", 3), std::numeric_limits<double>::infinity());
}

TEST(AnalyseTest, BlameAddsUpToTheError) {
  Random random(5);
  for (const char* text : {"sqrt(x+1) - sqrt(x)", "1/(x+1) - 1/x", "(x*x - 1) / (x - 1)",
                           "log(x + 1) - log(x)", "sin(x) * exp(-x) + 0.1 * x"}) {
    Graph graph;
    const int id = *Parse(text, &graph);
    for (int i = 0; i < 50; ++i) {
      FormatValues values(&graph, Format::kF64, {BigFloat(1 + 1000 * random.Uniform())});
      TrueValues truth(&graph, values.point());
      const Analysis analysis = Analyse(graph, id, &truth);
      double sum = 0;
      double size = 0;
      for (const double part : Blame(graph, analysis, &values)) {
        sum += part;
        size += std::fabs(part);
      }
      const double error = ErrorOf(Format::kF64, values(id), truth(id).value).ulps;
      // Second order: products of two roundings.
      ASSERT_NEAR(sum, error, 1e-6 * size + 1e-9) << text;
    }
  }
}

}  // namespace
}  // namespace assay::expression
