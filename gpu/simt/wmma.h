// SPDX-License-Identifier: Apache-2.0
// nvcuda::wmma for 16 x 16 x 16 tiles: CUDA's own under nvcc, and made of mma.h in the simulator.
//
//   wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
//   wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
//   wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
//   wmma::fill_fragment(c, 0.0f);
//   wmma::load_matrix_sync(a, x, 16);
//   wmma::load_matrix_sync(b, y, 16);
//   WMMA_MMA_SYNC(c, a, b, c);                                  // wmma::mma_sync(c, a, b, c)
//   wmma::store_matrix_sync(z, c, 16, wmma::mem_row_major);
//
// Elements: half with accumulators of float or half, signed char and unsigned char with int. A
// kernel may go through f.x[0] .. f.x[f.num_elements - 1] if it treats all alike, as in CUDA; which
// element lies where is unspecified there. Here a lane's A is that of m16n8k16, B and C are two of
// m16n8k16 side by side, and one product is four mma of sm_75: for f16, columns 0-7 and 8-15 of C,
// each with k 0-7 rounded before k 8-15 is added; for integers rows and columns 0-7 and 8-15. A GPU
// holds each element of A and B twice on sm_75, so num_elements is 16 there and 8 here. Loads and
// stores of the simulator move one element at a time: a GPU's compiler may merge them.
#ifndef ASSAY_GPU_SIMT_WMMA_H_
#define ASSAY_GPU_SIMT_WMMA_H_

#include "gpu/simt/mma.h"

#ifdef __CUDACC__

#include <mma.h>

namespace assay::simt {
namespace wmma = nvcuda::wmma;
}  // namespace assay::simt

#define WMMA_MMA_SYNC(d, a, b, c) ::nvcuda::wmma::mma_sync(d, a, b, c)

#else  // the simulator

#include <cstdint>
#include <type_traits>

#include "gpu/simt/half.h"
#include "gpu/simt/pointer.h"
#include "gpu/simt/tensor_core.h"

namespace assay::simt::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int kM, int kN, int kK, class T, class Layout = void>
struct fragment {
  static_assert(kM == 16 && kN == 16 && kK == 16, "only tiles of 16 x 16 x 16");
  static_assert(std::is_same_v<Use, accumulator> == std::is_void_v<Layout>,
                "A and B have a layout, an accumulator has none");
  static constexpr int num_elements = 8;
  T x[num_elements];

  // Where element e of `lane` stands.
  static constexpr MatrixPosition PositionOf(int lane, int e) {
    constexpr MmaInput kInput = sizeof(T) == 1 ? MmaInput::kS8 : MmaInput::kF16;
    constexpr MmaInstruction kTile = {16, 8, 16, kInput, kInput, MmaOutput::kF32};
    if constexpr (std::is_same_v<Use, matrix_a>) {
      return PositionInA(kTile, lane, e);
    } else {
      MatrixPosition p = std::is_same_v<Use, matrix_b> ? PositionInB(kTile, lane, e % 4)
                                                       : PositionInC(kTile, lane, e % 4);
      p.column += 8 * (e / 4);
      return p;
    }
  }
};

template <class Use, class T, class Layout, class Value>
void fill_fragment(fragment<Use, 16, 16, 16, T, Layout>& f, const Value& value) {
  for (T& x : f.x) x = static_cast<T>(value);
}

namespace internal {

template <class Fragment>
int64_t OffsetOf(int e, unsigned int leading, bool by_rows) {
  const MatrixPosition p = Fragment::PositionOf(::assay::simt::internal::current->lane, e);
  return by_rows ? int64_t{p.row} * leading + p.column : int64_t{p.column} * leading + p.row;
}

template <class Fragment, class Source>
void Load(Fragment& f, const Source& source, unsigned int leading, bool by_rows,
          const ::assay::simt::internal::Where& where) {
  using T = std::remove_reference_t<decltype(f.x[0])>;
  for (int e = 0; e < Fragment::num_elements; ++e) {
    const auto at = source + OffsetOf<Fragment>(e, leading, by_rows);
    f.x[e] = ::assay::simt::internal::Load<T>(at.At(0), where);
  }
}

}  // namespace internal

