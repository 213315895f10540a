// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/internal/tracer.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "gpu/simt/internal/coalescing.h"
#include "gpu/simt/internal/engine.h"

namespace assay::simt::internal {
namespace {

constexpr size_t kFirstTableSize = 256;

int WidthOf(uint32_t site) { return 1 << (site >> 3 & 7); }
bool IsFence(uint32_t site) {
  return ActionOf(site) == Action::kFence || ActionOf(site) == Action::kBlockFence;
}
bool IsShared(uint32_t site) { return (site & kSharedBit) != 0; }

size_t SlotOf(uint32_t site, size_t table_size) {
  return static_cast<size_t>((site * 0x9E3779B1u) >> 8) & (table_size - 1);
}

// What an access of one kind is to the order of memory.
template <Action kAction>
struct Does {
  static constexpr bool kAtomic = kAction == Action::kAtomic || kAction == Action::kAtomicLoad ||
                                  kAction == Action::kAtomicStore;
  static constexpr bool kWrite =
      kAction == Action::kStore || kAction == Action::kAtomic || kAction == Action::kAtomicStore;
  static constexpr bool kRead = kAction == Action::kAtomic || !kWrite;
};

AccessKind KindOf(Action action) {
  switch (action) {
    case Action::kLoad:
    case Action::kMatrixLoad:
    case Action::kAtomicLoad:
      return AccessKind::kLoad;
    case Action::kStore:
    case Action::kAtomicStore:
      return AccessKind::kStore;
    default:
      return AccessKind::kAtomic;
  }
}

}  // namespace

void Tracer::BeginLaunch(TrafficObserver* observer, FindingSink* sink) {
  observer_ = observer;
  sink_ = sink;
  shadow_.BeginLaunch();
  sites_.clear();
  table_.assign(kFirstTableSize, 0);
  segments_ = 0;
  divergent_segments_ = 0;
  ok_ = true;
}

void Tracer::EndLaunch(LaunchCounters& counters) {
  counters.segments = segments_;
  counters.divergent_segments = divergent_segments_;
  for (const SiteCounters& site : sites_) {
    if (site.requests == 0) continue;
    AccessCounters access;
    access.file = FileName(site.site >> kFileShift);
    access.line = static_cast<int>(site.site >> kLineShift & kMaxLine);
    access.kind = KindOf(ActionOf(site.site));
    access.space = IsShared(site.site) ? Space::kShared : Space::kGlobal;
    access.width = WidthOf(site.site);
    access.requests = site.requests;
    access.lanes = site.lanes;
    access.bytes = site.bytes;
    if (access.space == Space::kShared) {
      access.wavefronts = site.sectors;
      access.ideal_wavefronts = site.ideal;
    } else {
      access.sectors = site.sectors;
      access.ideal_sectors = site.ideal;
      access.lines = site.lines;
    }
    access.serial_passes = site.serial;
    counters.accesses.push_back(access);
  }
  // A total order: what it leaves equal is added up below.
  std::sort(counters.accesses.begin(), counters.accesses.end(),
            [](const AccessCounters& a, const AccessCounters& b) {
              return std::tie(a.file, a.line, a.space, a.kind, a.width) <
                     std::tie(b.file, b.line, b.space, b.kind, b.width);
            });
  // Volatile and plain accesses of one line, and one name under two pointers, count together.
  auto& all = counters.accesses;
  size_t kept = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    AccessCounters& last = all[kept];
    const AccessCounters& next = all[i];
    if (std::tie(last.file, last.line, last.space, last.kind, last.width) !=
        std::tie(next.file, next.line, next.space, next.kind, next.width)) {
      ++kept;
      if (kept != i) all[kept] = std::move(all[i]);
      continue;
    }
    Accumulate(next, last);
  }
  if (!all.empty()) all.resize(kept + 1);
  shadow_.EndLaunch();
}

uint16_t Tracer::IndexOf(uint32_t site) {
  size_t slot = SlotOf(site, table_.size());
  while (table_[slot] != 0) {
    const uint32_t index = table_[slot] - 1;
    if (sites_[index].site == site) return static_cast<uint16_t>(index);
    slot = (slot + 1) & (table_.size() - 1);
  }
  // The last index is for all sites beyond 65,534; the engine ends the launch then.
  if (exhausted()) return 0xFFFF - 1;
  sites_.push_back({});
  sites_.back().site = site;
  table_[slot] = static_cast<uint32_t>(sites_.size());
  if (sites_.size() * 2 > table_.size()) {
    table_.assign(table_.size() * 2, 0);
    for (size_t i = 0; i < sites_.size(); ++i) {
      size_t at = SlotOf(sites_[i].site, table_.size());
      while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
      table_[at] = static_cast<uint32_t>(i + 1);
    }
  }
  return static_cast<uint16_t>(sites_.size() - 1);
}

