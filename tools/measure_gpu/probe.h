// SPDX-License-Identifier: Apache-2.0
//
// Probes: what one part of a GPU can do, timed, with the result checked in the same run. The code
// is written once over gpu/device; on the simulator it shows that kernels, checks and counted work
// are right, and every time is 0.
#ifndef ASSAY_TOOLS_MEASURE_GPU_PROBE_H_
#define ASSAY_TOOLS_MEASURE_GPU_PROBE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu/device/device.h"
#include "tools/measure_gpu/result.h"

namespace assay::measure_gpu {

// How long and how large. The defaults are for a GPU.
struct Effort {
  double sample_seconds = 3e-3;  // runs are repeated until a sample takes so long
  int64_t max_runs = 1 << 20;    // in a sample
  int warm_up = 3;               // samples that are thrown away
  int samples = 20;
  int64_t blocks_per_sm = 4;                   // of 256 threads
  int loops = 1024;                            // of the arithmetic kernels
  int rounds = 2048;                           // of those that read a window again and again
  int hops = 1024;                             // of a chase
  int64_t memory_bytes = int64_t{1} << 30;     // of a buffer that lies in DRAM
  int64_t transfer_bytes = int64_t{64} << 20;  // between host and device
  int launches = 256;                          // in one run of the launch probes
};

// Times runs of `work` in `stream` by events, and fills runs_per_sample and seconds: repeats it
// until a sample is long enough, warms up, then takes the samples. Fails as `work` does.
absl::Status Time(device::Device& device, device::Stream& stream, const Effort& effort,
                  absl::FunctionRef<absl::Status(device::Stream&)> work, Probe& probe);

// Each fails with DataLoss where the device's result is not the host's, saying which value was
// found and which expected.
using ProbeFunction = absl::StatusOr<Probe> (*)(device::Device& device, const Effort& effort);

struct NamedProbe {
  const char* id;
  ProbeFunction run;
};

// Arithmetic, memory, latency, launches and transfers, in this order. One that needs a newer GPU
// fails with Unimplemented.
const std::vector<NamedProbe>& Probes();

}  // namespace assay::measure_gpu

#endif  // ASSAY_TOOLS_MEASURE_GPU_PROBE_H_
