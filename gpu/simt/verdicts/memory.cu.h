// SPDX-License-Identifier: Apache-2.0
// Memory that is not there or holds nothing yet: each kernel with its bug and without.
#ifndef ASSAY_GPU_SIMT_VERDICTS_MEMORY_CU_H_
#define ASSAY_GPU_SIMT_VERDICTS_MEMORY_CU_H_

#include "gpu/simt/verdicts/bug.h"

namespace assay::simt::verdicts {

// ---- Never written.

template <bool kBug>
__global__ void SharedHalfWritten(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 64);
  const int t = threadIdx.x;
  if (!kBug || t % 2 == 0) tile[t] = in[t];
  __syncthreads();
  BUG(out[t] = tile[63 - t]);
}

// A tree sum over a block of 96 threads reaches for 128 values.
template <bool kBug>
__global__ void SumOfAnOddSize(gptr<const int> in, gptr<int> out, int) {
  SHARED(unsigned int, sum, 128);
  const int t = threadIdx.x;
  sum[t] = in[t];
  if (!kBug && t < 32) sum[96 + t] = 0;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (t < s) BUG(sum[t] += sum[t + s]);
    __syncthreads();
  }
  if (t == 0) out[0] = static_cast<int>(sum[0]);
}

template <bool kBug>
__global__ void AccumulatorNotCleared(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  if (!kBug) out[t] = 0;
  for (int k = 0; k < 3; ++k) BUG(out[t] += in[t]);
}

template <bool kBug>
__global__ void AtomicOnGarbage(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, bins, 4);
  const int t = threadIdx.x;
  if (!kBug && t < 4) bins[t] = 0;
  __syncthreads();
  BUG(atomicAdd(&bins[in[t] % 4], 1));
  __syncthreads();
  if (t < 4) out[t] = bins[t];
}

// ---- Outside.

// 128 threads for 100 elements.
template <bool kBug>
__global__ void TailWithoutGuard(gptr<const int> in, gptr<int> out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!kBug && i >= n) return;
  BUG(out[i] = in[i]);
}

template <bool kBug>
__global__ void OneTooMany(gptr<const int>, gptr<int> out, int n) {
  const int last = kBug ? n : n - 1;
  for (int i = threadIdx.x; i <= last; i += blockDim.x) BUG(out[i] = i);
}

template <bool kBug>
__global__ void BeforeTheBeginning(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  int left = 0;
  if (kBug || t > 0) BUG(left = in[t - 1]);
  out[t] = left;
}

// 0u - 1 is no small negative number.
template <bool kBug>
__global__ void UnsignedUnderflow(gptr<const int> in, gptr<int> out, int) {
  const unsigned int t = threadIdx.x;
  const unsigned int left = kBug || t > 0 ? t - 1 : 0;
  BUG(out[t] = in[left]);
}

template <bool kBug>
__global__ void HaloBeyondTheEnd(gptr<const int> in, gptr<int> out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int left = i > 0 ? i - 1 : 0;
  const int right = kBug || i + 1 < n ? i + 1 : i;
  BUG(out[i] = in[left] + in[i] + in[right]);
}

// A picture of 10 rows of 10, read as if its rows were padded to 12.
template <bool kBug>
__global__ void WrongPitch(gptr<const int> in, gptr<int> out, int) {
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int pitch = kBug ? 12 : 10;
  BUG(out[10 * y + x] = in[pitch * y + x]);
}

template <bool kBug>
__global__ void IndexFromData(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  const int target = kBug ? 2 * in[t] : in[t];
  BUG(out[target] = t);
}

// 102 elements in groups of four: the last group is not all there.
template <bool kBug>
__global__ void VectorTail(gptr<const int> in, gptr<int> out, int n) {
  const int t = threadIdx.x;
  int4 four = make_int4(0, 0, 0, 0);
  if (4 * t < n && (kBug || 4 * t + 3 < n)) BUG(four = pointer_cast<const int4>(in)[t]);
  if (t < 32) out[t] = four.x + four.y + four.z + four.w;
}

template <bool kBug>
__global__ void SharedTooSmall(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, kBug ? 64 : 128);
  const int t = threadIdx.x;
  BUG(tile[t] = in[t]);
  __syncthreads();
  out[t] = tile[t];
}

// In memory tile[y][16] is tile[y + 1][0]; the array's type says otherwise.
template <bool kBug>
__global__ void NextRow(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 16, 16);
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  tile[y][x] = in[16 * y + x];
  __syncthreads();
  const int right = kBug ? x + 1 : min(x + 1, 15);
  if (y < 15) BUG(out[16 * y + x] = tile[y][right]);
}

template <bool kBug>
__global__ void RowsAndColumnsSwapped(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 8, 32);
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  BUG(tile[kBug ? x : y][kBug ? y : x] = in[32 * y + x]);
  __syncthreads();
  out[32 * y + x] = tile[y][x];
}

// The launch asks for 64 integers of dynamic shared memory.
template <bool kBug>
__global__ void DynamicSharedTooSmall(gptr<const int> in, gptr<int> out, int) {
  DYNAMIC_SHARED(int, tile);
  const int t = threadIdx.x;
  const int place = kBug ? t + 1 : t;
  BUG(tile[place] = in[t]);
  __syncthreads();
  out[t] = tile[place];
}

// A second array behind the first, for which nobody has asked.
template <bool kBug>
__global__ void SecondDynamicArray(gptr<const int> in, gptr<int> out, int) {
  DYNAMIC_SHARED(int, first);
  const int t = threadIdx.x;
  sptr<int> second = first + (kBug ? 64 : 32);
  if (t < 32) {
    first[t] = in[t];
    BUG(second[t] = in[t] + 1);
    out[t] = first[t] + second[t];
  }
}

// 32 KB here and 24 that the launch asks for are more than the 48 that a block has.
template <bool kBug>
__global__ void TooMuchShared(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  SHARED(int, tile, kBug ? 8192 : 4096);
  tile[t] = in[t];
  __syncthreads();
  BUG(out[t] = tile[63 - t]);
}

// ---- Not where the access may be.

template <bool kBug>
__global__ void MisalignedVector(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  int4 four = make_int4(0, 0, 0, 0);
  BUG(four = pointer_cast<const int4>(in + (kBug ? 1 : 4))[t]);
  out[t] = four.x + four.w;
}

// Rows of 33 integers: every second one begins at an odd multiple of 4 bytes.
template <bool kBug>
__global__ void PaddedRowAsVectors(gptr<const int> in, gptr<int> out, int) {
  const int y = threadIdx.x;
  int2 two = make_int2(0, 0);
  BUG(two = pointer_cast<const int2>(in + (kBug ? 33 : 34) * y)[0]);
  out[y] = two.x + two.y;
}

template <bool kBug>
__global__ void MisalignedShared(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 68);
  const int t = threadIdx.x;
  tile[2 * t] = in[2 * t];
  tile[2 * t + 1] = in[2 * t + 1];
  if (t == 0) tile[64] = tile[65] = 0;
  __syncthreads();
  int2 two = make_int2(0, 0);
  BUG(two = pointer_cast<int2>(&tile[kBug ? 2 * t + 1 : 2 * t])[0]);
  out[t] = two.x + two.y;
}

// ---- Whether it is still there is up to the host (verdicts.cc).

template <bool kBug>
__global__ void Copy(gptr<const int> in, gptr<int> out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) BUG(out[i] = in[i]);
}

}  // namespace assay::simt::verdicts

#endif  // ASSAY_GPU_SIMT_VERDICTS_MEMORY_CU_H_
