// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/power_limit.h"

#include <cmath>
#include <limits>

#include "gpu/roofline/machines.h"
#include "gtest/gtest.h"

namespace assay::roofline {
namespace {

const model::GpuMachine& T4() { return model::Gpu("NVIDIA T4"); }

TEST(PowerLimitTest, GivesTheFittedClocksBack) {
  const auto plain = ClockWithin(T4(), 70, {.fp32_busy = T4().fp32_sustained_busy});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->clock, 900e6);
  EXPECT_NEAR(plain->watts, 70, 1e-9);
  EXPECT_TRUE(plain->limited);
  EXPECT_FALSE(plain->over);
  const auto tensor = ClockWithin(T4(), 70, {.tensor_busy = 1});
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->clock, 585e6);
  EXPECT_FALSE(tensor->over);
}

TEST(PowerLimitTest, StreamingKeepsTheBoostClock) {
  const auto streaming = ClockWithin(T4(), 70, {.bytes_per_s = T4().dram_bandwidth});
  ASSERT_TRUE(streaming.ok()) << streaming.status();
  EXPECT_EQ(streaming->clock, T4().boost_clock);
  EXPECT_FALSE(streaming->limited);
  EXPECT_LT(streaming->watts, 70);
}

TEST(PowerLimitTest, KeepsTheLimitAndWastesNoStep) {
  double before = 0;
  for (double limit = 75; limit <= 400; limit += 13) {
    const auto clock = ClockWithin(T4(), limit, {.tensor_busy = 1});
    ASSERT_TRUE(clock.ok()) << clock.status();
    EXPECT_LE(clock->watts, limit * 1.000001);
    EXPECT_GE(clock->clock, before);
    EXPECT_EQ(clock->limited, clock->clock < T4().boost_clock);
    // Whole steps above the base clock, or the boost clock.
    const double steps = (clock->clock - T4().base_clock) / T4().clock_step;
    EXPECT_EQ(steps, std::floor(steps));
    if (clock->limited) {
      // A little more than one step's power more, and the next clock is reached.
      const auto more = ClockWithin(T4(), limit * 1.06, {.tensor_busy = 1});
      EXPECT_GT(more->clock, clock->clock);
    }
    before = clock->clock;
  }
  EXPECT_EQ(before, T4().boost_clock);
}

TEST(PowerLimitTest, SaysWhenNotEvenTheBaseClockKeepsIt) {
  const auto clock = ClockWithin(T4(), 50, {.tensor_busy = 1});
  ASSERT_TRUE(clock.ok()) << clock.status();
  EXPECT_TRUE(clock->over);
  EXPECT_EQ(clock->clock, T4().base_clock);
  EXPECT_GT(clock->watts, 50);
}

TEST(PowerLimitTest, RoofAtItsOwnLimitIsTheSustainedRoof) {
  const Machine expected = SustainedRoof(T4());
  const auto roof = RoofWithin(T4(), T4().power_limit);
  ASSERT_TRUE(roof.ok()) << roof.status();
  EXPECT_EQ(roof->flops_per_s, expected.flops_per_s);
  EXPECT_EQ(roof->bytes_per_s, expected.bytes_per_s);
  EXPECT_EQ(roof->fixed_s, expected.fixed_s);
  // Far above it the pipe's share is all that is missing from the data sheet.
  const auto free = RoofWithin(T4(), 1000);
  ASSERT_TRUE(free.ok());
  EXPECT_DOUBLE_EQ(free->peak(Precision::kF16), DatasheetRoof(T4()).peak(Precision::kF16));
  EXPECT_DOUBLE_EQ(free->peak(Precision::kF32),
                   DatasheetRoof(T4()).peak(Precision::kF32) * T4().fp32_sustained_busy);
}

TEST(PowerLimitTest, RefusesWhatMakesNoSense) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const double limit : {0.0, -1.0, nan, inf}) {
    EXPECT_EQ(ClockWithin(T4(), limit, {}).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(RoofWithin(T4(), limit).ok());
  }
  for (const double share : {-0.1, 1.1, nan}) {
    EXPECT_EQ(ClockWithin(T4(), 70, {.fp32_busy = share}).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ClockWithin(T4(), 70, {.tensor_busy = share}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(ClockWithin(T4(), 70, {.bytes_per_s = -1}).ok());
  EXPECT_FALSE(ClockWithin(T4(), 70, {.bytes_per_s = nan}).ok());
  model::GpuMachine unknown = T4();
  unknown.fp32_sustained_clock = 0;
  EXPECT_EQ(ClockWithin(unknown, 70, {.fp32_busy = 1}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(ClockWithin(unknown, 70, {.tensor_busy = 1}).ok());
}

}  // namespace
}  // namespace assay::roofline
