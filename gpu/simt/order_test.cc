// SPDX-License-Identifier: Apache-2.0
// Which accesses are in order: barriers, masks of __syncwarp, fences with atomics, and the chains
// that they make. Each kernel has a clean form and one that lacks a link.

#include <string>
#include <vector>

#include "gpu/simt/launch.h"
#include "gpu/simt/mma.h"
#include "gpu/simt/simt.h"
#include "gpu/simt/testing.h"
#include "gtest/gtest.h"

namespace assay::simt {
namespace {

// ---- One value for all lanes.

__global__ void ReadThenOneWrites(gptr<int> out, bool synced) {
  SHARED(int, s, 32);
  const int lane = static_cast<int>(threadIdx.x);
  s[lane] = lane;
  __syncwarp();
  const int value = s[0];
  if (synced) __syncwarp();
  if (lane == 0) s[0] = 7;
  out[lane] = value;
}

// The same without a branch: each lane writes an element, and the first that which all have read.
__global__ void ReadThenEachWrites(gptr<int> out, bool synced) {
  SHARED(int, s, 32);
  const int lane = static_cast<int>(threadIdx.x);
  s[lane] = lane;
  __syncthreads();
  const int value = s[0];
  if (synced) __syncwarp();
  s[lane] = value + 1;
  out[lane] = value;
}

__global__ void WriteThenAllRead(gptr<int> out, bool synced) {
  SHARED(int, s, 32);
  const int lane = static_cast<int>(threadIdx.x);
  s[lane] = lane;
  if (synced) __syncwarp();
  out[lane] = s[0];
}

TEST(OrderTest, AValueReadByAllLanesIsReadByEach) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(32, "out").value();
  for (const auto kernel : {ReadThenOneWrites, ReadThenEachWrites, WriteThenAllRead}) {
    for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse}) {
      const LaunchConfig config{.grid = 1, .block = 32, .schedule = schedule};
      EXPECT_TRUE(IsClean(Launch(memory, config, kernel, out, true)));
      EXPECT_TRUE(Has(Finding::kRace, Launch(memory, config, kernel, out, false)));
    }
  }
}

// ---- What one lane reads for others.

__global__ void MatrixRows(gptr<uint32_t> out, bool synced) {
  SHARED(uint4, rows, 32);
  const unsigned lane = threadIdx.x;
  rows[lane] = make_uint4(lane, lane, lane, lane);
  if (synced) __syncwarp();
  uint32_t registers[4];
  ldmatrix_x4(registers, &rows[lane]);
  out[lane] = registers[0];
}

TEST(OrderTest, AMatrixLoadReadsForTheWholeWarp) {
  DeviceMemory memory;
  const auto out = memory.Allocate<uint32_t>(32, "out").value();
  const LaunchConfig config{.grid = 1, .block = 32};
  EXPECT_TRUE(IsClean(LaunchUnderAllSchedules(memory, config, 1, MatrixRows, out, true)));
  EXPECT_TRUE(Has(Finding::kRace, Launch(memory, config, MatrixRows, out, false)));
}

// ---- Several readers of a place, of which the writer is one.

__global__ void LastReaderWrites(gptr<int> out, int writer) {
  SHARED(int, s, 1);
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) s[0] = 5;
  __syncthreads();
  int value = 0;
  if (t == 0 || t == writer) value = s[0];
  if (t == writer) s[0] = value + 1;
  out[t] = value;
}

TEST(OrderTest, RemembersReadersOfOtherWarps) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(64, "out").value();
  for (const int writer : {1, 31, 32, 63}) {
    EXPECT_TRUE(Has(Finding::kRace,
                    Launch(memory, {.grid = 1, .block = 64}, LastReaderWrites, out, writer)));
  }
  EXPECT_TRUE(IsClean(Launch(memory, {.grid = 1, .block = 64}, LastReaderWrites, out, 0)));
}

__global__ void LastBlockWrites(gptr<int> x, gptr<int> out, unsigned writer) {
  const int value = x[0];
  if (blockIdx.x == writer) x[0] = value + 1;
  out[blockIdx.x] = value;
}

TEST(OrderTest, RemembersReadersOfOtherBlocks) {
  DeviceMemory memory;
  const auto x = memory.Upload(std::vector<int>{1}, "x").value();
  const auto out = memory.Allocate<int>(3, "out").value();
  EXPECT_TRUE(
      Has(Finding::kRace, Launch(memory, {.grid = 3, .block = 1}, LastBlockWrites, x, out, 2u)));
  EXPECT_TRUE(
      Has(Finding::kRace, Launch(memory, {.grid = 3, .block = 1}, LastBlockWrites, x, out, 0u)));
  EXPECT_TRUE(IsClean(Launch(memory, {.grid = 3, .block = 1}, LastBlockWrites, x, out, 3u)));
}

