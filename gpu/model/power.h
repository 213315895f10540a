// SPDX-License-Identifier: Apache-2.0
// How fast a board may clock: power grows with clock and voltage, and the board has a limit.
//
//   P = base + f V(f)^2 (fp32 u_fp32 + tensor u_tensor) + dram_energy B
//
// f the clock, V(f) linear between the base and the boost clock, u the shares of time that the FP32
// and tensor pipes are busy, B the bytes to and from device memory per second. The two coefficients
// come from clocks that somebody saw under load (GpuMachine, `sustained`). What other pipes draw is
// part of them.
#ifndef ASSAY_GPU_MODEL_POWER_H_
#define ASSAY_GPU_MODEL_POWER_H_

#include "gpu/model/machine.h"

namespace assay::model {

struct PowerModel {
  double fp32 = 0;    // W per Hz and V^2 with the FP32 pipes busy; 0: not known, draws nothing
  double tensor = 0;  // likewise
};

// V at a clock between base and boost.
double Voltage(const GpuMachine& gpu, double clock);

// The coefficients with which the board is just within its limit at its sustained clocks, device
// memory idle.
PowerModel FitPower(const GpuMachine& gpu);

// Watts. fp32_busy, tensor_busy: shares of time, 0 to 1. bandwidth: byte/s of device memory.
double Power(const GpuMachine& gpu, const PowerModel& model, double clock, double fp32_busy,
             double tensor_busy, double bandwidth);

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_POWER_H_
