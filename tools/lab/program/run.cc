// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/run.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "numerics/core/sha256.h"
#include "tools/lab/program/files.h"
#include "tools/lab/program/measure.h"
#include "tools/lab/records/json.h"
#include "tools/lab/records/records.h"

namespace assay::lab {
namespace {

using Overrides = std::vector<std::pair<std::string, std::string>>;

// What one lab came to in one profile.
struct Outcome {
  std::string slug;
  Profile profile = Profile::kBrowser;
  // equal, differs, new, written, unchanged, experiment, missing, damaged, failed, invalid, stale,
  // fresh
  std::string word = {};
  int code = kDone;
  std::string error = {};
  std::string report = {};
  std::optional<RecordSet> now = {};
  std::optional<RecordSet> recorded = {};
  Delta delta = {};
  bool stale = false;
  double seconds = 0;
};

void Fail(Outcome& outcome, std::string word, int code, std::string_view error) {
  outcome.word = std::move(word);
  outcome.code = code;
  outcome.error = std::string(error);
}

// Runs the lab and makes its records. Without a closure (a program built outside Bazel) the records
// say so and are not written.
void Execute(const Session& session, const Lab& lab, const Manifest& manifest,
             const Closure& closure, Outcome& outcome, const Overrides& overrides, int threads) {
  Progress progress =
      session.MakeProgress(absl::StrCat(lab.slug, " ", ProfileName(outcome.profile)));
  const double start = Now();
  Context::Options options;
  options.profile = outcome.profile;
  options.threads = threads;
  options.args = overrides;
  options.data = [&](std::string_view name) {
    return session.workspace().ReadData(manifest, name);
  };
  options.progress = [&progress](int64_t done, int64_t total, std::string_view what) {
    progress.Update(done, total, what);
  };
  absl::StatusOr<std::string> report = RunToJson(lab, std::move(options));
  outcome.seconds = Now() - start;
  progress.Finish();
  if (!report.ok()) {
    const absl::StatusCode code = report.status().code();
    const bool missing =
        code == absl::StatusCode::kNotFound || code == absl::StatusCode::kUnavailable;
    const bool usage = code == absl::StatusCode::kInvalidArgument && !overrides.empty();
    return Fail(outcome, missing ? "missing" : "failed",
                missing ? kMissing
                : usage ? kUsage
                        : kInternal,
                absl::StrCat(lab.slug, ": ", report.status().message()));
  }
  outcome.report = *std::move(report);
  absl::StatusOr<Json> document =
      ParseJson(outcome.report, absl::StrCat("the report of ", lab.slug));
  if (!document.ok()) return Fail(outcome, "failed", kInternal, document.status().message());
  absl::StatusOr<RecordSet> records =
      MakeRecords(*document, manifest, closure, lab.measure != nullptr);
  if (!records.ok()) {
    return Fail(outcome, "invalid", kUsage,
                absl::StrCat(lab.slug, "/lab.json: ", records.status().message()));
  }
  if (outcome.profile == Profile::kFull && overrides.empty()) {
    // All of a lab's figures are there at full size, so a name that is not is a slip.
    const absl::Status names = CheckNames(manifest, NamesIn(*records), lab.measure != nullptr,
                                          absl::StrCat(lab.slug, "/lab.json"));
    if (!names.ok()) return Fail(outcome, "invalid", kUsage, names.message());
  }
  outcome.now = *std::move(records);
}

// Reads what is recorded. False where there is nothing to compare with; the outcome says why.
bool ReadRecorded(const Session& session, Outcome& outcome) {
  const std::string folder = session.workspace().RecordsFolder(outcome.slug, outcome.profile);
  const std::string name = session.workspace().Shorten(folder);
  absl::StatusOr<std::map<std::string, std::string>> files = ReadFolder(folder);
  if (!files.ok() && !absl::IsNotFound(files.status())) {
    // Perhaps a sound record: nobody may take it for missing and write over it.
    Fail(outcome, "failed", kInternal, files.status().message());
    return false;
  }
  if (!files.ok() || files->empty()) {
    Fail(outcome, "missing", kMissing,
         absl::StrCat(name, ": no records; make them with lab run ", outcome.slug,
                      " --profile=", ProfileName(outcome.profile)));
    return false;
  }
  absl::StatusOr<RecordSet> records = ReadRecords(*files, name);
  if (!records.ok()) {
    Fail(outcome, "damaged", kNo, records.status().message());
    return false;
  }
  if (records->exact["lab"] != outcome.slug ||
      records->exact["profile"] != std::string(ProfileName(outcome.profile))) {
    Fail(outcome, "damaged", kNo,
         absl::StrCat(name, "/exact.json: it is the record of ",
                      records->exact["lab"].get<std::string>(), " ",
                      records->exact["profile"].get<std::string>(),
                      "; bring it back (git checkout) or record anew (lab run --accept)"));
    return false;
  }
  outcome.recorded = *std::move(records);
  return true;
}

struct Count {
  int64_t good = 0;
  int64_t of = 0;
};

bool Differs(const Outcome& outcome, const std::string& id) {
  return std::any_of(outcome.delta.values.begin(), outcome.delta.values.end(),
                     [&id](const Difference& d) { return d.id == id; });
}

// Exact figures and tables of the record that came out equal.
Count CountExact(const Outcome& outcome) {
  Count count;
  const Json& exact = outcome.recorded ? outcome.recorded->exact : outcome.now->exact;
  for (const char* list : {"figures", "tables"}) {
    for (const Json& item : exact[list]) {
      ++count.of;
      count.good += Differs(outcome, item["id"].get<std::string>()) ? 0 : 1;
    }
  }
  return count;
}

// Bounded figures of the record within their bound, modelled and cited ones that are equal.
Count CountOther(const Outcome& outcome) {
  Count count;
  const Json& bounded = outcome.recorded ? outcome.recorded->bounded : outcome.now->bounded;
  for (const Json& item : bounded["figures"]) {
    ++count.of;
    count.good += Differs(outcome, item["id"].get<std::string>()) ? 0 : 1;
  }
  return count;
}

std::map<std::string, int64_t> CountClaims(const Outcome& outcome) {
  std::map<std::string, int64_t> counts;
  for (const Json& claim : outcome.now->claims["claims"])
    ++counts[claim["verdict"].get<std::string>()];
  return counts;
}

Json OutcomeJson(const Outcome& outcome) {
  Json result = {{"lab", outcome.slug},
                 {"profile", ProfileName(outcome.profile)},
                 {"outcome", outcome.word},
                 {"stale", outcome.stale}};
  if (!outcome.error.empty()) result["error"] = outcome.error;
  if (outcome.now) {
    const Count exact = CountExact(outcome), other = CountOther(outcome);
    result["exact"] = {{"equal", exact.good}, {"of", exact.of}};
    result["other"] = {{"holding", other.good}, {"of", other.of}};
    result["claims"] = Json::array();
    for (const Json& claim : outcome.now->claims["claims"]) {
      result["claims"].push_back({{"id", claim["id"]}, {"verdict", claim["verdict"]}});
    }
  }
  Json differences = Json::array();
  for (const Difference& d : outcome.delta.values) {
    Json item = {{"id", d.id}, {"what", d.what}, {"old", d.old_value}, {"new", d.new_value}};
    if (!d.old_bits.empty()) {
      item["old_bits"] = d.old_bits;
      item["new_bits"] = d.new_bits;
      item["ulps"] = d.ulps;
    }
    differences.push_back(std::move(item));
  }
  result["differences"] = std::move(differences);
  return result;
}

std::string DifferenceLines(const Session& session, const Outcome& outcome) {
  std::string text;
  for (const Difference& d : outcome.delta.values) {
    absl::StrAppend(&text, "  ", session.Bad(d.id), "  ", d.what, "\n");
    if (!d.old_value.empty() || !d.new_value.empty()) {
      absl::StrAppend(&text, "    recorded  ", d.old_value,
                      d.old_bits.empty() ? "" : absl::StrCat("  ", d.old_bits), "\n");
      absl::StrAppend(&text, "    now       ", d.new_value,
                      d.new_bits.empty() ? "" : absl::StrCat("  ", d.new_bits),
                      d.ulps.empty() ? "" : absl::StrCat("  (", d.ulps, " ulp apart)"), "\n");
    }
  }
  return text;
}

std::string ClaimCounts(const Outcome& outcome) {
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : CountClaims(outcome)) {
    const std::string_view words = verdict == "holds" ? (count == 1 ? "claim holds" : "claims hold")
                                   : verdict == "fails"
                                       ? (count == 1 ? "claim fails" : "claims fail")
                                   : verdict == "measured" ? "decided by timings"
                                                           : "without their figures";
    parts.push_back(absl::StrCat(count, " ", words));
  }
  return absl::StrJoin(parts, ", ");
}

// Claims that do not simply hold, one a line.
std::string ClaimLines(const Session& session, const Outcome& outcome, bool all) {
  std::string text;
  for (const Json& claim : outcome.now->claims["claims"]) {
    const std::string verdict = claim["verdict"].get<std::string>();
    const bool narrow = claim.value("narrow", false);
    if (!all && verdict != "fails" && !narrow) continue;
    std::string word = verdict == "fails"      ? session.Bad("is false")
                       : verdict == "holds"    ? session.Good("holds")
                       : verdict == "measured" ? "is decided by timings"
                                               : "lacks figures";
    if (verdict == "fails" && outcome.profile != Profile::kFull) word += " at this size";
    if (narrow) word += ", narrowly";
    if (verdict == "fails" && outcome.recorded &&
        !Differs(outcome, absl::StrCat("claim ", claim["id"].get<std::string>())))
      word += ", as recorded";
    absl::StrAppend(&text, "  claim ", claim["id"].get<std::string>(), " ", word, ": ",
                    claim["text"].get<std::string>(), "\n");
    for (const Json& comparison : claim["evidence"]) {
      if (verdict == "fails" || session.verbose()) {
        absl::StrAppend(&text, "    ", comparison["left"].get<std::string>(), " ",
                        comparison["op"].get<std::string>(), " ",
                        comparison["right"].get<std::string>(), ": ",
                        comparison["left_value"].get<std::string>(), " against ",
                        comparison["right_value"].get<std::string>(), "\n");
      }
    }
  }
  return text;
}

std::string FigureLines(const Outcome& outcome) {
  std::string text;
  for (const Json* document : {&outcome.now->exact, &outcome.now->bounded}) {
    for (const Json& figure : (*document)["figures"]) {
      const Json& value = figure["value"];
      const std::string shown = value.contains("shown")
                                    ? value["shown"].get<std::string>()
                                    : absl::StrCat(value["count"].get<int64_t>(), " values");
      const std::string unit = figure["unit"].get<std::string>();
      absl::StrAppend(
          &text,
          absl::StrFormat("  %-8s  %-28s  %s%s  %s\n", figure["kind"].get<std::string>(),
                          figure["id"].get<std::string>(), shown, unit == "1" ? "" : " " + unit,
                          figure["title"].get<std::string>()));
    }
  }
  for (const Json& table : outcome.now->exact["tables"]) {
    absl::StrAppend(
        &text,
        absl::StrFormat("  %-8s  %-28s  %d rows  %s\n", "table", table["id"].get<std::string>(),
                        table["rows"].get<int64_t>(), table["title"].get<std::string>()));
  }
  return text;
}

// The last line about one lab and profile.
std::string SummaryLine(const Session& session, const Outcome& outcome) {
  std::string word = outcome.word;
  word.resize(std::max<size_t>(word.size(), 10), ' ');
  word = outcome.code == kDone ? session.Good(word) : session.Bad(word);
  std::string text =
      absl::StrFormat("%-22s  %-7s  %s", outcome.slug, ProfileName(outcome.profile), word);
  if (!outcome.error.empty()) return absl::StrCat(text, "  ", outcome.error, "\n");
  if (outcome.now) {
    const Count exact = CountExact(outcome), other = CountOther(outcome);
    if (outcome.word == "equal" || outcome.word == "differs" || outcome.word == "unchanged") {
      absl::StrAppend(&text, "  ", exact.good, " of ", exact.of, " exact equal");
      if (other.of > 0) absl::StrAppend(&text, ", ", other.good, " of ", other.of, " others hold");
    } else {
      absl::StrAppend(&text, "  ", exact.of, " exact");
      if (other.of > 0) absl::StrAppend(&text, ", ", other.of, " others");
    }
    const std::string claims = ClaimCounts(outcome);
    if (!claims.empty()) absl::StrAppend(&text, ", ", claims);
  }
  if (outcome.stale) {
    absl::StrAppend(&text, outcome.word == "stale" ? "  " : "; stale: ",
                    "its sources, arguments or data changed since it was recorded");
  }
  return text + "\n";
}

// Prints outcomes as they come, or collects them for one JSON document.
class Printer {
 public:
  Printer(const Session& session, std::string schema)
      : session_(session), schema_(std::move(schema)) {}

