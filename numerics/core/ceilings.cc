// SPDX-License-Identifier: Apache-2.0
#include "numerics/core/ceilings.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/core/ceilings.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Runs `rounds` times twelve independent fused multiply-adds and returns the floating-point
// operations done. Twelve: two units times four to six cycles of latency, and with the two
// constants they still fit into sixteen registers. They begin with different numbers: of equal
// chains a compiler makes one, and what is timed is its latency.
template <class T>
double FmaRounds(int64_t rounds) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, static_cast<T>(1.0000001)),
             addend = hn::Set(d, static_cast<T>(1e-7));
  const auto start = [&](int chain) HWY_ATTR { return hn::Set(d, static_cast<T>(chain + 1)); };
  auto a0 = start(0), a1 = start(1), a2 = start(2), a3 = start(3), a4 = start(4), a5 = start(5),
       a6 = start(6), a7 = start(7), a8 = start(8), a9 = start(9), a10 = start(10), a11 = start(11);
  for (int64_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, addend);
    a1 = hn::MulAdd(a1, factor, addend);
    a2 = hn::MulAdd(a2, factor, addend);
    a3 = hn::MulAdd(a3, factor, addend);
    a4 = hn::MulAdd(a4, factor, addend);
    a5 = hn::MulAdd(a5, factor, addend);
    a6 = hn::MulAdd(a6, factor, addend);
    a7 = hn::MulAdd(a7, factor, addend);
    a8 = hn::MulAdd(a8, factor, addend);
    a9 = hn::MulAdd(a9, factor, addend);
    a10 = hn::MulAdd(a10, factor, addend);
    a11 = hn::MulAdd(a11, factor, addend);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)),
                           hn::Add(hn::Add(hn::Add(a4, a5), hn::Add(a6, a7)),
                                   hn::Add(hn::Add(a8, a9), hn::Add(a10, a11))));
  const T lane = hn::GetLane(sum);
  asm volatile("" : : "g"(&lane) : "memory");  // the result is wanted
  return 2.0 * 12 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

double FmaRoundsF64(int64_t rounds) { return FmaRounds<double>(rounds); }
double FmaRoundsF32(int64_t rounds) { return FmaRounds<float>(rounds); }
const char* Target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace assay {
namespace {

HWY_EXPORT(FmaRoundsF64);
HWY_EXPORT(FmaRoundsF32);
HWY_EXPORT(Target);

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double TriadBytesPerSecond() {
  // 3 x 64 MiB: beyond the share of the last-level cache that one core has on today's machines.
  constexpr size_t kCount = size_t{1} << 23;
  std::vector<double> a(kCount, 0), b(kCount, 1), c(kCount, 2);
  double best = 0;
  for (int repetition = 0; repetition < 8; ++repetition) {
    const double scale = 0.5 + repetition;
    const double start = Seconds();
    for (size_t i = 0; i < kCount; ++i) a[i] = b[i] + scale * c[i];
    asm volatile("" : : "r"(a.data()) : "memory");  // the result is wanted
    best = std::max(best, 24.0 * kCount / (Seconds() - start));
  }
  return best;
}

template <class Rounds>
double FlopsPerSecond(Rounds rounds) {
  constexpr int64_t kRounds = 1 << 17;
  double best = 0;
  rounds(kRounds);
  for (int repetition = 0; repetition < 30; ++repetition) {
    const double start = Seconds();
    const double flops = rounds(kRounds);
    best = std::max(best, flops / (Seconds() - start));
  }
  return best;
}

}  // namespace

std::string WidestVectors() { return HWY_DYNAMIC_DISPATCH(Target)(); }

Ceilings MeasureCeilings() {
  Ceilings ceilings;
  ceilings.vector = WidestVectors();
  ceilings.triad_bytes_per_s = TriadBytesPerSecond();
  ceilings.fma_f64_flops_per_s =
      FlopsPerSecond([](int64_t n) { return HWY_DYNAMIC_DISPATCH(FmaRoundsF64)(n); });
  ceilings.fma_f32_flops_per_s =
      FlopsPerSecond([](int64_t n) { return HWY_DYNAMIC_DISPATCH(FmaRoundsF32)(n); });
  return ceilings;
}

}  // namespace assay

#endif  // HWY_ONCE
