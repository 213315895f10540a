// SPDX-License-Identifier: Apache-2.0
#define SIMT_FIBERS

#include "gpu/simt/fiber.h"

#include <xmmintrin.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/simt/fiber_test_kernels.h"
#include "gpu/simt/fiber_test_outcome.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/simt.h"
#include "gtest/gtest.h"

namespace assay::simt {
namespace {

TEST(FiberTest, GivesWhatCoroutinesGive) {
  FiberRunner fibers;
  int failed = 0;
  for (const Schedule schedule : {Schedule::kForward, Schedule::kReverse, Schedule::kRandom}) {
    for (const bool trace : {true, false}) {
      LaunchConfig config;
      config.schedule = schedule;
      config.seed = 7;
      config.trace = trace;
      const std::vector<FiberTestOutcome> expected = as_coroutines::Outcomes(config);
      config.runner = &fibers;
      const std::vector<FiberTestOutcome> found = as_fibers::RunAll(config);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].name, expected[i].name);
        EXPECT_EQ(found[i].status, expected[i].status) << found[i].name;
        EXPECT_EQ(found[i].findings, expected[i].findings) << found[i].name;
        EXPECT_EQ(found[i].counters, expected[i].counters) << found[i].name;
        EXPECT_EQ(found[i].memory, expected[i].memory) << found[i].name;
        failed += !found[i].status.ok();
      }
    }
  }
  // Races show in traced launches only, the other three mistakes always.
  EXPECT_EQ(failed, 3 * (4 + 3));
}

// ---- What coroutines cannot do.

// A plain function that waits, called in a conditional expression beside a comma.
int FromTheLeft(sptr<int> tile, int t, int value) {
  tile[t] = value;
  __syncthreads();
  const int left = tile[(t + 63) % 64];
  __syncthreads();
  return left;
}

int Deeper(sptr<int> tile, gptr<int> y, int t, int depth) {
  return depth == 0 ? FromTheLeft(tile, t, t) : (y[t] = Deeper(tile, y, t, depth - 1), depth);
}

__global__ void PlainCuda(gptr<int> y, int n) {
  SHARED(int, tile, 64);
  const int t = static_cast<int>(threadIdx.x);
  const int left = n > 0 ? FromTheLeft(tile, t, 10 * t) : -1;
  const int depth = Deeper(tile, y, t, 20);
  if (t % 2 == 1) return;  // beside barriers; y[t] is 19 for the depth above
  y[t] = left + depth + __shfl_sync(0x55555555u, t, 0);
}

TEST(FiberTest, RunsKernelsThatWaitInPlainFunctions) {
  FiberRunner fibers;
  DeviceMemory memory;
  const Pointer<int> y = memory.Upload(std::vector<int>(64, -1), "y").value();
  const LaunchResult result =
      Launch(memory, {.grid = 1, .block = 64, .runner = &fibers}, PlainCuda, y, 1);
  ASSERT_TRUE(result.status.ok()) << result.status;
  const std::vector<int> found = memory.Download(y, 64).value();
  for (int t = 0; t < 64; ++t) {
    const int expected = 10 * ((t + 63) % 64) + 20 + t / 32 * 32;
    EXPECT_EQ(found[static_cast<size_t>(t)], t % 2 == 1 ? 19 : expected) << t;
  }
}

// ---- Stacks.

__global__ void Waits(int n) {
  for (int i = 0; i < n; ++i) __syncthreads();
}

TEST(FiberTest, UsesItsStacksAgain) {
  FiberRunner fibers(16 << 10);
  DeviceMemory memory;
  EXPECT_EQ(fibers.stacks(), 0u);
  for (int i = 0; i < 3; ++i) {
    const LaunchResult result =
        Launch(memory, {.grid = 50, .block = 200, .runner = &fibers}, Waits, 3);
    ASSERT_TRUE(result.status.ok()) << result.status;
    EXPECT_EQ(fibers.stacks(), 256u);  // 200, by 64
  }
}

__global__ void Fails(gptr<int> y) {
  __syncthreads();
  if (threadIdx.x == 3) y[5] = 1;
  __syncthreads();
}

TEST(FiberTest, TakesStacksBackFromThreadsThatAreLeft) {
  FiberRunner fibers;
  DeviceMemory memory;
  const Pointer<int> y = memory.Upload(std::vector<int>(1, 0), "y").value();
  for (int i = 0; i < 10; ++i) {
    const LaunchResult result =
        Launch(memory, {.grid = 1, .block = 64, .runner = &fibers}, Fails, y);
    EXPECT_FALSE(result.status.ok());
    EXPECT_EQ(fibers.stacks(), 64u);
  }
}

__global__ void Recurses(gptr<int> y, int depth) {
  volatile int large[64] = {};
  large[depth % 64] = depth;
  if (depth > 0) Recurses(y, depth - 1);
  __syncthreads();
  y[static_cast<int>(threadIdx.x)] = static_cast<int>(large[depth % 64]);
}

