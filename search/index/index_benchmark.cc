// SPDX-License-Identifier: Apache-2.0
//
// Exact search over 60,000 x 784 vectors: ours, a search on top of OpenBLAS's sgemm (what faiss and
// scikit-learn do), one on top of Eigen's product, and the naive twin. The contenders take turns
// inside one run on the same data; what is printed are medians and ratios (peer's time over ours),
// with the measured read bandwidth of the machine beside.
//
//   bazel run //search/index:index_benchmark
//
// Peers and ours find the same neighbours (checked before timing); the peers' distances come from
// |x|^2 + |y|^2 - 2xy in f32, ours from differences, with bits that do not depend on the machine.

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "benchmark/benchmark.h"
#include "numerics/core/check.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/philox.h"
#include "numerics/core/thread_pool.h"
#include "search/index/index.h"
#include "search/index/internal/top_k.h"
#include "search/index/reference.h"

namespace assay::index {
namespace {

constexpr int64_t kRows = 60000;
constexpr int64_t kDimension = 784;
constexpr int64_t kNeighbours = 10;
constexpr int kRepetitions = 5;

using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                       const float* a, int lda, const float* b, int ldb, float beta, float* c,
                       int ldc);
struct OpenBlas {
  Sgemm sgemm = nullptr;
  void (*set_threads)(int) = nullptr;
};

// Loaded with its own symbols, so that no other BLAS in the process can answer in its place.
const OpenBlas& Blas() {
  static const OpenBlas blas = [] {
    OpenBlas loaded;
    void* library = dlopen("/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
                           RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) return loaded;
    loaded.sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
    loaded.set_threads =
        reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    return loaded;
  }();
  return blas;
}

struct Data {
  std::vector<float> rows, queries;
  std::vector<uint8_t> byte_rows, byte_queries;
};

// Bytes with many zeros, like images; floats are the same values over 255.
const Data& Vectors() {
  static const Data data = [] {
    Data made;
    const auto fill = [](int64_t count, uint32_t seed, std::vector<uint8_t>& bytes,
                         std::vector<float>& floats) {
      for (int64_t i = 0; i < count; i += 4) {
        for (const uint32_t word : Philox4x32_10({static_cast<uint32_t>(i), 0, 0, 0}, {seed, 0})) {
          bytes.push_back(static_cast<uint8_t>(word % 2 == 0 ? 0 : word >> 24));
          floats.push_back(static_cast<float>(bytes.back()) / 255.0f);
        }
      }
    };
    fill(kRows * kDimension, 1, made.byte_rows, made.rows);
    fill(1024 * kDimension, 2, made.byte_queries, made.queries);
    return made;
  }();
  return data;
}

template <class T>
FlatIndex<T> Build(std::span<const T> rows, int64_t n) {
  auto index = FlatIndex<T>::Create(kDimension, Metric::kL2);
  ASSAY_CHECK(index.ok() && index->Add(rows.first(static_cast<size_t>(n * kDimension))).ok());
  return *std::move(index);
}

// Batch search over blocks of 1,024 rows: a matrix product, then the k best of every row of it.
template <class Multiply>
std::vector<int64_t> SearchByProducts(std::span<const float> rows, std::span<const float> queries,
                                      const std::vector<float>& row_norms, Multiply multiply) {
  constexpr int64_t kBlock = 1024;
  const int64_t m = static_cast<int64_t>(queries.size()) / kDimension;
  std::vector<float> products(static_cast<size_t>(m * kBlock));
  std::vector<internal::Candidate> storage(static_cast<size_t>(m * kNeighbours));
  std::vector<internal::TopK> best;
  for (int64_t q = 0; q < m; ++q) {
    best.emplace_back(
        std::span(storage).subspan(static_cast<size_t>(q * kNeighbours), kNeighbours));
  }
  for (int64_t begin = 0; begin < kRows; begin += kBlock) {
    const int64_t count = std::min(kBlock, kRows - begin);
    multiply(queries.data(), m, rows.data() + begin * kDimension, count, products.data(), kBlock);
    for (int64_t q = 0; q < m; ++q) {
      for (int64_t r = 0; r < count; ++r) {
        const float key = row_norms[begin + r] - 2.0f * products[q * kBlock + r];
        if (key <= best[q].threshold()) best[q].Offer(key, begin + r);
      }
    }
  }
  std::vector<int64_t> ids;
  for (int64_t q = 0; q < m; ++q) {
    for (const internal::Candidate& c : best[q].Finish()) ids.push_back(c.id);
  }
  return ids;
}

std::vector<float> RowNorms(std::span<const float> rows) {
  std::vector<float> norms;
  for (int64_t r = 0; r < kRows; ++r) {
    float sum = 0;
    for (int64_t i = 0; i < kDimension; ++i) {
      sum += rows[r * kDimension + i] * rows[r * kDimension + i];
    }
    norms.push_back(sum);
  }
  return norms;
}

void MultiplyByBlas(const float* a, int64_t m, const float* b, int64_t n, float* c, int64_t ldc) {
  constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
  Blas().sgemm(kRowMajor, kNoTranspose, kTranspose, static_cast<int>(m), static_cast<int>(n),
               kDimension, 1.0f, a, kDimension, b, kDimension, 0.0f, c, static_cast<int>(ldc));
}

void MultiplyByEigen(const float* a, int64_t m, const float* b, int64_t n, float* c, int64_t ldc) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<const Matrix> x(a, m, kDimension);
  Eigen::Map<const Matrix> y(b, n, kDimension);
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> z(c, m, n, Eigen::OuterStride<>(ldc));
  z.noalias() = x * y.transpose();
}

