// SPDX-License-Identifier: Apache-2.0
// One kernel that is small, and one that holds more values than a thread of 1024 has registers.

namespace {

__global__ void Small(float* y, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += y[i] * y[n - i];
  y[0] = sum;
}

__global__ void __launch_bounds__(1024) Spills(const float* x, float* y) {
  constexpr int kValues = 96;
  float value[kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) value[i] = x[threadIdx.x + i * blockDim.x];
  // Nothing may be loaded again after this, so all of them are alive here.
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    for (int j = 0; j < kValues; j += 7) sum += value[i] * value[i * j % kValues] * x[j];
  }
  y[threadIdx.x] = sum;
}

}  // namespace
