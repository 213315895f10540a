// SPDX-License-Identifier: Apache-2.0
// The kernels of fiber_test as coroutines.

#include "gpu/simt/fiber_test_kernels.h"
#include "gpu/simt/fiber_test_outcome.h"

namespace assay::simt::as_coroutines {

std::vector<FiberTestOutcome> Outcomes(const LaunchConfig& config) { return RunAll(config); }

}  // namespace assay::simt::as_coroutines
