// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/occupancy.h"

#include <string>

#include "gtest/gtest.h"

namespace assay::simt {
namespace {

Architecture Arch(int compute_capability) {
  const absl::StatusOr<Architecture> architecture = FindArchitecture(compute_capability);
  EXPECT_TRUE(architecture.ok());
  return architecture.value_or(Architecture());
}

// What cuda_occupancy.h of CUDA 13.0 answered, recorded so that machines without the toolkit check
// it too. max_dynamic and carve_out are -1 where they are not set.
constexpr struct Recorded {
  int compute_capability;
  int registers;
  int64_t static_shared;
  int64_t max_dynamic;
  int carve_out;
  int threads;
  int64_t dynamic_shared;
  int blocks;
  int by_threads;
  int by_registers;
  int by_shared;
  int64_t registers_per_block;
  int64_t shared_per_block;
} kRecorded[] = {
    {75, 151, 5721, -1, -1, 224, 0, 1, 4, 1, 11, 34048, 5888},
    {75, 164, 2158, 63378, 2, 367, 54472, 1, 2, 1, 1, 64512, 56832},
    {75, 19, 0, -1, 52, 392, 24443, 2, 2, 6, 2, 9984, 24576},
    {75, 143, 0, -1, -1, 445, 0, 0, 2, 0, kNoLimit, 64512, 0},
    {75, 57, 0, -1, 27, 463, 7342, 2, 2, 2, 4, 30720, 7424},
    {75, 72, 4548, 60988, -1, 608, 0, 1, 1, 1, 14, 43776, 4608},
    {75, 85, 17147, -1, -1, 64, 6153, 2, 16, 10, 2, 5632, 23552},
    {75, 158, 17225, -1, 76, 96, 0, 3, 10, 4, 3, 15360, 17408},
    {75, 22, 14861, 50675, -1, 78, 0, 4, 10, 28, 4, 2304, 15104},
    {80, 99, 0, -1, 34, 352, 24374, 1, 5, 1, 2, 36608, 25472},
    {80, 147, 5499, 161413, -1, 863, 53099, 0, 2, 0, 2, 131328, 59648},
    {80, 172, 0, 166912, -1, 411, 53227, 0, 4, 0, 3, 73216, 54272},
    {80, 24, 17170, -1, -1, 314, 0, 6, 6, 8, 9, 7680, 18304},
    {80, 21, 0, 166912, -1, 502, 18409, 4, 4, 5, 8, 12288, 19456},
    {80, 17, 0, -1, 73, 96, 0, 21, 21, 28, 132, 2304, 1024},
    {80, 96, 17109, 149803, 64, 90, 56885, 1, 21, 6, 1, 9216, 75136},
    {80, 35, 11581, 155331, 45, 256, 53048, 1, 8, 6, 1, 10240, 65664},
    {80, 86, 15053, -1, -1, 140, 29481, 3, 12, 4, 3, 14080, 45568},
    {86, 48, 0, 101376, -1, 32, 0, 16, 48, 40, 100, 1536, 1024},
    {86, 112, 19817, 81559, -1, 96, 0, 4, 16, 5, 4, 10752, 20864},
    {86, 190, 0, 101376, -1, 512, 0, 0, 3, 0, 100, 98304, 1024},
    {86, 145, 14203, -1, -1, 51, 26760, 2, 24, 6, 2, 9728, 42112},
    {86, 169, 1520, -1, -1, 896, 18292, 0, 1, 0, 4, 157696, 20864},
    {86, 132, 10422, -1, -1, 256, 0, 1, 6, 1, 8, 34816, 11520},
    {86, 73, 0, 101376, 78, 278, 54971, 1, 5, 2, 1, 23040, 56064},
    {86, 29, 0, 101376, -1, 544, 0, 2, 2, 3, 100, 17408, 1024},
    {86, 22, 9767, 91609, -1, 544, 0, 2, 2, 4, 9, 13056, 10880},
    {89, 166, 6644, -1, 72, 544, 21161, 0, 2, 0, 3, 91392, 28928},
    {89, 39, 17181, 84195, -1, 841, 0, 1, 1, 1, 5, 34560, 18304},
    {89, 190, 10943, 90433, 74, 288, 51803, 0, 5, 0, 1, 55296, 63872},
    {89, 39, 0, -1, 21, 828, 850, 1, 1, 1, 17, 33280, 1920},
    {89, 30, 0, -1, -1, 608, 27036, 2, 2, 3, 3, 19456, 28160},
    {89, 152, 19966, 81410, 52, 296, 55551, 1, 4, 1, 1, 48640, 76544},
    {89, 41, 0, -1, 7, 32, 11567, 1, 48, 40, 1, 1536, 12672},
    {89, 61, 1310, 100066, -1, 26, 0, 24, 48, 32, 42, 2048, 2432},
    {89, 46, 14663, -1, -1, 62, 0, 6, 24, 20, 6, 3072, 15744},
    {90, 170, 14431, -1, -1, 599, 3967, 0, 3, 0, 12, 107008, 19456},
    {90, 74, 0, 232448, -1, 669, 0, 1, 3, 1, 228, 53760, 1024},
    {90, 108, 12789, -1, -1, 30, 25157, 5, 64, 16, 5, 3584, 39040},
    {90, 136, 0, 232448, -1, 917, 49262, 0, 2, 0, 4, 126208, 50304},
    {90, 17, 0, -1, 46, 669, 26878, 3, 3, 4, 4, 16128, 27904},
    {90, 24, 0, -1, -1, 232, 0, 8, 8, 10, 228, 6144, 1024},
    {90, 51, 0, 232448, -1, 32, 0, 32, 64, 36, 228, 1792, 1024},
    {90, 20, 0, 232448, -1, 565, 0, 3, 3, 4, 228, 13824, 1024},
    {90, 30, 0, -1, -1, 64, 15155, 14, 32, 32, 14, 2048, 16256},
};

TEST(OccupancyTest, EqualsWhatCudaAnswered) {
  for (const Recorded& r : kRecorded) {
    const KernelResources kernel = {.registers = r.registers,
                                    .static_shared = r.static_shared,
                                    .max_dynamic_shared = r.max_dynamic,
                                    .carve_out_percent = r.carve_out};
    const absl::StatusOr<Occupancy> o =
        ComputeOccupancy(Arch(r.compute_capability), kernel, r.threads, r.dynamic_shared);
    ASSERT_TRUE(o.ok()) << o.status();
    SCOPED_TRACE(testing::Message() << "sm_" << r.compute_capability << ", " << r.registers
                                    << " registers, " << r.threads << " threads");
    EXPECT_EQ(o->blocks, r.blocks);
    EXPECT_EQ(o->by_threads, r.by_threads);
    EXPECT_EQ(o->by_registers, r.by_registers);
    EXPECT_EQ(o->by_shared, r.by_shared);
    EXPECT_EQ(o->registers_per_block, r.registers_per_block);
    EXPECT_EQ(o->shared_per_block, r.shared_per_block);
  }
}

// By hand: 128 registers take 4096 a warp, 16384 / 4096 = 4 warps a partition, 16 an SM, and 256
// threads are 8 of them.
TEST(OccupancyTest, CountsAFullExampleByHand) {
  const absl::StatusOr<Occupancy> t4 = ComputeOccupancy(
      Arch(75), {.registers = 128, .static_shared = 16384}, /*threads=*/256, /*dynamic_shared=*/0);
  ASSERT_TRUE(t4.ok());
  EXPECT_EQ(t4->blocks, 2);
  EXPECT_EQ(t4->warps, 16);
  EXPECT_EQ(t4->share, 0.5);
  EXPECT_EQ(t4->limiter, Limiter::kRegisters);
  EXPECT_EQ(t4->by_threads, 4);
  EXPECT_EQ(t4->by_registers, 2);
  EXPECT_EQ(t4->by_shared, 4);
  EXPECT_EQ(t4->by_blocks, 16);
  EXPECT_EQ(t4->by_barriers, kNoLimit);
  // 40 registers take 1280 a warp: 12 a partition, 48 an SM, 24 blocks of two warps.
  const absl::StatusOr<Occupancy> h200 = ComputeOccupancy(Arch(90), {.registers = 40}, 64, 0);
  ASSERT_TRUE(h200.ok());
  EXPECT_EQ(h200->blocks, 24);
}

TEST(OccupancyTest, NamesEachLimiter) {
  const struct {
    KernelResources kernel;
    int threads;
    int64_t dynamic_shared;
    Limiter limiter;
    const char* name;
  } cases[] = {
      {{.registers = 32}, 512, 0, Limiter::kThreads, "threads"},
      {{.registers = 200}, 128, 0, Limiter::kRegisters, "registers"},
      {{.registers = 16}, 64, 40000, Limiter::kShared, "shared memory"},
      {{.registers = 16}, 32, 0, Limiter::kBlocks, "blocks"},
      {{.registers = 16, .barriers = 16}, 32, 0, Limiter::kBarriers, "barriers"},
  };
  for (const auto& c : cases) {
    const absl::StatusOr<Occupancy> o =
        ComputeOccupancy(Arch(90), c.kernel, c.threads, c.dynamic_shared);
    ASSERT_TRUE(o.ok());
    EXPECT_EQ(o->limiter, c.limiter) << c.name;
    EXPECT_STREQ(LimiterName(o->limiter), c.name);
    EXPECT_GT(o->blocks, 0);
  }
}

TEST(OccupancyTest, GrowsACarveOutThatIsTooSmallToOneBlock) {
  // 10 % of 64 KiB is set to 32 KiB: three blocks of 10 KiB; one of 40 KiB makes it 64.
  const KernelResources kernel = {.registers = 16, .carve_out_percent = 10};
  EXPECT_EQ(ComputeOccupancy(Arch(75), kernel, 64, 10240)->by_shared, 3);
  EXPECT_EQ(ComputeOccupancy(Arch(75), kernel, 64, 40960)->by_shared, 1);
  EXPECT_EQ(ComputeOccupancy(Arch(75), {.registers = 16}, 64, 10240)->by_shared, 6);
}

TEST(OccupancyTest, FindsTheBestBlock) {
  const auto none = [](int) -> int64_t { return 0; };
  // 1024 threads an SM, 32 registers: one block of 1024 fills it, and is the largest that does.
  absl::StatusOr<BestBlock> best = FindBestBlock(Arch(75), {.registers = 32}, 40, none);
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(best->threads, 1024);
  EXPECT_EQ(best->min_grid, 40);
  // 1536 threads are twice 768.
  EXPECT_EQ(FindBestBlock(Arch(86), {.registers = 32}, 84, none)->threads, 768);
  EXPECT_EQ(FindBestBlock(Arch(86), {.registers = 32}, 84, none)->min_grid, 168);
  // A launch bound that is not a whole number of warps is tried itself.
  EXPECT_EQ(FindBestBlock(Arch(75), {.registers = 32, .max_threads = 50}, 1, none)->threads, 50);
  // 100 bytes a thread: two blocks of 320 fit into 64 KiB, two of 352 do not.
  const auto hundred = [](int threads) { return int64_t{100} * threads; };
  best = FindBestBlock(Arch(75), {.registers = 32}, 1, hundred);
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(best->threads, 320);
  EXPECT_EQ(best->min_grid, 2);
  const auto too_much = [](int) { return int64_t{1} << 20; };
  EXPECT_EQ(FindBestBlock(Arch(75), {.registers = 32}, 1, too_much)->threads, 0);
  EXPECT_FALSE(FindBestBlock(Arch(75), {.registers = 32}, 0, none).ok());
}

TEST(OccupancyTest, RefusesWhatIsNoKernel) {
  const Architecture t4 = Arch(75);
  EXPECT_EQ(FindArchitecture(70).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Architectures().size(), 5u);
  const absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(ComputeOccupancy(t4, {}, 0, 0).status().code(), invalid);
  EXPECT_EQ(ComputeOccupancy(t4, {}, -32, 0).status().code(), invalid);
  EXPECT_EQ(ComputeOccupancy(t4, {}, 32, -1).status().code(), invalid);
  EXPECT_EQ(ComputeOccupancy(t4, {}, 32, INT64_MAX).status().code(), invalid);
  EXPECT_EQ(ComputeOccupancy(t4, {.registers = -1}, 32, 0).status().code(), invalid);
  EXPECT_EQ(ComputeOccupancy(t4, {.registers = INT32_MAX}, 32, 0).status().code(), invalid);
  EXPECT_EQ(ComputeOccupancy(t4, {.static_shared = -1}, 32, 0).status().code(), invalid);
  EXPECT_EQ(ComputeOccupancy(t4, {.carve_out_percent = 101}, 32, 0).status().code(), invalid);
  EXPECT_EQ(ComputeOccupancy(t4, {.max_threads = 0}, 32, 0).status().code(), invalid);
  // Too much of something is an answer.
  EXPECT_EQ(ComputeOccupancy(t4, {.registers = 256}, 32, 0)->blocks, 0);
  EXPECT_EQ(ComputeOccupancy(t4, {}, 1025, 0)->blocks, 0);
  EXPECT_EQ(ComputeOccupancy(t4, {}, 32, 48 * 1024 + 1)->blocks, 0);
}

}  // namespace
}  // namespace assay::simt
