// SPDX-License-Identifier: Apache-2.0
// The device functions of mma.h for nvcc.
#ifndef ASSAY_GPU_SIMT_INTERNAL_MMA_PTX_H_
#define ASSAY_GPU_SIMT_INTERNAL_MMA_PTX_H_

#include <cstdint>

namespace assay::simt {
namespace internal {

__device__ __forceinline__ uint32_t SharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace internal

// ---- sm_75 and newer

__device__ __forceinline__ void mma_m16n8k8_f16(float (&d)[4], const uint32_t (&a)[2],
                                                const uint32_t (&b)[1], const float (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, "
      "%9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__device__ __forceinline__ void mma_m16n8k8_f16(uint32_t (&d)[2], const uint32_t (&a)[2],
                                                const uint32_t (&b)[1], const uint32_t (&c)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
__device__ __forceinline__ void mma_m8n8k16_s8(int (&d)[2], const uint32_t (&a)[1],
                                               const uint32_t (&b)[1], const int (&c)[2]) {
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
__device__ __forceinline__ void mma_m8n8k16_s8_satfinite(int (&d)[2], const uint32_t (&a)[1],
                                                         const uint32_t (&b)[1],
                                                         const int (&c)[2]) {
  asm volatile(
      "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
__device__ __forceinline__ void mma_m8n8k16_u8(int (&d)[2], const uint32_t (&a)[1],
                                               const uint32_t (&b)[1], const int (&c)[2]) {
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
__device__ __forceinline__ void mma_m8n8k16_u8_satfinite(int (&d)[2], const uint32_t (&a)[1],
                                                         const uint32_t (&b)[1],
                                                         const int (&c)[2]) {
  asm volatile(
      "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
__device__ __forceinline__ void mma_m8n8k32_s4(int (&d)[2], const uint32_t (&a)[1],
                                               const uint32_t (&b)[1], const int (&c)[2]) {
  asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
__device__ __forceinline__ void mma_m8n8k32_s4_satfinite(int (&d)[2], const uint32_t (&a)[1],
                                                         const uint32_t (&b)[1],
                                                         const int (&c)[2]) {
  asm volatile(
      "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.s4.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
__device__ __forceinline__ void mma_m8n8k128_b1_xor(int (&d)[2], const uint32_t (&a)[1],
                                                    const uint32_t (&b)[1], const int (&c)[2]) {
  asm volatile(
      "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
template <class T>
__device__ __forceinline__ void ldmatrix_x1(uint32_t (&r)[1], T* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(internal::SharedAddress(row))
               : "memory");
}
template <class T>
__device__ __forceinline__ void ldmatrix_x1_trans(uint32_t (&r)[1], T* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(internal::SharedAddress(row))
               : "memory");
}
template <class T>
__device__ __forceinline__ void ldmatrix_x2(uint32_t (&r)[2], T* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(internal::SharedAddress(row))
               : "memory");
}
template <class T>
__device__ __forceinline__ void ldmatrix_x2_trans(uint32_t (&r)[2], T* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(internal::SharedAddress(row))
               : "memory");
}
template <class T>
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], T* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(internal::SharedAddress(row))
               : "memory");
}
template <class T>
__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], T* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(internal::SharedAddress(row))
               : "memory");
}
// ---- sm_80 and newer

__device__ __forceinline__ void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2], const float (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
}
__device__ __forceinline__ void mma_m16n8k16_f16(uint32_t (&d)[2], const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2], const uint32_t (&c)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%8, %9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4],
                                                  const uint32_t (&b)[2], const float (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
}
__device__ __forceinline__ void mma_m16n8k32_s8(int (&d)[4], const uint32_t (&a)[4],
                                                const uint32_t (&b)[2], const int (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]),
        "r"(c[2]), "r"(c[3]));
}
__device__ __forceinline__ void mma_m16n8k32_s8_satfinite(int (&d)[4], const uint32_t (&a)[4],
                                                          const uint32_t (&b)[2],
                                                          const int (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, "
      "%7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]),
        "r"(c[2]), "r"(c[3]));
}
__device__ __forceinline__ void mma_m16n8k32_u8(int (&d)[4], const uint32_t (&a)[4],
                                                const uint32_t (&b)[2], const int (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]),
        "r"(c[2]), "r"(c[3]));
}
__device__ __forceinline__ void mma_m16n8k32_u8_satfinite(int (&d)[4], const uint32_t (&a)[4],
                                                          const uint32_t (&b)[2],
                                                          const int (&c)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, "
      "%7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]),
        "r"(c[2]), "r"(c[3]));
}
__device__ __forceinline__ void mma_m8n8k128_b1_and(int (&d)[2], const uint32_t (&a)[1],
                                                    const uint32_t (&b)[1], const int (&c)[2]) {
  asm volatile(
      "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]));
}
}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_INTERNAL_MMA_PTX_H_
