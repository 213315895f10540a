// SPDX-License-Identifier: Apache-2.0
// What the engine says of a kernel's mistakes.

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpu/simt/internal/engine.h"

namespace assay::simt::internal {
namespace {

// How often a thread may touch memory after its launch has failed, before it is taken to loop for
// ever on what it reads.
constexpr int64_t kMaxFaults = 10'000'000;

// Source files by number; names are string literals, of which one file may have several.
struct FileTable {
  std::mutex mutex;
  std::vector<const char*> names;
};

FileTable& Files() {
  static FileTable* const files = new FileTable;  // never destroyed: kernels may outlive statics
  return *files;
}

std::string_view NameOf(Action action) {
  switch (action) {
    case Action::kLoad:
      return "load";
    case Action::kMatrixLoad:
      return "matrix load";
    case Action::kStore:
      return "store";
    case Action::kAtomic:
      return "atomic";
    case Action::kAtomicLoad:
      return "volatile load";
    case Action::kAtomicStore:
      return "volatile store";
    case Action::kFence:
    case Action::kBlockFence:
      return "fence";
  }
  return "";
}

std::string_view NameOf(State state, bool vote) {
  switch (state) {
    case State::kBarrier:
      return vote ? "waits in a vote of the block" : "waits at __syncthreads";
    case State::kWarpOperation:
      return "waits for lanes of its mask";
    case State::kGrid:
      return "waits for the grid";
    case State::kSleep:
      return "polls";
    default:
      return "runs";
  }
}

}  // namespace

uint32_t FileBits(const char* file) {
  FileTable& files = Files();
  const std::lock_guard lock(files.mutex);
  for (size_t i = 0; i < files.names.size(); ++i) {
    if (files.names[i] == file || std::strcmp(files.names[i], file) == 0) {
      return static_cast<uint32_t>(i) << kFileShift;
    }
  }
  // Beyond 512 files of kernels in one program, the last number stands for all others.
  if (files.names.size() == kMaxFiles) return (kMaxFiles - 1) << kFileShift;
  files.names.push_back(file);
  return static_cast<uint32_t>(files.names.size() - 1) << kFileShift;
}

const char* FileName(uint32_t number) {
  FileTable& files = Files();
  const std::lock_guard lock(files.mutex);
  return number < files.names.size() ? files.names[number] : "";
}

Diagnostic* Engine::Add(Finding finding, Severity severity, uint64_t place, uint64_t other_place) {
  const std::array<uint64_t, 2> key = {static_cast<uint64_t>(finding) << 40 | place, other_place};
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i] != key) continue;
    ++result_.diagnostics[i].count;
    return nullptr;
  }
  // The first error is always listed: it is the status of the launch.
  const bool first_error =
      severity == Severity::kError &&
      std::none_of(result_.diagnostics.begin(), result_.diagnostics.end(),
                   [](const Diagnostic& found) { return found.severity == Severity::kError; });
  if (static_cast<int>(keys_.size()) >= config_->max_findings && !first_error) return nullptr;
  keys_.push_back(key);
  result_.diagnostics.emplace_back();
  result_.diagnostics.back().finding = finding;
  result_.diagnostics.back().severity = severity;
  return &result_.diagnostics.back();
}

Site Engine::SiteOfThread(const Thread& thread, const Where& where, std::string action) const {
  Site site;
  site.file = where.file;
  site.line = static_cast<int>(where.line);
  site.action = std::move(action);
  site.block = thread.block->index;
  site.thread = thread.index;
  return site;
}

Site Engine::SiteOfAccess(uint64_t block, int warp, int lane, uint32_t at) const {
  Site site;
  site.file = FileName(at >> kFileShift);
  site.line = static_cast<int>(at >> kLineShift & kMaxLine);
  site.action = std::string(NameOf(ActionOf(at)));
  site.block = PositionOf(block, config_->grid);
  site.thread = PositionOf(static_cast<uint64_t>(warp) * kWarpSize + static_cast<uint64_t>(lane),
                           config_->block);
  return site;
}

