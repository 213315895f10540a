// SPDX-License-Identifier: Apache-2.0
// Races on counters in shared memory: each kernel with its bug (kBug) and without.
#ifndef ASSAY_GPU_SIMT_VERDICTS_HISTOGRAMS_CU_H_
#define ASSAY_GPU_SIMT_VERDICTS_HISTOGRAMS_CU_H_

#include "gpu/simt/verdicts/bug.h"

namespace assay::simt::verdicts {

template <bool kBug>
__global__ void HistogramWithoutAtomics(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, bins, 8);
  const int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  __syncthreads();
  if (kBug) BUG(bins[in[t] % 8] += 1);
  if (!kBug) atomicAdd(&bins[in[t] % 8], 1);
  __syncthreads();
  if (t < 8) out[t] = bins[t];
}

template <bool kBug>
__global__ void HistogramClearedTooLate(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, bins, 8);
  const int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  if (!kBug) __syncthreads();
  BUG(atomicAdd(&bins[in[t] % 8], 1));
  __syncthreads();
  if (t < 8) out[t] = bins[t];
}

template <bool kBug>
__global__ void HistogramReadTooEarly(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, bins, 8);
  const int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[t] % 8], 1);
  if (!kBug) __syncthreads();
  if (t < 8) BUG(out[t] = bins[t]);
}

// A place in a list for every even value, from a counter that is no atomic.
template <bool kBug>
__global__ void CompactionCounter(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, count, 1);
  const int t = threadIdx.x;
  if (t == 0) count[0] = 0;
  __syncthreads();
  if (in[t] % 2 == 0) {
    if (kBug) BUG(count[0] += 1);
    if (!kBug) atomicAdd(&count[0], 1);
  }
  __syncthreads();
  out[t] = count[0];
}

// One addition for all lanes of a warp with the same bin, by the first of them.
template <bool kBug>
__global__ void WarpAggregated(gptr<const int> in, gptr<int> out, int) {
  SHARED(int, bins, 8);
  const int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  __syncthreads();
  const int bin = in[t] % 8;
  unsigned int same = __match_any_sync(0xFFFFFFFFu, bin);
  if (t % 32 == __ffs(static_cast<int>(same)) - 1) {
    if (kBug) BUG(bins[bin] += __popc(same));
    if (!kBug) atomicAdd(&bins[bin], __popc(same));
  }
  __syncthreads();
  if (t < 8) out[t] = bins[t];
}

}  // namespace assay::simt::verdicts

#endif  // ASSAY_GPU_SIMT_VERDICTS_HISTOGRAMS_CU_H_
