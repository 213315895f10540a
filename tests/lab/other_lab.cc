// SPDX-License-Identifier: Apache-2.0
// A second lab beside tiny: its slug has a hyphen, it measures nothing, and it fails when told to.
#include <cstdint>
#include <cstdlib>

#include "absl/status/status.h"
#include "tools/lab/lab.h"

namespace assay::lab {
namespace {

absl::Status Run(Context& context, Report& report) {
  const int64_t fault = context.Integer("fault", 0, 0, 0);
  if (fault == 1) return absl::InternalError("it was told to fail");
  if (fault == 2) report.Exact("Not an id", 1.0, "A bad id");
  if (fault == 3) std::abort();
  if (fault == 4) {
    report.Bounded("loose", 2.0,
                   {.metric = "max rel", .observed = 1, .bound = 0.5, .why = "", .reference = ""},
                   "Out of bounds");
  }
  report.Exact("answer", int64_t{42}, "The answer");
  return absl::OkStatus();
}

ASSAY_LAB(other_lab, {.title = "Another lab", .run = &Run});

}  // namespace
}  // namespace assay::lab
