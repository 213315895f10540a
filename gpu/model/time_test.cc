// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/time.h"

#include <cmath>
#include <limits>
#include <string>

#include "gpu/model/power.h"
#include "gtest/gtest.h"

namespace assay::model {
namespace {

constexpr double kTiny = 1e-12;  // relative, for what is computed in another order here

const GpuMachine& T4() { return Gpu("NVIDIA T4"); }

// A launch that fills every SM of the T4 with four blocks of 256 threads, and does nothing yet.
KernelWork Idle() {
  KernelWork work;
  work.blocks = 160;
  work.threads = 256;
  work.resources.registers = 32;
  return work;
}

TimeEstimate Estimate(const GpuMachine& gpu, const KernelWork& work, TimeOptions options = {}) {
  const absl::StatusOr<TimeEstimate> estimate = EstimateTime(gpu, work, options);
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  return estimate.value_or(TimeEstimate());
}

double TermOf(const TimeEstimate& estimate, Term term) {
  return estimate.terms[static_cast<size_t>(term)];
}

void ExpectClose(double value, double expected) {
  EXPECT_NEAR(value, expected, std::fabs(expected) * kTiny);
}

TEST(TimeTest, AnEmptyLaunchTakesItsOverhead) {
  const TimeEstimate e = Estimate(T4(), Idle());
  EXPECT_EQ(e.seconds, T4().launch_overhead);
  EXPECT_EQ(e.binding, Term::kLaunch);
  EXPECT_EQ(e.occupancy.blocks, 4);
  EXPECT_EQ(e.waves, 1);
  EXPECT_EQ(e.tail_efficiency, 1);
  EXPECT_EQ(e.clock, 1590e6);
  EXPECT_FALSE(e.power_limited);
}

// One unit at a time, with rates that a data sheet gives: the time is work over rate.
TEST(TimeTest, EachUnitTakesItsWorkOverItsRate) {
  const double f = 1590e6;
  const double sms = 40;
  struct Case {
    Term term;
    KernelWork work;
    double seconds;
  };
  std::vector<Case> cases;
  const auto pipe = [&](Term term, Pipe which, double lanes) {
    Case c = {term, Idle(), 1e6 * 32 / lanes / sms / f};
    c.work.instructions[static_cast<size_t>(which)] = 1e6;
    cases.push_back(c);
  };
  pipe(Term::kFma, Pipe::kFma, 64);
  pipe(Term::kAlu, Pipe::kAlu, 64);
  pipe(Term::kFp64, Pipe::kFp64, 2);
  pipe(Term::kSpecial, Pipe::kSpecial, 16);
  pipe(Term::kLoadStore, Pipe::kLoadStore, 16);
  pipe(Term::kIssue, Pipe::kControl, 128);
  Case tensor = {Term::kTensor, Idle(), 1e12 / 1024 / sms / f};
  tensor.work.tensor_fp16_flops = 1e12;
  cases.push_back(tensor);
  Case int8 = {Term::kTensor, Idle(), 1e12 / 2048 / sms / f};
  int8.work.tensor_int8_ops = 1e12;
  cases.push_back(int8);
  Case passes = {Term::kLoadStore, Idle(), 3e6 * 128 / 64 / sms / f};
  passes.work.accesses = {{1e6, 3e6, 0}};
  cases.push_back(passes);
  Case addresses = {Term::kLoadStore, Idle(), 1e6 * 32 / 16 / sms / f};
  addresses.work.accesses = {{1e6, 0.1e6, 0}};
  cases.push_back(addresses);
  Case once = {Term::kLoadStore, Idle(),
               3e6 * 128 / 64 / sms / f};  // the same instructions, counted
  once.work.accesses = {{1e6, 3e6, 0}};
  once.work.instructions[static_cast<size_t>(Pipe::kLoadStore)] = 1e6;
  cases.push_back(once);
  Case tags = {Term::kTags, Idle(), 7e6 / sms / f};
  tags.work.accesses = {{0, 0, 7e6}};
  cases.push_back(tags);
  Case l2 = {Term::kL2, Idle(), 1e9 / 1200e9};
  l2.work.l2_bytes = 1e9;
  cases.push_back(l2);
  Case dram = {Term::kDram, Idle(), 1e9 / 240e9};
  dram.work.dram_bytes = 1e9;
  cases.push_back(dram);
  for (const Case& c : cases) {
    const TimeEstimate e = Estimate(T4(), c.work, {.power_limit = false});
    ExpectClose(TermOf(e, c.term), c.seconds);
    EXPECT_EQ(e.binding, c.term) << TermName(c.term);
    const double share = c.term == Term::kDram ? 1 : T4().efficiency;
    ExpectClose(e.seconds, T4().launch_overhead + c.seconds / share);
  }
}

// On Hopper a warp's addresses take one clock, not two, and a pass one.
TEST(TimeTest, KnowsTheMachinesLoadStoreUnit) {
  KernelWork work = Idle();
  work.accesses = {{1e6, 1e6, 0}};
  ExpectClose(TermOf(Estimate(Gpu("NVIDIA H200"), work), Term::kLoadStore), 1e6 / 160 * 2 / 1980e6);
  ExpectClose(TermOf(Estimate(Gpu("NVIDIA RTX A6000"), work), Term::kLoadStore),
              1e6 * 2 / 160 * 2 / 1800e6);
}

// 161 blocks: one SM gets a fifth one, and a second wave begins.
TEST(TimeTest, TheBusiestMultiprocessorDecides) {
  KernelWork work = Idle();
  work.instructions[static_cast<size_t>(Pipe::kFma)] = 161e6;
  work.blocks = 161;
  const TimeEstimate e = Estimate(T4(), work, {.power_limit = false});
  ExpectClose(TermOf(e, Term::kFma), 5 * 1e6 / 2 / 1590e6);
  EXPECT_EQ(e.waves, 2);
  ExpectClose(e.tail_efficiency, 161.0 / 320);
  work.blocks = 1;
  work.instructions[static_cast<size_t>(Pipe::kFma)] = 1e6;
  ExpectClose(TermOf(Estimate(T4(), work, {.power_limit = false}), Term::kFma), 1e6 / 2 / 1590e6);
}

// A block that waits ten times for device memory, 500 clocks each, in two waves.
TEST(TimeTest, WavesOfWaitingBlocksAreABound) {
  KernelWork work = Idle();
  work.blocks = 320;
  work.global_waits = 10;
  TimeEstimate e = Estimate(T4(), work);
  EXPECT_EQ(e.waves, 2);
  ExpectClose(TermOf(e, Term::kPath), 2 * 10 * 500 / 1590e6);
  EXPECT_EQ(e.binding, Term::kPath);
  work.l2_hit_share = 1;
  ExpectClose(TermOf(Estimate(T4(), work), Term::kPath), 2 * 10 * 188 / 1590e6);
  work.l1_hit_share = 0.5;
  ExpectClose(TermOf(Estimate(T4(), work), Term::kPath), 2 * 10 * (16 + 94) / 1590e6);
  work.shared_waits = 4;
  ExpectClose(TermOf(Estimate(T4(), work), Term::kPath), 2 * (1100 + 92) / 1590e6);
}

// The work of a block comes after its waiting, or beside it; without barriers a warp has to do only
// its own, on one of four partitions.
TEST(TimeTest, WaitingAddsToABlocksOwnWork) {
  KernelWork work = Idle();
  work.global_waits = 10;
  work.barriers = true;
  const double per_block = 8000 / 2.0;  // clocks
  work.instructions[static_cast<size_t>(Pipe::kFma)] = 160 * 8000;
  const TimeOptions free = {.power_limit = false};
  ExpectClose(TermOf(Estimate(T4(), work, free), Term::kPath), (5000 + per_block) / 1590e6);
  work.overlapped = true;
  ExpectClose(TermOf(Estimate(T4(), work, free), Term::kPath), 5000 / 1590e6);
  work.overlapped = false;
  work.barriers = false;
  ExpectClose(TermOf(Estimate(T4(), work, free), Term::kPath), (5000 + per_block / 2) / 1590e6);
}

// Little's law: a copy of 128-byte requests needs 240 GB/s x 500 clocks in flight, 590 requests, 15
// warps an SM; with 8 warps an SM it gets 8 / 15 of the bandwidth. Volkov (2016).
TEST(TimeTest, TooFewWarpsCannotFillTheMemory) {
  KernelWork work;
  work.threads = 32;
  work.blocks = int64_t{40} * 8 * 1000;
  work.resources.registers = 16;
  work.resources.static_shared = 8192;  // 8 blocks of one warp fill 64 KiB
  work.global_waits = 1;
  work.dram_bytes = static_cast<double>(work.blocks) * 128;
  const TimeEstimate e = Estimate(T4(), work, {.efficiency = 1});
  EXPECT_EQ(e.occupancy.warps, 8);
  EXPECT_EQ(e.binding, Term::kPath);
  EXPECT_EQ(e.runner_up, Term::kDram);
  const double share = TermOf(e, Term::kDram) / TermOf(e, Term::kPath);
  EXPECT_NEAR(share, 8 / (240e9 * 500 / 1590e6 / 128 / 40), 1e-3);
}

// The three loads that the power model is made from and checked against: the clocks are those that
// were seen. (The first is no input of the fit.)
TEST(PowerTest, KeepsTheClocksOfTheThreeLoads) {
  KernelWork stream = Idle();
  stream.dram_bytes = 240e9;
  const TimeEstimate streaming = Estimate(T4(), stream);
  EXPECT_EQ(streaming.clock, 1590e6);
  EXPECT_LT(streaming.watts, 70);

  KernelWork gemm = Idle();
  gemm.instructions[static_cast<size_t>(Pipe::kFma)] = 1e12;
  const TimeEstimate fp32 = Estimate(T4(), gemm, {.efficiency = 0.93});
  EXPECT_EQ(fp32.clock, 900e6);
  EXPECT_TRUE(fp32.power_limited);
  EXPECT_FALSE(fp32.over_limit);
  EXPECT_NEAR(fp32.watts, 70, 1e-3);
  EXPECT_EQ(Estimate(T4(), gemm, {.power_limit = false}).clock, 1590e6);

  KernelWork tensor = Idle();
  tensor.tensor_fp16_flops = 1e15;
  const TimeEstimate half = Estimate(T4(), tensor, {.efficiency = 1});
  EXPECT_EQ(half.clock, 585e6);
  EXPECT_FALSE(half.over_limit);
  EXPECT_NEAR(1e15 / half.seconds, 24e12, 0.05e12);

  // L2 shares the clock, device memory does not.
  tensor.l2_bytes = 1e9;
  tensor.dram_bytes = 1e9;
  const TimeEstimate slow = Estimate(T4(), tensor, {.efficiency = 1});
  EXPECT_EQ(slow.clock, 585e6);
  ExpectClose(TermOf(slow, Term::kL2), 1e9 / 1200e9 * 1590 / 585);
  ExpectClose(TermOf(slow, Term::kDram), 1e9 / 240e9);
}

TEST(PowerTest, TellsWhenNoClockIsLowEnough) {
  KernelWork both = Idle();
  both.tensor_fp16_flops = 1e15;
  both.dram_bytes = 1e12;
  GpuMachine gpu = T4();
  gpu.power_base = 69;
  gpu.dram_energy = 1e-9;
  const TimeEstimate e = Estimate(gpu, both, {.efficiency = 1});
  EXPECT_TRUE(e.over_limit);
  EXPECT_EQ(e.clock, gpu.base_clock);
}

TEST(PowerTest, LeavesOutWhatNobodyKnows) {
  EXPECT_GT(FitPower(T4()).tensor, FitPower(T4()).fp32);
  GpuMachine gpu = T4();
  gpu.tensor_sustained_clock = 0;
  EXPECT_EQ(FitPower(gpu).tensor, 0);
  EXPECT_EQ(FitPower(gpu).fp32, FitPower(T4()).fp32);
}

TEST(PowerTest, VoltageIsLinear) {
  EXPECT_EQ(Voltage(T4(), 585e6), 0.65);
  ExpectClose(Voltage(T4(), 1590e6), 1.0);
  ExpectClose(Voltage(T4(), 1087.5e6), 0.825);
  GpuMachine one = T4();
  one.boost_clock = one.base_clock;
  EXPECT_EQ(Voltage(one, one.base_clock), 1.0);
}

TEST(WorkTest, MultipliesTheMixByItsTrips) {
  KernelMix mix;
  mix.name = "k";
  mix.registers = 40;
  mix.static_shared = 1024;
  mix.loops = {
      {-1, 0, {{"IADD3", 3}, {"LDG.32", 1}}},
      {0, 4, {{"BAR", 2}, {"FFMA", 10}, {"HMMA.1688", 2}, {"LDG.128", 4}, {"LDS.32", 1}}},
      {1, 9, {{"IMMA.8816", 1}, {"IMMA.8832", 1}, {"LDS.128", 5}, {"MUFU", 1}, {"OP_123", 1}}}};
  const double trips[] = {1, 20, 60};
  const absl::StatusOr<KernelWork> work = WorkOf(mix, trips, /*blocks=*/10, /*threads=*/40);
  ASSERT_TRUE(work.ok()) << work.status();
  const double warps = 20;  // 40 threads are two warps
  const auto pipe = [&](Pipe p) { return work->instructions[static_cast<size_t>(p)]; };
  EXPECT_EQ(pipe(Pipe::kAlu), 3 * warps);
  EXPECT_EQ(pipe(Pipe::kFma), 200 * warps);
  EXPECT_EQ(pipe(Pipe::kTensor), (40 + 120) * warps);
  EXPECT_EQ(pipe(Pipe::kLoadStore), (1 + 20 * 5 + 60 * 5) * warps);
  EXPECT_EQ(pipe(Pipe::kControl), 40 * warps);
  EXPECT_EQ(pipe(Pipe::kSpecial), 60 * warps);
  EXPECT_EQ(pipe(Pipe::kOther), 60 * warps);
  EXPECT_EQ(work->tensor_fp16_flops, 40 * 2048 * warps);
  EXPECT_EQ(work->tensor_int8_ops, 60 * (2048 + 4096 / 2) * warps);
  EXPECT_EQ(work->global_waits, 21);
  EXPECT_EQ(work->shared_waits, 80);
  EXPECT_TRUE(work->barriers);
  EXPECT_EQ(work->resources.registers, 40);
  EXPECT_EQ(work->resources.static_shared, 1024);
  const double two[] = {1, 2};
  EXPECT_FALSE(WorkOf(mix, two, 10, 40).ok());
  const double negative[] = {1, -1, 2};
  EXPECT_FALSE(WorkOf(mix, negative, 10, 40).ok());
  const double infinite[] = {1, 1, std::numeric_limits<double>::infinity()};
  EXPECT_FALSE(WorkOf(mix, infinite, 10, 40).ok());
  EXPECT_FALSE(WorkOf(mix, trips, 0, 40).ok());
  EXPECT_FALSE(WorkOf(mix, trips, 1, 0).ok());
}

TEST(WorkTest, TakesAccessesFromCounters) {
  simt::LaunchCounters counters;
  simt::AccessCounters global;
  global.width = 4;
  global.requests = 10;
  global.lanes = 320;
  global.bytes = 1280;
  global.lines = 10;
  simt::AccessCounters wide = global;  // 16 bytes a lane: four passes
  wide.width = 16;
  wide.bytes = 5120;
  wide.lines = 40;
  simt::AccessCounters few = global;  // four lanes a request: still a pass
  few.lanes = 40;
  simt::AccessCounters conflict;
  conflict.space = simt::Space::kShared;
  conflict.width = 4;
  conflict.requests = 5;
  conflict.bytes = 640;
  conflict.wavefronts = 160;
  counters.accesses = {global, wide, few, conflict};
  KernelWork work = Idle();
  AddAccesses(counters, 3, &work);
  const double expected[][3] = {{30, 30, 30}, {30, 120, 120}, {30, 30, 30}, {15, 480, 0}};
  ASSERT_EQ(work.accesses.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(work.accesses[i].requests, expected[i][0]) << i;
    EXPECT_EQ(work.accesses[i].passes, expected[i][1]) << i;
    EXPECT_EQ(work.accesses[i].lines, expected[i][2]) << i;
  }
  AddTraffic(Traffic{1, 100, 40, 10, 10, 5}, 2, &work);
  EXPECT_EQ(work.l2_bytes, 50 * 32 * 2);
  EXPECT_EQ(work.dram_bytes, 15 * 32 * 2);
  ExpectClose(work.l1_hit_share, 0.6);
  ExpectClose(work.l2_hit_share, 0.75);
}

TEST(TimeTest, RefusesWorkThatIsNone) {
  const double bad[] = {-1, std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity()};
  for (const double value : bad) {
    for (int field = 0; field < 9; ++field) {
      KernelWork work = Idle();
      work.accesses.resize(1);
      double* const fields[] = {
          &work.instructions[3],   &work.tensor_fp16_flops, &work.accesses[0].requests,
          &work.accesses[0].lines, &work.l2_bytes,          &work.dram_bytes,
          &work.global_waits,      &work.l1_hit_share,      &work.l2_hit_share};
      *fields[field] = value;
      EXPECT_EQ(EstimateTime(T4(), work).status().code(), absl::StatusCode::kInvalidArgument)
          << field;
    }
  }
  KernelWork work = Idle();
  work.blocks = 0;
  EXPECT_FALSE(EstimateTime(T4(), work).ok());
  work = Idle();
  work.threads = 2000;
  EXPECT_FALSE(EstimateTime(T4(), work).ok());
  work = Idle();
  work.l1_hit_share = 1.5;
  EXPECT_FALSE(EstimateTime(T4(), work).ok());
  EXPECT_FALSE(EstimateTime(T4(), Idle(), {.efficiency = 1.5}).ok());
  EXPECT_FALSE(EstimateTime(T4(), Idle(), {.efficiency = -1}).ok());
  GpuMachine unknown = T4();
  unknown.compute_capability = 50;
  EXPECT_EQ(EstimateTime(unknown, Idle()).status().code(), absl::StatusCode::kNotFound);
}

TEST(CpuTest, IsARoofline) {
  const CpuMachine& cpu = Cpu("Intel Core i7-8559U");
  EXPECT_EQ(CpuSeconds(cpu, 2e11, 0), 1);
  EXPECT_EQ(CpuSeconds(cpu, 1e9, 1e10), 1);
  CpuMachine slow = cpu;
  slow.fixed_cost = 3;
  EXPECT_EQ(CpuSeconds(slow, 0, 0), 3);
}

// The articles' ratios: 19 and 11 times as fast on a T4.
TEST(CpuTest, GivesTheRatiosOfTheArticles) {
  const CpuMachine& cpu = Cpu("CPU implied by the articles");
  const double flops = 2.0 * 4096 * 4096 * 4096;
  EXPECT_NEAR(CpuSeconds(cpu, flops, 0) / (flops / 4.2e12), 19, 0.2);
  EXPECT_NEAR(CpuSeconds(cpu, 0, 1e9) / (1e9 / T4().dram_bandwidth), 11, 0.2);
}

}  // namespace
}  // namespace assay::model
