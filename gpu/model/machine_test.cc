// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/machine.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::model {
namespace {

constexpr char kSmall[] =
    "# a comment\n\ncpu Two numbers\ngflops 100 published somewhere\n"
    "  bandwidth_gbs 12.5   derived from   that\nfixed_cost_us 3 memory a guess\n";

// The text with `from`, which is in it once, replaced.
std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string T4WithConstants() {
  std::string text = "gpu " + Gpus().front().name + "\n";
  for (const Constant& constant : Gpus().front().constants) {
    std::string value = std::to_string(constant.value);
    text += constant.field + " " + value + " " + std::string(MarkName(constant.mark)) + " " +
            constant.source + "\n";
  }
  return text;
}

TEST(MachineTest, ReadsACpuInItsUnits) {
  const absl::StatusOr<CpuMachine> cpu = ParseCpu(kSmall);
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  EXPECT_EQ(cpu->name, "Two numbers");
  EXPECT_EQ(cpu->flops, 100e9);
  EXPECT_EQ(cpu->bandwidth, 12.5e9);
  EXPECT_EQ(cpu->fixed_cost, 3 * 1e-6);
  ASSERT_EQ(cpu->constants.size(), 3u);
  const Constant* bandwidth = Find(cpu->constants, "bandwidth_gbs");
  ASSERT_NE(bandwidth, nullptr);
  EXPECT_EQ(*bandwidth, (Constant{"bandwidth_gbs", 12.5, Mark::kDerived, "from   that"}));
  EXPECT_EQ(Find(cpu->constants, "bandwidth"), nullptr);
}

TEST(MachineTest, RefusesWhatIsNotAMachine) {
  const struct {
    const char* from;
    const char* to;
    const char* says;
  } cases[] = {
      {"cpu Two numbers", "gpu Two numbers", "expected 'cpu NAME'"},
      {"cpu Two numbers", "cpu", "expected 'cpu NAME'"},
      {"gflops 100", "gflop 100", "no field 'gflop'"},
      {"gflops 100", "gflops -100", "expected a decimal number"},
      {"gflops 100", "gflops 1e2", "expected a decimal number"},
      {"gflops 100", "gflops inf", "expected a decimal number"},
      {"gflops 100", "gflops nan", "expected a decimal number"},
      {"gflops 100", "gflops 0x10", "expected a decimal number"},
      {"gflops 100", "gflops 1.2.3", "expected a decimal number"},
      {"gflops 100", "gflops .", "expected a decimal number"},
      {"gflops 100", "gflops 0", "expected 0.001 to"},
      {"gflops 100", "gflops 99999999999999999999", "expected 0.001 to"},
      {"gflops 100", "gflops 1000000000000000000000000", "expected a decimal number"},
      {"gflops 100 published", "gflops 100 printed", "mark 'printed'"},
      {"gflops 100 published somewhere", "gflops 100 published", "no source"},
      {"gflops 100 published somewhere", "gflops", "expected a decimal number"},
      {"gflops 100 published somewhere\n", "", "has no gflops"},
      {"fixed_cost_us 3", "gflops 3", "a second time"},
      {"somewhere", "some\twhere", "printable ASCII"},
      {"somewhere", "some\x80where", "printable ASCII"},
  };
  for (const auto& c : cases) {
    const absl::Status status = ParseCpu(Replaced(kSmall, c.from, c.to)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.to;
    EXPECT_NE(std::string(status.message()).find(c.says), std::string::npos) << status;
  }
  EXPECT_EQ(ParseCpu("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(ParseCpu(std::string(kSmall) + std::string(1 << 16, '\n')).ok());
  EXPECT_FALSE(ParseCpu(absl::string_view(kSmall, sizeof(kSmall))).ok());  // with its final zero
  EXPECT_TRUE(ParseCpu(kSmall).ok());
}

TEST(MachineTest, RefusesNumbersThatContradictEachOther) {
  const std::string text = T4WithConstants();
  ASSERT_TRUE(ParseGpu(text).ok()) << ParseGpu(text).status();
  const struct {
    const char* from;
    const char* to;
    const char* says;
  } cases[] = {
      {"base_clock_mhz 585", "base_clock_mhz 1605", "above boost"},
      {"base_clock_mhz 585", "base_clock_mhz 586", "whole ones"},
      {"l2_ways 16.", "l2_ways 7.", "a whole number"},
      {"sm_count 40.000000", "sm_count 40.5", "expected an integer"},
      {"dram_bandwidth_gbs 240", "dram_bandwidth_gbs 321", "above its peak"},
      {"power_base_w 20.", "power_base_w 70.", "at its limit"},
      {"voltage_at_base 0.65", "voltage_at_base 1.65", "falls"},
      {"fp32_sustained_clock_mhz 900", "fp32_sustained_clock_mhz 570", "sustained"},
      {"fp32_sustained_clock_mhz 900.", "fp32_sustained_clock_mhz 0.", "sustained"},
      {"tensor_sustained_busy 1.", "tensor_sustained_busy 0.", "sustained"},
      {"tag_lines 1.", "tag_lines 0.", "expected 0.1 to"},
  };
  for (const auto& c : cases) {
    const absl::Status status = ParseGpu(Replaced(text, c.from, c.to)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.to;
    EXPECT_NE(std::string(status.message()).find(c.says), std::string::npos) << status;
  }
}

// Bytes changed at random: a status or a machine, never anything else, and a machine that is there
// has finite numbers.
TEST(MachineTest, SurvivesAnyBytes) {
  const std::string text = T4WithConstants();
  Random random(/*seed=*/20);
  int machines = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string changed = text;
    const int64_t changes = random.Integer(1, 4);
    for (int64_t k = 0; k < changes; ++k) {
      const size_t at = static_cast<size_t>(random.Integer(static_cast<int64_t>(changed.size())));
      if (random.Bernoulli(0.5)) {
        changed[at] = static_cast<char>(random.Integer(256));
      } else {
        changed.erase(at, static_cast<size_t>(random.Integer(1, 60)));
      }
    }
    const absl::StatusOr<GpuMachine> gpu = ParseGpu(changed);
    if (!gpu.ok()) continue;
    ++machines;
    EXPECT_TRUE(std::isfinite(PeakFp32(*gpu)));
    EXPECT_GT(PeakFp32(*gpu), 0);
  }
  EXPECT_GT(machines, 100);
  EXPECT_LT(machines, 2900);
}

TEST(MachineTest, HasTheMachinesOfThePages) {
  EXPECT_EQ(Gpus().front().name, "NVIDIA T4");
  std::set<std::string> names;
  for (const GpuMachine& gpu : Gpus()) names.insert(gpu.name);
  for (const CpuMachine& cpu : Cpus()) names.insert(cpu.name);
  EXPECT_EQ(names.size(), 9u);
  EXPECT_EQ(&Gpu("NVIDIA T4"), &Gpus().front());
  EXPECT_EQ(Cpu("AMD EPYC 7262").bandwidth, 80e9);
}

// The peaks that the makers print follow from lanes and clocks.
TEST(MachineTest, PeaksAreThoseOfTheDataSheets) {
  EXPECT_NEAR(PeakFp32(Gpu("NVIDIA T4")), 8.14e12, 0.005e12);
  EXPECT_NEAR(PeakTensorFp16(Gpu("NVIDIA T4")), 65.1e12, 0.05e12);
  EXPECT_NEAR(PeakFp32(Gpu("NVIDIA H200")), 67e12, 0.5e12);
  EXPECT_NEAR(PeakFp32(Gpu("NVIDIA RTX A6000")), 38.7e12, 0.05e12);
  EXPECT_NEAR(PeakFp32(Gpu("NVIDIA GeForce RTX 2080 Super")), 11.15e12, 0.01e12);
}

TEST(MachineTest, TakesMeasuredNumbers) {
  const absl::StatusOr<CpuMachine> host = MeasuredCpu("this machine", "a run", 5e10, 1e10, 1e-6);
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_EQ(host->flops, 5e10);
  EXPECT_EQ(host->bandwidth, 1e10);
  EXPECT_NEAR(host->fixed_cost, 1e-6, 1e-20);
  EXPECT_EQ(host->constants[0], (Constant{"gflops", 50, Mark::kMeasured, "a run"}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(MeasuredCpu("this machine", "a run", nan, 1e10, 0).ok());
  EXPECT_FALSE(MeasuredCpu("this machine", "a run", 5e10, -1, 0).ok());
  EXPECT_FALSE(MeasuredCpu("this machine", "a run", 5e10, 1e10, 1.0 / 0.0).ok());
  EXPECT_FALSE(MeasuredCpu("", "a run", 5e10, 1e10, 0).ok());
}

}  // namespace
}  // namespace assay::model
