// SPDX-License-Identifier: Apache-2.0
#include "web/articles/roofline/warp.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "gtest/gtest.h"

namespace assay::roofline_page {
namespace {

TEST(WarpTest, PlacesAreStrided) {
  const Places places = StridedPlaces(3, 5, false, 0);
  for (int lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(places[static_cast<size_t>(lane)], 5 + 3 * lane);
  }
  Places shuffled = StridedPlaces(3, 5, true, 7);
  EXPECT_NE(shuffled, places);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, places);
  EXPECT_LT(StridedPlaces(64, 31, false, 0).back(), kWords);
}

// Distinct sectors, lines and words counted by hand.
int64_t Distinct(const Places& places, int32_t group) {
  std::set<int32_t> found;
  for (const int32_t place : places) found.insert(place / group);
  return static_cast<int64_t>(found.size());
}

// The most distinct words in one of 32 banks.
int64_t Passes(const Places& places) {
  std::array<std::set<int32_t>, 32> banks;
  for (const int32_t place : places) banks[static_cast<size_t>(place % 32)].insert(place);
  size_t most = 0;
  for (const auto& bank : banks) most = std::max(most, bank.size());
  return static_cast<int64_t>(most);
}

TEST(WarpTest, GlobalMemoryIsReadInSectors) {
  for (const int32_t stride : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 64}) {
    for (const int32_t offset : {0, 1, 7, 31}) {
      for (const bool shuffled : {false, true}) {
        const Places places = StridedPlaces(stride, offset, shuffled, 3);
        const auto traffic = ReadGlobalMemory(places);
        ASSERT_TRUE(traffic.ok()) << traffic.status();
        EXPECT_TRUE(traffic->right);
        EXPECT_EQ(traffic->requests, 1);
        EXPECT_EQ(traffic->bytes, 4 * Distinct(places, 1));
        EXPECT_EQ(traffic->sectors, Distinct(places, 8)) << stride << " " << offset;
        EXPECT_EQ(traffic->lines, Distinct(places, 32));
      }
    }
  }
}

TEST(WarpTest, SharedMemoryIsReadInPassesOverTheBanks) {
  for (const int32_t stride : {0, 1, 2, 3, 8, 16, 31, 32, 33, 48, 64}) {
    for (const int32_t offset : {0, 1, 31}) {
      for (const bool shuffled : {false, true}) {
        const Places places = StridedPlaces(stride, offset, shuffled, 4);
        const auto traffic = ReadSharedMemory(places);
        ASSERT_TRUE(traffic.ok()) << traffic.status();
        EXPECT_TRUE(traffic->right);
        EXPECT_EQ(traffic->requests, 1);
        EXPECT_EQ(traffic->wavefronts, Passes(places)) << stride << " " << offset;
      }
    }
  }
}

TEST(WarpTest, RefusesPlacesOutside) {
  Places places = StridedPlaces(1, 0, false, 0);
  places[31] = kWords;
  EXPECT_EQ(ReadGlobalMemory(places).status().code(), absl::StatusCode::kInvalidArgument);
  places[31] = -1;
  EXPECT_EQ(ReadSharedMemory(places).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(WarpTest, TransposesThreeWays) {
  constexpr int64_t kN = 64, kWarps = kN * kN / 32;
  const auto plain = RunTranspose(TransposeKind::kPlain, kN);
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_TRUE(plain->right);
  EXPECT_EQ(plain->loads, kWarps);
  EXPECT_EQ(plain->load_sectors, 4 * kWarps);
  EXPECT_EQ(plain->store_sectors, 32 * kWarps);
  EXPECT_EQ(plain->shared, 0);
  const auto tile = RunTranspose(TransposeKind::kTile, kN);
  ASSERT_TRUE(tile.ok()) << tile.status();
  EXPECT_TRUE(tile->right);
  EXPECT_EQ(tile->load_sectors, 4 * kWarps);
  EXPECT_EQ(tile->store_sectors, 4 * kWarps);
  EXPECT_EQ(tile->shared, 2 * kWarps);
  EXPECT_EQ(tile->wavefronts, (1 + 32) * kWarps);
  const auto padded = RunTranspose(TransposeKind::kPadded, kN);
  ASSERT_TRUE(padded.ok()) << padded.status();
  EXPECT_TRUE(padded->right);
  EXPECT_EQ(padded->store_sectors, 4 * kWarps);
  EXPECT_EQ(padded->wavefronts, 2 * kWarps);
  for (const int n : {0, 31, 33, 1056, -32}) {
    EXPECT_EQ(RunTranspose(TransposeKind::kPlain, n).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(WarpTest, TwoWaysAreTwoRequests) {
  const auto ways = RunTwoWays();
  ASSERT_TRUE(ways.ok()) << ways.status();
  EXPECT_TRUE(ways->right);
  EXPECT_EQ(ways->loads, 2);
  EXPECT_EQ(ways->lanes, 32);
  EXPECT_EQ(ways->stores, 2);
}

}  // namespace
}  // namespace assay::roofline_page
