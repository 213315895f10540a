// SPDX-License-Identifier: Apache-2.0
#include "numerics/fft/fft.h"

#include <functional>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "numerics/core/check.h"
#include "numerics/core/elementary.h"
#include "numerics/fft/internal/passes.h"

namespace assay::fft {
namespace internal {

// A pass and where its twiddles begin.
struct PassInfo {
  int radix;
  int64_t m;
  int64_t stride;
  int64_t twiddle_offset;  // into PlanTables::twiddles
};

template <class T>
struct PlanTables {
  int64_t n = 0;
  std::vector<PassInfo> passes;
  // Pass after pass, for j = 1..radix-1: m real parts of w^(j p), p = 0..m-1, then m imaginary
  // parts. The last pass (m = 1) needs none.
  std::unique_ptr<T[]> twiddles;
  // cos and sin(2 pi j / R) for R = 3, 5, 7, 11, 13, at RootsOffset(R).
  T cosines[40];
  T sines[40];
  T half_root;  // sqrt(1/2)
  double l2_bound = 0;
  double path_bound = 0;
  // Bluestein: the transform of length M, the chirp exp(-i pi j^2 / n) and the transform of its
  // conjugate, divided by M; both interleaved.
  std::unique_ptr<const PlanTables<T>> inner;
  std::unique_ptr<T[]> chirp;
  std::unique_ptr<T[]> kernel;
};

namespace {

constexpr int kOddRadices[] = {3, 5, 7, 11, 13};

constexpr int RootsOffset(int radix) {
  return radix == 3 ? 0 : radix == 5 ? 3 : radix == 7 ? 8 : radix == 11 ? 15 : 26;
}

template <class T>
constexpr double UnitRoundoff() {
  return static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
}

template <class T>
std::unique_ptr<T[]> Allocate(int64_t count) {
  if (count > static_cast<int64_t>(std::numeric_limits<ptrdiff_t>::max() / sizeof(T)))
    return nullptr;
  return std::unique_ptr<T[]>(new (std::nothrow) T[static_cast<size_t>(count)]);
}

// All n-th roots of unity from few evaluations of sine and cosine.
template <class T>
class RootTable {
 public:
  // Fails (returns false) without memory.
  bool Fill(int64_t n) {
    n_ = n;
    const int64_t count = n % 8 == 0 ? n / 8 + 1 : n / 2 + 1;
    values_ = Allocate<std::complex<T>>(count);
    if (values_ == nullptr) return false;
    for (int64_t k = 0; k < count; ++k) values_[k] = UnitRoot<T>(k, n);
    return true;
  }

  // exp(-2 pi i k / n) for 0 <= k < n: the bits of UnitRoot(k, n).
  std::complex<T> operator[](int64_t k) const {
    const bool lower = 2 * k <= n_;
    if (!lower) k = n_ - k;
    std::complex<T> w;
    if (n_ % 8 != 0) {
      w = values_[k];
    } else {
      // The octants of the lower half turn, as UnitRoot folds them.
      const bool left = 4 * k > n_;
      if (left) k = n_ / 2 - k;
      const bool steep = 8 * k > n_;
      if (steep) k = n_ / 4 - k;
      w = values_[k];
      if (steep) w = {-w.imag(), -w.real()};
      if (left) w = {-w.real(), w.imag()};
    }
    return lower ? w : std::complex<T>(w.real(), -w.imag());
  }

