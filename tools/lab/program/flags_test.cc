// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/flags.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tools/lab/program/cli.h"

namespace assay::lab {
namespace {

absl::StatusOr<CommandLine> Parse(const std::vector<std::string>& arguments) {
  return ParseCommandLine(arguments, Verbs(), CommonFlags());
}

std::string Message(const std::vector<std::string>& arguments) {
  return std::string(Parse(arguments).status().message());
}

TEST(FlagsTest, ReadsFlagsInBothForms) {
  const auto line = Parse(
      {"run", "--profile=quick", "fft", "--set", "n=3", "--set=m=4", "--accept", "--", "--odd"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->verb, "run");
  EXPECT_EQ(line->arguments, (std::vector<std::string>{"fft", "--odd"}));
  EXPECT_EQ(line->Get("profile"), "quick");
  EXPECT_EQ(line->flags.at("set"), (std::vector<std::string>{"n=3", "m=4"}));
  EXPECT_TRUE(line->Has("accept"));
  EXPECT_FALSE(line->Has("json"));
  EXPECT_EQ(line->Get("seed", "1"), "1");
  EXPECT_TRUE(Parse({"-h"})->help);
  EXPECT_TRUE(Parse({"run", "--help"})->help);
  EXPECT_TRUE(Parse({"--version"})->version);
  EXPECT_TRUE(Parse({"--quiet", "list"})->Has("quiet"));
  EXPECT_EQ(Parse({})->verb, "");
  EXPECT_EQ(Parse({"run", "fft", "--seed=-1"})->Get("seed"), "-1");
  EXPECT_EQ(Parse({"run", "--out="})->Get("out", "x"), "");
}

TEST(FlagsTest, NamesTheNearest) {
  EXPECT_EQ(Message({"veirfy"}), "unknown verb 'veirfy'; did you mean verify?");
  EXPECT_NE(Message({"xxxxxx"}).find("known are list, run, verify"), std::string::npos);
  EXPECT_EQ(Message({"run", "--porfile=quick"}),
            "unknown flag --porfile of run; did you mean --profile?");
  EXPECT_EQ(Message({"run", "--jsn"}), "unknown flag --jsn of run; did you mean --json?");
  EXPECT_EQ(Message({"list", "--accept"}), "unknown flag --accept of list");
  EXPECT_EQ(Message({"--accept", "run"}), "unknown flag --accept before the verb");
}

TEST(FlagsTest, RefusesValuesThatDoNotFit) {
  EXPECT_EQ(Message({"run", "--accept=yes"}), "the flag --accept takes no value, found 'yes'");
  EXPECT_EQ(Message({"run", "--seed"}), "the flag --seed needs a value: --seed=N");
  EXPECT_EQ(Message({"run", "--seed=1", "--seed=2"}), "the flag --seed is given twice");
}

TEST(HelpTest, EveryVerbSaysHowItIsUsed) {
  const std::string program = ProgramHelp("lab", Verbs());
  for (const Verb& verb : Verbs()) {
    EXPECT_NE(program.find("\n  " + verb.name), std::string::npos);
    EXPECT_GE(verb.examples.size(), 2u) << verb.name;
    const std::string help = VerbHelp("lab", verb, CommonFlags());
    for (const char* part :
         {"usage: lab ", "Examples:", "Exit codes: 0 done", "--progress=", "--quiet"}) {
      EXPECT_NE(help.find(part), std::string::npos) << verb.name << part;
    }
    for (const Flag& flag : verb.flags) EXPECT_NE(help.find("--" + flag.name), std::string::npos);
    size_t begin = 0;
    for (size_t end = help.find('\n'); end != std::string::npos; end = help.find('\n', begin)) {
      EXPECT_LE(end - begin, 110u) << help.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace assay::lab
