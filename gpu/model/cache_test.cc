// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/cache.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::model {
namespace {

using Writes = SectorCache::Writes;

SectorCache Make(int64_t bytes, int ways, Writes writes) {
  return *SectorCache::Create(bytes, ways, writes);
}

TEST(CacheTest, FetchesSectorsOneByOneAndEvictsTheOldestLine) {
  SectorCache cache = Make(2 * 128, 2, Writes::kBack);  // one set of two lines
  EXPECT_FALSE(cache.Read(0));
  EXPECT_TRUE(cache.Read(0));
  EXPECT_FALSE(cache.Read(3));  // the same line, another sector
  EXPECT_TRUE(cache.Read(0));
  EXPECT_FALSE(cache.Read(4));  // a second line
  EXPECT_TRUE(cache.Read(3));   // the first is now the younger
  EXPECT_FALSE(cache.Read(8));  // a third: the second goes
  EXPECT_TRUE(cache.Read(0));
  EXPECT_FALSE(cache.Read(4));
  EXPECT_EQ(cache.reads(), 9);
  EXPECT_EQ(cache.read_hits(), 4);
  EXPECT_EQ(cache.fetched(), 5);
  EXPECT_EQ(cache.written(), 0);
}

TEST(CacheTest, WritesBackWhatIsEvictedAndFlushed) {
  SectorCache cache = Make(128, 1, Writes::kBack);
  EXPECT_FALSE(cache.Write(0));
  EXPECT_TRUE(cache.Write(0));
  EXPECT_FALSE(cache.Write(1));
  EXPECT_TRUE(cache.Read(1));  // written and so here
  EXPECT_EQ(cache.written(), 0);
  EXPECT_FALSE(cache.Write(4));  // evicts two dirty sectors
  EXPECT_EQ(cache.written(), 2);
  cache.Flush();
  EXPECT_EQ(cache.written(), 3);
  cache.Flush();
  EXPECT_EQ(cache.written(), 3);
  EXPECT_EQ(cache.fetched(), 0);
}

TEST(CacheTest, WritesThroughWithoutMakingRoom) {
  SectorCache cache = Make(128, 1, Writes::kThrough);
  EXPECT_FALSE(cache.Write(0));
  EXPECT_FALSE(cache.Read(0));
  EXPECT_TRUE(cache.Write(0));
  EXPECT_FALSE(cache.Write(1));  // its line is here, so it stays
  EXPECT_TRUE(cache.Read(1));
  EXPECT_FALSE(cache.Write(4));
  EXPECT_TRUE(cache.Read(0));
  EXPECT_FALSE(cache.Read(4));  // evicts the first line, which has nothing left to write
  cache.Flush();
  EXPECT_EQ(cache.written(), 4);
}

// Whatever the sets are, as many lines in a row as fit stay, and two rounds of one more per way do
// not.
TEST(CacheTest, HoldsAsManyLinesInARowAsItHasRoomFor) {
  for (const int64_t sets : {1, 3, 64, 96, 1000}) {
    for (const int ways : {1, 4, 16}) {
      SectorCache cache = Make(sets * ways * 128, ways, Writes::kBack);
      const auto lines = static_cast<uint64_t>(sets * ways);
      const uint64_t first = static_cast<uint64_t>(sets) * 12345;
      for (uint64_t line = 0; line < lines; ++line) cache.Read((first + line) * 4);
      EXPECT_EQ(cache.read_hits(), 0);
      for (uint64_t line = 0; line < lines; ++line) cache.Read((first + line) * 4);
      EXPECT_EQ(cache.read_hits(), sets * ways) << sets << " sets, " << ways << " ways";
    }
  }
}

// A stride of one line per row would meet in one set without the hash.
TEST(CacheTest, SpreadsStrides) {
  const int64_t sets = 256;
  SectorCache cache = Make(sets * 4 * 128, 4, Writes::kBack);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 64; ++i) cache.Read(i * static_cast<uint64_t>(sets) * 4);
  }
  EXPECT_GT(cache.read_hits(), 55);
}

// One set is an LRU list of lines with sectors: the definition, written as such.
TEST(CacheTest, EqualsAListOnRandomTraffic) {
  constexpr int kWays = 6;
  SectorCache cache = Make(kWays * 128, kWays, Writes::kBack);
  std::list<std::pair<uint64_t, std::map<uint64_t, bool>>> lines;  // youngest first; sector: dirty
  int64_t fetched = 0;
  int64_t written = 0;
  Random random(/*seed=*/41);
  for (int i = 0; i < 20000; ++i) {
    const auto sector = static_cast<uint64_t>(random.Integer(40));
    const bool write = random.Bernoulli(0.3);
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&](const auto& l) { return l.first == sector / 4; });
    if (line == lines.end()) {
      if (lines.size() == kWays) {
        for (const auto& [number, dirty] : lines.back().second) written += dirty;
        lines.pop_back();
      }
      lines.push_front({sector / 4, {}});
      line = lines.begin();
    }
    lines.splice(lines.begin(), lines, line);
    const bool hit = line->second.count(sector) > 0;
    if (write) {
      line->second[sector] = true;
      ASSERT_EQ(cache.Write(sector), hit) << i;
    } else {
      if (!hit) {
        ++fetched;
        line->second[sector] = false;
      }
      ASSERT_EQ(cache.Read(sector), hit) << i;
    }
  }
  EXPECT_EQ(cache.fetched(), fetched);
  EXPECT_EQ(cache.written(), written);
  EXPECT_GT(written, 1000);
}

