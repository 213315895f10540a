// SPDX-License-Identifier: Apache-2.0
//
// The C face of the two demos: a signal taken apart needle by needle, and two polynomials
// multiplied both ways. Every number that the demos show is made here.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "numerics/fft/fft.h"

namespace {

constexpr int32_t kLeastSamples = 8;
constexpr int32_t kMostSamples = 64;
constexpr int32_t kDrawn = 64;  // places of a drawing
constexpr int32_t kPresets = 7;
constexpr int32_t kMostCoefficients = 8;
constexpr int32_t kMostPoints = 16;
constexpr int32_t kLargest = 999;  // of a coefficient

enum Code {
  kOk = 0,
  kSamples = 1,
  kPreset = 2,
  kCoefficients = 3,
  kPoints = 4,
  kSize = 5,
  kMemory = 6
};

// cos(2 pi num / den).
double Cosine(int64_t num, int64_t den) { return assay::fft::UnitRoot<double>(num, den).real(); }
double Sine(int64_t num, int64_t den) { return -assay::fft::UnitRoot<double>(num, den).imag(); }

// Sample j of n of a preset, within [-1.5, 1.5].
double Preset(int32_t preset, int64_t j, int64_t n) {
  switch (preset) {
    case 1:  // three waves
      return 0.8 * Cosine(2 * j, n) + 0.4 * Sine(5 * j, n) + 0.2 * Cosine(7 * j, n);
    case 2:  // one wave between two bins
      return Cosine(9 * j, 2 * n);
    case 3:  // square
      return 2 * j < n ? 1 : -1;
    case 4:  // saw
      return 2 * static_cast<double>(j) / static_cast<double>(n) - 1;
    case 5:  // one pulse
      return j == n / 4 ? 1 : 0;
    case 6:  // a pace that goes up
      return Cosine(7 * j * j, 2 * n * n);
    default:
      return 0;
  }
}

double Size(std::complex<double> z) { return std::sqrt(z.real() * z.real() + z.imag() * z.imag()); }

// One complex transform of x in place; false without memory.
bool Transform(std::vector<std::complex<double>>& x, bool inverse) {
  absl::StatusOr<std::vector<std::complex<double>>> y =
      inverse ? assay::fft::Inverse<double>(x) : assay::fft::Forward<double>(x);
  if (!y.ok()) return false;
  x = *std::move(y);
  return true;
}

}  // namespace

