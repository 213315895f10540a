// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/kernels/ladder.h"

#include <map>
#include <string>
#include <vector>

#include "gpu/simt/intrinsics.h"
#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::model {
namespace {

std::vector<float> RandomMatrix(Random& random, int rows, int columns) {
  std::vector<float> matrix(static_cast<size_t>(rows * columns));
  for (float& value : matrix) value = random.UniformF() - 0.5f;
  return matrix;
}

class SgemmTest : public testing::TestWithParam<SgemmKernel> {};

// All kernels add along k in rising order, one rounding a step: the same bits as the definition.
TEST_P(SgemmTest, MultipliesToTheLastBit) {
  const SgemmKernel& kernel = GetParam();
  const int m = 128;
  const int n = 256;
  const int k = 64;
  Random random(/*seed=*/51);
  const std::vector<float> a = RandomMatrix(random, m, k);
  const std::vector<float> b = RandomMatrix(random, k, n);
  simt::DeviceMemory memory;
  const auto on_device_a = memory.Upload(a, "a").value();
  const auto on_device_b = memory.Upload(b, "b").value();
  const auto on_device_c = memory.Allocate<float>(int64_t{m} * n, "c").value();
  const absl::StatusOr<simt::LaunchResult> result =
      RunSgemm(kernel, memory, on_device_a, on_device_b, on_device_c, m, n, k);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_TRUE(result->status.ok()) << simt::Format(result->diagnostics);
  EXPECT_TRUE(result->diagnostics.empty()) << simt::Format(result->diagnostics);
  const std::vector<float> c = memory.Download(on_device_c, int64_t{m} * n).value();
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0.0f;
      for (int i = 0; i < k; ++i) {
        sum = simt::__fmaf_rn(a[static_cast<size_t>(row * k + i)],
                              b[static_cast<size_t>(i * n + column)], sum);
      }
      ASSERT_EQ(c[static_cast<size_t>(row * n + column)], sum) << row << " " << column;
    }
  }
}

// What the simulator counts is what the machine code does: as many loads and stores of each space
// and width, on each architecture. (Spilled registers are apart.)
TEST_P(SgemmTest, AccessesAreThoseOfTheMachineCode) {
  const SgemmKernel& kernel = GetParam();
  const int k = 64;
  simt::DeviceMemory memory;
  const std::vector<float> ones(static_cast<size_t>(128 * k), 1.0f);
  const auto a = memory.Upload(ones, "a").value();
  const auto b = memory.Upload(ones, "b").value();
  const auto c = memory.Allocate<float>(int64_t{kernel.rows} * kernel.columns, "c").value();
  const absl::StatusOr<simt::LaunchResult> result =
      RunSgemm(kernel, memory, a, b, c, kernel.rows, kernel.columns, k);
  ASSERT_TRUE(result.ok() && result->status.ok());
  std::map<std::string, int64_t> counted;
  for (const simt::AccessCounters& access : result->counters.accesses) {
    const bool load = access.kind == simt::AccessKind::kLoad;
    const bool global = access.space == simt::Space::kGlobal;
    counted[std::string(load ? "LD" : "ST") + (global ? "G." : "S.") +
            std::to_string(access.width * 8)] += access.requests;
  }
  const auto warps = static_cast<int64_t>(kernel.block.Count() / 32);
  for (const int capability : {75, 86, 90}) {
    const KernelMix* const mix = FindKernel(ModelMix(capability), kernel.symbol);
    ASSERT_NE(mix, nullptr) << kernel.symbol;
    ASSERT_EQ(mix->loops.size(), 2u);
    std::map<std::string, int64_t> executed;
    for (size_t loop = 0; loop < 2; ++loop) {
      for (const InstructionCount& count : mix->loops[loop].instructions) {
        const std::string start = count.name.substr(0, 4);
        if (start == "LDG." || start == "STG." || start == "LDS." || start == "STS.") {
          executed[count.name] += count.count * (loop == 0 ? 1 : k / kernel.depth) * warps;
        }
      }
    }
    if (kernel.overlapped) {
      // The last pass fetches and keeps nothing: its loads and stores are switched off.
      const int64_t passes = k / kernel.depth + 1;  // with that before the loop
      for (const char* name : {"LDG.128", "STS.32", "STS.128"}) {
        executed[name] -= executed[name] / passes;
      }
    }
    EXPECT_EQ(executed, counted) << "sm_" << capability;
  }
}

