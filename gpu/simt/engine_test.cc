// SPDX-License-Identifier: Apache-2.0
// How threads take turns, exchange values and are counted.

#include <string>
#include <vector>

#include "gpu/simt/launch.h"
#include "gpu/simt/simt.h"
#include "gpu/simt/testing.h"
#include "gtest/gtest.h"

namespace assay::simt {
namespace {

const AccessCounters* FindAccess(const LaunchResult& result, int line, Space space,
                                 AccessKind kind) {
  for (const AccessCounters& access : result.counters.accesses) {
    if (access.line == line && access.space == space && access.kind == kind) return &access;
  }
  return nullptr;
}

// ---- Counters.

constexpr int kLoads = __LINE__ + 12;
__global__ void TileMultiply(gptr<const float> a, gptr<const float> b, gptr<float> c, int n) {
  SHARED(float, a_tile, 32, 32);
  SHARED(float, b_tile, 32, 32);
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * 32 + ty;
  const int column = static_cast<int>(blockIdx.x) * 32 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 32) {
    // The next line is kLoads.
    //
    a_tile[ty][tx] = a[row * n + k + tx];
    b_tile[ty][tx] = b[(k + ty) * n + column];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += a_tile[ty][i] * b_tile[i][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

TEST(EngineTest, CountsATiledProductAsByHand) {
  const int n = 64;
  DeviceMemory memory;
  std::vector<float> left(n * n), right(n * n);
  for (int i = 0; i < n * n; ++i) {
    left[static_cast<size_t>(i)] = static_cast<float>(i % 13 - 6);
    right[static_cast<size_t>(i)] = static_cast<float>(i % 7 - 3);
  }
  const auto a = memory.Upload(left, "a").value();
  const auto b = memory.Upload(right, "b").value();
  const auto c = memory.Allocate<float>(n * n, "c").value();
  const LaunchResult result = LaunchUnderAllSchedules(memory, {.grid = {2, 2}, .block = {32, 32}},
                                                      2, TileMultiply, a, b, c, n);
  EXPECT_TRUE(IsClean(result));
  const std::vector<float> product = memory.Download(c, n * n).value();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;  // small integers: exact in any order
      for (int k = 0; k < n; ++k) {
        sum += left[static_cast<size_t>(i * n + k)] * right[static_cast<size_t>(k * n + j)];
      }
      ASSERT_EQ(product[static_cast<size_t>(i * n + j)], sum);
    }
  }
  // 4 blocks of 32 warps, 2 steps: 256 warp loads of a full row, 4 sectors and 1 line each.
  const AccessCounters* load = FindAccess(result, kLoads, Space::kGlobal, AccessKind::kLoad);
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->requests, 256);
  EXPECT_EQ(load->lanes, 256 * 32);
  EXPECT_EQ(load->sectors, 1024);
  EXPECT_EQ(load->ideal_sectors, 1024);
  EXPECT_EQ(load->lines, 256);
  EXPECT_EQ(load->bytes, 256 * 128);
  EXPECT_EQ(load->width, 4);
  // The inner product: 64 steps, two loads: one word for all lanes, and a row. No conflicts.
  const AccessCounters* inner = FindAccess(result, kLoads + 3, Space::kShared, AccessKind::kLoad);
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->requests, 4 * 32 * 64 * 2);
  EXPECT_EQ(inner->wavefronts, inner->requests);
  EXPECT_EQ(inner->ideal_wavefronts, inner->requests);
  EXPECT_EQ(inner->bytes, 4 * 32 * 64 * (4 + 128));
  const AccessCounters stores = Total(result.counters, Space::kGlobal, AccessKind::kStore);
  EXPECT_EQ(stores.requests, 128);
  EXPECT_EQ(stores.sectors, 512);
  EXPECT_EQ(result.counters.barriers, 4 * 4);
  EXPECT_EQ(result.counters.blocks, 4);
  EXPECT_EQ(result.counters.warps, 128);
  EXPECT_EQ(result.counters.threads, 4096);
  EXPECT_EQ(result.counters.shared_bytes, 8192);
  EXPECT_EQ(result.counters.divergent_segments, 0);
}

