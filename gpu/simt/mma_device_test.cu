// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of a real GPU beside tensor_core.h: integers bit for bit, floating point
// within the bound that tensor_core.h states. How many results each rule for sums foretells to the
// last bit is a property of the test (matches_exact, matches_turing ...), for a reader of its log:
// which rule a GPU follows is not known beforehand.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/device/gpus.h"
#include "gpu/simt/mma_test.cu.h"
#include "gpu/simt/tensor_core.h"
#include "gtest/gtest.h"
#include "numerics/core/bits.h"
#include "numerics/core/random.h"
#include "numerics/floating/half.h"

namespace assay::simt {
namespace {

template <class T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : bytes_(values.size() * sizeof(T)) {
    EXPECT_EQ(cudaMalloc(&data_, bytes_), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, values.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return data_; }
  std::vector<T> Download() const {
    std::vector<T> values(bytes_ / sizeof(T));
    EXPECT_EQ(cudaMemcpy(values.data(), data_, bytes_, cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  size_t bytes_;
  T* data_ = nullptr;
};

using Words = std::vector<uint32_t>;

Words Predicted(const MmaInstruction& instruction, const Words& a, const Words& b, const Words& c,
                SumRule rule) {
  Words d(c.size());
  MmaOperands operands;
  for (int lane = 0; lane < kLanes; ++lane) {
    operands.a[lane] = a.data() + lane * RegistersOfA(instruction);
    operands.b[lane] = b.data() + lane * RegistersOfB(instruction);
    operands.c[lane] = c.data() + lane * RegistersOfC(instruction);
    operands.d[lane] = d.data() + lane * RegistersOfC(instruction);
  }
  Mma(instruction, operands, rule);
  return d;
}

template <class D>
Words OnGpu(void (*kernel)(const uint32_t*, const uint32_t*, const D*, D*), const Words& a,
            const Words& b, const Words& c) {
  std::vector<D> values(c.size());
  std::memcpy(values.data(), c.data(), 4 * c.size());
  const Buffer<uint32_t> da(a), db(b);
  const Buffer<D> dc(values), dd(values);
  kernel<<<1, kLanes>>>(da.get(), db.get(), dc.get(), dd.get());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  values = dd.Download();
  Words d(c.size());
  std::memcpy(d.data(), values.data(), 4 * c.size());
  return d;
}

Words RandomWords(int n, Random& random) {
  Words words(static_cast<size_t>(n));
  for (uint32_t& word : words) word = random.Next32();
  return words;
}

void ExpectInteger(const MmaInstruction& instruction,
                   void (*kernel)(const uint32_t*, const uint32_t*, const int*, int*)) {
  Random random(/*seed=*/1);
  for (int round = 0; round < 100; ++round) {
    const Words a = RandomWords(kLanes * RegistersOfA(instruction), random);
    const Words b = RandomWords(kLanes * RegistersOfB(instruction), random);
    const Words c = RandomWords(kLanes * RegistersOfC(instruction), random);
    ASSERT_EQ(OnGpu(kernel, a, b, c), Predicted(instruction, a, b, c, SumRule{})) << round;
  }
}

TEST(MmaDeviceTest, MultipliesIntegersAsPredicted) {
  if (!HaveGpu()) GTEST_SKIP() << "no GPU on this machine";
  const auto of = [](MmaInput input, int k, bool saturate) {
    return MmaInstruction{8, 8, k, input, input, MmaOutput::kS32, saturate};
  };
  ExpectInteger(of(MmaInput::kS8, 16, false), mma_test::S8);
  ExpectInteger(of(MmaInput::kS8, 16, true), mma_test::S8Satfinite);
  ExpectInteger(of(MmaInput::kU8, 16, false), mma_test::U8);
  ExpectInteger(of(MmaInput::kU8, 16, true), mma_test::U8Satfinite);
  ExpectInteger(of(MmaInput::kS4, 32, false), mma_test::S4);
  ExpectInteger(of(MmaInput::kS4, 32, true), mma_test::S4Satfinite);
  ExpectInteger(of(MmaInput::kB1Xor, 128, false), mma_test::B1Xor);
}

// Factors of size 2^-4 to 2^4, accumulators of size 2^-8 to 2^8: terms are below 2^8.
TEST(MmaDeviceTest, AddsWithinTheStatedBound) {
  if (!HaveGpu()) GTEST_SKIP() << "no GPU on this machine";
  constexpr MmaInstruction kInstruction = {
      16, 8, 8, MmaInput::kF16, MmaInput::kF16, MmaOutput::kF32};
  const std::pair<const char*, SumRule> rules[] = {{"matches_exact", SumRule{}},
                                                   {"matches_volta", SumRule::Volta()},
                                                   {"matches_turing", SumRule::Turing()},
                                                   {"matches_ampere", SumRule::Ampere()},
                                                   {"matches_hopper", SumRule::Hopper()}};
  int matches[5] = {};
  int total = 0;
  Random random(/*seed=*/2);
  const auto draw = [&](int spread) {
    const double size = std::ldexp(1.0, static_cast<int>(random.Integer(-spread, spread)));
    return random.Uniform(-1, 1) * size;
  };
  for (int round = 0; round < 1000; ++round) {
    Words a(kLanes * 2), b(kLanes), c(kLanes * 4);
    for (Words* words : {&a, &b}) {
      for (uint32_t& word : *words) {
        const uint32_t low = floating::Half(draw(4)).bits();
        word = low | uint32_t{floating::Half(draw(4)).bits()} << 16;
      }
    }
    for (uint32_t& word : c) word = FloatBits(static_cast<float>(draw(8)));
    const Words got = OnGpu(mma_test::F16, a, b, c);
    const Words exact = Predicted(kInstruction, a, b, c, SumRule{});
    for (size_t i = 0; i < got.size(); ++i) {
      // Two groups of four terms and what went before, no extra bits: 2 (5 + 1) units of 2^-23,
      // of a largest term or sum below 2^12.
      ASSERT_NEAR(FloatFromBits(got[i]), FloatFromBits(exact[i]), 12 * 0x1p-23 * 0x1p12) << round;
    }
    for (int rule = 0; rule < 5; ++rule) {
      const Words predicted = Predicted(kInstruction, a, b, c, rules[rule].second);
      for (size_t i = 0; i < got.size(); ++i) matches[rule] += predicted[i] == got[i];
    }
    total += static_cast<int>(got.size());
  }
  for (int rule = 0; rule < 5; ++rule) RecordProperty(rules[rule].first, matches[rule]);
  RecordProperty("results", total);
}

}  // namespace
}  // namespace assay::simt