 private:
  int64_t n_ = 0;
  std::unique_ptr<std::complex<T>[]> values_;
};

// The radices for n, in the order of the passes; empty if n has a prime factor above 13 (or is 1).
// 4 first: its outputs interleave in registers, and the passes after it find vectors to fill. One 8
// last where the number of twos is odd: it saves a pass, and needs no twiddles there.
std::vector<int> Factor(int64_t n) {
  std::vector<int> radices;
  int twos = 0;
  while (n % 2 == 0) {
    n /= 2;
    ++twos;
  }
  int eights = twos % 2 == 1 && twos >= 3 ? 1 : 0;
  if (twos % 2 == 0 && twos >= 10 && twos <= 12) eights = 2;
  twos -= 3 * eights;
  for (; twos >= 2; twos -= 2) radices.push_back(4);
  if (twos == 1) radices.push_back(2);
  for (int radix : kOddRadices) {
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  }
  for (; eights > 0; --eights) radices.push_back(8);
  if (n != 1) radices.clear();
  return radices;
}

bool IsSmooth(int64_t n) {
  for (int p : {2, 3, 5, 7, 11, 13}) {
    while (n % p == 0) n /= p;
  }
  return n == 1;
}

template <class T>
Pass<T> MakePass(const PlanTables<T>& t, const PassInfo& info) {
  const int roots = info.radix % 2 == 1 ? RootsOffset(info.radix) : 0;
  return {info.radix,        info.m,          info.stride, t.twiddles.get() + info.twiddle_offset,
          t.cosines + roots, t.sines + roots, t.half_root};
}

// The n-point transform of interleaved `in` into interleaved `out` (the same memory or disjoint).
// The backward transform is conj(F(conj(x))); both conjugations ride on the first and the last
// pass.
//   scratch: 4n.
template <class T>
void TransformSmooth(const PlanTables<T>& t, const T* in, T* out, T* scratch, bool backward) {
  const int64_t n = t.n;
  const T conjugate = backward ? T{-1} : T{1};
  const int count = static_cast<int>(t.passes.size());
  if (count == 0) {  // n = 1
    const T re = in[0], im = in[1];
    out[0] = re;
    out[1] = im;
    return;
  }
  if (count == 1) {
    // One butterfly, which reads everything before it writes: safe in place.
    RunPass(MakePass(t, t.passes[0]), {Layout::kInterleaved, in, nullptr},
            {Layout::kInterleaved, out, nullptr}, conjugate);
    return;
  }
  // Between the passes the numbers are split: n real parts, then n imaginary parts. The last pass
  // must not read `out`; before it `out` serves as the second buffer, except where the first pass
  // would overwrite its own input.
  T* first = scratch;
  T* second = (in == out && count % 2 == 1) ? scratch + 2 * n : out;
  auto buffer_after = [&](int pass) { return (count - 2 - pass) % 2 == 0 ? first : second; };
  T* to = buffer_after(0);
  RunPass(MakePass(t, t.passes[0]), {Layout::kInterleaved, in, nullptr},
          {Layout::kSplit, to, to + n}, conjugate);
  for (int i = 1; i < count - 1; ++i) {
    const T* from = to;
    to = buffer_after(i);
    RunPass(MakePass(t, t.passes[i]), {Layout::kSplit, from, from + n},
            {Layout::kSplit, to, to + n}, conjugate);
  }
  RunPass(MakePass(t, t.passes[count - 1]), {Layout::kSplit, to, to + n},
          {Layout::kInterleaved, out, nullptr}, conjugate);
}

// Bluestein: jk = (j^2 + k^2 - (k - j)^2) / 2 turns the transform into a convolution with a chirp,
// X[k] = c[k] sum over j of (x[j] c[j]) conj(c[k - j]), which a smooth length M >= 2n - 1 does.
//   scratch: 6M.
template <class T>
void TransformBluestein(const PlanTables<T>& t, const T* in, T* out, T* scratch, bool backward) {
  const int64_t n = t.n, m = t.inner->n;
  T* work = scratch;
  T* inner_scratch = scratch + 2 * m;
  const int re = backward ? 1 : 0, im = backward ? 0 : 1;
  const T* c = t.chirp.get();
  for (int64_t j = 0; j < n; ++j) {
    const T xr = in[2 * j + re], xi = in[2 * j + im], cr = c[2 * j], ci = c[2 * j + 1];
    work[2 * j] = xr * cr - xi * ci;
    work[2 * j + 1] = xr * ci + xi * cr;
  }
  for (int64_t j = 2 * n; j < 2 * m; ++j) work[j] = 0;
  TransformSmooth(*t.inner, work, work, inner_scratch, false);
  const T* b = t.kernel.get();
  for (int64_t k = 0; k < m; ++k) {
    const T ar = work[2 * k], ai = work[2 * k + 1], br = b[2 * k], bi = b[2 * k + 1];
    work[2 * k] = ar * br - ai * bi;
    work[2 * k + 1] = ar * bi + ai * br;
  }
  TransformSmooth(*t.inner, work, work, inner_scratch, true);
  for (int64_t k = 0; k < n; ++k) {
    const T yr = work[2 * k], yi = work[2 * k + 1], cr = c[2 * k], ci = c[2 * k + 1];
    out[2 * k + re] = yr * cr - yi * ci;
    out[2 * k + im] = yr * ci + yi * cr;
  }
}

template <class T>
void Transform(const PlanTables<T>& t, const T* in, T* out, T* scratch, bool backward) {
  if (t.inner != nullptr) return TransformBluestein(t, in, out, scratch, backward);
  TransformSmooth(t, in, out, scratch, backward);
}

template <class T>
int64_t ScratchSize(const PlanTables<T>& t) {
  return t.inner != nullptr ? 6 * t.inner->n : 4 * t.n;
}

absl::Status NoMemory(int64_t n) {
  return absl::ResourceExhaustedError(
      absl::StrCat("fft: no memory for the tables of a transform of length ", n));
}

// Tables of a smooth length. Null without memory.
template <class T>
std::unique_ptr<PlanTables<T>> MakeSmooth(int64_t n) {
  auto t = std::make_unique<PlanTables<T>>();
  t->n = n;
  const std::vector<int> radices = Factor(n);
  int64_t total = 0;
  int64_t stride = 1;
  const double u = UnitRoundoff<T>();
  // A twiddle product: sqrt(5) u for the product, 3 u for the factor (components within 1.5 ulp).
  const double kTwiddleUnits = 5.2361;
  double l2 = 0, path = 0;
  for (size_t i = 0; i < radices.size(); ++i) {
    const int radix = radices[i];
    const int64_t m = n / stride / radix;
    t->passes.push_back({radix, m, stride, total});
    if (m > 1) total += 2 * m * (radix - 1);
    stride *= radix;
    // In the 2-norm 2, 4 and 8 are products of unitary steps, so their units carry over; an odd
    // radix is bounded through the 1-norm, hence sqrt(radix).
    const double units = PathUnits(radix);
    double root = 1;
    if (radix % 2 == 1) {
      while (root * root < radix) root += 0.001;
    }
    const double twiddle_units = m > 1 ? kTwiddleUnits : 0;
    l2 += units * root + twiddle_units;
    path += units + twiddle_units;
  }
  // Products of (1 + units u) over the passes; 1.01 pays for the terms of second order while the
  // sum is below a hundredth, which it is for every length up to kMaxSize.
  t->l2_bound = 1.01 * l2 * u;
  t->path_bound = 1.01 * path * u;
  t->half_root = static_cast<T>(0.70710678118654752440);
  for (int radix : kOddRadices) {
    for (int j = 0; j < radix; ++j) {
      const std::complex<T> w = UnitRoot<T>(j, radix);
      t->cosines[RootsOffset(radix) + j] = w.real();
      t->sines[RootsOffset(radix) + j] = -w.imag();
    }
  }
  t->cosines[39] = t->sines[39] = 0;
  t->twiddles = Allocate<T>(total);
  RootTable<T> roots;
  if (t->twiddles == nullptr || !roots.Fill(n)) return nullptr;
  for (const PassInfo& pass : t->passes) {
    if (pass.m == 1) continue;
    T* to = t->twiddles.get() + pass.twiddle_offset;
    for (int j = 1; j < pass.radix; ++j) {
      for (int64_t p = 0; p < pass.m; ++p) {
        const std::complex<T> w = roots[j * p * pass.stride];
        to[2 * pass.m * (j - 1) + p] = w.real();
        to[2 * pass.m * (j - 1) + pass.m + p] = w.imag();
      }
    }
  }
  return t;
}

template <class T>
std::unique_ptr<PlanTables<T>> MakeBluestein(int64_t n) {
  auto t = std::make_unique<PlanTables<T>>();
  t->n = n;
  const int64_t m = GoodSize(2 * n - 1);
  t->inner = MakeSmooth<T>(m);
  t->chirp = Allocate<T>(2 * n);
  t->kernel = Allocate<T>(2 * m);
  // The kernel is made in double whatever T is: for float it is then as good as rounded correctly.
  std::unique_ptr<PlanTables<double>> wide = MakeSmooth<double>(m);
  std::unique_ptr<double[]> b = Allocate<double>(2 * m);
  std::unique_ptr<double[]> scratch = Allocate<double>(4 * m);
  if (t->inner == nullptr || t->chirp == nullptr || t->kernel == nullptr || wide == nullptr ||
      b == nullptr || scratch == nullptr) {
    return nullptr;
  }
  for (int64_t j = 0; j < 2 * m; ++j) b[j] = 0;
  // j^2 mod 2n, by (j + 1)^2 = j^2 + 2j + 1: exact where a product in floating point would not be.
  int64_t square = 0;
  for (int64_t j = 0; j < n; ++j) {
    const std::complex<double> w = UnitRoot<double>(square, 2 * n);
    t->chirp[2 * j] = static_cast<T>(w.real());
    t->chirp[2 * j + 1] = static_cast<T>(w.imag());
    b[2 * j] = w.real();
    b[2 * j + 1] = -w.imag();
    if (j > 0) {
      b[2 * (m - j)] = w.real();
      b[2 * (m - j) + 1] = -w.imag();
    }
    square = (square + 2 * j + 1) % (2 * n);
  }
  TransformSmooth<double>(*wide, b.get(), b.get(), scratch.get(), false);
  for (int64_t k = 0; k < 2 * m; ++k) t->kernel[k] = static_cast<T>(b[k] / static_cast<double>(m));
  double log2n = 1;
  while ((int64_t{1} << static_cast<int>(log2n)) < n) log2n += 1;
  t->l2_bound = 12 * UnitRoundoff<T>() * log2n;
  t->path_bound = std::numeric_limits<double>::infinity();
  return t;
}

bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const std::less<const char*> before;
  const char* ca = static_cast<const char*>(a);
  const char* cb = static_cast<const char*>(b);
  return before(ca, cb + b_bytes) && before(cb, ca + a_bytes);
}

// The checks that all transforms share. Sizes in elements, `*_bytes` the size of one.
absl::Status CheckBuffers(const void* in, int64_t in_size, int64_t in_bytes, int64_t want_in,
                          const void* out, int64_t out_size, int64_t out_bytes, int64_t want_out,
                          const void* scratch, int64_t scratch_size, int64_t scratch_bytes,
                          int64_t want_scratch, bool in_place_allowed) {
  if (in_size != want_in) {
    return absl::InvalidArgumentError(
        absl::StrCat("fft: the input has ", in_size, " elements, the plan expects ", want_in));
  }
  if (out_size != want_out) {
    return absl::InvalidArgumentError(
        absl::StrCat("fft: the output has ", out_size, " elements, the plan expects ", want_out));
  }
  if (scratch_size < want_scratch) {
    return absl::InvalidArgumentError(absl::StrCat("fft: the scratch has ", scratch_size,
                                                   " elements, the plan expects at least ",
                                                   want_scratch));
  }
  in_bytes *= in_size;
  out_bytes *= out_size;
  scratch_bytes *= scratch_size;
  if (Overlap(in, in_bytes, out, out_bytes) && !(in_place_allowed && in == out)) {
    return absl::InvalidArgumentError(
        in_place_allowed
            ? "fft: input and output overlap in part; expected the same memory or disjoint memory"
            : "fft: input and output overlap; expected disjoint memory");
  }
  if (Overlap(scratch, scratch_bytes, in, in_bytes) ||
      Overlap(scratch, scratch_bytes, out, out_bytes)) {
    return absl::InvalidArgumentError(
        "fft: the scratch overlaps the input or the output; expected memory of its own");
  }
  return absl::OkStatus();
}

template <class T>
void Divide(T* values, int64_t count, int64_t n) {
  // A division, not a product with 1/n: one rounding less, and exact for powers of two either way.
  const T divisor = static_cast<T>(n);
  for (int64_t j = 0; j < count; ++j) values[j] /= divisor;
}

}  // namespace
}  // namespace internal

