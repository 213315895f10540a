// SPDX-License-Identifier: Apache-2.0

#include "search/index/internal/distance.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/aligned_allocator.h"
#include "hwy/targets.h"
#include "numerics/core/bits.h"

namespace assay::index::internal {
namespace {

// Numbers of mixed size and sign, so that every order of additions rounds differently.
float Value(int64_t i) {
  const auto mixed = static_cast<uint32_t>(i) * 2654435761u;
  const float magnitude = static_cast<float>(mixed >> 8) / 65536.0f;
  return (mixed & 1) != 0 ? -magnitude : magnitude;
}

template <class T>
struct Padded {
  Padded(int64_t rows, int64_t n, int64_t lanes) : stride((n + lanes - 1) / lanes * lanes) {
    const auto size = static_cast<size_t>((rows == 0 ? 1 : rows) * stride);
    data = hwy::AllocateAligned<T>(size);
    std::memset(data.get(), 0, size * sizeof(T));
  }
  int64_t stride;
  hwy::AlignedFreeUniquePtr<T[]> data;
};

// Runs `body` once for each register width that this machine has, and for the one it would choose.
template <class Body>
int ForEachTarget(Body body) {
  int targets = 0;
  for (int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    body(hwy::TargetName(rest & -rest));
    hwy::SetSupportedTargetsForTest(0);
    ++targets;
  }
  return targets;
}

constexpr int64_t kSizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 784};

TEST(DistanceTest, EveryTargetGivesTheBitsOfThePlainLoop) {
  const int targets = ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (const int64_t n : kSizes) {
      for (const int64_t query_count : {1, 2, 3, 4, 5, 9}) {
        for (const int64_t row_count : {0, 1, 2, 3, 4, 5, 7, 9}) {
          Padded<float> queries(query_count, n, kF32Lanes);
          Padded<float> rows(row_count, n, kF32Lanes);
          for (int64_t q = 0; q < query_count; ++q) {
            for (int64_t i = 0; i < n; ++i) queries.data[q * queries.stride + i] = Value(q * n + i);
          }
          for (int64_t r = 0; r < row_count; ++r) {
            for (int64_t i = 0; i < n; ++i) {
              rows.data[r * rows.stride + i] = Value(90001 + r * n + i);
            }
          }
          const int64_t out_stride = row_count + 3;
          const float poison = std::numeric_limits<float>::quiet_NaN();
          std::vector<float> l2(static_cast<size_t>(query_count * out_stride), poison);
          std::vector<float> products(l2);
          SquaredL2({queries.data.get(), query_count, rows.data.get(), row_count, rows.stride,
                     l2.data(), out_stride});
          InnerProducts({queries.data.get(), query_count, rows.data.get(), row_count, rows.stride,
                         products.data(), out_stride});
          for (int64_t q = 0; q < query_count; ++q) {
            for (int64_t r = 0; r < row_count; ++r) {
              const float* x = queries.data.get() + q * queries.stride;
              const float* y = rows.data.get() + r * rows.stride;
              ASSERT_EQ(FloatBits(l2[q * out_stride + r]), FloatBits(SquaredL2Reference(x, y, n)))
                  << "n " << n << " query " << q << " row " << r;
              ASSERT_EQ(FloatBits(products[q * out_stride + r]),
                        FloatBits(InnerProductReference(x, y, n)))
                  << "n " << n << " query " << q << " row " << r;
            }
            // What lies beside the tile is not touched.
            for (int64_t r = row_count; r < out_stride; ++r) {
              ASSERT_TRUE(l2[q * out_stride + r] != l2[q * out_stride + r]);
            }
          }
        }
      }
    }
  });
  RecordProperty("targets", targets);
  EXPECT_GE(targets, 1);
}

TEST(DistanceTest, OrderOfAdditionsIsTheDocumentedOne) {
  // One large term in lane 0, then 1 in lanes 1..15: in the fixed tree, lane 0 takes in lane 8
  // first. 2^24 + 1 rounds to 2^24, so lane 8's 1 is lost; the other fourteen come in larger
  // pieces.
  std::vector<float> x(16, 1.0f);
  std::vector<float> y(16, 1.0f);
  x[0] = 16777216.0f;
  y[0] = 1.0f;
  EXPECT_EQ(InnerProductReference(x.data(), y.data(), 16), 16777216.0f + 14.0f);
  // Left to right all fifteen are lost: the order shows.
  float left_to_right = 0;
  for (int i = 0; i < 16; ++i) left_to_right += x[i] * y[i];
  EXPECT_EQ(left_to_right, 16777216.0f);
}

TEST(DistanceTest, BytesAreExactOnEveryTarget) {
  ForEachTarget([](const char* target) {
    SCOPED_TRACE(target);
    for (const int64_t n : {1, 31, 32, 33, 63, 64, 65, 784, 32768}) {
      for (const int64_t query_count : {1, 2, 3, 5}) {
        const int64_t row_count = 7;
        Padded<int16_t> queries(query_count, n, kU8Lanes);
        Padded<uint8_t> rows(row_count, n, kU8Lanes);
        // Query 0 and row 0 are all 255: the largest sum there is.
        for (int64_t q = 0; q < query_count; ++q) {
          for (int64_t i = 0; i < n; ++i) {
            queries.data[q * queries.stride + i] =
                static_cast<int16_t>(q == 0 ? 255 : (q * 131 + i * 37) % 256);
          }
        }
        for (int64_t r = 0; r < row_count; ++r) {
          for (int64_t i = 0; i < n; ++i) {
            rows.data[r * rows.stride + i] =
                static_cast<uint8_t>(r == 0 ? 255 : (r * 71 + i * 53) % 256);
          }
        }
        std::vector<int32_t> out(static_cast<size_t>(query_count * row_count), -1);
        InnerProducts(U8Tile{queries.data.get(), query_count, rows.data.get(), row_count,
                             rows.stride, out.data(), row_count});
        for (int64_t q = 0; q < query_count; ++q) {
          for (int64_t r = 0; r < row_count; ++r) {
            int64_t expected = 0;
            for (int64_t i = 0; i < n; ++i) {
              expected +=
                  int64_t{queries.data[q * queries.stride + i]} * rows.data[r * rows.stride + i];
            }
            ASSERT_EQ(out[q * row_count + r], expected) << "n " << n;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace assay::index::internal
