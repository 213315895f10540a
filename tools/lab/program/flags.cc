// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/flags.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/lab/lab.h"

namespace assay::lab {
namespace {

constexpr std::string_view kExitCodes =
    "Exit codes: 0 done, 1 ran and the answer is no (a value differs, a record is damaged),\n"
    "2 wrong use, 3 something needed is missing (skipped, not passed), 4 internal error,\n"
    "130 interrupted.\n";

std::string Hint(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

std::string FlagLines(const std::vector<Flag>& flags) {
  size_t width = 0;
  const auto left = [](const Flag& flag) {
    return flag.value.empty() ? absl::StrCat("--", flag.name)
                              : absl::StrCat("--", flag.name, "=", flag.value);
  };
  for (const Flag& flag : flags) width = std::max(width, left(flag).size());
  width = std::min<size_t>(width, 34);
  std::string text;
  for (const Flag& flag : flags) {
    std::string line = absl::StrCat("  ", left(flag));
    if (line.size() > width + 2) {
      absl::StrAppend(&text, line, "\n");
      line.clear();
    }
    line.resize(width + 4, ' ');
    std::string help = flag.help;
    if (!flag.fallback.empty()) absl::StrAppend(&help, " (default ", flag.fallback, ")");
    // Wrap at 100 columns.
    std::string out = line;
    size_t column = width + 4;
    for (std::string_view word : absl::StrSplit(help, ' ')) {
      if (column + 1 + word.size() > 100 && column > width + 4) {
        absl::StrAppend(&out, "\n", std::string(width + 4, ' '));
        column = width + 4;
      }
      if (column > width + 4) {
        out += ' ';
        ++column;
      }
      absl::StrAppend(&out, word);
      column += word.size();
    }
    absl::StrAppend(&text, out, "\n");
  }
  return text;
}

}  // namespace

std::string CommandLine::Get(std::string_view flag, std::string_view fallback) const {
  const auto found = flags.find(std::string(flag));
  return found == flags.end() || found->second.empty() ? std::string(fallback)
                                                       : found->second.back();
}

const Verb* FindVerb(const std::vector<Verb>& verbs, std::string_view name) {
  for (const Verb& verb : verbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                             const std::vector<Verb>& verbs,
                                             const std::vector<Flag>& common) {
  CommandLine line;
  const Verb* verb = nullptr;
  bool only_arguments = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (only_arguments) {
      line.arguments.push_back(argument);
      continue;
    }
    if (argument == "-h" || argument == "--help") {
      line.help = true;
      continue;
    }
    if (argument == "--version") {
      line.version = true;
      continue;
    }
    if (argument == "--" && verb != nullptr) {
      only_arguments = true;
      continue;
    }
    if (argument.empty() || argument[0] != '-' || argument == "-") {
      if (verb != nullptr) {
        line.arguments.push_back(argument);
        continue;
      }
      verb = FindVerb(verbs, argument);
      if (verb == nullptr) {
        std::vector<std::string> known;
        for (const Verb& candidate : verbs) known.push_back(candidate.name);
        const std::string hint = Hint(argument, known);
        return absl::InvalidArgumentError(absl::StrCat(
            "unknown verb '", argument, "'",
            hint.empty() ? absl::StrCat("; known are ", absl::StrJoin(known, ", ")) : hint));
      }
      line.verb = argument;
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    std::vector<const Flag*> flags;
    if (verb != nullptr) {
      for (const Flag& flag : verb->flags) flags.push_back(&flag);
    }
    for (const Flag& flag : common) flags.push_back(&flag);
    const auto found = std::find_if(flags.begin(), flags.end(), [&name](const Flag* flag) {
      return "--" + flag->name == name;
    });
    if (found == flags.end()) {
      std::vector<std::string> known = {"--help", "--version"};
      for (const Flag* flag : flags) known.push_back("--" + flag->name);
      return absl::InvalidArgumentError(
          absl::StrCat("unknown flag ", name,
                       verb == nullptr ? " before the verb" : absl::StrCat(" of ", verb->name),
                       Hint(name, known)));
    }
    const Flag& flag = **found;
    std::string value;
    if (flag.value.empty()) {
      if (equals != std::string::npos) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the flag ", name, " takes no value, found '", argument.substr(equals + 1), "'"));
      }
    } else if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("the flag ", name, " needs a value: ", name, "=", flag.value));
    }
    std::vector<std::string>& values = line.flags[flag.name];
    if (!values.empty() && !flag.repeats && !flag.value.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("the flag ", name, " is given twice"));
    }
    values.push_back(value);
  }
  return line;
}

std::string ProgramHelp(std::string_view program, const std::vector<Verb>& verbs) {
  std::string text =
      absl::StrCat("usage: ", program, " VERB [FLAGS] [LAB...]\n\n",
                   "Runs the labs behind the articles and keeps their records.\n\nVerbs:\n");
  for (const Verb& verb : verbs) {
    std::string name = verb.name;
    name.resize(9, ' ');
    absl::StrAppend(&text, "  ", name, verb.summary, "\n");
  }
  absl::StrAppend(&text, "\nExamples:\n  ", program,
                  " run fft                 run one lab and compare with its records\n  ", program,
                  " verify all              recompute every lab's browser profile\n\n", program,
                  " VERB --help tells more. ", kExitCodes);
  return text;
}

std::string VerbHelp(std::string_view program, const Verb& verb, const std::vector<Flag>& common) {
  std::string text = absl::StrCat("usage: ", program, " ", verb.name, " [FLAGS] ", verb.arguments,
                                  "\n\n", verb.summary, "\n");
  if (!verb.details.empty()) absl::StrAppend(&text, "\n", verb.details, "\n");
  absl::StrAppend(&text, "\nExamples:\n");
  for (const std::string& example : verb.examples)
    absl::StrAppend(&text, "  ", program, " ", example, "\n");
  if (!verb.flags.empty()) absl::StrAppend(&text, "\nFlags:\n", FlagLines(verb.flags));
  absl::StrAppend(&text, "\nFlags of every verb:\n", FlagLines(common), "\n", kExitCodes);
  return text;
}

}  // namespace assay::lab
