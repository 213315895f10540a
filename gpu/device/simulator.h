// SPDX-License-Identifier: Apache-2.0
//
// What the simulated device can do beyond gpu/device/device.h: which machine it is, how it orders
// work, and what its kernels did. Host code that shall also run on a GPU leaves this to its tests.
//
//   absl::StatusOr<Device> device = OpenSimulator({.schedule = simt::Schedule::kReverse});
//   OnLaunch(*device, [&](const simt::LaunchResult& result) { counters = result.counters; });
#ifndef ASSAY_GPU_DEVICE_SIMULATOR_H_
#define ASSAY_GPU_DEVICE_SIMULATOR_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu/device/device.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/memory.h"
#include "gpu/simt/report.h"

#if defined(__CUDACC__)
#error "gpu/device/simulator.h is about the simulator; nvcc compiles for a GPU"
#endif

namespace assay::device {
inline namespace on_simulator {

// The Tesla T4 unless stated otherwise: sm_75, 40 multiprocessors, 16 GB (NVIDIA, T4 data sheet).
struct SimulatorOptions {
  int compute_capability = 75;  // one that gpu/simt/occupancy.h knows
  int multiprocessors = 40;
  uint64_t memory_bytes = uint64_t{16} << 30;

  // Of every launch, as in simt::LaunchConfig.
  simt::Schedule schedule = simt::Schedule::kForward;
  uint64_t seed = 0;
  bool trace = true;
  // >= 0: every launch runs under all schedules, so many random ones among them, and must give the
  // same bits under each.
  int random_runs = -1;

  // true: a stream runs when somebody waits for it and not before, so that a missing event or a
  // missing wait shows; false: work runs when it is given, which is easier to follow in a debugger.
  // Both are orders that a GPU may take.
  bool late = true;
};

// Fails: NotFound for a compute capability that is not known, InvalidArgument for no or negative
// multiprocessors.
absl::StatusOr<Device> OpenSimulator(const SimulatorOptions& options);

// `observer` sees the result of each launch from now on, when it has run; empty: nobody does.
void OnLaunch(Device& device, std::function<void(const simt::LaunchResult&)> observer);

// The simulator's own memory of the device, for what simt::Launch can do and Launch cannot. Work
// given to streams may still be waiting. The device must not be empty.
simt::DeviceMemory& SimulatedMemory(Device& device);

// A finding for each device buffer that is still alive, after all work given has run.
std::vector<simt::Diagnostic> Leaks(Device& device);

}  // namespace on_simulator
}  // namespace assay::device

#endif  // ASSAY_GPU_DEVICE_SIMULATOR_H_
