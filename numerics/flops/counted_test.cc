// SPDX-License-Identifier: Apache-2.0
//
// The formulas against what a small transformer does, operation by operation, to the last flop.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/flops/config.h"
#include "numerics/flops/counted.h"
#include "numerics/flops/operations.h"
#include "numerics/flops/twin.h"
#include "numerics/gemm/gemm.h"

namespace assay::flops {
namespace {

// Products by the definition; every operation counted where it is done.
class CountingMath {
 public:
  using Number = Counted;

  void Enter(const std::string& name, Phase phase) {
    work_ = &meter[name];
    phase_ = static_cast<size_t>(phase);
    Counted::tally = &work_->tally[phase_];
  }
  void Product(MatrixView<const Counted> a, MatrixView<const Counted> b, MatrixView<Counted> c) {
    for (int64_t i = 0; i < c.rows(); ++i) {
      for (int64_t j = 0; j < c.cols(); ++j) {
        for (int64_t p = 0; p < a.cols(); ++p) c(i, j) += a(i, p) * b(p, j);
      }
    }
    Note(a.rows(), b.cols(), a.cols());
  }

  Meter meter;

 protected:
  void Note(int64_t m, int64_t n, int64_t k) {
    work_->product_flops[phase_] += 2 * m * n * k;
    if (phase_ != 0) return;
    work_->a += m * k;
    work_->b += k * n;
    work_->c += m * n;
  }

 private:
  Work* work_ = nullptr;
  size_t phase_ = 0;
};

// Products by numerics/gemm, their shapes noted; nothing else is counted.
class GemmMath {
 public:
  using Number = double;
  void Enter(const std::string& name, Phase phase) {
    flops_ = &flops[name][static_cast<size_t>(phase)];
  }
  void Product(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c) {
    const absl::Status status = gemm::Gemm<double>(1, a, b, 1, c);
    EXPECT_TRUE(status.ok()) << status;
    *flops_ += 2 * c.rows() * c.cols() * a.cols();
  }
  std::map<std::string, std::array<int64_t, 4>> flops;

