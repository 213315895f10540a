// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gpu/model/power.h"
#include "numerics/core/check.h"

namespace assay::model {
namespace {

constexpr double kWarp = 32;
constexpr double kPassBytes = 128;
constexpr double kSectorBytes = 32;

absl::Status Bad(absl::string_view what, double value) {
  return absl::InvalidArgumentError(absl::StrCat("time model: ", what, " is ", value));
}

size_t At(Term term) { return static_cast<size_t>(term); }
size_t At(Pipe pipe) { return static_cast<size_t>(pipe); }

absl::Status CheckWork(const KernelWork& work) {
  if (work.blocks < 1) return Bad("number of blocks", static_cast<double>(work.blocks));
  const auto bad = [](double value) { return !(value >= 0 && std::isfinite(value)); };
  for (const double count : work.instructions) {
    if (bad(count)) return Bad("a number of instructions", count);
  }
  for (const AccessWork& access : work.accesses) {
    for (const double count : {access.requests, access.passes, access.lines}) {
      if (bad(count)) return Bad("a number of accesses", count);
    }
  }
  for (const double amount : {work.tensor_fp16_flops, work.tensor_int8_ops, work.l2_bytes,
                              work.dram_bytes, work.global_waits, work.shared_waits}) {
    if (bad(amount)) return Bad("an amount of work", amount);
  }
  for (const double share : {work.l1_hit_share, work.l2_hit_share}) {
    if (bad(share) || share > 1) return Bad("a hit share", share);
  }
  return absl::OkStatus();
}

// Clocks that one SM would need for everything, unit by unit. Only the terms of an SM are set.
std::array<double, kTerms> SmClocks(const GpuMachine& gpu, const KernelWork& work) {
  std::array<double, kTerms> clocks{};
  double all = 0;
  for (const double count : work.instructions) all += count;
  clocks[At(Term::kIssue)] = all / gpu.issue_per_clock;
  clocks[At(Term::kFma)] = work.instructions[At(Pipe::kFma)] * kWarp / gpu.fp32_lanes;
  clocks[At(Term::kAlu)] = work.instructions[At(Pipe::kAlu)] * kWarp / gpu.int32_lanes;
  clocks[At(Term::kFp64)] = work.instructions[At(Pipe::kFp64)] * kWarp / gpu.fp64_lanes;
  clocks[At(Term::kSpecial)] = work.instructions[At(Pipe::kSpecial)] * kWarp / gpu.special_lanes;
  clocks[At(Term::kTensor)] = (work.tensor_fp16_flops / gpu.tensor_fp16_flops +
                               work.tensor_int8_ops / gpu.tensor_int8_ops) /
                              gpu.tensor_mma_share;
  // An access takes the time of its addresses or of its data, whichever is longer. Load-store
  // instructions that touch no counted memory, such as shuffles, have addresses alone.
  const double address = kWarp / gpu.lsu_lanes;
  double others = work.instructions[At(Pipe::kLoadStore)];
  for (const AccessWork& access : work.accesses) {
    clocks[At(Term::kLoadStore)] +=
        std::max(access.requests * address, access.passes * kPassBytes / gpu.l1_bytes);
    clocks[At(Term::kTags)] += access.lines / gpu.tag_lines;
    others -= access.requests;
  }
  clocks[At(Term::kLoadStore)] += std::max(0.0, others) * address;
  return clocks;
}

double Largest(const std::array<double, kTerms>& terms) {
  return *std::max_element(terms.begin(), terms.end());
}

// What does not depend on the clock that is tried.
struct Launch {
  double busiest_blocks = 0;  // on the SM with most
  double waves = 0;
};

std::array<double, kTerms> TermsAt(const GpuMachine& gpu, const KernelWork& work,
                                   const Launch& launch, double clock) {
  const std::array<double, kTerms> clocks = SmClocks(gpu, work);
  const auto blocks = static_cast<double>(work.blocks);
  std::array<double, kTerms> terms{};
  for (size_t i = 0; i < terms.size(); ++i) {
    terms[i] = clocks[i] / blocks * launch.busiest_blocks / clock;
  }
  terms[At(Term::kLaunch)] = gpu.launch_overhead;
  // L2 shares the SMs' clock; device memory has its own, and so has its latency.
  terms[At(Term::kL2)] = work.l2_bytes / (gpu.l2_bandwidth * clock / gpu.boost_clock);
  terms[At(Term::kDram)] = work.dram_bytes / gpu.dram_bandwidth;

  // A block that waits together does nothing while it waits, and all it does afterwards; without
  // barriers each warp waits for itself, and its own work is that of one of four partitions.
  const double warps = std::ceil(work.threads / kWarp);
  const double together = Largest(clocks) / blocks / clock;
  const double busy = work.barriers ? together : together * std::min(1.0, 4 / warps);
  const double beyond_l1 = work.l2_hit_share * gpu.l2_latency / clock +
                           (1 - work.l2_hit_share) * gpu.dram_latency / gpu.boost_clock;
  const double waiting = work.global_waits * (work.l1_hit_share * gpu.l1_latency / clock +
                                              (1 - work.l1_hit_share) * beyond_l1) +
                         work.shared_waits * gpu.shared_latency / clock;
  terms[At(Term::kPath)] =
      launch.waves * (work.overlapped ? std::max(waiting, busy) : waiting + busy);
  return terms;
}

// How long each term really takes. The launch and the bandwidth of device memory are measured as
// they are reached; the others are bounds, of which real kernels reach a part.
std::array<double, kTerms> Reached(std::array<double, kTerms> terms, double efficiency) {
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i != At(Term::kLaunch) && i != At(Term::kDram)) terms[i] /= efficiency;
  }
  return terms;
}