// Epochs: what lies before a barrier of the block is in order for the block, not for the grid.
__global__ void ReadsBeforeABarrier(gptr<int> x, gptr<int> out, bool elsewhere) {
  const unsigned t = threadIdx.x;
  int value = 0;
  if (!elsewhere || blockIdx.x == 0) value = x[0];
  __syncthreads();
  if (t == 0 && blockIdx.x == gridDim.x - 1) x[0] = 2;
  out[blockIdx.x * blockDim.x + t] = value;
}

TEST(OrderTest, ABarrierOrdersItsBlockOnly) {
  DeviceMemory memory;
  const auto x = memory.Upload(std::vector<int>{1}, "x").value();
  const auto out = memory.Allocate<int>(128, "out").value();
  EXPECT_TRUE(IsClean(LaunchUnderAllSchedules(memory, {.grid = 1, .block = 64}, 1,
                                              ReadsBeforeABarrier, x, out, false)));
  for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse}) {
    EXPECT_TRUE(Has(Finding::kRace, Launch(memory, {.grid = 2, .block = 64, .schedule = schedule},
                                           ReadsBeforeABarrier, x, out, true)));
    EXPECT_TRUE(Has(Finding::kRace, Launch(memory, {.grid = 2, .block = 64, .schedule = schedule},
                                           ReadsBeforeABarrier, x, out, false)));
  }
}

// ---- __syncwarp with a mask.

__global__ void PartialSync(gptr<int> out, int reader) {
  SHARED(int, s, 32);
  const int lane = static_cast<int>(threadIdx.x);
  if (lane < 16) {
    s[lane] = lane;
    __syncwarp(0xFFFFu);
  }
  if (lane == reader) out[0] = s[3];
}

TEST(OrderTest, AMaskOrdersItsLanesOnly) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(1, "out").value();
  const LaunchConfig config{.grid = 1, .block = 32};
  EXPECT_TRUE(IsClean(LaunchUnderAllSchedules(memory, config, 2, PartialSync, out, 9)));
  EXPECT_TRUE(Has(Finding::kRace, Launch(memory, config, PartialSync, out, 20)));
}

// Lanes 0 and 1 meet, then lanes 1 and 2: what lane 0 did is in order for lane 2.
__global__ void ChainOfMasks(gptr<int> out, bool linked) {
  SHARED(int, s, 1);
  const int lane = static_cast<int>(threadIdx.x);
  if (lane == 0) s[0] = 7;
  if (lane < 2) __syncwarp(0x3u);
  if (linked) {
    if (lane == 1 || lane == 2) __syncwarp(0x6u);
  } else {
    if (lane == 2 || lane == 3) __syncwarp(0xCu);
  }
  if (lane == 2) out[0] = s[0];
}

TEST(OrderTest, MasksMakeChains) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(1, "out").value();
  const LaunchConfig config{.grid = 1, .block = 32};
  EXPECT_TRUE(IsClean(Launch(memory, config, ChainOfMasks, out, true)));
  EXPECT_TRUE(Has(Finding::kRace, Launch(memory, config, ChainOfMasks, out, false)));
}

// After a full synchronisation partial ones of before count no more, nor are they needed.
__global__ void FullAfterPartial(gptr<int> out, bool full) {
  SHARED(int, s, 32);
  const int lane = static_cast<int>(threadIdx.x);
  if (lane < 4) __syncwarp(0xFu);
  s[lane] = lane;
  if (full) __syncwarp();
  out[lane] = s[31 - lane];
}

TEST(OrderTest, AFullSynchronisationOrdersAllLanes) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(32, "out").value();
  const LaunchConfig config{.grid = 1, .block = 32};
  EXPECT_TRUE(IsClean(LaunchUnderAllSchedules(memory, config, 2, FullAfterPartial, out, true)));
  EXPECT_TRUE(Has(Finding::kRace, Launch(memory, config, FullAfterPartial, out, false)));
}

// What a lane did before it ended is in order for nobody that only synchronises its mask.
__global__ void EndedLanes(gptr<int> out, bool read) {
  SHARED(int, s, 32);
  const int lane = static_cast<int>(threadIdx.x);
  s[lane] = lane;
  if (lane >= 16) KERNEL_RETURN;
  __syncwarp(0xFFFFu);
  out[lane] = s[read ? lane + 16 : 15 - lane];
}

