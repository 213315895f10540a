// SPDX-License-Identifier: Apache-2.0
//
// Products against OpenBLAS, BLIS, Eigen, oneDNN and libxsmm: by turns in one process on the same
// data, every product compared with our exact one before it is timed, beside the rates that this
// processor reaches in registers and from memory.
//
//   peers_benchmark [--type=f32|f64|bf16|int8]
//   [--case=square|small|skinny|ragged|transposed|batched|errors]
//                   [--threads=N] [--openblas=Cooperlake|SkylakeX|Zen|...] [--large]
//
// Times are the least of some rounds: processor time of the calling thread, or, with more threads,
// wall time, each turn begun when no other thread of the process runs. OpenBLAS 0.3.21 does not
// know every processor; --openblas chooses its kernels (OPENBLAS_CORETYPE).
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "numerics/core/ceilings.h"
#include "numerics/core/check.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"
#include "numerics/gemm/fast.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/int8.h"
#include "numerics/gemm/peers.h"

namespace assay::gemm {
namespace {

using floating::BFloat16;

double Seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Returns when no thread of this process but the calling one is running: OpenBLAS's threads turn
// idly long after a product, and would take a core from whoever has the next turn.
void WaitForQuiet() {
  for (int tries = 0; tries < 500; ++tries) {
    bool busy = false;
    DIR* const tasks = opendir("/proc/self/task");
    while (const dirent* const task = readdir(tasks)) {
      const int id = std::atoi(task->d_name);
      if (id == 0 || id == getpid()) continue;
      std::ifstream file("/proc/self/task/" + std::string(task->d_name) + "/stat");
      std::string line;
      std::getline(file, line);
      const size_t at = line.rfind(") ");
      busy |= at != std::string::npos && line[at + 2] == 'R';
    }
    closedir(tasks);
    if (!busy) return;
    usleep(2000);
  }
}

// The least time of each contender's run, in rounds that run all of them in turn.
std::vector<double> Race(const std::vector<Contender>& contenders, int threads) {
  const clockid_t clock = threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  constexpr double kTurn = 4e-3;
  const int rounds = threads > 1 ? 5 : 9;
  std::vector<double> least(contenders.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (threads > 1) WaitForQuiet();
      double spent = 0;
      int64_t batch = 1;
      // Doubled batches until the turn is over, so that short products are not timed one by one.
      while (spent < kTurn) {
        const double begin = Seconds(clock);
        for (int64_t r = 0; r < batch; ++r) contenders[i].run();
        const double took = Seconds(clock) - begin;
        least[i] = std::min(least[i], took / static_cast<double>(batch));
        spent += took;
        batch = 2 * batch;
      }
    }
  }
  return least;
}

struct Settings {
  std::string type;
  std::string kind;
  int threads = 1;
  bool large = false;
};

template <class In>
std::vector<In> RandomMatrix(int64_t count, Random& random) {
  std::vector<In> values;
  values.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<In, int8_t>) {
      values.push_back(static_cast<int8_t>(random.Integer(-128, 128)));
    } else {
      values.push_back(In(static_cast<float>(random.Uniform(-1, 1))));
    }
  }
  return values;
}

