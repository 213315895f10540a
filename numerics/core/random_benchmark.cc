// SPDX-License-Identifier: Apache-2.0
//
// Random draws against the standard library's, mt19937_64 with its distributions, interleaved in
// one process.
//
//   bazel run -c opt //numerics/core:random_benchmark
//
// Counters, medians over the iterations: std_ns and ours_ns a draw, and ratio, ours / std (below 1:
// we are faster). The benchmark's own time is ours for all 4096 draws.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "numerics/core/random.h"

namespace assay {
namespace {

constexpr size_t kCount = 4096;

double Seconds(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void BM_Draws(benchmark::State& state, const std::function<void()>& theirs,
              const std::function<void()>& ours) {
  std::vector<double> their_times;
  std::vector<double> our_times;
  for (auto _ : state) {
    their_times.push_back(Seconds(theirs));
    our_times.push_back(Seconds(ours));
    state.SetIterationTime(our_times.back());
  }
  state.counters["std_ns"] = Median(their_times) * 1e9 / kCount;
  state.counters["ours_ns"] = Median(our_times) * 1e9 / kCount;
  state.counters["ratio"] = Median(our_times) / Median(their_times);
}

void Register(const std::string& name, const std::function<void()>& theirs,
              const std::function<void()>& ours) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    BM_Draws(state, theirs, ours);
  })->UseManualTime();
}

const bool kRegistered = [] {
  static std::mt19937_64 engine(1);
  static Random random(1);
  static std::vector<double> doubles(kCount);
  static std::vector<uint64_t> words(kCount);
  static std::vector<int64_t> integers(kCount);
  Register(
      "Next64",
      [] {
        for (uint64_t& word : words) word = engine();
      },
      [] {
        for (uint64_t& word : words) word = random.Next64();
      });
  Register(
      "Uniform",
      [] {
        std::uniform_real_distribution<double> uniform;
        for (double& value : doubles) value = uniform(engine);
      },
      [] { random.FillUniform(std::span<double>(doubles)); });
  Register(
      "Normal",
      [] {
        std::normal_distribution<double> normal;
        for (double& value : doubles) value = normal(engine);
      },
      [] { random.FillNormal(std::span<double>(doubles)); });
  Register(
      "Integer",
      [] {
        std::uniform_int_distribution<int64_t> below(0, 999);
        for (int64_t& value : integers) value = below(engine);
      },
      [] {
        for (int64_t& value : integers) value = random.Integer(1000);
      });
  Register(
      "Shuffle", [] { std::shuffle(integers.begin(), integers.end(), engine); },
      [] { random.Shuffle(integers); });
  return true;
}();

}  // namespace
}  // namespace assay
