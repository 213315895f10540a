// SPDX-License-Identifier: Apache-2.0
// What machine code is made of: warp instructions by kind and by loop.
//
// ptxas merges loads, unrolls loops and turns products into shifts, so the source does not say how
// many instructions run. The code does: 16 bytes an instruction, the low 12 bits of which are its
// opcode (the low 9 what it does, the others where its operands come from).
#ifndef ASSAY_GPU_MODEL_SASS_H_
#define ASSAY_GPU_MODEL_SASS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu/model/cubin.h"

namespace assay::model {

// The unit of an SM that an instruction keeps busy.
enum class Pipe {
  kFma,  // FP32, packed FP16, integer multiplication
  kAlu,  // integers, logic, comparisons, moves
  kFp64,
  kSpecial,  // reciprocals, roots, sines, conversions, bit counts
  kTensor,
  kLoadStore,  // memory, shuffles
  kUniform,    // the scalar unit
  kControl,    // branches, barriers, nothing
  kOther,      // not in our table
};
constexpr int kPipes = 9;

// "fma", "alu", "fp64", "special", "tensor", "load-store", "uniform", "control", "other".
absl::string_view PipeName(Pipe pipe);

// What a name like "FFMA", "LDS.128" or "HMMA.1688" says.
struct InstructionKind {
  Pipe pipe = Pipe::kOther;
  int lane_bytes = 0;        // of a memory access: bytes a lane asks for
  int64_t flops = 0;         // of a tensor instruction: operations of the whole warp
  bool global_load = false;  // waits for L1, L2 or device memory
};
InstructionKind KindOf(absl::string_view name);

struct InstructionCount {
  std::string name;
  int64_t count = 0;

  friend bool operator==(const InstructionCount&, const InstructionCount&) = default;
};

// Instructions of one pass through a loop, without those of the loops inside it. Predicated ones
// count: they take their slot whether or not they do something.
struct LoopMix {
  int parent = -1;    // the loop around it, an index into KernelMix::loops; -1 for loops[0]
  int64_t begin = 0;  // where its header is, in instructions from the kernel's first
  std::vector<InstructionCount> instructions;  // by name

  friend bool operator==(const LoopMix&, const LoopMix&) = default;
};

struct KernelMix {
  std::string name;
  int registers = 0;
  int64_t static_shared = 0;
  int64_t local_bytes = 0;
  std::vector<LoopMix> loops;  // [0] is all that is in no loop; the others by `begin`

  friend bool operator==(const KernelMix&, const KernelMix&) = default;
};

// Disassembles a kernel as far as the mix needs it. A loop is a natural loop: a branch back to an
// instruction that lies on every way to the branch. Code that a call reaches counts as outside.
// Checked for sm_75 and sm_90, and in parts for sm_80, sm_86 and sm_89.
// Cost: O(instructions (1 + backward branches)).
// Fails: InvalidArgument for a branch out of the kernel; ResourceExhausted for more than 2^20
// instructions or 256 branches back.
absl::StatusOr<KernelMix> MixOf(const CubinKernel& kernel, int compute_capability);

}  // namespace assay::model

#endif  // ASSAY_GPU_MODEL_SASS_H_
