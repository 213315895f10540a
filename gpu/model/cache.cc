// SPDX-License-Identifier: Apache-2.0
#include "gpu/model/cache.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gpu/simt/occupancy.h"

namespace assay::model {
namespace {

constexpr int kSectorsPerLine = 4;
constexpr int64_t kLineBytes = 128;
constexpr int kL1Ways = 4;

}  // namespace

absl::StatusOr<SectorCache> SectorCache::Create(int64_t bytes, int ways, Writes writes) {
  if (ways < 1 || ways > 1024) {
    return absl::InvalidArgumentError(absl::StrCat("cache: ", ways, " ways, expected 1 to 1024"));
  }
  if (bytes < 1 || bytes > (int64_t{1} << 30) || bytes % (kLineBytes * ways) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cache: ", bytes, " bytes, expected a multiple of ", kLineBytes * ways, " (",
                     ways, " lines) up to 2^30"));
  }
  return SectorCache(static_cast<uint64_t>(bytes / (kLineBytes * ways)), ways, writes);
}

SectorCache::SectorCache(uint64_t sets, int ways, Writes writes)
    : sets_(sets), ways_(ways), writes_(writes), lines_(sets * static_cast<uint64_t>(ways)) {}

std::span<SectorCache::Line> SectorCache::SetOf(uint64_t line) {
  // Each row of `sets_` lines is shifted by a hash of its number (Knuth's multiplicative one).
  const uint64_t row = line / sets_;
  const uint64_t shift = (row * 0x9E3779B97F4A7C15u >> 32) % sets_;
  const uint64_t set = (line % sets_ + shift) % sets_;
  const auto ways = static_cast<size_t>(ways_);
  return {lines_.data() + static_cast<size_t>(set) * ways, ways};
}

SectorCache::Line* SectorCache::Find(uint64_t line) {
  for (Line& candidate : SetOf(line)) {
    if (candidate.tag == line && candidate.used > 0) return &candidate;
  }
  return nullptr;
}

SectorCache::Line* SectorCache::Make(uint64_t line) {
  const std::span<Line> set = SetOf(line);
  const auto oldest = std::min_element(
      set.begin(), set.end(), [](const Line& a, const Line& b) { return a.used < b.used; });
  written_ += std::popcount(oldest->dirty);
  *oldest = Line();
  oldest->tag = line;
  return &*oldest;
}

bool SectorCache::Read(uint64_t sector) {
  const uint64_t number = sector / kSectorsPerLine;
  const auto bit = static_cast<uint8_t>(1 << sector % kSectorsPerLine);
  Line* line = Find(number);
  if (line == nullptr) line = Make(number);
  line->used = ++now_;
  const bool hit = (line->valid & bit) != 0;
  line->valid |= bit;
  ++reads_;
  read_hits_ += hit;
  return hit;
}

bool SectorCache::Write(uint64_t sector) {
  const uint64_t number = sector / kSectorsPerLine;
  const auto bit = static_cast<uint8_t>(1 << sector % kSectorsPerLine);
  Line* line = Find(number);
  const bool hit = line != nullptr && (line->valid & bit) != 0;
  if (writes_ == Writes::kThrough) {
    ++written_;
    if (line == nullptr) return false;
  } else if (line == nullptr) {
    line = Make(number);
  }
  line->used = ++now_;
  line->valid |= bit;
  if (writes_ == Writes::kBack) line->dirty |= bit;
  return hit;
}

void SectorCache::Flush() {
  for (Line& line : lines_) {
    written_ += std::popcount(line.dirty);
    line.dirty = 0;
  }
}

void TrafficRecorder::OnRequest(uint64_t block, simt::AccessKind kind,
                                std::span<const uint64_t> sectors) {
  blocks_[block].push_back({kind, {sectors.begin(), sectors.end()}});
}

double Traffic::l1_hit_share() const {
  return l1_reads == 0 ? 0 : 1 - static_cast<double>(l2_reads) / static_cast<double>(l1_reads);
}

double Traffic::l2_hit_share() const {
  return l2_reads == 0 ? 0 : 1 - static_cast<double>(dram_reads) / static_cast<double>(l2_reads);
}

absl::StatusOr<Traffic> Replay(const TrafficRecorder& recorder, const GpuMachine& gpu,
                               int blocks_per_sm, int64_t l1_bytes) {
  if (blocks_per_sm < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("replay: ", blocks_per_sm, " blocks on an SM, expected at least 1"));
  }
  absl::StatusOr<SectorCache> l2 =
      SectorCache::Create(static_cast<int64_t>(gpu.l2_bytes), static_cast<int>(gpu.l2_ways),
                          SectorCache::Writes::kBack);
  if (!l2.ok()) return l2.status();
  const absl::StatusOr<SectorCache> empty =
      SectorCache::Create(l1_bytes, kL1Ways, SectorCache::Writes::kThrough);
  if (!empty.ok()) return empty.status();

  Traffic traffic;
  std::vector<const std::vector<TrafficRecorder::Request>*> blocks;
  for (const auto& [number, requests] : recorder.blocks()) blocks.push_back(&requests);
  traffic.blocks = static_cast<int64_t>(blocks.size());
  const auto sms = static_cast<size_t>(gpu.sm_count);
  const size_t wave = sms * static_cast<size_t>(blocks_per_sm);
  for (size_t first = 0; first < blocks.size(); first += wave) {
    const size_t count = std::min(wave, blocks.size() - first);
    std::vector<SectorCache> l1s(std::min(sms, count), *empty);
    bool busy = true;
    for (size_t turn = 0; busy; ++turn) {
      busy = false;
      for (size_t i = 0; i < count; ++i) {
        const std::vector<TrafficRecorder::Request>& requests = *blocks[first + i];
        if (turn >= requests.size()) continue;
        busy = true;
        SectorCache& l1 = l1s[i % sms];
        for (const uint64_t sector : requests[turn].sectors) {
          if (requests[turn].kind == simt::AccessKind::kStore) {
            l1.Write(sector);
            l2->Write(sector);
            ++traffic.l2_writes;
            continue;
          }
          const bool atomic = requests[turn].kind == simt::AccessKind::kAtomic;
          if (!atomic) ++traffic.l1_reads;
          if (!atomic && l1.Read(sector)) continue;
          ++traffic.l2_reads;
          l2->Read(sector);
          if (atomic) l2->Write(sector);
        }
      }
    }
  }
  l2->Flush();
  traffic.dram_reads = l2->fetched();
  traffic.dram_writes = l2->written();
  return traffic;
}

absl::StatusOr<int64_t> L1Bytes(const GpuMachine& gpu, int64_t resident_shared_bytes) {
  const absl::StatusOr<simt::Architecture> architecture =
      simt::FindArchitecture(gpu.compute_capability);
  if (!architecture.ok()) return architecture.status();
  int64_t shared = architecture->shared_per_sm;
  for (const int kib : architecture->carve_outs_kib) {
    if (kib * int64_t{1024} >= resident_shared_bytes) {
      shared = kib * int64_t{1024};
      break;
    }
  }
  return static_cast<int64_t>(gpu.l1_total_bytes) - shared;
}

}  // namespace assay::model
