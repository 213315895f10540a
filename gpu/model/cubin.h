// SPDX-License-Identifier: Apache-2.0
// Reads a cubin, the ELF file of machine code that `nvcc -cubin` writes: kernels, what they need of
// a multiprocessor, and their code.
#ifndef ASSAY_GPU_MODEL_CUBIN_H_
#define ASSAY_GPU_MODEL_CUBIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace assay::model {

struct CubinKernel {
  std::string name;           // mangled
  int registers = 0;          // per thread
  int64_t static_shared = 0;  // bytes a block, without what the driver reserves
  int64_t local_bytes = 0;    // stack of a thread: spilled registers and local arrays
  std::string code;           // 16 bytes an instruction
};

struct Cubin {
  int compute_capability = 0;
  std::string tool;  // version of the ptxas that made it, "13.0.88"; empty where none is told
  std::vector<CubinKernel> kernels;  // as in the symbol table
};

// Checked: sm_75, sm_80, sm_86, sm_89 and sm_90 by CUDA 13.0; the fields that only newer or older
// toolkits write are not read. Cost: linear in the file, but for the names.
// Fails: InvalidArgument for what is not such a file, or points outside itself; files over 64 MiB.
absl::StatusOr<Cubin> ReadCubin(absl::string_view bytes);

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_CUBIN_H_
