// SPDX-License-Identifier: Apache-2.0
// Who touched each granule of memory last, and whether two accesses were ordered.
//
// A warp's run between two of its synchronisations is a segment. Segments are numbered as they
// begin, so one comparison with the first number after a barrier says that an access lies before
// it:
//   - a barrier of the block orders all its warps: WarpOrder::epoch_floor;
//   - __syncwarp orders the lanes that it names: WarpOrder::floor if all, else ::known;
//   - a launch, and a barrier of the grid, order everything: Shadow::launch_floor;
//   - a fence, an atomic, and a fence on the other side order two threads: Knowledge.
// Shuffles and votes order nothing. This is the happens-before relation of the PTX memory model
// (PTX ISA, "Memory Consistency Model"), and the shadow keeps the last write and the last read of
// a granule, as FastTrack does (Flanagan, Freund 2009), with flags for further readers.
#ifndef ASSAY_GPU_SIMT_INTERNAL_SHADOW_H_
#define ASSAY_GPU_SIMT_INTERNAL_SHADOW_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/simt/internal/memory_state.h"
#include "gpu/simt/internal/thread.h"

namespace assay::simt::internal {

// What a thread has learnt of others through fences and atomics: per block, warp or lane, all
// segments below a bound.
class Knowledge {
 public:
  static uint64_t KeyOf(uint32_t block, int warp = 0xFFFF, int lane = 0xFF) {
    return uint64_t{block} << 24 | static_cast<uint64_t>(warp) << 8 | static_cast<uint64_t>(lane);
  }
  void Add(uint64_t key, uint32_t bound);
  void Join(const Knowledge& other);
  bool Covers(uint32_t segment, uint32_t block, int warp, int lane) const;
  bool empty() const { return bounds_.empty(); }
  void clear() { bounds_.clear(); }

 private:
  std::vector<std::pair<uint64_t, uint32_t>> bounds_;  // ascending by key
};

// The order of one warp's lanes among each other and with others.
struct WarpOrder {
  uint32_t block = 0;  // number in the order of running
  int warp = 0;
  uint32_t epoch_floor = 0;          // first segment after the block's last barrier
  uint32_t floor = 0;                // first segment after the warp's last full synchronisation
  uint32_t live_at_floor = 0;        // the lanes that had not finished then
  uint32_t segment[kWarpSize] = {};  // of each lane, now
  // After a synchronisation of some lanes: known[b * 32 + a] bounds the segments of lane a that
  // lane b comes after. Null: none since `floor`.
  std::unique_ptr<uint32_t[]> known;
};

// How far a fence and what it carries reach.
enum class Scope : uint8_t { kGpu, kBlock };
constexpr int kScopes = 2;

// The part of ordering through fences and atomics; few kernels have any. A barrier shares all of it
// among the block's threads, __syncwarp among its lanes.
struct Acquired {
  Knowledge block;               // what all threads of the block know
  std::vector<Knowledge> warps;  // beyond that, all lanes of a warp
  std::vector<Knowledge> threads;
  struct OfThread {
    Knowledge pending;  // seen by an atomic load, no fence yet
    Knowledge fenced;   // what a fence has made ready for the next atomic
  };
  std::vector<OfThread> scopes[kScopes];  // by scope, then thread
  OfThread shared[kScopes];               // what the block's last barrier has made common
};

class Shadow {
 public:
  void BeginLaunch();
  void EndLaunch();
  // A grid barrier: everything before is ordered before everything after.
  void BeginGridEpoch() { launch_floor_ = next_segment_; }
  uint32_t launch_floor() const { return launch_floor_; }

  // A block gets its number, with its place in the grid.
  uint32_t BeginBlock(uint64_t linear_index);
  uint64_t BlockIndex(uint32_t block) const { return blocks_[block]; }

  // A new segment. Their numbers are used up after 4 * 10^9 of them in one memory: exhausted().
  uint32_t NewSegment(uint32_t block, int warp);
  bool exhausted() const { return next_segment_ > 0xFFFFFF00u; }
  uint32_t next_segment() const { return next_segment_; }

  struct SegmentRecord {
    uint32_t block;
    uint32_t warp;
  };
  const SegmentRecord& RecordOf(uint32_t segment) const { return segments_[segment - base_]; }

  // Whether the access of `stamp` and one by `lane` of `order` now are unordered. floor: below it
  // everything is ordered. acquired may be null.
  bool Unordered(const Stamp& stamp, const WarpOrder& order, int lane, const Acquired* acquired,
                 uint32_t floor) const;

  // The stamp that a new access by `lane` leaves where `old` was: it keeps in mind that others
  // were here in the same epoch.
  Stamp Merge(const Stamp& old, const Stamp& now, const WarpOrder& order, uint32_t floor) const;

  // Fences and atomics. address: of the atomic's variable. block: that of the thread.
  void Fence(const WarpOrder& order, int lane, Scope scope, Acquired& acquired) const;
  bool has_released() const { return !released_.empty(); }
  void Acquire(uint64_t address, uint32_t block, size_t thread, Acquired& acquired) const;
  void Release(uint64_t address, uint32_t block, size_t thread, const Acquired& acquired);

 private:
  std::vector<SegmentRecord> segments_;  // of this launch, from base_
  std::vector<uint64_t> blocks_;
  // By the atomic's address, and the block that may use it plus 1; 0 for all blocks.
  std::map<std::pair<uint64_t, uint64_t>, Knowledge> released_;
  uint32_t next_segment_ = 1;
  uint32_t base_ = 1;
  uint32_t launch_floor_ = 1;
};

}  // namespace assay::simt::internal

#endif  // ASSAY_GPU_SIMT_INTERNAL_SHADOW_H_
