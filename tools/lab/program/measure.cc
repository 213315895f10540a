// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "numerics/core/ceilings.h"
#include "numerics/core/sha256.h"
#include "tools/lab/number.h"
#include "tools/lab/program/device.h"
#include "tools/lab/program/files.h"
#include "tools/lab/records/records.h"
#include "tools/lab/records/schema.h"

#ifndef ASSAY_BUILD_FLAGS
#define ASSAY_BUILD_FLAGS "unknown"
#endif

namespace assay::lab {
namespace {

#ifdef NDEBUG
constexpr bool kOptimised = true;
#else
constexpr bool kOptimised = false;
#endif

std::string Rounded(double value) { return FormatSignificant(value, 6); }

std::vector<double> Samples(const Json& figure) {
  std::vector<double> samples;
  for (const Json& text : figure["samples"])
    samples.push_back(ParseDouble(text.get<std::string>()).value_or(NAN));
  return samples;
}

// Linear interpolation between the order statistics around position q (n - 1).
double Quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const size_t low = static_cast<size_t>(position);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (position - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

Json SummaryJson(const Summary& summary, int64_t n) {
  return {{"median", FormatDouble(summary.median)},
          {"iqr", FormatDouble(summary.iqr)},
          {"min", FormatDouble(summary.min)},
          {"cv", Rounded(summary.cv)},
          {"n", n}};
}

Json FigureJson(const Series& series, const Ceilings& ceilings) {
  Json samples = Json::array();
  for (double sample : series.samples_ns) samples.push_back(FormatDouble(sample));
  const Summary summary = Summarise(series.samples_ns);
  const double seconds = summary.median * 1e-9;
  Json floor = Json::object();
  if (series.flops > 0) {
    const double rate = series.flops / seconds;
    floor["flops"] = FormatDouble(series.flops);
    floor["flops_per_s"] = Rounded(rate);
    floor["of_fma_f64"] = Rounded(rate / ceilings.fma_f64_flops_per_s);
    floor["of_fma_f32"] = Rounded(rate / ceilings.fma_f32_flops_per_s);
  }
  if (series.bytes > 0) {
    const double rate = series.bytes / seconds;
    floor["bytes"] = FormatDouble(series.bytes);
    floor["bytes_per_s"] = Rounded(rate);
    floor["of_triad"] = Rounded(rate / ceilings.triad_bytes_per_s);
  }
  const std::string hash = Sha256Hex(std::span<const double>(series.samples_ns));
  return {{"schema", "figure/1"},
          {"id", series.id},
          {"kind", "measured"},
          {"title", series.title},
          {"unit", "ns"},
          {"group", series.group},
          {"group_title", series.group_title},
          {"shown", FormatSignificant(summary.median, 3)},
          {"samples", std::move(samples)},
          {"runs_per_sample", series.runs_per_sample},
          {"summary", SummaryJson(summary, static_cast<int64_t>(series.samples_ns.size()))},
          {"floor", std::move(floor)},
          {"check", series.checked ? "passed" : "none"},
          {"hash", {{"algo", "sha256"}, {"of", "little-endian f64 samples"}, {"hex", hash}}}};
}

// Claims that name a measured figure, decided over its samples and the figures recorded in the same
// profile: a timing of one size says nothing beside a count of another. One that names figures of
// records that are not there is left out, and said to be.
absl::StatusOr<Json> DecideClaims(const Session& session, const Lab& lab, const Manifest& manifest,
                                  const Json& figures, const std::string& device, Profile profile) {
  std::optional<RecordSet> records;
  const std::string folder = session.workspace().RecordsFolder(lab.slug, profile);
  const auto files = ReadFolder(folder);
  if (!files.ok() && !absl::IsNotFound(files.status())) return files.status();
  if (files.ok() && !files->empty()) {
    absl::StatusOr<RecordSet> read = ReadRecords(*files, session.workspace().Shorten(folder));
    if (!read.ok()) return read.status();
    records = *std::move(read);
  }
  const auto find = [&figures](std::string_view name) -> const Json* {
    for (const Json& figure : figures) {
      if (figure["id"] == name) return &figure;
    }
    return nullptr;
  };
  Json verdicts = Json::array();
  for (const Claim& claim : manifest.claims) {
    const auto& names = claim.predicate.names();
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return find(name) != nullptr; }))
      continue;
    if (!claim.on.empty() && std::find(claim.on.begin(), claim.on.end(), device) == claim.on.end())
      continue;
    if (!records && std::any_of(names.begin(), names.end(),
                                [&](const std::string& name) { return find(name) == nullptr; })) {
      session.Say(absl::StrCat("claim ", claim.id, " is not decided: ",
                               session.workspace().Shorten(folder), " holds no records\n"));
      continue;
    }
    const Predicate::Scope scope = [&](std::string_view name) -> absl::StatusOr<Operand> {
      if (const Json* figure = find(name)) return Operand::Numbers(Samples(*figure));
      if (records) return LookUp(*records, name);
      return absl::NotFoundError(absl::StrCat("there is no figure ", name));
    };
    absl::StatusOr<Verdict> verdict = claim.predicate.Evaluate(scope, claim.margin);
    if (!verdict.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(lab.slug, "/lab.json: claim ", claim.id, ": ", verdict.status().message()));
    }
    verdicts.push_back(VerdictJson(claim, *verdict));
  }
  return verdicts;
}

