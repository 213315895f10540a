// SPDX-License-Identifier: Apache-2.0
// Each external library does one small thing right in every build: g++, clang, WebAssembly.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "Eigen/Dense"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "nlohmann/json.hpp"

namespace assay {
namespace {

static_assert(std::is_same_v<absl::string_view, std::string_view>,
              "Abseil must be built with the standard library's vocabulary types");

TEST(LibrariesTest, AbseilCarriesAStatusWithItsMessage) {
  absl::StatusOr<int> result = absl::InvalidArgumentError(absl::StrCat("n is ", -1));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(result.status().message(), "n is -1");
}

TEST(LibrariesTest, EigenMultipliesIntegersExactly) {
  const Eigen::Matrix2d a{{1, 2}, {3, 4}};
  const Eigen::Matrix2d b = a * a;
  EXPECT_EQ(b(0, 0), 7);
  EXPECT_EQ(b(1, 1), 22);
}

TEST(LibrariesTest, JsonKeepsTextAsItWas) {
  const nlohmann::json parsed = nlohmann::json::parse(R"({"bits":"0x3ff0000000000000"})");
  EXPECT_EQ(parsed.dump(), R"({"bits":"0x3ff0000000000000"})");
}

TEST(LibrariesTest, HighwayAddsInTheBaselineTarget) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<float, 4> d;
  alignas(64) float sum[4] = {};
  hn::Store(hn::Add(hn::Set(d, 1.5f), hn::Set(d, 2.0f)), d, sum);
  EXPECT_EQ(sum[0], 3.5f);
}

// The exact profile rests on this: a product and a sum are rounded one after the other. Fused, the
// result would be -2^-60.
TEST(LibrariesTest, ProductsAndSumsAreNotFused) {
  volatile double a = 1 + 0x1p-30;
  volatile double b = 1 - 0x1p-30;
  volatile double c = -1;
  const double x = a;
  const double y = b;
  const double z = c;
  EXPECT_EQ(x * y + z, 0.0);
}

}  // namespace
}  // namespace assay