__global__ void Histogram(gptr<const int> x, gptr<int> bins) {
  atomicAdd(&bins[x[threadIdx.x]], 1);
}

TEST(EngineTest, CountsHowOftenAtomicsMeet) {
  DeviceMemory memory;
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<size_t>(i)] = i < 32 ? i % 4 : i;
  const auto x = memory.Upload(values, "x").value();
  const auto bins = memory.Upload(std::vector<int>(64, 0), "bins").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, {.grid = 1, .block = 64}, 1, Histogram, x, bins);
  EXPECT_TRUE(IsClean(result));
  EXPECT_EQ(memory.Download(bins, 4).value(), std::vector<int>(4, 8));
  const AccessCounters atomics = Total(result.counters, Space::kGlobal, AccessKind::kAtomic);
  EXPECT_EQ(atomics.requests, 2);
  EXPECT_EQ(atomics.serial_passes, 8 + 1);
}

__global__ void Halves(gptr<const int> x, gptr<int> y) {
  const int i = static_cast<int>(threadIdx.x);
  if (i % 2 == 0) {
    y[i] = x[i];
  } else {
    for (int k = 0; k < i; ++k) y[i] = x[k];
  }
}

TEST(EngineTest, JoinsDivergentLanesByLineAndTurn) {
  DeviceMemory memory;
  const auto x = memory.Upload(Iota(32), "x").value();
  const auto y = memory.Allocate<int>(32, "y").value();
  const LaunchResult result = Launch(memory, {.grid = 1, .block = 32}, Halves, x, y);
  EXPECT_TRUE(IsClean(result));
  EXPECT_EQ(result.counters.divergent_segments, 1);
  const AccessCounters loads = Total(result.counters, Space::kGlobal, AccessKind::kLoad);
  // The even lanes' load, and turns 1 to 31 of the odd lanes' loop.
  EXPECT_EQ(loads.requests, 1 + 31);
  EXPECT_EQ(loads.lanes, 16 + 16 * 16);
}

// ---- Exchanges.

__global__ void Shuffles(gptr<int> out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_sync(0xFFFFFFFFu, 100 + lane, 5);
  out[32 + lane] = __shfl_up_sync(0xFFFFFFFFu, 100 + lane, 3);
  out[64 + lane] = __shfl_down_sync(0xFFFFFFFFu, 100 + lane, 3);
  out[96 + lane] = __shfl_xor_sync(0xFFFFFFFFu, 100 + lane, 9);
  out[128 + lane] = __shfl_sync(0xFFFFFFFFu, 100 + lane, 5, 8);
  out[160 + lane] = __shfl_up_sync(0xFFFFFFFFu, 100 + lane, 3, 8);
  out[192 + lane] = __shfl_down_sync(0xFFFFFFFFu, 100 + lane, 3, 8);
  out[224 + lane] = __shfl_xor_sync(0xFFFFFFFFu, 100 + lane, 9, 8);
  const double wide = __shfl_xor_sync(0xFFFFFFFFu, 0.5 + lane, 1);
  out[256 + lane] = static_cast<int>(wide * 2);
  out[288 + lane] = static_cast<int>(__ballot_sync(0xFFFFFFFFu, lane % 3 == 0));
  out[320 + lane] = static_cast<int>(__match_any_sync(0xFFFFFFFFu, lane / 8));
  out[352 + lane] = __any_sync(0xFFFFFFFFu, lane == 7) * 2 + __all_sync(0xFFFFFFFFu, lane < 32);
}

