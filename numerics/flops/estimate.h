// SPDX-License-Identifier: Apache-2.0
//
// estimate.h: flop, bytes and time of one pass of a transformer: a training step, a prefill, a
// token of decoding.
//
//   const PublishedModel* model = FindModel("Llama 3 8B");
//   const Chip* chip = FindChip("H200");
//   absl::StatusOr<Estimate> step = EstimatePass(model->config, {.batch = 8, .past = 4095}, {},
//   *chip); if (step.ok()) Show(step->seconds, step->rows);
//
// Counts are exact integers. Times are modelled: for each operation the later of its arithmetic at
// the chip's peak and its bytes at the memory's peak, one after the other; no launch, no network.
#ifndef ASSAY_NUMERICS_FLOPS_ESTIMATE_H_
#define ASSAY_NUMERICS_FLOPS_ESTIMATE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/flops/chips.h"
#include "numerics/flops/config.h"
#include "numerics/flops/operations.h"

namespace assay::flops {

enum class Recompute {
  kNone,
  kSelective,  // scores, softmax and mix, where scores are written (Korthikanti et al. 2022)
  kFull,       // all of each layer, from its input
};

struct Options {
  bool flash = true;
  bool training = false;  // forward and backward, logits of all positions, a loss
  Recompute recompute = Recompute::kNone;
  Precision arithmetic = Precision::kF16;  // of products and attention; the rest runs in f32
  // Bits of an element, 1 to 64: quantised weights may have 4 (scales aside).
  int weight_bits = 16;
  int activation_bits = 16;
  int cache_bits = 16;
  int gradient_bits = 16;
};

struct Counts {
  int64_t forward = 0;  // flop
  int64_t dx = 0;       // flop of gradients of activations
  int64_t dw = 0;       // flop of gradients of parameters
  int64_t again = 0;    // flop of recomputing, flash attention's own among it
  int64_t parameters = 0;
  int64_t weight_bytes = 0;      // read, and gradients written
  int64_t activation_bytes = 0;  // read and written
  int64_t cache_bytes = 0;       // of keys and values, read and written
  int64_t flops = 0;             // all four
  int64_t bytes = 0;             // all three
};

// An operation, in all its layers.
struct Row {
  std::string_view section;
  std::string_view name;
  Class kind = Class::kElementwise;
  int64_t repeats = 1;
  Counts counts;
  double seconds = 0;
  bool compute_bound = false;  // arithmetic takes longer than memory
};

struct Estimate {
  std::vector<Row> rows;
  Counts total;
  double seconds = 0;
  double compute_seconds = 0;    // of rows that arithmetic binds
  double tokens_per_second = 0;  // new tokens of the batch over seconds
};

// Fails as ValuesOf; if an option is out of its range; and with kOutOfRange and the name of what is
// beyond 2^63 - 1. Training with past tokens is refused. Exact: same bits everywhere.
// Cost: some 30 rows, microseconds each.
[[nodiscard]] absl::StatusOr<Estimate> EstimatePass(const ModelConfig& config, Pass pass,
                                                    const Options& options, const Chip& chip);

// Shares of the peak (PaLM, appendix B): of the flop that the model takes, and with those that were
// done again. Flash attention's own are among the latter. The convention of PaLM and others counts
// what the causal mask throws away: masked_too.
struct Utilisation {
  double model = 0;     // MFU
  double hardware = 0;  // HFU
};

// For a step of training that took `seconds`, both > 0, where `peak` is flop/s of all chips
// together.
Utilisation UtilisationOf(const Counts& step, double seconds, double peak);

// Tokens that follow each other with a batch of `batch`, the first after `prompt` tokens: counts
// summed over `tokens` passes. The integers of that many EstimatePass; cost likewise.
[[nodiscard]] absl::StatusOr<Counts> SumOfDecoding(const ModelConfig& config, int64_t batch,
                                                   int64_t prompt, int64_t tokens,
                                                   const Options& options, const Chip& chip);

// The smallest batch whose decoding at `past` tokens is bound by arithmetic in its products with
// parameters, taken together; 0 if none up to 2^20 is. (Attention's own bytes grow with the batch.)
[[nodiscard]] absl::StatusOr<int64_t> CriticalBatch(const ModelConfig& config, int64_t past,
                                                    const Options& options, const Chip& chip);

}  // namespace assay::flops

#endif  // ASSAY_NUMERICS_FLOPS_ESTIMATE_H_
