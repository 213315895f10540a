// SPDX-License-Identifier: Apache-2.0
//
// The C face of the demos: a product followed through a cache, a model's cost, and two products to
// be timed. Functions return 0 or a code that message() explains. Not for several threads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/matrix_view.h"
#include "numerics/flops/chips.h"
#include "numerics/flops/estimate.h"
#include "numerics/flops/memory.h"
#include "numerics/flops/models.h"
#include "numerics/flops/operations.h"
#include "numerics/gemm/gemm.h"
#include "numerics/gemm/traffic.h"
#include "web/articles/cost-of-matrix-multiplication/trace.h"

namespace {

namespace flops = assay::flops;
namespace gemm = assay::gemm;
using assay::MatrixView;

enum Code : int { kOk = 0, kBadLoops = 1, kBadCache = 2, kBadRace = 3, kWrong = 4, kRefused = 5 };

// Why the last estimate was refused.
std::string& Refusal() {
  static std::string refusal;
  return refusal;
}
int Refuse(const absl::Status& status) {
  Refusal() = std::string(status.message());
  return kRefused;
}

bool AreLoops(int32_t order, int32_t n, int32_t tile, int32_t pad) {
  return order >= 0 && order < gemm::kLoopOrders && n >= 2 && n <= 64 && tile >= 1 && tile <= n &&
         pad >= 0 && pad <= 16;
}
bool IsCache(int32_t line, int32_t lines, int32_t ways) {
  return line >= 1 && line <= 16 && lines >= 1 && lines <= 256 && ways >= 1 && ways <= lines &&
         lines % ways == 0;
}
gemm::ProductLoops LoopsOf(int32_t order, int32_t n, int32_t tile, int32_t pad) {
  return {.order = static_cast<gemm::LoopOrder>(order), .n = n, .tile = tile, .leading = n + pad};
}

// Copies as much as fits, a NUL at the end.
void Give(const std::string& text, char* out, int32_t size) {
  const size_t length = std::min(text.size(), static_cast<size_t>(std::max(size, 1)) - 1);
  std::copy_n(text.begin(), length, out);
  out[length] = '\0';
}

double Real(int64_t x) { return static_cast<double>(x); }

// The numbers of a model that the demo lets a reader choose.
constexpr int kShape = 10;
void ShapeOf(const flops::ModelConfig& c, double* out) {
  const int64_t values[kShape] = {c.layers,     c.width,
                                  c.heads,      c.kv_heads,
                                  c.head_size,  c.experts > 0 ? c.expert_hidden : c.hidden,
                                  c.vocabulary, c.gated ? 1 : 0,
                                  c.experts,    c.active_experts};
  for (const int64_t value : values) *out++ = Real(value);
}

flops::ModelConfig OwnModel(const double* shape) {
  const auto whole = [&](int i) { return static_cast<int64_t>(shape[i]); };
  flops::ModelConfig c;
  c.name = "own";
  c.layers = whole(0);
  c.width = whole(1);
  c.heads = whole(2);
  c.kv_heads = whole(3);
  c.head_size = whole(4);
  c.vocabulary = whole(6);
  c.gated = shape[7] != 0;
  c.experts = whole(8);
  c.active_experts = c.experts > 0 ? whole(9) : 0;
  (c.experts > 0 ? c.expert_hidden : c.hidden) = whole(5);
  c.context = int64_t{1} << 40;
  return c;
}

// "2 x 8 x 4096^2 + 3": a formula with its numbers put in.
std::string Substituted(const flops::Polynomial& formula, const flops::Values& values) {
  std::string text;
  bool fresh = true;
  for (const flops::Polynomial::Token& token : formula.Tokens()) {
    if (token.kind == flops::Polynomial::Token::Kind::kPlus) {
      text += " + ";
      fresh = true;
      continue;
    }
    if (!fresh) text += " x ";
    fresh = false;
    if (token.kind == flops::Polynomial::Token::Kind::kNumber) {
      text += token.text;
      continue;
    }
    std::string name = token.text;
    if (!token.subscript.empty()) absl::StrAppend(&name, "_", token.subscript);
    for (int i = 0; i < flops::kSymbols; ++i) {
      const auto symbol = static_cast<flops::Symbol>(i);
      if (SymbolName(symbol) == name) absl::StrAppend(&text, values[symbol]);
    }
    if (token.power > 1) absl::StrAppend(&text, "^", token.power);
  }
  return text;
}

struct Race {
  int32_t n = 0;
  std::vector<float> a, b, plain, fast;
};
Race& TheRace() {
  static Race race;
  return race;
}

}  // namespace

