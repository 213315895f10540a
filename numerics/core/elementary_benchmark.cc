// SPDX-License-Identifier: Apache-2.0
//
// The elementary functions against the platform's libm and Eigen's vectorised ones, on the same
// 4096 random numbers, in the first-level cache.
//
//   bazel run -c opt //numerics/core:elementary_benchmark
//
// Each iteration runs all contenders once in turn, so that they meet the same clock and neighbours.
// Counters, medians over the iterations: libm_ns, scalar_ns, batch_ns, eigen_ns a number;
// scalar/libm, batch/libm and batch/eigen are the ratios (below 1: we are faster). The benchmark's
// own time is that of the scalar function over all numbers.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "Eigen/Core"
#include "numerics/core/bits.h"
#include "numerics/core/elementary.h"
#include "numerics/core/elementary_simd.h"
#include "numerics/core/random.h"

namespace assay {
namespace {

constexpr size_t kCount = 4096;

template <class T>
using Pass = std::function<void(std::span<const T>, std::span<T>)>;

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

template <class T>
struct Contenders {
  Pass<T> libm;
  Pass<T> scalar;
  Pass<T> batch;
  Pass<T> eigen;
  double low;
  double high;
};

template <class T>
void BM_Function(benchmark::State& state, const Contenders<T>& contenders) {
  std::vector<T> x(kCount);
  std::vector<T> y(kCount);
  std::vector<T> expected(kCount);
  Random random(1);
  for (T& value : x) value = static_cast<T>(random.Uniform(contenders.low, contenders.high));
  contenders.scalar(x, expected);
  contenders.libm(x, y);
  for (size_t i = 0; i < kCount; ++i) {
    if (UlpDistance(y[i], expected[i]) > 4) state.SkipWithError("the results differ");
  }
  if (contenders.batch != nullptr) {
    contenders.batch(x, y);
    if (y != expected) state.SkipWithError("the batch results differ");
  }
  std::vector<double> libm;
  std::vector<double> scalar;
  std::vector<double> batch;
  std::vector<double> eigen;
  for (auto _ : state) {
    libm.push_back(Seconds([&] { contenders.libm(x, y); }));
    scalar.push_back(Seconds([&] { contenders.scalar(x, y); }));
    if (contenders.batch != nullptr) {
      batch.push_back(Seconds([&] { contenders.batch(x, y); }));
    }
    if (contenders.eigen != nullptr) {
      eigen.push_back(Seconds([&] { contenders.eigen(x, y); }));
    }
    state.SetIterationTime(scalar.back());
  }
  if (libm.empty()) return;
  constexpr double kNs = 1e9 / kCount;
  state.counters["libm_ns"] = Median(libm) * kNs;
  state.counters["scalar_ns"] = Median(scalar) * kNs;
  state.counters["scalar/libm"] = Median(scalar) / Median(libm);
  if (!batch.empty()) {
    state.counters["batch_ns"] = Median(batch) * kNs;
    state.counters["batch/libm"] = Median(batch) / Median(libm);
  }
  if (!eigen.empty()) {
    state.counters["eigen_ns"] = Median(eigen) * kNs;
    state.counters["batch/eigen"] = Median(batch) / Median(eigen);
  }
}

template <class T, class F>
Pass<T> Each(F f) {
  return [f](std::span<const T> x, std::span<T> y) {
    for (size_t i = 0; i < x.size(); ++i) y[i] = f(x[i]);
  };
}

template <class T, class F>
Pass<T> WithEigen(F f) {
  return [f](std::span<const T> x, std::span<T> y) {
    using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
    const int64_t n = static_cast<int64_t>(x.size());
    Eigen::Map<Array>(y.data(), n) = f(Eigen::Map<const Array>(x.data(), n));
  };
}

template <class T>
Pass<T> Batch(void (*f)(std::span<const T>, std::span<T>)) {
  return f;
}

template <class T>
void Register(const std::string& name, const Contenders<T>& contenders) {
  benchmark::RegisterBenchmark(
      (name + (sizeof(T) == 4 ? "<float>" : "<double>")).c_str(),
      [contenders](benchmark::State& state) { BM_Function<T>(state, contenders); })
      ->UseManualTime();
}

template <class T>
void RegisterScalars() {
  Register<T>("Expm1", {Each<T>([](T x) { return std::expm1(x); }),
                        Each<T>([](T x) { return Expm1(x); }), nullptr, nullptr, -5, 5});
  Register<T>("Log1p", {Each<T>([](T x) { return std::log1p(x); }),
                        Each<T>([](T x) { return Log1p(x); }), nullptr, nullptr, -0.9, 5});
  Register<T>("Erf", {Each<T>([](T x) { return std::erf(x); }), Each<T>([](T x) { return Erf(x); }),
                      nullptr, nullptr, -3, 3});
  Register<T>("Pow", {Each<T>([](T x) { return std::pow(x, T(1.37)); }),
                      Each<T>([](T x) { return Pow(x, T(1.37)); }), nullptr, nullptr, 0, 100});
  // libm has no sine of half turns: sin and cos of pi x stand beside ours.
  Register<T>("SinCosPi", {Each<T>([](T x) {
                             const double turned = 3.14159265358979323846 * double{x};
                             return static_cast<T>(std::sin(turned) + std::cos(turned));
                           }),
                           Each<T>([](T x) {
                             T sine, cosine;
                             SinCosPi(x, &sine, &cosine);
                             return static_cast<T>(double{sine} + double{cosine});
                           }),
                           nullptr, nullptr, 0.01, 0.24});
}

const bool kRegistered = [] {
  Register<float>("Exp", {Each<float>([](float x) { return std::exp(x); }),
                          Each<float>([](float x) { return Exp(x); }), Batch<float>(Exp),
                          WithEigen<float>([](const auto& x) { return x.exp(); }), -10, 10});
  Register<double>("Exp", {Each<double>([](double x) { return std::exp(x); }),
                           Each<double>([](double x) { return Exp(x); }), Batch<double>(Exp),
                           WithEigen<double>([](const auto& x) { return x.exp(); }), -10, 10});
  Register<float>("Log", {Each<float>([](float x) { return std::log(x); }),
                          Each<float>([](float x) { return Log(x); }), Batch<float>(Log),
                          WithEigen<float>([](const auto& x) { return x.log(); }), 0, 100});
  Register<double>("Log", {Each<double>([](double x) { return std::log(x); }),
                           Each<double>([](double x) { return Log(x); }), Batch<double>(Log),
                           WithEigen<double>([](const auto& x) { return x.log(); }), 0, 100});
  Register<float>("Tanh", {Each<float>([](float x) { return std::tanh(x); }),
                           Each<float>([](float x) { return Tanh(x); }), Batch<float>(Tanh),
                           WithEigen<float>([](const auto& x) { return x.tanh(); }), -3, 3});
  Register<double>("Tanh",
                   {Each<double>([](double x) { return std::tanh(x); }),
                    Each<double>([](double x) { return Tanh(x); }), nullptr, nullptr, -3, 3});
  Register<float>("Sin", {Each<float>([](float x) { return std::sin(x); }),
                          Each<float>([](float x) { return Sin(x); }), Batch<float>(Sin),
                          WithEigen<float>([](const auto& x) { return x.sin(); }), -10, 10});
  Register<double>("Sin",
                   {Each<double>([](double x) { return std::sin(x); }),
                    Each<double>([](double x) { return Sin(x); }), nullptr, nullptr, -10, 10});
  Register<float>("Cos", {Each<float>([](float x) { return std::cos(x); }),
                          Each<float>([](float x) { return Cos(x); }), Batch<float>(Cos),
                          WithEigen<float>([](const auto& x) { return x.cos(); }), -10, 10});
  Register<double>("Cos",
                   {Each<double>([](double x) { return std::cos(x); }),
                    Each<double>([](double x) { return Cos(x); }), nullptr, nullptr, -10, 10});
  RegisterScalars<float>();
  RegisterScalars<double>();
  return true;
}();

}  // namespace
}  // namespace assay