// FP32 work is the product's own: m n k multiply-adds, by 32 lanes.
TEST_P(SgemmTest, DoesTheMultiplicationsAndNoMore) {
  const SgemmKernel& kernel = GetParam();
  for (const int capability : {75, 86, 90}) {
    const KernelMix* const mix = FindKernel(ModelMix(capability), kernel.symbol);
    ASSERT_NE(mix, nullptr);
    int64_t in_loop = 0;
    for (const InstructionCount& count : mix->loops[1].instructions) {
      if (count.name == "FFMA") in_loop = count.count;
    }
    EXPECT_EQ(in_loop * static_cast<int64_t>(kernel.block.Count()),
              int64_t{kernel.rows} * kernel.columns * kernel.depth);
  }
}

TEST_P(SgemmTest, RefusesOtherSizes) {
  const SgemmKernel& kernel = GetParam();
  simt::DeviceMemory memory;
  const simt::gptr<float> none;
  EXPECT_FALSE(RunSgemm(kernel, memory, none, none, none, 128, 128, 4).ok());
  EXPECT_FALSE(RunSgemm(kernel, memory, none, none, none, 16, 128, 64).ok());
  EXPECT_FALSE(RunSgemm(kernel, memory, none, none, none, 128, 0, 64).ok());
  EXPECT_FALSE(SgemmWork(kernel, ModelMix(75), Gpu("NVIDIA T4"), 100).ok());
  EXPECT_EQ(SgemmWork(kernel, Mix(), Gpu("NVIDIA T4"), 4096).status().code(),
            absl::StatusCode::kNotFound);
}

INSTANTIATE_TEST_SUITE_P(All, SgemmTest,
                         testing::ValuesIn(SgemmKernels().begin(), SgemmKernels().end()),
                         [](const testing::TestParamInfo<SgemmKernel>& info) {
                           return std::string(info.param.name);
                         });

// The counted traffic is what the caches do with the traces of all blocks.
TEST(TrafficTest, TilesAreWhatTheCachesSee) {
  const SgemmKernel& kernel = Sgemm("Sgemm1dTile");
  const int m = 512;
  const int n = 256;
  const int k = 64;
  GpuMachine gpu = Gpu("NVIDIA T4");
  gpu.sm_count = 3;
  gpu.l2_ways = 16;
  gpu.l2_bytes = 64 * 1024;  // a quarter of A and B together
  simt::DeviceMemory memory;
  const auto a = memory.Upload(std::vector<float>(static_cast<size_t>(m * k), 1.0f), "a").value();
  const auto b = memory.Upload(std::vector<float>(static_cast<size_t>(k * n), 1.0f), "b").value();
  const auto c = memory.Allocate<float>(int64_t{m} * n, "c").value();
  TrafficRecorder recorder;
  simt::LaunchConfig config;
  config.observer = &recorder;
  const absl::StatusOr<simt::LaunchResult> result =
      RunSgemm(kernel, memory, a, b, c, m, n, k, config);
  ASSERT_TRUE(result.ok() && result->status.ok());
  const int64_t blocks = m / 64 * (n / 64);
  for (const int per_sm : {1, 2}) {
    const absl::StatusOr<Traffic> traffic = Replay(recorder, gpu, per_sm, 32 * 1024);
    ASSERT_TRUE(traffic.ok()) << traffic.status();
    EXPECT_EQ(traffic->blocks, blocks);
    if (per_sm == 1) {
      EXPECT_EQ(traffic->l2_reads * 32, blocks * 4 * k * (64 + 64));
      EXPECT_EQ(traffic->l2_writes * 32, 4 * m * n);
    }
    EXPECT_EQ(static_cast<double>(traffic->dram_reads) * 32,
              SgemmDramReads(kernel, m, n, k, 3 * per_sm, gpu.l2_bytes))
        << per_sm;
    EXPECT_EQ(traffic->dram_writes * 32, 4 * m * n);
  }
  gpu.l2_bytes = 1 << 20;
  EXPECT_EQ(Replay(recorder, gpu, 1, 32 * 1024)->dram_reads * 32, 4 * (m * k + k * n));
  EXPECT_EQ(SgemmDramReads(kernel, m, n, k, 3, gpu.l2_bytes), 4 * (m * k + k * n));
}

