// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "gpu/simt/internal/awaiters.h"
#include "gpu/simt/internal/mma_wait.h"
#include "gpu/simt/tensor_core.h"

namespace assay::simt::internal {

void RunMma(WarpOperation* const (&lanes)[kWarpSize]) {
  MmaOperands operands;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    auto* mine = static_cast<MmaLane*>(lanes[lane]->operands);
    operands.a[lane] = mine->a;
    operands.b[lane] = mine->b;
    operands.c[lane] = mine->c;
    operands.d[lane] = mine->result;
  }
  Mma(static_cast<MmaLane*>(lanes[0]->operands)->instruction, operands);
}

void RunLoadMatrix(WarpOperation* const (&lanes)[kWarpSize]) {
  const uint32_t* rows[kWarpSize];
  uint32_t* registers[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    auto* mine = static_cast<LoadMatrixLane*>(lanes[lane]->operands);
    rows[lane] = mine->row;
    registers[lane] = mine->result;
  }
  const auto* first = static_cast<LoadMatrixLane*>(lanes[0]->operands);
  LoadMatrix(first->count, first->transposed, rows, registers);
}

}  // namespace assay::simt::internal
