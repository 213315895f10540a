// SPDX-License-Identifier: Apache-2.0
//
// The FFT from scratch: what the definition costs and what the recursion costs, counted; how the
// errors of three ways grow; needles found in a mixture, on and between the bins; convolution by
// spectra held to its proved bound; exact products; stripes found in photographed clothes.
#if !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#endif

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "numerics/core/elementary.h"
#include "numerics/core/random.h"
#include "numerics/core/sha256.h"
#include "numerics/fft/checked_convolve.h"
#include "numerics/fft/convolve.h"
#include "numerics/fft/fft.h"
#include "numerics/fft/reference.h"
#include "numerics/ntt/exact_product.h"
#include "tools/lab/lab.h"

namespace assay::fft_article {
namespace {

using lab::Context;
using lab::Report;
using lab::Table;

// ------------------------------------------------------------------ counting work

// A number that counts the operations it takes part in.
struct Counted {
  double value = 0;
  int64_t* tally = nullptr;

  friend Counted operator+(Counted a, Counted b) { return Done(a.value + b.value, a); }
  friend Counted operator-(Counted a, Counted b) { return Done(a.value - b.value, a); }
  friend Counted operator*(Counted a, Counted b) { return Done(a.value * b.value, a); }
  static Counted Done(double value, Counted a) {
    ++*a.tally;
    return {value, a.tally};
  }
};

template <class T>
struct Complex {
  T re, im;
};

template <class T>
Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// [region definition]
// The definition, taken literally: N products for each of N frequencies.
template <class T>
std::vector<Complex<T>> Definition(const std::vector<Complex<T>>& x,
                                   const std::vector<Complex<T>>& roots) {
  const size_t n = x.size();
  std::vector<Complex<T>> y;
  for (size_t k = 0; k < n; ++k) {
    Complex<T> sum = x[0] * roots[0];
    for (size_t j = 1; j < n; ++j) sum = sum + x[j] * roots[j * k % n];
    y.push_back(sum);
  }
  return y;
}
// [end definition]

// [region recursion]
// Divide and conquer: roots[k] is the needle's position after k of N steps; stride says how many
// of them make one step of this smaller transform.
template <class T>
std::vector<Complex<T>> Recursion(const std::vector<Complex<T>>& x,
                                  const std::vector<Complex<T>>& roots, size_t stride = 1) {
  const size_t n = x.size();
  if (n == 1) return x;
  std::vector<Complex<T>> even, odd;
  for (size_t j = 0; j < n; j += 2) {
    even.push_back(x[j]);
    odd.push_back(x[j + 1]);
  }
  even = Recursion(even, roots, 2 * stride);
  odd = Recursion(odd, roots, 2 * stride);
  std::vector<Complex<T>> y(n);
  for (size_t k = 0; k < n / 2; ++k) {
    const Complex<T> turned = odd[k] * roots[k * stride];
    y[k] = even[k] + turned;
    y[k + n / 2] = even[k] - turned;
  }
  return y;
}
// [end recursion]

// [region chirp]
// Any length: jk = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution with a chirp,
// and three transforms of a power of two do the convolution. chirp[j] = exp(-i pi j^2 / N).
template <class T>
std::vector<Complex<T>> Chirp(const std::vector<Complex<T>>& x,
                              const std::vector<Complex<T>>& chirp,
                              const std::vector<Complex<T>>& roots, T zero, T one_over_m) {
  const size_t n = x.size(), m = roots.size();  // m >= 2 n - 1, a power of two
  std::vector<Complex<T>> a(m, {zero, zero}), b(m, {zero, zero});
  for (size_t j = 0; j < n; ++j) {
    a[j] = x[j] * chirp[j];
    b[j] = b[(m - j) % m] = {chirp[j].re, zero - chirp[j].im};
  }
  a = Recursion(a, roots);
  b = Recursion(b, roots);
  // The inverse transform is the transform with re and im swapped before and after.
  for (size_t k = 0; k < m; ++k) {
    const Complex<T> c = a[k] * b[k];
    a[k] = {c.im, c.re};
  }
  a = Recursion(a, roots);
  std::vector<Complex<T>> y;
  for (size_t k = 0; k < n; ++k) {
    y.push_back(Complex<T>{a[k].im * one_over_m, a[k].re * one_over_m} * chirp[k]);
  }
  return y;
}
// [end chirp]

std::vector<Complex<Counted>> CountedRoots(int64_t n, int64_t count, int64_t* tally) {
  std::vector<Complex<Counted>> roots;
  for (int64_t k = 0; k < count; ++k) {
    const std::complex<double> w = fft::UnitRoot<double>(k, n);
    roots.push_back({{w.real(), tally}, {w.imag(), tally}});
  }
  return roots;
}

// Real additions, subtractions and products of one transform of length n.
int64_t CountDefinition(int64_t n) {
  int64_t tally = 0;
  Definition(CountedRoots(n, n, &tally), CountedRoots(n, n, &tally));
  return tally;
}
int64_t CountRecursion(int64_t n) {
  int64_t tally = 0;
  Recursion(CountedRoots(n, n, &tally), CountedRoots(n, n, &tally));
  return tally;
}
int64_t CountChirp(int64_t n) {
  int64_t tally = 0, m = 1;
  while (m < 2 * n - 1) m *= 2;
  // Values do not change the count; any numbers do.
  Chirp(CountedRoots(n, n, &tally), CountedRoots(n, n, &tally), CountedRoots(m, m, &tally),
        {0, &tally}, {0, &tally});
  return tally;
}

void Work(Context& context, Report& report) {
  const int64_t most = context.Integer("work_lg_n", 8, 12, 12);
  Table& table = report.AddTable("work", "Real operations of one transform, counted");
  table.Column<int64_t>("n", "samples")
      .Column<int64_t>("definition", "flop")
      .Column<int64_t>("recursion", "flop");
  int64_t before_definition = 0, before_recursion = 0, definition = 0, recursion = 0;
  for (int64_t bits = 1; bits <= most; ++bits) {
    before_definition = definition;
    before_recursion = recursion;
    const int64_t n = int64_t{1} << bits;
    definition = CountDefinition(n);
    recursion = CountRecursion(n);
    table.Row(n, definition, recursion);
    context.Progress(n, int64_t{1} << most, "counting operations");
  }
  report.Exact("work_n", int64_t{1} << most, "Samples in the longest counted transform");
  report.Exact("work_definition", definition, "Operations by the definition", "flop");
  report.Exact("work_recursion", recursion, "Operations by the recursion", "flop");
  report.Exact("work_ratio", static_cast<double>(definition) / static_cast<double>(recursion),
               "How many times more work the definition is");
  report.Exact("definition_doubling",
               static_cast<double>(definition) / static_cast<double>(before_definition),
               "Work of the definition when the length doubles, as a factor");
  report.Exact("recursion_doubling",
               static_cast<double>(recursion) / static_cast<double>(before_recursion),
               "Work of the recursion when the length doubles, as a factor");

  const int64_t prime = context.Integer("prime", 251, 2039, 2039);
  report.Exact("prime", prime, "A prime length", "samples");
  const int64_t prime_definition = CountDefinition(prime), prime_chirp = CountChirp(prime);
  report.Exact("prime_definition", prime_definition, "Operations at the prime length, definition",
               "flop");
  report.Exact("prime_chirp", prime_chirp, "Operations at the prime length, chirp", "flop");
  report.Exact("prime_ratio",
               static_cast<double>(prime_definition) / static_cast<double>(prime_chirp),
               "How many times more work the definition is at the prime length");
}

// ------------------------------------------------------------------ how errors grow

// [region recurrence]
// A tempting shortcut: each needle position from the one before, by one product. Every product
// adds its rounding to all positions that follow.
std::vector<Complex<double>> RecurrenceRoots(int64_t n) {
  const std::complex<double> step = fft::UnitRoot<double>(1, n);
  std::vector<Complex<double>> roots = {{1, 0}};
  while (static_cast<int64_t>(roots.size()) < n) {
    roots.push_back(roots.back() * Complex<double>{step.real(), step.imag()});
  }
  return roots;
}
// [end recurrence]

std::vector<Complex<double>> GoodRoots(int64_t n) {
  std::vector<Complex<double>> roots;
  for (int64_t k = 0; k < n; ++k) {
    const std::complex<double> w = fft::UnitRoot<double>(k, n);
    roots.push_back({w.real(), w.imag()});
  }
  return roots;
}

// Distance from the truth, relative in the 2-norm, in units of u = 2^-53.
double ErrorInU(const std::vector<Complex<double>>& y,
                const std::vector<fft::ComplexDoubleDouble>& truth) {
  std::vector<std::complex<double>> plain;
  for (const Complex<double>& v : y) plain.push_back({v.re, v.im});
  return fft::RelativeL2Error(plain, truth) * 0x1p53;
}

// The slope of log y over log x by least squares.
double Slope(const std::vector<double>& x, const std::vector<double>& y) {
  const double count = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double lx = Log(x[i]), ly = Log(y[i]);
    sx += lx;
    sy += ly;
    sxx += lx * lx;
    sxy += lx * ly;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

absl::Status Errors(Context& context, Report& report) {
  const int64_t most = context.Integer("error_lg_n", 8, 12, 12);
  Table& table = report.AddTable("errors", "Error of one transform in f64 against double-double");
  table.Column<int64_t>("n", "samples")
      .Column<double>("library", "u")
      .Column<double>("recursion", "u")
      .Column<double>("definition", "u")
      .Column<double>("recurrence", "u")
      .Column<double>("bound", "u");
  std::vector<double> lengths, by_recursion, by_definition, by_recurrence;
  double library = 0, bound = 0;
  for (int64_t bits = 4; bits <= most; ++bits) {
    const int64_t n = int64_t{1} << bits;
    Random random(context.seed(), static_cast<uint64_t>(n));
    std::vector<std::complex<double>> x;
    std::vector<Complex<double>> copy;
    for (int64_t j = 0; j < n; ++j) {
      const double re = random.Uniform();
      const double im = random.Uniform();
      x.push_back({2 * re - 1, 2 * im - 1});
      copy.push_back({2 * re - 1, 2 * im - 1});
    }
    const std::vector<fft::ComplexDoubleDouble> truth = fft::DftOracle(x);
    absl::StatusOr<fft::Plan<double>> plan = fft::Plan<double>::Create(n);
    if (!plan.ok()) return plan.status();
    absl::StatusOr<std::vector<std::complex<double>>> ours = fft::Forward<double>(x);
    if (!ours.ok()) return ours.status();
    library = fft::RelativeL2Error(*ours, truth) * 0x1p53;
    bound = plan->L2ErrorBound() * 0x1p53;
    const std::vector<Complex<double>> roots = GoodRoots(n);
    lengths.push_back(static_cast<double>(n));
    by_recursion.push_back(ErrorInU(Recursion(copy, roots), truth));
    by_definition.push_back(ErrorInU(Definition(copy, roots), truth));
    by_recurrence.push_back(ErrorInU(Recursion(copy, RecurrenceRoots(n)), truth));
    table.Row(n, library, by_recursion.back(), by_definition.back(), by_recurrence.back(), bound);
    context.Progress(n, int64_t{1} << most, "measuring errors");
  }
  report.Exact("error_library", library, "Error of the library's transform at the longest length",
               "u");
  report.Exact("error_bound", bound, "Its proved bound", "u");
  report.Exact("error_recursion", by_recursion.back(),
               "Error of the recursion at the longest length", "u");
  report.Exact("error_definition", by_definition.back(),
               "Error of the definition at the longest length", "u");
  report.Exact("error_recurrence", by_recurrence.back(),
               "Error of the recursion with needles from a recurrence", "u");
  // The chirp at a prime length, held to the same truth.
  const int64_t prime = context.Integer("prime", 251, 2039, 2039);
  int64_t m = 1;
  while (m < 2 * prime - 1) m *= 2;
  Random random(context.seed(), static_cast<uint64_t>(prime));
  std::vector<std::complex<double>> x;
  std::vector<Complex<double>> copy, chirp;
  for (int64_t j = 0; j < prime; ++j) {
    const double re = random.Uniform();
    const double im = random.Uniform();
    x.push_back({2 * re - 1, 2 * im - 1});
    copy.push_back({2 * re - 1, 2 * im - 1});
    const std::complex<double> c = fft::UnitRoot<double>(j * j % (2 * prime), 2 * prime);
    chirp.push_back({c.real(), c.imag()});
  }
  const std::vector<Complex<double>> turned =
      Chirp(copy, chirp, GoodRoots(m), 0.0, 1.0 / static_cast<double>(m));
  report.Exact("prime_error", ErrorInU(turned, fft::DftOracle(x)),
               "Error of the chirp at the prime length", "u");
  report.Exact("recursion_slope", Slope(lengths, by_recursion),
               "Exponent of the recursion's error as the length grows");
  report.Exact("definition_slope", Slope(lengths, by_definition),
               "Exponent of the definition's error as the length grows");
  report.Exact("recurrence_slope", Slope(lengths, by_recurrence),
               "Exponent of the error with needles from a recurrence");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ needles in a mixture

constexpr int64_t kSamples = 64;

// cos(2 pi (k j / n + phase / 8)), phase in eighths of a turn, k in halves of a turn a signal.
double Wave(int64_t half_turns, int64_t j, int64_t phase_eighths) {
  return fft::UnitRoot<double>(half_turns * j * 4 + phase_eighths * kSamples, 8 * kSamples).real();
}

double Size(std::complex<double> z) { return std::sqrt(z.real() * z.real() + z.imag() * z.imag()); }

absl::StatusOr<std::vector<double>> Amplitudes(const std::vector<double>& x) {
  std::vector<std::complex<double>> z(x.begin(), x.end());
  absl::StatusOr<std::vector<std::complex<double>>> y = fft::Forward<double>(z);
  if (!y.ok()) return y.status();
  const double n = static_cast<double>(x.size());
  std::vector<double> amplitudes;
  // A wave of amplitude a shows as a N / 2 at +k and at -k; at 0 and N/2 as a N, once.
  for (size_t k = 0; k <= x.size() / 2; ++k) {
    const double once = k == 0 || 2 * k == x.size() ? 1 : 2;
    amplitudes.push_back(once * Size((*y)[k]) / n);
  }
  return amplitudes;
}

absl::Status Mixture(Report& report) {
  // The recipe: turns over the 64 samples and amplitude.
  struct Ingredient {
    int64_t turns;
    double amplitude;
    int64_t phase_eighths;
  };
  const std::vector<Ingredient> recipe = {{3, 1.0, 0}, {9, 0.5, 3}, {20, 0.25, 6}};
  std::vector<double> x;
  Table& smoothie = report.AddTable("smoothie", "The mixture of three waves");
  smoothie.Column<int64_t>("sample").Column<double>("value");
  for (int64_t j = 0; j < kSamples; ++j) {
    double sum = 0;
    for (const Ingredient& i : recipe) sum += i.amplitude * Wave(2 * i.turns, j, i.phase_eighths);
    x.push_back(sum);
    smoothie.Row(j, sum);
  }
  absl::StatusOr<std::vector<double>> found = Amplitudes(x);
  if (!found.ok()) return found.status();
  Table& table = report.AddTable("recipe", "Amplitude of each needle in the mixture");
  table.Column<int64_t>("turns").Column<double>("amplitude");
  double worst = 0;
  for (size_t k = 0; k < found->size(); ++k) {
    table.Row(static_cast<int64_t>(k), (*found)[k]);
    double truth = 0;
    for (const Ingredient& i : recipe) {
      if (i.turns == static_cast<int64_t>(k)) truth = i.amplitude;
    }
    worst = std::max(worst, std::fabs((*found)[k] - truth));
  }
  report.Exact("mixture_samples", kSamples, "Samples of the mixture");
  for (size_t i = 0; i < recipe.size(); ++i) {
    report.Exact(absl::StrCat("recipe_", i + 1), (*found)[static_cast<size_t>(recipe[i].turns)],
                 absl::StrCat("Amplitude found at ", recipe[i].turns, " turns"));
    report.Exact(absl::StrCat("turns_", i + 1), recipe[i].turns, "Turns of an ingredient");
  }
  report.Exact("recipe_error", worst,
               "Largest error over all amplitudes, those of absent needles too");
  return absl::OkStatus();
}

// Hann's window sin^2(pi j / n): fades the signal in and out.
double Hann(int64_t j, int64_t n) { return 0.5 - 0.5 * fft::UnitRoot<double>(j, n).real(); }

absl::Status Leakage(Report& report) {
  Table& table = report.AddTable("leakage", "Amplitudes of one wave, on a bin and between two");
  table.Column<int64_t>("turns").Column<double>("on_bin").Column<double>("between").Column<double>(
      "windowed");
  constexpr int64_t kTurns = 9;
  std::vector<double> on, between, windowed;
  for (int64_t j = 0; j < kSamples; ++j) {
    on.push_back(Wave(2 * kTurns, j, 0));
    between.push_back(Wave(2 * kTurns + 1, j, 0));
    // Twice the window, whose mean is one half, so that a peak keeps its height.
    windowed.push_back(between.back() * 2 * Hann(j, kSamples));
  }
  absl::StatusOr<std::vector<double>> a = Amplitudes(on), b = Amplitudes(between),
                                      c = Amplitudes(windowed);
  if (!a.ok()) return a.status();
  if (!b.ok()) return b.status();
  if (!c.ok()) return c.status();
  // Without the first and the last bin, where Hann's window leaves a clean zero, which no logarithm
  // shows.
  for (size_t k = 1; k + 1 < a->size(); ++k) {
    table.Row(static_cast<int64_t>(k), (*a)[k], (*b)[k], (*c)[k]);
  }
  double on_else = 0, far_between = 0, far_windowed = 0;
  for (int64_t k = 0; k <= kSamples / 2; ++k) {
    const size_t at = static_cast<size_t>(k);
    if (k != kTurns) on_else = std::max(on_else, (*a)[at]);
    if (k >= kTurns + 11) {
      far_between = std::max(far_between, (*b)[at]);
      far_windowed = std::max(far_windowed, (*c)[at]);
    }
  }
  const double least = *std::min_element(b->begin(), b->end());
  report.Exact("leak_turns", kTurns, "Turns of the wave on a bin");
  report.Exact("leak_between_turns", kTurns + 0.5, "Turns of the wave between two bins");
  report.Exact("leak_on_bin", on_else, "Largest amplitude at any other bin, wave on a bin");
  report.Exact("leak_least", least, "Smallest amplitude at any bin, wave between two bins");
  report.Exact("leak_peak", *std::max_element(b->begin(), b->end()),
               "Largest amplitude at any bin, wave between two bins");
  report.Exact("leak_far", far_between, "Largest amplitude ten bins off and more, no window");
  report.Exact("leak_far_windowed", far_windowed, "The same with Hann's window");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ convolution

// The true convolution, each coefficient to twice the digits.
std::vector<fft::DoubleDouble> TrueConvolution(const std::vector<double>& a,
                                               const std::vector<double>& b) {
  std::vector<fft::DoubleDouble> c(a.size() + b.size() - 1);
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      c[i + j] = fft::Add(c[i + j], fft::Multiply({a[i], 0}, {b[j], 0}));
    }
  }
  return c;
}

absl::Status Convolution(Context& context, Report& report) {
  const int64_t n = context.Integer("convolution_n", 100, 700, 700);
  Random random(context.seed(), 77);
  std::vector<double> a, b;
  for (int64_t j = 0; j < n; ++j) {
    const double x = random.Normal();
    const double y = random.Normal();
    a.push_back(x);
    b.push_back(y);
  }
  fft::ConvolveOptions by_fft, direct;
  by_fft.method = fft::ConvolveMethod::kFft;
  direct.method = fft::ConvolveMethod::kDirect;
  const std::vector<fft::DoubleDouble> truth = TrueConvolution(a, b);
  absl::StatusOr<std::vector<double>> fast = fft::Convolve<double>(a, b, by_fft);
  if (!fast.ok()) return fast.status();
  absl::StatusOr<std::vector<double>> slow = fft::Convolve<double>(a, b, direct);
  if (!slow.ok()) return slow.status();
  double fast_error = 0, slow_error = 0;
  for (size_t k = 0; k < truth.size(); ++k) {
    fast_error = std::max(fast_error, std::fabs(((*fast)[k] - truth[k].hi) - truth[k].lo));
    slow_error = std::max(slow_error, std::fabs(((*slow)[k] - truth[k].hi) - truth[k].lo));
  }
  const double bound = fft::ConvolveErrorBound<double>(a, b);
  report.Exact("convolution_length", n, "Length of both sequences");
  report.Exact("convolution_direct_error", slow_error, "Largest error of the direct convolution");
  lab::Bound held;
  held.metric = "max abs";
  held.observed = fast_error;
  held.bound = bound;
  held.why = "2-norm bounds of two transforms, the products, and the path bound of the inverse";
  held.reference = "the same sums in double-double";
  report.Bounded("convolution_middle", (*fast)[static_cast<size_t>(n - 1)], held,
                 "The middle coefficient by spectra");
  report.Exact("convolution_error", fast_error, "Largest error of the convolution by spectra");
  report.Exact("convolution_bound", bound, "The proved bound on that error");

  // One tall sample in each sequence, and tails that fall away: small coefficients beside large
  // ones.
  std::vector<double> falling;
  double value = 1;
  for (int j = 0; j < 64; ++j) {
    falling.push_back(value);
    value *= 0.5;
  }
  const std::vector<fft::DoubleDouble> tail = TrueConvolution(falling, falling);
  absl::StatusOr<std::vector<double>> spectral = fft::Convolve<double>(falling, falling, by_fft);
  if (!spectral.ok()) return spectral.status();
  absl::StatusOr<std::vector<double>> plain = fft::Convolve<double>(falling, falling, direct);
  if (!plain.ok()) return plain.status();
  Table& table = report.AddTable(
      "tails", "Relative error of each coefficient of a product whose coefficients fall");
  table.Column<int64_t>("k").Column<double>("size").Column<double>("spectra").Column<double>(
      "direct");
  double worst = 0, worst_direct = 0;
  int64_t useless = 0;
  for (size_t k = 0; k < tail.size(); ++k) {
    const double by_spectra = std::fabs(((*spectral)[k] - tail[k].hi) - tail[k].lo) / tail[k].hi;
    const double by_hand = std::fabs(((*plain)[k] - tail[k].hi) - tail[k].lo) / tail[k].hi;
    // A floor for the picture: an error of zero has no logarithm.
    table.Row(static_cast<int64_t>(k), tail[k].hi, std::max(by_spectra, 0x1p-54),
              std::max(by_hand, 0x1p-54));
    worst = std::max(worst, by_spectra);
    worst_direct = std::max(worst_direct, by_hand);
    if (by_spectra >= 1) ++useless;
  }
  report.Exact("tails_worst", worst, "Largest relative error of a coefficient by spectra");
  report.Exact("tails_direct", worst_direct,
               "Largest relative error of a coefficient by direct sums");
  report.Exact("tails_useless", useless, "Coefficients without a single right digit by spectra");
  report.Exact("tails_count", static_cast<int64_t>(tail.size()), "Coefficients of that product");
  return absl::OkStatus();
}

// A falling sequence long enough for the FFT, and what the bound on every output finds and mends.
absl::Status Checked(Context& context, Report& report) {
  const int64_t n = context.Integer("checked_n", 1024, 2048, 2048);
  std::vector<double> x;
  double value = 1;
  for (int64_t j = 0; j < n; ++j) {
    x.push_back(value);
    value *= 0.96875;
  }
  constexpr double kTolerance = 1e-9;
  const std::vector<fft::DoubleDouble> truth = TrueConvolution(x, x);
  fft::ConvolveOptions by_fft;
  by_fft.method = fft::ConvolveMethod::kFft;
  absl::StatusOr<std::vector<double>> plain = fft::Convolve<double>(x, x, by_fft);
  if (!plain.ok()) return plain.status();
  fft::CheckedOptions options;
  options.tolerance = kTolerance;
  absl::StatusOr<fft::CheckedConvolution<double>> checked =
      fft::ConvolveChecked<double>(x, x, options);
  if (!checked.ok()) return checked.status();
  Table& table = report.AddTable("checked", "Relative errors of a falling sequence's square");
  table.Column<int64_t>("k").Column<double>("size").Column<double>("fft").Column<double>("mended");
  int64_t wrong = 0, left = 0, broken = 0;
  double worst = 0;
  for (size_t k = 0; k < truth.size(); ++k) {
    const double by_spectra = std::fabs(((*plain)[k] - truth[k].hi) - truth[k].lo) / truth[k].hi;
    const double error = std::fabs((checked->values[k] - truth[k].hi) - truth[k].lo);
    const double mended = error / truth[k].hi;
    if (by_spectra > kTolerance) ++wrong;
    if (mended > kTolerance) ++left;
    if (error > checked->bounds[k]) ++broken;
    worst = std::max(worst, mended);
    // A floor for the picture: an error of zero has no logarithm.
    if (k % 16 == 0) {
      table.Row(static_cast<int64_t>(k), truth[k].hi, std::max(by_spectra, 0x1p-54),
                std::max(mended, 0x1p-54));
    }
  }
  report.Exact("checked_n", n, "Numbers in the longer falling sequence");
  report.Exact("checked_count", static_cast<int64_t>(truth.size()), "Outputs of its square");
  report.Exact("checked_tolerance", kTolerance, "Relative error asked for");
  report.Exact("checked_wrong", wrong, "Outputs that the FFT has less right than that");
  report.Exact("checked_found", checked->failed, "Outputs whose proof did not reach that far");
  report.Exact("checked_left", left, "Outputs less right than that, after mending");
  report.Exact("checked_broken", broken, "Outputs further from the truth than their bound");
  report.Exact("checked_worst", worst, "Largest relative error after mending");
  report.Exact("checked_transforms", static_cast<int64_t>(checked->transforms),
               "Transforms of slices of bits that the mending took");
  return absl::OkStatus();
}

// Flop for each output of a convolution with a filter, complex numbers, as the block grows: two
// transforms and a product for every block, of which only block - taps + 1 outputs are right.
absl::Status Blocks(Context& context, Report& report) {
  constexpr int64_t kTaps = 256;
  const int64_t most = context.Integer("block_lg_n", 13, 15, 15);
  Table& table = report.AddTable("blocks", "Operations for each output, by the block's length");
  table.Column<int64_t>("block", "samples")
      .Column<double>("in_blocks", "flop")
      .Column<double>("direct", "flop");
  const double direct = 8.0 * kTaps - 2;
  int64_t best_size = 0;
  double best = 0, last = 0;
  for (int64_t bits = 9; bits <= most; ++bits) {
    const int64_t block = int64_t{1} << bits;
    last = static_cast<double>(2 * CountRecursion(block) + 6 * block) /
           static_cast<double>(block - kTaps + 1);
    if (best_size == 0 || last < best) {
      best = last;
      best_size = block;
    }
    table.Row(block, last, direct);
    context.Progress(block, int64_t{1} << most, "counting blocks");
  }
  report.Exact("blocks_taps", kTaps, "Coefficients of the filter", "taps");
  report.Exact("blocks_direct", direct, "Operations for each output by direct sums", "flop");
  report.Exact("blocks_best", best, "Operations for each output in the cheapest blocks", "flop");
  report.Exact("blocks_best_size", best_size, "Length of the cheapest block", "samples");
  report.Exact("blocks_best_ratio", static_cast<double>(best_size) / kTaps,
               "That in lengths of the filter");
  report.Exact("blocks_longest", int64_t{1} << most, "Length of the longest block", "samples");
  report.Exact("blocks_last", last, "Operations for each output in the longest blocks", "flop");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ exact products

// The second demo's first pair of factors: by the schoolbook, and by values at eight points.
absl::Status Example(Report& report) {
  const std::vector<int64_t> a = {1, 2, 0, 3}, b = {3, 1, 4};
  absl::StatusOr<std::vector<int64_t>> school = ntt::MultiplyExactReference(a, b);
  if (!school.ok()) return school.status();
  std::vector<std::complex<double>> x(8), y(8);
  std::copy(a.begin(), a.end(), x.begin());
  std::copy(b.begin(), b.end(), y.begin());
  absl::StatusOr<std::vector<std::complex<double>>> fx = fft::Forward<double>(x),
                                                    fy = fft::Forward<double>(y);
  if (!fx.ok()) return fx.status();
  if (!fy.ok()) return fy.status();
  for (size_t k = 0; k < x.size(); ++k) {
    const std::complex<double> u = (*fx)[k], v = (*fy)[k];
    x[k] = {u.real() * v.real() - u.imag() * v.imag(), u.real() * v.imag() + u.imag() * v.real()};
  }
  absl::StatusOr<std::vector<std::complex<double>>> back = fft::Inverse<double>(x);
  if (!back.ok()) return back.status();
  Table& table = report.AddTable("example", "The product of two small polynomials, both ways");
  table.Column<int64_t>("power").Column<int64_t>("schoolbook").Column<double>("by_values");
  double worst = 0;
  for (size_t k = 0; k < school->size(); ++k) {
    table.Row(static_cast<int64_t>(k), (*school)[k], (*back)[k].real());
    worst = std::max(worst, std::fabs((*back)[k].real() - static_cast<double>((*school)[k])));
  }
  report.Exact("example_error", worst, "Largest difference between the two ways, before rounding");
  return absl::OkStatus();
}

// Random integers of up to `bits` bits, both signs.
std::vector<int64_t> Integers(Random& random, int64_t n, int bits) {
  std::vector<int64_t> x;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t size = random.Integer(int64_t{1} << bits);
    const int64_t sign = random.Integer(2);
    x.push_back(sign == 0 ? size : -size);
  }
  return x;
}

absl::Status Products(Context& context, Report& report) {
  const int64_t n = context.Integer("product_n", 128, 2048, 2048);
  Table& table = report.AddTable("rounding", "Products of two polynomials, rounded to integers");
  table.Column<int64_t>("bits")
      .Column<double>("error")
      .Column<double>("bound")
      .Column<int64_t>("wrong")
      .Column<int64_t>("exact_wrong")
      .Column<int64_t>("parts");
  int64_t first_wrong = 0, first_cut = 0, library_wrong = 0;
  fft::ConvolveOptions by_fft;
  by_fft.method = fft::ConvolveMethod::kFft;
  ntt::ExactOptions by_spectra;
  by_spectra.route = ntt::ExactRoute::kFft;
  for (int bits = 8; bits <= 25; ++bits) {
    Random random(context.seed(), static_cast<uint64_t>(300 + bits));
    const std::vector<int64_t> a = Integers(random, n, bits), b = Integers(random, n, bits);
    absl::StatusOr<std::vector<int64_t>> truth = ntt::MultiplyExactReference(a, b);
    if (!truth.ok()) return truth.status();
    const std::vector<double> x(a.begin(), a.end()), y(b.begin(), b.end());
    absl::StatusOr<std::vector<double>> product = fft::Convolve<double>(x, y, by_fft);
    if (!product.ok()) return product.status();
    absl::StatusOr<ntt::IntegerProduct> exact = ntt::MultiplyExact(a, b, by_spectra);
    if (!exact.ok()) return exact.status();
    double error = 0;
    int64_t wrong = 0, exact_wrong = 0;
    for (size_t k = 0; k < truth->size(); ++k) {
      const double v = (*product)[k];
      const int64_t rounded = static_cast<int64_t>(v < 0 ? v - 0.5 : v + 0.5);
      const int64_t whole = static_cast<int64_t>(v);
      // v = whole + fraction, and whole - truth is small: the error without a large difference.
      error = std::max(error, std::fabs(static_cast<double>(whole - (*truth)[k]) +
                                        (v - static_cast<double>(whole))));
      if (rounded != (*truth)[k]) ++wrong;
      if (exact->coefficients[k] != (*truth)[k]) ++exact_wrong;
    }
    table.Row(static_cast<int64_t>(bits), error, fft::ConvolveErrorBound<double>(x, y), wrong,
              exact_wrong, static_cast<int64_t>(exact->parts));
    library_wrong += exact_wrong;
    if (wrong > 0 && first_wrong == 0) first_wrong = bits;
    if (exact->parts > 1 && first_cut == 0) first_cut = bits;
    context.Progress(bits - 7, 18, "multiplying polynomials");
  }
  report.Exact("product_length", n, "Coefficients of each factor");
  report.Exact("first_wrong_bits", first_wrong,
               "Bits a coefficient where plain rounding first goes wrong", "bits");
  report.Exact("first_cut_bits", first_cut,
               "Bits a coefficient where the library first cuts its operands", "bits");
  report.Exact("library_wrong", library_wrong,
               "Wrong coefficients of the library, all products together");
  return absl::OkStatus();
}

// One product of long polynomials, made in every way that there is.
absl::Status Routes(Context& context, Report& report) {
  const int64_t n = context.Integer("routes_n", 256, 3000, 3000);
  constexpr int kBits = 24;
  Random random(context.seed(), 400);
  const std::vector<int64_t> a = Integers(random, n, kBits), b = Integers(random, n, kBits);
  std::vector<ntt::IntegerProduct> products;
  for (ntt::ExactRoute route :
       {ntt::ExactRoute::kSchoolbook, ntt::ExactRoute::kFft, ntt::ExactRoute::kNtt}) {
    ntt::ExactOptions options;
    options.route = route;
    absl::StatusOr<ntt::IntegerProduct> product = ntt::MultiplyExact(a, b, options);
    if (!product.ok()) return product.status();
    products.push_back(*std::move(product));
  }
  const bool equal = products[0].coefficients == products[1].coefficients &&
                     products[0].coefficients == products[2].coefficients;
  report.Exact("routes_n", n, "Coefficients of each factor, made in three ways");
  report.Exact("routes_bits", int64_t{kBits}, "Bits of a coefficient", "bits");
  report.Exact("routes_parts", static_cast<int64_t>(products[1].parts),
               "Parts that the FFT cut each factor into");
  report.Exact("routes_primes", static_cast<int64_t>(products[2].primes),
               "Primes that the number-theoretic transform took");
  report.Exact("routes_prime", int64_t{998244353}, "One of those primes: 119 * 2^23 + 1");
  report.Exact("routes_equal", equal, "All three ways give the same coefficients");
  return absl::OkStatus();
}

// [region digits]
// A number as decimal digits in groups of four, lowest first: a polynomial at x = 10^4.
constexpr int64_t kBase = 10000;

// Lets each group keep what is below 10^4 and hands the rest on.
std::vector<int64_t> Carry(const std::vector<int64_t>& c) {
  std::vector<int64_t> digits;
  int64_t carry = 0;
  for (int64_t v : c) {
    carry += v;
    digits.push_back(carry % kBase);
    carry /= kBase;
  }
  for (; carry > 0; carry /= kBase) digits.push_back(carry % kBase);
  while (digits.size() > 1 && digits.back() == 0) digits.pop_back();
  return digits;
}
// [end digits]

std::string Decimal(const std::vector<int64_t>& groups) {
  std::string text;
  for (size_t i = groups.size(); i-- > 0;) {
    std::string part = absl::StrCat(groups[i]);
    if (i + 1 < groups.size()) part.insert(0, 4 - part.size(), '0');
    text += part;
  }
  return text;
}

absl::Status BigNumbers(Context& context, Report& report) {
  // 3^(2^s) by squaring, once with spectra and once by the schoolbook.
  const int64_t squarings = context.Integer("squarings", 9, 15, 15);
  std::vector<int64_t> fast = {3}, slow = {3};
  int64_t schoolbook_products = 0, parts = 0;
  double bound = 0;
  ntt::ExactOptions by_spectra;
  by_spectra.route = ntt::ExactRoute::kFft;
  for (int64_t s = 0; s < squarings; ++s) {
    absl::StatusOr<ntt::IntegerProduct> square = ntt::MultiplyExact(fast, fast, by_spectra);
    if (!square.ok()) return square.status();
    parts = square->parts;
    bound = square->error_bound;
    fast = Carry(square->coefficients);
    absl::StatusOr<std::vector<int64_t>> twin = ntt::MultiplyExactReference(slow, slow);
    if (!twin.ok()) return twin.status();
    schoolbook_products += static_cast<int64_t>(slow.size()) * static_cast<int64_t>(slow.size());
    slow = Carry(*twin);
    context.Progress(s + 1, squarings, "squaring a power of three");
  }
  const std::string text = Decimal(fast);
  report.Exact("power_exponent", int64_t{1} << squarings, "Exponent of the power of three");
  report.Exact("power_digits", static_cast<int64_t>(text.size()), "Its decimal digits", "digits");
  report.Exact("power_first", text.substr(0, 12), "Its first digits");
  report.Exact("power_last", text.substr(text.size() - std::min<size_t>(12, text.size())),
               "Its last digits");
  report.Exact("power_sha", Sha256Hex(text), "SHA-256 of its digits");
  report.Exact("power_equal", fast == slow, "Spectra and schoolbook give the same digits");
  report.Exact("power_products", schoolbook_products,
               "Products of digit groups the schoolbook takes");
  report.Exact("power_parts", parts, "Parts that the last square was cut into");
  report.Exact("power_bound", bound, "Proved error before rounding in the last square");
  return absl::OkStatus();
}

// ------------------------------------------------------------------ stripes in photographs

constexpr int64_t kSide = 28;

absl::Status Stripes(Context& context, Report& report) {
  absl::StatusOr<std::vector<uint8_t>> pixels = context.Data("garments");
  if (!pixels.ok()) return pixels.status();
  const int64_t available = static_cast<int64_t>(pixels->size()) / (kSide * kSide);
  const int64_t count = std::min(available, context.Integer("garments", 50, 1000, 1000));
  absl::StatusOr<fft::RealPlan<double>> plan = fft::RealPlan<double>::Create(kSide);
  if (!plan.ok()) return plan.status();
  std::vector<double> scratch(static_cast<size_t>(plan->scratch_size()));
  std::vector<std::complex<double>> spectrum(static_cast<size_t>(plan->spectrum_size()));
  double best_share = -1;
  int64_t best_garment = 0, best_turns = 0;
  std::vector<double> best_profile, best_energy;
  double kept_sum = 0;
  for (int64_t g = 0; g < count; ++g) {
    // Brightness row by row, the mean taken off.
    std::vector<double> profile;
    int64_t total = 0;
    for (int64_t row = 0; row < kSide; ++row) {
      int64_t sum = 0;
      for (int64_t column = 0; column < kSide; ++column) {
        sum += (*pixels)[static_cast<size_t>((g * kSide + row) * kSide + column)];
      }
      total += sum;
      profile.push_back(static_cast<double>(sum) / kSide);
    }
    const double mean = static_cast<double>(total) / (kSide * kSide);
    for (double& v : profile) v -= mean;
    absl::Status status = plan->Forward(profile, spectrum, scratch);
    if (!status.ok()) return status;
    std::vector<double> energy;
    double all = 0;
    for (size_t k = 0; k < spectrum.size(); ++k) {
      const double once = 2 * k == static_cast<size_t>(kSide) ? 1 : 2;
      energy.push_back(k == 0 ? 0
                              : once * (spectrum[k].real() * spectrum[k].real() +
                                        spectrum[k].imag() * spectrum[k].imag()));
      all += energy.back();
    }
    if (!(all > 0)) continue;
    // Stripes: a needle of five turns or more that stands out. Fewer turns are the garment's shape.
    for (size_t k = 5; k < energy.size(); ++k) {
      if (energy[k] / all > best_share) {
        best_share = energy[k] / all;
        best_garment = g;
        best_turns = static_cast<int64_t>(k);
        best_profile = profile;
        best_energy = energy;
      }
    }
    std::vector<double> sorted = energy;
    // A total order on energies: none is NaN, and equal numbers are the same number.
    std::sort(sorted.begin(), sorted.end(), [](double a, double b) { return a > b; });
    kept_sum += (sorted[0] + sorted[1] + sorted[2] + sorted[3]) / all;
  }
  Table& rows =
      report.AddTable("stripes_rows", "Brightness of the most striped garment, row by row");
  rows.Column<int64_t>("row").Column<double>("brightness", "grey levels");
  for (int64_t row = 0; row < kSide; ++row) rows.Row(row, best_profile[static_cast<size_t>(row)]);
  Table& table = report.AddTable("stripes", "Energy of each needle in that profile");
  table.Column<int64_t>("turns").Column<double>("share");
  double all = 0;
  for (double e : best_energy) all += e;
  for (size_t k = 1; k < best_energy.size(); ++k) {
    table.Row(static_cast<int64_t>(k), best_energy[k] / all);
  }
  report.Exact("stripes_count", count, "Garments looked at");
  report.Exact("stripes_garment", best_garment, "Number of the most striped garment, from 0");
  report.Exact("stripes_turns", best_turns,
               "Turns of its strongest needle over the picture's rows");
  report.Exact("stripes_period", static_cast<double>(kSide) / static_cast<double>(best_turns),
               "Rows from stripe to stripe", "rows");
  report.Exact("stripes_share", best_share, "Share of the profile's energy in that needle");
  report.Exact("stripes_rows_count", kSide, "Rows of a picture", "rows");
  report.Exact("kept_needles", int64_t{4}, "Needles kept of each profile");
  report.Exact("all_needles", kSide / 2, "Needles of a profile");
  report.Exact("kept_share", kept_sum / static_cast<double>(count),
               "Share of a profile's energy in its strongest four needles, mean over the garments");
  return absl::OkStatus();
}

absl::Status Run(Context& context, Report& report) {
  Work(context, report);
  for (absl::Status status :
       {Errors(context, report), Mixture(report), Leakage(report), Convolution(context, report),
        Checked(context, report), Blocks(context, report), Example(report),
        Products(context, report), Routes(context, report), BigNumbers(context, report),
        Stripes(context, report)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// ------------------------------------------------------------------ timings

// FFTW where this machine has it, found when it is asked for: nothing of ours links with it.
class Fftw {
 public:
  explicit Fftw(std::vector<std::complex<double>> x) : x_(std::move(x)), y_(x_.size()) {
#if !defined(__EMSCRIPTEN__)
    void* const library = dlopen("libfftw3.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    using Prepare = void* (*)(int, void*, void*, int, unsigned);
    const Prepare prepare = reinterpret_cast<Prepare>(dlsym(library, "fftw_plan_dft_1d"));
    execute_ = reinterpret_cast<void (*)(void*)>(dlsym(library, "fftw_execute"));
    if (prepare == nullptr || execute_ == nullptr) return;
    const std::vector<std::complex<double>> kept = x_;
    // Forward (-1), planned as patiently as FFTW offers short of trying everything (32).
    plan_ = prepare(static_cast<int>(x_.size()), x_.data(), y_.data(), -1, 32);
    std::copy(kept.begin(), kept.end(), x_.begin());  // planning overwrote it
#endif
  }
  bool found() const { return plan_ != nullptr; }
  void Run() const { execute_(plan_); }
  const std::vector<std::complex<double>>& result() const { return y_; }

 private:
  std::vector<std::complex<double>> x_, y_;
  void (*execute_)(void*) = nullptr;
  void* plan_ = nullptr;
};

absl::Status Measure(lab::MeasureContext& context, lab::Measurements& measurements) {
  for (int64_t n : {256, 1000, 4096, 65536}) {
    Random random(context.seed(), 9);
    std::vector<std::complex<double>> x;
    for (int64_t j = 0; j < n; ++j) {
      const double re = random.Normal();
      const double im = random.Normal();
      x.push_back({re, im});
    }
    absl::StatusOr<fft::Plan<double>> plan = fft::Plan<double>::Create(n);
    if (!plan.ok()) return plan.status();
    std::vector<std::complex<double>> fast(x.size()), slow;
    std::vector<double> scratch(static_cast<size_t>(plan->scratch_size()));
    std::vector<Complex<double>> copy, taught;
    for (std::complex<double> v : x) copy.push_back({v.real(), v.imag()});
    const std::vector<Complex<double>> roots = GoodRoots(n);
    const std::vector<fft::ComplexDoubleDouble> truth = fft::DftOracle(x);
    auto right = [&truth](std::span<const std::complex<double>> y) {
      const double error = fft::RelativeL2Error(y, truth);
      return error < 1e-12 ? absl::OkStatus()
                           : absl::InternalError(absl::StrCat("relative error ", error));
    };
    const double lg = Log(static_cast<double>(n)) / Log(2.0);
    const double size = static_cast<double>(n);
    std::vector<lab::Variant> variants;
    auto add = [&](absl::string_view id, absl::string_view title, double flops,
                   std::function<void()> run, std::function<absl::Status()> check) {
      lab::Variant variant;
      variant.id = absl::StrCat(id, "_", n);
      variant.title = std::string(title);
      variant.run = std::move(run);
      variant.check = std::move(check);
      variant.flops = flops;
      variants.push_back(std::move(variant));
    };
    if (n <= 4096) {
      add(
          "definition", "The definition", 8 * size * size,
          [&] { slow = fft::DftReference<double>(x); }, [&] { return right(slow); });
    }
    if ((n & (n - 1)) == 0) {
      add("recursion", "The recursion of this article", 5 * size * lg,
          [&] { taught = Recursion(copy, roots); }, {});
    }
    add(
        "library", "The library, with a plan", 5 * size * lg,
        [&] { lab::KeepResult(plan->Forward(x, fast, scratch).ok()); },
        [&] { return right(fast); });
    const Fftw peer(x);
    if (peer.found()) {
      add(
          "fftw", "FFTW 3, planned patiently", 5 * size * lg, [&] { peer.Run(); },
          [&] { return right(peer.result()); });
    }
    absl::Status status = measurements.Compare(
        context, absl::StrCat("transform_", n),
        absl::StrCat("One complex transform of ", n, " samples, f64"), variants);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

ASSAY_LAB(fft, {.title = "The FFT from scratch", .run = &Run, .measure = &Measure});

}  // namespace
}  // namespace assay::fft_article
