// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/manifest.h"

#include <string>

#include "gtest/gtest.h"

namespace assay::lab {
namespace {

Json Valid() {
  return {{"title", "T"},
          {"kind", "lab"},
          {"summary", "S."},
          {"date", "2026-11-30"},
          {"rooms", {"numerics/fft"}},
          {"data",
           {{{"name", "images"},
             {"path", "external/x/y.gz"},
             {"gunzip", true},
             {"slice", {16, 116}},
             {"source", "X"}}}},
          {"shown", {{"error", {{"digits", 3}}}, {"t.y", {{"digits", 2}}}}},
          {"claims",
           {{{"id", "c1"},
             {"text", "Small."},
             {"predicate", "error < 1"},
             {"margin", 0.1},
             {"on", {"h200"}}}}},
          {"charts",
           {{{"id", "p"},
             {"title", "T"},
             {"table", "t"},
             {"mark", "line"},
             {"x", "x"},
             {"y", {"y"}},
             {"alt", "A. B."}}}},
          {"native_only", {{"error", "too large"}}},
          {"budgets", {{"wasm_kib", 80}}}};
}

std::string Message(const Json& document) {
  return std::string(ParseManifest(document.dump(), "lab.json").status().message());
}

TEST(ManifestTest, ReadsEverything) {
  const auto manifest = ParseManifest(Valid().dump(), "lab.json");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->data[0].slice->second, 116);
  EXPECT_TRUE(manifest->data[0].gunzip);
  EXPECT_EQ(manifest->digits.at("t.y"), 2);
  EXPECT_EQ(manifest->claims[0].on, std::vector<std::string>{"h200"});
  EXPECT_EQ(manifest->claims[0].margin, 0.1);
  EXPECT_TRUE(CheckNames(*manifest, {"error", "t", "t.x", "t.y"}, false, "lab.json").ok());
}

TEST(ManifestTest, NamesTheFirstMistake) {
  Json document = Valid();
  document["sumary"] = "S.";
  EXPECT_EQ(Message(document),
            "lab.json: the document: unknown key \"sumary\"; did you mean \"summary\"?");
  document = Valid();
  document["claims"][0]["predicat"] = "x";
  EXPECT_EQ(Message(document),
            "lab.json: claims[0]: unknown key \"predicat\"; did you mean \"predicate\"?");
  document = Valid();
  document["claims"][0]["predicate"] = "error <";
  EXPECT_EQ(Message(document),
            "lab.json: claim c1: predicate 'error <': column 8: expected a value, found the end");
  document = Valid();
  document["claims"].push_back(document["claims"][0]);
  EXPECT_EQ(Message(document), "lab.json: claims: the id \"c1\" is used twice");
  document = Valid();
  document["data"][0]["slice"] = {5, 4};
  EXPECT_EQ(Message(document), "lab.json: the slice of the data \"images\" ends before it begins");
  document = Valid();
  document.erase("claims");
  EXPECT_EQ(Message(document), "lab.json: the document: the key \"claims\" is missing");
  document = Valid();
  document["date"] = "30.11.2026";
  EXPECT_NE(Message(document), "");
  EXPECT_EQ(std::string(ParseManifest("{", "lab.json").status().message()).substr(0, 9),
            "lab.json:");
}

TEST(ManifestTest, NamesFiguresThatAreNotThere) {
  const auto manifest = ParseManifest(Valid().dump(), "lab.json");
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(CheckNames(*manifest, {"eror", "t", "t.x", "t.y"}, false, "lab.json").message(),
            "lab.json: shown names error, which the lab does not report; did you mean eror?");
  EXPECT_EQ(CheckNames(*manifest, {"error", "t", "t.z", "t.y"}, false, "lab.json").message(),
            "lab.json: chart p names t.x, which the lab does not report; did you mean t.z?");
  Json document = Valid();
  document.erase("shown");
  document.erase("charts");
  document.erase("native_only");
  document["claims"][0]["predicate"] = "median(timing) < 1";
  const auto timed = ParseManifest(document.dump(), "lab.json");
  ASSERT_TRUE(timed.ok());
  EXPECT_TRUE(CheckNames(*timed, {}, true, "f").ok());  // it may be a timing
  EXPECT_FALSE(CheckNames(*timed, {}, false, "f").ok());
}

}  // namespace
}  // namespace assay::lab
