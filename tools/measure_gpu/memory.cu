// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "gpu/device/buffer.h"
#include "tools/measure_gpu/bench.h"
#include "tools/measure_gpu/memory.cu.h"
#include "tools/measure_gpu/reference.h"

namespace assay::measure_gpu {
using device::Device;
using device::DeviceBuffer;
using device::Stream;

namespace {

int64_t PowerOfTwoBelow(int64_t n) {
  int64_t power = 1;
  while (power <= n / 2) power *= 2;
  return power;
}

// The words of WordAt, as elements.
std::vector<uint4> Elements(int64_t n) {
  std::vector<uint4> elements(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    elements[static_cast<size_t>(i)] =
        make_uint4(WordAt(4 * i), WordAt(4 * i + 1), WordAt(4 * i + 2), WordAt(4 * i + 3));
  }
  return elements;
}

uint32_t BlocksFor(int64_t n) {
  return static_cast<uint32_t>((n + kThreads * kInFlight - 1) / (kThreads * kInFlight));
}

}  // namespace

absl::StatusOr<Probe> ProbeCopy(Device& device, const Effort& effort) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  const int64_t n = effort.memory_bytes / 2 / 16;
  Probe probe{.id = "dram_copy", .title = "DRAM, y = x"};
  probe.bytes = 2.0 * 16 * static_cast<double>(n);
  const std::vector<uint4> host = Elements(n);
  absl::StatusOr<DeviceBuffer<uint4>> x = DeviceBuffer<uint4>::CreateFrom(device, host, "x");
  if (!x.ok()) return x.status();
  absl::StatusOr<DeviceBuffer<uint4>> y =
      DeviceBuffer<uint4>::Create(device, static_cast<size_t>(n), "y");
  if (!y.ok()) return y.status();
  const auto work = [&](Stream& stream) {
    return Launch(stream, {.grid = BlocksFor(n), .block = kThreads}, Copy, x->data(), y->data(), n);
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  const absl::StatusOr<std::vector<uint4>> result = y->ToHost();
  if (!result.ok()) return result.status();
  for (size_t i = 0; i < host.size(); ++i) {
    RETURN_IF_ERROR(
        Expect(probe.id, static_cast<int64_t>(i),
               (*result)[i].x + 3 * (*result)[i].y + 5 * (*result)[i].z + 7 * (*result)[i].w,
               host[i].x + 3 * host[i].y + 5 * host[i].z + 7 * host[i].w));
  }
  return probe;
}

absl::StatusOr<Probe> ProbeTriad(Device& device, const Effort& effort) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  const int64_t n = effort.memory_bytes / 3 / 16;
  Probe probe{.id = "dram_triad", .title = "DRAM, y = a + s b"};
  probe.bytes = 3.0 * 16 * static_cast<double>(n);
  probe.flops = 8.0 * static_cast<double>(n);
  // Integers below 2^20: every sum is exact.
  const auto value = [](int64_t i) { return static_cast<float>(WordAt(i) >> 12); };
  std::vector<float4> a(static_cast<size_t>(n));
  std::vector<float4> b(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    a[static_cast<size_t>(i)] =
        make_float4(value(4 * i), value(4 * i + 1), value(4 * i + 2), value(4 * i + 3));
    b[static_cast<size_t>(i)] =
        make_float4(value(4 * i + 4), value(4 * i + 5), value(4 * i + 6), value(4 * i + 7));
  }
  absl::StatusOr<DeviceBuffer<float4>> on_a = DeviceBuffer<float4>::CreateFrom(device, a, "a");
  if (!on_a.ok()) return on_a.status();
  absl::StatusOr<DeviceBuffer<float4>> on_b = DeviceBuffer<float4>::CreateFrom(device, b, "b");
  if (!on_b.ok()) return on_b.status();
  absl::StatusOr<DeviceBuffer<float4>> y =
      DeviceBuffer<float4>::Create(device, static_cast<size_t>(n), "y");
  if (!y.ok()) return y.status();
  const auto work = [&](Stream& stream) {
    return Launch(stream, {.grid = BlocksFor(n), .block = kThreads}, Triad, on_a->data(),
                  on_b->data(), 4.0f, y->data(), n);
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  const absl::StatusOr<std::vector<float4>> result = y->ToHost();
  if (!result.ok()) return result.status();
  for (int64_t i = 0; i < n; ++i) {
    const size_t at = static_cast<size_t>(i);
    const float4 found = (*result)[at];
    RETURN_IF_ERROR(Expect(probe.id, 4 * i, found.x, a[at].x + 4.0f * b[at].x));
    RETURN_IF_ERROR(Expect(probe.id, 4 * i + 1, found.y, a[at].y + 4.0f * b[at].y));
    RETURN_IF_ERROR(Expect(probe.id, 4 * i + 2, found.z, a[at].z + 4.0f * b[at].z));
    RETURN_IF_ERROR(Expect(probe.id, 4 * i + 3, found.w, a[at].w + 4.0f * b[at].w));
  }
  return probe;
}

absl::StatusOr<Probe> ProbeWrite(Device& device, const Effort& effort) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  const int64_t n = effort.memory_bytes / 16;
  Probe probe{.id = "dram_write", .title = "DRAM, written only"};
  probe.bytes = 16.0 * static_cast<double>(n);
  absl::StatusOr<DeviceBuffer<uint4>> y =
      DeviceBuffer<uint4>::Create(device, static_cast<size_t>(n), "y");
  if (!y.ok()) return y.status();
  const auto work = [&](Stream& stream) {
    return Launch(stream, {.grid = BlocksFor(n), .block = kThreads}, Write, y->data(), n);
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  const absl::StatusOr<std::vector<uint4>> result = y->ToHost();
  if (!result.ok()) return result.status();
  for (int64_t i = 0; i < n; ++i) {
    const uint4 found = (*result)[static_cast<size_t>(i)];
    const uint32_t expected = static_cast<uint32_t>(i);
    for (const uint32_t word : {found.x, found.y, found.z, found.w}) {
      RETURN_IF_ERROR(Expect(probe.id, i, word, expected));
    }
  }
  return probe;
}

namespace {

// What lies in L2 surely: a half of it, or 1 MB where its size is not known.
int64_t BytesInL2(const Device& device, const Effort& effort) {
  const int64_t l2 = device.description().l2_cache_bytes;
  return std::min(PowerOfTwoBelow(l2 > 0 ? l2 / 2 : 1 << 20), PowerOfTwoBelow(effort.memory_bytes));
}

// Reads `bytes` (a power of two) `rounds` times from beyond L1.
absl::StatusOr<Probe> ProbeRead(Device& device, const Effort& effort, Probe probe, int64_t bytes,
                                int rounds) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  const int64_t n = bytes / 16;
  const int64_t count = std::max<int64_t>(n / bench->threads / kInFlight, 1) * kInFlight;
  // Another part each round, at whole lines of 128 bytes, so that no SM reads its own again.
  const int64_t shift = n / 3 / 8 * 8;
  probe.bytes = 16.0 * static_cast<double>(count) * rounds * static_cast<double>(bench->threads);
  absl::StatusOr<DeviceBuffer<uint4>> x = DeviceBuffer<uint4>::CreateFrom(device, Elements(n), "x");
  if (!x.ok()) return x.status();
  absl::StatusOr<DeviceBuffer<uint32_t>> out =
      DeviceBuffer<uint32_t>::Create(device, static_cast<size_t>(bench->threads), "out");
  if (!out.ok()) return out.status();
  const auto work = [&](Stream& stream) {
    return Launch(stream, {.grid = bench->blocks, .block = kThreads}, Read, x->data(), n, count,
                  rounds, shift, out->data());
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  const absl::StatusOr<std::vector<uint32_t>> host = out->ToHost();
  if (!host.ok()) return host.status();
  // Every 97th thread, and the last: all warps and lanes are among them.
  for (int64_t t = 0; t < bench->threads;
       t = t == bench->threads - 1 ? t + 1 : std::min(t + 97, bench->threads - 1)) {
    uint32_t sum = 0;
    for (int r = 0; r < rounds; ++r) {
      for (int64_t j = 0; j < count; ++j) {
        sum += ElementSum((t + r * shift + j * bench->threads) & (n - 1));
      }
    }
    RETURN_IF_ERROR(Expect(probe.id, t, (*host)[static_cast<size_t>(t)], sum));
  }
  return probe;
}

}  // namespace

absl::StatusOr<Probe> ProbeDramRead(Device& device, const Effort& effort) {
  return ProbeRead(device, effort, {.id = "dram_read", .title = "DRAM, read only"},
                   PowerOfTwoBelow(effort.memory_bytes), 1);
}

absl::StatusOr<Probe> ProbeL2Read(Device& device, const Effort& effort) {
  return ProbeRead(device, effort, {.id = "l2_read", .title = "L2, read again and again"},
                   BytesInL2(device, effort), effort.rounds);
}

// ---- L1 and shared memory: a window of 16 KB a block, one block of 1024 threads an SM.

namespace {

absl::StatusOr<Probe> ProbeWindow(Device& device, const Effort& effort, Probe probe,
                                  void (*kernel)(gptr<const uint4>, int, gptr<uint32_t>)) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  constexpr int kWide = 1024;
  const uint32_t blocks = static_cast<uint32_t>(device.description().multiprocessors);
  const int64_t threads = int64_t{blocks} * kWide;
  const int64_t n = int64_t{blocks} * kWindow;
  const int rounds = effort.rounds;
  probe.bytes = 16.0 * kInFlight * rounds * static_cast<double>(threads);
  absl::StatusOr<DeviceBuffer<uint4>> x = DeviceBuffer<uint4>::CreateFrom(device, Elements(n), "x");
  if (!x.ok()) return x.status();
  absl::StatusOr<DeviceBuffer<uint32_t>> out =
      DeviceBuffer<uint32_t>::Create(device, static_cast<size_t>(threads), "out");
  if (!out.ok()) return out.status();
  const auto work = [&](Stream& stream) {
    return Launch(stream, {.grid = blocks, .block = kWide}, kernel, x->data(), rounds, out->data());
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  const absl::StatusOr<std::vector<uint32_t>> host = out->ToHost();
  if (!host.ok()) return host.status();
  for (int64_t t = 0; t < threads; t += 31) {
    uint32_t sum = 0;
    for (int r = 0; r < rounds; ++r) {
      for (int k = 0; k < kInFlight; ++k) {
        sum += ElementSum(t / kWide * kWindow + (t % kWide + 32 * r + 256 * k) % kWindow);
      }
    }
    RETURN_IF_ERROR(Expect(probe.id, t, (*host)[static_cast<size_t>(t)], sum));
  }
  return probe;
}

}  // namespace

absl::StatusOr<Probe> ProbeL1Read(Device& device, const Effort& effort) {
  return ProbeWindow(device, effort, {.id = "l1_read", .title = "L1, read again and again"},
                     ReadL1);
}

absl::StatusOr<Probe> ProbeSharedRead(Device& device, const Effort& effort) {
  return ProbeWindow(device, effort, {.id = "shared_read", .title = "shared memory, read"},
                     ReadShared);
}

// ---- Latency.

namespace {

absl::StatusOr<Probe> ProbeChase(Device& device, const Effort& effort, Probe probe, int64_t bytes,
                                 int64_t stride, uint32_t threads,
                                 void (*kernel)(gptr<const uint32_t>, int, gptr<uint32_t>,
                                                gptr<long long>)) {
  absl::StatusOr<Bench> bench = Prepare(device, effort);
  if (!bench.ok()) return bench.status();
  probe.steps = effort.hops;
  const std::vector<uint32_t> next = RandomCycle(bytes / 4 / stride, stride, 1);
  absl::StatusOr<DeviceBuffer<uint32_t>> on_device =
      DeviceBuffer<uint32_t>::CreateFrom(device, next, "next");
  if (!on_device.ok()) return on_device.status();
  absl::StatusOr<DeviceBuffer<uint32_t>> place =
      DeviceBuffer<uint32_t>::CreateFrom(device, std::vector<uint32_t>{0}, "place");
  if (!place.ok()) return place.status();
  int64_t runs = 0;
  const auto work = [&](Stream& stream) {
    ++runs;
    return Launch(stream, {.grid = 1, .block = threads}, kernel, on_device->data(), effort.hops,
                  place->data(), bench->cycles.data());
  };
  RETURN_IF_ERROR(Time(device, bench->stream, effort, work, probe));
  const absl::StatusOr<std::vector<uint32_t>> end = place->ToHost();
  if (!end.ok()) return end.status();
  RETURN_IF_ERROR(Expect(probe.id, 0, end->front(), Follow(next, 0, runs * effort.hops)));
  RETURN_IF_ERROR(TakeCycles(*bench, probe));
  return probe;
}

constexpr int64_t kLine = 32;  // words: 128 bytes

}  // namespace

absl::StatusOr<Probe> ProbeSharedLatency(Device& device, const Effort& effort) {
  return ProbeChase(device, effort,
                    {.id = "shared_latency", .title = "shared memory, one load after another"},
                    4 * kSharedNodes, 1, kThreads, ChaseShared);
}
absl::StatusOr<Probe> ProbeL1Latency(Device& device, const Effort& effort) {
  return ProbeChase(device, effort, {.id = "l1_latency", .title = "L1, one load after another"},
                    8 << 10, kLine, 1, ChaseL1);
}
absl::StatusOr<Probe> ProbeL2Latency(Device& device, const Effort& effort) {
  return ProbeChase(device, effort, {.id = "l2_latency", .title = "L2, one load after another"},
                    BytesInL2(device, effort) / 2, kLine, 1, ChaseL2);
}
absl::StatusOr<Probe> ProbeDramLatency(Device& device, const Effort& effort) {
  return ProbeChase(
      device, effort,
      {.id = "dram_latency", .title = "DRAM, one load after another, pages in random order"},
      effort.memory_bytes, kLine, 1, ChaseL2);
}

}  // namespace assay::measure_gpu
