// SPDX-License-Identifier: Apache-2.0
#include "web/articles/roofline/warp.h"

#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gpu/simt/counters.h"
#include "gpu/simt/launch.h"
#include "gpu/simt/memory.h"
#include "numerics/core/check.h"
#include "numerics/core/random.h"
#include "web/articles/roofline/kernels.cu.h"

namespace assay::roofline_page {
namespace {

using simt::AccessCounters;
using simt::AccessKind;
using simt::DeviceMemory;
using simt::Launch;
using simt::LaunchConfig;
using simt::LaunchCounters;
using simt::LaunchResult;
using simt::Space;

static_assert(kTileWords == kWords);

absl::Status CheckPlaces(const Places& places) {
  for (const int32_t place : places) {
    if (place < 0 || place >= kWords) {
      return absl::InvalidArgumentError(
          absl::StrCat("a lane reads place ", place, ", expected 0 to ", kWords - 1));
    }
  }
  return absl::OkStatus();
}

// 0, 1, 2, ...: exact in f32, and no two alike.
std::vector<float> Numbers(int64_t n) {
  std::vector<float> numbers(static_cast<size_t>(n));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  return numbers;
}

// The read whose address was computed is the second load of global memory in ReadGlobal, and the
// only load of shared memory in ReadShared. Counters come in the order of the source.
WarpTraffic LastLoad(const LaunchCounters& counters, Space space) {
  WarpTraffic traffic;
  for (const AccessCounters& access : counters.accesses) {
    if (access.space != space || access.kind != AccessKind::kLoad) continue;
    traffic = {.requests = access.requests,
               .bytes = access.bytes,
               .sectors = access.sectors,
               .lines = access.lines,
               .wavefronts = access.wavefronts};
  }
  return traffic;
}

template <class Run>
absl::StatusOr<WarpTraffic> Read(const Places& places, Space space, Run run) {
  if (absl::Status status = CheckPlaces(places); !status.ok()) return status;
  DeviceMemory memory;
  auto where = memory.Upload(std::span<const int>(places.data(), places.size()), "where");
  if (!where.ok()) return where.status();
  auto y = memory.Allocate<float>(kLanes, "y");
  if (!y.ok()) return y.status();
  const LaunchResult result = run(memory, *where, *y);
  if (!result.status.ok()) return result.status;
  const absl::StatusOr<std::vector<float>> got = memory.Download(*y, kLanes);
  if (!got.ok()) return got.status();
  WarpTraffic traffic = LastLoad(result.counters, space);
  traffic.right = true;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    traffic.right = traffic.right && (*got)[lane] == static_cast<float>(places[lane]);
  }
  return traffic;
}

KernelTraffic TotalOf(const LaunchCounters& counters) {
  const AccessCounters loads = Total(counters, Space::kGlobal, AccessKind::kLoad);
  const AccessCounters stores = Total(counters, Space::kGlobal, AccessKind::kStore);
  const AccessCounters in = Total(counters, Space::kShared, AccessKind::kStore);
  const AccessCounters out = Total(counters, Space::kShared, AccessKind::kLoad);
  return {.loads = loads.requests,
          .load_sectors = loads.sectors,
          .stores = stores.requests,
          .store_sectors = stores.sectors,
          .shared = in.requests + out.requests,
          .wavefronts = in.wavefronts + out.wavefronts,
          .lanes = loads.lanes};
}

}  // namespace

Places StridedPlaces(int32_t stride, int32_t offset, bool shuffled, uint64_t seed) {
  ASSAY_CHECK(stride >= 0 && stride <= 64 && offset >= 0 && offset < 32);
  Places places;
  for (int32_t lane = 0; lane < kLanes; ++lane) {
    places[static_cast<size_t>(lane)] = offset + stride * lane;
  }
  if (!shuffled) return places;
  Random random(seed);
  for (size_t i = kLanes - 1; i > 0; --i) {
    std::swap(places[i], places[static_cast<size_t>(random.Integer(static_cast<int64_t>(i) + 1))]);
  }
  return places;
}

absl::StatusOr<WarpTraffic> ReadGlobalMemory(const Places& places) {
  return Read(places, Space::kGlobal, [](DeviceMemory& memory, const auto& where, const auto& y) {
    auto x = memory.Upload(Numbers(kWords), "x");
    if (!x.ok()) {
      LaunchResult failed;
      failed.status = x.status();
      return failed;
    }
    return Launch(memory, {.grid = 1, .block = kLanes}, ReadGlobal, where, *x, y);
  });
}

absl::StatusOr<WarpTraffic> ReadSharedMemory(const Places& places) {
  return Read(places, Space::kShared, [](DeviceMemory& memory, const auto& where, const auto& y) {
    return Launch(memory, {.grid = 1, .block = kLanes}, ReadShared, where, y);
  });
}

absl::StatusOr<KernelTraffic> RunTranspose(TransposeKind kind, int n) {
  if (n < 32 || n > 1024 || n % 32 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(n, " rows, expected a multiple of 32 in 32 to 1024"));
  }
  DeviceMemory memory;
  const int64_t count = int64_t{n} * n;
  const std::vector<float> numbers = Numbers(count);
  auto x = memory.Upload(numbers, "x");
  if (!x.ok()) return x.status();
  auto y = memory.Allocate<float>(count, "y");
  if (!y.ok()) return y.status();
  const uint32_t blocks = static_cast<uint32_t>(n / 32);
  const LaunchConfig config = {.grid = {blocks, blocks}, .block = {32, 32}};
  const LaunchResult result = [&] {
    switch (kind) {
      case TransposeKind::kPlain:
        return Launch(memory, config, TransposePlain, *x, *y, n);
      case TransposeKind::kTile:
        return Launch(memory, config, TransposeTile<0>, *x, *y, n);
      case TransposeKind::kPadded:
        return Launch(memory, config, TransposeTile<1>, *x, *y, n);
    }
    ASSAY_CHECK(false);
    return LaunchResult();
  }();
  if (!result.status.ok()) return result.status;
  const absl::StatusOr<std::vector<float>> got = memory.Download(*y, count);
  if (!got.ok()) return got.status();
  KernelTraffic traffic = TotalOf(result.counters);
  traffic.right = true;
  for (int64_t i = 0; i < count; ++i) {
    const size_t turned = static_cast<size_t>(i % n * n + i / n);
    traffic.right = traffic.right && (*got)[static_cast<size_t>(i)] == numbers[turned];
  }
  return traffic;
}

absl::StatusOr<KernelTraffic> RunTwoWays() {
  DeviceMemory memory;
  auto x = memory.Upload(Numbers(kLanes), "x");
  if (!x.ok()) return x.status();
  auto y = memory.Allocate<float>(kLanes, "y");
  if (!y.ok()) return y.status();
  const LaunchResult result = Launch(memory, {.grid = 1, .block = kLanes}, TwoWays, *x, *y);
  if (!result.status.ok()) return result.status;
  const absl::StatusOr<std::vector<float>> got = memory.Download(*y, kLanes);
  if (!got.ok()) return got.status();
  KernelTraffic traffic = TotalOf(result.counters);
  traffic.right = true;
  for (int i = 0; i < kLanes; ++i) {
    const float expected = static_cast<float>(i % 2 == 0 ? i + 1 : i - 1);
    traffic.right = traffic.right && (*got)[static_cast<size_t>(i)] == expected;
  }
  return traffic;
}

}  // namespace assay::roofline_page