 private:
  int64_t* flops_ = nullptr;
};

ModelConfig Base() {
  ModelConfig c;
  c.name = "small";
  c.layers = 2;
  c.width = 6;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_size = 4;  // not width / heads
  c.hidden = 5;
  c.vocabulary = 11;
  c.context = 9;
  return c;
}

// Every kind of block that a configuration can name, each at least once.
std::vector<ModelConfig> Configs() {
  std::vector<ModelConfig> all;
  const auto add = [&](const char* name, auto change) {
    ModelConfig c = Base();
    c.name = name;
    change(c);
    all.push_back(c);
  };
  add("llama", [](ModelConfig&) {});
  add("multi-head", [](ModelConfig& c) { c.kv_heads = 4; });
  add("multi-query", [](ModelConfig& c) { c.kv_heads = 1; });
  add("gpt", [](ModelConfig& c) {
    c.gated = false;
    c.activation = Activation::kGeluTanh;
    c.norm = Norm::kLayerNorm;
    c.positions = Positions::kLearned;
    c.qkv_bias = c.output_bias = c.hidden_bias = c.tied_embeddings = true;
  });
  add("palm", [](ModelConfig& c) {
    c.kv_heads = 1;
    c.norm = Norm::kLayerNormNoBias;
    c.tied_embeddings = c.parallel_blocks = true;
  });
  add("window", [](ModelConfig& c) { c.window = 3; });
  add("experts", [](ModelConfig& c) {
    c.experts = 5;
    c.active_experts = 2;
    c.expert_hidden = 3;
    c.hidden = 0;
  });
  add("experts in some layers, one shared", [](ModelConfig& c) {
    c.layers = 5;
    c.experts = 4;
    c.active_experts = 3;
    c.expert_hidden = 3;
    c.shared_hidden = 7;
    c.moe_every = 2;
    c.dense_layers = 2;
    c.hidden_bias = c.qkv_bias = true;
  });
  add("gelu", [](ModelConfig& c) { c.activation = Activation::kGelu; });
  add("relu, no positions", [](ModelConfig& c) {
    c.gated = false;
    c.activation = Activation::kRelu;
    c.positions = Positions::kNone;
    c.hidden_bias = true;
  });
  return all;
}

std::vector<int64_t> Words(int64_t n, int64_t vocabulary, uint64_t seed) {
  Random random(seed);
  std::vector<int64_t> words(static_cast<size_t>(n));
  for (int64_t& word : words) word = random.Integer(vocabulary);
  return words;
}

// By name, over the sections and their repeats; each: forward, dx, dw, again.
std::map<std::string, std::array<int64_t, 4>> Expected(const ModelConfig& config,
                                                       const Variant& variant, const Pass& pass,
                                                       bool products_alone) {
  std::map<std::string, std::array<int64_t, 4>> sums;
  const Values values = *ValuesOf(config, pass);
  const std::vector<Section> sections = *Operations(config, variant);
  for (const Section& section : sections) {
    for (const Operation& op : section.operations) {
      const bool product = op.kind == Class::kMatmul || op.kind == Class::kAttention;
      if (products_alone && !product) continue;
      std::array<int64_t, 4>& sum = sums[std::string(op.name)];
      const Polynomial* formulas[] = {&op.forward, &op.dx, &op.dw, &op.again};
      for (size_t i = 0; i < 4; ++i) {
        if (i > 0 && !variant.training) continue;
        sum[i] += section.repeats * *formulas[i]->Evaluate(values, op.name);
      }
    }
  }
  std::erase_if(sums, [](const auto& entry) { return entry.second == std::array<int64_t, 4>{}; });
  return sums;
}

std::map<std::string, std::array<int64_t, 4>> Counts(const Meter& meter, bool training) {
  std::map<std::string, std::array<int64_t, 4>> counts;
  for (const auto& [name, work] : meter) {
    for (size_t i = 0; i < (training ? 4 : 1); ++i) counts[name][i] = work.tally[i].Total();
  }
  std::erase_if(counts, [](const auto& entry) { return entry.second == std::array<int64_t, 4>{}; });
  return counts;
}

constexpr int64_t kBatch = 2;
constexpr int64_t kTokens = 5;

TEST(CountedTest, TrainingDoesWhatTheFormulasSay) {
  for (const ModelConfig& config : Configs()) {
    for (const bool flash : {false, true}) {
      CountingMath math;
      Twin<CountingMath> twin(config, flash, math, 1);
      twin.Forward(Words(kBatch * kTokens, config.vocabulary, 2), kBatch, kTokens, true);
      twin.Loss(Words(kBatch * kTokens, config.vocabulary, 3));
      twin.Backward();
      const Pass pass = {.batch = kBatch, .tokens = kTokens, .all_logits = true};
      EXPECT_EQ(Counts(math.meter, true),
                Expected(config, {.flash = flash, .training = true}, pass, false))
          << config.name << (flash ? ", flash" : "");
    }
  }
}

TEST(CountedTest, PrefillAndDecodingDoWhatTheFormulasSay) {
  for (const ModelConfig& config : Configs()) {
    CountingMath math;
    Twin<CountingMath> twin(config, false, math, 1);
    int64_t past = 0;
    for (const int64_t tokens : {4, 1, 1, 2, 1}) {  // a prompt, tokens, another prompt, a token
      math.meter.clear();
      twin.Forward(Words(kBatch * tokens, config.vocabulary, 2), kBatch, tokens, false);
      EXPECT_EQ(Counts(math.meter, false),
                Expected(config, {}, {.batch = kBatch, .tokens = tokens, .past = past}, false))
          << config.name << " after " << past;
      past += tokens;
    }
  }
}

TEST(CountedTest, ProductsReadAndWriteWhatTheFormulasSay) {
  for (const ModelConfig& config : Configs()) {
    CountingMath math;
    Twin<CountingMath> twin(config, false, math, 1);
    twin.Forward(Words(kBatch * kTokens, config.vocabulary, 2), kBatch, kTokens, true);
    const Values values =
        *ValuesOf(config, {.batch = kBatch, .tokens = kTokens, .all_logits = true});
    std::map<std::string, std::array<int64_t, 3>> expected, counted;
    const std::vector<Section> sections = *Operations(config, {});
    for (const Section& section : sections) {
      for (const Operation& op : section.operations) {
        if (op.kind != Class::kMatmul) continue;
        const bool routed = op.name.substr(0, 7) == "expert ";
        const Polynomial formulas[] = {op.read, routed ? Polynomial() : op.weights,
                                       op.written + op.cache_written};
        for (size_t i = 0; i < 3; ++i) {
          expected[std::string(op.name)][i] +=
              section.repeats * *formulas[i].Evaluate(values, op.name);
        }
        const Work& work = math.meter[std::string(op.name)];
        // Weights of the experts that these tokens happen to visit; the formula has an expectation.
        counted[std::string(op.name)] = {work.a, routed ? 0 : work.b, work.c};
        if (routed) {
          const Polynomial matrix = op.shape.k * op.shape.n;
          EXPECT_EQ(work.b, twin.experts_visited() * *matrix.Evaluate(values, op.name));
        }
      }
    }
    EXPECT_EQ(counted, expected) << config.name;
  }
}

TEST(CountedTest, CallsOfGemmAddUpToTheFormulas) {
  for (const ModelConfig& config : Configs()) {
    for (const bool flash : {false, true}) {
      GemmMath math;
      Twin<GemmMath> twin(config, flash, math, 1);
      twin.Forward(Words(kBatch * kTokens, config.vocabulary, 2), kBatch, kTokens, true);
      twin.Loss(Words(kBatch * kTokens, config.vocabulary, 3));
      twin.Backward();
      std::erase_if(math.flops,
                    [](const auto& entry) { return entry.second == std::array<int64_t, 4>{}; });
      const Pass pass = {.batch = kBatch, .tokens = kTokens, .all_logits = true};
      EXPECT_EQ(math.flops, Expected(config, {.flash = flash, .training = true}, pass, true))
          << config.name;
    }
  }
}

// The twin is a transformer: its gradients are those of its loss, by central differences. Their
// error is h^2 / 6 of a third derivative and 1e-16 / h of rounding, at h = 1e-5 far below 1e-6.
TEST(TwinTest, GradientsAreThoseOfTheLoss) {
  const std::vector<int64_t> targets = Words(kBatch * kTokens, 11, 3);
  for (const ModelConfig& config : Configs()) {
    for (const bool flash : {false, true}) {
      const std::vector<int64_t> words = Words(kBatch * kTokens, config.vocabulary, 2);
      GemmMath math;
      Twin<GemmMath> twin(config, flash, math, 1);
      twin.Forward(words, kBatch, kTokens, true);
      twin.Loss(targets);
      twin.Backward();
      const auto loss = [&](size_t parameter, size_t place, double change) {
        Twin<GemmMath> other(config, flash, math, 1);
        other.parameters()[parameter]->value[place] += change;
        other.Forward(words, kBatch, kTokens, true);
        return other.Loss(targets) / (kBatch * kTokens);
      };
      for (size_t p = 0; p < twin.parameters().size(); ++p) {
        const size_t size = twin.parameters()[p]->value.size();
        const size_t place = (7 * p + 3) % size;
        const double difference = (loss(p, place, 1e-5) - loss(p, place, -1e-5)) / 2e-5;
        EXPECT_NEAR(twin.parameters()[p]->gradient[place], difference, 1e-6)
            << config.name << ", parameter " << p;
      }
    }
  }
}

// One pass over all positions and token by token through the cache: the same logits.
TEST(TwinTest, DecodingContinuesWhatPrefillBegan) {
  for (const ModelConfig& config : Configs()) {
    const std::vector<int64_t> words = Words(kTokens, config.vocabulary, 2);
    GemmMath math;
    Twin<GemmMath> whole(config, false, math, 1);
    Twin<GemmMath> stepwise(config, false, math, 1);
    const std::vector<double> all = whole.Forward(words, 1, kTokens, true);
    for (int64_t t = 0; t < kTokens; ++t) {
      const std::vector<double> one =
          stepwise.Forward({words[static_cast<size_t>(t)]}, 1, 1, false);
      for (size_t j = 0; j < one.size(); ++j) {
        EXPECT_NEAR(one[j], all[static_cast<size_t>(t * config.vocabulary) + j], 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace assay::flops