template <class T>
std::complex<T> UnitRoot(int64_t k, int64_t n) {
  ASSAY_CHECK(n >= 1 && n <= 2 * kMaxSize);
  k %= n;
  if (k < 0) k += n;
  // t / (8n) of a turn, folded into the first octant; exact, in integers.
  int64_t t = 8 * k;
  const bool upper = t > 4 * n;  // past the half turn: sin(2 pi k / n) < 0
  if (upper) t = 8 * n - t;
  const bool left = t > 2 * n;
  if (left) t = 4 * n - t;
  const bool steep = t > n;
  if (steep) t = 2 * n - t;
  // The angle is pi * t / (4n) in [0, pi/4]; as a quotient x plus what its rounding lost.
  const double num = static_cast<double>(t), den = static_cast<double>(4 * n);
  const double x = num / den;
  // x * den exactly, by Dekker's product: 2^27 + 1 splits both into halves of 26 bits.
  const double xs = x * 134217729.0, ds = den * 134217729.0;
  const double x1 = xs - (xs - x), d1 = ds - (ds - den);
  const double x2 = x - x1, d2 = den - d1;
  const double product = x * den;
  const double low = ((x1 * d1 - product) + x1 * d2 + x2 * d1) + x2 * d2;
  const double rest = 3.141592653589793 * (((num - product) - low) / den);
  double s, c;
  SinCosPi(x, &s, &c);
  double sine = s + rest * c;
  double cosine = c - rest * s;
  if (steep) std::swap(sine, cosine);
  if (left) cosine = -cosine;
  if (upper) sine = -sine;
  return {static_cast<T>(cosine), static_cast<T>(-sine)};
}