// One line: rates of all, ratios of exact (and fast) to each peer, the share of the peak.
template <class In, class Out>
void Line(const char* type, int64_t m, int64_t n, int64_t k, bool at, bool bt, ThreadPool* pool,
          double peak) {
  Random random(1);
  const std::vector<In> a = RandomMatrix<In>(m * k, random);
  const std::vector<In> b = RandomMatrix<In>(k * n, random);
  std::vector<Out> c(static_cast<size_t>(m * n));
  const Case<In, Out> p = {m, n, k, at, bt, a.data(), b.data(), c.data()};
  const auto view = [](const In* data, int64_t rows, int64_t cols, bool transposed) {
    return transposed ? MatrixView<const In>(data, rows, cols, 1, rows)
                      : MatrixView<const In>(data, rows, cols, cols);
  };
  const MatrixView<const In> av = view(a.data(), m, k, at);
  const MatrixView<const In> bv = view(b.data(), k, n, bt);
  const MatrixView<Out> cv(c.data(), m, n, n);

  std::vector<Contender> contenders;
  if constexpr (std::is_same_v<In, int8_t>) {
    Int8Options options;
    options.pool = pool;
    contenders.push_back({"exact", [=] { ASSAY_CHECK((GemmInt8(av, bv, cv, options).ok())); }});
  } else {
    Options<float> bf16_options;
    bf16_options.pool = pool;
    if constexpr (std::is_same_v<In, BFloat16>) {
      contenders.push_back(
          {"exact", [=] { ASSAY_CHECK(Gemm(1, av, bv, 0, cv, bf16_options).ok()); }});
      contenders.push_back(
          {"fast", [=] { ASSAY_CHECK(FastGemm(1, av, bv, 0, cv, bf16_options).ok()); }});
    } else if (pool == nullptr) {
      contenders.push_back({"exact", [=] { ASSAY_CHECK(Gemm<Out>(1, av, bv, 0, cv).ok()); }});
      contenders.push_back({"fast", [=] { ASSAY_CHECK(FastGemm<Out>(1, av, bv, 0, cv).ok()); }});
    } else {
      Options<Out> options;
      options.pool = pool;
      contenders.push_back(
          {"exact", [=] { ASSAY_CHECK(Gemm<Out>(1, av, bv, 0, cv, options).ok()); }});
      contenders.push_back(
          {"fast", [=] { ASSAY_CHECK(FastGemm<Out>(1, av, bv, 0, cv, options).ok()); }});
    }
  }
  const size_t ours = contenders.size();
  for (Contender& peer : Peers(p)) contenders.push_back(std::move(peer));

  contenders[0].run();
  const std::vector<Out> expected = c;
  for (const Contender& contender : contenders) {
    std::fill(c.begin(), c.end(), Out(0));
    contender.run();
    for (size_t i = 0; i < c.size(); ++i) {
      const double tolerance =
          std::is_same_v<Out, int32_t> ? 0
          : std::is_same_v<Out, float>
              ? 0x1p-22 * static_cast<double>(k + 2) * std::sqrt(static_cast<double>(k + 2))
              : 0x1p-51 * static_cast<double>(k + 2) * std::sqrt(static_cast<double>(k + 2));
      if (!(std::fabs(static_cast<double>(c[i]) - static_cast<double>(expected[i])) <= tolerance)) {
        std::fprintf(stderr, "%s: element %zu is %g, expected %g\n", contender.name.c_str(), i,
                     static_cast<double>(c[i]), static_cast<double>(expected[i]));
        std::exit(1);
      }
    }
  }
  const std::vector<double> times = Race(contenders, pool == nullptr ? 1 : pool->threads());
  const double work =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * 1e-9;
  std::printf("%-4s %c%c %5d %5d %5d |", type, at ? 'T' : 'N', bt ? 'T' : 'N', static_cast<int>(m),
              static_cast<int>(n), static_cast<int>(k));
  for (size_t i = 0; i < ours; ++i) {
    std::printf(" %s %7.1f", contenders[i].name.c_str(), work / times[i]);
    if (peak > 0) std::printf(" (%2.0f%%)", 100 * work / times[i] / peak);
  }
  std::printf(" |");
  for (size_t i = ours; i < contenders.size(); ++i) {
    std::printf(" %s %7.1f: %.2f", contenders[i].name.c_str(), work / times[i],
                times[i] / times[0]);
    if (ours > 1) std::printf("/%.2f", times[i] / times[1]);
  }
  std::printf("\n");
  std::fflush(stdout);
}

