// SPDX-License-Identifier: Apache-2.0
//
// twin.h: a plain transformer, forward and backward, over any kind of number: the naive twin of
// operations.h, for tests.
//
// `Math` gives the numbers and the products:
//   using Number;
//   void Enter(const std::string& name, Phase phase);   // what follows is this operation's work
//   void Product(MatrixView<const Number> a, MatrixView<const Number> b, MatrixView<Number> c);
//                                                        // C += A B
#ifndef ASSAY_NUMERICS_FLOPS_TWIN_H_
#define ASSAY_NUMERICS_FLOPS_TWIN_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "numerics/core/elementary.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/flops/config.h"
#include "numerics/flops/counted.h"

namespace assay::flops {

template <class Math>
class Twin {
 public:
  using T = typename Math::Number;
  using Vector = std::vector<T>;
  using View = MatrixView<T>;
  using ConstView = MatrixView<const T>;

  // A parameter and its gradient.
  struct Parameter {
    Vector value, gradient;
  };

  Twin(const ModelConfig& config, bool flash, Math& math, uint64_t seed)
      : c_(config), flash_(flash), math_(math), random_(seed), layers_(Size(config.layers)) {
    Make(words_, c_.vocabulary * c_.width);
    if (c_.positions == Positions::kLearned) Make(positions_, c_.context * c_.width);
    for (int64_t i = 0; i < c_.layers; ++i) MakeLayer(layers_[Size(i)], IsMoe(i));
    MakeNorm(last_);
    if (!c_.tied_embeddings) Make(head_, c_.vocabulary * c_.width);
  }

  // All parameters, in a fixed order. (A tied head is none.)
  const std::vector<Parameter*>& parameters() const { return parameters_; }

  // Experts that some token of the last pass visited, over all layers.
  int64_t experts_visited() const { return visited_; }