TEST(EngineTest, ShufflesAsPtxDefines) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(384, "out").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, {.grid = 1, .block = 32}, 2, Shuffles, out);
  EXPECT_TRUE(IsClean(result));
  const std::vector<int> got = memory.Download(out, 384).value();
  uint32_t thirds = 0;
  for (int lane = 0; lane < 32; lane += 3) thirds |= 1u << lane;
  for (int lane = 0; lane < 32; ++lane) {
    const auto at = [&](int row) { return got[static_cast<size_t>(row * 32 + lane)] - 100; };
    EXPECT_EQ(at(0), 5);
    EXPECT_EQ(at(1), lane < 3 ? lane : lane - 3);
    EXPECT_EQ(at(2), lane > 28 ? lane : lane + 3);
    EXPECT_EQ(at(3), lane ^ 9);
    EXPECT_EQ(at(4), lane / 8 * 8 + 5);
    EXPECT_EQ(at(5), lane % 8 < 3 ? lane : lane - 3);
    EXPECT_EQ(at(6), lane % 8 > 4 ? lane : lane + 3);
    // Beyond the last lane of its eight, a lane reads itself; below the first it may go.
    EXPECT_EQ(at(7), (lane ^ 9) > lane / 8 * 8 + 7 ? lane : lane ^ 9);
    EXPECT_EQ(at(8) + 100, 2 * (lane ^ 1) + 1);
    EXPECT_EQ(static_cast<uint32_t>(at(9) + 100), thirds);
    EXPECT_EQ(static_cast<uint32_t>(at(10) + 100), 0xFFu << (lane / 8 * 8));
    EXPECT_EQ(at(11) + 100, 3);
  }
}

// g++ 12 miscompiles some expressions that hold a co_await; these are the ones that kernels write.
__global__ void AwkwardExpressions(gptr<int> out) {
  const int lane = static_cast<int>(threadIdx.x);
  int sum = lane;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
  out[lane] = sum;
  int most = lane;
  for (int offset = 16; offset > 0; offset /= 2) {
    most = max(most, __shfl_xor_sync(0xFFFFFFFFu, most, offset));
  }
  out[32 + lane] = most;
  const int twice = 2 * __shfl_sync(0xFFFFFFFFu, lane, 3) + __shfl_sync(0xFFFFFFFFu, lane, 4);
  out[64 + lane] = twice;
  if (__any_sync(0xFFFFFFFFu, lane == 31)) out[96 + lane] = 1;
  out[128 + lane] = __shfl_sync(0xFFFFFFFFu, __shfl_sync(0xFFFFFFFFu, lane, 9), 0);
}

__global__ void ElementArithmetic(gptr<int> x) {
  x[0] += x[1];
  x[0] *= x[2] + x[1];
  x[3] = x[0];
  x[4] = max(static_cast<int>(x[1]), static_cast<int>(x[2])) - x[1];
  if (x[2] > x[1]) x[5]++;
  x[2] = x[2] * 2 + -x[1];
  x[x[1]] <<= 2;
  x[x[1] - 1] %= 4;
}

TEST(EngineTest, ElementsStandForTheirValues) {
  DeviceMemory memory;
  const auto x = memory.Upload(Iota(6), "x").value();
  EXPECT_TRUE(IsClean(Launch(memory, {.grid = 1, .block = 1}, ElementArithmetic, x)));
  EXPECT_EQ(memory.Download(x, 6).value(), (std::vector<int>{3, 4, 3, 3, 1, 6}));
}

TEST(EngineTest, CompilersKeepTheMeaningOfExchanges) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(160, "out").value();
  EXPECT_TRUE(IsClean(Launch(memory, {.grid = 1, .block = 32}, AwkwardExpressions, out)));
  const std::vector<int> got = memory.Download(out, 160).value();
  for (size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(got[lane], 31 * 16);
    EXPECT_EQ(got[32 + lane], 31);
    EXPECT_EQ(got[64 + lane], 10);
    EXPECT_EQ(got[96 + lane], 1);
    EXPECT_EQ(got[128 + lane], 9);
  }
}

// A device function that waits, calls another that does, and returns a value.
SIMT_TASK(int) WarpSum(int value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
  }
  SIMT_RETURN value;
}

SIMT_TASK(int) BlockSum(int value, sptr<int> partial) {
  const int sum = SIMT_CALL(WarpSum(value));
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  int total = 0;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) total += partial[warp];
  __syncthreads();
  SIMT_RETURN total;
}

SIMT_TASK(void) Pause() {
  __syncthreads();
  SIMT_RETURN;
}

__global__ void Sums(gptr<int> out) {
  SHARED(int, partial, 32);
  const int first = SIMT_CALL(BlockSum(static_cast<int>(threadIdx.x), partial));
  SIMT_CALL(Pause());
  const int second = SIMT_CALL(BlockSum(1, partial));
  out[threadIdx.x] = first + second;
}

