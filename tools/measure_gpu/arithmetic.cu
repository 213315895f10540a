// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <vector>

#include "gpu/device/buffer.h"
#include "tools/measure_gpu/arithmetic.cu.h"
#include "tools/measure_gpu/bench.h"
#include "tools/measure_gpu/reference.h"

namespace assay::measure_gpu {
using device::Device;
using device::DeviceBuffer;
using device::Stream;

namespace {

// Negative, so that a chain neither grows nor settles: its bits keep changing, as data does.
constexpr float kFactorF32 = -0.9999f;
constexpr float kFactorF16 = -0.9990234375f;
constexpr float kTerm = 1.25f;

}  // namespace

absl::StatusOr<Probe> ProbeFmaF32(Device& device, const Effort& effort) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  Probe probe{.id = "fma_f32", .title = "f32 fused multiply-adds"};
  const int64_t steps = int64_t{kSteps} * effort.loops;
  probe.flops = 2.0 * kChains * static_cast<double>(steps) * static_cast<double>(bench->threads);
  absl::StatusOr<DeviceBuffer<float>> out =
      DeviceBuffer<float>::Create(device, static_cast<size_t>(bench->threads), "out");
  if (!out.ok()) return out.status();
  const auto work = [&](Stream& stream) {
    return Launch(stream, {.grid = bench->blocks, .block = kThreads}, FmaF32, out->data(),
                  bench->cycles.data(), kFactorF32, kTerm, effort.loops);
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  const absl::StatusOr<std::vector<float>> host = out->ToHost();
  if (!host.ok()) return host.status();
  // Threads 32 apart begin alike, so 32 references are all there are.
  std::vector<float> expected;
  for (int64_t t = 0; t < 32; ++t) {
    expected.push_back(FmaF32Reference(t, kFactorF32, kTerm, kChains, steps));
  }
  for (size_t t = 0; t < host->size(); ++t) {
    RETURN_IF_ERROR(Expect(probe.id, static_cast<int64_t>(t), (*host)[t], expected[t % 32]));
  }
  RETURN_IF_ERROR(TakeCycles(*bench, probe));
  return probe;
}

absl::StatusOr<Probe> ProbeFmaF16(Device& device, const Effort& effort) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  Probe probe{.id = "fma_f16", .title = "f16 fused multiply-adds, in pairs"};
  const int64_t steps = int64_t{kSteps} * effort.loops;
  probe.flops = 4.0 * kChains * static_cast<double>(steps) * static_cast<double>(bench->threads);
  absl::StatusOr<DeviceBuffer<uint32_t>> out =
      DeviceBuffer<uint32_t>::Create(device, static_cast<size_t>(bench->threads), "out");
  if (!out.ok()) return out.status();
  const auto work = [&](Stream& stream) {
    return Launch(stream, {.grid = bench->blocks, .block = kThreads}, FmaF16, out->data(),
                  bench->cycles.data(), kFactorF16, kTerm, effort.loops);
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  const absl::StatusOr<std::vector<uint32_t>> host = out->ToHost();
  if (!host.ok()) return host.status();
  std::vector<uint32_t> expected;
  for (int64_t t = 0; t < 32; ++t) {
    expected.push_back(FmaF16Reference(t, kFactorF16, kTerm, kChains, steps));
  }
  for (size_t t = 0; t < host->size(); ++t) {
    RETURN_IF_ERROR(Expect(probe.id, static_cast<int64_t>(t), (*host)[t], expected[t % 32]));
  }
  RETURN_IF_ERROR(TakeCycles(*bench, probe));
  return probe;
}

}  // namespace assay::measure_gpu
