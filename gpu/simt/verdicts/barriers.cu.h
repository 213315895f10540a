// SPDX-License-Identifier: Apache-2.0
// Barriers, masks and waiting: each kernel with its bug and without.
#ifndef ASSAY_GPU_SIMT_VERDICTS_BARRIERS_CU_H_
#define ASSAY_GPU_SIMT_VERDICTS_BARRIERS_CU_H_

#include "gpu/simt/verdicts/bug.h"

namespace assay::simt::verdicts {

// ---- __syncthreads: all threads that have not left meet at one of them.

template <bool kBug>
__global__ void BarrierInBothBranches(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 64);
  const int t = threadIdx.x;
  tile[t] = in[t];
  if (kBug) {
    if (t < 32) {
      BUG(__syncthreads());
    } else {
      __syncthreads();
    }
  } else {
    __syncthreads();
  }
  out[t] = tile[63 - t];
}

template <bool kBug>
__global__ void BarrierInOneBranch(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 64);
  const int t = threadIdx.x;
  if (!kBug || t < 32) BUG(__syncthreads());
  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[63 - t];
}

template <bool kBug>
__global__ void BarrierInLoopOfUnequalLength(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, sum, 64);
  const int t = threadIdx.x;
  sum[t] = in[t];
  const int rounds = kBug ? 1 + t / 32 : 2;
  for (int k = 0; k < rounds; ++k) BUG(__syncthreads());
  sum[t] += 1;
  __syncthreads();
  out[t] = sum[63 - t];
}

// One half of a warp waits for the block, the other for the warp.
template <bool kBug>
__global__ void BarrierInHalfAWarp(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  if (kBug && t < 16) BUG(__syncthreads());
  __syncwarp();
  out[t] = in[t];
}

// Threads may leave before a barrier: who is gone is not waited for. Their part of the work is.
template <bool kBug>
__global__ void LeavingBeforeTheWork(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 64);
  const int t = threadIdx.x;
  if (t >= 40) KERNEL_RETURN;
  tile[t] = in[t];
  __syncthreads();
  BUG(out[t] = tile[(kBug ? 63 : 39) - t]);
}

// ---- Masks: a lane names itself, and those that come.

template <bool kBug>
__global__ void MaskWithoutItself(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  BUG(__syncwarp(kBug ? 0x0000FFFFu : 0xFFFFFFFFu));
  out[t] = in[t];
}

template <bool kBug>
__global__ void ShuffleMaskWithoutItself(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  int first = 0;
  BUG(first = __shfl_sync(kBug ? 1u : 0xFFFFFFFFu, t, 0));
  out[t] = in[t] + first;
}

template <bool kBug>
__global__ void LaneNeverArrives(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  if (t < 16) BUG(__syncwarp(kBug ? 0xFFFFFFFFu : 0x0000FFFFu));
  __syncthreads();
  out[t] = in[t];
}

template <bool kBug>
__global__ void VoteInABranch(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  unsigned int odd = 0;
  if (t < 20) BUG(odd = __ballot_sync(kBug ? 0xFFFFFFFFu : 0x000FFFFFu, in[t] % 2));
  __syncthreads();
  out[t] = static_cast<int>(odd & 0xFF);
}

template <bool kBug>
__global__ void DifferentExchanges(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  unsigned int low = kBug ? 0xFFFFFFFFu : 0x0000FFFFu;
  unsigned int high = kBug ? 0xFFFFFFFFu : 0xFFFF0000u;
  int result = 0;
  if (t < 16) {
    BUG(result = __any_sync(low, in[t] == 3));
  } else {
    result = __shfl_sync(high, t, 16);
  }
  out[t] = result;
}

template <bool kBug>
__global__ void ShuffleFromOutsideTheMask(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  int value = 0;
  if (t < 16) BUG(value = __shfl_sync(0x0000FFFFu, t, kBug ? 20 : 7));
  out[t] = in[t] + value;
}

// The upper half of a warp sum: lane 15 adds what lane 23 holds, which is not there.
template <bool kBug>
__global__ void SumOfPartOfAWarp(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  if (t >= 16) KERNEL_RETURN;
  int sum = in[t];
  for (int offset = 8; offset > 0; offset /= 2) {
    int more = 0;
    BUG(more = __shfl_down_sync(0x0000FFFFu, sum, offset, kBug ? 32 : 16));
    if (t + offset < 16) sum += more;
  }
  if (t == 0) out[0] = sum;
}

template <bool kBug>
__global__ void ShuffleFromALaneThatLeft(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  if (t >= 24) KERNEL_RETURN;
  int value = 0;
  BUG(value = __shfl_sync(0x00FFFFFFu, t, kBug ? 31 - t : 23 - t));
  out[t] = in[t] + value;
}

template <bool kBug>
__global__ void ShuffleOfOddWidth(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  int value = 0;
  BUG(value = __shfl_xor_sync(0xFFFFFFFFu, t, 1, kBug ? 12 : 8));
  out[t] = in[t] + value;
}

// ---- Waiting for what does not come.

template <bool kBug>
__global__ void FlagThatNobodySets(gptr<const int>, gptr<int> out, int) {
  const int t = threadIdx.x;
  if (t == 0 && !kBug) store_volatile(&out[0], 1);
  while (load_volatile(&out[0]) == 0) BUG(__nanosleep(20));
}

// A barrier of the grid by hand, with more blocks than the GPU holds at once (a cooperative launch
// would be refused).
template <bool kBug>
__global__ void MoreBlocksThanFit(gptr<const int>, gptr<int> out, int) {
  const int awaited = kBug ? gridDim.x : 8;
  atomicAdd(&out[0], 1);
  while (load_volatile(&out[0]) < awaited) BUG(__nanosleep(20));
}

// Two blocks take two locks in opposite order. To have it happen each time, both wait until each
// has its first.
template <bool kBug>
__global__ void LocksInOppositeOrder(gptr<const int>, gptr<int> out, int) {
  const int block = blockIdx.x;
  const int first = kBug ? 1 + block : 1;
  const int second = kBug ? 2 - block : 2;
  while (atomicCAS(&out[first], 0, 1) != 0) __nanosleep(20);
  if (kBug) {
    atomicAdd(&out[0], 1);
    while (load_volatile(&out[0]) < 2) __nanosleep(20);
  }
  while (atomicCAS(&out[second], 0, 1) != 0) BUG(__nanosleep(20));
  atomicExch(&out[second], 0);
  atomicExch(&out[first], 0);
}

// The first warp waits at the barrier for the second, which waits for a flag that the first would
// set after the barrier.
template <bool kBug>
__global__ void FlagBehindTheBarrier(gptr<const int>, gptr<int> out, int) {
  const int t = threadIdx.x;
  if (!kBug && t == 0) store_volatile(&out[0], 1);
  if (t >= 32) {
    while (load_volatile(&out[0]) == 0) BUG(__nanosleep(20));
  }
  __syncthreads();
  if (kBug && t == 0) store_volatile(&out[0], 1);
}

}  // namespace assay::simt::verdicts

#endif  // ASSAY_GPU_SIMT_VERDICTS_BARRIERS_CU_H_
