// SPDX-License-Identifier: Apache-2.0
#include "numerics/flops/operations.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::flops {
namespace {

using Poly = Polynomial;

struct Sizes {
  Poly B = Symbol::kBatch, T = Symbol::kTokens, R = Symbol::kLogits, C = Symbol::kKeys;
  Poly P = Symbol::kPairs, d = Symbol::kWidth, h = Symbol::kHeads, g = Symbol::kKvHeads;
  Poly c = Symbol::kHeadSize, f = Symbol::kHidden, E = Symbol::kExperts, k = Symbol::kActive;
  Poly loaded = Symbol::kLoaded, fe = Symbol::kExpertHidden, fs = Symbol::kSharedHidden;
  Poly V = Symbol::kVocabulary, n = Symbol::kPositions;
  Poly N = B * T;  // tokens
};

class Builder {
 public:
  Builder(const ModelConfig& config, const Variant& variant) : config_(config), variant_(variant) {}

  Section Embedding();
  Section Layer(bool experts);
  Section Head();

 private:
  Operation& Add(std::string_view name, Class kind) {
    operations_.emplace_back();
    operations_.back().name = name;
    operations_.back().kind = kind;
    return operations_.back();
  }
  Section Take(std::string_view name, int64_t repeats, bool layer) {
    return {name, repeats, layer, std::exchange(operations_, {})};
  }

  // [m, k] activations by [k, n] parameters. `matrices` of them are stored, of which `loaded` are
  // read; every row of A meets one.
  void Product(std::string_view name, const Poly& m, const Poly& k, const Poly& n,
               const Poly& matrices = 1, const Poly& loaded = 1) {
    Operation& op = Add(name, Class::kMatmul);
    op.shape = {1, m, k, n};
    op.forward = op.dx = op.dw = Poly(2) * m * k * n;
    op.parameters = matrices * k * n;
    op.weights = loaded * k * n;
    op.read = m * k;
    op.written = m * n;
  }
  void Bias(bool there, std::string_view name, const Poly& m, const Poly& n,
            const Poly& vectors = 1, const Poly& loaded = 1) {
    if (!there) return;
    Operation& op = Add(name, Class::kElementwise);
    op.forward = op.dw = m * n;
    op.parameters = vectors * n;
    op.weights = loaded * n;
  }
  void NormOf(std::string_view name, const Poly& rows);
  void Attention();
  void FeedForward(const Poly& rows, const Poly& hidden, const Poly& matrices, const Poly& loaded,
                   const std::string_view (&names)[7]);
  void Experts();
  void Residual(std::string_view name, int64_t branches);
  void SaveInput() { operations_.back().saved = operations_.back().read; }

