// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/tensor_core.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "gpu/simt/intrinsics.h"
#include "numerics/core/bits.h"
#include "numerics/core/check.h"
#include "numerics/floating/error_free.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/half.h"

namespace assay::simt {
namespace {

constexpr int kMaxK = 256;
constexpr uint32_t kF32Nan = 0x7fffffff;
constexpr uint16_t kF16Nan = 0x7fff;

// By input, then shape. Which architecture has what: PTX ISA, mma, "Target ISA Notes".
constexpr MmaInstruction kInstructions[] = {
    {16, 8, 8, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF32},
    {16, 8, 8, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF16},
    {16, 8, 16, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF32},
    {16, 8, 16, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF16},
    {16, 8, 8, MmaInput::kBF16, MmaInput::kBF16, MmaOutput::kF32},
    {16, 8, 16, MmaInput::kBF16, MmaInput::kBF16, MmaOutput::kF32},
    {8, 8, 16, MmaInput::kS8, MmaInput::kS8, MmaOutput::kS32},
    {16, 8, 16, MmaInput::kS8, MmaInput::kS8, MmaOutput::kS32},
    {16, 8, 32, MmaInput::kS8, MmaInput::kS8, MmaOutput::kS32},
    {8, 8, 16, MmaInput::kU8, MmaInput::kU8, MmaOutput::kS32},
    {16, 8, 16, MmaInput::kU8, MmaInput::kU8, MmaOutput::kS32},
    {16, 8, 32, MmaInput::kU8, MmaInput::kU8, MmaOutput::kS32},
    {8, 8, 32, MmaInput::kS4, MmaInput::kS4, MmaOutput::kS32},
    {16, 8, 32, MmaInput::kS4, MmaInput::kS4, MmaOutput::kS32},
    {16, 8, 64, MmaInput::kS4, MmaInput::kS4, MmaOutput::kS32},
    {8, 8, 32, MmaInput::kU4, MmaInput::kU4, MmaOutput::kS32},
    {16, 8, 32, MmaInput::kU4, MmaInput::kU4, MmaOutput::kS32},
    {16, 8, 64, MmaInput::kU4, MmaInput::kU4, MmaOutput::kS32},
    {8, 8, 128, MmaInput::kB1Xor, MmaInput::kB1Xor, MmaOutput::kS32},
    {16, 8, 128, MmaInput::kB1Xor, MmaInput::kB1Xor, MmaOutput::kS32},
    {16, 8, 256, MmaInput::kB1Xor, MmaInput::kB1Xor, MmaOutput::kS32},
    {8, 8, 128, MmaInput::kB1And, MmaInput::kB1And, MmaOutput::kS32},
    {16, 8, 128, MmaInput::kB1And, MmaInput::kB1And, MmaOutput::kS32},
    {16, 8, 256, MmaInput::kB1And, MmaInput::kB1And, MmaOutput::kS32},
};

bool IsFloat(MmaInput type) { return type == MmaInput::kF16 || type == MmaInput::kBF16; }
bool IsBit(MmaInput type) { return type == MmaInput::kB1Xor || type == MmaInput::kB1And; }

// Element e of a register row, right-aligned.
uint32_t RawElement(const uint32_t* registers, int bits, int e) {
  const int per_register = 32 / bits;
  const uint32_t shifted = registers[e / per_register] >> (e % per_register * bits);
  return bits == 32 ? shifted : shifted & ((uint32_t{1} << bits) - 1);
}

double FloatElement(MmaInput type, uint32_t raw) {
  const uint16_t bits = static_cast<uint16_t>(raw);
  return static_cast<double>(FloatFromBits(type == MmaInput::kF16
                                               ? floating::F32BitsFromF16Bits(bits)
                                               : floating::F32BitsFromBF16Bits(bits)));
}

int32_t IntegerElement(MmaInput type, uint32_t raw) {
  if (type == MmaInput::kS8) return static_cast<int8_t>(raw);
  if (type == MmaInput::kS4) return static_cast<int32_t>(raw << 28) >> 28;
  return static_cast<int32_t>(raw);
}

// The bits of x as an f32, or as an f16, rounded to nearest even; x holds any further bits of the
// exact value by its last one (round to odd).
uint32_t RoundedBits(MmaOutput output, double x) {
  if (output == MmaOutput::kF32) return x != x ? kF32Nan : FloatBits(static_cast<float>(x));
  return x != x ? kF16Nan : floating::F16BitsFromF64Bits(FloatBits(x));
}

// x cut towards zero to f32; from 2^128 on, infinity.
uint32_t CutBits(double x) {
  if (x != x) return kF32Nan;
  if (x >= 0x1p128 || x <= -0x1p128) return FloatBits(static_cast<float>(x));
  const uint32_t nearest = FloatBits(static_cast<float>(x));
  const double back = static_cast<double>(FloatFromBits(nearest));
  return (x < 0 ? back < x : back > x) ? nearest - 1 : nearest;
}

// The exact sum of x[i] y[i] and c, cut to f64 by rounding to odd.
double ExactSum(const double* x, const double* y, int k, double c) {
  // Adding up in f64 while no sum loses anything, which is nearly always so for f16.
  double sum = c;
  bool exact = true;
  for (int i = 0; i < k; ++i) {
    const floating::HiLo<double> s = floating::TwoSum(sum, x[i] * y[i]);
    sum = s.hi;
    exact = exact && s.lo == 0;
  }
  if (exact) return sum;
  floating::ExactAccumulator accumulator;
  accumulator.Add(c);
  for (int i = 0; i < k; ++i) accumulator.Add(x[i] * y[i]);
  const floating::HiLo<double> rounded = accumulator.RoundToDoubleWord();
  return internal::AddRoundedToOdd(rounded.hi, rounded.lo);
}

// The exponent of x, where subnormals have that of the least normal number, 2^least.
int ExponentOf(double x, int least) {
  const int field = static_cast<int>(FloatBits(x) >> 52 & 0x7ff);
  return std::max(field - 1023, least);
}

double PowerOfTwo(int exponent) {
  return DoubleFromBits(static_cast<uint64_t>(exponent + 1023) << 52);
}

// One pass of a group of products and c through the adder, before the last rounding. The sum of the
// cut terms has at most 24 + 8 + 5 + 1 bits, so an f64 holds it.
double GroupSum(const double* x, const double* y, int count, double c, int least, int extra_bits) {
  double plain = c;  // where an operand is not finite, this is not finite either
  int top = c != 0 ? ExponentOf(c, -126) : std::numeric_limits<int>::min();
  for (int i = 0; i < count; ++i) {
    plain += x[i] * y[i];
    if (x[i] * y[i] != 0) top = std::max(top, ExponentOf(x[i], least) + ExponentOf(y[i], least));
  }
  if (!(plain - plain == 0)) return plain;
  if (top == std::numeric_limits<int>::min()) return 0.0;
  const double unit = PowerOfTwo(top - 23 - extra_bits);
  const double scale = PowerOfTwo(23 + extra_bits - top);
  const auto cut = [&](double term) { return static_cast<int64_t>(term * scale); };
  int64_t sum = cut(c);
  for (int i = 0; i < count; ++i) sum += cut(x[i] * y[i]);
  return static_cast<double>(sum) * unit;
}

uint32_t GroupedSum(const MmaInstruction& instruction, const double* x, const double* y, double c,
                    SumRule rule) {
  const int least = instruction.a == MmaInput::kF16 ? -14 : -126;
  uint32_t bits = 0;
  for (int first = 0; first < instruction.k; first += rule.terms) {
    const int count = std::min(rule.terms, instruction.k - first);
    const double sum = GroupSum(x + first, y + first, count, c, least, rule.extra_bits);
    if (instruction.c == MmaOutput::kF32) {
      bits = CutBits(sum);
      c = static_cast<double>(FloatFromBits(bits));
    } else {
      bits = RoundedBits(MmaOutput::kF16, sum);
      c = FloatElement(MmaInput::kF16, bits);
    }
  }
  return bits;
}

void MmaFloat(const MmaInstruction& instruction, const MmaOperands& operands, SumRule rule) {
  double a[16][16];
  double b[8][16];  // transposed: a column of B in a row
  uint32_t d[16][8];
  const int a_elements = instruction.m * instruction.k / kLanes;
  const int b_elements = instruction.k * instruction.n / kLanes;
  const int c_elements = instruction.m * instruction.n / kLanes;
  const int c_bits = instruction.c == MmaOutput::kF16 ? 16 : 32;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int e = 0; e < a_elements; ++e) {
      const MatrixPosition p = PositionInA(instruction, lane, e);
      a[p.row][p.column] = FloatElement(instruction.a, RawElement(operands.a[lane], 16, e));
    }
    for (int e = 0; e < b_elements; ++e) {
      const MatrixPosition p = PositionInB(instruction, lane, e);
      b[p.column][p.row] = FloatElement(instruction.b, RawElement(operands.b[lane], 16, e));
    }
    for (int e = 0; e < c_elements; ++e) {
      const MatrixPosition p = PositionInC(instruction, lane, e);
      d[p.row][p.column] = RawElement(operands.c[lane], c_bits, e);
    }
  }
  for (int row = 0; row < instruction.m; ++row) {
    for (int column = 0; column < instruction.n; ++column) {
      uint32_t& entry = d[row][column];
      const double c = c_bits == 16 ? FloatElement(MmaInput::kF16, entry)
                                    : static_cast<double>(FloatFromBits(entry));
      entry = rule.terms == 0
                  ? RoundedBits(instruction.c, ExactSum(a[row], b[column], instruction.k, c))
                  : GroupedSum(instruction, a[row], b[column], c, rule);
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    std::fill_n(operands.d[lane], RegistersOfC(instruction), 0u);
    for (int e = 0; e < c_elements; ++e) {
      const MatrixPosition p = PositionInC(instruction, lane, e);
      const int per_register = 32 / c_bits;
      operands.d[lane][e / per_register] |= d[p.row][p.column] << (e % per_register * c_bits);
    }
  }
}

void MmaInteger(const MmaInstruction& instruction, const MmaOperands& operands) {
  int32_t a[16][kMaxK];
  int32_t b[8][kMaxK];
  int32_t d[16][8];
  const int bits = BitsOf(instruction.a);
  const int a_elements = instruction.m * instruction.k / kLanes;
  const int b_elements = instruction.k * instruction.n / kLanes;
  const int c_elements = instruction.m * instruction.n / kLanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int e = 0; e < a_elements; ++e) {
      const MatrixPosition p = PositionInA(instruction, lane, e);
      a[p.row][p.column] = IntegerElement(instruction.a, RawElement(operands.a[lane], bits, e));
    }
    for (int e = 0; e < b_elements; ++e) {
      const MatrixPosition p = PositionInB(instruction, lane, e);
      b[p.column][p.row] = IntegerElement(instruction.b, RawElement(operands.b[lane], bits, e));
    }
    for (int e = 0; e < c_elements; ++e) {
      const MatrixPosition p = PositionInC(instruction, lane, e);
      d[p.row][p.column] = static_cast<int32_t>(operands.c[lane][e]);
    }
  }
  for (int row = 0; row < instruction.m; ++row) {
    for (int column = 0; column < instruction.n; ++column) {
      int32_t dot = 0;  // at most 256 products of 16 bits each
      for (int k = 0; k < instruction.k; ++k) {
        const int32_t x = a[row][k];
        const int32_t y = b[column][k];
        dot += instruction.a == MmaInput::kB1Xor ? x ^ y : x * y;
      }
      int64_t sum = int64_t{dot} + d[row][column];
      if (instruction.saturate) {
        sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int32_t>::max());
      }
      d[row][column] = static_cast<int32_t>(static_cast<uint32_t>(sum));
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int e = 0; e < c_elements; ++e) {
      const MatrixPosition p = PositionInC(instruction, lane, e);
      operands.d[lane][e] = static_cast<uint32_t>(d[p.row][p.column]);
    }
  }
}

}  // namespace

