// SPDX-License-Identifier: Apache-2.0
//
// memory.h: what training and serving keep in memory, in bytes.
#ifndef ASSAY_NUMERICS_FLOPS_MEMORY_H_
#define ASSAY_NUMERICS_FLOPS_MEMORY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "numerics/flops/chips.h"
#include "numerics/flops/config.h"
#include "numerics/flops/estimate.h"

namespace assay::flops {

enum class Optimizer {
  kAdamMixed,      // f16 weights and gradients; f32 weights, mean and variance: 2 + 2 + 12
  kAdamMixedWide,  // the same with gradients in f32: 2 + 4 + 12 (Korthikanti et al. 2022)
  kAdamF32,        // all in f32: 4 + 4 + 8
  kAdam8Bit,       // mean and variance in 8 bits: 2 + 2 + 6 (Dettmers et al. 2022)
  kSgdMixed,       // f32 weights beside: 2 + 2 + 4
};

// Bytes a parameter. Adam in mixed precision: Rajbhandari et al., ZeRO (2020), section 3.1.
struct StateBytes {
  int64_t weights;
  int64_t gradients;
  int64_t optimizer;
};
StateBytes BytesPerParameter(Optimizer optimizer);

struct TrainingMemory {
  int64_t weights = 0;
  int64_t gradients = 0;
  int64_t optimizer = 0;
  int64_t activations = 0;  // kept from the forward for the backward pass
  int64_t recomputed = 0;   // with full recomputation: of the layer whose turn it is
  int64_t total = 0;
};

// Of one chip that holds all, `batch` sequences of `tokens`. Activations are what each operation
// needs again, shared inputs once: of a layer of GPT without dropout 32 B T d bytes in f16, and
// 2 h B T^2 of probabilities (Korthikanti et al., Reducing Activation Recomputation in Large
// Transformer Models (2022), section 4.1, has 34 and 5 with its dropout masks). Selective
// recomputation, like flash attention, keeps no probabilities; full keeps each layer's input.
// Moments of norms, dropout and the allocator's loss are left out. Uses flash, recompute and
// activation_bits of `options`. Fails as EstimatePass. Exact integers.
[[nodiscard]] absl::StatusOr<TrainingMemory> MemoryOfTraining(const ModelConfig& config,
                                                              int64_t batch, int64_t tokens,
                                                              Optimizer optimizer,
                                                              const Options& options);

// The same as a published formula: bytes of one layer of GPT in f16 with dropout, for sequences of
// s, batch b, width h, a heads, t chips in tensor parallel: s b h (10 + 24 / t + 5 a s / (h t)),
// the divisions last and downwards (Korthikanti et al. 2022, equation 2; t = 1 is equation 1).
// kNone: all of it; kSelective: without the term in s^2; kFull: 2 s b h. Fails if a size is not
// positive or the result exceeds 2^63 - 1.
[[nodiscard]] absl::StatusOr<int64_t> PublishedActivationBytes(int64_t s, int64_t b, int64_t h,
                                                               int64_t a, int64_t t,
                                                               Recompute recompute);

struct ServingMemory {
  int64_t weights = 0;
  int64_t cache_per_sequence = 0;  // keys and values of `positions` in all layers
  int64_t cache = 0;               // of the batch
  int64_t total = 0;
};

// `batch` sequences of `positions` (at most `window` of them are kept). Activations, which are
// small beside these, are left out. Uses weight_bits and cache_bits of `options`. Fails as
// EstimatePass.
[[nodiscard]] absl::StatusOr<ServingMemory> MemoryOfServing(const ModelConfig& config,
                                                            int64_t batch, int64_t positions,
                                                            const Options& options);

// The most sequences of `positions` whose cache fits beside the weights; 0 if not even one does.
[[nodiscard]] absl::StatusOr<int64_t> LargestBatch(const ModelConfig& config, int64_t positions,
                                                   const Options& options, const Chip& chip);

}  // namespace assay::flops

#endif  // ASSAY_NUMERICS_FLOPS_MEMORY_H_