// One column of lanes after another: of the naive kernel's 33 lines a step, L1 keeps all but one
// sector in eight.
TEST(TrafficTest, L1ServesTheNaiveKernelsNeighbours) {
  const SgemmKernel& kernel = Sgemm("SgemmNaive");
  simt::DeviceMemory memory;
  const std::vector<float> ones(32 * 64, 1.0f);
  const auto a = memory.Upload(ones, "a").value();
  const auto b = memory.Upload(ones, "b").value();
  const auto c = memory.Allocate<float>(32 * 32, "c").value();
  TrafficRecorder recorder;
  simt::LaunchConfig config;
  config.observer = &recorder;
  ASSERT_TRUE(RunSgemm(kernel, memory, a, b, c, 32, 32, 64, config).ok());
  const absl::StatusOr<Traffic> traffic = Replay(recorder, Gpu("NVIDIA T4"), 1, 64 * 1024);
  ASSERT_TRUE(traffic.ok());
  EXPECT_EQ(traffic->l1_reads, int64_t{32} * 64 * 33);
  EXPECT_EQ(traffic->l2_reads * 32, 4 * 64 * (32 + 32));
}

// A warp's instructions of a stream, and the memory that it moves.
TEST(StreamTest, MovesWhatItsNameSays) {
  const int n = 4096;
  Random random(/*seed=*/52);
  const std::vector<float> x = RandomMatrix(random, 1, n);
  const std::vector<float> y = RandomMatrix(random, 1, n);
  simt::DeviceMemory memory;
  const auto on_device_x = memory.Upload(x, "x").value();
  const auto on_device_y = memory.Upload(y, "y").value();
  const auto z = memory.Allocate<float>(n, "z").value();
  const simt::LaunchConfig config = {.grid = n / 256, .block = 256};
  simt::LaunchResult copy = simt::Launch(memory, config, kStreamCopy, on_device_x, z);
  ASSERT_TRUE(copy.status.ok());
  EXPECT_EQ(memory.Download(z, n).value(), x);
  EXPECT_EQ(Total(copy.counters, simt::Space::kGlobal, simt::AccessKind::kLoad).sectors, n / 8);
  EXPECT_EQ(Total(copy.counters, simt::Space::kGlobal, simt::AccessKind::kStore).sectors, n / 8);
  simt::LaunchResult triad =
      simt::Launch(memory, config, kStreamTriad, on_device_x, on_device_y, z);
  ASSERT_TRUE(triad.status.ok());
  const std::vector<float> sum = memory.Download(z, n).value();
  for (size_t i = 0; i < sum.size(); ++i) {
    ASSERT_EQ(sum[i], simt::__fmaf_rn(3.0f, y[i], x[i])) << i;
  }
  EXPECT_EQ(Total(triad.counters, simt::Space::kGlobal, simt::AccessKind::kLoad).sectors, n / 4);
}

TEST(StreamTest, SumsBlocksInAFixedOrder) {
  const std::vector<float> x = [] {
    std::vector<float> values(4096);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
    return values;
  }();
  simt::DeviceMemory memory;
  const auto on_device_x = memory.Upload(x, "x").value();
  const auto sums = memory.Allocate<float>(4, "sums").value();
  const simt::LaunchResult result =
      simt::Launch(memory, {.grid = 4, .block = 256}, kBlockSums, on_device_x, sums);
  ASSERT_TRUE(result.status.ok()) << simt::Format(result.diagnostics);
  const std::vector<float> out = memory.Download(sums, 4).value();
  for (size_t block = 0; block < 4; ++block) {
    float expected = 0.0f;  // small integers: any order gives the same
    for (size_t i = 0; i < 1024; ++i) expected += x[block * 1024 + i];
    EXPECT_EQ(out[block], expected);
  }
}

}  // namespace
}  // namespace assay::model
