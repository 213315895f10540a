// SPDX-License-Identifier: Apache-2.0
// Instruction mixes as text, so that they can be committed, read by people, compared, and used
// where there is no compiler: in the browser, on a machine without the CUDA toolkit.
//
//   target sm_75
//   tool ptxas 13.0.88
//   kernel Copy registers 16 shared 0 local 0
//   loop 0 at 0
//    LDG.32 1
//    STG.32 1
//   loop 1 in 0 at 12
//    FFMA 8
//
// Blank lines and lines that begin with # say nothing.
#ifndef ASSAY_GPU_MODEL_MIX_H_
#define ASSAY_GPU_MODEL_MIX_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu/model/cubin.h"
#include "gpu/model/sass.h"

namespace assay::model {

// The mixes of a cubin's kernels.
struct Mix {
  int compute_capability = 0;
  std::string tool;
  std::vector<KernelMix> kernels;  // by name

  friend bool operator==(const Mix&, const Mix&) = default;
};

// Fails as MixOf.
absl::StatusOr<Mix> MixOfAll(const Cubin& cubin);

// The text of a mix; ParseMix gives the mix back.
std::string FormatMix(const Mix& mix);

// Cost: linear in the text. Fails: InvalidArgument with the line, for text that is not a mix,
// counts over 2^40, loops in no order, more than 4 MiB.
absl::StatusOr<Mix> ParseMix(absl::string_view text);

// The kernel of this name, or nullptr.
const KernelMix* FindKernel(const Mix& mix, absl::string_view name);

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_MIX_H_
