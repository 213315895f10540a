// SPDX-License-Identifier: Apache-2.0
#include "numerics/flops/estimate.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "numerics/core/random.h"
#include "numerics/flops/memory.h"
#include "numerics/flops/models.h"

namespace assay::flops {
namespace {

const ModelConfig& Model(std::string_view name) { return FindModel(name)->config; }
const Chip& Gpu(std::string_view name = "H100") { return *FindChip(name); }

Estimate Estimated(const ModelConfig& config, const Pass& pass, const Options& options = {},
                   std::string_view chip = "H100") {
  const absl::StatusOr<Estimate> estimate = EstimatePass(config, pass, options, Gpu(chip));
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  return *estimate;
}

TEST(CausalPairsTest, AreThoseOfTheDefinition) {
  for (int64_t tokens = 0; tokens < 12; ++tokens) {
    for (int64_t past = 0; past < 12; ++past) {
      for (int64_t window = 0; window < 14; ++window) {
        int64_t sum = 0;
        for (int64_t i = 1; i <= tokens; ++i) {
          sum += window == 0 || past + i < window ? past + i : window;
        }
        EXPECT_EQ(*CausalPairs(tokens, past, window), sum)
            << tokens << " " << past << " " << window;
      }
    }
  }
  EXPECT_EQ(CausalPairs(int64_t{1} << 33, 0, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(CausalPairs((int64_t{1} << 32) - 1, 0, 0).ok());
  EXPECT_FALSE(CausalPairs(int64_t{1} << 40, int64_t{1} << 40, 0).ok());
}

TEST(ExpectedExpertsTest, IsTheExactRationalRounded) {
  // E (1 - ((E - k) / E)^n) as a fraction of integers below 2^127.
  __extension__ using Wide = unsigned __int128;
  for (int64_t experts = 1; experts <= 12; ++experts) {
    for (int64_t active = 0; active <= experts; ++active) {
      Wide all = 1, missed = 1;
      for (int64_t n = 0; n <= 30; ++n) {
        const double exact = static_cast<double>((all - missed) * static_cast<Wide>(experts)) /
                             static_cast<double>(all);
        EXPECT_NEAR(ExpectedExperts(experts, active, n), exact, 1e-13);
        all *= static_cast<Wide>(experts);
        missed *= static_cast<Wide>(experts - active);
      }
    }
  }
  EXPECT_EQ(ExpectedExperts(8, 2, 1), 2);
  EXPECT_EQ(ExpectedExperts(8, 2, int64_t{1} << 40), 8);
}

TEST(EstimateTest, TotalsAreTheSumsOfTheRows) {
  for (const PublishedModel& model : Models()) {
    const Estimate e = Estimated(model.config, {.batch = 3, .tokens = 100}, {.training = true});
    Counts sum;
    double seconds = 0;
    for (const Row& row : e.rows) {
      const Counts& c = row.counts;
      EXPECT_EQ(c.flops, c.forward + c.dx + c.dw + c.again) << row.name;
      EXPECT_EQ(c.bytes, c.weight_bytes + c.activation_bytes + c.cache_bytes) << row.name;
      sum.flops += c.flops;
      sum.bytes += c.bytes;
      sum.parameters += c.parameters;
      seconds += row.seconds;
    }
    EXPECT_EQ(e.total.flops, sum.flops);
    EXPECT_EQ(e.total.bytes, sum.bytes);
    EXPECT_EQ(e.total.parameters, sum.parameters);
    EXPECT_EQ(e.total.parameters, CountParameters(model.config)->total);
    EXPECT_EQ(e.seconds, seconds);
    EXPECT_EQ(e.tokens_per_second, 300 / seconds);
  }
}

TEST(EstimateTest, LayersAdd) {
  for (const bool training : {false, true}) {
    for (const char* name : {"Llama 3 8B", "Mixtral 8x7B", "PaLM 540B"}) {
      ModelConfig c = Model(name);
      Counts of[3];
      for (int64_t layers = 1; layers <= 3; ++layers) {
        c.layers = layers;
        of[layers - 1] = Estimated(c, {.batch = 2, .tokens = 70}, {.training = training}).total;
      }
      EXPECT_EQ(of[2].flops - of[1].flops, of[1].flops - of[0].flops) << name;
      EXPECT_EQ(of[2].bytes - of[1].bytes, of[1].bytes - of[0].bytes) << name;
      EXPECT_EQ(of[2].parameters - of[1].parameters, of[1].parameters - of[0].parameters) << name;
    }
  }
}

TEST(EstimateTest, AttentionOfDecodingAddsUpToThatOfPrefill) {
  for (const char* name : {"Llama 3 8B", "Mistral 7B", "PaLM 540B"}) {
    ModelConfig c = Model(name);
    if (c.window > 0) c.window = 20;
    const Estimate prefill = Estimated(c, {.batch = 2, .tokens = 60, .all_logits = true});
    const absl::StatusOr<Counts> decoding = SumOfDecoding(c, 2, 0, 60, {}, Gpu());
    ASSERT_TRUE(decoding.ok());
    EXPECT_EQ(decoding->forward, prefill.total.forward) << name;
    EXPECT_EQ(decoding->parameters, prefill.total.parameters);
    EXPECT_GT(decoding->weight_bytes, 50 * prefill.total.weight_bytes);
    // A prompt in two parts is a prompt.
    const Estimate first = Estimated(c, {.batch = 2, .tokens = 35, .all_logits = true});
    const Estimate second =
        Estimated(c, {.batch = 2, .tokens = 25, .past = 35, .all_logits = true});
    EXPECT_EQ(first.total.forward + second.total.forward, prefill.total.forward);
  }
}

TEST(EstimateTest, GrowsWithEverySize) {
  const auto fields = {&ModelConfig::layers, &ModelConfig::width,      &ModelConfig::head_size,
                       &ModelConfig::hidden, &ModelConfig::vocabulary, &ModelConfig::heads};
  const ModelConfig& base = Model("Llama 3 8B");
  for (const bool training : {false, true}) {
    const Estimate before = Estimated(base, {.batch = 2, .tokens = 8}, {.training = training});
    for (int64_t ModelConfig::*field : fields) {
      ModelConfig c = base;
      c.*field *= 2;
      const Estimate after = Estimated(c, {.batch = 2, .tokens = 8}, {.training = training});
      EXPECT_GT(after.total.flops, before.total.flops);
      EXPECT_GT(after.total.bytes, before.total.bytes);
      EXPECT_GT(after.total.parameters, before.total.parameters);
      EXPECT_GT(after.seconds, before.seconds);
    }
    EXPECT_GT(Estimated(base, {.batch = 3, .tokens = 8}, {.training = training}).total.bytes,
              before.total.bytes);
    EXPECT_GT(Estimated(base, {.batch = 2, .tokens = 9}, {.training = training}).total.flops,
              before.total.flops);
  }
}

// By hand: an H200 reads Llama 3 8B's weights (without the rows of the embedding that are not
// looked up) in 3.1 ms; one token cannot come faster.
TEST(EstimateTest, DecodingOneTokenReadsTheWeightsOnce) {
  const Estimate e = Estimated(Model("Llama 3 8B"), {.past = 0}, {}, "H200");
  EXPECT_EQ(e.total.weight_bytes, 2 * (int64_t{8030261248} - 128255 * 4096));
  EXPECT_GT(e.seconds, 3.12e-3);
  EXPECT_LT(e.seconds, 3.2e-3);
  for (const Row& row : e.rows) {  // softmax of flash attention moves nothing
    EXPECT_EQ(row.compute_bound, row.kind == Class::kSoftmax) << row.name;
  }
  const Estimate four = Estimated(Model("Llama 3 8B"), {.past = 0}, {.weight_bits = 4}, "H200");
  EXPECT_EQ(4 * four.total.weight_bytes, e.total.weight_bytes);
}

// Keys and values of 1,000 positions are read, those of the new one written, by two sequences.
TEST(EstimateTest, DecodingReadsTheCacheAndWritesOnePosition) {
  const int64_t position = int64_t{2} * 32 * 8 * 128;  // elements
  const Pass pass = {.batch = 2, .past = 999};
  const Estimate e = Estimated(Model("Llama 3 8B"), pass);
  EXPECT_EQ(e.total.cache_bytes, 2 * (1000 + 1) * position * 2);
  const Estimate eight = Estimated(Model("Llama 3 8B"), pass, {.cache_bits = 8});
  EXPECT_EQ(eight.total.cache_bytes, 2 * (1000 + 1) * position);
  EXPECT_EQ(eight.total.weight_bytes, e.total.weight_bytes);
  EXPECT_EQ(eight.total.activation_bytes, e.total.activation_bytes);
  // A window of 4,096: the new position and 4,095 before it.
  EXPECT_EQ(Estimated(Model("Mistral 7B"), {.past = 100000}).total.cache_bytes,
            (4096 + 1) * position * 2);
  EXPECT_EQ(Estimated(Model("Llama 3 8B"), {.tokens = 9}, {.training = true}).total.cache_bytes, 0);
}

TEST(EstimateTest, OfTheExpertsThoseThatAreVisitedAreRead) {
  const ModelConfig& mixtral = Model("Mixtral 8x7B");
  EXPECT_EQ((*ValuesOf(mixtral, {.batch = 1}))[Symbol::kLoaded], 2);
  EXPECT_EQ((*ValuesOf(mixtral, {.batch = 2}))[Symbol::kLoaded], 4);  // 3.5 by expectation
  EXPECT_EQ((*ValuesOf(mixtral, {.batch = 1000}))[Symbol::kLoaded], 8);
}

// The product "up" of Llama 2 7B by hand: W, X and Y of 16 tokens, in 32 layers.
TEST(EstimateTest, TrainingMovesWhatTheRuleSays) {
  const auto bytes_of_up = [](const Options& options) {
    for (const Row& row : Estimated(Model("Llama 2 7B"), {.tokens = 16}, options).rows) {
      if (row.name == "up") return row.counts;
    }
    return Counts{};
  };
  const int64_t w = int64_t{32} * 4096 * 11008, xy = int64_t{32} * 16 * (4096 + 11008);
  const Options options = {.training = true, .activation_bits = 8, .gradient_bits = 32};
  EXPECT_EQ(bytes_of_up(options).weight_bytes, 2 * w * 2 + w * 4);
  EXPECT_EQ(bytes_of_up(options).activation_bytes, 3 * xy);
  Options full = options;
  full.recompute = Recompute::kFull;
  EXPECT_EQ(bytes_of_up(full).weight_bytes, 3 * w * 2 + w * 4);
  EXPECT_EQ(bytes_of_up(full).activation_bytes, 4 * xy);
  // Flash attention has nothing left for selective recomputation.
  Options selective = options;
  selective.recompute = Recompute::kSelective;
  const Estimate a = Estimated(Model("Llama 2 7B"), {.tokens = 16}, options);
  const Estimate b = Estimated(Model("Llama 2 7B"), {.tokens = 16}, selective);
  EXPECT_EQ(a.total.flops, b.total.flops);
  EXPECT_EQ(a.total.bytes, b.total.bytes);
}

TEST(EstimateTest, BitsBecomeWholeBytesInEachLayer) {
  ModelConfig c = Model("Llama 2 7B");
  c.layers = 5;
  c.width = 3;
  const Estimate e = Estimated(c, {}, {.weight_bits = 4});
  for (const Row& row : e.rows) {
    if (row.name != "attention norm") continue;
    EXPECT_EQ(row.counts.weight_bytes, 5 * 2);  // of 12 bits
  }
}

TEST(EstimateTest, EachRowTakesTheLaterOfItsTwoRoofs) {
  const Chip& chip = Gpu("A100");
  const Estimate e = Estimated(Model("Llama 2 7B"), {.tokens = 512}, {.flash = false}, "A100");
  int compute = 0, memory = 0;
  double compute_seconds = 0;
  for (const Row& row : e.rows) {
    const bool product = row.kind == Class::kMatmul || row.kind == Class::kAttention;
    const double a =
        static_cast<double>(row.counts.flops) / static_cast<double>(product ? chip.f16 : chip.f32);
    const double b = static_cast<double>(row.counts.bytes) / static_cast<double>(chip.bandwidth);
    EXPECT_EQ(row.seconds, a > b ? a : b) << row.name;
    EXPECT_EQ(row.compute_bound, a > b) << row.name;
    ++(row.compute_bound ? compute : memory);
    if (row.compute_bound) compute_seconds += row.seconds;
  }
  EXPECT_EQ(e.compute_seconds, compute_seconds);
  EXPECT_GT(compute, 0);
  EXPECT_GT(memory, 0);
}

TEST(EstimateTest, ScoresMoveOnlyWhereTheyAreWritten) {
  const ModelConfig& c = Model("Llama 2 7B");
  const Estimate flash = Estimated(c, {.tokens = 256});
  const Estimate written = Estimated(c, {.tokens = 256}, {.flash = false});
  EXPECT_EQ(flash.total.flops, written.total.flops);
  // Written, read, written, read: 4 of heads x T x T, in 32 layers of 2 bytes.
  EXPECT_EQ(written.total.activation_bytes - flash.total.activation_bytes,
            int64_t{4} * 32 * 256 * 256 * 32 * 2);
}

TEST(CriticalBatchTest, IsWhereTheRoofsCross) {
  const ModelConfig& c = Model("Llama 3 8B");
  const absl::StatusOr<int64_t> batch = CriticalBatch(c, 0, {}, Gpu("H200"));
  ASSERT_TRUE(batch.ok());
  // Weights alone cross at peak / bandwidth = 206 tokens of 2 flop over 2 bytes; activations add.
  EXPECT_GT(*batch, 206);
  EXPECT_LT(*batch, 260);
  // Weights of 8 bits cross earlier.
  EXPECT_LT(*CriticalBatch(c, 0, {.weight_bits = 8}, Gpu("H200")), *batch);
  const auto crossed = [&](int64_t b) {
    double flops = 0, bytes = 0;
    for (const Row& row : Estimated(c, {.batch = b}, {}, "H200").rows) {
      if (row.kind != Class::kMatmul) continue;
      flops += static_cast<double>(row.counts.flops);
      bytes += static_cast<double>(row.counts.bytes);
    }
    return flops / 989e12 > bytes / 4.8e12;
  };
  EXPECT_TRUE(crossed(*batch));
  EXPECT_FALSE(crossed(*batch - 1));
  Chip slow = Gpu("H200");
  slow.bandwidth = 1;  // nothing reaches the peak
  EXPECT_EQ(*CriticalBatch(c, 0, {}, slow), 0);
}

TEST(MemoryTest, ActivationsOfGptAreThoseOfKorthikantiWithoutDropout) {
  const ModelConfig& c = Model("GPT-3 175B");
  const int64_t s = 2048, b = 1, h = 12288, a = 96, layers = 96;
  const int64_t head = 2 * (2 * s * b * h + s * b * c.vocabulary);  // norm, logits' input, logits
  const int64_t rows = s * b * h;
  // Dropout's masks: a byte for each of 2 s b h, and s^2 a b of 1 + 2 bytes.
  const int64_t none = *PublishedActivationBytes(s, b, h, a, 1, Recompute::kNone);
  const int64_t selective = *PublishedActivationBytes(s, b, h, a, 1, Recompute::kSelective);
  const int64_t full = *PublishedActivationBytes(s, b, h, a, 1, Recompute::kFull);
  EXPECT_EQ(none, 34 * rows + 5 * a * s * s * b);
  EXPECT_EQ(selective, 34 * rows);
  EXPECT_EQ(*PublishedActivationBytes(s, b, h, a, 8, Recompute::kNone),
            13 * rows + 5 * a * s * s * b / 8);
  const auto ours = [&](Recompute recompute) {
    return *MemoryOfTraining(c, b, s, Optimizer::kAdamMixed,
                             {.flash = false, .training = true, .recompute = recompute});
  };
  EXPECT_EQ(ours(Recompute::kNone).activations,
            layers * (none - 2 * rows - 3 * a * s * s * b) + head);
  EXPECT_EQ(ours(Recompute::kSelective).activations, layers * (selective - 2 * rows) + head);
  EXPECT_EQ(ours(Recompute::kFull).activations, layers * full + head);
  EXPECT_EQ(ours(Recompute::kFull).recomputed, none - 2 * rows - 3 * a * s * s * b);
  EXPECT_EQ(ours(Recompute::kNone).recomputed, 0);
  // Flash attention keeps what selective recomputation keeps.
  EXPECT_EQ(MemoryOfTraining(c, b, s, Optimizer::kAdamMixed, {.flash = true})->activations,
            ours(Recompute::kSelective).activations);
}

TEST(MemoryTest, AdamInMixedPrecisionTakesSixteenBytes) {
  // ZeRO (Rajbhandari et al. 2020), section 3.1: 1.5B parameters take at least 24 GB.
  const absl::StatusOr<TrainingMemory> m =
      MemoryOfTraining(Model("GPT-2 1.5B"), 1, 1, Optimizer::kAdamMixed, {});
  EXPECT_EQ(m->weights + m->gradients + m->optimizer, 16 * int64_t{1557611200});
  EXPECT_EQ(m->total, m->weights + m->gradients + m->optimizer + m->activations + m->recomputed);
  const auto sum = [](Optimizer o) {
    const StateBytes b = BytesPerParameter(o);
    return b.weights + b.gradients + b.optimizer;
  };
  EXPECT_EQ(sum(Optimizer::kAdamMixedWide), 18);
  EXPECT_EQ(sum(Optimizer::kAdamF32), 16);
  EXPECT_EQ(sum(Optimizer::kAdam8Bit), 10);
  EXPECT_EQ(sum(Optimizer::kSgdMixed), 8);
}

TEST(MemoryTest, TheLargestBatchFitsAndOneMoreDoesNot) {
  for (const char* chip : {"T4", "A100", "H200"}) {
    for (const char* name : {"Llama 2 7B", "Llama 3 70B", "Gemma 2B"}) {
      for (const int bits : {4, 8, 16}) {
        const Options options = {.weight_bits = bits, .cache_bits = 8};
        const int64_t batch = *LargestBatch(Model(name), 4096, options, Gpu(chip));
        const absl::StatusOr<ServingMemory> more =
            MemoryOfServing(Model(name), batch + 1, 4096, options);
        EXPECT_GT(more->total, Gpu(chip).memory) << name;
        if (batch == 0) continue;
        EXPECT_LE(MemoryOfServing(Model(name), batch, 4096, options)->total, Gpu(chip).memory);
      }
    }
  }
  EXPECT_EQ(*LargestBatch(Model("Llama 3 70B"), 4096, {}, Gpu("T4")), 0);
  // Mistral's cache ends at its window.
  EXPECT_EQ(MemoryOfServing(Model("Mistral 7B"), 1, 100000, {})->cache,
            MemoryOfServing(Model("Mistral 7B"), 1, 4096, {})->cache);
}

TEST(BadInputTest, IsNamed) {
  const auto message = [](const ModelConfig& c, const Pass& pass, const Options& options,
                          const Chip& chip) {
    const absl::StatusOr<Estimate> e = EstimatePass(c, pass, options, chip);
    EXPECT_EQ(e.status().code(), absl::StatusCode::kInvalidArgument) << e.status();
    return e.status().ToString();
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  const ModelConfig& good = Model("Mixtral 8x7B");
  const struct {
    int64_t ModelConfig::*field;
    int64_t value;
    const char* part;
  } kCases[] = {{&ModelConfig::layers, 0, "layers is 0"},
                {&ModelConfig::layers, -1, "layers is -1"},
                {&ModelConfig::width, 0, "width is 0"},
                {&ModelConfig::heads, 0, "heads is 0"},
                {&ModelConfig::heads, 33, "a multiple of kv_heads, 8"},
                {&ModelConfig::kv_heads, 0, "kv_heads is 0"},
                {&ModelConfig::head_size, 127, "an even number"},
                {&ModelConfig::vocabulary, 0, "vocabulary is 0"},
                {&ModelConfig::active_experts, 9, "1 to experts, 8"},
                {&ModelConfig::active_experts, 0, "active_experts is 0"},
                {&ModelConfig::experts, 0, "0 without experts"},
                {&ModelConfig::expert_hidden, 0, "expert_hidden is 0"},
                {&ModelConfig::moe_every, 0, "moe_every is 0"},
                {&ModelConfig::moe_every, 2, "for 16 dense layers"},
                {&ModelConfig::dense_layers, 1, "for 1 dense layers"},
                {&ModelConfig::window, -1, "window is -1"},
                {&ModelConfig::context, 0, "context is 0"},
                {&ModelConfig::width, (int64_t{1} << 40) + 1, "1 to 2^40"}};
  for (const auto& bad : kCases) {
    ModelConfig c = good;
    c.*bad.field = bad.value;
    const std::string text = message(c, {}, {}, Gpu());
    EXPECT_TRUE(has(text, bad.part)) << text;
  }
  EXPECT_TRUE(has(message(good, {.tokens = 0}, {}, Gpu()), "tokens is 0"));
  EXPECT_TRUE(has(message(good, {.batch = 0}, {}, Gpu()), "batch is 0"));
  EXPECT_TRUE(has(message(good, {.past = -1}, {}, Gpu()), "past is -1"));
  EXPECT_TRUE(has(message(Model("GPT-2 124M"), {.tokens = 1000, .past = 25}, {}, Gpu()),
                  "learned positions, 1024"));
  EXPECT_TRUE(has(message(good, {}, {.weight_bits = 0}, Gpu()), "weight_bits is 0"));
  EXPECT_TRUE(has(message(good, {}, {.cache_bits = 65}, Gpu()), "cache_bits is 65"));
  EXPECT_TRUE(has(message(good, {.past = 1}, {.training = true}, Gpu()), "0 in training"));
  EXPECT_TRUE(has(message(good, {}, {.recompute = Recompute::kFull}, Gpu()), "without training"));
  Chip chip = Gpu();
  chip.bandwidth = 0;
  EXPECT_TRUE(has(message(good, {}, {}, chip), "not positive"));
  EXPECT_FALSE(SumOfDecoding(good, 1, 0, 0, {}, Gpu()).ok());
  EXPECT_FALSE(MemoryOfServing(good, 0, 1, {}).ok());
  EXPECT_FALSE(MemoryOfServing(good, 1, 0, {}).ok());
  EXPECT_FALSE(PublishedActivationBytes(1, 1, 1, 1, 0, Recompute::kNone).ok());
}

TEST(BadInputTest, OverflowNamesWhatOverflows) {
  const absl::StatusOr<Estimate> e =
      EstimatePass(Model("PaLM 540B"), {.batch = 1 << 20, .tokens = 1 << 20}, {}, Gpu());
  EXPECT_EQ(e.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_NE(e.status().ToString().find("dense layer, norm"), std::string::npos) << e.status();
  // A step of PaLM's, 2048 sequences, is beyond 2^63 in sum though each row fits.
  const absl::StatusOr<Estimate> step =
      EstimatePass(Model("PaLM 540B"), {.batch = 2048, .tokens = 2048}, {.training = true}, Gpu());
  EXPECT_EQ(step.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_NE(step.status().ToString().find("flop"), std::string::npos) << step.status();
  EXPECT_EQ(MemoryOfTraining(Model("PaLM 540B"), int64_t{1} << 30, 2048, Optimizer::kAdamMixed, {})
                .status()
                .code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(MemoryOfServing(Model("PaLM 540B"), int64_t{1} << 40, 1 << 30, {}).status().code(),
            absl::StatusCode::kOutOfRange);
}

// Any configuration gets an estimate or a status, and estimates keep their laws.
TEST(PropertyTest, RandomConfigurationsKeepTheLaws) {
  Random random(7);
  int counted = 0;
  for (int round = 0; round < 2000; ++round) {
    ModelConfig c;
    const auto size = [&](int64_t most) { return random.Integer(most + 1); };
    c.layers = size(6);
    c.width = size(100);
    c.kv_heads = size(4);
    c.heads = c.kv_heads * size(4);
    c.head_size = 2 * size(20);
    c.hidden = size(200);
    c.vocabulary = size(1000);
    c.context = 1 + size(1 << 20);
    c.window = size(1) * size(50);
    c.gated = random.Bernoulli(0.5);
    c.tied_embeddings = random.Bernoulli(0.5);
    c.parallel_blocks = random.Bernoulli(0.5);
    c.qkv_bias = random.Bernoulli(0.5);
    c.hidden_bias = random.Bernoulli(0.5);
    c.norm = static_cast<Norm>(size(2));
    c.activation = static_cast<Activation>(size(3));
    c.positions = static_cast<Positions>(size(2));
    if (random.Bernoulli(0.5)) {
      c.experts = size(8);
      c.active_experts = c.experts > 0 ? size(c.experts) : 0;
      c.expert_hidden = size(50);
      c.shared_hidden = size(1) * size(50);
      c.moe_every = size(3);
      c.dense_layers = size(7);
    }
    const bool training = random.Bernoulli(0.5);
    const Pass pass = {.batch = size(8), .tokens = size(60), .past = training ? 0 : size(60)};
    const Options options = {.flash = random.Bernoulli(0.5), .training = training};
    const absl::StatusOr<Estimate> e = EstimatePass(c, pass, options, Gpu("T4"));
    if (!e.ok()) {
      EXPECT_EQ(e.status().code(), absl::StatusCode::kInvalidArgument) << e.status();
      continue;
    }
    ++counted;
    EXPECT_EQ(DenseLayers(c) + MoeLayers(c), c.layers);
    int64_t layers = 0;
    const std::vector<Section> sections = *Operations(c, {});
    for (const Section& section : sections) layers += section.layer ? section.repeats : 0;
    EXPECT_EQ(layers, c.layers);
    EXPECT_EQ(e->total.parameters, CountParameters(c)->total);
    Pass more = pass;
    ++more.batch;
    const absl::StatusOr<Estimate> larger = EstimatePass(c, more, options, Gpu("T4"));
    ASSERT_TRUE(larger.ok());
    // Flop are proportional to the batch; bytes grow by no more.
    EXPECT_EQ(larger->total.flops * pass.batch, e->total.flops * more.batch);
    EXPECT_LE(e->total.bytes, larger->total.bytes);
    Pass masked = pass;
    masked.masked_too = true;
    EXPECT_GE(EstimatePass(c, masked, options, Gpu("T4"))->total.flops, e->total.flops);
  }
  EXPECT_GT(counted, 300);
}

}  // namespace
}  // namespace assay::flops