TEST(EngineTest, CallsDeviceFunctionsThatWait) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(128, "out").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, {.grid = 1, .block = 128}, 2, Sums, out);
  EXPECT_TRUE(IsClean(result));
  EXPECT_EQ(memory.Download(out, 128).value(), std::vector<int>(128, 127 * 64 + 128));
  EXPECT_EQ(result.counters.barriers, 5);
}

__global__ void BarrierVotes(gptr<int> out) {
  const int count = __syncthreads_count(threadIdx.x % 3 == 0);
  const int all = __syncthreads_and(threadIdx.x < 100);
  const int any = __syncthreads_or(threadIdx.x == 99);
  out[threadIdx.x] = count * 4 + all * 2 + any;
}

TEST(EngineTest, VotesOverTheBlock) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(100, "out").value();
  EXPECT_TRUE(
      IsClean(LaunchUnderAllSchedules(memory, {.grid = 1, .block = 100}, 1, BarrierVotes, out)));
  EXPECT_EQ(memory.Download(out, 100).value(), std::vector<int>(100, 34 * 4 + 2 + 1));
}

__global__ void LeavesEarly(gptr<int> out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) KERNEL_RETURN;
  __syncthreads();
  out[i] = i;
}

TEST(EngineTest, BarriersDoNotWaitForThreadsThatHaveLeft) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(96, "out").value();
  EXPECT_TRUE(
      IsClean(LaunchUnderAllSchedules(memory, {.grid = 1, .block = 96}, 1, LeavesEarly, out, 40)));
}

// ---- Blocks that wait for each other.

__global__ void GridSum(gptr<const int> x, gptr<int> partial, gptr<int> total) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int sum = SIMT_CALL(WarpSum(x[i]));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  GRID_SYNC();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int all = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) all += partial[block];
    total[0] = all;
  }
}

TEST(EngineTest, SynchronisesTheGrid) {
  DeviceMemory memory;
  const auto x = memory.Upload(Iota(320), "x").value();
  const auto partial = memory.Allocate<int>(10, "partial").value();
  const auto total = memory.Allocate<int>(1, "total").value();
  LaunchConfig config{.grid = 10, .block = 32, .cooperative = true};
  EXPECT_TRUE(IsClean(LaunchUnderAllSchedules(memory, config, 2, GridSum, x, partial, total)));
  EXPECT_EQ(memory.Download(total, 1).value()[0], 319 * 160);
  config.cooperative = false;
  const LaunchResult refused = Launch(memory, config, GridSum, x, partial, total);
  ASSERT_EQ(refused.diagnostics.size(), 1u);
  EXPECT_EQ(refused.diagnostics[0].finding, Finding::kDeadlock);
}

// Each block waits for the one before: a chained scan. Tickets make it independent of the order in
// which blocks are started.
__global__ void ChainedScan(gptr<const int> x, gptr<int> y, gptr<int> ticket, gptr<int> sums,
                            gptr<int> ready) {
  SHARED(int, mine, 1);
  if (threadIdx.x == 0) mine[0] = atomicAdd(&ticket[0], 1);
  __syncthreads();
  const int block = mine[0];
  const int i = block * 32 + static_cast<int>(threadIdx.x);
  int value = x[i];
  for (int offset = 1; offset < 32; offset *= 2) {
    const int below = __shfl_up_sync(0xFFFFFFFFu, value, offset);
    if (static_cast<int>(threadIdx.x) >= offset) value += below;
  }
  const int sum = __shfl_sync(0xFFFFFFFFu, value, 31);
  SHARED(int, before, 1);
  if (threadIdx.x == 0) {
    int carried = 0;
    if (block > 0) {
      while (load_acquire(ready + (block - 1)) == 0) __nanosleep(20);
      carried = sums[block - 1];
    }
    before[0] = carried;
    sums[block] = carried + sum;
    store_release(ready + block, 1);
  }
  __syncthreads();
  y[i] = before[0] + value;
}

