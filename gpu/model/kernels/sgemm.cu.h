// SPDX-License-Identifier: Apache-2.0
// A ladder of matrix multiplications to try the time model on: the shapes of two published ladders
// (siboehm/SGEMM_CUDA; yzhaiustc/Optimizing-SGEMM-on-NVIDIA-Turing-GPUs), written for this purpose.
// They are no library: gpu/model asks what they cost, not what they are good for.
//
// All: C = A B in f32, row-major, A [m, k], B [k, n], C [m, n]. m, n and k are multiples of the
// kernel's tile, k of 8 where it has none. A block computes a tile BM x BN of C in steps of BK
// along k, a thread TM x TN of it. What ptxas would merge into one access is one in the source, so
// that the simulator counts the accesses of the machine code.
//
// Included once, by ladder.cc here and by model_kernels.cu for nvcc: the kernels have external
// linkage, so that their symbols are short.
#ifndef ASSAY_GPU_MODEL_KERNELS_SGEMM_CU_H_
#define ASSAY_GPU_MODEL_KERNELS_SGEMM_CU_H_

#include "gpu/model/kernels/unroll.h"
#include "gpu/simt/simt.h"

namespace assay::model {

using simt::float4;
using simt::gptr;
using simt::pointer_cast;
using simt::sptr;
#ifndef __CUDACC__  // under nvcc these are CUDA's own, outside any namespace
using simt::__fmaf_rn;
using simt::make_float4;
#endif

// The lanes of a warp walk down a column of C, so each reads another line of A.
__global__ void SgemmNaive(gptr<const float> a, gptr<const float> b, gptr<float> c, int m, int n,
                           int k) {
  const int row = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int column = static_cast<int>(blockIdx.y * 32 + threadIdx.y);
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  ASSAY_KEEP_LOOP for (int k0 = 0; k0 < k; k0 += 8) {
    ASSAY_UNROLL for (int i = k0; i < k0 + 8; ++i) {
      sum = __fmaf_rn(a[row * k + i], b[i * n + column], sum);
    }
  }
  c[row * n + column] = sum;
}

// The lanes walk along a row: one line of B, one element of A.
__global__ void SgemmCoalesced(gptr<const float> a, gptr<const float> b, gptr<float> c, int m,
                               int n, int k) {
  const int row = static_cast<int>(blockIdx.y * 32 + threadIdx.y);
  const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  ASSAY_KEEP_LOOP for (int k0 = 0; k0 < k; k0 += 8) {
    ASSAY_UNROLL for (int i = k0; i < k0 + 8; ++i) {
      sum = __fmaf_rn(a[row * k + i], b[i * n + column], sum);
    }
  }
  c[row * n + column] = sum;
}

// How a block of Tiled keeps A in shared memory and deals its threads.
enum class Layout {
  kRows,           // A as it is; lanes side by side in a row of C
  kRowsByLane,     // A as it is; lanes one below the other: they meet in one bank
  kColumnsByLane,  // A transposed; lanes one below the other
};

// Tiles in shared memory, loaded element by element.
template <int BM, int BN, int BK, int TM, int TN, Layout kLayout>
SIMT_TASK(void)
Tiled(gptr<const float> a, gptr<const float> b, gptr<float> c, int n, int k) {
  constexpr int kThreads = BM / TM * (BN / TN);
  constexpr bool kByLane = kLayout != Layout::kRows;
  constexpr bool kTransposed = kLayout == Layout::kColumnsByLane;
  constexpr int kChunk = kTransposed ? TM : 1;  // elements in a row that a thread loads
  static_assert(kChunk == 1 || kChunk == 4);
  static_assert(BM * BK % kThreads == 0 && BK * BN % kThreads == 0);
  SHARED(float4, a_words, BM * BK / 4);
  SHARED(float4, b_words, BK * BN / 4);
  const sptr<float> a_tile = pointer_cast<float>(a_words + 0);
  const sptr<float> b_tile = pointer_cast<float>(b_words + 0);
  const int t = static_cast<int>(threadIdx.x);
  const int row = (kByLane ? t % (BM / TM) : t / (BN / TN)) * TM;
  const int column = (kByLane ? t / (BM / TM) : t % (BN / TN)) * TN;
  const int first_row = static_cast<int>(blockIdx.y) * BM;
  const int first_column = static_cast<int>(blockIdx.x) * BN;

  float sums[TM][TN] = {};
  ASSAY_KEEP_LOOP for (int k0 = 0; k0 < k; k0 += BK) {
    ASSAY_UNROLL for (int j = 0; j < BM * BK / kThreads; ++j) {
      const int i = (j / kChunk * kThreads + t) * kChunk + j % kChunk;
      const int r = i / BK;
      const int q = i % BK;
      a_tile[kTransposed ? q * BM + r : i] = a[(first_row + r) * k + k0 + q];
    }
    ASSAY_UNROLL for (int j = 0; j < BK * BN / kThreads / kChunk; ++j) {
      const int i = (j * kThreads + t) * kChunk;
      const int from = (k0 + i / BN) * n + first_column + i % BN;
      if constexpr (kChunk == 4) {
        b_words[i / 4] = make_float4(b[from], b[from + 1], b[from + 2], b[from + 3]);
      } else {
        b_tile[i] = b[from];
      }
    }
    __syncthreads();
    ASSAY_UNROLL for (int i = 0; i < BK; i += kTransposed ? 1 : 4) {
      constexpr int kDepth = kTransposed ? 1 : 4;
      float left[TM][kDepth];
      ASSAY_UNROLL for (int y = 0; y < TM; ++y) {
        if constexpr (!kTransposed) {
          const float4 word = pointer_cast<float4>(a_tile + ((row + y) * BK + i))[0];
          left[y][0] = word.x;
          left[y][1] = word.y;
          left[y][2] = word.z;
          left[y][3] = word.w;
        } else if constexpr (TM % 4 == 0) {
          if (y % 4 != 0) continue;
          const float4 word = pointer_cast<float4>(a_tile + (i * BM + row + y))[0];
          left[y][0] = word.x;
          left[y + 1][0] = word.y;
          left[y + 2][0] = word.z;
          left[y + 3][0] = word.w;
        } else {
          left[y][0] = a_tile[i * BM + row + y];
        }
      }
      ASSAY_UNROLL for (int d = 0; d < kDepth; ++d) {
        float right[TN];
        ASSAY_UNROLL for (int x = 0; x < TN; ++x) {
          if constexpr (TN % 4 == 0) {
            if (x % 4 != 0) continue;
            const float4 word = pointer_cast<float4>(b_tile + ((i + d) * BN + column + x))[0];
            right[x] = word.x;
            right[x + 1] = word.y;
            right[x + 2] = word.z;
            right[x + 3] = word.w;
          } else {
            right[x] = b_tile[(i + d) * BN + column + x];
          }
        }
        ASSAY_UNROLL for (int y = 0; y < TM; ++y) {
          ASSAY_UNROLL for (int x = 0; x < TN; ++x) {
            sums[y][x] = __fmaf_rn(left[y][d], right[x], sums[y][x]);
          }
        }
      }
    }
    __syncthreads();
  }
  ASSAY_UNROLL for (int y = 0; y < TM; ++y) {
    ASSAY_UNROLL for (int x = 0; x < TN; ++x) {
      c[(first_row + row + y) * n + first_column + column + x] = sums[y][x];
    }
  }
  SIMT_RETURN;
}

// What WarpTiled does while the next tile is on its way.
enum class Overlap { kNone, kPrefetch, kDoubleBuffer };

// Which columns of a warp's tile a lane has.
enum class Columns {
  kAdjacent,  // TN side by side: the lanes' 16-byte words lie 4 TN bytes apart and meet in banks
  kStrips,    // four of each strip of 4 x (lanes along n): neighbours read neighbouring words
};

// A warp computes WM x WN. Global memory is read 16 bytes at a time, A is stored transposed. The
// tile is BM / WM x BN / WN warps.
template <int BM, int BN, int BK, int WM, int WN, int TM, int TN, Columns kColumns,
          Overlap kOverlap>
SIMT_TASK(void)
WarpTiled(gptr<const float> a, gptr<const float> b, gptr<float> c, int n, int k) {
  constexpr int kThreads = BM / WM * (BN / WN) * 32;
  constexpr int kLanesDown = WM / TM;
  constexpr int kLanesAlong = 32 / kLanesDown;
  constexpr bool kAdjacent = kColumns == Columns::kAdjacent;
  constexpr int kLaneStep = kAdjacent ? TN : 4;            // from one lane's columns to the next's
  constexpr int kStrip = kAdjacent ? 4 : kLanesAlong * 4;  // from one word of a lane to its next
  constexpr int kStrips = TN / 4;
  static_assert(kLanesAlong * TN == WN, "a warp's tile has WM / TM x WN / TN lanes");
  constexpr int kWordsA = BM * BK / 4 / kThreads;
  constexpr int kWordsB = BN * BK / 4 / kThreads;
  static_assert(kWordsA * kThreads * 4 == BM * BK && kWordsB * kThreads * 4 == BN * BK);
  constexpr int kBuffers = kOverlap == Overlap::kDoubleBuffer ? 2 : 1;
  SHARED(float4, a_words, kBuffers * BM * BK / 4);
  SHARED(float4, b_words, kBuffers * BK * BN / 4);
  const sptr<float> a_tiles = pointer_cast<float>(a_words + 0);
  const int t = static_cast<int>(threadIdx.x);
  const int warp = t / 32;
  const int lane = t % 32;
  const int row = warp / (BN / WN) * WM + lane / kLanesAlong * TM;
  const int column = warp % (BN / WN) * WN + lane % kLanesAlong * kLaneStep;
  const int first_row = static_cast<int>(blockIdx.y) * BM;
  const int first_column = static_cast<int>(blockIdx.x) * BN;
  const gptr<const float4> a4 = pointer_cast<const float4>(a + first_row * k);
  const gptr<const float4> b4 = pointer_cast<const float4>(b + first_column);

  float4 next_a[kWordsA];
  float4 next_b[kWordsB];
  const auto fetch = [&](int k0) {
    ASSAY_UNROLL for (int i = 0; i < kWordsA; ++i) {
      const int word = t + i * kThreads;
      next_a[i] = a4[word / (BK / 4) * (k / 4) + k0 / 4 + word % (BK / 4)];
    }
    ASSAY_UNROLL for (int i = 0; i < kWordsB; ++i) {
      const int word = t + i * kThreads;
      next_b[i] = b4[(k0 + word / (BN / 4)) * (n / 4) + word % (BN / 4)];
    }
  };
  const auto keep = [&](int buffer) {
    ASSAY_UNROLL for (int i = 0; i < kWordsA; ++i) {
      const int word = t + i * kThreads;
      const int r = word / (BK / 4);
      const int at = buffer * BM * BK + word % (BK / 4) * 4 * BM + r;
      a_tiles[at] = next_a[i].x;
      a_tiles[at + BM] = next_a[i].y;
      a_tiles[at + 2 * BM] = next_a[i].z;
      a_tiles[at + 3 * BM] = next_a[i].w;
    }
    ASSAY_UNROLL for (int i = 0; i < kWordsB; ++i) {
      b_words[buffer * BK * BN / 4 + t + i * kThreads] = next_b[i];
    }
  };

  float sums[TM][TN] = {};
  int buffer = 0;
  if constexpr (kOverlap != Overlap::kNone) {
    fetch(0);
    keep(0);
    __syncthreads();
  }
  ASSAY_KEEP_LOOP for (int k0 = 0; k0 < k; k0 += BK) {
    if constexpr (kOverlap == Overlap::kNone) {
      fetch(k0);
      keep(0);
      __syncthreads();
    } else if (k0 + BK < k) {
      fetch(k0 + BK);
    }
    ASSAY_UNROLL for (int i = 0; i < BK; ++i) {
      float left[TM];
      float right[TN];
      ASSAY_UNROLL for (int y = 0; y < TM; y += 4) {
        const float4 word = a_words[(buffer * BM * BK + i * BM + row + y) / 4];
        left[y] = word.x;
        left[y + 1] = word.y;
        left[y + 2] = word.z;
        left[y + 3] = word.w;
      }
      ASSAY_UNROLL for (int s = 0; s < kStrips; ++s) {
        const float4 word = b_words[(buffer * BK * BN + i * BN + column + s * kStrip) / 4];
        right[4 * s] = word.x;
        right[4 * s + 1] = word.y;
        right[4 * s + 2] = word.z;
        right[4 * s + 3] = word.w;
      }
      ASSAY_UNROLL for (int y = 0; y < TM; ++y) {
        ASSAY_UNROLL for (int x = 0; x < TN; ++x) {
          sums[y][x] = __fmaf_rn(left[y], right[x], sums[y][x]);
        }
      }
    }
    if constexpr (kOverlap == Overlap::kNone) {
      __syncthreads();
    } else if constexpr (kOverlap == Overlap::kPrefetch) {
      __syncthreads();
      if (k0 + BK < k) keep(0);
      __syncthreads();
    } else {
      buffer ^= 1;
      if (k0 + BK < k) keep(buffer);
      __syncthreads();
    }
  }
  const gptr<float4> c4 = pointer_cast<float4>(c + (first_row + row) * n + first_column + column);
  ASSAY_UNROLL for (int y = 0; y < TM; ++y) {
    ASSAY_UNROLL for (int s = 0; s < kStrips; ++s) {
      c4[y * (n / 4) + s * kStrip / 4] =
          make_float4(sums[y][4 * s], sums[y][4 * s + 1], sums[y][4 * s + 2], sums[y][4 * s + 3]);
    }
  }
  SIMT_RETURN;
}

// blocks: how many of them an SM should hold at once, which bounds the registers.
#define ASSAY_LADDER_KERNEL(name, threads, blocks, ...)                                    \
  __global__ void __launch_bounds__(threads, blocks)                                       \
      name(gptr<const float> a, gptr<const float> b, gptr<float> c, int m, int n, int k) { \
    static_cast<void>(m);                                                                  \
    SIMT_CALL(__VA_ARGS__(a, b, c, n, k));                                                 \
  }

ASSAY_LADDER_KERNEL(SgemmSharedTile, 1024, 1, Tiled<32, 32, 32, 1, 1, Layout::kRows>)
ASSAY_LADDER_KERNEL(SgemmBankConflicts, 1024, 1, Tiled<32, 32, 32, 1, 1, Layout::kRowsByLane>)
ASSAY_LADDER_KERNEL(SgemmSharedColumns, 1024, 1, Tiled<32, 32, 32, 1, 1, Layout::kColumnsByLane>)
ASSAY_LADDER_KERNEL(SgemmFourRows, 256, 4, Tiled<32, 32, 32, 4, 1, Layout::kColumnsByLane>)
ASSAY_LADDER_KERNEL(Sgemm1dTile, 512, 2, Tiled<64, 64, 8, 8, 1, Layout::kRows>)
ASSAY_LADDER_KERNEL(Sgemm2dTile, 256, 2, Tiled<128, 128, 8, 8, 8, Layout::kRows>)
ASSAY_LADDER_KERNEL(Sgemm4x4, 256, 3,
                    WarpTiled<64, 64, 16, 8, 64, 4, 4, Columns::kStrips, Overlap::kNone>)
ASSAY_LADDER_KERNEL(SgemmFloat4, 256, 2,
                    WarpTiled<128, 128, 8, 16, 128, 8, 8, Columns::kAdjacent, Overlap::kNone>)
ASSAY_LADDER_KERNEL(SgemmWarpTile, 256, 2,
                    WarpTiled<128, 128, 8, 64, 32, 8, 8, Columns::kStrips, Overlap::kNone>)
ASSAY_LADDER_KERNEL(SgemmWideWarpTile, 128, 2,
                    WarpTiled<128, 128, 16, 64, 64, 8, 16, Columns::kStrips, Overlap::kNone>)
ASSAY_LADDER_KERNEL(SgemmPrefetch, 256, 1,
                    WarpTiled<128, 128, 8, 64, 32, 8, 8, Columns::kStrips, Overlap::kPrefetch>)
ASSAY_LADDER_KERNEL(SgemmDoubleBuffer, 256, 2,
                    WarpTiled<128, 128, 8, 64, 32, 8, 8, Columns::kStrips, Overlap::kDoubleBuffer>)

#undef ASSAY_LADDER_KERNEL

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_KERNELS_SGEMM_CU_H_
