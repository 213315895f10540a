// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp do together: synchronise, shuffle, vote, match, multiply matrices.
//
// An exchange happens when all lanes of its mask that have not finished have come for it; only then
// are values moved, so that no lane sees another's before it was offered.

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "gpu/simt/internal/engine.h"

namespace assay::simt::internal {
namespace {

constexpr uint64_t kPoison = kGarbageByte * (~uint64_t{0} / 0xFF);

std::string_view NameOf(const WarpOperation& operation) {
  switch (operation.exchange) {
    case Exchange::kSync:
      return "__syncwarp";
    case Exchange::kShuffle:
      return "shuffle";
    case Exchange::kBallot:
      return "vote";
    case Exchange::kMatch:
      return "match";
    case Exchange::kBarrierVote:
      return "__syncthreads";
    case Exchange::kCollective:
      return "matrix operation";
  }
  return "";
}

bool SameExchange(const WarpOperation& a, const WarpOperation& b) {
  return a.exchange == b.exchange && a.mode == b.mode && a.run == b.run && a.bytes == b.bytes;
}

}  // namespace

bool Engine::CheckMask(const Warp& warp, int lane) {
  const Thread& thread = warp.threads[lane];
  const WarpOperation& operation = *thread.operation;
  const char* problem = nullptr;
  if ((operation.mask >> lane & 1) == 0) {
    problem = "the mask does not name the lane that calls";
  } else if (operation.exchange == Exchange::kShuffle &&
             (operation.width < 1 || operation.width > kWarpSize ||
              (operation.width & (operation.width - 1)) != 0)) {
    problem = "the width of a shuffle is a power of two from 1 to 32";
  } else if (operation.exchange == Exchange::kCollective &&
             (operation.mask != kFullMask || warp.live != kFullMask)) {
    problem = "a matrix operation needs all 32 lanes of the warp";
  }
  if (problem == nullptr) return true;
  Diagnostic* diagnostic =
      Add(Finding::kBadMask, Severity::kError, SiteOf(thread.where, Action::kFence, 0));
  if (diagnostic != nullptr) {
    diagnostic->message = absl::StrFormat("%s: lane %d, mask 0x%08x, width %d", problem, lane,
                                          operation.mask, static_cast<int>(operation.width));
    diagnostic->sites = {SiteOfThread(thread, thread.where, std::string(NameOf(operation)))};
  }
  Abort();
  return false;
}

bool Engine::ResolveExchanges(Warp& warp) {
  bool any = false;
  uint32_t rest = 0;
  for (uint32_t live = warp.live; live != 0; live &= live - 1) {
    const int lane = __builtin_ctz(live);
    if (warp.threads[lane].state == State::kWarpOperation) rest |= 1u << lane;
  }
  while (rest != 0) {
    const int leader = __builtin_ctz(rest);
    const WarpOperation& operation = *warp.threads[leader].operation;
    if (!CheckMask(warp, leader)) return false;
    const uint32_t lanes = operation.mask & warp.live;
    uint32_t here = 0;
    for (uint32_t each = lanes & rest; each != 0; each &= each - 1) {
      const int lane = __builtin_ctz(each);
      const WarpOperation& other = *warp.threads[lane].operation;
      if (other.mask != operation.mask) continue;
      if (!SameExchange(operation, other)) {
        Diagnostic* diagnostic =
            Add(Finding::kMismatchedExchange, Severity::kError,
                SiteOf(operation.where, Action::kFence, 0), SiteOf(other.where, Action::kFence, 0));
        if (diagnostic != nullptr) {
          diagnostic->message = "lanes of one mask wait for different operations";
          diagnostic->sites = {
              SiteOfThread(warp.threads[leader], operation.where, std::string(NameOf(operation))),
              SiteOfThread(warp.threads[lane], other.where, std::string(NameOf(other)))};
        }
        Abort();
        return false;
      }
      here |= 1u << lane;
    }
    rest &= ~here;
    if (here != lanes) continue;  // not all have come
    Perform(warp, lanes);
    for (uint32_t each = lanes; each != 0; each &= each - 1) {
      warp.threads[__builtin_ctz(each)].state = State::kReady;
    }
    any = true;
    ++events_;
  }
  return any;
}

void Engine::Perform(Warp& warp, uint32_t lanes) {
  const WarpOperation& operation = *warp.threads[__builtin_ctz(lanes)].operation;
  switch (operation.exchange) {
    case Exchange::kSync:
      ++result_.counters.warp_barriers;
      if (config_->trace) SyncLanes(warp, lanes);
      return;
    case Exchange::kShuffle:
      PerformShuffle(warp, lanes);
      break;
    case Exchange::kBallot:
      PerformBallot(warp, lanes);
      break;
    case Exchange::kMatch:
      PerformMatch(warp, lanes);
      break;
    case Exchange::kCollective: {
      WarpOperation* operations[kWarpSize];
      for (int lane = 0; lane < kWarpSize; ++lane) operations[lane] = warp.threads[lane].operation;
      operation.run(operations);
      ++result_.counters.matrix_operations;
      return;
    }
    case Exchange::kBarrierVote:
      return;
  }
  ++result_.counters.warp_exchanges;
}

// PTX ISA, shfl.sync: a lane reads itself where its source leaves the segment of `width` lanes.
void Engine::PerformShuffle(Warp& warp, uint32_t lanes) {
  for (uint32_t each = lanes; each != 0; each &= each - 1) {
    const int lane = __builtin_ctz(each);
    WarpOperation& operation = *warp.threads[lane].operation;
    if (!CheckMask(warp, lane)) return;
    const int first = lane & ~(operation.width - 1);
    const int last = first + operation.width - 1;
    const int64_t argument = operation.argument;
    int64_t source = lane;
    switch (operation.mode) {
      case ShuffleMode::kIndex:
        source = first | (argument & (operation.width - 1));
        break;
      case ShuffleMode::kUp:
        source = lane - argument < first ? lane : lane - argument;
        break;
      case ShuffleMode::kDown:
        source = lane + argument > last ? lane : lane + argument;
        break;
      case ShuffleMode::kXor:
        source = (lane ^ argument) > last || (lane ^ argument) < 0 ? lane : lane ^ argument;
        break;
    }
    if (source >= 0 && source < kWarpSize && (lanes >> source & 1) != 0) {
      const WarpOperation& from = *warp.threads[source].operation;
      std::copy(from.value, from.value + 2, operation.result);
      continue;
    }
    std::fill(operation.result, operation.result + 2, kPoison);
    Diagnostic* diagnostic = Add(Finding::kShuffleSource, Severity::kWarning,
                                 SiteOf(operation.where, Action::kFence, 0));
    if (diagnostic != nullptr) {
      diagnostic->message = absl::StrFormat(
          "lane %d reads lane %d, which does not take part (mask 0x%08x): the value is undefined",
          lane, static_cast<int>(source), operation.mask);
      diagnostic->sites = {SiteOfThread(warp.threads[lane], operation.where, "shuffle")};
    }
  }
}

void Engine::PerformBallot(Warp& warp, uint32_t lanes) {
  uint32_t ballot = 0;
  for (uint32_t each = lanes; each != 0; each &= each - 1) {
    const int lane = __builtin_ctz(each);
    if (warp.threads[lane].operation->argument != 0) ballot |= 1u << lane;
  }
  for (uint32_t each = lanes; each != 0; each &= each - 1) {
    WarpOperation& operation = *warp.threads[__builtin_ctz(each)].operation;
    const uint32_t result = operation.width == 0   ? ballot
                            : operation.width == 1 ? ballot != 0
                                                   : ballot == lanes;
    operation.result[0] = 0;
    std::memcpy(operation.result, &result, sizeof(result));
  }
}

void Engine::PerformMatch(Warp& warp, uint32_t lanes) {
  for (uint32_t each = lanes; each != 0; each &= each - 1) {
    WarpOperation& operation = *warp.threads[__builtin_ctz(each)].operation;
    uint32_t equal = 0;
    for (uint32_t other = lanes; other != 0; other &= other - 1) {
      const int lane = __builtin_ctz(other);
      if (std::equal(operation.value, operation.value + 2, warp.threads[lane].operation->value)) {
        equal |= 1u << lane;
      }
    }
    std::memcpy(operation.result, &equal, sizeof(equal));
  }
}

void Engine::SyncLanes(Warp& warp, uint32_t lanes) {
  WarpOrder& order = warp.order;
  const uint32_t segment = tracer_.shadow().NewSegment(order.block, order.warp);
  // A lane that has finished since the last floor takes no part, and is not put in order.
  if (lanes == warp.live && lanes == order.live_at_floor) {
    order.floor = segment;
    order.known.reset();
    std::fill(order.segment, order.segment + kWarpSize, segment);
  } else {
    if (order.known == nullptr) {
      order.known = std::make_unique<uint32_t[]>(kWarpSize * kWarpSize);
    }
    // All lanes of the mask know what any of them knew, and all that they did themselves.
    uint32_t joined[kWarpSize] = {};
    for (uint32_t each = lanes; each != 0; each &= each - 1) {
      const int lane = __builtin_ctz(each);
      for (int other = 0; other < kWarpSize; ++other) {
        joined[other] = std::max(joined[other], order.known[lane * kWarpSize + other]);
      }
      joined[lane] = std::max(joined[lane], order.segment[lane] + 1);
    }
    for (uint32_t each = lanes; each != 0; each &= each - 1) {
      const int lane = __builtin_ctz(each);
      std::copy(joined, joined + kWarpSize, &order.known[lane * kWarpSize]);
      order.segment[lane] = segment;
    }
  }
  if (warp.block->acquired != nullptr) {
    Acquired& acquired = *warp.block->acquired;
    // Given to the whole warp, also where some lanes stay away: rather a race missed.
    Knowledge& shared = acquired.warps[static_cast<size_t>(warp.index)];
    for (uint32_t each = lanes; each != 0; each &= each - 1) {
      const int lane = __builtin_ctz(each);
      shared.Join(acquired.threads[static_cast<size_t>(warp.index * kWarpSize + lane)]);
    }
    for (std::vector<Acquired::OfThread>& scope : acquired.scopes) {
      Acquired::OfThread common;
      for (uint32_t each = lanes; each != 0; each &= each - 1) {
        const Acquired::OfThread& own =
            scope[static_cast<size_t>(warp.index * kWarpSize + __builtin_ctz(each))];
        common.pending.Join(own.pending);
        common.fenced.Join(own.fenced);
      }
      for (uint32_t each = lanes; each != 0; each &= each - 1) {
        scope[static_cast<size_t>(warp.index * kWarpSize + __builtin_ctz(each))] = common;
      }
    }
  }
}

}  // namespace assay::simt::internal
