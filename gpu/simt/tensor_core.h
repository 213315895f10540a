// SPDX-License-Identifier: Apache-2.0
// What the matrix instructions of a warp do to the registers of its 32 lanes: mma and ldmatrix, as
// pure functions. mma.h makes device functions of them.
//
// An instruction computes D = A B + C with A [m, k], B [k, n], C and D [m, n]. A 32-bit register of
// A or B holds E = 32 / bits elements, the first in its low bits; C and D have one f32 or s32, or
// two f16, in a register. With g = lane / 4 and t = lane % 4, element e of register r lies at
//   A:        row g + 8 (r mod m/8),  column 4 E (r div m/8) + E t + e
//   B:        row 4 E r + E t + e,    column g
//   C, D:     row g + 8 (i div 2),    column 2 t + i mod 2,   i = r, or 2 r + e for f16
// which is one formula for all the tables of the PTX ISA, "Matrix Fragments for mma".
//
// Integers are exact: s32 sums wrap around, or with saturate the exact sum is held to the range of
// s32 (PTX: .satfinite). For floating point the sum has a stated rule:
//
// SumRule{} (the default): the exact sum of all products of the instruction and the accumulator,
// rounded once to nearest even. A zero sum is +0 unless every term is -0. This has one meaning on
// every machine; no GPU does it.
//
// SumRule{terms, extra_bits}: as GPUs are known to add. The products go through the adder in groups
// of `terms`, each group with the result of the one before it (or C) as one more term. Let E be the
// largest exponent among a group's terms, where a product has the sum of its factors' exponents;
// each term is cut towards zero to a multiple of 2^(E - 23 - extra_bits), the sum of those is
// exact, and the result is cut towards zero to f32, or rounded to nearest even to f16. A zero sum
// is +0. The rule for terms and alignment is that of bit-accurate models of the V100 (4, 0), the
// A100 (8, 1) and Hopper (16, 2) by Khattak and Mikaitis; NVIDIA documents none of it. Of the T4 it
// is published that its adder has five inputs (Valpey et al.), cuts towards zero, rounds to nearest
// for f16, and has at least one extra bit (Fasi et al.): SumRule::Turing() is the least that fits,
// and is not known to be the T4's to the last bit.
//
// Between the two rules a result differs, for each group, by less than
//   (terms + 1) 2^-(23 + extra_bits) max|term|  +  ulp of the group's result,
// the first from cutting each term, the second from cutting the sum: 2^E <= max|term|.
//
// Infinities and NaN follow IEEE: infinity times 0, and infinities of both signs, give a NaN, which
// is 0x7fffffff in f32 and 0x7fff in f16. Subnormals count, in and out (Fasi et al. found so).
//
// Sources: PTX ISA 8.x, sections on mma and ldmatrix; Fasi, Higham, Mikaitis, Pranesh, Numerical
//   behavior of NVIDIA tensor cores (PeerJ Computer Science 7:e330, 2021); Valpey, Li, Pai,
//   Gopalakrishnan, An SMT formalization of mixed-precision matrix multiplication (arXiv
//   2502.15999, 2025); Khattak, Mikaitis, Accurate models of NVIDIA tensor cores (arXiv
//   2512.07004).
#ifndef ASSAY_GPU_SIMT_TENSOR_CORE_H_
#define ASSAY_GPU_SIMT_TENSOR_CORE_H_

#include <cstdint>
#include <span>

namespace assay::simt {

inline constexpr int kLanes = 32;

enum class MmaInput : uint8_t { kF16, kBF16, kS8, kU8, kS4, kU4, kB1Xor, kB1And };
enum class MmaOutput : uint8_t { kF32, kF16, kS32 };

struct MmaInstruction {
  int m;
  int n;
  int k;
  MmaInput a;
  MmaInput b;  // as a, or of the other signedness; for one bit the operation, as a
  MmaOutput c;
  bool saturate = false;