  const ModelConfig& config_;
  const Variant& variant_;
  const Sizes s_;
  std::vector<Operation> operations_;
};

void Builder::NormOf(std::string_view name, const Poly& rows) {
  Operation& op = Add(name, Class::kNorm);
  const Poly row = rows * s_.d;
  const bool rms = config_.norm == Norm::kRmsNorm;
  const bool bias = config_.norm == Norm::kLayerNorm;
  op.parameters = op.weights = (bias ? Poly(2) : Poly(1)) * s_.d;
  if (rms) {
    // Squares, their sum; mean, + eps, sqrt, 1 / x; times that, times gain.
    op.forward = Poly(4) * row + Poly(4) * rows;
    // dy gain; its dot product with y0 (the normed row) and mean; r (that - y0 mean).
    op.dx = Poly(6) * row + rows;
    op.dw = Poly(2) * row;
  } else {
    // Sum and mean first, and centred values.
    op.forward = Poly(bias ? 7 : 6) * row + Poly(5) * rows;
    op.dx = Poly(8) * row + Poly(2) * rows;
    op.dw = Poly(bias ? 3 : 2) * row;
  }
  op.read = op.written = row;
  op.saved = row;
}

void Builder::Attention() {
  const Sizes& s = s_;
  Product("query projection", s.N, s.d, s.h * s.c);
  SaveInput();  // for all three
  Bias(config_.qkv_bias, "query bias", s.N, s.h * s.c);
  for (const auto& [product, bias] :
       {std::pair{"key projection", "key bias"}, std::pair{"value projection", "value bias"}}) {
    Product(product, s.N, s.d, s.g * s.c);
    if (!variant_.training) {
      std::swap(operations_.back().cache_written, operations_.back().written);
    }
    Bias(config_.qkv_bias, bias, s.N, s.g * s.c);
  }
  if (config_.positions == Positions::kRotary) {
    // A pair of numbers turns by 4 multiplications and 2 additions.
    Operation& op = Add("rotary positions", Class::kElementwise);
    op.forward = op.dx = Poly(3) * s.N * (s.h + s.g) * s.c;
    op.read = op.written = s.N * (s.h + s.g) * s.c;
  }
  const Poly pairs = s.B * s.h * s.P;
  const Poly square = variant_.flash ? Poly() : s.B * s.h * s.T * s.C;  // written with the masked
  const Poly queries = s.N * s.h * s.c;
  const Poly keys = s.B * s.C * s.g * s.c;

  Operation& scores = Add("scores", Class::kAttention);
  scores.shape = {s.B * s.h, s.T, s.c, s.C};
  scores.forward = Poly(2) * pairs * s.c;
  scores.dx = Poly(4) * pairs * s.c;
  if (variant_.flash) scores.again = Poly(2) * pairs * s.c;
  scores.read = queries;
  (variant_.training ? scores.read : scores.cache_read) += keys;
  scores.written = square;
  scores.saved = queries + keys;

  // Scaled, less the maximum, exp, summed, divided. Backward: the dot product of probabilities and
  // their gradients, less that, times the probability, scaled. Flash attention has the maximum and
  // the logarithm of the sum in one number a row, and scales, subtracts and takes exp again.
  Operation& softmax = Add("softmax", Class::kSoftmax);
  softmax.forward = softmax.dx = Poly(5) * pairs;
  if (variant_.flash) softmax.again = Poly(3) * pairs + Poly(2) * s.N * s.h;
  softmax.read = softmax.written = softmax.saved = square;

  Operation& mix = Add("mix of values", Class::kAttention);
  mix.shape = {s.B * s.h, s.T, s.C, s.c};
  mix.forward = Poly(2) * pairs * s.c;
  mix.dx = Poly(4) * pairs * s.c;
  mix.read = square;
  (variant_.training ? mix.read : mix.cache_read) += keys;
  mix.written = queries;
  mix.saved = keys;

  Product("output projection", s.N, s.h * s.c, s.d);
  SaveInput();
  Bias(config_.output_bias, "output bias", s.N, s.d);
}

// names: gate, up, down, their biases, the activation.
void Builder::FeedForward(const Poly& rows, const Poly& hidden, const Poly& matrices,
                          const Poly& loaded, const std::string_view (&names)[7]) {
  const Poly inner = rows * hidden;
  const bool bias = config_.hidden_bias;
  if (config_.gated) {
    Product(names[0], rows, s_.d, hidden, matrices, loaded);
    Bias(bias, names[3], rows, hidden, matrices, loaded);
  }
  Product(names[1], rows, s_.d, hidden, matrices, loaded);
  SaveInput();
  Bias(bias, names[4], rows, hidden, matrices, loaded);
  // Gated: activated, times the other half. Backward: a product for each half.
  Operation& op = Add(names[6], Class::kElementwise);
  const int64_t gate = config_.gated ? 1 : 0;
  op.forward = Poly(ActivationFlops(config_.activation) + gate) * inner;
  op.dx = Poly(ActivationBackwardFlops(config_.activation) + 2 * gate) * inner;
  op.read = Poly(1 + gate) * inner;
  op.written = inner;
  op.saved = Poly(1 + 2 * gate) * inner;  // gated: both inputs and the activated half
  Product(names[2], rows, hidden, s_.d, matrices, loaded);
  SaveInput();
  Bias(bias, names[5], rows, s_.d, matrices, loaded);
}

void Builder::Experts() {
  const Sizes& s = s_;
  Product("router", s.N, s.d, s.E);
  SaveInput();
  // Softmax over all experts (less the maximum, exp, summed, divided), and the weights of the
  // chosen divided by their sum.
  Operation& routing = Add("routing", Class::kSoftmax);
  routing.forward = s.N * (Poly(4) * s.E + Poly(2) * s.k);
  routing.dx = s.N * (Poly(2) * s.E + Poly(6) * s.k);
  routing.read = s.N * s.E;
  routing.written = s.N * s.k;
  routing.saved = s.N * s.E;
  FeedForward(s.N * s.k, s.fe, s.E, s.loaded,
              {"expert gate", "expert up", "expert down", "expert gate bias", "expert up bias",
               "expert down bias", "expert activation"});
  Operation& combine = Add("weighted sum of experts", Class::kElementwise);
  combine.forward = Poly(2) * s.N * s.k * s.d;
  combine.dx = Poly(3) * s.N * s.k * s.d;
  combine.read = s.N * s.k * s.d + s.N * s.k;
  combine.written = s.N * s.d;
  combine.saved = combine.read;
  if (config_.shared_hidden == 0) return;
  FeedForward(s.N, s.fs, 1, 1,
              {"shared gate", "shared up", "shared down", "shared gate bias", "shared up bias",
               "shared down bias", "shared activation"});
  Operation& add = Add("shared expert added", Class::kElementwise);
  add.forward = s.N * s.d;
  add.read = Poly(2) * s.N * s.d;
  add.written = s.N * s.d;
}

void Builder::Residual(std::string_view name, int64_t branches) {
  Operation& op = Add(name, Class::kElementwise);
  op.forward = Poly(branches) * s_.N * s_.d;
  op.dx = s_.N * s_.d;  // the gradient through the norm meets the one around it
  op.read = Poly(branches + 1) * s_.N * s_.d;
  op.written = s_.N * s_.d;
}

Section Builder::Layer(bool experts) {
  NormOf(config_.parallel_blocks ? "norm" : "attention norm", s_.N);
  Attention();
  if (!config_.parallel_blocks) {
    Residual("attention residual", 1);
    NormOf("feed-forward norm", s_.N);
  }
  if (experts) {
    Experts();
  } else {
    FeedForward(s_.N, s_.f, 1, 1,
                {"gate", "up", "down", "gate bias", "up bias", "down bias", "activation"});
  }
  Residual(config_.parallel_blocks ? "residual" : "feed-forward residual",
           config_.parallel_blocks ? 2 : 1);
  return experts ? Take("expert layer", MoeLayers(config_), true)
                 : Take("dense layer", DenseLayers(config_), true);
}

Section Builder::Embedding() {
  Operation& words = Add("embedding", Class::kLookup);
  words.dw = s_.N * s_.d;  // added to the rows that were looked up
  words.parameters = s_.V * s_.d;
  words.weights = s_.N * s_.d;
  words.written = s_.N * s_.d;
  if (config_.positions == Positions::kLearned) {
    Operation& positions = Add("positions", Class::kLookup);
    positions.forward = positions.dw = s_.N * s_.d;
    positions.parameters = s_.n * s_.d;
    positions.weights = s_.T * s_.d;
    positions.read = positions.written = s_.N * s_.d;
  }
  return Take("embedding", 1, false);
}

Section Builder::Head() {
  const Poly rows = s_.B * s_.R;
  NormOf("final norm", rows);
  Product("logits", rows, s_.d, s_.V);
  SaveInput();
  if (config_.tied_embeddings) operations_.back().parameters = Poly();
  if (variant_.training) {
    // Less the maximum, exp, summed; log, less the target's, summed over rows. Backward: divided by
    // the sum and by the number of rows, less 1 at the target.
    Operation& op = Add("cross-entropy", Class::kSoftmax);
    op.forward = Poly(3) * rows * s_.V + Poly(3) * rows;
    op.dx = Poly(2) * rows * s_.V + rows;
    op.read = op.saved = rows * s_.V;
    op.written = rows;
  }
  return Take("head", 1, false);
}

}  // namespace

