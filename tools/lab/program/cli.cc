// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/cli.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/lab/program/files.h"
#include "tools/lab/program/measure.h"
#include "tools/lab/program/run.h"
#include "tools/lab/program/session.h"
#include "tools/lab/program/workspace.h"
#include "tools/lab/records/json.h"

#ifndef ASSAY_BUILD_FLAGS
#define ASSAY_BUILD_FLAGS "unknown"
#endif

namespace assay::lab {
namespace {

constexpr char kProgram[] = "lab";

const Flag kProfile = {.name = "profile",
                       .value = "P[,P...]",
                       .help = "quick, browser, full, or all three: all",
                       .fallback = "browser"};
const Flag kThreads = {.name = "threads",
                       .value = "N",
                       .help = "threads a lab may use; exact values do not depend on it",
                       .fallback = "1"};
const Flag kJson = {.name = "json", .help = "one JSON document on stdout and nothing else there"};
const Flag kStream = {.name = "stream",
                      .help = "JSON lines instead, one a lab and profile, as they come"};

// What is at `out` is replaced and removed, so it may only be nothing, an empty folder, or a site.
absl::Status CheckReplaceable(const std::string& out) {
  const absl::StatusOr<std::vector<std::string>> names = ReadNames(out);
  if (absl::IsNotFound(names.status())) return absl::OkStatus();
  if (!names.ok()) return absl::InvalidArgumentError(names.status().message());
  if (names->empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat(out, "/manifest.json"));
  if (text.ok()) {
    const absl::StatusOr<Json> manifest = ParseJson(*text, out);
    // Other programs write a manifest.json too.
    if (manifest.ok() && manifest->is_object() && manifest->contains("schema") &&
        (*manifest)["schema"] == "assay-manifest/1")
      return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(out,
                   ": it holds something and no manifest.json of a site, so it is not replaced; "
                   "empty it, or name another folder with --out=DIR"));
}

int RenderVerb(const Session& session) {
  if (!session.line().arguments.empty()) {
    Session::Error(
        absl::StrCat("render takes no argument, found '", session.line().arguments[0], "'"));
    return kUsage;
  }
  const std::string& root = session.workspace().root();
  const std::string out = session.line().Get("out", absl::StrCat(root, "/dist"));
  if (absl::Status status = CheckReplaceable(out); !status.ok()) {
    Session::Error(status.message());
    return kUsage;
  }
  const std::vector<std::string> build = {"bazel", "build", "--noshow_progress", "//web/site"};
  session.Say("building //web/site\n");
  absl::StatusOr<int> code = RunCommand(build, root);
  if (!code.ok()) {
    Session::Error(absl::StrCat(code.status().message(), "; tools/setup installs it"));
    return kMissing;
  }
  if (*code != 0) {
    Session::Error(absl::StrCat("the site was not built (bazel ended with code ", *code,
                                "); the lines above say why"));
    return kNo;
  }
  // The link bazel-bin may be of another output base, or missing.
  absl::StatusOr<std::string> bin = Capture({"bazel", "info", "bazel-bin"}, root);
  const std::string built =
      absl::StrCat(bin.ok() ? bin->substr(0, bin->find('\n')) : "bazel-bin", "/web/site/dist");
  if (!bin.ok() || !FileExists(built)) {
    Session::Error(absl::StrCat(built, ": the built site is not there"));
    return kInternal;
  }
  if (absl::Status status = ReplaceTree(out, built); !status.ok()) {
    Session::Error(status.message());
    return kInternal;
  }
  Session::Out(absl::StrCat("rendered ", session.workspace().Shorten(out), "\n"));
  return kDone;
}

std::string VersionText(const Workspace* workspace) {
  std::string commit = "unknown";
  if (workspace != nullptr) {
    const Commit state = workspace->ReadCommit();
    commit =
        absl::StrCat(state.hash, state.hash != "unknown" && state.dirty ? " with changes" : "");
  }
  return absl::StrCat(kProgram, " of commit ", commit, ", built with ", CompilerName(), ", flags ",
                      ASSAY_BUILD_FLAGS, "\n");
}

}  // namespace

const std::vector<Flag>& CommonFlags() {
  static const auto* const flags = new std::vector<Flag>{
      {.name = "root",
       .value = "DIR",
       .help = "the workspace",
       .fallback = "where the program was started from"},
      {.name = "progress",
       .value = "auto|bar|plain|none",
       .help = "progress on stderr: a bar on a terminal, a line for each tenth elsewhere",
       .fallback = "auto"},
      {.name = "quiet", .help = "no talk on stderr"},
      {.name = "verbose", .help = "more of it"},
      {.name = "help", .help = "this text"},
      {.name = "version", .help = "commit and build flags"},
  };
  return *flags;
}

const std::vector<Verb>& Verbs() {
  static const auto* const verbs = new std::vector<Verb>{
      {.name = "list",
       .arguments = "[LAB...]",
       .summary = "Lists the labs and which profiles they have records of.",
       .details = "",
       .examples = {"list                    every lab, one a line",
                    "list --json fft         one lab for a program"},
       .flags = {kJson}},
      {.name = "run",
       .arguments = "LAB...|all",
       .summary = "Runs labs, prints what they find, and keeps or compares their records.",
       .details = "Where a lab has no record yet, run writes one. Where it has, run compares, and "
                  "where a value differs\n"
                  "it prints old and new, writes nothing and ends with code 1, unless --accept "
                  "says that the change is\n"
                  "meant. With --set or --seed it is an experiment: printed, never compared, never "
                  "written.",
       .examples = {"run fft --profile=quick              a few seconds, compared with the record",
                    "run fft --profile=all --accept       make all records anew",
                    "run fft --set n=1000 --seed=7        try other arguments"},
       .flags = {kProfile,
                 {.name = "set",
                  .value = "NAME=VALUE",
                  .help = "another value for a knob of the lab; may be repeated",
                  .repeats = true},
                 {.name = "seed", .value = "N", .help = "another seed", .fallback = "the lab's, 1"},
                 kThreads,
                 {.name = "accept", .help = "write the records even where a value differs"},
                 {.name = "out",
                  .value = "DIR",
                  .help = "write the records to DIR/LAB/PROFILE and compare with nothing"},
                 {.name = "report",
                  .help = "print the lab's own document (report/1) and nothing else; no records"},
                 kJson,
                 kStream}},
      {.name = "verify",
       .arguments = "LAB...|all",
       .summary = "Recomputes values and compares them with the records.",
       .details = "Ends with code 1 when a value, a bound or a claim's verdict is not what the "
                  "record says, or a record\n"
                  "is damaged, and with 3 when there is no record. A claim that fails as recorded "
                  "is printed as false,\n"
                  "and is no failure: a claim our data refute is a result.",
       .examples =
           {"verify all                           the browser profile of every lab",
            "verify fft --profile=full --exact    the article's exact numbers",
            "verify all --stale                   which records were made from other sources"},
       .flags = {kProfile,
                 {.name = "exact", .help = "only exact figures and tables"},
                 {.name = "bounded", .help = "only bounded, modelled and cited figures"},
                 {.name = "measured",
                  .help = "only whether measured files are intact (code 3 if there are none)"},
                 {.name = "stale",
                  .help = "compute nothing; list records whose sources, arguments or data changed "
                          "(code 1 if any)"},
                 kThreads,
                 kJson,
                 kStream}},
      {.name = "diff",
       .arguments = "LAB...|all",
       .summary = "Shows every value that is not as recorded: old, new, bits, ulps.",
       .details = "",
       .examples = {"diff fft --profile=full              recompute and compare",
                    "diff all --against=before        compare with records written by run --out"},
       .flags = {kProfile,
                 {.name = "against",
                  .value = "DIR",
                  .help = "compare with the records in DIR/LAB/PROFILE instead of computing"},
                 {.name = "cells",
                  .value = "N",
                  .help = "differing cells shown of one table",
                  .fallback = "20"},
                 kThreads,
                 kJson,
                 kStream}},
      {.name = "render",
       .arguments = "",
       .summary = "Builds the site and puts it into dist/, in one step.",
       .details = "",
       .examples = {"render                               dist/ of the workspace",
                    "render --out=site               elsewhere"},
       .flags = {{.name = "out",
                  .value = "DIR",
                  .help = "where the site goes; a site or an empty folder there is replaced",
                  .fallback = "dist"}}},
      {.name = "measure",
       .arguments = "LAB...|all",
       .summary = "Times what the labs have to time, on this machine, and keeps every sample.",
       .details =
           "Adds one file records/measured/DEVICE/YYYYMMDD-N.json a lab, with device, "
           "build, method, load and the\n"
           "ceilings of the machine measured in the same session. Compared with the file "
           "before it of the same\n"
           "device and profile, a median may move by max(10 %, 3 CV); beyond that it is marked "
           "drifted, both files stay,\n"
           "and the code is 1.",
       .examples = {"measure fft                          on this machine, under its own name",
                    "measure all --device=epyc-2c --budget=60s"},
       .flags = {{.name = "device",
                  .value = "ID",
                  .help = "what web/devices calls this machine",
                  .fallback = "made from processor and cores"},
                 {.name = "budget",
                  .value = "SECONDS",
                  .help = "no new round of one comparison begins after it; three are always run",
                  .fallback = "240s"},
                 {.name = "repetitions",
                  .value = "N",
                  .help = "samples of each variant",
                  .fallback = "20"},
                 {.name = "profile",
                  .value = "P",
                  .help = "the size: quick, browser or full",
                  .fallback = "full"},
                 {.name = "allow-dirty",
                  .help = "measure a tree that differs from its commit; recorded as dirty=true"},
                 kThreads,
                 kJson}},
      {.name = "data",
       .arguments = "LAB NAME",
       .summary = "Writes the bytes of a lab's data as the lab sees them: inflated and sliced.",
       .details = "",
       .examples = {"data nearest-neighbours images --out=images",
                    "data nearest-neighbours images | sha256sum"},
       .flags = {{.name = "out", .value = "FILE", .help = "where they go", .fallback = "stdout"}}},
  };
  return *verbs;
}

int Main(const std::vector<std::string>& arguments) {
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1),
                                      arguments.end());
  absl::StatusOr<CommandLine> line = ParseCommandLine(rest, Verbs(), CommonFlags());
  if (!line.ok()) {
    Session::Error(absl::StrCat(line.status().message(), " (", kProgram, " --help)"));
    return kUsage;
  }
  const Verb* verb = FindVerb(Verbs(), line->verb);
  if (line->help) {
    Session::Out(verb == nullptr ? ProgramHelp(kProgram, Verbs())
                                 : VerbHelp(kProgram, *verb, CommonFlags()));
    return kDone;
  }
  // `bazel run` starts programs in their runfiles and says where the caller stood: paths are meant
  // there.
  std::error_code ignored;
  const std::string program =
      std::filesystem::absolute(arguments.empty() ? kProgram : arguments[0], ignored).string();
  if (const char* caller = std::getenv("BUILD_WORKING_DIRECTORY")) {
    std::filesystem::current_path(caller, ignored);
  }
  absl::StatusOr<Workspace> workspace = Workspace::Find(line->Get("root"), program);
  if (line->version) {
    Session::Out(VersionText(workspace.ok() ? &*workspace : nullptr));
    return kDone;
  }
  if (verb == nullptr) {
    Session::Error("which verb? list, run, verify, diff, render, measure or data (lab --help)");
    return kUsage;
  }
  const std::string progress = line->Get("progress", "auto");
  if (progress != "auto" && progress != "bar" && progress != "plain" && progress != "none") {
    Session::Error(
        absl::StrCat("--progress is '", progress, "'; expected auto, bar, plain or none"));
    return kUsage;
  }
  if (!workspace.ok()) {
    Session::Error(workspace.status().message());
    return kUsage;
  }
  CatchInterrupts();
  const std::string name = verb->name;
  const Session session(*std::move(line), *std::move(workspace));
  int code = kInternal;
  if (name == "list") code = ListVerb(session);
  if (name == "run") code = RunVerb(session);
  if (name == "verify") code = VerifyVerb(session);
  if (name == "diff") code = DiffVerb(session);
  if (name == "render") code = RenderVerb(session);
  if (name == "measure") code = MeasureVerb(session);
  if (name == "data") code = DataVerb(session);
  // A reader that went away or a full disk must not look like success.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && code == kDone) {
    Session::Error("stdout cannot be written");
    code = kInternal;
  }
  return code;
}

}  // namespace assay::lab
