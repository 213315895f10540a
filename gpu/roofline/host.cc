// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/host.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/core/random.h"

// Natively this file is compiled once for each set of vector instructions.
#ifdef __EMSCRIPTEN__
#include "gpu/roofline/internal/wasm_vectors-inl.h"
#define ASSAY_PROBE_CALL(function) kernels::function
#else
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gpu/roofline/host.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands.
#include "hwy/highway.h"
#define ASSAY_PROBE_CALL(function) HWY_DYNAMIC_DISPATCH(function)
#endif

#ifndef ASSAY_GPU_ROOFLINE_HOST_ONCE_
#define ASSAY_GPU_ROOFLINE_HOST_ONCE_
namespace assay::roofline {

// Operations of one chain in a round: so many that the rest of the round does not count.
constexpr int64_t kSteps = 4096;
constexpr int kMostChains = 12;  // with two constants they fit into sixteen registers
constexpr size_t kMostLanes = 64;

// Chain j starts at 1 + j / 16 and nears 1; no value is ever denormal, infinite or exact.
constexpr double kFactor = 0.999, kAddend = 0.001;
inline double StartOf(int chain) { return 1.0 + chain / 16.0; }

// Tells the compiler that memory may have changed, so that every round is done.
inline void ForgetMemory() { asm volatile("" : : : "memory"); }

}  // namespace assay::roofline
#endif  // ASSAY_GPU_ROOFLINE_HOST_ONCE_

#ifdef __EMSCRIPTEN__
namespace assay::roofline {
namespace kernels {
namespace hn = wasm_vectors;
#else
HWY_BEFORE_NAMESPACE();
namespace assay::roofline {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
#endif

// kChains chains of kSteps operations, `rounds` times, each time from the start.
//   starts, ends: [kMostChains, kMostLanes]; a vector's lanes lie side by side.
template <class T, int kChains, bool kFused>
void Chains(int64_t rounds, const T* starts, T* ends) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, static_cast<T>(kFactor));
  const auto addend = hn::Set(d, static_cast<T>(kAddend));
  const auto step = [&](auto x) {
    if constexpr (kFused) {
      return hn::MulAdd(x, factor, addend);
    } else {
      return hn::Add(hn::Mul(x, factor), addend);
    }
  };
  for (int64_t r = 0; r < rounds; ++r) {
    ForgetMemory();
    // Named one by one, since an array would be kept in memory.
    const auto start = [&](size_t chain) {
      return hn::LoadU(d, starts + (chain < kChains ? chain : 0) * kMostLanes);
    };
    auto x0 = start(0), x1 = start(1), x2 = start(2), x3 = start(3), x4 = start(4), x5 = start(5);
    auto x6 = start(6), x7 = start(7), x8 = start(8), x9 = start(9), x10 = start(10),
         x11 = start(11);
    for (int64_t i = 0; i < kSteps; ++i) {
      x0 = step(x0);
      if constexpr (kChains > 1) x1 = step(x1);
      if constexpr (kChains > 2) x2 = step(x2);
      if constexpr (kChains > 3) x3 = step(x3);
      if constexpr (kChains > 4) x4 = step(x4);
      if constexpr (kChains > 5) x5 = step(x5);
      if constexpr (kChains > 6) x6 = step(x6);
      if constexpr (kChains > 7) x7 = step(x7);
      if constexpr (kChains > 8) x8 = step(x8);
      if constexpr (kChains > 9) x9 = step(x9);
      if constexpr (kChains > 10) x10 = step(x10);
      if constexpr (kChains > 11) x11 = step(x11);
    }
    const auto end = [&](size_t chain, auto x) {
      if (chain < kChains) hn::StoreU(x, d, ends + chain * kMostLanes);
    };
    end(0, x0);
    end(1, x1);
    end(2, x2);
    end(3, x3);
    end(4, x4);
    end(5, x5);
    end(6, x6);
    end(7, x7);
    end(8, x8);
    end(9, x9);
    end(10, x10);
    end(11, x11);
  }
  ForgetMemory();
}

template <class T, bool kFused>
void ChainsOf(int chains, int64_t rounds, const T* starts, T* ends) {
  using Function = void (*)(int64_t, const T*, T*);
  static constexpr Function kFunctions[kMostChains] = {
      &Chains<T, 1, kFused>,  &Chains<T, 2, kFused>,  &Chains<T, 3, kFused>,
      &Chains<T, 4, kFused>,  &Chains<T, 5, kFused>,  &Chains<T, 6, kFused>,
      &Chains<T, 7, kFused>,  &Chains<T, 8, kFused>,  &Chains<T, 9, kFused>,
      &Chains<T, 10, kFused>, &Chains<T, 11, kFused>, &Chains<T, 12, kFused>};
  kFunctions[chains - 1](rounds, starts, ends);
}

void ChainsF32(bool fused, int chains, int64_t rounds, const float* starts, float* ends) {
  fused ? ChainsOf<float, true>(chains, rounds, starts, ends)
        : ChainsOf<float, false>(chains, rounds, starts, ends);
}
void ChainsF64(bool fused, int chains, int64_t rounds, const double* starts, double* ends) {
  fused ? ChainsOf<double, true>(chains, rounds, starts, ends)
        : ChainsOf<double, false>(chains, rounds, starts, ends);
}

size_t LanesF32() { return hn::Lanes(hn::ScalableTag<float>()); }
size_t LanesF64() { return hn::Lanes(hn::ScalableTag<double>()); }
#ifdef __EMSCRIPTEN__
const char* Target() { return "WASM"; }
#else
const char* Target() { return hwy::TargetName(HWY_TARGET); }
#endif

// n is a multiple of kMostLanes, and all arrays are aligned for the widest vectors.
void CopyArray(int64_t n, const double* from, double* to) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) hn::Store(hn::Load(d, from + i), d, to + i);
}
void TriadArray(int64_t n, const double* b, const double* c, double scale, double* a) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto s = hn::Set(d, scale);
  for (int64_t i = 0; i < n; i += lanes) {
    hn::Store(hn::MulAdd(s, hn::Load(d, c + i), hn::Load(d, b + i)), d, a + i);
  }
}