void Tracer::Flush(Warp& warp, std::span<const uint32_t> ran) {
  if (ran.empty()) return;
  const Thread& first = warp.threads[ran[0]];
  uint32_t lanes = 0;
  bool alike = true;
  for (const uint32_t lane : ran) {
    lanes |= 1u << lane;
    alike = alike && warp.threads[lane].trace_size == first.trace_size;
  }
  if (alike && first.trace_size == 0) return;
  for (size_t k = 1; alike && k < ran.size(); ++k) {
    alike = std::memcmp(first.sites, warp.threads[ran[k]].sites,
                        first.trace_size * sizeof(uint32_t)) == 0;
  }
  ++segments_;
  if (alike) {
    FlushAlike(warp, lanes, ran);
  } else {
    ++divergent_segments_;
    FlushDivergent(warp, lanes, ran);
  }
  for (const uint32_t lane : ran) warp.threads[lane].trace_size = 0;
}

void Tracer::FlushAlike(Warp& warp, uint32_t lanes, std::span<const uint32_t> ran) {
  Instruction counted;
  Instruction checked;
  const uint64_t* by_number[kWarpSize];
  const uint64_t* by_turn[kWarpSize];
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    by_turn[counted.n] = warp.threads[ran[static_cast<size_t>(counted.n)]].addresses;
    checked.lane[counted.n] = static_cast<uint8_t>(ran[static_cast<size_t>(counted.n)]);
    by_number[counted.n] = warp.threads[lane].addresses;
    counted.lane[counted.n++] = static_cast<uint8_t>(lane);
  }
  checked.n = counted.n;
  const bool forward = std::equal(counted.lane, counted.lane + counted.n, checked.lane);
  const Thread& first = warp.threads[ran[0]];
  // Lanes that hand something over by fences did so in the order in which they ran.
  const bool in_turn =
      counted.n > 1 && std::any_of(first.sites, first.sites + first.trace_size,
                                   [](uint32_t site) { return ActionOf(site) >= Action::kFence; });
  for (uint32_t i = 0; i < first.trace_size; ++i) {
    for (int k = 0; k < counted.n; ++k) counted.address[k] = by_number[k][i];
    counted.site = first.sites[i];
    counted.site_index = IndexOf(counted.site);
    Count(warp, counted);
    if (in_turn) continue;
    if (forward) {
      CheckOrder(warp, counted);
      continue;
    }
    for (int k = 0; k < checked.n; ++k) checked.address[k] = by_turn[k][i];
    checked.site = counted.site;
    checked.site_index = counted.site_index;
    CheckOrder(warp, checked);
  }
  if (in_turn) CheckInTurn(warp, ran);
}

void Tracer::CheckInTurn(Warp& warp, std::span<const uint32_t> ran) {
  Instruction single;
  single.n = 1;
  for (const uint32_t lane : ran) {
    const Thread& thread = warp.threads[lane];
    single.lane[0] = static_cast<uint8_t>(lane);
    for (uint32_t i = 0; i < thread.trace_size; ++i) {
      single.site = thread.sites[i];
      single.site_index = IndexOf(single.site);
      single.address[0] = thread.addresses[i];
      CheckOrder(warp, single);
    }
  }
}

void Tracer::FlushDivergent(Warp& warp, uint32_t lanes, std::span<const uint32_t> ran) {
  groups_.clear();
  for (std::vector<uint32_t>& groups : groups_of_site_) groups.clear();
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const Thread& thread = warp.threads[lane];
    std::fill(occurrences_.begin(), occurrences_.end(), 0);
    for (uint32_t i = 0; i < thread.trace_size; ++i) {
      const uint16_t site = IndexOf(thread.sites[i]);
      if (site >= groups_of_site_.size()) {
        groups_of_site_.resize(site + 1u);
        occurrences_.resize(site + 1u, 0);
      }
      const uint32_t occurrence = occurrences_[site]++;
      if (occurrence == groups_of_site_[site].size()) {
        groups_of_site_[site].push_back(static_cast<uint32_t>(groups_.size()));
        groups_.emplace_back();
        groups_.back().site = thread.sites[i];
        groups_.back().site_index = site;
      }
      Instruction& group = groups_[groups_of_site_[site][occurrence]];
      group.lane[group.n] = static_cast<uint8_t>(lane);
      group.address[group.n++] = thread.addresses[i];
    }
  }
  for (const Instruction& group : groups_) Count(warp, group);
  // The groups need not follow each lane's own order, which fences and first writes depend on.
  CheckInTurn(warp, ran);
}

