// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/predicate.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace assay::lab {
namespace {

absl::StatusOr<Operand> Scope(std::string_view name) {
  if (name == "a") return Operand::Number(3);
  if (name == "b") return Operand::Number(-0.5);
  if (name == "nan") return Operand::Number(std::numeric_limits<double>::quiet_NaN());
  if (name == "yes") return Operand::Bool(true);
  if (name == "word") return Operand::Text("bf16");
  if (name == "t.x") return Operand::Numbers({1, 2, 3, 4});
  if (name == "t.y") return Operand::Numbers({2, 4, 6, 8});
  if (name == "t.one") return Operand::Numbers({5});
  if (name == "t.none") return Operand::Numbers({});
  if (name == "t.gap") return Operand::Numbers({1, std::numeric_limits<double>::quiet_NaN(), 3});
  if (name == "t.names")
    return Operand{.kind = Operand::Kind::kText, .is_array = true, .texts = {"f16", "bf16"}};
  return absl::NotFoundError("there is no figure " + std::string(name));
}

// "true", "false" or the error.
std::string Decide(std::string_view text) {
  const auto predicate = Predicate::Parse(text);
  if (!predicate.ok()) return std::string(predicate.status().message());
  const auto verdict = predicate->Evaluate(&Scope);
  if (!verdict.ok()) return std::string(verdict.status().message());
  return verdict->holds ? "true" : "false";
}

TEST(PredicateTest, DecidesWhatItSays) {
  const std::vector<std::string> truths = {
      "a == 3",
      "a >= 3 and b < 0",
      "not (a < 3)",
      "not a < 3 and yes",
      "yes or a / 0 < 1",
      "a + 2 * b == 2",
      "(a + 2) * b == -2.5",
      "2 - 1 - 1 == 0",
      "8 / 4 / 2 == 1",
      "-a == 0 - 3",
      "- - a == 3",
      "1e-3 == 0.001",
      "1 < a < 4",
      "not (1 < a < 2)",
      "a != 2",
      "word == \"bf16\"",
      "word != \"f16\"",
      "yes == true",
      "not yes == false",
      "min(t.x) == 1 and max(t.x) == 4",
      "min(a, b, 7) == -0.5 and max(a, b) == 3",
      "sum(t.x) == 10 and mean(t.x) == 2.5 and median(t.x) == 2.5 and median(t.one) == 5",
      "sum(t.none) == 0 and len(t.none) == 0 and all(t.none > 1) and not any(t.none > 1)",
      "count(t.x > 2) == 2",
      "all(t.y == 2 * t.x) and all(t.y - t.x == t.x)",
      "any(t.x == 3) and not any(t.x == 5)",
      "at(t.y, 2) == 6 and first(t.y) == 2 and last(t.y) == 8 and len(t.y) == 4",
      "last(t.names) == \"bf16\" and any(t.names == \"f16\")",
      "log2(8) == 3 and log2(0.125) == -3 and abs(log2(10) - 3.321928094887362) < 1e-14",
      "sqrt(16) == 4 and abs(b) == 0.5 and all(abs(0 - t.x) == t.x)",
      "nan != nan and not nan == nan and not nan < 1 and not nan >= 1",
      "max(t.gap) != max(t.gap) and median(t.gap) != 0",
      "a / 0 > 1e308 and -a / 0 < -1e308",
      "\ta==3\n",
  };
  for (const std::string& text : truths) {
    EXPECT_EQ(Decide(text), "true") << text;
    EXPECT_EQ(Decide("not (" + text + ")"), "false") << text;
  }
}

TEST(PredicateTest, SaysWhereAndWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "column 1: expected a value, found the end"},
      {"a >=", "column 5: expected a value, found the end"},
      {"a 3", "column 3: expected the end or an operator, found '3'"},
      {"a = 3", "column 3: '=' has no meaning here; equality is =="},
      {"a == 3 && yes", "column 8: '&' has no meaning here; use the words and, or, not"},
      {"(a == 3", "column 8: expected ')', found the end"},
      {"a == 3)", "column 7: expected the end or an operator, found ')'"},
      {"a == 1.2.3", "column 6: '1.2.3' is not a number"},
      {"a == 3x", "column 6: '3' is not a number"},
      {"a == 1e", "column 6: '1e' is not a number"},
      {"word == \"bf16", "column 9: the text has no closing quote"},
      {"medain(t.x) > 1", "column 1: there is no function 'medain'; did you mean 'median'?"},
      {"sqrt(1, 2) > 1", "column 1: sqrt takes 1 value, 2 are given"},
      {"at(t.x) > 1", "column 1: at takes 2 values, 1 are given"},
      {"t. > 1", "column 4: expected the name of a column of t, found '>'"},
      {"and", "column 1: expected a value, found 'and'"},
      {"c > 1", "column 1: there is no figure c"},
      {"a == 3 and t.z > 1", "column 12: there is no figure t.z"},
      {"a", "column 1: a predicate comes to one truth value, this one to a number"},
      {"t.x > 1",
       "column 1: a predicate comes to one truth value, this one to an array of truth values; use "
       "all(...) or any(...)"},
      {"t.x > t.one", "column 1: the sides of '>' have 4 and 1 values"},
      {"a > yes", "column 1: '>' cannot compare a number with a truth value"},
      {"word > \"a\"", "column 1: '>' cannot compare a text with a text"},
      {"word + 1 > 0", "column 1: '+' wants numbers, found a text"},
      {"not a", "column 1: not wants a truth value, found a number"},
      {"-yes == 1", "column 1: - wants a number, found a truth value"},
      {"yes and t.x > 1",
       "column 9: 'and' wants one truth value on each side (all and any make one of many), found "
       "an array of truth values"},
      {"at(t.x, 4) > 1", "column 1: there is no element 4 among 4"},
      {"at(t.x, 0.5) > 1", "column 1: there is no element 0.5 among 4"},
      {"at(t.x, nan) > 1", "column 1: there is no element NaN among 4"},
      {"last(t.none) > 1", "column 1: there is no element -1 among 0"},
      {"max(t.none) > 1", "column 1: max of an empty array"},
      {"max(a) > 1", "column 1: max wants an array, found a number"},
      {"max(a, t.x) > 1",
       "column 1: max of several values wants scalars, found an array of numbers"},
      {"count(t.x) > 1",
       "column 1: count wants an array of truth values, found an array of numbers"},
      {"len(a) > 1", "column 1: len wants an array, found a number"},
      {"sum(t.names) > 1", "column 1: sum wants numbers, found an array of texts"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(Decide(text), message) << text;
}

TEST(PredicateTest, ListsItsNames) {
  const auto predicate = Predicate::Parse("a > 1 and max(t.x) < a and \"b\" == word");
  ASSERT_TRUE(predicate.ok());
  EXPECT_EQ(predicate->names(), (std::vector<std::string>{"a", "t.x", "word"}));
}

TEST(PredicateTest, ShowsItsEvidence) {
  const auto predicate = Predicate::Parse("a / b <= -6 and all(t.x < 4)");
  ASSERT_TRUE(predicate.ok());
  const auto verdict = predicate->Evaluate(&Scope);
  ASSERT_TRUE(verdict.ok());
  EXPECT_FALSE(verdict->holds);
  ASSERT_EQ(verdict->evidence.size(), 2u);
  EXPECT_EQ(verdict->evidence[0].left, "a / b");
  EXPECT_EQ(verdict->evidence[0].left_value, "-6");
  EXPECT_TRUE(verdict->evidence[0].holds);
  EXPECT_EQ(verdict->evidence[1].left_value, "4 values, 1 to 4");
  EXPECT_FALSE(verdict->evidence[1].holds);
}

TEST(PredicateTest, CallsAMarginNarrow) {
  const auto predicate = Predicate::Parse("a > 2.9");
  EXPECT_FALSE(predicate->Evaluate(&Scope, 0)->narrow);
  EXPECT_FALSE(predicate->Evaluate(&Scope, 0.03)->narrow);
  EXPECT_TRUE(predicate->Evaluate(&Scope, 0.04)->narrow);
  EXPECT_FALSE(
      Predicate::Parse("a > 3.1")->Evaluate(&Scope, 0.5)->narrow);  // it fails: not even narrowly
}

TEST(PredicateTest, LimitsLengthAndDepth) {
  EXPECT_NE(Decide(std::string(101, '(') + "yes" + std::string(101, ')')).find("100 levels"),
            std::string::npos);
  EXPECT_EQ(Decide(std::string(99, '(') + "yes" + std::string(99, ')')), "true");
  EXPECT_NE(Decide(std::string(1000, '-') + "a == 3").find("100 levels"), std::string::npos);
  std::string nots;
  for (int i = 0; i < 500; ++i) nots += "not ";
  EXPECT_NE(Decide(nots + "yes").find("100 levels"), std::string::npos);
  std::string ands = "yes";
  for (int i = 0; i < 301; ++i) ands += " and yes";
  EXPECT_NE(Decide(ands).find("300 operators"), std::string::npos);
  EXPECT_NE(Decide(std::string(5000, ' ')).find("4,000 characters"), std::string::npos);
  std::string calls;
  for (int i = 0; i < 500; ++i) calls += "abs(";
  EXPECT_NE(Decide(calls).find("100 levels"), std::string::npos);
}

// Random texts out of the language's own pieces, and random bytes: every one gives a verdict or an
// error that names a column inside the text.
TEST(PredicateTest, SurvivesWhateverItIsGiven) {
  const std::vector<std::string> pieces = {
      "a",    "b",     "nan",   "yes",    "word",    "t.x",  "t.y",   "t.names", "t.none", "1",
      "2.5",  "1e300", "\"x\"", "(",      ")",       ",",    ".",     "+",       "-",      "*",
      "/",    "<",     "<=",    "==",     "!=",      ">",    ">=",    " and ",   " or ",   " not ",
      "max(", "all(",  "at(",   "count(", "median(", "len(", "log2(", "true",    " "};
  uint64_t state = 1;
  const auto next = [&state](uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  int decided = 0, refused = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string text;
    const uint64_t length = 1 + next(14);
    for (uint64_t k = 0; k < length; ++k) {
      if (i % 5 == 4) {
        text.push_back(static_cast<char>(next(256)));
      } else {
        text += pieces[next(pieces.size())];
      }
    }
    const std::string outcome = Decide(text);
    if (outcome == "true" || outcome == "false") {
      ++decided;
      continue;
    }
    ++refused;
    ASSERT_EQ(outcome.rfind("column ", 0), 0u) << text << ": " << outcome;
    const size_t column = static_cast<size_t>(std::stoul(outcome.substr(7)));
    ASSERT_GE(column, 1u);
    ASSERT_LE(column, text.size() + 1) << text << ": " << outcome;
  }
  EXPECT_GT(decided, 100);
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace assay::lab