std::span<const MmaInstruction> MmaInstructions() { return kInstructions; }

int LeastArchitecture(const MmaInstruction& instruction) {
  // What the table leaves out: saturation of s8 and s4, and signed beside unsigned.
  MmaInstruction plain = instruction;
  const bool integer = !IsFloat(instruction.a) && !IsBit(instruction.a);
  if (integer) {
    plain.saturate = false;
    if (BitsOf(plain.a) == BitsOf(plain.b) && !IsBit(plain.b)) plain.b = plain.a;
  }
  if (std::find(std::begin(kInstructions), std::end(kInstructions), plain) ==
      std::end(kInstructions)) {
    return 0;
  }
  if (plain.a == MmaInput::kF16) return plain.k == 8 ? 75 : 80;
  if (plain.a == MmaInput::kB1And) return 80;
  return plain.m == 8 ? 75 : 80;
}

void Mma(const MmaInstruction& instruction, const MmaOperands& operands, SumRule rule) {
  ASSAY_CHECK(LeastArchitecture(instruction) != 0);
  ASSAY_CHECK(rule.terms >= 0 && rule.terms <= 16);
  ASSAY_CHECK(rule.extra_bits >= 0 && rule.extra_bits <= 8);
  if (IsFloat(instruction.a)) {
    MmaFloat(instruction, operands, rule);
  } else {
    MmaInteger(instruction, operands);
  }
}

void LoadMatrix(int count, bool transposed, const uint32_t* const (&rows)[kLanes],
                uint32_t* const (&registers)[kLanes]) {
  ASSAY_CHECK(count == 1 || count == 2 || count == 4);
  for (int matrix = 0; matrix < count; ++matrix) {
    const auto element = [&](int row, int column) {
      return rows[8 * matrix + row][column / 2] >> (16 * (column % 2)) & 0xffffu;
    };
    for (int lane = 0; lane < kLanes; ++lane) {
      const int g = lane / 4;
      const int t = lane % 4;
      registers[lane][matrix] = transposed ? element(2 * t, g) | element(2 * t + 1, g) << 16
                                           : element(g, 2 * t) | element(g, 2 * t + 1) << 16;
    }
  }
}

}  // namespace assay::simt
