// SPDX-License-Identifier: Apache-2.0
//
// Numerical pitfalls: where rounding enters, how sums and differences amplify it, and a training
// run whose loss turns into NaN, found and cured.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/expression/analyse.h"
#include "numerics/expression/evaluate.h"
#include "numerics/expression/expression.h"
#include "numerics/expression/hamming.h"
#include "numerics/expression/rewrite.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/cancellation.h"
#include "numerics/floating/condition.h"
#include "numerics/floating/cross_entropy.h"
#include "numerics/floating/dot.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/half.h"
#include "numerics/floating/ill_conditioned.h"
#include "numerics/floating/norm.h"
#include "numerics/floating/softmax.h"
#include "numerics/floating/softmax_reference.h"
#include "numerics/floating/sum.h"
#include "numerics/floating/sum_reference.h"
#include "tools/lab/lab.h"
#include "web/articles/numerical-pitfalls/garments.h"
#include "web/articles/numerical-pitfalls/pattern.h"

namespace assay::numerical_pitfalls {
namespace {

using floating::BFloat16;
using floating::Format;
using floating::Half;
using floating::HiLo;
using floating::SumMethod;
using lab::Context;
using lab::Report;
using lab::Table;

constexpr double kLn10 = 2.302585092994045684;

double Log10(double x) { return Log(x) / kLn10; }

// ------------------------------------------------------------------ where rounding enters

void OneTenth(Report& report) {
  Table& table = report.AddTable("tenth", "One tenth, as each format stores it");
  table.Column<std::string>("format")
      .Column<std::string>("bits")
      .Column<std::string>("stored")
      .Column<double>("relative_error")
      .Column<double>("correct_digits")
      .Column<double>("gap");
  const floating::Rational tenth = *floating::ParseRational("0.1");
  for (const Format format : floating::kFormats) {
    const uint64_t bits = floating::RoundTo(format, tenth);
    const floating::Rational stored = floating::ToRational(format, bits);
    const std::string decimal = floating::ExactDecimal(format, bits);
    const double error = ((stored - tenth) / tenth).ToDouble();
    table.Row(std::string(floating::Info(format).name), floating::BitString(format, bits), decimal,
              error, 0.0 - Log10(std::fabs(error)), floating::UlpOf(format, bits));
    report.Exact(absl::StrCat("tenth_", floating::Info(format).name), decimal,
                 absl::StrCat("What 0.1 becomes in ", floating::Info(format).name));
  }
  report.Exact("three_tenths", floating::ShortestDecimal(Format::kF64, FloatBits(0.1 + 0.2)),
               "0.1 + 0.2 in f64, in the fewest digits that identify it");
  report.Exact("gap_at_1e8", Ulp(1e8f), "Distance from 1e8 to the next f32");
  report.Exact("absorbed", (1e8f + 1.0f) - 1e8f, "(1e8 + 1) - 1e8 in f32");
  report.Exact("roundoff_f16", 0x1p-11, "Unit roundoff of f16");
  report.Exact("roundoff_bf16", 0x1p-8, "Unit roundoff of bf16");
  report.Exact("roundoff_f32", 0x1p-24, "Unit roundoff of f32");
  report.Exact("roundoff_f64", 0x1p-53, "Unit roundoff of f64");
}

// The number at which adding ones one by one comes to a halt.
template <class T>
double Stall() {
  T sum(0);
  for (;;) {
    const T next = sum + T(1);
    if (next == sum) return static_cast<double>(sum);
    sum = next;
  }
}

// ------------------------------------------------------------------ how errors of sums grow

void Growth(Context& context, Report& report) {
  const int64_t most = context.Integer("growth_lg_n", 12, 20, 20);
  const int64_t draws = context.Integer("growth_draws", 2, 8, 8);
  Table& table = report.AddTable("growth", "Largest error of a sum of n random numbers in f32");
  table.Column<int64_t>("n");
  for (const SumMethod method : floating::kSumMethods) {
    table.Column<double>(floating::SumMethodName(method), "u");
  }
  table.Column<double>("naive_bound", "u").Column<double>("pairwise_bound", "u");
  constexpr double u = 0x1p-24;
  std::array<double, 6> last = {};
  int64_t n = 64;
  for (; n <= int64_t{1} << most; n *= 2) {
    std::array<double, 6> worst = {};
    for (int64_t draw = 0; draw < draws; ++draw) {
      Random random(context.seed(), static_cast<uint64_t>(1000 + draw));
      std::vector<float> x(static_cast<size_t>(n));
      random.FillUniform(std::span<float>(x));
      floating::ExactAccumulator exact;
      exact.Add(std::span<const float>(x));
      const double sum = exact.Round<double>();
      for (size_t m = 0; m < worst.size(); ++m) {
        const double got = static_cast<double>(floating::Sum(x, floating::kSumMethods[m]));
        worst[m] = std::max(worst[m], std::fabs(got - sum) / (u * sum));
      }
    }
    int height = 0;
    while ((int64_t{1} << height) < n) ++height;
    table.Row(n, worst[0], worst[1], worst[2], worst[3], worst[4], worst[5],
              static_cast<double>(n - 1), static_cast<double>(height));
    last = worst;
    context.Progress(n, int64_t{1} << most, "sums of random numbers");
  }
  report.Exact("growth_terms", n / 2, "Terms in the longest sum");
  report.Exact("growth_naive", last[0], "Error of the naive sum of the most terms, in u");
  report.Exact("growth_pairwise", last[1], "Error of the pairwise sum of the most terms, in u");
  report.Exact("growth_kahan", last[2], "Error of the Kahan sum of the most terms, in u");
  report.Exact("growth_exact", last[5], "Error of the exact sum after its one rounding, in u");
  report.Exact("stall_f16", Stall<Half>(), "Where adding ones in f16 stops");
  report.Exact("stall_bf16", Stall<BFloat16>(), "Where adding ones in bf16 stops");
  report.Exact("stall_f32", Stall<float>(), "Where adding ones in f32 stops");
  const std::vector<double> trap = {1.0, 1e100, 1.0, -1e100};
  const std::span<const double> view(trap);
  report.Exact("trap_kahan", floating::reference::KahanSum(view),
               "Textbook Kahan sum of 1, 1e100, 1, -1e100");
  report.Exact("trap_neumaier", floating::reference::NeumaierSum(view),
               "Neumaier's sum of the same");
}

// ------------------------------------------------------------------ the condition number

void Conditioning(Context& context, Report& report) {
  const int64_t n = context.Integer("condition_n", 200, 1000, 1000);
  Table& table = report.AddTable("digits", "Correct digits of sums in f64 by condition number");
  table.Column<double>("condition").Column<double>("lg_condition");
  for (const SumMethod method : floating::kSumMethods) {
    table.Column<double>(floating::SumMethodName(method), "digits");
  }
  table.Column<double>("rule", "digits");
  Random random(context.seed(), 2000);
  constexpr int kMostDecades = 28;
  double kahan_at_end = 0;
  for (int decade = 3; decade <= kMostDecades; ++decade) {
    const std::vector<double> x =
        floating::IllConditionedSum<double>(n, Pow(10.0, static_cast<double>(decade)), random);
    floating::ExactAccumulator exact;
    exact.Add(std::span<const double>(x));
    const HiLo<double> sum = exact.RoundToDoubleWord();
    std::array<double, 6> digits = {};
    for (size_t m = 0; m < digits.size(); ++m) {
      digits[m] = floating::CompareWith(floating::Sum(x, floating::kSumMethods[m]), sum).digits;
    }
    const double condition = floating::SumCondition(x);
    const double rule = std::max(0.0, Log10(0x1p53) - Log10(condition));
    table.Row(condition, Log10(condition), digits[0], digits[1], digits[2], digits[3], digits[4],
              digits[5], rule);
    if (decade <= 18) kahan_at_end = digits[2];
    context.Progress(decade, kMostDecades, "sums of growing condition");
  }
  report.Exact("kahan_digits_hard", kahan_at_end,
               "Correct digits of the Kahan sum where the condition number passes 1/u");
}

// Dot products of given condition: the same fall as that of sums, twice as late with Dot2.
void DotProducts(Context& context, Report& report) {
  const int64_t n = context.Integer("dot_n", 100, 200, 200);
  Table& table =
      report.AddTable("dots", "Correct digits of dot products in f64 by condition number");
  table.Column<double>("condition")
      .Column<double>("lg_condition")
      .Column<double>("rule", "digits")
      .Column<double>("dot", "digits")
      .Column<double>("dot2", "digits")
      .Column<double>("exact", "digits");
  Random random(context.seed(), 2500);
  double dot_hard = 0;
  double dot2_hard = 0;
  for (int decade = 3; decade <= 36; ++decade) {
    const floating::HardDot hard =
        floating::IllConditionedDot(n, Pow(10.0, static_cast<double>(decade)), random);
    const double condition = floating::DotCondition(hard.x, hard.y);
    const HiLo<double> exact = {floating::ExactDot(hard.x, hard.y), 0};
    const auto digits = [&](double got) { return floating::CompareWith(got, exact).digits; };
    const double dot = digits(floating::Dot(hard.x, hard.y));
    const double dot2 = digits(floating::Dot2(hard.x, hard.y));
    table.Row(condition, Log10(condition), std::max(0.0, Log10(0x1p53) - Log10(condition)), dot,
              dot2, digits(exact.hi));
    if (condition < 1e24) {
      dot_hard = dot;
      dot2_hard = dot2;
    }
  }
  report.Exact("dot_hard", dot_hard, "Digits of the plain dot product at a condition near 1e24");
  report.Exact("dot2_hard", dot2_hard, "Digits of Dot2 there");
}

// The length of the vector (3, 4) 10^k in f32, whose value is in range for every k here.
void Norms(Report& report) {
  Table& table = report.AddTable("norms", "The 2-norm of (3, 4) 10^k in f32");
  table.Column<int64_t>("k")
      .Column<std::string>("naive")
      .Column<std::string>("scaled")
      .Column<double>("naive_error")
      .Column<double>("scaled_error");
  int64_t infinite = 0;
  int64_t zero = 0;
  double worst = 0;
  for (int k = -36; k <= 36; k += 6) {
    const float scale = static_cast<float>(Pow(10.0, k));
    const std::array<float, 2> x = {3 * scale, 4 * scale};
    const float naive = std::sqrt(x[0] * x[0] + x[1] * x[1]);
    const float scaled = floating::Norm2(std::span<const float>(x));
    // In f64 the squares of f32 neither overflow nor underflow.
    const double exact =
        std::sqrt(static_cast<double>(x[0]) * x[0] + static_cast<double>(x[1]) * x[1]);
    const auto error = [&](float got) {
      const double e = std::fabs(static_cast<double>(got) - exact) / exact;
      return e - e == 0 ? std::min(e, 1.0) : 1.0;
    };
    table.Row(static_cast<int64_t>(k),
              floating::ShortestDecimal(Format::kF32, CanonicalBits(naive)),
              floating::ShortestDecimal(Format::kF32, CanonicalBits(scaled)), error(naive),
              error(scaled));
    if (naive == 0) zero = k;
    if (infinite == 0 && naive - naive != 0) infinite = k;
    worst = std::max(worst, error(scaled));
  }
  report.Exact("norm_zero_power", zero, "Largest k tried at which the naive norm is 0");
  report.Exact("norm_infinite_power", infinite, "Least k tried at which it is infinite");
  report.Exact("norm_worst", worst, "Largest relative error of the scaled norm");
}

// ------------------------------------------------------------------ cancellation

void Quadratics(Report& report) {
  Table& table =
      report.AddTable("quadratic", "Relative error of the small root of x^2 - b x + 1 in f32");
  table.Column<double>("b").Column<double>("school").Column<double>("stable");
  double school_worst = 0;
  double stable_worst = 0;
  for (int k = 2; k <= 28; ++k) {
    const float b = static_cast<float>(Pow(10.0, k / 4.0));
    const double exact = floating::QuadraticRoots(1.0, -static_cast<double>(b), 1.0).first;
    const double school = static_cast<double>(floating::NaiveQuadraticRoots(1.0f, -b, 1.0f).first);
    const double stable = static_cast<double>(floating::QuadraticRoots(1.0f, -b, 1.0f).first);
    const double school_error = std::fabs(school - exact) / exact;
    const double stable_error = std::fabs(stable - exact) / exact;
    table.Row(static_cast<double>(b), school_error, stable_error);
    school_worst = std::max(school_worst, school_error);
    stable_worst = std::max(stable_worst, stable_error);
  }
  report.Exact("school_worst", school_worst, "Largest relative error of the school formula");
  report.Exact("stable_worst", stable_worst, "Largest relative error of the stable formula");
}

// The discriminant of x^2 - 2 b x + c with c = b^2 - d for small whole d: what of it survives in
// f32.
void Discriminants(Report& report) {
  Table& table = report.AddTable("discriminant", "Double roots that are none, in f32");
  table.Column<int64_t>("b").Column<double>("exact").Column<double>("school").Column<double>(
      "stable");
  int64_t lost = 0;
  double worst = 0;
  for (int64_t k = 0; k < 8; ++k) {
    // b is odd and has 24 bits, so that b^2 has 47 and b^2 - 1 is no f32: c is rounded first.
    const int64_t b = (int64_t{1} << 23) + 2 * 1021 * k + 4097;
    const float fb = static_cast<float>(b);
    const float c = fb * fb;
    const double exact = static_cast<double>(b) * static_cast<double>(b) - static_cast<double>(c);
    const floating::Roots<float> school = floating::NaiveQuadraticRoots(1.0f, -2 * fb, c);
    const floating::Roots<float> stable = floating::QuadraticRoots(1.0f, -2 * fb, c);
    const int expected = exact > 0 ? 2 : exact == 0 ? 1 : 0;
    table.Row(b, exact, static_cast<double>(school.count), static_cast<double>(stable.count));
    if (school.count != expected) ++lost;
    if (stable.count != expected) worst = 1;
  }
  report.Exact("discriminant_cases", int64_t{8}, "Quadratics with a discriminant in the last bits");
  report.Exact("discriminant_lost", lost,
               "Of those, with the wrong number of roots by the school formula");
  report.Exact("discriminant_wrong", worst, "1 if the stable formula miscounts any of them");
}

void Variances(Context& context, Report& report) {
  Table& table = report.AddTable("variance", "Relative error of the variance of shifted data, f32");
  table.Column<double>("shift")
      .Column<double>("one_pass")
      .Column<double>("two_pass")
      .Column<double>("two_pass_corrected")
      .Column<double>("welford");
  const int64_t n = context.Integer("variance_n", 1000, 1000, 1000);
  Random random(context.seed(), 3000);
  std::vector<double> base(static_cast<size_t>(n));
  random.FillUniform(std::span<double>(base));
  double worst_one_pass = 0;
  double worst_welford = 0;
  double negative_at = -1;
  double negative = 0;
  for (int k = 0; k <= 10; ++k) {
    const double shift = Pow(10.0, k / 2.0);
    std::vector<float> x;
    std::vector<double> wide;
    for (const double value : base) {
      x.push_back(static_cast<float>(value + shift));
      wide.push_back(static_cast<double>(x.back()));
    }
    // The variance of the stored numbers: what rounding did to the data is not held against anyone.
    const double exact =
        floating::Variance<double>(wide, floating::VarianceMethod::kTwoPassCorrected);
    const auto error = [&](floating::VarianceMethod method) {
      return std::fabs(static_cast<double>(floating::Variance<float>(x, method)) - exact) / exact;
    };
    const double one_pass =
        static_cast<double>(floating::Variance<float>(x, floating::VarianceMethod::kOnePass));
    if (one_pass < 0 && negative_at < 0) {
      negative_at = shift;
      negative = one_pass;
    }
    const double one_pass_error = error(floating::VarianceMethod::kOnePass);
    const double welford_error = error(floating::VarianceMethod::kWelford);
    table.Row(shift, one_pass_error, error(floating::VarianceMethod::kTwoPass),
              error(floating::VarianceMethod::kTwoPassCorrected), welford_error);
    worst_one_pass = std::max(worst_one_pass, one_pass_error);
    worst_welford = std::max(worst_welford, welford_error);
  }
  report.Exact("negative_shift", negative_at,
               "First shift at which the one-pass variance is negative");
  report.Exact("negative_variance", negative, "That negative variance");
  report.Exact("one_pass_worst", worst_one_pass, "Largest relative error of the one-pass formula");
  report.Exact("data_deviation",
               std::sqrt(floating::Variance<double>(base, floating::VarianceMethod::kTwoPass)),
               "Standard deviation of the data before the shift");
  report.Exact("welford_worst", worst_welford, "Largest relative error of Welford's method");
}

// ------------------------------------------------------------------ stable rewrites

// The bits of error of sqrt(x + 1) - sqrt(x) as typed and rewritten, and the problem's own
// condition.
void OneRewrite(Report& report) {
  Table& table = report.AddTable("rewrite_curve", "Bits of error of sqrt(x + 1) - sqrt(x)");
  table.Column<double>("x")
      .Column<double>("typed_f32", "bits")
      .Column<double>("typed_f64", "bits")
      .Column<double>("rewritten_f64", "bits")
      .Column<double>("condition");
  expression::Graph graph;
  std::string error;
  const int typed = expression::Read("sqrt(x + 1) - sqrt(x)", &graph, &error).value_or(-1);
  const expression::Point at = {expression::BigFloat(1e12)};
  const expression::Rewrite found =
      expression::FindRewrite(&graph, typed, expression::PointsAround(at, Format::kF64, 12, 1), {});
  ASSAY_CHECK(found.best.has_value());
  double typed_worst = 0;
  double rewritten_worst = 0;
  for (int k = -20; k <= 80; k += 2) {
    const double x = Pow(10.0, k / 4.0);
    const expression::Point point = {expression::BigFloat(x)};
    const auto bits = [&](Format format, int id) {
      expression::FormatValues values(&graph, format, point);
      expression::TrueValues truth(&graph, values.point());
      return expression::ErrorOf(format, values(id), truth(typed).value).bits;
    };
    expression::TrueValues truth(&graph, point);
    const double before = bits(Format::kF64, typed);
    const double after = bits(Format::kF64, found.best->id);
    table.Row(x, bits(Format::kF32, typed), before, after,
              expression::Analyse(graph, typed, &truth).total_condition);
    typed_worst = std::max(typed_worst, before);
    rewritten_worst = std::max(rewritten_worst, after);
  }
  report.Exact("rewrite_form", graph.ToText(found.best->id), "The form that the search finds");
  report.Exact("rewrite_rule", std::string(found.best->steps[0].rule), "The rule that leads to it");
  report.Exact("rewrite_typed_worst", typed_worst, "Most bits of error in f64, as typed");
  report.Exact("rewrite_form_worst", rewritten_worst, "Most bits of error in f64, rewritten");
}

// The classic problems, before and after.
void Rewrites(Context& context, Report& report) {
  const int64_t points = context.Integer("rewrite_points", 12, 12, 12);
  const int64_t held_out = context.Integer("rewrite_points_held_out", 20, 100, 100);
  const int64_t few = context.Integer("rewrite_problems_tried", 6, 27, 27);
  Table& table = report.AddTable(
      "rewrites", "Hamming's problems in f64: mean bits of error at points held out");
  table.Column<double>("before", "bits")
      .Column<double>("after", "bits")
      .Column<std::string>("expression")
      .Column<std::string>("form")
      .Column<std::string>("place");
  int64_t mended = 0;
  int64_t tried = 0;
  double worst_mended = 0;
  for (const expression::HammingProblem& problem : expression::HammingProblems()) {
    if (tried == few) break;
    ++tried;
    expression::Graph graph;
    const expression::Rewrite found =
        expression::Mend(problem, static_cast<int>(points), context.seed(), &graph);
    // At other points than those by which the form was chosen.
    const auto [before, after, scored] =
        expression::Score(problem, graph, found, static_cast<int>(held_out), context.seed());
    ASSAY_CHECK(scored == held_out);
    std::string form = found.best && after <= 1 ? graph.ToText(found.best->id) : "none found";
    if (found.below && after <= 1) {
      form = absl::StrCat(graph.ToText(found.below->id), " if ",
                          graph.variables()[static_cast<size_t>(found.variable)], " < ",
                          found.threshold.IsZero() ? "0" : found.threshold.ToScientific(2),
                          ", else ", form);
    }
    table.Row(before, after, std::string(problem.text), form, std::string(problem.place));
    if (after <= 1) {
      ++mended;
      worst_mended = std::max(worst_mended, after);
    }
    context.Progress(tried, few, "rewriting");
  }
  report.Exact("rewrites_tried", tried, "Problems of Hamming's chapter tried");
  report.Exact("rewrites_mended", mended,
               "Of those, brought below one bit of mean error at points held out");
  report.Exact("rewrites_unmended", tried - mended, "Of those, not");
  report.Exact("rewrites_worst_mended", worst_mended,
               "Largest mean error left of those mended, in bits");
  report.Exact("rewrite_points_each", points, "Points by which each problem's form is chosen");
  report.Exact("rewrite_held_out_each", held_out, "Other points at which it is then measured");
}

// ------------------------------------------------------------------ softmax and logsumexp

// The least positive number of the format for which `fails` holds, given that it holds from there
// on. Positive floats are ordered like their bits, so this is a bisection over integers.
template <class Fails>
uint64_t FirstFailure(Format format, Fails fails) {
  uint64_t holds = 0;
  uint64_t failed = floating::Info(format).Infinity();
  while (failed - holds > 1) {
    const uint64_t middle = holds + (failed - holds) / 2;
    (fails(middle) ? failed : holds) = middle;
  }
  return failed;
}

// [region first_overflow]
// The first logit x for which the naive softmax of {x, 0} is not a number.
template <class T>
uint64_t FirstOverflow(Format format) {
  return FirstFailure(format, [](uint64_t bits) {
    std::array<T, 2> z = {FromPattern<T>(bits), T(0)};
    floating::reference::NaiveSoftmax(std::span<const T>(z), std::span<T>(z));
    return !(z[0] == z[0]);
  });
}
// [end first_overflow]

// The first gap d for which the shifted softmax of {0, -d} gives the second class exactly 0.
template <class T>
uint64_t FirstUnderflow(Format format) {
  return FirstFailure(format, [](uint64_t bits) {
    std::array<T, 2> z = {T(0), -FromPattern<T>(bits)};
    floating::reference::ShiftedSoftmax(std::span<const T>(z), std::span<T>(z));
    return z[1] == T(0);
  });
}

template <class T>
void OverflowRow(Format format, Table& table, Report& report) {
  const floating::FormatInfo info = floating::Info(format);
  const uint64_t overflow = FirstOverflow<T>(format);
  const uint64_t underflow = FirstUnderflow<T>(format);
  const double logit = floating::ToDouble(format, overflow);
  const double gap = floating::ToDouble(format, underflow);
  table.Row(std::string(info.name), floating::ShortestDecimal(format, info.Infinity() - 1),
            floating::ShortestDecimal(format, overflow),
            floating::ShortestDecimal(format, underflow));
  report.Exact(absl::StrCat("overflow_", info.name), logit,
               absl::StrCat("First logit at which the naive softmax is NaN in ", info.name));
  report.Exact(
      absl::StrCat("underflow_", info.name), gap,
      absl::StrCat("First gap at which a softmax with the maximum subtracted is 0 in ", info.name));
}

void Thresholds(Report& report) {
  Table& table = report.AddTable("overflow", "Where softmax leaves each format's range");
  table.Column<std::string>("format")
      .Column<std::string>("largest_number")
      .Column<std::string>("first_bad_logit")
      .Column<std::string>("first_zero_gap");
  OverflowRow<Half>(Format::kF16, table, report);
  OverflowRow<BFloat16>(Format::kBF16, table, report);
  OverflowRow<float>(Format::kF32, table, report);
  OverflowRow<double>(Format::kF64, table, report);
}

// log(1 + t) for 0 < t < 1 by its series 2 (s + s^3 / 3 + s^5 / 5 + ...), s = t / (2 + t): good to
// a few units roundoff, and not the library's way.
double LogOnePlus(double t) {
  const double s = t / (2 + t);
  double sum = 0;
  for (int k = 41; k >= 3; k -= 2) sum = (sum + 1.0 / k) * (s * s);
  return 2 * (s + s * sum);
}

void LogSumExps(Report& report) {
  Table& table =
      report.AddTable("lse", "Relative error of log(exp(0) + exp(-d)) in f64, at least u");
  table.Column<int64_t>("d").Column<double>("plain_log").Column<double>("log1p");
  double plain_worst = 0;
  double stable_worst = 0;
  for (int64_t d = 1; d <= 48; ++d) {
    const std::array<double, 2> z = {0.0, -static_cast<double>(d)};
    const std::span<const double> view(z);
    const double exact = LogOnePlus(Exp(z[1]));
    const double plain = std::fabs(floating::reference::ShiftedLogSumExp(view) - exact) / exact;
    const double stable = std::fabs(floating::LogSumExp(view) - exact) / exact;
    constexpr double u = 0x1p-53;
    table.Row(d, std::max(plain, u), std::max(stable, u));
    plain_worst = std::max(plain_worst, plain);
    stable_worst = std::max(stable_worst, stable);
  }
  report.Exact("lse_plain_worst", plain_worst, "Largest relative error when finished with log");
  report.Exact("lse_log1p_worst", stable_worst, "Largest relative error when finished with log1p");
  const std::array<double, 2> far = {0.0, -40.0};
  report.Exact("lse_far", floating::LogSumExp(std::span<const double>(far)),
               "logsumexp of {0, -40} in f64");
  const std::array<float, 2> huge = {1e8f, 1e8f};
  report.Exact("loss_huge", *floating::CrossEntropy(std::span<const float>(huge), 0),
               "Loss for logits {1e8, 1e8} in f32");
}

// ------------------------------------------------------------------ the loss that goes NaN

constexpr int kHidden = 32;
constexpr int kBatch = 32;

// A layer of 32 rectified units between 196 pixels and 10 classes.
struct Network {
  std::array<float, kPixels * kHidden> w1;  // [pixel, unit]
  std::array<float, kHidden> b1;
  std::array<float, kHidden * kClasses> w2;  // [unit, class]
  std::array<float, kClasses> b2;