std::string_view ClassName(Class kind) {
  switch (kind) {
    case Class::kMatmul:
      return "product";
    case Class::kAttention:
      return "attention";
    case Class::kSoftmax:
      return "softmax";
    case Class::kNorm:
      return "norm";
    case Class::kElementwise:
      return "element-wise";
    case Class::kLookup:
      break;
  }
  return "look-up";
}

int64_t ActivationFlops(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return 0;  // a comparison
    case Activation::kGelu:
      return 5;  // x/2 (1 + erf(x r))
    case Activation::kGeluTanh:
      return 9;  // x/2 (1 + tanh(a (x + b x x x)))
    case Activation::kSilu:
      break;
  }
  return 3;  // x / (1 + exp(-x))
}

int64_t ActivationBackwardFlops(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return 0;
    case Activation::kGelu:
      return 11;  // (1 + erf(x r)) / 2 + x (exp(-x x / 2) c), times the gradient
    case Activation::kGeluTanh:
      return 17;  // t as above; ((1 + t) + x (1 - t t) a (1 + 3 b x x)) / 2, times the gradient
    case Activation::kSilu:
      break;
  }
  return 8;  // s = 1 / (1 + exp(-x)); s (1 + x (1 - s)), times the gradient
}

absl::StatusOr<std::vector<Section>> Operations(const ModelConfig& config, const Variant& variant) {
  if (absl::Status status = Validate(config); !status.ok()) return status;
  Builder builder(config, variant);
  std::vector<Section> sections;
  sections.push_back(builder.Embedding());
  if (DenseLayers(config) > 0) sections.push_back(builder.Layer(false));
  if (MoeLayers(config) > 0) sections.push_back(builder.Layer(true));
  sections.push_back(builder.Head());
  return sections;
}