template <class In, class Out>
void Lines(const char* type, const Settings& settings, ThreadPool* pool, double peak) {
  if (!settings.type.empty() && settings.type != type) return;
  const auto wants = [&](const char* kind) {
    return settings.kind.empty() || settings.kind == kind;
  };
  const auto line = [&](int64_t m, int64_t n, int64_t k, bool at = false, bool bt = false) {
    Line<In, Out>(type, m, n, k, at, bt, pool, peak);
  };
  if (wants("small")) {
    for (const int64_t n : {8, 16, 24, 32, 48, 64, 96, 128}) line(n, n, n);
  }
  if (wants("square")) {
    for (const int64_t n : {192, 256, 384, 512, 768, 1024, 1536, 2048}) line(n, n, n);
    if (settings.large) line(4096, 4096, 4096);
  }
  if (wants("skinny")) {
    for (const int64_t m : {1, 2, 4, 8, 16, 32}) line(m, 2048, 2048);
    line(2048, 1, 2048);
    line(2048, 8, 2048);
    line(2048, 2048, 8);
    line(8, 2048, 2048, false, true);
  }
  if (wants("ragged")) {
    line(1001, 777, 513);
    line(129, 257, 65);
    line(37, 1111, 333);
  }
  if (wants("transposed")) {
    for (const int64_t n : {32, 64, 128, 512, 1024}) {
      line(n, n, n, true, false);
      line(n, n, n, false, true);
      line(n, n, n, true, true);
    }
  }
}

// Batches of tiny products, one call against as many calls of peers.
template <class T>
void Batched(const char* type, const Settings& settings) {
  if ((!settings.type.empty() && settings.type != type) ||
      (!settings.kind.empty() && settings.kind != "batched") || settings.threads > 1) {
    return;
  }
  for (const int64_t n : {4, 8, 16, 32}) {
    constexpr int64_t kCount = 500;
    Random random(1);
    const std::vector<T> a = RandomMatrix<T>(kCount * n * n, random);
    const std::vector<T> b = RandomMatrix<T>(kCount * n * n, random);
    std::vector<T> c(static_cast<size_t>(kCount * n * n));
    std::vector<Contender> contenders;
    const auto batch = [&](const std::vector<T>& v) {
      return Batch<const T>{MatrixView<const T>(v.data(), n, n, n), n * n};
    };
    contenders.push_back({"exact", [&] {
                            ASSAY_CHECK(GemmBatched<T>(kCount, 1, batch(a), batch(b), 0,
                                                       {MatrixView<T>(c.data(), n, n, n), n * n})
                                            .ok());
                          }});
    std::vector<std::vector<Contender>> each;
    for (int64_t i = 0; i < kCount; ++i) {
      each.push_back(Peers(Case<T, T>{n, n, n, false, false, a.data() + i * n * n,
                                      b.data() + i * n * n, c.data() + i * n * n}));
    }
    for (size_t peer = 0; peer < each[0].size(); ++peer) {
      contenders.push_back({each[0][peer].name, [&each, peer] {
                              for (auto& contender : each) contender[peer].run();
                            }});
    }
    const std::vector<double> times = Race(contenders, 1);
    std::printf("%-4s %d products of %d x %d x %d | exact %.1f ns each |", type,
                static_cast<int>(kCount), static_cast<int>(n), static_cast<int>(n),
                static_cast<int>(n), times[0] / kCount * 1e9);
    for (size_t i = 1; i < contenders.size(); ++i) {
      std::printf(" %s %.1f: %.2f", contenders[i].name.c_str(), times[i] / kCount * 1e9,
                  times[i] / times[0]);
    }
    std::printf("\n");
  }
}

