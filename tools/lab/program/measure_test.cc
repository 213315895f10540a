// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/measure.h"

#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "numerics/core/ceilings.h"
#include "tools/lab/program/device.h"
#include "tools/lab/program/session.h"
#include "tools/lab/records/schema.h"

namespace assay::lab {
namespace {

TEST(SummariseTest, FindsOrderStatistics) {
  const Summary one = Summarise({5});
  EXPECT_EQ(one.median, 5);
  EXPECT_EQ(one.iqr, 0);
  EXPECT_EQ(one.cv, 0);
  const Summary many = Summarise({4, 1, 3, 2});
  EXPECT_EQ(many.median, 2.5);
  EXPECT_EQ(many.iqr, 3.25 - 1.75);
  EXPECT_EQ(many.min, 1);
  EXPECT_DOUBLE_EQ(many.cv, std::sqrt(5.0 / 3) / 2.5);
  EXPECT_EQ(Summarise({}).median, 0);
}

TEST(DriftTest, AllowsTenPerCentOrThreeDeviations) {
  const auto drifted = [](double old_median, double old_cv, double new_median, double new_cv) {
    return CompareMedians({.median = old_median, .cv = old_cv},
                          {.median = new_median, .cv = new_cv})
        .drifted;
  };
  EXPECT_FALSE(drifted(100, 0, 110, 0));
  EXPECT_TRUE(drifted(100, 0, 110.1, 0));
  EXPECT_TRUE(drifted(100, 0, 89.9, 0));
  EXPECT_FALSE(drifted(100, 0.05, 114, 0));
  EXPECT_TRUE(drifted(100, 0.05, 116, 0));
  EXPECT_FALSE(drifted(100, 0, 114, 0.05));
  EXPECT_TRUE(drifted(100, 0, std::nan(""), 0));
}

TEST(DeviceTest, DescribesThisMachineByItsSchema) {
  EXPECT_EQ(DeviceId("AMD EPYC 7B13 64-Core Processor", 2), "amd-epyc-7b13-64-core-processor-2c");
  EXPECT_EQ(DeviceId("Intel(R) Xeon(R) CPU @ 2.20GHz", 4), "intel-r-xeon-r-cpu-2-20ghz-4c");
  EXPECT_EQ(DeviceId("", 1), "cpu-1c");
  const Json device = DescribeDevice("");
  EXPECT_TRUE(CheckAgainstSchema(device, "device/1", "device").ok())
      << CheckAgainstSchema(device, "device/1", "device");
  EXPECT_EQ(DescribeDevice("epyc-2c")["id"], "epyc-2c");
  EXPECT_FALSE(ReadMachineState().kernel.empty());
}

TEST(CeilingsTest, ArePlausible) {
  const Ceilings ceilings = MeasureCeilings();
  EXPECT_GT(ceilings.triad_bytes_per_s, 1e8);
  EXPECT_LT(ceilings.triad_bytes_per_s, 1e13);
  EXPECT_GT(ceilings.fma_f64_flops_per_s, 1e8);
  EXPECT_LT(ceilings.fma_f64_flops_per_s, 1e13);
  // Twice the lanes, so nearly twice the operations, on whatever processor.
  EXPECT_GT(ceilings.fma_f32_flops_per_s, 1.2 * ceilings.fma_f64_flops_per_s);
  EXPECT_FALSE(ceilings.vector.empty());
}

TEST(ExitCodeTest, TheWorseOneWins) {
  EXPECT_EQ(Worse(kDone, kMissing), kMissing);
  EXPECT_EQ(Worse(kMissing, kNo), kNo);
  EXPECT_EQ(Worse(kNo, kUsage), kUsage);
  EXPECT_EQ(Worse(kInternal, kUsage), kInternal);
}

TEST(MeasuredFileTest, RefusesWhatIsNotWhole) {
  EXPECT_FALSE(ReadMeasured("{", "f.json").ok());
  EXPECT_NE(ReadMeasured("{\"schema\": \"measured/2\"}\n", "f.json")
                .status()
                .message()
                .find("reads measured/1"),
            std::string::npos);
  EXPECT_NE(ReadMeasured("{\n  \"schema\": \"measured/1\"\n}\n", "f.json")
                .status()
                .message()
                .find("seal"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::lab
