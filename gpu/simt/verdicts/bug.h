// SPDX-License-Identifier: Apache-2.0
// How a kernel of the verdict table marks the line that a checker must name.
#ifndef ASSAY_GPU_SIMT_VERDICTS_BUG_H_
#define ASSAY_GPU_SIMT_VERDICTS_BUG_H_

#include "gpu/simt/simt.h"

#ifdef __CUDACC__

#define BUG(...) __VA_ARGS__

#else

namespace assay::simt::verdicts {

// The line of the BUG that ran last: each kernel has one. A table could not know it at compile time
// without counting lines by hand, and a file cannot be read in WebAssembly.
inline thread_local int bug_line = 0;

}  // namespace assay::simt::verdicts

// One statement on one line.
#define BUG(...)                                  \
  do {                                            \
    ::assay::simt::verdicts::bug_line = __LINE__; \
    __VA_ARGS__;                                  \
  } while (false)

#endif

#endif  // ASSAY_GPU_SIMT_VERDICTS_BUG_H_
