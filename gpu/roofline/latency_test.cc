// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/latency.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace assay::roofline {
namespace {

// 240 GB/s and 500 clocks of 1.59 GHz, 40 multiprocessors: a Tesla T4 as its users measured it.
MemorySystem T4() { return {.bytes_per_s = 240e9, .latency_s = 500 / 1.59e9, .processors = 40}; }

TEST(LatencyTest, T4KeepsSeventyFiveKilobytesOnTheirWay) {
  EXPECT_NEAR(BytesInFlight(T4()), 75472, 1);
  // 590 requests of 128 bytes: 14.7 on each of 40 multiprocessors.
  const auto warps = WarpsNeeded(T4(), {});
  ASSERT_TRUE(warps.ok()) << warps.status();
  EXPECT_EQ(*warps, 15);
  // Four requests at a time, or wider ones, need fewer warps.
  EXPECT_EQ(*WarpsNeeded(T4(), {.bytes = 128, .at_a_time = 4}), 4);
  EXPECT_EQ(*WarpsNeeded(T4(), {.bytes = 512}), 4);
}

TEST(LatencyTest, WarpsNeededAreTheFirstThatReachTheBandwidth) {
  for (const int64_t bytes : {32, 128, 512}) {
    for (const int64_t at_a_time : {1, 2, 8}) {
      const WarpRequests requests = {.bytes = bytes, .at_a_time = at_a_time};
      const auto warps = WarpsNeeded(T4(), requests);
      ASSERT_TRUE(warps.ok());
      EXPECT_EQ(BandwidthReached(T4(), requests, *warps), 240e9);
      EXPECT_LT(BandwidthReached(T4(), requests, *warps - 1), 240e9);
    }
  }
}

TEST(LatencyTest, BandwidthGrowsWithTheWarpsUntilTheRoof) {
  const double one = BandwidthReached(T4(), {}, 1);
  EXPECT_DOUBLE_EQ(one, 40 * 128 / (500 / 1.59e9));
  EXPECT_DOUBLE_EQ(BandwidthReached(T4(), {}, 7), 7 * one);
  EXPECT_EQ(BandwidthReached(T4(), {}, 0), 0);
  EXPECT_EQ(BandwidthReached(T4(), {}, 32), 240e9);
}

TEST(LatencyTest, ChainsFillAPipeline) {
  // Turing: a dependent FFMA after 4 clocks, two warp instructions a clock and multiprocessor.
  EXPECT_EQ(*ChainsNeeded(4, 2), 8);
  EXPECT_EQ(ChainsNeeded(0, 2).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ChainsNeeded(4, -2).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ChainsNeeded(int64_t{1} << 40, int64_t{1} << 40).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// The queue again, by looking at every clock.
int64_t ServedClockByClock(int64_t workers, int64_t latency, int64_t service, int64_t clocks) {
  std::vector<int64_t> ready(static_cast<size_t>(workers), 0);
  int64_t busy_until = 0, served = 0;
  for (int64_t clock = 0; clock < clocks; ++clock) {
    if (clock < busy_until) continue;
    const auto next = std::min_element(ready.begin(), ready.end());
    if (*next > clock) continue;
    *next = clock + latency;
    busy_until = clock + service;
    ++served;
  }
  return served;
}

TEST(LatencyTest, QueueIsWhatEveryClockSays) {
  for (const int64_t workers : {1, 2, 3, 7, 20}) {
    for (const int64_t latency : {1, 2, 5, 40}) {
      for (const int64_t service : {1, 2, 3, 50}) {
        for (const int64_t clocks : {1, 39, 1000}) {
          const auto served = RequestsServed(workers, latency, service, clocks);
          ASSERT_TRUE(served.ok()) << served.status();
          EXPECT_EQ(*served, ServedClockByClock(workers, latency, service, clocks))
              << workers << " " << latency << " " << service << " " << clocks;
        }
      }
    }
  }
}

TEST(LatencyTest, QueueObeysLittlesLaw) {
  const int64_t latency = 500, service = 17, clocks = 500 * 1000;
  for (int64_t workers = 1; workers <= 64; ++workers) {
    const auto served = RequestsServed(workers, latency, service, clocks);
    ASSERT_TRUE(served.ok());
    const double law = std::min(static_cast<double>(workers) / static_cast<double>(latency),
                                1 / static_cast<double>(service));
    // At the ends one round may be cut: 64 requests of the tens of thousands.
    EXPECT_NEAR(static_cast<double>(*served), law * static_cast<double>(clocks), 64);
  }
}

TEST(LatencyTest, RefusesWhatMakesNoSense) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, nan, inf}) {
    MemorySystem memory = T4();
    memory.bytes_per_s = bad;
    EXPECT_FALSE(WarpsNeeded(memory, {}).ok()) << bad;
    memory = T4();
    memory.latency_s = bad;
    EXPECT_FALSE(WarpsNeeded(memory, {}).ok()) << bad;
  }
  MemorySystem memory = T4();
  memory.processors = 0;
  EXPECT_FALSE(WarpsNeeded(memory, {}).ok());
  EXPECT_FALSE(WarpsNeeded(T4(), {.bytes = 0}).ok());
  EXPECT_FALSE(WarpsNeeded(T4(), {.bytes = 128, .at_a_time = 0}).ok());
  memory = {.bytes_per_s = 1e18, .latency_s = 1e18};
  EXPECT_FALSE(WarpsNeeded(memory, {}).ok());
  EXPECT_FALSE(RequestsServed(0, 1, 1, 1).ok());
  EXPECT_FALSE(RequestsServed(1, 0, 1, 1).ok());
  EXPECT_FALSE(RequestsServed(1, 1, 0, 1).ok());
  EXPECT_FALSE(RequestsServed(1, 1, 1, 0).ok());
  EXPECT_FALSE(RequestsServed((int64_t{1} << 20) + 1, 1, 1, 1).ok());
  EXPECT_FALSE(RequestsServed(1, int64_t{1} << 41, 1, 1).ok());
}

}  // namespace
}  // namespace assay::roofline
