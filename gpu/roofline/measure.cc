// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/measure.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/core/thread_pool.h"

namespace assay::roofline {
namespace {

double UnitsOf(const ProbeWork& work) {
  if (work.loads > 0) return static_cast<double>(work.loads);
  return static_cast<double>(work.bytes > 0 ? work.bytes : work.flops);
}

// The probes of all threads, run together.
class Team {
 public:
  static absl::StatusOr<Team> Create(const ProbeSpec& spec, int threads) {
    Team team;
    for (int t = 0; t < threads; ++t) {
      ProbeSpec own = spec;
      own.seed += static_cast<uint64_t>(t);
      absl::StatusOr<HostProbe> probe = HostProbe::Create(own);
      if (!probe.ok()) return probe.status();
      team.probes_.push_back(*std::move(probe));
    }
    team.pool_ = std::make_unique<ThreadPool>(threads);
    return team;
  }

  void Run(int64_t rounds) {
    pool_->ParallelFor(static_cast<int64_t>(probes_.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) probes_[static_cast<size_t>(t)].Run(rounds);
    });
  }

  double UnitsPerRound() const {
    return UnitsOf(probes_[0].PerRound()) * static_cast<double>(probes_.size());
  }

  absl::Status Check() const {
    for (const HostProbe& probe : probes_) {
      if (absl::Status status = probe.Check(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  std::vector<HostProbe> probes_;
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace

double Rate::best() const {
  return per_second.empty() ? 0 : *std::max_element(per_second.begin(), per_second.end());
}

double Rate::median() const {
  if (per_second.empty()) return 0;
  std::vector<double> sorted = per_second;
  std::stable_sort(sorted.begin(), sorted.end());
  return sorted[(sorted.size() - 1) / 2];
}

absl::StatusOr<Rate> MeasureRate(const ProbeSpec& spec, const MeasureOptions& options) {
  if (!options.now_ns) return absl::FailedPreconditionError("there is no clock to measure by");
  if (options.threads < 1 || options.samples < 1 || options.min_sample_ns < 1) {
    return absl::InvalidArgumentError(absl::StrCat(options.threads, " threads, ", options.samples,
                                                   " samples of ", options.min_sample_ns,
                                                   " ns, expected at least one of each"));
  }
  absl::StatusOr<Team> team = Team::Create(spec, options.threads);
  if (!team.ok()) return team.status();
  const auto timed = [&](int64_t rounds) {
    const int64_t start = options.now_ns();
    team->Run(rounds);
    return options.now_ns() - start;
  };
  // The first run only touches memory and wakes the threads.
  timed(1);
  int64_t rounds = 1;
  while (timed(rounds) < options.min_sample_ns && rounds < (int64_t{1} << 40)) rounds *= 2;
  Rate rate = {.spec = spec, .threads = options.threads};
  for (int i = 0; i < options.samples; ++i) {
    const double seconds = static_cast<double>(std::max<int64_t>(timed(rounds), 1)) * 1e-9;
    rate.per_second.push_back(team->UnitsPerRound() * static_cast<double>(rounds) / seconds);
  }
  if (absl::Status status = team->Check(); !status.ok()) return status;
  return rate;
}

absl::StatusOr<MeasuredHost> MeasureHost(const MeasureOptions& options, int64_t memory_bytes,
                                         std::span<const int64_t> chase_bytes) {
  if (memory_bytes < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("arrays of ", memory_bytes, " bytes, expected at least 1"));
  }
  MeasuredHost host;
  const int64_t share = std::max<int64_t>(1, memory_bytes / std::max(1, options.threads));
  for (const auto& [kind, rate] :
       {std::pair(ProbeKind::kFmaF32, &host.fma_f32), std::pair(ProbeKind::kFmaF64, &host.fma_f64),
        std::pair(ProbeKind::kMulAddF32, &host.mul_add_f32),
        std::pair(ProbeKind::kMulAddF64, &host.mul_add_f64),
        std::pair(ProbeKind::kCopy, &host.copy), std::pair(ProbeKind::kTriad, &host.triad)}) {
    absl::StatusOr<Rate> measured = MeasureRate({.kind = kind, .bytes = share}, options);
    if (!measured.ok()) return measured.status();
    *rate = *std::move(measured);
  }
  MeasureOptions alone = options;
  alone.threads = 1;
  for (const int64_t bytes : chase_bytes) {
    absl::StatusOr<Rate> measured = MeasureRate({.kind = ProbeKind::kChase, .bytes = bytes}, alone);
    if (!measured.ok()) return measured.status();
    host.chase.push_back(*std::move(measured));
  }
  return host;
}

std::vector<int64_t> WorkingSets(int64_t least, int64_t most) {
  ASSAY_CHECK_GE(least, 64);
  std::vector<int64_t> sets;
  for (int64_t octave = least; octave <= most; octave *= 2) {
    sets.push_back(octave / 64 * 64);
    // 181 / 128 is the square root of two to one part in ten thousand.
    const int64_t half = octave / 128 * 181 / 64 * 64;
    if (half > octave && half <= most) sets.push_back(half);
    if (octave > most / 2) break;
  }
  return sets;
}

Machine HostMachine(std::string name, const MeasuredHost& host) {
  Machine machine;
  machine.name = std::move(name);
  machine.flops_per_s[static_cast<size_t>(Precision::kF64)] = host.fma_f64.best();
  machine.flops_per_s[static_cast<size_t>(Precision::kF32)] = host.fma_f32.best();
  machine.bytes_per_s = host.triad.best();
  return machine;
}

std::vector<CacheStep> CacheSteps(std::span<const int64_t> bytes,
                                  std::span<const double> measured) {
  ASSAY_CHECK_EQ(bytes.size(), measured.size());
  std::vector<double> seconds(measured.begin(), measured.end());
  for (size_t i = seconds.size(); i-- > 1;) seconds[i - 1] = std::min(seconds[i - 1], seconds[i]);
  constexpr double kSame = 1.4, kSlope = 1.15;
  std::vector<CacheStep> steps;
  bool on_slope = true;  // before the first set there is no level
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (!on_slope && seconds[i] <= kSame * steps.back().seconds) {
      steps.back().bytes = bytes[i];
      steps.back().seconds = std::min(steps.back().seconds, seconds[i]);
      continue;
    }
    // A new level begins where the next set is no slower, and with the last set of all.
    on_slope = i + 1 < bytes.size() && seconds[i + 1] > kSlope * seconds[i];
    if (!on_slope) steps.push_back({.bytes = bytes[i], .seconds = seconds[i]});
  }
  return steps;
}

}  // namespace assay::roofline
