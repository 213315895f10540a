// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/schema.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace assay::lab {
namespace {

const Json kSchema = {
    {"type", "object"},
    {"additionalProperties", false},
    {"required", {"name"}},
    {"properties",
     {{"name", {{"type", "string"}, {"pattern", "^[a-z]+$"}, {"minLength", 2}}},
      {"kind", {{"enum", {"one", "two"}}}},
      {"version", {{"const", 1}}},
      {"count", {{"type", "integer"}, {"minimum", 0}, {"maximum", 9}}},
      {"ratio", {{"type", "number"}}},
      {"either", {{"type", {"string", "boolean"}}}},
      {"list",
       {{"type", "array"},
        {"minItems", 1},
        {"maxItems", 2},
        {"items", {{"$ref", "#/$defs/item"}}}}},
      {"map", {{"type", "object"}, {"additionalProperties", {{"type", "integer"}}}}}}},
    {"$defs",
     {{"item",
       {{"type", "object"},
        {"required", {"id"}},
        {"properties", {{"id", {{"type", "string"}}}}}}}}}};

std::string Violation(const Json& document) {
  return std::string(CheckAgainst(kSchema, document, "f.json").message());
}

TEST(SchemaTest, AcceptsWhatFits) {
  EXPECT_EQ(Violation({{"name", "ab"}}), "");
  EXPECT_EQ(Violation({{"name", "ab"},
                       {"kind", "two"},
                       {"version", 1},
                       {"count", 9},
                       {"ratio", 0.5},
                       {"either", true},
                       {"list", {{{"id", "x"}, {"more", 1}}}},
                       {"map", {{"a", 1}}}}),
            "");
  EXPECT_EQ(Violation({{"name", "ab"}, {"ratio", 2}, {"either", "x"}}), "");
}

TEST(SchemaTest, NamesWhatDoesNot) {
  EXPECT_EQ(Violation(Json::array()), "f.json: the document: expected object, found []");
  EXPECT_EQ(Violation({{"kind", "one"}}), "f.json: the document: the key \"name\" is missing");
  EXPECT_EQ(Violation({{"name", "A"}}), "f.json: name: the text is too short");
  EXPECT_EQ(Violation({{"name", "AB"}}), "f.json: name: \"AB\" is not of the form ^[a-z]+$");
  EXPECT_EQ(Violation({{"name", "ab"}, {"kind", "three"}}),
            "f.json: kind: expected one of [\"one\",\"two\"], found \"three\"");
  EXPECT_EQ(Violation({{"name", "ab"}, {"version", 2}}), "f.json: version: expected 1, found 2");
  EXPECT_EQ(Violation({{"name", "ab"}, {"count", -1}}), "f.json: count: -1 is less than 0");
  EXPECT_EQ(Violation({{"name", "ab"}, {"count", 10}}), "f.json: count: 10 is more than 9");
  EXPECT_EQ(Violation({{"name", "ab"}, {"count", 1.5}}),
            "f.json: count: expected integer, found 1.5");
  EXPECT_EQ(Violation({{"name", "ab"}, {"either", 3}}),
            "f.json: either: expected string or boolean, found 3");
  EXPECT_EQ(Violation({{"name", "ab"}, {"list", Json::array()}}),
            "f.json: list: expected at least 1 items, found 0");
  EXPECT_EQ(Violation({{"name", "ab"}, {"list", {1, 2, 3}}}),
            "f.json: list: expected at most 2 items, found 3");
  EXPECT_EQ(Violation({{"name", "ab"}, {"list", {{{"di", 1}}}}}),
            "f.json: list[0]: the key \"id\" is missing");
  EXPECT_EQ(Violation({{"name", "ab"}, {"map", {{"a", "b"}}}}),
            "f.json: map.a: expected integer, found \"b\"");
  EXPECT_EQ(Violation({{"name", "ab"}, {"cuont", 3}}),
            "f.json: the document: unknown key \"cuont\"; did you mean \"count\"?");
  EXPECT_NE(Violation({{"name", "ab"}, {"zzzzzz", 3}}).find("known are count, either"),
            std::string::npos);
}

TEST(SchemaTest, MatchesPatterns) {
  const auto matches = [](const char* pattern, const std::string& text) {
    return CheckAgainst({{"pattern", pattern}}, text, "f");
  };
  for (const auto& [pattern, text] :
       std::vector<std::pair<const char*, const char*>>{{"^[a-z][a-z0-9_]*$", "a"},
                                                        {"^[a-z][a-z0-9_]*$", "a_9z"},
                                                        {"^[0-9]{4}-[0-9]{2}$", "2026-11"},
                                                        {"^0x[0-9a-f]{2,4}$", "0xabc"},
                                                        {"^[a-c]*c$", "abcc"},
                                                        {"^[a-z0-9-]+$", "a-b"},
                                                        {"^$", ""},
                                                        {"^[a-b-]$", "-"}}) {
    EXPECT_TRUE(matches(pattern, text).ok()) << pattern << " " << text;
  }
  for (const auto& [pattern, text] :
       std::vector<std::pair<const char*, const char*>>{{"^[a-z][a-z0-9_]*$", ""},
                                                        {"^[a-z][a-z0-9_]*$", "9"},
                                                        {"^[a-z][a-z0-9_]*$", "aB"},
                                                        {"^[0-9]{4}-[0-9]{2}$", "2026-1"},
                                                        {"^0x[0-9a-f]{2,4}$", "0xabcde"},
                                                        {"^0x[0-9a-f]{2,4}$", "0xa"},
                                                        {"^[a-z]+$", ""},
                                                        {"^[a-c]*c$", "aba"},
                                                        {"^$", "a"}}) {
    EXPECT_EQ(matches(pattern, text).code(), absl::StatusCode::kInvalidArgument)
        << pattern << " " << text;
  }
  for (const char* pattern :
       {"a", "^a", "^(a|b)$", "^a?$", "^.$", "^[a$", "^a{$", "^a{,2}$", "^a{1$", "^\\d$", "^*$"}) {
    EXPECT_EQ(matches(pattern, "a").code(), absl::StatusCode::kInternal) << pattern;
  }
}

TEST(SchemaTest, LooksAtLongTextsWithoutRecursion) {
  EXPECT_NE(Violation({{"name", std::string(1000000, 'a')}}), "");
}

TEST(SchemaTest, RefusesKeywordsItDoesNotKnow) {
  EXPECT_EQ(
      CheckAgainst({{"type", "object"}, {"oneOf", Json::array()}}, Json::object(), "f").code(),
      absl::StatusCode::kInternal);
  EXPECT_EQ(CheckAgainst({{"$ref", "#/$defs/none"}}, Json::object(), "f").code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(
      CheckAgainst({{"$ref", "elsewhere"}, {"$defs", Json::object()}}, Json::object(), "f").code(),
      absl::StatusCode::kInternal);
}

// Each sub-schema of ours uses only keywords that are checked: a misspelt one would check nothing.
void VisitSchema(const Json& schema, const Json& root, int& count) {
  if (!schema.is_object()) return;
  ++count;
  Json probe = schema;
  probe["$defs"] = root.value("$defs", Json::object());
  EXPECT_NE(CheckAgainst(probe, Json(), "f").code(), absl::StatusCode::kInternal) << schema.dump();
  for (const char* key : {"properties", "$defs"}) {
    if (!schema.contains(key)) continue;
    for (const auto& item : schema[key].items()) VisitSchema(item.value(), root, count);
  }
  for (const char* key : {"items", "additionalProperties"}) {
    if (schema.contains(key)) VisitSchema(schema[key], root, count);
  }
}

TEST(SchemaTest, OurSchemasAreWhole) {
  ASSERT_EQ(Schemas().size(), 5u);
  for (const auto& [id, schema] : Schemas()) {
    EXPECT_TRUE(schema.is_object()) << id;
    int count = 0;
    VisitSchema(schema, schema, count);
    EXPECT_GT(count, 5) << id;
    EXPECT_EQ(CheckAgainstSchema(Json::array(), id, "f").code(), absl::StatusCode::kInvalidArgument)
        << id;
  }
  EXPECT_EQ(CheckAgainstSchema(Json(), "none/1", "f").code(), absl::StatusCode::kInternal);
}

TEST(VersionTest, SaysWhichIsReadAndWhatToDo) {
  EXPECT_TRUE(CheckVersion({{"schema", "records/1"}}, "records/1", "f").ok());
  const std::string other(CheckVersion({{"schema", "records/9"}}, "records/1", "f.json").message());
  EXPECT_NE(other.find("f.json: its schema is records/9; this program reads records/1"),
            std::string::npos)
      << other;
  EXPECT_FALSE(CheckVersion(Json::array(), "records/1", "f").ok());
  EXPECT_FALSE(CheckVersion({{"schema", 1}}, "records/1", "f").ok());
}

}  // namespace
}  // namespace assay::lab