#ifdef __EMSCRIPTEN__
}  // namespace kernels
}  // namespace assay::roofline
#else
}  // namespace HWY_NAMESPACE
}  // namespace assay::roofline
HWY_AFTER_NAMESPACE();
#endif

#if defined(__EMSCRIPTEN__) || HWY_ONCE

namespace assay::roofline {
namespace {

#ifndef __EMSCRIPTEN__
HWY_EXPORT(ChainsF32);
HWY_EXPORT(ChainsF64);
HWY_EXPORT(LanesF32);
HWY_EXPORT(LanesF64);
HWY_EXPORT(Target);
HWY_EXPORT(CopyArray);
HWY_EXPORT(TriadArray);
#endif

constexpr size_t kAlignment = 64;  // a line, and the widest vector
constexpr int64_t kLine = 64;
constexpr int64_t kChaseLoads = 4096;

bool Computes(ProbeKind kind) { return kind <= ProbeKind::kMulAddF64; }
bool IsF32(ProbeKind kind) { return kind == ProbeKind::kFmaF32 || kind == ProbeKind::kMulAddF32; }
bool IsFused(ProbeKind kind) { return kind <= ProbeKind::kFmaF64; }
int64_t ArraysOf(ProbeKind kind) { return kind == ProbeKind::kTriad ? 3 : 2; }

// Aligned memory of its own, or none where there is no room for it.
class Block {
 public:
  Block() = default;
  explicit Block(int64_t bytes)
      : memory_(::operator new(static_cast<size_t>(bytes), std::align_val_t(kAlignment),
                               std::nothrow)) {}
  Block(Block&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Block() { ::operator delete(memory_, std::align_val_t(kAlignment), std::nothrow); }

  bool ok() const { return memory_ != nullptr; }
  template <class T>
  T* As() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

double ScaleOf(int64_t round) { return 0.5 + static_cast<double>(round % 8); }
double SmallInteger(int64_t i, int64_t period) { return static_cast<double>(1 + i % period); }

}  // namespace

struct HostProbe::State {
  ProbeSpec spec;
  int64_t rounds = 0;  // run so far
  // Chains.
  std::array<float, kMostChains*kMostLanes> starts_f32 = {}, ends_f32 = {};
  std::array<double, kMostChains*kMostLanes> starts_f64 = {}, ends_f64 = {};
  // Copy and triad: arrays of n elements. Chase: n lines, the first four bytes of each the offset
  // of the next; `order` has the lines in the order of the chase.
  int64_t n = 0;
  Block block, order;
  uint32_t at = 0;