  void Print(const Outcome& outcome, const std::string& human) {
    code_ = Worse(code_, outcome.code);
    if (session_.line().Has("stream")) {
      Json line = OutcomeJson(outcome);
      line["schema"] = schema_;
      Session::Out(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
      std::fflush(stdout);
    } else if (session_.json()) {
      results_.push_back(OutcomeJson(outcome));
    } else {
      Session::Out(human);
      std::fflush(stdout);
    }
    if (!outcome.error.empty() && (session_.json() || session_.line().Has("stream")))
      Session::Error(outcome.error);
    if (outcome.now && !session_.quiet()) {
      struct rusage usage = {};
      getrusage(RUSAGE_SELF, &usage);
      session_.Say(absl::StrFormat("%s %s: %s, at most %d MiB so far\n", outcome.slug,
                                   ProfileName(outcome.profile), FormatSeconds(outcome.seconds),
                                   usage.ru_maxrss / 1024));
    }
  }

  // What checking a lab's measured files came to. The errors are printed already.
  void AddMeasured(const std::string& slug, const MeasuredCheck& check, int code) {
    code_ = Worse(code_, code);
    measured_.push_back({{"lab", slug}, {"files", check.files}, {"errors", check.errors}});
  }

  int code() const { return code_; }
  void Worsen(int code) { code_ = Worse(code_, code); }

  int Finish() {
    if (session_.json() && !session_.line().Has("stream")) {
      Json document = {{"schema", schema_}, {"results", results_}, {"code", code_}};
      if (!measured_.empty()) document["measured"] = measured_;
      Session::Out(CanonicalText(document));
    }
    return code_;
  }

 private:
  const Session& session_;
  std::string schema_;
  Json results_ = Json::array();
  Json measured_ = Json::array();
  int code_ = kDone;
};

int Usage(const absl::Status& status) {
  Session::Error(status.message());
  return status.code() == absl::StatusCode::kNotFound ? kMissing : kUsage;
}

struct Request {
  std::vector<const Lab*> labs;
  std::vector<Profile> profiles;
  Overrides overrides;
  int threads = 1;
};

absl::StatusOr<Request> ReadRequest(const Session& session) {
  Request request;
  auto labs = session.Labs(false);
  if (!labs.ok()) return labs.status();
  auto profiles = session.Profiles(Profile::kBrowser);
  if (!profiles.ok()) return profiles.status();
  auto overrides = session.Overrides();
  if (!overrides.ok()) return overrides.status();
  auto threads = session.Integer("threads", 1, 1, 1024);
  if (!threads.ok()) return threads.status();
  request.labs = *labs;
  request.profiles = *profiles;
  request.overrides = *overrides;
  request.threads = static_cast<int>(*threads);
  return request;
}

// A mistyped knob is found before a long run: the records know a lab's knobs.
absl::Status CheckKnobs(const Session& session, const Request& request) {
  for (const Lab* lab : request.labs) {
    std::set<std::string> known = {"seed"};
    bool any = false;
    for (Profile profile : {Profile::kQuick, Profile::kBrowser, Profile::kFull}) {
      const auto text = ReadFile(
          absl::StrCat(session.workspace().RecordsFolder(lab->slug, profile), "/exact.json"));
      if (!text.ok()) continue;
      const auto document = ParseJson(*text, "");
      if (!document.ok() || !document->is_object()) continue;
      const Json::json_pointer where("/run/args");
      if (!document->contains(where) || !(*document)[where].is_object()) continue;
      any = true;
      for (const auto& item : (*document)[where].items()) known.insert(item.key());
    }
    if (!any) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    for (const auto& [name, value] : request.overrides) {
      if (known.count(name) != 0) continue;
      const std::string nearest = NearestName(name, names);
      return absl::InvalidArgumentError(
          absl::StrCat(lab->slug, " has no knob '", name, "'",
                       nearest.empty() ? absl::StrCat("; it has ", absl::StrJoin(names, ", "))
                                       : absl::StrCat("; did you mean ", nearest, "?")));
    }
  }
  return absl::OkStatus();
}

// Decides what `run` does with the records it made.
void Keep(const Session& session, const Lab& lab, const absl::StatusOr<Closure>& closure,
          bool experiment, Outcome& outcome) {
  if (experiment) {
    outcome.word = "experiment";
    return;
  }
  const std::string out = session.line().Get("out");
  if (!out.empty()) {
    const std::string folder = absl::StrCat(out, "/", lab.slug, "/", ProfileName(outcome.profile));
    const absl::Status status = ReplaceFolder(folder, outcome.now->Files());
    if (!status.ok()) return Fail(outcome, "failed", kInternal, status.message());
    outcome.word = "written";
    return;
  }
  const bool accept = session.line().Has("accept");
  const std::string folder = session.workspace().RecordsFolder(lab.slug, outcome.profile);
  bool write = accept;
  if (ReadRecorded(session, outcome)) {
    outcome.delta = Compare(*outcome.recorded, *outcome.now);
    if (outcome.delta.values.empty()) {
      outcome.word = "equal";
      // Only titles, digits or the closure moved: nothing to accept in haste, nothing to fail for.
      if (outcome.delta.files_equal) write = false;
      if (!outcome.delta.files_equal && !accept) {
        session.Say(absl::StrCat(session.workspace().Shorten(folder),
                                 ": the values are equal; titles, digits or the hash of the "
                                 "sources are not those of now (--accept writes them)\n"));
      }
    } else {
      outcome.word = "differs";
      if (!accept) outcome.code = kNo;
    }
  } else if (outcome.word == "missing") {
    // A first record changes nothing that was there.
    outcome.error.clear();
    outcome.code = kDone;
    outcome.word = "new";
    write = true;
  } else if (accept && outcome.word == "damaged") {
    outcome.error.clear();
    outcome.code = kDone;
  } else {
    return;
  }
  if (!write) return;
  if (!closure.ok())
    return Fail(outcome, "failed", kMissing,
                absl::StrCat("the records were not written: ", closure.status().message()));
  // Compared with itself a set differs only where a bound is exceeded.
  if (const Delta own = Compare(*outcome.now, *outcome.now); !own.values.empty()) {
    outcome.delta = own;
    return Fail(outcome, "differs", kNo,
                absl::StrCat(lab.slug, ": ", own.values[0].id, ": ", own.values[0].what,
                             "; such a record is not written"));
  }
  const absl::Status status = ReplaceFolder(folder, outcome.now->Files());
  if (!status.ok()) return Fail(outcome, "failed", kInternal, status.message());
  outcome.word = "written";
  session.Say(absl::StrCat("wrote ", session.workspace().Shorten(folder), "\n"));
}

}  // namespace

int RunVerb(const Session& session) {
  absl::StatusOr<Request> request = ReadRequest(session);
  if (!request.ok()) return Usage(request.status());
  const bool experiment = !request->overrides.empty();
  if (experiment && session.line().Has("accept")) {
    return Usage(absl::InvalidArgumentError(
        "--accept with --set or --seed: records are made with the lab's own arguments"));
  }
  if (experiment && session.line().Has("out")) {
    return Usage(absl::InvalidArgumentError(
        "--out with --set or --seed: an experiment is printed and never written"));
  }
  if (absl::Status status = CheckKnobs(session, *request); !status.ok()) return Usage(status);
  Printer printer(session, "lab-run/1");
  int code = kDone;
  for (const Lab* lab : request->labs) {
    absl::StatusOr<Manifest> manifest = session.workspace().ReadManifest(lab->slug);
    const absl::StatusOr<Closure> closure = session.workspace().ReadClosure(lab->slug);
    for (Profile profile : request->profiles) {
      Outcome outcome;
      outcome.slug = lab->slug;
      outcome.profile = profile;
      if (!manifest.ok()) {
        Fail(outcome, "invalid",
             manifest.status().code() == absl::StatusCode::kNotFound ? kMissing : kUsage,
             manifest.status().message());
      } else {
        Execute(session, *lab, *manifest, closure.ok() ? *closure : Closure(), outcome,
                request->overrides, request->threads);
      }
      if (session.line().Has("report")) {
        // The lab's own document and nothing else, for programs that compare.
        if (outcome.now) {
          Session::Out(outcome.report);
        } else {
          Session::Error(outcome.error);
        }
        code = Worse(code, outcome.code);
        continue;
      }
      if (outcome.now) Keep(session, *lab, closure, experiment, outcome);
      std::string human;
      if (outcome.now) {
        if (!session.quiet())
          absl::StrAppend(&human, FigureLines(outcome), ClaimLines(session, outcome, true));
        absl::StrAppend(&human, DifferenceLines(session, outcome));
      }
      absl::StrAppend(&human, SummaryLine(session, outcome));
      printer.Print(outcome, human);
      if (outcome.code == kNo && outcome.word == "differs" && !session.quiet()) {
        session.Say(
            absl::StrCat("nothing was written; if the change is meant, run again with --accept and "
                         "put the difference into the commit message\n"));
      }
    }
  }
  return session.line().Has("report") ? code : printer.Finish();
}

namespace {

// Is the record made from other sources, arguments or data than there are now?
void CheckStale(const Session& session, const Manifest& manifest,
                const absl::StatusOr<Closure>& closure, Outcome& outcome) {
  if (!closure.ok() || !outcome.recorded) return;
  Json data = outcome.recorded->exact["run"]["data"];
  for (Json& item : data) {
    const auto bytes = session.workspace().ReadData(manifest, item["name"].get<std::string>());
    if (!bytes.ok()) continue;
    item["sha256"] = Sha256Hex(std::span<const uint8_t>(*bytes));
  }
  const std::string now = ClosureHash(*closure, outcome.recorded->exact["run"]["args"], data);
  outcome.stale = now != outcome.recorded->exact["code"]["closure_sha256"].get<std::string>();
}

// Drops the differences that are not of the kind asked for: exact figures and tables, with claims,
// arguments and data; or the others. A figure is of the kind it has now or had in the record, so
// one that vanished still has one, and one that changed its kind is of both.
void KeepKind(bool exact, Outcome& outcome) {
  const auto holds = [](const Json& list, const std::string& id) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Json& item) { return item["id"] == id; });
  };
  auto& values = outcome.delta.values;
  values.erase(std::remove_if(values.begin(), values.end(),
                              [&](const Difference& d) {
                                const bool other =
                                    holds(outcome.recorded->bounded["figures"], d.id) ||
                                    holds(outcome.now->bounded["figures"], d.id);
                                if (!exact) return !other;
                                return other && !holds(outcome.recorded->exact["figures"], d.id) &&
                                       !holds(outcome.now->exact["figures"], d.id);
                              }),
               values.end());
}

}  // namespace

