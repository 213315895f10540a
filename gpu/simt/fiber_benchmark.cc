// SPDX-License-Identifier: Apache-2.0
// Coroutines against fibers, in one process and in turns: waits and memory accesses a second, and
// the ratio of the two. A sample of each follows one of the other, first the one, then the other.
#define SIMT_FIBERS

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "gpu/simt/fiber.h"
#include "gpu/simt/fiber_benchmark_kernels.h"

namespace assay::simt {
namespace as_fibers {

absl::Status RunLoad(Load load, ThreadRunner* runner) { return RunLoadHere(load, runner); }

}  // namespace as_fibers

namespace {

// The processor time of this thread, in seconds: what others do on the machine counts less.
double Now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double Seconds(absl::Status (*run)(Load, ThreadRunner*), Load load, ThreadRunner* runner,
               bool& well) {
  const double begin = Now();
  well = run(load, runner).ok() && well;
  return Now() - begin;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void BM_CoroutinesAndFibers(benchmark::State& state, Load load, double work, const char* rate) {
  FiberRunner fibers;
  std::vector<double> of_coroutines;
  std::vector<double> of_fibers;
  std::vector<double> ratios;
  bool well = true;
  bool fibers_first = false;
  for (auto _ : state) {
    double with_fibers = 0;
    if (fibers_first) with_fibers = Seconds(as_fibers::RunLoad, load, &fibers, well);
    const double with_coroutines = Seconds(as_coroutines::RunLoad, load, nullptr, well);
    if (!fibers_first) with_fibers = Seconds(as_fibers::RunLoad, load, &fibers, well);
    fibers_first = !fibers_first;
    of_coroutines.push_back(with_coroutines);
    of_fibers.push_back(with_fibers);
    ratios.push_back(with_fibers / with_coroutines);
  }
  if (!well) state.SkipWithError("a launch failed");
  state.counters[std::string("coroutines, ") + rate] = work / Median(of_coroutines);
  state.counters[std::string("fibers, ") + rate] = work / Median(of_fibers);
  state.counters["fibers' time / coroutines'"] = Median(ratios);
}

BENCHMARK_CAPTURE(BM_CoroutinesAndFibers, barriers, Load::kBarriers, double{kBlock} * kWaits,
                  "waits/s")
    ->Iterations(61);
BENCHMARK_CAPTURE(BM_CoroutinesAndFibers, shuffles, Load::kShuffles, double{kBlock} * kWaits,
                  "waits/s")
    ->Iterations(61);
BENCHMARK_CAPTURE(BM_CoroutinesAndFibers, tiles_traced, Load::kTraced, kAccesses, "accesses/s")
    ->Iterations(31);
BENCHMARK_CAPTURE(BM_CoroutinesAndFibers, tiles_untraced, Load::kUntraced, kAccesses, "accesses/s")
    ->Iterations(31);

}  // namespace
}  // namespace assay::simt