// leading: elements between the beginnings of rows (row_major) or columns.
template <class Use, class T, class Layout, class Source>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout>& f, const Source& source,
                      unsigned int leading, uint32_t line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) {
  internal::Load(f, source, leading, std::is_same_v<Layout, row_major>, {line, file});
}
template <class T, class Source>
void load_matrix_sync(fragment<accumulator, 16, 16, 16, T>& f, const Source& source,
                      unsigned int leading, layout_t layout, uint32_t line = __builtin_LINE(),
                      const char* file = __builtin_FILE()) {
  internal::Load(f, source, leading, layout == mem_row_major, {line, file});
}
template <class T, class Target>
void store_matrix_sync(const Target& target, const fragment<accumulator, 16, 16, 16, T>& f,
                       unsigned int leading, layout_t layout, uint32_t line = __builtin_LINE(),
                       const char* file = __builtin_FILE()) {
  using Fragment = fragment<accumulator, 16, 16, 16, T>;
  for (int e = 0; e < Fragment::num_elements; ++e) {
    const auto at = target + internal::OffsetOf<Fragment>(e, leading, layout == mem_row_major);
    ::assay::simt::internal::Store<T>(at.At(0), f.x[e], {line, file});
  }
}

namespace internal {

// Part 2 h + q of a product: of f16 columns 8 h and k 8 q, of integers columns 8 h and rows 8 q.
template <class A, class B, class C>
auto MmaPart(int part, C& d, const A& a, const B& b, const C& c, uint32_t line = __builtin_LINE(),
             const char* file = __builtin_FILE()) {
  using T = std::remove_cvref_t<decltype(a.x[0])>;
  using Sum = std::remove_cvref_t<decltype(c.x[0])>;
  const int h = part / 2;
  const int q = part % 2;
  const ::assay::simt::internal::Where where = {line, file};
  if constexpr (std::is_same_v<T, half>) {
    constexpr MmaOutput kOutput = std::is_same_v<Sum, float> ? MmaOutput::kF32 : MmaOutput::kF16;
    constexpr MmaInstruction kPart = {16, 8, 8, MmaInput::kF16, MmaInput::kF16, kOutput};
    const C& sum = q == 0 ? c : d;
    return ::assay::simt::internal::MmaOfRegisters<RegistersOfC(kPart)>(
        kPart, d.x + 4 * h, a.x + 4 * q, b.x + 4 * h + 2 * q, sum.x + 4 * h, where);
  } else {
    static_assert(std::is_same_v<Sum, int> && sizeof(T) == 1);
    constexpr MmaInput kInput = std::is_signed_v<T> ? MmaInput::kS8 : MmaInput::kU8;
    constexpr MmaInstruction kPart = {8, 8, 16, kInput, kInput, MmaOutput::kS32};
    const int at = 4 * h + 2 * q;
    return ::assay::simt::internal::MmaOfRegisters<2>(kPart, d.x + at, a.x + 4 * q, b.x + 4 * h,
                                                      c.x + at, where);
  }
}

}  // namespace internal

}  // namespace assay::simt::wmma

#define WMMA_MMA_SYNC(d, a, b, c)                                      \
  do {                                                                 \
    SIMT_AWAIT(::assay::simt::wmma::internal::MmaPart(0, d, a, b, c)); \
    SIMT_AWAIT(::assay::simt::wmma::internal::MmaPart(1, d, a, b, c)); \
    SIMT_AWAIT(::assay::simt::wmma::internal::MmaPart(2, d, a, b, c)); \
    SIMT_AWAIT(::assay::simt::wmma::internal::MmaPart(3, d, a, b, c)); \
  } while (false)

#endif  // nvcc

#endif  // ASSAY_GPU_SIMT_WMMA_H_
