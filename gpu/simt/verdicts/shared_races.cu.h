// SPDX-License-Identifier: Apache-2.0
// Races in shared memory: each kernel with its bug (kBug) and without.
//
// A block's threads: t is the number in the block. `in` and `out` hold n integers. Sums that a race
// can make exponentially large are unsigned.
#ifndef ASSAY_GPU_SIMT_VERDICTS_SHARED_RACES_CU_H_
#define ASSAY_GPU_SIMT_VERDICTS_SHARED_RACES_CU_H_

#include "gpu/simt/verdicts/bug.h"

namespace assay::simt::verdicts {

inline constexpr unsigned int kAll = 0xFFFFFFFFu;

// ---- Within a warp (32 threads): lanes are ordered by __syncwarp alone.

template <bool kBug>
__global__ void WarpReadAfterWrite(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 32);
  const int t = threadIdx.x;
  tile[t] = in[t];
  if (!kBug) __syncwarp();
  BUG(out[t] = tile[31 - t]);
}

template <bool kBug>
__global__ void WarpWriteAfterRead(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 32);
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncwarp();
  const int next = tile[(t + 1) % 32];
  if (!kBug) __syncwarp();
  BUG(tile[t] = next + 1);
  out[t] = tile[t];
}

template <bool kBug>
__global__ void WarpWriteAfterWrite(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 32);
  const int t = threadIdx.x;
  const int place = kBug ? t / 2 : t;
  BUG(tile[place] = in[t]);
  __syncwarp();
  out[t] = tile[place];
}

// A shuffle moves values between lanes; it orders no memory.
template <bool kBug>
__global__ void ShuffleIsNoBarrier(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 32);
  const int t = threadIdx.x;
  tile[t] = in[t];
  int first = __shfl_sync(kAll, t, 0);
  if (!kBug) __syncwarp();
  BUG(out[t] = tile[31 - t] + first);
}

template <bool kBug>
__global__ void VoteIsNoBarrier(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 32);
  const int t = threadIdx.x;
  tile[t] = in[t];
  int all = __all_sync(kAll, t >= 0);
  if (!kBug) __syncwarp();
  BUG(out[t] = tile[31 - t] + all);
}

// Both halves of the warp synchronise, but not with each other.
template <bool kBug>
__global__ void HalvesSynchroniseApart(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 32);
  const int t = threadIdx.x;
  tile[t] = in[t];
  const unsigned int mine = t < 16 ? 0x0000FFFFu : 0xFFFF0000u;
  __syncwarp(kBug ? mine : kAll);
  BUG(out[t] = tile[31 - t]);
}

// The last steps of a tree sum as they were written before Volta: the lanes of a warp are taken to
// run in step (Harris, Optimizing parallel reduction in CUDA, 2007, kernel 5).
template <bool kBug>
__global__ void WarpSynchronousSum(gptr<const int> in, gptr<int> out, int) {
  SHARED(unsigned int, sum, 64);
  const int t = threadIdx.x;
  sum[t] = in[t];
  sum[t + 32] = in[t + 32];
  __syncwarp();
  for (int s = 32; s > 0; s /= 2) {
    unsigned int both = 0;
    BUG(both = sum[t] + sum[t + s]);
    if (!kBug) __syncwarp();
    sum[t] = both;
    if (!kBug) __syncwarp();
  }
  if (t == 0) out[0] = static_cast<int>(sum[0]);
}

template <bool kBug>
__global__ void WarpScanInPlace(gptr<const int> in, gptr<int> out, int) {
  SHARED(unsigned int, sum, 32);
  const int t = threadIdx.x;
  sum[t] = in[t];
  __syncwarp();
  for (int d = 1; d < 32; d *= 2) {
    unsigned int left = 0;
    if (t >= d) left = sum[t - d];
    if (!kBug) __syncwarp();
    BUG(sum[t] += left);
    __syncwarp();
  }
  out[t] = static_cast<int>(sum[t]);
}

// ---- Between warps: ordered by __syncthreads.

template <bool kBug>
__global__ void BlockReadAfterWrite(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 128);
  const int t = threadIdx.x;
  tile[t] = in[t];
  if (kBug) __syncwarp();
  if (!kBug) __syncthreads();
  BUG(out[t] = tile[127 - t]);
}

