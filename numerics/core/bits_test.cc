// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/bits.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace assay {
namespace {

constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kFar = std::numeric_limits<uint64_t>::max();

TEST(BitsTest, EncodesKnownNumbers) {
  EXPECT_EQ(FloatBits(1.0f), 0x3f800000u);
  EXPECT_EQ(FloatBits(-0.0f), 0x80000000u);
  EXPECT_EQ(FloatBits(1.0), uint64_t{0x3ff0000000000000});
  EXPECT_EQ(FloatFromBits(0x00000001u), 0x1p-149f);
  EXPECT_EQ(DoubleFromBits(uint64_t{1}), 0x1p-1074);
}

TEST(BitsTest, MakesOneNanOfAll) {
  EXPECT_EQ(CanonicalBits(FloatFromBits(0xffc01234u)), 0x7fc00000u);
  EXPECT_EQ(CanonicalBits(DoubleFromBits(uint64_t{0xfff8000000001234})),
            uint64_t{0x7ff8000000000000});
  EXPECT_EQ(CanonicalBits(-2.0f), FloatBits(-2.0f));
}

TEST(BitsTest, CountsStepsAcrossZeroAndUpToInfinity) {
  EXPECT_EQ(UlpDistance(1.0f, 1.0f), 0u);
  EXPECT_EQ(UlpDistance(0.0f, -0.0f), 0u);
  EXPECT_EQ(UlpDistance(1.0f, 0x1.000002p0f), 1u);
  EXPECT_EQ(UlpDistance(0x1p-149f, -0x1p-149f), 2u);
  EXPECT_EQ(UlpDistance(kInfF, std::numeric_limits<float>::max()), 1u);
  EXPECT_EQ(UlpDistance(-kInfF, kInfF), uint64_t{2} * 0x7f800000u);
  EXPECT_EQ(UlpDistance(0.0, -0.0), 0u);
  EXPECT_EQ(UlpDistance(1.0, 0x1.fffffffffffffp-1), 1u);
  EXPECT_EQ(UlpDistance(-0x1p-1074, 0x1p-1074), 2u);
  EXPECT_EQ(UlpDistance(-kInf, kInf), uint64_t{2} * 0x7ff0000000000000);
}

TEST(BitsTest, KeepsNanFarFromNumbers) {
  EXPECT_EQ(UlpDistance(kNanF, kNanF), 0u);
  EXPECT_EQ(UlpDistance(kNanF, 1.0f), kFar);
  EXPECT_EQ(UlpDistance(1.0, kNan), kFar);
  EXPECT_EQ(UlpDistance(kNan, -kNan), 0u);
}

TEST(BitsTest, MeasuresAnUlp) {
  EXPECT_EQ(Ulp(1.0f), 0x1p-23f);
  EXPECT_EQ(Ulp(-1.5f), 0x1p-23f);
  EXPECT_EQ(Ulp(0.0f), 0x1p-149f);
  EXPECT_EQ(Ulp(std::numeric_limits<float>::max()), 0x1p104f);
  EXPECT_EQ(Ulp(1.0), 0x1p-52);
  EXPECT_EQ(Ulp(0.0), 0x1p-1074);
  EXPECT_EQ(Ulp(std::numeric_limits<double>::max()), 0x1p971);
  EXPECT_TRUE(Ulp(kInf) != Ulp(kInf));
}

TEST(BitsTest, StoresAndLoadsBytesInOrder) {
  uint8_t bytes[8];
  StoreLittleEndian(uint32_t{0x01020304}, bytes);
  EXPECT_EQ(bytes[0], 4);
  EXPECT_EQ(bytes[3], 1);
  EXPECT_EQ(LoadLittleEndian32(bytes), 0x01020304u);
  StoreLittleEndian(uint64_t{0x0102030405060708}, bytes);
  EXPECT_EQ(bytes[0], 8);
  EXPECT_EQ(bytes[7], 1);
  EXPECT_EQ(LoadLittleEndian64(bytes), uint64_t{0x0102030405060708});
  StoreBigEndian(0x01020304u, bytes);
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(LoadBigEndian32(bytes), 0x01020304u);
  StoreLittleEndian(-kNan, bytes);
  EXPECT_EQ(LoadLittleEndian64(bytes), uint64_t{0x7ff8000000000000});
  StoreLittleEndian(1.0f, bytes);
  EXPECT_EQ(LoadLittleEndian32(bytes), 0x3f800000u);
}

TEST(BitsTest, MultipliesTo128Bits) {
  const Wide128 product = MultiplyWide(UINT64_MAX, UINT64_MAX);
  EXPECT_EQ(product.high, UINT64_MAX - 1);
  EXPECT_EQ(product.low, 1u);
  EXPECT_EQ(MultiplyWide(uint64_t{1} << 40, uint64_t{1} << 40).high, uint64_t{1} << 16);
}

}  // namespace
}  // namespace assay