  friend constexpr bool operator==(const MmaInstruction&, const MmaInstruction&) = default;
};

// Bits of one element.
constexpr int BitsOf(MmaInput type) {
  switch (type) {
    case MmaInput::kF16:
    case MmaInput::kBF16:
      return 16;
    case MmaInput::kS8:
    case MmaInput::kU8:
      return 8;
    case MmaInput::kS4:
    case MmaInput::kU4:
      return 4;
    case MmaInput::kB1Xor:
    case MmaInput::kB1And:
      break;
  }
  return 1;
}

// 32-bit registers that a lane has of A, of B, and of C or D.
constexpr int RegistersOfA(const MmaInstruction& i) { return i.m * i.k * BitsOf(i.a) / 1024; }
constexpr int RegistersOfB(const MmaInstruction& i) { return i.k * i.n * BitsOf(i.b) / 1024; }
constexpr int RegistersOfC(const MmaInstruction& i) {
  return i.m * i.n / (i.c == MmaOutput::kF16 ? 64 : 32);
}
inline constexpr int kMaxMmaRegisters = 4;  // of one operand

struct MatrixPosition {
  int row;
  int column;
  friend constexpr bool operator==(const MatrixPosition&, const MatrixPosition&) = default;
};

// Where element `element` (counted through the registers of `lane`) stands in A, B, and C or D.
constexpr MatrixPosition PositionInA(const MmaInstruction& i, int lane, int element) {
  const int per_register = 32 / BitsOf(i.a);
  const int r = element / per_register;
  const int halves = i.m / 8;
  return {lane / 4 + 8 * (r % halves),
          per_register * (4 * (r / halves) + lane % 4) + element % per_register};
}
constexpr MatrixPosition PositionInB(const MmaInstruction& i, int lane, int element) {
  const int per_register = 32 / BitsOf(i.b);
  return {per_register * (4 * (element / per_register) + lane % 4) + element % per_register,
          lane / 4};
}
constexpr MatrixPosition PositionInC(const MmaInstruction&, int lane, int element) {
  return {lane / 4 + 8 * (element / 2), 2 * (lane % 4) + element % 2};
}

// Every instruction that Mma knows (without saturate, and with a and b alike).
std::span<const MmaInstruction> MmaInstructions();

// The first architecture that has the instruction: 75 or 80; 0 for one that Mma does not know.
int LeastArchitecture(const MmaInstruction& instruction);

// How floating-point sums are made; see the top of this file.
struct SumRule {
  int terms = 0;  // 0: the exact sum, rounded once
  int extra_bits = 0;

  static constexpr SumRule Volta() { return {4, 0}; }
  static constexpr SumRule Turing() { return {4, 1}; }
  static constexpr SumRule Ampere() { return {8, 1}; }
  static constexpr SumRule Hopper() { return {16, 2}; }
};

// The registers of all lanes: a[lane][r] is register r of that lane. f32 and s32 stand as their
// bits. d may be c.
struct MmaOperands {
  const uint32_t* a[kLanes];
  const uint32_t* b[kLanes];
  const uint32_t* c[kLanes];
  uint32_t* d[kLanes];
};

// D = A B + C. The instruction must be one that LeastArchitecture knows, rule.terms at most 16 and
// rule.extra_bits at most 8 (checked). Cost: m n k multiplications; about 2 us for m16n8k8 f16, and
// fifteen times that where a sum needs more than the 53 bits of an f64 (provisional figures).
void Mma(const MmaInstruction& instruction, const MmaOperands& operands, SumRule rule = {});

// ldmatrix of `count` = 1, 2 or 4 matrices (checked) of 8 x 8 elements of 16 bits. Lane l points to
// row l mod 8 of matrix l / 8; rows[l] are the 16 bytes there, of the first 8 count lanes. Register
// j of a lane gets elements 2 t and 2 t + 1 of row g of matrix j; transposed, elements (2 t, g) and
// (2 t + 1, g).
void LoadMatrix(int count, bool transposed, const uint32_t* const (&rows)[kLanes],
                uint32_t* const (&registers)[kLanes]);

}  // namespace assay::simt

#endif  // ASSAY_GPU_SIMT_TENSOR_CORE_H_