TEST(EngineTest, OrdersThreadsByReleaseAndAcquire) {
  DeviceMemory memory;
  const int blocks = 40;
  const auto x = memory.Upload(Iota(32 * blocks), "x").value();
  const auto y = memory.Allocate<int>(32 * blocks, "y").value();
  const auto ticket = memory.Upload(std::vector<int>(1, 0), "ticket").value();
  const auto sums = memory.Allocate<int>(blocks, "sums").value();
  const auto ready = memory.Upload(std::vector<int>(blocks, 0), "ready").value();
  const LaunchResult result = LaunchUnderAllSchedules(memory, {.grid = blocks, .block = 32}, 2,
                                                      ChainedScan, x, y, ticket, sums, ready);
  EXPECT_TRUE(IsClean(result));
  const std::vector<int> got = memory.Download(y, 32 * blocks).value();
  for (int i = 0; i < 32 * blocks; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], i * (i + 1) / 2);
}

__global__ void Handshake(gptr<int> flags, gptr<int> data) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    store_release(flags, 1);
    while (load_acquire(flags + 1) == 0) __nanosleep(1);
    data[2] = data[1];
  } else {
    while (load_acquire(flags) == 0) __nanosleep(1);
    data[1] = data[0];
    store_release(flags + 1, 1);
  }
}

TEST(EngineTest, LetsResidentBlocksTakeTurns) {
  DeviceMemory memory;
  const auto flags = memory.Upload(std::vector<int>(2, 0), "flags").value();
  const auto data = memory.Allocate<int>(3, "data").value();
  LaunchConfig config{.grid = 2, .block = 1};
  EXPECT_TRUE(IsClean(LaunchUnderAllSchedules(memory, config, 3, Handshake, flags, data)));
  EXPECT_EQ(memory.Download(data, 3).value(), std::vector<int>(3, 42));
  // A GPU on which only one block is resident at a time would hang.
  ASSERT_TRUE(memory.Fill(flags, 0, 2).ok());
  config.multiprocessors = 1;
  config.resources.registers = 64;
  config.block = 1024;
  const LaunchResult stuck = Launch(memory, config, Handshake, flags, data);
  EXPECT_FALSE(stuck.status.ok());
}

// The index is read before its barrier: that is said first, not only where it leads.
__global__ void FollowsTooEarly(gptr<int> out) {
  SHARED(int, at, 64);
  const int t = static_cast<int>(threadIdx.x);
  at[t] = t;
  out[at[63 - t]] = t;
}

TEST(EngineTest, NamesTheCauseBeforeTheFault) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(64, "out").value();
  for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse, Schedule::kRandom}) {
    const LaunchResult result =
        Launch(memory, {.grid = 1, .block = 64, .schedule = schedule}, FollowsTooEarly, out);
    ASSERT_FALSE(result.diagnostics.empty());
    EXPECT_EQ(result.diagnostics.front().variable, "at") << Format(result.diagnostics);
  }
}

// The aggregate-only path of a look-back scan: a block whose neighbour has not got to its end.
__global__ void FindsNeighboursHalfDone(gptr<int> state, gptr<int> half) {
  if (threadIdx.x == 0) store_release(state + static_cast<int>(blockIdx.x), 1);
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x > 0) {
    if (load_acquire(state + (static_cast<int>(blockIdx.x) - 1)) == 1) atomicAdd(&half[0], 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) store_release(state + static_cast<int>(blockIdx.x), 2);
}

TEST(EngineTest, RandomOrderLeavesBlocksHalfDone) {
  DeviceMemory memory;
  const auto state = memory.Upload(std::vector<int>(32, 0), "state").value();
  const auto half = memory.Upload(std::vector<int>{0}, "half").value();
  LaunchConfig config{.grid = 32, .block = 32};
  EXPECT_TRUE(IsClean(Launch(memory, config, FindsNeighboursHalfDone, state, half)));
  EXPECT_EQ(memory.Download(half, 1).value()[0], 0);
  config.schedule = Schedule::kRandom;
  for (config.seed = 0; config.seed < 8; ++config.seed) {
    ASSERT_TRUE(memory.Fill(state, 0, 32).ok());
    EXPECT_TRUE(IsClean(Launch(memory, config, FindsNeighboursHalfDone, state, half)));
  }
  EXPECT_GE(memory.Download(half, 1).value()[0], 8);
}

