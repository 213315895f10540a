// SPDX-License-Identifier: Apache-2.0
// The model kernels as a table, and what one of them does for a given size: instructions from its
// mix, accesses from one simulated block, traffic by counting tiles.
#ifndef ASSAY_GPU_MODEL_KERNELS_LADDER_H_
#define ASSAY_GPU_MODEL_KERNELS_LADDER_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu/model/machine.h"
#include "gpu/model/mix.h"
#include "gpu/model/time.h"
#include "gpu/simt/dim3.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/memory.h"
#include "gpu/simt/pointer.h"

namespace assay::model {

using SgemmFunction = void (*)(simt::gptr<const float>, simt::gptr<const float>, simt::gptr<float>,
                               int, int, int);

// A matrix multiplication C = A B of kernels/sgemm.cu.h.
struct SgemmKernel {
  const char* name;    // as in CUDA: SgemmNaive
  const char* symbol;  // as in a cubin
  SgemmFunction function;
  simt::Dim3 block;
  int rows;           // of C that a block computes
  int columns;        // likewise
  int depth;          // along k in one pass of its loop
  bool rows_along_x;  // the grid's x counts tiles downwards
  bool overlapped;    // KernelWork::overlapped
};

// In about the order of the published ladders.
std::span<const SgemmKernel> SgemmKernels();

// The kernel of this name, which must be there (checked).
const SgemmKernel& Sgemm(absl::string_view name);

// The committed mix of all kernels for sm_75, sm_86 or sm_90; another is a mistake (checked).
const Mix& ModelMix(int compute_capability);

// The grid for C [m, n]. m and n: multiples of the tile.
simt::Dim3 SgemmGrid(const SgemmKernel& kernel, int m, int n);

// Runs a kernel in the simulator on A [m, k], B [k, n] and C [m, n] in `memory`. config: its grid
// and block are set here. Fails: InvalidArgument where m, n, k are not positive multiples of the
// tile.
absl::StatusOr<simt::LaunchResult> RunSgemm(const SgemmKernel& kernel, simt::DeviceMemory& memory,
                                            simt::gptr<const float> a, simt::gptr<const float> b,
                                            simt::gptr<float> c, int m, int n, int k,
                                            simt::LaunchConfig config = {});

// The work of C = A B with m = n = k = size on a GPU, whose mix this is.
// Accesses: one block is simulated for two small k and its counters, which grow linearly, are
// carried on to `size`; all blocks do the same. L2 traffic: each block reads its rows of A and
// columns of B once and writes its tile. Device memory: blocks that run at once read each of their
// rows and columns once from it; where both matrices fit into L2, all do. Cost: about a million
// simulated accesses. Fails: as RunSgemm, and NotFound for a kernel that the mix does not have.
absl::StatusOr<KernelWork> SgemmWork(const SgemmKernel& kernel, const Mix& mix,
                                     const GpuMachine& gpu, int size);

// Bytes of A and B that device memory delivers: what the last sentence but one above says, for
// `resident` blocks at once, dealt by number. l2_bytes: capacity.
double SgemmDramReads(const SgemmKernel& kernel, int m, int n, int k, int64_t resident,
                      double l2_bytes);

// The streams of kernels/streams.cu.h, for the simulator.
extern void (*const kStreamCopy)(simt::gptr<const float>, simt::gptr<float>);
extern void (*const kStreamTriad)(simt::gptr<const float>, simt::gptr<const float>,
                                  simt::gptr<float>);
extern void (*const kBlockSums)(simt::gptr<const float>, simt::gptr<float>);

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_KERNELS_LADDER_H_
