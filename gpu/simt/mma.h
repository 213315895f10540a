// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of a warp as device functions: inline PTX under nvcc, tensor_core.h in
// the simulator. All 32 lanes of the warp call them together.
//
//   mma_m16n8k8_f16(d, a, b, c)     d = a b + c; names as PTX has them, D and C of one type:
//       float[4] or uint32_t[2] (two f16 a register) for f16; float[4] for bf16; int for integers
//   mma_..._satfinite(d, a, b, c)   integer sums held to the range of int
//   mma_m8n8k128_b1_xor(d, a, b, c) the number of ones in the xor of a row and a column, and c
//   ldmatrix_x4(r, row)             r: uint32_t[4] (x1: [1], x2: [2]); row: this lane's row of 16
//   ldmatrix_x4_trans(r, row)       bytes in shared memory, aligned to 16
//
// a and b are uint32_t arrays of as many registers as the instruction has (tensor_core.h says what
// lies where); d may be c. sm_75 has m16n8k8_f16, m8n8k16_s8 and _u8, m8n8k32_s4, b1_xor and
// ldmatrix; the rest starts with sm_80, and ptxas refuses it for less.
//
// In the simulator floating-point sums are exact and rounded once. ldmatrix counts as one load of
// 16 bytes by the lanes whose rows it reads, which takes the wavefronts that ldmatrix takes.
//
// Source: PTX ISA, "Warp-level matrix instructions".
#ifndef ASSAY_GPU_SIMT_MMA_H_
#define ASSAY_GPU_SIMT_MMA_H_

#include "gpu/simt/simt.h"

#ifdef __CUDACC__
#include "gpu/simt/internal/mma_ptx.h"
#else

#include "gpu/simt/internal/mma_wait.h"

#define mma_m16n8k8_f16(d, a, b, c) \
  SIMT_AWAIT((::assay::simt::internal::MmaOf<16, 8, 8, ::assay::simt::MmaInput::kF16>(d, a, b, c)))
#define mma_m16n8k16_f16(d, a, b, c) \
  SIMT_AWAIT((::assay::simt::internal::MmaOf<16, 8, 16, ::assay::simt::MmaInput::kF16>(d, a, b, c)))
#define mma_m16n8k16_bf16(d, a, b, c) \
  SIMT_AWAIT(                         \
      (::assay::simt::internal::MmaOf<16, 8, 16, ::assay::simt::MmaInput::kBF16>(d, a, b, c)))
#define mma_m8n8k16_s8(d, a, b, c) \
  SIMT_AWAIT((::assay::simt::internal::MmaOf<8, 8, 16, ::assay::simt::MmaInput::kS8>(d, a, b, c)))
#define mma_m8n8k16_s8_satfinite(d, a, b, c) \
  SIMT_AWAIT(                                \
      (::assay::simt::internal::MmaOf<8, 8, 16, ::assay::simt::MmaInput::kS8, true>(d, a, b, c)))
#define mma_m8n8k16_u8(d, a, b, c) \
  SIMT_AWAIT((::assay::simt::internal::MmaOf<8, 8, 16, ::assay::simt::MmaInput::kU8>(d, a, b, c)))
#define mma_m8n8k16_u8_satfinite(d, a, b, c) \
  SIMT_AWAIT(                                \
      (::assay::simt::internal::MmaOf<8, 8, 16, ::assay::simt::MmaInput::kU8, true>(d, a, b, c)))
#define mma_m16n8k32_s8(d, a, b, c) \
  SIMT_AWAIT((::assay::simt::internal::MmaOf<16, 8, 32, ::assay::simt::MmaInput::kS8>(d, a, b, c)))
#define mma_m16n8k32_s8_satfinite(d, a, b, c) \
  SIMT_AWAIT(                                 \
      (::assay::simt::internal::MmaOf<16, 8, 32, ::assay::simt::MmaInput::kS8, true>(d, a, b, c)))
#define mma_m16n8k32_u8(d, a, b, c) \
  SIMT_AWAIT((::assay::simt::internal::MmaOf<16, 8, 32, ::assay::simt::MmaInput::kU8>(d, a, b, c)))
#define mma_m16n8k32_u8_satfinite(d, a, b, c) \
  SIMT_AWAIT(                                 \
      (::assay::simt::internal::MmaOf<16, 8, 32, ::assay::simt::MmaInput::kU8, true>(d, a, b, c)))
#define mma_m8n8k32_s4(d, a, b, c) \
  SIMT_AWAIT((::assay::simt::internal::MmaOf<8, 8, 32, ::assay::simt::MmaInput::kS4>(d, a, b, c)))
#define mma_m8n8k32_s4_satfinite(d, a, b, c) \
  SIMT_AWAIT(                                \
      (::assay::simt::internal::MmaOf<8, 8, 32, ::assay::simt::MmaInput::kS4, true>(d, a, b, c)))
#define mma_m8n8k128_b1_xor(d, a, b, c) \
  SIMT_AWAIT(                           \
      (::assay::simt::internal::MmaOf<8, 8, 128, ::assay::simt::MmaInput::kB1Xor>(d, a, b, c)))
#define mma_m8n8k128_b1_and(d, a, b, c) \
  SIMT_AWAIT(                           \
      (::assay::simt::internal::MmaOf<8, 8, 128, ::assay::simt::MmaInput::kB1And>(d, a, b, c)))
#define ldmatrix_x1(r, row) SIMT_AWAIT((::assay::simt::internal::LoadMatrixOf<1, false>(r, row)))
#define ldmatrix_x1_trans(r, row) \
  SIMT_AWAIT((::assay::simt::internal::LoadMatrixOf<1, true>(r, row)))
#define ldmatrix_x2(r, row) SIMT_AWAIT((::assay::simt::internal::LoadMatrixOf<2, false>(r, row)))
#define ldmatrix_x2_trans(r, row) \
  SIMT_AWAIT((::assay::simt::internal::LoadMatrixOf<2, true>(r, row)))
#define ldmatrix_x4(r, row) SIMT_AWAIT((::assay::simt::internal::LoadMatrixOf<4, false>(r, row)))
#define ldmatrix_x4_trans(r, row) \
  SIMT_AWAIT((::assay::simt::internal::LoadMatrixOf<4, true>(r, row)))

#endif  // nvcc

#endif  // ASSAY_GPU_SIMT_MMA_H_
