// SPDX-License-Identifier: Apache-2.0
#include "gpu/roofline/host.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace assay::roofline {
namespace {

constexpr ProbeKind kComputing[] = {ProbeKind::kFmaF32, ProbeKind::kFmaF64, ProbeKind::kMulAddF32,
                                    ProbeKind::kMulAddF64};

HostProbe Made(const ProbeSpec& spec) {
  absl::StatusOr<HostProbe> probe = HostProbe::Create(spec);
  EXPECT_TRUE(probe.ok()) << probe.status();
  return *std::move(probe);
}

TEST(HostProbeTest, ComputesWhatPlainLoopsCompute) {
  for (const ProbeKind kind : kComputing) {
    for (int chains = 1; chains <= 12; ++chains) {
      HostProbe probe = Made({.kind = kind, .chains = chains});
      probe.Run(1);
      EXPECT_TRUE(probe.Check().ok()) << probe.Check();
      probe.Run(3);
      EXPECT_TRUE(probe.Check().ok()) << probe.Check();
      EXPECT_EQ(probe.PerRound().flops % (2 * 4096 * chains), 0);
      EXPECT_GT(probe.PerRound().flops, 0);
      EXPECT_EQ(probe.PerRound().bytes, 0);
      EXPECT_EQ(probe.PerRound().loads, 0);
    }
  }
}

TEST(HostProbeTest, HasTwiceAsManyLanesOfHalfTheSize) {
  const auto flops = [](ProbeKind kind) { return Made({.kind = kind}).PerRound().flops; };
  // Where Highway has one lane only, one is one.
  const int64_t ratio = flops(ProbeKind::kFmaF32) / flops(ProbeKind::kFmaF64);
  EXPECT_TRUE(ratio == 2 || ProbeVectors() == "SCALAR") << ratio;
  EXPECT_EQ(flops(ProbeKind::kFmaF32), flops(ProbeKind::kMulAddF32));
  EXPECT_EQ(flops(ProbeKind::kFmaF64), flops(ProbeKind::kMulAddF64));
}

TEST(HostProbeTest, MovesEveryElement) {
  for (const ProbeKind kind : {ProbeKind::kCopy, ProbeKind::kTriad}) {
    for (const int64_t bytes : {1, 1536, 1537, 100000}) {
      HostProbe probe = Made({.kind = kind, .bytes = bytes});
      probe.Run(1);
      EXPECT_TRUE(probe.Check().ok()) << probe.Check();
      probe.Run(12);  // the scale of the triad has come round
      EXPECT_TRUE(probe.Check().ok()) << probe.Check();
      EXPECT_GE(probe.PerRound().bytes, bytes);
      EXPECT_LT(probe.PerRound().bytes, bytes + 3 * 8 * 64);
      const int64_t elements = probe.PerRound().bytes / (kind == ProbeKind::kTriad ? 24 : 16);
      EXPECT_EQ(probe.PerRound().flops, kind == ProbeKind::kTriad ? 2 * elements : 0);
    }
  }
}

TEST(HostProbeTest, ChasesThroughEveryLine) {
  for (const int64_t bytes : {1, 64, 65, 4096, 64 * 4096, 100000, 1 << 20}) {
    HostProbe probe = Made({.kind = ProbeKind::kChase, .bytes = bytes, .seed = 3});
    for (const int64_t rounds : {0, 1, 1, 5, 1000}) {
      probe.Run(rounds);
      EXPECT_TRUE(probe.Check().ok()) << bytes << ": " << probe.Check();
    }
    EXPECT_EQ(probe.PerRound().loads, 4096);
    EXPECT_EQ(probe.PerRound().bytes, 0);
  }
}

TEST(HostProbeTest, NothingRunIsNothingWrong) {
  EXPECT_TRUE(Made({.kind = ProbeKind::kTriad, .bytes = 5000}).Check().ok());
  EXPECT_TRUE(Made({.kind = ProbeKind::kFmaF32}).Check().ok());
}

TEST(HostProbeTest, MovesAlong) {
  HostProbe probe = Made({.kind = ProbeKind::kTriad, .bytes = 5000});
  probe.Run(2);
  HostProbe other = std::move(probe);
  other.Run(1);
  EXPECT_TRUE(other.Check().ok());
  other = Made({.kind = ProbeKind::kFmaF64, .chains = 2});
  other.Run(1);
  EXPECT_TRUE(other.Check().ok());
}

TEST(HostProbeTest, RefusesWhatItCannotProbe) {
  const auto code = [](const ProbeSpec& spec) { return HostProbe::Create(spec).status().code(); };
  const auto kBad = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code({.kind = static_cast<ProbeKind>(-1)}), kBad);
  EXPECT_EQ(code({.kind = static_cast<ProbeKind>(kProbeKinds)}), kBad);
  EXPECT_EQ(code({.kind = ProbeKind::kFmaF32, .chains = 0}), kBad);
  EXPECT_EQ(code({.kind = ProbeKind::kMulAddF64, .chains = 13}), kBad);
  for (const ProbeKind kind : {ProbeKind::kCopy, ProbeKind::kTriad, ProbeKind::kChase}) {
    EXPECT_EQ(code({.kind = kind}), kBad);
    EXPECT_EQ(code({.kind = kind, .bytes = -5}), kBad);
    EXPECT_EQ(code({.kind = kind, .bytes = kMostProbeBytes + 1}), kBad);
    EXPECT_EQ(code({.kind = kind, .bytes = std::numeric_limits<int64_t>::max()}), kBad);
  }
}

TEST(HostProbeTest, NamesItsVectors) {
#ifdef __EMSCRIPTEN__
  EXPECT_EQ(ProbeVectors(), "WASM");
#else
  EXPECT_FALSE(ProbeVectors().empty());
#endif
}

}  // namespace
}  // namespace assay::roofline
