// SPDX-License-Identifier: Apache-2.0
// What a lane of the simulator waits for when it calls a matrix instruction (mma.h). The engine
// gathers the 32 lanes and runs the instruction once (awaiters.h, Exchange::kCollective).
#ifndef ASSAY_GPU_SIMT_INTERNAL_MMA_WAIT_H_
#define ASSAY_GPU_SIMT_INTERNAL_MMA_WAIT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gpu/simt/internal/awaiters.h"
#include "gpu/simt/internal/coroutine.h"
#include "gpu/simt/internal/thread.h"
#include "gpu/simt/pointer.h"
#include "gpu/simt/tensor_core.h"
#include "gpu/simt/vector_types.h"

namespace assay::simt::internal {

// What one lane brings and takes away.
struct MmaLane {
  MmaInstruction instruction;
  uint32_t a[kMaxMmaRegisters];
  uint32_t b[kMaxMmaRegisters];
  uint32_t c[kMaxMmaRegisters];
  uint32_t result[kMaxMmaRegisters];
};
struct LoadMatrixLane {
  int count;
  bool transposed;
  uint32_t row[4];  // of the first 8 count lanes
  uint32_t result[4];
};

void RunMma(WarpOperation* const (&lanes)[kWarpSize]);
void RunLoadMatrix(WarpOperation* const (&lanes)[kWarpSize]);

// The lane's result goes to `target` when the warp has run. Not to be copied: it points into itself
// once it waits.
template <class Lane, int kRegisters>
struct [[nodiscard]] CollectiveWait : WarpWait<void> {
  Lane lane;
  void* target;

  void await_suspend(std::coroutine_handle<> coroutine) noexcept {
    operation.operands = &lane;
    WarpWait<void>::await_suspend(coroutine);
  }
  void Park(Thread* thread) noexcept {
    operation.operands = &lane;
    WarpWait<void>::Park(thread);
  }
  void await_resume() const noexcept { std::memcpy(target, lane.result, 4 * kRegisters); }
};

// kind: tells instructions of one warp apart that must be the same.
inline WarpOperation Collective(void (*run)(WarpOperation* const (&)[kWarpSize]), uint32_t kind,
                                const Where& where) {
  WarpOperation operation;
  operation.exchange = Exchange::kCollective;
  operation.run = run;
  operation.bytes = kind;
  operation.where = where;
  return operation;
}

// The registers of one lane, as they lie in memory; target: kD registers for the result.
template <int kD>
CollectiveWait<MmaLane, kD> MmaOfRegisters(const MmaInstruction& instruction, void* target,
                                           const void* a, const void* b, const void* c,
                                           const Where& where) {
  CollectiveWait<MmaLane, kD> wait;
  const uint32_t kind = static_cast<uint32_t>(instruction.m) << 20 |
                        static_cast<uint32_t>(instruction.k) << 8 |
                        static_cast<uint32_t>(instruction.a) << 4 |
                        static_cast<uint32_t>(instruction.c) << 1 | instruction.saturate;
  wait.operation = Collective(RunMma, kind, where);
  wait.lane.instruction = instruction;
  std::memcpy(wait.lane.a, a, 4 * static_cast<size_t>(RegistersOfA(instruction)));
  std::memcpy(wait.lane.b, b, 4 * static_cast<size_t>(RegistersOfB(instruction)));
  std::memcpy(wait.lane.c, c, 4 * kD);
  wait.target = target;
  return wait;
}

template <int kM, int kN, int kK, MmaInput kInput, bool kSaturate = false, class D, int kD, int kA,
          int kB>
CollectiveWait<MmaLane, kD> MmaOf(D (&d)[kD], const uint32_t (&a)[kA], const uint32_t (&b)[kB],
                                  const D (&c)[kD], uint32_t line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
  constexpr MmaOutput kOutput = std::is_same_v<D, float> ? MmaOutput::kF32
                                : std::is_same_v<D, int> ? MmaOutput::kS32
                                                         : MmaOutput::kF16;
  constexpr MmaInstruction kInstruction = {kM, kN, kK, kInput, kInput, kOutput, kSaturate};
  static_assert(kA == RegistersOfA(kInstruction) && kB == RegistersOfB(kInstruction) &&
                kD == RegistersOfC(kInstruction));
  return MmaOfRegisters<kD>(kInstruction, d, a, b, c, {line, file});
}

template <int kCount, bool kTransposed, class RowPointer>
CollectiveWait<LoadMatrixLane, kCount> LoadMatrixOf(uint32_t (&r)[kCount], const RowPointer& row,
                                                    uint32_t line = __builtin_LINE(),
                                                    const char* file = __builtin_FILE()) {
  CollectiveWait<LoadMatrixLane, kCount> wait;
  wait.operation = Collective(RunLoadMatrix, kCount << 1 | kTransposed, {line, file});
  wait.lane.count = kCount;
  wait.lane.transposed = kTransposed;
  wait.target = r;
  if (current->lane < 8 * kCount) {
    const uint4 loaded = Load<uint4>(row.At(0), {line, file}, Action::kMatrixLoad);
    std::memcpy(wait.lane.row, &loaded, sizeof(loaded));
  }
  return wait;
}

}  // namespace assay::simt::internal

#endif  // ASSAY_GPU_SIMT_INTERNAL_MMA_WAIT_H_
