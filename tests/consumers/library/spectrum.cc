// SPDX-License-Identifier: Apache-2.0
// A program of somebody else's: finds the frequency of a square wave, and prints the bits of one
// coefficient, so that the test can compare them with those of Assay's own build.

#include <bit>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "numerics/fft/fft.h"

int main() {
  constexpr int64_t kSamples = 60;
  std::vector<double> wave(kSamples);
  for (int64_t i = 0; i < kSamples; ++i) wave[i] = i % 12 < 6 ? 1.0 : -1.0;

  auto plan = assay::fft::RealPlan<double>::Create(kSamples);
  if (!plan.ok()) return 1;
  std::vector<double> scratch(plan->scratch_size());
  std::vector<std::complex<double>> spectrum(plan->spectrum_size());
  if (!plan->Forward(wave, spectrum, scratch).ok()) return 1;

  int64_t loudest = 0;
  for (int64_t k = 1; k < plan->spectrum_size(); ++k) {
    if (std::norm(spectrum[k]) > std::norm(spectrum[loudest])) loudest = k;
  }
  std::printf("loudest %lld bits %016llx\n", static_cast<long long>(loudest),
              static_cast<unsigned long long>(std::bit_cast<uint64_t>(spectrum[loudest].real())));

  if (assay::fft::RealPlan<double>::Create(0).ok()) return 1;
  return 0;
}