  double* Array(int64_t i) const { return block.As<double>() + i * n; }
  void MakeChase();
  template <class T>
  absl::Status CheckChains(const T* ends, size_t lanes) const;
  absl::Status CheckArrays() const;
};

void HostProbe::State::MakeChase() {
  uint32_t* const lines = order.As<uint32_t>();
  for (int64_t i = 0; i < n; ++i) lines[i] = static_cast<uint32_t>(i);
  Random random(spec.seed);
  for (int64_t i = n - 1; i > 0; --i) std::swap(lines[i], lines[random.Integer(i + 1)]);
  char* const base = block.As<char>();
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t next = lines[(i + 1) % n] * static_cast<uint32_t>(kLine);
    std::memcpy(base + static_cast<int64_t>(lines[i]) * kLine, &next, sizeof(next));
  }
  at = lines[0] * static_cast<uint32_t>(kLine);
}

HostProbe::HostProbe(std::unique_ptr<State> state) : state_(std::move(state)) {}
HostProbe::HostProbe(HostProbe&&) noexcept = default;
HostProbe& HostProbe::operator=(HostProbe&&) noexcept = default;
HostProbe::~HostProbe() = default;

absl::StatusOr<HostProbe> HostProbe::Create(const ProbeSpec& spec) {
  const int kind = static_cast<int>(spec.kind);
  if (kind < 0 || kind >= kProbeKinds) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no probe ", kind, ", expected 0 to ", kProbeKinds - 1));
  }
  auto state = std::make_unique<State>();
  state->spec = spec;
  if (Computes(spec.kind)) {
    if (spec.chains < 1 || spec.chains > kMostChains) {
      return absl::InvalidArgumentError(
          absl::StrCat(spec.chains, " chains, expected 1 to ", kMostChains));
    }
    for (size_t i = 0; i < state->starts_f64.size(); ++i) {
      state->starts_f64[i] = StartOf(static_cast<int>(i / kMostLanes));
      state->starts_f32[i] = static_cast<float>(state->starts_f64[i]);
    }
    return HostProbe(std::move(state));
  }
  if (spec.bytes < 1 || spec.bytes > kMostProbeBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(spec.bytes, " bytes, expected 1 to ", kMostProbeBytes));
  }
  const bool chase = spec.kind == ProbeKind::kChase;
  const int64_t arrays = ArraysOf(spec.kind);
  const int64_t unit = chase ? kLine : arrays * 8 * static_cast<int64_t>(kMostLanes);
  const int64_t units = (spec.bytes - 1) / unit + 1;
  state->n = chase ? units : units * static_cast<int64_t>(kMostLanes);
  state->block = Block(units * unit);
  if (chase) state->order = Block(4 * units);
  if (!state->block.ok() || (chase && !state->order.ok())) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a probe of ", units * unit, " bytes"));
  }
  if (chase) {
    state->MakeChase();
  } else {
    for (int64_t a = 0; a < arrays; ++a) {
      // The last array is the one that is written in a copy, the first one in a triad.
      for (int64_t i = 0; i < state->n; ++i) state->Array(a)[i] = SmallInteger(i, 5 + 2 * a);
    }
  }
  return HostProbe(std::move(state));
}