void Engine::NameElement(Diagnostic& diagnostic, const EngineBlock& block, uint64_t address) const {
  const uint64_t number = (address & ~kSilent) >> kAllocationShift;
  const uint64_t offset = address & kOffsetMask;
  if (number != 0) {
    const Details& details = *EntryOf(static_cast<uint32_t>(number)).details;
    diagnostic.variable = details.name;
    diagnostic.element = static_cast<int64_t>(offset / details.element_bytes);
    return;
  }
  for (const std::unique_ptr<SharedVariable>& variable : block.shared_variables) {
    const uint64_t begin = variable->allocation.address;
    if (offset < begin || offset >= begin + variable->details.bytes) continue;
    diagnostic.variable = variable->details.name;
    diagnostic.element = static_cast<int64_t>((offset - begin) / variable->details.element_bytes);
  }
}

void Engine::OnRace(const Warp& warp, int lane, uint32_t site, uint64_t address,
                    uint32_t earlier_site, const Stamp& earlier, bool same_value) {
  // The kinds of access belong to the place: a line may both load and store.
  Diagnostic* diagnostic =
      Add(same_value ? Finding::kSameValueStores : Finding::kRace,
          same_value ? Severity::kWarning : Severity::kError, site, earlier_site);
  if (diagnostic == nullptr) return;
  const Shadow::SegmentRecord& record = tracer_.shadow().RecordOf(earlier.segment);
  NameElement(*diagnostic, *warp.block, address);
  diagnostic->sites = {SiteOfAccess(warp.block->linear, warp.index, lane, site),
                       SiteOfAccess(tracer_.shadow().BlockIndex(record.block),
                                    static_cast<int>(record.warp), earlier.lane, earlier_site)};
  const Site& now = diagnostic->sites[0];
  const Site& before = diagnostic->sites[1];
  const bool shared = (site & kSharedBit) != 0;
  const char* missing = record.block != warp.order.block ? "blocks of one launch are not ordered"
                        : static_cast<int>(record.warp) == warp.index
                            ? "no __syncwarp between lanes of one warp"
                            : "no __syncthreads between warps of one block";
  diagnostic->message = absl::StrCat(
      same_value ? "two threads store the same value to '" : "race on '", diagnostic->variable,
      "' (", shared ? "shared" : "global", " memory), element ", diagnostic->element, ": this ",
      now.action, " and another thread's ", before.action, " are in no order: ", missing);
}

void Engine::OnUninitialised(const Warp& warp, int lane, uint32_t site, uint64_t address) {
  Diagnostic* diagnostic = Add(Finding::kUninitialisedRead, Severity::kError, site);
  if (diagnostic == nullptr) return;
  NameElement(*diagnostic, *warp.block, address);
  diagnostic->sites = {SiteOfAccess(warp.block->linear, warp.index, lane, site)};
  diagnostic->message =
      absl::StrCat("read of uninitialised ", (site & kSharedBit) != 0 ? "shared" : "global",
                   " memory: nothing was written to '", diagnostic->variable, "', element ",
                   diagnostic->element);
}