template <bool kBug>
__global__ void BlockWriteAfterRead(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 128);
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  const int other = tile[(t + 32) % 128];
  if (!kBug) __syncthreads();
  BUG(tile[t] = other);
  __syncthreads();
  out[t] = tile[t];
}

template <bool kBug>
__global__ void BlockWriteAfterWrite(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, leader, 1);
  const int t = threadIdx.x;
  if (kBug ? t % 32 == 0 : t == 0) BUG(leader[0] = in[t]);
  __syncthreads();
  out[t] = leader[0];
}

template <bool kBug>
__global__ void BroadcastWithoutBarrier(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, value, 1);
  const int t = threadIdx.x;
  if (t == 0) value[0] = in[5];
  if (!kBug) __syncthreads();
  BUG(out[t] = value[0]);
}

template <bool kBug>
__global__ void ProducerAndConsumerWarps(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, queue, 32);
  const int t = threadIdx.x;
  if (t < 32) queue[t] = in[t] * 2;
  if (!kBug) __syncthreads();
  if (t >= 32) BUG(out[t] = queue[t - 32]);
}

template <bool kBug>
__global__ void SumWithoutBarrier(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, sum, 128);
  const int t = threadIdx.x;
  sum[t] = in[t];
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (t < s) BUG(sum[t] += sum[t + s]);
    if (!kBug) __syncthreads();
  }
  if (t == 0) out[0] = sum[0];
}

// Barriers only while more than a warp is at work.
template <bool kBug>
__global__ void SumWithBarriersAbove32(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, sum, 128);
  const int t = threadIdx.x;
  sum[t] = in[t];
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (t < s) BUG(sum[t] += sum[t + s]);
    if (!kBug || s > 32) __syncthreads();
  }
  if (t == 0) out[0] = sum[0];
}

template <bool kBug>
__global__ void SumReadTooEarly(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, sum, 128);
  const int t = threadIdx.x;
  sum[t] = in[t];
  for (int s = 64; s > 0; s /= 2) {
    __syncthreads();
    if (t < s) sum[t] += sum[t + s];
  }
  if (!kBug) __syncthreads();
  BUG(out[t] = in[t] - sum[0]);
}

template <bool kBug>
__global__ void ScanInPlace(gptr<const int> in, gptr<int> out, int) {
  SHARED(unsigned int, sum, 128);
  const int t = threadIdx.x;
  sum[t] = in[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    unsigned int left = 0;
    if (t >= d) left = sum[t - d];
    if (!kBug) __syncthreads();
    BUG(sum[t] += left);
    __syncthreads();
  }
  out[t] = static_cast<int>(sum[t]);
}

// Blelloch's scan of 128 values by 64 threads: the barrier of the way down is missing.
template <bool kBug>
__global__ void ScanDownSweep(gptr<const int> in, gptr<int> out, int) {
  SHARED(unsigned int, tree, 128);
  const int t = threadIdx.x;
  tree[2 * t] = in[2 * t];
  tree[2 * t + 1] = in[2 * t + 1];
  int offset = 1;
  for (int d = 64; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  __syncthreads();
  if (t == 0) tree[127] = 0;
  for (int d = 1; d < 128; d *= 2) {
    offset /= 2;
    if (!kBug) __syncthreads();
    if (t < d) {
      const int left = offset * (2 * t + 1) - 1;
      const int right = offset * (2 * t + 2) - 1;
      const unsigned int sum = tree[left];
      tree[left] = tree[right];
      BUG(tree[right] += sum);
    }
  }
  __syncthreads();
  out[2 * t] = static_cast<int>(tree[2 * t]);
  out[2 * t + 1] = static_cast<int>(tree[2 * t + 1]);
}

// Threads that write different bytes of one word do not meet.
template <bool kBug>
__global__ void BytesOfAWord(gptr<const int> in, gptr<int> out, int) {
  SHARED(unsigned char, bytes, 128);
  const int t = threadIdx.x;
  BUG(bytes[kBug ? t / 2 : t] = static_cast<unsigned char>(in[t]));
  __syncthreads();
  out[t] = bytes[kBug ? t / 2 : t];
}

// One thread stores four integers that four others read one by one.
template <bool kBug>
__global__ void VectorForFour(gptr<const int> in, gptr<int> out, int) {
  SHARED(int4, tile, 32);
  const int t = threadIdx.x;
  if (t < 32) tile[t] = make_int4(in[4 * t], in[4 * t + 1], in[4 * t + 2], in[4 * t + 3]);
  if (!kBug) __syncthreads();
  BUG(out[t] = pointer_cast<int>(&tile[t / 4])[t % 4]);
}

// Groups of eight lanes work through lists of different length, each synchronised by itself.
template <bool kBug>
__global__ void GroupsOfEight(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 32);
  const int t = threadIdx.x;
  const int group = t / 8;
  const unsigned int mask = 0xFFu << (8 * group);
  int sum = 0;
  for (int k = 0; k <= group; ++k) {
    tile[t] = in[t] + k;
    __syncwarp(mask);
    sum += tile[8 * group + (t + 1) % 8];
    if (kBug) BUG(sum += tile[(t + 8) % 32]);
    __syncwarp(mask);
  }
  out[t] = sum;
}