  static Network Zero() {
    Network network;
    network.w1.fill(0);
    network.b1.fill(0);
    network.w2.fill(0);
    network.b2.fill(0);
    return network;
  }

  template <class Function>
  void ForEach(const Network& other, Function f) {
    for (size_t i = 0; i < w1.size(); ++i) f(w1[i], other.w1[i]);
    for (size_t i = 0; i < b1.size(); ++i) f(b1[i], other.b1[i]);
    for (size_t i = 0; i < w2.size(); ++i) f(w2[i], other.w2[i]);
    for (size_t i = 0; i < b2.size(); ++i) f(b2[i], other.b2[i]);
  }
};

struct Activations {
  std::array<float, kHidden> hidden;
  std::array<float, kClasses> logits;
};

void Forward(const Network& network, std::span<const float> image, Activations* a) {
  std::array<float, kHidden> h = network.b1;
  for (int i = 0; i < kPixels; ++i) {
    const float x = image[static_cast<size_t>(i)];
    const float* w = network.w1.data() + i * kHidden;
    for (int j = 0; j < kHidden; ++j) h[static_cast<size_t>(j)] += x * w[j];
  }
  std::array<float, kClasses> z = network.b2;
  for (int j = 0; j < kHidden; ++j) {
    float& value = h[static_cast<size_t>(j)];
    value = value > 0 ? value : (value == value ? 0.0f : value);  // a NaN passes through
    const float* w = network.w2.data() + j * kClasses;
    for (int c = 0; c < kClasses; ++c) z[static_cast<size_t>(c)] += value * w[c];
  }
  a->hidden = h;
  a->logits = z;
}

// What one image contributes: its loss and the gradient with respect to its logits.
using LossFunction = float (*)(std::span<const float> logits, int target, std::span<float> grad);

using floating::reference::ExpOf;
using floating::reference::LogOf;
using floating::reference::ShiftedSoftmax;

// The intermediate numbers of the last call, for the autopsy.
struct Trace {
  std::array<float, kClasses> exponentials;
  std::array<float, kClasses> probabilities;
  float sum;
};

// [region naive_loss]
// Softmax, then minus the log of the target's share; the gradient by the chain rule, as automatic
// differentiation would. Every operation rounds to T: float, Half or BFloat16.
template <class T>
float NaiveLoss(std::span<const float> logits, int target, std::span<float> grad, Trace* trace) {
  std::array<T, kClasses> e;
  std::array<T, kClasses> p;
  T sum(0);
  for (int c = 0; c < kClasses; ++c) {
    e[c] = ExpOf(T(logits[c]));  // (1) infinite once a logit passes the format's threshold
    sum = sum + e[c];            // (2) then infinite too
  }
  for (int c = 0; c < kClasses; ++c) p[c] = e[c] / sum;  // (3) infinity / infinity: NaN
  const T loss = -LogOf(p[target]);                      // (4)
  const T slope = -(T(1) / p[target]);                   // d loss / d p[target]
  const T inner = slope * p[target];
  for (int c = 0; c < kClasses; ++c) {
    grad[c] = static_cast<float>(p[c] * ((c == target ? slope : T(0)) - inner));
  }
  // [end naive_loss]
  if (trace != nullptr) {
    for (int c = 0; c < kClasses; ++c) {
      trace->exponentials[c] = static_cast<float>(e[c]);
      trace->probabilities[c] = static_cast<float>(p[c]);
    }
    trace->sum = static_cast<float>(sum);
  }
  return static_cast<float>(loss);
}

template <class T>
float Naive(std::span<const float> logits, int target, std::span<float> grad) {
  return NaiveLoss<T>(logits, target, grad, nullptr);
}

// [region shifted_loss]
// The half-way repair: the maximum subtracted, but still the log of a rounded share.
template <class T>
float ShiftedLoss(std::span<const float> logits, int target, std::span<float> grad) {
  std::array<T, kClasses> p;
  for (int c = 0; c < kClasses; ++c) p[c] = T(logits[c]);
  ShiftedSoftmax(std::span<const T>(p), std::span<T>(p));  // cannot overflow any more
  const T loss = -LogOf(p[target]);                        // but p[target] can be 0: infinite loss
  const T slope = -(T(1) / p[target]);
  const T inner = slope * p[target];
  for (int c = 0; c < kClasses; ++c) {
    grad[c] = static_cast<float>(p[c] * ((c == target ? slope : T(0)) - inner));
  }
  return static_cast<float>(loss);
}
// [end shifted_loss]

// [region stable_loss]
// The cure: one function from logits to loss, logsumexp(z) - z[target], and its gradient p - 1.
float StableLoss(std::span<const float> logits, int target, std::span<float> grad) {
  ASSAY_CHECK(floating::CrossEntropyGradient(logits, target, grad).ok());
  return *floating::CrossEntropy(logits, target);
}
// [end stable_loss]

// The popular patch: an epsilon inside the log of the naive chain, in f32 with the shifted softmax.
float PatchedSlope(std::span<const float> logits, int target) {
  constexpr float kEpsilon = 1e-7f;
  std::array<float, kClasses> p = {};
  std::copy(logits.begin(), logits.end(), p.begin());
  const std::span<float> shares = std::span<float>(p).first(logits.size());
  ShiftedSoftmax(std::span<const float>(shares), shares);
  const float share = shares[static_cast<size_t>(target)];
  const float slope = -(1.0f / (share + kEpsilon));
  return share * (slope - slope * share);
}

struct State {
  Network weights = Network::Zero();
  Network velocity = Network::Zero();
  int64_t step = 0;
};

// Stochastic gradient descent with momentum over shuffled epochs: step k is a pure function of the
// state before it, so any stretch of the run can be replayed from a checkpoint.
class Training {
 public:
  Training(const Garments* data, uint64_t seed, float rate)
      : data_(data), seed_(seed), rate_(rate) {
    Random random(seed, 4000);
    const float scale1 = std::sqrt(2.0f / static_cast<float>(kPixels));
    const float scale2 = std::sqrt(1.0f / static_cast<float>(kHidden));
    for (float& w : state_.weights.w1) w = random.NormalF() * scale1;
    for (float& w : state_.weights.w2) w = random.NormalF() * scale2;
  }