// Median and greatest error of some elements, ours beside OpenBLAS's, in units of u |A| |B|.
template <class T>
void Errors(const char* type, const Settings& settings) {
  if ((!settings.type.empty() && settings.type != type) || settings.kind != "errors") return;
  for (const int64_t n : {16, 64, 256, 1024}) {
    Random random(2);
    const std::vector<T> a = RandomMatrix<T>(n * n, random);
    const std::vector<T> b = RandomMatrix<T>(n * n, random);
    std::vector<T> c(static_cast<size_t>(n * n));
    const Case<T, T> p = {n, n, n, false, false, a.data(), b.data(), c.data()};
    const MatrixView<const T> av(a.data(), n, n, n);
    const MatrixView<const T> bv(b.data(), n, n, n);
    const MatrixView<T> cv(c.data(), n, n, n);
    std::vector<Contender> contenders = Peers(p);
    contenders.push_back({"exact", [&] { ASSAY_CHECK(Gemm<T>(1, av, bv, 0, cv).ok()); }});
    contenders.push_back({"fast", [&] { ASSAY_CHECK(FastGemm<T>(1, av, bv, 0, cv).ok()); }});
    std::printf("%-4s n = %d: median and greatest error", type, static_cast<int>(n));
    for (const Contender& contender : contenders) {
      contender.run();
      std::vector<double> errors;
      for (int64_t at = 0; at < n * n; at += std::max<int64_t>(1, n * n / 4001)) {
        __float128 sum = 0;
        double size = 0;
        for (int64_t q = 0; q < n; ++q) {
          const __float128 product = static_cast<__float128>(av(at / n, q)) * bv(q, at % n);
          sum += product;
          size += std::fabs(static_cast<double>(product));
        }
        const auto error = static_cast<double>(sum - c[static_cast<size_t>(at)]);
        errors.push_back(std::fabs(error) / size * (sizeof(T) == 4 ? 0x1p24 : 0x1p53));
      }
      std::sort(errors.begin(), errors.end());
      std::printf(" | %s %.3f %.2f", contender.name.c_str(), errors[errors.size() / 2],
                  errors.back());
    }
    std::printf("\n");
  }
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

int Main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&](const char* name) -> const char* {
      const std::string prefix = std::string("--") + name + "=";
      return argument.rfind(prefix, 0) == 0 ? argv[i] + prefix.size() : nullptr;
    };
    if (const char* type = value("type")) {
      settings.type = type;
    } else if (const char* kind = value("case")) {
      settings.kind = kind;
    } else if (const char* threads = value("threads")) {
      settings.threads = std::atoi(threads);
    } else if (const char* core = value("openblas")) {
      setenv("OPENBLAS_CORETYPE", core, 1);
    } else if (argument == "--large") {
      settings.large = true;
    } else {
      std::fprintf(stderr, "peers_benchmark: what is '%s'? (see the top of its source)\n",
                   argument.c_str());
      return 2;
    }
  }
  if (settings.threads < 1) {
    std::fprintf(stderr, "peers_benchmark: --threads must be at least 1\n");
    return 2;
  }
  std::printf("%s\n", ProcessorName().c_str());
  for (const std::string& line : DescribePeers()) std::printf("%s\n", line.c_str());
  SetThreads(settings.threads);
  ThreadPool pool(settings.threads);
  ThreadPool* const used = settings.threads > 1 ? &pool : nullptr;
  const Ceilings ceilings = MeasureCeilings();
  const double f32 = ceilings.fma_f32_flops_per_s * 1e-9;
  const double f64 = ceilings.fma_f64_flops_per_s * 1e-9;
  std::printf("one thread in registers: %.1f f32, %.1f f64 GF/s; triad %.1f GB/s\n", f32, f64,
              ceilings.triad_bytes_per_s * 1e-9);
  std::printf("GF/s (share of %d x that rate) | peer GF/s: its time / exact's (/ fast's)\n",
              settings.threads);
  Lines<float, float>("f32", settings, used, f32 * settings.threads);
  Lines<double, double>("f64", settings, used, f64 * settings.threads);
  Lines<BFloat16, float>("bf16", settings, used, 0);
  Lines<int8_t, int32_t>("int8", settings, used, 0);
  Batched<float>("f32", settings);
  Batched<double>("f64", settings);
  Errors<float>("f32", settings);
  Errors<double>("f64", settings);
  return 0;
}

}  // namespace
}  // namespace assay::gemm

int main(int argc, char** argv) { return assay::gemm::Main(argc, argv); }
