// SPDX-License-Identifier: Apache-2.0
//
// Ours against FFTW (Debian's 3.3.10, planned with FFTW_PATIENT up to 2^16, FFTW_MEASURE beyond)
// and the naive twin, on the same data in one process.
//
//   bazel run //numerics/fft:fft_benchmark -- --benchmark_filter=Complex
//
// Every benchmark times ours and the peer by turns inside each iteration, so that drift of the
// machine falls on both, after checking that their outputs agree. Counters, medians over the
// iterations:
//   ours_ns, peer_ns   one transform
//   iqr_percent        spread of ours (interquartile range over median)
//   ratio              peer / ours: above 1 we are faster
//   gflops             ours, nominal: 5 N log2 N flop a transform (half for a real one)
//   error_ratio        our 2-norm error over FFTW's, both against the double-double oracle (N <=
//   2^14)
// Fast: plans of fast.h. Arrays begin at a line of the cache, for both. BM_Threads: two threads
// against one. Ceilings of the machine: BM_Ceiling_*. Fitted growth: BM_Growth_* (slope of log time
// over log N).
#include <benchmark/benchmark.h>
#include <fftw3.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/fft/fast.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/reference.h"

namespace assay::fft {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Quantile(std::vector<double> x, double q) {
  std::sort(x.begin(), x.end());
  return x[static_cast<size_t>(q * static_cast<double>(x.size() - 1))];
}

// FFTW's two libraries under one name.
template <class T>
struct Fftw;
template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  static Plan Complex(int64_t n, std::complex<double>* x, std::complex<double>* y, unsigned flags) {
    return fftw_plan_dft_1d(static_cast<int>(n), reinterpret_cast<fftw_complex*>(x),
                            reinterpret_cast<fftw_complex*>(y), FFTW_FORWARD, flags);
  }
  static Plan Real(int64_t n, double* x, std::complex<double>* y, unsigned flags) {
    return fftw_plan_dft_r2c_1d(static_cast<int>(n), x, reinterpret_cast<fftw_complex*>(y), flags);
  }
  static void Execute(Plan plan) { fftw_execute(plan); }
  static void Destroy(Plan plan) { fftw_destroy_plan(plan); }
  static void Forget() { fftw_forget_wisdom(); }
};
template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  static Plan Complex(int64_t n, std::complex<float>* x, std::complex<float>* y, unsigned flags) {
    return fftwf_plan_dft_1d(static_cast<int>(n), reinterpret_cast<fftwf_complex*>(x),
                             reinterpret_cast<fftwf_complex*>(y), FFTW_FORWARD, flags);
  }
  static Plan Real(int64_t n, float* x, std::complex<float>* y, unsigned flags) {
    return fftwf_plan_dft_r2c_1d(static_cast<int>(n), x, reinterpret_cast<fftwf_complex*>(y),
                                 flags);
  }
  static void Execute(Plan plan) { fftwf_execute(plan); }
  static void Destroy(Plan plan) { fftwf_destroy_plan(plan); }
  static void Forget() { fftwf_forget_wisdom(); }
};

// Memory that begins at a line of the cache.
template <class T>
struct Aligned {
  using value_type = T;
  Aligned() = default;
  template <class U>
  Aligned(const Aligned<U>&) {}
  T* allocate(size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* p, size_t) { ::operator delete (p, std::align_val_t{64}); }
  template <class U>
  bool operator==(const Aligned<U>&) const {
    return true;
  }
};
template <class T>
using Array = std::vector<T, Aligned<T>>;

template <class T>
Array<std::complex<T>> Signal(int64_t n) {
  Random random(1);
  Array<std::complex<T>> x;
  for (int64_t j = 0; j < n; ++j) {
    const double re = random.Uniform();
    const double im = random.Uniform();
    x.push_back({static_cast<T>(2 * re - 1), static_cast<T>(2 * im - 1)});
  }
  return x;
}

template <class T>
double Apart(const Array<std::complex<T>>& a, const Array<std::complex<T>>& b) {
  double difference = 0, norm = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    difference += std::norm(std::complex<double>(a[k]) - std::complex<double>(b[k]));
    norm += std::norm(std::complex<double>(b[k]));
  }
  return std::sqrt(difference / norm);
}

