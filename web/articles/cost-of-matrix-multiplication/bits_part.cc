// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/elementary.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/int8.h"
#include "tools/lab/lab.h"
#include "web/articles/cost-of-matrix-multiplication/parts.h"
#include "web/articles/cost-of-matrix-multiplication/strassen.h"

namespace assay::matmul_page {
namespace {

using lab::Context;
using lab::Report;
using lab::Table;

constexpr double kUnit = 0x1p-24;  // of f32

double Size(double x) { return x < 0 ? -x : x; }

std::vector<float> Normals(int64_t count, Random& random) {
  std::vector<float> x;
  for (int64_t i = 0; i < count; ++i) x.push_back(static_cast<float>(random.Normal()));
  return x;
}

template <class T>
MatrixView<const T> View(const std::vector<T>& x, int64_t rows, int64_t cols) {
  return {x.data(), rows, cols, cols};
}

// [region bits]
// One ragged product, by one thread, by three, and from transposed memory: one hash each.
absl::Status SameBits(Context& context, Report& report) {
  constexpr int64_t m = 131, n = 77, k = 301;
  Random random(context.seed(), 10);
  const std::vector<float> a = Normals(m * k, random), b = Normals(k * n, random);
  std::vector<float> turned(b.size());
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) turned[j * k + i] = b[i * n + j];
  }
  std::array<std::string, 3> hashes;
  ThreadPool three(3);
  for (size_t way = 0; way < hashes.size(); ++way) {
    std::vector<float> c(m * n);
    const MatrixView<const float> right =
        way == 2 ? View(turned, n, k).Transposed() : View(b, k, n);
    gemm::Options<float> options;
    options.pool = way == 1 ? &three : nullptr;
    absl::Status status =
        gemm::Gemm<float>(1, View(a, m, k), right, 0, MatrixView<float>(c, m, n), options);
    if (!status.ok()) return status;
    hashes[way] = Sha256Hex(std::span<const float>(c));
  }
  report.Exact("bits_hash", hashes[0].substr(0, 16), "SHA-256 of the product, its beginning");
  report.Exact("bits_same", hashes[1] == hashes[0] && hashes[2] == hashes[0],
               "Three threads and a transposed operand give the same bits");
  return absl::OkStatus();
}
// [end bits]

absl::Status Sums(Context& context, Report& report) {
  const int64_t longest = context.Integer("sums_k", 1 << 12, 1 << 16, 1 << 16);
  constexpr int64_t n = 12;
  Table& table = report.AddTable("sums", "Largest error of a product in f32 over |A||B|, in u");
  table.Column<int64_t>("k")
      .Column<double>("plain", "u")
      .Column<double>("blocked", "u")
      .Column<double>("bound", "u");
  double worst_share = 0, last_plain = 0, last_blocked = 0;
  for (int64_t k = 16; k <= longest; k *= 4) {
    Random random(context.seed(), 20);
    std::vector<float> a, b;
    for (int64_t i = 0; i < n * k; ++i) a.push_back(static_cast<float>(random.Uniform()));
    for (int64_t i = 0; i < n * k; ++i) b.push_back(static_cast<float>(random.Uniform()));
    std::vector<float> c(n * n);
    absl::Status status =
        gemm::Gemm<float>(1, View(a, n, k), View(b, k, n), 0, MatrixView<float>(c, n, n));
    if (!status.ok()) return status;
    double plain = 0, blocked = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        double truth = 0;  // products of floats are exact in f64, and all terms are positive
        for (int64_t p = 0; p < k; ++p) {
          sum += a[i * k + p] * b[p * n + j];
          truth += static_cast<double>(a[i * k + p]) * static_cast<double>(b[p * n + j]);
        }
        plain = std::max(plain, Size(static_cast<double>(sum) - truth) / (truth * kUnit));
        blocked =
            std::max(blocked, Size(static_cast<double>(c[i * n + j]) - truth) / (truth * kUnit));
      }
    }
    const int64_t depth = std::min(k, gemm::kBlock) + (k + gemm::kBlock - 1) / gemm::kBlock + 2;
    const double bound = static_cast<double>(depth) / (1 - static_cast<double>(depth) * kUnit);
    table.Row(k, plain, blocked, bound);
    worst_share = std::max(worst_share, blocked / bound);
    last_plain = plain;
    last_blocked = blocked;
  }
  report.Exact("sums_longest", longest, "Terms of the longest sums", "terms");
  report.Exact("sums_plain", last_plain, "Error of the longest plain sums", "u");
  report.Exact("sums_blocked", last_blocked, "Error of the longest sums in blocks", "u");
  report.Exact("sums_gain", last_plain / last_blocked, "Plain over blocked", "times");
  report.Exact("sums_share", worst_share, "Largest share of the bound that is used");
  return absl::OkStatus();
}

// ||x - y|| / ||y||.
double Distance(const std::vector<float>& x, const std::vector<double>& y) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = static_cast<double>(x[i]) - y[i];
    difference += d * d;
    size += y[i] * y[i];
  }
  return Sqrt(difference / size);
}

// Whole numbers in -127 to 127 and the step between two: one step for the whole matrix.
struct Quantised {
  std::vector<int8_t> values;
  double step = 1;
};
Quantised Quantise(const std::vector<float>& x) {
  double largest = 0;
  for (const float v : x) largest = std::max(largest, Size(static_cast<double>(v)));
  Quantised q;
  q.step = largest / 127;
  for (const float v : x) {
    const double scaled = static_cast<double>(v) / q.step;
    q.values.push_back(
        static_cast<int8_t>(static_cast<int>(scaled < 0 ? scaled - 0.5 : scaled + 0.5)));
  }
  return q;
}

