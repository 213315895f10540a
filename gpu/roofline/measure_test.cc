// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/measure.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace assay::roofline {
namespace {

// A clock that goes on by a second at each look: every run lasts one.
MeasureOptions Ticking() {
  int64_t now = 0;
  return {
      .now_ns = [now]() mutable { return now += 1'000'000'000; }, .samples = 3, .min_sample_ns = 1};
}

TEST(MeasureTest, GivesWorkOverTime) {
  for (const ProbeSpec& spec : {ProbeSpec{.kind = ProbeKind::kFmaF32, .chains = 3},
                                ProbeSpec{.kind = ProbeKind::kTriad, .bytes = 4000},
                                ProbeSpec{.kind = ProbeKind::kChase, .bytes = 4000}}) {
    const auto rate = MeasureRate(spec, Ticking());
    ASSERT_TRUE(rate.ok()) << rate.status();
    const ProbeWork work = HostProbe::Create(spec)->PerRound();
    const int64_t units = work.loads + (work.bytes > 0 ? work.bytes : work.flops);
    EXPECT_EQ(rate->per_second, std::vector<double>(3, static_cast<double>(units)));
    EXPECT_EQ(rate->threads, 1);
  }
}

TEST(MeasureTest, RepeatsRoundsUntilASampleIsLongEnough) {
  // Each round takes a second here, so eight of them are needed, and the rate stays.
  MeasureOptions options = Ticking();
  int64_t now = 0, looks = 0;
  options.now_ns = [&] {
    ++looks;
    return now += 1'000'000'000;
  };
  options.min_sample_ns = 1'000'000'000;
  ASSERT_TRUE(MeasureRate({.kind = ProbeKind::kFmaF64}, options).ok());
  EXPECT_EQ(looks, 2 * (1 + 1 + 3));  // the first run, one that is long enough, three samples
}

TEST(MeasureTest, CountsTheWorkOfAllThreads) {
  MeasureOptions options = Ticking();
  options.threads = 3;
  const ProbeSpec spec = {.kind = ProbeKind::kCopy, .bytes = 1024};
  const auto rate = MeasureRate(spec, options);
  ASSERT_TRUE(rate.ok()) << rate.status();
  EXPECT_EQ(rate->best(), 3.0 * 1024);
  EXPECT_EQ(rate->threads, 3);
}

TEST(MeasureTest, BestAndMedian) {
  Rate rate;
  EXPECT_EQ(rate.best(), 0);
  EXPECT_EQ(rate.median(), 0);
  rate.per_second = {3, 9, 1, 2};
  EXPECT_EQ(rate.best(), 9);
  EXPECT_EQ(rate.median(), 2);
  rate.per_second = {3, 9, 1};
  EXPECT_EQ(rate.median(), 3);
}

TEST(MeasureTest, MeasuresAWholeMachine) {
  const auto host = MeasureHost(Ticking(), 1500, WorkingSets(4096, 8192));
  ASSERT_TRUE(host.ok()) << host.status();
  ASSERT_EQ(host->chase.size(), 3u);
  EXPECT_EQ(host->chase[1].spec.bytes, 5760);
  const Machine machine = HostMachine("here", *host);
  EXPECT_EQ(machine.name, "here");
  EXPECT_EQ(machine.peak(Precision::kF32), host->fma_f32.best());
  EXPECT_EQ(machine.peak(Precision::kF64), host->fma_f64.best());
  EXPECT_EQ(machine.bytes_per_s, host->triad.best());
  EXPECT_EQ(host->triad.best(), 1536);
  EXPECT_EQ(host->copy.best(), 2048);
  EXPECT_GT(RidgePoint(machine, Precision::kF32), 0);
}

TEST(MeasureTest, RefusesWithoutAClock) {
  MeasureOptions options;
  EXPECT_EQ(MeasureRate({.kind = ProbeKind::kFmaF32}, options).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const auto refused = [](auto change) {
    MeasureOptions bad = Ticking();
    change(bad);
    return MeasureRate({.kind = ProbeKind::kFmaF32}, bad).status().code() ==
           absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](MeasureOptions& o) { o.threads = 0; }));
  EXPECT_TRUE(refused([](MeasureOptions& o) { o.samples = 0; }));
  EXPECT_TRUE(refused([](MeasureOptions& o) { o.min_sample_ns = 0; }));
  EXPECT_FALSE(MeasureRate({.kind = ProbeKind::kChase, .bytes = 0}, Ticking()).ok());
  EXPECT_FALSE(MeasureHost(Ticking(), 0, {}).ok());
}

TEST(MeasureTest, WorkingSetsAreHalfOctavesOfWholeLines) {
  EXPECT_EQ(WorkingSets(4096, 16384), (std::vector<int64_t>{4096, 5760, 8192, 11584, 16384}));
  EXPECT_EQ(WorkingSets(4096, 4095), std::vector<int64_t>());
  EXPECT_EQ(WorkingSets(4096, 6000), (std::vector<int64_t>{4096, 5760}));
  EXPECT_EQ(WorkingSets(64, 64), std::vector<int64_t>{64});
}

TEST(MeasureTest, FindsLevelsAndLeavesOutSlopes) {
  const std::vector<int64_t> bytes = {4, 8, 16, 32, 64, 128, 256, 512, 1024};
  // Two flat levels with one set on the slope between, then a rise without end.
  const std::vector<double> seconds = {1, 1.1, 1, 2, 4, 4.2, 4.1, 8, 16};
  const std::vector<CacheStep> steps = CacheSteps(bytes, seconds);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].bytes, 16);
  EXPECT_EQ(steps[0].seconds, 1);
  EXPECT_EQ(steps[1].bytes, 256);
  EXPECT_EQ(steps[1].seconds, 4);
  EXPECT_EQ(steps[2].bytes, 1024);
  EXPECT_EQ(steps[2].seconds, 16);
  // One set that was disturbed makes no level of its own.
  std::vector<double> disturbed = seconds;
  disturbed[1] = 3;
  const std::vector<CacheStep> same = CacheSteps(bytes, disturbed);
  ASSERT_EQ(same.size(), 3u);
  EXPECT_EQ(same[0].bytes, 16);
  EXPECT_TRUE(CacheSteps({}, {}).empty());
  EXPECT_EQ(CacheSteps(std::vector<int64_t>{4}, std::vector<double>{1}).size(), 1u);
}

}  // namespace
}  // namespace assay::roofline