// Times ours() and peer() by turns, `repeat` runs a sample.
template <class Ours, class Peer>
void Compare(benchmark::State& state, double flops, int64_t repeat, Ours ours, Peer peer) {
  std::vector<double> mine, theirs;
  for (int i = 0; i < 2; ++i) {
    ours();
    peer();
  }
  for (auto _ : state) {
    const double t0 = Now();
    for (int64_t i = 0; i < repeat; ++i) ours();
    const double t1 = Now();
    for (int64_t i = 0; i < repeat; ++i) peer();
    const double t2 = Now();
    mine.push_back((t1 - t0) / static_cast<double>(repeat));
    theirs.push_back((t2 - t1) / static_cast<double>(repeat));
    state.SetIterationTime(t2 - t0);
  }
  const double median = Quantile(mine, 0.5), peer_median = Quantile(theirs, 0.5);
  state.counters["ours_ns"] = median * 1e9;
  state.counters["peer_ns"] = peer_median * 1e9;
  state.counters["ratio"] = peer_median / median;
  state.counters["iqr_percent"] = 100 * (Quantile(mine, 0.75) - Quantile(mine, 0.25)) / median;
  if (flops > 0) state.counters["gflops"] = flops / median * 1e-9;
}

int64_t Repeat(int64_t n) { return std::max<int64_t>(1, 200000 / n); }

unsigned Effort(int64_t n) {
  return (n <= 65536 ? FFTW_PATIENT : FFTW_MEASURE) | FFTW_PRESERVE_INPUT;
}

enum class Mode { kExact, kFast };

template <class T>
Plan<T> MakePlan(int64_t n, Mode mode) {
  return mode == Mode::kFast ? *CreateFastPlan<T>(n) : *Plan<T>::Create(n);
}
template <class T>
RealPlan<T> MakeRealPlan(int64_t n, Mode mode) {
  return mode == Mode::kFast ? *CreateFastRealPlan<T>(n) : *RealPlan<T>::Create(n);
}

template <class T, Mode kMode>
void BM_Complex(benchmark::State& state) {
  const int64_t n = state.range(0);
  const Array<std::complex<T>> x = Signal<T>(n);
  Array<std::complex<T>> x_peer(x.size()), y(x.size()), y_peer(x.size());
  const typename Fftw<T>::Plan peer = Fftw<T>::Complex(n, x_peer.data(), y_peer.data(), Effort(n));
  x_peer = x;  // planning overwrites it
  const Plan<T> plan = MakePlan<T>(n, kMode);
  Array<T> scratch(static_cast<size_t>(plan.scratch_size()));
  if (!plan.Forward(x, y, scratch).ok()) return state.SkipWithError("transform failed");
  Fftw<T>::Execute(peer);
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  if (Apart(y, y_peer) > 20 * u * std::log2(n + 1.0)) return state.SkipWithError("outputs differ");
  if (n <= 16384) {
    const std::vector<std::complex<double>> wide(x.begin(), x.end());
    const std::vector<ComplexDoubleDouble> oracle = DftOracle(wide);
    state.counters["error_ratio"] = RelativeL2Error(y, oracle) / RelativeL2Error(y_peer, oracle);
  }
  Compare(
      state, 5.0 * n * std::log2(static_cast<double>(n)), Repeat(n),
      [&] { benchmark::DoNotOptimize(plan.Forward(x, y, scratch).ok()); },
      [&] { Fftw<T>::Execute(peer); });
  Fftw<T>::Destroy(peer);
}

template <class T, Mode kMode>
void BM_Real(benchmark::State& state) {
  const int64_t n = state.range(0);
  Array<T> x, x_peer(static_cast<size_t>(n));
  for (std::complex<T> v : Signal<T>(n)) x.push_back(v.real());
  Array<std::complex<T>> y(static_cast<size_t>(n / 2 + 1)), y_peer(y.size());
  const typename Fftw<T>::Plan peer = Fftw<T>::Real(n, x_peer.data(), y_peer.data(), Effort(n));
  x_peer = x;
  const RealPlan<T> plan = MakeRealPlan<T>(n, kMode);
  Array<T> scratch(static_cast<size_t>(plan.scratch_size()));
  if (!plan.Forward(x, y, scratch).ok()) return state.SkipWithError("transform failed");
  Fftw<T>::Execute(peer);
  const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  if (Apart(y, y_peer) > 20 * u * std::log2(n + 1.0)) return state.SkipWithError("outputs differ");
  Compare(
      state, 2.5 * n * std::log2(static_cast<double>(n)), Repeat(n),
      [&] { benchmark::DoNotOptimize(plan.Forward(x, y, scratch).ok()); },
      [&] { Fftw<T>::Execute(peer); });
  Fftw<T>::Destroy(peer);
}

