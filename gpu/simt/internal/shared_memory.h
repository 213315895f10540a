// SPDX-License-Identifier: Apache-2.0
// Declarations of shared memory, as the kernel's text meets them.
#ifndef ASSAY_GPU_SIMT_INTERNAL_SHARED_MEMORY_H_
#define ASSAY_GPU_SIMT_INTERNAL_SHARED_MEMORY_H_

#include <cstdint>

#include "gpu/simt/internal/thread.h"

namespace assay::simt::internal {

// A __shared__ variable: one object for every place (and template instance) that declares one.
struct SharedDeclaration {
  const char* name;
  uint32_t element_bytes;
  uint32_t alignment;
  int extents[3];
  Where where;
};

// The address of the variable in the current thread's block: the first thread to come makes it.
uint64_t DeclareShared(const SharedDeclaration& declaration);

// The memory that the launch asked for, under the name of the first declaration.
uint64_t DynamicShared(const char* name, uint32_t element_bytes);

}  // namespace assay::simt::internal

#endif  // ASSAY_GPU_SIMT_INTERNAL_SHARED_MEMORY_H_
