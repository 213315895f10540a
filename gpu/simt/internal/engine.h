// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a grid on one thread of the host.
#ifndef ASSAY_GPU_SIMT_INTERNAL_ENGINE_H_
#define ASSAY_GPU_SIMT_INTERNAL_ENGINE_H_

#include <array>
#include <csetjmp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "gpu/simt/internal/awaiters.h"
#include "gpu/simt/internal/shadow.h"
#include "gpu/simt/internal/shared_memory.h"
#include "gpu/simt/internal/tracer.h"
#include "gpu/simt/launch.h"
#include "numerics/core/random.h"

namespace assay::simt::internal {

struct EngineBlock;

struct Warp {
  EngineBlock* block = nullptr;
  int index = 0;
  int size = 0;               // lanes that exist
  uint32_t live = 0;          // lanes that have not finished
  Thread* threads = nullptr;  // [size]
  WarpOrder order;
};

// One __shared__ variable, or the dynamic shared memory, of a block.
struct SharedVariable {
  const SharedDeclaration* declaration = nullptr;  // null: dynamic
  Allocation allocation;
  Details details;
};

// A block on its way. The engine keeps as many as may wait for each other, and uses them again.
struct EngineBlock : Block {
  uint64_t linear = 0;
  uint32_t number = 0;  // in the order of running
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  int live = 0;
  bool running = false;
  bool runnable = false;  // left off where it could have gone on
  uint32_t first_segment = 0;
  std::unique_ptr<std::byte[]> shared;
  std::vector<Cell> shared_cells;  // one for each 4 bytes, or finer
  int shared_granule_log2 = 2;
  uint32_t shared_used = 0;
  std::vector<std::unique_ptr<SharedVariable>> shared_variables;
  std::vector<const Allocation*> variable_table;  // their allocations, for Block::variables
  std::unique_ptr<Acquired> acquired;

  // Makes the cells of shared memory stand for 2^log2 bytes.
  void RefineShared(int log2);
};

// What the warp's block knows through fences; AcquiredOf begins it.
Acquired& AcquiredOf(Warp& warp);
inline const Acquired* AcquiredIfAny(const Warp& warp) { return warp.block->acquired.get(); }

class Engine : public FindingSink {
 public:
  // resident_blocks: how many take turns where they wait for each other. max_shared: bytes of a
  // block, declared and dynamic.
  LaunchResult Run(MemoryState& memory, const LaunchConfig& config, uint64_t resident_blocks,
                   int64_t max_shared, absl::FunctionRef<void()> kernel);

  // For the parts of the simulator that run inside a thread of a kernel.
  void* AllocateFrame(size_t bytes);
  void FreeFrame(void* frame, size_t bytes);
  uint64_t DeclareShared(const SharedDeclaration& declaration);
  uint64_t DynamicShared(const char* name, uint32_t element_bytes);
  bool GrowTrace(Thread* thread, const Where& where);
  uint64_t ReportFault(const Place& place, uint32_t width, uint32_t alignment, Action action,
                       const Where& where);
  void ReportRow(uint64_t memory, int64_t index, int64_t extent, const Where& where);
  // A wait in a device function that is no SIMT_TASK: its kernel went on without it.
  void ReportMisplaced(const Thread& thread);
  void NoteLook(const Where& where);
  // Something happened that another thread may wait for.
  void NoteEvent() { ++events_; }

  void OnRace(const Warp& warp, int lane, uint32_t site, uint64_t address, uint32_t earlier_site,
              const Stamp& earlier, bool same_value) override;
  void OnUninitialised(const Warp& warp, int lane, uint32_t site, uint64_t address) override;

 private:
  // Frames of one size. Their memory is the engine's: a frame that is lost is not leaked.
  struct FramePool {
    size_t bytes = 0;
    std::vector<void*> free;
    std::vector<std::unique_ptr<std::byte[]>> slabs;
  };
  struct TraceBuffer {
    std::unique_ptr<uint32_t[]> sites;
    std::unique_ptr<uint64_t[]> addresses;
    uint32_t capacity = 0;
  };

