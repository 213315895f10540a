// SPDX-License-Identifier: Apache-2.0
// The verdict table: small kernels with one bug each, beside the same kernel without it. A checker
// is as good as the bugs that it names, with their line, and the clean kernels about which it keeps
// silent.
//
//   for (const Verdict& verdict : Verdicts()) {
//     const Outcome with = RunVerdict(verdict, /*bug=*/true, Schedule::kForward, 0);
//     const bool named = Names(with, verdict.finding);
//   }
#ifndef ASSAY_GPU_SIMT_VERDICTS_VERDICTS_H_
#define ASSAY_GPU_SIMT_VERDICTS_VERDICTS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gpu/simt/dim3.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/memory.h"
#include "gpu/simt/pointer.h"
#include "gpu/simt/report.h"

namespace assay::simt::verdicts {

using Kernel = void (*)(gptr<const int> in, gptr<int> out, int n);

struct Outcome {
  absl::Status status;
  std::vector<Diagnostic> diagnostics;
  int bug_line = 0;  // where the kernel says the bug is
};

// `in` holds 0, 1, ..., n - 1; `out` n zeros, unless `garbage`.
struct Verdict {
  std::string_view name;  // of the kernel
  Finding finding;        // what the bug is
  Dim3 grid;
  Dim3 block;
  int n;
  Kernel bug;
  Kernel clean;
  bool garbage = false;  // `out` is not initialised
  uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  int multiprocessors = 40;
  // What the host does instead of an ordinary launch; null for most.
  Outcome (*host)(const Verdict& verdict, bool bug, const LaunchConfig& config) = nullptr;
};

std::span<const Verdict> Verdicts();

// Runs the kernel with its bug or without.
Outcome RunVerdict(const Verdict& verdict, bool bug, Schedule schedule, uint64_t seed);

// Runs the kernel without its bug under all schedules, whose results must agree.
Outcome RunCleanVerdict(const Verdict& verdict);

// Whether a finding of the kind has a site on the line of the bug.
bool Names(const Outcome& outcome, Finding finding);

}  // namespace assay::simt::verdicts

#endif  // ASSAY_GPU_SIMT_VERDICTS_VERDICTS_H_
