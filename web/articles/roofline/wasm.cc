// SPDX-License-Identifier: Apache-2.0
//
// The C face of <assay-roofline>: machines, placements, and the probes that the reader's browser
// runs. Functions return 0 or a code that message() explains. Not for several threads.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu/model/machine.h"
#include "gpu/roofline/host.h"
#include "gpu/roofline/machines.h"
#include "gpu/roofline/power_limit.h"
#include "gpu/roofline/roofline.h"
#include "gpu/roofline/work.h"
#include "numerics/core/check.h"
#include "web/articles/roofline/operations.h"
#include "web/articles/roofline/warp.h"

namespace {

using assay::roofline::HostProbe;
using assay::roofline::Machine;
using assay::roofline::Placement;
using assay::roofline::Precision;
using assay::roofline::Work;
using assay::roofline_page::Operation;

enum Code : int {
  kOk = 0,
  kBadCpu = 1,
  kBadOperation = 2,
  kBadBatch = 3,
  kBadIntensity = 4,
  kBadBytes = 5,
  kBadRate = 6,
  kBadProbe = 7,
  kNoMemory = 8,
  kNoProbe = 9,
  kBadRounds = 10,
  kWrong = 11,
  kBadStride = 12,
  kRefused = 13,
  kBadWatts = 14,
};

// In the order of demo.ts. The first is the one that leads of nineteen and eleven imply.
constexpr std::array<const char*, 6> kCpus = {"",         "Intel i7-1360P", "AMD Ryzen 9 7950X",
                                              "Apple M2", "AMD EPYC 7763",  "Intel Xeon Gold 6330"};
constexpr int32_t kOwn = assay::roofline_page::kOperations;  // the operation that is dragged
constexpr double kMostOperations = 0x1p60;

Machine CpuOf(int32_t cpu) {
  if (cpu == 0) {
    return assay::roofline::CpuRoof(assay::model::Cpu("CPU implied by the articles"));
  }
  return PublishedRoof(assay::roofline::FindPublished(kCpus[static_cast<size_t>(cpu)]));
}

// T4 within the limit, H200, CPU, and the reader's machine with these two numbers.
std::array<Machine, 4> Machines(double watts, int32_t cpu, double own_flops, double own_bytes) {
  const absl::StatusOr<Machine> t4 =
      assay::roofline::RoofWithin(assay::model::Gpu("NVIDIA T4"), watts);
  ASSAY_CHECK(t4.ok());  // the limit has been looked at, and the T4's file knows its clocks
  std::array<Machine, 4> machines = {
      *t4, assay::roofline::SustainedRoof(assay::model::Gpu("NVIDIA H200")), CpuOf(cpu), Machine()};
  machines[3].flops_per_s[static_cast<size_t>(Precision::kF32)] = own_flops;
  machines[3].bytes_per_s = own_bytes;
  return machines;
}

bool IsCpu(int32_t cpu) { return cpu >= 0 && cpu < static_cast<int32_t>(kCpus.size()); }
bool IsLimit(double watts) { return watts >= 70 && watts <= 250; }
bool IsRate(double rate) { return rate >= 0 && rate <= 1e18; }

std::optional<HostProbe>& Probe() {
  static std::optional<HostProbe> probe;
  return probe;
}

}  // namespace