template <bool kBug>
__global__ void Transpose(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, tile, 16, 17);
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  tile[y][x] = in[16 * y + x];
  if (!kBug) __syncthreads();
  BUG(out[16 * y + x] = tile[x][y]);
}

// Two buffers in turn need one barrier a step; here every second one is left out.
template <bool kBug>
__global__ void DoubleBuffer(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, buffer, 2, 128);
  const int t = threadIdx.x;
  int sum = 0;
  for (int step = 0; step < 4; ++step) {
    buffer[step % 2][t] = in[t] + step;
    if (!kBug || step % 2 == 0) __syncthreads();
    BUG(sum += buffer[step % 2][(t + 32) % 128]);
  }
  out[t] = sum;
}

// One buffer needs two: the next tile overwrites what others still read.
template <bool kBug>
__global__ void TiledProduct(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, a, 8, 8);
  SHARED(int, b, 8, 8);
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  int sum = 0;
  for (int tile = 0; tile < 2; ++tile) {
    a[y][x] = in[16 * y + 8 * tile + x];
    BUG(b[y][x] = in[8 * (8 * tile + y) + x]);
    __syncthreads();
    for (int k = 0; k < 8; ++k) sum += a[y][k] * b[k][x];
    if (!kBug) __syncthreads();
  }
  out[8 * y + x] = sum;
}

template <bool kBug>
__global__ void StencilInPlace(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, line, 130);
  const int t = threadIdx.x;
  line[t + 1] = in[t];
  if (t == 0) line[0] = line[129] = 0;
  __syncthreads();
  const int mean = line[t] + line[t + 1] + line[t + 2];
  if (!kBug) __syncthreads();
  BUG(line[t + 1] = mean);
  __syncthreads();
  out[t] = line[t + 1];
}

// The halo comes from the first two threads, and is waited for by nobody.
template <bool kBug>
__global__ void StencilHalo(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, line, 130);
  const int t = threadIdx.x;
  line[t + 1] = in[t];
  __syncthreads();
  if (t < 2) line[129 * t] = in[127 * t];
  if (!kBug) __syncthreads();
  BUG(out[t] = line[t] + line[t + 2]);
}

template <bool kBug>
__global__ void OddEvenSort(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, value, 128);
  const int t = threadIdx.x;
  value[2 * t] = 127 - in[2 * t];
  value[2 * t + 1] = 127 - in[2 * t + 1];
  for (int phase = 0; phase < 128; ++phase) {
    if (!kBug || phase == 0) __syncthreads();
    const int i = 2 * t + phase % 2;
    if (i + 1 < 128) {
      const int low = min(value[i], value[i + 1]);
      const int high = max(value[i], value[i + 1]);
      value[i] = low;
      BUG(value[i + 1] = high);
    }
  }
  __syncthreads();
  out[2 * t] = value[2 * t];
  out[2 * t + 1] = value[2 * t + 1];
}

// Barriers only for exchanges across warps.
template <bool kBug>
__global__ void BitonicSort(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, value, 128);
  const int t = threadIdx.x;
  value[t] = in[t] * 37 % 128;
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = t ^ j;
      if (other > t) {
        const int a = value[t];
        const int b = value[other];
        if ((a > b) == ((t & k) == 0)) {
          value[t] = b;
          BUG(value[other] = a);
        }
      }
      if (!kBug || j > 16) __syncthreads();
    }
  }
  __syncthreads();
  out[t] = value[t];
}

}  // namespace assay::simt::verdicts

#endif  // ASSAY_GPU_SIMT_VERDICTS_SHARED_RACES_CU_H_
