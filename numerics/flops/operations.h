// SPDX-License-Identifier: Apache-2.0
//
// operations.h: the arithmetic of a transformer, operation by operation, as formulas.
//
// What counts: a product of [m, k] and [k, n] is 2 m k n flop (a multiplication and an addition a
// step, sums from 0). Elsewhere each +, -, *, /, exp, log, sqrt, tanh and erf of one number is 1;
// comparisons, changes of sign, copies and look-ups are 0. Tables of rotary angles are there
// already.
//
// Gradients: dx is the work for gradients of activations, dw that for gradients of parameters. The
// first layer's dx is needed, as the embeddings below it learn. Products add to what is there, so
// gradients that meet at the input of several products cost nothing more.
//
// What moves: each operation reads its inputs and parameters once and writes its output once, as if
// run alone with a cache that holds what it needs twice (the least traffic without fusing); biases
// ride along with their product; flash attention never writes scores. Backward: each input and each
// output's gradient are read twice or read and written: twice the forward pass's activations.
#ifndef ASSAY_NUMERICS_FLOPS_OPERATIONS_H_
#define ASSAY_NUMERICS_FLOPS_OPERATIONS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/flops/config.h"
#include "numerics/flops/expression.h"

namespace assay::flops {

enum class Class { kMatmul, kAttention, kSoftmax, kNorm, kElementwise, kLookup };
std::string_view ClassName(Class kind);  // "product", "attention", ...

// Forward flop of an activation, and backward flop with what is computed again in it, a number.
int64_t ActivationFlops(Activation activation);
int64_t ActivationBackwardFlops(Activation activation);

// Several products of [m, k] by [k, n]. With a causal mask only P of an attention's T x C pairs are
// computed, which `n` does not tell.
struct Shape {
  Polynomial count, m, k, n;
};

struct Operation {
  std::string_view name;
  Class kind = Class::kElementwise;
  Shape shape;  // of products; else zeros
  // Flop of one pass: forward, backward to activations, backward to parameters, and what flash
  // attention computes again in its backward pass.
  Polynomial forward, dx, dw, again;
  // Elements, of parameters that the model stores, and of those that one forward pass reads.
  Polynomial parameters, weights;
  // Elements of activations that a forward pass reads and writes, apart from the cache of keys and
  // values.
  Polynomial read, written, cache_read, cache_written;
  // Elements that are kept from the forward for the backward pass.
  Polynomial saved;
};

// Operations that run one after the other, `repeats` times: an embedding, a layer, the head.
struct Section {
  std::string_view name;
  int64_t repeats = 1;
  bool layer = false;
  std::vector<Operation> operations;
};

struct Variant {
  bool flash = true;      // scores stay in fast memory; false: written and read
  bool training = false;  // with a loss, and keys and values that are activations, not a cache
};

// The model as formulas. Sections: "embedding", "dense layer", "expert layer" (those there are),
// "head". Fails as Validate. Cost: some 30 small polynomials a section.
[[nodiscard]] absl::StatusOr<std::vector<Section>> Operations(const ModelConfig& config,
                                                              const Variant& variant);

// One run of the model over `batch` sequences of equal length.
struct Pass {
  int64_t batch = 1;
  int64_t tokens = 1;       // new ones of each sequence
  int64_t past = 0;         // before them, whose keys and values are in the cache
  bool all_logits = false;  // of every new position and not of the last alone
  bool masked_too = false;  // count products that the causal mask then throws away
};

// Pairs of a query and a key: the sum over the new positions of the positions each sees. Fails
// beyond 2^63 - 1. For tokens >= 0, past >= 0, window >= 0 (0: none).
[[nodiscard]] absl::StatusOr<int64_t> CausalPairs(int64_t tokens, int64_t past, int64_t window);

// The expected number of experts that some token visits, when each of `tokens` tokens visits
// `active` different ones of `experts`, all choices alike: experts (1 - (1 - active /
// experts)^tokens). For 0 <= active <= experts >= 1, tokens >= 0. Within 1e-13 experts of the exact
// value.
double ExpectedExperts(int64_t experts, int64_t active, int64_t tokens);

// Values for the formulas. E_r is the expectation above, rounded up. Fails as Validate, if batch or
// tokens is not positive or past is negative, if the positions exceed a learned table, or if pairs
// exceed 2^63 - 1.
[[nodiscard]] absl::StatusOr<Values> ValuesOf(const ModelConfig& config, const Pass& pass);

// Parameters that the model stores; those of the embeddings alone; and those in products that a
// token meets (N of the 2 N flop a token: with the head, without the embedding, active experts
// alone).
struct Parameters {
  int64_t total = 0;
  int64_t embedding = 0;  // words and positions; the head's own matrix is not among them
  int64_t met = 0;
};
[[nodiscard]] absl::StatusOr<Parameters> CountParameters(const ModelConfig& config);

}  // namespace assay::flops

#endif  // ASSAY_NUMERICS_FLOPS_OPERATIONS_H_
