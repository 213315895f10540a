// SPDX-License-Identifier: Apache-2.0
#include "numerics/flops/models.h"

namespace assay::flops {
namespace {

ModelConfig Gpt(const char* name, int64_t layers, int64_t width, int64_t heads, int64_t context) {
  ModelConfig c;
  c.name = name;
  c.layers = layers;
  c.width = width;
  c.heads = c.kv_heads = heads;
  c.head_size = width / heads;
  c.hidden = 4 * width;
  c.vocabulary = 50257;
  c.context = context;
  c.gated = false;
  c.activation = Activation::kGeluTanh;
  c.norm = Norm::kLayerNorm;
  c.positions = Positions::kLearned;
  c.qkv_bias = c.output_bias = c.hidden_bias = c.tied_embeddings = true;
  return c;
}

ModelConfig Llama(const char* name, int64_t layers, int64_t width, int64_t heads, int64_t kv_heads,
                  int64_t hidden, int64_t vocabulary, int64_t context) {
  ModelConfig c;
  c.name = name;
  c.layers = layers;
  c.width = width;
  c.heads = heads;
  c.kv_heads = kv_heads;
  c.head_size = width / heads;
  c.hidden = hidden;
  c.vocabulary = vocabulary;
  c.context = context;
  return c;
}

ModelConfig Mistral7b() {
  ModelConfig c = Llama("Mistral 7B", 32, 4096, 32, 8, 14336, 32000, 32768);
  c.window = 4096;
  return c;
}

ModelConfig Mixtral8x7b() {
  ModelConfig c = Llama("Mixtral 8x7B", 32, 4096, 32, 8, 0, 32000, 32768);
  c.experts = 8;
  c.active_experts = 2;
  c.expert_hidden = 14336;
  return c;
}

ModelConfig Palm540b() {
  ModelConfig c = Llama("PaLM 540B", 118, 18432, 48, 1, 4 * 18432, 256000, 2048);
  c.head_size = 256;
  c.norm = Norm::kLayerNormNoBias;
  c.tied_embeddings = c.parallel_blocks = true;
  return c;
}

ModelConfig Gemma2b() {
  ModelConfig c = Llama("Gemma 2B", 18, 2048, 8, 1, 16384, 256128, 8192);
  c.activation = Activation::kGeluTanh;
  c.tied_embeddings = true;
  return c;
}

ModelConfig Qwen2(const char* name, int64_t layers, int64_t width, int64_t heads, int64_t kv_heads,
                  int64_t hidden, int64_t vocabulary, bool tied) {
  ModelConfig c = Llama(name, layers, width, heads, kv_heads, hidden, vocabulary, 131072);
  c.qkv_bias = true;
  c.tied_embeddings = tied;
  return c;
}

constexpr int64_t kMillion = 1000000;

constexpr PublishedRun kRuns[] = {
    {"GPT-3 175B", "", 300e9, 0, 3.14e23, 2048, "Brown et al. (2020), table D.1"},
    {"PaLM 540B", "TPU v4", 780e9, 0, 2527.2e21, 2048,
     "Chowdhery et al. (2022), its table of training compute: 2527.2 zettaFLOP"},
    {"Llama 2 7B", "A100", 2.0e12, 184320, 0, 4096, "Touvron et al., Llama 2 (2023), table 2"},
    {"Llama 2 70B", "A100", 2.0e12, 1720320, 0, 4096, "Touvron et al., Llama 2 (2023), table 2"},
    {"Llama 3 8B", "H100", 15e12, 1.3e6, 0, 8192, "Llama 3 model card (2024): 15T+ tokens"},
    {"Llama 3 70B", "H100", 15e12, 6.4e6, 0, 8192, "Llama 3 model card (2024): 15T+ tokens"},
};

}  // namespace

std::span<const PublishedModel> Models() {
  static const PublishedModel kModels[] = {
      {Gpt("GPT-2 124M", 12, 768, 12, 1024), 124439808, 0,
       "Radford et al., Language Models are Unsupervised Multitask Learners (2019), table 2; the "
       "model openai-community/gpt2, 124,439,808 elements"},
      {Gpt("GPT-2 1.5B", 48, 1600, 25, 1024), 1557611200, 0,
       "Radford et al. (2019), table 2; the model openai-community/gpt2-xl, 1,557,611,200 "
       "elements"},
      // Attention that is banded in every other layer is counted in full.
      {Gpt("GPT-3 175B", 96, 12288, 96, 2048), 174600 * kMillion, 50 * kMillion,
       "Brown et al., Language Models are Few-Shot Learners (2020), table 2.1 (175.0B) and, of its "
       "compute, table D.1 (174,600M)"},
      {Llama("Llama 2 7B", 32, 4096, 32, 32, 11008, 32000, 4096), 6738415616, 0,
       "Touvron et al., Llama 2 (2023), table 1; meta-llama/Llama-2-7b-hf, 6,738,415,616 elements "
       "beside its tables of rotary frequencies"},
      {Llama("Llama 2 70B", 80, 8192, 64, 8, 28672, 32000, 4096), 68976648192, 0,
       "Touvron et al., Llama 2 (2023), table 1; meta-llama/Llama-2-70b-hf, 68,976,648,192 "
       "elements beside its tables of rotary frequencies"},
      {Llama("Llama 3 8B", 32, 4096, 32, 8, 14336, 128256, 8192), 8030261248, 0,
       "Dubey et al., The Llama 3 Herd of Models (2024), table 3; meta-llama/Meta-Llama-3-8B, "
       "8,030,261,248 elements"},
      {Llama("Llama 3 70B", 80, 8192, 64, 8, 28672, 128256, 8192), 70553706496, 0,
       "Dubey et al. (2024), table 3; meta-llama/Meta-Llama-3-70B, 70,553,706,496 elements"},
      {Mistral7b(), 7241732096, 0,
       "Jiang et al., Mistral 7B (2023), table 1; mistralai/Mistral-7B-v0.1, 7,241,732,096 "
       "elements"},
      {Mixtral8x7b(), 46702792704, 0,
       "Jiang et al., Mixtral of Experts (2024), table 1; mistralai/Mixtral-8x7B-v0.1, "
       "46,702,792,704 elements"},
      // Printed as 540.35B, where rounding would have 540.36B.
      {Palm540b(), 540350 * kMillion, 10 * kMillion,
       "Chowdhery et al., PaLM (2022), table 1: 540.35B, and section 2"},
      {Gemma2b(), int64_t{1981884416} + 524550144, 0,
       "Gemma Team, Gemma (2024), tables 1 and 2: 1,981,884,416 and 524,550,144 in the embedding"},
      {Qwen2("Qwen2 0.5B", 24, 896, 14, 2, 4864, 151936, true), 494032768, 0,
       "Yang et al., Qwen2 (2024), table 1; Qwen/Qwen2-0.5B, 494,032,768 elements"},
      {Qwen2("Qwen2 7B", 28, 3584, 28, 4, 18944, 152064, false), 7615616512, 0,
       "Yang et al., Qwen2 (2024), table 1; Qwen/Qwen2-7B, 7,615,616,512 elements"},
  };
  return kModels;
}

const PublishedModel* FindModel(std::string_view name) {
  for (const PublishedModel& model : Models()) {
    if (model.config.name == name) return &model;
  }
  return nullptr;
}

std::span<const PublishedRun> Runs() { return kRuns; }

const PublishedSpeed& PalmSpeed() {
  static constexpr PublishedSpeed kSpeed = {
      "PaLM 540B",
      "TPU v4",
      6144,
      238.3e3,
      2048,
      0.462,
      0.457,
      0.578,
      "Chowdhery et al. (2022), section 4.1 and appendix B: 6,144 chips, 2,048 sequences a step"};
  return kSpeed;
}

}  // namespace assay::flops
