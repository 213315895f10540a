// SPDX-License-Identifier: Apache-2.0
// Every sum against the naive one, Eigen's and the textbook's Neumaier, dots and norms against
// Eigen's, moments against Welford's loop, and softmax against a plain loop over std::exp, on the
// same data in one process, with the triad bandwidth of the machine beside them.
//
//   bazel run -c opt //numerics/floating:floating_benchmark -- --benchmark_repetitions=9
//     --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
//
// items_per_second counts elements, bytes_per_second bytes read (triad: read and written). Sizes:
// in the first-level cache, in the third-level cache, in memory.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "Eigen/Core"
#include "numerics/core/random.h"
#include "numerics/floating/cancellation.h"
#include "numerics/floating/dot.h"
#include "numerics/floating/moments.h"
#include "numerics/floating/norm.h"
#include "numerics/floating/softmax.h"
#include "numerics/floating/sum.h"

namespace assay::floating {
namespace {

constexpr int64_t kInCache = 2048;
constexpr int64_t kInMemory = int64_t{1} << 24;

template <class T>
const std::vector<T>& Numbers() {
  static const std::vector<T>* const numbers = [] {
    auto* x = new std::vector<T>(static_cast<size_t>(kInMemory));
    Random random(1);
    random.FillUniform(std::span<T>(*x));
    return x;
  }();
  return *numbers;
}

template <class T>
void BM_Sum(benchmark::State& state, SumMethod method) {
  const std::span<const T> x(Numbers<T>().data(), static_cast<size_t>(state.range(0)));
  const double exact = static_cast<double>(Sum(x, SumMethod::kExact));
  const double bound = SumErrorBound<T>(method, state.range(0), exact, exact);
  if (std::fabs(static_cast<double>(Sum(x, method)) - exact) > bound * 1.01 + exact * 1e-7) {
    state.SkipWithError("the sum is wrong");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(Sum(x, method));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<int64_t>(sizeof(T)));
}

template <class T>
void BM_EigenSum(benchmark::State& state) {
  const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> x(Numbers<T>().data(), state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(x.sum());
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<int64_t>(sizeof(T)));
}

void BM_Triad(benchmark::State& state) {
  const size_t n = static_cast<size_t>(state.range(0));
  std::vector<double> a(n, 1.0);
  std::vector<double> b(n, 2.0);
  std::vector<double> c(n, 3.0);
  for (auto _ : state) {
    double* out = a.data();
    const double* x = b.data();
    const double* y = c.data();
    for (size_t i = 0; i < n; ++i) out[i] = x[i] + 3.0 * y[i];
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 24);
}

constexpr int64_t kRows = 256;
constexpr int64_t kColumns = 4096;

void BM_Softmax(benchmark::State& state) {
  const std::vector<float>& x = Numbers<float>();
  std::vector<float> y(static_cast<size_t>(kRows * kColumns));
  for (auto _ : state) {
    for (int64_t r = 0; r < kRows; ++r) {
      const size_t at = static_cast<size_t>(r * kColumns);
      Softmax(std::span<const float>(x.data() + at, kColumns),
              std::span<float>(y.data() + at, kColumns));
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRows * kColumns);
}

void BM_SoftmaxStdExp(benchmark::State& state) {
  const std::vector<float>& x = Numbers<float>();
  std::vector<float> y(static_cast<size_t>(kRows * kColumns));
  for (auto _ : state) {
    for (int64_t r = 0; r < kRows; ++r) {
      const float* in = x.data() + r * kColumns;
      float* out = y.data() + r * kColumns;
      float max = in[0];
      for (int64_t i = 1; i < kColumns; ++i) max = in[i] > max ? in[i] : max;
      float sum = 0;
      for (int64_t i = 0; i < kColumns; ++i) {
        out[i] = std::exp(in[i] - max);
        sum += out[i];
      }
      for (int64_t i = 0; i < kColumns; ++i) out[i] /= sum;
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRows * kColumns);
}

void BM_SumF32(benchmark::State& state, SumMethod method) { BM_Sum<float>(state, method); }
void BM_SumF64(benchmark::State& state, SumMethod method) { BM_Sum<double>(state, method); }

BENCHMARK_CAPTURE(BM_SumF32, naive, SumMethod::kNaive)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF32, pairwise, SumMethod::kPairwise)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF32, kahan, SumMethod::kKahan)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF32, neumaier, SumMethod::kNeumaier)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF32, double_double, SumMethod::kDoubleDouble)
    ->Arg(kInCache)
    ->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF32, exact, SumMethod::kExact)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF64, naive, SumMethod::kNaive)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF64, pairwise, SumMethod::kPairwise)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF64, kahan, SumMethod::kKahan)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF64, neumaier, SumMethod::kNeumaier)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF64, double_double, SumMethod::kDoubleDouble)
    ->Arg(kInCache)
    ->Arg(kInMemory);
