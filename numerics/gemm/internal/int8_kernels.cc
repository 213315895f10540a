// SPDX-License-Identifier: Apache-2.0
//
// With AVX512_VNNI four products and their sum are one instruction, of unsigned bytes by signed
// ones. Where both are signed, A's are packed as a + 128, and sums begin with -128 times the sums
// of B's columns. Elsewhere bytes become 16-bit numbers, two products and their sum one
// instruction: at most 2 (255 * 128) in magnitude, so nothing saturates.
#define HWY_WANT_AVX3_DL
#include "numerics/gemm/internal/int8_kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(ASSAY_FUZZ) || defined(__wasm__)
#define HWY_COMPILE_ONLY_STATIC
#else
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3)
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/gemm/internal/int8_kernels.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, which includes this file once for each target.
#include "numerics/gemm/internal/strip-inl.h"
// After it: panels are as wide as tiles.
#include "numerics/gemm/internal/pack_groups-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::gemm::internal::HWY_NAMESPACE {
namespace {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
constexpr bool kBytes = true;
#else
constexpr bool kBytes = false;
#endif
constexpr int kGroup = kBytes ? 4 : 2;

template <Signs kSigns>
struct IntegerProduct {
  using Packed = uint32_t;
  using Out = uint32_t;
  static constexpr bool kInPlace = false;

