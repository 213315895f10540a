// SPDX-License-Identifier: Apache-2.0
// What a launch did to memory, in Nsight Compute's terms, by source line.
//
// A request is one warp instruction that touches memory with at least one lane. Global memory is
// served in sectors of 32 bytes, four to a line of 128; shared memory in wavefronts, each of which
// delivers one 4-byte word from each of 32 banks.
#ifndef ASSAY_GPU_SIMT_COUNTERS_H_
#define ASSAY_GPU_SIMT_COUNTERS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace assay::simt {

enum class AccessKind : uint8_t { kLoad, kStore, kAtomic };
enum class Space : uint8_t { kGlobal, kShared };

// All accesses of one kind and width that one source line made.
struct AccessCounters {
  std::string file;  // as the compiler names it
  int line = 0;
  AccessKind kind = AccessKind::kLoad;
  Space space = Space::kGlobal;
  int width = 0;         // bytes a lane asks for in one access: 1, 2, 4, 8 or 16
  int64_t requests = 0;  // warp instructions
  int64_t lanes = 0;     // lanes active in them, summed
  int64_t bytes = 0;     // distinct bytes asked for in each request, summed
  // Global memory only.
  int64_t sectors = 0;        // distinct 32-byte sectors a request touches, summed
  int64_t ideal_sectors = 0;  // the fewest sectors that could hold the distinct bytes
  int64_t lines = 0;          // distinct 128-byte lines (L1 tags), summed
  // Shared memory only.
  int64_t wavefronts = 0;        // passes over the banks, conflicts included
  int64_t ideal_wavefronts = 0;  // passes that the distinct bytes would need without conflicts
  // Atomics only: the most lanes of a request that hit one address, summed: passes in a row.
  int64_t serial_passes = 0;

  friend bool operator==(const AccessCounters&, const AccessCounters&) = default;
};

// What the blocks that ran have done. Where a launch ran a sample of its blocks, scale by
// grid blocks / blocks.
struct LaunchCounters {
  std::vector<AccessCounters> accesses;  // by file, line, space, kind, width
  int64_t blocks = 0;                    // blocks that ran
  int64_t warps = 0;
  int64_t threads = 0;
  int64_t barriers = 0;            // __syncthreads, once a block
  int64_t warp_barriers = 0;       // __syncwarp, once a warp
  int64_t warp_exchanges = 0;      // shuffles, votes, matches: warp instructions
  int64_t matrix_operations = 0;   // mma and ldmatrix of a warp (a wmma counts its mma parts)
  int64_t divergent_segments = 0;  // stretches between two synchronisations in which lanes of a
                                   // warp touched memory by different lines
  int64_t segments = 0;            // all such stretches
  int64_t shared_bytes = 0;        // of a block: declared and dynamic

  friend bool operator==(const LaunchCounters&, const LaunchCounters&) = default;
};

// Adds the counts of `from` to those of `to`; its place, kind and width stay.
void Accumulate(const AccessCounters& from, AccessCounters& to);

// The sum over all lines of one space and kind; file and line are empty, width is 0.
AccessCounters Total(const LaunchCounters& counters, Space space, AccessKind kind);

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_COUNTERS_H_
