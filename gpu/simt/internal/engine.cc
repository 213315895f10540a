// SPDX-License-Identifier: Apache-2.0
// Blocks, warps and threads taking turns. What the lanes of a warp do together is in exchanges.cc,
// what is said of mistakes in findings.cc.

#include "gpu/simt/internal/engine.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"

namespace assay::simt::internal {
namespace {

// Static shared memory is at most this, as on every GPU; the launch's dynamic part lies behind it.
constexpr uint32_t kMaxStaticShared = Architecture::kSharedPerBlock;
// Entries of one thread's trace between two synchronisations: 4 * 10^6, 50 MB.
constexpr uint32_t kMaxTrace = 1u << 22;
constexpr uint32_t kFirstTrace = 1024;
// Where a thread has only polled one place by now, nobody will answer it.
constexpr uint32_t kManyLooks = 1u << 17;
// Blocks under way at once in random order: enough for one to find its neighbours half done.
constexpr uint64_t kMixedBlocks = 6;
// Rounds in which threads only sleep and nothing else happens, before they are given up.
constexpr int kMaxIdleRounds = 1000;
// Full traces, of 16,384 entries, in which a thread alone in its warp has looked at one place.
constexpr int kMaxLoneWaits = 256;
// Atomics and volatile loads of a thread without trace that does not wait.
constexpr int64_t kMaxLooks = 10'000'000;

thread_local Engine* engine = nullptr;

}  // namespace

Thread outside;

void* AllocateFrame(size_t bytes) {
  ASSAY_CHECK(engine != nullptr);  // a kernel is run by Launch, not called
  return engine->AllocateFrame(bytes);
}
void FreeFrame(void* frame, size_t bytes) { engine->FreeFrame(frame, bytes); }
uint64_t DeclareShared(const SharedDeclaration& declaration) {
  ASSAY_CHECK(engine != nullptr);
  return engine->DeclareShared(declaration);
}
uint64_t DynamicShared(const char* name, uint32_t element_bytes) {
  ASSAY_CHECK(engine != nullptr);
  return engine->DynamicShared(name, element_bytes);
}
bool GrowTrace(Thread* thread, const Where& where) { return engine->GrowTrace(thread, where); }
void NoteAtomic(bool changed) {
  if (changed && engine != nullptr) engine->NoteEvent();
}
void NoteLook(const Where& where) { engine->NoteLook(where); }
uint64_t Fault(const Place& place, uint32_t width, uint32_t alignment, Action action,
               const Where& where) {
  ASSAY_CHECK(current->mode != Mode::kOutside);  // device memory is touched in kernels only
  return engine->ReportFault(place, width, alignment, action, where);
}
void RowFault(uint64_t memory, int64_t index, int64_t extent, const Where& where) {
  engine->ReportRow(memory, index, extent, where);
}
void MisplacedWait(Thread* thread) { engine->ReportMisplaced(*thread); }

Acquired& AcquiredOf(Warp& warp) {
  std::unique_ptr<Acquired>& acquired = warp.block->acquired;
  if (acquired == nullptr) {
    const size_t warps = warp.block->warps.size();
    acquired = std::make_unique<Acquired>();
    acquired->warps.resize(warps);
    acquired->threads.resize(warps * kWarpSize);
    for (std::vector<Acquired::OfThread>& scope : acquired->scopes) {
      scope.resize(warps * kWarpSize);
    }
  }
  return *acquired;
}

void EngineBlock::RefineShared(int log2) {
  const int shift = shared_granule_log2 - log2;
  std::vector<Cell> fine(shared_cells.size() << shift);
  for (size_t i = 0; i < fine.size(); ++i) fine[i] = shared_cells[i >> shift];
  shared_cells = std::move(fine);
  shared_granule_log2 = log2;
}

LaunchResult Engine::Run(MemoryState& memory, const LaunchConfig& config, uint64_t resident_blocks,
                         int64_t max_shared, absl::FunctionRef<void()> kernel) {
  Engine* const outer_engine = std::exchange(engine, this);
  Thread* const outer_thread = current;
  memory_ = &memory;
  config_ = &config;
  resident_blocks_ = resident_blocks;
  max_shared_ = max_shared;
  kernel_ = &kernel;
  result_ = {};
  keys_.clear();
  slots_.clear();
  active_.clear();
  events_ = 0;
  garbage_ = 0;
  faults_ = 0;
  aborted_ = false;
  random_ = Random(config.seed);
  block_count_ = config.sample.empty() ? config.grid.Count() : config.sample.size();
  if (config.schedule == Schedule::kRandom && block_count_ > 1) {
    // k -> stride k + shift modulo the count visits every block once.
    const int64_t count = static_cast<int64_t>(block_count_);
    do {
      stride_ = static_cast<uint64_t>(1 + random_.Integer(count - 1));
    } while (std::gcd(stride_, block_count_) != 1);
    shift_ = static_cast<uint64_t>(random_.Integer(count));
  }
  for (int lane = 0; lane < kWarpSize; ++lane) {
    TraceBuffer& trace = traces_[lane];
    if (trace.capacity != 0) continue;
    trace.capacity = kFirstTrace;
    trace.sites = std::make_unique<uint32_t[]>(kFirstTrace);
    trace.addresses = std::make_unique<uint64_t[]>(kFirstTrace);
  }
  tracer_.BeginLaunch(config.observer, this);
#if defined(__EMSCRIPTEN__)
  RunGrid();
#else
  // What lies between here and Escape() holds nothing that would have to be destroyed, but for the
  // frames of the thread that is left, whose memory is given back below.
  if (setjmp(escape_) == 0) {
    RunGrid();
  } else {
    current->state = State::kDone;
  }
#endif
  CheckRoom();
  for (const std::unique_ptr<EngineBlock>& block : slots_) DestroyFrames(*block);
  if (config.trace) {
    tracer_.EndLaunch(result_.counters);
  } else {
    result_.counters = {};
  }
  slots_.clear();
  if (aborted_) frames_.clear();  // some may have been lost
  current = outer_thread;
  engine = outer_engine;
  if (result_.status.ok()) {
    for (const Diagnostic& diagnostic : result_.diagnostics) {
      if (diagnostic.severity != Severity::kError) continue;
      result_.status = absl::FailedPreconditionError(
          diagnostic.sites.empty()
              ? diagnostic.message
              : absl::StrCat(diagnostic.sites[0].file, ":", diagnostic.sites[0].line, ": ",
                             diagnostic.message));
      break;
    }
  }
  return std::move(result_);
}

uint64_t Engine::BlockAt(uint64_t turn) const {
  uint64_t at = turn;
  if (config_->schedule == Schedule::kReverse) {
    at = block_count_ - 1 - turn;
  } else if (config_->schedule == Schedule::kRandom && block_count_ > 1) {
    // 64 bits hold the product: a grid has fewer than 2^32 blocks that could ever run.
    at = (turn * stride_ + shift_) % block_count_;
  }
  return config_->sample.empty() ? at : config_->sample[static_cast<size_t>(at)];
}

void Engine::MoveBefore(size_t from, size_t known) {
  std::rotate(result_.diagnostics.begin() + static_cast<ptrdiff_t>(from),
              result_.diagnostics.begin() + static_cast<ptrdiff_t>(known),
              result_.diagnostics.end());
  std::rotate(keys_.begin() + static_cast<ptrdiff_t>(from),
              keys_.begin() + static_cast<ptrdiff_t>(known), keys_.end());
}

void Engine::RunGrid() {
  uint64_t started = 0;
  int idle = 0;
  // In random order some blocks are under way at once and leave off at barriers; otherwise a block
  // begins only when those on their way wait: most kernels need one at a time.
  const bool mixed = config_->schedule == Schedule::kRandom;
  const uint64_t at_once = mixed ? std::min(resident_blocks_, kMixedBlocks) : 1;
  while (started < block_count_ || !active_.empty()) {
    const uint64_t events = events_;
    bool waiting = true;
    for (const EngineBlock* block : active_) waiting = waiting && !block->runnable;
    if (started < block_count_ && active_.size() < resident_blocks_ &&
        (active_.size() < at_once || waiting)) {
      EngineBlock* free = nullptr;
      for (const std::unique_ptr<EngineBlock>& slot : slots_) {
        if (!slot->running) free = slot.get();
      }
      if (free == nullptr) free = slots_.emplace_back(std::make_unique<EngineBlock>()).get();
      EngineBlock& block = *free;
      BeginBlock(block, BlockAt(started++));
      active_.push_back(&block);
      ++events_;
    }
    if (mixed) {
      Order(block_order_, static_cast<uint32_t>(active_.size()));
      for (size_t i = 0; i < block_order_.size() && !aborted_; ++i) {
        RunBlock(*active_[block_order_[i]]);
      }
    } else {
      for (size_t i = 0; i < active_.size() && !aborted_; ++i) RunBlock(*active_[i]);
    }
    if (aborted_) return;
    std::erase_if(active_, [](const EngineBlock* block) { return !block->running; });
    if (events != events_) {
      idle = 0;
      continue;
    }
    if (ReleaseGrid(started == block_count_)) continue;
    bool asleep = false;
    for (const EngineBlock* block : active_) {
      for (const Thread& thread : block->threads) asleep |= thread.state == State::kSleep;
    }
    if (!asleep) {
      ReportStuck();
    } else if (++idle > kMaxIdleRounds) {
      ReportPolling();
    }
    if (aborted_) return;
  }
}

void Engine::BeginBlock(EngineBlock& block, uint64_t linear) {
  const uint32_t n = static_cast<uint32_t>(config_->block.Count());
  const size_t warps = (n + kWarpSize - 1) / kWarpSize;
  if (block.threads.empty()) {
    block.threads.resize(n);
    block.warps.resize(warps);
    block.shared = std::make_unique<std::byte[]>(kMaxStaticShared + config_->dynamic_shared_bytes);
    block.shared_cells.resize((kMaxStaticShared + config_->dynamic_shared_bytes + 3) / 4);
    for (uint32_t i = 0; i < n; ++i) {
      Thread& thread = block.threads[i];
      thread.index = PositionOf(i, config_->block);
      thread.block = &block;
      thread.warp = &block.warps[i / kWarpSize];
      thread.lane = static_cast<int>(i % kWarpSize);
      thread.mode = config_->trace ? Mode::kTraced : Mode::kUntraced;
      thread.memory = memory_;
    }
  }
  block.extent = config_->block;
  block.grid = config_->grid;
  block.linear = linear;
  block.index = PositionOf(linear, config_->grid);
  block.live = static_cast<int>(n);
  block.running = true;
  block.acquired.reset();
  std::memset(block.shared.get(), kGarbageByte, block.shared_used);
  if (config_->dynamic_shared_bytes != 0) {
    std::memset(block.shared.get() + kMaxStaticShared, kGarbageByte, config_->dynamic_shared_bytes);
  }
  Shadow& shadow = tracer_.shadow();
  block.number = shadow.BeginBlock(linear);
  block.first_segment = shadow.next_segment();
  for (size_t w = 0; w < warps; ++w) {
    Warp& warp = block.warps[w];
    const uint32_t size = std::min<uint32_t>(kWarpSize, n - static_cast<uint32_t>(w) * kWarpSize);
    warp.block = &block;
    warp.index = static_cast<int>(w);
    warp.size = static_cast<int>(size);
    warp.live = size == kWarpSize ? kFullMask : (1u << size) - 1;
    warp.threads = &block.threads[w * kWarpSize];
    warp.order.block = block.number;
    warp.order.warp = warp.index;
    for (uint32_t lane = 0; lane < size; ++lane) warp.threads[lane].state = State::kNew;
  }
  BeginEpoch(block);
  LaunchCounters& counters = result_.counters;
  counters.blocks += 1;
  counters.warps += static_cast<int64_t>(warps);
  counters.threads += n;
}

void Engine::BeginEpoch(EngineBlock& block) {
  if (!config_->trace) return;
  Shadow& shadow = tracer_.shadow();
  const uint32_t floor = shadow.next_segment();
  for (Warp& warp : block.warps) {
    const uint32_t segment = shadow.NewSegment(block.number, warp.index);
    warp.order.epoch_floor = floor;
    warp.order.floor = segment;
    warp.order.live_at_floor = warp.live;
    std::fill(warp.order.segment, warp.order.segment + kWarpSize, segment);
    warp.order.known.reset();
  }
  if (block.acquired != nullptr) {
    // A barrier shares what any thread has learnt.
    Acquired& acquired = *block.acquired;
    for (std::vector<Knowledge>* each : {&acquired.warps, &acquired.threads}) {
      for (Knowledge& knowledge : *each) {
        acquired.block.Join(knowledge);
        knowledge.clear();
      }
    }
    // Also what one thread has seen or fenced before the barrier and another fences or tells after.
    for (int scope = 0; scope < kScopes; ++scope) {
      for (Acquired::OfThread& thread : acquired.scopes[scope]) {
        acquired.shared[scope].pending.Join(thread.pending);
        acquired.shared[scope].fenced.Join(thread.fenced);
        thread = {};
      }
    }
  }
  CheckRoom();
}

void Engine::CheckRoom() {
  if (tracer_.shadow().exhausted() || tracer_.exhausted()) {
    Fail(absl::ResourceExhaustedError(
        "the launch has more synchronisations or places in the source than can be told apart"));
  }
  if (!tracer_.ok()) {
    Fail(absl::ResourceExhaustedError("this machine has no memory to keep who touched a buffer"));
  }
}

void Engine::RunBlock(EngineBlock& block) {
  for (Thread& thread : block.threads) {
    if (thread.state == State::kSleep) thread.state = State::kReady;
  }
  for (;;) {
    bool any = false;
    Order(warp_order_, static_cast<uint32_t>(block.warps.size()));
    for (size_t i = 0; i < warp_order_.size(); ++i) {
      any |= RunWarp(block.warps[warp_order_[i]]);
      if (aborted_) return;
    }
    if (block.live == 0) {
      block.running = false;
      ++events_;
      return;
    }
    const bool released = ReleaseBarrier(block);
    if (aborted_) return;
    block.runnable = released || any;
    if (!block.runnable) return;
    if (released && config_->schedule == Schedule::kRandom && random_.Bernoulli(0.5)) return;
  }
}

bool Engine::RunWarp(Warp& warp) {
  bool any = false;
  do {
    Order(lane_order_, static_cast<uint32_t>(warp.size));
    size_t ran = 0;
    for (const uint32_t lane : lane_order_) {
      Thread& thread = warp.threads[lane];
      if (thread.state != State::kNew && thread.state != State::kReady) continue;
      lane_order_[ran++] = lane;
      RunThread(thread);
      if (thread.state == State::kDone) {
        warp.live &= ~(1u << lane);
        --warp.block->live;
        ++events_;
      }
      if (aborted_) break;
    }
    if (ran == 0) break;
    any = true;
    if (config_->trace) {
      // What led to a fault, an index read too early, say, comes before it.
      const size_t fault = aborted_ ? faults_from_ : result_.diagnostics.size();
      const size_t known = result_.diagnostics.size();
      tracer_.Flush(warp, std::span<const uint32_t>(lane_order_.data(), ran));
      if (aborted_) MoveBefore(fault, known);
    }
  } while (!aborted_ && ResolveExchanges(warp));
  return any;
}

void Engine::RunThread(Thread& thread) {
  current = &thread;
  TraceBuffer& trace = traces_[thread.lane];
  thread.sites = trace.sites.get();
  thread.addresses = trace.addresses.get();
  thread.trace_capacity = trace.capacity;
  thread.trace_size = 0;
  looks_ = 0;
  lone_waits_ = 0;
  const bool begins = thread.state == State::kNew;
  thread.state = State::kReady;
  if (config_->runner != nullptr) {
    if (begins) {
      config_->runner->Start(thread, *kernel_);
    } else {
      config_->runner->Resume(thread);
    }
  } else {
    thread.again = false;
    if (begins) {
      thread.root = nullptr;
      (*kernel_)();
    } else {
      std::coroutine_handle<>::from_address(thread.resume_point).resume();
    }
    while (thread.again) {
      thread.again = false;
      std::coroutine_handle<>::from_address(thread.resume_point).resume();
    }
  }
  // Whoever waits has said so; otherwise the kernel has returned.
  if (thread.state == State::kReady) {
    thread.state = State::kDone;
  } else if (thread.parked_at != thread.trace_size) {
    ReportMisplaced(thread);
  }
}

bool Engine::ReleaseBarrier(EngineBlock& block) {
  const Thread* first = nullptr;
  for (const Thread& thread : block.threads) {
    if (thread.state == State::kDone) continue;
    if (thread.state != State::kBarrier) return false;
    if (first == nullptr) first = &thread;
    const bool here = thread.where.line == first->where.line &&
                      std::strcmp(thread.where.file, first->where.file) == 0 &&
                      (thread.operation == nullptr) == (first->operation == nullptr);
    if (here) continue;
    Diagnostic* diagnostic =
        Add(Finding::kDivergentBarrier, Severity::kError, SiteOf(first->where, Action::kFence, 0),
            SiteOf(thread.where, Action::kFence, 0));
    if (diagnostic != nullptr) {
      diagnostic->message =
          "threads of one block wait at different barriers: __syncthreads() is for all of them";
      diagnostic->sites = {SiteOfThread(*first, first->where, "waits at this barrier"),
                           SiteOfThread(thread, thread.where, "waits at this one")};
    }
    Abort();
    return false;
  }
  if (first == nullptr) return false;
  if (first->operation != nullptr) {
    int32_t count = 0;
    for (const Thread& thread : block.threads) {
      if (thread.state == State::kBarrier) count += thread.operation->argument;
    }
    const int kind = first->operation->width;
    const int32_t vote = kind == 0 ? count : kind == 1 ? count == block.live : count != 0;
    for (const Thread& thread : block.threads) {
      if (thread.state == State::kBarrier)
        std::memcpy(thread.operation->result, &vote, sizeof(vote));
    }
  }
  for (Thread& thread : block.threads) {
    if (thread.state == State::kBarrier) thread.state = State::kReady;
  }
  result_.counters.barriers += 1;
  ++events_;
  BeginEpoch(block);
  return true;
}

bool Engine::ReleaseGrid(bool all_started) {
  for (const EngineBlock* block : active_) {
    for (const Thread& thread : block->threads) {
      if (thread.state != State::kGrid && thread.state != State::kDone) return false;
      if (thread.state == State::kGrid && !config_->cooperative) return false;
    }
  }
  if (!all_started || active_.empty()) return false;
  tracer_.shadow().BeginGridEpoch();
  for (EngineBlock* block : active_) {
    for (Thread& thread : block->threads) {
      if (thread.state == State::kGrid) thread.state = State::kReady;
    }
    BeginEpoch(*block);
  }
  ++events_;
  return true;
}

void Engine::Order(std::vector<uint32_t>& order, uint32_t n) {
  order.resize(n);
  std::iota(order.begin(), order.end(), 0u);
  if (config_->schedule == Schedule::kReverse) {
    std::reverse(order.begin(), order.end());
  } else if (config_->schedule == Schedule::kRandom) {
    for (uint32_t i = n; i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<size_t>(random_.Integer(i))]);
    }
  }
}

