// SPDX-License-Identifier: Apache-2.0
//
// kernels.h: the inner loops of the number-theoretic transforms, vectorised by Highway for the
// processor at hand.
//
// A transform is a walk down a tree of remainders. Node t holds a polynomial modulo x^(2h) - r^2
// with r = Root(t); its children 2t and 2t + 1 hold the remainders modulo x^h - r and x^h + r:
// with low and high halves a, b they are a + r b and a - r b. Node 0 at the top is modulo x^N - 1,
// and node 1 modulo x^N + 1. Root(t) is the turn by sum over the bits of t of bit_i / 2^(i + 2), so
// one table serves every level, every length and every node.
//
// The last eight levels, 256 numbers, are a leaf: four levels between 16 rows of 16, a transpose,
// four more. The spectrum stays transposed, for the way back starts there; NttPlan::Frequency
// says what lies where.
//
// Results are canonical, in [0, p); what happens between differs with the width of the vectors.
#ifndef ASSAY_NUMERICS_NTT_INTERNAL_KERNELS_H_
#define ASSAY_NUMERICS_NTT_INTERNAL_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace assay::ntt::internal {

inline constexpr int kLeafLog = 8;
inline constexpr size_t kLeaf = size_t{1} << kLeafLog;
inline constexpr size_t kLeafRoots = 15 * 16;

// Roots as Montgomery forms w and, beside them, w / p mod 2^32.
struct Roots {
  const uint32_t* form;      // [at least 8 for each leaf]
  const uint32_t* quotient;  // [the same]
  // For each leaf [15][16]: row 2^l - 1 + j, lane i is Root(((16 leaf + i) << l) + j), forms alone.
  const uint32_t* leaves;
};

struct Tables {
  uint32_t p;
  uint32_t inverse;  // p^-1 mod 2^32
  Roots forward;
  Roots backward;  // of the inverse roots
};

// data: [2^log], log >= kLeafLog, the remainder at `node`, any values below p; to its spectrum.
void Forward(const Tables& tables, uint32_t* data, uint64_t node, int log);
// The way back without the division: 2^log times the remainder, below 2p, or below p if p >= 2^30.
// Takes such values as well.
void Backward(const Tables& tables, uint32_t* data, uint64_t node, int log);

// One to four levels from a node of 2^log numbers, for the columns [begin, end) of the 2^levels
// rows only; begin and end are multiples of 16. Values as between the levels: Forward's own input
// and Backward's own output are such.
void ForwardLevels(const Tables& tables, uint32_t* data, uint64_t node, int log, int levels,
                   size_t begin, size_t end);
void BackwardLevels(const Tables& tables, uint32_t* data, uint64_t node, int log, int levels,
                    size_t begin, size_t end);
int LevelsAtOnce();

// With r the root of `node`, for n numbers, a multiple of 16:
enum class Combine {
  kAdd,        // a := a + r b
  kRemainder,  // b := a - r b, backward's values
  kHalfOfSum,  // a := (a + r b) / 2, backward's values
  kDouble,     // a := 2a - r b, backward's values
};
void Combined(const Tables& tables, Combine what, uint32_t* a, uint32_t* b, uint64_t node,
              size_t n);

// a[i] := a[i] b[i] scale, canonical; n a multiple of 16. a, b canonical, `scale` such that the
// Montgomery form of the form: s 2^64 mod p multiplies by s.
void Multiply(const Tables& tables, uint32_t* a, const uint32_t* b, uint32_t scale, size_t n);
// to[i] := from[i] w 2^-32, canonical, for any from[i]. Any n. May be in place.
void Scale(const Tables& tables, const uint32_t* from, uint32_t w, uint32_t* to, size_t n);
// to[i] := from[i] canonical, where from is Backward's. Any n.
void Canonical(const Tables& tables, const uint32_t* from, uint32_t* to, size_t n);
// The largest of n numbers; 0 for none.
uint32_t Largest(const uint32_t* x, size_t n);
// leaves[row][lane] := pattern[row][lane] bases[l] 2^-32 for rows of level l: one leaf's roots.
void FillLeaf(const Tables& tables, const uint32_t* pattern, const uint32_t* bases, uint32_t* leaf);

}  // namespace assay::ntt::internal

#endif  // ASSAY_NUMERICS_NTT_INTERNAL_KERNELS_H_
