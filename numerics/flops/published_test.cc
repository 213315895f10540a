// SPDX-License-Identifier: Apache-2.0
//
// What we count beside what was published of real models.
#include <cstdint>
#include <string_view>

#include "gtest/gtest.h"
#include "numerics/flops/chips.h"
#include "numerics/flops/estimate.h"
#include "numerics/flops/models.h"
#include "numerics/flops/operations.h"

namespace assay::flops {
namespace {

const ModelConfig& Model(std::string_view name) {
  const PublishedModel* model = FindModel(name);
  EXPECT_NE(model, nullptr) << name;
  return model->config;
}

// Forward and backward flop of a token in training, by a sequence of `length`.
double TrainingFlopsPerToken(const ModelConfig& config, int64_t length, bool masked_too = false) {
  const absl::StatusOr<Estimate> estimate = EstimatePass(
      config, {.tokens = length, .masked_too = masked_too}, {.training = true}, *FindChip("H100"));
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  const Counts& total = estimate->total;
  return static_cast<double>(total.forward + total.dx + total.dw) / static_cast<double>(length);
}

TEST(PublishedTest, ParametersAreThosePublished) {
  int exact = 0;
  for (const PublishedModel& model : Models()) {
    const absl::StatusOr<Parameters> ours = CountParameters(model.config);
    ASSERT_TRUE(ours.ok()) << ours.status();
    const int64_t difference = ours->total - model.parameters;
    EXPECT_LE(difference < 0 ? -difference : difference, model.rounding)
        << model.config.name << ": " << ours->total;
    exact += model.rounding == 0 ? 1 : 0;
  }
  EXPECT_EQ(Models().size(), 13u);
  EXPECT_EQ(exact, 11);
}

TEST(PublishedTest, GemmaSplitsItsParametersAsItsReportDoes) {
  const absl::StatusOr<Parameters> gemma = CountParameters(Model("Gemma 2B"));
  EXPECT_EQ(gemma->embedding, 524550144);                  // table 2
  EXPECT_EQ(gemma->total - gemma->embedding, 1981884416);  // table 2
}

TEST(PublishedTest, MixtralMeetsThirteenOfItsFortySevenBillions) {
  // Mixtral of Experts, section 1: 47B parameters of which a token uses 13B.
  const absl::StatusOr<Parameters> mixtral = CountParameters(Model("Mixtral 8x7B"));
  const double used = static_cast<double>(mixtral->met + mixtral->embedding);
  EXPECT_GE(used, 12.5e9);
  EXPECT_LT(used, 13.5e9);
}

TEST(PublishedTest, PalmsUtilisationFollowsFromItsSpeed) {
  const PublishedSpeed& speed = PalmSpeed();
  const ModelConfig& palm = Model("PaLM 540B");
  const double peak = speed.chips * static_cast<double>(FindChip(speed.chip)->f16);
  const double n = static_cast<double>(CountParameters(palm)->total);
  const double by_6n = 6 * n * speed.tokens_per_second / peak;
  EXPECT_NEAR(by_6n, speed.without_attention, 0.0005);
  // Appendix B: 6 N + 12 L H Q T, the mask's half not taken off.
  const double attention = 12.0 * 118 * 48 * 256 * 2048;
  const double by_formula = (6 * n + attention) * speed.tokens_per_second / peak;
  EXPECT_NEAR(by_formula, speed.model_utilisation, 0.0005);
  // Our count with what the mask throws away: what is neither product nor attention is left, and
  // embeddings are tied, so their parameters do a product once.
  const double ours =
      TrainingFlopsPerToken(palm, speed.sequence, true) * speed.tokens_per_second / peak;
  EXPECT_GT(ours, by_formula);
  EXPECT_LT(ours, by_formula * 1.003);
  // The same by the library, and what full recomputation would have been: a third more at most.
  const absl::StatusOr<Estimate> sequence = EstimatePass(
      palm, {.tokens = speed.sequence, .masked_too = true},
      {.flash = false, .training = true, .recompute = Recompute::kFull}, *FindChip(speed.chip));
  ASSERT_TRUE(sequence.ok());
  const double seconds = static_cast<double>(speed.sequence) / speed.tokens_per_second;
  const Utilisation utilisation = UtilisationOf(sequence->total, seconds, peak);
  EXPECT_NEAR(utilisation.model, ours, 1e-12);
  EXPECT_GT(utilisation.hardware, speed.hardware_utilisation);
  EXPECT_LT(utilisation.hardware, 4.0 / 3 * utilisation.model);
  // What was recomputed: 0.75 of a forward pass, between none and all.
  const double recomputed = 3 * (speed.hardware_utilisation / speed.model_utilisation - 1);
  EXPECT_NEAR(recomputed, 0.75, 0.01);
}

TEST(PublishedTest, Gpt3AndPalmTrainForWhatTheirTablesSay) {
  for (const PublishedRun& run : Runs()) {
    if (run.flops == 0) continue;
    const ModelConfig& config = Model(run.model);
    const double n = static_cast<double>(CountParameters(config)->total);
    EXPECT_NEAR(6 * n * run.tokens / run.flops, 1, 0.002) << run.model;
    const double ours = TrainingFlopsPerToken(config, run.sequence) * run.tokens;
    // Both leave attention out; with its causal half the count is a little more.
    EXPECT_GT(ours, run.flops) << run.model;
    EXPECT_LT(ours, 1.03 * run.flops) << run.model;
  }
}

// Hoffmann et al., Training Compute-Optimal Large Language Models (2022): Chinchilla, of 70B
// parameters, took 1.4T tokens in Gopher's budget of 5.76e23 flop.
TEST(PublishedTest, ChinchillasBudgetIsSixFlopAParameterAndToken) {
  EXPECT_NEAR(6 * 70e9 * 1.4e12 / 5.76e23, 1, 0.03);
}

TEST(PublishedTest, GpuHoursOfLlamaImplyAUtilisation) {
  // Nobody published these: what our count makes of published hours and the chip's peak, so that a
  // change is seen.
  const struct {
    std::string_view model;
    double utilisation;
  } kExpected[] = {{"Llama 2 7B", 0.4144},
                   {"Llama 2 70B", 0.4436},
                   {"Llama 3 8B", 0.1670},
                   {"Llama 3 70B", 0.2959}};
  int found = 0;
  for (const auto& expected : kExpected) {
    for (const PublishedRun& run : Runs()) {
      if (run.model != expected.model) continue;
      ++found;
      const double flops = TrainingFlopsPerToken(Model(run.model), run.sequence) * run.tokens;
      const double peak = static_cast<double>(FindChip(run.chip)->f16);
      EXPECT_NEAR(flops / (run.chip_hours * 3600 * peak), expected.utilisation, 5e-5) << run.model;
    }
  }
  EXPECT_EQ(found, 4);
}

}  // namespace
}  // namespace assay::flops
