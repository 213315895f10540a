// SPDX-License-Identifier: Apache-2.0
#include "tools/measure_gpu/tensor.cu.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpu/device/buffer.h"
#include "tools/measure_gpu/bench.h"
#include "tools/measure_gpu/reference.h"

namespace assay::measure_gpu {

using device::Device;
using device::DeviceBuffer;
using device::Stream;

namespace {

// Sum: float or int. The kernel's type is left to deduction: of a pointer to one with __restrict__
// in its parameters nvcc makes two types.
template <class Sum, class Kernel>
absl::StatusOr<Probe> ProbeMma(Device& device, const Effort& effort, Probe probe,
                               const MatrixShape& shape, bool wide, Kernel* kernel) {
  if (wide && device.description().compute_major < 8) {
    return absl::UnimplementedError(
        absl::StrCat(probe.id, " begins with sm_80; this is sm_",
                     10 * device.description().compute_major + device.description().compute_minor));
  }
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  const double sums = double{kTiles} * kMmaSteps * effort.loops;
  probe.flops = 2.0 * shape.m * 8 * shape.k * sums * static_cast<double>(bench->threads) / 32.0;
  absl::StatusOr<DeviceBuffer<uint32_t>> fragments =
      DeviceBuffer<uint32_t>::CreateFrom(device, Fragments(shape), "fragments");
  if (!fragments.ok()) return fragments.status();
  const int registers = shape.CRegisters();
  absl::StatusOr<DeviceBuffer<Sum>> out =
      DeviceBuffer<Sum>::Create(device, static_cast<size_t>(bench->threads * registers), "out");
  if (!out.ok()) return out.status();
  const auto work = [&](Stream& stream) {
    return Launch(stream, {.grid = bench->blocks, .block = kThreads}, kernel, fragments->data(),
                  out->data(), bench->cycles.data(), effort.loops);
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  const absl::StatusOr<std::vector<Sum>> host = out->ToHost();
  if (!host.ok()) return host.status();
  for (int64_t t = 0; t < bench->threads; ++t) {
    for (int i = 0; i < registers; ++i) {
      RETURN_IF_ERROR(Expect(probe.id, t * registers + i,
                             (*host)[static_cast<size_t>(t * registers + i)],
                             static_cast<Sum>(sums * Product(shape, static_cast<int>(t % 32), i))));
    }
  }
  RETURN_IF_ERROR(TakeCycles(*bench, probe));
  return probe;
}

}  // namespace

absl::StatusOr<Probe> ProbeMmaF16(Device& device, const Effort& effort) {
  return ProbeMma<float>(device, effort,
                         {.id = "mma_f16_m16n8k8", .title = "f16 matrices, sums in f32, m16n8k8"},
                         {16, 8, true}, false, MmaF16);
}
absl::StatusOr<Probe> ProbeMmaF16Wide(Device& device, const Effort& effort) {
  return ProbeMma<float>(device, effort,
                         {.id = "mma_f16_m16n8k16", .title = "f16 matrices, sums in f32, m16n8k16"},
                         {16, 16, true}, true, MmaF16Wide);
}
absl::StatusOr<Probe> ProbeMmaS8(Device& device, const Effort& effort) {
  return ProbeMma<int>(device, effort, {.id = "mma_s8_m8n8k16", .title = "s8 matrices, m8n8k16"},
                       {8, 16, false}, false, MmaS8);
}
absl::StatusOr<Probe> ProbeMmaS8Wide(Device& device, const Effort& effort) {
  return ProbeMma<int>(device, effort, {.id = "mma_s8_m16n8k32", .title = "s8 matrices, m16n8k32"},
                       {16, 32, false}, true, MmaS8Wide);
}

}  // namespace assay::measure_gpu