double Seconds(const std::function<void()>& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Bytes a second that one thread reads from a buffer too large for the caches: glibc's memchr,
// which looks at every byte in wide registers and finds nothing.
double ReadBandwidth() {
  static const double bandwidth = [] {
    const std::vector<uint8_t> buffer(size_t{1} << 29, 1);
    std::vector<double> seconds;
    for (int i = 0; i < kRepetitions; ++i) {
      seconds.push_back(
          Seconds([&] { benchmark::DoNotOptimize(std::memchr(buffer.data(), 2, buffer.size())); }));
    }
    return static_cast<double>(buffer.size()) / *std::min_element(seconds.begin(), seconds.end());
  }();
  return bandwidth;
}

double SameIds(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  int64_t same = 0;
  for (size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
  return static_cast<double>(same) / static_cast<double>(a.size());
}

// A batch of queries, all contenders in turn. Arguments: queries, threads.
void Batch(benchmark::State& state) {
  const int64_t m = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  const Data& data = Vectors();
  const auto queries = std::span<const float>(data.queries).first(m * kDimension);
  const auto byte_queries = std::span<const uint8_t>(data.byte_queries).first(m * kDimension);
  const FlatIndex<float> index = Build<float>(data.rows, kRows);
  const FlatIndex<uint8_t> byte_index = Build<uint8_t>(data.byte_rows, kRows);
  const std::vector<float> norms = RowNorms(data.rows);
  ThreadPool pool(threads);
  if (Blas().sgemm == nullptr) {
    state.SkipWithError("OpenBLAS is not installed (libopenblas0-pthread)");
    return;
  }
  Blas().set_threads(threads);

  const auto ours = index.Search(queries, kNeighbours, {.pool = &pool});
  const double agreement =
      SameIds(ours->ids, SearchByProducts(data.rows, queries, norms, MultiplyByBlas));
  if (agreement < 0.999) state.SkipWithError("the contenders disagree");

  std::vector<double> f32, u8, blas, eigen, naive;
  for (auto _ : state) {
    f32.push_back(Seconds(
        [&] { benchmark::DoNotOptimize(index.Search(queries, kNeighbours, {.pool = &pool})); }));
    blas.push_back(Seconds([&] {
      benchmark::DoNotOptimize(SearchByProducts(data.rows, queries, norms, MultiplyByBlas));
    }));
    u8.push_back(Seconds([&] {
      benchmark::DoNotOptimize(byte_index.Search(byte_queries, kNeighbours, {.pool = &pool}));
    }));
    if (threads == 1) {
      eigen.push_back(Seconds([&] {
        benchmark::DoNotOptimize(SearchByProducts(data.rows, queries, norms, MultiplyByEigen));
      }));
      // The naive twin takes one query: its time is a multiple of that.
      naive.push_back(static_cast<double>(m) * Seconds([&] {
                        benchmark::DoNotOptimize(SearchReference(
                            MatrixView<const float>(data.rows, kRows, kDimension),
                            MatrixView<const float>(queries.data(), 1, kDimension, kDimension),
                            kNeighbours, Metric::kL2));
                      }));
    }
    state.SetIterationTime(f32.back());
  }
  const double pairs = static_cast<double>(m) * kRows * kDimension;
  state.counters["Gpair_elements_s"] = pairs / Median(f32) / 1e9;
  state.counters["openblas_over_ours"] = Median(blas) / Median(f32);
  state.counters["openblas_over_u8"] = Median(blas) / Median(u8);
  state.counters["same_ids"] = agreement;
  if (threads == 1) {
    state.counters["eigen_over_ours"] = Median(eigen) / Median(f32);
    state.counters["naive_over_ours"] = Median(naive) / Median(f32);
  }
}
BENCHMARK(Batch)
    ->ArgNames({"queries", "threads"})
    ->Args({256, 1})
    ->Args({1024, 1})
    ->Args({1024, 2})
    ->Iterations(kRepetitions)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// One query: bound by reading the matrix.
void Single(benchmark::State& state) {
  const Data& data = Vectors();
  const auto query = std::span<const float>(data.queries).first(kDimension);
  const auto byte_query = std::span<const uint8_t>(data.byte_queries).first(kDimension);
  const FlatIndex<float> index = Build<float>(data.rows, kRows);
  const FlatIndex<uint8_t> byte_index = Build<uint8_t>(data.byte_rows, kRows);
  std::vector<double> f32, u8, naive;
  for (auto _ : state) {
    f32.push_back(Seconds([&] { benchmark::DoNotOptimize(index.Search(query, kNeighbours)); }));
    u8.push_back(
        Seconds([&] { benchmark::DoNotOptimize(byte_index.Search(byte_query, kNeighbours)); }));
    naive.push_back(Seconds([&] {
      benchmark::DoNotOptimize(
          SearchReference(MatrixView<const float>(data.rows, kRows, kDimension),
                          MatrixView<const float>(query, 1, kDimension), kNeighbours, Metric::kL2));
    }));
    state.SetIterationTime(f32.back());
  }
  const auto bytes = static_cast<double>(kRows * index.row_bytes());
  const auto u8_bytes = static_cast<double>(kRows * byte_index.row_bytes());
  state.counters["GB_s"] = bytes / Median(f32) / 1e9;
  state.counters["ceiling_GB_s"] = ReadBandwidth() / 1e9;
  state.counters["of_ceiling"] = bytes / Median(f32) / ReadBandwidth();
  state.counters["u8_of_ceiling"] = u8_bytes / Median(u8) / ReadBandwidth();
  state.counters["u8_over_f32"] = Median(f32) / Median(u8);
  state.counters["naive_over_ours"] = Median(naive) / Median(f32);
}
BENCHMARK(Single)->Iterations(15)->UseManualTime()->Unit(benchmark::kMillisecond);

// The cost grows with the number of rows: the exponent of the fitted power.
void Sweep(benchmark::State& state) {
  const Data& data = Vectors();
  const auto queries = std::span<const float>(data.queries).first(64 * kDimension);
  const std::vector<int64_t> sizes = {3750, 7500, 15000, 30000, 60000};
  std::vector<double> times(sizes.size(), 1e9);
  for (auto _ : state) {
    double total = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const FlatIndex<float> index = Build<float>(data.rows, sizes[i]);
      const double seconds =
          Seconds([&] { benchmark::DoNotOptimize(index.Search(queries, kNeighbours)); });
      times[i] = std::min(times[i], seconds);
      total += seconds;
    }
    state.SetIterationTime(total);
  }
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const double x = std::log(static_cast<double>(sizes[i]));
    const double y = std::log(times[i]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  state.counters["exponent"] = (n * sxy - sx * sy) / (n * sxx - sx * sx);
}
BENCHMARK(Sweep)->Iterations(3)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::index
