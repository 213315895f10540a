// SPDX-License-Identifier: Apache-2.0
#include "numerics/flops/expression.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace assay::flops {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

const Polynomial kB = Symbol::kBatch;
const Polynomial kD = Symbol::kWidth;
const Polynomial kF = Symbol::kHidden;

TEST(PolynomialTest, PrintsTermsInOrderOfTheirSymbols) {
  EXPECT_EQ((kF * kD * 2 * kB).ToText(), "2 B d d_ff");
  EXPECT_EQ((Polynomial(3) + kD + kB * kD * kD).ToText(), "B d^2 + d + 3");
  EXPECT_EQ(Polynomial().ToText(), "0");
  EXPECT_EQ(Polynomial(1).ToText(), "1");
  EXPECT_EQ((kD * Polynomial()).ToText(), "0");
}

TEST(PolynomialTest, CollectsEqualTerms) {
  EXPECT_EQ((kB + kD) * (kB + kD), kB * kB + Polynomial(2) * kB * kD + kD * kD);
  EXPECT_EQ(kB + kB, Polynomial(2) * kB);
  EXPECT_TRUE((kB * 0).IsZero());
  EXPECT_FALSE(kB == kD);
}

TEST(PolynomialTest, GivesTokensWithSubscriptsAndPowers) {
  const std::vector<Polynomial::Token> tokens = (Polynomial(2) * kF * kF + 1).Tokens();
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0].text, "2");
  EXPECT_EQ(tokens[1].text, "d");
  EXPECT_EQ(tokens[1].subscript, "ff");
  EXPECT_EQ(tokens[1].power, 2);
  EXPECT_EQ(tokens[2].kind, Polynomial::Token::Kind::kPlus);
  EXPECT_EQ(tokens[3].text, "1");
}

TEST(PolynomialTest, EvaluatesAsItsFactorsDo) {
  Values values;
  for (int s = 0; s < kSymbols; ++s) values[static_cast<Symbol>(s)] = 2 * s + 3;
  for (int s = 0; s < kSymbols; ++s) {
    const Symbol a = static_cast<Symbol>(s);
    const Symbol b = static_cast<Symbol>((s + 5) % kSymbols);
    const Polynomial p = Polynomial(7) * a * a * b + Polynomial(b) + 11;
    EXPECT_EQ(*p.Evaluate(values, "p"), 7 * values[a] * values[a] * values[b] + values[b] + 11);
  }
}

TEST(PolynomialTest, ReportsWhatIsBeyond63Bits) {
  Values values;
  values[Symbol::kBatch] = kMax;
  values[Symbol::kWidth] = 2;
  EXPECT_EQ(*kB.Evaluate(values, "x"), kMax);
  for (const Polynomial& p : {kB * 2, kB + 1, kB * kB, kB * kD, kB + kD}) {
    const auto result = p.Evaluate(values, "flop of the thing");
    EXPECT_EQ(result.status().code(), absl::StatusCode::kOutOfRange) << p.ToText();
    EXPECT_NE(result.status().ToString().find("flop of the thing"), std::string::npos);
  }
  values[Symbol::kWidth] = 0;  // 0 times what does not fit
  EXPECT_EQ(*(kB * kB * kD).Evaluate(values, "x"), 0);
  EXPECT_EQ(*(kB * kD * kB + kB).Evaluate(values, "x"), kMax);
}

TEST(CheckedTest, StopsAt63Bits) {
  EXPECT_EQ(*CheckedAdd(kMax - 1, 1, "x"), kMax);
  EXPECT_FALSE(CheckedAdd(kMax, 1, "x").ok());
  EXPECT_EQ(*CheckedMultiply(int64_t{1} << 31, int64_t{1} << 31, "x"), int64_t{1} << 62);
  EXPECT_FALSE(CheckedMultiply(int64_t{1} << 31, int64_t{1} << 32, "x").ok());
}

TEST(SymbolTest, AllHaveDifferentNamesAndAMeaning) {
  for (int s = 0; s < kSymbols; ++s) {
    EXPECT_FALSE(SymbolMeaning(static_cast<Symbol>(s)).empty());
    for (int t = 0; t < s; ++t) {
      EXPECT_NE(SymbolName(static_cast<Symbol>(s)), SymbolName(static_cast<Symbol>(t)));
    }
  }
}

}  // namespace
}  // namespace assay::flops
