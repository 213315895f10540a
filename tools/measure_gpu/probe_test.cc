// SPDX-License-Identifier: Apache-2.0
// The probes on the simulator: kernels and checks are right, and the work they claim is what the
// simulator counts.

#include "tools/measure_gpu/probe.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gpu/device/buffer.h"
#include "gpu/device/device.h"
#include "gpu/device/simulator.h"
#include "gpu/simt/counters.h"
#include "gpu/simt/launch.h"
#include "gtest/gtest.h"
#include "tools/measure_gpu/reference.h"
#include "tools/measure_gpu/result.h"

namespace assay::measure_gpu {
namespace {

constexpr Effort kSmall{.max_runs = 2,
                        .warm_up = 1,
                        .samples = 3,
                        .blocks_per_sm = 1,
                        .loops = 2,
                        .rounds = 3,
                        .hops = 50,
                        .memory_bytes = 48 << 10,
                        .transfer_bytes = 4096,
                        .launches = 5};

device::Device TwoMultiprocessors() {
  return device::OpenSimulator({.multiprocessors = 2}).value();
}

// Bytes that one launch asks for by accesses of 16 bytes: what the memory probes measure.
struct Asked {
  double global = 0;
  double shared = 0;
};

Asked WideAccesses(const simt::LaunchCounters& counters) {
  Asked asked;
  for (const simt::AccessCounters& access : counters.accesses) {
    if (access.width != 16) continue;
    const double bytes = 16.0 * static_cast<double>(access.lanes);
    (access.space == simt::Space::kGlobal ? asked.global : asked.shared) += bytes;
  }
  return asked;
}

TEST(ProbeTest, EveryProbeChecksItsResult) {
  std::set<std::string> ids;
  for (const NamedProbe& named : Probes()) {
    // Of the matrix instructions the wide ones begin with sm_80.
    device::Device device =
        device::OpenSimulator({.compute_capability = 80, .multiprocessors = 2}).value();
    const absl::StatusOr<Probe> probe = named.run(device, kSmall);
    ASSERT_TRUE(probe.ok()) << named.id << ": " << probe.status();
    EXPECT_EQ(probe->id, named.id);
    EXPECT_FALSE(probe->title.empty());
    EXPECT_EQ(probe->checked, probe->id.rfind("launch_", 0) != 0) << named.id;
    EXPECT_EQ(probe->seconds.size(), 3u) << named.id;
    EXPECT_GE(probe->runs_per_sample, 1) << named.id;
    EXPECT_GT(probe->flops + probe->bytes + probe->steps, 0) << named.id;
    EXPECT_EQ(device.live().buffers, 0) << named.id;
    ids.insert(probe->id);
  }
  EXPECT_EQ(ids.size(), Probes().size());
  EXPECT_EQ(ids.size(), 24u);
}

TEST(ProbeTest, ClaimsTheBytesThatItsKernelAsksFor) {
  for (const NamedProbe& named : Probes()) {
    const std::string id = named.id;
    const bool window = id == "l1_read" || id == "shared_read";
    if (id.rfind("dram_", 0) != 0 && id != "l2_read" && !window) continue;
    if (id == "dram_latency") continue;
    device::Device device = TwoMultiprocessors();
    std::vector<Asked> asked;
    device::OnLaunch(device, [&](const simt::LaunchResult& result) {
      asked.push_back(WideAccesses(result.counters));
    });
    const absl::StatusOr<Probe> probe = named.run(device, kSmall);
    ASSERT_TRUE(probe.ok()) << probe.status();
    ASSERT_FALSE(asked.empty());
    for (const Asked& launch : asked) {
      EXPECT_EQ(id == "shared_read" ? launch.shared : launch.global,
                // A window in shared memory is written once before it is read.
                probe->bytes + (id == "shared_read" ? 2 * 1024 * 16 : 0))
          << id;
    }
  }
}

// One run of the arithmetic probes, by hand: threads, chains, steps, loops.
TEST(ProbeTest, ClaimsTheOperationsThatItsKernelMakes) {
  const std::map<std::string, double> flops_of_one = {{"mma_f16_m16n8k8", 2.0 * 16 * 8 * 8},
                                                      {"mma_f16_m16n8k16", 2.0 * 16 * 8 * 16},
                                                      {"mma_s8_m8n8k16", 2.0 * 8 * 8 * 16},
                                                      {"mma_s8_m16n8k32", 2.0 * 16 * 8 * 32}};
  int checked = 0;
  for (const NamedProbe& named : Probes()) {
    const std::string id = named.id;
    device::Device device =
        device::OpenSimulator({.compute_capability = 80, .multiprocessors = 2}).value();
    int64_t instructions = 0;
    device::OnLaunch(device, [&](const simt::LaunchResult& result) {
      instructions = result.counters.matrix_operations;
    });
    if (id == "fma_f32" || id == "fma_f16") {
      const double fused = 2.0 * 256 * 8 * 16 * kSmall.loops;
      EXPECT_EQ(named.run(device, kSmall)->flops, (id == "fma_f16" ? 4 : 2) * fused);
      ++checked;
    } else if (flops_of_one.count(id) != 0) {
      const absl::StatusOr<Probe> probe = named.run(device, kSmall);
      ASSERT_TRUE(probe.ok()) << probe.status();
      EXPECT_GT(instructions, 0) << id;
      EXPECT_EQ(probe->flops, flops_of_one.at(id) * static_cast<double>(instructions)) << id;
      ++checked;
    }
  }
  EXPECT_EQ(checked, 6);
}

// Full lines only: a probe that asked for sectors it does not use would measure those.
TEST(ProbeTest, ReadsAndWritesWholeSectors) {
  for (const NamedProbe& named : Probes()) {
    const std::string id = named.id;
    if (id != "dram_copy" && id != "dram_triad" && id != "dram_write" && id != "dram_read")
      continue;
    device::Device device = TwoMultiprocessors();
    device::OnLaunch(device, [&](const simt::LaunchResult& result) {
      for (const simt::AccessCounters& access : result.counters.accesses) {
        if (access.width != 16) continue;
        EXPECT_EQ(access.sectors, access.ideal_sectors) << id;
      }
    });
    ASSERT_TRUE(named.run(device, kSmall).ok());
  }
}

TEST(ProbeTest, SharedMemoryIsReadWithoutConflicts) {
  device::Device device = TwoMultiprocessors();
  device::OnLaunch(device, [&](const simt::LaunchResult& result) {
    const simt::AccessCounters reads =
        Total(result.counters, simt::Space::kShared, simt::AccessKind::kLoad);
    EXPECT_GT(reads.wavefronts, 0);
    EXPECT_EQ(reads.wavefronts, reads.ideal_wavefronts);
  });
  for (const NamedProbe& named : Probes()) {
    if (std::string(named.id) == "shared_read") {
      ASSERT_TRUE(named.run(device, kSmall).ok());
    }
  }
}

// The simulator's buffers are the only ones it has, so a probe without room says so.
TEST(ProbeTest, ReturnsWhatGoesWrong) {
  device::Device device =
      device::OpenSimulator(
          {.compute_capability = 80, .multiprocessors = 2, .memory_bytes = 1 << 10})
          .value();
  int failed = 0;
  for (const NamedProbe& named : Probes()) {
    const absl::StatusOr<Probe> probe = named.run(device, kSmall);
    if (probe.ok()) continue;
    EXPECT_EQ(probe.status().code(), absl::StatusCode::kResourceExhausted) << probe.status();
    ++failed;
  }
  EXPECT_EQ(failed, 21);  // all but the launches
}

TEST(ProbeTest, SaysWhatAnOlderGpuLacks) {
  device::Device device = TwoMultiprocessors();
  std::vector<std::string> missing;
  for (const NamedProbe& named : Probes()) {
    const absl::StatusOr<Probe> probe = named.run(device, kSmall);
    if (probe.ok()) continue;
    EXPECT_EQ(probe.status().code(), absl::StatusCode::kUnimplemented) << probe.status();
    missing.push_back(named.id);
  }
  EXPECT_EQ(missing, (std::vector<std::string>{"mma_f16_m16n8k16", "mma_s8_m16n8k32"}));
}

TEST(ResultTest, PrintsLinesOfJson) {
  Probe probe{.id = "dram_copy", .title = "a \"title\"", .bytes = 1024, .runs_per_sample = 3};
  probe.seconds = {0.1, 1e-6};
  EXPECT_EQ(
      ProbeLine(probe),
      "{\"probe\": {\"id\": \"dram_copy\", \"title\": \"a \\\"title\\\"\", \"flops\": 0, "
      "\"bytes\": 1024, \"steps\": 0, \"cycles\": 0, \"checked\": true, \"runs_per_sample\": 3, "
      "\"seconds\": [0.10000000000000001, 9.9999999999999995e-07]}}");
  EXPECT_EQ(BeginLine("x"), "{\"begin\": \"x\"}");
  EXPECT_EQ(StatusLine("x", absl::UnimplementedError("too old")),
            "{\"skipped\": {\"id\": \"x\", \"why\": \"UNIMPLEMENTED: too old\"}}");
  EXPECT_EQ(StatusLine("x", absl::DataLossError("a\n\\b\xc3")),
            "{\"failed\": {\"id\": \"x\", \"why\": \"DATA_LOSS: a\\u000a\\\\b?\"}}");
  GpuDescription gpu;
  gpu.name = "Tesla T4";
  gpu.compute_major = 7;
  gpu.compute_minor = 5;
  gpu.multiprocessors = 40;
  gpu.ecc = true;
  EXPECT_EQ(DeviceLine(gpu),
            "{\"device\": {\"name\": \"Tesla T4\", \"compute_capability\": \"7.5\", "
            "\"multiprocessors\": 40, \"memory_bytes\": 0, \"l2_bytes\": 0, "
            "\"shared_bytes_per_multiprocessor\": 0, \"registers_per_multiprocessor\": 0, "
            "\"memory_bus_bits\": 0, \"clock_khz\": 0, \"memory_clock_khz\": 0, \"ecc\": true, "
            "\"driver_version\": 0, \"runtime_version\": 0}}");
}

TEST(ReferenceTest, RandomCycleVisitsEveryNodeOnce) {
  for (const int64_t nodes : {2, 3, 1000}) {
    const std::vector<uint32_t> next = RandomCycle(nodes, 4, 7);
    ASSERT_EQ(next.size(), static_cast<size_t>(4 * nodes));
    std::set<uint32_t> seen;
    uint32_t at = 0;
    for (int64_t i = 0; i < nodes; ++i) {
      EXPECT_EQ(at % 4, 0u);
      EXPECT_TRUE(seen.insert(at).second);
      at = next[at];
    }
    EXPECT_EQ(at, 0u);
    EXPECT_EQ(Follow(next, 0, nodes), 0u);
  }
  EXPECT_NE(RandomCycle(1000, 1, 7), RandomCycle(1000, 1, 8));
}

TEST(ReferenceTest, WordsDiffer) {
  std::set<uint32_t> words;
  for (int64_t i = 0; i < 10000; ++i) words.insert(WordAt(i));
  EXPECT_EQ(words.size(), 10000u);
  EXPECT_EQ(ElementSum(5), WordAt(20) + WordAt(21) + WordAt(22) + WordAt(23));
}

TEST(ReferenceTest, FusedMultiplyAddRoundsOnce) {
  // One chain, one step from 0: b; from 1/32: a/32 + b, rounded once.
  EXPECT_EQ(FmaF32Reference(0, 0.3f, 0.1f, 1, 1), 0.1f);
  EXPECT_EQ(FmaF32Reference(1, 0.3f, 0.1f, 1, 1),
            static_cast<float>(double{0.3f} * 0.03125 + double{0.1f}));
  // 1.25 is 0x3d00 in 16 bits; both halves of thread 0 hold it where a = 0.
  EXPECT_EQ(FmaF16Reference(0, 0.0f, 1.25f, 1, 1), 0x3d003d00u);
}

// Each entry of A and B is in just one place of the fragments, and each product is another.
TEST(ReferenceTest, FragmentsHoldTheMatricesOnce) {
  for (const MatrixShape& shape : {MatrixShape{16, 8, true}, MatrixShape{16, 16, true},
                                   MatrixShape{8, 16, false}, MatrixShape{16, 32, false}}) {
    const std::vector<uint32_t> registers = Fragments(shape);
    EXPECT_EQ(registers.size(),
              static_cast<size_t>(32 * (shape.ARegisters() + shape.BRegisters())));
    const int in_register = shape.is_f16 ? 2 : 4;
    EXPECT_EQ(registers.size() * static_cast<size_t>(in_register),
              static_cast<size_t>(shape.m * shape.k + shape.k * 8));
    std::set<double> products;
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < shape.CRegisters(); ++i) products.insert(Product(shape, lane, i));
    }
    EXPECT_GT(products.size(), 20u);
  }
}

}  // namespace
}  // namespace assay::measure_gpu
