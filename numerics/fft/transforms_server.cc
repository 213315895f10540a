// SPDX-License-Identifier: Apache-2.0
//
// Runs our transforms for transforms_scipy.py. Reads lines, answers each with one:
//   case NAME IN OUT D1 D2 ...   f64 from file IN; runs once, writes f64 to OUT; "ok" or "error
//   ..." time K                       the same K times; seconds of the thread's CPU time
// Plans are made once for a case: scipy keeps those of its last calls as well.
#include <time.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/fft/convolve.h"
#include "numerics/fft/convolve_2d.h"
#include "numerics/fft/cosine.h"
#include "numerics/fft/multi.h"

namespace assay::fft {
namespace {

using Row = std::vector<double>;

double Now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Row Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Row x(bytes.size() / sizeof(double));
  bytes.copy(reinterpret_cast<char*>(x.data()), x.size() * sizeof(double));
  return x;
}

void Write(const std::string& path, const Row& x) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(x.data()),
             static_cast<std::streamsize>(x.size() * sizeof(double)));
}

using Work = std::function<absl::StatusOr<Row>(const Row& x)>;
using Numbers = std::vector<int64_t>;

absl::StatusOr<Row> Done(const absl::Status& status, Row y) {
  if (!status.ok()) return status;
  return y;
}

Work Cosine(CosineKind kind, const Numbers& shape) {
  const auto plan = std::make_shared<MultiCosinePlan<double>>(
      *MultiCosinePlan<double>::Create(kind, shape, static_cast<int>(shape.size())));
  auto scratch = std::make_shared<Row>(static_cast<size_t>(plan->scratch_size()));
  return [plan, scratch](const Row& x) {
    Row y(x.size());
    const absl::Status status = plan->Transform(x, y, *scratch);
    return Done(status, std::move(y));
  };
}

Work Complex2d(const Numbers& shape) {
  const auto plan = std::make_shared<MultiPlan<double>>(*MultiPlan<double>::Create(shape, 2));
  auto scratch = std::make_shared<Row>(static_cast<size_t>(plan->scratch_size()));
  return [plan, scratch](const Row& x) {
    Row y(x.size());
    const size_t count = x.size() / 2;
    const absl::Status status =
        plan->Forward({reinterpret_cast<const std::complex<double>*>(x.data()), count},
                      {reinterpret_cast<std::complex<double>*>(y.data()), count}, *scratch);
    return Done(status, std::move(y));
  };
}

Work Real2d(const Numbers& shape) {
  const auto plan =
      std::make_shared<MultiRealPlan<double>>(*MultiRealPlan<double>::Create(shape, 2));
  auto scratch = std::make_shared<Row>(static_cast<size_t>(plan->scratch_size()));
  return [plan, scratch](const Row& x) {
    const size_t count = static_cast<size_t>(plan->spectrum_size());
    Row y(2 * count);
    const absl::Status status =
        plan->Forward(x, {reinterpret_cast<std::complex<double>*>(y.data()), count}, *scratch);
    return Done(status, std::move(y));
  };
}

// What a case computes. Convolutions: both operands stand one after the other. A shape that cannot
// be ends the program.
Work Prepare(const std::string& name, const Numbers& d) {
  if (name == "dct2" || name == "dctn") return Cosine(CosineKind::kDct2, d);
  if (name == "dct4") return Cosine(CosineKind::kDct4, d);
  if (name == "dst1") return Cosine(CosineKind::kDst1, d);
  if (name == "fft2") return Complex2d(d);
  if (name == "rfft2") return Real2d(d);
  if (name == "convolve") {
    return [n = static_cast<size_t>(d[0])](const Row& x) {
      const std::span<const double> all(x);
      return Convolve<double>(all.first(n), all.subspan(n));
    };
  }
  if (name == "convolve2d") {
    return [d](const Row& x) {
      const std::span<const double> all(x);
      const size_t n = static_cast<size_t>(d[0] * d[1]);
      return Convolve2d<double>(all.first(n), {d[0], d[1]}, all.subspan(n), {d[2], d[3]},
                                {.mode = ConvolveMode::kSame});
    };
  }
  return [name](const Row&) -> absl::StatusOr<Row> {
    return absl::InvalidArgumentError("no case " + name);
  };
}

int Serve() {
  std::function<absl::StatusOr<Row>()> run;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string word, name, in, out;
    words >> word;
    if (word == "case") {
      words >> name >> in >> out;
      const Numbers d{std::istream_iterator<int64_t>(words), std::istream_iterator<int64_t>()};
      run = [work = Prepare(name, d), x = Read(in)] { return work(x); };
      const absl::StatusOr<Row> y = run();
      if (y.ok()) Write(out, *y);
      std::cout << (y.ok() ? "ok" : "error " + std::string(y.status().message())) << std::endl;
    } else {
      int64_t count = 0;
      words >> count;
      const double begin = Now();
      for (int64_t i = 0; i < count; ++i) {
        if (!run().ok()) return 1;
      }
      std::printf("%.9g\n", Now() - begin);
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace
}  // namespace assay::fft

int main() { return assay::fft::Serve(); }
