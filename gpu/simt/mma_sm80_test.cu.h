// SPDX-License-Identifier: Apache-2.0
// Kernels over the matrix instructions that came with sm_80.
#ifndef ASSAY_GPU_SIMT_MMA_SM80_TEST_CU_H_
#define ASSAY_GPU_SIMT_MMA_SM80_TEST_CU_H_

#include "gpu/simt/mma_test.cu.h"

namespace assay::simt::mma_test {

__global__ void F16K16(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const float> c,
                       gptr<float> d) {
  Lane<float, 4, 2, 4> lane;
  lane.Load(a, b, c);
  mma_m16n8k16_f16(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void F16K16Half(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const uint32_t> c,
                           gptr<uint32_t> d) {
  Lane<uint32_t, 4, 2, 2> lane;
  lane.Load(a, b, c);
  mma_m16n8k16_f16(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void BF16K16(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const float> c,
                        gptr<float> d) {
  Lane<float, 4, 2, 4> lane;
  lane.Load(a, b, c);
  mma_m16n8k16_bf16(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void S8K32(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c,
                      gptr<int> d) {
  Lane<int, 4, 2, 4> lane;
  lane.Load(a, b, c);
  mma_m16n8k32_s8(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void S8K32Satfinite(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c,
                               gptr<int> d) {
  Lane<int, 4, 2, 4> lane;
  lane.Load(a, b, c);
  mma_m16n8k32_s8_satfinite(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void U8K32(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c,
                      gptr<int> d) {
  Lane<int, 4, 2, 4> lane;
  lane.Load(a, b, c);
  mma_m16n8k32_u8(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void U8K32Satfinite(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c,
                               gptr<int> d) {
  Lane<int, 4, 2, 4> lane;
  lane.Load(a, b, c);
  mma_m16n8k32_u8_satfinite(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void B1And(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c,
                      gptr<int> d) {
  Lane<int, 1, 1, 2> lane;
  lane.Load(a, b, c);
  mma_m8n8k128_b1_and(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}

}  // namespace assay::simt::mma_test

#endif  // ASSAY_GPU_SIMT_MMA_SM80_TEST_CU_H_
