// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/json.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace assay::lab {
namespace {

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(ParseJsonTest, ReadsWhatIsJson) {
  const auto document =
      ParseJson(R"({"b":[1,-2,3.5,true,null,"x"],"a":{"c":18446744073709551615}})", "f");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ((*document)["b"].size(), 6u);
  EXPECT_EQ((*document)["a"]["c"].get<uint64_t>(), 18446744073709551615u);
}

TEST(ParseJsonTest, SaysWhereItIsNot) {
  EXPECT_EQ(Message(ParseJson("{\"a\": 1,\n \"b\": }", "f.json").status()).substr(0, 23),
            "f.json:2:7: not JSON: s");
  const std::string cut = Message(ParseJson("{\"a\": [1, 2", "f.json").status());
  EXPECT_NE(cut.find("truncated?"), std::string::npos) << cut;
  EXPECT_NE(Message(ParseJson("", "f.json").status()).find("f.json:1:1: not JSON"),
            std::string::npos);
  for (const char* text :
       {"{} {}", "NaN", "[Infinity]", "{a:1}", "[1,]", "\"\xff\"", "01", "// c\n1", "[1 2]"}) {
    EXPECT_FALSE(ParseJson(text, "f").ok()) << text;
  }
}

TEST(ParseJsonTest, RefusesRepeatedKeysAndDepth) {
  EXPECT_NE(Message(ParseJson("{\"a\":1,\"a\":2}", "f").status()).find("\"a\" stands twice"),
            std::string::npos);
  EXPECT_TRUE(ParseJson("[{\"a\":1},{\"a\":2}]", "f").ok());
  EXPECT_TRUE(ParseJson(std::string(64, '[') + std::string(64, ']'), "f").ok());
  EXPECT_NE(Message(ParseJson(std::string(65, '['), "f").status()).find("64 levels"),
            std::string::npos);
  EXPECT_FALSE(ParseJson(std::string(1000000, '['), "f").ok());
}

TEST(CanonicalTextTest, SortsKeysAndEndsWithALineFeed) {
  const Json document = {{"b", {1, 2}}, {"a", "\xc3\xa9\n"}, {"c", Json::object()}};
  EXPECT_EQ(CanonicalText(document),
            "{\n  \"a\": \"\xc3\xa9\\n\",\n  \"b\": [\n    1,\n    2\n  ],\n  \"c\": {}\n}\n");
}

TEST(SealTest, NoticesEveryChange) {
  Json document = {{"x", "1"}, {"y", {{"z", 2}}}};
  Seal(document);
  const std::string text = CanonicalText(document);
  EXPECT_TRUE(CheckSeal(document, text, "f").ok());
  // Any single character replaced: either it is no JSON any more, or the seal is broken.
  int noticed = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    const auto read = ParseJson(changed, "f");
    if (read.ok()) {
      EXPECT_FALSE(CheckSeal(*read, changed, "f").ok()) << changed;
    }
    ++noticed;
  }
  EXPECT_GT(noticed, 80);
  // Equal values in another layout are an edit too.
  const std::string compact = document.dump();
  EXPECT_NE(Message(CheckSeal(*ParseJson(compact, "f"), compact, "f")).find("layout"),
            std::string::npos);
  EXPECT_NE(Message(CheckSeal({{"x", 1}}, "{\"x\": 1}\n", "f.json")).find("git checkout -- f.json"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::lab
