// SPDX-License-Identifier: Apache-2.0
#include "gpu/simt/limits.h"

#include <string>

#include "gtest/gtest.h"

namespace assay::simt {
namespace {

constexpr int kSms = 40;

absl::Status Check(const KernelResources& kernel, const LaunchShape& shape) {
  return CheckLaunch(*FindArchitecture(75), kSms, kernel, shape);
}

// What is taken just below each limit, and refused just above it with error, limit and numbers.
TEST(LimitsTest, NamesTheErrorTheLimitAndTheNumbers) {
  const std::string configuration =
      "cudaErrorInvalidConfiguration: invalid configuration argument: ";
  const std::string value = "cudaErrorInvalidValue: invalid argument: ";
  const std::string resources =
      "cudaErrorLaunchOutOfResources: too many resources requested for launch: ";
  const struct {
    KernelResources good_kernel;
    LaunchShape good;
    KernelResources bad_kernel;
    LaunchShape bad;
    std::string says;
  } cases[] = {
      {{}, {{1}, {1024}}, {}, {{1}, {1025}}, configuration + "block.x is 1025, at most 1024"},
      {{}, {{1}, {1, 1024}}, {}, {{1}, {1, 1025}}, configuration + "block.y is 1025, at most 1024"},
      {{}, {{1}, {1, 1, 64}}, {}, {{1}, {1, 1, 65}}, configuration + "block.z is 65, at most 64"},
      {{},
       {{1}, {32, 32}},
       {},
       {{1}, {32, 33}},
       configuration + "a block of 32 x 33 x 1 has 1056 threads, at most 1024"},
      {{},
       {{0x7FFFFFFF}, {1}},
       {},
       {{0x80000000}, {1}},
       configuration + "grid.x is 2147483648, at most 2147483647"},
      {{},
       {{1, 65535}, {1}},
       {},
       {{1, 65536}, {1}},
       configuration + "grid.y is 65536, at most 65535"},
      {{},
       {{1, 1, 65535}, {1}},
       {},
       {{1, 1, 65536}, {1}},
       configuration + "grid.z is 65536, at most 65535"},
      {{}, {{1}, {1}}, {}, {{0}, {1}}, configuration + "grid.x is 0, at least 1"},
      {{}, {{1}, {1}}, {}, {{1, 1, 0}, {1}}, configuration + "grid.z is 0, at least 1"},
      {{}, {{1}, {1}}, {}, {{1}, {1, 0}}, configuration + "block.y is 0, at least 1"},
      {{.static_shared = 1024},
       {{1}, {1}, 48128},
       {.static_shared = 1024},
       {{1}, {1}, 48129},
       value + "dynamic shared memory is 48129 bytes beside 1024 static ones, at most 48128; "
               "cudaFuncAttributeMaxDynamicSharedMemorySize would allow it"},
      {{.max_dynamic_shared = 65536},
       {{1}, {1}, 65536},
       {.max_dynamic_shared = 65536},
       {{1}, {1}, 65537},
       value + "dynamic shared memory is 65537 bytes beside 0 static ones, at most 65536"},
      {{.static_shared = 1000, .max_dynamic_shared = 64536},
       {{1}, {1}},
       {.static_shared = 1000, .max_dynamic_shared = 64537},
       {{1}, {1}},
       value +
           "cudaFuncAttributeMaxDynamicSharedMemorySize is 64537, at most 64536 (65536 a block, "
           "1000 of it static)"},
      {{}, {{1}, {1}, 0}, {}, {{1}, {1}, -1}, value + "dynamic shared memory is -1 bytes"},
      {{.static_shared = 49152},
       {{1}, {1}},
       {.static_shared = 49153},
       {{1}, {1}},
       "ptxas error: uses too much shared data: 49153 bytes of __shared__ variables, at most "
       "49152"},
      {{.max_threads = 256},
       {{1}, {256}},
       {.max_threads = 256},
       {{1}, {257}},
       value + "a block has 257 threads, at most 256 by the kernel's __launch_bounds__"},
      {{.registers = 64},
       {{1}, {1024}},
       {.registers = 65},
       {{1}, {1024}},
       resources + "1024 threads with 65 registers take 73728, at most 65536 a block"},
      {{.registers = 64},
       {{kSms}, {1024}, 0, true},
       {.registers = 64},
       {{kSms + 1}, {1024}, 0, true},
       "cudaErrorCooperativeLaunchTooLarge: too many blocks in cooperative launch: 41 blocks, at "
       "most 40 (1 on each of 40 SMs, limited by threads)"},
  };
  for (const auto& c : cases) {
    EXPECT_TRUE(Check(c.good_kernel, c.good).ok()) << Check(c.good_kernel, c.good);
    const absl::Status status = Check(c.bad_kernel, c.bad);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.says;
    EXPECT_EQ(std::string(status.message()).substr(0, c.says.size()), c.says);
  }
}

TEST(LimitsTest, HasNoOverflowAtTheLargestGrid) {
  EXPECT_TRUE(Check({}, {{0x7FFFFFFF, 65535, 65535}, {1}}).ok());
  EXPECT_FALSE(Check({}, {{0x7FFFFFFF, 65535, 65535}, {1}, 0, true}).ok());
  EXPECT_FALSE(Check({}, {{1}, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}).ok());
  EXPECT_FALSE(Check({}, {{1}, {1}, INT64_MAX}).ok());
  EXPECT_FALSE(Check({.registers = -1}, {{1}, {1}}).ok());
  EXPECT_FALSE(CheckLaunch(*FindArchitecture(75), -1, {}, {{1}, {1}, 0, true}).ok());
}

// Hopper gives 227 KiB to who asks, and 1 KiB a block is the driver's.
TEST(LimitsTest, KnowsTheArchitecture) {
  const Architecture h200 = *FindArchitecture(90);
  const KernelResources asked = {.max_dynamic_shared = 227 * 1024};
  EXPECT_TRUE(CheckLaunch(h200, 132, asked, {{1}, {1}, 227 * 1024}).ok());
  EXPECT_FALSE(Check(asked, {{1}, {1}, 227 * 1024}).ok());
}

}  // namespace
}  // namespace assay::simt
