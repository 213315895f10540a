// SPDX-License-Identifier: Apache-2.0
// usage: verdicts_table [--help]
//
// Runs the verdict table under five schedules and prints a line for each row, its fields between
// tabs: name, finding, under how many schedules the bug was named with its line, under how many the
// clean kernel was accused, microseconds a launch (median of all).
//
// Exit code: 0 every bug named and no false alarm, 1 otherwise, 2 wrong use.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <vector>

#include "gpu/simt/launch.h"
#include "gpu/simt/report.h"
#include "gpu/simt/verdicts/verdicts.h"

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

int Main() {
  int faults = 0;
  for (const Verdict& verdict : Verdicts()) {
    int named = 0;
    int accused = 0;
    std::vector<double> times;
    for (const Order& order : kOrders) {
      for (const bool bug : {true, false}) {
        const auto start = std::chrono::steady_clock::now();
        const Outcome outcome = RunVerdict(verdict, bug, order.schedule, order.seed);
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        times.push_back(time.count() * 1e6);
        if (bug) {
          named += Names(outcome, verdict.finding);
        } else {
          accused += !outcome.status.ok() || !outcome.diagnostics.empty();
        }
      }
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    std::printf("%.*s\t%.*s\t%d\t%d\t%.0f\n", static_cast<int>(verdict.name.size()),
                verdict.name.data(), static_cast<int>(Name(verdict.finding).size()),
                Name(verdict.finding).data(), named, accused, times[times.size() / 2]);
    faults += named != static_cast<int>(std::size(kOrders)) || accused != 0;
  }
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::simt::verdicts

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::string_view(argv[1]) == "--help";
    std::fputs(
        "usage: verdicts_table [--help]\nRuns the verdict table; one line a row: name, finding, "
        "times named, times falsely accused, microseconds.\n",
        help ? stdout : stderr);
    return help ? 0 : 2;
  }
  return assay::simt::verdicts::Main();
}
