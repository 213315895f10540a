// SPDX-License-Identifier: Apache-2.0
//
// config.h: what a decoder-only transformer is made of, as far as counting goes.
#ifndef ASSAY_NUMERICS_FLOPS_CONFIG_H_
#define ASSAY_NUMERICS_FLOPS_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace assay::flops {

enum class Activation { kRelu, kGelu, kGeluTanh, kSilu };
enum class Norm {
  kLayerNorm,        // gain and bias
  kLayerNormNoBias,  // gain alone (PaLM)
  kRmsNorm,          // gain alone
};
enum class Positions { kRotary, kLearned, kNone };

// Defaults are those of Llama-like models. Not told apart: dropout (no arithmetic of a model that
// runs), multi-head latent attention, norms on queries and keys, a gate on the shared expert.
struct ModelConfig {
  std::string name;
  int64_t layers = 0;
  int64_t width = 0;       // d
  int64_t heads = 0;       // h
  int64_t kv_heads = 0;    // h_kv: h for multi-head, 1 for multi-query attention
  int64_t head_size = 0;   // d_h; need not be d / h
  int64_t hidden = 0;      // d_ff of dense layers; may be 0 if no layer is dense
  int64_t vocabulary = 0;  // V, rows that lookups and logits are made for
  int64_t context = 0;     // positions that the model takes; with learned ones, their number
  bool gated = true;       // three matrices a feed-forward block (SwiGLU, GeGLU) and not two
  Activation activation = Activation::kSilu;
  Norm norm = Norm::kRmsNorm;
  Positions positions = Positions::kRotary;
  bool qkv_bias = false;
  bool output_bias = false;      // of attention's last product
  bool hidden_bias = false;      // of the products of feed-forward blocks
  bool tied_embeddings = false;  // logits by the matrix that embeds
  bool parallel_blocks =
      false;           // attention and feed-forward read one norm's output and are added (PaLM)
  int64_t window = 0;  // keys that a query sees, itself among them; 0: all before it

  // Mixture of experts: 0 experts for none. Layer i, from 0, has experts where i >= dense_layers
  // and (i + 1) mod moe_every = 0, and a dense block elsewhere.
  int64_t experts = 0;         // E
  int64_t active_experts = 0;  // k
  int64_t expert_hidden = 0;   // d_e
  int64_t shared_hidden = 0;   // d_s: a block that every token visits besides; 0: none
  int64_t moe_every = 1;
  int64_t dense_layers = 0;
};

// Layers with experts, and without. For valid configurations.
int64_t MoeLayers(const ModelConfig& config);
int64_t DenseLayers(const ModelConfig& config);

// kInvalidArgument with the field, what was given and what is expected: sizes must be positive and
// at most 2^40, heads a multiple of kv_heads, rotary heads of even width, active experts at most
// experts, and so on.
[[nodiscard]] absl::Status Validate(const ModelConfig& config);

}  // namespace assay::flops

#endif  // ASSAY_NUMERICS_FLOPS_CONFIG_H_
