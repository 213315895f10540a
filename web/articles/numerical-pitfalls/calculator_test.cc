// SPDX-License-Identifier: Apache-2.0
#include "web/articles/numerical-pitfalls/calculator.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace assay::numerical_pitfalls {
namespace {

bool Has(const std::string& json, std::string_view part) {
  return json.find(part) != std::string::npos;
}

// The "exact" of an expression.
std::string ExactOf(std::string_view text) {
  const std::string json = AnalyseExpression(text);
  const std::string head = "{\"mode\":\"expression\",\"exact\":{\"text\":\"";
  if (json.rfind(head, 0) != 0) return json;
  return json.substr(head.size(), json.find('"', head.size()) - head.size());
}

// The shortest decimal of the result in a format.
std::string ShortOf(std::string_view text, const std::string& format) {
  const std::string json = AnalyseExpression(text);
  const size_t at = json.find("{\"name\":\"" + format + "\"");
  if (at == std::string::npos) return json;
  const std::string key = "\"short\":\"";
  const size_t from = json.find(key, at) + key.size();
  return json.substr(from, json.find('"', from) - from);
}

TEST(CalculatorTest, ComputesExactlyAndInEachFormat) {
  EXPECT_EQ(ExactOf("0.1 + 0.2"), "0.3");
  EXPECT_EQ(ShortOf("0.1 + 0.2", "f64"), "0.30000000000000004");
  EXPECT_EQ(ExactOf("(1e8 + 1) - 1e8"), "1");
  EXPECT_EQ(ShortOf("(1e8 + 1) - 1e8", "f32"), "0");
  EXPECT_EQ(ShortOf("(1e8 + 1) - 1e8", "f64"), "1");
  EXPECT_EQ(ShortOf("(1e8 + 1) - 1e8", "f16"), "nan");  // infinity less infinity
  EXPECT_EQ(ExactOf("2 * -3 - -4 / 8"), "-5.5");
  EXPECT_EQ(ExactOf("1 / 3"), "0.333333333333333333333333");
  EXPECT_EQ(ShortOf("1 / 3", "bf16"), "0.334");
  EXPECT_EQ(ExactOf("1e308 * 10 * 1e-308"), "10");
  EXPECT_EQ(ShortOf("1e308 * 10 * 1e-308", "f64"), "inf");
  EXPECT_EQ(ExactOf("--2"), "2");
  EXPECT_EQ(ExactOf("-0"), "0");
}

TEST(CalculatorTest, NaNHasOnePatternEverywhere) {
  const std::string json = AnalyseExpression("1e6 - 1e6 + 0 / 0");
  EXPECT_TRUE(Has(json, "\"bits\":\"0111111000000000\"")) << json;
  EXPECT_TRUE(Has(AnalyseSum("1e6, -1e6, 1e6, -1e6"), "\"bits\":\"0111111000000000\""));
}

TEST(CalculatorTest, RoundsOncePerOperation) {
  // 1 + 2^-11 is a tie in f16, the tail 2^-40 breaks it: only a direct rounding sees it.
  EXPECT_EQ(ShortOf("1.0004882812509", "f16"), "1.001");
  EXPECT_EQ(ShortOf("1.00048828125", "f16"), "1");
  EXPECT_EQ(ShortOf("1 / 10", "f32"), "0.1");
}

TEST(CalculatorTest, RootsExponentialsAndLogarithms) {
  EXPECT_EQ(ExactOf("sqrt(2)"), "1.41421356237309504880169");
  EXPECT_EQ(ExactOf("sqrt(1e-20)"), "1e-10");
  EXPECT_TRUE(Has(AnalyseExpression("sqrt(6.25)"), "{\"text\":\"2.5\",\"complete\":true}"));
  EXPECT_EQ(ExactOf("exp(1)"), "2.71828182845904523536029");
  EXPECT_EQ(ExactOf("exp(-1)"), "0.367879441171442321595524");
  EXPECT_EQ(ExactOf("exp(0)"), "1");
  EXPECT_EQ(ExactOf("log(2)"), "0.693147180559945309417232");
  EXPECT_EQ(ExactOf("log(1e-300)"), "-690.775527898213705205397");
  EXPECT_EQ(ExactOf("log(exp(1000) + exp(999))"), "1000.31326168751822283405");
  EXPECT_EQ(ShortOf("log(exp(1000) + exp(999))", "f64"), "inf");
  EXPECT_EQ(ShortOf("log(exp(90))", "f32"), "inf");
  EXPECT_EQ(ExactOf("log(0)"), "-inf");
  EXPECT_EQ(ExactOf("sqrt(-1)"), "nan");
  EXPECT_EQ(ExactOf("exp(log(0))"), "0");
  EXPECT_EQ(ExactOf("1/0"), "inf");
  EXPECT_EQ(ExactOf("0/0"), "nan");
  EXPECT_EQ(ExactOf("1/0 - 1/0"), "nan");
}

TEST(CalculatorTest, LogarithmsNearOneKeepTheirDigits) {
  EXPECT_EQ(ExactOf("log(1 + 1e-20)"), "9.99999999999999999995e-21");
  EXPECT_EQ(ExactOf("log(1 + 1e-80)"), "1e-80");
  EXPECT_EQ(ExactOf("log(1 - 1e-80)"), "-1e-80");
  EXPECT_EQ(ExactOf("log(1 + 1e-100)"), "1e-100");
  EXPECT_EQ(ExactOf("log(1 + 1e-1000)"), "1e-1000");
  // On both sides of 1 + 2^-8 and 1 - 2^-8, where the method changes.
  EXPECT_EQ(ExactOf("log(1.0039)"), "0.00389241471534383889448255");
  EXPECT_EQ(ExactOf("log(1.00391)"), "0.00390237581724101311544221");
  EXPECT_EQ(ExactOf("log(0.9961)"), "-0.00390762483101706182244974");
  EXPECT_EQ(ExactOf("log(0.99609)"), "-0.00391766403410520500959441");
  EXPECT_EQ(ExactOf("log(1)"), "0");
}

TEST(CalculatorTest, CountsKeptDigitsAndConditions) {
  const std::string json = AnalyseExpression("(1e8 + 1) - 1e8");
  EXPECT_TRUE(Has(json, "\"text\":\"1e8 + 1\"")) << json;
  EXPECT_TRUE(Has(json, "\"condition\":\"2e8\"")) << json;
  EXPECT_TRUE(Has(AnalyseExpression("0.5"), "\"kept\":-1"));
  // 0.1 in f32 is off by 1.5e-8: seven digits and the eighth by luck do not count.
  EXPECT_TRUE(Has(AnalyseExpression("0.1"), "\"kept\":7,\"error\":\"1.5e-8\""))
      << AnalyseExpression("0.1");
  EXPECT_TRUE(
      Has(AnalyseExpression("0.1"), "\"digits\":\"100000001490116119384765625\",\"exponent\":-1"));
  EXPECT_TRUE(Has(AnalyseExpression("1234.5"), "\"digits\":\"12345\",\"exponent\":3"));
  EXPECT_TRUE(Has(AnalyseExpression("1e-310"), "\"kind\":\"subnormal\""));
}

TEST(CalculatorTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(AnalyseExpression(""), "{\"error\":\"expected a number at character 1\"}");
  EXPECT_EQ(AnalyseExpression("1 +"), "{\"error\":\"expected a number at character 4\"}");
  EXPECT_EQ(AnalyseExpression("(1"),
            "{\"error\":\"expected a closing parenthesis at character 3\"}");
  EXPECT_EQ(
      AnalyseExpression("1 2"),
      "{\"error\":\"expected an operator or the end at character 3, where it says \\\"2\\\"\"}");
  EXPECT_EQ(AnalyseExpression("sin(1)"),
            "{\"error\":\"expected a number at character 1, where it says \\\"s\\\"\"}");
  EXPECT_TRUE(Has(AnalyseExpression("1e99999"), "error"));
  EXPECT_TRUE(Has(AnalyseExpression(std::string(301, '1')), "more than 300"));
  EXPECT_TRUE(Has(AnalyseExpression(std::string(100, '(') + "1"), "too many parentheses"));
  EXPECT_TRUE(Has(AnalyseExpression(std::string(100, '-') + "1"), "too many signs"));
  EXPECT_TRUE(Has(AnalyseExpression("exp(5000)"), "not computed"));
  std::string many = "1";
  for (int i = 0; i < 60; ++i) many += "+1";
  EXPECT_TRUE(Has(AnalyseExpression(many), "too many operations"));
  EXPECT_TRUE(Has(AnalyseExpression("1\"\x01"), "\\\""));
}

TEST(CalculatorTest, SumsListsByEveryMethod) {
  const std::string trap = AnalyseSum("1, 1e100, 1, -1e100");
  EXPECT_TRUE(Has(trap, "\"terms\":4,\"exact\":{\"text\":\"2\",\"complete\":true}")) << trap;
  EXPECT_TRUE(Has(trap, "\"condition\":\"1e100\"")) << trap;
  const std::string ones = AnalyseSum("300 x 1");
  EXPECT_TRUE(Has(ones, "\"terms\":300"));
  EXPECT_TRUE(Has(ones, "\"short\":\"256\"")) << ones;  // bf16 stalls
  EXPECT_TRUE(Has(AnalyseSum("3 x 0.1 0.2"), "\"text\":\"0.5\""));
  EXPECT_TRUE(Has(AnalyseSum("1, -1"), "\"condition\":\"inf\""));
  // The widest numbers: nothing is cut off.
  EXPECT_TRUE(Has(AnalyseSum("1e1200 1e-1200 -1e1200"),
                  "\"exact\":{\"text\":\"1e-1200\",\"complete\":true}"));
  EXPECT_TRUE(Has(AnalyseSum("1e1200 1e-1200 0.3 1e-1200 -1e1200 -0.3"),
                  "\"exact\":{\"text\":\"2e-1200\",\"complete\":true}"));
  EXPECT_EQ(ExactOf("1e1200 + 1e-1200 - 1e1200"), "1e-1200");
  EXPECT_TRUE(Has(AnalyseSum(""), "no number"));
  EXPECT_TRUE(Has(AnalyseSum("1, two"), "\\\"two\\\" is not a number"));
  EXPECT_TRUE(Has(AnalyseSum("5000 x 1"), "repetition goes from 1 to 4096"));
  EXPECT_TRUE(Has(AnalyseSum("4000 x 1, 4000 x 1"), "at most 4096"));
}

TEST(CalculatorTest, SoftmaxShowsWhichFormatsFail) {
  const std::string json = AnalyseSoftmax("100, 99, 90");
  EXPECT_TRUE(Has(json, "\"logits\":[\"100\",\"99\",\"90\"]"));
  EXPECT_TRUE(
      Has(json, "\"exact\":{\"shares\":[\"0.731\",\"0.2689\",\"0.00003319\"],\"loss\":\"0.3133\""))
      << json;
  EXPECT_TRUE(Has(json,
                  "{\"name\":\"f32\",\"naive\":{\"shares\":[\"nan\",\"nan\",\"nan\"],\"loss\":"
                  "\"nan\",\"bad\":true},\"stable\":{\"shares\":[\"0.731\",\"0.2689\",\"0."
                  "00003319\"],\"loss\":\"0.3133\",\"bad\":false}}"))
      << json;
  EXPECT_TRUE(Has(AnalyseSoftmax("0, 2000"), "\"loss\":\"2000\""));
  EXPECT_TRUE(Has(AnalyseSoftmax("0, -300"),
                  "\"exact\":{\"shares\":[\"1\",\"5.148e-131\"],\"loss\":\"5.148e-131\""))
      << AnalyseSoftmax("0, -300");
  // Among the subnormals of f64, and below them.
  EXPECT_TRUE(Has(AnalyseSoftmax("0, -740"),
                  "\"exact\":{\"shares\":[\"1\",\"4.189e-322\"],\"loss\":\"4.189e-322\""))
      << AnalyseSoftmax("0, -740");
  EXPECT_TRUE(Has(AnalyseSoftmax("0, -800"),
                  "\"exact\":{\"shares\":[\"1\",\"3.668e-348\"],\"loss\":\"3.668e-348\""))
      << AnalyseSoftmax("0, -800");
  EXPECT_TRUE(Has(AnalyseSoftmax("1 2 3 4 5 6 7 8 9"), "at most 8"));
  EXPECT_TRUE(Has(AnalyseSoftmax("x"), "not a number"));
}

}  // namespace
}  // namespace assay::numerical_pitfalls
