// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/session.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/lab/number.h"

namespace assay::lab {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int TerminalWidth() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

int Worse(int a, int b) {
  constexpr int kRank[] = {0, 2, 3, 1, 4};
  return kRank[a] >= kRank[b] ? a : b;
}

std::string CompilerName() {
#ifdef __clang__
  return absl::StrCat("clang ", __clang_major__, ".", __clang_minor__, ".", __clang_patchlevel__);
#else
  return absl::StrCat("g++ ", __VERSION__);
#endif
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Session::Session(CommandLine line, Workspace workspace)
    : line_(std::move(line)),
      workspace_(std::move(workspace)),
      colour_(isatty(STDOUT_FILENO) != 0 && Environment("NO_COLOR").empty() &&
              Environment("TERM") != "dumb") {}

void Session::Out(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void Session::Say(std::string_view text) const {
  if (quiet()) return;
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Session::Error(std::string_view text) {
  std::fflush(stdout);
  const std::string line = absl::StrCat("lab: ", text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string Session::Good(std::string_view text) const {
  return colour_ ? absl::StrCat("\x1b[32m", text, "\x1b[0m") : std::string(text);
}

std::string Session::Bad(std::string_view text) const {
  return colour_ ? absl::StrCat("\x1b[31m", text, "\x1b[0m") : std::string(text);
}

Progress Session::MakeProgress(std::string label) const {
  const std::string mode = line_.Get("progress", "auto");
  ProgressMode chosen =
      ChooseProgress(isatty(STDERR_FILENO) != 0, Environment("TERM"), Environment("CI"));
  if (mode == "bar") chosen = ProgressMode::kBar;
  if (mode == "plain") chosen = ProgressMode::kPlain;
  if (mode == "none" || quiet()) chosen = ProgressMode::kNone;
  return Progress(
      chosen, std::move(label),
      [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
      },
      &Now, TerminalWidth());
}

absl::StatusOr<std::vector<const Lab*>> Session::Labs(bool none_is_all) const {
  std::vector<const Lab*> all = AllLabs();
  std::vector<std::string> slugs;
  for (const Lab* lab : all) slugs.push_back(lab->slug);
  if (line_.arguments.empty() && !none_is_all) {
    return absl::InvalidArgumentError(
        absl::StrCat("name a lab, or all; there are ", absl::StrJoin(slugs, ", ")));
  }
  std::vector<const Lab*> chosen;
  for (const std::string& argument : line_.arguments) {
    if (argument == "all") continue;
    const Lab* lab = FindLab(argument);
    if (lab == nullptr) {
      const std::string nearest = NearestName(argument, slugs);
      return absl::InvalidArgumentError(
          absl::StrCat("there is no lab called '", argument, "'",
                       nearest.empty() ? absl::StrCat("; there are ", absl::StrJoin(slugs, ", "))
                                       : absl::StrCat("; did you mean ", nearest, "?")));
    }
    if (std::find(chosen.begin(), chosen.end(), lab) == chosen.end()) chosen.push_back(lab);
  }
  const auto& arguments = line_.arguments;
  if (arguments.empty() || std::find(arguments.begin(), arguments.end(), "all") != arguments.end())
    chosen = all;
  if (chosen.empty()) return absl::NotFoundError("this program holds no lab");
  return chosen;
}

absl::StatusOr<std::vector<Profile>> Session::Profiles(Profile fallback) const {
  if (!line_.Has("profile")) return std::vector<Profile>{fallback};
  const std::string text = line_.Get("profile");
  if (text == "all")
    return std::vector<Profile>{Profile::kQuick, Profile::kBrowser, Profile::kFull};
  std::vector<Profile> profiles;
  for (std::string_view name : absl::StrSplit(text, ',')) {
    const std::optional<Profile> profile = ParseProfile(name);
    if (!profile) {
      return absl::InvalidArgumentError(
          absl::StrCat("the profile is '", name, "'; expected quick, browser, full or all"));
    }
    if (std::find(profiles.begin(), profiles.end(), *profile) == profiles.end())
      profiles.push_back(*profile);
  }
  return profiles;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Session::Overrides() const {
  std::vector<std::pair<std::string, std::string>> overrides;
  if (const auto set = line_.flags.find("set"); set != line_.flags.end()) {
    for (const std::string& text : set->second) {
      const size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("--set wants name=value, found '", text, "'"));
      }
      overrides.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  if (line_.Has("seed")) {
    if (!ParseUint(line_.Get("seed"))) {
      return absl::InvalidArgumentError(absl::StrCat("--seed is '", line_.Get("seed"),
                                                     "'; expected an integer from 0 to 2^64 - 1"));
    }
    overrides.emplace_back("seed", line_.Get("seed"));
  }
  return overrides;
}

absl::StatusOr<int64_t> Session::Integer(std::string_view flag, int64_t fallback, int64_t low,
                                         int64_t high) const {
  if (!line_.Has(flag)) return fallback;
  const std::optional<int64_t> value = ParseInt(line_.Get(flag));
  if (!value || *value < low || *value > high) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", flag, " is '", line_.Get(flag), "'; expected an integer from ", low, " to ", high));
  }
  return *value;
}

}  // namespace assay::lab
