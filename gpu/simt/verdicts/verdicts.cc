// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/verdicts/verdicts.h"

#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/verdicts/barriers.cu.h"
#include "gpu/simt/verdicts/bug.h"
#include "gpu/simt/verdicts/global_races.cu.h"
#include "gpu/simt/verdicts/histograms.cu.h"
#include "gpu/simt/verdicts/memory.cu.h"
#include "gpu/simt/verdicts/shared_races.cu.h"

namespace assay::simt::verdicts {
namespace {

std::vector<int> Iota(int n) {
  std::vector<int> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

absl::StatusOr<gptr<int>> MakeOut(const Verdict& verdict, DeviceMemory& memory) {
  if (verdict.garbage) return memory.Allocate<int>(verdict.n, "out");
  return memory.Upload(std::vector<int>(static_cast<size_t>(verdict.n)), "out");
}

Outcome OutcomeOf(LaunchResult result) {
  return {std::move(result.status), std::move(result.diagnostics), bug_line};
}

// What one schedule cannot show.
Outcome UnderAllSchedules(const Verdict& verdict, bool bug, const LaunchConfig& config) {
  DeviceMemory memory;
  const gptr<int> in = memory.Upload(Iota(verdict.n), "in").value();
  const gptr<int> out = MakeOut(verdict, memory).value();
  Outcome outcome = OutcomeOf(LaunchUnderAllSchedules(
      memory, config, /*random_runs=*/3, bug ? verdict.bug : verdict.clean, in, out, verdict.n));
  outcome.bug_line = 0;  // results differ, and no line is to blame
  return outcome;
}

// ---- What hosts do wrong. `in` is read by the kernel Copy.

Outcome UseAfterFree(const Verdict& verdict, bool bug, const LaunchConfig& config) {
  DeviceMemory memory;
  const gptr<int> in = memory.Upload(Iota(verdict.n), "in").value();
  const gptr<int> out = MakeOut(verdict, memory).value();
  if (bug && !memory.Free(in).ok()) return {};
  return OutcomeOf(Launch(memory, config, verdict.bug, in, out, verdict.n));
}

// The buffer has grown, and with it moved; somebody kept the old pointer.
Outcome StalePointer(const Verdict& verdict, bool bug, const LaunchConfig& config) {
  DeviceMemory memory;
  const gptr<int> old = memory.Upload(Iota(verdict.n), "old").value();
  const gptr<int> grown = memory.Allocate<int>(2 * verdict.n, "grown").value();
  if (!memory.Copy(grown, gptr<const int>(old), verdict.n).ok()) return {};
  if (!memory.Free(old).ok()) return {};
  const gptr<int> out = MakeOut(verdict, memory).value();
  return OutcomeOf(Launch(memory, config, verdict.bug, bug ? old : grown, out, verdict.n));
}

Outcome Leak(const Verdict& verdict, bool bug, const LaunchConfig& config) {
  DeviceMemory memory;
  const gptr<int> in = memory.Upload(Iota(verdict.n), "in").value();
  const gptr<int> out = MakeOut(verdict, memory).value();
  Outcome outcome = OutcomeOf(Launch(memory, config, verdict.clean, in, out, verdict.n));
  if (!memory.Free(out).ok() || (!bug && !memory.Free(in).ok())) return {};
  for (Diagnostic& leak : memory.Leaks()) outcome.diagnostics.push_back(std::move(leak));
  outcome.bug_line = 0;  // no line of a kernel is to blame
  return outcome;
}

// Frees `again` after `out`: the buffer itself, or a place inside another.
Outcome FreeTwo(const Verdict& verdict, DeviceMemory& memory, const gptr<int>& out,
                const gptr<int>& again) {
  Outcome outcome;
  if (!memory.Free(out).ok()) return outcome;
  outcome.status = memory.Free(again);
  if (!outcome.status.ok()) {
    Diagnostic diagnostic;
    diagnostic.finding = verdict.finding;
    diagnostic.message = std::string(outcome.status.message());
    outcome.diagnostics.push_back(std::move(diagnostic));
  }
  return outcome;
}
Outcome DoubleFree(const Verdict& verdict, bool bug, const LaunchConfig&) {
  DeviceMemory memory;
  const gptr<int> in = memory.Upload(Iota(verdict.n), "in").value();
  const gptr<int> out = MakeOut(verdict, memory).value();
  return FreeTwo(verdict, memory, out, bug ? out : in);
}
Outcome FreeOfTheMiddle(const Verdict& verdict, bool bug, const LaunchConfig&) {
  DeviceMemory memory;
  const gptr<int> in = memory.Upload(Iota(verdict.n), "in").value();
  const gptr<int> out = MakeOut(verdict, memory).value();
  return FreeTwo(verdict, memory, out, bug ? in + 1 : in);
}

constexpr Dim3 kOne = Dim3(1);
constexpr Dim3 kThread = Dim3(1);
constexpr Dim3 kWarp = Dim3(32);
constexpr Dim3 kTwoWarps = Dim3(64);
constexpr Dim3 kBlock = Dim3(128);

// A kernel's name stands for three things that C++ cannot make of one another.
#define VERDICT(kernel, kind, blocks, threads, elements, ...)                                   \
  {                                                                                             \
    .name = #kernel, .finding = Finding::kind, .grid = blocks, .block = threads, .n = elements, \
    .bug = kernel<true>, .clean = kernel<false>, __VA_ARGS__                                    \
  }
#define VERDICT_OF_HOST(function, kind)                                                         \
  {                                                                                             \
    .name = #function, .finding = Finding::kind, .grid = Dim3(2), .block = kTwoWarps, .n = 100, \
    .bug = Copy<true>, .clean = Copy<false>, .host = function                                   \
  }

const Verdict kVerdicts[] = {
#include "gpu/simt/verdicts/table.inc"
    // The host's part
    VERDICT_OF_HOST(UseAfterFree, kUseAfterFree),
    VERDICT_OF_HOST(StalePointer, kUseAfterFree),
    VERDICT_OF_HOST(Leak, kLeak),
    VERDICT_OF_HOST(DoubleFree, kBadFree),
    VERDICT_OF_HOST(FreeOfTheMiddle, kBadFree),
};

#undef VERDICT
#undef VERDICT_OF_HOST

LaunchConfig ConfigOf(const Verdict& verdict) {
  LaunchConfig config;
#ifdef SIMT_FIBERS
  static FiberRunner* const fibers = new FiberRunner;
  config.runner = fibers;
#endif
  config.grid = verdict.grid;
  config.block = verdict.block;
  config.dynamic_shared_bytes = verdict.dynamic_shared_bytes;
  config.cooperative = verdict.cooperative;
  config.multiprocessors = verdict.multiprocessors;
  return config;
}

}  // namespace

std::span<const Verdict> Verdicts() { return kVerdicts; }

Outcome RunVerdict(const Verdict& verdict, bool bug, Schedule schedule, uint64_t seed) {
  bug_line = 0;
  LaunchConfig config = ConfigOf(verdict);
  config.schedule = schedule;
  config.seed = seed;
  if (verdict.host != nullptr) return verdict.host(verdict, bug, config);
  DeviceMemory memory;
  const gptr<int> in = memory.Upload(Iota(verdict.n), "in").value();
  const gptr<int> out = MakeOut(verdict, memory).value();
  return OutcomeOf(Launch(memory, config, bug ? verdict.bug : verdict.clean, in, out, verdict.n));
}

Outcome RunCleanVerdict(const Verdict& verdict) {
  bug_line = 0;
  const LaunchConfig config = ConfigOf(verdict);
  if (verdict.host != nullptr) return verdict.host(verdict, /*bug=*/false, config);
  DeviceMemory memory;
  const gptr<int> in = memory.Upload(Iota(verdict.n), "in").value();
  const gptr<int> out = MakeOut(verdict, memory).value();
  return OutcomeOf(LaunchUnderAllSchedules(memory, config, /*random_runs=*/3, verdict.clean, in,
                                           out, verdict.n));
}

bool Names(const Outcome& outcome, Finding finding) {
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    if (diagnostic.finding != finding) continue;
    if (outcome.bug_line == 0) return true;
    for (const Site& site : diagnostic.sites) {
      if (site.line == outcome.bug_line) return true;
    }
  }
  return false;
}

}  // namespace assay::simt::verdicts
