// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/lab.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/sha256.h"

namespace assay::lab {
namespace {

// EXPECT that the status's message holds the words.
void ExpectSays(const absl::Status& status, absl::StatusCode code, const std::string& words) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_NE(std::string(status.message()).find(words), std::string::npos) << status;
}

Lab MakeLab(RunFunction run) { return {.title = "Test", .run = run, .slug = "test-lab"}; }

TEST(ReportTest, PrintsEveryKindInTheFixedOrder) {
  const Lab lab = MakeLab([](Context& context, Report& report) {
    context.Integer("n", 1, 2, 3);
    context.seed();
    context.Real("step", 0.5, 0.25, 0.125);
    report.Exact("sum", 0.1 + 0.2, "A sum", "m");
    report.Exact("count", size_t{3}, "A count");
    report.Exact("low", int32_t{-7}, "A negative");
    report.Exact("third", 1.0f / 3, "A third");
    report.Exact("yes", true, "A truth");
    report.Exact("word", "q\"\\\n\x01\xc3\xa9", "A word");
    report.ExactArray("many", std::vector<float>{1, 2}, "Two values");
    report.Bounded("near", 1.0,
                   {.metric = "ulp", .observed = 1, .bound = 2, .why = "w", .reference = "r"},
                   "Near");
    report.Modelled("model", 2.0, "a line", "Model");
    report.Cited("cited", 3.0,
                 {.author = "A", .year = 2002, .title = "T", .where = "p. 1", .url = "u"}, "Cited");
    Table& table = report.AddTable("rows", "Rows");
    table.Column<int64_t>("k").Column<std::string>("name", "");
    table.Row(1, "one");
    table.Row(uint64_t{2}, std::string("two"));
    return absl::OkStatus();
  });
  const auto json = RunToJson(lab, {.profile = Profile::kBrowser});
  ASSERT_TRUE(json.ok()) << json.status();
  const std::string expected =
      R"({"schema":"report/1","lab":"test-lab","profile":"browser","args":{"n":"2","seed":"1","step":"0.25"},"data":[],"figures":[)"
      R"({"id":"sum","kind":"exact","title":"A sum","unit":"m","type":"f64","value":"0.30000000000000004","bits":"0x3fd3333333333334","hash":"@0@"},)"
      R"({"id":"count","kind":"exact","title":"A count","unit":"1","type":"u64","value":"3","hash":"@1@"},)"
      R"({"id":"low","kind":"exact","title":"A negative","unit":"1","type":"i64","value":"-7","hash":"@2@"},)"
      R"({"id":"third","kind":"exact","title":"A third","unit":"1","type":"f32","value":"0.33333334","bits":"0x3eaaaaab","hash":"@3@"},)"
      R"({"id":"yes","kind":"exact","title":"A truth","unit":"1","type":"bool","value":"true","hash":"@4@"},)"
      R"({"id":"word","kind":"exact","title":"A word","unit":"1","type":"str","value":"q\"\\\n\u0001)"
      "\xc3\xa9"
      R"(","hash":"@5@"},)"
      R"({"id":"many","kind":"exact","title":"Two values","unit":"1","type":"f32","count":2,"hash":"@6@"},)"
      R"({"id":"near","kind":"bounded","title":"Near","unit":"1","type":"f64","value":"1","bits":"0x3ff0000000000000","hash":"@7@","error":{"metric":"ulp","observed":"1","bound":"2","why":"w","reference":"r"}},)"
      R"({"id":"model","kind":"modelled","title":"Model","unit":"1","type":"f64","value":"2","bits":"0x4000000000000000","hash":"@8@","model":"a line"},)"
      R"({"id":"cited","kind":"cited","title":"Cited","unit":"1","type":"f64","value":"3","bits":"0x4008000000000000","hash":"@9@","source":{"author":"A","year":2002,"title":"T","where":"p. 1","url":"u"}})"
      R"(],"tables":[{"id":"rows","title":"Rows","columns":[{"name":"k","type":"i64","unit":"1"},{"name":"name","type":"str","unit":""}],"rows":2,"cells":[["1","one"],["2","two"]],"hash":"@t@"}]})"
      "\n";
  // The hashes are over the little-endian bytes written out here.
  const std::vector<std::pair<std::string, std::vector<uint8_t>>> hashes = {
      {"@0@", {0x34, 0x33, 0x33, 0x33, 0x33, 0x33, 0xd3, 0x3f}},
      {"@1@", {3, 0, 0, 0, 0, 0, 0, 0}},
      {"@2@", {0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
      {"@3@", {0xab, 0xaa, 0xaa, 0x3e}},
      {"@4@", {1}},
      {"@5@", {'q', '"', '\\', '\n', 1, 0xc3, 0xa9}},
      {"@6@", {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}},
      {"@7@", {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
      {"@8@", {0, 0, 0, 0, 0, 0, 0, 0x40}},
      {"@9@", {0, 0, 0, 0, 0, 0, 8, 0x40}},
      {"@t@", {1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 'o', 'n', 'e',
               2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 't', 'w', 'o'}}};
  std::string filled = expected;
  for (const auto& [mark, bytes] : hashes) filled.replace(filled.find(mark), 3, Sha256Hex(bytes));
  EXPECT_EQ(*json, filled);
}

TEST(ReportTest, HashesEveryNanAlike) {
  Report report;
  report.Exact("plus", std::numeric_limits<double>::quiet_NaN(), "");
  report.Exact("minus", -std::numeric_limits<double>::quiet_NaN(), "");
  report.ExactArray("many", std::vector<double>{-std::numeric_limits<double>::quiet_NaN()}, "");
  EXPECT_EQ(report.figures()[0].hash, report.figures()[1].hash);
  EXPECT_EQ(report.figures()[0].hash, report.figures()[2].hash);
  EXPECT_EQ(report.figures()[1].value.bits, uint64_t{0x7ff8000000000000});
}

TEST(ReportTest, IntegersHashInEightBytesWhateverTheirWidth) {
  Report report;
  report.Exact("narrow", int8_t{-3}, "");
  report.Exact("wide", int64_t{-3}, "");
  report.ExactArray("array", std::vector<int16_t>{-3}, "");
  EXPECT_EQ(report.figures()[0].hash, report.figures()[1].hash);
  EXPECT_EQ(report.figures()[0].hash, report.figures()[2].hash);
}

TEST(ReportTest, KeepsTheFirstMistake) {
  {
    Report report;
    report.Exact("Bad id", 1, "");
    report.Exact("x", 1, "");
    report.Exact("x", 1, "");
    ExpectSays(report.status(), absl::StatusCode::kInvalidArgument, "'Bad id' is not of the form");
  }
  {
    Report report;
    report.Exact("x", 1, "");
    report.AddTable("x", "");
    ExpectSays(report.status(), absl::StatusCode::kInvalidArgument, "'x' is used twice");
  }
  {
    Report report;
    Table& table = report.AddTable("t", "");
    table.Column<double>("a").Column<int64_t>("b");
    table.Row(1.0, 2);
    table.Row(1.0f, 2);
    table.Row(1.0);
    EXPECT_EQ(table.rows(), 1);
    ExpectSays(report.status(), absl::StatusCode::kInvalidArgument,
               "row 1, column 'a' is given f32 1; expected f64");
  }
  {
    Report report;
    Table& table = report.AddTable("t", "");
    table.Column<uint64_t>("a");
    table.Row(-1);
    ExpectSays(report.status(), absl::StatusCode::kInvalidArgument, "given i64 -1; expected u64");
  }
  {
    Report report;
    Table& table = report.AddTable("t", "");
    table.Column<int64_t>("a");
    table.Row(std::numeric_limits<uint64_t>::max());
    ExpectSays(report.status(), absl::StatusCode::kInvalidArgument, "expected i64");
  }
  {
    Report report;
    Table& table = report.AddTable("t", "");
    table.Column<int64_t>("a");
    table.Row(1);
    table.Column<int64_t>("b");
    ExpectSays(report.status(), absl::StatusCode::kInvalidArgument,
               "'b' comes after the first row");
  }
}

TEST(ReportTest, MendsTextThatIsNotUtf8) {
  Report report;
  report.Exact("word", std::string("a\xff\xc0\x80\xed\xa0\x80z"), "");
  const Context context({});
  const std::string json = ToJson("x", context, report);
  EXPECT_NE(
      json.find("\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\""),
      std::string::npos)
      << json;
}

TEST(ContextTest, GivesTheProfilesValueUnlessOverridden) {
  for (const auto& [profile, value] :
       {std::pair{Profile::kQuick, 1}, {Profile::kBrowser, 2}, {Profile::kFull, 3}}) {
    Context context({.profile = profile});
    EXPECT_EQ(context.Integer("n", 1, 2, 3), value);
    EXPECT_EQ(context.Real("x", 1, 2, 3), value);
  }
  Context context(
      {.args = {{"n", "7"}, {"x", "0.1"}, {"seed", "18446744073709551615"}, {"n", "8"}}});
  EXPECT_EQ(context.Integer("n", 1, 2, 3), 8);
  EXPECT_EQ(context.Integer("n", 100, 200, 300), 8);
  EXPECT_EQ(context.Real("x", 1, 2, 3), 0.1);
  EXPECT_EQ(context.seed(), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(context.Finish().ok());
  const std::vector<std::pair<std::string, std::string>> args = {
      {"n", "8"}, {"x", "0.1"}, {"seed", "18446744073709551615"}};
  EXPECT_EQ(context.args(), args);
}

TEST(ContextTest, RefusesOverridesThatDoNotFit) {
  {
    Context context({.args = {{"n", "many"}}});
    EXPECT_EQ(context.Integer("n", 1, 2, 3), 1);
    ExpectSays(context.Finish(), absl::StatusCode::kInvalidArgument,
               "'n' is 'many'; expected a 64-bit integer");
  }
  {
    Context context({.args = {{"seed", "-1"}}});
    EXPECT_EQ(context.seed(), 1u);
    ExpectSays(context.Finish(), absl::StatusCode::kInvalidArgument, "the seed is '-1'");
  }
  {
    Context context({.args = {{"lenght", "3"}}});
    context.Integer("length", 1, 2, 3);
    ExpectSays(context.Finish(), absl::StatusCode::kInvalidArgument,
               "no knob 'lenght'; did you mean 'length'?");
  }
  {
    Context context({.args = {{"m", "3"}}});
    ExpectSays(context.Finish(), absl::StatusCode::kInvalidArgument, "it has none");
  }
  // A seed for a lab that draws nothing is no mistake: --seed goes to all labs.
  Context context({.args = {{"seed", "3"}}});
  EXPECT_TRUE(context.Finish().ok());
}

TEST(ContextTest, RecordsTheHashOfItsData) {
  Context context({.data = [](std::string_view name) -> absl::StatusOr<std::vector<uint8_t>> {
    if (name != "letters") return absl::NotFoundError("no such data");
    return std::vector<uint8_t>{'a', 'b', 'c'};
  }});
  EXPECT_EQ(context.Data("numbers").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(context.Data("letters")->size(), 3u);
  EXPECT_TRUE(context.Data("letters").ok());
  ASSERT_EQ(context.data_hashes().size(), 1u);
  EXPECT_EQ(context.data_hashes()[0].second,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Context none({});
  EXPECT_EQ(none.Data("letters").status().code(), absl::StatusCode::kNotFound);
}

TEST(ContextTest, DropsProgressThatMovesNothing) {
  int calls = 0;
  Context context({.progress = [&calls](int64_t, int64_t, std::string_view) { ++calls; }});
  for (int64_t i = 0; i <= 1000000; ++i) context.Progress(i, 1000000, "counting");
  EXPECT_EQ(calls, 1001);
  context.Progress(0, 0, "nothing");
  EXPECT_EQ(calls, 1002);
}

TEST(RunTest, TellsWhatTheLabSays) {
  ExpectSays(RunToJson(MakeLab([](Context&, Report&) { return absl::InternalError("broken"); }), {})
                 .status(),
             absl::StatusCode::kInternal, "broken");
  // The author's mistake is the cause of what came after it.
  ExpectSays(RunToJson(MakeLab([](Context&, Report& report) {
                         report.Exact("A", 1, "");
                         return absl::InternalError("later");
                       }),
                       {})
                 .status(),
             absl::StatusCode::kInvalidArgument, "'A'");
  ExpectSays(RunToJson(MakeLab(nullptr), {}).status(), absl::StatusCode::kFailedPrecondition,
             "no run function");
}

absl::Status Nothing(Context&, Report&) { return absl::OkStatus(); }
ASSAY_LAB(a_second_lab, {.title = "Second", .run = &Nothing});
ASSAY_LAB(a_first_lab, {.title = "First", .run = &Nothing});

TEST(RegistryTest, ListsLabsBySlug) {
  const auto labs = AllLabs();
  ASSERT_EQ(labs.size(), 2u);
  EXPECT_EQ(labs[0]->slug, "a-first-lab");
  EXPECT_EQ(labs[1]->title, "Second");
  EXPECT_EQ(FindLab("a-second-lab"), labs[1]);
  EXPECT_EQ(FindLab("a_second_lab"), nullptr);
}

TEST(NearestNameTest, FindsWhatWasMeantAndNothingElse) {
  const std::vector<std::string> names = {"profile", "progress", "threads"};
  EXPECT_EQ(NearestName("profil", names), "profile");
  EXPECT_EQ(NearestName("porfile", names), "profile");
  EXPECT_EQ(NearestName("thread", names), "threads");
  EXPECT_EQ(NearestName("zzz", names), "");
  EXPECT_EQ(NearestName("x", {}), "");
}

TEST(MeasureTest, InterleavesVariantsAndChecksThemAfterwards) {
  // A clock that the runs move: "slow" takes 3 us, "fast" 1 us.
  int64_t now = 0;
  std::string order;
  MeasureContext::Timing timing;
  timing.now_ns = [&now] { return now; };
  timing.repetitions = 50;
  timing.warmup = 2;
  timing.min_sample_ns = 4000;
  MeasureContext context({}, timing);
  Measurements measurements;
  bool checked = false;
  const std::vector<Variant> variants = {{.id = "fast",
                                          .title = "Fast",
                                          .run =
                                              [&] {
                                                now += 1000;
                                                order.push_back('f');
                                              },
                                          .check =
                                              [&] {
                                                checked = true;
                                                return absl::OkStatus();
                                              }},
                                         {.id = "slow", .title = "Slow", .run = [&] {
                                            now += 3000;
                                            order.push_back('s');
                                          }}};
  ASSERT_TRUE(measurements.Compare(context, "job", "The job", variants).ok());
  ASSERT_EQ(measurements.series().size(), 2u);
  const Series& fast = measurements.series()[0];
  EXPECT_EQ(fast.runs_per_sample, 4);
  EXPECT_EQ(fast.samples_ns, std::vector<double>(50, 1000.0));
  EXPECT_EQ(measurements.series()[1].samples_ns, std::vector<double>(50, 3000.0));
  EXPECT_TRUE(checked && fast.checked);
  EXPECT_FALSE(measurements.series()[1].checked);
  // Fifty rounds of four and two runs. Both orders of a round occur: where one follows the other, a
  // variant runs twice in a row.
  const std::string rounds = order.substr(order.size() - 300);
  EXPECT_NE(rounds.find("ffffffff"), std::string::npos) << rounds;
  EXPECT_NE(rounds.find("ssss"), std::string::npos) << rounds;
  EXPECT_EQ(measurements.Compare(context, "again", "", variants).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(MeasureTest, RecordsNothingThatIsWrongOrUntimed) {
  int64_t now = 0;
  MeasureContext::Timing timing;
  timing.now_ns = [&now] { return now += 1000000; };
  timing.budget_seconds = 0.001;
  MeasureContext context({}, timing);
  Measurements measurements;
  const std::vector<Variant> wrong = {{.id = "a",
                                       .title = "",
                                       .run = [] {},
                                       .check = [] { return absl::InternalError("7, not 8"); }}};
  ExpectSays(measurements.Compare(context, "job", "", wrong), absl::StatusCode::kInternal,
             "the output of 'a' is wrong: 7, not 8");
  EXPECT_TRUE(measurements.series().empty());
  const std::vector<Variant> right = {{.id = "a", .title = "", .run = [] {}}};
  ASSERT_TRUE(measurements.Compare(context, "job", "", right).ok());
  EXPECT_EQ(measurements.series()[0].samples_ns.size(),
            3u);  // the budget is spent, three rounds are run
  MeasureContext without({}, {});
  EXPECT_EQ(measurements.Compare(without, "job", "", right).code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace assay::lab
