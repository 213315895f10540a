// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/reference.h"

#include <cmath>
#include <utility>

#include "numerics/core/check.h"
#include "numerics/fft/fft.h"

namespace assay::fft {
namespace {

// a + b = hi + lo exactly (Knuth).
DoubleDouble TwoSum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

// The same for |a| >= |b| (Dekker).
DoubleDouble FastTwoSum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

// a * b = hi + lo exactly, short of underflow (Dekker, Veltkamp's splitting; no fused operation).
DoubleDouble TwoProduct(double a, double b) {
  const double as = a * 134217729.0, bs = b * 134217729.0;  // 2^27 + 1
  const double a1 = as - (as - a), b1 = bs - (bs - b);
  const double a2 = a - a1, b2 = b - b1;
  const double p = a * b;
  return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

DoubleDouble Negate(DoubleDouble a) { return {-a.hi, -a.lo}; }

ComplexDoubleDouble Add(ComplexDoubleDouble a, ComplexDoubleDouble b) {
  return {Add(a.re, b.re), Add(a.im, b.im)};
}

ComplexDoubleDouble Multiply(ComplexDoubleDouble a, ComplexDoubleDouble b) {
  return {Add(Multiply(a.re, b.re), Negate(Multiply(a.im, b.im))),
          Add(Multiply(a.re, b.im), Multiply(a.im, b.re))};
}

// sin and cos of a in [0, pi/4] by their series.
void SinCosSeries(DoubleDouble a, DoubleDouble* sine, DoubleDouble* cosine) {
  // (pi/4)^31 / 31! < 2^-123: 15 terms of each series are enough.
  DoubleDouble term = {1, 0};
  DoubleDouble c = {0, 0}, s = {0, 0};
  // Terms by rising power, summed from the small end.
  DoubleDouble cosine_terms[16], sine_terms[16];
  for (int k = 0; k < 16; ++k) {
    cosine_terms[k] = term;
    term = Divide(Multiply(term, a), {static_cast<double>(2 * k + 1), 0});
    sine_terms[k] = term;
    term = Divide(Multiply(term, a), {static_cast<double>(2 * k + 2), 0});
  }
  for (int k = 15; k >= 0; --k) {
    const bool minus = k % 2 == 1;
    c = Add(c, minus ? Negate(cosine_terms[k]) : cosine_terms[k]);
    s = Add(s, minus ? Negate(sine_terms[k]) : sine_terms[k]);
  }
  *sine = s;
  *cosine = c;
}

// The transform of x[offset + stride j], j = 0..n-1, into out[0..n-1]. roots: those of total, and
// total = n * step.
void Recurse(std::span<const std::complex<double>> x, int64_t offset, int64_t stride, int64_t n,
             const std::vector<ComplexDoubleDouble>& roots, std::span<ComplexDoubleDouble> out) {
  const int64_t total = static_cast<int64_t>(roots.size());
  if (n == 1) {
    out[0] = {{x[offset].real(), 0}, {x[offset].imag(), 0}};
    return;
  }
  int64_t p = 2;
  while (n % p != 0) p = p * p > n ? n : p + 1;
  const int64_t m = n / p;
  std::vector<ComplexDoubleDouble> parts(static_cast<size_t>(n));
  for (int64_t r = 0; r < p; ++r) {
    Recurse(x, offset + stride * r, stride * p, m, roots,
            std::span<ComplexDoubleDouble>(parts).subspan(m * r, m));
  }
  const int64_t step = total / n;
  for (int64_t k = 0; k < n; ++k) {
    ComplexDoubleDouble sum = parts[k % m];
    for (int64_t r = 1; r < p; ++r) {
      sum = Add(sum, Multiply(roots[(r * k) % n * step], parts[m * r + k % m]));
    }
    out[k] = sum;
  }
}

template <class T>
double RelativeError(std::span<const std::complex<T>> computed,
                     std::span<const ComplexDoubleDouble> oracle) {
  ASSAY_CHECK(computed.size() == oracle.size());
  double difference = 0, norm = 0;
  for (size_t k = 0; k < computed.size(); ++k) {
    // computed - hi is exact or nearly so where they agree; then lo matters.
    const double re = (static_cast<double>(computed[k].real()) - oracle[k].re.hi) - oracle[k].re.lo;
    const double im = (static_cast<double>(computed[k].imag()) - oracle[k].im.hi) - oracle[k].im.lo;
    difference += re * re + im * im;
    norm += oracle[k].re.hi * oracle[k].re.hi + oracle[k].im.hi * oracle[k].im.hi;
  }
  if (difference == 0) return 0;
  return std::sqrt(difference / norm);
}

}  // namespace

DoubleDouble Add(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble s = TwoSum(a.hi, b.hi);
  const DoubleDouble t = TwoSum(a.lo, b.lo);
  const DoubleDouble v = FastTwoSum(s.hi, s.lo + t.hi);
  return FastTwoSum(v.hi, t.lo + v.lo);
}

DoubleDouble Multiply(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = TwoProduct(a.hi, b.hi);
  return FastTwoSum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

DoubleDouble Divide(DoubleDouble a, DoubleDouble b) {
  const double q1 = a.hi / b.hi;
  DoubleDouble rest = Add(a, Negate(Multiply(b, {q1, 0})));
  const double q2 = rest.hi / b.hi;
  rest = Add(rest, Negate(Multiply(b, {q2, 0})));
  const double q3 = rest.hi / b.hi;
  return Add(FastTwoSum(q1, q2), {q3, 0});
}

ComplexDoubleDouble UnitRootOracle(int64_t k, int64_t n) {
  ASSAY_CHECK(n >= 1);
  k %= n;
  if (k < 0) k += n;
  int64_t t = 8 * k;
  const bool upper = t > 4 * n;
  if (upper) t = 8 * n - t;
  const bool left = t > 2 * n;
  if (left) t = 4 * n - t;
  const bool steep = t > n;
  if (steep) t = 2 * n - t;
  const DoubleDouble pi = {3.141592653589793116, 1.2246467991473532e-16};
  const DoubleDouble x = Divide({static_cast<double>(t), 0}, {static_cast<double>(4 * n), 0});
  DoubleDouble sine, cosine;
  SinCosSeries(Multiply(pi, x), &sine, &cosine);
  if (steep) std::swap(sine, cosine);
  if (left) cosine = Negate(cosine);
  if (upper) sine = Negate(sine);
  return {cosine, Negate(sine)};
}

template <class T>
std::vector<std::complex<T>> DftReference(std::span<const std::complex<T>> x, bool backward) {
  const int64_t n = static_cast<int64_t>(x.size());
  std::vector<std::complex<T>> roots, y;
  for (int64_t k = 0; k < n; ++k) roots.push_back(UnitRoot<T>(backward ? -k : k, n));
  for (int64_t k = 0; k < n; ++k) {
    T re = 0, im = 0;
    int64_t turn = 0;  // j k mod n
    for (int64_t j = 0; j < n; ++j) {
      const std::complex<T> w = roots[turn];
      re += x[j].real() * w.real() - x[j].imag() * w.imag();
      im += x[j].real() * w.imag() + x[j].imag() * w.real();
      turn += k;
      if (turn >= n) turn -= n;
    }
    y.push_back({re, im});
  }
  return y;
}

std::vector<ComplexDoubleDouble> DftOracle(std::span<const std::complex<double>> x, bool backward) {
  const int64_t n = static_cast<int64_t>(x.size());
  ASSAY_CHECK(n >= 1);
  std::vector<ComplexDoubleDouble> roots(x.size()), out(x.size());
  for (int64_t k = 0; 2 * k <= n; ++k) {
    const ComplexDoubleDouble w = UnitRootOracle(backward ? -k : k, n);
    roots[(n - k) % n] = {w.re, Negate(w.im)};
    roots[k] = w;
  }
  Recurse(x, 0, 1, n, roots, out);
  return out;
}

double RelativeL2Error(std::span<const std::complex<double>> computed,
                       std::span<const ComplexDoubleDouble> oracle) {
  return RelativeError(computed, oracle);
}

double RelativeL2Error(std::span<const std::complex<float>> computed,
                       std::span<const ComplexDoubleDouble> oracle) {
  return RelativeError(computed, oracle);
}

template <class T>
std::vector<T> ConvolveReference(std::span<const T> a, std::span<const T> b) {
  ASSAY_CHECK(!a.empty() && !b.empty());
  std::vector<T> c(a.size() + b.size() - 1);
  for (size_t k = 0; k < c.size(); ++k) {
    T sum = 0;
    for (size_t j = k < b.size() ? 0 : k - b.size() + 1; j <= k && j < a.size(); ++j) {
      sum += a[j] * b[k - j];
    }
    c[k] = sum;
  }
  return c;
}

template std::vector<std::complex<float>> DftReference(std::span<const std::complex<float>>, bool);
template std::vector<std::complex<double>> DftReference(std::span<const std::complex<double>>,
                                                        bool);
template std::vector<float> ConvolveReference(std::span<const float>, std::span<const float>);
template std::vector<double> ConvolveReference(std::span<const double>, std::span<const double>);

}  // namespace assay::fft