// The day, or the one that SOURCE_DATE_EPOCH names, in UTC.
std::string Today() {
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    if (const auto seconds = ParseInt(epoch)) now = static_cast<std::time_t>(*seconds);
  }
  std::tm day = {};
  gmtime_r(&now, &day);
  return absl::StrFormat("%04d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

// The number in YYYYMMDD-N.json; nothing for any other name.
std::optional<int64_t> MeasuredNumber(const std::string& name) {
  constexpr size_t kDay = 8;
  constexpr std::string_view kEnding = ".json";
  if (name.size() <= kDay + 1 + kEnding.size() || name[kDay] != '-' ||
      name.substr(name.size() - kEnding.size()) != kEnding)
    return std::nullopt;
  const std::string number = name.substr(kDay + 1, name.size() - kDay - 1 - kEnding.size());
  const auto digits = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!digits(name.substr(0, kDay)) || !digits(number) || number[0] == '0') return std::nullopt;
  return ParseInt(number);
}

// Files of one device, by day and then by number (10 comes after 9). Other names are left out.
std::vector<std::string> MeasuredFiles(const std::string& folder) {
  std::vector<std::pair<std::pair<std::string, int64_t>, std::string>> files;
  for (const std::string& name : ListFolder(folder)) {
    const std::optional<int64_t> number = MeasuredNumber(name);
    if (number) files.push_back({{name.substr(0, name.find('-')), *number}, name});
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> names;
  for (auto& file : files) names.push_back(std::move(file.second));
  return names;
}

Summary ReadSummary(const Json& figure) {
  const Json& summary = figure["summary"];
  const auto number = [&summary](const char* key) {
    return ParseDouble(summary[key].get<std::string>()).value_or(NAN);
  };
  return {
      .median = number("median"), .iqr = number("iqr"), .min = number("min"), .cv = number("cv")};
}

// With the last file of the same profile: another profile is another size, and its times differ
// without any drift. Fails where a file that may be it is damaged.
absl::StatusOr<Json> CompareWithLast(const std::string& folder, const std::string& name,
                                     const Json& figures, Profile profile) {
  Json comparison = {{"supersedes", ""}, {"drifted", Json::array()}};
  std::vector<std::string> files = MeasuredFiles(folder);
  std::optional<Json> last;
  for (; !files.empty(); files.pop_back()) {
    absl::StatusOr<std::string> text = ReadFile(absl::StrCat(folder, "/", files.back()));
    if (!text.ok()) return text.status();
    absl::StatusOr<Json> document = ReadMeasured(*text, absl::StrCat(name, "/", files.back()));
    if (!document.ok()) return document.status();
    if ((*document)["run"]["profile"] != std::string(ProfileName(profile))) continue;
    last = *std::move(document);
    break;
  }
  if (!last) return comparison;
  comparison["supersedes"] = files.back();
  for (const Json& old : (*last)["figures"]) {
    for (const Json& fresh : figures) {
      if (fresh["id"] != old["id"]) continue;
      const Summary before = ReadSummary(old), after = ReadSummary(fresh);
      const Drift drift = CompareMedians(before, after);
      if (!drift.drifted) continue;
      comparison["drifted"].push_back({{"id", fresh["id"]},
                                       {"old_median", FormatDouble(before.median)},
                                       {"new_median", FormatDouble(after.median)},
                                       {"allowed", Rounded(drift.allowed)}});
    }
  }
  return comparison;
}

// Reads web/devices/<id>.json or makes it. Fails where the file speaks of another machine.
absl::Status KnowDevice(const Session& session, const Json& device) {
  const std::string path = session.workspace().DeviceFile(device["id"].get<std::string>());
  const std::string name = session.workspace().Shorten(path);
  if (!FileExists(path)) {
    if (absl::Status status = WriteFile(path, CanonicalText(device)); !status.ok()) return status;
    session.Say(absl::StrCat("wrote ", name, "\n"));
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<Json> known = ParseJson(*text, name);
  if (!known.ok()) return known.status();
  if (absl::Status status = CheckVersion(*known, "device/1", name); !status.ok()) return status;
  if (absl::Status status = CheckAgainstSchema(*known, "device/1", name); !status.ok())
    return status;
  for (const char* key :
       {"model", "family", "model_number", "stepping", "logical_cores", "vector"}) {
    if ((*known)["cpu"][key] != device["cpu"][key]) {
      return absl::FailedPreconditionError(absl::StrCat(
          name, ": it describes another machine (", key, " ", (*known)["cpu"][key].dump(),
          ", here ", device["cpu"][key].dump(), "); name this one with --device=ID"));
    }
  }
  return absl::OkStatus();
}

int Refuse(const absl::Status& status) {
  Session::Error(status.message());
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnavailable:
      return kMissing;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
      return kUsage;
    case absl::StatusCode::kDataLoss:
      return kNo;
    default:
      return kInternal;
  }
}

// Everything that all labs of one call share.
struct Plan {
  Json device;
  Ceilings ceilings;
  Commit commit;
  Profile profile = Profile::kFull;
  MeasureContext::Timing timing;
  int threads = 1;
};

int MeasureLab(const Session& session, const Lab& lab, const Plan& plan) {
  const Workspace& workspace = session.workspace();
  if (lab.measure == nullptr) {
    Session::Error(absl::StrCat(lab.slug, " measures nothing: skipped"));
    return kMissing;
  }
  absl::StatusOr<Manifest> manifest = workspace.ReadManifest(lab.slug);
  if (!manifest.ok()) return Refuse(manifest.status());
  absl::StatusOr<Closure> closure = workspace.ReadClosure(lab.slug);
  if (!closure.ok()) return Refuse(closure.status());
  const std::string id = plan.device["id"].get<std::string>();
  Progress progress = session.MakeProgress(absl::StrCat(lab.slug, " measure"));
  Context::Options options;
  options.profile = plan.profile;
  options.threads = plan.threads;
  options.data = [&](std::string_view name) { return workspace.ReadData(*manifest, name); };
  options.progress = [&progress](int64_t done, int64_t total, std::string_view what) {
    progress.Update(done, total, what);
  };
  MeasureContext context(std::move(options), plan.timing);
  Measurements measurements;
  const MachineState before = ReadMachineState();
  absl::Status status = lab.measure(context, measurements);
  const MachineState after = ReadMachineState();
  progress.Finish();
  if (status.ok()) status = context.Finish();
  if (status.ok() && measurements.series().empty())
    status = absl::InternalError("it timed nothing");
  if (!status.ok()) {
    return Refuse(absl::Status(status.code(), absl::StrCat(lab.slug, ": ", status.message())));
  }
  Json figures = Json::array();
  int64_t rounds = 0;
  for (const Series& series : measurements.series()) {
    figures.push_back(FigureJson(series, plan.ceilings));
    rounds = std::max(rounds, static_cast<int64_t>(series.samples_ns.size()));
  }
  absl::StatusOr<Json> claims = DecideClaims(session, lab, *manifest, figures, id, plan.profile);
  if (!claims.ok()) return Refuse(claims.status());
  const std::string folder = absl::StrCat(workspace.MeasuredFolder(lab.slug), "/", id);
  absl::StatusOr<Json> comparison =
      CompareWithLast(folder, workspace.Shorten(folder), figures, plan.profile);
  if (!comparison.ok()) return Refuse(comparison.status());
  Json args = Json::object(), data = Json::array();
  for (const auto& [name, value] : context.args()) args[name] = value;
  for (const auto& [name, hash] : context.data_hashes())
    data.push_back({{"name", name}, {"sha256", hash}});
  const std::string date = Today();
  Json machine = {{"kernel", before.kernel},     {"libc", before.libc},
                  {"governor", before.governor}, {"load_before", before.load},
                  {"load_after", after.load},    {"mhz_before", before.mhz},
                  {"mhz_after", after.mhz}};
  machine["nice"] = FormatInt(getpriority(PRIO_PROCESS, 0));
  if (!before.gpu.empty()) {
    machine["gpu_before"] = before.gpu;
    machine["gpu_after"] = after.gpu;
  }
  Json document = {
      {"schema", "measured/1"},
      {"lab", lab.slug},
      {"device", id},
      {"date", date},
      {"run",
       {{"target", closure->target},
        {"profile", ProfileName(plan.profile)},
        {"args", args},
        {"data", data},
        {"threads", plan.threads}}},
      {"code", {{"closure_sha256", ClosureHash(*closure, args, data)}, {"files", closure->files}}},
      {"build",
       {{"compiler", CompilerName()},
        {"flags", ASSAY_BUILD_FLAGS},
        {"optimised", kOptimised},
        {"commit", plan.commit.hash},
        {"dirty", plan.commit.dirty}}},
      {"method",
       {{"warmup", plan.timing.warmup},
        {"repetitions", rounds},
        {"min_sample_ns", plan.timing.min_sample_ns},
        {"order",
         absl::StrCat(
             "interleaved: each round runs every variant once, in an order drawn from the seed ",
             args.value("seed", "1"))},
        {"clock", "std::chrono::steady_clock (CLOCK_MONOTONIC), around runs_per_sample runs"},
        {"cache", "warm: the runs before have touched the same data; nothing is flushed"}}},
      {"machine", std::move(machine)},
      {"ceilings",
       {{"triad_bytes_per_s", Rounded(plan.ceilings.triad_bytes_per_s)},
        {"fma_f64_flops_per_s", Rounded(plan.ceilings.fma_f64_flops_per_s)},
        {"fma_f32_flops_per_s", Rounded(plan.ceilings.fma_f32_flops_per_s)},
        {"vector", plan.ceilings.vector}}},
      {"figures", std::move(figures)},
      {"claims", *claims},
      {"comparison", *comparison}};
  Seal(document);
  if (absl::Status valid = CheckAgainstSchema(document, "measured/1", "the measured file");
      !valid.ok())
    return Refuse(absl::InternalError(valid.message()));
  // The day's next number; a file is only ever added, so a race for a number has one winner.
  std::string day = date;
  day.erase(std::remove(day.begin(), day.end(), '-'), day.end());
  std::string path;
  for (int64_t number = 1;; ++number) {
    path = absl::StrCat(folder, "/", day, "-", number, ".json");
    if (FileExists(path)) continue;
    status = WriteNewFile(path, CanonicalText(document));
    if (!absl::IsAlreadyExists(status)) break;
  }
  if (!status.ok()) return Refuse(status);
  int code = kDone;
  if (session.json()) Session::Out(CanonicalText(document));
  for (const Json& figure : document["figures"]) {
    if (session.json()) break;
    const Json& floor = figure["floor"];
    std::string shares;
    for (const char* key : {"of_fma_f64", "of_triad"}) {
      if (!floor.contains(key)) continue;
      absl::StrAppendFormat(&shares, ", %.1f %% of %s",
                            100 * ParseDouble(floor[key].get<std::string>()).value_or(NAN),
                            key == std::string_view("of_triad") ? "triad" : "FMA peak (f64)");
    }
    Session::Out(absl::StrFormat(
        "  %-24s  median %s ns, IQR %s, n %d%s  %s\n", figure["id"].get<std::string>(),
        figure["shown"].get<std::string>(), FormatSignificant(ReadSummary(figure).iqr, 3),
        figure["summary"]["n"].get<int>(), shares, figure["title"].get<std::string>()));
  }
  for (const Json& figure : document["figures"]) {
    const Summary summary = ReadSummary(figure);
    if (summary.iqr > 0.25 * summary.median) {
      session.Say(absl::StrCat(figure["id"].get<std::string>(),
                               ": half of the samples spread over ",
                               absl::StrFormat("%.0f", 100 * summary.iqr / summary.median),
                               " % of the median; measure again on a quieter machine before saying "
                               "anything about it\n"));
    }
  }
  for (const Json& claim : document["claims"]) {
    const bool holds = claim["verdict"] == "holds";
    if (!holds) code = kNo;
    if (!session.json())
      Session::Out(absl::StrCat("  claim ", claim["id"].get<std::string>(), " ",
                                holds ? session.Good("holds") : session.Bad("is false"), ": ",
                                claim["text"].get<std::string>(), "\n"));
  }
  for (const Json& drift : document["comparison"]["drifted"]) {
    code = kNo;
    session.Say(absl::StrCat(drift["id"].get<std::string>(), " drifted: median ",
                             drift["old_median"].get<std::string>(), " ns before, ",
                             drift["new_median"].get<std::string>(), " ns now; both files stay\n"));
  }
  if (!session.json())
    Session::Out(absl::StrCat(lab.slug, "  ", id, "  wrote ", workspace.Shorten(path), "\n"));
  return code;
}

}  // namespace

