// SPDX-License-Identifier: Apache-2.0
#include "numerics/flops/memory.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/flops/expression.h"
#include "numerics/flops/operations.h"

namespace assay::flops {
namespace {

// The product of all; 0 and a status once something does not fit.
int64_t Product(std::initializer_list<int64_t> factors, std::string_view what,
                absl::Status& status) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    const absl::StatusOr<int64_t> next = CheckedMultiply(product, factor, what);
    if (!next.ok()) {
      if (status.ok()) status = next.status();
      return 0;
    }
    product = *next;
  }
  return product;
}

int64_t Sum(std::initializer_list<int64_t> terms, std::string_view what, absl::Status& status) {
  int64_t sum = 0;
  for (const int64_t term : terms) {
    const absl::StatusOr<int64_t> next = CheckedAdd(sum, term, what);
    if (!next.ok()) {
      if (status.ok()) status = next.status();
      return 0;
    }
    sum = *next;
  }
  return sum;
}

int64_t WholeBytes(int64_t bits) { return bits / 8 + (bits % 8 != 0 ? 1 : 0); }

absl::Status CheckPositive(std::string_view what, int64_t value) {
  if (value >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is ", value, ", expected at least 1"));
}

absl::Status CheckBits(std::string_view what, int bits) {
  if (bits >= 1 && bits <= 64) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is ", bits, ", expected 1 to 64"));
}

}  // namespace

StateBytes BytesPerParameter(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdamMixed:
      return {2, 2, 12};
    case Optimizer::kAdamMixedWide:
      return {2, 4, 12};
    case Optimizer::kAdamF32:
      return {4, 4, 8};
    case Optimizer::kAdam8Bit:
      return {2, 2, 6};
    case Optimizer::kSgdMixed:
      break;
  }
  return {2, 2, 4};
}

absl::StatusOr<TrainingMemory> MemoryOfTraining(const ModelConfig& config, int64_t batch,
                                                int64_t tokens, Optimizer optimizer,
                                                const Options& options) {
  absl::Status status = CheckBits("activation_bits", options.activation_bits);
  if (!status.ok()) return status;
  const absl::StatusOr<Parameters> parameters = CountParameters(config);
  if (!parameters.ok()) return parameters.status();
  const absl::StatusOr<std::vector<Section>> sections =
      Operations(config, {.flash = options.flash, .training = true});
  if (!sections.ok()) return sections.status();
  const absl::StatusOr<Values> values =
      ValuesOf(config, {.batch = batch, .tokens = tokens, .all_logits = true});
  if (!values.ok()) return values.status();

  const StateBytes bytes = BytesPerParameter(optimizer);
  TrainingMemory memory;
  memory.weights = Product({parameters->total, bytes.weights}, "bytes of weights", status);
  memory.gradients = Product({parameters->total, bytes.gradients}, "bytes of gradients", status);
  memory.optimizer = Product({parameters->total, bytes.optimizer}, "optimizer's bytes", status);
  constexpr std::string_view kWhat = "bytes of kept activations";
  const auto bytes_of = [&](const Polynomial& elements) {
    const absl::StatusOr<int64_t> count = elements.Evaluate(*values, kWhat);
    if (!count.ok() && status.ok()) status = count.status();
    return WholeBytes(Product({count.ok() ? *count : 0, options.activation_bits}, kWhat, status));
  };
  for (const Section& section : *sections) {
    int64_t kept = 0;
    for (const Operation& op : section.operations) {
      const bool probabilities = section.layer && op.name == "softmax";
      if (probabilities && options.recompute == Recompute::kSelective) continue;
      kept = Sum({kept, bytes_of(op.saved)}, kWhat, status);
    }
    if (section.layer && options.recompute == Recompute::kFull) {
      memory.recomputed = std::max(memory.recomputed, kept);
      kept = bytes_of(Polynomial(Symbol::kBatch) * Symbol::kTokens * Symbol::kWidth);
    }
    memory.activations =
        Sum({memory.activations, Product({kept, section.repeats}, kWhat, status)}, kWhat, status);
  }
  memory.total = Sum(
      {memory.weights, memory.gradients, memory.optimizer, memory.activations, memory.recomputed},
      "bytes of training", status);
  if (!status.ok()) return status;
  return memory;
}

absl::StatusOr<int64_t> PublishedActivationBytes(int64_t s, int64_t b, int64_t h, int64_t a,
                                                 int64_t t, Recompute recompute) {
  absl::Status status;
  const struct {
    std::string_view name;
    int64_t value;
  } sizes[] = {{"s", s}, {"b", b}, {"h", h}, {"a", a}, {"t", t}};
  for (const auto& size : sizes) {
    if (absl::Status wrong = CheckPositive(size.name, size.value); !wrong.ok()) return wrong;
  }
  constexpr std::string_view kWhat = "bytes of activations";
  const int64_t whole = Product({recompute == Recompute::kFull ? 2 : 10, s, b, h}, kWhat, status);
  int64_t split = 0;
  if (recompute != Recompute::kFull) split = Product({24, s, b, h}, kWhat, status);
  if (recompute == Recompute::kNone) {
    split = Sum({split, Product({5, a, s, s, b}, kWhat, status)}, kWhat, status);
  }
  const int64_t sum = Sum({whole, split / t}, kWhat, status);
  if (!status.ok()) return status;
  return sum;
}

absl::StatusOr<ServingMemory> MemoryOfServing(const ModelConfig& config, int64_t batch,
                                              int64_t positions, const Options& options) {
  for (absl::Status status :
       {Validate(config), CheckPositive("batch", batch), CheckPositive("positions", positions),
        CheckBits("weight_bits", options.weight_bits),
        CheckBits("cache_bits", options.cache_bits)}) {
    if (!status.ok()) return status;
  }
  const absl::StatusOr<Parameters> parameters = CountParameters(config);
  if (!parameters.ok()) return parameters.status();
  absl::Status status;
  ServingMemory memory;
  memory.weights =
      WholeBytes(Product({parameters->total, options.weight_bits}, "bits of weights", status));
  const int64_t kept = config.window == 0 ? positions : std::min(positions, config.window);
  memory.cache_per_sequence = WholeBytes(
      Product({2, config.layers, config.kv_heads, config.head_size, kept, options.cache_bits},
              "bits of the cache", status));
  memory.cache = Product({memory.cache_per_sequence, batch}, "bytes of the cache", status);
  memory.total = Sum({memory.weights, memory.cache}, "bytes of serving", status);
  if (!status.ok()) return status;
  return memory;
}

absl::StatusOr<int64_t> LargestBatch(const ModelConfig& config, int64_t positions,
                                     const Options& options, const Chip& chip) {
  const absl::StatusOr<ServingMemory> one = MemoryOfServing(config, 1, positions, options);
  if (!one.ok()) return one.status();
  const int64_t room = chip.memory - one->weights;
  return room < 0 ? 0 : room / one->cache_per_sequence;
}

}  // namespace assay::flops