void Engine::DestroyFrames(EngineBlock& block) {
  for (Thread& thread : block.threads) {
    if (thread.state == State::kNew || thread.state == State::kDone) continue;
    if (config_->runner != nullptr) {
      config_->runner->Discard(thread);
    } else if (thread.root != nullptr) {
      current = &thread;
      std::coroutine_handle<>::from_address(thread.root).destroy();
    }
    thread.state = State::kDone;
  }
}

void* Engine::AllocateFrame(size_t bytes) {
  constexpr size_t kFramesInASlab = 64;
  FramePool* pool = nullptr;
  for (FramePool& each : frames_) {
    if (each.bytes == bytes) pool = &each;
  }
  if (pool == nullptr) {
    frames_.push_back({bytes, {}, {}});
    pool = &frames_.back();
  }
  if (pool->free.empty()) {
    // A multiple of what new aligns to, so that each frame is aligned.
    constexpr size_t kAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    const size_t spaced = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    pool->slabs.push_back(std::unique_ptr<std::byte[]>(new std::byte[spaced * kFramesInASlab]));
    for (size_t i = 0; i < kFramesInASlab; ++i) {
      pool->free.push_back(pool->slabs.back().get() + spaced * (kFramesInASlab - 1 - i));
    }
  }
  void* frame = pool->free.back();
  pool->free.pop_back();
  return frame;
}

