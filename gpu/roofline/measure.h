// SPDX-License-Identifier: Apache-2.0
//
// The probes of host.h, timed: the machine's two numbers and the steps of its caches.
#ifndef ASSAY_GPU_ROOFLINE_MEASURE_H_
#define ASSAY_GPU_ROOFLINE_MEASURE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu/roofline/host.h"
#include "gpu/roofline/roofline.h"

namespace assay::roofline {

struct MeasureOptions {
  std::function<int64_t()> now_ns = {};  // a monotonic clock; none: measuring is refused
  int threads = 1;                       // each runs a probe of its own
  int samples = 7;
  int64_t min_sample_ns = 20'000'000;  // a sample repeats rounds until it lasts so long
};

// One probe, timed.
struct Rate {
  ProbeSpec spec = {};
  int threads = 1;
  // Of all threads together, by sample: operations a second of a probe that computes, bytes a
  // second of one that moves, loads a second of the chase.
  std::vector<double> per_second = {};

  // A ceiling is a maximum: what disturbs a sample only makes it slower. 0 without samples.
  double best() const;
  double median() const;  // of the lower two where samples are even
};

// Times one probe: a first run to find how many rounds a sample takes, then the samples, then the
// check of what they computed. spec.bytes is the share of each thread.
// Fails: FailedPrecondition without a clock; InvalidArgument for threads, samples or a time below
// 1; and as HostProbe::Create and Check.
absl::StatusOr<Rate> MeasureRate(const ProbeSpec& spec, const MeasureOptions& options);

struct MeasuredHost {
  Rate fma_f32, fma_f64, mul_add_f32, mul_add_f64;
  Rate copy, triad;         // arrays far beyond every cache
  std::vector<Rate> chase;  // by rising working set
};

// All probes of a machine. Cost: about (6 + chase_bytes.size()) samples min_sample_ns, and half a
// second to make arrays ready.
//   memory_bytes: of copy and triad, for all threads together. chase_bytes: working sets; one
//   thread chases, whatever options.threads says.
// Fails: as MeasureRate.
absl::StatusOr<MeasuredHost> MeasureHost(const MeasureOptions& options, int64_t memory_bytes,
                                         std::span<const int64_t> chase_bytes);

// Working sets from `least` to at most `most` bytes, two to an octave: 4, 5.7, 8, 11.3 KiB ..., in
// whole lines of 64 bytes. least >= 64.
std::vector<int64_t> WorkingSets(int64_t least, int64_t most);

// A machine with these two numbers: fused multiply-adds of f32 and f64, and the triad.
Machine HostMachine(std::string name, const MeasuredHost& host);

// A level of the memory hierarchy as the chase sees it.
struct CacheStep {
  int64_t bytes = 0;   // the largest working set that is answered so fast
  double seconds = 0;  // of one load, at the least in this level
};

// Levels in latencies over rising working sets. A level lasts while a load takes at most 1.4 times
// its fastest one; sets on the slope to the next level, where a load takes over 1.15 times as long
// as one set before, belong to neither. The last level has no end: its bytes are the last set's. A
// smaller set that was slower than a larger one was disturbed, and counts as the larger one does.
//   bytes, measured: of equal length, bytes ascending; seconds of one load.
std::vector<CacheStep> CacheSteps(std::span<const int64_t> bytes, std::span<const double> measured);

}  // namespace assay::roofline

#endif  // ASSAY_GPU_ROOFLINE_MEASURE_H_
