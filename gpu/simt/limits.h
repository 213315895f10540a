// SPDX-License-Identifier: Apache-2.0
// Whether CUDA would take a launch, and if not, with which error and because of which limit.
#ifndef ASSAY_GPU_SIMT_LIMITS_H_
#define ASSAY_GPU_SIMT_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "gpu/simt/dim3.h"
#include "gpu/simt/occupancy.h"

namespace assay::simt {

// What stands between <<< and >>>.
struct LaunchShape {
  Dim3 grid;
  Dim3 block;
  int64_t dynamic_shared = 0;  // bytes a block
  bool cooperative = false;    // cudaLaunchCooperativeKernel: all blocks on the SMs at once
};

// Ok where CUDA would launch, on a GPU of this architecture with so many SMs. Cost: O(1).
// Fails: InvalidArgument that begins with CUDA's own error and text and goes on with the limit,
// what was given and what is allowed:
//   "cudaErrorInvalidConfiguration: invalid configuration argument: grid.y is 70000, at most 65535"
// cudaErrorInvalidConfiguration: an extent of 0 or above its limit, too many threads in a block.
// cudaErrorInvalidValue: more shared memory than the kernel may have, more threads than its
//   __launch_bounds__, a max_dynamic_shared above the opt-in limit (which cudaFuncSetAttribute
//   refuses before the launch).
// cudaErrorLaunchOutOfResources: registers for so many threads are more than a block can have.
// cudaErrorCooperativeLaunchTooLarge: more blocks than all SMs hold at once.
// More static shared memory than 48 KiB is what ptxas refuses, and its text is given.
absl::Status CheckLaunch(const Architecture& architecture, int sm_count,
                         const KernelResources& kernel, const LaunchShape& shape);

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_LIMITS_H_
