// SPDX-License-Identifier: Apache-2.0
// What became of a kernel of fiber_test_kernels.h.
#ifndef ASSAY_GPU_SIMT_FIBER_TEST_OUTCOME_H_
#define ASSAY_GPU_SIMT_FIBER_TEST_OUTCOME_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gpu/simt/counters.h"
#include "gpu/simt/launch.h"

namespace assay::simt {

struct FiberTestOutcome {
  std::string name;
  absl::Status status;
  std::string findings;  // as Format gives them
  LaunchCounters counters;
  std::vector<int> memory;
};

namespace as_coroutines {
std::vector<FiberTestOutcome> Outcomes(const LaunchConfig& config);
}  // namespace as_coroutines

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_FIBER_TEST_OUTCOME_H_