BENCHMARK_CAPTURE(BM_SumF64, exact, SumMethod::kExact)->Arg(kInCache)->Arg(kInMemory);
// As gonum's floats.SumCompensated and most textbooks write Neumaier's sum: one number after the
// other, with a branch.
template <class T>
void BM_TextbookNeumaier(benchmark::State& state) {
  const T* x = Numbers<T>().data();
  const int64_t n = state.range(0);
  for (auto _ : state) {
    T s = 0, c = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T t = s + x[i];
      c += std::fabs(s) >= std::fabs(x[i]) ? (s - t) + x[i] : (x[i] - t) + s;
      s = t;
    }
    benchmark::DoNotOptimize(s + c);
  }
  state.SetItemsProcessed(state.iterations() * n);
  state.SetBytesProcessed(state.iterations() * n * static_cast<int64_t>(sizeof(T)));
}

template <class T, T (*kFunction)(std::span<const T>, std::span<const T>)>
void BM_Dot(benchmark::State& state) {
  const size_t n = static_cast<size_t>(state.range(0));
  const std::span<const T> x(Numbers<T>().data(), n);
  const std::vector<T> y(x.rbegin(), x.rend());
  for (auto _ : state) benchmark::DoNotOptimize(kFunction(x, y));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class T>
void BM_EigenDot(benchmark::State& state) {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  const Eigen::Map<const Vector> x(Numbers<T>().data(), state.range(0));
  const Vector y = x.reverse();
  for (auto _ : state) benchmark::DoNotOptimize(x.dot(y));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class T>
void BM_Norm2(benchmark::State& state) {
  const std::span<const T> x(Numbers<T>().data(), static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Norm2(x));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
template <class T>
void BM_EigenStableNorm(benchmark::State& state) {
  const Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>> x(Numbers<T>().data(),
                                                                state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(x.stableNorm());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class T>
void BM_Moments(benchmark::State& state) {
  const std::span<const T> x(Numbers<T>().data(), static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Moments(x).Variance());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
template <class T>
void BM_Welford(benchmark::State& state) {
  const std::span<const T> x(Numbers<T>().data(), static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(Variance(x, VarianceMethod::kWelford));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK_TEMPLATE(BM_TextbookNeumaier, float)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_TextbookNeumaier, double)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_Dot, float, Dot)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_Dot, double, Dot)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_Dot, double, Dot2)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_Dot, double, ExactDot)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_EigenDot, float)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_EigenDot, double)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_Norm2, double)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_EigenStableNorm, double)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_Moments, double)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_Welford, double)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_EigenSum, float)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK_TEMPLATE(BM_EigenSum, double)->Arg(kInCache)->Arg(kInMemory);
BENCHMARK(BM_Triad)->Arg(kInMemory / 2);
BENCHMARK(BM_Softmax);
BENCHMARK(BM_SoftmaxStdExp);

}  // namespace
}  // namespace assay::floating
