// SPDX-License-Identifier: Apache-2.0
//
// What a probe came to, and the lines that the program prints for measure_gpu.py to read.
#ifndef ASSAY_TOOLS_MEASURE_GPU_RESULT_H_
#define ASSAY_TOOLS_MEASURE_GPU_RESULT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gpu/device/gpus.h"

namespace assay::measure_gpu {

// One probe's result. Work is that of one run.
struct Probe {
  std::string id;  // [a-z][a-z0-9_]*
  std::string title;
  double flops = 0;  // a fused multiply-add is 2
  double bytes = 0;  // read and written, as the kernel asks for them
  double steps = 0;  // of something done one after another: hops, launches
  int64_t runs_per_sample = 0;
  std::vector<double> seconds = {};  // of one run, one for each sample, in the order taken
  // SM clocks from begin to end of one run, as the kernel saw them; 0 where it does not look.
  double cycles = 0;
  bool checked = true;  // false: the work leaves nothing behind that could be wrong
};

// One JSON object in one line, without the line's end; seconds and cycles round-trip.
std::string DeviceLine(const GpuDescription& gpu);  // {"device": {...}}
std::string BeginLine(std::string_view id);         // {"begin": "fma_f32"}
std::string ProbeLine(const Probe& probe);          // {"probe": {...}}
// {"failed": {...}}, or {"skipped": {...}} where the GPU lacks what the probe needs
// (Unimplemented).
std::string StatusLine(std::string_view id, const absl::Status& status);

}  // namespace assay::measure_gpu

#endif  // ASSAY_TOOLS_MEASURE_GPU_RESULT_H_
