// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/internal/shadow.h"

#include <algorithm>

namespace assay::simt::internal {

void Knowledge::Add(uint64_t key, uint32_t bound) {
  const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), std::pair(key, uint32_t{0}));
  if (at != bounds_.end() && at->first == key) {
    at->second = std::max(at->second, bound);
  } else {
    bounds_.insert(at, {key, bound});
  }
}

void Knowledge::Join(const Knowledge& other) {
  for (const auto& [key, bound] : other.bounds_) Add(key, bound);
}

bool Knowledge::Covers(uint32_t segment, uint32_t block, int warp, int lane) const {
  for (const uint64_t key : {KeyOf(block), KeyOf(block, warp), KeyOf(block, warp, lane)}) {
    const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), std::pair(key, uint32_t{0}));
    if (at != bounds_.end() && at->first == key && segment < at->second) return true;
  }
  return false;
}

void Shadow::BeginLaunch() {
  base_ = next_segment_;
  launch_floor_ = next_segment_;
}

void Shadow::EndLaunch() {
  segments_.clear();
  blocks_.clear();
  released_.clear();
}

uint32_t Shadow::BeginBlock(uint64_t linear_index) {
  blocks_.push_back(linear_index);
  return static_cast<uint32_t>(blocks_.size() - 1);
}

uint32_t Shadow::NewSegment(uint32_t block, int warp) {
  segments_.push_back({block, static_cast<uint32_t>(warp)});
  return next_segment_++;
}

bool Shadow::Unordered(const Stamp& stamp, const WarpOrder& order, int lane,
                       const Acquired* acquired, uint32_t floor) const {
  if (stamp.segment < floor) return false;
  const SegmentRecord& record = RecordOf(stamp.segment);
  const int warp = static_cast<int>(record.warp);
  // Where others were here too, the stamp is only the last of them. Then what was learnt through
  // fences decides for that one alone: rather a race missed than one made up.
  const bool learnt = acquired != nullptr &&
                      (acquired->block.Covers(stamp.segment, record.block, warp, stamp.lane) ||
                       acquired->warps[static_cast<size_t>(order.warp)].Covers(
                           stamp.segment, record.block, warp, stamp.lane) ||
                       acquired->threads[static_cast<size_t>(order.warp * kWarpSize + lane)].Covers(
                           stamp.segment, record.block, warp, stamp.lane));
  if (learnt) return false;
  if (record.block != order.block) return true;
  const uint8_t flags = acquired == nullptr ? stamp.flags : uint8_t{0};
  if ((flags & kOtherBlocks) != 0) return true;
  if (stamp.segment < order.epoch_floor) return false;
  if (warp != order.warp || (flags & kOtherWarps) != 0) return true;
  if (stamp.segment < order.floor) return false;
  if (order.known != nullptr &&
      order.known[static_cast<size_t>(lane * kWarpSize + stamp.lane)] > stamp.segment) {
    return false;
  }
  return stamp.lane != lane || (flags & kOtherLanes) != 0;
}

Stamp Shadow::Merge(const Stamp& old, const Stamp& now, const WarpOrder& order,
                    uint32_t floor) const {
  Stamp merged = now;
  if (old.segment < floor) return merged;
  if (old.segment == now.segment) {
    merged.flags |= old.flags & (kOthers | kPlainBefore | kPlainInEpoch);
    if (old.lane != now.lane) merged.flags |= kOtherLanes;
    return merged;
  }
  const SegmentRecord& record = RecordOf(old.segment);
  if (record.block != order.block) {
    merged.flags |= kOtherBlocks;
    return merged;
  }
  merged.flags |= old.flags & (kOtherBlocks | kPlainBefore);
  if (old.segment < order.epoch_floor) return merged;
  merged.flags |= old.flags & (kOtherWarps | kPlainInEpoch);
  if (static_cast<int>(record.warp) != order.warp) {
    merged.flags |= kOtherWarps;
  } else if (old.segment >= order.floor) {
    // A lane that a mask has ordered is in nobody's way; whether those before it were ordered too
    // is not known, and they are forgotten: rather a race missed than one made up.
    const size_t pair = static_cast<size_t>(now.lane * kWarpSize + old.lane);
    if (order.known != nullptr && order.known[pair] > old.segment) return merged;
    merged.flags |= old.flags & kOtherLanes;
    if (old.lane != now.lane) merged.flags |= kOtherLanes;
  }
  return merged;
}

void Shadow::Fence(const WarpOrder& order, int lane, Scope scope, Acquired& acquired) const {
  const size_t thread = static_cast<size_t>(order.warp * kWarpSize + lane);
  // What it saw before the fence is ordered before what it does after. A wide fence does what a
  // narrow one does as well.
  for (const Scope each : {Scope::kBlock, Scope::kGpu}) {
    if (each == Scope::kGpu && scope == Scope::kBlock) break;
    Acquired::OfThread& own = acquired.scopes[static_cast<int>(each)][thread];
    acquired.threads[thread].Join(own.pending);
    acquired.threads[thread].Join(acquired.shared[static_cast<int>(each)].pending);
    own.pending.clear();
  }
  // What it did, and what was ordered before that, goes with its next atomic write.
  Knowledge ready = acquired.block;
  ready.Join(acquired.warps[static_cast<size_t>(order.warp)]);
  ready.Join(acquired.threads[thread]);
  ready.Add(Knowledge::KeyOf(order.block), order.epoch_floor);
  ready.Add(Knowledge::KeyOf(order.block, order.warp), order.floor);
  ready.Add(Knowledge::KeyOf(order.block, order.warp, lane), order.segment[lane] + 1);
  acquired.scopes[static_cast<int>(Scope::kBlock)][thread].fenced.Join(ready);
  if (scope == Scope::kGpu) {
    acquired.scopes[static_cast<int>(Scope::kGpu)][thread].fenced.Join(ready);
  }
}

void Shadow::Acquire(uint64_t address, uint32_t block, size_t thread, Acquired& acquired) const {
  const std::pair<uint64_t, uint64_t> keys[kScopes] = {{address, 0},
                                                       {address, uint64_t{block} + 1}};
  for (int scope = 0; scope < kScopes; ++scope) {
    const auto at = released_.find(keys[scope]);
    if (at != released_.end()) acquired.scopes[scope][thread].pending.Join(at->second);
  }
}

void Shadow::Release(uint64_t address, uint32_t block, size_t thread, const Acquired& acquired) {
  const std::pair<uint64_t, uint64_t> keys[kScopes] = {{address, 0},
                                                       {address, uint64_t{block} + 1}};
  for (int scope = 0; scope < kScopes; ++scope) {
    for (const Knowledge* ready :
         {&acquired.scopes[scope][thread].fenced, &acquired.shared[scope].fenced}) {
      if (!ready->empty()) released_[keys[scope]].Join(*ready);
    }
  }
}

}  // namespace assay::simt::internal
