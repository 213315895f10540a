// SPDX-License-Identifier: Apache-2.0
// The roofs of this machine, and Eigen under them: peak arithmetic, bandwidth, the steps of the
// caches, and how much of the roof a matrix product, a product of matrix and vector and a triad of
// Eigen's reach.
//
//   bazel run -c opt //gpu/roofline:roofline_benchmark -- --benchmark_repetitions=5
//     --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
//
// flops and bytes are rates of what the formulas count. The number after a probe is its threads, or
// its chains, or its kibibytes.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "gpu/roofline/host.h"
#include "gpu/roofline/work.h"
#include "numerics/core/thread_pool.h"

namespace assay::roofline {
namespace {

void Report(benchmark::State& state, double flops, double bytes) {
  const auto rate = [&](double each) {
    return benchmark::Counter(each * static_cast<double>(state.iterations()),
                              benchmark::Counter::kIsRate);
  };
  if (flops > 0) state.counters["flops"] = rate(flops);
  if (bytes > 0) state.counters["bytes"] = rate(bytes);
}

void Probe(benchmark::State& state, const ProbeSpec& spec, int64_t rounds) {
  auto probe = HostProbe::Create(spec);
  if (!probe.ok()) return state.SkipWithError(probe.status().ToString().c_str());
  probe->Run(1);
  for (auto _ : state) probe->Run(rounds);
  if (!probe->Check().ok()) state.SkipWithError("the result is wrong");
  const ProbeWork work = probe->PerRound();
  const double times = static_cast<double>(rounds);
  Report(state, times * static_cast<double>(work.flops), times * static_cast<double>(work.bytes));
  if (work.loads > 0) {
    state.counters["seconds_a_load"] =
        benchmark::Counter(times * static_cast<double>(work.loads * state.iterations()) * 1e-9,
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  }
}

void BM_Chains(benchmark::State& state, ProbeKind kind) {
  Probe(state, {.kind = kind, .chains = static_cast<int>(state.range(0))}, 100);
}
BENCHMARK_CAPTURE(BM_Chains, FmaF32, ProbeKind::kFmaF32)->DenseRange(1, 12);
BENCHMARK_CAPTURE(BM_Chains, FmaF64, ProbeKind::kFmaF64)->Arg(1)->Arg(12);
BENCHMARK_CAPTURE(BM_Chains, MulAddF32, ProbeKind::kMulAddF32)->Arg(1)->Arg(12);
BENCHMARK_CAPTURE(BM_Chains, MulAddF64, ProbeKind::kMulAddF64)->Arg(1)->Arg(12);

void BM_Stream(benchmark::State& state, ProbeKind kind) {
  Probe(state, {.kind = kind, .bytes = state.range(0) << 10}, 1);
}
BENCHMARK_CAPTURE(BM_Stream, Copy, ProbeKind::kCopy)->RangeMultiplier(8)->Range(24, 24 << 12);
BENCHMARK_CAPTURE(BM_Stream, Triad, ProbeKind::kTriad)->RangeMultiplier(8)->Range(24, 24 << 12);

void BM_Chase(benchmark::State& state) {
  Probe(state, {.kind = ProbeKind::kChase, .bytes = state.range(0) << 10}, 20);
}
BENCHMARK(BM_Chase)->RangeMultiplier(2)->Range(16, 1 << 18);

void BM_AllThreads(benchmark::State& state, ProbeKind kind) {
  const int threads = static_cast<int>(state.range(0));
  std::vector<HostProbe> probes;
  for (int t = 0; t < threads; ++t) {
    auto probe = HostProbe::Create({.kind = kind, .bytes = (int64_t{192} << 20) / threads});
    if (!probe.ok()) return state.SkipWithError(probe.status().ToString().c_str());
    probe->Run(1);
    probes.push_back(*std::move(probe));
  }
  ThreadPool pool(threads);
  const int64_t rounds = kind == ProbeKind::kTriad ? 1 : 2000;
  for (auto _ : state) {
    pool.ParallelFor(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) probes[static_cast<size_t>(t)].Run(rounds);
    });
  }
  const ProbeWork work = probes[0].PerRound();
  const double times = static_cast<double>(rounds) * threads;
  Report(state, times * static_cast<double>(work.flops), times * static_cast<double>(work.bytes));
}
BENCHMARK_CAPTURE(BM_AllThreads, FmaF32, ProbeKind::kFmaF32)
    ->Arg(1)
    ->Arg(ThreadPool::HardwareThreads())
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_AllThreads, Triad, ProbeKind::kTriad)
    ->Arg(1)
    ->Arg(ThreadPool::HardwareThreads())
    ->UseRealTime();

void BM_EigenMatMul(benchmark::State& state) {
  const int64_t n = state.range(0), columns = state.range(1);
  const Eigen::MatrixXf a = Eigen::MatrixXf::Random(n, n);
  const Eigen::MatrixXf b = Eigen::MatrixXf::Random(n, columns);
  Eigen::MatrixXf c(n, columns);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
  const Work work = *MatMul(n, columns, n, Precision::kF32);
  Report(state, static_cast<double>(work.flops), static_cast<double>(work.bytes()));
}
BENCHMARK(BM_EigenMatMul)->Args({1024, 1024})->Args({4096, 1})->Args({4096, 8})->Args({4096, 64});

void BM_EigenTriad(benchmark::State& state) {
  const int64_t n = int64_t{1} << 23;
  const Eigen::ArrayXd b = Eigen::ArrayXd::Random(n), c = Eigen::ArrayXd::Random(n);
  Eigen::ArrayXd a = b;
  for (auto _ : state) {
    a = b + 3.0 * c;
    benchmark::DoNotOptimize(a.data());
    benchmark::ClobberMemory();
  }
  Report(state, 2.0 * static_cast<double>(n), 24.0 * static_cast<double>(n));
}
BENCHMARK(BM_EigenTriad);

}  // namespace
}  // namespace assay::roofline
