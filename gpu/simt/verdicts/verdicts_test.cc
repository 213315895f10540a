// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/verdicts/verdicts.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "gpu/simt/launch.h"
#include "gpu/simt/report.h"
#include "gtest/gtest.h"

namespace assay::simt::verdicts {
namespace {

struct Order {
  Schedule schedule;
  uint64_t seed;
};
constexpr Order kOrders[] = {{Schedule::kForward, 0},
                             {Schedule::kReverse, 0},
                             {Schedule::kRandom, 1},
                             {Schedule::kRandom, 2},
                             {Schedule::kRandom, 3}};

std::string Said(const Outcome& outcome) {
  return std::string(outcome.status.message()) + "\n" + Format(outcome.diagnostics);
}

// Whether a finding is the row's, or comes of the same bug: what a race reads too early is
// uninitialised on the same line, and some of its stores may store what is there.
bool Follows(const Diagnostic& diagnostic, const Verdict& verdict, const Outcome& outcome) {
  if (diagnostic.finding == verdict.finding) return true;
  if (diagnostic.severity == Severity::kWarning) {
    return verdict.finding == Finding::kRace && diagnostic.finding == Finding::kSameValueStores;
  }
  return std::any_of(diagnostic.sites.begin(), diagnostic.sites.end(),
                     [&](const Site& site) { return site.line == outcome.bug_line; });
}

TEST(VerdictsTest, HasEachRowOnce) {
  std::set<std::string_view> names;
  for (const Verdict& verdict : Verdicts()) {
    EXPECT_TRUE(names.insert(verdict.name).second) << verdict.name;
  }
  EXPECT_GE(names.size(), 90u);
}

TEST(VerdictsTest, NamesEveryBugWithItsLineUnderEverySchedule) {
  for (const Verdict& verdict : Verdicts()) {
    for (const Order& order : kOrders) {
      const Outcome outcome = RunVerdict(verdict, /*bug=*/true, order.schedule, order.seed);
      EXPECT_TRUE(Names(outcome, verdict.finding))
          << verdict.name << ", schedule " << static_cast<int>(order.schedule) << ", seed "
          << order.seed << ": expected " << Name(verdict.finding) << " on line " << outcome.bug_line
          << ", but\n"
          << Said(outcome);
      for (const Diagnostic& diagnostic : outcome.diagnostics) {
        EXPECT_TRUE(Follows(diagnostic, verdict, outcome))
            << verdict.name << ": " << Name(diagnostic.finding) << " is beside the point\n"
            << Said(outcome);
      }
    }
  }
}

TEST(VerdictsTest, RaisesNoFalseAlarmUnderAnySchedule) {
  for (const Verdict& verdict : Verdicts()) {
    for (const Order& order : kOrders) {
      const Outcome outcome = RunVerdict(verdict, /*bug=*/false, order.schedule, order.seed);
      EXPECT_TRUE(outcome.status.ok() && outcome.diagnostics.empty())
          << verdict.name << ", schedule " << static_cast<int>(order.schedule) << ", seed "
          << order.seed << '\n'
          << Said(outcome);
    }
    const Outcome outcome = RunCleanVerdict(verdict);
    EXPECT_TRUE(outcome.status.ok() && outcome.diagnostics.empty()) << verdict.name << '\n'
                                                                    << Said(outcome);
  }
}

}  // namespace
}  // namespace assay::simt::verdicts
