// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/power.h"

namespace assay::model {
namespace {

// What a busy pipe may draw per Hz and V^2, so that the limit is just kept at this clock.
double Coefficient(const GpuMachine& gpu, double clock, double busy) {
  if (clock == 0) return 0;
  const double volt = Voltage(gpu, clock);
  return (gpu.power_limit - gpu.power_base) / (clock * volt * volt * busy);
}

}  // namespace

double Voltage(const GpuMachine& gpu, double clock) {
  if (gpu.boost_clock == gpu.base_clock) return gpu.voltage_at_boost;
  const double place = (clock - gpu.base_clock) / (gpu.boost_clock - gpu.base_clock);
  return gpu.voltage_at_base + place * (gpu.voltage_at_boost - gpu.voltage_at_base);
}

PowerModel FitPower(const GpuMachine& gpu) {
  return {Coefficient(gpu, gpu.fp32_sustained_clock, gpu.fp32_sustained_busy),
          Coefficient(gpu, gpu.tensor_sustained_clock, gpu.tensor_sustained_busy)};
}

double Power(const GpuMachine& gpu, const PowerModel& model, double clock, double fp32_busy,
             double tensor_busy, double bandwidth) {
  const double volt = Voltage(gpu, clock);
  return gpu.power_base +
         clock * volt * volt * (model.fp32 * fp32_busy + model.tensor * tensor_busy) +
         gpu.dram_energy * bandwidth;
}

}  // namespace assay::model