double Total(const std::array<double, kTerms>& terms, double efficiency) {
  std::array<double, kTerms> running = Reached(terms, efficiency);
  running[At(Term::kLaunch)] = 0;
  return terms[At(Term::kLaunch)] + Largest(running);
}

}  // namespace

absl::string_view TermName(Term term) {
  constexpr const char* kNames[kTerms] = {"launch", "issue",   "fma",           "alu",
                                          "fp64",   "special", "tensor",        "load-store",
                                          "tags",   "L2",      "device memory", "latency"};
  return kNames[At(term)];
}

absl::StatusOr<KernelWork> WorkOf(const KernelMix& mix, std::span<const double> trips,
                                  int64_t blocks, int threads) {
  if (trips.size() != mix.loops.size()) {
    return absl::InvalidArgumentError(absl::StrCat("time model: ", trips.size(),
                                                   " trip counts for ", mix.loops.size(),
                                                   " loops of ", mix.name));
  }
  if (blocks < 1) return Bad("number of blocks", static_cast<double>(blocks));
  if (threads < 1) return Bad("number of threads", threads);
  KernelWork work;
  work.blocks = blocks;
  work.threads = threads;
  work.resources.registers = mix.registers;
  work.resources.static_shared = mix.static_shared;
  const double warps = static_cast<double>(blocks) * std::ceil(threads / kWarp);
  for (size_t i = 0; i < trips.size(); ++i) {
    if (!(trips[i] >= 0 && std::isfinite(trips[i]))) return Bad("a trip count", trips[i]);
    bool waits_for_global = false;
    bool waits_for_shared = false;
    for (const InstructionCount& count : mix.loops[i].instructions) {
      const InstructionKind kind = KindOf(count.name);
      const double executed = static_cast<double>(count.count) * trips[i] * warps;
      work.instructions[At(kind.pipe)] += executed;
      const double flops = executed * static_cast<double>(kind.flops);
      if (absl::StartsWith(count.name, "HMMA")) work.tensor_fp16_flops += flops;
      if (absl::StartsWith(count.name, "IMMA")) {
        work.tensor_int8_ops += count.name == "IMMA.8832" ? flops / 2 : flops;
      }
      if (kind.global_load) waits_for_global = true;
      if (absl::StartsWith(count.name, "LDS")) waits_for_shared = true;
      if (absl::StartsWith(count.name, "BAR")) work.barriers = true;
    }
    if (waits_for_global) work.global_waits += trips[i];
    if (waits_for_shared) work.shared_waits += trips[i];
  }
  return work;
}

