// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/mma.h"

#include <climits>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "gpu/simt/half.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/mma_sm80_test.cu.h"
#include "gpu/simt/mma_test.cu.h"
#include "gpu/simt/tensor_core.h"
#include "gtest/gtest.h"
#include "numerics/core/random.h"

namespace assay::simt {
namespace {

constexpr LaunchConfig kOneWarp = {.grid = 1, .block = 32};

template <class T>
std::vector<T> RandomWords(int n, Random& random) {
  std::vector<T> words(static_cast<size_t>(n));
  for (T& word : words) {
    const uint32_t bits = random.Next32();
    std::memcpy(&word, &bits, sizeof(bits));
  }
  return words;
}

// f16 pairs or bf16 pairs of size 1 to 2, so that no sum is NaN.
std::vector<uint32_t> RandomPairs(int n, uint32_t exponent, uint32_t fraction, Random& random) {
  std::vector<uint32_t> words(static_cast<size_t>(n));
  for (uint32_t& word : words) word = exponent | (random.Next32() & fraction);
  return words;
}

// The device function does what Mma does with the same registers.
template <class D>
void ExpectAsMma(const MmaInstruction& instruction,
                 void (*kernel)(gptr<const uint32_t>, gptr<const uint32_t>, gptr<const D>, gptr<D>),
                 int compute_capability = 75) {
  Random random(/*seed=*/static_cast<uint64_t>(instruction.k));
  const int na = RegistersOfA(instruction);
  const int nb = RegistersOfB(instruction);
  const int nc = RegistersOfC(instruction);
  std::vector<uint32_t> a = RandomWords<uint32_t>(32 * na, random);
  std::vector<uint32_t> b = RandomWords<uint32_t>(32 * nb, random);
  std::vector<D> c = RandomWords<D>(32 * nc, random);
  if (BitsOf(instruction.a) == 16) {
    const bool f16 = instruction.a == MmaInput::kF16;
    a = RandomPairs(32 * na, f16 ? 0x3c003c00 : 0x3f803f80, f16 ? 0x83ff83ff : 0x807f807f, random);
    b = RandomPairs(32 * nb, f16 ? 0x3c003c00 : 0x3f803f80, f16 ? 0x83ff83ff : 0x807f807f, random);
    for (D& x : c) {
      if constexpr (std::is_same_v<D, float>) x = static_cast<float>(random.Uniform(-4, 4));
      if constexpr (std::is_same_v<D, uint32_t>) x &= 0x3fff3fff;
    }
  }
  if constexpr (std::is_same_v<D, int>) {  // some near both ends, where saturation shows
    for (int i = 0; i < 32 * nc; i += 3) c[i] = i % 2 == 0 ? INT_MAX - i : INT_MIN + i;
  }
  std::vector<D> expected(c.size());
  std::vector<uint32_t> c_bits(c.size()), d_bits(c.size());
  std::memcpy(c_bits.data(), c.data(), 4 * c.size());
  MmaOperands operands;
  for (int lane = 0; lane < kLanes; ++lane) {
    operands.a[lane] = a.data() + lane * na;
    operands.b[lane] = b.data() + lane * nb;
    operands.c[lane] = c_bits.data() + lane * nc;
    operands.d[lane] = d_bits.data() + lane * nc;
  }
  Mma(instruction, operands);
  std::memcpy(expected.data(), d_bits.data(), 4 * c.size());

  DeviceMemory memory;
  const auto da = memory.Upload(a, "a").value();
  const auto db = memory.Upload(b, "b").value();
  const auto dc = memory.Upload(c, "c").value();
  const auto dd = memory.Allocate<D>(32 * nc, "d").value();
  LaunchConfig config = kOneWarp;
  config.compute_capability = compute_capability;
  const LaunchResult result = LaunchUnderAllSchedules(memory, config, 2, kernel, da, db, dc, dd);
  ASSERT_TRUE(result.status.ok()) << Format(result.diagnostics);
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_EQ(memory.Download(dd, 32 * nc).value(), expected);
  EXPECT_EQ(result.counters.matrix_operations, 1);
}

MmaInstruction Of(int m, int k, MmaInput input, MmaOutput output, bool saturate = false) {
  return {m, 8, k, input, input, output, saturate};
}

TEST(MmaTest, MultipliesTheRegistersOfAWarp) {
  ExpectAsMma(Of(16, 8, MmaInput::kF16, MmaOutput::kF32), mma_test::F16);
  ExpectAsMma(Of(16, 8, MmaInput::kF16, MmaOutput::kF16), mma_test::F16Half);
  ExpectAsMma(Of(8, 16, MmaInput::kS8, MmaOutput::kS32), mma_test::S8);
  ExpectAsMma(Of(8, 16, MmaInput::kS8, MmaOutput::kS32, true), mma_test::S8Satfinite);
  ExpectAsMma(Of(8, 16, MmaInput::kU8, MmaOutput::kS32), mma_test::U8);
  ExpectAsMma(Of(8, 16, MmaInput::kU8, MmaOutput::kS32, true), mma_test::U8Satfinite);
  ExpectAsMma(Of(8, 32, MmaInput::kS4, MmaOutput::kS32), mma_test::S4);
  ExpectAsMma(Of(8, 32, MmaInput::kS4, MmaOutput::kS32, true), mma_test::S4Satfinite);
  ExpectAsMma(Of(8, 128, MmaInput::kB1Xor, MmaOutput::kS32), mma_test::B1Xor);
}

TEST(MmaTest, MultipliesWhatCameWithSm80) {
  ExpectAsMma(Of(16, 16, MmaInput::kF16, MmaOutput::kF32), mma_test::F16K16, 90);
  ExpectAsMma(Of(16, 16, MmaInput::kF16, MmaOutput::kF16), mma_test::F16K16Half, 90);
  ExpectAsMma(Of(16, 16, MmaInput::kBF16, MmaOutput::kF32), mma_test::BF16K16, 90);
  ExpectAsMma(Of(16, 32, MmaInput::kS8, MmaOutput::kS32), mma_test::S8K32, 90);
  ExpectAsMma(Of(16, 32, MmaInput::kS8, MmaOutput::kS32, true), mma_test::S8K32Satfinite, 90);
  ExpectAsMma(Of(16, 32, MmaInput::kU8, MmaOutput::kS32), mma_test::U8K32, 90);
  ExpectAsMma(Of(16, 32, MmaInput::kU8, MmaOutput::kS32, true), mma_test::U8K32Satfinite, 90);
  ExpectAsMma(Of(8, 128, MmaInput::kB1And, MmaOutput::kS32), mma_test::B1And, 90);
}

TEST(MmaTest, MultipliesTilesThatLdmatrixBrought) {
  DeviceMemory memory;
  std::vector<half> a(128), b(64);
  std::vector<float> expected(128);
  for (int i = 0; i < 128; ++i) a[i] = half(i % 23 - 11);
  for (int i = 0; i < 64; ++i) b[i] = half(i % 17 - 5);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      for (int k = 0; k < 8; ++k) {
        expected[8 * i + j] += __half2float(a[8 * i + k]) * __half2float(b[8 * k + j]);
      }
    }
  }
  const auto da = memory.Upload(a, "a").value();
  const auto db = memory.Upload(b, "b").value();
  const auto dc = memory.Allocate<float>(128, "c").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, kOneWarp, 3, mma_test::ProductByLdmatrix, da, db, dc);
  ASSERT_TRUE(result.status.ok()) << Format(result.diagnostics);
  EXPECT_EQ(memory.Download(dc, 128).value(), expected);
  EXPECT_EQ(result.counters.matrix_operations, 3);  // two ldmatrix and one mma
  // Rows of 16 bytes side by side: x2 takes two wavefronts, x1 one, and neither has a conflict.
  for (const AccessCounters& access : result.counters.accesses) {
    if (access.space != Space::kShared || access.width != 16) continue;
    EXPECT_EQ(access.wavefronts, access.lanes / 8);
    EXPECT_EQ(access.wavefronts, access.ideal_wavefronts);
  }
}

