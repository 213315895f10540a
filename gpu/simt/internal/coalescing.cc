// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/internal/coalescing.h"

#include <algorithm>

namespace assay::simt::internal {
namespace {

constexpr int kLanes = 32;
constexpr int kBanks = 32;

// Whether address[k] = address[0] + k * step: one pass without a branch, which vectorises.
bool IsProgression(const uint64_t* addresses, int n, uint64_t step) {
  uint64_t difference = 0;
  for (int k = 0; k < n; ++k) {
    difference |= addresses[k] ^ (addresses[0] + static_cast<uint64_t>(k) * step);
  }
  return difference == 0;
}

// The addresses ascending and distinct, into sorted: [32]; returns how many.
int SortUnique(const uint64_t* addresses, int n, uint64_t* sorted) {
  int kept = 0;
  for (int k = 0; k < n; ++k) {
    const uint64_t address = addresses[k];
    int at = kept;
    while (at > 0 && sorted[at - 1] > address) --at;
    if (at > 0 && sorted[at - 1] == address) continue;
    for (int i = kept; i > at; --i) sorted[i] = sorted[i - 1];
    sorted[at] = address;
    ++kept;
  }
  return kept;
}

int DivideUp(int a, int b) { return (a + b - 1) / b; }

// The most distinct words in one bank, over the words of a few lanes.
int MostWordsInABank(const uint64_t* addresses, int n, int words_per_lane) {
  // A bank's words, as a chain: first[bank], then next[] of each word met.
  int8_t first[kBanks];
  uint8_t count[kBanks] = {};
  std::fill(first, first + kBanks, int8_t{-1});
  uint64_t words[kLanes * 4];
  int8_t next[kLanes * 4];
  int met = 0;
  int most = 0;
  for (int k = 0; k < n; ++k) {
    for (int w = 0; w < words_per_lane; ++w) {
      const uint64_t word = addresses[k] / 4 + static_cast<uint64_t>(w);
      const int bank = static_cast<int>(word % kBanks);
      int8_t at = first[bank];
      while (at >= 0 && words[at] != word) at = next[at];
      if (at >= 0) continue;
      words[met] = word;
      next[met] = first[bank];
      first[bank] = static_cast<int8_t>(met++);
      most = std::max<int>(most, ++count[bank]);
    }
  }
  return most;
}

// Whether lanes whose numbers differ by `bit` alone have one address.
bool InPairs(const uint64_t* addresses, const uint8_t* lanes, int n, int bit) {
  for (int k = 0; k < n; ++k) {
    if ((lanes[k] & bit) != 0) continue;
    for (int other = k + 1; other < n && lanes[other] <= (lanes[k] | bit); ++other) {
      if (lanes[other] == (lanes[k] | bit) && addresses[other] != addresses[k]) return false;
    }
  }
  return true;
}

}  // namespace

GlobalCost CountGlobal(const uint64_t* addresses, int n, int width) {
  const uint64_t bytes = static_cast<uint64_t>(width);
  GlobalCost cost;
  if (IsProgression(addresses, n, bytes)) {
    const uint64_t first = addresses[0];
    const uint64_t last = first + static_cast<uint64_t>(n) * bytes - 1;
    cost.bytes = n * width;
    cost.sectors = static_cast<int>(last / 32 - first / 32) + 1;
    cost.lines = static_cast<int>(last / 128 - first / 128) + 1;
  } else if (IsProgression(addresses, n, 0)) {
    cost.bytes = width;
    cost.sectors = 1;
    cost.lines = 1;
  } else {
    uint64_t sorted[kLanes];
    const int distinct = SortUnique(addresses, n, sorted);
    cost.bytes = distinct * width;
    cost.sectors = 1;
    cost.lines = 1;
    for (int k = 1; k < distinct; ++k) {
      cost.sectors += sorted[k] / 32 != sorted[k - 1] / 32;
      cost.lines += sorted[k] / 128 != sorted[k - 1] / 128;
    }
  }
  cost.ideal_sectors = DivideUp(cost.bytes, 32);
  return cost;
}

SharedCost CountShared(const uint64_t* addresses, const uint8_t* lanes, int n, int width,
                       bool load) {
  SharedCost cost;
  const int words = std::max(1, width / 4);
  int phases = words;
  if (load && phases > 1 && (InPairs(addresses, lanes, n, 1) || InPairs(addresses, lanes, n, 2))) {
    phases /= 2;
  }
  const int lanes_per_phase = kLanes / phases;
  int active_phases = 1;
  for (int k = 1; k < n; ++k) {
    active_phases += lanes[k] / lanes_per_phase != lanes[k - 1] / lanes_per_phase;
  }
  cost.ideal_wavefronts = active_phases;
  if (IsProgression(addresses, n, static_cast<uint64_t>(width))) {
    // Neighbours in a phase lie in neighbouring words: at most 32 of them.
    cost.bytes = n * width;
    cost.wavefronts = active_phases;
    return cost;
  }
  if (IsProgression(addresses, n, 0)) {
    cost.bytes = width;
    cost.wavefronts = active_phases;
    return cost;
  }
  uint64_t sorted[kLanes];
  cost.bytes = SortUnique(addresses, n, sorted) * width;
  for (int begin = 0; begin < n;) {
    int end = begin + 1;
    while (end < n && lanes[end] / lanes_per_phase == lanes[begin] / lanes_per_phase) ++end;
    cost.wavefronts += MostWordsInABank(addresses + begin, end - begin, words);
    begin = end;
  }
  return cost;
}

int CountSerial(const uint64_t* addresses, int n) {
  int most = 0;
  for (int k = 0; k < n; ++k) {
    most = std::max(most, static_cast<int>(std::count(addresses, addresses + n, addresses[k])));
  }
  return most;
}

int ListSectors(const uint64_t* addresses, int n, uint64_t* sectors) {
  uint64_t lane_sectors[kLanes];
  for (int k = 0; k < n; ++k) lane_sectors[k] = addresses[k] / 32;
  return SortUnique(lane_sectors, n, sectors);
}

}  // namespace assay::simt::internal
