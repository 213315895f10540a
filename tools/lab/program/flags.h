// SPDX-License-Identifier: Apache-2.0
//
// The command line: verbs with flags, help, and the nearest name for a mistyped one.
#ifndef ASSAY_TOOLS_LAB_PROGRAM_FLAGS_H_
#define ASSAY_TOOLS_LAB_PROGRAM_FLAGS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace assay::lab {

struct Flag {
  std::string name;        // without dashes
  std::string value = {};  // what stands after it ("N", "quick|browser|full"); empty: a switch
  std::string help = {};
  std::string fallback = {};  // the default, for the help; empty: none
  bool repeats = false;
};

struct Verb {
  std::string name;
  std::string arguments;              // "LAB...", for the help
  std::string summary;                // one line
  std::string details;                // a paragraph for its own help; may be empty
  std::vector<std::string> examples;  // "command   what it does", two or more
  std::vector<Flag> flags;
};

struct CommandLine {
  std::string verb;
  std::vector<std::string> arguments;
  std::map<std::string, std::vector<std::string>> flags;
  bool help = false;
  bool version = false;

  bool Has(std::string_view flag) const { return flags.find(std::string(flag)) != flags.end(); }
  // The last value given, or the fallback.
  std::string Get(std::string_view flag, std::string_view fallback = "") const;
};

// Reads the arguments (without the program's name): VERB [--flag=value | --flag value | --switch]
// [argument]..., in any order after the verb; -h, --help and --version anywhere; after -- only
// arguments.
// Fails: InvalidArgument for an unknown verb or flag (with the nearest), a flag without its value,
// a switch with one, a flag given twice that does not repeat.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                             const std::vector<Verb>& verbs,
                                             const std::vector<Flag>& common);

// The help of the program, or of one verb.
std::string ProgramHelp(std::string_view program, const std::vector<Verb>& verbs);
std::string VerbHelp(std::string_view program, const Verb& verb, const std::vector<Flag>& common);

const Verb* FindVerb(const std::vector<Verb>& verbs, std::string_view name);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_PROGRAM_FLAGS_H_
