// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/check.h"
#include "numerics/flops/chips.h"
#include "numerics/flops/estimate.h"
#include "numerics/flops/memory.h"
#include "numerics/flops/models.h"
#include "numerics/flops/operations.h"
#include "tools/lab/lab.h"
#include "web/articles/cost-of-matrix-multiplication/parts.h"

namespace assay::matmul_page {
namespace {

using flops::Chip;
using flops::Estimate;
using flops::ModelConfig;
using flops::Pass;
using lab::Context;
using lab::Report;
using lab::Table;

constexpr std::string_view kRoof =
    "each operation takes the later of its flop at the chip's published peak and its bytes at the "
    "published bandwidth, one after the other";

const flops::PublishedModel& Model(std::string_view name) {
  const flops::PublishedModel* model = flops::FindModel(name);
  ASSAY_CHECK(model != nullptr);
  return *model;
}
const Chip& ChipOf(std::string_view name) {
  const Chip* chip = flops::FindChip(name);
  ASSAY_CHECK(chip != nullptr);
  return *chip;
}

double Real(int64_t x) { return static_cast<double>(x); }

lab::Source SourceOf(std::string_view what) {
  if (what == "palm") {
    return {.author = "A. Chowdhery and others",
            .year = 2022,
            .title = "PaLM: scaling language modeling with pathways",
            .where = "section 4.1 and appendix B",
            .url = "https://arxiv.org/abs/2204.02311"};
  }
  return {.author = "Meta",
          .year = 2024,
          .title = "Llama 3 model card",
          .where = "training data and energy",
          .url = "https://github.com/meta-llama/llama3/blob/main/MODEL_CARD.md"};
}

absl::Status Sizes(Context&, Report& report) {
  Table& table = report.AddTable("parameters", "Parameters by formula, and as published");
  table.Column<std::string_view>("model")
      .Column<int64_t>("counted")
      .Column<int64_t>("published")
      .Column<int64_t>("off")
      .Column<int64_t>("rounding");
  int64_t to_the_last = 0;
  for (const flops::PublishedModel& model : flops::Models()) {
    const absl::StatusOr<flops::Parameters> count = CountParameters(model.config);
    if (!count.ok()) return count.status();
    const int64_t off = std::max(count->total - model.parameters, model.parameters - count->total);
    table.Row(std::string_view(model.config.name), count->total, model.parameters, off,
              model.rounding);
    to_the_last += off == 0;
  }
  report.Exact("models", static_cast<int64_t>(flops::Models().size()), "Published models");
  report.Exact("models_exact", to_the_last, "Models whose parameters come out to the last one");
  return absl::OkStatus();
}

// A step of training, exactly, against six operations a parameter and token.
absl::Status SixAParameter(Context&, Report& report) {
  Table& table = report.AddTable("six", "Flop of training a token, against the rule 6 N");
  table.Column<std::string_view>("model")
      .Column<int64_t>("context", "tokens")
      .Column<double>("rule", "Gflop")
      .Column<double>("exact", "Gflop")
      .Column<double>("ratio");
  double most = 0, least = 1e300, large = 0;
  for (const flops::PublishedModel& model : flops::Models()) {
    const int64_t tokens = std::min<int64_t>(model.config.context, 8192);
    const absl::StatusOr<Estimate> step =
        EstimatePass(model.config, {.tokens = tokens}, {.training = true}, ChipOf("H100"));
    if (!step.ok()) return step.status();
    const absl::StatusOr<flops::Parameters> count = CountParameters(model.config);
    if (!count.ok()) return count.status();
    const double rule = 6 * Real(count->total) * 1e-9;
    const double exact = Real(step->total.flops - step->total.again) / Real(tokens) * 1e-9;
    const double ratio = exact / rule;
    table.Row(std::string_view(model.config.name), tokens, rule, exact, ratio);
    most = std::max(most, ratio);
    least = std::min(least, ratio);
    if (count->total > int64_t{5000000000} && model.config.experts == 0) {
      large = std::max(large, ratio > 1 ? ratio - 1 : 1 - ratio);
    }
    if (model.config.name == "Llama 3 8B") {
      report.Exact("six_llama", ratio, "Llama 3 8B: exact count over 6 N");
      report.Exact("llama_parameters", Real(count->total) * 1e-9, "Parameters of Llama 3 8B",
                   "billions");
    }
    if (model.config.name == "Mixtral 8x7B") {
      report.Exact("six_mixtral", ratio, "Mixtral 8x7B: exact count over 6 N");
      report.Exact("mixtral_met", Real(count->met) / Real(count->total),
                   "Share of Mixtral's parameters that a token meets");
    }
  }
  report.Exact("six_most", most, "The most that the exact count is above the rule", "times");
  report.Exact("six_large", 100 * large,
               "Largest difference among dense models of more than five billion", "%");
  report.Exact("six_least", least, "The least of the exact count over the rule", "times");
  return absl::OkStatus();
}

// Where a forward pass of Llama 3 8B spends its operations as its context grows.
absl::Status Attention(Context&, Report& report) {
  const ModelConfig& config = Model("Llama 3 8B").config;
  Table& table = report.AddTable("attention", "Share of a prompt's flop by part, Llama 3 8B");
  table.Column<int64_t>("context", "tokens")
      .Column<double>("products")
      .Column<double>("attention")
      .Column<double>("rest");
  double at_context = 0, products_at_context = 0;
  int64_t half = 0;
  for (int64_t tokens = 512; tokens <= 262144; tokens *= 2) {
    const absl::StatusOr<Estimate> pass =
        EstimatePass(config, {.tokens = tokens}, {}, ChipOf("H200"));
    if (!pass.ok()) return pass.status();
    double products = 0, attention = 0;
    for (const flops::Row& row : pass->rows) {
      const double share = Real(row.counts.flops) / Real(pass->total.flops);
      if (row.kind == flops::Class::kMatmul) products += share;
      if (row.kind == flops::Class::kAttention) attention += share;
    }
    table.Row(tokens, products, attention, 1 - products - attention);
    if (tokens == config.context) {
      at_context = attention;
      products_at_context = products;
    }
    if (half == 0 && attention >= 0.5) half = tokens;
  }
  report.Exact("attention_context", config.context, "Context that Llama 3 8B was trained for",
               "tokens");
  report.Exact("attention_share", 100 * at_context, "Attention's share of the flop there", "%");
  report.Exact("products_share", 100 * (products_at_context + at_context),
               "Share of the flop in products of matrices, attention's two among them", "%");
  report.Exact("attention_half", half, "First power of two where attention has half", "tokens");
  return absl::OkStatus();
}

double ComputeShare(const Estimate& pass) { return pass.compute_seconds / pass.seconds; }

absl::Status Decoding(Context&, Report& report) {
  const ModelConfig& config = Model("Llama 2 7B").config;
  Table& table = report.AddTable("decoding", "One token of Llama 2 7B, by chip");
  table.Column<std::string_view>("chip")
      .Column<double>("ms", "ms")
      .Column<double>("peak_used", "%")
      .Column<double>("memory_bound", "%")
      .Column<double>("ridge", "op/byte")
      .Column<int64_t>("batch");
  double most_used = 0, least_memory = 1, ratio_most = 0, ratio_least = 1e300;
  for (const Chip& chip : flops::Chips()) {
    const absl::StatusOr<Estimate> token = EstimatePass(config, {.past = 1023}, {}, chip);
    if (!token.ok()) return token.status();
    const absl::StatusOr<int64_t> batch = CriticalBatch(config, 1023, {}, chip);
    if (!batch.ok()) return batch.status();
    const double used = Real(token->total.flops) / token->seconds / Real(chip.f16);
    const double memory = 1 - ComputeShare(*token);
    const double ridge = Real(chip.f16) / Real(chip.bandwidth);
    table.Row(chip.name, token->seconds * 1e3, 100 * used, 100 * memory, ridge, *batch);
    most_used = std::max(most_used, used);
    least_memory = std::min(least_memory, memory);
    ratio_most = std::max(ratio_most, Real(*batch) / ridge);
    ratio_least = std::min(ratio_least, Real(*batch) / ridge);
    if (chip.name == "H200") {
      report.Modelled("decode_ms", token->seconds * 1e3, kRoof,
                      "One token of Llama 2 7B on an H200", "ms");
      report.Modelled("decode_used", 100 * used, kRoof, "Share of the H200's peak in use", "%");
      report.Modelled("decode_batch", Real(*batch), kRoof,
                      "Batch from which an H200 waits for arithmetic in the products", "sequences");
    }
    if (chip.name == "T4") {
      report.Modelled("decode_t4_ms", token->seconds * 1e3, kRoof,
                      "One token of Llama 2 7B on a T4", "ms");
    }
  }
  report.Modelled("decode_memory", 100 * least_memory, kRoof,
                  "Least share of the time that waits for memory, of all chips", "%");
  report.Modelled("decode_used_most", 100 * most_used, kRoof,
                  "Largest share of a peak in use, of all chips", "%");
  report.Modelled("batch_ratio_most", ratio_most, kRoof, "Largest batch over ridge point");
  report.Modelled("batch_ratio_least", ratio_least, kRoof, "Smallest batch over ridge point");
  return absl::OkStatus();
}

// Batches on an H200 with all that fits, and what waits.
absl::Status Batches(Context&, Report& report) {
  const Chip& chip = ChipOf("H200");
  Table& table = report.AddTable("batches", "Tokens a second on an H200 by batch and context");
  table.Column<int64_t>("batch")
      .Column<double>("short", "token/s")
      .Column<double>("long", "token/s")
      .Column<double>("grouped", "token/s");
  const ModelConfig& wide = Model("Llama 2 7B").config;
  const ModelConfig& grouped = Model("Llama 3 8B").config;
  for (int64_t batch = 1; batch <= 1024; batch *= 2) {
    double rates[3] = {};
    const std::pair<const ModelConfig*, int64_t> cases[] = {
        {&wide, 127}, {&wide, 4095}, {&grouped, 4095}};
    for (size_t i = 0; i < 3; ++i) {
      const absl::StatusOr<Estimate> token =
          EstimatePass(*cases[i].first, {.batch = batch, .past = cases[i].second}, {}, chip);
      if (!token.ok()) return token.status();
      rates[i] = token->tokens_per_second;
    }
    table.Row(batch, rates[0], rates[1], rates[2]);
  }
  const absl::StatusOr<int64_t> fits = LargestBatch(wide, 4096, {}, chip);
  if (!fits.ok()) return fits.status();
  const absl::StatusOr<Estimate> full =
      EstimatePass(wide, {.batch = *fits, .past = 4095}, {}, chip);
  if (!full.ok()) return full.status();
  report.Exact("fits", *fits, "Sequences of 4096 of Llama 2 7B that fit an H200", "sequences");
  report.Modelled("fits_compute", 100 * ComputeShare(*full), kRoof,
                  "Share of the time that waits for arithmetic with all of them", "%");
  const absl::StatusOr<flops::ServingMemory> of_wide = MemoryOfServing(wide, 1, 4096, {});
  const absl::StatusOr<flops::ServingMemory> of_grouped = MemoryOfServing(grouped, 1, 4096, {});
  if (!of_wide.ok()) return of_wide.status();
  if (!of_grouped.ok()) return of_grouped.status();
  report.Exact("cache_wide", Real(of_wide->cache) / 4096 / 1024,
               "Keys and values of a token, Llama 2 7B", "KiB");
  report.Exact("cache_grouped", Real(of_grouped->cache) / 4096 / 1024,
               "Keys and values of a token, Llama 3 8B", "KiB");
  report.Exact("cache_weights", Real(of_wide->weights) / Real(of_wide->cache),
               "Sequences of 4096 whose cache is as large as the weights of Llama 2 7B",
               "sequences");
  return absl::OkStatus();
}

absl::Status Experts(Context&, Report& report) {
  const ModelConfig& config = Model("Mixtral 8x7B").config;
  Table& table = report.AddTable("experts", "Mixtral 8x7B: what a token costs, by batch");
  table.Column<int64_t>("batch")
      .Column<double>("flop_share", "%")
      .Column<double>("read_share", "%");
  const absl::StatusOr<flops::Parameters> count = CountParameters(config);
  if (!count.ok()) return count.status();
  double at_16 = 0;
  for (int64_t batch = 1; batch <= 64; batch *= 2) {
    const absl::StatusOr<Estimate> token =
        EstimatePass(config, {.batch = batch, .past = 1023}, {}, ChipOf("H200"));
    if (!token.ok()) return token.status();
    // Weights in 16 bits.
    const double read = Real(token->total.weight_bytes) / 2 / Real(count->total);
    const double met = Real(count->met) / Real(count->total);
    table.Row(batch, 100 * met, 100 * read);
    if (batch == 16) at_16 = read;
  }
  report.Exact("experts_read", 100 * at_16, "Share of Mixtral's weights that sixteen tokens read",
               "%");
  return absl::OkStatus();
}

absl::Status Training(Context&, Report& report) {
  const ModelConfig& config = Model("Llama 3 8B").config;
  const Chip& chip = ChipOf("H100");
  const Pass pass = {.tokens = 8192};
  const absl::StatusOr<Estimate> plain = EstimatePass(config, pass, {.training = true}, chip);
  const absl::StatusOr<Estimate> again =
      EstimatePass(config, pass, {.training = true, .recompute = flops::Recompute::kFull}, chip);
  if (!plain.ok()) return plain.status();
  if (!again.ok()) return again.status();
  report.Exact("recompute_flops", Real(again->total.flops) / Real(plain->total.flops),
               "Flop with all of each layer recomputed, over without", "times");
  const auto memory = [&](flops::Recompute recompute) {
    return MemoryOfTraining(config, 1, 8192, flops::Optimizer::kAdamMixed,
                            {.training = true, .recompute = recompute});
  };
  const absl::StatusOr<flops::TrainingMemory> kept = memory(flops::Recompute::kNone);
  const absl::StatusOr<flops::TrainingMemory> saved = memory(flops::Recompute::kFull);
  if (!kept.ok()) return kept.status();
  if (!saved.ok()) return saved.status();
  report.Exact("recompute_memory",
               Real(kept->activations) / Real(saved->activations + saved->recomputed),
               "Activations kept without, over with recomputation", "times");
  report.Exact("training_state", Real(kept->weights + kept->gradients + kept->optimizer) * 1e-9,
               "Weights, gradients and optimizer of Llama 3 8B", "GB");
  report.Exact("training_compute", 100 * ComputeShare(*plain),
               "Share of a training step's time that waits for arithmetic", "%");

  // The run of Llama 3 8B from 6 N D, and how much of its chips it used.
  double hours = 0, tokens = 0;
  for (const flops::PublishedRun& run : flops::Runs()) {
    if (run.model == "Llama 3 8B") {
      hours = run.chip_hours;
      tokens = run.tokens;
    }
  }
  const absl::StatusOr<flops::Parameters> count = CountParameters(config);
  if (!count.ok()) return count.status();
  const double rule = 6 * Real(count->total) * tokens;
  report.Exact("run_flops", rule * 1e-24, "6 N D for Llama 3 8B", "10^24 flop");
  report.Cited("run_hours", hours * 1e-6, SourceOf("llama"), "Hours of H100 for Llama 3 8B",
               "million hours");
  report.Cited("run_tokens", tokens * 1e-12, SourceOf("llama"), "Tokens it was trained on",
               "trillion tokens");
  report.Modelled("run_at_peak", rule / Real(chip.f16) / 3600 * 1e-6, "6 N D over the peak",
                  "Hours that it would take at an H100's peak", "million hours");
  report.Modelled("run_used", 100 * rule / (hours * 3600 * Real(chip.f16)),
                  "6 N D over the hours at the peak", "Share of the peak that the run used", "%");
  return absl::OkStatus();
}

absl::Status Utilisation(Context&, Report& report) {
  const flops::PublishedSpeed& speed = flops::PalmSpeed();
  const Chip& chip = ChipOf(speed.chip);
  const ModelConfig& config = Model(speed.model).config;
  const absl::StatusOr<Estimate> sequence = EstimatePass(
      config, {.tokens = speed.sequence, .masked_too = true}, {.training = true}, chip);
  if (!sequence.ok()) return sequence.status();
  // Products alone, as its authors count.
  double products = 0;
  for (const flops::Row& row : sequence->rows) {
    if (row.kind != flops::Class::kMatmul && row.kind != flops::Class::kAttention) continue;
    products += Real(row.counts.flops - row.counts.again);
  }
  const double seconds = Real(speed.sequence) / speed.tokens_per_second;
  const double ours = products / (seconds * speed.chips * Real(chip.f16));
  report.Modelled("palm_ours", 100 * ours, "flop of products, over chips x peak x time",
                  "Utilisation of PaLM's run, by our count", "%");
  report.Cited("palm_published", 100 * speed.model_utilisation, SourceOf("palm"),
               "Utilisation of PaLM's run, as published", "%");
  report.Modelled("palm_off",
                  100 * std::max(ours - speed.model_utilisation, speed.model_utilisation - ours),
                  "the difference of both", "Difference", "percentage points");
  return absl::OkStatus();
}

}  // namespace

absl::Status Models(Context& context, Report& report) {
  for (const auto part :
       {Sizes, SixAParameter, Attention, Decoding, Batches, Experts, Training, Utilisation}) {
    if (absl::Status status = part(context, report); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace assay::matmul_page