  uint64_t AddVariable(EngineBlock& block, const SharedDeclaration* declaration, const char* name,
                       uint32_t element_bytes, uint64_t begin, uint64_t bytes);
  void BeginBlock(EngineBlock& block, uint64_t linear);
  void DestroyFrames(EngineBlock& block);
  void RunGrid();
  // Puts the findings from `known` on before those from `from` on.
  void MoveBefore(size_t from, size_t known);
  uint64_t BlockAt(uint64_t turn) const;
  bool ReleaseGrid(bool all_started);
  // Runs a block, or a warp, until none of its threads can go on; in random order a block may leave
  // off at a barrier. RunWarp: whether any thread ran.
  void RunBlock(EngineBlock& block);
  bool RunWarp(Warp& warp);
  void RunThread(Thread& thread);
  // Does what the lanes of a mask have all come for; whether there was such a mask.
  bool ResolveExchanges(Warp& warp);
  bool CheckMask(const Warp& warp, int lane);
  void Perform(Warp& warp, uint32_t lanes);
  void PerformShuffle(Warp& warp, uint32_t lanes);
  void PerformBallot(Warp& warp, uint32_t lanes);
  void PerformMatch(Warp& warp, uint32_t lanes);
  bool ReleaseBarrier(EngineBlock& block);
  void BeginEpoch(EngineBlock& block);
  // Fails a launch that could not be checked to its end.
  void CheckRoom();
  void SyncLanes(Warp& warp, uint32_t lanes);
  void ReportStuck();
  void ReportPolling();
  void ReportEndless(const Thread& thread, const Where& where);
  // Whether the last thousand entries of its trace are loads of one place, and fences.
  static bool LooksAtOnePlace(const Thread& thread);
  // Likewise by atomics or volatile loads, which only a loop that waits does for long.
  static bool PollsOnePlace(const Thread& thread);
  void ReportSpin(const Thread& thread, const Where& where, int64_t times);
  void Order(std::vector<uint32_t>& order, uint32_t n);

  void Abort();
  // Leaves a thread that would not end. In WebAssembly, which has no way out of a function that is
  // running, a trap.
  [[noreturn]] void Escape();
  // A new finding; null where an equal one exists (its count goes up) or there are enough. Equal:
  // of one kind, between the same places.
  Diagnostic* Add(Finding finding, Severity severity, uint64_t place, uint64_t other_place = 0);
  Site SiteOfThread(const Thread& thread, const Where& where, std::string action) const;
  Site SiteOfAccess(uint64_t block, int warp, int lane, uint32_t site) const;
  void NameElement(Diagnostic& diagnostic, const EngineBlock& block, uint64_t address) const;
  void Fail(absl::Status status);

  MemoryState* memory_ = nullptr;
  const LaunchConfig* config_ = nullptr;
  const absl::FunctionRef<void()>* kernel_ = nullptr;
  Tracer tracer_;
  LaunchResult result_;
  std::vector<std::array<uint64_t, 2>> keys_;  // of result_.diagnostics
  std::vector<std::unique_ptr<EngineBlock>> slots_;
  std::vector<EngineBlock*> active_;
  TraceBuffer traces_[kWarpSize];  // one warp runs at a time, and leaves them empty
  std::vector<FramePool> frames_;
  std::vector<uint32_t> warp_order_;
  std::vector<uint32_t> lane_order_;
  std::vector<uint32_t> block_order_;
  Random random_{0};
  uint64_t stride_ = 1;  // of a random order of blocks
  uint64_t shift_ = 0;
  uint64_t block_count_ = 0;
  uint64_t resident_blocks_ = 0;
  int64_t max_shared_ = 0;
  uint64_t events_ = 0;
  uint32_t garbage_ = 0;
  int64_t faults_ = 0;
  size_t faults_from_ = 0;  // how many findings there were when the launch was aborted
  int64_t looks_ = 0;
  int lone_waits_ = 0;
  std::jmp_buf escape_;
  bool aborted_ = false;
};

}  // namespace assay::simt::internal

#endif  // ASSAY_GPU_SIMT_INTERNAL_ENGINE_H_
