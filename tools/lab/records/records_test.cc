// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/records/records.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/sha256.h"
#include "tools/lab/records/schema.h"

namespace assay::lab {
namespace {

// The knobs of a run that the tests turn.
struct Knobs {
  double sum = 0.5;
  double third_row = 3.5;
  double observed = 1;
  bool extra = false;
  std::string profile = "browser";
  std::string title = "Sum";
};

std::string Report(const Knobs& knobs) {
  static const Knobs* current = nullptr;
  current = &knobs;
  Lab lab;
  lab.slug = "demo";
  lab.run = [](Context& context, assay::lab::Report& report) {
    context.Integer("n", 1, 2, 3);
    report.Exact("sum", current->sum, current->title, "m");
    report.Exact("big", std::numeric_limits<uint64_t>::max(), "Big");
    report.Exact("small", int64_t{4}, "Small");
    report.Exact("flag", true, "Flag");
    report.Exact("nan", std::numeric_limits<double>::quiet_NaN(), "NaN");
    report.Exact("single", 0.1f, "Single");
    report.ExactArray("array", std::vector<int64_t>{1, 2, 3}, "Array");
    if (current->extra) report.Exact("extra", 1.0, "Extra");
    report.Bounded(
        "near", current->sum,
        {.metric = "ulp", .observed = current->observed, .bound = 2, .why = "w", .reference = "r"},
        "Near");
    report.Modelled("model", 2.0, "line", "Model");
    report.Cited("cited", 3.0, {.author = "A", .year = 1, .title = "T", .where = "p", .url = "u"},
                 "Cited");
    Table& table = report.AddTable("rows", "Rows");
    table.Column<int64_t>("k").Column<double>("x", "s").Column<std::string>("name").Column<bool>(
        "odd");
    table.Row(1, 1.5, "plain", true);
    table.Row(2, 2.5, "with, comma and \"quotes\"\nand a line", false);
    table.Row(3, current->third_row, "", true);
    return absl::OkStatus();
  };
  Context::Options options;
  options.profile = *ParseProfile(knobs.profile);
  return *RunToJson(lab, std::move(options));
}

Manifest MakeManifest(const std::string& predicate = "sum < 1") {
  const Json document = {
      {"title", "T"},
      {"kind", "lab"},
      {"summary", "S."},
      {"date", "2026-11-30"},
      {"rooms", {"a/b"}},
      {"shown", {{"sum", {{"digits", 3}}}, {"rows.x", {{"digits", 2}}}}},
      {"claims", {{{"id", "c1"}, {"text", "Small."}, {"predicate", predicate}}}}};
  return *ParseManifest(document.dump(), "lab.json");
}

const Closure kClosure = {.target = "//a:lab", .sha256 = std::string(64, 'c'), .files = 7};

RecordSet Make(const Knobs& knobs = {}, const std::string& predicate = "sum < 1") {
  auto set =
      MakeRecords(*ParseJson(Report(knobs), "report"), MakeManifest(predicate), kClosure, false);
  EXPECT_TRUE(set.ok()) << set.status();
  return *std::move(set);
}

TEST(RecordsTest, ObeyTheirSchemasAndReadBack) {
  const RecordSet set = Make();
  EXPECT_TRUE(CheckAgainstSchema(set.exact, "records/1", "exact").ok());
  EXPECT_TRUE(CheckAgainstSchema(set.bounded, "records/1", "bounded").ok());
  EXPECT_TRUE(CheckAgainstSchema(set.claims, "claims/1", "claims").ok());
  const auto files = set.Files();
  ASSERT_EQ(files.size(), 4u);
  const auto read = ReadRecords(files, "records/browser");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->Files(), files);
  EXPECT_EQ(Make().Files(), files);  // twice the same bytes
  EXPECT_EQ(set.exact["figures"][0]["value"]["shown"], "0.500");
  EXPECT_EQ(set.exact["figures"][0]["value"]["bits"], "0x3fe0000000000000");
  EXPECT_EQ(set.exact["tables"][0]["columns"][1]["digits"], 2);
  EXPECT_EQ(files.at("rows.csv"),
            "k,x,name,odd\n1,1.5,plain,true\n2,2.5,\"with, comma and \"\"quotes\"\"\nand a "
            "line\",false\n3,3.5,,true\n");
}

// Applies `damage` to one file and gives the message of reading the set.
std::string ReadDamaged(const std::string& name, const std::function<void(std::string&)>& damage) {
  auto files = Make().Files();
  damage(files[name]);
  return std::string(ReadRecords(files, "records/browser").status().message());
}

void ExpectMends(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
  EXPECT_EQ(message.rfind("records/browser/", 0), 0u) << message;
  EXPECT_NE(message.find("record"), std::string::npos) << message;
}

TEST(RecordsTest, SayWhatIsDamaged) {
  ExpectMends(ReadDamaged("exact.json", [](std::string& text) { text.resize(text.size() / 2); }),
              "truncated?");
  ExpectMends(ReadDamaged("exact.json", [](std::string& text) { text.clear(); }), "not JSON");
  ExpectMends(ReadDamaged("exact.json",
                          [](std::string& text) { text.replace(text.find("0.5"), 3, "0.6"); }),
              "does not match its seal");
  ExpectMends(
      ReadDamaged("bounded.json",
                  [](std::string& text) { text.replace(text.find("\"line\""), 6, "\"lime\""); }),
      "does not match its seal");
  ExpectMends(ReadDamaged("claims.json",
                          [](std::string& text) { text.replace(text.find("holds"), 5, "fails"); }),
              "does not match its seal");
  ExpectMends(
      ReadDamaged("exact.json",
                  [](std::string& text) { text.replace(text.find("records/1"), 9, "records/2"); }),
      "its schema is records/2; this program reads records/1");
  ExpectMends(
      ReadDamaged("exact.json", [](std::string& text) { text.replace(text.find("  "), 2, "\t"); }),
      "layout");
  ExpectMends(
      ReadDamaged("rows.csv", [](std::string& text) { text.replace(text.find("1.5"), 3, "1.6"); }),
      "SHA-256 is not the recorded one");
  ExpectMends(ReadDamaged("rows.csv", [](std::string& text) { text.pop_back(); }),
              "SHA-256 is not the recorded one");
  auto files = Make().Files();
  files.erase("rows.csv");
  ExpectMends(std::string(ReadRecords(files, "records/browser").status().message()), "missing");
  files = Make().Files();
  files["more.csv"] = "a\n";
  ExpectMends(std::string(ReadRecords(files, "records/browser").status().message()),
              "no table of exact.json owns");
  files.clear();
  EXPECT_EQ(ReadRecords(files, "records/browser").status().code(), absl::StatusCode::kNotFound);
}

TEST(RecordsTest, NoticeEveryFlippedBit) {
  const auto files = Make().Files();
  int flips = 0;
  for (const auto& [name, text] : files) {
    for (size_t i = 0; i < text.size(); i += 7) {
      auto damaged = files;
      damaged[name][i] = static_cast<char>(damaged[name][i] ^ (1 << (i % 8)));
      ASSERT_FALSE(ReadRecords(damaged, "r").ok()) << name << " byte " << i;
      ++flips;
    }
  }
  EXPECT_GT(flips, 500);
}

// Someone who edits a value and seals the file again still has the hashes against them.
TEST(RecordsTest, NoticeAnEditUnderANewSeal) {
  RecordSet set = Make();
  set.exact["figures"][0]["value"]["round_trip"] = "0.6";
  Seal(set.exact);
  EXPECT_NE(ReadRecords(set.Files(), "r").status().message().find("do not agree"),
            std::string::npos);
  set = Make();
  set.exact["figures"][0]["value"]["bits"] = "0x3fe0000000000001";
  Seal(set.exact);
  EXPECT_FALSE(ReadRecords(set.Files(), "r").ok());
  set = Make();
  set.exact["figures"][0]["value"]["round_trip"] = "0.50";
  Seal(set.exact);
  EXPECT_NE(ReadRecords(set.Files(), "r").status().message().find("not the text of an f64"),
            std::string::npos);
  set = Make();
  std::string& csv = set.csvs["rows.csv"];
  csv.replace(csv.find("1.5"), 3, "1.6");
  set.exact["tables"][0]["csv"]["sha256"] = Sha256Hex(std::string_view(csv));
  Seal(set.exact);
  EXPECT_NE(
      ReadRecords(set.Files(), "r").status().message().find("do not hash to the recorded hash"),
      std::string::npos);
  set = Make();
  set.exact["tables"][0]["rows"] = 2;
  Seal(set.exact);
  EXPECT_NE(ReadRecords(set.Files(), "r").status().message().find("3 rows, the record says 2"),
            std::string::npos);
  set = Make();
  set.exact["figures"][0]["value"]["count"] = 1;
  Seal(set.exact);
  EXPECT_FALSE(ReadRecords(set.Files(), "r").ok());
}

TEST(CompareTest, FindsNothingBetweenEquals) {
  const Delta delta = Compare(Make(), Make());
  EXPECT_TRUE(delta.values.empty());
  EXPECT_TRUE(delta.files_equal);
}

TEST(CompareTest, TellsValuesFromWords) {
  Knobs other;
  other.title = "The sum";
  Delta delta = Compare(Make(), Make(other));
  EXPECT_TRUE(delta.values.empty());
  EXPECT_FALSE(delta.files_equal);
}

TEST(CompareTest, GivesOldNewBitsAndUlps) {
  Knobs other;
  other.sum = 0.5000000000000001;
  const Delta delta = Compare(Make(), Make(other));
  ASSERT_EQ(delta.values.size(), 1u);
  const Difference& d = delta.values[0];
  EXPECT_EQ(d.id, "sum");
  EXPECT_EQ(d.old_value, "0.5");
  EXPECT_EQ(d.new_value, "0.5000000000000001");
  EXPECT_EQ(d.old_bits, "0x3fe0000000000000");
  EXPECT_EQ(d.new_bits, "0x3fe0000000000001");
  EXPECT_EQ(d.ulps, "1");
}

TEST(CompareTest, NamesTheCellThatChanged) {
  Knobs other;
  other.third_row = -0.0;
  const Delta delta = Compare(Make(), Make(other));
  ASSERT_EQ(delta.values.size(), 1u);
  EXPECT_EQ(delta.values[0].id, "rows");
  EXPECT_EQ(delta.values[0].what, "row 3, column x");
  EXPECT_EQ(delta.values[0].new_value, "-0");
}

TEST(CompareTest, FindsWhatCameAndWent) {
  Knobs more;
  more.extra = true;
  Delta delta = Compare(Make(), Make(more));
  ASSERT_EQ(delta.values.size(), 1u);
  EXPECT_EQ(delta.values[0].what, "new");
  delta = Compare(Make(more), Make());
  ASSERT_EQ(delta.values.size(), 1u);
  EXPECT_EQ(delta.values[0].what, "missing");
  Knobs full;
  full.profile = "full";
  delta = Compare(Make(), Make(full));
  ASSERT_EQ(delta.values.size(), 1u);
  EXPECT_EQ(delta.values[0].id, "args");
}

TEST(CompareTest, HoldsBoundedFiguresToTheirBoundOnly) {
  Knobs other;
  other.observed = 2;
  EXPECT_TRUE(Compare(Make(), Make(other)).values.empty());
  for (double observed : {2.0000000000000004, std::numeric_limits<double>::quiet_NaN()}) {
    other.observed = observed;
    const Delta delta = Compare(Make(), Make(other));
    ASSERT_EQ(delta.values.size(), 1u);
    EXPECT_EQ(delta.values[0].what, "bound: the observed ulp exceeds it");
  }
}

TEST(CompareTest, FailsOnAVerdictThatTurned) {
  const Delta delta = Compare(Make(), Make({}, "sum > 1"));
  ASSERT_EQ(delta.values.size(), 1u);
  EXPECT_EQ(delta.values[0].id, "claim c1");
  EXPECT_EQ(delta.values[0].old_value, "holds");
  EXPECT_EQ(delta.values[0].new_value, "fails");
}

TEST(ClaimsTest, KnowWhatTheyLack) {
  RecordSet set = Make({}, "median(timing) < 1 and sum < 1");
  EXPECT_EQ(set.claims["claims"][0]["verdict"], "absent");
  EXPECT_EQ(set.claims["claims"][0]["absent"], Json({"timing"}));
  Knobs full;
  full.profile = "full";
  const auto measured = MakeRecords(*ParseJson(Report(full), "r"),
                                    MakeManifest("median(timing) < 1"), kClosure, true);
  EXPECT_EQ(measured->claims["claims"][0]["verdict"], "measured");
  const auto failing =
      MakeRecords(*ParseJson(Report({}), "r"), MakeManifest("max(sum) < 1"), kClosure, false);
  EXPECT_EQ(failing.status().message(),
            "claim c1: predicate 'max(sum) < 1': column 1: max wants an array, found a number");
}

TEST(LookUpTest, GivesFiguresAndColumns) {
  const RecordSet set = Make();
  EXPECT_EQ(LookUp(set, "sum")->numbers, std::vector<double>{0.5});
  EXPECT_EQ(LookUp(set, "cited")->numbers, std::vector<double>{3});
  EXPECT_EQ(LookUp(set, "flag")->kind, Operand::Kind::kBool);
  EXPECT_EQ(LookUp(set, "rows.x")->numbers, (std::vector<double>{1.5, 2.5, 3.5}));
  EXPECT_EQ(LookUp(set, "rows.odd")->numbers, (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(LookUp(set, "rows.name")->texts[1], "with, comma and \"quotes\"\nand a line");
  EXPECT_NE(LookUp(set, "big").status().message().find("beyond 2^53"), std::string::npos);
  EXPECT_NE(LookUp(set, "array").status().message().find("recorded by its hash"),
            std::string::npos);
  EXPECT_EQ(LookUp(set, "rows.z").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(LookUp(set, "zzz").status().code(), absl::StatusCode::kNotFound);
  const auto names = NamesIn(set);
  EXPECT_NE(std::find(names.begin(), names.end(), "rows.odd"), names.end());
}

TEST(ClosureHashTest, DependsOnAllItHolds) {
  const Json args = {{"n", "1"}}, data = Json::array();
  const std::string hash = ClosureHash(kClosure, args, data);
  Closure other = kClosure;
  other.sha256[0] = 'd';
  EXPECT_NE(ClosureHash(other, args, data), hash);
  EXPECT_NE(ClosureHash(kClosure, {{"n", "2"}}, data), hash);
  EXPECT_NE(ClosureHash(kClosure, args, {{{"name", "x"}, {"sha256", "y"}}}), hash);
  EXPECT_EQ(ClosureHash(kClosure, args, data), hash);
}

TEST(CsvTest, RefusesWhatIsNotOurs) {
  const Json columns = {{{"name", "a"}}, {{"name", "b"}}};
  const auto message = [&columns](const std::string& text) {
    return std::string(FromCsv(text, columns, "f.csv").status().message());
  };
  EXPECT_EQ(message("a,b\n1,2\n"), "");
  EXPECT_EQ(message("a,b\n"), "");
  EXPECT_EQ(message("a,b\n1,\n"), "");
  EXPECT_NE(message("a,b\n1,2").find("line feed"), std::string::npos);
  EXPECT_NE(message("a,b\n1,").find("after a comma"), std::string::npos);
  EXPECT_NE(message("a,b\n\"1,2\n").find("no end"), std::string::npos);
  EXPECT_NE(message("a,b\n\"1\"x,2\n").find("after a quoted cell"), std::string::npos);
  EXPECT_NE(message("a,b\n1\n").find("row 2 (the header is row 1): it has 1 cells, expected 2"),
            std::string::npos);
  EXPECT_NE(message("a,c\n").find("does not name"), std::string::npos);
  EXPECT_NE(message("").find("header is missing"), std::string::npos);
}

}  // namespace
}  // namespace assay::lab
