// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#if !defined(__EMSCRIPTEN__)
#include <thread>
#endif

namespace assay {
namespace {

constexpr int kThreadCounts[] = {1, 2, 3, 8};

TEST(ThreadPoolTest, CallsEveryBlockOnce) {
  for (const int threads : kThreadCounts) {
    ThreadPool pool(threads);
    EXPECT_GE(pool.threads(), 1);
    EXPECT_LE(pool.threads(), threads);
    for (const int64_t n : {0, 1, 6, 7, 8, 13, 14, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
      std::atomic<int64_t> blocks = 0;
      pool.ParallelFor(n, 7, [&](int64_t begin, int64_t end) {
        ++blocks;
        EXPECT_EQ(begin % 7, 0);
        EXPECT_EQ(end, std::min(begin + 7, n));
        for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      EXPECT_EQ(blocks, (n + 6) / 7);
      for (const auto& count : visits) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPoolTest, SurvivesBlocksNearTheLargestCount) {
  ThreadPool pool(2);
  const int64_t n = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> total = 0;
  pool.ParallelFor(n, n / 3, [&](int64_t begin, int64_t end) { total += end - begin; });
  EXPECT_EQ(total, n);
}

// The order of the tree, written out: letters show which partial results met.
TEST(ThreadPoolTest, CombinesNeighboursInAFixedTree) {
  const char* const expected[] = {"-",
                                  "a",
                                  "(ab)",
                                  "((ab)c)",
                                  "((ab)(cd))",
                                  "(((ab)(cd))e)",
                                  "(((ab)(cd))(ef))",
                                  "(((ab)(cd))((ef)g))"};
  for (const int threads : kThreadCounts) {
    ThreadPool pool(threads);
    for (int64_t n = 0; n < 8; ++n) {
      const std::string tree = pool.ParallelReduce(
          n, 1, std::string("-"),
          [](int64_t begin, int64_t) { return std::string(1, static_cast<char>('a' + begin)); },
          [](const std::string& a, const std::string& b) { return "(" + a + b + ")"; });
      EXPECT_EQ(tree, expected[n]) << n;
    }
  }
}

TEST(ThreadPoolTest, SumsTheSameBitsOnAnyNumberOfThreads) {
  const auto sum = [](ThreadPool& pool, int64_t n, int64_t block) {
    return pool.ParallelReduce(
        n, block, 0.0,
        [](int64_t begin, int64_t end) {
          double s = 0.0;
          for (int64_t i = begin; i < end; ++i) s += 1.0 / static_cast<double>(3 * i + 1);
          return s;
        },
        [](double a, double b) { return a + b; });
  };
  ThreadPool one(1);
  const double expected = sum(one, 100001, 100);
  EXPECT_NE(expected, sum(one, 100001, 100001));  // the block does matter
  for (const int threads : kThreadCounts) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 20; ++repeat) EXPECT_EQ(sum(pool, 100001, 100), expected);
  }
}

TEST(ThreadPoolTest, ReducesBools) {
  ThreadPool pool(4);
  const auto any = [&](int64_t wanted) {
    return pool.ParallelReduce(
        1000, 3, false, [&](int64_t begin, int64_t end) { return begin <= wanted && wanted < end; },
        [](bool a, bool b) { return a || b; });
  };
  EXPECT_TRUE(any(999));
  EXPECT_FALSE(any(1000));
}

TEST(ThreadPoolTest, RunsALoopInsideALoop) {
  ThreadPool pool(4);
  std::vector<int64_t> sums(50);
  pool.ParallelFor(50, 1, [&](int64_t outer, int64_t) {
    sums[static_cast<size_t>(outer)] = pool.ParallelReduce(
        100, 9, int64_t{0}, [&](int64_t begin, int64_t end) { return (end - begin) * outer; },
        [](int64_t a, int64_t b) { return a + b; });
  });
  for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(sums[static_cast<size_t>(i)], 100 * i);
}

TEST(ThreadPoolTest, NestsLoopsOverTwoPools) {
  ThreadPool a(2);
  ThreadPool b(2);
  std::atomic<int64_t> total = 0;
  a.ParallelFor(4, 1, [&](int64_t, int64_t) {
    b.ParallelFor(
        4, 1, [&](int64_t, int64_t) { a.ParallelFor(4, 1, [&](int64_t, int64_t) { ++total; }); });
  });
  EXPECT_EQ(total, 64);
}

TEST(ThreadPoolTest, RunsManyShortLoops) {
  ThreadPool pool(4);
  std::atomic<int64_t> total = 0;
  for (int i = 0; i < 5000; ++i) {
    pool.ParallelFor(4, 1, [&](int64_t begin, int64_t) { total += begin; });
  }
  EXPECT_EQ(total, 5000 * 6);
}

#if !defined(__EMSCRIPTEN__)

TEST(ThreadPoolTest, UsesItsThreads) {
  ThreadPool pool(2);
  ASSERT_EQ(pool.threads(), 2);
  // Each block waits for the other, so one thread alone would never end.
  std::atomic<int> arrived = 0;
  pool.ParallelFor(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPoolTest, TakesLoopsFromSeveralThreads) {
  ThreadPool pool(3);
  std::atomic<int64_t> total = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        pool.ParallelFor(10, 1, [&](int64_t, int64_t) { ++total; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 300 * 10);
}

TEST(ThreadPoolDeathTest, ChecksItsArguments) {
  ThreadPool pool(1);
  EXPECT_DEATH(ThreadPool bad(0), "threads >= 1");
  EXPECT_DEATH(pool.ParallelFor(-1, 1, [](int64_t, int64_t) {}), "n >= 0");
  EXPECT_DEATH(pool.ParallelFor(1, 0, [](int64_t, int64_t) {}), "block >= 1");
}

#endif

}  // namespace
}  // namespace assay