  static HWY_INLINE Words Multiply(Words a, Words b, Words s) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
    // Written out because Highway's name of this target does not let intrinsics of VNNI in.
    if (kSigns == Signs::kUnsignedB) std::swap(a, b);
    asm("vpdpbusd %2, %1, %0" : "+v"(s) : "v"(a), "v"(b));
    return s;
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    return s + reinterpret_cast<Words>(
                   _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    return s + reinterpret_cast<Words>(
                   _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif HWY_ARCH_X86
    return s + reinterpret_cast<Words>(
                   _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#elif HWY_ARCH_WASM
    return s + reinterpret_cast<Words>(
                   wasm_i32x4_dot_i16x8(reinterpret_cast<v128_t>(a), reinterpret_cast<v128_t>(b)));
#else
#error "no product of pairs of 16-bit numbers for this processor"
#endif
  }
  static HWY_INLINE Words Scale(Words s, uint32_t) { return s; }
};

// One element as it is packed, in the low bits.
template <bool kSigned, bool kOffset>
HWY_INLINE uint32_t Widen(uint8_t x) {
  if (kBytes) return kOffset ? x ^ 0x80u : x;
  const int value = kSigned ? static_cast<int>(static_cast<int8_t>(x)) : static_cast<int>(x);
  return static_cast<uint32_t>(value) & 0xffffu;
}
// What stands for 0, in each element of a group.
template <bool kOffset>
constexpr uint32_t kZeros = kBytes&& kOffset ? 0x80808080u : 0;

// kGroup steps from `from` on, of which `steps` are there.
template <bool kSigned, bool kOffset>
HWY_INLINE uint32_t GroupOf(const uint8_t* from, int64_t stride, int64_t steps) {
  constexpr int kBits = 32 / kGroup;
  uint32_t group = kZeros<kOffset>;
  for (int i = 0; i < std::min<int64_t>(kGroup, steps); ++i) {
    const uint32_t mask = (kBytes ? 0xffu : 0xffffu) << (kBits * i);
    group = (group & ~mask) | (Widen<kSigned, kOffset>(from[i * stride]) << (kBits * i));
  }
  return group;
}

// kWords bytes, each as a word. (g++ 12 takes the vectors of __builtin_convertvector apart, and
// warns of its own header where no mask is given.)
template <bool kSigned>
HWY_INLINE Words WordsOf(const uint8_t* from) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return reinterpret_cast<Words>(kSigned ? _mm512_maskz_cvtepi8_epi32(0xffff, bytes)
                                         : _mm512_maskz_cvtepu8_epi32(0xffff, bytes));
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return reinterpret_cast<Words>(kSigned ? _mm256_cvtepi8_epi32(bytes)
                                         : _mm256_cvtepu8_epi32(bytes));
#else
  Words words;
  for (int i = 0; i < kWords; ++i) {
    words[i] = static_cast<uint32_t>(kSigned ? static_cast<int8_t>(from[i]) : from[i]);
  }
  return words;
#endif
}

// kWords groups side by side: the elements of kWords columns (neighbours) at kGroup steps (stride
// apart).
template <bool kSigned, bool kOffset>
HWY_INLINE Words GroupsDown(const uint8_t* from, int64_t stride) {
  if constexpr (kBytes) {
    const Words groups = WordsOf<false>(from) | (WordsOf<false>(from + stride) << 8) |
                         (WordsOf<false>(from + 2 * stride) << 16) |
                         (WordsOf<false>(from + 3 * stride) << 24);
    return kOffset ? groups ^ 0x80808080u : groups;
  } else {
    return (WordsOf<kSigned>(from) & 0xffffu) | (WordsOf<kSigned>(from + stride) << 16);
  }
}

// kWords groups one after another: kWords kGroup neighbours.
template <bool kSigned, bool kOffset>
HWY_INLINE Words GroupsAlong(const uint8_t* from) {
  if constexpr (kBytes) {
    Words groups;
    std::memcpy(&groups, from, sizeof(groups));
    return kOffset ? groups ^ 0x80808080u : groups;
  } else {
    typedef uint8_t Bytes __attribute__((vector_size(2 * kWords)));
    typedef uint16_t Halves __attribute__((vector_size(kVectorBytes)));
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof(bytes));
    if constexpr (kSigned) {
      typedef int8_t SignedBytes __attribute__((vector_size(2 * kWords)));
      typedef int16_t SignedHalves __attribute__((vector_size(kVectorBytes)));
      return reinterpret_cast<Words>(
          __builtin_convertvector(reinterpret_cast<SignedBytes>(bytes), SignedHalves));
    } else {
      return reinterpret_cast<Words>(__builtin_convertvector(bytes, Halves));
    }
  }
}

// How bytes lie in groups.
template <bool kSigned, bool kOffset>
struct ByteGroups {
  using In = uint8_t;
  static constexpr int kSteps = kGroup;
  static HWY_INLINE uint32_t One(const uint8_t* from, int64_t stride, int64_t steps) {
    return GroupOf<kSigned, kOffset>(from, stride, steps);
  }
  static HWY_INLINE Words Down(const uint8_t* from, int64_t stride) {
    return GroupsDown<kSigned, kOffset>(from, stride);
  }
  static HWY_INLINE Words Along(const uint8_t* from) { return GroupsAlong<kSigned, kOffset>(from); }
};

template <bool kSigned, bool kBegins>
void PackPanelOfBytes(const uint8_t* from, int64_t row_stride, int64_t col_stride, int64_t steps,
                      int width, uint32_t* to, uint32_t* begin) {
  PackPanel<ByteGroups<kSigned, false>, uint32_t>(from, row_stride, col_stride, steps, width, to,
                                                  begin);
  if constexpr (kBegins) {
    // -128 times the sums of columns, by the product itself: 128 as an unsigned byte by B.
    const int64_t groups = (steps + kGroup - 1) / kGroup;
    ForEach<kPanelVectors>([&](auto v) HWY_ATTR {
      Words sum = {};
      for (int64_t g = 0; g < groups; ++g) {
        sum = IntegerProduct<Signs::kUnsignedA>::Multiply(
            Splat(0x80808080u), Load(to + (g * kPanelVectors + v) * kWords), sum);
      }
      Store(0u - sum, begin + v * kWords);
    });
  }
}

template <Signs kSigns, size_t... kRow>
constexpr Kernels<uint8_t, uint32_t, uint32_t> MakeKernels(std::index_sequence<kRow...>) {
  constexpr bool kBegins = kBytes && kSigns == Signs::kBothSigned;
  constexpr bool kSignedA = kSigns != Signs::kUnsignedA;
  constexpr bool kSignedB = kSigns != Signs::kUnsignedB;
  return {
      .rows = kRowsAtMost,
      .group = kGroup,
      .cols = kPanelVectors * kWords,
      .wide_cols = kPanelVectors * kWords,
      .wide_rows = 0,
      .by_rows = {&RunStrip<IntegerProduct<kSigns>, kRow + 1, false>...},
      .by_columns = {&RunStrip<IntegerProduct<kSigns>, kRow + 1, true>...},
      .pack_rows = &PackRows<ByteGroups<kSignedA, kBegins>>,
      .pack_columns = &PackColumns<ByteGroups<kSignedA, kBegins>>,
      .pack_panel = &PackPanelOfBytes<kSignedB, kBegins>,
      .begins = kBegins,
  };
}

template <Signs kSigns>
const Kernels<uint8_t, uint32_t, uint32_t>& KernelsOf() {
  static constexpr Kernels<uint8_t, uint32_t, uint32_t> kTable =
      MakeKernels<kSigns>(std::make_index_sequence<kRowsAtMost>());
  return kTable;
}

const Kernels<uint8_t, uint32_t, uint32_t>& Int8(Signs signs) {
  switch (signs) {
    case Signs::kBothSigned:
      return KernelsOf<Signs::kBothSigned>();
    case Signs::kUnsignedA:
      return KernelsOf<Signs::kUnsignedA>();
    case Signs::kUnsignedB:
      break;
  }
  return KernelsOf<Signs::kUnsignedB>();
}

}  // namespace
}  // namespace assay::gemm::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::gemm::internal {

HWY_EXPORT(Int8);

const Kernels<uint8_t, uint32_t, uint32_t>& Int8Kernels(Signs signs) {
  return HWY_DYNAMIC_DISPATCH(Int8)(signs);
}

}  // namespace assay::gemm::internal
#endif  // HWY_ONCE
