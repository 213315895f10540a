// SPDX-License-Identifier: Apache-2.0
//
// Any configuration, pass and options: refused as documented, or integers that obey their laws.
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "numerics/core/check.h"
#include "numerics/flops/chips.h"
#include "numerics/flops/config.h"
#include "numerics/flops/estimate.h"
#include "numerics/flops/memory.h"
#include "numerics/flops/operations.h"

namespace assay::flops {
namespace {

// Reads bytes, then zeros for ever.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  int64_t Byte() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  int64_t Below(int64_t bound) { return Byte() % bound; }
  bool Flag() { return Below(2) == 1; }
  // Small ones mostly; powers of two and their neighbours up to 2^62, and negative ones.
  int64_t Size() {
    const int64_t kind = Byte();
    if (kind < 200) return kind % 50;
    if (kind < 250) return (int64_t{1} << Below(63)) + Below(3) - 1;
    return -Byte();
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

void CheckStatus(const absl::Status& status) {
  ASSAY_CHECK(status.code() == absl::StatusCode::kInvalidArgument ||
              status.code() == absl::StatusCode::kOutOfRange);
  ASSAY_CHECK(!status.message().empty());
}

void CheckCounts(const Counts& c) {
  for (const int64_t count : {c.forward, c.dx, c.dw, c.again, c.parameters, c.weight_bytes,
                              c.activation_bytes, c.cache_bytes, c.flops, c.bytes}) {
    ASSAY_CHECK_GE(count, 0);
  }
  ASSAY_CHECK_EQ(c.flops, c.forward + c.dx + c.dw + c.again);
  ASSAY_CHECK_EQ(c.bytes, c.weight_bytes + c.activation_bytes + c.cache_bytes);
}

void Fuzz(Bytes bytes) {
  ModelConfig c;
  for (int64_t ModelConfig::*field :
       {&ModelConfig::layers, &ModelConfig::width, &ModelConfig::kv_heads, &ModelConfig::head_size,
        &ModelConfig::hidden, &ModelConfig::vocabulary, &ModelConfig::context, &ModelConfig::window,
        &ModelConfig::experts, &ModelConfig::active_experts, &ModelConfig::expert_hidden,
        &ModelConfig::shared_hidden, &ModelConfig::moe_every, &ModelConfig::dense_layers}) {
    c.*field = bytes.Size();
  }
  const int64_t group = 1 + bytes.Below(4);
  c.heads = bytes.Flag() || c.kv_heads > (int64_t{1} << 60) ? bytes.Size() : c.kv_heads * group;
  c.gated = bytes.Flag();
  c.qkv_bias = bytes.Flag();
  c.output_bias = bytes.Flag();
  c.hidden_bias = bytes.Flag();
  c.tied_embeddings = bytes.Flag();
  c.parallel_blocks = bytes.Flag();
  c.activation = static_cast<Activation>(bytes.Below(4));
  c.norm = static_cast<Norm>(bytes.Below(3));
  c.positions = static_cast<Positions>(bytes.Below(3));
  const Pass pass = {.batch = bytes.Size(),
                     .tokens = bytes.Size(),
                     .past = bytes.Flag() ? bytes.Size() : 0,
                     .all_logits = bytes.Flag(),
                     .masked_too = bytes.Flag()};
  Options options = {.flash = bytes.Flag(), .training = bytes.Flag()};
  options.recompute = static_cast<Recompute>(bytes.Below(3));
  options.arithmetic = static_cast<Precision>(bytes.Below(3));
  options.weight_bits = static_cast<int>(1 + bytes.Below(66));
  options.cache_bits = static_cast<int>(1 + bytes.Below(64));
  const Chip& chip = Chips()[static_cast<size_t>(bytes.Below(4))];

  const absl::StatusOr<Estimate> estimate = EstimatePass(c, pass, options, chip);
  if (estimate.ok()) {
    ASSAY_CHECK(Validate(c).ok());
    for (const Row& row : estimate->rows) CheckCounts(row.counts);
    CheckCounts(estimate->total);
    const absl::StatusOr<Parameters> parameters = CountParameters(c);
    ASSAY_CHECK(parameters.ok());
    ASSAY_CHECK_EQ(estimate->total.parameters, parameters->total);
    ASSAY_CHECK(estimate->seconds > 0 && estimate->compute_seconds <= estimate->seconds);
  } else {
    CheckStatus(estimate.status());
  }

  const auto optimizer = static_cast<Optimizer>(bytes.Below(5));
  const absl::StatusOr<TrainingMemory> training =
      MemoryOfTraining(c, pass.batch, pass.tokens, optimizer, options);
  if (training.ok()) {
    ASSAY_CHECK_EQ(training->total, training->weights + training->gradients + training->optimizer +
                                        training->activations + training->recomputed);
  } else {
    CheckStatus(training.status());
  }
  const absl::StatusOr<int64_t> batch = LargestBatch(c, pass.tokens, options, chip);
  if (batch.ok()) {
    ASSAY_CHECK_GE(*batch, 0);
    const absl::StatusOr<ServingMemory> more = MemoryOfServing(c, *batch + 1, pass.tokens, options);
    ASSAY_CHECK(!more.ok() || more->total > chip.memory);
  } else {
    CheckStatus(batch.status());
  }
}

}  // namespace
}  // namespace assay::flops

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  assay::flops::Fuzz(assay::flops::Bytes({data, size}));
  return 0;
}
