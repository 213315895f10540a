// SPDX-License-Identifier: Apache-2.0
// Our occupancy beside CUDA's own, cuda_occupancy.h, on random configurations.
#include <cuda_occupancy.h>

#include <cstdint>
#include <string>

#include "gpu/simt/occupancy.h"
#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::simt {
namespace {

constexpr int kConfigurations = 10000;
constexpr int kSms = 40;

struct Configuration {
  KernelResources kernel;
  int threads;
  int64_t dynamic_shared;
};

// Half of the numbers sit on a granularity's edge, where mistakes live.
int64_t Size(Random& random, int64_t most) {
  const int64_t value = random.Integer(most + 1);
  return random.Bernoulli(0.5) ? value / 256 * 256 : value;
}

Configuration RandomConfiguration(Random& random, const Architecture& architecture) {
  Configuration c;
  c.kernel.registers = static_cast<int>(random.Integer(0, 256));
  c.kernel.static_shared = random.Bernoulli(0.4) ? 0 : Size(random, 49152);
  if (random.Bernoulli(0.5)) {
    c.kernel.max_dynamic_shared = Size(random, architecture.shared_opt_in);
  }
  if (random.Bernoulli(0.3)) c.kernel.carve_out_percent = static_cast<int>(random.Integer(101));
  if (random.Bernoulli(0.2)) c.kernel.max_threads = static_cast<int>(random.Integer(1, 1025));
  c.kernel.barriers = static_cast<int>(random.Integer(0, 17));
  c.threads = static_cast<int>(random.Integer(1, 1100));
  if (random.Bernoulli(0.5)) c.threads = (c.threads + 31) / 32 * 32;
  c.dynamic_shared = random.Bernoulli(0.4) ? 0 : Size(random, architecture.shared_opt_in + 2048);
  return c;
}

cudaOccDeviceProp Device(const Architecture& architecture) {
  cudaOccDeviceProp device;
  device.computeMajor = architecture.compute_capability / 10;
  device.computeMinor = architecture.compute_capability % 10;
  device.maxThreadsPerBlock = Architecture::kMaxThreadsPerBlock;
  device.maxThreadsPerMultiprocessor = architecture.max_threads_per_sm;
  device.regsPerBlock = Architecture::kRegistersPerBlock;
  device.regsPerMultiprocessor = Architecture::kRegistersPerSm;
  device.warpSize = Architecture::kWarp;
  device.sharedMemPerBlock = static_cast<size_t>(Architecture::kSharedPerBlock);
  device.sharedMemPerMultiprocessor = static_cast<size_t>(architecture.shared_per_sm);
  device.numSms = kSms;
  device.sharedMemPerBlockOptin = static_cast<size_t>(architecture.shared_opt_in);
  device.reservedSharedMemPerBlock = static_cast<size_t>(architecture.shared_reserved);
  return device;
}

// As the CUDA runtime fills it in.
cudaOccFuncAttributes Attributes(const KernelResources& kernel) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = kernel.max_threads;
  attributes.numRegs = kernel.registers;
  attributes.sharedSizeBytes = static_cast<size_t>(kernel.static_shared);
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<size_t>(
      kernel.max_dynamic_shared >= 0 ? kernel.max_dynamic_shared : 49152 - kernel.static_shared);
  attributes.numBlockBarriers = kernel.barriers;
  return attributes;
}

int Bit(Limiter limiter) {
  switch (limiter) {
    case Limiter::kThreads:
      return OCC_LIMIT_WARPS;
    case Limiter::kRegisters:
      return OCC_LIMIT_REGISTERS;
    case Limiter::kShared:
      return OCC_LIMIT_SHARED_MEMORY;
    case Limiter::kBlocks:
      return OCC_LIMIT_BLOCKS;
    case Limiter::kBarriers:
      return OCC_LIMIT_BARRIERS;
  }
  return 0;
}

class OccupancyOracleTest : public testing::TestWithParam<Architecture> {};

