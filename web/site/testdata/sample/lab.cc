// SPDX-License-Identifier: Apache-2.0
//
// A small lab for the renderer's and the browser's tests: the harmonic series, summed two ways.
#include <cstdint>

#include "absl/status/status.h"
#include "tools/lab/lab.h"

namespace {

using assay::lab::Context;
using assay::lab::Report;

// [region sums]
// 1 + 1/2 + ... + 1/n in single precision, largest term first or smallest term first.
float Forward(int64_t n) {
  float sum = 0;
  for (int64_t k = 1; k <= n; ++k) sum += 1.0f / static_cast<float>(k);
  return sum;
}

float Backward(int64_t n) {
  float sum = 0;
  for (int64_t k = n; k >= 1; --k) sum += 1.0f / static_cast<float>(k);
  return sum;
}
// [end sums]

double Reference(int64_t n) {
  double sum = 0;
  for (int64_t k = n; k >= 1; --k) sum += 1.0 / static_cast<double>(k);
  return sum;
}

absl::Status Run(Context& context, Report& report) {
  const int64_t n = context.Integer("n", 1 << 10, 1 << 20, 1 << 24);
  report.Exact("terms", n, "Number of terms");
  report.Exact("forward", Forward(n), "Harmonic sum in f32, largest term first");
  report.Exact("backward", Backward(n), "Harmonic sum in f32, smallest term first");
  report.Exact("half", 0.5, "One half");
  const double reference = Reference(n);
  const double found = Backward(n);
  const double error = (found > reference ? found - reference : reference - found) / reference;
  report.Bounded("backward_value", found,
                 {.metric = "max rel",
                  .observed = error,
                  .bound = static_cast<double>(n) * 0x1p-24,
                  .why = "n additions, each with at most one unit roundoff",
                  .reference = "the same sum in f64"},
                 "Harmonic sum, smallest term first");
  report.Modelled("growth", 0.6931471805599453, "the sum grows like the logarithm of n",
                  "Growth by one doubling of n");
  report.Cited("euler", 0.5772156649015329,
               {.author = "Euler",
                .year = 1740,
                .title = "De progressionibus harmonicis",
                .where = "par. 6",
                .url = ""},
               "Euler's constant");
  auto& table = report.AddTable("sums", "Error of both sums");
  table.Column<int64_t>("n").Column<double>("forward", "1").Column<double>("backward", "1");
  int64_t done = 0;
  for (int64_t m = 16; m <= n; m *= 2) {
    const double exact = Reference(m);
    const double forward = Forward(m) - exact;
    const double backward = Backward(m) - exact;
    table.Row(m, forward < 0 ? -forward : forward, backward < 0 ? -backward : backward);
    done += m;
    context.Progress(done, 2 * n, "summing");
  }
  return absl::OkStatus();
}

}  // namespace

ASSAY_LAB(sample, {.title = "The harmonic sum", .run = &Run});