TEST(OrderTest, AMaskDoesNotOrderLanesThatHaveEnded) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(16, "out").value();
  const LaunchConfig config{.grid = 1, .block = 32};
  EXPECT_TRUE(IsClean(LaunchUnderAllSchedules(memory, config, 1, EndedLanes, out, false)));
  EXPECT_TRUE(Has(Finding::kRace, Launch(memory, config, EndedLanes, out, true)));
}

__global__ void ReadThenWriteInAMask(gptr<int> out) {
  SHARED(int, s, 32);
  const int lane = static_cast<int>(threadIdx.x);
  s[lane] = lane;
  __syncthreads();
  int value = 0;
  if (lane < 16) {
    if (lane == 5) value = s[0];
    __syncwarp(0xFFFFu);
    if (lane == 6) s[0] += 1;
  }
  out[lane] = value;
}

TEST(OrderTest, AReaderThatAMaskHasOrderedIsInNobodysWay) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(32, "out").value();
  EXPECT_TRUE(IsClean(
      LaunchUnderAllSchedules(memory, {.grid = 1, .block = 32}, 2, ReadThenWriteInAMask, out)));
}

// ---- Fences and atomics, in chains.

enum class Link { kAll, kNoBarrier, kNoFence, kNoAcquire, kFenceTooEarly };

// Block 0's threads write, its first says so; block 1 hears it, all of it read.
__global__ void BlockToBlock(gptr<int> data, gptr<int> flag, gptr<int> out, Link link) {
  const int t = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0) {
    if (link == Link::kFenceTooEarly) __threadfence();
    data[t] = t;
    if (link != Link::kNoBarrier && link != Link::kFenceTooEarly) __syncthreads();
    if (t == 0) {
      if (link != Link::kNoFence && link != Link::kFenceTooEarly) __threadfence();
      atomicExch(&flag[0], 1);
    }
  } else {
    if (t == 0) {
      while (load_volatile(flag) == 0) __nanosleep(10);
      if (link != Link::kNoAcquire) __threadfence();
    }
    __syncthreads();
    out[t] = data[t];
  }
}

TEST(OrderTest, AFlagCarriesWhatTheBlockDidBeforeItsBarrier) {
  for (const Link link :
       {Link::kAll, Link::kNoBarrier, Link::kNoFence, Link::kNoAcquire, Link::kFenceTooEarly}) {
    DeviceMemory memory;
    const auto data = memory.Allocate<int>(64, "data").value();
    const auto flag = memory.Upload(std::vector<int>{0}, "flag").value();
    const auto out = memory.Allocate<int>(64, "out").value();
    const LaunchConfig config{.grid = 2, .block = 64};
    const LaunchResult result = Launch(memory, config, BlockToBlock, data, flag, out, link);
    if (link == Link::kAll) {
      EXPECT_TRUE(IsClean(result));
    } else {
      EXPECT_TRUE(Has(Finding::kRace, result)) << static_cast<int>(link);
    }
  }
}

// Block 0 tells block 1, which tells block 2: through one thread of block 1, or across its barrier.
__global__ void Relay(gptr<int> data, gptr<int> flags, gptr<int> out, bool across, bool linked) {
  const int t = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0) {
    if (t == 0) {
      data[0] = 42;
      store_release(flags, 1);
    }
  } else if (blockIdx.x == 1) {
    if (t == 0) {
      while (load_volatile(flags) == 0) __nanosleep(10);
    }
    if (across) __syncthreads();
    if (t == (across ? 40 : 0)) {
      if (linked) __threadfence();
      atomicExch(&flags[1], 1);
    }
  } else if (t == 0) {
    while (load_acquire(flags + 1) == 0) __nanosleep(10);
    out[0] = data[0];
  }
}

TEST(OrderTest, FlagsMakeChains) {
  for (const bool across : {false, true}) {
    for (const bool linked : {false, true}) {
      DeviceMemory memory;
      const auto data = memory.Allocate<int>(1, "data").value();
      const auto flags = memory.Upload(std::vector<int>{0, 0}, "flags").value();
      const auto out = memory.Allocate<int>(1, "out").value();
      const LaunchConfig config{.grid = 3, .block = 64};
      const LaunchResult result = Launch(memory, config, Relay, data, flags, out, across, linked);
      // Block 1's fence, by the thread that has seen the flag or, across a barrier, by another.
      if (linked) {
        EXPECT_TRUE(IsClean(result)) << across;
      } else {
        EXPECT_TRUE(Has(Finding::kRace, result)) << across;
      }
    }
  }
}