absl::StatusOr<int64_t> CausalPairs(int64_t tokens, int64_t past, int64_t window) {
  ASSAY_CHECK(tokens >= 0 && past >= 0 && window >= 0);
  // Position past + i sees past + i of itself and before, at most `window`: the first `growing` new
  // positions see one more each, the others all of the window.
  const int64_t growing =
      window == 0 ? tokens : std::min(tokens, std::max<int64_t>(window - past, 0));
  constexpr std::string_view kWhat = "pairs of queries and keys";
  // growing past + growing (growing + 1) / 2, the even one of the two halved.
  const bool even = growing % 2 == 0;
  absl::StatusOr<int64_t> triangle =
      CheckedMultiply(even ? growing / 2 : growing, even ? growing + 1 : (growing + 1) / 2, kWhat);
  absl::StatusOr<int64_t> before = CheckedMultiply(growing, past, kWhat);
  absl::StatusOr<int64_t> full = CheckedMultiply(tokens - growing, window, kWhat);
  for (const auto& part : {triangle, before, full}) {
    if (!part.ok()) return part.status();
  }
  absl::StatusOr<int64_t> sum = CheckedAdd(*triangle, *before, kWhat);
  return sum.ok() ? CheckedAdd(*sum, *full, kWhat) : sum;
}

double ExpectedExperts(int64_t experts, int64_t active, int64_t tokens) {
  ASSAY_CHECK(experts >= 1 && active >= 0 && active <= experts && tokens >= 0);
  // Powers by squaring: each of at most 126 products errs by 2^-53 of a number at most 1.
  double missed = 1;
  double square = static_cast<double>(experts - active) / static_cast<double>(experts);
  for (int64_t n = tokens; n > 0; n >>= 1) {
    if (n & 1) missed *= square;
    square *= square;
  }
  return static_cast<double>(experts) * (1 - missed);
}

