// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/kernels/ladder.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gpu/model/kernels/mix_texts.h"
#include "gpu/model/kernels/sgemm.cu.h"
#include "gpu/model/kernels/streams.cu.h"
#include "numerics/core/check.h"

namespace assay::model {
namespace {

#define ASSAY_SYMBOL(length, name) #name, "_ZN5assay5model" #length #name "EPKfS2_Pfiii", name

constexpr SgemmKernel kKernels[] = {
    {ASSAY_SYMBOL(10, SgemmNaive), {32, 32}, 32, 32, 8, true, false},
    {ASSAY_SYMBOL(18, SgemmBankConflicts), {1024}, 32, 32, 32, false, false},
    {ASSAY_SYMBOL(18, SgemmSharedColumns), {1024}, 32, 32, 32, false, false},
    {ASSAY_SYMBOL(14, SgemmCoalesced), {32, 32}, 32, 32, 8, false, false},
    {ASSAY_SYMBOL(15, SgemmSharedTile), {1024}, 32, 32, 32, false, false},
    {ASSAY_SYMBOL(13, SgemmFourRows), {256}, 32, 32, 32, false, false},
    {ASSAY_SYMBOL(11, Sgemm1dTile), {512}, 64, 64, 8, false, false},
    {ASSAY_SYMBOL(8, Sgemm4x4), {256}, 64, 64, 16, false, false},
    {ASSAY_SYMBOL(11, Sgemm2dTile), {256}, 128, 128, 8, false, false},
    {ASSAY_SYMBOL(11, SgemmFloat4), {256}, 128, 128, 8, false, false},
    {ASSAY_SYMBOL(13, SgemmWarpTile), {256}, 128, 128, 8, false, false},
    {ASSAY_SYMBOL(17, SgemmWideWarpTile), {128}, 128, 128, 16, false, false},
    {ASSAY_SYMBOL(13, SgemmPrefetch), {256}, 128, 128, 8, false, true},
    {ASSAY_SYMBOL(17, SgemmDoubleBuffer), {256}, 128, 128, 8, false, true},
};

#undef ASSAY_SYMBOL

// Counters of one block grow linearly along k: those at k1 and at k2, carried on to k.
double Extrapolate(int64_t at_k1, int64_t at_k2, double k1, double k2, double k) {
  const auto first = static_cast<double>(at_k1);
  return first + (static_cast<double>(at_k2) - first) / (k2 - k1) * (k - k1);
}

// One block of `kernel` along k, simulated.
absl::StatusOr<simt::LaunchCounters> OneBlock(const SgemmKernel& kernel, int k) {
  simt::DeviceMemory memory;
  const std::vector<float> a(static_cast<size_t>(kernel.rows * k), 1.0f);
  const std::vector<float> b(static_cast<size_t>(k * kernel.columns), 1.0f);
  const auto on_device_a = memory.Upload(a, "a");
  const auto on_device_b = memory.Upload(b, "b");
  const auto c = memory.Allocate<float>(int64_t{kernel.rows} * kernel.columns, "c");
  for (const absl::Status& status : {on_device_a.status(), on_device_b.status(), c.status()}) {
    if (!status.ok()) return status;
  }
  const absl::StatusOr<simt::LaunchResult> result =
      RunSgemm(kernel, memory, *on_device_a, *on_device_b, *c, kernel.rows, kernel.columns, k);
  if (!result.ok()) return result.status();
  if (!result->status.ok()) return result->status;
  return result->counters;
}

// Distinct values of i % width and of i / width among the blocks first .. last - 1.
struct Spread {
  int64_t along = 0;
  int64_t down = 0;
};
Spread SpreadOf(int64_t first, int64_t last, int64_t width) {
  return {std::min(last - first, width), (last - 1) / width - first / width + 1};
}

}  // namespace

void (*const kStreamCopy)(simt::gptr<const float>, simt::gptr<float>) = StreamCopy;
void (*const kStreamTriad)(simt::gptr<const float>, simt::gptr<const float>,
                           simt::gptr<float>) = StreamTriad;
void (*const kBlockSums)(simt::gptr<const float>, simt::gptr<float>) = BlockSums;

std::span<const SgemmKernel> SgemmKernels() { return kKernels; }

const SgemmKernel& Sgemm(absl::string_view name) {
  const SgemmKernel* found = std::find_if(std::begin(kKernels), std::end(kKernels),
                                          [&](const SgemmKernel& k) { return k.name == name; });
  ASSAY_CHECK(found != std::end(kKernels));
  return *found;
}

const Mix& ModelMix(int compute_capability) {
  static const std::vector<Mix> mixes = [] {
    std::vector<Mix> read;
    for (const char* text : kMixTexts) {
      absl::StatusOr<Mix> mix = ParseMix(text);
      ASSAY_CHECK(mix.ok());
      read.push_back(*std::move(mix));
    }
    return read;
  }();
  const auto found = std::find_if(mixes.begin(), mixes.end(), [&](const Mix& mix) {
    return mix.compute_capability == compute_capability;
  });
  ASSAY_CHECK(found != mixes.end());
  return *found;
}

simt::Dim3 SgemmGrid(const SgemmKernel& kernel, int m, int n) {
  const auto down = static_cast<uint32_t>(m / kernel.rows);
  const auto along = static_cast<uint32_t>(n / kernel.columns);
  return kernel.rows_along_x ? simt::Dim3(down, along) : simt::Dim3(along, down);
}

absl::StatusOr<simt::LaunchResult> RunSgemm(const SgemmKernel& kernel, simt::DeviceMemory& memory,
                                            simt::gptr<const float> a, simt::gptr<const float> b,
                                            simt::gptr<float> c, int m, int n, int k,
                                            simt::LaunchConfig config) {
  if (m < 1 || n < 1 || k < 1 || m % kernel.rows != 0 || n % kernel.columns != 0 ||
      k % kernel.depth != 0) {
    return absl::InvalidArgumentError(absl::StrCat(kernel.name, ": m, n, k are ", m, ", ", n, ", ",
                                                   k, ", expected multiples of ", kernel.rows, ", ",
                                                   kernel.columns, ", ", kernel.depth));
  }
  config.grid = SgemmGrid(kernel, m, n);
  config.block = kernel.block;
  return simt::Launch(memory, config, kernel.function, a, b, c, m, n, k);
}

double SgemmDramReads(const SgemmKernel& kernel, int m, int n, int k, int64_t resident,
                      double l2_bytes) {
  const double row_bytes = 4.0 * k * kernel.rows;
  const double column_bytes = 4.0 * k * kernel.columns;
  const int64_t down = m / kernel.rows;
  const int64_t along = n / kernel.columns;
  const double once =
      static_cast<double>(down) * row_bytes + static_cast<double>(along) * column_bytes;
  if (once <= l2_bytes) return once;
  double bytes = 0;
  const int64_t blocks = down * along;
  for (int64_t first = 0; first < blocks; first += resident) {
    const int64_t last = std::min(blocks, first + resident);
    const Spread spread = SpreadOf(first, last, kernel.rows_along_x ? down : along);
    const int64_t rows = kernel.rows_along_x ? spread.along : spread.down;
    const int64_t columns = kernel.rows_along_x ? spread.down : spread.along;
    bytes += static_cast<double>(rows) * row_bytes + static_cast<double>(columns) * column_bytes;
  }
  return bytes;
}

absl::StatusOr<KernelWork> SgemmWork(const SgemmKernel& kernel, const Mix& mix,
                                     const GpuMachine& gpu, int size) {
  const KernelMix* const instructions = FindKernel(mix, kernel.symbol);
  if (instructions == nullptr) {
    return absl::NotFoundError(absl::StrCat("no kernel ", kernel.symbol, " in the mix"));
  }
  if (size < 1 || size % kernel.rows != 0 || size % kernel.columns != 0 ||
      size % kernel.depth != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(kernel.name, ": size ", size, " is no multiple of its tile"));
  }
  const int64_t blocks = int64_t{size / kernel.rows} * (size / kernel.columns);
  const std::vector<double> trips = {1.0, static_cast<double>(size / kernel.depth)};
  absl::StatusOr<KernelWork> work =
      WorkOf(*instructions, trips, blocks, static_cast<int>(kernel.block.Count()));
  if (!work.ok()) return work;
  work->overlapped = kernel.overlapped;