// Ours on two threads against ours on one.
template <class T>
void BM_Threads(benchmark::State& state) {
  const int64_t n = state.range(0);
  const Array<std::complex<T>> x = Signal<T>(n);
  Array<std::complex<T>> y(x.size());
  const Plan<T> plan = *Plan<T>::Create(n);
  ThreadPool pool(2);
  Array<T> scratch(static_cast<size_t>(plan.scratch_size(2)));
  Compare(
      state, 5.0 * n * std::log2(static_cast<double>(n)), Repeat(n),
      [&] { benchmark::DoNotOptimize(plan.Forward(x, y, scratch, &pool).ok()); },
      [&] { benchmark::DoNotOptimize(plan.Forward(x, y, scratch).ok()); });
}

// Against the definition: the ratio is what the algorithm buys.
void BM_Naive(benchmark::State& state) {
  const int64_t n = state.range(0);
  const std::vector<std::complex<double>> x = [&] {
    const Array<std::complex<double>> signal = Signal<double>(n);
    return std::vector<std::complex<double>>(signal.begin(), signal.end());
  }();
  std::vector<std::complex<double>> y(x.size()), naive = DftReference<double>(x);
  const Plan<double> plan = *Plan<double>::Create(n);
  std::vector<double> scratch(static_cast<size_t>(plan.scratch_size()));
  if (!plan.Forward(x, y, scratch).ok()) return state.SkipWithError("transform failed");
  double apart = 0;
  for (size_t k = 0; k < y.size(); ++k) apart = std::max(apart, std::abs(y[k] - naive[k]));
  if (apart > 1e-11 * static_cast<double>(n)) return state.SkipWithError("outputs differ");
  Compare(
      state, 5.0 * n * std::log2(static_cast<double>(n)), 1,
      [&] { benchmark::DoNotOptimize(plan.Forward(x, y, scratch).ok()); },
      [&] { benchmark::DoNotOptimize(naive = DftReference<double>(x)); });
}

// Making a plan, against FFTW_ESTIMATE.
template <class T>
void BM_PlanCreation(benchmark::State& state) {
  const int64_t n = state.range(0);
  Array<std::complex<T>> x = Signal<T>(n), y(x.size());
  Compare(
      state, 0, std::max<int64_t>(1, 20000 / n),
      [&] { benchmark::DoNotOptimize(Plan<T>::Create(n).ok()); },
      [&] {
        const typename Fftw<T>::Plan plan = Fftw<T>::Complex(n, x.data(), y.data(), FFTW_ESTIMATE);
        Fftw<T>::Destroy(plan);
        Fftw<T>::Forget();
      });
}