void HostProbe::Run(int64_t rounds) {
  ASSAY_CHECK_GE(rounds, 0);
  State& s = *state_;
  switch (s.spec.kind) {
    case ProbeKind::kFmaF32:
    case ProbeKind::kMulAddF32:
      ASSAY_PROBE_CALL(ChainsF32)
      (IsFused(s.spec.kind), s.spec.chains, rounds, s.starts_f32.data(), s.ends_f32.data());
      break;
    case ProbeKind::kFmaF64:
    case ProbeKind::kMulAddF64:
      ASSAY_PROBE_CALL(ChainsF64)
      (IsFused(s.spec.kind), s.spec.chains, rounds, s.starts_f64.data(), s.ends_f64.data());
      break;
    case ProbeKind::kCopy:
      for (int64_t r = 0; r < rounds; ++r) {
        ASSAY_PROBE_CALL(CopyArray)(s.n, s.Array(0), s.Array(1));
        ForgetMemory();
      }
      break;
    case ProbeKind::kTriad:
      for (int64_t r = 0; r < rounds; ++r) {
        ASSAY_PROBE_CALL(TriadArray)
        (s.n, s.Array(1), s.Array(2), ScaleOf(s.rounds + r), s.Array(0));
        ForgetMemory();
      }
      break;
    case ProbeKind::kChase: {
      const char* const base = s.block.As<char>();
      uint32_t at = s.at;
      for (int64_t i = 0; i < rounds * kChaseLoads; ++i) {
        std::memcpy(&at, base + at, sizeof(at));
      }
      s.at = at;
      break;
    }
  }
  s.rounds += rounds;
}

ProbeWork HostProbe::PerRound() const {
  const State& s = *state_;
  if (Computes(s.spec.kind)) {
    const size_t lanes =
        IsF32(s.spec.kind) ? ASSAY_PROBE_CALL(LanesF32)() : ASSAY_PROBE_CALL(LanesF64)();
    return {.flops = 2 * kSteps * s.spec.chains * static_cast<int64_t>(lanes)};
  }
  if (s.spec.kind == ProbeKind::kChase) return {.loads = kChaseLoads};
  return {.flops = s.spec.kind == ProbeKind::kTriad ? 2 * s.n : 0,
          .bytes = 8 * ArraysOf(s.spec.kind) * s.n};
}

template <class T>
absl::Status HostProbe::State::CheckChains(const T* ends, size_t lanes) const {
  const T factor = static_cast<T>(kFactor), addend = static_cast<T>(kAddend);
  // Fused or not is the processor's affair, but it has to be the same everywhere.
  bool fused = IsFused(spec.kind), separate = true;
  for (int chain = 0; chain < spec.chains; ++chain) {
    T once = static_cast<T>(StartOf(chain)), twice = once;
    for (int64_t i = 0; i < kSteps; ++i) {
      once = std::fma(once, factor, addend);
      twice = twice * factor + addend;
    }
    for (size_t lane = 0; lane < lanes; ++lane) {
      const T end = ends[static_cast<size_t>(chain) * kMostLanes + lane];
      fused = fused && end == once;
      separate = separate && end == twice;
      if (fused || separate) continue;
      return absl::DataLossError(absl::StrCat("chain ", chain, ", lane ", lane, " ends at ", end,
                                              ", expected ", once, " or ", twice));
    }
  }
  return absl::OkStatus();
}

absl::Status HostProbe::State::CheckArrays() const {
  const bool triad = spec.kind == ProbeKind::kTriad;
  const double* const written = Array(triad ? 0 : 1);
  for (int64_t i = 0; i < n; ++i) {
    // Integers and halves below a thousand: exact, fused or not.
    const double expected =
        triad ? SmallInteger(i, 7) + ScaleOf(rounds - 1) * SmallInteger(i, 9) : SmallInteger(i, 5);
    if (written[i] == expected) continue;
    return absl::DataLossError(
        absl::StrCat("element ", i, " is ", written[i], ", expected ", expected));
  }
  return absl::OkStatus();
}

absl::Status HostProbe::Check() const {
  const State& s = *state_;
  if (s.rounds == 0) return absl::OkStatus();
  if (IsF32(s.spec.kind)) {
    return s.CheckChains(s.ends_f32.data(), ASSAY_PROBE_CALL(LanesF32)());
  }
  if (Computes(s.spec.kind)) {
    return s.CheckChains(s.ends_f64.data(), ASSAY_PROBE_CALL(LanesF64)());
  }
  if (s.spec.kind != ProbeKind::kChase) return s.CheckArrays();
  const int64_t place = s.rounds % s.n * (kChaseLoads % s.n) % s.n;
  const uint32_t expected = s.order.As<uint32_t>()[place] * static_cast<uint32_t>(kLine);
  if (s.at == expected) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the chase stands at byte ", s.at, ", expected ", expected));
}

std::string_view ProbeVectors() { return ASSAY_PROBE_CALL(Target)(); }

}  // namespace assay::roofline

#endif  // __EMSCRIPTEN__ || HWY_ONCE
