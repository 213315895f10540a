// SPDX-License-Identifier: Apache-2.0
// A lab of every kind of figure, small enough to check by hand, for the tests of the lab program.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/lab/lab.h"

namespace assay::lab {
namespace {

absl::Status Run(Context& context, Report& report) {
  const int64_t n = context.Integer("n", 10, 100, 1000);
  const double step = context.Real("step", 0.1, 0.1, 0.1);
  const uint64_t seed = context.seed();
  // Only to be slow: the tests interrupt it.
  const int64_t spin = context.Integer("spin", 0, 0, 0);
  uint64_t state = seed;
  for (int64_t i = 0; i < spin; ++i) {
    for (int k = 0; k < 1000; ++k) state = state * 6364136223846793005u + 1442695040888963407u;
    context.Progress(i + 1, spin, "spinning");
  }
  double sum = 0;
  std::vector<float> terms;
  Table& table = report.AddTable("sums", "Sums of the first k steps");
  table.Column<int64_t>("k")
      .Column<double>("sum", "m")
      .Column<float>("term")
      .Column<std::string>("note");
  for (int64_t k = 1; k <= n; ++k) {
    sum += step;
    terms.push_back(1.0f / static_cast<float>(k));
    context.Progress(k, n, "adding");
    if (k <= 10) table.Row(k, sum, terms.back(), k == 3 ? "a \"quoted\", cell" : "plain");
  }
  absl::StatusOr<std::vector<uint8_t>> letters = context.Data("letters");
  if (!letters.ok()) return letters.status();
  report.Exact("sum", sum, "Sum of n steps", "m");
  report.Exact("terms_wanted", n, "Steps");
  report.Exact("seed_used", seed, "The seed");
  report.Exact("state", state, "State of the generator");
  report.Exact("third", 1.0f / 3.0f, "A third in f32");
  report.Exact("undefined", std::numeric_limits<double>::quiet_NaN(), "Nought by nought");
  report.Exact("is_exact", sum == step * static_cast<double>(n), "Is the sum the product?");
  report.Exact("name", "tiny", "Its name");
  report.Exact("letters", static_cast<int64_t>(letters->size()), "Letters in the data");
  report.ExactArray("terms", terms, "Terms");
  if (context.profile() == Profile::kFull) report.Exact("only_full", int64_t{7}, "Natively only");
  report.Bounded("near_one", 1.0 + 1e-16,
                 {.metric = "max rel",
                  .observed = 1e-16,
                  .bound = 2e-16,
                  .why = "one rounding",
                  .reference = "one"},
                 "Nearly one");
  report.Modelled("predicted", 2.5, "a straight line", "Predicted");
  report.Cited("quoted", 42,
               {.author = "Adams", .year = 1979, .title = "Guide", .where = "ch. 27", .url = ""},
               "Quoted");
  return absl::OkStatus();
}

absl::Status Measure(MeasureContext& context, Measurements& measurements) {
  const int64_t n = context.Integer("n", 100, 1000, 1000);
  std::vector<double> values(static_cast<size_t>(n), 1.0);
  double sum = 0;
  const std::vector<Variant> variants = {
      {.id = "one_pass",
       .title = "One pass",
       .run =
           [&] {
             sum = 0;
             for (double x : values) sum += x;
             KeepResult(sum);
           },
       .check =
           [&] {
             return sum == static_cast<double>(n) ? absl::OkStatus()
                                                  : absl::InternalError("wrong sum");
           },
       .flops = static_cast<double>(n),
       .bytes = 8.0 * static_cast<double>(n)},
      {.id = "three_passes", .title = "Three passes", .run = [&] {
         for (int pass = 0; pass < 3; ++pass) {
           sum = 0;
           for (double x : values) sum += x;
           KeepResult(sum);
         }
       }}};
  return measurements.Compare(context, "summing", "Summing n numbers", variants);
}

ASSAY_LAB(tiny, {.title = "A tiny lab", .run = &Run, .measure = &Measure});

}  // namespace
}  // namespace assay::lab