uint64_t Engine::ReportFault(const Place& place, uint32_t width, uint32_t alignment, Action action,
                             const Where& where) {
  // Small numbers mostly, so that loops over them end; now and then all bits, for those that wait.
  garbage_ = garbage_ * 1664525u + 1013904223u;
  const uint64_t garbage = (garbage_ >> 16) % 61 == 0 ? ~uint64_t{0} : garbage_ >> 25;
  if (aborted_) {
    if (++faults_ > kMaxFaults) Escape();
    return garbage;
  }
  const Allocation* allocation = Find(current, place.memory);
  const Details* details = allocation->details;
  const uint64_t offset = place.offset;
  const bool foreign = details == nullptr || allocation->owner != memory_;
  const bool freed = !foreign && !details->live;
  const bool outside_it =
      foreign || freed || offset >= allocation->bytes || allocation->bytes - offset < width;
  const Finding finding = freed        ? Finding::kUseAfterFree
                          : outside_it ? Finding::kOutOfBounds
                                       : Finding::kMisaligned;
  Diagnostic* diagnostic = Add(finding, Severity::kError, SiteOf(where, action, 0));
  if (diagnostic != nullptr) {
    diagnostic->sites = {SiteOfThread(*current, where, std::string(NameOf(action)))};
    const int64_t byte = static_cast<int64_t>(offset);
    if (foreign) {
      diagnostic->message =
          absl::StrCat(NameOf(action), " of ", width, " bytes through a ",
                       (place.memory & ~kOffsetMask) == 0 ? "null pointer"
                       : details != nullptr
                           ? "pointer into another device memory"
                           : "pointer to no memory: uninitialised, or what it pointed to is gone");
    } else {
      const int64_t element_bytes = details->element_bytes;
      diagnostic->variable = details->name;
      // Rounded down, also below the beginning.
      diagnostic->element = (byte < 0 ? byte - element_bytes + 1 : byte) / element_bytes;
      const int64_t elements = static_cast<int64_t>(details->bytes) / element_bytes;
      if (freed) {
        diagnostic->message = absl::StrCat(NameOf(action), " of element ", diagnostic->element,
                                           " of '", details->name, "', which has been freed");
      } else if (outside_it) {
        diagnostic->message =
            absl::StrCat(NameOf(action), " of ", width, " bytes at element ", diagnostic->element,
                         " of '", details->name, "', which has ", elements, " elements");
      } else {
        diagnostic->message =
            absl::StrCat(NameOf(action), " of ", width, " bytes at byte ", byte, " of '",
                         details->name, "': the address must be a multiple of ", alignment);
      }
    }
  }
  Abort();
  return garbage;
}

void Engine::ReportRow(uint64_t memory, int64_t index, int64_t extent, const Where& where) {
  if (aborted_) return;
  const Details* details = Find(current, memory)->details;
  Diagnostic* diagnostic =
      Add(Finding::kOutOfBounds, Severity::kError, SiteOf(where, Action::kFence, 0));
  if (diagnostic != nullptr) {
    diagnostic->variable = details != nullptr ? details->name : "";
    diagnostic->element = index;
    diagnostic->message = absl::StrCat("index ", index, " of a row of '", diagnostic->variable,
                                       "', which has ", extent, " elements");
    diagnostic->sites = {SiteOfThread(*current, where, "access")};
  }
  Abort();
}

void Engine::ReportMisplaced(const Thread& thread) {
  if (aborted_) return;
  Diagnostic* diagnostic =
      Add(Finding::kMisplacedWait, Severity::kError, SiteOf(thread.where, Action::kFence, 0));
  if (diagnostic != nullptr) {
    diagnostic->message =
        "a device function waits here, and its kernel went on without it: one that synchronises is "
        "a SIMT_TASK, and called by SIMT_CALL";
    diagnostic->sites = {SiteOfThread(thread, thread.where, "waits")};
  }
  Abort();
}

