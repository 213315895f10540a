// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/internal/coalescing.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::simt::internal {
namespace {

// The definitions, word for word.
GlobalCost NaiveGlobal(const std::vector<uint64_t>& addresses, int width) {
  std::set<uint64_t> bytes, sectors, lines;
  for (const uint64_t address : addresses) {
    for (int b = 0; b < width; ++b) {
      bytes.insert(address + static_cast<uint64_t>(b));
      sectors.insert((address + static_cast<uint64_t>(b)) / 32);
      lines.insert((address + static_cast<uint64_t>(b)) / 128);
    }
  }
  return {static_cast<int>(bytes.size()), static_cast<int>(sectors.size()),
          static_cast<int>((bytes.size() + 31) / 32), static_cast<int>(lines.size())};
}

SharedCost NaiveShared(const std::vector<uint64_t>& addresses, const std::vector<uint8_t>& lanes,
                       int width, bool load) {
  int phases = width <= 4 ? 1 : width / 4;
  // The address of each lane, for the rule about pairs.
  std::map<int, uint64_t> of_lane;
  for (size_t k = 0; k < lanes.size(); ++k) of_lane[lanes[k]] = addresses[k];
  const auto paired = [&](int bit) {
    return std::all_of(of_lane.begin(), of_lane.end(), [&](const auto& lane) {
      const auto other = of_lane.find(lane.first ^ bit);
      return other == of_lane.end() || other->second == lane.second;
    });
  };
  if (load && phases > 1 && (paired(1) || paired(2))) phases /= 2;
  SharedCost cost;
  std::set<uint64_t> bytes;
  for (int phase = 0; phase < phases; ++phase) {
    std::map<uint64_t, std::set<uint64_t>> words_of_bank;
    for (size_t k = 0; k < lanes.size(); ++k) {
      if (lanes[k] / (32 / phases) != phase) continue;
      for (int b = 0; b < width; ++b) {
        const uint64_t byte = addresses[k] + static_cast<uint64_t>(b);
        bytes.insert(byte);
        words_of_bank[byte / 4 % 32].insert(byte / 4);
      }
    }
    size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    cost.wavefronts += static_cast<int>(most);
    cost.ideal_wavefronts += most > 0;
  }
  cost.bytes = static_cast<int>(bytes.size());
  return cost;
}

// One warp instruction's addresses: a pattern with some lanes switched off.
struct Case {
  std::vector<uint64_t> addresses;
  std::vector<uint8_t> lanes;
};

Case MakeCase(Random& random, int width) {
  Case made;
  const int64_t pattern = random.Integer(8);
  const int64_t stride = random.Integer(-40, 41);
  const int64_t base = 100000 + random.Integer(1000);
  const bool all = random.Bernoulli(0.5);
  for (int lane = 0; lane < 32; ++lane) {
    if (!all && random.Bernoulli(0.3)) continue;
    int64_t element = base;
    if (pattern == 0) element += lane;
    if (pattern == 2) element += lane * stride;
    if (pattern == 3) element += random.Integer(64);
    if (pattern == 4) element += random.Integer(4000);
    if (pattern == 6) element += (lane | 1) * stride;
    if (pattern == 7) element += (lane | 2) * 5;
    if (pattern == 5) element += lane ^ static_cast<int>(stride & 31);
    made.addresses.push_back(static_cast<uint64_t>(element * width));
    made.lanes.push_back(static_cast<uint8_t>(lane));
  }
  if (made.lanes.empty()) {
    made.addresses.push_back(static_cast<uint64_t>(base * width));
    made.lanes.push_back(7);
  }
  return made;
}

TEST(CoalescingTest, AgreesWithTheDefinitions) {
  Random random(1);
  for (int round = 0; round < 20000; ++round) {
    const int width = 1 << random.Integer(5);
    const Case made = MakeCase(random, width);
    const int n = static_cast<int>(made.lanes.size());
    const GlobalCost global = CountGlobal(made.addresses.data(), n, width);
    const GlobalCost naive_global = NaiveGlobal(made.addresses, width);
    ASSERT_EQ(global.bytes, naive_global.bytes) << round;
    ASSERT_EQ(global.sectors, naive_global.sectors) << round;
    ASSERT_EQ(global.ideal_sectors, naive_global.ideal_sectors) << round;
    ASSERT_EQ(global.lines, naive_global.lines) << round;
    const bool load = random.Bernoulli(0.5);
    const SharedCost shared = CountShared(made.addresses.data(), made.lanes.data(), n, width, load);
    const SharedCost naive_shared = NaiveShared(made.addresses, made.lanes, width, load);
    ASSERT_EQ(shared.bytes, naive_shared.bytes) << round;
    ASSERT_EQ(shared.wavefronts, naive_shared.wavefronts) << round;
    ASSERT_EQ(shared.ideal_wavefronts, naive_shared.ideal_wavefronts) << round;

    std::map<uint64_t, int> times;
    int most = 0;
    std::set<uint64_t> sectors;
    for (const uint64_t address : made.addresses) {
      most = std::max(most, ++times[address]);
      sectors.insert(address / 32);
    }
    ASSERT_EQ(CountSerial(made.addresses.data(), n), most);
    uint64_t listed[32];
    ASSERT_EQ(ListSectors(made.addresses.data(), n, listed), static_cast<int>(sectors.size()));
    ASSERT_TRUE(std::equal(sectors.begin(), sectors.end(), listed));
  }
}

// Hand-worked: a column of a 32 x 32 tile meets in one bank, of a 32 x 33 tile in none.
TEST(CoalescingTest, CountsTheConflictsOfATransposedTile) {
  std::vector<uint64_t> column32, column33;
  std::vector<uint8_t> lanes;
  for (uint64_t lane = 0; lane < 32; ++lane) {
    column32.push_back(lane * 32 * 4);
    column33.push_back(lane * 33 * 4);
    lanes.push_back(static_cast<uint8_t>(lane));
  }
  EXPECT_EQ(CountShared(column32.data(), lanes.data(), 32, 4, true).wavefronts, 32);
  EXPECT_EQ(CountShared(column33.data(), lanes.data(), 32, 4, true).wavefronts, 1);
  EXPECT_EQ(CountGlobal(column32.data(), 32, 4).sectors, 32);
  EXPECT_EQ(CountGlobal(column32.data(), 32, 4).ideal_sectors, 4);
}

// The cases of the forum's thread: a float4 for all lanes, and one of four in turn.
TEST(CoalescingTest, MergesPhasesWhereNeighboursReadOneAddress) {
  std::vector<uint64_t> uniform(32, 4096), in_turn;
  std::vector<uint8_t> lanes;
  for (uint64_t lane = 0; lane < 32; ++lane) {
    in_turn.push_back(lane % 4 * 16);
    lanes.push_back(static_cast<uint8_t>(lane));
  }
  EXPECT_EQ(CountShared(uniform.data(), lanes.data(), 32, 16, true).wavefronts, 2);
  EXPECT_EQ(CountShared(uniform.data(), lanes.data(), 32, 8, true).wavefronts, 1);
  EXPECT_EQ(CountShared(uniform.data(), lanes.data(), 32, 16, false).wavefronts, 4);
  EXPECT_EQ(CountShared(in_turn.data(), lanes.data(), 32, 16, true).wavefronts, 4);
}

}  // namespace
}  // namespace assay::simt::internal
