// SPDX-License-Identifier: Apache-2.0
//
// What counters of others were found to miscount, each with the place where it was reported, and
// what we count there.
#include <cstdint>
#include <string_view>

#include "gtest/gtest.h"
#include "numerics/flops/chips.h"
#include "numerics/flops/estimate.h"
#include "numerics/flops/memory.h"
#include "numerics/flops/models.h"
#include "numerics/flops/operations.h"

namespace assay::flops {
namespace {

const ModelConfig& Model(std::string_view name) { return FindModel(name)->config; }

Estimate Estimated(const ModelConfig& config, const Pass& pass, const Options& options = {}) {
  const absl::StatusOr<Estimate> estimate = EstimatePass(config, pass, options, *FindChip("H100"));
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  return *estimate;
}

const Counts& RowOf(const Estimate& estimate, std::string_view name) {
  for (const Row& row : estimate.rows) {
    if (row.name == name) return row.counts;
  }
  ADD_FAILURE() << "no row " << name;
  static const Counts kNone;
  return kNone;
}

int64_t SumOf(const Estimate& estimate, Class kind, int64_t Counts::*field) {
  int64_t sum = 0;
  for (const Row& row : estimate.rows) {
    if (row.kind == kind) sum += row.counts.*field;
  }
  return sum;
}

// fvcore #69 and #133, thop #208 (Lyken17/pytorch-OpCounter): multiply-accumulates
// reported as flop, half of them. thop #53 and #136: the bias left out; 17 inputs, 49 outputs,
// 833 multiply-accumulates.
TEST(MiscountsTest, AMultiplyAccumulateIsTwoAndABiasCounts) {
  ModelConfig c = Model("GPT-2 124M");
  c.width = 17;
  c.hidden = 49;
  const Estimate one = Estimated(c, {});
  EXPECT_EQ(RowOf(one, "up").forward / c.layers, 2 * 833);
  EXPECT_EQ(RowOf(one, "up bias").forward / c.layers, 49);
  // ptflops (sovrasov/flops-counter.pytorch) #121: the bias once for all rows.
  EXPECT_EQ(RowOf(Estimated(c, {.tokens = 10}), "up bias").forward / c.layers, 490);
}

// torch #195460: FlopCounterMode has 0 for scaled_dot_product_attention on a CPU, where 12
// heads of [64, 64] take 12,582,912. Likewise fvcore (MzeroMiko/VMamba #296), DeepSpeed #1467
// and #4723, thop (autoliuweijie/FastBERT #14).
TEST(MiscountsTest, AttentionCountsItsTwoProducts) {
  ModelConfig c = Model("GPT-2 124M");
  c.layers = 1;
  const Estimate all = Estimated(c, {.tokens = 64, .masked_too = true});
  EXPECT_EQ(SumOf(all, Class::kAttention, &Counts::forward), 12582912);
}

// calflops (MrYxJ/calculate-flops.pytorch) #48: 8,192 tokens and 16,384 take flop in the ratio
// 2.0, so no attention is in them.
TEST(MiscountsTest, TwiceTheTokensTakeMoreThanTwiceTheFlop) {
  const ModelConfig& c = Model("Llama 3 8B");
  const Estimate half = Estimated(c, {.tokens = 8192});
  const Estimate whole = Estimated(c, {.tokens = 16384});
  EXPECT_GT(whole.total.flops, 2 * half.total.flops);
  const double quadratic = static_cast<double>(SumOf(whole, Class::kAttention, &Counts::forward)) /
                           static_cast<double>(SumOf(half, Class::kAttention, &Counts::forward));
  EXPECT_NEAR(quadratic, 4, 1e-3);
}

// ultralytics/thop #157: attention had its softmax left out too.
TEST(MiscountsTest, SoftmaxIsCounted) {
  const ModelConfig& c = Model("GPT-2 124M");
  const Estimate e = Estimated(c, {.tokens = 64});
  EXPECT_EQ(RowOf(e, "softmax").forward, int64_t{12} * 12 * 5 * (64 * 65 / 2));
}

// maxtext #1972 and #1988: Llama 2 7B, 4 sequences of 8,192: 1299.00 Tflop of
// weights; attention 422.21 without the mask's half and 211.11 with it. Megatron-LM #831:
// above 100 % of the peak without. (maxtext halves T^2; we take T (T + 1) / 2.)
TEST(MiscountsTest, TheCausalMaskTakesOffHalf) {
  const ModelConfig& c = Model("Llama 2 7B");
  const Options training = {.flash = false, .training = true};
  const Estimate all = Estimated(c, {.batch = 4, .tokens = 8192, .masked_too = true}, training);
  const Estimate causal = Estimated(c, {.batch = 4, .tokens = 8192}, training);
  EXPECT_NEAR(1e-12 * static_cast<double>(SumOf(causal, Class::kMatmul, &Counts::flops)), 1299.00,
              0.005);
  const int64_t attention = SumOf(all, Class::kAttention, &Counts::flops);
  EXPECT_NEAR(1e-12 * static_cast<double>(attention), 422.21, 0.005);
  EXPECT_EQ(SumOf(causal, Class::kAttention, &Counts::flops), attention / 8192 * 8193 / 2);
}

// flash-attention #1525: the backward pass of attention is 2.5 times the forward pass, as it
// computes scores again, but this is not a factor on the whole model.
TEST(MiscountsTest, FlashAttentionGoesBackwardForTwoAndAHalf) {
  const Estimate e = Estimated(Model("Llama 2 7B"), {.tokens = 128}, {.training = true});
  const int64_t forward = SumOf(e, Class::kAttention, &Counts::forward);
  EXPECT_EQ(2 * SumOf(e, Class::kAttention, &Counts::dx) +
                2 * SumOf(e, Class::kAttention, &Counts::again),
            5 * forward);
  EXPECT_EQ(SumOf(e, Class::kMatmul, &Counts::again), 0);
}

// xformers #1404: attention's flop multiplied by the heads of keys, not of queries (a
// quarter, for 8 and 2). OLMo-core #475, Megatron-LM #682: projections of keys and
// values counted with all heads.
TEST(MiscountsTest, GroupedQueriesShareKeysButNotArithmetic) {
  ModelConfig grouped = Model("Llama 3 8B");
  grouped.heads = 8;
  grouped.kv_heads = 2;
  ModelConfig full = grouped;
  full.kv_heads = 8;
  const Estimate a = Estimated(grouped, {.tokens = 64});
  const Estimate b = Estimated(full, {.tokens = 64});
  EXPECT_EQ(RowOf(a, "scores").forward, RowOf(b, "scores").forward);
  EXPECT_EQ(RowOf(a, "mix of values").forward, RowOf(b, "mix of values").forward);
  EXPECT_EQ(4 * RowOf(a, "key projection").forward, RowOf(b, "key projection").forward);
  EXPECT_EQ(4 * RowOf(a, "value projection").forward, RowOf(b, "value projection").forward);
}

// LLM-Viewer #12, vllm #29736 (4 times too much for Llama 3 8B), vllm-fit #2:
// a cache of all query heads. LMCache #688, Model-Optimizer #2482: heads taken as
// width / heads wide.
TEST(MiscountsTest, TheCacheHoldsTheHeadsOfKeys) {
  const absl::StatusOr<ServingMemory> llama = MemoryOfServing(Model("Llama 3 8B"), 1, 1, {});
  EXPECT_EQ(llama->cache_per_sequence, 2 * 32 * 8 * 128 * 2);
  const Estimate step = Estimated(Model("Llama 3 8B"), {.past = 999});
  EXPECT_EQ(RowOf(step, "scores").cache_bytes, int64_t{32} * 8 * 128 * 2 * 1000);
  const absl::StatusOr<ServingMemory> palm = MemoryOfServing(Model("PaLM 540B"), 1, 1, {});
  EXPECT_EQ(palm->cache_per_sequence, 2 * 118 * 1 * 256 * 2);  // 18432 / 48 = 384
}

// maxtext #678: Mixtral's flop with all 8 experts (287.78 Tflop where it is 79.98).
// verl #4173, ArcticTraining #289: likewise.
TEST(MiscountsTest, ATokenVisitsItsOwnExpertsAlone) {
  const ModelConfig& mixtral = Model("Mixtral 8x7B");
  ModelConfig all = mixtral;
  all.active_experts = 8;
  EXPECT_EQ(4 * RowOf(Estimated(mixtral, {.tokens = 64}), "expert up").forward,
            RowOf(Estimated(all, {.tokens = 64}), "expert up").forward);
  EXPECT_EQ(RowOf(Estimated(mixtral, {}), "expert up").parameters,
            RowOf(Estimated(all, {}), "expert up").parameters);
  // tinygrad #14626: the weights that one token reads are those of its experts.
  EXPECT_EQ(4 * RowOf(Estimated(mixtral, {}), "expert up").weight_bytes,
            RowOf(Estimated(all, {}), "expert up").weight_bytes);
}

// maxtext #4017: the shared expert counted at the width of the routed ones.
TEST(MiscountsTest, TheSharedExpertHasItsOwnWidth) {
  ModelConfig c = Model("Mixtral 8x7B");
  c.shared_hidden = 3 * c.expert_hidden;
  const Estimate e = Estimated(c, {});
  EXPECT_EQ(2 * RowOf(e, "shared up").forward, 3 * RowOf(e, "expert up").forward);
}

// trl #6708: the embedding counted as a product, and the head's product left out where its
// matrix is tied. torchtitan #3225: a tied matrix taken off the parameters twice.
// VeOmni #703, tt-metal #50114: look-ups as products.
TEST(MiscountsTest, TyingChangesParametersAndNoFlop) {
  ModelConfig tied = Model("Llama 3 8B");
  tied.tied_embeddings = true;
  const Options training = {.training = true};
  const Estimate a = Estimated(Model("Llama 3 8B"), {.tokens = 64}, training);
  const Estimate b = Estimated(tied, {.tokens = 64}, training);
  EXPECT_EQ(a.total.flops, b.total.flops);
  EXPECT_EQ(a.total.parameters - b.total.parameters, int64_t{128256} * 4096);
  EXPECT_EQ(RowOf(a, "embedding").forward, 0);
  EXPECT_EQ(RowOf(b, "logits").forward, int64_t{2} * 64 * 4096 * 128256);
}

// bigscience-workshop/Megatron-DeepSpeed #283, levanter #660, open-instruct
// #1096: two matrices counted for three.
TEST(MiscountsTest, GatedBlocksHaveThreeMatrices) {
  ModelConfig two = Model("Llama 2 7B");
  two.gated = false;
  const Estimate a = Estimated(Model("Llama 2 7B"), {});
  const Estimate b = Estimated(two, {});
  const int64_t matrix = int64_t{32} * 4096 * 11008;
  EXPECT_EQ(a.total.parameters - b.total.parameters, matrix);
  EXPECT_EQ(SumOf(a, Class::kMatmul, &Counts::forward) - SumOf(b, Class::kMatmul, &Counts::forward),
            2 * matrix);
}

// hyprstream #201, mlx-vlm #1732: the head over every position of a prompt, of which all
// but the last are thrown away.
TEST(MiscountsTest, APromptNeedsOneRowOfLogits) {
  const ModelConfig& c = Model("Qwen2 7B");
  EXPECT_EQ(RowOf(Estimated(c, {.tokens = 100}), "logits").forward, int64_t{2} * 3584 * 152064);
  EXPECT_EQ(RowOf(Estimated(c, {.tokens = 100, .all_logits = true}), "logits").forward,
            int64_t{200} * 3584 * 152064);
}

// bigcode-project/Megatron-LM #78: whether the head is computed again under full recomputation
// (it is not: 3 passes where layers have 4). DeepSpeed #3362: a fixed factor.
TEST(MiscountsTest, RecomputingRepeatsLayersAndNotTheHead) {
  const ModelConfig& c = Model("Llama 2 7B");
  const Options full = {.flash = false, .training = true, .recompute = Recompute::kFull};
  const Estimate e = Estimated(c, {.tokens = 64}, full);
  EXPECT_EQ(RowOf(e, "logits").flops, 3 * RowOf(e, "logits").forward);
  EXPECT_EQ(RowOf(e, "up").flops, 4 * RowOf(e, "up").forward);
  EXPECT_EQ(RowOf(e, "scores").flops, 4 * RowOf(e, "scores").forward);
  const Options selective = {.flash = false, .training = true, .recompute = Recompute::kSelective};
  const Estimate s = Estimated(c, {.tokens = 64}, selective);
  EXPECT_EQ(RowOf(s, "up").flops, 3 * RowOf(s, "up").forward);
  EXPECT_EQ(RowOf(s, "scores").flops, 4 * RowOf(s, "scores").forward);
}

// torch #69782, DeepSpeed #1731: no backward pass. pytorch-OpCounter #194: backward
// as twice forward whatever learns. Each product's backward is two; the first layer's gradient of
// its input is one of them, since the embedding below it learns.
TEST(MiscountsTest, BackwardIsTwoProductsForEachInAllLayers) {
  const ModelConfig& c = Model("Llama 2 7B");
  const Estimate e = Estimated(c, {.tokens = 64}, {.training = true});
  const int64_t forward = SumOf(e, Class::kMatmul, &Counts::forward);
  EXPECT_EQ(SumOf(e, Class::kMatmul, &Counts::dx), forward);
  EXPECT_EQ(SumOf(e, Class::kMatmul, &Counts::dw), forward);
  EXPECT_EQ(RowOf(e, "embedding").dw, 64 * 4096);
}

// OLMo-core #475, Megatron-Bridge #3029: a window's attention counted in full.
TEST(MiscountsTest, AWindowBoundsWhatAQuerySees) {
  const ModelConfig& mistral = Model("Mistral 7B");
  const Estimate e = Estimated(mistral, {.tokens = 16384});
  const int64_t pairs = int64_t{4096} * 4097 / 2 + int64_t{16384 - 4096} * 4096;
  EXPECT_EQ(RowOf(e, "scores").forward, 32 * 32 * 128 * 2 * pairs);
  EXPECT_EQ(RowOf(Estimated(mistral, {.past = 100000}), "scores").forward,
            int64_t{32} * 32 * 128 * 2 * 4096);
}

}  // namespace
}  // namespace assay::flops
