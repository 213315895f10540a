// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA side keeps of a device and of what is made on it, and its errors as statuses.
#ifndef ASSAY_GPU_DEVICE_INTERNAL_CUDA_STATE_H_
#define ASSAY_GPU_DEVICE_INTERNAL_CUDA_STATE_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gpu/device/device.h"
#include "gpu/device/gpus.h"
#include "gpu/device/internal/common.h"
#include "gpu/device/internal/side.h"

namespace assay::device {
inline namespace on_cuda {
namespace internal {

using either_side::EmptyObject;
using either_side::ErrorKeeper;
using either_side::LiveCounter;

inline absl::StatusCode CodeOf(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorCooperativeLaunchTooLarge:
      return absl::StatusCode::kInvalidArgument;
    case cudaErrorMemoryAllocation:
    case cudaErrorLaunchOutOfResources:
      return absl::StatusCode::kResourceExhausted;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
      return absl::StatusCode::kNotFound;
    case cudaErrorNotSupported:
    case cudaErrorNoKernelImageForDevice:
      return absl::StatusCode::kUnimplemented;
    case cudaErrorLaunchTimeout:
      return absl::StatusCode::kDeadlineExceeded;
    case cudaErrorInvalidResourceHandle:
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureUnjoined:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

// "cudaMalloc of 8 bytes: cudaErrorMemoryAllocation: out of memory". Takes the error out of the
// runtime, so that nobody else finds it there.
template <class... Call>
absl::Status StatusOf(cudaError_t error, const Call&... call) {
  if (error == cudaSuccess) return absl::OkStatus();
  cudaGetLastError();
  return absl::Status(CodeOf(error), absl::StrCat(call..., ": ", cudaGetErrorName(error), ": ",
                                                  cudaGetErrorString(error)));
}

struct Context {
  int index = 0;
  GpuDescription description;
  DeviceLimits limits;
  ErrorKeeper errors;
  LiveCounter live;

  // Makes this device the calling thread's. CUDA keeps one for each thread; it costs less than 0.1
  // us where it is the right one already.
  absl::Status Use() const { return StatusOf(cudaSetDevice(index), "cudaSetDevice"); }

  // The result of a call that waits: its own error, or else the one kept.
  absl::Status AfterWaiting(absl::Status status) const {
    return status.ok() ? errors.Peek() : status;
  }
};

struct MemoryState {
  std::shared_ptr<Context> context;
  void* address = nullptr;
  size_t bytes = 0;

  ~MemoryState() {
    if (address != nullptr) {
      context->errors.Keep(context->Use());
      context->errors.Keep(StatusOf(cudaFree(address), "cudaFree of ", bytes, " bytes"));
    }
    context->live.Remove(static_cast<int64_t>(bytes));
  }
};

struct PinnedState {
  std::shared_ptr<Context> context;
  void* address = nullptr;
  size_t bytes = 0;

  ~PinnedState() {
    if (address != nullptr) {
      context->errors.Keep(context->Use());
      context->errors.Keep(StatusOf(cudaFreeHost(address), "cudaFreeHost of ", bytes, " bytes"));
    }
    context->live.Remove(static_cast<int64_t>(bytes));
  }
};

struct StreamState {
  std::shared_ptr<Context> context;
  cudaStream_t stream = nullptr;

  ~StreamState() {
    context->errors.Keep(context->Use());
    context->errors.Keep(StatusOf(cudaStreamDestroy(stream), "cudaStreamDestroy"));
  }
};

struct EventState {
  std::shared_ptr<Context> context;
  cudaEvent_t event = nullptr;
  bool recorded = false;

  ~EventState() {
    context->errors.Keep(context->Use());
    context->errors.Keep(StatusOf(cudaEventDestroy(event), "cudaEventDestroy"));
  }
};

struct GraphState {
  std::shared_ptr<Context> context;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  size_t nodes = 0;

  ~GraphState() {
    context->errors.Keep(context->Use());
    if (executable != nullptr) {
      context->errors.Keep(StatusOf(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy"));
    }
    if (graph != nullptr) {
      context->errors.Keep(StatusOf(cudaGraphDestroy(graph), "cudaGraphDestroy"));
    }
  }
};

// The device of an object made current, or why that cannot be.
template <class State>
absl::Status Use(const std::shared_ptr<State>& state, absl::string_view call) {
  if (state == nullptr) return EmptyObject(call);
  return state->context->Use();
}

}  // namespace internal
}  // namespace on_cuda
}  // namespace assay::device

#endif  // ASSAY_GPU_DEVICE_INTERNAL_CUDA_STATE_H_