TEST_P(OccupancyOracleTest, AgreesOnBlocksAndOnWhatLimitsThem) {
  const Architecture& architecture = GetParam();
  const cudaOccDeviceProp device = Device(architecture);
  Random random(/*seed=*/8, /*stream=*/static_cast<uint64_t>(architecture.compute_capability));
  int refused = 0;
  for (int i = 0; i < kConfigurations; ++i) {
    const Configuration c = RandomConfiguration(random, architecture);
    const cudaOccFuncAttributes attributes = Attributes(c.kernel);
    cudaOccDeviceState state;
    state.carveoutConfig = c.kernel.carve_out_percent;
    cudaOccResult expected;
    const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &expected, &device, &attributes, &state, c.threads, static_cast<size_t>(c.dynamic_shared));
    ASSERT_EQ(error, CUDA_OCC_SUCCESS);
    const absl::StatusOr<Occupancy> o =
        ComputeOccupancy(architecture, c.kernel, c.threads, c.dynamic_shared);
    ASSERT_TRUE(o.ok()) << o.status();
    ASSERT_EQ(o->blocks, expected.activeBlocksPerMultiprocessor) << i;
    ASSERT_EQ(o->by_threads, expected.blockLimitWarps) << i;
    ASSERT_EQ(o->by_registers, expected.blockLimitRegs) << i;
    ASSERT_EQ(o->by_shared, expected.blockLimitSharedMem) << i;
    ASSERT_EQ(o->by_blocks, expected.blockLimitBlocks) << i;
    ASSERT_EQ(o->by_barriers, expected.blockLimitBarriers) << i;
    ASSERT_EQ(o->registers_per_block, expected.allocatedRegistersPerBlock) << i;
    ASSERT_EQ(o->shared_per_block, static_cast<int64_t>(expected.allocatedSharedMemPerBlock)) << i;
    // CUDA leaves the other bits as they were before barriers lowered the limit.
    ASSERT_NE(expected.limitingFactors & static_cast<unsigned>(Bit(o->limiter)), 0u) << i;
    if (o->blocks == 0) ++refused;
  }
  // Both kinds of answer were asked for.
  EXPECT_GT(refused, kConfigurations / 20);
  EXPECT_LT(refused, kConfigurations * 19 / 20);
}

TEST_P(OccupancyOracleTest, AgreesOnTheBestBlock) {
  const Architecture& architecture = GetParam();
  const cudaOccDeviceProp device = Device(architecture);
  Random random(/*seed=*/9, /*stream=*/static_cast<uint64_t>(architecture.compute_capability));
  for (int i = 0; i < kConfigurations / 10; ++i) {
    const Configuration c = RandomConfiguration(random, architecture);
    const cudaOccFuncAttributes attributes = Attributes(c.kernel);
    cudaOccDeviceState state;
    state.carveoutConfig = c.kernel.carve_out_percent;
    const int64_t fixed = c.dynamic_shared / 4;
    const int64_t per_thread = random.Integer(60);
    const auto shared = [&](int threads) { return fixed + per_thread * threads; };
    int grid = 0;
    int threads = 0;
    const cudaOccError error = cudaOccMaxPotentialOccupancyBlockSizeVariableSMem(
        &grid, &threads, &device, &attributes, &state,
        [&](int t) { return static_cast<size_t>(shared(t)); });
    ASSERT_EQ(error, CUDA_OCC_SUCCESS);
    const absl::StatusOr<BestBlock> best = FindBestBlock(architecture, c.kernel, kSms, shared);
    ASSERT_TRUE(best.ok()) << best.status();
    ASSERT_EQ(best->threads, threads) << i;
    ASSERT_EQ(best->min_grid, grid) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OccupancyOracleTest,
                         testing::ValuesIn(Architectures().begin(), Architectures().end()),
                         [](const testing::TestParamInfo<Architecture>& info) {
                           return "sm_" + std::to_string(info.param.compute_capability);
                         });

}  // namespace
}  // namespace assay::simt