TEST(MmaTest, LoadsMatricesInEveryForm) {
  DeviceMemory memory;
  std::vector<uint4> rows(32);
  for (int lane = 0; lane < 32; ++lane) {
    uint16_t elements[8];
    for (int i = 0; i < 8; ++i) elements[i] = static_cast<uint16_t>(1000 * lane + i);
    std::memcpy(&rows[lane], elements, sizeof(elements));
  }
  const auto in = memory.Upload(rows, "rows").value();
  const auto out = memory.Upload(std::vector<uint32_t>(768), "out").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, kOneWarp, 1, mma_test::AllLdmatrix, in, out);
  ASSERT_TRUE(result.status.ok()) << Format(result.diagnostics);
  const std::vector<uint32_t> got = memory.Download(out, 768).value();
  for (int form = 0; form < 6; ++form) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int matrix = 0; matrix < 1 << (form / 2); ++matrix) {
        const int g = lane / 4;
        const int t = lane % 4;
        const auto element = [&](int row, int column) {
          return static_cast<uint32_t>(1000 * (8 * matrix + row) + column);
        };
        const uint32_t expected = form % 2 == 0 ? element(g, 2 * t) | element(g, 2 * t + 1) << 16
                                                : element(2 * t, g) | element(2 * t + 1, g) << 16;
        EXPECT_EQ(got[128 * form + 4 * lane + matrix], expected) << form << ' ' << lane;
      }
    }
  }
}

