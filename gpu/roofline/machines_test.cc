// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/machines.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace assay::roofline {
namespace {

const model::GpuMachine& T4() { return model::Gpu("NVIDIA T4"); }
const model::GpuMachine& H200() { return model::Gpu("NVIDIA H200"); }

TEST(MachinesTest, DatasheetsAreThoseOfTheMaker) {
  // NVIDIA's T4 product brief: 8.1 TFLOP/s, 65 of f16 on tensor cores, 130 TOPS, 320 GB/s.
  const Machine t4 = DatasheetRoof(T4());
  EXPECT_NEAR(t4.peak(Precision::kF32), 8.14e12, 0.01e12);
  EXPECT_NEAR(t4.peak(Precision::kF16), 65.1e12, 0.1e12);
  EXPECT_NEAR(t4.peak(Precision::kI8), 130.3e12, 0.1e12);
  EXPECT_NEAR(t4.peak(Precision::kF64), 0.254e12, 0.001e12);
  EXPECT_EQ(t4.bytes_per_s, 320e9);
  EXPECT_EQ(t4.fixed_s, 0);
  EXPECT_NEAR(RidgePoint(t4, Precision::kF32), 25.4, 0.1);
  EXPECT_NEAR(RidgePoint(t4, Precision::kF16), 203.5, 0.1);
  // The H200's: 67 and 990 TFLOP/s, 4.8 TB/s.
  const Machine h200 = DatasheetRoof(H200());
  EXPECT_NEAR(h200.peak(Precision::kF32), 67e12, 0.5e12);
  EXPECT_EQ(h200.bytes_per_s, 4.8e12);
}

TEST(MachinesTest, PowerHalvesTheRidgeOfTheT4) {
  // As users measured it: 4.2 to 4.4 TFLOP/s in f32 and 24 on tensor cores, copies at 240 GB/s.
  const Machine t4 = SustainedRoof(T4());
  EXPECT_NEAR(t4.peak(Precision::kF32), 4.3e12, 0.05e12);
  EXPECT_NEAR(t4.peak(Precision::kF16), 24e12, 0.1e12);
  EXPECT_EQ(t4.bytes_per_s, 240e9);
  EXPECT_NEAR(RidgePoint(t4, Precision::kF32), 17.9, 0.2);
  EXPECT_NEAR(RidgePoint(t4, Precision::kF16), 100, 0.3);
  EXPECT_GT(t4.fixed_s, 0);
  EXPECT_GT(t4.link_bytes_per_s, 9e9);
  EXPECT_LT(t4.link_bytes_per_s, 15.75e9);
}

TEST(MachinesTest, UnknownClocksAreTheBoostClock) {
  model::GpuMachine gpu = T4();
  gpu.fp32_sustained_clock = gpu.tensor_sustained_clock = 0;
  EXPECT_EQ(SustainedRoof(gpu).flops_per_s, DatasheetRoof(gpu).flops_per_s);
}

TEST(MachinesTest, CpusAreTheirNumbers) {
  const model::CpuMachine& cpu = model::Cpu("CPU implied by the articles");
  const Machine machine = CpuRoof(cpu);
  EXPECT_EQ(machine.name, cpu.name);
  EXPECT_EQ(machine.peak(Precision::kF32), 220e9);
  EXPECT_EQ(machine.bytes_per_s, 22e9);
  EXPECT_EQ(machine.peak(Precision::kF64), 0);
  EXPECT_EQ(machine.link_bytes_per_s, 0);
}

// Nineteen times, eleven times, and slower: the three of the page, from two numbers a machine.
TEST(MachinesTest, OneCardIsNineteenTimesElevenTimesAndNotAsFast) {
  const Machine cpu = CpuRoof(model::Cpu("CPU implied by the articles"));
  const Machine t4 = SustainedRoof(T4());
  const Precision p = Precision::kF32;
  EXPECT_NEAR(*Speedup(cpu, t4, p, *MatMul(4096, 4096, 4096, p)), 19.4, 0.3);
  const Work add = *Elementwise(int64_t{1} << 26, 2, 1, 1, p);
  EXPECT_NEAR(*Speedup(cpu, t4, p, add), 10.9, 0.1);
  EXPECT_LT(*Speedup(cpu, t4, p, add, 0, add.bytes()), 0.6);
  EXPECT_LT(*Speedup(cpu, t4, p, *Elementwise(1000, 2, 1, 1, p)), 0.5);
}

TEST(MachinesTest, DramKeepsItsLatencyInSeconds) {
  const MemorySystem dram = DramOf(T4());
  EXPECT_EQ(dram.bytes_per_s, 240e9);
  EXPECT_DOUBLE_EQ(dram.latency_s, 500 / 1.59e9);
  EXPECT_EQ(dram.processors, 40);
  EXPECT_EQ(*WarpsNeeded(dram, {}), 15);
}

TEST(MachinesTest, PublishedDevicesHaveBothNumbers) {
  std::set<std::string_view> names;
  int gpus = 0;
  for (const PublishedDevice& device : PublishedDevices()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_GT(device.tera_flops_per_s, 0);
    EXPECT_LT(device.tera_flops_per_s, 100);
    EXPECT_GT(device.giga_bytes_per_s, 5);
    EXPECT_LT(device.giga_bytes_per_s, 2000);
    gpus += device.gpu;
    const Machine machine = PublishedRoof(device);
    EXPECT_EQ(machine.peak(Precision::kF32), device.tera_flops_per_s * 1e12);
    EXPECT_EQ(machine.bytes_per_s, device.giga_bytes_per_s * 1e9);
    EXPECT_EQ(machine.name, device.name);
  }
  EXPECT_EQ(gpus, 23);
  EXPECT_EQ(names.size(), 46u);
  EXPECT_EQ(FindPublished("Nvidia T4").giga_bytes_per_s, 240);
  // The pairs that gpu/model has of the same table are the same.
  EXPECT_EQ(PublishedRoof(FindPublished("Intel i7-8559U")).bytes_per_s,
            CpuRoof(model::Cpu("Intel Core i7-8559U")).bytes_per_s);
}

}  // namespace
}  // namespace assay::roofline