void AddAccesses(const simt::LaunchCounters& counters, double scale, KernelWork* work) {
  for (const simt::AccessCounters& counted : counters.accesses) {
    AccessWork access;
    access.requests = static_cast<double>(counted.requests) * scale;
    if (counted.space == simt::Space::kShared) {
      access.passes = static_cast<double>(counted.wavefronts) * scale;
    } else {
      const double moved = static_cast<double>(counted.lanes) * counted.width * scale / kPassBytes;
      access.passes = std::max(access.requests, moved);
      access.lines = static_cast<double>(counted.lines) * scale;
    }
    work->accesses.push_back(access);
  }
}

void AddTraffic(const Traffic& traffic, double scale, KernelWork* work) {
  const auto l2 = static_cast<double>(traffic.l2_reads + traffic.l2_writes);
  const auto dram = static_cast<double>(traffic.dram_reads + traffic.dram_writes);
  work->l2_bytes += l2 * kSectorBytes * scale;
  work->dram_bytes += dram * kSectorBytes * scale;
  work->l1_hit_share = std::max(0.0, traffic.l1_hit_share());
  work->l2_hit_share = std::max(0.0, traffic.l2_hit_share());
}

absl::StatusOr<TimeEstimate> EstimateTime(const GpuMachine& gpu, const KernelWork& work,
                                          const TimeOptions& options) {
  const absl::Status checked = CheckWork(work);
  if (!checked.ok()) return checked;
  TimeEstimate estimate;
  estimate.efficiency = options.efficiency == 0 ? gpu.efficiency : options.efficiency;
  if (!(estimate.efficiency > 0 && estimate.efficiency <= 1)) {
    return Bad("efficiency", estimate.efficiency);
  }
  const absl::StatusOr<simt::Architecture> architecture =
      simt::FindArchitecture(gpu.compute_capability);
  if (!architecture.ok()) return architecture.status();
  const absl::StatusOr<simt::Occupancy> occupancy =
      simt::ComputeOccupancy(*architecture, work.resources, work.threads, work.dynamic_shared);
  if (!occupancy.ok()) return occupancy.status();
  if (occupancy->blocks == 0) {
    return absl::InvalidArgumentError(absl::StrCat("time model: no block fits on an SM of ",
                                                   gpu.name, ", limited by ",
                                                   simt::LimiterName(occupancy->limiter)));
  }
  estimate.occupancy = *occupancy;
  const int64_t room = int64_t{gpu.sm_count} * occupancy->blocks;
  estimate.waves = (work.blocks - 1) / room + 1;
  estimate.tail_efficiency = static_cast<double>(work.blocks) /
                             (static_cast<double>(estimate.waves) * static_cast<double>(room));
  const Launch launch = {static_cast<double>((work.blocks - 1) / gpu.sm_count + 1),
                         static_cast<double>(estimate.waves)};

  const PowerModel power = FitPower(gpu);
  const auto steps = static_cast<int>((gpu.boost_clock - gpu.base_clock) / gpu.clock_step);
  for (int step = 0;; ++step) {
    estimate.clock = gpu.boost_clock - step * gpu.clock_step;
    estimate.terms = TermsAt(gpu, work, launch, estimate.clock);
    estimate.seconds = Total(estimate.terms, estimate.efficiency);
    const double fp32_busy = estimate.terms[At(Term::kFma)] / estimate.seconds;
    const double tensor_busy = estimate.terms[At(Term::kTensor)] / estimate.seconds;
    estimate.watts = Power(gpu, power, estimate.clock, fp32_busy, tensor_busy,
                           work.dram_bytes / estimate.seconds);
    estimate.power_limited = step > 0;
    estimate.over_limit = estimate.watts > gpu.power_limit * (1 + 1e-9);
    if (!options.power_limit || !estimate.over_limit || step == steps) break;
  }

  std::array<double, kTerms> reached = Reached(estimate.terms, estimate.efficiency);
  const auto first = std::max_element(reached.begin(), reached.end());
  estimate.binding = static_cast<Term>(first - reached.begin());
  *first = -1;
  estimate.runner_up =
      static_cast<Term>(std::max_element(reached.begin(), reached.end()) - reached.begin());
  return estimate;
}

double CpuSeconds(const CpuMachine& cpu, double flops, double bytes) {
  ASSAY_CHECK(flops >= 0 && bytes >= 0);
  return cpu.fixed_cost + std::max(flops / cpu.flops, bytes / cpu.bandwidth);
}

}  // namespace assay::model