Summary Summarise(std::vector<double> samples) {
  Summary summary;
  if (samples.empty()) return summary;
  std::sort(samples.begin(), samples.end());
  summary.median = Quantile(samples, 0.5);
  summary.iqr = Quantile(samples, 0.75) - Quantile(samples, 0.25);
  summary.min = samples.front();
  double mean = 0;
  for (double x : samples) mean += x;
  mean /= static_cast<double>(samples.size());
  double squares = 0;
  for (double x : samples) squares += (x - mean) * (x - mean);
  const double n = static_cast<double>(samples.size());
  summary.cv = samples.size() > 1 ? std::sqrt(squares / (n - 1)) / mean : 0;
  return summary;
}

Drift CompareMedians(const Summary& old_one, const Summary& new_one) {
  Drift drift;
  drift.allowed = std::max(0.10, 3 * std::max(old_one.cv, new_one.cv));
  drift.drifted = !(std::abs(new_one.median - old_one.median) <= drift.allowed * old_one.median);
  return drift;
}

absl::StatusOr<Json> ReadMeasured(const std::string& text, const std::string& file) {
  absl::StatusOr<Json> document = ParseJson(text, file);
  if (!document.ok()) return document.status();
  if (absl::Status status = CheckVersion(*document, "measured/1", file); !status.ok())
    return status;
  if (absl::Status status = CheckSeal(*document, text, file); !status.ok()) return status;
  if (absl::Status status = CheckAgainstSchema(*document, "measured/1", file); !status.ok())
    return status;
  for (const Json& figure : (*document)["figures"]) {
    const std::vector<double> samples = Samples(figure);
    const bool hash =
        Sha256Hex(std::span<const double>(samples)) == figure["hash"]["hex"].get<std::string>();
    const Json summary = SummaryJson(Summarise(samples), static_cast<int64_t>(samples.size()));
    if (!hash || summary != figure["summary"]) {
      return absl::DataLossError(absl::StrCat(
          file, ": figure ", figure["id"].get<std::string>(),
          ": its samples, summary and hash do not agree; bring the file back (git checkout -- ",
          file, ")"));
    }
  }
  return document;
}