// ---- What may be asked of a launch.

__global__ void Mark(gptr<int> y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 7; }

class SectorCount : public TrafficObserver {
 public:
  void OnRequest(uint64_t block, AccessKind kind, std::span<const uint64_t> sectors) override {
    EXPECT_EQ(kind, AccessKind::kStore);
    blocks.push_back(block);
    count += sectors.size();
  }
  std::vector<uint64_t> blocks;
  size_t count = 0;
};

TEST(EngineTest, RunsASampleOfTheBlocksUnderAnObserver) {
  DeviceMemory memory;
  const auto y = memory.Upload(std::vector<int>(320, 0), "y").value();
  SectorCount observer;
  const std::vector<uint64_t> sample = {2, 7};
  const LaunchResult result =
      Launch(memory, {.grid = 10, .block = 32, .sample = sample, .observer = &observer}, Mark, y);
  EXPECT_TRUE(IsClean(result));
  EXPECT_EQ(observer.blocks, sample);
  EXPECT_EQ(observer.count, 8u);
  const std::vector<int> got = memory.Download(y, 320).value();
  for (int i = 0; i < 320; ++i) {
    EXPECT_EQ(got[static_cast<size_t>(i)], i / 32 == 2 || i / 32 == 7 ? 7 : 0);
  }
  const std::vector<uint64_t> wrong = {7, 2};
  EXPECT_EQ(Launch(memory, {.grid = 10, .block = 32, .sample = wrong}, Mark, y).status.code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(EngineTest, RefusesWhatCudaRefuses) {
  DeviceMemory memory;
  DeviceMemory other;
  const auto y = memory.Upload(std::vector<int>(320, 0), "y").value();
  const auto status = [&](const LaunchConfig& config) {
    return Launch(memory, config, Mark, y).status;
  };
  EXPECT_EQ(status({.grid = 0, .block = 32}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status({.grid = 1, .block = 1025}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status({.grid = {1, 70000}, .block = 32}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status({.grid = 1, .block = 32, .dynamic_shared_bytes = 49153}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status({.grid = 1, .block = 32, .multiprocessors = 0}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status({.grid = 1, .block = 32, .compute_capability = 10}).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Launch(other, {.grid = 1, .block = 32}, Mark, y).status.code(),
            absl::StatusCode::kInvalidArgument);
}

__global__ void Accumulate(gptr<float> sum) { atomicAdd(&sum[0], 1.0f / (1.0f + threadIdx.x)); }

TEST(EngineTest, SaysThatAResultDependsOnTheOrder) {
  DeviceMemory memory;
  const auto sum = memory.Upload(std::vector<float>(1, 0.0f), "sum").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, {.grid = 1, .block = 256}, 1, Accumulate, sum);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].finding, Finding::kScheduleDependence);
  EXPECT_EQ(result.diagnostics[0].variable, "sum");
}

__global__ void ReadsWhatItWrote(gptr<int> y) {
  const int i = static_cast<int>(threadIdx.x);
  if (i % 2 == 0) y[i] = i;
  if (i % 4 == 0) y[i] += 1;
}

__global__ void ReadsAll(gptr<const int> y, gptr<int> z) { z[threadIdx.x] = y[threadIdx.x]; }

TEST(EngineTest, RunsEverySchedulesFromTheSameMemory) {
  DeviceMemory memory;
  const auto y = memory.Allocate<int>(64, "y").value();
  const auto z = memory.Allocate<int>(64, "z").value();
  EXPECT_TRUE(
      IsClean(LaunchUnderAllSchedules(memory, {.grid = 1, .block = 64}, 2, ReadsWhatItWrote, y)));
  // The odd elements are still nobody's.
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, {.grid = 1, .block = 64}, 2, ReadsAll, y, z);
  ASSERT_EQ(result.diagnostics.size(), 1u) << Format(result.diagnostics);
  EXPECT_EQ(result.diagnostics[0].finding, Finding::kUninitialisedRead);
}

__global__ void WalkAlone(gptr<const int> x, gptr<int> sum, int n) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += x[i];
  sum[0] = total;
}

TEST(EngineTest, LetsASingleThreadWalkFar) {
  DeviceMemory memory;
  const int n = 5'000'000;
  const auto x = memory.Upload(std::vector<int>(n, 1), "x").value();
  const auto sum = memory.Allocate<int>(1, "sum").value();
  const LaunchResult result = Launch(memory, {.grid = 1, .block = 1}, WalkAlone, x, sum, n);
  EXPECT_TRUE(IsClean(result));
  EXPECT_EQ(memory.Download(sum, 1).value()[0], n);
  EXPECT_EQ(Total(result.counters, Space::kGlobal, AccessKind::kLoad).requests, n);
  // A whole warp of such threads cannot be recorded, and says so.
  EXPECT_EQ(Launch(memory, {.grid = 1, .block = 2}, WalkAlone, x, sum, n).status.code(),
            absl::StatusCode::kResourceExhausted);
}

__global__ void SearchesBeyondTheEnd(gptr<const int> x, gptr<int> out) {
  int i = 0;
  while (x[i] != 123456789) ++i;
  __syncthreads();
  out[0] = i;
}

#if !defined(__EMSCRIPTEN__)  // where it traps
TEST(EngineTest, LeavesThreadsThatWouldNotEnd) {
  DeviceMemory memory;
  const auto x = memory.Upload(Iota(32), "x").value();
  const auto out = memory.Allocate<int>(1, "out").value();
  const LaunchResult result =
      Launch(memory, {.grid = 1, .block = 32}, SearchesBeyondTheEnd, x, out);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].finding, Finding::kOutOfBounds);
  EXPECT_EQ(result.diagnostics[0].element, 32);
  EXPECT_TRUE(IsClean(Launch(memory, {.grid = 1, .block = 1}, Mark, out)));  // and goes on
}
#endif

