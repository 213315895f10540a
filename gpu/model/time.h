// SPDX-License-Identifier: Apache-2.0
// How long a launch takes: every unit of the GPU gets its work and says how long it needs; the
// slowest decides.
//
//   t = launch + max(device memory, max(issue, pipes, load-store, tags, L2, path) / efficiency)
//
// Units of an SM work on the blocks of the busiest SM, at the clock that the power limit leaves
// (power.h). `path` is how long the waves of blocks take when each step waits for its data:
// Little's law, since waves x latency is all requests over those in flight. `efficiency` is how
// much of this bound real kernels reach: one number for a machine, from published kernels. Method:
// the roofline with more roofs (Williams, Waterman, Patterson, "Roofline", 2009), latency after
// Volkov ("Understanding latency hiding on GPUs", 2016).
#ifndef ASSAY_GPU_MODEL_TIME_H_
#define ASSAY_GPU_MODEL_TIME_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu/model/cache.h"
#include "gpu/model/machine.h"
#include "gpu/model/mix.h"
#include "gpu/simt/counters.h"
#include "gpu/simt/occupancy.h"

namespace assay::model {

// Memory accesses of one kind, over the whole grid.
struct AccessWork {
  double requests = 0;  // warp instructions
  double passes = 0;    // of 128 bytes through the data path, bank conflicts included
  double lines = 0;     // global memory: L1 tags looked up
};

// What a launch does. Counts are of the whole grid; they may be averages and so fractions.
struct KernelWork {
  int64_t blocks = 0;
  int threads = 0;  // a block
  simt::KernelResources resources;
  int64_t dynamic_shared = 0;  // bytes a block

  std::array<double, kPipes> instructions{};  // warp instructions by Pipe
  double tensor_fp16_flops = 0;               // of HMMA, in operations
  double tensor_int8_ops = 0;                 // of IMMA; 4-bit operations count half
  std::vector<AccessWork> accesses;
  double l2_bytes = 0;    // between L1s and L2
  double dram_bytes = 0;  // between L2 and device memory

  // How often a block waits, one after the other, for global and for shared memory.
  double global_waits = 0;
  double shared_waits = 0;
  bool barriers = false;    // all warps of a block wait together
  bool overlapped = false;  // the next step's data is on its way while this one is computed
  double l1_hit_share = 0;  // of the waits
  double l2_hit_share = 0;  // of those that L1 does not serve
};

// The instruction side of a kernel's work, from its mix. trips: how often the body of each loop
// runs in one warp, as many as mix.loops; trips[0] = 1. A loop with a global load waits once a
// pass, however many loads it has; likewise for shared memory. Accesses, traffic, blocks of more
// than one kernel and `overlapped` are left to the caller. Fails: InvalidArgument for another
// number of trips, a negative or infinite one, blocks < 1, threads < 1.
absl::StatusOr<KernelWork> WorkOf(const KernelMix& mix, std::span<const double> trips,
                                  int64_t blocks, int threads);

// Adds the memory accesses that the simulator counted, `scale` times: grid blocks over blocks that
// ran. Every warp moves 128 bytes a pass at most, as many as its lanes ask for.
void AddAccesses(const simt::LaunchCounters& counters, double scale, KernelWork* work);

// Adds what caches did, `scale` times, and the hit shares.
void AddTraffic(const Traffic& traffic, double scale, KernelWork* work);

enum class Term {
  kLaunch,
  kIssue,  // all warp instructions
  kFma,
  kAlu,
  kFp64,
  kSpecial,
  kTensor,
  kLoadStore,  // addresses and data of L1 and shared memory
  kTags,
  kL2,
  kDram,
  kPath,  // waiting, wave after wave
};
constexpr int kTerms = 12;

// "launch", "issue", "fma", ..., "device memory", "latency".
absl::string_view TermName(Term term);

struct TimeOptions {
  bool power_limit = true;  // false: always the boost clock
  double efficiency = 0;    // 0: the machine's
};

struct TimeEstimate {
  double seconds = 0;
  std::array<double, kTerms> terms{};  // s each, by Term, before the efficiency
  Term binding = Term::kLaunch;        // the largest of them, and the next
  Term runner_up = Term::kLaunch;
  double efficiency = 0;
  simt::Occupancy occupancy;
  int64_t waves = 0;
  double tail_efficiency = 0;  // blocks over what the waves have room for
  double clock = 0;            // Hz
  double watts = 0;
  bool power_limited = false;  // clock below boost
  bool over_limit = false;     // more watts than the board may draw, even at the base clock
};

// The time of a launch on a GPU. Same bits on every machine. Cost: O(accesses clocks).
// Fails: InvalidArgument for work that is negative or not finite, and for a launch that the GPU
// would refuse; NotFound for an architecture without a table.
absl::StatusOr<TimeEstimate> EstimateTime(const GpuMachine& gpu, const KernelWork& work,
                                          const TimeOptions& options = {});

// The time of `flops` f32 operations over `bytes` of memory on a CPU: the roofline and the fixed
// cost.
double CpuSeconds(const CpuMachine& cpu, double flops, double bytes);

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_TIME_H_