int64_t GoodSize(int64_t n) {
  ASSAY_CHECK(n >= 1);
  // Cost of a length: it times the sum over its radices of flop a point (2: 5, 3: 8, 4: 8.5, 5:
  // 13), measured against each other on the passes here.
  int64_t best = 0;
  double best_cost = 0;
  for (int64_t fives = 1; fives < 2 * n; fives *= 5) {
    for (int64_t threes = fives; threes < 2 * n; threes *= 3) {
      for (int64_t size = threes; size < 2 * n; size *= 2) {
        if (size < n) continue;
        double cost = 0;
        for (int radix : internal::Factor(size)) {
          cost += radix == 2 ? 5 : radix == 3 ? 8 : radix == 4 ? 8.5 : radix == 8 ? 13 : 13;
        }
        cost *= static_cast<double>(size);
        if (best == 0 || cost < best_cost || (cost == best_cost && size < best)) {
          best = size;
          best_cost = cost;
        }
      }
    }
  }
  return best;
}

template <class T>
Plan<T>::Plan(std::unique_ptr<const internal::PlanTables<T>> tables) : tables_(std::move(tables)) {}
template <class T>
Plan<T>::Plan(Plan&&) noexcept = default;
template <class T>
Plan<T>& Plan<T>::operator=(Plan&&) noexcept = default;
template <class T>
Plan<T>::~Plan() = default;

