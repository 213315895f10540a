// SPDX-License-Identifier: Apache-2.0
// Turns what the lanes of a warp have recorded into warp instructions, counts them and checks them.
//
// Lanes run one after another. What they recorded between two synchronisations is joined by source
// line and, for loops, by how often the lane had been there: the k-th time at a line is one warp
// instruction of all lanes that came there k times. Where all lanes took the same way, which is
// nearly always, instruction k is entry k of each.
#ifndef ASSAY_GPU_SIMT_INTERNAL_TRACER_H_
#define ASSAY_GPU_SIMT_INTERNAL_TRACER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/simt/counters.h"
#include "gpu/simt/internal/memory_state.h"
#include "gpu/simt/internal/shadow.h"
#include "gpu/simt/internal/thread.h"
#include "gpu/simt/launch.h"

namespace assay::simt::internal {

// Where the tracer says what it found.
class FindingSink {
 public:
  virtual ~FindingSink() = default;
  // A conflict of the access at `site` by lane `lane` of `warp` with an earlier one.
  virtual void OnRace(const Warp& warp, int lane, uint32_t site, uint64_t address,
                      uint32_t earlier_site, const Stamp& earlier, bool same_value) = 0;
  virtual void OnUninitialised(const Warp& warp, int lane, uint32_t site, uint64_t address) = 0;
};

// One memory instruction of a warp: the active lanes, and an address for each.
struct Instruction {
  uint32_t site = 0;
  uint16_t site_index = 0;
  int n = 0;
  uint8_t lane[kWarpSize];      // ascending to count, in the order of running to check
  uint64_t address[kWarpSize];  // with kSilent where it applies
};

// One lane's part of an instruction.
struct Access {
  int lane = 0;
  uint32_t segment = 0;
  uint32_t site = 0;
  uint16_t site_index = 0;
  uint64_t address = 0;
};

// The cells of the memory that an instruction touches.
struct CellRange {
  Cell* cells = nullptr;
  int granule_log2 = 2;
  bool initialised = false;    // all of it, by the host
  uint32_t floor = 0;          // accesses of segments below it are ordered before all of now
  uint32_t first_segment = 0;  // shared memory: below it a write was that of an earlier block
};

class Tracer {
 public:
  void BeginLaunch(TrafficObserver* observer, FindingSink* sink);
  // Adds what was counted to `counters.accesses`.
  void EndLaunch(LaunchCounters& counters);

  // Takes the traces of the lanes of `ran`, in the order in which they ran, and empties them.
  void Flush(Warp& warp, std::span<const uint32_t> ran);

  // False where this machine had no memory for the shadow of a buffer.
  bool ok() const { return ok_; }
  bool exhausted() const { return sites_.size() >= 0xFFFF; }

  Shadow& shadow() { return shadow_; }
  uint32_t SiteAt(uint16_t index) const { return sites_[index].site; }

 private:
  struct SiteCounters {
    uint32_t site = 0;
    int64_t requests = 0;
    int64_t lanes = 0;
    int64_t bytes = 0;
    int64_t sectors = 0;  // or wavefronts, in shared memory
    int64_t ideal = 0;    // sectors, or wavefronts
    int64_t lines = 0;
    int64_t serial = 0;
  };

  uint16_t IndexOf(uint32_t site);
  void FlushAlike(Warp& warp, uint32_t lanes, std::span<const uint32_t> ran);
  void FlushDivergent(Warp& warp, uint32_t lanes, std::span<const uint32_t> ran);
  // Lane after lane, as they ran.
  void CheckInTurn(Warp& warp, std::span<const uint32_t> ran);
  void CheckOrder(Warp& warp, const Instruction& instruction);
  void Count(Warp& warp, const Instruction& instruction);
  template <Action kAction>
  void Check(Warp& warp, const Instruction& instruction);
  template <Action kAction>
  void CheckCells(Warp& warp, const Instruction& instruction, const CellRange& cells);
  template <Action kAction>
  void CheckWrites(const Warp& warp, const Access& access, const Cell& cell, uint32_t floor);
  void CheckReads(const Warp& warp, const Access& access, const Cell& cell, bool atomic,
                  uint32_t floor);
  template <Action kAction>
  void LeaveStamp(const Warp& warp, const Access& access, Cell& cell, uint32_t floor);
  void Synchronise(Warp& warp, const Instruction& instruction, bool acquire, bool release);

  TrafficObserver* observer_ = nullptr;
  FindingSink* sink_ = nullptr;
  Shadow shadow_;
  std::vector<SiteCounters> sites_;
  std::vector<uint32_t> table_;  // open addressing: index + 1 of a site, 0 empty
  int64_t segments_ = 0;
  int64_t divergent_segments_ = 0;
  bool ok_ = true;
  // Scratch of FlushDivergent.
  std::vector<std::vector<uint32_t>> groups_of_site_;
  std::vector<uint32_t> occurrences_;
  std::vector<Instruction> groups_;
};

}  // namespace assay::simt::internal

#endif  // ASSAY_GPU_SIMT_INTERNAL_TRACER_H_