TEST(FiberTest, HasTheStackThatWasAskedFor) {
  FiberRunner fibers(1 << 20);
  DeviceMemory memory;
  const Pointer<int> y = memory.Upload(std::vector<int>(32, 0), "y").value();
  // 600 frames of at least 256 bytes, and three times that under a sanitizer.
  const LaunchResult result =
      Launch(memory, {.grid = 1, .block = 32, .runner = &fibers}, Recurses, y, 600);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(memory.Download(y, 32).value(), std::vector<int>(32, 600));
}

void Overflow() {
  FiberRunner fibers(16 << 10);
  DeviceMemory memory;
  const Pointer<int> y = memory.Upload(std::vector<int>(32, 0), "y").value();
  Launch(memory, {.grid = 1, .block = 32, .runner = &fibers}, Recurses, y, 600);
}

TEST(FiberDeathTest, EndsTheProgramAtTheGuardPage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_DEATH(Overflow(), "stack-overflow");
#else
  EXPECT_EXIT(Overflow(), testing::KilledBySignal(SIGSEGV), "");
#endif
}

// Writes to the last word of a stack of 16 KB: its own frame is in the first page of four.
__global__ void FillsItsStack() {
  const uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  *reinterpret_cast<volatile uint64_t*>(here / 4096 * 4096 - 3 * 4096) = 0;
  __syncthreads();
}

TEST(FiberDeathTest, EndsTheProgramWhereAStackIsFull) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        FiberRunner fibers(16 << 10);
        DeviceMemory memory;
        Launch(memory, {.grid = 1, .block = 1, .runner = &fibers}, FillsItsStack);
      },
      "canary == kCanary");
}

TEST(FiberDeathTest, RefusesKernelsThatAreCoroutines) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        FiberRunner fibers;
        LaunchConfig config;
        config.runner = &fibers;
        as_coroutines::Outcomes(config);
      },
      "current->state == State::kReady");
  EXPECT_DEATH(
      {
        DeviceMemory memory;
        Launch(memory, {.grid = 1, .block = 32}, Waits, 1);
      },
      "fiber != nullptr");
}

// ---- What a switch keeps.

// The rounding of a thread is its own: each is set before a wait and found after it.
__global__ void KeepsItsRounding(gptr<uint32_t> y) {
  const uint32_t t = threadIdx.x;
  const uint32_t before = _mm_getcsr();
  _mm_setcsr((before & ~0x6000u) | (t % 4) << 13);
  uint16_t control = 0;
  asm volatile("fnstcw %0" : "=m"(control));
  control = static_cast<uint16_t>((control & ~0x0c00) | (t / 4 % 4) << 10);
  asm volatile("fldcw %0" : : "m"(control));
  __syncthreads();
  asm volatile("fnstcw %0" : "=m"(control));
  y[t] = (_mm_getcsr() >> 13 & 3) | (control >> 10 & 3) << 2;
  _mm_setcsr(before);
}

TEST(FiberTest, KeepsRoundingModesApart) {
  FiberRunner fibers;
  DeviceMemory memory;
  const Pointer<uint32_t> y = memory.Upload(std::vector<uint32_t>(64, 99), "y").value();
  const uint32_t control = _mm_getcsr();
  const LaunchResult result =
      Launch(memory, {.grid = 1, .block = 64, .runner = &fibers}, KeepsItsRounding, y);
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(_mm_getcsr() & ~0x3fu, control & ~0x3fu);
  const std::vector<uint32_t> found = memory.Download(y, 64).value();
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(found[t], t % 16) << t;
}

// Six values that live in registers across waits, different in each thread.
__global__ void KeepsItsRegisters(gptr<uint64_t> y, int waits) {
  const uint64_t t = threadIdx.x + 1;
  uint64_t a = t, b = 2 * t, c = 3 * t, d = 5 * t, e = 7 * t, f = 11 * t;
  for (int i = 0; i < waits; ++i) {
    a += b;
    b ^= c;
    c += d;
    d ^= e;
    e += f;
    f ^= a;
    __syncthreads();
  }
  y[static_cast<int>(threadIdx.x)] = a ^ b ^ c ^ d ^ e ^ f;
}

TEST(FiberTest, KeepsRegisters) {
  FiberRunner fibers;
  DeviceMemory memory;
  const Pointer<uint64_t> y = memory.Upload(std::vector<uint64_t>(100, 0), "y").value();
  const LaunchResult result =
      Launch(memory, {.grid = 1, .block = 100, .runner = &fibers}, KeepsItsRegisters, y, 50);
  ASSERT_TRUE(result.status.ok()) << result.status;
  const std::vector<uint64_t> found = memory.Download(y, 100).value();
  for (uint64_t t = 1; t <= 100; ++t) {
    uint64_t a = t, b = 2 * t, c = 3 * t, d = 5 * t, e = 7 * t, f = 11 * t;
    for (int i = 0; i < 50; ++i) {
      a += b;
      b ^= c;
      c += d;
      d ^= e;
      e += f;
      f ^= a;
    }
    EXPECT_EQ(found[t - 1], a ^ b ^ c ^ d ^ e ^ f) << t;
  }
}

}  // namespace
}  // namespace assay::simt
