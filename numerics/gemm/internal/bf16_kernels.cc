// SPDX-License-Identifier: Apache-2.0
//
// AVX512_BF16: the products of two pairs of bfloat16 and their sum in one instruction. As Intel's
// manual defines it (Intel 64 and IA-32 Architectures Software Developer's Manual, VDPBF16PS):
// rounded to nearest, subnormal operands taken for 0, subnormal results made 0, the second product
// added to the sum first.
#define ASSAY_GEMM_NAMESPACE assay::gemm::internal::fused

#include "numerics/gemm/internal/bf16_kernels.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "numerics/floating/half.h"
#include "numerics/gemm/internal/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/gemm/internal/bf16_kernels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file once for each target.
#include "numerics/gemm/internal/strip-inl.h"
// After it: panels are as wide as tiles.
#include "numerics/gemm/internal/pack_groups-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::gemm::internal::fused::HWY_NAMESPACE {
namespace {

using Table = Kernels<floating::BFloat16, uint32_t, float>;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

struct PairProduct {
  using Packed = uint32_t;
  using Out = float;
  static constexpr bool kInPlace = false;
  static HWY_INLINE Vec<float> Multiply(Words a, Words b, Vec<float> s) {
    // Written out because Highway's name of this target does not let intrinsics of BF16 in.
    asm("vdpbf16ps %2, %1, %0" : "+v"(s) : "v"(a), "v"(b));
    return s;
  }
  static HWY_INLINE Vec<float> Scale(Vec<float> s, float factor) { return Splat(factor) * s; }
};

struct Pairs {
  using In = floating::BFloat16;
  static constexpr int kSteps = 2;
  static HWY_INLINE uint32_t One(const In* from, int64_t stride, int64_t steps) {
    return from[0].bits() | (steps > 1 ? static_cast<uint32_t>(from[stride].bits()) << 16 : 0u);
  }
  static HWY_INLINE Words Down(const In* from, int64_t stride) {
    const auto row = [](const In* at) HWY_ATTR {
      return reinterpret_cast<Words>(_mm512_maskz_cvtepu16_epi32(
          0xffff,
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(static_cast<const void*>(at)))));
    };
    return row(from) | (row(from + stride) << 16);
  }
  static HWY_INLINE Words Along(const In* from) {
    Words words;
    std::memcpy(&words, static_cast<const void*>(from), sizeof(words));
    return words;
  }
};

template <size_t... kRow>
constexpr Table MakeKernels(std::index_sequence<kRow...>) {
  return {
      .rows = kRowsAtMost,
      .group = 2,
      .cols = kPanelVectors * kWords,
      .wide_cols = kPanelVectors * kWords,
      .wide_rows = 0,
      .by_rows = {&RunStrip<PairProduct, kRow + 1, false>...},
      .by_columns = {&RunStrip<PairProduct, kRow + 1, true>...},
      .pack_rows = &PackRows<Pairs>,
      .pack_columns = &PackColumns<Pairs>,
      .pack_panel = &PackPanel<Pairs, float>,
      .begins = false,
  };
}

const Table* PairKernels() {
  static constexpr Table kTable = MakeKernels(std::make_index_sequence<kRowsAtMost>());
  return __builtin_cpu_supports("avx512bf16") ? &kTable : nullptr;
}

#else

const Table* PairKernels() { return nullptr; }

#endif

}  // namespace
}  // namespace assay::gemm::internal::fused::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::gemm::internal {
namespace fused {

HWY_EXPORT(PairKernels);

const Kernels<floating::BFloat16, uint32_t, float>* Choose() {
  return HWY_DYNAMIC_DISPATCH(PairKernels)();
}

}  // namespace fused

const Kernels<floating::BFloat16, uint32_t, float>* BF16PairKernels() { return fused::Choose(); }

}  // namespace assay::gemm::internal
#endif  // HWY_ONCE
