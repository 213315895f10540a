// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/launch.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpu/simt/internal/engine.h"
#include "gpu/simt/internal/memory_state.h"

namespace assay::simt::internal {
namespace {

absl::Status CheckArguments(DeviceMemory& memory, const LaunchConfig& config,
                            std::span<const uint64_t> pointers) {
  if (current->mode != Mode::kOutside) {
    return absl::FailedPreconditionError("a kernel cannot launch another in the simulator");
  }
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] != 0 && memory.state().Find(pointers[i]) == nullptr) {
      // The first of the list stands for no argument at all.
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", i, " points into another device memory"));
    }
  }
  for (size_t i = 0; i < config.sample.size(); ++i) {
    if (config.sample[i] >= config.grid.Count() ||
        (i > 0 && config.sample[i] <= config.sample[i - 1])) {
      return absl::InvalidArgumentError(
          absl::StrCat("sample[", i, "] = ", config.sample[i],
                       "; expected ascending numbers of blocks below ", config.grid.Count()));
    }
  }
  return absl::OkStatus();
}

// The bytes of all live buffers, and what of them has been written.
struct Snapshot {
  struct Contents {
    std::vector<std::byte> bytes;
    std::vector<bool> initialised;  // by cell; empty where there were no cells
    int granule_log2 = 0;
  };
  std::vector<Contents> buffers;

  explicit Snapshot(const MemoryState& state) {
    for (const std::unique_ptr<Buffer>& buffer : state.buffers) {
      const Allocation& allocation = EntryOf(buffer->number);
      Contents& contents = buffers.emplace_back();
      contents.bytes.assign(allocation.data, allocation.data + allocation.bytes);
      const Details& details = buffer->details;
      contents.granule_log2 = details.granule_log2;
      if (details.initialised || details.cells.get() == nullptr) continue;
      for (uint64_t i = 0; i < details.CellCount(); ++i) {
        contents.initialised.push_back((details.cells.get()[i].write.flags & kInitialised) != 0);
      }
    }
  }

  void Restore(MemoryState& state) const {
    for (size_t i = 0; i < buffers.size(); ++i) {
      const Contents& contents = buffers[i];
      Buffer& buffer = *state.buffers[i];
      if (contents.bytes.empty()) continue;
      std::memcpy(EntryOf(buffer.number).data, contents.bytes.data(), contents.bytes.size());
      Details& details = buffer.details;
      if (details.initialised) continue;
      details.cells = Cells();
      details.granule_log2 = contents.granule_log2;  // may have become finer since
      if (contents.initialised.empty()) continue;
      Cell* cells = details.EnsureCells();
      if (cells == nullptr) continue;
      for (uint64_t i = 0; i < details.CellCount(); ++i) {
        if (contents.initialised[i]) cells[i].write.flags = kInitialised;
      }
    }
  }
};

}  // namespace

LaunchResult LaunchBody(DeviceMemory& memory, const LaunchConfig& config,
                        absl::FunctionRef<void()> kernel, std::span<const uint64_t> pointers) {
  LaunchResult result;
  result.status = CheckArguments(memory, config, pointers);
  if (!result.status.ok()) return result;
  const absl::StatusOr<Architecture> architecture = FindArchitecture(config.compute_capability);
  result.status = architecture.status();
  if (!result.status.ok()) return result;
  if (config.multiprocessors < 1) {
    result.status = absl::InvalidArgumentError(
        absl::StrCat("a GPU has at least 1 multiprocessor; given: ", config.multiprocessors));
    return result;
  }
  const LaunchShape shape{config.grid, config.block, config.dynamic_shared_bytes,
                          config.cooperative};
  result.status = CheckLaunch(*architecture, config.multiprocessors, config.resources, shape);
  if (!result.status.ok()) return result;
  const absl::StatusOr<Occupancy> occupancy =
      ComputeOccupancy(*architecture, config.resources, static_cast<int>(config.block.Count()),
                       config.dynamic_shared_bytes);
  result.status = occupancy.status();
  if (!result.status.ok()) return result;
  const uint64_t resident = static_cast<uint64_t>(std::max(1, occupancy->blocks)) *
                            static_cast<uint64_t>(config.multiprocessors);
  const int64_t max_shared = config.resources.max_dynamic_shared < 0 ? Architecture::kSharedPerBlock
                                                                     : architecture->shared_opt_in;
  return memory.engine().Run(memory.state(), config, resident, max_shared, kernel);
}

LaunchResult LaunchSchedules(DeviceMemory& memory, const LaunchConfig& config, int random_runs,
                             absl::FunctionRef<void()> kernel, std::span<const uint64_t> pointers) {
  MemoryState& state = memory.state();
  const Snapshot before(state);
  LaunchConfig scheduled = config;
  scheduled.schedule = Schedule::kForward;
  LaunchResult result = LaunchBody(memory, scheduled, kernel, pointers);
  if (!result.status.ok() && result.diagnostics.empty()) return result;
  const Snapshot forward(state);
  for (int run = 0; run <= random_runs; ++run) {
    before.Restore(state);
    scheduled.schedule = run == 0 ? Schedule::kReverse : Schedule::kRandom;
    scheduled.seed = config.seed + static_cast<uint64_t>(run);
    LaunchResult other = LaunchBody(memory, scheduled, kernel, pointers);
    for (Diagnostic& found : other.diagnostics) {
      const bool known = std::any_of(
          result.diagnostics.begin(), result.diagnostics.end(), [&](const Diagnostic& diagnostic) {
            return diagnostic.finding == found.finding && !diagnostic.sites.empty() &&
                   !found.sites.empty() && diagnostic.sites[0].line == found.sites[0].line;
          });
      if (!known) result.diagnostics.push_back(std::move(found));
    }
    if (result.status.ok()) result.status = other.status;
    if (!result.status.ok()) break;
    const Snapshot after(state);
    for (size_t i = 0; i < forward.buffers.size() && result.status.ok(); ++i) {
      const std::vector<std::byte>& expected = forward.buffers[i].bytes;
      const std::vector<std::byte>& got = after.buffers[i].bytes;
      if (expected == got) continue;
      const Details& details = state.buffers[i]->details;
      const auto [a, b] = std::mismatch(expected.begin(), expected.end(), got.begin());
      Diagnostic difference;
      difference.finding = Finding::kScheduleDependence;
      difference.variable = details.name;
      difference.element = (a - expected.begin()) / details.element_bytes;
      difference.message = absl::StrCat(
          "'", details.name, "', element ", difference.element, ", is not the same after ",
          run == 0 ? "running in reverse" : "running in random order", " as after running forward");
      result.status = absl::FailedPreconditionError(difference.message);
      result.diagnostics.push_back(std::move(difference));
    }
  }
  forward.Restore(state);
  return result;
}

}  // namespace assay::simt::internal
