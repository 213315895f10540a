// SPDX-License-Identifier: Apache-2.0

#include <cuda_runtime.h>

#include "gpu/device/gpus.h"

namespace assay {
namespace {

int Attribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  // An attribute that a driver does not know stays 0; the other fields are still worth having.
  if (cudaDeviceGetAttribute(&value, attribute, device) != cudaSuccess) cudaGetLastError();
  return value;
}

}  // namespace

std::vector<GpuDescription> ListGpus(std::string* error) {
  std::vector<GpuDescription> gpus;
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    if (error != nullptr) *error = cudaGetErrorString(status);
    cudaGetLastError();
    return gpus;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties;
    const cudaError_t described = cudaGetDeviceProperties(&properties, i);
    if (described != cudaSuccess) {
      if (error != nullptr) *error = cudaGetErrorString(described);
      cudaGetLastError();
      continue;
    }
    GpuDescription gpu;
    gpu.name = properties.name;
    gpu.compute_major = properties.major;
    gpu.compute_minor = properties.minor;
    gpu.multiprocessors = properties.multiProcessorCount;
    gpu.global_memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
    gpu.l2_cache_bytes = properties.l2CacheSize;
    gpu.shared_memory_per_multiprocessor_bytes =
        static_cast<int64_t>(properties.sharedMemPerMultiprocessor);
    gpu.registers_per_multiprocessor = properties.regsPerMultiprocessor;
    gpu.memory_bus_bits = properties.memoryBusWidth;
    // CUDA 13 took the clocks out of cudaDeviceProp; the attributes are in every version.
    gpu.clock_khz = Attribute(cudaDevAttrClockRate, i);
    gpu.memory_clock_khz = Attribute(cudaDevAttrMemoryClockRate, i);
    gpu.ecc = properties.ECCEnabled != 0;
    if (cudaDriverGetVersion(&gpu.driver_version) != cudaSuccess) cudaGetLastError();
    if (cudaRuntimeGetVersion(&gpu.runtime_version) != cudaSuccess) cudaGetLastError();
    gpus.push_back(gpu);
  }
  return gpus;
}

bool HaveGpu() { return !ListGpus().empty(); }

}  // namespace assay