struct FormatErrors {
  double f32 = 0, bf16 = 0, int8 = 0;
};

absl::StatusOr<FormatErrors> ErrorsOf(const std::vector<float>& a, const std::vector<float>& b,
                                      int64_t n) {
  const std::vector<double> a64(a.begin(), a.end()), b64(b.begin(), b.end());
  std::vector<double> truth(a.size());
  absl::Status status =
      gemm::Gemm<double>(1, View(a64, n, n), View(b64, n, n), 0, MatrixView<double>(truth, n, n));
  if (!status.ok()) return status;
  FormatErrors errors;
  std::vector<float> c(a.size());
  status = gemm::Gemm<float>(1, View(a, n, n), View(b, n, n), 0, MatrixView<float>(c, n, n));
  if (!status.ok()) return status;
  errors.f32 = Distance(c, truth);
  std::vector<floating::BFloat16> a16, b16;
  for (const float v : a) a16.push_back(floating::BFloat16(v));
  for (const float v : b) b16.push_back(floating::BFloat16(v));
  status = gemm::Gemm(1, View(a16, n, n), View(b16, n, n), 0, MatrixView<float>(c, n, n));
  if (!status.ok()) return status;
  errors.bf16 = Distance(c, truth);
  const Quantised qa = Quantise(a), qb = Quantise(b);
  std::vector<int32_t> whole(a.size());
  status = gemm::GemmInt8<int8_t, int8_t>(View(qa.values, n, n), View(qb.values, n, n),
                                          MatrixView<int32_t>(whole, n, n));
  if (!status.ok()) return status;
  for (size_t i = 0; i < c.size(); ++i) {
    c[i] = static_cast<float>(static_cast<double>(whole[i]) * qa.step * qb.step);
  }
  errors.int8 = Distance(c, truth);
  return errors;
}

absl::Status Formats(Context& context, Report& report) {
  constexpr int64_t n = 128;
  Random random(context.seed(), 30);
  std::vector<float> a = Normals(n * n, random);
  const std::vector<float> b = Normals(n * n, random);
  const absl::StatusOr<FormatErrors> tame = ErrorsOf(a, b, n);
  if (!tame.ok()) return tame.status();
  // A single column of A a hundred times as large, as in activations of large language models
  // (Dettmers et al., LLM.int8(), 2022).
  std::vector<float> wild = a;
  for (int64_t i = 0; i < n; ++i) wild[i * n + 5] *= 100;
  const absl::StatusOr<FormatErrors> outlier = ErrorsOf(wild, b, n);
  if (!outlier.ok()) return outlier.status();
  Table& table = report.AddTable("formats", "Relative error of a product by format of A and B");
  table.Column<std::string_view>("format").Column<double>("tame").Column<double>("outlier");
  table.Row("f32", tame->f32, outlier->f32);
  table.Row("bf16", tame->bf16, outlier->bf16);
  table.Row("int8", tame->int8, outlier->int8);
  report.Exact("bf16_error", tame->bf16, "Relative error with operands in bf16");
  report.Exact("int8_error", tame->int8, "Relative error with operands in int8");
  report.Exact("int8_over_bf16", tame->int8 / tame->bf16, "int8 over bf16", "times");
  return absl::OkStatus();
}

absl::Status FewerProducts(Context& context, Report& report) {
  const int64_t n = context.Integer("strassen_n", 64, 128, 128);
  Random random(context.seed(), 40);
  const Square<float> a = Normals(n * n, random), b = Normals(n * n, random);
  const Square<double> a64(a.begin(), a.end()), b64(b.begin(), b.end());
  const Square<double> truth = Classic(a64, b64, n);
  Table& table = report.AddTable("strassen", "Strassen's method by levels of halving, in f32");
  table.Column<int64_t>("levels").Column<double>("work").Column<double>("error");
  double first = 0, last = 0, least = 1, best_error = 0;
  for (int levels = 0; (n >> levels) >= 4; ++levels) {
    const Square<float> c = Strassen(a, b, n, levels);
    const double error = Distance(c, truth);
    const double work = static_cast<double>(StrassenOperations(n, levels)) /
                        static_cast<double>(StrassenOperations(n, 0));
    table.Row(static_cast<int64_t>(levels), work, error);
    if (levels == 0) first = error;
    if (work < least) {
      least = work;
      best_error = error;
    }
    last = error;
    context.Progress(levels + 1, 6, "multiplying by sevens");
  }
  int64_t crossover = 2;
  while (StrassenOperations(crossover, 1) >= StrassenOperations(crossover, 0)) crossover += 2;
  report.Exact("strassen_n", n, "Rows and columns", "rows");
  report.Exact("strassen_from", crossover, "Size from which one halving saves operations", "rows");
  report.Exact("strassen_least", least, "Smallest share of the definition's operations");
  report.Exact("strassen_first", first, "Relative error of the definition");
  report.Exact("strassen_error", best_error / first,
               "Error at the fewest operations over that of the definition", "times");
  report.Exact("strassen_last", last / first, "Error of the most halvings over the definition's",
               "times");
  // What is left at n = 8192 with halvings down to 512.
  report.Exact("strassen_large",
               static_cast<double>(StrassenOperations(8192, 4)) /
                   static_cast<double>(StrassenOperations(8192, 0)),
               "Share of the operations at 8192 rows with four halvings");
  return absl::OkStatus();
}

}  // namespace

absl::Status Rounding(Context& context, Report& report) {
  for (const auto part : {SameBits, Sums, Formats, FewerProducts}) {
    if (absl::Status status = part(context, report); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace assay::matmul_page