extern "C" {

void* alloc(uint32_t n) { return std::malloc(n); }
void dealloc(void* p) { std::free(p); }

const char* message(int code) {
  switch (code) {
    case kOk:
      return "ok";
    case kBadCpu:
      return "there is no CPU of this number";
    case kBadOperation:
      return "there is no operation of this number";
    case kBadBatch:
      return "the batch must lie in 1 to 4096";
    case kBadIntensity:
      return "operations a byte must lie in 0.001 to 100000";
    case kBadBytes:
      return "bytes must lie in 1 to 2^40";
    case kBadRate:
      return "a machine's rate must lie in 0 to 10^18 a second";
    case kBadProbe:
      return "there is no such probe, or it is too large";
    case kNoMemory:
      return "this browser has no memory for the probe";
    case kNoProbe:
      return "open a probe before running it";
    case kBadRounds:
      return "rounds must lie in 0 to 2^30";
    case kWrong:
      return "a probe has computed something wrong";
    case kBadStride:
      return "the stride must lie in 0 to 64 and the offset in 0 to 31";
    case kRefused:
      return "the simulator refused the kernel";
    case kBadWatts:
      return "the power limit must lie in 70 to 250 W";
  }
  return "unknown code";
}

// Two numbers and two costs of each machine.
//   watts: the T4's power limit, 70 to 250.
//   out: [4, 5] for T4, H200, CPU and the T4's data sheet: f32 operations a second, f16 operations
//   a second (0: none), bytes a second, seconds of a launch, bytes a second over the link (0:
//   none).
int machines(double watts, int32_t cpu, double* out) {
  if (!IsLimit(watts)) return kBadWatts;
  if (!IsCpu(cpu)) return kBadCpu;
  std::array<Machine, 4> all = Machines(watts, cpu, 0, 0);
  all[3] = assay::roofline::DatasheetRoof(assay::model::Gpu("NVIDIA T4"));
  for (const Machine& machine : all) {
    *out++ = machine.peak(Precision::kF32);
    *out++ = machine.peak(Precision::kF16);
    *out++ = machine.bytes_per_s;
    *out++ = machine.fixed_s;
    *out++ = machine.link_bytes_per_s;
  }
  return kOk;
}

// Places one operation on every machine.
//   watts: the T4's power limit, 70 to 250.
//   operation: 0 to 6 as in operations.h, or 7 for one with this intensity and these bytes.
//   half: 1 for f16 on tensor cores; CPU and reader's machine stay with f32.
//   over_link: 1 where the data come from the host and go back there.
//   own_flops, own_bytes: the reader's two numbers; 0: not known.
//   work: [3] operations, bytes (as the T4 has them) and operations a byte.
//   out: [4, 7] for T4, H200, CPU, reader: seconds computing, moving, over the link, starting, all;
//   what it waits for (0 computing, 1 memory, 2 link, 3 starting); operations a second. All 0 for a
//   machine that is not known.
int place(double watts, int32_t cpu, int32_t operation, int32_t half, int32_t batch,
          double intensity, double bytes, int32_t over_link, double own_flops, double own_bytes,
          double* work, double* out) {
  if (!IsLimit(watts)) return kBadWatts;
  if (!IsCpu(cpu)) return kBadCpu;
  if (operation < 0 || operation > kOwn) return kBadOperation;
  if (batch < 1 || batch > assay::roofline_page::kMostBatch) return kBadBatch;
  if (!(intensity >= 1e-3 && intensity <= 1e5)) return kBadIntensity;
  if (!(bytes >= 1 && bytes <= 0x1p40)) return kBadBytes;
  if (!IsRate(own_flops) || !IsRate(own_bytes)) return kBadRate;
  if (intensity * bytes > kMostOperations) return kBadBytes;
  const std::array<Machine, 4> all = Machines(watts, cpu, own_flops, own_bytes);
  for (size_t m = 0; m < all.size(); ++m) {
    const Precision precision = half != 0 && m < 2 ? Precision::kF16 : Precision::kF32;
    Work all_work;
    if (operation == kOwn) {
      all_work.flops = static_cast<int64_t>(intensity * bytes + 0.5);
      all_work.bytes_read = static_cast<int64_t>(bytes + 0.5);
    } else {
      all_work = WorkOf(static_cast<Operation>(operation), precision, batch);
    }
    if (m == 0) {
      work[0] = static_cast<double>(all_work.flops);
      work[1] = static_cast<double>(all_work.bytes());
      work[2] = assay::roofline::Intensity(all_work);
    }
    double* const row = out + 7 * m;
    for (int i = 0; i < 7; ++i) row[i] = 0;
    const bool device = m < 2;
    const absl::StatusOr<Placement> found =
        Place(all[m], precision, all_work, device && over_link != 0 ? all_work.bytes() : 0);
    if (!found.ok()) continue;  // a machine without numbers
    row[0] = found->compute_s;
    row[1] = found->memory_s;
    row[2] = found->link_s;
    row[3] = found->fixed_s;
    row[4] = found->total_s;
    row[5] = static_cast<double>(found->bound);
    row[6] = found->flops_per_s;
  }
  return kOk;
}

// Makes a probe ready (host.h) and closes the one before.
//   work: [3] operations, bytes and dependent loads of one round.
int probe_open(int32_t kind, int32_t chains, double bytes, double* work) {
  Probe().reset();  // its memory goes first
  if (kind < 0 || kind >= assay::roofline::kProbeKinds || !(bytes >= 0 && bytes <= 0x1p30)) {
    return kBadProbe;
  }
  absl::StatusOr<HostProbe> probe =
      HostProbe::Create({.kind = static_cast<assay::roofline::ProbeKind>(kind),
                         .chains = chains,
                         .bytes = static_cast<int64_t>(bytes)});
  if (absl::IsResourceExhausted(probe.status())) return kNoMemory;
  if (!probe.ok()) return kBadProbe;
  const assay::roofline::ProbeWork round = probe->PerRound();
  work[0] = static_cast<double>(round.flops);
  work[1] = static_cast<double>(round.bytes);
  work[2] = static_cast<double>(round.loads);
  Probe() = *std::move(probe);
  return kOk;
}

// Runs the open probe. The page times this call.
int probe_run(int32_t rounds) {
  if (!Probe()) return kNoProbe;
  if (rounds < 0 || rounds > 1 << 30) return kBadRounds;
  Probe()->Run(rounds);
  return kOk;
}

// Checks what the open probe computed and closes it.
int probe_close() {
  if (!Probe()) return kNoProbe;
  const bool right = Probe()->Check().ok();
  Probe().reset();
  return right ? kOk : kWrong;
}

// One warp reads 32 numbers by a simulated kernel (warp.h).
//   shared: 1 for shared memory, 0 for global. shuffled: 1 for another order of the lanes.
//   places: [32] the place that each lane reads. facts: [6] requests, distinct bytes asked for,
//   sectors of 32 bytes, lines of 128, passes over the banks, and 1 if each lane got its number.
int warp(int32_t shared, int32_t stride, int32_t offset, int32_t shuffled, int32_t* places,
         double* facts) {
  if (stride < 0 || stride > 64 || offset < 0 || offset > 31) return kBadStride;
  const assay::roofline_page::Places wanted =
      assay::roofline_page::StridedPlaces(stride, offset, shuffled != 0, 1);
  const auto traffic = shared != 0 ? assay::roofline_page::ReadSharedMemory(wanted)
                                   : assay::roofline_page::ReadGlobalMemory(wanted);
  if (!traffic.ok()) return kRefused;
  for (size_t lane = 0; lane < wanted.size(); ++lane) places[lane] = wanted[lane];
  facts[0] = static_cast<double>(traffic->requests);
  facts[1] = static_cast<double>(traffic->bytes);
  facts[2] = static_cast<double>(traffic->sectors);
  facts[3] = static_cast<double>(traffic->lines);
  facts[4] = static_cast<double>(traffic->wavefronts);
  facts[5] = traffic->right ? 1 : 0;
  return kOk;
}

}  // extern "C"