template <class T>
absl::StatusOr<Plan<T>> Plan<T>::Create(int64_t n) {
  if (n < 1 || n > kMaxSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("fft: a transform of length ", n, " was asked for, expected 1 to ", kMaxSize));
  }
  std::unique_ptr<internal::PlanTables<T>> tables =
      internal::IsSmooth(n) ? internal::MakeSmooth<T>(n) : internal::MakeBluestein<T>(n);
  if (tables == nullptr) return internal::NoMemory(n);
  return Plan(std::move(tables));
}

template <class T>
int64_t Plan<T>::size() const {
  return tables_->n;
}

template <class T>
int64_t Plan<T>::scratch_size() const {
  return internal::ScratchSize(*tables_);
}

template <class T>
double Plan<T>::L2ErrorBound() const {
  return tables_->l2_bound;
}

template <class T>
double Plan<T>::PathErrorBound() const {
  return tables_->path_bound;
}

template <class T>
bool Plan<T>::uses_bluestein() const {
  return tables_->inner != nullptr;
}

template <class T>
std::string Plan<T>::Describe() const {
  std::string text;
  const internal::PlanTables<T>* t = tables_.get();
  if (t->inner != nullptr) {
    text = absl::StrCat("bluestein ", t->n, " through ", t->inner->n, ": ");
    t = t->inner.get();
  }
  if (t->passes.empty()) absl::StrAppend(&text, "1");
  for (size_t i = 0; i < t->passes.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : "x", t->passes[i].radix);
  }
  return text;
}