absl::StatusOr<Values> ValuesOf(const ModelConfig& config, const Pass& pass) {
  if (absl::Status status = Validate(config); !status.ok()) return status;
  constexpr int64_t kMost = int64_t{1} << 40;
  if (pass.batch < 1 || pass.batch > kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch is ", pass.batch, ", expected 1 to 2^40"));
  }
  if (pass.tokens < 1 || pass.tokens > kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("tokens is ", pass.tokens, ", expected 1 to 2^40"));
  }
  if (pass.past < 0 || pass.past > kMost) {
    return absl::InvalidArgumentError(absl::StrCat("past is ", pass.past, ", expected 0 to 2^40"));
  }
  if (config.positions == Positions::kLearned && pass.tokens + pass.past > config.context) {
    return absl::InvalidArgumentError(absl::StrCat("tokens and past are ", pass.tokens + pass.past,
                                                   ", expected at most the learned positions, ",
                                                   config.context));
  }
  Values values;
  const int64_t window = config.window;
  const int64_t seen = window == 0 ? pass.past : std::min(pass.past, window - 1);
  const int64_t keys = seen + pass.tokens;
  absl::StatusOr<int64_t> pairs =
      pass.masked_too ? CheckedMultiply(pass.tokens, keys, "pairs of queries and keys")
                      : CausalPairs(pass.tokens, pass.past, window);
  if (!pairs.ok()) return pairs.status();
  absl::StatusOr<int64_t> tokens = CheckedMultiply(pass.batch, pass.tokens, "tokens of the batch");
  if (!tokens.ok()) return tokens.status();
  values[Symbol::kBatch] = pass.batch;
  values[Symbol::kTokens] = pass.tokens;
  values[Symbol::kLogits] = pass.all_logits ? pass.tokens : 1;
  values[Symbol::kKeys] = keys;
  values[Symbol::kPairs] = *pairs;
  values[Symbol::kWidth] = config.width;
  values[Symbol::kHeads] = config.heads;
  values[Symbol::kKvHeads] = config.kv_heads;
  values[Symbol::kHeadSize] = config.head_size;
  values[Symbol::kHidden] = config.hidden;
  values[Symbol::kExperts] = config.experts;
  values[Symbol::kActive] = config.active_experts;
  if (config.experts > 0) {
    const double expected = ExpectedExperts(config.experts, config.active_experts, *tokens);
    const int64_t whole = static_cast<int64_t>(expected);
    values[Symbol::kLoaded] = whole + (static_cast<double>(whole) < expected ? 1 : 0);
  }
  values[Symbol::kExpertHidden] = config.expert_hidden;
  values[Symbol::kSharedHidden] = config.shared_hidden;
  values[Symbol::kVocabulary] = config.vocabulary;
  values[Symbol::kPositions] = config.context;
  return values;
}

absl::StatusOr<Parameters> CountParameters(const ModelConfig& config) {
  absl::StatusOr<std::vector<Section>> sections = Operations(config, {});
  if (!sections.ok()) return sections.status();
  absl::StatusOr<Values> values = ValuesOf(config, {});
  if (!values.ok()) return values.status();
  Parameters sum;
  const auto add = [](int64_t& to, const absl::StatusOr<int64_t>& one, int64_t repeats) {
    if (!one.ok()) return one.status();
    absl::StatusOr<int64_t> all = CheckedMultiply(*one, repeats, "parameters");
    if (all.ok()) all = CheckedAdd(to, *all, "parameters");
    if (!all.ok()) return all.status();
    to = *all;
    return absl::OkStatus();
  };
  for (const Section& section : *sections) {
    for (const Operation& op : section.operations) {
      const absl::StatusOr<int64_t> stored = op.parameters.Evaluate(*values, "parameters");
      absl::Status status = add(sum.total, stored, section.repeats);
      if (status.ok() && op.kind == Class::kLookup) status = add(sum.embedding, stored, 1);
      if (status.ok() && op.kind == Class::kMatmul) {
        // Of a pass over one token: a matrix's elements are half its flop.
        absl::StatusOr<int64_t> flops = op.forward.Evaluate(*values, "parameters");
        if (flops.ok()) flops = *flops / 2;
        status = add(sum.met, flops, section.repeats);
      }
      if (!status.ok()) return status;
    }
  }
  return sum;
}

}  // namespace assay::flops
