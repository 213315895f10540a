// SPDX-License-Identifier: Apache-2.0
//
// Sorting, asking and calibrating against what the standard library offers for the same, on the
// same data in one process, and the calibration stage by stage beside the speed of a plain copy.
//
//   bazel run //numerics/isotonic:regression_benchmark
//
// Benchmarks with a peer time both by turns inside each iteration, after checking that they agree.
// Counters, medians over the iterations:
//   ours_ms, peer_ms   one run
//   iqr_percent        spread of ours (interquartile range over median)
//   ratio              peer / ours: above 1 we are faster
// The argument named threads is the size of the pool; peers have one thread.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/isotonic/calibration.h"
#include "numerics/isotonic/radix_sort.h"
#include "numerics/isotonic/regression.h"

namespace assay::isotonic {
namespace {

constexpr int64_t kScores = 6500000;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Quantile(std::vector<double> x, double q) {
  std::sort(x.begin(), x.end());
  return x[static_cast<size_t>(q * static_cast<double>(x.size() - 1))];
}

template <class Ours, class Peer>
void Compare(benchmark::State& state, Ours ours, Peer peer) {
  std::vector<double> mine, theirs;
  for (auto _ : state) {
    const double t0 = Now();
    ours();
    const double t1 = Now();
    peer();
    const double t2 = Now();
    mine.push_back(t1 - t0);
    theirs.push_back(t2 - t1);
    state.SetIterationTime(t2 - t0);
  }
  const double median = Quantile(mine, 0.5), peer_median = Quantile(theirs, 0.5);
  state.counters["ours_ms"] = median * 1e3;
  state.counters["peer_ms"] = peer_median * 1e3;
  state.counters["ratio"] = peer_median / median;
  state.counters["iqr_percent"] = 100 * (Quantile(mine, 0.75) - Quantile(mine, 0.25)) / median;
}

// What scores look like.
enum Spread {
  kUniform,    // evenly from 0 to 1
  kLogits,     // normal, of deviation 3
  kConfident,  // logistic function of normal numbers of deviation 4: crowded at 0 and 1
  kRounded,    // evenly, to three decimals: many ties
};
const char* Name(int64_t spread) {
  static const char* const names[] = {"uniform", "logits", "confident", "rounded"};
  return names[spread];
}

struct Data {
  std::vector<double> scores;
  std::vector<uint8_t> labels;
};

const Data& Scores(int64_t spread) {
  static Data data[4];
  Data& of = data[spread];
  if (!of.scores.empty()) return of;
  Random random(7, static_cast<uint64_t>(spread));
  for (int64_t i = 0; i < kScores; ++i) {
    double score = random.Uniform(), rate = score;
    if (spread == kLogits || spread == kConfident) {
      const double logit = (spread == kLogits ? 3 : 4) * random.Normal();
      rate = 1 / (1 + Exp(-logit));
      score = spread == kLogits ? logit : rate;
    }
    if (spread == kRounded) score = static_cast<double>(static_cast<int>(1000 * score)) / 1000;
    of.scores.push_back(score);
    of.labels.push_back(random.Bernoulli(rate) ? 1 : 0);
  }
  return of;
}

// (score, index) pairs against std::sort of the same pairs and std::stable_sort of indices.
template <bool stable>
void BM_Sort(benchmark::State& state) {
  const std::vector<double>& x = Scores(state.range(0)).scores;
  ThreadPool pool(static_cast<int>(state.range(1)));
  internal::BigArray<KeyAndIndex> ours;
  std::vector<KeyAndIndex> peer;
  const auto run_peer = [&] {
    peer.clear();
    for (size_t i = 0; i < x.size(); ++i) peer.push_back({OrderedKey(x[i]), i});
    if constexpr (stable) {
      std::stable_sort(peer.begin(), peer.end(),
                       [](const KeyAndIndex& a, const KeyAndIndex& b) { return a.key < b.key; });
    } else {
      std::sort(peer.begin(), peer.end(), [](const KeyAndIndex& a, const KeyAndIndex& b) {
        return a.key != b.key ? a.key < b.key : a.index < b.index;
      });
    }
  };
  ours = SortedWithIndex(x, &pool);
  run_peer();
  if (!std::equal(ours.begin(), ours.end(), peer.begin(),
                  [](const KeyAndIndex& a, const KeyAndIndex& b) {
                    return a.key == b.key && a.index == b.index;
                  })) {
    return state.SkipWithError("orders differ");
  }
  Compare(
      state, [&] { ours = SortedWithIndex(x, &pool); }, run_peer);
  state.SetLabel(Name(state.range(0)));
}

// Queries in random order, against std::upper_bound and the same line.
void BM_Predict(benchmark::State& state) {
  const int64_t m = state.range(0);
  ThreadPool pool(static_cast<int>(state.range(1)));
  Random random(3);
  std::vector<double> x(static_cast<size_t>(m)), y(x.size());
  random.FillUniform(x);
  random.FillUniform(y);
  std::sort(x.begin(), x.end());
  x.erase(std::unique(x.begin(), x.end()), x.end());
  y.resize(x.size());
  std::sort(y.begin(), y.end());
  const auto f = IsotonicRegression::FromThresholds(x, y);
  std::vector<double> queries(kScores), out(queries.size()), peer(queries.size());
  for (double& query : queries) {
    query = x.front() + random.Uniform() * (x.back() - x.front());
  }
  const auto run_peer = [&] {
    for (size_t i = 0; i < queries.size(); ++i) {
      const double q = queries[i];
      const size_t b = static_cast<size_t>(std::upper_bound(x.begin(), x.end(), q) - x.begin());
      if (b == x.size()) {
        peer[i] = y.back();
      } else {
        const double value = y[b - 1] + (q - x[b - 1]) / (x[b] - x[b - 1]) * (y[b] - y[b - 1]);
        peer[i] = std::min(value, y[b]);
      }
    }
  };
  const auto run = [&] {
    if (!f->Predict(queries, out, Interpolation::kLinear, Outside::kNan, &pool).ok()) out.clear();
  };
  run();
  run_peer();
  if (out != peer) return state.SkipWithError("predictions differ");
  Compare(state, run, run_peer);
}

// Against the textbook: sort the pairs, pool adjacent violators.
void BM_Calibrate(benchmark::State& state) {
  const Data& data = Scores(state.range(0));
  ThreadPool pool(static_cast<int>(state.range(1)));
  Options options;
  options.pool = &pool;
  struct Block {
    double s, w;
  };
  std::vector<Block> blocks;
  const auto run_peer = [&] {
    std::vector<std::pair<double, uint8_t>> pairs;
    for (size_t i = 0; i < data.scores.size(); ++i) {
      pairs.emplace_back(data.scores[i], 1 - data.labels[i]);
    }
    std::sort(pairs.begin(), pairs.end());
    blocks.clear();
    for (const auto& [score, zero] : pairs) {
      Block block{1.0 - zero, 1};
      while (!blocks.empty() && blocks.back().s * block.w >= block.s * blocks.back().w) {
        block.s += blocks.back().s;
        block.w += blocks.back().w;
        blocks.pop_back();
      }
      blocks.push_back(block);
    }
  };
  const auto calibrator = Calibrator::Fit(data.scores, data.labels, options);
  run_peer();
  if (!calibrator.ok() || calibrator->blocks().size() != blocks.size()) {
    return state.SkipWithError("fits differ");
  }
  Compare(
      state,
      [&] { benchmark::DoNotOptimize(Calibrator::Fit(data.scores, data.labels, options).ok()); },
      run_peer);
  state.SetLabel(Name(state.range(0)));
}

// Points with noise, hence many blocks, against the textbook on numbers.
void BM_Fit(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  RegressionOptions options;
  options.pool = &pool;
  const std::vector<double>& x = Scores(kUniform).scores;
  std::vector<double> y;
  Random random(5);
  for (double at : x) y.push_back(at + 0.01 * random.Uniform());
  std::vector<double> fit;
  const auto run_peer = [&] {
    std::vector<std::pair<double, double>> pairs;
    for (size_t i = 0; i < x.size(); ++i) pairs.emplace_back(x[i], -y[i]);
    std::sort(pairs.begin(), pairs.end());
    struct Block {
      double s, w;
    };
    std::vector<Block> blocks;
    for (const auto& pair : pairs) {
      Block block{-pair.second, 1};
      while (!blocks.empty() && blocks.back().s * block.w >= block.s * blocks.back().w) {
        block.s += blocks.back().s;
        block.w += blocks.back().w;
        blocks.pop_back();
      }
      blocks.push_back(block);
    }
    fit.clear();
    for (const Block& block : blocks) {
      fit.insert(fit.end(), static_cast<size_t>(block.w), block.s / block.w);
    }
  };
  const auto f = IsotonicRegression::Fit(x, y, {}, options);
  run_peer();
  std::vector<double> sorted_x = x, at(x.size());
  std::sort(sorted_x.begin(), sorted_x.end());
  if (!f.ok() || !f->Predict(sorted_x, at).ok()) return state.SkipWithError("no fit");
  for (size_t i = 0; i < at.size(); ++i) {
    if (!(at[i] - fit[i] < 1e-9 && fit[i] - at[i] < 1e-9)) {
      return state.SkipWithError("fits differ");
    }
  }
  Compare(
      state, [&] { benchmark::DoNotOptimize(IsotonicRegression::Fit(x, y, {}, options).ok()); },
      run_peer);
  state.counters["thresholds"] = static_cast<double>(f->x_thresholds().size());
}

// The stages of a calibration, in ms, and the bytes that each must move at least.
void BM_CalibrateByStage(benchmark::State& state) {
  const Data& data = Scores(state.range(0));
  ThreadPool pool(static_cast<int>(state.range(1)));
  Options options;
  options.pool = &pool;
  std::vector<double> copy(data.scores.size()), times[5];
  for (auto _ : state) {
    const double t0 = Now();
    const KeyRange range = RangeOfKeys(std::span<const double>(data.scores), &pool);
    const double t1 = Now();
    const Buckets<uint64_t> buckets = DealIntoBuckets<uint64_t>(
        kScores, range, [&](int64_t i) { return OrderedKey(data.scores[static_cast<size_t>(i)]); },
        [&](int64_t i, uint64_t key) { return key << 1 | data.labels[static_cast<size_t>(i)]; },
        &pool);
    const double t2 = Now();
    const size_t largest = static_cast<size_t>(buckets.largest());
    pool.ParallelFor(buckets.size(), 16, [&](int64_t begin, int64_t end) {
      std::vector<uint64_t> scratch(largest);
      for (int64_t b = begin; b < end; ++b) {
        const std::span<uint64_t> words = buckets.bucket(b);
        for (uint64_t& word : words) word -= buckets.first_key[static_cast<size_t>(b)] << 1;
        SortInCache(words, scratch.data());
      }
    });
    const double t3 = Now();
    benchmark::DoNotOptimize(Calibrator::Fit(data.scores, data.labels, options).ok());
    const double t4 = Now();
    pool.ParallelFor(kScores, kScores / pool.threads() + 1, [&](int64_t begin, int64_t end) {
      std::memcpy(copy.data() + begin, data.scores.data() + begin,
                  static_cast<size_t>(end - begin) * sizeof(double));
    });
    const double t5 = Now();
    const double stage[5] = {t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4};
    for (int s = 0; s < 5; ++s) times[s].push_back(stage[s]);
    state.SetIterationTime(t4 - t3);
  }
  const double n = static_cast<double>(kScores);
  const double range = Quantile(times[0], 0.5), deal = Quantile(times[1], 0.5);
  const double sort = Quantile(times[2], 0.5), all = Quantile(times[3], 0.5);
  const double copied = Quantile(times[4], 0.5);
  state.counters["range_ms"] = range * 1e3;
  state.counters["deal_ms"] = deal * 1e3;
  state.counters["sort_ms"] = sort * 1e3;
  state.counters["all_ms"] = all * 1e3;
  state.counters["range_GB/s"] = 8 * n / range * 1e-9;          // scores read
  state.counters["deal_GB/s"] = (8 + 9 + 8) * n / deal * 1e-9;  // scores twice, labels, words
  state.counters["sort_GB/s"] = 16 * n / sort * 1e-9;           // words read and written
  state.counters["copy_GB/s"] = 16 * n / copied * 1e-9;
  state.SetLabel(Name(state.range(0)));
}

#define ASSAY_INTERLEAVED UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond)
BENCHMARK_TEMPLATE(BM_Sort, false)
    ->ArgNames({"spread", "threads"})
    ->ArgsProduct({{kUniform, kLogits, kConfident, kRounded}, {1, 2}})
    ->ASSAY_INTERLEAVED;
BENCHMARK_TEMPLATE(BM_Sort, true)
    ->ArgNames({"spread", "threads"})
    ->ArgsProduct({{kUniform}, {1}})
    ->ASSAY_INTERLEAVED;
BENCHMARK(BM_Predict)
    ->ArgNames({"thresholds", "threads"})
    ->ArgsProduct({{10, 1000, 100000, 3000000}, {1, 2}})
    ->ASSAY_INTERLEAVED;
BENCHMARK(BM_Calibrate)
    ->ArgNames({"spread", "threads"})
    ->ArgsProduct({{kUniform, kLogits, kConfident, kRounded}, {1, 2}})
    ->ASSAY_INTERLEAVED;
BENCHMARK(BM_Fit)->ArgName("threads")->Arg(1)->Arg(2)->ASSAY_INTERLEAVED;
BENCHMARK(BM_CalibrateByStage)
    ->ArgNames({"spread", "threads"})
    ->ArgsProduct({{kUniform, kLogits, kConfident, kRounded}, {1, 2}})
    ->ASSAY_INTERLEAVED;

}  // namespace
}  // namespace assay::isotonic