void Engine::FreeFrame(void* frame, size_t bytes) {
  for (FramePool& pool : frames_) {
    if (pool.bytes == bytes) return pool.free.push_back(frame);
  }
}

uint64_t Engine::AddVariable(EngineBlock& block, const SharedDeclaration* declaration,
                             const char* name, uint32_t element_bytes, uint64_t begin,
                             uint64_t bytes) {
  auto variable = std::make_unique<SharedVariable>();
  variable->declaration = declaration;
  variable->details.name = name;
  variable->details.element_bytes = element_bytes;
  variable->details.bytes = bytes;
  variable->allocation.data = block.shared.get() + begin;
  variable->allocation.bytes = bytes;
  variable->allocation.address = begin;
  variable->allocation.site_bits = kSharedBit;
  variable->allocation.owner = memory_;
  variable->allocation.details = &variable->details;
  block.variable_table.push_back(&variable->allocation);
  block.shared_variables.push_back(std::move(variable));
  block.variables = block.variable_table.data();
  block.variable_count = static_cast<uint32_t>(block.variable_table.size());
  result_.counters.shared_bytes = std::max<int64_t>(
      result_.counters.shared_bytes, block.shared_used + config_->dynamic_shared_bytes);
  return kSharedAddress | uint64_t{block.variable_count - 1} << kAllocationShift;
}

