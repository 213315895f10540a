// SPDX-License-Identifier: Apache-2.0
//
// Fits of rows against the walk that everybody writes, in turn on the same data; other peers are in
// peers_benchmark.py. Prints for each kind of row the median time a point and the ratio.
//
//   bazel run //numerics/isotonic:isotonic_benchmark -- --benchmark_filter=Noise
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "numerics/core/check.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/isotonic/isotonic.h"
#include "numerics/isotonic/walk.h"

namespace assay::isotonic {
namespace {

enum class Kind {
  kNoise,
  kRisingNoise,
  kSorted,
  kReversed,
  kPlateaus,
  kConstant,
  kPrices,
  kLabels
};

template <class T>
std::vector<T> MakeRow(Kind kind, int64_t n) {
  Random random(1);
  std::vector<T> y;
  y.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i);
    const double noise = random.Normal();
    double value = noise;
    if (kind == Kind::kRisingNoise) value = 0.1 * x + noise;
    if (kind == Kind::kSorted) value = x + 0.1;
    if (kind == Kind::kReversed) value = 0.1 - x;
    if (kind == Kind::kPlateaus) value = static_cast<double>(i / 1000 % 7) + 0.1;
    if (kind == Kind::kConstant) value = 0.1;
    if (kind == Kind::kPrices) value = 0.01 * std::floor(1e-3 * x + 100 * noise);
    if (kind == Kind::kLabels) value = noise + 6 * x / static_cast<double>(n) > 3;
    y.push_back(static_cast<T>(value));
  }
  return y;
}

// Times `ours` and `peer` in turn until the benchmark has had enough, and reports the medians.
void Race(benchmark::State& state, int64_t points, absl::FunctionRef<void()> ours,
          absl::FunctionRef<void()> peer) {
  std::vector<double> our_times, peer_times;
  const auto time = [](absl::FunctionRef<void()> body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (auto _ : state) {
    our_times.push_back(time(ours));
    state.SetIterationTime(our_times.back());
    peer_times.push_back(time(peer));
  }
  const auto median = [](std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  };
  const double ratio_base = median(our_times);
  state.counters["ns_per_point"] = ratio_base / static_cast<double>(points) * 1e9;
  state.counters["times_walk"] = median(peer_times) / ratio_base;
}

template <class T>
void FitRow(benchmark::State& state, Kind kind, bool weighted) {
  const int64_t n = state.range(0);
  const std::vector<T> y = MakeRow<T>(kind, n);
  std::vector<T> weights;
  Random random(2);
  for (int64_t i = 0; weighted && i < n; ++i) {
    weights.push_back(static_cast<T>(0.1 + random.Uniform()));
  }
  std::vector<T> fit(y.size()), walked(y.size());
  std::vector<WalkBlock> blocks;
  ThreadPool pool(static_cast<int>(state.range(1)));
  Options options;
  options.pool = &pool;
  Race(
      state, n,
      [&] {
        ASSAY_CHECK(
            Fit(std::span<const T>(y), std::span<const T>(weights), std::span<T>(fit), options)
                .ok());
      },
      [&] { FitByWalk<T>(y, weights, walked, blocks); });
  for (size_t i = 0; i < y.size(); ++i) {
    ASSAY_CHECK(std::fabs(fit[i] - walked[i]) <= 1e-6 * (1 + std::fabs(fit[i])));
  }
}

void FitManyRows(benchmark::State& state) {
  const int64_t rows = state.range(0);
  const int64_t cols = state.range(1);
  const std::vector<float> y = MakeRow<float>(Kind::kNoise, rows * cols);
  std::vector<float> fit(y.size()), walked(y.size());
  std::vector<WalkBlock> blocks;
  ThreadPool pool(static_cast<int>(state.range(2)));
  Options options;
  options.pool = &pool;
  Race(
      state, rows * cols,
      [&] {
        ASSAY_CHECK(FitRows(MatrixView<const float>(y, rows, cols), {},
                            MatrixView<float>(fit, rows, cols), options)
                        .ok());
      },
      [&] {
        for (int64_t i = 0; i < rows; ++i) {
          FitByWalk<float>(
              std::span(y).subspan(static_cast<size_t>(i * cols), static_cast<size_t>(cols)), {},
              std::span(walked).subspan(static_cast<size_t>(i * cols), static_cast<size_t>(cols)),
              blocks);
        }
      });
}

void Register() {
  const std::vector<std::pair<std::string, Kind>> kinds = {
      {"Noise", Kind::kNoise},       {"RisingNoise", Kind::kRisingNoise},
      {"Sorted", Kind::kSorted},     {"Reversed", Kind::kReversed},
      {"Plateaus", Kind::kPlateaus}, {"Constant", Kind::kConstant},
      {"Prices", Kind::kPrices},     {"Labels", Kind::kLabels}};
  const auto sizes = [](benchmark::internal::Benchmark* benchmark) {
    for (int64_t n : {int64_t{1000}, int64_t{100000}, int64_t{6500000}}) {
      benchmark->Args({n, 1});
      if (n > 100000) benchmark->Args({n, 2});
    }
    benchmark->ArgNames({"n", "threads"})->UseManualTime()->Unit(benchmark::kMillisecond);
  };
  for (const auto& [name, kind] : kinds) {
    for (bool weighted : {false, true}) {
      const std::string suffix = name + (weighted ? "/weighted" : "");
      const Kind row = kind;
      const bool with = weighted;
      sizes(benchmark::RegisterBenchmark(
          ("FitF64/" + suffix).c_str(),
          [row, with](benchmark::State& state) { FitRow<double>(state, row, with); }));
      sizes(benchmark::RegisterBenchmark(
          ("FitF32/" + suffix).c_str(),
          [row, with](benchmark::State& state) { FitRow<float>(state, row, with); }));
    }
  }
  benchmark::RegisterBenchmark("FitRowsF32", FitManyRows)
      ->Args({1000, 5000, 1})
      ->Args({1000, 5000, 2})
      ->Args({100000, 50, 1})
      ->Args({100000, 50, 2})
      ->ArgNames({"rows", "cols", "threads"})
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

const bool kRegistered = (Register(), true);

}  // namespace
}  // namespace assay::isotonic