int VerifyVerb(const Session& session) {
  absl::StatusOr<Request> request = ReadRequest(session);
  if (!request.ok()) return Usage(request.status());
  const CommandLine& line = session.line();
  const bool chosen =
      line.Has("exact") || line.Has("bounded") || line.Has("measured") || line.Has("stale");
  const bool recompute = !chosen || line.Has("exact") || line.Has("bounded");
  if (line.Has("stale") && !line.Has("profile")) {
    request->profiles = {Profile::kQuick, Profile::kBrowser, Profile::kFull};
  }
  Printer printer(session, "lab-verify/1");
  int64_t equal = 0, of = 0, labs = 0, measured = 0;
  for (const Lab* lab : request->labs) {
    const absl::StatusOr<Manifest> manifest = session.workspace().ReadManifest(lab->slug);
    const absl::StatusOr<Closure> closure = session.workspace().ReadClosure(lab->slug);
    ++labs;
    for (Profile profile : request->profiles) {
      if (!recompute && !line.Has("stale")) break;
      Outcome outcome;
      outcome.slug = lab->slug;
      outcome.profile = profile;
      if (!manifest.ok()) {
        Fail(outcome, "invalid",
             manifest.status().code() == absl::StatusCode::kNotFound ? kMissing : kUsage,
             manifest.status().message());
      } else if (ReadRecorded(session, outcome)) {
        CheckStale(session, *manifest, closure, outcome);
        if (recompute) {
          Execute(session, *lab, *manifest, closure.ok() ? *closure : Closure(), outcome, {},
                  request->threads);
          if (outcome.now) {
            outcome.delta = Compare(*outcome.recorded, *outcome.now);
            if (line.Has("exact") != line.Has("bounded")) {
              // Only one of the two kinds was asked for.
              KeepKind(line.Has("exact"), outcome);
            }
            outcome.word = outcome.delta.values.empty() ? "equal" : "differs";
            outcome.code = outcome.delta.values.empty() ? kDone : kNo;
          }
        } else if (!closure.ok()) {
          Fail(outcome, "missing", kMissing, closure.status().message());
        } else {
          outcome.word = outcome.stale ? "stale" : "fresh";
          outcome.code = outcome.stale ? kNo : kDone;
        }
      }
      std::string human;
      if (outcome.now) {
        const Count count = CountExact(outcome);
        equal += count.good;
        of += count.of;
        absl::StrAppend(&human, ClaimLines(session, outcome, session.verbose()),
                        DifferenceLines(session, outcome));
      }
      absl::StrAppend(&human, SummaryLine(session, outcome));
      printer.Print(outcome, human);
    }
    if (!chosen || line.Has("measured")) {
      MeasuredCheck check = VerifyMeasured(session, *lab);
      measured += check.files;
      int code = check.errors.empty() ? kDone : kNo;
      // Asked for by name, nothing to check is no pass; beside the values it is only not there yet.
      if (line.Has("measured") && lab->measure != nullptr && check.files == 0 && code == kDone) {
        const std::string error =
            absl::StrCat(lab->slug, ": no measured files; make one with lab measure ", lab->slug);
        Session::Error(error);
        check.errors.push_back(error);
        code = kMissing;
      }
      printer.AddMeasured(lab->slug, check, code);
    }
  }
  if (line.Has("measured") && measured == 0 && printer.code() == kDone) {
    Session::Error("no measured file was checked: none of these labs measures anything");
    printer.Worsen(kMissing);
  }
  const int code = printer.Finish();
  if (recompute && !session.json() && !line.Has("stream") && !session.quiet()) {
    Session::Out(absl::StrCat("verified ", labs, labs == 1 ? " lab: " : " labs: ", equal, " of ",
                              of, " exact values equal\n"));
  }
  return code;
}

