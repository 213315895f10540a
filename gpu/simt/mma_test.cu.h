// SPDX-License-Identifier: Apache-2.0
// Kernels over the matrix instructions that every GPU since sm_75 has.
#ifndef ASSAY_GPU_SIMT_MMA_TEST_CU_H_
#define ASSAY_GPU_SIMT_MMA_TEST_CU_H_

#include "gpu/simt/mma.h"
#include "gpu/simt/wmma.h"

namespace assay::simt::mma_test {

// D = A B + C by one instruction; each lane's registers lie in a row of `a`, `b`, `c`.
template <class D, int kA, int kB, int kC>
struct Lane {
  uint32_t a[kA];
  uint32_t b[kB];
  D c[kC];

  __device__ void Load(gptr<const uint32_t> from_a, gptr<const uint32_t> from_b,
                       gptr<const D> from_c) {
    const int lane = static_cast<int>(threadIdx.x);
    for (int r = 0; r < kA; ++r) a[r] = from_a[lane * kA + r];
    for (int r = 0; r < kB; ++r) b[r] = from_b[lane * kB + r];
    for (int r = 0; r < kC; ++r) c[r] = from_c[lane * kC + r];
  }
  __device__ void Store(gptr<D> to) const {
    for (int r = 0; r < kC; ++r) to[static_cast<int>(threadIdx.x) * kC + r] = c[r];
  }
};

__global__ void F16(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const float> c,
                    gptr<float> d) {
  Lane<float, 2, 1, 4> lane;
  lane.Load(a, b, c);
  mma_m16n8k8_f16(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void F16Half(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const uint32_t> c,
                        gptr<uint32_t> d) {
  Lane<uint32_t, 2, 1, 2> lane;
  lane.Load(a, b, c);
  mma_m16n8k8_f16(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void S8(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c, gptr<int> d) {
  Lane<int, 1, 1, 2> lane;
  lane.Load(a, b, c);
  mma_m8n8k16_s8(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void S8Satfinite(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c,
                            gptr<int> d) {
  Lane<int, 1, 1, 2> lane;
  lane.Load(a, b, c);
  mma_m8n8k16_s8_satfinite(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void U8(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c, gptr<int> d) {
  Lane<int, 1, 1, 2> lane;
  lane.Load(a, b, c);
  mma_m8n8k16_u8(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void U8Satfinite(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c,
                            gptr<int> d) {
  Lane<int, 1, 1, 2> lane;
  lane.Load(a, b, c);
  mma_m8n8k16_u8_satfinite(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void S4(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c, gptr<int> d) {
  Lane<int, 1, 1, 2> lane;
  lane.Load(a, b, c);
  mma_m8n8k32_s4(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void S4Satfinite(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c,
                            gptr<int> d) {
  Lane<int, 1, 1, 2> lane;
  lane.Load(a, b, c);
  mma_m8n8k32_s4_satfinite(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}
__global__ void B1Xor(gptr<const uint32_t> a, gptr<const uint32_t> b, gptr<const int> c,
                      gptr<int> d) {
  Lane<int, 1, 1, 2> lane;
  lane.Load(a, b, c);
  mma_m8n8k128_b1_xor(lane.c, lane.a, lane.b, lane.c);
  lane.Store(d);
}

// C = A B for row-major f16 A [16, 8], B [8, 8]: rows of A and B come by ldmatrix from shared
// memory, B transposed, because the instruction wants its columns.
__global__ void ProductByLdmatrix(gptr<const half> a, gptr<const half> b, gptr<float> c) {
  SHARED(half, tile_a, 128);
  SHARED(half, tile_b, 64);
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < 128; i += 32) tile_a[i] = a[i];
  for (int i = lane; i < 64; i += 32) tile_b[i] = b[i];
  __syncwarp();
  uint32_t ra[2];
  uint32_t rb[1];
  float rc[4] = {0, 0, 0, 0};
  ldmatrix_x2(ra, &tile_a[lane % 16 * 8]);
  ldmatrix_x1_trans(rb, &tile_b[lane % 8 * 8]);
  mma_m16n8k8_f16(rc, ra, rb, rc);
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4 + 8 * (i / 2);
    c[row * 8 + 2 * (lane % 4) + i % 2] = rc[i];
  }
}

// All six forms of ldmatrix on 32 rows of 16 bytes, one after the other: registers of lane l of
// form f at out[32 * 4 * f + 4 l].
__global__ void AllLdmatrix(gptr<const uint4> rows, gptr<uint32_t> out) {
  SHARED(uint4, tile, 32);
  const int lane = static_cast<int>(threadIdx.x);
  tile[lane] = rows[lane];
  __syncwarp();
  uint32_t one[1];
  uint32_t two[2];
  uint32_t four[4];
  ldmatrix_x1(one, &tile[lane]);
  out[4 * lane] = one[0];
  ldmatrix_x1_trans(one, &tile[lane]);
  out[128 + 4 * lane] = one[0];
  ldmatrix_x2(two, &tile[lane]);
  for (int i = 0; i < 2; ++i) out[256 + 4 * lane + i] = two[i];
  ldmatrix_x2_trans(two, &tile[lane]);
  for (int i = 0; i < 2; ++i) out[384 + 4 * lane + i] = two[i];
  ldmatrix_x4(four, &tile[lane]);
  for (int i = 0; i < 4; ++i) out[512 + 4 * lane + i] = four[i];
  ldmatrix_x4_trans(four, &tile[lane]);
  for (int i = 0; i < 4; ++i) out[640 + 4 * lane + i] = four[i];
}

// D = alpha A B + C for 16 x 16 tiles; A by rows, B by columns, C by rows, D by columns.
template <class T, class Sum>
__global__ void Wmma(gptr<const T> a, gptr<const T> b, gptr<const Sum> c, gptr<Sum> d, Sum alpha) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> fc;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> product;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> zero;
  wmma::fill_fragment(product, static_cast<Sum>(7));  // to be overwritten
  wmma::fill_fragment(zero, static_cast<Sum>(0));
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  WMMA_MMA_SYNC(product, fa, fb, zero);
  for (int i = 0; i < fc.num_elements; ++i) {
    fc.x[i] = static_cast<Sum>(alpha * product.x[i] + fc.x[i]);
  }
  wmma::store_matrix_sync(d, fc, 16, wmma::mem_col_major);
}

template __global__ void Wmma<half, float>(gptr<const half>, gptr<const half>, gptr<const float>,
                                           gptr<float>, float);
template __global__ void Wmma<half, half>(gptr<const half>, gptr<const half>, gptr<const half>,
                                          gptr<half>, half);
template __global__ void Wmma<signed char, int>(gptr<const signed char>, gptr<const signed char>,
                                                gptr<const int>, gptr<int>, int);
template __global__ void Wmma<unsigned char, int>(gptr<const unsigned char>,
                                                  gptr<const unsigned char>, gptr<const int>,
                                                  gptr<int>, int);

// Half of the warp leaves the other alone with the instruction.
__global__ void MissingLanes(gptr<float> d) {
  if (threadIdx.x >= 16) KERNEL_RETURN;
  uint32_t a[2] = {0, 0};
  uint32_t b[1] = {0};
  float c[4] = {0, 0, 0, 0};
  mma_m16n8k8_f16(c, a, b, c);
  d[threadIdx.x] = c[0];
}

}  // namespace assay::simt::mma_test

#endif  // ASSAY_GPU_SIMT_MMA_TEST_CU_H_
