// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/tensor_core.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/floating/anatomy.h"
#include "numerics/floating/big_integer.h"
#include "numerics/floating/exact_accumulator.h"
#include "numerics/floating/half.h"

namespace assay::simt {
namespace {

using floating::BF16BitsFromF32Bits;
using floating::F16BitsFromF32Bits;
using floating::F32BitsFromBF16Bits;
using floating::F32BitsFromF16Bits;
using floating::Rational;

constexpr MmaInstruction kF16K8 = {16, 8, 8, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF32};
constexpr MmaInstruction kF16K16 = {16, 8, 16, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF32};
constexpr MmaInstruction kF16K8Half = {16, 8, 8, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF16};
constexpr MmaInstruction kBF16K16 = {16, 8, 16, MmaInput::kBF16, MmaInput::kBF16, MmaOutput::kF32};
constexpr MmaInstruction kS8K16 = {8, 8, 16, MmaInput::kS8, MmaInput::kS8, MmaOutput::kS32};
constexpr MmaInstruction kS8K32 = {16, 8, 32, MmaInput::kS8, MmaInput::kS8, MmaOutput::kS32};

// The tables of the PTX ISA, each as it stands there: groupID = lane >> 2, in_group = lane % 4.
MatrixPosition PtxA(const MmaInstruction& instruction, int lane, int i) {
  const int group = lane >> 2;
  const int in_group = lane % 4;
  const int bits = BitsOf(instruction.a);
  const std::pair shape(instruction.m, instruction.k);
  if (bits == 16) {
    if (shape == std::pair(16, 8)) {
      return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
    }
    const bool upper = (i >= 0 && i < 2) || (i >= 4 && i < 6);  // m16n8k16
    return {upper ? group : group + 8, in_group * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  }
  if (bits == 8) {
    if (shape == std::pair(8, 16)) return {group, in_group * 4 + i};
    if (shape == std::pair(16, 16)) return {i < 4 ? group : group + 8, in_group * 4 + (i & 3)};
    const bool upper = (i >= 0 && i < 4) || (i >= 8 && i < 12);  // m16n8k32
    return {upper ? group : group + 8, in_group * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  }
  if (bits == 4) {
    if (shape == std::pair(8, 32)) return {group, in_group * 8 + i};
    if (shape == std::pair(16, 32)) return {i < 8 ? group : group + 8, in_group * 8 + (i & 7)};
    const bool upper = (i >= 0 && i < 8) || (i >= 16 && i < 24);  // m16n8k64
    return {upper ? group : group + 8, in_group * 8 + (i & 7) + (i < 16 ? 0 : 32)};
  }
  if (shape == std::pair(8, 128)) return {group, in_group * 32 + i};
  if (shape == std::pair(16, 128)) return {i < 32 ? group : group + 8, in_group * 32 + (i & 31)};
  const bool upper = (i >= 0 && i < 32) || (i >= 64 && i < 96);  // m16n8k256
  return {upper ? group : group + 8, in_group * 32 + (i & 31) + (i < 64 ? 0 : 128)};
}

MatrixPosition PtxB(const MmaInstruction& instruction, int lane, int i) {
  const int group = lane >> 2;
  const int in_group = lane % 4;
  switch (BitsOf(instruction.b)) {
    case 16:
      return {in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
    case 8:
      return {in_group * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
    case 4:
      return {in_group * 8 + (i & 7) + (i < 8 ? 0 : 32), group};
    default:
      return {in_group * 32 + (i & 31) + (i < 32 ? 0 : 128), group};
  }
}

MatrixPosition PtxC(const MmaInstruction& instruction, int lane, int i) {
  const int group = lane >> 2;
  const int in_group = lane % 4;
  if (instruction.m == 8) return {group, in_group * 2 + i};
  return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
}

using Matrix = std::vector<std::vector<uint32_t>>;  // elements as raw bits

Matrix MakeMatrix(int rows, int columns) {
  return Matrix(static_cast<size_t>(rows), std::vector<uint32_t>(static_cast<size_t>(columns)));
}

using Registers = std::array<std::array<uint32_t, kMaxMmaRegisters>, kLanes>;

template <class Layout>
Registers Scatter(const MmaInstruction& instruction, const Matrix& matrix, int bits,
                  Layout layout) {
  Registers registers = {};
  const int elements = static_cast<int>(matrix.size() * matrix[0].size()) / kLanes;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int e = 0; e < elements; ++e) {
      const MatrixPosition p = layout(instruction, lane, e);
      registers[lane][e * bits / 32] |= matrix[p.row][p.column] << (e * bits % 32);
    }
  }
  return registers;
}

Matrix Gather(const MmaInstruction& instruction, const Registers& registers) {
  const int bits = instruction.c == MmaOutput::kF16 ? 16 : 32;
  Matrix matrix = MakeMatrix(instruction.m, instruction.n);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int e = 0; e < instruction.m * instruction.n / kLanes; ++e) {
      const MatrixPosition p = PtxC(instruction, lane, e);
      const uint32_t word = registers[lane][e * bits / 32] >> (e * bits % 32);
      matrix[p.row][p.column] = bits == 16 ? word & 0xffff : word;
    }
  }
  return matrix;
}

// One instruction on registers as they stand; D replaces C.
void Execute(const MmaInstruction& instruction, const Registers& a, const Registers& b,
             Registers& c_and_d, SumRule rule = {}) {
  MmaOperands operands;
  for (int lane = 0; lane < kLanes; ++lane) {
    operands.a[lane] = a[lane].data();
    operands.b[lane] = b[lane].data();
    operands.c[lane] = c_and_d[lane].data();
    operands.d[lane] = c_and_d[lane].data();
  }
  Mma(instruction, operands, rule);
}

Matrix Product(const MmaInstruction& instruction, const Matrix& a, const Matrix& b, const Matrix& c,
               SumRule rule = {}) {
  const Registers ra = Scatter(instruction, a, BitsOf(instruction.a), PtxA);
  const Registers rb = Scatter(instruction, b, BitsOf(instruction.b), PtxB);
  Registers rc = Scatter(instruction, c, instruction.c == MmaOutput::kF16 ? 16 : 32, PtxC);
  Execute(instruction, ra, rb, rc, rule);
  return Gather(instruction, rc);
}

Matrix RandomBits(int rows, int columns, int bits, Random& random) {
  Matrix matrix = MakeMatrix(rows, columns);
  for (auto& row : matrix) {
    for (uint32_t& x : row) x = random.Next32() >> (32 - bits);
  }
  return matrix;
}

// The value of an element by the definition of its type.
int64_t IntegerValue(MmaInput type, uint32_t raw) {
  if (type == MmaInput::kS8) return raw < 128 ? raw : static_cast<int64_t>(raw) - 256;
  if (type == MmaInput::kS4) return raw < 8 ? raw : static_cast<int64_t>(raw) - 16;
  return raw;
}
float FloatValue(MmaInput type, uint32_t raw) {
  const uint16_t bits = static_cast<uint16_t>(raw);
  return FloatFromBits(type == MmaInput::kF16 ? F32BitsFromF16Bits(bits)
                                              : F32BitsFromBF16Bits(bits));
}
bool IsFloat(const MmaInstruction& i) { return BitsOf(i.a) == 16; }

uint32_t NaiveEntry(const MmaInstruction& instruction, const Matrix& a, const Matrix& b, int row,
                    int column, uint32_t c) {
  if (!IsFloat(instruction)) {
    int64_t sum = static_cast<int32_t>(c);
    for (int k = 0; k < instruction.k; ++k) {
      const int64_t x = IntegerValue(instruction.a, a[row][k]);
      const int64_t y = IntegerValue(instruction.b, b[k][column]);
      if (instruction.a == MmaInput::kB1Xor) {
        sum += x != y;
      } else {
        sum += x * y;
      }
    }
    if (instruction.saturate && sum > 0x7fffffff) sum = 0x7fffffff;
    if (instruction.saturate && sum < -int64_t{0x80000000}) sum = -int64_t{0x80000000};
    return static_cast<uint32_t>(static_cast<uint64_t>(sum));
  }
  floating::ExactAccumulator sum;
  Rational exact;
  const bool half = instruction.c == MmaOutput::kF16;
  const float start = half ? FloatValue(MmaInput::kF16, c) : FloatFromBits(c);
  sum.Add(static_cast<double>(start));
  for (int k = 0; k < instruction.k; ++k) {
    sum.Add(static_cast<double>(FloatValue(instruction.a, a[row][k])) *
            static_cast<double>(FloatValue(instruction.b, b[k][column])));
  }
  const double nearest = sum.Round<double>();
  if (!half) {
    const float result = sum.Round<float>();
    return result != result ? 0x7fffffff : FloatBits(result);
  }
  if (nearest != nearest) return 0x7fff;
  if (!(nearest - nearest == 0) || nearest == 0) {
    return static_cast<uint32_t>(floating::RoundTo(floating::Format::kF16, nearest));
  }
  exact = Rational(static_cast<double>(start));
  for (int k = 0; k < instruction.k; ++k) {
    exact = exact + Rational(static_cast<double>(FloatValue(instruction.a, a[row][k]))) *
                        Rational(static_cast<double>(FloatValue(instruction.b, b[k][column])));
  }
  return static_cast<uint32_t>(floating::RoundTo(floating::Format::kF16, exact));
}

void ExpectNaive(const MmaInstruction& instruction, const Matrix& a, const Matrix& b,
                 const Matrix& c, const Matrix& d) {
  for (int row = 0; row < instruction.m; ++row) {
    for (int column = 0; column < instruction.n; ++column) {
      ASSERT_EQ(d[row][column], NaiveEntry(instruction, a, b, row, column, c[row][column]))
          << row << ' ' << column << " m" << instruction.m << 'k' << instruction.k << " bits "
          << BitsOf(instruction.a);
    }
  }
}

// All instructions: those of the table, saturated, and with operands of different signedness.
std::vector<MmaInstruction> AllInstructions() {
  std::vector<MmaInstruction> all;
  for (MmaInstruction instruction : MmaInstructions()) {
    all.push_back(instruction);
    const int bits = BitsOf(instruction.a);
    if (bits != 8 && bits != 4) continue;
    instruction.saturate = true;
    all.push_back(instruction);
    const bool is_signed = instruction.a == MmaInput::kS8 || instruction.a == MmaInput::kS4;
    instruction.b = bits == 8 ? (is_signed ? MmaInput::kU8 : MmaInput::kS8)
                              : (is_signed ? MmaInput::kU4 : MmaInput::kS4);
    all.push_back(instruction);
    instruction.saturate = false;
    all.push_back(instruction);
  }
  return all;
}

TEST(TensorCoreLayoutTest, IsThatOfThePtxTablesAndFillsEachMatrixOnce) {
  for (const MmaInstruction& instruction : MmaInstructions()) {
    std::set<std::pair<int, int>> seen[3];
    for (int lane = 0; lane < kLanes; ++lane) {
      const int a = instruction.m * instruction.k / kLanes;
      const int b = instruction.k * instruction.n / kLanes;
      const int c = instruction.m * instruction.n / kLanes;
      EXPECT_EQ(RegistersOfA(instruction), a * BitsOf(instruction.a) / 32);
      EXPECT_EQ(RegistersOfB(instruction), b * BitsOf(instruction.b) / 32);
      EXPECT_EQ(RegistersOfC(instruction), instruction.c == MmaOutput::kF16 ? c / 2 : c);
      for (int e = 0; e < a; ++e) {
        const MatrixPosition p = PositionInA(instruction, lane, e);
        ASSERT_EQ(p, PtxA(instruction, lane, e)) << lane << ' ' << e;
        ASSERT_TRUE(p.row < instruction.m && p.column < instruction.k);
        seen[0].insert({p.row, p.column});
      }
      for (int e = 0; e < b; ++e) {
        const MatrixPosition p = PositionInB(instruction, lane, e);
        ASSERT_EQ(p, PtxB(instruction, lane, e)) << lane << ' ' << e;
        ASSERT_TRUE(p.row < instruction.k && p.column < instruction.n);
        seen[1].insert({p.row, p.column});
      }
      for (int e = 0; e < c; ++e) {
        const MatrixPosition p = PositionInC(instruction, lane, e);
        ASSERT_EQ(p, PtxC(instruction, lane, e)) << lane << ' ' << e;
        seen[2].insert({p.row, p.column});
      }
    }
    EXPECT_EQ(seen[0].size(), static_cast<size_t>(instruction.m * instruction.k));
    EXPECT_EQ(seen[1].size(), static_cast<size_t>(instruction.k * instruction.n));
    EXPECT_EQ(seen[2].size(), static_cast<size_t>(instruction.m * instruction.n));
  }
}

TEST(TensorCoreTest, MultipliesRandomBitsAsTheNaiveProductDoes) {
  Random random(/*seed=*/1);
  Sha256 hash;
  for (const MmaInstruction& instruction : AllInstructions()) {
    for (int round = 0; round < 8; ++round) {
      const Matrix a = RandomBits(instruction.m, instruction.k, BitsOf(instruction.a), random);
      const Matrix b = RandomBits(instruction.k, instruction.n, BitsOf(instruction.b), random);
      Matrix c = RandomBits(instruction.m, instruction.n,
                            instruction.c == MmaOutput::kF16 ? 16 : 32, random);
      if (round % 2 == 1) {  // accumulators near the products, where every bit of them counts
        for (auto& row : c) {
          for (uint32_t& x : row) {
            if (instruction.c == MmaOutput::kF32) x = F32BitsFromF16Bits(x & 0xffff);
            if (instruction.c == MmaOutput::kS32) x &= 0xffff;
          }
        }
      }
      const Matrix d = Product(instruction, a, b, c);
      ExpectNaive(instruction, a, b, c, d);
      for (const auto& row : d) hash.Update(std::span<const uint32_t>(row));
    }
  }
  EXPECT_EQ(Hex(hash.Finish()), "222e1ead62e844d5a1865a2507e5e91794b900267b67302bb0d50f30f12df0be");
}

// Finite inputs of moderate size, where f16 sums are exact in f64, and with one large term, where
// they are not.
TEST(TensorCoreTest, RoundsFloatingSumsOnce) {
  Random random(/*seed=*/2);
  for (const MmaInstruction& instruction : MmaInstructions()) {
    if (!IsFloat(instruction)) continue;
    for (int round = 0; round < 60; ++round) {
      const auto draw = [&](Matrix& matrix, bool accumulator) {
        for (auto& row : matrix) {
          for (uint32_t& x : row) {
            const int exponent = static_cast<int>(random.Integer(-6, 7)) * (round % 3);
            const double scaled = random.Uniform(-1, 1) * std::ldexp(1.0, exponent);
            const uint32_t bits = FloatBits(static_cast<float>(scaled));
            if (accumulator && instruction.c == MmaOutput::kF32) {
              x = bits;
            } else {
              x = instruction.a == MmaInput::kF16 ? F16BitsFromF32Bits(bits)
                                                  : BF16BitsFromF32Bits(bits);
            }
          }
        }
      };
      Matrix a = MakeMatrix(instruction.m, instruction.k);
      Matrix b = MakeMatrix(instruction.k, instruction.n);
      Matrix c = MakeMatrix(instruction.m, instruction.n);
      draw(a, false);
      draw(b, false);
      draw(c, true);
      if (round % 4 == 3 && instruction.c == MmaOutput::kF32) {
        // The accumulator cancels the largest part, or stands 2^40 above everything.
        const Matrix d = Product(instruction, a, b, c);
        for (int i = 0; i < instruction.m; ++i) c[i][i % 8] = d[i][i % 8] ^ 0x80000000u;
        for (int i = 0; i < instruction.m; ++i) c[i][(i + 1) % 8] = FloatBits(0x1.fffffep40f);
      }
      ExpectNaive(instruction, a, b, c, Product(instruction, a, b, c));
    }
  }
}

TEST(TensorCoreTest, WrapsAroundOrSaturates) {
  for (MmaInstruction instruction : {kS8K16, kS8K32}) {
    Matrix a = MakeMatrix(instruction.m, instruction.k);
    Matrix b = MakeMatrix(instruction.k, instruction.n);
    Matrix c = MakeMatrix(instruction.m, instruction.n);
    a[3][5] = 0x80;  // -128
    b[5][2] = 0x80;
    b[5][6] = 0x7f;
    c[3][2] = 0x7fffffff;
    c[3][6] = 0x80000000;
    EXPECT_EQ(Product(instruction, a, b, c)[3][2], 0x7fffffffu + 16384);
    EXPECT_EQ(Product(instruction, a, b, c)[3][6], 0x80000000u - 16256);
    instruction.saturate = true;
    EXPECT_EQ(Product(instruction, a, b, c)[3][2], 0x7fffffffu);
    EXPECT_EQ(Product(instruction, a, b, c)[3][6], 0x80000000u);
    EXPECT_EQ(Product(instruction, a, b, c)[3][1], 0u);
  }
}

TEST(TensorCoreTest, HandlesInfinitiesNanAndZeros) {
  const uint32_t inf = 0x7c00, nan = 0xfe01, one = 0x3c00, minus_zero = 0x8000;
  for (const SumRule rule : {SumRule{}, SumRule::Turing(), SumRule::Hopper()}) {
    Matrix a = MakeMatrix(16, 8);
    Matrix b = MakeMatrix(8, 8);
    Matrix c = MakeMatrix(16, 8);
    for (auto& row : b) row[0] = one;
    a[0] = {inf, one, 0, 0, 0, 0, 0, 0};
    a[1] = {inf, 0, 0, 0, 0, 0, 0, inf | 0x8000};
    a[2] = {0, 0, nan, 0, 0, 0, 0, 0};
    a[3] = {one, one, one, one, one, one, one, one};
    c[3][0] = 0xff800000;
    a[4] = {one, one, one, one, one, one, one, one};
    c[4][0] = 0x7f800001;
    a[5].assign(8, minus_zero);
    c[5][0] = 0x80000000;
    const Matrix d = Product(kF16K8, a, b, c, rule);
    EXPECT_EQ(d[0][0], 0x7f800000u);
    EXPECT_EQ(d[0][1], 0x7fffffffu);  // infinity times zero
    EXPECT_EQ(d[1][0], 0x7fffffffu);
    EXPECT_EQ(d[2][0], 0x7fffffffu);
    EXPECT_EQ(d[2][1], 0x7fffffffu);
    EXPECT_EQ(d[3][0], 0xff800000u);
    EXPECT_EQ(d[3][1], 0u);
    EXPECT_EQ(d[4][0], 0x7fffffffu);
    EXPECT_EQ(d[5][0], rule.terms == 0 ? 0x80000000u : 0u);
    EXPECT_EQ(d[6][0], 0u);
    const Matrix half = Product(kF16K8Half, a, b, MakeMatrix(16, 8), rule);
    EXPECT_EQ(half[0][0], inf);
    EXPECT_EQ(half[1][0], 0x7fffu);
    EXPECT_EQ(half[3][0], 0x4800u);  // 8
  }
}

TEST(TensorCoreTest, KeepsSubnormals) {
  Matrix a = MakeMatrix(16, 8);
  Matrix b = MakeMatrix(8, 8);
  Matrix c = MakeMatrix(16, 8);
  a[0][0] = 1;       // 2^-24
  b[0][0] = 0x4400;  // 4
  c[0][1] = 1;       // 2^-149
  for (const SumRule rule : {SumRule{}, SumRule::Turing(), SumRule::Ampere()}) {
    EXPECT_EQ(Product(kF16K8, a, b, c, rule)[0][0], FloatBits(0x1p-22f));
    EXPECT_EQ(Product(kF16K8, a, b, c, rule)[0][1], 1u);
    EXPECT_EQ(Product(kF16K8Half, a, b, MakeMatrix(16, 8), rule)[0][0], 4u);
  }
}

TEST(TensorCoreTest, OverflowsToInfinity) {
  Matrix a = MakeMatrix(16, 16);
  Matrix b = MakeMatrix(16, 8);
  Matrix c = MakeMatrix(16, 8);
  a[0][0] = 0x7f7f;  // the largest bf16
  b[0][0] = 0x7f7f;
  b[0][1] = 0xff7f;
  b[0][2] = 0x3f80;  // 1
  c[0][2] = 0x7f7fffff;
  a[1][0] = 0x3f80;
  b[0][3] = 0x7180;  // 2^100: beside the largest f32, 2^128 - 2^104, it is cut away
  c[1][3] = 0x7f7fffff;
  for (const SumRule rule : {SumRule{}, SumRule::Ampere(), SumRule::Hopper()}) {
    const Matrix d = Product(kBF16K16, a, b, c, rule);
    EXPECT_EQ(d[0][0], 0x7f800000u);
    EXPECT_EQ(d[0][1], 0xff800000u);
    EXPECT_EQ(d[0][2], 0x7f800000u);
    EXPECT_EQ(d[1][3], 0x7f7fffffu);
  }
}

// What makes the comparison with the naive product worth something: registers in other places give
// other products.
TEST(TensorCoreTest, NoticesEveryMisplacedRegister) {
  Random random(/*seed=*/3);
  for (const MmaInstruction& instruction : MmaInstructions()) {
    Matrix a = RandomBits(instruction.m, instruction.k, BitsOf(instruction.a), random);
    Matrix b = RandomBits(instruction.k, instruction.n, BitsOf(instruction.b), random);
    if (IsFloat(instruction)) {  // finite and of similar size: 1 to 2
      for (Matrix* matrix : {&a, &b}) {
        for (auto& row : *matrix) {
          for (uint32_t& x : row)
            x = instruction.a == MmaInput::kF16 ? 0x3c00 | (x & 0x3ff) : 0x3f80 | (x & 0x7f);
        }
      }
    }
    const Registers ra = Scatter(instruction, a, BitsOf(instruction.a), PtxA);
    const Registers rb = Scatter(instruction, b, BitsOf(instruction.b), PtxB);
    Registers right = {};
    Execute(instruction, ra, rb, right);
    for (int lane = 0; lane < kLanes; ++lane) {
      Registers swapped_a = ra, swapped_b = rb, d = {};
      std::swap(swapped_a[lane], swapped_a[(lane + 1) % kLanes]);
      Execute(instruction, swapped_a, rb, d);
      EXPECT_NE(d, right);
      d = {};
      std::swap(swapped_b[lane], swapped_b[(lane + 1) % kLanes]);
      Execute(instruction, ra, swapped_b, d);
      EXPECT_NE(d, right);
    }
  }
}

// Two m16n8k8 do what one m16n8k16 does, four m8n8k16 what one m16n8k32 does, on the registers as
// they are: how sm_75 runs kernels that were written for sm_80.
TEST(TensorCoreTest, ComposesLargerInstructionsOfSmallerOnes) {
  Random random(/*seed=*/4);
  Matrix a = RandomBits(16, 16, 3, random), b = RandomBits(16, 8, 3, random);
  for (Matrix* matrix : {&a, &b}) {
    for (auto& row : *matrix) {
      for (uint32_t& x : row) x = F16BitsFromF32Bits(FloatBits(static_cast<float>(x)));
    }
  }
  const Registers ra = Scatter(kF16K16, a, 16, PtxA), rb = Scatter(kF16K16, b, 16, PtxB);
  Registers whole = {}, parts = {};
  Execute(kF16K16, ra, rb, whole);
  for (int part = 0; part < 2; ++part) {
    Registers pa = {}, pb = {};
    for (int lane = 0; lane < kLanes; ++lane) {
      pa[lane] = {ra[lane][2 * part], ra[lane][2 * part + 1]};
      pb[lane] = {rb[lane][part]};
    }
    Execute(kF16K8, pa, pb, parts);
  }
  EXPECT_EQ(whole, parts);

  const Matrix ia = RandomBits(16, 32, 8, random), ib = RandomBits(32, 8, 8, random);
  const Registers sa = Scatter(kS8K32, ia, 8, PtxA), sb = Scatter(kS8K32, ib, 8, PtxB);
  Registers one = {}, four = {};
  Execute(kS8K32, sa, sb, one);
  for (int part = 0; part < 4; ++part) {
    Registers pa = {}, pb = {}, pc = {};
    const int half = part % 2;
    for (int lane = 0; lane < kLanes; ++lane) {
      pa[lane] = {sa[lane][part]};
      pb[lane] = {sb[lane][part / 2]};
      pc[lane] = {four[lane][2 * half], four[lane][2 * half + 1]};
    }
    Execute(kS8K16, pa, pb, pc);
    for (int lane = 0; lane < kLanes; ++lane) {
      four[lane][2 * half] = pc[lane][0];
      four[lane][2 * half + 1] = pc[lane][1];
    }
  }
  EXPECT_EQ(one, four);
}

TEST(TensorCoreTest, SaysWhichArchitectureHasAnInstruction) {
  EXPECT_EQ(LeastArchitecture(kF16K8), 75);
  EXPECT_EQ(LeastArchitecture(kF16K8Half), 75);
  EXPECT_EQ(LeastArchitecture(kF16K16), 80);
  EXPECT_EQ(LeastArchitecture(kBF16K16), 80);
  EXPECT_EQ(LeastArchitecture(kS8K16), 75);
  EXPECT_EQ(LeastArchitecture(kS8K32), 80);
  MmaInstruction instruction = kS8K16;
  instruction.saturate = true;
  instruction.b = MmaInput::kU8;
  EXPECT_EQ(LeastArchitecture(instruction), 75);
  instruction.b = MmaInput::kS4;
  EXPECT_EQ(LeastArchitecture(instruction), 0);
  instruction = kF16K8;
  instruction.saturate = true;
  EXPECT_EQ(LeastArchitecture(instruction), 0);
  instruction = kF16K8;
  instruction.b = MmaInput::kBF16;
  EXPECT_EQ(LeastArchitecture(instruction), 0);
  instruction = kF16K8;
  instruction.k = 4;
  EXPECT_EQ(LeastArchitecture(instruction), 0);
  EXPECT_EQ(LeastArchitecture({8, 8, 128, MmaInput::kB1Xor, MmaInput::kB1Xor, MmaOutput::kS32}),
            75);
  EXPECT_EQ(LeastArchitecture({8, 8, 128, MmaInput::kB1And, MmaInput::kB1And, MmaOutput::kS32}),
            80);
}

TEST(LoadMatrixTest, MovesRowsToLanesAsStatedForAllFormsOfIt) {
  for (const int count : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      // Element (row, column) of matrix j is 1000 j + 10 row + column.
      uint32_t memory[kLanes][4];
      const uint32_t* rows[kLanes];
      uint32_t registers[kLanes][4];
      uint32_t* out[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int pair = 0; pair < 4; ++pair) {
          const uint32_t low =
              static_cast<uint32_t>(1000 * (lane / 8) + 10 * (lane % 8) + 2 * pair);
          memory[lane][pair] = low | (low + 1) << 16;
        }
        rows[lane] = lane < 8 * count ? memory[lane] : nullptr;
        out[lane] = registers[lane];
        for (uint32_t& x : registers[lane]) x = 0xdeadbeef;
      }
      LoadMatrix(count, transposed, rows, out);
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int j = 0; j < 4; ++j) {
          const int g = lane / 4, t = lane % 4;
          const uint32_t low =
              static_cast<uint32_t>(1000 * j + (transposed ? 10 * (2 * t) + g : 10 * g + 2 * t));
          const uint32_t high = low + (transposed ? 10 : 1);
          EXPECT_EQ(registers[lane][j], j < count ? (low | high << 16) : 0xdeadbeef);
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::simt