int DiffVerb(const Session& session) {
  absl::StatusOr<Request> request = ReadRequest(session);
  if (!request.ok()) return Usage(request.status());
  const std::string against = session.line().Get("against");
  Printer printer(session, "lab-diff/1");
  for (const Lab* lab : request->labs) {
    for (Profile profile : request->profiles) {
      Outcome outcome;
      outcome.slug = lab->slug;
      outcome.profile = profile;
      const absl::StatusOr<Manifest> manifest = session.workspace().ReadManifest(lab->slug);
      if (!manifest.ok()) {
        Fail(outcome, "invalid",
             manifest.status().code() == absl::StatusCode::kNotFound ? kMissing : kUsage,
             manifest.status().message());
      } else if (ReadRecorded(session, outcome)) {
        if (against.empty()) {
          const absl::StatusOr<Closure> closure = session.workspace().ReadClosure(lab->slug);
          Execute(session, *lab, *manifest, closure.ok() ? *closure : Closure(), outcome, {},
                  request->threads);
        } else {
          const std::string folder =
              absl::StrCat(against, "/", lab->slug, "/", ProfileName(profile));
          const auto files = ReadFolder(folder);
          absl::StatusOr<RecordSet> other =
              files.ok() ? ReadRecords(*files, folder) : absl::StatusOr<RecordSet>(files.status());
          if (other.ok()) {
            outcome.now = *std::move(other);
          } else {
            Fail(outcome, "missing",
                 other.status().code() == absl::StatusCode::kNotFound ? kMissing : kNo,
                 other.status().message());
          }
        }
        if (outcome.now) {
          const auto cells = session.Integer("cells", 20, 1, 1000000);
          if (!cells.ok()) return Usage(cells.status());
          outcome.delta = Compare(*outcome.recorded, *outcome.now, static_cast<int>(*cells));
          outcome.word = outcome.delta.values.empty() ? "equal" : "differs";
          outcome.code = outcome.delta.values.empty() ? kDone : kNo;
        }
      }
      printer.Print(outcome, DifferenceLines(session, outcome) + SummaryLine(session, outcome));
    }
  }
  return printer.Finish();
}

