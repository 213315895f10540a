// SPDX-License-Identifier: Apache-2.0
//
// models.h: configurations of published models (cited), and what was published of their size and
// training.
#ifndef ASSAY_NUMERICS_FLOPS_MODELS_H_
#define ASSAY_NUMERICS_FLOPS_MODELS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "numerics/flops/config.h"

namespace assay::flops {

struct PublishedModel {
  ModelConfig config;
  // Parameters as published, and the largest difference that its rounding allows; 0: to the last
  // one.
  int64_t parameters = 0;
  int64_t rounding = 0;
  std::string_view source;
};

// GPT-2 (124M and 1.5B), GPT-3 175B, Llama 2 7B and 70B, Llama 3 8B and 70B, Mistral 7B, Mixtral
// 8x7B, PaLM 540B, Gemma 2B, Qwen2 0.5B and 7B.
std::span<const PublishedModel> Models();

// The model of this name; nullptr if there is none.
const PublishedModel* FindModel(std::string_view name);

// A training run as published (cited).
struct PublishedRun {
  std::string_view model;
  std::string_view chip;  // the name of a Chip; empty if not told
  double tokens = 0;
  double chip_hours = 0;  // 0 if not told
  double flops = 0;       // of the whole run, as its authors count; 0 if not told
  int64_t sequence = 0;   // tokens of a sequence
  std::string_view source;
};
std::span<const PublishedRun> Runs();

// A measured speed of training (cited): PaLM's, whose authors define both utilisations.
struct PublishedSpeed {
  std::string_view model;
  std::string_view chip;
  double chips = 0;
  double tokens_per_second = 0;
  int64_t sequence = 0;
  double model_utilisation = 0;     // MFU: the model's flop over the peak
  double without_attention = 0;     // MFU with 6 N flop a token
  double hardware_utilisation = 0;  // HFU: recomputed flop count too
  std::string_view source;
};
const PublishedSpeed& PalmSpeed();

}  // namespace assay::flops

#endif  // ASSAY_NUMERICS_FLOPS_MODELS_H_
