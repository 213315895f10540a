// SPDX-License-Identifier: Apache-2.0
#include "numerics/flops/chips.h"

namespace assay::flops {
namespace {

constexpr int64_t kTera = 1000000000000;
constexpr int64_t kGiga = 1000000000;

constexpr Chip kChips[] = {
    {"T4", 8100 * kGiga, 65 * kTera, 130 * kTera, 320 * kGiga, 16 * kGiga,
     "NVIDIA T4 data sheet: 8.1 TFLOPS single, 65 mixed, 130 TOPS INT8; 16 GB, 320 GB/s"},
    {"A100", 19500 * kGiga, 312 * kTera, 624 * kTera, 2039 * kGiga, 80 * kGiga,
     "NVIDIA A100 data sheet, SXM 80 GB: FP32 19.5, BF16 312, INT8 624; 2,039 GB/s"},
    {"H100", 67 * kTera, 989 * kTera, 1979 * kTera, 3350 * kGiga, 80 * kGiga,
     "NVIDIA H100 data sheet, SXM: FP32 67; BF16 1,979 and FP8 3,958 with sparsity, halved; 3.35 "
     "TB/s"},
    {"H200", 67 * kTera, 989 * kTera, 1979 * kTera, 4800 * kGiga, 141 * kGiga,
     "NVIDIA H200 data sheet, SXM: rates of the H100; 141 GB, 4.8 TB/s"},
    // Vectors: not published; products in bf16 and int8 alone. The rate of products stands for
    // both.
    {"TPU v4", 275 * kTera, 275 * kTera, 275 * kTera, 1200 * kGiga, 32 * (int64_t{1} << 30),
     "Jouppi et al., TPU v4 (2023), table 4: 275 TFLOPS in bf16 or int8, 32 GiB, 1,200 GB/s"},
};

}  // namespace

std::span<const Chip> Chips() { return kChips; }

const Chip* FindChip(std::string_view name) {
  for (const Chip& chip : kChips) {
    if (chip.name == name) return &chip;
  }
  return nullptr;
}

}  // namespace assay::flops