int DataVerb(const Session& session) {
  const std::vector<std::string>& arguments = session.line().arguments;
  if (arguments.size() != 2)
    return Usage(absl::InvalidArgumentError("data wants a lab and the name of its data"));
  const absl::StatusOr<Manifest> manifest = session.workspace().ReadManifest(arguments[0]);
  if (!manifest.ok()) return Usage(manifest.status());
  const auto bytes = session.workspace().ReadData(*manifest, arguments[1]);
  if (!bytes.ok()) return Usage(bytes.status());
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const std::string out = session.line().Get("out");
  if (out.empty()) {
    Session::Out(text);
    return kDone;
  }
  const absl::Status status = WriteFile(out, text);
  if (!status.ok()) Session::Error(status.message());
  return status.ok() ? kDone : kInternal;
}

int ListVerb(const Session& session) {
  const auto labs = session.Labs(true);
  if (!labs.ok()) return Usage(labs.status());
  Json list = Json::array();
  for (const Lab* lab : *labs) {
    const absl::StatusOr<Manifest> manifest = session.workspace().ReadManifest(lab->slug);
    Json item = {{"lab", lab->slug},
                 {"title", lab->title},
                 {"measures", lab->measure != nullptr},
                 {"recorded", Json::array()}};
    for (Profile profile : {Profile::kQuick, Profile::kBrowser, Profile::kFull}) {
      if (FileExists(session.workspace().RecordsFolder(lab->slug, profile) + "/exact.json"))
        item["recorded"].push_back(ProfileName(profile));
    }
    if (manifest.ok()) {
      item["kind"] = manifest->kind;
      item["claims"] = manifest->claims.size();
      item["summary"] = manifest->summary;
    }
    if (!session.json()) {
      std::vector<std::string> recorded;
      for (const Json& name : item["recorded"]) recorded.push_back(name.get<std::string>());
      Session::Out(absl::StrFormat("%-22s  %-36s  %s%s\n", lab->slug, lab->title,
                                   recorded.empty() ? "no records" : absl::StrJoin(recorded, ", "),
                                   lab->measure != nullptr ? ", measures" : ""));
      if (session.verbose() && manifest.ok())
        Session::Out(absl::StrCat("  ", manifest->summary, "\n"));
      if (session.verbose() && !manifest.ok())
        Session::Out(absl::StrCat("  ", manifest.status().message(), "\n"));
    }
    list.push_back(std::move(item));
  }
  if (session.json()) Session::Out(CanonicalText({{"schema", "lab-list/1"}, {"labs", list}}));
  return kDone;
}

}  // namespace assay::lab
