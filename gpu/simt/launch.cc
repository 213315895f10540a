// SPDX-License-Identifier: Apache-2.0

#include "gpu/simt/launch.h"

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpu/simt/internal/engine.h"
#include "gpu/simt/internal/memory_state.h"

namespace assay::simt::internal {
namespace {

absl::Status CheckArguments(DeviceMemory& memory, const LaunchConfig& config,
                            std::span<const Allocation* const> pointers) {
  if (current->mode != Mode::kOutside) {
    return absl::FailedPreconditionError("a kernel cannot launch another in the simulator");
  }
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] == nullptr || pointers[i] == &null_allocation) continue;
    if (!memory.state().Owns(pointers[i])) {
      // The first of the list stands for no argument at all.
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", i, " points into another device memory"));
    }
  }
  if (config.resident_blocks < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("resident_blocks is at least 1; given: ", config.resident_blocks));
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

// The bytes of all live buffers, and whether the host had filled them.
struct Snapshot {
  std::vector<std::vector<std::byte>> bytes;

  explicit Snapshot(const MemoryState& state) {
    for (const std::unique_ptr<Buffer>& buffer : state.buffers) {
      const Allocation& allocation = buffer->allocation;
      bytes.emplace_back(allocation.data, allocation.data + allocation.bytes);
    }
  }

  void Restore(MemoryState& state) const {
    for (size_t i = 0; i < bytes.size(); ++i) {
      Buffer& buffer = *state.buffers[i];
      if (!bytes[i].empty()) std::memcpy(buffer.allocation.data, bytes[i].data(), bytes[i].size());
    }
  }
};

}  // namespace

LaunchResult LaunchBody(DeviceMemory& memory, const LaunchConfig& config,
                        absl::FunctionRef<void()> kernel,
                        std::span<const Allocation* const> pointers) {
  LaunchResult result;
  result.status = CheckArguments(memory, config, pointers);
  if (!result.status.ok()) return result;
  return memory.engine().Run(memory.state(), config, kernel);
}

LaunchResult LaunchSchedules(DeviceMemory& memory, const LaunchConfig& config, int random_runs,
                             absl::FunctionRef<void()> kernel,
                             std::span<const Allocation* const> pointers) {
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
    for (size_t i = 0; i < forward.bytes.size() && result.status.ok(); ++i) {
      if (forward.bytes[i] == after.bytes[i]) continue;
      const Details& details = state.buffers[i]->details;
      const auto [a, b] =
          std::mismatch(forward.bytes[i].begin(), forward.bytes[i].end(), after.bytes[i].begin());
      Diagnostic difference;
      difference.finding = Finding::kScheduleDependence;
      difference.variable = details.name;
      difference.element = (a - forward.bytes[i].begin()) / details.element_bytes;
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
