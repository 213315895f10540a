// SPDX-License-Identifier: Apache-2.0
//
// The two numbers of the machine that runs this, and the steps of its caches: loops that do nothing
// but compute, or move, or wait for memory. A probe runs as long as it is told to and says how much
// it did; whoever calls holds the clock, since a WebAssembly module has none.
//
//   auto probe = HostProbe::Create({.kind = ProbeKind::kTriad, .bytes = 192 << 20});
//   probe->Run(8);                                   // warm up; timed from outside
//   probe->PerRound().bytes * 8 / seconds;           // bytes a second
//   probe->Check();                                  // did it do what it says?
//
// Compiled once for each set of vector instructions and chosen when it runs (Highway); 128-bit
// vectors in WebAssembly. Not exact: a fused multiply-add where the processor has one.
//
// Sources: Y. J. Lo et al., "Roofline model toolkit: a practical tool for architectural and program
// analysis", PMBS 2014 (the two ceilings by micro-kernels); J. D. McCalpin, "Memory bandwidth and
// machine balance in current high performance computers", 1995 (copy and triad); L. McVoy,
// C. Staelin, "lmbench", 1996 (the chase).
#ifndef ASSAY_GPU_ROOFLINE_HOST_H_
#define ASSAY_GPU_ROOFLINE_HOST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::roofline {

enum class ProbeKind : int {
  kFmaF32 = 0,  // fused multiply-adds, or what stands for them here
  kFmaF64 = 1,
  kMulAddF32 = 2,  // a multiplication, then an addition, never fused
  kMulAddF64 = 3,
  kCopy = 4,   // b = a, f64
  kTriad = 5,  // a = b + s c, f64
  kChase = 6,  // each load says where the next one is
};
constexpr int kProbeKinds = 7;

// At most so many bytes in one probe; far more than any cache, and what WebAssembly can hold.
constexpr int64_t kMostProbeBytes = int64_t{1} << 30;

struct ProbeSpec {
  ProbeKind kind = ProbeKind::kFmaF32;
  // Of the four kinds that compute: independent chains of operations, 1 to 12. Each result is
  // needed by the next operation of its chain, so few chains wait for the latency.
  int chains = 12;
  // Of the three that move: all arrays together, kMostProbeBytes at most. Rounded up to whole
  // vectors, or to whole lines of 64 bytes.
  int64_t bytes = 0;
  uint64_t seed = 1;  // of the order of the chase
};

// What one round does. In copy and triad each element is read or written once; the bytes that a
// cache reads before it writes are not counted, as McCalpin does not.
struct ProbeWork {
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t loads = 0;  // of the chase, each waiting for the one before
};

class HostProbe {
 public:
  // Makes arrays ready and touches every page of them.
  // Fails: InvalidArgument for an unknown kind, chains outside 1 to 12, bytes outside 1 to the
  // most; ResourceExhausted where memory is not there.
  static absl::StatusOr<HostProbe> Create(const ProbeSpec& spec);

  HostProbe(HostProbe&&) noexcept;
  HostProbe& operator=(HostProbe&&) noexcept;
  ~HostProbe();

  // Runs `rounds` >= 0 rounds. A round computes 4,096 times in each chain, goes once through the
  // arrays, or makes 4,096 loads.
  void Run(int64_t rounds);

  ProbeWork PerRound() const;

  // Compares the results with those of plain loops: every chain's last value, every element, the
  // place where the chase stands. Fails with DataLoss and what was found.
  absl::Status Check() const;

 private:
  struct State;
  explicit HostProbe(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Highway's name of the vectors in use: "AVX3", "AVX2", "SSE4", ...; "WASM" in WebAssembly.
std::string_view ProbeVectors();

}  // namespace assay::roofline

#endif  // ASSAY_GPU_ROOFLINE_HOST_H_
