// SPDX-License-Identifier: Apache-2.0
// Which GPUs this machine has, in the words that a measurement's provenance needs.

#ifndef ASSAY_GPU_DEVICE_GPUS_H_
#define ASSAY_GPU_DEVICE_GPUS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

// One GPU as the CUDA runtime describes it.
struct GpuDescription {
  std::string name;       // marketing name, "Tesla T4"
  int compute_major = 0;  // 7 and 5 for sm_75
  int compute_minor = 0;
  int multiprocessors = 0;  // SMs
  int64_t global_memory_bytes = 0;
  int64_t l2_cache_bytes = 0;
  int64_t shared_memory_per_multiprocessor_bytes = 0;
  int registers_per_multiprocessor = 0;  // 32-bit registers
  int memory_bus_bits = 0;
  int clock_khz = 0;  // highest SM clock; the power limit may hold it lower
  int memory_clock_khz = 0;
  bool ecc = false;
  int driver_version = 0;  // 1000 * major + 10 * minor, as CUDA encodes it
  int runtime_version = 0;
};

// The GPUs that programs can use, in CUDA's order; empty where there is no driver or no device.
// `error` (may be null) receives CUDA's own words when asking failed. Cost: microseconds once the
// driver is loaded; the first call loads it.
std::vector<GpuDescription> ListGpus(std::string* error = nullptr);

// True if at least one GPU can be used. Tests that need one skip themselves where this is false.
bool HaveGpu();

}  // namespace assay

#endif  // ASSAY_GPU_DEVICE_GPUS_H_
