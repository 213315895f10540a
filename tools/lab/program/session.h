// SPDX-License-Identifier: Apache-2.0
//
// One call of the program: its arguments, where things lie, how it talks.
#ifndef ASSAY_TOOLS_LAB_PROGRAM_SESSION_H_
#define ASSAY_TOOLS_LAB_PROGRAM_SESSION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/lab/lab.h"
#include "tools/lab/program/flags.h"
#include "tools/lab/program/progress.h"
#include "tools/lab/program/workspace.h"

namespace assay::lab {

enum ExitCode { kDone = 0, kNo = 1, kUsage = 2, kMissing = 3, kInternal = 4 };

// The exit code that tells more of two: 4, then 2, 1, 3, 0. (Something missing is not a pass, but a
// no says more.)
int Worse(int a, int b);

class Session {
 public:
  Session(CommandLine line, Workspace workspace);

  const CommandLine& line() const { return line_; }
  const Workspace& workspace() const { return workspace_; }
  bool json() const { return line_.Has("json"); }
  bool quiet() const { return line_.Has("quiet"); }
  bool verbose() const { return line_.Has("verbose"); }

  // Data, to stdout.
  static void Out(std::string_view text);
  // Talk, to stderr; nothing with --quiet.
  void Say(std::string_view text) const;
  // An error, to stderr: "lab: ...".
  static void Error(std::string_view text);

  // A word in colour where stdout is a terminal and NO_COLOR is unset.
  std::string Good(std::string_view text) const;
  std::string Bad(std::string_view text) const;

  Progress MakeProgress(std::string label) const;

  // Labs as the command line names them; "all" for each. Fails: InvalidArgument for an unknown name
  // (with the nearest), for none named unless `none_is_all`; NotFound where the program holds none.
  absl::StatusOr<std::vector<const Lab*>> Labs(bool none_is_all) const;

  // --profile: one, several with commas, or all. Fails: InvalidArgument.
  absl::StatusOr<std::vector<Profile>> Profiles(Profile fallback) const;

  // --set and --seed. Fails: InvalidArgument.
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Overrides() const;

  // A flag that is an integer. Fails: InvalidArgument outside [low, high].
  absl::StatusOr<int64_t> Integer(std::string_view flag, int64_t fallback, int64_t low,
                                  int64_t high) const;

 private:
  CommandLine line_;
  Workspace workspace_;
  bool colour_;
};

// The compiler of this program, with its version.
std::string CompilerName();

// A monotonic clock, in seconds.
double Now();

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_PROGRAM_SESSION_H_