int MeasureVerb(const Session& session) {
  const auto labs = session.Labs(false);
  if (!labs.ok()) return Refuse(labs.status());
  Plan plan;
  const auto profiles = session.Profiles(Profile::kFull);
  if (!profiles.ok()) return Refuse(profiles.status());
  if (profiles->size() != 1) return Refuse(absl::InvalidArgumentError("measure takes one profile"));
  plan.profile = (*profiles)[0];
  const auto repetitions = session.Integer("repetitions", 20, 3, 100000);
  const auto threads = session.Integer("threads", 1, 1, 1024);
  if (!repetitions.ok()) return Refuse(repetitions.status());
  if (!threads.ok()) return Refuse(threads.status());
  plan.threads = static_cast<int>(*threads);
  plan.timing.repetitions = static_cast<int>(*repetitions);
  std::string budget = session.line().Get("budget", "240s");
  if (!budget.empty() && budget.back() == 's') budget.pop_back();
  const std::optional<double> seconds = ParseDouble(budget);
  if (!seconds || !(*seconds > 0))
    return Refuse(absl::InvalidArgumentError(absl::StrCat(
        "--budget is '", session.line().Get("budget"), "'; expected seconds, as 240s")));
  plan.timing.budget_seconds = *seconds;
  plan.timing.now_ns = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  const std::string id = session.line().Get("device");
  for (char c : id) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) {
      return Refuse(absl::InvalidArgumentError(
          absl::StrCat("--device is '", id, "'; expected lower-case letters, digits and hyphens")));
    }
  }
  plan.commit = session.workspace().ReadCommit();
  if (plan.commit.dirty && !session.line().Has("allow-dirty")) {
    return Refuse(absl::FailedPreconditionError(
        "the working tree differs from its commit, so nobody could say what was measured; commit "
        "first, or record dirty=true with --allow-dirty"));
  }
  if (!kOptimised && !session.line().Has("allow-dirty")) {
    return Refuse(absl::FailedPreconditionError(
        "the program is built without optimisation; build it with -c opt"));
  }
  plan.device = DescribeDevice(id);
  if (absl::Status status = KnowDevice(session, plan.device); !status.ok()) return Refuse(status);
  const MachineState now = ReadMachineState();
  const int64_t cores = plan.device["cpu"]["logical_cores"].get<int64_t>();
  if (ParseDouble(now.load).value_or(0) > 0.5 * static_cast<double>(cores)) {
    session.Say(absl::StrCat("the load is ", now.load, " on ", cores,
                             " cores: others are computing, and the timings will show it\n"));
  }
  session.Say("measuring the ceilings of this machine\n");
  plan.ceilings = MeasureCeilings();
  session.Say(absl::StrFormat(
      "triad %.1f GB/s, fused multiply-add %.1f GFlop/s (f64), %.1f GFlop/s (f32), %s, one "
      "thread\n",
      plan.ceilings.triad_bytes_per_s * 1e-9, plan.ceilings.fma_f64_flops_per_s * 1e-9,
      plan.ceilings.fma_f32_flops_per_s * 1e-9, plan.ceilings.vector));
  int code = kDone;
  for (const Lab* lab : *labs) code = Worse(code, MeasureLab(session, *lab, plan));
  return code;
}

