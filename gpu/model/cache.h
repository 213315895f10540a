// SPDX-License-Identifier: Apache-2.0
// A GPU's caches, fed by the addresses that simulated blocks ask for.
#ifndef ASSAY_GPU_MODEL_CACHE_H_
#define ASSAY_GPU_MODEL_CACHE_H_

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu/model/machine.h"
#include "gpu/simt/counters.h"
#include "gpu/simt/launch.h"

namespace assay::model {

// A set-associative cache with the least recently used line of a set going first. A line has 128
// bytes and a tag, and four sectors of 32 bytes that are fetched one by one. Addresses are those of
// sectors: bytes / 32. Which set a line goes to is hashed, as GPUs do, so that no stride meets in
// one set; any `sets` lines in a row go to different sets.
class SectorCache {
 public:
  enum class Writes {
    kBack,     // L2: written sectors stay until their line is evicted
    kThrough,  // L1: written sectors go on at once, and stay only if their line is here
  };

  // Fails: InvalidArgument unless bytes is a positive multiple of 128 ways, at most 1 GiB, and ways
  // is 1 to 1024.
  static absl::StatusOr<SectorCache> Create(int64_t bytes, int ways, Writes writes);

  // Cost of both: O(ways). True where the sector was here.
  bool Read(uint64_t sector);
  bool Write(uint64_t sector);

  // Sectors so far. A flush writes back what is still dirty.
  int64_t reads() const { return reads_; }
  int64_t read_hits() const { return read_hits_; }
  int64_t fetched() const { return reads_ - read_hits_; }  // from the memory below
  int64_t written() const { return written_; }             // to the memory below
  void Flush();

 private:
  struct Line {
    uint64_t tag = ~uint64_t{0};
    int64_t used = 0;   // when last, 0 never
    uint8_t valid = 0;  // a bit a sector
    uint8_t dirty = 0;
  };

  SectorCache(uint64_t sets, int ways, Writes writes);
  Line* Find(uint64_t line);  // or nullptr
  Line* Make(uint64_t line);  // in the place of the oldest of its set
  std::span<Line> SetOf(uint64_t line);

  uint64_t sets_;
  int ways_;
  Writes writes_;
  std::vector<Line> lines_;
  int64_t now_ = 0;
  int64_t reads_ = 0;
  int64_t read_hits_ = 0;
  int64_t written_ = 0;
};

// Keeps the global memory traffic of a launch, block by block (LaunchConfig::observer).
class TrafficRecorder : public simt::TrafficObserver {
 public:
  struct Request {
    simt::AccessKind kind;
    std::vector<uint64_t> sectors;
  };

  void OnRequest(uint64_t block, simt::AccessKind kind, std::span<const uint64_t> sectors) override;

  const std::map<uint64_t, std::vector<Request>>& blocks() const { return blocks_; }

 private:
  std::map<uint64_t, std::vector<Request>> blocks_;
};

// Sectors of 32 bytes at each level.
struct Traffic {
  int64_t blocks = 0;
  int64_t l1_reads = 0;  // asked of L1 by loads
  int64_t l2_reads = 0;  // of those, asked of L2; atomics too
  int64_t l2_writes = 0;
  int64_t dram_reads = 0;  // of the L2's, asked of device memory
  int64_t dram_writes = 0;

  double l1_hit_share() const;
  double l2_hit_share() const;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Sends recorded blocks through the caches of a GPU: `blocks_per_sm` blocks live on each SM at
// once, dealt in turn by rising number; the blocks of a wave take turns, one request each, and the
// next wave begins when the last is through. L1 has l1_bytes and four ways, passes writes on, and
// forgets at the end of a wave; atomics go to L2 at once. The real order depends on timing: this is
// one that could be. Where fewer blocks than a wave were recorded, L2 has more room for them than
// it would. Cost: O(sectors ways). Fails: InvalidArgument for blocks_per_sm < 1, and as
// SectorCache::Create.
absl::StatusOr<Traffic> Replay(const TrafficRecorder& recorder, const GpuMachine& gpu,
                               int blocks_per_sm, int64_t l1_bytes);

// What is left of an SM's memory for L1 when its shared part is as small as the resident blocks
// allow: the driver's choice. Fails: NotFound for an unknown architecture.
absl::StatusOr<int64_t> L1Bytes(const GpuMachine& gpu, int64_t resident_shared_bytes);

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_CACHE_H_
