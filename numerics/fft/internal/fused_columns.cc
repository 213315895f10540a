// SPDX-License-Identifier: Apache-2.0
//
// columns.cc once more, with products fused with sums. Compiled by the fast profile.
#define ASSAY_FFT_NAMESPACE assay::fft::internal::fused
#define ASSAY_FFT_FUSED
#include "numerics/fft/internal/columns.cc"
