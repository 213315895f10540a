// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/occupancy.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace assay::simt {
namespace {

using A = Architecture;

constexpr int64_t kKib = 1024;
constexpr int64_t kLargest = int64_t{1} << 30;

constexpr int kTuring[] = {32, 64};
constexpr int kAmpere80[] = {0, 8, 16, 32, 64, 100, 132, 164};
constexpr int kAmpere86[] = {0, 8, 16, 32, 64, 100};
constexpr int kHopper[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

constexpr Architecture kArchitectures[] = {
    {75, 1024, 16, 64 * kKib, 64 * kKib, 0, 256, kTuring},
    {80, 2048, 32, 164 * kKib, 163 * kKib, kKib, 128, kAmpere80},
    {86, 1536, 16, 100 * kKib, 99 * kKib, kKib, 128, kAmpere86},
    {89, 1536, 24, 100 * kKib, 99 * kKib, kKib, 128, kAmpere86},
    {90, 2048, 32, 228 * kKib, 227 * kKib, kKib, 128, kHopper},
};

constexpr int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// The smallest carve-out of at least `bytes`; the largest if none is.
int64_t CarveOut(const A& architecture, int64_t bytes) {
  for (const int kib : architecture.carve_outs_kib) {
    if (kib * kKib >= bytes) return kib * kKib;
  }
  return architecture.shared_per_sm;
}

int BlocksByRegisters(const KernelResources& kernel, int64_t warps, int64_t per_warp) {
  if (kernel.registers > A::kMaxRegistersPerThread) return 0;
  if (per_warp == 0) return kNoLimit;
  const int64_t warps_per_partition = A::kRegistersPerSm / A::kPartitions / per_warp;
  return static_cast<int>(warps_per_partition * A::kPartitions / warps);
}

int BlocksByShared(const A& architecture, const KernelResources& kernel, int64_t dynamic_shared,
                   int64_t per_block) {
  const int64_t max_dynamic = kernel.max_dynamic_shared >= 0
                                  ? kernel.max_dynamic_shared
                                  : std::max<int64_t>(0, A::kSharedPerBlock - kernel.static_shared);
  if (dynamic_shared > max_dynamic) return 0;
  // Who may reach beyond 48 KiB is held to the opt-in limit instead.
  const bool opted_in = kernel.static_shared + max_dynamic > A::kSharedPerBlock;
  const int64_t limit = opted_in ? architecture.shared_opt_in : A::kSharedPerBlock;
  if (per_block > limit + architecture.shared_reserved) return 0;
  if (per_block == 0) return kNoLimit;
  const int64_t wanted =
      kernel.carve_out_percent < 0
          ? architecture.shared_per_sm
          : CarveOut(architecture, architecture.shared_per_sm * kernel.carve_out_percent / 100);
  // A carve-out too small for one block grows to what one block needs, and no further.
  const int64_t shared = wanted >= per_block ? wanted : CarveOut(architecture, per_block);
  return static_cast<int>(shared / per_block);
}

absl::Status CheckInput(const KernelResources& kernel, int threads, int64_t dynamic_shared) {
  const struct {
    const char* name;
    int64_t value;
    int64_t low;
    int64_t high;
  } inputs[] = {
      {"threads", threads, 1, kLargest},
      {"dynamic shared memory", dynamic_shared, 0, kLargest},
      {"registers", kernel.registers, 0, kLargest / A::kWarp},
      {"static shared memory", kernel.static_shared, 0, kLargest},
      {"launch bounds", kernel.max_threads, 1, kLargest},
      {"maximal dynamic shared memory", kernel.max_dynamic_shared, -1, kLargest},
      {"carve-out percent", kernel.carve_out_percent, -1, 100},
      {"barriers", kernel.barriers, 0, 16},
  };
  for (const auto& input : inputs) {
    if (input.value < input.low || input.value > input.high) {
      return absl::InvalidArgumentError(absl::StrCat("occupancy: ", input.name, " is ", input.value,
                                                     ", expected ", input.low, " to ", input.high));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const Architecture> Architectures() { return kArchitectures; }

absl::StatusOr<Architecture> FindArchitecture(int compute_capability) {
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.compute_capability == compute_capability) return architecture;
  }
  return absl::NotFoundError(absl::StrCat("no table for compute capability ", compute_capability,
                                          ", expected 75, 80, 86, 89 or 90"));
}

const char* LimiterName(Limiter limiter) {
  switch (limiter) {
    case Limiter::kThreads:
      return "threads";
    case Limiter::kRegisters:
      return "registers";
    case Limiter::kShared:
      return "shared memory";
    case Limiter::kBlocks:
      return "blocks";
    case Limiter::kBarriers:
      return "barriers";
  }
  return "";
}

absl::StatusOr<Occupancy> ComputeOccupancy(const Architecture& architecture,
                                           const KernelResources& kernel, int threads,
                                           int64_t dynamic_shared) {
  const absl::Status input = CheckInput(kernel, threads, dynamic_shared);
  if (!input.ok()) return input;

  const int64_t warps = (threads + int64_t{A::kWarp} - 1) / A::kWarp;
  const int64_t registers_per_warp =
      RoundUp(int64_t{kernel.registers} * A::kWarp, A::kRegisterGranularity);
  const int max_warps = architecture.max_threads_per_sm / A::kWarp;

  Occupancy result;
  result.registers_per_block = registers_per_warp * warps;
  result.shared_per_block =
      RoundUp(kernel.static_shared + architecture.shared_reserved + dynamic_shared,
              architecture.shared_granularity);

  result.by_threads = threads > A::kMaxThreadsPerBlock ? 0 : static_cast<int>(max_warps / warps);
  result.by_registers = BlocksByRegisters(kernel, warps, registers_per_warp);
  result.by_shared = BlocksByShared(architecture, kernel, dynamic_shared, result.shared_per_block);
  result.by_blocks = architecture.max_blocks_per_sm;
  if (architecture.compute_capability >= 90 && kernel.barriers > 0) {
    result.by_barriers = 2 * architecture.max_blocks_per_sm / kernel.barriers;
  }

  const int limits[] = {result.by_threads, result.by_registers, result.by_shared, result.by_blocks,
                        result.by_barriers};
  const int* const least = std::min_element(std::begin(limits), std::end(limits));
  result.blocks = *least;
  result.limiter = static_cast<Limiter>(least - limits);
  result.warps = static_cast<int>(result.blocks * warps);
  result.share = static_cast<double>(result.warps) / max_warps;
  return result;
}

absl::StatusOr<BestBlock> FindBestBlock(const Architecture& architecture,
                                        const KernelResources& kernel, int sm_count,
                                        absl::FunctionRef<int64_t(int)> dynamic_shared) {
  if (sm_count < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("occupancy: ", sm_count, " multiprocessors, expected at least 1"));
  }
  const int largest = std::min(A::kMaxThreadsPerBlock, kernel.max_threads);
  BestBlock best;
  int64_t most = 0;
  // Every whole number of warps, and the launch bound itself where that is none.
  for (int64_t aligned = RoundUp(largest, A::kWarp); aligned > 0; aligned -= A::kWarp) {
    const int threads = static_cast<int>(std::min<int64_t>(largest, aligned));
    const absl::StatusOr<Occupancy> occupancy =
        ComputeOccupancy(architecture, kernel, threads, dynamic_shared(threads));
    if (!occupancy.ok()) return occupancy.status();
    const int64_t resident = int64_t{threads} * occupancy->blocks;
    if (resident <= most) continue;
    most = resident;
    best = {threads, int64_t{occupancy->blocks} * sm_count};
  }
  return best;
}

}  // namespace assay::simt