namespace {

template <class T>
absl::Status Check(const Plan<T>& plan, std::span<const std::complex<T>> in,
                   std::span<std::complex<T>> out, std::span<T> scratch) {
  return internal::CheckBuffers(in.data(), in.size(), sizeof(in[0]), plan.size(), out.data(),
                                out.size(), sizeof(out[0]), plan.size(), scratch.data(),
                                scratch.size(), sizeof(T), plan.scratch_size(), true);
}

// std::complex<T> is, by the standard, an array of two T.
template <class T>
const T* Parts(std::span<const std::complex<T>> x) {
  return reinterpret_cast<const T*>(x.data());
}
template <class T>
T* Parts(std::span<std::complex<T>> x) {
  return reinterpret_cast<T*>(x.data());
}

}  // namespace

template <class T>
absl::Status Plan<T>::Forward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                              std::span<T> scratch) const {
  absl::Status status = Check(*this, in, out, scratch);
  if (status.ok()) internal::Transform(*tables_, Parts(in), Parts(out), scratch.data(), false);
  return status;
}

template <class T>
absl::Status Plan<T>::Backward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                               std::span<T> scratch) const {
  absl::Status status = Check(*this, in, out, scratch);
  if (status.ok()) internal::Transform(*tables_, Parts(in), Parts(out), scratch.data(), true);
  return status;
}

template <class T>
absl::Status Plan<T>::Inverse(std::span<const std::complex<T>> in, std::span<std::complex<T>> out,
                              std::span<T> scratch) const {
  absl::Status status = Backward(in, out, scratch);
  if (status.ok()) internal::Divide(Parts(out), 2 * size(), size());
  return status;
}

template <class T>
RealPlan<T>::RealPlan(int64_t n, Plan<T> plan, std::vector<T> twiddles)
    : n_(n), plan_(std::move(plan)), twiddles_(std::move(twiddles)) {}
template <class T>
RealPlan<T>::RealPlan(RealPlan&&) noexcept = default;
template <class T>
RealPlan<T>& RealPlan<T>::operator=(RealPlan&&) noexcept = default;
template <class T>
RealPlan<T>::~RealPlan() = default;

template <class T>
absl::StatusOr<RealPlan<T>> RealPlan<T>::Create(int64_t n) {
  const bool even = n > 0 && n % 2 == 0;
  if (n > kMaxSize) n = kMaxSize + 1;  // so that half of it is refused as well
  absl::StatusOr<Plan<T>> plan = Plan<T>::Create(even && n <= kMaxSize ? n / 2 : n);
  if (!plan.ok()) return plan.status();
  std::vector<T> twiddles;
  if (even) {
    for (int64_t k = 0; k <= n / 4; ++k) {
      const std::complex<T> w = UnitRoot<T>(k, n);
      twiddles.push_back(w.real());
      twiddles.push_back(w.imag());
    }
  }
  return RealPlan(n, *std::move(plan), std::move(twiddles));
}

template <class T>
int64_t RealPlan<T>::size() const {
  return n_;
}

template <class T>
int64_t RealPlan<T>::spectrum_size() const {
  return n_ / 2 + 1;
}