TEST(CacheTest, RefusesSizesThatAreNone) {
  EXPECT_FALSE(SectorCache::Create(0, 1, Writes::kBack).ok());
  EXPECT_FALSE(SectorCache::Create(100, 1, Writes::kBack).ok());
  EXPECT_FALSE(SectorCache::Create(-128, 1, Writes::kBack).ok());
  EXPECT_FALSE(SectorCache::Create(128, 0, Writes::kBack).ok());
  EXPECT_FALSE(SectorCache::Create(128, 2, Writes::kBack).ok());
  EXPECT_FALSE(SectorCache::Create(int64_t{1} << 40, 1, Writes::kBack).ok());
}

GpuMachine SmallGpu(int sms, int64_t l2_bytes) {
  GpuMachine gpu = Gpu("NVIDIA T4");
  gpu.sm_count = sms;
  gpu.l2_bytes = static_cast<double>(l2_bytes);
  gpu.l2_ways = 1;
  return gpu;
}

// Two blocks on two SMs read the same sector, each twice, and write another.
TEST(ReplayTest, ServesRepeatsFromL1AndNeighboursFromL2) {
  TrafficRecorder recorder;
  const std::vector<uint64_t> read = {100};
  for (const uint64_t block : {0, 1}) {
    const std::vector<uint64_t> write = {200 + block};
    recorder.OnRequest(block, simt::AccessKind::kLoad, read);
    recorder.OnRequest(block, simt::AccessKind::kLoad, read);
    recorder.OnRequest(block, simt::AccessKind::kStore, write);
  }
  const absl::StatusOr<Traffic> two = Replay(recorder, SmallGpu(2, 1 << 16), 1, 512);
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(*two, (Traffic{2, 4, 2, 2, 1, 2}));
  EXPECT_EQ(two->l1_hit_share(), 0.5);
  EXPECT_EQ(two->l2_hit_share(), 0.5);
  // Both on one SM at once: L1 serves the second block too. One after the other: it has forgotten.
  EXPECT_EQ(*Replay(recorder, SmallGpu(1, 1 << 16), 2, 512), (Traffic{2, 4, 1, 2, 1, 2}));
  EXPECT_EQ(*Replay(recorder, SmallGpu(1, 1 << 16), 1, 512), (Traffic{2, 4, 2, 2, 1, 2}));
}

TEST(ReplayTest, SendsAtomicsToL2) {
  TrafficRecorder recorder;
  const std::vector<uint64_t> sector = {100};
  for (int i = 0; i < 3; ++i) recorder.OnRequest(0, simt::AccessKind::kAtomic, sector);
  EXPECT_EQ(*Replay(recorder, SmallGpu(1, 1 << 16), 1, 512), (Traffic{1, 0, 3, 0, 1, 1}));
}

// Blocks of a wave take turns: with room for one line in L2, two blocks that walk the same way
// share each line, and would not if one went first.
TEST(ReplayTest, InterleavesTheBlocksOfAWave) {
  TrafficRecorder recorder;
  for (const uint64_t block : {0, 1}) {
    for (uint64_t i = 0; i < 10; ++i) {
      const std::vector<uint64_t> sector = {4 * i};
      recorder.OnRequest(block, simt::AccessKind::kLoad, sector);
    }
  }
  EXPECT_EQ(Replay(recorder, SmallGpu(2, 128), 1, 512)->dram_reads, 10);
  EXPECT_EQ(Replay(recorder, SmallGpu(1, 128), 1, 512)->dram_reads, 20);
}

TEST(ReplayTest, RefusesBadSizes) {
  const TrafficRecorder recorder;
  EXPECT_FALSE(Replay(recorder, SmallGpu(1, 128), 0, 512).ok());
  EXPECT_FALSE(Replay(recorder, SmallGpu(1, 100), 1, 512).ok());
  EXPECT_FALSE(Replay(recorder, SmallGpu(1, 128), 1, 100).ok());
  EXPECT_EQ(*Replay(recorder, SmallGpu(1, 128), 1, 512), Traffic());
  EXPECT_EQ(Traffic().l1_hit_share(), 0);
}

TEST(ReplayTest, GivesL1WhatSharedMemoryLeaves) {
  EXPECT_EQ(*L1Bytes(Gpu("NVIDIA T4"), 0), 64 * 1024);
  EXPECT_EQ(*L1Bytes(Gpu("NVIDIA T4"), 32 * 1024 + 1), 32 * 1024);
  EXPECT_EQ(*L1Bytes(Gpu("NVIDIA T4"), 1 << 20), 32 * 1024);
  EXPECT_EQ(*L1Bytes(Gpu("NVIDIA H200"), 0), 256 * 1024);
  EXPECT_EQ(*L1Bytes(Gpu("NVIDIA H200"), 200 * 1024), 28 * 1024);
}

}  // namespace
}  // namespace assay::model
