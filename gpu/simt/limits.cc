// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/limits.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace assay::simt {
namespace {

// CUDA's errors with the texts of cudaGetErrorString.
constexpr char kConfiguration[] = "cudaErrorInvalidConfiguration: invalid configuration argument";
constexpr char kValue[] = "cudaErrorInvalidValue: invalid argument";
constexpr char kResources[] =
    "cudaErrorLaunchOutOfResources: too many resources requested for launch";
constexpr char kCooperative[] =
    "cudaErrorCooperativeLaunchTooLarge: too many blocks in cooperative launch";

template <class... Words>
absl::Status Refuse(const char* error, const Words&... words) {
  return absl::InvalidArgumentError(absl::StrCat(error, ": ", words...));
}

absl::Status CheckExtents(const LaunchShape& shape) {
  const struct {
    const char* name;
    uint32_t given;
    uint32_t most;
  } extents[] = {
      {"block.x", shape.block.x, 1024}, {"block.y", shape.block.y, 1024},
      {"block.z", shape.block.z, 64},   {"grid.x", shape.grid.x, 0x7FFFFFFF},
      {"grid.y", shape.grid.y, 65535},  {"grid.z", shape.grid.z, 65535},
  };
  for (const auto& extent : extents) {
    if (extent.given == 0) return Refuse(kConfiguration, extent.name, " is 0, at least 1");
    if (extent.given > extent.most) {
      return Refuse(kConfiguration, extent.name, " is ", extent.given, ", at most ", extent.most);
    }
  }
  const uint64_t threads = shape.block.Count();
  if (threads > Architecture::kMaxThreadsPerBlock) {
    return Refuse(kConfiguration, "a block of ", shape.block.x, " x ", shape.block.y, " x ",
                  shape.block.z, " has ", threads, " threads, at most ",
                  Architecture::kMaxThreadsPerBlock);
  }
  return absl::OkStatus();
}

absl::Status CheckShared(const Architecture& architecture, const KernelResources& kernel,
                         const LaunchShape& shape) {
  if (kernel.static_shared > Architecture::kSharedPerBlock) {
    return Refuse("ptxas error: uses too much shared data", kernel.static_shared,
                  " bytes of __shared__ variables, at most ", Architecture::kSharedPerBlock);
  }
  const int64_t opt_in = architecture.shared_opt_in - kernel.static_shared;
  if (kernel.max_dynamic_shared > opt_in) {
    return Refuse(kValue, "cudaFuncAttributeMaxDynamicSharedMemorySize is ",
                  kernel.max_dynamic_shared, ", at most ", opt_in, " (", architecture.shared_opt_in,
                  " a block, ", kernel.static_shared, " of it static)");
  }
  if (shape.dynamic_shared < 0) {
    return Refuse(kValue, "dynamic shared memory is ", shape.dynamic_shared, " bytes, at least 0");
  }
  const bool asked = kernel.max_dynamic_shared >= 0;
  const int64_t most =
      asked ? kernel.max_dynamic_shared : Architecture::kSharedPerBlock - kernel.static_shared;
  if (shape.dynamic_shared <= most) return absl::OkStatus();
  const char* hint = shape.dynamic_shared <= opt_in
                         ? "; cudaFuncAttributeMaxDynamicSharedMemorySize would allow it"
                         : "";
  return Refuse(kValue, "dynamic shared memory is ", shape.dynamic_shared, " bytes beside ",
                kernel.static_shared, " static ones, at most ", most, hint);
}

}  // namespace

absl::Status CheckLaunch(const Architecture& architecture, int sm_count,
                         const KernelResources& kernel, const LaunchShape& shape) {
  absl::Status status = CheckExtents(shape);
  if (!status.ok()) return status;
  status = CheckShared(architecture, kernel, shape);
  if (!status.ok()) return status;

  const int threads = static_cast<int>(shape.block.Count());
  if (threads > kernel.max_threads) {
    return Refuse(kValue, "a block has ", threads, " threads, at most ", kernel.max_threads,
                  " by the kernel's __launch_bounds__");
  }
  const absl::StatusOr<Occupancy> occupancy =
      ComputeOccupancy(architecture, kernel, threads, shape.dynamic_shared);
  if (!occupancy.ok()) return occupancy.status();
  if (occupancy->by_registers == 0) {
    return Refuse(kResources, threads, " threads with ", kernel.registers, " registers take ",
                  occupancy->registers_per_block, ", at most ", Architecture::kRegistersPerBlock,
                  " a block and ", Architecture::kMaxRegistersPerThread, " a thread");
  }
  if (occupancy->blocks == 0) {
    return Refuse(kResources, "no block fits on an SM, limited by ",
                  LimiterName(occupancy->limiter));
  }
  const uint64_t resident =
      static_cast<uint64_t>(occupancy->blocks) * static_cast<uint64_t>(sm_count < 0 ? 0 : sm_count);
  if (shape.cooperative && shape.grid.Count() > resident) {
    return Refuse(kCooperative, shape.grid.Count(), " blocks, at most ", resident, " (",
                  occupancy->blocks, " on each of ", sm_count, " SMs, limited by ",
                  LimiterName(occupancy->limiter), ")");
  }
  return absl::OkStatus();
}

}  // namespace assay::simt
