// SPDX-License-Identifier: Apache-2.0
// Every kernel of the table, with and without its bug, for nvcc to compile.
#include "gpu/simt/verdicts/barriers.cu.h"
#include "gpu/simt/verdicts/global_races.cu.h"
#include "gpu/simt/verdicts/histograms.cu.h"
#include "gpu/simt/verdicts/memory.cu.h"
#include "gpu/simt/verdicts/shared_races.cu.h"

namespace assay::simt::verdicts {

#define VERDICT(kernel, ...) kernel<true>, kernel<false>
void (*const kKernels[])(const int* in, int* out, int n) = {
#include "gpu/simt/verdicts/table.inc"
    Copy<true>, Copy<false>};
#undef VERDICT

}  // namespace assay::simt::verdicts
