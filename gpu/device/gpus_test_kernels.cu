// SPDX-License-Identifier: Apache-2.0
// A kernel whose answer shows that both the arithmetic and the architecture list are right.

#include <cuda_runtime.h>

namespace assay {

__global__ void MultiplyThenAdd(const double* x, double* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = x[i] * x[i] - 1.0;
}

// y[i] = x[i]^2 - 1 for i < n on the first GPU; x and y are host arrays. Returns CUDA's error text,
// or null where all went well.
const char* RunMultiplyThenAdd(const double* x, double* y, int n) {
  double* device_x = nullptr;
  double* device_y = nullptr;
  const size_t bytes = static_cast<size_t>(n) * sizeof(double);
  cudaError_t status = cudaMalloc(&device_x, bytes);
  if (status == cudaSuccess) status = cudaMalloc(&device_y, bytes);
  if (status == cudaSuccess) status = cudaMemcpy(device_x, x, bytes, cudaMemcpyHostToDevice);
  if (status == cudaSuccess) {
    MultiplyThenAdd<<<(n + 127) / 128, 128>>>(device_x, device_y, n);
    status = cudaGetLastError();
  }
  if (status == cudaSuccess) status = cudaMemcpy(y, device_y, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_x);
  cudaFree(device_y);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace assay
