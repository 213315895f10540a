// SPDX-License-Identifier: Apache-2.0
//
// targets.h: which of Highway's targets kernels are compiled for. Included before Highway.
#ifndef ASSAY_NUMERICS_GEMM_INTERNAL_TARGETS_H_
#define ASSAY_NUMERICS_GEMM_INTERNAL_TARGETS_H_

#if defined(ASSAY_FUZZ) || defined(__wasm__)
// Instrumented, each target takes the compiler long; in WebAssembly there is but one, and code is
// downloaded.
#define HWY_COMPILE_ONLY_STATIC
#else
// Vectors are the compiler's own: of the targets that have the same width, one each.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SSE4 | HWY_SSSE3)
#endif

#endif  // ASSAY_NUMERICS_GEMM_INTERNAL_TARGETS_H_
