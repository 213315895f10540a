// SPDX-License-Identifier: Apache-2.0
// Races in global memory, between blocks and through flags: each kernel with its bug and without.
//
// `out` holds n integers, all 0 at first; i is the thread's number in the grid.
#ifndef ASSAY_GPU_SIMT_VERDICTS_GLOBAL_RACES_CU_H_
#define ASSAY_GPU_SIMT_VERDICTS_GLOBAL_RACES_CU_H_

#include "gpu/simt/verdicts/bug.h"

namespace assay::simt::verdicts {

// ---- Blocks of one launch are not ordered.

template <bool kBug>
__global__ void BlocksReadAfterWrite(gptr<const int> in, gptr<int> out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int middle = n / 2;
  out[i] = in[i];
  if (kBug) BUG(out[middle + i] = out[(i + 32) % middle]);
  if (!kBug) out[middle + i] = in[(i + 32) % middle];
}

template <bool kBug>
__global__ void BlocksWriteAfterRead(gptr<const int> in, gptr<int> out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int right = 0;
  if (kBug && i + 1 < n) right = out[i + 1];
  if (!kBug && i + 1 < n) right = in[i + 1];
  BUG(out[i] = right + 1);
}

template <bool kBug>
__global__ void BlocksWriteAfterWrite(gptr<const int>, gptr<int> out, int) {
  const int block = blockIdx.x;
  if (threadIdx.x == 0) BUG(out[kBug ? 0 : block] = block);
}

template <bool kBug>
__global__ void LostUpdate(gptr<const int>, gptr<int> out, int) {
  if (kBug) BUG(out[0] += 1);
  if (!kBug) atomicAdd(&out[0], 1);
}

// Every block goes through all of it: the stride should be that of the grid.
template <bool kBug>
__global__ void StrideOfTheBlock(gptr<const int> in, gptr<int> out, int n) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const int stride = kBug ? blockDim.x : blockDim.x * gridDim.x;
  for (int i = first; i < n; i += stride) BUG(out[i] = in[i] + first);
}

template <bool kBug>
__global__ void AtomicAndPlainRead(gptr<const int>, gptr<int> out, int) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[0], 1);
  int seen = 0;
  if (kBug) BUG(seen = out[0]);
  if (!kBug) seen = atomicAdd(&out[0], 0);
  out[1 + i] = seen > 0;
}

template <bool kBug>
__global__ void AtomicAndPlainWrite(gptr<const int>, gptr<int> out, int) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) BUG(out[kBug ? 0 : 1] = 7);
  atomicAdd(&out[0], 1);
}

template <bool kBug>
__global__ void MissingGridBarrier(gptr<const int> in, gptr<int> out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int middle = n / 2;
  out[i] = in[i] + 1;
  if (kBug) __syncthreads();
  if (!kBug) GRID_SYNC();
  BUG(out[middle + i] = out[middle - 1 - i]);
}

// ---- Flags. One thread a block, out[0] counts or locks.

// The last block to finish adds up what all have left (the threadFenceReduction sample): what a
// block leaves must be fenced before it counts itself.
template <bool kBug>
__global__ void LastBlockWithoutRelease(gptr<const int> in, gptr<int> out, int) {
  const int block = blockIdx.x;
  const int blocks = gridDim.x;
  out[2 + block] = in[block];
  if (!kBug) __threadfence();
  if (atomicAdd(&out[0], 1) == blocks - 1) {
    __threadfence();
    int sum = 0;
    for (int k = 0; k < blocks; ++k) BUG(sum += out[2 + k]);
    out[1] = sum;
  }
}

template <bool kBug>
__global__ void LastBlockWithoutAcquire(gptr<const int> in, gptr<int> out, int) {
  const int block = blockIdx.x;
  const int blocks = gridDim.x;
  out[2 + block] = in[block];
  __threadfence();
  if (atomicAdd(&out[0], 1) == blocks - 1) {
    if (!kBug) __threadfence();
    int sum = 0;
    for (int k = 0; k < blocks; ++k) BUG(sum += out[2 + k]);
    out[1] = sum;
  }
}

// A fence for the block alone, between blocks.
template <bool kBug>
__global__ void FenceForTheBlock(gptr<const int> in, gptr<int> out, int) {
  const int block = blockIdx.x;
  const int blocks = gridDim.x;
  out[2 + block] = in[block];
  if (kBug) __threadfence_block();
  if (!kBug) __threadfence();
  if (atomicAdd(&out[0], 1) == blocks - 1) {
    __threadfence();
    int sum = 0;
    for (int k = 0; k < blocks; ++k) BUG(sum += out[2 + k]);
    out[1] = sum;
  }
}