extern "C" {

void* alloc(uint32_t n) { return std::malloc(n); }
void dealloc(void* p) { std::free(p); }

const char* message(int code) {
  switch (code) {
    case kOk:
      return "ok";
    case kBadLoops:
      return "rows must lie in 2 to 64, the tile in 1 to the rows, unused places in 0 to 16";
    case kBadCache:
      return "lines must lie in 1 to 256, numbers of a line in 1 to 16, and ways must divide lines";
    case kBadRace:
      return "the product must have 16 to 1024 rows, and be made at least once";
    case kWrong:
      return "both products differ by more than rounding";
    case kRefused:
      return Refusal().c_str();
  }
  return "unknown code";
}

// A product of n x n numbers after `to` multiplications (trace.h).
//   pad: unused numbers after each row. state: [3 n^2]. counts: [6] lines that came for A, B and C,
//   lines written back, numbers moved, and the lower bound for the whole.
int trace(int32_t order, int32_t n, int32_t tile, int32_t pad, int32_t line, int32_t lines,
          int32_t ways, int32_t from, int32_t to, uint8_t* state, double* counts) {
  if (!AreLoops(order, n, tile, pad)) return kBadLoops;
  if (!IsCache(line, lines, ways)) return kBadCache;
  const gemm::CacheShape shape = {.line = line, .lines = lines, .ways = ways};
  const gemm::TrafficCounts c = assay::matmul_page::TraceTo(
      LoopsOf(order, n, tile, pad), shape, from, to, {state, static_cast<size_t>(3 * n * n)});
  for (int i = 0; i < 3; ++i) counts[i] = Real(c.misses[static_cast<size_t>(i)]);
  counts[3] = Real(c.write_backs);
  counts[4] = Real(c.Elements(shape));
  counts[5] = gemm::LeastTraffic(n, shape.elements());
  return kOk;
}

// Numbers moved by the whole product: by each order (tiled with `tile`), and by each tile.
//   orders: [7]. tiles: [n], for tiles of 1 to n.
int curve(int32_t n, int32_t tile, int32_t pad, int32_t line, int32_t lines, int32_t ways,
          double* orders, double* tiles) {
  if (!AreLoops(0, n, tile, pad)) return kBadLoops;
  if (!IsCache(line, lines, ways)) return kBadCache;
  const gemm::CacheShape shape = {.line = line, .lines = lines, .ways = ways};
  const auto moved = [&](int32_t order, int32_t t) {
    return Real(CountTraffic(LoopsOf(order, n, t, pad), shape).Elements(shape));
  };
  for (int32_t i = 0; i < gemm::kLoopOrders; ++i) orders[i] = moved(i, tile);
  for (int32_t t = 1; t <= n; ++t) tiles[t - 1] = moved(6, t);
  return kOk;
}

// Names of the published models and of the chips, one a line.
//   shapes: [models, 10]: layers, width, heads, heads of keys and values, width of a head, hidden
//   width (of an expert), vocabulary, gated, experts, active experts; chips: [chips, 3]: f16
//   flop/s, byte/s, bytes. At most 32 of each.
int catalogue(char* text, int32_t size, double* shapes, double* chips) {
  std::string names;
  for (const flops::PublishedModel& model : flops::Models()) {
    absl::StrAppend(&names, "model ", model.config.name, "\n");
    ShapeOf(model.config, shapes);
    shapes += kShape;
  }
  for (const flops::Chip& chip : flops::Chips()) {
    absl::StrAppend(&names, "chip ", chip.name, "\n");
    *chips++ = Real(chip.f16);
    *chips++ = Real(chip.bandwidth);
    *chips++ = Real(chip.memory);
  }
  Give(names, text, size);
  return kOk;
}

// What one pass of a model costs.
//   model: number of a published one, or -1 for `shape` (as in catalogue). mode: 0 training, 1
//   prefill, 2 a token of decoding. chip: number, or -1 for `own` ([3] flop/s, byte/s,
//   bytes). precision: 0 f32, 1 f16, 2 f8. recompute: 0 none, 2 all of each layer.
//   totals: [11] flop, bytes, seconds, seconds of rows that arithmetic binds, tokens a second,
//   parameters, parameters that a token meets, bytes of memory for weights and the optimizer, for
//   activations or keys and values, in all, flop done again. rows: [48, 6]: class, flop, bytes,
//   seconds, bound by arithmetic, repeats. count: [1] rows.
//   text: a line a row: section, name, formula of the forward pass, and with numbers, by tabs.
int estimate(int32_t model, const double* shape, int32_t mode, double batch, double context,
             int32_t chip, const double* own, int32_t precision, int32_t weight_bits,
             int32_t recompute, double* totals, double* rows, int32_t* count, char* text,
             int32_t size) {
  const auto models = flops::Models();
  const auto chips = flops::Chips();
  if (model >= static_cast<int32_t>(models.size()) || chip >= static_cast<int32_t>(chips.size()) ||
      mode < 0 || mode > 2 || precision < 0 || precision > 2 || !(batch >= 1 && batch <= 0x1p40) ||
      !(context >= 1 && context <= 0x1p40)) {
    return Refuse(absl::InvalidArgumentError("there is no such model, chip, mode or precision"));
  }
  for (int i = 0; i < kShape && model < 0; ++i) {
    if (!(shape[i] >= 0 && shape[i] <= 0x1p40)) {
      return Refuse(absl::InvalidArgumentError("a size of the model is out of range"));
    }
  }
  const flops::ModelConfig config =
      model >= 0 ? models[static_cast<size_t>(model)].config : OwnModel(shape);
  flops::Chip machine;
  if (chip >= 0) {
    machine = chips[static_cast<size_t>(chip)];
  } else {
    if (!(own[0] >= 1 && own[0] <= 0x1p62 && own[1] >= 1 && own[1] <= 0x1p62 && own[2] >= 1 &&
          own[2] <= 0x1p62)) {
      return Refuse(absl::InvalidArgumentError("a rate of your machine is out of range"));
    }
    machine.name = "your machine";
    machine.f32 = machine.f16 = machine.f8 = static_cast<int64_t>(own[0]);
    machine.bandwidth = static_cast<int64_t>(own[1]);
    machine.memory = static_cast<int64_t>(own[2]);
  }
  const bool training = mode == 0;
  const auto length = static_cast<int64_t>(context);
  flops::Pass pass = {.batch = static_cast<int64_t>(batch), .tokens = length};
  if (mode == 2) {
    pass.tokens = 1;
    pass.past = length - 1;
  }
  flops::Options options;
  options.training = training;
  options.arithmetic = static_cast<flops::Precision>(precision);
  options.weight_bits = training ? 16 : weight_bits;
  options.recompute = training ? static_cast<flops::Recompute>(recompute) : flops::Recompute::kNone;
  const auto found = EstimatePass(config, pass, options, machine);
  if (!found.ok()) return Refuse(found.status());
  pass.all_logits = training;
  const auto sections = Operations(config, {.flash = options.flash, .training = training});
  const auto values = ValuesOf(config, pass);
  const auto parameters = CountParameters(config);
  if (!sections.ok()) return Refuse(sections.status());
  if (!values.ok()) return Refuse(values.status());
  if (!parameters.ok()) return Refuse(parameters.status());

  int64_t state = 0, kept = 0, all = 0;
  if (training) {
    const auto memory =
        MemoryOfTraining(config, pass.batch, pass.tokens, flops::Optimizer::kAdamMixed, options);
    if (!memory.ok()) return Refuse(memory.status());
    state = memory->weights + memory->gradients + memory->optimizer;
    kept = memory->activations + memory->recomputed;
    all = memory->total;
  } else {
    const auto memory = MemoryOfServing(config, pass.batch, length, options);
    if (!memory.ok()) return Refuse(memory.status());
    state = memory->weights;
    kept = memory->cache;
    all = memory->total;
  }
  const double numbers[] = {Real(found->total.flops),
                            Real(found->total.bytes),
                            found->seconds,
                            found->compute_seconds,
                            found->tokens_per_second,
                            Real(parameters->total),
                            Real(parameters->met),
                            Real(state),
                            Real(kept),
                            Real(all),
                            Real(found->total.again)};
  std::copy(std::begin(numbers), std::end(numbers), totals);
  std::string lines;
  size_t at = 0;
  for (const flops::Section& section : *sections) {
    for (const flops::Operation& operation : section.operations) {
      const flops::Row& row = found->rows[at];
      if (at++ >= 48) break;
      const double entries[] = {static_cast<double>(row.kind), Real(row.counts.flops),
                                Real(row.counts.bytes),        row.seconds,
                                row.compute_bound ? 1.0 : 0.0, Real(row.repeats)};
      rows = std::copy(std::begin(entries), std::end(entries), rows);
      absl::StrAppend(&lines, section.name, "\t", operation.name, "\t", operation.forward.ToText(),
                      "\t", Substituted(operation.forward, *values), "\n");
    }
  }
  *count = static_cast<int32_t>(std::min<size_t>(at, 48));
  Give(lines, text, size);
  return kOk;
}

// Makes two n x n matrices of f32 ready.
int race_open(int32_t n) {
  if (n < 16 || n > 1024) return kBadRace;
  Race& race = TheRace();
  const auto count = static_cast<size_t>(n) * static_cast<size_t>(n);
  race.n = n;
  race.a.resize(count);
  race.b.resize(count);
  race.plain.assign(count, 0);
  race.fast.assign(count, 0);
  // Small whole numbers: every sum is exact, so both ways must agree to the bit.
  for (size_t i = 0; i < count; ++i) {
    race.a[i] = static_cast<float>(static_cast<int>(i * 7 % 13) - 6);
    race.b[i] = static_cast<float>(static_cast<int>(i * 5 % 11) - 5);
  }
  return kOk;
}

// The product `rounds` times: 0 by three loops, 1 by the library. The page times this call.
int race_run(int32_t way, int32_t rounds) {
  Race& race = TheRace();
  const int64_t n = race.n;
  if (n == 0 || rounds < 1) return kBadRace;
  const float* const a = race.a.data();
  const float* const b = race.b.data();
  for (int32_t round = 0; round < rounds; ++round) {
    if (way != 0) {
      const absl::Status status = gemm::Gemm<float>(1, {a, n, n, n}, {b, n, n, n}, 0,
                                                    MatrixView<float>(race.fast.data(), n, n, n));
      if (!status.ok()) return Refuse(status);
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
        race.plain[static_cast<size_t>(i * n + j)] = sum;
      }
    }
  }
  return kOk;
}

// After both have run.
int race_check() { return TheRace().plain == TheRace().fast ? kOk : kWrong; }

}  // extern "C"