MeasuredCheck VerifyMeasured(const Session& session, const Lab& lab) {
  const std::string top = session.workspace().MeasuredFolder(lab.slug);
  MeasuredCheck check;
  const auto fail = [&check](std::string_view error) {
    Session::Error(error);
    check.errors.emplace_back(error);
  };
  const absl::StatusOr<std::vector<std::string>> devices = ReadNames(top);
  if (!devices.ok()) {
    if (!absl::IsNotFound(devices.status())) fail(devices.status().message());
    return check;
  }
  for (const std::string& device : *devices) {
    if (device[0] == '.') continue;
    std::optional<Json> last;
    const std::string folder = absl::StrCat(top, "/", device);
    const absl::StatusOr<std::vector<std::string>> names = ReadNames(folder);
    if (!names.ok()) {
      fail(names.status().message());
      continue;
    }
    for (const std::string& name : *names) {
      if (name[0] == '.' || MeasuredNumber(name)) continue;
      fail(absl::StrCat(session.workspace().Shorten(absl::StrCat(folder, "/", name)),
                        ": it is not named as measured files are (YYYYMMDD-N.json), so nothing "
                        "reads it; rename it or take it away"));
    }
    const std::vector<std::string> files = MeasuredFiles(folder);
    check.files += static_cast<int64_t>(files.size());
    for (const std::string& name : files) {
      const std::string path = absl::StrCat(top, "/", device, "/", name);
      const auto text = ReadFile(path);
      absl::StatusOr<Json> document = text.ok()
                                          ? ReadMeasured(*text, session.workspace().Shorten(path))
                                          : absl::StatusOr<Json>(text.status());
      if (document.ok() && (*document)["device"] != device) {
        document = absl::DataLossError(absl::StrCat(session.workspace().Shorten(path),
                                                    ": it is of the device ",
                                                    (*document)["device"].get<std::string>()));
      }
      if (!document.ok()) {
        fail(document.status().message());
        last.reset();
        continue;
      }
      last = *std::move(document);
    }
    if (!last || session.json() || session.line().Has("stream")) continue;
    int64_t hold = 0;
    for (const Json& claim : (*last)["claims"]) hold += claim["verdict"] == "holds" ? 1 : 0;
    Session::Out(
        absl::StrFormat("%-22s  measured on %s: %d files intact, the last of %s: %d figures, %d of "
                        "%d claims hold%s\n",
                        lab.slug, device, files.size(), (*last)["date"].get<std::string>(),
                        (*last)["figures"].size(), hold, (*last)["claims"].size(),
                        (*last)["comparison"]["drifted"].empty() ? "" : ", drifted"));
  }
  return check;
}

}  // namespace assay::lab