// The slope of log time over log N between 2^6 and 2^18, by least squares: N log N alone would give
// about 1.1 there; caches add to it.
void BM_Growth(benchmark::State& state) {
  std::vector<double> log_n, log_time;
  for (auto _ : state) {
    log_n.clear();
    log_time.clear();
    for (int bits = 6; bits <= 18; bits += 2) {
      const int64_t n = int64_t{1} << bits;
      const Array<std::complex<double>> x = Signal<double>(n);
      Array<std::complex<double>> y(x.size());
      const Plan<double> plan = *Plan<double>::Create(n);
      Array<double> scratch(static_cast<size_t>(plan.scratch_size()));
      std::vector<double> times;
      for (int sample = 0; sample < 9; ++sample) {
        const double t0 = Now();
        for (int64_t i = 0; i < Repeat(n); ++i) {
          benchmark::DoNotOptimize(plan.Forward(x, y, scratch).ok());
        }
        times.push_back((Now() - t0) / static_cast<double>(Repeat(n)));
      }
      log_n.push_back(std::log(static_cast<double>(n)));
      log_time.push_back(std::log(Quantile(times, 0.5)));
    }
  }
  const double count = static_cast<double>(log_n.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t i = 0; i < log_n.size(); ++i) {
    sx += log_n[i];
    sy += log_time[i];
    sxx += log_n[i] * log_n[i];
    sxy += log_n[i] * log_time[i];
  }
  state.counters["exponent"] = (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

// What the machine can do: separate multiplications and additions (the exact profile has no fused
// ones) on 32 independent chains, compiled for the baseline instruction set; and a triad over 3 * 8
// MiB.
void BM_Ceiling_MultiplyAdd(benchmark::State& state) {
  double x[32];
  for (int i = 0; i < 32; ++i) x[i] = 1.0 + i;
  for (auto _ : state) {
    for (int repeat = 0; repeat < 1000; ++repeat) {
      for (int i = 0; i < 32; ++i) x[i] = x[i] * 0.999 + 0.001;
    }
    benchmark::DoNotOptimize(x);
  }
  state.counters["gflops"] = benchmark::Counter(64e-6 * static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate);
}

void BM_Ceiling_Triad(benchmark::State& state) {
  const size_t n = size_t{1} << 20;
  std::vector<double> a(n, 1), b(n, 2), c(n, 3);
  for (auto _ : state) {
    for (size_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * n * 24));
}

void PowersOfTwo(benchmark::internal::Benchmark* b) {
  for (int bits = 6; bits <= 24; bits += bits < 20 ? 1 : 2) b->Arg(int64_t{1} << bits);
}
void Smooth(benchmark::internal::Benchmark* b) {
  for (int64_t n : {100, 360, 1000, 1500, 3000, 5000, 10000, 30030, 59049, 100000, 1000000}) {
    b->Arg(n);
  }
}
void Primes(benchmark::internal::Benchmark* b) {
  for (int64_t n : {101, 1009, 10007, 100003, 999983, 2 * 499979}) b->Arg(n);
}
void Long(benchmark::internal::Benchmark* b) {
  for (int bits = 14; bits <= 22; bits += 2) b->Arg(int64_t{1} << bits);
}

#define ASSAY_BY_TURNS UseManualTime()->Iterations(15)->Unit(benchmark::kMicrosecond)
#define ASSAY_BENCHMARK(T, mode)                                                              \
  BENCHMARK_TEMPLATE(BM_Complex, T, mode)->Apply(PowersOfTwo)->Apply(Smooth)->ASSAY_BY_TURNS; \
  BENCHMARK_TEMPLATE(BM_Real, T, mode)->Apply(PowersOfTwo)->Apply(Smooth)->ASSAY_BY_TURNS
ASSAY_BENCHMARK(double, Mode::kExact);
ASSAY_BENCHMARK(double, Mode::kFast);
ASSAY_BENCHMARK(float, Mode::kExact);
ASSAY_BENCHMARK(float, Mode::kFast);
BENCHMARK_TEMPLATE(BM_Complex, double, Mode::kExact)->Apply(Primes)->ASSAY_BY_TURNS;
BENCHMARK_TEMPLATE(BM_Complex, float, Mode::kExact)->Apply(Primes)->ASSAY_BY_TURNS;
BENCHMARK_TEMPLATE(BM_Threads, double)->Apply(Long)->ASSAY_BY_TURNS;
BENCHMARK_TEMPLATE(BM_Threads, float)->Apply(Long)->ASSAY_BY_TURNS;
BENCHMARK(BM_Naive)->RangeMultiplier(4)->Range(64, 4096)->ASSAY_BY_TURNS;
BENCHMARK_TEMPLATE(BM_PlanCreation, double)->RangeMultiplier(4)->Range(64, 1 << 18)->ASSAY_BY_TURNS;
BENCHMARK_TEMPLATE(BM_PlanCreation, float)->RangeMultiplier(4)->Range(64, 1 << 18)->ASSAY_BY_TURNS;
BENCHMARK(BM_Growth)->Iterations(1);
BENCHMARK(BM_Ceiling_MultiplyAdd);
BENCHMARK(BM_Ceiling_Triad);

}  // namespace
}  // namespace assay::fft
