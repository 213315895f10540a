// SPDX-License-Identifier: Apache-2.0
#include "numerics/expression/expression.h"

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "numerics/expression/parse.h"

namespace assay::expression {
namespace {

std::string Again(std::string_view text) {
  Graph graph;
  const absl::StatusOr<int> id = Parse(text, &graph);
  return id.ok() ? graph.ToText(*id) : std::string(id.status().message());
}

TEST(ExpressionTest, ReadsAndWritesWithTheFewestParentheses) {
  EXPECT_EQ(Again("1+2*3"), "1 + 2 * 3");
  EXPECT_EQ(Again("(1+2)*3"), "(1 + 2) * 3");
  EXPECT_EQ(Again("1-(2-3)"), "1 - (2 - 3)");
  EXPECT_EQ(Again("(1-2)-3"), "1 - 2 - 3");
  EXPECT_EQ(Again("8/(4/2)"), "8 / (4 / 2)");
  EXPECT_EQ(Again("-x^2"), "-x^2");
  EXPECT_EQ(Again("(-x)^2"), "(-x)^2");
  EXPECT_EQ(Again("2^3^4"), "2^3^4");
  EXPECT_EQ(Again("(2^3)^4"), "(2^3)^4");
  EXPECT_EQ(Again("x^-1"), "x^-1");
  EXPECT_EQ(Again("2 * -3 - -4 / 8"), "2 * -3 - -4 / 8");
  EXPECT_EQ(Again("-(a+b)"), "-(a + b)");
  EXPECT_EQ(Again("--+2"), "--2");
  EXPECT_EQ(Again("pow(x, 2) + ln(y)"), "x^2 + log(y)");
  EXPECT_EQ(Again("logsumexp(a,b , c)*pi"), "logsumexp(a, b, c) * pi");
  EXPECT_EQ(Again(" fma( a,b,c ) "), "fma(a, b, c)");
}

TEST(ExpressionTest, ConstantsHaveOneForm) {
  EXPECT_EQ(Again("1.50"), "1.5");
  EXPECT_EQ(Again("0.00"), "0");
  EXPECT_EQ(Again("1e8"), "1e8");
  EXPECT_EQ(Again("100000000"), "1e8");
  EXPECT_EQ(Again("123456789"), "123456789");
  EXPECT_EQ(Again("1000"), "1000");
  EXPECT_EQ(Again("0.0001"), "0.0001");
  EXPECT_EQ(Again("1.25E-30"), "1.25e-30");
  EXPECT_EQ(Again("00012.5e1"), "125");
  EXPECT_EQ(Again(".5"), "0.5");
  EXPECT_EQ(Again("5."), "5");
  EXPECT_EQ(Again("1e999999999"), "1e999999999");
  EXPECT_EQ(Again("0e999999999"), "0");
  Graph graph;
  EXPECT_EQ(graph.IntegerOr(graph.Constant("2e3")), 2000);
  EXPECT_EQ(graph.IntegerOr(graph.Constant("1e15")), -1);
  EXPECT_EQ(graph.IntegerOr(graph.Constant("0.5")), -1);
  EXPECT_EQ(graph.IntegerOr(graph.Constant("1e-3")), -1);
}

TEST(ExpressionTest, EqualPartsAreOne) {
  Graph graph;
  const int a = *Parse("sqrt(x+1) * sqrt(x + 1.0)", &graph);
  EXPECT_EQ(graph.node(a).args[0], graph.node(a).args[1]);
  EXPECT_EQ(graph.CountOperations(a), 3);
  EXPECT_EQ(graph.Below(a).size(), 5u);
  EXPECT_EQ(*Parse("sqrt(1e0 + x)", &graph) == graph.node(a).args[0], false);
}

TEST(ExpressionTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(Again(""), "expected a number, a variable or a function at character 1");
  EXPECT_EQ(Again("1 +"), "expected a number, a variable or a function at character 4");
  EXPECT_EQ(Again("(1"), "expected a closing parenthesis at character 3");
  EXPECT_EQ(Again("1 2"), "expected an operator or the end at character 3, where it says \"2\"");
  EXPECT_EQ(Again("sine(1)"),
            "\"sine\" is no function known here at character 1, where it says \"s\"");
  EXPECT_EQ(Again("hypot(1)"),
            "hypot takes 2 arguments, expected a comma at character 8, where it says \")\"");
  EXPECT_EQ(Again("sqrt(1, 2)"),
            "expected a closing parenthesis at character 7, where it says \",\"");
  EXPECT_EQ(Again("1e"), "expected the digits of an exponent at character 3");
  EXPECT_EQ(Again("1e9999999999999999"), "an exponent of more than 15 digits at character 19");
  EXPECT_EQ(Again("."), "expected a digit at character 2");
  EXPECT_EQ(Again("1..2"), "expected an operator or the end at character 3, where it says \".\"");
  EXPECT_NE(Again("a+b+c+d+e+f+g+h+i").find("more than 8 variables"), std::string::npos);
  const auto nested = [](int depth) {
    std::string s(static_cast<size_t>(depth), '(');
    s += 'x';
    for (int i = 0; i < depth; ++i) s += ")^2";
    return s;
  };
  EXPECT_EQ(Again(nested(kMaxNesting)).find("nested"), std::string::npos);
  EXPECT_NE(Again(nested(kMaxNesting + 1)).find("nested too deeply"), std::string::npos);
  EXPECT_NE(Again(std::string(900, '(')).find("nested too deeply"), std::string::npos);
  EXPECT_NE(Again(std::string(900, '-') + "1").find("nested too deeply"), std::string::npos);
  EXPECT_NE(Again("2" +
                  [] {
                    std::string s;
                    for (int i = 0; i < 300; ++i) s += "^2";
                    return s;
                  }())
                .find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(Again("1" +
                  [] {
                    std::string s;
                    for (int i = 0; i < 201; ++i) s += "+1";
                    return s;
                  }())
                .find("more than 200 operations"),
            std::string::npos);
  EXPECT_NE(Again(std::string(1001, '1')).find("at most 1000 characters"), std::string::npos);
  EXPECT_NE(Again("logsumexp(1,2,3,4,5,6,7,8,9)").find("closing parenthesis"), std::string::npos);
}

}  // namespace
}  // namespace assay::expression