  constexpr int kFirst = 32;
  constexpr int kSecond = 64;
  const absl::StatusOr<simt::LaunchCounters> at_first = OneBlock(kernel, kFirst);
  if (!at_first.ok()) return at_first.status();
  const absl::StatusOr<simt::LaunchCounters> at_second = OneBlock(kernel, kSecond);
  if (!at_second.ok()) return at_second.status();
  ASSAY_CHECK_EQ(at_first->accesses.size(), at_second->accesses.size());
  simt::LaunchCounters counters = *at_first;
  for (size_t i = 0; i < counters.accesses.size(); ++i) {
    const simt::AccessCounters& one = at_first->accesses[i];
    const simt::AccessCounters& two = at_second->accesses[i];
    ASSAY_CHECK_EQ(one.line, two.line);
    const auto carried = [&](int64_t simt::AccessCounters::*field) {
      return static_cast<int64_t>(
          Extrapolate(one.*field, two.*field, kFirst, kSecond, static_cast<double>(size)));
    };
    for (int64_t simt::AccessCounters::*field :
         {&simt::AccessCounters::requests, &simt::AccessCounters::lanes,
          &simt::AccessCounters::bytes, &simt::AccessCounters::sectors,
          &simt::AccessCounters::lines, &simt::AccessCounters::wavefronts}) {
      counters.accesses[i].*field = carried(field);
    }
  }
  AddAccesses(counters, static_cast<double>(blocks), &*work);

  const absl::StatusOr<simt::Architecture> architecture =
      simt::FindArchitecture(gpu.compute_capability);
  if (!architecture.ok()) return architecture.status();
  const absl::StatusOr<simt::Occupancy> occupancy =
      simt::ComputeOccupancy(*architecture, work->resources, work->threads, 0);
  if (!occupancy.ok()) return occupancy.status();
  const int64_t resident = std::max<int64_t>(1, int64_t{occupancy->blocks} * gpu.sm_count);
  const double written = 4.0 * size * size;
  const double read_by_blocks =
      static_cast<double>(blocks) * 4.0 * size * (kernel.rows + kernel.columns);
  const double dram = SgemmDramReads(kernel, size, size, size, resident, gpu.l2_bytes);
  double l1_sectors = 0;
  for (const simt::AccessCounters& access : counters.accesses) {
    if (access.space == simt::Space::kGlobal && access.kind == simt::AccessKind::kLoad) {
      l1_sectors += static_cast<double>(access.sectors) * static_cast<double>(blocks);
    }
  }
  work->l2_bytes = read_by_blocks + written;
  work->dram_bytes = dram + written;
  work->l1_hit_share = std::max(0.0, 1 - read_by_blocks / (l1_sectors * 32));
  work->l2_hit_share = std::max(0.0, 1 - dram / read_by_blocks);
  return work;
}

}  // namespace assay::model
