// SPDX-License-Identifier: Apache-2.0
// How floating-point sums are made, by each rule: the experiments of Fasi et al., whose outcome on
// real GPUs is published, and the bound between the rules.
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gpu/simt/tensor_core.h"
#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/floating/half.h"

namespace assay::simt {
namespace {

using Registers = std::array<std::array<uint32_t, kMaxMmaRegisters>, kLanes>;

constexpr MmaInstruction kF16F32 = {16, 8, 8, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF32};
constexpr MmaInstruction kF16F16 = {16, 8, 8, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF16};
constexpr MmaInstruction kF16F32K16 = {16, 8, 16, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF32};

// c + x . y in row 0, column 0, by one instruction. x and y hold f16 values.
double Dot(const MmaInstruction& instruction, std::vector<double> x, std::vector<double> y,
           double c, SumRule rule) {
  Registers a = {}, b = {}, d = {};
  const auto half = [](double v) { return uint32_t{floating::Half(v).bits()}; };
  for (int k = 0; k < static_cast<int>(x.size()); ++k) {
    // Row 0 of A and column 0 of B lie in lanes 0 to 3, two columns a lane, K of 8 a pass.
    const int lane = k % 8 / 2;
    const int shift = 16 * (k % 2);
    a[lane][k / 8 * 2] |= half(x[k]) << shift;
    b[lane][k / 8] |= half(y[k]) << shift;
  }
  const bool is_half = instruction.c == MmaOutput::kF16;
  d[0][0] = is_half ? half(c) : FloatBits(static_cast<float>(c));
  MmaOperands operands;
  for (int lane = 0; lane < kLanes; ++lane) {
    operands.a[lane] = a[lane].data();
    operands.b[lane] = b[lane].data();
    operands.c[lane] = operands.d[lane] = d[lane].data();
  }
  Mma(instruction, operands, rule);
  if (is_half) {
    return static_cast<double>(floating::Half::FromBits(static_cast<uint16_t>(d[0][0])));
  }
  return static_cast<double>(FloatFromBits(d[0][0]));
}

const SumRule kExact = {};
const SumRule kRules[] = {SumRule::Volta(), SumRule::Turing(), SumRule::Ampere(),
                          SumRule::Hopper()};

TEST(TensorCoreSumTest, IsExactInProducts) {
  const double below = 1 - 0x1p-11;
  const double square = 1 - 0x1p-10 + 0x1p-22;
  for (const SumRule rule : {kExact, kRules[0], kRules[1], kRules[2], kRules[3]}) {
    EXPECT_EQ(Dot(kF16F32, {below}, {below}, 0, rule), square);
    EXPECT_EQ(Dot(kF16F32, {below, below, below, below}, {below, below, below, below}, 0, rule),
              4 * square);
    EXPECT_EQ(Dot(kF16F16, {below, below}, {below, 0x1p-11}, 0, rule), 1 - 0x1p-10 + 0x1p-11);
  }
}

// Fasi et al., "Products are accumulated in binary32": four times 2^-25 beside 1 are lost by all
// GPUs without extra bits to hold them, and kept by the exact sum.
TEST(TensorCoreSumTest, CutsWhatTheLargestTermLeavesNoRoomFor) {
  const std::vector<double> halves = {0.5, 0.5, 0.5, 0.5};
  const std::vector<double> tiny = {0x1p-24, 0x1p-24, 0x1p-24, 0x1p-24};
  EXPECT_EQ(Dot(kF16F32, halves, tiny, 1, kExact), 1 + 0x1p-23);
  EXPECT_EQ(Dot(kF16F32, halves, tiny, 1, SumRule::Volta()), 1);
  EXPECT_EQ(Dot(kF16F32, halves, tiny, 1, SumRule::Turing()), 1);            // published for the T4
  EXPECT_EQ(Dot(kF16F32, halves, tiny, 1, SumRule::Ampere()), 1);            // and for the A100
  EXPECT_EQ(Dot(kF16F32, halves, tiny, 1, SumRule::Hopper()), 1 + 0x1p-23);  // two more bits
}

TEST(TensorCoreSumTest, CutsTowardsZeroInF32AndRoundsToNearestInF16) {
  for (const SumRule rule : kRules) {
    EXPECT_EQ(Dot(kF16F32, {1, 1}, {2, 0x1p-23 + 0x1p-24}, 0, rule), 2);
    EXPECT_EQ(Dot(kF16F32, {1, 1}, {-2, -0x1p-23 - 0x1p-24}, 0, rule), -2);
    EXPECT_EQ(Dot(kF16F16, {0x1p-24, 0x1p-24}, {0.5, 0.25}, 0, rule), 0x1p-24);
  }
  EXPECT_EQ(Dot(kF16F32, {1, 1}, {2, 0x1p-23 + 0x1p-24}, 0, kExact), 2 + 0x1p-22);
  EXPECT_EQ(Dot(kF16F16, {0x1p-24, 0x1p-24}, {0.5, 0.25}, 0, kExact), 0x1p-24);
}

// "Extra bits in the significand alignment": absent in the V100, present in the T4 and the A100.
TEST(TensorCoreSumTest, HasTheExtraBitsOfEachArchitecture) {
  EXPECT_EQ(Dot(kF16F32, {1}, {1}, -(1 - 0x1p-24), SumRule::Volta()), 0x1p-23);
  EXPECT_EQ(Dot(kF16F32, {1}, {1}, -(1 - 0x1p-24), SumRule::Turing()), 0x1p-24);
  EXPECT_EQ(Dot(kF16F32, {1}, {1}, -(1 - 0x1p-24), SumRule::Ampere()), 0x1p-24);
  EXPECT_EQ(Dot(kF16F32, {1}, {1}, -(1 - 0x1p-24), kExact), 0x1p-24);
}

// "Extra bits for carry out": sums above 4 lose nothing but what the last cut takes.
TEST(TensorCoreSumTest, CarriesOutWithoutLoss) {
  for (const SumRule rule : kRules) {
    EXPECT_EQ(Dot(kF16F32, {1, 1, 1, 1}, {1, 1.5, 1.75, 1.875}, 1.875, rule), 8);
    EXPECT_EQ(Dot(kF16F32, {1, 1, 1, 1}, {1, 1, 1, 1}, 1 + 0x1p-22 + 0x1p-23, rule), 5);
    EXPECT_EQ(Dot(kF16F32, {1, 1, 1, 1}, {-1, -1, -1, -1}, -1 - 0x1p-22 - 0x1p-23, rule), -5);
    EXPECT_EQ(Dot(kF16F32, {1, 1, 1, 1}, {0x1p-23, 1, 1, 1}, 1 + 0x1p-22 + 0x1p-23, rule),
              4 + 0x1p-21);
  }
}

// "Monotonicity of dot product": a larger accumulator gives a smaller sum, on the V100 and the T4.
TEST(TensorCoreSumTest, IsNotMonotonicWhereItCuts) {
  const std::vector<double> x = {0.5, 0.5, 0.5, 0.5};
  const std::vector<double> y = {0x1p-24, 0x1p-24, 0x1p-24, 0x1p-23 + 0x1p-24};
  const auto sum = [&](double c, SumRule rule) { return Dot(kF16F32, x, y, c, rule); };
  EXPECT_LT(sum(1, SumRule::Turing()), sum(1 - 0x1p-24, SumRule::Turing()));
  EXPECT_GE(sum(1, kExact), sum(1 - 0x1p-24, kExact));
}

// A product keeps its factors' exponents: 1.5 x 1.5 = 2.25 counts as 2^0, and keeps a bit more than
// 2.25 as 1 x 2.25 or in C would.
TEST(TensorCoreSumTest, AlignsProductsBeforeNormalisingThem) {
  EXPECT_EQ(Dot(kF16F32, {1.5, 1, 1.5}, {1.5, 0x1p-23, -1.5}, 0, SumRule::Volta()), 0x1p-23);
  EXPECT_EQ(Dot(kF16F32, {1, 1}, {0x1p-23, -2.25}, 2.25, SumRule::Volta()), 0);
}

// A subnormal factor counts with the exponent of the least normal number, 2^-14.
TEST(TensorCoreSumTest, GivesSubnormalsTheLeastExponent) {
  EXPECT_EQ(Dot(kF16F32, {0x1p-24, 0x1p-14}, {1, 0x1p-24}, 0, SumRule::Volta()), 0x1p-24);
  EXPECT_EQ(Dot(kF16F32, {0x1p-14, 0x1p-14}, {0x1p-10, 0x1p-24}, 0, SumRule::Volta()),
            0x1p-24 + 0x1p-38);
}

// Groups follow one another: with four terms a group, what the first loses stays lost.
TEST(TensorCoreSumTest, PassesGroupsOneAfterTheOther) {
  const std::vector<double> ones = {1, 0, 0, 0, 1, 1};
  const std::vector<double> y = {0x1p-24, 0, 0, 0, -1, 0x1p-10};
  EXPECT_EQ(Dot(kF16F32, ones, y, 1, SumRule::Volta()), 0x1p-10);
  EXPECT_EQ(Dot(kF16F32, ones, y, 1, SumRule::Ampere()), 0x1p-10 + 0x1p-24);
  // In f16 the result of each group is an f16.
  EXPECT_EQ(Dot(kF16F16, ones, {0x1p-12, 0, 0, 0, -1, 0}, 1, SumRule::Volta()), 0);
  EXPECT_EQ(Dot(kF16F16, ones, {0x1p-12, 0, 0, 0, -1, 0}, 1, SumRule::Ampere()), 0x1p-12);
  std::vector<double> x16(16, 0.0), y16(16, 0.0);
  x16[0] = x16[12] = x16[13] = 1;
  y16[0] = 0x1p-24;
  y16[12] = -1;
  y16[13] = 0x1p-10;
  EXPECT_EQ(Dot(kF16F32K16, x16, y16, 1, SumRule::Ampere()), 0x1p-10);
  EXPECT_EQ(Dot(kF16F32K16, x16, y16, 1, SumRule::Hopper()), 0x1p-10 + 0x1p-24);
}

// The bound of tensor_core.h, in f64 with room: |cut - exact| below (terms + 1) units and an ulp of
// the result for each group.
TEST(TensorCoreSumTest, StaysWithinTheStatedBoundOfTheExactSum) {
  Random random(/*seed=*/1);
  double closest = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<double> x(8), y(8);
    double largest = 0;
    double groups_largest = 0;
    const double c = static_cast<double>(static_cast<float>(random.Uniform(-4, 4)));
    for (int k = 0; k < 8; ++k) {
      const int exponent = static_cast<int>(random.Integer(-8, 4));
      x[k] = static_cast<double>(floating::Half(random.Uniform(-1, 1) * std::ldexp(1.0, exponent)));
      y[k] = static_cast<double>(floating::Half(random.Uniform(-1, 1)));
      largest = std::fmax(largest, std::fabs(x[k] * y[k]));
      groups_largest += std::fabs(x[k] * y[k]);
    }
    largest = std::fmax(largest, std::fabs(c));
    groups_largest += std::fabs(c);  // bounds the term that a later group takes over
    const double exact = Dot(kF16F32, x, y, c, kExact);
    for (const SumRule rule : kRules) {
      const int groups = (8 + rule.terms - 1) / rule.terms;
      const double ulp = std::ldexp(1.0, std::ilogb(groups_largest) - 23);
      const double unit = std::ldexp(groups == 1 ? largest : groups_largest, -23 - rule.extra_bits);
      const double bound = groups * ((rule.terms + 1) * unit + ulp) + ulp / 2;
      const double distance = std::fabs(Dot(kF16F32, x, y, c, rule) - exact);
      ASSERT_LT(distance, bound) << i << ' ' << rule.terms;
      closest = std::fmax(closest, distance / bound);
    }
  }
  EXPECT_GT(closest, 0.1);  // and the bound says something
}

}  // namespace
}  // namespace assay::simt