void Tracer::CheckOrder(Warp& warp, const Instruction& instruction) {
  switch (ActionOf(instruction.site)) {
    case Action::kLoad:
      Check<Action::kLoad>(warp, instruction);
      break;
    case Action::kStore:
      Check<Action::kStore>(warp, instruction);
      break;
    case Action::kAtomic:
      Check<Action::kAtomic>(warp, instruction);
      Synchronise(warp, instruction, /*acquire=*/true, /*release=*/true);
      break;
    case Action::kAtomicLoad:
      Check<Action::kAtomicLoad>(warp, instruction);
      Synchronise(warp, instruction, /*acquire=*/true, /*release=*/false);
      break;
    case Action::kAtomicStore:
      Check<Action::kAtomicStore>(warp, instruction);
      Synchronise(warp, instruction, /*acquire=*/false, /*release=*/true);
      break;
    case Action::kMatrixLoad:
      Check<Action::kMatrixLoad>(warp, instruction);
      break;
    case Action::kFence:
    case Action::kBlockFence:
      for (int k = 0; k < instruction.n; ++k) {
        const int lane = instruction.lane[k];
        const Scope scope =
            ActionOf(instruction.site) == Action::kFence ? Scope::kGpu : Scope::kBlock;
        shadow_.Fence(warp.order, lane, scope, AcquiredOf(warp));
        // What the lane does from here on was not released by this fence.
        warp.order.segment[lane] = shadow_.NewSegment(warp.order.block, warp.index);
      }
      break;
  }
}

void Tracer::Count(Warp& warp, const Instruction& instruction) {
  if (IsFence(instruction.site)) return;
  uint64_t stripped[kWarpSize];
  const uint64_t* addresses = instruction.address;
  if (ActionOf(instruction.site) != Action::kLoad) {
    for (int k = 0; k < instruction.n; ++k) stripped[k] = addresses[k] & ~kSilent;
    addresses = stripped;
  }
  SiteCounters& counters = sites_[instruction.site_index];
  const int width = WidthOf(instruction.site);
  ++counters.requests;
  counters.lanes += instruction.n;
  if (IsShared(instruction.site)) {
    const SharedCost cost = CountShared(addresses, instruction.lane, instruction.n, width,
                                        KindOf(ActionOf(instruction.site)) == AccessKind::kLoad);
    counters.bytes += cost.bytes;
    counters.sectors += cost.wavefronts;
    counters.ideal += cost.ideal_wavefronts;
  } else {
    const GlobalCost cost = CountGlobal(addresses, instruction.n, width);
    counters.bytes += cost.bytes;
    counters.sectors += cost.sectors;
    counters.ideal += cost.ideal_sectors;
    counters.lines += cost.lines;
    if (observer_ != nullptr) {
      uint64_t in_device[kWarpSize];
      uint64_t sectors[kWarpSize];
      for (int k = 0; k < instruction.n; ++k) {
        const uint32_t number = static_cast<uint32_t>(addresses[k] >> kAllocationShift);
        in_device[k] = EntryOf(number).details->device_address + (addresses[k] & kOffsetMask);
      }
      const int n = ListSectors(in_device, instruction.n, sectors);
      observer_->OnRequest(warp.block->linear, KindOf(ActionOf(instruction.site)),
                           std::span<const uint64_t>(sectors, static_cast<size_t>(n)));
    }
  }
  if (ActionOf(instruction.site) == Action::kAtomic) {
    counters.serial += CountSerial(addresses, instruction.n);
  }
}