// A warp's lanes write, synchronise, and one of them tells another block.
__global__ void WarpToBlock(gptr<int> data, gptr<int> flag, gptr<int> out, bool synced) {
  const int lane = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0) {
    data[lane] = lane;
    if (synced) __syncwarp();
    if (lane == 0) store_release(flag, 1);
  } else {
    if (lane == 0) {
      while (load_acquire(flag) == 0) __nanosleep(10);
    }
    __syncwarp();
    out[lane] = data[lane];
  }
}

TEST(OrderTest, AFlagCarriesWhatTheWarpDidBeforeItsSynchronisation) {
  for (const bool synced : {false, true}) {
    DeviceMemory memory;
    const auto data = memory.Allocate<int>(32, "data").value();
    const auto flag = memory.Upload(std::vector<int>{0}, "flag").value();
    const auto out = memory.Allocate<int>(32, "out").value();
    const LaunchResult result =
        Launch(memory, {.grid = 2, .block = 32}, WarpToBlock, data, flag, out, synced);
    if (synced) {
      EXPECT_TRUE(IsClean(result));
    } else {
      EXPECT_TRUE(Has(Finding::kRace, result));
    }
  }
}

// Fences on one side of a barrier, the atomic on the other: by all threads, or by one for all.
__global__ void FenceAndBarrier(gptr<int> data, gptr<int> count, gptr<int> out, bool fenced) {
  SHARED(int, last, 1);
  const int t = static_cast<int>(threadIdx.x);
  data[blockIdx.x * blockDim.x + threadIdx.x] = t;
  if (fenced) __threadfence();
  __syncthreads();
  if (t == 0) last[0] = atomicAdd(&count[0], 1) == static_cast<int>(gridDim.x) - 1;
  __syncthreads();
  if (last[0]) {
    if (fenced) __threadfence();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) sum += data[i];
    out[t] = sum;
  }
}

TEST(OrderTest, FencesReachAcrossBarriers) {
  for (const bool fenced : {false, true}) {
    DeviceMemory memory;
    const auto data = memory.Allocate<int>(128, "data").value();
    const auto count = memory.Upload(std::vector<int>{0}, "count").value();
    const auto out = memory.Allocate<int>(64, "out").value();
    const LaunchConfig config{.grid = 2, .block = 64};
    const LaunchResult result =
        fenced ? LaunchUnderAllSchedules(memory, config, 2, FenceAndBarrier, data, count, out, true)
               : Launch(memory, config, FenceAndBarrier, data, count, out, false);
    if (fenced) {
      EXPECT_TRUE(IsClean(result));
    } else {
      EXPECT_TRUE(Has(Finding::kRace, result));
    }
  }
}

// A lock that lanes of one warp take in turn.
__global__ void LockedSum(gptr<int> lock, gptr<int> sum, bool fenced) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock[0], 0, 1) == 0) {
      if (fenced) __threadfence();
      sum[0] += 1;
      if (fenced) __threadfence();
      atomicExch(&lock[0], 0);
      done = true;
    }
  }
}

TEST(OrderTest, ALockOrdersWhoTakesIt) {
  for (const bool fenced : {false, true}) {
    DeviceMemory memory;
    const auto lock = memory.Upload(std::vector<int>{0}, "lock").value();
    const auto sum = memory.Upload(std::vector<int>{0}, "sum").value();
    const LaunchConfig config{.grid = 2, .block = 40};
    const LaunchResult result =
        LaunchUnderAllSchedules(memory, config, 1, LockedSum, lock, sum, fenced);
    if (fenced) {
      EXPECT_TRUE(IsClean(result));
      EXPECT_EQ(memory.Download(sum, 1).value()[0], 80);
    } else {
      EXPECT_TRUE(Has(Finding::kRace, result));
    }
  }
}

// A fence for the block is none between blocks.
__global__ void ScopedFlag(gptr<int> data, gptr<int> flag, gptr<int> out, bool wide, bool across) {
  const bool writes = across ? blockIdx.x == 0 : threadIdx.x == 0;
  if (writes) {
    data[0] = 7;
    if (wide) {
      __threadfence();
    } else {
      __threadfence_block();
    }
    atomicExch(&flag[0], 1);
  } else {
    while (atomicAdd(&flag[0], 0) == 0) __nanosleep(10);
    if (wide) {
      __threadfence();
    } else {
      __threadfence_block();
    }
    out[0] = data[0];
  }
}

