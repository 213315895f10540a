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

TEST(CalculatorTest, NaNHasOnePatternEverywhere) {
  EXPECT_TRUE(Has(AnalyseSum("1e6, -1e6, 1e6, -1e6"), "\"bits\":\"0111111000000000\""));
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
  EXPECT_TRUE(Has(AnalyseSum(std::string(301, '1')), "more than 300"));
  EXPECT_TRUE(Has(AnalyseSum("1\"\x01"), "\\\""));
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