template <class T>
int64_t RealPlan<T>::scratch_size() const {
  // Beside the plan's own: one complex array of the plan's length.
  return plan_.scratch_size() + 2 * plan_.size();
}

template <class T>
double RealPlan<T>::L2ErrorBound() const {
  // Even N: two additions and a twiddle product, 2 + 5.24 units; the halves are exact.
  const double u = internal::UnitRoundoff<T>();
  return plan_.L2ErrorBound() + (n_ % 2 == 0 ? 1.01 * 7.2361 * u : 0);
}

template <class T>
double RealPlan<T>::PathErrorBound() const {
  // A sample reaches X[k] through Z[k] and Z[M - k]: weights 1/2 twice for the even samples, the
  // same for the odd ones, and each way has the roundings above.
  const double u = internal::UnitRoundoff<T>();
  return plan_.PathErrorBound() + (n_ % 2 == 0 ? 1.01 * 7.2361 * u : 0);
}

template <class T>
absl::Status RealPlan<T>::Forward(std::span<const T> in, std::span<std::complex<T>> out,
                                  std::span<T> scratch) const {
  absl::Status status = internal::CheckBuffers(
      in.data(), in.size(), sizeof(T), n_, out.data(), out.size(), sizeof(out[0]), spectrum_size(),
      scratch.data(), scratch.size(), sizeof(T), scratch_size(), false);
  if (!status.ok()) return status;
  T* y = Parts(out);
  if (n_ % 2 == 1) {
    T* work = scratch.data();
    for (int64_t j = 0; j < n_; ++j) {
      work[2 * j] = in[j];
      work[2 * j + 1] = 0;
    }
    const std::span<std::complex<T>> z(reinterpret_cast<std::complex<T>*>(work), n_);
    status = plan_.Forward(z, z, scratch.subspan(2 * n_));
    for (int64_t k = 0; k < 2 * spectrum_size(); ++k) y[k] = work[k];
    y[1] = 0;
    return status;
  }
  // z[j] = x[2j] + i x[2j + 1]; its transform Z holds the even samples' transform E and the odd
  // ones' O:
  //   E[k] = (Z[k] + conj(Z[M - k])) / 2,  O[k] = (Z[k] - conj(Z[M - k])) / (2i),  X[k] = E[k] +
  //   w^k O[k],
  // and X[M - k] = conj(E[k] - w^k O[k]).
  const int64_t m = n_ / 2;
  const std::span<const std::complex<T>> z(reinterpret_cast<const std::complex<T>*>(in.data()), m);
  status = plan_.Forward(z, out.first(m), scratch);
  if (!status.ok()) return status;
  const T half = static_cast<T>(0.5);
  const T zr = y[0], zi = y[1];
  y[0] = zr + zi;
  y[1] = 0;
  y[2 * m] = zr - zi;
  y[2 * m + 1] = 0;
  for (int64_t k = 1; 2 * k <= m; ++k) {
    const int64_t l = m - k;
    const T ar = y[2 * k], ai = y[2 * k + 1], br = y[2 * l], bi = y[2 * l + 1];
    const T er = (ar + br) * half, ei = (ai - bi) * half;
    const T dr = (ai + bi) * half, di = (br - ar) * half;  // O[k]
    const T wr = twiddles_[2 * k], wi = twiddles_[2 * k + 1];
    const T tr = dr * wr - di * wi, ti = dr * wi + di * wr;
    y[2 * k] = er + tr;
    y[2 * k + 1] = ei + ti;
    y[2 * l] = er - tr;
    y[2 * l + 1] = ti - ei;
  }
  return absl::OkStatus();
}

