// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel a multiprocessor (SM) holds at once, and what stops it from more.
//
// An SM gives each of its blocks warp slots, registers and shared memory for as long as the block
// runs; the scarcest decides. Source of the rules: NVIDIA's cuda_occupancy.h, which
// occupancy_oracle_test.cc asks wherever the CUDA toolkit is; of the table: CUDA C++ Programming
// Guide, "Technical Specifications per Compute Capability".
#ifndef ASSAY_GPU_SIMT_OCCUPANCY_H_
#define ASSAY_GPU_SIMT_OCCUPANCY_H_

#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace assay::simt {

// What an SM of one compute capability has. Sizes in bytes.
struct Architecture {
  int compute_capability = 0;  // 10 major + minor
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  int64_t shared_per_sm = 0;       // the largest carve-out
  int64_t shared_opt_in = 0;       // of a block whose kernel asked for it (cudaFuncSetAttribute)
  int64_t shared_reserved = 0;     // that the driver adds to each block
  int64_t shared_granularity = 0;  // a block gets a multiple of this
  std::span<const int> carve_outs_kib;  // what the memory shared with L1 can be set to, rising

  // The same on all of them.
  static constexpr int kWarp = 32;
  static constexpr int kPartitions = 4;  // each with a quarter of registers and warps
  static constexpr int kMaxThreadsPerBlock = 1024;
  static constexpr int kRegistersPerSm = 65536;
  static constexpr int kRegistersPerBlock = 65536;
  static constexpr int kMaxRegistersPerThread = 255;
  static constexpr int kRegisterGranularity = 256;       // a warp gets a multiple of this
  static constexpr int64_t kSharedPerBlock = 48 * 1024;  // without asking for more
};

// The architectures known: sm_75, sm_80, sm_86, sm_89, sm_90.
std::span<const Architecture> Architectures();

// Fails: NotFound for another compute capability.
absl::StatusOr<Architecture> FindArchitecture(int compute_capability);

// What one kernel needs, as `ptxas -v` prints it, and what its host code set.
struct KernelResources {
  int registers = 0;                                    // per thread
  int64_t static_shared = 0;                            // bytes of a block's __shared__ variables
  int max_threads = Architecture::kMaxThreadsPerBlock;  // __launch_bounds__
  // cudaFuncAttributeMaxDynamicSharedMemorySize, in bytes; -1: not set, so that static and dynamic
  // shared memory may have 48 KiB together.
  int64_t max_dynamic_shared = -1;
  // cudaFuncAttributePreferredSharedMemoryCarveout, in percent; -1: as much as there is.
  int carve_out_percent = -1;
  int barriers = 1;  // named barriers; limits blocks from sm_90 on
};

enum class Limiter { kThreads, kRegisters, kShared, kBlocks, kBarriers };

// "threads", "registers", "shared memory", "blocks", "barriers".
const char* LimiterName(Limiter limiter);

// Where a resource is not used at all, its limit is this.
constexpr int kNoLimit = 0x7FFFFFFF;

struct Occupancy {
  int blocks = 0;    // at once on an SM; 0: the launch is refused (CheckLaunch says why)
  int warps = 0;     // of these blocks
  double share = 0;  // warps over the most the SM could hold
  Limiter limiter = Limiter::kThreads;  // of those whose limit is `blocks`, the first in this order

  // Blocks that would fit if only this one resource counted.
  int by_threads = 0;
  int by_registers = 0;
  int by_shared = 0;
  int by_blocks = 0;
  int by_barriers = kNoLimit;

  int64_t registers_per_block = 0;  // allocated, granularity included
  int64_t shared_per_block = 0;     // likewise, with what the driver reserves

  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};

// Blocks of `threads` threads and `dynamic_shared` bytes that one SM holds. Cost: O(1).
// Fails: InvalidArgument for threads < 1, a size below 0 or above 2^30, a carve-out outside
// -1 .. 100. Too much of something is no failure: then blocks = 0.
absl::StatusOr<Occupancy> ComputeOccupancy(const Architecture& architecture,
                                           const KernelResources& kernel, int threads,
                                           int64_t dynamic_shared);

// The block size with the most threads on an SM, the largest of those that tie (as
// cudaOccMaxPotentialOccupancyBlockSize).
struct BestBlock {
  int threads = 0;       // 0: no block size fits
  int64_t min_grid = 0;  // blocks that fill all SMs
};

// dynamic_shared: bytes that a block of so many threads needs. Cost: 32 calls of ComputeOccupancy.
// Fails as that, and for sm_count < 1.
absl::StatusOr<BestBlock> FindBestBlock(const Architecture& architecture,
                                        const KernelResources& kernel, int sm_count,
                                        absl::FunctionRef<int64_t(int)> dynamic_shared);

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_OCCUPANCY_H_
