// SPDX-License-Identifier: Apache-2.0
#include "web/articles/numerical-pitfalls/explorer.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "numerics/floating/anatomy.h"

namespace assay::numerical_pitfalls {
namespace {

bool Has(const std::string& json, std::string_view part) {
  return json.find(part) != std::string::npos;
}

std::string AnalyseExpression(std::string_view text, std::string_view values = "") {
  return Explore(text, values, {});
}

// The "exact" of an expression.
std::string ExactOf(std::string_view text) {
  const std::string json = AnalyseExpression(text);
  const std::string head = "\"exact\":{\"text\":\"";
  const size_t at = json.find(head);
  if (at == std::string::npos) return json;
  return json.substr(at + head.size(), json.find('"', at + head.size()) - at - head.size());
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

TEST(ExplorerTest, ComputesExactlyAndInEachFormat) {
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

TEST(ExplorerTest, NaNHasOnePatternEverywhere) {
  const std::string json = AnalyseExpression("1e6 - 1e6 + 0 / 0");
  EXPECT_TRUE(Has(json, "\"bits\":\"0111111000000000\"")) << json;
}

TEST(ExplorerTest, RoundsOncePerOperation) {
  // 1 + 2^-11 is a tie in f16, the tail 2^-40 breaks it: only a direct rounding sees it.
  EXPECT_EQ(ShortOf("1.0004882812509", "f16"), "1.001");
  EXPECT_EQ(ShortOf("1.00048828125", "f16"), "1");
  EXPECT_EQ(ShortOf("1 / 10", "f32"), "0.1");
}

TEST(ExplorerTest, RootsExponentialsAndLogarithms) {
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

TEST(ExplorerTest, LogarithmsNearOneKeepTheirDigits) {
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

TEST(ExplorerTest, CountsKeptDigitsAndConditions) {
  const std::string json = AnalyseExpression("(1e8 + 1) - 1e8");
  EXPECT_TRUE(Has(json, "\"text\":\"1e8 + 1\"")) << json;
  EXPECT_TRUE(Has(json, "\"amplifies\":\"2e8\"")) << json;
  EXPECT_TRUE(Has(AnalyseExpression("0.5"), "\"kept\":-1"));
  // 0.1 in f32 is off by 1.5e-8: seven digits and the eighth by luck do not count.
  EXPECT_TRUE(Has(AnalyseExpression("0.1"), "\"kept\":7,\"error\":\"1.5e-8\""))
      << AnalyseExpression("0.1");
  EXPECT_TRUE(
      Has(AnalyseExpression("0.1"), "\"digits\":\"100000001490116119384765625\",\"exponent\":-1"));
  EXPECT_TRUE(Has(AnalyseExpression("1234.5"), "\"digits\":\"12345\",\"exponent\":3"));
  EXPECT_TRUE(Has(AnalyseExpression("1e-310"), "\"kind\":\"subnormal\""));
}

TEST(ExplorerTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(AnalyseExpression(""),
            "{\"error\":\"expected a number, a variable or a function at character 1\"}");
  EXPECT_EQ(
      AnalyseExpression("1 2"),
      "{\"error\":\"expected an operator or the end at character 3, where it says \\\"2\\\"\"}");
  EXPECT_TRUE(Has(AnalyseExpression("1\"\x01"), "\\\""));
  EXPECT_TRUE(Has(AnalyseExpression("x", "x"), "expected a value like x = 1e12"));
  EXPECT_TRUE(
      Has(AnalyseExpression("x", "x = two"), "the value of x, \\\"two\\\", is not a number"));
  EXPECT_TRUE(Has(Explore("x", "", {.low = 3, .high = 3}), "must rise"));
  EXPECT_TRUE(Has(Explore("x", "", {.low = -301, .high = 3}), "must rise"));
}

TEST(ExplorerTest, AsksForNoMoreThanItCanHave) {
  EXPECT_EQ(ExactOf("1e999999999 * 2"), "2e999999999");
  EXPECT_EQ(ExactOf("9^9^9^9"), "inf");
  EXPECT_EQ(ShortOf("exp(5000)", "f64"), "inf");
  EXPECT_EQ(ExactOf("exp(5000)"), "2.9676283840236670689663e2171");
}

TEST(ExplorerTest, SaysWhatIsNotKnown) {
  const auto exact = [](std::string_view text, std::string_view values, std::string_view expected) {
    const std::string json = AnalyseExpression(text, values);
    EXPECT_TRUE(Has(json, "\"exact\":{\"text\":" + std::string(expected) + "}")) << json;
  };
  exact("1/exp(exp(100))+x", "x=2", R"("2","complete":true)");
  exact("atan(exp(exp(x)))", "x=100", R"("1.57079632679489661923132","complete":false)");
  exact("exp(exp(100))", "", R"("inf","complete":false)");
  exact("-exp(1e300)", "", R"("-inf","complete":false)");
  exact("1/exp(1e300)", "", R"("0","complete":false)");
  exact("log(exp(exp(100)))", "", R"("unknown","complete":false)");
  exact("1/0", "", R"("inf","complete":true)");
  EXPECT_TRUE(Has(AnalyseExpression("x", "x=1e999999999999999999"), "is too large"));
}

TEST(ExplorerTest, VariablesAreStoredByEachFormat) {
  const std::string json = AnalyseExpression("sqrt(x + 1) - sqrt(x)", "x = 1e12");
  EXPECT_TRUE(Has(json, "\"text\":\"sqrt(x + 1) - sqrt(x)\"")) << json;
  // 4.999999999998750000000000625e-7, of which 24 digits are shown.
  EXPECT_TRUE(Has(json, "\"exact\":{\"text\":\"0.000000499999999999875\",\"complete\":false}"))
      << json;
  EXPECT_TRUE(
      Has(json, "\"variables\":[{\"name\":\"x\",\"value\":\"1e12\",\"condition\":\"0.5\"}]"));
  EXPECT_TRUE(Has(json, "\"condition\":\"0.5\""));
  // f16 cannot hold it: its NaN is wrong, whatever the root of infinity may be.
  EXPECT_TRUE(Has(json, "\"stored\":[\"inf\"],\"truth\":{\"text\":\"0.000000499999999999875\""));
  EXPECT_TRUE(Has(json, "\"stored\":[\"1000000000000\"]"));  // f64
  // The subtraction amplifies, the root before it is to blame.
  EXPECT_TRUE(Has(json, "\"amplifies\":\"4e12\"")) << json;
  EXPECT_TRUE(Has(json, "\"3.6e10\"]")) << json;
  EXPECT_TRUE(Has(json, "\"ulps\":\"3.6e10\"")) << json;
}

TEST(ExplorerTest, OffersAStableFormWithItsErrors) {
  const std::string json = AnalyseExpression("sqrt(x + 1) - sqrt(x)", "x = 1e12");
  EXPECT_TRUE(
      Has(json,
          "\"rewrite\":{\"text\":\"1 / (sqrt(x + 1) + sqrt(x))\",\"by\":[{\"rule\":\"conjugate\","))
      << json;
  EXPECT_TRUE(Has(AnalyseExpression("x + 1", "x=2"), "\"rewrite\":null"));
  // In f32 the plain form of this is good enough at 1, and bad at 1e-4.
  EXPECT_TRUE(Has(Explore("log(1 + x)", "x=1e-4", {.format = floating::Format::kF32}),
                  "\"text\":\"log1p(x)\""));
}

TEST(ExplorerTest, DrawsErrorsOverOneVariable) {
  const std::string json = Explore("x * y - x", "x=2,y=3", {.axis = "y", .low = -3, .high = 3});
  EXPECT_TRUE(
      Has(json,
          "\"curve\":{\"variable\":\"y\",\"low\":-3,\"high\":3,\"negative\":false,\"original\":[["))
      << json;
  const size_t from = json.find("\"condition\":[");
  int commas = 0;
  for (size_t i = from; json[i] != ']'; ++i) commas += json[i] == ',' ? 1 : 0;
  EXPECT_EQ(commas, kCurvePoints - 1);
  EXPECT_TRUE(Has(AnalyseExpression("1 + 2"), "\"curve\":null"));
}

}  // namespace
}  // namespace assay::numerical_pitfalls