extern "C" {

void* alloc(uint32_t n) { return std::malloc(n); }
void dealloc(void* p) { std::free(p); }

const char* message(int code) {
  switch (code) {
    case kOk:
      return "no error";
    case kSamples:
      return "the number of samples must lie in 8 to 64";
    case kPreset:
      return "there is no such signal";
    case kCoefficients:
      return "a factor must have 1 to 8 coefficients";
    case kPoints:
      return "the number of points must lie in 1 to 16 and reach the longer factor";
    case kSize:
      return "coefficients must lie in -999 to 999";
    default:
      return "no memory left";
  }
}

// Takes a signal apart.
//   n: samples. preset: 0 (nothing) to 6. window: 1 for Hann's. drawn: [64], in 64ths, added to the
//   preset. base: [n] the preset alone. signal: [n] preset and drawing, windowed. amplitudes: [n/2
//   + 1] by FFT: of the real wave at each bin. chains: [n/2 + 1, n + 1, 2] the needles of each bin
//   laid end to end, from the definition, in the same
//     scale: the last point's distance from 0 is the amplitude.
//   rebuilt: [n/2 + 2, n] row k: the signal from the waves of bins 0..k-1 alone.
//   gap: [1] the largest difference between a chain's end and the FFT's number.
int analyse(int32_t n, int32_t preset, int32_t window, const int8_t* drawn, double* base,
            double* signal, double* amplitudes, double* chains, double* rebuilt, double* gap) {
  if (n < kLeastSamples || n > kMostSamples) return kSamples;
  if (preset < 0 || preset >= kPresets) return kPreset;
  const int32_t bins = n / 2 + 1;
  std::vector<std::complex<double>> x(static_cast<size_t>(n));
  for (int32_t j = 0; j < n; ++j) {
    base[j] = Preset(preset, j, n);
    signal[j] = base[j] + drawn[j * kDrawn / n] / 64.0;
    if (window != 0) signal[j] *= 1 - Cosine(j, n);  // twice Hann's window: peaks keep their height
    x[static_cast<size_t>(j)] = signal[j];
  }
  if (!Transform(x, false)) return kMemory;
  *gap = 0;
  for (int32_t j = 0; j < n; ++j) rebuilt[j] = 0;
  for (int32_t k = 0; k < bins; ++k) {
    // A real wave is two needles, at k and at n - k; at 0 and n/2 it is one.
    const double scale = (k == 0 || 2 * k == n ? 1.0 : 2.0) / n;
    const std::complex<double> found = x[static_cast<size_t>(k)];
    amplitudes[k] = scale * Size(found);
    double re = 0, im = 0;
    double* chain = chains + 2 * (n + 1) * k;
    chain[0] = chain[1] = 0;
    double* before = rebuilt + n * k;
    for (int32_t j = 0; j < n; ++j) {
      const std::complex<double> needle = assay::fft::UnitRoot<double>(int64_t{j} * k, n);
      re += signal[j] * needle.real();
      im += signal[j] * needle.imag();
      chain[2 * j + 2] = scale * re;
      chain[2 * j + 3] = scale * im;
      // The wave of this bin, turned back: re(X w^-jk).
      before[n + j] =
          before[j] + scale * (found.real() * needle.real() + found.imag() * needle.imag());
    }
    *gap = std::max(*gap, scale * Size(std::complex<double>(re - found.real(), im - found.imag())));
  }
  return kOk;
}

// Multiplies two polynomials by the schoolbook and by their values at `points` points of the unit
// circle.
//   a: [na], b: [nb], constant term first. points: as many as the longer factor at least; fewer
//   than na + nb - 1 make high powers wrap round. grid: [na, nb] products of coefficients. school:
//   [na + nb - 1] their sums along the diagonals. values: [points, 6] at each point re, im of a, of
//   b, and of their product. back: [points] the coefficients that the values of the product give.
//   error: [1] largest distance of `back` from the schoolbook's result, wrapped where it wraps.
int multiply(int32_t na, const int32_t* a, int32_t nb, const int32_t* b, int32_t points,
             double* grid, double* school, double* values, double* back, double* error) {
  if (na < 1 || na > kMostCoefficients || nb < 1 || nb > kMostCoefficients) return kCoefficients;
  if (points < std::max(na, nb) || points > kMostPoints) return kPoints;
  std::vector<std::complex<double>> x(static_cast<size_t>(points)), y(x.size()), z(x.size());
  for (int32_t i = 0; i < na; ++i) {
    if (a[i] < -kLargest || a[i] > kLargest) return kSize;
    x[static_cast<size_t>(i)] = a[i];
  }
  for (int32_t i = 0; i < nb; ++i) {
    if (b[i] < -kLargest || b[i] > kLargest) return kSize;
    y[static_cast<size_t>(i)] = b[i];
  }
  for (int32_t k = 0; k < na + nb - 1; ++k) school[k] = 0;
  for (int32_t i = 0; i < na; ++i) {
    for (int32_t j = 0; j < nb; ++j) {
      grid[i * nb + j] = static_cast<double>(a[i]) * b[j];
      school[i + j] += grid[i * nb + j];
    }
  }
  if (!Transform(x, false) || !Transform(y, false)) return kMemory;
  for (size_t k = 0; k < x.size(); ++k) {
    z[k] = {x[k].real() * y[k].real() - x[k].imag() * y[k].imag(),
            x[k].real() * y[k].imag() + x[k].imag() * y[k].real()};
    const double row[6] = {x[k].real(), x[k].imag(), y[k].real(),
                           y[k].imag(), z[k].real(), z[k].imag()};
    for (size_t i = 0; i < 6; ++i) values[6 * k + i] = row[i];
  }
  if (!Transform(z, true)) return kMemory;
  *error = 0;
  for (int32_t k = 0; k < points; ++k) {
    back[k] = z[static_cast<size_t>(k)].real();
    double wrapped = 0;
    for (int32_t i = k; i < na + nb - 1; i += points) wrapped += school[i];
    *error = std::max(*error, std::fabs(back[k] - wrapped));
  }
  return kOk;
}

}  // extern "C"