template <Action kAction>
void Tracer::Check(Warp& warp, const Instruction& instruction) {
  const int log2_width = static_cast<int>(instruction.site >> 3 & 7);
  if (IsShared(instruction.site)) {
    EngineBlock& block = *warp.block;
    if (log2_width < block.shared_granule_log2) block.RefineShared(log2_width);
    CheckCells<kAction>(warp, instruction,
                        {block.shared_cells.data(), block.shared_granule_log2,
                         /*initialised=*/false, warp.order.epoch_floor, block.first_segment});
    return;
  }
  // Lanes nearly always touch one buffer.
  Instruction part = instruction;
  for (int begin = 0; begin < instruction.n;) {
    const uint64_t number = (instruction.address[begin] & ~kSilent) >> kAllocationShift;
    int end = begin + 1;
    while (end < instruction.n &&
           (instruction.address[end] & ~kSilent) >> kAllocationShift == number) {
      ++end;
    }
    Details& details = *EntryOf(static_cast<uint32_t>(number)).details;
    const bool fine = log2_width >= details.granule_log2 || Refine(details, log2_width);
    Cell* cells = fine ? details.EnsureCells() : nullptr;
    if (cells == nullptr) {
      ok_ = false;
      return;
    }
    const Instruction* checked = &instruction;
    if (begin != 0 || end != instruction.n) {
      part.n = end - begin;
      std::copy(instruction.lane + begin, instruction.lane + end, part.lane);
      std::copy(instruction.address + begin, instruction.address + end, part.address);
      checked = &part;
    }
    CheckCells<kAction>(warp, *checked,
                        {cells, details.granule_log2, details.initialised, shadow_.launch_floor(),
                         /*first_segment=*/0});
    begin = end;
  }
}

template <Action kAction>
void Tracer::CheckCells(Warp& warp, const Instruction& instruction, const CellRange& range) {
  constexpr bool kReads = Does<kAction>::kRead;
  constexpr bool kWrites = Does<kAction>::kWrite;
  constexpr bool kIsAtomic = Does<kAction>::kAtomic;
  const uint32_t floor = range.floor;
  const int granules = std::max(1, WidthOf(instruction.site) >> range.granule_log2);
  Access access;
  access.site = instruction.site;
  access.site_index = instruction.site_index;
  bool calm = false;  // nobody wrote, in this epoch, what the lane before has read
  for (int k = 0; k < instruction.n; ++k) {
    access.lane = instruction.lane[k];
    access.segment = warp.order.segment[access.lane];
    access.address = instruction.address[k];
    Cell* cell = range.cells + ((access.address & kOffsetMask) >> range.granule_log2);
    if constexpr (kAction == Action::kLoad) {
      // One value for many lanes is the most common way to read.
      if (calm && access.address == instruction.address[k - 1] &&
          access.segment == warp.order.segment[instruction.lane[k - 1]]) {
        for (int g = 0; g < granules; ++g) {
          cell[g].read.flags |= kOtherLanes;
          cell[g].other = {access.segment, access.site_index, instruction.lane[k], 0};
        }
        continue;
      }
      calm = true;
    }
    for (int g = 0; g < granules; ++g, ++cell) {
      if constexpr (kReads) {
        const bool known = range.initialised || ((cell->write.flags & kInitialised) != 0 &&
                                                 cell->write.segment >= range.first_segment);
        if (!known) [[unlikely]] {
          sink_->OnUninitialised(warp, access.lane, access.site, access.address);
        }
      }
      if (cell->write.segment >= floor) [[unlikely]] {
        calm = false;
        CheckWrites<kAction>(warp, access, *cell, floor);
      }
      if constexpr (kWrites) {
        if (cell->read.segment >= floor) CheckReads(warp, access, *cell, kIsAtomic, floor);
      }
      LeaveStamp<kAction>(warp, access, *cell, floor);
    }
  }
}

// Whether an access is by the thread of a stamp in its present segment, and nobody else's.
inline bool IsOwn(const Stamp& stamp, const Access& access) {
  return stamp.segment == access.segment && stamp.lane == access.lane &&
         (stamp.flags & kOthers) == 0;
}

// The access against the last write.
template <Action kAction>
void Tracer::CheckWrites(const Warp& warp, const Access& access, const Cell& cell, uint32_t floor) {
  constexpr bool kIsAtomic = Does<kAction>::kAtomic;
  const Stamp& write = cell.write;
  // What a lane reads for others is not its own, even where it has written it.
  if (kAction == Action::kMatrixLoad && static_cast<int>(write.lane) == access.lane) {
    if (shadow_.Unordered(write, warp.order, access.lane ^ 1, AcquiredIfAny(warp), floor)) {
      sink_->OnRace(warp, access.lane ^ 1, access.site, access.address, SiteAt(write.site), write,
                    /*same_value=*/false);
    }
    return;
  }
  if (IsOwn(write, access)) return;
  if (kIsAtomic && (write.flags & kAtomicAccess) != 0) {
    if ((write.flags & kPlainBefore) == 0) return;
    const Shadow::SegmentRecord& record = shadow_.RecordOf(write.segment);
    const bool same_block = record.block == warp.order.block;
    if (same_block &&
        ((write.flags & kPlainInEpoch) == 0 || static_cast<int>(record.warp) == warp.order.warp)) {
      return;
    }
  }
  if (!shadow_.Unordered(write, warp.order, access.lane, AcquiredIfAny(warp), floor)) return;
  const bool same_value = kAction == Action::kStore && (access.address & kSilent) != 0 &&
                          (write.flags & kAtomicAccess) == 0;
  sink_->OnRace(warp, access.lane, access.site, access.address, SiteAt(write.site), write,
                same_value);
}

