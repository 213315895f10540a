// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/rewrite.h"

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/expression/expression.h"
#include "numerics/expression/parse.h"
#include "numerics/expression/polynomial.h"
#include "numerics/expression/rules.h"

namespace assay::expression {
namespace {

std::string Simplified(const char* text) {
  Graph graph;
  const int id = *Parse(text, &graph);
  return graph.ToText(Simplify(&graph, id));
}

TEST(PolynomialTest, CancelsOnPaper) {
  EXPECT_EQ(Simplified("(x + 1) - x"), "1");
  EXPECT_EQ(Simplified("1/(x+1) - 1/x"), "-1 / (x * (x + 1))");
  EXPECT_EQ(Simplified("1/(x+1) - 2/x + 1/(x-1)"), "2 / (x * (x + 1) * (x - 1))");
  EXPECT_EQ(Simplified("(x*x - 1) / (x - 1)"), "x + 1");
  EXPECT_EQ(Simplified("(exp(2*x) - 1) / (exp(x) - 1)"), "exp(x) + 1");
  EXPECT_EQ(Simplified("sqrt(x)*sqrt(x) - x"), "0");
  EXPECT_EQ(Simplified("(b*b - 4*a*c) - b*b"), "-(4 * a * c)");
  EXPECT_EQ(Simplified("x / 3 + x / 6"), "x / 2");
  EXPECT_EQ(Simplified("0.5 * x + 0.25 * x"), "3 * x / 4");
  EXPECT_EQ(Simplified("(a + b)^2 - (a - b)^2"), "4 * a * b");
  EXPECT_EQ(Simplified("1 / (2 * x)"), "1 / (2 * x)");
  EXPECT_EQ(Simplified("1 / (-2 * x)"), "-1 / (2 * x)");
  EXPECT_EQ(Simplified("y / (x / -3)"), "-(3 * y) / x");
  EXPECT_EQ(Simplified("x^7 * x"), "x^8");
  EXPECT_EQ(Simplified("sin(x) + 1e300 - sin(x)"), "1e300");
}

TEST(PolynomialTest, SimplifiedIsEqual) {
  Random random(1);
  const char* atoms[] = {"x",      "y",        "2",       "0.5",     "sqrt(x)",
                         "exp(x)", "exp(3*x)", "(x + y)", "(y - 1)", "7"};
  const char* operators[] = {" + ", " - ", " * ", " / "};
  int compared = 0;
  for (int i = 0; i < 600; ++i) {
    std::string text = atoms[random.Integer(10)];
    const int64_t length = random.Integer(1, 6);
    for (int64_t k = 0; k < length; ++k) {
      const std::string op = operators[random.Integer(4)];
      text = "(" + text + op;
      text += atoms[random.Integer(10)];
      text += ")";
    }
    Graph graph;
    (void)graph.Variable("x");
    (void)graph.Variable("y");
    const int id = *Parse(text, &graph);
    const int simple = Simplify(&graph, id);
    for (int k = 0; k < 3; ++k) {
      TrueValues truth(&graph,
                       {BigFloat(0.1 + 3 * random.Uniform()), BigFloat(4 * random.Uniform() - 2)});
      if (!truth(id).value.IsFinite()) continue;
      ++compared;
      ASSERT_TRUE(EqualAt(&truth, id, simple)) << text << " is not " << graph.ToText(simple);
    }
  }
  EXPECT_GT(compared, 1500);
}

// Every rule of the table at random points where its left side has a value: the right side has the
// same, to 100 bits, but where the rule says what it needs and the point does not give it.
TEST(RulesTest, AreIdentities) {
  Random random(2);
  for (const Rule& rule : Rules()) {
    EXPECT_NE(std::string_view(ReasonFor(rule.name)), "") << rule.name;
    Graph graph;
    for (const char* letter : {"a", "b", "c", "d"}) (void)graph.Variable(letter);
    const int from = *Parse(rule.from, &graph);
    const int to = *Parse(rule.to, &graph);
    const bool anywhere = std::string_view(rule.where).empty();
    int compared = 0;
    for (int i = 0; i < 60; ++i) {
      std::vector<BigFloat> point;
      for (int k = 0; k < 4; ++k) {
        const double size =
            std::ldexp(1 + random.Uniform(), static_cast<int>(random.Integer(5)) - 3);
        point.emplace_back(anywhere && random.Integer(3) == 0 ? -size : size);
      }
      TrueValues truth(&graph, point);
      if (!truth(from).value.IsFinite() || !truth(to).value.IsFinite()) continue;
      // The conditions in words, of which there are two kinds: signs, given above, and a b about 1.
      const std::string_view where = rule.where;
      const double product = point[0].ToDouble() * point[1].ToDouble();
      if (where == "a b < 1" && product >= 1) continue;
      ++compared;
      ASSERT_TRUE(EqualAt(&truth, from, to))
          << rule.from << " is not " << rule.to << " at " << point[0].ToDouble() << ", "
          << point[1].ToDouble() << ", " << point[2].ToDouble();
    }
    EXPECT_GE(compared, 8) << rule.from;
  }
}

TEST(RulesTest, ApplyToEitherOrderOfASumOrProduct) {
  const Rewriter rewriter;
  const auto reaches = [&](const char* from, const char* to) {
    Graph graph;
    const int id = *Parse(from, &graph);
    const int wanted = *Parse(to, &graph);
    for (const auto& [result, name] : rewriter.ApplyAt(&graph, id)) {
      if (result == wanted) return true;
    }
    return false;
  };
  EXPECT_TRUE(reaches("log(1 + x)", "log1p(x)"));
  EXPECT_TRUE(reaches("log(x + 1)", "log1p(x)"));
  EXPECT_TRUE(reaches("y * (1 - cos(x)) / sin(x)", "y * ((1 - cos(x)) / sin(x))"));
  EXPECT_TRUE(reaches("(sin(x) - y) * z", "sin(x) * z - y * z"));
  EXPECT_TRUE(reaches("z * (sin(x) - y)", "sin(x) * z - y * z"));
  EXPECT_FALSE(reaches("log(2 + x)", "log1p(x)"));
  // A letter stands for one thing throughout.
  EXPECT_TRUE(reaches("sqrt(x * x)", "abs(x)"));
  EXPECT_FALSE(reaches("sqrt(x * y)", "abs(x)"));
  EXPECT_FALSE(reaches("exp(x) + exp(-y)", "2 * cosh(x)"));
}

TEST(RulesTest, TidyingKeepsTheValue) {
  Graph graph;
  const int x = graph.Variable("x");
  const int y = graph.Variable("y");
  const int minus_x = graph.Make(Op::kNegate, {x});
  const int minus_y = graph.Make(Op::kNegate, {y});
  TrueValues truth(&graph, {BigFloat(3.0), BigFloat(-7.0)});
  for (const Op op : {Op::kAdd, Op::kSubtract, Op::kMultiply, Op::kDivide}) {
    const std::vector<int> operands = {
        x, y, minus_x, minus_y, graph.Integer(0), graph.Integer(1), graph.Integer(5)};
    for (const int a : operands) {
      for (const int b : operands) {
        const int plain = graph.Make(op, {a, b});
        const int tidy = Rewriter::MakeTidy(&graph, op, {a, b});
        ASSERT_TRUE(EqualAt(&truth, plain, tidy))
            << graph.ToText(plain) << " is not " << graph.ToText(tidy);
      }
    }
  }
  EXPECT_EQ(
      graph.ToText(Rewriter::MakeTidy(&graph, Op::kNegate, {graph.Make(Op::kSubtract, {x, y})})),
      "y - x");
}

struct Case {
  const char* text;
  std::vector<double> point;
  const char* rewritten;
};

TEST(RewriteTest, MendsTheReadersExpression) {
  for (const Case& c :
       std::vector<Case>{{"sqrt(x + 1) - sqrt(x)", {1e12}, "1 / (sqrt(x + 1) + sqrt(x))"},
                         {"exp(x) - 1", {1e-9}, "expm1(x)"},
                         {"log(1 + x)", {1e-9}, "log1p(x)"},
                         {"1 / (x + 1) - 1 / x", {1e9}, "-1 / (x * (x + 1))"},
                         {"sqrt(x * x + y * y)", {1e200, 1e200}, "hypot(x, y)"},
                         {"log(exp(x) + exp(y))", {1000, 999}, "logsumexp(x, y)"},
                         {"(1 - cos(x)) / sin(x)", {1e-8}, "tan(x / 2)"}}) {
    Graph graph;
    const int id = *Parse(c.text, &graph);
    Point point;
    for (const double x : c.point) point.emplace_back(x);
    const Rewrite rewrite = FindRewrite(&graph, id, PointsAround(point, Format::kF64, 12, 1), {});
    ASSERT_TRUE(rewrite.best.has_value()) << c.text;
    EXPECT_EQ(graph.ToText(rewrite.best->id), c.rewritten) << c.text;
    EXPECT_LT(rewrite.best->mean_bits, 1) << c.text;
    EXPECT_GT(rewrite.original.mean_bits, 10) << c.text;
    EXPECT_EQ(rewrite.best->steps.back().id, rewrite.best->id);
  }
}

TEST(RewriteTest, OffersNothingWhereNothingIsWrong) {
  for (const char* text : {"x + 1", "sqrt(x)", "x * y + 2", "sin(x)", "1"}) {
    Graph graph;
    const int id = *Parse(text, &graph);
    Point point(graph.variables().size(), BigFloat(1.7));
    EXPECT_FALSE(
        FindRewrite(&graph, id, PointsAround(point, Format::kF64, 12, 1), {}).best.has_value())
        << text;
  }
}

TEST(RewriteTest, NeverOffersWhatIsNotEqual) {
  // atan(a) - atan(b) = atan((a - b) / (1 + a b)) fails for a b < -1, log(x^2) = 2 log(x) for x <
  // 0, sqrt(x^2) is not x.
  for (const auto& [text, x] :
       std::vector<std::pair<const char*, double>>{{"atan(x) - atan(-3)", 1e9},
                                                   {"log(x^2)", -1e200},
                                                   {"sqrt(x^2) - x", -1e-200},
                                                   {"exp(log(x)) - x", 1e10}}) {
    Graph graph;
    const int id = *Parse(text, &graph);
    const Rewrite rewrite =
        FindRewrite(&graph, id, PointsAround({BigFloat(x)}, Format::kF64, 12, 1), {});
    if (!rewrite.best) continue;
    Random random(3);
    for (int i = 0; i < 100; ++i) {
      const double at = (x < 0 ? -1 : 1) *
                        std::ldexp(random.Uniform(), static_cast<int>(random.Integer(60)) - 30);
      TrueValues truth(&graph, {BigFloat(at)});
      ASSERT_TRUE(EqualAt(&truth, id, rewrite.best->id))
          << text << " at " << at << ": " << graph.ToText(rewrite.best->id);
    }
  }
}

TEST(RewriteTest, RefusesWhatHoldsOnlyNearby) {
  // Right at the points, but not where x y < -1.
  Graph graph;
  const int id = *Parse("atan(x) - atan(y)", &graph);
  const Point at = {BigFloat(1e8 + 1), BigFloat(1e8)};
  const Rewrite rewrite = FindRewrite(&graph, id, PointsAround(at, Format::kF64, 1, 1), {});
  EXPECT_GT(rewrite.refused, 0);
  TrueValues truth(&graph, {BigFloat(5.0), BigFloat(-5.0)});
  const int wrong = *Parse("atan((x - y) / (1 + x * y))", &graph);
  EXPECT_FALSE(EqualAt(&truth, id, wrong));
  if (rewrite.best) {
    EXPECT_TRUE(EqualAt(&truth, id, rewrite.best->id)) << graph.ToText(rewrite.best->id);
  }
  // Where the second has no value, and where the first has none.
  const int log_x = *Parse("exp(log(y)) + x", &graph);
  const int plain = *Parse("y + x", &graph);
  EXPECT_FALSE(EqualAt(&truth, plain, log_x));
  EXPECT_TRUE(EqualAt(&truth, log_x, plain));
}

TEST(RewriteTest, SplitsTheLineWhereOneFormDoesNotDo) {
  Graph graph;
  const int id = *Parse("-x + sqrt(x * x + 1)", &graph);
  std::vector<Point> points;
  for (int i = -12; i <= 12; ++i)
    points.push_back({BigFloat(i * std::ldexp(1.0, i < 0 ? -3 * i : 3 * i))});
  SearchOptions options;
  for (int i = -11; i <= 11; i += 2)
    options.split_checks.push_back({BigFloat(1.25 * i * std::ldexp(1.0, 3 * std::abs(i)))});
  const Rewrite rewrite = FindRewrite(&graph, id, points, options);
  ASSERT_TRUE(rewrite.best.has_value());
  EXPECT_LT(rewrite.best->mean_bits, 1.5);
  EXPECT_GT(rewrite.original.mean_bits, 15);
  // One of the two is right on one side only.
  ASSERT_TRUE(rewrite.below.has_value());
  EXPECT_TRUE(rewrite.threshold.IsZero());
  EXPECT_EQ(FormAt(rewrite, {BigFloat(-1.0)}).id, rewrite.below->id);
  EXPECT_EQ(FormAt(rewrite, {BigFloat(0.0)}).id, rewrite.best->id);
  EXPECT_NE(rewrite.below->id, rewrite.best->id);
}

TEST(RewriteTest, KeepsNoSplitThatOtherPointsOrTooFewDoNotBearOut) {
  Graph graph;
  const int id = *Parse("-x + sqrt(x * x + 1)", &graph);
  const auto at = [](int i) { return Point{BigFloat(i * std::ldexp(1.0, 3 * std::abs(i)))}; };
  std::vector<Point> points;
  for (int i = -12; i <= 12; ++i) points.push_back(at(i));
  // Where x < 0 the form as typed is good: two save nothing there.
  SearchOptions options;
  for (int i = 1; i <= 12; ++i) options.split_checks.push_back(at(-i));
  EXPECT_FALSE(FindRewrite(&graph, id, points, options).below.has_value());
  // Two points of one sign are too few for a form of their own.
  std::vector<Point> few = {at(-9), at(-8)};
  for (int i = 6; i <= 12; ++i) few.push_back(at(i));
  options.split_checks = points;
  const Rewrite rewrite = FindRewrite(&graph, id, few, options);
  EXPECT_FALSE(rewrite.below.has_value() && rewrite.threshold.IsZero());
}

TEST(RewriteTest, IsTheSameEveryTime) {
  std::string first;
  for (int i = 0; i < 2; ++i) {
    Graph graph;
    const int id = *Parse("(-b - sqrt(b^2 - 4*a*c)) / (2*a)", &graph);
    const Rewrite rewrite = FindRewrite(
        &graph, id,
        PointsAround({BigFloat(-1e8), BigFloat(1.0), BigFloat(1.0)}, Format::kF32, 12, 1),
        {.format = Format::kF32});
    ASSERT_TRUE(rewrite.best.has_value());
    std::string text = graph.ToText(rewrite.best->id) + std::to_string(rewrite.best->mean_bits) +
                       std::to_string(rewrite.candidates);
    if (i == 0) first = text;
    EXPECT_EQ(text, first);
  }
}

}  // namespace
}  // namespace assay::expression
