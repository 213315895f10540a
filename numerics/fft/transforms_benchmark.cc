// SPDX-License-Identifier: Apache-2.0
//
// Convolution, cosine transforms and transforms over two axes against FFTW (Debian's 3.3.10), on
// the same data in one process, by turns.
//
//   bazel run //numerics/fft:transforms_benchmark -- --benchmark_filter=Dct
//
// Counters, medians over the iterations, in CPU time of the thread:
//   ours_ns, peer_ns   one call
//   ratio              peer / ours: above 1 we are faster
// BM_Routes_* compares our own ways of convolution with each other: direct_ns, fft_ns, blocks_ns,
// and lost_percent, how much longer the way that kAuto takes is than the quickest. The costs of
// internal/costs.h come from there.
#include <benchmark/benchmark.h>
#include <fftw3.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "numerics/core/random.h"
#include "numerics/fft/checked_convolve.h"
#include "numerics/fft/convolve.h"
#include "numerics/fft/convolve_2d.h"
#include "numerics/fft/cosine.h"
#include "numerics/fft/multi.h"
#include "numerics/fft/overlap_save.h"

namespace assay::fft {
namespace {

double Now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double Median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

template <class T>
std::vector<T> Signal(int64_t n, uint64_t seed = 1) {
  Random random(seed);
  std::vector<T> x;
  for (int64_t j = 0; j < n; ++j) x.push_back(static_cast<T>(2 * random.Uniform() - 1));
  return x;
}

// In place: FFTW's plan knows the address, and planning overwrites what is there.
template <class T>
void Fill(std::vector<T>* x) {
  const std::vector<T> signal = Signal<T>(static_cast<int64_t>(x->size()));
  std::copy(signal.begin(), signal.end(), x->begin());
}

// Median seconds of each, run by turns; a sample lasts some 100 us or a single run.
std::vector<double> ByTurns(benchmark::State& state,
                            const std::vector<std::function<void()>>& runs) {
  std::vector<int64_t> repeat;
  for (const auto& run : runs) {
    run();
    const double begin = Now();
    run();
    repeat.push_back(std::max<int64_t>(1, static_cast<int64_t>(1e-4 / (Now() - begin + 1e-9))));
  }
  std::vector<std::vector<double>> samples(runs.size());
  for (auto _ : state) {
    const double all = Now();
    for (size_t i = 0; i < runs.size(); ++i) {
      const double begin = Now();
      for (int64_t r = 0; r < repeat[i]; ++r) runs[i]();
      samples[i].push_back((Now() - begin) / static_cast<double>(repeat[i]));
    }
    state.SetIterationTime(Now() - all);
  }
  std::vector<double> medians;
  for (const auto& s : samples) medians.push_back(Median(s));
  return medians;
}

void Compare(benchmark::State& state, const std::function<void()>& ours,
             const std::function<void()>& peer) {
  const std::vector<double> t = ByTurns(state, {ours, peer});
  state.counters["ours_ns"] = t[0] * 1e9;
  state.counters["peer_ns"] = t[1] * 1e9;
  state.counters["ratio"] = t[1] / t[0];
}

template <class T>
double Apart(const std::vector<T>& a, const std::vector<T>& b) {
  double difference = 0, norm = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    difference += std::norm(std::complex<double>(a[k]) - std::complex<double>(b[k]));
    norm += std::norm(std::complex<double>(b[k]));
  }
  return std::sqrt(difference / norm);
}

unsigned Effort(int64_t n) { return n <= 65536 ? FFTW_PATIENT : FFTW_MEASURE; }

constexpr fftw_r2r_kind kPeerKinds[] = {FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11,
                                        FFTW_RODFT00, FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11};

// Arguments: type 1 to 4 (5 to 8: sine), length.
void BM_Dct(benchmark::State& state) {
  const int kind = static_cast<int>(state.range(0)) - 1;
  const int64_t n = state.range(1);
  std::vector<double> x(static_cast<size_t>(n)), y(x.size()), z(x.size());
  const fftw_plan peer = fftw_plan_r2r_1d(static_cast<int>(n), x.data(), z.data(), kPeerKinds[kind],
                                          Effort(n) | FFTW_PRESERVE_INPUT);
  Fill(&x);
  const CosinePlan<double> plan = *CosinePlan<double>::Create(static_cast<CosineKind>(kind), n);
  std::vector<double> scratch(static_cast<size_t>(plan.scratch_size()));
  if (!plan.Transform(x, y, scratch).ok()) return state.SkipWithError("transform failed");
  fftw_execute(peer);
  if (Apart(y, z) > 1e-13) return state.SkipWithError("outputs differ");
  Compare(
      state, [&] { benchmark::DoNotOptimize(plan.Transform(x, y, scratch).ok()); },
      [&] { fftw_execute(peer); });
  fftw_destroy_plan(peer);
}

void BM_DctF32(benchmark::State& state) {
  const int kind = static_cast<int>(state.range(0)) - 1;
  const int64_t n = state.range(1);
  std::vector<float> x(static_cast<size_t>(n)), y(x.size()), z(x.size());
  const fftwf_plan peer = fftwf_plan_r2r_1d(static_cast<int>(n), x.data(), z.data(),
                                            kPeerKinds[kind], Effort(n) | FFTW_PRESERVE_INPUT);
  Fill(&x);
  const CosinePlan<float> plan = *CosinePlan<float>::Create(static_cast<CosineKind>(kind), n);
  std::vector<float> scratch(static_cast<size_t>(plan.scratch_size()));
  if (!plan.Transform(x, y, scratch).ok()) return state.SkipWithError("transform failed");
  fftwf_execute(peer);
  if (Apart(y, z) > 1e-4) return state.SkipWithError("outputs differ");
  Compare(
      state, [&] { benchmark::DoNotOptimize(plan.Transform(x, y, scratch).ok()); },
      [&] { fftwf_execute(peer); });
  fftwf_destroy_plan(peer);
}

// Arguments: rows, columns.
void BM_Complex2d(benchmark::State& state) {
  const int64_t rows = state.range(0), columns = state.range(1);
  std::vector<std::complex<double>> x(static_cast<size_t>(rows * columns)), y(x.size()),
      z(x.size());
  const fftw_plan peer = fftw_plan_dft_2d(
      static_cast<int>(rows), static_cast<int>(columns), reinterpret_cast<fftw_complex*>(x.data()),
      reinterpret_cast<fftw_complex*>(z.data()), FFTW_FORWARD, FFTW_MEASURE | FFTW_PRESERVE_INPUT);
  const std::vector<double> re = Signal<double>(rows * columns),
                            im = Signal<double>(rows * columns, 2);
  for (size_t j = 0; j < x.size(); ++j) x[j] = {re[j], im[j]};
  const MultiPlan<double> plan =
      *MultiPlan<double>::Create(std::array<int64_t, 2>{rows, columns}, 2);
  std::vector<double> scratch(static_cast<size_t>(plan.scratch_size()));
  if (!plan.Forward(x, y, scratch).ok()) return state.SkipWithError("transform failed");
  fftw_execute(peer);
  if (Apart(y, z) > 1e-13) return state.SkipWithError("outputs differ");
  Compare(
      state, [&] { benchmark::DoNotOptimize(plan.Forward(x, y, scratch).ok()); },
      [&] { fftw_execute(peer); });
  fftw_destroy_plan(peer);
}

void BM_Real2d(benchmark::State& state) {
  const int64_t rows = state.range(0), columns = state.range(1);
  std::vector<double> x(static_cast<size_t>(rows * columns));
  std::vector<std::complex<double>> y(static_cast<size_t>(rows * (columns / 2 + 1))), z(y.size());
  const fftw_plan peer = fftw_plan_dft_r2c_2d(static_cast<int>(rows), static_cast<int>(columns),
                                              x.data(), reinterpret_cast<fftw_complex*>(z.data()),
                                              FFTW_MEASURE | FFTW_PRESERVE_INPUT);
  Fill(&x);
  const MultiRealPlan<double> plan =
      *MultiRealPlan<double>::Create(std::array<int64_t, 2>{rows, columns}, 2);
  std::vector<double> scratch(static_cast<size_t>(plan.scratch_size()));
  if (!plan.Forward(x, y, scratch).ok()) return state.SkipWithError("transform failed");
  fftw_execute(peer);
  if (Apart(y, z) > 1e-13) return state.SkipWithError("outputs differ");
  Compare(
      state, [&] { benchmark::DoNotOptimize(plan.Forward(x, y, scratch).ok()); },
      [&] { fftw_execute(peer); });
  fftw_destroy_plan(peer);
}

// Arguments: n, m. Our Convolve (plans made inside) against FFTW's transforms of the same padded
// length, planned before, and a plain loop over the spectra: what one writes with FFTW.
void BM_Convolve(benchmark::State& state) {
  const int64_t n = state.range(0), m = state.range(1), size = GoodSize(n + m - 1);
  const std::vector<double> a = Signal<double>(n), b = Signal<double>(m, 2);
  std::vector<double> padded(static_cast<size_t>(size));
  std::vector<std::complex<double>> x(static_cast<size_t>(size / 2 + 1)), y(x.size());
  const unsigned effort = size <= 65536 ? FFTW_PATIENT : FFTW_ESTIMATE;
  const fftw_plan to_x = fftw_plan_dft_r2c_1d(static_cast<int>(size), padded.data(),
                                              reinterpret_cast<fftw_complex*>(x.data()), effort);
  const fftw_plan to_y = fftw_plan_dft_r2c_1d(static_cast<int>(size), padded.data(),
                                              reinterpret_cast<fftw_complex*>(y.data()), effort);
  const fftw_plan back = fftw_plan_dft_c2r_1d(
      static_cast<int>(size), reinterpret_cast<fftw_complex*>(x.data()), padded.data(), effort);
  auto peer = [&] {
    std::fill(padded.begin(), padded.end(), 0.0);
    std::copy(a.begin(), a.end(), padded.begin());
    fftw_execute(to_x);
    std::fill(padded.begin(), padded.end(), 0.0);
    std::copy(b.begin(), b.end(), padded.begin());
    fftw_execute(to_y);
    const double scale = 1 / static_cast<double>(size);
    for (size_t k = 0; k < x.size(); ++k) {
      x[k] = {(x[k].real() * y[k].real() - x[k].imag() * y[k].imag()) * scale,
              (x[k].real() * y[k].imag() + x[k].imag() * y[k].real()) * scale};
    }
    fftw_execute(back);
  };
  peer();
  std::vector<double> c = *Convolve<double>(a, b);
  if (Apart(c, {padded.begin(), padded.begin() + static_cast<ptrdiff_t>(c.size())}) > 1e-12) {
    return state.SkipWithError("outputs differ");
  }
  Compare(
      state, [&] { benchmark::DoNotOptimize(Convolve<double>(a, b).ok()); }, peer);
  for (fftw_plan plan : {to_x, to_y, back}) fftw_destroy_plan(plan);
}

template <class T>
void BM_Routes(benchmark::State& state) {
  const int64_t n = state.range(0), m = state.range(1);
  const std::vector<T> a = Signal<T>(n), b = Signal<T>(m, 2);
  std::vector<std::function<void()>> runs;
  for (ConvolveMethod method :
       {ConvolveMethod::kDirect, ConvolveMethod::kFft, ConvolveMethod::kOverlapSave}) {
    runs.push_back([&a, &b, method] {
      ConvolveOptions options;
      options.method = method;
      benchmark::DoNotOptimize(Convolve<T>(a, b, options).ok());
    });
  }
  const std::vector<double> t = ByTurns(state, runs);
  state.counters["direct_ns"] = t[0] * 1e9;
  state.counters["fft_ns"] = t[1] * 1e9;
  state.counters["blocks_ns"] = t[2] * 1e9;
  const size_t chosen = static_cast<size_t>(ChooseConvolution(n, m)) - 1;
  state.SetLabel(std::array<std::string, 3>{"direct", "fft", "blocks"}[chosen]);
  state.counters["lost_percent"] = 100 * (t[chosen] / *std::min_element(t.begin(), t.end()) - 1);
}

// The parts of the costs: a transform there and back, its plan, a million products.
void BM_Routes_Parts(benchmark::State& state) {
  const int64_t n = state.range(0);
  const std::vector<double> x = Signal<double>(n);
  const RealPlan<double> plan = *RealPlan<double>::Create(n);
  std::vector<double> y(x.size()), scratch(static_cast<size_t>(plan.scratch_size()));
  std::vector<std::complex<double>> spectrum(static_cast<size_t>(plan.spectrum_size()));
  const std::vector<double> filter = Signal<double>(1000), signal = Signal<double>(2000);
  ConvolveOptions direct;
  direct.method = ConvolveMethod::kDirect;
  const std::vector<double> t = ByTurns(
      state, {[&] {
                benchmark::DoNotOptimize(plan.Forward(x, spectrum, scratch).ok());
                benchmark::DoNotOptimize(plan.Inverse(spectrum, y, scratch).ok());
              },
              [&] { benchmark::DoNotOptimize(RealPlan<double>::Create(n).ok()); },
              [&] { benchmark::DoNotOptimize(Convolve<double>(signal, filter, direct).ok()); }});
  const double product = t[2] / 2e6;
  state.counters["product_ns"] = product * 1e9;
  state.counters["transform"] = t[0] / 2 / product / static_cast<double>(n);
  state.counters["plan"] = t[1] / product / static_cast<double>(n);
}

// Arguments: n, bits of tolerance, dynamic range in bits. What checking costs.
void BM_Checked(benchmark::State& state) {
  const int64_t n = state.range(0);
  std::vector<double> a = Signal<double>(n), b = Signal<double>(n, 2);
  Random random(3);
  for (double& v : a) v = std::ldexp(v, -static_cast<int>(random.Integer(state.range(2) + 1)));
  for (double& v : b) v = std::ldexp(v, -static_cast<int>(random.Integer(state.range(2) + 1)));
  CheckedOptions options;
  options.tolerance = std::ldexp(1.0, -static_cast<int>(state.range(1)));
  const CheckedConvolution<double> c = *ConvolveChecked<double>(a, b, options);
  Compare(
      state, [&] { benchmark::DoNotOptimize(ConvolveChecked<double>(a, b, options).ok()); },
      [&] { benchmark::DoNotOptimize(Convolve<double>(a, b).ok()); });
  state.counters["repaired"] = static_cast<double>(c.repaired);
  state.counters["slices"] = c.transforms;
}

#define ASSAY_BY_TURNS UseManualTime()->Iterations(15)->Unit(benchmark::kMicrosecond)
void Kinds(benchmark::internal::Benchmark* b) {
  for (int64_t kind = 1; kind <= 8; ++kind) {
    for (int64_t n : {256, 1000, 4096, 65536}) {
      // Type I is at its best one beside the round lengths, as FFTW's is.
      b->Args({kind, kind == 1 ? n + 1 : kind == 5 ? n - 1 : n});
    }
  }
}
BENCHMARK(BM_Dct)->Apply(Kinds)->ASSAY_BY_TURNS;
BENCHMARK(BM_DctF32)
    ->Args({2, 1024})
    ->Args({3, 1024})
    ->Args({4, 1024})
    ->Args({2, 65536})
    ->ASSAY_BY_TURNS;
BENCHMARK(BM_Complex2d)
    ->Args({64, 64})
    ->Args({256, 256})
    ->Args({1024, 1024})
    ->Args({1080, 1920})
    ->Args({2048, 2048})
    ->ASSAY_BY_TURNS;
BENCHMARK(BM_Real2d)
    ->Args({64, 64})
    ->Args({256, 256})
    ->Args({1024, 1024})
    ->Args({1080, 1920})
    ->Args({2048, 2048})
    ->ASSAY_BY_TURNS;
BENCHMARK(BM_Convolve)
    ->Args({64, 64})
    ->Args({1000, 1000})
    ->Args({10000, 10000})
    ->Args({1000000, 16})
    ->Args({1000000, 200})
    ->Args({1000000, 5000})
    ->Args({1000000, 1000000})
    ->ASSAY_BY_TURNS;
void Lengths(benchmark::internal::Benchmark* b) {
  for (int64_t n : {64, 128, 256, 512, 1024, 2048, 4096, 8192}) b->Args({n, n});
  for (int64_t n : {4096, 65536, 1000000}) {
    for (int64_t m : {32, 64, 128, 256, 512, 1024, 2048}) b->Args({n, m});
  }
}
BENCHMARK_TEMPLATE(BM_Routes, double)->Apply(Lengths)->ASSAY_BY_TURNS;
BENCHMARK_TEMPLATE(BM_Routes, float)->Apply(Lengths)->ASSAY_BY_TURNS;
BENCHMARK(BM_Routes_Parts)->RangeMultiplier(4)->Range(64, 1 << 20)->ASSAY_BY_TURNS;
BENCHMARK(BM_Checked)
    ->Args({1000, 40, 0})
    ->Args({100000, 30, 0})
    ->Args({100000, 40, 0})
    ->Args({100000, 52, 0})
    ->Args({100000, 30, 100})
    ->ASSAY_BY_TURNS;

}  // namespace
}  // namespace assay::fft