// A writing access against the last reads.
void Tracer::CheckReads(const Warp& warp, const Access& access, const Cell& cell, bool atomic,
                        uint32_t floor) {
  const Stamp& read = cell.read;
  if (IsOwn(read, access)) return;
  if (atomic && (read.flags & kAtomicAccess) != 0) return;
  const Acquired* acquired = AcquiredIfAny(warp);
  if (!shadow_.Unordered(read, warp.order, access.lane, acquired, floor)) {
    if (acquired == nullptr || cell.other.segment < floor ||
        !shadow_.Unordered(cell.other, warp.order, access.lane, acquired, floor)) {
      return;
    }
    sink_->OnRace(warp, access.lane, access.site, access.address, SiteAt(cell.other.site),
                  cell.other, /*same_value=*/false);
    return;
  }
  // Where the last reader was this thread itself, it is another that it conflicts with.
  const bool own = read.segment == access.segment && read.lane == access.lane;
  const Stamp& named = own && cell.other.segment >= floor ? cell.other : read;
  sink_->OnRace(warp, access.lane, access.site, access.address, SiteAt(named.site), named,
                /*same_value=*/false);
}

template <Action kAction>
void Tracer::LeaveStamp(const Warp& warp, const Access& access, Cell& cell, uint32_t floor) {
  constexpr bool kWrites = Does<kAction>::kWrite;
  constexpr bool kIsAtomic = Does<kAction>::kAtomic;
  Stamp now = {access.segment, access.site_index, static_cast<uint8_t>(access.lane),
               kIsAtomic ? kAtomicAccess : uint8_t{0}};
  if (kAction == Action::kMatrixLoad) now.flags |= kOtherLanes;
  if constexpr (kWrites) {
    const Stamp write = cell.write;
    now.flags |= kInitialised;
    if (kIsAtomic && write.segment >= floor) {
      if ((write.flags & kAtomicAccess) != 0) {
        now = shadow_.Merge(write, now, warp.order, floor);
      } else if (IsOwn(write, access)) {
        return;  // the thread's plain store says more: nobody's atomic is ordered with it
      } else if (shadow_.RecordOf(write.segment).block == warp.order.block) {
        now.flags |= kPlainBefore;
        if (write.segment >= warp.order.epoch_floor) now.flags |= kPlainInEpoch;
      }
    }
    cell.write = now;
    return;
  }
  const Stamp read = cell.read;
  if (read.segment < floor ||
      (read.segment == now.segment && read.lane == now.lane && read.flags == now.flags)) {
    cell.read = now;
    return;
  }
  if (read.segment != now.segment || read.lane != now.lane) cell.other = read;
  cell.read = shadow_.Merge(read, now, warp.order, floor);
  // A plain read among atomic ones keeps an atomic write from passing as ordered.
  if (!kIsAtomic || (read.flags & kAtomicAccess) == 0) {
    cell.read.flags &= static_cast<uint8_t>(~kAtomicAccess);
  }
}

void Tracer::Synchronise(Warp& warp, const Instruction& instruction, bool acquire, bool release) {
  const Acquired* known = AcquiredIfAny(warp);
  if (known == nullptr && !shadow_.has_released()) return;  // nobody has fenced
  Acquired& acquired = AcquiredOf(warp);
  for (int k = 0; k < instruction.n; ++k) {
    const uint64_t address = instruction.address[k] & ~kSilent;
    // Shared memory has the same addresses in every block.
    const uint64_t key =
        IsShared(instruction.site) ? address | uint64_t{warp.order.block} << 24 | kSilent : address;
    const size_t thread = static_cast<size_t>(warp.index * kWarpSize + instruction.lane[k]);
    if (acquire) shadow_.Acquire(key, warp.order.block, thread, acquired);
    if (release) shadow_.Release(key, warp.order.block, thread, acquired);
  }
}

}  // namespace assay::simt::internal
