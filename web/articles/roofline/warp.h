// SPDX-License-Identifier: Apache-2.0
//
// What the memory system does for one warp, and for a transpose, counted on simulated kernels.
#ifndef ASSAY_WEB_ARTICLES_ROOFLINE_WARP_H_
#define ASSAY_WEB_ARTICLES_ROOFLINE_WARP_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"

namespace assay::roofline_page {

constexpr int kLanes = 32;
constexpr int kWords = 2048;  // numbers of 4 bytes that lanes may point at

// The place that each lane reads.
using Places = std::array<int32_t, kLanes>;

// Lane l reads offset + stride l; or, shuffled, the same places in an order drawn from the seed.
// stride 0 to 64, offset 0 to 31 (checked): all places lie below kWords.
Places StridedPlaces(int32_t stride, int32_t offset, bool shuffled, uint64_t seed);

// One read of one warp.
struct WarpTraffic {
  int64_t requests = 0;    // warp instructions: 1
  int64_t bytes = 0;       // distinct ones asked for
  int64_t sectors = 0;     // of 32 bytes; global memory
  int64_t lines = 0;       // of 128 bytes; global memory
  int64_t wavefronts = 0;  // passes over the banks; shared memory
  bool right = false;      // every lane got its number
};

// Runs the kernels ReadGlobal and ReadShared (kernels.cu.h) on these places.
// Fails: InvalidArgument for a place outside 0 to kWords - 1; with what the simulator found.
absl::StatusOr<WarpTraffic> ReadGlobalMemory(const Places& places);
absl::StatusOr<WarpTraffic> ReadSharedMemory(const Places& places);

// Reads and writes of a kernel, over all of its warps.
struct KernelTraffic {
  int64_t loads = 0;  // warp instructions that read global memory
  int64_t load_sectors = 0;
  int64_t stores = 0;  // that write it
  int64_t store_sectors = 0;
  int64_t shared = 0;      // that read or write shared memory
  int64_t wavefronts = 0;  // passes over the banks
  int64_t lanes = 0;       // lanes active in loads, summed
  bool right = false;      // the result is the plain loop's
};

enum class TransposeKind { kPlain, kTile, kPadded };

// The transpose of an n x n matrix.
// Fails: InvalidArgument unless n is a multiple of 32 in 32 to 1024; with what the simulator found.
absl::StatusOr<KernelTraffic> RunTranspose(TransposeKind kind, int n);

// One warp whose lanes take two ways.
absl::StatusOr<KernelTraffic> RunTwoWays();

}  // namespace assay::roofline_page

#endif  // ASSAY_WEB_ARTICLES_ROOFLINE_WARP_H_