// Small integers, so that every sum is exact in f16 as well.
template <class T, class Sum>
void ExpectWmmaProduct(Sum alpha) {
  DeviceMemory memory;
  std::vector<T> a(256), b(256);
  std::vector<Sum> c(256), expected(256);
  for (int i = 0; i < 256; ++i) {
    a[i] = static_cast<T>(std::is_same_v<T, unsigned char> ? i % 7 : i % 7 - 3);
    b[i] = static_cast<T>(std::is_same_v<T, unsigned char> ? i % 5 : i % 5 - 2);
    c[i] = static_cast<Sum>(i % 31 - 15);
  }
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) {
        sum += static_cast<float>(a[16 * i + k]) * static_cast<float>(b[16 * j + k]);
      }
      expected[16 * j + i] =
          static_cast<Sum>(static_cast<float>(alpha) * sum + static_cast<float>(c[16 * i + j]));
    }
  }
  const auto da = memory.Upload(a, "a").value();
  const auto db = memory.Upload(b, "b").value();
  const auto dc = memory.Upload(c, "c").value();
  const auto dd = memory.Allocate<Sum>(256, "d").value();
  const LaunchResult result =
      LaunchUnderAllSchedules(memory, kOneWarp, 2, mma_test::Wmma<T, Sum>, da, db, dc, dd, alpha);
  ASSERT_TRUE(result.status.ok()) << Format(result.diagnostics);
  EXPECT_EQ(memory.Download(dd, 256).value(), expected);
  EXPECT_EQ(result.counters.matrix_operations, 4);  // as HMMA and IMMA on sm_75
}

TEST(WmmaTest, MultipliesTiles) {
  ExpectWmmaProduct<half, float>(2.0f);
  ExpectWmmaProduct<half, half>(half(2));
  ExpectWmmaProduct<signed char, int>(3);
  ExpectWmmaProduct<unsigned char, int>(3);
}

TEST(WmmaTest, HoldsEachElementOfATileOnce) {
  const auto check = [](auto fragment) {
    std::vector<int> seen(256);
    for (int lane = 0; lane < 32; ++lane) {
      for (int e = 0; e < fragment.num_elements; ++e) {
        const MatrixPosition p = fragment.PositionOf(lane, e);
        ++seen[16 * p.row + p.column];
      }
    }
    EXPECT_EQ(seen, std::vector<int>(256, 1));
  };
  check(wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>());
  check(wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major>());
  check(wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::col_major>());
  check(wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major>());
  check(wmma::fragment<wmma::accumulator, 16, 16, 16, int>());
}

TEST(MmaTest, NeedsTheWholeWarp) {
  DeviceMemory memory;
  const auto d = memory.Allocate<float>(32, "d").value();
  const LaunchResult result = Launch(memory, kOneWarp, mma_test::MissingLanes, d);
  ASSERT_FALSE(result.status.ok());
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].finding, Finding::kBadMask);
}

}  // namespace
}  // namespace assay::simt
