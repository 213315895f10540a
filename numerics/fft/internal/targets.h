// SPDX-License-Identifier: Apache-2.0
//
// targets.h: which of Highway's targets the engine is compiled for. Included before Highway.
#ifndef ASSAY_NUMERICS_FFT_INTERNAL_TARGETS_H_
#define ASSAY_NUMERICS_FFT_INTERNAL_TARGETS_H_

#ifdef ASSAY_FUZZ
// Instrumented, each target takes the compiler half a minute and more.
#define HWY_COMPILE_ONLY_STATIC
#else
// Of the targets that differ by instructions not used here, one each.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SSSE3)
#endif

#endif  // ASSAY_NUMERICS_FFT_INTERNAL_TARGETS_H_