void Engine::ReportStuck() {
  // One thread for each place where threads wait, and how many wait there.
  struct Place {
    const Thread* thread;
    int64_t count;
  };
  std::vector<Place> places;
  bool grid = false;
  for (const EngineBlock* block : active_) {
    for (const Thread& thread : block->threads) {
      if (thread.state == State::kDone) continue;
      grid |= thread.state == State::kGrid;
      const auto same = std::find_if(places.begin(), places.end(), [&](const Place& place) {
        return place.thread->state == thread.state &&
               place.thread->where.line == thread.where.line &&
               std::strcmp(place.thread->where.file, thread.where.file) == 0;
      });
      if (same != places.end()) {
        ++same->count;
      } else {
        places.push_back({&thread, 1});
      }
    }
  }
  // A lane that its warp waits for explains most.
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return (a.thread->state == State::kWarpOperation) > (b.thread->state == State::kWarpOperation);
  });
  const Place& first = places.front();
  Diagnostic* diagnostic =
      Add(Finding::kDeadlock, Severity::kError, SiteOf(first.thread->where, Action::kFence, 0));
  if (diagnostic != nullptr) {
    for (const Place& place : places) {
      diagnostic->sites.push_back(SiteOfThread(
          *place.thread, place.thread->where,
          absl::StrCat(NameOf(place.thread->state, place.thread->operation != nullptr), " (",
                       place.count, place.count == 1 ? " thread)" : " threads)")));
    }
    if (first.thread->state == State::kWarpOperation) {
      diagnostic->message = "deadlock: a lane waits for lanes of its mask that never come";
    } else if (grid && !config_->cooperative) {
      diagnostic->message = "deadlock: GRID_SYNC() in a launch that is not cooperative";
    } else {
      diagnostic->message = "deadlock: these threads wait for others that never come";
    }
  }
  Abort();
}

void Engine::ReportPolling() {
  for (const EngineBlock* block : active_) {
    for (const Thread& thread : block->threads) {
      if (thread.state != State::kSleep) continue;
      Diagnostic* diagnostic =
          Add(Finding::kDeadlock, Severity::kError, SiteOf(thread.where, Action::kFence, 0));
      if (diagnostic == nullptr) continue;
      const uint64_t waiting = block_count_ - static_cast<uint64_t>(result_.counters.blocks);
      diagnostic->message =
          absl::StrCat("deadlock: this thread polls for what no running thread will write (",
                       active_.size(), " blocks run, ", waiting, " wait for room)");
      diagnostic->sites = {SiteOfThread(thread, thread.where, "polls")};
    }
  }
  Abort();
}

bool Engine::LooksAtOnePlace(const Thread& thread) {
  uint32_t place = thread.trace_size;  // of the last entry that is no fence
  for (uint32_t back = 1; back <= 1024; ++back) {
    const uint32_t entry = thread.trace_size - back;
    const Action action = ActionOf(thread.sites[entry]);
    if (action == Action::kFence || action == Action::kBlockFence) continue;
    if (place == thread.trace_size) place = entry;
    if (thread.sites[entry] != thread.sites[place] ||
        thread.addresses[entry] != thread.addresses[place]) {
      return false;
    }
  }
  return true;
}

bool Engine::PollsOnePlace(const Thread& thread) {
  for (uint32_t back = 1; back <= 2; ++back) {  // the last, or the one before its fence
    const Action action = ActionOf(thread.sites[thread.trace_size - back]);
    if (action == Action::kAtomic || action == Action::kAtomicLoad) return LooksAtOnePlace(thread);
  }
  return false;
}

void Engine::ReportEndless(const Thread& thread, const Where& where) {
  if (aborted_) return;
  if (!LooksAtOnePlace(thread)) {
    Fail(absl::ResourceExhaustedError(absl::StrCat(
        where.file, ":", where.line, ": a thread made ", thread.trace_size,
        " memory accesses without synchronising, more than are recorded: launch without trace, or "
        "a smaller problem")));
    return;
  }
  ReportSpin(thread, where, thread.trace_size);
}

void Engine::ReportSpin(const Thread& thread, const Where& where, int64_t times) {
  Diagnostic* diagnostic = Add(Finding::kSpin, Severity::kError, SiteOf(where, Action::kFence, 0));
  if (diagnostic != nullptr) {
    diagnostic->message = absl::StrCat("this thread has looked ", times,
                                       " times without waiting once: a loop that waits for ",
                                       "another thread calls __nanosleep(), to let it run");
    diagnostic->sites = {SiteOfThread(thread, where, "reads")};
  }
  Abort();
}

}  // namespace assay::simt::internal