uint64_t Engine::DeclareShared(const SharedDeclaration& declaration) {
  EngineBlock& block = *static_cast<EngineBlock*>(current->block);
  for (size_t i = 0; i < block.shared_variables.size(); ++i) {
    if (block.shared_variables[i]->declaration == &declaration) {
      return kSharedAddress | uint64_t{i} << kAllocationShift;
    }
  }
  uint64_t bytes = declaration.element_bytes;
  for (const int extent : declaration.extents) {
    bytes *= extent > 0 ? static_cast<uint64_t>(extent) : 1;
  }
  const uint32_t alignment = std::max<uint32_t>(declaration.alignment, 16);
  const uint64_t begin = (block.shared_used + uint64_t{alignment} - 1) / alignment * alignment;
  const uint64_t end = begin + bytes;
  if (end > kMaxStaticShared ||
      static_cast<int64_t>(end + config_->dynamic_shared_bytes) > max_shared_) {
    Diagnostic* diagnostic =
        Add(Finding::kSharedMemory, Severity::kError, SiteOf(declaration.where, Action::kFence, 0));
    if (diagnostic != nullptr) {
      diagnostic->message = absl::StrCat(
          "with '", declaration.name, "' the block declares ", end, " bytes of shared memory and ",
          config_->dynamic_shared_bytes, " dynamic ones; allowed are ", kMaxStaticShared,
          " declared and ", max_shared_, " in all");
      diagnostic->variable = declaration.name;
      diagnostic->sites = {SiteOfThread(*current, declaration.where, "declares it")};
    }
    Abort();
    return 0;
  }
  std::memset(block.shared.get() + begin, kGarbageByte, static_cast<size_t>(bytes));
  block.shared_used = static_cast<uint32_t>(end);
  return AddVariable(block, &declaration, declaration.name, declaration.element_bytes, begin,
                     bytes);
}