__global__ void WaitsWithoutSleep(gptr<int> flag, bool fenced) {
  if (fenced) {
    while (load_acquire(flag) == 0) {
    }
  } else {
    while (atomicAdd(&flag[0], 0) == 0) {
    }
  }
}

TEST(EngineTest, SaysThatALoopNeedsToSleep) {
  DeviceMemory memory;
  const auto flag = memory.Upload(std::vector<int>{0}, "flag").value();
  for (const bool trace : {true, false}) {
    for (const bool fenced : {true, false}) {
      const LaunchResult result =
          Launch(memory, {.grid = 1, .block = 2, .trace = trace}, WaitsWithoutSleep, flag, fenced);
      ASSERT_EQ(result.diagnostics.size(), 1u) << result.status;
      EXPECT_EQ(result.diagnostics[0].finding, Finding::kSpin);
    }
  }
}

__global__ void WaitsAlone(gptr<int> flag) {
  if (blockIdx.x == 1) {
    store_volatile(flag, 1);
  } else {
    while (load_volatile(flag) == 0) {
    }
  }
}

TEST(EngineTest, SaysThatALoneThreadNeedsToSleep) {
  DeviceMemory memory;
  const auto flag = memory.Upload(std::vector<int>{0}, "flag").value();
  const LaunchResult result = Launch(memory, {.grid = 2, .block = 1}, WaitsAlone, flag);
  ASSERT_EQ(result.diagnostics.size(), 1u) << result.status;
  EXPECT_EQ(result.diagnostics[0].finding, Finding::kSpin);
}

// CUDA lets any device function synchronise; a coroutine has to be told.
__device__ void Meet(gptr<int> x) {
  x[threadIdx.x] = 1;
  __syncthreads();
}
__global__ void MeetsPlainly(gptr<int> x) {
  Meet(x);
  x[threadIdx.x] = 2;
}
__global__ void MeetsAndWaits(gptr<int> x) {
  __syncthreads();
  Meet(x);
  __syncthreads();
}

TEST(EngineTest, SaysThatADeviceFunctionMustBeATask) {
  DeviceMemory memory;
  const auto x = memory.Allocate<int>(64, "x").value();
  for (const auto kernel : {MeetsPlainly, MeetsAndWaits}) {
    const LaunchResult result = Launch(memory, {.grid = 1, .block = 64}, kernel, x);
    ASSERT_EQ(result.diagnostics.size(), 1u) << result.status;
    EXPECT_EQ(result.diagnostics[0].finding, Finding::kMisplacedWait);
  }
}