  int64_t steps_per_epoch() const { return data_->count() / kBatch; }
  const State& state() const { return state_; }
  void Restore(const State& state) { state_ = state; }

  // The images of the next step.
  std::span<const int64_t> Batch() {
    const int64_t epoch = state_.step / steps_per_epoch();
    if (epoch != epoch_) {
      epoch_ = epoch;
      order_ = Random(seed_, 5000 + static_cast<uint64_t>(epoch)).Permutation(data_->count());
    }
    const int64_t begin = state_.step % steps_per_epoch() * kBatch;
    return std::span<const int64_t>(order_).subspan(static_cast<size_t>(begin), kBatch);
  }

  // One step. Returns the mean loss of the batch; *largest, if asked for, its largest logit.
  float Step(LossFunction loss, float* largest = nullptr) {
    constexpr float kMomentum = 0.9f;
    Network gradient = Network::Zero();
    float sum = 0;
    float most = -std::numeric_limits<float>::infinity();
    for (const int64_t i : Batch()) {
      const std::span<const float> image = data_->image(i);
      Activations a;
      Forward(state_.weights, image, &a);
      for (const float z : a.logits) most = z > most ? z : most;
      std::array<float, kClasses> grad;
      sum += loss(a.logits, data_->labels[static_cast<size_t>(i)], grad);
      std::array<float, kHidden> back;
      for (int j = 0; j < kHidden; ++j) {
        const float* w = state_.weights.w2.data() + j * kClasses;
        float* g = gradient.w2.data() + j * kClasses;
        float s = 0;
        for (int c = 0; c < kClasses; ++c) {
          g[c] += a.hidden[j] * grad[c];
          s += w[c] * grad[c];
        }
        back[j] = a.hidden[j] == 0 ? 0.0f : s;
      }
      for (int c = 0; c < kClasses; ++c) gradient.b2[c] += grad[c];
      for (int j = 0; j < kHidden; ++j) gradient.b1[j] += back[j];
      for (int p = 0; p < kPixels; ++p) {
        const float x = image[static_cast<size_t>(p)];
        float* g = gradient.w1.data() + p * kHidden;
        for (int j = 0; j < kHidden; ++j) g[j] += x * back[j];
      }
    }
    constexpr float kShare = 1.0f / kBatch;
    const float rate = rate_;
    state_.velocity.ForEach(gradient, [](float& v, float g) { v = kMomentum * v + g * kShare; });
    state_.weights.ForEach(state_.velocity, [rate](float& w, float v) { w -= rate * v; });
    ++state_.step;
    if (largest != nullptr) *largest = most;
    return sum * kShare;
  }