  // Runs `tokens` new ones of each of `batch` sequences after those of earlier calls; ids: [batch,
  // tokens]. Returns the logits, [batch, tokens or 1, vocabulary].
  Vector Forward(const std::vector<int64_t>& ids, int64_t batch, int64_t tokens, bool all_logits) {
    batch_ = batch;
    tokens_ = tokens;
    rows_ = batch * tokens;
    ids_ = ids;
    visited_ = 0;
    const int64_t d = c_.width;
    Vector x(Size(rows_ * d));
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < d; ++j) {
        x[Size(i * d + j)] = words_.value[Size(ids[Size(i)] * d + j)];
      }
    }
    if (c_.positions == Positions::kLearned) {
      math_.Enter("positions", Phase::kForward);
      for (int64_t i = 0; i < rows_ * d; ++i) {
        x[Size(i)] += positions_.value[Size(Position(i / d) * d + i % d)];
      }
    }
    for (Layer& layer : layers_) x = ForwardLayer(layer, x);
    past_ += tokens;
    head_rows_ = all_logits ? rows_ : batch;
    Vector kept(Size(head_rows_ * d));
    for (int64_t i = 0; i < head_rows_; ++i) {
      const int64_t from = all_logits ? i : (i + 1) * tokens - 1;
      std::copy_n(x.begin() + from * d, d, kept.begin() + i * d);
    }
    normed_ = ForwardNorm("final norm", last_, kept, head_rows_);
    logits_.assign(Size(head_rows_ * c_.vocabulary), T(0));
    math_.Enter("logits", Phase::kForward);
    math_.Product(Of(normed_, head_rows_, d), Of(Head().value, c_.vocabulary, d).Transposed(),
                  Out(logits_, head_rows_, c_.vocabulary));
    return logits_;
  }

  // The mean cross-entropy of the last Forward (of all logits) with these targets.
  T Loss(const std::vector<int64_t>& targets) {
    math_.Enter("cross-entropy", Phase::kForward);
    targets_ = targets;
    const int64_t v = c_.vocabulary;
    exps_ = logits_;
    sums_.assign(Size(head_rows_), T(0));
    T loss(0);
    for (int64_t i = 0; i < head_rows_; ++i) {
      const auto row = exps_.begin() + i * v;
      const T maximum = *std::max_element(row, row + v);
      T chosen(0);
      for (int64_t j = 0; j < v; ++j) {
        const T shifted = row[j] - maximum;
        if (j == targets[Size(i)]) chosen = shifted;
        row[j] = Exp(shifted);
        sums_[Size(i)] += row[j];
      }
      loss += Log(sums_[Size(i)]) - chosen;
    }
    return loss;
  }

  // Gradients of Loss over the number of rows, added to those of the parameters.
  void Backward() {
    const int64_t v = c_.vocabulary, d = c_.width;
    math_.Enter("cross-entropy", Phase::kDx);
    Vector dlogits(exps_.size());
    const T scale(1.0 / static_cast<double>(head_rows_));
    for (int64_t i = 0; i < head_rows_; ++i) {
      for (int64_t j = 0; j < v; ++j) {
        dlogits[Size(i * v + j)] = exps_[Size(i * v + j)] / sums_[Size(i)] * scale;
      }
      T& chosen = dlogits[Size(i * v + targets_[Size(i)])];
      chosen = chosen - scale;
    }
    Vector dnormed(Size(head_rows_ * d));
    math_.Enter("logits", Phase::kDx);
    math_.Product(Of(dlogits, head_rows_, v), Of(Head().value, v, d), Out(dnormed, head_rows_, d));
    math_.Enter("logits", Phase::kDw);
    math_.Product(Of(dlogits, head_rows_, v).Transposed(), Of(normed_, head_rows_, d),
                  Out(Head().gradient, v, d));
    Vector dx = BackwardNorm("final norm", last_, dnormed, head_rows_);
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      dx = BackwardLayer(*layer, dx);
    }
    if (c_.positions == Positions::kLearned) {
      math_.Enter("positions", Phase::kDw);
      for (int64_t i = 0; i < rows_ * d; ++i) {
        positions_.gradient[Size(i / d % tokens_ * d + i % d)] += dx[Size(i)];
      }
    }
    math_.Enter("embedding", Phase::kDw);
    for (int64_t i = 0; i < rows_ * d; ++i) {
      words_.gradient[Size(ids_[Size(i / d)] * d + i % d)] += dx[Size(i)];
    }
  }

 private:
  struct NormState {
    Parameter gain, bias;
    Vector normed, scale;  // [rows, d], [rows]
  };
  struct Linear {
    Parameter weight, bias;  // [in, out]
    int64_t in = 0, out = 0;
  };
  struct Block {
    Linear gate, up, down;
    Vector input, gated, raised, activated, hidden;
  };
  struct Expert {
    Block block;
    std::vector<int64_t> rows;  // of the tokens that visit it
    Vector output;
  };
  struct Layer {
    bool moe = false;
    NormState first, second;
    Linear query, key, value, output, router;
    Vector input, second_input, q, k, v, mixed;  // of the new tokens
    std::vector<Vector> keys, values;            // the cache, by sequence
    std::vector<Vector> probabilities;           // by sequence, head, query: over what it sees
    Vector lse;                                  // likewise; flash attention keeps these instead
    Block block, shared;
    std::vector<Expert> experts;
    Vector routes, chosen_sum;                 // [rows, E] probabilities; [rows]
    std::vector<std::vector<int64_t>> chosen;  // by row
    std::vector<Vector> weights;               // by row
  };

  static size_t Size(int64_t n) { return static_cast<size_t>(n); }
  static ConstView Of(const Vector& v, int64_t rows, int64_t cols) {
    return ConstView(v.data(), rows, cols, cols);
  }
  static View Out(Vector& v, int64_t rows, int64_t cols) {
    return View(v.data(), rows, cols, cols);
  }

  bool IsMoe(int64_t layer) const {
    return c_.experts > 0 && layer >= c_.dense_layers && (layer + 1) % c_.moe_every == 0;
  }
  Parameter& Head() { return c_.tied_embeddings ? words_ : head_; }
  int64_t Position(int64_t row) const { return past_ + row % tokens_; }

  void Make(Parameter& p, int64_t size) {
    p.value.resize(Size(size));
    for (T& x : p.value) x = T(0.5 * random_.Normal());
    p.gradient.assign(Size(size), T(0));
    parameters_.push_back(&p);
  }
  void MakeLinear(Linear& linear, int64_t in, int64_t out, bool bias) {
    linear.in = in;
    linear.out = out;
    Make(linear.weight, in * out);
    if (bias) Make(linear.bias, out);
  }
  void MakeNorm(NormState& norm) {
    Make(norm.gain, c_.width);
    if (c_.norm == Norm::kLayerNorm) Make(norm.bias, c_.width);
  }
  void MakeBlock(Block& block, int64_t hidden) {
    if (c_.gated) MakeLinear(block.gate, c_.width, hidden, c_.hidden_bias);
    MakeLinear(block.up, c_.width, hidden, c_.hidden_bias);
    MakeLinear(block.down, hidden, c_.width, c_.hidden_bias);
  }
  void MakeLayer(Layer& layer, bool moe) {
    layer.moe = moe;
    MakeNorm(layer.first);
    MakeLinear(layer.query, c_.width, c_.heads * c_.head_size, c_.qkv_bias);
    MakeLinear(layer.key, c_.width, c_.kv_heads * c_.head_size, c_.qkv_bias);
    MakeLinear(layer.value, c_.width, c_.kv_heads * c_.head_size, c_.qkv_bias);
    MakeLinear(layer.output, c_.heads * c_.head_size, c_.width, c_.output_bias);
    if (!c_.parallel_blocks) MakeNorm(layer.second);
    if (!moe) return MakeBlock(layer.block, c_.hidden);
    MakeLinear(layer.router, c_.width, c_.experts, false);
    layer.experts.resize(Size(c_.experts));
    for (Expert& expert : layer.experts) MakeBlock(expert.block, c_.expert_hidden);
    if (c_.shared_hidden > 0) MakeBlock(layer.shared, c_.shared_hidden);
  }

  Vector ForwardLinear(const std::string& name, const std::string& bias, const Linear& linear,
                       const Vector& x, int64_t rows) {
    Vector y(Size(rows * linear.out), T(0));
    math_.Enter(name, Phase::kForward);
    math_.Product(Of(x, rows, linear.in), Of(linear.weight.value, linear.in, linear.out),
                  Out(y, rows, linear.out));
    if (!linear.bias.value.empty()) {
      math_.Enter(bias, Phase::kForward);
      for (int64_t i = 0; i < rows * linear.out; ++i) {
        y[Size(i)] += linear.bias.value[Size(i % linear.out)];
      }
    }
    return y;
  }
  // Adds to dx, [rows, in].
  void BackwardLinear(const std::string& name, const std::string& bias, Linear& linear,
                      const Vector& x, const Vector& dy, int64_t rows, Vector& dx) {
    if (!linear.bias.value.empty()) {
      math_.Enter(bias, Phase::kDw);
      for (int64_t i = 0; i < rows * linear.out; ++i) {
        linear.bias.gradient[Size(i % linear.out)] += dy[Size(i)];
      }
    }
    math_.Enter(name, Phase::kDw);
    math_.Product(Of(x, rows, linear.in).Transposed(), Of(dy, rows, linear.out),
                  Out(linear.weight.gradient, linear.in, linear.out));
    math_.Enter(name, Phase::kDx);
    math_.Product(Of(dy, rows, linear.out),
                  Of(linear.weight.value, linear.in, linear.out).Transposed(),
                  Out(dx, rows, linear.in));
  }

  Vector ForwardNorm(const std::string& name, NormState& norm, const Vector& x, int64_t rows) {
    math_.Enter(name, Phase::kForward);
    const int64_t d = c_.width;
    const T one_over_d(1.0 / static_cast<double>(d));
    norm.normed = x;
    norm.scale.assign(Size(rows), T(0));
    Vector y(x.size());
    for (int64_t i = 0; i < rows; ++i) {
      const auto row = norm.normed.begin() + i * d;
      if (c_.norm != Norm::kRmsNorm) {
        T sum(0);
        for (int64_t j = 0; j < d; ++j) sum += row[j];
        const T mean = sum * one_over_d;
        for (int64_t j = 0; j < d; ++j) row[j] = row[j] - mean;
      }
      T squares(0);
      for (int64_t j = 0; j < d; ++j) squares += row[j] * row[j];
      const T scale = T(1) / Sqrt(squares * one_over_d + T(1e-5));
      norm.scale[Size(i)] = scale;
      for (int64_t j = 0; j < d; ++j) {
        row[j] = row[j] * scale;
        T out = row[j] * norm.gain.value[Size(j)];
        if (c_.norm == Norm::kLayerNorm) out += norm.bias.value[Size(j)];
        y[Size(i * d + j)] = out;
      }
    }
    return y;
  }
  Vector BackwardNorm(const std::string& name, NormState& norm, const Vector& dy, int64_t rows) {
    const int64_t d = c_.width;
    const T one_over_d(1.0 / static_cast<double>(d));
    math_.Enter(name, Phase::kDw);
    for (int64_t i = 0; i < rows * d; ++i) {
      norm.gain.gradient[Size(i % d)] += dy[Size(i)] * norm.normed[Size(i)];
      if (c_.norm == Norm::kLayerNorm) norm.bias.gradient[Size(i % d)] += dy[Size(i)];
    }
    math_.Enter(name, Phase::kDx);
    Vector dx(dy.size());
    for (int64_t i = 0; i < rows; ++i) {
      const auto normed = norm.normed.begin() + i * d;
      const auto out = dx.begin() + i * d;
      T sum(0), dot(0);
      for (int64_t j = 0; j < d; ++j) {
        out[j] = dy[Size(i * d + j)] * norm.gain.value[Size(j)];
        if (c_.norm != Norm::kRmsNorm) sum += out[j];
        dot += out[j] * normed[j];
      }
      const T mean_dot = dot * one_over_d;
      if (c_.norm == Norm::kRmsNorm) {
        for (int64_t j = 0; j < d; ++j) {
          out[j] = norm.scale[Size(i)] * (out[j] - normed[j] * mean_dot);
        }
      } else {
        const T mean = sum * one_over_d;
        for (int64_t j = 0; j < d; ++j) {
          out[j] = norm.scale[Size(i)] * (out[j] - mean - normed[j] * mean_dot);
        }
      }
    }
    return dx;
  }

  // Turns [rows, heads d_h] by the angle of each row's position; `back`: the other way.
  void Rotate(Phase phase, Vector& x, int64_t heads, int64_t first, bool back) {
    if (c_.positions != Positions::kRotary) return;
    math_.Enter("rotary positions", phase);
    const int64_t half = c_.head_size / 2;
    for (int64_t i = 0; i < rows_ * heads * half; ++i) {
      const int64_t row = i / (heads * half), head = i / half % heads, j = i % half;
      const double angle = static_cast<double>(first + row % tokens_) /
                           static_cast<double>(1 + 3 * j);  // the frequencies do not matter here
      const T cosine(assay::Cos(angle)), sine(back ? -assay::Sin(angle) : assay::Sin(angle));
      T& a = x[Size((row * heads + head) * c_.head_size + j)];
      T& b = x[Size((row * heads + head) * c_.head_size + half + j)];
      const T turned = a * cosine - b * sine;
      b = a * sine + b * cosine;
      a = turned;
    }
  }

  // What the query of this new token sees: positions first to last of its sequence.
  int64_t Last(int64_t past, int64_t t) const { return past + t; }
  int64_t First(int64_t past, int64_t t) const {
    return c_.window == 0 ? 0 : std::max<int64_t>(0, past + t - c_.window + 1);
  }

  Vector ForwardAttention(Layer& layer, const Vector& x) {
    const int64_t h = c_.heads, g = c_.kv_heads, e = c_.head_size;
    layer.q = ForwardLinear("query projection", "query bias", layer.query, x, rows_);
    layer.k = ForwardLinear("key projection", "key bias", layer.key, x, rows_);
    layer.v = ForwardLinear("value projection", "value bias", layer.value, x, rows_);
    Rotate(Phase::kForward, layer.q, h, past_, false);
    Rotate(Phase::kForward, layer.k, g, past_, false);
    layer.keys.resize(Size(batch_));
    layer.values.resize(Size(batch_));
    const int64_t width = tokens_ * g * e;
    for (int64_t b = 0; b < batch_; ++b) {
      layer.keys[Size(b)].insert(layer.keys[Size(b)].end(), layer.k.begin() + b * width,
                                 layer.k.begin() + (b + 1) * width);
      layer.values[Size(b)].insert(layer.values[Size(b)].end(), layer.v.begin() + b * width,
                                   layer.v.begin() + (b + 1) * width);
    }
    layer.mixed.assign(Size(rows_ * h * e), T(0));
    layer.probabilities.assign(Size(rows_ * h), {});
    layer.lse.assign(Size(rows_ * h), T(0));
    const T scale(1 / assay::Sqrt(static_cast<double>(e)));
    for (int64_t i = 0; i < rows_ * h; ++i) {
      const int64_t row = i / h, head = i % h, t = row % tokens_;
      const int64_t first = First(past_, t), n = Last(past_, t) - first + 1;
      Vector& p = layer.probabilities[Size(i)];
      p.assign(Size(n), T(0));
      math_.Enter("scores", Phase::kForward);
      math_.Product(ConstView(layer.q.data() + i * e, 1, e, e),
                    Cache(layer.keys, row / tokens_, head, first, n).Transposed(), Out(p, 1, n));
      math_.Enter("softmax", Phase::kForward);
      for (T& s : p) s = s * scale;
      const T maximum = *std::max_element(p.begin(), p.end());
      T sum(0);
      for (T& s : p) {
        s = Exp(s - maximum);
        sum += s;
      }
      for (T& s : p) s = s / sum;
      if (flash_) {
        math_.Enter("softmax", Phase::kAgain);
        layer.lse[Size(i)] = maximum + Log(sum);
      }
      math_.Enter("mix of values", Phase::kForward);
      math_.Product(Of(p, 1, n), Cache(layer.values, row / tokens_, head, first, n),
                    View(layer.mixed.data() + i * e, 1, e, e));
      if (flash_) p.clear();
    }
    return ForwardLinear("output projection", "output bias", layer.output, layer.mixed, rows_);
  }
  // Keys or values of a sequence and query head: [n, d_h] from position `first`.
  ConstView Cache(const std::vector<Vector>& cache, int64_t sequence, int64_t head, int64_t first,
                  int64_t n) const {
    const int64_t g = c_.kv_heads, e = c_.head_size;
    return ConstView(cache[Size(sequence)].data() + (first * g + head / (c_.heads / g)) * e, n, e,
                     g * e);
  }
  // The same of gradients, [batch tokens, h_kv d_h].
  View Gradient(Vector& v, int64_t sequence, int64_t head, int64_t first, int64_t n) const {
    const int64_t g = c_.kv_heads, e = c_.head_size;
    const int64_t row = sequence * tokens_ + first;
    return View(v.data() + (row * g + head / (c_.heads / g)) * e, n, e, g * e);
  }

  void BackwardAttention(Layer& layer, const Vector& dy, Vector& dx) {
    const int64_t h = c_.heads, g = c_.kv_heads, e = c_.head_size;
    Vector dmixed(layer.mixed.size());
    BackwardLinear("output projection", "output bias", layer.output, layer.mixed, dy, rows_,
                   dmixed);
    Vector dq(layer.q.size()), dk(layer.k.size()), dv(layer.v.size());
    const T scale(1 / assay::Sqrt(static_cast<double>(e)));
    for (int64_t i = 0; i < rows_ * h; ++i) {
      const int64_t row = i / h, head = i % h, t = row % tokens_, b = row / tokens_;
      const int64_t first = First(0, t), n = Last(0, t) - first + 1;
      const ConstView query(layer.q.data() + i * e, 1, e, e);
      const ConstView dout(dmixed.data() + i * e, 1, e, e);
      Vector& p = layer.probabilities[Size(i)];
      if (flash_) {
        p.assign(Size(n), T(0));
        math_.Enter("scores", Phase::kAgain);
        math_.Product(query, Cache(layer.keys, b, head, first, n).Transposed(), Out(p, 1, n));
        math_.Enter("softmax", Phase::kAgain);
        for (T& s : p) s = Exp(s * scale - layer.lse[Size(i)]);
      }
      Vector ds(Size(n));
      math_.Enter("mix of values", Phase::kDx);
      math_.Product(dout, Cache(layer.values, b, head, first, n).Transposed(), Out(ds, 1, n));
      math_.Product(Of(p, 1, n).Transposed(), dout, Gradient(dv, b, head, first, n));
      math_.Enter("softmax", Phase::kDx);
      T dot(0);
      for (int64_t j = 0; j < n; ++j) dot += ds[Size(j)] * p[Size(j)];
      for (int64_t j = 0; j < n; ++j) ds[Size(j)] = p[Size(j)] * (ds[Size(j)] - dot) * scale;
      math_.Enter("scores", Phase::kDx);
      math_.Product(Of(ds, 1, n), Cache(layer.keys, b, head, first, n),
                    View(dq.data() + i * e, 1, e, e));
      math_.Product(Of(ds, 1, n).Transposed(), query, Gradient(dk, b, head, first, n));
    }
    Rotate(Phase::kDx, dq, h, 0, true);
    Rotate(Phase::kDx, dk, g, 0, true);
    BackwardLinear("query projection", "query bias", layer.query, layer.input, dq, rows_, dx);
    BackwardLinear("key projection", "key bias", layer.key, layer.input, dk, rows_, dx);
    BackwardLinear("value projection", "value bias", layer.value, layer.input, dv, rows_, dx);
  }

  T Activate(T x) const {
    switch (c_.activation) {
      case Activation::kRelu:
        return x < T(0) ? T(0) : x;
      case Activation::kGelu:
        return T(0.5) * ((T(1) + Erf(x * T(0.70710678118654752))) * x);
      case Activation::kGeluTanh:
        return T(0.5) * ((T(1) + Tanh(T(kTanhScale) * (x + T(0.044715) * (x * x * x)))) * x);
      case Activation::kSilu:
        break;
    }
    return x / (T(1) + Exp(-x));
  }
  T ActivateBackward(T x, T dy) const {
    switch (c_.activation) {
      case Activation::kRelu:
        return x < T(0) ? T(0) : dy;
      case Activation::kGelu: {
        const T density = Exp(T(-0.5) * (x * x)) * T(0.39894228040143268);
        return (T(0.5) * (T(1) + Erf(x * T(0.70710678118654752))) + x * density) * dy;
      }
      case Activation::kGeluTanh: {
        const T square = x * x;
        const T t = Tanh(T(kTanhScale) * (x + T(0.044715) * (square * x)));
        const T slope = T(kTanhScale) * (T(1) + T(3 * 0.044715) * square);
        return T(0.5) * ((T(1) + t) + x * ((T(1) - t * t) * slope)) * dy;
      }
      case Activation::kSilu:
        break;
    }
    const T s = T(1) / (T(1) + Exp(-x));
    return s * (T(1) + x * (T(1) - s)) * dy;
  }

  Vector ForwardBlock(const std::string& kind, Block& block, Vector x, int64_t rows) {
    block.input = std::move(x);
    if (c_.gated) {
      block.gated = ForwardLinear(kind + "gate", kind + "gate bias", block.gate, block.input, rows);
    }
    block.raised = ForwardLinear(kind + "up", kind + "up bias", block.up, block.input, rows);
    math_.Enter(kind + "activation", Phase::kForward);
    block.activated = c_.gated ? block.gated : block.raised;
    for (T& a : block.activated) a = Activate(a);
    block.hidden = block.activated;
    if (c_.gated) {
      for (size_t i = 0; i < block.hidden.size(); ++i) {
        block.hidden[i] = block.activated[i] * block.raised[i];
      }
    }
    return ForwardLinear(kind + "down", kind + "down bias", block.down, block.hidden, rows);
  }
  void BackwardBlock(const std::string& kind, Block& block, const Vector& dy, int64_t rows,
                     Vector& dx) {
    Vector dhidden(block.hidden.size());
    BackwardLinear(kind + "down", kind + "down bias", block.down, block.hidden, dy, rows, dhidden);
    math_.Enter(kind + "activation", Phase::kDx);
    Vector draised(dhidden.size());
    Vector dgated(c_.gated ? dhidden.size() : 0);
    for (size_t i = 0; i < dhidden.size(); ++i) {
      if (c_.gated) {
        draised[i] = dhidden[i] * block.activated[i];
        dgated[i] = ActivateBackward(block.gated[i], dhidden[i] * block.raised[i]);
      } else {
        draised[i] = ActivateBackward(block.raised[i], dhidden[i]);
      }
    }
    BackwardLinear(kind + "up", kind + "up bias", block.up, block.input, draised, rows, dx);
    if (c_.gated) {
      BackwardLinear(kind + "gate", kind + "gate bias", block.gate, block.input, dgated, rows, dx);
    }
  }

  Vector ForwardExperts(Layer& layer, const Vector& x) {
    const int64_t d = c_.width, experts = c_.experts, k = c_.active_experts;
    layer.routes = ForwardLinear("router", "", layer.router, x, rows_);
    layer.chosen.assign(Size(rows_), {});
    layer.weights.assign(Size(rows_), {});
    layer.chosen_sum.assign(Size(rows_), T(0));
    for (Expert& expert : layer.experts) expert.rows.clear();
    math_.Enter("routing", Phase::kForward);
    for (int64_t i = 0; i < rows_; ++i) {
      const auto row = layer.routes.begin() + i * experts;
      const T maximum = *std::max_element(row, row + experts);
      T sum(0);
      for (int64_t j = 0; j < experts; ++j) {
        row[j] = Exp(row[j] - maximum);
        sum += row[j];
      }
      for (int64_t j = 0; j < experts; ++j) row[j] = row[j] / sum;
      std::vector<int64_t> order(Size(experts));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return row[b] < row[a]; });
      order.resize(Size(k));
      for (const int64_t j : order) layer.chosen_sum[Size(i)] += row[j];
      for (const int64_t j : order) {
        layer.weights[Size(i)].push_back(row[j] / layer.chosen_sum[Size(i)]);
        layer.experts[Size(j)].rows.push_back(i);
      }
      layer.chosen[Size(i)] = order;
    }
    Vector y(Size(rows_ * d), T(0));
    for (int64_t j = 0; j < experts; ++j) {
      Expert& expert = layer.experts[Size(j)];
      if (expert.rows.empty()) continue;
      ++visited_;
      const int64_t rows = static_cast<int64_t>(expert.rows.size());
      Vector in;
      for (const int64_t i : expert.rows) {
        in.insert(in.end(), x.begin() + i * d, x.begin() + (i + 1) * d);
      }
      expert.output = ForwardBlock("expert ", expert.block, std::move(in), rows);
      math_.Enter("weighted sum of experts", Phase::kForward);
      for (int64_t r = 0; r < rows * d; ++r) {
        const int64_t i = expert.rows[Size(r / d)];
        y[Size(i * d + r % d)] += Weight(layer, i, j) * expert.output[Size(r)];
      }
    }
    if (c_.shared_hidden == 0) return y;
    const Vector shared = ForwardBlock("shared ", layer.shared, x, rows_);
    math_.Enter("shared expert added", Phase::kForward);
    for (size_t i = 0; i < y.size(); ++i) y[i] += shared[i];
    return y;
  }
  static size_t Place(const Layer& layer, int64_t row, int64_t expert) {
    const std::vector<int64_t>& chosen = layer.chosen[Size(row)];
    return static_cast<size_t>(std::find(chosen.begin(), chosen.end(), expert) - chosen.begin());
  }
  static T Weight(const Layer& layer, int64_t row, int64_t expert) {
    return layer.weights[Size(row)][Place(layer, row, expert)];
  }

  void BackwardExperts(Layer& layer, const Vector& x, const Vector& dy, Vector& dx) {
    const int64_t d = c_.width, experts = c_.experts, k = c_.active_experts;
    if (c_.shared_hidden > 0) BackwardBlock("shared ", layer.shared, dy, rows_, dx);
    std::vector<Vector> dweights(Size(rows_), Vector(Size(k), T(0)));
    for (int64_t j = 0; j < experts; ++j) {
      Expert& expert = layer.experts[Size(j)];
      if (expert.rows.empty()) continue;
      const int64_t rows = static_cast<int64_t>(expert.rows.size());
      Vector dout(expert.output.size());
      math_.Enter("weighted sum of experts", Phase::kDx);
      for (int64_t r = 0; r < rows * d; ++r) {
        const int64_t i = expert.rows[Size(r / d)];
        dout[Size(r)] = Weight(layer, i, j) * dy[Size(i * d + r % d)];
        dweights[Size(i)][Place(layer, i, j)] += dy[Size(i * d + r % d)] * expert.output[Size(r)];
      }
      // A product adds to what is there: what the rows have so far comes along and goes back.
      Vector din(Size(rows * d));
      for (int64_t r = 0; r < rows * d; ++r) {
        din[Size(r)] = dx[Size(expert.rows[Size(r / d)] * d + r % d)];
      }
      BackwardBlock("expert ", expert.block, dout, rows, din);
      for (int64_t r = 0; r < rows * d; ++r) {
        dx[Size(expert.rows[Size(r / d)] * d + r % d)] = din[Size(r)];
      }
    }
    math_.Enter("routing", Phase::kDx);
    Vector droutes(layer.routes.size());
    for (int64_t i = 0; i < rows_; ++i) {
      const auto row = layer.routes.begin() + i * experts;
      Vector dp(Size(experts), T(0));
      T dot(0);
      for (size_t j = 0; j < Size(k); ++j) dot += dweights[Size(i)][j] * layer.weights[Size(i)][j];
      T all(0);
      for (size_t j = 0; j < Size(k); ++j) {
        const size_t expert = Size(layer.chosen[Size(i)][j]);
        dp[expert] = (dweights[Size(i)][j] - dot) / layer.chosen_sum[Size(i)];
        all += dp[expert] * row[static_cast<int64_t>(expert)];
      }
      for (int64_t j = 0; j < experts; ++j) {
        droutes[Size(i * experts + j)] = row[j] * (dp[Size(j)] - all);
      }
    }
    BackwardLinear("router", "", layer.router, x, droutes, rows_, dx);
  }

  void AddTo(const std::string& name, Phase phase, Vector& x, const Vector& y) {
    math_.Enter(name, phase);
    for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  Vector ForwardLayer(Layer& layer, Vector x) {
    const bool parallel = c_.parallel_blocks;
    layer.input = ForwardNorm(parallel ? "norm" : "attention norm", layer.first, x, rows_);
    const Vector attended = ForwardAttention(layer, layer.input);
    AddTo(parallel ? "residual" : "attention residual", Phase::kForward, x, attended);
    layer.second_input =
        parallel ? layer.input : ForwardNorm("feed-forward norm", layer.second, x, rows_);
    const Vector out = layer.moe ? ForwardExperts(layer, layer.second_input)
                                 : ForwardBlock("", layer.block, layer.second_input, rows_);
    AddTo(parallel ? "residual" : "feed-forward residual", Phase::kForward, x, out);
    return x;
  }
  Vector BackwardLayer(Layer& layer, Vector dx) {
    const bool parallel = c_.parallel_blocks;
    Vector dsecond(dx.size());
    if (layer.moe) {
      BackwardExperts(layer, layer.second_input, dx, dsecond);
    } else {
      BackwardBlock("", layer.block, dx, rows_, dsecond);
    }
    if (parallel) {
      BackwardAttention(layer, dx, dsecond);
      AddTo("residual", Phase::kDx, dx, BackwardNorm("norm", layer.first, dsecond, rows_));
      return dx;
    }
    AddTo("feed-forward residual", Phase::kDx, dx,
          BackwardNorm("feed-forward norm", layer.second, dsecond, rows_));
    Vector dfirst(dx.size());
    BackwardAttention(layer, dx, dfirst);
    AddTo("attention residual", Phase::kDx, dx,
          BackwardNorm("attention norm", layer.first, dfirst, rows_));
    return dx;
  }

  static constexpr double kTanhScale = 0.79788456080286536;  // sqrt(2 / pi)

  const ModelConfig c_;
  const bool flash_;
  Math& math_;
  Random random_;
  std::vector<Parameter*> parameters_;
  Parameter words_, positions_, head_;
  std::vector<Layer> layers_;
  NormState last_;
  int64_t batch_ = 0, tokens_ = 0, rows_ = 0, past_ = 0, head_rows_ = 0, visited_ = 0;
  std::vector<int64_t> ids_, targets_;
  Vector normed_, logits_, exps_, sums_;
};

}  // namespace assay::flops

#endif  // ASSAY_NUMERICS_FLOPS_TWIN_H_