__global__ void BeforeTheBeginning(gptr<int> x) { x[static_cast<int>(threadIdx.x) - 1] = 0; }

__global__ void ByteBefore(gptr<unsigned char> x) { x[-1] = 0; }

TEST(EngineTest, NamesElementsBeforeTheBeginning) {
  DeviceMemory memory;
  const auto x = memory.Allocate<int>(32, "x").value();
  LaunchConfig config{.grid = 1, .block = 32};
  const LaunchResult result = Launch(memory, config, BeforeTheBeginning, x);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].finding, Finding::kOutOfBounds);
  EXPECT_EQ(result.diagnostics[0].element, -1);
  const LaunchResult byte =
      Launch(memory, {.grid = 1, .block = 1}, ByteBefore, pointer_cast<unsigned char>(x));
  ASSERT_EQ(byte.diagnostics.size(), 1u);
  EXPECT_EQ(byte.diagnostics[0].element, -1);  // of the integers
  // The first error decides, even where nothing shall be listed.
  config.max_findings = 0;
  EXPECT_FALSE(Launch(memory, config, BeforeTheBeginning, x).status.ok());
}

template <int kInts>
__global__ void Declares(gptr<int> out) {
  SHARED(int, s, kInts);
  s[0] = 1;
  out[0] = s[0];
}

TEST(EngineTest, LimitsSharedMemory) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(1, "out").value();
  LaunchConfig config{.grid = 1, .block = 1};
  EXPECT_TRUE(IsClean(Launch(memory, config, Declares<12288>, out)));  // 48 KB
  const LaunchResult much = Launch(memory, config, Declares<12289>, out);
  ASSERT_EQ(much.diagnostics.size(), 1u);
  EXPECT_EQ(much.diagnostics[0].finding, Finding::kSharedMemory);
  config.dynamic_shared_bytes = 32 << 10;
  EXPECT_TRUE(IsClean(Launch(memory, config, Declares<4096>, out)));
  EXPECT_FALSE(Launch(memory, config, Declares<4097>, out).status.ok());
  config.resources.max_dynamic_shared = 32 << 10;
  EXPECT_TRUE(IsClean(Launch(memory, config, Declares<8192>, out)));  // 64 KB on a T4
  EXPECT_FALSE(Launch(memory, config, Declares<8193>, out).status.ok());
  config.dynamic_shared_bytes = 0;  // what is declared has 48 KB even so
  EXPECT_FALSE(Launch(memory, config, Declares<12289>, out).status.ok());
}

__global__ void LeavesATrace(gptr<int> out) {
  SHARED(int, s, 1);
  if (blockIdx.x == 0) s[0] = 77;
  out[blockIdx.x] = s[0];
}

TEST(EngineTest, BlocksInheritNoSharedMemory) {
  DeviceMemory memory;
  const auto out = memory.Allocate<int>(2, "out").value();
  EXPECT_TRUE(
      Launch(memory, {.grid = 2, .block = 1, .trace = false}, LeavesATrace, out).status.ok());
  EXPECT_NE(memory.Download(out, 2).value()[1], 77);
  EXPECT_TRUE(
      Has(Finding::kUninitialisedRead, Launch(memory, {.grid = 2, .block = 1}, LeavesATrace, out)));
}

TEST(EngineTest, GivesTheSameCountersEveryTime) {
  DeviceMemory memory;
  const auto x = memory.Upload(Iota(32), "x").value();
  const auto y = memory.Allocate<int>(32, "y").value();
  const LaunchConfig config{.grid = 1, .block = 32};
  const LaunchResult first = Launch(memory, config, Halves, x, y);
  const LaunchResult second = Launch(memory, config, Halves, x, y);
  EXPECT_EQ(first.counters, second.counters);
  LaunchConfig untraced = config;
  untraced.trace = false;
  EXPECT_EQ(Launch(memory, untraced, Halves, x, y).counters, LaunchCounters{});
}

}  // namespace
}  // namespace assay::simt