uint64_t Engine::DynamicShared(const char* name, uint32_t element_bytes) {
  EngineBlock& block = *static_cast<EngineBlock*>(current->block);
  for (size_t i = 0; i < block.shared_variables.size(); ++i) {
    if (block.shared_variables[i]->declaration == nullptr) {
      return kSharedAddress | uint64_t{i} << kAllocationShift;
    }
  }
  return AddVariable(block, nullptr, name, element_bytes, kMaxStaticShared,
                     config_->dynamic_shared_bytes);
}

bool Engine::GrowTrace(Thread* thread, const Where& where) {
  if (thread->mode != Mode::kTraced) return false;
  TraceBuffer& trace = traces_[thread->lane];
  if (thread->warp->live == 1u << thread->lane && trace.capacity >= kFirstTrace * 16) {
    // Alone in its warp, it need not wait for others.
    lone_waits_ = LooksAtOnePlace(*thread) ? lone_waits_ + 1 : 0;
    if (lone_waits_ > kMaxLoneWaits) {
      ReportSpin(*thread, where, int64_t{lone_waits_} * thread->trace_size);
      return false;
    }
    const uint32_t lane = static_cast<uint32_t>(thread->lane);
    tracer_.Flush(*thread->warp, std::span<const uint32_t>(&lane, 1));
    return true;
  }
  if (trace.capacity >= kMaxTrace || (trace.capacity >= kManyLooks && PollsOnePlace(*thread))) {
    ReportEndless(*thread, where);
    return false;
  }
  const uint32_t capacity = trace.capacity * 2;
  auto sites = std::make_unique<uint32_t[]>(capacity);
  auto addresses = std::make_unique<uint64_t[]>(capacity);
  std::copy_n(trace.sites.get(), trace.capacity, sites.get());
  std::copy_n(trace.addresses.get(), trace.capacity, addresses.get());
  trace.sites = std::move(sites);
  trace.addresses = std::move(addresses);
  trace.capacity = capacity;
  thread->sites = trace.sites.get();
  thread->addresses = trace.addresses.get();
  thread->trace_capacity = capacity;
  return true;
}

void Engine::NoteLook(const Where& where) {
  if (++looks_ == kMaxLooks) ReportSpin(*current, where, looks_);
}

void Engine::Abort() {
  // The finding that stops the launch is the last so far.
  if (!aborted_) faults_from_ = result_.diagnostics.empty() ? 0 : result_.diagnostics.size() - 1;
  aborted_ = true;
  for (const std::unique_ptr<EngineBlock>& block : slots_) {
    for (Thread& thread : block->threads) {
      thread.mode = Mode::kAborted;
      thread.memory = &aborted_;  // nobody's
    }
  }
}

void Engine::Escape() {
#if defined(__EMSCRIPTEN__)
  __builtin_trap();
#else
  std::longjmp(escape_, 1);
#endif
}

void Engine::Fail(absl::Status status) {
  if (result_.status.ok()) result_.status = std::move(status);
  Abort();
}

}  // namespace assay::simt::internal
