// SPDX-License-Identifier: Apache-2.0
//
// What a loop on the pool costs beside its work: against starting threads for it, and against a
// plain loop on one thread.
//
//   bazel run -c opt //numerics/core:thread_pool_benchmark
//
// BM_PoolLoop and BM_StartThreads run 64 empty blocks on the given number of threads;
// BM_PoolSum and BM_PlainSum sum a million numbers in blocks of 4096 (bytes_per_second: what is
// read).
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "numerics/core/thread_pool.h"

namespace assay {
namespace {

void BM_PoolLoop(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    pool.ParallelFor(64, 1, [](int64_t begin, int64_t) { benchmark::DoNotOptimize(begin); });
  }
}
BENCHMARK(BM_PoolLoop)->Arg(1)->Arg(2)->UseRealTime();

void BM_StartThreads(benchmark::State& state) {
  for (auto _ : state) {
    std::atomic<int64_t> next = 0;
    const auto work = [&next] {
      for (int64_t i = next++; i < 64; i = next++) benchmark::DoNotOptimize(i);
    };
    std::vector<std::thread> threads;
    for (int64_t t = 1; t < state.range(0); ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
  }
}
BENCHMARK(BM_StartThreads)->Arg(1)->Arg(2)->UseRealTime();

constexpr int64_t kNumbers = int64_t{1} << 20;

double Sum(const std::vector<double>& x, int64_t begin, int64_t end) {
  double sum = 0.0;
  for (int64_t i = begin; i < end; ++i) sum += x[static_cast<size_t>(i)];
  return sum;
}

void BM_PoolSum(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  const std::vector<double> x(static_cast<size_t>(kNumbers), 0.5);
  for (auto _ : state) {
    benchmark::DoNotOptimize(pool.ParallelReduce(
        kNumbers, 4096, 0.0, [&](int64_t begin, int64_t end) { return Sum(x, begin, end); },
        [](double a, double b) { return a + b; }));
  }
  state.SetBytesProcessed(state.iterations() * kNumbers * 8);
}
BENCHMARK(BM_PoolSum)->Arg(1)->Arg(2)->UseRealTime();

void BM_PlainSum(benchmark::State& state) {
  const std::vector<double> x(static_cast<size_t>(kNumbers), 0.5);
  for (auto _ : state) benchmark::DoNotOptimize(Sum(x, 0, kNumbers));
  state.SetBytesProcessed(state.iterations() * kNumbers * 8);
}
BENCHMARK(BM_PlainSum)->UseRealTime();

}  // namespace
}  // namespace assay
