// SPDX-License-Identifier: Apache-2.0
// The loads of fiber_benchmark as coroutines.

#include "gpu/simt/fiber_benchmark_kernels.h"

namespace assay::simt::as_coroutines {

absl::Status RunLoad(Load load, ThreadRunner* runner) { return RunLoadHere(load, runner); }

}  // namespace assay::simt::as_coroutines
