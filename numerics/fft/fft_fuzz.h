// SPDX-License-Identifier: Apache-2.0
//
// fft_fuzz.h: one property check for any bytes: lengths, methods, types and values are read from
// them.
#ifndef ASSAY_NUMERICS_FFT_FFT_FUZZ_H_
#define ASSAY_NUMERICS_FFT_FFT_FUZZ_H_

#include <cstdint>
#include <span>

namespace assay::fft {

// Does what the bytes say and aborts (ASSAY_CHECK) where a property fails: statuses for wrong
// lengths, the bounds of round trips, linearity and convolutions, exactness of integer products.
// Lengths up to 4096.
void FuzzOne(std::span<const uint8_t> bytes);

}  // namespace assay::fft

#endif  // ASSAY_NUMERICS_FFT_FFT_FUZZ_H_
