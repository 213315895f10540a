// SPDX-License-Identifier: Apache-2.0
//
// What one thread of this machine can do at most.
#ifndef ASSAY_NUMERICS_CORE_CEILINGS_H_
#define ASSAY_NUMERICS_CORE_CEILINGS_H_

#include <string>

namespace assay {

// triad: a = b + s c on arrays far larger than any cache, 24 bytes an element. fma: fused
// multiply-adds (two operations each) with the widest vectors that Highway finds; a multiplication
// and an addition where the processor cannot fuse.
struct Ceilings {
  double triad_bytes_per_s = 0;
  double fma_f64_flops_per_s = 0;
  double fma_f32_flops_per_s = 0;
  std::string vector;  // Highway's name of the target: "AVX3", "AVX2", ...
};

// Measures them: the best of several tries each, since a ceiling is a maximum. About a second.
Ceilings MeasureCeilings();

// The vectors that MeasureCeilings uses here.
std::string WidestVectors();

}  // namespace assay

#endif  // ASSAY_NUMERICS_CORE_CEILINGS_H_
