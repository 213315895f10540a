// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/roofline.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace assay::roofline {
namespace {

// The first example of the paper: AMD Opteron X2 2214, two sockets, in double precision. 17.6
// GFLOP/s is 2 sockets x 2 cores x 2.2 GHz x 2 operations; 15 GB/s was measured (p. 67). Its
// successor X4 2356 has four cores of 2.3 GHz with 4 operations a clock and the same memory.
Machine Opteron(double gigaflops) {
  return {.name = "Opteron", .flops_per_s = {gigaflops * 1e9}, .bytes_per_s = 15e9};
}

Machine Simple() {
  return {.name = "simple",
          .flops_per_s = {100, 200, 0, 800},
          .bytes_per_s = 10,
          .fixed_s = 0.5,
          .link_bytes_per_s = 4};
}

TEST(RooflineTest, GivesThePapersExample) {
  const Machine x2 = Opteron(2 * 2 * 2.2 * 2), x4 = Opteron(2 * 4 * 2.3 * 4);
  EXPECT_DOUBLE_EQ(x2.peak(Precision::kF64), 17.6e9);
  EXPECT_DOUBLE_EQ(x4.peak(Precision::kF64), 73.6e9);
  EXPECT_NEAR(RidgePoint(x2, Precision::kF64), 1.17, 0.005);
  EXPECT_NEAR(RidgePoint(x4, Precision::kF64), 4.91, 0.005);
  // Kernels of the paper by their intensity (p. 72): sparse matrix times vector at 0.25 and lattice
  // Boltzmann at 0.70 and 1.07 lie below both ridges, so the faster processor cannot help them.
  for (const double intensity : {0.17, 0.25, 0.70, 1.07}) {
    EXPECT_DOUBLE_EQ(Attainable(x2, Precision::kF64, intensity), intensity * 15e9);
    EXPECT_EQ(Attainable(x4, Precision::kF64, intensity),
              Attainable(x2, Precision::kF64, intensity));
  }
  // Far to the right it is as many times faster as it computes faster.
  EXPECT_DOUBLE_EQ(Attainable(x4, Precision::kF64, 16) / Attainable(x2, Precision::kF64, 16),
                   73.6 / 17.6);
}

TEST(RooflineTest, AddsWhatDoesNotOverlap) {
  const auto place =
      Place(Simple(), Precision::kF32, {.flops = 400, .bytes_read = 10, .bytes_written = 5}, 8);
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(place->compute_s, 2);
  EXPECT_EQ(place->memory_s, 1.5);
  EXPECT_EQ(place->link_s, 2);
  EXPECT_EQ(place->fixed_s, 0.5);
  EXPECT_EQ(place->total_s, 4.5);
  EXPECT_EQ(place->intensity, 400.0 / 15);
  EXPECT_EQ(place->flops_per_s, 400 / 4.5);
  EXPECT_EQ(place->bound, Bound::kCompute);  // as long as the link, and named first
}

TEST(RooflineTest, NamesWhatAnOperationWaitsFor) {
  const auto bound = [](int64_t flops, int64_t bytes, int64_t link) {
    return Place(Simple(), Precision::kF64, {.flops = flops, .bytes_read = bytes}, link)->bound;
  };
  EXPECT_EQ(bound(100, 9, 0), Bound::kCompute);
  EXPECT_EQ(bound(100, 11, 0), Bound::kMemory);
  EXPECT_EQ(bound(100, 11, 5), Bound::kLink);
  EXPECT_EQ(bound(10, 1, 1), Bound::kFixed);
  EXPECT_EQ(bound(0, 0, 0), Bound::kFixed);
  EXPECT_EQ(BoundName(Bound::kCompute), "compute");
  EXPECT_EQ(BoundName(Bound::kMemory), "memory");
  EXPECT_EQ(BoundName(Bound::kLink), "link");
  EXPECT_EQ(BoundName(Bound::kFixed), "fixed");
}

TEST(RooflineTest, PlacesACopyAtNoOperations) {
  const auto place = Place(Simple(), Precision::kF16, {.bytes_read = 20});
  ASSERT_TRUE(place.ok()) << place.status();
  EXPECT_EQ(place->total_s, 2.5);
  EXPECT_EQ(place->flops_per_s, 0);
  EXPECT_EQ(place->intensity, 0);
}

TEST(RooflineTest, SaysWhatAMachineLacks) {
  const auto fails = [](const Machine& machine, Precision precision, const Work& work,
                        int64_t link) {
    const auto place = Place(machine, precision, work, link);
    EXPECT_EQ(place.status().code(), absl::StatusCode::kFailedPrecondition);
    return std::string(place.status().message());
  };
  EXPECT_NE(fails(Simple(), Precision::kF16, {.flops = 1}, 0).find("f16"), std::string::npos);
  Machine none;
  none.name = "nothing";
  EXPECT_NE(fails(none, Precision::kF16, {.bytes_read = 1}, 0).find("nothing has no bandwidth"),
            std::string::npos);
  EXPECT_NE(fails(none, Precision::kF16, {}, 1).find("link"), std::string::npos);
  none.bytes_per_s = std::nan("");
  fails(none, Precision::kF16, {.bytes_read = 1}, 0);
  EXPECT_EQ(Place(Simple(), Precision::kF64, {}, -1).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RidgePoint(Machine(), Precision::kF64), std::numeric_limits<double>::infinity());
}

TEST(RooflineTest, TwoRatiosMakeAllOthers) {
  // 64 times the arithmetic and 8 times the bandwidth: every lead lies between the two.
  const Machine slow = {.name = "slow", .flops_per_s = {0, 0x1p30}, .bytes_per_s = 0x1p30};
  const Machine fast = {.name = "fast", .flops_per_s = {0, 0x1p36}, .bytes_per_s = 0x1p33};
  double before = 0;
  for (int64_t flops = 1; flops <= 1 << 20; flops *= 2) {
    const auto ratio = Speedup(slow, fast, Precision::kF32, {.flops = flops, .bytes_read = 1024});
    ASSERT_TRUE(ratio.ok());
    EXPECT_GE(*ratio, 8);
    EXPECT_LE(*ratio, 64);
    EXPECT_GE(*ratio, before);
    before = *ratio;
  }
  EXPECT_EQ(*Speedup(slow, fast, Precision::kF32, {.flops = 1, .bytes_read = 1024}), 8);
  EXPECT_EQ(before, 64);
  // What crosses a link, or has to be started, turns a lead into a loss.
  Machine remote = fast;
  remote.link_bytes_per_s = 0.5e9;
  remote.fixed_s = 1e-6;
  const Work add = {.flops = 1 << 20, .bytes_read = 1 << 23, .bytes_written = 1 << 22};
  EXPECT_LT(*Speedup(slow, remote, Precision::kF32, add, 0, add.bytes()), 0.5);
  const Work small = {.flops = 10, .bytes_read = 120};
  EXPECT_LT(*Speedup(slow, remote, Precision::kF32, small), 0.2);
  EXPECT_FALSE(Speedup(slow, fast, Precision::kF64, add).ok());
  EXPECT_FALSE(Speedup(slow, fast, Precision::kF32, add, 0, 1).ok());
  EXPECT_FALSE(Speedup(slow, fast, Precision::kF32, add, 1, 0).ok());
}

TEST(RooflineTest, BreakEvenBatchIsTheFirstThatComputes) {
  for (const double bandwidth : {10.0, 40.0, 65.0}) {
    const Machine machine = {.name = "m", .flops_per_s = {0, 0, 200}, .bytes_per_s = bandwidth};
    for (const int64_t n : {64, 896, 4864}) {
      const int64_t k = 896;
      const auto batch = BreakEvenBatch(machine, Precision::kF16, n, k);
      ASSERT_TRUE(batch.ok()) << batch.status();
      const auto computes = [&](int64_t m) {
        const auto place = Place(machine, Precision::kF16, *MatMul(m, n, k, Precision::kF16));
        return place->compute_s >= place->memory_s;
      };
      EXPECT_TRUE(computes(*batch));
      EXPECT_TRUE(*batch == 1 || !computes(*batch - 1)) << *batch;
    }
  }
}

TEST(RooflineTest, SaysWhereNoBatchIsEnough) {
  // At k = 1 each result costs two operations and is written: no batch can mend that.
  const Machine machine = {.name = "m", .flops_per_s = {0, 0, 200}, .bytes_per_s = 10};
  EXPECT_EQ(BreakEvenBatch(machine, Precision::kF16, 64, 1).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(BreakEvenBatch(machine, Precision::kF16, 0, 64).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(BreakEvenBatch(machine, Precision::kF16, 64, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(BreakEvenBatch(machine, Precision::kF32, 64, 64).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace assay::roofline
