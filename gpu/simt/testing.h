// SPDX-License-Identifier: Apache-2.0
// What tests of kernels say of a launch.
#ifndef ASSAY_GPU_SIMT_TESTING_H_
#define ASSAY_GPU_SIMT_TESTING_H_

#include <algorithm>
#include <vector>

#include "gpu/simt/launch.h"
#include "gpu/simt/report.h"
#include "gtest/gtest.h"

namespace assay::simt {

// Whether a launch went well and nothing, not even a warning, was found.
inline testing::AssertionResult IsClean(const LaunchResult& result) {
  if (result.status.ok() && result.diagnostics.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << result.status << "\n" << Format(result.diagnostics);
}

// Whether something of a kind was found.
inline testing::AssertionResult Has(Finding finding, const LaunchResult& result) {
  const bool found =
      std::any_of(result.diagnostics.begin(), result.diagnostics.end(),
                  [&](const Diagnostic& diagnostic) { return diagnostic.finding == finding; });
  if (found) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no " << Name(finding) << ": " << result.status << "\n"
                                     << Format(result.diagnostics);
}

// 0, 1, ..., n - 1.
inline std::vector<int> Iota(int n) {
  std::vector<int> values(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<size_t>(i)] = i;
  return values;
}

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_TESTING_H_
