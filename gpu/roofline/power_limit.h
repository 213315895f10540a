// SPDX-License-Identifier: Apache-2.0
//
// A roof under a power limit. Arithmetic that draws too much at the boost clock runs at a lower
// one; bytes hardly notice. The model of the watts is gpu/model/power.h's, fitted to the clocks
// that users saw at the board's own limit; here the limit is a knob.
#ifndef ASSAY_GPU_ROOFLINE_POWER_LIMIT_H_
#define ASSAY_GPU_ROOFLINE_POWER_LIMIT_H_

#include "absl/status/statusor.h"
#include "gpu/model/machine.h"
#include "gpu/roofline/roofline.h"

namespace assay::roofline {

// What runs: shares of time that pipes are busy, 0 to 1, and bytes a second of device memory.
struct Load {
  double fp32_busy = 0;
  double tensor_busy = 0;
  double bytes_per_s = 0;
};

struct PoweredClock {
  double clock = 0;      // Hz: the highest step from base to boost that keeps the limit
  double watts = 0;      // drawn at that clock
  bool limited = false;  // below the boost clock
  bool over = false;     // not even the base clock keeps the limit; clock is the base clock
};

// The clock at which a load keeps a limit. Cost: one evaluation a step, about 70.
// Fails: InvalidArgument for a limit that is not positive, a share outside 0 to 1, or a bandwidth
// that is negative; FailedPrecondition where the machine's file knows no clock under such a load.
absl::StatusOr<PoweredClock> ClockWithin(const model::GpuMachine& gpu, double limit_watts,
                                         const Load& load);

// The GPU as SustainedRoof (machines.h) has it, under another limit: f32 and f64 at the clock of a
// long f32 product, f16 and i8 at that of a long product on tensor cores, each with its share of
// the pipe. At the board's own limit it is SustainedRoof.
// Fails: as ClockWithin.
absl::StatusOr<Machine> RoofWithin(const model::GpuMachine& gpu, double limit_watts);

}  // namespace assay::roofline

#endif  // ASSAY_GPU_ROOFLINE_POWER_LIMIT_H_
