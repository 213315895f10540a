// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/machines.h"

#include <string>

#include "numerics/core/check.h"

namespace assay::roofline {
namespace {

double& Rate(Machine& machine, Precision precision) {
  return machine.flops_per_s[static_cast<size_t>(precision)];
}

// Operations a clock of the whole chip, by precision; a multiply-add is two.
Machine PerClock(const model::GpuMachine& gpu) {
  Machine machine;
  machine.name = gpu.name;
  const double sms = gpu.sm_count;
  Rate(machine, Precision::kF64) = sms * 2 * gpu.fp64_lanes;
  Rate(machine, Precision::kF32) = sms * 2 * gpu.fp32_lanes;
  Rate(machine, Precision::kF16) = sms * gpu.tensor_fp16_flops;
  Rate(machine, Precision::kI8) = sms * gpu.tensor_int8_ops;
  return machine;
}

// The table's rows. As published; some names are shortened.
constexpr PublishedDevice kPublished[] = {
    {"Apple M1", false, 0.8, 46},
    {"Apple M1 Pro", false, 0.3, 96},
    {"Apple M2", false, 1, 60},
    {"Apple M2 Ultra", false, 4, 311},
    {"SteamDeck CPU", false, 0.17, 20},
    {"Samsung Exynos 2100", false, 0.1, 16},
    {"AMD Ryzen 5 3600", false, 0.36, 14},
    {"AMD Ryzen 5 4600HS", false, 0.4, 22},
    {"AMD Ryzen 9 5900X", false, 1.3, 29},
    {"AMD Ryzen 9 7950X", false, 1.1, 28},
    {"AMD Threadripper 3960X", false, 1.4, 44},
    {"AMD Threadripper 5975WX", false, 1.5, 28},
    {"AMD EPYC 7763", false, 3.2, 115},
    {"AMD EPYC 7262", false, 0.5, 80},
    {"Intel i5-12400", false, 0.7, 26},
    {"Intel i7-8559U", false, 0.2, 10},
    {"Intel i7-8750H", false, 0.5, 15},
    {"Intel i7-1360P", false, 0.4, 24},
    {"Intel i9-13900K", false, 1.2, 49},
    {"Intel Xeon Silver 4116", false, 0.5, 20},
    {"Intel Xeon Gold 6230", false, 1.9, 17.5},
    {"Intel Xeon Gold 6330", false, 5.7, 81},
    {"Intel Xeon Platinum 8358", false, 3.5, 96},
    {"Apple M1 GPU", true, 1.4, 56},
    {"Apple M1 Pro GPU", true, 3.7, 176},
    {"Apple M2 GPU", true, 2, 90},
    {"Apple M2 Ultra GPU", true, 20, 636},
    {"Apple M3 Max GPU", true, 11.4, 318},
    {"SteamDeck GPU", true, 1.22, 69},
    {"AMD 7900 XTX", true, 26, 792},
    {"Intel Arc 770", true, 15, 452},
    {"Intel Arc 370m", true, 4, 93},
    {"Intel Max 1100", true, 21, 781},
    {"Nvidia T4", true, 4, 240},
    {"Nvidia V100", true, 13, 766},
    {"Nvidia A10", true, 14, 469},
    {"Nvidia A100", true, 19, 1490},
    {"Nvidia H100-PCIe", true, 38, 1630},
    {"Nvidia 1050 Ti Mobile", true, 1.8, 97},
    {"Nvidia 1060 Ti Mobile", true, 3.8, 222},
    {"Nvidia 1650 Ti Mobile", true, 3, 172},
    {"Nvidia 2070S", true, 8, 831},
    {"Nvidia 3090", true, 27, 831},
    {"Nvidia 4060ti", true, 12, 234},
    {"Nvidia 4070 Super", true, 23, 411},
    {"Nvidia 4090", true, 58, 912},
};

}  // namespace

Machine DatasheetRoof(const model::GpuMachine& gpu) {
  Machine machine = PerClock(gpu);
  for (double& rate : machine.flops_per_s) rate *= gpu.boost_clock;
  machine.bytes_per_s = gpu.dram_peak;
  return machine;
}

Machine SustainedRoof(const model::GpuMachine& gpu) {
  Machine machine = PerClock(gpu);
  const double plain = gpu.fp32_sustained_clock > 0
                           ? gpu.fp32_sustained_clock * gpu.fp32_sustained_busy
                           : gpu.boost_clock;
  const double tensor = gpu.tensor_sustained_clock > 0
                            ? gpu.tensor_sustained_clock * gpu.tensor_sustained_busy
                            : gpu.boost_clock;
  Rate(machine, Precision::kF64) *= plain;
  Rate(machine, Precision::kF32) *= plain;
  Rate(machine, Precision::kF16) *= tensor;
  Rate(machine, Precision::kI8) *= tensor;
  machine.bytes_per_s = gpu.dram_bandwidth;
  machine.fixed_s = gpu.launch_overhead;
  machine.link_bytes_per_s = gpu.pcie_bandwidth;
  return machine;
}

Machine CpuRoof(const model::CpuMachine& cpu) {
  Machine machine;
  machine.name = cpu.name;
  Rate(machine, Precision::kF32) = cpu.flops;
  machine.bytes_per_s = cpu.bandwidth;
  machine.fixed_s = cpu.fixed_cost;
  return machine;
}

MemorySystem DramOf(const model::GpuMachine& gpu) {
  return {.bytes_per_s = gpu.dram_bandwidth,
          .latency_s = gpu.dram_latency / gpu.boost_clock,
          .processors = gpu.sm_count};
}

std::span<const PublishedDevice> PublishedDevices() { return kPublished; }

const PublishedDevice& FindPublished(std::string_view name) {
  for (const PublishedDevice& device : kPublished) {
    if (device.name == name) return device;
  }
  ASSAY_CHECK(false);
  return kPublished[0];
}

Machine PublishedRoof(const PublishedDevice& device) {
  Machine machine;
  machine.name = std::string(device.name);
  Rate(machine, Precision::kF32) = device.tera_flops_per_s * 1e12;
  machine.bytes_per_s = device.giga_bytes_per_s * 1e9;
  return machine;
}

}  // namespace assay::roofline
