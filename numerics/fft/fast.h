// SPDX-License-Identifier: Apache-2.0
//
// fast.h: plans of fft.h that are faster, and not the same to the bit.
//
//   absl::StatusOr<assay::fft::Plan<float>> plan = assay::fft::CreateFastPlan<float>(4096);
//
// Products are fused with the sums that take them where the processor can (AVX2, AVX-512), so a
// result depends on the processor, though not on the address, the scratch or the threads. The error
// bounds of Plan hold; errors are a little smaller, since fewer roundings are made.
#ifndef ASSAY_NUMERICS_FFT_FAST_H_
#define ASSAY_NUMERICS_FFT_FAST_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "numerics/fft/fft.h"

namespace assay::fft {

// T is float or double. Fail as Plan::Create and RealPlan::Create.
template <class T>
absl::StatusOr<Plan<T>> CreateFastPlan(int64_t n);
template <class T>
absl::StatusOr<RealPlan<T>> CreateFastRealPlan(int64_t n);

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_FAST_H_
