// SPDX-License-Identifier: Apache-2.0
#include "numerics/flops/estimate.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::flops {
namespace {

// Sums and products that remember the first overflow and go on with 0.
class Arithmetic {
 public:
  Arithmetic(const Values& values, int64_t repeats, std::string_view what)
      : values_(values), repeats_(repeats), what_(what) {}

  // Of all repeats.
  int64_t Value(const Polynomial& formula) {
    return Times(Take(formula.Evaluate(values_, what_)), repeats_);
  }
  // Whole bytes of each repeat's elements.
  int64_t Bytes(const Polynomial& elements, int bits) {
    const int64_t all = Times(Take(elements.Evaluate(values_, what_)), bits);
    return Times(all / 8 + (all % 8 != 0 ? 1 : 0), repeats_);
  }
  int64_t Plus(int64_t a, int64_t b) { return Take(CheckedAdd(a, b, what_)); }
  int64_t Times(int64_t a, int64_t b) { return Take(CheckedMultiply(a, b, what_)); }
  const absl::Status& status() const { return status_; }

 private:
  int64_t Take(const absl::StatusOr<int64_t>& value) {
    if (value.ok()) return *value;
    if (status_.ok()) status_ = value.status();
    return 0;
  }

  const Values& values_;
  int64_t repeats_;
  std::string_view what_;
  absl::Status status_;
};

bool IsAttentionCore(const Operation& op) {
  return op.name == "scores" || op.name == "softmax" || op.name == "mix of values";
}

absl::Status CheckBits(std::string_view field, int bits) {
  if (bits >= 1 && bits <= 64) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, " is ", bits, ", expected 1 to 64"));
}

absl::Status CheckOptions(const Options& options, const Pass& pass, const Chip& chip) {
  for (const auto& [field, bits] : {std::pair{"weight_bits", options.weight_bits},
                                    std::pair{"activation_bits", options.activation_bits},
                                    std::pair{"cache_bits", options.cache_bits},
                                    std::pair{"gradient_bits", options.gradient_bits}}) {
    if (absl::Status status = CheckBits(field, bits); !status.ok()) return status;
  }
  if (options.training && pass.past != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("past is ", pass.past, ", expected 0 in training"));
  }
  if (!options.training && options.recompute != Recompute::kNone) {
    return absl::InvalidArgumentError("recompute is set, expected kNone without training");
  }
  if (chip.ProductRate(options.arithmetic) <= 0 || chip.f32 <= 0 || chip.bandwidth <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "chip ", chip.name, " has a rate that is not positive, expected flop/s and byte/s"));
  }
  return absl::OkStatus();
}

absl::Status AddCounts(const Counts& from, Counts& to) {
  constexpr struct {
    int64_t Counts::*field;
    std::string_view what;
  } kFields[] = {
      {&Counts::forward, "forward flop"},
      {&Counts::dx, "flop of gradients of activations"},
      {&Counts::dw, "flop of gradients of parameters"},
      {&Counts::again, "recomputed flop"},
      {&Counts::parameters, "parameters"},
      {&Counts::weight_bytes, "bytes of weights"},
      {&Counts::activation_bytes, "bytes of activations"},
      {&Counts::cache_bytes, "bytes of the cache"},
      {&Counts::flops, "flop"},
      {&Counts::bytes, "bytes"},
  };
  for (const auto& [field, what] : kFields) {
    const absl::StatusOr<int64_t> sum = CheckedAdd(to.*field, from.*field, what);
    if (!sum.ok()) return sum.status();
    to.*field = *sum;
  }
  return absl::OkStatus();
}

absl::StatusOr<Counts> CountsOf(const Section& section, const Operation& op, const Values& values,
                                const Options& options) {
  Arithmetic of(values, section.repeats, op.name);
  Counts counts;
  counts.forward = of.Value(op.forward);
  counts.parameters = of.Value(op.parameters);
  counts.weight_bytes = of.Bytes(op.weights, options.weight_bits);
  const int64_t moved = of.Bytes(op.read + op.written, options.activation_bits);
  counts.activation_bytes = moved;
  counts.cache_bytes = of.Bytes(op.cache_read + op.cache_written, options.cache_bits);
  if (options.training) {
    counts.dx = of.Value(op.dx);
    counts.dw = of.Value(op.dw);
    counts.again = of.Value(op.again);
    const bool selective =
        options.recompute == Recompute::kSelective && !options.flash && IsAttentionCore(op);
    int64_t weight_passes = 2;
    int64_t activation_passes = 3;
    if (selective || (options.recompute == Recompute::kFull && section.layer)) {
      counts.again = of.Plus(counts.again, counts.forward);
      ++weight_passes;
      ++activation_passes;
    }
    counts.weight_bytes = of.Plus(of.Times(counts.weight_bytes, weight_passes),
                                  of.Bytes(op.weights, options.gradient_bits));
    counts.activation_bytes = of.Times(moved, activation_passes);
  }
  counts.flops = of.Plus(of.Plus(counts.forward, counts.dx), of.Plus(counts.dw, counts.again));
  counts.bytes = of.Plus(of.Plus(counts.weight_bytes, counts.activation_bytes), counts.cache_bytes);
  if (!of.status().ok()) {
    return absl::OutOfRangeError(
        absl::StrCat("flop or bytes of the ", section.name, ", ", of.status().message()));
  }
  return counts;
}

}  // namespace

