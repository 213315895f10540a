// SPDX-License-Identifier: Apache-2.0
//
// chips.h: named chips as two peaks, by what their makers publish (cited; dense rates, never those
// for sparse matrices). gpu/model/machines has more of the T4 and the H200, for another model.
#ifndef ASSAY_NUMERICS_FLOPS_CHIPS_H_
#define ASSAY_NUMERICS_FLOPS_CHIPS_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace assay::flops {

enum class Precision { kF32, kF16, kF8 };  // kF16: f16 or bf16; kF8: f8, or int8 where that is all

// A caller's own machine is a Chip with measured rates.
struct Chip {
  std::string_view name;
  int64_t f32 = 0;  // flop/s of vectors, and of products in f32
  int64_t f16 = 0;  // flop/s of products
  int64_t f8 = 0;
  int64_t bandwidth = 0;  // byte/s
  int64_t memory = 0;     // bytes
  std::string_view source;
  int64_t ProductRate(Precision precision) const {
    return precision == Precision::kF32 ? f32 : precision == Precision::kF16 ? f16 : f8;
  }
};

std::span<const Chip> Chips();

// The chip of this name; nullptr if there is none.
const Chip* FindChip(std::string_view name);

}  // namespace assay::flops

#endif  // ASSAY_NUMERICS_FLOPS_CHIPS_H_