template <class T>
absl::Status RealPlan<T>::Backward(std::span<const std::complex<T>> in, std::span<T> out,
                                   std::span<T> scratch) const {
  absl::Status status = internal::CheckBuffers(
      in.data(), in.size(), sizeof(in[0]), spectrum_size(), out.data(), out.size(), sizeof(T), n_,
      scratch.data(), scratch.size(), sizeof(T), scratch_size(), false);
  if (!status.ok()) return status;
  const T* x = Parts(in);
  T* work = scratch.data();
  if (n_ % 2 == 1) {
    work[0] = x[0];
    work[1] = 0;
    for (int64_t k = 1; k <= n_ / 2; ++k) {
      work[2 * k] = x[2 * k];
      work[2 * k + 1] = x[2 * k + 1];
      work[2 * (n_ - k)] = x[2 * k];
      work[2 * (n_ - k) + 1] = -x[2 * k + 1];
    }
    const std::span<std::complex<T>> z(reinterpret_cast<std::complex<T>*>(work), n_);
    status = plan_.Backward(z, z, scratch.subspan(2 * n_));
    for (int64_t j = 0; j < n_; ++j) out[j] = work[2 * j];
    return status;
  }
  // The steps of Forward, undone, without the halves: the result is N x, not M x.
  const int64_t m = n_ / 2;
  work[0] = x[0] + x[2 * m];
  work[1] = x[0] - x[2 * m];
  for (int64_t k = 1; 2 * k <= m; ++k) {
    const int64_t l = m - k;
    const T ar = x[2 * k], ai = x[2 * k + 1], br = x[2 * l], bi = x[2 * l + 1];
    const T er = ar + br, ei = ai - bi;
    const T fr = ar - br, fi = ai + bi;
    const T wr = twiddles_[2 * k], wi = -twiddles_[2 * k + 1];
    const T dr = fr * wr - fi * wi, di = fr * wi + fi * wr;
    work[2 * k] = er - di;
    work[2 * k + 1] = ei + dr;
    work[2 * l] = er + di;
    work[2 * l + 1] = dr - ei;
  }
  const std::span<const std::complex<T>> z(reinterpret_cast<const std::complex<T>*>(work), m);
  const std::span<std::complex<T>> y(reinterpret_cast<std::complex<T>*>(out.data()), m);
  return plan_.Backward(z, y, scratch.subspan(2 * m));
}

template <class T>
absl::Status RealPlan<T>::Inverse(std::span<const std::complex<T>> in, std::span<T> out,
                                  std::span<T> scratch) const {
  absl::Status status = Backward(in, out, scratch);
  if (status.ok()) internal::Divide(out.data(), n_, n_);
  return status;
}

namespace {

template <class T>
absl::StatusOr<std::vector<std::complex<T>>> OneTransform(std::span<const std::complex<T>> x,
                                                          bool inverse) {
  absl::StatusOr<Plan<T>> plan = Plan<T>::Create(static_cast<int64_t>(x.size()));
  if (!plan.ok()) return plan.status();
  std::vector<std::complex<T>> y(x.size());
  std::vector<T> scratch(static_cast<size_t>(plan->scratch_size()));
  absl::Status status = inverse ? plan->Inverse(x, y, scratch) : plan->Forward(x, y, scratch);
  if (!status.ok()) return status;
  return y;
}

}  // namespace

template <class T>
absl::StatusOr<std::vector<std::complex<T>>> Forward(std::span<const std::complex<T>> x) {
  return OneTransform(x, false);
}

template <class T>
absl::StatusOr<std::vector<std::complex<T>>> Inverse(std::span<const std::complex<T>> x) {
  return OneTransform(x, true);
}

template class Plan<float>;
template class Plan<double>;
template class RealPlan<float>;
template class RealPlan<double>;
template std::complex<float> UnitRoot<float>(int64_t, int64_t);
template std::complex<double> UnitRoot<double>(int64_t, int64_t);
template absl::StatusOr<std::vector<std::complex<float>>> Forward(
    std::span<const std::complex<float>>);
template absl::StatusOr<std::vector<std::complex<double>>> Forward(
    std::span<const std::complex<double>>);
template absl::StatusOr<std::vector<std::complex<float>>> Inverse(
    std::span<const std::complex<float>>);
template absl::StatusOr<std::vector<std::complex<double>>> Inverse(
    std::span<const std::complex<double>>);

}  // namespace assay::fft