absl::StatusOr<Estimate> EstimatePass(const ModelConfig& config, Pass pass, const Options& options,
                                      const Chip& chip) {
  if (absl::Status status = CheckOptions(options, pass, chip); !status.ok()) return status;
  pass.all_logits |= options.training;
  const absl::StatusOr<Values> values = ValuesOf(config, pass);
  if (!values.ok()) return values.status();
  const absl::StatusOr<std::vector<Section>> sections =
      Operations(config, {.flash = options.flash, .training = options.training});
  if (!sections.ok()) return sections.status();

  Estimate estimate;
  const double bandwidth = static_cast<double>(chip.bandwidth);
  for (const Section& section : *sections) {
    for (const Operation& op : section.operations) {
      const absl::StatusOr<Counts> counts = CountsOf(section, op, *values, options);
      if (!counts.ok()) return counts.status();
      if (absl::Status status = AddCounts(*counts, estimate.total); !status.ok()) return status;
      const bool product = op.kind == Class::kMatmul || op.kind == Class::kAttention;
      const double rate =
          static_cast<double>(product ? chip.ProductRate(options.arithmetic) : chip.f32);
      const double arithmetic = static_cast<double>(counts->flops) / rate;
      const double memory = static_cast<double>(counts->bytes) / bandwidth;
      const double seconds = std::max(arithmetic, memory);
      const bool compute_bound = arithmetic > memory;
      estimate.rows.push_back(
          {section.name, op.name, op.kind, section.repeats, *counts, seconds, compute_bound});
      estimate.seconds += seconds;
      if (compute_bound) estimate.compute_seconds += seconds;
    }
  }
  // The formulas multiply batch and tokens, so the product fits.
  estimate.tokens_per_second = static_cast<double>(pass.batch * pass.tokens) / estimate.seconds;
  return estimate;
}

Utilisation UtilisationOf(const Counts& step, double seconds, double peak) {
  ASSAY_CHECK(seconds > 0 && peak > 0);
  const double possible = seconds * peak;
  return {static_cast<double>(step.flops - step.again) / possible,
          static_cast<double>(step.flops) / possible};
}

absl::StatusOr<Counts> SumOfDecoding(const ModelConfig& config, int64_t batch, int64_t prompt,
                                     int64_t tokens, const Options& options, const Chip& chip) {
  if (tokens < 1) {
    return absl::InvalidArgumentError(absl::StrCat("tokens is ", tokens, ", expected at least 1"));
  }
  Counts sum;
  for (int64_t i = 0; i < tokens; ++i) {
    const absl::StatusOr<Estimate> one =
        EstimatePass(config, {.batch = batch, .past = prompt + i}, options, chip);
    if (!one.ok()) return one.status();
    if (absl::Status status = AddCounts(one->total, sum); !status.ok()) return status;
    sum.parameters = one->total.parameters;  // the same ones in every pass
  }
  return sum;
}

absl::StatusOr<int64_t> CriticalBatch(const ModelConfig& config, int64_t past,
                                      const Options& options, const Chip& chip) {
  absl::Status status;
  const auto bound_by_arithmetic = [&](int64_t batch) {
    const absl::StatusOr<Estimate> one =
        EstimatePass(config, {.batch = batch, .past = past}, options, chip);
    if (!one.ok()) {
      status = one.status();
      return false;
    }
    double flops = 0;
    double bytes = 0;
    for (const Row& row : one->rows) {
      if (row.kind != Class::kMatmul) continue;
      flops += static_cast<double>(row.counts.flops);
      bytes += static_cast<double>(row.counts.bytes);
    }
    return flops / static_cast<double>(chip.ProductRate(options.arithmetic)) >
           bytes / static_cast<double>(chip.bandwidth);
  };
  constexpr int64_t kMost = int64_t{1} << 20;
  int64_t high = 1;
  while (high <= kMost && !bound_by_arithmetic(high)) {
    if (!status.ok()) return status;
    high *= 2;
  }
  if (high > kMost) return 0;
  int64_t low = high / 2;  // memory binds here, or 0
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (bound_by_arithmetic(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace assay::flops