TEST(OrderTest, AFenceOfTheBlockEndsAtItsEdge) {
  for (const bool wide : {false, true}) {
    for (const bool across : {false, true}) {
      DeviceMemory memory;
      const auto data = memory.Allocate<int>(1, "data").value();
      const auto flag = memory.Upload(std::vector<int>{0}, "flag").value();
      const auto out = memory.Allocate<int>(1, "out").value();
      LaunchConfig config{.grid = across ? 2u : 1u, .block = across ? 1u : 2u};
      const LaunchResult result = Launch(memory, config, ScopedFlag, data, flag, out, wide, across);
      if (wide || !across) {
        EXPECT_TRUE(IsClean(result));
      } else {
        EXPECT_TRUE(Has(Finding::kRace, result));
      }
    }
  }
}

// What was learnt in one block is not known in the next that takes its place.
__global__ void ForgottenFlag(gptr<int> data, gptr<int> flag, gptr<int> out) {
  if (blockIdx.x == 0) {
    data[0] = 1;
    store_release(flag, 1);
  } else if (blockIdx.x == 1) {
    while (load_acquire(flag) == 0) __nanosleep(10);
    out[1] = data[0];
  } else {
    out[2] = data[0];
  }
}

TEST(OrderTest, BlocksLearnForThemselves) {
  DeviceMemory memory;
  const auto data = memory.Allocate<int>(1, "data").value();
  const auto flag = memory.Upload(std::vector<int>{0}, "flag").value();
  const auto out = memory.Allocate<int>(3, "out").value();
  EXPECT_TRUE(IsClean(Launch(memory, {.grid = 2, .block = 1}, ForgottenFlag, data, flag, out)));
  EXPECT_TRUE(
      Has(Finding::kRace, Launch(memory, {.grid = 3, .block = 1}, ForgottenFlag, data, flag, out)));
}

// ---- Plain accesses beside atomic ones.

__global__ void ClearsItself(gptr<int> count, bool sync, bool grid) {
  if (threadIdx.x == 0 && (!grid || blockIdx.x == 0)) count[grid ? 0 : blockIdx.x] = 0;
  if (sync) __syncthreads();
  atomicAdd(&count[grid ? 0 : blockIdx.x], 1);
}

TEST(OrderTest, AtomicsOfOthersDoNotFollowAPlainStore) {
  const auto launch = [](bool sync, bool grid, Schedule schedule) {
    DeviceMemory memory;
    const auto count = memory.Upload(std::vector<int>(2, 0), "count").value();
    return Launch(memory, {.grid = 2, .block = 64, .schedule = schedule}, ClearsItself, count, sync,
                  grid);
  };
  for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse}) {
    EXPECT_TRUE(IsClean(launch(true, false, schedule)));
    EXPECT_TRUE(Has(Finding::kRace, launch(false, false, schedule)));
    // One block clears what all count in: its barrier is no order for the others.
    EXPECT_TRUE(Has(Finding::kRace, launch(true, true, schedule)));
  }
}

// The plain store lies before a synchronisation of the warp, and its own atomic upon it.
__global__ void ClearsBeforeItsWarp(gptr<int> count, bool sync) {
  if (threadIdx.x == 0) count[0] = 0;
  __syncwarp();
  if (sync) __syncthreads();
  if (threadIdx.x % 32 == 0) atomicAdd(&count[0], 1);
}

TEST(OrderTest, AnAtomicDoesNotHideThePlainStoreOfItsWarp) {
  for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse}) {
    DeviceMemory memory;
    const auto count = memory.Upload(std::vector<int>{0}, "count").value();
    const LaunchConfig config{.grid = 1, .block = 64, .schedule = schedule};
    EXPECT_TRUE(IsClean(Launch(memory, config, ClearsBeforeItsWarp, count, true)));
    EXPECT_TRUE(Has(Finding::kRace, Launch(memory, config, ClearsBeforeItsWarp, count, false)));
  }
}

__global__ void WatchesPlainly(gptr<int> count, gptr<int> out, bool plain) {
  const int t = static_cast<int>(threadIdx.x);
  if (t == 40) {
    int seen = load_volatile(count);
    if (plain) seen += count[0];
    seen += load_volatile(count);
    out[0] = seen;
  }
  if (t == 0) atomicAdd(&count[0], 1);
}

TEST(OrderTest, APlainReadAmongAtomicOnesIsSeen) {
  for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse}) {
    DeviceMemory memory;
    const auto count = memory.Upload(std::vector<int>{0}, "count").value();
    const auto out = memory.Allocate<int>(1, "out").value();
    const LaunchConfig config{.grid = 1, .block = 64, .schedule = schedule};
    EXPECT_TRUE(IsClean(Launch(memory, config, WatchesPlainly, count, out, false)));
    EXPECT_TRUE(Has(Finding::kRace, Launch(memory, config, WatchesPlainly, count, out, true)));
  }
}

}  // namespace
}  // namespace assay::simt