// Each block adds to the sum of the one before it, for which it waits: out[2 b] is the sum, and
// out[2 b + 1] says that it is there.
template <bool kBug>
__global__ void LookBackWithoutRelease(gptr<const int> in, gptr<int> out, int) {
  const int block = blockIdx.x;
  int before = 0;
  if (block > 0) {
    while (load_volatile(&out[2 * block - 1]) == 0) __nanosleep(20);
    __threadfence();
    BUG(before = out[2 * block - 2]);
  }
  out[2 * block] = before + in[block];
  if (!kBug) __threadfence();
  store_volatile(&out[2 * block + 1], 1);
}

template <bool kBug>
__global__ void LookBackWithoutAcquire(gptr<const int> in, gptr<int> out, int) {
  const int block = blockIdx.x;
  int before = 0;
  if (block > 0) {
    while (load_volatile(&out[2 * block - 1]) == 0) __nanosleep(20);
    if (!kBug) __threadfence();
    BUG(before = out[2 * block - 2]);
  }
  out[2 * block] = before + in[block];
  __threadfence();
  store_volatile(&out[2 * block + 1], 1);
}

// The flag itself is an ordinary variable, which a compiler may read once for all.
template <bool kBug>
__global__ void LookBackPlainFlag(gptr<const int> in, gptr<int> out, int) {
  const int block = blockIdx.x;
  int before = 0;
  if (block > 0) {
    int ready = 0;
    while (ready == 0) {
      if (kBug) BUG(ready = out[2 * block - 1]);
      if (!kBug) ready = load_acquire(&out[2 * block - 1]);
      __nanosleep(20);
    }
    __threadfence();
    before = out[2 * block - 2];
  }
  out[2 * block] = before + in[block];
  store_release(&out[2 * block + 1], 1);
}

// Three blocks hand one value on: what the first did before its fence, the third sees after its
// own, if the second fences between taking and giving.
template <bool kBug>
__global__ void HandedOnByAThird(gptr<const int> in, gptr<int> out, int) {
  const int block = blockIdx.x;
  if (block == 0) {
    out[0] = in[7];
    __threadfence();
    store_volatile(&out[1], 1);
  } else if (block == 1) {
    while (load_volatile(&out[1]) == 0) __nanosleep(20);
    if (!kBug) __threadfence();
    store_volatile(&out[2], 1);
  } else {
    while (load_volatile(&out[2]) == 0) __nanosleep(20);
    __threadfence();
    BUG(out[3] = out[0]);
  }
}

// What all threads of a block wrote goes to all of another, by way of a barrier, one thread's fence
// and flag, and a barrier again.
template <bool kBug>
__global__ void BlockHandsOver(gptr<const int> in, gptr<int> out, int) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    out[1 + t] = in[t];
    if (!kBug) __syncthreads();
    if (t == 0) {
      __threadfence();
      store_volatile(&out[0], 1);
    }
  } else {
    if (t == 0) {
      while (load_volatile(&out[0]) == 0) __nanosleep(20);
      __threadfence();
    }
    __syncthreads();
    BUG(out[65 + t] = out[1 + (t + 32) % 64]);
  }
}

template <bool kBug>
__global__ void LockWithoutFences(gptr<const int>, gptr<int> out, int) {
  while (atomicCAS(&out[0], 0, 1) != 0) __nanosleep(20);
  if (!kBug) __threadfence();
  BUG(out[1] += 1);
  if (!kBug) __threadfence();
  atomicExch(&out[0], 0);
}

template <bool kBug>
__global__ void LockReleasedByAStore(gptr<const int>, gptr<int> out, int) {
  while (atomicCAS(&out[0], 0, 1) != 0) __nanosleep(20);
  __threadfence();
  out[1] += 1;
  __threadfence();
  if (kBug) BUG(out[0] = 0);
  if (!kBug) atomicExch(&out[0], 0);
}

// Two warps of a block and a flag in shared memory; volatile makes the flag visible, and orders
// nothing else.
template <bool kBug>
__global__ void VolatileFlagOrdersNothing(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, data, 1);
  SHARED(int, flag, 1);
  const int t = threadIdx.x;
  if (t == 0) flag[0] = 0;
  __syncthreads();
  if (t == 0) {
    data[0] = in[3];
    if (!kBug) __threadfence_block();
    store_volatile(&flag[0], 1);
  }
  if (t == 32) {
    while (load_volatile(&flag[0]) == 0) __nanosleep(20);
    __threadfence_block();
    BUG(out[0] = data[0]);
  }
}

// No race, but the place of a value depends on who comes first.
template <bool kBug>
__global__ void PlaceByTicket(gptr<const int> in, gptr<int> out, int) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int ticket = atomicAdd(&out[0], 1);
  BUG(out[1 + (kBug ? ticket : i)] = in[i]);
}

// A warning: all store the same value. CUDA lets one of them win, C++ does not.
template <bool kBug>
__global__ void AllStoreTheSame(gptr<const int>, gptr<int> out, int) {
  if (kBug || (blockIdx.x == 0 && threadIdx.x == 0)) BUG(out[0] = 1);
}

}  // namespace assay::simt::verdicts

#endif  // ASSAY_GPU_SIMT_VERDICTS_GLOBAL_RACES_CU_H_
