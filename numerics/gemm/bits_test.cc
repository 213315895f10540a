// SPDX-License-Identifier: Apache-2.0
//
// One hash of many products: on every instruction set, for every number of threads, by every
// compiler, natively and in WebAssembly.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "numerics/core/matrix_view.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/core/thread_pool.h"
#include "numerics/floating/half.h"
#include "numerics/gemm/gemm.h"

namespace assay::gemm {
namespace {

constexpr struct {
  int64_t m, n, k;
} kShapes[] = {{1, 1, 1},    {5, 7, 3},     {13, 37, 29},  {31, 33, 257}, {96, 97, 98},
               {1, 999, 70}, {999, 1, 300}, {3, 2100, 65}, {65, 600, 531}};

template <class T>
void HashProducts(ThreadPool* pool, Sha256& hash) {
  for (const auto& [m, n, k] : kShapes) {
    Random random(static_cast<uint64_t>(m + n + k));
    std::vector<T> a(static_cast<size_t>(m * k));
    std::vector<T> b(static_cast<size_t>(k * n));
    std::vector<T> c(static_cast<size_t>(m * n));
    std::vector<T> maximum(static_cast<size_t>(m));
    random.FillNormal(std::span<T>(a));
    random.FillNormal(std::span<T>(b));
    random.FillNormal(std::span<T>(c));
    Options<T> options;
    options.pool = pool;
    ASSERT_TRUE(Gemm<T>(T(0.7), {a.data(), m, k, k}, {b.data(), k, n, n}, T(-0.3),
                        MatrixView<T>(c.data(), m, n, n), options)
                    .ok());
    hash.Update(std::span<const T>(c));
    options.epilogue.activation = Activation::kGelu;
    options.epilogue.row_maximum = maximum;
    ASSERT_TRUE(Gemm<T>(1, MatrixView<const T>(a.data(), k, m, m).Transposed(),
                        MatrixView<const T>(b.data(), n, k, k).Transposed(), 0,
                        MatrixView<T>(c.data(), n, m, m).Transposed(), options)
                    .ok());
    hash.Update(std::span<const T>(c));
    hash.Update(std::span<const T>(maximum));
    if constexpr (sizeof(T) == 4) {
      const std::vector<floating::BFloat16> x(a.begin(), a.end());
      const std::vector<floating::BFloat16> y(b.begin(), b.end());
      options.epilogue = {};
      options.epilogue.activation = Activation::kGeluTanh;
      ASSERT_TRUE(Gemm(1, {x.data(), m, k, k}, {y.data(), k, n, n}, 0,
                       MatrixView<float>(c.data(), m, n, n), options)
                      .ok());
      hash.Update(std::span<const T>(c));
    }
  }
}

std::string HashOfProducts(ThreadPool* pool) {
  Sha256 hash;
  HashProducts<float>(pool, hash);
  HashProducts<double>(pool, hash);
  return Hex(hash.Finish());
}

TEST(BitsTest, AreThoseOfEveryMachine) {
  EXPECT_EQ(HashOfProducts(nullptr),
            "18f12d0feae6d344f7aee796382d8815d600f7e2375ca90a595c7163d6c4c38b");
}

TEST(BitsTest, DoNotDependOnInstructionsAndThreads) {
  const std::string expected = HashOfProducts(nullptr);
  int targets = 0;
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    EXPECT_EQ(HashOfProducts(nullptr), expected) << hwy::TargetName(rest & -rest);
    hwy::SetSupportedTargetsForTest(0);
    ++targets;
  }
  EXPECT_GE(targets, HWY_ARCH_WASM ? 1 : 2);
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    EXPECT_EQ(HashOfProducts(&pool), expected) << threads << " threads";
  }
}

}  // namespace
}  // namespace assay::gemm