 private:
  const Garments* data_;
  uint64_t seed_;
  float rate_;
  State state_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
};

// The share of images whose largest logit is the label's; the first of equals counts, NaN never.
double Accuracy(const Network& network, const Garments& test) {
  int64_t right = 0;
  for (int64_t i = 0; i < test.count(); ++i) {
    Activations a;
    Forward(network, test.image(i), &a);
    int best = -1;
    for (int c = 0; c < kClasses; ++c) {
      if (a.logits[c] == a.logits[c] && (best < 0 || a.logits[c] > a.logits[best])) best = c;
    }
    if (best == test.labels[static_cast<size_t>(i)]) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(std::max<int64_t>(test.count(), 1));
}

bool Finite(float x) { return x - x == 0; }

// The first step whose loss is not finite, or -1 if `steps` go well.
int64_t FirstBadStep(const Garments& data, uint64_t seed, float rate, LossFunction loss,
                     int64_t steps) {
  Training training(&data, seed, rate);
  for (int64_t k = 0; k < steps; ++k) {
    if (!Finite(training.Step(loss))) return k;
  }
  return -1;
}

constexpr int64_t kCheckpoint = 256;

// Bisection: which step breaks the loss? Checkpoints first, then replays between two of them.
// Returns the first step whose loss is not finite, and writes each question into the table.
int64_t Bisect(Training& training, const std::vector<State>& checkpoints, int64_t bad,
               Table& table) {
  int64_t good = 0;
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    const State& start = checkpoints[static_cast<size_t>(middle / kCheckpoint)];
    training.Restore(start);
    float loss = 0;
    while (training.state().step <= middle) loss = training.Step(&Naive<float>);
    table.Row(middle, std::string(Finite(loss) ? "finite" : "not finite"), middle - start.step + 1);
    (Finite(loss) ? good : bad) = middle;
  }
  return bad;
}

// Counts what is not finite and remembers the largest finite magnitude.
struct Census {
  int64_t infinite = 0;
  int64_t nan = 0;
  float largest = 0;
  void Add(float x) {
    if (x != x) {
      ++nan;
    } else if (!Finite(x)) {
      ++infinite;
    } else {
      largest = std::max(largest, std::fabs(x));
    }
  }
  bool Good() const { return infinite == 0 && nan == 0; }
};

// Takes the bad step apart, operation by operation, in the order in which they run.
void Autopsy(Training& training, const Garments& data, Report& report) {
  Table& table = report.AddTable("autopsy", "The bad step, operation by operation");
  table.Column<std::string>("operation")
      .Column<std::string>("code")
      .Column<double>("largest")
      .Column<int64_t>("infinite")
      .Column<int64_t>("nan");
  Census weights, hidden, logits, exponentials, sums, shares, losses, gradients, after;
  Network before = training.state().weights;
  before.ForEach(before, [&](float, float w) { weights.Add(w); });
  std::string culprit = "none";
  double culprit_logit = 0;
  int64_t culprit_class = -1;
  const auto blame = [&](const Census& census, const char* code) {
    if (culprit == "none" && !census.Good()) culprit = code;
  };
  for (const int64_t i : training.Batch()) {
    Activations a;
    Forward(before, data.image(i), &a);
    std::array<float, kClasses> grad;
    Trace trace;
    const float loss =
        NaiveLoss<float>(a.logits, data.labels[static_cast<size_t>(i)], grad, &trace);
    for (const float h : a.hidden) hidden.Add(h);
    for (int c = 0; c < kClasses; ++c) {
      logits.Add(a.logits[c]);
      exponentials.Add(trace.exponentials[c]);
      shares.Add(trace.probabilities[c]);
      gradients.Add(grad[c]);
      if (!Finite(trace.exponentials[c]) && culprit_class < 0) {
        culprit_class = c;
        culprit_logit = static_cast<double>(a.logits[c]);
      }
    }
    sums.Add(trace.sum);
    losses.Add(loss);
  }
  (void)training.Step(&Naive<float>);
  Network moved = training.state().weights;
  moved.ForEach(moved, [&](float, float w) { after.Add(w); });
  const std::array<std::pair<const Census*, std::pair<const char*, const char*>>, 9> rows = {{
      {&weights, {"weights before the step", "w"}},
      {&hidden, {"hidden units", "h = max(0, x w1 + b1)"}},
      {&logits, {"logits", "z = h w2 + b2"}},
      {&exponentials, {"exponentials", "e = exp(z)"}},
      {&sums, {"their sum", "sum = sum + e"}},
      {&shares, {"shares", "p = e / sum"}},
      {&losses, {"losses", "loss = -log(p[target])"}},
      {&gradients, {"gradients of the logits", "p (slope - inner)"}},
      {&after, {"weights after the step", "w = w - rate v"}},
  }};
  for (const auto& [census, text] : rows) {
    table.Row(std::string(text.first), std::string(text.second),
              static_cast<double>(census->largest), census->infinite, census->nan);
    blame(*census, text.second);
  }
  report.Exact("culprit", culprit, "The first operation with a result that is not finite");
  report.Exact("culprit_logit", culprit_logit, "The logit that overflowed");
  report.Exact("culprit_class", culprit_class, "The class of that logit");
  constexpr std::array<const char*, kClasses> kNames = {
      "T-shirt", "trouser", "pullover", "dress", "coat",
      "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};
  report.Exact("culprit_name", std::string(culprit_class < 0 ? "none" : kNames[culprit_class]),
               "The name of that class");
  report.Exact("culprit_images", static_cast<int64_t>(training.Batch().size()),
               "Images in the batch of the bad step");
  report.Exact("culprit_count", exponentials.infinite,
               "Infinite exponentials in the batch of the bad step");
  report.Exact("weights_lost", after.nan, "Weights that are NaN after that one step");
  report.Exact("weights",
               static_cast<int64_t>(kPixels * kHidden + kHidden + kHidden * kClasses + kClasses),
               "Weights of the network");
}

absl::Status Story(Context& context, Report& report) {
  const absl::StatusOr<std::vector<uint8_t>> pack = context.Data("garments");
  if (!pack.ok()) return pack.status();
  const int64_t images = context.Integer("images", 1000, kSmallTraining, kSmallTraining);
  if (images < kBatch || images > kSmallTraining) {
    return absl::InvalidArgumentError(
        absl::StrCat("images is ", images, ", expected ", kBatch, " to ", kSmallTraining));
  }
  const int64_t steps = context.Integer("steps", 300, 5000, 5000);
  const double rate_knob = context.Real("rate", 0.2, 0.08, 0.08);
  const float rate = static_cast<float>(rate_knob);
  const int64_t kRecords = kSmallTraining + kSmallTest;
  const absl::StatusOr<Garments> train = ReadPack(*pack, kRecords, 0, images);
  if (!train.ok()) return train.status();
  const absl::StatusOr<Garments> test = ReadPack(*pack, kRecords, kSmallTraining, kSmallTest);
  if (!test.ok()) return test.status();
  const uint64_t seed = context.seed();

  Table& curve = report.AddTable("training", "Two runs from the same start");
  curve.Column<int64_t>("step")
      .Column<double>("naive")
      .Column<double>("cured")
      .Column<double>("naive_logit")
      .Column<double>("largest_logit")
      .Column<double>("threshold")
      .Column<double>("accuracy");
  report.Exact("training_images", images, "Images trained on");
  report.Exact("training_steps", steps, "Steps of the run");
  report.Exact("training_rate", rate_knob, "Learning rate");
  report.Exact("batch", static_cast<int64_t>(kBatch), "Images in a batch");

  // The run that breaks, with checkpoints, and the cured one beside it.
  Training naive(&*train, seed, rate);
  Training cured(&*train, seed, rate);
  std::vector<State> checkpoints;
  int64_t nan_step = -1;
  const double threshold = floating::ToDouble(Format::kF32, FirstOverflow<float>(Format::kF32));
  const int64_t every = std::max<int64_t>(steps / 50, 1);
  double naive_sum = 0;
  double cured_sum = 0;
  float most = 0;
  float naive_most = 0;
  double loss_before = 0;
  double accuracy = 0;
  double recent = 0;
  double cured_tail = 0;
  double accuracy_best = 0;
  int64_t cured_bad = 0;
  for (int64_t k = 0; k < steps; ++k) {
    if (k % kCheckpoint == 0) checkpoints.push_back(naive.state());
    float naive_largest = 0;
    const double naive_loss = static_cast<double>(naive.Step(&Naive<float>, &naive_largest));
    if (nan_step < 0) naive_most = std::max(naive_most, naive_largest);
    if (nan_step < 0 && naive_loss - naive_loss != 0) {
      nan_step = k;
      loss_before = recent;
    }
    recent = k == 0 ? naive_loss : 0.98 * recent + 0.02 * naive_loss;
    float largest = 0;
    const float cured_loss = cured.Step(&StableLoss, &largest);
    if (!Finite(cured_loss)) ++cured_bad;
    naive_sum += naive_loss;
    cured_sum += static_cast<double>(cured_loss);
    most = std::max(most, largest);
    if ((k + 1) % every == 0) {
      accuracy = Accuracy(cured.state().weights, *test);
      accuracy_best = std::max(accuracy_best, accuracy);
      const double share = 1.0 / static_cast<double>(every);
      curve.Row(k + 1, naive_sum * share, cured_sum * share,
                nan_step >= 0 && k + 1 > nan_step + every ? std::numeric_limits<double>::quiet_NaN()
                                                          : static_cast<double>(naive_most),
                static_cast<double>(most), threshold, accuracy);
      cured_tail = cured_sum * share;
      naive_sum = cured_sum = 0;
    }
    context.Progress(k + 1, steps, "training");
  }
  report.Exact("nan_step", nan_step, "First step whose loss is not finite");
  report.Exact("loss_before", loss_before, "Running mean of the loss just before");
  report.Exact("accuracy_cured", accuracy, "Test accuracy of the cured run at the end");
  report.Exact("accuracy_best", accuracy_best, "Best test accuracy of the cured run");
  report.Exact("loss_cured", cured_tail, "Mean loss of the cured run at the end");
  report.Exact("largest_logit", static_cast<double>(most), "Largest logit that the cured run met");
  report.Exact("cured_bad", cured_bad, "Steps of the cured run whose loss is not finite");
  report.Exact("accuracy_broken", Accuracy(naive.state().weights, *test),
               "Test accuracy of the broken run at the end");

  Table& bisect = report.AddTable("bisect", "Finding the bad step by halving");
  bisect.Column<int64_t>("step").Column<std::string>("loss").Column<int64_t>("steps_replayed");
  if (nan_step >= 0) {
    // Only the state of the last checkpoint and "broken by the end" are known to the detective.
    const int64_t found = Bisect(naive, checkpoints, steps - 1, bisect);
    report.Exact("found_step", found, "The step that bisection names");
    report.Exact("questions", bisect.rows(), "Questions that bisection asked");
    naive.Restore(checkpoints[static_cast<size_t>(found / kCheckpoint)]);
    while (naive.state().step < found) (void)naive.Step(&Naive<float>);
    report.Exact("accuracy_before", Accuracy(naive.state().weights, *test),
                 "Test accuracy of the naive run just before the bad step");
    Autopsy(naive, *train, report);
  } else {
    report.Exact("found_step", int64_t{-1}, "The step that bisection names");
    report.Exact("questions", int64_t{0}, "Questions that bisection asked");
    report.Exact("accuracy_before", Accuracy(naive.state().weights, *test),
                 "Test accuracy of the naive run at the end, which has no bad step");
    Autopsy(naive, *train, report);
  }

  // The same run in other formats, and with the half-way repair.
  const int64_t few = context.Integer("repair_steps", 300, 2000, 2000);
  report.Exact("repair_steps", few, "Steps tried in other formats");
  report.Exact("nan_step_f16", FirstBadStep(*train, seed, rate, &Naive<Half>, few),
               "First bad step with the naive loss in f16, -1 for none");
  report.Exact("nan_step_bf16", FirstBadStep(*train, seed, rate, &Naive<BFloat16>, few),
               "First bad step with the naive loss in bf16, -1 for none");
  report.Exact("half_cure_f16", FirstBadStep(*train, seed, rate, &ShiftedLoss<Half>, few),
               "First bad step with the maximum subtracted in f16, -1 for none");
  report.Exact("half_cure_f32", FirstBadStep(*train, seed, rate, &ShiftedLoss<float>, few),
               "First bad step with the maximum subtracted in f32, -1 for none");
  return absl::OkStatus();
}

// The same story on all images, for longer: only natively.
absl::Status BigStory(Context& context, Report& report) {
  const absl::StatusOr<std::vector<uint8_t>> pack = context.Data("all_garments");
  if (!pack.ok()) return pack.status();
  constexpr int64_t kRecords = kLargeTraining + kLargeTest;
  const absl::StatusOr<Garments> train = ReadPack(*pack, kRecords, 0, kLargeTraining);
  if (!train.ok()) return train.status();
  const absl::StatusOr<Garments> test = ReadPack(*pack, kRecords, kLargeTraining, kLargeTest);
  if (!test.ok()) return test.status();
  const int64_t steps = context.Integer("big_steps", 0, 0, 60000);
  const double rate_knob = context.Real("big_rate", 0.03, 0.03, 0.03);
  const float rate = static_cast<float>(rate_knob);
  Training naive(&*train, context.seed(), rate);
  Training cured(&*train, context.seed(), rate);
  int64_t nan_step = -1;
  double recent = 0;
  double loss_before = 0;
  for (int64_t k = 0; k < steps; ++k) {
    if (nan_step < 0) {
      const double loss = static_cast<double>(naive.Step(&Naive<float>));
      if (loss - loss != 0) {
        nan_step = k;
        loss_before = recent;
      }
      recent = k == 0 ? loss : 0.998 * recent + 0.002 * loss;
    }
    (void)cured.Step(&StableLoss);
    context.Progress(k + 1, steps, "training on all images");
  }
  report.Exact("big_rate", rate_knob, "Learning rate of the long run");
  report.Exact("big_images", kLargeTraining, "Images of the long run");
  report.Exact("big_steps", steps, "Steps of the long run");
  report.Exact("big_nan_step", nan_step, "First bad step of the long run, -1 for none");
  report.Exact("big_epochs", static_cast<double>(nan_step) / (kLargeTraining / kBatch),
               "Passes over the data before the long run breaks");
  report.Exact("big_loss_before", loss_before, "Running mean of its loss just before");
  report.Exact("big_accuracy", Accuracy(cured.state().weights, *test),
               "Test accuracy of the long cured run");
  return absl::OkStatus();
}

void Patches(Report& report) {
  Table& table = report.AddTable("patch", "Push on a wrong answer, by how wrong it is");
  table.Column<int64_t>("gap").Column<double>("logsumexp").Column<double>("epsilon");
  int64_t silent = -1;
  for (int64_t gap = 0; gap <= 40; ++gap) {
    const std::array<float, 2> z = {0.0f, -static_cast<float>(gap)};
    std::array<float, 2> grad = {};
    (void)StableLoss(z, 1, grad);
    const double right = static_cast<double>(grad[1]);
    const double patched = static_cast<double>(PatchedSlope(z, 1));
    table.Row(gap, -right, -patched);
    if (silent < 0 && patched > 0.01 * right) silent = gap;
  }
  report.Exact("silent_gap", silent,
               "Gap from which log(p + 1e-7) passes on less than a hundredth of the push");
}

absl::Status Run(Context& context, Report& report) {
  OneTenth(report);
  Growth(context, report);
  Conditioning(context, report);
  DotProducts(context, report);
  Norms(report);
  Quadratics(report);
  Discriminants(report);
  Variances(context, report);
  OneRewrite(report);
  Rewrites(context, report);
  Thresholds(report);
  LogSumExps(report);
  Patches(report);
  if (absl::Status status = Story(context, report); !status.ok()) return status;
  if (context.profile() == lab::Profile::kFull) return BigStory(context, report);
  return absl::OkStatus();
}

// What exactness costs: every sum on the same numbers, far beyond the caches.
absl::Status Measure(lab::MeasureContext& context, lab::Measurements& measurements) {
  const int64_t n = context.Integer("measured_n", 1 << 20, 1 << 22, 1 << 24);
  Random random(context.seed(), 6000);
  std::vector<float> x(static_cast<size_t>(n));
  random.FillUniform(std::span<float>(x));
  const double exact = static_cast<double>(floating::Sum(x, SumMethod::kExact));
  std::vector<lab::Variant> variants;
  std::vector<float> results(floating::kSumMethods.size());
  for (size_t m = 0; m < floating::kSumMethods.size(); ++m) {
    const SumMethod method = floating::kSumMethods[m];
    lab::Variant variant;
    variant.id = absl::StrCat("time_", floating::SumMethodName(method));
    variant.title = absl::StrCat("Time of the sum: ", floating::SumMethodName(method));
    variant.run = [&x, &results, m, method] {
      results[m] = floating::Sum(x, method);
      lab::KeepResult(results[m]);
    };
    variant.check = [&results, m, method, n, exact]() -> absl::Status {
      const double error = std::fabs(static_cast<double>(results[m]) - exact);
      const double bound =
          floating::SumErrorBound<float>(method, n, exact, exact) + 0x1p-24 * exact;

      if (error <= std::min(bound, exact)) return absl::OkStatus();
      return absl::InternalError(absl::StrCat("the sum is off by ", error));
    };
    variant.bytes = static_cast<double>(n) * sizeof(float);
    variants.push_back(std::move(variant));
  }
  return measurements.Compare(context, "sums", "Six sums of the same numbers in f32", variants);
}

ASSAY_LAB(numerical_pitfalls, {.title = "Numerical pitfalls", .run = &Run, .measure = &Measure});

}  // namespace
}  // namespace assay::numerical_pitfalls
